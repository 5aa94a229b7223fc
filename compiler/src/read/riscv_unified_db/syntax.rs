//! The table of facts that the documents lack, `syntax.yaml`.

use isaforge_core::number;
use isaforge_core::stream::Piece;

use super::instruction::{Encoding, GENERATIONS, Variable, location};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::pattern::matches;
use crate::source::{Sources, Span, Spanned};
use crate::spec::Access;
use crate::yaml::{Node, Value};

/// Values and their names.
pub(super) type Values = Vec<(u64, String)>;

/// The table.
pub(super) struct Syntax {
    root: Node,
    /// Instructions that are missing from the documents.
    pub instructions: Vec<Node>,
    /// Banks and the names of their registers.
    pub registers: Vec<(Spanned<String>, Vec<String>)>,
    /// Lists of names with their values.
    pub names: Vec<(Spanned<String>, Values)>,
    /// How variables are written; the first match applies.
    pub rules: Vec<Rule>,
    /// Suffixes of names: for instructions with these variables, the template.
    pub suffixes: Vec<(Vec<String>, Spanned<String>)>,
    /// Registers that instructions access without showing them.
    pub implied: Vec<Implied>,
    /// The distinct lists that fields choose from.
    pub lists: Vec<Vec<String>>,
    also: Vec<String>,
}

/// A rule for how a variable is written.
pub(super) struct Rule {
    variables: Vec<String>,
    instructions: Vec<String>,
    bits: Option<u64>,
    xlen: Option<u64>,
    pub shown: Shown,
    /// Further fields computed from the variable.
    pub fields: Vec<(Spanned<String>, Shown)>,
    /// The template; by default the field alone.
    pub text: Option<Spanned<String>>,
    /// The condition under which it is written.
    pub when: Option<Spanned<String>>,
    pub access: Access,
    /// The number of registers, from the named one on.
    pub count: u16,
}

/// A register that instructions access although their text does not say so.
pub(super) struct Implied {
    instructions: Vec<String>,
    /// The variables that an instruction must have.
    pub variables: Vec<String>,
    pub register: ImpliedRegister,
    /// The condition under which it is accessed.
    pub when: Option<Spanned<String>>,
    pub access: Access,
}

/// Which register is implied.
pub(super) enum ImpliedRegister {
    /// The one that a variable names.
    Of(Spanned<String>),
    /// A number of a bank.
    Fixed(Spanned<String>, Spanned<String>),
}

/// The bits of a register, whatever the generation.
pub(super) const REGISTER_BITS: u16 = 64;

/// How a value is written.
#[derive(Default)]
pub(super) struct Shown {
    pub register: Option<Spanned<String>>,
    pub names: Vec<Spanned<String>>,
    /// Whether unnamed values are written as numbers.
    pub otherwise: bool,
    pub signed: bool,
    /// How the value is computed from `bits`.
    pub value: Option<Spanned<String>>,
    /// Whether it is an offset from the instruction.
    pub target: bool,
}

impl Rule {
    fn fits(&self, instruction: &str, variable: &str, bits: u8, xlen: u64) -> bool {
        self.variables.iter().any(|known| known == variable)
            && (self.instructions.is_empty() || self.instructions.iter().any(|p| matches(p, instruction)))
            && self.bits.is_none_or(|wanted| wanted == u64::from(bits))
            && self.xlen.is_none_or(|wanted| wanted == xlen)
    }
}

