//! From an operation and the modifiers of a word to the shape that is executed.

use alloc::vec::Vec;

use super::primitive::{component, primitive};
use super::{NONE, Node, Op, Operation, Semantics, Type};
use crate::bits::ones;

/// An operation without choices: the modifiers of a word are folded into it, and what nobody needs is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The graph, in the order of evaluation.
    pub nodes: Vec<Node>,
    /// Arguments of nodes that have more of them than fit.
    pub lists: Vec<u16>,
    /// The constants.
    pub constants: Vec<u64>,
}

impl Shape {
    /// The value of a node that is a constant.
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
        match self.nodes.iter().position(|n| *n == node) {
            Some(at) => at as u16,
            None => self.push(node),
        }
    }

    /// The place of a number among the constants.
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

    /// Drops nodes that no effect needs.
    pub(super) fn compact(self) -> Shape {
        let mut map: Vec<u16> = self.nodes.iter().map(|node| if node.op.is_effect() { 0 } else { NONE }).collect();
        let (mut kept, mut listed) = (0, 0);
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if map[at] == NONE {
                continue;
            }
            kept += 1;
            listed += list_of(node).map_or(0, |list| list.len());
            for_each_argument(node, &self.lists, |argument| {
                if let Some(need) = map.get_mut(usize::from(argument)) {
                    *need = 0;
                }
            });
        }
        if kept == self.nodes.len() && listed == self.lists.len() {
            return self;
        }
        let mut shape = Shape {
            nodes: Vec::with_capacity(kept),
            lists: Vec::with_capacity(listed),
            constants: Vec::with_capacity(self.constants.len()),
        };
        for (at, node) in self.nodes.iter().enumerate() {
            if map[at] == NONE {
                continue;
            }
            map[at] = match node.op {
                Op::Const => {
                    let index = shape.constant_index(self.constants[usize::from(node.args[0])]);
                    shape.push(Node { args: [index, NONE, NONE, NONE], ..*node })
                }
                _ => {
                    let moved = renumber(node, &self.lists, &map, &mut shape.lists);
                    shape.push(moved)
                }
            };
        }
        shape
    }
}

/// Calls `with` for every node that a node has as an argument.
pub fn for_each_argument(node: &Node, lists: &[u16], mut with: impl FnMut(u16)) {
    for k in 0..4 {
        if node.op.node_arguments() >> k & 1 != 0 && node.args[k] != NONE {
            with(node.args[k]);
        }
    }
    if let Some(range) = list_of(node) {
        lists.get(range).unwrap_or_default().iter().copied().for_each(with);
    }
}

/// Where the list of a node's arguments lies.
fn list_of(node: &Node) -> Option<core::ops::Range<usize>> {
    let (start, count) = match node.op {
        Op::Pack => (node.args[0], node.args[1]),
        Op::Intrinsic => (node.args[1], node.args[2]),
        _ => return None,
    };
    Some(start.into()..usize::from(start) + usize::from(count))
}

