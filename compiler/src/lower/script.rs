//! The fast way to print a form: its syntax as a list of table look-ups.
//!
//! Most of a line is text that depends on a few bits: a modifier, or an operand of a kind with a table. A step extracts
//! such bits and copies a label. Fixed text is merged into the labels after it, adjacent modifiers with adjacent bits
//! become one step, and anything without a table (numbers, lists of registers) is a step that prints the ordinary way.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::table::{Enum, Form, Kind, Modifier, Script, Shape, Step, Token, Type};
use isaforge_core::text::LABEL_MAX;

use crate::leak::slice;

/// The maximum number of bits, of one modifier or several combined, that select a label.
const MAX_BITS: u32 = 4;

/// The labels of all forms; each distinct table is stored once.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) texts: Vec<String>,
    known: HashMap<Vec<String>, u16>,
    /// The tables of kinds, by the text prepended to each entry and the kind.
    kinds: HashMap<(String, usize), Option<u16>>,
}

impl Labels {
    /// The index of the first of a kind's texts, each with `before` prepended.
    fn first_of_kind(&mut self, before: &str, index: usize, kind: &Kind) -> Option<u16> {
        if let Some(first) = self.kinds.get(&(before.to_owned(), index)) {
            return *first;
        }
        let texts: Vec<String> = kind.texts.iter().map(|t| format!("{before}{}", t.str)).collect();
        let first = self.first(&texts);
        self.kinds.insert((before.to_owned(), index), first);
        first
    }

    /// The index of the first of these labels; `None` when one is too long or there are too many.
    fn first(&mut self, texts: &[String]) -> Option<u16> {
        if let Some(first) = self.known.get(texts) {
            return Some(*first);
        }
        let first = u16::try_from(self.texts.len()).ok()?;
        if texts.iter().any(|t| t.len() > LABEL_MAX) || self.texts.len() + texts.len() >= usize::from(Step::NO_LABEL) {
            return None;
        }
        self.texts.extend_from_slice(texts);
        self.known.insert(texts.to_vec(), first);
        Some(first)
    }
}

/// A piece of a line.
#[derive(Clone)]
enum Piece {
    Fixed(String),
    /// A modifier's text, selected by bits (shift and width); if `quiet`, empty at its default.
    Chosen {
        shift: u32,
        width: u32,
        texts: Vec<String>,
        quiet: bool,
    },
    /// An operand of a kind with a table, its first bit, and the fixed text before it.
    Kind {
        before: String,
        kind: usize,
        at: u8,
    },
    /// An operand without a table.
    Operand(u8),
}

/// Whether the form can be parsed word by word: no text of a modifier would be split into several words.
fn scans(enums: &[Enum], form: &Form) -> bool {
    let one_word = |text: &str| text.bytes().skip(1).all(|byte| byte >= b'0');
    let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
    form.modifiers.iter().chain(suffixes).all(|m| match m.ty {
        Type::Enum(e) => enums[usize::from(e)].dotted.iter().all(|text| one_word(text.str)),
        _ => one_word(m.flag.str) && one_word(m.also),
    })
}

/// The script of a form; empty if the form can only be printed the ordinary way.
pub(super) fn script(enums: &[Enum], kinds: &[Kind], form: &Form, labels: &mut Labels) -> Script {
    let mut script = Script { mask: 0, value: 1, short: &[], long: &[], scans: scans(enums, form) };
    let Some(pieces) = pieces(enums, kinds, form) else { return script };
    let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
    let (mut mask, mut value) = (0, 0);
    for modifier in form.modifiers.iter().chain(suffixes) {
        if let Some(default) = modifier.default {
            mask |= modifier.bits.mask(0);
            value = modifier.bits.set(value, 0, default);
        }
    }
    let loud = pieces.iter().filter(|p| !matches!(p, Piece::Chosen { quiet: true, .. })).cloned().collect();
    if let (Some(short), Some(long)) = (steps(loud, kinds, labels), steps(pieces, kinds, labels)) {
        script = Script { mask, value, short: slice(short), long: slice(long), ..script };
    }
    script
}

