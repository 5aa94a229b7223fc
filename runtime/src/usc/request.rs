//! Requests to the texture unit, and its results.

use isaforge_usc::Dsize;

/// The request of a sample instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The four words of texture state.
    pub texture: [u32; 4],
    /// The four words of sampler state.
    pub sampler: [u32; 4],
    /// The number of dimensions, 1 to 3.
    pub dimensions: u32,
    /// The coordinates, one for each dimension, after division by the projection.
    pub coordinates: [f32; 3],
    /// The layer of an array.
    pub layer: Option<u32>,
    /// The source of the level of detail.
    pub level: Level,
    /// The derivatives of each coordinate in x and in y, contiguous: those given, or the differences to the neighbours
    /// in the quad.
    pub gradients: [f32; 6],
    /// The value to compare with.
    pub reference: Option<f32>,
    /// The offset of the coordinates in texels.
    pub offset: [i32; 3],
    /// The sample number, if given.
    pub sample: Option<u32>,
    /// The address of the texture, if given.
    pub address: Option<u64>,
    /// Whether coordinates are in texels rather than fractions.
    pub texels: bool,
    /// Whether coordinates are integers.
    pub integer: bool,
    /// Whether fixed-point texels are converted to floats.
    pub normalise: bool,
}

/// The location of a texel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelLocation {
    /// The address of the first byte; 40 bits.
    pub address: u64,
    /// The number of registers, 1 to 16.
    pub count: u32,
    /// The part of each register that is used.
    pub size: Dsize,
    /// Whether the coordinates are outside the texture.
    pub outside: bool,
}

impl TexelLocation {
    /// Packs the place into two registers: the low word of the address; then, from the lowest bit, the next 8 bits of
    /// the address, 2 bits of size and 4 bits of count, where 0 means 16. This layout was chosen here, since none is
    /// documented.
    pub fn packed(self) -> [u32; 2] {
        let rest = (self.address >> 32 & 0xff) as u32 | (self.size.number() as u32) << 8 | (self.count & 15) << 10;
        [self.address as u32, rest]
    }

    /// Unpacks a place from two registers. They do not tell whether it is outside.
    pub fn unpacked([low, rest]: [u32; 2]) -> TexelLocation {
        let size = Dsize::from_number((rest >> 8 & 3).into()).unwrap_or(Dsize::_32bit);
        let count = if rest >> 10 & 15 == 0 { 16 } else { rest >> 10 & 15 };
        TexelLocation { address: u64::from(rest & 0xff) << 32 | u64::from(low), count, size, outside: false }
    }
}

/// The source of the level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Level {
    /// Computed from the differences to the neighbours in the quad.
    #[default]
    Implicit,
    /// Computed, plus a bias.
    Bias(f32),
    /// The given level.
    Replace(f32),
    /// Computed from given derivatives.
    Gradients,
}

/// The result of a sample that bypasses the filter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Raw {
    /// Four texels in ascending order, by x and then by y.
    pub texels: [[u32; 4]; 4],
    /// The level of detail, clamped to the levels of the texture and unclamped.
    pub detail: [f32; 2],
    /// The weights of the upper texels in each direction.
    pub fractions: [f32; 3],
}

impl Raw {
    /// The number of words of the coefficients.
    pub const COEFFICIENTS: usize = 7;

    /// Returns the coefficients: the integer parts of the clamped and of the unclamped level in 255ths, the latter plus
    /// 128; the fractions of both, in 256ths of 255ths; the weights. Mesa reads the first four in this encoding; their
    /// order was chosen here.
    pub fn coefficients(&self) -> [u32; Raw::COEFFICIENTS] {
        let [held, free] = self.detail.map(|level| if level.is_finite() { level } else { 0.0 });
        let rest = |level: f32| (level - level.floor()) * 256.0 / 255.0;
        let [u, v, s] = self.fractions;
        [held.floor() / 255.0, (free.floor() + 128.0) / 255.0, rest(held), rest(free), u, v, s].map(f32::to_bits)
    }
}

/// Compares data with a reference by the lowest three bits of the state word: never, less, equal, less or equal,
/// greater, not equal, greater or equal, always. This encoding was chosen here, since none is documented.
pub fn alpha_passes(reference: u32, data: u32, state: u32) -> bool {
    let (data, reference) = (f32::from_bits(data), f32::from_bits(reference));
    let (less, equal, greater) = (data < reference, data == reference, data > reference);
    state & 1 != 0 && less || state & 2 != 0 && equal || state & 4 != 0 && (greater || state & 7 == 7)
}
