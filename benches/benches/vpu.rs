//! The VPU: thread instructions per second, to completion, on the triangles of `examples/vpu`.
//!
//! Building a machine and filling its memory is not timed. A step is an instruction of a group of four threads and
//! counts as four, as it does for the plain interpreter, which executes the threads one at a time.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use isaforge_benches::naive::Naive;
use isaforge_benches::vpu::{THREADS, machine, rasteriser};

fn run(c: &mut Criterion) {
    let (scene, words) = rasteriser();
    let ready = |cores: usize| machine(&scene, &words, cores).expect("the machine takes it");
    let plain = Naive::run(&scene, &words, u64::MAX).expect("it ends");
    let mut one = ready(1);
    assert_eq!(one.run().expect("it ends").steps, plain.steps, "both do the same work");
    assert!(one.tiles(0).expect("core 0 exists")[0].data == plain.tiles[0], "both draw the same");
    assert_eq!(ready(2).run_parallel().expect("it ends").steps, plain.steps, "two cores do the same work");

    let mut group = c.benchmark_group("vpu rasteriser");
    group.throughput(Throughput::Elements(THREADS * plain.steps)).sample_size(20);
    group.bench_function("one core", |b| {
        b.iter_batched_ref(|| ready(1), |machine| machine.run(), BatchSize::PerIteration);
    });
    group.bench_function("one core, cycle by cycle", |b| {
        b.iter_batched_ref(|| ready(1), |machine| machine.run_cycles(), BatchSize::PerIteration);
    });
    group.bench_function("two cores, in parallel", |b| {
        b.iter_batched_ref(|| ready(2), |machine| machine.run_parallel(), BatchSize::PerIteration);
    });
    // The plain interpreter copies the scene each time, which takes little time compared with the run.
    group.bench_function("plain interpreter", |b| b.iter(|| Naive::run(&scene, &words, u64::MAX)));
    group.finish();
}

criterion_group!(benches, run);
criterion_main!(benches);
