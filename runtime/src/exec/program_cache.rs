//! A cache of what programs were lowered to, with their machine code, for later launches.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The most programs in a cache, and the most words of all of them together.
const KEPT: usize = 64;
const WORDS: usize = 1 << 16;

/// Programs by what the result of lowering them depends on.
#[derive(Debug)]
pub(crate) struct ProgramCache<K, T>(Mutex<List<K, T>>);

/// The programs with their numbers of words, the most recently used last.
#[derive(Debug)]
struct List<K, T> {
    programs: VecDeque<(K, usize, Arc<T>)>,
    /// The number of words of all of them.
    words: usize,
}

impl<K, T> ProgramCache<K, T> {
    pub const fn new() -> Self {
        ProgramCache(Mutex::new(List { programs: VecDeque::new(), words: 0 }))
    }

    /// Returns the program with the wanted key, or lowers one with a number of words now. The least recently used ones
    /// are dropped if there are too many.
    pub fn find_or_lower(
        &self,
        is_wanted: impl Fn(&K) -> bool,
        words: usize,
        lower: impl FnOnce() -> (K, T),
    ) -> Arc<T> {
        // The data behind the lock is always consistent.
        let list = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = list().find(is_wanted) {
            return found;
        }
        // The lock is not held while lowering. If another thread lowers the same program meanwhile, both are added,
        // and the later one is found.
        let (key, lowered) = lower();
        let lowered = Arc::new(lowered);
        list().add(key, words, lowered.clone());
        lowered
    }
}

impl<K, T> List<K, T> {
    fn find(&mut self, is_wanted: impl Fn(&K) -> bool) -> Option<Arc<T>> {
        let at = self.programs.iter().rposition(|(key, ..)| is_wanted(key))?;
        if at + 1 < self.programs.len() {
            let found = self.programs.remove(at)?;
            self.programs.push_back(found);
        }
        self.programs.back().map(|(.., lowered)| lowered.clone())
    }

    fn add(&mut self, key: K, words: usize, lowered: Arc<T>) {
        self.words += words;
        self.programs.push_back((key, words, lowered));
        while self.programs.len() > KEPT || self.words > WORDS {
            let Some((_, words, _)) = self.programs.pop_front() else { return };
            self.words -= words;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a program is lowered, rather than found.
    fn lowers(cache: &ProgramCache<usize, usize>, number: usize, words: usize) -> bool {
        let mut lowered = false;
        let lower = || {
            lowered = true;
            (number, number)
        };
        assert_eq!(*cache.find_or_lower(|key| *key == number, words, lower), number);
        lowered
    }

    /// Returns the number of programs, and that of their words.
    fn size(cache: &ProgramCache<usize, usize>) -> (usize, usize) {
        let list = cache.0.lock().unwrap();
        (list.programs.len(), list.words)
    }

    #[test]
    fn programs_used_long_ago_are_dropped() {
        let cache = ProgramCache::new();
        for number in 1..=2 * KEPT {
            assert!(lowers(&cache, number, 2));
            // A program in constant use stays.
            assert_eq!(lowers(&cache, 0, 2), number == 1);
        }
        assert_eq!(size(&cache), (KEPT, 2 * KEPT));
        assert_eq!([2 * KEPT, 1].map(|number| lowers(&cache, number, 2)), [false, true]);
        // Long programs leave less room for others.
        assert!((3 * KEPT..).take(3).all(|number| lowers(&cache, number, WORDS / 2)));
        assert_eq!(size(&cache), (2, WORDS));
    }
}
