//! The instruction sets of a lake: built-in ones by name, and specifications that are stored with the programs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use isaforge_analysis as analysis;
use isaforge_arrow::{Decoder, INVALID, Set};
use isaforge_cli::run::{readers, valhall};
use isaforge_cli::{builtin, target};
use isaforge_compiler::Settings;
use isaforge_compiler::load::{Loaded, entry, load};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// The decoder of a generated crate.
macro_rules! decoder {
    ($set:ident) => {
        Decoder::Generated(|words, opcodes| {
            for (word, opcode) in words.iter().zip(opcodes) {
                *opcode = $set::decode(u64::from_le_bytes(*word)).map_or(INVALID, |found| found.opcode() as u16);
            }
        })
    };
}

/// The decoders of generated crates.
static DECODERS: &[(&str, Decoder)] = &[
    ("valhall", decoder!(isaforge_valhall)),
    ("valhall-2021", decoder!(isaforge_valhall_2021)),
    ("vpu", decoder!(isaforge_vpu)),
];

/// A description from which an instruction set can be recreated on any machine: the name of a built-in one, or a
/// specification.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Recipe {
    /// The name, as in the column `isa`.
    pub name: String,
    /// The specification; `None` for a built-in set.
    pub specification: Option<Specification>,
}

/// A specification with all of its files.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Specification {
    /// The entry file; its path is relative, like those of `files`.
    pub entry: String,
    /// The generation, if the specification has several.
    pub generation: Option<String>,
    /// Paths and contents.
    pub files: Vec<(String, String)>,
}

/// An instruction set with its recipe.
#[derive(Debug)]
pub struct Known {
    /// The recipe to recreate it.
    pub recipe: Recipe,
    /// The set.
    pub set: Arc<Set>,
}

/// The sets of a lake.
#[derive(Clone, Debug, Default)]
pub struct Sets(Vec<Arc<Known>>);

/// Sets by the digest of their recipe. Tables live until the process ends, so each is built only once.
static KNOWN: Mutex<Option<HashMap<[u8; 32], Arc<Known>>>> = Mutex::new(None);

impl Sets {
    /// Creates sets from their recipes.
    ///
    /// # Errors
    /// When a specification has mistakes, or a built-in set does not exist.
    pub fn new(recipes: Vec<Recipe>) -> Result<Sets> {
        recipes.into_iter().map(Known::of).collect::<Result<_>>().map(Sets)
    }

    /// All sets.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Known>> {
        self.0.iter()
    }

    /// The set with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Known>> {
        self.0.iter().find(|known| known.recipe.name == name)
    }

    /// The set, if there is only one.
    pub fn only(&self) -> Option<&Arc<Known>> {
        match self.0.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Adds the sets of another lake, for queries on both. Different ones may have the same name.
    pub fn extend(&mut self, others: Sets) {
        for other in others.0 {
            if self.iter().all(|known| known.recipe != other.recipe) {
                self.0.push(other);
            }
        }
    }

    /// Whether several sets have this name.
    pub fn is_ambiguous(&self, name: &str) -> bool {
        self.iter().filter(|known| known.recipe.name == name).count() > 1
    }

    /// Their names, for messages.
    pub fn names(&self) -> String {
        one_of(self.0.iter().map(|known| known.recipe.name.as_str()))
    }

    /// Serialises the recipes for other machines.
    pub fn encode(&self) -> Vec<u8> {
        let recipes: Vec<&Recipe> = self.0.iter().map(|known| &known.recipe).collect();
        serde_json::to_vec(&recipes).unwrap_or_default()
    }

    /// Recreates sets from the output of [`encode`](Sets::encode).
    ///
    /// # Errors
    /// When the bytes are truncated or damaged, and as for [`Sets::new`].
    pub fn decode(bytes: &[u8]) -> Result<Sets> {
        let recipes = serde_json::from_slice(bytes);
        Sets::new(recipes.map_err(|error| Error::usage(format!("the names of sets are damaged: {error}"), ""))?)
    }
}

impl Known {
    /// Opens a set that a user names: a built-in one, or the path of a specification.
    ///
    /// # Errors
    /// When it is neither, or the specification has mistakes, which are reported.
    pub fn open(given: &Path, generation: Option<&str>) -> Result<Arc<Known>> {
        let name = given.to_str().unwrap_or_default();
        if let Some(found) = builtin::find(name) {
            if generation.is_some() {
                let message = format!("`{name}` has no generations");
                return Err(Error::usage(message, "generations are those of a specification"));
            }
            return Known::of(Recipe { name: found.name.to_owned(), specification: None });
        }
        if !given.exists() {
            return Err(no_set(name));
        }
        // Reports mistakes like the `isaforge` command.
        match target::from_specification(given, generation, "--generation") {
            Ok(Some(_)) => {}
            Ok(None) => return Err(Error::Specification),
            Err(isaforge_cli::failure::Failure::Usage { message, help }) => return Err(Error::usage(message, help)),
            Err(failure) => return Err(Error::usage(failure.to_string(), "")),
        }
        Known::of(packed(given, generation)?)
    }

