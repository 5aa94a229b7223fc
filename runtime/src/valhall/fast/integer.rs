//! Integers, shifts, comparisons and selections in vectors.

use std::marker::PhantomData;

use super::super::rules::integer as scalar;
use super::float::{key, widen};
use super::fuse::graph::{Graph, Ordering, Relation, Value};
use super::fuse::recipe::{self, Recipe};
use super::half::both;
use super::rule::{LongRule, Rule, long_rules, rules};

macro_rules! halves {
    ($($name:ident($($source:ident),*) $result:expr;)*) => { $(
        #[inline(always)]
        fn $name([$($source),*]: [u32; [$(stringify!($source)),*].len()]) -> u32 {
            $result
        }
    )* };
}

halves! {
    add_half(a, b) a.wrapping_add(b) & 0xffff;
    subtract_half(a, b) a.wrapping_sub(b) & 0xffff;
    multiply_half(a, b) a.wrapping_mul(b) & 0xffff;
    mux_negative(a, b, c) if c & 0x8000 != 0 { a } else { b };
    mux_zero(a, b, c) if c == 0 { a } else { b };
    mux_float_zero(a, b, c) if c & 0x7fff == 0 { a } else { b };
    not_zero(a) if a != 0 { 0xffff } else { 0 };
}

rules! {
    /// The first number; there is no source.
    Number(_a; n) n[0];
    Copy(a; _) a, Word recipe::copy;
    Not(a; _) !a, Word recipe::not;
    Add(a, b; _) a.wrapping_add(b), Word recipe::add;
    Subtract(a, b; _) a.wrapping_sub(b), Word recipe::subtract;
    Multiply(a, b; _) a.wrapping_mul(b), Word recipe::multiply;
    AddImmediate(a; n) a.wrapping_add(n[0]), Word recipe::add_immediate;
    AddImmediateHalves(a; n) both!(a, n[0]; add_half), Word recipe::add_immediate_halves;
    AddHalves(a, b; _) both!(a, b; add_half), Word recipe::add_halves;
    SubtractHalves(a, b; _) both!(a, b; subtract_half), Word recipe::subtract_halves;
    MultiplyHalves(a, b; _) both!(a, b; multiply_half), Word recipe::multiply_halves;
    AddUnsignedSaturating(a, b; _) a.saturating_add(b);
    AddSignedSaturating(a, b; _) (a as i32).saturating_add(b as i32) as u32;
    SubtractUnsignedSaturating(a, b; _) a.saturating_sub(b);
    SubtractSignedSaturating(a, b; _) (a as i32).saturating_sub(b as i32) as u32;
    Absolute(a; _) (a as i32).wrapping_abs() as u32, Word recipe::absolute;
    LeadingZeros(a; _) a.leading_zeros();
    Population(a; _) a.count_ones();
    Reversed(a; _) a.reverse_bits();
    /// Where the third source has ones.
    MuxBits(a, b, c; _) a & c | b & !c, Word recipe::mux_bits;
    MuxNegative(a, b, c; _) if (c as i32) < 0 { a } else { b }, Word recipe::mux_negative;
    MuxZero(a, b, c; _) if c == 0 { a } else { b }, Word recipe::mux_zero;
    MuxFloatZero(a, b, c; _) if c & 0x7fff_ffff == 0 { a } else { b }, Word recipe::mux_float_zero;
    MuxHalvesNegative(a, b, c; _) both!(a, b, c; mux_negative);
    MuxHalvesZero(a, b, c; _) both!(a, b, c; mux_zero);
    MuxHalvesFloatZero(a, b, c; _) both!(a, b, c; mux_float_zero);
    /// A part of a word: up by the first number, then down by the second.
    Unsigned(a; n) a << (n[0] & 31) >> (n[1] & 31), Word recipe::unsigned_part;
    /// The same, with its sign.
    Signed(a; n) ((a << (n[0] & 31)) as i32 >> (n[1] & 31)) as u32, Word recipe::signed_part;
    /// Two bytes as halves: the places of their bits are in the numbers.
    UnsignedBytes(a; n) a >> (n[0] & 31) & 0xff | (a >> (n[1] & 31) & 0xff) << 16, Word recipe::unsigned_bytes;
    /// The same, with their signs.
    SignedBytes(a; n) {
        let (low, high) = ((a >> (n[0] & 31)) as i8 as u32, (a >> (n[1] & 31)) as i8 as u32);
        low & 0xffff | high << 16
    };
    DotSigned(a, b, c; _) scalar::dot_product_add(scalar::S8, a, b, c, false);
    DotUnsigned(a, b, c; _) scalar::dot_product_add(scalar::U8, a, b, c, false);
}

#[inline(always)]
pub fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The sum of two pairs of words, in words: vectors of 64 bits would have to be put together and taken apart.
#[inline(always)]
fn long_add(a: u32, b: u32, c: u32, d: u32) -> u64 {
    let low = a.wrapping_add(c);
    join(low, b.wrapping_add(d).wrapping_add(u32::from(low < a)))
}

