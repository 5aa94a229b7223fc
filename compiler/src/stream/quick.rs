//! A fast test for each layout: conditions and values that mean something, as tables over the bits that decide them.
//!
//! A table is made by asking the exact way about every value of its bits, so the two cannot differ. A layout with a condition
//! that more than [`MOST_BITS`] bits decide is left to the exact way.

use std::collections::HashMap;

use isaforge_core::stream::{
    Engine, Input, Layout, Lookup, Piece, Quick, Role, Scope, Source, Stream, Type, Wide, solve,
};

use super::model;
use crate::lower::slice;

/// The most bits that a table is made for.
const MOST_BITS: u32 = 13;
/// The most bits of a table for what an operand may be, facts of the instruction included.
const MOST_OPERAND_BITS: u32 = 12;

/// The tests of all layouts of instructions.
pub(super) fn tests(stream: &'static Stream) -> &'static [Quick] {
    let mut tables = Tables { stream, known: HashMap::new(), operands: HashMap::new() };
    let count = stream.sets.first().map_or(0, |set| usize::from(set.count));
    let exact =
        Quick { mask: 0, fixed: 0, value: 0, conditions: &[], checks: &[], len: 0, lengths: None, since: 0, until: 0 };
    slice(stream.layouts.iter().take(count).map(|layout| tables.quick(layout).unwrap_or(exact)))
}

struct Tables {
    stream: &'static Stream,
    /// Tables by their rows: many layouts have the same.
    known: HashMap<Vec<u64>, &'static [u64]>,
    /// Tables of operands that nothing but their bits decides: the set, the bits. Many layouts have the same operand.
    operands: HashMap<(u16, u32), &'static [u64]>,
}

impl Tables {
    fn quick(&mut self, layout: &'static Layout) -> Option<Quick> {
        // Wide patterns are compared whole.
        let wide = layout.fixed_mask.width() > 64;
        if wide || layout.role != Role::Own {
            return None;
        }
        let engine = Engine { stream: self.stream, generation: layout.since };
        let mut conditions = Vec::new();
        for condition in layout.conditions {
            self.local(*condition)?;
            let leaves = solve::leaves_of(engine, layout, *condition);
            let holds = |scope: &Scope<'_>| scope.expression(*condition) != 0;
            conditions.push(self.table(engine, layout, leaves, MOST_BITS, &holds)?);
        }
        let mut checks = Vec::new();
        for (index, field) in layout.fields.iter().enumerate() {
            let leaves = match field.ty {
                _ if layout.simple => continue,
                Type::Number(_) | Type::Float(_) | Type::Enum(_, Some(_)) => continue,
                Type::Set(_, arguments) => {
                    let of = |field: &u8| layout.fields.get(usize::from(*field)).map_or(0, |f| f.leaves);
                    arguments.iter().map(of).fold(field.leaves, |a, b| a | b)
                }
                _ => field.leaves,
            };
            // What sets look at beyond their bits is not known here.
            if self.stream.expressions.iter().any(|e| e.inputs.contains(&Input::Length)) {
                return None;
            }
            if self.stream.generations.0 != self.stream.generations.1 && matches!(field.ty, Type::Set(..)) {
                return None;
            }
            let right = |scope: &Scope<'_>| scope.field_is_valid(index as u8);
            let alone = match (field.ty, field.source) {
                (Type::Set(set, []), Source::Bits(of)) => Some((set, of.iter().map(|p| u32::from(p.width)).sum())),
                _ => None,
            };
            if let (Some(allowed), Source::Bits(of)) = (alone.and_then(|key| self.operands.get(&key)), field.source) {
                checks.push(Lookup { pieces: of, allowed });
                continue;
            }
            let table = self.table(engine, layout, leaves, MOST_OPERAND_BITS, &right)?;
            self.operands.extend(alone.map(|key| (key, table.allowed)));
            checks.push(table);
        }
        let lengths = match layout.length {
            None => None,
            Some(length) => {
                self.local(length)?;
                let leaves = solve::leaves_of(engine, layout, length);
                let pieces = pieces(layout, leaves, MOST_BITS)?;
                let unit = u64::from(self.stream.unit.max(1));
                let of = |word: &Wide| {
                    let found = scope(engine, layout, word).expression(length);
                    let right = found > 0 && found <= self.stream.longest.into() && found.is_multiple_of(unit);
                    if right { found as u8 } else { 0 }
                };
                let lengths: Vec<u8> = words(layout, &pieces).map(|word| of(&word)).collect();
                // Bits that are not there must not be looked at.
                let shortest = lengths.iter().filter(|len| **len > 0).min().copied().unwrap_or(0);
                let ends =
                    |pieces: &[Piece]| pieces.iter().all(|p| p.at + u16::from(p.width) <= u16::from(shortest) * 8);
                let all = conditions.iter().chain(&checks).all(|lookup: &Lookup| ends(lookup.pieces));
                if !ends(&pieces) || !all || layout.fixed_mask.width() > u32::from(shortest) * 8 {
                    return None;
                }
                Some((slice(pieces), slice(lengths)))
            }
        };
        Some(Quick {
            mask: layout.mask.0[0],
            fixed: layout.fixed_mask.0[0],
            value: layout.fixed_value.0[0],
            conditions: slice(conditions),
            checks: slice(checks),
            len: (layout.bits / 8) as u8,
            lengths,
            since: layout.since,
            until: layout.until,
        })
    }

    /// Whether fields alone decide an expression.
    fn local(&self, expression: u16) -> Option<()> {
        let expression = self.stream.expressions.get(usize::from(expression))?;
        expression.inputs.iter().all(|input| matches!(input, Input::Field(_))).then_some(())
    }

    fn table(
        &mut self,
        engine: Engine,
        layout: &'static Layout,
        leaves: u64,
        most: u32,
        holds: &dyn Fn(&Scope<'_>) -> bool,
    ) -> Option<Lookup> {
        let pieces = pieces(layout, leaves, most)?;
        let mut rows = Vec::new();
        for (i, word) in words(layout, &pieces).enumerate() {
            if i % 64 == 0 {
                rows.push(0);
            }
            if let Some(row) = rows.last_mut() {
                *row |= u64::from(holds(&scope(engine, layout, &word))) << (i % 64);
            }
        }
        let allowed = *self.known.entry(rows).or_insert_with_key(|rows| slice(rows.iter().copied()));
        Some(Lookup { pieces: slice(pieces), allowed })
    }
}

fn scope<'a>(engine: Engine, layout: &'static Layout, word: &'a Wide) -> Scope<'a> {
    Scope { engine, layout, word, len: (layout.bits / 8) as u8, outer: None }
}

/// The bits of some fields; `None` when they are more than a table is made for, or come from outside.
fn pieces(layout: &Layout, leaves: u64, most: u32) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let fields = layout.fields.iter().enumerate().filter(|(i, _)| leaves >> i & 1 != 0);
    for (_, field) in fields {
        match field.source {
            Source::Bits(of) => pieces.extend(of),
            _ => return None,
        }
    }
    let width: u32 = pieces.iter().map(|piece| u32::from(piece.width)).sum();
    (width <= most).then_some(pieces)
}

/// A word for each value of some bits, all others being those of the layout.
fn words(layout: &Layout, pieces: &[Piece]) -> impl Iterator<Item = Wide> {
    let width: u32 = pieces.iter().map(|piece| u32::from(piece.width)).sum();
    let base = layout.fixed_value & !model::Layout::bits_of(pieces);
    (0..1u64 << width).map(move |value| {
        let (mut word, mut rest) = (base, value);
        for piece in pieces {
            word.set(piece.at.into(), piece.width.into(), rest);
            rest = rest.checked_shr(piece.width.into()).unwrap_or(0);
        }
        word
    })
}
