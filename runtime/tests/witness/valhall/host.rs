//! A host that answers requests by a hash of them, and records what it receives.
//!
//! Requests show in registers, since no two of them have the same answer. Received values go into a hash.

use isaforge_runtime::valhall::host::{
    Attribute, Buffer, Class, Coordinates, Format, Handle, Host, HostError, Image, Kind, Lod, Lookup, Request, Shape,
    Spot, Texel, VaryingSource,
};

use super::state::MAIN;
use crate::random::Hash;

/// Formats of attributes and images, by index.
const FORMATS: [&str; 10] =
    ["RGBA8", "RGBA32F", "R32UI", "RG16F", "RGBA8_SNORM", "RGB10_A2", "RGBA16I", "R8UI", "RGB565", "SRGBA8"];
/// Indices from here on do not exist.
const INDICES: u32 = 0x400;

/// The host.
#[derive(Debug)]
pub struct Recorder {
    formats: [Format; FORMATS.len()],
    /// Whether there is a framebuffer; compute programs have none.
    pub draws: bool,
    /// The number of values received, and a hash of them.
    pub told: u32,
    pub what: Hash,
}

impl Recorder {
    pub fn new() -> Self {
        let format = |name| Format::parse(name).unwrap_or(Format::RGBA8);
        Recorder { formats: FORMATS.map(format), draws: false, told: 0, what: Hash::new() }
    }

    /// Starts a new case.
    pub fn begin(&mut self, draws: bool) {
        self.draws = draws;
        (self.told, self.what) = (0, Hash::new());
    }

    fn tell(&mut self, words: &[u32]) {
        self.told += 1;
        words.iter().for_each(|&word| self.what.word(word));
    }

    fn format(&self, handle: Handle) -> Format {
        self.formats[handle.index as usize % FORMATS.len()]
    }
}

/// The bits of a number, with the canonical NaN.
fn bits(number: f32) -> u32 {
    if number.is_nan() { 0x7fc0_0000 } else { number.to_bits() }
}

fn known(kind: Kind, handle: Handle) -> Result<(), HostError> {
    if handle.index < INDICES { Ok(()) } else { Err(HostError::Missing { kind, handle }) }
}

fn hash(words: impl IntoIterator<Item = u32>) -> u64 {
    let mut hash = Hash::new();
    words.into_iter().for_each(|word| hash.word(word));
    hash.0 ^ hash.0 >> 32
}

fn name(handle: Handle) -> [u32; 2] {
    [handle.table.into(), handle.index]
}

/// A texel of any class made from a number. Floats have any magnitude, but are not NaN.
fn texel(number: u64, class: u32) -> Texel {
    let word = |channel: u32| (number.rotate_left(13 * channel) >> 7) as u32;
    let channels = [0, 1, 2, 3].map(word);
    match class % 3 {
        0 => Texel { channels: channels.map(|word| 0x3000_0000 | word & 0x9fff_ffff), class: Class::Float },
        1 => Texel { channels: channels.map(|word| word >> (word & 31)), class: Class::Unsigned },
        _ => Texel { channels: channels.map(|word| (word as i32 >> (word & 31)) as u32), class: Class::Signed },
    }
}

fn lod_words(lod: Lod) -> Vec<u32> {
    match lod {
        Lod::Base => vec![0],
        Lod::Explicit(level) => vec![1, bits(level)],
        Lod::Computed { dx, dy, bias } => [2, bits(bias)].into_iter().chain(dx.map(bits)).chain(dy.map(bits)).collect(),
    }
}

fn lookup_words(lookup: &Lookup) -> Vec<u32> {
    let shape = match lookup.shape {
        Shape::One => 1,
        Shape::Two => 2,
        Shape::Three => 3,
        Shape::Cube => 4,
    };
    let at = match lookup.at {
        Coordinates::Normalised(at) => [1, bits(at[0]), bits(at[1]), bits(at[2])],
        Coordinates::Texels(at) => [2, at[0] as u32, at[1] as u32, at[2] as u32],
    };
    let request = match lookup.request {
        Request::Filter(lod) => lod_words(lod),
        Request::Gather { channel } => vec![8, channel as u32],
        Request::Fetch { level } => vec![9, level],
    };
    let reference = lookup.reference.map_or([0, 0], |reference| [1, bits(reference)]);
    let rest = [shape, lookup.face, lookup.layer as u32];
    let named = name(lookup.texture).into_iter().chain(name(lookup.sampler));
    let offset = lookup.offset.map(|offset| offset as u32);
    named.chain(rest).chain(at).chain(reference).chain(offset).chain(request).collect()
}

