//! The data path of a group as a picture: its bytes, and below them the flow of values between its parts.
//!
//! Parts are arranged in rows, each below all parts whose values it takes: registers that are read at the top, results
//! at the bottom. CSS classes select the colours of the page.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::groups::uses;
use crate::group::info::operations;
use crate::group::{Group, GroupIsa};
use crate::semantics::Semantics;
use crate::semantics::compose::{End, Link, links};

/// Sizes, in pixels.
const LETTER: usize = 7;
const BOX: usize = 24;
const ROW: usize = 72;
const GAP: usize = 16;
const BYTE: usize = 24;
const STRIP: usize = 56;

/// A box.
struct Part {
    end: End,
    text: String,
    row: usize,
    /// Its left edge.
    x: usize,
}

impl Part {
    fn width(&self) -> usize {
        boxed(&self.text)
    }

    fn class(&self) -> &'static str {
        match self.end {
            End::Operand(_) => "register",
            End::Slot(_) => "slot",
        }
    }
}

fn boxed(text: &str) -> usize {
    text.chars().count() * LETTER + 2 * LETTER
}

/// The picture as SVG, to be embedded in HTML. Without semantics, it shows the bytes only.
///
/// # Examples
///
/// ```
/// use isaforge_core::{explain::picture::picture, group::decode};
/// use isaforge_usc::{ISA, semantics::SEMANTICS};
///
/// let group = decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?;
/// assert!(picture(ISA, Some(SEMANTICS), &group).starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn picture(isa: &'static GroupIsa, semantics: Option<&Semantics>, group: &Group) -> String {
    let values = group.values(isa);
    let links = semantics.and_then(|semantics| links(semantics, isa, &values).ok()).unwrap_or_default();
    let strip = strip(isa, group);
    let mut parts = parts(isa, group, &links);
    let width = place(&mut parts).max(strip.1);
    let rows = parts.iter().map(|part| part.row + 1).max().unwrap_or(0);
    let height = STRIP + (rows * ROW).saturating_sub(ROW - BOX - GAP);
    let mut out = format!(
        "<svg class=\"path\" role=\"img\" aria-label=\"Bytes and data path of the group\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">"
    );
    out.push_str(&strip.0);
    for link in &links {
        // Writing to a string cannot fail.
        let _ = arrow(&mut out, &parts, link, semantics);
    }
    for part in &parts {
        let (x, y, width) = (part.x, top(part), part.width());
        let (middle, line) = (x + width / 2, y + BOX / 2 + 4);
        let _ = write!(
            out,
            "<g class=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX}\" rx=\"3\"/>",
            part.class()
        );
        let _ = write!(out, "<text x=\"{middle}\" y=\"{line}\">{}</text></g>", escaped(&part.text));
    }
    out.push_str("</svg>");
    out
}

/// The bytes, with the name of each record below, and the width of this strip.
fn strip(isa: &'static GroupIsa, group: &Group) -> (String, usize) {
    let bytes = group.as_bytes();
    let mut records: Vec<(usize, usize, &str)> = (0..isa.slots.len())
        .filter_map(|slot| {
            let record = group.record(isa, slot).filter(|record| record.bytes > 0)?;
            Some((group.start(slot), record.bytes.into(), isa.slots[slot].name))
        })
        .collect();
    records.sort_by_key(|(start, ..)| *start);
    let used = records.iter().map(|(start, bytes, _)| start + bytes).max().unwrap_or(0);
    if used < bytes.len() {
        records.push((used, bytes.len() - used, "padding"));
    }
    let (mut out, mut x) = (String::new(), 0);
    for (start, count, name) in records {
        let width = (count * BYTE).max(boxed(name));
        let hex: Vec<String> = bytes.iter().skip(start).take(count).map(|byte| format!("{byte:02x}")).collect();
        let middle = x + width / 2;
        let _ = write!(out, "<g class=\"bytes\"><rect x=\"{x}\" y=\"0\" width=\"{width}\" height=\"{BOX}\"/>");
        let _ = write!(out, "<text x=\"{middle}\" y=\"16\">{}</text>", hex.join(" "));
        let _ = write!(out, "<text class=\"name\" x=\"{middle}\" y=\"38\">{}</text></g>", escaped(name));
        x += width;
    }
    (out, x)
}

