//! `isaforge lsp`: a language server over standard input and output.

use isaforge_lsp::{Known, serve};
use lsp_server::Connection;

use crate::builtin;
use crate::failure::{Failure, Status};
use crate::output::say;

/// Runs `lsp` until the editor ends it: exit status 1 if the editor did not keep to the protocol.
///
/// # Errors
/// When standard input or output fails.
pub fn lsp() -> Result<Status, Failure> {
    let known = |found: &builtin::Builtin| Known {
        name: found.name,
        aliases: found.aliases,
        tables: found.tables,
        semantics: found.semantics,
    };
    let sets: Vec<Known> = builtin::ALL.iter().map(known).collect();
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, &sets);
    // The threads end when nobody is left to talk to.
    drop(connection);
    match served {
        Ok(()) => {
            threads.join()?;
            Ok(Status::Fine)
        }
        Err(error) => {
            say(&format!("isaforge lsp: {error}"));
            Ok(Status::Mistakes)
        }
    }
}
