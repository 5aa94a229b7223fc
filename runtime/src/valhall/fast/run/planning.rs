//! What is known of the dispatches of a launch.

use std::sync::Arc;

use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::jit::code_cache::{Functions, Key};
use crate::valhall::fast::jit::places::Places;
use crate::valhall::fast::jit::plan::Plan;
use crate::valhall::fast::trace::{EVENTS, Event};

/// What is known of the dispatches of a launch.
#[derive(Debug, Default)]
pub(super) enum Planning {
    /// They may differ.
    #[default]
    Never,
    /// Not known yet: the number of dispatches so far, and the events of the current one's bundles.
    Open { key: Key, seen: u32, events: Vec<(usize, Event)> },
    /// All of them follow a plan.
    Known(Arc<Plan>, Places),
}

impl Planning {
    /// Returns what earlier launches have found; `self` is what the last one knew.
    pub(super) fn again(self, code: &Code<'_>, functions: &Functions, key: Key) -> Self {
        match (functions.plan(&key), self) {
            _ if code.ordered => Planning::Never,
            (Some(Some(plan)), Planning::Known(known, mut places)) if Arc::ptr_eq(&plan, &known) => {
                places.forget();
                Planning::Known(known, places)
            }
            (Some(plan), _) => Planning::from(plan),
            (None, _) if !functions.are_watched() => Planning::Never,
            (None, _) => Planning::Open { key, seen: 0, events: Vec::new() },
        }
    }

    pub(super) fn from(plan: Option<Arc<Plan>>) -> Self {
        plan.map_or(Planning::Never, |plan| {
            let places = plan.places();
            Planning::Known(plan, places)
        })
    }

    /// Records that all warps of a workgroup have met at a barrier.
    pub(super) fn note_barrier(&mut self, group: usize, bundles: &[Bundle]) {
        if let Planning::Open { events, .. } = self
            && bundles.iter().all(|bundle| bundle.trace.is_some())
        {
            events.push((0, Event::barrier(group)));
        }
    }

    /// Collects the trace of a bundle's turn.
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
