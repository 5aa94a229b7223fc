//! Lanes that a branch leaves behind: they keep what others overwrite, and go on where others end.

use isaforge_analysis::graph::Graph;
use isaforge_analysis::lint::{Check, lint};
use isaforge_analysis::{Program, Set};
use isaforge_core::Tables;

fn findings(text: &str) -> Vec<(Check, usize)> {
    let set = Set::new(Tables::Words(isaforge_vpu::ISA), Some(isaforge_vpu::semantics::SEMANTICS));
    let set = set.with(Some(isaforge_vpu::semantics::HARDWARE));
    let code = set.tables.assemble(text);
    assert!(code.errors.is_empty(), "{text}");
    let program = Program::read(&set, &code.bytes);
    lint(&program, &Graph::new(&program)).into_iter().map(|finding| (finding.check, finding.entry)).collect()
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
fn masked_lanes_go_on_where_others_end() {
    let masked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: Exit\nSync\n{STORE}");
    assert_eq!(findings(&masked), []);
    let unmasked = format!("LoadPosition r1.xyzw\nBranch.x next\nnext: Sync\nExit\n{STORE}");
    assert_eq!(findings(&unmasked), [(Check::Unread, 0), (Check::Unreachable, 4)]);
}
