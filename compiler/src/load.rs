//! A specification in use before code is generated from it: checked, and lowered to the tables that a generated crate would
//! hold as code.

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

/// The tables of a specification. They live as long as the program.
#[derive(Debug)]
pub struct Loaded {
    /// How its instructions are encoded.
    pub tables: Tables,
    /// The fast path of decoding, for words.
    pub fast: Option<Fast>,
    /// What they do, if the specification says it.
    pub semantics: Option<&'static Semantics>,
    /// What executes programs, if the specification says what instructions do.
    pub hardware: Option<&'static Hardware>,
    /// The model, with warnings and the texts that they point into.
    pub checked: Checked,
}

/// Why a specification cannot be used.
#[derive(Debug, Error)]
pub enum Refusal {
    /// It has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Box<crate::driver::Failure>),
    /// The generation that is wanted is not there, or none is named where there are several.
    #[error("{message}")]
    Generation {
        /// What is wrong.
        message: String,
        /// What to say instead.
        help: String,
    },
}

/// The entry of the specification that a user names: its file, the `isa.yaml` of a folder, or a folder of documents.
pub fn entry(given: &Path) -> PathBuf {
    if given.is_dir() && read::format_of(given).is_none() { given.join("isa.yaml") } else { given.to_owned() }
}

/// Checks a specification and lowers it. A generation is needed exactly where the specification tells several apart.
///
/// # Errors
/// When the specification has mistakes, or there is no such generation.
pub fn load(settings: &Settings) -> Result<Loaded, Refusal> {
    let checked = check_spec(settings)?;
    let generation =
        checked.isa.generation(settings.generation.as_deref()).map_err(|NoGeneration { message, help }| {
            Refusal::Generation { message: format!("`{}` {message}", settings.spec.display()), help }
        })?;
    // Documents of others are large, and what is read by them here is not.
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
