//! NaNs, infinities, signs, order.

use core::cmp::Ordering;

use super::{FORMATS, ROUNDS, pattern, random};
use crate::float::*;

/// The special operands and a few ordinary numbers.
fn operands(f: Format) -> impl Iterator<Item = u64> + Clone {
    let one = (f.bias() as u64) << f.fraction_bits();
    let signalling = f.infinity() + 5;
    [0, 1, one, f.largest(), f.infinity(), f.quiet_nan(), f.quiet_nan() + 9, signalling]
        .into_iter()
        .flat_map(move |a| [a, a | f.sign()])
}

/// The result where the operands alone determine it: for a NaN, an infinity, or an invalid operation.
fn decided(f: Format, operands: &[u64], by_doubles: impl Fn([f64; 3]) -> f64) -> Option<u64> {
    if let Some(&nan) = operands.iter().find(|&&a| a & !f.sign() > f.infinity()) {
        return Some(nan | f.quiet_nan() & !f.infinity());
    }
    // One double represents every number of its class: only signs and infinities matter here.
    let mut doubles = [0.0; 3];
    for (double, &a) in doubles.iter_mut().zip(operands) {
        let magnitude = match a & !f.sign() {
            0 => 0.0,
            m if m == f.infinity() => f64::INFINITY,
            _ => 1.0,
        };
        *double = if a & f.sign() != 0 { -magnitude } else { magnitude };
    }
    let special = doubles.iter().any(|x| x.is_infinite()) || by_doubles(doubles).is_infinite();
    match by_doubles(doubles) {
        x if x.is_nan() => Some(f.quiet_nan()),
        x if special && x.is_infinite() => Some(f.infinity() | if x < 0.0 { f.sign() } else { 0 }),
        x if special && x == 0.0 => Some(if x.is_sign_negative() { f.sign() } else { 0 }),
        _ => None,
    }
}

#[test]
fn operands_that_decide_results() {
    let mut count = 0;
    let mut same = |want: Option<u64>, got: u64, what: core::fmt::Arguments<'_>| {
        count += want.is_some() as u32;
        assert!(want.is_none_or(|want| want == got), "{what}: {got:#x}, not {want:#x?}");
    };
    // All modes would take Miri hours; the memory accesses are the same in each.
    let rounds = if cfg!(miri) { &ROUNDS[..1] } else { &ROUNDS[..] };
    let step = if cfg!(miri) { 7 } else { 1 };
    for f in FORMATS {
        for &r in rounds {
            for a in operands(f) {
                same(decided(f, &[a], |[x, ..]| x.sqrt()), sqrt(f, a, r), format_args!("root {f:?} {r:?} {a:#x}"));
                same(decided(f, &[a], |[x, ..]| x), ldexp(f, a, -3, r), format_args!("ldexp {f:?} {r:?} {a:#x}"));
                same(decided(f, &[a], |[x, ..]| x), round_to_integral(f, a, r), format_args!("whole {f:?} {a:#x}"));
                for b in operands(f) {
                    let what = format_args!("{f:?} {r:?} {a:#x} {b:#x}");
                    same(decided(f, &[a, b], |[x, y, _]| x + y), add(f, a, b, r), format_args!("add {what}"));
                    same(decided(f, &[a, b], |[x, y, _]| x - y), sub(f, a, b, r), format_args!("sub {what}"));
                    same(decided(f, &[a, b], |[x, y, _]| x * y), mul(f, a, b, r), format_args!("mul {what}"));
                    same(decided(f, &[a, b], |[x, y, _]| x / y), div(f, a, b, r), format_args!("div {what}"));
                    for c in operands(f).step_by(step) {
                        // An invalid product plus a NaN gives that NaN, as for any NaN operand.
                        let want = decided(f, &[a, b, c], |[x, y, z]| x.mul_add(y, z));
                        same(want, fma(f, a, b, c, r), format_args!("fma {what} {c:#x}"));
                        same(want, fma_scaled(f, a, b, c, -3, r), format_args!("fma_scaled {what} {c:#x}"));
                    }
                }
            }
        }
    }
    assert!(cfg!(miri) || count > 100_000, "{count} results are decided by operands");
}

