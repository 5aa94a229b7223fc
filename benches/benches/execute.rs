//! Running programs: `cargo bench -p isaforge-benches --bench execute` prints a table in Markdown, in about three
//! minutes; with `-- NAME`, only the rows whose names contain NAME. Contenders take turns, so that a busy machine slows
//! all of them; ratios are medians of the rounds' ratios.
//!
//! Native code is the same computation as a loop over lanes that the compiler vectorizes or, for RISC-V, whose
//! instructions have one lane, as a plain loop. The last column is the time of a commit from before the engine was
//! shared by all sets, on the machine where `benches/before.sh` recorded it.

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use isaforge_benches::kernels::{self, Kernel, OUT};
use isaforge_benches::naive::Naive;
use isaforge_benches::shading::{self, Workload};
use isaforge_benches::shared::{self, Shared};
use isaforge_benches::{chains, code, lanes, median, native, riscv, scalar, seconds, usc, vpu};
use isaforge_runtime::Level;
use isaforge_runtime::exec::Executor as _;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::shape::Shapes;
use isaforge_runtime::usc::{LANES, Program};
use isaforge_runtime::valhall::fast::{self};
use isaforge_runtime::valhall::reference;
use isaforge_runtime::{Execution, Launch, Memory};

/// The results of a kernel.
fn results(memory: &Memory) -> Vec<u32> {
    let bytes = memory.region(OUT).expect("kernels write here");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// The output of an earlier commit on this machine, recorded by `benches/before.sh`.
const BEFORE: &str = include_str!("../data/before.md");

/// The commit of [`BEFORE`].
fn commit() -> &'static str {
    BEFORE.lines().next().and_then(|line| line.split_whitespace().nth(1)).unwrap_or("no commit")
}

/// Prints a row: nanoseconds per instruction of a warp, the speed relative to native, and the speedup over
/// interpreters.
fn print(name: &str, ours: Vec<f64>, to_native: Option<Vec<f64>>, times: [Option<Vec<f64>>; 2]) {
    let share = to_native.map_or(String::new(), |of| format!("{:.1} %", 100.0 * median(of)));
    let [scalar, reference] = times.map(|times| times.map_or(String::new(), |times| format!("{:.0}", median(times))));
    let time = |line: &str| {
        line.strip_prefix("| ")?.strip_prefix(name)?.strip_prefix(" | ")?.split(" |").next().map(str::to_owned)
    };
    let before = BEFORE.lines().find_map(time).unwrap_or_default();
    println!("| {name} | {:.3} ns | {share} | {scalar} | {reference} | {before} |", median(ours));
}

/// Prints the row of a kernel, given the same computation as native code.
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
    // Slow contenders get a smaller kernel.
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
    print(kernel.name, ours, Some(to_native), [Some(to_scalar), Some(to_reference)]);
}

/// Whether results agree with those of the host. With a tolerance they are floats.
fn agree(ours: &[u32], native: &[u32], tolerance: f32) -> bool {
    let near = |a: f32, b: f32| (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0);
    ours.len() == native.len()
        && ours
            .iter()
            .zip(native)
            .all(|(a, b)| a == b || tolerance > 0.0 && near(f32::from_bits(*a), f32::from_bits(*b)))
}

