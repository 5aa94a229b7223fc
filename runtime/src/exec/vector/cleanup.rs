//! Removes unread values and avoidable copies, and assigns rows to the remaining values.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Family;
use super::code::{Step, VALUES};
use super::effect::Effect;
use super::handler::{Micro, NO_ROW};
use super::hoist::Before;
use super::rule::{Each, word};

/// Returns the needed steps, with their values in `rows`. `None` if there are too few rows. Rows in `aliases` may be
/// the same as any row that is written. Computations that can be hoisted go to `before`.
pub(super) fn tidy<const K: usize, F: Family<K>>(
    steps: Vec<Step<K, F>>,
    rows: Range<u16>,
    aliases: &Range<u16>,
    before: &mut Before<K, F>,
) -> Option<Vec<Step<K, F>>> {
    let mut steps = without_copies(before.take(without_unread(steps)), aliases);
    place(&mut steps, rows)?;
    Some(steps)
}

/// Assigns a row to every value, from its computation to its last read.
fn place<const K: usize, F: Family<K>>(steps: &mut [Step<K, F>], rows: Range<u16>) -> Option<()> {
    let mut last = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        reads(step, |row| {
            last.insert(row, at);
        });
    }
    let mut free: Vec<u16> = rows.rev().collect();
    let mut placed: FxHashMap<u16, u16> = FxHashMap::default();
    for (at, step) in steps.iter_mut().enumerate() {
        let mut done = Vec::new();
        reads(step, |row| {
            if VALUES.contains(&row) && last.get(&row) == Some(&at) && !done.contains(&row) {
                done.push(row);
            }
        });
        let find = |row: u16| placed.get(&row).copied().unwrap_or(row);
        step.rename(find);
        let made = match step {
            Step::Micro(micro) => [Some(&mut micro.to), Some(&mut micro.high)],
            Step::Effect(effect) => {
                let (row, high) = effect.to.as_mut().map(|to| (&mut to.row, &mut to.high)).unzip();
                [row, high]
            }
        };
        // Rows that are read here for the last time may be overwritten: each lane is read before it is written.
        free.extend(done.iter().filter_map(|row| placed.get(row)));
        let mut unread = Vec::new();
        for to in made.into_iter().flatten().filter(|to| VALUES.contains(to)) {
            let row = free.pop()?;
            placed.insert(*to, row);
            if !last.contains_key(to) {
                unread.push(row);
            }
            *to = row;
        }
        free.extend(unread);
    }
    Some(())
}

fn reads<const K: usize, F: Family<K>>(step: &Step<K, F>, mut with: impl FnMut(u16)) {
    match step {
        Step::Micro(micro) => micro.read().iter().for_each(|row| with(*row)),
        Step::Effect(effect) => {
            let Effect { values, when, .. } = &**effect;
            let rows = values.iter().flat_map(|value| [value.row, value.high]).filter(|row| *row != NO_ROW);
            rows.chain(*when).for_each(with);
        }
    }
}

fn without_unread<const K: usize, F: Family<K>>(steps: Vec<Step<K, F>>) -> Vec<Step<K, F>> {
    let mut wanted = vec![false; VALUES.len()];
    let place = |row: u16| VALUES.contains(&row).then(|| usize::from(row - VALUES.start));
    let mut kept: Vec<Step<K, F>> = Vec::with_capacity(steps.len());
    for mut step in steps.into_iter().rev() {
        if let Step::Micro(micro) = &mut step {
            if micro.written().all(|row| place(row).is_some_and(|at| !wanted[at])) && micro.written().next().is_some() {
                continue;
            }
            if place(micro.high).is_some_and(|at| !wanted[at]) {
                micro.high = NO_ROW;
            }
        }
        reads(&step, |row| {
            if let Some(at) = place(row) {
                wanted[at] = true;
            }
        });
        kept.push(step);
    }
    kept.reverse();
    kept
}

/// Makes operations write directly to the row that their result is copied to.
fn without_copies<const K: usize, F: Family<K>>(mut steps: Vec<Step<K, F>>, aliases: &Range<u16>) -> Vec<Step<K, F>> {
    let mut at = 0;
    while at < steps.len() {
        let Some(Step::Micro(Micro { handler, to, from: [from, ..], keep: [keep, _], .. })) = steps.get(at) else {
            at += 1;
            continue;
        };
        let (to, from, keep) = (*to, *from, *keep);
        let maker = match handler.is_of::<Each<word::Copy>>() && VALUES.contains(&from) {
            true => maker(&steps, at, to, from, aliases),
            false => None,
        };
        match maker {
            Some(maker) => {
                if let Step::Micro(micro) = &mut steps[maker] {
                    if micro.to == from {
                        (micro.to, micro.keep[0]) = (to, keep);
                    } else {
                        (micro.high, micro.keep[1]) = (to, keep);
                    }
                }
                steps.remove(at);
            }
            None => at += 1,
        }
    }
    steps
}

/// Returns the operation whose result is copied from one row to another, if it may write the other row directly.
fn maker<const K: usize, F: Family<K>>(
    steps: &[Step<K, F>],
    at: usize,
    to: u16,
    from: u16,
    aliases: &Range<u16>,
) -> Option<usize> {
    let is_read = |step: &Step<K, F>, wanted: u16| {
        let mut found = false;
        reads(step, |row| found |= row == wanted || aliases.contains(&wanted) && aliases.contains(&row));
        found
    };
    if steps.iter().enumerate().any(|(i, step)| i != at && is_read(step, from)) {
        return None;
    }
    for (i, step) in steps.iter().enumerate().take(at).rev() {
        match step {
            Step::Micro(micro) if micro.written().any(|row| row == from) => {
                return (!micro.written().any(|row| row == to)).then_some(i);
            }
            Step::Micro(micro) if !micro.written().any(|row| row == to) && !is_read(step, to) => {}
            _ => return None,
        }
    }
    None
}
