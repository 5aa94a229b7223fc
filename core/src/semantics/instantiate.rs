//! Instantiates an operation for the modifiers of a word, which gives the shape that is executed.

use alloc::vec::Vec;
use core::mem;

use super::node::{NONE, Node, Op};
use super::operation::Operation;
use super::primitive::{component, primitive};
use super::table::Semantics;
use super::types::Type;
use crate::bits::ones;

/// An operation without choices: the modifiers of a word are folded in, and unused nodes are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The graph, in the order of evaluation.
    pub nodes: Vec<Node>,
    /// Argument lists of nodes with more arguments than a [`Node`] holds.
    pub lists: Vec<u16>,
    /// The constants.
    pub constants: Vec<u64>,
}

impl Shape {
    /// The value of a node if it is a constant.
    pub fn constant(&self, node: u16) -> Option<u64> {
        let node = self.nodes.get(usize::from(node))?;
        if node.op == Op::Const { self.constants.get(usize::from(node.args[0])).copied() } else { None }
    }

    pub(super) fn push(&mut self, node: Node) -> u16 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u16
    }

    pub(super) fn push_constant(&mut self, ty: Type, value: u64) -> u16 {
        let index = self.constant_index(value & ty.mask());
        let node = Node { op: Op::Const, imm: 0, ty, args: [index, NONE, NONE, NONE] };
        self.find(&node).unwrap_or_else(|| self.push(node))
    }

    /// Finds an equal node. Nodes follow their arguments, so only the nodes after the last argument are compared.
    fn find(&self, node: &Node) -> Option<u16> {
        let mut from = 0;
        for_each_argument(node, &[], |argument| from = from.max(usize::from(argument) + 1));
        let at = self.nodes.get(from..)?.iter().position(|n| n == node)?;
        Some((from + at) as u16)
    }

    /// The index of a number in the list of constants, which it is added to if necessary.
    fn constant_index(&mut self, value: u64) -> u16 {
        let index = self.constants.iter().position(|c| *c == value).unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        index as u16
    }

    fn values<const N: usize>(&self, nodes: [u16; N]) -> Option<[u64; N]> {
        let mut values = [0; N];
        for (value, node) in values.iter_mut().zip(nodes) {
            *value = self.constant(node)?;
        }
        Some(values)
    }

    /// Removes nodes that no effect needs.
    pub(super) fn compact(mut self) -> Shape {
        let mut needed = Set::effects(&self.nodes);
        let (mut kept, mut listed) = (0, 0);
        needed.visit_down(|at, needed| {
            let node = &self.nodes[at];
            kept += 1;
            listed += list_of(node).map_or(0, |list| list.len());
            for_each_argument(node, &self.lists, |argument| needed.insert(argument));
        });
        if kept == self.nodes.len() && listed == self.lists.len() {
            return self;
        }
        let lists = mem::replace(&mut self.lists, Vec::with_capacity(listed));
        let constants = mem::take(&mut self.constants);
        self.constants.reserve_exact(constants.len());
        let mut map = Map::new(self.nodes.len());
        let map = map.numbers();
        let mut end = 0;
        needed.visit_up(|at| {
            let mut node = renumber(&self.nodes[at], &lists, map, &mut self.lists);
            if node.op == Op::Const {
                node.args[0] = self.constant_index(constants[usize::from(node.args[0])]);
            }
            self.nodes[end] = node;
            map[at] = end as u16;
            end += 1;
        });
        self.nodes.truncate(end);
        self
    }
}

/// Graphs of up to this many nodes need no allocation for per-node data.
const INLINE_NODES: usize = 128;

/// A set of nodes of a graph.
struct Set {
    few: [u64; INLINE_NODES / 64],
    many: Vec<u64>,
}

