//! Files that hold machine code among other things.

use object::{Architecture, File, Object, ObjectSection, SectionKind};

/// What a file is, by its first bytes.
const KINDS: [(&[u8], &str); 14] = [
    (b"\x7fELF", "an ELF file"),
    (b"MBS2", "output of Arm's offline compiler (MBS2)"),
    (b"\x81FOSSILIZEDB", "a Fossilize database"),
    (b"\x03\x02\x23\x07", "a SPIR-V module"),
    (b"\x07\x23\x02\x03", "a SPIR-V module"),
    (b"\0asm", "a WebAssembly module"),
    (b"MZ", "a Windows executable"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file"),
    (b"DXBC", "a DirectX shader container"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"PK\x03\x04", "a zip archive"),
    (b"!<arch>\n", "an archive of object files"),
    (b"\x89PNG", "a PNG picture"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// A part of a file that may be code.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Its name in the file.
    pub name: &'a str,
    /// Where it begins in the file.
    pub offset: usize,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// What a file of a known kind has.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// What it is, with an article.
    pub kind: String,
    /// Its executable parts, if the kind is one that is looked into.
    pub sections: Vec<Section<'a>>,
    /// The names of its other parts.
    pub others: Vec<&'a str>,
}

/// Looks into a file. `None` where its kind is not known.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let (_, kind) = KINDS.iter().find(|(start, _)| bytes.starts_with(start))?;
    let mut container = Container { kind: (*kind).to_owned(), sections: Vec::new(), others: Vec::new() };
    let Ok(file) = File::parse(bytes) else { return Some(container) };
    if file.architecture() != Architecture::Unknown {
        container.kind = format!("{kind} for {:?}", file.architecture());
    }
    for section in file.sections() {
        let name = section.name_bytes().ok().and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("?");
        match (section.kind(), section.file_range()) {
            (SectionKind::Text, Some((offset, size))) if size > 0 => {
                let range = usize::try_from(offset).ok().zip(usize::try_from(offset.saturating_add(size)).ok());
                let found = range.and_then(|(from, to)| Some((from, bytes.get(from..to)?)));
                container.sections.extend(found.map(|(offset, bytes)| Section { name, offset, bytes }));
            }
            _ if !name.is_empty() => container.others.push(name),
            _ => {}
        }
    }
    Some(container)
}
