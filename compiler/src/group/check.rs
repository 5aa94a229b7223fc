//! Rules for a description of groups.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0104 | bits outside the record |
//! | E0105 | bits of a record that are not defined |
//! | E0107 | bits of a record that are defined twice |
//! | E0301 | two records that can be in the same place cannot be distinguished |
//! | E0302 | a record that sets a value twice, or to a value that its field cannot have |
//! | E0303 | a slot that no record can be in |
//! | E0304 | a header that does not determine which slots are present |
//! | W0303 | a choice that no slot uses, or a record that no slot allows |

use isaforge_core::bits::ones;
use isaforge_core::group::table::{Encoding, Type};

use super::header::{allowed, begins_group, holds, key_of};
use crate::check::suspect::{Finding, Standing, judge};
use crate::check::text::{more, runs_text};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::group::model::{Choice, Derived, Groups, Place, Record, Slot};
use crate::model::{Isa, Part};
use crate::source::Span;

/// The maximum width of a header's key in bits.
pub const MAX_KEY_BITS: u32 = 12;

/// Applies every rule.
pub fn check(isa: &Isa, groups: &Groups, out: &mut Diagnostics) {
    for choice in &groups.choices {
        for field in &choice.fields {
            let Type::Enum(index) = field.ty else { continue };
            let named = isa.enums[usize::from(index)].values.iter().any(|v| v.bits as i64 == field.default);
            if !named {
                let message = format!(
                    "{} is not a value of `{}`, but it is the default of `{}`",
                    field.default,
                    isa.enums[usize::from(index)].name,
                    field.name
                );
                out.push(Diagnostic::error("E0302", field.span, message).help("give it a `default`"));
            }
        }
        for record in &choice.records {
            bits(isa, record, choice, out);
            values(isa, record, choice, out);
        }
    }
    if out.has_errors() {
        return;
    }
    for (index, slot) in groups.slots.iter().enumerate() {
        let choice = &groups.choices[slot.choice];
        if slot.records.is_empty() {
            out.push(Diagnostic::error("E0303", slot.span, format!("no record fits in `{}`", slot.name)));
        }
        if index == 0 && (slot.chain != 0 || !slot.when.is_empty()) {
            let error = Diagnostic::error("E0304", slot.span, "the first slot is the header, which every group has");
            out.push(error.help("remove `when` and `chain`"));
        }
        ambiguity(isa, groups, index, choice, out);
    }
    keys(groups, out);
    if !out.has_errors() {
        some_group(isa, groups, out);
    }
    if !out.has_errors() {
        unused(groups, out);
    }
}

fn bits(isa: &Isa, record: &Record, choice: &Choice, out: &mut Diagnostics) {
    let fixed = record.fixed.iter().map(|f| (f.mask, 64 - f.mask.leading_zeros(), "constant bits".to_owned(), f.span));
    let name = |p: &Place| format!("`{}`", choice.fields[p.field].name);
    let fields = record.places.iter().map(|p| (p.bits.mask(0), p.bits.end(0), name(p), p.span));
    let claims: Vec<_> = fixed.chain(fields).collect();
    let size = u32::from(record.bytes) * 8;
    let mut beyond = false;
    let mut pairs = Vec::new();
    for (i, (mask, end, what, span)) in claims.iter().enumerate() {
        if *end > size {
            let message = format!("{what} reaches bit {}, but `{}` has {size} bits", end - 1, record.name);
            out.push(Diagnostic::error("E0104", *span, message).help("bit 8 is the lowest of the second byte"));
            beyond = true;
        }
        pairs.extend((0..i).filter(|j| claims[*j].0 & mask != 0).map(|j| (j, i)));
    }
    for Finding { wrong, others, even } in judge(&pairs, |_| Standing::Unknown) {
        let (mask, _, what, span) = &claims[wrong];
        let both = others.iter().fold(0, |both, other| both | claims[*other].0 & mask);
        let names: Vec<&str> = others.iter().map(|other| claims[*other].2.as_str()).collect();
        let message = format!("{} of {what} overlap {}", runs_text(both), names.join(", "));
        let mut error = Diagnostic::error("E0107", *span, message).label(format!("{what} here"));
        for (_, _, what, span) in others.iter().map(|other| &claims[*other]) {
            let label = format!("{what} here");
            error = if even { error.rival(*span, label) } else { error.secondary(*span, label) };
        }
        out.push(error);
    }
    let claimed = claims.iter().fold(0, |all, (mask, ..)| all | mask);
    if claimed & record.all() != record.all() && !beyond {
        let missing = record.all() & !claimed;
        let message = format!("undefined {} in `{}`", runs_text(missing), record.name);
        let mut error = Diagnostic::error("E0105", isa.places.first(record.span, Part::Whole), message);
        let beside = missing << 1 & !missing | missing >> 1 & !missing;
        for (_, _, what, span) in claims.iter().filter(|(mask, ..)| mask & beside != 0).take(4) {
            error = error.secondary(*span, format!("adjacent: {what}"));
        }
        out.push(error.help("reserved bits are constant: `fixed: { 4: 0 }`"));
    }
}

