//! `isaforge run --spec`: runs a program of an instruction set whose specification defines semantics.
//!
#![doc = include_str!("README.md")]

pub mod console;
pub mod elf;
pub mod launch;
mod read;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_core::machine::{Access, Encoding, Hardware, Machine, Reason, Stop, Trap};
use isaforge_core::semantics::Semantics;
use isaforge_debugger::Source;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::lanes::engine::WarpEngine;
use isaforge_runtime::exec::{self, Executor};
use isaforge_runtime::machine::{DEFAULT_BUDGET, Variable, program_region, slice};
use isaforge_runtime::{Engine, Execution, Guarded, machine, watched};

pub use self::read::LAUNCHES;

use self::console::Console;
use super::buffers::Buffers;
use super::document::{folder, mistaken, read_node, report_or_plan, source};
use super::launched::{Agreed, Compared, Launched, Ran, WithSource};
use super::{engine, outputs};
use crate::args::RunArgs;
use crate::builtin::Tables;
use crate::code::labels;
use crate::failure::{Failure, Status};
use crate::input::{self, Input};
use crate::output::{count, say, write_whole};
use crate::paint::{HELP, paint};
use crate::target::{self, Target};

/// Appended to traps of programs that use a stack without having one.
const STACK: &str = "; all registers start at zero: the program must set its stack pointer before it uses the stack";

/// The exit status of a program that trapped.
const TRAPPED: u8 = 2;

/// The tables of an instruction set with executable semantics.
pub type Set = (Encoding, &'static Semantics, &'static Hardware);

/// A program with its instruction set and its initial memory and registers.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    set: Set,
    segments: Vec<(u64, Vec<u8>, bool)>,
    entry: u64,
    /// The address range of the instructions, if the file contains more than those.
    text: Option<Range<u64>>,
    /// The address at which a program of a launch file ends.
    end: Option<u64>,
    signature: Option<(u64, u64)>,
    /// The initial values of registers and states: one per lane, or one for all lanes.
    registers: Vec<(Variable, Vec<u64>)>,
    show: Vec<Variable>,
    buffers: Option<(Buffers, Vec<super::launch::Output>)>,
    /// The maximum number of instructions.
    budget: u64,
    /// The memory between the symbols of the signature after the run.
    signed: Option<Vec<u8>>,
}

impl Program {
    fn new(path: &Path, set: Set, entry: u64) -> Self {
        Program {
            path: path.to_owned(),
            set,
            segments: Vec::new(),
            entry,
            text: None,
            end: None,
            signature: None,
            registers: Vec::new(),
            show: Vec::new(),
            buffers: None,
            budget: DEFAULT_BUDGET,
            signed: None,
        }
    }

