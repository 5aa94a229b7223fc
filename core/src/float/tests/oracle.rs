//! The oracle that checks results. It compares the exact result with the neighbours of the computed one, as integers of
//! arbitrary length, and does not round.

use crate::float::{Format, Round};
use core::cmp::Ordering;

/// `significand * 2^exponent`, negated if `negative` is set.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

impl Term {
    pub const ZERO: Term = Term { negative: false, significand: 0, exponent: 0 };

    pub fn times(self, other: Term) -> Term {
        Term {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    pub fn negate(self) -> Term {
        Term { negative: !self.negative, ..self }
    }

    fn scale(self, exponent: i32) -> Term {
        Term { exponent: self.exponent + exponent, ..self }
    }
}

/// The value of a number that is not NaN. Infinity counts as the power of two above the largest number.
pub fn value(f: Format, bits: u64) -> Term {
    let (width, fraction, bias) = match f {
        Format::F16 => (16, 10, 15),
        Format::F32 => (32, 23, 127),
        Format::F64 => (64, 52, 1023),
    };
    let negative = bits >> (width - 1) & 1 == 1;
    let field = (bits >> fraction) % (2 * bias + 2);
    let stored = u128::from(bits % (1 << fraction));
    let significand = if field == 0 { stored } else { stored + (1 << fraction) };
    Term { negative, significand, exponent: field.max(1) as i32 - bias as i32 - fraction }
}

/// Compares the sum of all terms with zero.
pub fn sign(terms: &[Term]) -> Ordering {
    let low = terms.iter().map(|t| t.exponent).min().unwrap_or(0);
    let high = terms.iter().map(|t| t.exponent).max().unwrap_or(0);
    // Fast path: most sums fit in 128 bits.
    if high - low < 120 && terms.iter().all(|t| t.significand >> (120 - (t.exponent - low)) == 0) {
        let signed = |t: &Term| (t.significand as i128) << (t.exponent - low) as u32;
        let sum: i128 = terms.iter().map(|t| if t.negative { -signed(t) } else { signed(t) }).sum();
        return sum.cmp(&0);
    }
    // In two's complement: 128 bits of the significand, room for the carries of a few terms, and the sign.
    let mut sum = [0u64; 256];
    let sum = &mut sum[..(high - low) as usize / 64 + 4];
    for term in terms {
        let at = (term.exponent - low) as usize;
        let (limb, shift) = (at / 64, at % 64);
        let above = if shift == 0 { 0 } else { (term.significand >> (128 - shift)) as u64 };
        let shifted = term.significand << shift;
        let words = [shifted as u64, (shifted >> 64) as u64, above];
        let mut carry = false;
        for (index, place) in sum[limb..].iter_mut().enumerate() {
            let word = words.get(index).copied().unwrap_or(0);
            let step = |x: u64, y: u64| if term.negative { x.overflowing_sub(y) } else { x.overflowing_add(y) };
            let (first, one) = step(*place, word);
            let (second, two) = step(first, carry.into());
            (*place, carry) = (second, one || two);
            if !carry && index >= 2 {
                break;
            }
        }
    }
    match sum {
        [.., top] if *top >> 63 == 1 => Ordering::Less,
        _ if sum.iter().all(|&limb| limb == 0) => Ordering::Equal,
        _ => Ordering::Greater,
    }
}

/// A real number, represented by how it compares with others.
pub enum Exact {
    /// The sum of the terms, times `2^scale`.
    Sum([Term; 2], i32),
    /// The first term divided by the second, which must not be zero.
    Quotient(Term, Term),
    /// The square root of a term, which must not be negative.
    Root(Term),
}

impl Exact {
    /// Compares the number with zero.
    pub fn sign(&self) -> Ordering {
        match self {
            Exact::Sum(terms, _) => sign(terms),
            Exact::Quotient(a, b) => sign(&[a.times(*b)]),
            Exact::Root(a) => sign(&[*a]),
        }
    }

    /// Compares the magnitude with `t`, which must not be negative. `negative` is the number's sign.
    fn compare(&self, negative: bool, t: Term) -> Ordering {
        let against = Term { negative: !negative, ..t };
        let order = match self {
            Exact::Sum([a, b], scale) => sign(&[*a, *b, against.scale(-scale)]),
            Exact::Quotient(a, b) => {
                // Multiply both sides by the magnitude of the divisor.
                let (a, b) = (Term { negative, ..*a }, Term { negative: false, ..*b });
                sign(&[a, b.times(against)])
            }
            Exact::Root(a) => sign(&[*a, t.times(t).negate()]),
        };
        if negative { order.reverse() } else { order }
    }

    /// Whether `got` is this number, which must not be zero, rounded to the format. This holds for exactly one pattern.
    pub fn rounds_to(&self, f: Format, r: Round, got: u64) -> bool {
        let negative = self.sign() == Ordering::Less;
        let magnitude = got & (f.sign() - 1);
        if got & f.sign() != if negative { f.sign() } else { 0 } || got > f.mask() || magnitude > f.infinity() {
            return false;
        }
        // Whether the mode rounds away from zero. The modes that round to nearest do neither.
        let outwards = matches!((r, negative), (Round::Up, false) | (Round::Down, true));
        let nearest = matches!(r, Round::NearestEven | Round::Away);
        let even = magnitude & 1 == 0;
        // Half-way between a magnitude and the next one.
        let middle = |at: u64| {
            let t = value(f, at);
            Term { significand: 2 * t.significand + 1, exponent: t.exponent - 1, ..t }
        };
        match self.compare(negative, value(f, magnitude)) {
            Ordering::Equal if magnitude < f.infinity() => true,
            Ordering::Equal | Ordering::Greater if magnitude == f.infinity() => nearest || outwards,
            Ordering::Less => {
                // The exact result is below `got`, which must then be the closer neighbour or the outward one.
                let above_neighbour =
                    magnitude > 0 && self.compare(negative, value(f, magnitude - 1)) == Ordering::Greater;
                above_neighbour
                    && match self.compare(negative, middle(magnitude - 1)) {
                        _ if !nearest => outwards,
                        Ordering::Less => false,
                        Ordering::Equal => r == Round::Away || even,
                        Ordering::Greater => true,
                    }
            }
            _ => {
                let last = magnitude == f.largest();
                let below_neighbour = last || self.compare(negative, value(f, magnitude + 1)) == Ordering::Less;
                below_neighbour
                    && match self.compare(negative, middle(magnitude)) {
                        _ if !nearest => !outwards,
                        Ordering::Less => true,
                        Ordering::Equal => r == Round::NearestEven && even,
                        Ordering::Greater => false,
                    }
            }
        }
    }
}
