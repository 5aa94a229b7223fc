//! Computed values and conditions: graphs of [`crate::semantics`] without effects, over the fields of a layout.

use crate::semantics::primitive::primitive;
use crate::semantics::{Node, Op};

/// The most nodes an expression may have; the compiler checks it.
pub const MAX_NODES: usize = 128;

/// What an expression asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A field of the layout: its raw bits.
    Field(u8),
    /// The generation of the hardware.
    Generation,
    /// The length of the instruction in bytes.
    Length,
}

/// An expression. Its operands are its inputs, by index; its last node is its value.
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    /// The text in the specification.
    pub text: &'static str,
    /// The graph, in the order of evaluation.
    pub nodes: &'static [Node],
    /// Arguments of nodes that have more of them than fit.
    pub lists: &'static [u16],
    /// The constants.
    pub constants: &'static [u64],
    /// What the operands stand for.
    pub inputs: &'static [Input],
}

impl Expression {
    /// The value, `input` giving those of the inputs.
    pub fn value(&self, input: impl FnMut(Input) -> u64) -> u64 {
        // Clearing room for many values costs more than computing the few that most expressions have.
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

    /// The value that takes no field into account, if there is one.
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
