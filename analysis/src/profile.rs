//! How often the instructions of a program were executed.

use std::ops::{AddAssign, Range};

/// The execution count of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Executions by warps.
    pub warps: u64,
    /// Executions by threads.
    pub threads: u64,
}

impl AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.warps = self.warps.saturating_add(other.warps);
        self.threads = self.threads.saturating_add(other.threads);
    }
}

/// The execution counts of a program's instructions.
///
/// ```
/// use isaforge_analysis::profile::{Profile, Times};
///
/// let times = |warps, threads| Times { warps, threads };
/// let profile = Profile { times: vec![times(1, 16), times(4, 48)] };
/// assert_eq!((profile.share(0..1), profile.share(1..2)), (0.25, 0.75));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The counts, by the index of the program's entry.
    pub times: Vec<Times>,
}

impl Profile {
    /// The fraction of all executions by threads that falls on these entries, from 0 to 1.
    pub fn share(&self, entries: Range<usize>) -> f64 {
        let all = self.threads(0..self.times.len());
        if all == 0.0 { 0.0 } else { self.threads(entries) / all }
    }

    /// The executions of these entries by threads.
    pub(crate) fn threads(&self, entries: Range<usize>) -> f64 {
        self.times.get(entries).unwrap_or_default().iter().map(|times| times.threads as f64).sum()
    }
}
