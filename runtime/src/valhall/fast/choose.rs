//! Handlers that choose the lanes to execute next.

use super::bundle::{Bundle, Parted, Row};
use super::column::{and, bit_mask, blend, equal, from_bits, lower, or, smallest};
use super::exit::Taken;
use super::fields::Fields;
use super::handler::{Body, Op};
use super::memory_view::MemoryView;
use super::warps::{PARKED, WARPS, Warps, count};
use crate::valhall::warp::LANES;

impl Bundle {
    /// Updates the masks of the active lanes before handlers are executed.
    #[inline(always)]
    pub fn prepare(&mut self, masks: &Op, view: &mut MemoryView<'_>) {
        if !self.has_masks {
            masks.run(true, self, view);
        }
    }

    /// Chooses the lanes to execute next from the chosen warps that are ready and have not used up their turn.
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
}

/// Chooses the lanes to execute next: those of the chosen warps with the lowest program counter.
pub struct Schedule;

impl Body for Schedule {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, _: &Fields) -> bool {
        let chosen = Warps(bundle.chosen);
        (bundle.active, bundle.masks, bundle.has_masks) = ([0; WARPS], Row::splat(0), true);
        let mut least = [PARKED; LANES];
        for warp in chosen.listed() {
            least = lower(&least, &bundle.pcs.0[warp]);
        }
        // Parked lanes are never active.
        let pc = smallest(&least);
        let wanted = if pc == PARKED { PARKED - 1 } else { pc };
        let mut others = [PARKED; LANES];
        let mut threads = 0;
        for warp in chosen.listed() {
            let pcs = &bundle.pcs.0[warp];
            let mask = equal(pcs, wanted);
            others = lower(&others, &or(pcs, &mask));
            let bits = bit_mask(&mask);
            bundle.masks.0[warp] = mask;
            bundle.active[warp] = bits;
            threads += bits.count_ones();
        }
        (bundle.active_threads, bundle.busy) = (threads, Warps::with(&bundle.active));
        bundle.whole = bundle.active == bundle.live && bundle.busy.count() > WARPS / 2;
        (bundle.pc, bundle.others) = (pc, smallest(&others));
        true
    }
}

/// Computes the masks of the active lanes.
pub struct Masks;

impl Body for Masks {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, _: &Fields) -> bool {
        for warp in 0..WARPS {
            bundle.masks.0[warp] = from_bits(bundle.active[warp]);
        }
        bundle.has_masks = true;
        true
    }
}

/// Determines which active lanes jump to `numbers[0]`: those with ones in the row of the condition.
pub struct Branch;

impl Body for Branch {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
        let source = &bundle.rows[op.sources[0] as usize];
        // Warps without active lanes have empty masks. A loop over all lanes at once is compiled to vector
        // instructions.
        let (words, masks) = (source.0.as_flattened(), bundle.masks.0.as_flattened());
        let (mut some, mut not_all) = (0, 0);
        for lane in 0..WARPS * LANES {
            // Inactive lanes set neither.
            some |= words[lane] & masks[lane];
            not_all |= !words[lane] & masks[lane];
        }
        if !bundle.branch(some != 0, not_all != 0) {
            return true;
        }
        let source = &bundle.rows[op.sources[0] as usize];
        for warp in bundle.busy() {
            bundle.jumps[warp] = bit_mask(&and(&source.0[warp], &bundle.masks.0[warp]));
        }
        Part::run::<WHOLE>(bundle, view, op)
    }
}

/// Splits the active lanes: those in `jumps` jump to `numbers[0]`, the others continue.
pub struct Part;

impl Body for Part {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, op: &Fields) -> bool {
        bundle.settle();
        bundle.write_waiting();
        // The lanes with the lower program counter continue; the others wait.
        let target = op.numbers[0];
        let forward = target > op.pc;
        let (here, there) = if forward { (op.pc + 1, target) } else { (target, op.pc + 1) };
        let before = bundle.active;
        for (active, jumps) in bundle.active.iter_mut().zip(&bundle.jumps) {
            *active &= if forward { !jumps } else { *jumps };
        }
        if before == bundle.live {
            bundle.parted = Some(Parted { threads: bundle.active_threads, waits: Some(there) });
        } else {
            bundle.parted = None;
            for warp in bundle.busy() {
                let leave = from_bits(before[warp] & !bundle.active[warp]);
                bundle.pcs.0[warp] = blend(&bundle.pcs.0[warp], &[there; LANES], &leave);
            }
        }
        (bundle.busy, bundle.has_masks) = (Warps::with(&bundle.active), false);
        (bundle.active_threads, bundle.whole) = (count(&bundle.active), false);
        bundle.others = bundle.others.min(there);
        bundle.taken = Taken::Some(here);
        true
    }
}
