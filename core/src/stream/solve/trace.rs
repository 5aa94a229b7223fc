//! Traces a computed value back to the fields that determine it.

use super::Frame;
use crate::bits::ones;
use crate::stream::decode::Engine;
use crate::stream::expression::Input;
use crate::stream::table::Source;

/// The maximum number of bits of a single value that are enumerated before arithmetic methods are tried.
const MAX_ENUMERATED_BITS: u32 = 8;

impl Frame {
    /// Traces a computed field back. With `only`, succeeds only if the solution is unique; otherwise sets bits that do
    /// not matter to zero.
    pub(super) fn traced(&self, engine: Engine, index: u8, only: bool) -> Option<Frame> {
        let field = self.layout.fields.get(usize::from(index))?;
        let Source::Computed { inverse, .. } = field.source else { return None };
        let target = self.values[usize::from(index)];
        if !inverse.is_empty() {
            return self.back(engine, inverse);
        }
        let unknown = field.leaves & !self.known;
        let width = self.width_of(unknown);
        if width > 64 {
            return None;
        }
        let mut frame = *self;
        let mut give = |bits: u64| {
            frame.fill(unknown, bits);
            frame.value(engine, index, 0)
        };
        let bits = if width <= MAX_ENUMERATED_BITS {
            // With `only`, the solution must be unique, since other fields may require a different one.
            let mut ways = (0..1u64 << width).filter(|bits| give(*bits) == target);
            ways.next().filter(|_| !only || ways.next().is_none())
        } else {
            affine(target, unknown.count_ones() == 1, width, &mut give)
                .or_else(|| linear(target, width, only, &mut give))
        }?;
        frame.fill(unknown, bits & ones(width));
        Some(frame)
    }

    /// Adds the results of the inverse for a known value, if all its inputs are known.
    pub(super) fn back(&self, engine: Engine, inverse: &[(u8, u16)]) -> Option<Frame> {
        let mut frame = *self;
        for (other, expression) in inverse {
            let asked = engine.stream.expressions.get(usize::from(*expression))?.inputs;
            let is_known = |input: &Input| match input {
                Input::Field(field) => frame.known(engine, *field).is_some(),
                _ => true,
            };
            let known = |field: u8| frame.known(engine, field).unwrap_or(0);
            let value = engine.expression(*expression, frame.len.unwrap_or(0), &known);
            if !asked.iter().all(is_known) || !frame.set(*other, value) {
                return None;
            }
        }
        Some(frame)
    }
}

/// Solves `give(x) == target` for `x` of `width` bits, where `give` multiplies by a factor and adds an offset.
fn affine(target: u64, single: bool, width: u32, mut give: impl FnMut(u64) -> u64) -> Option<u64> {
    let offset = give(0);
    let factor = give(1).wrapping_sub(offset) as i64;
    let distance = target.wrapping_sub(offset) as i64;
    if !single || factor == 0 || distance.checked_rem(factor)? != 0 {
        return None;
    }
    let found = distance.checked_div(factor)? as u64;
    // If only a part of a number matters, it is not a multiple, and other fields may need the rest. The top bit may be
    // a sign.
    let step = |bit: u32| (factor as u64).checked_shl(bit).unwrap_or(0);
    let whole = (0..width).all(|bit| {
        let given = give(1 << bit).wrapping_sub(offset);
        given == step(bit) || bit + 1 == width && given == step(bit).wrapping_neg()
    });
    (whole && give(found) == target).then_some(found)
}

/// Solves `give(x) == target` for `x` of `width` bits, where every bit of the result is a sum of bits of `x`. With
/// `only`, the solution must be unique.
fn linear(target: u64, width: u32, only: bool, mut give: impl FnMut(u64) -> u64) -> Option<u64> {
    let offset = give(0);
    // Columns in echelon form: the result bits of each, and the bits of `x` that produce them.
    let mut rows = [(0u64, 0u64); 64];
    for bit in 0..width {
        let (mut gives, mut made) = (give(1 << bit) ^ offset, 1u64 << bit);
        for (row, from) in rows.iter().rev() {
            if *row != 0 && gives >> (63 - row.leading_zeros()) & 1 != 0 {
                gives ^= row;
                made ^= from;
            }
        }
        if gives == 0 {
            if only {
                return None;
            }
            continue;
        }
        rows[63 - gives.leading_zeros() as usize] = (gives, made);
    }
    let (mut rest, mut found) = (target ^ offset, 0);
    for (at, (row, from)) in rows.iter().enumerate().rev() {
        if rest >> at & 1 != 0 && *row != 0 {
            rest ^= row;
            found ^= from;
        }
    }
    (rest == 0 && give(found) == target).then_some(found)
}
