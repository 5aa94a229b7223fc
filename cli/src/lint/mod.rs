//! `isaforge lint`: finds mistakes in a program without running it.

use std::collections::BTreeSet;
use std::io::Write;

use isaforge_analysis::lint::Check;
use isaforge_analysis::{Finding, Graph, Liveness, Program, Register, lint as check};
use serde_json::json;

use crate::args::LintArgs;
use crate::failure::{Failure, Status};
use crate::json;
use crate::output::{count, say, stdout};
use crate::paint::{BOLD, DIM, ERROR, GOOD, HELP, WARNING, paint};
use crate::program::{Code, load, note_unknown};

pub mod pages;

/// Runs `lint`: exit status 0 without findings, 1 with findings.
///
/// # Errors
/// When the file cannot be read or standard output cannot be written.
pub fn lint(args: &LintArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::FINDING);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    target.layouts()?;
    let Some(code) = load(target.tables, args.file.as_deref(), args.code.how(&target))? else {
        return Ok(Status::Mistakes);
    };
    let set = target.set().at(code.address);
    let mut program = Program::read(&set, &code.bytes).named(&code.labels);
    args.entries.add_to(&mut program, &code.name)?;
    let mut out = stdout();
    if args.pressure {
        out.write_all(pressure(&program).as_bytes())?;
        out.flush()?;
        return Ok(Status::mistakes_if(code.cut));
    }
    let graph = Graph::new(&program);
    let findings = check(&program, &graph);
    note_unknown(&program);
    note_unchecked(&program, &graph, &code);
    for finding in &findings {
        let line = if args.json { object(&program, &code, finding) } else { shown(&program, &code, finding) };
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    if !args.json {
        let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.check.code()).collect();
        if !codes.is_empty() {
            let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
            say(&format!("{}: `isaforge check --explain CODE` explains {codes}", paint(HELP, "help")));
        }
        let instructions = count(program.entries.len() as u64, "instruction");
        say(&match findings.len() {
            0 if code.cut => format!("{}: {instructions} before the error, no findings", paint(ERROR, "incomplete")),
            0 => format!("{}: {instructions}, no findings", paint(GOOD, "clean")),
            n => format!("{} in {instructions}", paint(WARNING, &count(n as u64, "finding"))),
        });
    }
    Ok(Status::mistakes_if(code.cut || !findings.is_empty()))
}

/// Says which checks are not made: those that need a fact that the specification lacks, and those that a branch with a
/// computed target rules out, as it may lead anywhere in the program.
fn note_unchecked(program: &Program<'_>, graph: &Graph, code: &Code) {
    let semantics = program.set.semantics;
    let mut lacking = Vec::new();
    if semantics.is_none_or(|semantics| semantics.preloads.is_empty()) {
        let code = Check::Unwritten.code();
        lacking.push(format!("{code} (`preloads`: what registers hold at the start)"));
    }
    if semantics.is_none_or(|semantics| semantics.flow.iter().all(|fact| fact.sends == 0)) {
        let codes = [Check::Unawaited, Check::Needless].map(Check::code).join(" and ");
        lacking.push(format!("{codes} (`messages` of `flow`: whose results arrive later)"));
    }
    if !lacking.is_empty() {
        let (note, lacking) = (paint(HELP, "note"), lacking.join(", "));
        say(&format!("{note}: not checked, for want of keys in the specification: {lacking}"));
    }
    let Some(branch) = graph.computed().map(|block| block.entries.end - 1) else { return };
    let codes = [Check::Unwritten, Check::Unreachable, Check::Needless, Check::Diverged].map(Check::code);
    let place = place(program, code, branch);
    let (note, text) = (paint(HELP, "note"), text(program, branch));
    say(&format!("{note}: {place} `{text}` may lead anywhere, so {} are not checked", codes.join(", ")));
}

/// The line and column of an entry in the text that it was assembled from. A directive may stand for several entries.
fn source_of(program: &Program<'_>, code: &Code, entry: usize) -> Option<(usize, usize)> {
    code.places.range(..=program.entries[entry].bytes.start).next_back().map(|(_, place)| *place)
}

/// The place of an entry: in the text that it was assembled from, or its address.
fn place(program: &Program<'_>, code: &Code, entry: usize) -> String {
    match source_of(program, code, entry) {
        Some((line, column)) => format!("{}:{line}:{column}:", code.name),
        None => format!("{}:{:#06x}:", code.name, program.address(entry)),
    }
}

