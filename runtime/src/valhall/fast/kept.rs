//! A cache of lowered programs: the next launch of the same words, with the same uniforms and at the same level,
//! reuses the lowered program, including its machine code.
//!
//! Uniforms are constants of handlers and functions, so other uniforms make another program.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::code::{Given, Lowered};
use crate::level::Level;
use crate::valhall::program::Program;

/// The most programs in the cache, and the most words of all of them together.
const KEPT: usize = 64;
const WORDS: usize = 1 << 16;
/// The longest program that is cached: longer ones take far longer to run than to lower.
const LONGEST: usize = 1 << 15;

/// Everything that the result of lowering depends on.
#[derive(Debug)]
struct Key {
    words: Box<[u64]>,
    uniforms: Box<[u32]>,
    warps: u32,
    framebuffer_size: u64,
    samples: u32,
    draws: bool,
    logs: bool,
    level: Level,
}

impl Key {
    fn new(words: &[u64], given: Given<'_>, level: Level) -> Self {
        let Given { uniforms, warps, framebuffer_size, samples, draws, logs } = given;
        Key { words: words.into(), uniforms: uniforms.into(), warps, framebuffer_size, samples, draws, logs, level }
    }

    fn is(&self, words: &[u64], given: Given<'_>, level: Level) -> bool {
        let Given { uniforms, warps, framebuffer_size, samples, draws, logs } = given;
        (self.warps, self.framebuffer_size, self.samples) == (warps, framebuffer_size, samples)
            && (self.draws, self.logs, self.level) == (draws, logs, level)
            && *self.uniforms == *uniforms
            && *self.words == *words
    }
}

/// The cached programs, the most recently used last.
#[derive(Debug, Default)]
struct Programs<T> {
    list: VecDeque<(Key, T)>,
    /// The number of words of all of them.
    words: usize,
}

static PROGRAMS: Mutex<Programs<Arc<Lowered>>> = Mutex::new(Programs { list: VecDeque::new(), words: 0 });

impl<T: Clone> Programs<T> {
    fn find(&mut self, words: &[u64], given: Given<'_>, level: Level) -> Option<T> {
        let at = self.list.iter().rposition(|(key, _)| key.is(words, given, level))?;
        let found = self.list.remove(at)?;
        self.list.push_back(found);
        self.list.back().map(|(_, lowered)| lowered.clone())
    }

    /// Adds a program. The least recently used ones are dropped if there are too many.
    fn add(&mut self, key: Key, lowered: T) {
        self.words += key.words.len();
        self.list.push_back((key, lowered));
        while self.list.len() > KEPT || self.words > WORDS {
            let Some((first, _)) = self.list.pop_front() else { return };
            self.words -= first.words.len();
        }
    }
}

/// Returns the cached result of lowering a program, or lowers it now.
pub fn find_or_lower(
    program: &Program<'_>,
    given: Given<'_>,
    level: Level,
    lower: impl FnOnce() -> Lowered,
) -> Arc<Lowered> {
    let words = program.words;
    // The data behind the lock is always consistent.
    let programs = || PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if words.len() > LONGEST {
        return lower().into();
    }
    if let Some(lowered) = programs().find(words, given, level) {
        return lowered;
    }
    // The lock is not held while lowering. If another thread lowers the same program meanwhile, both are added, and
    // the later one is found.
    let lowered = Arc::new(lower());
    programs().add(Key::new(words, given, level), lowered.clone());
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(uniforms: &[u32]) -> Given<'_> {
        Given { uniforms, warps: 1, framebuffer_size: 0, samples: 1, draws: false, logs: false }
    }

    /// Returns what was cached for a program, and caches it now if it was not.
    fn found(programs: &mut Programs<u32>, words: &[u64], uniforms: &[u32], level: Level) -> Option<u32> {
        let found = programs.find(words, given(uniforms), level);
        if found.is_none() {
            programs.add(Key::new(words, given(uniforms), level), uniforms[0]);
        }
        found
    }

    #[test]
    fn a_program_is_the_same_with_the_same_uniforms_at_the_same_level() {
        let (mut programs, words, level) = (Programs::default(), [1, 2, 3], Level::portable());
        for (words, uniform, expected) in
            [(&words[..], 1, None), (&words, 1, Some(1)), (&words, 2, None), (&words[1..], 1, None)]
        {
            assert_eq!(
                found(&mut programs, words, &[uniform], level),
                expected,
                "{} words, u0 = {uniform}",
                words.len()
            );
        }
        assert_eq!(programs.find(&words, Given { warps: 2, ..given(&[1]) }, level), None);
        assert_eq!(programs.find(&words, Given { draws: true, ..given(&[1]) }, level), None);
        assert_eq!(programs.find(&words, Given { logs: true, ..given(&[1]) }, level), None);
        assert_eq!(programs.find(&words, Given { framebuffer_size: 1, ..given(&[1]) }, level), None);
        assert_eq!(programs.find(&words, Given { samples: 4, ..given(&[1]) }, level), None);
        assert_eq!(programs.find(&words, given(&[1]), level.eager()), None);
        assert_eq!(programs.find(&words, given(&[1]), level), Some(1));
    }

    #[test]
    fn programs_used_long_ago_are_dropped() {
        let (mut programs, words, level) = (Programs::default(), [7, 8], Level::portable());
        for uniform in 1..=2 * KEPT as u32 {
            found(&mut programs, &words, &[uniform], level);
            // A program in constant use stays.
            assert_eq!(found(&mut programs, &words, &[0], level).is_some(), uniform > 1);
        }
        assert_eq!((programs.list.len(), programs.words), (KEPT, KEPT * words.len()));
        let long = words.repeat(LONGEST / 2);
        (0..3).for_each(|uniform| _ = found(&mut programs, &long, &[uniform], level));
        assert!(programs.words <= WORDS && programs.list.len() == 2);
    }
}
