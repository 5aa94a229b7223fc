//! The keys of the `arm` section.

use crate::keys::Named;
use crate::source::Spanned;
use crate::vocabulary;

vocabulary! {
    /// An XML file in the schema of Arm's machine-generated description, and what its built-in words stand for. The file
    /// says where everything lies; an architecture chooses what of it there is.
    pub struct ArmSpec {
        /// The file, relative to this one.
        required file: Spanned<String>,
        /// The architecture: only what its number is in the range `since` to `until` of exists.
        required architecture: Spanned<u16>,
        /// The built-in types of sources, and how each is read.
        required sources: Named<ArmSource>,
        /// The bank of destinations and staging registers.
        required registers: Spanned<String>,
        /// The shared field that the file calls `fau_page_index`.
        optional page: Spanned<String>,
        /// How lists of staging registers are written.
        required staging: ArmStaging,
        /// Written before numbers; `#` unless it says otherwise.
        optional prefix: String,
        /// Attributes that carry no encoding.
        optional ignore: Vec<String>,
    }
}

vocabulary! {
    /// A built-in type of sources.
    pub struct ArmSource {
        /// The kind of operand.
        required kind: Spanned<String>,
        /// Bits of one value; 32 unless it says otherwise.
        optional size: u16,
    }
}

vocabulary! {
    /// How lists of staging registers are written.
    pub struct ArmStaging {
        /// Written before the list.
        required open: String,
        /// Written between two registers.
        required separator: String,
        /// A list of more than one starts at a multiple of this.
        optional align: u8,
    }
}
