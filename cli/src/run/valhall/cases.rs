//! Recorded cases: a program with all its inputs and the expected results.

use isaforge_runtime::Memory;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::cases::{Case, CaseError, Finished};
use isaforge_runtime::valhall::watched::{Told, Watched};

use super::results::{counted, first_pixel, pixels};
use crate::args::RunArgs;
use crate::conform::is_case;
use crate::failure::Failure;
use crate::output::count;
use crate::run::engine;
use crate::run::launched::{CaseResult, Compared, Drawn, Launched, Ran};

/// A case and the pictures it has drawn.
struct Recorded {
    case: Case,
    drawn: Vec<Drawn>,
}

/// Reads a recorded case. `None` if the text is not one.
pub fn read(text: &str) -> Option<CaseResult> {
    let launched = |case| -> Box<dyn Launched> { Box::new(Recorded { case, drawn: Vec::new() }) };
    is_case(text).then(|| Case::read(text).map(launched).map_err(|error| error.to_string()))
}

impl Recorded {
    /// Keeps the pictures of a finished case. Returns its name and result.
    fn finish(&mut self, finished: Result<Finished, CaseError>) -> Result<Ran, CaseError> {
        let Finished { name, pictures, instructions, problems } = finished?;
        let several = pictures.len() > 1;
        let drawn = pictures.iter().map(|(place, target)| {
            let name = if several { format!("{name}-{place}") } else { name.clone() };
            // Path separators in the name are replaced.
            let file = format!("{}.png", name.replace(['/', '\\'], "_")).into();
            Drawn { name, file, width: target.size()[0], pixels: pixels(target) }
        });
        self.drawn = drawn.collect();
        let problems = problems.iter().map(|problem| format!("not as recorded: {problem}")).collect();
        Ok(Ran { problems, ..Ran::from(Ok(format!("{name}, {}", count(instructions, "instruction")))) })
    }
}

fn timeless() -> Failure {
    Failure::usage("recorded cases have budgets but no time limit", "leave out `--time-limit`")
}

/// The first difference between two runs of a case, if any.
fn difference(found: &Result<Finished, CaseError>, expected: &Result<Finished, CaseError>) -> Option<String> {
    let text = |ended: &Result<Finished, CaseError>| match ended {
        Ok(finished) => {
            let problems = finished.problems.iter().map(|problem| format!(", {problem}")).collect::<String>();
            format!("{}{problems}", count(finished.instructions, "instruction"))
        }
        Err(error) => format!("the error `{error}`"),
    };
    if text(found) != text(expected) {
        return Some(format!("the run gives {}, in the reference {}", text(found), text(expected)));
    }
    let (Ok(found), Ok(expected)) = (found, expected) else { return None };
    let mut pictures = found.pictures.iter().zip(&expected.pictures);
    pictures.find_map(|((name, found), (_, expected))| Some(format!("{name} has {}", first_pixel(found, expected)?)))
}

impl Launched for Recorded {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        let execution = engine::asked(args)?;
        if args.time_limit.is_some() {
            return Err(timeless());
        }
        if args.dump_jit {
            let help = "write its program and inputs as a launch file to see the machine code";
            return Err(Failure::usage("the machine code of recorded cases is not kept", help));
        }
        let case = &self.case;
        let counting = args.watch.counts().then_some(|_: &mut ()| counted(|profile| case.run(profile)));
        let (ran, profile) = engine::run_counted(&mut (), execution, counting, |()| case.run_on(execution));
        let ran = self.finish(ran).unwrap_or_else(|error| Ran::from(Err(error.to_string())));
        Ok(Ran { profile, ..ran })
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        if args.time_limit.is_some() {
            return Err(timeless());
        }
        let ended = |ended: &Result<Finished, CaseError>| match ended {
            Ok(finished) => Ok(count(finished.instructions, "instruction")),
            Err(error) => Err(error.to_string()),
        };
        engine::compare(args, |execution, _| Ok(self.case.run_on(execution)), ended, difference)
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn drawn(&mut self) -> Vec<Drawn> {
        std::mem::take(&mut self.drawn)
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn Machine>, String> {
        let case = self.case;
        let program = case.program().map_err(|error| error.to_string())?;
        let grid = case.grid();
        // The memory of a case is compared within the run and not returned.
        let start = move |told: &mut Told<'_>| case.run(told).map(|_| Memory::new()).map_err(|error| error.to_string());
        Ok(Box::new(Watched::valhall(&program, grid, start)))
    }
}
