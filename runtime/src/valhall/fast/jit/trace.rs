//! What a dispatch executes, written down for a [plan](super::plan).

use std::ops::Range;
use std::sync::Arc;

use super::block::Function;
use crate::valhall::fast::bundle::WARPS;

/// Events of a bundle in a dispatch, at most: of longer ones a plan would be large, and what is beside the code is a
/// small part of the time.
pub const EVENTS: usize = 512;

/// Something that a bundle has executed.
#[derive(Clone, Debug)]
pub struct Event {
    pub what: What,
    /// The lanes that did.
    pub active: [u16; WARPS],
    /// How often, one time after another.
    pub times: u32,
    /// Where it found memory: for each access of a function; for each lane of a handler, if they are few.
    pub places: Vec<Located>,
}

/// What was executed.
#[derive(Clone, Debug)]
pub enum What {
    Function(Arc<Function>, Form),
    Handlers(Range<usize>),
}

/// Which of a function's machine codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For full bundles.
    Full,
    /// For others.
    Part,
    /// For full bundles that execute it a known number of times.
    Counted,
}

/// Where memory was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Located {
    /// A byte offset into the memories of the workgroups that run together, margins included.
    Shared(usize),
    /// In mapped memory, at an address.
    Mapped(u64),
}
