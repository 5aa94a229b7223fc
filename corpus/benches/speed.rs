//! Measures how fast questions are answered, compared with a plain loop and with a pipeline of text tools. Prints rows of
//! Markdown.
//!
//! ```sh
//! cargo bench --features cluster --bench speed                          # ten million words
//! cargo bench --features cluster --bench speed -- 100000000 3           # a hundred million, three rounds
//! ```
//!
//! The measurements take turns, and the best of all rounds counts. Single-threaded work is measured in CPU time, which
//! depends less on the load of the machine; parallel work in wall-clock time, which does.

use std::fmt;
use std::fs;
use std::io::{BufWriter, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{ArrayRef, AsArray, BinaryViewArray, RecordBatch, StringViewArray, UInt32Array};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use isaforge_arrow::{Column, Rows};
use isaforge_cli::input::Input;
use isaforge_core::print::Style;
use isaforge_corpus::lake::{Lake, Table};
use isaforge_corpus::session::{self, Options};
use isaforge_corpus::sets::{Known, Sets};
use isaforge_valhall as valhall;

type Failure = Box<dyn std::error::Error>;

/// The number of rows in a batch of an answer, as in DataFusion by default.
const BATCH: usize = 8192;

/// The number of words that are printed and sorted, which is slow.
const PRINTED: usize = 2_000_000;

const OPCODES: &str = "SELECT opcode, count(*) AS n FROM instructions GROUP BY opcode ORDER BY n DESC";
const HISTOGRAM: &str = "SELECT h['mnemonic'] AS mnemonic, sum(h['count']) AS n
                         FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs) GROUP BY 1 ORDER BY n DESC";
const CLAMPED: &str = "SELECT sum(isa_count(code, 'FMA.f32', 'clamp_0_1')) FROM programs";

/// A measured time.
#[derive(Clone, Copy)]
struct Time {
    wall: Duration,
    /// The CPU time of this process with all threads, and of child processes that have ended.
    cpu: Duration,
}

impl Time {
    fn min(self, other: Time) -> Time {
        Time { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

/// The CPU time so far, at a resolution of 10 ms.
fn cpu() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// A measurement; these are kept in table order.
struct Measured {
    name: String,
    words: usize,
    best: Time,
}

impl Measured {
    fn cpu_ns(&self) -> f64 {
        self.best.cpu.as_secs_f64() * 1e9 / self.words as f64
    }
}

/// All measurements.
#[derive(Default)]
struct Figures {
    rows: Vec<Measured>,
}

impl Figures {
    fn add(&mut self, name: &str, words: usize, time: Time) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.best = row.best.min(time),
            None => self.rows.push(Measured { name: name.to_owned(), words, best: time }),
        }
    }

    fn measure<T>(&mut self, name: &str, words: usize, of: impl FnOnce() -> T) -> T {
        let (started, before) = (Instant::now(), cpu());
        let value = of();
        self.add(name, words, Time { wall: started.elapsed(), cpu: cpu() - before });
        value
    }

    fn get(&self, name: &str) -> Option<&Measured> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | words | CPU ns/word | seconds |\n|---|---|---|---|")?;
        for row in &self.rows {
            let Measured { name, words, best } = row;
            writeln!(f, "| {name} | {words} | {:.1} | {:.2} |", row.cpu_ns(), best.wall.as_secs_f64())?;
        }
        Ok(())
    }
}

/// The shipped corpus.
fn corpus() -> Result<Vec<Vec<u8>>, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/valhall/shaders.tsv.gz");
    let text = String::from_utf8(Input::read(Some(&path))?.bytes)?;
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit('\t').next());
    let code = |line: &str| line.split(' ').map(|word| u64::from_str_radix(word, 16).map(u64::to_le_bytes)).collect();
    let programs: Vec<Vec<[u8; 8]>> = lines.map(code).collect::<Result<_, _>>()?;
    Ok(programs.into_iter().map(|words| words.concat()).collect())
}

