//! The instruction set that a command works on: a built-in one, or a specification that is compiled on the fly.
//!
//! A specification is compiled only to tables, the same that a generated crate contains, so that edits take effect at
//! the next command.

use std::path::Path;

use isaforge_analysis::Set;
use isaforge_compiler::Settings;
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::load::{Loaded, Refusal, load};
use isaforge_core::Isa;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use isaforge_core::stream::Engine;
use isaforge_runtime::valhall::measure::Worst;

use crate::builtin::{self, Builtin, Tables};
use crate::code::How;
use crate::conform::judges::Judges;
use crate::failure::Failure;
use crate::fidelity::entries::{Entry, entries};
use crate::input;
use crate::specification::{render, settings, summarise_failure, text};

/// The warning that the unit of a branch target is unspecified.
const BRANCHES: &str = "W0211";

/// An instruction set to work on.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name in messages.
    pub name: String,
    /// Its tables.
    pub tables: Tables,
    /// Its semantics, if defined.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes its programs, if the specification describes one.
    pub hardware: Option<&'static Hardware>,
    /// Returns the largest measured error of an instruction, if any was measured.
    pub measured: Option<fn(&str) -> Option<Worst>>,
    /// The judges of recorded cases in its own formats, if it has such formats.
    pub judges: Option<&'static Judges>,
    /// Warnings about what its specification leaves unspecified for labels.
    pub unclear: String,
}

impl From<&'static Builtin> for Target {
    fn from(found: &'static Builtin) -> Self {
        Target {
            name: found.name.to_owned(),
            tables: found.tables,
            semantics: found.semantics,
            hardware: found.hardware,
            measured: found.measured,
            judges: found.judges,
            unclear: String::new(),
        }
    }
}

impl Target {
    /// The instruction set for analyses.
    pub fn set(&self) -> Set {
        Set::new(self.tables, self.semantics, self.hardware)
    }

    /// How code of this set is to be read: for its processor, as far as the specification describes it.
    pub fn how<'a>(&self) -> How<'a> {
        let machine = self.hardware.and_then(|hardware| hardware.elf);
        let banks = self.hardware.map_or(&[][..], |hardware| hardware.banks);
        How { machine, width: banks.iter().map(|bank| bank.width).max(), ..How::default() }
    }

    /// The accuracy of its instructions, as far as the specification gives it.
    pub fn fidelity(&self) -> Vec<Entry> {
        entries(self.tables, self.semantics, self.measured)
    }

    /// The failure when a set has groups and the other one has not, or they are to be translated.
    fn of_groups(&self) -> Failure {
        let message = format!("the instructions of `{}` are groups of bytes", self.name);
        Failure::usage(message, "groups are compared with groups by `diff`, and not translated")
    }

    /// The failure when one instruction set is a stream and the other has words, for commands on two of the same kind.
    fn not_alike(&self, words: &Target) -> Failure {
        let message = format!("`{}` is a stream, and `{}` has words of one length", self.name, words.name);
        let help = "what makes a set a stream is in `specs/README.md`; for example, an alias that only the assembler knows makes the other set a stream, too";
        Failure::usage(message, help)
    }

    /// Checks that a stream's instructions have layouts, for commands that need them.
    ///
    /// # Errors
    /// When the instructions are sequences of operands.
    pub fn layouts(&self) -> Result<(), Failure> {
        match self.tables {
            Tables::Streams(engine) if engine.stream.sequence.is_some() => {
                let message = format!("the instructions of `{}` are sequences of operands", self.name);
                let help = "this command works on instructions whose bits have a layout; `dis` and `asm` work on these";
                Err(Failure::usage(message, help))
            }
            _ => Ok(()),
        }
    }

    /// This set and another one, for commands on two sets of words or two streams.
    ///
    /// # Errors
    /// When a set has groups or its instructions are sequences of operands, or only one is a stream.
    pub fn pair(&self, other: &Target) -> Result<Pair, Failure> {
        self.layouts()?;
        other.layouts()?;
        match (self.tables, other.tables) {
            (Tables::Groups(_), _) => Err(self.of_groups()),
            (_, Tables::Groups(_)) => Err(other.of_groups()),
            (Tables::Words(first), Tables::Words(second)) => Ok(Pair::Words(first, second)),
            (Tables::Streams(first), Tables::Streams(second)) => Ok(Pair::Streams(first, second)),
            (Tables::Streams(_), Tables::Words(_)) => Err(self.not_alike(other)),
            (Tables::Words(_), Tables::Streams(_)) => Err(other.not_alike(self)),
        }
    }
}

/// The tables of two sets of one kind.
pub enum Pair {
    /// Both have words.
    Words(&'static Isa, &'static Isa),
    /// Both are streams.
    Streams(Engine, Engine),
}

/// The built-in instruction set of this name, or else the specification at this path. `option` names the option that
/// gives the generation. `None` as for [`from_specification`].
///
/// # Errors
/// When it is neither, and those of [`from_specification`].
pub fn named_or_at(given: &Path, generation: Option<&str>, option: &str) -> Result<Option<Target>, Failure> {
    let name = given.to_str().unwrap_or_default();
    if let Some(found) = builtin::find(name) {
        if generation.is_some() {
            let message = format!("`{name}` has no generations");
            return Err(Failure::usage(message, "generations are those of a specification"));
        }
        return Ok(Some(found.into()));
    }
    if given.exists() || input::is_standard(given) {
        return from_specification(given, generation, option);
    }
    let help = builtin::instead_of(name);
    Err(Failure::usage(format!("`{}` is neither an instruction set nor a file", given.display()), help))
}

/// Compiles the specification at a path. `option` names the option that gives the generation. `None` after errors,
/// which have been reported.
///
/// # Errors
/// When it cannot be opened.
pub fn from_specification(given: &Path, generation: Option<&str>, option: &str) -> Result<Option<Target>, Failure> {
    let settings = Settings { generation: generation.map(str::to_owned), ..settings(given)? };
    let loaded = match load(&settings) {
        Ok(loaded) => loaded,
        Err(Refusal::Mistakes(failure)) => {
            render(&failure.diagnostics, &failure.sources);
            summarise_failure(&settings.spec, &failure.diagnostics);
            return Ok(None);
        }
        Err(Refusal::Generation { message, help }) => {
            return Err(Failure::usage(
                message,
                help.replace("choose a `generation`", &format!("choose one with `{option}`")),
            ));
        }
    };
    let Loaded { tables, semantics, hardware, checked, .. } = loaded;
    // Warnings are left to `isaforge check`, because every command would repeat them; those about labels affect
    // results.
    let mut unclear = Diagnostics::default();
    checked.diagnostics.iter().filter(|found| found.code == BRANCHES).for_each(|found| unclear.push(found.clone()));
    let unclear = if unclear.is_empty() { String::new() } else { text(&unclear, &checked.sources) };
    let name = settings.spec.display().to_string();
    Ok(Some(Target { name, tables, semantics, hardware, measured: None, judges: None, unclear }))
}
