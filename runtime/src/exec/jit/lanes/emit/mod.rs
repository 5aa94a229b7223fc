//! From a graph to machine code.
//!
//! Values stay in vector registers from where they are made to their last use, in as many for each as there are warps that
//! are executed side by side: the processor then finds more to do while it waits for results. There is no spilling: code
//! that needs too many registers is refused.

mod block;
mod flow;
mod host;
mod loops;
mod plan;

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

use crate::exec::jit::listing::Marks;

use super::graph::{Graph, Node, Operation, Value};
use super::row::{self, COLUMN};
use super::window::{WINDOWS, Window};
use host::{on_addend, operands, replaces};
use plan::{Location, Plan, Store};

pub use block::{LoopPlan, Times, Wanted};
pub use flow::{Flow, FlowBlock, FlowState, To};
pub use loops::{Block, Leave, Loop, PLACES, State};
pub use plan::Segment;

/// Warps that are executed side by side, at most.
pub const WAYS: usize = 4;
/// The last vector register is for what is about to be stored.
const VECTORS: u8 = 31;
const STORED: Register = Register::ZMM31;
/// The last mask register has the lanes that are written, or are not. The first cannot be used as a mask.
const LANES: Register = Register::K7;

/// The registers that point to windows of memory: to the first byte for the first of the warps that are next.
const POINTERS: [Register; WINDOWS] = [Register::RSI, Register::RDX, Register::R10, Register::R11];

/// Machine code, which touches the rows below a number only.
#[derive(Debug)]
pub struct Emitted {
    code: Vec<u8>,
    columns: usize,
    rows: usize,
    windows: Vec<Window>,
    marks: Marks,
}

impl Emitted {
    /// Code that was made elsewhere.
    #[cfg(test)]
    pub fn of(code: Vec<u8>, columns: usize, rows: usize, windows: Vec<Window>) -> Self {
        Emitted { code, columns, rows, windows, marks: vec![] }
    }

    /// The bytes.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Where in the code what an instruction of the program does begins.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// How many columns a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The memory that it accesses.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// How many rows there have to be.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// One more than the last row that is read or written.
fn touched<'a>(graph: &Graph, segments: impl Iterator<Item = &'a Segment>) -> usize {
    let read = graph.nodes().iter().filter_map(|node| match node {
        Node::Row(row, _) => Some(*row),
        _ => None,
    });
    let written = segments.flat_map(|segment| segment.rows.iter().map(|(row, _)| *row));
    read.chain(written).max().map_or(0, |last| last as usize + 1)
}

/// Where the column of a warp so many behind another lies.
fn columns(way: usize) -> i64 {
    (way * COLUMN) as i64
}

/// The bit of a row that lanes may leave behind, if it is one of the first 64; all others are written in all lanes.
pub fn bit(row: u32) -> u64 {
    1u64.checked_shl(row).unwrap_or(0)
}

/// Values for which there are no registers, at most.
const SLOTS: usize = 32;

/// Values for which there are no registers. States begin with it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slots([[u32; row::LANES]; SLOTS]);

impl Default for Slots {
    fn default() -> Self {
        Slots([[0; row::LANES]; SLOTS])
    }
}

/// Where a state has a value.
fn slot(slot: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSI, (slot * COLUMN) as i64)
}

/// A place in the code that others jump to.
#[derive(Clone, Copy, Debug)]
struct Label(usize);

/// How rows are found and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// At `rdi` and `rax`; whole.
    Whole,
    /// At `rdi` and `rax`; but not in the lanes of [`LANES`].
    But,
    /// At `rdi`; in the lanes that `rsi` points to, which are known when it is written.
    Active,
    /// At `rdi`, from a column on; whole.
    From(usize),
}

/// The code so far, and the registers that are free.
struct Emitter {
    encoder: Encoder,
    /// The bytes so far.
    place: u64,
    labels: Vec<Option<u64>>,
    /// The ends of displacements, and the labels that they lead to.
    jumps: Vec<(u64, Label)>,
    vectors: Vec<Register>,
    masks: Vec<Register>,
    /// Where values are, for each warp of those executed together.
    registers: Vec<[Option<Register>; WAYS]>,
    /// Where rows that stay in registers are.
    homes: Vec<(u32, [Register; WAYS])>,
    /// Rows that are written in the active lanes alone, as bits.
    masked: u64,
    access: Access,
    /// Columns of a row.
    columns: usize,
    ways: usize,
    /// Windows of memory.
    windows: Vec<Window>,
    marks: Marks,
}

