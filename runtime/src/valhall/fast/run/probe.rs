//! Observes the registers of warps while a program runs, to compare it with another run.

use std::collections::HashMap;

use crate::valhall::fast::bundle::{Bundle, Row, WARPS};
use crate::valhall::launch::Origin;
use crate::valhall::warp::Column;

/// The state of a warp between two instructions.
pub struct Held<'a> {
    /// The workgroup.
    pub group: [u32; 3],
    /// The number of the warp in it.
    pub warp: u32,
    /// The number of instructions that it has executed.
    pub count: u64,
    /// The lanes that have not ended. The content of other lanes is meaningless.
    pub live: u16,
    rows: &'a [Row<WARPS>],
    column: usize,
}

impl Held<'_> {
    /// Returns a register.
    pub fn register(&self, register: usize) -> &Column {
        &self.rows[register].0[self.column]
    }
}

/// The observer, and the instructions that warps had executed before their current turn.
pub(super) struct Probe<'a> {
    look: &'a mut (dyn FnMut(&Held<'_>) + Send),
    before: HashMap<([u32; 3], usize), u64>,
}

impl<'a> Probe<'a> {
    pub fn new(look: &'a mut (dyn FnMut(&Held<'_>) + Send)) -> Self {
        Probe { look, before: HashMap::new() }
    }

    /// Shows the chosen warps that have not ended.
    pub fn look(&mut self, bundle: &Bundle, groups: &[impl Origin], chosen: u8) {
        for column in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0 && bundle.live[*warp] != 0) {
            let home = bundle.homes[column];
            let group = groups.get(home.group).map_or([0; 3], Origin::group);
            let before = self.before.get(&(group, home.number)).copied().unwrap_or(0);
            let count = before + u64::from(bundle.executed(column));
            let (warp, live) = (home.number as u32, bundle.live[column]);
            (self.look)(&Held { group, warp, count, live, rows: &bundle.rows, column });
        }
    }

    /// Adds what the chosen warps have executed in their turn.
    pub fn end_turn(&mut self, bundle: &Bundle, groups: &[impl Origin], chosen: u8) {
        for warp in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0) {
            let home = bundle.homes[warp];
            let key = (groups.get(home.group).map_or([0; 3], Origin::group), home.number);
            *self.before.entry(key).or_default() += u64::from(bundle.executed(warp));
        }
    }
}
