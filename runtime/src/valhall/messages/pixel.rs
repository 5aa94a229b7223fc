//! Accesses to the framebuffer: blending and tiles.

use isaforge_valhall::RegisterList;

use super::{Layout, blame};
use crate::valhall::step::{Fault, Step};

/// The row of a pixel index that stands for the current pixel.
const CURRENT: u32 = 255;

/// Decodes the render target and the sample of a pixel index: the sample is in bits 0 to 7, the target in 8 to 15, x
/// and y above.
fn target(lane: usize, index: u32) -> Result<(u32, u32), Fault> {
    if index >> 24 != CURRENT {
        return Err(Fault::PixelIndex { lane, index });
    }
    Ok((index >> 8 & 0xff, index & 0xff))
}

impl Step<'_> {
    /// Blends a colour into a render target.
    pub fn blend(
        &mut self,
        list: RegisterList,
        lane: usize,
        (target, coverage): (u32, u32),
        (layout, count): (Layout, usize),
    ) -> Result<(), Fault> {
        let pixel = self.warp.pixels[lane];
        let class = self.space.host.tile(target, pixel, 0).map_err(blame(lane))?.class;
        let colour = self.take_texel(list, lane, layout, count, class);
        self.space.host.blend(target, pixel, coverage, colour).map_err(blame(lane))
    }

    /// Loads the colour of the current pixel. The conversion descriptor is ignored, since the target has a format.
    pub fn load_tile(
        &mut self,
        list: RegisterList,
        lane: usize,
        index: u32,
        (layout, count): (Layout, usize),
    ) -> Result<(), Fault> {
        let pixel = self.warp.pixels[lane];
        let load = |(target, sample)| self.space.host.tile(target, pixel, sample).map(Some).map_err(blame(lane));
        if let Some(texel) = self.excused(lane, target(lane, index).and_then(load))? {
            self.put_texel(list, 0, lane, layout, texel, 0..count);
        }
        Ok(())
    }

    /// Stores the colour of the current pixel.
    pub fn store_tile(
        &mut self,
        list: RegisterList,
        lane: usize,
        index: u32,
        (layout, count): (Layout, usize),
    ) -> Result<(), Fault> {
        let ((target, sample), pixel) = (target(lane, index)?, self.warp.pixels[lane]);
        let class = self.space.host.tile(target, pixel, sample).map_err(blame(lane))?.class;
        let colour = self.take_texel(list, lane, layout, count, class);
        self.space.host.set_tile(target, pixel, sample, colour).map_err(blame(lane))
    }
}
