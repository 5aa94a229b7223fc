//! Compiles a graph to machine code.
//!
//! Values stay in vector registers from their computation to their last use. Each has one register for every warp
//! that is executed side by side, so that the processor has independent work while it waits for results. There is no
//! spilling: code that needs too many registers is refused.

mod avx2;
mod block;
mod flow;
mod fuse;
mod loops;
mod plan;
mod vector;

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

use crate::exec::jit::listing::Marks;

use super::graph::{Graph, Node, Operation, Value};
use super::host::{Host, on_addend, operands, replaces};
use super::row::{self, COLUMN};
use super::window::{WINDOWS, Window};
use plan::{Location, Plan, Store};

pub use block::{LoopPlan, Times, Wanted};
pub use flow::{Flow, FlowBlock, FlowState, To};
pub use fuse::{Begin, Call, Fusion};
pub use loops::{Block, Leave, Loop, PLACES, State};
pub use plan::Segment;

/// The most registers of a value that are processed side by side: one for each warp, or as many as its column takes.
pub const WAYS: usize = 4;
/// The last mask register of AVX-512 has the lanes that are written, or that are not. The first cannot be used as a
/// mask.
const LANES: Register = Register::K7;

/// The registers that point to windows of memory, at the first byte of the first of the current warps.
const POINTERS: [Register; WINDOWS] = [Register::RSI, Register::RDX, Register::R10, Register::R11];

/// Machine code, which accesses only the rows below a number.
#[derive(Debug)]
pub struct Emitted {
    code: Vec<u8>,
    /// The offset of the constants, which are after the last instruction.
    constants: usize,
    columns: usize,
    rows: usize,
    windows: Vec<Window>,
    marks: Marks,
}

impl Emitted {
    /// Wraps code from elsewhere.
    #[cfg(test)]
    pub fn of(code: Vec<u8>, columns: usize, rows: usize, windows: Vec<Window>) -> Self {
        let constants = code.len();
        Emitted { code, constants, columns, rows, windows, marks: vec![] }
    }

    /// The same with constants from an offset on.
    #[cfg(test)]
    pub fn with_constants(code: Vec<u8>, constants: usize, columns: usize, rows: usize) -> Self {
        Emitted { constants, ..Emitted::of(code, columns, rows, vec![]) }
    }

    fn new(made: Made, columns: usize, rows: usize, windows: Vec<Window>) -> Self {
        let Made { code, constants, marks } = made;
        Emitted { code, constants, columns, rows, windows, marks }
    }

    /// Returns the bytes: instructions and constants.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Returns the offset of the constants, which are after the last instruction.
    pub fn constants(&self) -> usize {
        self.constants
    }

    /// Returns the offsets at which the code of each instruction of the program begins.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the number of columns of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the windows that it accesses.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the number of rows that must exist.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// Returns one more than the last row that is read or written.
fn touched<'a>(graph: &Graph, segments: impl Iterator<Item = &'a Segment>) -> usize {
    let read = graph.nodes().iter().filter_map(|node| match node {
        Node::Row(row, _) => Some(*row),
        _ => None,
    });
    let written = segments.flat_map(|segment| segment.rows.iter().map(|(row, _)| *row));
    read.chain(written).max().map_or(0, |last| last as usize + 1)
}

/// Instructions, the constants after them, and the instructions of the program they come from.
struct Made {
    code: Vec<u8>,
    constants: usize,
    marks: Marks,
}

/// Returns the bit of a row that may be written in only some lanes: one of the first 64 rows. All others are written
/// in all lanes.
pub fn bit(row: u32) -> u64 {
    1u64.checked_shl(row).unwrap_or(0)
}

/// The most values that are kept in memory.
const SLOTS: usize = 32;

/// Values that have no register. The states begin with it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slots([[u32; row::LANES]; SLOTS]);

impl Default for Slots {
    fn default() -> Self {
        Slots([[0; row::LANES]; SLOTS])
    }
}

/// Returns the memory operand of a value in a state.
fn slot(slot: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSI, (slot * COLUMN) as i64)
}

/// A jump target.
#[derive(Clone, Copy, Debug)]
struct Label(usize);

/// How rows are addressed and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// At `rdi` plus `rax`; whole.
    Whole,
    /// At `rdi` plus `rax`; except for the lanes in [`LANES`].
    But,
    /// At `rdi`; only in the active lanes of the state at `rsi`.
    Active,
    /// At `rdi`; whole.
    From,
}

