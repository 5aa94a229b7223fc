//! Recording and replaying, for all sets of vectors.

use std::fs;
use std::path::PathBuf;

use crate::effect::Effect;
use crate::file::{self, Answer, Group};

/// A set of vectors: the execution of its inputs, and descriptions for messages.
pub trait Set {
    /// The name of its file.
    const FILE: &'static str;
    /// Executes an input as the reference does.
    fn run(&mut self, input: &[u8]) -> Effect;
    /// Executes an input by the fast path in one of several ways, if possible. Returns the effect, and whether it
    /// failed.
    fn run_fast(&mut self, input: &[u8], turn: usize) -> Option<(Effect, bool)>;
    /// Whether an effect is a fault.
    fn is_fault(&self, effect: &Effect) -> bool;
    /// The part of an effect that must also match after a fault in the fast path.
    fn after_fault(&self, effect: &Effect) -> Effect;
    /// Describes an input.
    fn describe(&self, input: &[u8]) -> String;
    /// The name of a cell.
    fn cell(&self, cell: u32) -> String;
    /// Executes all cases. Returns their vectors and a summary.
    fn record(&mut self) -> (Vec<Group>, String);
}

/// The path of the vectors of a set.
fn path<S: Set>() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/witness").join(S::FILE)
}

/// The maximum number of differences shown.
const SHOWN: usize = 12;

/// Records the vectors of a set if requested, and otherwise replays every `every`-th case.
pub fn check<S: Set>(set: &mut S, every: usize, fast_every: usize) {
    match std::env::var("WITNESS").as_deref() {
        Ok("record") => record(set),
        Ok("all") => replay(set, 1, 1),
        _ => replay(set, every, fast_every),
    }
}

fn record<S: Set>(set: &mut S) {
    let (groups, report) = set.record();
    let cases: usize = groups.iter().map(|group| group.inputs.len()).sum();
    let full = |answer: &&Answer| matches!(answer, Answer::Full(_));
    let full: usize = groups.iter().map(|group| group.answers.iter().filter(full).count()).sum();
    let bytes = file::write(&groups);
    fs::write(path::<S>(), &bytes).expect("the folder is there");
    println!("{}: {report}; {cases} cases, {full} in full, {} bytes", S::FILE, bytes.len());
}

/// The vectors of a set.
pub fn groups<S: Set>() -> Vec<Group> {
    let bytes = fs::read(path::<S>()).expect("the vectors are there; WITNESS=record makes them");
    file::read(&bytes).expect("the file is one of vectors")
}

fn replay<S: Set>(set: &mut S, every: usize, fast_every: usize) {
    let groups = groups::<S>();
    let mut problems = vec![];
    let (mut cases, mut fast) = (0, 0);
    for group in &groups {
        let (mut wrong, mut wrong_fast) = (0, 0);
        for (index, (input, answer)) in group.inputs.iter().zip(&group.answers).enumerate() {
            let full = matches!(answer, Answer::Full(_));
            if !full && index % every != 0 {
                continue;
            }
            cases += 1;
            let found = set.run(input);
            if let Some(difference) = difference(set, answer, &found) {
                wrong += 1;
                if wrong <= 2 && problems.len() < SHOWN {
                    problems.push(format!("{}, case {index}: {}\n{difference}", group.name, set.describe(input)));
                }
                continue;
            }
            if index % fast_every != 0 {
                continue;
            }
            let Some((by_fast, failed)) = set.run_fast(input, index / fast_every) else { continue };
            fast += 1;
            let expected = if failed || set.is_fault(&found) { set.after_fault(&found) } else { found };
            if by_fast != expected {
                wrong_fast += 1;
                if wrong_fast <= 2 && problems.len() < SHOWN {
                    let (input, differences) = (set.describe(input), show(set, &expected, &by_fast));
                    problems.push(format!("{}, case {index}, fast path: {input}\n{differences}", group.name));
                }
            }
        }
        if wrong + wrong_fast > 0 {
            problems.push(format!("{}: {wrong} cases differ, {wrong_fast} more by the fast path", group.name));
        }
    }
    println!("{}: {} groups, {cases} cases, {fast} also by the fast path", S::FILE, groups.len());
    assert!(cases > 0 && problems.is_empty(), "{}:\n{}", S::FILE, problems.join("\n"));
}

/// Describes the difference of an effect from the answer, if there is one.
fn difference<S: Set>(set: &S, expected: &Answer, found: &Effect) -> Option<String> {
    match expected {
        Answer::Full(expected) if expected != found => Some(show(set, expected, found)),
        Answer::Hash(hash) if *hash != found.hash() => {
            let cells = found.0.iter().take(SHOWN + 8);
            let cells: Vec<_> = cells.map(|(cell, word)| format!("    {}: {word:08x}", set.cell(*cell))).collect();
            Some(format!("    another result was recorded (only its hash is there); found:\n{}", cells.join("\n")))
        }
        _ => None,
    }
}

fn show<S: Set>(set: &S, expected: &Effect, found: &Effect) -> String {
    let word = |word: Option<u32>| word.map_or("unchanged".to_owned(), |word| format!("{word:08x}"));
    let differences = expected.differences(found);
    let lines = differences.iter().take(SHOWN).map(|(cell, expected, found)| {
        format!("    {}: expected {}, found {}", set.cell(*cell), word(*expected), word(*found))
    });
    lines.collect::<Vec<_>>().join("\n")
}
