//! What checking machine code costs, beside making it: `cargo run --release -p isaforge-runtime --example check_cost`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use isaforge_core::program::assemble;
use isaforge_runtime::{Engine, Execution, Launch, Memory, valhall};

/// The least time of several launches.
fn least(launch: &Launch, execution: Execution) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..2_000 {
        let mut memory = Memory::new();
        memory.map(0x1000, vec![0; 0x1000]).expect("it fits");
        let start = Instant::now();
        valhall::run_on(execution, launch, &mut memory).expect("it ends");
        least = least.min(start.elapsed());
    }
    least
}

fn main() {
    let Ok(compiled) = Execution::with(Some(Engine::Compiled), None) else {
        return println!("no machine code is made for this processor");
    };
    let handlers = Execution::with(Some(Engine::Handlers), None).expect("every processor has handlers");
    println!("| words of a loop | made (us) | checked (us) | share |\n|---|---|---|---|");
    for length in [4, 16, 48] {
        let mut body = String::new();
        for word in 0..length {
            let _ = match word % 4 {
                0 => writeln!(body, "FMA.f32 r{0}, r{0}, r1, r{0}", 2 + word % 7),
                1 => writeln!(body, "IADD.u32 r{0}, r{0}, r1", 10 + word % 7),
                2 => writeln!(body, "FADD.f32 r{0}, r{0}.h0, r1", 2 + word % 7),
                _ => writeln!(body, "LSHIFT_XOR.i32 r{0}, r{0}, 0x0.b00, r1", 10 + word % 7),
            };
        }
        let text = format!(
            "IADD_IMM.i32 r59, 0x0, #0x2
            again: {body} IADD_IMM.i32 r59, r59, #0xffffffff
            BRANCHZ.reconverge r59, offset:again
            SHADDX.u64 r62, u0, r60.w0, shift:0x2
            STORE.i32.slot0.end @r2, r62, offset:0"
        );
        let program = assemble(isaforge_valhall::ISA, &text).expect("it is a program");
        let launch = Launch { program, local_size: [128, 1, 1], uniforms: vec![0x1000, 0], ..Launch::default() };
        let [plain, unchecked, checked] = [handlers, compiled.eager().unchecked(), compiled.eager()]
            .map(|one| least(&launch, one).as_secs_f64() * 1e6);
        let (made, check) = (unchecked - plain, checked - unchecked);
        println!("| {} | {made:.1} | {check:.1} | {:.0} % |", length + 2, 100.0 * check / made);
    }
}
