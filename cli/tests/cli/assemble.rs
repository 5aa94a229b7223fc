use super::*;

#[test]
fn text_becomes_a_word_a_line_in_hexadecimal() {
    let rows = words_and_texts();
    let texts = lines(rows.iter().map(|(_, text)| text));
    assert_eq!(isaforge_with(&["asm", "valhall"], texts).expect(0).out(), lines(rows.iter().map(|(word, _)| word)));
}

#[test]
fn labels_comments_and_raw_words_make_a_program() {
    let program = data("program.s");
    let run = isaforge(&["asm", "valhall", program.to_str().expect("the path is text")]).expect(0);
    let words: Vec<&str> = run.out().lines().collect();
    assert_eq!((words.len(), words[0], words[3]), (4, "0091c10000000002", "0091c10000000002"));
    let text = isaforge_with(&["dis", "valhall"], words[2]).expect(0);
    assert_eq!(text.out(), "BRANCHZ.reconverge ^r1, offset:-2\n");
}

#[test]
fn binary_output_is_little_endian() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.bin");
    let path = out.to_str().expect("the path is text");
    let run = isaforge_with(&["asm", "valhall", "-", "-o", path, "--out", "bin"], "MOV.i32 r1, r2\n").expect(0);
    assert!(run.out.is_empty());
    assert_eq!(fs::read(&out).expect("the output is there"), 0x0091_c100_0000_0002u64.to_le_bytes());
    let run = isaforge_with(&["asm", "valhall", "--out", "bin", "-o", "-"], "MOV.i32 r1, r2\n").expect(0);
    assert_eq!(run.out, 0x0091_c100_0000_0002u64.to_le_bytes());
}

#[test]
fn every_mistake_is_reported_with_place_line_caret_and_help() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = "MOV.i32 r1, r2\nMOV.i23 r1, r2\n\tMOV.i32 r1 r2\nMOV.i32 r1, r99 // too far\n";
    fs::write(folder.path().join("wrong.s"), wrong).expect("the file is written");
    let run = isaforge_in(folder.path(), &["asm", "valhall", "wrong.s", "-o", "out.hex"], b"").expect(1);
    assert!(run.out.is_empty());
    let places: Vec<&str> = run.err.lines().filter(|line| line.starts_with("wrong.s:")).collect();
    assert_eq!(places.len(), 3, "{}", run.err);
    assert!(places[0].starts_with("wrong.s:2:1: error: no instruction is called `MOV.i23`"), "{}", run.err);
    assert!(places[1].starts_with("wrong.s:3:13: error: "), "{}", run.err);
    assert!(places[2].starts_with("wrong.s:4:"), "{}", run.err);
    assert!(run.err.contains(" 2 | MOV.i23 r1, r2\n   | ^^^^^^^\n   = help: did you mean `MOV.i32`?"), "{}", run.err);
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder is there").collect();
    assert_eq!(left.len(), 1, "only the source is left: {left:?}");
}

#[test]
fn an_older_output_survives_a_failure_and_is_replaced_by_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.hex");
    fs::write(&out, "older").expect("the file is written");
    isaforge_in(folder.path(), &["asm", "valhall", "-o", "out.hex"], b"nonsense").expect(1);
    assert_eq!(fs::read_to_string(&out).expect("the output is there"), "older");
    isaforge_in(folder.path(), &["asm", "valhall", "-o", "out.hex"], b"MOV.i32 r1, r2").expect(0);
    assert_eq!(fs::read_to_string(&out).expect("the output is there"), "0091c10000000002\n");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_device_a_device() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("real.hex"), "").expect("the file is written");
    symlink("real.hex", folder.path().join("link.hex")).expect("the link is made");
    isaforge_in(folder.path(), &["asm", "valhall", "-o", "link.hex"], b"MOV.i32 r1, r2").expect(0);
    assert!(folder.path().join("link.hex").is_symlink());
    assert_eq!(fs::read_to_string(folder.path().join("real.hex")).expect("it is there"), "0091c10000000002\n");
    isaforge_in(folder.path(), &["asm", "valhall", "-o", "/dev/null"], b"MOV.i32 r1, r2").expect(0);
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
}

#[test]
fn what_is_no_text_is_refused_with_its_place() {
    let run = isaforge_with(&["asm", "valhall"], b"MOV.i32 r1, r2\nMOV.\xff\n").expect(1);
    assert!(run.err.starts_with("<stdin>:2:5: error: this is not UTF-8 text"), "{}", run.err);
}

#[test]
fn hostile_text_is_refused_without_a_panic() {
    let mut random = isaforge_core::sample::Random(seed::seed(11));
    let pieces =
        ["MOV.i32", "r1", ",", " ", "\t", "\u{e9}", "\u{1f600}", ".", "@", ":", "^", "0x", "-", "[", ";", "\0", "\n"];
    let mut text = String::new();
    for _ in 0..20_000 {
        text.push_str(pieces[random.below(pieces.len() as u64) as usize]);
    }
    let run = isaforge_with(&["asm", "valhall"], text).expect(1);
    assert!(!run.err.contains("panicked"));
}

#[test]
fn a_float_is_answered_with_the_constant_that_the_operand_reads_as_it() {
    let asm = |line: &str| isaforge_with(&["asm", "valhall"], format!("{line}\n"));
    for (line, float, constant) in [
        ("FADD.f32 r1, r2, 1.0", "1.0", "0x3f800000"),
        ("FADD.f32 r1, r2, 0.5", "0.5", "0x38000000.h1"),
        ("FADD.f32 r1, r2, -1.0", "-1.0", "0x3f800000.neg"),
        ("FADD.v2f16 r1, r2, 1.0", "1.0", "0x3c000000.h11"),
    ] {
        let run = asm(line).expect(1);
        let help = format!("help: write `{constant}`, which this operand reads as {float}\n");
        let message = format!("`{float}` is not one of the constants");
        assert!(run.err.contains(&message) && run.err.contains(&help), "{line}: {}", run.err);
        asm(&line.replace(float, constant)).expect(0);
    }
    // Bits that are read as an integer are no float, whatever they would be elsewhere.
    for line in ["FADD.f32 r1, r2, 0.7", "MOV.i32 r1, 1.0", "IADD.u32 r1, r2, 1.0"] {
        let run = asm(line).expect(1);
        assert!(run.err.contains("help: they are 0x0, 0xffffffff, 0x7fffffff,"), "{line}: {}", run.err);
        assert_eq!(run.err.matches(" 0x0,").count(), 1, "{line}: {}", run.err);
    }
}

#[test]
fn a_name_without_its_type_is_answered_with_whole_names() {
    for (name, help) in [
        ("MOV", "did you mean `MOV.i32`"),
        ("ADD", "did you mean `FADD.f32`, `IADD."),
        ("FADD", "did you mean `FADD.f32`, `FADD.v2f16`?"),
    ] {
        let run = isaforge_with(&["asm", "valhall"], format!("{name} r1, r2\n")).expect(1);
        assert!(run.err.contains(&format!("no instruction is called `{name}`")), "{}", run.err);
        assert!(run.err.contains(help), "{}", run.err);
    }
    let run = isaforge_with(&["asm", "valhall"], "FROBNICATE r1, r2\n").expect(1);
    assert!(!run.err.contains("did you mean"), "{}", run.err);
}
