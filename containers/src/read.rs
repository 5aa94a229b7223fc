//! Reads numbers and names in files, and decompresses data.

use std::io::Read;

use flate2::Crc;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// The maximum decompressed size of a part in bytes: a hundred times the largest known shader.
const MAX_PART: usize = 64 << 20;
/// The maximum decompressed size of all parts of a file together, in bytes.
const MAX_TOTAL: usize = 1 << 30;

/// How much the parts of a file may still unpack to.
#[derive(Debug)]
pub struct Room {
    left: usize,
    /// How many parts were not unpacked because they exceed a limit.
    pub refused: usize,
}

impl Room {
    /// The room of a file.
    pub fn new() -> Room {
        Room { left: MAX_TOTAL, refused: 0 }
    }

    /// Takes room for a part of `size` bytes. `None` if there is not enough.
    fn take(&mut self, size: usize) -> Option<()> {
        let left = self.left.checked_sub(size).filter(|_| size <= MAX_PART);
        self.refused += usize::from(left.is_none());
        self.left = left?;
        Some(())
    }
}

/// Reads a 32-bit little-endian number.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The `len` bytes from `at`. `None` when they extend past the end of the file.
pub fn run(bytes: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(len)?)
}

/// Whether a number is the CRC-32 of bytes: as zlib computes it, or without the final complement, like Mesa's
/// `util/crc32.c`.
pub fn is_checksum(number: u32, bytes: &[u8]) -> bool {
    let mut crc = Crc::new();
    crc.update(bytes);
    number == crc.sum() || number == !crc.sum()
}

/// Formats bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decompresses to exactly `size` bytes, with zstd or zlib according to the first bytes. `None` when the data are
/// damaged or exceed a limit.
pub fn unpack(packed: &[u8], size: usize, room: &mut Room) -> Option<Vec<u8>> {
    room.take(size)?;
    let unpacked = match packed {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => StreamingDecoder::new(packed).ok().and_then(|decoder| take(decoder, size)),
        [0x78, ..] => take(ZlibDecoder::new(packed), size),
        _ => None,
    };
    // Data that are not compressed may start like others that are.
    unpacked.or_else(|| (packed.len() == size).then(|| packed.to_vec()))
}

/// Decompresses raw deflate data, like [`unpack`].
pub fn inflate(packed: &[u8], size: usize, room: &mut Room) -> Option<Vec<u8>> {
    room.take(size)?;
    take(DeflateDecoder::new(packed), size)
}

fn take(from: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Read one byte more, to detect data that are too long.
    from.take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size).then_some(bytes)
}
