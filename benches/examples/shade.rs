//! The cost of a pixel, a vertex or a texel, for `benches/peers/shade.py`: prints one line for each program with its
//! name, ns of processor time, and the means of the channels of its results. The first argument is the number of
//! seconds for each program. With a second one the programs run on that number of threads, and the time is that of the
//! fastest run by the clock.

use std::num::NonZero;
use std::time::Instant;

use isaforge_benches::{processor_seconds as now, shading};
use isaforge_runtime::Execution;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(1.0);
    let threads: Option<NonZero<usize>> = std::env::args().nth(2).and_then(|argument| argument.parse().ok());
    for workload in shading::ALL {
        let mut shading = (workload.sized)(workload.side);
        // The first run is a warm-up.
        shading.run(Execution::best());
        let (start, mut runs, mut fastest) = (now(), 0.0, f64::INFINITY);
        while runs < 1.0 || now() - start < seconds {
            let before = Instant::now();
            match threads {
                Some(threads) => shading.run_parallel(threads),
                None => shading.run(Execution::best()),
            };
            fastest = before.elapsed().as_secs_f64().min(fastest);
            runs += 1.0;
        }
        let each = if threads.is_some() { fastest } else { (now() - start) / runs };
        let ns = each * 1e9 / f64::from(workload.side * workload.side);
        let means: Vec<String> = shading.means(&shading.results()).iter().map(|mean| format!("{mean:.6}")).collect();
        println!("{}\t{ns:.4}\t{}", workload.name, means.join(" "));
    }
}
