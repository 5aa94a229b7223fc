//! Finds the files below paths.

use std::fs;
use std::path::{Path, PathBuf};

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path; `-` is standard input.
    pub path: PathBuf,
    /// Its name: the path below the given one, or the file name.
    pub name: String,
    /// The path that was given.
    pub source: String,
}

/// The files below all paths, in each folder ordered by name. Paths that cannot be opened are added to `refused`.
pub fn files(paths: &[PathBuf], refused: &mut Vec<(String, String)>) -> Vec<Found> {
    let mut found = Vec::new();
    for given in paths {
        let source = given.display().to_string();
        if given.is_dir() {
            below(given, given, &source, &mut found, refused);
            continue;
        }
        let name = given.file_name().map_or_else(|| source.clone(), |name| name.to_string_lossy().into_owned());
        let name = if given.as_os_str() == "-" { "<stdin>".to_owned() } else { name };
        found.push(Found { path: given.clone(), name, source });
    }
    found
}

/// Adds the files below a folder. Links to folders are not followed, so that the walk terminates.
fn below(root: &Path, folder: &Path, source: &str, found: &mut Vec<Found>, refused: &mut Vec<(String, String)>) {
    let mut entries: Vec<fs::DirEntry> = match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(Result::ok).collect(),
        Err(error) => return refused.push((folder.display().to_string(), error.to_string())),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(root, &path, source, found, refused),
            Ok(kind) if kind.is_symlink() && path.is_dir() => {}
            _ => {
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                found.push(Found { path, name, source: source.to_owned() });
            }
        }
    }
}