impl Syntax {
    /// The rule for a variable.
    pub fn rule(&self, instruction: &str, variable: &Variable, xlen: u64) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.fits(instruction, &variable.name, variable.width(), xlen))
    }

    /// The registers that an instruction accesses without showing them.
    pub fn implied(&self, instruction: &str) -> impl Iterator<Item = &Implied> {
        let fits = move |implied: &&Implied| {
            implied.instructions.is_empty() || implied.instructions.iter().any(|p| matches(p, instruction))
        };
        self.implied.iter().filter(fits)
    }

    /// Whether harts of this width may have an extension.
    pub fn has(&self, extension: &str, xlen: u64) -> bool {
        let Some(kept) = self.root.key("extensions").and_then(|all| all.key(extension)) else { return true };
        let name = |wanted: u64| GENERATIONS.iter().find(|(_, xlen)| *xlen == wanted).map(|(name, _)| *name);
        let mut ignored = Diagnostics::new();
        kept.items().iter().any(|item| item.text(&mut ignored).is_some_and(|text| Some(text.as_str()) == name(xlen)))
    }

    /// The correction for an instruction.
    pub fn correction(&self, instruction: &str) -> Option<&Node> {
        let Value::Map(all) = &self.root.key("corrections")?.value else { return None };
        all.iter().find(|(pattern, _)| matches(&pattern.value, instruction)).map(|(_, correction)| correction)
    }

    /// Whether an instruction is an alias for words of one that is printed.
    pub fn is_alias(&self, instruction: &str) -> bool {
        self.also.iter().any(|pattern| matches(pattern, instruction))
    }

    /// The first number and the step of the numbers in a family's names.
    pub fn family(&self, instruction: &str, out: &mut Diagnostics) -> Option<(u64, u64)> {
        match self.root.key("families")?.key(instruction)?.items() {
            [first, step] => Some((first.number(1 << 16, out)?, step.number(1 << 16, out)?)),
            _ => None,
        }
    }

    /// The encoding of an instruction that refers to a format.
    pub fn formatted(&self, node: &Node, out: &mut Diagnostics) -> Option<Encoding> {
        node.only(&["$inherits", "opcodes"], out);
        let inherited = node.needed("$inherits", out)?.items().first()?.text(out)?;
        let unknown = |name: &Spanned<String>, out: &mut Diagnostics| {
            let error = Diagnostic::error("E0101", name.span, format!("`{}` is not known", name.value));
            out.push(error.note("the reader's table has the formats and opcodes that instructions inherit"));
        };
        let Some(format) = self.root.key("formats").and_then(|all| all.key(&inherited.value)) else {
            unknown(&inherited, out);
            return None;
        };
        let mut made = Encoding { bits: 32, mask: 0, value: 0, variables: Vec::new(), span: node.span };
        let given = node.needed("opcodes", out)?;
        for (name, place) in format.needed("opcodes", out)?.entries(out) {
            let given = given.needed(&name.value, out)?;
            let number = match given.key("value") {
                Some(value) => value.number(u64::MAX, out)?,
                None => {
                    let inherited = given.needed("$inherits", out)?.text(out)?;
                    let Some(value) = self.root.key("opcodes").and_then(|all| all.key(&inherited.value)) else {
                        unknown(&inherited, out);
                        return None;
                    };
                    value.number(u64::MAX, out)?
                }
            };
            let mut rest = number;
            for Piece { at, width } in location(place, made.bits, out)? {
                let ones = isaforge_core::bits::ones(width.into());
                made.mask |= ones << at;
                made.value |= (rest & ones) << at;
                rest = rest.checked_shr(width.into()).unwrap_or(0);
            }
            if rest != 0 {
                let message = format!("{number} does not fit `{}`", name.value);
                out.push(Diagnostic::error("E0108", given.span, message));
            }
        }
        for (name, place) in format.needed("variables", out)?.entries(out) {
            let pieces = location(place, made.bits, out)?;
            let (name, span) = (name.value.clone(), node.span);
            made.variables.push(Variable { name, pieces, shift: 0, signed: false, not: Vec::new(), span });
        }
        Some(made)
    }
}

