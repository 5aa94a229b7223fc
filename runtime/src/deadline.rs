//! Time limits of runs.

use std::time::{Duration, Instant};

/// The time at which a run must end. Machines check it from time to time, so they stop some milliseconds later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// No time limit.
    pub const NONE: Deadline = Deadline(None);

    /// Sets the deadline to `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Deadline(Instant::now().checked_add(limit).map(|end| (end, limit)))
    }

    /// Returns a deadline with the same limit, starting now.
    pub fn again(self) -> Self {
        self.0.map_or(Deadline::NONE, |(_, limit)| Deadline::after(limit))
    }

    /// Returns a deadline halfway from now to this one.
    pub fn halfway(self) -> Self {
        let halfway = |(end, limit): (Instant, Duration)| {
            let now = Instant::now();
            (now + end.saturating_duration_since(now) / 2, limit)
        };
        Deadline(self.0.map(halfway))
    }

    /// Returns the limit if the deadline has passed. The clock is read only if there is a deadline.
    pub fn passed(self) -> Option<Duration> {
        self.0.filter(|(end, _)| Instant::now() >= *end).map(|(_, limit)| limit)
    }
}
