//! Columns of sixteen words. Each function becomes a few vector instructions where it is inlined: its result overlaps none
//! of what it reads, which loops written out in place cannot promise.

use std::hint::black_box;

use crate::valhall::warp::{Column, LANES};

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident($($column:ident),*; $($word:ident)?) $result:expr;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($column: &Column,)* $($word: u32)?) -> Column {
            let mut result = [0; LANES];
            for lane in 0..LANES {
                $(let $column = $column[lane];)*
                result[lane] = $result;
            }
            result
        }
    )* };
}

columns! {
    /// All bits of both.
    or(a, b;) a | b;
    /// The complements.
    not(a;) !a;
    /// The bits that both have.
    and(a, b;) a & b;
    /// The sums.
    add(a; word) a.wrapping_add(word);
    /// The products.
    scaled(a; word) a.wrapping_mul(word);
    /// The lesser words.
    lower(a, b;) if a < b { a } else { b };
    /// Ones in the lanes that have a word.
    equal(a; word) if a == word { u32::MAX } else { 0 };
    /// New values in the lanes of a mask. What is stored then is a whole column: a masked store would keep the next load
    /// waiting.
    blend(old, new, mask;) old & !mask | new & mask;
}

// Each of the following folds the lanes of a column that is complete in memory. Without the black box the compiler mixes
// the fold with what made the column, and gathers lanes one by one.

/// The least word.
#[inline(always)]
pub fn smallest(words: &Column) -> u32 {
    let mut least = u32::MAX;
    for &word in black_box(words) {
        least = least.min(word);
    }
    least
}

/// All bits that any lane has.
#[inline(always)]
pub fn any_bits(words: &Column) -> u32 {
    let mut bits = 0;
    for &word in black_box(words) {
        bits |= word;
    }
    bits
}

static BITS: Column = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// The mask of lanes with a bit. The compiler must not see that it is one: what is blended by it would be stored masked, which
/// takes some processors as long as all else.
#[inline(always)]
pub fn from_bits(bits: u16) -> Column {
    let mut mask = [0; LANES];
    for (lane, bit) in black_box(&BITS).iter().enumerate() {
        mask[lane] = if u32::from(bits) & bit != 0 { u32::MAX } else { 0 };
    }
    *black_box(&mask)
}

/// One bit for each lane of a mask.
#[inline(always)]
pub fn bit_mask(mask: &Column) -> u16 {
    any_bits(&and(mask, black_box(&BITS))) as u16
}
