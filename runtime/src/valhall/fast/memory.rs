//! Loads and stores of whole words. Sixteen lanes that follow one another in memory are one copy.

use crate::memory::Memory;

use super::super::step::Fault;
use super::super::warp::{Column, LANES, lanes};
use super::bundle::{Bundle, Row, WARPS, any_bits};
use super::handler::{Body, Fields};
use super::world::World;

/// Loads `WORDS` words; the address is in two rows, the offset in the first number.
pub struct Load<const WORDS: usize>;

/// Stores `WORDS` words from the rows that begin at `dest`; the address as for [`Load`].
pub struct Store<const WORDS: usize>;

#[inline(always)]
fn address<'a>(rows: &'a [Row], op: &Fields, warp: usize) -> (&'a Column, &'a Column) {
    (&rows[op.sources[0] as usize].0[warp], &rows[op.sources[1] as usize].0[warp])
}

#[inline(always)]
fn lane_address((low, high): (&Column, &Column), lane: usize, offset: i32) -> u64 {
    (u64::from(high[lane]) << 32 | u64::from(low[lane])).wrapping_add_signed(offset.into())
}

/// Leaves zeros in `wrong` where the lanes follow one another at a distance of `stride` bytes.
#[inline(always)]
fn follow((low, high): (&Column, &Column), stride: u32, wrong: &mut Column) {
    let (start, above) = (low[0], high[0]);
    for lane in 0..LANES {
        wrong[lane] |= low[lane] ^ start.wrapping_add(stride * lane as u32) | high[lane] ^ above;
    }
}

/// The part of a window at an address.
#[inline(always)]
fn span(base: u64, len: usize, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    let end = start.checked_add(size)?;
    (end <= len).then_some(start..end)
}

/// Where the active lanes of all warps lie in a window, if all are active, follow one another, and share the window.
/// What is given for each warp are the indices of its first byte.
#[inline(always)]
fn together(bundle: &Bundle, op: &Fields, size: usize, (base, len): (u64, usize)) -> Option<[usize; WARPS]> {
    let mut starts = [0; WARPS];
    let mut wrong = [0; LANES];
    for warp in bundle.busy() {
        let at = address(&bundle.rows, op, warp);
        // The low words must not wrap around within the warp either.
        let wraps = at.0[0].checked_add((LANES * size) as u32).is_none();
        if bundle.active[warp] != u16::MAX || wraps {
            return None;
        }
        follow(at, size as u32, &mut wrong);
        let start = lane_address(at, 0, op.numbers[0] as i32);
        starts[warp] = span(base, len, start, LANES * size)?.start;
    }
    (any_bits(&wrong) == 0).then_some(starts)
}

/// The address of the first active lane, and its workgroup. Lanes of several workgroups share no window of scratch memory.
#[inline(always)]
fn first(bundle: &Bundle, op: &Fields) -> Option<(usize, u64)> {
    let warp = bundle.busy().next()?;
    let start = lane_address(address(&bundle.rows, op, warp), 0, op.numbers[0] as i32);
    let group = bundle.homes[warp].group;
    if Memory::RESERVED.contains(&start) && bundle.busy().any(|warp| bundle.homes[warp].group != group) {
        return None;
    }
    Some((group, start))
}

impl<const WORDS: usize> Body for Load<WORDS> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        let (dest, size) = (op.dest as usize, 4 * WORDS);
        let window = first(bundle, op).and_then(|(group, start)| world.window(group, start));
        if let Some((base, bytes)) = window
            && let Some(starts) = together(bundle, op, size, (base, bytes.len()))
        {
            for warp in bundle.busy() {
                // `together` has found that they are there.
                let Some(bytes) = bytes.get(starts[warp]..starts[warp] + LANES * size) else { continue };
                let (words, _) = bytes.as_chunks::<4>();
                for word in 0..WORDS {
                    let column = &mut bundle.rows[dest + word].0[warp];
                    for lane in 0..LANES {
                        column[lane] = u32::from_le_bytes(words[WORDS * lane + word]);
                    }
                }
            }
            return true;
        }
        for warp in bundle.busy() {
            if let Err(fault) = load_lanes::<WORDS>(bundle, world, op, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }
}

