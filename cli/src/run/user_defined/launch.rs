//! The keys of launch files for `--spec`.

use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::vocabulary;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::machine::integer_bits;

use crate::run::decimal::Decimal;
use crate::run::launch::{Buffer, Output, Program};

vocabulary! {
    /// A launch: the program, its registers, its memory and its outputs.
    pub struct OwnLaunch {
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// The address of the program's first byte, where execution starts; 0 if not given.
        optional address: Spanned<u64>,
        /// Initial values of registers and states, by name: a number, or a list with one number per lane; `1.5` is a
        /// float of the register's width.
        optional registers: Named<OneOrMany<Spanned<Number>>>,
        /// Memory buffers, by names of your choice.
        optional buffers: Named<Buffer>,
        /// Maximum number of instructions.
        optional budget: u64,
        /// Registers and states to print after the run; the name of an array of states stands for all its elements.
        optional show: Vec<Spanned<String>>,
        /// Outputs to write and print after the run.
        optional outputs: Vec<Output>,
    }
}

/// The value of a register or a state: an integer or a float.
#[derive(Clone, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A float of the register's width.
    Float(Decimal),
}

impl FromNode for Number {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Float(_) => Decimal::of(node, r).map(Number::Float),
            Value::Int(value) => Some(Number::Int(value)),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

impl Number {
    /// Its bits in a register of this width, at most 64.
    ///
    /// # Errors
    /// When it does not fit: the problem, and what fits.
    pub fn bits(&self, width: u32) -> Result<u64, (String, String)> {
        match self {
            Number::Int(value) => integer_bits(*value, width),
            Number::Float(value) => value.bits(width),
        }
    }
}