impl Emitter {
    /// No code, and all registers but some masks.
    fn new(graph: &Graph, columns: usize, ways: usize, access: Access, masks: std::ops::Range<u8>) -> Self {
        Emitter {
            encoder: Encoder::new(64),
            place: 0,
            labels: vec![],
            jumps: vec![],
            vectors: (0..VECTORS).rev().map(|number| Register::ZMM0 + u32::from(number)).collect(),
            masks: masks.rev().map(|number| Register::K0 + u32::from(number)).collect(),
            registers: vec![[None; WAYS]; graph.nodes().len()],
            homes: vec![],
            masked: 0,
            access,
            columns,
            ways,
            windows: vec![],
            marks: vec![],
        }
    }

    /// The code, and what it comes from.
    fn finish(mut self) -> Option<(Vec<u8>, Marks)> {
        let mut code = self.encoder.take_buffer();
        for (end, Label(label)) in self.jumps {
            let way = i32::try_from(self.labels[label]? as i64 - end as i64).ok()?;
            code.get_mut(end as usize - 4..end as usize)?.copy_from_slice(&way.to_le_bytes());
        }
        Some((code, self.marks))
    }

    /// Adds an instruction; nothing when there is no such instruction, which would be a mistake of ours.
    fn push(&mut self, instruction: Result<Instruction, IcedError>) -> Option<()> {
        let written = instruction.and_then(|instruction| self.encoder.encode(&instruction, self.place));
        debug_assert!(written.is_ok(), "{written:?}");
        self.place += written.ok()? as u64;
        Some(())
    }

    /// A label that is placed later.
    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    fn put(&mut self, label: Label) {
        self.labels[label.0] = Some(self.place);
    }

    /// A jump to a label.
    fn jump(&mut self, code: Code, to: Label) -> Option<()> {
        self.push(Instruction::with_branch(code, self.place))?;
        self.jumps.push((self.place, to));
        Some(())
    }

