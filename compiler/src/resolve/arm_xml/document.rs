//! The file that an `arm` section names: its enums for one architecture, and its elements and attributes.

use std::collections::HashMap;

use isaforge_core::number;

use super::spec::ArmSpec;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Spanned;
use crate::suggest::{did_you_mean, one_of};
use crate::xml::Element;

/// The value of a modifier that is not written.
pub(in crate::resolve) const NONE: &str = "none";

/// A value of an enum in the file.
#[derive(Clone)]
pub(in crate::resolve) struct ArmValue {
    pub name: Spanned<String>,
    pub value: u64,
    pub canonical: bool,
    pub pattern: Option<u64>,
}

/// An enum of the file, with the values of the architecture.
#[derive(Clone)]
pub(in crate::resolve) struct ArmEnum {
    pub name: Spanned<String>,
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
    pub root: Element,
    pub(super) enums: HashMap<String, ArmEnum>,
}

/// Parses an attribute as a whole number: decimal, `0x` or `0b`.
pub(in crate::resolve) fn number(text: &Spanned<String>, out: &mut Diagnostics) -> Option<u64> {
    let value = text.value.trim();
    let parsed = number::parse(value);
    if parsed.is_none() {
        let error = Diagnostic::error("E0053", text.span, format!("`{value}` is not a number"));
        out.push(error.help("write decimal, or `0x` and hexadecimal digits"));
    }
    parsed
}

/// Returns a required attribute.
pub(in crate::resolve) fn required<'x>(
    element: &'x Element,
    name: &str,
    out: &mut Diagnostics,
) -> Option<&'x Spanned<String>> {
    let found = element.attribute(name);
    if found.is_none() {
        let message = format!("`<{}>` needs the attribute `{name}`", element.name.value);
        out.push(Diagnostic::error("E0051", element.span, message));
    }
    found
}

/// Reports attributes that are neither known nor listed under `ignore`.
pub(in crate::resolve) fn only(element: &Element, known: &[&str], spec: &ArmSpec, out: &mut Diagnostics) {
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

pub(in crate::resolve) fn unknown_element(element: &Element, place: &str, known: &[&str], out: &mut Diagnostics) {
    let name = element.name.as_str();
    let mut error = Diagnostic::error("E0050", element.name.span, format!("unknown element `<{name}>` in {place}"));
    if let Some(near) = did_you_mean(name, known.iter().copied()) {
        error = error.help(format!("did you mean `<{near}>`?"));
    }
    out.push(error.note(format!("allowed here: {}", one_of(known.iter().copied()))));
}

/// Whether an element exists in the architecture. An invalid range is reported and counts as "no".
pub(super) fn exists(element: &Element, spec: &ArmSpec, out: &mut Diagnostics) -> bool {
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

    pub(super) fn add_enum(&mut self, element: &Element, out: &mut Diagnostics) -> Option<()> {
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
