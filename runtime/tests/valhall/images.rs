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
