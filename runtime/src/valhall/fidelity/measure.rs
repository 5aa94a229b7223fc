//! How far the rules for functions of one number, or of two halves, are from the functions themselves, over all inputs.
//!
//! What a rule gives is compared with an answer found another way: in double precision, or by the machine's own
//! conversions. `cargo run --release -p isaforge-runtime --example measure` goes through all 2^32 or 2^16 inputs of each
//! function; what it printed is in `measured.tsv`, which [`recorded`] reads.

use std::f64::consts::{LN_2, PI};
use std::ops::Range;

use half::f16;

use super::super::rules::float32::Nans;
use super::super::rules::rounding::{F16, F32, Format, Rounding};
use super::super::rules::special::Mantissa;
use super::super::rules::{chosen, convert, float16, float32, special};

/// The answer that a rule is measured against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truth {
    /// A real number, of which the result is an approximation in single precision.
    Single(f64),
    /// The same in half precision.
    Half(f64),
    /// These bits and no others.
    Bits(u32),
}

/// A function of one number, or of two halves: the second is in the high half of the input.
#[derive(Clone, Copy)]
pub struct Function {
    /// The instruction.
    pub mnemonic: &'static str,
    /// The modifiers that it is measured with.
    pub modifiers: &'static str,
    /// How many inputs there are that differ in what matters, from 0.
    pub inputs: u64,
    /// The rule.
    pub rule: fn(u32) -> u32,
    /// The answer.
    pub truth: fn(u32) -> Truth,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.mnemonic, self.modifiers)
    }
}

/// The worst that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// Distance from the answer in units of its last place.
    pub ulps: f64,
    /// An input that gives it.
    pub at: u32,
    /// Inputs for which the answer is not a number like the result is: NaN, infinity or zero in place of another, or
    /// bits that had to be equal.
    pub wrong: u64,
}

impl Worst {
    /// The worse of two, and all that is wrong.
    pub fn with(self, other: Worst) -> Worst {
        let worse = if other.ulps > self.ulps { other } else { self };
        Worst { wrong: self.wrong + other.wrong, ..worse }
    }
}

impl Function {
    /// The worst over a range of inputs, of which every `stride`-th is looked at.
    pub fn worst(&self, inputs: Range<u64>, stride: usize) -> Worst {
        inputs.step_by(stride.max(1)).fold(Worst::default(), |worst, input| {
            let input = input as u32;
            let found = (self.rule)(input);
            match distance(found, (self.truth)(input)) {
                Some(ulps) if ulps > worst.ulps => Worst { ulps, at: input, ..worst },
                Some(_) => worst,
                None => Worst { wrong: worst.wrong + 1, ..worst },
            }
        })
    }
}

/// Units in the last place between a result and the answer; `None` when they are not alike.
fn distance(found: u32, truth: Truth) -> Option<f64> {
    match truth {
        Truth::Bits(bits) => (found == bits).then_some(0.0),
        Truth::Single(exact) => ulps(f64::from(f32::from_bits(found)), exact, -126, 23, f64::from(f32::MAX)),
        Truth::Half(exact) => ulps(f16::from_bits(found as u16).to_f64(), exact, -14, 10, 65504.0),
    }
}

fn ulps(found: f64, exact: f64, least: i32, fraction: i32, greatest: f64) -> Option<f64> {
    let special = exact.is_nan() || exact.is_infinite() || exact == 0.0;
    if special || found.is_nan() {
        // The sign of a zero or an infinity counts.
        let same = found == exact && found.is_sign_negative() == exact.is_sign_negative();
        return (same || found.is_nan() && exact.is_nan()).then_some(0.0);
    }
    // The exponent of a double that is normal in the narrower format's eyes.
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let unit = f64::powi(2.0, exponent - fraction);
    if found.is_infinite() {
        // Right from half a unit above the greatest number on.
        let next = greatest + f64::powi(2.0, greatest.log2() as i32 - fraction);
        let early = ((greatest + next) / 2.0 - exact.abs()).max(0.0);
        return (found.signum() == exact.signum()).then_some(early / unit);
    }
    Some((found - exact).abs() / unit)
}

fn single(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

fn half(bits: u32) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// A subnormal single counts as zero.
fn flushed(value: f64) -> f64 {
    if (value as f32).is_subnormal() { 0f64.copysign(value) } else { value }
}

/// `1 / √x`, where the root of -0 is -0.
fn root(value: f64) -> f64 {
    if value == 0.0 { f64::INFINITY.copysign(value) } else { 1.0 / value.sqrt() }
}

/// A whole number next to `value`.
fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
        Rounding::Zero => value.trunc(),
    }
}

