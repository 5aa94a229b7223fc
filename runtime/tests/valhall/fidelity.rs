//! The fidelity table compared with the behaviour of the machine.

use super::seed::seed;
use isaforge_core::sample::{Random, sample};
use isaforge_core::semantics::facts::FidelityClass;
use isaforge_runtime::{Deadline, Launch, Memory, RunError, valhall};
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{ISA, Opcode};

/// Whether a single instruction is unsupported, in a compute program and in a fragment program for a colour.
fn refused(word: u64) -> bool {
    let unsupported = |error: Option<RunError>| matches!(error, Some(RunError::Unsupported { .. }));
    let launch = Launch { program: vec![word], budget: 100, ..Launch::default() };
    let compute = valhall::run(&launch, &mut Memory::new()).err();
    let colour = valhall::run_fragment(&[word], &[], 100, Deadline::NONE).err();
    unsupported(compute) && unsupported(colour)
}

#[test]
fn just_the_instructions_that_are_called_unsupported_are_refused() {
    let mut random = Random(seed(7));
    for (opcode, name) in Opcode::ALL.iter().enumerate() {
        // Some modifiers of a form may be unsupported. Registers beyond the last are detected earlier.
        let mut words = std::iter::repeat_with(|| sample(ISA, opcode as u16, &mut random));
        let all = words.by_ref().filter(|&word| !beyond(word)).take(20).all(refused);
        let class = SEMANTICS.fidelity_of(opcode as u16).map(|fidelity| fidelity.class);
        assert_eq!(all, class == Some(FidelityClass::Unsupported), "{name}");
    }
}

/// Whether an instruction writes a register that does not exist.
fn beyond(word: u64) -> bool {
    let last = ISA.banks[0].count;
    isaforge_valhall::decode(word).is_ok_and(|i| i.writes().any(|used| u32::from(used.first + used.count) > last))
}
