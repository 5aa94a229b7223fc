//! Exact arithmetic and the one rounding that ends it.
//!
//! A finite float is an integer times a power of two. Sums and products of those are formed exactly (or with a last bit
//! that remembers that something was cut off, which rounds alike), and [`Format::pack`] rounds once.

/// Direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to the even neighbour.
    NearestEven,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
    /// To the nearest, ties away from zero. Later architectures have it; v9 has no encoding.
    NearestAway,
}

impl From<isaforge_valhall::RoundMode> for Rounding {
    fn from(mode: isaforge_valhall::RoundMode) -> Self {
        match mode {
            isaforge_valhall::RoundMode::Rte => Rounding::NearestEven,
            isaforge_valhall::RoundMode::Rtp => Rounding::Up,
            isaforge_valhall::RoundMode::Rtn => Rounding::Down,
            isaforge_valhall::RoundMode::Rtz => Rounding::Zero,
        }
    }
}

impl Rounding {
    /// Whether a magnitude grows to its upper neighbour. `rest` of `unit` was cut off, `odd` is the last bit kept.
    fn grows(self, negative: bool, odd: bool, rest: u128, unit: u128) -> bool {
        let half = unit / 2;
        match self {
            Rounding::NearestEven => rest > half || rest == half && half > 0 && odd,
            Rounding::NearestAway => rest > half || rest == half && half > 0,
            Rounding::Up => rest > 0 && !negative,
            Rounding::Down => rest > 0 && negative,
            Rounding::Zero => false,
        }
    }

    /// Whether an overflow gives infinity, not the greatest finite number.
    fn overflows(self, negative: bool) -> bool {
        match self {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::Up => !negative,
            Rounding::Down => negative,
            Rounding::Zero => false,
        }
    }
}

/// A number of the form `±significand · 2^exponent`; zero has a sign, too.
///
/// The arithmetic here expects significands of at most 56 bits and exponents between -2000 and 2000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// The sign.
    pub negative: bool,
    /// The magnitude in units of `2^exponent`.
    pub significand: u128,
    /// The power of two.
    pub exponent: i32,
}

impl Exact {
    /// An integer.
    pub fn integer(value: i128) -> Self {
        Exact { negative: value < 0, significand: value.unsigned_abs(), exponent: 0 }
    }

    /// The value of a finite `f64`; infinities and NaNs are treated as very large numbers.
    pub fn double(value: f64) -> Self {
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        Exact { negative: bits >> 63 != 0, significand, exponent: field.max(1) - 1075 }
    }

    /// The product.
    pub fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum. Where the operands are so far apart that it would not fit, the last bit stands for all lower ones.
    /// An exact zero from unlike operands is positive, or negative when rounding down (IEEE 754, 6.3).
    pub fn plus(self, other: Exact, rounding: Rounding) -> Exact {
        if self.significand == 0 && other.significand == 0 {
            let alike = self.negative == other.negative;
            let negative = if alike { self.negative } else { rounding == Rounding::Down };
            return Exact { negative, significand: 0, exponent: 0 };
        }
        if self.significand == 0 {
            return other;
        }
        if other.significand == 0 {
            return self;
        }
        // 56 + 70 bits still fit; what is shifted out below is far less than half a unit of any format.
        const ROOM: i32 = 70;
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let distance = high.exponent - low.exponent;
        let raised = high.significand << distance.min(ROOM);
        let lowered = shift_right_sticky(low.significand, (distance - ROOM).max(0));
        let exponent = high.exponent - distance.min(ROOM);
        if high.negative == low.negative {
            return Exact { negative: high.negative, significand: raised + lowered, exponent };
        }
        let negative = match raised.cmp(&lowered) {
            std::cmp::Ordering::Greater => high.negative,
            std::cmp::Ordering::Less => low.negative,
            std::cmp::Ordering::Equal => rounding == Rounding::Down,
        };
        Exact { negative, significand: raised.abs_diff(lowered), exponent }
    }

    /// The value times `2^by`.
    pub fn scaled(self, by: i32) -> Exact {
        // Beyond this every format has long over- or underflowed.
        Exact { exponent: self.exponent + by.clamp(-1000, 1000), ..self }
    }

    /// The nearest integer in the direction of `rounding`, saturated far outside 64 bits.
    pub fn to_integer(self, rounding: Rounding) -> i128 {
        let magnitude = if self.exponent >= 0 {
            if self.significand == 0 { 0 } else { self.significand << self.exponent.min(70) }
        } else {
            let shift = -self.exponent;
            let (kept, rest, unit) = split(self.significand, shift);
            kept + u128::from(rounding.grows(self.negative, kept & 1 != 0, rest, unit))
        };
        // At most 56 + 70 bits, so the sign has room.
        if self.negative { -(magnitude as i128) } else { magnitude as i128 }
    }
}

