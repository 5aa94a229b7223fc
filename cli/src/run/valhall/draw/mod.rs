//! `isaforge run` for fragment programs.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod plan;
pub mod primitives;

use std::num::NonZero;

use isaforge_compiler::yaml::Node;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::host::{Host, Primitive, Resources, Varyings};
use isaforge_runtime::valhall::watched::{Told, Watched};
use isaforge_runtime::valhall::{self, Fragments};
use isaforge_runtime::{Deadline, Execution, Memory, Outcome, RunError};

use self::plan::Plan;
use super::results::{counted, first_pixel, pixels};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::count;
use crate::run::document::find;
use crate::run::launched::{Compared, Drawn, Launched, Ran};
use crate::run::{engine, outputs};

/// Whether a launch file describes a drawing.
pub fn matches(launch: &Node) -> bool {
    ["size", "targets"].iter().any(|key| find(launch, key).is_some())
}

impl Launched for Plan {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        let (execution, threads) = engine::with_threads(args)?;
        self.deadline = engine::deadline(args);
        let counting = args.watch.counts().then_some(|plan: &mut Plan| {
            counted(|profile| {
                plan.on_memory(|fragments, memory, host| valhall::draw_observed(fragments, memory, host, &mut *profile))
            })
        });
        let (ended, profile) = engine::run_counted(self, execution, counting, |plan| plan.draw_on(execution, threads));
        let [width, height] = self.size;
        let ended = ended.map(|executed| format!("{width} x {height} pixels, {}", count(executed, "instruction")));
        let list = || valhall::fast::draw_listing(&self.program, &self.uniforms, &self.resources, execution.level());
        let listing = if args.dump_jit { list() } else { String::new() };
        Ok(Ran { profile, listing, ..Ran::from(ended) })
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        let run = |execution: Execution, deadline: Deadline| {
            let mut plan = Plan { deadline, ..self.clone() };
            let ended = plan.draw_on(execution, NonZero::<usize>::MIN);
            Ok((plan, ended))
        };
        let executed = |executed: &u64| count(*executed, "instruction");
        let ended = |(_, ended): &Run| ended.as_ref().map(executed).map_err(String::clone);
        engine::compare(args, run, ended, difference)
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        outputs::produce(&self.outputs, &self.buffers, &self.folder)
    }

    fn has_threads(&self) -> bool {
        true
    }

    fn drawn(&mut self) -> Vec<Drawn> {
        let targets = self.resources.targets.iter().flatten().zip(&self.files);
        let drawn = targets.map(|(target, file)| Drawn {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            file: file.clone(),
            width: self.size[0],
            pixels: pixels(&target.resolved()),
        });
        drawn.collect()
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn Machine>, String> {
        let program = self.program.clone();
        let start = move |told: &mut Told<'_>| {
            let mut plan = Plan::clone(&self);
            let mut memory = plan.buffers.map()?;
            let draw = |fragments: &Fragments, memory: &mut Memory, host: &mut Resources| {
                valhall::draw_observed(fragments, memory, host, &mut *told)
            };
            plan.draw(&mut memory, draw).map(|_| memory)
        };
        Ok(Box::new(Watched::valhall(&program, [[1; 3]; 2], start)))
    }
}

/// A drawing, and the number of instructions or why the program failed.
type Run = (Plan, Result<u64, String>);

/// The first difference between two drawings of the same launch. The memory of failed runs is not compared.
fn difference((found, ended): &Run, (expected, reference): &Run) -> Option<String> {
    if ended != reference {
        let text = |ended: &Result<u64, String>| match ended {
            Ok(executed) => count(*executed, "instruction"),
            Err(error) => format!("the error `{error}`"),
        };
        return Some(format!("the run gives {}, in the reference {}", text(ended), text(reference)));
    }
    let targets = found.resources.targets.iter().zip(&expected.resources.targets).enumerate();
    for (number, (found, expected)) in targets {
        let (Some(found), Some(expected)) = (found, expected) else { continue };
        if let Some(pixel) = first_pixel(found, expected) {
            return Some(format!("target {number} has {pixel}"));
        }
    }
    let same = ended.is_err() || found.buffers.memory == expected.buffers.memory;
    (!same).then(|| "the buffers differ from those of the reference".to_owned())
}

