//! Helpers that several tests share.

use std::path::{Path, PathBuf};

use isaforge_compiler::stream::lower::lower;
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::stream::{Engine, Stream};

fn stream(path: &Path) -> Result<&'static Stream, String> {
    let checked = check_spec(&Settings::new(path)).map_err(|failure| failure.to_string())?;
    let stream = checked.isa.stream().ok_or("it is no stream")?;
    Ok(lower(&checked.isa, stream))
}

/// Returns the engine of a specification, or its errors.
pub fn open(path: &Path, generation: u32) -> Result<Engine, String> {
    Ok(Engine { stream: stream(path)?, generation })
}

/// Returns the engines of the first two generations of a specification, or its errors.
pub fn open_both(path: &Path) -> Result<[Engine; 2], String> {
    let stream = stream(path)?;
    Ok([0, 1].map(|generation| Engine { stream, generation }))
}

/// Reads hexadecimal digits.
pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect()
}

/// Writes hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Assembles a line to hexadecimal digits.
pub fn assembled(engine: Engine, text: &str) -> Result<String, String> {
    let parsed = engine.parse(text).map_err(|error| error.to_string())?;
    Ok(hex(&engine.store(parsed.decoded.word)[..usize::from(parsed.decoded.len)]))
}

/// Returns a path next to the project, if it exists.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    path.exists().then_some(path)
}
