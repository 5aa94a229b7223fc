//! Whole programs: labels, JSON, control flow, lint findings.

use serde_json::Value;

use super::*;

/// A loop that counts to eight, then stores.
const LOOP: &str = "\
MOV.i32 r1, r60
MOV.i32 r0, 0x0
loop:
IADD_IMM.i32 r0, r0, #0x1
ICMP.u32.lt.i1 r2, r0, u0, 0x0
BRANCHZ r2, out
BRANCHZ.eq 0x0, loop
out:
IADD.u32 r1, r1, r0
MOV.i32.end r2, r1
";

fn hex(text: &str) -> String {
    isaforge_with(&["asm", "valhall"], text).expect(0).out().to_owned()
}

fn objects(run: &Run) -> Vec<Value> {
    run.out().lines().map(|line| serde_json::from_str(line).expect("every line is an object")).collect()
}

#[test]
fn branches_name_labels_and_the_text_assembles_to_the_same_words() {
    let words = hex(LOOP);
    let text = isaforge_with(&["dis", "valhall"], &words).expect(0).out().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[2], "l2:", "{text}");
    assert!(lines[5].ends_with("l6") && lines[6].ends_with("l2") && lines[7] == "l6:", "{text}");
    assert_eq!(hex(&text), words);
    // A table lists instructions without labels.
    let table = isaforge_with(&["dis", "valhall", "--tsv"], &words).expect(0).out().to_owned();
    assert_eq!(table.lines().count(), 8);
    assert!(table.lines().nth(5).is_some_and(|line| line.ends_with("-4")), "{table}");
}

#[test]
fn instructions_are_objects_of_the_schema() {
    let schema: Value =
        serde_json::from_str(isaforge(&["dis", "valhall", "--json-schema"]).expect(0).out()).expect("it is JSON");
    let mut compiler = boon::Compiler::new();
    let mut schemas = boon::Schemas::new();
    compiler.add_resource("schema.json", schema).expect("it is a schema");
    let index = compiler.compile("schema.json", &mut schemas).expect("it compiles");
    let valid = |objects: &[Value]| {
        for object in objects {
            schemas.validate(object, index).unwrap_or_else(|error| panic!("{object}: {error}"));
        }
    };
    let words = format!("{}ffffffffffffffff\n", hex(LOOP));
    let found = objects(&isaforge_with(&["dis", "valhall", "--json"], &words).expect(1));
    valid(&found);
    assert_eq!(found.len(), 9);
    assert_eq!(found[0]["mnemonic"], "MOV.i32");
    assert_eq!(found[0]["reads"], serde_json::json!(["r60"]));
    assert_eq!(found[0]["writes"], serde_json::json!(["r1"]));
    assert_eq!(found[0]["bytes"].as_str().map(str::len), Some(16));
    assert_eq!((&found[2]["address"], &found[2]["label"]), (&Value::from(16), &Value::from("l2")));
    assert_eq!(found[4]["flow"]["kind"], "branch");
    // A condition on a constant is always the same.
    assert_eq!(found[5]["flow"]["kind"], "jump");
    assert_eq!((&found[5]["target"], &found[5]["target_address"]), (&Value::from("l2"), &Value::from(16)));
    assert_eq!(found[7]["flow"]["kind"], "end");
    assert!(found[8]["text"].is_null() && found[8]["errors"][0].as_str().is_some_and(|e| e.contains("unknown opcode")));
    let group = objects(&isaforge_with(&["dis", "usc", "--json"], "44a08005000000ff").expect(0));
    valid(&group);
    assert!(group[0]["text"].is_string(), "{}", group[0]);
}

#[test]
fn a_loop_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, picture, dot) =
        (folder.path().join("loop.s"), folder.path().join("loop.svg"), folder.path().join("loop.dot"));
    fs::write(&source, LOOP).expect("the file is written");
    let path = |path: &Path| path.to_str().expect("the path is text").to_owned();
    let run = isaforge(&["graph", "valhall", &path(&source), "-o", &path(&picture)]).expect(0);
    assert!(run.err.contains("4 blocks, 1 loop"), "{}", run.err);
    let svg = fs::read_to_string(&picture).expect("the picture is there");
    assert!(svg.starts_with("<svg ") && svg.contains("edge back") && svg.contains("loop1"), "{svg}");
    assert!(svg.contains(">loop:</text>"), "{svg}");
    isaforge(&["graph", "valhall", &path(&source), "-o", &path(&dot)]).expect(0);
    let run = isaforge(&["graph", "valhall", &path(&source), "-o", &path(&folder.path().join("loop.png"))]).expect(2);
    assert!(run.err.contains("pictures are SVG or dot, not `png`"), "{}", run.err);
    let dot = fs::read_to_string(&dot).expect("the file is there");
    assert!(dot.starts_with("digraph") && dot.contains("b2 -> b1"), "{dot}");
}