/// A lake that repeats the corpus until it has this many words, in files like those of an import.
async fn lake(at: &Path, programs: &[Vec<u8>], words: usize) -> Result<Lake, Failure> {
    let lake = Lake::at(at.to_str().ok_or("paths are text")?)?;
    let set = Known::open(Path::new("valhall"), None)?;
    lake.add_set(&set).await?;
    let (mut left, mut next) = (words, programs.iter().cycle().enumerate());
    while left > 0 {
        let (mut size, mut part) = (0, Vec::new());
        while size < 32 << 20 && left > 0 {
            let Some((number, code)) = next.next() else { break };
            let code = &code[..code.len().min(left * 8)];
            (size, left) = (size + code.len(), left - code.len() / 8);
            part.push((number, code));
        }
        let texts = |text: &dyn Fn(usize) -> String| -> ArrayRef {
            Arc::new(part.iter().map(|(number, _)| Some(text(*number))).collect::<StringViewArray>())
        };
        let columns: Vec<ArrayRef> = vec![
            texts(&|number| format!("shader {number}")),
            texts(&|_| "corpus".to_owned()),
            texts(&|_| "shaders.tsv.gz".to_owned()),
            texts(&|_| "fragment".to_owned()),
            texts(&|_| "valhall".to_owned()),
            Arc::new(part.iter().map(|(_, code)| Some(code.len() as u32 / 8)).collect::<UInt32Array>()),
            texts(&|number| format!("{number:064x}")),
            Arc::new(part.iter().map(|(_, code)| Some(*code)).collect::<BinaryViewArray>()),
        ];
        lake.append(Table::Programs, &RecordBatch::try_new(Table::Programs.schema(), columns)?).await?;
    }
    Ok(lake)
}

/// The lower bound: a loop over words that counts their forms.
fn plain(code: &[u8], counts: &mut [u64; valhall::Opcode::COUNT]) {
    for word in code.as_chunks::<8>().0 {
        if let Ok(found) = valhall::decode(u64::from_le_bytes(*word)) {
            counts[found.opcode() as usize] += 1;
        }
    }
}

/// Builds columns for all programs, in batches.
fn columns(sets: &Sets, programs: &[Vec<u8>], times: usize, wanted: &[Column]) -> Result<usize, Failure> {
    let set = &sets.get("valhall").ok_or("it is a built-in set")?.set;
    let mut rows = Rows::new(set, wanted, None);
    let mut count = 0;
    for code in std::iter::repeat_n(programs, times).flatten() {
        let mut from = Some(0);
        while let Some(at) = from {
            from = rows.push("a program", "", code, at, BATCH);
            if rows.len() >= BATCH {
                count += std::hint::black_box(rows.finish()?).num_rows();
            }
        }
    }
    Ok(count + rows.finish()?.num_rows())
}

async fn context(lake: &Lake, partitions: usize) -> Result<SessionContext, Failure> {
    let context = session::context(&Options { partitions: Some(partitions), memory: None })?;
    session::register(&context, lake, None).await?;
    Ok(context)
}

/// Runs a query and passes every batch to `each`.
async fn ask(context: &SessionContext, sql: &str, mut each: impl FnMut(&RecordBatch)) -> Result<usize, Failure> {
    let mut rows = context.sql(sql).await?.execute_stream().await?;
    let mut count = 0;
    while let Some(batch) = rows.next().await.transpose()? {
        count += batch.num_rows();
        each(&batch);
    }
    Ok(count)
}

/// The usual approach without tables: a pipeline of text tools on the listing.
fn sorted(words: &[u64]) -> Result<(), Failure> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cut -f3 | cut -d' ' -f1 | sort | uniq -c | sort -rn"]).env("LC_ALL", "C");
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut out = BufWriter::new(child.stdin.take().ok_or("it has been piped")?);
    isaforge_cli::dis::table(valhall::ISA, words, Style::Customary, "", &mut out)?;
    out.flush()?;
    drop(out);
    match child.wait()?.success() {
        true => Ok(()),
        false => Err("the pipe failed".into()),
    }
}

