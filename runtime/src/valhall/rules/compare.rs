//! Comparisons, selections and masks.

#[cfg(test)]
use super::integer::Lanes;
#[cfg(test)]
use isaforge_valhall::Mux;
use isaforge_valhall::{Condition, ResultType};
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
}

/// `a` where the component of the mask passes the test, else `b` (tested; `fp_zero` of narrower components than 32
/// bits ignores their sign bit, which is ours for bytes).
#[cfg(test)]
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
