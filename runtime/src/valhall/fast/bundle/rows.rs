//! The rows of bundles, which are reused.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use crate::exec::jit::lanes::row::Row;
use crate::guarded::Guarded;
use crate::valhall::fast::warps::WARPS;

thread_local! {
    /// The rows that earlier bundles of this thread have left: mapping pages costs more than a small launch.
    static LEFT: RefCell<Vec<Guarded<Row<WARPS>>>> = const { RefCell::new(Vec::new()) };
}

/// The number of bundles whose rows are kept.
const KEPT: usize = 2;

/// The rows of a bundle.
#[derive(Debug)]
pub struct Rows(Guarded<Row<WARPS>>);

impl Rows {
    /// Returns at least `len` rows of zeros.
    pub fn new(len: usize) -> Self {
        let enough = |left: &mut Vec<Guarded<Row<WARPS>>>| {
            let at = left.iter().position(|rows| rows.len() >= len)?;
            Some(left.swap_remove(at))
        };
        let zero = Row::splat(0);
        Rows(match LEFT.with_borrow_mut(enough) {
            Some(mut rows) => {
                rows.fill(zero);
                rows
            }
            None => Guarded::filled(zero, len),
        })
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.0);
        // The rows are not kept if the thread itself ends.
        let _ = LEFT.try_with(|left| {
            let mut left = left.borrow_mut();
            left.truncate(KEPT - 1);
            left.push(rows);
        });
    }
}

impl Deref for Rows {
    type Target = [Row<WARPS>];

    #[inline(always)]
    fn deref(&self) -> &[Row<WARPS>] {
        &self.0
    }
}

impl DerefMut for Rows {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Row<WARPS>] {
        &mut self.0
    }
}
