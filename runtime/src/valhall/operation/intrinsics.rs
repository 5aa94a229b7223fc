//! What the texts of the specification name and do not define, by name.

use isaforge_core::semantics::evaluate::Column;

use super::environment::Executing;
use crate::valhall::step::Fault;
use crate::valhall::warp::LANES;

/// An intrinsic: the warp, its arguments, the lanes in which it happens.
pub(super) type Intrinsic = fn(&mut Executing<'_, '_>, &[Column<LANES>], u16) -> Result<Column<LANES>, Fault>;

/// All of them.
const INTRINSICS: &[(&str, Intrinsic)] = &[
    ("exp2", |_, x, _| Ok(x[0].map(exp2))),
    ("log_slope", |_, x, _| Ok(x[0].map(log_slope))),
    ("sine", |_, x, _| Ok(x[0].map(sine))),
    ("arctangent", |_, x, _| Ok(x[0].map(|x| f64::from_bits(x).atan().to_bits()))),
];

/// The bits of a number, rounded once.
fn single(value: f64) -> u64 {
    u64::from((value as f32).to_bits())
}

fn exp2(x: u64) -> u64 {
    single((f64::from(x as u32 as i32) / f64::from(1 << 24)).exp2())
}

fn log_slope(x: u64) -> u64 {
    let x = f64::from(f32::from_bits(x as u32));
    single(if x == 1.0 { std::f64::consts::LOG2_E } else { x.log2() / (x - 1.0) })
}

fn sine(x: u64) -> u64 {
    // A quarter of the circle, mirrored, so that zeros are exact.
    let step = x & 15;
    let within = if x & 16 == 0 { step } else { 16 - step };
    let value = single((within as f64 * (std::f64::consts::PI / 32.0)).sin());
    if x & 32 == 0 || within == 0 { value } else { value | 0x8000_0000 }
}

/// The intrinsic of a name. `None` where the machine does not have it.
pub(super) fn find(name: &str) -> Option<Intrinsic> {
    INTRINSICS.iter().find(|(known, _)| *known == name).map(|(_, intrinsic)| *intrinsic)
}

/// The fault of a name.
pub(super) fn fault(name: &'static str, lane: usize, datum: u64) -> Fault {
    match name {
        "misaligned" => Fault::Misaligned { lane, address: datum },
        "pixel_index" => Fault::PixelIndex { lane, index: datum as u32 },
        _ => Fault::Unsupported(name),
    }
}

#[cfg(test)]
mod tests {
    use isaforge_valhall::semantics::SEMANTICS;

    use super::*;

    #[test]
    fn the_machine_has_the_intrinsics_of_the_specification_and_no_others() {
        for intrinsic in SEMANTICS.intrinsics {
            assert!(find(intrinsic.name).is_some(), "{}", intrinsic.name);
        }
        for (name, _) in INTRINSICS {
            assert!(SEMANTICS.intrinsics.iter().any(|intrinsic| intrinsic.name == *name), "{name}");
        }
    }
}
