//! Rules for a stream.
//!
//! E0104: bits outside of an instruction. E0105: bits that are not defined. E0107: bits that are defined twice. E0131:
//! a value that is computed from itself, or through too many others. E0132: a computed value for which no inverse is
//! found.

use isaforge_core::stream::{self as core, MAX_CHAIN, MAX_NESTING, Role, Wide};

use super::STORED;
use super::lower::lower_exact;
use super::model::{Field, Layout, Set, Source, Stream, Type};
use super::rules::MARKED;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::source::Span;

/// How messages call bits that are ignored.
const IGNORED: &str = "bits declared ignored";

/// The definitions of bits in a layout: mask, place, and what they are.
fn definitions(layout: &Layout) -> impl Iterator<Item = (Wide, Span, String)> {
    let constants = layout.said.iter().map(|(bits, span)| (*bits, *span, "constant bits".to_owned()));
    let ignored = layout.ignored_at.iter().map(|(bits, span)| (*bits, *span, IGNORED.to_owned()));
    let fields = layout.fields.iter().filter_map(|field| match &field.source {
        Source::Bits(pieces) => {
            let name = field.name.strip_suffix(STORED).unwrap_or(&field.name);
            Some((Layout::bits_of(pieces), field.span, format!("`{name}`")))
        }
        _ => None,
    });
    constants.chain(ignored).chain(fields)
}

/// Checks a stream.
pub fn check(isa: &Isa, stream: &Stream, out: &mut Diagnostics) {
    for layout in stream.sets.iter().flat_map(|set| &set.layouts) {
        coverage(layout, out);
        cycles(layout, out);
        check_inverses(layout, out);
    }
    for (index, set) in stream.sets.iter().enumerate() {
        if let Some(field) = holding_itself(stream, index) {
            let message = format!("`{}` is an operand of itself", set.name);
            out.push(
                Diagnostic::error("E0131", field, message)
                    .help("let the operand have fewer bits, and a kind of its own"),
            );
        }
    }
    if out.has_errors() {
        return;
    }
    depths(stream, out);
    if out.has_errors() {
        return;
    }
    // Where the order decides, the document is the table of a foreign decoder, and its reader is tested against that
    // decoder.
    let ordered = stream.sets.first().is_some_and(|set| set.first_wins);
    if ordered && stream.sets.iter().all(|set| set.first_wins) {
        return;
    }
    let tables = lower_exact(isa, stream);
    // A word that matches two instructions is invalid in an exclusive set, so no choice is needed.
    let checked = |set: &Set| !set.first_wins && !stream.exclusive;
    for (index, set) in stream.sets.iter().enumerate().filter(|(_, set)| checked(set)) {
        super::ambiguity::check(tables, index, set, out);
    }
    if out.has_errors() || ordered {
        return;
    }
    super::lengths::check(tables, stream, out);
    super::invertibility::check(tables, stream, out);
    if out.has_errors() {
        return;
    }
    if let Some(set) = stream.sets.first().filter(|_| !stream.exclusive) {
        super::modifiers::check(isa, tables, set, out);
    }
    if out.has_errors() {
        return;
    }
    super::texts::check(tables, &stream.sets, out);
    super::never::check(tables, stream, out);
}

fn bits_text(bits: Wide) -> String {
    let runs: Vec<String> = bits
        .runs()
        .map(|(at, width)| if width == 1 { at.to_string() } else { format!("{}..{at}", at + width - 1) })
        .collect();
    let one = bits.count_ones() == 1;
    format!("{} {}", if one { "bit" } else { "bits" }, runs.join(", "))
}

/// The definitions of bits that overlap those defined at a place.
fn other_definitions(layout: &Layout, bits: Wide, at: Span) -> impl Iterator<Item = (Span, String)> {
    let others = definitions(layout).filter(move |(other, span, _)| !(*other & bits).is_zero() && *span != at);
    others.map(|(_, span, what)| (span, what)).take(MARKED)
}

