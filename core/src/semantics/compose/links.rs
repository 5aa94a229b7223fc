//! Who passes a value to whom, noted while a group is composed.
//!
//! A slot's text makes values, the path's text passes them on: `w0 = wire(iss.is4)` leads from the slot that drove the wire to
//! the result. Wires that the path sets are therefore traced to what they come from.

use alloc::vec::Vec;

use crate::group::table::Token;
use crate::semantics::{NONE, Shape};

/// Where a value comes from, or where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Registers that an operand names, by its index.
    Operand(u16),
    /// What stands in a slot.
    Slot(u8),
}

/// A value that goes from one part of a group to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it comes from.
    pub from: End,
    /// Where it goes.
    pub to: End,
    /// The state that carries it; `None` for a register that is read where it is named.
    pub wire: Option<u16>,
}

/// A source of a value, and the wire on which it left it.
type Origin = (End, Option<u16>);

/// The links that are known so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub found: Vec<Link>,
    /// By state, what it was set from last.
    origins: Vec<Vec<Origin>>,
    /// What the path has read: the value, and where it came from.
    seen: Vec<(u16, Vec<Origin>)>,
}

impl Links {
    pub fn new(states: usize) -> Self {
        Links { origins: alloc::vec![Vec::new(); states], ..Links::default() }
    }

    fn add(&mut self, from: &[Origin], to: End) {
        for (from, wire) in from {
            let link = Link { from: *from, to, wire: *wire };
            if *from != to && !self.found.contains(&link) {
                self.found.push(link);
            }
        }
    }

    fn is_used(&mut self, from: Vec<Origin>, slot: u8, value: u16) {
        match slot {
            Token::OWN => self.seen.push((value, from)),
            _ => self.add(&from, End::Slot(slot)),
        }
    }

    /// What a value comes from that a slot's text or the path's has computed.
    fn origin(&self, slot: u8, value: u16, wire: Option<u16>, shape: &Shape) -> Vec<Origin> {
        if slot != Token::OWN {
            return alloc::vec![(End::Slot(slot), wire)];
        }
        let (mut found, mut left) = (Vec::new(), alloc::vec![value]);
        let mut visited = alloc::vec![false; shape.nodes.len()];
        while let Some(id) = left.pop() {
            if let Some((_, from)) = self.seen.iter().rev().find(|(seen, from)| *seen == id && !from.is_empty()) {
                found.extend(from.iter().copied());
                continue;
            }
            let Some(node) = shape.nodes.get(usize::from(id)) else { continue };
            if !core::mem::replace(&mut visited[usize::from(id)], true) {
                let used = node.op.node_arguments();
                let arguments = node.args.iter().enumerate().filter(|(k, _)| used >> k & 1 != 0);
                left.extend(arguments.map(|(_, id)| *id).filter(|id| *id != NONE));
            }
        }
        found
    }

    pub fn register_is_read(&mut self, operand: u16, slot: u8, value: u16) {
        self.is_used(alloc::vec![(End::Operand(operand), None)], slot, value);
    }

    pub fn register_is_written(&mut self, operand: u16, slot: u8, value: u16, shape: &Shape) {
        let from = self.origin(slot, value, None, shape);
        self.add(&from, End::Operand(operand));
    }

    pub fn state_is_read(&mut self, state: u16, slot: u8, value: u16) {
        let from = self.origins.get(usize::from(state)).cloned().unwrap_or_default();
        self.is_used(from, slot, value);
    }

    pub fn state_is_written(&mut self, state: u16, slot: u8, value: u16, shape: &Shape) {
        let from = self.origin(slot, value, Some(state), shape);
        if let Some(known) = self.origins.get_mut(usize::from(state)) {
            *known = from;
        }
    }
}
