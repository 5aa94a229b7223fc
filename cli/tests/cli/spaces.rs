//! Address spaces with a memory of their own, and budgets, as `run` observes them.

use super::*;

pub(crate) const SET: &str = "\
isa: sp
word: 16
provenance: document
every: { unused: zero }
banks: { r: { count: 8, width: 32, prints: 'r{n}' } }
semantics: { pc: u32, spaces: [global, shared] }
machine: { lanes: 2, divergence: lowest first, spaces: { shared: { size: 1024 } } }
instructions:
  sts: { doc: S., fixed: { 15..12: 1 }, operands: { a: { bank: r, bits: 2..0 } }, does: 'if lane == 0 { store(u32, shared, 0x100, a) }' }
  both: { doc: S., fixed: { 15..12: 2 }, operands: { a: { bank: r, bits: 2..0 } }, does: 'store(u32, shared, 0x104, a)' }
  stg: { doc: S., fixed: { 15..12: 3 }, operands: { a: { bank: r, bits: 2..0 } }, does: 'if lane == 1 { store(u32, global, 0x100, a) }' }
  jmp: { doc: J., fixed: { 15..12: 4 }, operands: { to: { immediate: signed, bits: 7..0, prefix: '', target: relative } }, does: 'branch(next + to as u32)' }
";

fn run(options: &[&str], program: &str) -> Run {
    let launch = format!(
        "program: |\n  {}\nregisters: {{ r0: [0x55, 0x77], r1: 0x66 }}\nbuffers: {{ g: {{ address: 256, words: [0xaaaaaaaa] }} }}\n",
        program.replace('\n', "\n  ")
    );
    isaforge_of(SET, &[&["run", "-"], options].concat(), &launch)
}

#[test]
fn memories_of_their_own_are_told_apart() {
    let apart = "sts r0\nstg r1";
    assert_eq!(run(&["--races"], apart).expect(0).out(), "");
    let trace = run(&["--trace"], apart).expect(0);
    assert!(trace.out().contains("sts r0  | [shared:00000100]=0:00000055"), "{}", trace.out());
    assert!(trace.out().contains("stg r1  | [00000100]=1:00000066"), "{}", trace.out());
    let found = json::objects(&run(&["--json"], apart).expect(0));
    json::valid(&["run"], &found);
    let expected = serde_json::json!([
        { "space": null, "address": 256, "bytes": "66000000" },
        { "space": "shared", "address": 256, "bytes": "55000000" },
    ]);
    assert_eq!(found[0]["memory"], expected);
}

/// The answers of the debugger.
fn debug(program: &str, commands: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let [spec, launch] = ["isa.yaml", "l.yaml"].map(|name| folder.path().join(name));
    fs::write(&spec, SET).unwrap();
    fs::write(&launch, program).unwrap();
    let arguments = ["debug", "--spec", spec.to_str().unwrap(), launch.to_str().unwrap(), "--commands", "-"];
    isaforge_with(&arguments, commands)
}

#[test]
fn the_debugger_shows_and_watches_memories_of_their_own() {
    let launch = "program: |2\n  sts r0\n  stg r1\n  both r0\nregisters: { r0: [0x55, 0x77], r1: 0x66 }\n\
        buffers: { g: { address: 256, words: [0xaaaaaaaa] } }\n";
    let commands = "memory shared:0x100 2\nwatch shared:0x100\nc\nmemory shared:0x100 2\nmemory 0x100 1\nc\n";
    let found = debug(launch, commands).expect(0);
    let expected = "shared:0x00000100: 00000000 00000000\n\
        watchpoint 1 on 4 bytes at shared:0x100\n\
        watchpoint 1: memory at shared:0x100 was 00000000 and is 00000055, by `sts r0` at 0x0\n";
    assert!(found.out().contains(expected), "{}", found.out());
    let expected = "shared:0x00000100: 00000055 00000000\n0x00000100: aaaaaaaa\nthe program has ended\n";
    assert!(found.out().contains(expected), "{}", found.out());
    let found = debug(launch, "break if [shared:0x100] == 0x55 && [0x100] == 0x66\nc\n").expect(0);
    assert!(found.out().ends_with("breakpoint 1\n0x4  warp 0  ++  both r0\n"), "{}", found.out());
}

