//! Reading sources: first the word, then the part of it that is selected and widened, then magnitude, then sign.
//!
//! The order is tested on hardware. Integer parts extend by the signedness of the instruction.

use isaforge_valhall::{
    FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, HalfSwizzles8Bit, Lane8Bit, Lanes8Bit, Source, Swizzles8Bit,
    Swizzles16Bit, Swizzles16BitFirst4, Swizzles32Bit, Swizzles64Bit, Widen,
};

use super::host::Host;
use super::program::register;
use super::rules::float16;
use super::space::SAMPLES;
use super::step::Step;
use super::warp::Column;

impl Step<'_> {
    /// A 32-bit source as it is.
    pub fn word(&self, source: Source) -> Column {
        match source {
            Source::Register(r) | Source::LastUse(r) => self.warp.registers[r.index()],
            Source::Uniform(u) => [self.context.uniforms.get(u.index()).copied().unwrap_or(0); 16],
            Source::Constant(c) => [c.value() as u32; 16],
            _ => self.special(source).map(|value| (value >> (32 * special_word(source))) as u32),
        }
    }

    /// A 64-bit source: a register and the next (0 after the last), a uniform and the next, a whole special value, or a
    /// constant with 32 zeros above it.
    pub fn pair(&self, source: Source) -> Column<u64> {
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        match source {
            Source::Uniform(u) => {
                let word = |index: usize| self.context.uniforms.get(index).copied().unwrap_or(0);
                [join(word(u.index()), word(u.index() + 1)); 16]
            }
            Source::Constant(c) => [c.value(); 16],
            _ => match register(source) {
                Some(index) => {
                    let registers = &self.warp.registers;
                    let high = registers.get(index + 1).copied().unwrap_or_default();
                    std::array::from_fn(|lane| join(registers[index][lane], high[lane]))
                }
                None => self.special(source),
            },
        }
    }

    /// A special value, 64 bits.
    fn special(&self, source: Source) -> Column<u64> {
        match source {
            Source::Special0 { name: FauSpecialPage0::WarpId, .. } => [self.context.warp_id(); 16],
            Source::Special0 { name: FauSpecialPage0::FramebufferSize, .. } => [framebuffer_size(self.space.host); 16],
            Source::Special0 { name, .. } => [descriptor(name); 16],
            Source::Special1 { name, .. } => match name {
                FauSpecialPage1::ThreadLocalPointer => std::array::from_fn(|lane| self.space.thread_pointer(lane)),
                FauSpecialPage1::WorkgroupLocalPointer => [self.space.workgroup_pointer(); 16],
                FauSpecialPage1::ResourceTablePointer => [0; 16],
            },
            Source::Special3 { name, .. } => match name {
                FauSpecialPage3::LaneId => std::array::from_fn(|lane| lane as u64),
                // One core, number 0.
                FauSpecialPage3::CoreId => [0; 16],
                FauSpecialPage3::ProgramCounter => [u64::from(self.warp.pc) * 8; 16],
            },
            Source::Register(_) | Source::LastUse(_) | Source::Uniform(_) | Source::Constant(_) => [0; 16],
        }
    }

    /// An f32 source.
    pub fn float(&self, source: Source, widen: Widen, abs: bool, neg: bool) -> Column {
        self.word(source).map(|word| {
            let wide = match widen {
                Widen::None => word,
                Widen::H0 => float16::widen(word as u16),
                Widen::H1 => float16::widen((word >> 16) as u16),
            };
            signed(wide, 0x8000_0000, abs, neg)
        })
    }

    /// A source of two f16.
    pub fn halves(&self, source: Source, swizzle: Swizzles16BitFirst4, abs: bool, neg: bool) -> Column {
        self.word(source).map(|word| signed(swizzle_halves(word, swizzle), 0x8000_8000, abs, neg))
    }

    /// A 32-bit integer source.
    pub fn integer(&self, source: Source, widen: Swizzles32Bit, sign: bool) -> Column {
        self.word(source).map(|word| match widen {
            Swizzles32Bit::None => word,
            Swizzles32Bit::H0 => extend(word, 16, sign),
            Swizzles32Bit::H1 => extend(word >> 16, 16, sign),
            Swizzles32Bit::B0 => extend(word, 8, sign),
            Swizzles32Bit::B1 => extend(word >> 8, 8, sign),
            Swizzles32Bit::B2 => extend(word >> 16, 8, sign),
            Swizzles32Bit::B3 => extend(word >> 24, 8, sign),
        })
    }

    /// A source of two 16-bit integers.
    pub fn shorts(&self, source: Source, widen: Swizzles16Bit, sign: bool) -> Column {
        self.word(source).map(|word| {
            let halves = |low: u32, high: u32| word >> (16 * low) & 0xffff | (word >> (16 * high)) << 16;
            let bytes = |low: u32, high: u32| {
                extend(word >> (8 * low), 8, sign) & 0xffff | extend(word >> (8 * high), 8, sign) << 16
            };
            match widen {
                Swizzles16Bit::H00 => halves(0, 0),
                Swizzles16Bit::H10 => halves(1, 0),
                Swizzles16Bit::H01 => word,
                Swizzles16Bit::H11 => halves(1, 1),
                Swizzles16Bit::B00 => bytes(0, 0),
                Swizzles16Bit::B20 => bytes(2, 0),
                Swizzles16Bit::B02 => bytes(0, 2),
                Swizzles16Bit::B22 => bytes(2, 2),
                Swizzles16Bit::B11 => bytes(1, 1),
                Swizzles16Bit::B31 => bytes(3, 1),
                Swizzles16Bit::B13 => bytes(1, 3),
                Swizzles16Bit::B33 => bytes(3, 3),
                Swizzles16Bit::B01 => bytes(0, 1),
                Swizzles16Bit::B23 => bytes(2, 3),
            }
        })
    }

    /// A source of four bytes. They keep their width, so the sign does not matter.
    pub fn bytes(&self, source: Source, swizzle: Swizzles8Bit, _sign: bool) -> Column {
        let order = match swizzle {
            Swizzles8Bit::B0123 => [0, 1, 2, 3],
            Swizzles8Bit::B3210 => [3, 2, 1, 0],
            Swizzles8Bit::B0101 => [0, 1, 0, 1],
            Swizzles8Bit::B2323 => [2, 3, 2, 3],
            Swizzles8Bit::B0000 => [0; 4],
            Swizzles8Bit::B1111 => [1; 4],
            Swizzles8Bit::B2222 => [2; 4],
            Swizzles8Bit::B3333 => [3; 4],
            Swizzles8Bit::B2301 => [2, 3, 0, 1],
            Swizzles8Bit::B1032 => [1, 0, 3, 2],
            Swizzles8Bit::B0011 => [0, 0, 1, 1],
            Swizzles8Bit::B2233 => [2, 2, 3, 3],
        };
        self.word(source).map(|word| u32::from_le_bytes(pick(word, order)))
    }

    /// A 64-bit integer source. A part is taken from the low word.
    pub fn long(&self, source: Source, widen: Swizzles64Bit, sign: bool) -> Column<u64> {
        let (shift, bits) = match widen {
            Swizzles64Bit::None => return self.pair(source),
            Swizzles64Bit::W0 => (0, 32),
            Swizzles64Bit::H0 => (0, 16),
            Swizzles64Bit::H1 => (16, 16),
            Swizzles64Bit::B0 => (0, 8),
            Swizzles64Bit::B1 => (8, 8),
            Swizzles64Bit::B2 => (16, 8),
            Swizzles64Bit::B3 => (24, 8),
        };
        self.word(source).map(|word| {
            let part = extend(word >> shift, bits, sign);
            if sign { i64::from(part as i32) as u64 } else { u64::from(part) }
        })
    }

    /// The counts of a shift, one for each byte that is shifted. The name of a choice says what the bytes 0 and 2 have,
    /// which are the lowest of the halves; the others are as in the byte swizzle of the same code.
    pub fn counts(&self, source: Source, lanes: Lanes8Bit) -> Column<[u8; 4]> {
        let order = match lanes {
            Lanes8Bit::B02 => [0, 1, 2, 3],
            Lanes8Bit::B00 => [0; 4],
            Lanes8Bit::B11 => [1; 4],
            Lanes8Bit::B22 => [2; 4],
            Lanes8Bit::B33 => [3; 4],
            Lanes8Bit::B01 => [0, 0, 1, 1],
            Lanes8Bit::B23 => [2, 2, 3, 3],
        };
        self.word(source).map(|word| pick(word, order))
    }

    /// One byte of a source, in the low bits.
    pub fn byte(&self, source: Source, lane: Lane8Bit) -> Column {
        self.word(source).map(|word| word >> (8 * lane.bits()) & 0xff)
    }

    /// Two bytes of a source, extended to halves.
    pub fn byte_pair(&self, source: Source, swizzle: HalfSwizzles8Bit, sign: bool) -> Column {
        // The code is the first byte's number and four times the second's.
        let code = swizzle.bits() as u32;
        let (first, second) = (code & 3, code >> 2);
        let half = |word: u32, byte: u32| extend(word >> (8 * byte), 8, sign) & 0xffff;
        self.word(source).map(|word| half(word, first) | half(word, second) << 16)
    }
}

