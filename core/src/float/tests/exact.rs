//! Every operation in every format and rounding mode, checked by the oracle.

use core::cmp::Ordering;

use super::oracle::{Exact, Term, value};
use super::{FORMATS, ROUNDS, operands, pattern, random, round};
use crate::float::*;

#[derive(Clone, Copy, Debug)]
enum Call {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    FmaScaled(i64),
    Sqrt,
    Ldexp(i64),
    Convert(Format),
}

impl Call {
    fn arity(self) -> usize {
        match self {
            Call::Sqrt | Call::Ldexp(_) | Call::Convert(_) => 1,
            Call::Add | Call::Sub | Call::Mul | Call::Div => 2,
            Call::Fma | Call::FmaScaled(_) => 3,
        }
    }

    fn run(self, f: Format, [a, b, c]: [u64; 3], r: Round) -> u64 {
        match self {
            Call::Add => add(f, a, b, r),
            Call::Sub => sub(f, a, b, r),
            Call::Mul => mul(f, a, b, r),
            Call::Div => div(f, a, b, r),
            Call::Fma => fma(f, a, b, c, r),
            Call::FmaScaled(exponent) => fma_scaled(f, a, b, c, exponent, r),
            Call::Sqrt => sqrt(f, a, r),
            Call::Ldexp(exponent) => ldexp(f, a, exponent, r),
            Call::Convert(to) => convert(f, to, a, r),
        }
    }

    /// The exact result for finite operands, and the sign that a zero result has.
    fn exact(self, f: Format, [a, b, c]: [u64; 3], r: Round) -> (Exact, bool) {
        let [x, y, z] = [a, b, c].map(|bits| value(f, bits));
        // Larger scales have the same effect: no sum of products reaches 2^2200 or 2^-2200.
        let scale = |exponent: i64| exponent.clamp(-6000, 6000) as i32;
        let of_sum = |p: bool, q: bool| if p == q { p } else { r == Round::Down };
        let product = x.negative != y.negative;
        match self {
            Call::Add => (Exact::Sum([x, y], 0), of_sum(x.negative, y.negative)),
            Call::Sub => (Exact::Sum([x, y.negate()], 0), of_sum(x.negative, !y.negative)),
            Call::Mul => (Exact::Sum([x.times(y), Term::ZERO], 0), product),
            Call::Div => (Exact::Quotient(x, y), product),
            Call::Fma => (Exact::Sum([x.times(y), z], 0), of_sum(product, z.negative)),
            Call::FmaScaled(n) => (Exact::Sum([x.times(y), z], scale(n)), of_sum(product, z.negative)),
            Call::Sqrt => (Exact::Root(x), x.negative),
            Call::Ldexp(n) => (Exact::Sum([x, Term::ZERO], scale(n)), x.negative),
            Call::Convert(_) => (Exact::Sum([x, Term::ZERO], 0), x.negative),
        }
    }

    /// Runs the operation and checks the result, unless an operand is not finite or there is no finite result.
    fn judge(self, f: Format, operands: [u64; 3], r: Round) {
        let used = &operands[..self.arity()];
        let zero = |x: u64| x & (f.sign() - 1) == 0;
        let pole = matches!(self, Call::Div) && zero(used[1]);
        let domain = matches!(self, Call::Sqrt) && f.is_negative(used[0]) && !zero(used[0]);
        if pole || domain || used.iter().any(|x| x & f.infinity() == f.infinity()) {
            return;
        }
        let to = if let Call::Convert(to) = self { to } else { f };
        let got = self.run(f, operands, r);
        let (exact, negative_zero) = self.exact(f, operands, r);
        let good = match exact.sign() {
            Ordering::Equal => got == if negative_zero { to.sign() } else { 0 },
            _ => exact.rounds_to(to, r, got),
        };
        assert!(good, "{self:?} {f:?} {r:?} of {used:#x?} is not {got:#x}");
    }
}

/// Exponents that make numbers subnormal or too large, that go past all limits, and that change nothing.
fn exponent(random: &mut crate::sample::Random, f: Format) -> i64 {
    let reach = f.bias() as u64 + 60;
    match random.below(8) {
        0 => 0,
        1 => random.next() as i64,
        2 => [i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into()][random.below(4) as usize],
        3 => random.below(9 * reach) as i64 - 4 * reach as i64,
        _ => random.below(2 * reach) as i64 - reach as i64,
    }
}

#[test]
fn every_half_in_every_direction() {
    let mut random = random();
    for a in super::halves() {
        for r in ROUNDS {
            let scale = exponent(&mut random, Format::F16);
            for call in [Call::Sqrt, Call::Ldexp(scale)] {
                call.judge(Format::F16, [a.into(), 0, 0], r);
            }
        }
    }
}

#[test]
fn pairs_of_halves() {
    let mut random = random();
    for _ in super::times(160_000) {
        let bits = random.next();
        let operands = [bits & 0xffff, bits >> 16 & 0xffff, bits >> 32 & 0xffff];
        for call in [Call::Add, Call::Sub, Call::Mul, Call::Div] {
            call.judge(Format::F16, operands, round(&mut random));
        }
    }
}

/// Numbers at both ends of each range and some in between, with either sign.
fn classes(f: Format) -> impl Iterator<Item = u64> {
    let normal = f.infinity() & !(f.infinity() << 1);
    let one = (f.bias() as u64) << f.fraction_bits();
    let sticky = one + 1;
    [0, 1, 2, 3, normal - 1, normal, normal + 1, one - 1, one, sticky, one + normal, f.largest() - 1, f.largest()]
        .into_iter()
        .flat_map(move |a| [a, a | f.sign()])
}

#[test]
fn classes_by_classes() {
    for f in FORMATS {
        for a in classes(f) {
            for b in classes(f) {
                for r in ROUNDS {
                    for call in [Call::Add, Call::Sub, Call::Mul, Call::Div] {
                        call.judge(f, [a, b, 0], r);
                    }
                }
            }
        }
    }
}

#[test]
fn fused_classes_by_classes() {
    let mut random = random();
    for f in FORMATS {
        for a in classes(f) {
            for b in classes(f) {
                for c in classes(f) {
                    Call::Fma.judge(f, [a, b, c], round(&mut random));
                }
            }
        }
    }
}

#[test]
fn hard_operands_in_every_direction() {
    let mut random = random();
    for _ in super::times(4_500) {
        for f in FORMATS {
            let operands = operands(&mut random, f);
            let (fused, scaled) = (exponent(&mut random, f), exponent(&mut random, f));
            for r in ROUNDS {
                for call in [Call::Add, Call::Sub, Call::Mul, Call::Div, Call::Fma, Call::Sqrt] {
                    call.judge(f, operands, r);
                }
                Call::FmaScaled(fused).judge(f, operands, r);
                Call::Ldexp(scaled).judge(f, operands, r);
            }
        }
    }
}

#[test]
fn formats_from_formats() {
    let mut random = random();
    for _ in super::times(10_000) {
        for from in FORMATS {
            for to in FORMATS {
                // Values equal to, close to, or half-way between numbers of the narrower format are the hard cases for
                // rounding.
                let short = convert(to, from, pattern(&mut random, to), Round::Zero);
                let middle = short ^ 1 << (from.fraction_bits().max(to.fraction_bits() + 1) - to.fraction_bits() - 1);
                for a in [pattern(&mut random, from), super::near(&mut random, from, short), middle] {
                    Call::Convert(to).judge(from, [a, 0, 0], round(&mut random));
                }
            }
        }
    }
}
