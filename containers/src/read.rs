//! Reads numbers and names in files, and decompresses data.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// The maximum decompressed size of a part in bytes: a hundred times the largest known shader.
const MOST: u64 = 64 << 20;

/// Reads a 32-bit little-endian number.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The `len` bytes from `at`. `None` when they extend past the end of the file.
pub fn run(bytes: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(len)?)
}

/// Formats bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decompresses to exactly `size` bytes, with zstd or zlib according to the first bytes. `None` when the data are
/// damaged.
pub fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if size as u64 > MOST {
        return None;
    }
    match packed {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => take(StreamingDecoder::new(packed).ok()?, size),
        [0x78, ..] => take(ZlibDecoder::new(packed), size),
        _ => (packed.len() == size).then(|| packed.to_vec()),
    }
}

/// Decompresses raw deflate data.
pub fn inflate(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if size as u64 > MOST { None } else { take(DeflateDecoder::new(packed), size) }
}

fn take(from: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Read one byte more, to detect data that are too long.
    from.take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size).then_some(bytes)
}
