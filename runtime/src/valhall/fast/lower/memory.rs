//! Loads and stores.

use super::super::memory::{Load, Store};
use super::*;

impl Lowering<'_> {
    /// A load of whole words.
    pub(super) fn load<const WORDS: usize>(&mut self, list: RegisterList, source: Source, offset: i16) -> Lowered {
        let Some(address) = self.staged(list, WORDS, source) else { return Lowered(None) };
        self.emit::<Load<WORDS>>(list.first.into(), &address, [i32::from(offset) as u32, 0]);
        NEXT
    }

    /// A store of whole words.
    pub(super) fn store<const WORDS: usize>(&mut self, list: RegisterList, source: Source, offset: i16) -> Lowered {
        let Some(address) = self.staged(list, WORDS, source) else { return Lowered(None) };
        self.emit::<Store<WORDS>>(list.first.into(), &address, [i32::from(offset) as u32, 0]);
        NEXT
    }

    /// The address of a message whose registers are all there.
    fn staged(&mut self, list: RegisterList, words: usize, source: Source) -> Option<[Operand; 2]> {
        let whole = usize::from(list.count) >= words && usize::from(list.first) + words <= row::REGISTERS as usize;
        self.pair(source).filter(|_| whole)
    }
}
