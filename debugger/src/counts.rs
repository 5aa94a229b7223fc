//! How often each instruction of a program is executed, and which memory it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use isaforge_analysis::profile::Times;
use isaforge_runtime::machine::{AccessKind, Observer, View};

/// Bytes of memory whose writes are known by one mask.
const BLOCK: u64 = 64;

/// Counts while a program runs.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By place.
    pub places: BTreeMap<u64, Times>,
    /// Warps that there were.
    pub warps: BTreeSet<u64>,
    /// Memory that was written, as the program leaves it: the first address and the bytes, in ascending order.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Whether more was written than is kept.
    pub partial: bool,
    /// What the program wrote to streams.
    pub output: Vec<u8>,
    written: BTreeMap<u64, u64>,
    /// The lanes that execute the instruction that is next.
    active: u64,
}

impl Counts {
    /// Blocks of 64 bytes whose writes are known.
    pub const BLOCKS: usize = 1 << 16;
    /// Bytes that are kept of what a program writes to streams.
    pub const OUTPUT: usize = 1 << 20;

    /// All instructions together.
    pub fn total(&self) -> Times {
        self.places.values().fold(Times::default(), |mut sum, times| {
            sum += *times;
            sum
        })
    }

    /// Adds what was counted in another run of the program; memory is that of this one.
    pub fn add(&mut self, other: Counts) {
        for (pc, times) in other.places {
            *self.places.entry(pc).or_default() += times;
        }
        self.warps.extend(other.warps);
    }

    fn write(&mut self, address: u64, size: u8) {
        for byte in (0..u64::from(size)).map(|at| address.wrapping_add(at)) {
            if self.written.len() >= Self::BLOCKS && !self.written.contains_key(&(byte / BLOCK)) {
                self.partial = true;
                return;
            }
            *self.written.entry(byte / BLOCK).or_default() |= 1 << (byte % BLOCK);
        }
    }
}

impl Observer for Counts {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.active = view.at().active;
        ControlFlow::Continue(())
    }

    // What fails has not been executed, and what has stalled is seen before it more than once.
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        *self.places.entry(at.pc).or_default() += Times { warps: 1, threads: self.active.count_ones().into() };
        if self.warps.len() < Self::BLOCKS {
            self.warps.insert(at.warp);
        }
        for access in view.accesses().iter().filter(|access| access.kind != AccessKind::Load) {
            self.write(access.address, access.size);
        }
        ControlFlow::Continue(())
    }

    fn output(&mut self, _: u64, bytes: &[u8]) {
        let room = Self::OUTPUT.saturating_sub(self.output.len());
        self.partial |= bytes.len() > room;
        self.output.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end(&mut self, view: &dyn View) {
        for (block, mask) in std::mem::take(&mut self.written) {
            for byte in (0..BLOCK).filter(|byte| mask >> byte & 1 != 0).map(|byte| block * BLOCK + byte) {
                let mut value = [0];
                if view.memory(0, byte, &mut value).is_none() {
                    continue;
                }
                match self.memory.last_mut() {
                    Some((first, bytes)) if *first + bytes.len() as u64 == byte => bytes.push(value[0]),
                    _ => self.memory.push((byte, value.to_vec())),
                }
            }
        }
    }
}