/// Processes that are killed when this one ends.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_isaforge-corpus");

fn start(arguments: &[&str]) -> Result<Child, Failure> {
    Ok(Command::new(PROGRAM).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

/// A scheduler with this many single-core executors.
async fn cluster(executors: usize, lake: &Lake) -> Result<(Children, SessionContext), Failure> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let mut children = Children(vec![start(&["scheduler", "--bind", &address])?]);
    let started = Instant::now();
    let listens = || TcpStream::connect(&address).is_ok();
    while !listens() {
        if started.elapsed() > Duration::from_secs(60) {
            return Err("the scheduler does not listen".into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for _ in 0..executors {
        children.0.push(start(&["executor", "--scheduler", &address, "--cores", "1"])?);
    }
    let options = Options { partitions: Some(2), memory: None };
    let context = isaforge_corpus::cluster::context(&address, &options).await?;
    session::register(&context, lake, None).await?;
    // Waits until all executors have work, and have read the files once.
    tokio::time::sleep(Duration::from_secs(3)).await;
    while ask(&context, CLAMPED, |_| ()).await.is_err() {
        if started.elapsed() > Duration::from_secs(120) {
            return Err("nobody answers".into());
        }
    }
    Ok((children, context))
}

/// The peak memory in MiB of a query in its own process.
fn peak(lake: &Path, sql: &str) -> Result<f64, Failure> {
    let mut child = start(&["query", lake.to_str().ok_or("paths are text")?, sql, "--partitions", "2"])?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0f64;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        peak = peak.max(kib.unwrap_or(0.0) / 1024.0);
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(peak)
}

async fn run(words: usize, rounds: usize) -> Result<(), Failure> {
    let programs = corpus()?;
    let length = programs.iter().map(|code| code.len() / 8).sum::<usize>();
    let times = words.div_ceil(length).max(1);
    let in_memory = times * length;
    let folder = tempfile::tempdir()?;
    let paths: [PathBuf; 2] = ["large", "small"].map(|name| folder.path().join(name));
    let large = lake(&paths[0], &programs, words).await?;
    lake(&paths[1], &programs, words / 10).await?;
    let sets = large.sets().await?;
    let contexts = [context(&large, 1).await?, context(&large, 2).await?];
    let all: Vec<u64> = programs.concat().as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let printed: Vec<u64> = all.iter().copied().cycle().take(PRINTED.min(words)).collect();
    let mut table = Figures::default();
    for _ in 0..rounds {
        let mut counts = [0; valhall::Opcode::COUNT];
        table.measure("plain loop: decode, count", in_memory, || {
            for code in std::iter::repeat_n(&programs, times).flatten() {
                plain(code, &mut counts);
            }
        });
        let memory: [(&str, &[Column]); 5] = [
            ("column opcode", &[Column::Opcode]),
            ("column mnemonic", &[Column::Mnemonic]),
            ("column dst", &[Column::Dst]),
            ("column src", &[Column::Src]),
            ("columns mnemonic, dst, src", &[Column::Mnemonic, Column::Dst, Column::Src]),
        ];
        for (name, wanted) in memory {
            let found = table.measure(name, in_memory, || columns(&sets, &programs, times, wanted))?;
            assert_eq!(found, in_memory, "{name}");
        }
        let mut sum = 0u64;
        for (name, write) in [("crate: decode, reads", false), ("crate: decode, writes", true)] {
            table.measure(name, times * all.len(), || {
                for word in std::iter::repeat_n(&all, times).flatten() {
                    let Ok(found) = valhall::decode(*word) else { continue };
                    match write {
                        false => found.reads().for_each(|run| sum += u64::from(run.first * run.count)),
                        true => found.writes().for_each(|run| sum += u64::from(run.first * run.count)),
                    }
                }
            });
        }
        std::hint::black_box(sum);
        table.measure("dis, cut, sort, uniq -c", printed.len(), || sorted(&printed))?;
        let mut counts = [0; valhall::Opcode::COUNT];
        let (started, before) = (Instant::now(), cpu());
        ask(&contexts[0], "SELECT code FROM programs", |batch| {
            batch.column(0).as_binary_view().iter().flatten().for_each(|code| plain(code, &mut counts));
        })
        .await?;
        table.add("Parquet: read, plain loop", words, Time { wall: started.elapsed(), cpu: cpu() - before });
        assert_eq!(counts.iter().sum::<u64>(), words as u64);
        let asked = [
            ("histogram by function", HISTOGRAM),
            ("FMA with clamp by function", CLAMPED),
            ("opcode column", "SELECT opcode FROM instructions"),
            ("opcodes by table", OPCODES),
        ];
        for (name, sql) in asked {
            for (partitions, context) in [(1, &contexts[0]), (2, &contexts[1])] {
                let (started, before) = (Instant::now(), cpu());
                ask(context, sql, |batch| drop(std::hint::black_box(batch.clone()))).await?;
                let time = Time { wall: started.elapsed(), cpu: cpu() - before };
                table.add(&format!("Parquet, {partitions}: {name}"), words, time);
            }
        }
    }
    for _ in 0..rounds {
        for executors in [1, 2] {
            let (_children, context) = cluster(executors, &large).await?;
            for (name, sql) in [("histogram by function", HISTOGRAM), ("opcodes by table", OPCODES)] {
                let started = Instant::now();
                ask(&context, sql, |_| ()).await?;
                let time = Time { wall: started.elapsed(), cpu: Duration::ZERO };
                table.add(&format!("executors, {executors}: {name}"), words, time);
            }
        }
    }
    println!("{table}");
    println!("| wanted | | found |\n|---|---|---|");
    let row = |what: &str, wanted: &str, found: Option<f64>| {
        println!("| {what} | {wanted} | {} |", found.map_or("not measured".to_owned(), |found| format!("{found:.2}")));
    };
    let cpu = |name: &str| table.get(name).map(Measured::cpu_ns);
    let wall = |name: &str| table.get(name).map(|row| row.best.wall.as_secs_f64());
    let of = |one: Option<f64>, other: Option<f64>| Some(one? / other?);
    row("opcode column, of a plain loop", "≥ 0.6", of(cpu("plain loop: decode, count"), cpu("column opcode")));
    for name in ["histogram by function", "opcode column"] {
        let found = of(cpu("Parquet: read, plain loop"), cpu(&format!("Parquet, 1: {name}")));
        row(&format!("{name} from Parquet, of reading and a plain loop"), "≥ 0.8", found);
    }
    for name in ["histogram by function", "opcodes by table"] {
        let found = of(cpu("dis, cut, sort, uniq -c"), cpu(&format!("Parquet, 1: {name}")));
        row(&format!("{name}, times as fast as sort and uniq"), "≥ 10", found);
    }
    for name in ["histogram by function", "opcodes by table"] {
        let found = of(wall(&format!("Parquet, 1: {name}")), wall(&format!("Parquet, 2: {name}")));
        row(&format!("{name}, times as fast by two partitions"), "≥ 1.7", found);
    }
    for name in ["histogram by function", "opcodes by table"] {
        let found = of(wall(&format!("executors, 1: {name}")), wall(&format!("executors, 2: {name}")));
        row(&format!("{name}, times as fast by two executors"), "≥ 1.7", found);
    }
    for name in ["column dst", "column src", "crate: decode, reads", "crate: decode, writes"] {
        row(&format!("{name}, ns a word"), "≤ 20", cpu(name));
    }
    for (name, path) in [("all words", &paths[0]), ("a tenth of them", &paths[1])] {
        row(&format!("peak of memory, MiB, {name}"), "≤ 1024", Some(peak(path, OPCODES)?));
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    // `cargo bench` adds arguments of its own, and `cargo test` runs this without numbers.
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (words, rounds) = (numbers.next().unwrap_or(10_000_000).max(1000), numbers.next().unwrap_or(3).max(1));
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(words, rounds))
}
