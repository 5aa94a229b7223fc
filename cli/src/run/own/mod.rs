//! `isaforge run --spec`: a program of an instruction set whose specification says what its instructions do.
//!
#![doc = include_str!("README.md")]

pub mod console;
pub mod elf;
pub mod launch;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Sources;
use isaforge_core::machine::{Encoding, Hardware, Machine, Reason, Register, Stop, Trap};
use isaforge_core::semantics::Semantics;
use isaforge_runtime::Guarded;

use self::console::{Console, values};
use self::launch::OwnLaunch;
use super::buffers::{Buffers, read_file};
use super::{init, outputs, plan, program, report_or_plan};
use crate::args::RunArgs;
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::machine::{Compiler, Engine};
use crate::output::{count, failed, say, thousands, write_whole};
use crate::paint::{GOOD, paint};
use crate::target::{self, Target};

/// The budget when none is given.
const BUDGET: u64 = 10_000_000_000;

/// The exit status of a program that trapped.
const TRAPPED: u8 = 2;

/// The tables of an instruction set whose programs can be run.
pub type Set = (Encoding, &'static Semantics, &'static Hardware);

/// What to run.
#[derive(Debug, Default)]
pub struct Job {
    segments: Vec<(u64, Vec<u8>, bool)>,
    entry: u64,
    /// Where instructions are, if more is loaded.
    text: Option<Range<u64>>,
    /// A program of a launch file ends where its words do.
    pub end: Option<u64>,
    signature: Option<(u64, u64)>,
    /// Values of registers, one for each lane or one for all.
    registers: Vec<(Register, Vec<u64>)>,
    show: Vec<Register>,
    buffers: Option<(Buffers, Vec<super::launch::Output>)>,
    /// The most instructions to execute.
    pub budget: u64,
}

impl Job {
    /// The code around the first instruction: its address and its bytes.
    pub fn code(&self) -> (u64, Vec<u8>) {
        let holds =
            |(base, bytes, _): &&(u64, Vec<u8>, bool)| (*base..*base + bytes.len() as u64).contains(&self.entry);
        let Some((base, bytes, _)) = self.segments.iter().find(holds) else { return (self.entry, Vec::new()) };
        let text = self.text.as_ref().filter(|text| text.contains(&self.entry));
        let part = text.and_then(|text| {
            let [start, end] = [text.start, text.end].map(|place| usize::try_from(place.checked_sub(*base)?).ok());
            Some((text.start, bytes.get(start?..end?)?.to_vec()))
        });
        part.unwrap_or_else(|| (*base, bytes.clone()))
    }
}

/// Runs a program of the instruction set of a specification.
///
/// # Errors
/// When a file cannot be read or written, or the specification says nothing that could be run.
pub fn run(args: &RunArgs, spec: &Path) -> Result<Status, Failure> {
    if args.watch.counts() {
        let help = "`--profile=listing` counts them by their places; leave out `--profile-svg` and `--fidelity`";
        return Err(Failure::usage("what programs of a specification execute is not counted by name", help));
    }
    let Some((_, set)) = set(spec, args.generation.as_deref())? else { return Ok(Status::Mistakes) };
    let Some(mut job) = open(&args.launch, set)? else { return Ok(Status::Mistakes) };
    let hardware = set.2;
    if args.signature.is_some() && job.signature.is_none() {
        let message = format!("`{}` has no symbols `begin_signature` and `end_signature`", args.launch.display());
        return Err(Failure::usage(message, "leave out `--signature`"));
    }
    job.budget = args.budget.unwrap_or(job.budget);
    let compiled = args.engine.engine != Some(Engine::Reference);
    if hardware.lanes > 1 && (compiled && args.engine.engine.is_some() || args.engine.compare) {
        let what = format!("programs of {} lanes", hardware.lanes);
        super::engine::only_one(args, &what, "the reference");
    }
    let compiler = || if args.engine.unchecked { Compiler::default().unchecked() } else { Compiler::default() };
    if hardware.lanes <= 1 && args.engine.compare {
        return compare(args, set, &job, compiler);
    }
    let mut listing = String::new();
    // A machine of more lanes than it has hardware for leaves the others idle.
    match hardware.lanes {
        0..=1 if compiled => {
            let mut compiler = compiler();
            let status = execute::<1>(args, set, job, &mut |machine, console, budget| {
                let ended = compiler.run(machine, console, budget);
                if args.dump_jit && !matches!(ended, Err(Trap { reason: Reason::Budget(_), .. })) {
                    listing = compiler.listing(machine);
                }
                ended
            });
            super::engine::print_listing(args, &listing)?;
            status
        }
        0..=1 => execute::<1>(args, set, job, &mut Machine::run),
        2..=32 => execute::<32>(args, set, job, &mut Machine::run),
        _ => execute::<64>(args, set, job, &mut Machine::run),
    }
}

