//! `isaforge diff`: compares two revisions of an instruction set.

use std::io::Write;

use isaforge_compiler::diff::{Revision, diff as compare, diff_streams};

use crate::args::{DiffArgs, DiffFormat};
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::output::plain_stdout;
use crate::target::{Target, named_or_at};

impl Target {
    /// Returns its tables and what its instructions do.
    fn revision<T>(&self, tables: T) -> Revision<T> {
        Revision { tables, semantics: self.semantics, hardware: self.hardware }
    }
}

/// Runs `diff`. The exit status is 1 if old binaries would decode differently or compatibility cannot be proved.
///
/// # Errors
/// When a file does not exist, or a specification has errors, which have been reported.
pub fn diff(args: &DiffArgs) -> Result<Status, Failure> {
    // Both are read before returning, so that one run reports the errors of both.
    let old = named_or_at(&args.old, args.old_generation.as_deref())?;
    let new = named_or_at(&args.new, args.new_generation.as_deref())?;
    let (Some(old), Some(new)) = (old, new) else {
        return Err(Failure::usage("a specification has mistakes, so nothing was compared", ""));
    };
    let found = match (old.tables, new.tables) {
        (Tables::Streams(first), Tables::Streams(second)) => {
            old.layouts()?;
            new.layouts()?;
            diff_streams(old.revision(first), new.revision(second))
        }
        (Tables::Streams(_), Tables::Words(_)) => return Err(old.not_alike(&new)),
        (Tables::Words(_), Tables::Streams(_)) => return Err(new.not_alike(&old)),
        _ => compare(old.revision(old.words()?), new.revision(new.words()?)),
    };
    let mut text = match args.format {
        DiffFormat::Text => found.to_text(),
        DiffFormat::Json => found.to_json(),
        DiffFormat::Markdown => found.to_markdown(),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut out = plain_stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Status::mistakes_if(!found.decodes_alike()))
}
