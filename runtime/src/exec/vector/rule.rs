//! Rules, from which handlers are made, and the handlers of bits: whole words, slots and sets.

use bytemuck::Pod;

use super::handler::{Body, Exact, Handler, Micro, NO_ROW, READS};
use super::{Family, Member};

/// A computation on one component from up to three rows. It should have no branches, so that the compiler can
/// vectorize it.
pub(super) trait Rule: 'static {
    /// The type of the components.
    type Part: Pod;
    /// The number of rows it reads.
    const READS: usize;

    fn apply(values: [Self::Part; 3], number: u64) -> Self::Part;
}

/// The handler of a rule.
pub(super) struct Each<R>(std::marker::PhantomData<R>);

/// Applies a rule to one part of rows, by value, so that no store can change what is still to be read.
#[inline(always)]
fn each<R: Rule, const K: usize>(values: [[u64; K]; 3], number: u64) -> [u64; K] {
    let mut result = [0; K];
    let [a, b, c] = &values;
    let (a, b, c) = (parts::<R, K>(a), parts::<R, K>(b), parts::<R, K>(c));
    let to: &mut [R::Part] = bytemuck::cast_slice_mut(&mut result);
    for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
        *to = R::apply([*a, *b, *c], number);
    }
    result
}

#[inline(always)]
fn parts<R: Rule, const K: usize>(words: &[u64; K]) -> &[R::Part] {
    bytemuck::cast_slice(words)
}

impl<R: Rule> Body for Each<R> {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            for part in 0..F::PARTS {
                if !member.is_busy(part) {
                    continue;
                }
                let a = *member.part(op.from[0], part);
                let b = if R::READS > 1 { *member.part(op.from[1], part) } else { a };
                let c = if R::READS > 2 { *member.part(op.from[2], part) } else { a };
                member.put(op.to, part, &each::<R, K>([a, b, c], op.number), op.keep[0]);
            }
        }
    }
}

/// Returns the handler of a rule, and the number of rows it reads.
pub(super) fn of<R: Rule, const K: usize, F: Family<K>>() -> (Handler<K, F>, u8) {
    (Handler::of::<Each<R>>(), R::READS as u8)
}

