//! The engines that execute programs. Their results are bit-identical.

use std::fmt;

use thiserror::Error;

use crate::level::Level;

/// A way to execute programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Executes one warp at a time, instruction by instruction, by the semantics in the specification.
    Reference,
    /// Executes several warps at once, by functions compiled for a level of the processor.
    Handlers,
    /// Executes like [`Handlers`](Engine::Handlers), with machine code for what runs often.
    Compiled,
}

impl Engine {
    /// All engines, the slowest first.
    pub const ALL: [Engine; 3] = [Engine::Reference, Engine::Handlers, Engine::Compiled];

    /// The name of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Handlers => "handlers",
            Engine::Compiled => "compiled",
        }
    }
}

/// An engine at a level that the processor supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    engine: Engine,
    level: Level,
}

/// The reason why an execution does not exist on this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoExecution {
    /// The processor does not support the level.
    #[error("this processor has no level `{0}`, only {list}", list = Level::available().iter().map(|level| level.name()).collect::<Vec<_>>().join(", "))]
    Level(&'static str),
    /// No machine code is generated for this level.
    #[error("no machine code is made for level `{0}`, only for `avx512fp16`, `avx512` and `avx2`")]
    Engine(&'static str),
}

impl Execution {
    /// Returns the fastest execution.
    pub fn best() -> Self {
        let level = Level::best();
        Execution { engine: if level.compiles() { Engine::Compiled } else { Engine::Handlers }, level }
    }

    /// Returns the execution of the reference.
    pub fn reference() -> Self {
        Execution { engine: Engine::Reference, level: Level::portable() }
    }

    /// Returns the fastest execution with the given engine and level, as far as they are given.
    ///
    /// # Errors
    /// When the processor does not support the level, or the engine does not exist at the level.
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

    /// Returns all executions that this processor supports, the reference first.
    pub fn available() -> Vec<Self> {
        let handlers = |level: Level| Execution { engine: Engine::Handlers, level: level.without_machine_code() };
        let compiled = |level: Level| Execution { engine: Engine::Compiled, level };
        let levels = Level::available();
        let slow = levels.iter().rev().map(|level| handlers(*level));
        let fast = levels.iter().rev().filter(|level| level.compiles()).map(|level| compiled(*level));
        std::iter::once(Execution::reference()).chain(slow).chain(fast).collect()
    }

    /// Returns the execution that compiles everything compilable the first time that it runs.
    pub fn eager(self) -> Self {
        if self.engine == Engine::Compiled { Execution { level: self.level.eager(), ..self } } else { self }
    }

    /// Returns the execution that does not check machine code before executing it.
    pub fn unchecked(self) -> Self {
        Execution { level: self.level.unchecked(), ..self }
    }

    /// The engine.
    pub fn engine(self) -> Engine {
        self.engine
    }

    /// The level; for the reference, the portable one.
    pub fn level(self) -> Level {
        self.level
    }
}

/// Writes the name of the engine, and of the level if it matters.
impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine {
            Engine::Reference => f.write_str(self.engine.name()),
            _ => write!(f, "{} at level {}", self.engine.name(), self.level.name()),
        }
    }
}
