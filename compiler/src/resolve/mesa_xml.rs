//! Instructions described by an XML file in the schema of Mesa's Valhall description.
//!
//! The reader knows the vocabulary of the schema (`ins`, `group`, `src`, `sr`, `imm`, `mod`, …) and how groups expand.
//! All bit positions come from the `xml` section of the specification.

mod instructions;
mod operands;
mod usage;

use isaforge_core::number;

use super::resolver::Resolver;
use crate::diagnostic::Diagnostic;
use crate::model::{Constants, Enum, Fixed, Part, Value};
use crate::source::{Kind, Span, Spanned, has_element};
use crate::spec::{Erratum, XmlSpec};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::{Element, read_xml};

/// A document with instructions or definitions.
const XML: &Kind = &Kind { endings: &["xml"], is: |text| has_element(text, &["isa", "ins", "group", "lut", "enum"]) };
/// Elements within an instruction, besides the names of modifiers.
const PARTS: [&str; 9] = ["desc", "ins", "src", "dest", "sr", "imm", "mod", "va_mod", "opcode"];

/// The schema compares names of enums without punctuation: "Load lane (8-bit)" is `load_lane_8_bit`.
fn safe_name(name: &str) -> String {
    let kept = name.chars().filter(|c| !"[]():.,=>#&*\"+'".contains(*c));
    kept.map(|c| if " /-".contains(c) { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Whether an attribute is present and neither empty nor `false`.
fn is_given(value: Option<&Spanned<String>>) -> bool {
    value.is_some_and(|v| !matches!(v.as_str(), "" | "false"))
}

/// The elements of an instruction that are encoded. Those marked `pseudo` exist only for compilers.
fn encoded(element: &Element) -> impl Iterator<Item = &Element> {
    element.children.iter().filter(|child| !is_given(child.attribute("pseudo")))
}

/// An instruction after its group has been expanded.
struct Instruction<'x> {
    name: Spanned<String>,
    /// The `opcode` attribute; newer documents list `<op>`s instead.
    opcode: Option<Spanned<u64>>,
    opcode2: Option<Spanned<u64>>,
    /// Constant bits from `<opcode><op val start mask/></opcode>`.
    ops: Vec<Fixed>,
    /// The element that contains the operands: the instruction itself or its group.
    body: &'x Element,
    /// The element of the instruction itself.
    own: &'x Element,
    size: u16,
    correction: Option<Erratum>,
}

impl Resolver<'_> {
    fn xml_specs(&self) -> Vec<XmlSpec> {
        self.files.iter().filter_map(|(_, f)| f.xml.clone()).collect()
    }

    /// Reads the XML files and adds their enums and constants; the instructions wait until kinds exist. `None` when a
    /// file cannot be read, because all of its contents would seem to be missing.
    pub(crate) fn xml_definitions(&mut self) -> Option<()> {
        let mut complete = Some(());
        for spec in self.xml_specs() {
            let root = match self.sources.load_part(&self.beside(&spec.file), XML) {
                Ok(file) => read_xml(self.sources, file, self.out),
                Err(error) => {
                    self.out.push(Diagnostic::error("E0003", spec.file.span, error.to_string()));
                    None
                }
            };
            let Some(root) = root else {
                complete = None;
                continue;
            };
            for element in &root.children {
                match element.name.as_str() {
                    "enum" => self.xml_enum(element),
                    "lut" => self.xml_constants(element),
                    "group" => self.xml_group(&spec, element),
                    "ins" | "desc" => {}
                    _ => self.xml_unknown_element(element, "the document", &["enum", "lut", "ins", "group", "desc"]),
                }
            }
            self.xml_words(&spec);
            self.xml_roots.push((spec, root));
        }
        complete
    }

    /// Adds the further spellings of values of the document's enums.
    fn xml_words(&mut self, spec: &XmlSpec) {
        for (name, words) in spec.also.iter().flat_map(|also| also.iter()) {
            let Some(index) = self.isa.enums.iter().position(|e| e.name == name.value) else {
                let near = self.out.near(name, self.isa.enums.iter().map(|e| e.name.as_str())).map(str::to_owned);
                self.never_applies(name.span, &format!("there is no enum `{}`", name.value), near.as_deref());
                continue;
            };
            for (text, also) in words.iter() {
                let values = &mut self.isa.enums[index].values;
                if let Some(value) = values.iter_mut().find(|value| value.text == text.value) {
                    value.also.extend(also.iter().cloned());
                    continue;
                }
                let near = self.out.near(text, values.iter().map(|value| value.text.as_str())).map(str::to_owned);
                let message = format!("`{}` has no value `{}`", name.value, text.value);
                self.never_applies(text.span, &message, near.as_deref());
            }
        }
    }

    fn xml_unknown_element(&mut self, element: &Element, place: &str, known: &[&str]) {
        let name = element.name.as_str();
        let mut error = Diagnostic::error("E0050", element.name.span, format!("unknown element `<{name}>` in {place}"));
        if let Some(near) = did_you_mean(name, known.iter().copied()) {
            error = error.help(format!("did you mean `<{near}>`?"));
        }
        let known: Vec<String> = known.iter().map(|name| format!("<{name}>")).collect();
        self.out.push(error.note(format!("it may have {}", one_of(known))));
        // The definition it was meant to be must not be reported as missing, too.
        if let Some(name) = element.attribute("name") {
            self.out.mark_broken(&name.value);
            self.out.mark_broken(&safe_name(&name.value));
        }
    }

    /// Expands a group to its instructions. A group without instructions is reported, as it would otherwise have no
    /// effect.
    fn xml_group(&mut self, spec: &XmlSpec, group: &Element) {
        if !group.children.iter().any(|child| child.name.as_str() == "ins") {
            let near = group.children.iter().find(|child| {
                spec.modifiers.get(child.name.as_str()).is_none()
                    && did_you_mean(child.name.as_str(), ["ins"]).is_some()
            });
            match near {
                Some(child) => self.xml_unknown_element(child, "a group", &["ins"]),
                None => {
                    let error = Diagnostic::error("E0071", group.span, "a group without instructions");
                    self.out.push(error.help("add `<ins name=… opcode=…/>` for each, or make the group an `<ins>`"));
                }
            }
        }
    }

    /// Adds the enums that narrow fields need, once all other enums are known.
    pub(crate) fn xml_derived_enums(&mut self) {
        for spec in self.xml_specs() {
            self.derived_enums(&spec);
        }
    }

    fn xml_name(&mut self, element: &Element) -> Option<Spanned<String>> {
        self.xml_attribute(element, "name").cloned()
    }

    fn xml_attribute<'x>(&mut self, element: &'x Element, name: &str) -> Option<&'x Spanned<String>> {
        let found = element.attribute(name);
        if found.is_none() {
            // A misspelt attribute is already reported as such.
            let meant = |a: &crate::xml::Attribute| did_you_mean(a.name.as_str(), [name]).is_some();
            if !self.out.has_errors() || !element.attributes.iter().any(meant) {
                let message = format!("`<{}>` needs the attribute `{name}`", element.name.value);
                self.out.push(Diagnostic::error("E0051", element.span, message));
            }
        }
        found
    }

    /// Reports attributes that are neither known nor listed under `ignore`.
    fn xml_attributes(&mut self, element: &Element, known: &[&str], ignore: &[String]) {
        for attribute in &element.attributes {
            let name = attribute.name.as_str();
            if !known.contains(&name) && !ignore.iter().any(|i| i == name) {
                let message = format!("`<{}>` has an unknown attribute `{name}`", element.name.value);
                let mut error = Diagnostic::error("E0052", attribute.name.span, message);
                if let Some(near) = did_you_mean(name, known.iter().copied()) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                self.out.push(error.note("list it under `xml: ignore:` if it says nothing about bits"));
            }
        }
    }

    /// The value of a boolean attribute; `false` if it is absent.
    fn xml_flag(&mut self, element: &Element, name: &str) -> bool {
        self.xml_word(element, name, &["true", "false"]) == Some("true")
    }

    /// The value of an attribute that must be one of a few words.
    fn xml_word<'w>(&mut self, element: &Element, name: &str, words: &[&'w str]) -> Option<&'w str> {
        let given = element.attribute(name)?;
        let found = words.iter().find(|word| **word == given.as_str());
        if found.is_none() {
            let message = format!("`{name}` cannot be `{}`", given.value);
            let mut error =
                Diagnostic::error("E0059", given.span, message).label(format!("expected {}", one_of(words)));
            if let Some(near) = self.out.near(given, words.iter().copied()) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            self.out.push(error);
        }
        found.copied()
    }

    fn xml_number(&mut self, text: &Spanned<String>) -> Option<Spanned<u64>> {
        let value = text.value.trim();
        match number::parse(value) {
            Some(number) => Some(Spanned::new(number, text.span)),
            None => {
                let message = format!("`{value}` is not a number");
                let error = Diagnostic::error("E0053", text.span, message);
                self.out.push(match u64::from_str_radix(value, 16) {
                    Ok(_) => error.help(format!("write `0x{value}` if it is hexadecimal")),
                    Err(_) => error.help("write decimal, or `0x` and hexadecimal digits"),
                });
                None
            }
        }
    }

    fn xml_enum(&mut self, element: &Element) {
        self.xml_attributes(element, &["name", "implied"], &[]);
        let Some(name) = self.xml_name(element) else { return };
        match self.whole(&name.clone(), |r| Some(r.xml_enum_values(name.clone(), element))) {
            Some(made) => self.isa.enums.push(made),
            // Modifiers refer to it by this name.
            None => self.out.mark_broken(&safe_name(&name.value)),
        }
    }

    /// Records the place of the list of an enum or a table.
    fn xml_list(&mut self, name: &Spanned<String>, element: &Element) {
        let items = element.children.iter().filter(|child| child.name.as_str() != "desc");
        if let Some(list) = items.map(|item| item.span).reduce(Span::to) {
            self.isa.places.add(name.span, Part::List, 0, list);
        }
    }

    fn xml_enum_values(&mut self, name: Spanned<String>, element: &Element) -> Enum {
        let mut values: Vec<Value> = Vec::new();
        let mut default: Option<(u64, Span)> = None;
        let (mut doc, mut bits) = (String::new(), 0);
        for child in &element.children {
            match child.name.as_str() {
                "desc" => {
                    doc.clone_from(&child.text.value);
                    continue;
                }
                "value" => {
                    self.xml_attributes(child, &["name", "desc", "default"], &[]);
                    if let Some(word) = child.attribute("default")
                        // Newer documents write `none` for the default of a flag without a word.
                        && matches!(self.xml_word(child, "default", &["true", "false", "none"]), Some("true" | "none"))
                    {
                        if let Some((_, first)) = default {
                            let error =
                                Diagnostic::error("E0070", word.span, format!("a second default of `{}`", name.value));
                            self.out.push(error.label("again here").secondary(first, "the first one"));
                        }
                        default = Some((bits, word.span));
                    }
                    let meaning = child.attribute("desc").or(child.attribute("name"));
                    let doc = meaning.map(|m| m.value.clone()).unwrap_or_default();
                    let text = child.text.value.clone();
                    values.push(Value {
                        name: text.clone(),
                        text,
                        also: Vec::new(),
                        bits,
                        doc,
                        span: child.span.to(child.text.span),
                    });
                }
                "reserved" => self.xml_attributes(child, &["desc"], &[]),
                _ => {
                    self.xml_unknown_element(child, "an enum", &["value", "reserved", "desc"]);
                    continue;
                }
            }
            bits += 1;
        }
        self.xml_list(&name, element);
        let default = default.map(|(bits, _)| bits);
        let implied = self.xml_flag(element, "implied");
        Enum { name: name.value, doc, span: name.span, bits: None, values, default, implied, listed: bits, open: true }
    }

    fn xml_constants(&mut self, element: &Element) {
        self.xml_attributes(element, &["name"], &[]);
        let Some(name) = self.xml_name(element) else { return };
        let made = self.whole(&name.clone(), |r| {
            let (mut doc, mut values) = (String::new(), Vec::new());
            for child in &element.children {
                match child.name.as_str() {
                    "desc" => doc.clone_from(&child.text.value),
                    "constant" => {
                        r.xml_attributes(child, &["desc", "name"], &[]);
                        let meaning = child.attribute("desc").map(|d| d.value.clone()).unwrap_or_default();
                        if let Some(value) = r.xml_number(&child.text) {
                            values.push((value.value, meaning));
                        }
                    }
                    _ => r.xml_unknown_element(child, "a table of constants", &["constant", "desc"]),
                }
            }
            r.xml_list(&name, element);
            Some(Constants { name: name.value, doc, span: name.span, values })
        });
        self.isa.constants.extend(made);
    }

    /// Fields narrower than their enum choose from its first values, which form an enum of their own.
    fn derived_enums(&mut self, spec: &XmlSpec) {
        for field in spec.sources.attributes.iter().flat_map(|(_, fields)| fields.iter()) {
            let (Some(name), Some(first)) = (&field.r_enum, &field.first) else { continue };
            let derived = Spanned::new(derived_name(&name.value, first.value), name.span);
            let made = self.whole(&derived.clone(), |r| {
                let index = r.enum_index(name)?;
                let mut narrow = r.isa.enums[index].clone();
                let greatest = narrow.values.iter().map(|v| v.bits).max().unwrap_or(0);
                r.in_range("how many values of an enum are taken", first, 1, greatest.saturating_add(1));
                if let Some(default) = narrow.default.filter(|default| *default >= first.value) {
                    let message =
                        format!("the default of `{}` is not among its first {} values", name.value, first.value);
                    let error =
                        Diagnostic::error("E0116", first.span, message).label(format!("the default is {default}"));
                    r.out.push(error.secondary(narrow.span, "this enum"));
                }
                narrow.name = derived.value;
                narrow.values.retain(|v| v.bits < first.value);
                Some(narrow).filter(|narrow| !r.isa.enums.iter().any(|e| e.name == narrow.name))
            });
            self.isa.enums.extend(made);
        }
    }
}

fn derived_name(name: &str, first: u64) -> String {
    format!("{name}, first {first}")
}

fn place_value(bits: &crate::model::Bits, value: &Spanned<u64>, declared: Span) -> Fixed {
    let mut shift = 0;
    let mut placed = 0;
    for piece in &bits.0 {
        let part = value.value.checked_shr(shift).unwrap_or(0) & isaforge_core::bits::ones(u32::from(piece.width));
        placed |= part << piece.at;
        shift += u32::from(piece.width);
    }
    Fixed { mask: bits.mask(0), value: placed, matches: true, span: value.span, declared: Some(declared) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_enums_lose_their_punctuation() {
        assert_eq!(safe_name("Load lane (8-bit)"), "load_lane_8_bit");
        assert_eq!(safe_name("Swizzles (16-bit)"), "swizzles_16_bit");
    }
}
