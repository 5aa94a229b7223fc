//! Matches instructions of the two revisions, and compares how their words decode.

use isaforge_core::stream::Wide;
use isaforge_core::table::{Form, Isa};

use super::change::{Change, Subject};
use super::difference::{Decoding, Diff, Example, Fate, Instruction, InstructionDiff, Pattern};
use super::effects::{self, Effects};
use super::parts::reading;
use super::revision::Revision;
use super::structure::{form_changes, renamed};
use super::verdict::{Pair, Verdict};
use super::words::Judgement;

/// Fills in the instructions of `diff`.
pub(super) fn compare(was: Revision<&'static Isa>, is: Revision<&'static Isa>, diff: &mut Diff) {
    let (old, new) = (was.tables, is.tables);
    let (forward, backward) = (Pair { old, new }, Pair { old: new, new: old });
    let same_size = old.word_bits == new.word_bits;
    let judge = |pair: Pair, i: u16| match same_size {
        true => pair.judge(i),
        false => Judgement { verdict: Verdict::Unproven, readers: Vec::new() },
    };
    let fates: Vec<Judgement> = (0..old.forms.len() as u16).map(|i| judge(forward, i)).collect();
    let origins: Vec<Judgement> = (0..new.forms.len() as u16).map(|i| judge(backward, i)).collect();
    let partners = partners(old, new, &fates, &origins);
    let changed = |(i, partner): (usize, &Option<u16>)| {
        let Some(n) = *partner else { return Vec::new() };
        let (a, b) = (&old.forms[i], &new.forms[usize::from(n)]);
        let mut changes = form_changes(old, new, a, b);
        let effects = (Effects::of_word(was, i as u16), Effects::of_word(is, n));
        changes.extend(effects::changes(&effects.0, &effects.1, renamed(old, new, a, b)));
        changes
    };
    let changes: Vec<Vec<Change>> = partners.iter().enumerate().map(changed).collect();
    diff.common = common(&changes, &partners);
    for (i, form) in old.forms.iter().enumerate() {
        let decoding = match fates[i].verdict {
            // The text of a single branch does not show where it counts from.
            _ if changes[i].iter().any(|change| change.subject == Subject::Target) => Decoding::Different,
            Verdict::Alike | Verdict::Empty => Decoding::Alike,
            Verdict::Differs(_) => Decoding::Different,
            Verdict::Unproven => Decoding::Unproven,
        };
        match decoding {
            Decoding::Alike => diff.alike += 1,
            Decoding::Different => diff.different += 1,
            Decoding::Unproven => diff.unproven += 1,
        }
        let mut examples = Vec::new();
        example(&mut examples, old, new, fates[i].verdict);
        let entry = InstructionDiff {
            fate: Fate::Removed,
            old: Some(instruction(form)),
            new: None,
            related: Vec::new(),
            changes: Vec::new(),
            decoding: Some(decoding),
            examples,
        };
        match partners[i] {
            None => diff.instructions.push(InstructionDiff { related: names(new, &fates[i].readers), ..entry }),
            Some(n) => {
                let partner = &new.forms[n as usize];
                let mut entry = InstructionDiff { new: Some(instruction(partner)), ..entry };
                entry.changes = changes[i].iter().filter(|c| !diff.common.contains(c)).cloned().collect();
                example(&mut entry.examples, old, new, origins[n as usize].verdict);
                let differs = decoding != Decoding::Alike || !entry.examples.is_empty();
                entry.fate = match (&entry.old, &entry.new) {
                    (Some(a), Some(b)) if a.name != b.name => Fate::Renamed,
                    (Some(a), Some(b)) if a.pattern != b.pattern => Fate::Moved,
                    _ if !entry.changes.is_empty() => Fate::Changed,
                    _ if differs => Fate::Affected,
                    _ => continue,
                };
                diff.instructions.push(entry);
            }
        }
    }
    for (n, form) in new.forms.iter().enumerate().filter(|(n, _)| !partners.contains(&Some(*n as u16))) {
        let mut examples = Vec::new();
        example(&mut examples, old, new, origins[n].verdict);
        diff.instructions.push(InstructionDiff {
            fate: Fate::Added,
            old: None,
            new: Some(instruction(form)),
            related: names(old, &origins[n].readers),
            changes: Vec::new(),
            decoding: None,
            examples,
        });
    }
}

/// The changes common to all instructions that both revisions have; they are reported once.
pub(super) fn common(changes: &[Vec<Change>], partners: &[Option<u16>]) -> Vec<Change> {
    let mut pairs = changes.iter().zip(partners).filter(|(_, p)| p.is_some()).map(|(c, _)| c);
    let Some(first) = pairs.next() else { return Vec::new() };
    let rest: Vec<&Vec<Change>> = pairs.collect();
    let everywhere = |c: &&Change| rest.len() > 1 && rest.iter().all(|other| other.contains(c));
    first.iter().filter(everywhere).cloned().collect()
}

fn instruction(form: &Form) -> Instruction {
    let pattern = Pattern { mask: Wide::new(form.match_mask), value: Wide::new(form.match_value) };
    Instruction { name: form.name.str.to_owned(), pattern }
}

fn names(isa: &Isa, forms: &[u16]) -> Vec<String> {
    forms.iter().map(|f| isa.forms[*f as usize].name.str.to_owned()).collect()
}

/// Adds the word of a verdict as an example, unless it is already listed.
fn example(examples: &mut Vec<Example>, old: &'static Isa, new: &'static Isa, verdict: Verdict) {
    let Verdict::Differs(word) = verdict else { return };
    let digits = usize::from(old.word_bits.max(new.word_bits).div_ceil(4));
    let text = format!("{word:0digits$x}");
    if examples.iter().all(|e| e.word != text) {
        examples.push(Example { word: text, old: reading(old, word), new: reading(new, word) });
    }
}

/// The new counterpart of each old instruction: of the same name, or else with the same opcode bits, or else the only
/// one that decodes its words, if its own words were decoded by no other old instruction.
fn partners(old: &'static Isa, new: &'static Isa, fates: &[Judgement], origins: &[Judgement]) -> Vec<Option<u16>> {
    let named = |isa: &'static Isa, name: &str| isaforge_core::parse::find_name(isa, name.as_bytes());
    let is_new = |n: u16| named(old, new.forms[n as usize].name.str).is_none();
    let mut partners: Vec<Option<u16>> = old.forms.iter().map(|f| named(new, f.name.str)).collect();
    for (i, form) in old.forms.iter().enumerate().filter(|(_, f)| named(new, f.name.str).is_none()) {
        let same_bits = |n: &u16| {
            let other = &new.forms[*n as usize];
            (form.match_mask, form.match_value) == (other.match_mask, other.match_value)
        };
        let by_bits = (0..new.forms.len() as u16).find(|n| is_new(*n) && same_bits(n));
        let by_words = match fates[i].readers[..] {
            [only] if is_new(only) && origins[only as usize].readers == [i as u16] => Some(only),
            _ => None,
        };
        partners[i] = by_bits.or(by_words);
    }
    partners
}
