//! Requests of all lanes of some warps at once: the same results as lane by lane, in loops over lanes.
//!
//! - `look_up`: filtered look-ups in textures
//! - `colours`: the colours of lanes in formats of texels and pixels
//! - `texels`: texels in memory

mod colours;
mod look_up;
mod texels;

use super::handle::Handle;
use super::texture::Shape;
use super::varying::Component;
use crate::valhall::warp::LANES;
use crate::wide::{Wide, wide};

pub use colours::Blends;
pub(super) use colours::Replaced;

/// One value for each lane of a warp.
pub type Lanes<T> = [T; LANES];

/// The warps whose lanes are in the same loops; further ones follow.
const WARPS: usize = 8;

/// One value for each lane of these warps.
type Batch<T> = [T; WARPS * LANES];

/// Filtered look-ups of the lanes of some warps in one texture with one or two dimensions, as [`Lookup`](super::Lookup)
/// is one of a lane. Each list has an item for each warp.
#[derive(Clone, Copy, Debug)]
pub struct Lookups<'a> {
    /// The texture.
    pub texture: Handle,
    /// The sampler.
    pub sampler: Handle,
    /// The shape that the instruction assumes.
    pub shape: Shape,
    /// The lanes, lane 0 in bit 0.
    pub masks: &'a [u16],
    /// The bits of the normalised coordinates along x and y.
    pub at: [&'a [Lanes<u32>]; 2],
    /// The layers of an array.
    pub layer: Option<&'a [Lanes<i32>]>,
    /// Offsets in texels of the level, along x and y.
    pub offset: Option<[&'a [Lanes<i32>]; 2]>,
    /// The source of the level of detail.
    pub lod: Lods<'a>,
}

/// The sources of the levels of detail, as [`Lod`](super::Lod) is that of a lane.
#[derive(Clone, Copy, Debug)]
pub enum Lods<'a> {
    /// Level 0.
    Base,
    /// Given levels.
    Explicit(&'a [Lanes<f32>]),
    /// Computed from the differences of both coordinates within quads.
    Computed {
        /// The active lanes: a difference is 0 if one of its lanes is not among them.
        active: &'a [u16],
        /// The biases.
        bias: Option<&'a [Lanes<f32>]>,
    },
}

/// The positions at which the lanes of some warps interpolate, as [`Spot`](super::Spot) is that of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Spots<'a> {
    /// The pixels of each warp, their columns and their rows.
    pub pixels: [&'a [Lanes<u32>]; 2],
    /// The positions within the pixels, from their corners in 1/256 pixel: x in the low half, y in the high half.
    pub within: &'a [Lanes<u32>],
}

/// Applies a function to the values of each lane.
#[inline(always)]
fn both<A: Copy, B: Copy, R: Copy + Default>(a: &Lanes<A>, b: &Lanes<B>, f: impl Fn(A, B) -> R) -> Lanes<R> {
    let mut results = [R::default(); LANES];
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane]);
    }
    results
}

/// A component at positions in a primitive, and the results.
struct On<'a, 'f>(&'a Component, Spots<'a>, &'f mut [Lanes<u32>]);

impl Wide for On<'_, '_> {
    type Result = Option<()>;

    #[inline(always)]
    fn compute(self) -> Option<()> {
        let On(component, Spots { pixels: [columns, rows], within }, found) = self;
        for (found, ((column, row), within)) in found.iter_mut().zip(columns.iter().zip(rows).zip(within)) {
            // Pixels are below 2^31.
            let x = both(column, within, |x, within| x as i32 as f32 + f32::from(within as i16) / 256.0);
            let y = both(row, within, |y, within| y as i32 as f32 + f32::from((within >> 16) as i16) / 256.0);
            *found = match component {
                Component::Flat(bits) => [*bits; LANES],
                Component::Plane(plane) => both(&x, &y, |x, y| plane.at(x, y).to_bits()),
                Component::Perspective { value, reciprocal } => {
                    both(&x, &y, |x, y| value.quotient(reciprocal, x, y).to_bits())
                }
                Component::Pixels { .. } => return None,
            };
        }
        Some(())
    }
}

impl Component {
    /// Finds its bits at positions in the window. `None` if they must be taken pixel by pixel.
    pub(super) fn at_together(&self, spots: Spots<'_>, found: &mut [Lanes<u32>]) -> Option<()> {
        wide(On(self, spots, found))
    }
}
