//! Loads a specification for use without generated code: checks it, and lowers it to the same tables that a generated
//! crate would contain.

use std::path::{Path, PathBuf};

use isaforge_core::Tables;
use isaforge_core::decode::Fast;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use isaforge_core::stream::Engine;
use thiserror::Error;

use crate::driver::{Checked, Settings, check_spec};
use crate::lower::{Lowered, lower};
use crate::model::Encoding;
use crate::read;
use crate::stream::lower::lower_exact;
use crate::stream::model::NoGeneration;

/// The tables of a specification. They live until the program ends.
#[derive(Debug)]
pub struct Loaded {
    /// How its instructions are encoded.
    pub tables: Tables,
    /// The fast path of decoding, for words.
    pub fast: Option<Fast>,
    /// The meaning of the instructions, if the specification defines it.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes programs, if the specification defines what instructions do.
    pub hardware: Option<&'static Hardware>,
    /// The model, with warnings and the texts that they point into.
    pub checked: Checked,
}

/// Why a specification cannot be used.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The specification has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Box<crate::driver::Failure>),
    /// The requested generation does not exist, or none was requested although there are several.
    #[error("{message}")]
    Generation {
        /// What is wrong.
        message: String,
        /// How to name an existing generation.
        help: String,
    },
}

/// The entry of a specification that a user names: the file itself, or the `isa.yaml` in a folder. A folder of
/// documents in a foreign format is its own entry.
pub fn entry(given: &Path) -> PathBuf {
    if given.is_dir() && read::format_of(given).is_none() { given.join("isa.yaml") } else { given.to_owned() }
}

/// Checks a specification and lowers it. A generation is required if and only if the specification has several.
///
/// # Errors
/// When the specification has mistakes, or the generation does not exist.
pub fn load(settings: &Settings) -> Result<Loaded, Refusal> {
    let checked = check_spec(settings)?;
    let generation =
        checked.isa.generation(settings.generation.as_deref()).map_err(|NoGeneration { message, help }| {
            Refusal::Generation { message: format!("`{}` {message}", settings.spec.display()), help }
        })?;
    // Documents in foreign formats are large, and few of their words are decoded here: fast tests do not pay off.
    let of_others = settings.format().is_some();
    let lowered = match &checked.isa.encoding {
        Encoding::Stream(stream) if of_others => Lowered::Stream(lower_exact(&checked.isa, stream)),
        _ => lower(&checked.isa),
    };
    let tables = match lowered {
        Lowered::Stream(stream) => Tables::Streams(Engine { stream, generation }),
        Lowered::Words(_) | Lowered::Groups(_) => lowered.tables(),
    };
    let fast = lowered.words().map(|words| words.fast);
    let semantics = checked.isa.semantics.as_ref().map(crate::semantics::lower);
    let hardware = crate::machine::lower(&checked.isa);
    Ok(Loaded { tables, fast, semantics, hardware, checked })
}
