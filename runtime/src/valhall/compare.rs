//! Runs a launch by several engines, and finds the first instruction after which one differs from the reference.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::ControlFlow;

use isaforge_valhall::Register;

use super::compute::run_with;
use super::fast::{Held, run_probed};
use super::group::Group;
use super::observe::{Moment, Observer, Registers};
use super::program::Program;
use super::run::run_hosted;
use super::warp::{LANES, lanes};
use crate::engine::{Engine, Execution};
use crate::machine::{Access, AccessKind};
use crate::memory::Memory;
use crate::valhall::host::{Host, Nothing};
use crate::valhall::launch::{Launch, Outcome, Place, RunError, Stage};

/// The maximum number of snapshots in memory. Of a longer run, snapshots at even distances are taken first, then all
/// between two of them.
const LOOKS: u64 = 1 << 18;

/// A difference between an engine and the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The engine.
    pub execution: Execution,
    /// Whether the engine compiled code the first time that it ran.
    pub eager: bool,
    /// The difference and its place.
    pub what: What,
}

/// A kind of difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A register differs after an instruction.
    Register {
        /// The instruction that wrote it in the reference, with the lane.
        place: Box<Place>,
        /// The number of the register.
        register: usize,
        /// The value in the engine.
        found: u32,
        /// The value in the reference.
        expected: u32,
    },
    /// A byte of memory differs at the end, while no register differs.
    Memory {
        /// The instruction that last wrote it in the reference, if any.
        place: Option<Box<Place>>,
        /// Its address.
        address: u64,
        /// The byte in the engine.
        found: u8,
        /// The byte in the reference.
        expected: u8,
    },
    /// The runs end differently, or have executed different numbers of instructions.
    Outcome {
        /// The outcome in the engine.
        found: String,
        /// The outcome in the reference.
        expected: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.execution)?;
        if self.eager {
            f.write_str(", compiled the first time")?;
        }
        f.write_str(" differs: ")?;
        match &self.what {
            What::Register { place, register, found, expected } => {
                write!(f, "{place}: r{register} is {found:08x}, in the reference {expected:08x}")
            }
            What::Memory { place, address, found, expected } => {
                match place {
                    Some(place) => write!(f, "{place}: ")?,
                    None => f.write_str("no store or atomic of the reference writes it: ")?,
                }
                write!(f, "the byte at {address:#x} is {found:02x}, in the reference {expected:02x}")
            }
            What::Outcome { found, expected } => write!(f, "the run gives {found}, in the reference {expected}"),
        }
    }
}

/// Runs a launch by each engine, on memory of its own, and compares the results with those of the reference. Engines
/// with machine code run twice: compiling once code has run often, as usual, and compiling the first time.
///
/// Returns the outcome that all agree on. If the launch fails, it must fail in the same way everywhere; the memory
/// written before is not compared then. Each engine has the time limit of the launch. If one exceeds it, the comparison
/// ends with [`RunError::Time`], since the place depends on timing alone.
///
/// # Errors
/// The first difference found.
pub fn compare(
    launch: &Launch,
    memory: &Memory,
    executions: &[Execution],
) -> Result<Result<Outcome, RunError>, Box<Difference>> {
    compare_with(launch, memory, &Nothing, executions, |_, _| {})
}

/// Compares like [`compare`], with a copy of a host for each run. Calls `failed` for each run that fails without a
/// difference: as the reference does, or with the budget used up. Workgroups that run together spend that in another
/// order, so they may be elsewhere then.
///
/// # Errors
/// As [`compare`].
pub fn compare_with<H: Host + Clone>(
    launch: &Launch,
    memory: &Memory,
    host: &H,
    executions: &[Execution],
    mut failed: impl FnMut(Execution, &RunError),
) -> Result<Result<Outcome, RunError>, Box<Difference>> {
    let mut expected = memory.clone();
    let timed = || Launch { deadline: launch.deadline.again(), ..launch.clone() };
    let outcome = run_with(&timed(), &mut expected, &mut host.clone(), ());
    if matches!(outcome, Err(RunError::Time { .. })) {
        return Ok(outcome);
    }
    for execution in executions.iter().filter(|execution| execution.engine() != Engine::Reference) {
        let eager = execution.eager();
        for (execution, eager) in [(*execution, false), (eager, true)] {
            if eager && execution.engine() != Engine::Compiled {
                continue;
            }
            let mut found = memory.clone();
            let ended = run_hosted(execution, &timed(), &mut found, &mut host.clone());
            if matches!(ended, Err(RunError::Time { .. })) {
                return Ok(ended);
            }
            let what = difference(execution, [launch; 2], (memory, host), [&ended, &outcome], [&found, &expected]);
            if let Some(what) = what {
                return Err(Box::new(Difference { execution, eager, what }));
            }
            if let Err(error) = &ended {
                failed(execution, error);
            }
        }
    }
    Ok(outcome)
}

