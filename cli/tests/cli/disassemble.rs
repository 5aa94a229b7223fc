use super::*;

/// Words and their texts, without branches, whose targets become labels in a program.
fn hex_and_texts() -> (String, String) {
    let mut rows = words_and_texts();
    rows.retain(|(_, text)| !text.starts_with("BRANCH"));
    (lines(rows.iter().map(|(word, _)| word)), lines(rows.iter().map(|(_, text)| text)))
}

fn raw(hex: &str) -> Vec<u8> {
    let words = hex.split_whitespace().map(|word| u64::from_str_radix(word, 16).expect("test data is hexadecimal"));
    words.flat_map(u64::to_le_bytes).collect()
}

#[test]
fn hexadecimal_from_standard_input_becomes_one_text_a_line() {
    let (hex, texts) = hex_and_texts();
    assert_eq!(isaforge_with(&["dis", "valhall"], &hex).expect(0).out(), texts);
    assert_eq!(isaforge_with(&["dis", "valhall", "-"], &hex).expect(0).out(), texts);
    assert_eq!(isaforge_with(&["dis", "valhall", "--in", "hex"], &hex).expect(0).out(), texts);
}

#[test]
fn raw_words_are_told_from_hexadecimal() {
    let (hex, texts) = hex_and_texts();
    assert_eq!(isaforge_with(&["dis", "valhall"], raw(&hex)).expect(0).out(), texts);
    assert_eq!(isaforge_with(&["dis", "valhall", "--in", "bin"], raw(&hex)).expect(0).out(), texts);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shader.bin");
    fs::write(&file, raw(&hex)).expect("the file is written");
    let file = file.to_str().expect("the path is text");
    assert_eq!(isaforge(&["dis", "valhall", file]).expect(0).out(), texts);
}

#[test]
fn prefixes_spaces_commas_and_capitals_are_free_in_hexadecimal() {
    let (hex, texts) = hex_and_texts();
    let dressed: String = hex.lines().map(|word| format!("  0x{},\t0X", word.to_uppercase())).collect();
    let dressed = format!("\u{feff}{}", dressed.trim_end_matches("0X"));
    assert_eq!(isaforge_with(&["dis", "valhall"], dressed).expect(0).out(), texts);
    let joined: String = hex.lines().collect();
    assert_eq!(isaforge_with(&["dis", "valhall"], joined).expect(0).out(), texts);
    let halves: String = hex.lines().map(|word| format!("{} {}\r\n", &word[..8], &word[8..])).collect();
    assert_eq!(isaforge_with(&["dis", "valhall"], halves).expect(0).out(), texts);
}

#[test]
fn an_invalid_word_prints_as_a_directive_with_the_reason_and_status_1() {
    let run = isaforge_with(&["dis", "valhall"], "0091c10000000002 ffffffffffffffff 0091c10000000102").expect(1);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines[0], "MOV.i32 r1, r2");
    assert!(lines[1].starts_with(".word 0xffffffffffffffff // unknown opcode"), "{}", lines[1]);
    assert!(lines[2].starts_with(".word 0x0091c10000000102 // MOV.i32: reserved bits 15..8"), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
}

#[test]
fn the_table_has_every_word_in_order() {
    let run = isaforge_with(&["dis", "valhall", "--tsv"], "0091C10000000002 ffffffffffffffff").expect(1);
    let rows: Vec<Vec<&str>> = run.out().lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["0091c10000000002", "ok", "MOV.i32 r1, r2"]);
    assert_eq!(rows[1][..2], ["ffffffffffffffff", "invalid"]);
    assert!(rows[1][2].contains("unknown opcode") && rows[1].len() == 3);
    isaforge_with(&["dis", "valhall", "--tsv"], "0091c10000000002").expect(0);
}

#[test]
fn what_is_disassembled_assembles_to_the_same_bytes() {
    let (hex, _) = hex_and_texts();
    let bytes = raw(&format!("{hex} ffffffffffffffff 0091c10000000102"));
    let text = isaforge_with(&["dis", "valhall", "--exact"], &bytes).expect(1).out;
    let back = isaforge_with(&["asm", "valhall", "--out", "bin"], text).expect(0).out;
    assert_eq!(back, bytes);
}