fn values(isa: &Isa, record: &Record, choice: &Choice, out: &mut Diagnostics) {
    for (i, place) in record.places.iter().enumerate() {
        let field = &choice.fields[place.field];
        let named = matches!(field.ty, Type::Enum(_));
        if record.places[..i].iter().any(|p| p.field == place.field) {
            out.push(Diagnostic::error("E0302", place.span, format!("`{}` is placed twice", field.name)));
        }
        if named && place.bits.width() > 6 || field.ty == Type::Flag && place.bits.width() != 1 {
            let message = format!("`{}` cannot have {} bits", field.name, place.bits.width());
            let help = "a flag has one bit, an enum at most six";
            out.push(Diagnostic::error("E0302", place.span, message).help(help));
        }
        if named && field.encoding != Encoding::Plain {
            let message = format!("`{}` is an enum and cannot be stored as another number", field.name);
            out.push(Diagnostic::error("E0302", field.span, message));
        }
        if named && allowed(isa, choice, place) == 0 {
            let message = format!("no value of `{}` fits {} bits", field.name, place.bits.width());
            out.push(Diagnostic::error("E0302", place.span, message));
        }
        if let Some((field, _)) = record.implies.iter().find(|(f, _)| *f == place.field) {
            let message = format!("`{}` is both stored in bits and implied", choice.fields[*field].name);
            out.push(Diagnostic::error("E0302", place.span, message));
        }
    }
}

/// The records that may be found where a slot starts, each with its slot.
fn rivals(groups: &Groups, index: usize) -> Vec<(&Slot, &Choice, &Record)> {
    let slot = &groups.slots[index];
    let later = |(i, s): &(usize, &Slot)| *i == index || *i > index && slot.chain != 0 && s.chain == slot.chain;
    let slots = groups.slots.iter().enumerate().filter(later);
    slots
        .flat_map(|(_, s)| {
            s.records.iter().map(move |r| (s, &groups.choices[s.choice], &groups.choices[s.choice].records[*r]))
        })
        .filter(|(_, _, r)| r.unusable.is_empty() && !r.no_encoding)
        .collect()
}

fn ambiguity(isa: &Isa, groups: &Groups, index: usize, own: &Choice, out: &mut Diagnostics) {
    const SHOWN: usize = 4;
    let rivals = rivals(groups, index);
    let mut pairs = Vec::new();
    for (i, (slot, choice, record)) in rivals.iter().enumerate() {
        for (j, (other_slot, other_choice, other)) in rivals[..i].iter().enumerate() {
            // Pairs of two later slots in the chain are compared when those slots are checked.
            let mine = slot.name == groups.slots[index].name || other_slot.name == groups.slots[index].name;
            if mine && !apart(isa, choice, record, other_choice, other) {
                pairs.push((j, i));
            }
        }
    }
    // Spans all constants of a record.
    let mark = |record: &Record| record.fixed.iter().map(|fixed| fixed.span).reduce(Span::to).unwrap_or(record.span);
    for Finding { wrong, others, even } in judge(&pairs, |_| Standing::Unknown) {
        let record = rivals[wrong].2;
        let others: Vec<&Record> = others.iter().map(|i| rivals[*i].2).collect();
        let Some(other) = others.first() else { continue };
        let rest = more(others.len(), 1).map_or_else(String::new, |rest| format!(" (and {rest} more)"));
        let message = format!("`{}` and `{}`{rest} start with the same bits", record.name, other.name);
        let ((am, av), (bm, bv)) = (record.pattern(), other.pattern());
        let witness = (av & am | bv & bm).to_le_bytes();
        let bytes: Vec<String> =
            witness[..usize::from(record.bytes.max(other.bytes))].iter().map(|b| format!("{b:02x}")).collect();
        let label = |record: &Record| format!("constant bits of `{}`", record.name);
        let mut error = Diagnostic::error("E0301", mark(record), message).label(label(record));
        for other in others.iter().take(SHOWN) {
            error =
                if even { error.rival(mark(other), label(other)) } else { error.secondary(mark(other), label(other)) };
        }
        error = error.note(format!("both fit the bytes {} in `{}`", bytes.join(" "), own.name));
        out.push(error.help("constant bits must tell them apart, or one must be `unusable`"));
    }
}

