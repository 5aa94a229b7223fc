//! Merges consecutive stores of a slot's components.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Class, NONE, Node, Op, Type};

use super::{Cover, value};
use crate::exec::vector::Family;
use crate::exec::vector::code::Step;
use crate::exec::vector::effect::{Effect, Value};
use crate::exec::vector::handler::NO_ROW;
use crate::exec::vector::rule::{self, word};

/// A store of a component.
#[derive(Clone, Copy, PartialEq)]
struct Store {
    address: u16,
    value: u16,
    /// The position of the component in the value.
    place: u32,
    /// The booleans that tell which components are stored.
    on: Option<u16>,
}

impl<const K: usize, F: Family<K>> Cover<'_, K, F> {
    /// Merges a store with those that follow it; `None` if there are none to merge.
    pub(super) fn stores(&mut self, at: u16) -> Option<()> {
        let shape = self.shape;
        let first = shape.nodes.get(usize::from(at))?;
        let start = self.store_of(first)?;
        let (bits, mut mask, mut nodes) = (u32::from(first.ty.bits), 0, Vec::new());
        for (i, node) in shape.nodes.iter().enumerate().skip(at.into()).filter(|(_, node)| node.op.is_effect()) {
            let Some(store) = self.store_of(node) else { break };
            let follows = Store { place: store.place, ..start } == store && ones(store.place) & mask == mask;
            if !follows || (node.op, node.imm, node.ty) != (first.op, first.imm, first.ty) {
                break;
            }
            mask |= ones(bits) << store.place;
            nodes.push(i as u16);
        }
        if nodes.len() < 2 {
            return None;
        }
        let lanes = (F::SLOT / bits) as u8;
        let row = match start.on {
            None => self.binder.constant(mask)?,
            Some(on) if mask == ones(F::SLOT) => self.row(on)?,
            Some(on) => {
                let rows = [self.row(on)?, self.binder.constant(mask)?];
                self.emit(rule::of::<word::And, K, F>(), &rows, 0)?
            }
        };
        let mask = Value { row, high: NO_ROW, booleans: lanes };
        let ty = Type { lanes, ..first.ty };
        let values = vec![self.argument(start.address)?, value(self.row(start.value)?, ty), mask];
        let (numbers, extra, when, to) = ([0; 2], Some(2), None, None);
        let effect = Effect { op: Op::Store, imm: first.imm, ty, numbers, values, extra, when, to };
        self.steps.push(Step::Effect(Box::new(effect)));
        self.stored.extend(nodes);
        Some(())
    }

    /// Returns the store of a component, if a node stores one at its offset from an address.
    fn store_of(&self, node: &Node) -> Option<Store> {
        let [address, from, when, _] = node.args;
        if node.op != Op::Store || node.ty.lanes != 1 || node.ty.size() >= F::SLOT {
            return None;
        }
        let (value, place) = self.taken(from)?;
        let bits = u32::from(node.ty.bits);
        if self.ty(value)?.size() != F::SLOT || !place.is_multiple_of(bits) {
            return None;
        }
        let sum = self.node(address)?;
        let (address, offset) = match (sum.op, self.shape.constant(sum.args[1])) {
            (Op::Add, Some(offset)) => (sum.args[0], offset),
            _ => (address, 0),
        };
        if offset * 8 != u64::from(place) {
            return None;
        }
        let on = match when {
            NONE => None,
            when => {
                let node = self.node(when).filter(|node| node.op == Op::Get)?;
                let from = self.ty(node.args[0])?;
                let is_place = u32::from(node.imm) * bits == place && u32::from(from.lanes) * bits == F::SLOT;
                Some(node.args[0]).filter(|_| is_place && from.class == Class::Bool)?.into()
            }
        };
        Some(Store { address, value, place, on })
    }
}
