//! Loads and stores.

use super::super::super::messages::Into as Place;
use super::super::memory::{Load, Store};
use super::super::narrow::{self, Part};
use super::*;

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
