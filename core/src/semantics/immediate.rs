//! Additional data of nodes: parts of accesses, properties of threads, comparisons, operations of atomics.

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
    pub const MAX_BYTES: i128 = 60;

    /// The part of an access that starts at this byte. `None` unless both numbers are multiples of 4, `from` is less
    /// than `size`, and `size` is at most [`Part::MAX_BYTES`].
    pub const fn new(from: u16, size: u16) -> Option<Part> {
        if from.is_multiple_of(4) && size.is_multiple_of(4) && size > 0 && from < size && size <= Self::MAX_BYTES as u16
        {
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
}
