//! The semantics of instructions: a typed graph for each, in one representation for every instruction set.
//!
//! The compiler turns the semantics text of an instruction into an [`Operation`]: a list of [`Node`]s in order of
//! evaluation, each with a [`Type`] and arguments that precede it. Values have at most 64 bits, and there are no loops
//! or calls, so every operation is finite.
//!
//! ```text
//! Operation ──instantiate (modifiers of a word)──▶ Shape ──evaluate (registers, memory)──▶ effects
//! ```
//!
//! - [`primitive`](mod@primitive) is the exact definition of every pure operation.
//! - [`instantiate`](fn@instantiate::instantiate) selects the arms for the modifiers of a word and folds constants.
//! - [`evaluate`](fn@evaluate::evaluate) executes a shape for all lanes of a warp. It is the reference with which
//!   faster engines are compared.
//!
//! Where instructions are groups, [`group`] composes the operations of a group to a single shape.
//!
//! # Order of effects
//! Operands and states are read before any of them is written: a write takes effect at the end of the operation or, in
//! a group that repeats, at the end of the repetition. Loads, stores, atomics and intrinsics are performed in the order
//! of the text. A fault ends the operation, and nothing is written then.

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

/// Marks an absent argument, such as the condition of an unconditional effect.
pub const NONE: u16 = u16::MAX;

/// The semantics of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Semantics {
    /// The operation of each instruction, by opcode.
    pub operations: &'static [Operation],
    /// Operations without a text, which the host provides.
    pub intrinsics: &'static [Intrinsic],
    /// Registers outside banks.
    pub states: &'static [State],
    /// Names of the address spaces. The first is the default.
    pub spaces: &'static [&'static str],
    /// Names of the faults that operations raise.
    pub faults: &'static [&'static str],
    /// The canonical NaN of half-precision arithmetic, if there is one.
    pub nan16: Option<u16>,
    /// The canonical NaN of single-precision arithmetic, if there is one.
    pub nan32: Option<u32>,
    /// The canonical NaN of double-precision arithmetic, if there is one.
    pub nan64: Option<u64>,
    /// Width of the program counter in bits, 32 or 64.
    pub pc_bits: u8,
    /// The data path of groups, if instructions are groups. [`operations`](Semantics::operations) are then those of the
    /// tables of groups.
    pub path: Option<group::DataPath>,
    /// The fidelity of instructions to the hardware.
    pub fidelity: &'static [facts::Fidelity],
    /// The register contents at the start of programs.
    pub preloads: &'static [facts::Preload],
    /// The effects of flow modifiers.
    pub flow: &'static [facts::Flow],
    /// The alternative that marks the last read of an operand; empty if there is none.
    pub last_read: &'static str,
}

impl Semantics {
    /// The fidelity of an instruction. `None` when the specification does not give it.
    pub fn fidelity_of(&self, opcode: u16) -> Option<&'static facts::Fidelity> {
        self.fidelity.iter().find(|found| found.instructions.contains(&opcode))
    }

    /// The canonical NaN that [`Op::Canonical`] substitutes, for the format with this many bits.
    pub fn nan(&self, bits: u8) -> Option<u64> {
        match bits {
            16 => self.nan16.map(u64::from),
            32 => self.nan32.map(u64::from),
            _ => self.nan64,
        }
    }
}

/// The semantics of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The text in the specification; empty if the whole instruction is an intrinsic.
    pub text: &'static str,
    /// The graph, in the order of evaluation.
    pub nodes: &'static [Node],
    /// Argument lists of nodes with more arguments than a [`Node`] holds.
    pub lists: &'static [u16],
    /// The constants.
    pub constants: &'static [u64],
    /// The modifiers that [`Op::Pick`], [`Op::Is`] and [`Op::Modifier`] refer to.
    pub modifiers: &'static [Modifier],
    /// The intrinsics that it uses: indices into [`Semantics::intrinsics`].
    pub intrinsics: &'static [u16],
}

/// A modifier of a form or of one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modifier {
    /// The form's modifier with this index.
    Form(u8),
    /// A modifier written after an operand: index of the operand, index of the suffix. Indices beyond the suffixes are
    /// fields of the first reading of the operand's kind, provided that all readings have that field.
    Suffix(u8, u8),
    /// A field of a group: slot ([`Token::OWN`](crate::group::table::Token::OWN) for the operation's own), field.
    Field(u8, u8),
    /// Whether a group has this slot.
    Present(u8),
    /// The index of the current repetition of a group, from 0.
    Repetition,
    /// The number of repetitions of a group.
    Repetitions,
}

/// An operation without a text, which the host provides: a table of the hardware, a texture, a queue.
#[derive(Debug)]
pub struct Intrinsic {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Types of its arguments.
    pub parameters: &'static [Type],
    /// Type of its result; `None` when there is no result.
    pub result: Option<Type>,
    /// Its effects beyond its arguments and result.
    pub effects: Effects,
}

