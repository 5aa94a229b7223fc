//! Machine-readable output: JSON, one object per line.
//!
//! The schemas describe the objects. The `$id` of each schema ends with a version, which changes when a key is removed
//! or changes its meaning, but not when keys are added.

use std::collections::BTreeMap;
use std::io::Write;

use isaforge_analysis::effects::When;
use isaforge_analysis::fields::{Field, fields};
use isaforge_analysis::{Entry, Instruction, Register, Set};
use isaforge_compiler::diagnostic::{Diagnostic, Severity};
use isaforge_compiler::source::{Sources, Span};
use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::program::ProgramError;
use isaforge_core::table::{self, Enum};
use serde_json::{Map, Value, json};

use crate::builtin::Builtin;
use crate::failure::{Failure, Status};
use crate::groups::hex;

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
pub const EXPLAINED: [&str; 4] =
    [INSTRUCTION, LISTED, include_str!("enum.schema.json"), include_str!("field.schema.json")];

/// The schema of a run.
pub const RUN: &str = include_str!("run.schema.json");

/// Prints a schema.
///
/// # Errors
/// When standard output cannot be written.
pub fn schema(schema: &str) -> Result<Status, Failure> {
    std::io::stdout().lock().write_all(schema.as_bytes())?;
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
        "runs": found.launches.is_some(),
    })
}

/// The instruction of an entry with the meaning of its bits. `example` is true if the user asked for a mnemonic.
pub fn explained(code: &Code<'_>, found: &Entry, example: bool) -> Value {
    let mut object = code.entry(found);
    let bytes = code.bytes.get(found.bytes.clone()).unwrap_or_default();
    let field =
        |field: Field| json!({ "bits": field.runs, "name": field.name, "text": field.text, "meaning": field.meaning });
    object["fields"] = fields(code.set.tables, bytes).into_iter().map(field).collect();
    object["example"] = json!(example);
    object
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

impl Code<'_> {
    /// Converts an instruction to an object.
    pub fn entry(&self, entry: &Entry) -> Value {
        let bytes = self.bytes.get(entry.bytes.clone()).unwrap_or_default();
        let mut object = Map::new();
        if let Some(shader) = self.shader {
            object.insert("shader".into(), json!(shader));
        }
        object.insert("address".into(), json!(entry.bytes.start));
        object.insert("label".into(), json!(self.labels.get(&entry.bytes.start)));
        object.insert("bytes".into(), json!(hex(bytes)));
        if let Tables::Words(isa) = self.set.tables {
            let digits = crate::words::word_digits(isa);
            let word = word_of(bytes);
            object.insert("word".into(), json!(format!("{word:0digits$x}")));
        }
        match &entry.instruction {
            Ok(instruction) => self.valid(instruction, &mut object),
            Err(reason) => {
                for name in ["text", "mnemonic", "flow", "target", "target_address"] {
                    object.insert(name.into(), Value::Null);
                }
                for name in ["modifiers", "operands", "reads", "writes"] {
                    object.insert(name.into(), json!([]));
                }
                object.insert("errors".into(), json!([reason]));
            }
        }
        Value::Object(object)
    }

    fn valid(&self, instruction: &Instruction, object: &mut Map<String, Value>) {
        let names = |registers: &mut dyn Iterator<Item = Register>| {
            let names: Vec<Value> = registers.map(|register| json!(self.set.name(register))).collect();
            Value::Array(names)
        };
        let flow = &instruction.flow;
        let modifiers: Vec<Value> = instruction
            .modifiers
            .iter()
            .map(|modifier| json!({ "name": modifier.name, "value": modifier.value, "text": modifier.text }))
            .collect();
        let operands: Vec<Value> = instruction
            .operands
            .iter()
            .map(|o| json!({ "name": o.name, "kind": o.kind, "value": o.value, "text": o.text }))
            .collect();
        object.insert("text".into(), json!(instruction.text));
        object.insert("mnemonic".into(), json!(instruction.mnemonic));
        object.insert("modifiers".into(), Value::Array(modifiers));
        object.insert("operands".into(), Value::Array(operands));
        object.insert("reads".into(), names(&mut instruction.reads.iter().copied()));
        object.insert("writes".into(), names(&mut instruction.writes.iter().map(|(register, _)| *register)));
        let slots: Vec<u32> = (0..8).filter(|slot| flow.waits >> slot & 1 != 0).collect();
        object.insert(
            "flow".into(),
            json!({
                "kind": flow.name(),
                "conditional": flow.branch == When::Sometimes || flow.end == When::Sometimes,
                "waits": slots,
                "reconverges": flow.reconverges,
                "discards": flow.discards,
                "barrier": flow.barrier,
            }),
        );
        let label = flow.target.and_then(|target| self.labels.get(&usize::try_from(target).ok()?));
        object.insert("target".into(), json!(label));
        // Targets before the first instruction are negative.
        object.insert("target_address".into(), json!(flow.target.map(|target| target as i64)));
        object.insert("errors".into(), json!([]));
    }
}
