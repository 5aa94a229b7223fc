//! What instructions do: graphs of operations, compared by the names that they refer to.
//!
//! A text may be worded differently and mean the same, and a text may stay as it is while a definition that it uses
//! changes. So graphs are compared, in which such definitions are resolved. Operands, modifiers and their values,
//! states, address spaces, faults and intrinsics are compared by name, so that it does not matter where they are
//! encoded. What is only renamed in the encoding keeps its old name here. A value of a modifier that only one revision
//! has is left out: no instruction of the other one is affected by it.

use std::collections::HashSet;

use isaforge_core::semantics::{Node, Op, Operation, Semantics, Type, instantiate, show};
use isaforge_core::table::Enum;

use super::change::{Change, How, Subject, change};
use super::encoded::Encoded;

/// A graph in one revision.
pub(super) struct Meaning<'a> {
    pub semantics: &'static Semantics,
    pub operation: &'static Operation,
    pub encoded: Encoded,
    pub renamed: &'a Renamed,
}

/// The names to use for what the old revision names differently.
#[derive(Default)]
pub(super) struct Renamed {
    /// The old and the new name of a member.
    pub members: Vec<(String, String)>,
    /// The old name of a modifier, the old and the new name of one of its values.
    pub values: Vec<(String, &'static str, &'static str)>,
}

impl Renamed {
    pub(super) fn member(&self, name: &str) -> String {
        let find = |name: &str| self.members.iter().find(|(_, new)| new == name).map(|(old, _)| old.clone());
        let within = || name.split_once('.').and_then(|(operand, part)| Some(format!("{}.{part}", find(operand)?)));
        find(name).or_else(within).unwrap_or_else(|| name.to_owned())
    }

    fn value(&self, member: &str, value: &'static str) -> &'static str {
        let found = self.values.iter().find(|(of, _, new)| of == member && *new == value);
        found.map_or(value, |(_, old, _)| old)
    }
}

/// What changed in the operation of an instruction; a revision may not define it.
pub(super) fn changed(old: Option<Meaning<'_>>, new: Option<Meaning<'_>>) -> Option<Change> {
    let quoted = |meaning: &Meaning<'_>| match meaning.operation.text {
        "" => code(&meaning.shown(&[])),
        text => code(text),
    };
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(change(Subject::Operation, How::Added, "", "", quoted(&new))),
        (Some(old), None) => Some(change(Subject::Operation, How::Removed, "", quoted(&old), "")),
        (Some(old), Some(new)) if old.terms(&new) == new.terms(&old) => None,
        (Some(old), Some(new)) if old.operation.text != new.operation.text => {
            Some(change(Subject::Operation, How::Changed, "", quoted(&old), quoted(&new)))
        }
        (Some(old), Some(new)) => Some(resolved(&old, &new)),
    }
}

/// The change of an operation whose text is the same: what it does in the first case that differs.
fn resolved(old: &Meaning<'_>, new: &Meaning<'_>) -> Change {
    // All modifiers have their least values, then one of them has another value.
    let (base, cases) = (old.base(new), old.cases(new));
    let found = std::iter::once(None).chain(cases.iter().map(Some)).find_map(|case| {
        let other = |set: &&Case| case.is_none_or(|(modifier, _)| set.0 != *modifier);
        let set: Vec<Case> = base.iter().filter(other).chain(case).cloned().collect();
        let (was, is) = (old.shown(&set), new.shown(&set));
        (was != is).then_some((case, was, is))
    });
    match found {
        Some((case, was, is)) => {
            let name = case.map_or_else(String::new, |(modifier, value)| format!("{modifier} = {value}"));
            change(Subject::Operation, How::Changed, &name, code(&was), code(&is))
        }
        None => change(Subject::Operation, How::Changed, "", "", "by a definition that it uses"),
    }
}

/// A text on one line, as code.
pub(super) fn code(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("`{}`", words.join(" "))
}

/// The names of a modifier and of one of its values.
type Case = (String, String);

/// A node of a graph, with names.
#[derive(PartialEq, Eq)]
struct Term {
    op: Op,
    ty: Type,
    /// What it refers to besides nodes.
    names: Vec<String>,
    /// Indices of nodes.
    arguments: Vec<u16>,
}

