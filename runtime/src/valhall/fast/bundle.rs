//! Eight warps that advance together.
//!
//! A register is a row of eight columns. All lanes of the bundle that have the lowest program counter execute; a warp of
//! which no lane is there is passed over. Each warp by itself thereby does exactly what it would do alone.

use super::super::group::TURN;
use super::super::step::Fault;
use super::super::warp::{Column, LANES, lanes};
use super::code::Code;
use super::level::{Body, Fields};
use super::world::{Home, World};

/// Warps of a bundle.
pub const WARPS: usize = 8;

/// One register of all warps.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Row(pub [Column; WARPS]);

impl Row {
    /// The same word everywhere.
    pub fn splat(word: u32) -> Self {
        Row([[word; LANES]; WARPS])
    }
}

/// The program counter of lanes that have ended, or that have to wait.
pub const NOWHERE: u32 = u32::MAX;

/// The state of eight warps.
#[derive(Debug)]
pub struct Bundle {
    /// Registers first, then what [`Code`] puts there.
    pub rows: Box<[Row]>,
    /// Where warps belong; those that do not exist have no live lanes.
    pub homes: [Home; WARPS],
    /// The word that each lane executes next; out of date for the active lanes, which are at `pc`.
    pcs: Row,
    /// Lanes that have not ended.
    pub live: [u16; WARPS],
    /// Lanes that exist.
    pub threads: [u16; WARPS],
    /// Lanes that execute the current instruction, as bits and as masks.
    pub active: [u16; WARPS],
    masks: Row,
    /// Warps with active lanes, the first `busy`.
    order: [u8; WARPS],
    busy: usize,
    active_threads: u32,
    /// Whether every live lane is active and most warps are there: all rows may be written whole then.
    whole: bool,
    /// The current word.
    pub pc: u32,
    /// The least word above `pc` at which other lanes wait to be joined.
    pub others: u32,
    /// Warps that may run now.
    pub chosen: u8,
    /// Warps that wait at a barrier.
    pub at_barrier: u8,
    /// Instructions that each warp executed since it was last chosen.
    pub turns: [u32; WARPS],
    /// What a handler reports: the warp and what is wrong.
    pub fault: Option<(usize, Fault)>,
    /// What the last branch found: the lanes that jump.
    taken: Taken,
}

/// Which active lanes take a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// None.
    None,
    /// All.
    All,
    /// Some, and their program counters have been set.
    Some,
}

impl Bundle {
    /// A bundle without threads.
    pub fn new(code: &Code<'_>) -> Self {
        Bundle {
            rows: code.rows(),
            homes: [Home::default(); WARPS],
            pcs: Row::splat(NOWHERE),
            live: [0; WARPS],
            threads: [0; WARPS],
            active: [0; WARPS],
            masks: Row::splat(0),
            order: [0; WARPS],
            busy: 0,
            active_threads: 0,
            whole: false,
            pc: 0,
            others: NOWHERE,
            chosen: 0,
            at_barrier: 0,
            turns: [0; WARPS],
            fault: None,
            taken: Taken::None,
        }
    }

    /// Puts threads into a warp, at the first word.
    pub fn start(&mut self, warp: usize, home: Home, threads: u16) {
        (self.homes[warp], self.live[warp], self.threads[warp]) = (home, threads, threads);
        self.pcs.0[warp] = std::array::from_fn(|lane| if threads >> lane & 1 != 0 { 0 } else { NOWHERE });
        self.at_barrier &= !(1 << warp);
    }

    /// The warps that have active lanes, in order.
    pub fn busy(&self) -> impl Iterator<Item = usize> + use<> {
        self.order.into_iter().take(self.busy).map(usize::from)
    }

    /// Whether any warp has active lanes.
    pub fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// How many lanes are active.
    pub fn active_threads(&self) -> u64 {
        self.active_threads.into()
    }

    /// Counts instructions of the active warps; whether one of them has now had its turn.
    pub fn tick(&mut self, count: u32) -> bool {
        let mut most = 0;
        for warp in self.busy() {
            self.turns[warp] += count;
            most = most.max(self.turns[warp]);
        }
        most >= TURN
    }

