//! Loops as machine code, for lanes that stay together.
//!
//! A loop is compiled up to its last jump back. Values stay in vector registers within a block, and as words of 32 bits
//! in rows between blocks. Where some of the lanes jump and others do not, the code is left.
//!
//! Lanes may load and store words at any address. Each of these instructions has a reach of memory, around the address
//! at which it was last left. A block before it leaves the code before the instruction if the access of a lane is
//! elsewhere or misaligned; the handlers execute it then, and trap if they must. Instructions that access memory
//! otherwise are not compiled.

use std::collections::BTreeMap;

use isaforge_core::machine::{Instruction, Machine, Memory};
use isaforge_core::semantics::{NONE, Op};

use super::names::Names;
use super::select::{ACTIVE, Bound, FLAGS, JUMPS, Words};
use crate::exec::jit::lanes::emit::{Flow, FlowBlock, FlowState, To};
use crate::exec::jit::lanes::function::FlowFn;
use crate::exec::jit::lanes::graph::{Extent, Graph, Relation, Value};
use crate::exec::jit::lanes::reach::Reached;
use crate::exec::jit::lanes::row::{self, Row};
use crate::exec::jit::lanes::select::{Located, Truth, select};
use crate::exec::jit::lanes::window::WINDOWS;
use crate::guarded::Guarded;
use crate::level::Level;

/// The maximum number of instructions of a loop.
const MAX_LOOP: usize = 128;
/// How often a loop is left in its first round because of an access before it pauses, and for how many visits.
const MAX_MISSES: u32 = 16;
const PAUSE: u32 = 1 << 10;
/// Added to the number of a branch where lanes part.
const PART: u32 = 1 << 16;

/// The rows of the current loop, for 32 or 64 lanes.
#[derive(Debug)]
pub(super) enum Rows {
    Two(Guarded<Row<2>>),
    Four(Guarded<Row<4>>),
}

impl Rows {
    /// Creates rows for `lanes` lanes. `None` if no code is generated for that number.
    pub fn new(lanes: usize) -> Option<Self> {
        match lanes {
            32 => Some(Rows::Two(Guarded::filled(Row::splat(0), Words::MAX))),
            64 => Some(Rows::Four(Guarded::filled(Row::splat(0), Words::MAX))),
            _ => None,
        }
    }

    fn row(&mut self, row: usize) -> &mut [u32] {
        match self {
            Rows::Two(rows) => rows[row].0.as_flattened_mut(),
            Rows::Four(rows) => rows[row].0.as_flattened_mut(),
        }
    }

    fn run(
        &mut self,
        function: &FlowFn,
        state: &mut FlowState,
        memory: (&mut Memory, &mut [Memory]),
        hints: &[Option<u64>],
    ) -> bool {
        match self {
            Rows::Two(rows) => function.run_in(rows, state, memory, hints),
            Rows::Four(rows) => function.run_in(rows, state, memory, hints),
        }
    }
}

/// An instruction of a loop.
struct Step {
    instruction: Instruction,
    pc: u64,
    next: u64,
    branch: Option<Branch>,
    /// The reach of its access to memory.
    reach: Option<usize>,
}

/// What an instruction of a loop may do besides computing.
#[derive(Clone, Copy, Debug, Default)]
struct Does {
    branch: Option<Branch>,
    access: Option<Reached>,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    target: u64,
    always: bool,
}

/// A compiled loop.
#[derive(Debug)]
pub(super) struct Region {
    function: FlowFn,
    /// What it was made from.
    pub bytes: Vec<u8>,
    words: Words,
    /// The address of each instruction, and the one after the last.
    pcs: Vec<u64>,
    /// The branches, by number.
    branches: BTreeMap<u32, Branch>,
    /// The reach of each instruction that accesses memory, by number.
    reaches: BTreeMap<u32, usize>,
    /// An address in each reach.
    hints: [Option<u64>; WINDOWS],
    /// How often in a row it was left in its first round because of an access, and for how many visits it pauses.
    misses: u32,
    pause: u32,
}

/// Where lanes are after a loop.
pub(super) struct Left {
    /// The number of instructions that were executed.
    pub executed: u64,
    /// The lanes that jumped, and their address.
    pub jumped: Option<(u64, u64)>,
    /// The address of the others.
    pub pc: u64,
}

