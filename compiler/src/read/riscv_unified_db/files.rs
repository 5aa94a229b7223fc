//! The files in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Sources;
use crate::yaml::{Node, read_yaml};

/// Where instructions are, relative to the given folder.
const PLACES: [&str; 4] = ["spec/std/isa/inst", "std/isa/inst", "isa/inst", "inst"];
/// The maximum number of files.
const MAX_FILES: usize = 20_000;
/// The maximum nesting of folders.
const MAX_DEPTH: usize = 6;

/// The folder with the instructions.
pub(super) fn instructions(path: &Path) -> Option<PathBuf> {
    if path.ends_with("isa/inst") && path.is_dir() {
        return Some(path.to_owned());
    }
    // One of isaforge's own specifications may have a folder of that name.
    if path.join("isa.yaml").exists() {
        return None;
    }
    PLACES.iter().map(|place| path.join(place)).find(|folder| folder.is_dir())
}

/// All documents of instructions, ordered by name.
pub(super) fn read(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Vec<Node> {
    let mut files = Vec::new();
    if let Some(folder) = instructions(path) {
        collect(&folder, MAX_DEPTH, &mut files, out);
    }
    files.sort();
    if files.len() > MAX_FILES {
        let message = format!("`{}` has more than {MAX_FILES} files", path.display());
        out.push(Diagnostic::error_without_place("E0127", message));
        return Vec::new();
    }
    let mut documents = Vec::new();
    for file in files {
        match sources.load(&file) {
            Ok(file) => documents.extend(read_yaml(sources, file, out)),
            Err(error) => out.push(Diagnostic::error_without_place("E0003", error.to_string())),
        }
    }
    if documents.is_empty() {
        let message = format!("`{}` has no documents of instructions", path.display());
        out.push(Diagnostic::error_without_place("E0034", message));
    }
    documents
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>, out: &mut Diagnostics) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", folder.display());
            out.push(Diagnostic::error_without_place("E0003", message));
            return;
        }
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // Links are not followed, since they may lead anywhere.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, files, out);
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "yaml") && files.len() <= MAX_FILES
        {
            files.push(path);
        }
    }
}
