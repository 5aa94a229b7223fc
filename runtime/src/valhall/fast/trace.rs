//! Records what a dispatch executes, for a [plan](super::jit::plan).

use std::ops::Range;
use std::sync::Arc;

use super::compiled::{Form, Function};
use super::memory_view::Located;
use super::warps::WARPS;
use crate::machine::Pattern;

/// The most events of a bundle in a dispatch. For longer traces a plan would be large, while overhead outside of the
/// code is a small part of the time.
pub const EVENTS: usize = 512;

/// Something that a bundle has executed.
#[derive(Clone, Debug)]
pub struct Event {
    pub what: What,
    /// The lanes that executed it.
    pub active: [u16; WARPS],
    /// The number of consecutive executions.
    pub times: u32,
    /// The memory locations: one for each access of a function, or for each lane of a handler if they are few.
    pub places: Vec<Located>,
    /// What the observer of accesses was told, if there is one.
    pub patterns: Vec<Pattern>,
}

impl Event {
    /// Returns the event of a barrier.
    pub fn barrier(group: usize) -> Self {
        let (places, patterns) = (Vec::new(), Vec::new());
        Event { what: What::Barrier(group), active: [0; WARPS], times: 1, places, patterns }
    }
}

/// What was executed.
#[derive(Clone, Debug)]
pub enum What {
    Function(Arc<Function>, Form),
    Handlers(Range<usize>),
    /// All warps of a workgroup have met. Recorded only for an observer of accesses.
    Barrier(usize),
}