/// `value` in a narrower format, from its nearest neighbour there, the neighbour's value, and the steps up and down.
fn directed<T: Copy>(
    value: f64,
    rounding: Rounding,
    near: T,
    wide: fn(T) -> f64,
    up: fn(T) -> T,
    down: fn(T) -> T,
) -> T {
    let rounding = match rounding {
        Rounding::Zero if value < 0.0 => Rounding::Up,
        Rounding::Zero => Rounding::Down,
        other => other,
    };
    match rounding {
        Rounding::Up if wide(near) < value => up(near),
        Rounding::Down if wide(near) > value => down(near),
        _ => near,
    }
}

fn to_single(value: f64, rounding: Rounding) -> u32 {
    directed(value, rounding, value as f32, f64::from, f32::next_up, f32::next_down).to_bits()
}

fn to_half(value: f64, rounding: Rounding) -> u32 {
    // The order of halves is that of these keys.
    fn step(value: f16, by: i32) -> f16 {
        let bits = i32::from(value.to_bits() as i16);
        let key = if bits < 0 { -0x8000 - bits } else { bits } + by;
        f16::from_bits(if key < 0 { 0x8000 | -key as u16 } else { key as u16 })
    }
    if value.is_nan() {
        return F16.nan;
    }
    let near = f16::from_f64(value);
    let found = directed(value, rounding, near, f16::to_f64, |v| step(v, 1), |v| step(v, -1));
    // A negative number that comes down to nothing keeps its sign.
    found.to_bits() as u32 | if value.is_sign_negative() { F16.sign } else { 0 }
}

/// The one NaN in place of all.
fn one_nan(format: &Format, bits: u32) -> Truth {
    Truth::Bits(if format.is_nan(bits) { format.nan } else { bits })
}

/// Mantissa and exponent, found with the exponent field of a double, which has no subnormals among the singles.
fn split(value: f64, range: Mantissa, subnormal: bool) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() || subnormal && range == Mantissa::Log {
        return (value, 0);
    }
    let power = (value.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    let by = match range {
        Mantissa::Half => power,
        Mantissa::Root => power + (power & 1),
        Mantissa::Log if (value / f64::powi(2.0, power)).abs() < 0.75 => power - 1,
        Mantissa::Log => power,
    };
    (value / f64::powi(2.0, by), if range == Mantissa::Root { by / 2 } else { by })
}

/// The mantissa and the exponent of a single, and of a half.
fn parts(bits: u32, range: Mantissa) -> (f64, i32) {
    split(single(bits), range, F32.is_subnormal(bits))
}

fn half_parts(bits: u32, range: Mantissa) -> (f64, i32) {
    split(half(bits), range, F16.is_subnormal(bits))
}

const ALL32: u64 = 1 << 32;
const ALL16: u64 = 1 << 16;

/// Rows for each rounding that v9 encodes.
macro_rules! rounded {
    ($list:ident: $mnemonic:literal $inputs:ident |$x:ident, $mode:ident| $rule:expr, $truth:expr) => {
        rounded!($list: $mnemonic $inputs "", NearestEven, |$x, $mode| $rule, $truth);
        rounded!($list: $mnemonic $inputs ".rtp", Up, |$x, $mode| $rule, $truth);
        rounded!($list: $mnemonic $inputs ".rtn", Down, |$x, $mode| $rule, $truth);
        rounded!($list: $mnemonic $inputs ".rtz", Zero, |$x, $mode| $rule, $truth);
    };
    ($list:ident: $mnemonic:literal $inputs:ident $modifiers:literal, $rounding:ident, |$x:ident, $mode:ident| $rule:expr, $truth:expr) => {
        $list.push(Function {
            mnemonic: $mnemonic,
            modifiers: $modifiers,
            inputs: $inputs,
            rule: |$x| {
                let $mode = Rounding::$rounding;
                $rule
            },
            truth: |$x| {
                let $mode = Rounding::$rounding;
                $truth
            },
        });
    };
}

/// Rows for each range of mantissas.
macro_rules! ranged {
    ($list:ident: $mnemonic:literal $inputs:ident |$x:ident, $range:ident| $rule:expr, $truth:expr) => {
        ranged!($list: $mnemonic $inputs "", Half, |$x, $range| $rule, $truth);
        ranged!($list: $mnemonic $inputs ".sqrt", Root, |$x, $range| $rule, $truth);
        ranged!($list: $mnemonic $inputs ".log", Log, |$x, $range| $rule, $truth);
    };
    ($list:ident: $mnemonic:literal $inputs:ident $modifiers:literal, $which:ident, |$x:ident, $range:ident| $rule:expr, $truth:expr) => {
        $list.push(Function {
            mnemonic: $mnemonic,
            modifiers: $modifiers,
            inputs: $inputs,
            rule: |$x| {
                let $range = Mantissa::$which;
                $rule
            },
            truth: |$x| {
                let $range = Mantissa::$which;
                $truth
            },
        });
    };
}

