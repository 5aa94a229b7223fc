//! Revisions of a document in place of the one in this repository: later forms of the same schema, new names, hints for
//! compilers.
//!
//! The later forms are derived here from the document in this repository, in the ways in which the upstream one has
//! changed over the years.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::Style;
use isaforge_compiler::diff::{Fate, How, diff};
use isaforge_compiler::lower::words;
use isaforge_compiler::model::Isa as Model;
use isaforge_compiler::{Settings, check_spec, compile};
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style as Text, print};
use isaforge_core::sample::{Random, check_identities, sample};
use isaforge_core::text::Line;

use crate::seed;
use crate::support::{folder, replaced, settings};

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")
}

fn document() -> String {
    std::fs::read_to_string(specs().join("valhall/isa.xml")).expect("isa.xml is part of the repository")
}

/// The `isa.yaml` of this repository without its imports, which define semantics for this document only.
fn encodings() -> String {
    let entry = std::fs::read_to_string(specs().join("valhall/isa.yaml")).expect("isa.yaml is part of the repository");
    entry
        .lines()
        .filter(|line| *line != "import:" && !line.starts_with("  - semantics/"))
        .fold(String::new(), |text, line| text + line + "\n")
}

fn model(path: &Path) -> Model {
    match check_spec(&Settings::new(path)) {
        Ok(checked) => checked.isa,
        Err(failure) => panic!("{failure}"),
    }
}

fn original() -> &'static Isa {
    words(&model(&specs().join("valhall/isa.yaml"))).isa
}

/// Compiles this `isa.yaml` with another document, and returns the tables or the messages.
fn with_document(xml: &str) -> Result<&'static Isa, String> {
    match check_spec(&settings(&folder(&[("isa.xml", xml), ("isa.yaml", &encodings())]))) {
        Ok(checked) => Ok(words(&checked.isa).isa),
        Err(failure) => Err(failure.render(Style::default())),
    }
}

fn text_of(isa: &'static Isa, word: u64) -> Result<String, String> {
    let opcode = decode(isa, word).map_err(|e| e.to_string())?;
    let mut line = Line::new();
    print(isa, opcode, word, Text::Customary, &mut line);
    Ok(line.as_str().to_owned())
}

/// The document with `<opcode><op val start mask/></opcode>` in place of the attributes, by the patterns of the model.
fn with_op_lists(xml: &str) -> String {
    let model = model(&specs().join("valhall/isa.yaml"));
    let mut out = String::new();
    let mut rest = xml;
    while let Some(at) = rest.find("<ins ") {
        let (before, tag) = rest.split_at(at);
        let (tag, after) = tag.split_at(tag.find('>').expect("tags end") + 1);
        let attribute = |name: &str| {
            let (_, value) = tag.split_once(&format!(" {name}=\""))?;
            value.split_once('"').map(|(value, _)| value)
        };
        let name = attribute("name").expect("instructions have names");
        let form = model.forms.iter().find(|f| f.name == name).expect("the model has all instructions");
        let (mask, value) = form.pattern();
        let mut ops = format!("<op val=\"{:#x}\" start=\"48\" mask=\"0x1FF\"/>", value >> 48);
        let low = mask & !(0x1ff << 48);
        if low != 0 {
            let start = low.trailing_zeros();
            let value = (value & low) >> start;
            ops.push_str(
                &format!(
                    "\n      <op val=\"{value:#x}\" start=\"{start}\" mask=\"{:#X}\"/> <!-- opcode2 -->",
                    low >> start
                )
                .replace("0X", "0x"),
            );
        }
        let mut tag = tag.to_owned();
        for gone in ["opcode", "opcode2"] {
            if let Some(value) = attribute(gone) {
                tag = tag.replace(&format!(" {gone}=\"{value}\""), "");
            }
        }
        let closed = tag.ends_with("/>");
        let open = tag.trim_end_matches("/>").trim_end_matches('>').trim_end().to_owned();
        out.push_str(before);
        out.push_str(&format!(
            "{open}>\n    <opcode>\n      {ops}\n    </opcode>{}",
            if closed { "</ins>" } else { "" }
        ));
        rest = after;
    }
    out.push_str(rest);
    let lines: Vec<String> = out.lines().map(without_opcodes).collect();
    lines.join("\n")
}

