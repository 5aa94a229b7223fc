//! What executes a program. All leave the same bits.

use std::fmt;

use thiserror::Error;

use crate::level::Level;

/// A way to execute programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One warp after another, an instruction at a time, by the rules that say what instructions mean.
    Reference,
    /// Several warps at once, by functions that were compiled for a level of the processor.
    Handlers,
    /// The same, and machine code for what is executed often.
    Compiled,
}

impl Engine {
    /// All of them, the slowest first.
    pub const ALL: [Engine; 3] = [Engine::Reference, Engine::Handlers, Engine::Compiled];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Handlers => "handlers",
            Engine::Compiled => "compiled",
        }
    }
}

/// An engine at a level of the processor that it can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    engine: Engine,
    level: Level,
}

/// Why there is no such execution on this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoExecution {
    /// The processor does not have the level.
    #[error("this processor has no level `{0}`, only {list}", list = Level::available().iter().map(|level| level.name()).collect::<Vec<_>>().join(", "))]
    Level(&'static str),
    /// Machine code is made for other levels only.
    #[error("no machine code is made for level `{0}`, only for `avx512fp16`, `avx512` and `avx2`")]
    Engine(&'static str),
}

impl Execution {
    /// The fastest.
    pub fn best() -> Self {
        let level = Level::best();
        Execution { engine: if level.compiles() { Engine::Compiled } else { Engine::Handlers }, level }
    }

    /// The reference.
    pub fn reference() -> Self {
        Execution { engine: Engine::Reference, level: Level::portable() }
    }

    /// The fastest with what is asked for.
    ///
    /// # Errors
    /// When the processor does not have the level, or the level does not have the engine.
    pub fn with(engine: Option<Engine>, level: Option<&'static str>) -> Result<Self, NoExecution> {
        let wanted = match level {
            Some(name) => Level::named(name).ok_or(NoExecution::Level(name))?,
            None => Level::best(),
        };
        match engine {
            Some(Engine::Reference) => Ok(Execution::reference()),
            Some(Engine::Compiled) if !wanted.compiles() => Err(NoExecution::Engine(wanted.name())),
            Some(Engine::Handlers) => Ok(Execution { engine: Engine::Handlers, level: wanted.without_machine_code() }),
            _ if wanted.compiles() => Ok(Execution { engine: Engine::Compiled, level: wanted }),
            _ => Ok(Execution { engine: Engine::Handlers, level: wanted.without_machine_code() }),
        }
    }

    /// All that this processor has, the reference first.
    pub fn available() -> Vec<Self> {
        let handlers = |level: Level| Execution { engine: Engine::Handlers, level: level.without_machine_code() };
        let compiled = |level: Level| Execution { engine: Engine::Compiled, level };
        let levels = Level::available();
        let slow = levels.iter().rev().map(|level| handlers(*level));
        let fast = levels.iter().rev().filter(|level| level.compiles()).map(|level| compiled(*level));
        std::iter::once(Execution::reference()).chain(slow).chain(fast).collect()
    }

    /// The same; what can become machine code does so the first time.
    pub fn eager(self) -> Self {
        if self.engine == Engine::Compiled { Execution { level: self.level.eager(), ..self } } else { self }
    }

    /// The same; machine code is not checked before it is executed.
    pub fn unchecked(self) -> Self {
        Execution { level: self.level.unchecked(), ..self }
    }

    /// Which engine.
    pub fn engine(self) -> Engine {
        self.engine
    }

    /// At which level; of the reference the one that any processor has.
    pub fn level(self) -> Level {
        self.level
    }
}

/// The name of the engine, and of the level where that matters.
impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine {
            Engine::Reference => f.write_str(self.engine.name()),
            _ => write!(f, "{} at level {}", self.engine.name(), self.level.name()),
        }
    }
}
