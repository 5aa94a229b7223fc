//! Accesses to buffers, attributes and images by table and index.

use isaforge_valhall::RegisterList;

use super::{Layout, blame};
use crate::memory::Memory;
use crate::valhall::host::{Format, Handle, HostError, Texel};
use crate::valhall::step::{Fault, Step};

/// The conversion descriptor of a texel outside its image. Stores with it have no effect.
const NOWHERE: u32 = 0;
/// An address at which nothing is mapped.
const UNMAPPED: u64 = Memory::RESERVED.end - 1;

impl Step<'_> {
    /// Returns the address of `size` bytes of a buffer.
    pub fn buffer_bytes(&self, lane: usize, handle: Handle, offset: u32, size: u32) -> Result<u64, Fault> {
        let found = self.space.host.buffer(handle).and_then(|buffer| {
            let end = u64::from(offset) + u64::from(size);
            let error = HostError::OutOfBuffer { handle, offset, size: size as usize, len: buffer.len };
            if end <= buffer.len { Ok(buffer.address.wrapping_add(offset.into())) } else { Err(error) }
        });
        // A helper's access to this address fails, and is excused in turn.
        Ok(self.excused(lane, found.map(Some).map_err(blame(lane)))?.unwrap_or(UNMAPPED))
    }

    /// Returns the address of an element of a buffer.
    pub fn buffer_element(&self, lane: usize, handle: Handle, element: u32) -> Result<u64, Fault> {
        let found = self.space.host.buffer(handle).map(|buffer| {
            let place = u64::from(buffer.stride) * u64::from(element);
            buffer.address.wrapping_add(place)
        });
        self.excused(lane, found.map_err(blame(lane)))
    }

    /// Returns the address of an attribute of a vertex.
    pub fn attribute_address(&self, lane: usize, handle: Handle, vertex: u32, instance: u32) -> Result<u64, Fault> {
        self.excused(lane, self.attribute_place(lane, handle, vertex, instance).map(|(address, _)| address))
    }

    fn attribute_place(&self, lane: usize, handle: Handle, vertex: u32, instance: u32) -> Result<(u64, Format), Fault> {
        let attribute = self.space.host.attribute(handle).map_err(blame(lane))?;
        let number = if attribute.per_instance { instance } else { vertex };
        let place = u64::from(attribute.stride) * u64::from(number);
        Ok((attribute.address.wrapping_add(place), attribute.format))
    }

    /// Returns an attribute of a vertex. For a helper that cannot load it, alpha is 1.
    pub fn attribute(&self, lane: usize, handle: Handle, vertex: u32, instance: u32) -> Result<Texel, Fault> {
        let found = self.attribute_place(lane, handle, vertex, instance);
        let texel = found.and_then(|(address, format)| self.read_texel(lane, address, format).map(Some));
        Ok(self.excused(lane, texel)?.unwrap_or(Texel::floats([0.0, 0.0, 0.0, 1.0])))
    }

    /// Returns the conversion descriptor of an attribute.
    pub fn attribute_format(&self, lane: usize, handle: Handle) -> Result<u32, Fault> {
        let found = self.space.host.attribute(handle).map(|attribute| attribute.format.descriptor());
        self.excused(lane, found.map_err(blame(lane)))
    }

    /// Returns the address and the conversion descriptor of a texel of an image, or zeros outside it. Coordinates have
    /// 16 bits: x and y in one word, z in the low half of the other.
    pub fn image_texel(&self, lane: usize, handle: Handle, xy: u32, zw: u32) -> Result<(u64, u32), Fault> {
        let found = self.space.host.image(handle).map(|image| {
            let texel = image.texel([xy & 0xffff, xy >> 16, zw & 0xffff]);
            texel.map_or((0, NOWHERE), |address| (address, image.format.descriptor()))
        });
        self.excused(lane, found.map_err(blame(lane)))
    }

    /// Returns a texel of an image, or zeros outside it.
    pub fn texel(&self, lane: usize, handle: Handle, xy: u32, zw: u32) -> Result<Texel, Fault> {
        let found = self.space.host.image(handle).map_err(blame(lane)).and_then(|image| {
            let address = image.texel([xy & 0xffff, xy >> 16, zw & 0xffff]);
            address.map(|address| self.read_texel(lane, address, image.format)).transpose()
        });
        Ok(self.excused(lane, found)?.unwrap_or(Texel::floats([0.0; 4])))
    }

    fn read_texel(&self, lane: usize, address: u64, format: Format) -> Result<Texel, Fault> {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..format.size()];
        self.space.read(lane, address, bytes).map_err(|fault| Fault::Memory { lane, fault })?;
        Ok(format.decode(bytes))
    }

    /// Stores a texel. Outside the image this has no effect.
    pub fn store_texel(
        &mut self,
        list: RegisterList,
        lane: usize,
        (address, descriptor): (u64, u32),
        (layout, count): (Layout, usize),
    ) -> Result<(), Fault> {
        if descriptor == NOWHERE {
            return Ok(());
        }
        let unknown = HostError::Descriptor { word: descriptor };
        let format = Format::from_descriptor(descriptor).ok_or(unknown).map_err(blame(lane))?;
        let (bytes, size) = format.encode(self.take_texel(list, lane, layout, count, format.class()));
        self.space.write(lane, address, &bytes[..size]).map_err(|fault| Fault::Memory { lane, fault })
    }
}
