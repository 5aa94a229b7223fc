//! Counts of instructions by name, for machines whose engines do not count them.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use isaforge_core::group::text::SEPARATOR;
use isaforge_debugger::Listing;
use isaforge_debugger::code::Found;
use isaforge_debugger::listing::Line;
use isaforge_runtime::machine::{AccessKind, At, Observer, View};
use isaforge_runtime::observe::{Profile, Traffic};

use super::open::Watched;
use crate::names;

/// An observer that counts instructions by name. The parts of a group count on their own.
pub struct ByName<'l> {
    /// The counts.
    pub profile: Profile,
    listing: &'l Listing,
    /// The index of each name in the profile.
    numbers: HashMap<&'static str, usize>,
    /// The indices for the instructions of the listing that have been executed, by place.
    places: HashMap<u64, Rc<[usize]>>,
    /// Those for the instruction that is executing.
    parts: Rc<[usize]>,
    active: u64,
}

impl<'l> ByName<'l> {
    /// Counts nothing yet.
    pub fn new(opened: &Watched, listing: &'l Listing) -> Self {
        let machine = &*opened.machine;
        let names: Vec<&str> = names::instructions(opened.set.tables).into_iter().map(|(name, _)| name).collect();
        let numbers = names.iter().copied().zip(0..).collect();
        let profile = Profile::new(names, machine.lanes(), machine.terms());
        ByName { profile, listing, numbers, places: HashMap::new(), parts: Rc::default(), active: 0 }
    }
}

impl Observer for ByName<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let At { pc, active, .. } = view.at();
        self.active = active;
        let numbers = &self.numbers;
        let parts =
            |line: &Line| line.mnemonic.split(SEPARATOR).filter_map(|name| numbers.get(name).copied()).collect();
        self.parts = match self.listing.find(view, pc) {
            Some(Found::Listed(line)) => self.places.entry(pc).or_insert_with(|| parts(line)).clone(),
            Some(Found::Fetched(line)) => parts(&line),
            None => Rc::default(),
        };
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
        for name in &*self.parts {
            // What a group moves counts for its first part.
            self.profile.count(*name, 1, lanes, std::mem::take(&mut traffic));
        }
        ControlFlow::Continue(())
    }
}