    /// Whether its programs run in workgroups, as those of Valhall do.
    pub fn runs_in_workgroups(&self) -> bool {
        let launches = builtin::find(&self.recipe.name).and_then(readers::of);
        launches.is_some_and(|launches| std::ptr::eq(launches, &valhall::LAUNCHES))
    }

    /// Creates the set of a recipe.
    ///
    /// # Errors
    /// When the specification has mistakes, or a built-in set does not exist.
    pub fn of(recipe: Recipe) -> Result<Arc<Known>> {
        let key: [u8; 32] = Sha256::digest(serde_json::to_vec(&recipe).unwrap_or_default()).into();
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().as_ref().and_then(|known| known.get(&key)) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(match &recipe.specification {
            None => of_builtin(recipe)?,
            Some(_) => of_specification(recipe)?,
        });
        known().get_or_insert_default().insert(key, Arc::clone(&made));
        Ok(made)
    }
}

fn no_set(name: &str) -> Error {
    let known = || builtin::ALL.iter().map(|found| found.name);
    let help = match did_you_mean(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected {}, or the path of a specification", one_of(known())),
    };
    Error::usage(format!("`{name}` is neither an instruction set nor a file"), help)
}

fn of_builtin(recipe: Recipe) -> Result<Known> {
    let found = builtin::find(&recipe.name).ok_or_else(|| no_set(&recipe.name))?;
    let decoder = DECODERS.iter().find(|(name, _)| *name == found.name);
    let decoder = decoder.map_or(Decoder::Exact, |(_, decoder)| *decoder);
    let set = Set::new(&recipe.name, analysis::Set::new(found.tables, found.semantics, found.hardware), decoder);
    Ok(Known { recipe, set })
}

fn of_specification(recipe: Recipe) -> Result<Known> {
    let failed = |error| Error::File { what: "cannot unpack a specification".to_owned(), error };
    let folder = tempfile::tempdir().map_err(failed)?;
    let Some(specification) = &recipe.specification else { return Err(no_set(&recipe.name)) };
    for (name, content) in &specification.files {
        let path = folder.path().join(inside(name)?);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(failed)?;
        fs::write(path, content).map_err(failed)?;
    }
    let spec = folder.path().join(inside(&specification.entry)?);
    let settings = Settings { generation: specification.generation.clone(), ..Settings::new(spec) };
    let Loaded { tables, fast, semantics, hardware, .. } = load(&settings)
        .map_err(|refusal| Error::usage(format!("the specification of `{}`: {refusal}", recipe.name), ""))?;
    let decoder = fast.map_or(Decoder::Exact, Decoder::Tables);
    let set = Set::new(&recipe.name, analysis::Set::new(tables, semantics, hardware), decoder);
    Ok(Known { recipe, set })
}

/// Rejects a path that leads out of its folder: recipes come from files and from the network.
fn inside(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    match path.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
        true => Ok(path),
        false => Err(Error::usage(format!("`{name}` leads out of the folder of a specification"), "")),
    }
}

/// Packs a specification with its files, relative to the folder that contains them all.
fn packed(given: &Path, generation: Option<&str>) -> Result<Recipe> {
    let spec = entry(given);
    let settings = Settings { generation: generation.map(str::to_owned), ..Settings::new(spec.clone()) };
    let loaded = load(&settings).map_err(|refusal| Error::usage(refusal.to_string(), ""))?;
    let name = loaded.tables.name();
    let name = generation.map_or(name.to_owned(), |generation| format!("{name}-{generation}"));
    if builtin::find(&name).is_some() {
        let message = format!("the specification is named `{name}`, like a built-in set");
        return Err(Error::usage(message, "give it another name under `isa:`"));
    }
    let reading = |path: &Path| {
        let what = format!("cannot read `{}`", path.display());
        move |error| Error::File { what, error }
    };
    let whole = |path: &Path| path.canonicalize().map_err(reading(path));
    let first = whole(&spec)?;
    let mut paths: Vec<PathBuf> = loaded.checked.files.iter().map(|path| whole(path)).collect::<Result<_>>()?;
    paths.push(first.clone());
    paths.sort();
    paths.dedup();
    let mut root = first.parent().unwrap_or(Path::new("/")).to_owned();
    while !paths.iter().all(|path| path.starts_with(&root)) {
        root.pop();
    }
    let relative = |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
    let file = |path: &PathBuf| Ok((relative(path), fs::read_to_string(path).map_err(reading(path))?));
    let files = paths.iter().filter(|path| path.is_file()).map(file).collect::<Result<_>>()?;
    let specification = Specification { entry: relative(&first), generation: generation.map(str::to_owned), files };
    Ok(Recipe { name, specification: Some(specification) })
}
