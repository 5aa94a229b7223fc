//! Textures of the software host.
//!
//! The layout of the hardware's state words is not part of this instruction set. Here word 0 of a texture's state is its
//! number, and word 0 of a sampler's state says: bit 0 linear filter, bits 2..1 what happens outside (0 clamps to the
//! edge, 1 repeats, 2 mirrors), bits 5..3 how a reference compares (as in [`alpha_passes`]).

use crate::usc::host::{Level, Sample, alpha_passes};

/// A texture of floats, level 0 only, its layers one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// Texels in each direction; 1 where it has no extent.
    pub size: [u32; 3],
    /// Layers; at least 1.
    pub layers: u32,
    /// Texels, rows first, then slices, then layers. Missing ones are 0.
    pub texels: Vec<[f32; 4]>,
}

impl Texture {
    /// A texture of one layer.
    pub fn new(width: u32, height: u32, texels: Vec<[f32; 4]>) -> Texture {
        Texture { size: [width.max(1), height.max(1), 1], layers: 1, texels }
    }

    fn texel(&self, at: [u32; 3], layer: u32) -> [f32; 4] {
        self.texels.get(self.index(at, layer)).copied().unwrap_or_default()
    }

    fn index(&self, [x, y, z]: [u32; 3], layer: u32) -> usize {
        let [w, h, d] = self.size.map(|n| n.max(1) as usize);
        let layer = layer.min(self.layers.saturating_sub(1)) as usize;
        (((layer * d + z as usize) * h) + y as usize) * w + x as usize
    }

    /// How many texels lie before one, rows first, then slices or layers; and whether there is no such texel.
    pub(super) fn offset_of(&self, [x, y, layer]: [u32; 3]) -> (u64, bool) {
        let [w, h, d] = self.size.map(|n| n.max(1));
        let outside = x >= w || y >= h || layer >= d.max(self.layers);
        let row = u64::from(layer).wrapping_mul(h.into()).wrapping_add(y.into());
        (row.wrapping_mul(w.into()).wrapping_add(x.into()), outside)
    }

    /// The bits of what a sample gives: four floats, or the comparison's result in each.
    pub fn sample(&self, sample: &Sample) -> [u32; 4] {
        let state = sample.sampler[0];
        let layer = sample.layer.unwrap_or(0);
        let compared = |texel: [f32; 4]| match sample.reference {
            Some(reference) => {
                let passes = alpha_passes(texel[0].to_bits(), reference.to_bits(), state >> 3 & 7);
                [if passes { 1.0 } else { 0.0 }; 4]
            }
            None => texel,
        };
        let value = if sample.integer || state & 1 == 0 {
            compared(self.texel(self.nearest(sample), layer))
        } else {
            self.linear(sample, layer, compared)
        };
        value.map(f32::to_bits)
    }

    /// Replaces the texel at whole coordinates; outside nothing happens.
    pub fn write(&mut self, sample: &Sample, value: [u32; 4]) {
        let at = self.nearest(sample);
        let index = self.index(at, sample.layer.unwrap_or(0));
        if let Some(texel) = self.texels.get_mut(index) {
            *texel = value.map(f32::from_bits);
        }
    }

    /// The place in texels, of which whole numbers are edges.
    fn place(&self, sample: &Sample) -> [f64; 3] {
        let used = sample.dimensions.clamp(1, 3) as usize;
        std::array::from_fn(|i| {
            if i >= used {
                return 0.5;
            }
            let x = sample.coordinates[i];
            let offset = f64::from(sample.offset[i]);
            match (sample.integer, sample.texels) {
                (true, _) => f64::from(x.to_bits() as i32) + 0.5 + offset,
                (false, true) => f64::from(x) + offset,
                (false, false) => f64::from(x) * f64::from(self.size[i].max(1)) + offset,
            }
        })
    }

    fn nearest(&self, sample: &Sample) -> [u32; 3] {
        let place = self.place(sample);
        std::array::from_fn(|i| wrap(place[i].floor() as i64, self.size[i], sample.sampler[0] >> 1 & 3))
    }

    fn linear(&self, sample: &Sample, layer: u32, of: impl Fn([f32; 4]) -> [f32; 4]) -> [f32; 4] {
        let place = self.place(sample);
        let low = place.map(|x| (x - 0.5).floor());
        let part: [f32; 3] = std::array::from_fn(|i| (place[i] - 0.5 - low[i]) as f32);
        let mode = sample.sampler[0] >> 1 & 3;
        let mut sum = [0.0; 4];
        for corner in 0..8u32 {
            let weight: f32 = (0..3).map(|i| if corner >> i & 1 != 0 { part[i] } else { 1.0 - part[i] }).product();
            if weight > 0.0 {
                let at = std::array::from_fn(|i| {
                    wrap((low[i] as i64).saturating_add(i64::from(corner >> i & 1)), self.size[i], mode)
                });
                let texel = of(self.texel(at, layer));
                sum = std::array::from_fn(|c| sum[c] + weight * texel[c]);
            }
        }
        sum
    }
}

/// Where a texel outside lies.
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