/// The bits from `shift` on, those below, and the unit they are fractions of.
fn split(value: u128, shift: i32) -> (u128, u128, u128) {
    match shift {
        0 => (value, 0, 1),
        1..=126 => (value >> shift, value & ((1 << shift) - 1), 1 << shift),
        // Every significand is far below half of this unit.
        _ => (0, u128::from(value != 0), 1 << 126),
    }
}

/// `value >> shift` with the last bit set when a set bit was lost.
fn shift_right_sticky(value: u128, shift: i32) -> u128 {
    let (kept, rest, _) = split(value, shift);
    kept | u128::from(rest != 0)
}

/// A binary floating-point format of IEEE 754 with at most 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the fraction.
    fraction: i32,
    /// Exponent of the least normal number.
    least: i32,
    /// The sign bit.
    pub sign: u32,
    /// Positive infinity.
    pub infinity: u32,
    /// The NaN that every operation gives.
    pub nan: u32,
    /// 1.0.
    pub one: u32,
}

/// Half precision.
pub const F16: Format = Format { fraction: 10, least: -14, sign: 0x8000, infinity: 0x7c00, nan: 0x7e00, one: 0x3c00 };
/// Single precision.
pub const F32: Format =
    Format { fraction: 23, least: -126, sign: 0x8000_0000, infinity: 0x7f80_0000, nan: 0x7fc0_0000, one: 0x3f80_0000 };

/// The 11 bits without a sign of packed pixels. The bit that would be the sign lies above them.
pub const UF11: Format = Format { fraction: 6, least: -14, sign: 0x800, infinity: 0x7c0, nan: 0x7e0, one: 0x3c0 };
/// The 10 bits without a sign of packed pixels.
pub const UF10: Format = Format { fraction: 5, least: -14, sign: 0x400, infinity: 0x3e0, nan: 0x3f0, one: 0x1e0 };

/// What bits of a format stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Not a number.
    Nan,
    /// Infinity, with its sign.
    Infinity(bool),
    /// Anything else.
    Finite(Exact),
}