    /// A vector register with the same word in all lanes.
    fn splat(&mut self, to: Register, word: u32) -> Option<()> {
        self.push(Instruction::with2(Code::Mov_r32_imm32, Register::EAX, word))?;
        self.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, Register::EAX))
    }

    /// What a segment computes, for each of the warps.
    fn body(&mut self, graph: &Graph, segment: &Segment, plan: &Plan, homes: &[Location]) -> Option<()> {
        let first = segment.nodes.start;
        let is_made =
            |index: usize| segment.nodes.contains(&index) && plan.is_used(index) && homes[index] == Location::Segment;
        // There are few masks: one that only the next node needs is used at once.
        let is_passed_on = |index: usize| {
            is_made(index)
                && is_made(index + 1)
                && graph.nodes()[index].is_mask()
                && plan.ends(Value::of(index), index + 1)
                && plan.stores(index).is_empty()
                && graph.origin(index) == graph.origin(index + 1)
        };
        for index in first..segment.nodes.end.max(first + 1) {
            if is_made(index) && !(index > first && is_passed_on(index - 1)) {
                self.mark(graph.origin(index));
                let last = if is_passed_on(index) { index + 1 } else { index };
                for way in 0..self.ways {
                    for index in index..=last {
                        self.node(graph, index, way, plan, homes)?;
                    }
                }
            }
            for &(to, value) in plan.stores(index) {
                for way in 0..self.ways {
                    let from = self.operand(value, way, homes)?;
                    self.store(to, from, way)?;
                    self.done(value, plan.ends_behind(value, index), way);
                }
            }
        }
        self.mark(None);
        Some(())
    }

    /// What follows belongs to an instruction of the program.
    fn mark(&mut self, origin: Option<u64>) {
        if self.marks.last().is_none_or(|(_, last)| *last != origin) {
            self.marks.push((self.place as usize, origin));
        }
    }

    /// What is the same for all warps.
    fn fixed(&mut self, graph: &Graph, plan: &Plan, homes: &[Location]) -> Option<()> {
        let nodes = graph.nodes();
        let fixed: Vec<usize> = (0..homes.len()).filter(|&index| homes[index] != Location::Segment).collect();
        for (at, &index) in fixed.iter().enumerate() {
            self.node(graph, index, 0, plan, homes)?;
            for argument in nodes[index].arguments() {
                let again = |later: &usize| nodes[*later].arguments().any(|other| other == argument);
                let is_done = match homes[argument.index()] {
                    Location::Before => !fixed[at + 1..].iter().any(again),
                    home => matches!(home, Location::Slot(_)),
                };
                self.done(argument, is_done, 0);
            }
            if let Location::Slot(to) = homes[index] {
                let from = self.registers[index][0]?;
                self.push(Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, slot(to), from))?;
                self.done(Value::of(index), true, 0);
            }
        }
        for &index in fixed.iter().filter(|&&index| homes[index] == Location::Register) {
            self.registers[index] = [self.registers[index][0]; WAYS];
        }
        Some(())
    }

    fn node(&mut self, graph: &Graph, index: usize, way: usize, plan: &Plan, homes: &[Location]) -> Option<()> {
        let node = &graph.nodes()[index];
        let value = Value::of(index);
        match node {
            Node::Operation(operation) => self.operation(value, operation, way, plan, homes),
            Node::Splat(word) => {
                let to = self.take(value, false, way)?;
                self.splat(to, *word)
            }
            Node::Memory(window, offset, _) => {
                let to = self.take(value, false, way)?;
                let load = match self.windows.get(*window)?.contiguous {
                    true => Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512,
                    false => Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
                };
                self.push(Instruction::with2(load, to, self.words(*window, *offset, way)?))
            }
            Node::Set(set, _) => {
                let to = self.take(value, true, way)?;
                let Access::From(first) = self.access else { return None };
                self.push(Instruction::with2(Code::VEX_Kmovw_kr_km16, to, flow::set(*set, first + way)?))
            }
            Node::Row(row, _) => {
                let home = self.home(*row, way);
                if let (Some(home), true) = (home, plan.is_kept(index)) {
                    self.registers[index][way] = Some(home);
                    return Some(());
                }
                let to = self.take(value, false, way)?;
                self.push(match home {
                    Some(home) => Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, home),
                    None => Instruction::with2(Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, to, self.column(*row, way)),
                })
            }
        }
    }

    /// The column of a warp in a row.
    fn column(&self, row: u32, way: usize) -> MemoryOperand {
        let first = if let Access::From(first) = self.access { first } else { 0 };
        let displacement = i64::from(row) * (self.columns * COLUMN) as i64 + columns(first + way);
        match self.access {
            Access::Active | Access::From(_) => MemoryOperand::with_base_displ(Register::RDI, displacement),
            _ => MemoryOperand::new(Register::RDI, Register::RAX, 1, displacement, 1, false, Register::None),
        }
    }

    /// The words of a warp in a window.
    fn words(&self, window: usize, offset: i32, way: usize) -> Option<MemoryOperand> {
        let (pointer, window) = (POINTERS.get(window)?, self.windows.get(window)?);
        let further = i64::from(offset) - i64::from(window.from) + way as i64 * i64::from(window.column);
        Some(MemoryOperand::with_base_displ(*pointer, further))
    }

    /// Where a row stays.
    fn home(&self, row: u32, way: usize) -> Option<Register> {
        self.homes.iter().find(|(other, _)| *other == row).map(|(_, home)| home[way])
    }

    /// A register for a value.
    fn take(&mut self, value: Value, is_mask: bool, way: usize) -> Option<Register> {
        let register = if is_mask { &mut self.masks } else { &mut self.vectors }.pop()?;
        self.registers[value.index()][way] = Some(register);
        Some(register)
    }

    /// Where a value is; it is got from memory, if that is its place.
    fn operand(&mut self, value: Value, way: usize, homes: &[Location]) -> Option<Register> {
        match (self.registers[value.index()][way], homes[value.index()]) {
            (None, Location::Slot(at)) => {
                let to = self.take(value, false, way)?;
                self.push(Instruction::with2(Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, to, slot(at)))?;
                Some(to)
            }
            (register, _) => register,
        }
    }

    /// A value is not needed any more, if so.
    fn done(&mut self, value: Value, is_done: bool, way: usize) {
        if is_done && let Some(register) = self.registers[value.index()][way].take() {
            if register.is_k() { &mut self.masks } else { &mut self.vectors }.push(register);
        }
    }

    fn operation(
        &mut self,
        value: Value,
        operation: &Operation,
        way: usize,
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        let mut code = operation.code;
        let mut arguments = operation.arguments;
        let index = value.index();
        let all = || operation.arguments.into_iter().chain([operation.mask]).flatten();
        let (row, is_masked) = plan.home(index).unzip();
        let (home, is_masked) = (row.and_then(|row| self.home(row, way)), is_masked == Some(true));
        for argument in all() {
            self.operand(argument, way, homes)?;
        }
        let at = |value: Value| self.registers[value.index()][way];
        // The result of some takes the place of an argument: one that is there, or that nobody needs any more.
        let ends = |value: Value| plan.ends(value, index);
        let gives = |value: Value| if home.is_some() { at(value) == home } else { ends(value) };
        if let (Some(on_addend), [Some(a), Some(b), Some(c)]) = (on_addend(code), arguments)
            && !gives(a)
        {
            if gives(b) && (home.is_some() || b != c) {
                arguments = [Some(b), Some(a), Some(c)];
            } else if gives(c) && (home.is_some() || c != a && c != b) {
                code = on_addend;
                arguments = [Some(c), Some(a), Some(b)];
            }
        }
        let mut registers = [None; 3];
        for (register, argument) in registers.iter_mut().zip(arguments) {
            *register = match argument {
                Some(argument) => Some(at(argument)?),
                None => None,
            };
        }
        let mask = match operation.mask {
            Some(mask) => at(mask)?,
            None => Register::None,
        };
        let to;
        if replaces(code) {
            let (first, from) = (arguments[0]?, registers[0]?);
            if home.is_none() && ends(first) && !arguments[1..].contains(&Some(first)) {
                to = from;
                self.registers[first.index()][way] = None;
                self.registers[index][way] = Some(to);
            } else {
                to = self.target(value, home, false, way)?;
                if to != from {
                    self.push(Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, from))?;
                }
            }
            all().for_each(|argument| self.done(argument, plan.ends(argument, index), way));
            registers.rotate_left(1);
            registers[2] = None;
        } else {
            all().for_each(|argument| self.done(argument, plan.ends(argument, index), way));
            to = self.target(value, home, operation.is_mask, way)?;
        }
        let operands = operands(code, to, registers);
        let number = operation.immediate.map(u32::from);
        let mut instruction = match (operands, number) {
            ([a, Some(b), None, None], None) => Instruction::with2(code, a?, b),
            ([a, Some(b), None, None], Some(n)) => Instruction::with3(code, a?, b, n),
            ([a, Some(b), Some(c), None], None) => Instruction::with3(code, a?, b, c),
            ([a, Some(b), Some(c), None], Some(n)) => Instruction::with4(code, a?, b, c, n),
            _ => return None,
        };
        if is_masked {
            self.lanes(loops::ACTIVE, way)?;
        }
        if let Ok(instruction) = &mut instruction {
            instruction.set_op_mask(if is_masked { LANES } else { mask });
            instruction.set_rounding_control(operation.rounding);
        }
        self.push(instruction)
    }

    /// Writes the active lanes' bits of a warp to [`LANES`].
    fn lanes(&mut self, at: usize, way: usize) -> Option<()> {
        let lanes = MemoryOperand::with_base_displ(Register::RSI, (at + 2 * way) as i64);
        self.push(Instruction::with2(Code::VEX_Kmovw_kr_km16, LANES, lanes))
    }

    /// Moves a value to where a row stays.
    fn move_home(&mut self, row: u32, home: Register, from: Register, way: usize) -> Option<()> {
        let is_masked = self.masked & bit(row) != 0;
        if is_masked {
            self.lanes(loops::ACTIVE, way)?;
        }
        let mut instruction = Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, home, from);
        if is_masked && let Ok(instruction) = &mut instruction {
            instruction.set_op_mask(LANES);
        }
        self.push(instruction)
    }

    /// The register that a value is made in.
    fn target(&mut self, value: Value, home: Option<Register>, is_mask: bool, way: usize) -> Option<Register> {
        if home.is_some() {
            self.registers[value.index()][way] = home;
            return home;
        }
        self.take(value, is_mask, way)
    }

    fn store(&mut self, to: Store, from: Register, way: usize) -> Option<()> {
        let to = match to {
            Store::Row(row) => {
                if let Some(home) = self.home(row, way) {
                    return self.move_home(row, home, from, way);
                }
                self.column(row, way)
            }
            // What several lanes store to the same place is left to handlers.
            Store::Memory(window, offset) => {
                let Window { contiguous, column, .. } = self.windows.get(window)?;
                if !contiguous || (*column as usize) < COLUMN {
                    return None;
                }
                self.words(window, offset, way)?
            }
        };
        let mut stored = from;
        // A masked store would keep the next load waiting.
        if matches!(self.access, Access::But | Access::Active) {
            if self.access == Access::Active {
                self.lanes(loops::ACTIVE, way)?;
                self.push(Instruction::with2(Code::VEX_Knotw_kr_kr, LANES, LANES))?;
            }
            let mut blend = Instruction::with3(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, STORED, from, to);
            if let Ok(blend) = &mut blend {
                blend.set_op_mask(LANES);
            }
            self.push(blend)?;
            stored = STORED;
        }
        self.push(Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, to, stored))
    }
}