/// Prints the row of a kernel whose threads share memory; `small` is the same kernel with fewer threads.
fn shared_row(of: &Shared, small: &Shared, budget: Duration) {
    let (level, name) = (Level::best(), of.kernel.name);
    for case in [of, small] {
        let mut memory = case.kernel.memory.clone();
        fast::run(&case.kernel.launch, &mut memory, level).expect("kernels end");
        let mut out = results(&case.kernel.memory);
        (case.native)(&mut out, &case.input);
        assert!(agree(&results(&memory), &out, case.tolerance), "{name}");
    }
    let mut slow = small.kernel.memory.clone();
    let slow_outcome = reference::run(&small.kernel.launch, &mut slow).expect("kernels end");
    let mut memory = small.kernel.memory.clone();
    assert_eq!(fast::run(&small.kernel.launch, &mut memory, level).ok().as_ref(), Some(&slow_outcome));
    assert_eq!(results(&slow), results(&memory), "{name}");

    let (mut ours, mut to_native, mut to_reference) = (vec![], vec![], vec![]);
    let (mut memory, mut out) = (of.kernel.memory.clone(), results(&of.kernel.memory));
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let mut outcome = Default::default();
        let time = seconds(|| outcome = fast::run(&of.kernel.launch, &mut memory, level).expect("kernels end"));
        ours.push(time * 1e9 / outcome.warp_instructions as f64);
        to_native.push(seconds(|| (of.native)(black_box(&mut out), &of.input)) / time);
        if ours.len() % 8 == 1 {
            let time = time / outcome.thread_instructions as f64;
            let slow = seconds(|| _ = black_box(reference::run(&small.kernel.launch, &mut slow)));
            to_reference.push(slow / slow_outcome.thread_instructions as f64 / time);
        }
    }
    print(name, ours, Some(to_native), [None, Some(to_reference)]);
}

/// Prints the row of a program with textures, attributes or images. The square of the reference is small.
fn shading_row(of: &Workload, budget: Duration) {
    let (best, reference) = (Execution::best(), Execution::reference());
    // Without a budget all squares are, since the large ones take seconds.
    let side = if budget.is_zero() { 48 } else { of.side };
    let [mut whole, mut small, mut slow] = [side, 48, 48].map(of.sized);
    whole.run(best);
    let slow_outcome = slow.run(reference);
    assert_eq!((small.run(best), small.results()), (slow_outcome.clone(), slow.results()), "{}", of.name);
    let results = whole.results();
    let mut out = vec![0; results.len()];
    (whole.native)(&mut out, &whole.input);
    let means = [results, out.clone()].map(|results| whole.means(&results));
    assert!(means[0].iter().zip(&means[1]).all(|(a, b)| (a - b).abs() < 1.0 / 255.0), "{}: {means:?}", of.name);

    let (mut ours, mut to_native, mut to_reference) = (vec![], vec![], vec![]);
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let mut outcome = Default::default();
        let time = seconds(|| outcome = whole.run(best));
        ours.push(time * 1e9 / outcome.warp_instructions as f64);
        to_native.push(seconds(|| (whole.native)(black_box(&mut out), black_box(&whole.input))) / time);
        if ours.len() % 8 == 1 {
            let time = time / outcome.thread_instructions as f64;
            to_reference.push(seconds(|| _ = slow.run(reference)) / slow_outcome.thread_instructions as f64 / time);
        }
    }
    print(of.name, ours, Some(to_native), [None, Some(to_reference)]);
}

/// The number of steps of the picture that two host threads compute.
const LONG: u32 = 1 << 13;

/// Prints the cost of decoding and lowering an instruction, and the gain of a second host thread.
fn rest(budget: Duration) {
    let kernel = kernels::mandelbrot("lowering", 3.0 / 256.0, [-2.2, -1.5], kernels::SIDE * kernels::SIDE);
    let program = kernel.launch.program.iter().copied().cycle().take(1 << 16).collect();
    // Without workgroups, nothing else is done.
    let launch = Launch { program, groups: [0; 3], ..kernel.launch.clone() };
    // Starting a thread and merging the results of both costs about half as much as the usual number of steps.
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
    shapes(budget);
    println!("Two threads of the host, divergent mandelbrot, {LONG} steps: {:.2} times as fast.", median(gain));
}

