//! Against the arithmetic of the standard library and of `half`, which round to nearest even.

use super::super::*;

#[test]
fn halves_convert_as_half_converts_them() {
    for bits in 0..=u16::MAX {
        let half = half::f16::from_bits(bits);
        if half.is_nan() {
            continue;
        }
        assert_eq!(convert(Format::F16, Format::F32, bits.into(), Round::Zero), half.to_f32().to_bits().into());
        assert_eq!(convert(Format::F16, Format::F64, bits.into(), Round::Zero), half.to_f64().to_bits());
        assert_eq!(convert(Format::F32, Format::F16, half.to_f32().to_bits().into(), Round::NearestEven), bits.into());
    }
}

#[test]
fn quick() {
    let mut random = crate::sample::Random(1);
    for _ in 0..200_000 {
        let (a, b, c) = (random.next(), random.next(), random.next());
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        let same =
            |got: u64, want: f64| assert!(got == want.to_bits() || want.is_nan(), "{a:x} {b:x} {c:x} {got:x} {want:e}");
        same(exact::arithmetic(Op::Add, Format::F64, a, b, Round::NearestEven), x + y);
        same(exact::arithmetic(Op::Mul, Format::F64, a, b, Round::NearestEven), x * y);
        same(exact::arithmetic(Op::Div, Format::F64, a, b, Round::NearestEven), x / y);
        same(fma(Format::F64, a, b, c, Round::NearestEven), x.mul_add(y, z));
        same(sqrt(Format::F64, a, Round::NearestEven), x.sqrt());
        for r in [Round::NearestEven, Round::Up, Round::Down, Round::Zero, Round::Away] {
            for f in [Format::F16, Format::F32] {
                for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
                    assert_eq!(
                        arithmetic(op, f, a, b, r),
                        exact::arithmetic(op, f, a, b, r),
                        "{f:?} {op:?} {r:?} {a:x} {b:x}"
                    );
                }
                assert_eq!(fma(f, a, b, c, r), exact::fma_scaled(f, a, b, c, 0, r), "{f:?} {r:?} {a:x} {b:x} {c:x}");
            }
        }
    }
}
