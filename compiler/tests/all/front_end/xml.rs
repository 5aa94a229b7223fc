//! XML: the values that are read, and E0010 to E0019.

use super::{element, same, xml_says};

#[test]
fn an_element_knows_the_place_of_its_parts() {
    let text = "<?xml version='1.0'?>\n<!-- a -- b -->\n<isa a=\"1 &lt; 2\" b = '&#x41;'>\n  two\n <x/> &amp; <![CDATA[<three>]]>\n</isa>\n";
    let (root, said) = element(text);
    same(&said, "");
    let root = root.expect("well-formed");
    assert_eq!((root.name.as_str(), &text[root.name.span.range()]), ("isa", "isa"));
    assert_eq!(&text[root.span.range()], "<isa a=\"1 &lt; 2\" b = '&#x41;'>");
    let value = root.attribute("a").expect("given");
    assert_eq!((value.as_str(), &text[value.span.range()]), ("1 < 2", "1 &lt; 2"));
    let second = &root.attributes[1];
    assert_eq!((second.value.as_str(), &text[second.name.span.range()]), ("A", "b"));
    assert!(root.attribute("c").is_none());
    assert_eq!(
        (root.text.as_str(), &text[root.text.span.range()]),
        ("two & <three>", "two\n <x/> &amp; <![CDATA[<three>]]>")
    );
    assert_eq!((root.children.len(), &text[root.children[0].span.range()]), (1, "<x/>"));
}

#[test]
fn e0011_and_e0012_bare_signs_are_all_found_and_taken_for_text() {
    let text = "<isa>\n  <desc a=\"x & y\">\n    compare $-0 < +0$, a <b, c <= d, 1 <2\n    \\max(0) & = 0 \\\\ & \\; &\n  </desc>\n</isa>\n";
    let (root, said) = element(text);
    same(
        &said,
        r#"
error[E0011]: a bare `&`
 --> isa.xml:2:14
  |
2 |   <desc a="x & y">
  |              ^ does not begin an entity
  |
  = help: write `&amp;` for the sign

error[E0012]: a bare `<`
 --> isa.xml:3:17
  |
3 |     compare $-0 < +0$, a <b, c <= d, 1 <2
  |                 ^ does not begin a tag
  |
  = help: write `&lt;` for the sign

error[E0012]: a bare `<`
 --> isa.xml:3:26
  |
3 |     compare $-0 < +0$, a <b, c <= d, 1 <2
  |                          ^ does not begin a tag
  |
  = help: write `&lt;` for the sign

error[E0012]: a bare `<`
 --> isa.xml:3:32
  |
3 |     compare $-0 < +0$, a <b, c <= d, 1 <2
  |                                ^ does not begin a tag
  |
  = help: write `&lt;` for the sign

error[E0012]: a bare `<`
 --> isa.xml:3:40
  |
3 |     compare $-0 < +0$, a <b, c <= d, 1 <2
  |                                        ^ does not begin a tag
  |
  = help: write `&lt;` for the sign

error[E0011]: a bare `&`
 --> isa.xml:4:13
  |
4 |     \max(0) & = 0 \\ & \; &
  |             ^ does not begin an entity
  |
  = help: write `&amp;` for the sign

error[E0011]: a bare `&`
 --> isa.xml:4:22
  |
4 |     \max(0) & = 0 \\ & \; &
  |                      ^ does not begin an entity
  |
  = help: write `&amp;` for the sign

error[E0011]: a bare `&`
 --> isa.xml:4:27
  |
4 |     \max(0) & = 0 \\ & \; &
  |                           ^ does not begin an entity
  |
  = help: write `&amp;` for the sign"#,
    );
    let root = root.expect("only the text is in doubt");
    assert_eq!(root.children[0].text.as_str(), "compare $-0 < +0$, a <b, c <= d, 1 <2 \\max(0) & = 0 \\\\ & \\; &");
    assert_eq!(root.children[0].attribute("a").map(|value| value.as_str()), Some("x & y"));
}

#[test]
fn e0010_markup_that_does_not_end() {
    xml_says(
        "<isa>\n  <!-- never\n",
        r#"
error[E0010]: a comment is not terminated
 --> isa.xml:2:3
  |
2 |   <!-- never
  |   ^^^^^^^^^^ begins here, with no `-->` after it"#,
    );
    xml_says(
        "<isa>\n  <ins name=\"A",
        r#"
error[E0010]: a tag with a value in quotes is not terminated
 --> isa.xml:2:3
  |
2 |   <ins name="A
  |   ^^^^^^^^^^^^ begins here, with no `"` after it"#,
    );
    xml_says(
        "<isa>\n  <ins",
        r#"
error[E0010]: a tag is not terminated
 --> isa.xml:2:3
  |
2 |   <ins
  |   ^^^^ begins here, with no `>` after it"#,
    );
}

#[test]
fn e0013_tags_that_do_not_match() {
    xml_says(
        "<isa>\n  <ins>\n    <desc>text</desk>\n    <mod>\n  </ins>\n  </ins>\n</isa>\n",
        r#"
error[E0013]: `</desk>` does not close `<desc>`
 --> isa.xml:3:5
  |
3 |     <desc>text</desk>
  |     ^^^^^^    ^^^^^^^ expected `</desc>`
  |     |
  |     `<desc>` is opened here

error[E0013]: `<mod>` is not closed before `</ins>`
 --> isa.xml:4:10
  |
4 |     <mod>
  |     -----^ by the indentation, `</mod>` is missing here
  |     |
  |     `<mod>` is opened here
5 |   </ins>
  |   ------ expected `</mod>` first

error[E0013]: `</ins>` does not close `<isa>`
 --> isa.xml:6:3
  |
1 | <isa>
  | ----- `<isa>` is opened here
...
6 |   </ins>
  |   ^^^^^^ expected `</isa>`"#,
    );
    xml_says(
        "<isa>\n  <ins>\n",
        r#"
error[E0013]: the file ends before `</ins>`
 --> isa.xml:2:8
  |
1 | <isa>
  | ----- `<isa>` is opened here
2 |   <ins>
  |   -----^ the end
  |   |
  |   `<ins>` is opened here"#,
    );
}

