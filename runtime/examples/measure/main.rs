//! Measures the functions of one number, or of two halves, over all their inputs and prints the table `measured.tsv`.
//!
//! ```text
//! cargo run --release -p isaforge-runtime --example measure > runtime/src/valhall/measure/measured.tsv
//! cargo run --release -p isaforge-runtime --example measure -- FRCP FRSQ          only these
//! cargo run --release -p isaforge-runtime --example measure -- --stride 65521     a quick look
//! ```
//!
//! All of it takes about half an hour of processor time; all cores take part.

mod functions;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use functions::{Function, functions};
use isaforge_runtime::valhall::measure::Worst;

/// Inputs that a thread takes at a time.
const CHUNK: u64 = 1 << 22;

fn main() {
    let mut names = Vec::new();
    let mut stride = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--stride" {
            let Some(number) = arguments.next().and_then(|number| number.parse().ok()).filter(|&n| n > 0) else {
                eprintln!("--stride needs a number from 1");
                std::process::exit(2);
            };
            stride = number;
        } else {
            names.push(argument);
        }
    }
    println!("# instruction\tinputs\tworst distance in ulp\tat\tresults of the wrong kind");
    for function in functions() {
        let name = format!("{function:?}");
        if names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())) {
            let worst = measure(&function, stride);
            let inputs = function.inputs.div_ceil(stride as u64);
            println!("{name}\t{inputs}\t{:.6}\t{:08x}\t{}", worst.ulps, worst.at, worst.wrong);
        }
    }
}

fn measure(function: &Function, stride: usize) -> Worst {
    let next = AtomicU64::new(0);
    // So that every chunk begins at a multiple of the stride.
    let chunk = CHUNK.next_multiple_of(stride as u64);
    let work = || {
        let mut worst = Worst::default();
        loop {
            let first = next.fetch_add(chunk, Ordering::Relaxed);
            if first >= function.inputs {
                return worst;
            }
            worst = worst.with(function.worst(first..(first + chunk).min(function.inputs), stride));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        // A thread that panicked has said so; its results are missing and the table must not look whole.
        let all = all.into_iter().map(|thread| thread.join().unwrap_or(Worst { wrong: u64::MAX, ..Worst::default() }));
        all.fold(Worst::default(), |worst, other| Worst {
            wrong: worst.wrong.saturating_add(other.wrong),
            ..worst.with(Worst { wrong: 0, ..other })
        })
    })
}
