//! Operations that v9 has no encoding for; their rules are here for later architectures.

use crate::valhall::rules::float32::{self, Flush, Nans};
use crate::valhall::rules::integer::{self, Lanes};
use crate::valhall::rules::rounding::{F16, F32, Format, Rounding};
use crate::valhall::rules::shift::{Logic, Shift, shift_logic};
use crate::valhall::rules::{convert, float16};

use isaforge_valhall::Clamp;

use super::{Input, VectorError};

/// The result of an operation that only the rules know; `None` for one that may be an instruction.
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
        let counts = match bits {
            // The lowest bytes of the halves, as `b02` says.
            16 => [0, 0, 16, 16].map(|shift| (word(counts) >> shift) as u8),
            _ => word(counts).to_le_bytes(),
        };
        let not = words.take("not_result");
        words.take("src1.b02");
        shift_logic(kind, logic, bits, a.value, counts, b.value, not)
    } else if base == "CLZ" && words.take("mask") {
        let (Some(lanes), [a]) = (lanes(ty), take(1)?) else { return Ok(None) };
        integer::leading_zeros(lanes, word(a), true).into()
    } else if matches!(base, "FMIN" | "FMAX") && words.take("nan_propagate") {
        let [a, b] = take(2)? else { return Ok(None) };
        let least = base == "FMIN";
        let single = if least { float32::min } else { float32::max };
        let half = if least { float16::min } else { float16::max };
        let clamp = words.clamp();
        match ty {
            "f32" => float32::clamp(single(word(a), word(b), Nans::Propagate), clamp).into(),
            "v2f16" => halves(|shift| float16::clamp(half(part(a, shift), part(b, shift), Nans::Propagate), clamp)),
            _ => return Ok(None),
        }
    } else if let Some(rounding) = directed(modifiers).filter(|_| matches!(base, "FADD" | "FMUL" | "FMA")) {
        words.left.retain(|word| directed(&[word]).is_none());
        let inputs = take(if base == "FMA" { 3 } else { 2 })?;
        let clamp = words.clamp();
        // A product is a sum with the zero that keeps its sign.
        let zero = if rounding == Rounding::Down { 0 } else { u32::MAX };
        let [a, b, c] = [0, 1, 2].map(|index| inputs.get(index).copied());
        let compute = |format: &Format, shift: u32| {
            let [a, b, c] = [a, b, c].map(|input| {
                input.map_or(zero & format.sign, |input| {
                    (input.value >> shift) as u32 & (format.sign | (format.sign - 1))
                })
            });
            if base == "FADD" { format.add(a, b, rounding) } else { format.fused(a, b, c, 0, rounding) }
        };
        match ty {
            "f32" => float32::clamp(compute(&F32, 0), clamp).into(),
            "v2f16" => halves(|shift| float16::clamp(compute(&F16, shift) as u16, clamp)),
            _ => return Ok(None),
        }
    } else if base == "FROUND" && words.take("round_na") {
        let [a] = take(1)? else { return Ok(None) };
        match ty {
            "f32" => convert::round_f32(word(a), Rounding::NearestAway).into(),
            "v2f16" => halves(|shift| convert::round_f16(part(a, shift), Rounding::NearestAway)),
            _ => return Ok(None),
        }
    } else if operation == "FLUSH.f32" {
        let [a] = take(1)? else { return Ok(None) };
        let what =
            Flush { subnormals: words.take("ftz"), infinities: words.take("flush_inf"), nans: words.take("flush_nan") };
        words.take("quiet_nan");
        float32::flush(word(a), what).into()
    } else if matches!(operation, "IMUL 32x32->64 s" | "IMULD.s64") {
        let [a, b] = take(2)? else { return Ok(None) };
        integer::multiply_wide(word(a), word(b), true)
    } else {
        return Ok(None);
    };
    words.none_left().map(|()| Some(found))
}

/// The modifiers that nobody has asked for yet.
struct Words<'a> {
    operation: &'a str,
    left: Vec<&'a str>,
}

impl Words<'_> {
    /// Whether a modifier is there; it is then done with.
    fn take(&mut self, word: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|left| *left != word);
        self.left.len() < before
    }

    /// The limits of the result.
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

/// The first modifier that rounds in a direction.
fn directed(modifiers: &[&str]) -> Option<Rounding> {
    modifiers.iter().find_map(|word| match *word {
        "round_up" => Some(Rounding::Up),
        "round_down" => Some(Rounding::Down),
        "round_zero" => Some(Rounding::Zero),
        _ => None,
    })
}

fn rotation(base: &str) -> Option<(Shift, Logic)> {
    let (kind, logic) = base.split_once('_')?;
    let kind = match kind {
        "LROT" => Shift::RotateLeft,
        "RROT" => Shift::RotateRight,
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

/// The width of the components that a type names.
fn width(ty: &str) -> Option<u32> {
    Some(match ty {
        "i64" | "u64" | "s64" => 64,
        _ => lanes(ty)?.bits,
    })
}

fn lanes(ty: &str) -> Option<Lanes> {
    Some(match ty {
        "u32" | "i32" => integer::U32,
        "v2u16" | "v2i16" => integer::U16,
        "v4u8" | "v4i8" => integer::U8,
        _ => return None,
    })
}

fn part(input: &Input, shift: u32) -> u16 {
    (input.value >> shift) as u16
}

fn halves(f: impl Fn(u32) -> u16) -> u64 {
    u64::from(f(0)) | u64::from(f(16)) << 16
}
