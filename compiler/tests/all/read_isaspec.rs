//! Documents of Mesa's isaspec: rows of other tools if they are present next to the project, and a small document.

use std::fs;
use std::path::{Path, PathBuf};

use isaforge_compiler::{Settings, check_spec};
use isaforge_core::stream::listing::disassemble;
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{Engine, Stream};
use isaforge_core::text::Line;

use crate::support::{bytes, hex};

/// The tables of a document.
fn open(path: &Path) -> &'static Stream {
    let checked = check_spec(&Settings::new(path)).unwrap_or_else(|failure| panic!("{failure}"));
    checked.diagnostics.iter().for_each(|warning| println!("{}", warning.message));
    let stream = checked.isa.stream().expect("it is a stream");
    isaforge_compiler::stream::lower::lower(&checked.isa, stream)
}

fn disassembled(engine: Engine, row: &str) -> Result<String, String> {
    let bytes = bytes(row);
    let decoded = engine.decode(&bytes).map_err(|error| error.to_string())?;
    assert_eq!(usize::from(decoded.len), bytes.len());
    assert_eq!(engine.store(decoded.word)[..bytes.len()], bytes);
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().replace('\t', "\\t").replace('\n', "\\n"))
}

fn assembled(engine: Engine, text: &str) -> Result<String, String> {
    let parsed = engine.parse(&text.replace("\\t", "\t")).map_err(|error| error.to_string())?;
    Ok(hex(&engine.store(parsed.decoded.word)[..usize::from(parsed.decoded.len)]))
}

/// A row: bytes, text, generation, and the result of Mesa's assembler for the text.
type Row = (String, String, u32, String);

/// The rows of a file next to the project. `None` when it is missing, which is printed.
fn rows(name: &str) -> Option<Vec<Row>> {
    let path = shared(&format!("corpora/other/{name}.tsv"))?;
    let text = fs::read_to_string(path).expect("the file is there");
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut columns = line.split('\t').map(str::to_owned);
        let mut next = || columns.next().unwrap_or_default();
        let (bytes, text, generation) = (next(), next(), next());
        next();
        (bytes, text, generation.parse().expect("a generation"), next())
    });
    Some(rows.collect())
}

fn shared(path: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    let shared = Some(shared).filter(|path| path.exists()).or_else(|| {
        let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
        Some(other).filter(|path| path.exists())
    });
    if shared.is_none() {
        println!("skipped: {path} does not stand beside the project");
    }
    shared
}

/// Fails with the first few of the wrong rows, if there are any.
fn none(wrong: &[String], of: usize) {
    let shown = wrong.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {of} are wrong:\n{shown}", wrong.len());
}

/// Checks that every row prints as in the other tool, and that invalid words do not decode.
fn prints(document: &str, name: &str) {
    let (Some(path), Some(found), Some(negative)) =
        (shared(&format!("documents/{document}")), rows(name), rows(&format!("{name}-negative")))
    else {
        return;
    };
    let stream = open(&path);
    let mut wrong = Vec::new();
    for (bytes, text, generation, _) in &found {
        let engine = Engine { stream, generation: *generation };
        match disassembled(engine, bytes) {
            Ok(printed) if printed == *text => {}
            printed => wrong.push(format!("{bytes} {generation}\n  wants {text:?}\n  gives {printed:?}")),
        }
    }
    none(&wrong, found.len());
    for (bytes, _, generation, _) in &negative {
        if let Ok(text) = disassembled(Engine { stream, generation: *generation }, bytes) {
            wrong.push(format!("{bytes} {generation} is {text:?}"));
        }
    }
    none(&wrong, negative.len());
}

#[test]
fn afuc_prints_as_mesa_prints_it() {
    prints("isaspec-mesa-25.0.7/afuc/afuc.xml", "afuc");
}

#[test]
fn ir3_prints_as_mesa_prints_it() {
    prints("isaspec-mesa-25.0.7/ir3/ir3.xml", "ir3");
}