/// Finds the difference between two runs and its cause. The launches differ only in tests.
fn difference<H: Host + Clone>(
    execution: Execution,
    [launch, reference]: [&Launch; 2],
    (memory, host): (&Memory, &H),
    outcomes: [&Result<Outcome, RunError>; 2],
    memories: [&Memory; 2],
) -> Option<What> {
    let byte = match outcomes {
        [Ok(found), Ok(expected)] if found == expected => memories[0].first_difference(memories[1]),
        // Workgroups that run together spend the budget in another order, so one of them may not get to its trap.
        [Err(RunError::Budget { .. }), Err(_)] => return None,
        [Err(found), Err(expected)] if found == expected => return None,
        _ => None,
    };
    if byte.is_none() && outcomes[0] == outcomes[1] {
        return None;
    }
    let search = Search { execution, launch, reference, memory, host };
    if let Some(what) = search.register() {
        return Some(what);
    }
    if let Some((address, found, expected)) = byte {
        let place = search.writer(address);
        return Some(What::Memory { place, address, found, expected });
    }
    let text = |outcome: &Result<Outcome, RunError>| match outcome {
        Ok(Outcome { thread_instructions, warp_instructions, .. }) => {
            format!("{thread_instructions} instructions of threads, {warp_instructions} of warps")
        }
        Err(error) => format!("the error `{error}`"),
    };
    Some(What::Outcome { found: text(outcomes[0]), expected: text(outcomes[1]) })
}

/// A snapshot of a warp, with its registers hashed.
#[derive(Clone, Copy, Debug)]
struct Look {
    group: [u32; 3],
    warp: u32,
    count: u64,
    live: u16,
    hash: u64,
}

/// The search for the first difference.
struct Search<'a, H> {
    execution: Execution,
    launch: &'a Launch,
    reference: &'a Launch,
    memory: &'a Memory,
    host: &'a H,
}

