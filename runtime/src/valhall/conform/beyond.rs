//! Operations without an encoding in v9 that later architectures have.

use isaforge_core::bits::ones;
use isaforge_core::float::{self, Format, Round};
use isaforge_valhall::Clamp;

use super::error::VectorError;
use super::input::Input;

/// Computes an operation that no instruction performs. `None` for one that may be an instruction.
pub(super) fn ask(operation: &str, modifiers: &[&str], inputs: &[Input]) -> Result<Option<u64>, VectorError> {
    let (base, ty) = operation.split_once('.').unwrap_or((operation, ""));
    let mut words = Words { operation, left: modifiers.to_vec() };
    let take = |count: usize| {
        let given = inputs.len();
        let wrong = || VectorError::Inputs { operation: operation.to_owned(), takes: count, given };
        if given == count { Ok(inputs) } else { Err(wrong()) }
    };
    let word = |input: &Input| input.value as u32;
    let found = if let Some((kind, logic)) = rotation(base) {
        let [a, counts, b] = take(3)? else { return Ok(None) };
        let Some(bits) = width(ty) else { return Ok(None) };
        let not = words.take("not_result");
        words.take("src1.b02");
        let total = bits.max(32);
        // The count of a component is in its lowest byte.
        let rotated = components(bits, total, |at| rotate(kind, bits, a.value >> at, word(counts) >> at));
        let combined = match logic {
            Logic::And => rotated & b.value,
            Logic::Or => rotated | b.value,
            Logic::Xor => rotated ^ b.value,
        };
        (if not { !combined } else { combined }) & ones(total)
    } else if base == "CLZ" && words.take("mask") {
        let (Some(bits), [a]) = (width(ty).filter(|bits| *bits <= 32), take(1)?) else { return Ok(None) };
        components(bits, 32, |at| match a.value >> at & ones(bits) {
            // All ones, where other operations return the number of bits.
            0 => u64::MAX,
            value => u64::from(value.leading_zeros()) - u64::from(64 - bits),
        })
    } else if matches!(base, "FMIN" | "FMAX") && words.take("nan_propagate") {
        let [a, b] = take(2)? else { return Ok(None) };
        let extreme = if base == "FMIN" { float::min } else { float::max };
        let clamp = words.clamp();
        let Some(format) = format(ty) else { return Ok(None) };
        floats(format, |at| {
            let [a, b] = [a, b].map(|input| input.value >> at & format.mask());
            let nan = format.is_nan(a) || format.is_nan(b);
            limit(format, if nan { format.quiet_nan() } else { extreme(format, a, b) }, clamp)
        })
    } else if let Some(rounding) = directed(modifiers).filter(|_| matches!(base, "FADD" | "FMUL" | "FMA")) {
        words.left.retain(|word| directed(&[word]).is_none());
        let inputs = take(if base == "FMA" { 3 } else { 2 })?;
        let clamp = words.clamp();
        // A product is computed as a sum with the zero that keeps its sign.
        let zero = if rounding == Round::Down { 0 } else { u64::MAX };
        let [a, b, c] = [0, 1, 2].map(|index| inputs.get(index).copied());
        let Some(format) = format(ty) else { return Ok(None) };
        floats(format, |at| {
            let [a, b, c] =
                [a, b, c].map(|input| input.map_or(zero & format.sign(), |input| input.value >> at & format.mask()));
            let sum =
                if base == "FADD" { float::add(format, a, b, rounding) } else { float::fma(format, a, b, c, rounding) };
            limit(format, sum, clamp)
        })
    } else if base == "FROUND" && words.take("round_na") {
        let ([a], Some(format)) = (take(1)?, format(ty)) else { return Ok(None) };
        floats(format, |at| float::round_to_integral(format, a.value >> at & format.mask(), Round::Away))
    } else if operation == "FLUSH.f32" {
        let [a] = take(1)? else { return Ok(None) };
        let (subnormals, infinities, nans) = (words.take("ftz"), words.take("flush_inf"), words.take("flush_nan"));
        words.take("quiet_nan");
        let value = f32::from_bits(word(a));
        let flushed = match value {
            _ if value.is_nan() => {
                if nans {
                    0.0
                } else {
                    f32::NAN
                }
            }
            _ if value.is_infinite() && infinities => f32::MAX.copysign(value),
            _ if value.is_subnormal() && subnormals => 0f32.copysign(value),
            _ => value,
        };
        flushed.to_bits().into()
    } else if matches!(operation, "IMUL 32x32->64 s" | "IMULD.s64") {
        let [a, b] = take(2)? else { return Ok(None) };
        (i64::from(word(a) as i32) * i64::from(word(b) as i32)) as u64
    } else {
        return Ok(None);
    };
    words.none_left().map(|()| Some(found))
}

