//! Loads a set by name or path.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use isaforge_analysis as analysis;
use isaforge_compiler::Settings;
use isaforge_compiler::load::{Loaded, Refusal, entry, load as lower};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::builtin;
use crate::error;
use crate::set::{Decoder, Isa, Origin, Set};

/// The state of a file when a specification was read.
type Stamp = (PathBuf, Option<(SystemTime, u64)>);

/// A loaded set with the files it came from; built-in sets have none.
struct Known {
    set: &'static Set,
    stamps: Vec<Stamp>,
}

/// Tables live until the process ends, so a specification that has not changed is not lowered again.
static KNOWN: Mutex<Option<HashMap<Origin, Known>>> = Mutex::new(None);

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok();
    (path.to_owned(), data.and_then(|data| Some((data.modified().ok()?, data.len()))))
}

fn known(key: &Origin) -> Option<&'static Set> {
    let guard = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = guard.as_ref()?.get(key)?;
    found.stamps.iter().all(|(path, then)| stamp(path).1 == *then).then_some(found.set)
}

fn keep(key: Origin, set: Set, stamps: Vec<Stamp>) -> &'static Set {
    let set: &'static Set = Box::leak(Box::new(set));
    let mut guard = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_default().insert(key, Known { set, stamps });
    set
}

/// The names of the built-in instruction sets.
///
/// >>> import isaforge
/// >>> isaforge.sets()
/// ('valhall', 'valhall-2021', 'vpu', 'usc')
#[pyfunction]
pub fn sets(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyTuple>> {
    pyo3::types::PyTuple::new(py, builtin::ALL.iter().map(|found| found.names[0]))
}

/// Loads an instruction set: a built-in one by name (see `sets`), or a specification by its path.
///
/// A path is that of a file, of a folder with an `isa.yaml`, or of a document in a foreign format such as Mesa's
/// isaspec XML. A specification with several generations requires `generation`. A specification is loaded again only if
/// it has changed.
///
/// Raises `SpecError` with every mistake in the specification.
///
/// >>> import isaforge
/// >>> isaforge.load("mali")
/// <isaforge.Isa 'valhall': words of 64 bits, 238 instructions>
/// >>> isaforge.load("valhal")
/// Traceback (most recent call last):
///   ...
/// isaforge.errors.SpecError: `valhal` is neither an instruction set nor a file (did you mean `valhall`?)
#[pyfunction]
#[pyo3(signature = (name, generation=None))]
pub fn load(py: Python<'_>, name: &Bound<'_, PyAny>, generation: Option<String>) -> PyResult<Isa> {
    let name: PathBuf = name.extract().map_err(|_| {
        let kind = name.get_type().name().map_or_else(|_| "object".to_owned(), |kind| kind.to_string());
        PyTypeError::new_err(format!("`name` is a string or a path, not {kind}"))
    })?;
    let spelled = name.to_str().unwrap_or_default();
    let builtin = builtin::ALL.iter().find(|found| found.names.contains(&spelled));
    if let Some(found) = builtin {
        if generation.is_some() {
            return Err(error::no_set(py, &format!("`{spelled}` has no generations"), "leave it out"));
        }
        let key = (PathBuf::from(found.names[0]), None);
        return Ok(Isa { set: known(&key).unwrap_or_else(|| keep(key, found.into(), Vec::new())) });
    }
    if !name.exists() {
        let known = || builtin::ALL.iter().map(|found| found.names[0]);
        let help = match did_you_mean(spelled, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected {}, or the path of a specification", one_of(known())),
        };
        let message = format!("`{}` is neither an instruction set nor a file", name.display());
        return Err(error::no_set(py, &message, &help));
    }
    let set = py.detach(|| from_specification(&name, generation));
    set.map(|set| Isa { set }).map_err(|refusal| error::specification(py, &refusal))
}

fn from_specification(given: &Path, generation: Option<String>) -> Result<&'static Set, Refusal> {
    let spec = entry(given);
    let key = (spec.canonicalize().unwrap_or_else(|_| spec.clone()), generation.clone());
    if let Some(set) = known(&key) {
        return Ok(set);
    }
    let settings = Settings { generation, root: std::env::current_dir().ok(), ..Settings::new(spec) };
    let Loaded { tables, fast, semantics, hardware, checked } = lower(&settings)?;
    let name = given.display().to_string();
    let set = Set {
        decoder: fast.map_or(Decoder::None, Decoder::Tables),
        origin: key.clone(),
        ..Set::new(name, analysis::Set::new(tables, semantics, hardware))
    };
    // The folder is included because adding a file to it may change the specification.
    let files = checked.files.iter().map(PathBuf::as_path).chain([key.0.as_path()]);
    let stamps = files.map(stamp).collect();
    Ok(keep(key, set, stamps))
}
