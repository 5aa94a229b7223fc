//! YAML: the values that are read, and E0001, E0002 and E0020 to E0024.

use std::fmt::Write as _;

use isaforge_compiler::keys::Vocabulary;
use isaforge_compiler::source::Span;
use isaforge_compiler::yaml::{Node, Value};

use super::{Access, Operand, Spec, read, same, yaml_says};

#[test]
fn a_spec_is_read_with_the_place_of_every_key_and_value() {
    let text =
        "word: 0x10\noperands:\n  dst: { bits: 11..9, access: write, type: [u8, 'x'], }  # l0\nenums: {A: [0b1_0]}\n";
    let (spec, said) = read::<Spec>(text);
    same(&said, "");
    let spec = spec.expect("no mistakes");
    assert_eq!((spec.word, spec.doc), (16, None));
    let (name, operand) = &spec.operands[0];
    let place = |span: Span| &text[span.range()];
    assert_eq!((name.as_str(), place(name.span)), ("dst", "dst"));
    assert_eq!(place(operand.span), "{ bits: 11..9, access: write, type: [u8, 'x'], }");
    assert_eq!((operand.bits.as_str(), place(operand.bits.span.slice(4..99))), ("11..9", "9"));
    assert_eq!(operand.access, Some(Access::Write));
    assert_eq!(operand.r_type.as_ref().map(|types| types.0.clone()), Some(vec!["u8".to_owned(), "x".to_owned()]));
    let values = spec.enums.expect("given");
    assert_eq!(
        (values.get("A").expect("given")[0].value, place(values.get("A").expect("given")[0].span)),
        (2, "0b1_0")
    );
}

/// Writes a node with the types of values: `i` for integers, `f`, `b`, `t`, `~`.
fn kinds(node: &Node) -> String {
    let mut text = String::new();
    match &node.value {
        Value::Null => text.push('~'),
        Value::Bool(value) => write!(text, "b:{value}").unwrap_or_default(),
        Value::Int(value) => write!(text, "i:{value}").unwrap_or_default(),
        Value::Float(value) => write!(text, "f:{value}").unwrap_or_default(),
        Value::Text(value) => write!(text, "t:{value}").unwrap_or_default(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(kinds).collect();
            write!(text, "[{}]", items.join(", ")).unwrap_or_default();
        }
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}={}", key.value, kinds(value))).collect();
            write!(text, "{{{}}}", entries.join(", ")).unwrap_or_default();
        }
    }
    text
}

fn kinds_of(text: &str) -> String {
    let (node, said) = read::<Node>(text);
    node.map_or(said, |node| kinds(&node))
}

#[test]
fn a_scalar_is_what_a_writer_of_encodings_means() {
    for (text, kind) in [
        ("0xFFFF_FFFF_FFFF_FFFF", "i:18446744073709551615"),
        ("0x1_0000_0000_0000_0000", "i:18446744073709551616"),
        ("99999999999999999999", "i:99999999999999999999"),
        ("-99999999999999999999", "i:-99999999999999999999"),
        ("0o17", "i:15"),
        ("0b0001", "i:1"),
        ("-5", "i:-5"),
        ("0755", "t:0755"),
        ("'5'", "t:5"),
        ("15..12", "t:15..12"),
        ("1.5", "f:1.5"),
        ("true", "b:true"),
        ("yes", "t:yes"),
        ("no", "t:no"),
        ("on", "t:on"),
        ("y", "t:y"),
        ("FADD.f32", "t:FADD.f32"),
        ("", "~"),
        ("# only a comment\n", "~"),
        ("~", "~"),
        ("!!str 12", "t:12"),
        ("[a, {b: }, ]", "[t:a, {b=~}]"),
        ("a: &n [1, 2]\nb: *n", "{a=[i:1, i:2], b=[i:1, i:2]}"),
    ] {
        assert_eq!(kinds_of(text), kind, "{text}");
    }
}

