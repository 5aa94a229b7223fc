//! The registers that groups access.

use isaforge_analysis::entry::Register;
use isaforge_analysis::graph::Graph;
use isaforge_analysis::lint::{Check, lint};
use isaforge_analysis::{Program, Set};
use isaforge_core::Tables;

fn set() -> Set {
    let semantics = isaforge_usc::semantics::SEMANTICS;
    Set::new(Tables::Groups(isaforge_usc::ISA), Some(semantics), Some(isaforge_usc::semantics::HARDWARE))
}

fn assembled(text: &str) -> Vec<u8> {
    let code = set().tables.assemble(text);
    assert!(code.errors.is_empty(), "{text}");
    code.bytes
}

/// The registers that the only group of a program reads, and those that it writes.
fn accessed(text: &str) -> (String, String) {
    let (set, bytes) = (set(), assembled(text));
    let program = Program::read(&set, &bytes);
    let instruction = program.entries[0].instruction.as_ref().expect("it was assembled");
    let names = |registers: &mut dyn Iterator<Item = Register>| {
        registers.map(|register| set.name(register)).collect::<Vec<String>>().join(" ")
    };
    (
        names(&mut instruction.reads.iter().copied()),
        names(&mut instruction.writes.iter().map(|(register, _)| *register)),
    )
}

/// The findings in a program, after which `nop.end` is put.
fn findings(text: &str) -> Vec<(Check, usize)> {
    let (set, bytes) = (set(), assembled(&format!("{text}nop.end\n")));
    let program = Program::read(&set, &bytes);
    lint(&program, &Graph::new(&program)).into_iter().map(|finding| (finding.check, finding.entry)).collect()
}

#[test]
fn repetitions_step_and_read_what_the_ones_before_wrote() {
    let all = |reads: &str, writes: &str| (reads.to_owned(), writes.to_owned());
    assert_eq!(accessed("repeat 3 | fadd ft0, r4, c64 | mov r8, ft0"), all("r4 c64 r5 r6", "r8 r9 r10"));
    assert_eq!(accessed("repeat 3 | fadd ft0, r4, c64 | mov r5, ft0"), all("r4 c64", "r5 r6 r7"));
}

#[test]
fn bursts_access_as_many_registers_as_they_say() {
    assert_eq!(accessed("ld r8, drc0, 3, r20"), ("r20 r21".into(), "r8 r9 r10".into()));
}

#[test]
fn an_index_may_lead_to_any_register_of_the_bank() {
    assert_eq!(accessed("fadd ft0, r3[idx0], r1 | mov r2, ft0").0, "idx0[idx0] r3[idx0] r1");
    let read = "fadd ft0, r1, r2 | mov r7, ft0\nfadd ft0, r3[idx0], r1 | mov sh0, ft0\n";
    assert_eq!(findings(read), []);
    let written = "fadd ft0, r1, r2 | mov r7[idx1], ft0\nfadd ft0, r9, r1 | mov sh0, ft0\n";
    assert_eq!(findings(written), []);
    let neither = "fadd ft0, r1, r2 | mov r7, ft0\nfadd ft0, r3, r1 | mov sh0, ft0\n";
    assert_eq!(findings(neither), [(Check::Unread, 0)]);
}
