//! From a rule on words to a handler for all lanes.

use super::super::warp::Column;
use super::bundle::{Bundle, Row};
use super::level::{Body, Fields};
use super::world::World;

/// What an instruction computes in a lane, with all its modifiers chosen. Branch-free where possible: the compiler turns
/// it into vector instructions.
pub trait Rule {
    /// How many rows it reads, at most four.
    const SOURCES: usize;
    /// The result; sources beyond [`Rule::SOURCES`] are zero.
    fn lane(sources: [u32; 4], numbers: [u32; 2]) -> u32;
}

/// A rule with a result of two words.
pub trait LongRule {
    /// How many rows it reads, at most four.
    const SOURCES: usize;
    /// The result; sources beyond [`LongRule::SOURCES`] are zero.
    fn lane(sources: [u32; 4], numbers: [u32; 2]) -> u64;
}

/// The handler of a [`Rule`].
pub struct Word<R>(std::marker::PhantomData<R>);

/// The handler of a [`LongRule`].
pub struct Long<R>(std::marker::PhantomData<R>);

#[inline(always)]
fn read<const SOURCES: usize>(rows: &[Row], op: &Fields, warp: usize) -> [Column; 4] {
    std::array::from_fn(|k| if k < SOURCES { rows[op.sources[k] as usize].0[warp] } else { [0; 16] })
}

macro_rules! read {
    ($rows:ident, $op:ident, $warp:ident, $sources:expr) => {
        match $sources {
            1 => read::<1>($rows, $op, $warp),
            2 => read::<2>($rows, $op, $warp),
            3 => read::<3>($rows, $op, $warp),
            _ => read::<4>($rows, $op, $warp),
        }
    };
}

impl<R: Rule> Body for Word<R> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        let numbers = op.numbers;
        bundle.write(op.dest, |rows, warp| {
            let [a, b, c, d] = read!(rows, op, warp, R::SOURCES);
            [std::array::from_fn(|lane| R::lane([a[lane], b[lane], c[lane], d[lane]], numbers))]
        });
        true
    }
}

impl<R: LongRule> Body for Long<R> {
    #[inline(always)]
    fn run(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        let numbers = op.numbers;
        bundle.write(op.dest, |rows, warp| {
            let [a, b, c, d] = read!(rows, op, warp, R::SOURCES);
            let long: Column<u64> = std::array::from_fn(|lane| R::lane([a[lane], b[lane], c[lane], d[lane]], numbers));
            [long.map(|value| value as u32), long.map(|value| (value >> 32) as u32)]
        });
        true
    }
}

/// Rules without parameters: the sources that they name, and the result.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident($($source:ident),*; $numbers:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub struct $name;
        impl $crate::valhall::fast::rule::Rule for $name {
            const SOURCES: usize = [$(stringify!($source)),*].len();
            #[inline(always)]
            fn lane(sources: [u32; 4], $numbers: [u32; 2]) -> u32 {
                let [$($source,)* ..] = sources;
                $result
            }
        }
    )* };
}
pub(super) use rules;

/// As [`rules!`], with a result of 64 bits.
macro_rules! long_rules {
    ($($(#[$doc:meta])* $name:ident($($source:ident),*; $numbers:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub struct $name;
        impl $crate::valhall::fast::rule::LongRule for $name {
            const SOURCES: usize = [$(stringify!($source)),*].len();
            #[inline(always)]
            fn lane(sources: [u32; 4], $numbers: [u32; 2]) -> u64 {
                let [$($source,)* ..] = sources;
                $result
            }
        }
    )* };
}
pub(super) use long_rules;
