//! The cost of a pixel, a vertex or a texel, for `benches/peers/shade.py`: prints one line for each program with its
//! name, ns of processor time, and the means of the channels of its results. The argument is the number of seconds for
//! each program.

use isaforge_benches::{processor_seconds as now, shading};
use isaforge_runtime::Execution;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(1.0);
    for workload in shading::ALL {
        let mut shading = (workload.sized)(workload.side);
        // The first run is a warm-up.
        shading.run(Execution::best());
        let (start, mut runs) = (now(), 0.0);
        while runs < 1.0 || now() - start < seconds {
            shading.run(Execution::best());
            runs += 1.0;
        }
        let ns = (now() - start) * 1e9 / runs / f64::from(workload.side * workload.side);
        let means: Vec<String> = shading.means(&shading.results()).iter().map(|mean| format!("{mean:.6}")).collect();
        println!("{}\t{ns:.4}\t{}", workload.name, means.join(" "));
    }
}
