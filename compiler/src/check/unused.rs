//! Warnings: unused definitions (W0202), instructions without a description (W0203), assumptions without a reason
//! (W0204), fields that can have only one value (W0205), fields that do not fit their bank (W0207), and lists of values
//! that end early (W0209).

use std::collections::{HashMap, HashSet};

use isaforge_core::bits::ones;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Isa, Modifier, Operand, Part, Shape, Type};
use crate::source::Span;
use crate::spec::Provenance;

/// Looks for all of them. Unused definitions are reported only if the model is `complete`.
pub fn check(isa: &Isa, complete: bool, out: &mut Diagnostics) {
    if complete {
        unused(isa, out);
    }
    fields(isa, out);
    short_lists(isa, out);
    for form in &isa.forms {
        if form.doc.is_empty() && form.title.is_empty() {
            let warning = Diagnostic::warning("W0203", form.span, format!("`{}` has no description", form.name));
            out.push(warning.help("describe it under `doc`, or in a few words under `title`"));
        }
        if form.provenance == Provenance::Assumed && form.note.is_empty() {
            let message = format!("`{}` is assumed without a reason", form.name);
            out.push(Diagnostic::warning("W0204", form.span, message).help("give the reason under `note`"));
        }
    }
}

/// The modifiers and suffixes of all definitions.
fn modifiers(isa: &Isa) -> impl Iterator<Item = &Modifier> {
    let suffixes = isa.kinds.iter().flat_map(|k| &k.suffixes);
    suffixes.chain(isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes))))
}

fn unused(isa: &Isa, out: &mut Diagnostics) {
    let kinds: HashSet<usize> = isa
        .forms
        .iter()
        .flat_map(|f| &f.operands)
        .filter_map(|o| match o.shape {
            Shape::One { kind, .. } | Shape::List { kind, .. } => Some(kind),
            Shape::Number { .. } => None,
        })
        .collect();
    // An unused kind is reported once, without the definitions that only it uses.
    let alternatives = || isa.kinds.iter().flat_map(|k| &k.alternatives);
    let mut enums: HashSet<Span> = HashSet::new();
    let (mut constants, mut banks) = (HashSet::new(), HashSet::new());
    let types = alternatives().flat_map(|a| &a.fields).map(|f| f.ty).chain(modifiers(isa).map(|m| m.ty));
    for ty in types.chain(isa.shared.iter().filter_map(|s| s.printed.map(Type::Enum))) {
        match ty {
            // Enums derived from another have the place of that one.
            Type::Enum(i) => drop(enums.insert(isa.enums[i].span)),
            Type::Constant(i) => drop(constants.insert(i)),
            Type::Register(i) => drop(banks.insert(i)),
            Type::Flag | Type::Decimal | Type::Hex | Type::Signed => {}
        }
    }
    let in_bits = alternatives().flat_map(|a| a.fields.iter().map(|f| &f.bits)).chain(modifiers(isa).map(|m| &m.bits));
    let numbers = isa.forms.iter().flat_map(|f| &f.operands).filter_map(|o| match &o.shape {
        Shape::Number { bits, .. } => Some(bits),
        Shape::One { .. } | Shape::List { .. } => None,
    });
    let mut shared: HashSet<usize> = in_bits.chain(numbers).flat_map(Bits::shared).collect();
    shared.extend(alternatives().flat_map(|a| a.when.iter().map(|(s, _)| *s)));
    let mut report = |what: &str, name: &str, span: Span| {
        // Unused parts of a base do not concern the specification that builds on it.
        if isa.bases.contains(&span.file) {
            return;
        }
        let warning = Diagnostic::warning("W0202", span, format!("the {what} `{name}` is never used"));
        out.push(warning.help("use it or remove it"));
    };
    for e in isa.enums.iter().filter(|e| !e.implied && !enums.contains(&e.span)) {
        report("enum", &e.name, e.span);
    }
    for (_, c) in isa.constants.iter().enumerate().filter(|(i, _)| !constants.contains(i)) {
        report("table of constants", &c.name, c.span);
    }
    for (_, b) in isa.banks.iter().enumerate().filter(|(i, _)| !banks.contains(i)) {
        report("bank", &b.name, b.span);
    }
    for (_, s) in isa.shared.iter().enumerate().filter(|(i, s)| s.printed.is_none() && !shared.contains(i)) {
        report("shared field", &s.name, s.span);
    }
    // A kind in pieces is derived from a declared one and has its place.
    let used_spans: HashSet<Span> = kinds.iter().map(|i| isa.kinds[*i].span).collect();
    for (_, k) in isa.kinds.iter().enumerate().filter(|(i, k)| !kinds.contains(i) && !used_spans.contains(&k.span)) {
        report("kind", &k.name, k.span);
    }
}

/// Fields wider than this usually do not list all values.
const LISTED_WIDTH: u32 = 6;

