//! Executables and object files: the parts that hold code, with their addresses, and the symbols in them.
//!
//! The layout is that of the System V ABI, "Object Files". Code is in sections, or in segments if no section has any:
//! a linked program runs without section headers, which stand at the end of the file and are lost first.

use std::collections::{BTreeMap, BTreeSet};

use object::{
    Architecture, File, Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind,
};

use crate::part::{Container, Holds, Part, Symbol};

/// The total size of all names in bytes, beside a multiple of the file: names may overlap in the file.
const MAX_NAMES: usize = 1 << 24;

/// The maximum number of characters of a name in a message.
const SHOWN: usize = 60;

/// Opens an ELF file.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let mut container = Container::new("an ELF file", Vec::new());
    let error = match File::parse(bytes) {
        Ok(file) => {
            read(&file, bytes, &mut container);
            return Some(container);
        }
        Err(error) => error,
    };
    // The damaged table may be one that is not needed.
    for (which, other) in [(Table::Segments, "sections"), (Table::Sections, "segments")] {
        let damage = |place: &str| format!("its {place}: {error}; only its {other} are read");
        if let Some((place, without)) = which.removed(bytes)
            && let Ok(file) = File::parse(&*without)
        {
            container.damage.push(damage(&place));
            read(&file, bytes, &mut container);
            return Some(container);
        }
    }
    container.damage.push(format!("its headers: {error}, in {:#x} bytes", bytes.len()));
    Some(container)
}

/// A table that the header of a file leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Segments,
    Sections,
}

impl Table {
    /// Where the table is in the file, and the file without it.
    fn removed(self, bytes: &[u8]) -> Option<(String, Vec<u8>)> {
        let (at, size) = match (bytes.get(4)?, self) {
            (1, Table::Segments) => (28, 4),
            (1, Table::Sections) => (32, 4),
            (2, Table::Segments) => (32, 8),
            (2, Table::Sections) => (40, 8),
            _ => return None,
        };
        let mut without = bytes.to_vec();
        without.get_mut(at..at + size)?.fill(0);
        let offset = number(bytes, at, size)?;
        let name = if self == Table::Sections { "section headers" } else { "program headers" };
        Some((format!("{name} at {offset:#x} of {:#x} bytes", bytes.len()), without))
    }
}

/// A number in the byte order of a file.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let field = bytes.get(at..at + size)?.iter();
    let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    Some(if bytes.get(5) == Some(&1) { field.rev().fold(0, digit) } else { field.fold(0, digit) })
}

/// Where the headers at the beginning of a file end. A segment may start with them.
fn after_headers(bytes: &[u8]) -> Option<u64> {
    let (offset, size, count) = match bytes.get(4)? {
        1 => (number(bytes, 28, 4)?, number(bytes, 42, 2)?, number(bytes, 44, 2)?),
        _ => (number(bytes, 32, 8)?, number(bytes, 54, 2)?, number(bytes, 56, 2)?),
    };
    offset.checked_add(size * count)
}

/// The names in a file, up to a limit.
struct Names {
    left: usize,
    /// What a name costs that does not end.
    most: usize,
}

impl Names {
    fn take(&mut self, read: impl FnOnce() -> Option<Vec<u8>>) -> String {
        if self.left == 0 {
            return String::new();
        }
        let name = read();
        self.left = self.left.saturating_sub(name.as_ref().map_or(self.most, Vec::len));
        String::from_utf8_lossy(&name.unwrap_or_default()).into_owned()
    }
}

/// The bytes of a file in a range of it, up to its end. Counts the ranges that go beyond, and describes the first.
struct Ranges<'a> {
    bytes: &'a [u8],
    outside: usize,
    first: String,
    /// How many bytes of code may still be taken: parts of one file do not overlap.
    code: usize,
}

