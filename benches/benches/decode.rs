//! Decoding: isaforge's Valhall, iced-x86 and disarm64, each on real code, and sets that are decoded from a stream.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isaforge_benches::{code, streams, work};

fn decode(c: &mut Criterion) {
    let (words, a64, x86) = (code::valhall(), code::a64(), code::x86());
    let mut group = c.benchmark_group("decode into a sum");
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("isaforge valhall", |b| b.iter(|| work::valhall_sum(&words)));
    group.throughput(Throughput::Elements(a64.len() as u64));
    group.bench_function("disarm64", |b| b.iter(|| work::a64_sum(&a64)));
    if let Some(x86) = &x86 {
        group.throughput(Throughput::Elements(work::x86_count(x86)));
        group.bench_function("iced-x86", |b| b.iter(|| work::x86_sum(x86)));
    }
    group.finish();

    let mut group = c.benchmark_group("decode into a vector");
    group.throughput(Throughput::Elements(words.len() as u64));
    let mut list = Vec::new();
    group.bench_function("isaforge valhall", |b| b.iter(|| work::valhall_list(&words, &mut list)));
    group.throughput(Throughput::Elements(a64.len() as u64));
    let mut list = Vec::new();
    group.bench_function("disarm64", |b| b.iter(|| work::a64_list(&a64, &mut list)));
    if let Some(x86) = &x86 {
        group.throughput(Throughput::Elements(work::x86_count(x86)));
        let mut list = Vec::new();
        group.bench_function("iced-x86", |b| b.iter(|| work::x86_list(x86, &mut list)));
    }
    group.finish();
}

/// Decodes sets whose tables are compiled when the benchmark starts, as in the command.
fn decode_streams(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode a stream");
    for stream in streams::streams() {
        group.throughput(Throughput::Elements(stream.count));
        group.bench_function(stream.name, |b| b.iter(|| streams::sum(&stream)));
    }
    group.finish();
}

criterion_group!(benches, decode, decode_streams);
criterion_main!(benches);