fn coverage(layout: &Layout, out: &mut Diagnostics) {
    let whole = Wide::ones(layout.bits.into());
    // An alias may fix the values of fields.
    let alias = layout.role != Role::Own;
    for (bits, span) in layout.ignored_at.iter().filter(|_| !alias) {
        if !(*bits & !whole).is_zero() {
            let message =
                format!("ignored {} out of range: the last bit is {}", bits_text(*bits & !whole), layout.bits - 1);
            out.push(Diagnostic::error("E0104", *span, message));
        } else if !(*bits & layout.fixed_mask).is_zero() {
            let both = *bits & layout.fixed_mask;
            let message = format!("{} of `{}` cannot be both constant and ignored", bits_text(both), layout.name);
            let error = Diagnostic::error("E0107", *span, message).label(IGNORED);
            out.push(other_definitions(layout, both, *span).fold(error, |error, (span, what)| error.rival(span, what)));
        }
    }
    let mut claimed = layout.fixed_mask | layout.ignored;
    for field in &layout.fields {
        let Source::Bits(pieces) = &field.source else { continue };
        let bits = Layout::bits_of(pieces);
        if !(bits & !whole).is_zero() {
            let message = format!(
                "{} of `{}` out of range: the last bit is {}",
                bits_text(bits & !whole),
                field.name,
                layout.bits - 1
            );
            out.push(Diagnostic::error("E0104", field.span, message));
        } else if !(bits & claimed).is_zero() && !alias {
            let message = format!(
                "{} of `{}` in `{}` also mean something else",
                bits_text(bits & claimed),
                field.name,
                layout.name
            );
            // Either of the two may be wrong.
            let error = Diagnostic::error("E0107", field.span, message);
            let others = other_definitions(layout, bits, field.span);
            out.push(others.fold(error, |error, (span, what)| error.rival(span, what)));
        }
        claimed |= bits;
    }
    let rest = layout.undefined();
    if !rest.is_zero() && !alias {
        let message = format!("undefined {} in `{}`", bits_text(rest), layout.name);
        let help = "add them to `fixed`, `ignored` or a field, or say `every: { unused: zero }`";
        // A neighbouring part may be too narrow or misplaced.
        let mut beside = Wide::ZERO;
        for (at, width) in rest.runs() {
            beside.set(at.saturating_sub(1), 1, 1);
            beside.set((at + width).min(Wide::BITS - 1), 1, 1);
        }
        let mut next = definitions(layout).filter(|(bits, ..)| !(*bits & beside & !rest).is_zero()).take(MARKED);
        let error = match next.next() {
            Some((_, span, _)) => {
                let error = Diagnostic::error("E0105", span, message).label("next to them");
                next.fold(error, |error, (_, span, _)| error.rival(span, "next to them"))
                    .secondary(layout.span, "in this")
            }
            None => Diagnostic::error("E0105", layout.span, message),
        };
        out.push(error.help(help));
    }
}

/// The field through which a kind of operand contains an operand of the same kind, possibly indirectly.
fn holding_itself(stream: &Stream, kind: usize) -> Option<Span> {
    let held = |set: usize| {
        let fields = stream.sets.get(set).into_iter().flat_map(|set| &set.layouts).flat_map(|layout| &layout.fields);
        fields.filter_map(|field| if let Type::Set(set, _) = field.ty { Some((set, field.span)) } else { None })
    };
    let mut seen = vec![false; stream.sets.len()];
    for (first, span) in held(kind) {
        let mut open = vec![first];
        while let Some(next) = open.pop() {
            if next == kind {
                return Some(span);
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(held(next).map(|(set, _)| set));
            }
        }
    }
    None
}