impl Host for Recorder {
    fn buffer(&self, handle: Handle) -> Result<Buffer, HostError> {
        known(Kind::Buffer, handle)?;
        let [table, index] = name(handle);
        let address = MAIN + 512 + u64::from(64 * (table % 8) + 16 * (index % 8));
        Ok(Buffer { address, len: 300 + u64::from(index % 100), stride: 4 * (1 + index % 7) })
    }

    fn attribute(&self, handle: Handle) -> Result<Attribute, HostError> {
        known(Kind::Attribute, handle)?;
        let address = MAIN + 256 + u64::from(64 * (u32::from(handle.table) % 8));
        let (stride, per_instance) = (16 + 4 * (handle.index % 3), handle.index % 4 == 3);
        Ok(Attribute { address, stride, per_instance, format: self.format(handle) })
    }

    fn image(&self, handle: Handle) -> Result<Image, HostError> {
        known(Kind::Image, handle)?;
        let address = MAIN + 1024 + u64::from(64 * (u32::from(handle.table) % 8));
        Ok(Image { address, size: [12, 5, 2], format: self.format(handle) })
    }

    fn look_up(&self, lookup: &Lookup) -> Result<Texel, HostError> {
        known(Kind::Texture, lookup.texture)?;
        known(Kind::Sampler, lookup.sampler)?;
        Ok(texel(hash(lookup_words(lookup)), lookup.texture.index))
    }

    fn level_of_detail(&self, lookup: &Lookup, lod: Lod, bias: bool, range: bool) -> Result<f32, HostError> {
        known(Kind::Texture, lookup.texture)?;
        let words = lookup_words(lookup).into_iter().chain(lod_words(lod));
        let number = hash(words.chain([u32::from(bias), u32::from(range)]));
        Ok((number % 0x10_0000) as f32 / 2048.0 - 200.0)
    }

    fn varying(&self, source: VaryingSource, component: u32, spot: Spot) -> Result<u32, HostError> {
        let words = match source {
            VaryingSource::Buffer { byte, half } => [1, byte, half.into()],
            VaryingSource::Table(handle) => [2, handle.table.into(), handle.index],
        };
        if words[1].max(words[2]) >= 0x1_0000 {
            return Err(HostError::Varying { byte: source.byte(component) });
        }
        let place = spot.within.map(|part| part as u32);
        let number = hash(words.into_iter().chain([component]).chain(spot.pixel).chain(place));
        // From 2^-16 to 2^15, of either sign.
        Ok((111 + (number >> 40) as u32 % 32) << 23 | number as u32 & 0x807f_ffff)
    }

    fn depth_and_w(&self, spot: Spot) -> [f32; 2] {
        let number = hash(spot.pixel.into_iter().chain(spot.within.map(|part| part as u32)));
        [(number % 4096) as f32 / 4096.0, 1.0 + (number >> 12 & 0xff) as f32]
    }

    fn framebuffer_size(&self) -> [u32; 2] {
        if self.draws { [300, 70] } else { [0; 2] }
    }

    fn tile(&self, target: u32, pixel: [u32; 2], _: u32) -> Result<Texel, HostError> {
        if target >= 8 {
            return Err(HostError::Target { number: target });
        }
        Ok(texel(hash([target].into_iter().chain(pixel)), target))
    }

    fn set_tile(&mut self, target: u32, pixel: [u32; 2], _: u32, colour: Texel) -> Result<(), HostError> {
        if target >= 8 {
            return Err(HostError::Target { number: target });
        }
        let [r, g, b, a] = colour.channels;
        self.tell(&[1, target, pixel[0], pixel[1], colour.class as u32, r, g, b, a]);
        Ok(())
    }

    fn blend(&mut self, target: u32, pixel: [u32; 2], coverage: u32, colour: Texel) -> Result<(), HostError> {
        if target >= 8 {
            return Err(HostError::Target { number: target });
        }
        let [r, g, b, a] = colour.channels;
        self.tell(&[2, target, pixel[0], pixel[1], coverage, colour.class as u32, r, g, b, a]);
        Ok(())
    }

    fn set_depth(&mut self, pixel: [u32; 2], depth: f32) {
        self.tell(&[3, pixel[0], pixel[1], depth.to_bits()]);
    }

    fn set_stencil(&mut self, pixel: [u32; 2], stencil: u32) {
        self.tell(&[4, pixel[0], pixel[1], stencil]);
    }
}