impl Set {
    /// The set of all effects.
    fn effects(nodes: &[Node]) -> Self {
        let mut set = Set { few: [0; _], many: Vec::new() };
        if nodes.len() > INLINE_NODES {
            set.many.resize(nodes.len().div_ceil(64), 0);
        }
        for (words, nodes) in set.words().iter_mut().zip(nodes.chunks(64)) {
            *words = nodes.iter().rev().fold(0, |word, node| word << 1 | u64::from(node.op.is_effect()));
        }
        set
    }

    fn words(&mut self) -> &mut [u64] {
        if self.many.is_empty() { &mut self.few } else { &mut self.many }
    }

    fn insert(&mut self, node: u16) {
        if let Some(word) = self.words().get_mut(usize::from(node) / 64) {
            *word |= 1 << (node % 64);
        }
    }

    /// Calls `with` for every node in the set, in descending order. It may add nodes that precede the current one.
    fn visit_down(&mut self, mut with: impl FnMut(usize, &mut Self)) {
        for word in (0..self.words().len()).rev() {
            let mut before = u64::MAX;
            loop {
                let left = self.words()[word] & before;
                if left == 0 {
                    break;
                }
                let bit = 63 - left.leading_zeros();
                before = ones(bit);
                with(64 * word + bit as usize, self);
            }
        }
    }

    /// Calls `with` for every node in the set, in ascending order, and empties the set.
    fn visit_up(&mut self, mut with: impl FnMut(usize)) {
        for (word, left) in self.words().iter_mut().enumerate() {
            while *left != 0 {
                with(64 * word + left.trailing_zeros() as usize);
                *left &= *left - 1;
            }
        }
    }
}

/// A number for each node of a graph, initially [`NONE`].
struct Map {
    few: [u16; INLINE_NODES],
    many: Vec<u16>,
    len: usize,
}

impl Map {
    fn new(len: usize) -> Self {
        let many = if len > INLINE_NODES { alloc::vec![NONE; len] } else { Vec::new() };
        Map { few: [NONE; INLINE_NODES], many, len }
    }

    fn numbers(&mut self) -> &mut [u16] {
        if self.many.is_empty() { &mut self.few[..self.len] } else { &mut self.many }
    }
}

/// Calls `with` for every argument of a node that is a node.
pub fn for_each_argument(node: &Node, lists: &[u16], mut with: impl FnMut(u16)) {
    let nodes = node.op.node_arguments();
    for k in 0..4 {
        if nodes >> k & 1 != 0 && node.args[k] != NONE {
            with(node.args[k]);
        }
    }
    if let Some(range) = list_of(node) {
        lists.get(range).unwrap_or_default().iter().copied().for_each(with);
    }
}

/// The range of a node's argument list.
fn list_of(node: &Node) -> Option<core::ops::Range<usize>> {
    let (start, count) = match node.op {
        Op::Pack => (node.args[0], node.args[1]),
        Op::Intrinsic => (node.args[1], node.args[2]),
        _ => return None,
    };
    Some(start.into()..usize::from(start) + usize::from(count))
}

/// Renumbers the arguments of a node by `map`.
pub(super) fn renumber(node: &Node, lists: &[u16], map: &[u16], into: &mut Vec<u16>) -> Node {
    let mut moved = *node;
    let nodes = node.op.node_arguments();
    for k in 0..4 {
        if nodes >> k & 1 != 0 && node.args[k] != NONE {
            moved.args[k] = map.get(usize::from(node.args[k])).copied().unwrap_or(NONE);
        }
    }
    if let Some(range) = list_of(node) {
        let start = into.len() as u16;
        let arguments = lists.get(range).unwrap_or_default();
        into.extend(arguments.iter().map(|n| map.get(usize::from(*n)).copied().unwrap_or(NONE)));
        moved.args[if node.op == Op::Pack { 0 } else { 1 }] = start;
    }
    moved
}