/// The boxes, in rows.
fn parts(isa: &'static GroupIsa, group: &Group, links: &[Link]) -> Vec<Part> {
    let mut ends: Vec<End> = Vec::new();
    for end in links.iter().flat_map(|link| [link.from, link.to]) {
        if !ends.contains(&end) {
            ends.push(end);
        }
    }
    // Links are in order of use, so a single pass finds the rows.
    let row = |rows: &[(End, usize)], end: End| rows.iter().find(|(known, _)| *known == end).map_or(0, |(_, row)| *row);
    let mut rows: Vec<(End, usize)> = Vec::new();
    for link in links {
        let below = row(&rows, link.from) + 1;
        match rows.iter_mut().find(|(known, _)| *known == link.to) {
            Some((_, row)) => *row = below.max(*row),
            None => rows.push((link.to, below)),
        }
    }
    let last = rows.iter().map(|(_, row)| *row).max().unwrap_or(0);
    let registers: Vec<_> = [false, true].into_iter().flat_map(|write| uses(isa, group, write)).collect();
    let text = |end: End| match end {
        End::Operand(operand) => {
            let name = isa.operands.get(usize::from(operand)).map_or("", |operand| operand.name);
            match registers.iter().find(|(_, operand)| *operand == name) {
                Some((register, _)) => format!("{name}: {register}"),
                None => name.into(),
            }
        }
        End::Slot(slot) => {
            let slot = usize::from(slot);
            let name = isa.slots.get(slot).map_or("", |slot| slot.name);
            let all = operations(isa, group).filter(|(at, ..)| *at == slot);
            let all: Vec<&str> = all.map(|(_, _, operation)| operation.name).collect();
            format!("{name}: {}", all.join(", "))
        }
    };
    let written = |end: End| links.iter().any(|link| link.to == end);
    let place = |end: End| match end {
        End::Operand(_) if written(end) => last,
        _ => row(&rows, end),
    };
    ends.iter().map(|end| Part { end: *end, text: text(*end), row: place(*end), x: 0 }).collect()
}

/// Places the boxes of each row side by side, centred on the widest row. Returns the width of that row.
fn place(parts: &mut [Part]) -> usize {
    let mut widths: Vec<usize> = vec![0; parts.iter().map(|part| part.row + 1).max().unwrap_or(0)];
    for part in parts.iter() {
        widths[part.row] += part.width() + GAP;
    }
    let widest = widths.iter().copied().max().unwrap_or(0);
    let mut next: Vec<usize> = widths.iter().map(|width| (widest - width) / 2).collect();
    for part in parts.iter_mut() {
        part.x = next[part.row];
        next[part.row] += part.width() + GAP;
    }
    widest
}

fn top(part: &Part) -> usize {
    STRIP + part.row * ROW
}

fn arrow(out: &mut String, parts: &[Part], link: &Link, semantics: Option<&Semantics>) -> Option<()> {
    let from = parts.iter().find(|part| part.end == link.from)?;
    let to = parts.iter().find(|part| part.end == link.to)?;
    let (x, y) = (from.x + from.width() / 2, top(from) + BOX);
    let (end, bottom) = (to.x + to.width() / 2, top(to) - 5);
    let bend = (ROW - BOX) / 2;
    let _ = write!(out, "<path d=\"M{x} {y}C{x} {},{end} {},{end} {bottom}\"/>", y + bend, bottom.saturating_sub(bend));
    let _ = write!(out, "<path class=\"head\" d=\"M{} {bottom}h8l-4 5z\"/>", end.saturating_sub(4));
    let wire = link.wire.and_then(|wire| semantics?.states.get(usize::from(wire)));
    if let Some(wire) = wire {
        let _ = write!(out, "<text class=\"wire\" x=\"{}\" y=\"{}\">{}</text>", x + 4, y + 14, escaped(wire.name));
    }
    Some(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
