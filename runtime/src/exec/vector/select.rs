//! Covers a shape with operations on rows.
//!
//! `None` if some part of a shape cannot be covered: the evaluator executes such a shape. Covered shapes compute the
//! same bits as the evaluator; where no handler is known to do so, [`Exact`] uses the definition itself.
//!
//! - `binder`: the locations of operands and states
//! - `arithmetic`, `part`: nodes of one row
//! - `pair`: values that are wider than a slot, in two rows
//! - `effect`: effects on the machine, in order; `stores`: merges stores to adjacent addresses

use isaforge_core::bits::ones;
use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::{Class, NONE, Node, Op, Semantics, Shape, Special, Type};

use super::code::{Code, Step, VALUES};
use super::effect::{Effect, Value};
use super::exact::ByDefinition;
use super::handler::{Exact, Handler, Micro, NO_ROW};
use super::hoist::Before;
use super::rule::{self, word};
use super::warp::{BallotAll, Permute, PermuteAll};
use super::{Family, cleanup, float, integer, mask_of};

mod arithmetic;
mod binder;
mod effect;
mod pair;
mod part;
mod stores;

pub(crate) use binder::{Binder, Location};

/// Covers a shape. `None` when the evaluator has to execute it.
pub(crate) fn select<const K: usize, F: Family<K>>(
    semantics: &Semantics,
    shape: &Shape,
    binder: &mut dyn Binder,
) -> Option<Code<K, F>> {
    select_after(semantics, shape, binder, &mut Before::default())
}

/// The same, but hoists computations to `before`.
pub(crate) fn select_after<const K: usize, F: Family<K>>(
    semantics: &Semantics,
    shape: &Shape,
    binder: &mut dyn Binder,
    before: &mut Before<K, F>,
) -> Option<Code<K, F>> {
    let mut exact = Vec::new();
    let mut steps = |whole: bool| {
        let mut cover = Cover::new(semantics, shape, binder, &mut exact, whole);
        cover.all()?;
        let (rows, aliases) = (cover.binder.temporaries(), cover.binder.aliases());
        cleanup::tidy(cover.steps, rows, &aliases, before)
    };
    // If members keep the content of inactive lanes, the steps are the same.
    let (whole, part) = (steps(true)?, if F::WARPS { Vec::new() } else { steps(false)? });
    Some(Code { whole, part, exact })
}

/// The location of a node's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Not computed yet, or not needed.
    No,
    /// A row whose content stays.
    Own(u16),
    /// A row of the machine, which later writes may change.
    Bound(u16),
}

struct Cover<'a, const K: usize, F: Family<K>> {
    semantics: &'a Semantics,
    shape: &'a Shape,
    binder: &'a mut dyn Binder,
    exact: &'a mut Vec<Exact>,
    whole: bool,
    found: Vec<Found>,
    /// The high words of values that are wider than a slot.
    highs: Vec<Found>,
    /// Whether every use of a node is by [`Op::Canonical`].
    canonicalized: Vec<bool>,
    steps: Vec<Step<K, F>>,
    /// Stores that are merged with an earlier one.
    stored: Vec<u16>,
    next: u16,
}

/// A pending write to a row.
struct Pending {
    row: u16,
    source: Source,
    mask: u64,
    when: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The slots of a node, unchanged.
    Node(u16),
    /// The slots of a node, shifted left by a number of bits.
    Raised(u16, u32),
    /// The low or the high word of a node that is wider than a slot.
    Word(u16, usize),
    /// A row.
    Row(u16),
}