impl<H: Host + Clone> Search<'_, H> {
    /// Finds the first register that differs.
    fn register(&self) -> Option<What> {
        let mut total = 0u64;
        self.probe(&mut |_| total += 1);
        let stride = total / LOOKS + 1;
        let mut first = self.first(&self.looks(0..u64::MAX, stride))?;
        if stride > 1 {
            let start = first.0 * stride;
            first = self.first(&self.looks(start.saturating_sub(2 * stride)..start + 1, 1)).unwrap_or(first);
        }
        self.blame(&first.1)
    }

    fn probe(&self, look: &mut (dyn FnMut(&Held<'_>) + Send)) {
        // The snapshots count, however the run ends.
        let (memory, host) = (&mut self.memory.clone(), &mut self.host.clone());
        let _ = run_probed(self.launch, memory, host, self.execution.level(), look);
    }

    /// Takes snapshots in a range, `stride` apart.
    fn looks(&self, range: std::ops::Range<u64>, stride: u64) -> Vec<Look> {
        let (mut looks, mut number) = (Vec::new(), 0u64);
        self.probe(&mut |held| {
            if range.contains(&number) && number % stride == 0 {
                let hash = hash(held.live, |register| *held.register(register));
                looks.push(Look { group: held.group, warp: held.warp, count: held.count, live: held.live, hash });
            }
            number += 1;
        });
        looks
    }

    /// Returns the first snapshot that differs in the reference, and its index.
    fn first(&self, looks: &[Look]) -> Option<(u64, Look)> {
        let mut waiting: HashMap<([u32; 3], u32), VecDeque<usize>> = HashMap::new();
        for (index, look) in looks.iter().enumerate() {
            waiting.entry((look.group, look.warp)).or_default().push_back(index);
        }
        let mut first = None;
        self.watch(&mut |moment, count| {
            let Some(waiting) = waiting.get_mut(&(moment.group, moment.warp)) else { return ControlFlow::Continue(()) };
            while let Some(&index) = waiting.front().filter(|&&index| looks[index].count <= count) {
                waiting.pop_front();
                let look = &looks[index];
                if look.count == count && look.hash != hash(look.live, |register| moment.registers[register]) {
                    first = Some(first.map_or(index, |first: usize| first.min(index)));
                }
            }
            ControlFlow::Continue(())
        });
        first.map(|index| (index as u64, looks[index]))
    }

    /// Finds the earliest instruction of the reference that wrote a register that differs in a snapshot.
    fn blame(&self, look: &Look) -> Option<What> {
        let is_look =
            |group: [u32; 3], warp: u32, count: u64| (group, warp, count) == (look.group, look.warp, look.count);
        let mut held: Option<Box<Registers>> = None;
        self.probe(&mut |seen| {
            if held.is_none() && is_look(seen.group, seen.warp, seen.count) {
                held = Some(Box::new(std::array::from_fn(|register| *seen.register(register))));
            }
        });
        let held = held?;
        let mut writers = [[(0u64, 0usize); LANES]; Register::COUNT];
        let mut what = None;
        let program = Program::new(&self.reference.program);
        self.watch(&mut |moment, count| {
            if (moment.group, moment.warp) != (look.group, look.warp) {
                return ControlFlow::Continue(());
            }
            let instruction = moment.instruction.into_iter();
            for used in instruction.flat_map(|known| known.writes()).filter(|used| used.bank == 0) {
                for register in (used.first..used.first.saturating_add(used.count)).map(usize::from) {
                    for lane in lanes(moment.lanes.active).filter(|_| register < Register::COUNT) {
                        writers[register][lane] = (count, moment.pc);
                    }
                }
            }
            if count < look.count {
                return ControlFlow::Continue(());
            }
            let all = (0..Register::COUNT).flat_map(|register| lanes(look.live).map(move |lane| (register, lane)));
            let different = all.filter(|&(r, lane)| held[r][lane] != moment.registers[r][lane]);
            what = different.min_by_key(|&(register, lane)| writers[register][lane]).map(|(register, lane)| {
                let (written, pc) = writers[register][lane];
                let pc = if written == 0 { moment.pc } else { pc };
                What::Register {
                    place: self.place(&program, pc, moment, lane),
                    register,
                    found: held[register][lane],
                    expected: moment.registers[register][lane],
                }
            });
            ControlFlow::Break(())
        });
        what
    }

    fn place(&self, program: &Program<'_>, pc: usize, moment: &Moment<'_>, lane: usize) -> Box<Place> {
        let group = Group { id: moment.group, size: self.reference.local_size };
        Box::new(Place {
            stage: Stage::Compute,
            pc,
            group: moment.group,
            thread: Some(group.thread(moment.warp as usize * LANES + lane)),
            lane: Some(lane as u8),
            text: program.text(pc),
        })
    }

    /// Runs the reference, and calls `tell` with the number of instructions that the warp has executed.
    fn watch(&self, tell: &mut dyn FnMut(&Moment<'_>, u64) -> ControlFlow<()>) {
        let observer = Counting { tell, counts: HashMap::new() };
        let _ = run_with(self.reference, &mut self.memory.clone(), &mut self.host.clone(), observer);
    }

    /// Returns the instruction of the reference that wrote a byte last. `None` if none did.
    fn writer(&self, address: u64) -> Option<Box<Place>> {
        let program = Program::new(&self.reference.program);
        let mut last = None;
        self.watch(&mut |moment, _| {
            let writes = |access: &&Access| {
                let offset = address.wrapping_sub(access.address);
                access.kind != AccessKind::Load && offset < u64::from(access.size)
            };
            if let Some(access) = moment.accesses.iter().rfind(writes) {
                last = Some(self.place(&program, moment.pc, moment, access.lane.into()));
            }
            ControlFlow::Continue(())
        });
        last
    }
}

/// Counts the instructions of each warp.
struct Counting<'a> {
    tell: &'a mut dyn FnMut(&Moment<'_>, u64) -> ControlFlow<()>,
    counts: HashMap<([u32; 3], u32), u64>,
}

impl Observer for Counting<'_> {
    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let count = self.counts.entry((moment.group, moment.warp)).or_default();
        *count += 1;
        (self.tell)(moment, *count)
    }
}