impl Region {
    /// Compiles the loop that begins at an address, for all lanes or for those that are active. `None` if there is none,
    /// or if it cannot be compiled.
    pub fn new<const L: usize>(machine: &mut Machine<L>, start: u64, whole: bool, level: Level) -> Option<Self> {
        let (steps, reached) = steps(machine, start, level)?;
        let machine = &*machine;
        let mut words = Words::default();
        let function = FlowFn::compile(level, |longest| {
            words = Words::default();
            let (graph, blocks) = flow(machine, &steps, longest, whole, level, &mut words)?;
            Some(Flow { graph, columns: L / row::LANES, blocks, reaches: reached.clone() })
        })?;
        let bytes = |step: &Step| machine.memory.bytes(step.pc, step.instruction.length).map(<[u8]>::to_vec);
        let bytes: Option<Vec<Vec<u8>>> = steps.iter().map(bytes).collect();
        let pcs = steps.iter().map(|step| step.pc).chain(steps.last().map(|step| step.next)).collect();
        let branches = (0..).zip(&steps).filter_map(|(at, step)| Some((at, step.branch?))).collect();
        let reaches = (0..).zip(&steps).filter_map(|(at, step)| Some((at, step.reach?))).collect();
        let (bytes, hints) = (bytes?.concat(), [None; WINDOWS]);
        Some(Region { function, bytes, words, pcs, branches, reaches, hints, misses: 0, pause: 0 })
    }

    /// The address after the loop.
    pub fn end(&self) -> u64 {
        self.pcs.last().copied().unwrap_or(0)
    }

    /// Returns the code as text; `text` returns the text of the instruction at an address.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.function.listing(|at| self.pcs.get(at as usize).map_or(String::new(), |pc| text(*pc)))
    }

    /// Executes at most `most` instructions in some lanes. `None` if it has executed none.
    pub fn run<const L: usize>(
        &mut self,
        machine: &mut Machine<L>,
        (rows, state): (&mut Rows, &mut FlowState),
        active: u64,
        most: u64,
    ) -> Option<Left> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let columns = machine.parts().values;
        for (slot, first, wide) in self.words.columns() {
            let column = columns.get(slot)?;
            rows.row(first).iter_mut().zip(column).for_each(|(word, value)| *word = *value as u32);
            if wide {
                rows.row(first + 1).iter_mut().zip(column).for_each(|(word, value)| *word = (*value >> 32) as u32);
            }
        }
        state.sets[usize::from(ACTIVE)] = active;
        for (slot, set) in self.words.flags.iter().zip(FLAGS..) {
            let column = columns.get(*slot)?.iter().enumerate();
            state.sets[usize::from(set)] = column.fold(0, |set, (lane, value)| set | (value & 1) << lane);
        }
        let room = u32::try_from(most).unwrap_or(u32::MAX).min(i32::MAX as u32);
        (state.room, state.lanes) = (room, 0);
        if !rows.run(&self.function, state, (&mut machine.memory, &mut machine.spaces), &self.hints) {
            return None;
        }
        let executed: u64 = (room - state.room.min(room)).into();
        self.learn(rows, state.place, active, executed);
        if executed == 0 {
            return None;
        }
        let columns = machine.parts().values;
        for (slot, first, wide) in self.words.columns() {
            let column = columns.get_mut(slot)?;
            column.iter_mut().zip(rows.row(first)).for_each(|(value, word)| *value = (*word).into());
            if wide {
                column.iter_mut().zip(rows.row(first + 1)).for_each(|(value, word)| *value |= u64::from(*word) << 32);
            }
        }
        for (slot, set) in self.words.flags.iter().zip(FLAGS..) {
            let lanes = state.sets[usize::from(set)];
            columns.get_mut(*slot)?.iter_mut().enumerate().for_each(|(lane, value)| *value = lanes >> lane & 1);
        }
        let place = state.place & !PART;
        if state.place == place {
            return Some(Left { executed, jumped: None, pc: *self.pcs.get(place as usize)? });
        }
        let branch = self.branches.get(&place)?;
        let lanes = if branch.always { active } else { state.sets[usize::from(JUMPS)] & active };
        Some(Left { executed, jumped: Some((lanes, branch.target)), pc: *self.pcs.get(place as usize + 1)? })
    }

    /// Learns from an access before which the code was left where the memory of the instruction is.
    fn learn(&mut self, rows: &mut Rows, place: u32, active: u64, executed: u64) {
        let Some(reach) = self.reaches.get(&place) else {
            self.misses = 0;
            return;
        };
        if let (Some(row), Some(hint)) = (self.words.addresses(), self.hints.get_mut(*reach)) {
            let lane = active.trailing_zeros() as usize;
            let word = |row: &[u32]| u64::from(row.get(lane).copied().unwrap_or(0));
            *hint = Some(word(rows.row(row)) | word(rows.row(row + 1)) << 32);
        }
        self.misses = if executed < self.pcs.len() as u64 { self.misses + 1 } else { 0 };
        if self.misses > MAX_MISSES {
            (self.misses, self.pause) = (0, PAUSE);
        }
    }
}

