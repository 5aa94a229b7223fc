//! Runs programs on the machine that a specification describes.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use arrow_array::{Array, StringArray};
use isaforge_core::Tables;
use isaforge_core::bits::ones;
use isaforge_core::machine::{Encoding, Executed, Hardware, Host, Machine, MapError, Reason, Stop, Touched, Trap};
use isaforge_core::semantics::Semantics;
use isaforge_core::semantics::evaluate::Column;
use isaforge_runtime::exec::Executor as _;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::lanes::engine::WarpEngine;
use isaforge_runtime::machine::{DEFAULT_BUDGET, Variable, program_region, slice};
use isaforge_runtime::{Engine, Guarded, Level};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::buffers::Regions;
use super::failure::Failure;
use super::number::{bits, whole};
use super::outcome::Finished;
use super::request::Request;
use super::step::{Did, Tell};
use crate::error;
use crate::set::Set;

/// The maximum number of bytes of output that are kept.
const MAX_OUTPUT: usize = 16 << 20;

/// A program to run, with its initial state.
pub struct Job {
    encoding: Encoding,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
    /// The mnemonics by opcode; empty for groups, which have no opcodes.
    mnemonics: Option<&'static StringArray>,
    code: Vec<u8>,
    address: u64,
    registers: Vec<(Variable, Vec<u64>)>,
    budget: u64,
    limit: Option<Duration>,
    compiled: bool,
}

impl Job {
    /// Validates a request.
    pub fn new(
        set: &'static Set,
        code: Vec<u8>,
        request: &Request<'_>,
        limit: Option<Duration>,
        py: Python<'_>,
    ) -> PyResult<Job> {
        let encoding = Encoding::from(set.tables());
        let (Some(semantics), Some(hardware)) = (set.analysis.semantics, set.analysis.hardware) else {
            let message = format!("`{}` does not define what its instructions do", set.name);
            return Err(error::run(py, &message, "give each of them a text: `does: …`", None));
        };
        let mut registers = Vec::new();
        for (name, given) in Request::pairs(request.registers.as_ref())? {
            let name: String = name.extract()?;
            let variable = Variable::one(&name, semantics, hardware)
                .map_err(|(message, help)| PyKeyError::new_err(format!("{message}: {help}")))?;
            let values = values(&given, variable.width, &name)?;
            variable.takes(values.len(), hardware).map_err(PyValueError::new_err)?;
            registers.push((variable, values));
        }
        let address = request.address.as_ref().map_or(Ok(0), |given| whole(given, "`address`"))?;
        if hardware.end_of_program(semantics, address, code.len() as u64).is_none() {
            let last = hardware.last_address(semantics);
            let message = format!("the program ends beyond the last address of the program counter, {last:#x}");
            return Err(PyValueError::new_err(message));
        }
        let compiled = request.execution()?.engine() != Engine::Reference;
        Ok(Job {
            encoding,
            semantics,
            hardware,
            mnemonics: (!matches!(set.tables(), Tables::Groups(_))).then_some(&set.mnemonics),
            code,
            address,
            registers,
            budget: request.budget()?.unwrap_or(DEFAULT_BUDGET),
            limit,
            compiled,
        })
    }
}

/// The bits of a register: of one number for all lanes, or of a list with one for each.
fn values(given: &Bound<'_, PyAny>, width: u32, name: &str) -> PyResult<Vec<u64>> {
    let quoted = format!("`{name}`");
    if let Some(value) = bits(given, width, &quoted)? {
        return Ok(vec![value]);
    }
    let wrong = || PyTypeError::new_err(format!("{quoted} holds a number, or a list with one for each lane"));
    let each = given.try_iter().map_err(|_| wrong())?;
    each.map(|value| bits(&value?, width, &quoted)?.ok_or_else(wrong)).collect()
}

/// Called regularly; returns whether the run should stop.
pub type Interrupted = fn() -> bool;

