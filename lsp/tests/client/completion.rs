//! Completion offers what the assembler would read, and all that real programs contain.

#[path = "../../../runtime/tests/seed/mod.rs"]
mod seed;

use std::fs;
use std::path::{Path, PathBuf};

use isaforge_analysis::Set;
use isaforge_compiler::Settings;
use isaforge_compiler::load::{entry, load};
use isaforge_core::Tables;
use isaforge_lsp::assembly::Source;
use isaforge_lsp::assembly::complete::complete;
use lsp_types::{CompletionItem, CompletionResponse, CompletionTextEdit, Position};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn valhall() -> Set {
    Set::new(Tables::Words(isaforge_valhall::ISA), None, None)
}

fn usc() -> Set {
    Set::new(Tables::Groups(isaforge_usc::ISA), None, None)
}

fn of_spec(path: &str) -> Set {
    let loaded = load(&Settings::new(entry(&top().join(path)))).unwrap_or_else(|_| panic!("{path} can be read"));
    Set::new(loaded.tables, loaded.semantics, loaded.hardware)
}

/// An item: its text, and the range of the line that it replaces.
#[derive(Debug)]
struct Item {
    text: String,
    from: usize,
    to: usize,
}

/// What is offered at a byte of a line, and whether that is all. Lines are ASCII.
fn offered(source: &Source, line: usize, byte: usize) -> (Vec<Item>, bool) {
    let item = |item: CompletionItem| match item.text_edit {
        Some(CompletionTextEdit::Edit(edit)) => {
            let column = |position: Position| position.character as usize;
            Item { text: edit.new_text, from: column(edit.range.start), to: column(edit.range.end) }
        }
        other => panic!("an edit is expected, not {other:?}"),
    };
    let (items, all) = match complete(source, Position::new(line as u32, byte as u32), false) {
        CompletionResponse::Array(items) => (items, true),
        CompletionResponse::List(list) => (list.items, !list.is_incomplete),
    };
    (items.into_iter().map(item).collect(), all)
}

/// The texts that are offered at the end of the first line of a program.
fn names(set: &Set, program: &str) -> Vec<String> {
    let end = program.lines().next().unwrap_or_default().len();
    let source = Source::read(program.to_owned(), set.clone());
    // On a busy machine the time may be over before all names have been tried.
    let mut tries = (0..20).map(|_| offered(&source, 0, end));
    let found = tries.find(|(_, all)| *all).unwrap_or_else(|| offered(&source, 0, end));
    found.0.into_iter().map(|item| item.text).collect()
}

/// A program with another text in place of a line.
fn with_line(program: &str, line: usize, text: &str) -> String {
    let mut lines: Vec<&str> = program.split('\n').collect();
    lines[line] = text;
    lines.join("\n")
}

/// Programs of every kind of set.
fn programs() -> Vec<(String, Set, String)> {
    let riscv = "start: lui a5, 16\nadd a0, a1, a2\nsub s0, s1, t0\nand a0, a0, a3\nlw a0, 4(sp)\nsw a1, 8(a0)\n\
                 beq a0, a1, start\nmul a0, a2, t6\nsrl a3, a3, t4\nj start\n";
    let mut found = vec![("riscv".to_owned(), of_spec("examples/riscv"), riscv.to_owned())];
    let folders = [("valhall", valhall()), ("usc", usc()), ("vpu", of_spec("specs/vpu"))];
    for (folder, set) in folders {
        let mut files: Vec<PathBuf> = fs::read_dir(top().join("examples").join(folder))
            .expect("it is there")
            .map(|file| file.expect("it can be read").path())
            .filter(|file| file.extension().is_some_and(|end| end == "s" || end == folder))
            .collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).expect("it can be read");
            found.push((file.display().to_string(), set.clone(), text));
        }
    }
    found
}