/// The instruction set of a specification. `None` after mistakes, which have been reported.
///
/// # Errors
/// When it cannot be read, or says nothing that could be run.
pub fn set(spec: &Path, generation: Option<&str>) -> Result<Option<(Target, Set)>, Failure> {
    let Some(target) = target::from_specification(spec, generation)? else { return Ok(None) };
    let encoding = match target.tables {
        Tables::Words(isa) => Encoding::from(isa),
        Tables::Streams(engine) => Encoding::from(engine),
        Tables::Groups(isa) => Encoding::from(isa),
    };
    let (Some(semantics), Some(hardware)) = (target.semantics, target.hardware) else {
        let message = format!("`{}` does not say what its instructions do", target.name);
        return Err(Failure::usage(message, "give each of them a text: `does: …`"));
    };
    Ok(Some((target, (encoding, semantics, hardware))))
}

/// What an ELF file or a launch file says. `None` after mistakes, which have been reported.
///
/// # Errors
/// When it cannot be read.
pub fn open(launch: &Path, set: Set) -> Result<Option<Job>, Failure> {
    let bytes = read_file(launch).map_err(Failure::reading(launch))?;
    if !elf::matches(&bytes) {
        if let Some(failure) = init::mistaken(launch, true) {
            return Err(failure);
        }
        let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
        let job = read_launch(set, launch, &mut sources, &mut diagnostics);
        return Ok(report_or_plan(job, launch, sources, diagnostics));
    }
    let found = elf::read(&bytes, set.2.elf);
    let found = found.map_err(|(message, help)| Failure::usage(format!("`{}`: {message}", launch.display()), help))?;
    let elf::Program { segments, entry, text, signature } = found;
    Ok(Some(Job { segments, entry, text, signature, budget: BUDGET, ..Job::default() }))
}

/// Executes a number of instructions at most, as [`Machine::run`] does.
type Run<'a, const L: usize> = &'a mut dyn FnMut(&mut Machine<L>, &mut Console, u64) -> Result<Stop, Trap>;

/// From a launch file to what can be run. `None` after mistakes, which are in `out`.
fn read_launch(set: Set, path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Job> {
    let (encoding, _, hardware) = set;
    let node = plan::open(path, sources, out)?;
    let launch = OwnLaunch::from_node(&node, &mut Reader { sources, out })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let code = match encoding {
        Encoding::Words(isa) => program::load(isa, &launch.program, folder, sources, out).map(|words| {
            let length = usize::from(isa.word_bits / 8);
            words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(length)).collect()
        }),
        Encoding::Groups(isa) => program::load_groups(isa, &launch.program, folder, sources, out),
        Encoding::Stream(engine) => program::load_stream(engine, &launch.program, folder, sources, out),
    };
    let address = launch.address.as_ref().map_or(0, |address| address.value);
    let size = code.as_ref().map_or(0, |code: &Vec<u8>| code.len() as u64);
    let end = address.checked_add(size);
    if let (None, Some(address)) = (end, &launch.address) {
        out.push(Diagnostic::error("L0003", address.span, "the program ends beyond the last address"));
    }
    let mut job = Job { entry: address, end, budget: launch.budget.unwrap_or(BUDGET), ..Job::default() };
    let register = |name: &isaforge_compiler::source::Spanned<String>, out: &mut Diagnostics| {
        let found = hardware.register(&name.value);
        if found.is_none() {
            let message = format!("there is no register `{}`", name.value);
            out.push(Diagnostic::error("L0004", name.span, message).help("write it as instructions do"));
        }
        found
    };
    for (name, given) in launch.registers.iter().flat_map(|named| named.iter()) {
        let Some(found) = register(name, out) else { continue };
        if given.len() > 1 && given.len() != usize::from(hardware.lanes) {
            let message = format!("there are {} lanes, and values for {}", hardware.lanes, given.len());
            out.push(Diagnostic::error("L0003", name.span, message));
        }
        job.registers.push((found, given.iter().map(|number| number.0).collect()));
    }
    job.show = launch.show.iter().flatten().filter_map(|name| register(name, out)).collect();
    let buffers = Buffers::read(launch.buffers.as_deref().map_or(&[], Vec::as_slice), folder, out);
    let outputs = launch.outputs.unwrap_or_default();
    for output in &outputs {
        buffers.check_output(output, out);
    }
    job.buffers = Some((buffers, outputs));
    job.segments.push((address, code?, true));
    (!out.has_errors()).then_some(job)
}

