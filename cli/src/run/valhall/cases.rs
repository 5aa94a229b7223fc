//! Recorded cases: a program with all that it is run with and what it must give.

use isaforge_runtime::Memory;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::cases::{Case, CaseError, Finished};
use isaforge_runtime::valhall::observe::Observer;
use isaforge_runtime::valhall::watched::{Told, Watched};

use super::{counted, pixels};
use crate::args::RunArgs;
use crate::conform::is_case;
use crate::failure::Failure;
use crate::output::thousands;
use crate::run::engine;
use crate::run::launched::{CaseResult, Compared, Drawn, Launched, Ran};

/// A case, and what it has drawn.
struct Recorded {
    case: Case,
    drawn: Vec<Drawn>,
}

/// The case that a text is. `None` if it is none.
pub fn read(text: &str) -> Option<CaseResult> {
    let launched = |case| -> Box<dyn Launched> { Box::new(Recorded { case, drawn: Vec::new() }) };
    is_case(text).then(|| Case::read(text).map(launched).map_err(|error| error.to_string()))
}

impl Recorded {
    /// Runs the case, and keeps what it draws. Returns its name and what came of it.
    fn finish(&mut self, observer: impl Observer) -> Result<Ran, CaseError> {
        let Finished { name, pictures, instructions, problems } = self.case.run(observer)?;
        let several = pictures.len() > 1;
        let drawn = pictures.iter().map(|(place, target)| {
            let name = if several { format!("{name}-{place}") } else { name.clone() };
            // A name is no path.
            let file = format!("{}.png", name.replace(['/', '\\'], "_")).into();
            Drawn { name, file, width: target.size()[0], pixels: pixels(target) }
        });
        self.drawn = drawn.collect();
        let problems = problems.iter().map(|problem| format!("not as recorded: {problem}")).collect();
        Ok(Ran { problems, ..Ran::from(Ok(format!("{name}, {} instructions", thousands(instructions)))) })
    }
}

/// Says that there is no choice of engines for cases.
fn only_one(args: &RunArgs) {
    engine::only_one(args, "recorded cases", "an engine that is fixed");
}

impl Launched for Recorded {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        if !args.engine.compare {
            only_one(args);
        }
        if args.time_limit.is_some() {
            return Err(Failure::usage("recorded cases have budgets, and no time limit", "leave out `--time-limit`"));
        }
        let (ran, profile) = match args.watch.counts() {
            true => counted(|profile| self.finish(profile)),
            false => (self.finish(()), None),
        };
        let profile = profile.map(|profile| (profile, "reference".to_owned()));
        let ran = ran.unwrap_or_else(|error| Ran::from(Err(error.to_string())));
        Ok(Ran { profile, ..ran })
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        only_one(args);
        Ok(None)
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
        // What a case leaves in memory is compared within the run, and not kept.
        let start = move |told: &mut Told<'_>| case.run(told).map(|_| Memory::new()).map_err(|error| error.to_string());
        Ok(Box::new(Watched::new(&program, Box::new(start)).with_grid(grid)))
    }
}
