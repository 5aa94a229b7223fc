//! Single errors in the real specifications are found at their place.
//!
//! Thousands of mutants of the specifications in this repository, each with one error of a known kind, are compiled
//! with warnings as errors. A mutant is *found* if the primary mark of a message is on its line. If two sides of a
//! conflict cannot be told apart, both marks are primary, and one of them must be on the line. Secondary marks do not
//! count. A mutant with the same model as the original (a changed description) is not an error and does not count. For
//! some kinds a mutant may also be a specification of *another* instruction set, which no compiler can tell from an
//! error: those kinds give a reason, and their number is printed. For some kinds the line with the error cannot be
//! marked, since it is gone or plausible: such a mutant is *rejected* by a message on another line. All others are
//! *missed*.
//!
//! The streams in `examples/` are mutated as well. They have words from other tools: a legal mutant that reads or
//! writes one of these words differently is *noticed* by the test that compares them.
//!
//! `ISAFORGE_MUTANTS=all cargo test --release -p isaforge-compiler --test all mutations -- --nocapture` tests every
//! mutant; otherwise every kind is sampled with a fresh seed. `ISAFORGE_MUTANTS_OF=vpu` selects a specification, and
//! `ISAFORGE_MUTANTS_KIND=text` the kinds with this in their name. `ISAFORGE_MISSES=1` prints missed mutants, and
//! `ISAFORGE_MISSES=all` also those rejected elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, panic};

use isaforge_compiler::diagnostic::{Diagnostics, Style};
use isaforge_compiler::model::Isa;
use isaforge_compiler::source::Sources;
use isaforge_compiler::stream::lower::lower_exact;
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::sample::Random;
use isaforge_core::stream::Engine;
use isaforge_core::text::Line;

mod kinds;
mod texts;

use kinds::{KINDS, Kind, Mutant};

use crate::seed;

/// The number of mutants of a kind that are sampled for each specification.
const SAMPLE: usize = 7;
/// The percentage of errors that must be found.
const GOAL: f64 = 99.0;

/// A specification: its folder, and every file below it that it reads, by path relative to `specs/` or `examples/`.
struct Spec {
    name: &'static str,
    /// Words of other tools, in memory order.
    rows: &'static str,
    entry: String,
    files: BTreeMap<String, String>,
}

impl Spec {
    /// The files in its own folder. Errors in a base are found when the base itself is compiled.
    fn own_files(&self) -> impl Iterator<Item = (&String, &String)> {
        self.files.iter().filter(|(name, _)| name.starts_with(&format!("{}/", self.name)))
    }
}

/// Whether an environment variable is unset or a part of the name.
fn chosen(variable: &str, name: &str) -> bool {
    env::var(variable).map_or(true, |part| name.contains(&part))
}

fn specs() -> Vec<Spec> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the project is there");
    let mut specs = Vec::new();
    let examples = [
        ("riscv", include_str!("../data/riscv-binutils.tsv")),
        ("sm75", include_str!("../data/sm75.tsv")),
        ("g13", include_str!("../data/g13.tsv")),
    ];
    let built_in = ["valhall", "valhall-2021", "vpu", "usc"].map(|name| ("specs", name, ""));
    let all = built_in.into_iter().chain(examples.map(|(name, rows)| ("examples", name, rows)));
    for (folder, name, rows) in all {
        let root = project.join(folder);
        let entry = format!("{name}/isa.yaml");
        if !root.join(&entry).is_file() || !chosen("ISAFORGE_MUTANTS_OF", name) {
            continue;
        }
        let checked = match check_spec(&Settings::new(root.join(&entry))) {
            Ok(checked) => checked,
            Err(failure) => panic!("{failure}"),
        };
        let file = |path: &PathBuf| {
            let short = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
            Some((short, fs::read_to_string(path).ok()?))
        };
        specs.push(Spec { name, rows, entry, files: checked.files.iter().filter_map(file).collect() });
    }
    specs
}

/// The result of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A message marks the line.
    Found,
    /// As `Found`, but with warnings only.
    Warned,
    /// It is rejected, but no message marks the line.
    Elsewhere,
    /// It compiles to the same model.
    Same,
    /// It compiles to another model, which reads or writes a known word differently.
    Noticed,
    /// It compiles to another model.
    Different,
}

/// A folder with the files of a specification, one of which is changed at a time.
struct Bench {
    folder: tempfile::TempDir,
    entry: PathBuf,
    original: String,
    /// The results of known words in the original.
    observed: Vec<String>,
}

