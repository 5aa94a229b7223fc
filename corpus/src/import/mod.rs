//! `isaforge-corpus import`: imports programs from files into a lake.
//!
//! ```text
//! PATH… ──walk──▶ files ──read──▶ programs ──hash──▶ those that are new ──▶ Parquet files of a bounded size
//! ```
//!
//! - [`walk`]: finds the files below paths
//! - [`read`]: reads a file: a program, a listing of many, compiler output, or a container

pub mod read;
pub mod walk;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::builder::{BinaryViewBuilder, StringViewBuilder, UInt32Builder};
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, StringViewArray};
use indicatif::{ProgressBar, ProgressStyle};
use isaforge_arrow::whole;
use isaforge_cli::output::thousands;
use sha2::{Digest, Sha256};

use self::read::Program;
use crate::error::Result;
use crate::lake::{Lake, Table, hex};
use crate::session;
use crate::sets::Known;

/// An import request.
#[derive(Debug)]
pub struct Request<'a> {
    /// The instruction set of the programs.
    pub known: &'a Known,
    /// Files and folders; `-` is standard input.
    pub paths: &'a [PathBuf],
    /// Whether to show progress.
    pub progress: bool,
    /// Whether the import should stop early.
    pub interrupted: fn() -> bool,
}

/// The results of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of files read.
    pub files: usize,
    /// The number of programs found.
    pub found: usize,
    /// The number of programs with new code.
    pub new: usize,
    /// The number of words in those, or of instructions if they are not words.
    pub words: u64,
    /// The number of programs without code.
    pub empty: usize,
    /// The number of invalid words, and of programs with any.
    pub invalid: (u64, usize),
    /// The number of programs that end with an incomplete word.
    pub odd: usize,
    /// Files that were not plain programs, and how they were read.
    pub noted: Vec<(String, String)>,
    /// Files without programs, and the reason.
    pub refused: Vec<(String, String)>,
    /// Files of which only a part is programs, and the reason.
    pub incomplete: Vec<(String, String)>,
    /// Whether it was interrupted before all files were read.
    pub interrupted: bool,
}

/// The approximate amount of code in a file of the lake, in bytes.
const PART: usize = 32 << 20;

/// The maximum number of programs in a file of the lake.
const MAX_PROGRAMS: usize = 1 << 16;

/// Imports programs into a lake. Code that the lake already contains is not stored again, but its origin is.
///
/// # Errors
/// When the lake cannot be read or written. Files that are not programs are listed in the summary.
pub async fn import(lake: &Lake, request: &Request<'_>) -> Result<Summary> {
    let isa = &request.known.recipe.name;
    let Some(_lock) = lake.lock(request.interrupted).await? else {
        return Ok(Summary { interrupted: true, ..Summary::default() });
    };
    lake.add_set(request.known).await?;
    let mut seen = Seen::of(lake, isa).await?;
    let mut summary = Summary::default();
    let files = walk::files(request.paths, &mut summary.refused);
    let bar = if request.progress { ProgressBar::new(files.len() as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {msg}") {
        bar.set_style(style);
    }
    let mut part = Part::default();
    for file in &files {
        summary.interrupted |= (request.interrupted)();
        if summary.interrupted {
            break;
        }
        summary.files += 1;
        let mut programs = Vec::new();
        match read::file(&request.known.set, file, &mut programs) {
            Ok(note) => summary.noted.extend(note.map(|note| (file.name.clone(), note))),
            Err(reason) if programs.is_empty() => summary.refused.push((file.name.clone(), reason)),
            Err(reason) => summary.incomplete.push((file.name.clone(), reason)),
        }
        for program in programs {
            // What has been read is kept, so a long file need not be read to its end.
            summary.interrupted |= (request.interrupted)();
            if summary.interrupted {
                break;
            }
            summary.count(&request.known.set, &mut seen, &mut part, isa, program);
            if part.size >= PART || part.programs.len() >= MAX_PROGRAMS || part.origins.len() >= 4 * MAX_PROGRAMS {
                part.write(lake, isa).await?;
            }
        }
        let [found, new] = [summary.found, summary.new].map(|number| thousands(number as u64));
        bar.set_message(format!("{found} programs, {new} new"));
        bar.inc(1);
    }
    bar.finish_and_clear();
    part.write(lake, isa).await?;
    // A table without files would have no columns.
    if lake.files(Table::Programs.name(), ".parquet").await?.is_empty() {
        Part::default().put(lake, isa).await?;
    }
    Ok(summary)
}

impl Summary {
    fn count(&mut self, set: &isaforge_arrow::Set, seen: &mut Seen, part: &mut Part, isa: &str, program: Program) {
        self.found += 1;
        let digest: [u8; 32] = Sha256::digest(&program.code).into();
        let hash = hex(&digest);
        if !seen.origins.insert(origin([isa, &hash, &program.name, &program.source, &program.file, &program.stage])) {
            return;
        }
        if seen.programs.insert(digest) {
            let words = whole::length(set, &program.code);
            let invalid = whole::invalid(set, &program.code);
            self.new += 1;
            self.words += words as u64;
            self.empty += usize::from(words == 0);
            self.odd += usize::from(!program.code.len().is_multiple_of(set.tables().unit()));
            self.invalid.0 += invalid as u64;
            self.invalid.1 += usize::from(invalid > 0);
            part.size += program.code.len();
            part.programs.push((program.clone(), u32::try_from(words).unwrap_or(u32::MAX), hash.clone()));
        }
        part.origins.push((Program { code: Vec::new(), ..program }, hash));
    }
}

/// The digest of a program's origin.
fn origin(texts: [&str; 6]) -> [u8; 16] {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
    }
    let digest: [u8; 32] = digest.finalize().into();
    std::array::from_fn(|index| digest[index])
}

