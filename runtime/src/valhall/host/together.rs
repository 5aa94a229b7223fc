//! Requests of all lanes of a warp at once: the same results as lane by lane, in loops over lanes.
//!
//! `colours` converts the colours of lanes to formats, and back.

mod colours;

use isaforge_core::semantics::evaluate::each;

use super::format::{Class, Format, fraction};
use super::handle::Handle;
use super::sample::between;
use super::texture::{Filter, Sampler, Shape, Texture, Wrap};
use super::varying::Component;
use crate::valhall::warp::LANES;
use crate::wide::{Wide, wide};

/// One value for each lane of a warp.
pub type Lanes<T> = [T; LANES];

/// Filtered look-ups of the lanes of a warp in one texture with one or two dimensions, as [`Lookup`](super::Lookup) is
/// one of a lane.
#[derive(Clone, Debug)]
pub struct Lookups {
    /// The texture.
    pub texture: Handle,
    /// The sampler.
    pub sampler: Handle,
    /// The shape that the instruction assumes.
    pub shape: Shape,
    /// The lanes, lane 0 in bit 0.
    pub mask: u16,
    /// The normalised coordinates along x and y.
    pub at: [Lanes<f32>; 2],
    /// The layers of an array.
    pub layer: Lanes<i32>,
    /// Offsets in texels of the level, along x and y.
    pub offset: [Lanes<i32>; 2],
    /// The source of the level of detail.
    pub lod: Lods,
}

/// The sources of the levels of detail, as [`Lod`](super::Lod) is that of a lane.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for a warp, which is never moved")]
pub enum Lods {
    /// Level 0.
    Base,
    /// Given levels.
    Explicit(Lanes<f32>),
    /// Computed from the derivatives of both coordinates.
    Computed {
        /// The derivatives along x.
        dx: [Lanes<f32>; 2],
        /// The derivatives along y.
        dy: [Lanes<f32>; 2],
        /// The biases.
        bias: Lanes<f32>,
    },
}

/// The positions at which the lanes of a warp interpolate, as [`Spot`](super::Spot) is that of one.
#[derive(Clone, Copy, Debug)]
pub struct Spots<'a> {
    /// The pixels.
    pub pixels: &'a Lanes<[u32; 2]>,
    /// The positions within the pixels, from their corners in 1/256 pixel: x in the low half, y in the high half.
    pub within: &'a Lanes<u32>,
}

/// Four channels.
type Channels = [Lanes<f32>; 4];

/// The highest coordinate in texels for which sums and products do not overflow.
const FAR: i32 = 1 << 28;

/// Applies a function to the values of each lane.
#[inline(always)]
fn both<A: Copy, B: Copy, R: Copy + Default>(a: &Lanes<A>, b: &Lanes<B>, f: impl Fn(A, B) -> R) -> Lanes<R> {
    let mut results = [R::default(); LANES];
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane]);
    }
    results
}

/// Interpolates linearly: `part` is 0 at `low` and 1 at `high`.
#[inline(always)]
fn mix(low: &Channels, high: &Channels, part: &Lanes<f32>) -> Channels {
    let mut mixed = [[0.0; LANES]; 4];
    for channel in 0..4 {
        for lane in 0..LANES {
            let (low, high) = (low[channel][lane], high[channel][lane]);
            mixed[channel][lane] = between(low, high, part[lane]);
        }
    }
    mixed
}

/// Mixes four texels of four bytes: bottom left and right, top left and right.
#[inline(always)]
fn filtered([a, b, c, d]: &[Lanes<u32>; 4], across: &Lanes<f32>, up: &Lanes<f32>) -> Channels {
    let mut channels = [[0.0; LANES]; 4];
    for (channel, lanes) in channels.iter_mut().enumerate() {
        let value = |word: u32| fraction(word >> (8 * channel) & 0xff);
        for lane in 0..LANES {
            let [a, b, c, d] = [value(a[lane]), value(b[lane]), value(c[lane]), value(d[lane])];
            // Texels are numbers, and distances as well.
            let (low, high) = (a + (b - a) * across[lane], c + (d - c) * across[lane]);
            lanes[lane] = low + (high - low) * up[lane];
        }
    }
    channels
}