/// Prints the cost of finding the shape of a word, and of making one.
fn shapes(budget: Duration) {
    let words: Vec<_> = code::valhall().into_iter().filter_map(|word| isaforge_valhall::decode(word).ok()).collect();
    let mut shapes = Shapes::new(isaforge_valhall::semantics::SEMANTICS, isaforge_valhall::ISA);
    let find = |shapes: &mut Shapes<()>, word: &isaforge_valhall::Instruction| {
        shapes.get(word.opcode() as u16, word.encode(), |_| ()).is_some()
    };
    let (mut seen, mut new) = (0, vec![]);
    for word in &words {
        find(&mut shapes, word);
        if shapes.len() > seen {
            seen = shapes.len();
            new.push(*word);
        }
    }
    let (mut known, mut made) = (vec![], vec![]);
    let start = Instant::now();
    while known.is_empty() || start.elapsed() < budget / 4 {
        let again = |shapes: &mut Shapes<()>, words: &[_]| words.iter().filter(|word| find(shapes, word)).count();
        known.push(seconds(|| _ = black_box(again(&mut shapes, &words))) * 1e9 / words.len() as f64);
        let mut none = Shapes::new(isaforge_valhall::semantics::SEMANTICS, isaforge_valhall::ISA);
        made.push(seconds(|| _ = black_box(again(&mut none, &new))) * 1e9 / new.len() as f64);
    }
    println!(
        "The shape of a word of real shaders: {:.1} ns where it is known, {:.0} ns where it is new ({} of {} words).",
        median(known),
        median(made),
        new.len(),
        words.len()
    );
}

/// Prints the row of a loop of a set with a specification, of as many instructions: the times of an engine and of Rust, and
/// the evaluator's time for one instruction, in nanoseconds.
fn loop_row(
    name: &str,
    instructions: u64,
    budget: Duration,
    mut engine: impl FnMut() -> f64,
    mut native: impl FnMut(),
    reference: impl Fn() -> f64,
) {
    let (mut ours, mut to_native, mut to_reference) = (vec![], vec![], vec![]);
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let time = engine();
        ours.push(time * 1e9 / instructions as f64);
        to_native.push(seconds(&mut native) / time);
        if ours.len() % 16 == 1 {
            to_reference.push(reference() / ours[ours.len() - 1]);
        }
    }
    print(name, ours, Some(to_native), [None, Some(to_reference)]);
}

/// Prints the row of a loop of the RISC-V example.
fn scalar_row(example: &riscv::Example, of: &riscv::Loop, budget: Duration) {
    let mut compiler = Compiler::default();
    let mut machine = example.machine(of);
    riscv::run(&mut compiler, &mut machine);
    let instructions = machine.executed();
    assert_eq!(example.result(&machine), (of.native)(of.rounds), "{}", of.name);
    let engine = || {
        example.start(&mut machine, of.rounds);
        seconds(|| riscv::run(&mut compiler, &mut machine))
    };
    let reference = || {
        let mut slow = example.machine(&riscv::Loop { rounds: of.rounds.div_ceil(64), ..*of });
        let time = seconds(|| riscv::evaluate(&mut slow));
        time * 1e9 / slow.executed() as f64
    };
    let native = || _ = black_box((of.native)(black_box(of.rounds)));
    loop_row(of.name, instructions, budget, engine, native, reference);
}

/// Prints the row of a loop of the example with 32 lanes.
fn lanes_row(example: &lanes::Example, of: &lanes::Loop, budget: Duration) {
    let (mut engine, mut machine) = (lanes::WarpEngine::new(Level::best()), example.machine(of));
    example.start(&mut machine, of.rounds);
    lanes::run(&mut engine, &mut machine);
    let instructions = machine.executed();
    let mut out = [0; lanes::LANES];
    (of.native)(&mut out, of.rounds);
    assert_eq!(example.result(&machine), out, "{}", of.name);
    let engine = || {
        example.start(&mut machine, of.rounds);
        seconds(|| lanes::run(&mut engine, &mut machine))
    };
    let reference = || {
        let mut slow = example.machine(of);
        example.start(&mut slow, of.rounds.div_ceil(64));
        let time = seconds(|| _ = slow.run(&mut (), u64::MAX));
        time * 1e9 / slow.executed() as f64
    };
    let native = || (of.native)(black_box(&mut out), black_box(of.rounds));
    loop_row(of.name, instructions, budget, engine, native, reference);
}

