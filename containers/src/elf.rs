//! Executables and object files: sections that hold code.

use std::borrow::Cow;

use object::{Architecture, File, Object, ObjectSection, SectionKind};

use crate::{Container, Holds, Part};

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
    for section in file.sections() {
        let name = section.name_bytes().ok().and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("?");
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
            container.parts.push(Part { name: name.to_owned(), offset, bytes: Cow::Borrowed(content), holds });
        }
    }
    Some(container)
}
