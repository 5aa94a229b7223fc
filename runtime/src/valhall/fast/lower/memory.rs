//! Loads and stores.

use isaforge_valhall::{LoadLane8Bit, LoadLane16Bit, LoadLane32Bit};

use super::super::memory::{Load, Store};
use super::super::narrow::{self, Part};
use super::*;

/// Where a load puts its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One byte of a register, from this bit; the others stay.
    Byte(u32),
    /// One half of a register, from this bit, extended to 16 bits; the other stays.
    Half(u32),
    /// This many registers, extended to their full width.
    Words(usize),
}

impl From<LoadLane8Bit> for Place {
    fn from(lane: LoadLane8Bit) -> Self {
        match lane {
            // The odd bytes are a bug of all known hardware: they act as the even ones below them (tested).
            LoadLane8Bit::B0 | LoadLane8Bit::B1 => Place::Byte(0),
            LoadLane8Bit::B2 | LoadLane8Bit::B3 => Place::Byte(16),
            LoadLane8Bit::H0 => Place::Half(0),
            LoadLane8Bit::H1 => Place::Half(16),
            LoadLane8Bit::W0 => Place::Words(1),
            LoadLane8Bit::D0 => Place::Words(2),
        }
    }
}

impl From<LoadLane16Bit> for Place {
    fn from(lane: LoadLane16Bit) -> Self {
        match lane {
            LoadLane16Bit::H0 => Place::Half(0),
            LoadLane16Bit::H1 => Place::Half(16),
            LoadLane16Bit::W0 => Place::Words(1),
            LoadLane16Bit::D0 => Place::Words(2),
        }
    }
}

impl From<LoadLane32Bit> for Place {
    fn from(lane: LoadLane32Bit) -> Self {
        match lane {
            LoadLane32Bit::W0 => Place::Words(1),
            LoadLane32Bit::D0 => Place::Words(2),
        }
    }
}

impl Lowering<'_> {
    /// A load of whole words.
    pub(super) fn load<const WORDS: usize>(&mut self, list: RegisterList, source: Source, offset: i16) -> Lowered {
        let Some(address) = self.staged(list, WORDS, source) else { return Lowered(None) };
        self.emit::<Load<WORDS>>(list.first.into(), &address, [i32::from(offset) as u32, 0]);
        NEXT
    }

    /// A load of bytes that are extended or go to a part of a register.
    pub(super) fn load_part<const BYTES: usize>(
        &mut self,
        list: RegisterList,
        source: Source,
        offset: i16,
        place: Place,
        unsigned: bool,
    ) -> Lowered {
        let (shift, bits) = match place {
            Place::Byte(shift) => (shift, 8),
            Place::Half(shift) => (shift, 16),
            Place::Words(_) => (0, 32),
        };
        let double = place == Place::Words(2);
        let part = Part { shift, bits, double, signed: !unsigned };
        let Some(address) = self.staged(list, 1 + usize::from(double), source) else { return Lowered(None) };
        self.emit::<narrow::Load<BYTES>>(list.first.into(), &address, [i32::from(offset) as u32, part.number()]);
        NEXT
    }

    /// A store of whole words.
    pub(super) fn store<const WORDS: usize>(&mut self, list: RegisterList, source: Source, offset: i16) -> Lowered {
        let Some(address) = self.staged(list, WORDS, source) else { return Lowered(None) };
        self.emit::<Store<WORDS>>(list.first.into(), &address, [i32::from(offset) as u32, 0]);
        NEXT
    }

    /// A store of the lowest bytes.
    pub(super) fn store_part<const BYTES: usize>(
        &mut self,
        list: RegisterList,
        source: Source,
        offset: i16,
    ) -> Lowered {
        let Some(address) = self.staged(list, BYTES.div_ceil(4), source) else { return Lowered(None) };
        self.emit::<narrow::Store<BYTES>>(list.first.into(), &address, [i32::from(offset) as u32, 0]);
        NEXT
    }

    /// The address of a message whose registers are all there.
    fn staged(&mut self, list: RegisterList, words: usize, source: Source) -> Option<[Operand; 2]> {
        let whole = usize::from(list.count) >= words && usize::from(list.first) + words <= row::REGISTERS as usize;
        self.pair(source).filter(|_| whole)
    }
}
