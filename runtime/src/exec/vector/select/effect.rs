//! Effects of a shape on its machine, in order, and its writes.

use std::ops::Range;

use isaforge_core::bits::ones;
use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::{Class, NONE, Node, Op, Part, Type};

use super::{Cover, Found, Handler, Location, Pending, Source, value};
use crate::exec::vector::Family;
use crate::exec::vector::code::Step;
use crate::exec::vector::effect::{Effect, MAX_ARGUMENTS, Value};
use crate::exec::vector::handler::NO_ROW;
use crate::exec::vector::rule::{self, word};

impl<const K: usize, F: Family<K>> Cover<'_, K, F> {
    pub(super) fn effect(&mut self, at: u16, node: &Node) -> Option<()> {
        let shape = self.shape;
        let [a, b, c, _] = node.args;
        let mut extra = None;
        let (numbers, values) = match node.op {
            Op::Load | Op::Store if Part::of(node.imm).is_some() && !self.binder.has_parts() => return None,
            Op::Branch if self.binder.knows_targets() => ([0; 2], Vec::new()),
            Op::Load | Op::Branch | Op::Fault => ([0; 2], vec![self.argument(a)?]),
            Op::Store => ([0; 2], vec![self.argument(a)?, self.argument(b)?]),
            Op::Atomic => {
                let mut values = vec![self.argument(a)?, self.argument(b)?];
                if c != NONE {
                    extra = Some(2);
                    values.push(self.argument(c)?);
                }
                ([0; 2], values)
            }
            Op::Barrier | Op::End => ([0; 2], Vec::new()),
            Op::Intrinsic => {
                let list = shape.lists.get(usize::from(b)..usize::from(b) + usize::from(c))?;
                if list.len() > MAX_ARGUMENTS {
                    return None;
                }
                let values: Option<Vec<Value>> = list.iter().map(|node| self.argument(*node)).collect();
                ([a, 0], values?)
            }
            _ => return None,
        };
        let when = match node.op.condition().map(|k| node.args[k]) {
            Some(NONE) | None => None,
            Some(when) => Some(self.row(when)?),
        };
        let answers = matches!(node.op, Op::Load | Op::Atomic)
            || (node.op == Op::Intrinsic && self.semantics.intrinsics.get(usize::from(a))?.result.is_some());
        let to = if answers {
            let row = self.temporary()?;
            self.found[usize::from(at)] = Found::Own(row);
            let mut to = value(row, node.ty);
            if node.ty.size() > F::SLOT {
                to.high = self.temporary()?;
                self.highs[usize::from(at)] = Found::Own(to.high);
            }
            Some(to)
        } else {
            None
        };
        let effect = Effect { op: node.op, imm: node.imm, ty: node.ty, numbers, values, extra, when, to };
        self.steps.push(Step::Effect(Box::new(effect)));
        Some(())
    }

    /// Performs the writes of a range of nodes.
    pub(super) fn flush(&mut self, nodes: Range<usize>) -> Option<()> {
        let end = nodes.end;
        let shape = self.shape;
        let mut pending: Vec<Result<Pending, (u16, Location)>> = Vec::new();
        for (at, node) in shape.nodes.iter().enumerate().take(end).skip(nodes.start) {
            let [number, element, from, when] = node.args;
            if node.ty.size() > F::SLOT && matches!(node.op, Op::Write | Op::SetState) {
                if node.op == Op::SetState {
                    return None;
                }
                let rows = self.binder.pair_target(number, element, node.ty)?;
                for (which, row) in rows.into_iter().enumerate() {
                    pending.push(Ok(Pending { row, source: Source::Word(from, which), mask: ones(F::SLOT), when }));
                }
                continue;
            }
            let place = match node.op {
                Op::Write => self.binder.target(number, element, node.ty),
                Op::SetState if element == NONE => self.binder.state_target(number),
                Op::SetState => Location::Asked,
                _ => continue,
            };
            let (row, shift) = match place {
                Location::Row(row, shift) => (row, shift),
                Location::Whole(row) => (row, 0),
                Location::Set(_) if node.ty != Type::BOOL => return None,
                Location::Set(_) | Location::Asked => {
                    pending.push(Err((at as u16, place)));
                    continue;
                }
                Location::Number(_) | Location::Nowhere => return None,
            };
            if self.found.get(usize::from(from)) == Some(&Found::Bound(row)) && shift == 0 {
                // The row keeps its value, unless it is written before.
                let before = |p: &Result<Pending, (u16, Location)>| p.as_ref().is_ok_and(|p| p.row == row);
                if !pending.iter().any(before) {
                    continue;
                }
            }
            let whole = node.ty.class == Class::Bool || matches!(place, Location::Whole(_));
            let mask = if whole { ones(F::SLOT) } else { node.ty.mask() << shift };
            let source = match self.taken(from) {
                Some((of, place)) if place == shift && self.row(of).is_some() => Source::Node(of),
                _ if shift == 0 => Source::Node(from),
                _ => Source::Raised(from, shift),
            };
            match pending.last_mut() {
                Some(Ok(last)) if last.row == row && last.when == when && last.source == source => last.mask |= mask,
                _ => pending.push(Ok(Pending { row, source, mask, when })),
            }
        }
        // All values must be computed before any row is written.
        let several = pending.len() > 1;
        for write in &mut pending {
            match write {
                Ok(Pending { source, when, .. }) => {
                    let row = match *source {
                        Source::Node(node) | Source::Raised(node, _) => self.row(node)?,
                        Source::Word(node, which) => self.pair(node)?[which],
                        Source::Row(row) => row,
                    };
                    // An earlier write may be to this row.
                    if several && self.binder.aliases().contains(&row) {
                        let copy = self.emit(rule::of::<word::Copy, K, F>(), &[row], 0)?;
                        *source = match *source {
                            Source::Raised(_, by) => Source::Row(self.emit(rule::raise(), &[copy], by.into())?),
                            _ => Source::Row(copy),
                        };
                    }
                    if *when != NONE {
                        self.row(*when)?;
                    }
                }
                Err((node, _)) => for_each_argument(self.node(*node)?, &shape.lists, |n| {
                    let _ = self.row(n);
                }),
            }
        }
        for write in pending {
            match write {
                Ok(write) => self.write(&write)?,
                Err((node, Location::Set(set))) => self.write_set(node, set)?,
                Err((node, _)) => self.ask_to_write(node)?,
            }
        }
        Some(())
    }

    pub(super) fn write_set(&mut self, at: u16, set: u16) -> Option<()> {
        let [_, _, from, when] = self.node(at)?.args;
        let mut rows = vec![self.row(from)?];
        if when != NONE {
            rows.push(self.row(when)?);
        }
        if !self.whole {
            rows.push(self.binder.active());
        }
        self.micro((Handler::of::<rule::WriteSet>(), rows.len() as u8), &rows, set.into(), NO_ROW);
        Some(())
    }

    pub(super) fn ask_to_write(&mut self, at: u16) -> Option<()> {
        let node = self.node(at)?;
        let [number, element, from, when] = node.args;
        let mut values = vec![self.argument(from)?];
        let mut extra = None;
        let mut numbers = [number, 0];
        if node.op == Op::Write {
            numbers[1] = element;
        } else if element != NONE {
            values.push(self.argument(element)?);
            extra = Some(1);
        }
        let when = if when == NONE { None } else { Some(self.row(when)?) };
        let effect = Effect { op: node.op, imm: node.imm, ty: node.ty, numbers, values, extra, when, to: None };
        self.steps.push(Step::Effect(Box::new(effect)));
        Some(())
    }

    /// Writes a row. Values that are still in it are copied first; copies that are not needed are removed later.
    pub(super) fn write(&mut self, write: &Pending) -> Option<()> {
        let mut kept = None;
        for at in 0..2 * self.found.len() {
            let (high, node) = (at >= self.found.len(), at % self.found.len());
            if *(if high { &self.highs } else { &self.found }).get(node)? == Found::Bound(write.row) {
                let row = match kept {
                    Some(row) => row,
                    None => self.emit(rule::of::<word::Copy, K, F>(), &[write.row], 0)?,
                };
                kept = Some(row);
                (if high { &mut self.highs } else { &mut self.found })[node] = Found::Own(row);
            }
        }
        let from = match write.source {
            Source::Node(node) => self.row(node)?,
            Source::Raised(node, by) => {
                let row = self.row(node)?;
                self.emit(rule::raise(), &[row], by.into())?
            }
            Source::Word(node, which) => self.pair(node)?[which],
            Source::Row(row) => row,
        };
        let mut masks = Vec::new();
        if write.mask != ones(F::SLOT) {
            masks.push(self.binder.constant(write.mask)?);
        }
        if write.when != NONE {
            masks.push(self.row(write.when)?);
        }
        if !self.whole {
            masks.push(self.binder.active());
        }
        match masks.split_first() {
            None => self.micro(rule::of::<word::Copy, K, F>(), &[from], 0, write.row),
            Some((first, rest)) => {
                let mut mask = *first;
                for other in rest {
                    mask = self.emit(rule::of::<word::And, K, F>(), &[mask, *other], 0)?;
                }
                self.micro(rule::of::<word::Select, K, F>(), &[mask, from, write.row], 0, write.row);
            }
        }
        Some(())
    }
}
