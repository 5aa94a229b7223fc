//! The instruction set for which a program is written.
//!
//! A comment in its first lines names the set (`// isa: valhall`, `; isa: ../my.yaml`, `# isa: ir3.xml 630`), or else
//! the extension of the file (`shader.valhall`, `shader.valhall.s`), or else the language that the editor names, or
//! else its configuration (`initializationOptions`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use isaforge_analysis::Set;
use isaforge_compiler::Settings;
use isaforge_compiler::load::{Refusal, entry, load};
use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use isaforge_core::suggest::nearest;

use crate::text::BYTE_ORDER_MARK;

/// A built-in instruction set, which needs no specification.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Its tables.
    pub tables: Tables,
    /// Its semantics, if known.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes its programs, if known.
    pub hardware: Option<&'static Hardware>,
}

impl Known {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// A reference to an instruction set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The name of a built-in set, or the path of a specification.
    pub isa: String,
    /// The generation of the hardware, if the specification distinguishes several.
    pub generation: Option<String>,
}

/// A reference that applies to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The reference.
    pub named: Named,
    /// The line of the comment that contains it; 0 if no comment does.
    pub line: usize,
    /// Whether the editor's configuration contains it.
    pub by_editor: bool,
}

/// The number of lines at the start of a text that may name the set.
const HEAD: usize = 20;

/// The set that a comment in a text names, and the line of that comment.
pub fn in_comment(text: &str) -> Option<(Named, usize)> {
    text.lines().take(HEAD).enumerate().find_map(|(line, text)| {
        let comment = text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
        let comment = ["//", ";", "#"].iter().find_map(|mark| comment.strip_prefix(mark))?;
        let mut words = comment.trim().strip_prefix("isa:")?.split_whitespace();
        let isa = words.next()?.to_owned();
        Some((Named { isa, generation: words.next().map(str::to_owned) }, line))
    })
}

/// All instruction sets: the built-in ones, and the specifications loaded so far.
#[derive(Debug)]
pub struct Sets<'k> {
    known: &'k [Known],
    loaded: HashMap<(PathBuf, Option<String>), Loaded>,
}

#[derive(Debug)]
struct Loaded {
    /// The last modification time and the length of each of its files.
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether one of them changed so recently that another change could have the same time.
    recent: bool,
    set: Result<Set, String>,
}

impl<'k> Sets<'k> {
    /// Starts with the built-in sets.
    pub fn new(known: &'k [Known]) -> Self {
        Sets { known, loaded: HashMap::new() }
    }

    /// The name of a program's set; `default` if neither its text, nor the name of its file, nor the language that the
    /// editor calls it determines it.
    pub fn named(&self, text: &str, file: &str, language: &str, default: &Named) -> Option<Found> {
        let comment = || in_comment(text).map(|(named, line)| Found { named, line, by_editor: false });
        let known = |name: &&str| self.known.iter().any(|known| known.is_called(name));
        let found = |name: &str| {
            let named = Named { isa: name.to_owned(), generation: None };
            Found { named, line: 0, by_editor: false }
        };
        let ending = || file.split('.').skip(1).find(known).map(found);
        let language = || Some(language).filter(known).map(found);
        let default = || (!default.isa.is_empty()).then(|| Found { named: default.clone(), line: 0, by_editor: true });
        comment().or_else(ending).or_else(language).or_else(default)
    }

    /// Whether a set is built in, so that it depends on no file.
    pub fn is_known(&self, named: &Named) -> bool {
        self.known.iter().any(|known| known.is_called(&named.isa))
    }

    /// Reads specifications with errors again: a file that was missing may exist now.
    pub fn forget_failures(&mut self) {
        self.loaded.retain(|_, loaded| loaded.set.is_ok());
    }

