//! Formats with compressed blocks of texels: BC1 to BC7, ETC2 with EAC, and ASTC for colours from 0 to 1.
//!
//! Blocks are decoded once, when a [`Texture`](super::Texture) is created. `bcdec_rs` decodes BC, and
//! `texture2ddecoder` the colours of ETC2. It expects another order of bits for 8-bit EAC, so EAC is decoded here, and
//! so is ASTC: there is a library that misreads valid blocks, and one that panics on invalid ones.

mod astc;

use super::format::Format;

/// A compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    code: Code,
    srgb: bool,
}

/// The encoding of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// BC1, whose fourth colour is black, either opaque or transparent.
    Bc1 {
        opaque: bool,
    },
    Bc2,
    Bc3,
    /// BC4 and BC5: one or two channels.
    Bc45 {
        channels: u8,
        signed: bool,
    },
    Bc6 {
        signed: bool,
    },
    Bc7,
    Etc2,
    /// ETC2 whose texels are fully opaque or fully transparent.
    Etc2Alpha1,
    Etc2Alpha8,
    Eac {
        channels: u8,
        signed: bool,
    },
    /// ASTC, with the columns and rows of a block.
    Astc(u8, u8),
}

/// Formats by their names in OpenGL, without the common prefix, and by their names in Direct3D and Vulkan.
const NAMES: [(&str, Code, bool); 40] = [
    ("RGB_S3TC_DXT1", Code::Bc1 { opaque: true }, false),
    ("SRGB_S3TC_DXT1", Code::Bc1 { opaque: true }, true),
    ("RGBA_S3TC_DXT1", Code::Bc1 { opaque: false }, false),
    ("SRGB_ALPHA_S3TC_DXT1", Code::Bc1 { opaque: false }, true),
    ("RGBA_S3TC_DXT3", Code::Bc2, false),
    ("SRGB_ALPHA_S3TC_DXT3", Code::Bc2, true),
    ("RGBA_S3TC_DXT5", Code::Bc3, false),
    ("SRGB_ALPHA_S3TC_DXT5", Code::Bc3, true),
    ("RED_RGTC1", Code::Bc45 { channels: 1, signed: false }, false),
    ("SIGNED_RED_RGTC1", Code::Bc45 { channels: 1, signed: true }, false),
    ("RG_RGTC2", Code::Bc45 { channels: 2, signed: false }, false),
    ("SIGNED_RG_RGTC2", Code::Bc45 { channels: 2, signed: true }, false),
    ("RGB_BPTC_UNSIGNED_FLOAT", Code::Bc6 { signed: false }, false),
    ("RGB_BPTC_SIGNED_FLOAT", Code::Bc6 { signed: true }, false),
    ("RGBA_BPTC_UNORM", Code::Bc7, false),
    ("SRGB_ALPHA_BPTC_UNORM", Code::Bc7, true),
    ("RGB8_ETC2", Code::Etc2, false),
    ("SRGB8_ETC2", Code::Etc2, true),
    ("RGB8_PUNCHTHROUGH_ALPHA1_ETC2", Code::Etc2Alpha1, false),
    ("SRGB8_PUNCHTHROUGH_ALPHA1_ETC2", Code::Etc2Alpha1, true),
    ("RGBA8_ETC2_EAC", Code::Etc2Alpha8, false),
    ("SRGB8_ALPHA8_ETC2_EAC", Code::Etc2Alpha8, true),
    ("R11_EAC", Code::Eac { channels: 1, signed: false }, false),
    ("SIGNED_R11_EAC", Code::Eac { channels: 1, signed: true }, false),
    ("RG11_EAC", Code::Eac { channels: 2, signed: false }, false),
    ("SIGNED_RG11_EAC", Code::Eac { channels: 2, signed: true }, false),
    ("BC1", Code::Bc1 { opaque: false }, false),
    ("BC1_SRGB", Code::Bc1 { opaque: false }, true),
    ("BC2", Code::Bc2, false),
    ("BC2_SRGB", Code::Bc2, true),
    ("BC3", Code::Bc3, false),
    ("BC3_SRGB", Code::Bc3, true),
    ("BC4", Code::Bc45 { channels: 1, signed: false }, false),
    ("BC4_SNORM", Code::Bc45 { channels: 1, signed: true }, false),
    ("BC5", Code::Bc45 { channels: 2, signed: false }, false),
    ("BC5_SNORM", Code::Bc45 { channels: 2, signed: true }, false),
    ("BC6H_UFLOAT", Code::Bc6 { signed: false }, false),
    ("BC6H_SFLOAT", Code::Bc6 { signed: true }, false),
    ("BC7", Code::Bc7, false),
    ("BC7_SRGB", Code::Bc7, true),
];

