//! The USC: instances times operations a second in a loop of multiply-adds and in a loop of integer operations, beside the
//! same loops written for the host's vectors.
//!
//! The loops have sixteen chains, so that neither side waits for a result. A task has 32 instances; a launch of eight tasks
//! runs beside one of a single task. The host's version keeps everything in vector registers, at the best level that the
//! runtime would use.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isaforge_benches::chains;
use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Software, Task};

const ROUNDS: u32 = 2000;
/// Operations of a round, a chain after the other.
const CHAINS: usize = 16;
const TIMES: usize = 4;

fn program(body: &str) -> Program {
    let text = format!(
        "mov ft0, c0\nmov r20, ft0\n0 : (ignorepe)\n cndst 0, r21, c0, 1\nround:\n{body}\
         1 : umadd32 ft0, r20, c1, c1, _\n tstl.u32 ftt, p0, ft0, sh0\n mov r20, ft0\n2 : if(p0)\n br round\n3 : nop.end"
    );
    Program::load(&assemble_program(isaforge_usc::ISA, &text).expect("it is a program")).expect("it loads")
}

/// r0 to r15 each times r16 plus r17, two in a group.
fn multiply_adds() -> Program {
    let pair = |n: usize| {
        let m = n + 1;
        format!("1 : fmad ft0, r{n}, r16, r17\n fmad ft1, r{m}, r16, r17\n mov r{n}, ft0\n mov r{m}, ft1\n")
    };
    program(&(0..TIMES).flat_map(|_| (0..CHAINS).step_by(2)).map(pair).collect::<String>())
}

/// r0 to r15 each times r16 plus r17, then with r18 crossed out.
fn integers() -> Program {
    let one = |n: usize| {
        format!(
            "1 : umadd32 ft0, r{n}, r16, r17, _\n mov r{n}, ft0\n\
             1 : byp ft0, ft1, c0, c0\n byp ft2, r{n}\n byp ft3, c0\n xor ft4, _, ft2, _, r18\n mov r{n}, ft4\n"
        )
    };
    let text: String = (0..TIMES / 2).flat_map(|_| 0..CHAINS).map(one).collect();
    program(&text.replace("byp ft3, c0", "cbs ft3, ft2"))
}

fn usc(c: &mut Criterion) {
    let operations = u64::from(ROUNDS) * (CHAINS * TIMES * LANES) as u64;
    let mut group = c.benchmark_group("usc run");
    group.sample_size(20);
    for (name, program) in [("multiply-adds", multiply_adds()), ("integers", integers())] {
        let levels = Level::available().into_iter().map(|level| (level, 8));
        for (level, count) in levels.chain([(Level::best(), 1)]) {
            group.throughput(Throughput::Elements(operations * count as u64));
            let tasks = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
            group.bench_function(format!("{name}, {tasks}, {}", level.name()), |b| {
                let mut machine = Machine::new(Software::default()).at_level(level);
                machine.set("sh0".parse().expect("a register"), ROUNDS).expect("it can be set");
                let tasks = vec![Task::new(LANES).expect("32 instances"); count];
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

criterion_group!(benches, usc);
criterion_main!(benches);
