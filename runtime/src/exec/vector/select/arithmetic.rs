//! Numbers: arithmetic, bitwise operations, comparisons and selections.

use isaforge_core::semantics::{Class, Comparison, Node, Op, Type};

use super::{Cover, Found, Handler};
use crate::exec::vector::rule::{self, word};
use crate::exec::vector::{Family, float, integer};

impl<const K: usize, F: Family<K>> Cover<'_, K, F> {
    /// Emits a float handler, which may change the zeros beyond the components of a type.
    pub(super) fn float(&mut self, handler: (Handler<K, F>, u8), rows: &[u16], number: u64, ty: Type) -> Option<Found> {
        let row = self.emit(handler, rows, number)?;
        self.masked(row, ty)
    }

    pub(super) fn arithmetic(&mut self, node: &Node) -> Option<Found> {
        let (op, ty) = (node.op, node.ty);
        if op == Op::Convert {
            let from = self.ty(node.args[0])?;
            let single = ty.lanes == 1 && F::SLOT == 32;
            let handler = float::convert(node.imm, from, ty, single);
            return match handler.filter(|_| from.lanes == ty.lanes) {
                Some(handler) => {
                    let row = self.row(node.args[0])?;
                    self.float(handler, &[row], 0, ty)
                }
                None => self.define(node),
            };
        }
        if ty.is_float() {
            return match float::plain(op, ty.bits) {
                Some(handler) => {
                    let rows = self.arguments(node)?;
                    self.float(handler, &rows, 0, ty)
                }
                None => self.define(node),
            };
        }
        let signed = ty.class == Class::Signed;
        let shifts = matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight);
        let handler = if Self::is_regular(ty) { integer::arithmetic(op, ty.bits, signed) } else { None };
        let Some(handler) = handler.filter(|_| ty.is_integer()) else { return self.define(node) };
        let mut rows = Vec::new();
        if shifts {
            rows.push(self.row(node.args[0])?);
            match self.count(node.args[1], ty)? {
                Some(row) => rows.push(row),
                None => return self.define(node),
            }
        } else {
            rows = self.arguments(node)?;
        }
        let row = self.emit(handler, &rows, 0)?;
        // These give nonzero bits for the zeros above the type's bits.
        let spoils = matches!(op, Op::LeadingZeros | Op::TrailingZeros | Op::Div);
        if spoils { self.masked(row, ty) } else { Some(Found::Own(row)) }
    }

    /// Returns the row of the shift count of each component; the inner `None` if the count must be replicated at run
    /// time.
    #[allow(clippy::option_option, reason = "nothing to be had, and nothing that fits")]
    pub(super) fn count(&mut self, node: u16, of: Type) -> Option<Option<u16>> {
        let ty = self.ty(node)?;
        if of.lanes == 1 || (ty.lanes == of.lanes && ty.bits == of.bits) {
            // Counts wrap at a power of two, so only the low bits matter.
            return Some(if ty.class == Class::Bool { None } else { Some(self.row(node)?) });
        }
        let Some(count) = self.shape.constant(node).filter(|_| ty.lanes == 1) else { return Some(None) };
        let count = count % u64::from(of.bits);
        let all = (0..of.lanes).fold(0, |all, i| all | count << (u32::from(of.bits) * u32::from(i)));
        Some(Some(self.binder.constant(all)?))
    }

    /// Sign-extends a signed integer to the whole slot.
    pub(super) fn extended(&mut self, node: u16) -> Option<u16> {
        let (row, ty) = (self.row(node)?, self.ty(node)?);
        let above = u64::from(F::SLOT - ty.size());
        if above == 0 { Some(row) } else { self.emit(rule::extract_signed(), &[row], above | above << 8) }
    }

    pub(super) fn bitwise(&mut self, node: &Node) -> Option<Found> {
        let rows = self.arguments(node)?;
        match node.op {
            Op::And => self.own(rule::of::<word::And, K, F>(), &rows, 0),
            Op::Or => self.own(rule::of::<word::Or, K, F>(), &rows, 0),
            Op::Xor => self.own(rule::of::<word::Xor, K, F>(), &rows, 0),
            _ => {
                let all = self.constant(node.ty, node.ty.mask())?;
                self.own(rule::of::<word::Xor, K, F>(), &[rows[0], all], 0)
            }
        }
    }

    pub(super) fn compare(&mut self, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let from = self.ty(a)?;
        let how = *Comparison::ALL.get(usize::from(node.imm))?;
        if let Some(found) = self.compare_flags(node, how) {
            return Some(found);
        }
        if from.is_float() && Self::is_full(from) {
            let handler = float::compare(how, from.bits)?;
            let rows = self.arguments(node)?;
            return self.own(handler, &rows, 0);
        }
        if from.is_float()
            && from.lanes == 1
            && let Some(handler) = float::compare(how, from.bits)
        {
            // The mask of the lowest component fills the slot.
            let rows = self.arguments(node)?;
            let row = self.emit(handler, &rows, 0)?;
            let above = u64::from(F::SLOT - from.size());
            return self.own(rule::extract_signed(), &[row], above | above << 8);
        }
        let signed = from.class == Class::Signed;
        let bits = if from.lanes == 1 { F::SLOT as u8 } else { from.bits };
        let handler = integer::compare(how, bits, signed);
        match handler.filter(|_| from.is_integer() && (from.lanes == 1 || Self::is_full(from))) {
            Some(handler) if signed && from.lanes == 1 => {
                let rows = [self.extended(a)?, self.extended(b)?];
                self.own(handler, &rows, 0)
            }
            Some(handler) => {
                let rows = self.arguments(node)?;
                self.own(handler, &rows, 0)
            }
            None => self.define(node),
        }
    }

    /// Compares the bits of several booleans with none or all; their mask gives the answer.
    pub(super) fn compare_flags(&mut self, node: &Node, how: Comparison) -> Option<Found> {
        let [a, b, ..] = node.args;
        let bits = self.node(a).filter(|bits| bits.op == Op::Bits)?;
        let flags = bits.args[0];
        let ty = self.ty(flags).filter(|ty| ty.class == Class::Bool)?;
        let value = self.shape.constant(b)?;
        if !matches!(how, Comparison::Equal | Comparison::NotEqual) || (value != 0 && value != ty.mask()) {
            return None;
        }
        let (row, number) = (self.row(flags)?, self.constant(ty, value)?);
        self.own(integer::compare(how, F::SLOT as u8, false)?, &[row, number], 0)
    }

    pub(super) fn choice(&mut self, node: &Node) -> Option<Found> {
        let [when, ..] = node.args;
        let condition = self.ty(when)?;
        // The parts of a mask line up with the components of a type that fills the slot.
        let fits = condition.lanes == 1 || node.ty.class == Class::Bool || Self::is_full(node.ty);
        if condition.class != Class::Bool || !fits {
            return self.define(node);
        }
        if let Some(holds) = self.shape.constant(when) {
            match holds {
                0 => return self.same(node.args[2]),
                all if all == condition.mask() => return self.same(node.args[1]),
                _ => {}
            }
        }
        let rows = self.arguments(node)?;
        self.own(rule::of::<word::Select, K, F>(), &rows, 0)
    }
}
