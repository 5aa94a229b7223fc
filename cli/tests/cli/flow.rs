//! Control flow as `dis`, `graph` and `lint` see it.

use super::*;

const RISCV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");

#[test]
fn what_saves_no_address_is_no_call() {
    // Jumps write the address of the next instruction to the register that is always zero.
    let run = |arguments: &[&str], text: &str| {
        let arguments = [arguments, &["--spec", RISCV, "--order", "value"]].concat();
        isaforge_with(&arguments, text)
    };
    let jump = "0080006f\n00100513\n00000073\n";
    let kinds = |text: &str| -> Vec<String> {
        let listed = run(&["dis", "--json"], text).expect(0);
        let objects = listed.out().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        objects.map(|one| one["flow"]["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(jump), ["jump", "next", "next"]);
    // jal ra, 8, and ret.
    assert_eq!(kinds("008000ef\n00100513\n00008067\n"), ["call", "next", "jump"]);
    let graph = run(&["graph", "--format", "dot"], jump).expect(0);
    let edges: Vec<&str> = graph.out().lines().filter_map(|line| line.trim().strip_prefix("b0 -> ")).collect();
    assert!(edges.len() == 1 && edges[0].starts_with("b2"), "{edges:?}");
    assert!(run(&["lint"], jump).expect(1).out().contains("P0004"));
}

#[test]
fn messages_are_checked_beside_computed_branches() {
    let text = "LOAD.i32.unsigned.slot0 @r0, u0, offset:0\nIADD.u32 r0, r0, r60\n\
                STORE.i32.slot1 @r0, u0, offset:4\nBRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1\n";
    let run = isaforge_with(&["lint", "valhall", "-"], text).expect(1);
    assert_eq!(run.out().matches("P0007").count(), 2, "{}", run.out());
    assert!(run.err.contains("<stdin>:4:1: `BRANCHZI.eq.absolute") && run.err.contains("P0010 are not"), "{}", run.err);
    // A branch that is never reached leads nowhere.
    let run =
        isaforge_with(&["lint", "valhall", "-"], text.replace("STORE.i32.slot1", "STORE.i32.slot1.end")).expect(1);
    assert!(run.out().contains("P0004") && !run.err.contains("note"), "{}\n{}", run.out(), run.err);
}

#[test]
fn a_loop_that_threads_leave_one_by_one_parts_them_at_its_barrier() {
    let text = "MOV.i32 r1, r60\nagain:\nBARRIER.slot7.wait\nIADD_IMM.i32 r1, r1, #0xffffffff\nBRANCHZ.eq r1, again\n\
                MOV.i32 r0, r60\nSTORE.i32.slot0.end @r0, u0, offset:0\n";
    let run = isaforge_with(&["lint", "valhall", "-"], text).expect(1);
    assert!(run.out().starts_with("<stdin>:3:1: warning[P0010]: `BRANCHZ.eq r1"), "{}", run.out());
    // All threads leave it together.
    let run = isaforge_with(&["lint", "valhall", "-"], text.replacen("r60", "u0", 1)).expect(0);
    assert!(run.out().is_empty(), "{}", run.out());
}

#[test]
fn cycles_with_two_entries_are_loops() {
    let text = "BRANCHZ.eq r60, b\na:\nIADD.u32 r1, r60, r61\nBRANCHZ.eq r61, done\nb:\nIADD.u32 r2, r60, r61\n\
                BRANCHZ.eq r60, a\ndone:\nSTORE.i32.slot0.end @r60, u0, offset:0\n";
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("out.svg");
    let path = picture.to_str().unwrap();
    let run = isaforge_with(&["graph", "valhall", "-", "-o", path], text).expect(0);
    assert!(run.err.contains("4 blocks, 1 loop"), "{}", run.err);
    let drawn = fs::read_to_string(&picture).unwrap();
    let arrows: Vec<&str> = drawn.lines().filter(|line| line.starts_with("<path class=\"edge")).collect();
    assert_eq!(arrows.iter().filter(|line| line.contains("edge back")).count(), 1, "{arrows:?}");
    // No two arrows have the same points.
    let points: std::collections::HashSet<&str> = arrows.iter().filter_map(|line| line.split(" d=").nth(1)).collect();
    assert_eq!(points.len(), 6, "{arrows:?}");
}

#[test]
fn what_another_program_receives_is_not_in_vain() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/vpu/quadtree.vpu");
    let run = isaforge(&["lint", "vpu", program, "--entry", "child"]).expect(0);
    assert!(run.out().is_empty(), "{}", run.out());
    // What follows an `Exit` may be executed by threads that are masked there; nothing follows one that all execute.
    let alone = isaforge_with(&["graph", "vpu", "-", "--format", "dot"], "Exit\nchild: Exit\n").expect(0);
    assert!(alone.out().contains("color=gray"), "{}", alone.out());
    let graph = isaforge(&["graph", "vpu", program, "--format", "dot", "--entry", "child"]).expect(0);
    assert!(!graph.out().contains("color=gray"), "{}", graph.out());
}

#[test]
fn a_write_to_a_part_of_a_register_leaves_the_other_part_to_be_read() {
    let lint = |set: &str, text: &str| isaforge_with(&["lint", set, "-"], text);
    let halves =
        "IADD.v2u16 r8.h1, r60.h00, 0x0\nIADD.v2u16 r8.h0, r60.h00, 0x0\nSTORE.i32.slot0.end @r8, u0, offset:0\n";
    lint("valhall", halves).expect(0);
    let bytes = "LOAD.i8.b0.slot0 @r8, u0, offset:0\nLOAD.i8.b2.slot0.wait0 @r8, u2, offset:0\n\
                 NOP.wait0\nSTORE.i32.slot0.end @r8, u0, offset:0\n";
    assert!(!lint("valhall", bytes).out().contains("P0003"));
    // All of it is written again.
    let whole = halves.replace("r8.h0", "r8");
    assert!(lint("valhall", &whole).expect(1).out().starts_with("<stdin>:1:1: warning[P0003]"));
    // Its slot is not in the word.
    let test =
        "ATEST @r60, r60, 0x0, atest_datum.w0\nBLEND.slot0.f32.end @r60, blend_descriptor_0.w0, r60, target:0x0\n";
    assert!(lint("valhall", test).expect(1).out().contains("P0007]: nothing waits for `ATEST"));
    lint("valhall", &test.replace("ATEST", "ATEST.wait0")).expect(0);
    // Coverage goes to the blender, and back to its register.
    let blend = "MOV.i32 r0, u0\nMOV.i32 r1, u0\nMOV.i32 r2, u0\nMOV.i32 r3, u0\nIADD_IMM.i32 r60, 0x0, #0xF\n\
                 BLEND.slot0.v4.f32.return @r0:r1:r2:r3, @r60, blend_descriptor_0_x, target:0x0\n";
    lint("valhall-2021", blend).expect(0);
}

#[test]
fn the_low_word_of_a_pair_is_read_alone_where_a_modifier_selects_it() {
    let text = "IADD_IMM.i32 r20, 0x0, #0x3\nIADD.u64 r8, r20.w0, 0x0.w0\nSTORE.i64.slot0.end @r8:r9, u0, offset:0\n";
    isaforge_with(&["lint", "valhall", "-"], text).expect(0);
    let both = text.replace("r20.w0", "r20");
    let run = isaforge_with(&["lint", "valhall", "-"], &both).expect(1);
    assert!(run.out().contains("no path to here writes r21"), "{}", run.out());
}

#[test]
fn lanes_and_what_differs_between_them_part_at_barriers_of_any_set() {
    let spec = "isa: pb\nword: 16\nprovenance: document\nevery: { unused: zero }\n\
        banks: { r: { count: 16, width: 32, prints: 'r{n}' } }\nsemantics:\n  pc: u32\n  \
        preloads: { compute: { doc: X., first: 0, values: { id: The number of the thread. } } }\n\
        machine: { lanes: 4, divergence: lowest first, unit: 2 }\ninstructions:\n  \
        bz: { doc: B., fixed: { 15..12: 1 }, operands: { a: { bank: r, bits: 11..8 }, to: { immediate: signed, bits: 7..0, prefix: '', target: relative } }, does: 'if a == 0 { branch(next + to as u32) }' }\n  \
        id: { doc: L., fixed: { 15..12: 2 }, operands: { d: { bank: r, bits: 11..8, access: write } }, does: 'd = lane' }\n  \
        one: { doc: O., fixed: { 15..12: 3 }, operands: { d: { bank: r, bits: 11..8, access: write } }, does: 'd = 1' }\n  \
        bar: { doc: W., fixed: { 15..12: 4 }, does: barrier() }\n  end: { doc: E., fixed: { 15..12: 5 }, does: end() }\n";
    let lint = |text: &str| isaforge_of(spec, &["lint", "-"], text);
    let parted = |first: &str| lint(&format!("{first}bar\ndone: end\n")).out().contains("P0010");
    assert!(parted("bz r0, done\n") && parted("id r1\nbz r1, done\n"));
    assert!(!parted("one r1\nbz r1, done\n") && !parted("one r0\nbz r0, done\n"));
}

#[test]
fn a_mask_that_writes_nothing_overwrites_nothing() {
    let text = "LoadPosition.zero r0.xyzw\nOr r1.xyzw, r0.xyzw, r0.xyzw\nOr r1.____, g0.xyzw, g0.xyzw\n\
                WriteLocalTile0.xyzw r1.xyzw\nExit\n";
    isaforge_with(&["lint", "vpu", "-"], text).expect(0);
    let word = isaforge_with(&["asm", "vpu", "-"], "Or r1.____, g0.xyzw, g0.xyzw\n").expect(0).out().trim().to_owned();
    let told = isaforge_with(&["dis", "vpu", "--json", "--order", "value"], &word).expect(0);
    let told: serde_json::Value = serde_json::from_str(told.out()).unwrap();
    assert_eq!(told["writes"], serde_json::json!([]));
}

/// What the JSON of a program's only instruction, or of its first one, says.
fn first(arguments: &[&str], text: &str) -> serde_json::Value {
    let run = isaforge_with(&[&["asm", "--json"], arguments].concat(), text).expect(0);
    serde_json::from_str(run.out().lines().next().expect("an instruction")).expect("JSON")
}

#[test]
fn an_address_that_is_saved_in_a_named_register_makes_a_call() {
    // c.jal writes ra, which no operand names.
    let program = "main:\nli s0, 7\nc.jal f\nmv a0, s0\nli a7, 93\necall\nf:\nret\n";
    let spec = ["--spec", RISCV];
    assert_eq!(isaforge_with(&[&["lint"], &spec[..]].concat(), program).expect(0).out(), "");
    let calls = isaforge_with(&[&["asm", "--json"], &spec[..]].concat(), program).expect(0);
    assert_eq!(calls.out().matches(r#""kind":"call""#).count(), 1, "{}", calls.out());
    // A register that is always zero is not live.
    let pressure = isaforge_with(&["lint", "--pressure", "--spec", RISCV], "add a1, a0, zero\nx: j x\n").expect(0);
    assert!(pressure.out().ends_with("most live registers: 1\n"), "{}", pressure.out());
}

#[test]
fn a_branch_that_modifiers_rule_out_has_no_target() {
    let blend = |flow: &str| {
        first(
            &["valhall"],
            &format!("BLEND.slot0.v4.f32{flow} @r12:r13:r14:r15, blend_descriptor_0.w0, r60, target:0x0"),
        )
    };
    assert!(blend("")["target_address"].is_null() && blend(".end")["target_address"].is_null());
    let skips = "BLEND.slot0.v4.f32 @r12:r13:r14:r15, blend_descriptor_0.w0, r60, target:0x1\nNOP\nNOP.end\n";
    assert_eq!(first(&["valhall"], skips)["target_address"], 16);
}

#[test]
fn a_list_longer_than_the_access_reads_what_is_accessed() {
    let store = "STORE.i48.estream.slot1 @r48:r49:r50:r51, r0, offset:48";
    assert_eq!(first(&["valhall"], store)["reads"], serde_json::json!(["r48", "r49", "r0", "r1"]));
}

#[test]
fn what_the_specification_does_not_say_is_not_told_as_fact() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sm75");
    let text = "loop:\nBRA loop; stall=5\nEXIT; stall=5\n";
    assert!(first(&["--spec", spec], text)["flow"].is_null());
    let run = isaforge_with(&["lint", "--spec", spec], text).expect(0);
    assert!(run.err.contains("does not say what 2 instructions do"), "{}", run.err);
}

#[test]
fn branches_over_branches_are_drawn_in_time() {
    let line = |index: usize| {
        let to = if index.is_multiple_of(3) { index.saturating_sub(5) } else { index + 2 };
        format!("l{index}: NOP\nBRANCHZ r0, l{}\n", to.min(200))
    };
    let text: String = (0..200).map(line).chain(["l200: NOP.end\n".to_owned()]).collect();
    let run = isaforge_with(&["graph", "valhall", "-", "--format", "svg"], text).expect(0);
    assert_eq!(run.out().matches("<path class=\"edge").count(), 400);
}

#[test]
fn a_graph_shows_where_threads_reconverge() {
    let text = "x.reconverge: FADD.f32 r2, r2, u0\nBRANCHZ.reconverge r3, x.reconverge\nNOP.end\n";
    let graph = isaforge_with(&["graph", "valhall"], text).expect(0);
    let marked: Vec<&str> = graph.out().lines().filter(|line| line.contains("class=\"meets\"")).collect();
    assert!(matches!(marked[..], [one] if one.contains("BRANCHZ.reconverge r3")), "{marked:?}");
}