fn text(program: &Program<'_>, entry: usize) -> String {
    match &program.entries[entry].instruction {
        Ok(instruction) => instruction.text.clone(),
        Err(_) => "no instruction".to_owned(),
    }
}

/// The text of an entry, with the label of its branch target.
fn with_label(program: &Program<'_>, entry: usize) -> String {
    let text = text(program, entry);
    let Ok(instruction) = &program.entries[entry].instruction else { return text };
    let Some(label) = program.target_label(instruction) else { return text };
    let numbers = instruction.operands.iter().filter(|operand| operand.kind == "number");
    match numbers.filter_map(|operand| text.strip_suffix(operand.text.as_str())).next() {
        Some(before) => format!("{before}{label}"),
        None => format!("{text} → {label}"),
    }
}

fn shown(program: &Program<'_>, code: &Code, finding: &Finding) -> String {
    let place = place(program, code, finding.entry);
    let mut shown = format!(
        "{} {}: {}\n        {}",
        paint(BOLD, &place),
        paint(WARNING, &format!("warning[{}]", finding.check.code())),
        finding.message,
        paint(DIM, &text(program, finding.entry)),
    );
    if finding.check == Check::Unreachable {
        let (help, address) = (paint(HELP, "help"), program.address(finding.entry));
        shown.push_str(&format!("\n        {help}: if another program starts here, add `--entry {address:#x}`"));
    }
    shown
}

fn object(program: &Program<'_>, code: &Code, finding: &Finding) -> String {
    let place = source_of(program, code, finding.entry);
    json!({
        "code": finding.check.code(),
        "address": program.address(finding.entry),
        "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column),
        "text": text(program, finding.entry),
        "message": finding.message,
    })
    .to_string()
}

/// The maximum number of columns for live ranges; more would not fit next to the text.
const COLUMNS: usize = 64;

/// The listing with the number of live registers before each instruction and a column per register: `│` where it is
/// live, `┬` where a value is defined, `┴` at its last read, `┼` where one value ends and the next begins, `╶` where a
/// value is written but never read.
fn pressure(program: &Program<'_>) -> String {
    let graph = Graph::new(program);
    let liveness = Liveness::new(program, &graph);
    let most = (0..program.entries.len()).map(|entry| liveness.pressure(entry)).max().unwrap_or(0);
    let mut registers: BTreeSet<Register> = BTreeSet::new();
    for (index, entry) in program.entries.iter().enumerate() {
        registers.extend(liveness.live(index));
        registers.extend(entry.instruction.iter().flat_map(|instruction| instruction.writes.iter().map(|(w, _)| *w)));
    }
    let hidden = registers.len().saturating_sub(COLUMNS);
    let registers: Vec<Register> = registers.into_iter().take(COLUMNS).collect();
    let names: Vec<Vec<char>> =
        registers.iter().map(|register| program.set.name(*register).chars().collect()).collect();
    let mut out = String::new();
    for row in 0..names.iter().map(Vec::len).max().unwrap_or(0) {
        let letters: String = names.iter().map(|name| name.get(row).copied().unwrap_or(' ')).collect();
        out.push_str(format!("     {}", paint(DIM, letters.trim_end())).trim_end());
        out.push('\n');
    }
    for (index, entry) in program.entries.iter().enumerate() {
        if let Some(label) = program.labels.get(&index) {
            out.push_str(&format!("{label}:\n"));
        }
        let before: Vec<Register> = liveness.live(index).collect();
        let written = |register: &Register| {
            entry.instruction.as_ref().is_ok_and(|found| found.writes.iter().any(|(written, _)| written == register))
        };
        let column = |register: &Register| match (
            before.contains(register),
            liveness.is_live_after(index, *register),
            written(register),
        ) {
            (true, true, true) => '┼',
            (true, true, false) => '│',
            (true, false, false) => '┴',
            (false, true, _) => '┬',
            // A last read combined with a write that is never read.
            (true, false, true) => '┴',
            (false, false, true) => '╶',
            (false, false, false) => ' ',
        };
        let live: String = registers.iter().map(column).collect();
        out.push_str(&format!("{:4} {}  {}\n", before.len(), paint(GOOD, &live), with_label(program, index)));
    }
    out.push_str(&format!("most live registers: {most}\n"));
    if hidden > 0 {
        out.push_str(&format!("{hidden} more registers are not shown\n"));
    }
    out
}
