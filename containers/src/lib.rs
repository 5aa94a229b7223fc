//! Finds the shaders in files that hold machine code among other things.
//!
//! ```text
//! bytes ──kind──▶ a reader per kind ──▶ parts, each with what it holds ──code──▶ the code in a part
//! ```
//!
//! - [`elf`]: executables and object files
//! - [`mbs2`]: what Arm's offline compiler for Mali writes
//! - [`fossilize`]: databases of pipelines, and Mesa's cache in a single file of that form
//! - [`mesa_db`]: Mesa's cache as a database
//! - [`mesa_cache`]: an item of Mesa's cache, alone in a file or in one of the databases
//! - [`vulkan_cache`]: pipeline caches of Vulkan, and what Mesa's drivers put into them
//!
//! Each room says where its layout is published. Nothing here knows an instruction set: the caller says whether bytes are code.
//! Sizes in a file are never trusted: a part lies within the file, and what unpacks has a limit.
#![forbid(unsafe_code)]

pub mod elf;
pub mod fossilize;
pub mod mbs2;
pub mod mesa_cache;
pub mod mesa_db;
mod read;
pub mod vulkan_cache;

use std::borrow::Cow;
use std::ops::Range;

/// What a part of a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Machine code and nothing else, as the file says.
    Code,
    /// A shader with what a driver keeps beside it: its code has its length, in 32 bits, in front.
    Shader,
    /// Something else.
    Other,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// What the file calls it; without such a name what it is.
    pub name: String,
    /// Where it begins in the file. What was packed has the place of the packed bytes.
    pub offset: usize,
    /// Its bytes, unpacked.
    pub bytes: Cow<'a, [u8]>,
    /// What it holds.
    pub holds: Holds,
}

/// A file of a known kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// What it is, with an article: `an ELF file for Riscv32`.
    pub kind: String,
    /// Its parts, in the order of the file. Empty for a kind that is not looked into.
    pub parts: Vec<Part<'a>>,
    /// What the file calls places in its code.
    pub symbols: Vec<Symbol>,
}

/// A name for a place in code: a function, most often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Which of the parts the place is in.
    pub part: usize,
    /// Where it is in the bytes of the part.
    pub offset: usize,
}

impl<'a> Container<'a> {
    fn new(kind: impl Into<String>, parts: Vec<Part<'a>>) -> Self {
        Container { kind: kind.into(), parts, symbols: Vec::new() }
    }
}

/// Kinds that are told by their first bytes and not looked into: they hold no machine code of a GPU, or their layout is not
/// public.
const OTHERS: [(&[u8], &str); 13] = [
    (b"\x03\x02\x23\x07", "a SPIR-V module"),
    (b"\x07\x23\x02\x03", "a SPIR-V module"),
    (b"\0asm", "a WebAssembly module"),
    (b"MZ", "a Windows executable"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file"),
    (b"DXBC", "a DirectX shader container"),
    (b"MTLB", "a Metal library"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"poclbin\0", "a program of PoCL"),
    (b"PK\x03\x04", "a zip archive"),
    (b"!<arch>\n", "an archive of object files"),
    (b"\x89PNG", "a PNG picture"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// Looks into a file. Returns `None` if its kind is not known.
///
/// # Examples
///
/// ```
/// // Output of Arm's offline compiler: a block with a size, a version, and a block with code.
/// let code = 0x0091_c100_0000_0002_u64.to_le_bytes();
/// let file = [&b"MBS2"[..], &20u32.to_le_bytes(), &1u32.to_le_bytes(), b"OBJC", &8u32.to_le_bytes(), &code].concat();
/// let found = isaforge_containers::open(&file).expect("the kind is known");
/// assert_eq!((found.parts[0].offset, &found.parts[0].bytes[..]), (20, &code[..]));
/// assert!(isaforge_containers::open(b"MOV r1, r2").is_none());
/// ```
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let readers = [elf::open, mbs2::open, fossilize::open, mesa_db::open, vulkan_cache::open, mesa_cache::open];
    readers.iter().find_map(|open| open(bytes)).or_else(|| {
        let (_, kind) = OTHERS.iter().find(|(start, _)| bytes.starts_with(start))?;
        Some(Container::new(*kind, Vec::new()))
    })
}

/// The most bytes at which a length in front of code is looked for.
const SEARCHED: usize = 1 << 20;
/// The most bytes that are looked at for that: what is made to look like many lengths takes no longer.
const MOST_LOOKED_AT: usize = 1 << 26;

/// Where the code of a part is. `is_code` says whether bytes are the code of an instruction set, whole and valid.
///
/// What a driver keeps in front of the code of a shader differs from version to version. So the code is what has its length in
/// front and is valid as a whole: the longest of such runs, which other data are by accident only if they are short.
pub fn code(part: &Part<'_>, is_code: &dyn Fn(&[u8]) -> bool) -> Option<Range<usize>> {
    match part.holds {
        Holds::Other => None,
        Holds::Code => is_code(&part.bytes).then_some(0..part.bytes.len()),
        Holds::Shader => {
            let mut best: Option<Range<usize>> = None;
            let mut looked_at = 0;
            for at in (0..part.bytes.len().min(SEARCHED)).step_by(4) {
                let Some(length) = read::word(&part.bytes, at) else { break };
                let range = at + 4..(at + 4).saturating_add(length as usize);
                let longer = best.as_ref().is_none_or(|best| best.len() < range.len());
                let Some(bytes) = part.bytes.get(range.clone()).filter(|bytes| longer && !bytes.is_empty()) else {
                    continue;
                };
                looked_at += bytes.len();
                if looked_at > MOST_LOOKED_AT {
                    break;
                }
                if is_code(bytes) {
                    best = Some(range);
                }
            }
            best
        }
    }
}
