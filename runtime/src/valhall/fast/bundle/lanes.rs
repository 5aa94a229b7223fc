//! Where lanes are: how they start, their program counters, and how they end.

use crate::valhall::fast::bundle::{Bundle, Parted};
use crate::valhall::fast::column::{blend, from_bits, not, or};
use crate::valhall::fast::grid::Home;
use crate::valhall::fast::warps::{PARKED, WARPS, Warps, count};
use crate::valhall::group::TURN;
use crate::valhall::warp::{Column, LANES, lanes};

impl Bundle {
    /// Starts threads in a warp at the first word.
    pub fn start(&mut self, warp: usize, home: Home, threads: u16) {
        self.part();
        self.patterns.forget();
        self.place_in(warp, home);
        (self.live[warp], self.threads[warp]) = (threads, threads);
        for (lane, pc) in self.pcs.0[warp].iter_mut().enumerate() {
            *pc = if threads >> lane & 1 != 0 { 0 } else { PARKED };
        }
        self.at_barrier &= !(1 << warp);
    }

    /// Sets the position of a warp.
    pub fn place_in(&mut self, warp: usize, home: Home) {
        self.homes[warp] = home;
        let is_only = self.homes.iter().all(|other| other.group == home.group);
        self.only_group = is_only.then_some(home.group);
    }

    /// Sets the lanes that exist when all warps start together.
    pub fn set_entry(&mut self, threads: [u16; WARPS]) {
        self.entry = (threads, count(&threads));
    }

    /// Starts all warps at the first word, with all lanes that exist.
    pub fn enter(&mut self) {
        let (threads, count) = self.entry;
        (self.live, self.threads, self.active, self.active_threads) = (threads, threads, threads, count);
        (self.at_barrier, self.together, self.has_masks) = (0, Some(0), false);
        self.patterns.forget();
    }

    /// Whether all live lanes continue together, because [`Bundle::enter`] or a barrier has put them at one word and
    /// all warps are chosen. Then there are no other lanes to choose from.
    pub fn goes_on(&mut self) -> bool {
        if self.chosen == 0 || self.chosen != self.ready() {
            self.part();
            return false;
        }
        let Some(pc) = self.together.take() else { return false };
        self.join(self.active_threads);
        (self.pc, self.room) = (pc, TURN);
        true
    }

    /// Makes all live lanes active; `threads` is their number.
    pub(super) fn join(&mut self, threads: u32) {
        (self.active, self.busy, self.has_masks) = (self.live, Warps::with(&self.live), false);
        (self.active_threads, self.whole, self.others) = (threads, self.busy.count() > WARPS / 2, PARKED);
    }

    /// Updates the program counters before lanes diverge.
    pub(super) fn part(&mut self) {
        let Some(pc) = self.together.take() else { return };
        for (pcs, live) in self.pcs.0.iter_mut().zip(self.live) {
            // The program counter of parked lanes is all ones.
            *pcs = or(&not(&from_bits(live)), &[pc; LANES]);
        }
    }

    /// Moves the active lanes to `pc`.
    pub fn go(&mut self, pc: u32) {
        for warp in self.busy() {
            self.pcs.0[warp] = blend(&self.pcs.0[warp], &[pc; LANES], &from_bits(self.active[warp]));
        }
    }

    /// Updates the program counters of lanes that have waited since the split.
    #[inline(always)]
    pub fn write_waiting(&mut self) {
        if let Some(Parted { waits, .. }) = &mut self.parted
            && let Some(pc) = waits.take()
        {
            for (pcs, (live, active)) in self.pcs.0.iter_mut().zip(self.live.iter().zip(&self.active)) {
                *pcs = blend(pcs, &[pc; LANES], &from_bits(live & !active));
            }
        }
    }

    /// Returns the program counters of a warp, after those of waiting lanes [were updated](Bundle::write_waiting).
    pub fn pcs(&self, warp: usize) -> &Column {
        debug_assert!(self.parted.is_none_or(|parted| parted.waits.is_none()));
        &self.pcs.0[warp]
    }

    /// Like [`Bundle::pcs`], for writing.
    pub fn pcs_mut(&mut self, warp: usize) -> &mut Column {
        debug_assert!(self.parted.is_none_or(|parted| parted.waits.is_none()));
        &mut self.pcs.0[warp]
    }

    /// Returns the word that the first live lane of a warp executes next.
    pub fn place(&self, warp: usize) -> u32 {
        if let Some(pc) = self.together {
            return pc;
        }
        let lane = self.live[warp].trailing_zeros() as usize;
        self.pcs(warp).get(lane).copied().unwrap_or(PARKED)
    }

    /// Moves some lanes of a warp.
    pub fn set_pcs(&mut self, warp: usize, which: u16, pc: u32) {
        for lane in lanes(which) {
            self.pcs.0[warp][lane] = pc;
        }
    }

    /// Ends the active lanes.
    pub fn end(&mut self) {
        self.settle();
        if self.active == self.live {
            // The program counters are no longer read.
            self.live = [0; WARPS];
            return;
        }
        self.go(PARKED);
        for warp in self.busy() {
            self.live[warp] &= !self.active[warp];
        }
    }

    /// Ends a warp and all later ones.
    pub fn drop_from(&mut self, first: usize) {
        self.part();
        self.write_waiting();
        for warp in first..WARPS {
            (self.live[warp], self.active[warp]) = (0, 0);
            self.pcs.0[warp] = [PARKED; LANES];
        }
        self.busy.0 &= ((1u32 << first) - 1) as u8;
        (self.active_threads, self.has_masks) = (count(&self.active), false);
    }
}