#[test]
fn assembly_is_known_by_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.valhall");
    fs::write(&file, LOOP).expect("the file is written");
    let by_name = isaforge(&["graph", "valhall", file.to_str().expect("a path"), "--format", "dot"]).expect(0);
    let by_input = isaforge_with(&["graph", "valhall", "-", "--format", "dot"], LOOP).expect(0);
    assert!(by_name.out().contains("b2 -> b1") && by_name.out == by_input.out, "{}", by_name.out());
    isaforge_with(&["lint", "valhall"], "NOP\nNOP.end\n").expect(0);
}

#[test]
fn findings_have_a_code_and_a_place() {
    let lint = |text: &str| {
        let words = hex(text);
        isaforge_with(&["lint", "valhall", "--json"], words)
    };
    let code = |text: &str| {
        let run = lint(text).expect(1);
        let found = objects(&run);
        assert_eq!(found.len(), 1, "{}", run.out());
        (found[0]["code"].as_str().unwrap_or_default().to_owned(), found[0]["address"].as_u64().unwrap_or_default())
    };
    assert_eq!(code("MOV.i32 r1, r60\nNOP.end\n"), ("P0003".to_owned(), 0));
    assert_eq!(code("NOP\nNOP.end\nNOP\n"), ("P0004".to_owned(), 16));
    assert_eq!(code("NOP\n.word 0xffffffffffffffff\n"), ("P0001".to_owned(), 8));
    assert_eq!(code("BRANCHZ r60, offset:9\nNOP.end\n"), ("P0006".to_owned(), 0));
    lint("NOP\nNOP.end\n").expect(0);
    // Findings in assembly have source locations.
    let text = "NOP\n\n  NOP.end\nafter:  NOP // never\n";
    let run = isaforge_with(&["lint", "valhall"], text).expect(1);
    assert!(run.out().starts_with("<stdin>:4:9: warning["), "{}", run.out());
    let run = isaforge_with(&["lint", "valhall", "--json"], text).expect(1);
    assert!(run.out().contains("\"line\":4") && run.out().contains("\"column\":9"), "{}", run.out());
    let run = isaforge_with(&["lint", "valhall"], hex("NOP\nNOP.end\nNOP\n")).expect(1);
    assert!(run.out().contains("0x0010: warning[P0004]: this is never reached"), "{}", run.out());
    assert!(run.out().contains("help: if another program starts here, add `--entry 0x10`"), "{}", run.out());
    assert!(run.err.contains("help: `isaforge check --explain CODE` explains P0004"), "{}", run.err);
}

/// Outputs are read after the program, and lanes that are turned off keep what a write does not reach.
#[test]
fn values_live_on_in_outputs_and_in_other_lanes() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/usc/julia.usc");
    isaforge(&["lint", "usc", example]).expect(0);
    let either = "0 : if(!p0)\n    mbyp ft0, sh0\n    mov r0, ft0\n1 : if(p0)\n    mbyp ft0, sh1\n    mov r0, ft0\n\
        2 : end\n    mbyp ft0, r0\n    mov o0, ft0\n";
    isaforge_with(&["lint", "usc"], either).expect(0);
    let both = either.replacen("1 : if(p0)\n", "1 :\n", 1);
    let run = isaforge_with(&["lint", "usc"], both).expect(1);
    assert!(run.out().contains("<stdin>:1:1: warning[P0003]: the value written to r0 is never read"), "{}", run.out());
}

