//! The elements of the document as plain data. Unknown elements and attributes are errors, so that none of their
//! contents is silently lost.

use isaforge_core::number;

use super::context::{UNITS, Unit};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::Element;

/// An instruction.
pub(super) struct Instruction {
    pub name: Spanned<String>,
    pub unit: usize,
    pub sources: Vec<Source>,
    pub modifiers: Vec<Modifier>,
    pub immediates: Vec<Immediate>,
    /// Whether it accesses registers selected by the clause.
    pub staging: bool,
    /// Its encodings; at least one.
    pub encodings: Vec<Encoding>,
}

/// A source, encoded in three bits.
pub(super) struct Source {
    pub at: u16,
    /// A bit set of the codes that are allowed.
    pub allowed: u64,
    pub span: Span,
}

/// A modifier.
pub(super) struct Modifier {
    pub name: Spanned<String>,
    /// Its lowest bit; `None` if encodings pack it together with others.
    pub at: Option<u16>,
    pub bits: u8,
    /// The value that is not printed.
    pub default: Option<String>,
    /// The words by value; values beyond the last are reserved.
    pub options: Vec<String>,
}

/// The word for reserved values.
pub(super) const RESERVED: &str = "reserved";

impl Modifier {
    /// The word for a value.
    pub fn option(&self, value: usize) -> &str {
        self.options.get(value).map_or(RESERVED, String::as_str)
    }
}

/// A number.
pub(super) struct Immediate {
    pub name: Spanned<String>,
    pub at: u16,
    pub bits: u8,
}

/// An encoding of an instruction.
pub(super) struct Encoding {
    pub mask: u64,
    pub exact: u64,
    pub span: Span,
    /// The values of modifiers for which it is used.
    pub test: Test,
    pub derived: Vec<Derived>,
    /// Positions of modifiers that only this encoding has.
    pub copies: Vec<(Spanned<String>, u16)>,
}

/// A field whose value is the index of the first condition that holds.
pub(super) struct Derived {
    pub at: u16,
    pub bits: u8,
    /// Conditions by value; `None` for a value that no instruction has.
    pub options: Vec<Option<Test>>,
}

/// A condition.
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Compare { equal: bool, left: Term, right: Term },
}

/// A side of a comparison.
pub(super) enum Term {
    Modifier(Spanned<String>),
    Word(String),
}

impl Test {
    pub(super) fn holds<'w>(&'w self, value: &dyn Fn(&'w str) -> &'w str) -> bool {
        let word = |term: &'w Term| match term {
            Term::Modifier(name) => value(&name.value),
            Term::Word(word) => word,
        };
        match self {
            Test::All(parts) => parts.iter().all(|part| part.holds(value)),
            Test::Any(parts) => parts.iter().any(|part| part.holds(value)),
            Test::Compare { equal, left, right } => (word(left) == word(right)) == *equal,
        }
    }

    /// The names of modifiers in it.
    pub(super) fn names<'t>(&'t self, names: &mut Vec<&'t Spanned<String>>) {
        match self {
            Test::All(parts) | Test::Any(parts) => parts.iter().for_each(|part| part.names(names)),
            Test::Compare { left, right, .. } => {
                names.extend([left, right].into_iter().filter_map(|term| match term {
                    Term::Modifier(name) => Some(name),
                    Term::Word(_) => None,
                }));
            }
        }
    }
}

/// Reads elements.
pub(super) struct Reader<'a> {
    pub out: &'a mut Diagnostics,
}

/// Attributes of an instruction about hardware or compilers that affect neither its bits nor its text.
const SILENT: [&str; 7] = ["message", "last", "dests", "table", "unused", "variable_srcs", "variable_dests"];

