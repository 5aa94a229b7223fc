//! Bands of rows of the targets: each can be drawn on by another thread.

use std::ops::Range;

use super::Host;
use super::error::HostError;
use super::format::{Class, Texel};
use super::resources::Resources;
use super::shared::inputs;
use super::target::{Rows, Target, find};
use super::together::{Blends, Lanes};

/// Implements the methods of hosts that access pixels, by `targets`, `depth` and `stencil`.
macro_rules! draws {
    () => {
        fn framebuffer_size(&self) -> [u32; 2] {
            self.targets.iter().flatten().map(|target| target.size()).next().unwrap_or_default()
        }

        fn samples(&self) -> u32 {
            self.targets.iter().flatten().map(|target| target.samples()).next().unwrap_or(1)
        }

        fn tile(&self, target: u32, pixel: [u32; 2], sample: u32) -> Result<Texel, HostError> {
            // Helper lanes may be outside.
            Ok(find(&self.targets, target)?.sample(pixel, sample).unwrap_or(Texel::floats([0.0; 4])))
        }

        fn set_tile(&mut self, target: u32, pixel: [u32; 2], sample: u32, colour: Texel) -> Result<(), HostError> {
            find(&self.targets, target)?;
            if let Some(Some(target)) = self.targets.get_mut(target as usize) {
                target.set_sample(pixel, sample, colour);
            }
            Ok(())
        }

        fn blend(&mut self, target: u32, pixel: [u32; 2], coverage: u32, colour: Texel) -> Result<(), HostError> {
            find(&self.targets, target)?;
            if let Some(Some(target)) = self.targets.get_mut(target as usize) {
                target.blend(pixel, coverage, colour);
            }
            Ok(())
        }

        fn depth(&self, pixel: [u32; 2]) -> Option<f32> {
            self.depth.as_ref()?.pixel(pixel).map(|texel| f32::from_bits(texel.to(Class::Float).channels[0]))
        }

        fn stencil(&self, pixel: [u32; 2]) -> Option<u32> {
            self.stencil.as_ref()?.pixel(pixel).map(|texel| texel.to(Class::Unsigned).channels[0])
        }

        fn set_depth(&mut self, pixel: [u32; 2], depth: f32) {
            if let Some(target) = &mut self.depth {
                target.draw(pixel, Texel::floats([depth; 4]));
            }
        }

        fn set_stencil(&mut self, pixel: [u32; 2], stencil: u32) {
            if let Some(target) = &mut self.stencil {
                target.draw(pixel, Texel { channels: [stencil; 4], class: Class::Unsigned });
            }
        }

        fn blend_together(&mut self, target: u32, blends: &Blends<'_>, before: &mut [Lanes<[u32; 4]>]) -> Option<()> {
            self.targets.get_mut(target as usize)?.as_mut()?.blend_together(blends, before)
        }
    };
}
pub(super) use draws;

/// Some rows of the targets, with everything that is only read.
#[derive(Debug)]
pub(in crate::valhall) struct Band<'h> {
    /// Resources without targets.
    inputs: &'h Resources,
    /// The rows.
    pub rows: Range<u32>,
    targets: Vec<Option<Target<Rows<'h>>>>,
    depth: Option<Target<Rows<'h>>>,
    stencil: Option<Target<Rows<'h>>>,
    /// The pixels of each target before something was drawn: a single one if all are the same.
    before: Vec<Vec<[u32; 4]>>,
}

impl<'h> Band<'h> {
    fn all(&mut self) -> impl Iterator<Item = &mut Target<Rows<'h>>> {
        self.targets.iter_mut().flatten().chain(&mut self.depth).chain(&mut self.stencil)
    }

    /// Remembers what the pixels are.
    pub fn save(&mut self) {
        let before = |pixels: &[[u32; 4]]| match pixels {
            [first, rest @ ..] if rest.iter().all(|pixel| pixel == first) => vec![*first],
            _ => pixels.to_vec(),
        };
        self.before = self.all().map(|target| before(target.pixels_mut())).collect();
    }

    /// Sets the pixels back to what they were when they were saved, if they were.
    pub fn take_back(&mut self) {
        let before = std::mem::take(&mut self.before);
        for (target, before) in self.all().zip(&before).filter(|(_, before)| !before.is_empty()) {
            target.pixels_mut().chunks_mut(before.len()).for_each(|pixels| pixels.copy_from_slice(before));
        }
    }
}

impl Host for Band<'_> {
    inputs!(inputs);
    draws!();
}

impl Resources {
    /// Splits the targets into bands of rows, each from one of `starts` to the next, and calls a function with them.
    pub(in crate::valhall) fn in_bands<R>(&mut self, starts: &[u32], draw: impl FnOnce(&mut [Band<'_>]) -> R) -> R {
        let mut targets = std::mem::take(&mut self.targets);
        let (mut depth, mut stencil) = (self.depth.take(), self.stencil.take());
        let result = {
            let mut targets: Vec<_> = targets.iter_mut().map(|target| split(target, starts)).collect();
            let (mut depth, mut stencil) = (split(&mut depth, starts), split(&mut stencil, starts));
            let bands = starts.iter().enumerate().map(|(band, &first)| Band {
                inputs: self,
                rows: first..starts.get(band + 1).copied().unwrap_or(u32::MAX),
                targets: targets.iter_mut().map(next).collect(),
                depth: next(&mut depth),
                stencil: next(&mut stencil),
                before: Vec::new(),
            });
            draw(&mut bands.collect::<Vec<_>>())
        };
        (self.targets, self.depth, self.stencil) = (targets, depth, stencil);
        result
    }
}

/// Splits a target, if there is one.
fn split<'a>(target: &'a mut Option<Target>, starts: &'a [u32]) -> Option<impl Iterator<Item = Target<Rows<'a>>>> {
    target.as_mut().map(|target| target.bands(starts))
}

/// Returns the next item, if there is anything to take it from.
fn next<I: Iterator>(from: &mut Option<I>) -> Option<I::Item> {
    from.as_mut()?.next()
}
