//! A cache of lowered programs: the next launch of the same words, with the same uniforms and at the same level,
//! reuses the lowered program, including its machine code.
//!
//! Uniforms are constants of handlers and functions, so other uniforms make another program.

use std::sync::Arc;

use super::code::Lowered;
use super::given::Given;
use crate::exec::program_cache::ProgramCache;
use crate::level::Level;
use crate::valhall::program::Program;

/// The longest program that is cached: longer ones take far longer to run than to lower.
const MAX_PROGRAM: usize = 1 << 15;

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

static PROGRAMS: ProgramCache<Key, Lowered> = ProgramCache::new();

/// Returns the cached result of lowering a program, or lowers it now.
pub fn find_or_lower(
    program: &Program<'_>,
    given: Given<'_>,
    level: Level,
    lower: impl FnOnce() -> Lowered,
) -> Arc<Lowered> {
    let words = program.words;
    if words.len() > MAX_PROGRAM {
        return lower().into();
    }
    let is_wanted = |key: &Key| key.is(words, given, level);
    PROGRAMS.find_or_lower(is_wanted, words.len(), || (Key::new(words, given, level), lower()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(uniforms: &[u32]) -> Given<'_> {
        Given { uniforms, warps: 1, framebuffer_size: 0, samples: 1, draws: false, logs: false }
    }

    #[test]
    fn a_program_is_the_same_with_the_same_inputs_at_the_same_level() {
        let (words, level) = ([1, 2, 3], Level::portable());
        let key = Key::new(&words, given(&[1]), level);
        assert!(key.is(&words, given(&[1]), level));
        assert!(!key.is(&words[1..], given(&[1]), level));
        for given in [
            given(&[2]),
            Given { warps: 2, ..given(&[1]) },
            Given { draws: true, ..given(&[1]) },
            Given { logs: true, ..given(&[1]) },
            Given { framebuffer_size: 1, ..given(&[1]) },
            Given { samples: 4, ..given(&[1]) },
        ] {
            assert!(!key.is(&words, given, level), "{given:?}");
        }
        assert!(!key.is(&words, given(&[1]), level.eager()));
    }
}
