//! The mnemonics of a program, to sum up what was executed.

use std::cmp::Reverse;

use crate::valhall::program::{Decoder, Program};

/// The mnemonics of a program's words.
#[derive(Debug)]
pub struct Mnemonics {
    /// In alphabetical order.
    all: Vec<&'static str>,
    /// For each word, the index of its mnemonic; `None` if the word is not executable.
    words: Vec<Option<u16>>,
}

impl Mnemonics {
    pub fn new(program: &Program<'_>) -> Self {
        let decoded = program.words.iter().map(|word| Decoder::get().decode(*word));
        let named: Vec<_> = decoded.map(|word| word.map(|(instruction, _)| instruction.opcode().mnemonic())).collect();
        let mut all: Vec<_> = named.iter().copied().flatten().collect();
        all.sort_unstable();
        all.dedup();
        // There are fewer mnemonics than values of the index.
        let index = |name: &str| all.binary_search(&name).ok().and_then(|index| index.try_into().ok());
        let words = named.into_iter().map(|name| index(name?)).collect();
        Mnemonics { all, words }
    }

    /// Sums up how many threads have executed each word. The most frequent come first, without those that were never
    /// executed.
    pub fn count(&self, threads: impl Iterator<Item = u64>) -> Vec<(&'static str, u64)> {
        let mut counts: Vec<_> = self.all.iter().map(|mnemonic| (*mnemonic, 0)).collect();
        for (mnemonic, threads) in self.words.iter().zip(threads) {
            if let Some((_, count)) = mnemonic.and_then(|mnemonic| counts.get_mut(usize::from(mnemonic))) {
                *count += threads;
            }
        }
        counts.retain(|(_, count)| *count > 0);
        // Those with the same count stay in alphabetical order.
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts
    }
}
