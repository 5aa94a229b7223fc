//! Counts of instructions by name, for machines whose engines do not count them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use isaforge_analysis::entry::entries;
use isaforge_core::group::text::SEPARATOR;
use isaforge_runtime::machine::{AccessKind, Observer, View};
use isaforge_runtime::observe::{Profile, Traffic};

use super::open::Watched;
use crate::names;

/// An observer that counts instructions by name. The parts of a group count on their own.
pub struct ByName {
    /// The counts.
    pub profile: Profile,
    /// By place: the instructions there, as indices into the names of the profile.
    places: HashMap<u64, Vec<usize>>,
    active: u64,
}

impl ByName {
    /// Counts nothing yet.
    pub fn new(opened: &Watched) -> ByName {
        let machine = &*opened.machine;
        let names: Vec<&str> = names::instructions(opened.set.tables).into_iter().map(|(name, _)| name).collect();
        let numbers: HashMap<&str, usize> = names.iter().zip(0..).map(|(name, number)| (*name, number)).collect();
        let place = |entry: isaforge_analysis::Entry| {
            let mnemonic = entry.instruction.ok()?.mnemonic;
            let parts = mnemonic.split(SEPARATOR).filter_map(|name| numbers.get(name).copied()).collect();
            Some((machine.base() + entry.bytes.start as u64 / machine.unit(), parts))
        };
        let places = entries(&opened.set, machine.code()).filter_map(place).collect();
        ByName { profile: Profile::new(names, machine.lanes(), machine.terms()), places, active: 0 }
    }
}

impl Observer for ByName {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.active = view.at().active;
        ControlFlow::Continue(())
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let lanes = self.active.count_ones();
        self.profile.occupy(lanes);
        let mut traffic = Traffic::default();
        for access in view.accesses() {
            let size = u64::from(access.size);
            let (read, written) = match access.kind {
                AccessKind::Load => (size, 0),
                AccessKind::Store => (0, size),
                AccessKind::Atomic => (size, if access.stores() { size } else { 0 }),
            };
            traffic += Traffic { read, written };
        }
        for name in self.places.get(&view.at().pc).into_iter().flatten() {
            // What a group moves counts for its first part.
            self.profile.count(*name, 1, lanes, std::mem::take(&mut traffic));
        }
        ControlFlow::Continue(())
    }
}
