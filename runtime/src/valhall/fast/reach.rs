//! Where the lanes of a bundle access memory: one behind the other, or anywhere.

use std::ops::Range;

use crate::memory::Memory;

use super::super::warp::{Column, LANES};
use super::bundle::{Bundle, Row, WARPS};
use super::code::row;
use super::column::{and, any_bits, any_of};
use super::handler::Fields;
use super::world::{Window, World};

/// Where the lanes access memory.
pub enum Reach {
    /// All lanes of the bundle one behind the other, from here on.
    Bundle(u64),
    /// The active lanes of each of the warps with a bit one behind the other, lane 0 being here. Those of other warps are
    /// anywhere.
    Warps([u64; WARPS], u8),
}

/// The address that a lane has in two rows.
#[inline(always)]
pub fn address(op: &Fields, low: u32, high: u32) -> u64 {
    (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed((op.numbers[0] as i32).into())
}

/// Zero in the lanes that are where they are wanted, `size` bytes behind one another. The lanes' places come from memory:
/// as constants the first of them, a zero, would keep this from becoming vector instructions. So would its being part of
/// its caller, where the result might overlap the addresses.
#[inline(always)]
fn strays(low: &Column, high: &Column, (start, above): (u32, u32), size: u32, places: &Column) -> Column {
    let mut strays = [0; LANES];
    for lane in 0..LANES {
        let wanted = places[lane].wrapping_mul(size).wrapping_add(start);
        strays[lane] = low[lane] ^ wanted | high[lane] ^ above;
    }
    strays
}

/// Whether so many lanes from an address on reach a different high word.
#[inline(always)]
fn wraps(start: u32, size: u32, lanes: usize) -> bool {
    start > u32::MAX - size * lanes as u32
}

impl Reach {
    /// Finds out where an instruction accesses `size` bytes a lane. Lanes that are not active may be anywhere, but their
    /// places next to the others must not wrap around.
    #[inline(always)]
    pub fn of(bundle: &Bundle, op: &Fields, size: u32) -> Self {
        let (low, high) = (&bundle.rows[op.sources[0] as usize], &bundle.rows[op.sources[1] as usize]);
        let places = &bundle.rows[row::PLACE as usize];
        if bundle.active == [u16::MAX; WARPS] {
            let first = (low.0[0][0], high.0[0][0]);
            let mut wrong = Row::splat(0);
            for warp in 0..WARPS {
                wrong.0[warp] = strays(&low.0[warp], &high.0[warp], first, size, &places.0[warp]);
            }
            let start = address(op, first.0, first.1);
            // The memories of several workgroups have the same addresses.
            let together = !wraps(first.0, size, WARPS * LANES) & !Memory::RESERVED.contains(&start);
            if together && !any_of(&wrong) {
                return Reach::Bundle(start);
            }
        }
        let (mut starts, mut together) = ([0; WARPS], 0);
        for warp in bundle.busy() {
            let first = bundle.active[warp].trailing_zeros() as usize % LANES;
            let (start, below) = low.0[warp][first].overflowing_sub(size * first as u32);
            let above = high.0[warp][first];
            let origin = start.wrapping_sub(size * (LANES * warp) as u32);
            let wrong = strays(&low.0[warp], &high.0[warp], (origin, above), size, &places.0[warp]);
            let wrong = and(&wrong, bundle.mask(warp));
            starts[warp] = address(op, start, above);
            together |= u8::from(!below && !wraps(start, size, LANES) && any_bits(&wrong) == 0) << warp;
        }
        Reach::Warps(starts, together)
    }
}

/// Where `size` bytes for a workgroup lie in the window that was used last, or in the one that is used from now on.
#[inline(always)]
pub fn find(
    world: &World<'_>,
    last: &mut Option<Window>,
    group: usize,
    start: u64,
    size: usize,
) -> Option<(Window, Range<usize>)> {
    if let Some(window) = *last
        && let Some(span) = window.span(group, start, size)
    {
        return Some((window, span));
    }
    *last = world.window(group, start);
    let window = (*last)?;
    Some((window, window.span(group, start, size)?))
}
