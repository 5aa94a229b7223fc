//! A file of a known format: its parts, what they hold, and the names of places in them.

/// The contents of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Machine code only, according to the file.
    Code,
    /// A shader with data of the driver. The code is preceded by its length, in 32 bits.
    Shader,
    /// Something else.
    Other,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its name in the file, or else a description.
    pub name: String,
    /// Its offset in the file. For compressed parts, the offset of the compressed data.
    pub offset: usize,
    /// Its address when the program runs; 0 if the file does not say.
    pub address: u64,
    /// Its bytes as they are in the file. [`Search::unpack`](crate::Search::unpack) decompresses them.
    pub stored: &'a [u8],
    /// Its contents.
    pub holds: Holds,
    /// The number of places in it that a linker has yet to fill in.
    pub relocations: usize,
    /// How its bytes are stored.
    pub(crate) packing: Packing,
}

impl<'a> Part<'a> {
    pub(crate) fn new(name: impl Into<String>, offset: usize, stored: &'a [u8], holds: Holds) -> Self {
        let packing = Packing::default();
        Part { name: name.into(), offset, address: 0, stored, holds, relocations: 0, packing }
    }
}

/// How the bytes of a part are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The checksum of the stored bytes.
    pub checksum: Option<u32>,
    /// The size of what they unpack to, if they are compressed with deflate.
    pub deflated: Option<usize>,
    /// Whether they are then an item of Mesa's cache.
    pub item: bool,
}

/// A file of a known format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// The format, with an article: `an ELF file for Riscv32`.
    pub kind: String,
    /// The number of the processor that its code is for, in an ELF file.
    pub machine: Option<u16>,
    /// The number of bits of addresses, in an ELF file.
    pub bits: Option<u16>,
    /// Its parts, in file order. Empty for formats that are recognised but not read.
    pub parts: Vec<Part<'a>>,
    /// What the file calls places in its code.
    pub symbols: Vec<Symbol>,
    /// What is wrong with the file, and where.
    pub damage: Vec<String>,
    /// The number of bytes at the end that were not read, because they do not belong to a complete part.
    pub unread: usize,
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
    /// Its address when the program runs.
    pub address: u64,
}

impl<'a> Container<'a> {
    pub(crate) fn new(kind: impl Into<String>, parts: Vec<Part<'a>>) -> Self {
        let (symbols, damage) = (Vec::new(), Vec::new());
        Container { kind: kind.into(), machine: None, bits: None, parts, symbols, damage, unread: 0 }
    }
}
