//! Prints groups as text.
//!
//! The text consists of the operations, outputs and header. If assembling it would make choices that differ from this
//! group's encoding, marks follow after `with`: fields (`slot.field=3`), records (`slot:record`), the length.
//!
//! - `writer`: one operation

mod writer;

pub use crate::group::operation::named_bits;
pub use crate::group::spelling::register;
pub use crate::group::value::is;

use writer::{Replay, Writer};

use crate::group::encode::encode;
use crate::group::spelling::push_value;
use crate::group::table::{GroupIsa, SLOTS, Slot};
use crate::group::value::{Form, Group, Values};
use crate::text::{LINE_CAPACITY, Line};

/// The separator between the parts of a group in text.
pub const SEPARATOR: &str = " | ";

/// Prints a group: its parts in order, separated by `separator`.
///
/// [`assemble`](crate::group::assemble) reads the text back to the same bytes. A group for which this is impossible is
/// printed as bytes.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::{decode, print, text::SEPARATOR};
/// use isaforge_core::text::Line;
/// use isaforge_usc::ISA;
///
/// let mut line = Line::new();
/// print(ISA, &decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?, SEPARATOR, &mut line);
/// assert_eq!(line.as_str(), "byp.imm16 ft0, ft1, c0, 0x0 | byp ft2, _ | cbs ft3, _");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn print(isa: &GroupIsa, group: &Group, separator: &str, out: &mut Line) {
    print_sized(isa, group, 0, separator, out);
}

/// Does the same for a group that is `implied` bytes long because of its position in a program, or as long as it needs
/// to be if `implied` is 0. Only a different length gets a mark.
pub fn print_sized(isa: &GroupIsa, group: &Group, implied: u8, separator: &str, out: &mut Line) {
    let values = group.values(isa);
    let (mut plain, mut replay) = (Line::new(), Replay::new(isa));
    let said = print_group(isa, &values, separator, false, &mut plain, &mut replay);
    // If the assembler finds every source by itself, naming sources does not help. Fields without meaning do not affect
    // sources.
    let meaningless = |slot: usize, field: usize| {
        let choice = isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize));
        choice.and_then(|c| c.fields.get(field)).is_some_and(|f| f.form)
    };
    let found = said && differences(isa, &values, &replay.draft.values).all(|(slot, field)| meaningless(slot, field));
    let said = said && marked(isa, group, &values, &replay.draft.values, implied, separator, &mut plain).is_some();
    if found && said {
        return out.push_str(plain.as_str());
    }
    let (mut hinted, mut replay) = (Line::new(), Replay::new(isa));
    let hints = print_group(isa, &values, separator, true, &mut hinted, &mut replay)
        && marked(isa, group, &values, &replay.draft.values, implied, separator, &mut hinted).is_some();
    match (said, hints) {
        (true, false) => out.push_str(plain.as_str()),
        (true, true) if plain.as_bytes().len() < hinted.as_bytes().len() => out.push_str(plain.as_str()),
        (_, true) => out.push_str(hinted.as_str()),
        (false, false) => bytes(group, out),
    }
}

fn bytes(group: &Group, out: &mut Line) {
    out.push_str("bytes");
    for byte in group.as_bytes() {
        out.push_str(" ");
        for digit in [byte >> 4, byte & 15] {
            out.push_str("0123456789abcdef".get(digit as usize..digit as usize + 1).unwrap_or_default());
        }
    }
}

/// Prints the meaning of a group, whether or not the text assembles. With `hints`, selected registers name their
/// source.
pub fn describe(isa: &GroupIsa, values: &Values, separator: &str, hints: bool, out: &mut Line) {
    operations(isa, values, separator, hints, out, None);
}

/// Does the same, and records in `replay` what the assembler makes of the text. `false` if the assembler would reject
/// it.
fn print_group(
    isa: &GroupIsa,
    values: &Values,
    separator: &str,
    hints: bool,
    out: &mut Line,
    replay: &mut Replay,
) -> bool {
    operations(isa, values, separator, hints, out, Some(replay));
    !replay.failed && replay.draft.settle(isa).is_ok()
}

/// The maximum length of a single piece of text.
const MAX_PIECE: usize = 64;

