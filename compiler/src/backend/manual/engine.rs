//! What runs in the pages, and what it runs on: the module of the crate `isaforge-page`, the tables and the records of the
//! search, as a script that browsers load from disk.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use isaforge_core::data::{Bundle, write};

use super::Subject;

/// The module, compressed. `.ci/page` builds it.
const MODULE: &[u8] = include_bytes!("assets/page.wasm.gz");

/// The tables and the records as the module reads them.
pub fn data(subject: &Subject, records: &str) -> Vec<u8> {
    let bundle = Bundle { tables: subject.tables, semantics: subject.semantics, hardware: subject.hardware };
    let mut data = (records.len() as u32).to_le_bytes().to_vec();
    data.extend_from_slice(records.as_bytes());
    data.extend(write(&bundle));
    data
}

/// The script.
pub fn script(data: &[u8]) -> String {
    format!(
        "const isaforgeEngine={{code:\"{}\",data:\"{}\"}};\n",
        STANDARD.encode(MODULE),
        STANDARD.encode(packed(data))
    )
}

/// Compressed, with nothing in it but the data: the same input gives the same bytes.
fn packed(data: &[u8]) -> Vec<u8> {
    let mut encoder: GzEncoder<Vec<u8>> = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    // A vector takes everything.
    let written = encoder.write_all(data).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}