    /// The code that contains the first instruction: its address and bytes.
    fn code(&self) -> (u64, Vec<u8>) {
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

    fn lanes(&self) -> u8 {
        self.set.2.lanes
    }

    /// The addresses and contents of the buffers in an address space, or in the common memory.
    fn buffers(&self, space: Option<usize>) -> impl Iterator<Item = (u64, &[u8])> {
        let all = self.buffers.iter().flat_map(|(buffers, _)| buffers.memory.iter().zip(&buffers.spaces));
        all.filter(move |(_, of)| **of == space).map(|((base, bytes), _)| (*base, bytes.as_slice()))
    }

    /// The execution of the program: the selected one, or else the fastest. `None` stands for machine code for one lane,
    /// which is the same at every level.
    ///
    /// # Errors
    /// When the command line selects an engine or a level that the program cannot have, or the environment names unknown
    /// ones.
    fn selected(&self, args: &RunArgs) -> Result<Option<Execution>, Failure> {
        let choice = &args.engine.choice;
        let (wanted, level) = (choice.engine()?, choice.level()?);
        let refuse = |message: &str, help: &str| Err(Failure::usage(message, help));
        if self.lanes() == 1 {
            if choice.level.is_some() {
                let help = "leave out `--level`: their machine code is the same at every level";
                return refuse("programs of one lane have no levels", help);
            }
            if choice.engine == Some(Engine::Handlers) {
                let help = "choose `reference` or `compiled`, or leave out `--engine`";
                return refuse("programs of one lane have no engine `handlers`", help);
            }
            return Ok((wanted == Some(Engine::Reference)).then(Execution::reference));
        }
        if !WarpEngine::suits(self.set.2) {
            if choice.level.is_some() || choice.engine.is_some_and(|engine| engine != Engine::Reference) {
                let message = "programs whose lanes are masked or stay together run on the engine `reference` alone";
                return refuse(message, "leave out `--engine` and `--level`");
            }
            return Ok(Some(Execution::reference()));
        }
        let execution = Execution::with(wanted, level);
        let execution =
            execution.map_err(|error| Failure::usage(error.to_string(), "select another `--level`, or none"))?;
        Ok(Some(if args.engine.unchecked { execution.unchecked() } else { execution }))
    }

    /// Runs the program on an engine and on the reference.
    ///
    /// # Errors
    /// When the memory cannot be mapped, or the time limit is reached.
    fn compared<const L: usize, E: Executor<L>>(
        &self,
        args: &RunArgs,
        name: &str,
        engine: impl Fn() -> E,
    ) -> Result<Agreed, Failure> {
        self.start::<L>()?;
        let start = || self.start::<L>().unwrap_or_else(|_| Machine::new(self.set.0, self.set.1, self.set.2));
        let deadline = engine::deadline(args);
        match exec::compare::compare(start, engine, self.budget, || deadline.passed().is_none()) {
            Ok((Ok(Stop::Host), _)) => Err(engine::late(machine::TIME_IS_UP)),
            Ok((Ok(_), executed)) => Ok(Agreed::Ran(count(executed, "instruction"))),
            Ok((Err(trap), _)) => Ok(Agreed::Failed(trap.to_string())),
            Err(difference) => Ok(Agreed::Differs(format!("{name} {difference}"))),
        }
    }

    /// Runs the program of several lanes on all engines.
    fn compared_lanes<const L: usize>(&self, args: &RunArgs) -> Result<Compared, Failure> {
        let mut agreed = Agreed::Ran(String::new());
        for execution in engine::others() {
            let name = execution.to_string();
            agreed = self.compared::<L, _>(args, &name, || WarpEngine::new(execution.level()))?;
            if matches!(agreed, Agreed::Differs(_)) {
                break;
            }
        }
        Ok(Compared::new(agreed))
    }

    /// Runs the program of `L` lanes.
    fn run_lanes<const L: usize>(&mut self, args: &RunArgs, execution: Execution) -> Result<Ran, Failure> {
        if execution.engine() == Engine::Reference {
            return self.execute::<L>(args, &mut Machine::run);
        }
        let mut engine = WarpEngine::new(execution.level());
        let mut listing = String::new();
        let ran = self.execute::<L>(args, &mut |machine, console, budget| {
            let ended = engine.run(machine, console, budget);
            if args.dump_jit && !matches!(ended, Err(Trap { reason: Reason::Budget(_), .. })) {
                listing = engine.listing(machine);
            }
            ended
        })?;
        Ok(Ran { listing, ..ran })
    }

    /// Creates a machine at the start of the program.
    ///
    /// # Errors
    /// When the memory cannot be mapped.
    fn start<const L: usize>(&self) -> Result<Machine<L>, Failure> {
        let (encoding, semantics, hardware) = self.set;
        let mut machine = Machine::<L>::new(encoding, semantics, hardware);
        for (index, (memory, space)) in machine.spaces.iter_mut().zip(hardware.spaces).enumerate() {
            let mut bytes = vec![0; space.size as usize];
            for (base, content) in self.buffers(Some(index)) {
                // Launch files are checked for buffers beyond the end.
                let place = usize::try_from(base).ok().and_then(|base| bytes.get_mut(base..)?.get_mut(..content.len()));
                place.into_iter().for_each(|place| place.copy_from_slice(content));
            }
            // In an empty memory, mapping at 0 cannot fail.
            let _ = memory.map(0, bytes, true);
        }
        machine.prepare();
        let cannot =
            |message: String, help: String| Failure::usage(format!("`{}`: {message}", self.path.display()), help);
        let segments = self.segments.iter().map(|(base, bytes, writable)| {
            let region = program_region(hardware, *base, bytes.clone(), *writable);
            region.map_err(|(message, help)| cannot(message, help))
        });
        let regions = self.buffers(None).map(|(base, bytes)| Ok((base, bytes.to_vec(), true)));
        for region in segments.chain(regions) {
            let (base, bytes, writable) = region?;
            machine
                .memory
                .map_bytes(base, Box::new(Guarded::from(bytes)), writable)
                .map_err(|error| cannot(format!("memory at {base:#x}: {error}"), String::new()))?;
        }
        machine.set_pc(self.entry);
        self.registers.iter().for_each(|(variable, values)| variable.set(&mut machine, values));
        machine.breakpoints.extend(self.end);
        Ok(machine)
    }

    /// Converts the program to a machine that can be observed.
    fn watched<const L: usize>(self) -> Result<Box<dyn machine::Machine>, String> {
        let (_, semantics, hardware) = self.set;
        let (code, limits) = (self.code(), (self.end, self.budget));
        let start = move || self.start::<L>().map_err(|failure| failure.to_string());
        Ok(Box::new(watched::Watched::<L>::new((semantics, hardware), code, limits, Box::new(start))?))
    }

    fn execute<const L: usize>(&mut self, args: &RunArgs, run: Run<'_, L>) -> Result<Ran, Failure> {
        let mut machine = self.start::<L>()?;
        self.segments = Vec::new();
        let mut console = Console::open();
        let deadline = args.time_limit.map(|limit| Instant::now() + limit);
        let ended = match self.end {
            Some(end) if end == self.entry => Ok(Stop::Breakpoint(end)),
            _ => run_for(&mut machine, &mut console, (self.budget, deadline), run),
        };
        console.flush();
        if matches!(ended, Err(_) | Ok(Stop::Host)) {
            console.failed.take().map_or(Ok(()), Err)?;
        }
        let status = match ended {
            Err(trap) => {
                let text = machine.text(trap.pc).map_or(String::new(), |text| format!(" (`{text}`)"));
                let hint = if self.registers.is_empty() && wraps(&trap.reason) { STACK } else { "" };
                return Ok(Ran { status: Status::Program(TRAPPED), ..Ran::from(Err(format!("{trap}{text}{hint}"))) });
            }
            Ok(Stop::Host) => return Ok(Ran::from(Err(machine::TIME_IS_UP.to_owned()))),
            Ok(Stop::Exit(status)) => Status::Program(status as u8),
            Ok(_) => Status::Fine,
        };
        let lanes = isaforge_core::bits::ones(self.lanes().into());
        for place in &self.show {
            console.print(&format!("{}\n", place.line(&machine, lanes)));
        }
        console.flush();
        console.failed.take().map_or(Ok(()), Err)?;
        if let Some((buffers, _)) = &mut self.buffers {
            for ((base, bytes), space) in buffers.memory.iter_mut().zip(&buffers.spaces) {
                let memory = space.map_or(&machine.memory, |space| &machine.spaces[space]);
                if let Some(now) = memory.bytes(*base, bytes.len() as u64) {
                    bytes.copy_from_slice(now);
                }
            }
        }
        self.signed =
            self.signature.and_then(|(from, to)| Some(machine.memory.bytes(from, to.checked_sub(from)?)?.to_vec()));
        Ok(Ran { status, ..Ran::from(Ok(count(machine.executed(), "instruction"))) })
    }
}

impl Launched for Program {
    fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
    }

    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        if args.signature.is_some() && self.signature.is_none() {
            let message = format!("`{}` has no symbols `begin_signature` and `end_signature`", self.path.display());
            return Err(Failure::usage(message, "leave out `--signature`"));
        }
        // Lane counts are rounded up to a supported width; the additional lanes stay inactive.
        match (self.lanes(), self.selected(args)?) {
            (..=1, None) => {
                let mut compiler = compiler(args);
                let mut listing = String::new();
                let ran = self.execute::<1>(args, &mut |machine, console, budget| {
                    let ended = compiler.run(machine, console, budget);
                    if args.dump_jit && !matches!(ended, Err(Trap { reason: Reason::Budget(_), .. })) {
                        listing = compiler.listing(machine);
                    }
                    ended
                })?;
                Ok(Ran { listing, ..ran })
            }
            (..=1, Some(_)) => self.execute::<1>(args, &mut Machine::run),
            (2..=32, execution) => self.run_lanes::<32>(args, execution.unwrap_or(Execution::reference())),
            (_, execution) => self.run_lanes::<64>(args, execution.unwrap_or(Execution::reference())),
        }
    }

    /// Runs the program on the reference and on every other engine; as machine code, compiled both when hot and from
    /// the first execution.
    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        match self.lanes() {
            ..=1 => {}
            _ if !WarpEngine::suits(self.set.2) => {
                let what = "programs whose lanes are masked or stay together run on the reference alone: there is no \
                            engine to compare";
                say(&format!("{}: {what}", paint(HELP, "note")));
                return Ok(None);
            }
            2..=32 => return self.compared_lanes::<32>(args).map(Some),
            _ => return self.compared_lanes::<64>(args).map(Some),
        }
        let mut agreed = Agreed::Ran(String::new());
        for eager in [false, true] {
            let compiler = || if eager { compiler(args).eager() } else { compiler(args) };
            agreed = self.compared::<1, _>(args, "machine code", compiler)?;
            if matches!(agreed, Agreed::Differs(_)) {
                break;
            }
        }
        let engines = [Engine::Reference, Engine::Compiled].map(|engine| engine.name().to_owned()).to_vec();
        Ok(Some(Compared { engines, agreed }))
    }

    fn engine(&self, args: &RunArgs) -> Result<String, Failure> {
        let selected = self.selected(args)?;
        Ok(selected.map_or_else(|| Engine::Compiled.name().to_owned(), |execution| execution.to_string()))
    }

    fn produce(&mut self, args: &RunArgs) -> Result<Vec<String>, Failure> {
        if let (Some(file), Some((from, to))) = (&args.signature, self.signature) {
            let message =
                || format!("there is no memory from `begin_signature`, {from:#x}, to `end_signature`, {to:#x}");
            let bytes = self.signed.as_ref().ok_or_else(|| Failure::usage(message(), ""))?;
            write_whole(file, signature(bytes).as_bytes())?;
        }
        let Some((buffers, wanted)) = &self.buffers else { return Ok(Vec::new()) };
        outputs::produce(wanted, buffers, folder(&self.path))
    }

    fn counts_by_name(&self) -> bool {
        false
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn machine::Machine>, String> {
        match self.lanes() {
            0..=1 => self.watched::<1>(),
            2..=32 => self.watched::<32>(),
            _ => self.watched::<64>(),
        }
    }
}

