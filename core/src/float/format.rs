//! The layout of a number, and the directions of rounding.

use crate::bits::ones;

/// A binary interchange format of IEEE 754.
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
    /// Bits of a number: 16, 32 or 64.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Format::F16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// Bits of the fraction as stored, without the leading bit: 10, 23 or 52.
    #[inline]
    pub const fn fraction_bits(self) -> u32 {
        match self {
            Format::F16 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    /// Bits of the exponent: 5, 8 or 11.
    #[inline]
    pub const fn exponent_bits(self) -> u32 {
        self.bits() - 1 - self.fraction_bits()
    }

    /// What the exponent of 1 is stored as: 15, 127 or 1023.
    #[inline]
    pub const fn bias(self) -> i32 {
        ones(self.exponent_bits() - 1) as i32
    }

    /// All bits of a number.
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

    /// The positive quiet NaN without payload.
    #[inline]
    pub const fn quiet_nan(self) -> u64 {
        self.infinity() | self.quiet_bit()
    }

    /// The bit that is set in a quiet NaN and clear in a signalling one.
    #[inline]
    const fn quiet_bit(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// `a` made quiet, which must be NaN.
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

    /// A zero.
    #[inline]
    pub(super) const fn zero(self, negative: bool) -> u64 {
        if negative { self.sign() } else { 0 }
    }

    /// What a result too large in magnitude is rounded to.
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

/// Which of the two neighbours of an exact result that has no representation is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// The nearer one; of two equally near ones the even one.
    NearestEven,
    /// The greater one, towards positive infinity.
    Up,
    /// The smaller one, towards negative infinity.
    Down,
    /// The one nearer to zero.
    Zero,
    /// The nearer one; of two equally near ones that farther from zero.
    Away,
}

impl Round {
    /// The sign of an exact zero that is the sum of two numbers of opposite signs.
    #[inline]
    pub(super) const fn zero_is_negative(self) -> bool {
        matches!(self, Round::Down)
    }
}
