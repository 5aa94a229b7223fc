//! Where the lanes of a bundle access memory: in a regular pattern, or at arbitrary addresses.

use crate::exec::jit::lanes::window::FURTHEST;
use crate::memory::Memory;

use super::bundle::{Bundle, WARPS};
use super::column::{and, any_bits, scaled};
use super::fields::Fields;
use super::handler::Body;
use super::memory_view::MemoryView;
use super::pattern::{Reached, wraps_around};
use super::row;
use crate::valhall::warp::{Column, LANES};

/// Returns the address of a lane.
#[inline(always)]
pub fn address(op: &Fields, low: u32, high: u32) -> u64 {
    (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed((op.numbers[0] as i32).into())
}

/// Returns the bits in which lanes differ from the wanted addresses: at the distances `distances` from a start, with
/// the same high word.
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

/// Finds the pattern of the addresses in two rows.
pub struct Reach;

impl Body for Reach {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, op: &Fields) -> bool {
        bundle.reached = pattern(bundle, op.sources);
        true
    }
}