long_rules! {
    LongAdd(a, b, c, d; _) long_add(a, b, c, d), Sum recipe::long_add;
    LongSubtract(a, b, c, d; _) join(a.wrapping_sub(c), b.wrapping_sub(d).wrapping_sub(u32::from(a < c))), Long recipe::long_subtract;
    /// The full product of low words.
    LongMultiply(a, b; _) u64::from(a) * u64::from(b);
    /// The second operand is shifted by the first number, which is below 32.
    ShiftedAdd(a, b, c, d; n) {
        let shift = n[0] & 31;
        long_add(a, b, c << shift, d << shift | c >> 1 >> (31 - shift))
    }, Long recipe::shifted_add;
    LongNot(a, b; _) !join(a, b);
}

/// Which way, as a const parameter.
pub mod shift {
    pub const NONE: u32 = 0;
    pub const LEFT: u32 = 1;
    pub const RIGHT: u32 = 2;
    pub const ARITHMETIC: u32 = 3;
}

/// What a shifted word meets, as a const parameter.
pub mod logic {
    pub const AND: u32 = 0;
    pub const OR: u32 = 1;
    pub const XOR: u32 = 2;
}

/// `(a shift b) logic c`; the numbers are ones where `c` and the result are complemented.
pub struct Shift<const KIND: u32, const LOGIC: u32>;

impl<const KIND: u32, const LOGIC: u32> Rule for Shift<KIND, LOGIC> {
    const RECIPE: Option<&'static Recipe> = Some(&Recipe::Word(recipe::shift::<KIND, LOGIC>));
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [not_c, not_result]: [u32; 2]) -> u32 {
        let count = b & 31;
        let shifted = match KIND {
            shift::LEFT => a << count,
            shift::RIGHT => a >> count,
            shift::ARITHMETIC => (a as i32 >> count) as u32,
            _ => a,
        };
        combine::<LOGIC>(shifted, c ^ not_c) ^ not_result
    }
}

#[inline(always)]
pub fn combine<const LOGIC: u32>(a: u32, b: u32) -> u32 {
    match LOGIC {
        logic::AND => a & b,
        logic::OR => a | b,
        _ => a ^ b,
    }
}

#[inline(always)]
fn shift_half<const KIND: u32>([a, b]: [u32; 2]) -> u32 {
    let count = b & 15;
    match KIND {
        shift::LEFT => a << count & 0xffff,
        shift::RIGHT => a >> count,
        shift::ARITHMETIC => (i32::from(a as i16) >> count) as u32 & 0xffff,
        _ => a,
    }
}

/// The same on halves; each has its count in its lowest byte.
pub struct ShiftHalves<const KIND: u32, const LOGIC: u32>;

impl<const KIND: u32, const LOGIC: u32> Rule for ShiftHalves<KIND, LOGIC> {
    const RECIPE: Option<&'static Recipe> = Some(&Recipe::Word(recipe::shift_halves::<KIND, LOGIC>));
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [not_c, not_result]: [u32; 2]) -> u32 {
        let shifted = both!(a, b; shift_half::<KIND>);
        combine::<LOGIC>(shifted, c ^ not_c) ^ not_result
    }
}

/// A condition on two words.
pub trait Order {
    /// Whether the words are floats, of which any NaN will do.
    const FLOATS: bool;
    /// Whether it holds.
    fn holds(a: u32, b: u32) -> bool;
    /// The lanes in which it holds.
    fn mask(graph: &mut Graph, a: Value, b: Value) -> Value;
}

macro_rules! orders {
    ($($name:ident |$a:ident, $b:ident| $holds:expr, $floats:literal |$g:ident| $mask:expr;)*) => { $(
        pub struct $name;
        impl Order for $name {
            const FLOATS: bool = $floats;

            #[inline(always)]
            fn holds($a: u32, $b: u32) -> bool {
                $holds
            }

            fn mask($g: &mut Graph, $a: Value, $b: Value) -> Value {
                $mask
            }
        }
    )* };
}

orders! {
    Equal |a, b| a == b, false |g| g.compare_unsigned(Relation::Equal, a, b);
    Different |a, b| a != b, false |g| g.compare_unsigned(Relation::Different, a, b);
    Below |a, b| a < b, false |g| g.compare_unsigned(Relation::Less, a, b);
    BelowOrEqual |a, b| a <= b, false |g| g.compare_unsigned(Relation::LessOrEqual, a, b);
    Less |a, b| (a as i32) < b as i32, false |g| g.compare_signed(Relation::Less, a, b);
    LessOrEqual |a, b| a as i32 <= b as i32, false |g| g.compare_signed(Relation::LessOrEqual, a, b);
    FloatEqual |a, b| f32::from_bits(a) == f32::from_bits(b), true |g| g.compare_floats(Ordering::Equal, a, b);
    FloatDifferent |a, b| f32::from_bits(a) != f32::from_bits(b), true
        |g| g.compare_floats(Ordering::Different, a, b);
    FloatLess |a, b| f32::from_bits(a) < f32::from_bits(b), true |g| g.compare_floats(Ordering::Less, a, b);
    FloatLessOrEqual |a, b| f32::from_bits(a) <= f32::from_bits(b), true
        |g| g.compare_floats(Ordering::LessOrEqual, a, b);
    FloatApart |a, b| (f32::from_bits(a) < f32::from_bits(b)) | (f32::from_bits(a) > f32::from_bits(b)), true
        |g| g.compare_floats(Ordering::Apart, a, b);
    FloatTotal |a, b| key(a) <= key(b), false |g| recipe::in_order(g, a, b);
}

