//! One instruction of a program.

use std::ops::Range;

use isaforge_core::semantics::Semantics;
use isaforge_core::semantics::facts::Callee;

use crate::access::{Access, Implied, Named, of_operands};
use crate::effects::{Effects, When};
use crate::registers::Register;
use crate::set::Set;

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
    /// Whether threads may not go on after it: it always faults, or the host ends them or leads them elsewhere.
    pub(crate) stops: bool,
    /// The program that it calls, if it branches to one of those that the specification describes.
    pub(crate) callee: Option<&'static Callee>,
    /// The link register of a callee and what it writes there, if it does so and the word alone determines the value.
    pub(crate) link: Option<(Register, u64)>,
    /// The registers that it accesses through an operand.
    pub(super) named: Vec<Named>,
    /// What it accesses without an operand.
    pub(super) implied: Implied,
    /// The lists of registers whose length is not that of what the operation accesses.
    pub(crate) lists: Vec<List>,
}

impl Instruction {
    /// All registers and states that it reads or writes, those of its operands first.
    ///
    /// # Examples
    ///
    /// ```
    /// use isaforge_analysis::{Set, entry::entries};
    /// use isaforge_core::Tables;
    /// use isaforge_vpu::{ISA, semantics::SEMANTICS};
    ///
    /// // MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx
    /// let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), None);
    /// let first = entries(&set, &0x2a00004000800000_u64.to_le_bytes()).next().unwrap().instruction.unwrap();
    /// let read: Vec<String> = first.accesses(&set, false).iter().map(ToString::to_string).collect();
    /// println!("{}", read.join(", "));
    /// ```
    pub fn accesses(&self, set: &Set, write: bool) -> Vec<Access> {
        let mut found = of_operands(set, &self.named, write);
        self.implied.add_to(&mut found, set, write);
        found
    }

    /// The registers and states that it reads or writes without an operand that names them.
    pub fn implied(&self, set: &Set, write: bool) -> Vec<Access> {
        let mut found = Vec::new();
        self.implied.add_to(&mut found, set, write);
        found
    }

    /// Whether it calls an intrinsic.
    pub(crate) fn calls(&self, intrinsic: u16) -> bool {
        self.implied.calls(intrinsic)
    }

    /// The registers that it reads, then those that it writes.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Register> {
        self.reads.iter().chain(self.writes.iter().map(|(register, _)| register)).copied()
    }

    /// The registers that the program which it calls may overwrite.
    pub(crate) fn clobbers(&self) -> impl Iterator<Item = Register> {
        let registers = self.callee.map_or(&[][..], |callee| callee.clobbers);
        registers.iter().map(|register| Register::preload(u32::from(*register)))
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
    /// Whether the program may have masked lanes here, which go on after it when the others end. The instruction alone
    /// does not tell.
    pub masked: bool,
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
    /// The flow that the effects of an operation give; `branches` tells whether its text has branches, which some
    /// modifiers may rule out, and `keeps` whether an operand keeps the address of the next instruction.
    pub(super) fn of(
        effects: Option<&Effects>,
        target: Option<u64>,
        branches: impl FnOnce() -> bool,
        keeps: impl Fn(u16) -> bool,
    ) -> Flow {
        let Some(effects) = effects else {
            let branch = if target.is_some() { When::Sometimes } else { When::Never };
            return Flow { target, branch, ..Flow::default() };
        };
        let (calls, end, barrier) = (effects.calls(keeps), effects.end, effects.barrier);
        let branch = if effects.leads { effects.branch.min(When::Sometimes) } else { effects.branch };
        let target = target.filter(|_| branch != When::Never || effects.leads && !branches());
        Flow { known: true, target, branch, calls, end, barrier, ..Flow::default() }
    }

    /// Adds the effects after an instruction, or an operation of a group, that the specification gives besides its
    /// text. `value` returns the value of a modifier, and `leads` tells whether threads that do not branch go on.
    pub(super) fn add_facts(
        &mut self,
        semantics: Option<&Semantics>,
        instruction: &str,
        value: impl Fn(&str) -> Option<u64>,
        leads: bool,
    ) {
        let (mut sends, mut waits_for_itself) = (0, false);
        for fact in semantics.map_or(&[][..], |semantics| semantics.flow) {
            let has_it = fact.instruction.is_empty() || fact.instruction == instruction;
            if has_it && (fact.modifier.is_empty() || value(fact.modifier) == Some(fact.value)) {
                sends |= fact.sends;
                waits_for_itself |= fact.waits_for_itself;
                self.waits |= fact.waits;
                self.reconverges |= fact.reconverges;
                self.discards |= fact.discards;
                if fact.ends {
                    self.end = if leads { When::Sometimes } else { When::Always };
                }
            }
        }
        self.sends |= sends;
        if waits_for_itself {
            self.waits |= sends;
        }
    }

    /// Whether execution may continue with the next instruction.
    pub fn falls_through(&self) -> bool {
        (self.end != When::Always || self.masked) && (self.branch != When::Always || self.calls)
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
