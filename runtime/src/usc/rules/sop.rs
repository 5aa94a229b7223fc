//! Half-precision sums of products.
//!
//! No encoding of them is public; they execute from typed values. Arguments become halves, their products and sums are
//! taken in 64 bits, and a result is rounded once. A byte is a fraction of 255.

use isaforge_usc::{Dsel, S01ch, Sop, SopCombine, SopFactor, SopFormat, SopJ, SopK, SopOp, SopSource};

use crate::usc::rules::pack::{f16_to_f32, half_of};

/// What sums of products drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The first result.
    pub w0: u32,
    /// The bits of the first result that are driven; the others stay as the selector has them.
    pub mask: u32,
    /// The second result.
    pub w1: u32,
}

/// Executes sums of products on the six sources.
pub fn sums(sop: &Sop, s: [u32; 6]) -> Sums {
    let products = Arguments { sop, s };
    if sop.op == SopOp::Mad || sop.op == SopOp::U8mad || sop.jop == SopCombine::Mad {
        products.multiply_adds()
    } else {
        products.pairs()
    }
}

/// Modifiers of an argument, by their bits: negated, clamped, without sign, rounded down. Rounding comes first, negation
/// last.
fn modified(x: f64, bits: u32) -> f64 {
    let x = if bits & 8 != 0 { x.floor() } else { x };
    let x = if bits & 4 != 0 { x.abs() } else { x };
    let x = if bits & 2 != 0 { clamped(x) } else { x };
    if bits & 1 != 0 { -x } else { x }
}

/// From 0 to 1; 0 for a NaN.
fn clamped(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// What a half says.
fn value(bits: u32) -> f64 {
    f64::from(f32::from_bits(f16_to_f32(bits as u16)))
}

/// An argument. Without a format, part 0 is the whole word, a 32-bit float; other parts are halves.
fn argument(word: u32, format: SopFormat, element: S01ch) -> f64 {
    let element = element.number() as u32;
    match format {
        SopFormat::U8 => value(half_of(f64::from(word >> (8 * element) & 0xff) / 255.0)),
        SopFormat::AsIs if element == 0 => value(half_of(f64::from(f32::from_bits(word)))),
        SopFormat::AsIs | SopFormat::F16 => value(word >> (16 * (element & 1)) & 0xffff),
    }
}

/// The second unless the first is less, as the tests for a minimum choose.
fn lesser(x: f64, y: f64) -> f64 {
    if x < y { x } else { y }
}

/// Two products become one number.
fn combine(how: SopCombine, x: f64, y: f64) -> f64 {
    match how {
        SopCombine::Add | SopCombine::Mad => x + y,
        SopCombine::Sub => x - y,
        SopCombine::Rsub => y - x,
        SopCombine::Min => lesser(x, y),
        SopCombine::Max if x >= y => x,
        SopCombine::Max => y,
    }
}

struct Arguments<'a> {
    sop: &'a Sop,
    s: [u32; 6],
}

