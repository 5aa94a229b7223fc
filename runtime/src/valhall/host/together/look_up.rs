//! Filtered look-ups of several warps in one texture. Each step of the computation is a loop over all lanes.

use std::ops::Range;

use super::{Batch, Lanes, Lods, Lookups, WARPS};
use crate::valhall::host::format::{Class, Format, fraction};
use crate::valhall::host::sample::{Choice, between, logarithm, nearest};
use crate::valhall::host::texture::{Filter, Sampler, Shape, Texture, Wrap};
use crate::valhall::warp::{LANES, lanes, mask_of};
use crate::wide::{Wide, truncated, wide};

/// Four channels.
type Channels = [Batch<f32>; 4];

/// The highest coordinate in texels for which sums and products do not overflow.
const FAR: i32 = 1 << 28;

/// Look-ups in a texture, and the channels that they find in each warp.
struct Looking<'a, 'f> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    lookups: &'a Lookups<'a>,
    found: &'f mut [[Lanes<u32>; 4]],
}

impl Texture {
    /// Performs look-ups. `None` if they must be performed lane by lane.
    pub(in crate::valhall::host) fn look_up_together(
        &self,
        sampler: &Sampler,
        lookups: &Lookups<'_>,
        found: &mut [[Lanes<u32>; 4]],
    ) -> Option<()> {
        let is_flat = matches!(self.shape(), Shape::One | Shape::Two);
        let is_small = u32::try_from(self.bytes(0).len()).is_ok();
        if !is_flat || !is_small || self.format().class() != Class::Float {
            return None;
        }
        wide(Looking { texture: self, sampler, lookups, found })
    }
}

impl Wide for Looking<'_, '_> {
    type Result = Option<()>;

    #[inline(always)]
    fn compute(self) -> Option<()> {
        let Looking { texture, sampler, lookups, found } = self;
        let (levels, is_plain) = (texture.levels(), sampler.mip.is_none() && sampler.min == sampler.mag);
        let axis = Axis { low: [0; _], part: [0.0; _], wrapped: [[0; _]; 2] };
        let (words, none) = ([[0; _]; 4], [[0.0; _]; 4]);
        let mut steps = Steps {
            texture,
            sampler,
            axes: [axis; 2],
            layer: [0; _],
            words,
            texels: none,
            above: none,
            found: [none; 2],
        };
        let (mut lods, mut parts, mut keys) = ([0.0; WARPS * LANES], [0.0; WARPS * LANES], [0; WARPS * LANES]);
        for (batch, found) in found.chunks_mut(WARPS).enumerate() {
            let lookups = lookups.of(batch * WARPS..batch * WARPS + found.len());
            if !is_plain {
                steps.lods(&lookups, &mut lods);
                choose(sampler, levels, &lods, &mut keys, &mut parts);
            }
            let mut left = [0; WARPS];
            left.iter_mut().zip(lookups.masks).for_each(|(left, mask)| *left = *mask);
            while let Some(first) = left.iter().position(|left| *left != 0) {
                let lane = first * LANES + left[first].trailing_zeros() as usize;
                let choice = match is_plain {
                    true => Choice { filter: sampler.min, level: 0, next: false },
                    false => sampler.choice(lods[lane], levels).0,
                };
                let (warps, alike) = alike(&left, &keys, lane, found.len());
                let lookups = lookups.of(warps.clone());
                for further in 0..=usize::from(choice.next) {
                    steps.level(&lookups, &alike[warps.clone()], choice.filter, (choice.level + further, further))?;
                }
                if choice.next {
                    steps.mix(&parts[warps.start * LANES..]);
                }
                let masks = lookups.masks.iter().zip(&alike[warps.clone()]);
                for (warp, (found, (all, mask))) in found[warps].iter_mut().zip(masks).enumerate() {
                    for (found, channel) in found.iter_mut().zip(&steps.found[0]) {
                        let channel = &channel.as_chunks::<LANES>().0[warp];
                        match mask == all {
                            true => *found = channel.map(f32::to_bits),
                            false => lanes(*mask).for_each(|lane| found[lane] = channel[lane].to_bits()),
                        }
                    }
                }
                for (left, alike) in left.iter_mut().zip(alike) {
                    *left &= !alike;
                }
            }
        }
        Some(())
    }
}

