//! Effects: memory, control flow, and writes of rows and sets.

use std::ops::Range;

use isaforge_core::semantics::{NONE, Node, Op, Part, Type};

use super::{Access, Cover, Found, Located, Location, Target, Truth};
use crate::exec::jit::lanes::graph::{Extent, Graph, Indexed, Kind, Value};
use crate::exec::jit::lanes::pieces::Pieces;

impl Cover<'_> {
    /// Handles memory and control flow.
    pub(super) fn effect(&mut self, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let when = node.op.condition().map_or(NONE, |k| node.args[k]);
        let holds = if when == NONE { Some(Truth::Known(true)) } else { self.truth(when) };
        if holds == Some(Truth::Known(false)) {
            return self.put_number(0, node.ty).or(Some(Found::None));
        }
        if matches!(node.op, Op::Load | Op::Store)
            && let Some((reach, only_located)) = self.binding.reach(node.imm & 0xff, node.op == Op::Store)
        {
            return self.reach(node, reach, only_located, holds?);
        }
        match (node.op, holds?) {
            (Op::Load, Truth::Known(_)) if [Type::U32, Type::U64].contains(&node.ty) => {
                let (window, offset) = self.access(a, node, false)?;
                let low = self.graph.load(window, offset);
                Some(Found::Pieces(match node.ty.size() {
                    32 => Pieces::of(low, 32),
                    _ => Pieces::pair([low, self.graph.load(window, offset + 4)]),
                }))
            }
            // If lanes overlap, wider values must be stored lane by lane, so only words are covered.
            (Op::Store, Truth::Known(_)) if self.ty(b)? == Type::U32 && Part::of(node.imm).is_none() => {
                let (window, offset) = self.access(a, node, true)?;
                let value = self.word(b, Kind::Word)?;
                self.graph.store(window, offset, value);
                Some(Found::None)
            }
            (Op::Branch, truth) if self.selected.branch.is_none() => {
                let (mask, inverted) = self.mask(truth);
                self.selected.branch = Some((mask, inverted));
                self.selected.target = self.number(a);
                Some(Found::None)
            }
            _ => None,
        }
    }

    /// Loads or stores words at any address of a lane, or only locates them. An instruction may do so once: lanes of one
    /// column would load what those of an earlier one have stored.
    fn reach(&mut self, node: &Node, reach: usize, only_located: bool, holds: Truth) -> Option<Found> {
        let [a, b, ..] = node.args;
        let stores = node.op == Op::Store;
        let ty = if stores { self.ty(b)? } else { node.ty };
        let is_first = !std::mem::replace(&mut self.selected.accesses, true);
        if !is_first || ty.size() != 32 || Part::of(node.imm).is_some() {
            return None;
        }
        let (low, high) = match self.ty(a)?.size() {
            32 => (self.word(a, Kind::Word)?, None),
            64 => self.words(a).map(|[low, high]| (low, Some(high)))?,
            _ => return None,
        };
        let value = if stores { Some(self.word(b, Kind::Word)?) } else { None };
        let base = self.graph.reach(reach, Extent::Low);
        let offset = self.graph.subtract(low, base);
        let active = self.binding.active()?;
        let lanes = match self.combine(Op::And, active, holds)? {
            Truth::Known(true) => None,
            truth => {
                let (mask, inverted) = self.mask(truth);
                Some(if inverted { self.graph.not_mask(mask) } else { mask })
            }
        };
        self.selected.located = Some(Located { reach, low, high, offset, lanes });
        if only_located {
            return if stores { Some(Found::None) } else { self.put_number(0, node.ty) };
        }
        let loaded = self.graph.index(Indexed { reach, offset, value, lanes });
        Some(if stores { Found::None } else { Found::Pieces(Pieces::of(loaded, 32)) })
    }

    /// Returns the window at an address that two rows hold, perhaps plus an offset, and the offset of a load or store
    /// in it. Each part of a wide access uses the window of the whole access.
    fn access(&mut self, address: u16, effect: &Node, writes: bool) -> Option<(usize, i32)> {
        self.selected.accesses = true;
        let size = if writes { 4 } else { effect.ty.size() as u16 / 8 };
        let part = Part::of(effect.imm).unwrap_or(Part { from: 0, size });
        let node = self.node(address)?;
        let (base, offset) = match node.op {
            Op::Add if self.number(node.args[1]).is_some() => (node.args[0], self.number(node.args[1])?),
            Op::Add => (node.args[1], self.number(node.args[0])?),
            _ => (address, 0),
        };
        let Node { op: Op::Operand, args: [operand, element, ..], ty, .. } = *self.node(base)? else { return None };
        let [Location::Row(low), Location::Row(high)] = self.binding.operand(operand, element, ty)? else {
            return None;
        };
        // The window is looked up with the initial content of the rows, so they must not have been written before.
        let is_old = |graph: &mut Graph, row: u32| {
            let value = graph.read(row);
            graph.is_row(value, row)
        };
        if !is_old(self.graph, low) || !is_old(self.graph, high) {
            return None;
        }
        let offset = i32::try_from(offset as i64).ok()?;
        let window = self.binding.access(Access { rows: [low, high], offset, bytes: part.size, writes })?;
        Some((window, offset.checked_add(part.from.into())?))
    }

    /// Writes rows and sets, after everything else in a range of nodes.
    pub(super) fn write(&mut self, nodes: Range<usize>) -> Option<()> {
        let (mut rows, mut sets) = (Vec::new(), Vec::new());
        for node in self.shape.nodes.get(nodes)?.iter() {
            let [number, element, from, when] = node.args;
            if !matches!(node.op, Op::Write | Op::SetState) {
                continue;
            }
            let holds = if when == NONE { Truth::Known(true) } else { self.truth(when)? };
            let lanes = match (self.binding.active(), holds) {
                (_, Truth::Known(false)) => continue,
                (Some(active), holds) => self.combine(Op::And, active, holds)?,
                (None, Truth::Known(true)) => holds,
                (None, Truth::Mask { .. }) => return None,
            };
            if node.op == Op::SetState && element != NONE {
                return None;
            }
            if node.op == Op::SetState && node.ty == Type::BOOL {
                sets.push((self.binding.set_target(number)?, self.truth(from)?, lanes));
                continue;
            }
            let target = match node.op {
                Op::SetState => self.binding.state_target(number)?,
                _ => self.binding.target(number, element)?,
            };
            let (row, narrow) = match target {
                Target::Row(row) => (row, false),
                Target::Exact(row, bits) if bits == node.ty.size() => (row, bits < 32),
                Target::Exact(..) => return None,
                Target::Dropped => continue,
            };
            if node.ty.size() == 64 {
                let sum = self.words(from)?;
                if let Some(by) = self.increment(from, row) {
                    self.selected.increments.push((row, sum, by));
                }
                rows.extend([(row, sum[0], lanes), (row + 1, sum[1], lanes)]);
                continue;
            }
            if node.ty.size() != 32 && !narrow {
                return None;
            }
            let word = match self.pieces(from)?.whole().filter(|_| !narrow) {
                // Readers of the row decide whether the payloads of its NaNs matter.
                Some(word) => word,
                None => self.word(from, Kind::Word)?,
            };
            rows.push((row, word, lanes));
        }
        for (row, word, lanes) in rows {
            let old = self.graph.read(row);
            let word = self.choose(lanes, word, old)?;
            self.graph.write(row, word);
        }
        for (set, holds, lanes) in sets {
            let old = Truth::of(self.graph.read_set(set));
            let new = self.either(lanes, holds, old)?;
            let (mask, inverted) = self.mask(new);
            let mask = if inverted { self.graph.not_mask(mask) } else { mask };
            self.graph.write_set(set, mask);
        }
        Some(())
    }

    /// Returns one word in the lanes in which a condition holds, and another elsewhere; readers decide whether NaN
    /// payloads matter.
    fn choose(&mut self, when: Truth, yes: Value, no: Value) -> Option<Value> {
        if when == Truth::Known(true) {
            return Some(yes);
        }
        let both = [Kind::Word, Kind::Float].map(|kind| [yes, no].map(|word| self.graph.read_as(word, kind)));
        let [exact, loose] = both;
        let exact = self.blend(when, exact[0], exact[1])?;
        let loose = self.blend(when, loose[0], loose[1])?;
        Some(self.graph.loosely(exact, Kind::Float, loose))
    }

    /// Returns the constant by which two rows increase, if a sum of them is written to them.
    fn increment(&self, mut sum: u16, row: u32) -> Option<u64> {
        while self.node(sum)?.op == Op::Bits {
            sum = self.node(sum)?.args[0];
        }
        let Node { op: Op::Add, args: [a, b, ..], .. } = *self.node(sum)? else { return None };
        let is_pair = |node: u16| {
            let half = |from: u32, row: u32| {
                let word = self.pieces(node)?.slice(from, 32).whole()?;
                self.graph.is_row(word, row).then_some(())
            };
            half(0, row).and(half(32, row + 1)).is_some()
        };
        match (self.number(a), self.number(b)) {
            (_, Some(by)) if is_pair(a) => Some(by),
            (Some(by), _) if is_pair(b) => Some(by),
            _ => None,
        }
    }
}
