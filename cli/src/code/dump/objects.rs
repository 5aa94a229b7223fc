//! Reads what `dis --json` prints: one object per instruction.

use serde::Deserialize;

/// An instruction.
#[derive(Deserialize)]
struct Object {
    /// Its bytes in memory order, as digits.
    bytes: String,
}

/// The bytes of the objects, as one line of digits each. `None` if a line is anything else.
pub fn read(text: &str) -> Option<String> {
    let mut digits = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let object: Object = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
        for byte in object.bytes.as_bytes().chunks(2) {
            digits.push_str(std::str::from_utf8(byte).ok()?);
            digits.push(' ');
        }
        digits.push('\n');
    }
    (!digits.is_empty()).then_some(digits)
}