#[test]
fn e0014_and_e0015_attributes() {
    xml_says(
        "<isa a=\"1\" b=\"2\" a='3'>\n  <ins name=ADD op= />\n  <ins name/><ins exact opcode=\"1\"/>\n</isa>\n",
        r#"
error[E0014]: the attribute `a` is given twice
 --> isa.xml:1:18
  |
1 | <isa a="1" b="2" a='3'>
  |      -           ^ again here
  |      |
  |      first given here

error[E0015]: the value `ADD` is not in quotes
 --> isa.xml:2:13
  |
2 |   <ins name=ADD op= />
  |             ^^^ quotes are missing
  |
  = help: attributes are written `name="value"`

error[E0015]: an attribute has no value
 --> isa.xml:2:21
  |
2 |   <ins name=ADD op= />
  |                     ^ expected a value in quotes
  |
  = help: attributes are written `name="value"`

error[E0015]: the attribute `name` has no value
 --> isa.xml:3:8
  |
3 |   <ins name/><ins exact opcode="1"/>
  |        ^^^^ expected `=` and a value after this
  |
  = help: attributes are written `name="value"`

error[E0015]: the attribute `exact` has no value
 --> isa.xml:3:19
  |
3 |   <ins name/><ins exact opcode="1"/>
  |                   ^^^^^ expected `=` and a value after this
  |
  = help: attributes are written `name="value"`"#,
    );
    xml_says(
        "<isa>\n  <ins name=\"ADD op=\"1\">\n    <x y=\"2\"/>\n  </ins>\n  <ins name=\"B\"\n  <mod/>\n  </ins>\n</isa>\n",
        r#"
error[E0015]: a quote is out of place in a tag
 --> isa.xml:2:18
  |
2 |   <ins name="ADD op="1">
  |                  ^^^^^^ this is not an attribute
  |
  = help: attributes are written `name="value"`

error[E0010]: `<ins>` is not closed before the next tag
 --> isa.xml:5:3
  |
5 |   <ins name="B"
  |   ^^^^^^^^^^^^^ `>` is missing after this"#,
    );
}

#[test]
fn e0016_unknown_entities() {
    xml_says(
        "<isa a=\"&QUOT;\">&nbsp; &#0; &#xD800; &#176;</isa>",
        r#"
error[E0016]: there is no entity `&QUOT;`
 --> isa.xml:1:9
  |
1 | <isa a="&QUOT;">&nbsp; &#0; &#xD800; &#176;</isa>
  |         ^^^^^^
  |
  = note: known are `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and characters by number such as `&#176;`
  = help: did you mean `&quot;`?
  = help: if it is text, write `&amp;QUOT;`

error[E0016]: there is no entity `&nbsp;`
 --> isa.xml:1:17
  |
1 | <isa a="&QUOT;">&nbsp; &#0; &#xD800; &#176;</isa>
  |                 ^^^^^^
  |
  = note: known are `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and characters by number such as `&#176;`
  = help: if it is text, write `&amp;nbsp;`

error[E0016]: there is no entity `&#0;`
 --> isa.xml:1:24
  |
1 | <isa a="&QUOT;">&nbsp; &#0; &#xD800; &#176;</isa>
  |                        ^^^^
  |
  = note: known are `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and characters by number such as `&#176;`
  = help: if it is text, write `&amp;#0;`

error[E0016]: there is no entity `&#xD800;`
 --> isa.xml:1:29
  |
1 | <isa a="&QUOT;">&nbsp; &#0; &#xD800; &#176;</isa>
  |                             ^^^^^^^^
  |
  = note: known are `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and characters by number such as `&#176;`
  = help: if it is text, write `&amp;#xD800;`"#,
    );
}

#[test]
fn e0017_things_beside_the_root() {
    xml_says(
        "hello <isa/>\n<isb>x</isb>\n",
        r#"
error[E0017]: text outside the root element
 --> isa.xml:1:1
  |
1 | hello <isa/>
  | ^^^^^ this belongs to no element

error[E0017]: a second root element, `<isb>`
 --> isa.xml:2:1
  |
1 | hello <isa/>
  |       ------ the root is `<isa>`
2 | <isb>x</isb>
  | ^^^^^
  |
  = help: an XML file is one element with all others inside"#,
    );
    xml_says(
        "<!-- nothing -->\n",
        r#"
error[E0017]: the file has no root element
 --> isa.xml:1:17
  |
1 | <!-- nothing -->
  |                 ^
  |
  = help: an XML file is one element, such as `<isa>…</isa>`, with all others inside"#,
    );
}

#[test]
fn e0018_a_tower_and_e0019_a_doctype() {
    xml_says(
        &"<a>".repeat(70),
        r#"
error[E0018]: elements nest deeper than 64
 --> isa.xml:1:193
  |
1 | ...<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>
  |                                                                   ^^^"#,
    );
    xml_says(
        "<!DOCTYPE isa [<!ENTITY x \"y\">]>\n<isa/>\n",
        r#"
error[E0019]: a DOCTYPE is not allowed
 --> isa.xml:1:1
  |
1 | <!DOCTYPE isa [<!ENTITY x "y">]>
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: remove it: its entities and defaults would be ignored"#,
    );
}