fn compiler(args: &RunArgs) -> Compiler {
    if args.engine.unchecked { Compiler::default().unchecked() } else { Compiler::default() }
}

/// The instruction set of a specification. `None` after errors, which have been reported.
///
/// # Errors
/// When the specification cannot be read, or defines no executable semantics.
pub fn set(spec: &Path, generation: Option<&str>) -> Result<Option<(Target, Set)>, Failure> {
    let Some(target) = target::from_specification(spec, generation, "--generation")? else { return Ok(None) };
    let (Some(semantics), Some(hardware)) = (target.semantics, target.hardware) else {
        let message = format!("`{}` does not define what its instructions do", target.name);
        return Err(Failure::usage(message, "give each of them a text: `does: …`"));
    };
    let encoding = target.tables.into();
    Ok(Some((target, (encoding, semantics, hardware))))
}

/// Opens the program of an ELF file or a launch file, with its assembly. `None` after errors, which have been reported.
///
/// # Errors
/// When the file cannot be read.
pub fn open(path: &Path, tables: Tables, set: Set) -> Result<Option<WithSource>, Failure> {
    let bytes = Input::read(Some(path))?.bytes;
    if elf::matches(&bytes) {
        let found = elf::read(&bytes, set.2.elf);
        let found =
            found.map_err(|(message, help)| Failure::usage(format!("`{}`: {message}", path.display()), help))?;
        let elf::Program { segments, entry, text, signature } = found;
        let program = Program { segments, text, signature, ..Program::new(path, set, entry) };
        let (base, code) = program.code();
        let container = isaforge_containers::elf::open(&bytes);
        let symbols = container.iter().flat_map(|container| &container.symbols).filter_map(|symbol| {
            let at = usize::try_from(symbol.address.checked_sub(base)?).ok()?;
            (at < code.len()).then_some((at, symbol.name.as_str()))
        });
        let source = Source { symbols: labels(symbols), ..Source::default() };
        return Ok(Some((Box::new(program), Some(source))));
    }
    if let Some(failure) = mistaken(path, true) {
        return Err(failure);
    }
    let (mut sources, mut out) = (input::sources(path)?, Diagnostics::new());
    let opened = read_node(path, &mut sources, &mut out).and_then(|node| {
        let source = source(&node, path, &sources);
        let program = read::launch(&node, path, (tables, set), &mut sources, &mut out)?;
        let launched: Box<dyn Launched> = Box::new(program);
        Some((launched, source))
    });
    Ok(report_or_plan(opened, path, sources, out))
}

/// Executes at most a number of instructions, like [`Machine::run`].
type Run<'a, const L: usize> = &'a mut dyn FnMut(&mut Machine<L>, &mut Console, u64) -> Result<Stop, Trap>;

/// Whether an access to memory is a little below address 0, as those of a stack from there are.
fn wraps(reason: &Reason) -> bool {
    let below = |address: u64| (1..=1 << 16).contains(&(address as u32).wrapping_neg());
    matches!(reason, Reason::Memory { access: Access::Read | Access::Write, address, .. } if below(*address))
}

/// Runs until the program ends, the budget is used up, or the time limit is reached; the last counts as a stop by the
/// console.
fn run_for<const L: usize>(
    machine: &mut Machine<L>,
    console: &mut Console,
    (budget, deadline): (u64, Option<Instant>),
    run: Run<'_, L>,
) -> Result<Stop, Trap> {
    let (mut left, most) = (budget, slice(machine.semantics(), L));
    loop {
        let slice = left.min(most);
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

/// Formats four-byte words, eight digits each.
fn signature(bytes: &[u8]) -> String {
    let mut text = String::new();
    for word in bytes.chunks(4) {
        let word = word.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let _ = writeln!(text, "{word:08x}");
    }
    text
}
