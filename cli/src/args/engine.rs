//! Arguments that select what executes programs.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use isaforge_compiler::suggest::one_of;
use isaforge_runtime::{Engine, Execution, Level};

use crate::failure::Failure;

/// The selected engine and level.
#[derive(Args, Debug)]
#[command(next_help_heading = "Engines (all produce the same results, except where the budget runs out)")]
pub struct Choice {
    /// `reference` (one instruction at a time), `handlers` (several warps at once) or `compiled` (machine code for hot
    /// code); the fastest by default, or what ISAFORGE_ENGINE names
    #[arg(long, value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true)]
    pub engine: Option<Engine>,
    /// Host instructions to use: `portable`, `avx2`, `avx512` or `avx512fp16`; the best available by default, or what
    /// ISAFORGE_LEVEL names
    #[arg(long, value_name = "LEVEL", value_parser = level_parser(), hide_possible_values = true)]
    pub level: Option<&'static str>,
}

impl Choice {
    /// Whether the command line selects an engine or a level, which must exist then for the program. Those of the
    /// environment are preferences.
    pub fn is_strict(&self) -> bool {
        self.engine.is_some() || self.level.is_some()
    }

    /// The engine that the command line or the environment selects.
    ///
    /// # Errors
    /// When the environment names an unknown one.
    pub fn engine(&self) -> Result<Option<Engine>, Failure> {
        let name = |engine: &Engine| engine.name();
        self.engine.map_or_else(|| from_environment("ISAFORGE_ENGINE", Engine::ALL, name), |engine| Ok(Some(engine)))
    }

    /// The level that the command line or the environment selects.
    ///
    /// # Errors
    /// When the environment names an unknown one.
    pub fn level(&self) -> Result<Option<&'static str>, Failure> {
        self.level
            .map_or_else(|| from_environment("ISAFORGE_LEVEL", Level::NAMES, |name| name), |level| Ok(Some(level)))
    }

    /// The execution that the command line and the environment select, if they do.
    ///
    /// # Errors
    /// When the environment names an unknown engine or level, or this processor does not support them.
    pub fn execution(&self) -> Result<Option<Execution>, Failure> {
        let (engine, level) = (self.engine()?, self.level()?);
        if engine.is_none() && level.is_none() {
            return Ok(None);
        }
        let execution = Execution::with(engine, level);
        let help =
            "select another `--engine` or `--level`, or none; ISAFORGE_ENGINE and ISAFORGE_LEVEL select them, too";
        execution.map(Some).map_err(|error| Failure::usage(error.to_string(), help))
    }
}

/// The value that a variable of the environment names; `None` if it is unset or empty.
fn from_environment<T: Copy, const N: usize>(
    variable: &str,
    all: [T; N],
    name: impl Fn(&T) -> &'static str,
) -> Result<Option<T>, Failure> {
    let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let found = all.into_iter().find(|one| value == name(one));
    found.map(Some).ok_or_else(|| {
        let message = format!("{variable} is set to an unknown value, `{}`", value.display());
        Failure::usage(message, format!("expected {}", one_of(all.iter().map(name))))
    })
}

fn engine_parser() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name))
        .map(|name| Engine::ALL.into_iter().find(|engine| engine.name() == name).unwrap_or(Engine::Reference))
}

fn level_parser() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(Level::NAMES)
        .map(|name| Level::NAMES.into_iter().find(|known| *known == name).unwrap_or(Level::NAMES[0]))
}
