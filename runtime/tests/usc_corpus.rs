//! USC programs with known outputs: compiled from GLSL by Mesa, answers computed from the GLSL. `ISAFORGE_USC_PROGRAMS`
//! names another file of them.

use std::io::Read as _;

use flate2::read::GzDecoder;
use isaforge_runtime::usc::conform;

fn programs() -> String {
    let mut text = String::new();
    match std::env::var_os("ISAFORGE_USC_PROGRAMS") {
        Some(path) => text = std::fs::read_to_string(path).expect("the named file is there"),
        None => {
            let packed: &[u8] = include_bytes!("data/usc/programs.jsonl.gz");
            GzDecoder::new(packed).read_to_string(&mut text).expect("the corpus unpacks");
        }
    }
    text
}

#[test]
fn every_run_gives_what_its_glsl_says() {
    let (mut runs, mut bad) = (0, Vec::new());
    for line in programs().lines() {
        let verdict = conform::program(line).expect("a line of the corpus is understood");
        for (number, problems) in verdict.runs.iter().enumerate() {
            runs += 1;
            if !problems.is_empty() {
                bad.push(format!("{}, run {number}: {}", verdict.name, problems.join("; ")));
            }
        }
    }
    assert!(bad.is_empty(), "{} of {runs} runs fail:\n{}", bad.len(), bad.join("\n"));
    assert!(runs > 3000, "there are runs: {runs}");
}
