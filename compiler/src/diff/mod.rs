//! Changes between two revisions of an instruction set: by meaning, not by line.
//!
//! [`diff`] compares the tables of two specifications. Instructions are matched by name, then by their opcode bits;
//! their operands, modifiers and the definitions they use are compared one by one. Besides this list of *changes*, it
//! determines what matters to programs: whether old words still read the same. That is decided for every instruction:
//!
//! - **Proved**: the words of an instruction are the product of independent groups of fields (a modifier, an operand,
//!   fields that share bits). Every value of every group is checked, under every value of the shared fields: whether it
//!   is valid in the other revision, and what it prints. Numbers of more than 16 bits are not enumerated; they are the
//!   same if both revisions have them at the same bits, with the same type and prefix.
//! - **Found**: an instruction whose words read differently is listed with such a word, which was decoded and printed
//!   by both revisions.
//! - **Sampled**: where neither applies (such as a wide number that one revision splits), boundary values, random
//!   values, and 2,048 random words are tried. If none differs, the instruction is listed as *unproven*, and
//!   [`Diff::decodes_alike`] is false, which requires proof.
//!
//! [`diff_streams`] does the same for streams, whose instructions have layouts instead of the masks of a word: there,
//! the proof compares layouts piece by piece, or tries every word of a layout with at most 16 open bits.
//!
//! [`diff_groups`] does the same for groups, whose operations count as instructions: there, the proof compares all that
//! decoding and printing depend on, and else groups that differ in one field or one bit are tried.
//!
//! "Reads the same" means the same customary text, and for branches the same target. Properties that text does not show
//! (the unit of an instruction, how it accesses an operand, what it does) are only listed as changes. What instructions
//! do is compared as graphs, so that another wording is no change, and a change of a definition shows in every
//! instruction that uses it.
//!
//! - `revision`, `difference`, `change`: what is compared, the result, and one difference in it
//! - `instructions`: matches instructions and judges their words; `words` splits them and `fields` tries their values,
//!   with `verdict`, `identity` and `parts`; `entries` puts the results together
//! - `structure`, `machine`: compares definitions, and the machine
//! - `effects`: compares what instructions do, as graphs (`meaning`) with the names of their members (`encoded`)
//! - `stream`, `group`: the same for streams and for groups
//! - `text`, `json`, `markdown`: write the result

mod change;
mod difference;
mod effects;
mod encoded;
mod entries;
mod fields;
mod group;
mod identity;
mod instructions;
mod json;
mod machine;
mod markdown;
mod meaning;
mod parts;
mod revision;
mod stream;
mod structure;
mod text;
mod verdict;
mod words;

use isaforge_core::table::Isa;

pub use change::{Change, How, Subject};
pub use difference::{
    Decoding, DefinitionDiff, Diff, Example, Fate, Instruction, InstructionDiff, Pattern, Reading, Sort,
};
pub use group::diff_groups;
pub use revision::{Revision, Side};
pub use stream::diff_streams;

pub(crate) use identity::leads;
pub(crate) use parts::{modifier_text, operand_text, text as word_text};
pub(crate) use stream::{renamed as renamed_in_stream, same_reading};
pub(crate) use structure::{renamed_alternative, renamed_fields, renamed_modifiers, renamed_operands};

/// Compares two revisions of an instruction set, given as tables, with or without what instructions do.
pub fn diff(old: impl Into<Revision<&'static Isa>>, new: impl Into<Revision<&'static Isa>>) -> Diff {
    let (old, new) = (old.into(), new.into());
    let mut diff = Diff {
        old: Side::of(old.tables),
        new: Side::of(new.tables),
        instructions: Vec::new(),
        common: Vec::new(),
        definitions: structure::definitions(old, new),
        alike: 0,
        different: 0,
        unproven: 0,
        resized: old.tables.word_bits != new.tables.word_bits,
    };
    let banks = |isa: &'static Isa| isa.banks.iter().map(|bank| bank.name).collect::<Vec<_>>();
    let sides = [old, new].map(|side| (side, banks(side.tables)));
    let [old_side, new_side] = sides.each_ref().map(|(side, banks)| (*side, &banks[..]));
    diff.definitions.extend(machine::machine(old.tables.name, old_side, new_side));
    instructions::compare(old, new, &mut diff);
    diff
}

impl Diff {
    /// The difference as text for a terminal.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// The difference as one JSON document.
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    /// The difference as Markdown for a pull request.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }
}
