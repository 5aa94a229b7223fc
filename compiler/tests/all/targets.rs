//! Branch targets: their origin and their unit.

use isaforge_compiler::lower::{Words, words};
use isaforge_core::program::assemble;

use crate::support::checked;

/// The tables of a specification given as text.
fn tables(text: &str) -> Words {
    words(&checked(text).unwrap_or_else(|failure| panic!("{failure}")).isa)
}

/// A 32-bit jump with an 8-bit number that counts as `target` specifies.
fn jump(target: &str) -> &'static isaforge_core::Isa {
    let text = format!(
        "isa: jump\nword: 32\nprovenance: document\ninstructions:\n  j:\n    doc: Jumps.\n    fixed: {{ 31..8: 1 }}\n    \
         operands: {{ to: {{ immediate: signed, bits: 7..0, prefix: '', target: {target} }} }}\n"
    );
    tables(&text).isa
}

/// The numbers of a program's jumps.
fn numbers(isa: &'static isaforge_core::Isa, text: &str) -> Vec<i8> {
    let words = assemble(isa, text).unwrap_or_else(|errors| panic!("{errors:?}"));
    words.iter().map(|word| *word as i8).collect()
}

/// A jump over an instruction, a jump to itself, and a jump back to the start.
const PROGRAM: &str = "start:\n j end\nself: j self\nend: j start\n";

#[test]
fn a_label_counts_from_where_the_target_says_and_in_its_unit() {
    assert_eq!(numbers(jump("relative"), PROGRAM), [1, -1, -3]);
    assert_eq!(numbers(jump("absolute"), PROGRAM), [2, 1, 0]);
    assert_eq!(numbers(jump("{ from: this }"), PROGRAM), [2, 0, -2]);
    assert_eq!(numbers(jump("{ from: this, unit: 2 }"), PROGRAM), [4, 0, -4]);
    assert_eq!(numbers(jump("{ from: next, unit: 1 }"), PROGRAM), [4, -4, -12]);
    assert_eq!(numbers(jump("{ from: 4, unit: 1 }"), PROGRAM), [4, 0, -4]);
}

#[test]
fn a_label_between_two_steps_is_refused() {
    let errors = assemble(jump("{ from: 0, unit: 8 }"), PROGRAM).expect_err("`self` is at 4");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((errors[0].line, errors[0].column), (3, 9));
}

#[test]
fn a_step_of_no_bytes_is_refused() {
    let text = "isa: j\nword: 8\nprovenance: document\ninstructions: { j: { doc: J., fixed: { 7..4: 1 }, operands: \
                { to: { immediate: signed, bits: 3..0, target: { from: this, unit: 0 } } } } }\n";
    let failure = checked(text).expect_err("0 is no step");
    assert!(failure.to_string().contains("leads nowhere"), "{failure}");
}

#[test]
fn opcodes_that_lie_far_apart_decode_the_fast_way() {
    let text = "isa: far\nword: 32\nprovenance: document\nevery: { unused: zero }\nbanks: { x: { count: 32, prints: 'x{n}' } }\n\
                instructions:\n  add: { doc: A., fixed: { 6..0: 0x33, 14..12: 0, 31..25: 0 }, operands: { d: { bank: x, bits: 11..7 }, a: { bank: x, bits: 19..15 }, b: { bank: x, bits: 24..20 } } }\n  \
                sub: { doc: A., fixed: { 6..0: 0x33, 14..12: 0, 31..25: 32 }, operands: { d: { bank: x, bits: 11..7 }, a: { bank: x, bits: 19..15 }, b: { bank: x, bits: 24..20 } } }\n  \
                sll: { doc: A., fixed: { 6..0: 0x33, 14..12: 1, 31..25: 0 }, operands: { d: { bank: x, bits: 11..7 }, a: { bank: x, bits: 19..15 }, b: { bank: x, bits: 24..20 } } }\n  \
                srl: { doc: A., fixed: { 6..0: 0x33, 14..12: 5, 31..25: 0 }, operands: { d: { bank: x, bits: 11..7 }, a: { bank: x, bits: 19..15 }, b: { bank: x, bits: 24..20 } } }\n  \
                sra: { doc: A., fixed: { 6..0: 0x33, 14..12: 5, 31..25: 32 }, operands: { d: { bank: x, bits: 11..7 }, a: { bank: x, bits: 19..15 }, b: { bank: x, bits: 24..20 } } }\n  \
                lui: { doc: A., fixed: { 6..0: 0x37 }, operands: { d: { bank: x, bits: 11..7 }, i: { immediate: hex, bits: 31..12 } } }\n";
    let tables = tables(text);
    for (opcode, word) in [(0, 0x33u64), (1, 0x4000_0033), (2, 0x1033), (3, 0x5033), (4, 0x4000_5033), (5, 0xfedc_b037)]
    {
        assert_eq!(tables.fast.opcode(word), Some(opcode), "{word:#x}");
    }
    assert_eq!(tables.fast.opcode(0x0200_0033), None, "no instruction has this word");
}
