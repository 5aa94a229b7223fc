//! The vocabulary of semantics.

use crate::keys::Named;
use crate::source::Spanned;
use crate::{choices, vocabulary};

vocabulary! {
    /// What the texts that define the meaning of instructions may use, and texts of instructions that other documents
    /// describe.
    pub struct SemanticsSpec {
        /// The canonical NaN that arithmetic returns, for each float type that has one: `{ f32: 0x7fc00000 }`.
        optional nan: Named<u64>,
        /// The type of the program counter and of branch targets: `u32` or `u64`.
        optional pc: Spanned<String>,
        /// The names of the address spaces; accesses that name none use the first.
        optional spaces: Vec<Spanned<String>>,
        /// The names of the faults that texts raise.
        optional faults: Vec<Spanned<String>>,
        /// Registers that are not in a bank.
        optional states: Named<StateSpec>,
        /// Functions, which are expanded inline: `clamp(x, low, high)` and its text. A function with `= value` after
        /// its parameters can be the target of an assignment.
        optional functions: Named<Spanned<String>>,
        /// Functions without a text, provided by the host: `name(types) -> type`.
        optional intrinsics: Named<IntrinsicSpec>,
        /// The texts of instructions, by name, for instructions that are not written in YAML.
        optional does: Named<Spanned<String>>,
        /// How faithful instructions are to the hardware, and the evidence for it.
        optional fidelity: Vec<FidelitySpec>,
        /// The wording for values of `known`.
        optional evidence: EvidenceWords,
        /// The register contents at the start of programs, by the kind of program.
        optional preloads: Named<PreloadSpec>,
        /// The programs that instructions call by a branch with a computed target, and the conventions of these calls.
        optional callees: Named<CalleeSpec>,
        /// A modifier of all instructions that acts after the instruction.
        optional flow: FlowSpec,
    }
}

vocabulary! {
    /// How faithful some instructions are to the hardware.
    pub struct FidelitySpec {
        /// The instructions.
        required instructions: Vec<Spanned<String>>,
        /// The degree of fidelity.
        required is: Spanned<TruthSpec>,
        /// Details: the error bound of an approximation, the choice that was made, or why an instruction is not
        /// supported.
        optional detail ("as"): Spanned<String>,
        /// The evidence.
        required known: EvidenceSpec,
        /// The error in units in the last place that tests allow.
        optional within: u8,
        /// Further remarks.
        optional note: String,
    }
}

choices! {
    /// How faithful an instruction is to the hardware.
    pub enum TruthSpec {
        /// All bits are the same, as far as is known.
        Exact = "exact",
        /// The hardware approximates a function; here it is computed exactly and rounded once.
        Approximate = "approximate",
        /// The behaviour of the hardware is unknown, or not known in detail.
        Choice = "choice",
        /// The instruction is rejected.
        Unsupported = "unsupported",
    }
}

choices! {
    /// The evidence for the hardware's behaviour.
    pub enum EvidenceSpec {
        /// Tests compared it with hardware.
        Tested = "tested",
        /// Tests compared a sequence of instructions that contains it with hardware.
        TestedInSequence = "tested-in-sequence",
        /// Compilers rely on it.
        ReliedOn = "relied-on",
        /// A document states it.
        Documented = "documented",
        /// There is no evidence.
        Nothing = "nothing",
    }
}

vocabulary! {
    /// The wording for evidence: who has tested, relied on or documented the hardware's behaviour.
    pub struct EvidenceWords {
        /// Such as `tested on GPUs by Mesa`; the tolerance of the tests is appended.
        optional tested: String,
        /// Such as `Mesa's compilers rely on it`.
        optional relied_on ("relied-on"): String,
        /// Such as `the vendor documents it`.
        optional documented: String,
    }
}

