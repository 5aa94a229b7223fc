//! Loads and stores of whole words. Sixteen lanes that follow one another in memory are one copy.

use super::super::step::Fault;
use super::super::warp::{Column, LANES, lanes};
use super::bundle::{Bundle, Row};
use super::level::{Body, Fields};
use super::world::World;

/// Loads `WORDS` words; the address is in two rows, the offset in the first number.
pub struct Load<const WORDS: usize>;

/// Stores `WORDS` words from the rows that begin at `dest`; the address as for [`Load`].
pub struct Store<const WORDS: usize>;

#[inline(always)]
fn address(rows: &[Row], op: &Fields, warp: usize) -> (Column, Column) {
    (rows[op.sources[0] as usize].0[warp], rows[op.sources[1] as usize].0[warp])
}

#[inline(always)]
fn lane_address((low, high): &(Column, Column), lane: usize, offset: i32) -> u64 {
    (u64::from(high[lane]) << 32 | u64::from(low[lane])).wrapping_add_signed(offset.into())
}

/// Whether the lanes follow one another at a distance of `stride` bytes.
#[inline(always)]
fn consecutive((low, high): &(Column, Column), stride: u32) -> bool {
    let mut wrong = u32::from(low[0].checked_add(stride * LANES as u32).is_none());
    for lane in 0..LANES {
        wrong |= low[lane] ^ low[0].wrapping_add(stride * lane as u32) | high[lane] ^ high[0];
    }
    wrong == 0
}

/// The part of a window at an address.
#[inline(always)]
fn span(base: u64, len: usize, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    let end = start.checked_add(size)?;
    (end <= len).then_some(start..end)
}

impl<const WORDS: usize> Body for Load<WORDS> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        let (dest, offset, size) = (op.dest as usize, op.numbers[0] as i32, 4 * WORDS);
        for warp in bundle.busy() {
            let at = address(&bundle.rows, op, warp);
            let group = bundle.homes[warp].group;
            if bundle.active[warp] == u16::MAX && consecutive(&at, size as u32) {
                let start = lane_address(&at, 0, offset);
                let window = world.window(group, start);
                let bytes = window.and_then(|(base, bytes)| bytes.get(span(base, bytes.len(), start, LANES * size)?));
                if let Some(bytes) = bytes {
                    for (word, row) in bundle.rows[dest..dest + WORDS].iter_mut().enumerate() {
                        let column = &mut row.0[warp];
                        for lane in 0..LANES {
                            column[lane] = word_at(bytes, WORDS * lane + word);
                        }
                    }
                    continue;
                }
            }
            if let Err(fault) = load_lanes::<WORDS>(bundle, world, warp, &at, offset, dest) {
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
    warp: usize,
    at: &(Column, Column),
    offset: i32,
    dest: usize,
) -> Result<(), Fault> {
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
        let (from, offset, size) = (op.dest as usize, op.numbers[0] as i32, 4 * WORDS);
        for warp in bundle.busy() {
            let at = address(&bundle.rows, op, warp);
            let group = bundle.homes[warp].group;
            if bundle.active[warp] == u16::MAX && consecutive(&at, size as u32) {
                let start = lane_address(&at, 0, offset);
                let window = world.window_mut(group, start);
                let bytes = window.and_then(|(base, bytes)| {
                    let span = span(base, bytes.len(), start, LANES * size)?;
                    bytes.get_mut(span)
                });
                if let Some(bytes) = bytes {
                    let columns: [Column; WORDS] = std::array::from_fn(|word| bundle.rows[from + word].0[warp]);
                    for (lane, chunk) in bytes.chunks_exact_mut(size).enumerate() {
                        for (word, chunk) in chunk.chunks_exact_mut(4).enumerate() {
                            chunk.copy_from_slice(&columns[word][lane].to_le_bytes());
                        }
                    }
                    continue;
                }
            }
            if let Err(fault) = store_lanes::<WORDS>(bundle, world, warp, &at, offset, from) {
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
    warp: usize,
    at: &(Column, Column),
    offset: i32,
    from: usize,
) -> Result<(), Fault> {
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
