//! Elements of the documents with their places. Names are not bound yet.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use isaforge_core::number;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{FileId, Kind, Sources, Span, Spanned, has_element};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::{Element, read_xml};

/// A document, or one that it imports.
const XML: &Kind = &Kind { endings: &["xml"], is: |text| has_element(text, &[ROOT, "bitset", "enum"]) };
/// The root of a document.
const ROOT: &str = "isa";
/// The maximum nesting of imports.
const MAX_DEPTH: usize = 16;
/// The maximum width of a word in bits.
pub(super) const MAX_BITS: u16 = 256;

/// A whole document, imports included.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub bitsets: Vec<Bitset>,
    pub expressions: HashMap<String, Spanned<String>>,
    pub templates: HashMap<String, String>,
    pub enums: Vec<Enum>,
    read: HashSet<FileId>,
}

#[derive(Debug)]
pub(super) struct Enum {
    pub name: Spanned<String>,
    pub doc: String,
    pub values: Vec<(u64, String, Span)>,
}

/// A level of a hierarchy of encodings.
#[derive(Debug)]
pub(super) struct Bitset {
    pub name: Spanned<String>,
    pub shown: Option<String>,
    pub size: Option<u16>,
    pub extends: Option<Spanned<String>>,
    pub since: u32,
    pub until: u32,
    pub doc: String,
    pub unit: String,
    pub patterns: Vec<Pattern>,
    pub overrides: Vec<Case>,
    pub plain: Case,
    /// Values that an encoder assigns to fields, if they are numbers.
    pub constants: HashMap<String, u64>,
}

/// Bits with their required values.
#[derive(Debug)]
pub(super) struct Pattern {
    pub low: u16,
    pub high: u16,
    /// `0`, `1` and `x`, highest bit first.
    pub text: String,
    pub span: Span,
}

/// Contents that apply if an expression holds, or always without one.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub expression: Option<Spanned<String>>,
    pub display: Option<Spanned<String>>,
    pub fields: Vec<Field>,
    pub asserts: Vec<Pattern>,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: Spanned<String>,
    pub doc: String,
    pub source: Source,
    pub ty: Spanned<String>,
    pub display: Option<String>,
    /// Whether it is the address of a function.
    pub call: bool,
    /// Pairs of the name outside and the name inside.
    pub parameters: Vec<(Spanned<String>, String)>,
}

#[derive(Debug)]
pub(super) enum Source {
    Bits { low: u16, high: u16 },
    Derived { expression: Spanned<String>, width: u8 },
}

/// Reads a file with all its imports.
pub(super) fn read(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Document {
    let mut document = Document::default();
    match sources.load(path) {
        Ok(file) => Reader { sources, out, document: &mut document }.file(file, 0),
        Err(error) => out.push(Diagnostic::error_without_place("E0003", error.to_string())),
    }
    document
}

struct Reader<'a> {
    sources: &'a mut Sources,
    out: &'a mut Diagnostics,
    document: &'a mut Document,
}