/// Runs a job on memory, and passes executed instructions to `tell` if it is given.
pub fn run<'a>(
    job: &'a Job,
    regions: Regions,
    tell: Option<Tell<'a>>,
    interrupted: Interrupted,
) -> (Result<Finished, Failure>, Regions) {
    // On a machine with fewer lanes than instantiated here, the others stay idle.
    match job.hardware.lanes {
        0..=1 if job.compiled => {
            let mut compiler = Compiler::default();
            execute::<1>((job, interrupted), regions, tell, |machine, host, budget| compiler.run(machine, host, budget))
        }
        0..=1 => execute::<1>((job, interrupted), regions, tell, |machine, host, budget| machine.run(host, budget)),
        2..=32 => lanes::<32>((job, interrupted), regions, tell),
        _ => lanes::<64>((job, interrupted), regions, tell),
    }
}

/// Runs a job of several lanes.
fn lanes<'a, const L: usize>(
    (job, interrupted): (&'a Job, Interrupted),
    regions: Regions,
    tell: Option<Tell<'a>>,
) -> (Result<Finished, Failure>, Regions) {
    if !job.compiled {
        return execute::<L>((job, interrupted), regions, tell, |machine, host, budget| machine.run(host, budget));
    }
    let mut engine = WarpEngine::new(Level::best());
    execute::<L>((job, interrupted), regions, tell, |machine, host, budget| engine.run(machine, host, budget))
}

