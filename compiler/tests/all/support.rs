//! Helpers that several tests share.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::load::{Loaded, load};
use isaforge_compiler::source::Sources;
use isaforge_compiler::stream::lower::lower;
use isaforge_compiler::{Checked, Compiled, Failure, Settings, check_spec, compile};
use isaforge_core::stream::{Engine, Stream};
use tempfile::TempDir;

/// Makes a folder with files. `isa.yaml` is the entry of a specification.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder is writable");
        std::fs::write(path, text).expect("the folder is writable");
    }
    folder
}

/// The settings for the specification in a folder, which may not leave it.
pub fn settings(folder: &TempDir) -> Settings {
    Settings { root: Some(folder.path().to_owned()), ..Settings::new(folder.path().join("isa.yaml")) }
}

/// Checks a specification given as text.
pub fn checked(text: &str) -> Result<Checked, Box<Failure>> {
    check_spec(&settings(&folder(&[("isa.yaml", text)])))
}

/// Compiles a specification given as text, or returns its errors.
pub fn compiled(text: &str) -> Result<Compiled, String> {
    compile(&settings(&folder(&[("isa.yaml", text)]))).map_err(|failure| failure.to_string())
}

/// Loads a specification given as text, as the command does.
pub fn loaded(text: &str) -> Loaded {
    load(&settings(&folder(&[("isa.yaml", text)]))).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Returns what is found in a specification, whether it is valid or not.
pub fn found(checked: Result<Checked, Box<Failure>>) -> (Diagnostics, Sources) {
    match checked {
        Ok(checked) => (checked.diagnostics, checked.sources),
        Err(failure) => (failure.diagnostics, failure.sources),
    }
}

/// Replaces parts of a text, each of which it must contain.
pub fn replaced(text: &str, replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is in the text");
        text.replace(from, to)
    })
}

fn stream(path: &Path) -> Result<&'static Stream, String> {
    let checked = check_spec(&Settings::new(path)).map_err(|failure| failure.to_string())?;
    let stream = checked.isa.stream().ok_or("it is no stream")?;
    Ok(lower(&checked.isa, stream))
}

/// Returns the engine of a specification, or its errors.
pub fn open(path: &Path, generation: u32) -> Result<Engine, String> {
    Ok(Engine { stream: stream(path)?, generation })
}

/// Returns the engines of the first two generations of a specification, or its errors.
pub fn open_both(path: &Path) -> Result<[Engine; 2], String> {
    let stream = stream(path)?;
    Ok([0, 1].map(|generation| Engine { stream, generation }))
}

/// Reads hexadecimal digits.
pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect()
}

/// Writes hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Assembles a line to hexadecimal digits.
pub fn assembled(engine: Engine, text: &str) -> Result<String, String> {
    let parsed = engine.parse(text).map_err(|error| error.to_string())?;
    Ok(hex(&engine.store(parsed.decoded.word)[..usize::from(parsed.decoded.len)]))
}

/// Returns a path next to the project, if it exists.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    path.exists().then_some(path)
}
