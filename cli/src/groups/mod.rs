//! The commands on instruction sets whose instructions are groups of bytes.

pub mod conform;
pub mod dis;
pub mod explain;

use crate::mistakes::{Mistake, Place};
use crate::words::{Encoding, detect, hex_digits};

/// Bytes read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The bytes in memory order, up to the first error.
    pub bytes: Vec<u8>,
    /// The offsets at which lines of hexadecimal text start; empty for raw bytes.
    pub lines: Vec<usize>,
    /// The error, if there is one.
    pub mistake: Option<Mistake>,
}

/// Reads bytes in the given encoding, or in the detected one.
pub fn read(content: &[u8], encoding: Option<Encoding>) -> Bytes {
    if encoding.unwrap_or_else(|| detect(content)) == Encoding::Bin {
        return Bytes { bytes: content.to_vec(), ..Bytes::default() };
    }
    let mut found = Bytes::default();
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let words = hex_digits(line, 2);
        if !words.words.is_empty() {
            found.lines.push(found.bytes.len());
        }
        found.bytes.extend(words.words.iter().map(|word| *word as u8));
        if let Some(mut mistake) = words.mistake {
            if let Place::Text(line, _) = &mut mistake.place {
                *line = index + 1;
            }
            mistake.help = "a byte is two digits, in the order of memory; raw bytes need `--in bin`".to_owned();
            found.mistake = Some(mistake);
            break;
        }
    }
    found
}

/// Parses bytes given as an argument: pairs of hexadecimal digits, optionally separated by spaces, commas or `0x`.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    let found = read(text.as_bytes(), Some(Encoding::Hex));
    (found.mistake.is_none() && !found.bytes.is_empty()).then_some(found.bytes)
}