/// A machine at the start of a program.
///
/// # Errors
/// When its memory cannot be mapped.
pub fn machine<const L: usize>(launch: &Path, set: Set, job: &Job) -> Result<Machine<L>, Failure> {
    let mut machine = Machine::<L>::new(set.0, set.1, set.2);
    machine.prepare();
    // Program memory is as long as the hardware says; what a program leaves of it is zero.
    let program = set.2.program as usize;
    let whole = |base: u64, bytes: &[u8]| {
        let from = usize::try_from(base).unwrap_or(usize::MAX);
        let mut whole = vec![0; program];
        let Some(place) = from.checked_add(bytes.len()).and_then(|end| whole.get_mut(from..end)) else {
            let help = format!("program memory has {program} bytes");
            return Err(Failure::usage(format!("`{}`: the program is too long", launch.display()), help));
        };
        place.copy_from_slice(bytes);
        Ok((0, whole, false))
    };
    let segments = job.segments.iter().map(|(base, bytes, writable)| match program {
        0 => Ok((*base, bytes.clone(), *writable)),
        _ => whole(*base, bytes),
    });
    let regions = job.buffers.iter().flat_map(|(buffers, _)| &buffers.memory);
    for region in segments.chain(regions.map(|(base, bytes)| Ok((*base, bytes.clone(), true)))) {
        let (base, bytes, writable) = region?;
        machine
            .memory
            .map_bytes(base, Box::new(Guarded::from(bytes)), writable)
            .map_err(|error| Failure::usage(format!("`{}`: memory at {base:#x}: {error}", launch.display()), ""))?;
    }
    machine.set_pc(job.entry);
    for (register, values) in &job.registers {
        for lane in 0..L {
            let value = values.get(lane).or(values.first()).copied().unwrap_or(0);
            let _ = machine.write(*register, lane, value);
        }
    }
    machine.breakpoints.extend(job.end);
    Ok(machine)
}

/// Runs a program by the reference and as machine code, compiled once it is hot and at once, and says whether they agree.
fn compare(args: &RunArgs, set: Set, job: &Job, compiler: impl Fn() -> Compiler) -> Result<Status, Failure> {
    machine::<1>(&args.launch, set, job)?;
    let start = || machine::<1>(&args.launch, set, job).unwrap_or_else(|_| Machine::new(set.0, set.1, set.2));
    let deadline = super::engine::deadline(args);
    let mut agreed = Ok(Ok(String::new()));
    for eager in [false, true] {
        let compiler = || if eager { compiler().eager() } else { compiler() };
        let ended =
            isaforge_runtime::exec::jit::compare::compare(start, compiler, job.budget, || deadline.passed().is_none());
        let executed = |count: u64| format!("{} instructions", thousands(count));
        agreed = ended.map(|(ended, count)| match ended {
            Ok(Stop::Host) => Err("its time is over".to_owned()),
            ended => ended.map(|_| executed(count)).map_err(|trap| trap.to_string()),
        });
        if agreed.is_err() {
            break;
        }
    }
    let engines = ["reference".to_owned(), "compiled".to_owned()];
    super::engine::report(&args.launch, args.quiet, &engines, agreed.map_err(|difference| difference.to_string()))
}

