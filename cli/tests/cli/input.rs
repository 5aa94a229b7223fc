//! Machine code in the forms that users have.

use super::*;

const TEXT: &str = "MOV.i32 r1, r2\nMOV.i32 r3, r4\n";

fn riscv(path: &str) -> String {
    format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_other_tools_print_is_read() {
    for text in [
        "0091c10000000002\n0091c30000000004\n",
        "00000000: 0200 0000 00c1 9100 0400 0000 00c3 9100  ................\n",
        "00000000  02 00 00 00 00 c1 91 00  04 00 00 00 00 c3 91 00  |................|\n00000010\n",
        " 0000 02000000 00c19100 04000000 00c39100  ................\n",
        "const uint64_t shader[] = { 0x0091c10000000002, 0x0091c30000000004ull };\n",
        "unsigned char shader[] = {\n  0x02, 0, 0x0, 0, 0, 0xc1, 0x91, 0x00, // MOV\n  4, 0, 0, 0, 0, 0xc3, 0x91, 0 };\nunsigned int shader_len = 16;\n",
        "0x0: 0091c10000000002 MOV.i32 r1, r2\n0x8: 0091c30000000004 MOV.i32 r3, r4\n",
        "   02 00 00 00 00 c1 91 00    MOV.i32 r1, r2\n   04 00 00 00 00 c3 91 00    MOV.i32 r3, r4\n",
        "# from a log\n0091c10000000002 // the first\n\n0091c30000000004 ; the second\n",
    ] {
        let run = isaforge_with(&["dis", "valhall"], text).expect(0);
        assert_eq!((run.out(), run.err.as_str()), (TEXT, ""), "{text}");
    }
}

#[test]
fn bytes_in_the_order_of_memory_are_found_out_and_can_be_asked_for() {
    let bytes = "02 00 00 00 00 c1 91 00\n0x04, 0x00, 0x00, 0x00, 0x00, 0xc3, 0x91, 0x00\n";
    let run = isaforge_with(&["dis", "valhall"], bytes).expect(0);
    assert_eq!(run.out(), TEXT);
    assert!(run.err.contains("in memory order") && run.err.contains("`--order memory`"), "{}", run.err);
    let run = isaforge_with(&["dis", "valhall", "--order", "memory"], bytes).expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TEXT, ""));
    let run = isaforge_with(&["dis", "valhall", "--order", "value"], bytes).expect(1);
    assert!(run.out().starts_with(".word 0x0200000000c19100 // "), "{}", run.out());
    // Other words in the text may be invalid.
    let run = isaforge_with(&["dis", "valhall"], "02 00 00 00 00 c1 91 00\nffffffffffffffff").expect(1);
    assert!(
        run.out().starts_with("MOV.i32 r1, r2\n.word 0xff") && run.err.contains("more of it decodes that way"),
        "{}",
        run.err
    );
    // If neither order is better, the digits are read as written.
    let run = isaforge_with(&["dis", "valhall"], "02 00 00 00 00 c1 91 ff\n").expect(1);
    assert!(run.out().starts_with(".word 0x0200000000c191ff // ") && run.err.is_empty(), "{}{}", run.out(), run.err);
}

#[test]
fn values_of_words_of_any_length_are_read_where_they_are_asked_for() {
    let spec = riscv("examples/riscv");
    let arguments = ["dis", "--spec", spec.as_str(), "--order", "value"];
    let run = isaforge_with(&arguments, "00000013 0x4501\n00b50533 # a sum\n").expect(0);
    assert_eq!((run.out(), run.err.as_str()), ("nop\nli a0, 0\nadd a0, a0, a1\n", ""));
    let run = isaforge_with(&arguments[..3], "13000000 0145 3305b500\n").expect(0);
    assert_eq!(run.out(), "nop\nli a0, 0\nadd a0, a0, a1\n");
}

#[test]
fn all_commands_read_the_same() {
    let dump = "00000000: 0200 0000 00c1 9100  ........\n";
    for arguments in [&["dis", "valhall", "--json"][..], &["graph", "valhall", "--format", "dot"]] {
        let run = isaforge_with(arguments, dump).expect(0);
        assert!(run.out().contains("MOV.i32 r1, r2"), "{arguments:?}\n{}", run.out());
    }
    let run = isaforge_with(&["dis", "usc", "-"], "0: 44 a0 80 05 00 00 00 ff # a group\n").expect(0);
    assert_eq!(run.out(), isaforge_with(&["dis", "usc"], "44a08005000000ff").out());
}

