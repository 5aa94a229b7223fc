//! `isaforge list`: lists the instructions of a set, as a table or as JSON.

use std::io::Write;

use isaforge_analysis::access::implied;
use isaforge_core::group::GroupIsa;
use isaforge_core::semantics::{Operation, Semantics};
use isaforge_core::stream::Engine;
use isaforge_core::table::{Access, Isa};
use serde_json::Value;

use crate::args::ListArgs;
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::fidelity::entries::Entry;
use crate::groups::operands::operands;
use crate::json;
use crate::names::{exists, first_sentence};
use crate::output::{complain, stdout};
use crate::paint::{BOLD, DIM, columns, paint};
use crate::target::Target;

/// A row of the list.
struct Row {
    mnemonic: &'static str,
    title: &'static str,
    doc: &'static str,
    unit: String,
    reads: Vec<String>,
    writes: Vec<String>,
    /// The index of its operation.
    number: usize,
    /// Its operation and the intrinsics that it uses; `None` if the specification does not define it.
    operation: Option<(&'static str, Vec<&'static str>)>,
    fidelity: Option<&'static str>,
    source: &'static str,
}

/// Runs `list`.
///
/// # Errors
/// When standard output cannot be written.
pub fn list(args: &ListArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::LISTED);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let entries = target.fidelity();
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    let rows = rows(&target, &entries);
    let total = rows.len();
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.has(&words)).collect();
    let mut out = stdout();
    if args.json {
        for row in &rows {
            writeln!(out, "{}", row.object())?;
        }
    } else {
        out.write_all(table(&rows).as_bytes())?;
    }
    out.flush()?;
    if rows.is_empty() {
        let of = args.target.spec.as_ref().map_or(target.name.clone(), |spec| format!("--spec {}", spec.display()));
        let help = format!("`isaforge list {of}` has all {total}");
        let message = format!("no instruction has {} in any of its columns", args.words.join(" "));
        complain(&Failure::usage(message, help));
        return Ok(Status::Mistakes);
    }
    Ok(Status::Fine)
}

/// Formats as a table the instructions whose mnemonic contains a text or, if there are none, those whose row contains
/// all of its words.
pub fn search(target: &Target, what: &str) -> Option<String> {
    let found = found(target, what);
    (!found.is_empty()).then(|| table(&found))
}

/// The same instructions as objects.
pub fn search_objects(target: &Target, what: &str) -> Vec<Value> {
    found(target, what).iter().map(Row::object).collect()
}

fn found(target: &Target, what: &str) -> Vec<Row> {
    let entries = target.fidelity();
    let what = what.to_lowercase();
    let words: Vec<String> = what.split_whitespace().map(str::to_owned).collect();
    let (named, others): (Vec<Row>, Vec<Row>) =
        rows(target, &entries).into_iter().partition(|row| row.mnemonic.to_lowercase().contains(&what));
    let mut found = if named.is_empty() { others.into_iter().filter(|row| row.has(&words)).collect() } else { named };
    // For `FMA`: `FMA.f32` before `FMA_RSCALE.f32`, and both before mnemonics that only contain it.
    let after = |row: &Row| row.mnemonic.to_lowercase().strip_prefix(&what).map(|rest| !rest.starts_with('.'));
    found.sort_by_key(|row| (after(row).is_none(), after(row)));
    if what.is_empty() { Vec::new() } else { found }
}

fn rows(target: &Target, entries: &[Entry]) -> Vec<Row> {
    let fidelity =
        |name: &str| entries.iter().find(|entry| entry.mnemonic == name).map(|entry| entry.fidelity.class.name());
    let mut rows = match target.tables {
        Tables::Words(isa) => of_words(isa, target.semantics, &fidelity),
        Tables::Groups(isa) => of_groups(isa, target.semantics, &fidelity),
        Tables::Streams(engine) => of_streams(engine, target.semantics, &fidelity),
    };
    let set = target.set();
    for row in &mut rows {
        for (names, write) in [(&mut row.reads, false), (&mut row.writes, true)] {
            for found in implied(&set, row.number, write) {
                if !names.contains(&found.name) {
                    names.push(found.name);
                }
            }
        }
    }
    rows
}

fn of_words(
    isa: &'static Isa,
    semantics: Option<&'static Semantics>,
    fidelity: &dyn Fn(&str) -> Option<&'static str>,
) -> Vec<Row> {
    let row = |(opcode, form): (usize, &'static isaforge_core::table::Form)| {
        let operands = |wanted: Access| {
            let used = form
                .operands
                .iter()
                .filter(move |operand| operand.access == wanted || operand.access == Access::ReadWrite);
            used.map(|operand| operand.name.to_owned()).collect()
        };
        Row {
            mnemonic: form.name.str,
            title: form.title,
            doc: form.doc,
            unit: form.unit.to_owned(),
            reads: operands(Access::Read),
            writes: operands(Access::Write),
            number: opcode,
            operation: meaning(semantics, opcode),
            fidelity: fidelity(form.name.str),
            source: form.source,
        }
    };
    isa.forms.iter().enumerate().map(row).collect()
}

