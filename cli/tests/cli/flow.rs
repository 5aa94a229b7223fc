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

/// The end of a fragment shader with two render targets, as Mesa's compilers write it.
const BLENDS: &str = "MOV.i32 r0, u0\nMOV.i32 r1, u0\nMOV.i32 r2, u0\nMOV.i32 r3, u0\n\
    ATEST.wait0 @r60, ^r60, 0x3F800000, atest_datum.w0\nNOP.wait0126\n\
    BLEND.slot0.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, second\n\
    IADD_IMM.i32 r48, program_counter.w0, #0x8\nBRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1\nsecond:\n\
    MOV.i32 r0, u0\nMOV.i32 r1, u0\nMOV.i32 r2, u0\nMOV.i32.wait r3, u0\n\
    BLEND.slot1.v4.f32.end @r0:r1:r2:r3, blend_descriptor_1.w0, r60, target:0x2\n\
    IADD_IMM.i32 r48, 0x0, #0x0\nBRANCHZI.eq.absolute 0x0, blend_descriptor_1.w1\n";

#[test]
fn a_branch_to_a_blend_shader_is_a_call() {
    let lint = |from: &str, to: &str| {
        assert!(BLENDS.contains(from), "{from}");
        isaforge_with(&["lint", "valhall", "-"], BLENDS.replacen(from, to, 1))
    };
    let whole = lint("NOP", "NOP").expect(0);
    assert!(whole.out().is_empty() && !whole.err.contains("note"), "{}{}", whole.out(), whole.err);
    // Nothing comes after the last one, as it has no address to return to.
    let after = lint("blend_descriptor_1.w1\n", "blend_descriptor_1.w1\nMOV.i32 r1, r60\n").expect(1);
    assert!(
        after.out().starts_with("<stdin>:18:1: warning[P0004]") && after.out().lines().count() == 3,
        "{}",
        after.out()
    );
    // It may read and overwrite registers, and only those of the convention.
    lint("NOP", "MOV.i32 r9, u0\nNOP").expect(0);
    let call = "blend_descriptor_0.w1\nsecond:\nMOV.i32 r0, u0";
    lint(call, &call.replace("u0", "r9")).expect(0);
    let unwritten = lint(call, &call.replace("u0", "r20")).expect(1);
    assert!(unwritten.out().contains("P0002]: no path to here writes r20"), "{}", unwritten.out());
    // What it sends may still be in flight.
    lint(call, &call.replace("MOV.i32", "MOV.i32.wait1")).expect(0);
    let needless = lint("NOP.wait0126", "NOP.wait0126\nNOP.wait1").expect(1);
    assert!(needless.out().contains("P0008"), "{}", needless.out());
}

#[test]
fn a_computed_branch_that_does_not_follow_the_convention_may_lead_anywhere() {
    for (from, to) in [
        // Another return address, none that is known, another target, a label between the address and the branch.
        ("#0x8", "#0x10"),
        ("program_counter.w0, #0x8", "r60, #0x8"),
        ("blend_descriptor_0.w1", "u1"),
        (
            "BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1\nsecond:",
            "second: BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
        ),
    ] {
        assert!(BLENDS.contains(from), "{from}");
        let run = isaforge_with(&["lint", "valhall", "-"], BLENDS.replacen(from, to, 1)).expect(0);
        assert!(run.err.contains("may lead anywhere, so P0002, P0004, P0008, P0010 are not checked"), "{}", run.err);
    }
    // Another program starts at the branch.
    let entered = isaforge_with(&["lint", "valhall", "-", "--entry", "0x40"], BLENDS).expect(0);
    assert!(entered.err.contains("may lead anywhere"), "{}", entered.err);
    isaforge_with(&["lint", "valhall", "-", "--entry", "0x48"], BLENDS).expect(0);
    let returns = |text: &str| {
        let graph = isaforge_with(&["graph", "valhall", "-", "--format", "dot"], text).expect(0);
        graph.out().lines().any(|line| line.trim().starts_with("b1 -> b2"))
    };
    assert!(returns(BLENDS) && !returns(&BLENDS.replacen("#0x8", "#0x10", 1)));
}

