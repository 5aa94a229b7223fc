//! Compares every column of every set with the analysis of each instruction.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use flate2::read::MultiGzDecoder;
use isaforge_analysis as analysis;
use isaforge_analysis::{Graph, Liveness, Program};
use isaforge_arrow::whole::{self, FormNames, Wanted};
use isaforge_arrow::{Column, Decoder, INVALID, Keep, Rows, Set, forms};
use isaforge_core::registers::registers;
use isaforge_core::{Isa, Tables};

fn set(name: &str) -> Arc<Set> {
    let (tables, semantics, hardware) = match name {
        "valhall" => {
            use isaforge_valhall::{ISA, semantics::*};
            (Tables::Words(ISA), SEMANTICS, HARDWARE)
        }
        "valhall-2021" => {
            use isaforge_valhall_2021::{ISA, semantics::*};
            (Tables::Words(ISA), SEMANTICS, HARDWARE)
        }
        "vpu" => {
            use isaforge_vpu::{ISA, semantics::*};
            (Tables::Words(ISA), SEMANTICS, HARDWARE)
        }
        _ => {
            use isaforge_usc::{ISA, semantics::*};
            (Tables::Groups(ISA), SEMANTICS, HARDWARE)
        }
    };
    let decoder = match name {
        "valhall" => Decoder::Generated(|words, opcodes| {
            for (word, opcode) in words.iter().zip(opcodes) {
                let found = isaforge_valhall::decode(u64::from_le_bytes(*word));
                *opcode = found.map_or(INVALID, |found| found.opcode() as u16);
            }
        }),
        _ => Decoder::Exact,
    };
    Set::new(name, analysis::Set::new(tables, Some(semantics), Some(hardware)), decoder)
}

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|ending| ending == "gz") {
        let mut text = String::new();
        MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        return text;
    }
    String::from_utf8(bytes).unwrap()
}

/// The words in the first column of a table.
fn words(path: &str) -> Vec<u8> {
    let text = file(path);
    let first = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    let words = first.filter_map(|digits| u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok());
    words.flat_map(u64::to_le_bytes).collect()
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn groups() -> Vec<u8> {
    let files = ["img-groups", "pco-multiphase-groups", "pco-random-groups", "pco-shader-groups"];
    let texts = files.map(|name| file(&format!("compiler/tests/data/usc/{name}.txt")));
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.flat_map(|line| bytes(line.split(['\t', ' ']).next().unwrap())).collect()
}

/// Reads all columns, in batches of different lengths.
fn rows(set: &Arc<Set>, code: &[u8], keep: Option<Keep>, most: usize) -> Vec<RecordBatch> {
    let mut rows = Rows::new(set, &Column::ALL, keep);
    let (mut from, mut batches) = (Some(0), Vec::new());
    while let Some(at) = from {
        from = rows.push("a program of some length", "abc", code, at, most);
        if !rows.is_empty() {
            batches.push(rows.finish().unwrap());
        }
    }
    batches
}

fn texts(batch: &RecordBatch, column: &str, row: usize) -> Vec<String> {
    let list = batch.column_by_name(column).unwrap().as_list::<i32>();
    if list.is_null(row) {
        return vec!["null".to_owned()];
    }
    list.value(row).as_string_view().iter().map(|text| text.unwrap().to_owned()).collect()
}

fn text<'b>(batch: &'b RecordBatch, column: &str, row: usize) -> Option<&'b str> {
    let column = batch.column_by_name(column).unwrap().as_string_view();
    column.is_valid(row).then(|| column.value(row))
}

