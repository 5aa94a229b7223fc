//! Integers of 8, 16 and 32 bits in words, each computed for itself.

use std::marker::PhantomData;

use super::super::rules::integer as scalar;
use super::integer::Order;
use super::rule::{Rule, rules};

/// What is computed of integers that have been extended to a word.
pub trait Component {
    /// How many rows it reads, at most three.
    const SOURCES: usize;
    /// The result, of which the low `BITS` count.
    fn apply<const BITS: u32, const SIGNED: bool>(parts: [i32; 3], numbers: [u32; 2]) -> i32;
}

/// The rule that does it for each component of a word.
pub struct Each<const BITS: u32, const SIGNED: bool, C>(PhantomData<C>);

impl<const BITS: u32, const SIGNED: bool, C: Component> Rule for Each<BITS, SIGNED, C> {
    const SOURCES: usize = C::SOURCES;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], numbers: [u32; 2]) -> u32 {
        let mut word = 0;
        let mut at = 0;
        while at < 32 {
            let parts = [part::<BITS, SIGNED>(a, at), part::<BITS, SIGNED>(b, at), part::<BITS, SIGNED>(c, at)];
            let result = C::apply::<BITS, SIGNED>(parts, numbers) as u32;
            word |= (result & u32::MAX >> (32 - BITS)) << at;
            at += BITS;
        }
        word
    }
}

/// The component that lies `at` bits up.
#[inline(always)]
fn part<const BITS: u32, const SIGNED: bool>(word: u32, at: u32) -> i32 {
    let raised = word << (32 - BITS - at);
    if SIGNED { raised as i32 >> (32 - BITS) } else { (raised >> (32 - BITS)) as i32 }
}

/// The numbers of an addition, subtraction or multiplication of fewer than 32 bits: the least and the greatest result.
pub fn limits(bits: u32, signed: bool, saturate: bool) -> [u32; 2] {
    match (saturate, signed) {
        (false, _) => [i32::MIN as u32, i32::MAX as u32],
        (true, false) => [0, (1 << bits) - 1],
        (true, true) => [u32::MAX << (bits - 1), (1 << (bits - 1)) - 1],
    }
}

macro_rules! components {
    ($($(#[$doc:meta])* $name:ident<$bits:ident, $signed:ident>($($part:ident),*; $numbers:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub struct $name;
        impl Component for $name {
            const SOURCES: usize = [$(stringify!($part)),*].len();
            #[inline(always)]
            fn apply<const $bits: u32, const $signed: bool>(parts: [i32; 3], $numbers: [u32; 2]) -> i32 {
                let [$($part,)* ..] = parts;
                $result
            }
        }
    )* };
}

components! {
    Add<BITS, SIGNED>(a, b; [low, high]) (a + b).max(low as i32).min(high as i32);
    Subtract<BITS, SIGNED>(a, b; [low, high]) (a - b).max(low as i32).min(high as i32);
    Multiply<BITS, SIGNED>(a, b; [low, high]) {
        let product = a.wrapping_mul(b);
        if SIGNED { product.max(low as i32).min(high as i32) } else { (product as u32).min(high) as i32 }
    };
    /// Half of the sum, to which the first number is added before.
    Halve<BITS, SIGNED>(a, b; n) (a + b + n[0] as i32) >> 1;
    Absolute<BITS, SIGNED>(a; _) a.wrapping_abs();
    /// Of a component of which the first number of bits are not there.
    LeadingZeros<BITS, SIGNED>(a; n) (a as u32).leading_zeros() as i32 - n[0] as i32;
    /// `a` where the third component is negative, else `b`.
    MuxNegative<BITS, SIGNED>(a, b, c; _) if c < 0 { a } else { b };
    MuxZero<BITS, SIGNED>(a, b, c; _) if c == 0 { a } else { b };
    MuxFloatZero<BITS, SIGNED>(a, b, c; _) if (c as u32) << (33 - BITS) == 0 { a } else { b };
    /// -1, 0 or 1 in the order of `a` and `b`, or where they are equal the sign of `c`.
    Sequence<BITS, SIGNED>(a, b, c; _) order::<BITS, SIGNED>(a, b, c);
    /// The first number where the second has the bit of that order, which are 0, 1 and 2.
    SequenceHolds<BITS, SIGNED>(a, b, c; [value, table]) {
        if table >> (order::<BITS, SIGNED>(a, b, c) + 1) & 1 != 0 { value as i32 } else { 0 }
    };
}

#[inline(always)]
fn order<const BITS: u32, const SIGNED: bool>(a: i32, b: i32, c: i32) -> i32 {
    let less = if SIGNED { a < b } else { (a as u32) < b as u32 };
    let tie = ((c as u32) << (32 - BITS)) as i32;
    let order = i32::from(a != b) - 2 * i32::from(less);
    if a == b { i32::from(tie > 0) - i32::from(tie < 0) } else { order }
}

/// As `integer::CompareJoined`, each component for itself.
pub struct Compare<O>(PhantomData<O>);

impl<O: Order> Component for Compare<O> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn apply<const BITS: u32, const SIGNED: bool>([a, b, c]: [i32; 3], [value, and]: [u32; 2]) -> i32 {
        let holds = if O::holds(a as u32, b as u32) { u32::MAX } else { 0 };
        let other = if c != 0 { u32::MAX } else { 0 };
        (((holds & other) | ((holds | other) & !and)) & value) as i32
    }
}