    /// Opens a set by name. Paths are relative to `folder`.
    ///
    /// The tables of a specification stay in memory as long as the server runs, so a specification is recompiled only
    /// after one of its files has been saved.
    ///
    /// # Errors
    /// When there is no such set, or its specification has errors.
    pub fn open(&mut self, named: &Named, folder: &Path) -> Result<Set, String> {
        if let Some(known) = self.known.iter().find(|known| known.is_called(&named.isa)) {
            return Ok(Set::new(known.tables, known.semantics, known.hardware));
        }
        let path = entry(&folder.join(&named.isa));
        if !path.exists() {
            return Err(self.unknown(&named.isa, &folder.join(&named.isa)));
        }
        let key = (path, named.generation.clone());
        let fresh = self.loaded.get(&key).is_some_and(|loaded| loaded.is_fresh());
        if !fresh {
            self.loaded.insert(key.clone(), Loaded::read(&key.0, named.generation.as_deref()));
        }
        self.loaded.get(&key).map_or_else(|| Err(String::new()), |loaded| loaded.set.clone())
    }
}

impl Sets<'_> {
    /// Why a name is no set, and no file is there.
    fn unknown(&self, name: &str, path: &Path) -> String {
        let given = Path::new(name);
        if given.components().count() > 1 || given.extension().is_some() {
            return format!("there is no file `{}`", plain(path).display());
        }
        let near = nearest(name, self.known.iter().flat_map(|known| known.aliases.iter().copied().chain([known.name])));
        let names: Vec<String> = self.known.iter().map(|known| format!("`{}`", known.name)).collect();
        let mut message = format!("`{name}` is neither {} nor the path of a specification", names.join(", "));
        if let Some(near) = near {
            message.push_str(&format!("\ndid you mean `{near}`?"));
        }
        message
    }
}

/// A path without `..`, as far as its folder exists.
fn plain(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

/// A time and a length.
type Stamp = (SystemTime, u64);

/// Changes of a file that are closer to each other may have the same time.
const TICK: Duration = Duration::from_millis(50);

fn saved(path: &Path) -> Option<Stamp> {
    path.metadata().and_then(|metadata| Ok((metadata.modified()?, metadata.len()))).ok()
}

impl Loaded {
    fn read(path: &Path, generation: Option<&str>) -> Loaded {
        let before = SystemTime::now().checked_sub(TICK);
        let settings = Settings { generation: generation.map(str::to_owned), ..Settings::new(path) };
        let (files, set) = match load(&settings) {
            Ok(loaded) => (loaded.checked.files, Ok(Set::new(loaded.tables, loaded.semantics, loaded.hardware))),
            Err(Refusal::Mistakes(failure)) => {
                let count = failure.diagnostics.error_count();
                let which = if count == 1 { "a mistake" } else { "mistakes" };
                (failure.files(), Err(format!("`{}` has {which}; `isaforge check` says more", path.display())))
            }
            Err(Refusal::Generation { message, help }) => (vec![path.to_owned()], Err(format!("{message}: {help}"))),
        };
        let files: Vec<_> =
            files.into_iter().map(|file| (saved(&file), file)).map(|(time, file)| (file, time)).collect();
        // A time in the future says nothing about when the file was changed.
        let now = SystemTime::now();
        let recent = files.iter().any(|(_, stamp)| stamp.is_some_and(|(time, _)| Some(time) >= before && time <= now));
        Loaded { files, recent, set }
    }

    fn is_fresh(&self) -> bool {
        !self.recent && self.files.iter().all(|(file, time)| saved(file) == *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_the_set() {
        let named = |text: &str| in_comment(text).map(|(named, line)| (named.isa, named.generation, line));
        assert_eq!(named("// a shader\n  # isa: valhall\n"), Some(("valhall".into(), None, 1)));
        assert_eq!(named("; isa: ../ir3.xml 630"), Some(("../ir3.xml".into(), Some("630".into()), 0)));
        assert_eq!(named("\u{feff}// isa: usc"), Some(("usc".into(), None, 0)));
        assert_eq!(named("isa: valhall\n// isa:\nMOV r1, r2 // isa: x"), None);
    }
}
