//! Recorded programs with textures, varyings, derivatives, images and several targets, and what they must give.

use std::io::Read;

use isaforge_runtime::valhall::cases::Case;

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
        match Case::read(&text).and_then(|case| case.run()) {
            Ok(finished) => wrong.extend(finished.problems.iter().map(|problem| format!("{name}: {problem}"))),
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
                refused += u32::from(Case::read(&text).and_then(|case| case.run()).is_err());
            }
        }
    }
    assert!(refused > 100, "{refused} are refused");
}