#[test]
fn objects_of_instructions_tell_calls_from_jumps() {
    let flows = |arguments: &[&str], text: &str| -> Vec<String> {
        let found = json::objects(&isaforge_with(arguments, text).expect(0));
        let branches = found.iter().filter(|one| one["mnemonic"] == "BRANCHZI");
        branches.map(|one| one["flow"]["kind"].as_str().expect("a kind").to_owned()).collect()
    };
    let words = isaforge_with(&["asm", "valhall", "-"], BLENDS).expect(0);
    // The second one has no address to return to.
    assert_eq!(flows(&["dis", "valhall", "-", "--json"], words.out()), ["call", "jump"]);
    assert_eq!(flows(&["asm", "valhall", "-", "--json"], BLENDS), ["call", "jump"]);
    let shifted = ["dis", "valhall", "-", "--json", "--address", "0x10000"];
    assert_eq!(flows(&shifted, words.out()), ["call", "jump"]);
    let other = isaforge_with(&["asm", "valhall", "-"], BLENDS.replacen("#0x8", "#0x10", 1)).expect(0);
    assert_eq!(flows(&["dis", "valhall", "-", "--json"], other.out()), ["jump", "jump"]);
}

#[test]
fn calls_of_any_set_follow_its_convention() {
    let spec = "isa: far\nword: 16\nprovenance: document\nevery: { unused: zero }\n\
        banks: { r: { count: 8, width: 16, prints: 'r{n}' } }\n\
        enums: { Address: { values: [here, there] } }\n\
        kinds: { target: { width: 4, alternatives: {\n  \
          own: { fixed: { 3: 0 }, fields: { n: { bank: r, bits: 2..0 } }, text: '{n}' },\n  \
          named: { fixed: { 3..1: 4 }, fields: { name: { enum: Address, bits: 0 } }, text: '{name}', \
            value: '0' } } } }\n\
        semantics:\n  pc: u32\n  preloads: { all: { doc: N., first: 0, values: {} } }\n  \
        callees: { helper: { doc: H., instruction: jump, target: to, addresses: { Address: [there] }, \
          link: 7, clobbers: [0] } }\n\
        machine: { lanes: 1, unit: 2 }\ninstructions:\n  \
        jump: { doc: J., fixed: { 15..12: 1 }, operands: { to: { kind: target, at: 0, access: read } }, \
          does: 'branch(zext(u32, to))' }\n  \
        link: { doc: L., fixed: { 15..12: 2 }, operands: { d: { bank: r, bits: 10..8, access: write }, \
          n: { immediate: decimal, bits: 7..0, prefix: '' } }, \
          does: 'd = trunc(u16, (next << 1) + n)' }\n  \
        put: { doc: P., fixed: { 15..12: 3 }, operands: { a: { bank: r, bits: 10..8, access: read } }, \
          does: 'store(u16, zext(u32, a), a)' }\n  \
        end: { doc: E., fixed: { 15..12: 5 }, does: end() }\n";
    let lint = |text: &str| isaforge_of(spec, &["lint", "-"], text);
    let clean = lint("link r7, 2\njump there\nput r0\nend\n").expect(0);
    assert!(!clean.err.contains("may lead anywhere"), "{}", clean.err);
    let unwritten = lint("link r7, 2\njump there\nput r1\nend\n").expect(1);
    assert!(unwritten.out().contains("P0002]: no path to here writes r1"), "{}", unwritten.out());
    for other in ["link r7, 4\njump there\nput r1\nend\n", "link r7, 2\njump here\nput r1\nend\n"] {
        assert!(lint(other).expect(0).err.contains("may lead anywhere"), "{other}");
    }
    let told = isaforge_of(spec, &["explain"], "").expect(0);
    assert!(
        told.out().contains("Call of a helper  H.\n") && told.out().contains("the address in r7"),
        "{}",
        told.out()
    );
}

