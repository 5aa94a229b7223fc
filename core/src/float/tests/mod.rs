//! Tests of the functions against independent definitions.
//!
//! - `oracle`: decides whether a result is the exact one rounded once, by comparing its neighbours with the exact
//!   result
//! - `exact`: every operation in every format and rounding mode, checked by the oracle
//! - `host`: checks against the standard library and `half`, and of the fast paths against the definition
//! - `integers`: conversions to and from integers, rounding to an integer
//! - `special`: NaNs, infinities, signs, order

mod exact;
mod host;
mod integers;
mod oracle;
mod special;

use std::println;

use super::{Format, Round, mul, neg};
use crate::sample::Random;

const FORMATS: [Format; 3] = [Format::F16, Format::F32, Format::F64];
const ROUNDS: [Round; 5] = [Round::NearestEven, Round::Up, Round::Down, Round::Zero, Round::Away];

/// A new sequence in every run. `ISAFORGE_SEED`, set to the number that a failed run printed, repeats that run.
fn random() -> Random {
    let seed = match std::env::var("ISAFORGE_SEED") {
        Ok(text) => text.parse().expect("ISAFORGE_SEED is a decimal number"),
        Err(_) => std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64),
    };
    println!("ISAFORGE_SEED={seed}");
    Random(seed)
}

/// The number of random trials, reduced under Miri, which is a thousand times slower.
fn times(count: u32) -> core::ops::Range<u32> {
    0..if cfg!(miri) { count / 1000 } else { count }
}

/// All halves, or a sample of them under Miri.
fn halves() -> impl Iterator<Item = u16> {
    (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 })
}

fn round(random: &mut Random) -> Round {
    ROUNDS[random.below(5) as usize]
}

/// Random bits, biased towards patterns whose results are hard to round: short and long runs of ones in the fraction,
/// exponents at both ends of the range and around 1.
fn pattern(random: &mut Random, f: Format) -> u64 {
    let (width, bias) = (f.fraction_bits(), f.bias() as u64);
    let fraction = match random.below(6) {
        0 => 0,
        1 => 1 << random.below(width.into()),
        2 => random.next() << random.below(width.into()),
        3 => u64::MAX << random.below(width.into()),
        4 => !(u64::MAX << random.below(width.into())),
        _ => random.next(),
    };
    let exponent = match random.below(6) {
        0 => random.below(3),
        1 => 2 * bias + 1 - random.below(3),
        2 => bias.wrapping_add(random.below(9)).wrapping_sub(4),
        3 => bias / 2 + random.below(9) - 4,
        _ => random.next(),
    };
    let number = (exponent << width) | (fraction & ((1 << width) - 1));
    (number & (f.sign() - 1)) | (random.next() & f.sign())
}

/// A few steps up or down from `a`.
fn near(random: &mut Random, f: Format, a: u64) -> u64 {
    a.wrapping_add(random.below(5)).wrapping_sub(2) & f.mask()
}

/// Three numbers, often chosen so that their sum or product nearly cancels or lies near an end of the range.
fn operands(random: &mut Random, f: Format) -> [u64; 3] {
    let a = pattern(random, f);
    let b = match random.below(5) {
        0 => near(random, f, neg(f, a)),
        1 => near(random, f, a),
        // A few binades away.
        2 => {
            let distance = random.below(2 * u64::from(f.fraction_bits()) + 6) << f.fraction_bits();
            (if random.below(2) == 0 { a.wrapping_add(distance) } else { a.wrapping_sub(distance) } ^ random.below(8))
                & f.mask()
        }
        _ => pattern(random, f),
    };
    let c = match random.below(4) {
        0 => near(random, f, neg(f, mul(f, a, b, Round::NearestEven))),
        1 => near(random, f, neg(f, b)),
        _ => pattern(random, f),
    };
    [a, b, c]
}