#[test]
fn keys_are_text_as_written() {
    assert_eq!(
        kinds_of("{0x10: foo, 15..12: 0b0001, 3: x, true: t, ~: n, 'q r': s}"),
        "{0x10=t:foo, 15..12=i:1, 3=t:x, true=t:t, ~=t:n, q r=t:s}"
    );
}

#[test]
fn spans_of_lists_maps_and_block_text_cover_them() {
    let text = "doc: |\n  Two\n  lines.\n\nlist: [a, [b], # [\n  c: d ]\nmap:\n  x: {}\n  y: 1 # one\n";
    let (node, _) = read::<Node>(text);
    let Some(Node { value: Value::Map(entries), span }) = node else { panic!("a map") };
    assert_eq!(&text[span.range()], &text[..text.len() - 7]);
    let written: Vec<&str> = entries.iter().map(|(_, value)| &text[value.span.range()]).collect();
    assert_eq!(written, ["Two\n  lines.", "[a, [b], # [\n  c: d ]", "x: {}\n  y: 1"]);
}

#[test]
fn a_name_may_look_like_a_number() {
    let (names, said) = read::<Vec<String>>("[1.0, 0x1F, true, no, '']");
    assert_eq!((names, said.as_str()), (Some(["1.0", "0x1F", "true", "no", ""].map(str::to_owned).to_vec()), ""));
}

#[test]
fn e0001_text_that_is_not_yaml() {
    yaml_says(
        "word: 16\nenums: { A: [1, 2 }\n",
        r#"
error[E0001]: not well-formed YAML: mismatched bracket '[' closed by '}'
 --> blink.yaml:2:13
  |
2 | enums: { A: [1, 2 }
  |             ^"#,
    );
    yaml_says(
        "word: *w\n",
        r#"
error[E0001]: not well-formed YAML: alias references unknown anchor
 --> blink.yaml:1:7
  |
1 | word: *w
  |       ^"#,
    );
    yaml_says(
        "word: 16\n---\nword: 17\n",
        r#"
error[E0001]: the file holds more than one YAML document
 --> blink.yaml:3:1
  |
3 | word: 17
  | ^ a second one begins here
  |
  = help: remove the line `---`, or make it two files"#,
    );
    yaml_says(
        "word: 16\nb:\n  <<: {a: 1}\n",
        r#"
error[E0001]: merge keys (`<<`) are not supported
 --> blink.yaml:3:3
  |
3 |   <<: {a: 1}
  |   ^^
  |
  = help: write the keys out, or put `<<` in quotes if it is a name"#,
    );
    yaml_says(
        "äöü: {word: }}\n",
        r#"
error[E0001]: not well-formed YAML: misplaced bracket
 --> blink.yaml:1:14
  |
1 | äöü: {word: }}
  |              ^"#,
    );
    yaml_says(
        "a: &a [*a]\n",
        r#"
error[E0001]: this alias is inside the value that it refers to
 --> blink.yaml:1:8
  |
1 | a: &a [*a]
  |        ^^ the anchor's value is not complete here"#,
    );
    yaml_says(
        "a: !mine 5\n",
        r#"
error[E0001]: not well-formed YAML: unsupported tag `!mine`
 --> blink.yaml:1:10
  |
1 | a: !mine 5
  |          ^"#,
    );
    yaml_says(
        "? [a, b]\n: c\n",
        r#"
error[E0001]: a key must be one word or text, not a list or map
 --> blink.yaml:1:3
  |
1 | ? [a, b]
  |   ^
  |
  = help: put the key in quotes if it is meant to begin with a bracket"#,
    );
}