impl<'a, const K: usize, F: Family<K>> Cover<'a, K, F> {
    fn new(
        semantics: &'a Semantics,
        shape: &'a Shape,
        binder: &'a mut dyn Binder,
        exact: &'a mut Vec<Exact>,
        whole: bool,
    ) -> Self {
        let count = shape.nodes.len();
        let mut canonicalized = vec![true; count];
        for node in &shape.nodes {
            for_each_argument(node, &shape.lists, |argument| {
                if let Some(made) = canonicalized.get_mut(usize::from(argument)) {
                    *made &= node.op == Op::Canonical;
                }
            });
        }
        let next = VALUES.start;
        let (found, highs) = (vec![Found::No; count], vec![Found::No; count]);
        let (steps, stored) = (Vec::new(), Vec::new());
        Cover { semantics, shape, binder, exact, whole, found, highs, canonicalized, steps, stored, next }
    }

    fn all(&mut self) -> Option<()> {
        let shape = self.shape;
        let (wanted, mut written) = (self.wanted(), 0);
        for (at, node) in shape.nodes.iter().enumerate() {
            if !wanted[at] {
                continue;
            }
            if node.ty.size() > F::SLOT {
                // Pure nodes are computed on demand, as only their low bits may be needed.
                if node.op.is_pure() {
                    continue;
                }
                if F::SLOT != 32 {
                    return None;
                }
                if !node.op.is_effect() {
                    self.leaf(at as u16, node)?;
                    continue;
                }
            }
            match node.op {
                Op::Write | Op::SetState | Op::Const => {}
                Op::Commit => {
                    self.flush(written..at)?;
                    written = at;
                }
                Op::Store if self.stored.contains(&(at as u16)) => {}
                Op::Store if self.binder.joins_stores() && self.stores(at as u16).is_some() => {}
                op if op.is_effect() => self.effect(at as u16, node)?,
                _ => self.found[at] = self.value(at as u16, node)?,
            }
        }
        self.flush(written..shape.nodes.len())
    }

