//! Runs a launch of the VPU by every engine, and compares what they leave.

use isaforge_runtime::vpu::{Machine, Report, RunError};
use isaforge_runtime::{Deadline, Execution};

use super::plan::Plan;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::count;
use crate::run::engine;
use crate::run::launched::Compared;

/// A machine after its run.
struct Ended {
    machine: Machine,
    report: Result<Report, RunError>,
}

/// Runs the reference and the other engines, each with a machine of its own.
///
/// # Errors
/// When a machine cannot be created, or the time limit ends a run.
pub fn compare(plan: &Plan, args: &RunArgs) -> Result<Option<Compared>, Failure> {
    let run = |execution: Execution, until: Deadline| {
        let mut machine = plan.setup.machine().map_err(|error| Failure::usage(error.to_string(), ""))?;
        machine.set_execution(execution);
        machine.set_deadline(until);
        let report = machine.run();
        Ok(Ended { machine, report })
    };
    let ended = |ended: &Ended| match &ended.report {
        Ok(report) => Ok(count(report.steps, "instruction")),
        Err(error) => Err(error.to_string()),
    };
    engine::compare(args, run, ended, difference)
}

/// The first difference between two runs, if any.
fn difference(found: &Ended, expected: &Ended) -> Option<String> {
    let text = |ended: &Ended| match &ended.report {
        Ok(report) => format!("{} instructions of {} groups", report.steps, report.groups),
        Err(error) => format!("the error `{error}`"),
    };
    match (&found.report, &expected.report) {
        // Groups that run together may spend the rest of the budget in another order.
        (Err(RunError::Budget { .. }), Err(RunError::Budget { .. })) => return None,
        (Ok(a), Ok(b)) if a == b => {}
        (Err(a), Err(b)) if a == b => {}
        _ => return Some(format!("the run gives {}, in the reference {}", text(found), text(expected))),
    }
    let (found, expected) = (&found.machine, &expected.machine);
    let (bytes, others) = (found.memory().bytes(), expected.memory().bytes());
    if let Some(at) = bytes.iter().zip(&others).position(|(byte, other)| byte != other) {
        let (byte, other) = (bytes[at], others[at]);
        return Some(format!("the byte at {at:#x} is {byte:02x}, in the reference {other:02x}"));
    }
    for core in 0..found.cores() {
        let tiles = found.tiles(core).into_iter().flatten().zip(expected.tiles(core).into_iter().flatten());
        for (buffer, (tile, other)) in tiles.enumerate() {
            let mut elements = tile.data.iter().zip(&other.data);
            if let Some(element) = elements.position(|(element, other)| element != other) {
                let (value, other) = (tile.data[element], other.data[element]);
                return Some(format!(
                    "element {element} of tile buffer {buffer} of core {core} is {value:04x?}, in the reference {other:04x?}"
                ));
            }
        }
    }
    (found.warnings() != expected.warnings()).then(|| "the warnings are others than in the reference".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_one_run_leaves_otherwise_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/vpu");
        let scene = std::fs::read_to_string(folder.join("triangle.json")).unwrap();
        let scene = isaforge_runtime::vpu::scene::Scene::from_json(&scene).unwrap();
        let words = isaforge_runtime::vpu::assemble(&std::fs::read_to_string(folder.join("triangle.vpu")).unwrap());
        let words = words.unwrap();
        let run = |change: &dyn Fn(&mut Machine)| {
            let mut machine = scene.machine(&words, &Default::default()).unwrap();
            change(&mut machine);
            let report = machine.run();
            Ended { machine, report }
        };
        let plain = run(&|_| {});
        assert_eq!(difference(&run(&|_| {}), &plain), None);
        let byte = difference(&run(&|machine| machine.memory().write(0, &[0xff; 2])), &plain);
        assert!(byte.is_some());
        let tile = |machine: &mut Machine| machine.set_tile(0, 3, &[[1, 2, 3, 4]]).unwrap();
        let tile = difference(&run(&tile), &plain).unwrap();
        assert!(tile.starts_with("element 0 of tile buffer 3 of core 0 is [0001, 0002"), "{tile}");
        let budget = difference(&run(&|machine| machine.set_budget(10)), &plain).unwrap();
        assert!(budget.contains("the budget of 10 steps"), "{budget}");
    }
}