#[test]
fn exact_text_tells_words_apart_that_share_their_customary_text() {
    let words = |arguments: &[&str]| {
        let text = isaforge_with(arguments, "0091c100000000c0 0091c100000000d5").expect(0).out;
        isaforge_with(&["asm", "valhall"], text).expect(0).out().to_owned()
    };
    assert_eq!(words(&["dis", "valhall", "--exact"]), "0091c100000000c0\n0091c100000000d5\n");
}

#[test]
fn a_slip_in_hexadecimal_is_reported_with_its_place() {
    let run = isaforge_with(&["dis", "valhall"], "0091c10000000002\n0091c1000000000g\n").expect(1);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n");
    assert!(run.err.starts_with("<stdin>:2:16: error: `g` is not a hexadecimal digit"), "{}", run.err);
    let run = isaforge_with(&["dis", "valhall"], "0091c10000000002\n  0091\n").expect(1);
    assert!(run.err.starts_with("<stdin>:2:3: error: the last word has only 4 of 16"), "{}", run.err);
    let run = isaforge_with(&["dis", "valhall"], [2, 0, 0, 0, 0, 0xc1, 0x91, 0, 1, 2, 3]).expect(1);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n");
    assert!(run.err.starts_with("<stdin>: byte 0x8: error: 3 bytes left over"), "{}", run.err);
}

#[test]
fn nothing_becomes_nothing() {
    assert_eq!(isaforge_with(&["dis", "valhall"], "").expect(0).out(), "");
    assert_eq!(isaforge_with(&["dis", "valhall", "--in", "bin"], "").expect(0).out(), "");
    assert_eq!(isaforge_with(&["asm", "valhall"], "// nothing\n\n").expect(0).out(), "");
}

#[test]
fn a_megabyte_of_noise_is_disassembled_quickly() {
    let mut random = isaforge_core::sample::Random(seed::seed(7));
    let bytes: Vec<u8> = (0..1 << 17).flat_map(|_| random.next().to_le_bytes()).collect();
    let run = isaforge_with(&["dis", "valhall", "--raw"], &bytes).expect(1);
    assert_eq!(run.out().lines().filter(|line| !line.ends_with(':')).count(), 1 << 17);
}

#[test]
fn every_built_in_instruction_set_goes_there_and_back() {
    for (isa, text) in
        [("vpu", "AddFloat16.sign r3.xy?_w!, r1.xyzw, g4.xxxx\nBranch.xzw 7\nExit\n"), ("valhall-2021", "NOP\n")]
    {
        let words = isaforge_with(&["asm", isa], text).expect(0).out;
        assert_eq!(isaforge_with(&["dis", isa], &words).expect(0).out(), text);
    }
}

#[test]
fn bytes_in_the_order_of_memory_are_known_beside_words_that_are_none() {
    let run = isaforge_with(&["dis", "valhall"], "3c 00 19 00 00 c0 90 00  00 00 00 00 00 00 00 00\n").expect(1);
    assert!(run.out().starts_with("U32_TO_F32 r0, r60\n.word 0x0000000000000000 //"), "{}", run.out());
    assert!(run.err.contains("`--order memory` selects this"), "{}", run.err);
}

#[test]
fn comments_say_where_an_instruction_stands_and_what_it_waits_for() {
    let code = "0090c0000019003c\n0800c00000000000\n";
    let run = isaforge_with(&["dis", "valhall", "--comments"], code).expect(0);
    let expected = "U32_TO_F32 r0, r60 // 0x0000  0090c0000019003c\nNOP.wait0          // 0x0008  0800c00000000000  waits for slots 0\n";
    assert_eq!(run.out(), expected);
    assert_eq!(isaforge_with(&["asm", "valhall"], run.out()).expect(0).out(), code);
}

#[test]
fn an_exact_listing_with_labels_is_assembled_to_its_bytes() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    for program in ["sieve", "sort", "crc", "division"] {
        let file = format!("{riscv}/programs/{program}.elf");
        let listing = isaforge(&["dis", "--exact", "--spec", riscv, &file]).expect(0);
        let code = isaforge_with(&["asm", "--spec", riscv], listing.out()).expect(0);
        let objects = isaforge(&["dis", "--json", "--spec", riscv, &file]).expect(0);
        let bytes = objects.out().lines().map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            object["bytes"].as_str().expect("a text").to_owned()
        });
        assert_eq!(code.out().replace('\n', ""), bytes.collect::<String>(), "{program}");
    }
}