impl Reader<'_> {
    fn file(&mut self, file: FileId, depth: usize) {
        if !self.document.read.insert(file) {
            return;
        }
        let Some(root) = read_xml(self.sources, file, self.out) else { return };
        if root.name.as_str() != ROOT {
            let message = format!("expected a document `<isa>`, found `<{}>`", root.name.value);
            self.out.push(Diagnostic::error("E0050", root.name.span, message));
            return;
        }
        self.known(&root, &[], &["import", "bitset", "enum", "expr", "template", "doc"]);
        for element in &root.children {
            match element.name.as_str() {
                "import" => self.import(element, file, depth),
                "bitset" => {
                    let bitset = self.bitset(element);
                    self.document.bitsets.extend(bitset);
                }
                "enum" => {
                    let found = self.enumeration(element);
                    self.document.enums.extend(found);
                }
                "expr" => {
                    self.known(element, &["name"], &["doc"]);
                    if let Some(name) = self.needed(element, "name") {
                        let text = element.text.clone();
                        if self.document.expressions.insert(name.value.clone(), text).is_some() {
                            self.twice(&name);
                        }
                    }
                }
                "template" => {
                    self.known(element, &["name"], &[]);
                    if let Some(name) = self.needed(element, "name") {
                        let text = element.text.value.clone();
                        if self.document.templates.insert(name.value.clone(), text).is_some() {
                            self.twice(&name);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn import(&mut self, element: &Element, from: FileId, depth: usize) {
        self.known(element, &["file"], &[]);
        let Some(name) = self.needed(element, "file") else { return };
        if depth >= MAX_DEPTH {
            let message = format!("files import one another more than {MAX_DEPTH} deep");
            self.out.push(Diagnostic::error("E0003", name.span, message));
            return;
        }
        let folder = self.sources.path_on_disk(from).parent().map(Path::to_owned).unwrap_or_default();
        match self.sources.load_part(&folder.join(&name.value), XML) {
            Ok(file) => self.file(file, depth + 1),
            Err(error) => self.out.push(Diagnostic::error("E0003", name.span, error.to_string())),
        }
    }

    fn bitset(&mut self, element: &Element) -> Option<Bitset> {
        self.known(
            element,
            &["name", "size", "extends", "displayname"],
            &["doc", "gen", "meta", "encode", "decode", "pattern", "field", "derived", "override", "assert", "display"],
        );
        let name = self.needed(element, "name")?;
        let size = element.attribute("size").and_then(|size| self.number(size)).map(|size| size as u16);
        let extends = element.attribute("extends").cloned();
        if size.is_some() == extends.is_some() {
            let message = format!("`{}` needs either `size` or `extends`", name.value);
            self.out.push(Diagnostic::error("E0042", element.span, message));
            return None;
        }
        if let Some(size) = size.filter(|size| *size == 0 || *size > MAX_BITS) {
            let message = format!("`{}` cannot have {size} bits", name.value);
            let error = Diagnostic::error("E0032", element.span, message);
            self.out.push(error.help(format!("words have 1 to {MAX_BITS} bits")));
            return None;
        }
        let mut bitset = Bitset {
            shown: element.attribute("displayname").map(|name| name.value.clone()),
            name,
            size,
            extends,
            since: 0,
            until: u32::MAX,
            doc: doc_of(element),
            unit: String::new(),
            patterns: Vec::new(),
            overrides: Vec::new(),
            plain: self.case(element),
            constants: HashMap::new(),
        };
        for child in &element.children {
            match child.name.as_str() {
                "gen" => {
                    self.known(child, &["min", "max"], &[]);
                    let limit = |reader: &mut Self, name| {
                        child.attribute(name).and_then(|limit| reader.number(limit)).map(|limit| limit as u32)
                    };
                    bitset.since = limit(self, "min").unwrap_or(0);
                    bitset.until = limit(self, "max").unwrap_or(u32::MAX);
                }
                "meta" => {
                    bitset.unit.extend(child.attribute("type").map(|unit| unit.value.clone()));
                }
                "encode" => self.encode(child, &mut bitset),
                "pattern" => bitset.patterns.extend(self.pattern(child, "01x")),
                "override" => bitset.overrides.extend(self.alternative(child)),
                _ => {}
            }
        }
        Some(bitset)
    }

    /// What an encoder in the compiler assigns to fields; used only for numbers, which do not depend on the
    /// instruction.
    fn encode(&mut self, element: &Element, bitset: &mut Bitset) {
        self.known(element, &["type", "case-prefix"], &["map"]);
        for map in &element.children {
            self.known(map, &["name", "force"], &[]);
            if let (Some(name), Ok(value)) = (map.attribute("name"), map.text.value.parse()) {
                bitset.constants.insert(name.value.clone(), value);
            }
        }
    }

    fn alternative(&mut self, element: &Element) -> Option<Case> {
        self.known(element, &["expr"], &["expr", "doc", "display", "field", "derived", "assert", "pattern"]);
        // A pattern in an alternative has no effect: Mesa's reader ignores it.
        let expression = self.expression(element)?;
        Some(Case { expression: Some(expression), ..self.case(element) })
    }

    /// The expression of an element, inline or by name.
    fn expression(&mut self, element: &Element) -> Option<Spanned<String>> {
        if let Some(name) = element.attribute("expr") {
            return Some(name.clone());
        }
        let found = element.children.iter().find(|child| child.name.as_str() == "expr").map(|child| child.text.clone());
        if found.is_none() {
            let message = format!("this `<{}>` has no expression", element.name.value);
            self.out.push(Diagnostic::error("E0051", element.span, message).help("give it an `expr`"));
        }
        found
    }

    fn case(&mut self, element: &Element) -> Case {
        let mut case = Case::default();
        for child in &element.children {
            match child.name.as_str() {
                "display" => case.display = Some(child.text.clone()),
                "field" => case.fields.extend(self.field(child)),
                "derived" => case.fields.extend(self.derived(child)),
                "assert" => case.asserts.extend(self.pattern(child, "01")),
                _ => {}
            }
        }
        for (i, field) in case.fields.iter().enumerate() {
            if case.fields[..i].iter().any(|other| other.name.value == field.name.value) {
                self.twice(&field.name.clone());
            }
        }
        case
    }

    fn field(&mut self, element: &Element) -> Option<Field> {
        self.known(element, &["name", "low", "high", "pos", "type", "display", "call"], &["doc", "param"]);
        let (name, ty) = (self.needed(element, "name")?, self.needed(element, "type")?);
        let (low, high) = self.range(element)?;
        if high - low >= 64 {
            let message = format!("`{}` has {} bits, but a field has at most 64", name.value, high - low + 1);
            self.out.push(Diagnostic::error("E0030", element.span, message));
            return None;
        }
        let parameters = element.children.iter().filter(|child| child.name.as_str() == "param");
        let parameters = parameters.filter_map(|parameter| {
            self.known(parameter, &["name", "as"], &[]);
            let name = self.needed(parameter, "name")?;
            let inside = parameter.attribute("as").map_or_else(|| name.value.clone(), |inside| inside.value.clone());
            Some((name, inside))
        });
        let parameters = parameters.collect();
        let display = element.attribute("display").map(|display| display.value.clone());
        let (doc, call) = (doc_of(element), self.call(element));
        Some(Field { name, doc, source: Source::Bits { low, high }, ty, display, call, parameters })
    }

    fn derived(&mut self, element: &Element) -> Option<Field> {
        self.known(element, &["name", "type", "width", "expr", "display", "call"], &["doc", "expr", "param"]);
        let (name, ty) = (self.needed(element, "name")?, self.needed(element, "type")?);
        let width = match element.attribute("width") {
            Some(width) => self.number(width).filter(|width| (1..=64).contains(width))? as u8,
            None => 1,
        };
        let expression = self.expression(element)?;
        let display = element.attribute("display").map(|display| display.value.clone());
        let source = Source::Derived { expression, width };
        let (doc, call) = (doc_of(element), self.call(element));
        Some(Field { name, doc, source, ty, display, call, parameters: Vec::new() })
    }

    fn call(&mut self, element: &Element) -> bool {
        let Some(call) = element.attribute("call") else { return false };
        if !matches!(call.as_str(), "true" | "false") {
            let message = format!("`{}` is neither `true` nor `false`", call.value);
            self.out.push(Diagnostic::error("E0053", call.span, message));
        }
        call.as_str() == "true"
    }

    fn pattern(&mut self, element: &Element, letters: &str) -> Option<Pattern> {
        self.known(element, &["low", "high", "pos"], &["doc"]);
        let (low, high) = self.range(element)?;
        let text: String = element.text.value.chars().filter(|c| !c.is_whitespace()).collect();
        if let Some(other) = text.chars().find(|c| !letters.contains(*c)) {
            let message = format!("`{other}` is not a bit of a pattern");
            let known = one_of(letters.chars().map(|letter| format!("`{letter}`")));
            self.out.push(Diagnostic::error("E0059", element.text.span, message).help(format!("write {known}")));
            return None;
        }
        let width = usize::from(high - low) + 1;
        if text.len() != width {
            let message = format!("{} bits for a pattern of {width}", text.len());
            self.out.push(Diagnostic::error("E0031", element.span, message));
            return None;
        }
        Some(Pattern { low, high, text, span: element.span })
    }

    /// `low` and `high`, or `pos`.
    fn range(&mut self, element: &Element) -> Option<(u16, u16)> {
        let bit = |reader: &mut Self, name| match element.attribute(name) {
            Some(text) => reader.number(text).map(Some),
            None => Some(None),
        };
        let found = (bit(self, "low")?, bit(self, "high")?, bit(self, "pos")?);
        let (low, high) = match found {
            (Some(low), Some(high), None) => (low, high),
            (None, None, Some(at)) => (at, at),
            _ => {
                let message = format!("this `<{}>` needs `low` and `high`, or `pos`", element.name.value);
                self.out.push(Diagnostic::error("E0042", element.span, message));
                return None;
            }
        };
        if low > high || high >= u64::from(MAX_BITS) {
            let message = format!("{low} to {high} is not a run of bits");
            self.out.push(Diagnostic::error("E0030", element.span, message));
            return None;
        }
        Some((low as u16, high as u16))
    }

    fn enumeration(&mut self, element: &Element) -> Option<Enum> {
        self.known(element, &["name"], &["value", "doc"]);
        let name = self.needed(element, "name")?;
        let mut values: Vec<(u64, String, Span)> = Vec::new();
        for value in element.children.iter().filter(|child| child.name.as_str() == "value") {
            self.known(value, &["val", "display", "name"], &["doc"]);
            let Some(bits) = self.needed(value, "val").and_then(|bits| self.number(&bits)) else { continue };
            let Some(display) = self.needed(value, "display") else { continue };
            if values.iter().any(|(other, _, _)| *other == bits) {
                self.out.push(Diagnostic::error("E0102", value.span, format!("{bits} already has a name")));
            }
            values.push((bits, display.value, value.span));
        }
        Some(Enum { name, doc: doc_of(element), values })
    }

    fn number(&mut self, text: &Spanned<String>) -> Option<u64> {
        match number::parse(text.value.trim()).filter(|number| *number <= u64::from(u32::MAX)) {
            Some(number) => Some(number),
            None => {
                let message = format!("`{}` is not a number up to {}", text.value, u32::MAX);
                self.out.push(Diagnostic::error("E0053", text.span, message));
                None
            }
        }
    }

    fn needed(&mut self, element: &Element, name: &str) -> Option<Spanned<String>> {
        let found = element.attribute(name).cloned();
        if found.is_none() {
            let message = format!("this `<{}>` has no `{name}`", element.name.value);
            self.out.push(Diagnostic::error("E0051", element.span, message));
        }
        found
    }

    fn twice(&mut self, name: &Spanned<String>) {
        self.out.push(Diagnostic::error("E0102", name.span, format!("`{}` is defined twice", name.value)));
    }

    /// Reports unknown attributes and elements. Those of `meta` are free for authors to use.
    fn known(&mut self, element: &Element, attributes: &[&str], children: &[&str]) {
        let owner = element.name.as_str();
        for attribute in element.attributes.iter().filter(|a| !attributes.contains(&a.name.as_str())) {
            let message = format!("unknown attribute `{}` of `<{owner}>`", attribute.name.value);
            let error = Diagnostic::error("E0052", attribute.name.span, message);
            self.out.push(match did_you_mean(attribute.name.as_str(), attributes.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        for child in element.children.iter().filter(|child| !children.contains(&child.name.as_str())) {
            let message = format!("unknown element `<{}>` in `<{owner}>`", child.name.value);
            let error = Diagnostic::error("E0050", child.name.span, message);
            self.out.push(match did_you_mean(child.name.as_str(), children.iter().copied()) {
                Some(near) => error.help(format!("did you mean `<{near}>`?")),
                None => error,
            });
        }
    }
}

fn doc_of(element: &Element) -> String {
    let docs = element.children.iter().filter(|child| child.name.as_str() == "doc");
    docs.map(|doc| doc.text.value.as_str()).collect::<Vec<_>>().join(" ")
}
