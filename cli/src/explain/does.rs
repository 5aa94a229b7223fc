//! What an instruction does, in the language of the specification.

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::explain::{groups, streams, words};
use isaforge_core::group;
use isaforge_core::group::info::operations;

/// The operation of an instruction: its text in the specification, one a line for those of a group, and what is left of
/// it once the modifiers of this instruction are known. `None` if the bytes do not decode or the specification does not
/// say it.
pub fn operation(set: &Set, bytes: &[u8]) -> Option<(String, String)> {
    let semantics = set.semantics?;
    let (text, here) = match set.tables {
        Tables::Words(isa) => {
            let word = word_of(bytes);
            words::operation(isa, semantics, decode(isa, word).ok()?, word)?
        }
        Tables::Streams(engine) => streams::operation(engine, semantics, &engine.decode(bytes).ok()?)?,
        Tables::Groups(isa) => {
            let group = group::decode(isa, bytes).ok()?;
            let texts: Vec<&str> = operations(isa, &group).filter_map(|(_, number, _)| text_of(set, number)).collect();
            return Some((texts.join("\n"), groups::operation(isa, semantics, &group)?));
        }
    };
    Some((text.to_owned(), here))
}

/// The text of an operation of a group, by its number.
pub fn text_of(set: &Set, number: usize) -> Option<&'static str> {
    let found = set.semantics?.operations.get(number)?;
    Some(found.text).filter(|text| !text.is_empty())
}
