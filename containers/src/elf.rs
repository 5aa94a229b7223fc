//! Executables and object files: sections that hold code, and the symbols in them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use object::{Architecture, File, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::{Container, Holds, Part, Symbol};

/// Opens an ELF file.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let mut container = Container::new("an ELF file", Vec::new());
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let Ok(file) = File::parse(bytes) else { return Some(container) };
    if file.architecture() != Architecture::Unknown {
        container.kind = format!("an ELF file for {:?}", file.architecture());
    }
    let machine = bytes.get(18..20).and_then(|bytes| bytes.try_into().ok());
    container.machine = machine.map(if file.is_little_endian() { u16::from_le_bytes } else { u16::from_be_bytes });
    let mut code = BTreeMap::new();
    for section in file.sections() {
        let name = String::from_utf8_lossy(section.name_bytes().unwrap_or(b"?"));
        let range = section.file_range().and_then(|(offset, size)| {
            Some((usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(size)?).ok()?))
        });
        let (offset, content) = match range {
            Some((from, to)) => (from, bytes.get(from..to).unwrap_or_default()),
            None => (0, &[][..]),
        };
        let is_code = section.kind() == SectionKind::Text && !content.is_empty();
        if is_code || !name.is_empty() {
            let holds = if is_code { Holds::Code } else { Holds::Other };
            if is_code {
                code.insert(section.index().0, (section.address(), container.parts.len()));
            }
            container.parts.push(Part { name: name.into_owned(), offset, bytes: Cow::Borrowed(content), holds });
        }
    }
    for symbol in file.symbols() {
        let Some((address, part)) = symbol.section_index().and_then(|index| code.get(&index.0)) else { continue };
        // Marks where data begins, and names that a compiler makes up, start with these.
        let name = symbol.name().unwrap_or_default();
        let is_place = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown);
        if !is_place || name.is_empty() || name.starts_with(['$', '.']) {
            continue;
        }
        let offset = symbol.address().checked_sub(*address).and_then(|offset| usize::try_from(offset).ok());
        let Some(offset) = offset.filter(|offset| *offset < container.parts[*part].bytes.len()) else { continue };
        container.symbols.push(Symbol { name: name.to_owned(), part: *part, offset, address: symbol.address() });
    }
    Some(container)
}
