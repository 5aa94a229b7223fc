//! The framebuffer: coverage, blending, tiles, depth.

use isaforge_valhall::{Flow, RegisterList, Source};

use super::{Layout, blame};
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::lanes;

/// The row of a pixel index that means the current pixel.
const CURRENT: u32 = 255;

/// The render target in a pixel index: the sample is in bits 0 to 7, the target in 8 to 15, x and y above.
fn target(lane: usize, index: u32) -> Result<u32, Fault> {
    if index >> 24 != CURRENT {
        return Err(Fault::PixelIndex { lane, index });
    }
    Ok(index >> 8 & 0xff)
}

impl Step<'_> {
    /// Makes helpers of lanes.
    pub fn discard(&mut self, discarded: u16) -> Result<Control, Fault> {
        if !self.warp.draws {
            return Err(Fault::Unsupported("a discard outside a fragment program"));
        }
        self.warp.helpers |= discarded & self.warp.active;
        Ok(Control::Next)
    }

    /// Passes the coverage on as it is: alpha changes it only where there is more than one sample.
    pub fn test_alpha(&mut self, list: RegisterList, coverage: Source) {
        let coverage = self.word(coverage);
        for lane in lanes(self.warp.active) {
            self.put_words(list, 0, lane, &[coverage[lane]]);
        }
    }

    /// Writes depth or stencil or both, and passes the coverage on.
    pub fn emit_depth(
        &mut self,
        list: RegisterList,
        depth: Option<Source>,
        stencil: Option<Source>,
        coverage: Source,
    ) -> Control {
        let coverage = self.word(coverage);
        let (depth, stencil) = (depth.map(|source| self.word(source)), stencil.map(|source| self.word(source)));
        let drawing = self.drawing();
        for lane in lanes(self.warp.active) {
            if drawing >> lane & 1 != 0 && coverage[lane] != 0 {
                let pixel = self.warp.pixels[lane];
                if let Some(depth) = &depth {
                    self.space.host.set_depth(pixel, f32::from_bits(depth[lane]));
                }
                if let Some(stencil) = &stencil {
                    self.space.host.set_stencil(pixel, stencil[lane] & 0xff);
                }
            }
            self.put_words(list, 0, lane, &[coverage[lane]]);
        }
        Control::Next
    }

    /// Blends a colour into a render target. Then the thread ends, or jumps over the call of a blend shader, for there
    /// are none.
    pub fn blend_colour(
        &mut self,
        list: RegisterList,
        (descriptor, coverage): (Source, Source),
        (layout, count): (Layout, usize),
        skipped: u8,
        flow: Flow,
    ) -> Result<Control, Fault> {
        let (descriptors, coverage) = (self.pair(descriptor), self.word(coverage));
        for lane in lanes(self.drawing()) {
            // The low word of a descriptor is its number here.
            let (target, pixel) = (descriptors[lane] as u32, self.warp.pixels[lane]);
            let class = self.space.host.tile(target, pixel).map_err(blame(lane))?.class;
            let colour = self.take_texel(list, lane, layout, count, class);
            self.space.host.blend(target, pixel, coverage[lane], colour).map_err(blame(lane))?;
        }
        if flow == Flow::End || skipped == 0 {
            return Ok(Control::Next);
        }
        let target = i64::from(self.warp.pc) + 1 + i64::from(skipped);
        self.jump(self.warp.active, |_| Ok(target))
    }

    /// Loads the colour of the current pixel. The conversion descriptor does not matter, for the target has a format.
    pub fn load_tile(
        &mut self,
        list: RegisterList,
        index: Source,
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let indices = self.word(index);
        for lane in lanes(self.warp.active) {
            let pixel = self.warp.pixels[lane];
            let load = |target| self.space.host.tile(target, pixel).map(Some).map_err(blame(lane));
            if let Some(texel) = self.excused(lane, target(lane, indices[lane]).and_then(load))? {
                self.put_texel(list, 0, lane, layout, texel, 0..count);
            }
        }
        Ok(Control::Next)
    }

    /// Sets the colour of the current pixel.
    pub fn store_tile(
        &mut self,
        list: RegisterList,
        (index, coverage): (Source, Source),
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let (indices, coverage) = (self.word(index), self.word(coverage));
        for lane in lanes(self.drawing()).filter(|&lane| coverage[lane] != 0) {
            let (target, pixel) = (target(lane, indices[lane])?, self.warp.pixels[lane]);
            let class = self.space.host.tile(target, pixel).map_err(blame(lane))?.class;
            let colour = self.take_texel(list, lane, layout, count, class);
            self.space.host.set_tile(target, pixel, colour).map_err(blame(lane))?;
        }
        Ok(Control::Next)
    }
}