/// Four bytes of code that hold the distance from the next instruction to their target.
#[derive(Clone, Copy, Debug)]
struct Distance {
    at: usize,
    next: u64,
    to: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Label(Label),
    Constant(usize),
}

/// A constant, with a word for each lane of an AVX2 register.
type Constant = [u32; 8];

/// The code so far, and the free registers.
struct Emitter {
    host: Host,
    encoder: Encoder,
    /// The offset of the next instruction.
    place: u64,
    labels: Vec<Option<u64>>,
    distances: Vec<Distance>,
    constants: Vec<Constant>,
    vectors: Vec<Register>,
    masks: Vec<Register>,
    /// The registers of each value, one for each way.
    registers: Vec<[Option<Register>; WAYS]>,
    /// The registers of pinned rows.
    homes: Vec<(u32, [Register; WAYS])>,
    /// Rows that are written only in the active lanes, as bits.
    masked: u64,
    /// Rows of floats whose NaNs are sought when they are written: [`LANES`] gets the lanes without any.
    loose: Vec<u32>,
    access: Access,
    /// The way whose active lanes are in [`LANES`], in code for loops.
    masking: Option<usize>,
    /// The number of columns of a row.
    columns: usize,
    /// The number of registers of each value, and the number of registers in a row before the first of them.
    ways: usize,
    first: usize,
    /// The windows of memory, and the registers that point to them.
    windows: Vec<Window>,
    pointers: [Register; WINDOWS],
    marks: Marks,
}

impl Emitter {
    /// Starts without code, with all registers free except for some masks.
    fn new(graph: &Graph, columns: usize, ways: usize, access: Access, masks: std::ops::Range<u8>) -> Self {
        let host = graph.host();
        Emitter {
            host,
            encoder: Encoder::new(64),
            place: 0,
            labels: vec![],
            distances: vec![],
            constants: vec![],
            vectors: (0..vectors(host, access, ways)).rev().map(|number| host.register(number)).collect(),
            masks: masks.rev().map(|number| Register::K0 + u32::from(number)).collect(),
            registers: vec![[None; WAYS]; graph.nodes().len()],
            homes: vec![],
            masked: 0,
            loose: vec![],
            access,
            masking: None,
            columns,
            ways,
            first: 0,
            windows: vec![],
            pointers: POINTERS,
            marks: vec![],
        }
    }

    /// Returns the code, with its constants after it.
    fn finish(mut self) -> Option<Made> {
        let mut code = self.encoder.take_buffer();
        let constants = code.len();
        if !self.constants.is_empty() {
            code.resize(constants.next_multiple_of(size_of::<Constant>()), 0);
        }
        let first = code.len();
        for Distance { at, next, to } in self.distances {
            let to = match to {
                Place::Label(Label(label)) => self.labels[label]?,
                Place::Constant(nth) => (first + nth * size_of::<Constant>()) as u64,
            };
            let way = i32::try_from(to as i64 - next as i64).ok()?;
            code.get_mut(at..at + 4)?.copy_from_slice(&way.to_le_bytes());
        }
        code.extend(self.constants.iter().flatten().flat_map(|word| word.to_le_bytes()));
        Some(Made { code, constants, marks: self.marks })
    }

    /// Adds an instruction. `None` if the instruction does not exist, which would be a bug here.
    fn push(&mut self, instruction: Result<Instruction, IcedError>) -> Option<()> {
        let instruction = instruction.inspect_err(|error| debug_assert!(false, "{error:?}")).ok()?;
        let written = self.encoder.encode(&instruction, self.place);
        debug_assert!(written.is_ok(), "{written:?}");
        let at = self.place as usize + self.encoder.get_constant_offsets().displacement_offset();
        self.place += written.ok()? as u64;
        if instruction.op0_register() == LANES {
            self.masking = None;
        }
        if instruction.is_ip_rel_memory_operand() && instruction.code() != Code::Lea_r64_m {
            let nth = instruction.memory_displacement64() as usize / size_of::<Constant>();
            self.distances.push(Distance { at, next: self.place, to: Place::Constant(nth) });
        }
        Some(())
    }

    /// Creates a label that is placed later.
    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label here.
    fn put(&mut self, label: Label) {
        self.masking = None;
        self.labels[label.0] = Some(self.place);
    }

