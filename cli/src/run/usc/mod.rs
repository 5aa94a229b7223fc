//! `isaforge run` for the USC.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod plan;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use isaforge_compiler::keys::Vocabulary;
use isaforge_runtime::machine;
use isaforge_runtime::usc::watch::{self, Watch as Looks};
use isaforge_runtime::usc::watched::Watched;
use isaforge_runtime::usc::{Instance, LANES, Register, Report, RunError, Task, Trap};
use isaforge_runtime::{Deadline, Execution};

use self::launch::{UscLaunch, UscOutput, UscPixel, UscPrint};
use self::plan::{Given, Plan, Rectangle};
use super::document::folder;
use super::launch::NumberFormat;
use super::launched::{Compared, Launched, Launches, Ran};
use super::{engine, outputs};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::{count, plain_stdout, say, thousands, write_whole};
use crate::paint::{HELP, paint};
use crate::picture::{Rgba, enlarged, write_png};

/// The launch files of the USC.
pub static LAUNCHES: Launches = Launches {
    read: |node, path, sources, out| plan::read(node, folder(path), sources, out),
    recorded: |_| None,
    keys: UscLaunch::keys,
};

/// The results of a run that are not in the machine.
#[derive(Clone, Debug, Default)]
pub struct Left {
    report: Report,
    /// The pixel outputs of the rectangle, row by row; `None` where the fragment was discarded.
    pixels: Vec<Option<[u32; 8]>>,
    tasks: Vec<Task>,
}

impl Launched for Plan {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        let execution = engine::asked(args)?;
        self.machine = self.machine.clone().until(engine::deadline(args)).on(execution);
        let counting = args.watch.counts().then_some(|plan: &mut Plan| {
            let mut looks = Looks::default();
            looks.profile = Some(watch::profile());
            let ended = everything(plan, Some(&mut looks));
            (ended, looks.profile)
        });
        let (ended, profile) = engine::run_counted(self, execution, counting, |plan| everything(plan, None));
        let summary = |left: &Left| {
            let pixels = |covered: Rectangle| u64::from(covered.width) * u64::from(covered.height);
            let instances = count(self.rectangle.map_or(self.instances.into(), pixels), "instance");
            let Report { groups, instance_groups, .. } = &left.report;
            format!("{instances}, {}, {} by instances", count(*groups, "group"), thousands(*instance_groups))
        };
        let summary = ended.as_ref().map(summary).map_err(String::clone);
        self.left = ended.unwrap_or_default();
        let listing = if args.dump_jit { self.program.listing() } else { String::new() };
        Ok(Ran { profile, listing, ..Ran::from(summary) })
    }

    /// Runs the program on the reference engine, and on handlers and machine code at each level.
    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        say(&format!("{}: engines of the USC are compared by their final results", paint(HELP, "note")));
        let run = |execution: Execution, until: Deadline| {
            let mut plan = Plan { machine: self.machine.clone().until(until).on(execution), ..self.clone() };
            let left = everything(&mut plan, None);
            Ok((left, plan))
        };
        let executed = |left: &Left| count(left.report.groups, "group");
        let ended = |(left, _): &Run| left.as_ref().map(executed).map_err(String::clone);
        engine::compare(args, run, ended, difference)
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        let mut done = Vec::new();
        for output in &self.outputs {
            produce(self, &self.left, output, &self.folder, &mut done)?;
        }
        Ok(done)
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn machine::Machine>, String> {
        let code = self.program.as_bytes().to_vec();
        let start = move |watch: &mut Looks<'_>| {
            let mut plan = Plan::clone(&self);
            everything(&mut plan, Some(watch)).map(|_| plan.machine.host)
        };
        Ok(Box::new(Watched::usc(&code, start)))
    }
}

/// What a run leaves, or why it failed, and its machine.
type Run = (Result<Left, String>, Plan);