/// The tag of a group without the opcodes shared by its instructions.
fn without_opcodes(line: &str) -> String {
    let mut line = line.to_owned();
    while line.contains("<group ") {
        let Some(at) = line.find(" opcode") else { break };
        let (before, rest) = line.split_at(at);
        let after = rest.splitn(3, '"').nth(2).expect("attributes have quotes");
        line = format!("{before}{after}");
    }
    line
}

/// Adds the hints to compilers of later documents, and elements used only by them.
fn with_hints(xml: &str) -> String {
    let xml =
        xml.replace("<ins name=", "<ins unused=\"true\" message=\"load\" name=").replace("<mod name=", "<va_mod name=");
    let xml = xml.replace("<sr_count/>", "<sr_count count=\"format\"/>").replace("<cmp/>", "<cmp int_only=\"true\"/>");
    let xml = replaced(&xml, &[("<imm name=\"constant\"", "<imm ir_name=\"index\" name=\"constant\"")]);
    let xml = replaced(&xml, &[("<imm name=\"table\"", "<imm ir_name=\"\" name=\"table\"")]);
    let pseudo = "<src pseudo=\"true\">Dummy</src>\n    <immediate name=\"sr_count\" size=\"4\" pseudo=\"true\"/>\n    <regfmt pseudo=\"true\"/>\n    <skip/>";
    let xml = replaced(&xml, &[("<skip/>", pseudo)]);
    replaced(&xml, &[("<source_format/>", "<source_format/>\n    <regfmt pseudo=\"true\"/>")])
}

#[test]
fn hints_for_compilers_and_renamed_elements_change_nothing() {
    let revised = with_document(&with_hints(&document())).unwrap_or_else(|messages| panic!("{messages}"));
    let diff = diff(original(), revised);
    assert!(diff.is_empty(), "{}", diff.to_text());
}

#[test]
fn lists_of_opcodes_give_the_same_words_as_attributes() {
    let xml = with_op_lists(&document());
    assert!(!xml.contains("opcode=\"") && xml.contains("mask=\"0x103\""));
    // Elements that only give the place of an opcode are removed with it.
    let kept: Vec<&str> = xml
        .lines()
        .filter(|l| !["descriptor_type", "memory_width", "\"left\""].iter().any(|w| l.contains(w)))
        .collect();
    for xml in [xml.clone(), kept.join("\n"), with_hints(&kept.join("\n"))] {
        let revised = with_document(&xml).unwrap_or_else(|messages| panic!("{messages}"));
        let diff = diff(original(), revised);
        assert!(diff.is_empty(), "{}", diff.to_text());
    }
}

#[test]
fn a_modifier_listed_twice_counts_once() {
    let xml = replaced(&document(), &[("<roundmode/>", "<roundmode/>\n    <roundmode/>")]);
    let checked = check_spec(&settings(&folder(&[("isa.xml", &xml), ("isa.yaml", &encodings())])));
    let checked = checked.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(checked.diagnostics.render(&checked.sources, Style::default()).contains("duplicate `<roundmode/>`"));
    assert!(diff(original(), words(&checked.isa).isa).is_empty());
}

