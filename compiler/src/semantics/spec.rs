//! The vocabulary of semantics.

use crate::reader::Named;
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