/// The size of what is drawn on, less 1: the width in the low half of the low word, the height in the high one.
pub(super) fn framebuffer_size(host: &dyn Host) -> u64 {
    let [width, height] = host.framebuffer_size().map(|n| u64::from(n.saturating_sub(1) & 0xffff));
    width | height << 16
}

/// A blend descriptor is its number. There is no datum for the alpha test.
pub(super) fn descriptor(name: FauSpecialPage0) -> u64 {
    if name == FauSpecialPage0::Sample {
        return SAMPLES;
    }
    name.bits().saturating_sub(FauSpecialPage0::BlendDescriptor0.bits())
}

/// The word that a special source names.
fn special_word(source: Source) -> u32 {
    match source {
        Source::Special0 { word, .. } | Source::Special1 { word, .. } | Source::Special3 { word, .. } => {
            u32::from(word & 1)
        }
        _ => 0,
    }
}

/// Clears the sign bits, then flips them.
fn signed(word: u32, signs: u32, abs: bool, neg: bool) -> u32 {
    let magnitude = if abs { word & !signs } else { word };
    if neg { magnitude ^ signs } else { magnitude }
}

/// The bytes of a word in another order.
fn pick(word: u32, order: [usize; 4]) -> [u8; 4] {
    let bytes = word.to_le_bytes();
    order.map(|i| bytes[i])
}