/// All functions that are measured.
pub fn functions() -> Vec<Function> {
    let plain = |mnemonic, inputs, rule, truth| Function { mnemonic, modifiers: "", inputs, rule, truth };
    let mut list = vec![
        plain("FRCP.f32", ALL32, special::reciprocal_f32, |x| Truth::Single(flushed(1.0 / flushed(single(x))))),
        plain("FRSQ.f32", ALL32, special::reciprocal_root_f32, |x| Truth::Single(root(flushed(single(x))))),
        plain("FLOGD.f32", ALL32, special::log_slope, |x| {
            let reduced = single(float32::reduce(x));
            // The logarithm of a number near 1 is exact to the last bits only in terms of its distance from 1.
            Truth::Single(match reduced - 1.0 {
                0.0 => 1.0 / LN_2,
                _ if reduced == f64::INFINITY => reduced,
                rest if reduced < 0.5 => reduced.ln() / rest / LN_2,
                rest => rest.ln_1p() / rest / LN_2,
            })
        }),
        plain(
            "FEXP.f32",
            ALL32,
            |x| special::exp2(x, F32.one),
            |x| Truth::Single(flushed((f64::from(x as i32) * LN_2 / f64::from(1 << 24)).exp())),
        ),
        plain("FSIN_TABLE.u6", 64, special::sine, |x| Truth::Single(turned(x))),
        plain("FCOS_TABLE.u6", 64, special::cosine, |x| Truth::Single(turned(x + 16))),
        plain("FSINCOS_OFFSET.u6", 64, chosen::sincos_offset, |x| Truth::Single(f64::from(x) * PI / 32.0)),
        plain("FEXP_TABLE.u4", 16, chosen::exp_table, |x| Truth::Single((f64::from(x) * LN_2 / 16.0).exp())),
        plain("FRCP_APPROX.f32", ALL32, chosen::reciprocal_of_mantissa, |x| {
            Truth::Single(1.0 / parts(x, Mantissa::Half).0)
        }),
        plain("FRSQ_APPROX.f32", ALL32, chosen::root_of_mantissa, |x| Truth::Single(root(parts(x, Mantissa::Root).0))),
        plain("FLOG_TABLE.f32", ALL32, chosen::reciprocal_of_log_mantissa, |x| {
            Truth::Single(1.0 / parts(x, Mantissa::Log).0)
        }),
        plain("FRCP.f16", ALL16, |x| special::reciprocal_f16(x as u16).into(), |x| Truth::Half(1.0 / half(x))),
        plain("FRSQ.f16", ALL16, |x| special::reciprocal_root_f16(x as u16).into(), |x| Truth::Half(root(half(x)))),
        plain("F16_TO_F32", ALL16, |x| convert::f16_to_f32(x as u16), |x| one_nan(&F32, (half(x) as f32).to_bits())),
    ];
    rounded!(list: "FROUND.f32" ALL32 |x, mode| convert::round_f32(x, mode), {
        one_nan(&F32, (whole(single(x), mode) as f32).to_bits())
    });
    rounded!(list: "F32_TO_S32" ALL32 |x, mode| convert::f32_to_s32(x, mode), {
        Truth::Bits(whole(single(x), mode) as i32 as u32)
    });
    rounded!(list: "F32_TO_U32" ALL32 |x, mode| convert::f32_to_u32(x, mode), {
        Truth::Bits(whole(single(x), mode) as u32)
    });
    rounded!(list: "V2F32_TO_V2F16" ALL32 |x, mode| float16::narrow(x, mode).into(), {
        Truth::Bits(to_half(single(x), mode))
    });
    rounded!(list: "S32_TO_F32" ALL32 |x, mode| convert::integer_to_f32((x as i32).into(), mode), {
        Truth::Bits(to_single((x as i32).into(), mode))
    });
    rounded!(list: "U32_TO_F32" ALL32 |x, mode| convert::integer_to_f32(x.into(), mode), {
        Truth::Bits(to_single(x.into(), mode))
    });
    rounded!(list: "FROUND.v2f16" ALL16 |x, mode| convert::round_f16(x as u16, mode).into(), {
        one_nan(&F16, to_half(whole(half(x), mode), Rounding::NearestEven))
    });
    rounded!(list: "F16_TO_S32" ALL16 |x, mode| convert::f16_to_s32(x as u16, mode), {
        Truth::Bits(whole(half(x), mode) as i32 as u32)
    });
    rounded!(list: "F16_TO_U32" ALL16 |x, mode| convert::f16_to_u32(x as u16, mode), {
        Truth::Bits(whole(half(x), mode) as u32)
    });
    rounded!(list: "V2F16_TO_V2S16" ALL16 |x, mode| convert::f16_to_s16(x as u16, mode).into(), {
        Truth::Bits((whole(half(x), mode) as i16 as u16).into())
    });
    rounded!(list: "V2F16_TO_V2U16" ALL16 |x, mode| convert::f16_to_u16(x as u16, mode).into(), {
        Truth::Bits((whole(half(x), mode) as u16).into())
    });
    rounded!(list: "V2S16_TO_V2F16" ALL16 |x, mode| convert::integer_to_f16((x as i16).into(), mode).into(), {
        Truth::Bits(to_half((x as i16).into(), mode))
    });
    rounded!(list: "V2U16_TO_V2F16" ALL16 |x, mode| convert::integer_to_f16(x.into(), mode).into(), {
        Truth::Bits(to_half(x.into(), mode))
    });
    list.extend([
        plain(
            "FADD.v2f16",
            ALL32,
            |x| float16::add(x as u16, high(x)).into(),
            |x| Truth::Bits(to_half(half(x) + half(x >> 16), Rounding::NearestEven)),
        ),
        plain(
            "FMIN.v2f16",
            ALL32,
            |x| float16::min(x as u16, high(x), Nans::Suppress).into(),
            |x| lesser(half(x), half(x >> 16), 1.0),
        ),
        plain(
            "FMAX.v2f16",
            ALL32,
            |x| float16::max(x as u16, high(x), Nans::Suppress).into(),
            |x| lesser(half(x), half(x >> 16), -1.0),
        ),
    ]);
    rounded!(list: "LDEXP.v2f16" ALL32 |x, mode| float16::ldexp(x as u16, (high(x) as i16).into(), mode).into(), {
        // Farther than this every number comes to zero or infinity, and not even nearly.
        let scale = i32::from(high(x) as i16).clamp(-100, 100);
        Truth::Bits(to_half(half(x) * f64::powi(2.0, scale), mode))
    });
    ranged!(list: "FREXPM.f32" ALL32 |x, range| special::mantissa_f32(x, range), {
        one_nan(&F32, (parts(x, range).0 as f32).to_bits())
    });
    ranged!(list: "FREXPE.f32" ALL32 |x, range| special::exponent_f32(x, range), {
        Truth::Bits(parts(x, range).1 as u32)
    });
    ranged!(list: "FREXPM.v2f16" ALL16 |x, range| special::mantissa_f16(x as u16, range).into(), {
        one_nan(&F16, to_half(half_parts(x, range).0, Rounding::NearestEven))
    });
    ranged!(list: "FREXPE.v2f16" ALL16 |x, range| special::exponent_f16(x as u16, range).into(), {
        Truth::Bits((half_parts(x, range).1 as u16).into())
    });
    list
}