/// Returns the texels of `n` at some positions, and whether each of them is inside.
#[inline(always)]
fn wrapped(wrap: Wrap, at: &Lanes<i32>, n: i32) -> (Lanes<i32>, Lanes<bool>) {
    let inside = |at: Lanes<i32>| (at, [true; LANES]);
    let repeat = |n: i32| -> Lanes<i32> {
        if n & (n - 1) == 0 { each(at, |at| at & (n - 1)) } else { each(at, |at| at.rem_euclid(n)) }
    };
    match wrap {
        Wrap::Clamp => inside(each(at, |at| at.max(0).min(n - 1))),
        Wrap::Repeat => inside(repeat(n)),
        Wrap::Mirror => inside(each(&repeat(2 * n), |at| at.min(2 * n - 1 - at))),
        Wrap::MirrorOnce => inside(each(at, |at| if at < 0 { -1 - at } else { at }.min(n - 1))),
        Wrap::Border => (each(at, |at| at.max(0).min(n - 1)), each(at, |at| at >= 0 && at < n)),
    }
}

/// Look-ups in a texture.
#[derive(Clone, Copy)]
struct Looking<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    lookups: &'a Lookups,
}

impl Wide for Looking<'_> {
    type Result = Option<[Lanes<u32>; 4]>;

    #[inline(always)]
    fn compute(self) -> Self::Result {
        let found = self.filter()?;
        let mut bits = [[0; LANES]; 4];
        for (bits, found) in bits.iter_mut().zip(&found) {
            *bits = each(found, f32::to_bits);
        }
        Some(bits)
    }
}

impl Texture {
    /// Performs look-ups. `None` if they must be performed lane by lane.
    pub(super) fn look_up_together(&self, sampler: &Sampler, lookups: &Lookups) -> Option<[Lanes<u32>; 4]> {
        let is_flat = matches!(self.shape(), Shape::One | Shape::Two);
        let is_small = u32::try_from(self.bytes(0).len()).is_ok();
        if !is_flat || !is_small || self.format().class() != Class::Float {
            return None;
        }
        wide(Looking { texture: self, sampler, lookups })
    }
}