/// The first difference between two runs, if any.
fn difference(found: &Run, expected: &Run) -> Option<String> {
    let (left, reference) = match (&found.0, &expected.0) {
        (Ok(left), Ok(reference)) => (left, reference),
        (Err(found), Err(expected)) if found == expected => return None,
        (found, expected) => {
            let text = |ended: &Result<Left, String>| ended.as_ref().err().cloned().unwrap_or("an end".to_owned());
            return Some(format!("the run gives {}, in the reference {}", text(found), text(expected)));
        }
    };
    for (number, (task, other)) in left.tasks.iter().zip(&reference.tasks).enumerate() {
        for instance in 0..task.instances() {
            for register in (0..256).filter_map(Register::temporary) {
                let [found, expected] = [task, other].map(|task| task.get(register, instance));
                if let (Some(found), Some(expected)) = (found, expected)
                    && found != expected
                {
                    let place = format!("task {number}, instance {instance}: {register}");
                    return Some(format!("{place} is {found:08x}, in the reference {expected:08x}"));
                }
            }
        }
    }
    let [own, other] = [&found.1, &expected.1].map(|plan| &plan.machine.host);
    let differs = [
        ("counts", left.report != reference.report),
        ("pixels", left.pixels != reference.pixels),
        ("vertex outputs", own.vertex_outputs != other.vertex_outputs),
        ("memory", own.memory != other.memory),
    ];
    let what = differs.into_iter().find(|(_, differs)| *differs)?.0;
    Some(format!("the {what} differ from those of the reference"))
}

fn prepare(plan: &Plan, task: &mut Task, first: usize) -> Result<(), String> {
    for given in &plan.registers {
        match given {
            Given::All(register, value) => task.fill(*register, *value).map_err(|e| e.to_string())?,
            Given::Each(register, values) => {
                let own = values.iter().skip(first).take(task.instances());
                for (instance, value) in own.enumerate() {
                    task.set(*register, instance, *value).map_err(|e| e.to_string())?;
                }
            }
        }
    }
    Ok(())
}

/// Runs all tasks. Returns their results, or why the program failed.
fn everything(plan: &mut Plan, watch: Option<&mut Looks<'_>>) -> Result<Left, String> {
    match plan.rectangle {
        Some(rectangle) => cover(plan, rectangle, watch),
        None => together(plan, watch),
    }
}

/// Runs tasks, numbered from the given one, with what is `left` of the budget.
fn run_tasks(
    plan: &mut Plan,
    tasks: &mut [Task],
    first: usize,
    left: u64,
    watch: Option<&mut Looks<'_>>,
) -> Result<Report, String> {
    let Plan { machine, program, rectangle, budget, .. } = plan;
    let report = match watch {
        Some(watch) => {
            watch.first = first;
            watch.pixels = rectangle.is_some();
            machine.run_watched(program, tasks, left, watch)
        }
        None => machine.run(program, tasks, left),
    };
    report.map_err(|RunError { task, at, text, trap }| {
        // The machine knows only what earlier tasks have left of the budget.
        let trap = if let Trap::Budget(_) = trap { Trap::Budget(*budget) } else { trap };
        RunError { task: first + task, at, text, trap }.to_string()
    })
}

/// Runs the instances in tasks of 32, scheduled in turn.
fn together(plan: &mut Plan, watch: Option<&mut Looks<'_>>) -> Result<Left, String> {
    let instances = plan.instances as usize;
    let mut tasks = Vec::new();
    for first in (0..instances).step_by(LANES) {
        let mut task = Task::new(LANES.min(instances - first)).map_err(|e| e.to_string())?;
        prepare(plan, &mut task, first)?;
        tasks.push(task);
    }
    let report = run_tasks(plan, &mut tasks, 0, plan.budget, watch)?;
    Ok(Left { report, tasks, ..Left::default() })
}

/// The number of blocks of a rectangle whose tasks are scheduled together.
const BLOCKS: usize = 32;

/// Runs the rectangle, [`BLOCKS`] blocks at a time.
fn cover(plan: &mut Plan, rectangle: Rectangle, mut watch: Option<&mut Looks<'_>>) -> Result<Left, String> {
    let Rectangle { x, y, width, height } = rectangle;
    let end = (x + width, y + height);
    let mut left = Left { pixels: vec![None; (width * height) as usize], ..Left::default() };
    let places = (y..end.1).step_by(4).flat_map(|top| (x..end.0).step_by(8).map(move |start| (start, top)));
    let mut blocks = places.filter_map(|(x, y)| Task::block(x, y, end));
    let mut first = 0;
    loop {
        let mut tasks: Vec<Task> = blocks.by_ref().take(BLOCKS).collect();
        if tasks.is_empty() {
            return Ok(left);
        }
        tasks.iter_mut().try_for_each(|task| prepare(plan, task, 0))?;
        let budget = plan.budget - left.report.groups;
        let report = run_tasks(plan, &mut tasks, first, budget, watch.as_deref_mut())?;
        first += tasks.len();
        left.report.groups += report.groups;
        left.report.instance_groups += report.instance_groups;
        plan.machine.host.pixels.clear();
        let discarded: HashSet<Instance> = plan.machine.host.discarded.drain(..).collect();
        for (number, task) in tasks.iter().enumerate() {
            let stays =
                |i: &usize| task.valid() >> i & 1 != 0 && !discarded.contains(&Instance { task: number, instance: *i });
            for i in (0..LANES).filter(stays) {
                let place = |register: u32| Register::special(register).and_then(|r| task.get(r, i)).unwrap_or(0);
                let at = (place(100) - y) as usize * width as usize + (place(97) - x) as usize;
                if let Some(pixel) = left.pixels.get_mut(at) {
                    *pixel = Some(task.pixel_outputs(i));
                }
            }
        }
    }
}