#[test]
fn etnaviv_prints_as_mesa_prints_it() {
    prints("isaspec-mesa-25.0.7/etnaviv/etnaviv.xml", "etnaviv");
}

/// Checks that every text that decodes assembles to bytes that decode to it. If Mesa's assembler gives the same bytes
/// for a text, so does this one.
fn assembles(document: &str, name: &str) {
    let (Some(path), Some(found)) = (shared(&format!("documents/{document}")), rows(name)) else { return };
    let stream = open(&path);
    let mut wrong = Vec::new();
    for (bytes, text, generation, by_mesa) in &found {
        let engine = Engine { stream, generation: *generation };
        match assembled(engine, text) {
            Ok(made) if made == *bytes => {}
            Ok(made) if by_mesa != "same" && disassembled(engine, &made).as_ref() == Ok(text) => {}
            Ok(made) => wrong.push(format!(
                "{bytes} {generation} {by_mesa} {text:?}\n  gives {made} {:?}",
                disassembled(engine, &made)
            )),
            Err(error) => wrong.push(format!("{bytes} {generation} {by_mesa} {text:?}\n  {error}")),
        }
    }
    none(&wrong, found.len());
}

#[test]
fn programs_of_ir3_print_with_labels_and_assemble() {
    let (Some(path), Some(found)) = (shared("documents/isaspec-mesa-25.0.7/ir3/ir3.xml"), rows("ir3-programs")) else {
        return;
    };
    let stream = open(&path);
    for (row, text, generation, _) in &found {
        let engine = Engine { stream, generation: *generation };
        let mut printed = String::new();
        assert_eq!(disassemble(engine, &bytes(row), &mut printed), 0);
        assert_eq!(printed.trim_end().replace('\t', "\\t").replace('\n', "\\n"), *text);
        let made = assemble(engine, &printed).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let mut again = String::new();
        disassemble(engine, &made, &mut again);
        assert_eq!(again, printed);
    }
}

#[test]
fn afuc_assembles() {
    assembles("isaspec-mesa-25.0.7/afuc/afuc.xml", "afuc");
}

#[test]
fn ir3_assembles() {
    assembles("isaspec-mesa-25.0.7/ir3/ir3.xml", "ir3");
}

#[test]
fn etnaviv_assembles() {
    assembles("isaspec-mesa-25.0.7/etnaviv/etnaviv.xml", "etnaviv");
}

#[test]
fn an_earlier_document_is_read() {
    let Some(path) = shared("documents/isaspec-mesa-22.3.6/ir3/ir3.xml") else { return };
    let engine = Engine { stream: open(&path), generation: 630 };
    assert_eq!(disassembled(engine, "048040100408b840").as_deref(), Ok("(nop3) cmps.f.lt r1.x, (abs)r1.x, c16.x"));
    assert_eq!(assembled(engine, "(nop3) cmps.f.lt r1.x, (abs)r1.x, c16.x").as_deref(), Ok("048040100408b840"));
}

fn loom(generation: u32) -> Engine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/isaspec/loom.xml");
    Engine { stream: open(&path), generation }
}

/// The bytes of a word.
fn word(word: u32) -> String {
    hex(&word.to_le_bytes())
}