/// The results of a stream on the words of rows: their texts, and the bytes of the texts in `first` or else of its own
/// texts.
fn observed(isa: &Isa, rows: &str, first: Option<&[String]>) -> Vec<String> {
    let Some(stream) = isa.stream() else { return Vec::new() };
    let engine = Engine { stream: lower_exact(isa, stream), generation: 0 };
    let mut seen = Vec::new();
    for hex in rows.lines().filter_map(|row| row.split_once('\t')).map(|(hex, _)| hex) {
        let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal");
        let bytes: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
        let text = match engine.decode(&bytes) {
            Ok(decoded) => {
                let mut line = Line::new();
                engine.print(&decoded, &mut line);
                line.as_str().to_owned()
            }
            Err(error) => error.to_string(),
        };
        let read = first.map_or(&text, |first| &first[seen.len()]);
        let written = engine.parse(read).map(|parsed| (parsed.decoded.word, parsed.decoded.len));
        let written = written.map_or_else(|error| error.to_string(), |written| format!("{written:?}"));
        seen.extend([text, written]);
    }
    seen
}

impl Bench {
    fn new(spec: &Spec) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in &spec.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("files are in folders")).expect("the folder is writable");
            fs::write(path, text).expect("the folder is writable");
        }
        let entry = folder.path().join(&spec.entry);
        let mut bench = Bench { folder, entry, original: String::new(), observed: Vec::new() };
        bench.original = match check_spec(&bench.settings()) {
            Ok(checked) if checked.diagnostics.is_empty() => {
                bench.observed = observed(&checked.isa, spec.rows, None);
                meaning(&checked.isa)
            }
            Ok(checked) => panic!(
                "{} has warnings:\n{}",
                spec.name,
                checked.diagnostics.render(&checked.sources, Style::default())
            ),
            Err(failure) => panic!("{failure}"),
        };
        bench
    }

    fn settings(&self) -> Settings {
        let root = Some(self.folder.path().to_owned());
        Settings { root, ..Settings::new(&self.entry) }
    }

    /// Compiles a mutant, and returns its result and the messages.
    fn try_out(&self, spec: &Spec, mutant: &Mutant) -> (Fate, String) {
        let path = self.folder.path().join(&mutant.file);
        fs::write(&path, &mutant.text).expect("the folder is writable");
        let result = panic::catch_unwind(|| check_spec(&self.settings()));
        fs::write(&path, &spec.files[&mutant.file]).expect("the folder is writable");
        let result = result.unwrap_or_else(|_| panic!("{}: {} panics", mutant.file, mutant.what));
        let (isa, diagnostics, sources) = match result {
            Ok(checked) => (Some(checked.isa), checked.diagnostics, checked.sources),
            Err(failure) => (None, failure.diagnostics, failure.sources),
        };
        let said = diagnostics.render(&sources, Style { cap: 4, ..Style::default() });
        let fate = if points_at(mutant, &diagnostics, &sources) {
            if isa.is_some() { Fate::Warned } else { Fate::Found }
        } else {
            match isa {
                None => Fate::Elsewhere,
                Some(_) if !diagnostics.is_empty() => Fate::Elsewhere,
                Some(isa) if meaning(&isa) == self.original => Fate::Same,
                Some(isa) if observed(&isa, spec.rows, Some(&self.observed)) != self.observed => Fate::Noticed,
                Some(_) => Fate::Different,
            }
        };
        (fate, said)
    }
}

/// Whether a primary mark is on the line of a mutant: it begins there, or covers the line and few others.
fn points_at(mutant: &Mutant, diagnostics: &Diagnostics, sources: &Sources) -> bool {
    const MAX_LINES: usize = 60;
    let near = |line: usize| mutant.lines.contains(&line);
    diagnostics.iter().any(|found| {
        found.suspects().any(|span| {
            if !sources.path(span.file).ends_with(&mutant.file) {
                return false;
            }
            let first = sources.line_column(span).0;
            let last = sources.line_column(span.after()).0;
            near(first) || (last - first <= MAX_LINES && (first..=last).any(near))
        })
    })
}

/// A model as text, without source positions.
fn meaning(isa: &Isa) -> String {
    let text = format!("{isa:?}");
    let mut kept = String::with_capacity(text.len() / 2);
    let mut from = 0;
    // `Span { … }` contains no braces, and `source: "file:line"` no escaped quotes. Each is searched for once.
    let (mut spans, mut files) =
        (text.match_indices("Span { ").peekable(), text.match_indices("source: \"").peekable());
    loop {
        let span = spans.peek().map(|(at, _)| *at);
        let file = files.peek().map(|(at, _)| *at);
        let Some(at) = span.into_iter().chain(file).min() else { break };
        let end = if span == Some(at) {
            spans.next();
            text[at..].find('}')
        } else {
            files.next();
            text[at + 9..].find('"').map(|end| end + 9)
        };
        if at >= from {
            kept.push_str(&text[from..at]);
            from = at + end.map_or(text.len() - at, |end| end + 1);
        }
    }
    kept + &text[from..]
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<&'static str, usize>,
    misses: Vec<String>,
}

