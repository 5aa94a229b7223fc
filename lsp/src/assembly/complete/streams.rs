//! What can follow a text in sets of streams.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use isaforge_core::stream::{Engine, Expected, Type};

use super::{Any, Offer, Offers, is_within_word, labels, name_in};
use crate::assembly::Source;

/// Whether some instruction starts with a text.
fn takes(source: &Source, engine: Engine, text: &str) -> bool {
    let found = Cell::new(false);
    engine.expected(text, &Any(source), &|next| {
        let within = matches!(next, Expected::Text(rest) if is_within_word(text, rest));
        found.set(found.get() || !within);
    });
    found.get()
}

/// The names that may follow a text: words, registers and labels.
pub fn names(source: &Source, engine: Engine, before: &str, typed: &str) -> Offers {
    let told = RefCell::new(Vec::new());
    engine.expected(before, &Any(source), &|next| told.borrow_mut().push(next));
    let (mut found, mut banks, mut has_target) = (BTreeSet::new(), BTreeSet::new(), false);
    for next in told.into_inner() {
        match next {
            Expected::Text(text) => found.extend(name_in(text).map(Offer::plain)),
            Expected::Value(Type::Register(bank)) => {
                banks.insert(bank);
            }
            Expected::Value(Type::Enum(index, _)) => {
                let values = engine.stream.enums.get(usize::from(index)).map_or(&[][..], |found| found.values);
                found.extend(values.iter().filter(|value| !value.text.is_empty()).map(Offer::of));
            }
            Expected::Value(Type::Number(notation)) => has_target |= notation.target.is_some(),
            Expected::Value(Type::Float(_) | Type::Set(..)) | Expected::Nothing => {}
        }
    }
    let registers = source.spellings().iter().filter(|(_, register)| banks.contains(&register.bank));
    found.extend(registers.map(|(name, _)| Offer::plain(name)));
    found.extend(labels(source).filter(|_| has_target));
    Offers::accepted(found, typed, |name| takes(source, engine, &format!("{before}{name}")))
}
