//! Floats of launch files: rounded once, from their text, to the type that is wanted.

use isaforge_compiler::diagnostic::Diagnostic;
use isaforge_compiler::keys::Reader;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::machine::{decimal_bits, float_bits};

/// A number with a point or an exponent, or one that is not finite.
#[derive(Clone, Debug)]
pub struct Decimal {
    /// The nearest double.
    value: f64,
    text: String,
}

impl Decimal {
    /// The number of a node; `None` if that is something else.
    pub fn of(node: &Node, r: &Reader<'_>) -> Option<Self> {
        let Value::Float(value) = node.value else { return None };
        Some(Decimal { value, text: r.sources.snippet(node.span).replace('_', "") })
    }

    /// Its bits as a float of this width.
    ///
    /// # Errors
    /// When it does not fit: the problem, and what fits.
    pub fn bits(&self, width: u32) -> Result<u64, (String, String)> {
        // YAML has texts that Rust does not read, such as `.inf`.
        let is_text = self.text.parse() == Ok(self.value);
        let bits = is_text.then(|| decimal_bits(&self.text, width)).flatten();
        bits.unwrap_or_else(|| float_bits(self.value, width))
    }

    /// The bits of the float of this width that a node holds. `None` if it holds something else, or after an error,
    /// which is reported.
    pub fn read(node: &Node, width: u32, r: &mut Reader<'_>) -> Option<u64> {
        let bits = Decimal::of(node, r)?.bits(width);
        bits.map_err(|(message, fits)| r.out.push(Diagnostic::error("E0024", node.span, message).label(fits))).ok()
    }
}
