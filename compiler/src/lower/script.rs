//! The fast way to print a form: its syntax as a list of look-ups.
//!
//! Most of a line is text that a few bits choose: a modifier, an operand of a kind that is tabulated. A step takes such
//! bits and copies a label. Fixed text joins the labels behind it, neighbouring modifiers whose bits touch become one
//! step, and what has no table (numbers, lists of registers) is a step that prints the ordinary way.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::table::{Enum, Form, Kind, Modifier, Script, Shape, Step, Token, Type};
use isaforge_core::text::LABEL_MAX;

/// The most bits of a modifier, or of several taken together, that choose a label.
const MOST_BITS: u32 = 4;

/// The labels of all forms, each table of them once.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) texts: Vec<String>,
    known: HashMap<Vec<String>, u16>,
}

impl Labels {
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
    /// Bits (shift and width) that choose a text. A modifier prints nothing at its default.
    Chosen {
        shift: u32,
        width: u32,
        texts: Vec<String>,
        modifier: bool,
        quiet: bool,
    },
    /// An operand without a table.
    Operand(u8),
}

/// The script of a form; an empty one when the form can only be printed the ordinary way.
pub(super) fn script(enums: &[Enum], kinds: &[Kind], form: &Form, labels: &mut Labels) -> Script {
    let none = Script { mask: 0, value: 1, short: &[], long: &[] };
    let Some(pieces) = pieces(enums, kinds, form) else { return none };
    let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
    let (mut mask, mut value) = (0, 0);
    for modifier in form.modifiers.iter().chain(suffixes) {
        if let Some(default) = modifier.default {
            mask |= modifier.bits.mask(0);
            value = modifier.bits.set(value, 0, default);
        }
    }
    let loud = pieces.iter().filter(|p| !matches!(p, Piece::Chosen { quiet: true, .. })).cloned().collect();
    match (steps(loud, labels), steps(pieces, labels)) {
        (Some(short), Some(long)) => {
            Script { mask, value, short: super::slice(short.into_iter()), long: super::slice(long.into_iter()) }
        }
        _ => none,
    }
}

/// What a form prints after its name.
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
                let table = match operand.shape {
                    Shape::One { kind, at } => {
                        Some((&kinds[usize::from(kind)], at)).filter(|(kind, _)| !kind.texts.is_empty())
                    }
                    _ => None,
                };
                let Some((kind, at)) = table else {
                    pieces.push(Piece::Operand(*i));
                    continue;
                };
                let texts = kind.texts.iter().map(|t| t.str.to_owned()).collect();
                let (shift, width) = (u32::from(at), u32::from(kind.width));
                pieces.push(Piece::Chosen { shift, width, texts, modifier: false, quiet: false });
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
    if !bits.high.is_empty() || bits.width() > MOST_BITS {
        return None;
    }
    let text = |value: u64| match modifier.ty {
        _ if modifier.default == Some(value) => "",
        Type::Enum(e) => enums[usize::from(e)].dotted.get(value as usize).map_or("", |t| t.str),
        _ => modifier.flag.str,
    };
    let texts = (0..=ones(bits.width())).map(|value| text(value).to_owned()).collect();
    let (shift, width) = (u32::from(bits.low.at), bits.width());
    Some(Piece::Chosen { shift, width, texts, modifier: true, quiet: modifier.default.is_some() })
}

fn steps(pieces: Vec<Piece>, labels: &mut Labels) -> Option<Vec<Step>> {
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
            Piece::Operand(i) => Step::operand(*i),
        })
    };
    joined.iter().map(step).collect()
}

/// Two pieces as one, where that costs no great table.
fn join(a: &Piece, b: &Piece) -> Option<Piece> {
    match (a, b) {
        (Piece::Fixed(a), Piece::Fixed(b)) if a.len() + b.len() <= LABEL_MAX => Some(Piece::Fixed(format!("{a}{b}"))),
        (Piece::Fixed(a), Piece::Chosen { shift, width, texts, modifier: false, quiet }) => {
            let texts: Vec<String> = texts.iter().map(|t| format!("{a}{t}")).collect();
            let fits = texts.iter().all(|t| t.len() <= LABEL_MAX);
            fits.then_some(Piece::Chosen { shift: *shift, width: *width, texts, modifier: false, quiet: *quiet })
        }
        (
            Piece::Chosen { shift: a, width: v, texts: first, modifier: true, quiet: p },
            Piece::Chosen { shift: b, width: w, texts: second, modifier: true, quiet: q },
        ) if v + w <= MOST_BITS && (a + v == *b || b + w == *a) => {
            let shift = *a.min(b);
            let part = |value: u64, at: u32, width: u32| (value >> (at - shift) & ones(width)) as usize;
            let text = |value| format!("{}{}", first[part(value, *a, *v)], second[part(value, *b, *w)]);
            let texts: Vec<String> = (0..=ones(v + w)).map(text).collect();
            let fits = texts.iter().all(|t| t.len() <= LABEL_MAX);
            fits.then_some(Piece::Chosen { shift, width: v + w, texts, modifier: true, quiet: *p && *q })
        }
        _ => None,
    }
}
