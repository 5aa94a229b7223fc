//! isaforge and its peers, as a table in Markdown: `cargo bench -p isaforge-benches --bench peers`, in about a minute.
//!
//! Contenders of a row take turns, so that a busy machine slows all of them; the ratio is the median of the rounds' ratios.

use std::hint::black_box;
use std::time::{Duration, Instant};

use isaforge_benches::assembler::GnuAs;
use isaforge_benches::code::{self, X86};
use isaforge_benches::{median, work};

/// A contender: the number of instructions of one run, and the function that runs it.
struct Contender<'a> {
    name: &'static str,
    count: u64,
    run: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Contender<'a> {
    fn new(name: &'static str, count: u64, run: impl FnMut() -> u64 + 'a) -> Self {
        Contender { name, count, run: Box::new(run) }
    }

    /// Runs once, and returns the nanoseconds per instruction.
    fn time(&mut self) -> f64 {
        let start = Instant::now();
        assert_ne!(black_box((self.run)()), 0, "{} did nothing", self.name);
        start.elapsed().as_nanos() as f64 / self.count as f64
    }
}

/// Prints a row for each contender after the first, which is isaforge.
fn compare(what: &str, budget: Duration, mut contenders: Vec<Contender<'_>>) {
    let mut times = vec![Vec::new(); contenders.len()];
    let start = Instant::now();
    // The first round is a warm-up.
    for round in 0.. {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let time = contender.time();
            if round > 0 {
                times.push(time);
            }
        }
        if round > 0 && (round >= 1000 || start.elapsed() > budget) {
            break;
        }
    }
    let ours = median(times[0].clone());
    for (contender, theirs) in contenders.iter().zip(&times).skip(1) {
        let ratio = median(times[0].iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect());
        let theirs = median(theirs.clone());
        println!("| {what} | {} | {ours:.2} ns | {theirs:.2} ns | {ratio:.3} | {:.1} |", contender.name, 1.0 / ratio);
    }
}

fn main() {
    // `cargo test --benches` also runs this, as a smoke test.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let budget = Duration::from_secs(if measuring { 10 } else { 0 });
    let (words, a64, x86) = (code::valhall(), code::a64(), code::x86());
    let text = work::valhall_text(&words);
    let x86 = x86.map(|code| (work::x86_count(&code), code));
    if x86.is_none() {
        println!("iced-x86 and GNU as are left out: this executable is not an x86-64 ELF file\n");
    }
    let found =
        |name: &str, gnu: Result<GnuAs, String>| gnu.inspect_err(|e| println!("{name} is left out: {e}\n")).ok();
    let gnu = x86.as_ref().and_then(|(_, code)| found("GNU as for x86-64", GnuAs::x86(code, 200_000)));
    let gnu_a64 = found("GNU as for A64", GnuAs::a64(&a64, 200_000));
    let count = words.len() as u64;
    println!(
        "{count} Valhall words of shaders, {} A64 words of SQLite, {} x86 instructions of this executable\n",
        a64.len(),
        x86.as_ref().map_or(0, |x| x.0)
    );
    println!("| per instruction | peer | isaforge | peer | ratio | times faster |");
    println!("|---|---|---|---|---|---|");

    let compare = |what, ours: Contender<'_>, iced: Option<Contender<'_>>, other: Option<Contender<'_>>| {
        compare(what, budget, [Some(ours), iced, other].into_iter().flatten().collect());
    };
    let iced =
        |run: fn(&X86) -> u64| x86.as_ref().map(|(count, code)| Contender::new("iced-x86", *count, move || run(code)));

    compare(
        "decode, validate, sum",
        Contender::new("isaforge", count, || work::valhall_sum(&words)),
        iced(work::x86_sum),
        Some(Contender::new("disarm64", a64.len() as u64, || work::a64_sum(&a64))),
    );
    let (mut list, mut x86_list, mut a64_list) = (Vec::new(), Vec::new(), Vec::new());
    compare(
        "decode, validate, into a vector",
        Contender::new("isaforge", count, || work::valhall_list(&words, &mut list)),
        x86.as_ref().map(|(count, code)| Contender::new("iced-x86", *count, || work::x86_list(code, &mut x86_list))),
        Some(Contender::new("disarm64", a64.len() as u64, || work::a64_list(&a64, &mut a64_list))),
    );
    compare(
        "decode and print",
        Contender::new("isaforge", count, || work::valhall_print(&words)),
        iced(work::x86_print),
        Some(Contender::new("disarm64", a64.len() as u64, || work::a64_print(&a64))),
    );
    compare(
        "assemble",
        Contender::new("isaforge", count, || work::valhall_assemble(&text)),
        gnu.as_ref().map(|gnu| Contender::new("GNU as, x86-64", gnu.lines, || gnu.assemble())),
        gnu_a64.as_ref().map(|gnu| Contender::new("GNU as, A64", gnu.lines, || gnu.assemble())),
    );
}
