//! Instructions as they are executed: a program whose code is in memory may write it, or execute what is not listed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::rc::Rc;

use isaforge_analysis::{Set, entry};
use isaforge_core::Tables;
use isaforge_runtime::machine::{Machine, View};

use crate::listing::{Line, Listing};
use crate::memory::Address;

/// The maximum number of instructions outside the listing that are kept.
const MAX_KNOWN: usize = 1 << 16;
/// The number of bytes that are compared at once.
const CHUNK: usize = 64;

/// An instruction at a place.
#[derive(Clone, Debug)]
pub enum Found<'l> {
    /// It is that of the listing.
    Listed(&'l Line),
    /// It is not listed: memory has it there now.
    Fetched(Rc<Line>),
}

impl Deref for Found<'_> {
    type Target = Line;

    fn deref(&self) -> &Line {
        match self {
            Found::Listed(line) => line,
            Found::Fetched(line) => line,
        }
    }
}

/// Instructions by address, each with its bytes.
type Known = HashMap<u64, (Vec<u8>, Rc<Line>)>;

/// Code in the memory that all lanes share, where a `pc` is an address.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    set: Set,
    /// The address of the first byte that is listed.
    base: u64,
    /// The bytes that are listed.
    listed: Vec<u8>,
    /// The ranges of memory that are mapped.
    mapped: Vec<Range<u64>>,
    /// Those fetched so far.
    known: RefCell<Known>,
}

impl Code {
    /// The code of a machine. `None` if it is apart from memory, where no program can change it.
    pub(crate) fn of(machine: &dyn Machine, set: &Set) -> Option<Self> {
        let (base, listed, mapped) = (machine.base(), machine.code().to_vec(), machine.fetches().to_vec());
        (!mapped.is_empty()).then(|| Code { set: set.clone(), base, listed, mapped, known: RefCell::default() })
    }

    /// Whether memory still has an instruction of the listing.
    pub(crate) fn holds(&self, view: &dyn View, line: &Line) -> bool {
        let [from, to] = [line.pc, line.next].map(|at| at.wrapping_sub(self.base) as usize);
        let chunks = self.listed.get(from..to).unwrap_or_default().chunks(CHUNK);
        chunks.zip((line.pc..).step_by(CHUNK)).all(|(chunk, at)| {
            let bytes = &mut [0; CHUNK][..chunk.len()];
            view.memory(0, at, bytes).is_some() && bytes == chunk
        })
    }

    /// The instruction that memory has at an address. `None` if it has none there.
    pub(crate) fn fetch(&self, listing: &Listing, view: &dyn View, pc: u64) -> Option<Rc<Line>> {
        let mut bytes = [0; 1 << u8::BITS];
        let bytes = &mut bytes[..longest(self.set.tables)];
        let mapped = Address { space: None, at: pc }.read_mapped(view, 0, bytes);
        let bytes = &bytes[..mapped];
        let mut known = self.known.borrow_mut();
        if let Some((_, line)) = known.get(&pc).filter(|(same, _)| bytes.starts_with(same)) {
            return Some(line.clone());
        }
        let set = self.set.clone().at(pc);
        let entry = entry::entries(&set, bytes).next().filter(|entry| entry.instruction.is_ok())?;
        let target = entry.target().map(|offset| pc.wrapping_add(offset));
        let label = |pc| listing.at(pc).and_then(|index| listing.lines[index].label.as_deref());
        let line = Rc::new(Line {
            pc,
            next: pc.wrapping_add(entry.bytes.end as u64),
            label: label(pc).map(str::to_owned),
            line: listing.at(pc).and_then(|index| listing.lines[index].line),
            target,
            ..Line::new(&entry, target.and_then(label))
        });
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(pc, (bytes[..entry.bytes.end].to_vec(), line.clone()));
        Some(line)
    }

    /// Checks that instructions may be at an address.
    ///
    /// # Errors
    /// Why none can be executed there.
    pub(crate) fn check(&self, pc: u64) -> Result<(), String> {
        let unit = self.set.tables.unit() as u64;
        if !pc.is_multiple_of(unit) {
            return Err(format!("no instruction can be at {pc:#x}, which is not a multiple of {unit}"));
        }
        match self.mapped.iter().any(|range| range.contains(&pc)) {
            true => Ok(()),
            false => Err(format!("no instruction can be at {pc:#x}: nothing is mapped there")),
        }
    }
}

/// The length of the longest instruction of a set in bytes.
fn longest(tables: Tables) -> usize {
    match tables {
        Tables::Words(_) => tables.unit(),
        Tables::Groups(isa) => isa.longest.into(),
        Tables::Streams(engine) => engine.stream.longest.into(),
    }
}
