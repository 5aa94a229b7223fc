//! Lanes that a branch leaves behind: they keep what others overwrite, and go on where others end.

use isaforge_analysis::graph::Graph;
use isaforge_analysis::lint::{Check, lint};
use isaforge_analysis::{Program, Set};
use isaforge_core::Tables;

fn findings(text: &str) -> Vec<(Check, usize)> {
    found_in(text, &[])
}

fn found_in(text: &str, others: &[usize]) -> Vec<(Check, usize)> {
    let set = Set::new(
        Tables::Words(isaforge_vpu::ISA),
        Some(isaforge_vpu::semantics::SEMANTICS),
        Some(isaforge_vpu::semantics::HARDWARE),
    );
    let code = set.tables.assemble(text);
    assert!(code.errors.is_empty(), "{text}");
    let mut program = Program::read(&set, &code.bytes);
    others.iter().for_each(|entry| program.enter(*entry));
    lint(&program, &Graph::new(&program)).into_iter().map(|finding| (finding.check, finding.entry)).collect()
}

/// What a program reports whose threads may also start at the second instruction.
fn findings_of_two(text: &str) -> Vec<(Check, usize)> {
    found_in(text, &[1])
}

const STORE: &str = "WriteLocalTile0.xyzw r1.xyzw\nExit\n";

#[test]
fn masked_lanes_keep_what_others_overwrite() {
    let masked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: LoadPosition r1.xyzw\nSync\n{STORE}");
    assert_eq!(findings(&masked), []);
    let unmasked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: Sync\nLoadPosition r1.xyzw\n{STORE}");
    assert_eq!(findings(&unmasked), [(Check::Unread, 0)]);
    let all = format!("LoadPosition r1.xyzw\nBranch next\nnext: LoadPosition r1.xyzw\nSync\n{STORE}");
    assert_eq!(findings(&all), [(Check::Unread, 0)]);
}

#[test]
fn lanes_are_masked_behind_any_entry_point() {
    let masked = format!("Exit\nLoadPosition r1.xyzw\nBranch.x next\nnext: LoadPosition r1.xyzw\nSync\n{STORE}");
    assert_eq!(findings_of_two(&masked), []);
}

#[test]
fn masked_lanes_go_on_where_others_end() {
    let masked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: Exit\nSync\n{STORE}");
    assert_eq!(findings(&masked), []);
    let unmasked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: Sync\nExit\n{STORE}");
    assert_eq!(findings(&unmasked), [(Check::Unread, 0), (Check::Unreachable, 4)]);
}

#[test]
fn what_only_ends_threads_may_stand_behind_a_program() {
    assert_eq!(findings("Exit\nExit\nExit\n"), []);
    assert_eq!(findings("Exit\nExit\nSync\nExit\n"), [(Check::Unreachable, 2)]);
}
