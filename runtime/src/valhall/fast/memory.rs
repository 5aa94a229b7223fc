//! Loads and stores of whole words. Lanes with consecutive addresses are handled by one copy.

use super::bundle::{Bundle, Row, WARPS};
use super::column::blend;
use super::fields::Fields;
use super::handler::Body;
use super::memory_view::MemoryView;
use super::reach::{self, address};
use crate::valhall::step::Fault;
use crate::valhall::warp::{Column, LANES, lanes};

/// Loads `WORDS` words; the address is in two rows, the offset in the first number.
pub struct Load<const WORDS: usize>;

/// Stores `WORDS` words from the rows that begin at `dest`; the address is as for [`Load`].
pub struct Store<const WORDS: usize>;

/// Returns the words of lanes with consecutive addresses as columns; zeros if there are too few bytes.
#[inline(always)]
fn unpack<const WORDS: usize>(bytes: &[u8]) -> [Column; WORDS] {
    let mut columns = [[0; LANES]; WORDS];
    let (words, _) = bytes.as_chunks::<4>();
    if words.len() >= WORDS * LANES {
        for lane in 0..LANES {
            for (word, column) in columns.iter_mut().enumerate() {
                column[lane] = u32::from_le_bytes(words[WORDS * lane + word]);
            }
        }
    }
    columns
}

/// Does the reverse; does nothing if there are too few bytes.
#[inline(always)]
fn pack<const WORDS: usize>(columns: &[Column; WORDS], bytes: &mut [u8]) {
    let (words, _) = bytes.as_chunks_mut::<4>();
    if words.len() >= WORDS * LANES {
        for lane in 0..LANES {
            for (word, column) in columns.iter().enumerate() {
                words[WORDS * lane + word] = column[lane].to_le_bytes();
            }
        }
    }
}

impl<const WORDS: usize> Body for Load<WORDS> {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
        let (dest, size) = (op.dest as usize, 4 * WORDS);
        if let Some(start) = reach::bundle(bundle, view, op, size as u32)
            && let Some(bytes) = view.stream(op.pc, bundle.homes[0].group, start, WARPS * LANES * size)
        {
            let rows = &mut bundle.rows[dest..dest + WORDS];
            for (warp, bytes) in bytes.chunks_exact(LANES * size).take(WARPS).enumerate() {
                for (row, column) in rows.iter_mut().zip(unpack::<WORDS>(bytes)) {
                    row.0[warp] = column;
                }
            }
            return true;
        }
        let (starts, together) = reach::warps(bundle, op, size as u32);
        for warp in bundle.busy() {
            if together >> warp & 1 != 0
                && let Some(bytes) = view.bytes(op.pc, bundle.homes[warp].group, starts[warp], LANES * size)
            {
                for (word, column) in unpack::<WORDS>(bytes).iter().enumerate() {
                    bundle.set::<WHOLE>(dest + word, warp, column);
                }
            } else if let Err(fault) = load_lanes::<WORDS>(bundle, view, op, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }
}

/// Loads for lanes at arbitrary addresses; usually all of them are in the region of the first.
#[inline(never)]
fn load_lanes<const WORDS: usize>(
    bundle: &mut Bundle,
    view: &mut MemoryView<'_>,
    op: &Fields,
    warp: usize,
) -> Result<(), Fault> {
    let (dest, home, size) = (op.dest as usize, bundle.homes[warp], 4 * WORDS);
    let (starts, mut left) = (addresses(bundle, op, warp), bundle.active[warp]);
    let first = starts[left.trailing_zeros() as usize % LANES];
    let rows = &mut bundle.rows[dest..dest + WORDS];
    if let Some((base, bytes)) = view.around(op.pc, home.group, first, size) {
        for lane in lanes(left) {
            if let Some(bytes) = within(base, starts[lane]).and_then(|start| bytes.get(start..)?.get(..size)) {
                for (row, bytes) in rows.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    row.0[warp][lane] = u32::from_le_bytes(*bytes);
                }
                left &= !(1 << lane);
            }
        }
    }
    for lane in lanes(left) {
        let mut words = [[0; 4]; WORDS];
        match view.bytes(op.pc, home.group, starts[lane], size) {
            Some(bytes) => words.as_flattened_mut().copy_from_slice(bytes),
            None => {
                let read = view.space(home).read(lane, starts[lane], words.as_flattened_mut());
                read.map_err(|fault| Fault::Memory { lane, fault })?;
            }
        }
        for (row, word) in rows.iter_mut().zip(words) {
            row.0[warp][lane] = u32::from_le_bytes(word);
        }
    }
    Ok(())
}

