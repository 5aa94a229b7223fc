//! What a specification says in vain: modifiers that no text reads, destinations that none writes, aliases that never
//! print.

use std::path::PathBuf;

use isaforge_compiler::{Settings, check_spec};

use crate::support::{checked, folder, settings};

/// The codes and messages of what is reported about a specification.
fn told(text: &str) -> String {
    match checked(text) {
        Ok(checked) => checked.diagnostics.iter().map(|found| format!("{}: {}\n", found.code, found.message)).collect(),
        Err(failure) => failure.to_string(),
    }
}

/// An instruction in a set of words, or in a stream.
fn of(word: &str, head: &str, instruction: &str) -> String {
    let wide = if word == "8" { "" } else { "  wide: { doc: W., word: 16, fixed: { 15..0: 0xff } }\n" };
    let length = if word == "8" { "" } else { "word: 8, " };
    format!(
        "isa: unread\nword: {word}\nprovenance: document\nbanks: {{ r: {{ count: 4, prints: \"r{{n}}\" }} }}\n{head}\n\
         instructions:\n  i: {{ doc: I., {length}{instruction} }}\n{wide}"
    )
}

#[test]
fn modifiers_that_no_text_reads_are_named() {
    for (set, word) in [("words", "8"), ("streams", "[8, 16]")] {
        let i = |does: &str| {
            format!(
                "fixed: {{ 7..3: 2 }}, modifiers: {{ sat: {{ bits: 2 }} }}, \
                 operands: {{ d: {{ bank: r, bits: 1..0, access: write }} }}, does: \"{does}\""
            )
        };
        let unread = told(&of(word, "", &i("d = 1")));
        assert_eq!(unread, "W0221: the text of `i` never reads the modifier `sat`\n", "{set}");
        assert_eq!(told(&of(word, "", &i("d = if sat { 1 } else { 2 }"))), "", "{set}");
        let every = "every: { modifiers: { sat: { bits: 2 } } }";
        let plain = "fixed: { 7..3: 2 }, operands: { d: { bank: r, bits: 1..0, access: write } }, does: \"d = 1\"";
        let plain = of(word, every, plain).replace("15..0: 0xff", "15..3: 0x1f, 1..0: 3");
        assert_eq!(told(&plain), "", "{set}");
        let nothing = told(&of(word, "", &i("nop")));
        assert!(nothing.contains("E0128") && nothing.contains("never writes `d`"), "{set}: {nothing}");
    }
    let used = "fixed: { 7..3: 2 }, modifiers: { m: { bits: 2 } }, operands: { d: { bank: r, bits: 1..0 } }, \
                where: 'm == 0 || d != 3', does: \"if d == 0 { end() }\"";
    let passed = told(&of("[8, 16]", "", used));
    assert!(!passed.contains("W0221"), "{passed}");
}

#[test]
fn aliases_that_never_print_are_named() {
    let aliases = |aliases: &str| {
        let i = format!(
            "fixed: {{ 7..4: 2 }}, operands: {{ n: {{ immediate: decimal, bits: 3..0 }} }}, aliases: {{ {aliases} }}"
        );
        told(&of("[8, 16]", "", &i).replace("banks: { r: { count: 4, prints: \"r{n}\" } }\n", ""))
    };
    let same = aliases("a: { with: { n: 0 }, prints: true }, b: { with: { n: 0 }, prints: true }");
    assert_eq!(same, "W0212: `b` is never printed: another alias is tried first for all its words\n");
    assert_eq!(aliases("a: { with: { n: 0 }, prints: true }, b: { with: { n: 0 } }"), "");
    assert_eq!(aliases("a: { with: { n: 0 }, prints: true }, b: { with: { n: 1 }, prints: true }"), "");
}

#[test]
fn the_program_counter_has_a_unit_that_divides_instructions() {
    let unit = |word: &str, unit: u8| {
        let i = "fixed: { 7..2: 2 }, operands: { d: { bank: r, bits: 1..0, access: write } }, does: \"d = 1\"";
        let text = match word {
            "16" => of("8", "", &i.replace("7..2", "15..2")).replace("word: 8", "word: 16"),
            _ => of(word, "", i),
        };
        told(&format!("{text}machine: {{ unit: {unit} }}\n"))
    };
    for (word, allowed) in [("8", &[1][..]), ("16", &[1, 2]), ("[8, 16]", &[1])] {
        for n in 1..=4 {
            let told = unit(word, n);
            assert_eq!(told.contains("E0033"), !allowed.contains(&n), "{word}, {n}: {told}");
        }
    }
}

#[test]
fn a_mistake_is_reported_once() {
    let plain = "isa: once\nword: 8\nprovenance: document\nbanks: { r: { count: 4, prints: \"r{n}\" } }\n";
    let i =
        |name: &str, opcode: u8, keys: &str| format!("  {name}: {{ doc: I., fixed: {{ 7..2: {opcode} }}, {keys} }}\n");
    // Without its template, an instruction has no bits.
    let template = "templates: { alu: { operands: { d: { bank: r, bits: 1..0, access: write } } } }\n";
    let misspelt = i("i", 2, "like: alo, does: \"d = 1\"") + &i("n", 1, "like: alu, does: \"d = 2\"");
    let misspelt = told(&format!("{plain}{template}instructions:\n{misspelt}"));
    assert!(misspelt.contains("E0101") && misspelt.matches("error[").count() == 1, "{misspelt}");
    // A function has the same mistake wherever it is called.
    let head = "semantics: { functions: { twice(x): \"x + y\" } }\ninstructions:\n";
    let operands = "operands: { d: { bank: r, bits: 1..0, access: write } }, does: \"d = twice(1)\"";
    let calls: String = (1..4).map(|n| i(&format!("i{n}"), n, operands)).collect();
    let called = told(&format!("{plain}{head}{calls}"));
    assert_eq!(called.matches("error[E0121]").count(), 1, "{called}");
    assert!(called.contains("and in 2 more calls"), "{called}");
    // An entry that cannot be used does not make its import the entry.
    let entry = format!("{}import: imported.yaml\n", plain.replace("count: 4", "cuont: 4"));
    let imported = ("imported.yaml", "instructions: { n: { doc: N., fixed: { 7..0: 1 } } }\n");
    let failure = check_spec(&settings(&folder(&[imported, ("isa.yaml", &entry)]))).expect_err("there is a mistake");
    let entry = failure.to_string();
    assert!(entry.contains("cuont") && !entry.contains("`word` is missing"), "{entry}");
}

#[test]
fn our_specifications_say_nothing_in_vain() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in
        ["specs/valhall", "specs/valhall-2021", "specs/vpu", "examples/lanes", "examples/riscv", "examples/sm75"]
    {
        let path = root.join(name).join("isa.yaml");
        let checked = check_spec(&Settings::new(&path)).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let told: Vec<_> =
            checked.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect();
        assert!(told.is_empty(), "{name}:\n{}", told.join("\n"));
    }
}
