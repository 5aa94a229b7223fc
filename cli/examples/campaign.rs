//! Runs the functions of the fuzz targets on millions of random inputs:
//!
//! ```console
//! $ cargo run --release -p isaforge-cli --example campaign -- words 1000000000
//! $ ISAFORGE_SEED=42 cargo run --release -p isaforge-cli --example campaign -- programs 1 1234   # one of them again
//! ```
//!
//! The arguments are the kind of test, the number of runs, and the index of the first. Every index has its own random
//! bits, so that an index named in a panic can be replayed alone.

#[path = "../../fuzz/src/change.rs"]
mod change;
#[path = "../../fuzz/src/execution/mod.rs"]
mod execution;
#[path = "../../fuzz/src/launches.rs"]
mod launches;
#[path = "../../runtime/tests/seed/mod.rs"]
mod seed;
#[allow(dead_code, reason = "the fuzz targets take more at once")]
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use change::{DOCUMENTS, changed};
use isaforge_compiler::diagnostic::Style as Drawn;
use isaforge_compiler::{Settings, catalogue, check_spec};
use isaforge_core::print::Style;
use isaforge_core::sample::{Random, sample};
use isaforge_core::{Isa, group, program, stream};

/// The time limit for one specification.
const MAX_DURATION: Duration = Duration::from_secs(1);

/// A kind of test: its name, and a constructor of its test function, which returns the outcome for the summary.
type Kind = (&'static str, fn() -> Box<dyn FnMut(&mut Random) -> &'static str>);

const KINDS: [Kind; 6] = [
    ("words", || Box::new(words)),
    ("groups", || {
        let written = written();
        Box::new(move |random| groups(&written, random))
    }),
    ("texts", || Box::new(texts)),
    ("specifications", || {
        let mut specifications = Specifications::new();
        Box::new(move |random| specifications.one(random))
    }),
    ("programs", || {
        let engines = execution::Engines::new();
        Box::new(move |random| engines.agree(random))
    }),
    ("shared", || {
        Box::new(|random| if execution::shared::agree(random) { "programs that end" } else { "programs that fail" })
    }),
];

const SETS: [&Isa; 3] = [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA];

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.next() as u8).collect()
}

fn one_of<'a, T>(list: &'a [T], random: &mut Random) -> &'a T {
    &list[random.below(list.len() as u64) as usize]
}

/// A word: random, or a valid instruction with a few bits flipped.
fn words(random: &mut Random) -> &'static str {
    if random.below(16) == 0 {
        targets::streams(&bytes(random, 4));
        return "bytes of streams";
    }
    let isa = *one_of(&SETS, random);
    let (word, what) = match random.below(8) {
        0 => (sample(isa, random.below(isa.forms.len() as u64) as u16, random), "instructions"),
        1 => {
            let valid = sample(isa, random.below(isa.forms.len() as u64) as u16, random);
            (valid ^ 1 << random.below(isa.word_bits.into()), "instructions with a bit changed")
        }
        _ => (random.next(), "random bits"),
    };
    targets::word(isa, word & isaforge_core::bits::ones(u32::from(isa.word_bits)));
    what
}

/// Groups produced by Mesa's compiler.
fn written() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/data/usc");
    let files = ["pco-random-groups.txt", "pco-shader-groups.txt", "pco-multiphase-groups.txt"];
    let text: String = files.iter().map(|name| fs::read_to_string(folder.join(name)).unwrap_or_default()).collect();
    let byte = |line: &str, at: usize| line.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    let groups = text.lines().map(|line| (0..line.len() / 2).map_while(|at| byte(line, 2 * at)).collect::<Vec<u8>>());
    let groups: Vec<_> = groups.filter(|bytes| group::decode(isaforge_usc::ISA, bytes).is_ok()).collect();
    assert!(groups.len() > 1000, "{} groups", groups.len());
    groups
}

/// The bytes of a group: random, or a compiled group with a few bits flipped.
fn groups(written: &[Vec<u8>], random: &mut Random) -> &'static str {
    let mut data = one_of(written, random).clone();
    let (changes, what) = match random.below(8) {
        0 => (0, "groups that were written"),
        1 => {
            targets::group_bytes(&bytes(random, 16));
            return "random bytes";
        }
        2..5 => (1, "groups with a bit changed"),
        _ => (2 + random.below(6), "groups with bits changed"),
    };
    for _ in 0..changes {
        let at = random.below(8 * data.len() as u64);
        data[at as usize / 8] ^= 1 << (at % 8);
    }
    targets::group_bytes(&data);
    what
}

/// The text of a program, mutated.
fn texts(random: &mut Random) -> &'static str {
    let mut text = String::new();
    match random.below(5) {
        0 => {
            let data = bytes(random, 24);
            targets::assemble_groups(&changed(
                group::listing::disassemble(isaforge_usc::ISA, &data).as_bytes(),
                random,
            ));
            "texts of groups"
        }
        1 => {
            let engine = *one_of(targets::stream_engines(), random);
            stream::listing::disassemble(engine, &bytes(random, 12), &mut text);
            targets::assemble_streams(&changed(text.as_bytes(), random));
            "texts of streams"
        }
        _ => {
            let isa = *one_of(&SETS, random);
            let one = |random: &mut Random| sample(isa, random.below(isa.forms.len() as u64) as u16, random);
            let words: Vec<u64> = (0..1 + random.below(3)).map(|_| one(random)).collect();
            program::disassemble(isa, &words, Style::Customary, &mut text).expect("a text takes everything");
            targets::assemble(&changed(text.as_bytes(), random));
            "texts of words"
        }
    }
}

