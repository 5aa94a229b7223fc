//! Whether computed values can be inverted to the bits they are computed from.
//!
//! E0132: a value for which no inverse is found, or none is proved to exist. For few bits, all values are tried. For
//! more bits, either the expression must be a sum of bits or a number times a factor plus an offset, which
//! [`isaforge_core::stream::solve`] inverts, or an inverse must be given, whose results [diagrams](super::validity)
//! represent.

use std::collections::HashSet;

use isaforge_core::stream::{self as core, Engine, Role, Scope, Source, Wide, sample};

use super::diagram::Node;
use super::linear;
use super::model::{Layout, Set, Stream};
use super::rules::{MAX_REPORTED, SAMPLES, bits_of_fields, engine_for, spread};
use super::tree::order;
use super::validity::{Validity, by_significance};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The maximum number of bits for which all values must be found by search.
const FOUND: u32 = 10;
/// The maximum number of bits for which a given inverse is tried on all values.
const TRIED: u32 = 20;
/// How often expressions are evaluated in a specification to try values.
const BUDGET: u64 = 1 << 22;

/// What is wrong with a field.
enum Why {
    /// There is no inverse for this value.
    Lost(u64),
    /// An inverse is not proved to exist; with the number of bits the value depends on.
    Unproved(u32),
}

/// Checks all sets of a stream.
pub(super) fn check(tables: &'static core::Stream, stream: &Stream, out: &mut Diagnostics) {
    let mut invertibility = Invertibility { found: HashSet::new(), budget: BUDGET, validity: Validity::new(tables) };
    for (index, set) in stream.sets.iter().enumerate() {
        invertibility.set(tables, index, set, out);
    }
}

struct Invertibility {
    /// Signatures of fields already checked; the result holds for all layouts with the same signature.
    found: HashSet<Vec<u64>>,
    budget: u64,
    validity: Validity,
}

impl Invertibility {
    fn set(&mut self, stream: &'static core::Stream, index: usize, set: &Set, out: &mut Diagnostics) {
        let mut failed: Vec<(&'static core::Layout, &'static core::Field, Why)> = Vec::new();
        let first = stream.sets.get(index).map_or(0, |set| set.first);
        let layouts = (first..).zip(stream.layouts_of(index)).zip(order(set));
        let layouts = layouts.filter(|((_, layout), of)| !set.layouts[*of].preferred && layout.role == Role::Own);
        for ((number, layout), _) in layouts {
            let Some(engine) = engine_for(stream, &[layout]) else { continue };
            for (i, field) in (0u8..).zip(layout.fields) {
                if matches!(field.source, Source::Computed { .. }) && core::solve::shows(layout, i) {
                    let wrong = self.field(engine, number, layout, i);
                    failed.extend(wrong.map(|why| (layout, field, why)));
                }
            }
        }
        failed.dedup_by_key(|(_, field, _)| field.name);
        for (layout, field, why) in failed.iter().take(MAX_REPORTED) {
            let own = set
                .layouts
                .iter()
                .find(|l| l.name == layout.name)
                .and_then(|l| l.fields.iter().find(|f| f.name == field.name));
            let from = format!("from `{}` of `{}` to its bits", field.name, layout.name);
            let place = own.map_or(set.span, |f| f.span);
            let say = "write it: `encode: …`, an expression over `value`, or one for each field";
            out.push(match why {
                Why::Lost(value) => Diagnostic::error("E0132", place, format!("no inverse found {from}"))
                    .note(format!("for example from {value:#x}"))
                    .help(say),
                Why::Unproved(bits) => {
                    let error = Diagnostic::error("E0132", place, format!("cannot prove an inverse {from}"));
                    let error = error.note(format!(
                        "{bits} bits decide it, too many to try, and it is neither a number times a factor plus an offset \
                         nor made of sums of bits"
                    ));
                    let Source::Computed { inverse: [], .. } = field.source else {
                        let few = format!("let no more than {TRIED} bits decide it, or write it with shifts, masks and `^`");
                        out.push(error.help(few));
                        continue;
                    };
                    error.help(say)
                }
            });
        }
    }

