//! State shared by all layouts of a document: enums, and the sets of layouts for operands.

use std::collections::HashMap;
use std::rc::Rc;

use isaforge_core::bits::ones;
use isaforge_core::stream::{Notation, Piece, Wide};

use super::c::{self, C};
use super::document::{Document, Field, Source as Defined};
use super::hierarchy::{Hierarchies, Leaf};
use super::layout::{self, blank};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Enum, Value};
use crate::source::{Span, Spanned};
use crate::stream::model::{self, Set, Source, Type};
use crate::suggest::did_you_mean;

/// The maximum number of sets: one for each combination of bitset and parameter types.
const MAX_SETS: usize = 4096;
/// The maximum number of layouts in all sets.
const MAX_LAYOUTS: usize = 30_000;
/// The maximum nesting of operands.
const MAX_DEPTH: usize = 16;

/// A value that an operand receives from its surroundings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub name: String,
    pub width: u8,
    pub signed: bool,
    /// How it is written; `None` for an operand with parameters of its own.
    pub ty: Option<Type>,
}

pub(super) struct Context<'d, 'o> {
    pub document: &'d Document,
    pub hierarchies: &'d Hierarchies<'d>,
    pub out: &'o mut Diagnostics,
    pub enums: Vec<Enum>,
    /// Enums by their name in the document, or by the texts of a truth value.
    known: HashMap<String, usize>,
    pub sets: Vec<Set>,
    instances: Vec<(&'d str, Vec<Parameter>, usize)>,
    building: Vec<usize>,
    expressions: HashMap<Span, Option<Rc<C>>>,
    /// The number of hexadecimal digits in the longest word of the document.
    pub digits: u8,
    /// The length of an instruction in bytes.
    pub bytes: u16,
    pub layouts: usize,
    /// Which word an ambiguous text means, by bitset.
    preferences: Vec<(String, Spanned<String>)>,
}

impl<'d, 'o> Context<'d, 'o> {
    pub fn new(
        document: &'d Document,
        hierarchies: &'d Hierarchies<'d>,
        preferences: Vec<(String, Spanned<String>)>,
        out: &'o mut Diagnostics,
    ) -> Self {
        // Remarks show values at the width of the widest word, whatever they belong to.
        let widest = hierarchies.roots.values().filter_map(|(root, _)| root.size).max().unwrap_or(0);
        Context {
            document,
            hierarchies,
            out,
            enums: Vec::new(),
            known: HashMap::new(),
            sets: Vec::new(),
            instances: Vec::new(),
            building: Vec::new(),
            expressions: HashMap::new(),
            digits: (widest.next_multiple_of(32) / 4) as u8,
            bytes: 0,
            layouts: 0,
            preferences,
        }
    }

    /// The conditions that select a word if a text of a leaf is ambiguous.
    pub fn preferences(&self, leaf: &Leaf<'_>) -> Vec<Spanned<String>> {
        let of = |name: &str| leaf.chain.iter().any(|bitset| bitset.name.value == name);
        self.preferences.iter().filter(|(name, _)| of(name)).map(|(_, text)| text.clone()).collect()
    }

    /// Parses the expression of a text, and returns it with the place of its definition.
    pub fn expression(&mut self, text: &Spanned<String>) -> Option<(Span, Rc<C>)> {
        let text = if text.value.starts_with('#') {
            match self.document.expressions.get(&text.value) {
                Some(found) => found,
                None => {
                    let message = format!("there is no expression `{}`", text.value);
                    let error = Diagnostic::error("E0101", text.span, message);
                    let names = self.document.expressions.keys().map(String::as_str);
                    let near = did_you_mean(&text.value, names).map(|near| format!("did you mean `{near}`?"));
                    if self.expressions.insert(text.span, None).is_none() {
                        self.out.push(match near {
                            Some(near) => error.help(near),
                            None => error,
                        });
                    }
                    return None;
                }
            }
        } else {
            text
        };
        if !self.expressions.contains_key(&text.span) {
            let read = c::parse(&text.value).map_err(|why| {
                let message = format!("`{}` is not an expression: {why}", text.value);
                let error = Diagnostic::error("E0059", text.span, message);
                let help = "write numbers, `{FIELD}`, `ISA_GPU_ID()` and the operators of C except `/`, `%` and `?:`";
                self.out.push(error.help(help));
            });
            self.expressions.insert(text.span, read.ok().map(Rc::new));
        }
        Some((text.span, self.expressions.get(&text.span)?.clone()?))
    }

