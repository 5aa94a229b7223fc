//! The layout of floating-point formats, and rounding modes.

use crate::bits::ones;

/// An IEEE 754 binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// 16 bits: 5 of exponent, 10 of fraction.
    F16,
    /// 32 bits: 8 of exponent, 23 of fraction.
    F32,
    /// 64 bits: 11 of exponent, 52 of fraction.
    F64,
}

impl Format {
    /// Total width in bits: 16, 32 or 64.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Format::F16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// Width of the stored fraction, without the implicit bit: 10, 23 or 52.
    #[inline]
    pub const fn fraction_bits(self) -> u32 {
        match self {
            Format::F16 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    /// Width of the exponent field: 5, 8 or 11.
    #[inline]
    pub const fn exponent_bits(self) -> u32 {
        self.bits() - 1 - self.fraction_bits()
    }

    /// The exponent bias: 15, 127 or 1023.
    #[inline]
    pub const fn bias(self) -> i32 {
        ones(self.exponent_bits() - 1) as i32
    }

    /// A mask of all bits of a number.
    #[inline]
    pub const fn mask(self) -> u64 {
        ones(self.bits())
    }

    /// The sign bit.
    #[inline]
    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Positive infinity.
    #[inline]
    pub const fn infinity(self) -> u64 {
        ones(self.exponent_bits()) << self.fraction_bits()
    }

    /// The largest finite number.
    #[inline]
    pub const fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The positive quiet NaN with an empty payload.
    #[inline]
    pub const fn quiet_nan(self) -> u64 {
        self.infinity() | self.quiet_bit()
    }

    /// The bit that is set in quiet NaNs and clear in signalling ones.
    #[inline]
    const fn quiet_bit(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// Makes `a`, which must be a NaN, quiet.
    #[inline]
    pub(super) const fn quiet(self, a: u64) -> u64 {
        (a & self.mask()) | self.quiet_bit()
    }

    /// `a` without its sign.
    #[inline]
    pub(super) const fn magnitude(self, a: u64) -> u64 {
        a & (self.sign() - 1)
    }

    /// Whether the sign bit of `a` is set.
    #[inline]
    pub const fn is_negative(self, a: u64) -> bool {
        a & self.sign() != 0
    }

    /// Whether `a` is NaN, quiet or signalling.
    #[inline]
    pub const fn is_nan(self, a: u64) -> bool {
        self.magnitude(a) > self.infinity()
    }

    /// Whether `a` is an infinity of either sign.
    #[inline]
    pub const fn is_infinite(self, a: u64) -> bool {
        self.magnitude(a) == self.infinity()
    }

    /// Whether `a` is a zero of either sign.
    #[inline]
    pub const fn is_zero(self, a: u64) -> bool {
        self.magnitude(a) == 0
    }

    /// A zero with the given sign.
    #[inline]
    pub(super) const fn zero(self, negative: bool) -> u64 {
        if negative { self.sign() } else { 0 }
    }

    /// The result of rounding a value whose magnitude is too large for the format.
    #[inline]
    pub(super) const fn overflow(self, negative: bool, r: Round) -> u64 {
        let magnitude = match r {
            Round::NearestEven | Round::Away => self.infinity(),
            Round::Up if !negative => self.infinity(),
            Round::Down if negative => self.infinity(),
            Round::Up | Round::Down | Round::Zero => self.largest(),
        };
        magnitude | self.zero(negative)
    }
}

/// The rounding mode: which neighbour to choose for a result that is not representable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// To nearest, ties to even.
    NearestEven,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
    /// To nearest, ties away from zero.
    Away,
}

impl Round {
    /// The sign of an exact zero that is the sum of two numbers of opposite sign.
    #[inline]
    pub(super) const fn zero_is_negative(self) -> bool {
        matches!(self, Round::Down)
    }
}
