//! Random valid words, for property tests and fuzzing.

use crate::bits::ones;
use crate::decode::decode;
use crate::encode::{Builder, greatest, list_lengths_in};
use crate::error::{EncodeError, ParseReason};
use crate::parse::parse;
use crate::print::{Style, print};
use crate::table::{Isa, Modifier, Shape, Type};
use crate::text::Line;

/// A small, reproducible random number generator (splitmix64) for tests.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and a loop over it would be a mistake")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.next() % n }
    }
}

/// A random valid word of a form. Every modifier and operand is drawn from its whole range.
pub fn sample(isa: &'static Isa, opcode: u16, random: &mut Random) -> u64 {
    let mut builder = Builder::new(isa, opcode);
    let form = builder.form();
    for modifier in form.modifiers {
        sample_modifier(isa, &mut builder, modifier, random);
    }
    for (index, operand) in form.operands.iter().enumerate() {
        match &operand.shape {
            Shape::One { kind, .. } => {
                let alternatives = isa.kinds[*kind as usize].alternatives;
                // A reading may conflict with an earlier operand over a shared field, so draw again.
                for _ in 0..64 {
                    let chosen = random.below(alternatives.len() as u64) as usize;
                    let mut values = [0; crate::parse::MAX_FIELDS];
                    for (value, field) in values.iter_mut().zip(alternatives[chosen].fields) {
                        *value = match field.ty {
                            Type::Enum(e) => {
                                let named = isa.enums[e as usize].values;
                                named.get(random.below(named.len() as u64) as usize).map_or(0, |v| v.bits)
                            }
                            ty => random.next() % (greatest(isa, ty, field.bits.width()).saturating_add(1)).max(1),
                        };
                    }
                    if builder.set_operand(index, chosen, &values).is_ok() {
                        break;
                    }
                }
            }
            Shape::List { .. } => {
                let (least, most) = list_lengths_in(operand, builder.word());
                for _ in 0..64 {
                    let count = least as u64 + random.below((most - least) as u64 + 1);
                    if builder.set_list(index, random.below(256), count).is_ok() {
                        break;
                    }
                }
            }
            Shape::Number { bits, .. } => builder.set_bits(*bits, random.next() & ones(bits.width())),
        }
        for suffix in operand.suffixes {
            sample_modifier(isa, &mut builder, suffix, random);
        }
    }
    builder.word() | random.next() & form.ignored
}

fn sample_modifier(isa: &'static Isa, builder: &mut Builder, modifier: &'static Modifier, random: &mut Random) {
    let value = match modifier.ty {
        Type::Enum(e) => {
            let named = isa.enums[e as usize].values;
            named.get(random.below(named.len() as u64) as usize).map_or(0, |v| v.bits)
        }
        _ => random.next(),
    };
    builder.set_bits(modifier.bits, value);
}

/// Checks, for `rounds` random words of every form, that decoding finds the form, that encoding the decoded instruction
/// gives the same word (`decode_encode` does both), and that the exact text parses to the same word.
///
/// Also checks that the assembler rejects text that breaks one of the [limits](crate::table::Limit).
///
/// # Panics
/// When any of these checks fails: this is the body of a test.
pub fn check_identities(isa: &'static Isa, rounds: u64, decode_encode: impl Fn(u64) -> Option<u64>) {
    let mut random = Random(0x15af_0e9e);
    for opcode in 0..isa.forms.len() as u16 {
        for _ in 0..rounds {
            let word = sample(isa, opcode, &mut random);
            let name = isa.forms[opcode as usize].name.str;
            assert_eq!(decode(isa, word), Ok(opcode), "{name}: {word:#018x} is a valid word");
            assert_eq!(decode_encode(word), Some(word), "{name}: decode and encode {word:#018x}");
            let mut line = Line::new();
            print(isa, opcode, word, Style::Exact, &mut line);
            match parse(isa, line.as_str()) {
                Ok(read) => {
                    assert_eq!(read, (opcode, word), "{name}: text {line:?}");
                }
                Err(error) => {
                    let limit = matches!(error.reason, ParseReason::Encode(EncodeError::Limit { .. }));
                    assert!(limit, "{name}: {line:?} does not read back: {error}");
                }
            }
        }
    }
}
