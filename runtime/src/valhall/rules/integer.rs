//! Integer arithmetic on words of one, two or four components.

/// The components of a 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Bits of a component: 8, 16 or 32.
    pub bits: u32,
    /// Whether the components are signed.
    pub signed: bool,
}

/// One unsigned word.
pub const U32: Lanes = Lanes { bits: 32, signed: false };
/// Two unsigned halves.
pub const U16: Lanes = Lanes { bits: 16, signed: false };
/// Four unsigned bytes.
pub const U8: Lanes = Lanes { bits: 8, signed: false };
/// Four signed bytes.
pub const S8: Lanes = Lanes { bits: 8, signed: true };

impl Lanes {
    /// The component that lies `shift` bits up.
    fn get(self, word: u32, shift: u32) -> i64 {
        let raw = i64::from(word >> shift);
        let unused = 64 - self.bits;
        if self.signed { raw << unused >> unused } else { ((raw as u64) << unused >> unused) as i64 }
    }

    /// Only the bits of a component.
    fn cut(self, value: i64) -> u32 {
        (value as u64 & ((1 << self.bits) - 1)) as u32
    }

    /// The nearest value that a component holds.
    fn clamp(self, value: i128) -> i64 {
        let (least, greatest) =
            if self.signed { (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) };
        value.clamp(least, greatest) as i64
    }

    /// The word whose components are those of `f`, given each component's place in bits.
    pub fn collect(self, f: impl Fn(u32) -> i64) -> u32 {
        (0..32 / self.bits).map(|i| i * self.bits).fold(0, |word, shift| word | self.cut(f(shift)) << shift)
    }

    /// Applies `f` to each component.
    pub fn map(self, a: u32, f: impl Fn(i64) -> i64) -> u32 {
        self.collect(|s| f(self.get(a, s)))
    }

    /// Applies `f` to each pair of components.
    #[cfg(test)]
    pub fn zip(self, a: u32, b: u32, f: impl Fn(i64, i64) -> i64) -> u32 {
        self.collect(|s| f(self.get(a, s), self.get(b, s)))
    }
}

/// `a + b`, wrapping or clamped to the range of a component (tested).
#[cfg(test)]
pub fn add(lanes: Lanes, a: u32, b: u32, saturate: bool) -> u32 {
    lanes.zip(a, b, |a, b| if saturate { lanes.clamp((a + b).into()) } else { a + b })
}

/// `a - b`, wrapping or clamped to the range of a component (tested).
#[cfg(test)]
pub fn subtract(lanes: Lanes, a: u32, b: u32, saturate: bool) -> u32 {
    lanes.zip(a, b, |a, b| if saturate { lanes.clamp((a - b).into()) } else { a - b })
}

/// The low half of `a · b`, or the product clamped to the range of a component (tested).
#[cfg(test)]
pub fn multiply(lanes: Lanes, a: u32, b: u32, saturate: bool) -> u32 {
    lanes.zip(a, b, |a, b| if saturate { lanes.clamp(i128::from(a) * i128::from(b)) } else { a.wrapping_mul(b) })
}

/// Half of `a + b`, rounded down, or up with `round_up`, from a sum that cannot overflow (tested).
#[cfg(test)]
pub fn halving_add(lanes: Lanes, a: u32, b: u32, round_up: bool) -> u32 {
    lanes.zip(a, b, |a, b| (a + b + i64::from(round_up)) >> 1)
}

/// Zero bits above the highest set bit of a component. A zero component gives its width, or all ones with `mask`
/// (tested; v9 has no `mask`).
pub fn leading_zeros(lanes: Lanes, a: u32, mask: bool) -> u32 {
    let lanes = Lanes { signed: false, ..lanes };
    lanes.map(a, |a| match a {
        0 if mask => -1,
        _ => i64::from(a.leading_zeros()) - i64::from(64 - lanes.bits),
    })
}

/// The sum of four products of bytes, added to `c`. Only that addition wraps or saturates, in the signedness of the
/// bytes (tested).
pub fn dot_product_add(lanes: Lanes, a: u32, b: u32, c: u32, saturate: bool) -> u32 {
    let products: i64 = [0, 8, 16, 24].into_iter().map(|s| lanes.get(a, s) * lanes.get(b, s)).sum();
    let whole = Lanes { bits: 32, ..lanes };
    whole.map(c, |c| if saturate { whole.clamp((c + products).into()) } else { c + products })
}

/// The 64-bit product of two 32-bit numbers (tested).
pub fn multiply_wide(a: u32, b: u32, signed: bool) -> u64 {
    if signed { (i64::from(a as i32) * i64::from(b as i32)) as u64 } else { u64::from(a) * u64::from(b) }
}

/// `segment + offset`, or `segment - offset` with `negate`; a null segment address stays null with `preserve_null`
/// (documented; which source the null concerns is ours).
pub fn segment_add(segment: u64, offset: u64, negate: bool, preserve_null: bool) -> u64 {
    match (preserve_null && segment == 0, negate) {
        (true, _) => 0,
        (false, false) => segment.wrapping_add(offset),
        (false, true) => segment.wrapping_sub(offset),
    }
}

/// Two halves in one word: `a | b << 16` (relied on).
pub fn pack_halves(a: u32, b: u32) -> u32 {
    a & 0xffff | b << 16
}
