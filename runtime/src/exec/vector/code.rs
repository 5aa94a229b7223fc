//! What a shape is lowered to: operations and effects in order, and their execution.

use std::ops::{ControlFlow, Range};

use crate::level::Level;

use super::Family;
use super::effect::Effect;
use super::handler::{Exact, Micro};

/// Virtual rows, one for each value within a shape, before actual rows are assigned.
pub(super) const VALUES: Range<u16> = 0x4000..0xc000;

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

    /// Returns the steps for all lanes if `whole`, otherwise for those in the row of active lanes, and the table that
    /// they look up.
    #[inline]
    pub(crate) fn steps(&self, whole: bool) -> (&[Step<K, F>], &[Exact]) {
        (if whole { &self.whole } else { &self.part }, &self.exact)
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
