//! Assembling whole programs: isaforge in this process, GNU as as a separate process.

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
    let x86 = code::x86().ok_or("this is not an x86-64 ELF file".to_owned());
    let assemblers = [
        ("GNU as x86-64", x86.and_then(|code| GnuAs::x86(&code, 200_000))),
        ("GNU as A64", GnuAs::a64(&code::a64(), 200_000)),
    ];
    for (name, gnu) in assemblers {
        match gnu {
            Ok(gnu) => {
                group.throughput(Throughput::Elements(gnu.lines));
                group.bench_function(name, |b| b.iter(|| gnu.assemble()));
            }
            Err(reason) => println!("{name} is left out: {reason}"),
        }
    }
    group.finish();
}

criterion_group!(benches, assemble);
criterion_main!(benches);