vocabulary! {
    /// The register contents at the start of programs of a kind.
    pub struct PreloadSpec {
        /// A description.
        required doc: String,
        /// The number of the first register, in the first bank.
        required first: u16,
        /// The contents of this register and the following ones: names and descriptions. Empty if no register holds
        /// anything. Without any `preloads`, reads of registers that nothing has written are not reported.
        required values: Named<Spanned<String>>,
        /// The values that are the same for all threads that can wait for each other.
        optional uniform: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// A program that others call by a branch with a computed target. Control comes back to the address in the link
    /// register. The callee may read every register.
    pub struct CalleeSpec {
        /// A description.
        required doc: String,
        /// The branch.
        required instruction: Spanned<String>,
        /// The operand of the branch that is its target.
        required target: Spanned<String>,
        /// The names of values that hold the address of the callee, by enum. Only a branch to one of them is a call.
        required addresses: Named<Vec<Spanned<String>>>,
        /// The number of the link register, in the first bank. It holds the address at which the caller goes on, or 0
        /// if its thread ends with the callee.
        required link: Spanned<u16>,
        /// The numbers of the registers that the callee may overwrite, in the first bank.
        required clobbers: Vec<Spanned<u16>>,
    }
}

vocabulary! {
    /// A modifier of all instructions that acts after the instruction.
    pub struct FlowSpec {
        /// The modifier.
        required modifier: Spanned<String>,
        /// The values that have an effect.
        required values: Named<FlowValueSpec>,
        /// The slots of messages; waiting for a slot makes the results of its messages available.
        optional messages: MessagesSpec,
        /// The alternative of operands that are read for the last time.
        optional last_read ("last read"): Spanned<String>,
    }
}

vocabulary! {
    /// Instructions that run asynchronously.
    pub struct MessagesSpec {
        /// The modifier that names the slot. In sets of groups, a field of operations.
        required modifier: Spanned<String>,
        /// The slot for each of its values. If omitted, its values are the numbers of slots.
        optional slots: Named<u8>,
        /// The slot of instructions that do not encode one.
        optional instructions: Named<u8>,
        /// Instructions that wait, and the modifier that names the slot for whose messages they wait. In sets of groups,
        /// a field of operations, or `slot.field`. `all` for the messages of all slots.
        optional waits: Named<Spanned<String>>,
    }
}

vocabulary! {
    /// The effect of a value of the flow modifier.
    pub struct FlowValueSpec {
        /// The slots whose messages it waits for.
        optional waits: Vec<u8>,
        /// Whether it waits for the message of its own instruction.
        optional waits_for_itself ("waits for itself"): bool,
        /// Whether divergent threads reconverge.
        optional reconverges: bool,
        /// Whether helper threads end.
        optional discards: bool,
        /// Whether the thread ends.
        optional ends: bool,
    }
}

vocabulary! {
    /// A register that is not in a bank.
    pub struct StateSpec {
        /// What it holds.
        optional doc: String,
        /// The type of its value.
        required r_type ("type"): Spanned<String>,
        /// The number of elements, if it is an array.
        optional count: Spanned<u32>,
        /// The register of a bank that it stands for, which instructions use implicitly.
        optional register: Spanned<String>,
        /// Whether all lanes share it. The value written by the lowest lane applies.
        optional uniform: bool,
        /// A `bool` state whose values in all lanes that have not ended this state holds as a bit mask; the bits of
        /// lanes that have ended are zero. The value written by the lowest lane applies to all.
        optional bits_of ("bits of"): Spanned<String>,
    }
}

vocabulary! {
    /// A function without a text, provided by the host.
    pub struct IntrinsicSpec {
        /// What it computes or does.
        required doc: String,
        /// Its effects besides computing the result from the arguments.
        optional effects: Vec<EffectSpec>,
        /// The registers that it accesses, in a set of groups, by the parameter with the first one: an `operand` or,
        /// with `bank`, a number. Without them, analyses assume that it accesses all registers that the group names,
        /// and may read those after them.
        optional registers: Named<RegistersSpec>,
    }
}

vocabulary! {
    /// Consecutive registers that an intrinsic reads or writes.
    pub struct RegistersSpec {
        /// The parameter with their number; one register by default. If there are more than 64, it may read any of them.
        optional count: Spanned<String>,
        /// By how much that number is multiplied: 4 if it counts vectors of four registers.
        optional times: Spanned<u8>,
        /// The bank, if the first one is a number.
        optional bank: Spanned<String>,
        /// Whether it writes them; otherwise it reads them.
        optional writes: bool,
    }
}

choices! {
    /// An effect of an intrinsic.
    pub enum EffectSpec {
        /// It reads memory or device state.
        Reads = "reads",
        /// It writes memory or device state.
        Writes = "writes",
        /// It may block.
        Waits = "waits",
        /// It may end threads or change where they continue.
        Flow = "flow",
    }
}
