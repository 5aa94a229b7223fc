//! Finds shaders in files that contain machine code along with other data.
//!
//! ```text
//! bytes ──open──▶ a reader per kind ──▶ parts, each with what it holds ──Search::code──▶ the code in a part
//! ```
//!
//! - [`elf`]: executables and object files
//! - [`mbs2`]: output of Arm's offline compiler for Mali
//! - [`fossilize`]: pipeline databases, and Mesa's single-file cache, which uses the same format
//! - [`mesa_db`]: Mesa's cache as a database
//! - [`mesa_cache`]: an item of Mesa's cache, in a file of its own or in one of the databases
//! - [`vulkan_cache`]: Vulkan pipeline caches, and the objects that Mesa's drivers store in them
//!
//! OpenCL program binaries are not read. Rusticl's hold SPIR-V (`src/gallium/frontends/rusticl/core/program.rs` of
//! Mesa), PoCL's hold LLVM IR or code of the host (its documentation, "Binary inputs format"), and vendors do not
//! publish the layout of theirs; Imagination does not document the files that its compilers write either.
//!
//! Each module names the source of its layout. No instruction set is known here: the caller decides whether bytes are
//! code. Sizes in a file are never trusted: every part lies within the file, and a [`Search`] limits what all parts of
//! a file together unpack to and how much of it is looked at. Nothing is unpacked before it is searched.
#![forbid(unsafe_code)]

pub mod elf;
pub mod fossilize;
pub mod mbs2;
pub mod mesa_cache;
pub mod mesa_db;
mod part;
mod read;
mod search;
pub mod vulkan_cache;

pub use part::{Container, Holds, Part, Symbol};
pub use search::Search;

/// Formats that are recognised by bytes at an offset but not read: they contain no GPU machine code, their layout is
/// not public, or another tool unpacks them.
const OTHERS: [(usize, &[u8], &str); 18] = [
    (0, b"\x03\x02\x23\x07", "a SPIR-V module"),
    (0, b"\x07\x23\x02\x03", "a SPIR-V module"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"MZ", "a Windows executable"),
    (0, b"\xcf\xfa\xed\xfe", "a Mach-O file"),
    (0, b"DXBC", "a DirectX shader container"),
    (0, b"MTLB", "a Metal library"),
    (0, b"BC\xc0\xde", "LLVM bitcode"),
    (0, b"poclbin\0", "a program of PoCL"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"!<arch>\n", "an archive of object files"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (0, b"\xfd7zXZ\0", "compressed with xz"),
    // Behind `BZh` and the size of a block. The name of the format could begin a text.
    (4, b"1AY&SY", "compressed with bzip2"),
    (0, b"\x04\x22\x4d\x18", "compressed with lz4"),
    (257, b"ustar", "a tar archive"),
];

/// Opens a file. Returns `None` when its format is unknown.
///
/// # Examples
///
/// ```
/// // Output of Arm's offline compiler: a block with a size, a version, and a block with code.
/// let code = 0x0091_c100_0000_0002_u64.to_le_bytes();
/// let file = [&b"MBS2"[..], &20u32.to_le_bytes(), &1u32.to_le_bytes(), b"OBJC", &8u32.to_le_bytes(), &code].concat();
/// let found = isaforge_containers::open(&file).expect("the kind is known");
/// assert_eq!((found.parts[0].offset, found.parts[0].stored), (20, &code[..]));
/// assert!(isaforge_containers::open(b"MOV r1, r2").is_none());
/// ```
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let readers = [elf::open, mbs2::open, fossilize::open, mesa_db::open, vulkan_cache::open, mesa_cache::open];
    let Some(mut found) = readers.iter().find_map(|open| open(bytes)) else {
        let is = |at: usize, mark: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(mark));
        let (.., kind) = OTHERS.iter().find(|(at, mark, _)| is(*at, mark))?;
        return Some(Container::new(*kind, Vec::new()));
    };
    for (number, part) in (1..).zip(&mut found.parts) {
        // Names are printed in lines and columns.
        if part.name.contains(char::is_control) {
            part.name = part.name.escape_default().to_string();
        } else if part.name.is_empty() {
            part.name = format!("part {number}");
        }
    }
    Some(found)
}
