//! Numbers and names of files, and what unpacks.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// The most bytes that a part may unpack to: a hundred times the largest shader that is known.
const MOST: u64 = 64 << 20;

/// Four bytes, the lowest first.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The bytes of a run; `None` where it leaves the file.
pub fn run(bytes: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(len)?)
}

/// Bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Unpacks bytes to exactly `size`: with zstd or zlib, as their first bytes say. Returns `None` if they are damaged.
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

/// Unpacks bytes without a head, as deflate writes them.
pub fn inflate(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if size as u64 > MOST { None } else { take(DeflateDecoder::new(packed), size) }
}

fn take(from: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more tells what is too long.
    from.take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size).then_some(bytes)
}
