//! Conversions to and from integers, and rounding to an integer, checked against doubles and wider integers.

use super::oracle::{Exact, Term, value};
use super::{FORMATS, ROUNDS, pattern, random, round};
use crate::bits::ones;
use crate::float::*;

/// Converts to a double.
fn double(f: Format, a: u64) -> f64 {
    match f {
        Format::F16 => half::f16::from_bits(a as u16).to_f64(),
        Format::F32 => f32::from_bits(a as u32).into(),
        Format::F64 => f64::from_bits(a),
    }
}

fn integral(x: f64, r: Round) -> f64 {
    match r {
        Round::NearestEven => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
        Round::Away => x.round(),
    }
}

fn check_integral(f: Format, a: u64, r: Round) {
    let (got, want) = (round_to_integral(f, a, r), integral(double(f, a), r));
    if f.is_nan(a) {
        assert_eq!(got, convert(f, f, a, r));
    } else {
        assert_eq!(double(f, got).to_bits(), want.to_bits(), "{a:#x} of {f:?} {r:?} is not {got:#x}");
    }
}

fn check_to_int(f: Format, a: u64, bits: u32, signed: bool, r: Round) {
    // A cast saturates and turns NaN into 0; 128 bits hold the bounds of every width.
    let whole = integral(double(f, a), r) as i128;
    let (least, most) = if signed { (-1i128 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let want = whole.clamp(least, most) as u64 & ones(bits);
    let got = to_int(f, a, bits, signed, r);
    assert_eq!(got, want, "{a:#x} of {f:?} to {bits} bits, signed {signed}, {r:?}");
}

#[test]
fn every_half_to_integers() {
    for a in super::halves() {
        for r in ROUNDS {
            check_integral(Format::F16, a.into(), r);
            for (bits, signed) in [(1, true), (8, true), (8, false), (16, true), (16, false), (64, true)] {
                check_to_int(Format::F16, a.into(), bits, signed, r);
            }
        }
    }
}

/// A number close to an integer or half-integer that is small or near the bound of some width.
fn beside_whole(random: &mut crate::sample::Random, f: Format) -> u64 {
    let power = random.below(66) as i32;
    let whole = 2f64.powi(power) + random.below(5) as f64 - 2.0;
    let x = whole + [0.0, 0.5, -0.5, 0.25][random.below(4) as usize];
    let bits = convert(Format::F64, f, x.to_bits(), Round::Zero);
    super::near(random, f, bits) ^ (random.next() & f.sign())
}

#[test]
fn hard_numbers_to_integers() {
    let mut random = random();
    for _ in super::times(20_000) {
        for f in FORMATS {
            for a in [pattern(&mut random, f), beside_whole(&mut random, f)] {
                let bits = match random.below(3) {
                    0 => 1 + random.below(64) as u32,
                    1 => 64,
                    _ => 32,
                };
                for r in ROUNDS {
                    check_integral(f, a, r);
                    check_to_int(f, a, bits, random.below(2) == 0, r);
                }
            }
        }
    }
}

#[test]
fn integers_to_numbers() {
    let mut random = random();
    for _ in super::times(100_000) {
        let bits = 1 + random.below(64) as u32;
        let value = match random.below(4) {
            0 => random.next(),
            1 => random.next() >> random.below(64),
            2 => {
                // Near a power of two, or near one with an additional bit set.
                let bits = (1u64 << random.below(64)) | random.next() & (1 << random.below(64));
                bits.wrapping_add(random.below(5)).wrapping_sub(2)
            }
            _ => u64::MAX << random.below(64),
        };
        let (signed, r) = (random.below(2) == 0, round(&mut random));
        let low = i128::from(value & ones(bits));
        let whole = if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low };
        for f in FORMATS {
            let got = from_int(f, value, bits, signed, r);
            if whole == 0 {
                assert_eq!(got, 0);
                continue;
            }
            let term = Term { negative: whole < 0, significand: whole.unsigned_abs(), exponent: 0 };
            let exact = Exact::Sum([term, Term::ZERO], 0);
            assert!(exact.rounds_to(f, r, got), "{whole} in {f:?} {r:?} is not {got:#x}");
        }
    }
}

#[test]
fn integers_to_numbers_as_casts_convert_them() {
    let mut random = random();
    for _ in super::times(50_000) {
        let x = random.next() >> random.below(64);
        let nearest = |f, bits, signed| from_int(f, x, bits, signed, Round::NearestEven);
        assert_eq!(nearest(Format::F64, 64, false), (x as f64).to_bits());
        assert_eq!(nearest(Format::F64, 64, true), (x as i64 as f64).to_bits());
        assert_eq!(nearest(Format::F32, 64, true), u64::from((x as i64 as f32).to_bits()));
        assert_eq!(nearest(Format::F32, 32, true), u64::from((x as i32 as f32).to_bits()));
        assert_eq!(nearest(Format::F32, 8, false), u64::from(f32::from(x as u8).to_bits()));
    }
}

#[test]
fn widths_out_of_range_count_as_the_nearest() {
    let two = value(Format::F64, 2f64.to_bits());
    assert_eq!((two.significand, two.exponent), (1 << 52, -51));
    for signed in [false, true] {
        let to = |bits| to_int(Format::F64, 1e30f64.to_bits(), bits, signed, Round::Zero);
        let from = |bits| from_int(Format::F64, u64::MAX, bits, signed, Round::Zero);
        assert_eq!((to(0), to(65), to(u32::MAX)), (to(1), to(64), to(64)));
        assert_eq!((from(0), from(65), from(u32::MAX)), (from(1), from(64), from(64)));
    }
}
