//! Instructions in a stream of bytes.

use alloc::string::String;

use crate::sample::Random;
use crate::semantics::{Semantics, instantiate, show};
use crate::stream::{Decoded, Engine, Layout, Source, Wide};
use crate::table::Enum;

/// The enums as they are in the engine's generation, with their indices in the tables. An enum whose values differ
/// between generations is several in the tables.
pub fn enums(engine: Engine) -> impl Iterator<Item = (usize, Enum)> {
    let part = move |of: &Enum| part(engine, of);
    engine.stream.enums.iter().enumerate().filter_map(move |(index, of)| {
        let (name, since) = part(of);
        let there = since..=engine.generation;
        let is_latest = |other: &Enum| {
            let (also, later) = part(other);
            also != name || later == since || !there.contains(&later)
        };
        (since <= engine.generation && engine.stream.enums.iter().all(is_latest))
            .then_some((index, Enum { name, ..*of }))
    })
}

/// The name of an enum in the specification.
pub fn enum_name(engine: Engine, of: &Enum) -> &'static str {
    part(engine, of).0
}

/// The name of an enum in the specification, and the generation from which on it has the values of this one.
fn part(engine: Engine, of: &Enum) -> (&'static str, u32) {
    let later = of.name.split_once(" since ").and_then(|(name, since)| {
        let named = engine.stream.generation_names.iter().find(|(name, _)| *name == since);
        Some((name, named.map_or_else(|| since.parse().ok(), |(_, number)| Some(*number))?))
    });
    later.unwrap_or((of.name, 0))
}

/// The semantics of an instruction, if the specification has them: the full text, and the text that remains once the
/// modifiers of this instruction are known.
pub fn operation(engine: Engine, semantics: &'static Semantics, decoded: &Decoded) -> Option<(&'static str, String)> {
    let scope = engine.scope(decoded);
    let operations = semantics.operations.get(usize::from(scope.layout.opcode));
    let operation = operations.filter(|found| !found.text.is_empty())?;
    let bits = |modifier: u16| operation.modifiers.get(usize::from(modifier)).map_or(0, |m| m.bits_in(&scope));
    let name = |operand: u16| scope.layout.fields.get(usize::from(operand)).map_or("?", |field| field.name);
    Some((operation.text, show(semantics, &instantiate(semantics, operation, bits), name)))
}

/// The number of random words to try in the search for an example.
const TRIES: u64 = 1 << 10;

/// An example word of a layout: its constants and the defaults of its fields, with small distinct numbers where there
/// is no default. If that is not an instruction, other numbers are tried.
pub fn example(engine: Engine, layout: &'static Layout) -> Wide {
    let word = |number: &mut dyn FnMut(usize, u64) -> u64| {
        let mut word = Wide::ZERO;
        for (i, field) in layout.fields.iter().enumerate() {
            if let Source::Bits(pieces) = field.source {
                let mut value = number(i, field.default);
                for piece in pieces {
                    word.set(piece.at.into(), piece.width.into(), value);
                    value = value.checked_shr(piece.width.into()).unwrap_or(0);
                }
            }
        }
        word & !layout.fixed_mask | layout.fixed_value
    };
    let good = |word: &Wide| {
        let decoded = engine.decode(&engine.store(*word)).ok()?;
        (engine.scope(&decoded).layout.opcode == layout.opcode).then_some(*word)
    };
    let plain = word(&mut |_, default| default);
    let spread = word(&mut |i, default| if default == 0 { i as u64 + 1 } else { default });
    let mut random = Random(1);
    // Each field gets its default, a small number, or any number.
    let mut any = |i: usize, default: u64| match random.below(4) {
        0 => default,
        1 => i as u64 + 1,
        2 => random.below(16),
        _ => random.next(),
    };
    let found = good(&spread).or_else(|| good(&plain)).or_else(|| (0..TRIES).find_map(|_| good(&word(&mut any))));
    found.unwrap_or(plain)
}
