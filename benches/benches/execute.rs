//! Running Valhall programs: `cargo bench -p isaforge-benches --bench execute` prints a table in Markdown, in about a
//! minute. Contenders take turns, so that a busy machine slows all of them; ratios are medians of the rounds' ratios.
//!
//! Native code is the same computation as a loop over lanes, which the compiler turned into vector instructions.

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use isaforge_benches::kernels::{self, Kernel, OUT};
use isaforge_benches::{native, scalar};
use isaforge_runtime::Level;
use isaforge_runtime::valhall::fast::{self};
use isaforge_runtime::valhall::reference;
use isaforge_runtime::{Launch, Memory};

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// The results of a kernel.
fn results(memory: &Memory) -> Vec<u32> {
    let bytes = memory.region(OUT).expect("kernels write here");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Prints the row of a kernel; `native` computes the same.
fn row(kernel: &Kernel, small: &Kernel, budget: Duration, exact: bool, mut native: impl FnMut(&mut [u32])) {
    let level = Level::best();
    let run = |kernel: &Kernel, memory: &mut Memory| fast::run(&kernel.launch, memory, level).expect("kernels end");
    let mut memory = kernel.memory.clone();
    let outcome = run(kernel, &mut memory);
    let mut out = results(&kernel.memory);
    native(&mut out);
    if exact {
        assert_eq!(results(&memory), out, "{}", kernel.name);
    }
    // The slow ones get less to do.
    let mut slow = small.memory.clone();
    let slow_outcome = reference::run(&small.launch, &mut slow).expect("kernels end");
    let mut again = small.memory.clone();
    scalar::run(&small.launch, &mut again);
    assert_eq!(results(&slow), results(&again), "{}", small.name);
    assert_eq!(run(small, &mut small.memory.clone()), slow_outcome);

    let warp_instructions = outcome.warp_instructions as f64;
    let (mut ours, mut to_native, mut to_scalar, mut to_reference) = (vec![], vec![], vec![], vec![]);
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let time = seconds(|| _ = black_box(run(kernel, &mut memory)));
        let theirs = seconds(|| native(black_box(&mut out)));
        let per_thread = time / outcome.thread_instructions as f64;
        ours.push(time * 1e9 / warp_instructions);
        to_native.push(theirs / time);
        if ours.len() % 8 == 1 {
            let count = slow_outcome.thread_instructions as f64;
            to_scalar.push(seconds(|| scalar::run(&small.launch, &mut again)) / count / per_thread);
            let slow = seconds(|| _ = black_box(reference::run(&small.launch, &mut slow)));
            to_reference.push(slow / count / per_thread);
        }
    }
    println!(
        "| {} | {:.3} ns | {:.1} % | {:.0} | {:.0} |",
        kernel.name,
        median(ours),
        100.0 * median(to_native),
        median(to_scalar),
        median(to_reference)
    );
}

/// Steps of the picture that two threads draw.
const LONG: u32 = 1 << 13;

/// Prints what it costs to decode and lower an instruction, and what a second thread of the host brings.
fn rest(budget: Duration) {
    let kernel = kernels::mandelbrot("lowering", 3.0 / 256.0, [-2.2, -1.5], kernels::SIDE * kernels::SIDE);
    let program = kernel.launch.program.iter().copied().cycle().take(1 << 16).collect();
    // Without workgroups there is nothing else to do.
    let launch = Launch { program, groups: [0; 3], ..kernel.launch.clone() };
    // Starting a thread and putting together what both have done costs about as much as half of the usual steps.
    let mut long = kernels::mandelbrot("long", 3.0 / 256.0, [-2.2, -1.5], kernels::SIDE * kernels::SIDE);
    long.launch.uniforms[7] = LONG;
    let (mut lowering, mut gain) = (vec![], vec![]);
    let (level, two) = (Level::best(), NonZero::new(2).expect("it is two"));
    let start = Instant::now();
    while gain.is_empty() || start.elapsed() < budget {
        let time = seconds(|| _ = fast::run(&launch, &mut Memory::new(), level));
        lowering.push(time * 1e9 / launch.program.len() as f64);
        let mut memory = long.memory.clone();
        let one = seconds(|| _ = fast::run(&long.launch, &mut memory, level));
        gain.push(one / seconds(|| _ = fast::run_parallel(&long.launch, &mut memory, level, two)));
    }
    println!("\nDecoding and lowering: {:.1} ns an instruction.", median(lowering));
    println!("Two threads of the host, divergent mandelbrot, {LONG} steps: {:.2} times as fast.", median(gain));
}

fn main() {
    // `cargo test --benches` runs this too, to see that it works.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let budget = if measuring { Duration::from_secs(6) } else { Duration::ZERO };
    println!("Level {}, one thread of the host\n", Level::best().name());
    println!("| kernel | a warp's instruction | of native | times the scalar interpreter | times the reference |");
    println!("|---|---|---|---|---|");
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));

    let whole = [-2.2f32, -1.5];
    for (name, scale, corner) in
        [("mandelbrot, converged", 0.0, [-0.1f32, 0.1]), ("mandelbrot, divergent", 3.0 / 256.0, whole)]
    {
        if wanted(name) {
            let threads = if scale == 0.0 { 1 << 13 } else { kernels::SIDE * kernels::SIDE };
            let kernel = kernels::mandelbrot(name, scale, corner, threads);
            let small = kernels::mandelbrot(name, scale, corner, 1 << 10);
            row(&kernel, &small, budget, true, |out| native::mandelbrot(out, scale, corner));
        }
    }
    if wanted("integer mixing") {
        row(&kernels::hash(1 << 13), &kernels::hash(1 << 10), budget, true, native::hash);
    }
    for (name, elements, each) in [
        ("saxpy in cache, looping", 1 << 14, 16),
        ("saxpy 8 MiB, looping", 1 << 20, 256),
        ("saxpy 64 MiB, looping", 1 << 23, 256),
        ("saxpy 8 MiB, an element a thread", 1 << 20, 1),
    ] {
        if wanted(name) {
            let x: Vec<f32> = (0..elements).map(|i| i as f32).collect();
            let mut y = x.clone();
            let small = kernels::saxpy(name, 1 << 14, each.min(16));
            row(&kernels::saxpy(name, elements, each), &small, budget, false, |_| native::saxpy(&mut y, &x));
        }
    }
    #[cfg(target_arch = "x86_64")]
    if wanted("v2f16 FMA") {
        let (kernel, small) = (kernels::half_fma(1 << 13), kernels::half_fma(1 << 9));
        let mut how = "";
        let start: Vec<u32> = (0..1 << 13).map(|i| (i as f32).to_bits()).collect();
        row(&kernel, &small, budget, false, |out| {
            out.copy_from_slice(&start);
            how = native::half_fma(out, 0x3800_3bff, 0x3c00_2e66);
        });
        println!("\nNative v2f16 FMA by {how}.");
    }
    if wanted("rest") {
        rest(budget);
    }
}
