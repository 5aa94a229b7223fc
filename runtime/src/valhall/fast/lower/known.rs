//! Values that are known before a word is executed: targets of branches, offsets of addresses, conditions that always
//! hold.

use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, Node, Op, Shape, Type};
use isaforge_core::table::Operand;
use isaforge_valhall::semantics::SEMANTICS;

use super::slot::Part;

/// The maximum number of nodes that a value may depend on.
const MAX_NODES: usize = 32;

/// A node of a shape with the nodes it depends on, in order; its value follows from the values of the leaves.
#[derive(Clone, Debug)]
pub struct Known(Box<[Step]>);

#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(u64),
    /// A number in the word, with the bits that its type has.
    Number(Part),
    /// A leaf, whose value depends on the word.
    Leaf(Node),
    /// A sum of earlier steps, with a mask.
    Sum(u64, [u8; 2]),
    /// A primitive of earlier steps.
    Pure(Node, [Type; 4], [u8; 4]),
}

impl Known {
    /// Analyses a node. `None` if its value depends on the execution.
    pub fn new(shape: &Shape, operands: &'static [Operand], node: u16) -> Option<Known> {
        let nodes = shape.nodes.get(..=usize::from(node))?;
        let mut places = vec![None; nodes.len()];
        *places.last_mut()? = Some(0);
        for (at, node) in nodes.iter().enumerate().rev() {
            if places[at].is_some() && !is_leaf(node) {
                arguments(node).for_each(|(_, argument)| places[argument] = Some(0));
            }
        }
        let mut steps = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let Some(place) = places[at].as_mut() else { continue };
            *place = u8::try_from(steps.len()).ok()?;
            steps.push(match node.op {
                Op::Const => Step::Constant(shape.constant(at as u16)? & node.ty.mask()),
                _ if is_leaf(node) => number(node, operands).map_or(Step::Leaf(*node), Step::Number),
                Op::Pack | Op::Canonical | Op::Permute | Op::Ballot => return None,
                op if op.is_pure() => {
                    let (mut types, mut args) = ([node.ty; 4], [0; 4]);
                    for (k, argument) in arguments(node) {
                        (types[k], args[k]) = (nodes[argument].ty, places[argument]?);
                    }
                    match (op, args) {
                        (Op::Add, [a, b, ..]) if node.ty.lanes == 1 && node.ty.class != Class::Float => {
                            Step::Sum(node.ty.mask(), [a, b])
                        }
                        _ => Step::Pure(*node, types, args),
                    }
                }
                _ => return None,
            });
        }
        (steps.len() <= MAX_NODES).then(|| Known(steps.into()))
    }

    /// Returns its value, given the values of leaves; `None` if one of them is unknown.
    #[inline]
    pub fn value(&self, word: u64, leaf: impl Fn(&Node) -> Option<u64>) -> Option<u64> {
        let (mut values, mut last) = ([0u64; MAX_NODES], None);
        for (at, step) in self.0.iter().enumerate().take(MAX_NODES) {
            let value = match step {
                Step::Constant(value) => *value,
                Step::Number(part) => part.value(word),
                Step::Leaf(node) => leaf(node)? & node.ty.mask(),
                Step::Sum(mask, args) => {
                    let [a, b] = args.map(|place| values[usize::from(place) % MAX_NODES]);
                    a.wrapping_add(b) & mask
                }
                Step::Pure(node, types, args) => {
                    let args = args.map(|place| values[usize::from(place) % MAX_NODES]);
                    primitive(node.op, node.imm, node.ty, *types, args) & node.ty.mask()
                }
            };
            (values[at], last) = (value, Some(value));
        }
        last
    }
}

/// Returns the value of a state outside of fragment programs, which have no helper threads.
pub fn state(state: u16, draws: bool) -> Option<u64> {
    match SEMANTICS.states.get(usize::from(state))?.name {
        "helper" if !draws => Some(0),
        "fragment" => Some(draws.into()),
        _ => None,
    }
}

/// Returns the number within a word that a node stands for.
fn number(node: &Node, operands: &'static [Operand]) -> Option<Part> {
    let operand = operands.get(usize::from(node.args[0])).filter(|_| node.op == Op::Operand)?;
    Part::of(operand, node.ty.mask(), 0)
}

/// Whether the value of a node depends on the word or the launch.
fn is_leaf(node: &Node) -> bool {
    matches!(node.op, Op::Operand | Op::State | Op::Special)
}

/// Returns the arguments of a node that are nodes, each with its position.
fn arguments(node: &Node) -> impl Iterator<Item = (usize, usize)> {
    let used = node.op.node_arguments();
    node.args.into_iter().map(usize::from).enumerate().filter(move |(k, _)| used >> k & 1 != 0)
}
