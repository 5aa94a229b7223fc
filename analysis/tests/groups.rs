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

/// Registers with the numbers of runs: `r4..6` is `r4 r5 r6`.
fn expanded(runs: &str) -> String {
    let each = |run: &str| {
        let Some((first, last)) = run.split_once("..") else { return run.to_owned() };
        let digits = first.find(|c: char| c.is_ascii_digit()).expect("a number");
        let (bank, from) = first.split_at(digits);
        let numbers = from.parse::<u32>().expect("a number")..=last.parse().expect("a number");
        numbers.map(|number| format!("{bank}{number}")).collect::<Vec<String>>().join(" ")
    };
    runs.split_whitespace().map(each).collect::<Vec<String>>().join(" ")
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
fn units_beside_the_data_path_access_as_many_registers_as_the_fields_say() {
    let all = |reads: &str, writes: &str| (reads.to_owned(), writes.to_owned());
    for (text, reads, writes) in [
        ("fitr.pixel r4, drc0, cf8, 3", "cf8..19", "r4..6"),
        ("fitrp.pixel r4, drc0, cf8, cf0, 2", "cf8..15 cf0..3", "r4..5"),
        ("fitr.pixel r4, drc0, cf8, 16", "cf8..71", "r4..19"),
        ("ditr.pixel r10, drc0, cf4, 2, 0, cf0", "cf4..11", "r10..11"),
        ("ditr.pixel r10, drc0, cf4, 2, 1, cf0", "cf4..11 cf0..3", "r10..11"),
        ("ditr.pixel r10.f16, drc0, cf4, 3, 3, cf0", "cf4..15", "r10..11"),
        ("ditr.pixel r20, drc0, cf4[idx1], 1, 0, cf0", "idx0[idx1]", "r20"),
        ("ditr.pixel r20, drc0, cf4[idx1], 1, 1, cf0[idx0]", "idx0[idx0] idx0[idx1]", "r20"),
        ("itrsmp2d.pixel.proj.comparison r40, 0, drc0, cf4, sh4, sh12, 3, cf0,", "cf4..19 sh4..7 sh12..15", "r40..42"),
        ("itrsmp2d.pixel r40.f16, 1, drc0, cf4, sh4, sh12, 3, cf0,", "cf4..11 cf0..3 sh4..7 sh12..15", "r40..41"),
        ("smp2d drc0, sh0, r4, sh4, _, r8, 3", "sh0..3 r4..5 sh4..7", "r8..10"),
        ("smp2d.replace.pplod drc0, sh0, r4, sh4, _, r8, 4", "sh0..3 r4..6 sh4..7", "r8..11"),
        ("smp2d.bias drc0, sh0, r4, sh4, sh8, r40, 1", "sh0..3 r4..5 sh4..7 sh8", "r40"),
        ("smp2d.replace.pplod.soo.f16input drc0, sh0, r1, sh4, _, r40, 4", "sh0..3 r1..3 sh4..7", "r40..43"),
        ("smp2d.proj.integer.array drc0, sh0, r1, sh4, _, r40, 4", "sh0..3 r1..4 sh4..7", "r40..43"),
        ("smp2d.gradient.f16 drc0, sh0, r1, sh4, _, r40, 3", "sh0..3 r1..6 sh4..7", "r40..41"),
    ] {
        assert_eq!(accessed(text), all(&expanded(reads), &expanded(writes)), "{text}");
    }
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