/// The two halves that a swizzle names, the first in the low half.
pub(super) fn swizzle_halves(word: u32, swizzle: Swizzles16BitFirst4) -> u32 {
    match swizzle {
        Swizzles16BitFirst4::H00 => word & 0xffff | word << 16,
        Swizzles16BitFirst4::H10 => word.rotate_right(16),
        Swizzles16BitFirst4::H01 => word,
        Swizzles16BitFirst4::H11 => word & 0xffff_0000 | word >> 16,
    }
}

/// The low `bits` of a word, extended to 32.
pub(super) fn extend(word: u32, bits: u32, sign: bool) -> u32 {
    number(word, bits, sign) as u32
}

/// The low `bits` of a word (1 to 32) as a number.
pub(super) fn number(word: u32, bits: u32, sign: bool) -> i64 {
    let unused = 32 - bits;
    if sign { i64::from((word << unused) as i32 >> unused) } else { i64::from(word << unused >> unused) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_byte_pair_holds_both_bytes() {
        for swizzle in HalfSwizzles8Bit::ALL {
            let text = swizzle.as_str().as_bytes();
            assert_eq!(u64::from(text[1] - b'0') | u64::from(text[2] - b'0') << 2, swizzle.bits());
        }
    }

    #[test]
    fn a_swizzle_names_the_low_half_first() {
        assert_eq!(swizzle_halves(0x1234_5678, Swizzles16BitFirst4::H10), 0x5678_1234);
        assert_eq!(swizzle_halves(0x1234_5678, Swizzles16BitFirst4::H00), 0x5678_5678);
        assert_eq!(swizzle_halves(0x1234_5678, Swizzles16BitFirst4::H11), 0x1234_1234);
    }
}
