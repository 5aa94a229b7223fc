//! Groups of the USC, written by compilers: decoded, encoded, printed and assembled. Each iteration processes all
//! groups.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isaforge_core::group::{Form, assemble, decode, encode, print, text::SEPARATOR};
use isaforge_core::text::Line;
use isaforge_usc::{Group, ISA, Parts};

/// The groups of the corpus, each in a buffer as long as the longest group, as within a program.
fn groups() -> Vec<[u8; 32]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/data/usc");
    let mut all = Vec::new();
    for name in ["img", "pco-shader", "pco-random", "pco-multiphase"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}-groups.txt"))).expect("the corpus is there");
        for line in text.lines() {
            let digits: Vec<u8> = line.bytes().filter_map(|b| char::from(b).to_digit(16)).map(|d| d as u8).collect();
            let mut group = [0; 32];
            group.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
            all.push(group);
        }
    }
    all
}

fn bench(c: &mut Criterion) {
    let bytes = groups();
    let decoded: Vec<Group> = bytes.iter().map(|b| isaforge_usc::decode(b).expect("a group")).collect();
    let raw: Vec<_> = bytes.iter().map(|b| decode(ISA, b).expect("a group")).collect();
    let values: Vec<_> = raw.iter().map(|group| group.values(ISA)).collect();
    let parts: Vec<Parts> = decoded.iter().map(Group::parts).collect();
    let texts: Vec<String> = decoded.iter().map(ToString::to_string).collect();
    let mut group = c.benchmark_group("usc");
    group.throughput(Throughput::Elements(bytes.len() as u64)).sample_size(20);
    group.bench_function("decode", |b| {
        b.iter(|| bytes.iter().map(|b| decode(ISA, black_box(b)).map_or(0, |g| g.len())).sum::<usize>());
    });
    group.bench_function("encode", |b| {
        b.iter(|| {
            values.iter().map(|v| encode(ISA, black_box(v), &Form::CANONICAL).map_or(0, |g| g.len())).sum::<usize>()
        });
    });
    group.bench_function("parts and back", |b| {
        b.iter(|| parts.iter().map(|p| black_box(p).encode().map_or(0, |g| g.as_bytes().len())).sum::<usize>());
    });
    group.bench_function("print", |b| {
        let mut line = Line::new();
        b.iter(|| {
            let print_one = |group| {
                line.clear();
                print(ISA, black_box(group), SEPARATOR, &mut line);
                line.as_bytes().len()
            };
            raw.iter().map(print_one).sum::<usize>()
        });
    });
    group.bench_function("assemble", |b| {
        b.iter(|| texts.iter().map(|t| usize::from(assemble(ISA, black_box(t)).is_ok())).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
