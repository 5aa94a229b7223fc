//! Messages about memory, of all lanes of a warp at once. They do what the intrinsics do lane by lane; where that is not
//! possible, nothing happens.

use std::slice;

use isaforge_core::semantics::evaluate::each;

use super::uniform;
use crate::exec::vector::effect::Value;
use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::message::{Kind, Message};
use crate::valhall::host::{Class, Format, Handle};
use crate::valhall::messages::Layout;
use crate::valhall::warp::{Column, LANES, lanes};

/// Replaces the words of the lanes in a mask.
pub(super) fn merge(to: &mut Column, from: &Column, mask: u16) {
    for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
        *to = if mask >> lane & 1 != 0 { *from } else { *to };
    }
}

/// Whether registers hold one float each, if the resource holds floats.
pub(super) fn is_float(layout: Layout) -> bool {
    !layout.half && layout.class.is_none_or(|class| class == Class::Float)
}

impl Message {
    /// Sends it for all lanes of a warp. `None`, without any effect, if it must be sent lane by lane.
    pub(super) fn together(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize) -> Option<()> {
        let kind = self.kind?;
        let mask = self.mask(bundle, warp);
        if mask == 0 {
            return None;
        }
        match kind {
            Kind::Varying | Kind::Filter | Kind::Blend | Kind::Coverage => None,
            Kind::LoadAttribute | Kind::LoadImage => self.load(bundle, view, warp, mask),
            Kind::StoreTexel => self.store(bundle, view, warp, mask),
            Kind::ImageAddress | Kind::ImageFormat => self.image(bundle, view, warp, mask),
            Kind::BufferElement => self.element(bundle, view, warp, mask),
        }
    }

    /// The low words of an argument.
    fn column<'b>(&self, bundle: &'b Bundle, warp: usize, argument: usize) -> Option<&'b Column> {
        let Value { row, .. } = *self.arguments.get(argument)?;
        Some(&bundle.rows[usize::from(row)].0[warp])
    }

    /// The name that all lanes give in an argument.
    fn handle(&self, bundle: &Bundle, warp: usize, argument: usize, mask: u16) -> Option<Handle> {
        uniform(slice::from_ref(self.column(bundle, warp, argument)?), &[mask]).map(Handle::from_word)
    }

    fn load(&self, bundle: &mut Bundle, view: &MemoryView<'_>, warp: usize, mask: u16) -> Option<()> {
        let argument = |argument: usize| self.column(bundle, warp, argument);
        let (list, handle) = (self.list(bundle, 0)?, self.handle(bundle, warp, 1, mask)?);
        let (layout, count) = (Layout::registers(argument(4)?[0]), argument(5)?[0] as usize);
        let (a, b) = (argument(2)?, argument(3)?);
        let (format, addresses) = match self.kind? {
            Kind::LoadAttribute => {
                let attribute = view.host.attribute(handle).ok()?;
                let number = if attribute.per_instance { b } else { a };
                let stride = u64::from(attribute.stride);
                let address = |n: u32| Some(attribute.address.wrapping_add(stride * u64::from(n)));
                (attribute.format, number.map(address))
            }
            _ => {
                let image = view.host.image(handle).ok()?;
                let mut addresses = [None; LANES];
                for (lane, address) in addresses.iter_mut().enumerate() {
                    *address = image.texel([a[lane] & 0xffff, a[lane] >> 16, b[lane] & 0xffff]);
                }
                (image.format, addresses)
            }
        };
        if !is_float(layout) || format.class() != Class::Float {
            return None;
        }
        // Most lanes read the region of the first.
        let first =
            addresses.iter().zip(0..LANES).find_map(|(address, lane)| address.filter(|_| mask >> lane & 1 != 0));
        let window = first.and_then(|address| view.memory.window(address));
        let (region, base) = window.map_or((0, 0), |(region, base, _)| (region, base));
        let bytes = window.and_then(|_| view.memory.bytes(region)).unwrap_or_default();
        let mut texels = [None; LANES];
        for lane in lanes(mask) {
            let Some(address) = addresses[lane] else { continue };
            let start = usize::try_from(address.wrapping_sub(base)).unwrap_or(usize::MAX);
            texels[lane] = Some(bytes.get(start..)?.get(..format.size())?);
        }
        let colours = format.decode_together(&texels);
        for (register, colours) in list.iter().zip(&colours).take(count) {
            merge(&mut bundle.rows[register].0[warp], colours, mask);
        }
        Some(())
    }

    fn store(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize, mask: u16) -> Option<()> {
        let argument = |argument: usize| self.column(bundle, warp, argument);
        let mut addresses = [0; LANES];
        bundle.value(*self.arguments.get(1)?, warp, &mut addresses);
        let (list, descriptor) = (self.list(bundle, 0)?, argument(2)?);
        let (layout, count) = (Layout::registers(argument(3)?[0]), argument(4)?[0] as usize);
        if !is_float(layout) {
            return None;
        }
        let first = descriptor[mask.trailing_zeros() as usize % LANES];
        let format = Format::from_descriptor(first)?;
        if uniform(slice::from_ref(descriptor), &[mask]).is_none() || format.class() != Class::Float {
            return None;
        }
        let mut colours = [[0; LANES], [0; LANES], [0; LANES], [1.0f32.to_bits(); LANES]];
        for (channel, colours) in colours.iter_mut().enumerate().take(count) {
            *colours = list.iter().nth(channel).map_or([0; LANES], |register| bundle.rows[register].0[warp]);
        }
        let texels = format.encode_together(&colours);
        let mut space = view.space(bundle.homes[warp]);
        for lane in lanes(mask) {
            // What was stored before a fault is stored again, lane by lane.
            space.write(lane, addresses[lane], &texels[lane][..format.size()]).ok()?;
        }
        Some(())
    }

    fn image(&self, bundle: &mut Bundle, view: &MemoryView<'_>, warp: usize, mask: u16) -> Option<()> {
        let image = view.host.image(self.handle(bundle, warp, 0, mask)?).ok()?;
        let (xy, zw) = (self.column(bundle, warp, 1)?, self.column(bundle, warp, 2)?);
        let mut result = [0; LANES];
        for (lane, result) in result.iter_mut().enumerate() {
            let address = image.texel([xy[lane] & 0xffff, xy[lane] >> 16, zw[lane] & 0xffff]);
            *result = match self.kind? {
                Kind::ImageAddress => address.unwrap_or(0),
                _ => address.map_or(0, |_| image.format.descriptor().into()),
            };
        }
        bundle.set_value(self.to?, warp, &result);
        Some(())
    }

    fn element(&self, bundle: &mut Bundle, view: &MemoryView<'_>, warp: usize, mask: u16) -> Option<()> {
        let buffer = view.host.buffer(self.handle(bundle, warp, 0, mask)?).ok()?;
        let stride = u64::from(buffer.stride);
        let element = self.column(bundle, warp, 1)?;
        let address = each(element, |element| buffer.address.wrapping_add(stride * u64::from(element)));
        bundle.set_value(self.to?, warp, &address);
        Some(())
    }
}
