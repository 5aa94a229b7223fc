//! Specifications that users name: the settings to compile one, and what is printed about one.

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostics, Style};
use isaforge_compiler::source::Sources;
use isaforge_compiler::{Settings, load};

use crate::failure::Failure;
use crate::input;
use crate::output::{count, say};
use crate::paint::{ERROR, columns, paint};

/// Returns the settings for a specification that a user names: a file, a folder that contains `isa.yaml`, or a folder
/// of documents.
///
/// # Errors
/// When the file does not exist or cannot be opened.
pub fn settings(given: &Path) -> Result<Settings, Failure> {
    let spec = load::entry(given);
    if !spec.is_dir() {
        input::head(&spec, 1)?;
    }
    // Messages name files relative to the current folder, as the user did.
    let root = std::env::current_dir().ok();
    Ok(Settings { root, unsaved: input::unsaved(&spec)?, ..Settings::new(spec) })
}

/// Prints diagnostics to standard error, each followed by an empty line.
pub fn render(diagnostics: &Diagnostics, sources: &Sources) {
    if !diagnostics.is_empty() {
        say(&text(diagnostics, sources));
    }
}

/// Formats diagnostics like [`render`].
pub fn text(diagnostics: &Diagnostics, sources: &Sources) -> String {
    // Always coloured: the stream removes colours where they are not wanted.
    let style = Style { color: true, cap: 100, width: columns().max(80) };
    format!("{}\n", diagnostics.render(sources, style))
}

/// Prints the number of errors and warnings of a specification to standard error.
pub fn summarise_failure(spec: &Path, diagnostics: &Diagnostics) {
    let mut counts = vec![count(diagnostics.error_count() as u64, "error")];
    if diagnostics.warning_count() > 0 {
        counts.push(count(diagnostics.warning_count() as u64, "warning"));
    }
    say(&format!("{}: {}: {}", spec.display(), paint(ERROR, "failed"), counts.join(", ")));
}