impl Plan {
    /// Draws on an engine and on host threads. Returns the number of instructions, or why the program failed.
    fn draw_on(&mut self, execution: Execution, threads: NonZero<usize>) -> Result<u64, String> {
        self.on_memory(|fragments, memory, host| match threads.get() {
            1 => valhall::draw_on(execution, fragments, memory, host),
            _ => valhall::fast::draw_parallel(fragments, memory, host, execution.level(), threads),
        })
    }

    /// Maps the buffers, draws, and moves the memory back. Returns the number of instructions.
    fn on_memory(
        &mut self,
        draw: impl FnMut(&Fragments, &mut Memory, &mut Resources) -> Result<Outcome, RunError>,
    ) -> Result<u64, String> {
        let mut memory = self.buffers.map()?;
        let executed = self.draw(&mut memory, draw);
        self.buffers.take_back(memory);
        executed
    }

    /// Draws the primitives in order, or the whole picture. Returns the number of instructions.
    fn draw(
        &mut self,
        memory: &mut Memory,
        mut draw: impl FnMut(&Fragments, &mut Memory, &mut Resources) -> Result<Outcome, RunError>,
    ) -> Result<u64, String> {
        let [width, height] = self.size;
        let samples = self.resources.samples();
        let mut executed = 0;
        // Without primitives, the whole picture is drawn.
        for number in 0..self.primitives.len().max(1) {
            // Primitives that cover no pixel never reach the deadline check of the runtime.
            if let Some(limit) = self.deadline.passed() {
                return Err(format!("the time limit of {} s has expired", limit.as_secs_f64()));
            }
            let drawn = self.primitives.get(number);
            let program = self.program.clone();
            let fragments = match drawn {
                Some(drawn) => Fragments::of(&drawn.primitive, samples, program, width, height),
                None => Fragments::new(program, width, height),
            };
            let varyings = Varyings(self.varyings(drawn));
            let point = match drawn.map(|drawn| drawn.primitive) {
                Some(Primitive::Point(point)) => Some(point),
                _ => None,
            };
            (self.resources.varyings, self.resources.point) = (varyings, point);
            let uniforms = self.uniforms.clone();
            let fragments =
                Fragments { uniforms, budget: self.budget - executed, deadline: self.deadline, ..fragments };
            let outcome = draw(&fragments, memory, &mut self.resources).map_err(|error| error.to_string())?;
            executed += outcome.thread_instructions;
        }
        Ok(executed)
    }
}

#[cfg(test)]
mod tests {
    use isaforge_compiler::diagnostic::{Diagnostics, Style};
    use isaforge_compiler::keys::{FromNode, Reader, Vocabulary};
    use isaforge_compiler::source::Sources;
    use isaforge_compiler::yaml::read_yaml;

    use super::launch::{AlphaContent, BlendContent, DrawLaunch, TargetContent, VaryingContent};
    use super::*;
    use crate::run::valhall::resources::launch::{ImageContent, TextureContent};

    #[test]
    fn the_example_of_the_documentation_is_a_launch_file() {
        let (_, rest) = include_str!("README.md").split_once("```yaml\n").expect("it has an example");
        let text = rest.split_once("```").expect("the example ends").0;
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let file = sources.add("example.yaml", text.to_owned());
        let node = read_yaml(&sources, file, &mut out).expect("it is YAML");
        assert!(matches(&node));
        let launch = DrawLaunch::from_node(&node, &mut Reader { sources: &sources, out: &mut out });
        assert!(launch.is_some() && out.is_empty(), "{}", out.render(&sources, Style::default()));
    }

    #[test]
    fn every_key_is_documented() {
        let keys = [
            DrawLaunch::keys(),
            VaryingContent::keys(),
            TextureContent::keys(),
            ImageContent::keys(),
            TargetContent::keys(),
            BlendContent::keys(),
            AlphaContent::keys(),
        ]
        .concat();
        let readme = include_str!("README.md");
        for key in keys {
            assert!(!key.doc.is_empty(), "{} has no documentation", key.name);
            assert!(readme.contains(&format!("{}:", key.name)), "{} is not in the README", key.name);
        }
    }
}