#[test]
fn the_code_of_an_elf_file_is_found() {
    let (spec, file) = (riscv("examples/riscv"), riscv("examples/riscv/programs/sieve.elf"));
    let run = isaforge(&["dis", "--spec", &spec, &file]).expect(0);
    assert!(run.out().contains("ecall") && run.err.contains("an ELF file for Riscv32: .text"), "{}", run.err);
    for isa in ["valhall", "usc"] {
        let run = isaforge(&["dis", isa, &file]).expect(2);
        assert!(
            run.out().is_empty() && run.err.contains("is an ELF file for Riscv32, and holds no code"),
            "{}",
            run.err
        );
        assert!(isaforge(&["dis", isa, "--raw", &file]).status < 2);
    }
}

#[test]
fn what_is_no_code_is_named() {
    let picture = riscv("docs/mandelbrot.png");
    let run = isaforge(&["dis", "valhall", &picture]).expect(2);
    assert!(run.err.contains("is a PNG picture"), "{}", run.err);
    let noise: Vec<u8> = (0..800u32).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    let run = isaforge_with(&["dis", "valhall"], &noise).expect(2);
    assert!(run.err.contains("does not look like code") && run.err.contains("`--raw`"), "{}", run.err);
    assert_eq!(isaforge_with(&["dis", "valhall", "--raw"], &noise).expect(1).out().lines().count(), 100);
    // Few bytes, too, where none of them is an instruction.
    let run = isaforge_with(&["dis", "valhall"], [0xff; 16]).expect(2);
    assert!(run.err.contains("does not look like code: 0 of 2 instructions decode"), "{}", run.err);
}

#[test]
fn what_gzip_has_compressed_is_read_as_it_was() {
    let packed = |content: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let code = 0x0091_c100_0000_0002_u64.to_le_bytes();
    assert_eq!(isaforge_with(&["dis", "valhall"], packed(&code)).expect(0).out(), "MOV.i32 r1, r2\n");
    let words = isaforge_with(&["asm", "valhall"], packed(b"MOV.i32 r1, r2\n")).expect(0);
    assert_eq!(words.out(), "0091c10000000002\n");
    let cut = &packed(&code)[..20];
    assert_eq!(isaforge_with(&["dis", "valhall"], cut).status, 2);
}

#[test]
fn utf_16_is_text_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_folder = |arguments: &[&str]| isaforge_in(folder.path(), arguments, b"");
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let write = |name: &str, text: &str| {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            fs::write(folder.path().join(name), units.flat_map(order).collect::<Vec<_>>()).expect("it is written");
        };
        write("a.hex", "0091c10000000002\r\n0091c30000000004\r\n");
        let run = in_folder(&["dis", "valhall", "a.hex"]).expect(0);
        assert_eq!((run.out(), run.err.as_str()), (TEXT, ""));
        write("a.s", TEXT);
        assert_eq!(in_folder(&["asm", "valhall", "a.s"]).expect(0).out().lines().count(), 2);
        in_folder(&["lint", "valhall", "a.s"]).expect(1);
        write("launch.yaml", &text_of("launch.yaml"));
        fs::write(folder.path().join("plain.yaml"), text_of("launch.yaml")).expect("it is written");
        let [run, plain] = ["launch.yaml", "plain.yaml"].map(|launch| in_folder(&["run", launch, "--quiet"]).expect(0));
        assert_eq!(run.out(), plain.out());
        // What is asked for as raw stays as it is.
        let raw = in_folder(&["dis", "valhall", "--raw", "a.hex"]).expect(1);
        assert!(raw.out().contains(".word"), "{}", raw.out());
    }
}

#[test]
fn sets_have_the_names_that_people_use() {
    let known = [("mali", "valhall"), ("v9", "valhall"), ("Panfrost", "valhall"), ("rogue", "usc"), ("PowerVR", "usc")];
    for (alias, name) in known {
        assert_eq!(isaforge(&["list", alias]).expect(0).out(), isaforge(&["list", name]).expect(0).out());
    }
    let path = riscv("examples/riscv/isa.yaml");
    let run = isaforge(&["list", &path]).expect(2);
    assert!(run.err.contains(&format!("use `--spec {path}` if it is a specification")), "{}", run.err);
    assert!(isaforge(&["list", "valhal"]).expect(2).err.contains("did you mean `valhall`?"));
}

