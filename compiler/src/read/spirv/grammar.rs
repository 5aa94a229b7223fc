//! The documents as plain data, with places.

use isaforge_core::number;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};

#[derive(Deserialize)]
struct File<'t> {
    #[serde(default)]
    magic_number: Option<String>,
    #[serde(default)]
    major_version: u32,
    #[serde(default)]
    minor_version: u32,
    #[serde(borrow)]
    instructions: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    operand_kinds: Vec<&'t RawValue>,
}

/// An operand of an instruction or of a value.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Operand {
    pub kind: String,
    #[serde(default)]
    pub quantifier: Option<String>,
}

#[derive(Deserialize)]
struct InstructionOf {
    opname: String,
    opcode: u32,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    operands: Vec<Operand>,
}

#[derive(Deserialize)]
struct KindOf {
    category: String,
    kind: String,
    #[serde(default)]
    enumerants: Vec<EnumerantOf>,
    #[serde(default)]
    bases: Vec<String>,
}

#[derive(Deserialize)]
struct EnumerantOf {
    enumerant: String,
    value: serde_json::Value,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    parameters: Vec<Operand>,
}

/// A document.
#[derive(Debug)]
pub(super) struct Grammar {
    pub span: Span,
    pub magic: Option<u32>,
    /// Major and minor version.
    pub version: (u32, u32),
    pub instructions: Vec<Instruction>,
    pub kinds: Vec<Kind>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instruction {
    pub name: String,
    pub span: Span,
    pub code: u32,
    pub also: Vec<String>,
    pub operands: Vec<Operand>,
}

/// A kind of operand.
#[derive(Debug)]
pub(super) struct Kind {
    pub name: String,
    pub span: Span,
    pub category: String,
    pub values: Vec<Value>,
    /// The kinds that it is composed of.
    pub bases: Vec<String>,
}

/// A value of an enumeration.
#[derive(Debug)]
pub(super) struct Value {
    pub name: String,
    pub also: Vec<String>,
    pub value: u32,
    pub parameters: Vec<Operand>,
}

/// Reads a document.
pub(super) fn read(text: &str, file: FileId, out: &mut Diagnostics) -> Option<Grammar> {
    let whole = Span::new(file, 0..text.len());
    let found: File<'_> = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => {
            out.push(wrong(text, whole, &error));
            return None;
        }
    };
    let mut complete = true;
    let mut instructions = Vec::new();
    for raw in found.instructions {
        match part::<InstructionOf>(text, file, raw) {
            Ok((span, of)) => {
                let InstructionOf { opname: name, opcode: code, aliases: also, operands } = of;
                instructions.push(Instruction { name, span, code, also, operands });
            }
            Err(error) => {
                out.push(*error);
                complete = false;
            }
        }
    }
    let mut kinds = Vec::new();
    for raw in found.operand_kinds {
        let made = part::<KindOf>(text, file, raw).and_then(|(span, of)| {
            let values = of.enumerants.into_iter().map(|value| {
                let number = number(&value.value).ok_or_else(|| {
                    let message = format!("the value of `{}` is not a 32-bit number", value.enumerant);
                    Box::new(Diagnostic::error("E0020", span, message))
                });
                let EnumerantOf { enumerant: name, aliases: also, parameters, .. } = value;
                number.map(|value| Value { name, also, value, parameters })
            });
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(Kind { name: of.kind, span, category: of.category, values, bases: of.bases })
        });
        match made {
            Ok(kind) => kinds.push(kind),
            Err(error) => {
                out.push(*error);
                complete = false;
            }
        }
    }
    complete.then(|| Grammar {
        span: Span::new(file, 0..1),
        magic: found.magic_number.and_then(|text| number::parse(&text)?.try_into().ok()),
        version: (found.major_version, found.minor_version),
        instructions,
        kinds,
    })
}

/// Parses a part of a document, and returns it with its place.
fn part<'t, T: Deserialize<'t>>(text: &'t str, file: FileId, raw: &'t RawValue) -> Result<(Span, T), Box<Diagnostic>> {
    let own = raw.get();
    // The part is a slice of the whole text, so its offset is the difference of the addresses.
    let start = (own.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let span = Span::new(file, start..start + own.len());
    match serde_json::from_str(own) {
        Ok(found) => Ok((span, found)),
        Err(error) => Err(Box::new(wrong(own, span, &error))),
    }
}

/// Converts an error of the JSON parser to a diagnostic at its place.
fn wrong(text: &str, span: Span, error: &serde_json::Error) -> Diagnostic {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let at = (lines + error.column().saturating_sub(1)).min(text.len());
    Diagnostic::error("E0020", span.slice(at..at + 1), format!("this is not a SPIR-V grammar: {error}"))
}

fn number(value: &serde_json::Value) -> Option<u32> {
    let number = match value {
        serde_json::Value::String(text) => number::parse(text),
        value => value.as_u64(),
    };
    number?.try_into().ok()
}