/// The node with its arguments replaced by what `map` has for them.
pub(super) fn renumber(node: &Node, lists: &[u16], map: &[u16], into: &mut Vec<u16>) -> Node {
    let mut moved = *node;
    for k in 0..4 {
        if node.op.node_arguments() >> k & 1 != 0 && node.args[k] != NONE {
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

/// The shape of an operation for a word. `modifier` gives the bits of [`Operation::modifiers`], by index.
///
/// Arms that are not chosen leave nothing behind, nor do effects whose condition turns out false.
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
/// // What other modifiers would choose is gone.
/// assert!(shape.nodes.len() <= operation.nodes.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn instantiate(semantics: &Semantics, operation: &Operation, modifier: impl Fn(u16) -> u64) -> Shape {
    // Arms are chosen more than once by the same modifier, whose bits take a while to be found.
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

/// As many modifiers as nearly all operations have at most.
const MODIFIERS: usize = 16;

fn with_modifiers(semantics: &Semantics, operation: &Operation, modifier: impl Fn(u16) -> u64) -> Shape {
    let (mut map, count) = needed(operation, &modifier);
    let mut shape = Shape {
        nodes: Vec::with_capacity(count),
        lists: Vec::with_capacity(operation.lists.len().min(count)),
        constants: Vec::with_capacity(operation.constants.len().min(count)),
    };
    for (at, node) in operation.nodes.iter().enumerate() {
        if map[at] == NONE {
            continue;
        }
        map[at] = match chosen(&mut shape, operation, node, &map, &modifier) {
            Some(id) => id,
            None => {
                let moved = renumber(node, operation.lists, &map, &mut shape.lists);
                fold(semantics, &mut shape, moved)
            }
        };
    }
    shape.compact()
}

/// A number other than [`NONE`] for the nodes that effects need once the modifiers have chosen, and how many these are. Most
/// of an operation is arms that are not chosen.
fn needed(operation: &Operation, modifier: impl Fn(u16) -> u64) -> (Vec<u16>, usize) {
    let mut needed: Vec<u16> = operation.nodes.iter().map(|node| if node.op.is_effect() { 0 } else { NONE }).collect();
    let mut count = 0;
    let need = |needed: &mut Vec<u16>, node: u16| {
        if let Some(need) = needed.get_mut(usize::from(node)) {
            *need = 0;
        }
    };
    for (at, node) in operation.nodes.iter().enumerate().rev() {
        if needed[at] == NONE {
            continue;
        }
        count += 1;
        match node.op {
            Op::Pick => {
                if let Some(arm) = arm(operation, node, &modifier) {
                    need(&mut needed, arm);
                }
            }
            _ => for_each_argument(node, operation.lists, |argument| need(&mut needed, argument)),
        }
    }
    (needed, count)
}

/// The node that a pick chooses. `None` for reserved values, which no valid word has.
fn arm(operation: &Operation, node: &Node, modifier: impl Fn(u16) -> u64) -> Option<u16> {
    let bits = modifier(node.args[0]);
    let start = usize::from(node.args[1]);
    let arms = operation.lists.get(start..start + usize::from(node.args[2])).unwrap_or_default();
    arms.chunks_exact(2).find(|arm| u64::from(arm[0]) == bits).map(|arm| arm[1])
}

/// What a constant, or a node that asks for a modifier, comes to; `None` for other nodes.
pub(super) fn chosen(
    shape: &mut Shape,
    operation: &Operation,
    node: &Node,
    map: &[u16],
    modifier: impl Fn(u16) -> u64,
) -> Option<u16> {
    let list = |from: u16, count: u16| {
        operation.lists.get(usize::from(from)..usize::from(from) + usize::from(count)).unwrap_or_default()
    };
    Some(match node.op {
        Op::Const => {
            let value = operation.constants.get(usize::from(node.args[0])).copied().unwrap_or(0);
            shape.push_constant(node.ty, value)
        }
        Op::Pick => match arm(operation, node, &modifier).and_then(|arm| map.get(usize::from(arm)).copied()) {
            Some(id) => id,
            None => shape.push_constant(node.ty, 0),
        },
        Op::Is => {
            let bits = modifier(node.args[0]);
            let holds = list(node.args[1], node.args[2]).iter().any(|value| u64::from(*value) == bits);
            shape.push_constant(Type::BOOL, holds.into())
        }
        Op::Modifier => shape.push_constant(node.ty, modifier(node.args[0])),
        _ => return None,
    })
}

/// Adds a node, or finds what it comes to.
pub(super) fn fold(semantics: &Semantics, shape: &mut Shape, mut node: Node) -> u16 {
    if let Some(k) = node.op.condition() {
        match shape.constant(node.args[k]) {
            // What never happens has no result that anybody can see.
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
            // `x and true` is x, `x and false` is false; for `or` the other way round.
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
        None => match shape.nodes.iter().position(|n| *n == node && (n.op.is_pure() || n.op == Op::Operand)) {
            Some(at) if node.op != Op::Pack => at as u16,
            _ => shape.push(node),
        },
    }
}

/// The value of a pure node all of whose arguments are constants.
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

/// The value with the one NaN of the instruction set in the place of any NaN.
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