    /// Makes the last four bytes the distance to a label.
    fn leads(&mut self, to: Label) {
        let (at, next) = (self.place as usize - 4, self.place);
        self.distances.push(Distance { at, next, to: Place::Label(to) });
    }

    /// Jumps to a label.
    fn jump(&mut self, code: Code, to: Label) -> Option<()> {
        self.push(Instruction::with_branch(code, self.place))?;
        self.leads(to);
        Some(())
    }

    /// Emits the computation of a segment, for each way.
    fn body(&mut self, graph: &Graph, segment: &Segment, plan: &Plan, homes: &[Location]) -> Option<()> {
        let first = segment.nodes.start;
        let is_made =
            |index: usize| segment.nodes.contains(&index) && plan.is_used(index) && homes[index] == Location::Segment;
        // Masks are few: one that only the next node needs is used at once for each way, and so is the next node's
        // own mask.
        let is_passed_on = |index: usize| {
            is_made(index)
                && is_made(index + 1)
                && graph.nodes()[index].is_mask()
                && plan.ends(Value::of(index), index + 1)
                && plan.stores(index).is_empty()
                && graph.origin(index) == graph.origin(index + 1)
        };
        let mut next = first;
        for index in first..segment.nodes.end.max(first + 1) {
            if is_made(index) && index >= next {
                self.mark(graph.origin(index));
                next = index + 1;
                while is_passed_on(next - 1) {
                    next += 1;
                }
                for way in 0..self.ways {
                    for index in index..next {
                        self.node(graph, index, way, plan, homes)?;
                    }
                }
            }
            // Stores everything that is masked for one way before the mask register is reused for another.
            let stores = plan.stores(index);
            for way in 0..self.ways {
                for (nth, &(to, value)) in stores.iter().enumerate() {
                    let is_last = stores[nth + 1..].iter().all(|(_, other)| *other != value);
                    let from = self.operand(graph, value, way, homes)?;
                    self.store(to, from, way)?;
                    let is_constant = homes[value.index()] == Location::Constant;
                    self.done(value, is_constant || is_last && plan.ends_after(value, index), way);
                }
            }
        }
        self.mark(None);
        Some(())
    }

    /// Assigns the code that follows to an instruction of the program.
    fn mark(&mut self, origin: Option<u64>) {
        if self.marks.last().is_none_or(|(_, last)| *last != origin) {
            self.marks.push((self.place as usize, origin));
        }
    }