/// 2022: flags of comparisons became separate instructions with the same bits.
#[test]
fn comparisons_split_by_their_secondary_opcode_keep_their_words() {
    let xml = document();
    let start = xml.find("<group name=\"ICMP\"").expect("the comparisons");
    let end = start + xml[start..].find("</group>").expect("the group ends") + "</group>".len();
    let group = &xml[start..end];
    let split: String = [("OR", "0"), ("AND", "1"), ("MULTI", "2")]
        .iter()
        .map(|(name, opcode2)| {
            let one: Vec<String> = group
                .lines()
                .filter(|line| !line.contains("<mod name"))
                .map(|line| {
                    line.replace("name=\"ICMP", &format!("name=\"ICMP_{name}"))
                        .replace("\"/>", &format!("\" opcode2=\"{opcode2}\"/>"))
                })
                .collect();
            one.join("\n") + "\n"
        })
        .collect();
    let revised = with_document(&(xml[..start].to_owned() + &split + &xml[end..]))
        .unwrap_or_else(|messages| panic!("{messages}"));
    let old = original();
    let word = |text: &str| parse(old, text).unwrap_or_else(|e| panic!("{text}: {e}")).1;
    for (before, after) in [
        ("ICMP.u32.gt.m1 r0, r1, r2, 0x0", "ICMP_OR.u32.gt.m1 r0, r1, r2, 0x0"),
        ("ICMP.u32.and.gt.m1 r0, r1, r2, 0x0", "ICMP_AND.u32.gt.m1 r0, r1, r2, 0x0"),
        ("ICMP.v2u16.seq.lt.u1 r0, r1.h1, ^r2, r3", "ICMP_MULTI.v2u16.lt.u1 r0, r1.h1, ^r2, r3"),
    ] {
        let before = before.replace(".h1", "");
        let after = after.replace(".h1", "");
        assert_eq!(text_of(revised, word(&before)), Ok(after));
    }
    assert!(
        text_of(revised, word("ICMP.u32.and.seq.gt.m1 r0, r1, r2, 0x0")).is_err(),
        "both flags together have no counterpart"
    );
    let diff = diff(old, revised);
    let removed: Vec<_> = diff.instructions.iter().filter(|i| i.fate == Fate::Removed).collect();
    assert!(!removed.is_empty() && removed.iter().all(|i| i.related.len() == 3), "{}", diff.to_text());
    check_identities(revised, 20, |w| decode(revised, w).ok().map(|_| w));
}

/// 2026: instructions that differ in a single modifier are listed separately and keep its element.
#[test]
fn a_modifier_inside_the_opcode_is_never_written_or_always() {
    let xml = with_op_lists(&document());
    let start = xml.find("<group name=\"RSHIFT_AND\"").expect("the right shifts");
    let end = start + xml[start..].find("</group>").expect("the group ends");
    let group = &xml[start..end];
    let ins = |name: &str, value: &str| {
        format!(
            "<ins name=\"{name}.i32\">\n<opcode><op val=\"0xB4\" start=\"48\" mask=\"0x1FF\"/><op val=\"{value}\" start=\"24\" mask=\"0x703\"/></opcode></ins>\n"
        )
    };
    let (head, _) = group.split_once("<ins ").expect("a group has instructions");
    let (_, tail) = group.rsplit_once("</ins>").expect("a group has instructions");
    let tail = replaced(tail, &[("<mod name=\"left\" start=\"128\" size=\"1\" implied=\"true\"/>", "")]);
    let revised = xml[..start].to_owned()
        + head
        + &ins("RSHIFT_AND", "0x000")
        + &ins("ARSHIFT_AND", "0x400")
        + &tail
        + &xml[end..];
    let revised = with_document(&revised).unwrap_or_else(|messages| panic!("{messages}"));
    let old = original();
    for (before, after) in [
        ("RSHIFT_AND.i32 r0, r1, 0x0.b00, r2", "RSHIFT_AND.i32 r0, r1, 0x0.b00, r2"),
        ("RSHIFT_AND.i32.signed r0, r1, 0x0.b00, r2", "ARSHIFT_AND.i32.signed r0, r1, 0x0.b00, r2"),
    ] {
        let word = parse(old, before).unwrap_or_else(|e| panic!("{before}: {e}")).1;
        assert_eq!(text_of(revised, word).as_deref(), Ok(after));
        assert_eq!(parse(revised, after).map(|(_, w)| w), Ok(word), "{after}");
    }
    assert!(parse(revised, "RSHIFT_AND.i32.signed r0, r1, 0x0.b00, r2").is_err());
}

