//! Compiles a graph to machine code.
//!
//! Values stay in vector registers from their computation to their last use. Each has one register for every warp
//! that is executed side by side, so that the processor has independent work while it waits for results. With AVX2,
//! fused functions and regions spill values; other code that needs too many registers is refused.
//!
//! - here: the code so far, with its labels and constants
//! - `fuse`: makes one graph of functions that are called in a known order
//! - `plan`: when values are used, and where they are kept
//! - `block`, `loops`, `flow`: emit a block, a loop, or a region whose lanes all take the same path
//! - `advance`: emits what follows the iterations of a block
//! - `counted`: emits a block that only computes, for a known number of iterations
//! - `segment`: emits what each of them computes
//! - `spill`: moves values to memory and back where registers do not suffice
//! - `indexed`: emits accesses of memory at any address of a lane
//! - `avx2`: the same without AVX-512
//! - `vector`: moves of vector registers and masks

mod advance;
mod avx2;
mod block;
mod counted;
mod flow;
mod fuse;
mod indexed;
mod loops;
mod plan;
mod segment;
mod spill;
mod vector;

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

use crate::exec::jit::listing::Marks;

use super::graph::{Graph, Node, Value};
use super::host::Host;
use super::row::{self, COLUMN};
use super::window::{WINDOWS, Window};
use spill::Spills;

pub use block::{LoopPlan, Times, Wanted};
pub(super) use flow::Last;
pub use flow::{Flow, FlowBlock, FlowState, To};
pub use fuse::{Begin, Call, Fusion};
pub use loops::{Block, Leave, Loop, PLACES, State};
pub use plan::Segment;

/// The most registers of a value that are processed side by side: one for each warp, or as many as its column takes.
pub const WAYS: usize = 8;
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
    /// Whether it executes all iterations that it is called for.
    counted: bool,
}

impl Emitted {
    /// Wraps code from elsewhere.
    #[cfg(test)]
    pub fn of(code: Vec<u8>, columns: usize, rows: usize, windows: Vec<Window>) -> Self {
        let constants = code.len();
        Emitted { code, constants, columns, rows, windows, marks: vec![], counted: false }
    }

    /// The same with constants from an offset on.
    #[cfg(test)]
    pub fn with_constants(code: Vec<u8>, constants: usize, columns: usize, rows: usize) -> Self {
        Emitted { constants, ..Emitted::of(code, columns, rows, vec![]) }
    }

    fn new(made: Made, columns: usize, rows: usize, windows: Vec<Window>) -> Self {
        let Made { code, constants, marks } = made;
        Emitted { code, constants, columns, rows, windows, marks, counted: false }
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

    /// Whether it executes all iterations that it is called for. Otherwise it leaves the number of the others.
    pub fn is_counted(&self) -> bool {
        self.counted
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
    to: Destination,
}

#[derive(Clone, Copy, Debug)]
enum Destination {
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
    /// Rows of floats whose NaNs are sought when they are written.
    loose: Vec<u32>,
    /// The number of comparisons so far that seek NaNs, and a register whose NaNs the next one seeks as well.
    sought: usize,
    unsought: Option<Register>,
    access: Access,
    /// Whether the active lanes of each way stay in mask registers, [`LANES`] and those before it, in code for loops.
    keeps_active: bool,
    /// The way whose active lanes are in [`LANES`], in code for loops that do not keep them.
    masking: Option<usize>,
    /// The mask of the branch at the end of the current block of a loop, and a register that cannot hold other masks.
    leaving: Option<Value>,
    spare: Option<Register>,
    /// The number of columns of a row, and of registers in a column.
    columns: usize,
    pieces: usize,
    /// The number of registers of each value, and the number of registers in a row before the first of them.
    ways: usize,
    first: usize,
    /// The windows of memory, and the registers that point to them.
    windows: Vec<Window>,
    pointers: [Register; WINDOWS],
    spills: Option<Spills>,
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
            sought: 0,
            unsought: None,
            access,
            keeps_active: false,
            masking: None,
            leaving: None,
            spare: None,
            columns,
            pieces: host.pieces(),
            ways,
            first: 0,
            windows: vec![],
            pointers: POINTERS,
            spills: None,
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
                Destination::Label(Label(label)) => self.labels[label]?,
                Destination::Constant(nth) => (first + nth * size_of::<Constant>()) as u64,
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
        if self.unsought.is_some_and(|register| instruction.op0_register().full_register() == register) {
            self.seek_unsought()?;
        }
        let written = self.encoder.encode(&instruction, self.place);
        debug_assert!(written.is_ok(), "{written:?}");
        let at = self.place as usize + self.encoder.get_constant_offsets().displacement_offset();
        self.place += written.ok()? as u64;
        if instruction.op0_register() == LANES {
            self.masking = None;
        }
        if instruction.is_ip_rel_memory_operand() && instruction.code() != Code::Lea_r64_m {
            let nth = instruction.memory_displacement64() as usize / size_of::<Constant>();
            self.distances.push(Distance { at, next: self.place, to: Destination::Constant(nth) });
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
        self.distances.push(Distance { at, next, to: Destination::Label(to) });
    }

    /// Jumps to a label.
    fn jump(&mut self, code: Code, to: Label) -> Option<()> {
        self.push(Instruction::with_branch(code, self.place))?;
        self.leads(to);
        Some(())
    }

    /// Assigns the code that follows to an instruction of the program.
    fn mark(&mut self, origin: Option<u64>) {
        if self.marks.last().is_none_or(|(_, last)| *last != origin) {
            self.marks.push((self.place as usize, origin));
        }
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