/// The text of a form after its name, in pieces.
fn pieces(enums: &[Enum], kinds: &[Kind], form: &Form) -> Option<Vec<Piece>> {
    let Some((Token::Mnemonic, syntax)) = form.syntax.split_first() else { return None };
    let mut pieces = Vec::new();
    for token in syntax {
        match token {
            Token::Text(text) => pieces.push(Piece::Fixed(text.str.to_owned())),
            Token::Modifiers => {
                for (i, modifier) in form.modifiers.iter().enumerate() {
                    if form.placed & 1 << i == 0 {
                        pieces.push(choice(enums, modifier)?);
                    }
                }
            }
            Token::Modifier(i) => pieces.push(choice(enums, &form.modifiers[usize::from(*i)])?),
            Token::Operand(i) => {
                let operand = &form.operands[usize::from(*i)];
                match operand.shape {
                    Shape::One { kind, at } if !kinds[usize::from(kind)].texts.is_empty() => {
                        pieces.push(Piece::Kind { before: String::new(), kind: usize::from(kind), at });
                    }
                    _ => {
                        pieces.push(Piece::Operand(*i));
                        continue;
                    }
                }
                for suffix in operand.suffixes {
                    pieces.push(choice(enums, suffix)?);
                }
            }
            Token::Mnemonic | Token::Field(_) => return None,
        }
    }
    Some(pieces)
}

fn choice(enums: &[Enum], modifier: &Modifier) -> Option<Piece> {
    let bits = modifier.bits;
    if !bits.high.is_empty() || bits.width() > MAX_BITS {
        return None;
    }
    let text = |value: u64| match modifier.ty {
        _ if modifier.default == Some(value) => "",
        Type::Enum(e) => enums[usize::from(e)].dotted.get(value as usize).map_or("", |t| t.str),
        _ => modifier.flag.str,
    };
    let texts = (0..=ones(bits.width())).map(|value| text(value).to_owned()).collect();
    let (shift, width) = (u32::from(bits.low.at), bits.width());
    Some(Piece::Chosen { shift, width, texts, quiet: modifier.default.is_some() })
}

fn steps(pieces: Vec<Piece>, kinds: &[Kind], labels: &mut Labels) -> Option<Vec<Step>> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.pop() {
            None => joined.push(piece),
            Some(last) => match join(&last, &piece) {
                Some(both) => joined.push(both),
                None => joined.extend([last, piece]),
            },
        }
    }
    let step = |piece: &Piece| {
        Some(match piece {
            Piece::Fixed(text) => Step::label(labels.first(std::slice::from_ref(text))?, 0, 0),
            Piece::Chosen { shift, width, texts, .. } => {
                Step::label(labels.first(texts)?, *shift as u8, ones(*width) as u16)
            }
            Piece::Kind { before, kind, at } => {
                let mask = ones(u32::from(kinds[*kind].width)) as u16;
                Step::label(labels.first_of_kind(before, *kind, &kinds[*kind])?, *at, mask)
            }
            Piece::Operand(i) => Step::operand(*i),
        })
    };
    joined.iter().map(step).collect()
}

/// Joins two pieces, if the resulting table is small.
fn join(a: &Piece, b: &Piece) -> Option<Piece> {
    match (a, b) {
        (Piece::Fixed(a), Piece::Fixed(b)) if a.len() + b.len() <= LABEL_MAX => Some(Piece::Fixed(format!("{a}{b}"))),
        (Piece::Fixed(a), Piece::Kind { before, kind, at }) => {
            Some(Piece::Kind { before: format!("{a}{before}"), kind: *kind, at: *at })
        }
        (
            Piece::Chosen { shift: a, width: v, texts: first, quiet: p },
            Piece::Chosen { shift: b, width: w, texts: second, quiet: q },
        ) if v + w <= MAX_BITS && (a + v == *b || b + w == *a) => {
            let shift = *a.min(b);
            let part = |value: u64, at: u32, width: u32| (value >> (at - shift) & ones(width)) as usize;
            let text = |value| format!("{}{}", first[part(value, *a, *v)], second[part(value, *b, *w)]);
            let texts: Vec<String> = (0..=ones(v + w)).map(text).collect();
            let fits = texts.iter().all(|t| t.len() <= LABEL_MAX);
            fits.then_some(Piece::Chosen { shift, width: v + w, texts, quiet: *p && *q })
        }
        _ => None,
    }
}
