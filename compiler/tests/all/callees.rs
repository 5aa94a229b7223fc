//! Programs that others call, and the conventions of these calls.

use isaforge_compiler::diff::{Revision, diff};
use isaforge_core::Tables;

use crate::support::{compiled, loaded, replaced};

/// A branch whose target is a register or a named address.
const SPEC: &str = r#"isa: far
word: 16
provenance: document
banks: { r: { count: 8, width: 16, prints: "r{n}" } }
enums: { Address: { values: [here, there] } }
kinds:
  target:
    width: 4
    alternatives:
      own: { fixed: { 3: 0 }, fields: { n: { bank: r, bits: 2..0 } }, text: "{n}" }
      named: { fixed: { 3..1: 0b100 }, fields: { name: { enum: Address, bits: 0 } }, text: "{name}" }
semantics:
  pc: u32
  callees:
    helper:
      doc: Helps.
      instruction: JUMP
      target: to
      addresses: { Address: [there] }
      link: 7
      clobbers: [0, 1]
machine: { lanes: 1 }
instructions:
  JUMP:
    doc: Jumps.
    fixed: { 15..4: 1 }
    operands: { to: { kind: target, at: 0, access: read } }
    does: "branch(zext(u32, to))"
"#;

#[test]
fn callees_are_tables_and_their_mistakes_are_told() {
    let semantics = compiled(SPEC).unwrap_or_else(|message| panic!("{message}")).semantics.expect("it has some");
    let [callee] = semantics.callees else { panic!("{:?}", semantics.callees) };
    assert_eq!((callee.name, callee.instruction, callee.target), ("helper", "JUMP", "to"));
    assert_eq!(callee.addresses, [("Address", &["there"][..])]);
    assert_eq!((callee.link, callee.clobbers), (7, &[0, 1][..]));
    for (from, to, said) in [
        ("instruction: JUMP", "instruction: JUMPS", "no instruction called `JUMPS`"),
        ("target: to", "target: from", "`JUMP` has no operand `from`"),
        ("{ Address: [there] }", "{ Addresses: [there] }", "`to` cannot be a value of an enum `Addresses`"),
        ("{ Address: [there] }", "{ Address: [where] }", "`Address` has no value `where`"),
        ("link: 7", "link: 8", "has 8 registers, but no register 8"),
        ("clobbers: [0, 1]", "clobbers: [0, 9]", "has 8 registers, but no register 9"),
    ] {
        let message = compiled(&replaced(SPEC, &[(from, to)])).err().unwrap_or_else(|| panic!("{to}"));
        assert!(message.contains("E0101") && message.contains(said), "{to}: {message}");
    }
}

#[test]
fn callees_are_compared() {
    for (from, to, said) in [
        (
            "link: 7",
            "link: 6",
            "returns to register 7, overwrites 0, 1 → JUMP with the to there, returns to register 6",
        ),
        ("[0, 1]", "[0, 2]", "overwrites 0, 1 → JUMP with the to there, returns to register 7, overwrites 0, 2"),
        ("[there]", "[here]", "JUMP with the to there, returns to register 7, overwrites 0, 1 → JUMP with the to here"),
    ] {
        let (old, new) = (loaded(SPEC), loaded(&replaced(SPEC, &[(from, to)])));
        let (Tables::Words(a), Tables::Words(b)) = (old.tables, new.tables) else { panic!("they are words") };
        let found = diff(
            Revision { tables: a, semantics: old.semantics, hardware: old.hardware },
            Revision { tables: b, semantics: new.semantics, hardware: new.hardware },
        );
        assert!(found.to_text().contains(said), "{}", found.to_text());
    }
}