impl<'a> Ranges<'a> {
    fn take(&mut self, name: &str, (offset, size): (u64, u64)) -> (usize, &'a [u8]) {
        let end = offset.saturating_add(size);
        if end > self.bytes.len() as u64 {
            if self.outside == 0 {
                let name: String = name.chars().take(SHOWN).collect();
                let (name, all) = (name.escape_default(), self.bytes.len());
                self.first = format!("`{name}` is at {offset:#x} to {end:#x}, and the file has {all:#x} bytes");
            }
            self.outside += 1;
        }
        let clamp = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let (from, to) = (clamp(offset), clamp(end));
        (from, self.bytes.get(from..to).unwrap_or_default())
    }

    /// Takes bytes as code. `false` if they are empty, or more than there can be.
    fn take_code(&mut self, content: &[u8]) -> bool {
        let left = self.code.checked_sub(content.len()).filter(|_| !content.is_empty());
        self.code = left.unwrap_or(self.code);
        left.is_some()
    }
}

/// Reads a file whose headers are those of `bytes`.
fn read<'a>(file: &File<'_>, bytes: &'a [u8], container: &mut Container<'a>) {
    if file.architecture() != Architecture::Unknown {
        container.kind = format!("an ELF file for {:?}", file.architecture());
    }
    let machine = bytes.get(18..20).and_then(|bytes| bytes.try_into().ok());
    container.machine = machine.map(if file.is_little_endian() { u16::from_le_bytes } else { u16::from_be_bytes });
    container.bits = Some(if file.is_64() { 64 } else { 32 });
    let mut names = Names { left: bytes.len().saturating_mul(4).saturating_add(MAX_NAMES), most: bytes.len() };
    let mut ranges = Ranges { bytes, outside: 0, first: String::new(), code: bytes.len() };
    let mut code = BTreeMap::new();
    for section in file.sections() {
        let name = names.take(|| section.name_bytes().ok().map(<[u8]>::to_vec));
        let (offset, content) = section.file_range().map_or((0, &[][..]), |range| ranges.take(&name, range));
        let is_code = section.kind() == SectionKind::Text && ranges.take_code(content);
        if !is_code && name.is_empty() {
            continue;
        }
        let mut part = Part::new(name, offset, content, if is_code { Holds::Code } else { Holds::Other });
        part.address = section.address();
        if is_code {
            if file.kind() == ObjectKind::Relocatable {
                // Several may apply to one place.
                let places: BTreeSet<u64> = section.relocations().map(|(offset, _)| offset).collect();
                part.relocations = places.len();
            }
            code.insert(section.index().0, container.parts.len());
        }
        container.parts.push(part);
    }
    if code.is_empty() {
        for (number, segment) in file.segments().enumerate().filter(|(_, segment)| segment.permissions().executable()) {
            let name = format!("segment {number}");
            let (offset, size) = segment.file_range();
            let skipped = after_headers(bytes).filter(|end| offset == 0 && *end < size).unwrap_or(0);
            let (offset, content) = ranges.take(&name, (offset + skipped, size - skipped));
            if ranges.take_code(content) {
                let address = segment.address().wrapping_add(skipped);
                container.parts.push(Part { address, ..Part::new(name, offset, content, Holds::Code) });
            }
        }
    }
    if ranges.outside > 0 {
        let more = ranges.outside - 1;
        let more = if more > 0 { format!(", and so for {more} more") } else { String::new() };
        container.damage.push(ranges.first + &more);
    }
    for symbol in file.symbols() {
        let Some(part) = symbol.section_index().and_then(|index| code.get(&index.0)) else { continue };
        if !matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown) {
            continue;
        }
        let address = container.parts[*part].address;
        let offset = symbol.address().checked_sub(address).and_then(|offset| usize::try_from(offset).ok());
        let Some(offset) = offset.filter(|offset| *offset < container.parts[*part].stored.len()) else { continue };
        let name = names.take(|| symbol.name_bytes().ok().map(<[u8]>::to_vec));
        // Marks where data begins, and names that a compiler makes up, start with these.
        if !name.is_empty() && !name.starts_with(['$', '.']) {
            container.symbols.push(Symbol { name, part: *part, offset, address: symbol.address() });
        }
    }
}