fn of_groups(
    isa: &'static GroupIsa,
    semantics: Option<&'static Semantics>,
    fidelity: &dyn Fn(&str) -> Option<&'static str>,
) -> Vec<Row> {
    let row = |(index, operation): (usize, &'static isaforge_core::group::table::Operation)| {
        let slots = isa.order.iter().filter(|slot| operation.slots >> **slot & 1 != 0).map(|slot| usize::from(*slot));
        let slots: Vec<usize> = slots.collect();
        let names = slots.iter().filter_map(|slot| Some(isa.slots.get(*slot)?.name)).collect::<Vec<_>>().join("/");
        let unit = [names.as_str(), operation.part].join(" ").trim().to_owned();
        let graph =
            semantics.and_then(|semantics| semantics.operations.get(index)).map_or(&[][..], |found| found.nodes);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for used in operands(isa, operation, &slots, graph) {
            let list = if used.writes { &mut writes } else { &mut reads };
            if !list.contains(&used.name) {
                list.push(used.name);
            }
        }
        Row {
            mnemonic: operation.name,
            title: first_sentence(operation.doc),
            doc: operation.doc,
            unit,
            reads,
            writes,
            number: index,
            operation: meaning(semantics, index),
            fidelity: fidelity(operation.name),
            source: operation.source,
        }
    };
    isa.operations.iter().enumerate().map(row).collect()
}

/// The instructions of a stream that exist in its generation.
fn of_streams(
    engine: Engine,
    semantics: Option<&'static Semantics>,
    fidelity: &dyn Fn(&str) -> Option<&'static str>,
) -> Vec<Row> {
    let layouts = engine.stream.layouts_of(0);
    let row = |(index, instruction): (usize, &'static isaforge_core::stream::Instruction)| {
        let mut own = layouts.iter().filter(|layout| usize::from(layout.opcode) == index);
        // Sequences of operands have no layout.
        let own = own.find(|layout| engine.has(layout));
        let operands = |wanted: Access| {
            let used = own.into_iter().flat_map(|layout| layout.operands.iter().map(move |operand| (layout, operand)));
            let used = used.filter(|(_, operand)| operand.access == wanted || operand.access == Access::ReadWrite);
            used.filter_map(|(layout, operand)| Some(layout.fields.get(usize::from(operand.field))?.name.to_owned()))
                .collect()
        };
        Row {
            mnemonic: instruction.name,
            title: instruction.title,
            doc: instruction.doc,
            unit: instruction.unit.to_owned(),
            reads: operands(Access::Read),
            writes: operands(Access::Write),
            number: index,
            operation: meaning(semantics, index),
            fidelity: fidelity(instruction.name),
            source: instruction.source,
        }
    };
    let all = engine.stream.instructions.iter().enumerate();
    all.filter(|(index, _)| exists(engine, *index)).map(row).collect()
}

/// The operation of an instruction and the intrinsics that it uses.
fn meaning(semantics: Option<&'static Semantics>, index: usize) -> Option<(&'static str, Vec<&'static str>)> {
    let semantics = semantics?;
    let operation: &'static Operation = semantics.operations.get(index)?;
    let names = operation.intrinsics.iter().filter_map(|i| Some(semantics.intrinsics.get(usize::from(*i))?.name));
    let names: Vec<&'static str> = names.collect();
    (!operation.text.is_empty() || !names.is_empty()).then_some((operation.text, names))
}

impl Row {
    /// Whether all of these lower-case words appear in its mnemonic, title, description or another column.
    fn has(&self, words: &[String]) -> bool {
        let texts = [self.mnemonic, self.title, self.doc, &self.unit, self.fidelity.unwrap_or_default()];
        let texts = texts.into_iter().chain(self.reads.iter().chain(&self.writes).map(String::as_str));
        let text = texts.collect::<Vec<_>>().join("\n").to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    fn object(&self) -> Value {
        let operation = self.operation.as_ref().map(|(text, _)| *text).filter(|text| !text.is_empty());
        serde_json::json!({
            "mnemonic": self.mnemonic,
            "title": self.title,
            "doc": self.doc,
            "unit": self.unit,
            "reads": self.reads,
            "writes": self.writes,
            "operation": operation,
            "intrinsics": self.operation.as_ref().map_or(&[][..], |(_, names)| names),
            "fidelity": self.fidelity,
            "source": self.source,
        })
    }
}

fn table(rows: &[Row]) -> String {
    let width = |text: &dyn Fn(&Row) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let (name, unit) = (width(&|row| row.mnemonic.len()), width(&|row| row.unit.len()));
    let mut text = String::new();
    for row in rows {
        let uses = match (&row.writes[..], &row.reads[..]) {
            ([], []) => String::new(),
            (writes, []) => writes.join(", "),
            (writes, reads) => format!("{} ← {}", writes.join(", "), reads.join(", ")),
        };
        let fidelity = row.fidelity.unwrap_or_default();
        let title = if row.title.is_empty() { first_sentence(row.doc) } else { row.title };
        let tail = [uses.trim(), fidelity].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
        let room = columns().max(40).saturating_sub(name + unit + tail.chars().count() + 6);
        let title: String = match title.chars().count() {
            length if length > room => title.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
            length => format!("{title}{}", " ".repeat(room - length)),
        };
        let mnemonic = format!("{:name$}", row.mnemonic);
        text.push_str(
            format!("{}  {:unit$}  {title}  {}", paint(BOLD, &mnemonic), row.unit, paint(DIM, &tail)).trim_end(),
        );
        text.push('\n');
    }
    text
}