#[test]
fn e0001_bombs_and_towers() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").expect("a string");
    }
    yaml_says(
        &bomb,
        r#"
error[E0001]: the aliases of this file expand to more than a spec can need
 --> blink.yaml:5:45
  |
5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
  |                                             ^^^
  |
  = note: aliases of aliases multiply: ten times ten times ten lists are a thousand"#,
    );
    yaml_says(
        &"[".repeat(500),
        r#"
error[E0001]: lists and maps nest deeper than 32
 --> blink.yaml:1:33
  |
1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...
  |                                 ^ too deep from here on"#,
    );
    let mut tower = "a0: &a0 x\n".to_owned();
    for level in 1..20 {
        writeln!(tower, "a{level}: &a{level} {}*a{}{}", "[".repeat(10), level - 1, "]".repeat(10)).expect("a string");
    }
    yaml_says(
        &tower,
        r#"
error[E0001]: lists and maps nest deeper than 32
 --> blink.yaml:5:19
  |
5 | a4: &a4 [[[[[[[[[[*a3]]]]]]]]]]
  |                   ^^^ too deep from here on"#,
    );
    let steps: String = (0..200).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    yaml_says(
        &steps,
        r#"
error[E0001]: lists and maps nest deeper than 32
  --> blink.yaml:33:33
   |
33 | ...                   a:
   |                       ^ too deep from here on"#,
    );
}

#[test]
fn e0002_a_key_given_twice() {
    yaml_says(
        "word: 16\noperands: { dst: { bits: 1 }, src: { bits: 2 }, \"dst\": { bits: 3 } }\n",
        r#"
error[E0002]: the key `dst` is given twice
 --> blink.yaml:2:49
  |
2 | operands: { dst: { bits: 1 }, src: { bits: 2 }, "dst": { bits: 3 } }
  |             --- first given here                ^^^^^ again here"#,
    );
}

#[test]
fn e0020_values_of_the_wrong_kind_are_all_reported() {
    yaml_says(
        "word: sixteen\ndoc: [a]\nexact: yes\nenums: { A: 5, B: [007, {}] }\noperands: { dst: 15..8, src: { bits: } }\n",
        r#"
error[E0020]: expected a whole number, found text `sixteen`
 --> blink.yaml:1:7
  |
1 | word: sixteen
  |       ^^^^^^^ expected a whole number

error[E0020]: expected text, found a list
 --> blink.yaml:2:6
  |
2 | doc: [a]
  |      ^^^ expected text

error[E0020]: expected `true` or `false`, found text `yes`
 --> blink.yaml:3:8
  |
3 | exact: yes
  |        ^^^ expected `true` or `false`

error[E0020]: expected a list, found the number `5`
 --> blink.yaml:4:13
  |
4 | enums: { A: 5, B: [007, {}] }
  |             ^ expected a list

error[E0020]: expected a whole number, found text `007`
 --> blink.yaml:4:20
  |
4 | enums: { A: 5, B: [007, {}] }
  |                    ^^^ expected a whole number
  |
  = help: write `7` for a decimal number, `0o7` for an octal one

error[E0020]: expected a whole number, found an empty map
 --> blink.yaml:4:25
  |
4 | enums: { A: 5, B: [007, {}] }
  |                         ^^ expected a whole number

error[E0020]: expected a map with `bits`, found text `15..8`
 --> blink.yaml:5:18
  |
5 | operands: { dst: 15..8, src: { bits: } }
  |                  ^^^^^ expected a map with `bits`

error[E0020]: expected text, found nothing
 --> blink.yaml:5:36
  |
5 | operands: { dst: 15..8, src: { bits: } }
  |                                    ^ expected text
  |
  = help: give a value, or remove the key"#,
    );
    same(
        &read::<Spec>("[1, 2]").1,
        r#"
error[E0020]: expected a map with `word` and `operands`, found a list
 --> blink.yaml:1:1
  |
1 | [1, 2]
  | ^^^^^^ expected a map with `word` and `operands`"#,
    );
    same(
        &read::<Spec>("").1,
        r#"
error[E0020]: expected a map with `word` and `operands`, found nothing
 --> blink.yaml:1:1
  |
1 |
  | ^ expected a map with `word` and `operands`
  |
  = help: give a value, or remove the key"#,
    );
}