    /// Emits the values that all warps share.
    fn fixed(&mut self, graph: &Graph, plan: &Plan, homes: &[Location]) -> Option<()> {
        let nodes = graph.nodes();
        let is_made = |home: Location| !matches!(home, Location::Segment | Location::Constant);
        let fixed: Vec<usize> = (0..homes.len()).filter(|&index| is_made(homes[index])).collect();
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
                self.save(slot(to), from)?;
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
            Node::Operation(operation) => match self.host {
                Host::Avx512 => self.operation(graph, value, operation, way, plan, homes),
                Host::Avx2 => self.operation_of_avx2(graph, value, way, plan, homes),
            },
            Node::Splat(word) => {
                let to = self.take(value, false, way)?;
                self.splat(to, *word)
            }
            Node::Memory(window, offset, _) => {
                let to = self.take(value, false, way)?;
                let from = self.words(*window, *offset, way)?;
                match self.windows.get(*window)?.contiguous {
                    true => self.load(to, from),
                    false => self.load_splat(to, from),
                }
            }
            Node::Set(set, _) => {
                let to = self.take(value, true, way)?;
                if self.access != Access::From {
                    return None;
                }
                let lanes = self.set(*set, way)?;
                self.load_mask(to, lanes)
            }
            Node::Lanes(lanes, _) => {
                let to = self.take(value, true, way)?;
                self.load_lanes(to, *lanes, way)
            }
            Node::Row(row, _) => {
                let home = self.home(*row, way);
                if let (Some(home), true) = (home, plan.is_kept(index)) {
                    self.registers[index][way] = Some(home);
                    return Some(());
                }
                let to = self.take(value, false, way)?;
                match home {
                    Some(home) => self.copy(to, home),
                    None => self.load(to, self.column(*row, way)),
                }
            }
        }
    }

    /// Returns the lanes of a set that belong to a way.
    fn set(&self, set: u16, way: usize) -> Option<MemoryOperand> {
        flow::set(set, self.first + way, self.host)
    }

    /// Returns the part of a row that belongs to a way.
    fn column(&self, row: u32, way: usize) -> MemoryOperand {
        let first = i64::from(row) * (self.columns * COLUMN) as i64;
        let displacement = first + self.bytes(self.first + way);
        match self.access {
            Access::Active | Access::From => MemoryOperand::with_base_displ(Register::RDI, displacement),
            _ => MemoryOperand::new(Register::RDI, Register::RAX, 1, displacement, 1, false, Register::None),
        }
    }

    /// Returns the words of a window that belong to a way.
    fn words(&self, window: usize, offset: i32, way: usize) -> Option<MemoryOperand> {
        let (pointer, window) = (*self.pointers.get(window)?, self.windows.get(window)?);
        let (way, pieces) = (self.first + way, self.host.pieces());
        let within = if window.contiguous { self.bytes(way % pieces) } else { 0 };
        let further = (way / pieces) as i64 * i64::from(window.column) + within;
        let further = i64::from(offset) - i64::from(window.from) + further;
        if self.access != Access::But || window.column == 0 {
            return Some(MemoryOperand::with_base_displ(pointer, further));
        }
        // The warp is not known in advance: the offset of its columns in rows gives their offset in the window, if a
        // scale can convert it.
        let scale = window.column / COLUMN as u32;
        let fits = [1, 2, 4, 8].contains(&scale) && scale * COLUMN as u32 == window.column;
        fits.then(|| MemoryOperand::new(pointer, Register::RAX, scale, further, 1, false, Register::None))
    }

    /// Returns the register of a pinned row.
    fn home(&self, row: u32, way: usize) -> Option<Register> {
        self.homes.iter().find(|(other, _)| *other == row).map(|(_, home)| home[way])
    }

    /// Allocates a register for a value.
    fn take(&mut self, value: Value, is_mask: bool, way: usize) -> Option<Register> {
        let has_masks = self.host == Host::Avx512;
        let register = if is_mask && has_masks { &mut self.masks } else { &mut self.vectors }.pop()?;
        self.registers[value.index()][way] = Some(register);
        Some(register)
    }

    /// Returns the register of a value, which is loaded if its location is in memory.
    fn operand(&mut self, graph: &Graph, value: Value, way: usize, homes: &[Location]) -> Option<Register> {
        let from = match (self.registers[value.index()][way], homes[value.index()]) {
            (None, Location::Slot(at)) => slot(at),
            (None, Location::Constant) => self.constant([graph.constant(value)?; 8]),
            (register, _) => return register,
        };
        let to = self.take(value, false, way)?;
        self.load(to, from)?;
        Some(to)
    }

    /// Frees the register of a value, if `is_done`.
    fn done(&mut self, value: Value, is_done: bool, way: usize) {
        if is_done && let Some(register) = self.registers[value.index()][way].take() {
            if register.is_k() { &mut self.masks } else { &mut self.vectors }.push(register);
        }
    }

    fn operation(
        &mut self,
        graph: &Graph,
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
            self.operand(graph, argument, way, homes)?;
        }
        let at = |value: Value| self.registers[value.index()][way];
        // Some instructions overwrite an argument: it should be one that is already in place, or that is no longer
        // needed.
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
                    self.copy(to, from)?;
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
            self.load_active(way)?;
        }
        if let Ok(instruction) = &mut instruction {
            instruction.set_op_mask(if is_masked { LANES } else { mask });
            instruction.set_rounding_control(operation.rounding);
        }
        self.push(instruction)
    }

    /// Returns the register in which a value is computed.
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
                if self.loose.contains(&row) {
                    self.seek_nan(from)?;
                }
                self.column(row, way)
            }
            // If several lanes store to the same address, handlers do it.
            Store::Memory(window, offset) => {
                let Window { contiguous, column, .. } = self.windows.get(window)?;
                if !contiguous || (*column as usize) < COLUMN {
                    return None;
                }
                self.words(window, offset, way)?
            }
        };
        self.store_masked(to, from, way)
    }
}

/// Returns the number of vector registers available for values. The last register holds values that are about to be
/// stored. With AVX2, the ones before it are masks in blocks: one, or one for each way if only some lanes are
/// written.
fn vectors(host: Host, access: Access, ways: usize) -> u8 {
    let masks = match (host, access) {
        (Host::Avx2, Access::Whole) => 1,
        (Host::Avx2, Access::But) => ways as u8,
        _ => 0,
    };
    host.registers() - 1 - masks
}
