//! A cache of what programs were lowered to, with their machine code, for later launches.

use std::collections::VecDeque;

/// The most programs in a cache, and the most words of all of them together.
pub(crate) const KEPT: usize = 64;
const WORDS: usize = 1 << 16;

/// Programs by what the result of lowering them depends on, the most recently used last.
#[derive(Debug)]
pub(crate) struct Kept<K, T> {
    list: VecDeque<(K, usize, T)>,
    /// The number of words of all of them.
    words: usize,
}

impl<K, T: Clone> Kept<K, T> {
    pub const fn new() -> Self {
        Kept { list: VecDeque::new(), words: 0 }
    }

    /// Returns the most recently used program whose key is the wanted one.
    pub fn find(&mut self, is_wanted: impl Fn(&K) -> bool) -> Option<T> {
        let at = self.list.iter().rposition(|(key, ..)| is_wanted(key))?;
        let found = self.list.remove(at)?;
        self.list.push_back(found);
        self.list.back().map(|(.., lowered)| lowered.clone())
    }

    /// Adds a program with a number of words. The least recently used ones are dropped if there are too many.
    pub fn add(&mut self, key: K, words: usize, lowered: T) {
        self.words += words;
        self.list.push_back((key, words, lowered));
        while self.list.len() > KEPT || self.words > WORDS {
            let Some((_, words, _)) = self.list.pop_front() else { return };
            self.words -= words;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_that_were_used_last_stay() {
        let mut kept = Kept::new();
        for number in 0..KEPT {
            kept.add(number, 1, number);
        }
        // The first is used once more, so that the second is dropped.
        assert_eq!(kept.find(|key| *key == 0), Some(0));
        kept.add(KEPT, 1, KEPT);
        assert_eq!([0, 1, 2, KEPT].map(|number| kept.find(|key| *key == number).is_some()), [true, false, true, true]);
        // Long programs leave no room for others.
        kept.add(KEPT + 1, WORDS, 0);
        assert_eq!([0, KEPT + 1].map(|number| kept.find(|key| *key == number).is_some()), [false, true]);
    }
}
