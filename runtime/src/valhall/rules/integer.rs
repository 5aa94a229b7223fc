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

    /// The word whose components are those of `f`, given each component's place in bits.
    pub fn collect(self, f: impl Fn(u32) -> i64) -> u32 {
        (0..32 / self.bits).map(|i| i * self.bits).fold(0, |word, shift| word | self.cut(f(shift)) << shift)
    }

    /// Applies `f` to each component.
    pub fn map(self, a: u32, f: impl Fn(i64) -> i64) -> u32 {
        self.collect(|s| f(self.get(a, s)))
    }
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

/// The 64-bit product of two 32-bit numbers (tested).
pub fn multiply_wide(a: u32, b: u32, signed: bool) -> u64 {
    if signed { (i64::from(a as i32) * i64::from(b as i32)) as u64 } else { u64::from(a) * u64::from(b) }
}

/// Two halves in one word: `a | b << 16` (relied on).
pub fn pack_halves(a: u32, b: u32) -> u32 {
    a & 0xffff | b << 16
}
