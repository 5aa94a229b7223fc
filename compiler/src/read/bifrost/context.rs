//! The operands that depend on the clause around a tuple, for one fixed clause.
//!
//! Sources are codes: three of them stand for registers selected by the clause, two for halves of a constant, others
//! for results of earlier units. A tuple alone does not define them, so it is printed for a clause that selects the
//! registers 1, 2 and 3, has no constants, and provides staging register 5.

/// A unit of the machine.
pub(super) struct Unit {
    /// Its name in the document, which is also that of the generation.
    pub name: &'static str,
    /// The width of a tuple in bits.
    pub bits: u16,
    /// The destination of results.
    pub destination: &'static str,
    /// The meaning of source codes.
    pub sources: [&'static str; 8],
}

/// The units, in the order of their generation numbers.
pub(super) const UNITS: [Unit; 2] = [
    Unit {
        name: "fma",
        bits: 23,
        destination: "t0",
        // There is no earlier unit in the tuple, so the code for its result means zero.
        sources: ["r1", "r2", "r3", "#0", "#0.x", "#0.y", "t0", "t1"],
    },
    Unit { name: "add", bits: 20, destination: "t1", sources: ["r1", "r2", "r3", "t", "#0.x", "#0.y", "t0", "t1"] },
];

/// The staging register.
pub(super) const STAGING: &str = "@r5";
