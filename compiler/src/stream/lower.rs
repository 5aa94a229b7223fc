//! From the model of streams to the tables of [`isaforge_core::stream`].

use std::collections::HashMap;

use isaforge_core::stream as core;
use isaforge_core::text::Text;

use super::model::{self, Expr, Layout, Source, Stream, Token, Type};
use super::tree;
use crate::leak::{slice, text};
use crate::lower::common::{access, enumeration_with, provenance};
use crate::model::Isa;

struct Lower {
    expressions: Vec<core::Expression>,
    known: HashMap<Expr, u16>,
    /// The widths of the parameters of each set, in bits.
    widths: Vec<Vec<u8>>,
    /// Whether each set has only valid operands.
    total: Vec<bool>,
}

/// The widths of each set's parameters: that of the widest argument.
fn parameter_widths(stream: &Stream) -> Vec<Vec<u8>> {
    let mut widths: Vec<Vec<u8>> = stream.sets.iter().map(|set| vec![1; set.parameters.len()]).collect();
    // Arguments may be parameters themselves, at most as deep as there are sets.
    for _ in &stream.sets {
        for (index, set) in stream.sets.iter().enumerate() {
            for layout in &set.layouts {
                for field in &layout.fields {
                    let Type::Set(inner, arguments) = &field.ty else { continue };
                    for (parameter, argument) in arguments.iter().enumerate() {
                        let width = match layout.fields[*argument].source {
                            Source::Outer(outer) => widths[index][outer],
                            _ => layout.fields[*argument].width,
                        };
                        let known = &mut widths[*inner][parameter];
                        *known = width.max(*known);
                    }
                }
            }
        }
    }
    widths
}

/// Lowers a model that has passed its checks, with a fast test for each layout.
pub fn lower(isa: &Isa, stream: &Stream) -> &'static core::Stream {
    let exact = lower_exact(isa, stream);
    // The fast tests are derived from the exact tables.
    let (quick, tested) = super::quick::tests(exact);
    Box::leak(Box::new(core::Stream { quick, tested, ..*exact }))
}

/// Lowers a model without fast tests. For a document of thousands of instructions, building them takes seconds, which
/// pays off only if hundreds of thousands of words are decoded.
pub fn lower_exact(isa: &Isa, stream: &Stream) -> &'static core::Stream {
    let mut lower = Lower {
        expressions: Vec::new(),
        known: HashMap::new(),
        widths: parameter_widths(stream),
        total: total(stream),
    };
    let mut sets = Vec::new();
    let mut layouts: Vec<core::Layout> = Vec::new();
    for (index, set) in stream.sets.iter().enumerate() {
        let ordered: Vec<Layout> = tree::order(set).into_iter().map(|i| set.layouts[i].clone()).collect();
        let first = layouts.len() as u16;
        let unit = if set.bits == 0 { stream.unit } else { u8::MAX };
        layouts.extend(ordered.iter().map(|layout| lower.layout(stream, index, layout)));
        sets.push(core::Set {
            name: text(&set.name),
            doc: text(&set.doc),
            bits: set.bits,
            parameters: slice(set.parameters.iter().map(|p| text(p))),
            first,
            count: ordered.len() as u16,
            tree: tree::tree(&ordered, unit, first),
        });
    }
    let count = sets.first().map_or(0, |set: &core::Set| usize::from(set.count));
    let preferred: Vec<(u16, u16)> = layouts
        .iter()
        .zip(0..)
        .take(count)
        .filter(|(l, _)| l.role == core::Role::Preferred)
        .map(|(l, i)| (l.opcode, i))
        .collect();
    let aliases =
        |opcode: usize| preferred.iter().filter(move |(of, _)| usize::from(*of) == opcode).map(|(_, index)| *index);
    Box::leak(Box::new(core::Stream {
        name: text(&isa.name),
        doc: text(&isa.doc),
        unit: stream.unit,
        longest: stream.longest,
        swap: stream.swap,
        generations: stream.generations,
        exclusive: stream.exclusive,
        asides: stream.sets.iter().flat_map(|set| &set.layouts).any(|layout| has_aside(&layout.text)),
        generation_names: slice(stream.generation_names.iter().map(|(name, number)| (text(name), *number))),
        sequence: stream.sequence,
        enums: slice(isa.enums.iter().map(|e| enumeration_with(e, 0))),
        banks: slice(stream.banks.iter().map(|b| core::Bank {
            name: text(&b.name),
            doc: text(&b.doc),
            count: b.count,
            width: b.width,
            open: text(&b.prints.0),
            close: text(&b.prints.1),
            names: slice(b.names.iter().map(|name| text(name))),
            also: slice(b.also.iter().map(|(name, number)| (text(name), *number))),
        })),
        sets: slice(sets),
        layouts: slice(layouts),
        instructions: slice(stream.instructions.iter().enumerate().map(|(opcode, i)| core::Instruction {
            name: text(&i.name),
            title: text(&i.title),
            doc: text(&i.doc),
            unit: text(&i.unit),
            source: text(&i.source),
            provenance: provenance(i.provenance),
            note: text(&i.note),
            preferred: slice(aliases(opcode)),
        })),
        expressions: slice(lower.expressions),
        quick: &[],
        tested: &[],
    }))
}

impl Lower {
    fn expression(&mut self, expr: &Expr) -> u16 {
        if let Some(known) = self.known.get(expr) {
            return *known;
        }
        let index = self.expressions.len() as u16;
        self.expressions.push(core::Expression {
            text: text(&expr.text),
            nodes: slice(expr.nodes.iter().copied()),
            lists: slice(expr.lists.iter().copied()),
            constants: slice(expr.constants.iter().copied()),
            inputs: slice(expr.inputs.iter().copied()),
        });
        self.known.insert(expr.clone(), index);
        index
    }

