//! Atomics, executed lane by lane as in the reference.

use isaforge_core::semantics::{AtomicOp, Type};

use super::access::number;
use super::bundle::{Bundle, WARPS};
use super::column::holds;
use super::fields::Fields;
use super::grid::Home;
use super::handler::Body;
use super::memory_view::MemoryView;
use crate::memory::Memory;
use crate::valhall::step::Fault;
use crate::valhall::warp::{LANES, lanes};

/// An atomic on one word or two.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub op: AtomicOp,
    /// The type of the value in memory.
    pub ty: Type,
    /// The rows of the address.
    pub address: [u16; 2],
    /// The rows of the operand.
    pub value: [u16; 2],
    /// The rows of the expected value; memory only changes if it has this value.
    pub expected: Option<[u16; 2]>,
    /// The rows that receive the old value.
    pub to: Option<[u16; 2]>,
    /// The row of the condition, if there is one.
    pub when: Option<u16>,
    /// The offset that is added to the address.
    pub offset: i32,
    /// The index of the word in the program.
    pub pc: u32,
}

impl Atomic {
    /// Returns the atomic with its rows replaced.
    #[inline]
    pub fn moved(&self, place: impl Fn(u16) -> u16) -> Self {
        let rows = |rows: [u16; 2]| rows.map(&place);
        Atomic {
            address: rows(self.address),
            value: rows(self.value),
            expected: self.expected.map(rows),
            to: self.to.map(rows),
            when: self.when.map(&place),
            ..*self
        }
    }

    /// Executes it for the active lanes. Returns false if it left a fault in the bundle.
    #[inline(never)]
    pub fn run(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        for warp in bundle.busy() {
            if let Err(fault) = self.warp(bundle, view, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }

    fn warp(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize) -> Result<(), Fault> {
        let column = |row: u16| &bundle.rows[usize::from(row)].0[warp];
        let pair = |rows: [u16; 2]| {
            let [low, high] = rows.map(column);
            move |lane: usize| u64::from(high[lane]) << 32 | u64::from(low[lane])
        };
        let active = bundle.active[warp] & self.when.map_or(u16::MAX, |row| holds(column(row)));
        let (home, addresses, values) = (bundle.homes[warp], pair(self.address), pair(self.value));
        let places = |lane: usize| addresses(lane).wrapping_add_signed(self.offset.into());
        let (mask, expected) = (self.ty.mask(), self.expected.map(pair));
        let new = |lane: usize, old: u64| match &expected {
            Some(expected) if expected(lane) & mask != old => old,
            _ => self.op.apply(self.ty, old, values(lane) & mask),
        };
        let before = match self.ty.size() {
            64 => self.each::<8>(view, home, active, places, new)?,
            _ => self.each::<4>(view, home, active, places, new)?,
        };
        if let Some([low, high]) = self.to {
            bundle.rows[usize::from(low)].0[warp] = before.map(|old| old as u32);
            if self.ty.size() > 32 {
                bundle.rows[usize::from(high)].0[warp] = before.map(|old| (old >> 32) as u32);
            }
        }
        Ok(())
    }

    /// Changes `SIZE` bytes of memory at the address of each lane. Returns the old bytes.
    #[inline(always)]
    fn each<const SIZE: usize>(
        &self,
        view: &mut MemoryView<'_>,
        home: Home,
        active: u16,
        places: impl Fn(usize) -> u64,
        new: impl Fn(usize, u64) -> u64,
    ) -> Result<[u64; LANES], Fault> {
        let (mut before, mut left) = ([0; LANES], active);
        let mut change = |lane: usize, bytes: &mut [u8; SIZE]| {
            before[lane] = number(bytes);
            bytes.copy_from_slice(&new(lane, before[lane]).to_le_bytes()[..SIZE]);
        };
        let first = places(active.trailing_zeros() as usize % LANES);
        if let Some((base, bytes)) = view.around_mut(self.pc, home.group, first, SIZE) {
            left = 0;
            for lane in 0..LANES {
                if active >> lane & 1 == 0 {
                    continue;
                }
                let start = usize::try_from(places(lane).wrapping_sub(base)).unwrap_or(usize::MAX);
                let Some(bytes) = bytes.get_mut(start..).and_then(|bytes| bytes.first_chunk_mut()) else {
                    left = active & u16::MAX << lane;
                    break;
                };
                change(lane, bytes);
            }
        }
        // Continues with the first lane that is elsewhere.
        for lane in lanes(left) {
            let (mut bytes, mut space) = ([0; SIZE], view.space(home));
            let fault = |fault| Fault::Memory { lane, fault };
            space.read(lane, places(lane), &mut bytes).map_err(fault)?;
            change(lane, &mut bytes);
            space.write(lane, places(lane), &bytes).map_err(fault)?;
        }
        if let Some(touched) = &mut view.touched {
            lanes(active).for_each(|lane| touched.mark(places(lane)));
        }
        Ok(before)
    }
}

const SIGNED: Type = Type::signed(32);

/// An atomic on words whose result is not read. The numbers are that of its operation, plus 256 for signed words, and
/// the offset that is added to the address. The operand is in `dest`. Usually all lanes are in the region of the
/// first; otherwise [`Atomic`] executes it.
pub struct Update;

impl Body for Update {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
        if Attempt::run::<WHOLE>(bundle, view, op) {
            return true;
        }
        let (what, is_signed) = operation(op);
        let [address, value] = [op.sources, [op.dest; 2]].map(|rows| rows.map(|row| row as u16));
        let (ty, offset) = (if is_signed { SIGNED } else { Type::U32 }, op.numbers[1] as i32);
        let all = Atomic { op: what, ty, address, value, expected: None, to: None, when: None, offset, pc: op.pc };
        all.run(bundle, view)
    }
}

/// Returns the operation of an [`Update`], and whether its words are signed.
fn operation(op: &Fields) -> (AtomicOp, bool) {
    let what = AtomicOp::ALL.get(op.numbers[0] as usize & 0xff).copied().unwrap_or(AtomicOp::Add);
    (what, op.numbers[0] >> 8 != 0)
}

/// Like [`Update`], but requires all lanes to be in the region of the first; otherwise it returns false, without any
/// effect.
pub struct Attempt;

impl Body for Attempt {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
        let touched = view.touched.take();
        let mut places = [0; WARPS * LANES];
        let Some(words) = around(bundle, view, op, &mut places) else {
            view.touched = touched;
            return false;
        };
        let signed = |word: u32| word as i32;
        let (what, is_signed) = operation(op);
        match (what, is_signed) {
            (AtomicOp::Exchange, _) => update(bundle, op, &places, words, |_, new| new),
            (AtomicOp::Add, _) => update(bundle, op, &places, words, u32::wrapping_add),
            (AtomicOp::Sub, _) => update(bundle, op, &places, words, u32::wrapping_sub),
            (AtomicOp::And, _) => update(bundle, op, &places, words, |old, new| old & new),
            (AtomicOp::Or, _) => update(bundle, op, &places, words, |old, new| old | new),
            (AtomicOp::Xor, _) => update(bundle, op, &places, words, |old, new| old ^ new),
            (AtomicOp::Min, false) => update(bundle, op, &places, words, u32::min),
            (AtomicOp::Max, false) => update(bundle, op, &places, words, u32::max),
            (AtomicOp::Min, true) => update(bundle, op, &places, words, |old, new| signed(old).min(signed(new)) as u32),
            (AtomicOp::Max, true) => update(bundle, op, &places, words, |old, new| signed(old).max(signed(new)) as u32),
        }
        view.touched = touched;
        if let Some(touched) = &mut view.touched {
            let [low, high] = op.sources.map(|row| &bundle.rows[row as usize].0);
            let offset = i64::from(op.numbers[1] as i32);
            for warp in bundle.busy() {
                for lane in lanes(bundle.active[warp]) {
                    let address = u64::from(high[warp][lane]) << 32 | u64::from(low[warp][lane]);
                    touched.mark(address.wrapping_add_signed(offset));
                }
            }
        }
        true
    }
}

