//! A program: all its instructions and labels.

use std::collections::{BTreeMap, BTreeSet};

use crate::entry::{self, Entry, Instruction};
use crate::registers::Register;
use crate::set::Set;

/// A program.
#[derive(Clone, Debug)]
pub struct Program<'s> {
    /// Its instruction set.
    pub set: &'s Set,
    /// Its instructions, sorted by address.
    pub entries: Vec<Entry>,
    /// The labels, by the index of their entry (the number of entries for the program's end): those of branch targets,
    /// and others that were [`named`](Program::named).
    pub labels: BTreeMap<usize, String>,
    /// The indices of the entries where execution may start; only the first one by default.
    pub entry_points: Vec<usize>,
}

impl<'s> Program<'s> {
    /// Reads the bytes of a program in memory order.
    ///
    /// ```
    /// use isaforge_analysis::{Program, Set};
    /// use isaforge_core::Tables;
    /// use isaforge_valhall::{ISA, semantics::SEMANTICS};
    ///
    /// let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), None);
    /// let program = Program::read(&set, &0x0091_c100_0000_0002_u64.to_le_bytes());
    /// let mov = program.entries[0].instruction.as_ref().expect("it is one");
    /// assert_eq!((mov.text.as_str(), set.name(mov.reads[0])), ("MOV.i32 r1, r2", "r2".to_owned()));
    /// ```
    pub fn read(set: &'s Set, bytes: &[u8]) -> Self {
        let entries = entry::entries(set, bytes).collect();
        let mut program = Program { set, entries, labels: BTreeMap::new(), entry_points: vec![0] };
        program.mask_writes();
        program.mask_lanes();
        program.labels = program.places(entry::labels(set, bytes));
        program.find_returns();
        program
    }

    /// Renames the labels at addresses as [`entry::rename`] does.
    #[must_use]
    pub fn named(mut self, names: &BTreeMap<usize, String>) -> Self {
        let names = self.places(names.clone());
        entry::rename(&mut self.labels, &names);
        self
    }

    /// The names of addresses by the indices of their entries.
    fn places(&self, names: BTreeMap<usize, String>) -> BTreeMap<usize, String> {
        names.into_iter().filter_map(|(at, name)| Some((self.place(at as u64)?, name))).collect()
    }

    /// All instructions, without the bytes that do not decode.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.entries.iter().filter_map(|entry| entry.instruction.as_ref().ok())
    }

    /// The instruction of an entry, if its bytes decode.
    pub(crate) fn instruction(&self, entry: usize) -> Option<&Instruction> {
        self.entries.get(entry)?.instruction.as_ref().ok()
    }

    /// The entries that read or write each of some registers, or call programs that may write them, in order.
    pub(crate) fn uses(&self, of: impl IntoIterator<Item = Register>) -> BTreeMap<Register, Vec<usize>> {
        let mut uses: BTreeMap<Register, Vec<usize>> = of.into_iter().map(|register| (register, Vec::new())).collect();
        for (index, entry) in self.entries.iter().enumerate() {
            let accesses = |one| Instruction::registers(one).chain(one.clobbers());
            for register in entry.instruction.iter().flat_map(accesses) {
                if let Some(uses) = uses.get_mut(&register).filter(|uses| uses.last() != Some(&index)) {
                    uses.push(index);
                }
            }
        }
        uses
    }

    /// Where lanes may be turned off, those that skip an instruction keep what its destinations hold.
    fn mask_writes(&mut self) {
        let written: BTreeSet<u16> = self.instructions().flat_map(|one| one.states.iter().copied()).collect();
        let instructions = self.entries.iter_mut().filter_map(|entry| entry.instruction.as_mut().ok());
        for one in instructions.filter(|one| one.mask.is_some_and(|mask| written.contains(&mask))) {
            one.writes.iter_mut().for_each(|(_, whole)| *whole = false);
        }
    }

    /// The number of instructions whose operation the specification does not define. Those with a branch target are taken
    /// for conditional branches.
    pub fn unknown(&self) -> usize {
        self.instructions().filter(|one| !one.flow.known).count()
    }

    /// Adds an entry point: an entry at which another program starts.
    pub fn enter(&mut self, entry: usize) {
        self.entry_points.push(entry);
        self.find_returns();
    }

    /// The label of the place to which an instruction branches, if that is encoded in it.
    pub fn target_label(&self, instruction: &Instruction) -> Option<&str> {
        self.labels.get(&self.place(instruction.flow.target?)?).map(String::as_str)
    }

    /// The offset of an entry, or of the end of the program.
    pub fn offset(&self, entry: usize) -> usize {
        let end = || self.entries.last().map_or(0, |last| last.bytes.end);
        self.entries.get(entry).map_or_else(end, |entry| entry.bytes.start)
    }

    /// The address of an entry, or of the end of the program.
    pub fn address(&self, entry: usize) -> u64 {
        self.set.address(self.offset(entry) as u64)
    }

    /// The index of the entry at an offset, or the number of entries for the end of the program.
    pub fn place(&self, offset: u64) -> Option<usize> {
        let offset = usize::try_from(offset).ok()?;
        if offset == self.offset(self.entries.len()) {
            return Some(self.entries.len());
        }
        self.entries.binary_search_by_key(&offset, |entry| entry.bytes.start).ok()
    }
}

impl Entry {
    /// The branch target, if it is encoded in the instruction.
    pub fn target(&self) -> Option<u64> {
        self.instruction.as_ref().ok()?.flow.target
    }
}