/// Warns of a list of values that ends early, from which one may be missing.
pub(super) fn short_lists(isa: &Isa, out: &mut Diagnostics) {
    let own = isa.kinds.iter().flat_map(|k| &k.alternatives).flat_map(|a| &a.fields).map(|f| (f.ty, f.bits.width()));
    let widths = own.chain(modifiers(isa).map(|m| (m.ty, m.bits.width())));
    let shared = isa.shared.iter().filter_map(|s| Some((Type::Enum(s.printed?), s.bits.width())));
    let mut widest: HashMap<usize, u32> = HashMap::new();
    for choice in isa.groups().into_iter().flat_map(|groups| &groups.choices) {
        for place in choice.records.iter().flat_map(|record| &record.places) {
            if let isaforge_core::group::table::Type::Enum(e) = choice.fields[place.field].ty {
                let known = widest.entry(place.narrowed.unwrap_or(usize::from(e))).or_default();
                *known = place.bits.width().max(*known);
            }
        }
    }
    for (ty, width) in widths.chain(shared) {
        if let Type::Enum(e) = ty {
            let known = widest.entry(e).or_default();
            *known = width.max(*known);
        }
    }
    for (i, e) in isa.enums.iter().enumerate().filter(|(_, e)| !e.open && e.values.len() > 1) {
        let Some(width) = widest.get(&i).filter(|width| **width <= LISTED_WIDTH && e.listed <= ones(**width)) else {
            continue;
        };
        let last = if e.listed == ones(*width) {
            format!("{}", e.listed)
        } else {
            format!("{} to {}", e.listed, ones(*width))
        };
        let message = format!(
            "the list of `{}` is too short for its fields of {width} bits: {last} {} undefined",
            e.name,
            if e.listed == ones(*width) { "is" } else { "are" }
        );
        let list = isa.places.first(e.span, Part::List);
        let mut warning = Diagnostic::warning("W0209", list, message.trim_end()).secondary(e.span, "this enum");
        for (_, span) in isa.places.of(e.span, Part::List).iter().skip(1) {
            warning = warning.rival(*span, "the list continues here");
        }
        out.push(warning.help("name the missing values, or end the list with `~`: the rest is reserved"));
    }
}

fn fields(isa: &Isa, out: &mut Diagnostics) {
    let mut told = HashSet::new();
    // A kind of plain registers was made for operands, so its mistakes are reported there.
    let mut plain: HashMap<usize, &Operand> = HashMap::new();
    for operand in isa.forms.iter().flat_map(|f| &f.operands) {
        if let Shape::One { kind, .. } | Shape::List { kind, .. } = operand.shape {
            plain.entry(kind).or_insert(operand);
        }
    }
    let own = isa.kinds.iter().enumerate().flat_map(|(i, kind)| kind.alternatives.iter().map(move |a| (i, kind, a)));
    let own = own.flat_map(|(i, kind, alternative)| {
        let operand = plain.get(&i).filter(|_| alternative.span == kind.span).copied();
        let place = operand.map(|o| (o.name.as_str(), o.declared.unwrap_or(o.span)));
        alternative.fields.iter().map(move |field| {
            let (name, span) = place.unwrap_or((&field.name, field.span));
            (name, &field.bits, field.ty, span, None)
        })
    });
    let modifiers = modifiers(isa)
        .map(|m| (m.name.as_str(), &m.bits, m.ty, m.declared.unwrap_or(m.span), m.declared.map(|_| m.span)));
    for (name, bits, ty, span, used) in own.chain(modifiers) {
        let codes = ones(bits.width());
        let values = match ty {
            Type::Enum(e) => isa.enums[e].values.iter().filter(|v| v.bits <= codes).count() as u64,
            Type::Constant(c) => isa.constants[c].values.len() as u64,
            Type::Register(b) => u64::from(isa.banks[b].count),
            Type::Flag | Type::Decimal | Type::Hex | Type::Signed => continue,
        };
        // A word that is always printed takes no bits.
        if bits.width() == 0 || !told.insert((span, bits.width())) {
            continue;
        }
        // Reserved values may get a meaning later.
        if values == 1 && !matches!(ty, Type::Enum(e) if isa.enums[e].listed > 1) {
            let warning =
                Diagnostic::warning("W0205", span, format!("`{name}` never varies: it can have only one value"));
            let warning = used.into_iter().fold(warning, |warning, used| warning.secondary(used, "used here"));
            out.push(warning.help("make its bits constant, or give it the missing values"));
        } else if let Type::Register(b) = ty {
            let bank = &isa.banks[b];
            let whole = bits.shared().next().is_none();
            // A field that is more than one bit too narrow is meant for a part of the bank; one bit is likely a
            // mistake.
            let message = if codes < values.saturating_sub(1) && codes.saturating_mul(2) >= values.saturating_sub(2) {
                format!(
                    "`{name}` has {} bits and names only the first {} of {values} registers",
                    bits.width(),
                    codes + 1
                )
            } else if whole && codes >> 1 >= values {
                format!(
                    "`{name}` has {} bits, but its {values} registers need fewer: the top bit is always 0",
                    bits.width()
                )
            } else {
                continue;
            };
            out.push(Diagnostic::warning("W0207", span, message).secondary(bank.span, "the bank"));
        }
    }
}
