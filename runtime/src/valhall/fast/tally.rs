//! The counts of executed instructions.

use super::bundle::Bundle;

/// The counts of executed instructions.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub spent: u64,
    pub warp_instructions: u64,
    /// For each word, how many more threads executed it than the word before, modulo 2^64.
    pub profile: Vec<u64>,
}

impl Tally {
    /// Counts words that the active lanes execute. Returns whether a warp has used up its turn.
    #[inline(always)]
    pub fn count(&mut self, bundle: &mut Bundle, from: usize, to: usize) -> bool {
        let (threads, words) = (bundle.active_threads(), (to - from) as u64);
        self.add_words(words, threads, bundle.busy_count());
        self.add_threads(threads, from, to);
        bundle.tick(words as u32)
    }

    /// Counts words by the threads and warps that execute them, but not which words they are.
    pub fn add_words(&mut self, words: u64, threads: u64, warps: u64) {
        self.spent += threads * words;
        self.warp_instructions += warps * words;
    }

    /// Counts which words threads execute.
    pub fn add_threads(&mut self, threads: u64, from: usize, to: usize) {
        for (place, change) in [(from, threads), (to, threads.wrapping_neg())] {
            if let Some(count) = self.profile.get_mut(place) {
                *count = count.wrapping_add(change);
            }
        }
    }

    /// Reverts counts of words that were not executed; `to` is the end of the counted words.
    pub fn uncount(&mut self, bundle: &mut Bundle, from: usize, to: usize) {
        let (threads, words) = (bundle.active_threads(), (to - from) as u64);
        self.spent -= threads * words;
        self.warp_instructions -= bundle.busy_count() * words;
        self.add_threads(threads, to, from);
        bundle.untick(words as u32);
    }

    /// Returns what was counted since `before`, an earlier copy.
    pub fn since(mut self, before: &Tally) -> Self {
        self.spent -= before.spent;
        self.warp_instructions -= before.warp_instructions;
        for (count, before) in self.profile.iter_mut().zip(&before.profile) {
            *count = count.wrapping_sub(*before);
        }
        self
    }

    /// Adds the counts of something that is executed `times` times.
    pub fn add_times(&mut self, each: &Tally, times: u32) {
        self.spent += each.spent * u64::from(times);
        self.warp_instructions += each.warp_instructions * u64::from(times);
        for (count, more) in self.profile.iter_mut().zip(&each.profile) {
            *count = count.wrapping_add(more.wrapping_mul(times.into()));
        }
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Tally) {
        self.spent = self.spent.saturating_add(other.spent);
        self.warp_instructions += other.warp_instructions;
        for (count, more) in self.profile.iter_mut().zip(&other.profile) {
            *count = count.wrapping_add(*more);
        }
    }
}
