//! Computed values and conditions: graphs of [`crate::semantics`] without effects, over the fields of a layout.

use crate::semantics::primitive::primitive;
use crate::semantics::{Node, Op};

/// The maximum number of nodes in an expression, which the compiler enforces.
pub const MAX_NODES: usize = 128;

/// An input of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A field of the layout, as raw bits.
    Field(u8),
    /// The generation of the hardware.
    Generation,
    /// The length of the instruction in bytes.
    Length,
}

/// An expression. Its operands are indices into its inputs; its last node is the result.
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    /// The text in the specification.
    pub text: &'static str,
    /// The graph, in the order of evaluation.
    pub nodes: &'static [Node],
    /// Argument lists of nodes with more arguments than a [`Node`] holds.
    pub lists: &'static [u16],
    /// The constants.
    pub constants: &'static [u64],
    /// The inputs that operands refer to.
    pub inputs: &'static [Input],
}

impl Expression {
    /// Evaluates the expression; `input` gives the values of inputs.
    pub fn value(&self, input: impl FnMut(Input) -> u64) -> u64 {
        // Most expressions have few nodes, for which clearing the large array would cost more than the evaluation.
        if self.nodes.len() <= 8 { self.value_in([0; 8], input) } else { self.value_in([0; MAX_NODES], input) }
    }

    fn value_in<const N: usize>(&self, mut values: [u64; N], mut input: impl FnMut(Input) -> u64) -> u64 {
        let count = self.nodes.len().min(N);
        for (at, node) in self.nodes.iter().take(count).enumerate() {
            values[at] = match node.op {
                Op::Const => self.constants.get(usize::from(node.args[0])).copied().unwrap_or(0),
                Op::Operand => {
                    let asked = self.inputs.get(usize::from(node.args[0]));
                    asked.map_or(0, |asked| input(*asked)) & node.ty.mask()
                }
                Op::Pack => self.pack(node, &values),
                op => {
                    let argument = |k: usize| usize::from(node.args[k]);
                    let types = core::array::from_fn(|k| self.nodes.get(argument(k)).map_or(node.ty, |n| n.ty));
                    let args = core::array::from_fn(|k| values.get(argument(k)).copied().unwrap_or(0));
                    primitive(op, node.imm, node.ty, types, args)
                }
            };
        }
        count.checked_sub(1).map_or(0, |last| values[last])
    }

    /// The value if it does not depend on any input.
    pub fn constant(&self) -> Option<u64> {
        self.inputs.is_empty().then(|| self.value(|_| 0))
    }

    fn pack(&self, node: &Node, values: &[u64]) -> u64 {
        let list = self.lists.get(usize::from(node.args[0])..).unwrap_or_default();
        let parts = list.iter().take(usize::from(node.args[1])).enumerate();
        parts.fold(0, |all, (i, part)| {
            let part = values.get(usize::from(*part)).copied().unwrap_or(0);
            all | (part & node.ty.component().mask()) << (u32::from(node.ty.bits) * i as u32).min(63)
        })
    }
}
