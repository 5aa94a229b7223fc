//! Enum values and the fields that hold them.
//!
//! E0103: two values with the same number. E0108: a value that does not fit into the field. E0116: a default that is
//! not one of the values. E0034: no values.

use std::collections::{BTreeMap, HashMap, HashSet};

use isaforge_core::bits::ones;

use crate::diagnostic::{Diagnostic, Diagnostics, count};
use crate::model::{Enum, Field, Isa, Modifier, Part, Type};
use crate::source::Span;
use crate::stream::model::{self as stream, Source};

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for e in &isa.enums {
        if e.values.is_empty() {
            let message = format!("`{}` has no named value", e.name);
            out.push(Diagnostic::error("E0034", e.span, message).help("name at least one value, or remove the enum"));
        }
        distinct(e, out);
        for value in &e.values {
            if let Some(width) = e.bits
                && value.bits > ones(u32::from(width))
            {
                let bits = count(usize::from(width), "bit");
                let message = format!("the value `{}` is {} and does not fit {bits}", value.name, value.bits);
                let list = isa.places.first(e.span, Part::List);
                let error = Diagnostic::error("E0108", value.span, message).secondary(e.span, "declared by this enum");
                // The number comes from its position in the list.
                out.push(error.rival(list, "in this list"));
            }
        }
    }
    let mut widths = Widths { isa, misfits: Vec::new(), held: HashSet::new() };
    for shared in &isa.shared {
        let Some(e) = shared.printed.map(|e| &isa.enums[e]) else { continue };
        let ty = Type::Enum(shared.printed.unwrap_or(0));
        let width = shared.bits.width();
        widths.look(&Holder { name: &shared.name, width, ty, span: shared.span, used: None }, out);
        if !e.values.iter().any(|value| value.bits == shared.default) {
            let message = format!("the default {} of `{}` is not a value of `{}`", shared.default, shared.name, e.name);
            out.push(
                Diagnostic::error("E0116", shared.span, message)
                    .secondary(e.span, "the enum")
                    .help("give `default:` one of its values"),
            );
        }
    }
    let mut told = HashSet::new();
    for kind in &isa.kinds {
        for field in kind.alternatives.iter().flat_map(|a| &a.fields) {
            let Field { name, bits, ty, span } = field;
            widths.look(&Holder { name, width: bits.width(), ty: *ty, span: *span, used: None }, out);
        }
    }
    let shared: HashSet<Span> = isa.shared.iter().map(|s| s.span).collect();
    for modifier in isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes)))
    {
        let Modifier { name, bits, ty, span, declared, .. } = modifier;
        let place = declared.unwrap_or(*span);
        if !shared.contains(span) && told.insert((place, bits.width(), *ty == Type::Flag)) {
            let (width, used) = (bits.width(), declared.map(|_| *span));
            widths.look(&Holder { name, width, ty: *ty, span: place, used }, out);
        }
    }
    // Documents of others share enums among fields of several widths.
    let own = isa.stream().filter(|stream| !stream.exclusive);
    let layouts = own.into_iter().flat_map(|stream| &stream.sets).flat_map(|set| &set.layouts);
    for field in layouts.flat_map(|layout| &layout.fields) {
        let (stream::Type::Enum(e, _), Source::Bits(_)) = (&field.ty, &field.source) else { continue };
        let width = u32::from(field.width);
        if told.insert((field.span, width, false)) {
            widths.look(&Holder { name: &field.name, width, ty: Type::Enum(*e), span: field.span, used: None }, out);
        }
    }
    widths.report(out);
}

/// Whether no values have the same number; reports them otherwise.
pub(crate) fn distinct(e: &Enum, out: &mut Diagnostics) -> bool {
    let (mut first, before) = (HashMap::new(), out.failures());
    for value in &e.values {
        if let Some(earlier) = first.insert(value.bits, value.span) {
            let message = format!("two values of `{}` are {}", e.name, value.bits);
            let error = Diagnostic::error("E0103", value.span, message).label("again here");
            out.push(error.secondary(earlier, "the other one"));
        }
    }
    out.failures() == before
}

/// Something that holds a value.
struct Holder<'a> {
    name: &'a str,
    width: u32,
    ty: Type,
    span: Span,
    used: Option<Span>,
}

