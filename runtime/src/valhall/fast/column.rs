//! Operations on columns of sixteen words. Each function is inlined as a few vector instructions: its result does not
//! overlap its inputs, which loops written in place cannot guarantee.

use std::hint::black_box;

use crate::valhall::warp::{Column, LANES, mask_of};

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
    /// The bits set in either.
    or(a, b;) a | b;
    /// The complements.
    not(a;) !a;
    /// The bits set in both.
    and(a, b;) a & b;
    /// The sums.
    add(a; word) a.wrapping_add(word);
    /// The products.
    scaled(a; word) a.wrapping_mul(word);
    /// The minima.
    lower(a, b;) if a < b { a } else { b };
    /// All ones in the lanes that contain a word.
    equal(a; word) if a == word { u32::MAX } else { 0 };
    /// New values in the lanes of a mask. It gives a whole column to store: a masked store would delay the next load.
    blend(old, new, mask;) old & !mask | new & mask;
}

// Each of the following folds the lanes of a column that is complete in memory. Without the black box the compiler
// merges the fold with the computation of the column, and gathers lanes one by one.

/// Returns the minimum of all lanes.
#[inline(always)]
pub fn smallest(words: &Column) -> u32 {
    let mut least = u32::MAX;
    for &word in black_box(words) {
        least = least.min(word);
    }
    least
}

/// Returns the bits that are set in any lane.
#[inline(always)]
pub fn any_bits(words: &Column) -> u32 {
    let mut bits = 0;
    for &word in black_box(words) {
        bits |= word;
    }
    bits
}

static BITS: Column = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Returns the mask of the lanes whose bits are set. The compiler must not recognise it as a mask: it would turn
/// blends into masked stores, which are very slow on some processors.
#[inline(always)]
pub fn from_bits(bits: u16) -> Column {
    let mut mask = [0; LANES];
    for (lane, bit) in black_box(&BITS).iter().enumerate() {
        mask[lane] = if u32::from(bits) & bit != 0 { u32::MAX } else { 0 };
    }
    *black_box(&mask)
}

/// Returns one bit for each lane of a mask.
#[inline(always)]
pub fn bit_mask(mask: &Column) -> u16 {
    any_bits(&and(mask, black_box(&BITS))) as u16
}

/// Returns the lanes of a condition as bits.
pub fn holds(condition: &Column) -> u16 {
    mask_of(|lane| condition[lane] & 1 != 0)
}
