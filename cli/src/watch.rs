//! `isaforge gen --watch`: regenerates crates whenever their specifications are saved, and prints the changes.
//!
//! Each time, the command starts itself once to generate and once to compare, so that memory is freed after each edit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use isaforge_compiler::check_spec;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tempfile::TempDir;

use crate::failure::{Failure, Status};
use crate::input::{self, Input};
use crate::output::{count, say};
use crate::specification;

/// How long files must stay unchanged to count as saved: editors write in several steps.
const QUIET: Duration = Duration::from_millis(60);

/// A specification and the `gen` arguments that generate its crate.
pub struct Job {
    /// The path of the specification.
    pub spec: PathBuf,
    /// The arguments after `isaforge gen`.
    pub arguments: Vec<OsString>,
}

/// A watched job.
struct Watched {
    job: Job,
    /// The state of the files when the crate was last generated.
    good: Seen,
    /// The state of the files when they were last read.
    latest: Seen,
}

/// Generates the crates of all jobs, and again after each change, until the user stops the command.
///
/// # Errors
/// When a specification cannot be opened, files cannot be watched, or the command cannot start itself.
pub fn watch(jobs: Vec<Job>) -> Result<Status, Failure> {
    let (sender, events) = channel();
    let mut watcher = notify::recommended_watcher(move |event| {
        // The receiver is gone when the command ends.
        let _ = sender.send(event);
    })
    .map_err(failed)?;
    let mut folders = BTreeSet::new();
    let mut watched = Vec::new();
    for job in jobs {
        let good = Seen::of(&job.spec)?;
        good.follow(&mut watcher, &mut folders)?;
        watched.push(Watched { latest: good.clone(), good, job });
    }
    let all: BTreeSet<&Vec<OsString>> = watched.iter().map(|watched| &watched.job.arguments).collect();
    for arguments in all {
        isaforge("gen", arguments, Stdio::inherit())?;
    }
    let files: BTreeSet<&PathBuf> = watched.iter().flat_map(|watched| watched.good.files.keys()).collect();
    say(&format!("watching {}; Ctrl+C ends it", count(files.len() as u64, "file")));
    loop {
        wait(&events)?;
        // Several jobs may share a command.
        let mut written: BTreeMap<&Vec<OsString>, bool> = BTreeMap::new();
        for Watched { job, good, latest } in &mut watched {
            let Some(now) = latest.again(&job.spec)? else { continue };
            now.follow(&mut watcher, &mut folders)?;
            if now.files == latest.files {
                continue;
            }
            let success = match written.get(&job.arguments) {
                Some(success) => *success,
                None => isaforge("gen", &job.arguments, Stdio::inherit())?,
            };
            written.insert(&job.arguments, success);
            if success {
                let before = good.copy()?;
                // The exit status (whether old words still decode the same) is ignored, since the output says it too.
                isaforge("diff", &[before.entry.clone().into(), job.spec.clone().into()], Stdio::null())?;
                *good = now.clone();
            }
            *latest = now;
        }
    }
}

/// Detects when a specification is saved with a different text.
pub struct Changes {
    spec: PathBuf,
    seen: Seen,
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    events: Receiver<notify::Result<notify::Event>>,
}

impl Changes {
    /// Watches a specification and all its files.
    ///
    /// # Errors
    /// When it cannot be opened or watched.
    pub fn new(spec: &Path) -> Result<Changes, Failure> {
        let (sender, events) = channel();
        let mut watcher = notify::recommended_watcher(move |event| {
            // The receiver is gone when the command ends.
            let _ = sender.send(event);
        })
        .map_err(failed)?;
        let mut folders = BTreeSet::new();
        let seen = Seen::of(spec)?;
        seen.follow(&mut watcher, &mut folders)?;
        Ok(Changes { spec: spec.to_owned(), seen, watcher, folders, events })
    }

    /// Waits until the text has changed.
    ///
    /// # Errors
    /// Those of [`Changes::new`].
    pub fn next(&mut self) -> Result<(), Failure> {
        loop {
            wait(&self.events)?;
            let Some(now) = self.seen.again(&self.spec)? else { continue };
            now.follow(&mut self.watcher, &mut self.folders)?;
            if now.files != self.seen.files {
                self.seen = now;
                return Ok(());
            }
        }
    }
}

/// Waits for a change, and then until the files are quiet.
fn wait(events: &Receiver<notify::Result<notify::Event>>) -> Result<(), Failure> {
    // The watcher keeps the sender alive while this runs.
    let Ok(first) = events.recv() else { return Ok(()) };
    first.map_err(failed)?;
    while let Ok(next) = events.recv_timeout(QUIET) {
        next.map_err(failed)?;
    }
    Ok(())
}

fn failed(error: notify::Error) -> Failure {
    Failure::usage(format!("files cannot be watched: {error}"), "run `isaforge gen` after each change instead")
}

/// Runs this command. Returns whether it succeeded.
fn isaforge(verb: &str, arguments: &[OsString], errors: Stdio) -> Result<bool, Failure> {
    let program = std::env::current_exe().map_err(Failure::reading(Path::new("isaforge")))?;
    let status = Command::new(&program).arg(verb).args(arguments).stdin(Stdio::null()).stderr(errors).status();
    Ok(status.map_err(Failure::reading(&program))?.success())
}

/// The files of a specification and their contents.
#[derive(Clone)]
struct Seen {
    entry: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// A copy of a specification's files.
struct Copy {
    entry: PathBuf,
    _folder: TempDir,
}

impl Seen {
    fn of(spec: &Path) -> Result<Seen, Failure> {
        if input::is_standard(spec) {
            return Err(Failure::usage("standard input cannot be watched", "name the file of the specification"));
        }
        let settings = specification::settings(spec)?;
        let entry = settings.spec.canonicalize().map_err(Failure::reading(&settings.spec))?;
        let files: Vec<PathBuf> = match check_spec(&settings) {
            Ok(checked) => checked.files,
            Err(failure) => failure.sources.paths().map(Path::to_owned).collect(),
        };
        // A missing file may appear later.
        let read = |file: &PathBuf| {
            let file = file.canonicalize().ok()?;
            let content = Input::read(Some(&file)).ok()?.bytes;
            Some((file, content))
        };
        Ok(Seen { files: files.iter().chain([&entry]).filter_map(read).collect(), entry })
    }

    /// Reads the files again. `None` if the entry is not there: editors and version control replace files in two steps.
    fn again(&self, spec: &Path) -> Result<Option<Seen>, Failure> {
        if self.entry.is_file() {
            return Seen::of(spec).map(Some);
        }
        say(&format!("`{}` is not there; waiting for it", self.entry.display()));
        Ok(None)
    }

    /// Watches the folders of all files, because a watch on a file is lost when an editor replaces the file.
    fn follow(&self, watcher: &mut RecommendedWatcher, folders: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
        for folder in self.files.keys().filter_map(|file| file.parent()) {
            if folders.insert(folder.to_owned()) {
                watcher.watch(folder, RecursiveMode::NonRecursive).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Copies the files to a temporary folder, in which references between them still resolve.
    fn copy(&self) -> Result<Copy, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::writing(&std::env::temp_dir()))?;
        let place = |file: &Path| {
            file.components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .fold(folder.path().to_owned(), |path, part| path.join(part))
        };
        for (file, content) in &self.files {
            let path = place(file);
            let parent = path.parent().unwrap_or(folder.path());
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, content)).map_err(Failure::writing(&path))?;
        }
        Ok(Copy { entry: place(&self.entry), _folder: folder })
    }
}
