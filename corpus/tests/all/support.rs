//! Helpers for tests: lakes, queries, and the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use datafusion::prelude::SessionContext;
use isaforge_corpus::lake::Lake;
use isaforge_corpus::output::cell;
use isaforge_corpus::session::{self, Options};
use tempfile::TempDir;

/// The path of a file in the project.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The text of a file in the project, uncompressed.
pub fn text(path: &str) -> String {
    let input = isaforge_cli::input::Input::read(Some(&project(path)));
    String::from_utf8(input.expect("the file is there").bytes).expect("it is text")
}

/// Runs the command.
pub fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("it starts")
}

/// Runs the command, which must succeed. Returns its output and its messages.
#[track_caller]
pub fn fine(arguments: &[&str]) -> (String, String) {
    let output = command(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{arguments:?}: {err}");
    (out, err)
}

/// Runs the command, which must exit with a status. Returns its messages.
#[track_caller]
pub fn refused(arguments: &[&str], status: i32) -> String {
    let output = command(arguments);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
    err
}

/// The 2,499 shaders of the shipped corpus.
pub fn shaders() -> &'static str {
    static LAKE: OnceLock<(TempDir, String)> = OnceLock::new();
    &LAKE.get_or_init(|| made("valhall", &[&project("tests/data/valhall/shaders.tsv.gz")])).1
}

/// A lake of some files. It exists as long as the folder is held.
pub fn made(isa: &str, paths: &[&Path]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let lake = folder.path().join("lake").display().to_string();
    let mut paths: Vec<&str> = paths.iter().map(|path| path.to_str().expect("paths are text")).collect();
    // A lake without programs is made from an empty folder.
    let nothing = folder.path().join("nothing").display().to_string();
    if paths.is_empty() {
        std::fs::create_dir(&nothing).expect("there is room");
        paths.push(&nothing);
    }
    fine(&[&["import", "--isa", isa, "-o", &lake, "-q"], paths.as_slice()].concat());
    (folder, lake)
}

/// A session with the tables of a lake.
pub async fn session(lake: &str, partitions: usize) -> SessionContext {
    let options = Options { partitions: Some(partitions), memory: None };
    let context = session::context(&options).expect("it starts");
    session::register(&context, &Lake::at(lake).expect("it is a path"), None).await.expect("it is a lake");
    context
}

/// The rows of an answer as texts; null is empty.
pub async fn rows(context: &SessionContext, sql: &str) -> Vec<Vec<String>> {
    let answer = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let value =
                |column: &datafusion::arrow::array::ArrayRef| cell(column.as_ref(), row).unwrap().unwrap_or_default();
            rows.push(batch.columns().iter().map(value).collect());
        }
    }
    rows
}

/// Queries a lake.
pub fn ask(lake: &str, sql: &str) -> Vec<Vec<String>> {
    let runtime = tokio::runtime::Runtime::new().expect("threads start");
    runtime.block_on(async { rows(&session(lake, 2).await, sql).await })
}

/// Queries a lake for a single value.
#[track_caller]
pub fn one(lake: &str, sql: &str) -> String {
    let rows = ask(lake, sql);
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows[0][0].clone()
}
