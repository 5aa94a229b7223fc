//! One function a target: it takes any bytes and panics when a promise is broken.

use isaforge_compiler::diagnostic::Style as Drawn;
use isaforge_compiler::{Settings, catalogue, compile};
use isaforge_core::Isa;
use isaforge_core::annotate::annotate;
use isaforge_core::bits::ones;
use isaforge_core::decode::decode;
use isaforge_core::error::{EncodeError, ParseReason};
use isaforge_core::group::listing::{assemble_program, disassemble};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{self, GroupIsa};
use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::program;
use isaforge_core::text::Line;

/// The built-in sets of words.
const SETS: [&Isa; 3] = [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA];

/// The built-in set of groups.
const GROUPS: &GroupIsa = isaforge_usc::ISA;

/// What decodes prints, and its exact text is read as the same word; the customary text is read as an instruction.
///
/// The data are words of 64 bits.
pub fn words(data: &[u8]) {
    for chunk in data.chunks_exact(8) {
        let number = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        SETS.iter().for_each(|isa| word(isa, number & ones(u32::from(isa.word_bits))));
    }
}

fn word(isa: &'static Isa, word: u64) {
    let Ok(opcode) = decode(isa, word) else { return };
    let mut line = Line::new();
    print(isa, opcode, word, Style::Exact, &mut line);
    match parse(isa, line.as_str()) {
        Ok(read) => assert_eq!(read, (opcode, word), "{}: {}", isa.name, line.as_str()),
        // Some words do what the assembler keeps back.
        Err(error) => {
            let limit = matches!(error.reason, ParseReason::Encode(EncodeError::Limit { .. }));
            assert!(limit, "{}: {word:#x} prints {}: {error}", isa.name, line.as_str());
        }
    }
    line.clear();
    print(isa, opcode, word, Style::Customary, &mut line);
    assert!(!line.as_str().is_empty());
    annotate(isa, opcode, word, &mut |note| assert!(note.high >= note.low));
}

/// A group that decodes holds its bytes, encodes to them, and its text is read as the same group. A program's listing
/// assembles to the same bytes.
pub fn group_bytes(data: &[u8]) {
    let isa = GROUPS;
    let mut at = 0;
    while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
        at += match group::decode(isa, rest) {
            Ok(found) => {
                let bytes = found.as_bytes();
                assert_eq!(bytes, &rest[..bytes.len()]);
                assert_eq!(group::encode(isa, &found.values(isa), &found.form()).as_ref(), Ok(&found), "{bytes:02x?}");
                let mut line = Line::new();
                group::print(isa, &found, SEPARATOR, &mut line);
                let read =
                    group::assemble(isa, line.as_str()).unwrap_or_else(|error| panic!("{}: {error}", line.as_str()));
                assert_eq!(read.encode(isa).as_ref(), Ok(&found), "{}", line.as_str());
                bytes.len()
            }
            Err(_) => 1,
        };
    }
    let listing = disassemble(isa, data);
    match assemble_program(isa, &listing) {
        Ok(bytes) => assert_eq!(bytes, data, "{listing}"),
        Err(errors) => panic!("{listing}\n{errors:?}"),
    }
}

/// Any text is assembled or refused, every mistake in a line of the text.
pub fn assemble(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for isa in SETS {
        match program::assemble(isa, &text) {
            Ok(words) => assert!(words.iter().all(|word| word & !ones(u32::from(isa.word_bits)) == 0)),
            Err(errors) => placed(&text, &errors),
        }
    }
}

/// The same for groups; bytes that come from text give text that comes to the same bytes.
pub fn assemble_groups(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match assemble_program(GROUPS, &text) {
        Ok(bytes) => {
            let listing = disassemble(GROUPS, &bytes);
            assert_eq!(assemble_program(GROUPS, &listing).as_ref(), Ok(&bytes), "{listing}");
        }
        Err(errors) => placed(&text, &errors),
    }
}

fn placed(text: &str, errors: &[program::ProgramError]) {
    assert!(!errors.is_empty());
    let lines = text.lines().count().max(1);
    for error in errors {
        assert!((1..=lines).contains(&error.line) && error.column >= 1 && error.len >= 1, "{error:?}");
    }
}

/// Any text is a specification that compiles to Rust, or has mistakes with places that can be drawn.
pub fn spec(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    compile_files(&[("isa.yaml", &text)]);
}

/// Any document is one that compiles or has mistakes, in Mesa's schema and in Arm's.
pub fn xml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for base in ["document.yaml", "arm.yaml"] {
        compile_files(&[("isa.yaml", &format!("base: {base}\n")), ("isa.xml", &text)]);
    }
}

fn compile_files(files: &[(&str, &str)]) {
    // Where there is no room for files, nothing is tried.
    let Ok(folder) = tempfile::tempdir() else { return };
    let bases = catalogue::BASES.iter().map(|base| (base.name, base.text));
    for (name, text) in files.iter().copied().chain(bases) {
        if std::fs::write(folder.path().join(name), text).is_err() {
            return;
        }
    }
    let settings = Settings { root: Some(folder.path().to_owned()), ..Settings::new(folder.path().join("isa.yaml")) };
    match compile(&settings) {
        Ok(compiled) => {
            if let Err(error) = compiled.source(true) {
                panic!("the generated code is not Rust: {error}");
            }
            if compiled.groups.is_none() {
                let isa = compiled.tables.isa;
                (0..64).for_each(|n: u64| {
                    word(isa, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ones(u32::from(isa.word_bits)))
                });
            }
        }
        Err(failure) => {
            let drawn = failure.render(Drawn { cap: 5, ..Drawn::default() });
            assert!(failure.diagnostics.has_errors() && !drawn.is_empty());
            let placed = |found: &isaforge_compiler::diagnostic::Diagnostic| found.primary.is_some();
            assert!(failure.diagnostics.iter().all(placed), "a mistake without a place:\n{drawn}");
        }
    }
}
