//! Undoes what fragments after a failed one have drawn.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::valhall::launch::RunError;

use super::host::{Blends, Class, Host, HostError, Lanes, Texel, asks};
use super::warp::{LANES, lanes};

/// A host, and the values that fragments have overwritten on it.
#[derive(Debug)]
pub(super) struct Undo<'h> {
    host: &'h mut dyn Host,
    /// Colours with where they were, in the order in which they were overwritten.
    colours: Vec<(Sample, Texel)>,
    depths: FxHashMap<[u32; 2], f32>,
    stencils: FxHashMap<[u32; 2], u32>,
}

/// A target, a pixel, and a sample of it.
type Sample = (u32, [u32; 2], u32);

/// How many colours are kept before those that were overwritten again are dropped. Fewer samples than this are drawn at
/// once.
const MAX_COLOURS: usize = 1 << 16;

/// The order in which pixels are drawn: quads row by row, then the pixels of a quad.
fn order([x, y]: [u32; 2]) -> [u32; 4] {
    [y >> 1, x >> 1, y & 1, x & 1]
}

impl<'h> Undo<'h> {
    pub fn new(host: &'h mut dyn Host) -> Self {
        let (colours, depths, stencils) = Default::default();
        Undo { host, colours, depths, stencils }
    }

    /// Keeps everything that was drawn.
    pub fn keep(&mut self) {
        self.colours.clear();
        self.depths.clear();
        self.stencils.clear();
    }

    /// Restores what fragments after the failed one have overwritten since then. If only the failed warp is known,
    /// everything that this warp and later ones have overwritten is restored.
    pub fn take_back(&mut self, error: &RunError) {
        let Some(place) = error.place() else { return };
        let last = place.thread.map(|[x, y, _]| [x, y]);
        let [x, y, _] = place.group;
        let is_after = |pixel: [u32; 2]| match last {
            Some(last) => order(pixel) > order(last),
            None => order(pixel) >= order([x, y]),
        };
        // The first of several colours of a sample comes last.
        for ((target, pixel, sample), colour) in
            self.colours.drain(..).rev().filter(|&((_, pixel, _), _)| is_after(pixel))
        {
            // This cannot fail, since the target accepted a write before.
            let _ = self.host.set_tile(target, pixel, sample, colour);
        }
        for (pixel, depth) in self.depths.drain().filter(|&(pixel, _)| is_after(pixel)) {
            self.host.set_depth(pixel, depth);
        }
        for (pixel, stencil) in self.stencils.drain().filter(|&(pixel, _)| is_after(pixel)) {
            self.host.set_stencil(pixel, stencil);
        }
    }

    /// Drops colours that were drawn since.
    fn make_room(&mut self) {
        if self.colours.len() >= MAX_COLOURS {
            let mut known = FxHashSet::default();
            self.colours.retain(|(sample, _)| known.insert(*sample));
        }
    }

    fn remember(&mut self, target: u32, pixel: [u32; 2], sample: u32) {
        self.make_room();
        if let Ok(colour) = self.host.tile(target, pixel, sample) {
            self.colours.push(((target, pixel, sample), colour));
        }
    }
}

impl Host for Undo<'_> {
    asks!(host);

    fn set_tile(&mut self, target: u32, pixel: [u32; 2], sample: u32, colour: Texel) -> Result<(), HostError> {
        self.remember(target, pixel, sample);
        self.host.set_tile(target, pixel, sample, colour)
    }

    fn blend(&mut self, target: u32, pixel: [u32; 2], coverage: u32, colour: Texel) -> Result<(), HostError> {
        for sample in (0..self.host.samples()).filter(|sample| coverage >> sample & 1 != 0) {
            self.remember(target, pixel, sample);
        }
        self.host.blend(target, pixel, coverage, colour)
    }

    fn blend_together(&mut self, target: u32, blends: &Blends<'_>, before: &mut [Lanes<[u32; 4]>]) -> Option<()> {
        self.host.blend_together(target, blends, before)?;
        self.make_room();
        let [columns, rows] = blends.pixels;
        for ((mask, before), (column, row)) in blends.masks.iter().zip(before).zip(columns.iter().zip(rows)) {
            let overwritten = |lane: usize| {
                ((target, [column[lane], row[lane]], 0), Texel { channels: before[lane], class: Class::Float })
            };
            match *mask {
                u16::MAX => self.colours.extend((0..LANES).map(overwritten)),
                mask => self.colours.extend(lanes(mask).map(overwritten)),
            }
        }
        Some(())
    }

    fn set_depth(&mut self, pixel: [u32; 2], depth: f32) {
        if let Some(before) = self.host.depth(pixel) {
            self.depths.entry(pixel).or_insert(before);
        }
        self.host.set_depth(pixel, depth);
    }

    fn set_stencil(&mut self, pixel: [u32; 2], stencil: u32) {
        if let Some(before) = self.host.stencil(pixel) {
            self.stencils.entry(pixel).or_insert(before);
        }
        self.host.set_stencil(pixel, stencil);
    }
}
