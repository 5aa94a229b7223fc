//! Fragment and compute programs that test themselves: green means correct, red means wrong.

use isaforge_runtime::{Deadline, RunError, valhall};
use serde_json::Value;

use super::{assemble, data};

#[test]
fn programs_that_check_themselves_are_content() {
    let mut runs = 0;
    for line in data("piglit.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let hex = |value: &Value| u64::from_str_radix(value.as_str().unwrap(), 16).unwrap();
        let program: Vec<u64> = case["words"].as_array().unwrap().iter().map(hex).collect();
        for run in case["runs"].as_array().unwrap() {
            let uniforms: Vec<u32> = run["fau"].as_array().unwrap().iter().map(|word| hex(word) as u32).collect();
            let outcome = valhall::run_fragment(&program, &uniforms, 1 << 20, Deadline::NONE).unwrap();
            let colour = outcome.colour.map(|channel| f32::from_bits(channel).clamp(0.0, 1.0));
            for (channel, expected) in colour.into_iter().zip(run["expect"].as_array().unwrap()) {
                let close = expected.as_f64().is_none_or(|expected| (f64::from(channel) - expected).abs() <= 0.01);
                assert!(close, "{} with {uniforms:08x?}: {colour:?}, not {}", case["name"], run["expect"]);
            }
            runs += 1;
        }
    }
    assert_eq!(runs, 360);
}

#[test]
fn a_colour_may_come_as_four_halves() {
    let program = assemble(
        "IADD_IMM.i32 r0, 0x0, #0x3c003800
         IADD_IMM.i32 r1, 0x0, #0x0000c000
         BLEND.slot0.v4.f16.end @r0:r1, blend_descriptor_0.w0, r60, target:0x0",
    );
    let outcome = valhall::run_fragment(&program, &[], 3, Deadline::NONE).unwrap();
    assert_eq!(outcome.colour.map(f32::from_bits), [0.5, 1.0, -2.0, 0.0]);
    assert_eq!(outcome.thread_instructions, 3);
    assert!(matches!(valhall::run_fragment(&program, &[], 2, Deadline::NONE), Err(RunError::Budget { budget: 2, .. })));
}

#[test]
fn a_program_without_a_colour_is_told_so() {
    let error = valhall::run_fragment(&assemble("NOP.end"), &[], 100, Deadline::NONE).unwrap_err();
    assert!(matches!(&error, RunError::NoColour { .. }), "{error}");
    assert_eq!(error.to_string(), "word 0 `NOP.end`, pixel (0, 0), lane 0: the program ends without giving a colour");
}