    fn field(&mut self, engine: Engine, number: u16, layout: &'static core::Layout, index: u8) -> Option<Why> {
        let len = (layout.bits / 8) as u8;
        let value = |word: Wide| {
            let scope = Scope { engine, layout, word: &word, len, outer: None };
            // Bits beyond the length are 0.
            let len = layout.length.map_or(len.into(), |length| scope.expression(length));
            let word = word & Wide::ones(8 * len.min(Wide::BYTES as u64) as u32);
            let scope = Scope { word: &word, len: len as u8, ..scope };
            // Words that an earlier layout takes do not count for this one.
            let own = scope.fits() && layout.otherwise.iter().all(|condition| scope.expression(*condition) == 0);
            own.then(|| scope.value(index))
        };
        let lost = |value: &u64| !core::solve::gives(engine, layout, index, *value);
        if let Some(value) = sample::words(layout, SAMPLES).filter_map(value).find(lost) {
            return Some(Why::Lost(value));
        }
        if !self.found.insert(signature(engine, layout, index)) {
            return None;
        }
        let bits = core::solve::deciding(layout, index);
        let Source::Computed { inverse, .. } = layout.fields[usize::from(index)].source else { return None };
        let searched = inverse.is_empty() && bits <= core::solve::TRIED;
        // Finding a value may require trying all others.
        if bits <= FOUND && self.spend(if searched { 2 * bits } else { bits }) {
            let values: HashSet<u64> = all_words(layout, index).filter_map(value).collect();
            return values.into_iter().filter(lost).min().map(Why::Lost);
        }
        let asked = core::solve::asked(engine, layout, index);
        let width = |fields: u64| -> u32 {
            let among = (0u8..).zip(layout.fields).filter(|(i, _)| fields >> i & 1 != 0);
            among.map(|(_, field)| u32::from(field.width)).sum()
        };
        // Fields that the inverse uses must be in the text, or have few bits in total.
        let unread = (0u8..64).filter(|i| asked >> i & 1 != 0 && !core::solve::shows(layout, *i));
        if width(unread.fold(0, |all, i| all | 1 << i)) > core::solve::TRIED {
            return Some(Why::Unproved(bits));
        }
        // Few bits are searched whenever a text is parsed, so that every value is found.
        if searched || linear::proves(engine, layout, index) {
            return None;
        }
        // Bits that the inverse does not set are searched each time.
        let given = inverse.iter().fold(asked, |given, (field, _)| given | 1u64 << field);
        let open = width(layout.fields[usize::from(index)].leaves & !given);
        if !inverse.is_empty() && bits <= TRIED && self.spend(bits + open) {
            let values = (0..1u64 << bits).map(|bits| core::solve::returns(engine, layout, index, bits));
            return values.filter_map(Result::err).next().map(Why::Lost);
        }
        match self.astray(engine, number, layout, index) {
            Some(None) => return None,
            Some(Some(word)) => {
                if let Some(value) = value(word).filter(lost) {
                    return Some(Why::Lost(value));
                }
            }
            None => {}
        }
        // The computations of a foreign decoder cannot be rewritten.
        (!engine.stream.exclusive).then_some(Why::Unproved(bits))
    }

    /// A word for whose value the given inverse is wrong; `Some(None)` if there is none, `None` if that is not known.
    fn astray(
        &mut self,
        engine: Engine,
        number: u16,
        layout: &'static core::Layout,
        index: u8,
    ) -> Option<Option<Wide>> {
        if self.validity.is_spent() {
            return None;
        }
        self.validity.turn(engine.generation);
        self.validity.reorder(by_significance(&[(layout, layout.fields.get(usize::from(index))?.leaves)]));
        let place = self.validity.place(number, layout.mask, layout.value)?;
        let place = self.validity.present(place);
        let astray = self.validity.astray(&place, index).filter(|_| !self.validity.diagrams.is_full())?;
        match self.validity.word_of(astray) {
            Some(word) => Some(Some(word | layout.fixed_value)),
            None => (astray == Node::FALSE).then_some(None),
        }
    }

    /// Charges the budget `2^power`, if that much is left.
    fn spend(&mut self, power: u32) -> bool {
        let rest = self.budget.checked_sub(1u64.checked_shl(power).unwrap_or(u64::MAX));
        self.budget = rest.unwrap_or(self.budget);
        rest.is_some()
    }
}

/// Everything that the invertibility of a field depends on: layouts with the same signature have the same result.
fn signature(engine: Engine, layout: &'static core::Layout, index: u8) -> Vec<u64> {
    let leaves = layout.fields[usize::from(index)].leaves;
    let mut all =
        vec![engine.generation.into(), layout.bits.into(), layout.length.map_or(0, |l| 1 + u64::from(l)), index.into()];
    let conditions = layout.conditions.iter().map(|c| (*c, 0)).chain(layout.otherwise.iter().map(|c| (*c, 1)));
    let mut deciding = leaves;
    for (condition, otherwise) in conditions {
        let of = core::solve::leaves_of(engine, layout, condition);
        if of & leaves != 0 {
            deciding |= of;
            all.extend([condition.into(), otherwise]);
        }
    }
    for (i, field) in layout.fields.iter().enumerate().filter(|(_, field)| field.leaves & !deciding == 0) {
        all.extend([i as u64, field.width.into(), field.signed.into()]);
        match field.source {
            Source::Bits(pieces) => {
                let bits = Layout::bits_of(pieces);
                all.extend((bits & layout.fixed_mask).0.into_iter().chain((bits & layout.fixed_value).0));
            }
            Source::Computed { value, inverse } => {
                all.push(value.into());
                all.extend(inverse.iter().flat_map(|(field, expression)| [u64::from(*field), u64::from(*expression)]));
            }
            Source::Outer(parameter) => all.push(parameter.into()),
        }
    }
    all
}

/// A word for each value of the bits that a field depends on.
fn all_words(layout: &'static core::Layout, index: u8) -> impl Iterator<Item = Wide> {
    let open = bits_of_fields(layout, layout.fields[usize::from(index)].leaves) & !layout.fixed_mask;
    (0..1u64 << open.count_ones()).map(move |value| layout.fixed_value | spread(open, value))
}
