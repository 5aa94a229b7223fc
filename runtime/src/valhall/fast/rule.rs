//! From a rule on words to a handler for all lanes.

use super::super::warp::{Column, LANES};
use super::bundle::{Bundle, Columns, Row};
use super::handler::{Body, Fields};
use super::world::World;

/// What an instruction computes in a lane, with all its modifiers chosen. Branch-free where possible: the compiler turns
/// it into vector instructions.
pub trait Rule {
    /// How many rows it reads, at most four.
    const SOURCES: usize;
    /// The same for machine code, if it is known.
    /// The result; sources beyond [`Rule::SOURCES`] are zero.
    fn lane(sources: [u32; 4], numbers: [u32; 2]) -> u32;
}

/// A rule with a result of two words.
pub trait LongRule {
    /// How many rows it reads, at most four.
    const SOURCES: usize;
    /// The same for machine code, if it is known.
    /// The result; sources beyond [`LongRule::SOURCES`] are zero.
    fn lane(sources: [u32; 4], numbers: [u32; 2]) -> u64;
}

/// The handler of a [`Rule`].
pub struct Word<R>(std::marker::PhantomData<R>);

/// The handler of a [`LongRule`].
pub struct Long<R>(std::marker::PhantomData<R>);

/// The sources of an instruction for one warp; those beyond `SOURCES` repeat the first and are not looked at.
#[inline(always)]
fn read<'a>(sources: usize, rows: &'a [Row], op: &Fields, warp: usize) -> [&'a Column; 4] {
    let a = &rows[op.sources[0] as usize].0[warp];
    let b = if sources > 1 { &rows[op.sources[1] as usize].0[warp] } else { a };
    let c = if sources > 2 { &rows[op.sources[2] as usize].0[warp] } else { a };
    let d = if sources > 3 { &rows[op.sources[3] as usize].0[warp] } else { a };
    [a, b, c, d]
}

impl<R: Rule> Columns<1> for Word<R> {
    #[inline(always)]
    fn columns(rows: &[Row], op: &Fields, warp: usize) -> [Column; 1] {
        let [a, b, c, d] = read(R::SOURCES, rows, op, warp);
        let mut result = [0; LANES];
        for lane in 0..LANES {
            result[lane] = R::lane([a[lane], b[lane], c[lane], d[lane]], op.numbers);
        }
        [result]
    }
}

impl<R: Rule> Body for Word<R> {
    const WRITES: usize = 1;

    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        bundle.write::<Self, 1, WHOLE>(op);
        true
    }
}

impl<R: LongRule> Columns<2> for Long<R> {
    #[inline(always)]
    fn columns(rows: &[Row], op: &Fields, warp: usize) -> [Column; 2] {
        let [a, b, c, d] = read(R::SOURCES, rows, op, warp);
        let (mut low, mut high) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let value = R::lane([a[lane], b[lane], c[lane], d[lane]], op.numbers);
            (low[lane], high[lane]) = (value as u32, (value >> 32) as u32);
        }
        [low, high]
    }
}

impl<R: LongRule> Body for Long<R> {
    const WRITES: usize = 2;

    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        bundle.write::<Self, 2, WHOLE>(op);
        true
    }
}

/// Rules without parameters: the sources that they name, the result.
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
