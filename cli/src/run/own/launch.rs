//! The vocabulary of launch files for instruction sets of one's own.

use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::vocabulary;
use isaforge_compiler::yaml::{Node, Value};

use crate::run::launch::{Buffer, Output, Program};

vocabulary! {
    /// What to run and what to do with what it leaves.
    pub struct OwnLaunch {
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// The address of the program's first byte, where execution starts; 0 if not given.
        optional address: Spanned<u64>,
        /// What registers hold at the start, by name: a number, or a list with one for each lane.
        optional registers: Named<OneOrMany<Number>>,
        /// Memory, by names that the launch file chooses.
        optional buffers: Named<Buffer>,
        /// The most instructions to execute.
        optional budget: u64,
        /// Registers to print at the end.
        optional show: Vec<Spanned<String>>,
        /// What to write and print afterwards.
        optional outputs: Vec<Output>,
    }
}

/// The bits of a whole number or of a 32-bit float.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub u64);

impl FromNode for Number {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Float(value) => Some(Number((value as f32).to_bits().into())),
            Value::Int(value) if value < 0 => i64::from_node(node, r).map(|value| Number(value as u64)),
            _ => u64::from_node(node, r).map(Number),
        }
    }
}
