//! Machine-readable output: JSON, one object per line.
//!
//! The schemas describe the objects. The `$id` of each schema ends with a version, which changes when a key is removed
//! or changes its meaning, but not when keys are added.

use std::collections::BTreeMap;
use std::io::{self, Write};

use isaforge_analysis::effects::When;
use isaforge_analysis::entry::{Modifier, Operand};
use isaforge_analysis::fields::{Field, fields};
use isaforge_analysis::{Entry, Instruction, Register, Set};
use isaforge_compiler::diagnostic::{Diagnostic, Severity};
use isaforge_compiler::source::{Sources, Span};
use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::explain::hex;
use isaforge_core::program::ProgramError;
use isaforge_core::table::{self, Enum};
use serde::Serialize;
use serde_json::{Value, json};

use crate::builtin::Builtin;
use crate::explain::does::operation;
use crate::failure::{Failure, Status};

/// The schema of an instruction of a program.
pub const INSTRUCTION: &str = include_str!("instruction.schema.json");
/// The schema of an error or a warning.
pub const DIAGNOSTIC: &str = include_str!("diagnostic.schema.json");
/// The schema of an instruction set.
pub const SET: &str = include_str!("set.schema.json");
/// The schema of a report on recorded cases.
pub const REPORT: &str = include_str!("report.schema.json");

/// The schema of an entry of a list of instructions.
pub const LISTED: &str = include_str!("listed.schema.json");
/// The schemas of the objects that explanations consist of.
pub const EXPLAINED: [&str; 5] = [
    INSTRUCTION,
    LISTED,
    include_str!("enum.schema.json"),
    include_str!("field.schema.json"),
    include_str!("overview.schema.json"),
];

/// The schema of a finding in a program.
pub const FINDING: &str = include_str!("finding.schema.json");

/// The schema of a table of accuracies.
pub const FIDELITY: &str = include_str!("fidelity.schema.json");

/// The schema of a run.
pub const RUN: &str = include_str!("run.schema.json");

/// Prints a schema.
///
/// # Errors
/// When standard output cannot be written.
pub fn schema(schema: &str) -> Result<Status, Failure> {
    io::stdout().lock().write_all(schema.as_bytes())?;
    Ok(Status::Fine)
}

/// A schema that accepts objects of any of several schemas.
pub fn any_of(name: &str, title: &str, schemas: &[&str]) -> String {
    let schemas: Vec<Value> = schemas.iter().filter_map(|schema| serde_json::from_str(schema).ok()).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("https://isaforge.dev/schema/{name}-1.json"),
        "title": title,
        "anyOf": schemas,
    });
    format!("{schema:#}\n")
}

/// An enum of a specification.
pub fn choices(of: &Enum) -> Value {
    let value = |value: &table::Value| {
        let default = of.default == Some(value.bits);
        json!({ "value": value.bits, "name": value.name, "text": value.text, "doc": value.doc, "default": default })
    };
    let values: Vec<Value> = of.values.iter().map(value).collect();
    json!({ "kind": "enum", "name": of.name, "doc": of.doc, "values": values })
}

/// An error in assembly.
pub fn mistake(file: &str, error: &ProgramError) -> Value {
    let help: Vec<&str> = Some(error.help.as_str()).filter(|help| !help.is_empty()).into_iter().collect();
    json!({
        "code": null, "severity": "error", "message": error.message, "label": "", "file": file, "line": error.line,
        "column": error.column, "length": error.len, "notes": [], "help": help, "related": [],
    })
}

/// A diagnostic of a specification.
pub fn diagnostic(found: &Diagnostic, sources: &Sources) -> Value {
    let place = found.primary.map(|span| (sources.path(span.file).display().to_string(), sources.line_column(span)));
    let length = found.primary.map(|span| sources.snippet(span).chars().count());
    let related = |(span, message): &(Span, String)| {
        let (line, column) = sources.line_column(*span);
        json!({ "message": message, "file": sources.path(span.file).display().to_string(), "line": line, "column": column })
    };
    let related: Vec<Value> = found.rivals.iter().chain(&found.secondary).map(related).collect();
    json!({
        "code": found.code,
        "severity": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": found.message,
        "label": found.label,
        "file": place.as_ref().map(|(file, _)| file),
        "line": place.as_ref().map(|(_, (line, _))| line),
        "column": place.as_ref().map(|(_, (_, column))| column),
        "length": length,
        "notes": found.notes,
        "help": found.help,
        "related": related,
    })
}

/// A built-in instruction set.
pub fn set(found: &Builtin) -> Value {
    let (kind, instructions) = match found.tables {
        Tables::Words(isa) => ("words", isa.forms.len()),
        Tables::Groups(isa) => ("groups", isa.operations.len()),
        Tables::Streams(engine) => ("stream", engine.stream.instructions.len()),
    };
    json!({
        "name": found.name,
        "aliases": found.aliases,
        "description": found.description,
        "kind": kind,
        "unit": found.tables.unit(),
        "instructions": instructions,
        "semantics": found.semantics.is_some(),
        "runs": found.launch.is_some(),
    })
}

