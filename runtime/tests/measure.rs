//! Tests of the measured errors of Valhall's functions.

#[path = "../examples/measure/functions.rs"]
mod functions;

use isaforge_core::semantics::facts::FidelityClass;
use isaforge_runtime::valhall::measure::{recorded, worst};
use isaforge_valhall::Opcode;
use isaforge_valhall::semantics::SEMANTICS;

use functions::functions;

#[test]
fn what_is_approximate_is_measured_and_what_is_exact_is_right() {
    for opcode in &Opcode::ALL {
        let fidelity = SEMANTICS.fidelity_of(*opcode as u16).expect("the specification speaks of every instruction");
        let (measured, exact) = (worst(opcode.mnemonic()), fidelity.class == FidelityClass::Exact);
        assert!(measured.is_some() || fidelity.class != FidelityClass::Approximate, "{opcode} is not measured");
        if let Some(worst) = measured {
            let bound = if exact { 0.0 } else { 0.500_001 };
            assert!(worst.ulps <= bound && worst.wrong == 0, "{opcode}: {worst:?}");
        }
    }
}

#[test]
fn what_was_measured_holds() {
    let recorded: Vec<_> = recorded().collect();
    let functions = functions();
    assert_eq!(recorded.len(), functions.len());
    for (function, recorded) in functions.iter().zip(recorded) {
        assert_eq!((format!("{function:?}").as_str(), function.inputs), (recorded.name, recorded.inputs));
        // All inputs of small functions, a sample of others.
        let stride = if function.inputs > 1 << 16 { 0x3_2105 } else { 1 };
        let found = function.worst(0..function.inputs, stride);
        assert!(found.ulps <= recorded.worst.ulps + 1e-6 && found.wrong == 0, "{}: {found:?}", recorded.name);
        let at = u64::from(recorded.worst.at);
        let worst = function.worst(at..at + 1, 1);
        assert!((worst.ulps - recorded.worst.ulps).abs() < 1e-6, "{}: {worst:?}", recorded.name);
    }
}
