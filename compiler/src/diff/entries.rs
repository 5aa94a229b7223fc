//! What a difference says about each instruction, once all are judged and matched.

use super::change::{Change, Subject};
use super::difference::{Decoding, Diff, Example, Fate, Instruction, InstructionDiff};

/// An instruction of one revision, with how its words decode in the other one.
pub(super) struct Judged {
    pub instruction: Instruction,
    pub decoding: Decoding,
    /// A word that reads differently.
    pub example: Option<Example>,
    /// The instructions of the other revision that decode its words.
    pub readers: Vec<String>,
}

/// Fills in the instructions of `diff`. Each old instruction has a partner in the new revision or none, and the changes
/// between them.
pub(super) fn fill(
    diff: &mut Diff,
    old: Vec<Judged>,
    new: Vec<Judged>,
    partners: &[Option<u16>],
    changes: &[Vec<Change>],
) {
    diff.common.extend(common(changes, partners));
    for ((entry, partner), changes) in old.into_iter().zip(partners).zip(changes) {
        // The text of a single branch does not show where it counts from.
        let retargeted = changes.iter().any(|change| change.subject == Subject::Target);
        let decoding = if retargeted { Decoding::Different } else { entry.decoding };
        match decoding {
            Decoding::Alike => diff.alike += 1,
            Decoding::Different => diff.different += 1,
            Decoding::Unproven => diff.unproven += 1,
        }
        let mut found = InstructionDiff {
            fate: Fate::Removed,
            old: Some(entry.instruction),
            new: None,
            related: Vec::new(),
            changes: Vec::new(),
            decoding: Some(decoding),
            examples: entry.example.into_iter().collect(),
        };
        match partner.and_then(|n| new.get(usize::from(n))) {
            None => found.related = entry.readers,
            Some(partner) => {
                found.new = Some(partner.instruction.clone());
                found.changes = changes.iter().filter(|change| !diff.common.contains(change)).cloned().collect();
                let known = |example: &&Example| found.examples.iter().all(|other| other.word != example.word);
                found.examples.extend(partner.example.iter().filter(known).cloned().collect::<Vec<_>>());
                let differs = decoding != Decoding::Alike || !found.examples.is_empty();
                found.fate = match (&found.old, &found.new) {
                    (Some(a), Some(b)) if a.name != b.name => Fate::Renamed,
                    (Some(a), Some(b)) if a.pattern != b.pattern => Fate::Moved,
                    _ if !found.changes.is_empty() => Fate::Changed,
                    _ if differs => Fate::Affected,
                    _ => continue,
                };
            }
        }
        diff.instructions.push(found);
    }
    for (entry, _) in new.into_iter().zip(0u16..).filter(|(_, n)| !partners.contains(&Some(*n))) {
        diff.instructions.push(InstructionDiff {
            fate: Fate::Added,
            old: None,
            new: Some(entry.instruction),
            related: entry.readers,
            changes: Vec::new(),
            decoding: None,
            examples: entry.example.into_iter().collect(),
        });
    }
}

/// The changes common to all instructions that both revisions have; they are reported once.
fn common(changes: &[Vec<Change>], partners: &[Option<u16>]) -> Vec<Change> {
    let mut pairs = changes.iter().zip(partners).filter(|(_, p)| p.is_some()).map(|(c, _)| c);
    let Some(first) = pairs.next() else { return Vec::new() };
    let rest: Vec<&Vec<Change>> = pairs.collect();
    let everywhere = |c: &&Change| rest.len() > 1 && rest.iter().all(|other| other.contains(c));
    first.iter().filter(everywhere).cloned().collect()
}