impl Reader<'_> {
    pub fn instructions(&mut self, root: &Element) -> Vec<Instruction> {
        let mut found = Vec::new();
        self.attributes(root, &[]);
        for element in self.children(root, "the document", &["ins"]) {
            // Pseudo-instructions are created and replaced by a compiler, and have no encoding.
            if !self.flag(element, "pseudo") {
                found.extend(self.instruction(element));
            }
        }
        found
    }

    fn instruction(&mut self, element: &Element) -> Option<Instruction> {
        let known = ["name", "unit", "mask", "exact", "staging", "pseudo"];
        self.attributes(element, &[&known[..], &SILENT].concat());
        for silent in SILENT.iter().filter(|name| !["message", "dests"].contains(name)) {
            self.flag(element, silent);
        }
        let name = self.required(element, "name")?.clone();
        let unit = self.required(element, "unit")?;
        let Some(index) = UNITS.iter().position(|known| known.name == unit.value) else {
            let error = Diagnostic::error("E0059", unit.span, format!("there is no unit `{}`", unit.value));
            self.out.push(error.help(format!("write {}", one_of(UNITS.iter().map(|unit| unit.name)))));
            return None;
        };
        let parts = ["src", "mod", "immediate", "encoding", "derived", "swap"];
        let mut instruction = Instruction {
            name,
            unit: index,
            sources: Vec::new(),
            modifiers: Vec::new(),
            immediates: Vec::new(),
            staging: element.attribute("staging").is_some(),
            encodings: Vec::new(),
        };
        let unit = &UNITS[index];
        let mut derived = Vec::new();
        for child in self.children(element, "an instruction", &parts) {
            match child.name.as_str() {
                "src" => instruction.sources.extend(self.source(child, unit)),
                "mod" => instruction.modifiers.extend(self.modifier(child, unit)),
                "immediate" => instruction.immediates.extend(self.immediate(child, unit)),
                "derived" => derived.extend(self.derived(child, unit)),
                "encoding" => instruction.encodings.extend(self.encoding(child, unit)),
                // How a compiler orders sources so that they can be encoded.
                _ => {}
            }
        }
        let several = element.children.iter().find(|child| child.name.as_str() == "encoding");
        match several {
            None => {
                let (mask, exact) = self.pattern(element, unit)?;
                let span = element.span;
                let own = Encoding { mask, exact, span, test: Test::All(Vec::new()), derived, copies: Vec::new() };
                instruction.encodings.push(own);
            }
            Some(first) if !derived.is_empty() || element.attribute("mask").is_some() => {
                let error =
                    Diagnostic::error("E0102", element.span, "both the instruction and its encodings give bits");
                self.out.push(error.secondary(first.span, "the first encoding"));
                return None;
            }
            Some(_) => {}
        }
        Some(instruction)
    }

    fn pattern(&mut self, element: &Element, unit: &Unit) -> Option<(u64, u64)> {
        let mask = self.number(element, "mask", u64::MAX)?;
        let exact = self.number(element, "exact", u64::MAX)?;
        if mask >> unit.bits != 0 || exact & !mask != 0 {
            let what = if exact & !mask != 0 { "`exact` has bits outside `mask`" } else { "the mask is too wide" };
            let error = Diagnostic::error("E0104", element.span, what);
            self.out.push(error.note(format!("tuples of {} have {} bits", unit.name, unit.bits)));
            return None;
        }
        Some((mask, exact))
    }

    fn source(&mut self, element: &Element, unit: &Unit) -> Option<Source> {
        self.attributes(element, &["start", "mask", "pseudo"]);
        self.children(element, "a source", &[]);
        if self.flag(element, "pseudo") {
            return None;
        }
        let at = self.number(element, "start", u64::from(unit.bits) - 3)? as u16;
        let allowed = match element.attribute("mask") {
            Some(_) => self.number(element, "mask", 0xff)?,
            None => 0xff,
        };
        Some(Source { at, allowed, span: element.span })
    }

    fn modifier(&mut self, element: &Element, unit: &Unit) -> Option<Modifier> {
        self.attributes(element, &["name", "start", "size", "default", "opt", "pseudo"]);
        let pseudo = self.flag(element, "pseudo");
        let name = self.required(element, "name")?.clone();
        let bits = self.size(element, 8)?;
        let at = match element.attribute("start") {
            Some(_) => Some(self.number(element, "start", u64::from(unit.bits).saturating_sub(bits))? as u16),
            None => None,
        };
        let mut options = Vec::new();
        for child in self.children(element, "a modifier", &["opt", "reserved"]) {
            let is_option = child.name.as_str() == "opt";
            self.attributes(child, if is_option { &["pseudo"] } else { &[] });
            self.children(child, "an option", &[]);
            options.push(if is_option { child.text.value.clone() } else { RESERVED.to_owned() });
        }
        if options.is_empty() {
            options = vec!["none".to_owned(), self.required(element, "opt")?.value.clone()];
        }
        let default = match element.attribute("default") {
            Some(default) => Some(default.value.clone()),
            None => options.iter().find(|option| *option == "none").cloned(),
        };
        options.truncate(1 << bits);
        (!pseudo).then_some(Modifier { name, at, bits: bits as u8, default, options })
    }

    fn immediate(&mut self, element: &Element, unit: &Unit) -> Option<Immediate> {
        self.attributes(element, &["name", "start", "size", "pseudo"]);
        self.children(element, "an immediate", &[]);
        if self.flag(element, "pseudo") {
            return None;
        }
        let name = self.required(element, "name")?.clone();
        let bits = self.size(element, unit.bits.into())?;
        let at = self.number(element, "start", u64::from(unit.bits).saturating_sub(bits))? as u16;
        Some(Immediate { name, at, bits: bits as u8 })
    }

    fn encoding(&mut self, element: &Element, unit: &Unit) -> Option<Encoding> {
        self.attributes(element, &["mask", "exact"]);
        let (mask, exact) = self.pattern(element, unit)?;
        let (mut test, mut derived, mut copies) = (None, Vec::new(), Vec::new());
        for child in self.children(element, "an encoding", &["and", "or", "eq", "neq", "derived", "copy"]) {
            match child.name.as_str() {
                "derived" => derived.extend(self.derived(child, unit)),
                "copy" => {
                    self.attributes(child, &["name", "start"]);
                    let name = self.required(child, "name")?.clone();
                    copies.push((name, self.number(child, "start", u64::from(unit.bits) - 1)? as u16));
                }
                _ if test.is_none() => test = Some(self.test(child)?),
                _ => {
                    let error = Diagnostic::error("E0102", child.span, "a second condition of an encoding");
                    self.out.push(error.help("put both into an `<and>`"));
                }
            }
        }
        let test = test.unwrap_or(Test::All(Vec::new()));
        Some(Encoding { mask, exact, span: element.span, test, derived, copies })
    }

    fn derived(&mut self, element: &Element, unit: &Unit) -> Option<Derived> {
        self.attributes(element, &["start", "size"]);
        let bits = self.size(element, 6)?;
        let at = self.number(element, "start", u64::from(unit.bits).saturating_sub(bits))? as u16;
        let mut options = Vec::new();
        for child in self.children(element, "a derived field", &["and", "or", "eq", "neq", "reserved"]) {
            options.push(if child.name.as_str() == "reserved" { None } else { Some(self.test(child)?) });
        }
        options.resize_with(1 << bits, || None);
        Some(Derived { at, bits: bits as u8, options })
    }

    /// Reads a tree of `<and>`, `<or>`, `<eq>` and `<neq>`. The nesting of elements is already limited.
    fn test(&mut self, element: &Element) -> Option<Test> {
        // An alternative way to pack values that already have one: decoding does not use it.
        let alias = self.flag(element, "alias");
        let test = match element.name.as_str() {
            name @ ("and" | "or") => {
                self.attributes(element, &["alias"]);
                let mut parts = Vec::new();
                for child in self.children(element, "a condition", &["and", "or", "eq", "neq"]) {
                    parts.push(self.test(child)?);
                }
                if name == "and" { Test::All(parts) } else { Test::Any(parts) }
            }
            name => {
                self.attributes(element, &["left", "right", "alias"]);
                self.children(element, "a comparison", &[]);
                let term = |text: &Spanned<String>| match text.value.strip_prefix('#') {
                    Some(word) => Term::Word(word.to_owned()),
                    None => Term::Modifier(text.clone()),
                };
                let (left, right) = (self.required(element, "left")?, self.required(element, "right")?);
                Test::Compare { equal: name == "eq", left: term(left), right: term(right) }
            }
        };
        Some(if alias { Test::Any(Vec::new()) } else { test })
    }

    /// The child elements; unexpected ones are reported.
    fn children<'x>(&mut self, element: &'x Element, place: &str, known: &[&str]) -> Vec<&'x Element> {
        let mut children = Vec::new();
        for child in &element.children {
            let name = child.name.as_str();
            if known.contains(&name) {
                children.push(child);
                continue;
            }
            let message = format!("unknown element `<{name}>` in {place}");
            let error = Diagnostic::error("E0050", child.name.span, message);
            self.out.push(match did_you_mean(name, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `<{near}>`?")),
                None => error,
            });
        }
        children
    }

    fn attributes(&mut self, element: &Element, known: &[&str]) {
        for attribute in element.attributes.iter().filter(|a| !known.contains(&a.name.as_str())) {
            let name = attribute.name.as_str();
            let message = format!("`<{}>` has an unknown attribute `{name}`", element.name.value);
            let error = Diagnostic::error("E0052", attribute.name.span, message);
            self.out.push(match did_you_mean(name, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
    }

    fn required<'x>(&mut self, element: &'x Element, name: &str) -> Option<&'x Spanned<String>> {
        let found = element.attribute(name);
        if found.is_none() {
            let message = format!("`<{}>` needs the attribute `{name}`", element.name.value);
            self.out.push(Diagnostic::error("E0051", element.span, message));
        }
        found
    }

    fn flag(&mut self, element: &Element, name: &str) -> bool {
        let Some(given) = element.attribute(name) else { return false };
        if !matches!(given.as_str(), "true" | "false") {
            let error = Diagnostic::error("E0059", given.span, format!("`{name}` cannot be `{}`", given.value));
            self.out.push(error.help("write `true`, or leave the attribute out"));
        }
        given.value == "true"
    }

    /// The width of something in bits.
    fn size(&mut self, element: &Element, most: u64) -> Option<u64> {
        let size = self.number(element, "size", most)?;
        if size == 0 {
            self.out.push(Diagnostic::error("E0033", element.span, "a field of no bits"));
        }
        (size > 0).then_some(size)
    }

    /// A numeric attribute of at most `most`.
    fn number(&mut self, element: &Element, name: &str, most: u64) -> Option<u64> {
        let text = self.required(element, name)?;
        match number::parse(&text.value) {
            Some(number) if number <= most => Some(number),
            Some(number) => {
                let error = Diagnostic::error("E0033", text.span, format!("`{name}` cannot be {number}"));
                self.out.push(error.label(format!("at most {most}")));
                None
            }
            None => {
                let error = Diagnostic::error("E0053", text.span, format!("`{}` is not a number", text.value));
                self.out.push(error.help("write decimal, or `0x` and hexadecimal digits"));
                None
            }
        }
    }
}