#[test]
fn names_of_sets_nearby_are_explained() {
    for (name, part) in [
        ("arm", "the only built-in Arm set is `valhall`"),
        ("Bifrost", "`--spec ISA.xml` reads the document"),
        ("v7", "older than `valhall`"),
        ("v10", "`valhall` is the nearest"),
    ] {
        for arguments in [&["list", name][..], &["diff", name, "valhall"]] {
            let run = isaforge(arguments).expect(2);
            assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
        }
        let launch = format!("isa: {name}\nprogram: NOP.end\n");
        let run = isaforge_with(&["run", "-"], launch).expect(1);
        assert!(run.err.contains(part), "{}", run.err);
    }
    assert!(isaforge(&["diff", "powervrr", "valhall"]).expect(2).err.contains("did you mean `powervr`?"));
}

#[test]
fn explain_finds_what_somebody_remembers() {
    let run = isaforge(&["explain", "valhall", "FMA"]).expect(0);
    let found: Vec<&str> = run.out().lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(found[..2], ["FMA.f32", "FMA.v2f16"]);
    assert!(isaforge(&["explain", "valhall", "convert", "float"]).expect(0).out().contains("S32_TO_F32"));
    assert!(isaforge(&["explain", "usc", "fma"]).expect(0).out().contains("FMAD"));
    assert!(isaforge(&["explain", "--spec", &riscv("examples/riscv"), "branch"]).expect(0).out().contains("beq"));
    let run = isaforge(&["explain", "valhall", "Flow"]).expect(0);
    assert!(run.out().starts_with("Flow\n") && run.out().contains("reconverge"), "{}", run.out());
    assert_eq!(isaforge(&["explain", "valhall", "flow"]).expect(0).out(), run.out());
    assert!(isaforge(&["explain", "valhall", "frobnicate"]).expect(1).err.contains("no instruction is called"));
    let run = isaforge_with(&["explain", "valhall", "-"], "0091c10000000002\n").expect(0);
    assert_eq!(run.out(), isaforge(&["explain", "valhall", "0091c10000000002"]).out());
}

/// Output of Arm's offline compiler in the layout that public tools read. It is built here, not by that compiler.
fn offline_compiler(shaders: &[(&[u8], &[u64])]) -> Vec<u8> {
    let mut blocks = 4u32.to_le_bytes().to_vec();
    for (stage, words) in shaders {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        blocks.extend([stage, &8u32.to_le_bytes()[..], &[0; 8]].concat());
        blocks.extend([b"OBJC", &(code.len() as u32).to_le_bytes()[..], &code].concat());
    }
    [&b"MBS2"[..], &(blocks.len() as u32).to_le_bytes(), &blocks].concat()
}

#[test]
fn all_shaders_of_a_file_are_found_and_named_and_one_can_be_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shaders.bin");
    let both = offline_compiler(&[(b"CVER", &[0x0091_c100_0000_0002]), (b"CFRA", &[0x0091_c300_0000_0004])]);
    fs::write(&file, both).expect("it can be written");
    let file = file.to_str().expect("a path");
    let run = isaforge(&["dis", "valhall", file]).expect(0);
    assert_eq!(run.out(), "# vertex0 at 0x24\nMOV.i32 r1, r2\n\n# fragment1 at 0x44\nMOV.i32 r3, r4\n");
    assert!(
        run.err.contains("output of Arm's offline compiler (MBS2): vertex0 at 0x24 with 1 instruction"),
        "{}",
        run.err
    );
    assert_eq!(isaforge_with(&["asm", "valhall"], run.out()).expect(0).out(), "0091c10000000002\n0091c30000000004\n");
    let run = isaforge(&["dis", "valhall", file, "--shader", "frag"]).expect(0);
    assert_eq!(run.out(), "MOV.i32 r3, r4\n");
    assert!(run.err.contains("skipped vertex0"), "{}", run.err);
    assert!(isaforge(&["lint", "valhall", file]).expect(2).err.contains("holds 2 shaders"));
    assert!(
        isaforge(&["graph", "valhall", file, "--shader", "vertex", "--format", "dot"])
            .expect(0)
            .out()
            .contains("r1, r2")
    );
    let run = isaforge(&["dis", "valhall", file, "--shader", "compute"]).expect(2);
    assert!(run.err.contains("has no shader `compute`") && run.err.contains("vertex0, fragment1"), "{}", run.err);
    assert!(isaforge(&["dis", "usc", file]).expect(2).err.contains("is output of Arm's offline compiler"));
    let run = isaforge_with(&["dis", "valhall", "--shader", "x"], "0091c10000000002\n").expect(2);
    assert!(run.err.contains("not a container with named shaders"), "{}", run.err);
}

