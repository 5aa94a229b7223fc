//! What a specification says of its instructions beside their texts: how true they are to the hardware, what a program
//! finds at its start, what the flow of an instruction does.

/// How true some instructions are to the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fidelity {
    /// The instructions, by opcode.
    pub instructions: &'static [u16],
    /// How true.
    pub class: FidelityClass,
    /// The bound of an approximation, what a choice does, why it is not supported; empty for what is exact.
    pub detail: &'static str,
    /// How that is known, in words.
    pub evidence: &'static str,
    /// What else there is to say; may be empty.
    pub note: &'static str,
}

/// How true an instruction is to the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FidelityClass {
    /// The same bits, as far as it is known.
    Exact,
    /// The hardware approximates; here it is the function, rounded once.
    Approximate,
    /// Nobody says what the hardware does, or not how exactly.
    Choice,
    /// It is refused.
    Unsupported,
}

impl FidelityClass {
    /// The classes, from the best to the worst.
    pub const ALL: [FidelityClass; 4] =
        [FidelityClass::Exact, FidelityClass::Approximate, FidelityClass::Choice, FidelityClass::Unsupported];

    /// The name of the class, as specifications have it.
    pub fn name(self) -> &'static str {
        match self {
            FidelityClass::Exact => "exact",
            FidelityClass::Approximate => "approximate",
            FidelityClass::Choice => "choice",
            FidelityClass::Unsupported => "unsupported",
        }
    }
}

/// What programs of a kind find in registers of the first bank at their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preload {
    /// The kind of program.
    pub name: &'static str,
    /// What there is to say of it.
    pub doc: &'static str,
    /// The first register.
    pub first: u16,
    /// What this register and those after it hold: a name and what it is.
    pub values: &'static [(&'static str, &'static str)],
    /// Those of these registers that hold the same for all threads that can wait for each other, by number.
    pub uniform: &'static [u16],
}

/// What a value of a modifier of flow does after the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The modifier.
    pub modifier: &'static str,
    /// The bits of its value.
    pub value: u64,
    /// The slots of the messages that the instruction sends, bit 0 for slot 0.
    pub sends: u8,
    /// The slots whose messages it waits for, bit 0 for slot 0.
    pub waits: u8,
    /// Threads that have parted meet again.
    pub reconverges: bool,
    /// Threads that only help others end.
    pub discards: bool,
    /// The thread ends.
    pub ends: bool,
}
