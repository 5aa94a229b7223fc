//! What a text does and what its operands declare: their access, and the targets of branches.

use crate::support::{checked, found};

/// The mistakes or warnings of a specification, each with its code, its message and the text that it marks.
fn told(text: &str) -> Vec<String> {
    let (diagnostics, sources) = found(checked(text));
    let marked = |span| sources.snippet(span).trim_matches('\'').to_owned();
    let one = |found: &isaforge_compiler::diagnostic::Diagnostic| {
        format!("{} {} at `{}`", found.code, found.message, found.primary.map_or(String::new(), marked))
    };
    diagnostics.iter().map(one).collect()
}

/// An instruction of two registers, in a set of words or in a stream.
fn two(word: &str, operands: &str, does: &str) -> String {
    let length = if word == "16" { "" } else { "word: 16, " };
    format!(
        "isa: t\nword: {word}\nprovenance: document\nbanks: {{ r: {{ count: 8, prints: 'r{{n}}' }} }}\n\
         every: {{ unused: zero }}\ninstructions:\n  T: {{ doc: T., {length}fixed: {{ 15..6: 1 }}, \
         operands: {{ {operands} }}, does: '{does}' }}\n"
    )
}

#[test]
fn a_text_reads_only_operands_that_are_read() {
    let operands = |d: &str, a: &str| {
        format!("d: {{ bank: r, bits: 5..3, access: {d} }}, a: {{ bank: r, bits: 2..0, access: {a} }}")
    };
    for word in ["16", "[16, 32]"] {
        for (d, a, does, expected) in [
            ("write", "read", "d = d - a", "E0126 `d` is write-only, but the text of `T` reads it at `d`"),
            (
                "write",
                "none",
                "d = a + 1",
                "E0126 `a` is neither read nor written, but the text of `T` reads it at `a`",
            ),
            (
                "write",
                "none",
                "d = read(u32, a)",
                "E0126 `a` is neither read nor written, but the text of `T` reads it at `a`",
            ),
            ("write", "read", "if a == 0 { d = 1 } a = d", "E0126 `a` is read-only at `a`"),
            (
                "write",
                "read",
                "if a == 0 { d = 1 } if d == 1 { end() }",
                "E0126 `d` is write-only, but the text of `T` reads it at `d`",
            ),
            ("read-write", "read", "d = a + 1", "W0220 the text of `T` never reads `d` at `d = a + 1`"),
        ] {
            assert_eq!(told(&two(word, &operands(d, a), does)), [expected], "{word}: {does}");
        }
        for (d, a, does) in [
            ("read-write", "read", "d = d - a"),
            // What was assigned is not read from the register.
            ("write", "read", "d = a; if d == 0 { end() }"),
            ("write", "read", "if a == 0 { d = 1; if a != 1 { d = d + 1 } } else { d = 0 }"),
            ("write", "read", "if a == 0 { d = 1 } else { d = 0 } if d == 1 { end() }"),
            ("write", "read", "match a { 0 => d = 1, 1 => d = 2, _ => d = 0 } if d == 1 { end() }"),
            // The rest of the register stays.
            ("read-write", "read", "if a == 0 { d = 1 }"),
            ("read-write", "read", "d.h0 = a.h1"),
        ] {
            assert_eq!(told(&two(word, &operands(d, a), does)), Vec::<String>::new(), "{word}: {does}");
        }
    }
}

#[test]
fn rows_share_the_access_of_an_operand() {
    let rows = |other: &str| {
        format!(
            "isa: t\nword: 16\nprovenance: document\nbanks: {{ r: {{ count: 8, prints: 'r{{n}}' }} }}\n\
             every: {{ unused: zero }}\ninstructions:\n  T:\n    rows: {{ a: {{ f: 1, does: 'd = 1' }}, \
             b: {{ f: 2, does: '{other}' }} }}\n    doc: T.\n    fixed: {{ 15..6: $f }}\n    \
             operands: {{ d: {{ bank: r, bits: 5..3, access: read-write }} }}\n    does: $does\n"
        )
    };
    assert_eq!(told(&rows("d = d + 1")), Vec::<String>::new());
    assert_eq!(told(&rows("d = 2")).len(), 2, "no row reads it");
}

