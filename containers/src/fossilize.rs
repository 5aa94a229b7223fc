//! Fossilize databases, and Mesa's single-file cache, which uses the same format.
//!
//! The layout is defined by Fossilize's `fossilize_db.cpp` and Mesa's `util/fossilize_db.c`: sixteen bytes that end
//! with a version, then records. A record consists of a hash of 40 hexadecimal digits, the size of the content, its
//! format (1 plain, 2 deflate), a checksum (CRC-32; 0 for none), the uncompressed size, and the content. Applications'
//! data in Fossilize is SPIR-V and pipeline state; its names are 22 zeros, two digits for the type, and a hash. Mesa's
//! names are 160-bit hashes, and the content is an item of its cache.

use crate::part::{Container, Holds, Packing, Part};
use crate::read::{run, word};

/// The names of Fossilize's types.
const TYPES: [&str; 10] = [
    "application information",
    "sampler",
    "descriptor set layout",
    "pipeline layout",
    "SPIR-V module",
    "render pass",
    "graphics pipeline",
    "compute pipeline",
    "application link",
    "ray tracing pipeline",
];

/// Opens a database.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    const HEAD: usize = 16;
    const NAME: usize = 40;
    if !bytes.starts_with(b"\x81FOSSILIZEDB") {
        return None;
    }
    let (mut parts, mut at, mut mesa) = (Vec::new(), HEAD, false);
    // An incomplete record ends the database, and so does what is none.
    let is_hash = |name: &&str| name.bytes().all(|digit| digit.is_ascii_hexdigit());
    while let Some(name) = run(bytes, at, NAME).and_then(|name| std::str::from_utf8(name).ok()).filter(is_hash) {
        let number = |index: usize| word(bytes, at + NAME + 4 * index);
        let (Some(size), Some(form), Some(checksum), Some(unpacked)) = (number(0), number(1), number(2), number(3))
        else {
            break;
        };
        let offset = at + NAME + 16;
        let Some(content) = run(bytes, offset, size as usize) else { break };
        at = offset + content.len();
        let of_application = name.get(..22).is_some_and(|zeros| zeros.bytes().all(|digit| digit == b'0'));
        let kind = name.get(22..24).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let kind = kind.and_then(|kind| TYPES.get(usize::from(kind))).filter(|_| of_application);
        let (name, holds) = match kind {
            Some(kind) => (format!("{kind} {}", name.get(24..).unwrap_or_default()), Holds::Other),
            None if matches!(form, 1 | 2) => (name.to_owned(), Holds::Shader),
            None => (name.to_owned(), Holds::Other),
        };
        mesa |= holds == Holds::Shader;
        let packing = Packing {
            checksum: Some(checksum).filter(|checksum| *checksum != 0),
            deflated: (form == 2).then_some(unpacked as usize),
            item: holds == Holds::Shader,
        };
        parts.push(Part { packing, ..Part::new(name, offset, content, holds) });
    }
    let kind = if mesa { "Mesa's cache in a Fossilize database" } else { "a Fossilize database" };
    let unread = bytes.len().saturating_sub(at);
    Some(Container { unread, ..Container::new(kind, parts) })
}
