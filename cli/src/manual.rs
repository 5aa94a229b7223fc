//! `isaforge manual`: writes the manual of an instruction set to a folder, or serves it while the specification is
//! edited.

mod serve;

use std::fs;
use std::path::Path;

use isaforge_compiler::backend::manual::{Files, Subject, manual as make};
use isaforge_core::Tables;

use crate::args::ManualArgs;
use crate::failure::{Failure, Status};
use crate::output::{count, say};
use crate::target::{Target, named_or_at};

/// Runs `manual`.
///
/// # Errors
/// When a specification cannot be opened, or the folder cannot be written.
pub fn manual(args: &ManualArgs) -> Result<Status, Failure> {
    if let Some(port) = args.serve {
        return serve::serve(args, port);
    }
    let Some(files) = files(args)? else { return Ok(Status::Mistakes) };
    let folder = args.output.as_deref().unwrap_or(Path::new("."));
    for (name, content) in &files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Failure::writing(parent))?;
        // Unchanged files keep their modification time.
        if !fs::read(&path).is_ok_and(|old| old == content.as_bytes()) {
            fs::write(&path, content).map_err(Failure::writing(&path))?;
        }
    }
    let size: usize = files.values().map(String::len).sum();
    let size = format!("{:.1} MB", size as f64 / 1e6);
    say(&format!("{} ({size}): open {}", count(files.len() as u64, "file"), folder.join("index.html").display()));
    Ok(Status::Fine)
}

/// The files of the manual. `None` if a specification has errors, which have been reported.
fn files(args: &ManualArgs) -> Result<Option<Files>, Failure> {
    let target = named_or_at(&args.spec, args.generation.as_deref(), "--generation")?;
    let since = match &args.since {
        Some(since) => match named_or_at(since, None, "--generation")? {
            Some(since) => Some(since),
            None => return Ok(None),
        },
        None => None,
    };
    let Some(target) = target else { return Ok(None) };
    if let Some(since) = &since {
        let words = |target: &Target| matches!(target.tables, Tables::Words(_));
        if !words(&target) || !words(since) {
            let message = format!("`{}` and `{}` cannot be compared", since.name, target.name);
            return Err(Failure::usage(message, "`--since` compares instruction sets of words of at most 64 bits"));
        }
    }
    Ok(Some(make(&Subject {
        tables: target.tables,
        semantics: target.semantics,
        hardware: target.hardware,
        since: since.map(|since| since.tables),
    })))
}