/// What a lake already contains.
#[derive(Debug, Default)]
struct Seen {
    programs: HashSet<[u8; 32]>,
    origins: HashSet<[u8; 16]>,
}

impl Seen {
    async fn of(lake: &Lake, isa: &str) -> Result<Seen> {
        let mut seen = Seen::default();
        if lake.files(Table::Programs.name(), ".parquet").await?.is_empty() {
            return Ok(seen);
        }
        let context = session::context(&session::Options::default())?;
        session::register(&context, lake, None).await?;
        let quoted = isa.replace('\'', "''");
        let ask = async |sql: String| Ok::<_, crate::Error>(context.sql(&sql).await?.collect().await?);
        for batch in ask(format!("SELECT hash FROM programs WHERE isa = '{quoted}'")).await? {
            let hashes = batch.column(0).as_string_view().iter().flatten();
            seen.programs.extend(hashes.filter_map(digest_of));
        }
        if lake.files(Table::Origins.name(), ".parquet").await?.is_empty() {
            return Ok(seen);
        }
        let columns = "isa, hash, name, source, file, coalesce(stage, '')";
        for batch in ask(format!("SELECT {columns} FROM origins WHERE isa = '{quoted}'")).await? {
            let columns: Vec<&StringViewArray> = batch.columns().iter().map(|column| column.as_string_view()).collect();
            for row in 0..batch.num_rows() {
                seen.origins.insert(origin(std::array::from_fn(|index| columns[index].value(row))));
            }
        }
        Ok(seen)
    }
}

fn digest_of(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(digest)
}

/// Programs that are not in the lake yet.
#[derive(Debug, Default)]
struct Part {
    programs: Vec<(Program, u32, String)>,
    origins: Vec<(Program, String)>,
    size: usize,
}

impl Part {
    async fn write(&mut self, lake: &Lake, isa: &str) -> Result<()> {
        if self.programs.is_empty() && self.origins.is_empty() {
            return Ok(());
        }
        std::mem::take(self).put(lake, isa).await
    }

    async fn put(self, lake: &Lake, isa: &str) -> Result<()> {
        let text = |texts: &mut dyn Iterator<Item = &str>| {
            let mut builder = StringViewBuilder::new();
            texts.for_each(|text| builder.append_value(text));
            Arc::new(builder.finish()) as ArrayRef
        };
        let perhaps = |texts: &mut dyn Iterator<Item = &str>| {
            let mut builder = StringViewBuilder::new();
            texts.for_each(|text| builder.append_option(Some(text).filter(|text| !text.is_empty())));
            Arc::new(builder.finish()) as ArrayRef
        };
        // If all code is already known, only the file with its origins is written.
        if !self.programs.is_empty() || self.origins.is_empty() {
            let programs = || self.programs.iter().map(|(program, ..)| program);
            let (mut words, mut code) = (UInt32Builder::new(), BinaryViewBuilder::new());
            for (program, count, _) in &self.programs {
                words.append_value(*count);
                code.append_value(&program.code);
            }
            let columns: Vec<ArrayRef> = vec![
                text(&mut programs().map(|program| program.name.as_str())),
                text(&mut programs().map(|program| program.source.as_str())),
                text(&mut programs().map(|program| program.file.as_str())),
                perhaps(&mut programs().map(|program| program.stage.as_str())),
                text(&mut programs().map(|_| isa)),
                Arc::new(words.finish()),
                text(&mut self.programs.iter().map(|(.., hash)| hash.as_str())),
                Arc::new(code.finish()),
            ];
            lake.append(Table::Programs, &RecordBatch::try_new(Table::Programs.schema(), columns)?).await?;
        }
        let origins = || self.origins.iter().map(|(program, _)| program);
        let columns: Vec<ArrayRef> = vec![
            text(&mut origins().map(|program| program.name.as_str())),
            text(&mut origins().map(|program| program.source.as_str())),
            text(&mut origins().map(|program| program.file.as_str())),
            perhaps(&mut origins().map(|program| program.stage.as_str())),
            text(&mut origins().map(|_| isa)),
            text(&mut self.origins.iter().map(|(_, hash)| hash.as_str())),
        ];
        lake.append(Table::Origins, &RecordBatch::try_new(Table::Origins.schema(), columns)?).await
    }
}
