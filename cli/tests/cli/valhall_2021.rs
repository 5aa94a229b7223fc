//! What instructions of the revision of 2021 do, run from its specification.

use super::*;

const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/valhall-2021");

fn run(launch: &str) -> String {
    isaforge_with(&["run", "--spec", SET, "-"], launch).expect(0).out().to_owned()
}

#[test]
fn loads_and_stores_have_addresses_of_64_bits() {
    let sizes = ["i8", "i16", "i24", "i32", "i48", "i64", "i96", "i128"];
    let list = |size: &str| {
        ["@r4", "@r4:r5", "@r4:r5:r6", "@r4:r5:r6:r7"][size[1..].parse::<usize>().unwrap().div_ceil(32) - 1]
    };
    let both = |size: &&str| {
        format!("  STORE.{size}.slot0 {0}, r2, offset:0\n  LOAD.{size}.slot0 {0}, r2, offset:0\n", list(size))
    };
    let program: String = sizes.iter().map(both).collect();
    let run = run(&format!(
        "program: |\n{program}  NOP.return\nregisters: {{ r2: 0x1000, r3: 0x10001, r4: 7, r5: 8, r6: 9, r7: 6 }}\n\
         buffers:\n  low: {{ address: 0x1000, size: 16 }}\n  high: {{ address: 0x1000100001000, size: 16 }}\n\
         outputs:\n  - print: {{ buffer: low, as: u32 }}\n  - print: {{ buffer: high, as: u32 }}\nshow: [r4, r7]\n"
    ));
    let rows: Vec<&str> = run.lines().filter_map(|line| line.trim().strip_prefix("0:")).map(str::trim).collect();
    assert_eq!(rows, ["0  0  0  0", "7  8  9  6"], "{run}");
    // The registers of the address, whatever the size of the data.
    for size in sizes {
        let text = format!("LOAD.{size}.slot0 {}, r2, offset:0", list(size));
        let word = isaforge_with(&["asm", "valhall-2021", "-"], &text).expect(0).out().trim().to_owned();
        let told = isaforge_with(&["dis", "valhall-2021", "--json", "--order", "value"], &word).expect(0);
        let told: serde_json::Value = serde_json::from_str(told.out()).unwrap();
        assert_eq!(told["reads"], serde_json::json!(["r2", "r3"]), "{size}");
    }
}

#[test]
fn a_fragment_that_is_kept_keeps_its_coverage() {
    let launch = |condition: &str| {
        run(&format!(
            "program: |\n  DISCARD.f32.{condition} r60, r0, r1\n  NOP.return\n\
             registers: {{ fragment: 1, r60: 15, r0: 3.0, r1: 2.0 }}\nshow: [r60, helper]\n"
        ))
    };
    assert!(launch("lt").starts_with("r60 = 0000000f\nhelper = 0\n"));
    assert!(launch("gt").starts_with("r60 = 00000000\nhelper = 1\n"));
}

#[test]
fn a_helper_stores_to_its_own_storage_alone() {
    let out = run(
        "program: |\n  STORE.i32.tl.slot0 @r4, r2, offset:0\n  STORE.i32.global.slot0 @r4, r2, offset:4\n  NOP.return\n\
         registers: { r2: 0x1000, r3: 0, r4: 7, helper: 1 }\nbuffers: { all: { address: 0x1000, size: 8 } }\n\
         outputs: [{ print: { buffer: all, as: u32 } }]\n",
    );
    assert!(out.lines().any(|line| line.trim() == "0:  7  0"), "{out}");
}

#[test]
fn parts_of_signed_operands_are_signed() {
    let out = run("program: |\n  S16_TO_S32 r1, r0.b3\n  S16_TO_F32 r2, r0.b3\n  S16_TO_S32 r3, r0.h0\n  NOP.return\n\
         registers: { r0: 0xff129456 }\nshow: [r1, r2, r3]\n");
    assert!(out.starts_with("r1 = ffffffff\nr2 = bf800000\nr3 = ffff9456\n"), "{out}");
}

#[test]
fn threads_read_where_they_run() {
    let out = run(
        "program: |\n  MOV.i32.id r1, lane_id\n  MOV.i32.id r2, core_id\n  MOV.i32.id r3, program_counter\n  NOP.return\n\
         show: [r1, r2, r3]\n",
    );
    assert!(out.contains("3:00000003") && out.contains("r2 = 00000000\nr3 = 00000018\n"), "{out}");
}
