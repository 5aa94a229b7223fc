//! Counts how often each instruction of a program executes, and records the memory that it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use isaforge_analysis::profile::Times;
use isaforge_runtime::machine::{At, Observer, View};

use crate::code::Found;
use crate::listing::Listing;
use crate::memory::Address;

/// The number of bytes whose writes are recorded in one mask.
const BLOCK: u64 = 64;

/// Counters of a running program.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The counts of each instruction of the listing, by place.
    pub places: BTreeMap<u64, Times>,
    /// The counts of other instructions, by place and text: code that the program has written, or that is not listed.
    pub unlisted: BTreeMap<(u64, String), Times>,
    /// The warps seen.
    pub warps: BTreeSet<u64>,
    /// The memory written, with its final contents: first address and bytes, in ascending order, the common memory
    /// first.
    pub memory: Vec<(Address, Vec<u8>)>,
    /// Whether some writes were not recorded for lack of space.
    pub partial: bool,
    /// The bytes that the program wrote to streams.
    pub output: Vec<u8>,
    /// The exit status of the program, if it has ended with one.
    pub status: Option<u64>,
    /// By the first address of a block: which bytes were written, and their contents after the last instruction that
    /// wrote them.
    written: BTreeMap<Address, (u64, [u8; BLOCK as usize])>,
}

/// Counts instructions of a running program.
#[derive(Debug)]
pub struct Counting<'a> {
    counts: &'a mut Counts,
    listing: &'a Listing,
    /// The lanes that execute the next instruction.
    active: u64,
    /// Its text, if it is not that of the listing.
    unlisted: Option<String>,
}

impl Counts {
    /// The maximum number of 64-byte blocks whose writes are recorded.
    pub const BLOCKS: usize = 1 << 16;
    /// The maximum number of output bytes that are kept.
    pub const OUTPUT: usize = 1 << 20;

    /// The sum over all instructions.
    pub fn total(&self) -> Times {
        self.places.values().chain(self.unlisted.values()).fold(Times::default(), |mut sum, times| {
            sum += *times;
            sum
        })
    }

    /// Adds the counts of another run of the program. The runs have no common memory or output, so that of neither is
    /// kept.
    pub fn add(&mut self, other: Counts) {
        self.partial |= other.partial || !(self.memory.is_empty() && other.memory.is_empty());
        self.partial |= !(self.output.is_empty() && other.output.is_empty());
        self.memory.clear();
        self.output.clear();
        for (pc, times) in other.places {
            *self.places.entry(pc).or_default() += times;
        }
        for (place, times) in other.unlisted {
            *self.unlisted.entry(place).or_default() += times;
        }
        self.warps.extend(other.warps);
    }

    /// An observer of a program that adds to these counts.
    pub fn of<'a>(&'a mut self, listing: &'a Listing) -> Counting<'a> {
        Counting { counts: self, listing, active: 0, unlisted: None }
    }

    fn write(&mut self, address: Address, size: u8, view: &dyn View) {
        for byte in (0..u64::from(size)).map(|at| address.plus(at)) {
            let block = Address { at: byte.at & !(BLOCK - 1), ..byte };
            if self.written.len() >= Self::BLOCKS && !self.written.contains_key(&block) {
                self.partial = true;
                return;
            }
            let (mask, bytes) = self.written.entry(block).or_insert((0, [0; BLOCK as usize]));
            let at = (byte.at % BLOCK) as usize;
            *mask |= 1 << at;
            // What cannot be read is left out at the program's end.
            let _ = byte.read(view, 0, &mut bytes[at..=at]);
        }
    }

    /// Takes memory as it was last written: for a program that has failed, so that nobody sees its end. Memory that is
    /// not the same for all lanes is among it.
    pub fn fail(&mut self) {
        self.leave(&|_, known| Some(known));
    }

    /// Takes memory from `read`, which gets an address and what was last written there.
    fn leave(&mut self, read: &dyn Fn(Address, u8) -> Option<u8>) {
        for (block, (mask, bytes)) in std::mem::take(&mut self.written) {
            for (at, known) in (0..BLOCK).zip(bytes).filter(|(at, _)| mask >> at & 1 != 0) {
                let byte = block.plus(at);
                let Some(value) = read(byte, known) else { continue };
                match self.memory.last_mut() {
                    Some((first, bytes)) if first.plus(bytes.len() as u64) == byte => bytes.push(value),
                    _ => self.memory.push((byte, vec![value])),
                }
            }
        }
    }
}

impl Observer for Counting<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let At { pc, active, .. } = view.at();
        self.active = active;
        self.unlisted = match self.listing.find(view, pc) {
            Some(Found::Listed(_)) => None,
            Some(Found::Fetched(line)) => Some(line.text.clone()),
            None => Some(String::new()),
        };
        ControlFlow::Continue(())
    }

    // Count after execution: an instruction that fails is not executed, and one that stalls is observed several times
    // before it.
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        let counts = &mut *self.counts;
        let times = match self.unlisted.take() {
            Some(text) => counts.unlisted.entry((at.pc, text)).or_default(),
            None => counts.places.entry(at.pc).or_default(),
        };
        *times += Times { warps: 1, threads: self.active.count_ones().into() };
        if counts.warps.len() < Counts::BLOCKS {
            counts.warps.insert(at.warp);
        }
        for access in view.accesses().iter().filter(|access| access.stores()) {
            counts.write(Address { space: access.space, at: access.address }, access.size, view);
        }
        ControlFlow::Continue(())
    }

    fn output(&mut self, _: u64, bytes: &[u8]) {
        let counts = &mut *self.counts;
        let room = Counts::OUTPUT.saturating_sub(counts.output.len());
        counts.partial |= bytes.len() > room;
        counts.output.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end(&mut self, view: &dyn View) {
        self.counts.status = view.exit_status();
        self.counts.leave(&|byte, _| {
            let mut value = [0];
            byte.read(view, 0, &mut value).map(|()| value[0])
        });
    }
}
