//! The map of opcodes: which codes are used, and by which instructions.

use std::collections::BTreeMap;

use isaforge_core::explain::bits_text;
use maud::{Markup, html};

use crate::backend::manual::facts::{Book, Opcode};
use crate::diagnostic::count;

/// The maximum number of opcode bits for which the map has a cell per value.
const MAX_BITS: usize = 11;

/// The map, followed by the instructions of each code.
pub fn opcodes(book: &Book) -> Markup {
    let bits = key(&book.opcodes);
    let mut codes: BTreeMap<u64, Vec<&Opcode>> = BTreeMap::new();
    for opcode in &book.opcodes {
        codes.entry(gather(opcode.value, &bits)).or_default().push(opcode);
    }
    let digits = bits.len().div_ceil(4).max(1);
    let columns = 1u64 << bits.len().min(5);
    let rows = (1u64 << bits.len()) / columns;
    let shade = |code: u64| match codes.get(&code).map_or(0, Vec::len) {
        0 => "free",
        1 => "one",
        2..=4 => "few",
        _ => "many",
    };
    html! {
        h1 { "Opcodes" }
        p { "Instructions are distinguished by " (places(&bits)) ". "
            (codes.len()) " of " (1u64 << bits.len()) " codes are used. A stronger colour stands for more instructions,
            which further bits distinguish." }
        div.scroll tabindex="0" role="region" aria-label="Map of opcodes" {
            table.map {
                caption.vh { "Codes and the number of instructions that have them" }
                tbody { @for row in 0..rows { tr {
                    th scope="row" { (format!("{:0digits$x}", row * columns)) }
                    @for code in row * columns..(row + 1) * columns {
                        td class=(shade(code)) title=(title(book, code, digits, codes.get(&code))) {
                            @if let Some(found) = codes.get(&code) {
                                a href={ "#code-" (format!("{code:x}")) } { (found.len()) }
                            }
                        }
                    }
                } } }
            }
        }
        @for (code, found) in &codes {
            h2.code id={ "code-" (format!("{code:x}")) } { code { "0x" (format!("{code:0digits$x}")) } }
            ul.list { @for opcode in found { @if let Some(entry) = book.entries.get(opcode.entry) {
                li {
                    a href={ "i/" (entry.slug) ".html" } { code { (entry.name) } } " " (entry.title)
                }
            } } }
        }
    }
}

fn title(book: &Book, code: u64, digits: usize, found: Option<&Vec<&Opcode>>) -> String {
    let names = found.into_iter().flatten().filter_map(|opcode| book.entries.get(opcode.entry));
    let names: Vec<&str> = names.map(|entry| entry.name.as_str()).collect();
    match names.len() {
        0 => format!("0x{code:0digits$x}: free"),
        1..=6 => format!("0x{code:0digits$x}: {}", names.join(", ")),
        more => format!("0x{code:0digits$x}: {}", count(more, "instruction")),
    }
}

/// The bits that distinguish instructions and that are constant in all of them, lowest first.
fn key(opcodes: &[Opcode]) -> Vec<u32> {
    let common = opcodes.iter().fold(u64::MAX, |mask, opcode| mask & opcode.mask);
    let differs = |bit: &u32| {
        let set = opcodes.iter().filter(|opcode| opcode.value >> bit & 1 != 0).count();
        common >> bit & 1 != 0 && set != 0 && set != opcodes.len()
    };
    let mut bits: Vec<u32> = (0..64).filter(differs).collect();
    // If there are more bits than the map can show, the highest are kept.
    let surplus = bits.len().saturating_sub(MAX_BITS);
    bits.drain(..surplus);
    bits
}

fn gather(value: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |code, (to, from)| code | (value >> from & 1) << to)
}

fn places(bits: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for bit in bits {
        match runs.last_mut().filter(|(high, _)| high + 1 == *bit) {
            Some((high, _)) => *high = *bit,
            None => runs.push((*bit, *bit)),
        }
    }
    if runs.is_empty() {
        "no bits common to all".to_owned()
    } else {
        format!("bits {}", bits_text(runs.into_iter().rev()))
    }
}
