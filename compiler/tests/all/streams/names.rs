//! Names of registers and words of modifiers that stand for two things.

use super::*;

/// The refusals of a specification, each with its code and message.
fn refused(name: &str, text: &str) -> String {
    of_text(name, text, 0).expect_err(name)
}

/// A specification of eight registers, of words of 8 bits or of two lengths.
fn of_bank(word: &str, bank: &str) -> String {
    let length = if word == "8" { "" } else { "word: 8, " };
    let other = if word == "8" { "" } else { "  wide: { doc: W., word: 16, fixed: { 15..0: 0xff } }\n" };
    format!(
        "isa: named\nword: {word}\nprovenance: document\nbanks: {{ r: {{ count: 8, prints: \"r{{n}}\", {bank} }} }}\n\
         instructions:\n  inc: {{ doc: I., {length}fixed: {{ 7..3: 1 }}, operands: {{ d: {{ bank: r, bits: 2..0 }} }} }}\n{other}"
    )
}

#[test]
fn a_register_has_one_name_and_a_name_one_register() {
    for (set, word) in [("words", "8"), ("streams", "[8, 16]")] {
        for (case, bank, expected) in [
            ("late", "names: [a, b, c, d, e, a, g, h]", "`a` names two registers: 0 and 5"),
            ("early", "names: [a, b, a, d]", "`a` names two registers: 0 and 2"),
            ("number", "names: [r7]", "`r7` names two registers: 7 and 0"),
            ("also", "names: [a, b], also: { a: 3 }", "`a` is already the name of register 0"),
            ("also number", "also: { r4: 3 }", "`r4` is already the name of register 4"),
        ] {
            let told = refused(&format!("{set} {case}"), &of_bank(word, bank));
            assert!(told.contains("E0102") && told.contains(expected), "{set} {case}: {told}");
        }
        for (case, bank) in [
            ("none", "names: ['', a, '', r3, r2], also: { x: 3, a: 1, r2: 2 }"),
            ("swapped", "names: [r1, r0]"),
            ("all", "names: [a, b, c, d, e, f, g, h]"),
        ] {
            let valid = of_text(&format!("{set} {case}"), &of_bank(word, bank), 0);
            assert!(valid.is_ok() || case == "none", "{set} {case}: {:?}", valid.err());
        }
    }
}

#[test]
fn too_many_names_are_one_mistake() {
    let told = refused("nine", &of_bank("8", "names: [a, b, c, d, e, f, g, h, i]"));
    assert!(told.contains("E0108") && told.contains("9 names for 8 registers"), "{told}");
    assert!(!told.contains("E0101"), "the bank is known: {told}");
}

/// A specification of two lengths with some modifiers.
fn of_modifiers(enums: &str, modifiers: &str, more: &str) -> String {
    format!(
        "isa: modified\nword: [8, 16]\nprovenance: document\nenums: {{ {enums} }}\ninstructions:\n  \
         i: {{ doc: I., word: 8, fixed: {{ 7..4: 2 }}, modifiers: {{ {modifiers} }}{more} }}\n  \
         w: {{ doc: W., word: 16, fixed: {{ 15..0: 0xff }} }}\n"
    )
}

#[test]
fn modifiers_of_a_stream_print_different_words() {
    let e = "E: { values: [x, y, z, w], default: x }, F: { values: [k, y, l, m], default: k }, D: { values: [p, q.y, q, s], default: p }";
    for (case, modifiers) in [
        ("flags", "f: { bits: 1, prints: q }, g: { bits: 0, prints: q }, h: { bits: 3..2 }"),
        ("enums", "f: { enum: E, bits: 3..2 }, g: { enum: F, bits: 1..0 }"),
        ("one enum twice", "f: { enum: E, bits: 3..2 }, g: { enum: E, bits: 1..0 }"),
        ("flag and enum", "y: { bits: 0 }, f: { enum: E, bits: 3..2 }, o: { bits: 1 }"),
        ("several words", "f: { enum: D, bits: 3..2 }, g: { enum: F, bits: 1..0 }"),
    ] {
        let told = refused(&format!("modifiers {case}"), &of_modifiers(e, modifiers, ""));
        assert!(told.contains("E0109"), "{case}: {told}");
        assert_eq!(told.matches("E0109").count(), 1, "{case}: {told}");
    }
    for (case, modifiers, more) in [
        ("apart", "f: { enum: E, bits: 3..2 }, g: { bits: 0 }, h: { bits: 1 }", ""),
        ("excluded", "y: { bits: 0 }, f: { enum: E, bits: 3..2 }, o: { bits: 1 }", ", where: y == 0"),
        (
            "told apart by their place",
            "f: { enum: E, bits: 3..2 }, g: { enum: F, bits: 1..0 }",
            ", syntax: '{mnemonic}{f} +{g}'",
        ),
    ] {
        let valid = of_text(&format!("modifiers {case}"), &of_modifiers(e, modifiers, more), 0);
        assert!(valid.is_ok(), "{case}: {:?}", valid.err());
    }
}

#[test]
fn the_text_of_a_register_is_a_template_with_one_number() {
    for (set, word) in [("words", "8"), ("streams", "[8, 16]")] {
        for (case, prints, code, expected) in [
            ("unknown", "r{n}{m}", "E0044", "unknown name `m`"),
            ("twice", "r{n}{n}", "E0040", "`r{n}{n}` has 2 places for the number"),
            ("none", "r", "E0040", "`r` has no place for the number"),
            ("open", "r{n}{", "E0043", "unmatched brace"),
        ] {
            let text = of_bank(word, "doc: R.").replace("r{n}", prints);
            let told = refused(&format!("{set} text {case}"), &text);
            assert!(told.contains(code) && told.contains(expected), "{set} {case}: {told}");
        }
    }
    let braces = of_text("braces", &of_bank("[8, 16]", "doc: R.").replace("r{n}", "r{{{n}}}"), 0);
    both_ways(braces.expect("braces may be doubled"), &[("0b", "inc r{3}")]);
}