#[test]
fn our_own_document_prints_and_assembles() {
    let engine = loom(3);
    for (bits, text) in [
        (0x0018_0012, "knot        t0, t2.red"),
        (0x8018_e112, "(wait)knot.w t1.blue, -t2.red"),
        (0x0018_0085, "knot        t0, 5"),
        (0x0018_8085, "knot.w      t0, 7"),
        (0x0018_813f, "knot.w      t1, t153"),
        (0x0018_013f, "untie       t1"),
        (0x001b_0001, "knot        t0, t1\\t; dontcare bits in knot: 00030000"),
        (0x0010_0001, "knot        t0, t1\\t; WARNING: unexpected bits[18:19] in #two: 00000000 vs 00000002"),
        (0x0018_00c5, "knot        t0, \\t; no match: FIELD: 'knot.SRC': 000000c5"),
        (0x4405_fffe, "pull <COLOUR:5>, #-2"),
        (0x4631_3c00, "pull <COLOUR:1>, #1.000000+3"),
        (0x4581_0001, "pull <COLOUR:1>, #1-8"),
        (0x4800_ffff, "back #-1"),
        (0x5000_0000, "\\t; rest: no display template"),
        (0x5800_0000, "cut \\t; no field 'MISSING'"),
        (0x5800_0003, "tear\\t; dontcare bits in tear: 00000002"),
    ] {
        assert_eq!(disassembled(engine, &word(bits)).as_deref(), Ok(text), "{bits:08x}");
        assert_eq!(assembled(engine, text).as_deref(), Ok(word(bits).as_str()), "{text}");
    }
    // A wide number is recognized by its value alone; reserved bits are set as by the document's encoder.
    assert_eq!(assembled(engine, "pull <COLOUR:5>, #-2"), Ok(word(0x4405_fffe)));
    // Words that match two instructions or none are invalid.
    for bits in [0x5800_0001, 0x0038_0000, 0x7800_0000] {
        assert!(disassembled(engine, &word(bits)).is_err(), "{bits:08x}");
    }
    // If two instructions have the same text, the assembler takes the first. Another generation names it differently.
    assert_eq!(disassembled(engine, &word(0x0028_0001)).as_deref(), Ok("knot        t0, t1"));
    assert_eq!(assembled(engine, "knot t0, t1"), Ok(word(0x0018_0001)));
    assert_eq!(disassembled(loom(4), &word(0x0028_0001)).as_deref(), Ok("weave       t0, t1"));
    assert!(disassembled(loom(1), &word(0x0028_0001)).is_err());
}

#[test]
fn mistakes_of_a_document_have_places() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/isaspec");
    let whole = fs::read_to_string(folder.join("loom.xml")).expect("the document is there");
    let made = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("isaspec");
    fs::create_dir_all(&made).expect("the folder can be made");
    fs::copy(folder.join("threads.xml"), made.join("threads.xml")).expect("the file can be copied");
    for (number, (from, to, code)) in [
        ("<import file=\"threads.xml\"/>", "<import file=\"none.xml\"/>", "E0003"),
        ("<meta type=\"loom\"/>", "<metal type=\"loom\"/>", "E0050"),
        ("pos=\"31\"", "pos=\"31\" at=\"3\"", "E0052"),
        ("pos=\"31\"", "pos=\"x\"", "E0053"),
        ("pos=\"31\"", "pos=\"32\"", "E0104"),
        ("pos=\"31\"", "pos=\"30\"", "E0107"),
        ("extends=\"#two\"", "extends=\"#tow\"", "E0101"),
        ("name=\"#two\" extends=\"#instruction\"", "name=\"#two\" extends=\"knot\"", "E0131"),
        ("type=\"#thread\"", "type=\"#thraed\"", "E0101"),
        ("high=\"13\" type=\"#thread\"", "high=\"12\" type=\"#thread\"", "E0105"),
        ("{SIZE} == 1", "{SIZE} / 1", "E0059"),
        ("expr=\"#is-wide\"", "expr=\"#is-tall\"", "E0101"),
        ("{HEAD} {DST:align=12}", "{HEAD} {DST:align=x}", "E0043"),
        (">10</assert>", ">100</assert>", "E0031"),
        (">10</assert>", ">1x</assert>", "E0059"),
        ("<pattern low=\"16\" high=\"17\">xx</pattern>", "", "E0105"),
        ("name=\"#instruction\" size", "name=\"#others\" size", "E0101"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = whole.replace(from, to);
        assert_ne!(text, whole, "{from} is in the document");
        let path = made.join(format!("wrong{number}.xml"));
        fs::write(&path, text).expect("the file can be written");
        let told = check_spec(&Settings::new(&path)).expect_err(to).to_string();
        assert!(told.contains(code), "{to}: {told}");
    }
}