/// Returns the address that each lane of a warp accesses.
fn addresses(bundle: &Bundle, op: &Fields, warp: usize) -> Column<u64> {
    let [low, high] = [0, 1].map(|word| &bundle.rows[op.sources[word] as usize].0[warp]);
    std::array::from_fn(|lane| address(op, low[lane], high[lane]))
}

/// Returns the offset of an address from a base.
fn within(base: u64, address: u64) -> Option<usize> {
    usize::try_from(address.checked_sub(base)?).ok()
}

impl<const WORDS: usize> Body for Store<WORDS> {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
        let (from, size) = (op.dest as usize, 4 * WORDS);
        if let Some(start) = reach::bundle(bundle, view, op, size as u32)
            && let Some(bytes) = view.bytes_mut(op.pc, bundle.homes[0].group, start, WARPS * LANES * size)
        {
            let rows = &bundle.rows[from..from + WORDS];
            for (warp, bytes) in bytes.chunks_exact_mut(LANES * size).take(WARPS).enumerate() {
                pack::<WORDS>(&columns(rows, warp), bytes);
            }
            return true;
        }
        let (starts, together) = reach::warps(bundle, op, size as u32);
        for warp in bundle.busy() {
            if together >> warp & 1 != 0
                && let Some(bytes) = view.bytes_mut(op.pc, bundle.homes[warp].group, starts[warp], LANES * size)
            {
                // Keeps the words of inactive lanes.
                let mut words = unpack::<WORDS>(bytes);
                for (old, new) in words.iter_mut().zip(columns::<WORDS>(&bundle.rows[from..from + WORDS], warp)) {
                    *old = blend(old, &new, bundle.mask(warp));
                }
                pack::<WORDS>(&words, bytes);
            } else if let Err(fault) = store_lanes::<WORDS>(bundle, view, op, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }
}

/// Returns the columns of a warp in consecutive rows.
#[inline(always)]
fn columns<const WORDS: usize>(rows: &[Row<WARPS>], warp: usize) -> [Column; WORDS] {
    let mut columns = [[0; LANES]; WORDS];
    for (column, row) in columns.iter_mut().zip(rows) {
        *column = row.0[warp];
    }
    columns
}

/// Stores for lanes at arbitrary addresses, like [`load_lanes`].
#[inline(never)]
fn store_lanes<const WORDS: usize>(
    bundle: &Bundle,
    view: &mut MemoryView<'_>,
    op: &Fields,
    warp: usize,
) -> Result<(), Fault> {
    let (from, home, size) = (op.dest as usize, bundle.homes[warp], 4 * WORDS);
    let (starts, mut left) = (addresses(bundle, op, warp), bundle.active[warp]);
    let first = starts[left.trailing_zeros() as usize % LANES];
    let rows = &bundle.rows[from..from + WORDS];
    if let Some((base, bytes)) = view.around_mut(op.pc, home.group, first, size) {
        for lane in lanes(left) {
            if let Some(bytes) = within(base, starts[lane]).and_then(|start| bytes.get_mut(start..)?.get_mut(..size)) {
                for (row, bytes) in rows.iter().zip(bytes.as_chunks_mut::<4>().0) {
                    *bytes = row.0[warp][lane].to_le_bytes();
                }
                left &= !(1 << lane);
            }
        }
    }
    for lane in lanes(left) {
        let mut words = [[0; 4]; WORDS];
        for (word, row) in words.iter_mut().zip(rows) {
            *word = row.0[warp][lane].to_le_bytes();
        }
        match view.bytes_mut(op.pc, home.group, starts[lane], size) {
            Some(bytes) => bytes.copy_from_slice(words.as_flattened()),
            None => {
                let written = view.space(home).write(lane, starts[lane], words.as_flattened());
                written.map_err(|fault| Fault::Memory { lane, fault })?;
            }
        }
    }
    Ok(())
}