fn execute<'a, const L: usize>(
    (job, interrupted): (&'a Job, Interrupted),
    mut regions: Regions,
    tell: Option<Tell<'a>>,
    run: impl FnMut(&mut Machine<L>, &mut Outside<'_>, u64) -> Result<Stop, Trap>,
) -> (Result<Finished, Failure>, Regions) {
    let mut machine = Machine::<L>::new(job.encoding, job.semantics, job.hardware);
    let before = registers(&machine);
    if let Err(reason) = load(job, &mut machine, &regions) {
        return (Err(reason.into()), Vec::new());
    }
    let end = job.address.saturating_add(job.code.len() as u64);
    machine.breakpoints.insert(end);
    let mut outside = Outside { job, output: Vec::new(), tell, counts: HashMap::new() };
    // An empty program has already ended.
    let ended =
        if end == job.address { Ok(Stop::Ended) } else { go(job, &mut machine, &mut outside, interrupted, run) };
    for (base, bytes) in &mut regions {
        if let Some(now) = machine.memory.bytes(*base, bytes.len() as u64) {
            bytes.copy_from_slice(now);
        }
    }
    let output = std::mem::take(&mut outside.output);
    let mut mnemonics: Vec<_> = outside.counts.into_iter().collect();
    mnemonics.sort_by_key(|(name, count)| (Reverse(*count), *name));
    let finished = ended.map(|stop| Finished {
        mnemonics,
        instructions: machine.executed(),
        registers: registers(&machine).into_iter().filter(|now| !before.contains(now)).collect(),
        output,
        status: if let Stop::Exit(status) = stop { Some(status) } else { None },
        ..Finished::default()
    });
    (finished, regions)
}

/// Executes until the program ends, its budget or time is exhausted, or it is interrupted.
fn go<const L: usize>(
    job: &Job,
    machine: &mut Machine<L>,
    outside: &mut Outside<'_>,
    interrupted: Interrupted,
    mut run: impl FnMut(&mut Machine<L>, &mut Outside<'_>, u64) -> Result<Stop, Trap>,
) -> Result<Stop, Failure> {
    let deadline = job.limit.and_then(|limit| Instant::now().checked_add(limit));
    let (mut left, most) = (job.budget, slice(job.semantics, L));
    loop {
        let slice = left.min(most);
        match run(machine, outside, slice) {
            Err(Trap { pc, reason: Reason::Budget(_) }) if slice == left => {
                let trap = Trap { pc, reason: Reason::Budget(job.budget) };
                return Err(Failure::trap(&trap, machine.text(pc).unwrap_or_default()));
            }
            Err(Trap { reason: Reason::Budget(_), .. }) => left -= slice,
            Ok(stop) => return Ok(stop),
            Err(trap) => return Err(Failure::trap(&trap, machine.text(trap.pc).unwrap_or_default())),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let limit = job.limit.unwrap_or_default().as_secs_f64();
            let why = format!("the time limit of {limit} s has expired");
            return Err(Failure::before(machine.pc(), machine.text(machine.pc()).unwrap_or_default(), &why));
        }
        if interrupted() {
            return Err("interrupted".to_owned().into());
        }
    }
}

/// Maps the program and the arrays, and sets the registers.
fn load<const L: usize>(job: &Job, machine: &mut Machine<L>, regions: &Regions) -> Result<(), String> {
    let program = program_region(job.hardware, job.address, job.code.clone(), true);
    let program = program.map_err(|(message, help)| format!("{message}: {help}"))?;
    machine.prepare();
    let first = program.0;
    let program = std::iter::once(program);
    let arrays = regions.iter().map(|(base, bytes)| (*base, bytes.clone(), true));
    for (base, bytes, writable) in program.chain(arrays) {
        let mapped = machine.memory.map_bytes(base, Box::new(Guarded::from(bytes)), writable);
        mapped.map_err(|error| match error {
            MapError::Overlaps(other) if other == first => {
                format!("memory at {base:#x}: the region overlaps the program, which starts at {other:#x}")
            }
            _ => format!("memory at {base:#x}: {error}"),
        })?;
    }
    machine.set_pc(job.address);
    job.registers.iter().for_each(|(variable, values)| variable.set(machine, values));
    Ok(())
}

/// The registers and states that are not zero.
fn registers<const L: usize>(machine: &Machine<L>) -> Vec<(String, Vec<u64>)> {
    let lanes = usize::from(machine.hardware().lanes).clamp(1, L);
    let all = Variable::all(machine.semantics(), machine.hardware());
    let read = move |variable: &Variable, lane| variable.read(machine, lane).unwrap_or(0);
    let set = all.filter(|variable| (0..lanes).any(|lane| read(variable, lane) != 0));
    set.map(|variable| (variable.to_string(), (0..lanes).map(|lane| read(&variable, lane)).collect())).collect()
}

/// The environment of a machine: its output, and the observer of executed instructions.
pub struct Outside<'a> {
    job: &'a Job,
    output: Vec<u8>,
    tell: Option<Tell<'a>>,
    /// How often the observed instructions were executed, by mnemonic.
    counts: HashMap<&'static str, u64>,
}

impl<const L: usize> Host<L> for Outside<'_> {
    fn write(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        if self.output.len() + bytes.len() > MAX_OUTPUT {
            return Err(format!("the program has written more than {MAX_OUTPUT} bytes"));
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    fn looks_on(&self) -> bool {
        self.tell.is_some()
    }

    fn executed(&mut self, step: &Executed<'_, L>) -> ControlFlow<()> {
        let Some(tell) = &mut self.tell else { return ControlFlow::Continue(()) };
        if let Some(names) = self.job.mnemonics.filter(|names| usize::from(step.opcode) < names.len()) {
            *self.counts.entry(names.value(step.opcode.into())).or_default() += 1;
        }
        tell(did(step, self.job))
    }
}

fn did<const L: usize>(step: &Executed<'_, L>, job: &Job) -> Did {
    let (semantics, hardware) = (job.semantics, job.hardware);
    let text = step.text.to_string();
    let active = step.active & ones(u32::from(hardware.lanes).clamp(1, L as u32));
    let mut did = Did { pc: step.pc, lanes: active, ..Did::default() };
    let lanes = |value: &Column<L>, mask: u64| -> Vec<(u32, u64)> {
        let wanted = value.iter().zip(0u32..).filter(|(_, lane)| (mask & active) >> lane & 1 != 0);
        wanted.map(|(value, lane)| (lane, *value)).collect()
    };
    for touched in step.touched {
        match touched {
            Touched::Read(..) | Touched::By(..) => {}
            Touched::Written(register, value, mask) => {
                did.writes.push((hardware.name(*register).to_string(), lanes(value, *mask)));
            }
            Touched::State(state, value, mask) => {
                let name = semantics.states.get(usize::from(*state)).map_or("?", |state| state.name);
                did.writes.push((name.to_owned(), lanes(value, *mask)));
            }
            Touched::Loaded(address, size, value) => did.loads.push((*address, *size, *value)),
            Touched::Stored(address, size, value) => did.stores.push((*address, *size, *value)),
        }
    }
    did.line = format!("{:8x}  {text}", step.pc);
    did.text = text;
    did
}