    /// Returns which nodes are effects, or nodes that effects depend on.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted: Vec<bool> = self.shape.nodes.iter().map(|node| node.op.is_effect()).collect();
        for (at, node) in self.shape.nodes.iter().enumerate().rev() {
            let left_out = match node.op {
                Op::Branch if self.binder.knows_targets() => Some(node.args[0]),
                _ => None,
            };
            if wanted[at] {
                for_each_argument(node, &self.shape.lists, |argument| {
                    if let Some(wanted) = wanted.get_mut(usize::from(argument)) {
                        *wanted |= Some(argument) != left_out;
                    }
                });
            }
        }
        wanted
    }

    fn node(&self, node: u16) -> Option<&'a Node> {
        self.shape.nodes.get(usize::from(node))
    }

    fn ty(&self, node: u16) -> Option<Type> {
        self.node(node).map(|node| node.ty)
    }

    /// Returns the row with a node's value.
    fn row(&mut self, node: u16) -> Option<u16> {
        match *self.found.get(usize::from(node))? {
            Found::Own(row) | Found::Bound(row) => return Some(row),
            Found::No => {}
        }
        let ty = self.ty(node).filter(|ty| ty.size() <= F::SLOT)?;
        let value = self.shape.constant(node)?;
        let row = self.constant(ty, value)?;
        self.found[usize::from(node)] = Found::Own(row);
        Some(row)
    }

    /// Returns the row of a constant in the slot layout of its type.
    fn constant(&mut self, ty: Type, value: u64) -> Option<u16> {
        let slot = if ty.class == Class::Bool { mask_of(value, ty.lanes, F::SLOT) } else { value };
        self.binder.constant(slot)
    }

    fn temporary(&mut self) -> Option<u16> {
        let row = self.next;
        self.next += 1;
        VALUES.contains(&row).then_some(row)
    }

    fn micro(&mut self, (handler, reads): (Handler<K, F>, u8), from: &[u16], number: u64, to: u16) {
        // Row 0 always exists.
        let all = std::array::from_fn(|k| from.get(k).copied().unwrap_or(0));
        let keep = F::WARPS && !VALUES.contains(&to);
        let (high, keep) = (NO_ROW, [keep; 2]);
        let looks_up = handler.is_of::<ByDefinition<false>>() || handler.is_of::<ByDefinition<true>>();
        self.steps.push(Step::Micro(Micro { handler, to, high, keep, reads, looks_up, from: all, number }));
    }

    fn emit(&mut self, handler: (Handler<K, F>, u8), from: &[u16], number: u64) -> Option<u16> {
        let to = self.temporary()?;
        self.micro(handler, from, number, to);
        Some(to)
    }

    fn own(&mut self, handler: (Handler<K, F>, u8), from: &[u16], number: u64) -> Option<Found> {
        self.emit(handler, from, number).map(Found::Own)
    }

    /// Returns the location of another node's value.
    fn same(&mut self, node: u16) -> Option<Found> {
        self.row(node)?;
        self.found.get(usize::from(node)).copied()
    }

    /// Returns the location of a further node in a row: bound if the row is bound to another node, else own.
    fn held(&self, row: u16) -> Found {
        let bound = Found::Bound(row);
        if self.found.contains(&bound) || self.highs.contains(&bound) { bound } else { Found::Own(row) }
    }

    /// Keeps only the bits of a type.
    fn masked(&mut self, row: u16, ty: Type) -> Option<Found> {
        if ty.size() == F::SLOT {
            return Some(self.held(row));
        }
        let keep = self.binder.constant(ty.mask())?;
        self.own(rule::of::<word::And, K, F>(), &[row, keep], 0)
    }

    fn value(&mut self, at: u16, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let ty = node.ty;
        if self.reads_pairs(node) {
            return self.narrowed(node);
        }
        match node.op {
            Op::Operand => match self.binder.operand(a, b, ty) {
                Location::Row(row, 0) => Some(Found::Bound(row)),
                Location::Number(number) => self.constant(ty, number & ty.mask()).map(Found::Own),
                Location::Asked => self.asked(node, [a, b], None),
                Location::Row(..) | Location::Whole(_) | Location::Set(_) | Location::Nowhere => None,
            },
            Op::State => match self.binder.state(a) {
                Location::Row(row, 0) if b == NONE => Some(Found::Bound(row)),
                Location::Number(number) if b == NONE => self.constant(ty, number & ty.mask()).map(Found::Own),
                Location::Set(set) if b == NONE && ty == Type::BOOL => {
                    self.own((Handler::of::<rule::ReadSet>(), 0), &[], set.into())
                }
                Location::Number(_) | Location::Row(..) | Location::Whole(_) | Location::Set(_) | Location::Nowhere => {
                    None
                }
                Location::Asked => self.asked(node, [a, 0], Some(b).filter(|b| *b != NONE)),
            },
            Op::Special => {
                match Special::ALL.get(usize::from(node.imm)).map(|special| self.binder.special(*special))? {
                    Location::Row(row, 0) => Some(Found::Own(row)),
                    Location::Number(number) => self.constant(ty, number & ty.mask()).map(Found::Own),
                    Location::Asked => self.asked(node, [0; 2], None),
                    Location::Row(..) | Location::Whole(_) | Location::Set(_) | Location::Nowhere => None,
                }
            }
            Op::Permute if F::WARPS && !self.is_bool(a)? => {
                let rows = [self.row(a)?, self.row(b)?];
                self.own((Handler::of::<Permute>(), 2), &rows, 0)
            }
            Op::Permute if F::WARP && !self.is_bool(a)? => {
                let rows = [self.row(a)?, self.row(b)?];
                self.own((Handler::of::<PermuteAll>(), 2), &rows, self.binder.lanes())
            }
            Op::Ballot if F::WARP => {
                let mut votes = self.row(a)?;
                if !self.whole {
                    let active = self.binder.active();
                    votes = self.emit(rule::of::<word::And, K, F>(), &[votes, active], 0)?;
                }
                self.own((Handler::of::<BallotAll>(), 1), &[votes], 0)
            }
            Op::Permute | Op::Ballot | Op::Pick | Op::Is | Op::Modifier | Op::Slot => None,
            Op::Bits if self.is_bool(a)? == (ty.class == Class::Bool) => self.same(a),
            Op::Bits => self.bits(node),
            Op::Canonical => self.canonical(node),
            Op::Get | Op::Slice => self.slice(node),
            Op::Pack => self.pack(node),
            Op::Splat if ty.class == Class::Bool => self.same(a),
            Op::Splat => self.joined(ty, &vec![a; ty.lanes.into()]),
            Op::Concat if !self.is_bool(a)? => {
                let (low, high) = (self.row(a)?, self.row(b)?);
                let shift = self.ty(a)?.size();
                if shift >= F::SLOT { self.same(a) } else { self.own(rule::join(), &[low, high], shift.into()) }
            }
            Op::Zext | Op::Sext | Op::Trunc if self.is_bool(a)? => self.define(node),
            Op::Zext if ty.lanes == 1 => self.same(a),
            Op::Sext if ty.lanes == 1 => {
                let wide = self.extended(a)?;
                self.masked(wide, ty)
            }
            Op::Trunc if ty.lanes == 1 => {
                let row = if self.ty(a)?.size() > F::SLOT { self.low(a)? } else { self.row(a)? };
                self.masked(row, ty)
            }
            Op::Select => self.choice(node),
            Op::Compare => self.compare(node),
            Op::And | Op::Or | Op::Xor | Op::Not => self.bitwise(node),
            // Computed together with the node that makes it canonical.
            op if ty.is_float() && self.is_fused(at) && float::arithmetic::<K, F>(op, ty.bits).is_some() => {
                Some(Found::No)
            }
            _ => self.arithmetic(node),
        }
    }

    fn is_bool(&self, node: u16) -> Option<bool> {
        Some(self.ty(node)?.class == Class::Bool)
    }

    /// Whether a float operation is computed together with its [`Op::Canonical`].
    fn is_fused(&self, at: u16) -> bool {
        let Some(node) = self.node(at) else { return false };
        let nearest = node.imm == 0;
        nearest && self.canonicalized[usize::from(at)] && self.semantics.nan(node.ty.bits).is_some()
    }

    /// Returns a row with the low bits, as many as fit a slot, of a wider integer.
    fn low(&mut self, node: u16) -> Option<u16> {
        match self.found.get(usize::from(node))? {
            Found::Own(row) | Found::Bound(row) => return Some(*row),
            Found::No => {}
        }
        let wide = self.node(node)?;
        if let Some(value) = self.shape.constant(node) {
            return self.binder.constant(value & ones(F::SLOT));
        }
        let narrow = Type::unsigned(F::SLOT as u8);
        let [a, b, ..] = wide.args;
        let fits = |from: Option<Type>| {
            from.is_some_and(|from| from.size() <= F::SLOT && from.lanes == 1 && from.is_integer())
        };
        let row = match wide.op {
            _ if wide.ty.lanes != 1 || !wide.ty.is_integer() => return None,
            Op::Zext if self.ty(a)? == Type::BOOL => {
                let rows = [self.row(a)?, self.binder.constant(1)?];
                self.emit(rule::of::<word::And, K, F>(), &rows, 0)?
            }
            Op::Zext if fits(self.ty(a)) => self.row(a)?,
            Op::Sext if fits(self.ty(a)) => self.extended(a)?,
            Op::Concat if self.ty(a)? == narrow => self.row(a)?,
            Op::Bits if self.ty(a)?.is_integer() => self.low(a)?,
            Op::Add | Op::Sub | Op::Mul | Op::Neg => {
                let handler = integer::arithmetic(wide.op, F::SLOT as u8, false)?;
                let rows = if wide.op == Op::Neg { vec![self.low(a)?] } else { vec![self.low(a)?, self.low(b)?] };
                self.emit(handler, &rows, 0)?
            }
            Op::And => {
                let rows = [self.low(a)?, self.low(b)?];
                self.emit(rule::of::<word::And, K, F>(), &rows, 0)?
            }
            Op::Or => {
                let rows = [self.low(a)?, self.low(b)?];
                self.emit(rule::of::<word::Or, K, F>(), &rows, 0)?
            }
            Op::Xor => {
                let rows = [self.low(a)?, self.low(b)?];
                self.emit(rule::of::<word::Xor, K, F>(), &rows, 0)?
            }
            _ => return None,
        };
        Some(row)
    }

    /// Asks the environment for a value.
    fn asked(&mut self, node: &Node, numbers: [u16; 2], index: Option<u16>) -> Option<Found> {
        let values = match index {
            Some(index) => vec![self.argument(index)?],
            None => Vec::new(),
        };
        let extra = index.map(|_| 0);
        let row = self.temporary()?;
        let to = Some(value(row, node.ty));
        let effect = Effect { op: node.op, imm: node.imm, ty: node.ty, numbers, values, extra, when: None, to };
        self.steps.push(Step::Effect(Box::new(effect)));
        Some(Found::Own(row))
    }

    fn argument(&mut self, node: u16) -> Option<Value> {
        let ty = self.ty(node)?;
        if ty.size() > F::SLOT {
            let [row, high] = self.pair(node)?;
            return Some(Value { high, ..value(row, ty) });
        }
        Some(value(self.row(node)?, ty))
    }

    /// Returns the rows of a node's arguments.
    fn arguments(&mut self, node: &Node) -> Option<Vec<u16>> {
        let used = node.op.node_arguments();
        let nodes = node.args.iter().enumerate().filter(|(k, _)| used >> k & 1 != 0);
        nodes.map(|(_, node)| self.row(*node)).collect()
    }

    /// Computes a node by its definition.
    fn define(&mut self, node: &Node) -> Option<Found> {
        let rows = self.arguments(node)?;
        let used = node.op.node_arguments();
        let mut types = [node.ty; 4];
        if node.ty.class == Class::Bool && !F::SLOT.is_multiple_of(node.ty.lanes.into()) {
            return None;
        }
        for (k, ty) in types.iter_mut().enumerate().filter(|(k, _)| used >> k & 1 != 0) {
            *ty = self.ty(node.args[k])?;
            if ty.class == Class::Bool && !F::SLOT.is_multiple_of(ty.lanes.into()) {
                return None;
            }
        }
        let exact = Exact { op: node.op, imm: node.imm, ty: node.ty, types };
        let number = self.exact.len() as u64;
        self.exact.push(exact);
        self.own((Handler::of::<ByDefinition<false>>(), rows.len() as u8), &rows, number)
    }

    /// Whether handlers support the width of the components.
    fn is_regular(ty: Type) -> bool {
        matches!(ty.bits, 8 | 16 | 32 | 64)
    }

    fn is_full(ty: Type) -> bool {
        ty.size() == F::SLOT && Self::is_regular(ty)
    }

    fn canonical(&mut self, node: &Node) -> Option<Found> {
        let a = node.args[0];
        let Some(nan) = self.semantics.nan(node.ty.bits) else { return self.same(a) };
        let inner = self.node(a)?;
        if self.found[usize::from(a)] == Found::No
            && inner.op != Op::Const
            && let Some(handler) = float::arithmetic(inner.op, node.ty.bits)
        {
            let rows = self.arguments(inner)?;
            return self.float(handler, &rows, nan, node.ty);
        }
        let row = self.row(a)?;
        let handler = float::plain(Op::Canonical, node.ty.bits)?;
        self.float(handler, &[row], nan, node.ty)
    }
}

fn value(row: u16, ty: Type) -> Value {
    Value { row, high: NO_ROW, booleans: if ty.class == Class::Bool { ty.lanes } else { 0 } }
}
