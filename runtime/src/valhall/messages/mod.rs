//! Messages: requests of instructions to memory, the texture and varying units, and the framebuffer. Messages complete
//! at once, so waiting for them has no effect.

mod pixel;
mod resource;
mod texture;
mod varying;

use isaforge_valhall::{RegisterFormat, RegisterList, RegisterType, RegisterWidth};

use super::host::{Class, HostError, Texel, narrow as narrow_float, widen};
use super::step::{Fault, Step};

pub(super) use texture::{Gather, Levels, Lods, Output, Query};

/// The layout of channels in staging registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The class of the channels; `None` for that of the resource.
    pub class: Option<Class>,
    /// Whether a register holds two channels, the first in the low half.
    pub half: bool,
}

impl Layout {
    /// The layout given by the register type and width of a texture instruction.
    pub fn texture(kind: RegisterType, width: RegisterWidth) -> Self {
        let class = match kind {
            RegisterType::F => Class::Float,
            RegisterType::U => Class::Unsigned,
            RegisterType::S => Class::Signed,
        };
        Layout { class: Some(class), half: width == RegisterWidth::_16 }
    }
}

impl Layout {
    /// The layout given by the bits of a register format.
    pub fn registers(format: u32) -> Self {
        // Any word that decodes has one of the formats.
        let (class, half) = match RegisterFormat::from_bits(format.into()).unwrap_or(RegisterFormat::Auto) {
            RegisterFormat::Auto => return Layout { class: None, half: false },
            RegisterFormat::F32 => (Class::Float, false),
            RegisterFormat::F16 => (Class::Float, true),
            RegisterFormat::S32 => (Class::Signed, false),
            RegisterFormat::S16 => (Class::Signed, true),
            RegisterFormat::U32 => (Class::Unsigned, false),
            RegisterFormat::U16 => (Class::Unsigned, true),
        };
        Layout { class: Some(class), half }
    }
}

/// Converts a channel to 16 bits: floats are rounded, integers saturate.
fn narrow(class: Class, value: u32) -> u16 {
    match class {
        Class::Float => narrow_float(value),
        Class::Unsigned => value.min(0xffff) as u16,
        Class::Signed => (value as i32).clamp(i16::MIN.into(), i16::MAX.into()) as u16,
    }
}

/// Converts an error of the host in a lane to a fault.
fn blame(lane: usize) -> impl Fn(HostError) -> Fault {
    move |error| Fault::Host { lane, error }
}

impl Step<'_> {
    /// Replaces an error in a helper lane by zeros, since the coordinates of helper lanes may be out of range.
    pub fn excused<T: Default>(&self, lane: usize, result: Result<T, Fault>) -> Result<T, Fault> {
        match result {
            Err(_) if self.warp.helpers >> lane & 1 != 0 => Ok(T::default()),
            other => other,
        }
    }

    /// Sets the bits of a register that are in the mask.
    fn set_lane(&mut self, register: usize, lane: usize, mask: u32, value: u32) {
        // Lists beyond the last register are rejected before they run.
        if let Some(column) = self.warp.registers.get_mut(register) {
            column[lane] = column[lane] & !mask | value & mask;
        }
    }

    /// Returns a register of a list; those beyond its end read as 0.
    fn listed(&self, list: RegisterList, index: usize, lane: usize) -> u32 {
        let register = list.iter().nth(index).and_then(|register| self.warp.registers.get(register));
        register.map_or(0, |column| column[lane])
    }

    /// Returns the first registers of a list.
    fn staged<const N: usize>(&self, list: RegisterList, lane: usize) -> [u32; N] {
        std::array::from_fn(|index| self.listed(list, index, lane))
    }

    /// Sets the registers of a list, starting at the one with index `first`.
    fn put_words(&mut self, list: RegisterList, first: usize, lane: usize, words: &[u32]) {
        for (register, &word) in list.iter().skip(first).zip(words) {
            self.set_lane(register, lane, u32::MAX, word);
        }
    }

    /// Sets the registers of a list, starting at the one with index `first`, to two values each. Returns the number of
    /// registers used.
    fn put_packed(&mut self, list: RegisterList, first: usize, lane: usize, halves: &[u16]) -> usize {
        let word = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16;
        let words: Vec<u32> = halves.chunks(2).map(word).collect();
        self.put_words(list, first, lane, &words);
        words.len()
    }

    /// Sets the registers of a list, starting at the one with index `first`, to some channels of a texel. Returns the
    /// number of registers used.
    pub fn put_texel(
        &mut self,
        list: RegisterList,
        first: usize,
        lane: usize,
        layout: Layout,
        texel: Texel,
        channels: impl Iterator<Item = usize>,
    ) -> usize {
        let class = layout.class.unwrap_or(texel.class);
        let values = texel.to(class).channels;
        let words: Vec<u32> = channels.filter_map(|channel| values.get(channel).copied()).collect();
        if layout.half {
            let halves: Vec<u16> = words.iter().map(|&word| narrow(class, word)).collect();
            return self.put_packed(list, first, lane, &halves);
        }
        self.put_words(list, first, lane, &words);
        words.len()
    }

    /// Returns the texel in a list of registers, of class `class` if the layout has none. Missing channels are 0, and
    /// alpha is 1.
    fn take_texel(&self, list: RegisterList, lane: usize, layout: Layout, count: usize, class: Class) -> Texel {
        let class = layout.class.unwrap_or(class);
        let words: [u32; 4] = self.staged(list, lane);
        let value = |channel: usize| {
            if !layout.half {
                return words[channel];
            }
            let half = (words[channel / 2] >> (16 * (channel % 2))) as u16;
            match class {
                Class::Float => widen(half),
                Class::Unsigned => half.into(),
                Class::Signed => i32::from(half as i16) as u32,
            }
        };
        let one = if class == Class::Float { 1.0f32.to_bits() } else { 1 };
        let missing = [0, 0, 0, one];
        Texel { channels: std::array::from_fn(|c| if c < count { value(c) } else { missing[c] }), class }
    }
}
