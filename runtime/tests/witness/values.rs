//! Classes of values for registers and uniforms.

use crate::random::Random;

/// Single precision: zeros, subnormals, ones, ties, the largest, infinities and NaNs of both kinds.
const SINGLES: [u32; 40] = [
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0x3f800001, 0x3f7fffff,
    0x3f000000, 0x3f000001, 0x3fc00000, 0x40000000, 0x40200000, 0x40600000, 0x40c90fdb, 0x42fe0000, 0x43000000,
    0x437f0000, 0x43800000, 0x46fffe00, 0x47000000, 0x477fe000, 0x477fefff, 0x477ff000, 0x4b000000, 0x4b000001,
    0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x33000000, 0x33000001, 0x38800000, 0x7f7fffff,
    0x7f800000, 0x7fc00000, 0x7fc12345, 0x7f800001,
];

/// The same classes in half precision.
const HALVES: [u16; 24] = [
    0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x0401, 0x3c00, 0x3c01, 0x3bff, 0x3800, 0x3801, 0x3e00, 0x4000, 0x4100,
    0x5bf8, 0x63ff, 0x6400, 0x6401, 0x77ff, 0x7800, 0x7bff, 0x7c00, 0x7e00, 0x7c01,
];

/// Integers near zero and at the limits of 8, 16 and 32 bits.
const WHOLES: [u32; 26] = [
    0,
    1,
    2,
    3,
    7,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x1_0000,
    0x00ff_00ff,
    0x7f80_7f80,
    0x7fff_7fff,
    0x8000_8000,
    0x8080_8080,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_0000,
    0xffff_fffe,
    0xffff_ffff,
];

const BYTES: [u8; 12] = [0, 1, 2, 7, 8, 31, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff];

/// A class of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Boundary values of single precision.
    Singles,
    /// Numbers near each other and near 1, so that sums cancel.
    Near,
    /// Numbers with small exponents and short fractions, as arguments of functions.
    Moderate,
    /// Two boundary values of half precision.
    Halves,
    /// Two moderate halves.
    ModerateHalves,
    /// Four boundary values of bytes.
    Bytes,
    /// Boundary values of integers.
    Wholes,
    /// From -64 to 64.
    Small,
    /// From 0 to 15.
    Index,
    /// From 0 to 1, as f32.
    Unit,
    /// Conditions: masks with all, none or some bits.
    Masks,
    /// The pixel index of the lane's own pixel, as messages use it.
    Pixel,
    /// A table in the high byte, and an index.
    Handle,
    /// The names of a texture and a sampler in a word.
    Names,
    /// A conversion descriptor, as returned with the address of a texel.
    Descriptor,
    /// Any bits.
    Any,
    /// Any of the above.
    Mixed,
}

const MIXED: [Class; 10] = [
    Class::Singles,
    Class::Singles,
    Class::Near,
    Class::Moderate,
    Class::Halves,
    Class::Bytes,
    Class::Wholes,
    Class::Small,
    Class::Masks,
    Class::Any,
];

impl Class {
    /// Returns a value of the class.
    pub fn draw(self, random: &mut Random) -> u32 {
        let bits = random.word();
        match self {
            Class::Singles => match bits % 8 {
                // A signalling or quiet NaN with sign and payload.
                0 => 0x7f80_0000 | random.word() & 0x807f_ffff,
                1 => random.word() & 0x807f_ffff,
                _ => random.pick(&SINGLES) | bits & 0x8000_0000,
            },
            Class::Near => 0x3f80_0000 | bits & 0x80ff_0007,
            Class::Moderate => {
                let exponent = (120 + bits % 16) << 23;
                let fraction = bits >> 8 & 0x007f_0000 | if bits & 0x80 == 0 { random.word() & 0xffff } else { 0 };
                exponent | fraction | bits & 0x8000_0000
            }
            Class::Halves => {
                let mut half = || {
                    let bits = random.word();
                    let half = match bits % 8 {
                        0 => 0x7c00 | bits >> 8 & 0x3ff,
                        1 => bits >> 8 & 0x3ff,
                        2 => bits >> 8 & 0x7fff,
                        _ => u32::from(random.pick(&HALVES)),
                    };
                    half | bits >> 16 & 0x8000
                };
                half() | half() << 16
            }
            Class::ModerateHalves => bits & 0x9fff_9fff | 0x2000_2000,
            Class::Bytes => u32::from_le_bytes([(); 4].map(|()| random.pick(&BYTES))),
            Class::Wholes => random.pick(&WHOLES),
            Class::Small => (bits % 129).wrapping_sub(64),
            Class::Index => bits % 16,
            Class::Unit => 0x3f80_0000 - (bits % 0x0100) * 0x8000,
            Class::Masks => random.pick(&[0, 0, u32::MAX, u32::MAX, 1, 0xffff, 0xffff_0000, 0x3f80_0000, 0x8000_0000]),
            Class::Pixel => 0xff00_0000 | (bits % 5) << 8 | bits >> 16 & 0xff,
            Class::Handle => random.pick(&[0, 1, 2, 3, 4, 5, 60, 61, 63]) << 24 | bits & 7,
            Class::Names => {
                let name = |bits: u32| (bits >> 3 & 7) << 11 | bits & 7;
                name(bits) << 16 | name(bits >> 8)
            }
            Class::Descriptor => match bits % 8 {
                0 => 0,
                1 => 0x1dff_0000 | bits >> 8 & 7,
                _ => {
                    let (channels, kind) = ((bits >> 10 & 3) + 1, (bits >> 12) % 6);
                    0x1d00_0000 | kind << 16 | channels | 0x800 << ((bits >> 20) % 3)
                }
            },
            Class::Any => bits,
            Class::Mixed => random.pick(&MIXED).draw(random),
        }
    }
}
