//! `isaforge diff`: what changed between two revisions of an instruction set.

use std::io::Write;

use isaforge_compiler::diff::{diff as compare, diff_streams};

use crate::args::{DiffArgs, DiffFormat};
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::target::named_or_at;

/// Runs `diff`. The mistakes of its status are old binaries that would be read otherwise.
///
/// # Errors
/// When a revision is not to be had: a file that is not there, or a specification with mistakes, which have been
/// reported then.
pub fn diff(args: &DiffArgs) -> Result<Status, Failure> {
    // Both are read, so that one run shows the mistakes of both.
    let old = named_or_at(&args.old, args.old_generation.as_deref())?;
    let new = named_or_at(&args.new, args.new_generation.as_deref())?;
    let (Some(old), Some(new)) = (old, new) else {
        return Err(Failure::usage("a specification has mistakes, so that nothing was compared", ""));
    };
    let found = match (old.tables, new.tables) {
        (Tables::Streams(first), Tables::Streams(second)) => {
            old.layouts()?;
            new.layouts()?;
            diff_streams(first, second)
        }
        (Tables::Streams(_), Tables::Words(_)) => return Err(old.not_alike(&new)),
        (Tables::Words(_), Tables::Streams(_)) => return Err(new.not_alike(&old)),
        _ => compare(old.words()?, new.words()?),
    };
    let mut text = match args.format {
        DiffFormat::Text => found.to_text(),
        DiffFormat::Json => found.to_json(),
        DiffFormat::Markdown => found.to_markdown(),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Status::mistakes_if(!found.decodes_alike()))
}
