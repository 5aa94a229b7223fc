//! Dominators of a graph, by the algorithm of Lengauer and Tarjan: simpler algorithms take quadratic time for a node
//! with many edges into it.

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::effort::step;

const NONE: u32 = u32::MAX;

/// The tree of dominators.
#[derive(Clone, Debug)]
pub(crate) struct Dominators {
    /// For each node that can be reached: its number in a preorder walk over the tree, and the end of the numbers below
    /// it.
    spans: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    /// Computes the dominators of all nodes that can be reached from `root`.
    pub(crate) fn new<E>(graph: &DiGraph<(), E>, root: NodeIndex) -> Dominators {
        let Tree { order, number, parent } = Tree::new(graph, root);
        let count = order.len();
        // All nodes below are numbers in the order of the depth-first search.
        let mut idom = vec![0_u32; count];
        let mut forest = Forest {
            semi: (0..count as u32).collect(),
            label: (0..count as u32).collect(),
            ancestor: vec![NONE; count],
            path: Vec::new(),
        };
        // The nodes with each semidominator, as linked lists.
        let (mut bucket, mut next) = (vec![NONE; count], vec![NONE; count]);
        for node in (1..count).rev() {
            for before in graph.neighbors_directed(order[node], Direction::Incoming) {
                let before = number[before.index()];
                if before != NONE {
                    let least = forest.evaluate(before);
                    forest.semi[node] = forest.semi[node].min(forest.semi[least as usize]);
                }
            }
            let semi = forest.semi[node] as usize;
            next[node] = std::mem::replace(&mut bucket[semi], node as u32);
            forest.ancestor[node] = parent[node];
            let mut waiting = std::mem::replace(&mut bucket[parent[node] as usize], NONE);
            while waiting != NONE {
                let least = forest.evaluate(waiting);
                let at = waiting as usize;
                idom[at] = if forest.semi[least as usize] < forest.semi[at] { least } else { parent[node] };
                waiting = next[at];
            }
        }
        for node in 1..count {
            if idom[node] != forest.semi[node] {
                idom[node] = idom[idom[node] as usize];
            }
        }
        Dominators { spans: spans(&order, &idom, number.len()) }
    }

    /// The number of a node in a preorder walk over the tree, and the end of the numbers below it.
    pub(crate) fn span(&self, node: usize) -> Option<(u32, u32)> {
        self.spans.get(node).copied().flatten()
    }

    /// Whether every path from the root to `node` goes through `through`.
    pub(crate) fn dominates(&self, through: usize, node: usize) -> bool {
        match (self.span(through), self.span(node)) {
            (Some((first, end)), Some((at, _))) => (first..end).contains(&at),
            _ => false,
        }
    }
}

/// The spans of all nodes, from the immediate dominators of those that can be reached.
fn spans(order: &[NodeIndex], idom: &[u32], nodes: usize) -> Vec<Option<(u32, u32)>> {
    let count = order.len();
    let mut sizes = vec![1_u32; count];
    for node in (1..count).rev() {
        sizes[idom[node] as usize] += sizes[node];
    }
    let mut spans = vec![None; nodes];
    // The number for the next child of each node.
    let mut free = vec![1_u32; count];
    for (node, index) in order.iter().enumerate() {
        let first = match node {
            0 => 0,
            _ => {
                let above = &mut free[idom[node] as usize];
                *above += sizes[node];
                *above - sizes[node]
            }
        };
        free[node] = first + 1;
        spans[index.index()] = Some((first, first + sizes[node]));
    }
    spans
}

/// A depth-first search.
struct Tree {
    /// The nodes in the order of their discovery.
    order: Vec<NodeIndex>,
    /// The position of each node in `order`.
    number: Vec<u32>,
    /// The parent of each node in `order`.
    parent: Vec<u32>,
}

impl Tree {
    fn new<E>(graph: &DiGraph<(), E>, root: NodeIndex) -> Tree {
        let mut tree = Tree { order: Vec::new(), number: vec![NONE; graph.node_count()], parent: Vec::new() };
        let mut open = vec![(root, 0)];
        while let Some((node, parent)) = open.pop() {
            step();
            if tree.number[node.index()] != NONE {
                continue;
            }
            let number = tree.order.len() as u32;
            tree.number[node.index()] = number;
            tree.order.push(node);
            tree.parent.push(parent);
            open.extend(graph.neighbors(node).map(|next| (next, number)));
        }
        tree
    }
}

/// The forest of the nodes that were already visited.
struct Forest {
    semi: Vec<u32>,
    label: Vec<u32>,
    ancestor: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator on the path from a node to the root of its tree, without that root.
    fn evaluate(&mut self, node: u32) -> u32 {
        if self.ancestor[node as usize] == NONE {
            return node;
        }
        let mut at = node;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            step();
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(at) = self.path.pop() {
            let at = at as usize;
            let above = self.ancestor[at] as usize;
            if self.semi[self.label[above] as usize] < self.semi[self.label[at] as usize] {
                self.label[at] = self.label[above];
            }
            self.ancestor[at] = self.ancestor[above];
        }
        self.label[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use petgraph::algo::dominators::simple_fast;

    use super::*;

    /// Small random graphs have the dominators that another algorithm finds.
    #[test]
    fn dominators_agree_with_another_algorithm() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..2000 {
            let count = 1 + random(12);
            let mut graph: DiGraph<(), ()> = DiGraph::new();
            let nodes: Vec<NodeIndex> = (0..count).map(|_| graph.add_node(())).collect();
            for _ in 0..random(2 * count + 1) {
                graph.add_edge(nodes[random(count)], nodes[random(count)], ());
            }
            let (found, known) = (Dominators::new(&graph, nodes[0]), simple_fast(&graph, nodes[0]));
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let expected = known.dominators(nodes[b]).is_some_and(|mut all| all.any(|node| node == nodes[a]));
                assert_eq!(found.dominates(a, b), expected, "{a} {b} {graph:?}");
            }
        }
    }
}
