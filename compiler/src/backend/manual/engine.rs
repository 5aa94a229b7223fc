//! The script that makes the pages interactive: the module of the crate `isaforge-page`, the tables, and the records of
//! the search, in a form that browsers load from disk.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use isaforge_core::data::{Architecture, write};

use super::subject::Subject;

/// The compressed module, built by `.ci/page`.
const MODULE: &[u8] = include_bytes!("assets/page.wasm.gz");

/// The tables and the records, in the format that the module reads.
pub fn data(subject: &Subject, records: &str) -> Vec<u8> {
    let architecture =
        Architecture { tables: subject.tables, semantics: subject.semantics, hardware: subject.hardware };
    let mut data = (records.len() as u32).to_le_bytes().to_vec();
    data.extend_from_slice(records.as_bytes());
    data.extend(write(&architecture));
    data
}

/// Returns the script.
pub fn script(data: &[u8]) -> String {
    format!(
        "const isaforgeEngine={{code:\"{}\",data:\"{}\"}};\n",
        STANDARD.encode(MODULE),
        STANDARD.encode(packed(data))
    )
}

/// Compresses data without metadata, so that the same input always gives the same bytes.
fn packed(data: &[u8]) -> Vec<u8> {
    let mut encoder: GzEncoder<Vec<u8>> = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    // Writing to a vector cannot fail.
    let written = encoder.write_all(data).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}
