//! The registers of generated instructions are those of the readings of their operands.

use isaforge_core::Isa;
use isaforge_core::decode::{alternative_of, list_len};
use isaforge_core::registers::RegisterUse;
use isaforge_core::sample::{Random, sample};
use isaforge_core::table::{Access, Shape, Type};

use crate::seed;

/// The registers that a word reads or writes, by the readings of its operands in order.
fn expected(isa: &'static Isa, opcode: u16, word: u64, write: bool) -> Vec<RegisterUse> {
    let mut found = Vec::new();
    for (index, operand) in isa.forms[usize::from(opcode)].operands.iter().enumerate() {
        let wanted = match operand.access {
            Access::None => false,
            Access::Read => !write,
            Access::Write => write,
            Access::ReadWrite => true,
        };
        let (kind, at, count) = match &operand.shape {
            _ if !wanted => continue,
            Shape::One { kind, at } => (*kind, *at, None),
            Shape::List { kind, at, count, .. } => (*kind, *at, Some(list_len(count, word))),
            Shape::Number { .. } => continue,
        };
        let reading = alternative_of(isa, isa.kinds[usize::from(kind)].alternatives, at, word);
        let reading = reading.expect("an operand of a valid word has a reading");
        for field in reading.fields {
            let Type::Register(bank) = field.ty else { continue };
            let width = u32::from(isa.banks[usize::from(bank)].width.max(1));
            let count = count.unwrap_or(u32::from(operand.size).div_ceil(width).max(1)) as u16;
            let first = field.bits.get(word, at) as u16;
            if count > 0 {
                found.push(RegisterUse { bank, first, count, operand: index as u8 });
            }
            break;
        }
    }
    found
}

/// Compares the registers of words of every form of a set.
fn compare(isa: &'static Isa, registers: impl Fn(u64, bool) -> Vec<RegisterUse>) {
    let mut random = Random(seed::seed(104));
    let mut seen = 0;
    for opcode in 0..isa.forms.len() as u16 {
        for _ in 0..100 * seed::rounds() {
            let word = sample(isa, opcode, &mut random);
            for write in [false, true] {
                let found = registers(word, write);
                assert_eq!(found, expected(isa, opcode, word, write), "{}: {word:#x}, {write}", isa.name);
                seen += found.len();
            }
        }
    }
    assert!(seen > 100 * isa.forms.len(), "{}: {seen} registers", isa.name);
}

#[test]
fn instructions_read_and_write_what_their_operands_readings_say() {
    compare(isaforge_valhall::ISA, |word, write| {
        let found = isaforge_valhall::decode(word).expect("it is valid");
        if write { found.writes().collect() } else { found.reads().collect() }
    });
    compare(isaforge_valhall_2021::ISA, |word, write| {
        let found = isaforge_valhall_2021::decode(word).expect("it is valid");
        if write { found.writes().collect() } else { found.reads().collect() }
    });
    compare(isaforge_vpu::ISA, |word, write| {
        let found = isaforge_vpu::decode(word).expect("it is valid");
        if write { found.writes().collect() } else { found.reads().collect() }
    });
}
