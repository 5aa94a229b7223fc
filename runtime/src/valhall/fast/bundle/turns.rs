//! Turns and barriers: how long warps go on, and where they wait for each other.

use crate::valhall::fast::bundle::{Bundle, PARKED, Parted, WARPS, Warps};
use crate::valhall::fast::column::{blend, from_bits};
use crate::valhall::fast::handler::Op;
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::group::TURN;
use crate::valhall::warp::LANES;

impl Bundle {
    /// Whether all threads are active, and come to a barrier at once.
    #[inline(always)]
    pub fn meets(&self) -> bool {
        self.active == self.threads
    }

    /// Lets all threads pass a barrier at which they [meet](Bundle::meets), if it holds nobody up: a turn ends there, and each
    /// warp has a new one. False where threads of others are to come, and where so much was executed since warps were chosen
    /// that somebody has to look at the time and at the budget.
    #[inline(always)]
    pub fn passes_barrier(&mut self) -> bool {
        let most = self.most_before + (TURN - self.room());
        let passes = self.is_closed && self.meets() && most < TURN;
        if passes {
            self.settle();
            for (before, turn) in self.before.iter_mut().zip(&mut self.turns) {
                *before += std::mem::take(turn);
            }
            (self.most_before, self.room) = (most, TURN);
        }
        passes
    }

    /// Lets all lanes wait at a barrier, if they are active. False where other lanes are elsewhere.
    #[inline(always)]
    pub fn wait(&mut self, pc: u32) -> bool {
        let all = self.active == self.live;
        if all {
            (self.together, self.at_barrier) = (Some(pc), self.busy.0);
        }
        all
    }

    /// The barrier at which all threads wait.
    pub fn waits_at(&self) -> Option<u32> {
        self.together.filter(|_| self.at_barrier != 0 && self.live == self.threads)
    }

    /// Lets all threads that wait at a barrier go on at `pc`.
    pub fn go_on(&mut self, pc: u32) {
        (self.together, self.at_barrier) = (Some(pc), 0);
    }

    /// Counts instructions of the active warps; whether one of them has now had its turn.
    #[inline(always)]
    pub fn tick(&mut self, count: u32) -> bool {
        self.since += count;
        self.since >= self.room
    }

    /// Takes back what [`Bundle::tick`] counted too much.
    pub fn untick(&mut self, count: u32) {
        self.since -= count;
    }

    /// How many instructions a warp has executed since it was chosen.
    pub fn executed(&self, warp: usize) -> u32 {
        self.before[warp] + self.turns[warp] + if self.busy.0 >> warp & 1 != 0 { self.since } else { 0 }
    }

    /// How many instructions the active warps may still execute together.
    #[inline(always)]
    pub fn room(&self) -> u32 {
        self.room - self.since
    }

    /// How many instructions all chosen warps may still execute, by what has been written down.
    pub fn room_of_chosen(&self) -> u32 {
        let chosen = (0..WARPS).filter(|&warp| self.chosen >> warp & 1 != 0);
        chosen.map(|warp| TURN.saturating_sub(self.turns[warp])).min().unwrap_or(0)
    }

    /// Finds out how many instructions the active warps may still execute together, from what has been written down;
    /// whether that is none.
    pub fn reckon(&mut self) -> bool {
        let most = self.busy().map(|warp| self.turns[warp]).max();
        self.room = TURN.saturating_sub(most.unwrap_or(0));
        self.room == 0
    }

    /// Writes down what [`Bundle::tick`] has counted, before other lanes are chosen.
    pub fn settle(&mut self) {
        for (warp, turn) in self.turns.iter_mut().enumerate() {
            *turn += if self.busy.0 >> warp & 1 != 0 { self.since } else { 0 };
        }
        self.room = self.room.saturating_sub(self.since);
        self.since = 0;
    }

    /// Chooses the lanes that go on, of the chosen warps that are ready and have not had their turn.
    pub fn schedule(&mut self, schedule: &Op, view: &mut MemoryView<'_>) {
        self.write_waiting();
        self.parted = None;
        self.settle();
        self.chosen &= self.ready() & self.unfinished();
        if self.chosen == 0 {
            self.busy = Warps::default();
            return;
        }
        schedule.run(false, self, view);
        self.reckon();
    }

    /// The active lanes have come to the word at which others wait: all live lanes are active again, and go on there. False where
    /// some may be elsewhere, or a warp has had its turn.
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

    /// Lets the chosen warps have a turn.
    pub fn choose(&mut self, chosen: u8) {
        self.write_waiting();
        self.parted = None;
        (self.chosen, self.busy, self.since) = (chosen, Warps::default(), 0);
        (self.before, self.most_before) = ([0; WARPS], 0);
        for warp in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0) {
            self.turns[warp] = 0;
        }
    }

    /// Lets a warp go on behind the barrier at `pc` that it waits at, or end there.
    pub fn pass_barrier(&mut self, warp: usize, pc: u32, ends: bool) {
        self.part();
        self.at_barrier &= !(1 << warp);
        let next = if ends { PARKED } else { pc + 1 };
        self.pcs.0[warp] = blend(&self.pcs.0[warp], &[next; LANES], &from_bits(self.live[warp]));
        if ends {
            self.live[warp] = 0;
        }
        // Those that came to the barrier last are still active.
        self.together = (self.at_barrier == 0 && self.active == self.live).then_some(next);
    }

    /// The warps that have live lanes and do not wait at a barrier.
    pub fn ready(&self) -> u8 {
        Warps::with(&self.live).0 & !self.at_barrier
    }

    /// The warps that have not had their turn.
    pub fn unfinished(&self) -> u8 {
        Warps::which(self.turns.map(|turn| turn < TURN)).0
    }
}