/// Returns the words around the addresses of all active lanes, and writes the index of each lane's word among them to
/// `places`. `None` if some lane may be elsewhere.
#[inline(always)]
fn around<'a>(
    bundle: &Bundle,
    view: &'a mut MemoryView<'_>,
    op: &Fields,
    places: &mut [u32; WARPS * LANES],
) -> Option<&'a mut [[u8; 4]]> {
    let [low, high] = op.sources.map(|row| &bundle.rows[row as usize].0);
    let warp = bundle.busy().next()?;
    let lane = bundle.active[warp].trailing_zeros() as usize % LANES;
    let (above, offset) = (high[warp][lane], i64::from(op.numbers[1] as i32));
    let first = (u64::from(above) << 32 | u64::from(low[warp][lane])).wrapping_add_signed(offset);
    // The memories of several workgroups have the same addresses.
    let group = if Memory::RESERVED.contains(&first) { bundle.only_group? } else { 0 };
    let (base, bytes) = view.around_mut(op.pc, group, first, 4)?;
    let (base, words) = (base.wrapping_add_signed(-offset), bytes.as_chunks_mut().0);
    // The words up to the point where the low half of an address wraps around; other high halves are beyond it.
    let until = ((1 << 32) - u64::from(base as u32)) / 4;
    let count = (words.len() as u64).min(until) as u32;
    let [low, high, masks] = [low, high, bundle.masks()].map(|row| row.as_flattened());
    // Loops over all lanes at once, which are compiled to vector instructions.
    let (mut last, mut wrong) = (0, 0);
    let mut add = |lane: usize, mask: u32| {
        let distance = low[lane].wrapping_sub(base as u32) & mask;
        places[lane] = distance / 4;
        last = last.max(distance / 4);
        wrong |= (distance % 4) | ((high[lane] ^ above) & mask);
    };
    if bundle.is_full() {
        (0..WARPS * LANES).for_each(|lane| add(lane, u32::MAX));
    } else {
        // Warps without active lanes have empty masks.
        (0..WARPS * LANES).for_each(|lane| add(lane, masks[lane]));
    }
    let is_near = wrong == 0 && above == (base >> 32) as u32 && last < count;
    is_near.then_some(words)
}

/// Changes the words of the active lanes, lane by lane.
#[inline(always)]
fn update(
    bundle: &Bundle,
    op: &Fields,
    places: &[u32; WARPS * LANES],
    words: &mut [[u8; 4]],
    new: impl Fn(u32, u32) -> u32,
) {
    let values = &bundle.rows[op.dest as usize].0;
    let mut change = |place: u32, value: u32| {
        if let Some(word) = words.get_mut(place as usize) {
            *word = new(u32::from_le_bytes(*word), value).to_le_bytes();
        }
    };
    if bundle.is_full() {
        // One long loop, because a loop for each warp would be vectorized and taken apart again.
        for (place, value) in places.iter().zip(values.as_flattened()) {
            change(*place, *value);
        }
        return;
    }
    for (warp, places) in places.as_chunks::<LANES>().0.iter().enumerate() {
        for lane in lanes(bundle.active[warp]) {
            change(places[lane], values[warp][lane]);
        }
    }
}
