//! FP16 of the VPU against exact arithmetic: unary operations for every operand, binary ones for every first operand with
//! specials, a grid and random second ones.

#[path = "vpu_model/exact.rs"]
mod exact;

use isaforge_core::sample::Random;
use isaforge_runtime::vpu::float::{self, Lanes};

#[path = "seed/mod.rs"]
mod seed;
use seed::seed;

fn agree(name: &str, a: &Lanes, b: &Lanes, found: &Lanes, expected: impl Fn(usize) -> u16) {
    for i in 0..16 {
        let wanted = expected(i);
        assert_eq!(found[i], wanted, "{name}({:04x}, {:04x})", a[i], b[i]);
    }
}

fn all_operands(mut each: impl FnMut(&Lanes)) {
    for first in (0..=u16::MAX).step_by(16) {
        each(&std::array::from_fn(|i| first + i as u16));
    }
}

#[test]
fn conversions_are_exact_for_every_operand() {
    all_operands(|a| {
        agree("to FP16", a, a, &float::from_integers(a), |i| exact::from_integer(a[i]));
        agree("to integer", a, a, &float::to_integers(a), |i| exact::to_integer(a[i]));
    });
}

/// Signed zeros, the ends of the denormals and of the normals, around 1, around a half, infinities, NaNs, odd fractions.
const SPECIAL: [u16; 26] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x0401, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01,
    0x4000, 0x4248, 0x5555, 0xaaaa, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff,
];

/// The second operands: specials, one number of each binade with a fraction that differs, and random ones.
fn seconds() -> Vec<u16> {
    let mut random = Random(seed(7));
    let grid = (0..64u16).step_by(if cfg!(debug_assertions) { 3 } else { 1 }).map(|i| i << 10 | (i * 421) & 1023);
    let random = (0..if cfg!(debug_assertions) { 8 } else { 200 }).map(|_| random.next() as u16);
    SPECIAL.into_iter().chain(grid).chain(random).collect()
}

#[test]
fn sums_and_products_are_correctly_rounded() {
    for second in seconds() {
        let b = [second; 16];
        all_operands(|a| {
            agree("add", a, &b, &float::add(a, &b), |i| exact::add(a[i], second));
            agree("multiply", a, &b, &float::multiply(a, &b), |i| exact::multiply(a[i], second));
        });
    }
}

#[test]
fn quotients_are_correctly_rounded_in_x_and_the_rest_are_products() {
    for second in seconds() {
        let b = [second; 16];
        for first in (0..=u16::MAX).step_by(4) {
            // Component X of each thread is what is divided; the others are bits of their own.
            let a: Lanes =
                std::array::from_fn(|i| if i % 4 == 0 { first + i as u16 / 4 } else { first ^ (i as u16) << 9 });
            let quotient = float::divide(&a, &b);
            for x in [0, 4, 8, 12] {
                assert_eq!(quotient[x], exact::divide(a[x], second), "divide({:04x}, {second:04x})", a[x]);
            }
            for i in (1..16).filter(|i| i % 4 != 0 && (first & 0x1c) == 0) {
                assert_eq!(quotient[i], exact::multiply(a[i], second), "product({:04x}, {second:04x})", a[i]);
            }
        }
    }
}

#[test]
fn specials_against_specials_both_ways_round() {
    for a in SPECIAL {
        for b in SPECIAL {
            let (x, y) = ([a; 16], [b; 16]);
            assert_eq!(float::add(&x, &y)[0], exact::add(a, b), "{a:04x} + {b:04x}");
            assert_eq!(float::multiply(&x, &y)[0], exact::multiply(a, b), "{a:04x} * {b:04x}");
            assert_eq!(float::divide(&x, &y)[0], exact::divide(a, b), "{a:04x} / {b:04x}");
        }
    }
}

/// The exact model itself, on values that anyone can check.
#[test]
fn the_model_knows_some_plain_facts() {
    assert_eq!(exact::add(0x3c00, 0x3c00), 0x4000, "1 + 1 = 2");
    assert_eq!(exact::divide(0x3c00, 0x4200), 0x3555, "1 / 3");
    assert_eq!(exact::multiply(0x7bff, 0x4000), 0x7c00, "65504 * 2 overflows");
    assert_eq!(exact::add(0x7bff, 0x4bff), 0x7bff, "65504 + 15.99 rounds down");
    assert_eq!(exact::add(0x7bff, 0x4c00), 0x7c00, "65504 + 16 is a tie and goes to the even infinity");
    assert_eq!(exact::to_integer(0xbe00), 0xffff, "-1.5 truncates to -1");
    assert_eq!(exact::from_integer(2049), 0x6800, "2049 is a tie and goes to 2048");
}

/// `half` uses the processor's conversions where there are some; elsewhere its own, which must not differ.
#[test]
fn conversions_with_and_without_hardware_agree() {
    let mut random = Random(seed(9));
    for bits in 0..=u16::MAX {
        let half = half::f16::from_bits(bits);
        let (hardware, software) = (half.to_f32(), half.to_f32_const());
        assert!(hardware == software || hardware.is_nan() && software.is_nan(), "{bits:04x}");
        for near in [
            hardware,
            f32::from_bits(hardware.to_bits() ^ random.next() as u32 & 0x3fff),
            f32::from_bits(random.next() as u32),
        ] {
            let (hardware, software) = (half::f16::from_f32(near), half::f16::from_f32_const(near));
            assert!(hardware.to_bits() == software.to_bits() || hardware.is_nan() && software.is_nan(), "{near:e}");
        }
    }
}
