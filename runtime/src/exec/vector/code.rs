//! The operations that a shape is lowered to, and their execution.

use std::ops::{ControlFlow, Range};

use crate::level::Level;

use super::Family;
use super::effect::Effect;
use super::exact::Exact;
use super::handler::Handler;
use super::rule::Differ;

/// Stands for no row.
pub(crate) const NO_ROW: u16 = u16::MAX;
/// The most rows that an operation reads: two for each of four values.
pub(super) const READS: usize = 8;

/// An operation on rows.
#[derive(Debug)]
pub(crate) struct Micro<const K: usize, F: Family<K>> {
    pub(super) handler: Handler<K, F>,
    /// The row that is written.
    pub(super) to: u16,
    /// The row of the high words, or [`NO_ROW`].
    pub(super) high: u16,
    /// Whether inactive lanes keep their content in these rows.
    pub(super) keep: [bool; 2],
    /// The number of rows that are read.
    pub(super) reads: u8,
    /// Whether its number is an index into the table of the code.
    pub(super) looks_up: bool,
    /// The rows that are read; the entries from `reads` on are arbitrary valid rows.
    pub(super) from: [u16; READS],
    /// A number whose meaning depends on the handler.
    pub(super) number: u64,
}

impl<const K: usize, F: Family<K>> Clone for Micro<K, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const K: usize, F: Family<K>> Copy for Micro<K, F> {}

impl<const K: usize, F: Family<K>> Micro<K, F> {
    /// Returns the operation with its rows replaced; its index into the table of the code grows by `table`.
    #[inline(always)]
    pub(crate) fn placed(&self, table: u64, find: impl Fn(u16) -> u16) -> Self {
        let mut placed = Micro { to: find(self.to), high: find(self.high), ..*self };
        placed.number += if self.looks_up { table } else { 0 };
        for row in placed.from.iter_mut().take(self.reads.into()) {
            *row = find(*row);
        }
        placed
    }

    /// Creates an operation that determines the bits in which the words of a row differ. The result is in the first
    /// busy part of `to`.
    pub(crate) fn differ(row: u16, to: u16) -> Self {
        let handler = Handler::of::<Differ>();
        let from = [row; READS];
        Micro { handler, to, high: NO_ROW, keep: [false; 2], reads: 1, looks_up: false, from, number: 0 }
    }

    /// Calls `with` for every row that is read (`false`) or written (`true`).
    pub(crate) fn rows(&self, mut with: impl FnMut(u16, bool)) {
        self.read().iter().for_each(|row| with(*row, false));
        self.written().for_each(|row| with(row, true));
    }

    /// Executes it; `exact` is the table of the code.
    #[inline(always)]
    pub(crate) fn run(&self, level: Level, exact: &[Exact], members: &mut [F::Member<'_>]) {
        self.handler.run(level, self, exact, members);
    }

    /// Returns the rows that are read.
    pub(super) fn read(&self) -> &[u16] {
        self.from.get(..self.reads.into()).unwrap_or_default()
    }

    /// Iterates over the rows that are written.
    pub(super) fn written(&self) -> impl Iterator<Item = u16> + use<K, F> {
        [self.to, self.high].into_iter().filter(|row| *row != NO_ROW)
    }
}

/// A step of a code.
#[derive(Debug)]
pub(crate) enum Step<const K: usize, F: Family<K>> {
    Micro(Micro<K, F>),
    Effect(Box<Effect>),
}

impl<const K: usize, F: Family<K>> Step<K, F> {
    /// Replaces the rows that are read.
    pub(super) fn rename(&mut self, find: impl Fn(u16) -> u16) {
        match self {
            Step::Micro(micro) => micro.from = micro.from.map(find),
            Step::Effect(effect) => {
                for value in &mut effect.values {
                    (value.row, value.high) = (find(value.row), find(value.high));
                }
                effect.when = effect.when.map(find);
            }
        }
    }

    /// Calls `with` for every row that is read (`false`) or written (`true`).
    pub(crate) fn rows(&self, with: impl FnMut(u16, bool)) {
        match self {
            Step::Micro(micro) => micro.rows(with),
            Step::Effect(effect) => effect.rows(with),
        }
    }
}

/// A lowered shape, ready to run.
#[derive(Debug)]
pub(crate) struct Code<const K: usize, F: Family<K>> {
    /// The steps if all lanes are active.
    pub(super) whole: Vec<Step<K, F>>,
    /// The steps if the row of active lanes defines the active lanes.
    pub(super) part: Vec<Step<K, F>>,
    pub(super) exact: Vec<Exact>,
}

impl<const K: usize, F: Family<K>> Code<K, F> {
    /// Executes it for all lanes of the members if `whole`, otherwise for the lanes in their rows of active lanes.
    /// `perform` performs an effect for the members.
    #[inline]
    pub(crate) fn run<B>(
        &self,
        level: Level,
        whole: bool,
        members: &mut [F::Member<'_>],
        perform: impl FnMut(&Effect, &mut [F::Member<'_>]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.execute(level, if whole { &self.whole } else { &self.part }, members, perform)
    }

    /// Returns the steps for all lanes.
    pub(crate) fn whole(&self) -> &[Step<K, F>] {
        &self.whole
    }

    /// Executes some of the steps for all lanes.
    #[inline]
    pub(crate) fn run_steps<B>(
        &self,
        level: Level,
        steps: Range<usize>,
        members: &mut [F::Member<'_>],
        perform: impl FnMut(&Effect, &mut [F::Member<'_>]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.execute(level, self.whole.get(steps).unwrap_or_default(), members, perform)
    }

    #[inline(always)]
    fn execute<B>(
        &self,
        level: Level,
        steps: &[Step<K, F>],
        members: &mut [F::Member<'_>],
        mut perform: impl FnMut(&Effect, &mut [F::Member<'_>]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for step in steps {
            match step {
                Step::Micro(micro) => micro.handler.run(level, micro, &self.exact, members),
                Step::Effect(effect) => perform(effect, members)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the steps for all lanes, and the table that they look up.
    pub(crate) fn into_steps(self) -> (Vec<Step<K, F>>, Vec<Exact>) {
        (self.whole, self.exact)
    }

    /// Returns the steps for the lanes in the row of active lanes.
    pub(crate) fn part(&self) -> &[Step<K, F>] {
        &self.part
    }

    /// Executes it, if its only effects are on rows.
    #[inline]
    pub(crate) fn run_pure(&self, level: Level, whole: bool, members: &mut [F::Member<'_>]) {
        let _ = self.run(level, whole, members, |_, _| ControlFlow::<()>::Continue(()));
    }

    /// Iterates over the effects other than those on rows.
    pub(crate) fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.whole.iter().filter_map(|step| match step {
            Step::Effect(effect) => Some(&**effect),
            Step::Micro(_) => None,
        })
    }
}