/// The effects of an intrinsic beyond its arguments and result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It reads memory or the state of a device.
    pub reads: bool,
    /// It writes memory or changes the state of a device.
    pub writes: bool,
    /// It may have to wait.
    pub waits: bool,
    /// It may end threads or redirect them.
    pub flow: bool,
}

impl Effects {
    /// Whether the result depends on the arguments alone.
    pub const fn is_pure(self) -> bool {
        !(self.reads || self.writes || self.waits || self.flow)
    }
}

/// A register, or an array of registers, outside banks.
#[derive(Debug)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Type of one element.
    pub ty: Type,
    /// The number of elements; 1 for a plain register.
    pub count: u32,
}

/// One operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Additional data; see [`Op`].
    pub imm: u16,
    /// Type of the result; for effects, of the value written.
    pub ty: Type,
    /// Indices of earlier nodes, or as described in [`Op`].
    pub args: [u16; 4],
}

/// The operation of a node. `a` to `d` are its arguments.
///
/// Operations on vectors apply to each component. Unless stated otherwise, arguments have the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    // Leaves.
    /// A constant: `a` is its index.
    Const,
    /// An operand as it is encoded: `a` is its index, `b` the element of a list or of a wide operand.
    Operand,
    /// A state: `a` is its index, `b` the node that gives the element, or [`NONE`].
    State,
    /// A property of the thread: `imm` is a [`Special`].
    Special,
    /// The value selected by modifier `a`: the lists hold pairs of its bits and a node, `c` numbers from `b`. Removed
    /// by instantiation.
    Pick,
    /// Whether modifier `a` has one of the values in the lists, `c` numbers from `b`. Removed by instantiation.
    Is,
    /// The bits of modifier `a`. Removed by instantiation.
    Modifier,

    // Integers wrap, and floats are rounded as `imm` says ([`Round`](crate::float::Round)).
    /// `-a`; for floats, always flips the sign bit.
    Neg,
    /// All bits flipped; for booleans, negation.
    Not,
    /// Magnitude; the most negative integer is unchanged, floats lose their sign bit.
    Abs,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`; the low half for integers.
    Mul,
    /// The high half of the product of two integers.
    MulHigh,
    /// `a / b`. Integers round towards zero; division by zero gives all ones, and overflow wraps.
    Div,
    /// The remainder of the integer division, with the sign of `a`; `a` if `b` is zero.
    Rem,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
    /// `a << (b mod width)`. `b` may be any unsigned integer, either one for all components or one for each.
    Shl,
    /// `a >> (b mod width)`: arithmetic for signed types, logical for others.
    Shr,
    /// `a` rotated left by `b` modulo the width.
    RotateLeft,
    /// `a` rotated right by `b` modulo the width.
    RotateRight,
    /// The number of leading zeros; the width for 0.
    LeadingZeros,
    /// The number of trailing zeros; the width for 0.
    TrailingZeros,
    /// The number of set bits.
    CountOnes,
    /// The bits in reverse order.
    ReverseBits,
    /// The minimum. For floats, -0 is less than +0, and a number is preferred to a NaN.
    Min,
    /// The maximum. For floats, +0 is greater than -0, and a number is preferred to a NaN.
    Max,
    /// The sum, saturated to the range of the integer type.
    AddSat,
    /// The difference, saturated.
    SubSat,
    /// The product, saturated.
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
    /// Rounds to an integral value.
    RoundIntegral,
    /// Replaces any NaN with the canonical NaN of the instruction set.
    Canonical,

    // Conversions. `imm` is a rounding mode where the conversion is inexact.
    /// The same bits reinterpreted as another type of the same size.
    Bits,
    /// Zero-extends to a wider integer.
    Zext,
    /// Sign-extends to a wider integer.
    Sext,
    /// Truncates each component to its low bits.
    Trunc,
    /// Converts between floats, or between floats and integers. Conversion to integers saturates, and NaN gives 0.
    Convert,

    // Choices.
    /// Compares `a` with `b`; `imm` is a [`Comparison`]. The result is a boolean for each component.
    Compare,
    /// `b` where the boolean `a` holds, otherwise `c`. `a` may be a single boolean for all components.
    Select,

    // Components.
    /// Component `imm` of `a`.
    Get,
    /// A vector of the `b` nodes in the lists from `a`.
    Pack,
    /// `a` in every component.
    Splat,
    /// The bits of the integer `a` from bit `imm & 0xff`, as many as the result has.
    Slice,
    /// `a` in the low bits, `b` in the high bits.
    Concat,

    // Lanes of a warp.
    /// The value of `a` in lane `b`; 0 if there is no such lane.
    Permute,
    /// A mask of the active lanes in which the boolean `a` holds; bit 0 is lane 0.
    Ballot,

    // Effects. Their last argument is the condition, or [`NONE`]. For memory accesses, the low byte of `imm` is the
    // address space; the high byte of a load or store is the [`Part`] of a larger access.
    /// Loads from address `a`, if `b`.
    Load,
    /// Stores value `b` to address `a`, if `c`.
    Store,
    /// Replaces memory at address `a` with the result of an [`AtomicOp`] (the high byte of `imm`) on it and `b`, if
    /// `d`. If `c` is not [`NONE`], memory is replaced only if it equals `c`. The result is the previous contents.
    Atomic,
    /// Writes value `c` to element `b` of operand `a`, if `d`. A type narrower than the operand writes a part: with
    /// `u16`, element 1 is the second half-word.
    Write,
    /// Writes value `c` to state `a`, at the element that node `b` gives ([`NONE`] for plain states), if `d`.
    SetState,
    /// Continues execution at `a`, if `b`.
    Branch,
    /// Waits for the other threads of the workgroup, if `a`.
    Barrier,
    /// Ends the thread, if `a`.
    End,
    /// Raises fault number `imm` with datum `a`, if `b`.
    Fault,
    /// Calls intrinsic `a` with the `c` arguments in the lists from `b`, if `d`.
    Intrinsic,
    /// Executes the operations in slot `imm` of a group, if `a`. Removed by composition.
    Slot,
    /// Makes previous writes take effect: the end of a repetition of a group.
    Commit,
}

impl Op {
    /// Whether a shape must keep the node even if its result is unused.
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

    /// The argument that holds the condition of an effect. `None` when there is none.
    pub const fn condition(self) -> Option<usize> {
        match self {
            Op::Barrier | Op::End | Op::Slot => Some(0),
            Op::Load | Op::Branch | Op::Fault => Some(1),
            Op::Store => Some(2),
            Op::Atomic | Op::Write | Op::SetState | Op::Intrinsic => Some(3),
            _ => None,
        }
    }

    /// The arguments that are nodes, as a bit set; those in the lists are not included.
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

    /// Whether the result depends only on the arguments, in each lane independently.
    pub const fn is_pure(self) -> bool {
        !self.is_effect()
            && !matches!(
                self,
                Op::Operand | Op::State | Op::Special | Op::Pick | Op::Is | Op::Modifier | Op::Permute | Op::Ballot
            )
    }
}

/// A part of an access that is wider than a value can be. The access is checked as a whole, and its stores are
/// performed together, lane by lane. Its parts are consecutive in a graph; the last one completes the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset of its first byte from the address of the access.
    pub from: u16,
    /// The size of the whole access in bytes.
    pub size: u16,
}

impl Part {
    /// The maximum size of an access in bytes.
    pub const MOST: i128 = 60;

    /// The part of an access that starts at this byte. `None` unless both numbers are multiples of 4, `from` is less
    /// than `size`, and `size` is at most [`Part::MOST`].
    pub const fn new(from: u16, size: u16) -> Option<Part> {
        if from.is_multiple_of(4) && size.is_multiple_of(4) && size > 0 && from < size && size <= Self::MOST as u16 {
            Some(Part { from, size })
        } else {
            None
        }
    }

    /// Decodes the part from the `imm` of a load or store. `None` for a whole access.
    pub const fn of(imm: u16) -> Option<Part> {
        Part::new((imm >> 12) * 4, (imm >> 8 & 0xf) * 4)
    }

    /// The encoding of the part in `imm`.
    pub const fn immediate(self) -> u16 {
        (self.from / 4) << 12 | (self.size / 4) << 8
    }
}

/// A property of the executing thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Special {
    /// The address of the instruction, in units of branch targets.
    Pc,
    /// The address of the next instruction, in units of branch targets.
    Next,
    /// The index of the lane in its warp.
    Lane,
    /// The lanes that execute the instruction; bit 0 is lane 0.
    Active,
}

impl Special {
    /// All properties, in the order of their numbers.
    pub const ALL: [Special; 4] = [Special::Pc, Special::Next, Special::Lane, Special::Active];

    /// The name in semantics texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Special::Pc => "pc",
            Special::Next => "next",
            Special::Lane => "lane",
            Special::Active => "active",
        }
    }
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Comparison {
    /// Equal. For floats, -0 equals +0, and NaN is not equal to anything.
    Equal,
    /// The negation of `Equal`.
    NotEqual,
    /// Less, according to the signedness of the type; false for NaN.
    Less,
    /// Less or equal; false for NaN.
    LessEqual,
    /// Less or greater; false for NaN.
    Apart,
    /// At least one operand is NaN.
    Unordered,
    /// Less or equal in the total order of IEEE 754, by sign and magnitude of the bits.
    TotalLessEqual,
}

impl Comparison {
    /// All comparisons, in the order of their numbers.
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

/// The operation of an atomic on memory and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AtomicOp {
    /// The operand.
    Exchange,
    /// The sum.
    Add,
    /// The difference: memory minus the operand.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The minimum, according to the signedness of the type.
    Min,
    /// The maximum, according to the signedness of the type.
    Max,
}

impl AtomicOp {
    /// All operations, in the order of their numbers.
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

    /// The new contents of memory.
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
