//! Instructions described by an XML file in the schema of Arm's machine-generated description.
//!
//! The reader knows the vocabulary of the schema: elements, attributes, built-in types, and the fields of destinations
//! and staging registers. The file has all bit positions. The `arm` section selects the architecture and defines how
//! sources are read and how lists are written.
//!
//! - here: reads the files and adds their definitions
//! - `document`: a file, with its enums, elements and attributes
//! - `instruction`, with `members`, `operands`, `tied` and `expression`: reads an instruction
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0080 | a field that the syntax of its instruction does not contain |
//! | E0081 | an expression that cannot be evaluated |
//! | E0082 | dependent fields that no modifier or operand can represent |
//! | E0083 | a number or a count that the tables cannot represent |
//! | E0084 | a field whose position or width contradicts the specification |

pub(super) mod document;
mod expression;
mod instruction;
mod members;
mod operands;
pub mod spec;
mod tied;

use std::collections::HashMap;

use super::resolver::Resolver;
use crate::diagnostic::Diagnostic;
use crate::model::{Constants, Enum, Value};
use crate::source::{Kind, Span, has_element};
use crate::xml::read_xml;
use document::{ArmEnum, ArmValue, Document, exists, only, unknown_element};
use spec::ArmSpec;

/// A document with instructions or definitions.
const XML: &Kind = &Kind { endings: &["xml"], is: |text| has_element(text, &[ROOT, "instruction", "enum"]) };
/// The root of a document.
const ROOT: &str = "mali-isa";
impl Resolver<'_> {
    /// Reads the files of `arm` sections and adds the enums and constants that kinds refer to; everything else waits
    /// until kinds exist. `None` when a file cannot be read.
    pub(crate) fn arm_definitions(&mut self) -> Option<()> {
        let specs: Vec<ArmSpec> = self.files.iter().filter_map(|(_, f)| f.arm.clone()).collect();
        for spec in specs {
            let root = match self.sources.load_part(&self.beside(&spec.file), XML) {
                Ok(file) => read_xml(self.sources, file, self.out)?,
                Err(error) => {
                    self.out.push(Diagnostic::error("E0003", spec.file.span, error.to_string()));
                    return None;
                }
            };
            if root.name.value != ROOT {
                unknown_element(&root, "the file", &[ROOT], self.out);
                return None;
            }
            only(&root, &["major", "minor", "patch"], &spec, self.out);
            let mut document = Document { spec, root, enums: HashMap::new() };
            let root = document.root.clone();
            for element in &root.children {
                match element.name.as_str() {
                    "enum" => drop(document.add_enum(element, self.out)),
                    "instruction" => {}
                    _ => unknown_element(element, "the document", &["instruction", "enum"], self.out),
                }
            }
            self.arm_named_by_kinds(&document);
            self.arm_documents.push(document);
        }
        Some(())
    }

    /// Adds the enums and tables that the specification's kinds refer to and that are not defined elsewhere.
    fn arm_named_by_kinds(&mut self, document: &Document) {
        let kinds = self.all(|f| &f.kinds);
        let fields = kinds.iter().flat_map(|(_, k)| k.alternatives.iter()).flat_map(|(_, a)| a.fields.iter());
        let fields: Vec<_> =
            fields.flat_map(|f| f.iter()).map(|(_, f)| (f.r_enum.clone(), f.constants.clone())).collect();
        let own = self.all(|f| &f.enums);
        for (named, table) in fields {
            if let Some(found) = named.and_then(|name| document.enums.get(&name.value))
                && !own.iter().any(|(name, _)| name.value == found.name.value)
            {
                self.arm_enum(found, None);
            }
            if let Some(found) = table.and_then(|name| document.enums.get(&name.value)) {
                self.arm_constants(found);
            }
        }
    }

    /// The index of an enum of the file, restricted to the values that a field allows.
    pub(super) fn arm_enum(&mut self, from: &ArmEnum, allowed: Option<&[u64]>) -> usize {
        let is_allowed = |v: &ArmValue| allowed.is_none_or(|a| a.contains(&v.value));
        let mut numbers: Vec<u64> = from.values.iter().filter(|v| is_allowed(v)).map(|v| v.value).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let whole = from.values.iter().all(is_allowed);
        let words: Vec<&str> = numbers.iter().filter_map(|n| from.named(*n)).map(|v| v.name.as_str()).collect();
        let name = if whole { from.name.value.clone() } else { format!("{}: {}", from.name.value, words.join(" ")) };
        if let Some(known) = self.isa.enums.iter().position(|e| e.name == name) {
            return known;
        }
        let value = |bits: u64| {
            let first = from.named(bits)?;
            let others = from.values.iter().filter(|v| v.value == bits && v.name.value != first.name.value);
            Some(Value {
                name: first.name.value.clone(),
                text: first.name.value.clone(),
                also: others.map(|v| v.name.value.clone()).collect(),
                bits,
                doc: String::new(),
                span: first.name.span,
            })
        };
        let values: Vec<Value> = numbers.iter().filter_map(|n| value(*n)).collect();
        let default = from.none().filter(|none| numbers.contains(none));
        self.add_plain_enum(name, from.name.span, values, default)
    }

    /// Adds an enum without documentation.
    pub(super) fn add_plain_enum(
        &mut self,
        name: String,
        span: Span,
        values: Vec<Value>,
        default: Option<u64>,
    ) -> usize {
        let listed = values.len() as u64;
        self.isa.enums.push(Enum {
            name,
            doc: String::new(),
            span,
            implied: false,
            bits: None,
            values,
            default,
            listed,
            open: true,
        });
        self.isa.enums.len() - 1
    }

    fn arm_constants(&mut self, from: &ArmEnum) {
        if self.isa.constants.iter().any(|c| c.name == from.name.value) {
            return;
        }
        let mut values: Vec<&ArmValue> = from.values.iter().collect();
        values.sort_by_key(|v| v.value);
        let dense = values.iter().enumerate().all(|(i, v)| v.value == i as u64 && v.pattern.is_some());
        if !dense {
            let message = format!("`{}` is not a table of constants", from.name.value);
            let error = Diagnostic::error("E0083", from.name.span, message);
            self.out.push(error.note("a table has a `bit_pattern` for every value, and values from 0 without a gap"));
            return;
        }
        let values = values.iter().map(|v| (v.pattern.unwrap_or(0), v.name.value.clone())).collect();
        let constants = Constants { name: from.name.value.clone(), doc: String::new(), span: from.name.span, values };
        self.isa.constants.push(constants);
    }

    /// Adds the instructions that the architecture has.
    pub(crate) fn arm_instructions(&mut self) {
        for document in std::mem::take(&mut self.arm_documents) {
            // An alias is a special case of its instruction.
            self.isa.special_cases = true;
            let before = self.isa.forms.len();
            for element in document.root.children.iter().filter(|e| e.name.value == "instruction") {
                if exists(element, &document.spec, self.out) {
                    let (failures, forms) = (self.out.failures(), self.isa.forms.len());
                    self.arm_instruction(&document, element);
                    if self.out.failures() > failures {
                        self.isa.forms.truncate(forms);
                    }
                }
            }
            if self.isa.forms.len() == before && !self.out.has_errors() {
                let architecture = &document.spec.architecture;
                let message = format!("the file has nothing for architecture {}", architecture.value);
                self.out.push(
                    Diagnostic::error("E0084", architecture.span, message)
                        .secondary(document.spec.file.span, "this file"),
                );
            }
        }
    }
}