/// Reports inverses that use fields the value does not depend on, or fields that the inverse itself sets later.
fn check_inverses(layout: &Layout, out: &mut Diagnostics) {
    let leaves = layout.leaves();
    for (i, field) in layout.fields.iter().enumerate() {
        let Source::Computed { inverse, .. } = &field.source else { continue };
        let mut later: u64 = inverse.iter().fold(0, |all, (given, _)| all | 1 << (given & 63));
        for (given, expr) in inverse {
            let asked = expr.inputs.iter().filter_map(|input| match input {
                core::Input::Field(asked) if usize::from(*asked) != i => Some(usize::from(*asked)),
                _ => None,
            });
            for asked in asked {
                let of = &layout.fields[asked].name;
                let (message, help) = if leaves[asked] & !leaves[i] != 0 {
                    (format!("its value does not follow from `{of}`"), "name what `value` names")
                } else if leaves[asked] & later != 0 {
                    (format!("`{of}` is not known yet"), "put first what others are computed from")
                } else {
                    continue;
                };
                let error =
                    Diagnostic::error("E0131", field.span, format!("the inverse cannot be computed: {message}"));
                out.push(error.help(help));
            }
            later &= !(1 << (given & 63));
        }
    }
}

/// Reports operands and computed values that are nested more deeply than decoding supports.
fn depths(stream: &Stream, out: &mut Diagnostics) {
    // For each set, the nesting depth of its operands and the longest chain of computed values that its parameters
    // depend on.
    let mut sets = vec![(0u8, 0u8); stream.sets.len()];
    // Each iteration follows operands one level further; there are no cycles.
    for _ in 0..=MAX_NESTING {
        for (index, set) in stream.sets.iter().enumerate() {
            let (depth, outer) = sets[index];
            for layout in &set.layouts {
                let chains = chains(layout, outer);
                for (field, chain) in layout.fields.iter().zip(&chains) {
                    let deep = match &field.ty {
                        Type::Set(held, arguments) => {
                            let told = arguments.iter().filter_map(|argument| chains.get(*argument)).max();
                            let (inner, parameters) = &mut sets[*held];
                            *inner = (*inner).max(depth + 1);
                            *parameters = (*parameters).max(told.copied().unwrap_or(0));
                            *inner > MAX_NESTING
                        }
                        _ => false,
                    };
                    let (message, help) = if deep {
                        (format!("operands nest more than {MAX_NESTING} deep"), "let kinds hold fields")
                    } else if *chain > MAX_CHAIN {
                        let message =
                            format!("a chain of more than {MAX_CHAIN} computed values leads to `{}`", field.name);
                        (message, "compute it from bits")
                    } else {
                        continue;
                    };
                    out.push(Diagnostic::error("E0131", field.span, message).help(help));
                    return;
                }
            }
        }
    }
}

/// The length of the chain of computed values that each field depends on, with `outer` for parameters.
fn chains(layout: &Layout, outer: u8) -> Vec<u8> {
    let bits = |field: &Field| if let Source::Outer(_) = field.source { outer } else { 0 };
    let mut chains: Vec<u8> = layout.fields.iter().map(bits).collect();
    for _ in 0..=MAX_CHAIN {
        let mut longer = false;
        for (i, field) in layout.fields.iter().enumerate() {
            let Source::Computed { value, .. } = &field.source else { continue };
            let of = |input: &core::Input| match input {
                core::Input::Field(field) => chains.get(usize::from(*field)).copied(),
                _ => None,
            };
            let found = 1 + value.inputs.iter().filter_map(of).max().unwrap_or(0).min(MAX_CHAIN);
            longer |= found > chains[i];
            chains[i] = found;
        }
        if !longer {
            break;
        }
    }
    chains
}

fn cycles(layout: &Layout, out: &mut Diagnostics) {
    let needs = |i: usize| match &layout.fields[i].source {
        Source::Computed { value, .. } => value
            .inputs
            .iter()
            .filter_map(|input| match input {
                core::Input::Field(field) => Some(usize::from(*field)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    for (i, field) in layout.fields.iter().enumerate() {
        let mut seen = vec![false; layout.fields.len()];
        let mut open = needs(i);
        while let Some(next) = open.pop() {
            if next == i {
                let message = format!("`{}` is computed from itself", field.name);
                out.push(
                    Diagnostic::error("E0131", field.span, message)
                        .help("compute it from fields with bits of their own"),
                );
                break;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(needs(next));
            }
        }
    }
}
