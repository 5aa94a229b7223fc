//! What the functions compute, against definitions that share nothing with them.
//!
//! - `oracle`: is a result the exact one, rounded once? By comparing the neighbours with the exact result
//! - `exact`: every operation in every format and direction, judged so
//! - `host`: against the standard library and `half`; the fast paths against the definition
//! - `integers`: conversions to and from integers, rounding to an integer
//! - `special`: NaN, infinities, signs, order

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

/// Another sequence every run; that of a run that failed with `ISAFORGE_SEED` set to what it printed.
fn random() -> Random {
    let seed = match std::env::var("ISAFORGE_SEED") {
        Ok(text) => text.parse().expect("ISAFORGE_SEED is a decimal number"),
        Err(_) => std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64),
    };
    println!("ISAFORGE_SEED={seed}");
    Random(seed)
}

/// Counts as often as something random is tried: Miri takes a thousand times as long.
fn times(count: u32) -> core::ops::Range<u32> {
    0..if cfg!(miri) { count / 1000 } else { count }
}

/// All halves, or as many as Miri can look at.
fn halves() -> impl Iterator<Item = u16> {
    (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 })
}

fn round(random: &mut Random) -> Round {
    ROUNDS[random.below(5) as usize]
}

/// Any bits, and more often than chance those where results are hard to round: short and long runs of ones in the
/// fraction, exponents at both ends and around 1.
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

/// Three numbers, often such that their sum or product almost cancels or lies near an end of the range.
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
