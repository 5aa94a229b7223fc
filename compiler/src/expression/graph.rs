//! The graph while it is written: equal nodes are one node.

use std::collections::HashMap;

use isaforge_core::semantics::{Modifier, NONE, Node, Op, Type};

/// How many nodes an operation may have.
pub(super) const MAX_NODES: usize = 20_000;

/// A graph being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub lists: Vec<u16>,
    pub constants: Vec<u64>,
    pub modifiers: Vec<Modifier>,
    /// Nodes that can be used again: those without a list …
    known: HashMap<Node, u16>,
    /// … and those with one.
    known_lists: HashMap<Node, Vec<(Vec<u16>, u16)>>,
}

impl Graph {
    /// Adds a node, or finds the equal one. The limit is checked by the caller, once for each expression.
    pub fn node(&mut self, op: Op, imm: u16, ty: Type, args: [u16; 4]) -> u16 {
        self.with_list(op, imm, ty, args, &[])
    }

    /// Adds a node with a list of arguments; `args` has [`NONE`] where its start and length go.
    pub fn with_list(&mut self, op: Op, imm: u16, ty: Type, args: [u16; 4], list: &[u16]) -> u16 {
        let mut node = Node { op, imm, ty, args };
        let key = node;
        let known = match list {
            _ if op.is_effect() => None,
            [] => self.known.get(&key).copied(),
            _ => self
                .known_lists
                .get(&key)
                .and_then(|all| all.iter().find(|(known, _)| known == list))
                .map(|(_, id)| *id),
        };
        if let Some(id) = known {
            return id;
        }
        if let Some(first) = node_list(op) {
            node.args[first] = self.lists.len() as u16;
            node.args[first + 1] = list.len() as u16;
            self.lists.extend(list);
        }
        let id = self.nodes.len().min(usize::from(NONE) - 1) as u16;
        self.nodes.push(node);
        match list {
            _ if op.is_effect() => {}
            [] => drop(self.known.insert(key, id)),
            _ => self.known_lists.entry(key).or_default().push((list.to_vec(), id)),
        }
        id
    }

    /// What is read from now on may be another value than before.
    pub fn forget_reads(&mut self) {
        self.known.retain(|node, _| !matches!(node.op, Op::Operand | Op::State));
    }

    /// A constant.
    pub fn constant(&mut self, ty: Type, value: u64) -> u16 {
        let value = value & ty.mask();
        let index = self.constants.iter().position(|c| *c == value).unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        self.node(Op::Const, 0, ty, [index as u16, NONE, NONE, NONE])
    }

    /// The number of a modifier.
    pub fn modifier(&mut self, modifier: Modifier) -> u16 {
        let index = self.modifiers.iter().position(|m| *m == modifier).unwrap_or_else(|| {
            self.modifiers.push(modifier);
            self.modifiers.len() - 1
        });
        index as u16
    }

    /// The type of a node.
    pub fn ty(&self, node: u16) -> Type {
        self.nodes.get(usize::from(node)).map_or(Type::BOOL, |node| node.ty)
    }

    /// Whether the graph is larger than an operation may be.
    pub fn is_full(&self) -> bool {
        self.nodes.len() > MAX_NODES || self.lists.len() > MAX_NODES
    }
}

/// Which argument is the start of a node's list; the next one is its length.
fn node_list(op: Op) -> Option<usize> {
    match op {
        Op::Pack => Some(0),
        Op::Pick | Op::Is | Op::Intrinsic => Some(1),
        _ => None,
    }
}