impl Meaning<'_> {
    fn operand(&self, index: u16) -> String {
        self.renamed.member(self.encoded.operand(index))
    }

    /// The name of a modifier, and the names of its values.
    fn named(&self, index: u16) -> (String, Option<&'static Enum>) {
        let modifier = self.operation.modifiers.get(usize::from(index)).copied();
        let (name, names) = modifier.and_then(|modifier| self.encoded.modifier(modifier)).unwrap_or_default();
        (self.renamed.member(&name), names)
    }

    /// Whether another revision has a value of a modifier, too.
    fn common(&self, other: &Meaning<'_>, index: u16, bits: u64) -> bool {
        let (name, Some(names)) = self.named(index) else { return true };
        let mut all = (0..other.operation.modifiers.len() as u16).map(|theirs| (theirs, other.named(theirs)));
        let Some((theirs, (_, Some(others)))) = all.find(|(_, (known, _))| *known == name) else { return true };
        match names.value(bits) {
            Some(value) => {
                let value = self.renamed.value(&name, value.name);
                let known = others.values.iter().any(|theirs| other.renamed.value(&name, theirs.name) == value);
                known || other.encoded.takes_numbers(other.operation.modifiers[usize::from(theirs)])
            }
            None => {
                others.value(bits).is_none() || self.encoded.takes_numbers(self.operation.modifiers[usize::from(index)])
            }
        }
    }

    /// Returns the names of a modifier and of one of its values.
    fn modifier(&self, index: u16, bits: u64) -> Case {
        let (name, names) = self.named(index);
        let value = names.and_then(|names| names.value(bits)).map(|value| self.renamed.value(&name, value.name));
        (name, value.map_or_else(|| bits.to_string(), str::to_owned))
    }

    fn list(&self, from: u16, count: usize) -> impl Iterator<Item = u16> {
        self.operation.lists.iter().copied().skip(from.into()).take(count)
    }

    /// The graph for values of modifiers that another revision has, too, in the order in which effects need its nodes.
    fn terms(&self, other: &Meaning<'_>) -> Vec<Term> {
        let (mut places, mut terms) = (vec![None; self.operation.nodes.len()], Vec::new());
        for (node, at) in self.operation.nodes.iter().zip(0..).filter(|(node, _)| node.op.is_effect()) {
            if node.op.condition().is_none_or(|condition| !self.never(other, node.args[condition])) {
                self.add(other, at, &mut places, &mut terms);
            }
        }
        terms
    }

    /// Adds a node with all that it depends on, and notes the places of these nodes among the terms.
    fn add(&self, other: &Meaning<'_>, at: u16, places: &mut [Option<u16>], terms: &mut Vec<Term>) {
        let mut open = vec![at];
        while let Some(&at) = open.last() {
            let node = &self.operation.nodes[usize::from(at)];
            // Nodes follow their arguments.
            let place = |argument: u16| places.get(usize::from(argument)).filter(|_| argument < at).copied();
            let waits = |argument: &u16| place(*argument) == Some(None);
            if places[usize::from(at)].is_some() {
                open.pop();
                continue;
            }
            if node.op == Op::Select && self.never(other, node.args[0]) {
                let [_, _, or, _] = node.args;
                match place(or) {
                    Some(None) => open.push(or),
                    found => {
                        places[usize::from(at)] = found.flatten().or(Some(or));
                        open.pop();
                    }
                }
                continue;
            }
            let mut term = self.term(node, other);
            let before = open.len();
            open.extend(term.arguments.iter().rev().copied().filter(waits));
            if open.len() == before {
                term.arguments
                    .iter_mut()
                    .for_each(|argument| *argument = place(*argument).flatten().unwrap_or(*argument));
                terms.push(term);
                places[usize::from(at)] = Some((terms.len() - 1) as u16);
                open.pop();
            }
        }
    }

    /// Whether a condition only holds for values of modifiers that another revision lacks.
    fn never(&self, other: &Meaning<'_>, at: u16) -> bool {
        // All parts of a conjunction, which may be nested.
        let (mut parts, mut seen) = (vec![at], HashSet::new());
        while let Some(at) = parts.pop() {
            let Some(node) = self.operation.nodes.get(usize::from(at)).filter(|_| seen.insert(at)) else { continue };
            let [a, b, c, _] = node.args;
            match node.op {
                Op::Is if self.list(b, c.into()).all(|bits| !self.common(other, a, bits.into())) => return true,
                Op::And => parts.extend([a, b]),
                _ => {}
            }
        }
        false
    }

    fn term(&self, node: &Node, other: &Meaning<'_>) -> Term {
        let [a, b, c, _] = node.args;
        let semantics = self.semantics;
        let named = |name: Option<&&'static str>| name.copied().unwrap_or_default().to_owned();
        let value = |bits: u16| self.modifier(a, bits.into()).1;
        let number = |number: u16| number.to_string();
        let kept = (0..4).filter(|i| node.op.node_arguments() >> i & 1 != 0).map(|i| node.args[i]);
        let mut arguments: Vec<u16> = kept.collect();
        let names = match node.op {
            Op::Const => self.operation.constants.get(usize::from(a)).map(u64::to_string).into_iter().collect(),
            Op::Operand | Op::Write => vec![self.operand(a), number(b)],
            Op::State | Op::SetState => {
                vec![semantics.states.get(usize::from(a)).map_or_else(String::new, |state| state.name.to_owned())]
            }
            Op::Pick => {
                let pairs: Vec<u16> = self.list(b, c.into()).collect();
                let (pairs, _) = pairs.as_chunks();
                let common = pairs.iter().filter(|[bits, _]| self.common(other, a, (*bits).into()));
                // The values have no order.
                let mut pairs: Vec<(String, u16)> = common.map(|[bits, node]| (value(*bits), *node)).collect();
                pairs.sort_unstable();
                let (mut names, nodes): (Vec<String>, Vec<u16>) = pairs.into_iter().unzip();
                arguments.extend(nodes);
                names.push(self.modifier(a, 0).0);
                names
            }
            Op::Is => {
                let common = self.list(b, c.into()).filter(|bits| self.common(other, a, (*bits).into()));
                let mut names: Vec<String> = common.map(value).collect();
                names.sort_unstable();
                names.push(self.modifier(a, 0).0);
                names
            }
            Op::Modifier => vec![self.modifier(a, 0).0],
            Op::Pack => {
                arguments.extend(self.list(a, b.into()));
                Vec::new()
            }
            Op::Load | Op::Store | Op::Atomic => {
                vec![named(semantics.spaces.get(usize::from(node.imm & 0xff))), number(node.imm >> 8)]
            }
            Op::Slot => vec![self.encoded.kind(node.imm).to_owned()],
            Op::Fault => vec![named(semantics.faults.get(usize::from(node.imm)))],
            Op::Intrinsic => {
                arguments.extend(self.list(b, c.into()));
                let found = semantics.intrinsics.get(usize::from(a));
                found.map(|intrinsic| format!("{} {:?}", intrinsic.name, intrinsic.effects)).into_iter().collect()
            }
            Op::Canonical => semantics.nan(node.ty.bits).map(|nan| nan.to_string()).into_iter().collect(),
            _ => vec![number(node.imm)],
        };
        Term { op: node.op, ty: node.ty, names, arguments }
    }

    /// All modifiers with their least values that another revision has, too.
    fn base(&self, other: &Meaning<'_>) -> Vec<Case> {
        let least = |index: u16| {
            let is_named = |bits: &u64| self.named(index).1.is_none_or(|names| names.value(*bits).is_some());
            let mut values = (0..=u8::MAX).map(u64::from).filter(is_named);
            self.modifier(index, values.find(|bits| self.common(other, index, *bits)).unwrap_or(0))
        };
        (0..self.operation.modifiers.len() as u16).map(least).collect()
    }

    /// The names of modifiers and of their values that the operation distinguishes and another revision has, too.
    fn cases(&self, other: &Meaning<'_>) -> Vec<Case> {
        let mut cases = Vec::new();
        for node in self.operation.nodes {
            let [modifier, from, count, _] = node.args;
            let (step, count) = match node.op {
                Op::Pick => (2, count.into()),
                Op::Is => (1, count.into()),
                _ => continue,
            };
            for bits in self.list(from, count).step_by(step).filter(|bits| self.common(other, modifier, (*bits).into()))
            {
                let case = self.modifier(modifier, bits.into());
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// The operation as text, with modifiers set to values of these names, and all others 0.
    pub(super) fn shown(&self, set: &[Case]) -> String {
        let bits = |index: u16| {
            let name = self.named(index).0;
            let Some(wanted) = set.iter().find(|(modifier, _)| *modifier == name) else { return 0 };
            let values = 0..=u8::MAX;
            values.into_iter().map(u64::from).find(|bits| self.modifier(index, *bits) == *wanted).unwrap_or(0)
        };
        let shape = instantiate(self.semantics, self.operation, bits);
        show(self.semantics, &shape, |operand| self.encoded.operand(operand)).replace('\n', "; ")
    }
}
