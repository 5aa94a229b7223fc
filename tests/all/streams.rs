//! A stream behind the macro: what is generated from a specification of two lengths.

isaforge::isa!("tests/specs/rv32imc.yaml");

use rv32imc::{DecodeError, Instruction, Kind, Opcode, decode, stream};

#[test]
fn an_instruction_has_its_length_its_text_and_its_fields() {
    let bytes = [0x13, 0x05, 0xb5, 0xff, 0x2e, 0x95, 0xff];
    let addi = decode(&bytes).expect("an addi");
    assert_eq!((addi.opcode(), addi.len(), addi.to_string().as_str()), (Opcode::Addi, 4, "addi a0, a0, -5"));
    let Kind::Addi(own) = addi.kind() else { panic!("an addi") };
    assert_eq!((own.rd(), own.rs1(), own.imm()), (10, 10, -5));
    let other = own.with_imm(7).and_then(|other| other.with_rd(8)).expect("both fit");
    assert_eq!(other.instruction().to_string(), "addi s0, a0, 7");
    assert_eq!(own.with_imm(2048), None);
    assert_eq!(decode(&bytes[4..]).map(|i| (i.opcode(), i.len())), Ok((Opcode::CAdd, 2)));
    let walked: Vec<_> = stream(&bytes).map(|(at, found)| (at, found.map(|i| i.opcode()))).collect();
    let short = DecodeError::Short { needed: 4, have: 1 };
    assert_eq!(walked[..2], [(0, Ok(Opcode::Addi)), (4, Ok(Opcode::CAdd))]);
    assert_eq!(walked.len(), 3);
    assert!(walked[2].1.is_err(), "{short}");
}

#[test]
fn computed_values_are_set_through_their_bits() {
    let Kind::Beq(beq) = "beq a0, zero, -8".parse::<Instruction>().expect("a branch").kind() else { panic!("a beq") };
    assert_eq!(beq.to(), -8);
    assert_eq!(beq.with_to(4094).map(|b| b.instruction().to_string()).as_deref(), Some("beq a0, zero, 4094"));
    assert_eq!(beq.with_to(3), None, "an odd distance has no bits");
}

#[test]
fn registers_are_known() {
    let instruction: Instruction = "c.lw s1, 4(a0)".parse().expect("a load");
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    instruction.reads(&mut |register| reads.push(register.first));
    instruction.writes(&mut |register| writes.push(register.first));
    assert_eq!((reads, writes), (vec![10], vec![9]));
}
