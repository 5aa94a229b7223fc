//! Names that Rust has taken: keywords, the prelude, what generated code calls its own.

isaforge::isa! { "specs/names.yaml" }

use names::{Instruction, OkForm};

fn main() {
    assert_eq!(names::Opcode::COUNT, 15);
    let ok = OkForm::new().expect("nothing can be wrong");
    // `a` and `with_a` are fields, and each has a setter of its own.
    assert!(ok.with_with_a(true).with_a() && !ok.with_with_a(true).a_modifier());
    assert!(ok.with_a_modifier(true).a_modifier());
    for opcode in names::Opcode::ALL {
        assert!(names::Opcode::from_mnemonic(opcode.mnemonic()) == Some(opcode));
    }
    assert_eq!(Instruction::from(names::DefaultForm::new().expect("it has a default")).to_string(), "DEFAULT");
}
