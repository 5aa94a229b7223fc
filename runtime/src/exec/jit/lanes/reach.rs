//! Memory that lanes access at any address.

use isaforge_core::machine::{Memory, Span, SpanBytes};

use super::window::WINDOWS;

/// The bytes in which all addresses have the same high word.
const BLOCK: u64 = 1 << 32;
/// The most bytes of a reach, so that offsets are not negative as words.
const MOST: u64 = 1 << 31;

/// Which memory code accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The memory of an address space, or the main memory.
    pub space: Option<usize>,
    /// Whether it is written.
    pub writes: bool,
}

/// Memory that code accesses at any offset of a lane. Without any, no offset is within it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Reach {
    /// The place of the first byte.
    pub start: u64,
    /// The low word of its first address, and the high word of all.
    pub low: u32,
    pub high: u32,
    /// The number of offsets at which a word is within it, and the last of them.
    pub offsets: u32,
    pub last: u32,
    /// The number of offsets at which as many words as a column has are within it.
    pub columns: u32,
}

impl Reach {
    /// Returns what code may access of bytes at `start`, which have addresses from `base` on; one of these is `hint`.
    fn new(start: u64, base: u64, len: u64, hint: u64) -> Self {
        let end = base.saturating_add(len);
        // Of more bytes than offsets reach, those on both sides of the hint.
        let from = base.max(hint & !(BLOCK - 1)).max(hint.saturating_sub(MOST / 2) & !0x3f);
        let to = end.min((hint | (BLOCK - 1)).saturating_add(1)).min(from.saturating_add(MOST));
        let bytes = to.saturating_sub(from);
        let room = |access: u64| (bytes + 1).saturating_sub(access) as u32;
        Reach {
            start: start.wrapping_add(from - base),
            low: from as u32,
            high: (from >> 32) as u32,
            offsets: room(4),
            last: room(4).saturating_sub(1),
            columns: room(super::row::COLUMN as u64),
        }
    }
}

/// Finds the memory around the hint of each of the reaches that code wants. Where there is none, a reach begins at `spare`,
/// which must have room for a word.
pub fn find(
    wanted: &[Reached],
    hints: &[Option<u64>],
    (memory, spaces): (&mut Memory, &mut [Memory]),
    spare: *mut u32,
) -> [Reach; WINDOWS] {
    let spare = Reach { start: spare.expose_provenance() as u64, ..Reach::default() };
    let mut found = [spare; WINDOWS];
    let mut search = |space: Option<usize>, memory: &mut Memory| {
        if !wanted.iter().any(|reached| reached.space == space) {
            return;
        }
        for Span { base, bytes } in memory.spans() {
            let len = bytes.len() as u64;
            let (start, is_writable) = match bytes {
                SpanBytes::Read(bytes) => (bytes.as_ptr().expose_provenance(), false),
                SpanBytes::Write(bytes) => (bytes.as_mut_ptr().expose_provenance(), true),
            };
            for ((reached, hint), found) in wanted.iter().zip(hints).zip(&mut found) {
                if let Some(hint) = hint.filter(|hint| hint.checked_sub(base).is_some_and(|offset| offset < len))
                    && reached.space == space
                    && (is_writable || !reached.writes)
                {
                    *found = Reach::new(start as u64, base, len, hint);
                }
            }
        }
    };
    search(None, memory);
    spaces.iter_mut().enumerate().for_each(|(space, memory)| search(Some(space), memory));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reach_has_the_addresses_around_its_hint() {
        let reach = |base, len, hint| {
            let Reach { start, low, high, offsets, last, columns } = Reach::new(0x10, base, len, hint);
            (start, (high, low), offsets, last, columns)
        };
        assert_eq!(reach(0x1002, 3, 0x1003), (0x10, (0, 0x1002), 0, 0, 0));
        assert_eq!(reach(0x1002, 4, 0x1002), (0x10, (0, 0x1002), 1, 0, 0));
        assert_eq!(reach(0x1002, 100, 0x1010), (0x10, (0, 0x1002), 97, 96, 37));
        // Offsets are not negative, and all addresses have one high word.
        assert_eq!(reach(0, 1 << 40, 0), (0x10, (0, 0), 0x7fff_fffd, 0x7fff_fffc, 0x7fff_ffc1));
        assert_eq!(reach(0, 1 << 40, 1 << 31), (0x4000_0010, (0, 0x4000_0000), 0x7fff_fffd, 0x7fff_fffc, 0x7fff_ffc1));
        assert_eq!(reach(0xffff_fff0, 100, 0xffff_fff4), (0x10, (0, 0xffff_fff0), 13, 12, 0));
        assert_eq!(reach(0xffff_fff0, 100, 0x1_0000_0000), (0x20, (1, 0), 81, 80, 21));
    }
}
