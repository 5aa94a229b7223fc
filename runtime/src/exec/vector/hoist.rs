//! Hoists computations from rows that are never written: they are done once, before the code runs.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Family;
use super::code::{Step, VALUES};
use super::handler::{Micro, NO_ROW};

/// Operations that are executed before some codes, and the rows of their results.
#[derive(Debug)]
pub(crate) struct Before<const K: usize, F: Family<K>> {
    /// The rows that stay unchanged.
    steady: Vec<Range<u16>>,
    /// The rows that are free for results.
    free: Range<u16>,
    micros: Vec<Micro<K, F>>,
}

impl<const K: usize, F: Family<K>> Default for Before<K, F> {
    fn default() -> Self {
        Before { steady: Vec::new(), free: 0..0, micros: Vec::new() }
    }
}

impl<const K: usize, F: Family<K>> Before<K, F> {
    /// Creates it for rows that stay unchanged while the codes run; results go to `free`.
    pub(crate) fn new(steady: Vec<Range<u16>>, free: Range<u16>) -> Self {
        Before { steady, free, micros: Vec::new() }
    }

    /// Returns the operations, in order.
    pub(crate) fn micros(&self) -> &[Micro<K, F>] {
        &self.micros
    }

    /// Removes the steps of a code that can be computed before.
    pub(super) fn take(&mut self, steps: Vec<Step<K, F>>) -> Vec<Step<K, F>> {
        if self.free.is_empty() {
            return steps;
        }
        let mut moved = FxHashMap::default();
        let mut kept = Vec::with_capacity(steps.len());
        for mut step in steps {
            step.rename(|row| moved.get(&row).copied().unwrap_or(row));
            if let Step::Micro(micro) = &step
                && let Some(row) = self.place(micro)
            {
                moved.insert(micro.to, row);
                continue;
            }
            kept.push(step);
        }
        kept
    }

    /// Returns the row of an operation's result, if the result is the same in every execution.
    fn place(&mut self, micro: &Micro<K, F>) -> Option<u16> {
        let is_value = VALUES.contains(&micro.to) && micro.high == NO_ROW && !micro.looks_up && micro.reads > 0;
        let made = |row: u16| self.micros.iter().any(|micro| micro.to == row);
        let is_steady = |row: &u16| made(*row) || self.steady.iter().any(|rows| rows.contains(row));
        if !is_value || !micro.read().iter().all(is_steady) {
            return None;
        }
        let is_same = |known: &&Micro<K, F>| {
            known.handler.is_same(micro.handler) && known.read() == micro.read() && known.number == micro.number
        };
        if let Some(known) = self.micros.iter().find(is_same) {
            return Some(known.to);
        }
        let to = self.free.next()?;
        self.micros.push(Micro { to, ..*micro });
        Some(to)
    }
}