/// Builds the shape of an operation for a word. `modifier` gives the bits of each of [`Operation::modifiers`], by
/// index.
///
/// Arms that are not chosen are removed, as are effects whose condition is false.
///
/// # Examples
///
/// ```
/// use isaforge_core::semantics::instantiate;
/// use isaforge_vpu::{ISA, Opcode, decode, semantics::SEMANTICS};
///
/// let word = 0x2a00004000800000;
/// let (opcode, form) = (decode(word)?.opcode(), decode(word)?.info());
/// let operation = &SEMANTICS.operations[opcode as usize];
/// let shape = instantiate(SEMANTICS, operation, |index| operation.modifiers[usize::from(index)].bits(ISA, form, word));
/// // The arms for other modifiers are removed.
/// assert!(shape.nodes.len() <= operation.nodes.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn instantiate(semantics: &Semantics, operation: &Operation, modifier: impl Fn(u16) -> u64) -> Shape {
    // Several picks depend on the same modifier, and extracting its bits is slow, so cache them.
    let mut bits = [0; MODIFIERS];
    let count = operation.modifiers.len();
    for (index, bits) in bits.iter_mut().enumerate().take(count) {
        *bits = modifier(index as u16);
    }
    if count <= MODIFIERS {
        with_modifiers(semantics, operation, |index| bits.get(usize::from(index)).copied().unwrap_or(0))
    } else {
        with_modifiers(semantics, operation, modifier)
    }
}

/// Nearly all operations have at most this many modifiers.
const MODIFIERS: usize = 16;

fn with_modifiers(semantics: &Semantics, operation: &Operation, modifier: impl Fn(u16) -> u64) -> Shape {
    let mut map = Map::new(operation.nodes.len());
    let map = map.numbers();
    // Find what effects need for the chosen modifiers first: most of an operation is arms that are not chosen.
    let mut needed = Set::effects(operation.nodes);
    let mut count = 0;
    needed.visit_down(|at, needed| {
        let node = &operation.nodes[at];
        count += 1;
        match arm(operation, node, &modifier) {
            Some(arm) => needed.insert(arm),
            // A reserved value, which no valid word has.
            None if node.op == Op::Pick => {}
            None => for_each_argument(node, operation.lists, |argument| needed.insert(argument)),
        }
    });
    let mut shape = Shape {
        nodes: Vec::with_capacity(count),
        lists: Vec::with_capacity(operation.lists.len().min(count)),
        constants: Vec::with_capacity(operation.constants.len().min(count)),
    };
    needed.visit_up(|at| {
        let node = &operation.nodes[at];
        map[at] = match chosen(&mut shape, operation, node, map, &modifier) {
            Some(id) => id,
            None => {
                let moved = renumber(node, operation.lists, map, &mut shape.lists);
                fold(semantics, &mut shape, moved)
            }
        };
    });
    shape.compact()
}

/// The node that a pick, or a selection by a modifier alone, evaluates to. `None` for other nodes, and for reserved
/// values of a pick.
fn arm(operation: &Operation, node: &Node, modifier: impl Fn(u16) -> u64) -> Option<u16> {
    match node.op {
        Op::Pick => {
            let bits = modifier(node.args[0]);
            let mut arms = list(operation, node.args[1], node.args[2]).chunks_exact(2);
            arms.find(|arm| u64::from(arm[0]) == bits).map(|arm| arm[1])
        }
        Op::Select => {
            let condition = operation.nodes.get(usize::from(node.args[0])).filter(|node| node.op == Op::Is)?;
            Some(node.args[if holds(operation, condition, modifier) { 1 } else { 2 }])
        }
        _ => None,
    }
}

/// Whether the modifier of an [`Op::Is`] has one of its values.
fn holds(operation: &Operation, node: &Node, modifier: impl Fn(u16) -> u64) -> bool {
    let bits = modifier(node.args[0]);
    list(operation, node.args[1], node.args[2]).iter().any(|value| u64::from(*value) == bits)
}

fn list(operation: &Operation, from: u16, count: u16) -> &'static [u16] {
    operation.lists.get(usize::from(from)..usize::from(from) + usize::from(count)).unwrap_or_default()
}