#[test]
fn the_shaders_of_a_file_are_assembled_as_they_were_together() {
    let text = "again: IADD_IMM.i32 r0, r0, #0x1\nBRANCHZ.eq 0x0, again\nNOP.end\n";
    let hex = isaforge_with(&["asm", "valhall"], text).expect(0);
    let words: Vec<u64> = hex.out().lines().map(|word| u64::from_str_radix(word, 16).expect("digits")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shaders.bin");
    fs::write(&file, offline_compiler(&[(b"CVER", &words), (b"CFRA", &words)])).expect("it can be written");
    let file = file.to_str().expect("a path");
    for more in [&[][..], &["--comments"]] {
        let run = isaforge(&[&["dis", "valhall", file], more].concat()).expect(0);
        assert!(run.out().contains("\nl0_1:\n") && run.out().contains("BRANCHZ.eq 0x0, l0_2"), "{}", run.out());
        assert_eq!(isaforge_with(&["asm", "valhall"], run.out()).expect(0).out(), hex.out().repeat(2));
    }
}

#[test]
fn a_list_is_filtered_by_every_column_that_it_prints() {
    let names = |words: &[&str]| -> Vec<String> {
        let run = isaforge(&[&["list", "valhall"], words].concat()).expect(0);
        run.out().lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    };
    let all = isaforge(&["list", "valhall"]).expect(0);
    let of = |part: &str| all.out().lines().filter(|line| line.split_whitespace().nth(1) == Some(part)).count();
    let sfu = names(&["sfu"]);
    assert!(sfu.len() >= of("SFU") && of("SFU") > 20, "{sfu:?}");
    assert!(names(&["SFU", "approximate"]).contains(&"FRCP.f32".to_owned()), "{:?}", names(&["SFU", "approximate"]));
    assert!(names(&["fma", "src2"]).contains(&"FMA.f32".to_owned()));
    // Whatever reads the list gets whole titles.
    assert!(!all.out().contains('…') && !isaforge(&["list", "usc"]).expect(0).out().contains('…'));
    let run = isaforge(&["list", "valhall", "sfu", "frobnicate"]).expect(1);
    assert!(run.err.contains("no instruction has sfu frobnicate in any of its columns"), "{}", run.err);
}

#[test]
fn rows_and_objects_of_several_shaders_say_which() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shaders.bin");
    let both = offline_compiler(&[(b"CVER", &[0x0091_c100_0000_0002]), (b"CFRA", &[0x0091_c300_0000_0004])]);
    fs::write(&file, both).expect("it can be written");
    let file = file.to_str().expect("a path");
    let run = isaforge(&["dis", "valhall", file, "--tsv"]).expect(0);
    let rows = "0091c10000000002\tok\tMOV.i32 r1, r2\tvertex0 at 0x24\n0091c30000000004\tok\tMOV.i32 r3, r4\tfragment1 at 0x44\n";
    assert_eq!(run.out(), rows);
    let run = isaforge(&["dis", "valhall", file, "--json"]).expect(0);
    let found: Vec<serde_json::Value> =
        run.out().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!((&found[1]["shader"], &found[1]["address"]), (&"fragment1 at 0x44".into(), &0.into()));
    let run = isaforge(&["dis", "valhall", file, "--json", "--shader", "frag"]).expect(0);
    assert!(!run.out().contains("\"shader\""), "{}", run.out());
}

