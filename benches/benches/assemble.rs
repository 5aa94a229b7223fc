//! Assembling whole programs: isaforge in this process, GNU as as a process of its own.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isaforge_benches::assembler::GnuAs;
use isaforge_benches::{code, work};

fn assemble(c: &mut Criterion) {
    let words = code::valhall();
    let text = work::valhall_text(&words);
    let mut group = c.benchmark_group("assemble");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("isaforge valhall", |b| b.iter(|| work::valhall_assemble(&text)));
    match code::x86().ok_or("this is not an x86-64 ELF file".to_owned()).and_then(|code| GnuAs::new(&code, 200_000)) {
        Ok(gnu) => {
            group.throughput(Throughput::Elements(gnu.lines));
            group.bench_function("GNU as x86-64", |b| b.iter(|| gnu.assemble()));
        }
        Err(reason) => println!("GNU as is left out: {reason}"),
    }
    group.finish();
}

criterion_group!(benches, assemble);
criterion_main!(benches);