/// Lines that differ in their shape, with their numbers: of lines that differ in digits only, one is enough.
fn different(program: &str) -> Vec<(usize, &str)> {
    let mut seen = std::collections::HashSet::new();
    let shape = |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let lines = program.lines().enumerate().filter(|(_, line)| line.is_ascii());
    lines.filter(|(_, line)| seen.insert(shape(line))).collect()
}

/// The code of a line.
fn code<'l>(set: &Set, line: &'l str) -> &'l str {
    let marks: &[&str] = if matches!(set.tables, Tables::Groups(_)) { &["#"] } else { &["//", ";", "#"] };
    let end = marks.iter().filter_map(|mark| line.find(mark)).filter(|at| !line[*at..].starts_with("#-"));
    &line[..end.min().unwrap_or(line.len())]
}

#[test]
fn every_word_of_the_shipped_programs_is_on_offer_at_its_place() {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut missing = Vec::new();
    let mut count = 0;
    for (name, set, program) in programs() {
        for (number, line) in different(&program) {
            let line = code(&set, line);
            let bytes = line.as_bytes();
            let starts = (0..bytes.len()).filter(|at| {
                (bytes[*at].is_ascii_alphabetic() || bytes[*at] == b'_') && (*at == 0 || !is_word(bytes[at - 1]))
            });
            for at in starts {
                let len = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                let rest = line[at + len..].trim_start();
                // A label has any name, and so have directives and what follows them.
                if rest.starts_with(':') || line[..at].trim_end().ends_with('.') && line[..at].trim() == "." {
                    continue;
                }
                count += 1;
                let fits = |typed: usize| {
                    let source = Source::read(with_line(&program, number, &line[..typed]), set.clone());
                    let (items, all) = offered(&source, number, typed);
                    // A mark before the word, or what follows it, may be a part of the item; so may spaces be missing.
                    let is_here = |item: &Item| {
                        let written = line[item.from..].trim_start();
                        item.from + item.text.len() > at && written.starts_with(item.text.as_str())
                    };
                    (items.iter().any(is_here), all)
                };
                let found = match fits(at) {
                    (false, false) => fits(at + len).0,
                    (found, _) => found,
                };
                if !found {
                    missing.push(format!("{name}:{}: `{}` | `{}`", number + 1, &line[..at], &line[at..at + len]));
                }
            }
        }
    }
    assert!(missing.is_empty() && count > 500, "{} of {count}:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn what_is_offered_is_read_where_it_is_inserted() {
    let mut seed = seed::seed(0);
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let mut refused = Vec::new();
    let mut count = 0;
    for (name, set, program) in programs() {
        for (number, line) in different(&program) {
            let line = code(&set, line);
            let starts = (0..=line.len()).filter(|at| *at == 0 || !line.as_bytes()[at - 1].is_ascii_alphanumeric());
            for at in starts {
                if random(3) != 0 {
                    continue;
                }
                let cut = with_line(&program, number, &line[..at]);
                let source = Source::read(cut.clone(), set.clone());
                let (mut items, _) = offered(&source, number, at);
                for _ in 0..items.len().min(2) {
                    let item = items.swap_remove(random(items.len()));
                    assert_eq!(item.to, at);
                    let inserted = format!("{}{}", &line[..item.from], item.text);
                    let text = with_line(&cut, number, &inserted);
                    count += 1;
                    if let Some(error) = error_within(&set, text, number, item.from, inserted.len()) {
                        refused.push(format!("{name}:{}: `{inserted}`: {error}", number + 1));
                    }
                }
            }
        }
    }
    assert!(refused.is_empty() && count > 400, "{} of {count}:\n{}", refused.len(), refused.join("\n"));
}

/// The error that the assembler reports for a part of a line, unless something may follow the line.
fn error_within(set: &Set, text: String, line: usize, from: usize, end: usize) -> Option<String> {
    let source = Source::read(text, set.clone());
    let errors = source.assembly.errors.iter();
    let is_here = |error: &&isaforge_core::program::ProgramError| {
        error.line == line + 1 && error.column > from && error.column <= end
    };
    let error = errors.into_iter().find(is_here)?.message.clone();
    // An instruction that is only begun is an error as a whole.
    let goes_on = [end, end + 1, end + 2].iter().zip(["", ".", ", "]).any(|(at, sign)| {
        let whole = source.text.line(line).to_owned() + sign;
        let longer = Source::read(with_line(&source.text.text, line, &whole), set.clone());
        !offered(&longer, line, *at).0.is_empty()
    });
    (!goes_on).then_some(error)
}

#[test]
fn forms_that_share_a_name_do_not_hide_each_others_operands() {
    let riscv = of_spec("examples/riscv");
    let registers = names(&riscv, "mul a0, ");
    assert!(registers.len() > 60, "{registers:?}");
    for name in ["add", "sub", "and", "xor", "srl"] {
        assert_eq!(names(&riscv, &format!("{name} a0, ")), registers, "{name}");
    }
    assert_eq!(names(&riscv, "add a0, a"), ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"]);
    assert!(names(&riscv, "beq a0, a1, \nfoo:\n").contains(&"foo".to_owned()));
}

#[test]
fn what_would_have_no_effect_or_is_chosen_already_is_not_offered() {
    let valhall = valhall();
    assert!(!names(&valhall, "MOV.i32 r0, ").iter().any(|name| name.starts_with('.')));
    let found = names(&valhall, "FCMP.f32.ge.");
    assert!(!["eq", "gt", "ge"].iter().any(|name| found.iter().any(|found| found == name)), "{found:?}");
    assert!(found.contains(&"m1".to_owned()), "{found:?}");
    assert!(!names(&valhall, "BRANCHZI.eq.").contains(&"eq".to_owned()));
    assert_eq!(names(&valhall, "STORE.i32.slot0.end @r2, u0, "), ["offset:"]);
    let found = names(&valhall, "CSEL.u32.eq r1, r0, 0x0, 0x3F800000, ");
    assert!(found.contains(&"r5".to_owned()) && !found.contains(&"u59".to_owned()), "{found:?}");
}

#[test]
fn operands_with_many_texts_are_offered_one_step_after_the_other() {
    let vpu = of_spec("specs/vpu");
    let found = names(&vpu, "AddInt32 ");
    assert!(found.contains(&"r8.".to_owned()) && !found.iter().any(|name| name.starts_with('g')), "{found:?}");
    let found = names(&vpu, "And r7.");
    assert!(found.contains(&"r7.xyzw".to_owned()) || found.contains(&"r7.x___".to_owned()), "{found:?}");
    assert_eq!(names(&vpu, "Branch n\nnext:\nBranch next\n"), ["next"]);
}

#[test]
fn words_before_operations_and_wires_are_offered_in_groups() {
    let usc = usc();
    assert_eq!(names(&usc, "27 "), [""; 0]);
    assert_eq!(names(&usc, "37 : if(p0) ol"), ["olchk"]);
    assert!(names(&usc, "35 : i").contains(&"if(p0)".to_owned()));
    assert!(names(&usc, "35 : if(p").contains(&"if(p0)".to_owned()));
    let found = names(&usc, "28 : tstl.u32 ftt, p");
    assert!(found.contains(&"p0".to_owned()), "{found:?}");
    assert!(!names(&usc, "37 : if(p0) ").iter().any(|name| name.starts_with("sh")));
}

#[test]
fn what_is_unfinished_is_not_blamed_on_the_last_operand() {
    let errors = |set: &Set, program: &str| -> Vec<(usize, String)> {
        let errors = set.tables.assemble(program).errors.into_iter();
        errors.map(|error| (error.column, format!("{} ({})", error.message, error.help))).collect()
    };
    let found = errors(&of_spec("examples/riscv"), "sub a0, s10\n");
    assert!(found.len() == 1 && found[0].0 == 12 && found[0].1.starts_with("`,` is missing"), "{found:?}");
    let found = errors(&valhall(), "MOV.i32 rr, r1\n");
    assert!(found.len() == 1 && found[0].1.ends_with("(it is written like `r0`)"), "{found:?}");
}
