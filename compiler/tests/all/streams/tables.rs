//! Computed values that are tables.

use super::*;

/// A computed value may be a table over a number or over names; the assembler searches for the entry.
#[test]
fn tables_read_both_ways() {
    let steps = "operands: { n: { immediate: decimal, prefix: '', bits: 7..5, \
                 value: 'match bits { 0 => 1, 1 => 3, 2 => 5, 3 => 10, 4 => 20, 5 => 100, 6 => 1000, 7 => 0x4000_0000 }' } }, \
                 ignored: 4..0";
    both_ways(
        of_text("table", &tabled(steps), 0).expect("it is right"),
        &[("00 01 00", "set 1"), ("a0 01 00", "set 100"), ("e0 01 00", "set 1073741824")],
    );
    let refused = of_text("table", &tabled(steps), 0).expect("it is right").parse("set 2").expect_err("no entry");
    assert_eq!(refused.to_string(), "`n` cannot be `2` here");
    // Negative entries, several numbers for one entry, and a default.
    let signed = "fields: { code: { bits: 7..0 } }, where: 'n != 0', operands: { n: { immediate: signed, prefix: '', \
                  value: 'match code { 0 => -1, 5 => -100, 6 => 7, 0x80 => 8, 9 => 9, _ => 0 }' } }";
    both_ways(
        of_text("signed_table", &tabled(signed), 0).expect("it is right"),
        &[("00 01 00", "set -1"), ("05 01 00", "set -100"), ("80 01 00", "set 8")],
    );
    assert!(of_text("signed_table", &tabled(signed), 0).expect("it is right").decode(&[7, 1, 0]).is_err());
    // The number that selects an entry may be computed.
    let parts = "fields: { code: { bits: 7..0 } }, operands: { n: { immediate: decimal, prefix: '', \
                 value: 'match code[7:4] { 0 => 1, 1 => 2, 9 => 7, 15 => 9, _ => 5 } * 100 + match code & 15 { 4 => 64, _ => code & 15 }' } }";
    both_ways(
        of_text("parts", &tabled(parts), 0).expect("it is right"),
        &[("02 01 00", "set 102"), ("94 01 00", "set 764"), ("ff 01 00", "set 915")],
    );
    // Names may select entries, and arms may be computed; two fields determine the value.
    let sized = "fields: { size: { bits: 7..6, enum: Size }, count: { bits: 5..2 } }, ignored: 1..0, \
                 syntax: 'set.{size} {n}', operands: { n: { immediate: decimal, prefix: '', \
                 value: 'match size { byte => count, half => count * 2, word => (count + 1) * 4 }' } }";
    both_ways(
        of_text("sized", &tabled(sized), 0).expect("it is right"),
        &[("28 01 00", "set.byte 10"), ("68 01 00", "set.half 20"), ("a8 01 00", "set.word 44")],
    );
}

/// A table of 256 8-bit entries is the largest that an expression may hold.
#[test]
fn large_tables_are_exact() {
    let entry = |number: u64| (number * 167 % 256) ^ 0x5a;
    let arms: Vec<String> = (0..256).map(|number| format!("{number} => {}", entry(number))).collect();
    let rest = |arms: &str| {
        format!("operands: {{ n: {{ immediate: decimal, prefix: '', bits: 7..0, value: 'match bits {{ {arms} }}' }} }}")
    };
    let engine = of_text("large", &tabled(&rest(&arms.join(", "))), 0).expect("it is right");
    for number in 0..256 {
        let (bytes, expected) = (format!("{number:02x}0100"), format!("set {}", entry(number)));
        both_ways(engine, &[(&bytes, &expected)]);
    }
    let wide: Vec<String> = (0..256).map(|number| format!("{number} => {}", number * 257)).collect();
    let told = of_text("large", &tabled(&rest(&wide.join(", "))), 0).expect_err("it has too many bits");
    assert!(told.contains("E0127") && told.contains("an encoding has room for"), "{told}");
}

#[test]
fn tables_say_what_they_leave_open() {
    let of = |arms: &str| {
        tabled(&format!(
            "operands: {{ n: {{ immediate: decimal, bits: 7..6, value: 'match bits {{ {arms} }}' }} }}, ignored: 5..0"
        ))
    };
    let named = |arms: &str| {
        tabled(&format!(
            "fields: {{ size: {{ bits: 7..6, enum: Size }}, n: {{ value: 'match size {{ {arms} }}' }} }}, ignored: 5..0, \
             syntax: 'set.{{size}} {{n}}'"
        ))
    };
    let mistakes = [
        (of("0 => 1, 1 => 2"), "`bits` may also be `2` or `3`"),
        (of("0 => 1, 1 => 2, 1 => 3, _ => 4"), "`1` is already matched by an earlier arm"),
        (of("0 => 1, 4 => 2, _ => 3"), "`bits` is never 4: it is 0 to 3"),
        (of("0 => 1, low => 2, _ => 3"), "`bits` is a number and has no names"),
        (of("0 => 1, 3 => 2, _ => 3").replace("decimal", "signed"), "it is in two's complement: write -1"),
        (of("0 => 1, _ => 3").replace("match bits", "match bits > 1"), "but this is of type `bool`"),
        (of("0 => 0xffff_ffff_ffff_ffff, 1 => -1, _ => 3"), "this value is negative, and others are too large"),
        (of("0 => 1, 1 => 2, 2 => 3, 3 => true"), "expected `u64`, found `bool`"),
        (named("byte => 1, half => 2"), "`size` may also be `word`"),
        (named("byte => 1, half => 2, long => 3, _ => 4"), "`size` has no value `long`"),
    ];
    for (text, message) in mistakes {
        let told = of_text("open_table", &text, 0).map(drop).expect_err(message);
        assert!(told.contains(message), "{message}: {told}");
    }
}
