//! Operands that texts do not use, and definitions that no text uses.
//!
//! | code  | meaning |
//! |-------|---------|
//! | W0220 | an operand that the text of its instruction never uses |
//! | W0221 | a modifier, or one of an operand, that the text of its instruction never reads |
//! | W0222 | a function, an arm, a state or an intrinsic that no text uses |
//! | E0128 | a destination that is never written |

use isaforge_core::semantics::Modifier;

use super::model::Semantics;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Built, Scope};
use crate::model::Isa;
use crate::source::Span;
use crate::spec::Access;

/// Compares the text of the instruction `name` with its operands. For each operand of `scope`, `access` holds how the
/// instruction accesses it and how many suffixes it has; `None` for entries that are not operands. `modifiers` are
/// those that only the text can give a meaning.
pub fn operation(
    name: &str,
    scope: &Scope<'_>,
    access: &[Option<(Access, usize)>],
    modifiers: &[Modifier],
    built: &Built,
    text: Span,
    out: &mut Diagnostics,
) {
    // An operation without effects uses no operand.
    let nothing = built.nodes.is_empty();
    for modifier in scope.modifiers.iter().filter(|modifier| modifiers.contains(&modifier.reference)) {
        if !nothing && !built.modifiers.contains(&modifier.reference) {
            let message = format!("the text of `{name}` never reads the modifier `{}`", modifier.name);
            out.push(Diagnostic::warning("W0221", text, message).secondary(modifier.span, "this modifier"));
        }
    }
    for (k, operand) in scope.operands.iter().enumerate() {
        let Some((access, suffixes)) = access.get(k).copied().flatten() else { continue };
        let (reads, writes) = (built.reads[k], built.writes[k]);
        // For some operands only the fields matter, such as which components are written.
        let names = operand.suffixes.iter().any(|suffix| built.modifiers.contains(&suffix.reference));
        match access {
            Access::Write | Access::ReadWrite if !writes => {
                let message = format!("the text of `{name}` never writes `{}`", operand.name);
                let error = Diagnostic::error("E0128", text, message)
                    .secondary(operand.span, "written, according to its `access`");
                out.push(error.help(format!("assign it: `{} = …`", operand.name)));
            }
            Access::Read | Access::None if !reads && !names && !nothing => {
                let message = format!("the text of `{name}` never uses `{}`", operand.name);
                out.push(Diagnostic::warning("W0220", text, message).secondary(operand.span, "this operand"));
            }
            _ => {}
        }
        for suffix in operand.suffixes.iter().take(suffixes) {
            // An unused operand is reported once, not again for its modifiers.
            if (reads || writes) && !nothing && !built.modifiers.contains(&suffix.reference) {
                let message = format!("the text of `{name}` never reads `{}.{}`", operand.name, suffix.name);
                out.push(Diagnostic::warning("W0221", text, message).secondary(suffix.span, "this modifier"));
            }
        }
    }
}

/// Reports functions, states, intrinsics and arms that are declared but never used.
pub fn unused(isa: &Isa, semantics: &Semantics, out: &mut Diagnostics) {
    let usage = semantics.library.usage.borrow();
    let ours = |span: Span| !isa.bases.contains(&span.file);
    let mut report = |span: Span, what: String| {
        if ours(span) {
            out.push(Diagnostic::warning("W0222", span, format!("{what} is never used")).help("remove it"));
        }
    };
    let library = &semantics.library;
    let mut functions: Vec<_> = library.functions.iter().chain(&library.writers).collect();
    functions.sort_by_key(|(_, function)| function.span);
    for (name, function) in functions {
        if !usage.functions.contains(&function.span) {
            report(function.span, format!("the function `{name}`"));
        }
    }
    for (_, state) in library.states.iter().enumerate().filter(|(i, _)| !usage.states.contains(i)) {
        report(state.span, format!("the state `{}`", state.name));
    }
    for (_, intrinsic) in library.intrinsics.iter().enumerate().filter(|(i, _)| !usage.intrinsics.contains(i)) {
        report(intrinsic.span, format!("the intrinsic `{}`", intrinsic.name));
    }
    let mut arms: Vec<Span> = usage.arms.iter().filter(|(_, reached)| !**reached).map(|(span, _)| *span).collect();
    arms.sort_unstable();
    for arm in arms {
        report(arm, "this arm".to_owned());
    }
}
