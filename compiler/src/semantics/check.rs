//! Operands that texts do not use, and definitions that no text uses.
//!
//! | code  | meaning |
//! |-------|---------|
//! | W0220 | an operand that the text of its instruction never uses, or never reads although its `access` says so |
//! | W0221 | a modifier, or one of an operand, that the text of its instruction never reads |
//! | W0222 | a function, an arm, a state or an intrinsic that no text uses |
//! | E0126 | an operand that is read, although its `access` does not say so |
//! | E0128 | a destination that is never written |

use std::collections::HashSet;

use isaforge_core::semantics::{Modifier, NONE, Node, Op, Type};

use super::model::Semantics;
use super::resolve::Use;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Built, OperandInfo, Scope};
use crate::model::Isa;
use crate::source::Span;
use crate::spec::Access;

/// Operands with `access: read-write` that a text overwrites. Rows and members of families share the declaration of an
/// operand, which may be read in others.
#[derive(Debug, Default)]
pub struct Unread {
    /// The operands whose old value some text reads or keeps, by the place of their declaration.
    read: HashSet<Span>,
    told: Vec<(Span, Diagnostic)>,
}

impl Unread {
    /// Reports the operands that no text reads (W0220).
    pub fn report(self, out: &mut Diagnostics) {
        self.told.into_iter().filter(|(span, _)| !self.read.contains(span)).for_each(|(_, warning)| out.push(warning));
    }
}

