//! Messages about values in memory, of all warps at once. They do what the intrinsics do lane by lane. Where that is
//! not possible they change nothing, except that stores before a fault are repeated lane by lane.

use isaforge_core::semantics::evaluate::each;

use super::{Masks, is_float, merge, uniform};
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::message::{Kind, Message};
use crate::valhall::host::{Class, Format, Handle};
use crate::valhall::messages::Layout;
use crate::valhall::warp::{LANES, lanes};

impl Message {
    /// The name that all lanes give in an argument.
    fn handle(&self, bundle: &Bundle, argument: usize, masks: &Masks) -> Option<Handle> {
        uniform(self.columns(bundle, argument)?, masks).map(Handle::from_word)
    }

    /// Loads texels of an attribute or of an image.
    pub(super) fn load(&self, bundle: &mut Bundle, view: &MemoryView<'_>, masks: &Masks) -> Option<()> {
        let (list, handle) = (self.list(bundle, 0)?, self.handle(bundle, 1, masks)?);
        let (layout, count) = (Layout::registers(self.constant(bundle, 4)?), self.constant(bundle, 5)? as usize);
        let (a, b) = (self.columns(bundle, 2)?, self.columns(bundle, 3)?);
        let mut addresses = [[0; LANES]; WARPS];
        let (format, inside) = match self.kind? {
            Kind::LoadAttribute => {
                let attribute = view.host.attribute(handle).ok()?;
                let numbers = if attribute.per_instance { b } else { a };
                for (addresses, numbers) in addresses.iter_mut().zip(numbers) {
                    let stride = u64::from(attribute.stride);
                    *addresses = each(numbers, |n| attribute.address.wrapping_add(stride * u64::from(n)));
                }
                (attribute.format, [u16::MAX; WARPS])
            }
            _ => {
                let (image, mut inside) = (view.host.image(handle).ok()?, [0; WARPS]);
                image.texels([a, b], &mut addresses, &mut inside);
                (image.format, inside)
            }
        };
        if !is_float(layout) || format.class() != Class::Float {
            return None;
        }
        let mut read = *masks;
        read.iter_mut().zip(inside).for_each(|(read, inside)| *read &= inside);
        let mut found = [[[0; LANES]; 4]; WARPS];
        if let Some(warp) = read.iter().position(|read| *read != 0) {
            // Most lanes read the region of the first.
            let (region, base, _) =
                view.memory.window(addresses[warp][read[warp].trailing_zeros() as usize % LANES])?;
            format.decode_together((base, view.memory.bytes(region)?), &addresses, &read, &mut found)?;
        }
        for (channel, register) in list.iter().take(count.min(4)).enumerate() {
            for (warp, mask) in masks.iter().enumerate() {
                merge(&mut bundle.rows[register].0[warp], &found[warp][channel], *mask);
            }
        }
        Some(())
    }

    /// Stores texels.
    pub(super) fn store(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, masks: &Masks) -> Option<()> {
        let (list, descriptors) = (self.list(bundle, 0)?, self.columns(bundle, 2)?);
        let (layout, count) = (Layout::registers(self.constant(bundle, 3)?), self.constant(bundle, 4)? as usize);
        let format = Format::from_descriptor(uniform(descriptors, masks)?)?;
        if !is_float(layout) || format.class() != Class::Float {
            return None;
        }
        for warp in bundle.busy() {
            let mut addresses = [0; LANES];
            bundle.value(*self.arguments.get(1)?, warp, &mut addresses);
            let mut colours = [[0; LANES], [0; LANES], [0; LANES], [1.0f32.to_bits(); LANES]];
            for (channel, colours) in colours.iter_mut().enumerate().take(count) {
                *colours = list.iter().nth(channel).map_or([0; LANES], |register| bundle.rows[register].0[warp]);
            }
            let (texels, size) = (format.encode_together(&colours), format.size());
            let (home, first) = (bundle.homes[warp], masks[warp].trailing_zeros() as usize % LANES);
            if let Some((base, bytes)) = view.around_mut(self.pc, home.group, addresses[first], size) {
                let starts = each(&addresses, |address| address.wrapping_sub(base));
                let last = (bytes.len() - size) as u64;
                if lanes(masks[warp]).all(|lane| starts[lane] <= last) {
                    for lane in lanes(masks[warp]) {
                        bytes[starts[lane] as usize..][..size].copy_from_slice(&texels[lane][..size]);
                    }
                    continue;
                }
            }
            let mut space = view.space(home);
            for lane in lanes(masks[warp]) {
                // What was stored before a fault is stored again, lane by lane.
                space.write(lane, addresses[lane], &texels[lane][..size]).ok()?;
            }
        }
        Some(())
    }

    /// Returns the addresses of texels of an image, or their descriptor.
    pub(super) fn image(&self, bundle: &mut Bundle, view: &MemoryView<'_>, masks: &Masks) -> Option<()> {
        let image = view.host.image(self.handle(bundle, 0, masks)?).ok()?;
        let (mut results, mut inside) = ([[0; LANES]; WARPS], [0; WARPS]);
        image.texels([self.columns(bundle, 1)?, self.columns(bundle, 2)?], &mut results, &mut inside);
        let descriptor = matches!(self.kind?, Kind::ImageFormat).then(|| image.format.descriptor());
        for (warp, inside) in inside.into_iter().enumerate() {
            for (lane, result) in results[warp].iter_mut().enumerate() {
                *result = if inside >> lane & 1 != 0 { descriptor.map_or(*result, u64::from) } else { 0 };
            }
            bundle.set_value(self.to?, warp, &results[warp]);
        }
        Some(())
    }

    /// Returns the addresses of elements of a buffer.
    pub(super) fn element(&self, bundle: &mut Bundle, view: &MemoryView<'_>, masks: &Masks) -> Option<()> {
        let buffer = view.host.buffer(self.handle(bundle, 0, masks)?).ok()?;
        let stride = u64::from(buffer.stride);
        let elements = *self.columns(bundle, 1)?;
        for (warp, elements) in elements.iter().enumerate() {
            let addresses = each(elements, |element| buffer.address.wrapping_add(stride * u64::from(element)));
            bundle.set_value(self.to?, warp, &addresses);
        }
        Some(())
    }
}
