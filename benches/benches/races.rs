//! The cost of `isaforge run --races`: `cargo bench -p isaforge-benches --bench races` prints a table in Markdown; with
//! `-- NAME`, only the rows whose names contain NAME. Both contenders take turns; ratios are medians of the rounds'
//! ratios.

use std::time::{Duration, Instant};

use isaforge_benches::kernels::{self, Kernel};
use isaforge_benches::{median, scattered, seconds, shared};
use isaforge_debugger::races::Races;
use isaforge_runtime::valhall::fast;
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Deadline, Execution, Level};

/// Prints how long a kernel takes, and how many times as long with its races looked for; `has_races` says whether it
/// has any.
fn row(kernel: &Kernel, has_races: bool, budget: Duration) {
    let Kernel { name, launch, memory } = kernel;
    let machine = Watched::launch(launch.clone(), memory.clone(), Resources::default());
    let (mut times, mut ratios) = (vec![], vec![]);
    let start = Instant::now();
    while times.is_empty() || start.elapsed() < budget {
        // Both start with memory of their own.
        let time = seconds(|| {
            fast::run(launch, &mut memory.clone(), Level::best()).expect("kernels end");
        });
        let mut races = Races::default();
        let watched = seconds(|| races.find(&machine, Execution::best(), Deadline::NONE).expect("kernels end"));
        assert_eq!(races.count > 0, has_races, "{name}: {:?}", races.found);
        times.push(1e3 * time);
        ratios.push(watched / time);
    }
    println!("| {name} | {:.2} ms | {:.1} times |", median(times), median(ratios));
}

fn main() {
    // `cargo test --benches` also runs this, as a smoke test.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let budget = if measuring { Duration::from_secs(2) } else { Duration::ZERO };
    println!("| kernel | a run | with its races |\n|---|---|---|");
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let clean = [
        kernels::mandelbrot("mandelbrot, converged", 0.0, [-0.1, 0.1], 1 << 13),
        kernels::mandelbrot("mandelbrot, divergent", 3.0 / 256.0, [-2.2, -1.5], 1 << 13),
        kernels::hash(1 << 13),
        kernels::half_fma(1 << 13),
        kernels::saxpy("saxpy in cache, looping", 1 << 14, 16),
        kernels::saxpy("saxpy 8 MiB, looping", 1 << 20, 256),
        kernels::saxpy("saxpy 8 MiB, an element a thread", 1 << 20, 1),
        shared::matrix_product().kernel,
        shared::histogram(1 << 7).kernel,
        shared::reduction(1 << 7).kernel,
        shared::prefix_sum(1 << 7).kernel,
        shared::n_body(1 << 10).kernel,
        scattered::loads(1 << 13),
        scattered::stores(1 << 13),
        scattered::atomics(1 << 13),
        scattered::exchange(1 << 13),
    ];
    let racing =
        [scattered::racing_exchange(1 << 13), scattered::racing_sums(1 << 13), scattered::racing_results(1 << 13)];
    let wanted = |kernel: &&Kernel| only.as_ref().is_none_or(|only| kernel.name.contains(only.as_str()));
    for (kernels, have_races) in [(&clean[..], false), (&racing, true)] {
        kernels.iter().filter(wanted).for_each(|kernel| row(kernel, have_races, budget));
    }
}