/// The instructions of the loop that begins at an address, and the reaches of memory that they have.
fn steps<const L: usize>(machine: &mut Machine<L>, start: u64, level: Level) -> Option<(Vec<Step>, Vec<Reached>)> {
    let mut graph = Graph::new(machine.semantics(), level);
    let mut words = Words::default();
    let (mut steps, mut reaches): (Vec<Step>, Vec<Reached>) = Default::default();
    let mut pc = start;
    while steps.len() < MAX_LOOP {
        let Ok(instruction) = machine.instruction(pc).cloned() else { break };
        let next = machine.following(pc, instruction.length);
        graph.clear();
        let Some(does) = compilable(machine, &instruction, [pc, next], &mut graph, &mut words) else { break };
        let reach = match does.access {
            None => None,
            Some(access) if reaches.len() < WINDOWS => {
                reaches.push(access);
                Some(reaches.len() - 1)
            }
            // There are no more: the last one that does the same serves both.
            Some(access) => match reaches.iter().rposition(|other| *other == access) {
                None => break,
                same => same,
            },
        };
        steps.push(Step { instruction, pc, next, branch: does.branch, reach });
        if next <= pc {
            break;
        }
        pc = next;
    }
    let back = |step: &Step| step.branch.is_some_and(|branch| branch.target == start);
    let last = steps.iter().rposition(back)?;
    steps.truncate(last + 1);
    Some((steps, reaches))
}

/// Returns what an instruction does. `None` if there are no operations for it.
fn compilable<const L: usize>(
    machine: &Machine<L>,
    instruction: &Instruction,
    place: [u64; 2],
    graph: &mut Graph,
    words: &mut Words,
) -> Option<Does> {
    if instruction.ends || instruction.unmasks || instruction.execution.is_some() {
        return None;
    }
    let active = Truth::of(graph.read_set(ACTIVE));
    let names = Names { machine, operands: &instruction.operands, place };
    let mut bound = Bound { names, words, active, reach: (0, false), reached: None };
    let selected = select(machine.semantics(), &instruction.shape, &mut bound, graph)?;
    if selected.branch.is_none() {
        return Some(Does { branch: None, access: bound.reached });
    }
    if selected.accesses {
        return None;
    }
    let target = machine.branched(selected.target?);
    let mut branches = instruction.shape.nodes.iter().filter(|node| node.op == Op::Branch);
    let always = branches.all(|node| node.op.condition().is_none_or(|k| node.args[k] == NONE));
    Some(Does { branch: Some(Branch { target, always }), access: None })
}

/// A block of a loop: whether the instruction that follows accesses memory elsewhere; consecutive instructions, of which
/// only the first accesses memory; a branch; or, after a branch, whether all lanes jump.
enum Planned {
    Access(usize),
    Plain(std::ops::Range<usize>),
    Branch(usize),
    All(usize),
}

