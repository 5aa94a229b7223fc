//! `isaforge lint`: mistakes in a program that need no execution to be found.

use std::io::Write;

use isaforge_analysis::{Finding, Graph, Liveness, Program, Set, lint as check};
use serde_json::json;

use crate::args::LintArgs;
use crate::failure::{Failure, Status};
use crate::output::{count, say};
use crate::paint::{BOLD, DIM, GOOD, WARNING, paint};
use crate::program::load;

pub mod pages;

/// Runs `lint`: exit status 0 when there is nothing to say, 1 with findings.
///
/// # Errors
/// When the file cannot be read or standard output cannot be written.
pub fn lint(args: &LintArgs) -> Result<Status, Failure> {
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let Some(code) = load(target.tables, args.file.as_deref(), args.code.how())? else {
        return Ok(Status::Mistakes);
    };
    let set = Set::new(target.tables, target.semantics);
    let program = Program::read(&set, &code.bytes);
    let mut out = anstream::stdout().lock();
    if args.pressure {
        out.write_all(pressure(&program).as_bytes())?;
        out.flush()?;
        return Ok(Status::mistakes_if(code.cut));
    }
    let findings = check(&program);
    for finding in &findings {
        let line = if args.json { object(&program, finding) } else { shown(&program, &code.name, finding) };
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    if !args.json {
        let instructions = count(program.entries.len() as u64, "instruction");
        say(&match findings.len() {
            0 => format!("{}: {instructions}, nothing to say", paint(GOOD, "clean")),
            n => format!("{}: in {instructions}", paint(WARNING, &count(n as u64, "finding"))),
        });
    }
    Ok(Status::mistakes_if(code.cut || !findings.is_empty()))
}

fn text(program: &Program<'_>, entry: usize) -> String {
    match &program.entries[entry].instruction {
        Ok(instruction) => instruction.text.clone(),
        Err(_) => "no instruction".to_owned(),
    }
}

fn shown(program: &Program<'_>, name: &str, finding: &Finding) -> String {
    let place = format!("{name}:{:#06x}:", program.entries[finding.entry].bytes.start);
    format!(
        "{} {}: {}\n        {}",
        paint(BOLD, &place),
        paint(WARNING, &format!("warning[{}]", finding.check.code())),
        finding.message,
        paint(DIM, &text(program, finding.entry)),
    )
}

fn object(program: &Program<'_>, finding: &Finding) -> String {
    json!({
        "code": finding.check.code(),
        "address": program.entries[finding.entry].bytes.start,
        "text": text(program, finding.entry),
        "message": finding.message,
    })
    .to_string()
}

/// The listing with the number of live registers before each instruction, as a bar and as names.
fn pressure(program: &Program<'_>) -> String {
    let graph = Graph::new(program);
    let liveness = Liveness::new(program, &graph);
    let most = (0..program.entries.len()).map(|entry| liveness.pressure(entry)).max().unwrap_or(0);
    let mut out = String::new();
    for (index, _) in program.entries.iter().enumerate() {
        if let Some(label) = program.labels.get(&index) {
            out.push_str(&format!("{label}:\n"));
        }
        let live = liveness.pressure(index);
        let bar: String = std::iter::repeat_n('█', live).collect();
        out.push_str(&format!("{live:4} {} {}\n", paint(GOOD, &format!("{bar:most$}")), text(program, index)));
    }
    out.push_str(&format!("most live registers: {most}\n"));
    out
}
