//! Instructions described by an XML file in the schema of Arm's machine-generated description.
//!
//! The reader knows the vocabulary of the schema: elements, attributes, built-in types, and the fields of destinations
//! and staging registers. The file has all bit positions. The `arm` section selects the architecture and defines how
//! sources are read and how lists are written.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0080 | a field that the syntax of its instruction does not contain |
//! | E0081 | an expression that cannot be evaluated |
//! | E0082 | dependent fields that no modifier or operand can represent |
//! | E0083 | a number or a count that the tables cannot represent |
//! | E0084 | a field whose position or width contradicts the specification |

mod expression;
mod instruction;
mod members;
mod operands;
pub mod spec;
mod tied;

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Constants, Enum, Value};
use crate::resolve::Resolver;
use crate::source::{Kind, Span, Spanned, has_element};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::{Element, read_xml};
use spec::ArmSpec;

/// A document with instructions or definitions.
const XML: &Kind = &Kind { endings: &["xml"], is: |text| has_element(text, &[ROOT, "instruction", "enum"]) };
/// The root of a document.
const ROOT: &str = "mali-isa";
/// The value of a modifier that is not written.
pub(super) const NONE: &str = "none";

/// A value of an enum in the file.
#[derive(Clone)]
pub(super) struct ArmValue {
    pub name: Spanned<String>,
    pub value: u64,
    canonical: bool,
    pattern: Option<u64>,
}

/// An enum of the file, with the values of the architecture.
#[derive(Clone)]
pub(super) struct ArmEnum {
    name: Spanned<String>,
    pub values: Vec<ArmValue>,
}

impl ArmEnum {
    /// The canonical value with this number, or else any.
    pub(super) fn named(&self, value: u64) -> Option<&ArmValue> {
        let with = |v: &&ArmValue| v.value == value;
        self.values.iter().filter(with).find(|v| v.canonical).or_else(|| self.values.iter().find(with))
    }

    /// The number of the value `none`.
    pub(super) fn none(&self) -> Option<u64> {
        self.values.iter().find(|v| v.name.value == NONE).map(|v| v.value)
    }
}

/// A file named by an `arm` section.
pub(crate) struct Document {
    pub spec: ArmSpec,
    root: Element,
    pub(super) enums: HashMap<String, ArmEnum>,
}

/// Parses an attribute as a whole number: decimal, `0x` or `0b`.
pub(super) fn number(text: &Spanned<String>, out: &mut Diagnostics) -> Option<u64> {
    let value = text.value.trim();
    let parsed = match value.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&value[2..], 16),
        Some("0b" | "0B") => u64::from_str_radix(&value[2..], 2),
        _ => value.parse(),
    };
    if parsed.is_err() {
        let error = Diagnostic::error("E0053", text.span, format!("`{value}` is not a number"));
        out.push(error.help("write decimal, or `0x` and hexadecimal digits"));
    }
    parsed.ok()
}

/// Returns a required attribute.
pub(super) fn required<'x>(element: &'x Element, name: &str, out: &mut Diagnostics) -> Option<&'x Spanned<String>> {
    let found = element.attribute(name);
    if found.is_none() {
        let message = format!("`<{}>` needs the attribute `{name}`", element.name.value);
        out.push(Diagnostic::error("E0051", element.span, message));
    }
    found
}

/// Reports attributes that are neither known nor listed under `ignore`.
pub(super) fn only(element: &Element, known: &[&str], spec: &ArmSpec, out: &mut Diagnostics) {
    for attribute in &element.attributes {
        let name = attribute.name.as_str();
        if known.contains(&name) || spec.ignore.iter().flatten().any(|i| i == name) {
            continue;
        }
        let message = format!("`<{}>` has an unknown attribute `{name}`", element.name.value);
        let mut error = Diagnostic::error("E0052", attribute.name.span, message);
        if let Some(near) = did_you_mean(name, known.iter().copied()) {
            error = error.help(format!("did you mean `{near}`?"));
        }
        out.push(error.note("list it under `arm: ignore:` if it says nothing about bits"));
    }
}

pub(super) fn unknown_element(element: &Element, place: &str, known: &[&str], out: &mut Diagnostics) {
    let name = element.name.as_str();
    let mut error = Diagnostic::error("E0050", element.name.span, format!("unknown element `<{name}>` in {place}"));
    if let Some(near) = did_you_mean(name, known.iter().copied()) {
        error = error.help(format!("did you mean `<{near}>`?"));
    }
    out.push(error.note(format!("allowed here: {}", one_of(known.iter().copied()))));
}

/// Whether an element exists in the architecture. An invalid range is reported and counts as "no".
fn exists(element: &Element, spec: &ArmSpec, out: &mut Diagnostics) -> bool {
    let mut bound = |name, otherwise| match element.attribute(name) {
        Some(text) => number(text, out),
        None => Some(otherwise),
    };
    let (since, until) = (bound("since", 0), bound("until", u64::MAX));
    let here = u64::from(spec.architecture.value);
    since.is_some_and(|s| s <= here) && until.is_some_and(|u| here <= u)
}

impl Document {
    /// The number of an enum's value, by name.
    pub(super) fn value(&self, of: &Spanned<String>, name: &Spanned<String>, out: &mut Diagnostics) -> Option<u64> {
        let found = self.find(of, out)?;
        let value = found.values.iter().find(|v| v.name.value == name.value);
        if value.is_none() {
            let error = Diagnostic::error(
                "E0101",
                name.span,
                format!("there is no value called `{}` in `{}`", name.value, of.value),
            )
            .secondary(found.name.span, format!("the enum for architecture {}", self.spec.architecture.value));
            let near = out.near(&name.value, found.values.iter().map(|v| v.name.as_str()));
            out.push(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        value.map(|v| v.value)
    }

    /// Finds an enum of the architecture by name.
    pub(super) fn find(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<&ArmEnum> {
        let found = self.enums.get(&name.value);
        if found.is_none() {
            let message = format!("architecture {} has no enum called `{}`", self.spec.architecture.value, name.value);
            let error = Diagnostic::error("E0101", name.span, message);
            let near = out.near(&name.value, self.enums.keys().map(String::as_str));
            out.push(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        found
    }

    fn add_enum(&mut self, element: &Element, out: &mut Diagnostics) -> Option<()> {
        only(element, &["name", "since", "until"], &self.spec, out);
        let name = required(element, "name", out)?.clone();
        if !exists(element, &self.spec, out) {
            return Some(());
        }
        let entry = self.enums.entry(name.value.clone()).or_insert(ArmEnum { name, values: Vec::new() });
        for child in &element.children {
            if child.name.value != "value" {
                unknown_element(child, "an enum", &["value"], out);
                continue;
            }
            only(child, &["name", "value", "canonical", "bit_pattern", "since", "until"], &self.spec, out);
            let (name, value) = (required(child, "name", out), required(child, "value", out));
            let (Some(name), Some(value)) = (name, value.and_then(|v| number(v, out))) else { continue };
            if !exists(child, &self.spec, out) {
                continue;
            }
            if let Some(earlier) = entry.values.iter().find(|v| v.name.value == name.value) {
                let message = format!("the value `{}` is defined twice", name.value);
                out.push(
                    Diagnostic::error("E0102", name.span, message).secondary(earlier.name.span, "first defined here"),
                );
                continue;
            }
            let canonical = child.attribute("canonical").is_none_or(|c| c.value != "0");
            let pattern = child.attribute("bit_pattern").and_then(|p| number(p, out));
            entry.values.push(ArmValue { name: name.clone(), value, canonical, pattern });
        }
        Some(())
    }
}

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