impl Looking<'_> {
    #[inline(always)]
    fn filter(self) -> Option<Channels> {
        let Looking { texture, sampler, lookups } = self;
        if sampler.mip.is_none() && sampler.min == sampler.mag {
            return self.level(0, sampler.min);
        }
        let (lods, levels) = (self.lods(), texture.levels());
        let part = each(&lods, |lod| sampler.choice(lod, levels).1);
        let (mut left, mut result) = (lookups.mask, [[0.0; LANES]; 4]);
        while left != 0 {
            let (first, _) = sampler.choice(lods[left.trailing_zeros() as usize % LANES], levels);
            let mut alike = 0;
            for (lane, lod) in lods.iter().enumerate() {
                if left >> lane & 1 != 0 && lod.is_nan() {
                    return None;
                }
                alike |= u16::from(sampler.choice(*lod, levels).0 == first) << lane;
            }
            alike &= left;
            left &= !alike;
            let mut found = self.level(first.level, first.filter)?;
            if first.next {
                found = mix(&found, &self.level(first.level + 1, first.filter)?, &part);
            }
            if alike == lookups.mask {
                return Some(found);
            }
            for (to, from) in result.iter_mut().zip(&found) {
                for lane in 0..LANES {
                    to[lane] = if alike >> lane & 1 != 0 { from[lane] } else { to[lane] };
                }
            }
        }
        Some(result)
    }

    /// The levels of detail.
    #[inline(always)]
    fn lods(self) -> Lanes<f32> {
        let Looking { texture, sampler, lookups } = self;
        let [least, greatest] = sampler.lod_range;
        let limited = |level: f32| (level + sampler.lod_bias).max(least).min(greatest);
        let (dx, dy, bias) = match &lookups.lod {
            Lods::Base => return [0.0; LANES],
            Lods::Explicit(levels) => return each(levels, limited),
            Lods::Computed { dx, dy, bias } => (dx, dy, bias),
        };
        let [width, height, _] = texture.size_of(0);
        let squares = both(&self.length(dx, width, height), &self.length(dy, width, height), f32::max);
        // The lanes of a primitive often have the same derivatives.
        let (mut last, mut log) = (squares[0].to_bits(), squares[0].log2());
        let mut lods = [0.0; LANES];
        for (lane, lod) in lods.iter_mut().enumerate() {
            if squares[lane].to_bits() != last {
                (last, log) = (squares[lane].to_bits(), squares[lane].log2());
            }
            *lod = limited(log * 0.5 + bias[lane]);
        }
        lods
    }

    /// The squares of the lengths of derivatives in texels.
    #[inline(always)]
    fn length(self, [x, y]: &[Lanes<f32>; 2], width: u32, height: u32) -> Lanes<f32> {
        let x = each(x, |d| (d * width as f32) * (d * width as f32));
        if self.texture.shape() == Shape::One {
            return x;
        }
        both(&x, y, |x, d| x + (d * height as f32) * (d * height as f32))
    }

    /// The filtered texels of a level. `None` if they are too far away.
    #[inline(always)]
    fn level(self, level: usize, filter: Filter) -> Option<Channels> {
        let Looking { texture, sampler, lookups } = self;
        let [width, height, _] = texture.size_of(level);
        let half = if filter == Filter::Linear { 0.5 } else { 0.0 };
        let is_line = texture.shape() == Shape::One;
        let (column, across) = self.place(0, width, half)?;
        let (row, up) = if is_line { ([0; LANES], [0.0; LANES]) } else { self.place(1, height, half)? };
        let layers = texture.layers() as i32 - 1;
        let first = each(&lookups.layer, |layer| layer.max(0).min(layers) as u32 * height);
        let [s, t, _] = sampler.wrap;
        let left = wrapped(s, &column, width as i32);
        let bottom = wrapped(t, &row, height as i32);
        if filter == Filter::Nearest {
            return Some(self.texels(level, &first, &left, &bottom));
        }
        let right = wrapped(s, &each(&column, |at| at + 1), width as i32);
        let top = if is_line { bottom } else { wrapped(t, &each(&row, |at| at + 1), height as i32) };
        let corners = [(&left, &bottom), (&right, &bottom), (&left, &top), (&right, &top)];
        let inside = [&left, &right, &bottom, &top].iter().all(|(_, inside)| !inside.contains(&false));
        if inside && texture.format() == Format::RGBA8 {
            let mut words = [[0; LANES]; 4];
            for (words, (column, row)) in words.iter_mut().zip(corners) {
                *words = self.words(level, &self.index(level, &first, &column.0, &row.0));
            }
            return Some(filtered(&words, &across, &up));
        }
        let mut texels = [[[0.0; LANES]; 4]; 4];
        for (texels, (column, row)) in texels.iter_mut().zip(corners) {
            *texels = self.texels(level, &first, column, row);
        }
        let [a, b, c, d] = &texels;
        let low = mix(a, b, &across);
        Some(if is_line { low } else { mix(&low, &mix(c, d, &across), &up) })
    }

    /// The lowest texel along an axis of `n` texels, and the distance from it. `None` if a texel is too far away.
    #[inline(always)]
    fn place(self, axis: usize, n: u32, half: f32) -> Option<(Lanes<i32>, Lanes<f32>)> {
        let Lookups { at, offset, mask, .. } = self.lookups;
        let at = each(&at[axis], |at| at * n as f32 - half);
        let floor = each(&at, f32::floor);
        let mut far = 0;
        for (lane, floor) in floor.iter().enumerate() {
            far |= u16::from(floor.abs() >= FAR as f32 || floor.is_nan()) << lane;
        }
        if far & mask != 0 {
            return None;
        }
        // In the other lanes the cast saturates, and offsets are small.
        let near = |at: i32| at.clamp(-FAR, FAR);
        let texel = both(&floor, &offset[axis], |floor, offset| near(floor as i32) + near(offset));
        Some((texel, both(&at, &floor, |at, floor| at - floor)))
    }

    /// Returns the indices of texels of a level; `first` is the first row of the layer.
    #[inline(always)]
    fn index(self, level: usize, first: &Lanes<u32>, column: &Lanes<i32>, row: &Lanes<i32>) -> Lanes<u32> {
        let [width, ..] = self.texture.size_of(level);
        // Textures are so small that this does not wrap.
        let row = both(first, row, |first, row| first.wrapping_add(row as u32).wrapping_mul(width));
        both(&row, column, |row, column| row.wrapping_add(column as u32))
    }

    /// Returns texels of four bytes.
    #[inline(always)]
    fn words(self, level: usize, index: &Lanes<u32>) -> Lanes<u32> {
        let (texels, _) = self.texture.bytes(level).as_chunks::<4>();
        each(index, |index| texels.get(index as usize).map_or(0, |texel| u32::from_le_bytes(*texel)))
    }

    /// Returns the texels of a level in some columns and rows, or the border outside; `first` is the first row of the
    /// layer.
    #[inline(always)]
    fn texels(
        self,
        level: usize,
        first: &Lanes<u32>,
        (column, beside): &(Lanes<i32>, Lanes<bool>),
        (row, above): &(Lanes<i32>, Lanes<bool>),
    ) -> Channels {
        let Looking { texture, sampler, .. } = self;
        let index = self.index(level, first, column, row);
        let (bytes, format) = (texture.bytes(level), texture.format());
        let mut channels = [[0.0; LANES]; 4];
        if format == Format::RGBA8 {
            let words = self.words(level, &index);
            for (channel, lanes) in channels.iter_mut().enumerate() {
                *lanes = each(&words, |word| fraction(word >> (8 * channel) & 0xff));
            }
        } else {
            for lane in 0..LANES {
                let start = index[lane] as usize * format.size();
                let texel = format.decode(bytes.get(start..start + format.size()).unwrap_or_default());
                (0..4).for_each(|channel| channels[channel][lane] = f32::from_bits(texel.channels[channel]));
            }
        }
        let inside = both(beside, above, |beside, above| beside && above);
        if inside.contains(&false) {
            let border = format.complete(sampler.border).channels.map(f32::from_bits);
            for (lanes, border) in channels.iter_mut().zip(border) {
                *lanes = both(lanes, &inside, |texel, inside| if inside { texel } else { border });
            }
        }
        channels
    }
}

/// Positions in a primitive.
struct On<'a>(&'a Component, Spots<'a>);

impl Wide for On<'_> {
    type Result = Option<Lanes<u32>>;

    #[inline(always)]
    fn compute(self) -> Option<Lanes<u32>> {
        let On(component, Spots { pixels, within }) = self;
        // Pixels are below 2^31.
        let x = both(pixels, within, |[x, _], within| x as i32 as f32 + f32::from(within as i16) / 256.0);
        let y = both(pixels, within, |[_, y], within| y as i32 as f32 + f32::from((within >> 16) as i16) / 256.0);
        Some(match component {
            Component::Flat(bits) => [*bits; LANES],
            Component::Plane(plane) => both(&x, &y, |x, y| plane.at(x, y).to_bits()),
            Component::Perspective { value, reciprocal } => {
                both(&x, &y, |x, y| value.quotient(reciprocal, x, y).to_bits())
            }
            Component::Pixels { .. } => return None,
        })
    }
}

impl Component {
    /// Returns its bits at positions in the window. `None` if they must be taken pixel by pixel.
    pub(super) fn at_together(&self, spots: Spots<'_>) -> Option<Lanes<u32>> {
        wide(On(self, spots))
    }
}
