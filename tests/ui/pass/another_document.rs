//! A specification in the schema of Mesa's Valhall document, named by its folder.

isaforge::isa! { "../../specs/pebble" }

use pebble::{Instruction, Register, RegisterList, Value};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Instruction::Load(load) = pebble::decode(0x4005_c041)? else { panic!("it is a LOAD") };
    assert_eq!(load.sr(), RegisterList::new(1, 3));
    assert_eq!(load.src0(), Value::Register(Register::new(1).expect("there are 16")));
    assert_eq!(load.with_sr(RegisterList::new(0, 2))?.with_offset(-128).offset(), -128);
    assert!(load.with_sr(RegisterList::new(15, 2)).is_err());
    assert_eq!("NOT.i32.up g0, 0x1".parse::<Instruction>()?.encode(), 0x2000_0421);
    Ok(())
}
