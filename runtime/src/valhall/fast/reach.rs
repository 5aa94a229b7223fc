//! Where the lanes of a bundle access memory: in a regular pattern, or at arbitrary addresses.

use crate::exec::jit::lanes::window::FURTHEST;
use crate::memory::Memory;

use super::bundle::{Bundle, WARPS};
use super::code::row;
use super::column::{and, any_bits, scaled};
use super::handler::Fields;
use super::memory_view::MemoryView;
use crate::valhall::warp::{Column, LANES};

/// Returns the address of a lane.
#[inline(always)]
pub fn address(op: &Fields, low: u32, high: u32) -> u64 {
    (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed((op.numbers[0] as i32).into())
}

/// Returns the bits in which lanes differ from the wanted addresses: at the distances `distances` from a start, with the
/// same high word.
#[inline(always)]
fn strays(low: &Column, high: &Column, (start, above): (u32, u32), distances: &Column) -> Column {
    let mut strays = [0; LANES];
    for lane in 0..LANES {
        strays[lane] = low[lane] ^ distances[lane].wrapping_add(start) | high[lane] ^ above;
    }
    strays
}

/// Whether `lanes` accesses from an address on reach a different high word.
#[inline(always)]
fn wraps(start: u32, size: u32, lanes: usize) -> bool {
    start > u32::MAX - size * lanes as u32
}

/// Returns the address of the first lane if all lanes of the bundle access `size` contiguous bytes each. `None` if
/// they do not.
#[inline(always)]
pub fn bundle(bundle: &Bundle, view: &MemoryView<'_>, op: &Fields, size: u32) -> Option<u64> {
    if bundle.active_threads() < (WARPS * LANES) as u64 {
        return None;
    }
    let (low, high) = (&bundle.rows[op.sources[0] as usize], &bundle.rows[op.sources[1] as usize]);
    let (first, above) = (low.0[0][0], high.0[0][0]);
    // A loop over all lanes at once, too long to be unrolled, is compiled to vector instructions here.
    let (low, high) = (low.0.as_flattened(), high.0.as_flattened());
    let mut wrong = 0;
    for lane in 0..WARPS * LANES {
        let wanted = first.wrapping_add(size * lane as u32);
        wrong |= low[lane] ^ wanted | high[lane] ^ above;
    }
    let start = address(op, first, above);
    // The memories of several workgroups have the same addresses.
    let together = !wraps(first, size, WARPS * LANES) & (view.is_one_group() | !Memory::RESERVED.contains(&start));
    (together && wrong == 0).then_some(start)
}

/// A pattern of addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// The address of the first lane.
    pub start: u64,
    /// Whether the lanes of a warp access contiguous words. Otherwise all have the same address.
    pub contiguous: bool,
    /// The bytes from one warp to the next.
    pub column: u32,
}

/// Returns the pattern of the addresses in two rows, over all lanes, active or not. `None` if they follow no pattern.
#[inline(always)]
pub fn pattern(bundle: &Bundle, [low, high]: [u32; 2]) -> Option<Reached> {
    let (low, high) = (&bundle.rows[low as usize].0, &bundle.rows[high as usize].0);
    let (first, above) = (low[0][0], high[0][0]);
    let contiguous = low[0][1] != first;
    let (lane, column) = (if contiguous { 4 } else { 0 }, low[1][0].wrapping_sub(first));
    if column > FURTHEST || wraps_around(first, lane, column) {
        return None;
    }
    // A loop over all lanes at once, too long to be unrolled, is compiled to vector instructions here.
    let (low, high) = (low.as_flattened(), high.as_flattened());
    let mut wrong = 0;
    for at in 0..(WARPS * LANES) as u32 {
        let wanted = first + column * (at / LANES as u32) + lane * (at % LANES as u32);
        wrong |= low[at as usize] ^ wanted | high[at as usize] ^ above;
    }
    let start = u64::from(above) << 32 | u64::from(first);
    (wrong == 0).then_some(Reached { start, contiguous, column })
}

/// Whether some lane may have another high word than the first.
#[inline(always)]
fn wraps_around(first: u32, lane: u32, column: u32) -> bool {
    first > u32::MAX - (WARPS as u32 * column + LANES as u32 * lane)
}

/// The patterns of registers that were determined since the registers were last written, by the first of the pair.
#[derive(Clone, Debug)]
pub struct Patterns {
    /// The registers whose pattern is known, as bits.
    known: u64,
    reached: [Reached; row::REGISTERS as usize],
}

impl Default for Patterns {
    fn default() -> Self {
        Patterns { known: 0, reached: [Reached::default(); row::REGISTERS as usize] }
    }
}

impl Patterns {
    /// Returns the pattern of two rows, if it is known.
    #[inline(always)]
    pub fn get(&self, rows: [u32; 2]) -> Option<&Reached> {
        let is_known = rows[1] == rows[0] + 1 && self.known.checked_shr(rows[0]).is_some_and(|bits| bits & 1 != 0);
        if is_known { self.reached.get(rows[0] as usize) } else { None }
    }

    /// Records the pattern of two rows.
    pub fn put(&mut self, rows: [u32; 2], reached: Reached) {
        if rows[1] == rows[0] + 1
            && let Some(place) = self.reached.get_mut(rows[0] as usize)
        {
            *place = reached;
            self.known |= 1 << rows[0];
        }
    }

    /// Updates the patterns after registers were written, given as bits; the pairs in `moved` were increased by a
    /// constant, `times` times.
    #[inline(always)]
    pub fn wrote(&mut self, registers: u64, moved: &[(u32, u64)], times: u32) {
        let mut known = self.known & !(registers | registers >> 1);
        for &(row, by) in moved.iter().filter(|(row, _)| self.known >> row & 1 != 0) {
            let Reached { start, contiguous, column } = &mut self.reached[row as usize];
            *start = start.wrapping_add(by.wrapping_mul(times.into()));
            known |= u64::from(!wraps_around(*start as u32, if *contiguous { 4 } else { 0 }, *column)) << row;
        }
        self.known = known;
    }

    /// Forgets all patterns, because any registers may have been written.
    #[inline(always)]
    pub fn forget(&mut self) {
        self.known = 0;
    }
}

/// Returns the address of lane 0 for each warp whose active lanes access `size` contiguous bytes each, and one bit
/// for each such warp. Inactive lanes may be anywhere, but their addresses in this pattern must not wrap around.
#[inline(always)]
pub fn warps(bundle: &Bundle, op: &Fields, size: u32) -> ([u64; WARPS], u8) {
    let (low, high) = (&bundle.rows[op.sources[0] as usize], &bundle.rows[op.sources[1] as usize]);
    let distances = scaled(&bundle.rows[row::LANE as usize].0[0], size);
    let (mut starts, mut together) = ([0; WARPS], 0);
    for warp in bundle.busy() {
        let first = bundle.active[warp].trailing_zeros() as usize % LANES;
        let (start, below) = low.0[warp][first].overflowing_sub(size * first as u32);
        let above = high.0[warp][first];
        let wrong = strays(&low.0[warp], &high.0[warp], (start, above), &distances);
        let wrong = and(&wrong, bundle.mask(warp));
        starts[warp] = address(op, start, above);
        together |= u8::from(!below && !wraps(start, size, LANES) && any_bits(&wrong) == 0) << warp;
    }
    (starts, together)
}