#[test]
fn registers_have_the_names_of_their_bank() {
    let program = "AddFloat16 r1.xyzw, r7.xyzw, g2.xyzw\nExit\n";
    let run = isaforge_with(&["asm", "vpu", "--json"], program).expect(0);
    let first = &objects(&run)[0];
    assert_eq!((&first["reads"], &first["writes"]), (&serde_json::json!(["r7", "g2"]), &serde_json::json!(["r1"])));
    let run = isaforge_with(&["lint", "vpu"], program).expect(1);
    assert!(run.out().contains("the value written to r1 is never read"), "{}", run.out());
    assert!(run.out().contains("no path to here writes r7\n"), "{}", run.out());
    // Sets that do not say what registers hold at the start.
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge_with(&["lint", "--spec", riscv, "-"], "li a7, 93\necall\n").expect(0);
    let missing = "not checked, for want of keys in the specification: P0002 \
                   (`preloads`: what registers hold at the start), \
                   P0007 and P0008 (`messages` of `flow`";
    assert!(run.err.contains(missing), "{}", run.err);
}

#[test]
fn what_a_call_of_the_surroundings_reads_is_read() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    for program in ["sieve", "sort", "crc"] {
        let run = isaforge(&["lint", "--spec", riscv, &format!("{riscv}/programs/{program}.elf")]);
        assert!(!run.out().contains("P0003"), "{program}: {}", run.out());
    }
    let run = isaforge_with(&["dis", "--spec", riscv, "--json"], "73000000\n").expect(0);
    assert!(run.out().contains("\"reads\":[\"a7\""), "{}", run.out());
}

#[test]
fn every_page_shows_what_lint_finds() {
    for code in (1..=11).map(|number| format!("P{number:04}")) {
        let code = code.as_str();
        let page = isaforge(&["check", "--explain", code]).expect(0);
        let mut files = page.out().split("program.s").skip(1).map(|part| {
            let lines = part.lines().skip(1).take_while(|line| !line.contains("right:"));
            lines.map(|line| line.trim_start_matches([' ', '|', '│'])).collect::<Vec<_>>().join("\n")
        });
        let (Some(wrong), Some(right)) = (files.next(), files.next()) else { panic!("{code}: {}", page.out()) };
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program.s");
        let path = file.to_str().expect("the path is text").to_owned();
        fs::write(&file, &wrong).expect("the file is written");
        let found = isaforge(&["lint", "valhall", &path, "--json"]).expect(1);
        assert!(found.out().contains(code), "{code}: {wrong}\n{}", found.out());
        fs::write(&file, &right).expect("the file is written");
        let found = isaforge(&["lint", "valhall", &path, "--json"]);
        assert!(!found.out().contains(code), "{code}: {right}\n{}{}", found.out(), found.err);
    }
}

#[test]
fn live_registers_are_counted() {
    let run = isaforge_with(&["lint", "valhall", "--pressure"], hex(LOOP)).expect(0);
    assert!(run.out().contains("l2:\n") && run.out().ends_with("most live registers: 3\n"), "{}", run.out());
}

#[test]
fn live_ranges_stand_beside_the_listing() {
    let text = "MOV.i32 r1, r60\nl:\nFADD.f32 r1, ^r1, u0\nFMA.f32 r2, r1, r1, r1\nBRANCHZ.eq r2, l\nFADD.f32.end r3, ^r1, u0\n";
    let words = isaforge_with(&["asm", "valhall"], text).expect(0).out().to_owned();
    let run = isaforge_with(&["lint", "valhall", "--pressure"], words).expect(0);
    let picture = "     rrrr\n     1236\n        0\n   1 ┬  ┴  MOV.i32 r1, r60\nl1:\n   1 ┼     FADD.f32 r1, ^r1, u0\n   \
                   1 │┬    FMA.f32 r2, r1, r1, r1\n   2 │┴    BRANCHZ.eq r2, l1\n   1 ┴ ╶   FADD.f32.end r3, ^r1, u0\n\
                   most live registers: 2\n";
    assert_eq!(run.out(), picture);
}

#[test]
fn other_entry_points_can_be_named() {
    let words = isaforge_with(&["asm", "valhall"], "NOP.end\nMOV.i32 r1, r60\nSTORE.i32.slot0.end @r1, r2, offset:0\n");
    let words = words.expect(0).out().to_owned();
    let run = isaforge_with(&["lint", "valhall"], &words).expect(1);
    assert!(run.out().contains("P0004"), "{}", run.out());
    let run = isaforge_with(&["lint", "valhall", "--entry", "0x8"], &words);
    assert!(!run.out().contains("P0004"), "{}", run.out());
    assert!(isaforge_with(&["lint", "valhall", "--entry", "3"], &words).expect(2).err.contains("starts at 3"));
    let labelled = "NOP.end\nmain: MOV.i32 r1, r60\nSTORE.i32.slot0.end @r1, r2, offset:0\n";
    let run = isaforge_with(&["lint", "valhall", "--entry", "main"], labelled);
    assert!(!run.out().contains("P0004"), "{}", run.out());
    let run = isaforge_with(&["lint", "valhall", "--entry", "foo"], labelled).expect(2);
    assert!(run.err.contains("neither an address nor a label") && run.err.contains("takes a label"), "{}", run.err);
}

