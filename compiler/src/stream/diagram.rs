//! Binary decision diagrams: Boolean functions in canonical form, so that equal functions are the same node.

use std::collections::{HashMap, HashSet};

/// A function of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(u32);

impl Node {
    /// The function that is always false.
    pub(super) const FALSE: Node = Node(0);
    /// The function that is always true.
    pub(super) const TRUE: Node = Node(1);
}

/// The number of nodes at which [`Diagrams::is_full`] holds.
const MAX_NODES: usize = 1 << 17;
/// The number of steps at which it holds.
const MAX_STEPS: usize = 1 << 19;
/// The level of a constant, which comes after all bits.
const NO_BIT: u16 = u16::MAX;
/// The first bit that represents something unknown.
const UNKNOWN: u16 = 1 << 15;

/// All functions created so far. Each tests its bits in ascending order.
pub(super) struct Diagrams {
    /// A bit, with the functions for its values 0 and 1.
    nodes: Vec<(u16, Node, Node)>,
    unique: HashMap<(u16, Node, Node), Node>,
    chosen: HashMap<(Node, Node, Node), Node>,
    /// How many unknown bits there are.
    unknown: u16,
}

impl Diagrams {
    pub(super) fn new() -> Self {
        let constant = |node| (NO_BIT, node, node);
        Diagrams {
            nodes: vec![constant(Node::FALSE), constant(Node::TRUE)],
            unique: HashMap::new(),
            chosen: HashMap::new(),
            unknown: 0,
        }
    }

