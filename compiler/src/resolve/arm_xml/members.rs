//! The fields of an instruction, as read from the document.

use isaforge_core::bits::ones;

use super::document::{ArmEnum, Document, number, only, required, unknown_element};
use super::expression::Expression;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Fixed};
use crate::source::{Span, Spanned};
use crate::suggest::did_you_mean;
use crate::xml::Element;

/// Built-in types. Enums take precedence over them.
const BUILT_IN: [&str; 8] =
    ["uint", "int", "float", "V2F16", "V2I16", "V4I8", "pc_rel_label_signed", "pc_rel_label_unsigned"];

/// The type of a field.
#[derive(Clone)]
pub(super) enum Holds {
    /// A value of an enum.
    Enum(ArmEnum),
    /// An unsigned number, or bits that form one value, such as a float.
    Number,
    /// A number in two's complement.
    Signed,
    /// A source, with the name of its type.
    Source(String),
    /// An offset in bytes from the next instruction.
    Label { signed: bool },
    /// Not specified: a constant, or the result of an expression.
    Unsaid,
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Unchanged.
    Same,
    /// As it is, and a multiple of this.
    Align(u64),
    /// Shifted right by this many bits, which are zero.
    Shift(u32),
    /// With this subtracted.
    Minus(u64),
}

/// A `<field>` or a `<virtual>`.
pub(super) struct Member {
    pub name: Spanned<String>,
    pub span: Span,
    /// Lowest bit and width; `None` for a virtual field, which is not stored.
    pub place: Option<(u8, u8)>,
    pub holds: Holds,
    pub exact: Option<u64>,
    pub default: Option<u64>,
    /// The allowed values, if not all of the enum.
    pub allowed: Option<Vec<u64>>,
    pub step: Step,
    pub least: Option<u64>,
    pub greatest: Option<u64>,
    pub expression: Option<Expression>,
}

impl Member {
    pub(super) fn width(&self) -> u32 {
        self.place.map_or(0, |(_, width)| u32::from(width))
    }

    pub(super) fn bits(&self) -> Bits {
        self.place.map_or_else(Bits::default, |(at, width)| Bits::run(at, width))
    }

    /// Whether the file allows this value.
    pub(super) fn admits(&self, value: u64) -> bool {
        let named = match &self.holds {
            Holds::Enum(e) => e.named(value).is_some(),
            _ => true,
        };
        named
            && self.allowed.as_ref().is_none_or(|a| a.contains(&value))
            && self.exact.is_none_or(|e| e == value)
            && self.least.is_none_or(|least| value >= least)
            && self.greatest.is_none_or(|greatest| value <= greatest)
    }

    /// The value if none is written.
    pub(super) fn unwritten(&self) -> Option<u64> {
        let none = match &self.holds {
            Holds::Enum(e) => e.none(),
            _ => None,
        };
        self.default.or(none)
    }

    /// The word for a value.
    pub(super) fn word(&self, value: u64) -> Option<&str> {
        match &self.holds {
            Holds::Enum(e) => e.named(value).map(|v| v.name.as_str()),
            _ => None,
        }
    }
}

/// The parts of an instruction other than its syntax.
#[derive(Default)]
pub(super) struct Members {
    pub list: Vec<Member>,
    pub zero: Vec<Fixed>,
    pub ignored: u64,
}

impl Members {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|m| m.name.value == name)
    }

    /// Reads the children of an `<instruction>`.
    pub(super) fn read(document: &Document, element: &Element, word_bits: u8, out: &mut Diagnostics) -> Members {
        let mut members = Members::default();
        for child in &element.children {
            match child.name.as_str() {
                "syntax" => {}
                "field" | "virtual" => {
                    let Some(member) = member(document, child, word_bits, out) else { continue };
                    if let Some(earlier) = members.find(&member.name.value) {
                        let message = format!("the field `{}` is defined twice", member.name.value);
                        let error = Diagnostic::error("E0102", member.name.span, message);
                        out.push(error.secondary(members.list[earlier].name.span, "first defined here"));
                        continue;
                    }
                    members.list.push(member);
                }
                "reserved" => members.reserved(document, child, word_bits, out),
                _ => unknown_element(child, "an instruction", &["syntax", "field", "virtual", "reserved"], out),
            }
        }
        members
    }

    fn reserved(&mut self, document: &Document, element: &Element, word_bits: u8, out: &mut Diagnostics) {
        only(element, &["pos", "width", "type"], &document.spec, out);
        let Some((at, width)) = place(element, word_bits, out) else { return };
        let mask = ones(u32::from(width)) << at;
        match required(element, "type", out) {
            Some(ty) if ty.value == "zero" => {
                self.zero.push(Fixed { mask, value: 0, matches: false, span: element.span, declared: None });
            }
            Some(ty) if ty.value == "ignore" => self.ignored |= mask,
            Some(ty) => {
                let error = Diagnostic::error("E0023", ty.span, format!("unknown value `{}`", ty.value));
                out.push(error.label("expected `zero` or `ignore`"));
            }
            None => {}
        }
    }
}

