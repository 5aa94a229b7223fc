//! Recorded programs with textures, varyings, derivatives, images and several targets, and their expected results.

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
        // With an observer the reference runs; otherwise warps run side by side.
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
        // Large numbers cause long runs.
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
                    // Structural places: after a colon, a comma or a bracket.
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

/// A case of a stage that runs this program, with additional entries.
fn case(stage: &str, program: &str, entries: &str) -> String {
    let words: Vec<String> = super::assemble(program).iter().map(|word| format!("\"{word:016x}\"")).collect();
    format!(r#"{{"name": "own", "stage": "{stage}", "fau": [], "words": [{}], {entries}}}"#, words.join(", "))
}

fn problems(text: &str) -> Vec<String> {
    Case::read(text).and_then(|case| case.run(())).unwrap_or_else(|error| panic!("{error}")).problems
}

/// A compiled program stores the size four blocks after its own block.
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
    // Small numbers count as integers rather than very small floats.
    assert_eq!(judged("0.001", r#""3f800001", "00000000", "4""#), 1);
}

/// Runs a look-up at (-1, -1) with an explicit level of detail, as a case with one pixel and one texture.
fn looked_up(texture: &str, kind: &str, lod: &str, expected: [u32; 4]) -> Vec<String> {
    let program = format!(
        "IADD_IMM.i32 r0, 0x0, #0xBF800000\nIADD_IMM.i32 r1, 0x0, #0xBF800000\nIADD_IMM.i32 r2, 0x0, #{lod}
         IADD_IMM.i32 r8, 0x0, #0x20001800\nMOV.i32 r9, 0x0
         TEX_SINGLE.slot0.{kind}.32.2d.explicit.wait0 @r4:r5:r6:r7, @r0:r1:r2, r8
         BLEND.slot0.v4.{kind}32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0"
    );
    let format = match kind {
        "f" => "RGBA32F",
        "u" => "RGBA32UI",
        _ => "RGBA32I",
    };
    let zeros = "0".repeat(32);
    let row = expected.map(|word| format!("{word:08x}")).concat();
    let entries = format!(
        r#""width": 1, "height": 1,
           "textures": [{{"name": "t", "dim": "2d", "table": 4, "index": 0, {texture}}}],
           "expected": {{"rts": [{{"target": 0, "format": "{format}", "clear": "{zeros}", "rows": ["{row}"]}}]}}"#
    );
    problems(&case("fragment", &program, &entries))
}

#[test]
fn a_case_may_say_what_lies_beyond_the_edges_and_which_levels_count() {
    let sampler = |more: &str| {
        format!(
            r#""sampler": {{"table": 3, "index": 0, "min": "nearest", "mag": "nearest", "mip": "nearest", {more}}}"#
        )
    };
    let levels =
        r#""size": [4, 4, 1], "format": "R8I", "data": ["01010101010101010101010101010101", "02020202", "03"]"#;
    let edge = r#""wrap_s": "clamp_to_edge""#;
    // 1.25 with 8 fraction bits.
    for (more, level) in [
        ("", 2),
        (r#", "lod_bias": 0.5"#, 3),
        (r#", "max_lod": 0.25"#, 1),
        (r#", "min_lod": 1.75"#, 3),
        (r#", "lod_bias": -9, "min_lod": 0.75"#, 2),
    ] {
        let texture = format!("{levels}, {}", sampler(&format!("{edge}{more}")));
        assert_eq!(looked_up(&texture, "s", "0x140", [level, 0, 0, 1]), [""; 0], "{more}");
    }
    let border = r#""wrap_s": "clamp", "wrap_t": "clamp_to_border", "border": [7, 0.5, -1, 3]"#;
    for (format, data, kind, expected) in [
        ("R8I", "01", "s", [7, 0, 0, 1]),
        ("RGBA8UI", "01010101", "u", [7, 0, 0, 3]),
        ("RGBA8I", "01010101", "s", [7, 0, u32::MAX, 3]),
        ("RG8", "0101", "f", [7.0f32.to_bits(), 0.5f32.to_bits(), 0, 1.0f32.to_bits()]),
    ] {
        let texture = format!(r#""size": [1, 1, 1], "format": "{format}", "data": ["{data}"], {}"#, sampler(border));
        assert_eq!(looked_up(&texture, kind, "0x0", expected), [""; 0], "{format}");
    }
}

#[test]
fn a_case_may_have_textures_of_packed_formats() {
    let sampler = r#""sampler": {"table": 3, "index": 0, "min": "nearest", "mag": "nearest", "wrap_s": "repeat"}"#;
    let float = f32::to_bits;
    for (format, data, kind, expected) in [
        ("RGB10_A2", "ff030080", "f", [float(1.0), 0, 0, float(2.0 / 3.0)]),
        ("RGB10_A2UI", "ff030080", "u", [1023, 0, 0, 2]),
        ("R11F_G11F_B10F", "c0a31f78", "f", [float(1.0), float(1.8125), float(1.0), float(1.0)]),
        ("RGB9_E5", "00010080", "f", [float(1.0), 0, 0, float(1.0)]),
        ("RGB565", "00f8", "f", [float(1.0), 0, 0, float(1.0)]),
        ("SRGB8_ALPHA8", "ff00ff80", "f", [float(1.0), 0, float(1.0), float(128.0 / 255.0)]),
        ("D24", "ffffff00", "f", [float(1.0), 0, 0, float(1.0)]),
        ("RG16I", "feff0300", "s", [-2i32 as u32, 3, 0, 1]),
    ] {
        let texture = format!(r#""size": [1, 1, 1], "format": "{format}", "data": ["{data}"], {sampler}"#);
        assert_eq!(looked_up(&texture, kind, "0x0", expected), [""; 0], "{format}");
    }
}

#[test]
fn a_case_that_compares_nothing_or_too_little_does_not_pass() {
    let refused = |stage: &str, entries: &str| {
        let text = case(stage, "NOP.end", entries);
        Case::read(&text).and_then(|case| case.run(())).expect_err(entries).to_string()
    };
    let buffer = r#""buffers": [{"base": "100000", "words": ["1"]}]"#;
    assert_eq!(refused("compute", buffer), "the case has no expected results");
    assert!(refused("vertex", r#""vertex_count": 2, "expected": {"screen_position": ["00"]}"#).contains("1 rows"));
    let varyings = r#""vertex_count": 1, "expected": {"varyings":
        [{"name": "v", "components": 1, "type": "f", "offset": 0, "rows": ["00000000"]}]}"#;
    assert!(refused("vertex", varyings).contains("no `varying_start`"));
}

#[test]
fn what_is_flat_stays_so_beyond_the_edge_and_any_nan_is_as_good_as_another() {
    // The difference to the lane on the right, which is a helper beyond the last column.
    let program = "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store.wait0 @r0, r61, index:0x0
        IADD_IMM.i32 r8, 0x0, #0x1\nCLPER.i32.subgroup4.xor r1, r0, r8
        FADD.f32 r4, r1, r0.neg\nFRSQ.f32 r5, 0x3F800000.neg\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0
        BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0";
    let clear = "0".repeat(32);
    for (interpolation, difference) in [("flat", "00000000"), ("smooth", "40000000")] {
        let entries = format!(
            r#""width": 1, "height": 1,
               "varyings": [{{"components": 1, "interpolation": "{interpolation}", "offset": 0, "per_pixel": ["40400000"],
                 "affine": {{"at_window_origin": [2], "per_pixel_x": [2], "per_pixel_y": [0]}}}}],
               "expected": {{"rts": [{{"target": 0, "format": "RGBA32F", "clear": "{clear}",
                 "rows": ["{difference}ffc000010000000000000000"]}}]}}"#
        );
        assert_eq!(problems(&case("fragment", program, &entries)), [""; 0], "{interpolation}");
    }
}
