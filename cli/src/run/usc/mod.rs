//! `isaforge run` for the USC.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod plan;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::usc::watch::{Watch as Looks, profile};
use isaforge_runtime::usc::{Instance, LANES, Machine, Register, Report, RunError, Software, Task};

use self::launch::{UscNumber, UscOutput, UscPixel, UscPrint};
use self::plan::{Given, Plan, Rectangle};
use super::{engine, report_or_plan, watch};
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::machine::{Engine, Execution, WatchReport, usc_fidelity};
use crate::output::{count, failed, say, thousands, write_whole};
use crate::paint::{GOOD, HELP, paint};
use crate::picture::{Rgba, write_png};

/// The name of the instruction set in launch files.
pub const NAME: &str = "usc";

/// Whether a launch file is one for the USC.
pub fn matches(launch: &Node) -> bool {
    let Value::Map(entries) = &launch.value else { return false };
    let is_usc = |value: &Value| matches!(value, Value::Text(name) if name == NAME);
    entries.iter().any(|(key, node)| key.value == "isa" && is_usc(&node.value))
}

/// What a run leaves beside the machine.
#[derive(Default)]
pub struct Left {
    report: Report,
    /// The pixel outputs of the rectangle, row by row; `None` where the fragment was discarded.
    pixels: Vec<Option<[u32; 8]>>,
    tasks: Vec<Task>,
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
    plan.machine = plan.machine.until(engine::deadline(args));
    if args.engine.compare {
        return compare(args, &plan);
    }
    if let Some(execution) = execution {
        plan.machine = on(execution, plan.machine);
    }
    let started = Instant::now();
    let seen = match args.watch.counts() {
        true => counted(&mut plan),
        false => WatchReport::unwatched(everything(&mut plan, None)),
    };
    let elapsed = started.elapsed();
    engine::print_listing(args, &if args.dump_jit { plan.program.listing() } else { String::new() })?;
    if let Some(profile) = &seen.profile {
        watch::show(usc_fidelity, profile, "reference", &args.watch)?;
    }
    let left = match seen.ended {
        Ok(left) => left,
        Err(reason) => {
            failed(&args.launch, reason);
            return Ok(Status::Mistakes);
        }
    };
    let mut done = Vec::new();
    for output in &plan.outputs {
        produce(&plan, &left, output, folder, &mut done)?;
    }
    if !args.quiet {
        let instances = plan.rectangle.map_or(u64::from(plan.instances), |r| u64::from(r.width) * u64::from(r.height));
        say(&format!(
            "{}: {}, {} groups, {} of instances, in {elapsed:.1?}",
            paint(GOOD, "ran"),
            count(instances, "instance"),
            thousands(left.report.groups),
            thousands(left.report.instance_groups),
        ));
        done.iter().for_each(|line| say(line));
    }
    Ok(Status::Fine)
}

/// The same machine with an engine.
fn on(execution: Execution, machine: Machine<Software>) -> Machine<Software> {
    let machine = machine.at_level(execution.level());
    if execution.engine() == Engine::Reference { machine.without_fast_path() } else { machine }
}

/// Runs the program by the whole data path and by handlers at each level, and says whether what they leave is the same.
fn compare(args: &RunArgs, plan: &Plan) -> Result<Status, Failure> {
    say(&format!("{}: engines of the USC are compared by what they leave in the end", paint(HELP, "note")));
    let by = |execution: Execution| {
        let mut plan = Plan { machine: on(execution, plan.machine.clone()), ..plan.clone() };
        let left = everything(&mut plan, None);
        (left, plan)
    };
    let (expected, reference) = by(Execution::reference());
    for execution in Execution::available().into_iter().filter(|one| one.engine() == Engine::Handlers) {
        let (found, plan) = by(execution);
        if let Some(difference) = difference((&found, &plan), (&expected, &reference)) {
            return engine::report(
                &args.launch,
                args.quiet,
                &engine::engines(),
                Err(format!("{execution} differs: {difference}")),
            );
        }
    }
    let executed = expected.map(|left| format!("{} groups", thousands(left.report.groups)));
    engine::report(&args.launch, args.quiet, &engine::engines(), Ok(executed))
}

