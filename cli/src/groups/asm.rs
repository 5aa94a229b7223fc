//! `isaforge asm` for groups: a program's text to bytes.

use isaforge_core::group::GroupIsa;
use isaforge_core::group::listing::assemble_program;
use isaforge_core::program::ProgramError;

use super::hex;
use crate::words::Encoding;

/// Bytes in hexadecimal, sixteen a line, or raw.
///
/// # Errors
/// Every mistake of the text.
pub fn asm(isa: &'static GroupIsa, text: &str, encoding: Encoding) -> Result<Vec<u8>, Vec<ProgramError>> {
    let bytes = assemble_program(isa, text)?;
    Ok(match encoding {
        Encoding::Bin => bytes,
        Encoding::Hex => bytes.chunks(16).flat_map(|chunk| format!("{}\n", hex(chunk)).into_bytes()).collect(),
    })
}