/// Prints the row of a USC loop on eight tasks, with the same loop on the host's vectors.
fn usc_row(name: &str, program: &Program, budget: Duration, mut native: impl FnMut()) {
    const TASKS: usize = 8;
    let (mut machine, tasks) = (usc::machine(Level::best()), usc::tasks(TASKS));
    let operations = (TASKS * usc::CHAINS * usc::TIMES) as f64 * f64::from(usc::ROUNDS);
    let (mut ours, mut to_native) = (vec![], vec![]);
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let mut tasks = tasks.clone();
        let time = seconds(|| _ = machine.run(program, &mut tasks, u64::MAX).expect("it ends"));
        ours.push(time * 1e9 / operations);
        to_native.push(seconds(|| (0..TASKS).for_each(|_| native())) / time);
    }
    print(name, ours, Some(to_native), [None, None]);
}

/// Prints the row of the VPU's rasterizer, with a plain interpreter. There is no native loop to compare it with.
fn vpu_row(name: &str, budget: Duration) {
    let (scene, words) = vpu::rasteriser();
    let plain = Naive::run(&scene, &words, u64::MAX).expect("it ends");
    let (mut ours, mut to_plain) = (vec![], vec![]);
    let start = Instant::now();
    while ours.is_empty() || start.elapsed() < budget {
        let mut machine = vpu::machine(&scene, &words, 1).expect("the machine takes it");
        let time = seconds(|| assert_eq!(machine.run().expect("it ends").steps, plain.steps));
        ours.push(time * 1e9 / plain.steps as f64);
        to_plain.push(seconds(|| _ = black_box(Naive::run(&scene, &words, u64::MAX))) / time);
    }
    print(name, ours, None, [Some(to_plain), None]);
}

/// Prints the cost of launches without their loops: the kernels with a single round.
fn launches(budget: Duration) {
    let picture = kernels::mandelbrot("mandelbrot", 0.0, [-0.1, 0.1], 1 << 13);
    // Each kernel with the index of the uniform that holds its number of rounds.
    let short = [
        (picture, 7),
        (kernels::hash(1 << 13), 8),
        (kernels::saxpy("saxpy", 1 << 14, 16), 6),
        (kernels::half_fma(1 << 13), 6),
    ];
    println!(
        "\n| launch of one round | lowering | the first that is compiled | of that the check | a later one | a workgroup more |"
    );
    println!("|---|---|---|---|---|---|");
    for (kernel, rounds) in short {
        let mut memory = kernel.memory.clone();
        let (often, mut unlike) = (kernel.launch.groups[0], 0);
        let mut time = |groups: u32, level: Level, unlike: u32| {
            let mut launch = Launch { groups: [groups, 1, 1], ..kernel.launch.clone() };
            launch.uniforms[rounds] = 1;
            // No thread reads this uniform, but its value makes the launch need new code.
            launch.uniforms.push(unlike);
            1e6 * seconds(|| _ = black_box(fast::run(&launch, &mut memory, level)))
        };
        let (best, mut costs) = (Level::best(), [const { vec![] }; 5]);
        let start = Instant::now();
        while costs[0].is_empty() || start.elapsed() < budget {
            unlike += 1;
            let lowering = time(0, best, unlike);
            let (checked, unchecked) = (best.eager(), best.eager().unchecked());
            // Each launch drops what the one before has left: those that are compared follow one that compiles. Which of
            // them comes first matters as well, so that each does once.
            let mut both = |levels: [Level; 2]| {
                unlike += 3;
                time(1, checked, unlike - 2);
                [time(1, levels[0], unlike - 1), time(1, levels[1], unlike)]
            };
            let [with, without] = both([checked, unchecked]);
            let [without_too, with_too] = both([unchecked, checked]);
            let first = (with + with_too) / 2.0;
            let check = first - (without + without_too) / 2.0;
            let later = time(1, checked, unlike);
            let more = (time(often, checked, unlike) - later) / f64::from(often - 1);
            for (costs, cost) in costs.iter_mut().zip([lowering, first, later, more, check]) {
                costs.push(cost);
            }
        }
        let [lowering, first, later, more, check] = costs.map(median);
        let name = kernel.name;
        println!("| {name} | {lowering:.1} µs | {first:.1} µs | {check:.1} µs | {later:.1} µs | {more:.2} µs |");
    }
    let example = riscv::Example::open();
    for of in &riscv::LOOPS {
        let mut machine = example.machine(of);
        // Enough instructions to reach all of the loop that is compiled first.
        let mut time = |compiler: &mut Compiler| {
            example.start(&mut machine, 1);
            1e6 * seconds(|| _ = black_box(compiler.run(&mut machine, &mut (), 100)))
        };
        let mut costs = [const { vec![] }; 3];
        let start = Instant::now();
        while costs[0].is_empty() || start.elapsed() < budget {
            let mut compiler = Compiler::default().eager();
            let (with, later) = (time(&mut compiler), time(&mut compiler));
            let without = [(); 2].map(|()| time(&mut Compiler::default().eager().unchecked()));
            let first = (with + time(&mut Compiler::default().eager())) / 2.0;
            let check = first - without.iter().sum::<f64>() / 2.0;
            for (costs, cost) in costs.iter_mut().zip([first, check, later]) {
                costs.push(cost);
            }
        }
        let [first, check, later] = costs.map(median);
        println!("| {} | | {first:.1} µs | {check:.1} µs | {later:.1} µs | |", of.name);
    }
}

