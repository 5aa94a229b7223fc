//! `isaforge lsp`: runs a language server over standard input and output.

use std::io::{self, BufReader};

use isaforge_lsp::{Known, ServeError, serve, stdio};

use crate::builtin;
use crate::failure::{Failure, Status};
use crate::output::say;

/// Runs `lsp` until the editor ends it. The exit status is 1 if the editor violated the protocol, also by an
/// `exit` without `shutdown`.
///
/// # Errors
/// When standard input or output fails.
pub fn lsp() -> Result<Status, Failure> {
    let known = |found: &builtin::Builtin| Known {
        name: found.name,
        aliases: found.aliases,
        tables: found.tables,
        semantics: found.semantics,
        hardware: found.hardware,
    };
    let sets: Vec<Known> = builtin::ALL.iter().map(known).collect();
    let (connection, threads) = stdio::connect(BufReader::new(io::stdin()), io::stdout());
    let served = serve(&connection, &sets);
    let ended = connection.receiver.try_recv().is_err_and(|error| error.is_disconnected());
    // The threads end once the connection is dropped.
    drop(connection);
    match served {
        Ok(()) => {
            threads.join()?;
            Ok(Status::Fine)
        }
        // Nobody is left to be told.
        Err(ServeError::Ended(_)) => Ok(Status::Fine),
        Err(error) => {
            // The end of the input is no mistake between two messages.
            let closed = ended && matches!(error, ServeError::Gone);
            let cause = if closed { threads.join().err() } else { threads.failed() };
            let cause = match cause {
                Some(cause) => cause.to_string(),
                None if closed => return Ok(Status::Fine),
                None => error.to_string(),
            };
            say(&format!("isaforge lsp: {cause}"));
            Ok(Status::Mistakes)
        }
    }
}
