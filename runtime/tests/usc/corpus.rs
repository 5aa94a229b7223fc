//! USC programs with known outputs, compiled from GLSL by Mesa; the expected outputs are computed from the GLSL.
//! `ISAFORGE_USC_PROGRAMS` names another file of programs.

use std::io::Read as _;

use flate2::read::GzDecoder;
use isaforge_runtime::usc::texture::Texture;
use isaforge_runtime::usc::{Machine, Program, Software, Task, conform};

fn programs() -> String {
    let mut text = String::new();
    match std::env::var_os("ISAFORGE_USC_PROGRAMS") {
        Some(path) => text = std::fs::read_to_string(path).expect("the named file is there"),
        None => {
            let packed: &[u8] = include_bytes!("../data/usc/programs.jsonl.gz");
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

/// Damaged programs end, with or without an error; none panics or runs forever.
#[test]
fn damaged_programs_end() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % end
    };
    let (mut loaded, mut ended) = (0, 0);
    for line in programs().lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let digits = value["bytes"].as_str().expect("bytes");
        let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal");
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random(3) {
                damaged[random(bytes.len())] = random(256) as u8;
            }
            let Ok(program) = Program::load(&damaged) else { continue };
            loaded += 1;
            let mut tasks = [Task::new(1 + random(32)).expect("1 to 32")];
            // Values are arbitrary too; texture 0 is a cube with levels.
            for name in (0..40).flat_map(|n| [format!("r{n}"), format!("cf{n}"), format!("vi{n}")]) {
                let value = if random(4) == 0 { 0 } else { random(1 << 32) as u32 };
                tasks[0].fill(name.parse().expect("a register"), value).expect("a register of the task");
            }
            let cube = Texture { size: [4, 4, 1], layers: 6, cube: true, ..Texture::default() };
            let host = Software { textures: vec![cube.with_levels()], ..Software::default() };
            ended += usize::from(Machine::new(host).run(&program, &mut tasks, 300).is_ok());
        }
    }
    assert!(loaded > 1000 && ended > 500, "{loaded} load, {ended} end by themselves");
}