#[test]
fn nan_of_known_bits() {
    let nearest = Round::NearestEven;
    assert_eq!(add(Format::F32, 0x3f80_0000, 0xff80_0001, nearest), 0xffc0_0001);
    assert_eq!(sub(Format::F32, 0x3f80_0000, 0x7f80_0001, nearest), 0x7fc0_0001);
    assert_eq!(mul(Format::F16, 0x7c00, 0, nearest), 0x7e00);
    assert_eq!(div(Format::F64, 0x8000_0000_0000_0000, 0, nearest), 0x7ff8_0000_0000_0000);
    assert_eq!(fma(Format::F32, 0x7f80_0000, 0, 0xffff_1234, nearest), 0xffff_1234);
    assert_eq!(sqrt(Format::F32, 0xbf80_0000, nearest), 0x7fc0_0000);
    assert_eq!(convert(Format::F32, Format::F16, 0xff80_2000, nearest), 0xfe01);
    assert_eq!(convert(Format::F32, Format::F16, 0x7f80_0001, nearest), 0x7e00);
    assert_eq!(convert(Format::F16, Format::F32, 0xfd55, nearest), 0xffea_a000);
    assert_eq!(convert(Format::F16, Format::F64, 0x7c01, nearest), 0x7ff8_0400_0000_0000);
    assert_eq!(convert(Format::F64, Format::F32, 0xfff4_0000_2000_0000, nearest), 0xffe0_0001);
    assert_eq!(convert(Format::F32, Format::F64, 0x7fa0_0001, nearest), 0x7ffc_0000_2000_0000);
    assert_eq!(convert(Format::F16, Format::F16, 0x7c01, nearest), 0x7e01);
    assert_eq!(to_int(Format::F32, 0xffc0_0000, 32, true, nearest), 0);
}

#[test]
fn minimum_and_maximum() {
    for f in FORMATS {
        let (zero, minus, nan) = (0, f.sign(), f.infinity() + 1);
        for [a, b] in [[zero, minus], [minus, zero]] {
            assert_eq!((min(f, a, b), max(f, a, b)), (minus, zero));
            assert_eq!(compare(f, a, b), Some(Ordering::Equal));
        }
        for number in [zero, minus, f.infinity(), f.infinity() | f.sign(), f.largest()] {
            for [a, b] in [[number, nan], [nan, number]] {
                assert_eq!((min(f, a, b), max(f, a, b), compare(f, a, b)), (number, number, None));
            }
        }
        let other = f.quiet_nan() | f.sign();
        assert_eq!((min(f, nan, other), max(f, nan, other)), (f.quiet_nan() + 1, f.quiet_nan() + 1));
        assert_eq!((min(f, other, nan), max(f, other, nan), compare(f, nan, nan)), (other, other, None));
    }
}

#[test]
fn order_is_that_of_the_standard_library() {
    let mut random = random();
    for _ in super::times(100_000) {
        let [a, b, _] = super::operands(&mut random, Format::F64);
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        assert_eq!(compare(Format::F64, a, b), x.partial_cmp(&y), "{a:#x} {b:#x}");
        let [a, b, _] = super::operands(&mut random, Format::F16);
        let (x, y) = (half::f16::from_bits(a as u16).to_f64(), half::f16::from_bits(b as u16).to_f64());
        assert_eq!(compare(Format::F16, a, b), x.partial_cmp(&y), "{a:#x} {b:#x}");
        if !x.is_nan() && !y.is_nan() {
            let ordered = x.total_cmp(&y) == Ordering::Less;
            assert_eq!((min(Format::F16, a, b), max(Format::F16, a, b)), if ordered { (a, b) } else { (b, a) });
        }
    }
}

#[test]
fn signs_alone_change() {
    let mut random = random();
    for f in FORMATS {
        for a in operands(f).chain(super::times(1000).map(|_| pattern(&mut random, f))) {
            assert_eq!((neg(f, a), abs(f, a)), (a ^ f.sign(), a & !f.sign()));
        }
    }
}

#[test]
fn bits_above_the_format_are_ignored() {
    let mut random = random();
    for _ in super::times(20_000) {
        for f in [Format::F16, Format::F32] {
            let [a, b, c] = super::operands(&mut random, f);
            let dirt = random.next() << f.bits();
            let [p, q, s] = [a | dirt, b | dirt, c | dirt];
            let r = super::round(&mut random);
            assert_eq!(add(f, a, b, r), add(f, p, q, r));
            assert_eq!(sub(f, a, b, r), sub(f, p, q, r));
            assert_eq!(mul(f, a, b, r), mul(f, p, q, r));
            assert_eq!(div(f, a, b, r), div(f, p, q, r));
            assert_eq!(fma(f, a, b, c, r), fma(f, p, q, s, r));
            assert_eq!(sqrt(f, a, r), sqrt(f, p, r));
            assert_eq!(ldexp(f, a, 7, r), ldexp(f, p, 7, r));
            assert_eq!(round_to_integral(f, a, r), round_to_integral(f, p, r));
            assert_eq!(to_int(f, a, 20, true, r), to_int(f, p, 20, true, r));
            assert_eq!((min(f, a, b), max(f, a, b)), (min(f, p, q), max(f, p, q)));
            assert_eq!((neg(f, a), abs(f, a), compare(f, a, b)), (neg(f, p), abs(f, p), compare(f, p, q)));
            for to in FORMATS {
                assert_eq!(convert(f, to, a, r), convert(f, to, p, r));
            }
        }
    }
}