/// `pos` and `width`.
fn place(element: &Element, word_bits: u8, out: &mut Diagnostics) -> Option<(u8, u8)> {
    let (at, width) = (required(element, "pos", out), required(element, "width", out));
    let (at, width) = (number(at?, out)?, number(width?, out)?);
    let fits = width > 0 && at.checked_add(width).is_some_and(|end| end <= u64::from(word_bits));
    if !fits {
        let message = format!("{width} bits from bit {at} are not inside the word of {word_bits}");
        out.push(Diagnostic::error("E0104", element.span, message));
    }
    fits.then_some((at as u8, width as u8))
}

fn member(document: &Document, element: &Element, word_bits: u8, out: &mut Diagnostics) -> Option<Member> {
    let is_virtual = element.name.value == "virtual";
    let known: &[&str] = match is_virtual {
        true => &["name", "type", "exact", "restrict", "default", "min", "max"],
        false => &["name", "pos", "width", "type", "exact", "default", "restrict", "modifier", "min", "max"],
    };
    only(element, known, &document.spec, out);
    let name = required(element, "name", out)?.clone();
    let place = if is_virtual { None } else { Some(place(element, word_bits, out)?) };
    let holds = match element.attribute("type") {
        Some(ty) => holds(document, ty, out)?,
        None => Holds::Unsaid,
    };
    let of_enum = |text: &Spanned<String>, out: &mut Diagnostics| match (&holds, element.attribute("type")) {
        (Holds::Enum(e), Some(ty))
            if !e.values.iter().any(|v| v.name.value == text.value) && text.value.parse::<u64>().is_err() =>
        {
            document.value(ty, text, out)
        }
        (Holds::Enum(e), _) => match e.values.iter().find(|v| v.name.value == text.value) {
            Some(value) => Some(value.value),
            None => number(text, out),
        },
        _ => number(text, out),
    };
    let given = |key: &str, out: &mut Diagnostics| match element.attribute(key) {
        Some(text) => of_enum(text, out).map(Some),
        None => Some(None),
    };
    let (exact, default) = (given("exact", out)?, given("default", out)?);
    let bound = |key: &str, out: &mut Diagnostics| match element.attribute(key) {
        Some(text) => number(text, out).map(Some),
        None => Some(None),
    };
    let (least, greatest) = (bound("min", out)?, bound("max", out)?);
    let allowed = match element.attribute("restrict") {
        Some(list) => Some(words(list).map(|word| of_enum(&word, out)).collect::<Option<Vec<u64>>>()?),
        None => None,
    };
    let step = match element.attribute("modifier") {
        Some(text) => step(text, out)?,
        None => Step::Same,
    };
    let named = |of: &Spanned<String>, value: &Spanned<String>, out: &mut Diagnostics| document.value(of, value, out);
    let expression = match &element.children[..] {
        [] => None,
        [child] if child.name.value == "expression" => {
            expression_attributes(child, &document.spec, out);
            Some(Expression::read(child, &named, out)?)
        }
        [child, ..] => {
            let error =
                Diagnostic::error("E0050", child.name.span, format!("`<{}>` is not allowed here", child.name.value));
            out.push(error.note("a field has at most one `<expression>`"));
            return None;
        }
    };
    let member =
        Member { name, span: element.span, place, holds, exact, default, allowed, step, least, greatest, expression };
    check(&member, element, out).then_some(member)
}

