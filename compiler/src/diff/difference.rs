//! The result of a comparison, and what it says about old binaries.

use std::fmt;

use isaforge_core::stream::Wide;

use super::change::{Change, How, Subject};
use super::revision::Side;

/// How a revision decodes a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The text of the instruction.
    Text(String),
    /// It is not an instruction, with the reason.
    Invalid(String),
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reading::Text(text) => f.write_str(text),
            Reading::Invalid(why) => write!(f, "(invalid: {why})"),
        }
    }
}

/// A word that the revisions decode differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The word in hexadecimal: as a number, or for streams and groups as bytes in memory order.
    pub word: String,
    /// How the old revision decodes it.
    pub old: Reading,
    /// How the new revision decodes it.
    pub new: Reading,
}

/// The bits that distinguish an instruction from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The mask of the bits.
    pub mask: Wide,
    /// Their value.
    pub value: Wide,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = self.mask.runs().collect();
        runs.reverse();
        for (index, (low, width)) in runs.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            if width == 1 {
                write!(f, "{comma}{low} = {}", self.value.get(low, 1))?;
                continue;
            }
            write!(f, "{comma}{}..{low} = {:#x}", low + width - 1, self.value.get(low, width))?;
        }
        Ok(())
    }
}

/// An instruction in one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its mnemonic.
    pub name: String,
    /// Its opcode bits.
    pub pattern: Pattern,
}

/// How an instruction changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Only the new revision has it.
    Added,
    /// Only the old revision has it.
    Removed,
    /// The same opcode bits have another name.
    Renamed,
    /// The same name has other opcode bits.
    Moved,
    /// Name and opcode bits are the same, but another part of it differs.
    Changed,
    /// Nothing of its own changed, but definitions that it uses did, and words read differently.
    Affected,
}

impl Fate {
    /// All fates, in the order of reports.
    pub const ALL: [Fate; 6] = [Fate::Added, Fate::Removed, Fate::Renamed, Fate::Moved, Fate::Changed, Fate::Affected];

    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Added => "added",
            Fate::Removed => "removed",
            Fate::Renamed => "renamed",
            Fate::Moved => "moved",
            Fate::Changed => "changed",
            Fate::Affected => "affected",
        }
    }
}

/// How the new revision decodes the words of an old instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoding {
    /// All words read the same, which is proved.
    Alike,
    /// At least one word reads differently, of which an example is given, or branches elsewhere, as the changes say.
    Different,
    /// No word was found that reads differently, but that is not a proof.
    Unproven,
}

impl Decoding {
    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Decoding::Alike => "alike",
            Decoding::Different => "different",
            Decoding::Unproven => "unproven",
        }
    }
}

/// An instruction that is not the same in both revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionDiff {
    /// How it changed.
    pub fate: Fate,
    /// The instruction in the old revision.
    pub old: Option<Instruction>,
    /// The instruction in the new revision.
    pub new: Option<Instruction>,
    /// For a removed instruction, those that now decode its words; for an added one, those that decoded its words
    /// before.
    pub related: Vec<String>,
    /// What changed in it.
    pub changes: Vec<Change>,
    /// How its old words decode; `None` for an added instruction.
    pub decoding: Option<Decoding>,
    /// Words that read differently: one that the old revision decodes, and one that only the new one does.
    pub examples: Vec<Example>,
}

impl InstructionDiff {
    /// The name to list it under: the old one, if there is one.
    pub fn name(&self) -> &str {
        self.old.as_ref().or(self.new.as_ref()).map_or("", |i| &i.name)
    }
}

/// The sort of definition that a [`DefinitionDiff`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Names for the values of a field.
    Enum,
    /// A table of constants.
    Constants,
    /// A bank of registers.
    Bank,
    /// A kind of operand; in groups, an operand.
    Kind,
    /// What a slot of a group without operations may hold.
    Choice,
    /// A field that operands share.
    Shared,
    /// A limit on operands.
    Limit,
    /// The machine that executes the instructions.
    Machine,
}

impl Sort {
    /// The words for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Sort::Enum => "enum",
            Sort::Constants => "constants",
            Sort::Bank => "bank",
            Sort::Kind => "kind",
            Sort::Choice => "choice",
            Sort::Shared => "shared field",
            Sort::Limit => "limit",
            Sort::Machine => "machine",
        }
    }
}

/// A definition that is not the same in both revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionDiff {
    /// The sort of definition.
    pub sort: Sort,
    /// How it changed.
    pub how: How,
    /// Its name; the old one if it was renamed.
    pub name: String,
    /// Its new name if it was renamed, else empty.
    pub renamed: String,
    /// What changed in it.
    pub changes: Vec<Change>,
}

/// What changed between two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The old revision.
    pub old: Side,
    /// The new revision.
    pub new: Side,
    /// Instructions that are not the same, in the order of the old revision, added ones last.
    pub instructions: Vec<InstructionDiff>,
    /// Changes common to all instructions that both revisions have; they are not repeated there.
    pub common: Vec<Change>,
    /// Definitions that are not the same.
    pub definitions: Vec<DefinitionDiff>,
    /// How many instructions of the old revision are proved to read the same in all words.
    pub alike: usize,
    /// How many have a word that reads differently.
    pub different: usize,
    /// How many could not be decided.
    pub unproven: usize,
    /// Whether the width of words changed, so that no old binary decodes.
    pub resized: bool,
}

impl Diff {
    /// Whether old binaries decode the same: every valid word of the old revision has the same text in the new one.
    ///
    /// True only if that is proved for every instruction; see the [module](super).
    pub fn decodes_alike(&self) -> bool {
        self.different == 0 && self.unproven == 0 && !self.resized
    }

    /// Whether the comparison found no differences.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty() && self.common.is_empty() && self.definitions.is_empty() && self.decodes_alike()
    }

    /// How many instructions changed in this way.
    pub fn count(&self, fate: Fate) -> usize {
        self.instructions.iter().filter(|i| i.fate == fate).count()
    }

    /// How many instructions that both revisions have do something else.
    pub fn operations_changed(&self) -> usize {
        let is_operation = |change: &Change| change.subject == Subject::Operation;
        if self.common.iter().any(is_operation) {
            return self.old.instructions - self.count(Fate::Removed);
        }
        self.instructions.iter().filter(|entry| entry.changes.iter().any(is_operation)).count()
    }

    /// The verdict on decoding, and on what instructions do if that has changed.
    pub(super) fn verdict(&self) -> String {
        match self.operations_changed() {
            0 => self.decoding_verdict(),
            1 => self.decoding_verdict() + " 1 instruction does something else.",
            count => self.decoding_verdict() + &format!(" {count} instructions do something else."),
        }
    }

    fn decoding_verdict(&self) -> String {
        if self.resized {
            return format!(
                "Words had {} bits and have {} now: no old binary decodes.",
                self.old.word_bits, self.new.word_bits
            );
        }
        if self.decodes_alike() {
            return "Old binaries decode the same (proved for every instruction).".to_owned();
        }
        let total = self.alike + self.different + self.unproven;
        let mut line = format!(
            "Old binaries do not decode the same: words of {} of {total} instructions read differently",
            self.different
        );
        if self.different == 0 {
            line = format!(
                "Old binaries may not decode the same: no word that reads differently was found in {total} instructions"
            );
        }
        if self.unproven > 0 {
            line.push_str(&format!(", {} could not be decided", self.unproven));
        }
        line + "."
    }
}
