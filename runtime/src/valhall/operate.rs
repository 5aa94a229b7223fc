//! Parts of the semantics that are more than a rule applied to each lane.

use isaforge_valhall::{Combine, Source};

use super::step::Step;
use super::warp::lanes;

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
}
