//! What can be computed before a word is executed: targets of branches, offsets of addresses, conditions that always hold.

use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Node, Op, Shape, Type};

/// The nodes that a value may depend on, at most.
const MOST: usize = 32;

/// A node of a shape and the nodes it depends on, in order: what it is follows from what leaves are.
#[derive(Clone, Debug)]
pub struct Known(Box<[Step]>);

#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(u64),
    /// What only a word knows.
    Leaf(Node),
    /// A primitive of earlier steps.
    Pure(Node, [Type; 4], [u8; 4]),
}

impl Known {
    /// How to compute a node. `None` where it depends on what is executed.
    pub fn new(shape: &Shape, node: u16) -> Option<Known> {
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
                _ if is_leaf(node) => Step::Leaf(*node),
                Op::Pack | Op::Canonical | Op::Permute | Op::Ballot => return None,
                op if op.is_pure() => {
                    let (mut types, mut args) = ([node.ty; 4], [0; 4]);
                    for (k, argument) in arguments(node) {
                        (types[k], args[k]) = (nodes[argument].ty, places[argument]?);
                    }
                    Step::Pure(*node, types, args)
                }
                _ => return None,
            });
        }
        (steps.len() <= MOST).then(|| Known(steps.into()))
    }

    /// Its value, given what leaves are; `None` where one of them is not known.
    #[inline]
    pub fn value(&self, leaf: impl Fn(&Node) -> Option<u64>) -> Option<u64> {
        let (mut values, mut last) = ([0; MOST], None);
        for (at, step) in self.0.iter().enumerate().take(MOST) {
            let value = match step {
                Step::Constant(value) => *value,
                Step::Leaf(node) => leaf(node)? & node.ty.mask(),
                Step::Pure(node, types, args) => {
                    let args = args.map(|place| values[usize::from(place) % MOST]);
                    primitive(node.op, node.imm, node.ty, *types, args) & node.ty.mask()
                }
            };
            (values[at], last) = (value, Some(value));
        }
        last
    }
}

/// Whether only a word, or a launch, says what a node is.
fn is_leaf(node: &Node) -> bool {
    matches!(node.op, Op::Operand | Op::State | Op::Special)
}

/// The nodes that are arguments of one, each with its place among them.
fn arguments(node: &Node) -> impl Iterator<Item = (usize, usize)> {
    let used = node.op.node_arguments();
    node.args.into_iter().map(usize::from).enumerate().filter(move |(k, _)| used >> k & 1 != 0)
}
