//! Loads and stores of any size, for lanes at arbitrary addresses, one lane at a time.

use super::bundle::Bundle;
use super::column::holds;
use super::memory_view::{Located, MemoryView};
use crate::memory::Memory;
use crate::valhall::step::Fault;
use crate::valhall::warp::{LANES, lanes};

/// The maximum size of an access in bytes: two words, or all parts of an access with parts.
const MAX_BYTES: usize = 64;

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub stores: bool,
    /// The size of the whole access in bytes.
    pub size: u8,
    /// The first loaded byte within the access, and the number of loaded bytes.
    pub from: u8,
    pub bytes: u8,
    /// The rows of the address.
    pub address: [u16; 2],
    /// The rows of the data, one for each word. Stores with more than two words use the consecutive rows in `many`.
    pub data: [u16; 2],
    /// The index of the rows of a store with more words in the program's table.
    pub many: u16,
    /// The row of the condition, if there is one.
    pub when: Option<u16>,
    /// The index of the word in the program.
    pub pc: u32,
}

impl Access {
    /// Returns the access with its rows replaced.
    #[inline]
    pub fn moved(&self, place: impl Fn(u16) -> u16) -> Self {
        let rows = |rows: [u16; 2]| rows.map(&place);
        Access { address: rows(self.address), data: rows(self.data), when: self.when.map(&place), ..*self }
    }

    /// Executes the access for the active lanes. Returns false if it left a fault in the bundle.
    #[inline(never)]
    pub fn run(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        for warp in bundle.busy() {
            let done = if self.stores { self.store(bundle, view, warp) } else { self.load(bundle, view, warp) };
            if let Err(fault) = done {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }

    fn load(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize) -> Result<(), Fault> {
        let ((active, places), home) = (places(bundle, warp, self.address, self.when), bundle.homes[warp]);
        let (size, from, bytes) = (usize::from(self.size), usize::from(self.from), usize::from(self.bytes));
        let mut values = [0; LANES];
        let first = places[active.trailing_zeros() as usize % LANES];
        let mut left = active;
        if let Some((base, window)) = view.around(self.pc, home.group, first, size) {
            for lane in lanes(active) {
                let start = places[lane].checked_sub(base).and_then(|start| usize::try_from(start).ok());
                if let Some(found) = start.and_then(|start| window.get(start..)?.get(..size)) {
                    values[lane] = number(&found[from..from + bytes]);
                    left &= !(1 << lane);
                }
            }
        }
        for lane in lanes(left) {
            let mut whole = [0; MAX_BYTES];
            let whole = &mut whole[..size];
            let read = view.space(home).read(lane, places[lane], whole);
            read.map_err(|fault| Fault::Memory { lane, fault })?;
            values[lane] = number(&whole[from..from + bytes]);
        }
        let [low, high] = self.data.map(usize::from);
        bundle.rows[low].0[warp] = values.map(|value| value as u32);
        if bytes > 4 {
            bundle.rows[high].0[warp] = values.map(|value| (value >> 32) as u32);
        }
        Ok(())
    }

    fn store(&self, bundle: &Bundle, view: &mut MemoryView<'_>, warp: usize) -> Result<(), Fault> {
        let ((active, places), home) = (places(bundle, warp, self.address, self.when), bundle.homes[warp]);
        let size = usize::from(self.size);
        let rows = match size {
            0..=8 => &self.data[..],
            _ => bundle.stored.get(usize::from(self.many)..).unwrap_or_default(),
        };
        for lane in lanes(active) {
            let mut whole = [0; MAX_BYTES];
            for (word, row) in whole.as_chunks_mut::<4>().0.iter_mut().zip(rows).take(size.div_ceil(4)) {
                *word = bundle.rows[usize::from(*row)].0[warp][lane].to_le_bytes();
            }
            match view.bytes_mut(self.pc, home.group, places[lane], size) {
                Some(bytes) => bytes.copy_from_slice(&whole[..size]),
                None => {
                    let written = view.space(home).write(lane, places[lane], &whole[..size]);
                    written.map_err(|fault| Fault::Memory { lane, fault })?;
                }
            }
        }
        Ok(())
    }
}

/// The maximum number of lanes whose locations are recorded one by one.
const MAX_RECORDED: u64 = 16;

impl MemoryView<'_> {
    /// Returns the locations that the active lanes would access at the addresses in two rows, if they are few.
    pub fn places(&self, bundle: &Bundle, [low, high]: [u32; 2]) -> Vec<Located> {
        let mut places = Vec::new();
        if bundle.active_threads() > MAX_RECORDED {
            return places;
        }
        let [low, high] = [low, high].map(|row| bundle.rows[row as usize].0);
        for warp in bundle.busy() {
            for lane in lanes(bundle.active[warp]) {
                let address = u64::from(high[warp][lane]) << 32 | u64::from(low[warp][lane]);
                let own = || self.place_of(bundle.homes[warp].group, address).filter(|_| self.own().contains(&address));
                places.extend(match Memory::RESERVED.contains(&address) {
                    true => own().map(Located::Shared),
                    false => Some(Located::Mapped(address)),
                });
            }
        }
        places
    }
}

/// Returns the active lanes of a warp for which a condition holds, and the addresses in two rows.
#[inline(always)]
pub fn places(bundle: &Bundle, warp: usize, address: [u16; 2], when: Option<u16>) -> (u16, [u64; LANES]) {
    let column = |row: u16| &bundle.rows[usize::from(row)].0[warp];
    let active = bundle.active[warp] & when.map_or(u16::MAX, |row| holds(column(row)));
    let [low, high] = address.map(column);
    (active, std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane])))
}

/// Returns the little-endian number in some bytes.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
