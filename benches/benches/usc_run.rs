//! The USC: operations per second, summed over instances, in a loop of multiply-adds and in a loop of integer
//! operations, compared with the same loops for the host's vectors.
//!
//! The loops have sixteen chains, so that neither side waits for results. A task has 32 instances; launches of one and
//! of eight tasks are measured. The host's version keeps everything in vector registers, at the best level available to
//! the runtime.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isaforge_benches::chains;
use isaforge_benches::usc::{self, CHAINS, ROUNDS, TIMES, integers, multiply_adds};
use isaforge_runtime::Level;
use isaforge_runtime::usc::LANES;

fn run(c: &mut Criterion) {
    let operations = u64::from(ROUNDS) * (CHAINS * TIMES * LANES) as u64;
    let mut group = c.benchmark_group("usc run");
    group.sample_size(20);
    for (name, program) in [("multiply-adds", multiply_adds()), ("integers", integers())] {
        let levels = Level::available().into_iter().map(|level| (level, 8));
        for (level, count) in levels.chain([(Level::best(), 1)]) {
            group.throughput(Throughput::Elements(operations * count as u64));
            let tasks = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
            group.bench_function(format!("{name}, {tasks}, {}", level.name()), |b| {
                let (mut machine, tasks) = (usc::machine(level), usc::tasks(count));
                b.iter(|| machine.run(&program, &mut tasks.clone(), u64::MAX).expect("it ends"));
            });
        }
    }
    group.throughput(Throughput::Elements(operations));
    group.bench_function("multiply-adds, by hand", |b| {
        b.iter(|| chains::multiply_adds(black_box([[1.5; LANES]; CHAINS]), 0.5, 1.0, ROUNDS * TIMES as u32));
    });
    group.bench_function("integers, by hand", |b| {
        b.iter(|| chains::integers(black_box([[7; LANES]; CHAINS]), 5, 9, 3, ROUNDS * TIMES as u32 / 2));
    });
    group.finish();
}

criterion_group!(benches, run);
criterion_main!(benches);