#[test]
fn a_list_of_one_generation_has_what_that_one_has() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let spec = folder.path().join("isa.yaml");
    let text = "isa: grown\nword: [16]\nprovenance: document\ngenerations: [1, 3]\ninstructions:\n  \
                old: { doc: Old., until: 1, fixed: { 15..0: 1 } }\n  new: { doc: New., since: 3, fixed: { 15..0: 1 } }\n";
    fs::write(&spec, text).expect("the file can be written");
    let spec = spec.to_str().expect("UTF-8");
    let names = |generation: &str| -> Vec<String> {
        let run = isaforge(&["list", "--spec", spec, "--generation", generation]).expect(0);
        run.out().lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    };
    assert_eq!(names("1"), ["old"]);
    assert_eq!(names("3"), ["new"]);
}

#[test]
fn zeros_that_objdump_leaves_out_are_there() {
    let spec = riscv("examples/riscv");
    let arguments = ["dis", "--spec", spec.as_str()];
    let start = "\na.o:     file format elf32-littleriscv\n\nDisassembly of section .text:\n\n00000000 <main>:\n";
    let run = isaforge_with(
        &arguments,
        format!("{start}   0:\t00000013          \tnop\n\t...\n   c:\t00b50533          \tadd\n"),
    );
    assert_eq!(run.out().lines().count(), 6, "{}", run.out());
    assert!(run.out().starts_with("nop\n.byte") && run.out().ends_with("add a0, a0, a1\n") && run.err.is_empty());
    let words = "   0:\t00000013          \tnop\n\t...\n\n00000008 <next>:\n   8:\t00b50533          \tadd\n";
    assert_eq!(isaforge_with(&arguments, format!("{start}{words}")).out().lines().count(), 4);
    // Where no address follows, nothing says how many there are.
    let run = isaforge_with(&arguments, format!("{start}   0:\t00000013          \tnop\n\t...\n")).expect(0);
    assert!(run.out() == "nop\n" && run.err.contains("`objdump -z`"), "{}{}", run.out(), run.err);
    let run = isaforge_with(&arguments, "   0:\t00000013\tnop\n\t...\nffffffff:\t00000013\tnop\n").expect(1);
    assert!(run.out().is_empty() && run.err.contains("is not a hexadecimal digit"), "{}", run.err);
}

#[test]
fn lines_of_a_log_that_carry_no_bytes_are_skipped_and_counted() {
    let (first, second) =
        ("   02 00 00 00 00 c1 91 00    MOV.i32 r1, r2\n", "   04 00 00 00 00 c3 91 00    MOV.i32 r3, r4\n");
    let log =
        format!("shader: MESA_SHADER_FRAGMENT\nname: GLSL3\n32     %2 = load\nblock0 {{\n{first}\n}}\n\n{second}");
    for arguments in [&["dis", "valhall"][..], &["lint", "valhall", "--pressure"]] {
        let run = isaforge_with(arguments, &log).expect(0);
        assert!(run.out().contains("MOV.i32 r1, r2\n") && run.out().contains("MOV.i32 r3, r4\n"), "{}", run.out());
        assert_eq!(run.out().matches("MOV").count(), 2, "{}", run.out());
        let note = "<stdin>: note: skipped 5 lines without bytes, the first is line 1: `shader: MESA_SHADER_FRAGMENT`";
        assert!(run.err.starts_with(note), "{}", run.err);
    }
    // What may be bytes is not skipped.
    for text in [
        format!("name: GLSL3\n{first}   04 00 00 0g 00 c3 91 00    MOV.i32 r3, r4\n"),
        "name: {\n0x02, 0x00, 0x00, 0x00, 0x00, 0xc1, 0x91, 0x00,\nSIZE, 0x00\n".to_owned(),
    ] {
        let run = isaforge_with(&["dis", "valhall"], &text).expect(1);
        assert!(run.out().is_empty() && run.err.contains("error: "), "{text}\n{}{}", run.out(), run.err);
    }
}

#[test]
fn an_elf_file_of_another_processor_is_refused_by_name() {
    let (spec, file) = (riscv("examples/riscv"), riscv("examples/riscv/programs/sieve.elf"));
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("other.elf").display().to_string();
    let mut bytes = fs::read(&file).expect("it is there");
    bytes[18] = 40;
    fs::write(&other, bytes).expect("it is written");
    for command in ["dis", "lint", "graph"] {
        let run = isaforge(&[command, "--spec", &spec, &other]).expect(2);
        assert!(run.err.contains("is an ELF file for Arm: its code is for machine 40, not 243"), "{}", run.err);
    }
    isaforge(&["dis", "--spec", &spec, "--raw", &other]).expect(1);
}