#[test]
fn assembly_with_mistakes_is_not_taken_for_hexadecimal() {
    for text in ["MOV.i32 r0, u0\nFOO r1\nNOP.end\n", "NOP\nFOO r1\n", "FOO r1\n", "ADDED.f32 r0, u0, u2\n"] {
        for arguments in [&["lint", "valhall", "-"][..], &["graph", "valhall"], &["lint", "valhall", "--pressure"]] {
            let run = isaforge_with(arguments, text).expect(1);
            let line = 1 + text.lines().position(|line| line.starts_with("FOO") || line.starts_with("ADDED")).unwrap();
            assert!(run.err.starts_with(&format!("<stdin>:{line}:1: error: ")), "{arguments:?}\n{}", run.err);
            assert!(run.err.contains('^') && !run.err.contains("clean") && run.out.is_empty(), "{}", run.err);
        }
    }
    // Digits with a slip are still digits.
    for text in ["0091c1000000000g\n", "deadbeef0000000g\n", "ff fe\n"] {
        let run = isaforge_with(&["lint", "valhall"], text).expect(1);
        assert!(run.err.contains("hexadecimal digit") && !run.err.contains("clean"), "{}", run.err);
    }
    let run = isaforge_with(&["lint", "valhall", "--in", "hex"], "FOO r1\n").expect(1);
    assert!(run.err.contains("is not a hexadecimal digit") && run.err.contains("incomplete: "), "{}", run.err);
}

#[test]
fn places_have_the_names_of_the_source_or_of_the_file() {
    let text = "NOP\nagain:\nIADD_IMM.i32 r0, r0, #0x1\nBRANCHZ.eq r0, again\nl1: NOP.end\n";
    let graph = isaforge_with(&["graph", "valhall", "--format", "dot"], text).expect(0);
    assert!(graph.out().contains("again:\\l") && graph.out().contains("→ again"), "{}", graph.out());
    let pressure = isaforge_with(&["lint", "valhall", "--pressure"], text).expect(0);
    assert!(pressure.out().contains("\nagain:\n") && pressure.out().contains("\nl1:\n"), "{}", pressure.out());
    let assembled = isaforge_with(&["asm", "valhall", "--json"], text).expect(0);
    assert!(assembled.out().contains(r#""target":"again""#), "{}", assembled.out());

    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let elf = format!("{riscv}/programs/sieve.elf");
    let listing = isaforge(&["dis", "--spec", riscv, &elf]).expect(0);
    let labels: Vec<&str> = listing.out().lines().filter(|line| line.ends_with(':')).collect();
    let pressure = isaforge(&["lint", "--spec", riscv, "--pressure", &elf]).expect(0);
    assert_eq!(
        pressure.out().lines().filter(|line| line.ends_with(':') && !line.contains(' ')).collect::<Vec<_>>(),
        labels
    );
    let graph = isaforge(&["graph", "--spec", riscv, "--format", "dot", &elf]).expect(0);
    assert!(labels.iter().all(|label| graph.out().contains(&format!("\"{label}\\l"))), "{}", graph.out());
    let found = objects(&isaforge(&["dis", "--json", "--spec", riscv, &elf]).expect(0));
    let named: Vec<String> = found.iter().filter_map(|one| Some(format!("{}:", one["label"].as_str()?))).collect();
    assert_eq!(named, labels);

    let stopped = isaforge(&["run", "--spec", riscv, &elf, "--break", "number"]).expect(0);
    assert!(stopped.out().contains("warp 0  +  add sp, sp, -16"), "{}", stopped.out());
    let traced = isaforge(&["run", "--spec", riscv, &elf, "--trace", "--at", "main", "--quiet"]).expect(0);
    assert!(traced.out().lines().next().is_some_and(|line| line.contains("lui a3, 0x11")), "{}", traced.out());
    let commands = labels.iter().map(|label| format!("break {}\n", label.trim_end_matches(':'))).collect::<String>();
    isaforge_with(&["debug", "--spec", riscv, &elf, "--commands", "-"], commands).expect(0);
}
