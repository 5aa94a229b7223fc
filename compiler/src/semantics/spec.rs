//! The vocabulary of semantics.

use crate::keys::Named;
use crate::source::Spanned;
use crate::{choices, vocabulary};

vocabulary! {
    /// What the texts that say what instructions do may use, and texts of instructions that other documents describe.
    pub struct SemanticsSpec {
        /// The one NaN that arithmetic gives, for each float type that has one: `{ f32: 0x7fc00000 }`.
        optional nan: Named<u64>,
        /// The type of the program counter and of branch targets: `u32` or `u64`.
        optional pc: Spanned<String>,
        /// Names of the address spaces; the first is the one of an access that names none.
        optional spaces: Vec<Spanned<String>>,
        /// Names of the faults that texts raise.
        optional faults: Vec<Spanned<String>>,
        /// Registers outside of banks.
        optional states: Named<StateSpec>,
        /// Functions, which are expanded where they are called: `clamp(x, low, high)` and what it computes. With `= value`
        /// behind the parameters it stands on the left of an assignment.
        optional functions: Named<Spanned<String>>,
        /// Functions without a text: `name(types) -> type`.
        optional intrinsics: Named<IntrinsicSpec>,
        /// What instructions do, by their names, where the instructions are not written in YAML.
        optional does: Named<Spanned<String>>,
        /// How true instructions are to the hardware, and how that is known.
        optional fidelity: Vec<FidelitySpec>,
        /// What `known` stands for.
        optional evidence: EvidenceWords,
        /// What programs find in registers at their start, by the kind of program.
        optional preloads: Named<PreloadSpec>,
        /// What a modifier that all instructions have does after them.
        optional flow: FlowSpec,
    }
}

vocabulary! {
    /// How true some instructions are to the hardware.
    pub struct FidelitySpec {
        /// The instructions.
        required instructions: Vec<Spanned<String>>,
        /// How true.
        required is: Spanned<TruthSpec>,
        /// The bound of an approximation, what a choice does, why it is not supported.
        optional detail ("as"): Spanned<String>,
        /// How that is known.
        required known: EvidenceSpec,
        /// Units in the last place that tests allow.
        optional within: u8,
        /// What else there is to say.
        optional note: String,
    }
}

choices! {
    /// How true an instruction is to the hardware.
    pub enum TruthSpec {
        /// The same bits, as far as it is known.
        Exact = "exact",
        /// The hardware approximates; here it is the function, rounded once.
        Approximate = "approximate",
        /// Nobody says what the hardware does, or not how exactly.
        Choice = "choice",
        /// It is refused.
        Unsupported = "unsupported",
    }
}

choices! {
    /// How it is known what the hardware does.
    pub enum EvidenceSpec {
        /// Tests compared it with hardware.
        Tested = "tested",
        /// The same, as a part of a sequence of instructions.
        TestedInSequence = "tested-in-sequence",
        /// Compilers depend on it.
        ReliedOn = "relied-on",
        /// A document says it.
        Documented = "documented",
        /// Nothing says it.
        Nothing = "nothing",
    }
}

vocabulary! {
    /// Who has tested, relied on or documented what the hardware does, in words.
    pub struct EvidenceWords {
        /// Such as `tested on GPUs by Mesa`; what tests allow follows.
        optional tested: String,
        /// Such as `Mesa's compilers rely on it`.
        optional relied_on ("relied-on"): String,
        /// Such as `the vendor documents it`.
        optional documented: String,
    }
}

vocabulary! {
    /// What programs of a kind find at their start.
    pub struct PreloadSpec {
        /// What there is to say of it.
        required doc: String,
        /// The number of the first register, in the first bank.
        required first: u16,
        /// What this register and those after it hold: a name and what it is.
        required values: Named<Spanned<String>>,
        /// Those values that are the same for all threads that can wait for each other.
        optional uniform: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// What a modifier that all instructions have does after them.
    pub struct FlowSpec {
        /// The modifier.
        required modifier: Spanned<String>,
        /// Its values that do something.
        required values: Named<FlowValueSpec>,
        /// The slots of messages, whose results come before a wait for the slot ends.
        optional messages: MessagesSpec,
        /// The alternative of operands that are read for the last time.
        optional last_read ("last read"): Spanned<String>,
    }
}

vocabulary! {
    /// Instructions that go on while others are executed.
    pub struct MessagesSpec {
        /// The modifier that names the slot.
        required modifier: Spanned<String>,
        /// Its values, and the slot of each.
        required slots: Named<u8>,
    }
}

vocabulary! {
    /// What a value of the modifier of flow does.
    pub struct FlowValueSpec {
        /// The slots whose messages it waits for.
        optional waits: Vec<u8>,
        /// Threads that have parted meet again.
        optional reconverges: bool,
        /// Threads that only help others end.
        optional discards: bool,
        /// The thread ends.
        optional ends: bool,
    }
}

vocabulary! {
    /// A register outside of banks.
    pub struct StateSpec {
        /// What it holds.
        optional doc: String,
        /// The type of its value.
        required r_type ("type"): Spanned<String>,
        /// How many there are, if it is an array.
        optional count: Spanned<u32>,
        /// It is this register of a bank, which instructions use without naming it.
        optional register: Spanned<String>,
        /// Whether all lanes share it. What the lowest lane writes counts.
        optional uniform: bool,
        /// It is this state of all lanes, which is a `bool`: a bit for each. What the lowest lane writes counts for all.
        optional bits_of ("bits of"): Spanned<String>,
    }
}

vocabulary! {
    /// A function without a text.
    pub struct IntrinsicSpec {
        /// What it computes or does.
        required doc: String,
        /// What it touches beside its arguments and its result.
        optional effects: Vec<EffectSpec>,
    }
}

choices! {
    /// What an intrinsic touches.
    pub enum EffectSpec {
        /// It reads memory or what a device holds.
        Reads = "reads",
        /// It writes memory or changes what a device holds.
        Writes = "writes",
        /// It may have to wait.
        Waits = "waits",
        /// It may end threads or change where they go on.
        Flow = "flow",
    }
}
