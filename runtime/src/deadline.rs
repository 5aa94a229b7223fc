//! Time limits of runs.

use std::time::{Duration, Instant};

/// The time at which a run must end. Machines check it from time to time, so they stop some milliseconds later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline {
    end: Option<(Instant, Duration)>,
    stop: Option<fn() -> bool>,
}

impl Deadline {
    /// No time limit.
    pub const NONE: Deadline = Deadline { end: None, stop: None };

    /// Sets the deadline to `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Deadline { end: Instant::now().checked_add(limit).map(|end| (end, limit)), stop: None }
    }

    /// Returns the deadline with a function that is called whenever the deadline is checked, in the thread that checks
    /// it: if it returns true, the deadline has passed.
    pub fn or_if(self, stop: fn() -> bool) -> Self {
        Deadline { stop: Some(stop), ..self }
    }

    /// Returns a deadline with the same limit, starting now.
    pub fn again(self) -> Self {
        Deadline { stop: self.stop, ..self.end.map_or(Deadline::NONE, |(_, limit)| Deadline::after(limit)) }
    }

    /// Returns a deadline halfway from now to this one.
    pub fn halfway(self) -> Self {
        let halfway = |(end, limit): (Instant, Duration)| {
            let now = Instant::now();
            (now + end.saturating_duration_since(now) / 2, limit)
        };
        Deadline { end: self.end.map(halfway), ..self }
    }

    /// Whether no run ever passes it.
    pub fn is_none(self) -> bool {
        self.end.is_none() && self.stop.is_none()
    }

    /// Returns the limit if the deadline has passed, 0 if a function ended the run. The clock is read only if there is
    /// a limit.
    pub fn passed(self) -> Option<Duration> {
        let late = self.end.filter(|(end, _)| Instant::now() >= *end).map(|(_, limit)| limit);
        late.or_else(|| self.stop.is_some_and(|stop| stop()).then_some(Duration::ZERO))
    }
}