rules! {
    MultiplyUnsignedSaturating(a, b; _) (u64::from(a) * u64::from(b)).min(u32::MAX.into()) as u32;
    MultiplySignedSaturating(a, b; _) {
        (i64::from(a as i32) * i64::from(b as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32
    };
    /// Half of the sum, to which the first number is added before, without its carry.
    HalveUnsigned(a, b; n) (a & b).wrapping_add((a ^ b) >> 1).wrapping_add((a ^ b) & n[0]);
    HalveSigned(a, b; n) {
        let half = (a ^ b) as i32 >> 1;
        (a & b).wrapping_add(half as u32).wrapping_add((a ^ b) & n[0])
    };
    /// Bytes in another order: the first number has how far up each lies, a byte for each.
    Bytes(a; n) {
        let places = n[0];
        a >> (places & 31) & 0xff
            | (a >> (places >> 8 & 31) & 0xff) << 8
            | (a >> (places >> 16 & 31) & 0xff) << 16
            | (a >> (places >> 24 & 31) & 0xff) << 24
    };
    /// A byte, another, and a half; the numbers say how far up the bytes lie.
    PackBytes(a, b, c; n) a >> (n[0] & 31) & 0xff | (b >> (n[1] & 31) & 0xff) << 8 | c << 16;
    DotSignedSaturating(a, b, c; _) scalar::dot_product_add(scalar::S8, a, b, c, true);
    DotUnsignedSaturating(a, b, c; _) scalar::dot_product_add(scalar::U8, a, b, c, true);
}

/// Each byte shifted by the count in the byte of `b`, then `logic c`; as `integer::Shift`.
pub struct ShiftBytes<const KIND: u32, const LOGIC: u32>;

impl<const KIND: u32, const LOGIC: u32> Rule for ShiftBytes<KIND, LOGIC> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [not_c, not_result]: [u32; 2]) -> u32 {
        let mut shifted = 0;
        let mut at = 0;
        while at < 32 {
            shifted |= shift_byte::<KIND>(a >> at & 0xff, b >> at & 7) << at;
            at += 8;
        }
        super::integer::combine::<LOGIC>(shifted, c ^ not_c) ^ not_result
    }
}

#[inline(always)]
fn shift_byte<const KIND: u32>(a: u32, count: u32) -> u32 {
    use super::integer::shift;
    match KIND {
        shift::LEFT => a << count & 0xff,
        shift::RIGHT => a >> count,
        shift::ARITHMETIC => (i32::from(a as i8) >> count) as u32 & 0xff,
        _ => a,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rules::compare;
    use super::super::super::rules::integer::Lanes;
    use super::*;
    use isaforge_valhall::Mux;

    /// Compares what is done with bytes of one signedness, each pair of them once.
    fn agree<const SIGNED: bool>(lanes: Lanes) {
        let numbers = [0; 2];
        for (a, b) in (0..=0xffu32).flat_map(|a| (0..=0xff).map(move |b| (a, b))) {
            // Other bytes than the lowest show whether they keep to themselves.
            let sources = [a | b << 16, b | a << 16, b << 8 | a, 0];
            let [a, b, c, _] = sources;
            for saturate in [false, true] {
                let limits = limits(8, SIGNED, saturate);
                assert_eq!(Each::<8, SIGNED, Add>::lane(sources, limits), scalar::add(lanes, a, b, saturate));
                assert_eq!(Each::<8, SIGNED, Subtract>::lane(sources, limits), scalar::subtract(lanes, a, b, saturate));
                assert_eq!(Each::<8, SIGNED, Multiply>::lane(sources, limits), scalar::multiply(lanes, a, b, saturate));
                let up = [u32::from(saturate), 0];
                assert_eq!(Each::<8, SIGNED, Halve>::lane(sources, up), scalar::halving_add(lanes, a, b, saturate));
            }
            let mux = |how| compare::mux(lanes, how, a, b, c);
            assert_eq!(Each::<8, SIGNED, MuxZero>::lane(sources, numbers), mux(Mux::IntZero));
            assert_eq!(Each::<8, SIGNED, MuxFloatZero>::lane(sources, numbers), mux(Mux::FpZero));
            if SIGNED {
                assert_eq!(Each::<8, SIGNED, MuxNegative>::lane(sources, numbers), mux(Mux::Neg));
            }
        }
    }

    #[test]
    fn all_pairs_of_bytes_give_what_they_do_in_the_reference() {
        agree::<false>(scalar::U8);
        agree::<true>(scalar::S8);
    }
}