/// Returns the warps to look up at once, and their lanes, which choose what `lane` does: those of all `warps` if they
/// are all that is left, otherwise those of its warp.
#[inline(always)]
fn alike(left: &[u16; WARPS], keys: &Batch<u32>, lane: usize, warps: usize) -> (Range<usize>, [u16; WARPS]) {
    let (first, key) = (lane / LANES, keys[lane]);
    let mut alike = *left;
    for (alike, keys) in alike.iter_mut().zip(keys.as_chunks::<LANES>().0) {
        *alike &= mask_of(|lane| keys[lane] == key);
    }
    if alike == *left {
        return (first..warps, alike);
    }
    let mut only = [0; WARPS];
    only[first] = alike[first];
    (first..first + 1, only)
}

/// Sets what levels of detail choose: equal keys stand for equal choices.
#[inline(always)]
fn choose(sampler: &Sampler, levels: usize, lods: &Batch<f32>, keys: &mut Batch<u32>, parts: &mut Batch<f32>) {
    #[inline(always)]
    fn each(lods: &Batch<f32>, keys: &mut Batch<u32>, parts: &mut Batch<f32>, of: impl Fn(f32) -> (u32, f32)) {
        lods.iter().zip(keys.iter_mut().zip(parts)).for_each(|(lod, (key, part))| (*key, *part) = of(*lod));
    }
    let (last, [mag, min]) = ((levels - 1) as f32, [sampler.mag, sampler.min].map(|filter| filter as u32));
    let of = |lod: f32, mip: Option<Filter>| {
        let (level, part) = nearest(mip, lod, last);
        let filter = if lod <= 0.0 { mag } else { min };
        ((truncated(level) as u32) << 2 | u32::from(part != 0.0) << 1 | filter, part)
    };
    // A loop for each filter, so that none chooses one lane by lane.
    match sampler.mip {
        None => each(lods, keys, parts, |lod| of(lod, None)),
        Some(Filter::Nearest) => each(lods, keys, parts, |lod| of(lod, Some(Filter::Nearest))),
        Some(Filter::Linear) => each(lods, keys, parts, |lod| of(lod, Some(Filter::Linear))),
    }
}

impl<'a> Lookups<'a> {
    /// Returns those of some of the warps.
    #[inline(always)]
    fn of(&self, warps: Range<usize>) -> Lookups<'a> {
        #[inline(always)]
        fn of<T>(list: &[T], warps: Range<usize>) -> &[T] {
            list.get(warps).unwrap_or_default()
        }
        Lookups {
            masks: of(self.masks, warps.clone()),
            at: self.at.map(|at| of(at, warps.clone())),
            layer: self.layer.map(|layer| of(layer, warps.clone())),
            offset: self.offset.map(|offset| offset.map(|offset| of(offset, warps.clone()))),
            lod: match self.lod {
                Lods::Base => Lods::Base,
                Lods::Explicit(levels) => Lods::Explicit(of(levels, warps)),
                Lods::Computed { active, bias } => {
                    Lods::Computed { active: of(active, warps.clone()), bias: bias.map(|bias| of(bias, warps)) }
                }
            },
            ..*self
        }
    }
}

/// Texels along an axis.
#[derive(Clone, Copy)]
struct Axis {
    /// The lowest texel that a filter uses, and the distance from it.
    low: Batch<i32>,
    part: Batch<f32>,
    /// This texel and the next one, wrapped.
    wrapped: [Batch<i32>; 2],
}

