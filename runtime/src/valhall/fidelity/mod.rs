//! How true each instruction is to the hardware, and how that is known.
//!
//! No GPU was at hand: what is known comes from tests that others ran on one, from compilers that depend on it, and from
//! the vendor's document. For functions of one number, or of two halves, the distance from the function is measured over all inputs, see
//! [`measure`].
//!
//! One thing is a choice everywhere: a computed NaN is the quiet one without sign or payload.

pub mod measure;

use std::fmt;

use isaforge_core::semantics::facts::{self, FidelityClass};
use isaforge_valhall::Opcode;
use isaforge_valhall::semantics::SEMANTICS;

use measure::{Worst, recorded};

/// How true an instruction is to the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The same bits, as far as it is known.
    Exact,
    /// The hardware's result is an approximation, within the bound given here. Ours is the function, rounded once.
    Approximate(&'static str),
    /// Nobody says what the hardware does, or not how exactly. We do this.
    Choice(&'static str),
    /// The instruction is refused, for this reason.
    Unsupported(&'static str),
}

impl Class {
    /// The names of the classes, from the best to the worst.
    pub const NAMES: [&'static str; 4] = ["exact", "approximate", "choice", "unsupported"];

    /// The name of the class.
    pub fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::Approximate(_) => "approximate",
            Class::Choice(_) => "choice",
            Class::Unsupported(_) => "unsupported",
        }
    }

    /// The bound, what is done, or the reason; empty where nothing has to be said.
    pub fn detail(self) -> &'static str {
        match self {
            Class::Exact => "",
            Class::Approximate(text) | Class::Choice(text) | Class::Unsupported(text) => text,
        }
    }
}

/// How it is known what the hardware does, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence(pub facts::Evidence);

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            facts::Evidence::Tested(0) => f.write_str("tested on GPUs by Mesa, bit for bit"),
            facts::Evidence::Tested(ulps) => write!(f, "tested on GPUs by Mesa, within {ulps} ulp"),
            facts::Evidence::TestedInSequence => f.write_str("tested on GPUs by Mesa in a sequence"),
            facts::Evidence::ReliedOn => f.write_str("Mesa's compilers rely on it"),
            facts::Evidence::Documented => f.write_str("the vendor documents it"),
            facts::Evidence::Nothing => f.write_str("nothing is known"),
        }
    }
}

/// What is to be said of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub mnemonic: &'static str,
    /// How true it is to the hardware.
    pub class: Class,
    /// How that is known.
    pub evidence: Evidence,
    /// The worst distance from the function that was measured over all inputs and roundings, where it is a function of
    /// one number or of two halves.
    pub measured: Option<Worst>,
    /// What else there is to say; may be empty.
    pub note: &'static str,
}

/// The entry of every instruction that the specification speaks of, in the order of the instruction set.
pub fn entries() -> Vec<Entry> {
    Opcode::ALL.iter().filter_map(|opcode| entry(opcode.mnemonic())).collect()
}

/// The entry of an instruction; `None` when there is no such instruction.
pub fn entry(mnemonic: &str) -> Option<Entry> {
    let opcode = Opcode::from_mnemonic(mnemonic)?;
    let found = SEMANTICS.fidelity.iter().find(|found| found.instructions.contains(&(opcode as u16)))?;
    let class = match found.class {
        FidelityClass::Exact => Class::Exact,
        FidelityClass::Approximate => Class::Approximate(found.detail),
        FidelityClass::Choice => Class::Choice(found.detail),
        FidelityClass::Unsupported => Class::Unsupported(found.detail),
    };
    let mnemonic = opcode.mnemonic();
    Some(Entry { mnemonic, class, evidence: Evidence(found.evidence), measured: worst(mnemonic), note: found.note })
}

/// The worst of what was measured of an instruction, with all of its modifiers.
fn worst(mnemonic: &str) -> Option<Worst> {
    let modifiers = |name: &str| name.strip_prefix(mnemonic).map(|rest| rest.is_empty() || rest.starts_with('.'));
    recorded().filter(|row| modifiers(row.name) == Some(true)).map(|row| row.worst).reduce(Worst::with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_speaks_of_every_instruction() {
        for opcode in &Opcode::ALL {
            assert!(entry(opcode.mnemonic()).is_some(), "{opcode}");
        }
    }

    #[test]
    fn a_choice_says_what_and_an_approximation_is_measured() {
        for entry in entries() {
            let Entry { mnemonic, class, evidence, measured, .. } = entry;
            assert_eq!(class == Class::Exact, class.detail().is_empty(), "{mnemonic}");
            assert!(Class::NAMES.contains(&class.name()));
            // What nothing is known of is chosen.
            assert!(matches!(class, Class::Choice(_)) || evidence.0 != facts::Evidence::Nothing, "{mnemonic}");
            if let Class::Approximate(_) = class {
                assert!(measured.is_some(), "{mnemonic} is not measured");
            }
            if let Some(worst) = measured {
                let bound = if class == Class::Exact { 0.0 } else { 0.500_001 };
                assert!(worst.ulps <= bound && worst.wrong == 0, "{mnemonic}: {worst:?}");
            }
        }
    }

    #[test]
    fn what_was_measured_holds() {
        let recorded: Vec<_> = recorded().collect();
        let functions = measure::functions();
        assert_eq!(recorded.len(), functions.len());
        for (function, recorded) in functions.iter().zip(recorded) {
            assert_eq!((format!("{function:?}").as_str(), function.inputs), (recorded.name, recorded.inputs));
            // All inputs of what is small, some of what is not.
            let stride = if function.inputs > 1 << 16 { 0x3_2105 } else { 1 };
            let found = function.worst(0..function.inputs, stride);
            assert!(found.ulps <= recorded.worst.ulps + 1e-6 && found.wrong == 0, "{}: {found:?}", recorded.name);
            let at = u64::from(recorded.worst.at);
            let worst = function.worst(at..at + 1, 1);
            assert!((worst.ulps - recorded.worst.ulps).abs() < 1e-6, "{}: {worst:?}", recorded.name);
        }
    }
}
