//! The keys of the `arm` section.

use crate::keys::Named;
use crate::source::Spanned;
use crate::vocabulary;

vocabulary! {
    /// An XML file in the schema of Arm's machine-generated description, and the meaning of its built-in names. The
    /// file defines all bit positions; the architecture selects a part of it.
    pub struct ArmSpec {
        /// The file, relative to this file.
        required file: Spanned<String>,
        /// The architecture number: only elements whose range `since` to `until` contains it exist.
        required architecture: Spanned<u16>,
        /// The built-in types of sources, and how each is read.
        required sources: Named<ArmSource>,
        /// The bank of destinations and staging registers.
        required registers: Spanned<String>,
        /// The shared field that the file calls `fau_page_index`.
        optional page: Spanned<String>,
        /// How lists of staging registers are written.
        required staging: ArmStaging,
        /// The text before numbers; `#` by default.
        optional prefix: String,
        /// Attributes that do not affect the encoding.
        optional ignore: Vec<String>,
    }
}

vocabulary! {
    /// A built-in type of sources.
    pub struct ArmSource {
        /// The kind of operand.
        required kind: Spanned<String>,
        /// The width of one value in bits; 32 by default.
        optional size: u16,
    }
}

vocabulary! {
    /// How lists of staging registers are written.
    pub struct ArmStaging {
        /// The text before the list.
        required open: String,
        /// The text between two registers.
        required separator: String,
        /// The first register of a list of more than one must be a multiple of this.
        optional align: u8,
    }
}
