//! Mesa's cache as a database, `mesa_cache.db`.
//!
//! The layout is defined by Mesa's `util/mesa_cache_db.c`, version 1: `MESA_DB` and a zero byte, the version, and a
//! 64-bit number that identifies the file; then items, each with a key of 20 bytes, the CRC-32 of the content, its
//! size, and the content.

use crate::mesa_cache;
use crate::part::Container;
use crate::read::{hexadecimal, run, word};

/// Opens a database. The index beside it, `mesa_cache.idx`, starts the same but has no items.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    const HEAD: usize = 20;
    const KEY: usize = 20;
    if !bytes.starts_with(b"MESA_DB\0") {
        return None;
    }
    let version = word(bytes, 8).unwrap_or(0);
    if version != 1 {
        return Some(Container::new(format!("Mesa's cache (MESA_DB) of the unknown version {version}"), Vec::new()));
    }
    let (mut parts, mut at) = (Vec::new(), HEAD);
    while let Some(key) = run(bytes, at, KEY) {
        let offset = at + KEY + 8;
        let size = word(bytes, at + KEY + 4);
        let Some(content) = size.and_then(|size| run(bytes, offset, size as usize)) else { break };
        parts.push(mesa_cache::part(hexadecimal(key), offset, content, word(bytes, at + KEY)));
        at = offset + content.len();
    }
    let unread = bytes.len().saturating_sub(at);
    Some(Container { unread, ..Container::new("Mesa's cache (MESA_DB)", parts) })
}
