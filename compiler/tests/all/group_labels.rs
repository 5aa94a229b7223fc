//! Labels in programs of groups: which number is a branch target, and which groups branch.

use isaforge_core::group::listing::{assemble_program, disassemble};

use crate::support::compiled;

/// A header with or without a target, and a number behind it.
const SET: &str = r#"
isa: pairs
doc: Groups of a header and a number.
provenance: assumed
choices:
  head:
    fields:
      size: { number: decimal, wrap: true }
      br: { doc: Branches. }
      to: { number: signed, signed: true, doc: Where to. }
      last: { doc: Ends the program. }
    records:
      plain: { bytes: 1, fixed: { 7..4: 0 }, fields: { size: 2..0, last: 3 } }
      jump: { bytes: 2, fixed: { 7..4: 8 }, implies: { br: true }, fields: { size: 2..0, last: 3, to: 15..8 } }
  op: { fields: { k: { number: decimal } }, records: { op: { bytes: 1, fixed: { 7: 0 }, fields: { k: 6..0 } } } }
group:
  unit: 1
  longest: 4
  slots: { head: { choice: head }, op: { choice: op } }
  derived: [{ field: size, length: true }]
  padding: { odd: 0xee, first: 0xd0, rest: 0xee }
  program: { align: 1, ends: { last: true }, targets: [{ slot: head, field: to }] }
operations:
  JUMP: { doc: Branches., slots: head, is: { br: true }, syntax: "{last:|last }br {to}" }
  GO: { doc: Goes on., slots: head, is: { br: false }, syntax: "go{last:|.last}" }
  ADD: { doc: Adds., slots: op, syntax: "add {k}" }
"#;

#[test]
fn only_the_target_of_a_branch_becomes_a_label() {
    let compiled = compiled(SET).unwrap_or_else(|message| panic!("{message}"));
    let isa = compiled.lowered.groups().expect("it has groups");
    // Both operations end with the same number, and a group with an optional word before its branch goes back.
    let program = [0x83, 3, 3, 0x83, 0, 0, 0x02, 3, 0x8b, 0xf8, 7];
    let text = disassemble(isa, &program);
    let expected =
        "l0:\n0 : br l1\n    add 3\nl1:\n1 : br l1\n    add 0\n2 : go\n    add 3\n3 : last br l0\n    add 7\n";
    assert_eq!(text, expected);
    assert_eq!(assemble_program(isa, &text), Ok(program.to_vec()));
    let unknown = assemble_program(isa, "0 : last br nowhere\n    add 7\n").expect_err("there is no such label");
    assert_eq!(unknown.len(), 1);
}
