//! Accesses to varyings.

use isaforge_valhall::RegisterList;

use super::{Layout, blame};
use crate::valhall::host::{HostError, Spot, Texel, VaryingSource};
use crate::valhall::step::{Fault, Step};

impl Step<'_> {
    /// Decodes a position in the pixel of a lane: x in the low half, y in the high half.
    fn spot(&self, lane: usize, place: u32) -> Spot {
        Spot { pixel: self.warp.pixels[lane], within: [place as i16, (place >> 16) as i16] }
    }

    /// Returns the bits of a component of a varying.
    pub fn varying(&self, lane: usize, source: VaryingSource, component: u32, place: u32) -> Result<u32, Fault> {
        let found = self.space.host.varying(source, component, self.spot(lane, place));
        self.excused(lane, found.map_err(blame(lane)))
    }

    /// Writes a special varying: point coordinates, w or depth.
    pub fn special_varying(
        &mut self,
        list: RegisterList,
        lane: usize,
        index: u32,
        place: u32,
        (layout, count): (Layout, usize),
    ) -> Result<(), Fault> {
        let spot = self.spot(lane, place);
        let [z, w] = self.space.host.depth_and_w(spot);
        let values = match index {
            0 | 1 => {
                let [s, t] = self.space.host.place_in_point(spot);
                [s, t, 0.0, 0.0]
            }
            2 => [w, 0.0, 0.0, 0.0],
            3 => [z, 0.0, 0.0, 0.0],
            _ => return Err(blame(lane)(HostError::Special { index: index as u8 })),
        };
        self.put_texel(list, 0, lane, layout, Texel::floats(values), 0..count);
        Ok(())
    }
}