    /// Whether the limit on nodes or steps was reached; functions created since then are wrong.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES || self.chosen.len() >= MAX_STEPS || self.unknown >= UNKNOWN - 1
    }

    /// How many steps were taken.
    pub(super) fn steps(&self) -> usize {
        self.chosen.len()
    }

    /// The function of a single bit.
    pub(super) fn bit(&mut self, bit: u16) -> Node {
        self.node(bit, Node::FALSE, Node::TRUE)
    }

    /// A function about which nothing is known. Results that do not depend on it hold whatever it is.
    pub(super) fn unknown(&mut self) -> Node {
        let bit = UNKNOWN + self.unknown;
        self.unknown += u16::from(!self.is_full());
        self.bit(bit)
    }

    /// Whether a function depends on something unknown.
    pub(super) fn is_unknown(&self, node: Node) -> bool {
        self.support(node).last().is_some_and(|bit| *bit >= UNKNOWN)
    }

    /// The bits that are 1 in some case where a function holds, whatever the unknown bits are.
    pub(super) fn witness(&self, node: Node) -> Option<Vec<u16>> {
        let (mut seen, mut open) = (HashSet::new(), vec![(node, Vec::new())]);
        while let Some((node, ones)) = open.pop() {
            let (bit, zero, one) = self.parts(node);
            if node == Node::TRUE {
                return Some(ones);
            }
            if bit < UNKNOWN && seen.insert(node) {
                let with = ones.iter().copied().chain([bit]).collect();
                open.extend([(one, with), (zero, ones)]);
            }
        }
        None
    }

    fn node(&mut self, bit: u16, zero: Node, one: Node) -> Node {
        if zero == one || self.is_full() {
            return zero;
        }
        let nodes = &mut self.nodes;
        *self.unique.entry((bit, zero, one)).or_insert_with(|| {
            nodes.push((bit, zero, one));
            Node(nodes.len() as u32 - 1)
        })
    }

    fn parts(&self, node: Node) -> (u16, Node, Node) {
        self.nodes[node.0 as usize]
    }

    /// A function restricted to a value of a bit, which must not come after its first bit.
    fn half(&self, node: Node, bit: u16, value: bool) -> Node {
        match self.parts(node) {
            (own, zero, one) if own == bit => [zero, one][usize::from(value)],
            _ => node,
        }
    }

    /// `one` where `condition` holds, `zero` elsewhere.
    pub(super) fn choose(&mut self, condition: Node, one: Node, zero: Node) -> Node {
        match (condition, one, zero) {
            (Node::TRUE, ..) => return one,
            (Node::FALSE, ..) => return zero,
            (_, Node::TRUE, Node::FALSE) => return condition,
            _ if one == zero || self.is_full() => return zero,
            _ => {}
        }
        if let Some(known) = self.chosen.get(&(condition, one, zero)) {
            return *known;
        }
        let bit = [condition, one, zero].map(|node| self.parts(node).0).into_iter().min().unwrap_or(NO_BIT);
        let [low, high] = [false, true].map(|value| {
            let [condition, one, zero] = [condition, one, zero].map(|node| self.half(node, bit, value));
            self.choose(condition, one, zero)
        });
        let node = self.node(bit, low, high);
        self.chosen.insert((condition, one, zero), node);
        node
    }

    pub(super) fn and(&mut self, a: Node, b: Node) -> Node {
        self.choose(a, b, Node::FALSE)
    }

    /// The function that holds where `a` holds and `b` does not.
    pub(super) fn without(&mut self, a: Node, b: Node) -> Node {
        self.choose(b, Node::FALSE, a)
    }

    /// The function that holds where another has a given value.
    pub(super) fn is(&mut self, node: Node, value: bool) -> Node {
        if value { node } else { self.choose(node, Node::FALSE, Node::TRUE) }
    }

    /// The function that holds where two others differ.
    pub(super) fn differ(&mut self, a: Node, b: Node) -> Node {
        let opposite = self.is(b, false);
        self.choose(a, opposite, b)
    }

    /// The bits that a function depends on, in ascending order.
    pub(super) fn support(&self, node: Node) -> Vec<u16> {
        let (mut seen, mut bits, mut open) = (HashSet::new(), Vec::new(), vec![node]);
        while let Some(node) = open.pop() {
            let (bit, zero, one) = self.parts(node);
            if bit != NO_BIT && seen.insert(node) {
                bits.push(bit);
                open.extend([zero, one]);
            }
        }
        bits.sort_unstable();
        bits.dedup();
        bits
    }

    /// A function restricted to a value of a bit.
    fn given(&mut self, node: Node, bit: u16, value: bool) -> Node {
        self.given_among(node, bit, value, &mut HashMap::new())
    }

    fn given_among(&mut self, node: Node, bit: u16, value: bool, known: &mut HashMap<Node, Node>) -> Node {
        let (own, zero, one) = self.parts(node);
        if own >= bit {
            return self.half(node, bit, value);
        }
        if let Some(known) = known.get(&node) {
            return *known;
        }
        let [zero, one] = [zero, one].map(|half| self.given_among(half, bit, value, known));
        let left = self.node(own, zero, one);
        known.insert(node, left);
        left
    }

    /// The bits that have the same value wherever a function holds, and the remaining condition.
    pub(super) fn constants(&mut self, node: Node) -> (Vec<(u16, bool)>, Node) {
        let (mut constants, mut rest) = (Vec::new(), node);
        for bit in self.support(node) {
            for value in [false, true] {
                if self.given(rest, bit, !value) == Node::FALSE {
                    constants.push((bit, value));
                    rest = self.given(rest, bit, value);
                    break;
                }
            }
        }
        (constants, rest)
    }

    /// The function that remains after the `width` bits from `from` are set to `value`.
    pub(super) fn follow(&self, node: Node, from: u16, width: u16, value: u64) -> Node {
        let mut at = node;
        loop {
            match self.parts(at) {
                (bit, zero, one) if (from..from + width).contains(&bit) => {
                    at = if value >> (bit - from) & 1 != 0 { one } else { zero };
                }
                _ => return at,
            }
        }
    }

    /// Whether a function holds for an assignment of its bits.
    pub(super) fn holds(&self, node: Node, is_set: impl Fn(u16) -> bool) -> bool {
        let mut at = node;
        loop {
            match self.parts(at) {
                (NO_BIT, ..) => return at == Node::TRUE,
                (bit, zero, one) => at = if is_set(bit) { one } else { zero },
            }
        }
    }
}
