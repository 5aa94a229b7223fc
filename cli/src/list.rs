//! `isaforge list`: lists the instructions of a set, as a table or as JSON.

use std::io::{self, IsTerminal, Write};

use isaforge_analysis::list::{Listed, filtered, first_sentence, list as listed, search as search_set};
use serde_json::Value;

use crate::args::ListArgs;
use crate::failure::{Failure, Status};
use crate::input;
use crate::json;
use crate::output::{complain, stdout};
use crate::paint::{BOLD, DIM, columns, paint};
use crate::target::Target;

/// Runs `list`.
///
/// # Errors
/// When standard output cannot be written.
pub fn list(args: &ListArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::LISTED);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let given = input::words(&args.words)?;
    let words: Vec<String> = given.iter().map(|word| word.to_lowercase()).collect();
    let rows = listed(&target.set());
    let total = rows.len();
    let rows = filtered(rows, &words);
    let mut out = stdout();
    if args.json {
        for row in &rows {
            writeln!(out, "{}", object(row))?;
        }
    } else {
        out.write_all(table(&rows).as_bytes())?;
    }
    out.flush()?;
    if rows.is_empty() {
        let of = args.target.spec.as_ref().map_or(target.name.clone(), |spec| format!("--spec {}", spec.display()));
        let help = format!("`isaforge list {of}` has all {total}");
        let message = format!("no instruction has {} in any of its columns", given.join(" "));
        complain(&Failure::usage(message, help));
        return Ok(Status::Mistakes);
    }
    Ok(Status::Fine)
}

/// Formats as a table the instructions that a text finds.
pub fn search(target: &Target, what: &str) -> Option<String> {
    let found = search_set(&target.set(), what);
    (!found.is_empty()).then(|| table(&found))
}

/// The same instructions as objects.
pub fn search_objects(target: &Target, what: &str) -> Vec<Value> {
    search_set(&target.set(), what).iter().map(object).collect()
}

/// A row of the list as an object.
fn object(row: &Listed) -> Value {
    let operation = Some(row.does).filter(|text| !text.is_empty());
    serde_json::json!({
        "mnemonic": row.mnemonic,
        "title": row.title,
        "doc": row.doc,
        "unit": row.unit,
        "reads": row.reads,
        "writes": row.writes,
        "operation": operation,
        "intrinsics": row.intrinsics,
        "fidelity": row.class(),
        "source": row.source,
    })
}

fn table(rows: &[Listed]) -> String {
    let width = |text: &dyn Fn(&Listed) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let (name, unit) = (width(&|row| row.mnemonic.len()), width(&|row| row.unit.len()));
    let mut text = String::new();
    // Other programs and files get whole titles.
    let is_cut = io::stdout().is_terminal();
    for row in rows {
        let uses = match (&row.writes[..], &row.reads[..]) {
            ([], []) => String::new(),
            (writes, []) => writes.join(", "),
            (writes, reads) => format!("{} ← {}", writes.join(", "), reads.join(", ")),
        };
        let fidelity = row.class().unwrap_or_default();
        let title = if row.title.is_empty() { first_sentence(row.doc) } else { row.title };
        let tail = [uses.trim(), fidelity].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
        let room = columns().saturating_sub(name + unit + tail.chars().count() + 6);
        let title: String = match title.chars().count() {
            length if length > room && is_cut => title.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
            length => format!("{title}{}", " ".repeat(room.saturating_sub(length))),
        };
        let mnemonic = format!("{:name$}", row.mnemonic);
        text.push_str(
            format!("{}  {:unit$}  {title}  {}", paint(BOLD, &mnemonic), row.unit, paint(DIM, &tail)).trim_end(),
        );
        text.push('\n');
    }
    text
}
