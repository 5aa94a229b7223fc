//! Checks against the standard library and `half`, which round to nearest even, and of the fast paths against the
//! definition.

use super::{ROUNDS, operands, pattern, random};
use crate::float::*;

#[test]
fn halves_convert_as_half_converts_them() {
    for bits in super::halves() {
        let number = half::f16::from_bits(bits);
        if number.is_nan() {
            continue;
        }
        let bits = bits.into();
        let (single, double) = (number.to_f32().to_bits().into(), number.to_f64().to_bits());
        for r in ROUNDS {
            assert_eq!(convert(Format::F16, Format::F32, bits, r), single);
            assert_eq!(convert(Format::F16, Format::F64, bits, r), double);
            assert_eq!(convert(Format::F32, Format::F16, single, r), bits);
            assert_eq!(convert(Format::F64, Format::F16, double, r), bits);
        }
    }
}

#[test]
fn singles_and_doubles_narrow_as_others_narrow_them() {
    let mut random = random();
    for _ in super::times(200_000) {
        let single = f32::from_bits(pattern(&mut random, Format::F32) as u32);
        let double = f64::from_bits(pattern(&mut random, Format::F64));
        if single.is_nan() || double.is_nan() {
            continue;
        }
        let narrow = |from, to, bits| convert(from, to, bits, Round::NearestEven);
        let half = u64::from(half::f16::from_f32_const(single).to_bits());
        assert_eq!(narrow(Format::F32, Format::F16, single.to_bits().into()), half, "{single:e}");
        assert_eq!(narrow(Format::F64, Format::F32, double.to_bits()), (double as f32).to_bits().into(), "{double:e}");
    }
}

#[test]
fn singles_and_doubles_compute_as_the_standard_library_does() {
    let mut random = random();
    let nearest = Round::NearestEven;
    for _ in super::times(100_000) {
        let [a, b, c] = operands(&mut random, Format::F64);
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let same = |name: &str, got: u64, want: f64| {
            let good = if want.is_nan() { Format::F64.is_nan(got) } else { got == want.to_bits() };
            assert!(good, "{name} of {a:#x} {b:#x} {c:#x}: {got:#x}, not {:#x}", want.to_bits());
        };
        same("sum", exact::arithmetic(Op::Add, Format::F64, a, b, nearest), x + y);
        same("difference", exact::arithmetic(Op::Sub, Format::F64, a, b, nearest), x - y);
        same("product", exact::arithmetic(Op::Mul, Format::F64, a, b, nearest), x * y);
        same("quotient", exact::arithmetic(Op::Div, Format::F64, a, b, nearest), x / y);
        same("root", sqrt(Format::F64, a, nearest), x.sqrt());
        // With 80-bit registers, musl's `fma` rounds twice; there only the oracle, which does not round, checks the
        // result.
        if cfg!(not(target_arch = "x86")) {
            same("fused", fma(Format::F64, a, b, c, nearest), x.mul_add(y, z));
        }

        let [a, b, c] = operands(&mut random, Format::F32);
        let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
        let same = |name: &str, got: u64, want: f32| {
            let good = if want.is_nan() { Format::F32.is_nan(got) } else { got == want.to_bits().into() };
            assert!(good, "{name} of {a:#x} {b:#x} {c:#x}: {got:#x}, not {:#x}", want.to_bits());
        };
        same("sum", exact::arithmetic(Op::Add, Format::F32, a, b, nearest), x + y);
        same("difference", exact::arithmetic(Op::Sub, Format::F32, a, b, nearest), x - y);
        same("product", exact::arithmetic(Op::Mul, Format::F32, a, b, nearest), x * y);
        same("quotient", exact::arithmetic(Op::Div, Format::F32, a, b, nearest), x / y);
        same("root", sqrt(Format::F32, a, nearest), x.sqrt());
        same("fused", fma(Format::F32, a, b, c, nearest), x.mul_add(y, z));
        same("fused by definition", exact::fma_scaled(Format::F32, a, b, c, 0, nearest), x.mul_add(y, z));
    }
}

#[test]
fn fast_paths_agree_with_the_definition() {
    let mut random = random();
    for _ in super::times(14_000) {
        for f in super::FORMATS {
            let [a, b, c] = operands(&mut random, f);
            for r in ROUNDS {
                for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
                    let (fast, exact) = (arithmetic(op, f, a, b, r), exact::arithmetic(op, f, a, b, r));
                    assert_eq!(fast, exact, "{op:?} {f:?} {r:?} of {a:#x} {b:#x}");
                }
                let (fast, exact) = (fma(f, a, b, c, r), exact::fma_scaled(f, a, b, c, 0, r));
                assert_eq!(fast, exact, "fma {f:?} {r:?} of {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}