impl Format {
    /// What the bits stand for.
    pub fn unpack(&self, bits: u32) -> Number {
        let negative = bits & self.sign != 0;
        let magnitude = bits & (self.sign - 1);
        if magnitude >= self.infinity {
            return if magnitude > self.infinity { Number::Nan } else { Number::Infinity(negative) };
        }
        let field = (magnitude >> self.fraction) as i32;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << self.fraction };
        let exponent = field.max(1) - 1 + self.least - self.fraction;
        Number::Finite(Exact { negative, significand: u128::from(significand), exponent })
    }

    /// The number of this format that `value` rounds to.
    pub fn pack(&self, value: Exact, rounding: Rounding) -> u32 {
        let sign = if value.negative { self.sign } else { 0 };
        if value.significand == 0 {
            return sign;
        }
        let top = 127 - value.significand.leading_zeros() as i32 + value.exponent;
        let lowest = self.least - self.fraction;
        let unit = (top - self.fraction).max(lowest);
        let shift = unit - value.exponent;
        let kept = if shift <= 0 {
            // No more than `fraction + 1` bits: the highest is at `top`.
            value.significand << -shift
        } else {
            let (kept, rest, unit) = split(value.significand, shift);
            kept + u128::from(rounding.grows(value.negative, kept & 1 != 0, rest, unit))
        };
        // The leading bit of a normal number adds the 1 that its exponent field has more than a subnormal one's; a
        // carry out of the fraction does the same.
        let magnitude = (((unit - lowest) as u64) << self.fraction) + kept as u64;
        if magnitude < u64::from(self.infinity) {
            return sign | magnitude as u32;
        }
        sign | if rounding.overflows(value.negative) { self.infinity } else { self.infinity - 1 }
    }

    /// True for a NaN.
    pub fn is_nan(&self, bits: u32) -> bool {
        bits & (self.sign - 1) > self.infinity
    }

    /// True for a zero of either sign.
    pub fn is_zero(&self, bits: u32) -> bool {
        bits & (self.sign - 1) == 0
    }

    /// True for a number between zero and the least normal one.
    pub fn is_subnormal(&self, bits: u32) -> bool {
        let magnitude = bits & (self.sign - 1);
        magnitude != 0 && magnitude >> self.fraction == 0
    }

    /// The sum, rounded once.
    pub fn add(&self, a: u32, b: u32, rounding: Rounding) -> u32 {
        let sum = match (self.unpack(a), self.unpack(b)) {
            (Number::Finite(a), Number::Finite(b)) => return self.pack(a.plus(b, rounding), rounding),
            (Number::Infinity(a), Number::Infinity(b)) if a != b => return self.nan,
            (Number::Nan, _) | (_, Number::Nan) => return self.nan,
            (Number::Infinity(sign), _) | (_, Number::Infinity(sign)) => sign,
        };
        self.infinity | if sum { self.sign } else { 0 }
    }

    /// `(a · b + c) · 2^scale`, rounded once.
    pub fn fused(&self, a: u32, b: u32, c: u32, scale: i32, rounding: Rounding) -> u32 {
        let infinity = |negative| self.infinity | if negative { self.sign } else { 0 };
        let sign = |bits: u32| bits & self.sign != 0;
        let product = match (self.unpack(a), self.unpack(b)) {
            (Number::Nan, _) | (_, Number::Nan) => return self.nan,
            (Number::Finite(a), Number::Finite(b)) => Number::Finite(a.times(b)),
            // One is infinite: the product is, too, unless the other is zero.
            _ if self.is_zero(a) || self.is_zero(b) => return self.nan,
            _ => Number::Infinity(sign(a) != sign(b)),
        };
        match (product, self.unpack(c)) {
            (_, Number::Nan) | (Number::Nan, _) => self.nan,
            (Number::Finite(p), Number::Finite(c)) => self.pack(p.plus(c, rounding).scaled(scale), rounding),
            (Number::Infinity(p), Number::Infinity(c)) if p != c => self.nan,
            (Number::Infinity(s), _) | (_, Number::Infinity(s)) => infinity(s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of test inputs (xorshift64*), biased towards the corners of the format.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u32 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let bits = (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32;
            match bits % 8 {
                0 => bits & 0x807f_ffff,
                1 => bits & 0x8000_0007 | 0x7f80_0000,
                2 => bits & 0x80ff_ffff | 0x3f00_0000,
                3 => bits & 0xff80_0001,
                _ => bits,
            }
        }
    }

    #[test]
    fn single_precision_agrees_with_the_machine() {
        let mut random = Random(1);
        for _ in 0..200_000 {
            let (a, b, c) = (random.next(), random.next(), random.next());
            let float = f32::from_bits;
            let same = |ours: u32, theirs: f32| F32.is_nan(ours) && theirs.is_nan() || ours == theirs.to_bits();
            let fused = F32.fused(a, b, c, 0, Rounding::NearestEven);
            assert!(same(fused, float(a).mul_add(float(b), float(c))), "{a:08x} * {b:08x} + {c:08x} = {fused:08x}");
            let sum = F32.add(a, b, Rounding::NearestEven);
            assert!(same(sum, float(a) + float(b)), "{a:08x} + {b:08x} = {sum:08x}");
        }
    }

    #[test]
    fn directed_rounding_brackets_the_nearest() {
        let mut random = Random(2);
        for _ in 0..100_000 {
            let (a, b, c) = (random.next(), random.next(), random.next());
            let [near, up, down, zero] = [Rounding::NearestEven, Rounding::Up, Rounding::Down, Rounding::Zero]
                .map(|mode| F32.fused(a, b, c, 0, mode));
            if F32.is_nan(near) {
                continue;
            }
            let float = f32::from_bits;
            assert!(float(down) <= float(near) && float(near) <= float(up));
            let next = float(down).next_up();
            assert!(up == down || float(up) == next || float(down) == float(up));
            assert!(
                zero == if float(near) < 0.0 || float(up) <= 0.0 && zero >> 31 == 1 { up } else { down }
                    || near & 0x7fff_ffff == 0
            );
        }
    }

    #[test]
    fn every_half_packs_to_itself() {
        for bits in 0..=0xffff {
            if let Number::Finite(value) = F16.unpack(bits) {
                for mode in [Rounding::NearestEven, Rounding::Up, Rounding::Down, Rounding::Zero, Rounding::NearestAway]
                {
                    assert_eq!(F16.pack(value, mode), bits);
                }
            }
        }
    }

    #[test]
    fn a_double_is_unpacked_exactly() {
        for value in [0.0, -0.0, 1.0, -1.5, f64::MIN_POSITIVE, 5e-324, 65504.0, 1e30] {
            assert_eq!(F32.pack(Exact::double(value), Rounding::NearestEven), (value as f32).to_bits());
        }
    }
}
