//! Where facts come from.

use crate::keys::choices;

choices! {
    /// Where a fact comes from.
    pub enum Provenance {
        /// A published document states it.
        Document = "document",
        /// Programs built with the vendor's own tools show it.
        VendorBinary = "vendor-binary",
        /// The source of an open driver does it this way: its compiler or its tables.
        Driver = "driver",
        /// A decision of this specification, with a reason.
        Assumed = "assumed",
    }
}
