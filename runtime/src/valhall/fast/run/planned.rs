//! Dispatches by a [plan](crate::valhall::fast::jit::plan): when one is made, and when it is followed.

use std::sync::Arc;

use super::dispatch::{Dispatch, begin};
use super::{BUNDLE_TURN, Runner, Tally};
use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::jit::code_cache::Key;
use crate::valhall::fast::jit::plan::{Places, Plan};
use crate::valhall::fast::jit::trace::{EVENTS, Event};
use crate::valhall::fast::memory_view::Outside;

/// What is known of the dispatches of a launch.
#[derive(Debug, Default)]
pub(super) enum Planning {
    /// They may differ.
    #[default]
    Never,
    /// Nothing yet: how many there were, and what the bundles of the current one have executed.
    Open { key: Key, seen: u32, events: Vec<(usize, Event)> },
    /// All of it.
    Known(Arc<Plan>, Places),
}

impl Planning {
    /// What earlier launches have found out.
    pub(super) fn of(code: &Code<'_>, key: Key) -> Self {
        match code.functions().plan(&key) {
            _ if code.ordered => Planning::Never,
            Some(plan) => Planning::from(plan),
            None if !code.functions().are_watched() => Planning::Never,
            None => Planning::Open { key, seen: 0, events: Vec::new() },
        }
    }

    fn from(plan: Option<Arc<Plan>>) -> Self {
        plan.map_or(Planning::Never, |plan| {
            let places = plan.places();
            Planning::Known(plan, places)
        })
    }

    /// Takes what a bundle has written down in its turn.
    #[inline(always)]
    pub(super) fn note(&mut self, index: usize, bundle: &mut Bundle) {
        if let (Planning::Open { events, .. }, Some(trace)) = (self, &mut bundle.trace) {
            events.extend(trace.drain(..).map(|event| (index, event)));
            // Programs may have many turns.
            if events.len() > (index + 1) * EVENTS {
                bundle.trace = None;
            }
        }
    }
}

impl Dispatch {
    /// Whether its workgroups are as many as there can be, and follow one another along x.
    fn is_row(&self) -> bool {
        let [first, ..] = &self.groups[..] else { return false };
        let follows = |(group, at): (&crate::valhall::group::Group, u32)| {
            group.id[1..] == first.id[1..] && group.id[0] == first.id[0].wrapping_add(at)
        };
        self.groups.len() == self.size.1 && self.groups.iter().zip(0..).all(follows)
    }

    /// Lets bundles write down what they execute, if a plan may come of it; where none does, this is tried again after twice as
    /// many dispatches. Only a dispatch with others behind it is watched: where several can be executed at once, which is
    /// better, it shows. Returns what was counted before.
    pub(super) fn watch(&mut self, runner: &mut Runner<'_>, behind: u32) -> Option<Tally> {
        let Planning::Open { seen, .. } = &mut self.planning else { return None };
        *seen += u32::from(behind > 0);
        if behind == 0 || !seen.is_power_of_two() || !self.is_row() || runner.probe.is_some() {
            return None;
        }
        self.bundles.iter_mut().for_each(|bundle| bundle.trace = Some(Vec::new()));
        runner.gather();
        Some(runner.tally.clone())
    }

    /// Makes a plan of what the dispatch has done, unless it has done something that no plan has.
    #[cold]
    pub(super) fn plan(&mut self, runner: &mut Runner<'_>, before: &Tally) {
        let is_traced = self.bundles.iter().all(|bundle| bundle.trace.is_some());
        self.bundles.iter_mut().for_each(|bundle| bundle.trace = None);
        let Planning::Open { key, events, .. } = &mut self.planning else { return };
        let events = std::mem::take(events);
        if !is_traced || runner.failed.is_some() || !Plan::may_be(runner.code, &events) {
            // Watching costs as much as several dispatches.
            runner.code.functions().watched_in_vain();
            if !runner.code.functions().are_watched() {
                self.planning = Planning::Never;
            }
            return;
        }
        runner.gather();
        let (counts, group) = (runner.tally.clone().since(before), self.groups[0].id);
        let plan = Plan::new(runner.code, (&key.0, group), &events, counts).map(Arc::new);
        runner.code.functions().keep_plan(*key, plan.clone());
        self.planning = Planning::from(plan);
    }

    /// Runs the workgroups by the plan, and perhaps some of the dispatches `behind` them in the same row; how many in all.
    /// `None` where there is no plan, or something may happen that is not in it.
    pub(super) fn run_planned(
        &mut self,
        runner: &mut Runner<'_>,
        outside: &mut Outside<'_>,
        behind: u32,
    ) -> Option<u32> {
        let is_row = matches!(self.planning, Planning::Known(..)) && self.is_row();
        let Planning::Known(plan, places) = &mut self.planning else { return None };
        if !is_row || runner.probe.is_some() || runner.deadline.passed().is_some() {
            return None;
        }
        // As if each of the dispatches began with what the one before it has left of the budget.
        let spent = plan.counts.spent.max(1);
        let affordable = (runner.budget - runner.tally.spent).saturating_sub(BUNDLE_TURN) / spent;
        let most = affordable.min((BUNDLE_TURN / spent).max(1)).min(u64::from(behind) + 1) as u32;
        let (mut done, mut is_alike, fused) = (0, true, plan.fused(runner.code.level));
        let begins = fused.map_or(&plan.begins[..], |fused| std::slice::from_ref(&fused.begins));
        while done < most && plan.find(places, &self.own.view(outside), &self.groups[0].id, fused) {
            if fused.is_none_or(|fused| fused.is_shared) {
                self.own.clear();
            }
            let mut view = self.own.view(outside);
            for (bundle, registers) in self.bundles.iter_mut().zip(begins).filter(|(_, registers)| **registers != 0) {
                begin(&self.registers, &self.groups, *registers, bundle, &mut view);
            }
            if !plan.run(runner.code, fused, places, &mut self.bundles, &mut view) {
                is_alike = false;
                break;
            }
            self.groups.iter_mut().for_each(|group| group.id[0] += self.size.1 as u32);
            done += 1;
        }
        plan.follow(done);
        runner.tally.add_times(&plan.counts, done);
        if !is_alike {
            // Others may not be, either.
            self.planning = Planning::Never;
        }
        (done > 0).then_some(done)
    }
}

#[cfg(test)]
mod tests;