#[test]
fn e0021_keys_that_nobody_reads_and_e0022_keys_that_are_missing() {
    yaml_says(
        "wrod: 16\noperands:\n  dst: { bit: 3..0, acces: read }\n",
        r#"
error[E0021]: unknown key `wrod`
 --> blink.yaml:1:1
  |
1 | wrod: 16
  | ^^^^ not allowed here
  |
  = note: allowed here: `word`, `doc`, `exact`, `enums` or `operands`
  = help: did you mean `word`?

error[E0021]: unknown key `bit`
 --> blink.yaml:3:10
  |
3 |   dst: { bit: 3..0, acces: read }
  |          ^^^ not allowed here
  |
  = note: allowed here: `bits`, `access` or `type`
  = help: did you mean `bits`?

error[E0021]: unknown key `acces`
 --> blink.yaml:3:21
  |
3 |   dst: { bit: 3..0, acces: read }
  |                     ^^^^^ not allowed here
  |
  = note: allowed here: `bits`, `access` or `type`
  = help: did you mean `access`?"#,
    );
    // A misspelt key is not reported as missing as well.
    yaml_says(
        "doc: A spec.\noperands:\n  dst: { access: read }\n",
        r#"
error[E0022]: the key `word` is missing
 --> blink.yaml:1:1
  |
1 | doc: A spec.
  | ^^^^^^^^^^^^ in this map
  |
  = note: `word`: Bits of a word.
  = help: add `word:` with a whole number

error[E0022]: the key `bits` is missing
 --> blink.yaml:3:8
  |
3 |   dst: { access: read }
  |        ^^^^^^^^^^^^^^^^ in this map
  |
  = note: `bits`: Where it lies in the word.
  = help: add `bits:` with text"#,
    );
}

#[test]
fn e0023_a_word_that_is_no_choice() {
    yaml_says(
        "word: 16\noperands: { a: { bits: 1, access: Read }, b: { bits: 2, access: sideways } }\n",
        r#"
error[E0023]: unknown value `Read`
 --> blink.yaml:2:35
  |
2 | operands: { a: { bits: 1, access: Read }, b: { bits: 2, access: sideways } }
  |                                   ^^^^ expected `read` or `write`
  |
  = help: did you mean `read`?

error[E0023]: unknown value `sideways`
 --> blink.yaml:2:65
  |
2 | operands: { a: { bits: 1, access: Read }, b: { bits: 2, access: sideways } }
  |                                                                 ^^^^^^^^ expected `read` or `write`"#,
    );
}

#[test]
fn e0024_numbers_out_of_range() {
    yaml_says(
        "word: 256\noperands: {}\nenums: { A: [-1, 0x1_0000_0000_0000_0000] }\n",
        r#"
error[E0024]: `256` is out of range
 --> blink.yaml:1:7
  |
1 | word: 256
  |       ^^^ expected a number from 0 to 255

error[E0024]: `-1` is out of range
 --> blink.yaml:3:14
  |
3 | enums: { A: [-1, 0x1_0000_0000_0000_0000] }
  |              ^^ expected a number from 0 to 18446744073709551615

error[E0024]: `18446744073709551616` is out of range
 --> blink.yaml:3:18
  |
3 | enums: { A: [-1, 0x1_0000_0000_0000_0000] }
  |                  ^^^^^^^^^^^^^^^^^^^^^^^ expected a number from 0 to 18446744073709551615"#,
    );
}

#[test]
fn an_unknown_key_does_not_hide_the_rest() {
    let (spec, said) = read::<Spec>("word: 8\noperands: {}\ncolour: red\n");
    assert_eq!(spec.map(|spec| spec.word), Some(8));
    assert!(said.contains("unknown key `colour`"), "{said}");
}

#[test]
fn a_vocabulary_documents_its_keys() {
    let keys = Operand::keys();
    let told: Vec<_> = keys.iter().map(|key| (key.name, key.doc, key.required, key.expected)).collect();
    assert_eq!((Operand::NAME, Operand::DOC), ("Operand", "One operand."));
    assert_eq!(told[0], ("bits", "Where it lies in the word.", true, "text"));
    assert_eq!(told[1], ("access", "Whether it is read or written.", false, "one of `read`, `write`"));
    assert_eq!(told[2], ("type", "The type of its lanes.", false, "a value or a list of values"));
    assert_eq!(Access::ALL.iter().map(|access| access.to_string()).collect::<Vec<_>>(), ["read", "write"]);
}