    /// How many instructions the active warps may still execute together.
    pub fn room(&self) -> u32 {
        TURN - self.busy().map(|warp| self.turns[warp]).max().unwrap_or(TURN)
    }

    /// Moves the active lanes to `pc`.
    pub fn go(&mut self, pc: u32) {
        for warp in self.busy() {
            for lane in 0..LANES {
                let mask = self.masks.0[warp][lane];
                let place = &mut self.pcs.0[warp][lane];
                *place = *place & !mask | pc & mask;
            }
        }
    }

    /// The program counters of a warp.
    pub fn pcs(&self, warp: usize) -> &Column {
        &self.pcs.0[warp]
    }

    /// As [`Bundle::pcs`], to change.
    pub fn pcs_mut(&mut self, warp: usize) -> &mut Column {
        &mut self.pcs.0[warp]
    }

    /// The word that the first live lane of a warp executes next.
    pub fn place(&self, warp: usize) -> u32 {
        let lane = self.live[warp].trailing_zeros() as usize;
        self.pcs.0[warp].get(lane).copied().unwrap_or(NOWHERE)
    }

    /// Moves some lanes of a warp.
    pub fn set_pcs(&mut self, warp: usize, which: u16, pc: u32) {
        for lane in lanes(which) {
            self.pcs.0[warp][lane] = pc;
        }
    }

    /// The warps that have live lanes and do not wait at a barrier.
    pub fn ready(&self) -> u8 {
        (0..WARPS).filter(|&warp| self.live[warp] != 0).fold(0, |bits, warp| bits | 1 << warp) & !self.at_barrier
    }

    /// The warps that have not had their turn.
    pub fn unfinished(&self) -> u8 {
        (0..WARPS).filter(|&warp| self.turns[warp] < TURN).fold(0, |bits, warp| bits | 1 << warp)
    }

    /// The active lanes end.
    pub fn end(&mut self) {
        self.go(NOWHERE);
        for warp in self.busy() {
            self.live[warp] &= !self.active[warp];
        }
    }

    /// A warp and those behind it never run again.
    pub fn drop_from(&mut self, first: usize) {
        for warp in first..WARPS {
            (self.live[warp], self.active[warp]) = (0, 0);
            self.pcs.0[warp] = [NOWHERE; LANES];
            self.masks.0[warp] = [0; LANES];
        }
        self.busy = self.busy().filter(|&warp| warp < first).count();
    }

    /// What the last branch found.
    pub fn taken(&self) -> Taken {
        self.taken
    }

    /// Sets `out[i]` in all active lanes; `f` gives the results of a warp.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, dest: u32, f: impl Fn(&[Row], usize) -> [Column; N]) {
        let dest = dest as usize;
        if self.whole {
            for warp in 0..WARPS {
                let results = f(&self.rows, warp);
                for (row, result) in self.rows[dest..dest + N].iter_mut().zip(results) {
                    row.0[warp] = result;
                }
            }
            return;
        }
        for &warp in &self.order[..self.busy & (2 * WARPS - 1)] {
            let warp = usize::from(warp) % WARPS;
            let results = f(&self.rows, warp);
            let mask = &self.masks.0[warp];
            for (row, result) in self.rows[dest..dest + N].iter_mut().zip(results) {
                let column = &mut row.0[warp];
                // A blend and a whole store: a masked store would keep the next load waiting.
                *column = std::array::from_fn(|lane| column[lane] & !mask[lane] | result[lane] & mask[lane]);
            }
        }
    }
}

/// Chooses the lanes that go on: those of the chosen warps with the lowest program counter.
pub struct Schedule;

