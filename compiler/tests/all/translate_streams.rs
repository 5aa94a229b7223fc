//! Translation of streams: operands keep their values and alternatives, however the other revision encodes them.

use isaforge_compiler::translate::streams::translate_text;
use isaforge_core::Tables;
use isaforge_core::stream::Engine;
use isaforge_core::stream::program::assemble;

use crate::support::{loaded, replaced};

const SPEC: &str = r##"
isa: mix
word: [16, 32]
banks: { r: { count: 8, prints: "r{n}" } }
kinds:
  src:
    width: 4
    parameters: [W]
    alternatives:
      reg: { fixed: { 3: 0 }, fields: { n: { bits: 2..0, bank: r } }, text: "{n}" }
      ind: { fixed: { 3: 1 }, fields: { n: { bits: 2..0, bank: r } }, text: "[{n}]" }
  number:
    width: 8
    alternatives:
      k: { fields: { n: { bits: 7..0, value: "(bits << 2) + 4", number: decimal } }, text: "%{n}" }
  dest:
    width: 8
    alternatives:
      near: { fixed: { 7: 0 }, text: "{n}",
        fields: { n: { bits: 6..0, value: bits * 2, number: signed, target: { from: this, unit: 1 } } } }
      reg: { fixed: { 7..4: 0b1000 }, fields: { n: { bits: 3..0, bank: r } }, text: "{n}" }
instructions:
  nop: { doc: n, word: 16, fixed: { 15..0: 7 } }
  pad: { doc: n, word: 32, fixed: { 31..0: 8 } }
  mov: { doc: m, word: 16, fixed: { 15..8: 1 }, fields: { w: { bits: 7, number: decimal } },
    operands: { d: { bank: r, bits: 6..4, access: write }, s: { kind: src, at: 0, with: { W: w } } },
    syntax: "{mnemonic}.{w} {d}, {s}" }
  set: { doc: s, word: 16, fixed: { 15..11: 1 },
    operands: { d: { bank: r, bits: 10..8, access: write }, s: { kind: number, at: 0 } } }
  jmp: { doc: j, word: 16, fixed: { 15..8: 0x11 }, operands: { to: { kind: dest, at: 0 } } }
  put: { doc: p, word: 16, fixed: { 15..12: 3, 8..6: 0 },
    fields: { hi: { bits: 11..9, number: decimal }, lo: { bits: 2..0, number: decimal } },
    operands: { d: { bank: r, bits: 5..3, access: write }, v: { immediate: decimal, value: "hi << 3 | lo" } } }
"##;

fn mix(changes: &[(&str, &str)]) -> Engine {
    match loaded(&replaced(SPEC, changes)).tables {
        Tables::Streams(engine) => engine,
        _ => panic!("a stream"),
    }
}

/// Whether a program becomes what the other assembler makes of its text, and returns from there; or the first error.
fn translated(changes: &[(&str, &str)], program: &str) -> Result<(), String> {
    let (old, new) = (mix(&[]), mix(changes));
    let first = |from, to| translate_text(from, to, program).map_err(|errors| errors[0].message.clone());
    let there = first(old, new)?;
    assert_eq!(Ok(there), assemble(new, program), "{changes:?}");
    let back = translate_text(new, old, program);
    assert_eq!(back, assemble(old, program), "and back: {changes:?}");
    Ok(())
}

#[test]
fn bits_that_another_alternative_has_now_are_not_the_same() {
    // `ind` has the bits of `reg`, and a new alternative those of `ind`.
    let moved = [
        (
            "      reg: { fixed: { 3: 0 }, fields: { n: { bits: 2..0",
            "      off: { fixed: { 3: 1 }, fields: { n: { bits: 2..0",
        ),
        ("text: \"{n}\" }\n      ind: { fixed: { 3: 1 }", "text: \"@{n}\" }\n      ind: { fixed: { 3: 0 }"),
    ];
    let missing = Err("mix has no `r5` (reg) for `s` of `mov`".to_owned());
    assert_eq!(translated(&moved, "mov.0 r1, r5\n"), missing);
    assert_eq!(translated(&moved, "mov.0 r1, [r5]\n"), Ok(()));
    // Both revisions have both alternatives, but the other assembler chooses another one for this instruction.
    let shared = [("ind: { fixed: { 3: 1 },", "ind: { fixed: { 3: 0 }, where: W != 0,")];
    assert_eq!(translated(&shared, "mov.0 r1, r5\n"), Ok(()));
    assert_eq!(
        translated(&shared, "mov.1 r1, r5\n"),
        Err("this combination cannot be encoded as one `mov` in mix".to_owned())
    );
}

#[test]
fn an_alternative_under_another_name_must_be_the_same_in_all_else() {
    assert_eq!(translated(&[("ind: {", "memory: {")], "mov.1 r1, [r5]\n"), Ok(()));
    let other = [("ind: {", "memory: {"), ("[{n}]", "*{n}")];
    assert_eq!(translated(&other, "mov.1 r1, [r5]\n"), Err("mix has no `[r5]` (ind) for `s` of `mov`".to_owned()));
}

#[test]
fn what_is_computed_otherwise_is_inverted() {
    let offset = [("(bits << 2) + 4", "bits << 2")];
    assert_eq!(translated(&offset, "set r1, %64\n"), Ok(()));
    let refused = translate_text(mix(&offset), mix(&[]), "set r1, %0\n").expect_err("it is less than 4");
    assert_eq!(refused[0].message, "mix has no `%0` (k) for `s` of `set`");
    assert_eq!(translated(&[("hi << 3 | lo", "lo << 3 | hi")], "put r1, #18\n"), Ok(()));
    assert_eq!(translated(&[("(bits << 2) + 4", "bits << 3")], "set r1, %64\n"), Ok(()));
}

#[test]
fn a_target_in_an_operand_leads_to_the_same_instruction() {
    let longer = [("nop: { doc: n, word: 16, fixed: { 15..0: 7 } }", "nop: { doc: n, word: 32, fixed: { 31..0: 7 } }")];
    assert_eq!(translated(&longer, "s: nop\njmp e\njmp s\ne: nop\n"), Ok(()));
}

#[test]
fn a_field_of_an_alternative_under_another_name_in_the_same_bits_is_the_same() {
    let renamed = [("n: { bits: 2..0, bank: r } }, text: \"[{n}]\"", "m: { bits: 2..0, bank: r } }, text: \"[{m}]\"")];
    assert_eq!(translated(&renamed, "mov.1 r1, [r5]\n"), Ok(()));
    let computed = [("n: { bits: 7..0", "m: { bits: 7..0"), ("%{n}", "%{m}")];
    assert_eq!(translated(&computed, "set r1, %64\n"), Ok(()));
}