/// Specifications of which one file is mutated.
struct Specifications {
    yaml: Vec<&'static str>,
    xml: Vec<&'static str>,
    /// Their files, the entry first, by name.
    sets: Vec<(&'static str, Vec<(PathBuf, String)>)>,
    slowest: BTreeMap<&'static str, Duration>,
}

impl Specifications {
    fn new() -> Self {
        let pages = |language: &str| {
            let files = catalogue::all().flat_map(|page| page.wrong.into_iter().chain(page.right));
            files.filter(|file| file.language == language).map(|file| file.text).collect()
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folders =
            ["specs/usc", "specs/valhall", "specs/valhall-2021", "specs/vpu", "examples/riscv", "examples/lanes"];
        let set = |name: &'static str| {
            let mut files = Vec::new();
            collect(&root.join(name), Path::new(""), &mut files);
            assert!(!files.is_empty(), "{name} has no files");
            files.sort_by_key(|(path, _)| *path != Path::new("isa.yaml"));
            (name, files)
        };
        Specifications {
            yaml: pages("yaml"),
            xml: pages("xml"),
            sets: folders.map(set).into(),
            slowest: BTreeMap::new(),
        }
    }

    fn one(&mut self, random: &mut Random) -> &'static str {
        let started = processor_time();
        let what = match random.below(8) {
            0..3 => {
                targets::spec(&changed(one_of(&self.yaml, random).as_bytes(), random));
                "pages in YAML"
            }
            3 => {
                targets::xml(&changed(one_of(&self.xml, random).as_bytes(), random));
                "pages in XML"
            }
            4 => {
                let number = random.below(DOCUMENTS.len() as u64) as u8;
                let text = changed(DOCUMENTS[usize::from(number)].1.as_bytes(), random);
                targets::reader(&[&[number], text.as_slice()].concat());
                "documents of others"
            }
            5 => {
                launches::launch(&changed(one_of(&launches::LAUNCHES, random).as_bytes(), random));
                "launch files"
            }
            _ => {
                let (name, files) = one_of(&self.sets, random);
                whole(files, random);
                name
            }
        };
        let took = processor_time() - started;
        let slowest = self.slowest.entry(what).or_default();
        if took > *slowest {
            *slowest = took;
            println!("slowest of {what}: {took:.1?}");
        }
        assert!(took < MAX_DURATION, "{what}: {took:?}");
        what
    }
}

/// The files of a specification.
fn collect(folder: &Path, inner: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder.join(inner)).into_iter().flatten().flatten() {
        let path = inner.join(entry.file_name());
        if entry.path().is_dir() {
            collect(folder, &path, into);
        } else if path.extension().is_some_and(|found| found == "yaml" || found == "xml") {
            into.push((path.clone(), fs::read_to_string(folder.join(&path)).unwrap_or_default()));
        }
    }
}

/// Checks a specification with one mutated file: either it is valid, or every error has a location.
fn whole(files: &[(PathBuf, String)], random: &mut Random) {
    let folder = tempfile::tempdir().expect("there is room for files");
    let which = random.below(files.len() as u64) as usize;
    for (number, (path, text)) in files.iter().enumerate() {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("there is room for files");
        let text = if number == which { changed(text.as_bytes(), random) } else { text.as_bytes().to_vec() };
        fs::write(path, text).expect("there is room for files");
    }
    let root = folder.path().to_owned();
    if let Err(failure) = check_spec(&Settings { root: Some(root.clone()), ..Settings::new(root.join("isa.yaml")) }) {
        let drawn = failure.render(Drawn { cap: 5, ..Drawn::default() });
        assert!(failure.diagnostics.has_errors() && !drawn.is_empty());
        assert!(failure.diagnostics.iter().all(|found| found.primary.is_some()), "a mistake without a place:\n{drawn}");
    }
}

/// The CPU time of this thread, or the wall-clock time where that is not available.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split(' ').next().and_then(|number| number.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => text.parse().unwrap_or_else(|_| {
            eprintln!("`{text}` is not a number");
            std::process::exit(2)
        }),
        None => default,
    };
    let found = KINDS.iter().find(|(name, _)| arguments.first().is_some_and(|given| given == name));
    let Some((name, make)) = found else {
        eprintln!("usage: campaign {} COUNT [FIRST]", KINDS.map(|(name, _)| name).join("|"));
        std::process::exit(2);
    };
    let (count, first) = (number(1, 1000), number(2, 0));
    let base = seed::seed(1000);
    let (started, mut told) = (Instant::now(), Instant::now());
    let mut done: BTreeMap<&str, u64> = BTreeMap::new();
    let mut one = make();
    for number in first..first + count {
        let mut random = Random(base ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one(&mut random)));
        match tried {
            Ok(what) => *done.entry(what).or_default() += 1,
            Err(_) => {
                println!("FOUND by number {number} of {name}: campaign {name} 1 {number}");
                *done.entry("found").or_default() += 1;
            }
        }
        if number % 64 == 0 && told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            println!("{name}: {} in {:.0?}", number - first + 1, started.elapsed());
        }
    }
    println!("{name}: {count} in {:.1?}: {done:?}", started.elapsed());
    std::process::exit(i32::from(done.contains_key("found")));
}
