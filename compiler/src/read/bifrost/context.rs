//! What the document leaves to the clause around a tuple, as one fixed clause.
//!
//! Sources are codes: three of them stand for registers that the clause names, two for halves of a constant, others for what
//! the units before have made. A tuple alone says none of that, so it is written for a clause that names the registers 1, 2
//! and 3, has no constants, and gives staging register 5.

/// A unit of the machine.
pub(super) struct Unit {
    /// As the document calls it, which is the name of the generation, too.
    pub name: &'static str,
    /// Bits of a tuple.
    pub bits: u16,
    /// What results go to.
    pub destination: &'static str,
    /// What the codes of sources stand for.
    pub sources: [&'static str; 8],
}

/// The units, in the order of their numbers as generations.
pub(super) const UNITS: [Unit; 2] = [
    Unit {
        name: "fma",
        bits: 23,
        destination: "t0",
        // No unit comes before this one in a tuple: the code that would name its result is zero.
        sources: ["r1", "r2", "r3", "#0", "#0.x", "#0.y", "t0", "t1"],
    },
    Unit { name: "add", bits: 20, destination: "t1", sources: ["r1", "r2", "r3", "t", "#0.x", "#0.y", "t0", "t1"] },
];

/// The staging register.
pub(super) const STAGING: &str = "@r5";
