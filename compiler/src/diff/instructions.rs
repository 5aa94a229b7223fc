//! Matches instructions of the two revisions, and compares how their words decode.

use isaforge_core::stream::Wide;
use isaforge_core::table::{Form, Isa};

use super::change::Change;
use super::difference::{Decoding, Diff, Example, Instruction, Pattern};
use super::effects::{self, Effects};
use super::entries::{Judged, fill};
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
    let judged = |of: &'static Isa, by: &'static Isa, all: Vec<Judgement>| -> Vec<Judged> {
        let entry = |(form, Judgement { verdict, readers }): (&'static Form, Judgement)| Judged {
            instruction: instruction(form),
            decoding: match verdict {
                Verdict::Alike | Verdict::Empty => Decoding::Alike,
                Verdict::Differs(_) => Decoding::Different,
                Verdict::Unproven => Decoding::Unproven,
            },
            example: example(old, new, verdict),
            readers: readers.iter().map(|f| by.forms[usize::from(*f)].name.str.to_owned()).collect(),
        };
        of.forms.iter().zip(all).map(entry).collect()
    };
    fill(diff, judged(old, new, fates), judged(new, old, origins), &partners, &changes);
}

fn instruction(form: &Form) -> Instruction {
    let pattern = Pattern { mask: Wide::new(form.match_mask), value: Wide::new(form.match_value) };
    Instruction { name: form.name.str.to_owned(), pattern }
}

/// The word of a verdict as an example.
fn example(old: &'static Isa, new: &'static Isa, verdict: Verdict) -> Option<Example> {
    let Verdict::Differs(word) = verdict else { return None };
    let digits = usize::from(old.word_bits.max(new.word_bits).div_ceil(4));
    Some(Example { word: format!("{word:0digits$x}"), old: reading(old, word), new: reading(new, word) })
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
