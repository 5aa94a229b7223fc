//! The keys of launch files for `--spec`.

use half::f16;
use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::vocabulary;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_core::bits::ones;

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
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A float of the register's width.
    Float(f64),
}

impl FromNode for Number {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Float(value) => Some(Number::Float(value)),
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
    pub fn bits(self, width: u32) -> Result<u64, (String, String)> {
        match self {
            Number::Int(value) => {
                let (most, least) = ((1i128 << width) - 1, if width > 1 { -(1i128 << (width - 1)) } else { 0 });
                if (least..=most).contains(&value) {
                    return Ok(value as u64 & ones(width));
                }
                let fits = match width {
                    1 => "expected 0 or 1".to_owned(),
                    _ => format!("expected 0 to {most}, or {least} to -1"),
                };
                Err((format!("`{value}` does not fit {}", bits(width)), fits))
            }
            Number::Float(value) => {
                let (rounded, is_finite) = match width {
                    16 => (u64::from(f16::from_f64(value).to_bits()), f16::from_f64(value).is_finite()),
                    32 => (u64::from((value as f32).to_bits()), (value as f32).is_finite()),
                    64 => (value.to_bits(), true),
                    _ => {
                        let message = format!("there are no floats of {}", bits(width));
                        let fits = "expected a whole number; floats have 16, 32 or 64 bits";
                        return Err((message, fits.to_owned()));
                    }
                };
                if is_finite || !value.is_finite() {
                    return Ok(rounded);
                }
                let most = if width == 16 { f16::MAX.to_f64() } else { f32::MAX.into() };
                Err((
                    format!("`{value:?}` does not fit a float of {width} bits"),
                    format!("expected -{most:?} to {most:?}"),
                ))
            }
        }
    }
}

fn bits(width: u32) -> String {
    if width == 1 { "one bit".to_owned() } else { format!("{width} bits") }
}
