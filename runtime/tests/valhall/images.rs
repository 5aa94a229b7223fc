//! Recorded programs with textures, varyings, derivatives, images and several targets, and what they must give.

use std::io::Read;

use isaforge_runtime::valhall::cases::Case;
use isaforge_runtime::valhall::observe;

fn texts() -> Vec<(String, String)> {
    let folder = format!("{}/tests/data/valhall/images", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let unpack = |path: std::path::PathBuf| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), text)
    };
    paths.into_iter().map(unpack).collect()
}

#[test]
fn recorded_pictures_and_buffers_come_out_as_recorded() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in texts() {
        count += 1;
        // Who looks on sees the reference; otherwise warps run side by side.
        let mut profile = observe::profile();
        let runs = Case::read(&text).and_then(|case| Ok([case.run(())?, case.run(&mut profile)?]));
        match runs {
            Ok(runs) => {
                assert_eq!(runs.each_ref().map(|run| run.instructions), [profile.total().threads; 2], "{name}");
                let problems = runs.iter().flat_map(|run| &run.problems);
                wrong.extend(problems.map(|problem| format!("{name}: {problem}")));
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert_eq!(count, 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_case_that_is_damaged_is_no_reason_to_fall_over() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut refused = 0;
    for (name, text) in texts() {
        // Large words make long runs.
        if ["atomics_all", "tex_nearest", "tex_array", "vs_transform", "image_rw"]
            .iter()
            .any(|known| name.starts_with(known))
        {
            for _ in 0..60 {
                let mut bytes = text.clone().into_bytes();
                for _ in 0..4 {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    // Where the structure is: beside a colon, a comma or a bracket.
                    let from = seed as usize % bytes.len();
                    let marks = bytes[from..].iter().position(|byte| b":,[]{}".contains(byte));
                    let at = (from + marks.unwrap_or(0) + 1).min(bytes.len() - 1);
                    bytes[at] = b"0179afe-.\"[]{},"[(seed >> 32) as usize % 15];
                }
                let text = String::from_utf8(bytes).unwrap();
                refused += u32::from(Case::read(&text).and_then(|case| case.run(())).is_err());
            }
        }
    }
    assert!(refused > 100, "{refused} are refused");
}

/// A case of a stage that runs this program, with these further entries.
fn case(stage: &str, program: &str, entries: &str) -> String {
    let words: Vec<String> = super::assemble(program).iter().map(|word| format!("\"{word:016x}\"")).collect();
    format!(r#"{{"name": "own", "stage": "{stage}", "fau": [], "words": [{}], {entries}}}"#, words.join(", "))
}

fn problems(text: &str) -> Vec<String> {
    Case::read(text).and_then(|case| case.run(())).unwrap_or_else(|error| panic!("{error}")).problems
}

/// A compiled program puts the size four blocks behind its own.
#[test]
fn the_size_of_a_point_disturbs_no_other_vertex() {
    let program = "
        U32_TO_F32 r0, r60
        MOV.i32 r1, 0x3F800000
        MOV.i32 r2, 0x0
        MOV.i32 r3, 0x3F800000
        LEA_BUF_IMM.slot0 @r4:r5, r59, table:0xD, index:0x0
        STORE.i128.istream.slot1 @r0:r1:r2:r3, r4, offset:0
        IADD_IMM.i32 r6, r59, #0x4
        LEA_BUF_IMM.slot0 @r6:r7, r6, table:0xD, index:0x0
        IADD_IMM.i32 r0, 0x0, #0x3C00
        STORE.i16.istream.slot0.end @r0, r6, offset:0";
    let rows: Vec<String> =
        (0..21).map(|n| format!("\"{:08x}3f800000000000003f800000\"", (n as f32).to_bits())).collect();
    let entries = format!(r#""vertex_count": 21, "expected": {{"screen_position": [{}]}}"#, rows.join(", "));
    assert_eq!(problems(&case("vertex", program, &entries)), [""; 0]);
}

#[test]
fn a_block_of_uniforms_ends_with_a_whole_vector() {
    let load = "IADD_IMM.i32 r0, 0x0, #0x10
        LD_BUFFER.i128.unsigned.slot0 @r4:r5:r6:r7, r0, 0x0
        IADD_IMM.i32 r2, 0x0, #0x100000\nMOV.i32 r3, 0x0
        STORE.i64.slot0.end @r4:r5, r2, offset:0";
    let entries = r#""ubos": [{"table": 0, "index": 0, "words": ["1", "2", "3", "4", "5"]}],
        "buffers": [{"base": "100000", "words": ["7", "7"], "expected": ["5", "0"]}]"#;
    assert_eq!(problems(&case("compute", load, entries)), [""; 0]);
}

#[test]
fn numbers_that_a_compute_program_leaves_may_be_as_far_off_as_the_case_says() {
    let buffer = |tolerance: &str, expected: &str| {
        format!(
            r#""tolerance": {tolerance}, "buffers": [{{"base": "100000", "words": ["3f800001", "80000000", "3"],
                "expected": [{expected}]}}]"#
        )
    };
    let judged = |tolerance, expected| problems(&case("compute", "NOP.end", &buffer(tolerance, expected))).len();
    assert_eq!(judged("0.001", r#""3f800000", "00000000", "3""#), 0);
    assert_eq!(judged("0", r#""3f800000", "00000000", "3""#), 1);
    assert_eq!(judged("0.001", r#""3f900000", "00000000", "3""#), 1);
    // Small numbers are whole ones, not very small floats.
    assert_eq!(judged("0.001", r#""3f800001", "00000000", "4""#), 1);
}