/// The values of each step.
struct Steps<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    axes: [Axis; 2],
    /// The first row of the layer.
    layer: Batch<u32>,
    /// The texels at the corners, or their numbers: bottom left and right, top left and right.
    words: [Batch<u32>; 4],
    /// The channels of texels at a corner, and those of the row above the first.
    texels: Channels,
    above: Channels,
    /// The filtered texels of a level and of the next.
    found: [Channels; 2],
}

impl Steps<'_> {
    /// Computes the levels of detail.
    #[inline(always)]
    fn lods(&self, lookups: &Lookups<'_>, lods: &mut Batch<f32>) {
        let [least, greatest] = self.sampler.lod_range;
        let limited = |level: f32| (level + self.sampler.lod_bias).max(least).min(greatest);
        let (active, bias) = match lookups.lod {
            Lods::Base => return lods.fill(0.0),
            Lods::Explicit(levels) => {
                let levels = lods.iter_mut().zip(levels.as_flattened());
                return levels.for_each(|(lod, level)| *lod = limited(*level));
            }
            Lods::Computed { active, bias } => (active, bias),
        };
        let size = self.texture.size_of(0);
        // The squares of the lengths of the derivatives along x and y, in texels.
        let mut squares = [[0.0; WARPS * LANES]; 2];
        for (at, size) in lookups.at.iter().zip(size) {
            for ((bit, squares), n) in [1, 2].into_iter().zip(&mut squares).zip([size as f32; 2]) {
                let warps = squares.as_chunks_mut::<LANES>().0.iter_mut();
                for ((squares, at), active) in warps.zip(*at).zip(active) {
                    let change = difference(at, bit, *active);
                    for (square, d) in squares.iter_mut().zip(change) {
                        *square += (d * n) * (d * n);
                    }
                }
            }
        }
        let [across, up] = &squares;
        for (lod, (across, up)) in lods.iter_mut().zip(across.iter().zip(up)) {
            *lod = logarithm(across.max(*up)) * 0.5;
        }
        if let Some(bias) = bias {
            lods.iter_mut().zip(bias.as_flattened()).for_each(|(lod, bias)| *lod += bias);
        }
        lods.iter_mut().for_each(|lod| *lod = limited(*lod));
    }

    /// Finds the filtered texels of a level. `None` if some in the lanes of `masks` are too far away.
    #[inline(always)]
    fn level(
        &mut self,
        lookups: &Lookups<'_>,
        masks: &[u16],
        filter: Filter,
        (level, to): (usize, usize),
    ) -> Option<()> {
        let lanes = masks.len() * LANES;
        let [width, height, _] = self.texture.size_of(level);
        let [s, t, _] = self.sampler.wrap;
        let is_linear = filter == Filter::Linear;
        let is_line = self.texture.shape() == Shape::One;
        for (axis, (n, wrap)) in [(width, s), (height, t)].into_iter().enumerate().take(if is_line { 1 } else { 2 }) {
            let Axis { low, part, wrapped } = &mut self.axes[axis];
            let at = lookups.at[axis].as_flattened();
            let offset = lookups.offset.map(|offset| offset[axis].as_flattened());
            place(at, n as f32, if is_linear { 0.5 } else { 0.0 }, masks, (low, part))?;
            if let Some(offset) = offset {
                low.iter_mut().zip(offset).for_each(|(low, offset)| *low += offset.clamp(&-FAR, &FAR));
            }
            for (plus, wrapped) in (0..).zip(wrapped).take(if is_linear { 2 } else { 1 }) {
                wrap_all(wrap, n as i32, plus, &low[..lanes], wrapped);
            }
        }
        let layers = self.texture.layers() as i32 - 1;
        if let Some(layer) = lookups.layer {
            let first = self.layer.iter_mut().zip(layer.as_flattened());
            first.for_each(|(first, layer)| *first = (*layer).max(0).min(layers) as u32 * height);
        }
        let corners = match (is_linear, is_line) {
            (false, _) => 1,
            (true, true) => 2,
            (true, false) => 4,
        };
        let has_border = [s, t].contains(&Wrap::Border);
        let is_quick = self.texture.format() == Format::RGBA8 && !has_border && corners == 4;
        for corner in 0..corners {
            let words = &mut self.words[corner];
            let [Axis { wrapped: columns, .. }, Axis { wrapped: rows, .. }] = &self.axes;
            let (column, row) = (&columns[corner % 2][..lanes], &rows[corner / 2]);
            for ((word, first), (column, row)) in words.iter_mut().zip(&self.layer).zip(column.iter().zip(row)) {
                // Textures are so small that this does not wrap.
                *word = first.wrapping_add(*row as u32).wrapping_mul(width).wrapping_add(*column as u32);
            }
            if self.texture.format() == Format::RGBA8 {
                let (texels, _) = self.texture.bytes(level).as_chunks::<4>();
                let last = texels.len().checked_sub(1)?;
                for word in &mut words[..lanes] {
                    // All of them exist, but this way it need not be checked.
                    *word = u32::from_le_bytes(texels[last.min(*word as usize)]);
                }
            }
            if !is_quick {
                self.decode(level, corner, lanes);
                self.add(corner, to, lanes);
            }
        }
        if is_quick {
            let [Axis { part: across, .. }, Axis { part: up, .. }] = &self.axes;
            filtered(&self.words, (&across[..lanes], up), &mut self.found[to]);
        }
        Some(())
    }

    /// Adds the texels at a corner to the filtered ones.
    #[inline(always)]
    fn add(&mut self, corner: usize, to: usize, lanes: usize) {
        let [Axis { part: across, .. }, Axis { part: up, .. }] = &self.axes;
        let Steps { texels, above, found, .. } = self;
        for ((texels, above), found) in texels.iter().zip(above).zip(&mut found[to]) {
            let (texels, across, up) = (&texels[..lanes], &across[..lanes], &up[..lanes]);
            let (above, found) = (&mut above[..lanes], &mut found[..lanes]);
            for lane in 0..lanes {
                match corner {
                    0 => found[lane] = texels[lane],
                    1 => found[lane] = between(found[lane], texels[lane], across[lane]),
                    2 => above[lane] = texels[lane],
                    _ => {
                        let above = between(above[lane], texels[lane], across[lane]);
                        found[lane] = between(found[lane], above, up[lane]);
                    }
                }
            }
        }
    }

    /// Mixes the filtered texels of a level with those of the next.
    #[inline(always)]
    fn mix(&mut self, parts: &[f32]) {
        let [found, next] = &mut self.found;
        for (found, next) in found.iter_mut().zip(next) {
            for ((low, high), part) in found.iter_mut().zip(next).zip(parts) {
                *low = between(*low, *high, *part);
            }
        }
    }

    /// Decodes the texels at a corner; beyond the edges they are the border.
    #[inline(always)]
    fn decode(&mut self, level: usize, corner: usize, lanes: usize) {
        let (format, bytes) = (self.texture.format(), self.texture.bytes(level));
        let (words, texels) = (&self.words[corner], &mut self.texels);
        if format == Format::RGBA8 {
            for (channel, texels) in texels.iter_mut().enumerate() {
                for (texel, word) in texels.iter_mut().zip(&words[..lanes]) {
                    *texel = fraction(word >> (8 * channel) & 0xff);
                }
            }
        } else {
            for (lane, index) in words[..lanes].iter().enumerate() {
                let start = *index as usize * format.size();
                let texel = format.decode(bytes.get(start..start + format.size()).unwrap_or_default());
                (0..4).for_each(|channel| texels[channel][lane] = f32::from_bits(texel.channels[channel]));
            }
        }
        let border = format.complete(self.sampler.border).channels.map(f32::from_bits);
        let size = self.texture.size_of(level);
        for (axis, plus) in [corner % 2, corner / 2].into_iter().enumerate() {
            if self.sampler.wrap[axis] != Wrap::Border || axis == 1 && self.texture.shape() == Shape::One {
                continue;
            }
            for (lane, low) in self.axes[axis].low[..lanes].iter().enumerate() {
                let at = low + plus as i32;
                if at < 0 || at >= size[axis] as i32 {
                    (0..4).for_each(|channel| texels[channel][lane] = border[channel]);
                }
            }
        }
    }
}

