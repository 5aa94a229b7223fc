//! Operands of a word, decoded by the tables of the instruction set.

use isaforge_core::bits::sign_extend;
use isaforge_core::decode::{alternative_of, list_len};
use isaforge_core::table::{self, Alternative, Shape, Type};
use isaforge_valhall::{
    FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, ISA, Immediates, Register, RegisterList, Source, Uniform,
};

/// An operand of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) enum Operand {
    /// An eight-bit source.
    Source(Source),
    /// A register.
    Register(Register),
    /// A list of staging registers.
    List(RegisterList),
    /// A number, sign-extended if it is signed.
    Number(u64),
}

impl Operand {
    /// Decodes an operand of a valid word.
    pub fn new(operand: &table::Operand, word: u64) -> Operand {
        match &operand.shape {
            Shape::Number { bits, ty, .. } => {
                let number = bits.get(word, 0);
                Operand::Number(if *ty == Type::Signed { sign_extend(number, bits.width()) as u64 } else { number })
            }
            Shape::List { kind, at, count, .. } => {
                let first = ISA.kinds[usize::from(*kind)].alternatives[0].fields[0].bits.get(word, *at);
                Operand::List(RegisterList::new(first as u16, list_len(count, word) as u16))
            }
            Shape::One { kind, at } => {
                let kind = &ISA.kinds[usize::from(*kind)];
                let alternative = alternative_of(ISA, kind.alternatives, *at, word);
                let read = |alternative: &Alternative| {
                    let field =
                        |index: usize| alternative.fields.get(index).map_or(0, |field| field.bits.get(word, *at));
                    read(kind.name, alternative.name, [field(0), field(1)])
                };
                // Any word that decodes has one of the readings.
                alternative.and_then(read).unwrap_or(Operand::Number(0))
            }
        }
    }
}

/// Creates an operand from the names of its kind and its reading in the specification.
fn read(kind: &str, alternative: &str, [first, second]: [u64; 2]) -> Option<Operand> {
    let (index, word) = (first as usize, second as u8);
    Some(Operand::Source(match alternative {
        "register" if kind == "source" => Source::Register(Register::new(index)?),
        "register" => return Some(Operand::Register(Register::new(index)?)),
        "last_use" => Source::LastUse(Register::new(index)?),
        "uniform" => Source::Uniform(Uniform::new(index)?),
        "constant" => Source::Constant(Immediates::new(index)?),
        "special_0" => Source::Special0 { name: FauSpecialPage0::from_bits(first)?, word },
        "special_1" => Source::Special1 { name: FauSpecialPage1::from_bits(first)?, word },
        "special_3" => Source::Special3 { name: FauSpecialPage3::from_bits(first)?, word },
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use isaforge_core::sample::{Random, sample};
    use isaforge_valhall::{Instruction, decode};

    use super::*;

    #[test]
    fn operands_are_those_of_the_typed_accessors() {
        let mut random = Random(7);
        let opcode = |name: &str| ISA.forms.iter().position(|form| form.name.str == name).unwrap() as u16;
        let (add, branch, load) = (opcode("IADD.u32"), opcode("BRANCHZ"), opcode("LOAD.i32"));
        let operand =
            |opcode: u16, index: usize, word: u64| Operand::new(&ISA.forms[usize::from(opcode)].operands[index], word);
        for _ in 0..2000 {
            for form in [add, branch, load] {
                let word = sample(ISA, form, &mut random);
                match decode(word).unwrap() {
                    Instruction::IaddU32(i) => {
                        assert_eq!(operand(form, 0, word), Operand::Register(i.dest()), "{word:#018x}");
                        assert_eq!(operand(form, 1, word), Operand::Source(i.src0()), "{word:#018x}");
                        assert_eq!(operand(form, 2, word), Operand::Source(i.src1()), "{word:#018x}");
                    }
                    Instruction::Branchz(i) => {
                        assert_eq!(
                            operand(form, 1, word),
                            Operand::Number(i64::from(i.offset()) as u64),
                            "{word:#018x}"
                        );
                    }
                    Instruction::LoadI32(i) => assert_eq!(operand(form, 0, word), Operand::List(i.sr()), "{i:?}"),
                    other => panic!("{other}: another instruction"),
                }
            }
        }
    }
}
