//! Compiling the Valhall specification to the source of its crate, stage by stage, and proving that no two of a
//! thousand instructions match the same word.

use criterion::{Criterion, criterion_group, criterion_main};
use isaforge_benches::work;

fn compile(c: &mut Criterion) {
    let settings = work::specification();
    let checked = work::check(&settings);
    let compiled = work::compile(&settings);
    let mut group = c.benchmark_group("compile valhall");
    group.sample_size(20);
    group.bench_function("read and check", |b| b.iter(|| work::check(&settings)));
    group.bench_function("lower", |b| b.iter(|| isaforge_compiler::lower::lower(&checked.isa)));
    // Dropping tokens is part of using them, not of making them.
    group.bench_function("emit tokens", |b| {
        b.iter_with_large_drop(|| isaforge_compiler::backend::rust::emit(&compiled.lowered, &settings.options))
    });
    group.bench_function("specification to tokens", |b| b.iter_with_large_drop(|| work::compile(&settings)));
    group.bench_function("tokens to source", |b| b.iter(|| compiled.source(Some("valhall"))));
    group.finish();
}

fn ambiguity(c: &mut Criterion) {
    use isaforge_compiler::check::ambiguity;
    use isaforge_compiler::diagnostic::Diagnostics;

    let isa = work::thousand_instructions();
    let check = || {
        let mut found = Diagnostics::new();
        ambiguity::check(&isa, &mut found);
        found.error_count()
    };
    assert_eq!((isa.forms.len(), check()), (1000, 1), "all but the last are apart");
    c.bench_function("ambiguity of 1,000 instructions", |b| b.iter(check));
}

criterion_group!(benches, compile, ambiguity);
criterion_main!(benches);
