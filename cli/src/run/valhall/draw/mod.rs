//! `isaforge run` for fragment programs.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod plan;

use isaforge_compiler::yaml::Node;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::host::{Triangle, Varyings};
use isaforge_runtime::valhall::observe::Observer;
use isaforge_runtime::valhall::watched::{Told, Watched};
use isaforge_runtime::valhall::{self, Fragments};
use isaforge_runtime::{Engine, Memory};

use self::plan::Plan;
use super::{counted, pixels};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::thousands;
use crate::run::launched::{Compared, Drawn, Launched, Ran, find};
use crate::run::{engine, outputs};

/// Nobody looks on, but the reference draws.
struct Nobody;

impl Observer for Nobody {}

/// Whether a launch file is one that draws.
pub fn matches(launch: &Node) -> bool {
    ["size", "targets"].iter().any(|key| find(launch, key).is_some())
}

impl Launched for Plan {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        let by_reference = engine::asked(args)?.is_some_and(|execution| execution.engine() == Engine::Reference);
        self.deadline = engine::deadline(args);
        let (ended, profile) = match args.watch.counts() {
            true => counted(|profile| draw(self, profile)),
            false if by_reference => (draw(self, Nobody), None),
            false => (draw(self, ()), None),
        };
        let [width, height] = self.size;
        let ended = ended.map(|executed| format!("{width} x {height} pixels, {} instructions", thousands(executed)));
        let profile = profile.map(|profile| (profile, "reference".to_owned()));
        Ok(Ran { profile, ..Ran::from(ended) })
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        engine::only_one(args, "drawings", "handlers and the reference together");
        Ok(None)
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        outputs::produce(&self.outputs, &self.buffers, &self.folder)
    }

    fn drawn(&mut self) -> Vec<Drawn> {
        let targets = self.resources.targets.iter().flatten().zip(&self.files);
        let drawn = targets.map(|(target, file)| Drawn {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            file: file.clone(),
            width: self.size[0],
            pixels: pixels(target),
        });
        drawn.collect()
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn Machine>, String> {
        let program = self.program.clone();
        let start = move |told: &mut Told<'_>| {
            let mut plan = Plan::clone(&self);
            let mut memory = plan.buffers.map()?;
            triangles(&mut plan, &mut memory, told).map(|_| memory)
        };
        Ok(Box::new(Watched::new(&program, Box::new(start))))
    }
}

/// Lays out memory, draws, and takes memory back. Returns the number of instructions.
fn draw(plan: &mut Plan, observer: impl Observer) -> Result<u64, String> {
    let mut memory = plan.buffers.map()?;
    let executed = triangles(plan, &mut memory, observer);
    plan.buffers.take_back(memory);
    executed
}

/// Draws the triangles one after another, or the whole picture. Returns the number of instructions, or why the program
/// ended early.
fn triangles(plan: &mut Plan, memory: &mut Memory, mut observer: impl Observer) -> Result<u64, String> {
    let [width, height] = plan.size;
    let mut executed = 0;
    let whole = [Triangle([[0.0; 2]; 3])];
    let triangles = if plan.triangles.is_empty() { &whole[..] } else { &plan.triangles };
    for (number, triangle) in triangles.iter().enumerate() {
        plan.resources.varyings = Varyings(plan.varyings(number, triangle));
        let mut fragments = Fragments::new(plan.program.clone(), width, height);
        fragments.uniforms.clone_from(&plan.uniforms);
        fragments.budget = plan.budget - executed;
        fragments.deadline = plan.deadline;
        if !plan.triangles.is_empty() {
            let [columns, rows] = triangle.within();
            fragments.covered.fill(false);
            for y in rows.start..rows.end.min(height) {
                for x in columns.start..columns.end.min(width) {
                    fragments.covered[(y * width + x) as usize] = triangle.covers([x, y]);
                }
            }
            fragments.within = [columns, rows];
            fragments.back = vec![triangle.is_back(); fragments.covered.len()];
        }
        let drawn = valhall::draw_observed(&fragments, memory, &mut plan.resources, &mut observer);
        executed += drawn.map_err(|error| error.to_string())?.thread_instructions;
    }
    Ok(executed)
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