fn main() {
    // `cargo test --benches` also runs this, as a smoke test.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let budget = if measuring { Duration::from_secs(6) } else { Duration::ZERO };
    println!("Level {}, one thread of the host\n", Level::best().name());
    println!(
        "| kernel | a warp's instruction | of native | times the scalar interpreter | times the reference | at {} |",
        commit()
    );
    println!("|---|---|---|---|---|---|");
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
    let many = "mandelbrot, converged, 10^6 threads";
    if wanted(many) {
        let kernel = kernels::mandelbrot(many, 0.0, [-0.1, 0.1], 1 << 20);
        let small = kernels::mandelbrot(many, 0.0, [-0.1, 0.1], 1 << 10);
        row(&kernel, &small, budget, true, |out| native::mandelbrot(out, 0.0, [-0.1, 0.1]));
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
    for (of, small) in [
        (shared::matrix_product(), shared::matrix_product()),
        (shared::histogram(1 << 11), shared::histogram(8)),
        (shared::reduction(1 << 7), shared::reduction(4)),
        (shared::prefix_sum(1 << 10), shared::prefix_sum(8)),
        (shared::n_body(1 << 10), shared::n_body(1 << 7)),
    ] {
        if wanted(of.kernel.name) {
            shared_row(&of, &small, budget);
        }
    }
    shading::ALL.iter().filter(|of| wanted(of.name)).for_each(|of| shading_row(of, budget));
    let loops: Vec<&riscv::Loop> = riscv::LOOPS.iter().filter(|of| wanted(of.name)).collect();
    if !loops.is_empty() {
        let example = riscv::Example::open();
        loops.into_iter().for_each(|of| scalar_row(&example, of, budget));
    }
    let loops: Vec<&lanes::Loop> = lanes::LOOPS.iter().filter(|of| wanted(of.name)).collect();
    if !loops.is_empty() {
        let example = lanes::Example::open();
        loops.into_iter().for_each(|of| lanes_row(&example, of, budget));
    }
    if wanted("usc multiply-adds") {
        usc_row("usc multiply-adds", &usc::multiply_adds(), budget, || {
            let rounds = usc::ROUNDS * usc::TIMES as u32;
            black_box(chains::multiply_adds(black_box([[1.5; LANES]; usc::CHAINS]), 0.5, 1.0, rounds));
        });
    }
    if wanted("usc integers") {
        usc_row("usc integers", &usc::integers(), budget, || {
            let rounds = usc::ROUNDS * usc::TIMES as u32 / 2;
            black_box(chains::integers(black_box([[7; LANES]; usc::CHAINS]), 5, 9, 3, rounds));
        });
    }
    if wanted("vpu rasteriser") {
        vpu_row("vpu rasteriser", budget);
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
    if wanted("launches") {
        launches(budget / 4);
    }
    if wanted("rest") {
        rest(budget);
    }
}
