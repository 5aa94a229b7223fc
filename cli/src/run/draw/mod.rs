//! `isaforge run` for fragment programs.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod plan;

use std::path::Path;
use std::time::Instant;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::Memory;
use isaforge_runtime::valhall::host::{Target, Triangle, Varyings};
use isaforge_runtime::valhall::observe::Observer;
use isaforge_runtime::valhall::{self, Fragments};

use self::plan::Plan;
use super::{engine, outputs, report_or_plan, watch};
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::machine::{Engine, Execution, WatchReport, counted, map_regions, picture, taken_back};
use crate::output::{failed, say, thousands};
use crate::paint::{GOOD, paint};
use crate::picture::{Rgba, write_png};
use crate::run::cases::pixel;

/// Nobody looks on, but the reference draws.
struct Nobody;

impl Observer for Nobody {}

/// Whether a launch file is one that draws.
pub fn matches(launch: &Node) -> bool {
    let Value::Map(entries) = &launch.value else { return false };
    entries.iter().any(|(key, _)| key.value == "size" || key.value == "targets")
}

/// Carries out a launch file that has been read as YAML.
///
/// # Errors
/// When a file cannot be written.
pub fn run(
    args: &RunArgs,
    execution: Option<Execution>,
    launch: &Node,
    mut sources: Sources,
    mut diagnostics: Diagnostics,
) -> Result<Status, Failure> {
    let folder = args.launch.parent().unwrap_or(Path::new(""));
    let plan = plan::read(launch, folder, &mut sources, &mut diagnostics);
    let Some(mut plan) = report_or_plan(plan, &args.launch, sources, diagnostics) else {
        return Ok(Status::Mistakes);
    };
    if args.engine.compare {
        engine::only_one(args, "drawings", "handlers and the reference together");
    }
    let started = Instant::now();
    plan.deadline = engine::deadline(args);
    let machine = plan.machine;
    let by_reference = execution.is_some_and(|execution| execution.engine() == Engine::Reference);
    let seen = match args.watch.counts() {
        true => counted(|profile| draw(&mut plan, profile)),
        false if by_reference => WatchReport::unwatched(draw(&mut plan, Nobody)),
        false => WatchReport::unwatched(draw(&mut plan, ())),
    };
    if let Some(profile) = &seen.profile {
        watch::show(machine.fidelity, profile, "reference", &args.watch)?;
    }
    let executed = match seen.ended {
        Ok(executed) => executed,
        Err(reason) => {
            failed(&args.launch, reason);
            return Ok(Status::Mistakes);
        }
    };
    let elapsed = started.elapsed();
    let [width, height] = plan.size;
    if !args.quiet {
        say(&format!(
            "{}: {width} x {height} pixels, {} instructions in {elapsed:.1?}",
            paint(GOOD, "ran"),
            thousands(executed)
        ));
    }
    let folder = args.launch.parent().unwrap_or(Path::new(""));
    let done = outputs::produce(&plan.outputs, &plan.buffers, folder)?;
    if !args.quiet {
        done.iter().for_each(|line| say(line));
    }
    for (target, path) in plan.resources.targets.iter().flatten().zip(&plan.files) {
        write_png(path, width, height, &pixels(target))?;
        if !args.quiet {
            say(&format!("wrote {} ({width} x {height})", path.display()));
        }
    }
    Ok(Status::Fine)
}

fn pixels(target: &Target) -> Vec<Rgba> {
    picture("", target).pixels.iter().map(pixel).collect()
}

/// Lays out memory, draws, and takes memory back. Returns the number of instructions.
fn draw(plan: &mut Plan, observer: impl Observer) -> Result<u64, String> {
    let mut memory = map_regions(&mut plan.buffers.memory)?;
    let executed = triangles(plan, &mut memory, observer);
    taken_back(memory, &mut plan.buffers.memory);
    executed
}

/// Draws the triangles one after another, or the whole picture. Returns the number of instructions.
///
/// # Errors
/// Why the program ended early.
pub fn triangles(plan: &mut Plan, memory: &mut Memory, mut observer: impl Observer) -> Result<u64, String> {
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
    use isaforge_compiler::diagnostic::Style;
    use isaforge_compiler::keys::{FromNode, Reader, Vocabulary};
    use isaforge_compiler::yaml::read_yaml;

    use super::launch::{AlphaContent, BlendContent, DrawLaunch, TargetContent, VaryingContent};
    use super::*;
    use crate::run::resources::launch::{ImageContent, TextureContent};

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
