//! Comparisons, selections and masks.

use super::float16;
use super::integer::Lanes;
use super::rounding::F32;
use isaforge_valhall::{Condition, Mux, ResultType};
use std::cmp::Ordering;

/// Whether an order of integers meets a condition. The conditions that only floats know are read as their nearest
/// integer kin: `gtlt` is "different", `total` is "less or equal" (ours).
pub fn holds(condition: Condition, order: Ordering) -> bool {
    match condition {
        Condition::Eq => order.is_eq(),
        Condition::Gt => order.is_gt(),
        Condition::Ge => order.is_ge(),
        Condition::Ne | Condition::Gtlt => order.is_ne(),
        Condition::Lt => order.is_lt(),
        Condition::Le | Condition::Total => order.is_le(),
    }
}

/// Whether two f32 meet a condition. A NaN fails all but `ne` and `total`; `total` is IEEE 754's totalOrder, which puts
/// -0 below +0 and NaNs at the ends by sign and payload (tested).
pub fn holds_f32(condition: Condition, a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match condition {
        Condition::Total => x.total_cmp(&y).is_le(),
        _ if F32.is_nan(a) || F32.is_nan(b) => condition == Condition::Ne,
        // Neither is NaN, so they are ordered.
        _ => holds(condition, x.partial_cmp(&y).unwrap_or(Ordering::Equal)),
    }
}

/// Whether two f16 meet a condition; as [`holds_f32`].
pub fn holds_f16(condition: Condition, a: u16, b: u16) -> bool {
    holds_f32(condition, float16::widen(a), float16::widen(b))
}

/// Which values a comparison writes for a component of some width.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// The type of the result.
    pub result: ResultType,
    /// Bits of a component.
    pub bits: u32,
}

impl Truth {
    /// The component that stands for `holds` (tested). `u1` has a meaning of its own only in [`Truth::tie`]; elsewhere
    /// it is read as `i1` (ours), and so is `f1` for bytes, which have no float (ours).
    pub fn value(self, holds: bool) -> i64 {
        match (self.result, self.bits) {
            _ if !holds => 0,
            (ResultType::M1, _) => -1,
            (ResultType::F1, 32) => 0x3f80_0000,
            (ResultType::F1, 16) => 0x3c00,
            _ => 1,
        }
    }

    /// The component for a three-way order; `u1` writes the order itself, -1, 0 or 1 (tested).
    pub fn tie(self, condition: Condition, order: Ordering) -> i64 {
        if self.result == ResultType::U1 { order as i64 } else { self.value(holds(condition, order)) }
    }
}

/// What a comparison does with its third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Third {
    /// True when the comparison holds or the third source is not zero.
    Or,
    /// True when the comparison holds and the third source is not zero.
    And,
    /// The sign of the third source decides between equal operands.
    Tie,
}

impl Third {
    /// The choice of the modifiers `and` and `seq`; `seq` wins when both are written (ours).
    pub fn new(and: bool, seq: bool) -> Self {
        match (seq, and) {
            (true, _) => Third::Tie,
            (false, true) => Third::And,
            (false, false) => Third::Or,
        }
    }

    fn joins(self, holds: bool, other: bool) -> bool {
        if self == Third::And { holds && other } else { holds || other }
    }
}

/// Integer comparison of each component, joined with the third source (tested).
pub fn compare_integers(
    lanes: Lanes,
    condition: Condition,
    third: Third,
    truth: ResultType,
    a: u32,
    b: u32,
    c: u32,
) -> u32 {
    let truth = Truth { result: truth, bits: lanes.bits };
    // The third source's sign is asked for, so it is always read as signed.
    let sign = |c: i64| (c << (64 - lanes.bits)).signum();
    lanes.zip3(a, b, c, |a, b, c| match third {
        Third::Tie => truth.tie(condition, a.cmp(&b).then(sign(c).cmp(&0))),
        _ => truth.value(third.joins(holds(condition, a.cmp(&b)), c != 0)),
    })
}

/// Float comparison, joined with the third source (tested).
pub fn compare_f32(condition: Condition, and: bool, truth: ResultType, a: u32, b: u32, c: u32) -> u32 {
    let third = Third::new(and, false);
    Truth { result: truth, bits: 32 }.value(third.joins(holds_f32(condition, a, b), c != 0)) as u32
}

/// Float comparison of each half, joined with the third source (tested).
pub fn compare_f16(condition: Condition, and: bool, truth: ResultType, a: u32, b: u32, c: u32) -> u32 {
    let third = Third::new(and, false);
    let truth = Truth { result: truth, bits: 16 };
    super::integer::U16
        .zip3(a, b, c, |a, b, c| truth.value(third.joins(holds_f16(condition, a as u16, b as u16), c != 0)))
}

/// `c` where `a condition b`, else `d`, each component for itself (tested).
pub fn select_integers(lanes: Lanes, condition: Condition, [a, b, c, d]: [u32; 4]) -> u32 {
    let chosen = lanes.zip(a, b, |a, b| -i64::from(holds(condition, a.cmp(&b))));
    c & chosen | d & !chosen
}

/// `c` where `a condition b`, else `d` (tested).
pub fn select_f32(condition: Condition, [a, b, c, d]: [u32; 4]) -> u32 {
    if holds_f32(condition, a, b) { c } else { d }
}

/// `c` where `a condition b`, else `d`, each half for itself (tested).
pub fn select_f16(condition: Condition, [a, b, c, d]: [u32; 4]) -> u32 {
    let chosen = super::integer::U16.zip(a, b, |a, b| -i64::from(holds_f16(condition, a as u16, b as u16)));
    c & chosen | d & !chosen
}

/// `a` where the component of the mask passes the test, else `b` (tested; `fp_zero` of narrower components than 32
/// bits ignores their sign bit, which is ours for bytes).
pub fn mux(lanes: Lanes, mux: Mux, a: u32, b: u32, mask: u32) -> u32 {
    let sign = 1 << (lanes.bits - 1);
    let chosen = match mux {
        Mux::Bit => mask,
        Mux::Neg => lanes.map(mask, |m| -i64::from(m & sign != 0)),
        Mux::IntZero => lanes.map(mask, |m| -i64::from(m == 0)),
        Mux::FpZero => lanes.map(mask, |m| -i64::from(m & (sign - 1) == 0)),
    };
    a & chosen | b & !chosen
}
