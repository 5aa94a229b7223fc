//! One function for each target. It accepts any bytes, and panics if an invariant is violated.

use std::path::Path;
use std::sync::OnceLock;

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
use isaforge_core::stream::{self, Engine};
use isaforge_core::text::Line;

use super::change::{DOCUMENTS, PART};

/// The built-in sets of words.
const SETS: [&Isa; 3] = [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA];

/// The built-in set of groups.
const GROUPS: &GroupIsa = isaforge_usc::ISA;

/// Checks that the exact text of every word that decodes parses to the same word, and that its customary text is not
/// empty.
///
/// The data are words of 64 bits.
pub fn words(data: &[u8]) {
    for chunk in data.chunks_exact(8) {
        let number = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        SETS.iter().for_each(|isa| word(isa, number & ones(u32::from(isa.word_bits))));
    }
}

/// Checks one word of a set.
pub fn word(isa: &'static Isa, word: u64) {
    let Ok(opcode) = decode(isa, word) else { return };
    let mut line = Line::new();
    print(isa, opcode, word, Style::Exact, &mut line);
    match parse(isa, line.as_str()) {
        Ok(read) => assert_eq!(read, (opcode, word), "{}: {}", isa.name, line.as_str()),
        // Some words exceed a limit that the assembler enforces.
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

/// Checks that every group that decodes encodes to its bytes, and that its text parses to the same group; and that the
/// listing of a program assembles to the same bytes.
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

/// Checks that any text is assembled or rejected with errors in lines of the text.
pub fn assemble(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for isa in SETS {
        match program::assemble(isa, &text) {
            Ok(words) => assert!(words.iter().all(|word| word & !ones(u32::from(isa.word_bits)) == 0)),
            Err(errors) => placed(&text, &errors),
        }
    }
}

/// Checks the same for groups, and that assembled bytes have a text that assembles to the same bytes.
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

/// The engines of a set with instructions of mixed lengths, and of two sets from external documents.
pub fn stream_engines() -> &'static [Engine] {
    static ENGINES: OnceLock<Vec<Engine>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sets =
            ["examples/riscv/isa.yaml", "compiler/tests/data/bifrost.xml", "compiler/tests/data/isaspec/loom.xml"];
        let engine = |path: &str| {
            let compiled = compile(&Settings::new(root.join(path))).unwrap_or_else(|failure| panic!("{failure}"));
            let stream = compiled.lowered.stream().unwrap_or_else(|| panic!("{path} is no stream"));
            Engine { stream, generation: stream.generations.1 }
        };
        sets.into_iter().map(engine).collect()
    })
}

/// Checks that instructions decoded from a stream consist of its bytes, and print a text that parses to an instruction
/// with the same text.
pub fn streams(data: &[u8]) {
    for engine in stream_engines() {
        let mut at = 0;
        while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
            at += usize::from(engine.stream.unit.max(1));
            let Ok(found) = engine.decode(rest) else { continue };
            let len = usize::from(found.len);
            assert_eq!(engine.store(found.word)[..len], rest[..len]);
            let (mut line, mut again) = (Line::new(), Line::new());
            engine.print(&found, &mut line);
            match engine.parse(line.as_str()) {
                Ok(read) => engine.print(&read.decoded, &mut again),
                Err(error) => panic!("{:02x?} prints {}: {error}", &rest[..len], line.as_str()),
            }
            assert_eq!(line.as_str(), again.as_str(), "{:02x?}", &rest[..len]);
            stream::annotate(*engine, &found, &mut |_| {});
        }
    }
}

/// Checks that any text is assembled as a stream or rejected with errors in lines of the text.
pub fn assemble_streams(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for engine in stream_engines() {
        if let Err(errors) = stream::program::assemble(*engine, &text) {
            placed(&text, &errors);
        }
    }
}

fn placed(text: &str, errors: &[program::ProgramError]) {
    assert!(!errors.is_empty());
    let lines = text.lines().count().max(1);
    for error in errors {
        assert!((1..=lines).contains(&error.line) && error.column >= 1 && error.len >= 1, "{error:?}");
    }
}

/// Checks that any text is a specification that compiles to Rust, or yields errors with places that can be displayed.
pub fn spec(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    compile_files(&[("isa.yaml", &text)], None);
}

/// Checks that any document in Mesa's or Arm's schema compiles or yields errors.
pub fn xml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for base in ["document.yaml", "arm.yaml"] {
        compile_files(&[("isa.yaml", &format!("base: {base}\n")), ("isa.xml", &text)], None);
    }
}

/// Checks that any external document compiles or yields errors. The first byte selects the format.
pub fn reader(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let (name, _) = DOCUMENTS[usize::from(*first) % DOCUMENTS.len()];
    // A document of several processors needs the name of one.
    let generation = name.ends_with(".jsonl").then(|| "gfx1010".to_owned());
    compile_files(&[(name, &String::from_utf8_lossy(data)), PART], Some(generation));
}

/// Compiles files, the first of which is the entry or is in the entry's folder. An external document may have a
/// generation.
fn compile_files(files: &[(&str, &str)], document: Option<Option<String>>) {
    // Without room for files, nothing can be tested.
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = |name: &str| folder.path().join(name);
    let bases = catalogue::BASES.iter().map(|base| (base.name, base.text));
    for (name, text) in files.iter().copied().chain(bases) {
        let parent = path(name).parent().map_or(Ok(()), std::fs::create_dir_all);
        if parent.and_then(|()| std::fs::write(path(name), text)).is_err() {
            return;
        }
    }
    // A document is a file, or the folder that contains it.
    let entry = files.first().and_then(|(name, _)| name.split('/').next()).unwrap_or_default();
    let settings = Settings {
        root: Some(folder.path().to_owned()),
        generation: document.clone().flatten(),
        ..Settings::new(path(entry))
    };
    match compile(&settings) {
        Ok(compiled) => {
            if let Err(error) = compiled.source(Some("mine")) {
                panic!("the generated code is not Rust: {error}");
            }
            if let Some(words) = compiled.lowered.words() {
                let isa = words.isa;
                (0..64).for_each(|n: u64| {
                    word(isa, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ones(u32::from(isa.word_bits)))
                });
            }
        }
        Err(failure) => {
            let drawn = failure.render(Drawn { cap: 5, ..Drawn::default() });
            assert!(failure.diagnostics.has_errors() && !drawn.is_empty());
            // Errors of an external document as a whole have no place in it.
            let placed = |found: &isaforge_compiler::diagnostic::Diagnostic| found.primary.is_some();
            assert!(
                document.is_some() || failure.diagnostics.iter().all(placed),
                "a mistake without a place:\n{drawn}"
            );
        }
    }
}
