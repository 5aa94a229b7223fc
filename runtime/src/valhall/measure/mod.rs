//! The errors of functions of one number, or of two halves, over all inputs.
//!
//! The results of instructions are compared with an answer computed another way: in double precision, or by conversions
//! of the host processor. `cargo run --release -p isaforge-runtime --example measure` tests all 2^32 or 2^16 inputs of
//! each function. Its output is in `measured.tsv`, which [`recorded`] reads.

/// The largest error found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// The distance from the answer in units in its last place.
    pub ulps: f64,
    /// An input with this error.
    pub at: u32,
    /// The number of inputs for which the result is of another kind than the answer: NaN, infinity or zero instead of
    /// another number, or different bits where they must be equal.
    pub wrong: u64,
}

impl Worst {
    /// Returns the larger error, and the sum of the wrong results.
    pub fn with(self, other: Worst) -> Worst {
        let worse = if other.ulps > self.ulps { other } else { self };
        Worst { wrong: self.wrong + other.wrong, ..worse }
    }
}

/// A row of the measurements over all inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// The mnemonic with its modifiers.
    pub name: &'static str,
    /// The number of inputs tested.
    pub inputs: u64,
    /// The largest error.
    pub worst: Worst,
}

/// Returns the recorded measurements: the output of the command named above.
pub fn recorded() -> impl Iterator<Item = Recorded> {
    let rows = include_str!("measured.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let name = next()?;
        let (inputs, ulps) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let at = u32::from_str_radix(next()?, 16).ok()?;
        Some(Recorded { name, inputs, worst: Worst { ulps, at, wrong: next()?.parse().ok()? } })
    })
}

/// Returns the largest recorded error of an instruction over all of its modifiers. `None` when it was not measured.
pub fn worst(mnemonic: &str) -> Option<Worst> {
    let modifiers = |name: &str| name.strip_prefix(mnemonic).map(|rest| rest.is_empty() || rest.starts_with('.'));
    recorded().filter(|row| modifiers(row.name) == Some(true)).map(|row| row.worst).reduce(Worst::with)
}
