//! What instructions do: graphs of operations, compared by the names that they refer to.
//!
//! A text may be worded differently and mean the same, and a text may stay as it is while a definition that it uses
//! changes. So graphs are compared, in which such definitions are resolved. Operands, modifiers and their values,
//! states, address spaces, faults and intrinsics are compared by name, so that it does not matter where they are
//! encoded. What is only renamed in the encoding keeps its old name here.

use isaforge_core::semantics::{Node, Op, Operation, Semantics, Type, instantiate, show};

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
        "" => code(&meaning.shown(None)),
        text => code(text),
    };
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(change(Subject::Operation, How::Added, "", "", quoted(&new))),
        (Some(old), None) => Some(change(Subject::Operation, How::Removed, "", quoted(&old), "")),
        (Some(old), Some(new)) if old.terms() == new.terms() => None,
        (Some(old), Some(new)) if old.operation.text != new.operation.text => {
            Some(change(Subject::Operation, How::Changed, "", quoted(&old), quoted(&new)))
        }
        (Some(old), Some(new)) => Some(resolved(&old, &new)),
    }
}

/// The change of an operation whose text is the same: what it does in the first case that differs.
fn resolved(old: &Meaning<'_>, new: &Meaning<'_>) -> Change {
    let mut cases = vec![None];
    cases.extend(old.cases().into_iter().map(Some));
    let shapes = |case: &Option<(String, String)>| (old.shown(case.as_ref()), new.shown(case.as_ref()));
    let found = cases.iter().find_map(|case| {
        let (was, is) = shapes(case);
        (was != is).then_some((case, was, is))
    });
    match found {
        Some((None, was, is)) => change(Subject::Operation, How::Changed, "", code(&was), code(&is)),
        Some((Some((modifier, value)), was, is)) => {
            change(Subject::Operation, How::Changed, &format!("{modifier} = {value}"), code(&was), code(&is))
        }
        None => change(Subject::Operation, How::Changed, "", "", "by a definition that it uses"),
    }
}

/// A text on one line, as code.
pub(super) fn code(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("`{}`", words.join(" "))
}

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

    /// Returns the names of a modifier and of one of its values.
    fn modifier(&self, index: u16, bits: u64) -> (String, String) {
        let modifier = self.operation.modifiers.get(usize::from(index)).copied();
        let found = modifier.and_then(|modifier| self.encoded.modifier(modifier));
        let (name, names) = found.unwrap_or_default();
        let name = self.renamed.member(&name);
        let value = names.and_then(|names| names.value(bits)).map(|value| self.renamed.value(&name, value.name));
        (name, value.map_or_else(|| bits.to_string(), str::to_owned))
    }

    fn list(&self, from: u16, count: usize) -> impl Iterator<Item = u16> {
        self.operation.lists.iter().copied().skip(from.into()).take(count)
    }

    fn terms(&self) -> Vec<Term> {
        self.operation.nodes.iter().map(|node| self.term(node)).collect()
    }

    fn term(&self, node: &Node) -> Term {
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
                let pairs: Vec<u16> = self.list(b, 2 * usize::from(c)).collect();
                let (pairs, _) = pairs.as_chunks();
                // The values have no order.
                let mut pairs: Vec<(String, u16)> = pairs.iter().map(|[bits, node]| (value(*bits), *node)).collect();
                pairs.sort_unstable();
                let (mut names, nodes): (Vec<String>, Vec<u16>) = pairs.into_iter().unzip();
                arguments.extend(nodes);
                names.push(self.modifier(a, 0).0);
                names
            }
            Op::Is => {
                let mut names: Vec<String> = self.list(b, c.into()).map(value).collect();
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

    /// The names of modifiers and of their values that the operation distinguishes.
    fn cases(&self) -> Vec<(String, String)> {
        let mut cases = Vec::new();
        for node in self.operation.nodes {
            let [modifier, from, count, _] = node.args;
            let (step, count) = match node.op {
                Op::Pick => (2, 2 * usize::from(count)),
                Op::Is => (1, count.into()),
                _ => continue,
            };
            for bits in self.list(from, count).step_by(step) {
                let case = self.modifier(modifier, bits.into());
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// The operation as text, with a modifier of this name set to the value of this name, and all others 0.
    pub(super) fn shown(&self, case: Option<&(String, String)>) -> String {
        let bits = |index: u16| {
            let Some(wanted) = case else { return 0 };
            let values = 0..=u8::MAX;
            values.into_iter().map(u64::from).find(|bits| self.modifier(index, *bits) == *wanted).unwrap_or(0)
        };
        let shape = instantiate(self.semantics, self.operation, bits);
        show(self.semantics, &shape, |operand| self.encoded.operand(operand)).replace('\n', "; ")
    }
}
