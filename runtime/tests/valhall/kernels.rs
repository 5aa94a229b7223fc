//! Whole compute kernels compiled by Mesa from GLSL, and hand-assembled ones for individual instructions.

use isaforge_runtime::{Launch, Memory, valhall};
use serde_json::Value;

use super::{data, to_bytes, to_words};

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn words(value: &Value) -> Vec<u32> {
    // A number stands for that many zeros.
    match value.as_u64() {
        Some(zeros) => vec![0; zeros as usize],
        None => value.as_array().unwrap().iter().map(|word| hex(word) as u32).collect(),
    }
}

fn launch(case: &Value) -> Launch {
    let sizes = |value: &Value| [0, 1, 2].map(|i| value[i].as_u64().unwrap() as u32);
    Launch {
        program: case["words"].as_array().unwrap().iter().map(hex).collect(),
        groups: sizes(&case["groups"]),
        local_size: sizes(&case["local_size"]),
        uniforms: words(&case["fau"]),
        shared_bytes: case["shared_bytes"].as_u64().unwrap() as u32,
        ..Launch::default()
    }
}

/// Runs a kernel. Returns its results, those of another emulator, and those of the GLSL (the same if not given).
fn kernel(name: &str) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let case: Value = serde_json::from_str(&data(&format!("kernels/{name}.json"))).unwrap();
    let mut memory = Memory::new();
    for (binding, base) in case["ssbo_base"].as_object().unwrap() {
        memory.map(hex(base), to_bytes(&words(&case["ssbo_in"][binding]))).unwrap();
    }
    let outcome = valhall::run(&launch(&case), &mut memory).unwrap();
    assert_eq!(outcome.thread_instructions, case["emu_thread_instructions"].as_u64().unwrap());
    assert_eq!(outcome.mnemonics.iter().map(|(_, count)| count).sum::<u64>(), outcome.thread_instructions);
    assert!(outcome.mnemonics.is_sorted_by(|a, b| a.1 >= b.1));
    let out = hex(&case["ssbo_base"][case["out_ssbo"].as_str().unwrap()]);
    let emulated = words(&case["emu_out"]);
    let expected = if case["expected"].is_array() { words(&case["expected"]) } else { emulated.clone() };
    (to_words(memory.region(out).unwrap()), emulated, expected)
}

#[test]
fn kernels_give_exactly_what_their_source_means() {
    for name in ["saxpy", "reduce", "inthash"] {
        let (found, emulated, expected) = kernel(name);
        assert_eq!(found, emulated, "{name}");
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn mandelbrot_differs_only_at_the_edge_of_the_set() {
    let (found, emulated, expected) = kernel("mandelbrot");
    assert_eq!(found, emulated);
    let right = found.iter().zip(&expected).filter(|(a, b)| a == b).count();
    assert!(right * 100 >= expected.len() * 98, "{right} of {}", expected.len());
}

#[test]
fn half_precision_and_packing_agree_with_another_emulator() {
    let (found, emulated, _) = kernel("prefix_i16");
    assert_eq!(found, emulated);
}

/// Runs a case with buffers, and compares all of them.
fn buffers(name: &str) {
    let case: Value = serde_json::from_str(&data(&format!("compute/{name}.json"))).unwrap();
    let mut memory = Memory::new();
    let buffers = case["buffers"].as_array().unwrap();
    for buffer in buffers {
        memory.map(hex(&buffer["base"]), to_bytes(&words(&buffer["words"]))).unwrap();
    }
    valhall::run(&launch(&case), &mut memory).unwrap();
    for buffer in buffers {
        let found = to_words(memory.region(hex(&buffer["base"])).unwrap());
        let expected = words(if buffer["expected"].is_null() { &buffer["words"] } else { &buffer["expected"] });
        assert_eq!(found.len(), expected.len());
        // Words that depend on the order of threads are not compared.
        let open: Vec<u64> =
            buffer["ignore_words"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let at = || instruction(&case, index);
            assert!(
                found == expected || open.contains(&(index as u64)),
                "{name}, word {index} {}: {found:08x}, not {expected:08x}",
                at()
            );
        }
    }
}

/// The instruction under test that writes a word of the output of a hand-assembled case.
fn instruction(case: &Value, word: usize) -> String {
    let stride = case["fau"].get(5).map_or(0, hex) as usize;
    let mut tests = case["tests"].as_array().into_iter().flatten();
    let within = (word * 4).checked_rem(stride).unwrap_or(0) as u64;
    let test = tests.rfind(|test| test["out_byte_offset"].as_u64().unwrap() <= within);
    test.map_or(String::new(), |test| test["text"].to_string())
}

#[test]
fn integer_instructions_of_every_width_compute_what_the_document_says() {
    for name in ["asm_i32", "asm_v2i16", "asm_v4i8"] {
        buffers(name);
    }
}

#[test]
fn compiled_programs_with_buffers_leave_the_memory_that_they_should() {
    for name in ["atomics_all", "bitonic", "bytes_simd", "f16_pack", "int64_ops", "struct_pack"] {
        buffers(name);
    }
}