/// The first number where the condition holds, else 0.
pub struct Compare<O>(PhantomData<O>);

impl<O: Order> Rule for Compare<O> {
    const RECIPE: Option<&'static Recipe> =
        Some(if O::FLOATS { &Recipe::Float(recipe::compare::<O>) } else { &Recipe::Word(recipe::compare::<O>) });
    const SOURCES: usize = 2;
    #[inline(always)]
    fn lane([a, b, ..]: [u32; 4], [value, _]: [u32; 2]) -> u32 {
        if O::holds(a, b) { value } else { 0 }
    }
}

/// The first number where the condition holds or the third source is not zero; `and` with a second number of ones.
pub struct CompareJoined<O>(PhantomData<O>);

impl<O: Order> Rule for CompareJoined<O> {
    const RECIPE: Option<&'static Recipe> = Some(if O::FLOATS {
        &Recipe::Float(recipe::compare_joined::<O>)
    } else {
        &Recipe::Word(recipe::compare_joined::<O>)
    });
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [value, and]: [u32; 2]) -> u32 {
        let holds = if O::holds(a, b) { u32::MAX } else { 0 };
        let other = if c != 0 { u32::MAX } else { 0 };
        // Either both, or with `and` neither being absent.
        let joined = (holds & other) | ((holds | other) & !and);
        joined & value
    }
}

/// `c` where the condition holds, else `d`.
pub struct Select<O>(PhantomData<O>);

impl<O: Order> Rule for Select<O> {
    const RECIPE: Option<&'static Recipe> =
        Some(if O::FLOATS { &Recipe::Choice(recipe::select::<O>) } else { &Recipe::Word(recipe::select::<O>) });
    const SOURCES: usize = 4;
    #[inline(always)]
    fn lane([a, b, c, d]: [u32; 4], _: [u32; 2]) -> u32 {
        if O::holds(a, b) { c } else { d }
    }
}

/// How the halves of a word are read before they are compared.
pub trait Part {
    /// The half as a word.
    fn part(half: u32) -> u32;
}

/// As an unsigned integer.
pub struct AsUnsigned;
/// As a signed integer.
pub struct AsSigned;
/// As an f16.
pub struct AsFloat;

impl Part for AsUnsigned {
    #[inline(always)]
    fn part(half: u32) -> u32 {
        half
    }
}

impl Part for AsSigned {
    #[inline(always)]
    fn part(half: u32) -> u32 {
        i32::from(half as i16) as u32
    }
}

impl Part for AsFloat {
    #[inline(always)]
    fn part(half: u32) -> u32 {
        widen(half)
    }
}

/// As [`CompareJoined`], each half for itself; the first number has the value twice.
pub struct CompareHalves<O, P>(PhantomData<(O, P)>);

impl<O: Order, P: Part> Rule for CompareHalves<O, P> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [value, and]: [u32; 2]) -> u32 {
        let holds = both!(a, b; compare_half::<O, P>);
        let other = both!(c; not_zero);
        ((holds & other) | ((holds | other) & !and)) & value
    }
}

/// As [`Select`], each half for itself.
pub struct SelectHalves<O, P>(PhantomData<(O, P)>);

impl<O: Order, P: Part> Rule for SelectHalves<O, P> {
    const SOURCES: usize = 4;
    #[inline(always)]
    fn lane([a, b, c, d]: [u32; 4], _: [u32; 2]) -> u32 {
        let chosen = both!(a, b; compare_half::<O, P>);
        c & chosen | d & !chosen
    }
}

/// Ones in a half whose condition holds.
#[inline(always)]
fn compare_half<O: Order, P: Part>([a, b]: [u32; 2]) -> u32 {
    if O::holds(P::part(a), P::part(b)) { 0xffff } else { 0 }
}

/// A part of a 64-bit source, extended.
pub struct Extend<const SIGNED: bool>;

impl<const SIGNED: bool> LongRule for Extend<SIGNED> {
    const SOURCES: usize = 1;
    #[inline(always)]
    fn lane([a, ..]: [u32; 4], [up, down]: [u32; 2]) -> u64 {
        let raised = u64::from(a) << (up & 63);
        if SIGNED { (raised as i64 >> (down & 63)) as u64 } else { raised >> (down & 63) }
    }
}
