//! Programs in 32-bit ELF files: segments, entry point and symbols.

use std::ops::Range;

use object::elf::{ET_EXEC, FileHeader32, PF_W};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind};

/// The maximum total size of all segments in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// A program.
#[derive(Debug, Default)]
pub struct Program {
    /// The address and content of each segment, and whether it is writable.
    pub segments: Vec<(u64, Vec<u8>, bool)>,
    /// The entry point.
    pub entry: u64,
    /// The range from the first executable section to the end of the last one, if the file has readable sections.
    pub text: Option<Range<u64>>,
    /// The addresses of the symbols that mark the words tests compare, if present.
    pub signature: Option<(u64, u64)>,
}

/// Whether a file is an ELF file.
pub fn matches(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// Reads an ELF file for a machine.
///
/// # Errors
/// When the file is invalid or unsupported: the problem and a suggestion.
pub fn read(bytes: &[u8], machine: Option<u16>) -> Result<Program, (String, &'static str)> {
    let damaged = |error: object::read::Error| (format!("the ELF file is damaged: {error}"), "");
    if bytes.get(4) != Some(&1) || bytes.get(5) != Some(&1) {
        return Err(("only ELF files of 32 bits, least significant byte first, are run".into(), ""));
    }
    let header = FileHeader32::<LittleEndian>::parse(bytes).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    if let Some(expected) = machine.filter(|expected| *expected != header.e_machine(endian).0) {
        let message = format!("the ELF file is for machine {}, not {expected}", header.e_machine(endian).0);
        return Err((message, "compile it for the instruction set of the specification"));
    }
    if header.e_type(endian) != ET_EXEC {
        return Err(("the ELF file is not a program with fixed addresses".into(), "link it with `-static -no-pie`"));
    }
    let mut program = Program { entry: header.e_entry(endian).into(), ..Program::default() };
    let mut left = MAX_BYTES;
    for segment in header.program_headers(endian, bytes).map_err(damaged)? {
        if segment.p_type(endian) != object::elf::PT_LOAD {
            continue;
        }
        let size = u64::from(segment.p_memsz(endian));
        let content = segment.data(endian, bytes).ok().filter(|content| content.len() as u64 <= size);
        let Some(content) = content else { return Err(("a segment lies outside the ELF file".into(), "")) };
        left = left.checked_sub(size).ok_or((format!("the segments have more than {MAX_BYTES} bytes"), ""))?;
        let mut content = content.to_vec();
        content.resize(size as usize, 0);
        program.segments.push((segment.p_vaddr(endian).into(), content, segment.p_flags(endian).0 & PF_W.0 != 0));
    }
    if program.segments.is_empty() {
        return Err(("the ELF file has no segment to load".into(), ""));
    }
    // A loader needs segments only: sections may be damaged, or stripped with the symbols.
    let Ok(file) = object::read::elf::ElfFile32::<LittleEndian>::parse(bytes) else { return Ok(program) };
    let find = |name: &[u8]| file.symbols().find(|symbol| symbol.name_bytes() == Ok(name)).map(|s| s.address());
    let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
    let ranges = sections.map(|section| section.address()..section.address().saturating_add(section.size()));
    program.text = ranges.reduce(|all, next| all.start.min(next.start)..all.end.max(next.end));
    program.signature = find(b"begin_signature").zip(find(b"end_signature"));
    Ok(program)
}