#[test]
fn the_size_of_an_operand_is_suggested_only_where_it_decides_the_type() {
    let text = two(
        "16",
        "d: { bank: r, bits: 5..3, access: write }, a: { bank: r, bits: 2..0 }",
        "d = zext(u32, a & trunc(u8, d.b0))",
    );
    let failure =
        checked(&text.replace("access: write", "access: read-write")).expect_err("the types differ").to_string();
    assert!(failure.contains("E0122") && !failure.contains("size:"), "{failure}");
    let kind = "kinds: { k: { width: 3, alternatives: { n: { fields: { n: { number: decimal, bits: 2..0 } }, text: '{n}' } } } }\n";
    let of_kind = two(
        "16",
        "d: { bank: r, bits: 5..3, access: write }, a: { kind: k, at: 0 }",
        "d = zext(u32, trunc(u8, 1 as u32) & a)",
    );
    let of_kind = of_kind.replace("every:", &format!("{kind}every:"));
    let failure = checked(&of_kind).expect_err("the types differ").to_string();
    assert!(failure.contains("`a` is a `u8` with `size: 8`"), "{failure}");
}

/// A branch in words of 16 bits or in a stream with instructions of 16 bits.
fn branch(word: &str, target: &str, unit: u8, does: &str) -> String {
    let length = if word == "16" { "" } else { "word: 16, " };
    format!(
        "isa: t\nword: {word}\nprovenance: document\nsemantics: {{ pc: u32 }}\nmachine: {{ unit: {unit} }}\n\
         banks: {{ r: {{ count: 8, prints: 'r{{n}}' }} }}\ninstructions:\n  B: {{ doc: B., {length}fixed: {{ 15..10: 1 }}, \
         operands: {{ a: {{ bank: r, bits: 9..7 }}, to: {{ immediate: signed, bits: 6..0, target: {target} }} }}, \
         does: 'if a == 0 {{ {does} }}' }}\n"
    )
}

#[test]
fn a_branch_goes_where_its_target_says() {
    for word in ["16", "[16, 32]"] {
        let relative = "{ from: next, unit: 2 }";
        for (target, unit, does) in [
            (relative, 2, "branch(next + to as u32)"),
            ("relative", 2, "branch(next + to as u32)"),
            ("{ from: this, unit: 1 }", 1, "branch(pc + to as u32)"),
            ("{ from: this, unit: 4 }", 2, "branch(pc + (to as u32 << 1))"),
            ("{ from: 0, unit: 2 }", 2, "branch(to as u32)"),
            ("{ from: this, unit: 1 }", 1, "branch((pc + to as u32) & ~1)"),
            // A text of which one branch goes there, and one that goes to a register.
            (relative, 2, "if a == 1 { branch(to as u32) } else { branch(next + to as u32) }"),
            (relative, 2, "branch(a + to as u32)"),
            (relative, 2, "branch(if a == 1 { pc } else { pc + to as u32 })"),
        ] {
            assert_eq!(
                told(&branch(word, target, unit, does)),
                Vec::<String>::new(),
                "{word}: {target}, {unit}: {does}"
            );
        }
        for (target, unit, does) in [
            (relative, 2, "branch(pc + to as u32)"),
            (relative, 1, "branch(next + to as u32)"),
            ("{ from: this, unit: 2 }", 2, "branch(next + to as u32)"),
            ("absolute", 2, "branch(next + to as u32)"),
            (relative, 2, "branch(next + (to as u32 << 1))"),
            (relative, 2, "branch(next + zext(u32, trunc(u7, to as u32)))"),
        ] {
            let said = told(&branch(word, target, unit, does));
            let expected = "W0223 the text branches to another address than the target of `to`";
            assert!(
                matches!(&said[..], [one] if one.starts_with(expected)),
                "{word}: {target}, {unit}: {does}: {said:?}"
            );
        }
    }
}

#[test]
fn both_addresses_of_a_branch_are_told_and_the_target_that_agrees() {
    let checked = checked(&branch("16", "relative", 2, "branch(pc + to as u32)"));
    let checked = checked.unwrap_or_else(|failure| panic!("{failure}"));
    let said = checked.diagnostics.render(&checked.sources, Default::default());
    for part in [
        "at 0x200, with 0 for `to`, it goes to 0x200",
        "counted from the next instruction in units of 2 bytes: 0x202",
        "`target: { from: this, unit: 2 }`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
