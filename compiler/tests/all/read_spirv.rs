//! SPIR-V's grammar as a document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isaforge_compiler::{Settings, check_spec};
use isaforge_core::stream::sequence::{Kind, Sequence};

use crate::support::{bytes, hex, shared};

fn open(path: &Path) -> Result<&'static Sequence, String> {
    let checked = check_spec(&Settings::new(path)).map_err(|failure| failure.to_string())?;
    checked.isa.stream().and_then(|stream| stream.sequence).ok_or_else(|| "it is no sequence".to_owned())
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/spirv.json")
}

fn units(units: &[u32]) -> Vec<u8> {
    units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
}

#[test]
fn instructions_read_both_ways() {
    let sequence = open(&fixture()).unwrap_or_else(|why| panic!("{why}"));
    let rows: [(&[u32], &str); 7] = [
        (&[3 << 16 | 5, 4, 0], "OpName %4 \"\""),
        (&[4 << 16 | 5, 4, u32::from_le_bytes(*b"a\"\\b"), 0], "OpName %4 \"a\\\"\\\\b\""),
        (&[4 << 16 | 21, 2, 32, 1], "%2 = OpTypeInt 32 1"),
        (&[4 << 16 | 61, 3, 9, 8], "%9 = OpFetch %3 %8"),
        (&[5 << 16 | 61, 3, 9, 8, 0], "%9 = OpFetch %3 %8 None"),
        (&[6 << 16 | 61, 3, 9, 8, 3, 16], "%9 = OpFetch %3 %8 Often|Aligned 16"),
        (&[5 << 16 | 62, 7, 5, 6, 7], "OpGather Strict %5 %6 %7"),
    ];
    for (found, text) in rows {
        assert_eq!(sequence.disassemble(&units(found)).as_deref(), Ok(text));
        assert_eq!(sequence.assemble(text), Ok(units(found)), "{text}");
    }
    assert_eq!(sequence.assemble("%9 = OpFetch %3 %8 Even 16"), sequence.assemble("%9 = OpFetch %3 %8 Aligned 16"));
    // A reserved value, a missing operand, an extra operand, an unterminated text, a length beyond the bytes, an
    // unknown type.
    let wrong: [&[u32]; 7] = [
        &[2 << 16 | 62, 3],
        &[3 << 16 | 21, 2, 32],
        &[5 << 16 | 21, 2, 32, 1, 0],
        &[3 << 16 | 5, 4, 0x6161_6161],
        &[9 << 16 | 21, 2, 32, 1],
        &[4 << 16 | 43, 2, 3, 1],
        &[0],
    ];
    for found in wrong {
        assert!(sequence.disassemble(&units(found)).is_err(), "{found:?}");
    }
    for text in
        ["OpTypeInt 32 1", "%1 = OpName %4 \"a\"", "OpName %4 \"a", "OpName %4", "OpGather Strong %1", "OpNone", ""]
    {
        assert!(sequence.assemble(text).is_err(), "{text}");
    }
}

#[test]
fn numbers_have_the_types_that_the_module_declares() {
    let sequence = open(&fixture()).unwrap_or_else(|why| panic!("{why}"));
    let text = "OpName %1 \"two\nlines\"\n%1 = OpTypeInt 16 1\n%2 = OpTypeFloat 32\n%3 = OpTypeFloat 64\n%9 = OpTypeInt 64 0\n\
        %4 = OpConstant %1 -5\n%5 = OpConstant %2 0.100000001\n%6 = OpConstant %2 -0x1p+128\n%7 = OpConstant %3 1e+30\n\
        %8 = OpConstant %9 18446744073709551615\n%10 = OpConstant %2 0x1p-149\n%11 = OpConstant %3 -0\nOpChoose %4 -1 %5 7 %6\n";
    let found = sequence.assemble(text).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(sequence.disassemble(&found).as_deref(), Ok(text));
    let header: Vec<u32> =
        found.chunks(4).take(5).map(|unit| u32::from_le_bytes(unit.try_into().unwrap_or_default())).collect();
    assert_eq!(header, [0x0723_0203, 0x1_0200, 0, 12, 0]);
}

