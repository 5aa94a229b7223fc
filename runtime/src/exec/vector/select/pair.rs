//! Values that are wider than a slot of 32 bits, in two rows.

use isaforge_core::semantics::{Class, Comparison, Node, Op, Special, Type};

use super::{Cover, Found, Handler, Micro, Step};
use crate::exec::vector::exact::ByDefinition;
use crate::exec::vector::handler::Exact;
use crate::exec::vector::rule::{self, word};
use crate::exec::vector::warp::{Ballot, Permute};
use crate::exec::vector::{Family, float, integer, wide};

/// The bits of a slot in sets whose wide values take two rows.
const WORD: u32 = 32;

impl<const K: usize, F: Family<K>> Cover<'_, K, F> {
    /// Returns the rows with the low and the high word of a node; the high one is zero if the node has only one word.
    pub(super) fn pair(&mut self, node: u16) -> Option<[u16; 2]> {
        if self.ty(node)?.size() <= WORD {
            return Some([self.row(node)?, self.binder.constant(0)?]);
        }
        let at = usize::from(node);
        if let (Found::Own(low) | Found::Bound(low), Found::Own(high) | Found::Bound(high)) =
            (*self.found.get(at)?, *self.highs.get(at)?)
        {
            return Some([low, high]);
        }
        let pair = self.made(node)?;
        (self.found[at], self.highs[at]) = (self.held(pair[0]), self.held(pair[1]));
        Some(pair)
    }

    /// Handles an operand, or a value from other lanes of the warp.
    pub(super) fn leaf(&mut self, at: u16, node: &Node) -> Option<()> {
        let [a, b, ..] = node.args;
        let special = Special::ALL.get(usize::from(node.imm));
        let (pair, bound) = match node.op {
            Op::Operand => (self.binder.pair(a, b, node.ty)?, true),
            Op::Special if special == Some(&Special::Active) && F::WARPS => {
                let all = self.binder.constant(u64::from(u32::MAX))?;
                (self.emit_pair((Handler::of::<Ballot>(), 1), &[all], 0)?, false)
            }
            Op::Special => (self.binder.special_pair(*special?)?, false),
            Op::Ballot if F::WARPS => {
                let holds = self.row(a)?;
                (self.emit_pair((Handler::of::<Ballot>(), 1), &[holds], 0)?, false)
            }
            Op::Permute if F::WARPS => {
                let (pair, lane) = (self.pair(a)?, self.row(b)?);
                let low = self.emit((Handler::of::<Permute>(), 2), &[pair[0], lane], 0)?;
                ([low, self.emit((Handler::of::<Permute>(), 2), &[pair[1], lane], 0)?], false)
            }
            _ => return None,
        };
        let found = |row| if bound { Found::Bound(row) } else { Found::Own(row) };
        (self.found[usize::from(at)], self.highs[usize::from(at)]) = (found(pair[0]), found(pair[1]));
        Some(())
    }

    fn emit_pair(&mut self, handler: (Handler<K, F>, u8), from: &[u16], number: u64) -> Option<[u16; 2]> {
        let (to, high) = (self.temporary()?, self.temporary()?);
        self.micro(handler, from, number, to);
        if let Some(Step::Micro(Micro { high: second, .. })) = self.steps.last_mut() {
            *second = high;
        }
        Some([to, high])
    }

    /// Emits a handler of pairs on the arguments of a node, and cuts the result to its type.
    fn on_pairs(&mut self, handler: (Handler<K, F>, u8), node: &Node, number: u64) -> Option<[u16; 2]> {
        let rows = self.pairs_of(node)?;
        let pair = self.emit_pair(handler, &rows, number)?;
        self.cut(pair, node.ty)
    }

    /// Returns the rows of a node's arguments, two for each.
    fn pairs_of(&mut self, node: &Node) -> Option<Vec<u16>> {
        let used = node.op.node_arguments();
        let mut rows = Vec::new();
        for (_, argument) in node.args.iter().enumerate().filter(|(k, _)| used >> k & 1 != 0) {
            rows.extend(self.pair(*argument)?);
        }
        Some(rows)
    }

    /// Keeps the bits of a type.
    fn cut(&mut self, [low, high]: [u16; 2], ty: Type) -> Option<[u16; 2]> {
        if ty.size() >= 2 * WORD {
            return Some([low, high]);
        }
        let keep = self.binder.constant(ty.mask() >> WORD)?;
        Some([low, self.emit(rule::of::<word::And, K, F>(), &[high, keep], 0)?])
    }

    fn by_word(&mut self, handler: (Handler<K, F>, u8), node: &Node) -> Option<[u16; 2]> {
        let rows = self.pairs_of(node)?;
        let words = |at: usize| rows.iter().skip(at).step_by(2).copied().collect::<Vec<u16>>();
        Some([self.emit(handler, &words(0), 0)?, self.emit(handler, &words(1), 0)?])
    }

    /// Returns the rows that a node is computed into.
    fn made(&mut self, node: u16) -> Option<[u16; 2]> {
        let value = self.shape.constant(node);
        let node = *self.node(node)?;
        let ([a, b, c, _], ty) = (node.args, node.ty);
        if let Some(value) = value {
            return Some([self.binder.constant(value & u64::from(u32::MAX))?, self.binder.constant(value >> WORD)?]);
        }
        let scalar = ty.lanes == 1 && ty.is_integer();
        let parts = ty.class != Class::Bool && WORD.is_multiple_of(ty.bits.into()) && ty.size() == 2 * WORD;
        let from = |cover: &Self| cover.ty(a);
        match node.op {
            Op::Bits if !self.is_bool(a)? => self.pair(a),
            Op::Zext if scalar && from(self)? == Type::BOOL => {
                let rows = [self.row(a)?, self.binder.constant(1)?];
                Some([self.emit(rule::of::<word::And, K, F>(), &rows, 0)?, self.binder.constant(0)?])
            }
            Op::Zext if scalar && !self.is_bool(a)? => self.pair(a),
            Op::Trunc if scalar => {
                let pair = self.pair(a)?;
                self.cut(pair, ty)
            }
            Op::Sext if scalar && from(self)?.size() <= WORD && !self.is_bool(a)? => {
                let low = self.extended(a)?;
                let high = self.emit(rule::extract_signed(), &[low], 31 << 8)?;
                self.cut([low, high], ty)
            }
            Op::Concat if from(self)?.size() == WORD && self.ty(b)?.size() <= WORD => {
                Some([self.row(a)?, self.row(b)?])
            }
            Op::Abs if ty.class == Class::Unsigned => self.pair(a),
            Op::And => self.by_word(rule::of::<word::And, K, F>(), &node),
            Op::Or => self.by_word(rule::of::<word::Or, K, F>(), &node),
            Op::Xor => self.by_word(rule::of::<word::Xor, K, F>(), &node),
            Op::Not if !self.is_bool(a)? => {
                let (pair, ones) = (self.pair(a)?, self.binder.constant(u64::from(u32::MAX))?);
                let not = rule::of::<word::Xor, K, F>();
                let pair = [self.emit(not, &[pair[0], ones], 0)?, self.emit(not, &[pair[1], ones], 0)?];
                self.cut(pair, ty)
            }
            Op::Select if from(self)? == Type::BOOL => {
                let (when, yes, no) = (self.row(a)?, self.pair(b)?, self.pair(c)?);
                let choose = rule::of::<word::Select, K, F>();
                let low = self.emit(choose, &[when, yes[0], no[0]], 0)?;
                Some([low, self.emit(choose, &[when, yes[1], no[1]], 0)?])
            }
            Op::Splat | Op::Pack if parts => {
                let list = match node.op {
                    Op::Splat => vec![a; ty.lanes.into()],
                    _ => self.shape.lists.get(usize::from(a)..usize::from(a) + usize::from(b))?.to_vec(),
                };
                let (low, high) = list.split_at_checked(list.len() / 2)?;
                Some([self.word_of(ty, low)?, self.word_of(ty, high)?])
            }
            Op::Canonical if ty == Type::float(64) => {
                let Some(nan) = self.semantics.nan(64) else { return self.pair(a) };
                let inner = *self.node(a)?;
                match wide::arithmetic(inner.op).filter(|_| inner.imm == 0) {
                    Some(handler) => self.on_pairs(handler, &inner, nan),
                    None => self.on_pairs(wide::plain(node.op)?, &node, nan),
                }
            }
            Op::Canonical if parts => {
                let pair = self.pair(a)?;
                let Some(nan) = self.semantics.nan(ty.bits) else { return Some(pair) };
                let canonical = float::plain(node.op, ty.bits)?;
                Some([self.emit(canonical, &[pair[0]], nan)?, self.emit(canonical, &[pair[1]], nan)?])
            }
            Op::Convert if ty.lanes == 1 => match wide::convert(node.imm, from(self)?, ty) {
                Some(handler) => self.on_pairs(handler, &node, 0),
                None => self.define_pair(&node),
            },
            op => {
                let signed = ty.class == Class::Signed;
                let shifts = matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight);
                let handler = match ty {
                    Type { lanes: 1, bits: 64, class: Class::Float } => wide::plain(op),
                    Type { lanes: 1, bits: 64, class: Class::Bool } => None,
                    Type { lanes: 1, bits: 64, .. } if !shifts || !self.is_bool(b)? => {
                        integer::arithmetic(op, 64, signed)
                    }
                    // The low bits of narrower sums and differences are those of 64-bit ones.
                    Type { lanes: 1, .. } if scalar && matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Neg) => {
                        integer::arithmetic(op, 64, false)
                    }
                    _ => None,
                };
                if let Some(handler) = handler {
                    return self.on_pairs(handler, &node, 0);
                }
                let small =
                    if parts && ty.is_integer() && !shifts { integer::arithmetic(op, ty.bits, signed) } else { None };
                match small {
                    Some(handler) => self.by_word(handler, &node),
                    None => self.define_pair(&node),
                }
            }
        }
    }

    /// Returns the word with the components of a list.
    fn word_of(&mut self, ty: Type, list: &[u16]) -> Option<u16> {
        match self.joined(ty, list)? {
            Found::Own(row) | Found::Bound(row) => Some(row),
            Found::No => self.row(*list.first()?),
        }
    }

    fn define_pair(&mut self, node: &Node) -> Option<[u16; 2]> {
        let exact = self.exactly(node)?;
        let rows = self.pairs_of(node)?;
        let number = self.exact.len() as u64;
        self.exact.push(exact);
        self.emit_pair((Handler::of::<ByDefinition<true>>(), rows.len() as u8), &rows, number)
    }

    /// Returns a node with the types of its arguments.
    fn exactly(&self, node: &Node) -> Option<Exact> {
        let used = node.op.node_arguments();
        let fits = |ty: Type| ty.class != Class::Bool || F::SLOT.is_multiple_of(ty.lanes.into());
        let mut types = [node.ty; 4];
        for (k, ty) in types.iter_mut().enumerate().filter(|(k, _)| used >> k & 1 != 0) {
            *ty = self.ty(node.args[k])?;
        }
        let known = types.into_iter().chain([node.ty]).all(fits) && node.op != Op::Pack && node.op != Op::Canonical;
        known.then_some(Exact { op: node.op, imm: node.imm, ty: node.ty, types })
    }

    /// Whether a node that fits a slot is computed from values that do not.
    pub(super) fn reads_pairs(&self, node: &Node) -> bool {
        let used = node.op.node_arguments();
        let wide = |argument: u16| self.ty(argument).is_some_and(|ty| ty.size() > F::SLOT);
        node.op.is_pure() && node.args.iter().enumerate().any(|(k, argument)| used >> k & 1 != 0 && wide(*argument))
    }

    /// Computes a value that fits a slot from values that do not.
    pub(super) fn narrowed(&mut self, node: &Node) -> Option<Found> {
        let [a, ..] = node.args;
        let (ty, from) = (node.ty, self.ty(a)?);
        let at = match node.op {
            Op::Slice => Some(u32::from(node.imm & 0xff)),
            Op::Trunc if ty.lanes == 1 => Some(0),
            Op::Get if from.class != Class::Bool => Some(u32::from(node.imm) * u32::from(from.bits)),
            _ => None,
        };
        if let Some(at) = at.filter(|_| ty.class != Class::Bool && from.class != Class::Bool) {
            return self.bits_from(a, at, ty);
        }
        if node.op == Op::Convert
            && let Some(handler) = wide::convert(node.imm, from, ty).filter(|_| ty.lanes == 1 && from.lanes == 1)
        {
            let rows = self.pairs_of(node)?;
            return self.own(handler, &rows, 0);
        }
        if node.op == Op::Compare && from.lanes == 1 {
            let how = *Comparison::ALL.get(usize::from(node.imm))?;
            // Narrower values do not have their sign bits where the handlers expect them.
            let fits = from.bits == 64 || from.class == Class::Unsigned;
            let handler = match from.class {
                Class::Float => wide::compare(how),
                Class::Bool => None,
                class => integer::compare(how, 64, class == Class::Signed),
            };
            if let Some(handler) = handler.filter(|_| fits) {
                let rows = self.pairs_of(node)?;
                return self.own(handler, &rows, 0);
            }
        }
        let exact = self.exactly(node)?;
        let rows = self.pairs_of(node)?;
        let number = self.exact.len() as u64;
        self.exact.push(exact);
        self.own((Handler::of::<ByDefinition<true>>(), rows.len() as u8), &rows, number)
    }

    /// Returns bits of a wide node, starting at a position.
    fn bits_from(&mut self, node: u16, at: u32, ty: Type) -> Option<Found> {
        let size = ty.size();
        if at >= 2 * WORD {
            return self.constant(ty, 0).map(Found::Own);
        }
        if at == 0 {
            let low = match self.low(node) {
                Some(low) => low,
                None => self.pair(node)?[0],
            };
            return self.masked(low, ty);
        }
        let [low, high] = self.pair(node)?;
        let all = self.binder.constant(u64::from(u32::MAX))?;
        let row = if at >= WORD {
            if at == WORD { high } else { self.emit(rule::extract(), &[high, all], (at - WORD).into())? }
        } else {
            let below = self.emit(rule::extract(), &[low, all], at.into())?;
            if at + size <= WORD { below } else { self.emit(rule::join(), &[below, high], (WORD - at).into())? }
        };
        self.masked(row, ty)
    }
}
