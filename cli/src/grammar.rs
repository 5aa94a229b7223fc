//! `isaforge grammar`: generates syntax highlighting for editors.

use std::io::Write;

use isaforge_lsp::grammar::grammar as of_set;

use crate::args::GrammarArgs;
use crate::failure::{Failure, Status};
use crate::output::{stdout, write_whole};

/// Runs `grammar`.
///
/// # Errors
/// When the output cannot be written.
pub fn grammar(args: &GrammarArgs) -> Result<Status, Failure> {
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let text = format!("{:#}\n", of_set(&target.set()));
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => stdout().write_all(text.as_bytes())?,
    }
    Ok(Status::Fine)
}
