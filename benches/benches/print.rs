//! Decoding and printing, one instruction at a time into a reused buffer.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isaforge_benches::{code, work};

fn print(c: &mut Criterion) {
    let (words, a64, x86) = (code::valhall(), code::a64(), code::x86());
    let mut group = c.benchmark_group("decode and print");
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("isaforge valhall", |b| b.iter(|| work::valhall_print(&words)));
    group.throughput(Throughput::Elements(a64.len() as u64));
    group.bench_function("disarm64", |b| b.iter(|| work::a64_print(&a64)));
    if let Some(x86) = &x86 {
        group.throughput(Throughput::Elements(work::x86_count(x86)));
        group.bench_function("iced-x86 FastFormatter", |b| b.iter(|| work::x86_print(x86)));
    }
    group.finish();
}

criterion_group!(benches, print);
criterion_main!(benches);