impl Arguments<'_> {
    fn first(&self, source: SopSource, format: SopFormat, element: S01ch, modifiers: u32) -> f64 {
        modified(argument(self.s[source.number() as usize % 6], format, element), modifiers)
    }

    fn other(&self, source: SopFactor, format: SopFormat, element: S01ch) -> f64 {
        match source {
            SopFactor::None => 0.0,
            SopFactor::Z => {
                let term = |word: u32| {
                    let x = argument(word, SopFormat::AsIs, S01ch::E0);
                    let x = if self.sop.zabs { x.abs() } else { x };
                    if self.sop.zclamp { clamped(x) } else { x }
                };
                lesser(term(self.s[1]), 1.0 - term(self.s[0]))
            }
            source => argument(self.s[source.number() as usize % 6], format, element),
        }
    }

    /// A factor: its modifiers are one minus it, clamped, without sign.
    fn factor(&self, source: SopFactor, format: SopFormat, element: S01ch, bits: u32) -> f64 {
        let x = modified(self.other(source, format, element), bits & 6);
        if bits & 1 != 0 { 1.0 - x } else { x }
    }

    fn addend(&self, source: SopFactor, format: SopFormat, element: S01ch, modifiers: u32) -> f64 {
        modified(self.other(source, format, element), modifiers)
    }

    /// The arguments `a` to `d`, and their factors `e` to `h`.
    fn factors(&self) -> [(f64, f64); 4] {
        let s = self.sop;
        [
            (self.first(s.a, s.af, s.ae, s.am), self.factor(s.e, s.ef, s.ee, s.em)),
            (self.first(s.b, s.bf, s.be, s.bm), self.factor(s.f, s.ff, s.fe, s.fm)),
            (self.first(s.c, s.cf, s.ce, s.cm), self.factor(s.g, s.gf, s.ge, s.gm)),
            (self.first(s.d, s.df, s.de, s.dm), self.factor(s.h, s.hf, s.he, s.hm)),
        ]
    }

    /// `a * e + v`, `b * f + x`, `c * g + w`, `d * h + y`: in this order `x` goes with `b`, as the reference has it.
    fn multiply_adds(&self) -> Sums {
        let s = self.sop;
        let addends = [
            self.addend(s.v, s.vf, s.ve, s.vm),
            self.addend(s.x, s.xf, s.xe, s.xm),
            self.addend(s.w, s.wf, s.we, s.wm),
            self.addend(s.y, s.yf, s.ye, s.ym),
        ];
        let mut results = self.factors().map(|(x, y)| x * y);
        for (i, (result, addend)) in results.iter_mut().zip(addends).enumerate() {
            *result += addend;
            if s.clamps >> i & 1 != 0 {
                *result = clamped(*result);
            }
        }
        let [a, b, c, d] = results;
        if s.op == SopOp::U8mad {
            let bytes = [a, c, b, d].map(byte);
            return Sums { w0: u32::from_le_bytes(bytes), mask: u32::MAX, w1: self.s[0] };
        }
        Sums { w0: half_of(a) | half_of(c) << 16, mask: u32::MAX, w1: half_of(b) | half_of(d) << 16 }
    }

    /// `a * e` and `b * f` make `j`, `c * g` and `d * h` make `k`.
    fn pairs(&self) -> Sums {
        let s = self.sop;
        let [(a, e), (b, f), (c, g), (d, h)] = self.factors();
        let j = combine(s.jop, a * e, b * f);
        let k = combine(s.kop, c * g, d * h);
        let first = match s.jout {
            SopJ::Joutj => j,
            SopJ::Jouta => a,
            SopJ::Joutb => b,
            SopJ::Joutjc => clamped(j),
        };
        let second = match s.kout {
            SopK::Koutk => k,
            SopK::Koutc => c,
            SopK::Koutd => d,
            SopK::Koutkc => clamped(k),
        };
        if s.kdst == Dsel::W1 {
            let single = |x: f64| f16_to_f32(half_of(x) as u16);
            return Sums { w0: single(first), mask: u32::MAX, w1: single(second) };
        }
        let mut sums = Sums { w1: self.s[3], ..Sums::default() };
        for (i, (x, element)) in [(first, s.jelem), (second, s.kelem)].into_iter().enumerate() {
            let element = element.number() as u32;
            let (bits, mask, at) = if s.op == SopOp::U8 && s.formats >> i & 1 != 0 {
                (byte(x).into(), 0xff, 8 * element)
            } else {
                (half_of(x), 0xffff, 16 * (element & 1))
            };
            sums.w0 = (sums.w0 & !(mask << at)) | bits << at;
            sums.mask |= mask << at;
        }
        sums
    }
}

/// A fraction of 255.
fn byte(x: f64) -> u8 {
    (value(half_of(clamped(x))) * 255.0).round_ties_even() as u8
}