/// Returns the difference of a coordinate between the two lanes of a quad whose numbers differ in `bit`; 0 if one of
/// them is not active.
#[inline(always)]
fn difference(at: &Lanes<u32>, bit: usize, active: u16) -> Lanes<f32> {
    let mut difference = [0.0; LANES];
    for lane in 0..LANES {
        difference[lane] = f32::from_bits(at[lane | bit]) - f32::from_bits(at[lane & !bit]);
    }
    if active != u16::MAX {
        for (lane, difference) in difference.iter_mut().enumerate() {
            if active >> (lane & !bit) & active >> (lane | bit) & 1 == 0 {
                *difference = 0.0;
            }
        }
    }
    difference
}

/// Finds the lowest texels along an axis of `n` texels, and the distances from them. `None` if some in the lanes of
/// `masks` are too far away.
#[inline(always)]
fn place(at: &[u32], n: f32, half: f32, masks: &[u16], (low, part): (&mut Batch<i32>, &mut Batch<f32>)) -> Option<()> {
    let mut far = 0;
    for ((at, low), part) in at.iter().zip(low.iter_mut()).zip(part.iter_mut()) {
        let at = f32::from_bits(*at) * n - half;
        let floor = at.floor();
        far |= u32::from(floor.abs() >= FAR as f32 || floor.is_nan());
        (*low, *part) = (truncated(floor), at - floor);
    }
    let is_far = |(lane, at): (usize, &u32)| {
        let floor = (f32::from_bits(*at) * n - half).floor();
        masks[lane / LANES] >> (lane % LANES) & 1 != 0 && (floor.abs() >= FAR as f32 || floor.is_nan())
    };
    (far == 0 || !at.iter().enumerate().any(is_far)).then_some(())
}

