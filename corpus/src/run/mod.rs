//! `isaforge-corpus run`: executes the programs of a lake on the same inputs in parallel, and stores what they compute.
//!
//! - [`inputs`]: a launch file without a program
//! - [`machine`]: runs one program to its end

pub mod inputs;
pub mod machine;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use datafusion::arrow::array::builder::{BinaryViewBuilder, StringViewBuilder, UInt64Builder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use indicatif::ProgressBar;
use isaforge_runtime::Deadline;
use sha2::{Digest, Sha256};

use self::inputs::Inputs;
use crate::error::Result;
use crate::lake::{Lake, Table, hex};
use crate::session;
use crate::sets::Sets;

/// A request to run programs.
#[derive(Debug)]
pub struct Request<'a> {
    /// The inputs of all programs.
    pub inputs: &'a Inputs,
    /// The label of the results, to distinguish them from those of another version.
    pub label: &'a str,
    /// How many programs run in parallel.
    pub jobs: usize,
    /// The time limit of each program.
    pub time_limit: Duration,
    /// Whether to show progress.
    pub progress: bool,
    /// Whether the run should stop early.
    pub interrupted: fn() -> bool,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of programs that ended normally.
    pub ran: usize,
    /// The number of programs that failed, now or before, or were not run at all.
    pub failed: usize,
    /// The number of programs with existing results.
    pub known: usize,
    /// The number of programs that reached the time limit. They have no result, since it depends on the machine.
    pub late: usize,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A program to run.
#[derive(Clone, Debug)]
struct Job {
    name: String,
    isa: String,
    hash: String,
    stage: String,
    code: Vec<u8>,
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// The number of instructions executed by all threads.
    pub instructions: u64,
    /// The final memory, registers, or colour.
    pub result: Vec<u8>,
}

/// How many programs have their results written at once.
const PART: usize = 1024;

/// Runs all programs of a lake that have no results with this label for these inputs.
///
/// # Errors
/// When the lake cannot be read or written.
pub async fn run(lake: &Lake, request: &Request<'_>) -> Result<Summary> {
    let Some(_lock) = lake.lock(request.interrupted).await? else {
        return Ok(Summary { interrupted: true, ..Summary::default() });
    };
    let context = session::context(&session::Options::default())?;
    let sets = session::register(&context, lake, None).await?;
    let known = if lake.files(Table::Results.name(), ".parquet").await?.is_empty() {
        HashMap::new()
    } else {
        let quoted = |text: &str| text.replace('\'', "''");
        let (inputs, label) = (&request.inputs.hash, quoted(request.label));
        let sql = format!("SELECT isa, hash, error FROM results WHERE inputs_hash = '{inputs}' AND label = '{label}'");
        let batches = context.sql(&sql).await?.collect().await?;
        let entry =
            |batch: &RecordBatch, row| ((text(batch, 0, row), text(batch, 1, row)), batch.column(2).is_valid(row));
        batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| entry(batch, row))).collect()
    };
    let mut summary = Summary::default();
    let total = context.table("programs").await?.count().await?;
    let bar = if request.progress { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
    let sql = "SELECT name, isa, hash, coalesce(stage, ''), code FROM programs ORDER BY isa, name, hash";
    let mut programs = context.sql(sql).await?.execute_stream().await?;
    let mut jobs = Vec::new();
    while let Some(batch) = futures::StreamExt::next(&mut programs).await.transpose()? {
        for row in 0..batch.num_rows() {
            let [name, isa, hash, stage] = [0, 1, 2, 3].map(|column| text(&batch, column, row));
            if let Some(failed) = known.get(&(isa.clone(), hash.clone())) {
                summary.known += 1;
                summary.failed += usize::from(*failed);
                bar.inc(1);
                continue;
            }
            jobs.push(Job { name, isa, hash, stage, code: batch.column(4).as_binary_view().value(row).to_vec() });
        }
        while jobs.len() >= PART {
            let rest = jobs.split_off(PART);
            part(lake, request, &sets, std::mem::replace(&mut jobs, rest), &bar, &mut summary).await?;
        }
        if (request.interrupted)() {
            break;
        }
    }
    part(lake, request, &sets, jobs, &bar, &mut summary).await?;
    summary.interrupted = (request.interrupted)();
    bar.finish_and_clear();
    Ok(summary)
}

fn text(batch: &RecordBatch, column: usize, row: usize) -> String {
    let column = batch.column(column);
    if column.is_null(row) { String::new() } else { column.as_string_view().value(row).to_owned() }
}

/// Runs some programs and writes their results.
async fn part(
    lake: &Lake,
    request: &Request<'_>,
    sets: &Sets,
    jobs: Vec<Job>,
    bar: &ProgressBar,
    summary: &mut Summary,
) -> Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let (next, late) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut done = Vec::new();
        while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            let until = Deadline::after(request.time_limit).or_if(request.interrupted);
            let found = match sets.get(&job.isa) {
                Some(known) => machine::run(known, request.inputs, &job.stage, &job.code, until),
                None => Err(format!("the lake has no description of `{}`", job.isa)),
            };
            // The program may have been stopped.
            if (request.interrupted)() {
                break;
            }
            bar.inc(1);
            if found.is_err() && until.passed().is_some() {
                late.fetch_add(1, Ordering::Relaxed);
            } else {
                done.push((index, found));
            }
        }
        done
    };
    let mut done: Vec<(usize, Result<Computed, String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..request.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        // The results of a worker that panicked are lost; the others are kept.
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    summary.late += late.into_inner();
    if done.is_empty() {
        return Ok(());
    }
    done.sort_by_key(|(index, _)| *index);
    let [mut program, mut isa, mut hash, mut inputs, mut inputs_hash, mut label, mut error, mut result_hash] =
        [(); 8].map(|()| StringViewBuilder::new());
    let (mut instructions, mut result) = (UInt64Builder::new(), BinaryViewBuilder::new());
    for (index, found) in &done {
        let job = &jobs[*index];
        program.append_value(&job.name);
        isa.append_value(&job.isa);
        hash.append_value(&job.hash);
        inputs.append_value(&request.inputs.name);
        inputs_hash.append_value(&request.inputs.hash);
        label.append_value(request.label);
        match found {
            Ok(computed) => {
                summary.ran += 1;
                error.append_null();
                instructions.append_value(computed.instructions);
                result_hash.append_value(hex(&Sha256::digest(&computed.result)));
                result.append_value(&computed.result);
            }
            Err(reason) => {
                summary.failed += 1;
                error.append_value(reason);
                instructions.append_null();
                result_hash.append_null();
                result.append_null();
            }
        }
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(program.finish()),
        Arc::new(isa.finish()),
        Arc::new(hash.finish()),
        Arc::new(inputs.finish()),
        Arc::new(inputs_hash.finish()),
        Arc::new(label.finish()),
        Arc::new(error.finish()),
        Arc::new(instructions.finish()),
        Arc::new(result_hash.finish()),
        Arc::new(result.finish()),
    ];
    lake.append(Table::Results, &RecordBatch::try_new(Table::Results.schema(), columns)?).await
}