#[test]
fn a_module_is_listed_whatever_is_in_it_and_assembles_to_the_same_units() {
    let sequence = open(&fixture()).unwrap_or_else(|why| panic!("{why}"));
    let texts = [
        // Instructions of these sets have identifiers; some are named.
        "%2 = OpExtInstImport \"NonSemantic.Example\"\n%3 = OpExtInst %1 %2 7 %4 %5\n",
        "%2 = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n%3 = OpExtInst %1 %2 DebugSource %4\n\
         %6 = OpExtInst %1 %2 99 %4 0\n",
        // Those of other sets may have numbers.
        "%2 = OpExtInstImport \"Example\"\n%3 = OpExtInst %1 %2 7 4 5\n",
        // What is no text, and what cannot be seen.
        "OpName %1 \"a\\xff\\xfe\\\\x41 \\\"é\"\nOpName %2 \"\\x1b[0m\\x0d\\xe2\\x80\\xae\r\n\tb\"\n",
        "OpName %1 \"\"\n.word 0x00020fff 0x00000001 ; no instruction has the code 4095\nOpName %2 \"\"\n",
    ];
    for text in texts {
        let found = sequence.assemble(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let listing = sequence.list(&found).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!((listing.text.as_str(), listing.invalid), (text, usize::from(text.contains(".word"))));
        let swapped: Vec<u8> = found.chunks(4).flat_map(|unit| unit.iter().rev().copied()).collect();
        assert_eq!(sequence.list(&swapped).map(|listing| listing.text).as_deref(), Ok(text), "the other byte order");
    }
    let bytes = sequence.assemble("OpName %1 \"a\\xff\\xzz\"").unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(&bytes[8..], b"a\xffxzz\0\0\0");
    // An instruction that is longer than the module, and one of no length.
    for last in [9 << 16 | 5, 5] {
        let module = units(&[0x0723_0203, 0x1_0200, 0, 1, 0, 3 << 16 | 5, 4, 0, last, 1]);
        let listing = sequence.list(&module).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((listing.invalid, listing.error.map(|error| error.at)), (1, Some(32)));
        assert!(listing.text.starts_with("OpName %4 \"\"\n.word "), "{}", listing.text);
        let back = sequence.assemble(&listing.text).map(|back| hex(&back[20..]));
        assert_eq!(back, Ok(hex(&module[20..])), "{}", listing.text);
        assert!(sequence.disassemble(&module).is_err());
    }
    for text in
        [".word", ".word 0x100000000", "%1 = .word 1", "%2 = OpExtInstImport \"E\"\n%3 = OpExtInst %1 %2 Sin %4"]
    {
        assert!(sequence.assemble(text).is_err(), "{text}");
    }
}

#[test]
fn mistakes_of_a_grammar_have_places() {
    let good = std::fs::read_to_string(fixture()).expect("the fixture is there");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read_spirv");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let cases = [
        (
            "kind",
            good.replace("\"kind\": \"LiteralString\" } ]", "\"kind\": \"LiteralSting\" } ]"),
            "did you mean `LiteralString`?",
            ":4:",
        ),
        ("twice", good.replace("\"opcode\": 22", "\"opcode\": 21"), "have the code 21", ":5:"),
        ("quantifier", good.replace("\"quantifier\": \"?\"", "\"quantifier\": \"+\""), "unknown quantifier `+`", ":8:"),
        ("cut", good[..good.len() / 2].to_owned(), "not a SPIR-V grammar", ""),
        ("opcode", good.replace("\"opcode\": 62", "\"opcode\": \"62\""), "not a SPIR-V grammar", ":9:"),
    ];
    for (name, text, expected, place) in cases {
        let path = folder.join(format!("{name}.json"));
        std::fs::write(&path, text).expect("the file can be written");
        let found = open(&path).err().unwrap_or_default();
        assert!(found.contains(expected) && found.contains(place), "{name}: {found}");
    }
}

/// Instructions whose operands differ between the document and the tool that made the rows.
const REVISED: [&str; 3] =
    ["OpCompositeConstructContinuedINTEL", "OpReadPipeBlockingINTEL", "OpWritePipeBlockingINTEL"];