fn execute<const L: usize>(args: &RunArgs, set: Set, mut job: Job, run: Run<'_, L>) -> Result<Status, Failure> {
    let mut machine = machine::<L>(&args.launch, set, &job)?;
    job.segments = Vec::new();
    let mut console = Console::open();
    let started = Instant::now();
    let ended = if job.end == Some(job.entry) {
        Ok(Stop::Breakpoint(job.entry))
    } else {
        let deadline = args.time_limit.map(|limit| started + limit);
        run_for(&mut machine, &mut console, (job.budget, deadline), run)
    };
    let elapsed = started.elapsed();
    console.flush();
    let status = match ended {
        Err(trap) => {
            console.failed.take().map_or(Ok(()), Err)?;
            return Ok(trapped(args, &machine, &trap));
        }
        Ok(Stop::Exit(status)) => Status::Program(status as u8),
        Ok(Stop::Host) => {
            console.failed.take().map_or(Ok(()), Err)?;
            failed(&args.launch, "its time is over");
            return Ok(Status::Mistakes);
        }
        Ok(_) => Status::Fine,
    };
    for register in &job.show {
        let column: [u64; L] = std::array::from_fn(|lane| machine.read(*register, lane).unwrap_or(0));
        let lanes = isaforge_core::bits::ones(set.2.lanes.into());
        console.print(&format!("{} = {}\n", set.2.name(*register), values(set.2, *register, &column, lanes)));
    }
    console.flush();
    console.failed.take().map_or(Ok(()), Err)?;
    drop(console);
    let mut done = Vec::new();
    if let Some((buffers, wanted)) = &mut job.buffers {
        for (base, bytes) in &mut buffers.memory {
            if let Some(now) = machine.memory.bytes(*base, bytes.len() as u64) {
                bytes.copy_from_slice(now);
            }
        }
        done = outputs::produce(wanted, buffers, args.launch.parent().unwrap_or(Path::new("")))?;
    }
    if let (Some(file), Some(places)) = (&args.signature, job.signature) {
        write_whole(file, signature(&machine, places)?.as_bytes())?;
    }
    if !args.quiet {
        let status = if let Status::Program(status) = status { format!(", status {status}") } else { String::new() };
        say(&format!("{}: {} in {elapsed:.1?}{status}", paint(GOOD, "ran"), count(machine.executed(), "instruction")));
        done.iter().for_each(|line| say(line));
    }
    Ok(status)
}

/// How many instructions are executed between two looks at the clock.
const SLICE: u64 = 1 << 20;

/// Runs until the program ends, its budget is used up, or its time is over: then it stops as if the console had stopped it.
fn run_for<const L: usize>(
    machine: &mut Machine<L>,
    console: &mut Console,
    (budget, deadline): (u64, Option<Instant>),
    run: Run<'_, L>,
) -> Result<Stop, Trap> {
    let mut left = budget;
    loop {
        let slice = left.min(SLICE);
        match run(machine, console, slice) {
            Err(Trap { pc, reason: Reason::Budget(_) }) if slice == left => {
                return Err(Trap { pc, reason: Reason::Budget(budget) });
            }
            Err(Trap { reason: Reason::Budget(_), .. }) => left -= slice,
            ended => return ended,
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Stop::Host);
        }
    }
}

/// Says why a program cannot go on.
fn trapped<const L: usize>(args: &RunArgs, machine: &Machine<L>, trap: &Trap) -> Status {
    let text = machine.text(trap.pc).map_or(String::new(), |text| format!(" (`{text}`)"));
    failed(&args.launch, format_args!("{trap}{text}"));
    Status::Program(TRAPPED)
}

/// The words between two addresses, eight digits each.
fn signature<const L: usize>(machine: &Machine<L>, (from, to): (u64, u64)) -> Result<String, Failure> {
    let bytes = to.checked_sub(from).and_then(|size| machine.memory.bytes(from, size));
    let Some(bytes) = bytes else {
        let message = format!("there is no memory from `begin_signature`, {from:#x}, to `end_signature`, {to:#x}");
        return Err(Failure::usage(message, ""));
    };
    let mut text = String::new();
    for word in bytes.chunks(4) {
        let word = word.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let _ = writeln!(text, "{word:08x}");
    }
    Ok(text)
}
