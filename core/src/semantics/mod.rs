//! What instructions do: a typed graph for each, the same for every instruction set.
//!
//! The compiler turns the text of an instruction's meaning into an [`Operation`]: a list of [`Node`]s in the order in which
//! they are evaluated, each with a [`Type`] and arguments that stand before it. Values have at most 64 bits, there are
//! no loops and no calls, so every operation is finite.
//!
//! ```text
//! Operation ──instantiate (modifiers of a word)──▶ Shape ──evaluate (registers, memory)──▶ effects
//! ```
//!
//! - [`primitive`](mod@primitive) is the exact definition of every pure operation.
//! - [`instantiate`](fn@instantiate::instantiate) picks the arms that the modifiers of a word choose and folds what is constant then.
//! - [`evaluate`](fn@evaluate::evaluate) executes a shape for all lanes of a warp. It is the reference that faster engines are compared with.
//!
//! Where instructions are groups, [`group`] puts the operations of a group together to one shape.
//!
//! # Order of effects
//! Operands and states are read before any of them is written: a write takes effect after the whole operation, in a group
//! that repeats after the repetition. Loads,
//! stores, atomics and intrinsics happen in the order of the text. A fault ends the operation; nothing is written then.

#[cfg(feature = "alloc")]
pub mod compose;
#[cfg(feature = "alloc")]
pub mod evaluate;
pub mod facts;
pub mod group;
#[cfg(feature = "alloc")]
pub mod instantiate;
mod modifier;
pub mod primitive;
#[cfg(feature = "alloc")]
pub mod show;
mod types;

#[cfg(feature = "alloc")]
pub use compose::compose;
#[cfg(feature = "alloc")]
pub use instantiate::{Shape, instantiate};
#[cfg(feature = "alloc")]
pub use show::show;
pub use types::{Class, Type};

/// Marks an argument that is not there, such as the condition of an effect that always happens.
pub const NONE: u16 = u16::MAX;

/// The meanings of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Semantics {
    /// What each instruction does, by opcode.
    pub operations: &'static [Operation],
    /// Functions that no expression defines.
    pub intrinsics: &'static [Intrinsic],
    /// Registers outside of banks.
    pub states: &'static [State],
    /// Names of the address spaces; the first is the one of an access that names none.
    pub spaces: &'static [&'static str],
    /// Names of the faults that operations raise.
    pub faults: &'static [&'static str],
    /// The bits of the one NaN that arithmetic on halves gives, if there is one.
    pub nan16: Option<u16>,
    /// The same for single precision.
    pub nan32: Option<u32>,
    /// The same for double precision.
    pub nan64: Option<u64>,
    /// Width of the program counter in bits, 32 or 64.
    pub pc_bits: u8,
    /// How the parts of a group work together, where instructions are groups. [`operations`](Semantics::operations) are
    /// those of the groups' tables then.
    pub path: Option<group::DataPath>,
    /// How true instructions are to the hardware.
    pub fidelity: &'static [facts::Fidelity],
    /// What programs find in registers at their start.
    pub preloads: &'static [facts::Preload],
    /// What the values of modifiers of flow do.
    pub flow: &'static [facts::Flow],
    /// The alternative of operands that are read for the last time; empty if there is none.
    pub last_read: &'static str,
}

impl Semantics {
    /// How true an instruction is to the hardware. Returns `None` if the specification does not say.
    pub fn fidelity_of(&self, opcode: u16) -> Option<&'static facts::Fidelity> {
        self.fidelity.iter().find(|found| found.instructions.contains(&opcode))
    }

    /// The NaN that [`Op::Canonical`] puts in the place of every NaN of a format.
    pub fn nan(&self, bits: u8) -> Option<u64> {
        match bits {
            16 => self.nan16.map(u64::from),
            32 => self.nan32.map(u64::from),
            _ => self.nan64,
        }
    }
}

/// What one instruction does.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The text in the specification; empty where the whole instruction is an intrinsic.
    pub text: &'static str,
    /// The graph, in the order of evaluation.
    pub nodes: &'static [Node],
    /// Arguments of nodes that have more of them than fit.
    pub lists: &'static [u16],
    /// The constants.
    pub constants: &'static [u64],
    /// The modifiers that [`Op::Pick`] and [`Op::Is`] ask for.
    pub modifiers: &'static [Modifier],
    /// The intrinsics that it uses, as indices into [`Semantics::intrinsics`].
    pub intrinsics: &'static [u16],
}