/// Wraps texels of `n`, `plus` some, to those that exist; beyond a border to the nearest.
#[inline(always)]
fn wrap_all(wrap: Wrap, n: i32, plus: i32, at: &[i32], to: &mut Batch<i32>) {
    #[inline(always)]
    fn each(at: &[i32], to: &mut Batch<i32>, f: impl Fn(i32) -> i32) {
        at.iter().zip(to).for_each(|(at, to)| *to = f(*at));
    }
    let is_power = n & (n - 1) == 0;
    match wrap {
        Wrap::Clamp | Wrap::Border => each(at, to, |at| (at + plus).max(0).min(n - 1)),
        Wrap::Repeat if is_power => each(at, to, |at| (at + plus) & (n - 1)),
        Wrap::Repeat => each(at, to, |at| (at + plus).rem_euclid(n)),
        Wrap::Mirror => each(at, to, |at| {
            let at = if is_power { (at + plus) & (2 * n - 1) } else { (at + plus).rem_euclid(2 * n) };
            at.min(2 * n - 1 - at)
        }),
        Wrap::MirrorOnce => each(at, to, |at| if at + plus < 0 { -1 - at - plus } else { at + plus }.min(n - 1)),
    }
}

/// Mixes four texels of four bytes.
#[inline(always)]
fn filtered([a, b, c, d]: &[Batch<u32>; 4], (across, up): (&[f32], &Batch<f32>), found: &mut Channels) {
    for (channel, found) in found.iter_mut().enumerate() {
        let value = |word: &u32| fraction(word >> (8 * channel) & 0xff);
        let corners = a.iter().zip(b).zip(c.iter().zip(d));
        for ((found, ((a, b), (c, d))), (across, up)) in found.iter_mut().zip(corners).zip(across.iter().zip(up)) {
            let [a, b, c, d] = [a, b, c, d].map(value);
            // Texels are numbers, and distances as well.
            let (low, high) = (a + (b - a) * across, c + (d - c) * across);
            *found = low + (high - low) * up;
        }
    }
}