/// Fields that cannot hold all values of their enum or table.
struct Widths<'a> {
    isa: &'a Isa,
    /// Fields that are too narrow.
    misfits: Vec<Misfit>,
    /// Enums and tables that fit into at least one field.
    held: HashSet<Span>,
}

struct Misfit {
    error: Diagnostic,
    /// Where the enum or table is defined.
    definition: Span,
    /// Where the value that does not fit is written, with a label.
    says: (Span, String),
    /// The message if the definition is wrong instead.
    otherwise: String,
}

impl Widths<'_> {
    fn look(&mut self, field: &Holder<'_>, out: &mut Diagnostics) {
        let Holder { name, width, ty, span, used } = *field;
        let error = |message: String| {
            let error = Diagnostic::error("E0108", span, message);
            used.into_iter().fold(error, |error, used| error.secondary(used, "used here"))
        };
        if width > 64 {
            out.push(error(format!("`{name}` has {width} bits, and no field can have more than 64")));
            return;
        }
        let (definition, misfit) = match ty {
            Type::Flag if width != 1 => {
                let error = error(format!("the flag `{name}` has {width} bits"));
                out.push(error.help("give one bit, or name an `enum`"));
                return;
            }
            Type::Enum(e) => {
                let e = &self.isa.enums[e];
                let misfit = if let Some(declared) = e.bits.filter(|b| u32::from(*b) != width) {
                    let error = error(format!("`{name}` has {width} bits, but `{}` has {declared}", e.name));
                    let otherwise = format!("`{}` has {declared} bits, but none of its fields does", e.name);
                    Some((error, (e.span, "declared by this enum".to_owned()), otherwise))
                } else {
                    e.values.iter().find(|v| v.bits > ones(width)).map(|value| {
                        let (word, bits) = (&value.name, value.bits);
                        let error = error(format!("`{name}` has {width} bits, but the value `{word}` is {bits}"));
                        let list = self.isa.places.first(e.span, Part::List);
                        let otherwise = format!("no field holds the value `{word}` of `{}`, which is {bits}", e.name);
                        let error = error.secondary(value.span, "this value does not fit");
                        (error, (list, format!("the list of `{}`", e.name)), otherwise)
                    })
                };
                (e.span, misfit)
            }
            Type::Constant(table) => {
                let table = &self.isa.constants[table];
                let (name, count) = (name, table.values.len());
                let misfit = (count as u64 > ones(width).saturating_add(1)).then(|| {
                    let error = error(format!("`{name}` has {width} bits, but `{}` has {count} constants", table.name));
                    let list = self.isa.places.first(table.span, Part::List);
                    let otherwise = format!("no field holds the {count} constants of `{}`", table.name);
                    (error, (list, "the table".to_owned()), otherwise)
                });
                (table.span, misfit)
            }
            _ => return,
        };
        match misfit {
            Some((error, says, otherwise)) => self.misfits.push(Misfit { error, definition, says, otherwise }),
            None => drop(self.held.insert(definition)),
        }
    }

    /// Reports a field at its place if another field holds the same enum. If several fields are too narrow and none
    /// fits, reports the enum.
    fn report(self, out: &mut Diagnostics) {
        const SHOWN: usize = 4;
        let mut by_definition: BTreeMap<Span, Vec<Misfit>> = BTreeMap::new();
        for misfit in self.misfits {
            by_definition.entry(misfit.definition).or_default().push(misfit);
        }
        for (definition, misfits) in by_definition {
            let several = misfits.len() > 1;
            if several && !self.held.contains(&definition) {
                let Some(Misfit { says: (place, text), otherwise, error, .. }) = misfits.first() else { continue };
                let fields = misfits.iter().filter_map(|misfit| misfit.error.primary).take(SHOWN);
                let whole = Diagnostic::error("E0108", *place, otherwise.clone()).label(text.clone());
                let whole = fields.fold(whole, |whole, field| whole.secondary(field, "a field of it"));
                let value = error.secondary.iter().filter(|(_, text)| text.starts_with("this value"));
                out.push(value.cloned().fold(whole, |whole, (span, text)| whole.secondary(span, text)));
                continue;
            }
            for Misfit { error, says: (place, text), .. } in misfits {
                let held = self.held.contains(&definition);
                out.push(if held { error.secondary(place, text) } else { error.rival(place, text) });
            }
        }
    }
}