/// What is different after two runs, if anything is.
fn difference(found: (&Result<Left, String>, &Plan), expected: (&Result<Left, String>, &Plan)) -> Option<String> {
    let (left, reference) = match (found.0, expected.0) {
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
    let [own, other] = [found.1, expected.1].map(|plan| &plan.machine.host);
    let differs = [
        ("counts", left.report != reference.report),
        ("pixels", left.pixels != reference.pixels),
        ("vertex outputs", own.vertex_outputs != other.vertex_outputs),
        ("memory", own.memory != other.memory),
    ];
    let what = differs.into_iter().find(|(_, differs)| *differs)?.0;
    Some(format!("the {what} are not those of the reference"))
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

/// Runs the program and counts what is executed.
fn counted(plan: &mut Plan) -> WatchReport<Left> {
    let mut looks = Looks::default();
    looks.profile = Some(profile());
    let ended = everything(plan, Some(&mut looks));
    WatchReport { ended, profile: looks.profile }
}

/// Runs all tasks.
///
/// # Errors
/// Why the program ended early.
pub fn everything(plan: &mut Plan, watch: Option<&mut Looks<'_>>) -> Result<Left, String> {
    match plan.rectangle {
        Some(rectangle) => cover(plan, rectangle, watch),
        None => together(plan, watch),
    }
}

/// Runs tasks; the first has this number.
fn run_tasks(
    plan: &mut Plan,
    tasks: &mut [Task],
    first: usize,
    budget: u64,
    watch: Option<&mut Looks<'_>>,
) -> Result<Report, String> {
    let Plan { machine, program, rectangle, .. } = plan;
    let report = match watch {
        Some(watch) => {
            watch.first = first;
            watch.pixels = rectangle.is_some();
            machine.run_watched(program, tasks, budget, watch)
        }
        None => machine.run(program, tasks, budget),
    };
    report.map_err(|error| RunError { task: first + error.task, ..error }.to_string())
}

/// Runs the instances in tasks of 32, which take turns.
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

/// Blocks of a rectangle whose tasks take turns.
const BLOCKS: usize = 32;

/// Runs the rectangle, some blocks at a time.
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
        let rows =
            pixels.chunks_exact(rectangle.width as usize).flat_map(|row| std::iter::repeat_n(row, scale as usize));
        let enlarged: Vec<Rgba> =
            rows.flatten().flat_map(|pixel| std::iter::repeat_n(*pixel, scale as usize)).collect();
        let (path, width, height) = (folder.join(&png.file), rectangle.width * scale, rectangle.height * scale);
        write_png(&path, width, height, &enlarged)?;
        done.push(format!("wrote {} ({width} x {height})", path.display()));
    }
    if let Some(raw) = &output.raw {
        let (path, bytes) = (folder.join(&raw.file), memory(plan, raw.address.value, raw.size.value));
        write_whole(&path, &bytes)?;
        done.push(format!("wrote {} ({} bytes)", path.display(), bytes.len()));
    }
    if let Some(print) = &output.print {
        let mut out = io::stdout().lock();
        out.write_all(numbers(plan, left, print).as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn memory(plan: &Plan, address: u64, size: u64) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    // The place was looked at when the launch file was read.
    let _ = plan.machine.host.memory.read(address, &mut bytes);
    bytes
}

/// Numbers, eight a line, each line with the number of its first.
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
    let format = print.number.unwrap_or(UscNumber::Hex);
    let texts: Vec<String> = values.iter().map(|value| value.map_or("-".to_owned(), |v| number(format, v))).collect();
    let widest = texts.iter().map(String::len).max().unwrap_or(0);
    let mut text = format!("{what} as {format}:\n");
    for (line, row) in texts.chunks(8).enumerate() {
        let _ = write!(text, "{:>8}:", line * 8);
        for number in row {
            let _ = write!(text, "  {number:>widest$}");
        }
        text.push('\n');
    }
    text
}

fn number(format: UscNumber, bits: u32) -> String {
    match format {
        UscNumber::Hex => format!("{bits:08x}"),
        UscNumber::U32 => bits.to_string(),
        UscNumber::I32 => (bits as i32).to_string(),
        UscNumber::F32 => f32::from_bits(bits).to_string(),
    }
}