    /// The notation of a field that is not an operand with layouts, and whether it is in two's complement. `None` if
    /// its type is a bitset, or is unknown, which is reported.
    pub fn plain_type(&mut self, field: &Field) -> Option<(Type, bool)> {
        let width = match field.source {
            Defined::Bits { low, high } => (high - low + 1) as u8,
            Defined::Derived { width, .. } => width,
        };
        let number = |notation| Some((Type::Number(notation), false));
        let signed = |notation| Some((Type::Number(notation), true));
        let target = |base| Notation {
            target: Some(isaforge_core::table::Target { base, unit: self.bytes }),
            call: field.call,
            ..Notation::DECIMAL
        };
        let offset = Notation { plus: true, quiet_zero: true, ..Notation::DECIMAL };
        match field.ty.as_str() {
            "uint" => number(Notation::DECIMAL),
            "int" => signed(Notation::DECIMAL),
            "hex" | "custom" => number(Notation { prefix: "", ..Notation::HEX }),
            "offset" => signed(offset),
            "uoffset" => number(offset),
            "branch" => signed(target(isaforge_core::table::Base::This)),
            "absbranch" => signed(target(isaforge_core::table::Base::Fixed(0))),
            "bool" | "bool_inv" if width > 1 && matches!(field.source, Defined::Bits { .. }) => {
                let message = format!("`{}` has {width} bits, but a truth value has 1", field.name.value);
                self.once(field.name.span, "E0030", message);
                None
            }
            "bool" => match &field.display {
                Some(text) => Some((Type::Enum(self.truth(["", text], field.ty.span), None), false)),
                None => number(Notation::DECIMAL),
            },
            "bool_inv" => {
                let (clear, set) = field.display.as_deref().map_or(("1", "0"), |text| (text, ""));
                Some((Type::Enum(self.truth([clear, set], field.ty.span), None), false))
            }
            "float" if matches!(width, 16 | 32 | 64) => Some((Type::Float(width), false)),
            "float" => {
                let message = format!("`{}` has {width} bits, but a float has 16, 32 or 64", field.name.value);
                self.once(field.name.span, "E0030", message);
                None
            }
            name if self.hierarchies.roots.contains_key(name) => None,
            name => match self.enumeration(name) {
                Some(index) => Some((Type::Enum(index, Some(Notation::DECIMAL)), false)),
                None => {
                    let names = self.document.enums.iter().map(|e| e.name.as_str());
                    let names = names.chain(self.hierarchies.roots.keys().copied());
                    let near = did_you_mean(name, names).map(|near| format!(", but `{near}`")).unwrap_or_default();
                    self.once(field.ty.span, "E0101", format!("there is no type `{name}`{near}"));
                    None
                }
            },
        }
    }

    /// Reports a mistake at a place once, even if it is found repeatedly.
    pub fn once(&mut self, span: Span, code: &'static str, message: String) {
        if self.expressions.insert(span, None).is_none() {
            self.out.push(Diagnostic::error(code, span, message));
        }
    }

    fn enumeration(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.known.get(name) {
            return Some(*index);
        }
        let found = self.document.enums.iter().find(|e| e.name.value == name)?;
        let values = found.values.iter().map(|(bits, text, span)| (*bits, text.as_str(), *span)).collect();
        Some(self.add_enum(name, name, &found.doc, found.name.span, values))
    }

    /// An enum for the texts of a bit that is clear or set.
    fn truth(&mut self, texts: [&str; 2], span: Span) -> usize {
        let key = format!("{}|{}", texts[0], texts[1]);
        match self.known.get(&key) {
            Some(index) => *index,
            None => {
                let values = vec![(0, texts[0], span), (1, texts[1], span)];
                let name = format!("flag{}", self.enums.len());
                self.add_enum(&key, &name, "", span, values)
            }
        }
    }

    fn add_enum(&mut self, key: &str, name: &str, doc: &str, span: Span, values: Vec<(u64, &str, Span)>) -> usize {
        let texts: Vec<&str> = values.iter().map(|(_, text, _)| *text).collect();
        // Several values may have the same text, but names must be unique.
        let alone = |text: &str| !text.is_empty() && texts.iter().filter(|other| **other == text).count() == 1;
        let values = values.into_iter().map(|(bits, text, span)| Value {
            name: if alone(text) { text.to_owned() } else { format!("v{bits}") },
            text: text.to_owned(),
            also: Vec::new(),
            bits,
            doc: String::new(),
            span,
        });
        let values: Vec<Value> = values.collect();
        let listed = values.iter().map(|value| value.bits + 1).max().unwrap_or(0);
        let index = self.enums.len();
        self.enums.push(Enum {
            name: name.trim_start_matches('#').to_owned(),
            doc: doc.to_owned(),
            span,
            bits: None,
            values,
            default: None,
            implied: true,
            listed,
            open: true,
        });
        self.known.insert(key.to_owned(), index);
        index
    }