/// Columns and rows of ASTC blocks.
const FOOTPRINTS: [(u8, u8); 14] = [
    (4, 4),
    (5, 4),
    (5, 5),
    (6, 5),
    (6, 6),
    (8, 5),
    (8, 6),
    (8, 8),
    (10, 5),
    (10, 6),
    (10, 8),
    (10, 10),
    (12, 10),
    (12, 12),
];

/// The size in bytes of the largest decoded block: 12 by 12 texels of eight bytes.
const MAX_BLOCK: usize = 12 * 12 * 8;

impl Blocks {
    /// Returns the format with this name, as in OpenGL, such as `COMPRESSED_RGBA_ASTC_6x6_KHR` or `RGB8_ETC2`, or `BC1`
    /// to
    /// `BC7`.
    pub fn parse(name: &str) -> Option<Blocks> {
        let name = name.strip_prefix("COMPRESSED_").unwrap_or(name);
        let name = ["_EXT", "_ARB", "_KHR"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        if let Some(&(_, code, srgb)) = NAMES.iter().find(|(known, ..)| *known == name) {
            return Some(Blocks { code, srgb });
        }
        let curves = [("RGBA_ASTC_", false), ("SRGB8_ALPHA8_ASTC_", true)];
        let (size, srgb) = curves.iter().find_map(|&(start, srgb)| Some((name.strip_prefix(start)?, srgb)))?;
        let &(width, height) = FOOTPRINTS.iter().find(|(width, height)| size == format!("{width}x{height}"))?;
        Some(Blocks { code: Code::Astc(width, height), srgb })
    }

    /// The format of the decoded texels.
    pub fn format(self) -> Format {
        match self.code {
            Code::Bc45 { channels: 1, .. } | Code::Eac { channels: 1, .. } => Format::R32F,
            Code::Bc45 { .. } | Code::Eac { .. } => Format::RG32F,
            Code::Bc6 { .. } => Format::RGB16F,
            Code::Astc(..) if !self.srgb => Format::RGBA16F,
            _ if self.srgb => Format::SRGBA8,
            _ => Format::RGBA8,
        }
    }

    /// The number of columns and rows of a block.
    fn footprint(self) -> [usize; 2] {
        match self.code {
            Code::Astc(width, height) => [width.into(), height.into()],
            _ => [4, 4],
        }
    }

    /// The size of a block in bytes.
    fn bytes(self) -> usize {
        match self.code {
            Code::Bc1 { .. } | Code::Etc2 | Code::Etc2Alpha1 => 8,
            Code::Bc45 { channels, .. } | Code::Eac { channels, .. } => 8 * usize::from(channels),
            _ => 16,
        }
    }

    /// The size in bytes of one level of one layer. Its slices are compressed separately.
    pub fn size_of(self, [width, height, depth]: [u32; 3]) -> u64 {
        let [columns, rows] = self.footprint().map(|n| n as u32);
        let blocks = u64::from(width.div_ceil(columns)) * u64::from(height.div_ceil(rows)) * u64::from(depth);
        blocks.saturating_mul(self.bytes() as u64)
    }

    /// Decodes consecutive slices to texels in the format of [`Blocks::format`]. Texels of missing blocks are left 0.
    pub(super) fn decode(self, bytes: &[u8], [width, height]: [usize; 2], slices: usize) -> Vec<u8> {
        let ([columns, rows], size) = (self.footprint(), self.format().size());
        let mut texels = vec![0; width * height * slices * size];
        let mut blocks = bytes.chunks_exact(self.bytes());
        let mut decoded = [0; MAX_BLOCK];
        for slice in texels.chunks_exact_mut((width * height * size).max(1)) {
            for top in (0..height).step_by(rows) {
                for left in (0..width).step_by(columns) {
                    let Some(block) = blocks.next() else { return texels };
                    self.block(block, &mut decoded);
                    // A block at the edge may extend beyond it.
                    let (shown, lines) = ((width - left).min(columns) * size, (height - top).min(rows));
                    for line in 0..lines {
                        let to = ((top + line) * width + left) * size;
                        let from = line * columns * size;
                        slice[to..to + shown].copy_from_slice(&decoded[from..from + shown]);
                    }
                }
            }
        }
        texels
    }

    /// Decodes a block, row by row.
    fn block(self, block: &[u8], out: &mut [u8; MAX_BLOCK]) {
        match self.code {
            Code::Bc1 { opaque } => {
                bcdec_rs::bc1(block, out, 16);
                for texel in out[..64].as_chunks_mut::<4>().0.iter_mut().filter(|_| opaque) {
                    texel[3] = 255;
                }
            }
            Code::Bc2 => bcdec_rs::bc2(block, out, 16),
            Code::Bc3 => bcdec_rs::bc3(block, out, 16),
            Code::Bc7 => bcdec_rs::bc7(block, out, 16),
            Code::Bc45 { channels: 1, signed } => {
                let mut floats = [0.0; 16];
                bcdec_rs::bc4_float(block, &mut floats, 4, signed);
                put(out, floats.map(f32::to_le_bytes));
            }
            Code::Bc45 { signed, .. } => {
                let mut floats = [0.0; 32];
                bcdec_rs::bc5_float(block, &mut floats, 8, signed);
                put(out, floats.map(f32::to_le_bytes));
            }
            Code::Bc6 { signed } => {
                let mut halves = [0; 48];
                bcdec_rs::bc6h_half(block, &mut halves, 12, signed);
                put(out, halves.map(u16::to_le_bytes));
            }
            Code::Etc2 | Code::Etc2Alpha1 => self.etc2(block, out),
            Code::Etc2Alpha8 => {
                self.etc2(&block[8..], out);
                for (texel, alpha) in out[..64].as_chunks_mut::<4>().0.iter_mut().zip(alphas(block)) {
                    texel[3] = alpha;
                }
            }
            Code::Eac { channels: 1, signed } => put(out, eac(block, signed).map(f32::to_le_bytes)),
            Code::Eac { signed, .. } => {
                let [red, green] = [eac(block, signed), eac(&block[8..], signed)];
                let both = |i: usize| (u64::from(green[i].to_bits()) << 32 | u64::from(red[i].to_bits())).to_le_bytes();
                put(out, std::array::from_fn::<_, 16, _>(both));
            }
            Code::Astc(width, height) => {
                let block = block.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
                let size = [width, height].map(usize::from);
                astc::decode(block, size, self.srgb, |at, colour| match self.srgb {
                    true => out[4 * at..][..4].copy_from_slice(&colour.map(|channel| (channel >> 8) as u8)),
                    false => put(&mut out[8 * at..], colour.map(|channel| half(channel).to_le_bytes())),
                });
            }
        }
    }

    /// Decodes the colours of ETC2.
    fn etc2(self, block: &[u8], out: &mut [u8; MAX_BLOCK]) {
        let mut colours = [0; 16];
        match self.code {
            Code::Etc2Alpha1 => texture2ddecoder::decode_etc2_rgba1_block(block, &mut colours),
            _ => texture2ddecoder::decode_etc2_rgb_block(block, &mut colours),
        }
        put(
            out,
            colours.map(|colour| match colour.to_le_bytes() {
                // A transparent texel is black, but the library leaves it a colour.
                [.., 0] => [0; 4],
                [blue, green, red, alpha] => [red, green, blue, alpha],
            }),
        );
    }
}

/// The bits of the half float of a number of 65,536ths, rounded down; the largest number is 1.
fn half(number: u16) -> u16 {
    match number.checked_ilog2() {
        None => 0,
        Some(_) if number == u16::MAX => 0x3c00,
        // Denormals.
        Some(0..2) => number << 8,
        Some(top) => (top as u16 - 1) << 10 | ((u32::from(number) << 10 >> top) & 0x3ff) as u16,
    }
}

/// Writes numbers consecutively.
fn put<const N: usize, const BYTES: usize>(out: &mut [u8], numbers: [[u8; BYTES]; N]) {
    out[..N * BYTES].copy_from_slice(numbers.as_flattened());
}

/// The difference of an EAC texel from the base, in units of the block's multiplier.
const MODIFIERS: [[i8; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// Decodes the base, the multiplier and the modifiers, row by row, of 8 bytes of EAC. Texels are stored by column, the
/// first in the highest bits.
fn modifiers(block: &[u8]) -> (u8, i32, [i32; 16]) {
    let word = block.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let table = MODIFIERS[(word >> 48 & 15) as usize];
    let modifier = |texel: usize| {
        let number = texel % 4 * 4 + texel / 4;
        table[(word >> (45 - 3 * number) & 7) as usize].into()
    };
    ((word >> 56) as u8, (word >> 52 & 15) as i32, std::array::from_fn(modifier))
}

/// Decodes 8-bit alpha values.
fn alphas(block: &[u8]) -> [u8; 16] {
    let (base, multiplier, modifiers) = modifiers(block);
    modifiers.map(|modifier| (i32::from(base) + multiplier * modifier).clamp(0, 255) as u8)
}

/// Decodes 11-bit values, from 0 or -1 to 1.
fn eac(block: &[u8], signed: bool) -> [f32; 16] {
    let (base, multiplier, modifiers) = modifiers(block);
    // A multiplier of 0 counts as an eighth.
    let scale = if multiplier == 0 { 1 } else { 8 * multiplier };
    modifiers.map(|modifier| {
        if signed {
            let base = i32::from(base as i8).max(-127);
            (8 * base + scale * modifier).clamp(-1023, 1023) as f32 / 1023.0
        } else {
            (8 * i32::from(base) + 4 + scale * modifier).clamp(0, 2047) as f32 / 2047.0
        }
    })
}

#[cfg(test)]
mod tests;
