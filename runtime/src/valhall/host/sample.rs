//! Texture look-ups as defined by OpenGL ES: levels of detail, filters, wrapping, comparison, gathering.

use super::cube;
use super::format::{Class, Texel, canonical};
use super::handle::Handle;
use super::texture::{Filter, Sampler, Shape, Texture};

/// The request of a texture instruction in one lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The texture.
    pub texture: Handle,
    /// The sampler; [`Request::Fetch`] does not use it.
    pub sampler: Handle,
    /// The shape that the instruction assumes.
    pub shape: Shape,
    /// The coordinates.
    pub at: Coordinates,
    /// The face of a cube, from 0 to 5.
    pub face: u32,
    /// The layer of an array.
    pub layer: i32,
    /// The reference of a shadow look-up.
    pub reference: Option<f32>,
    /// An offset in texels of the level.
    pub offset: [i32; 3],
    /// The kind of look-up.
    pub request: Request,
}

/// A position in a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinates {
    /// From 0 to 1 across the texture.
    Normalised([f32; 3]),
    /// In texels.
    Texels([i32; 3]),
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// The filtered value.
    Filter(Lod),
    /// One channel of the four texels that a linear filter would use: `(i0, j0)`, `(i1, j0)`, `(i0, j1)`, `(i1, j1)`.
    Gather {
        /// The channel.
        channel: usize,
    },
    /// The unfiltered texel of a level; zeros outside the texture.
    Fetch {
        /// The level.
        level: u32,
    },
}

/// The source of the level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lod {
    /// Level 0.
    Base,
    /// A given level.
    Explicit(f32),
    /// Computed from the derivatives of the coordinates.
    Computed {
        /// The derivative along x.
        dx: [f32; 3],
        /// The derivative along y.
        dy: [f32; 3],
        /// The bias.
        bias: f32,
    },
}

impl Texture {
    /// Performs a look-up.
    pub fn look_up(&self, sampler: &Sampler, lookup: &Lookup) -> Texel {
        let looking = Looking { texture: self, sampler, lookup };
        match lookup.request {
            Request::Fetch { level } => looking.fetch(level),
            Request::Gather { channel } => looking.gather(channel),
            Request::Filter(lod) => {
                let level = if lod == Lod::Base { 0.0 } else { self.level_of_detail(sampler, lod, true, true) };
                looking.filter(level)
            }
        }
    }

    /// Returns the level of detail before a level is selected, with or without the sampler's bias and range. It is
    /// negative if texels are larger than pixels.
    pub fn level_of_detail(&self, sampler: &Sampler, lod: Lod, with_bias: bool, with_range: bool) -> f32 {
        let level = match lod {
            Lod::Base => 0.0,
            Lod::Explicit(level) => level,
            Lod::Computed { dx, dy, bias } => {
                let size = self.size_of(0).map(|n| n as f32);
                let length = |d: [f32; 3]| {
                    d.iter()
                        .zip(size)
                        .zip(self.directions())
                        .map(|((d, n), used)| d * n * used)
                        .map(|d| d * d)
                        .sum::<f32>()
                };
                // log2 of the length, from its square. Derivatives of 0 yield -infinity, which becomes level 0.
                logarithm(length(dx).max(length(dy))) * 0.5 + bias
            }
        };
        let level = if with_bias { level + sampler.lod_bias } else { level };
        let [least, greatest] = sampler.lod_range;
        if with_range { level.max(least).min(greatest) } else { level }
    }

    /// 1.0 for each dimension of the shape.
    fn directions(&self) -> [f32; 3] {
        match self.shape() {
            Shape::One => [1.0, 0.0, 0.0],
            Shape::Two | Shape::Cube => [1.0, 1.0, 0.0],
            Shape::Three => [1.0; 3],
        }
    }
}

struct Looking<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    lookup: &'a Lookup,
}

