//! One instruction of a program: what it is called, what it names, what it reads and writes, where execution goes on.

mod groups;
mod streams;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use isaforge_core::Tables;
use isaforge_core::program::label_of;

use crate::effects::{Effects, When};
use crate::set::Set;

/// A register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// Index into the banks of the instruction set; for groups the number of the bank.
    pub bank: u16,
    /// Its number.
    pub index: u32,
}

/// An instruction of a program, or bytes that are none.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it stands in the program's bytes.
    pub bytes: Range<usize>,
    /// The instruction, or why there is none.
    pub instruction: Result<Instruction, String>,
}

/// A valid instruction.
#[derive(Clone, Debug, Default)]
pub struct Instruction {
    /// Its name; for groups the names of their operations.
    pub mnemonic: String,
    /// Its text, with numbers for branch targets.
    pub text: String,
    /// Modifiers that are not at their defaults.
    pub modifiers: Vec<Modifier>,
    /// Its operands, in the order of the specification.
    pub operands: Vec<Operand>,
    /// The registers that it reads, each once.
    pub reads: Vec<Register>,
    /// Those of them that are marked as read for the last time.
    pub last: Vec<Register>,
    /// The registers that it writes, each once, and whether each is overwritten as a whole.
    pub writes: Vec<(Register, bool)>,
    /// Where execution goes on.
    pub flow: Flow,
    /// Whether it does nothing but compute what it writes to registers.
    pub pure: bool,
}

/// A modifier of an instruction or of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// Its name; with that of the operand before a dot where it belongs to one.
    pub name: String,
    /// Its bits.
    pub value: u64,
    /// Its value in assembly.
    pub text: String,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its name in the specification.
    pub name: &'static str,
    /// Which of its kind's readings it has, or `number`.
    pub kind: &'static str,
    /// Its value: a number as written, of a register the number of the register, else the bits.
    pub value: i64,
    /// It in assembly.
    pub text: String,
}

/// Where execution goes on after an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Whether it branches.
    pub branch: When,
    /// The address that a branch leads to, where the instruction says it.
    pub target: Option<u64>,
    /// The branch keeps where the next instruction stands, so that it may come back.
    pub calls: bool,
    /// Whether the thread ends.
    pub end: When,
    /// The slots of the messages that it sends, bit 0 for slot 0.
    pub sends: u8,
    /// The slots whose messages it waits for after it, bit 0 for slot 0.
    pub waits: u8,
    /// Threads that have parted meet again behind it.
    pub reconverges: bool,
    /// Threads that only help others end behind it.
    pub discards: bool,
    /// The threads of a workgroup wait for each other.
    pub barrier: bool,
}

impl Flow {
    /// Whether execution may go on at the next instruction.
    pub fn falls_through(&self) -> bool {
        self.end != When::Always && (self.branch != When::Always || self.calls)
    }

    /// What it is, in a word: `next`, `branch`, `jump`, `call`, `end`.
    pub fn name(&self) -> &'static str {
        match (self.branch, self.calls, self.end) {
            (_, _, When::Always) | (When::Never, _, When::Sometimes) => "end",
            (When::Never, ..) => "next",
            (_, true, _) => "call",
            (When::Always, ..) => "jump",
            (When::Sometimes, ..) => "branch",
        }
    }
}

/// The instructions of a program, one after another. Bytes that are no instruction take as many as the set's unit, or as the
/// header of a group says.
pub fn entries<'a>(set: &'a Set, bytes: &'a [u8]) -> Box<dyn Iterator<Item = Entry> + 'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::read(set, isa, bytes)),
        Tables::Groups(isa) => Box::new(groups::read(set, isa, bytes)),
        Tables::Streams(engine) => Box::new(streams::read(set, engine, bytes)),
    }
}

/// The addresses of instructions, and those that they may branch to.
fn targets<'a>(set: &Set, bytes: &'a [u8]) -> Box<dyn Iterator<Item = (usize, Option<u64>)> + 'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::targets(isa, set.tables.unit(), bytes)),
        Tables::Groups(isa) => Box::new(groups::targets(isa, bytes)),
        Tables::Streams(engine) => Box::new(streams::targets(engine, bytes)),
    }
}

/// The addresses of the instructions of a program, as [`entries`] has them.
pub fn places<'a>(set: &Set, bytes: &'a [u8]) -> Box<dyn Iterator<Item = usize> + 'a> {
    Box::new(targets(set, bytes).map(|(at, _)| at))
}

/// The places of a program that branches lead to: the address of each, and its name. The program's end may be one.
///
/// For programs that are too large to be kept as a whole: with [`entries`] it takes no memory but what it returns.
///
/// ```
/// use isaforge_analysis::{Set, entry::labels};
/// use isaforge_core::Tables;
///
/// let set = Set::new(Tables::Words(isaforge_valhall::ISA), None);
/// let words = set.tables.assemble("NOP\nagain: NOP\nBRANCHZ.eq 0x0, again\n");
/// assert_eq!(labels(&set, &words.bytes), [(8, "l1".to_owned())].into());
/// ```
pub fn labels(set: &Set, bytes: &[u8]) -> BTreeMap<usize, String> {
    let wanted: BTreeSet<usize> = targets(set, bytes).filter_map(|(_, target)| usize::try_from(target?).ok()).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let places = places(set, bytes).chain([bytes.len()]).enumerate();
    places.filter(|(_, at)| wanted.contains(at)).map(|(place, at)| (at, label_of(place))).collect()
}

/// Adds the implicit registers, which no operand names: those that are states, and those of calls of the surroundings.
fn implicit(set: &Set, effects: Option<&Effects>, reads: &mut Vec<Register>, writes: &mut Vec<(Register, bool)>) {
    let Some(effects) = effects else { return };
    effects.reads.iter().filter_map(|state| set.register(*state)).for_each(|register| once(reads, register));
    for intrinsic in &effects.intrinsics {
        let (read, written) = set.called(*intrinsic);
        read.into_iter().for_each(|register| once(reads, register));
        written.into_iter().for_each(|register| write(writes, register, false));
    }
    for (state, always) in &effects.writes {
        if let Some(register) = set.register(*state) {
            write(writes, register, *always);
        }
    }
}

/// Adds what is not there yet, in order.
fn once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Adds a register that is written: as a whole if one of its writes does so.
fn write(list: &mut Vec<(Register, bool)>, register: Register, whole: bool) {
    match list.iter_mut().find(|(known, _)| *known == register) {
        Some((_, known)) => *known |= whole,
        None => list.push((register, whole)),
    }
}
