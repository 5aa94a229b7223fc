//! Results of instructions that compute from registers alone.

use crate::vpu::float::{self, Lanes};
use crate::vpu::op::Alu;

fn each(a: &Lanes, b: &Lanes, f: impl Fn(u16, u16) -> u16) -> Lanes {
    let mut result = [0; 16];
    for i in 0..16 {
        result[i] = f(a[i], b[i]);
    }
    result
}

/// A function of the 32-bit integers in the pairs XY and ZW; X and Z are the low halves.
fn pairs(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut result = [0; 16];
    for i in (0..16).step_by(2) {
        let pair = |v: &Lanes| u32::from(v[i]) | u32::from(v[i + 1]) << 16;
        let value = f(pair(a), pair(b));
        (result[i], result[i + 1]) = (value as u16, (value >> 16) as u16);
    }
    result
}

#[inline]
pub(crate) fn compute(op: Alu, a: &Lanes, b: &Lanes) -> Lanes {
    match op {
        Alu::AddFloat => float::add(a, b),
        Alu::MultiplyFloat => float::multiply(a, b),
        Alu::DivideFloat => float::divide(a, b),
        Alu::ToFloat => float::from_integers(a),
        Alu::ToInteger => float::to_integers(a),
        Alu::Add16 => each(a, b, u16::wrapping_add),
        Alu::Add32 => pairs(a, b, u32::wrapping_add),
        Alu::MultiplyLow => each(a, b, u16::wrapping_mul),
        // The factors are the low halves of the pairs: components X and Z.
        Alu::MultiplyFullUnsigned => pairs(a, b, |a, b| (a & 0xffff) * (b & 0xffff)),
        Alu::MultiplyFull => pairs(a, b, |a, b| (i32::from(a as i16) * i32::from(b as i16)) as u32),
        Alu::And => each(a, b, |a, b| a & b),
        Alu::Or => each(a, b, |a, b| a | b),
        Alu::Xor => each(a, b, |a, b| a ^ b),
        Alu::Wrap => each(&float::to_integers(a), b, |a, b| a & b),
    }
}