#[test]
fn an_address_space_that_a_machine_does_not_have_is_refused() {
    let commands = "memory tile:0 1\nwatch global:4\nbreak if [tile:0] == 1\nwatch shared:1020 8\nmemory shared:x\n";
    let found = debug("program: sts r0\n", commands).expect(1);
    let unknown = "with a memory of its own; expected `shared`, or no name for the common memory\n";
    for (line, expected) in [
        (1, format!("there is no address space `tile` {unknown}")),
        (2, format!("there is no address space `global` {unknown}")),
        (3, format!("there is no address space `tile` {unknown}")),
        (4, "only 4 of the 8 bytes at shared:0x3fc are mapped; `watch shared:0x3fc 4` watches them\n".to_owned()),
        (5, "`shared:x` is not an address\n".to_owned()),
    ] {
        assert!(found.err.contains(&format!("<stdin>:{line}: error: {expected}")), "{expected} in {}", found.err);
    }
    let launch = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/valhall/tiles.yaml");
    let found = isaforge_with(&["debug", launch, "--commands", "-"], "memory shared:0\n").expect(1);
    assert!(found.err.contains("no address space `shared` with a memory of its own; the machine has one memory"));
}

#[test]
fn a_race_in_a_memory_of_its_own_names_it() {
    let races = run(&["--races"], "both r0").expect(1);
    assert!(races.out().starts_with("race at shared:0x104: lane (0,0,0) stores"), "{}", races.out());
    let races = run(&["--races", "--json"], "both r0").expect(1);
    assert!(races.out().contains("\"space\":\"shared\""), "{}", races.out());
    // Each lane stored its own value, whichever stays.
    let trace = run(&["--trace"], "both r0").expect(0);
    assert!(trace.out().contains("0:00000055; [shared:00000104]=1:00000077"), "{}", trace.out());
}

#[test]
fn a_budget_limits_every_observation() {
    let endless = "l: sts r0\njmp l";
    for options in [&["--trace"][..], &["--races"], &["--json"], &["--profile"], &["--break", "l"], &["--fidelity"]] {
        let ran = run(&[options, &["--budget", "5"]].concat(), endless);
        assert!(ran.err.contains("budget of 5"), "{options:?}: {}", ran.err);
    }
    assert_eq!(run(&["--trace", "--budget", "5"], endless).out().lines().count(), 5);
}

#[test]
fn a_program_that_has_used_its_budget_stands_behind_its_last_instruction() {
    let run = debug("program: |2\n  l: sts r0\n  jmp l\nbudget: 5\n", "continue\ncount\n");
    let lines: Vec<&str> = run.out().lines().collect();
    assert!(lines[2].contains("jmp -2") && lines[3] == "5", "{lines:?}");
}

#[test]
fn program_memory_behind_a_program_is_zero() {
    let set = "isa: pm\nword: 8\nprovenance: document\nevery: { unused: zero }\n\
        banks: { r: { count: 2, width: 8, prints: 'r{n}' } }\nsemantics: { pc: u32 }\nmachine: { program: 16 }\ninstructions:\n  \
        stop: { doc: S., fixed: { 7..0: 0 }, does: end() }\n  \
        inc: { doc: I., fixed: { 7..1: 1 }, operands: { d: { bank: r, bits: 0, access: read-write } }, does: 'd = d + 1' }\n";
    let run = isaforge_of(set, &["run", "-"], "program: inc r1\nshow: [r1]\n").expect(0);
    assert_eq!(run.out(), "r1 = 01\n");
    assert!(run.err.contains("ran: 2 instructions"), "{}", run.err);
}

