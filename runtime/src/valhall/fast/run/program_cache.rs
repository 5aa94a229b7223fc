//! A cache of lowered programs: the next launch of the same words, with the same uniforms and at the same level,
//! reuses the lowered program, its machine code, and the dispatch that the last launch has left.
//!
//! Uniforms are constants of handlers and functions, so other uniforms make another program.

use std::sync::{Arc, Mutex, PoisonError};

use super::dispatch::Dispatch;
use super::runner::Runner;
use crate::exec::program_cache::ProgramCache;
use crate::level::Level;
use crate::valhall::fast::code::{Code, Lowered};
use crate::valhall::fast::given::Given;
use crate::valhall::fast::jit::code_cache::Functions;
use crate::valhall::host::{Host, Nothing};
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

static PROGRAMS: ProgramCache<Key, Kept> = ProgramCache::new();

/// What is kept of a program.
#[derive(Debug)]
struct Kept {
    lowered: Arc<Lowered>,
    /// The machine code; first normally, then with all registers kept.
    functions: [Functions; 2],
    /// A dispatch that a launch has left for the next one.
    idle: Mutex<Option<Box<Dispatch>>>,
}

/// A program that is ready to run, with what earlier launches have left.
#[derive(Debug)]
pub struct Loaded<'a> {
    pub code: Code<'a>,
    kept: Arc<Kept>,
}

impl<'a> Loaded<'a> {
    /// Lowers a compute program for a processor and for the uniforms of a launch.
    pub fn new(program: &'a Program<'a>, uniforms: &'a [u32], warps: u32, level: Level) -> Self {
        Loaded::hosted(program, uniforms, warps, &Nothing, level)
    }

    /// Like [`Loaded::new`], with the inputs of a host.
    pub fn hosted(program: &'a Program<'a>, uniforms: &'a [u32], warps: u32, host: &dyn Host, level: Level) -> Self {
        Loaded::of(program, Given::compute(uniforms, warps, host), level)
    }

    /// Like [`Loaded::hosted`], for an observer of accesses to memory.
    pub fn logged(program: &'a Program<'a>, uniforms: &'a [u32], warps: u32, host: &dyn Host, level: Level) -> Self {
        Loaded::of(program, Given { logs: true, ..Given::compute(uniforms, warps, host) }, level)
    }

    /// Lowers a fragment program. Memory is left to the reference, which handles accesses of helper lanes.
    pub fn drawing(program: &'a Program<'a>, uniforms: &'a [u32], host: &dyn Host, level: Level) -> Self {
        Loaded::of(program, Given { draws: true, ..Given::compute(uniforms, 1, host) }, level)
    }

    /// Takes the cached result of lowering a program, or lowers it now.
    fn of(program: &'a Program<'a>, given: Given<'a>, level: Level) -> Self {
        let words = program.words;
        let lower = || Kept {
            lowered: Lowered::new(program, given, level).into(),
            functions: Default::default(),
            idle: Mutex::default(),
        };
        let is_wanted = |key: &Key| key.is(words, given, level);
        let kept = if words.len() > MAX_PROGRAM {
            lower().into()
        } else {
            PROGRAMS.find_or_lower(is_wanted, words.len(), || (Key::new(words, given, level), lower()))
        };
        Loaded { code: Code::of(program, given, kept.lowered.clone()), kept }
    }

    /// Returns the machine code of this and earlier launches.
    pub fn functions(&self) -> &Functions {
        &self.kept.functions[usize::from(self.code.keeps_all())]
    }

    /// Returns this machine code as text, after the instructions of the program.
    pub fn listing(&self) -> String {
        self.functions().listing(|pc| {
            let word = self.code.program.words.get(pc as usize).copied().unwrap_or_default();
            let instruction = isaforge_valhall::decode(word);
            instruction.map_or_else(|_| format!("{pc}:"), |instruction| format!("{pc}: {instruction}"))
        })
    }

    /// Creates a runner for workgroups of `warps` warps.
    pub fn runner(&'a self, uniforms: &'a [u32], warps: u32, budget: u64) -> Runner<'a> {
        Runner::new(&self.code, self.functions(), uniforms, warps, budget)
    }

    /// Takes the dispatch that a launch has left, and leaves another one in its place. There is none for code that
    /// keeps all registers.
    pub(super) fn exchange(&self, left: Option<Box<Dispatch>>) -> Option<Box<Dispatch>> {
        if self.code.keeps_all() {
            return None;
        }
        // The data behind the lock is always consistent.
        std::mem::replace(&mut *self.kept.idle.lock().unwrap_or_else(PoisonError::into_inner), left)
    }
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

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

    #[test]
    fn functions_stay_with_what_the_program_was_lowered_to() {
        if Level::best().compiles_after(1).is_none() {
            return;
        }
        let text = "IADD_IMM.i32 r0, r0, #0x7777\nIADD.u32 r0, r0, u0\nSTORE.i32.slot0.end @r0, r62, offset:0";
        let words = assemble(isaforge_valhall::ISA, text).unwrap();
        let program = Program::new(&words);
        for (uniform, keeps, expected) in [(1, false, 0), (1, false, 1), (2, false, 0), (1, true, 0), (1, true, 1)] {
            let uniforms = [uniform];
            let mut loaded = Loaded::new(&program, &uniforms, 1, Level::best());
            if keeps {
                loaded.code.keep_all();
            }
            assert_eq!(loaded.functions().runs(), expected, "u0 = {uniform}");
            loaded.functions().compile(&loaded.code, 0);
        }
    }
}
