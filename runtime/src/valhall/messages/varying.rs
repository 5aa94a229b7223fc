//! Varyings.

use isaforge_valhall::{RegisterList, SampleAndUpdateMode, SampleMode, Source, SourceFormat, UpdateMode};

use super::{Layout, blame, narrow};
use crate::valhall::host::{Class, HostError, Spot, VaryingSource};
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::{Column, lanes};

/// Where in its pixel a lane wants a varying, and what becomes of that place.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Interpolation {
    sample: SampleMode,
    update: UpdateMode,
    /// Names the place when it is explicit.
    place: Option<Source>,
}

impl Interpolation {
    pub fn new(sample: SampleMode, update: UpdateMode, place: Source) -> Self {
        Interpolation { sample, update, place: Some(place) }
    }
}

impl From<SampleAndUpdateMode> for Interpolation {
    /// There is no operand for an explicit place; it is the centre then.
    fn from(mode: SampleAndUpdateMode) -> Self {
        let (sample, update) = match mode {
            SampleAndUpdateMode::CenterStore => (SampleMode::Center, UpdateMode::Store),
            SampleAndUpdateMode::CentroidStore => (SampleMode::Centroid, UpdateMode::Store),
            SampleAndUpdateMode::SampleStore => (SampleMode::Sample, UpdateMode::Store),
            SampleAndUpdateMode::ExplicitStore => (SampleMode::Explicit, UpdateMode::Store),
            SampleAndUpdateMode::CenterClobber => (SampleMode::Center, UpdateMode::Clobber),
            SampleAndUpdateMode::SampleClobber => (SampleMode::Sample, UpdateMode::Clobber),
            SampleAndUpdateMode::Retrieve => (SampleMode::Center, UpdateMode::Retrieve),
        };
        Interpolation { sample, update, place: None }
    }
}

impl Step<'_> {
    /// Where each lane wants a varying; remembers it as the instruction says.
    pub(super) fn spots(&mut self, how: Interpolation) -> Column<Spot> {
        // With one sample a pixel, the centre is the only sample and the centroid.
        let places = match (how.update, how.sample, how.place) {
            (UpdateMode::Retrieve, ..) => self.warp.places,
            (_, SampleMode::Explicit, Some(place)) => self.word(place).map(|word| [word as i16, (word >> 16) as i16]),
            _ => [[128; 2]; 16],
        };
        for lane in lanes(self.warp.active) {
            self.warp.places[lane] = if how.update == UpdateMode::Clobber { [128; 2] } else { places[lane] };
        }
        std::array::from_fn(|lane| Spot { pixel: self.warp.pixels[lane], within: places[lane] })
    }

    /// The bits of a component of a varying in a lane.
    pub(super) fn component(
        &self,
        lane: usize,
        source: VaryingSource,
        component: usize,
        spot: Spot,
    ) -> Result<u32, Fault> {
        // Components are few.
        self.excused(lane, self.space.host.varying(source, component as u32, spot).map_err(blame(lane)))
    }

    /// Interpolates `count` components of a varying. Into halves, floats are rounded and other bits cut off.
    pub fn varying(
        &mut self,
        list: RegisterList,
        sources: &Column<VaryingSource>,
        how: Interpolation,
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let spots = self.spots(how);
        for lane in lanes(self.warp.active) {
            let component = |c: usize| self.component(lane, sources[lane], c, spots[lane]);
            let words = (0..count).map(component).collect::<Result<Vec<u32>, Fault>>()?;
            if !layout.half {
                self.put_words(list, 0, lane, &words);
                continue;
            }
            let half =
                |&word: &u32| if layout.class == Some(Class::Float) { narrow(Class::Float, word) } else { word as u16 };
            let halves: Vec<u16> = words.iter().map(half).collect();
            self.put_packed(list, 0, lane, &halves);
        }
        Ok(Control::Next)
    }

    /// Interpolates a varying in the buffer of the vertices. Floats go into registers or are rounded into halves, flat
    /// values go there as they are.
    pub fn buffer_varying(
        &mut self,
        list: RegisterList,
        bytes: &Column,
        (format, half): (SourceFormat, bool),
        how: Interpolation,
        count: usize,
    ) -> Result<Control, Fault> {
        let (flat, narrow) = match format {
            SourceFormat::SrcFlat32 => (true, false),
            SourceFormat::SrcFlat16 => (true, true),
            SourceFormat::SrcF32 => (false, false),
            SourceFormat::SrcF16 => (false, true),
        };
        let sources = bytes.map(|byte| VaryingSource::Buffer { byte, half: narrow });
        let class = if flat { Class::Unsigned } else { Class::Float };
        self.varying(list, &sources, how, Layout { class: Some(class), half }, count)
    }

    /// Fetches a varying that does not change over its primitive.
    pub fn flat_varying(
        &mut self,
        list: RegisterList,
        sources: &Column<VaryingSource>,
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        // The place where varyings are interpolated stays.
        let places = self.warp.places;
        let fetched = self.varying(list, sources, SampleAndUpdateMode::CenterStore.into(), layout, count);
        self.warp.places = places;
        fetched
    }

    /// Point coordinates, w or depth.
    pub fn special_varying(
        &mut self,
        list: RegisterList,
        index: u8,
        how: Interpolation,
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let spots = self.spots(how);
        for lane in lanes(self.warp.active) {
            let [z, w] = self.space.host.depth_and_w(spots[lane]);
            let values = match index {
                // Nothing here draws points.
                0 | 1 => [0.0; 4],
                2 => [w, 0.0, 0.0, 0.0],
                3 => [z, 0.0, 0.0, 0.0],
                _ => return Err(blame(lane)(HostError::Special { index })),
            };
            let texel = crate::valhall::host::Texel::floats(values);
            self.put_texel(list, 0, lane, layout, texel, 0..count);
        }
        Ok(Control::Next)
    }
}
