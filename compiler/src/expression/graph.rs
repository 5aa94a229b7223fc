//! The graph under construction, in which equal nodes are shared.

use std::collections::HashMap;

use isaforge_core::semantics::{Modifier, NONE, Node, Op, Type};

/// The maximum number of nodes in an operation.
pub(super) const MAX_NODES: usize = 20_000;

/// A graph under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub lists: Vec<u16>,
    pub constants: Vec<u64>,
    pub modifiers: Vec<Modifier>,
    /// Nodes without a list that can be shared.
    known: HashMap<Node, u16>,
    /// Nodes with a list that can be shared.
    known_lists: HashMap<Node, Vec<(Vec<u16>, u16)>>,
}

impl Graph {
    /// Adds a node, or returns an equal one. The caller checks the size limit, once for each expression.
    pub fn node(&mut self, op: Op, imm: u16, ty: Type, args: [u16; 4]) -> u16 {
        self.with_list(op, imm, ty, args, &[])
    }

    /// Adds a node with a list of arguments; `args` has [`NONE`] in place of the list's start and length.
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

    /// Stops sharing earlier reads, since the values may have changed.
    pub fn forget_reads(&mut self) {
        self.known.retain(|node, _| !matches!(node.op, Op::Operand | Op::State));
    }

    /// Adds a constant.
    pub fn constant(&mut self, ty: Type, value: u64) -> u16 {
        let value = value & ty.mask();
        let index = self.constants.iter().position(|c| *c == value).unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        self.node(Op::Const, 0, ty, [index as u16, NONE, NONE, NONE])
    }

    /// The index of a modifier.
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

    /// Whether the graph exceeds the size limit of an operation.
    pub fn is_full(&self) -> bool {
        self.nodes.len() > MAX_NODES || self.lists.len() > MAX_NODES
    }
}

/// Which argument of a node is the start of its list; the next one is the length.
fn node_list(op: Op) -> Option<usize> {
    match op {
        Op::Pack => Some(0),
        Op::Pick | Op::Is | Op::Intrinsic => Some(1),
        _ => None,
    }
}