/// Checks that the attributes of a field are consistent and that it can hold its values.
fn check(member: &Member, element: &Element, out: &mut Diagnostics) -> bool {
    if member.exact.is_some() && member.expression.is_some() {
        let message = format!("`{}` is constant and computed", member.name.value);
        out.push(Diagnostic::error("E0081", element.span, message).help("remove `exact`, or the expression"));
        return false;
    }
    if matches!(member.holds, Holds::Unsaid) && member.exact.is_none() && member.expression.is_none() {
        let message = format!("`{}` has no type, no constant and no expression", member.name.value);
        out.push(Diagnostic::error("E0051", element.span, message));
        return false;
    }
    if member.place.is_none() && member.exact.is_none() && member.expression.is_none() {
        let message = format!("`{}` is neither stored in bits nor computed", member.name.value);
        out.push(Diagnostic::error("E0081", element.span, message).help("give it an expression, or `exact`"));
        return false;
    }
    let top = ones(member.width());
    if let (Some(exact), true) = (member.exact, member.place.is_some())
        && exact > top
    {
        let message =
            format!("the constant {exact} does not fit the {} bits of `{}`", member.width(), member.name.value);
        out.push(Diagnostic::error("E0031", element.span, message));
        return false;
    }
    true
}

fn expression_attributes(element: &Element, spec: &super::spec::ArmSpec, out: &mut Diagnostics) {
    only(element, &["identifier", "literal", "operator", "enum", "type"], spec, out);
    for child in &element.children {
        match child.name.as_str() {
            "expression" => expression_attributes(child, spec, out),
            _ => unknown_element(child, "an expression", &["expression"], out),
        }
    }
}

fn holds(document: &Document, ty: &Spanned<String>, out: &mut Diagnostics) -> Option<Holds> {
    if let Some(found) = document.enums.get(&ty.value) {
        return Some(Holds::Enum(found.clone()));
    }
    if document.spec.sources.iter().any(|(name, _)| name.value == ty.value) {
        return Some(Holds::Source(ty.value.clone()));
    }
    match ty.value.as_str() {
        "uint" | "float" | "V2F16" | "V2I16" | "V4I8" => Some(Holds::Number),
        "int" => Some(Holds::Signed),
        "pc_rel_label_signed" => Some(Holds::Label { signed: true }),
        "pc_rel_label_unsigned" => Some(Holds::Label { signed: false }),
        _ => {
            let architecture = document.spec.architecture.value;
            let message = format!("architecture {architecture} has no type called `{}`", ty.value);
            let sources = document.spec.sources.iter().map(|(name, _)| name.as_str());
            let known = document.enums.keys().map(String::as_str).chain(sources).chain(BUILT_IN);
            let mut error = Diagnostic::error("E0101", ty.span, message);
            if let Some(near) = did_you_mean(&ty.value, known) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            out.push(
                error.note("a type is an enum of the file, a built-in one, or a source that `arm: sources:` names"),
            );
            None
        }
    }
}

/// The words of a list, each with its place.
fn words(list: &Spanned<String>) -> impl Iterator<Item = Spanned<String>> {
    let start = list.value.as_ptr() as usize;
    list.value.split_whitespace().map(move |word| {
        let at = word.as_ptr() as usize - start;
        Spanned::new(word.to_owned(), list.span.slice(at..at + word.len()))
    })
}

/// `align(n)`, `shr(n)`, `minus(n)`.
fn step(text: &Spanned<String>, out: &mut Diagnostics) -> Option<Step> {
    let call = text.value.trim().strip_suffix(')').and_then(|t| t.split_once('('));
    let argument = call.and_then(|(name, n)| Some((name.trim(), n.trim().parse::<u64>().ok()?)));
    let step = match argument {
        Some(("align", n)) if n.is_power_of_two() => Some(Step::Align(n)),
        Some(("shr", n)) if n < 32 => Some(Step::Shift(n as u32)),
        Some(("minus", n)) => Some(Step::Minus(n)),
        _ => None,
    };
    if step.is_none() {
        let error = Diagnostic::error("E0083", text.span, format!("`{}` is not a way to store a number", text.value));
        out.push(error.help("write `align(4)` with a power of two, `shr(3)`, or `minus(1)`"));
    }
    step
}