/// The modifiers that have not been used yet.
struct Words<'a> {
    operation: &'a str,
    left: Vec<&'a str>,
}

impl Words<'_> {
    /// Whether a modifier is present. It is removed then.
    fn take(&mut self, word: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|left| *left != word);
        self.left.len() < before
    }

    /// Takes the clamp of the result.
    fn clamp(&mut self) -> Clamp {
        Clamp::ALL.iter().copied().find(|clamp| self.take(clamp.as_str())).unwrap_or(Clamp::None)
    }

    fn none_left(mut self) -> Result<(), VectorError> {
        self.take("none");
        match self.left.first() {
            None => Ok(()),
            Some(word) => {
                Err(VectorError::Modifier { operation: self.operation.to_owned(), modifier: (*word).to_owned() })
            }
        }
    }
}

/// The first directed rounding mode among the modifiers.
fn directed(modifiers: &[&str]) -> Option<Round> {
    modifiers.iter().find_map(|word| match *word {
        "round_up" => Some(Round::Up),
        "round_down" => Some(Round::Down),
        "round_zero" => Some(Round::Zero),
        _ => None,
    })
}

/// The combination of a rotated value with another source.
#[derive(Clone, Copy, Debug)]
enum Logic {
    And,
    Or,
    Xor,
}

/// The direction of a rotation.
#[derive(Clone, Copy, Debug)]
enum Rotation {
    Left,
    Right,
}

fn rotation(base: &str) -> Option<(Rotation, Logic)> {
    let (kind, logic) = base.split_once('_')?;
    let kind = match kind {
        "LROT" => Rotation::Left,
        "RROT" => Rotation::Right,
        _ => return None,
    };
    let logic = match logic {
        "AND" => Logic::And,
        "OR" => Logic::Or,
        "XOR" => Logic::Xor,
        _ => return None,
    };
    Some((kind, logic))
}

/// Rotates a component by a count modulo its width.
fn rotate(kind: Rotation, bits: u32, value: u64, count: u32) -> u64 {
    let (value, count) = (value & ones(bits), count & (bits - 1));
    let around = (bits - count) & (bits - 1);
    match kind {
        Rotation::Left => value << count | value >> around,
        Rotation::Right => value >> count | value << around,
    }
}

/// The width of the components of a type.
fn width(ty: &str) -> Option<u32> {
    Some(match ty {
        "i64" | "u64" | "s64" => 64,
        "u32" | "i32" => 32,
        "v2u16" | "v2i16" => 16,
        "v4u8" | "v4i8" => 8,
        _ => return None,
    })
}

/// Builds a value from components of `bits` bits, each computed from its bit position.
fn components(bits: u32, total: u32, make: impl Fn(u32) -> u64) -> u64 {
    (0..total).step_by(bits as usize).fold(0, |all, at| all | (make(at) & ones(bits)) << at)
}

/// The float format of a type.
fn format(ty: &str) -> Option<Format> {
    match ty {
        "f32" => Some(Format::F32),
        "v2f16" => Some(Format::F16),
        _ => None,
    }
}

/// Builds a word of floats, each computed from its bit position.
fn floats(format: Format, make: impl Fn(u32) -> u64) -> u64 {
    components(format.bits(), 32, make)
}

/// Clamps a result; a NaN becomes the lower limit.
fn limit(format: Format, value: u64, clamp: Clamp) -> u64 {
    let one = float::convert(Format::F32, format, u64::from(1.0f32.to_bits()), Round::NearestEven);
    let (low, high) = match clamp {
        Clamp::None => return value,
        Clamp::Clamp0Inf => (0, format.infinity()),
        Clamp::ClampM1_1 => (one | format.sign(), one),
        Clamp::Clamp0_1 => (0, one),
    };
    float::min(format, float::max(format, value, low), high)
}
