//! Why a word has no translation.

use isaforge_core::error::{DecodeError, EncodeError};

/// Why a word has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// The word is not an instruction of the source revision.
    #[error("not an instruction of {isa}: {error}")]
    Decode {
        /// The revision.
        isa: &'static str,
        /// What is wrong with the word.
        error: DecodeError,
    },
    /// The other revision has no such instruction.
    #[error("{isa} has no instruction `{name}`")]
    Instruction {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
    },
    /// The other revision's instruction has no such modifier, and it is not at its default.
    #[error("{isa} has no modifier `{modifier}` for `{name}`, which is `{value}` here")]
    Modifier {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier; for one of an operand, `operand.modifier`.
        modifier: String,
        /// Its value.
        value: String,
    },
    /// The other revision has the modifier or field, but no such value of it.
    #[error("{isa} has no value `{value}` for `{field}` of `{name}`")]
    Value {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier, or `operand.field`.
        field: String,
        /// The value.
        value: String,
    },
    /// The other revision's instruction has no such operand, or one of another type.
    #[error("{isa} has no such operand `{operand}` for `{name}`")]
    Operand {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The operand.
        operand: &'static str,
    },
    /// A branch leads into the middle of an instruction.
    #[error("`{operand}` of `{name}` leads to byte {address:#x}, where no instruction starts")]
    Branch {
        /// The mnemonic.
        name: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its target.
        address: u64,
    },
    /// The operand has no such alternative in the other revision.
    #[error("{isa} has no `{text}` ({reading}) for the operand `{operand}` of `{name}`")]
    Reading {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The operand.
        operand: &'static str,
        /// The alternative.
        reading: &'static str,
        /// The operand as written in the source revision.
        text: String,
    },
    /// The other revision's instruction requires a member that the source instruction does not have.
    #[error("{isa} needs `{member}` for `{name}`, which is not given here")]
    Missing {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier or operand.
        member: String,
    },
    /// All parts can be expressed, but not in combination.
    #[error("this combination cannot be encoded as one `{name}` in {isa}: {error}")]
    Encode {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// Which parts cannot be combined.
        error: EncodeError,
    },
    /// The resulting word does not decode to the expected instruction.
    #[error("this combination cannot be encoded as one `{name}` in {isa}: {error}")]
    Result {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// What is wrong.
        error: String,
    },
}
