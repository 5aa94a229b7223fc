//! The graph under construction, in which equal nodes are shared.

use std::collections::HashMap;

use isaforge_core::semantics::{Class, Modifier, NONE, Node, Op, Type};

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

    /// The value of a constant.
    pub fn number(&self, node: u16) -> Option<u64> {
        let node = self.nodes.get(usize::from(node)).filter(|node| node.op == Op::Const)?;
        self.constants.get(usize::from(node.args[0])).copied()
    }

    /// Whether a condition holds, if that is known.
    pub fn truth(&self, node: u16) -> Option<bool> {
        let known = self.nodes.get(usize::from(node))?;
        match known.op {
            Op::Not => self.truth(known.args[0]).map(|holds| !holds),
            _ => self.number(node).map(|number| number != 0),
        }
    }

    /// The bits of a node that may be 1, and those that always are.
    pub fn possible(&self, node: u16) -> (u64, u64) {
        /// Through this many nodes.
        const DEPTH: usize = 8;
        self.possible_within(node, DEPTH)
    }

    fn possible_within(&self, at: u16, depth: usize) -> (u64, u64) {
        let Some(node) = self.nodes.get(usize::from(at)) else { return (u64::MAX, 0) };
        let anything = (node.ty.mask(), 0);
        let Some(depth) = depth.checked_sub(1) else { return anything };
        let of = |k: usize| self.possible_within(node.args[k], depth);
        let both = || (of(0), of(1));
        let (may, must) = match node.op {
            Op::Const => self.number(at).map_or(anything, |number| (number, number)),
            Op::And => {
                let ((may, must), (other, always)) = both();
                (may & other, must & always)
            }
            Op::Or => {
                let ((may, must), (other, always)) = both();
                (may | other, must | always)
            }
            Op::Select if self.ty(node.args[0]).lanes == 1 => {
                let ((may, must), (other, always)) = (of(1), of(2));
                (may | other, must & always)
            }
            Op::Bits | Op::Zext | Op::Trunc => of(0),
            Op::Slice => {
                let (may, must) = of(0);
                (may >> node.imm, must >> node.imm)
            }
            Op::Shl | Op::Shr if node.ty.lanes == 1 && node.ty.class != Class::Signed => {
                match self.number(node.args[1]) {
                    Some(count) => {
                        let ((may, must), count) = (of(0), count % u64::from(node.ty.bits));
                        if node.op == Op::Shl { (may << count, must << count) } else { (may >> count, must >> count) }
                    }
                    None => anything,
                }
            }
            _ => anything,
        };
        (may & node.ty.mask(), must & node.ty.mask())
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