fn high(pair: u32) -> u16 {
    (pair >> 16) as u16
}

/// The lesser of two halves by IEEE 754's total order, or with `sign` -1 the greater; a number before NaN.
fn lesser(a: f64, b: f64, sign: f64) -> Truth {
    let chosen = match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (false, true) => a,
        (false, false) if (a * sign).total_cmp(&(b * sign)).is_le() => a,
        (false, false) => b,
    };
    Truth::Bits(to_half(chosen, Rounding::NearestEven))
}

/// The sine of `x` times π/32, exact where it is a whole number.
fn turned(x: u32) -> f64 {
    match x % 64 {
        0 | 32 => 0.0,
        16 => 1.0,
        48 => -1.0,
        x => (f64::from(x) * PI / 32.0).sin(),
    }
}

/// A row of what was measured over all inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// The instruction and the modifiers.
    pub name: &'static str,
    /// How many inputs were looked at.
    pub inputs: u64,
    /// The worst.
    pub worst: Worst,
}

/// What was measured; the file that the command named above prints.
pub fn recorded() -> impl Iterator<Item = Recorded> {
    let rows = include_str!("measured.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let name = next()?;
        let (inputs, ulps) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let at = u32::from_str_radix(next()?, 16).ok()?;
        Some(Recorded { name, inputs, worst: Worst { ulps, at, wrong: next()?.parse().ok()? } })
    })
}