impl Looking<'_> {
    fn fetch(&self, level: u32) -> Texel {
        let [x, y, z] = match self.lookup.at {
            Coordinates::Texels(at) => at,
            Coordinates::Normalised(at) => at.map(|at| at.floor() as i32),
        };
        let [dx, dy, dz] = self.lookup.offset;
        let place = [i64::from(x) + i64::from(dx), i64::from(y) + i64::from(dy), i64::from(z) + i64::from(dz)];
        let found = self.texture.texel(level as usize, self.lookup.layer.into(), self.without_missing(place));
        found.unwrap_or(Texel { channels: [0; 4], class: self.texture.format().class() })
    }

    fn gather(&self, channel: usize) -> Texel {
        let (low, _) = self.footprint(0, Filter::Linear);
        let class = if self.compares() { Class::Float } else { self.texture.format().class() };
        let corners = [[0, 0], [1, 0], [0, 1], [1, 1]];
        let channels = corners.map(|[i, j]| {
            let texel = self.texel(0, [low[0] + i, low[1] + j, low[2]]);
            // A comparison has a single result for all channels.
            texel.channels[if self.compares() { 0 } else { channel & 3 }]
        });
        Texel { channels, class }
    }

    fn filter(&self, lod: f32) -> Texel {
        let (Choice { filter, level, next }, part) = self.sampler.choice(lod, self.texture.levels());
        let low = self.filter_level(level, filter);
        if !next || low.class != Class::Float {
            return low;
        }
        mix(low, self.filter_level(level + 1, filter), part)
    }

    fn filter_level(&self, level: usize, filter: Filter) -> Texel {
        // Integers are not interpolated.
        let whole = self.texture.format().class() != Class::Float;
        let filter = if whole { Filter::Nearest } else { filter };
        let (low, parts) = self.footprint(level, filter);
        if filter == Filter::Nearest {
            return self.texel(level, low);
        }
        let row = |y: i64, z: i64| {
            let at = |x: i64| self.texel(level, [low[0] + x, low[1] + y, low[2] + z]);
            mix(at(0), at(1), parts[0])
        };
        let slice = |z: i64| match self.texture.shape() {
            Shape::One => row(0, z),
            _ => mix(row(0, z), row(1, z), parts[1]),
        };
        match self.texture.shape() {
            Shape::Three => mix(slice(0), slice(1), parts[2]),
            _ => slice(0),
        }
    }

    /// The lowest texel that a filter uses, and the distance of the position from it.
    fn footprint(&self, level: usize, filter: Filter) -> ([i64; 3], [f32; 3]) {
        let size = self.texture.size_of(level).map(|n| n as f32);
        let half = if filter == Filter::Linear { 0.5 } else { 0.0 };
        let (mut low, mut parts) = ([0; 3], [0.0; 3]);
        for axis in 0..3 {
            // Coordinates in texels name the lowest texel itself.
            let at = match self.lookup.at {
                Coordinates::Normalised(at) => at[axis] * size[axis] - half,
                Coordinates::Texels(at) => at[axis] as f32,
            };
            // The cast saturates for positions that are too far away, and turns NaN into 0.
            low[axis] = (at.floor() as i32 as i64) + i64::from(self.lookup.offset[axis]);
            parts[axis] = if at.is_finite() { at - at.floor() } else { 0.0 };
        }
        (low, parts)
    }

    /// Returns a texel, possibly beyond the edges, after the comparison if there is one.
    fn texel(&self, level: usize, place: [i64; 3]) -> Texel {
        let [width, height, depth] = self.texture.size_of(level).map(i64::from);
        let layer = self.layer();
        if self.texture.shape() == Shape::Cube {
            return self.cube_texel(level, place[0], place[1], width);
        }
        let [s, t, r] = self.sampler.wrap;
        let [x, y, z] = self.without_missing(place);
        let inside = (|| Some([s.apply(x, width)?, t.apply(y, height)?, r.apply(z, depth)?]))();
        let found = inside.and_then(|place| self.texture.texel(level, layer, place));
        self.compared(found.unwrap_or_else(|| self.border()))
    }

    /// Returns a texel of a cube. Beyond a corner it is the mean of the three texels that meet there.
    fn cube_texel(&self, level: usize, i: i64, j: i64, n: i64) -> Texel {
        let at = |i: i64, j: i64| {
            let (face, i, j) = cube::across(self.lookup.face.min(5), i, j, n);
            let first = self.layer() / 6 * 6;
            let found = self.texture.texel(level, first + i64::from(face), [i, j, 0]);
            // This always succeeds, since all six faces exist.
            self.compared(found.unwrap_or_else(|| self.border()))
        };
        let (i, j) = (i.clamp(-1, n), j.clamp(-1, n));
        let (near_i, near_j) = (i.clamp(0, n - 1), j.clamp(0, n - 1));
        if i == near_i || j == near_j {
            return at(i, j);
        }
        let corner = [at(near_i, near_j), at(i, near_j), at(near_i, j)];
        if corner[0].class != Class::Float {
            return corner[0];
        }
        let channel = |c: usize| corner.iter().map(|texel| f32::from_bits(texel.channels[c])).sum::<f32>() / 3.0;
        Texel::floats([channel(0), channel(1), channel(2), channel(3)])
    }

    /// The nearest existing layer; for a cube, its first face.
    fn layer(&self) -> i64 {
        let layer = i64::from(self.lookup.layer);
        let layers = i64::from(self.texture.layers());
        match self.texture.shape() {
            Shape::Cube => layer.clamp(0, layers / 6 - 1) * 6,
            _ => layer.clamp(0, layers - 1),
        }
    }

    /// Sets the coordinates of dimensions that the texture does not have to 0.
    fn without_missing(&self, [x, y, z]: [i64; 3]) -> [i64; 3] {
        match self.texture.shape() {
            Shape::One => [x, 0, 0],
            Shape::Two | Shape::Cube => [x, y, 0],
            Shape::Three => [x, y, z],
        }
    }

    /// The texel beyond the edges, with the defaults for channels that the texture does not have.
    fn border(&self) -> Texel {
        self.texture.format().complete(self.sampler.border)
    }

    fn compares(&self) -> bool {
        self.lookup.reference.is_some() && self.sampler.compare.is_some()
    }

    fn compared(&self, texel: Texel) -> Texel {
        let (Some(reference), Some(compare)) = (self.lookup.reference, self.sampler.compare) else { return texel };
        // A depth from 0 to 1 is compared with a reference in the same range.
        let reference = if self.texture.format().is_normalised() { reference.clamp(0.0, 1.0) } else { reference };
        let holds = compare.holds(reference, f32::from_bits(texel.to(Class::Float).channels[0]));
        Texel::floats([f32::from(u8::from(holds)), 0.0, 0.0, 1.0])
    }
}

