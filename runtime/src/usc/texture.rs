//! Textures of the software host.
//!
//! The layout of the hardware's state words is not part of this instruction set. Here, word 0 of a texture's state is
//! its number. Word 0 of a sampler's state has these fields: bit 0 selects the linear filter; bits 2..1 select the wrap
//! mode (0 clamps to the edge, 1 repeats, 2 mirrors); bits 5..3 select the comparison with a reference (as in
//! [`alpha_passes`]); bit 6 blends two levels instead of using the nearest. Word 1 is a float that is added to every
//! level of detail that is not given explicitly.

use crate::usc::request::{Level, Raw, Sample, alpha_passes};

/// A texture of floats with consecutive layers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// The number of texels in each direction; 1 if it has no extent.
    pub size: [u32; 3],
    /// The number of layers, at least 1. Six layers of a cube are its faces: +x, -x, +y, -y, +z, -z.
    pub layers: u32,
    /// Texels, ordered by layer, slice and row. Missing texels are 0.
    pub texels: Vec<[f32; 4]>,
    /// The levels after the first one, each half as large in every direction.
    pub levels: Vec<Vec<[f32; 4]>>,
    /// Whether coordinates are a direction from the centre of a cube.
    pub cube: bool,
    /// The address that represents the texture in instructions; layers follow at 16 bytes per texel.
    pub address: u64,
}

/// The maximum number of levels, since a size has 32 bits.
const MAX_LEVELS: usize = 32;

impl Texture {
    /// Creates a texture of one layer and one level.
    pub fn new(width: u32, height: u32, texels: Vec<[f32; 4]>) -> Texture {
        Texture { size: [width.max(1), height.max(1), 1], layers: 1, texels, ..Texture::default() }
    }

    /// Returns the texture with all levels down to a single texel. A texel is the mean of the texels that it covers.
    pub fn with_levels(mut self) -> Texture {
        self.levels.clear();
        while self.size_of(self.levels.len()) != [1; 3] && self.levels.len() < MAX_LEVELS {
            let (from, to) = (self.levels.len(), self.size_of(self.levels.len() + 1));
            let last = self.size_of(from).map(|n| n - 1);
            let mut texels = Vec::new();
            for layer in 0..self.layers.max(1) {
                for (z, y, x) in
                    (0..to[2]).flat_map(|z| (0..to[1]).flat_map(move |y| (0..to[0]).map(move |x| (z, y, x))))
                {
                    let corners = (0..8u32).map(|c| [2 * x + (c & 1), 2 * y + (c >> 1 & 1), 2 * z + (c >> 2)]);
                    let covered = corners.map(|at| [at[0].min(last[0]), at[1].min(last[1]), at[2].min(last[2])]);
                    let sum = covered.map(|at| self.texel(from, at, layer)).fold([0.0; 4], plus);
                    texels.push(sum.map(|x| x / 8.0));
                }
            }
            self.levels.push(texels);
        }
        self
    }

    /// The size of a level.
    fn size_of(&self, level: usize) -> [u32; 3] {
        self.size.map(|n| n.checked_shr(level as u32).unwrap_or(0).max(1))
    }

    fn texel(&self, level: usize, at: [u32; 3], layer: u32) -> [f32; 4] {
        let texels = if level == 0 { Some(&self.texels) } else { self.levels.get(level - 1) };
        texels.and_then(|texels| texels.get(self.index(level, at, layer))).copied().unwrap_or_default()
    }

    fn index(&self, level: usize, [x, y, z]: [u32; 3], layer: u32) -> usize {
        let [w, h, d] = self.size_of(level).map(|n| n as usize);
        let layer = layer.min(self.layers.saturating_sub(1)) as usize;
        let slice = layer.wrapping_mul(d).wrapping_add(z as usize);
        slice.wrapping_mul(h).wrapping_add(y as usize).wrapping_mul(w).wrapping_add(x as usize)
    }

    /// The number of texels that precede a texel, ordered by slice or layer and row, and whether the texel does not
    /// exist.
    pub(super) fn offset_of(&self, [x, y, layer]: [u32; 3]) -> (u64, bool) {
        let [w, h, d] = self.size.map(|n| n.max(1));
        let outside = x >= w || y >= h || layer >= d.max(self.layers);
        let row = u64::from(layer).wrapping_mul(h.into()).wrapping_add(y.into());
        (row.wrapping_mul(w.into()).wrapping_add(x.into()), outside)
    }

