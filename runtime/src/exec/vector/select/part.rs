//! Parts of values: slices, components, and values joined from them.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Class, Node, Op, Type};

use super::{Cover, Found};
use crate::exec::vector::rule::{self, word};
use crate::exec::vector::{Family, mask_of};

impl<const K: usize, F: Family<K>> Cover<'_, K, F> {
    /// Returns the node from which a node takes bits, and the position of the first.
    pub(super) fn taken(&self, node: u16) -> Option<(u16, u32)> {
        let found = self.node(node)?;
        let from = self.ty(*found.args.first()?)?;
        match found.op {
            Op::Slice => Some((found.args[0], (found.imm & 0xff).into())),
            Op::Get if from.class != Class::Bool => Some((found.args[0], u32::from(found.imm) * u32::from(from.bits))),
            _ => None,
        }
    }

    pub(super) fn slice(&mut self, node: &Node) -> Option<Found> {
        let a = node.args[0];
        let (from, inner) = (self.ty(a)?, self.node(a)?);
        if node.op == Op::Get && inner.op == Op::Pack {
            let part = self.shape.lists.get(usize::from(inner.args[0]) + usize::from(node.imm));
            if node.imm < inner.args[1]
                && let Some(part) = part
            {
                return self.same(*part);
            }
        }
        let wide = from.size() > F::SLOT;
        if wide && (node.op != Op::Slice || node.imm & 0xff != 0) {
            return None;
        }
        let row = if wide { self.low(a)? } else { self.row(a)? };
        if from.class == Class::Bool {
            if from.lanes == 1 || node.imm >= from.lanes.into() {
                return self.define(node);
            }
            // Shifts the part with the mask to the top, and down again with copies of it.
            let width = F::SLOT / u32::from(from.lanes);
            let (up, down) = (F::SLOT - width * (u32::from(node.imm) + 1), F::SLOT - width);
            return self.own(rule::extract_signed(), &[row], u64::from(up | down << 8));
        }
        let at = match node.op {
            Op::Slice => u32::from(node.imm & 0xff),
            _ => u32::from(node.imm) * u32::from(from.bits),
        };
        if at >= F::SLOT {
            return self.constant(node.ty, 0).map(Found::Own);
        }
        if at == 0 {
            return self.masked(row, node.ty);
        }
        let keep = self.binder.constant(node.ty.mask())?;
        self.own(rule::extract(), &[row, keep], at.into())
    }

    pub(super) fn pack(&mut self, node: &Node) -> Option<Found> {
        let (first, count) = (usize::from(node.args[0]), usize::from(node.args[1]));
        let shape = self.shape;
        let list = shape.lists.get(first..first + count)?;
        if node.ty.class == Class::Bool {
            return self.pack_flags(list);
        }
        let bits = u32::from(node.ty.bits);
        if let Some((source, 0)) = self.taken(*list.first()?) {
            let whole = self.ty(source)?.size() == node.ty.size();
            let follows = |(i, part): (usize, &u16)| self.taken(*part) == Some((source, bits * i as u32));
            if whole && list.iter().enumerate().all(follows) {
                return self.same(source);
            }
        }
        if let Some(found) = self.swizzle(node.ty, list) {
            return Some(found);
        }
        self.joined(node.ty, list)
    }

    /// Permutes the half words of one source.
    pub(super) fn swizzle(&mut self, ty: Type, list: &[u16]) -> Option<Found> {
        if ty.bits != 16 || ty.size() != F::SLOT {
            return None;
        }
        let (source, _) = self.taken(*list.first()?)?;
        let mut order = 0;
        for (i, part) in list.iter().enumerate() {
            let (from, at) = self.taken(*part).filter(|(from, at)| *from == source && at % 16 == 0 && *at < 64)?;
            debug_assert_eq!(from, source);
            order |= u64::from(at / 16) << (2 * i);
        }
        if self.ty(source)?.size() != F::SLOT {
            return None;
        }
        let row = self.row(source)?;
        let handler = rule::swizzle(order, F::SLOT)?;
        self.own(handler, &[row], order)
    }

    /// Joins components, each above the one before.
    pub(super) fn joined(&mut self, ty: Type, list: &[u16]) -> Option<Found> {
        let (first, rest) = list.split_first()?;
        let mut row = self.row(*first)?;
        for (i, part) in rest.iter().enumerate() {
            let part = self.row(*part)?;
            let at = u64::from(ty.bits) * (i as u64 + 1);
            row = self.emit(rule::join(), &[row, part], at)?;
        }
        if rest.is_empty() { self.same(*first) } else { Some(Found::Own(row)) }
    }

    /// Returns the node whose flags these are, in order; with `true` if each is negated.
    fn flags_of(&self, list: &[u16]) -> Option<(u16, bool)> {
        let mut all = None;
        for (i, flag) in list.iter().enumerate() {
            let flag = self.node(*flag)?;
            let is_not = flag.op == Op::Not;
            let flag = if is_not { self.node(flag.args[0])? } else { flag };
            let from = flag.args[0];
            if flag.op != Op::Get || usize::from(flag.imm) != i || usize::from(self.ty(from)?.lanes) != list.len() {
                return None;
            }
            if *all.get_or_insert((from, is_not)) != (from, is_not) {
                return None;
            }
        }
        all
    }

    /// Returns the bits of booleans as a number.
    pub(super) fn bits(&mut self, node: &Node) -> Option<Found> {
        let from = self.ty(node.args[0])?;
        let handler = match from.lanes {
            2 if from.class == Class::Bool => rule::two_bits(),
            4 if from.class == Class::Bool => rule::four_bits(),
            _ => return self.define(node),
        };
        let row = self.row(node.args[0])?;
        self.own(handler, &[row], 0)
    }

    pub(super) fn pack_flags(&mut self, list: &[u16]) -> Option<Found> {
        let (first, rest) = list.split_first()?;
        if rest.is_empty() {
            return self.same(*first);
        }
        if let Some((flags, is_not)) = self.flags_of(list) {
            if !is_not {
                return self.same(flags);
            }
            let rows = [self.row(flags)?, self.binder.constant(ones(F::SLOT))?];
            return self.own(rule::of::<word::Xor, K, F>(), &rows, 0);
        }
        let mut row = self.row(*first)?;
        for (i, part) in rest.iter().enumerate() {
            let part = self.row(*part)?;
            let mask = self.binder.constant(mask_of(1 << (i + 1), list.len() as u8, F::SLOT))?;
            row = self.emit(rule::of::<word::Select, K, F>(), &[mask, part, row], 0)?;
        }
        Some(Found::Own(row))
    }
}
