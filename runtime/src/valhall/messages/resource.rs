//! Buffers, attributes and images by table.

use isaforge_valhall::{MemoryAccess, RegisterList, Source};

use super::{Into, Layout, blame};
use crate::valhall::host::{Format, Handle, HostError};
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::{Column, lanes};

/// The conversion descriptor of a texel outside its image: stores through it do nothing.
const NOWHERE: u32 = 0;

/// The handle in an instruction: of 4 bits for the table the codes from 12 on mean 60 to 63 (documented).
pub(in crate::valhall) fn immediate(table: u8, index: u8) -> Handle {
    Handle::new(if table < 12 { table } else { table + 48 }, index.into())
}

impl Step<'_> {
    /// A handle in each lane.
    pub fn handles(&self, source: Source) -> Column<Handle> {
        self.word(source).map(Handle::from_word)
    }

    /// Loads `size` bytes (1 to 16) of a buffer and extends them.
    pub fn load_buffer(
        &mut self,
        list: RegisterList,
        (offset, handle): (Source, Source),
        size: usize,
        into: Into,
        unsigned: bool,
    ) -> Result<Control, Fault> {
        let (offsets, handles) = (self.word(offset), self.handles(handle));
        for lane in lanes(self.warp.active) {
            let (handle, offset) = (handles[lane], offsets[lane]);
            let found = self.space.host.buffer(handle).and_then(|buffer| {
                let end = u64::from(offset) + size as u64;
                let error = HostError::OutOfBuffer { handle, offset, size, len: buffer.len };
                if end <= buffer.len { Ok(buffer.address.wrapping_add(offset.into())) } else { Err(error) }
            });
            let bytes = found.map_err(blame(lane)).and_then(|address| self.read_bytes(lane, address, size));
            let bytes = self.excused(lane, bytes)?;
            self.fill(list, lane, bytes, size, into, unsigned);
        }
        Ok(Control::Next)
    }

    /// Gives the address of an element of a buffer.
    pub fn buffer_address(&mut self, list: RegisterList, handle: Handle, element: Source) -> Result<Control, Fault> {
        let elements = self.word(element);
        for lane in lanes(self.warp.active) {
            let buffer = self.excused(lane, self.space.host.buffer(handle).map(Some).map_err(blame(lane)))?;
            let element = |stride: u32| u64::from(stride) * u64::from(elements[lane]);
            let address = buffer.map_or(0, |buffer| buffer.address.wrapping_add(element(buffer.stride)));
            self.put_words(list, 0, lane, &[address as u32, (address >> 32) as u32]);
        }
        Ok(Control::Next)
    }

    /// The address and the format of an attribute of a vertex.
    fn attribute(&self, lane: usize, handle: Handle, vertex: u32, instance: u32) -> Result<(u64, Format), Fault> {
        let attribute = self.space.host.attribute(handle).map_err(blame(lane))?;
        let number = if attribute.per_instance { instance } else { vertex };
        let place = u64::from(attribute.stride) * u64::from(number);
        Ok((attribute.address.wrapping_add(place), attribute.format))
    }

    /// Loads an attribute of a vertex.
    pub fn load_attribute(
        &mut self,
        list: RegisterList,
        handles: &Column<Handle>,
        (vertex, instance): (Source, Source),
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let (vertices, instances) = (self.word(vertex), self.word(instance));
        for lane in lanes(self.warp.active) {
            let found = self.attribute(lane, handles[lane], vertices[lane], instances[lane]);
            let texel = found.and_then(|(address, format)| {
                let bytes = self.read_bytes(lane, address, format.size())?;
                Ok(Some(format.decode(&bytes[..format.size()])))
            });
            let texel = self.excused(lane, texel)?.unwrap_or_else(|| Format::RGBA32F.decode(&[]));
            self.put_texel(list, 0, lane, layout, texel, 0..count);
        }
        Ok(Control::Next)
    }

    /// Gives the address of an attribute of a vertex, and its conversion descriptor.
    pub fn attribute_address(
        &mut self,
        list: RegisterList,
        handles: &Column<Handle>,
        (vertex, instance): (Source, Source),
    ) -> Result<Control, Fault> {
        let (vertices, instances) = (self.word(vertex), self.word(instance));
        for lane in lanes(self.warp.active) {
            let found = self.attribute(lane, handles[lane], vertices[lane], instances[lane]);
            let found = found.map(|(address, format)| (address, format.descriptor()));
            let (address, descriptor) = self.excused(lane, found)?;
            self.put_words(list, 0, lane, &[address as u32, (address >> 32) as u32, descriptor]);
        }
        Ok(Control::Next)
    }

    /// The address of a texel and the format of its image; no address outside it. Coordinates have 16 bits: x and y in
    /// one word, z in the low half of the other.
    fn image_texel(&self, lane: usize, handle: Handle, xy: u32, zw: u32) -> Result<(Option<u64>, Format), Fault> {
        let image = self.space.host.image(handle).map_err(blame(lane))?;
        Ok((image.texel([xy & 0xffff, xy >> 16, zw & 0xffff]), image.format))
    }

    /// Loads a texel of an image, zeros outside it.
    pub fn load_image(
        &mut self,
        list: RegisterList,
        handles: &Column<Handle>,
        (xy, zw): (Source, Source),
        layout: Layout,
        count: usize,
    ) -> Result<Control, Fault> {
        let (xy, zw) = (self.word(xy), self.word(zw));
        for lane in lanes(self.warp.active) {
            let found = self.image_texel(lane, handles[lane], xy[lane], zw[lane]);
            let texel = found.and_then(|(address, format)| match address {
                None => Ok(None),
                Some(address) => {
                    let bytes = self.read_bytes(lane, address, format.size())?;
                    Ok(Some(format.decode(&bytes[..format.size()])))
                }
            });
            match self.excused(lane, texel)? {
                Some(texel) => self.put_texel(list, 0, lane, layout, texel, 0..count),
                None if layout.half => self.put_packed(list, 0, lane, &[0; 4][..count]),
                None => {
                    self.put_words(list, 0, lane, &[0; 4][..count]);
                    count
                }
            };
        }
        Ok(Control::Next)
    }

    /// Gives the address of a texel of an image, and its conversion descriptor.
    pub fn image_address(
        &mut self,
        list: RegisterList,
        handles: &Column<Handle>,
        (xy, zw): (Source, Source),
    ) -> Result<Control, Fault> {
        let (xy, zw) = (self.word(xy), self.word(zw));
        for lane in lanes(self.warp.active) {
            let found = self.image_texel(lane, handles[lane], xy[lane], zw[lane]);
            let found = found.map(|(address, format)| match address {
                Some(address) => (address, format.descriptor()),
                None => (0, NOWHERE),
            });
            let (address, descriptor) = self.excused(lane, found)?;
            self.put_words(list, 0, lane, &[address as u32, (address >> 32) as u32, descriptor]);
        }
        Ok(Control::Next)
    }

    /// Stores a texel in the format of a conversion descriptor.
    pub fn store_converted(
        &mut self,
        list: RegisterList,
        (address, offset): (Source, u8),
        descriptor: Source,
        (layout, count): (Layout, usize),
        access: MemoryAccess,
    ) -> Result<Control, Fault> {
        let (addresses, descriptors) = (self.pair(address), self.word(descriptor));
        let storing = if access == MemoryAccess::Force { self.warp.active } else { self.drawing() };
        for lane in lanes(storing) {
            let word = descriptors[lane];
            if word == NOWHERE {
                continue;
            }
            let format = Format::from_descriptor(word).ok_or(HostError::Descriptor { word }).map_err(blame(lane))?;
            let (bytes, size) = format.encode(self.take_texel(list, lane, layout, count, format.class()));
            let address = addresses[lane].wrapping_add(offset.into());
            self.space.write(lane, address, &bytes[..size]).map_err(|fault| Fault::Memory { lane, fault })?;
        }
        Ok(Control::Next)
    }
}