/// A modifier of a form or of one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modifier {
    /// The form's modifier with this index.
    Form(u8),
    /// The modifier written after an operand: the operand's index, the suffix's. Behind the suffixes are counted the fields
    /// of the first reading of the operand's kind: those that all readings have can be asked for.
    Suffix(u8, u8),
    /// A field of a group: the slot ([`Token::OWN`](crate::group::table::Token::OWN) for the operation's own), the field.
    Field(u8, u8),
    /// Whether a group has this slot.
    Present(u8),
    /// The number of the repetition of a group, from 0.
    Repetition,
    /// How often a group repeats.
    Repetitions,
}

/// A function that no expression defines: a table of the hardware, a texture, a queue.
#[derive(Debug)]
pub struct Intrinsic {
    /// Its name.
    pub name: &'static str,
    /// What it computes or does.
    pub doc: &'static str,
    /// Types of its arguments.
    pub parameters: &'static [Type],
    /// Type of its result; `None` when it has none.
    pub result: Option<Type>,
    /// What it touches beside its arguments and its result.
    pub effects: Effects,
}

/// What an intrinsic touches beside its arguments and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It reads memory or what a device holds.
    pub reads: bool,
    /// It writes memory, or changes what a device holds.
    pub writes: bool,
    /// It may have to wait.
    pub waits: bool,
    /// It may end threads or change where they go on.
    pub flow: bool,
}

impl Effects {
    /// True for a function of its arguments alone.
    pub const fn is_pure(self) -> bool {
        !(self.reads || self.writes || self.waits || self.flow)
    }
}

/// A register, or an array of them, outside of banks.
#[derive(Debug)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub doc: &'static str,
    /// Type of one element.
    pub ty: Type,
    /// How many elements it has; 1 for a plain register.
    pub count: u32,
}

/// One operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What else it is told; see [`Op`].
    pub imm: u16,
    /// Type of its result; of the value that is written, for effects.
    pub ty: Type,
    /// Earlier nodes, by index, or what [`Op`] says.
    pub args: [u16; 4],
}

