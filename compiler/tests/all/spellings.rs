//! Texts of an operand that are accepted but never printed.

use std::fs;

use isaforge_compiler::diagnostic::Style;
use isaforge_compiler::diff::diff;
use isaforge_compiler::lower::words;
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::Isa;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style as Printing, print};
use isaforge_core::text::Line;

/// A specification with an operand of two readings, where `near` has the texts `texts`; or its errors.
fn spec(texts: &str) -> Result<&'static Isa, String> {
    let text = format!(
        r#"isa: lamps
doc: Eight lamps.
word: 8
provenance: document
banks:
  lamp: {{ count: 8, width: 1, prints: "l{{n}}", doc: A lamp. }}
kinds:
  place:
    doc: A lamp.
    width: 4
    alternatives:
      far:
        doc: At the back.
        fixed: {{ 3: 0 }}
        fields: {{ index: {{ bank: lamp, bits: 2..0 }} }}
        text: "{{index}}"
      near:
        doc: In front.
        fixed: {{ 3: 1 }}
        fields: {{ index: {{ bank: lamp, bits: 2..0 }} }}
        {texts}
instructions:
  SET:
    doc: Lights a lamp.
    fixed: {{ 7..4: 1 }}
    operands: {{ lamp: {{ kind: place, at: 0, access: write }} }}
    syntax: "{{mnemonic}} {{lamp}}"
"#
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("isa.yaml");
    fs::write(&file, text).expect("the file is written");
    let said = match check_spec(&Settings::new(&file)) {
        Ok(checked) if checked.diagnostics.is_empty() => return Ok(words(&checked.isa).isa),
        Ok(checked) => checked.diagnostics.render(&checked.sources, Style::default()),
        Err(failure) => failure.diagnostics.render(&failure.sources, Style::default()),
    };
    Err(said.replace(folder.path().to_str().expect("the path is text"), ""))
}

#[test]
fn every_text_is_read_and_the_first_is_printed() {
    let texts =
        "text: \"^{index}\"\n        also: [\"`{index}\", \"near {index}\", { text: third, with: { index: 3 } }]";
    let isa = spec(texts).expect("the specification is right");
    assert_eq!(parse(isa, "SET third").expect("a field may be left out").1, 0x1b);
    for text in ["SET ^l5", "SET `l5", "SET near l5"] {
        let (opcode, word) = parse(isa, text).expect(text);
        assert_eq!(word, 0x1d, "{text}");
        let mut line = Line::new();
        print(isa, opcode, word, Printing::Customary, &mut line);
        assert_eq!(line.as_str(), "SET ^l5");
    }
    assert_eq!(parse(isa, "SET l5").expect("the other reading").1, 0x15);
    parse(isa, "SET ~l5").expect_err("nothing is written so");
    parse(isa, "SET `l8").expect_err("there are eight lamps");
}

#[test]
fn a_text_that_is_only_read_is_checked_like_one_that_is_printed() {
    for (also, place, code, message) in [
        // The assembler would choose the other reading.
        ("{index}", "22:15", "E0114", "is both `near` and `far`"),
        ("x {index}{index}", "22:15", "E0112", "must contain its field `index` exactly once"),
        ("near", "22:15", "E0112", "must contain its field `index` exactly once"),
        ("a;{index}", "22:15", "E0113", "`;` begins a comment"),
        (" {index}", "22:15", "E0114", "begins with a space"),
        ("{index}0", "22:15", "E0114", "cannot be told apart from what follows"),
        ("{lamp}", "17:7", "E0044", "in this template"),
        ("first, with: { index: 8 }", "22:47", "E0033", "this field cannot be 8"),
        ("first, with: { lamp: 0 }", "20:19", "E0101", "`lamp`"),
        ("{index}, with: { index: 0 }", "22:23", "E0112", "must contain its field `index` exactly once"),
    ] {
        let also = match also.split_once(", ") {
            Some((text, with)) => format!("{{ text: \"{text}\", {with} }}"),
            None => format!("\"{also}\""),
        };
        let said = spec(&format!("text: \"^{{index}}\"\n        also: {also}")).expect_err(&also);
        let at = format!("isa.yaml:{place}");
        assert!(said.contains(&at) && said.contains(code) && said.contains(message), "{also}: {said}");
    }
}

#[test]
fn a_text_more_or_less_is_a_change_that_old_binaries_do_not_notice() {
    let with = |also: &str| spec(&format!("text: \"^{{index}}\"{also}")).expect("the specification is right");
    let (one, two) = (with(""), with("\n        also: \"`{index}\""));
    let found = diff(one, two);
    assert!(found.decodes_alike() && !found.is_empty());
    assert!(found.to_text().contains("→ `^l{index}` or ``l{index}`"), "{}", found.to_text());
    assert!(diff(two, with("\n        also: \"`{index}\"")).is_empty());
}
