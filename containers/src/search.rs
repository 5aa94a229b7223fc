//! Unpacks the parts of a file, and searches them for code.

use std::borrow::Cow;
use std::ops::Range;

use crate::mesa_cache;
use crate::part::{Holds, Part};
use crate::read::{Room, inflate, is_checksum, word};

/// The number of bytes of a part in which the length that precedes code is searched for.
const SEARCHED: usize = 1 << 20;
/// The total number of bytes that are looked at in a file. This bounds the time for data that look like many lengths.
const MAX_LOOKED_AT: usize = 1 << 26;
/// What looking at a place costs at least, in bytes.
const LEAST: usize = 16;

/// The search for code in the parts of a file. They share one limit for what they unpack to and one for how much of it
/// is looked at.
///
/// # Examples
///
/// ```
/// # let file = [&b"MBS2\x0c\0\0\0\x01\0\0\0OBJC\x04\0\0\0"[..], &[7; 4]].concat();
/// let container = isaforge_containers::open(&file).expect("the kind is known");
/// let mut search = isaforge_containers::Search::new();
/// let (bytes, range) = search.code(&container.parts[0], &|bytes| bytes.len()).expect("anything is code");
/// assert_eq!((&bytes[range], search.too_large()), (&[7; 4][..], 0));
/// ```
#[derive(Debug)]
pub struct Search {
    room: Room,
    left: usize,
    /// The names of parts that were not searched to their end, because of the limit.
    pub cut: Vec<String>,
    /// The names of parts whose checksum is wrong.
    pub altered: Vec<String>,
    /// The names of parts that cannot be decompressed.
    pub broken: Vec<String>,
}

impl Default for Search {
    fn default() -> Self {
        Search::new()
    }
}

impl Search {
    /// A search of a file.
    pub fn new() -> Search {
        Search { room: Room::new(), left: MAX_LOOKED_AT, cut: Vec::new(), altered: Vec::new(), broken: Vec::new() }
    }

    /// How many parts were not unpacked, because they or all parts together would take more memory than is allowed.
    pub fn too_large(&self) -> usize {
        self.room.refused
    }

    /// The bytes of a part, decompressed. `None` if they cannot be decompressed or would take too much memory.
    pub fn unpack<'a>(&mut self, part: &Part<'a>) -> Option<Cow<'a, [u8]>> {
        let refused = self.room.refused;
        let (bytes, is_intact) = self.content(part);
        if !is_intact {
            self.altered.push(part.name.clone());
        }
        if bytes.is_none() && self.room.refused == refused {
            self.broken.push(part.name.clone());
        }
        bytes
    }

    /// The bytes of a part, and whether all checksums are those of the bytes.
    fn content<'a>(&mut self, part: &Part<'a>) -> (Option<Cow<'a, [u8]>>, bool) {
        let packing = part.packing;
        let is_intact = packing.checksum.is_none_or(|checksum| is_checksum(checksum, part.stored));
        let bytes = match packing.deflated {
            Some(size) => inflate(part.stored, size, &mut self.room).map(Cow::Owned),
            None => Some(Cow::Borrowed(part.stored)),
        };
        match bytes {
            Some(bytes) if packing.item => {
                let item = mesa_cache::content(&bytes, &mut self.room);
                (item.content.map(Cow::Owned), is_intact && item.is_intact)
            }
            bytes => (bytes, is_intact),
        }
    }

    /// Finds the code in a part: its bytes, and where in them the code is. `valid` returns how many bytes are valid
    /// code of an instruction set, from the first one on.
    ///
    /// The data that a driver stores before the code of a shader differ between versions. The code is therefore taken
    /// to be the longest run that is preceded by its length and valid as a whole; other data meet this condition by
    /// chance only if they are short.
    pub fn code<'a>(
        &mut self,
        part: &Part<'a>,
        valid: &dyn Fn(&[u8]) -> usize,
    ) -> Option<(Cow<'a, [u8]>, Range<usize>)> {
        if part.holds == Holds::Other {
            return None;
        }
        if part.holds == Holds::Shader && self.left == 0 {
            self.cut.push(part.name.clone());
            return None;
        }
        let bytes = self.unpack(part)?;
        if part.holds == Holds::Code {
            let all = 0..bytes.len();
            return (valid(&bytes) == bytes.len()).then_some((bytes, all));
        }
        let mut best: Option<Range<usize>> = None;
        for at in (0..bytes.len().min(SEARCHED)).step_by(4) {
            let Some(length) = word(&bytes, at) else { break };
            let range = at + 4..(at + 4).saturating_add(length as usize);
            let longer = best.as_ref().is_none_or(|best| best.len() < range.len());
            let Some(run) = bytes.get(range.clone()).filter(|run| longer && !run.is_empty()) else { continue };
            if self.left == 0 {
                self.cut.push(part.name.clone());
                break;
            }
            // A run that is longer than what may still be looked at is no code: its end is not known.
            let shown = run.get(..self.left).unwrap_or(run);
            let good = valid(shown);
            self.left = self.left.saturating_sub(good.max(LEAST));
            if good == run.len() {
                best = Some(range);
            }
        }
        Some((bytes, best?))
    }
}
