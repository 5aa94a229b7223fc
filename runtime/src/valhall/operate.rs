//! Parts of the semantics that are more than a rule applied to each lane.

use isaforge_valhall::{Combine, InactiveResult, LaneOperation, Source, SubgroupSize};

use super::rules::integer::Lanes;
use super::rules::rounding::Rounding;
use super::rules::{convert, lanes as cross};
use super::source::number;
use super::step::Step;
use super::warp::{Column, lanes};

/// Applies `f` to both halves of a word.
pub(super) fn both(word: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(word as u16)) | u32::from(f((word >> 16) as u16)) << 16
}

/// A small integer as f32.
pub(super) fn exact(word: u32, bits: u32, sign: bool) -> u32 {
    convert::integer_to_f32(number(word, bits, sign), Rounding::NearestEven)
}

impl Step<'_> {
    /// The active lanes in which a branch is taken (relied on).
    pub fn taken(&self, source: Source, combine: Combine, if_zero: bool) -> u16 {
        let condition = self.word(source);
        let holds = |word: u32| match combine {
            Combine::None => word != 0,
            Combine::H0 => word & 0xffff != 0,
            Combine::H1 => word >> 16 != 0,
            Combine::And => word == u32::MAX,
            Combine::Lowbits => !matches!(word >> 3 & 0x3_ffff, 0 | 0x3_ffff),
        };
        lanes(self.warp.active).filter(|&lane| holds(condition[lane]) != if_zero).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Reads each component from the lane that the same component of `operands` names.
    pub fn permute(
        &self,
        components: Lanes,
        values: &Column,
        operands: &Column,
        (subgroup, operation, inactive): (SubgroupSize, LaneOperation, InactiveResult),
    ) -> Column {
        let read = |own: usize, shift: u32| {
            let lane = cross::source_lane(own, subgroup, operation, operands[own] >> shift);
            let lane = lane.filter(|lane| self.warp.active >> lane & 1 != 0);
            lane.map_or(cross::inactive(inactive), |lane| values[lane]) >> shift
        };
        std::array::from_fn(|own| components.collect(|shift| read(own, shift).into()))
    }
}