    /// The set of a hierarchy's layouts for certain parameters.
    pub fn instance(&mut self, field: &Field, parameters: Vec<Parameter>, width: u32) -> Option<usize> {
        let (name, (root, leaves)) = self.hierarchies.roots.get_key_value(field.ty.as_str())?;
        if root.size.map(u32::from) != Some(width) {
            let size = root.size.unwrap_or(0);
            let message = format!("`{}` has {width} bits, but `{name}` has {size}", field.name.value);
            self.once(field.ty.span, "E0032", message);
            return None;
        }
        if let Some((_, _, index)) = self.instances.iter().find(|(n, p, _)| n == name && *p == parameters) {
            if self.building.contains(index) {
                self.once(field.ty.span, "E0131", format!("`{name}` is an operand of itself"));
                return None;
            }
            return Some(*index);
        }
        if self.building.len() >= MAX_DEPTH || self.sets.len() >= MAX_SETS {
            let message =
                format!("operands lie more than {MAX_DEPTH} deep in operands, or there are over {MAX_SETS} of them");
            self.once(field.ty.span, "E0127", message);
            return None;
        }
        let index = self.sets.len();
        self.sets.push(Set {
            name: name.trim_start_matches('#').to_owned(),
            doc: root.doc.clone(),
            span: root.name.span,
            bits: width as u16,
            parameters: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            first_wins: true,
            layouts: Vec::new(),
        });
        if !self.instances.iter().any(|(n, _, _)| n == name) {
            self.rivals(leaves);
        }
        self.instances.push((name, parameters.clone(), index));
        self.building.push(index);
        let mut layouts = Vec::new();
        for leaf in leaves {
            layouts.extend(layout::layouts(self, leaf, &parameters, 0));
        }
        // Bits that no layout matches are an operand without a text, about which the instruction has a remark.
        if !leaves.iter().any(|leaf| leaf.mask.is_zero() && leaf.since == 0 && leaf.until == u32::MAX)
            && let Some(leaf) = leaves.first()
        {
            let mut rest = blank(leaf, 0);
            rest.name = format!("no {}", name.trim_start_matches('#'));
            (rest.since, rest.until) = (0, u32::MAX);
            rest.fields.push(model::Field {
                name: "bits".to_owned(),
                doc: String::new(),
                span: root.name.span,
                source: Source::Bits(vec![Piece { at: 0, width: width as u8 }]),
                width: width as u8,
                signed: false,
                default: 0,
                ty: Type::Number(Notation::HEX),
            });
            layouts.push(rest);
        }
        self.building.pop();
        self.sets[index].layouts = layouts;
        Some(index)
    }

    /// Reports an operand with two alternatives that match.
    fn rivals(&mut self, leaves: &[Leaf<'_>]) {
        for (i, b) in leaves.iter().enumerate() {
            for a in &leaves[..i] {
                let both = ((a.value ^ b.value) & a.mask & b.mask).is_zero();
                if both && a.since.max(b.since) <= a.until.min(b.until) {
                    let (a, b) = (a.bitset(), b.bitset());
                    let message = format!("`{}` and `{}` read the same bits", b.name.value, a.name.value);
                    self.out.push(Diagnostic::error("E0110", b.name.span, message).rival(a.name.span, "the other one"));
                }
            }
        }
    }

    /// Counts layouts; false when the limit is exceeded.
    pub fn count_layout(&mut self, span: Span) -> bool {
        self.layouts += 1;
        if self.layouts == MAX_LAYOUTS {
            let message = format!("all instructions and operands have over {MAX_LAYOUTS} alternatives");
            self.out.push(Diagnostic::error("E0127", span, message));
        }
        self.layouts < MAX_LAYOUTS
    }
}

/// The leaves of an operand that distinguish its bits; `None` if some leaf always matches.
pub(super) fn partial<'l, 'd>(leaves: &'l [Leaf<'d>]) -> Option<&'l [Leaf<'d>]> {
    let always = |leaf: &&Leaf<'_>| leaf.since == 0 && leaf.until == u32::MAX;
    let mask = leaves.iter().fold(0, |mask, leaf| mask | leaf.mask.get(0, 64));
    let bits: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 != 0).collect();
    if bits.len() > 12 {
        return Some(leaves);
    }
    let covered = (0..1u64 << bits.len()).all(|number| {
        let value = bits.iter().enumerate().fold(0, |value, (i, bit)| value | (number >> i & 1) << bit);
        leaves.iter().filter(always).any(|leaf| Wide::new(value).matches(&leaf.mask, &leaf.value))
    });
    (!covered).then_some(leaves)
}

/// The mask of a value of a given width.
pub(super) fn width_mask(width: u8) -> u64 {
    ones(width.into())
}
