//! Dispatches by a [plan](crate::valhall::fast::jit::plan): when a plan is made, and when it is followed.

use std::sync::Arc;

use super::dispatch::{Dispatch, begin};
use super::planning::Planning;
use super::runner::{BUNDLE_TURN, Runner};
use crate::valhall::fast::jit::plan::Plan;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::fast::tally::Tally;

impl Dispatch {
    /// Whether it has the full number of workgroups, which are consecutive along x.
    fn is_row(&self) -> bool {
        let [first, ..] = &self.groups[..] else { return false };
        let follows = |(group, at): (&crate::valhall::group::Group, u32)| {
            group.id[1..] == first.id[1..] && group.id[0] == first.id[0].wrapping_add(at)
        };
        self.groups.len() == self.size.1 && self.groups.iter().zip(0..).all(follows)
    }

    /// Starts recording what bundles execute, if a plan may result from it; after a failure the next attempt is made
    /// after twice as many dispatches. Only a dispatch that is followed by others is recorded, because only it shows
    /// whether several dispatches can be executed at once, which is better. Returns the counts so far.
    pub(super) fn watch(&mut self, runner: &mut Runner<'_>, following: u32) -> Option<Tally> {
        let Planning::Open { seen, .. } = &mut self.planning else { return None };
        *seen += u32::from(following > 0);
        if following == 0 || !seen.is_power_of_two() || !self.is_row() || runner.probe.is_some() {
            return None;
        }
        self.bundles.iter_mut().for_each(|bundle| bundle.trace = Some(Vec::new()));
        runner.gather();
        Some(runner.tally.clone())
    }

    /// Makes a plan from the actions of the dispatch, unless they cannot be part of a plan.
    #[cold]
    pub(super) fn plan(&mut self, runner: &mut Runner<'_>, before: &Tally) {
        let is_traced = self.bundles.iter().all(|bundle| bundle.trace.is_some());
        self.bundles.iter_mut().for_each(|bundle| bundle.trace = None);
        let Planning::Open { key, events, .. } = &mut self.planning else { return };
        let (events, known) = (std::mem::take(events), runner.functions.shared.known(runner.code));
        if !is_traced || runner.failed.is_some() || !Plan::may_be(runner.code, &known, &events) {
            // Recording costs as much as several dispatches.
            runner.functions.shared.watched_in_vain();
            if !runner.functions.shared.are_watched() {
                self.planning = Planning::Never;
            }
            return;
        }
        runner.gather();
        let (counts, group) = (runner.tally.clone().since(before), self.groups[0].id);
        let plan = Plan::new(runner.code, &known, (&key.0, group), &events, counts).map(Arc::new);
        runner.functions.shared.keep_plan(*key, plan.clone());
        self.planning = Planning::from(plan);
    }

    /// Runs the workgroups by the plan, and perhaps some of the `following` dispatches that follow in the same row.
    /// Returns how many dispatches were run. `None` if there is no plan, or if something not covered by it may happen.
    pub(super) fn run_planned(
        &mut self,
        runner: &mut Runner<'_>,
        outside: &mut Outside<'_>,
        following: u32,
    ) -> Option<u32> {
        let is_row = matches!(self.planning, Planning::Known(..)) && self.is_row();
        let Planning::Known(plan, places) = &mut self.planning else { return None };
        if !is_row || runner.probe.is_some() || runner.deadline.passed().is_some() {
            return None;
        }
        // Computes the limit as if each dispatch began with the budget that the one before has left.
        let spent = plan.counts.spent.max(1);
        let affordable = (runner.budget - runner.tally.spent).saturating_sub(BUNDLE_TURN) / spent;
        let most = affordable.min((BUNDLE_TURN / spent).max(1)).min(u64::from(following) + 1) as u32;
        let (mut done, mut is_alike, fused) = (0, true, plan.fused(runner.code.level));
        let begins = fused.map_or(&plan.begins[..], |fused| std::slice::from_ref(&fused.begins));
        if let Some(fused) = fused {
            let first = self.groups[0].id;
            let mut view = self.own.view(outside, &self.groups);
            let bundles = (&mut self.bundles[..], &mut view);
            done = plan.run_row(fused, places, bundles, (&first, self.size.1 as u32, most));
            self.groups.iter_mut().for_each(|group| group.id[0] += done * self.size.1 as u32);
        }
        while done < most && plan.find(places, &self.own.view(outside, &self.groups), &self.groups[0].id, fused) {
            if fused.is_none_or(|fused| fused.is_shared) {
                self.own.clear();
            }
            let mut view = self.own.view(outside, &self.groups);
            for (bundle, registers) in self.bundles.iter_mut().zip(begins).filter(|(_, registers)| **registers != 0) {
                begin(&self.registers, &self.groups, *registers, bundle, &mut view);
            }
            if !plan.run(runner.code, (fused, done > 0), places, &mut self.bundles, &mut view) {
                is_alike = false;
                break;
            }
            self.groups.iter_mut().for_each(|group| group.id[0] += self.size.1 as u32);
            done += 1;
        }
        plan.follow(done);
        runner.tally.add_times(&plan.counts, done);
        if !is_alike {
            // Later ones may differ, too.
            self.planning = Planning::Never;
        }
        (done > 0).then_some(done)
    }
}

#[cfg(test)]
mod tests;