fn operations(
    isa: &GroupIsa,
    values: &Values,
    separator: &str,
    hints: bool,
    out: &mut Line,
    mut replay: Option<&mut Replay>,
) {
    let start = out.as_bytes().len();
    let mut printed = 0u64;
    for index in isa.order {
        let slot = *index as usize;
        let Some(s) = isa.slots.get(slot).filter(|_| values.has(slot)) else { continue };
        let mut parts: [&str; 8] = [""; 8];
        let mut count = 0;
        for operation in s.operations.iter().filter_map(|o| isa.operations.get(*o as usize)) {
            if !is(isa, operation, slot, values) {
                continue;
            }
            let done = operation.unless != Slot::NEVER && printed >> (operation.unless & 63) & 1 != 0;
            let known = parts.get(..count).is_some_and(|p| p.contains(&operation.part));
            // Two outputs may share a slot; otherwise each part has one operation.
            if done || known && !operation.remark {
                continue;
            }
            if let (Some(place), false) = (parts.get_mut(count), operation.remark) {
                *place = operation.part;
                count += 1;
            }
            let before = out.as_bytes().len();
            if before > start {
                out.push_str(separator);
            }
            let begin = out.as_bytes().len();
            let mut writer = Writer {
                isa,
                operation,
                slot,
                values,
                hints,
                printed: &mut printed,
                replay: replay.as_deref_mut(),
                out,
            };
            writer.all(begin);
            if out.as_bytes().get(begin..).is_none_or(|text| text.iter().all(u8::is_ascii_whitespace)) {
                out.truncate(before);
            }
        }
    }
    if let Some(replay) = replay {
        // A piece that does not fit has been dropped.
        replay.failed |= out.as_bytes().len() + MAX_PIECE > LINE_CAPACITY;
    }
}

/// The fields, with their slots, whose value in a text differs from that in the group.
fn differences<'v>(
    isa: &'v GroupIsa,
    values: &'v Values,
    said: &'v Values,
) -> impl Iterator<Item = (usize, usize)> + use<'v> {
    let slots = (0..SLOTS).filter(|slot| values.has(*slot) && values.of(isa, *slot) != said.of(isa, *slot));
    slots.flat_map(move |slot| {
        let pairs = values.of(isa, slot).iter().zip(said.of(isa, slot)).enumerate();
        pairs.filter(move |(field, (a, b))| a != b && !computed(isa, slot, *field)).map(move |(field, _)| (slot, field))
    })
}

/// Appends marks for what a text does not express. `None` when the text contains something that the group does not
/// have.
fn marked(
    isa: &GroupIsa,
    group: &Group,
    values: &Values,
    said: &Values,
    implied: u8,
    separator: &str,
    out: &mut Line,
) -> Option<()> {
    let mut first = true;
    let mut mark = |out: &mut Line| {
        if first && !out.as_bytes().is_empty() {
            out.push_str(separator);
        }
        out.push_str(if first { "with " } else { ", " });
        first = false;
    };
    // A mark cannot remove what the text adds.
    let optional = isa.fillers | 1;
    if said.present & !(values.present | optional) != 0 {
        return None;
    }
    for slot in (0..SLOTS).filter(|s| values.has(*s) && !said.has(*s) && optional >> s & 1 == 0) {
        mark(out);
        out.push_str(isa.slots.get(slot)?.name);
    }
    for (slot, field) in differences(isa, values, said) {
        let s = isa.slots.get(slot)?;
        mark(out);
        out.push_str(s.name);
        out.push_str(".");
        out.push_str(isa.choices.get(s.choice as usize)?.fields.get(field)?.name);
        out.push_str("=");
        push_value(isa, slot, field, values.get(isa, slot, field), out);
    }
    let plain = encode(isa, values, &Form::CANONICAL).ok();
    for slot in (0..SLOTS).filter(|s| group.has(*s)) {
        if plain.as_ref().map(|p| p.record_index(slot)) != Some(group.record_index(slot)) {
            mark(out);
            out.push_str(isa.slots.get(slot)?.name);
            out.push_str(":");
            out.push_str(group.record(isa, slot)?.name);
        }
    }
    // The records determine the minimum length of the group.
    let last = 31_usize.checked_sub(group.present().leading_zeros() as usize)?;
    let end = group.start(last) + usize::from(group.record(isa, last)?.bytes);
    let needed = end.next_multiple_of(usize::from(isa.unit.max(1)));
    if group.len() != needed.max(implied.into()) {
        mark(out);
        out.push_str("length=");
        out.push_decimal(group.len() as u64);
    }
    (out.as_bytes().len() + MAX_PIECE <= LINE_CAPACITY).then_some(())
}

/// Whether encoding computes a field.
pub(super) fn computed(isa: &GroupIsa, slot: usize, field: usize) -> bool {
    let ends = isa.slots.get(slot).is_none_or(|s| s.chain != 0 && s.ends as usize == field);
    ends || slot == 0 && field < 64 && isa.computed >> field & 1 != 0
}