/// Defines rules without parameters: the values they read, the number, the result.
macro_rules! rules {
    ($part:ty; $($(#[$doc:meta])* $name:ident($($value:ident),*; $number:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub(crate) struct $name;
        impl $crate::exec::vector::rule::Rule for $name {
            type Part = $part;
            const READS: usize = [$(stringify!($value)),*].len();
            #[inline(always)]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "the same for components of any width")]
            fn apply(values: [$part; 3], $number: u64) -> $part {
                let [$($value,)* ..] = values;
                $result
            }
        }
    )* };
}
pub(super) use rules;

/// A handler, and the number of rows it reads. `None` if there is none.
pub(super) type Found<const K: usize, F> = Option<(Handler<K, F>, u8)>;

/// Defines rules, each after what it computes, and the function that returns the handler for that.
macro_rules! operations {
    ($part:ty, $of:ident, $function:ident($what:ty); $($(#[$doc:meta])*
        $key:pat => $name:ident($($value:ident),*; $number:pat) $result:expr;)*) => {
        $crate::exec::vector::rule::rules! { $part; $($(#[$doc])* $name($($value),*; $number) $result;)* }

        #[allow(unreachable_patterns, reason = "some lists are complete")]
        pub(in crate::exec::vector) fn $function<const K: usize, F: $crate::exec::vector::Family<K>>(
            what: $what,
        ) -> $crate::exec::vector::rule::Found<K, F> {
            Some(match what {
                $($key => $of::<$name, K, F>(),)*
                _ => return None,
            })
        }
    };
}
pub(super) use operations;

/// Rules on whole words of any content.
pub(super) mod word {
    rules! { u64;
        Copy(a; _) a;
        And(a, b; _) a & b;
        Or(a, b; _) a | b;
        Xor(a, b; _) a ^ b;
        /// The second operand where the first has ones, else the third.
        Select(mask, a, b; _) b ^ ((a ^ b) & mask);
    }
}

macro_rules! slots {
    ($name:ident, $u:ident, $i:ident) => {
        pub(super) mod $name {
            const BITS: $u = $u::BITS as $u;

            rules! { $u;
                Extract(a, keep; n) (a >> (n as $u & (BITS - 1))) & keep;
                ExtractSigned(a; n) ((a << (n as $u & (BITS - 1))) as $i >> ((n >> 8) as $u & (BITS - 1))) as $u;
                Join(a, b; n) a | b << (n as $u & (BITS - 1));
                Raise(a; n) a << (n as $u & (BITS - 1));
                TwoBits(a; _) a & 1 | a >> (BITS / 2 - 1) & 2;
                FourBits(a; _) a & 1 | a >> (BITS / 4 - 1) & 2 | a >> (BITS / 2 - 2) & 4 | a >> (BITS / 4 * 3 - 3) & 8;
            }
        }
    };
}

slots! { slots32, u32, i32 }
slots! { slots64, u64, i64 }

/// Defines rules on slots, whose width depends on the family.
macro_rules! on_slots {
    ($($(#[$doc:meta])* $function:ident $rule:ident;)*) => { $(
        $(#[$doc])*
        pub(super) fn $function<const K: usize, F: Family<K>>() -> (Handler<K, F>, u8) {
            if F::SLOT == 64 { of::<slots64::$rule, K, F>() } else { of::<slots32::$rule, K, F>() }
        }
    )* };
}

on_slots! {
    /// Extracts bits from the position in the number on; the second row has ones for the bits to keep.
    extract Extract;
    /// Shifts left by the low byte of the number, and right again, arithmetically, by its second byte.
    extract_signed ExtractSigned;
    /// Shifts the second operand up and places it above the first.
    join Join;
    /// Shifts left.
    raise Raise;
    /// Returns the bits of two booleans.
    two_bits TwoBits;
    /// Returns the bits of four booleans.
    four_bits FourBits;
}

/// Permutes the four half words of a slot: bits `2 i` and `2 i + 1` of the number select the `i`th.
pub(super) struct Swizzle;

impl Rule for Swizzle {
    type Part = u64;
    const READS: usize = 1;

    #[inline(always)]
    fn apply([a, ..]: [u64; 3], order: u64) -> u64 {
        let half = |i: u64| (a >> (16 * (order >> (2 * i) & 3)) & 0xffff) << (16 * i);
        half(0) | half(1) | half(2) | half(3)
    }
}

/// The same with an order that is known at compile time.
pub(super) struct Ordered<const ORDER: u64>;

impl<const ORDER: u64> Body for Ordered<ORDER> {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            for part in 0..F::PARTS {
                let from = *member.part(op.from[0], part);
                let from: &[u16] = bytemuck::must_cast_slice(&from);
                let mut result = [0u64; K];
                let to: &mut [u16] = bytemuck::must_cast_slice_mut(&mut result);
                for (to, from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<4>().0) {
                    *to = std::array::from_fn(|i| from[(ORDER >> (2 * i) & 3) as usize]);
                }
                *member.part_mut(op.to, part) = result;
            }
        }
    }
}

/// Returns the handler for an order of four half words in slots of 64 bits.
pub(super) fn swizzle<const K: usize, F: Family<K>>(order: u64, slot: u32) -> Found<K, F> {
    if slot != 64 {
        return None;
    }
    Some(match order {
        0b00_00_00_00 => (Handler::of::<Ordered<0b00_00_00_00>>(), 1),
        0b01_01_01_01 => (Handler::of::<Ordered<0b01_01_01_01>>(), 1),
        0b10_10_10_10 => (Handler::of::<Ordered<0b10_10_10_10>>(), 1),
        0b11_11_11_11 => (Handler::of::<Ordered<0b11_11_11_11>>(), 1),
        0b01_00_01_00 => (Handler::of::<Ordered<0b01_00_01_00>>(), 1),
        0b11_10_11_10 => (Handler::of::<Ordered<0b11_10_11_10>>(), 1),
        _ => of::<Swizzle, K, F>(),
    })
}

/// Determines the bits in which the words of the busy parts of a row differ from the first word. The result is in the
/// first of these parts.
pub(super) struct Differ;

impl Body for Differ {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            let Some(first) = (0..F::PARTS).find(|part| member.is_busy(*part)) else { continue };
            let word = member.part(op.from[0], first)[0];
            let mut differ = [0; K];
            for part in 0..F::PARTS {
                if member.is_busy(part) {
                    let words = member.part(op.from[0], part);
                    differ.iter_mut().zip(words).for_each(|(differ, other)| *differ |= word ^ other);
                }
            }
            *member.part_mut(op.to, first) = differ;
        }
    }
}

impl<const K: usize, F: Family<K>> Micro<K, F> {
    /// Creates an operation that determines the bits in which the words of a row differ. The result is in the first
    /// busy part of `to`.
    pub(crate) fn differ(row: u16, to: u16) -> Self {
        let handler = Handler::of::<Differ>();
        let from = [row; READS];
        Micro { handler, to, high: NO_ROW, keep: [false; 2], reads: 1, looks_up: false, from, number: 0 }
    }
}

/// Reads a set as a mask for each lane; the number of the operation is that of the set.
pub(super) struct ReadSet;

impl Body for ReadSet {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            let set = member.set(op.number as u16);
            for part in 0..F::PARTS {
                let mut row = [0u64; K];
                if F::SLOT == 64 {
                    for (i, slot) in row.iter_mut().enumerate() {
                        *slot = (set >> (part * K + i) & 1).wrapping_neg();
                    }
                } else {
                    let bits = (set >> (part * 2 * K)) as u32;
                    let slots: &mut [u32] = bytemuck::must_cast_slice_mut(&mut row);
                    for (i, slot) in slots.iter_mut().enumerate() {
                        *slot = (bits >> i & 1).wrapping_neg();
                    }
                }
                *member.part_mut(op.to, part) = row;
            }
        }
    }
}

/// Writes a set from the first row, in the lanes where all other rows have ones.
pub(super) struct WriteSet;

impl Body for WriteSet {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            let (mut lanes, mut of) = (0, 0);
            for part in 0..F::PARTS {
                let value = *member.part(op.from[0], part);
                let mut mask = [u64::MAX; K];
                for row in op.from.iter().take(op.reads.into()).skip(1) {
                    let other = member.part(*row, part);
                    mask.iter_mut().zip(other).for_each(|(mask, other)| *mask &= other);
                }
                let at = part * K * 64 / F::SLOT as usize;
                lanes |= gathered::<K, F>(&value) << at;
                of |= gathered::<K, F>(&mask) << at;
            }
            member.change_set(op.number as u16, lanes, of);
        }
    }
}

/// Returns one bit for each slot of a mask.
#[inline(always)]
fn gathered<const K: usize, F: Family<K>>(row: &[u64; K]) -> u64 {
    if F::SLOT == 64 {
        return row.iter().enumerate().fold(0, |all, (i, slot)| all | (slot & 1) << i);
    }
    let slots: &[u32] = bytemuck::must_cast_slice(row);
    let mut all = 0;
    for (i, slot) in slots.iter().enumerate() {
        all |= slot & 1 << i;
    }
    all.into()
}
