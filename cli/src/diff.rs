//! `isaforge diff`: compares two revisions of an instruction set.

use std::io::Write;

use isaforge_compiler::diff::{Revision, diff as compare, diff_groups, diff_streams};

use crate::args::{DiffArgs, DiffFormat};
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::output::plain_stdout;
use crate::target::{Pair, Target, named_or_at};

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
    let old = named_or_at(&args.old, args.old_generation.as_deref(), "--old-generation")?;
    let new = named_or_at(&args.new, args.new_generation.as_deref(), "--new-generation")?;
    let (Some(old), Some(new)) = (old, new) else {
        return Err(Failure::usage("a specification has mistakes, so nothing was compared", ""));
    };
    let found = match (old.tables, new.tables) {
        (Tables::Groups(first), Tables::Groups(second)) => diff_groups(old.revision(first), new.revision(second)),
        _ => match old.pair(&new)? {
            Pair::Words(first, second) => compare(old.revision(first), new.revision(second)),
            Pair::Streams(first, second) => diff_streams(old.revision(first), new.revision(second)),
        },
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