#[test]
fn assembly_is_no_machine_code_and_known_as_what_it_is() {
    let run = isaforge_with(&["dis", "valhall"], "MOV.i32 r1, r2\n").expect(1);
    assert!(run.err.contains("this is assembly, which `isaforge asm` reads"), "{}", run.err);
    let run = isaforge_with(&["dis", "valhall"], "FADD.f32 r0, u0, u2\n").expect(1);
    assert!(run.err.starts_with("<stdin>:1:9: error: ") && run.err.contains("^^^^"), "{}", run.err);
    assert!(run.err.contains("this is assembly, which `isaforge asm` reads"), "{}", run.err);
}

#[test]
fn symbols_of_a_file_are_labels() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let file = format!("{riscv}/programs/sieve.elf");
    let run = isaforge(&["dis", "--spec", riscv, &file]).expect(0);
    assert!(run.out().starts_with("main:\nlui a3, 0x11\n"), "{}", run.out());
    // At branch targets and at other symbols.
    for part in ["\nnumber:\n", "jal number\n", "\n_start:\n", "jal main\n", "\nmemset:\n", "j l38\n"] {
        assert!(run.out().contains(part), "{part}\n{}", run.out());
    }
    assert!(!run.out().contains("$x") && !run.out().contains("l116"), "{}", run.out());
    let run = isaforge(&["dis", "--json", "--spec", riscv, &file]).expect(0);
    let objects: Vec<serde_json::Value> =
        run.out().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert!(objects[0]["label"] == "main" && objects.iter().any(|object| object["target"] == "number"));
    assert!(objects.iter().any(|object| object["label"] == "_start"));
    let run = isaforge(&["dis", "--comments", "--spec", riscv, &file]).expect(0);
    assert!(run.out().starts_with("main:\nlui a3, 0x11 "), "{}", run.out());
}

#[test]
fn comments_beside_groups_are_on_the_lines_where_they_begin() {
    let code = "44a08005000000ff44a08005000000ff";
    let run = isaforge_with(&["dis", "usc", "--comments"], code).expect(0);
    let lines: Vec<&str> = run.out().lines().collect();
    assert!(lines[0].starts_with("0 : ") && lines[0].ends_with("# 0x0000  44a08005000000ff"), "{}", run.out());
    assert!(lines.iter().any(|line| line.starts_with("1 : ") && line.contains("# 0x0008")), "{}", run.out());
    let bytes = isaforge_with(&["asm", "usc"], run.out()).expect(0);
    assert_eq!(bytes.out(), isaforge_with(&["asm", "usc"], isaforge_with(&["dis", "usc"], code).out()).out());
}

#[cfg(unix)]
#[test]
fn progress_is_shown_on_a_terminal_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("code.bin"), 0x0091_c100_0000_0002_u64.to_le_bytes().repeat(200_000))
        .expect("it is written");
    let run = isaforge_in(folder.path(), &["dis", "valhall", "--json", "code.bin"], b"").expect(0);
    assert!(run.err.is_empty(), "{}", run.err);
    // `script` provides a terminal.
    let command = format!("{} dis valhall --json code.bin > objects", env!("CARGO_BIN_EXE_isaforge"));
    let script = Command::new("script").args(["-qec", &command, "seen"]).current_dir(folder.path()).output();
    if script.is_ok_and(|output| output.status.success()) {
        let seen = fs::read_to_string(folder.path().join("seen")).expect("it is text");
        assert!(seen.contains("/1600000"), "{seen}");
        assert!(fs::read(folder.path().join("objects")).expect("it was written") == run.out);
    }
}

#[cfg(unix)]
#[test]
fn objects_are_written_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("code.bin");
    fs::write(&file, 0x0091_c100_0000_0002_u64.to_le_bytes().repeat(200_000)).expect("it can be written");
    let script = r#"ulimit -v 150000; exec "$0" dis valhall --json "$1" | wc -l"#;
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_isaforge"), file.to_str().expect("a path")])
        .output()
        .expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "200000", "{}", String::from_utf8_lossy(&output.stderr));
}
