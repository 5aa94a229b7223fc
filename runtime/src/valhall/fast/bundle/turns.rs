//! Turns and barriers: how long warps run, and where they wait for each other.

use crate::valhall::fast::bundle::{Bundle, Parted};
use crate::valhall::fast::column::{blend, from_bits};
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::trace::Event;
use crate::valhall::fast::warps::{PARKED, WARPS, Warps};
use crate::valhall::group::TURN;
use crate::valhall::warp::LANES;

impl Bundle {
    /// Whether all threads are active, so that they reach a barrier together.
    #[inline(always)]
    pub fn is_converged(&self) -> bool {
        self.active == self.threads
    }

    /// Lets all threads pass a barrier that they [reach together](Bundle::is_converged), if no other threads have to
    /// reach it: the turn ends, and each warp starts a new one. Returns false if threads of other bundles have yet to
    /// come, or if so much was executed since the warps were chosen that the deadline and the budget must be checked.
    #[inline(always)]
    pub fn passes_barrier(&mut self, view: &mut MemoryView<'_>) -> bool {
        let most = self.most_before + (TURN - self.room());
        let passes = self.is_closed && self.is_converged() && most < TURN;
        if passes {
            self.settle();
            for (before, turn) in self.before.iter_mut().zip(&mut self.turns) {
                *before += std::mem::take(turn);
            }
            (self.most_before, self.room) = (most, TURN);
            if let Some(log) = &mut view.log {
                for group in self.groups() {
                    log.barrier(&self.ahead.grid, group);
                    self.note(Event::barrier(group));
                }
            }
        }
        passes
    }

    /// Lets all lanes wait at a barrier, if all of them are active. Returns false if other lanes are elsewhere.
    #[inline(always)]
    pub fn wait(&mut self, pc: u32) -> bool {
        let all = self.active == self.live;
        if all {
            (self.together, self.at_barrier) = (Some(pc), self.busy.0);
        }
        all
    }

    /// Returns the barrier at which all threads wait.
    pub fn waits_at(&self) -> Option<u32> {
        self.together.filter(|_| self.at_barrier != 0 && self.live == self.threads)
    }

    /// Lets all threads that wait at a barrier continue at `pc`.
    pub fn go_on(&mut self, pc: u32) {
        (self.together, self.at_barrier) = (Some(pc), 0);
    }

    /// Counts instructions of the active warps. Returns whether one of them has used up its turn.
    #[inline(always)]
    pub fn tick(&mut self, count: u32) -> bool {
        self.since += count;
        self.since >= self.room
    }

    /// Reverts excess counts of [`Bundle::tick`].
    pub fn untick(&mut self, count: u32) {
        self.since -= count;
    }

    /// Returns the number of instructions that a warp has executed since it was chosen.
    pub fn executed(&self, warp: usize) -> u32 {
        self.before[warp] + self.turns[warp] + if self.busy.0 >> warp & 1 != 0 { self.since } else { 0 }
    }

    /// Returns the number of instructions that the active warps may still execute together.
    #[inline(always)]
    pub fn room(&self) -> u32 {
        self.room - self.since
    }

    /// Returns the number of instructions that each chosen warp may still execute, according to the settled counts.
    pub fn room_of_chosen(&self) -> u32 {
        let chosen = (0..WARPS).filter(|&warp| self.chosen >> warp & 1 != 0);
        chosen.map(|warp| TURN.saturating_sub(self.turns[warp])).min().unwrap_or(0)
    }

    /// Computes the number of instructions that the active warps may still execute together from the settled counts.
    /// Returns whether it is zero.
    pub fn reckon(&mut self) -> bool {
        let most = self.busy().map(|warp| self.turns[warp]).max();
        self.room = TURN.saturating_sub(most.unwrap_or(0));
        self.room == 0
    }

    /// Adds the count of [`Bundle::tick`] to the turns, before other lanes are chosen.
    pub fn settle(&mut self) {
        for (warp, turn) in self.turns.iter_mut().enumerate() {
            *turn += if self.busy.0 >> warp & 1 != 0 { self.since } else { 0 };
        }
        self.room = self.room.saturating_sub(self.since);
        self.since = 0;
    }

    /// Reconverges when the active lanes reach the word at which others wait: all live lanes become active and
    /// continue there. Returns false if some lanes may be elsewhere, or if a warp has used up its turn.
    #[inline(always)]
    pub fn rejoin(&mut self) -> bool {
        let Some(Parted { threads, .. }) = self.parted else { return false };
        self.settle();
        let turns = self.turns.iter().zip(&self.live).map(|(turn, live)| if *live != 0 { *turn } else { 0 });
        let most = turns.max().unwrap_or(0);
        if most >= TURN {
            return false;
        }
        self.join(threads);
        (self.parted, self.room) = (None, TURN - most);
        true
    }

    /// Starts a turn of the chosen warps.
    pub fn choose(&mut self, chosen: u8) {
        self.write_waiting();
        self.parted = None;
        (self.chosen, self.busy, self.since) = (chosen, Warps::default(), 0);
        (self.before, self.most_before) = ([0; WARPS], 0);
        for warp in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0) {
            self.turns[warp] = 0;
        }
    }

    /// Lets a warp continue after the barrier at `pc` where it waits, or ends it there.
    pub fn pass_barrier(&mut self, warp: usize, pc: u32, ends: bool) {
        self.part();
        self.at_barrier &= !(1 << warp);
        let next = if ends { PARKED } else { pc + 1 };
        self.pcs.0[warp] = blend(&self.pcs.0[warp], &[next; LANES], &from_bits(self.live[warp]));
        if ends {
            self.live[warp] = 0;
        }
        // The lanes that came to the barrier last are still active.
        self.together = (self.at_barrier == 0 && self.active == self.live).then_some(next);
    }

    /// Returns the warps that have live lanes and do not wait at a barrier.
    pub fn ready(&self) -> u8 {
        Warps::with(&self.live).0 & !self.at_barrier
    }

    /// Returns the warps that have not used up their turn.
    pub fn unfinished(&self) -> u8 {
        Warps::which(self.turns.map(|turn| turn < TURN)).0
    }
}