fn produce(plan: &Plan, left: &Left, output: &UscOutput, folder: &Path, done: &mut Vec<String>) -> Result<(), Failure> {
    if let (Some(png), Some(rectangle)) = (&output.png, plan.rectangle) {
        let scale = png.scale.as_ref().map_or(1, |scale| scale.value);
        let color = |pixel: &Option<[u32; 8]>| match (pixel, png.format.unwrap_or(UscPixel::Float)) {
            (None, _) => [0; 4],
            (Some(outputs), UscPixel::Packed) => outputs[0].to_le_bytes(),
            (Some(outputs), UscPixel::Float) => {
                let channel = |c: usize| (f32::from_bits(outputs[c]).clamp(0.0, 1.0) * 255.0).round() as u8;
                [channel(0), channel(1), channel(2), 255]
            }
        };
        let pixels: Vec<Rgba> = left.pixels.iter().map(color).collect();
        let enlarged = enlarged(&pixels, rectangle.width as usize, scale as usize);
        let (path, width, height) = (folder.join(&png.file), rectangle.width * scale, rectangle.height * scale);
        write_png(&path, width, height, &enlarged)?;
        done.push(format!("wrote {} ({width} x {height})", path.display()));
    }
    if let Some(raw) = &output.raw {
        let (path, bytes) = (folder.join(&raw.file), memory(plan, raw.address.value, raw.size.value));
        write_whole(&path, &bytes)?;
        done.push(format!("wrote {} ({})", path.display(), count(bytes.len() as u64, "byte")));
    }
    if let Some(print) = &output.print {
        let mut out = plain_stdout();
        out.write_all(numbers(plan, left, print).as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn memory(plan: &Plan, address: u64, size: u64) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    // The address was checked when the launch file was read.
    let _ = plan.machine.host.memory.read(address, &mut bytes);
    bytes
}

/// Formats the numbers of a print output.
fn numbers(plan: &Plan, left: &Left, print: &UscPrint) -> String {
    let instances = || left.tasks.iter().flat_map(|task| (0..task.instances()).map(move |i| (task, i)));
    let (what, values): (String, Vec<Option<u32>>) = match (&print.register, &print.vertex, &print.address) {
        (Some(name), _, _) => {
            let register = name.value.parse::<Register>().ok();
            let value =
                |(task, i): (&Task, usize)| register.and_then(|r| plan.machine.get(r).or_else(|| task.get(r, i)));
            (name.value.clone(), instances().map(value).collect())
        }
        (_, Some(vertex), _) => {
            let mut values = vec![None; plan.instances as usize];
            for (who, output, value) in &plan.machine.host.vertex_outputs {
                if let Some(place) = values.get_mut(who.task * LANES + who.instance).filter(|_| *output == vertex.value)
                {
                    *place = Some(*value);
                }
            }
            (format!("vertex output {}", vertex.value), values)
        }
        (_, _, Some(address)) => {
            let bytes = memory(plan, address.value, print.count.unwrap_or(1) * 4);
            let words = bytes.chunks_exact(4).map(|b| Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
            (format!("memory from {:#x}", address.value), words.collect())
        }
        _ => return String::new(),
    };
    let format = print.number.unwrap_or(NumberFormat::Hex);
    let texts: Vec<String> =
        values.iter().map(|value| value.map_or("-".to_owned(), |value| outputs::number(format, value))).collect();
    outputs::rows(&format!("{what} as {format}"), 0, &texts)
}