/// Whether two records can be distinguished within their common bytes.
fn apart(isa: &Isa, a_choice: &Choice, a: &Record, b_choice: &Choice, b: &Record) -> bool {
    let common = a.all() & b.all();
    let ((am, av), (bm, bv)) = (a.pattern(), b.pattern());
    let constants = (av ^ bv) & am & bm & common != 0;
    // Whether a field of one has no valid value that equals constant bits of the other.
    let fields = |choice: &Choice, record: &Record, mask: u64, value: u64| {
        record.places.iter().any(|place| {
            let bits = place.bits.mask(0);
            let low = place.bits.0.first().map_or(0, |p| p.at);
            let one_piece = place.bits.0.len() == 1;
            bits & common & mask == bits && one_piece && {
                let found = value >> low & ones(place.bits.width());
                found > 63 || allowed(isa, choice, place) >> found & 1 == 0
            }
        })
    };
    constants || fields(a_choice, a, bm, bv) || fields(b_choice, b, am, av)
}

fn keys(groups: &Groups, out: &mut Diagnostics) {
    let Some(header) = groups.slots.first() else { return };
    let choice = &groups.choices[header.choice];
    if choice.records.len() > 32 {
        let message = format!("`{}` has {} records, a header at most 32", choice.name, choice.records.len());
        out.push(Diagnostic::error("E0304", choice.span, message));
    }
    for record in header.records.iter().map(|r| &choice.records[*r]) {
        let width: u32 = key_of(groups, record).iter().map(|p| p.bits.width()).sum();
        if width > MAX_KEY_BITS {
            let message = format!("{width} bits of `{}` select the slots, but at most {MAX_KEY_BITS} may", record.name);
            out.push(Diagnostic::error("E0304", record.span, message));
        }
        let lengths = groups.derived.iter().filter(|d| d.offset.is_none() && holds(&d.when, record));
        let in_bits = |d: &Derived| record.places.iter().any(|p| p.field == d.field);
        if lengths.clone().next().is_some() && !lengths.clone().any(in_bits) {
            let message = format!("no bits of a group with the header `{}` give its length", record.name);
            let error = Diagnostic::error("E0304", record.span, message).label("this header");
            let error =
                error.help("give the field of the length bits: an implied value is never compared with the group");
            out.push(
                error.help("where constant bits tell lengths apart, write a stream: `word: [16, 32]`, or `length: …`"),
            );
        }
        if lengths.clone().next().is_none() {
            let message = format!("the length of a group with the header `{}` is undefined", record.name);
            out.push(Diagnostic::error("E0304", record.span, message).help("a `derived` field with `length: true`"));
        }
    }
}

/// A header alone has no effect, so at least one header must announce another slot.
fn some_group(isa: &Isa, groups: &Groups, out: &mut Diagnostics) {
    let Some(header) = groups.slots.first() else { return };
    let choice = &groups.choices[header.choice];
    if !header.records.iter().any(|r| begins_group(isa, groups, choice, &choice.records[*r])) {
        let message = format!("no group begins with `{}`, since no slot ever follows it", header.name);
        let error = Diagnostic::error("E0304", header.span, message).label("the header");
        out.push(error.help("add a slot for what the group does; a `filler` alone does nothing"));
    }
}

fn unused(groups: &Groups, out: &mut Diagnostics) {
    for (index, choice) in groups.choices.iter().enumerate() {
        let slots: Vec<&Slot> = groups.slots.iter().filter(|s| s.choice == index).collect();
        if slots.is_empty() {
            out.push(Diagnostic::warning("W0303", choice.span, format!("no slot has the choice `{}`", choice.name)));
            continue;
        }
        for (i, record) in choice.records.iter().enumerate() {
            if !slots.iter().any(|s| s.records.contains(&i)) {
                out.push(Diagnostic::warning(
                    "W0303",
                    record.span,
                    format!("no slot allows the record `{}`", record.name),
                ));
            }
        }
    }
}