    fn layout(&mut self, stream: &Stream, index: usize, layout: &Layout) -> core::Layout {
        let set = &stream.sets[index];
        let leaves = layout.leaves();
        let fields = layout.fields.iter().zip(&leaves).map(|(f, leaves)| core::Field {
            name: text(&f.name),
            doc: text(&f.doc),
            source: match &f.source {
                Source::Bits(pieces) => core::Source::Bits(slice(pieces.iter().copied())),
                Source::Computed { value, inverse } => core::Source::Computed {
                    value: self.expression(value),
                    inverse: slice(inverse.iter().map(|(field, expr)| (*field as u8, self.expression(expr)))),
                },
                Source::Outer(parameter) => core::Source::Outer(*parameter as u8),
            },
            width: match f.source {
                Source::Outer(parameter) => self.widths[index][parameter],
                _ => f.width,
            },
            signed: f.signed,
            default: f.default,
            ty: match &f.ty {
                Type::Number(notation) => core::Type::Number(*notation),
                Type::Enum(e, otherwise) => core::Type::Enum(*e as u16, *otherwise),
                Type::Register(bank) => core::Type::Register(*bank as u16),
                Type::Set(set, arguments) => {
                    core::Type::Set(*set as u16, slice(arguments.iter().map(|field| *field as u8)))
                }
                Type::Float(width) => core::Type::Float(*width),
            },
            leaves: *leaves,
        });
        let fields = slice(fields.collect::<Vec<_>>());
        let tokens = self.tokens(&layout.text);
        core::Layout {
            name: text(&layout.name),
            opcode: layout.opcode as u16,
            role: layout.role,
            bits: layout.bits,
            length: layout.length.as_ref().map(|length| self.expression(length)),
            since: layout.since,
            until: layout.until,
            mask: layout.mask,
            value: layout.value,
            fixed_mask: layout.fixed_mask,
            fixed_value: layout.fixed_value,
            ignored: layout.ignored,
            conditions: slice(layout.conditions.iter().map(|c| self.expression(c)).collect::<Vec<_>>()),
            otherwise: slice(layout.otherwise.iter().map(|c| self.expression(c)).collect::<Vec<_>>()),
            fields,
            text: tokens,
            key: if set.bits == 0 { text(&key(&layout.text)) } else { "" },
            operands: slice(layout.operands.iter().map(|o| core::Operand {
                field: o.field as u8,
                access: access(o.access),
                size: o.size,
                sized: o.sized.map(|field| field as u8),
            })),
            simple: layout.fields.iter().all(|field| always_right(stream, &self.total, field)),
        }
    }

    fn tokens(&mut self, tokens: &[Token]) -> &'static [core::Token] {
        let token = |t: &Token| match t {
            Token::Text(s) => core::Token::Text(Text::new(text(s))),
            Token::Field(i) => core::Token::Field(*i as u8),
            Token::Column(column) => core::Token::Column(*column),
            Token::If(condition, tokens) => core::Token::If(self.expression(condition), self.tokens(tokens)),
            Token::Bits(i, notation) => core::Token::Bits(*i as u8, *notation),
            Token::Aside(tokens) => core::Token::Aside(self.tokens(tokens)),
        };
        slice(tokens.iter().map(token).collect::<Vec<_>>())
    }
}

fn has_aside(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::If(_, tokens) => has_aside(tokens),
        Token::Aside(_) => true,
        _ => false,
    })
}

/// Which sets have a layout that matches any bits, and only valid values.
fn total(stream: &Stream) -> Vec<bool> {
    let (first, last) = stream.generations;
    let catches = |layout: &Layout| {
        layout.mask.is_zero() && layout.conditions.is_empty() && layout.since <= first && layout.until >= last
    };
    let mut total: Vec<bool> = stream.sets.iter().map(|set| set.layouts.iter().any(catches)).collect();
    // The result for a set may depend on the sets within it. Each iteration removes at least one set.
    loop {
        let holds = |set: &model::Set| {
            let right = |field: &model::Field| always_right(stream, &total, field);
            set.layouts.iter().all(|layout| layout.fixed_mask == layout.mask && layout.fields.iter().all(right))
        };
        let next: Vec<bool> = stream.sets.iter().zip(&total).map(|(set, total)| *total && holds(set)).collect();
        if next == total {
            return total;
        }
        total = next;
    }
}

/// Whether every value of a field is valid.
fn always_right(stream: &Stream, total: &[bool], field: &model::Field) -> bool {
    match field.ty {
        Type::Number(_) | Type::Float(_) | Type::Enum(_, Some(_)) => true,
        Type::Enum(_, None) => false,
        Type::Set(set, _) => total.get(set).copied().unwrap_or(false),
        Type::Register(bank) => {
            let count = stream.banks.get(bank).map_or(0, |bank| u64::from(bank.count));
            !field.signed && isaforge_core::bits::ones(field.width.into()) < count
        }
    }
}

/// The longest word that every text of a layout contains. Blanks and surrounding punctuation may be written in other
/// ways, and the prefix of a number left out before a label.
fn key(tokens: &[Token]) -> String {
    let next = tokens.iter().skip(1).map(Some).chain([None]);
    let texts = tokens.iter().zip(next).filter_map(|(token, next)| match (token, next) {
        (Token::Text(text), Some(Token::Field(_))) => {
            let end = text.rfind(core::BEFORE_PREFIX).map_or(text.len(), |last| last + 1);
            Some(&text[..end])
        }
        (Token::Text(text), _) => Some(text.as_str()),
        _ => None,
    });
    let words = texts.flat_map(|text| text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')));
    words.max_by_key(|word| word.len()).unwrap_or_default().to_owned()
}
