//! Mistakes in texts that are found once their values are known, and what their messages propose.

use crate::support::{checked, found};

/// What is reported of an instruction `T` with this text: each with its code, its message and its help.
fn told(does: &str) -> Vec<String> {
    let text = format!(
        "isa: t\nword: 16\nprovenance: document\nbanks: {{ r: {{ count: 8, width: 32, prints: 'r{{n}}' }} }}\n\
         enums: {{ Round: {{ values: [even, zero, up, ~] }} }}\n\
         semantics: {{ pc: u32, states: {{ arr: {{ type: u32, count: 4 }} }} }}\n\
         instructions:\n  T:\n    doc: T.\n    fixed: {{ 15..11: 1 }}\n    \
         modifiers: {{ m: {{ enum: Round, bits: 10..9 }} }}\n    operands:\n      \
         d: {{ bank: r, bits: 8..6, access: write }}\n      a: {{ bank: r, bits: 5..3 }}\n      \
         b: {{ bank: r, bits: 2..0 }}\n    does: \"arr[0] = arr[bits(m)]; {does}\"\n"
    );
    let (diagnostics, _) = found(checked(&text));
    diagnostics
        .iter()
        .map(|found| [&found.help[..], &found.notes].concat().join("; "))
        .zip(diagnostics.iter())
        .map(|(advice, found)| format!("{} {}: {advice}", found.code, found.message))
        .collect()
}

#[test]
fn an_operand_on_which_nothing_depends_is_reported() {
    for does in ["let t = a; d = b", "d = a; d = b", "d = a; d = b; let t = a + d", "arr[0] = a; d = b; let t = a"] {
        let told = told(does);
        if does.starts_with("arr") {
            assert_eq!(told, Vec::<String>::new(), "{does}");
        } else {
            let expected = "W0220 the text of `T` reads `a`, but nothing depends on it: \
                            if it has no known meaning, say so: \
                            `let _unknown = a`";
            assert_eq!(told, [expected], "{does}");
        }
    }
    for does in ["let _t = a; d = b", "d = match m { even => a, _ => b }", "if a != 0 { d = b } else { d = 0 }"] {
        assert_eq!(told(does), Vec::<String>::new(), "{does}");
    }
}

#[test]
fn an_arm_that_known_bits_exclude_is_reported() {
    let unused = "W0222 this arm is never used: remove it";
    for (does, count) in [
        ("d = match b & 1 { 0 => a, 1 => 2, 2 => 3, _ => 4 }", 2),
        ("d = match b & 1 { 0 => a, 1 => 2 }", 0),
        ("d = match b & 6 { 0 => a, 2 => 1, 4 => 3, 6 => 2 }", 0),
        ("d = match b & 6 { 0 => a, 1 => 2, _ => 3 }", 1),
        ("d = match b & 6 { 0 => a, 1 | 2 => 2, _ => 3 }", 0),
        ("d = match b | 4 { 0 => a, _ => 3 }", 1),
        ("d = match b >> 30 { 0 => a, 1 => 1, 2 => 2, 3 => 4 }", 0),
        ("d = match b[7:4] << 2 { 0 => a, 4 => 1, 5 => 2, _ => 3 }", 1),
        ("d = match zext(u32, b[0]) { 0 => a, 1 => 1, 7 => 2 }", 1),
        ("d = match (b as i32) & -2147483647 { -2147483648 => a, 2 => 1, _ => 2 }", 1),
    ] {
        assert_eq!(told(does), vec![unused; count], "{does}");
    }
    let message = told("d = match b & 5 { 0 => a, 1 => b }");
    assert_eq!(message, ["E0124 this may also be `4` or `5`: add arms for them, or `_ => …`"]);
    let message = told("d = match b as i32 { 0 => a, -2147483648 => b }").join("");
    assert!(message.contains("may also be `-2147483647`, `-2147483646`"), "{message}");
}

#[test]
fn a_constant_index_is_that_of_an_element() {
    for does in
        ["d = arr[4] + a + b", "arr[4] = a; d = b", "for i in 0..5 { arr[i] = a } d = b", "d = arr[2 + 2] + a + b"]
    {
        let told = told(does);
        assert!(
            told.len() == 1 && told[0].starts_with("E0125 `arr` has 4 elements, counted from 0"),
            "{does}: {told:?}"
        );
    }
    for does in
        ["for i in 0..4 { arr[i] = a } d = b", "for i in 0..6 { if i < 4 { arr[i] = a } } d = b", "arr[a] = b; d = a"]
    {
        assert_eq!(told(does), Vec::<String>::new(), "{does}");
    }
}

#[test]
fn the_help_proposes_what_is_wanted() {
    for (does, code, message) in [
        ("d = a.b7 + b", "E0121", "the parts of `u32` are `b0` to `b3`, `h0` and `h1`, `w0`"),
        ("d = (a as u16x2).h2 + b", "E0121", "`b0` to `b3`, `h0` and `h1`, `w0`, `x` and `y`"),
        ("d = a[3:0].b0 + b", "E0121", "`u4` has no parts, only bits: `x[0]`"),
        ("d = load(u16, a) + b", "E0122", "`zext(u32, …)` changes the width"),
        ("d = b + load(u16, a)", "E0122", "`zext(u32, …)` changes the width"),
        ("d = a + (sext(i64, b as i32) as u64)", "E0122", "`trunc(u32, …)` changes the width"),
        ("d = zext(u32, a.h0 + b)", "E0122", "`zext(u32, …)` changes the width"),
        (
            "d = 1e999 as u32 + a + b",
            "E0120",
            "`1e999` is not a number: a number with an exponent has a point: `1.0e999`",
        ),
        ("d = 2d + a + b", "E0120", "`2d` is not a number: digits are decimal"),
        ("d = ((a as f32) + 1.0e999) as u32 + b", "E0125", "is larger than every `f64`"),
        (
            "d = match m { even => a, sideways => b, _ => a }",
            "E0124",
            "write one of its values: `even`, `zero` or `up`",
        ),
        ("d = match m { evne => a, _ => b }", "E0124", "did you mean `even`?"),
        ("d = 0x7fc00000 as f32 as u32 + a + b", "E0125", "give the bits a type: `0x7fc00000 as u32 as f32`"),
        ("d = 0x3c003c00 as f16x2 as u32 + a + b", "E0125", "give the bits a type: `0x3c003c00 as u32 as f16x2`"),
    ] {
        let told = told(does);
        assert!(told.len() == 1 && told[0].starts_with(code) && told[0].contains(message), "{does}: {told:?}");
    }
    for does in ["d = (0x7fc00000 as u32 as f32) as u32 + a + b", "d = (1 as f32) as u32 + a + b"] {
        assert_eq!(told(does), Vec::<String>::new(), "{does}");
    }
}
