//! The keys of launch files for `--spec`.

use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::vocabulary;
use isaforge_compiler::yaml::{Node, Value};

use crate::run::launch::{Buffer, Output, Program};

vocabulary! {
    /// A launch: the program, its registers, its memory and its outputs.
    pub struct OwnLaunch {
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// The address of the program's first byte, where execution starts; 0 if not given.
        optional address: Spanned<u64>,
        /// Initial values of registers and states, by name: a number, or a list with one number per lane.
        optional registers: Named<OneOrMany<Number>>,
        /// Memory buffers, by names of your choice.
        optional buffers: Named<Buffer>,
        /// Maximum number of instructions.
        optional budget: u64,
        /// Registers and states to print after the run.
        optional show: Vec<Spanned<String>>,
        /// Outputs to write and print after the run.
        optional outputs: Vec<Output>,
    }
}

/// The bits of an integer or of a 32-bit float.
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