#[test]
fn buffers_may_be_in_an_address_space() {
    let set = format!(
        "{SET}  lds: {{ doc: L., fixed: {{ 15..12: 5 }}, operands: {{ d: {{ bank: r, bits: 2..0, access: write }} }}, does: 'd = load(u32, shared, 0x100)' }}\n"
    );
    let run = |buffers: &str, outputs: &str| {
        let launch = format!(
            "program: |\n  lds r3\n  both r4\nregisters: {{ r4: 9 }}\nshow: [r3]\nbuffers: {buffers}\noutputs: {outputs}\n"
        );
        isaforge_of(&set, &["run", "-"], &launch)
    };
    let print = "[{ print: { buffer: s, as: u32 } }]";
    let found = run("{ s: { space: shared, address: 0x100, words: [7, 8] }, g: { address: 0x100, size: 16 } }", print);
    assert_eq!(found.expect(0).out(), "r3 = 00000007\ns as u32:\n       0:  7  9\n");
    // Without an address, they stand one after the other from 0 on.
    let found = run("{ a: { space: shared, size: 250 }, s: { space: shared, words: [5] } }", print);
    assert_eq!(found.expect(0).out(), "r3 = 00000005\ns as u32:\n       0:  5\n");
    for (buffers, message) in [
        ("{ s: { space: tile, size: 4 } }", "expected `shared`, or leave it out"),
        ("{ s: { space: shared, size: 1025 } }", "beyond the address space `shared`, which has 1024 bytes"),
        ("{ s: { space: shared, address: 1021, size: 4 } }", "which has 1024 bytes"),
        ("{ a: { space: shared, size: 1020 }, s: { space: shared, size: 8 } }", "no room left"),
        (
            "{ a: { space: shared, address: 0, size: 8 }, s: { space: shared, address: 4, size: 8 } }",
            "two buffers overlap",
        ),
    ] {
        let found = run(buffers, print).expect(1);
        assert!(found.err.contains(message), "{buffers}: {}", found.err);
    }
    let valhall = "isa: valhall\nprogram: NOP.end\ngroups: 1\nlocal size: 1\nbuffers: { b: { space: x, size: 4 } }\n";
    assert!(isaforge_with(&["run", "-"], valhall).expect(1).err.contains("all buffers are in one memory"));
}

#[test]
fn an_atomic_stores_once_and_not_at_all_if_its_comparison_fails() {
    let set = format!(
        "{SET}  add: {{ doc: A., fixed: {{ 15..12: 5 }}, operands: {{ d: {{ bank: r, bits: 2..0, access: write }} }}, does: 'd = atomic_add(u32, shared, 0x10 + lane * 4, 1)' }}\n  \
         cas: {{ doc: C., fixed: {{ 15..12: 6 }}, operands: {{ d: {{ bank: r, bits: 2..0, access: write }} }}, does: 'd = atomic_exchange(u32, shared, 0x10 + lane * 4, 7, 9)' }}\n"
    );
    let trace = isaforge_of(&set, &["run", "-", "--trace"], "program: |\n  add r1\n  cas r2\n").expect(0);
    let lines: Vec<&str> = trace.out().lines().collect();
    assert!(lines[0].ends_with("| [shared:00000010]=0:00000001; [shared:00000014]=1:00000001"), "{}", trace.out());
    assert!(lines[1].ends_with("| r2=00000001"), "{}", trace.out());
}

#[test]
fn a_start_that_does_more_than_set_states_is_refused() {
    let set = SET.replace("machine: {", "machine: { start: 'store(u32, shared, 0, 1)',");
    assert!(isaforge_of(&set, &["list"], "").expect(1).err.contains("can only set states"));
    let set = SET.replace("[global, shared]", "[global, shared, global]");
    assert!(isaforge_of(&set, &["list"], "").expect(1).err.contains("two address spaces called `global`"));
}

#[test]
fn a_call_may_keep_its_return_address_in_memory() {
    let set = format!(
        "{SET}  call: {{ doc: C., fixed: {{ 15..12: 5 }}, operands: {{ to: {{ immediate: signed, bits: 7..0, prefix: '', target: relative }} }}, does: 'store(u32, shared, 0, next); branch(next + to as u32)' }}\n"
    );
    let json = isaforge_of(&set, &["asm", "-", "--json"], "call f\nstg r1\nf: sts r0\n").expect(0);
    assert!(json.out().lines().next().unwrap().contains("\"kind\":\"call\""), "{}", json.out());
}