/// Builds the flow of a loop, in blocks of at most `longest` instructions.
fn flow<const L: usize>(
    machine: &Machine<L>,
    steps: &[Step],
    longest: usize,
    whole: bool,
    level: Level,
    words: &mut Words,
) -> Option<(Graph, Vec<FlowBlock>)> {
    let at = |pc: u64| steps.binary_search_by_key(&pc, |step| step.pc).ok();
    let targets: Vec<usize> = steps.iter().filter_map(|step| at(step.branch?.target)).collect();
    let (mut planned, mut starts) = (Vec::new(), BTreeMap::new());
    let mut from = 0;
    while from < steps.len() {
        starts.insert(from, planned.len());
        if let Some(branch) = steps[from].branch {
            planned.push(Planned::Branch(from));
            if !branch.always {
                planned.push(Planned::All(from));
            }
            from += 1;
            continue;
        }
        if steps[from].reach.is_some() {
            planned.push(Planned::Access(from));
        }
        let ends = |to: &usize| {
            let Step { branch, reach, .. } = &steps[*to];
            branch.is_some() || reach.is_some() || targets.contains(to) || to - from >= longest
        };
        let to = (from + 1..steps.len()).find(ends).unwrap_or(steps.len());
        planned.push(Planned::Plain(from..to));
        from = to;
    }
    let inside = |step: usize| starts.get(&step).map_or(To::Exit(step as u32), |block| To::Block(*block));
    // Where a branch leads outside, the code is left after the branch.
    let leads = |branch: Branch, step: usize| match at(branch.target) {
        Some(target) => inside(target),
        None => To::Exit(PART | step as u32),
    };
    let mut graph = Graph::new(machine.semantics(), level);
    let mut blocks = Vec::new();
    for block in &planned {
        let add = |step: usize, only_located: bool, graph: &mut Graph, words: &mut Words| {
            let Step { instruction, pc, next, reach, .. } = steps.get(step)?;
            graph.begin(step as u64);
            let active = active(graph, whole).map_or(Truth::Known(true), Truth::of);
            let names = Names { machine, operands: &instruction.operands, place: [*pc, *next] };
            let mut bound = Bound { names, words, active, reach: (reach.unwrap_or(0), only_located), reached: None };
            select(machine.semantics(), &instruction.shape, &mut bound, graph)
        };
        let (start, words_of, mask, branch, next) = match block {
            Planned::Access(step) => {
                let located = add(*step, true, &mut graph, words)?.located?;
                let mask = elsewhere(&mut graph, located, machine.hardware().aligned);
                graph.drop_writes();
                let row = words.addresses()? as u32;
                let high = located.high.unwrap_or_else(|| graph.splat(0));
                graph.write(row, located.low);
                graph.write(row + 1, high);
                (*step, 0, Some(mask), Some((To::Exit(*step as u32), false)), To::Block(starts[step] + 1))
            }
            Planned::Plain(range) => {
                for step in range.clone() {
                    add(step, false, &mut graph, words)?;
                }
                (range.start, range.len(), None, None, inside(range.end))
            }
            Planned::Branch(step) => {
                let (mask, inverted) = add(*step, false, &mut graph, words)?.branch?;
                let branch = steps[*step].branch?;
                if branch.always {
                    (*step, 1, None, None, leads(branch, *step))
                } else {
                    let jumps = jumping(&mut graph, mask, inverted, whole);
                    graph.write_set(JUMPS, jumps);
                    (*step, 1, Some(jumps), Some((inside(step + 1), true)), To::Block(starts[step] + 1))
                }
            }
            Planned::All(step) => {
                let jumps = graph.read_set(JUMPS);
                let stays = match active(&mut graph, whole) {
                    Some(active) => graph.without(active, jumps),
                    None => graph.not_mask(jumps),
                };
                let parts = To::Exit(PART | *step as u32);
                (*step, 0, Some(stays), Some((parts, false)), leads(steps[*step].branch?, *step))
            }
        };
        blocks.push(FlowBlock::end(&mut graph, (start as u32, words_of as u32), mask, branch, next));
    }
    Some((graph, blocks))
}

/// The lanes whose access is not within a reach of memory, or is misaligned.
fn elsewhere(graph: &mut Graph, located: Located, aligned: bool) -> Value {
    let Located { reach, low, high, offset, lanes } = located;
    let offsets = graph.reach(reach, Extent::Offsets);
    let mut mask = graph.compare_unsigned(Relation::LessOrEqual, offsets, offset);
    if aligned {
        let below = graph.splat(3);
        let misaligned = graph.intersects(low, below);
        mask = graph.either(mask, misaligned);
    }
    if let Some(high) = high {
        let same = graph.reach(reach, Extent::High);
        let others = graph.compare_unsigned(Relation::Different, high, same);
        mask = graph.either(mask, others);
    }
    lanes.map_or(mask, |lanes| graph.both(lanes, mask))
}

/// The active lanes; `None` if all are.
fn active(graph: &mut Graph, whole: bool) -> Option<Value> {
    (!whole).then(|| graph.read_set(ACTIVE))
}

/// The active lanes in which a mask holds, or does not hold if it is inverted.
fn jumping(graph: &mut Graph, mask: Value, inverted: bool, whole: bool) -> Value {
    match (active(graph, whole), inverted) {
        (Some(active), true) => graph.without(active, mask),
        (Some(active), false) => graph.both(active, mask),
        (None, true) => graph.not_mask(mask),
        (None, false) => mask,
    }
}
