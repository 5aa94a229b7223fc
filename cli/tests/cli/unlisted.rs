//! Instructions that are not listed: code in a buffer, and code that a program writes.

use serde_json::{Value, json};

use super::*;

const RISCV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");

/// Calls code in a buffer, which calls a function there.
const ELSEWHERE: &str = "program: |
  lui x5, 1
  addi x9, x5, 16
  jalr x1, 0(x5)
  addi x0, x0, 0
buffers:
  code: { address: 4096, words: [0x8413, 0x480e7, 0x40067, 0, 0x138393, 0x8067] }
";

/// Executes the instruction at 8 twice, and replaces it in between.
const WRITTEN: &str = "program: |
  lui x5, 64
  lw x6, 0(x5)
  l: addi x7, x7, 2
  sw x6, 8(x0)
  addi x8, x8, 1
  bne x8, x9, l
registers: { x9: 2 }
buffers: { code: { address: 0x40000, words: [0x138393] } }
";

fn of_riscv(arguments: &[&str], launch: &str) -> Run {
    isaforge_with(&[arguments, &["--spec", RISCV]].concat(), launch)
}

fn debug(launch: &str, commands: &str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("launch.yaml");
    fs::write(&path, launch).expect("it is written");
    isaforge_with(&["debug", "--spec", RISCV, path.to_str().expect("a path"), "--commands", "-"], commands)
}

#[test]
fn a_trace_shows_the_instruction_that_is_executed() {
    let trace = of_riscv(&["run", "-", "--trace"], ELSEWHERE).expect(0);
    for line in ["0x1000  mv s0, ra  | s0=0000000a", "0x1010  add t2, t2, 1  | t2=00000001", "0x1014  ret"] {
        assert!(trace.out().lines().any(|found| found.starts_with(line)), "{line} in\n{}", trace.out());
    }
    let trace = of_riscv(&["run", "-", "--trace", "--at", "8"], WRITTEN).expect(0);
    assert_eq!(trace.out(), "0x0008  add t2, t2, 2  | t2=00000002\n0x0008  add t2, t2, 1  | t2=00000003\n");
    let trace = of_riscv(&["run", "-", "--trace", "--at", "0x1010", "--json"], ELSEWHERE).expect(0);
    let step: Value = serde_json::from_str(trace.out().lines().next().expect("a step")).expect("it is JSON");
    assert_eq!((&step["text"], &step["label"]), (&json!("add t2, t2, 1"), &Value::Null));
}

#[test]
fn a_profile_counts_what_is_executed() {
    let found = json::objects(&of_riscv(&["run", "-", "--json"], WRITTEN).expect(0));
    json::valid(&["run"], &found);
    let times = json!({ "pc": 8, "label": "l", "text": "add t2, t2, 2", "warps": 1, "threads": 1 });
    assert_eq!((&found[0]["places"][2], &found[0]["instructions"]), (&times, &json!(10)));
    assert_eq!(found[0]["unlisted"], json!([{ "pc": 8, "text": "add t2, t2, 1", "warps": 1, "threads": 1 }]));
    let table = of_riscv(&["run", "-", "--profile"], ELSEWHERE).expect(0);
    let rows: Vec<Vec<&str>> = table.out().lines().map(|line| line.split_whitespace().collect()).collect();
    let count = |name: &str| rows.iter().find(|row| row.last() == Some(&name)).map(|row| row[2]);
    let found = ["addi", "jalr", "c.lui", "all"].map(count);
    assert_eq!(found, [Some("4"), Some("4"), Some("1"), Some("9")], "{}", table.out());
    let listing = of_riscv(&["run", "-", "--profile=listing"], WRITTEN).expect(0);
    let lines: Vec<&str> = listing.out().lines().filter(|line| line.contains("add t2")).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.starts_with("10.0 %")), "{}", listing.out());
    let folded = of_riscv(&["run", "-", "--profile=folded"], ELSEWHERE).expect(0);
    assert!(folded.out().contains(";0x1010 add t2, t2, 1 1\n"), "{}", folded.out());
}

#[test]
fn breakpoints_may_be_where_nothing_is_listed() {
    let commands = "break 0x1010\nc\nwhere\nlist\nback\nbreak 0x1001\nbreak 0x9000\n";
    let found = debug(ELSEWHERE, commands).expect(1);
    let expected = "breakpoint 1 at 0x1010 `add t2, t2, 1`\nbreakpoint 1\n0x1010  warp 0  +  add t2, t2, 1\n";
    assert!(found.out().contains(expected), "{}", found.out());
    assert!(found.out().contains(">*0x1010  add t2, t2, 1\n  0x1014  ret\n"), "{}", found.out());
    assert!(found.out().ends_with("0x1004  warp 0  +  jalr s1\n"), "{}", found.out());
    assert!(
        found.err.contains("6: error: no instruction can be at 0x1001, which is not a multiple of "),
        "{}",
        found.err
    );
    assert!(found.err.contains("7: error: no instruction can be at 0x9000: nothing is mapped there"), "{}", found.err);
    let stops = of_riscv(&["run", "-", "--break", "0x1010", "--quiet"], ELSEWHERE).expect(0);
    assert!(stops.out().starts_with("0x1010  warp 0  +  add t2, t2, 1\n"), "{}", stops.out());
}

#[test]
fn calls_are_stepped_over_in_code_that_is_not_listed() {
    let found = debug(ELSEWHERE, "to 0x1004\nnext\nto 0x1010\nrestart\nto 0x1010\nout\n").expect(0);
    let places: Vec<&str> = found.out().lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(places, ["0x0", "0x1004", "0x1008", "the", "0x0", "0x1010", "0x1008"], "{}", found.out());
}

#[test]
fn a_listing_follows_what_a_program_writes() {
    let found = debug(WRITTEN, "watch 8\nc\nlist 8\nc\n").expect(0);
    assert!(found.out().contains("is 00138393, by `sw t1, 8(zero)` at 0xc\n"), "{}", found.out());
    assert!(found.out().contains("   0x8  add t2, t2, 1\n"), "{}", found.out());
}