/// The level that a look-up uses, and the filter there.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub filter: Filter,
    pub level: usize,
    /// Whether the result is mixed with that of the next level.
    pub next: bool,
}

impl Sampler {
    /// Returns what a level of detail selects in a texture with some levels, and how far it is from that level.
    #[inline(always)]
    pub(super) fn choice(&self, lod: f32, levels: usize) -> (Choice, f32) {
        let filter = if lod <= 0.0 { self.mag } else { self.min };
        let (level, part) = nearest(self.mip, lod, (levels - 1) as f32);
        (Choice { filter, level: level as usize, next: part != 0.0 }, part)
    }
}

/// Returns the level, up to the last one, from which a level of detail is counted, and how far it is from that level.
#[inline(always)]
pub(super) fn nearest(mip: Option<Filter>, lod: f32, last: f32) -> (f32, f32) {
    let lod = lod.max(0.0).min(last);
    match mip {
        None => (0.0, 0.0),
        // Ties are rounded down.
        Some(Filter::Nearest) => (((lod + 0.5).ceil() - 1.0).max(0.0), 0.0),
        Some(Filter::Linear) => (lod.floor(), lod - lod.floor()),
    }
}

/// Returns the logarithm of a square to base 2, rounded to nearest in nearly all cases. It is computed without any
/// function of the host, so that it is the same everywhere, and in loops over lanes.
#[inline(always)]
pub(super) fn logarithm(square: f32) -> f32 {
    // Numbers of less than 2^-126 have fewer bits.
    let is_small = square < f32::MIN_POSITIVE;
    let bits = if is_small { square * 8_388_608.0 } else { square }.to_bits();
    // The mantissa is at least the root of 1/2, and less than that of 2.
    let exponent = bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits()) & 0xff80_0000;
    let mantissa = f64::from(f32::from_bits(bits.wrapping_sub(exponent)));
    let exponent = f64::from(exponent as i32 >> 23) - if is_small { 23.0 } else { 0.0 };
    // The series of the area hyperbolic tangent.
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let (square_of_part, mut series) = (part * part, 0.0);
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * square_of_part + 2.0 * std::f64::consts::LOG2_E / odd;
    }
    let logarithm = (exponent + part * series) as f32;
    if square == 0.0 {
        f32::NEG_INFINITY
    } else if square < f32::INFINITY {
        logarithm
    } else {
        square
    }
}

/// Interpolates linearly: `part` is 0 at `low` and 1 at `high`.
#[inline(always)]
pub(super) fn between(low: f32, high: f32, part: f32) -> f32 {
    canonical(low + (high - low) * part)
}

/// Interpolates the channels of texels.
fn mix(low: Texel, high: Texel, part: f32) -> Texel {
    let channel = |c: usize| {
        let (low, high) = (f32::from_bits(low.channels[c]), f32::from_bits(high.channels[c]));
        between(low, high, part)
    };
    Texel::floats([channel(0), channel(1), channel(2), channel(3)])
}

#[cfg(test)]
mod tests {
    use super::logarithm;

    #[test]
    fn the_logarithm_of_a_square_is_that_of_the_host_or_next_to_it() {
        let (mut differ, mut count) = (0, 0);
        for square in (0..0x7f80_0000).step_by(4099).map(f32::from_bits) {
            let [own, host] = [logarithm(square), f64::from(square).log2() as f32];
            assert!(own == host || own.to_bits().abs_diff(host.to_bits()) <= 1, "{square:e}: {own}, {host}");
            (differ, count) = (differ + u32::from(own != host), count + 1);
        }
        assert!(differ < count / 1000, "{differ} of {count}");
        assert_eq!(
            [0.0, 1.0, 0.25, 8.0, f32::from_bits(1)].map(logarithm),
            [f32::NEG_INFINITY, 0.0, -2.0, 3.0, -149.0]
        );
        assert_eq!(logarithm(f32::INFINITY), f32::INFINITY);
        assert!(logarithm(f32::NAN).is_nan());
    }
}
