//! Until when a run may go on, by the clock.

use std::time::{Duration, Instant};

/// Until when a run may go on. Machines look at it now and then: they stop some milliseconds later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// As long as it takes.
    pub const NONE: Deadline = Deadline(None);

    /// So long from now.
    pub fn after(limit: Duration) -> Self {
        Deadline(Instant::now().checked_add(limit).map(|end| (end, limit)))
    }

    /// As long once more, from now.
    pub fn again(self) -> Self {
        self.0.map_or(Deadline::NONE, |(_, limit)| Deadline::after(limit))
    }

    /// How long it was, if it has passed. The clock is read only if there is a deadline.
    pub fn passed(self) -> Option<Duration> {
        self.0.filter(|(end, _)| Instant::now() >= *end).map(|(_, limit)| limit)
    }
}