/// What a node does. `a` to `d` are its arguments.
///
/// Operations on vectors work on each component. Unless said otherwise arguments have the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    // Leaves.
    /// A constant: `a` is its index.
    Const,
    /// An operand as it is encoded: `a` is the operand's index, `b` the element of a list or of a wide operand.
    Operand,
    /// A state: `a` is its index, `b` the node of the element's number, or [`NONE`].
    State,
    /// A fact of the thread: `imm` is a [`Special`].
    Special,
    /// The value that modifier `a` chooses: pairs of its bits and a node are in the lists from `b`, `c` numbers long.
    /// Gone after instantiation.
    Pick,
    /// Whether modifier `a` has one of the values that are in the lists from `b`, `c` numbers long. Gone after
    /// instantiation.
    Is,
    /// The bits of modifier `a`. Gone after instantiation.
    Modifier,

    // Integers, wrapping, and floats, rounded as `imm` says ([`Round`](crate::float::Round)).
    /// `-a`; for floats the sign bit flips, whatever the value.
    Neg,
    /// All bits flipped; for booleans the opposite.
    Not,
    /// Magnitude; the most negative integer stays as it is, floats lose their sign bit.
    Abs,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`, the low half for integers.
    Mul,
    /// The high half of the product of integers.
    MulHigh,
    /// `a / b`. Integers round towards zero; a division by zero gives all ones, an overflow wraps.
    Div,
    /// The rest of the integer division, with the sign of `a`; `a` when `b` is zero.
    Rem,
    /// Bits in both; for booleans, both.
    And,
    /// Bits in either; for booleans, either.
    Or,
    /// Bits in one; for booleans, one alone.
    Xor,
    /// `a << (b mod width)`. `b` may be any unsigned integer, one for all components or one for each.
    Shl,
    /// `a >> (b mod width)`: with copies of the sign for signed types, with zeros for others.
    Shr,
    /// `a` rotated to the left by `b` modulo the width.
    RotateLeft,
    /// `a` rotated to the right by `b` modulo the width.
    RotateRight,
    /// The number of zeros above the highest one; the width for 0.
    LeadingZeros,
    /// The number of zeros below the lowest one; the width for 0.
    TrailingZeros,
    /// The number of ones.
    CountOnes,
    /// The bits in reverse order.
    ReverseBits,
    /// The lesser. For floats -0 is less than +0, and a NaN loses.
    Min,
    /// The greater. For floats +0 is greater than -0, and a NaN loses.
    Max,
    /// The sum, limited to what the integer type holds.
    AddSat,
    /// The difference, limited.
    SubSat,
    /// The product, limited.
    MulSat,
    /// `(a + b) >> 1` without overflow.
    AddHalf,
    /// `(a + b + 1) >> 1` without overflow.
    AddHalfUp,

    // Floats.
    /// `a * b + c`, rounded once.
    Fma,
    /// `(a * b + c) * 2^d`, rounded once; `d` is a signed integer.
    FmaScaled,
    /// The square root.
    Sqrt,
    /// `a * 2^b`, rounded once; `b` is a signed integer.
    Ldexp,
    /// To an integral value.
    RoundIntegral,
    /// The one NaN of the instruction set in the place of any NaN.
    Canonical,

    // Conversions. `imm` is a rounding where something is lost.
    /// The same bits as another type of the same size.
    Bits,
    /// A wider integer with zeros above.
    Zext,
    /// A wider integer with copies of the sign above.
    Sext,
    /// The low bits of each component.
    Trunc,
    /// Between floats, or between floats and integers; to integers it saturates, NaN gives 0.
    Convert,

    // Choices.
    /// A [`Comparison`], `imm`, of `a` with `b`. The result is a boolean for each component.
    Compare,
    /// `b` where the boolean `a` holds, `c` elsewhere; `a` may be one for all components.
    Select,

    // Components.
    /// Component `imm` of `a`.
    Get,
    /// A vector of the nodes that are in the lists from `a`, `b` of them.
    Pack,
    /// `a` in every component.
    Splat,
    /// Bits `imm & 0xff` and up of the integer `a`, as many as the result has.
    Slice,
    /// `a` in the low bits, `b` in the high ones.
    Concat,

    // Lanes of a warp.
    /// `a` as lane `b` has it; 0 where there is no such lane.
    Permute,
    /// A mask of the active lanes in which the boolean `a` holds, bit 0 for lane 0.
    Ballot,

    // Effects. The last of their arguments is the condition, or [`NONE`]. The low byte of `imm` of an access to memory is the
    // space; the high byte of a load or a store is the [`Part`] that it is of a larger access.
    /// Memory at address `a`, when `b`.
    Load,
    /// Value `b` to memory at address `a`, when `c`.
    Store,
    /// Exchanges memory at address `a` with what an [`AtomicOp`], the high byte of `imm`, makes of it and `b`; `c` is what
    /// it must be to be exchanged, or [`NONE`]; when `d`. The result is what was there. The low byte of `imm` is the space.
    Atomic,
    /// Value `c` to element `b` of operand `a`, when `d`. A type that is narrower than the operand's writes a part: with
    /// `u16` element 1 is the second half word.
    Write,
    /// Value `c` to state `a`, its element's number being node `b` or [`NONE`]; when `d`.
    SetState,
    /// Execution goes on at `a`, when `b`.
    Branch,
    /// The threads of a workgroup meet, when `a`.
    Barrier,
    /// The thread ends, when `a`.
    End,
    /// Fault number `imm`, of datum `a`, when `b`.
    Fault,
    /// Intrinsic `a` of the arguments in the lists from `b`, `c` of them; when `d`.
    Intrinsic,
    /// The operations in slot `imm` of a group, when `a`. Gone after composition.
    Slot,
    /// What was written before takes effect: a repetition of a group ends.
    Commit,
}

impl Op {
    /// True for what a shape must keep even when nobody uses its result.
    pub const fn is_effect(self) -> bool {
        matches!(
            self,
            Op::Load
                | Op::Store
                | Op::Atomic
                | Op::Write
                | Op::SetState
                | Op::Branch
                | Op::Barrier
                | Op::End
                | Op::Fault
                | Op::Intrinsic
                | Op::Slot
                | Op::Commit
        )
    }

    /// Where the condition of an effect stands among the arguments.
    pub const fn condition(self) -> Option<usize> {
        match self {
            Op::Barrier | Op::End | Op::Slot => Some(0),
            Op::Load | Op::Branch | Op::Fault => Some(1),
            Op::Store => Some(2),
            Op::Atomic | Op::Write | Op::SetState | Op::Intrinsic => Some(3),
            _ => None,
        }
    }

    /// Which arguments are nodes, as a bit set; what is in the lists is not among them.
    pub const fn node_arguments(self) -> u8 {
        match self {
            Op::Const | Op::Operand | Op::Special | Op::Pick | Op::Is | Op::Modifier | Op::Pack | Op::Commit => 0b0000,
            Op::State => 0b0010,
            Op::Neg
            | Op::Not
            | Op::Abs
            | Op::LeadingZeros
            | Op::TrailingZeros
            | Op::CountOnes
            | Op::ReverseBits
            | Op::Sqrt
            | Op::RoundIntegral
            | Op::Canonical
            | Op::Bits
            | Op::Zext
            | Op::Sext
            | Op::Trunc
            | Op::Convert
            | Op::Get
            | Op::Splat
            | Op::Slice
            | Op::Ballot
            | Op::Barrier
            | Op::End
            | Op::Slot => 0b0001,
            Op::Fma | Op::Select | Op::Store => 0b0111,
            Op::FmaScaled | Op::Atomic => 0b1111,
            Op::Write => 0b1100,
            Op::SetState => 0b1110,
            Op::Intrinsic => 0b1000,
            _ => 0b0011,
        }
    }

    /// True for operations whose result depends on their arguments alone and is the same in every lane by itself.
    pub const fn is_pure(self) -> bool {
        !self.is_effect()
            && !matches!(
                self,
                Op::Operand | Op::State | Op::Special | Op::Pick | Op::Is | Op::Modifier | Op::Permute | Op::Ballot
            )
    }
}

/// A part of an access that is wider than a value may be. The access is one: it is checked as a whole, and its stores
/// happen together, lane by lane. Its parts follow one another in a graph, the last one being that which ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first byte, from the address of the access.
    pub from: u16,
    /// Bytes of the whole access.
    pub size: u16,
}

impl Part {
    /// How many bytes an access can have.
    pub const MOST: i128 = 60;

    /// The part of an access from this byte on. `None` unless both are whole words and at most [`Part::MOST`] bytes.
    pub const fn new(from: u16, size: u16) -> Option<Part> {
        if from.is_multiple_of(4) && size.is_multiple_of(4) && size > 0 && from < size && size <= Self::MOST as u16 {
            Some(Part { from, size })
        } else {
            None
        }
    }

    /// The part in the `imm` of a load or a store. `None` for a whole access.
    pub const fn of(imm: u16) -> Option<Part> {
        Part::new((imm >> 12) * 4, (imm >> 8 & 0xf) * 4)
    }

    /// Its bits in `imm`.
    pub const fn immediate(self) -> u16 {
        (self.from / 4) << 12 | (self.size / 4) << 8
    }
}

/// A fact of the thread that executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Special {
    /// Where the instruction stands, in the unit of branch targets.
    Pc,
    /// Where the next instruction stands.
    Next,
    /// The number of the lane in its warp.
    Lane,
    /// The lanes that execute the instruction, bit 0 for lane 0.
    Active,
}

impl Special {
    /// All of them, by their number.
    pub const ALL: [Special; 4] = [Special::Pc, Special::Next, Special::Lane, Special::Active];

    /// The name in texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Special::Pc => "pc",
            Special::Next => "next",
            Special::Lane => "lane",
            Special::Active => "active",
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Comparison {
    /// Equal; for floats -0 equals +0, and a NaN nothing.
    Equal,
    /// The opposite of `Equal`.
    NotEqual,
    /// Less, by the sign of the type; false with a NaN.
    Less,
    /// Less or equal; false with a NaN.
    LessEqual,
    /// Less or greater: false with a NaN.
    Apart,
    /// One is a NaN.
    Unordered,
    /// IEEE 754's total order, less or equal: by sign and magnitude of the bits.
    TotalLessEqual,
}

impl Comparison {
    /// All of them, by their number.
    pub const ALL: [Comparison; 7] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessEqual,
        Comparison::Apart,
        Comparison::Unordered,
        Comparison::TotalLessEqual,
    ];
}

/// What an atomic makes of memory and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AtomicOp {
    /// The operand.
    Exchange,
    /// The sum.
    Add,
    /// The difference: memory less the operand.
    Sub,
    /// Bits in both.
    And,
    /// Bits in either.
    Or,
    /// Bits in one.
    Xor,
    /// The lesser, by the sign of the type.
    Min,
    /// The greater, by the sign of the type.
    Max,
}

impl AtomicOp {
    /// All of them, by their number.
    pub const ALL: [AtomicOp; 8] = [
        AtomicOp::Exchange,
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Min,
        AtomicOp::Max,
    ];

    /// What memory holds afterwards.
    pub fn apply(self, ty: Type, old: u64, operand: u64) -> u64 {
        let op = match self {
            AtomicOp::Exchange => return operand & ty.mask(),
            AtomicOp::Add => Op::Add,
            AtomicOp::Sub => Op::Sub,
            AtomicOp::And => Op::And,
            AtomicOp::Or => Op::Or,
            AtomicOp::Xor => Op::Xor,
            AtomicOp::Min => Op::Min,
            AtomicOp::Max => Op::Max,
        };
        primitive::primitive(op, 0, ty, [ty; 4], [old, operand, 0, 0])
    }
}
