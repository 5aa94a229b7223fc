//! What lanes of a warp read from one another.

use super::super::warp::{Column, LANES};
use super::bundle::{Bundle, WARPS};
use super::handler::{Body, Fields};
use super::world::World;

/// How an operand names a lane, as a const parameter.
pub mod operation {
    pub const NUMBER: u32 = 0;
    pub const XOR: u32 = 1;
    pub const SHIFT: u32 = 2;
    pub const ACCUMULATE: u32 = 3;
}

/// Reads each component of `BITS` from the lane that the same component of the last source names. The numbers are the
/// size of subgroups less 1, and what is read from a lane that is not there. `WORDS` rows are read and written.
pub struct Permute<const OPERATION: u32, const BITS: u32, const WORDS: usize>;

/// Where each lane reads: the lane, or something beyond the last.
#[inline(always)]
fn wanted<const OPERATION: u32>(operands: &Column, shift: u32, last: u32, active: u32) -> Column {
    let mut wanted = [0; LANES];
    for lane in 0..LANES {
        let operand = operands[lane] >> shift & 0xff;
        let (first, place) = (lane as u32 & !last, lane as u32 & last);
        let found = match OPERATION {
            operation::NUMBER => operand,
            operation::XOR => place ^ operand,
            operation::SHIFT => place.wrapping_add(operand as i8 as u32),
            // The last lane of the block below, whose size is the lowest bit of the step that the place has.
            _ => {
                let step = place & operand;
                let block = step & step.wrapping_neg();
                if step == 0 { u32::MAX } else { (place & !block.wrapping_sub(1)) - 1 }
            }
        };
        let from = first + (found & last);
        let there = (found <= last) & (active >> (from & 15) & 1 != 0);
        wanted[lane] = if there { from } else { u32::MAX };
    }
    wanted
}

impl<const OPERATION: u32, const BITS: u32, const WORDS: usize> Permute<OPERATION, BITS, WORDS> {
    #[inline(always)]
    fn column(values: &Column, operands: &Column, [last, absent]: [u32; 2], active: u16) -> Column {
        let mut result = [0; LANES];
        let mut shift = 0;
        while shift < 32 {
            let wanted = wanted::<OPERATION>(operands, shift, last, active.into());
            let mask = (u32::MAX >> (32 - BITS)) << shift;
            for lane in 0..LANES {
                let from = wanted[lane];
                let value = values[from as usize % LANES];
                result[lane] |= (if from == u32::MAX { absent } else { value }) & mask;
            }
            shift += BITS;
        }
        result
    }
}

impl<const OPERATION: u32, const BITS: u32, const WORDS: usize> Body for Permute<OPERATION, BITS, WORDS> {
    const WRITES: usize = WORDS;

    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        for warp in 0..WARPS {
            let active = bundle.active[warp];
            if active == 0 {
                continue;
            }
            let operands = bundle.rows[op.sources[WORDS] as usize].0[warp];
            let mut results = [[0; LANES]; WORDS];
            for (word, result) in results.iter_mut().enumerate() {
                let values = &bundle.rows[op.sources[word] as usize].0[warp];
                *result = Self::column(values, &operands, op.numbers, active);
            }
            for (word, result) in results.iter().enumerate() {
                bundle.set::<WHOLE>(op.dest as usize + word, warp, result);
            }
        }
        true
    }
}

/// A bit for each lane of the subgroup, whose size less 1 is the first number, that has a word other than 0.
pub struct Ballot;

impl Body for Ballot {
    const WRITES: usize = 1;

    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut World<'_>, op: &Fields) -> bool {
        let last = op.numbers[0];
        for warp in 0..WARPS {
            let words = &bundle.rows[op.sources[0] as usize].0[warp];
            let mut votes = 0;
            for (lane, &word) in words.iter().enumerate() {
                votes |= u32::from(word != 0) << lane;
            }
            votes &= u32::from(bundle.active[warp]);
            let mut result = [0; LANES];
            for (lane, result) in result.iter_mut().enumerate() {
                *result = votes >> (lane as u32 & !last) & ((2 << last) - 1);
            }
            bundle.set::<WHOLE>(op.dest as usize, warp, &result);
        }
        true
    }
}