/// A cell of a row, with `\n` and `\t` unescaped.
/// Kinds that contain themselves, and kinds that are written as nothing, do not make the assembler recurse or repeat
/// without end.
#[test]
fn operands_end_whatever_the_kinds_are() {
    let open_text = |kinds: &str| {
        let folder = tempfile::tempdir().unwrap_or_else(|why| panic!("{why}"));
        let path = folder.path().join("x.json");
        let text = format!(
            r#"{{"magic_number":"0x07230203","major_version":1,"minor_version":2,"instructions":[{{"opname":"OpA","opcode":5,
            "operands":[{{"kind":"K","quantifier":"*"}}]}}],"operand_kinds":[{kinds}]}}"#
        );
        std::fs::write(&path, text).unwrap_or_else(|why| panic!("{why}"));
        open(&path)
    };
    let composed = open_text(r#"{"category":"Composite","kind":"K","bases":["K","K"]}"#);
    assert!(composed.is_err_and(|why| why.contains("is itself composed")));

    let value = r#""enumerants":[{"enumerant":"A","value":1,"parameters":[{"kind":"K"}]},{"enumerant":"B","value":2}]"#;
    let nested =
        open_text(&format!(r#"{{"category":"ValueEnum","kind":"K",{value}}}"#)).unwrap_or_else(|why| panic!("{why}"));
    let text = |count: usize| format!("OpA{} B", " A".repeat(count));
    let deep = nested.assemble(&text(50_000)).expect_err("it is too deep");
    assert!(deep.to_string().contains("nested too deeply"), "{deep}");
    let fine = nested.assemble(&text(8)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(nested.disassemble(&fine), Ok(text(8)));
    let mut long = vec![1; 50_000];
    long[0] = 50_000 << 16 | 5;
    assert!(nested.disassemble(&units(&long)).is_err_and(|why| why.to_string().contains("nested too deeply")));

    let bits = r#"{"category":"BitEnum","kind":"K","enumerants":[{"enumerant":"A","value":1}]}"#;
    let nothing = open_text(bits).unwrap_or_else(|why| panic!("{why}")).assemble("OpA foo");
    assert!(nothing.is_err_and(|why| why.to_string().contains("no operand for `foo`")));
}

fn plain(cell: &str) -> String {
    cell.replace("\\n", "\n").replace("\\t", "\t")
}

/// Whether an instruction can be read without context: none of its operands depends on earlier instructions.
fn is_alone(sequence: &Sequence, name: &str) -> bool {
    let found = sequence.operations.iter().find(|operation| operation.name == name || operation.also.contains(&name));
    found.is_some_and(|operation| operation.operands.iter().all(|slot| kind_is_alone(sequence, slot.kind)))
}

fn kind_is_alone(sequence: &Sequence, kind: u16) -> bool {
    match sequence.kinds.get(usize::from(kind)) {
        Some(Kind::OfResult | Kind::OfFirst | Kind::Extended | Kind::Nested) => false,
        Some(Kind::Pair(first, second)) => kind_is_alone(sequence, *first) && kind_is_alone(sequence, *second),
        _ => true,
    }
}

#[test]
fn rows_of_spirv_dis_read_both_ways() {
    let (Some(document), Some(rows), Some(modules)) = (
        shared("documents/spirv/spirv.core.grammar.json"),
        shared("corpora/other/spirv.tsv"),
        shared("corpora/other/spirv-modules.tsv"),
    ) else {
        eprintln!("skipped: there are no rows beside the project");
        return;
    };
    let sequence = open(&document).unwrap_or_else(|why| panic!("{why}"));
    let (mut count, mut needy) = (0, BTreeMap::new());
    let mut wrong = Vec::new();
    let all = std::fs::read_to_string(rows).expect("the rows can be read");
    for row in all.lines().filter(|row| !row.starts_with('#')) {
        let cells: Vec<&str> = row.split('\t').collect();
        let text = plain(cells[1]);
        let name = text.split(' ').find(|word| word.starts_with("Op")).unwrap_or_default();
        let found = sequence.disassemble(&bytes(cells[0]));
        if REVISED.contains(&name) {
            continue;
        }
        if found.is_err() && !is_alone(sequence, name) {
            *needy.entry(name.to_owned()).or_insert(0) += 1;
            continue;
        }
        count += 1;
        let back = sequence.assemble(&text).map(|bytes| hex(&bytes));
        if found.as_ref() != Ok(&text) || back.as_deref() != Ok(cells[0]) {
            wrong.push(format!("{row}\n  {found:?}\n  {back:?}"));
        }
    }
    eprintln!("{count} instructions; these need their module: {needy:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    let all = std::fs::read_to_string(modules).expect("the rows can be read");
    for row in all.lines().filter(|row| !row.starts_with('#')) {
        let cells: Vec<&str> = row.split('\t').collect();
        let (text, module) = (plain(cells[1]), bytes(cells[0]));
        let found = sequence.disassemble(&module).unwrap_or_else(|why| panic!("{}: {why}", cells[3]));
        let differs = found.lines().zip(text.lines()).find(|(a, b)| a != b);
        assert_eq!((differs, found.trim_end()), (None, text.trim_end()), "{}", cells[3]);
        let back = sequence.assemble(&text).unwrap_or_else(|why| panic!("{}: {why}", cells[3]));
        // The text does not contain version and generator.
        assert_eq!(hex(&back[12..]), hex(&module[12..]), "{}", cells[3]);
    }
}