impl Body for Schedule {
    #[inline(always)]
    fn run(bundle: &mut Bundle, _: &mut World<'_>, _: &Fields) -> bool {
        let mut least = [NOWHERE; LANES];
        let runs = |warp: usize| bundle.chosen >> warp & 1 != 0;
        for warp in (0..WARPS).filter(|&warp| runs(warp)) {
            least = std::array::from_fn(|lane| least[lane].min(bundle.pcs.0[warp][lane]));
        }
        let pc = least.into_iter().min().unwrap_or(NOWHERE);
        let mut others = [NOWHERE; LANES];
        let (mut busy, mut threads) = (0, 0);
        let mut whole = true;
        for warp in 0..WARPS {
            let pcs = &bundle.pcs.0[warp];
            let mut mask = [0u32; LANES];
            let mut bits = 0;
            if runs(warp) && pc != NOWHERE {
                mask = pcs.map(|other| if other == pc { u32::MAX } else { 0 });
                others = std::array::from_fn(|lane| others[lane].min(pcs[lane] | mask[lane]));
                bits = bit_mask(&mask);
            }
            bundle.masks.0[warp] = mask;
            bundle.active[warp] = bits;
            whole &= bits == bundle.live[warp];
            bundle.order[busy % WARPS] = warp as u8;
            threads += bits.count_ones();
            busy += usize::from(bits != 0);
        }
        (bundle.busy, bundle.active_threads) = (busy, threads);
        bundle.whole = whole && busy > WARPS / 2;
        bundle.pc = pc;
        bundle.others = others.into_iter().min().unwrap_or(NOWHERE);
        true
    }
}

/// The highest bits of all lanes.
#[inline(always)]
fn bit_mask(mask: &Column) -> u16 {
    let mut bits = [0u32; LANES];
    for lane in 0..LANES {
        bits[lane] = mask[lane] & 1 << lane;
    }
    bits.into_iter().fold(0, |all, bit| all | bit) as u16
}

/// A condition on the word of a lane.
pub trait Test {
    /// Whether it holds.
    fn holds(word: u32) -> bool;
}

/// Finds out which active lanes jump to `numbers[0]`: those that pass the test, or with `numbers[1]` those that fail.
pub struct Branch<T>(std::marker::PhantomData<T>);

impl<T: Test> Body for Branch<T> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        let [target, inverted] = op.numbers;
        let source = &bundle.rows[op.sources[0] as usize];
        let jumps = |warp: usize| -> Column {
            std::array::from_fn(|lane| {
                let holds = if T::holds(source.0[warp][lane]) { u32::MAX } else { 0 };
                (holds ^ inverted) & bundle.masks.0[warp][lane]
            })
        };
        let (mut any, mut all) = ([0; LANES], [u32::MAX; LANES]);
        for warp in bundle.busy() {
            let (jumps, mask) = (jumps(warp), &bundle.masks.0[warp]);
            any = std::array::from_fn(|lane| any[lane] | jumps[lane]);
            all = std::array::from_fn(|lane| all[lane] & (jumps[lane] | !mask[lane]));
        }
        let none = any.into_iter().fold(0, |a, b| a | b) == 0;
        if none || all.into_iter().fold(u32::MAX, |a, b| a & b) == u32::MAX {
            bundle.taken = if none { Taken::None } else { Taken::All };
            return true;
        }
        let next = op.pc + 1;
        for warp in bundle.busy() {
            let jumps = jumps(warp);
            let mask = &bundle.masks.0[warp];
            let pcs = &mut bundle.pcs.0[warp];
            *pcs = std::array::from_fn(|lane| {
                let to = if jumps[lane] != 0 { target } else { next };
                pcs[lane] & !mask[lane] | to & mask[lane]
            });
        }
        bundle.taken = Taken::Some;
        true
    }
}

/// Tests of `BRANCHZ`, in the names of its modifier.
pub mod tests {
    use super::Test;

    macro_rules! tests {
        ($($name:ident |$word:ident| $holds:expr;)*) => { $(
            pub struct $name;
            impl Test for $name {
                #[inline(always)]
                fn holds($word: u32) -> bool {
                    $holds
                }
            }
        )* };
    }

    tests! {
        Word |word| word != 0;
        Low |word| word & 0xffff != 0;
        High |word| word >> 16 != 0;
        Ones |word| word == u32::MAX;
        Middle |word| !matches!(word >> 3 & 0x3_ffff, 0 | 0x3_ffff);
    }
}
