//! Integers, shifts, comparisons and selections in vectors.

use std::marker::PhantomData;

use super::float::key;
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
}

rules! {
    /// The first number; there is no source.
    Number(_a; n) n[0];
    Copy(a; _) a;
    Not(a; _) !a;
    Add(a, b; _) a.wrapping_add(b);
    Subtract(a, b; _) a.wrapping_sub(b);
    Multiply(a, b; _) a.wrapping_mul(b);
    AddImmediate(a; n) a.wrapping_add(n[0]);
    AddImmediateHalves(a; n) both!(a, n[0]; add_half);
    AddHalves(a, b; _) both!(a, b; add_half);
    SubtractHalves(a, b; _) both!(a, b; subtract_half);
    MultiplyHalves(a, b; _) both!(a, b; multiply_half);
    Absolute(a; _) (a as i32).wrapping_abs() as u32;
    /// Where the third source has ones.
    MuxBits(a, b, c; _) a & c | b & !c;
    MuxNegative(a, b, c; _) if (c as i32) < 0 { a } else { b };
    MuxZero(a, b, c; _) if c == 0 { a } else { b };
    MuxFloatZero(a, b, c; _) if c & 0x7fff_ffff == 0 { a } else { b };
    /// A part of a word: up by the first number, then down by the second.
    Unsigned(a; n) a << (n[0] & 31) >> (n[1] & 31);
    /// The same, with its sign.
    Signed(a; n) ((a << (n[0] & 31)) as i32 >> (n[1] & 31)) as u32;
    /// Two bytes as halves: the places of their bits are in the numbers.
    UnsignedBytes(a; n) a >> (n[0] & 31) & 0xff | (a >> (n[1] & 31) & 0xff) << 16;
    /// The same, with their signs.
    SignedBytes(a; n) {
        let (low, high) = ((a >> (n[0] & 31)) as i8 as u32, (a >> (n[1] & 31)) as i8 as u32);
        low & 0xffff | high << 16
    };
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
    LongAdd(a, b, c, d; _) long_add(a, b, c, d);
    LongSubtract(a, b, c, d; _) join(a.wrapping_sub(c), b.wrapping_sub(d).wrapping_sub(u32::from(a < c)));
    /// The second operand is shifted by the first number, which is below 32.
    ShiftedAdd(a, b, c, d; n) {
        let shift = n[0] & 31;
        long_add(a, b, c << shift, d << shift | c >> 1 >> (31 - shift))
    };
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
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [not_c, not_result]: [u32; 2]) -> u32 {
        let shifted = both!(a, b; shift_half::<KIND>);
        combine::<LOGIC>(shifted, c ^ not_c) ^ not_result
    }
}

/// A condition on two words.
pub trait Order {
    /// Whether it holds.
    fn holds(a: u32, b: u32) -> bool;
}

macro_rules! orders {
    ($($name:ident |$a:ident, $b:ident| $holds:expr;)*) => { $(
        pub struct $name;
        impl Order for $name {
            #[inline(always)]
            fn holds($a: u32, $b: u32) -> bool {
                $holds
            }
        }
    )* };
}

orders! {
    Equal |a, b| a == b;
    Different |a, b| a != b;
    Below |a, b| a < b;
    BelowOrEqual |a, b| a <= b;
    Less |a, b| (a as i32) < b as i32;
    LessOrEqual |a, b| a as i32 <= b as i32;
    FloatEqual |a, b| f32::from_bits(a) == f32::from_bits(b);
    FloatDifferent |a, b| f32::from_bits(a) != f32::from_bits(b);
    FloatLess |a, b| f32::from_bits(a) < f32::from_bits(b);
    FloatLessOrEqual |a, b| f32::from_bits(a) <= f32::from_bits(b);
    FloatApart |a, b| (f32::from_bits(a) < f32::from_bits(b)) | (f32::from_bits(a) > f32::from_bits(b));
    FloatTotal |a, b| key(a) <= key(b);
}

/// The first number where the condition holds, else 0.
pub struct Compare<O>(PhantomData<O>);

impl<O: Order> Rule for Compare<O> {
    const SOURCES: usize = 2;
    #[inline(always)]
    fn lane([a, b, ..]: [u32; 4], [value, _]: [u32; 2]) -> u32 {
        if O::holds(a, b) { value } else { 0 }
    }
}

/// The first number where the condition holds or the third source is not zero; `and` with a second number of ones.
pub struct CompareJoined<O>(PhantomData<O>);

impl<O: Order> Rule for CompareJoined<O> {
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
    const SOURCES: usize = 4;
    #[inline(always)]
    fn lane([a, b, c, d]: [u32; 4], _: [u32; 2]) -> u32 {
        if O::holds(a, b) { c } else { d }
    }
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