    /// Returns the bits of a sample: four floats, or the result of the comparison in each channel.
    pub fn sample(&self, sample: &Sample) -> [u32; 4] {
        let compared = |texel: [f32; 4]| match sample.reference {
            Some(reference) => {
                let passes = alpha_passes(texel[0].to_bits(), reference.to_bits(), sample.sampler[0] >> 3 & 7);
                [if passes { 1.0 } else { 0.0 }; 4]
            }
            None => texel,
        };
        let last = self.levels.len().min(MAX_LEVELS) as f64;
        let detail = self.detail(sample).clamp(0.0, last);
        let nearest = (detail + 0.5).floor() as usize;
        let value = if sample.sampler[0] >> 6 & 1 == 0 || sample.integer {
            self.at_level(sample, nearest, &compared)
        } else {
            let (low, part) = (detail.floor() as usize, detail.fract() as f32);
            let (near, far) = (self.at_level(sample, low, &compared), self.at_level(sample, low + 1, &compared));
            if part == 0.0 { near } else { std::array::from_fn(|c| near[c] + part * (far[c] - near[c])) }
        };
        value.map(f32::to_bits)
    }

    /// Returns the four texels that a linear filter would use, and their weights.
    pub fn raw(&self, sample: &Sample) -> Raw {
        let last = self.levels.len().min(MAX_LEVELS) as f64;
        let (before, face) = (self.detail(sample), self.face(sample));
        let level = (before.clamp(0.0, last) + 0.5).floor() as usize;
        let (low, part) = self.footprint(sample, level, &face);
        let corner = |x: i64, y: i64| self.corner(sample, level, [low[0] + x, low[1] + y, low[2]], face.layer);
        let texels = [corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)].map(|texel| texel.map(f32::to_bits));
        Raw { texels, detail: [before.clamp(0.0, last) as f32, before as f32], fractions: part }
    }

    /// Replaces the texel at integer coordinates, in the level given by the instruction.
    pub fn write(&mut self, sample: &Sample, value: [u32; 4]) {
        let level = if let Level::Replace(level) = sample.level { level as usize } else { 0 };
        let face = self.face(sample);
        let at = self.nearest(sample, level, &face);
        let index = self.index(level, at, face.layer);
        let texels = if level == 0 { Some(&mut self.texels) } else { self.levels.get_mut(level - 1) };
        if let Some(texel) = texels.and_then(|texels| texels.get_mut(index)) {
            *texel = value.map(f32::from_bits);
        }
    }

    /// The level of detail before clamping to the existing levels: the logarithm of the distance to the neighbouring
    /// pixel in texels.
    fn detail(&self, sample: &Sample) -> f64 {
        let detail = match sample.level {
            Level::Replace(level) => return f64::from(level),
            Level::Implicit | Level::Gradients => 0.0,
            Level::Bias(bias) => f64::from(bias),
        };
        let largest = sample.coordinates.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let extent = |i: usize| match (sample.texels || sample.integer, self.cube) {
            (true, _) => 1.0,
            // A face is two wide on a plane at distance one.
            (false, true) => f64::from(self.size[0].max(1)) / 2.0 / f64::from(largest.max(f32::MIN_POSITIVE)),
            (false, false) => f64::from(self.size[i].max(1)),
        };
        let used = sample.dimensions.clamp(1, 3) as usize;
        let length = |axis: usize| {
            (0..used).map(|i| (f64::from(sample.gradients[2 * i + axis]) * extent(i)).powi(2)).sum::<f64>()
        };
        let apart = length(0).max(length(1)).sqrt();
        detail + apart.log2() + f64::from(f32::from_bits(sample.sampler[1]))
    }

    /// The coordinates on a layer, and the layer.
    fn face(&self, sample: &Sample) -> Face {
        let bytes = self.size.iter().fold(16u64, |bytes, n| bytes.saturating_mul(u64::from((*n).max(1))));
        let addressed = sample.address.map(|at| (at.wrapping_sub(self.address) / bytes).min(u32::MAX.into()) as u32);
        let layer = addressed.or(sample.layer).unwrap_or(0);
        if !self.cube || sample.dimensions < 3 {
            return Face { layer, at: sample.coordinates };
        }
        let [x, y, z] = sample.coordinates;
        let (face, across, down, ahead) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
            if x >= 0.0 { (0, -z, -y, x) } else { (1, z, -y, -x) }
        } else if y.abs() >= z.abs() {
            if y >= 0.0 { (2, x, z, y) } else { (3, x, -z, -y) }
        } else if z >= 0.0 {
            (4, x, -y, z)
        } else {
            (5, -x, -y, -z)
        };
        let half = |t: f32| (t / ahead + 1.0) / 2.0;
        Face { layer: layer.saturating_mul(6).saturating_add(face), at: [half(across), half(down), 0.0] }
    }

    /// The position in texels of a level; integers are the edges of texels.
    fn place(&self, sample: &Sample, level: usize, face: &Face) -> [f64; 3] {
        let used = if self.cube { 2 } else { sample.dimensions.clamp(1, 3) as usize };
        let size = self.size_of(level);
        std::array::from_fn(|i| {
            if i >= used {
                return 0.5;
            }
            let x = face.at[i];
            let offset = f64::from(sample.offset[i]);
            match (sample.integer, sample.texels) {
                (true, _) => f64::from(x.to_bits() as i32) + 0.5 + offset,
                (false, true) => f64::from(x) + offset,
                (false, false) => f64::from(x) * f64::from(size[i]) + offset,
            }
        })
    }

    fn nearest(&self, sample: &Sample, level: usize, face: &Face) -> [u32; 3] {
        let (place, size) = (self.place(sample, level, face), self.size_of(level));
        std::array::from_fn(|i| wrap(place[i].floor() as i64, size[i], sample.sampler[0] >> 1 & 3))
    }

    /// The lowest texel that a linear filter uses, and the weight of the next one in each direction.
    fn footprint(&self, sample: &Sample, level: usize, face: &Face) -> ([i64; 3], [f32; 3]) {
        let place = self.place(sample, level, face);
        let low = place.map(|x| (x - 0.5).floor());
        // Positions beyond this range are clamped.
        let limit = f64::from(i32::MAX) * 4.0;
        (low.map(|x| x.clamp(-limit, limit) as i64), std::array::from_fn(|i| (place[i] - 0.5 - low[i]) as f32))
    }

    fn corner(&self, sample: &Sample, level: usize, at: [i64; 3], layer: u32) -> [f32; 4] {
        let size = self.size_of(level);
        self.texel(level, std::array::from_fn(|i| wrap(at[i], size[i], sample.sampler[0] >> 1 & 3)), layer)
    }

    fn at_level(&self, sample: &Sample, level: usize, of: &impl Fn([f32; 4]) -> [f32; 4]) -> [f32; 4] {
        let face = self.face(sample);
        if sample.integer || sample.sampler[0] & 1 == 0 {
            return of(self.texel(level, self.nearest(sample, level, &face), face.layer));
        }
        let (low, part) = self.footprint(sample, level, &face);
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let next: [i64; 3] = std::array::from_fn(|i| corner >> i & 1);
            let weight: f32 = (0..3).map(|i| if next[i] != 0 { part[i] } else { 1.0 - part[i] }).product();
            if weight > 0.0 {
                let texel = of(self.corner(sample, level, std::array::from_fn(|i| low[i] + next[i]), face.layer));
                sum = plus(sum, texel.map(|x| weight * x));
            }
        }
        sum
    }
}

/// A position on a layer.
struct Face {
    layer: u32,
    at: [f32; 3],
}

fn plus(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|c| a[c] + b[c])
}

/// Applies the wrap mode to a texel coordinate.
fn wrap(at: i64, size: u32, mode: u32) -> u32 {
    let size = i64::from(size.max(1));
    let at = match mode {
        1 => at.rem_euclid(size),
        2 => {
            let at = at.rem_euclid(2 * size);
            at.min(2 * size - 1 - at)
        }
        _ => at.clamp(0, size - 1),
    };
    at as u32
}

impl Default for Sample {
    fn default() -> Self {
        Sample {
            texture: [0; 4],
            sampler: [0; 4],
            dimensions: 2,
            coordinates: [0.0; 3],
            layer: None,
            level: Level::Implicit,
            gradients: [0.0; 6],
            reference: None,
            offset: [0; 3],
            sample: None,
            address: None,
            texels: false,
            integer: false,
            normalise: false,
        }
    }
}
