//! Messages of fragment programs, of all warps at once. They do what the intrinsics do lane by lane; where the host
//! does not take them, nothing happens.

use super::{Masks, is_float, merge, uniform};
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::column::holds;
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::message::Message;
use crate::valhall::host::{Blends, Class, Handle, Spots, VaryingSource};
use crate::valhall::messages::{Layout, Lods, Output, Query};
use crate::valhall::warp::{Column, LANES};

impl Message {
    pub(super) fn varying(&self, bundle: &mut Bundle, view: &MemoryView<'_>, masks: &Masks) -> Option<()> {
        let word = |argument: usize| uniform(self.columns(bundle, argument)?, masks);
        let (source, component) = (word(0)?, word(4)?);
        let source = match word(1)? & 1 {
            0 => VaryingSource::Buffer { byte: source, half: word(2)? & 1 != 0 },
            _ => VaryingSource::Table(Handle::from_word(source)),
        };
        let pixels = bundle.quads.as_ref()?.pixels.each_ref().map(|pixels| &pixels[..]);
        let spots = Spots { pixels, within: self.columns(bundle, 3)? };
        let mut found = [[0; LANES]; WARPS];
        view.host.varying_together(source, component, spots, &mut found)?;
        bundle.rows[usize::from(self.to?.row)].0 = found;
        Some(())
    }

    pub(super) fn filter(&self, bundle: &mut Bundle, view: &MemoryView<'_>, masks: &Masks) -> Option<()> {
        let handle = |argument: usize| Some(Handle::from_word(uniform(self.columns(bundle, argument)?, masks)?));
        let (list, handles) = (self.list(bundle, 0)?, [handle(1)?, handle(2)?]);
        let query = Query::new(self.constant(bundle, 3)?, Lods::filter(self.constant(bundle, 4)?));
        let output = Output::new(list, self.constant(bundle, 5)?);
        if !is_float(output.layout) {
            return None;
        }
        let mut words: [&[Column]; 7] = [&[]; 7];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.columns(bundle, 6 + index)?;
        }
        let mut found = [[[0; LANES]; 4]; WARPS];
        query.together(handles, words, (&bundle.active, masks), |lookups| {
            view.host.look_up_together(lookups, &mut found)
        })?;
        let channels = (0..4).filter(|channel| output.mask >> channel & 1 != 0);
        for (register, channel) in list.iter().skip(output.first).zip(channels) {
            // Lists beyond the last register are rejected before they run.
            let columns = &mut bundle.rows[register].0;
            for ((column, found), mask) in columns.iter_mut().zip(&found).zip(masks) {
                merge(column, &found[channel], *mask);
            }
        }
        Some(())
    }

    pub(super) fn blend(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, masks: &Masks) -> Option<()> {
        const ZERO: [Column; WARPS] = [[0; LANES]; WARPS];
        const ONE: [Column; WARPS] = [[1.0f32.to_bits(); LANES]; WARPS];
        let list = self.list(bundle, 0)?;
        // The low word of a descriptor is the number of the target.
        let target = uniform(self.columns(bundle, 1)?, masks)?;
        let (layout, count) = (Layout::registers(self.constant(bundle, 3)?), self.constant(bundle, 4)? as usize);
        let quads = bundle.quads.as_ref()?;
        let class = match layout.class {
            Some(class) => class,
            None => {
                let warp = masks.iter().position(|mask| *mask != 0)?;
                let lane = masks[warp].trailing_zeros() as usize % LANES;
                view.host.tile(target, quads.pixels.map(|pixels| pixels[warp][lane]), 0).ok()?.class
            }
        };
        if layout.half || class != Class::Float {
            return None;
        }
        let mut colours: [&[Column]; 4] = [&ZERO, &ZERO, &ZERO, &ONE];
        for (index, channel) in colours.iter_mut().enumerate().take(count) {
            *channel = list.iter().nth(index).map_or(&ZERO, |register| &bundle.rows[register].0);
        }
        let mut drawn = *masks;
        for (mask, samples) in drawn.iter_mut().zip(self.columns(bundle, 2)?) {
            *mask &= holds(samples);
        }
        let pixels = quads.pixels.each_ref().map(|pixels| &pixels[..]);
        let mut before = [[[0; 4]; LANES]; WARPS];
        view.host.blend_together(target, &Blends { masks: &drawn, pixels, colours }, &mut before)
    }
}