/// The names of the registers that operands of a valid word name, without duplicates.
fn named(set: &Set, isa: &'static Isa, opcode: u16, word: u64, write: bool) -> Vec<String> {
    let mut all = Vec::new();
    for run in registers(isa, opcode, word, write) {
        for index in u32::from(run.first)..u32::from(run.first) + u32::from(run.count) {
            let name = set.analysis.name(analysis::Register { bank: run.bank, index });
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all
}

/// Checks every column of code. Returns for how many words the analysis knows that not all registers that operands name
/// are accessed, or that others are.
#[track_caller]
fn assert_as_analysed(set: &Arc<Set>, code: &[u8], most: usize) -> usize {
    let mut others = 0;
    let program = Program::read(&set.analysis, code);
    let mut entries = program.entries.iter();
    for batch in rows(set, code, None, most) {
        for row in 0..batch.num_rows() {
            let entry = entries.next().expect("a row stands for an instruction");
            let pc = batch.column_by_name("pc").unwrap().as_primitive::<UInt32Type>().value(row);
            assert_eq!(pc as usize, entry.bytes.start);
            let (word, raw) = (batch.column_by_name("word").unwrap(), batch.column_by_name("bytes").unwrap());
            let found = match word.is_valid(row) {
                true => word.as_primitive::<UInt64Type>().value(row).to_le_bytes()[..set.tables().unit()].to_vec(),
                false => raw.as_binary::<i32>().value(row).to_vec(),
            };
            assert_eq!(found, code[entry.bytes.clone()], "at {pc}");
            assert_eq!(text(&batch, "isa", row), Some(set.name.as_str()));
            assert_eq!(text(&batch, "program", row), Some("a program of some length"));
            let opcode = batch.column_by_name("opcode").unwrap().as_primitive::<UInt16Type>();
            match &entry.instruction {
                Ok(found) => {
                    let names = |registers: Vec<analysis::Register>| -> Vec<String> {
                        registers.into_iter().map(|register| set.analysis.name(register)).collect()
                    };
                    assert_eq!(text(&batch, "mnemonic", row), Some(found.mnemonic.as_str()));
                    assert_eq!(text(&batch, "text", row), Some(found.text.as_str()));
                    assert_eq!(text(&batch, "flow", row), Some(found.flow.name()), "{}", found.text);
                    assert_eq!(text(&batch, "error", row), None);
                    let modifiers: Vec<&str> = found.modifiers.iter().map(|modifier| modifier.text.as_str()).collect();
                    assert_eq!(texts(&batch, "modifiers", row), modifiers, "{}", found.text);
                    let writes = found.writes.iter().map(|(register, _)| *register).collect();
                    let mut accessed = [names(found.reads.clone()), names(writes)];
                    if let Tables::Words(isa) = set.tables() {
                        let word = word.as_primitive::<UInt64Type>().value(row);
                        let own = [false, true].map(|write| named(set, isa, opcode.value(row), word, write));
                        others += usize::from(own != accessed);
                        accessed = own;
                    }
                    let columns = ["src", "dst"].map(|column| texts(&batch, column, row));
                    assert_eq!(columns, accessed, "{}", found.text);
                    if set.has_opcodes() {
                        assert_eq!(set.forms[usize::from(opcode.value(row))].name, found.mnemonic);
                    } else {
                        assert!(opcode.is_null(row));
                    }
                }
                Err(reason) => {
                    assert_eq!(text(&batch, "error", row), Some(reason.as_str()), "at {pc}");
                    for column in ["mnemonic", "flow", "text"] {
                        assert_eq!(text(&batch, column, row), None);
                    }
                    assert_eq!(texts(&batch, "dst", row), ["null"]);
                    assert!(opcode.is_null(row));
                }
            }
        }
    }
    assert!(entries.next().is_none(), "every instruction has a row");
    others
}

#[test]
fn every_word_of_the_corpora_has_the_columns_that_its_analysis_says() {
    let valhall = set("valhall");
    let older = set("valhall-2021");
    let vpu = set("vpu");
    // What compilers make accesses all that it names.
    assert_eq!(assert_as_analysed(&valhall, &words("tests/data/valhall/words.tsv.gz"), 8192), 0);
    assert_as_analysed(&valhall, &words("tests/data/valhall/random-words.tsv.gz"), 1000);
    assert_as_analysed(&older, &words("tests/data/valhall-2021/words.tsv"), 7);
    assert_eq!(assert_as_analysed(&older, &words("tests/data/valhall/words.tsv.gz"), 8192), 0);
    assert_as_analysed(&vpu, &words("runtime/tests/data/vpu/valid.tsv"), 8192);
    assert_as_analysed(&vpu, &words("runtime/tests/data/vpu/invalid.tsv"), 8192);
}

#[test]
fn every_group_of_the_corpora_has_the_columns_that_its_analysis_says() {
    let (usc, code) = (set("usc"), groups());
    assert!(code.len() > 50_000, "{} bytes are read in several windows", code.len());
    assert_as_analysed(&usc, &code, 8192);
    assert_as_analysed(&usc, &code, 100);
}

#[test]
fn what_is_no_program_has_rows_that_say_so() {
    let (valhall, usc) = (set("valhall"), set("usc"));
    assert!(rows(&valhall, &[], None, 10).is_empty());
    assert!(rows(&usc, &[], None, 10).is_empty());
    for length in 1..24 {
        let code: Vec<u8> = (0..length).map(|byte| (byte * 37 + 11) as u8).collect();
        assert_as_analysed(&valhall, &code, 2);
        assert_as_analysed(&usc, &code, 2);
    }
    let batch = &rows(&valhall, &[1, 2, 3], None, 10)[0];
    assert_eq!(text(batch, "error", 0), Some("a word has 8 bytes, but there are 3"));
}

#[test]
fn a_filter_on_forms_takes_the_same_rows_as_one_on_the_rows() {
    let valhall = set("valhall");
    let code = [words("tests/data/valhall/random-words.tsv.gz"), vec![1, 2, 3]].concat();
    let all = rows(&valhall, &code, None, 8192);
    for invalid in [false, true] {
        let forms: Vec<bool> = valhall.forms.iter().map(|form| form.name.starts_with("F")).collect();
        let kept = rows(&valhall, &code, Some(Keep { forms, invalid }), 500);
        let is_kept = |batch: &RecordBatch, row| match text(batch, "mnemonic", row) {
            Some(name) => name.starts_with('F'),
            None => invalid,
        };
        let pcs = |batches: &[RecordBatch], all: bool| -> Vec<u32> {
            let of = |batch: &RecordBatch, row: usize| {
                batch.column_by_name("pc").unwrap().as_primitive::<UInt32Type>().value(row)
            };
            let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
            rows.filter(|(batch, row)| all || is_kept(batch, *row)).map(|(batch, row)| of(batch, row)).collect()
        };
        assert_eq!(pcs(&kept, true), pcs(&all, false));
        assert!(!kept.is_empty());
    }
}

#[test]
fn functions_of_a_program_count_what_its_rows_are() {
    for (set, code) in [(set("valhall"), words("tests/data/valhall/random-words.tsv.gz")), (set("usc"), groups())] {
        let program = Program::read(&set.analysis, &code);
        let valid: Vec<&analysis::Instruction> =
            program.entries.iter().filter_map(|entry| entry.instruction.as_ref().ok()).collect();
        assert_eq!(whole::length(&set, &code), program.entries.len());
        assert_eq!(whole::invalid(&set, &code), program.entries.len() - valid.len());
        let mut histogram = whole::Histogram::new(&set);
        let mut counts = vec![0; set.forms.len()];
        histogram.count(&set, &code, |form, count| counts[form] = count);
        let mut again = vec![0; set.forms.len()];
        histogram.count(&set, &code, |form, count| again[form] = count);
        assert_eq!(counts, again, "nothing is left of the program before");
        let mut seen = 0;
        for (form, count) in set.forms.iter().zip(&counts) {
            // The name of a group consists of those of its operations.
            let found =
                valid.iter().flat_map(|one| one.mnemonic.split(" | ")).filter(|name| *name == form.name).count();
            let names = set.forms.iter().filter(|other| other.name == form.name).count();
            assert!(names > 1 || found as u64 == *count, "{}: {found} and {count}", form.name);
            seen += usize::from(*count > 0);
        }
        assert!(seen > 30, "{seen}");
        let mut registers: Vec<analysis::Register> = Vec::new();
        for one in &valid {
            registers.extend(&one.reads);
            registers.extend(one.writes.iter().map(|(register, _)| *register));
        }
        registers.sort();
        registers.dedup();
        assert_eq!(whole::registers(&set, &code).into_iter().collect::<Vec<_>>(), registers);
    }
    let valhall = set("valhall");
    let code = words("tests/data/valhall/words.tsv.gz");
    let program = Program::read(&valhall.analysis, &code);
    let has = |one: &analysis::Instruction, text: &str| one.modifiers.iter().any(|modifier| modifier.text == text);
    let clamped = |one: &&analysis::Instruction| one.mnemonic == "FMA.f32" && has(one, "clamp_0_1");
    let found = program.entries.iter().filter_map(|entry| entry.instruction.as_ref().ok()).filter(clamped).count();
    let wanted = Wanted::new(&valhall, "FMA.f32", &["clamp_0_1"]).unwrap();
    assert_eq!(whole::count(&valhall, &code, &wanted), found as u64);
    assert!(found > 0);
    assert_eq!(whole::count(&valhall, &code, &Wanted::new(&valhall, "FMA.f32", &["no such"]).unwrap()), 0);
    assert!(Wanted::new(&valhall, "FMA.f33", &[]).is_none());
    let live = Liveness::new(&program, &Graph::new(&program));
    let most = (0..program.entries.len()).map(|entry| live.pressure(entry)).max().unwrap();
    assert_eq!(whole::pressure(&valhall, &code), most);
}

#[test]
fn what_could_occur_is_all_that_occurs() {
    let valhall = set("valhall");
    let known: std::collections::HashSet<(u16, usize, u64)> =
        forms::variants_of(&valhall).map(|variant| (variant.opcode, variant.index, variant.value)).collect();
    let mut count = 0;
    whole::variants(&valhall, &words("tests/data/valhall/random-words.tsv.gz"), |opcode, index, value| {
        assert!(known.contains(&(opcode, index, value)), "{} {index} {value}", valhall.forms[usize::from(opcode)].name);
        count += 1;
    });
    assert!(count > 10_000, "{count}");
    assert_eq!(forms::forms(&valhall).unwrap().num_rows(), 238);
    assert_eq!(forms::variants(&valhall).unwrap().num_rows(), known.len());
}

#[test]
fn one_column_has_the_names_of_several_sets() {
    let sets = ["valhall", "vpu", "usc", "valhall-2021"].map(set);
    let (mut names, mut expected) = (FormNames::default(), Vec::new());
    for form in 0..20 {
        for set in &sets {
            names.push(set, form);
            expected.push(set.forms[form].name);
        }
    }
    // Some names are too long to be stored in a view.
    assert!(expected.iter().any(|name| name.len() > 12));
    let found = names.finish();
    assert!(found.iter().flatten().eq(expected));
}
