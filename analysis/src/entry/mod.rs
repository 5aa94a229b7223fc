//! One instruction of a program: its text, operands, register accesses and control flow.

mod groups;
mod streams;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use isaforge_core::Tables;
use isaforge_core::program::label_of;
use isaforge_core::semantics::{Op, Semantics};
use isaforge_core::table::Access;

use crate::effects::{Effects, When};
use crate::implied::{Accesses, Implied};
use crate::set::Set;

/// A register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// Index into the banks of the instruction set; for groups, the bank's number.
    pub bank: u16,
    /// Its number within the bank.
    pub index: u32,
}

/// An instruction of a program, or bytes that do not decode.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its range in the program's bytes.
    pub bytes: Range<usize>,
    /// The instruction, or the reason why the bytes do not decode.
    pub instruction: Result<Instruction, String>,
}

/// A valid instruction.
#[derive(Clone, Debug, Default)]
pub struct Instruction {
    /// Its mnemonic; for groups, the names of all their operations.
    pub mnemonic: String,
    /// Its assembly text, with numeric branch targets.
    pub text: String,
    /// The modifiers whose values are not the default.
    pub modifiers: Vec<Modifier>,
    /// Its operands, in the order of the specification.
    pub operands: Vec<Operand>,
    /// The registers it reads, without duplicates.
    pub reads: Vec<Register>,
    /// The registers it reads that are marked as read for the last time.
    pub last: Vec<Register>,
    /// The registers it writes, without duplicates, and whether each is overwritten completely.
    pub writes: Vec<(Register, bool)>,
    /// How control flow continues.
    pub flow: Flow,
    /// Whether it has no effect other than writing registers.
    pub pure: bool,
    /// Whether what it does depends on the number of the lane.
    pub lane: bool,
    /// Ranges of a bank that it may read besides.
    pub(crate) may_read: Vec<(u16, Range<u32>)>,
    /// The state that says which lanes execute it, unless all active ones do.
    pub(crate) mask: Option<u16>,
    /// The states that it writes.
    pub(crate) states: Vec<u16>,
    /// What it accesses without an operand.
    accesses: Accesses,
    /// The lists of registers whose length is not that of what the operation accesses.
    pub(crate) lists: Vec<List>,
}

impl Instruction {
    /// The registers and states that it reads or writes without an operand that names them.
    pub fn implied(&self, set: &Set, write: bool) -> Vec<Implied> {
        self.accesses.named(set, write)
    }

    /// Whether it calls an intrinsic.
    pub(crate) fn calls(&self, intrinsic: u16) -> bool {
        self.accesses.calls(intrinsic)
    }

    /// The registers that it reads, then those that it writes.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Register> {
        self.reads.iter().chain(self.writes.iter().map(|(register, _)| register)).copied()
    }

    /// Whether it writes a register or a part of it.
    pub(crate) fn writes_to(&self, register: Register) -> bool {
        self.writes.iter().any(|(written, _)| *written == register)
    }
}

/// A list of registers whose length is not that of what the operation accesses.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The name of its operand.
    pub(crate) operand: &'static str,
    /// The number of registers that it names.
    pub(crate) named: u32,
    /// The number of registers that the operation accesses.
    pub(crate) accessed: u32,
}

/// A modifier of an instruction or of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// Its name, prefixed with the operand's name and a dot if it belongs to an operand.
    pub name: String,
    /// Its encoded bits.
    pub value: u64,
    /// Its value as written in assembly.
    pub text: String,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its name in the specification.
    pub name: &'static str,
    /// Which alternative of its operand kind it uses, or `number`.
    pub kind: &'static str,
    /// Its value: the number as written, the register's number, or the raw bits.
    pub value: i64,
    /// Its assembly text.
    pub text: String,
}

/// How control flow continues after an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Whether the specification says what the instruction does. If not, one with a branch target is assumed to branch
    /// conditionally.
    pub known: bool,
    /// Whether it branches.
    pub branch: When,
    /// The branch target, if it is encoded in the instruction.
    pub target: Option<u64>,
    /// Whether the branch saves the address of the next instruction, so that the callee can return.
    pub calls: bool,
    /// Whether the thread ends.
    pub end: When,
    /// The slots of the messages it sends, bit 0 for slot 0.
    pub sends: u8,
    /// The slots it waits for after executing, bit 0 for slot 0.
    pub waits: u8,
    /// Whether diverged threads reconverge after it.
    pub reconverges: bool,
    /// Whether helper threads end after it.
    pub discards: bool,
    /// Whether it is a barrier for the threads of a workgroup.
    pub barrier: bool,
}

impl Flow {
    /// Whether execution may continue with the next instruction.
    pub fn falls_through(&self) -> bool {
        self.end != When::Always && (self.branch != When::Always || self.calls)
    }

