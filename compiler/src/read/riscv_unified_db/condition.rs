//! The generations that have an instruction: the tree under `definedBy`.

use super::syntax::Syntax;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::yaml::Node;

/// Whether a hart of this width satisfies a condition. It has every extension except those that the table excludes.
/// Conflicts between extensions are ignored: the excluding one is the more specific form of the same words.
pub(super) fn holds(node: &Node, xlen: u64, syntax: &Syntax, out: &mut Diagnostics) -> bool {
    let mut all = true;
    for (key, value) in node.entries(out) {
        let mut each = || -> Vec<bool> { value.items().iter().map(|item| holds(item, xlen, syntax, out)).collect() };
        all &= match key.value.as_str() {
            "anyOf" | "oneOf" => each().contains(&true),
            "allOf" => !each().contains(&false),
            "extension" => holds(value, xlen, syntax, out),
            "not" | "noneOf" | "version" => true,
            "xlen" => value.number(64, out) == Some(xlen),
            "name" => value.text(out).is_some_and(|name| syntax.has(&name.value, xlen)),
            other => {
                let message = format!("unknown condition `{other}`");
                out.push(Diagnostic::error("E0021", key.span, message));
                false
            }
        };
    }
    all
}