#[test]
fn a_register_that_only_a_later_turn_finds_written_is_unwritten() {
    let lint = |text: &str| isaforge_with(&["lint", "valhall", "-"], text);
    let end = "MOV.i32 r6, u0\nMOV.i32 r7, u1\nSTORE.i32.slot0.end @r2, r6, offset:0\n";
    let turns = format!(
        "MOV.i32 r3, r60\nloop: FADD.f32 r2, r2, u0\nIADD_IMM.i32 r3, r3, #0xffffffff\n\
         BRANCHZ.reconverge r3, loop\n{end}"
    );
    let run = lint(&turns).expect(1);
    let expected = "<stdin>:2:7: warning[P0002]: nothing writes r2 before this is executed for the first time\n";
    assert!(run.out().starts_with(expected) && run.out().lines().count() == 2, "{}", run.out());
    lint(&format!("MOV.i32 r2, 0x0\n{turns}")).expect(0);
    // Another path writes it before: from outside, or in an earlier turn that does not come here.
    lint(&format!("BRANCHZ.eq r61, skip\nMOV.i32 r2, 0x0\nskip:\n{turns}")).expect(0);
    let either = turns.replacen(
        "loop: FADD.f32 r2, r2, u0\n",
        "loop: BRANCHZ.eq r61, other\nFADD.f32 r2, r2, u0\nBRANCHZ.eq 0x0, next\n\
         other: MOV.i32 r2, 0x0\nnext:\n",
        1,
    );
    lint(&either).expect(0);
    // An instruction in a loop inside sees what comes after it only in later turns of the loop around.
    let nested = format!(
        "MOV.i32 r3, r60\nouter: MOV.i32 r4, r60\nloop: FADD.f32 r5, r2, u0\nIADD_IMM.i32 r4, r4, #0xffffffff\n\
         BRANCHZ r4, loop\nMOV.i32 r2, r5\nIADD_IMM.i32 r3, r3, #0xffffffff\nBRANCHZ r3, outer\n{end}"
    );
    assert!(lint(&nested).expect(1).out().starts_with("<stdin>:3:7: warning[P0002]"));
}

#[test]
fn a_program_that_runs_off_its_end_is_told() {
    for (text, line) in [("NOP\nMOV.i32.wait0 r1, u0\n", 2), ("BRANCHZ r60, out\nNOP.end\nout:\n", 1)] {
        let run = isaforge_with(&["lint", "valhall", "-"], text).expect(1);
        let expected = format!("<stdin>:{line}:1: warning[P0001]: execution may go on after the end of the program\n");
        assert!(run.out().starts_with(&expected), "{}", run.out());
    }
    // The end of a branch that is never taken, and what may end the program in another way.
    isaforge_with(&["lint", "valhall", "-"], "NOP.end\n").expect(0);
    let riscv = ["lint", "--spec", RISCV, "-"];
    isaforge_with(&riscv, "li a7, 93\necall\n").expect(0);
    assert!(isaforge_with(&riscv, "li a7, 93\necall\nsw a0, 0(sp)\n").expect(1).out().contains("P0001"));
}

#[test]
fn fences_of_groups_are_awaited() {
    let lint = |text: &str| isaforge_with(&["lint", "usc", "-"], text);
    let (send, read) = ("0 : fitr.pixel r0, drc0, cf0, 2\n", "8 : mov ft0, r0\n    mov o0, ft0\n9 : nop.end\n");
    let run = lint(&format!("{send}{read}")).expect(1);
    let expected =
        "<stdin>:2:1: warning[P0007]: nothing waits for `fitr.pixel r0, drc0, cf0, 2`, which may still be writing r0\n";
    assert!(run.out().starts_with(expected), "{}", run.out());
    // The other fence does not count.
    let run = lint(&format!("{send}1 : wdf drc1\n{read}")).expect(1);
    assert!(run.out().contains(":2:1: warning[P0008]") && run.out().contains(":3:1: warning[P0007]"), "{}", run.out());
    for wait in ["1 : wdf drc0\n", "1 : wop\n"] {
        lint(&format!("{send}{wait}{read}")).expect(0);
    }
    let twice = lint(&format!("{send}1 : wdf drc0\n2 : wdf drc0\n{read}")).expect(1);
    let needless = "<stdin>:3:1: warning[P0008]: this waits for a message, but none is in flight in its slots\n";
    assert!(twice.out().starts_with(needless), "{}", twice.out());
    // A group that waits for its own answer leaves nothing to wait for.
    let direct = "0 : ditr.pixel r0, drc1, cf0, 2, 0, cf0\n1 : wdf drc1\n";
    lint(&format!("{direct}{read}")).expect(0);
    let run = lint(&format!("{}{read}", direct.replace("pixel", "pixel.schedwdf"))).expect(1);
    assert!(run.out().starts_with("<stdin>:2:1: warning[P0008]"), "{}", run.out());
}