    /// Returns `next`, `branch`, `jump`, `call` or `end`.
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

/// Reads the instructions of a program in order. Bytes that do not decode form an entry as long as the set's unit, or
/// as long as a group's header says.
pub fn entries<'a>(set: &'a Set, bytes: &'a [u8]) -> Box<dyn Iterator<Item = Entry> + 'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::read(set, isa, bytes)),
        Tables::Groups(isa) => Box::new(groups::read(set, isa, bytes)),
        Tables::Streams(engine) => Box::new(streams::read(set, engine, bytes)),
    }
}

/// The address of each instruction, and its branch target if it has one, with whether that is a function.
type Targets<'a> = Box<dyn Iterator<Item = (usize, Option<(u64, bool)>)> + 'a>;

fn targets<'a>(set: &Set, bytes: &'a [u8]) -> Targets<'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::targets(isa, (set.tables.unit(), set.base), bytes)),
        Tables::Groups(isa) => Box::new(groups::targets(isa, set.base, bytes)),
        Tables::Streams(engine) => Box::new(streams::targets(engine, set.base, bytes)),
    }
}

/// The addresses of the instructions of a program, the same as those of [`entries`].
pub fn places<'a>(set: &Set, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
    targets(set, bytes).map(|(at, _)| at)
}

/// The addresses that branches lead to, which may include the end of the program, and their labels: those of a
/// listing. Their number is the index of an instruction, or in streams the address in units of the set.
///
/// Suitable for programs too large to keep in memory: like [`entries`], it reads the program as a stream, so only the
/// result takes memory.
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
    let mut wanted: BTreeMap<usize, bool> = BTreeMap::new();
    for (target, called) in targets(set, bytes).filter_map(|(_, target)| target) {
        let Ok(target) = usize::try_from(target) else { continue };
        *wanted.entry(target).or_insert(true) &= called;
    }
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let places = places(set, bytes).chain([bytes.len()]).enumerate();
    let label = |(place, at): (usize, usize)| {
        let function = *wanted.get(&at)?;
        Some((
            at,
            match set.tables {
                Tables::Streams(_) if function => format!("fxn{}", at / set.tables.unit()),
                Tables::Streams(_) => label_of(at / set.tables.unit()),
                _ => label_of(place),
            },
        ))
    };
    places.filter_map(label).collect()
}

/// Replaces generated labels by `names`: labels of the source, or symbols of a file. A name for a place without a label
/// becomes its label; a generated label with the name of another place gets a `_` at its end.
pub fn rename(labels: &mut BTreeMap<usize, String>, names: &BTreeMap<usize, String>) {
    let taken: BTreeSet<&str> = names.values().map(String::as_str).collect();
    for label in labels.values_mut() {
        while taken.contains(label.as_str()) {
            label.push('_');
        }
    }
    labels.extend(names.iter().map(|(at, name)| (*at, name.clone())));
}

/// Adds the registers that no operand names: those that hold states, and those that calls of the host access.
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

/// The flow that the effects of an operation give; `branches` tells whether its text has branches, which some modifiers
/// may rule out, and `keeps` whether an operand keeps the address of the next instruction.
fn flow_of(
    effects: Option<&Effects>,
    target: Option<u64>,
    branches: impl FnOnce() -> bool,
    keeps: impl Fn(u16) -> bool,
) -> Flow {
    let Some(effects) = effects else {
        let branch = if target.is_some() { When::Sometimes } else { When::Never };
        return Flow { target, branch, ..Flow::default() };
    };
    let (branch, calls, end, barrier) = (effects.branch, effects.calls(keeps), effects.end, effects.barrier);
    let target = target.filter(|_| branch != When::Never || effects.leads && !branches());
    Flow { known: true, target, branch, calls, end, barrier, ..Flow::default() }
}

/// Whether the text of an operation has branches.
fn has_branch(semantics: Option<&Semantics>, operation: u16) -> bool {
    let operation = semantics.and_then(|semantics| semantics.operations.get(usize::from(operation)));
    operation.is_some_and(|operation| operation.nodes.iter().any(|node| node.op == Op::Branch))
}

/// Whether an operand of this many bits is overwritten completely, and whether an instruction that only writes it needs its
/// value all the same. What keeps a part of a register leaves a value to be read there.
fn overwritten(effects: Option<&Effects>, operand: u16, access: Access, bits: u32) -> (bool, bool) {
    let Some(effects) = effects else { return (true, false) };
    let written = access == Access::Write;
    (effects.overwrites(operand, bits) && !(written && effects.keeps(operand)), written && effects.needs(operand))
}

/// Registers of a bank that follow each other.
fn run(bank: u16, first: u16, count: u16) -> impl Iterator<Item = Register> + Clone {
    (u32::from(first)..u32::from(first) + u32::from(count)).map(move |index| Register { bank, index })
}

/// Adds an item unless the list contains it.
pub(crate) fn once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Adds a written register; it counts as overwritten completely if any of its writes does so.
fn write(list: &mut Vec<(Register, bool)>, register: Register, whole: bool) {
    match list.iter_mut().find(|(known, _)| *known == register) {
        Some((_, known)) => *known |= whole,
        None => list.push((register, whole)),
    }
}