#[inline(always)]
fn word_at(bytes: &[u8], index: usize) -> u32 {
    match bytes.get(4 * index..4 * index + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

#[inline(never)]
fn load_lanes<const WORDS: usize>(
    bundle: &mut Bundle,
    world: &mut World<'_>,
    op: &Fields,
    warp: usize,
) -> Result<(), Fault> {
    let (dest, offset) = (op.dest as usize, op.numbers[0] as i32);
    let (low, high) = address(&bundle.rows, op, warp);
    // The destination may be where the address is.
    let (low, high) = (*low, *high);
    let at = (&low, &high);
    let (home, size) = (bundle.homes[warp], 4 * WORDS);
    for lane in lanes(bundle.active[warp]) {
        let start = lane_address(at, lane, offset);
        let mut buffer = [0; 16];
        let window = world.window(home.group, start);
        match window.and_then(|(base, bytes)| bytes.get(span(base, bytes.len(), start, size)?)) {
            Some(bytes) => buffer[..size].copy_from_slice(bytes),
            None => {
                let read = world.space(home).read(lane, start, &mut buffer[..size]);
                read.map_err(|fault| Fault::Memory { lane, fault })?;
            }
        }
        for (word, row) in bundle.rows[dest..dest + WORDS].iter_mut().enumerate() {
            row.0[warp][lane] = word_at(&buffer, word);
        }
    }
    Ok(())
}

impl<const WORDS: usize> Body for Store<WORDS> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        let (from, size) = (op.dest as usize, 4 * WORDS);
        let window = first(bundle, op).and_then(|(group, start)| world.window_mut(group, start));
        if let Some((base, bytes)) = window
            && let Some(starts) = together(bundle, op, size, (base, bytes.len()))
        {
            for warp in bundle.busy() {
                let Some(bytes) = bytes.get_mut(starts[warp]..starts[warp] + LANES * size) else { continue };
                let (words, _) = bytes.as_chunks_mut::<4>();
                for word in 0..WORDS {
                    let column = &bundle.rows[from + word].0[warp];
                    for lane in 0..LANES {
                        words[WORDS * lane + word] = column[lane].to_le_bytes();
                    }
                }
            }
            return true;
        }
        for warp in bundle.busy() {
            if let Err(fault) = store_lanes::<WORDS>(bundle, world, op, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }
}

#[inline(never)]
fn store_lanes<const WORDS: usize>(
    bundle: &Bundle,
    world: &mut World<'_>,
    op: &Fields,
    warp: usize,
) -> Result<(), Fault> {
    let (from, offset) = (op.dest as usize, op.numbers[0] as i32);
    let at = address(&bundle.rows, op, warp);
    let (home, size) = (bundle.homes[warp], 4 * WORDS);
    for lane in lanes(bundle.active[warp]) {
        let start = lane_address(at, lane, offset);
        let mut buffer = [0; 16];
        for (word, chunk) in buffer.chunks_exact_mut(4).enumerate().take(WORDS) {
            chunk.copy_from_slice(&bundle.rows[from + word].0[warp][lane].to_le_bytes());
        }
        let window = world.window_mut(home.group, start);
        let bytes = window.and_then(|(base, bytes)| {
            let span = span(base, bytes.len(), start, size)?;
            bytes.get_mut(span)
        });
        match bytes {
            Some(bytes) => bytes.copy_from_slice(&buffer[..size]),
            None => {
                let written = world.space(home).write(lane, start, &buffer[..size]);
                written.map_err(|fault| Fault::Memory { lane, fault })?;
            }
        }
    }
    Ok(())
}