/// Compares the text of the instruction `name` with its operands. For each operand of `scope`, `uses` holds how the
/// instruction uses it; `None` for entries that are not operands. `modifiers` are those that only the text can give a
/// meaning.
pub fn operation(
    name: &str,
    scope: &Scope<'_>,
    (uses, modifiers): (&[Option<Use>], &[Modifier]),
    built: &Built,
    text: Span,
    unread: &mut Unread,
    out: &mut Diagnostics,
) {
    let always = always_read(built);
    let matters = matters(built);
    // An operation without effects uses no operand.
    let nothing = built.nodes.is_empty();
    for modifier in scope.modifiers.iter().filter(|modifier| modifiers.contains(&modifier.reference)) {
        if !nothing && !built.modifiers.contains(&modifier.reference) {
            let message = format!("the text of `{name}` never reads the modifier `{}`", modifier.name);
            out.push(Diagnostic::warning("W0221", text, message).secondary(modifier.span, "this modifier"));
        }
    }
    for (k, operand) in scope.operands.iter().enumerate() {
        let Some(Use { access, is_register, suffixes }) = uses.get(k).copied().flatten() else { continue };
        let (read_at, writes) = (built.reads[k], built.writes[k]);
        let reads = read_at.is_some();
        let is_dead = reads && matters >> (k & 63) & 1 == 0 && !built.set_aside[k];
        // For some operands only the fields matter, such as which components are written.
        let names = operand.suffixes.iter().any(|suffix| built.modifiers.contains(&suffix.reference));
        match access {
            Access::Write | Access::ReadWrite if !writes => {
                let message = format!("the text of `{name}` never writes `{}`", operand.name);
                let error = Diagnostic::error("E0128", text, message)
                    .secondary(operand.span, "written, according to its `access`");
                out.push(error.help(format!("assign it: `{} = …`", operand.name)));
            }
            Access::Write | Access::None if is_register && always >> (k & 63) & 1 != 0 && reads => {
                let (is, should) = match access {
                    Access::Write => ("write-only", "read-write"),
                    _ => ("neither read nor written", "read"),
                };
                let message = format!("`{}` is {is}, but the text of `{name}` reads it", operand.name);
                // The place may be in a function that other instructions call.
                let place =
                    read_at.filter(|place| place.file == text.file && text.range().contains(&place.range().start));
                let error = Diagnostic::error("E0126", place.unwrap_or(text), message);
                let error =
                    read_at.filter(|_| place.is_none()).into_iter().fold(error, |e, at| e.secondary(at, "read here"));
                let error = error.secondary(operand.span, "declared by its `access`");
                out.push(error.help(format!("if the instruction reads it, say `access: {should}`")));
            }
            Access::Read | Access::None if (!reads || is_dead) && !names && !nothing => {
                let message = match is_dead {
                    true => format!("the text of `{name}` reads `{}`, but nothing depends on it", operand.name),
                    false => format!("the text of `{name}` never uses `{}`", operand.name),
                };
                let warning = Diagnostic::warning("W0220", text, message).secondary(operand.span, "this operand");
                let help = format!("if it has no known meaning, say so: `let _unknown = {}`", operand.name);
                out.push(if is_dead { warning.help(help) } else { warning });
            }
            Access::ReadWrite if reads && !is_dead => drop(unread.read.insert(operand.span)),
            Access::ReadWrite if writes_whole(built, k, operand) => {
                let message = format!("the text of `{name}` never reads `{}`", operand.name);
                let warning = Diagnostic::warning("W0220", text, message);
                let warning = warning.secondary(operand.span, "read and written, according to its `access`");
                unread.told.push((operand.span, warning.help("say `access: write`")));
            }
            Access::ReadWrite => drop(unread.read.insert(operand.span)),
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

/// The operands whose old values the effects of a text need whatever the modifiers are, as a bit set. An operand that is
/// only written may keep a part where a modifier says so: the half of a register that is not written.
fn always_read(built: &Built) -> u64 {
    // For each node: the operands, and whether its value follows from modifiers alone.
    let mut found: Vec<(u64, bool)> = Vec::with_capacity(built.nodes.len());
    let mut always = 0;
    for node in &built.nodes {
        let of = |argument: u16| found.get(usize::from(argument)).copied().unwrap_or((0, true));
        let arguments = (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0).map(|k| node.args[k]);
        let listed = listed(built, node);
        let all = arguments.chain(listed.iter().copied().filter(|_| node.op != Op::Pick)).map(of);
        let (needed, of_modifiers) = all.fold((0, true), |(a, x), (b, y)| (a | b, x && y));
        let either = |(a, x): (u64, bool), (b, y): (u64, bool)| (a & b, x && y);
        let own = match node.op {
            Op::Operand => (1 << (node.args[0] & 63), false),
            Op::Pick => listed.iter().skip(1).step_by(2).map(|arm| of(*arm)).reduce(either).unwrap_or((0, true)),
            Op::Select if of(node.args[0]).1 => either(of(node.args[1]), of(node.args[2])),
            op => (needed, of_modifiers && (op.is_pure() || matches!(op, Op::Is | Op::Modifier))),
        };
        let may_be_left_out = node.op.condition().is_some_and(|k| node.args[k] != NONE && of(node.args[k]).1);
        if node.op.is_effect() && !may_be_left_out {
            always |= own.0;
        }
        found.push(own);
    }
    always
}

/// The operands on whose old values an effect may depend, as a bit set.
fn matters(built: &Built) -> u64 {
    let mut needed = vec![false; built.nodes.len()];
    let mut found = 0;
    for (at, node) in built.nodes.iter().enumerate().rev() {
        if !(needed[at] || node.op.is_effect()) {
            continue;
        }
        match node.op {
            Op::Operand => found |= 1 << (node.args[0] & 63),
            // An intrinsic that takes an operand itself is given its index.
            Op::Const if node.ty == Type::unsigned(16) => {
                found |= built.constants.get(usize::from(node.args[0])).map_or(0, |index| 1 << (index & 63));
            }
            _ => {}
        }
        let listed = listed(built, node).iter().enumerate().filter(|(k, _)| node.op != Op::Pick || k % 2 == 1);
        let own = (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0).map(|k| node.args[k]);
        for argument in own.chain(listed.map(|(_, argument)| *argument)) {
            if let Some(needed) = needed.get_mut(usize::from(argument)) {
                *needed = true;
            }
        }
    }
    found
}

/// The list of a node: its arguments, or for a pick the values and the nodes of its arms.
fn listed<'b>(built: &'b Built, node: &Node) -> &'b [u16] {
    let (first, count) = match node.op {
        Op::Pack => (node.args[0], node.args[1]),
        Op::Pick | Op::Intrinsic => (node.args[1], node.args[2]),
        _ => return &[],
    };
    let (first, count) = (usize::from(first), usize::from(count));
    built.lists.get(first..first + count).unwrap_or_default()
}

/// Whether a text always writes all of an operand, so that nothing of its old value is left.
fn writes_whole(built: &Built, operand: usize, info: &OperandInfo) -> bool {
    let writes = built.nodes.iter().filter(|node| node.op == Op::Write && usize::from(node.args[0]) == operand);
    let whole = writes.filter(|node| node.args[3] == NONE && node.ty.size() == info.ty.size());
    whole.count() == usize::from(info.elements)
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
