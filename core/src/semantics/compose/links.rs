//! Records which parts of a group pass values to which, while the group is composed.
//!
//! The text of a slot computes values, and the text of the path passes them on: `w0 = wire(iss.is4)` leads from the
//! slot that drove the wire to the result. Wires that the path sets are therefore traced back to their sources.

use alloc::vec::Vec;

use crate::group::table::Token;
use crate::semantics::instantiate::Shape;
use crate::semantics::node::NONE;

/// A source or destination of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Registers named by an operand, given by its index.
    Operand(u16),
    /// The contents of a slot.
    Slot(u8),
}

/// A value that passes from one part of a group to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The source.
    pub from: End,
    /// The destination.
    pub to: End,
    /// The state that carries the value; `None` for a register that is read directly.
    pub wire: Option<u16>,
}

/// The source of a value, and the wire that carries it.
type Origin = (End, Option<u16>);

/// The links found so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub found: Vec<Link>,
    /// For each state, the sources of its current value.
    origins: Vec<Vec<Origin>>,
    /// The values that the path has read, with their sources.
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

    /// The sources of a value that the text of a slot or of the path has computed.
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
