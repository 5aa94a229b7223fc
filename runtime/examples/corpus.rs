//! Runs the compute kernels, fragment programs and hand-assembled cases of a folder of corpora and counts what is right.
//!
//! `cargo run --release -p isaforge-runtime --example corpus -- FOLDER`

use std::path::Path;

use isaforge_runtime::{Deadline, Launch, Memory, valhall};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn hex(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or("0");
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(0)
}

fn list(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(hex).collect()
}

fn words(value: &Value) -> Vec<u32> {
    list(value).into_iter().map(|word| word as u32).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn sizes(value: &Value) -> [u32; 3] {
    [0, 1, 2].map(|i| value[i].as_u64().unwrap_or(1) as u32)
}

fn launch(case: &Value) -> Launch {
    Launch {
        program: list(&case["words"]),
        groups: sizes(&case["groups"]),
        local_size: sizes(&case["local_size"]),
        uniforms: words(&case["fau"]),
        shared_bytes: case["shared_bytes"].as_u64().unwrap_or(0) as u32,
        ..Launch::default()
    }
}

fn differences(found: &[u8], expected: &[u32]) -> Vec<(usize, u32, u32)> {
    let found = found.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    found.zip(expected).enumerate().filter(|(_, (a, b))| a != *b).map(|(i, (a, b))| (i, a, *b)).collect()
}

fn kernel(path: &Path) -> Result<(), Failure> {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut memory = Memory::new();
    for (name, base) in case["ssbo_base"].as_object().into_iter().flatten() {
        memory.map(hex(base), bytes(&words(&case["ssbo_in"][name])))?;
    }
    let start = std::time::Instant::now();
    let outcome = valhall::run(&launch(&case), &mut memory)?;
    let time = start.elapsed();
    let out = hex(&case["ssbo_base"][case["out_ssbo"].as_str().unwrap_or("0")]);
    let found = memory.region(out).unwrap_or_default();
    println!(
        "{}: {} of {} words differ from emu_out, {} from expected; {} thread instructions ({}), {:.1} ns each",
        path.display(),
        differences(found, &words(&case["emu_out"])).len(),
        found.len() / 4,
        differences(found, &words(&case["expected"])).len(),
        outcome.thread_instructions,
        case["emu_thread_instructions"],
        time.as_nanos() as f64 / outcome.thread_instructions as f64,
    );
    Ok(())
}

fn compute_image(path: &Path) -> Result<(), Failure> {
    let case: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    if case["stage"] != "compute" || !case["images"].as_array().is_none_or(Vec::is_empty) {
        return Ok(());
    }
    let mut memory = Memory::new();
    let buffers = case["buffers"].as_array().cloned().unwrap_or_default();
    for buffer in &buffers {
        memory.map(hex(&buffer["base"]), bytes(&words(&buffer["words"])))?;
    }
    if let Err(error) = valhall::run(&launch(&case), &mut memory) {
        println!("{}: {error}", path.display());
        return Ok(());
    }
    for buffer in &buffers {
        let expected = words(&buffer["expected"]);
        let ignored: Vec<usize> =
            buffer["ignore_words"].as_array().into_iter().flatten().map(|v| v.as_u64().unwrap_or(0) as usize).collect();
        let mut wrong = differences(memory.region(hex(&buffer["base"])).unwrap_or_default(), &expected);
        wrong.retain(|(i, _, _)| !ignored.contains(i));
        println!("{}: buffer {}: {} of {} words differ", path.display(), buffer["base"], wrong.len(), expected.len());
        for (index, found, expected) in wrong.iter().take(12) {
            let stride = case["fau"].get(5).map_or(0, hex) as usize;
            let test = case["tests"].as_array().and_then(|tests| {
                let at = (index * 4).checked_rem(stride)?;
                tests.iter().rfind(|t| t["out_byte_offset"].as_u64().unwrap_or(0) as usize <= at)
            });
            println!(
                "  word {index}: {found:08x}, expected {expected:08x} {}",
                test.map_or(&Value::Null, |t| &t["text"])
            );
        }
    }
    Ok(())
}

fn piglit(path: &Path) -> Result<(), Failure> {
    let (mut right, mut runs, mut shown) = (0, 0, 0);
    let start = std::time::Instant::now();
    for line in std::fs::read_to_string(path)?.lines() {
        let case: Value = serde_json::from_str(line)?;
        let program = list(&case["words"]);
        for run in case["runs"].as_array().into_iter().flatten() {
            runs += 1;
            let result = valhall::run_fragment(&program, &words(&run["fau"]), 1 << 24, Deadline::NONE);
            let verdict = match result {
                Ok(outcome) => {
                    let colour = outcome.colour.map(|c| f32::from_bits(c).clamp(0.0, 1.0));
                    let good = colour
                        .iter()
                        .enumerate()
                        .all(|(i, c)| run["expect"][i].as_f64().is_none_or(|e| (f64::from(*c) - e).abs() <= 0.01));
                    if good { None } else { Some(format!("{colour:?}, expected {}", run["expect"])) }
                }
                Err(error) => Some(error.to_string()),
            };
            match verdict {
                None => right += 1,
                Some(text) if shown < 20 => {
                    shown += 1;
                    println!("{} run {}: {text}", case["name"], run["k"]);
                }
                Some(_) => {}
            }
        }
    }
    println!("{}: {right} of {runs} runs are right ({:?})", path.display(), start.elapsed());
    Ok(())
}

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).ok_or("give the folder of the corpora")?;
    let folder = Path::new(&folder);
    for (sub, run) in [("kernels", kernel as fn(&Path) -> _), ("images", compute_image)] {
        let mut paths: Vec<_> = std::fs::read_dir(folder.join(sub))?.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
            run(path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    piglit(&folder.join("piglit-programs.jsonl"))
}