/// Reads the table.
pub(super) fn read(root: &Node, sources: &Sources, out: &mut Diagnostics) -> Option<Syntax> {
    let sections = [
        "extensions",
        "formats",
        "opcodes",
        "families",
        "also",
        "corrections",
        "instructions",
        "registers",
        "names",
        "suffixes",
        "operands",
        "implied",
    ];
    root.only(&sections, out);
    let texts = |node: Option<&Node>, out: &mut Diagnostics| -> Vec<Spanned<String>> {
        node.map_or(&[][..], Node::items).iter().filter_map(|item| item.text(out)).collect()
    };
    let plain = |texts: Vec<Spanned<String>>| texts.into_iter().map(|text| text.value).collect::<Vec<_>>();
    let mut syntax = Syntax {
        root: root.clone(),
        instructions: root.key("instructions").map_or(&[][..], Node::items).to_vec(),
        registers: Vec::new(),
        names: Vec::new(),
        rules: Vec::new(),
        suffixes: Vec::new(),
        implied: Vec::new(),
        lists: Vec::new(),
        also: plain(texts(root.key("also"), out)),
    };
    for (name, list) in root.needed("registers", out)?.entries(out) {
        syntax.registers.push((name.clone(), plain(texts(Some(list), out))));
    }
    for (name, list) in root.needed("names", out)?.entries(out) {
        let mut values = Vec::new();
        for (key, text) in list.entries(out) {
            let text = text.text(out)?;
            counted(key, &text.value, &mut values, out);
        }
        syntax.names.push((name.clone(), values));
    }
    for suffix in root.needed("suffixes", out)?.items() {
        let variables = plain(texts(suffix.key("variables"), out));
        syntax.suffixes.push((variables, suffix.needed("text", out)?.text(out)?));
    }
    let shown = |node: &Node, out: &mut Diagnostics| Shown {
        register: node.key("register").and_then(|name| name.text(out)),
        names: texts(node.key("names"), out),
        otherwise: node.key("otherwise").is_some_and(|otherwise| otherwise.truth(out)),
        signed: node.key("signed").is_some_and(|signed| signed.truth(out)),
        value: node.key("value").and_then(|value| value.text(out)),
        target: node.key("target").is_some(),
    };
    let keys = [
        "variable",
        "in",
        "bits",
        "xlen",
        "register",
        "names",
        "otherwise",
        "signed",
        "value",
        "target",
        "fields",
        "text",
        "when",
        "access",
        "count",
    ];
    for node in root.needed("operands", out)?.items() {
        node.only(&keys, out);
        let mut fields = Vec::new();
        for (name, field) in node.key("fields").map_or(&[][..], |fields| fields.entries(out)) {
            fields.push((name.clone(), shown(field, out)));
        }
        let access = access(node, sources, out)?;
        syntax.rules.push(Rule {
            variables: plain(texts(node.key("variable"), out)),
            instructions: plain(texts(node.key("in"), out)),
            bits: node.key("bits").and_then(|bits| bits.number(32, out)),
            xlen: node.key("xlen").and_then(|xlen| xlen.number(64, out)),
            shown: shown(node, out),
            fields,
            text: node.key("text").and_then(|text| text.text(out)),
            when: node.key("when").and_then(|when| when.text(out)),
            access,
            count: node.key("count").and_then(|count| count.number(8, out)).unwrap_or(1) as u16,
        });
    }
    for node in root.needed("implied", out)?.items() {
        node.only(&["in", "variables", "of", "register", "value", "when", "access"], out);
        let register = match node.key("of") {
            Some(of) => ImpliedRegister::Of(of.text(out)?),
            None => {
                ImpliedRegister::Fixed(node.needed("register", out)?.text(out)?, node.needed("value", out)?.text(out)?)
            }
        };
        syntax.implied.push(Implied {
            instructions: plain(texts(node.key("in"), out)),
            variables: plain(texts(node.key("variables"), out)),
            register,
            when: node.key("when").and_then(|when| when.text(out)),
            access: access(node, sources, out)?,
        });
    }
    let shown = syntax.rules.iter().flat_map(|rule| rule.fields.iter().map(|(_, shown)| shown).chain([&rule.shown]));
    for shown in shown.filter(|shown| !shown.names.is_empty()) {
        let list: Vec<String> = shown.names.iter().map(|name| name.value.clone()).collect();
        if !syntax.lists.contains(&list) {
            syntax.lists.push(list);
        }
    }
    Some(syntax)
}

/// How a register is accessed: reading it needs no key.
fn access(node: &Node, sources: &Sources, out: &mut Diagnostics) -> Option<Access> {
    match node.key("access").map(|access| sources.snippet(access.span)) {
        None => Some(Access::Read),
        Some("write") => Some(Access::Write),
        Some("read-write") => Some(Access::ReadWrite),
        Some(other) => {
            out.push(Diagnostic::error("E0023", node.span, format!("there is no access `{other}`")));
            None
        }
    }
}

/// Adds the name of a value, or numbered names for a range of values.
fn counted(key: &Spanned<String>, text: &str, values: &mut Vec<(u64, String)>, out: &mut Diagnostics) {
    let (low, high) = key.value.split_once("..").unwrap_or((&key.value, &key.value));
    let range = number::parse(low).zip(number::parse(high)).filter(|(low, high)| low <= high && high - low < 1 << 12);
    let first = text.split_once('{').and_then(|(start, rest)| {
        let (number, end) = rest.split_once('}')?;
        Some((start, number.parse::<u64>().ok()?, end))
    });
    match (range, first) {
        (Some((low, high)), Some((start, first, end))) => {
            values.extend((low..=high).zip(first..).map(|(value, number)| (value, format!("{start}{number}{end}"))));
        }
        (Some((low, high)), None) if low == high => values.push((low, text.to_owned())),
        _ => mistaken(key.span, out),
    }
}

fn mistaken(span: Span, out: &mut Diagnostics) {
    out.push(Diagnostic::error("E0030", span, "expected a value or a range of values, and a name that counts for it"));
}