/// The node for a constant, or for a node that depends on a modifier. `None` for other nodes.
pub(super) fn chosen(
    shape: &mut Shape,
    operation: &Operation,
    node: &Node,
    map: &[u16],
    modifier: impl Fn(u16) -> u64,
) -> Option<u16> {
    Some(match node.op {
        Op::Const => {
            let value = operation.constants.get(usize::from(node.args[0])).copied().unwrap_or(0);
            shape.push_constant(node.ty, value)
        }
        Op::Pick => match arm(operation, node, &modifier).and_then(|arm| map.get(usize::from(arm)).copied()) {
            Some(id) => id,
            None => shape.push_constant(node.ty, 0),
        },
        Op::Select => *map.get(usize::from(arm(operation, node, modifier)?))?,
        Op::Is => shape.push_constant(Type::BOOL, holds(operation, node, modifier).into()),
        Op::Modifier => shape.push_constant(node.ty, modifier(node.args[0])),
        _ => return None,
    })
}

/// Adds a node, or returns the node that it folds to.
pub(super) fn fold(semantics: &Semantics, shape: &mut Shape, mut node: Node) -> u16 {
    if let Some(k) = node.op.condition() {
        match shape.constant(node.args[k]) {
            // The result of an effect that never happens is unobservable.
            Some(0) => return shape.push_constant(node.ty, 0),
            Some(_) => node.args[k] = NONE,
            None => {}
        }
        return shape.push(node);
    }
    let [a, b, c, _] = node.args;
    match node.op {
        Op::Select => {
            if let Some(condition) = shape.constant(a)
                && shape.nodes[usize::from(a)].ty.lanes == 1
            {
                return if condition != 0 { b } else { c };
            }
            if b == c {
                return b;
            }
        }
        Op::And | Op::Or if node.ty == Type::BOOL => {
            // `x and true` is x, `x and false` is false; `or` is the dual.
            let absorbs = u64::from(node.op == Op::Or);
            for (one, other) in [(a, b), (b, a)] {
                match shape.constant(one) {
                    Some(value) if value == absorbs => return one,
                    Some(_) => return other,
                    None => {}
                }
            }
        }
        _ => {}
    }
    match constant(semantics, shape, &node) {
        Some(value) => shape.push_constant(node.ty, value),
        None => {
            let merges = (node.op.is_pure() || node.op == Op::Operand) && node.op != Op::Pack;
            let known = if merges { shape.find(&node) } else { None };
            known.unwrap_or_else(|| shape.push(node))
        }
    }
}

/// The value of a pure node whose arguments are all constants.
fn constant(semantics: &Semantics, shape: &Shape, node: &Node) -> Option<u64> {
    if !node.op.is_pure() {
        return None;
    }
    if node.op == Op::Pack {
        let list = shape.lists.get(list_of(node)?)?;
        let mut value = 0;
        for (i, part) in list.iter().enumerate() {
            value |= shape.constant(*part)? << (usize::from(node.ty.bits) * i).min(63);
        }
        return Some(value);
    }
    let mut types = [Type::BOOL; 4];
    let mut args = [0; 4];
    for k in 0..4 {
        if node.op.node_arguments() >> k & 1 != 0 {
            [args[k]] = shape.values([node.args[k]])?;
            types[k] = shape.nodes[usize::from(node.args[k])].ty;
        }
    }
    Some(match node.op {
        Op::Canonical => canonical(semantics, node.ty, args[0]),
        _ => primitive(node.op, node.imm, node.ty, types, args),
    })
}

/// Replaces any NaN in the value with the canonical NaN of the instruction set.
pub fn canonical(semantics: &Semantics, ty: Type, value: u64) -> u64 {
    let Some(nan) = semantics.nan(ty.bits) else { return value };
    let format = ty.format();
    let mut result = 0;
    for i in 0..u32::from(ty.lanes) {
        let part = component(value, ty, i);
        let part = if format.is_nan(part) { nan & ones(ty.bits.into()) } else { part };
        result |= part << (u32::from(ty.bits) * i).min(63);
    }
    result
}
