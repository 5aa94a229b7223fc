//! The cost of a lane's iteration in some kernels, for `benches/peers/compare.py`: prints one line for each kernel with
//! its name, ns of processor time, and the sum of the first run's results. The argument is the number of seconds for
//! each kernel.

use isaforge_benches::kernels::{self, Kernel, OUT, ROUNDS, SIDE};
use isaforge_benches::processor_seconds as now;
use isaforge_runtime::{Level, Memory, valhall};

/// The number of results of a kernel, and their sum.
fn results(memory: &Memory) -> (f64, f64) {
    let words = memory.region(OUT).expect("kernels write here").chunks_exact(4);
    let words = words.map(|c| f64::from(u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
    words.fold((0.0, 0.0), |(count, sum), word| (count + 1.0, sum + word))
}

/// Measures a kernel. `iterations` is the number per thread, or `None` if the results contain it.
fn measure(kernel: &Kernel, seconds: f64, iterations: Option<u32>) {
    let mut memory = kernel.memory.clone();
    let run = |memory: &mut Memory| {
        valhall::fast::run(&kernel.launch, memory, Level::best()).expect("kernels end");
    };
    // The first run is a warm-up.
    run(&mut memory);
    let (threads, sum) = results(&memory);
    let (start, mut runs) = (now(), 0.0);
    while runs < 1.0 || now() - start < seconds {
        run(&mut memory);
        runs += 1.0;
    }
    let count = iterations.map_or(sum, |each| f64::from(each) * threads);
    println!("{}\t{:.4}\t{sum}", kernel.name, (now() - start) / runs / count * 1e9);
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(1.0);
    let points = SIDE * SIDE;
    let converged = kernels::mandelbrot("mandelbrot, converged", 0.0, [-0.1, 0.1], points);
    measure(&converged, seconds, None);
    let divergent = kernels::mandelbrot("mandelbrot, divergent", 3.0 / 256.0, [-2.2, -1.5], points);
    measure(&divergent, seconds, None);
    measure(&kernels::saxpy("saxpy, 8 MiB", 1 << 20, 1), seconds, Some(1));
    measure(&kernels::hash(points), seconds, Some(ROUNDS));
}
