//! Whether a word matches two instructions.

use super::*;

#[test]
fn excluded_values_tell_two_forms_apart() {
    let spec = "isa: apart\nword: 24\nprovenance: document\ninstructions:\n  \
                zero: { doc: Z., fixed: { 23..4: 1 }, fields: { f: { bits: 3..0, number: decimal } }, where: f < 8, syntax: 'zero {f}' }\n  \
                one: { doc: O., fixed: { 23..4: 1 }, fields: { f: { bits: 3..0, number: decimal } }, where: f >= 8, syntax: 'one {f}' }\n";
    let engine = of_text("apart", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("130000", "zero 3"), ("190000", "one 9")]);
    assert!(of_text("near", &spec.replace("f < 8", "f <= 8"), 0).expect_err("8 is both").contains("E0106"));
    // An instruction without conditions has the words that the other one leaves.
    let engine = of_text("rest", &spec.replace(", where: f >= 8", ""), 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("130000", "zero 3"), ("190000", "one 9")]);
    assert!(assembled(engine, "one 3").is_err(), "this word is `zero 3`");
}

/// Two instructions of 40 bits with the same constant bits, distinguished by conditions on two fields of 16 bits.
fn told_apart(name: &str, one: &str, other: &str) -> Result<Engine, String> {
    let instruction = |mnemonic: &str, condition: &str| {
        format!(
            "  {mnemonic}: {{ doc: M., fixed: {{ 39..32: 1 }}, fields: {{ x: {{ bits: 31..16 }}, y: {{ bits: 15..0 }} }}, \
             where: '{condition}', syntax: '{mnemonic} {{x}}, {{y}}' }}\n"
        )
    };
    let spec = "isa: apart\nword: 40\nprovenance: document\ninstructions:\n".to_owned();
    of_text(name, &(spec + &instruction("one", one) + &instruction("other", other)), 0)
}

#[test]
fn conditions_over_many_bits_are_proved_to_exclude_each_other() {
    let apart = [
        ("x < 10", "x > 9 && y != 3"),
        ("(x ^ y) == 0xa5a5", "(x ^ y) == 0xa5a4"),
        ("x == y + 77", "x == y + 78"),
        ("x >> 3 == 5", "x & 0xf == 7"),
        ("x == y", "x > y"),
        ("x * 3 == y", "x * 3 == y + 1"),
        ("x / 7 == y", "x / 7 == y + 1"),
        ("popcount(x ^ y) == 2", "popcount(x ^ y) == 3"),
        ("clz(x) == y", "clz(x) == y + 1"),
        ("min(x, y) == 12345", "max(x, y) < 12345"),
    ];
    for (number, (one, other)) in apart.into_iter().enumerate() {
        told_apart(&format!("apart-{number}"), one, other).unwrap_or_else(|why| panic!("{one} | {other}: {why}"));
    }
}

#[test]
fn the_one_word_in_millions_that_is_both_is_found() {
    let both = [
        ("x > 7", "x == 0xabcd && y == 0x1234", "0x1abcd1234"),
        ("(x ^ y) == 0xa5a5", "x == 0x1234 && y < 0xb792", "0x11234b791"),
        ("x == y + 77", "x + y == 1077", "0x1024101f4"),
    ];
    for (number, (one, other, word)) in both.into_iter().enumerate() {
        let told = told_apart(&format!("both-{number}"), one, other).expect_err(one);
        assert!(
            told.contains("E0106") && told.contains(&format!("for example {word} is both")),
            "{one} | {other}: {told}"
        );
    }
}

#[test]
fn what_cannot_be_decided_is_refused_at_once() {
    let start = std::time::Instant::now();
    let hard = "((x * y) % 60013) * ((x + 3) * (y + 5) % 59999) % 65521";
    let told = told_apart("hard", &format!("{hard} == 17"), &format!("{hard} == 18")).expect_err(hard);
    assert!(told.contains("E0134") && told.contains("6 |   other"), "{told}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