/// Hashes all registers of the live lanes.
fn hash(live: u16, register: impl Fn(usize) -> [u32; LANES]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for number in 0..Register::COUNT {
        let column = register(number);
        for lane in lanes(live) {
            hash = (hash ^ u64::from(column[lane])).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::valhall::{reference, run_on};

    const OUT: u64 = 0x1000;

    fn launch(text: &str) -> Launch {
        let program = assemble(isaforge_valhall::ISA, text).unwrap_or_else(|errors| panic!("{errors:?}"));
        Launch { program, local_size: [128, 1, 1], uniforms: vec![OUT as u32, 0], ..Launch::default() }
    }

    /// Returns the differences found when engines run one program and the reference runs another.
    fn between(engines: &str, reference: &str) -> Vec<What> {
        let (one, other) = (launch(engines), launch(reference));
        let mut memory = Memory::new();
        memory.map(OUT, vec![0; 0x1000]).unwrap();
        let all = Execution::available();
        let eager = all.iter().filter(|one| one.engine() == Engine::Compiled).map(|one| one.eager());
        let all: Vec<_> = all.iter().filter(|one| one.engine() != Engine::Reference).copied().chain(eager).collect();
        let what = all.iter().map(|&execution| {
            let [mut found, mut expected] = [memory.clone(), memory.clone()];
            let outcomes = [run_on(execution, &one, &mut found), reference::run(&other, &mut expected)];
            difference(execution, [&one, &other], (&memory, &Nothing), outcomes.each_ref(), [&found, &expected])
                .unwrap_or_else(|| panic!("{execution} leaves the same"))
        });
        what.collect()
    }

    const LOOP: &str = "
        IADD_IMM.i32 r59, 0x0, #0x1f4
        SHADDX.u64 r62, u0, r60.w0, shift:0x2
        again: IADD_IMM.i32 r1, r60, #0x7
        IMUL.i32 r2, r1, r1
        IADD.u32 r5, r5, r2
        IADD_IMM.i32 r59, r59, #0xffffffff
        BRANCHZ.reconverge r59, offset:again
        STORE.i32.slot0.end @r5, r62, offset:0";

    #[test]
    fn the_first_instruction_that_differs_is_named() {
        // The register that it writes is read once and dead afterwards.
        let other = LOOP.replace("#0x7", "#0x8");
        for what in between(LOOP, &other) {
            let What::Register { place, register, found, expected } = what else { panic!("{what:?}") };
            assert_eq!((place.pc, place.lane, register, found, expected), (2, Some(0), 1, 7, 8));
            assert!(place.text.starts_with("IADD_IMM.i32 r1, r60, "), "{}", place.text);
        }
    }

    #[test]
    fn memory_that_differs_is_traced_to_the_instruction_that_writes_it() {
        for what in between(&LOOP.replace("@r5, r62, offset:0", "@r5, r62, offset:4"), LOOP) {
            let What::Memory { place: Some(place), address, .. } = what else { panic!("{what:?}") };
            assert_eq!((place.pc, address), (7, OUT));
        }
    }

    #[test]
    fn a_store_of_the_value_that_is_there_is_what_wrote_it() {
        let store = "MOV.i32 r4, u0\nMOV.i32 r5, u1\nMOV.i32 r6, 0x0\nSTORE.i32.slot0.end @r6, r4, offset:0";
        let launch = Launch { local_size: [1; 3], ..launch(store) };
        let mut memory = Memory::new();
        memory.map(OUT, vec![0; 0x1000]).unwrap();
        let (execution, host) = (Execution::reference(), &Nothing);
        let search = Search { execution, launch: &launch, reference: &launch, memory: &memory, host };
        assert_eq!(search.writer(OUT).map(|place| place.pc), Some(3));
        assert_eq!(search.writer(OUT + 4), None);
    }

    #[test]
    fn engines_that_agree_are_not_blamed() {
        let mut memory = Memory::new();
        memory.map(OUT, vec![0; 0x1000]).unwrap();
        let outcome = compare(&launch(LOOP), &memory, &Execution::available()).unwrap_or_else(|d| panic!("{d}"));
        assert!(outcome.is_ok());
        let endless = Launch { budget: 50_000, ..launch("again: BRANCHZ.eq.reconverge 0x0, offset:again\nNOP.end") };
        assert!(matches!(compare(&endless, &memory, &Execution::available()), Ok(Err(RunError::Budget { .. }))));
        // Alone, the first workgroup gets to its trap; together, workgroups spend the budget before any does.
        let text = "IADD_IMM.i32 r0, 0x0, #0x186a0\nl: IADD_IMM.i32 r0, r0, #0xffffffff\nBRANCHZ.reconverge r0, offset:l\n\
                    LOAD.i32.slot0.wait0 @r2, 0x0, offset:0\nNOP.end";
        let traps = Launch { budget: 5_000_000, groups: [8, 1, 1], local_size: [16, 1, 1], ..launch(text) };
        let outcome = compare(&traps, &memory, &Execution::available()).unwrap_or_else(|d| panic!("{d}"));
        assert!(!matches!(outcome, Ok(_) | Err(RunError::Budget { .. })), "{outcome:?}");
    }
}