/// The instruction of an entry with the meaning of its bits. `example` is true if the user asked for a mnemonic.
pub fn explained<'a>(code: &Code<'a>, found: &'a Entry, example: bool) -> Object<'a> {
    let bytes = code.bytes.get(found.bytes.clone()).unwrap_or_default();
    let field =
        |field: Field| json!({ "bits": field.runs, "name": field.name, "text": field.text, "meaning": field.meaning });
    let fields = fields(code.set.tables, bytes).into_iter().map(field).collect();
    let implied = found.instruction.as_ref().ok().map(|instruction| {
        let names =
            |write: bool| instruction.implied(code.set, write).into_iter().map(|found| found.name).collect::<Vec<_>>();
        json!({ "reads": names(false), "writes": names(true) })
    });
    let (operation, here) = operation(code.set, bytes).unzip();
    Object {
        fields: Some(fields),
        implied,
        example: Some(example),
        operation: Some(operation),
        here: Some(here),
        ..code.entry(found)
    }
}

/// Writes an object on a line of its own.
///
/// # Errors
/// When it cannot be written.
pub fn line(out: &mut impl Write, object: &Object<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// An instruction as an object. Programs have millions of them, so it borrows what it can. The keys are sorted, like
/// those of all other objects.
#[derive(Debug, Default, Serialize)]
pub struct Object<'a> {
    address: u64,
    bytes: String,
    errors: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<Value>>,
    flow: Option<FlowObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    implied: Option<Value>,
    label: Option<&'a str>,
    /// The line of the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    mnemonic: Option<&'a str>,
    modifiers: Vec<ModifierObject<'a>>,
    operands: Vec<OperandObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<Option<String>>,
    reads: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shader: Option<&'a str>,
    target: Option<&'a str>,
    /// Targets before the first instruction are negative.
    target_address: Option<i64>,
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<String>,
    writes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FlowObject {
    barrier: bool,
    conditional: bool,
    discards: bool,
    kind: &'static str,
    reconverges: bool,
    waits: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct ModifierObject<'a> {
    name: &'a str,
    text: &'a str,
    value: u64,
}

#[derive(Debug, Serialize)]
struct OperandObject<'a> {
    kind: &'a str,
    name: &'a str,
    text: &'a str,
    value: i64,
}

/// The numbers of the slots in a set of them, bit 0 for slot 0.
pub fn slot_numbers(slots: u8) -> Vec<u32> {
    (0..8).filter(|slot| slots >> slot & 1 != 0).collect()
}

/// A program whose instructions are converted to objects.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// Its instruction set.
    pub set: &'a Set,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The names of labels, by address.
    pub labels: &'a BTreeMap<usize, String>,
    /// Its name, if it is one of several shaders.
    pub shader: Option<&'a str>,
}

impl<'a> Code<'a> {
    /// Converts an instruction to an object.
    pub fn entry(&self, entry: &'a Entry) -> Object<'a> {
        let bytes = self.bytes.get(entry.bytes.clone()).unwrap_or_default();
        let object = Object {
            address: self.set.address(entry.bytes.start as u64),
            bytes: hex(bytes),
            label: self.label(entry.bytes.start),
            shader: self.shader,
            word: match self.set.tables {
                Tables::Words(isa) => Some(format!("{:0w$x}", word_of(bytes), w = crate::words::word_digits(isa))),
                _ => None,
            },
            ..Object::default()
        };
        match &entry.instruction {
            Ok(instruction) => self.valid(instruction, object),
            Err(reason) => Object { errors: vec![reason], ..object },
        }
    }

    fn label(&self, address: usize) -> Option<&'a str> {
        self.labels.get(&address).map(String::as_str)
    }

    fn valid(&self, instruction: &'a Instruction, object: Object<'a>) -> Object<'a> {
        let name = |register: &Register| self.set.name(*register);
        let modifier = |Modifier { name, value, text }: &'a Modifier| ModifierObject { name, text, value: *value };
        let operand = |found: &'a Operand| {
            let Operand { name, kind, value, text } = found;
            OperandObject { kind, name, text, value: *value }
        };
        let flow = &instruction.flow;
        Object {
            flow: flow.known.then(|| FlowObject {
                barrier: flow.barrier,
                conditional: flow.branch == When::Sometimes || flow.end == When::Sometimes,
                discards: flow.discards,
                kind: flow.name(),
                reconverges: flow.reconverges,
                waits: slot_numbers(flow.waits),
            }),
            mnemonic: Some(&instruction.mnemonic),
            modifiers: instruction.modifiers.iter().map(modifier).collect(),
            operands: instruction.operands.iter().map(operand).collect(),
            reads: instruction.reads.iter().map(name).collect(),
            target: flow.target.and_then(|target| self.label(usize::try_from(target).ok()?)),
            target_address: flow.target.map(|target| self.set.address(target) as i64),
            text: Some(&instruction.text),
            writes: instruction.writes.iter().map(|(register, _)| name(register)).collect(),
            ..object
        }
    }
}
