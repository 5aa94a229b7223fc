//! Facts about instructions beyond their texts: their fidelity to the hardware, the registers at program start, the
//! programs that they call, the effects of flow modifiers.

/// The fidelity of some instructions to the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fidelity {
    /// The instructions, by opcode.
    pub instructions: &'static [u16],
    /// The class.
    pub class: FidelityClass,
    /// The error bound of an approximation, the choice that was made, or why it is unsupported; empty if exact.
    pub detail: &'static str,
    /// The evidence, in prose.
    pub evidence: &'static str,
    /// Further remarks; may be empty.
    pub note: &'static str,
}

/// How closely an instruction matches the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FidelityClass {
    /// Bit-exact, as far as is known.
    Exact,
    /// The hardware approximates; here the function is computed and rounded once.
    Approximate,
    /// The hardware's behaviour is not documented, or not exactly.
    Choice,
    /// The instruction is rejected.
    Unsupported,
}

impl FidelityClass {
    /// The classes, from best to worst.
    pub const ALL: [FidelityClass; 4] =
        [FidelityClass::Exact, FidelityClass::Approximate, FidelityClass::Choice, FidelityClass::Unsupported];

    /// The name of the class in specifications.
    pub fn name(self) -> &'static str {
        match self {
            FidelityClass::Exact => "exact",
            FidelityClass::Approximate => "approximate",
            FidelityClass::Choice => "choice",
            FidelityClass::Unsupported => "unsupported",
        }
    }
}

/// The initial register contents of one kind of program, in the first bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preload {
    /// The kind of program.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The first register.
    pub first: u16,
    /// The contents of this register and the following ones: name and description.
    pub values: &'static [(&'static str, &'static str)],
    /// The numbers of those registers that have the same value in all threads of a workgroup.
    pub uniform: &'static [u16],
}

/// A program that others call by a branch whose target is in an operand, and the convention of such calls. The callee
/// may read any register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    /// What is called.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The branch.
    pub instruction: &'static str,
    /// The operand of the branch that is its target.
    pub target: &'static str,
    /// The names of values that hold the address of such a program: an enum, and values of it.
    pub addresses: &'static [(&'static str, &'static [&'static str])],
    /// The link register, in the first bank: the address at which the caller goes on, or 0 if its thread ends there.
    pub link: u16,
    /// The registers of the first bank that the callee may overwrite.
    pub clobbers: &'static [u16],
}

impl Callee {
    /// The names of values that hold the address of such a program.
    pub fn targets(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.addresses.iter().flat_map(|(_, values)| *values).copied()
    }
}

/// An effect after an instruction: of one value of a modifier, or of the instruction whatever its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The instruction that has the effect; empty if all instructions with the modifier have it.
    pub instruction: &'static str,
    /// The modifier. In sets of groups, a field of the operation's slot, or `slot.field`. Empty if the effect does not
    /// depend on a modifier.
    pub modifier: &'static str,
    /// The bits of its value. In sets of groups, the value.
    pub value: u64,
    /// The name of the value; empty if the effect does not depend on a modifier.
    pub name: &'static str,
    /// The slots for which the instruction sends messages; bit 0 is slot 0.
    pub sends: u8,
    /// The slots for whose messages it waits; bit 0 is slot 0.
    pub waits: u8,
    /// Whether it waits for its own message.
    pub waits_for_itself: bool,
    /// Whether divergent threads reconverge.
    pub reconverges: bool,
    /// Whether helper threads end.
    pub discards: bool,
    /// Whether the thread ends.
    pub ends: bool,
}

impl Flow {
    /// The effects besides messages in given slots, each in a few words.
    pub fn effects(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            (self.waits_for_itself, "waits for its message"),
            (self.reconverges, "diverged threads reconverge"),
            (self.discards, "helper threads end"),
            (self.ends, "the thread ends"),
        ];
        all.into_iter().filter(|(has_it, _)| *has_it).map(|(_, text)| text)
    }
}