#[test]
fn new_values_instructions_and_names_show_in_the_difference() {
    let value = (
        "reconverge</value>\n    <reserved/>\n    <reserved/>",
        "reconverge</value>\n    <reserved/>\n    <value>wait_resource</value>",
    );
    let xml = replaced(&document(), &[value, ("name=\"CUBEFACE2\"", "name=\"CUBEFACE2_V9\"")]);
    let added = "<ins name=\"MMUL.f32\" title=\"Matrix multiply\" dests=\"1\" unit=\"FMA\" opcode=\"0x102\"><src>A</src><src>B</src><src>C</src></ins>\n\n  <ins name=\"NOP\"";
    let revised =
        with_document(&replaced(&xml, &[("<ins name=\"NOP\"", added)])).unwrap_or_else(|messages| panic!("{messages}"));
    let diff = diff(original(), revised);
    assert_eq!(
        (diff.count(Fate::Added), diff.count(Fate::Renamed), diff.count(Fate::Removed)),
        (1, 1, 0),
        "{}",
        diff.to_text()
    );
    assert_eq!((diff.different, diff.unproven), (1, 0), "only the renamed instruction reads differently");
    let flow = diff.definitions.iter().find(|d| d.name == "Flow").expect("the enum differs");
    assert!(flow.changes.iter().any(|c| c.how == How::Added && c.name == "wait_resource"));
}

#[test]
fn what_the_specification_lacks_is_named() {
    let cases = [
        ("<skip/>", "<skip/>\n    <force_delta_enable/>", "error[E0055]: `<force_delta_enable/>` has no position"),
        ("<src>A</src>", "<src rotate=\"true\">A</src>", "error[E0052]: `<src>` has an unknown attribute `rotate`"),
        (
            "<conservative/>",
            "<conservative/>\n    <va_mod name=\"nan_mode\" start=\"50\" size=\"2\"/>",
            "error[E0101]: the modifier `nan_mode` needs an enum of that name",
        ),
        (
            "<enum name=\"Flow\">",
            "<flags name=\"Flow\"/>\n  <enum name=\"Flow\">",
            "error[E0050]: unknown element `<flags>`",
        ),
        (
            "<ins name=\"NOP\"",
            "<ins name=\"NOP\" delay=\"2\"",
            "error[E0052]: `<ins>` has an unknown attribute `delay`",
        ),
    ];
    for (from, to, expected) in cases {
        let messages = with_document(&document().replacen(from, to, 1)).err().unwrap_or_default();
        assert!(messages.contains(expected) && messages.contains("isa.xml:"), "{expected}\n{messages}");
    }
}

/// A specification used without generated code agrees with the generated crate: the same opcodes, texts and errors.
#[test]
fn tables_in_memory_agree_with_the_generated_crate() {
    for (built, generated) in [
        (original(), &isaforge_valhall::ISA),
        (words(&model(&specs().join("valhall-2021/isa.yaml"))).isa, &isaforge_valhall_2021::ISA),
    ] {
        let mut random = Random(seed::seed(5));
        for opcode in 0..built.forms.len() as u16 {
            for _ in 0..40 {
                let word = sample(built, opcode, &mut random);
                for word in [word, word ^ 1 << random.below(64), word ^ random.next() & random.next() & random.next()] {
                    let texts = (text_of(built, word), text_of(generated, word));
                    assert_eq!(texts.0, texts.1, "{word:#018x}");
                    if let Ok(text) = &texts.0 {
                        assert_eq!(
                            parse(built, text).map_err(|e| e.to_string()),
                            parse(generated, text).map_err(|e| e.to_string())
                        );
                    }
                }
            }
        }
        assert!(diff(built, *generated).is_empty());
    }
}

#[test]
fn generating_twice_gives_the_same_bytes() {
    for spec in ["valhall/isa.yaml", "valhall-2021/isa.yaml", "vpu/isa.yaml"] {
        let source = || match compile(&Settings::new(specs().join(spec))) {
            Ok(compiled) => compiled.source(Some("mine")).expect("generated code is Rust"),
            Err(failure) => panic!("{failure}"),
        };
        assert!(source() == source(), "{spec} compiles to the same bytes twice");
    }
}