#[test]
fn mistakes_are_found_where_they_are() {
    let all = env::var("ISAFORGE_MUTANTS").is_ok_and(|value| value == "all");
    let sample = env::var("ISAFORGE_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(SAMPLE);
    let shows_rejected = env::var("ISAFORGE_MISSES").is_ok_and(|value| value == "all");
    let specs = specs();
    let mut random = Random(seed::seed(19));
    let mut work: Vec<(usize, &Kind, Mutant)> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        for kind in KINDS.iter().filter(|kind| chosen("ISAFORGE_MUTANTS_KIND", kind.name)) {
            let mut mutants: Vec<Mutant> =
                spec.own_files().flat_map(|(name, text)| (kind.mutants)(name, text)).collect();
            if !all && mutants.len() > sample {
                // Evenly spaced over the files, with a random start.
                let (step, first) = (mutants.len() as f64 / sample as f64, random.below(mutants.len() as u64) as usize);
                let place = |i: usize| (first + (i as f64 * step) as usize) % mutants.len();
                let chosen: BTreeSet<usize> = (0..sample).map(place).collect();
                let mut i = 0;
                mutants.retain(|_| (chosen.contains(&i), i += 1).0);
            }
            work.extend(mutants.into_iter().map(|mutant| (index, kind, mutant)));
        }
    }
    let next = AtomicUsize::new(0);
    let tallies: Mutex<BTreeMap<(&str, &str), Tally>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let benches: Vec<Bench> = specs.iter().map(Bench::new).collect();
                while let Some((index, kind, mutant)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let spec = &specs[*index];
                    let (fate, said) = benches[*index].try_out(spec, mutant);
                    let fate = match fate {
                        Fate::Found => "found",
                        Fate::Warned => "warned",
                        Fate::Same => "same",
                        Fate::Noticed => "noticed",
                        Fate::Different if kind.another.is_some() => "another",
                        Fate::Different => "missed",
                        Fate::Elsewhere if kind.elsewhere.is_some() => "rejected",
                        Fate::Elsewhere => "elsewhere",
                    };
                    let mut tallies = tallies.lock().expect("no test thread panics with the lock");
                    let tally = tallies.entry((kind.name, spec.name)).or_default();
                    *tally.counts.entry(fate).or_default() += 1;
                    if matches!(fate, "missed" | "elsewhere") || shows_rejected && fate == "rejected" {
                        tally
                            .misses
                            .push(format!("{fate}: {}:{:?}: {}\n{said}", mutant.file, mutant.lines, mutant.what));
                    }
                }
            });
        }
    });
    let tallies = tallies.into_inner().expect("no test thread panics with the lock");
    report(&tallies);
}

/// Prints the rates and compares them with the goal.
fn report(tallies: &BTreeMap<(&str, &str), Tally>) {
    let mut lines = vec![format!(
        "{:<34} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>6}  {:>7}",
        "kind of mistake", "tried", "same", "other", "error", "warn", "rejected", "miss", "at line"
    )];
    let (mut found, mut elsewhere, mut counted, mut tried) = (0, 0, 0, 0);
    for kind in KINDS {
        let of_kind = || tallies.iter().filter(|((name, _), _)| *name == kind.name);
        let sum = |fate: &str| of_kind().map(|(_, tally)| tally.counts.get(fate).copied().unwrap_or(0)).sum::<usize>();
        let total: usize = of_kind().flat_map(|(_, tally)| tally.counts.values()).sum();
        let (same, another, errors, warned) =
            (sum("same"), sum("another") + sum("noticed"), sum("found"), sum("warned"));
        let (rejected, misses) = (sum("rejected"), sum("missed") + sum("elsewhere"));
        let of = errors + warned + rejected + misses;
        found += errors + warned;
        elsewhere += rejected;
        counted += of;
        tried += total;
        let rate =
            if of == 0 { String::from("-") } else { format!("{:.1} %", 100.0 * (errors + warned) as f64 / of as f64) };
        lines.push(format!(
            "{:<34} {total:>6} {same:>6} {another:>6} {errors:>6} {warned:>6} {rejected:>8} {misses:>6}  {rate:>7}{}{}",
            kind.name,
            kind.another.filter(|_| sum("another") > 0).map_or_else(String::new, |why| format!("  (other: {why})")),
            kind.elsewhere.filter(|_| rejected > 0).map_or_else(String::new, |why| format!("  (rejected: {why})"))
        ));
        if env::var_os("ISAFORGE_MISSES").is_some() {
            lines.extend(of_kind().flat_map(|(_, tally)| {
                tally.misses.iter().map(|miss| format!("    {}", miss.replace('\n', "\n    ")))
            }));
        }
    }
    let percent = |part: usize| 100.0 * part as f64 / counted.max(1) as f64;
    lines.push(format!(
        "{tried} mutants, of which {counted} are mistakes: {found} have a primary mark on their line ({:.2} %), {elsewhere} are \
         rejected elsewhere, as their kinds say; with these, {:.2} % are found",
        percent(found),
        percent(found + elsewhere)
    ));
    println!("{}", lines.join("\n"));
    let some = ["ISAFORGE_MUTANTS_OF", "ISAFORGE_MUTANTS_KIND"].iter().any(|part| env::var_os(part).is_some());
    assert!(tried > 500 || some && tried > 0, "only {tried} mutants");
    assert!(percent(found + elsewhere) >= GOAL, "{}\nISAFORGE_MISSES=1 prints what was missed", lines.join("\n"));
}
