//! The nodes of a graph: their operations and arguments.

use super::types::Type;

/// Marks an absent argument, such as the condition of an unconditional effect.
pub const NONE: u16 = u16::MAX;

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
    /// A property of the thread: `imm` is a [`Special`](super::Special).
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
    /// Compares `a` with `b`; `imm` is a [`Comparison`](super::Comparison). The result is a boolean for each component.
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
    /// Replaces memory at address `a` with the result of an [`AtomicOp`](super::AtomicOp) (the high byte of `imm`) on
    /// it and `b`, if `d`. If `c` is not [`NONE`], memory is replaced only if it equals `c`. The result is the previous
    /// contents.
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
