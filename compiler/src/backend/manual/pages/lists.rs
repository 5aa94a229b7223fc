//! Named values, operand kinds, registers, the parts of groups.

use isaforge_core::machine::{Divergence, Hardware, Register, Space};
use isaforge_core::semantics::Semantics;
use isaforge_core::semantics::facts::Flow;
use maud::{Markup, html};

use super::{inline, prose};
use crate::backend::manual::facts::{Bank, Book, Kind, Slot};
use crate::diagnostic::count;

/// A table of named values.
pub fn table_of_values(values: &[(u64, String, String)], default: Option<u64>) -> Markup {
    let described = values.iter().any(|(.., doc)| !doc.is_empty());
    html! {
        table.values {
            thead { tr { th { "Bits" } th { "Text" } @if described { th { "Meaning" } } } }
            tbody {
                @for (bits, text, doc) in values {
                    tr {
                        td { (bits) }
                        td { code { (text) } @if default == Some(*bits) { " (default)" } }
                        @if described { td { (inline(doc)) } }
                    }
                }
            }
        }
    }
}

/// All lists of named values.
pub fn values(book: &Book) -> Markup {
    html! {
        h1 { "Values" }
        p { (count(book.enums.len(), "list")) " of named values." }
        @for names in &book.enums {
            section id=(names.slug) {
                h2 { code { (names.name) } }
                (prose(&names.doc))
                (table_of_values(&names.values, names.default))
            }
        }
    }
}

/// All kinds of operands.
pub fn operands(book: &Book) -> Markup {
    let what = if book.slots.is_empty() { "Operands" } else { "Records" };
    html! {
        h1 { (what) }
        @for kind in &book.kinds { (self::kind(kind)) }
    }
}

fn kind(kind: &Kind) -> Markup {
    let described = kind.readings.iter().any(|reading| !reading.doc.is_empty());
    html! {
        section id=(kind.slug) {
            h2 { code { (kind.name) } @if kind.width > 0 { span.place { (count(kind.width.into(), "bit")) } } }
            (prose(&kind.doc))
            div.scroll tabindex="0" role="region" aria-label={ "Readings of " (kind.name) } {
                table.values {
                    thead { tr {
                        th { "Reading" } th { "Bits" } th { "Contents" }
                        @if described { th { "Meaning" } }
                    } }
                    tbody { @for reading in &kind.readings { tr {
                        td { code { (reading.name) } }
                        td { code.pattern { (reading.bits) } }
                        td { code { (reading.text) } }
                        @if described { td { (inline(&reading.doc)) } }
                    } } }
                }
            }
            @for reading in kind.readings.iter().filter(|reading| !reading.constants.is_empty()) {
                h3 { code { (reading.name) } }
                (table_of_values(&reading.constants, None))
            }
        }
    }
}

/// Registers, their contents at the start of programs, and the effects of modifiers after an instruction.
pub fn registers(book: &Book, semantics: Option<&'static Semantics>, hardware: Option<&'static Hardware>) -> Markup {
    // For groups, only the machine has names of registers.
    let ends = |index: usize, bank: &Bank| match hardware.filter(|_| !book.slots.is_empty()) {
        Some(hardware) => [0, bank.count.saturating_sub(1)]
            .map(|number| hardware.name(Register { bank: index as u16, index: number }).to_string()),
        None => [bank.ends.0.clone(), bank.ends.1.clone()],
    };
    html! {
        h1 { "Registers" }
        div.scroll tabindex="0" role="region" aria-label="Register banks" {
            table.values {
                thead { tr {
                    th { "Bank" } th { "Registers" } th { "Width" } th { "Purpose" }
                } }
                tbody { @for (index, bank) in book.banks.iter().enumerate() { tr {
                    td { code { (bank.name) } }
                    @let [first, last] = ends(index, bank);
                    td { (bank.count) ": " code { (first) } " to " code { (last) } }
                    td { (count(bank.width.into(), "bit")) }
                    td { (inline(&bank.doc)) }
                } } }
            }
        }
        @if let Some(semantics) = semantics {
            (conventions(book, semantics))
            @if let Some(hardware) = hardware { (machine(book, semantics, hardware)) }
        }
    }
}

/// How programs execute, as defined in the `machine` section of a specification.
fn machine(book: &Book, semantics: &'static Semantics, hardware: &'static Hardware) -> Markup {
    let parting = match hardware.divergence {
        Divergence::Refused => "an error",
        Divergence::LowestFirst => "the lanes at the lowest address execute until the others catch up",
        Divergence::Together => "all follow the first lane that branches",
        Divergence::Masked => "lanes that do not branch when others do are masked",
    };
    let unmasks = hardware.unmasks.and_then(|intrinsic| semantics.intrinsics.get(usize::from(intrinsic)));
    let uniform = book.banks.iter().zip(hardware.banks).filter(|(_, bank)| bank.uniform);
    let uniform: Vec<&str> = uniform.map(|(bank, _)| bank.name.as_str()).collect();
    let name = |space: &Space| semantics.spaces.get(usize::from(space.space)).copied().unwrap_or_default();
    html! {
        h2 { "Execution" }
        dl.facts {
            dt { "Lanes" } dd { (hardware.lanes) }
            @if hardware.lanes > 1 {
                dt { "Divergence" }
                dd { (parting) @if let Some(unmasks) = unmasks { ", until " code { (unmasks.name) } } }
            }
            @if !uniform.is_empty() { dt { "Shared by all lanes" } dd { (uniform.join(", ")) } }
            dt { "Program counter" } dd { "counts " (count(hardware.unit.into(), "byte")) }
            @if hardware.program > 0 { dt { "Program memory" } dd { (count(hardware.program as usize, "byte")) } }
            @for space in hardware.spaces {
                dt { "Memory " code { (name(space)) } }
                dd { (count(space.size as usize, "byte")) @if space.open { "; beyond its end, reads return 0 and writes are dropped" } }
            }
            @if hardware.aligned { dt { "Alignment" } dd { "accesses are aligned to their size" } }
        }
    }
}

fn conventions(book: &Book, semantics: &'static Semantics) -> Markup {
    let local = semantics.path.as_ref().map_or(0, |path| path.local.into());
    let (wires, states) = semantics.states.split_at_checked(local).unwrap_or_default();
    let prefix = book.banks.first().map_or("", |bank| bank.ends.0.trim_end_matches('0'));
    html! {
        @for (title, states) in [("State outside the banks", states), ("Wires", wires)] {
            @if !states.is_empty() {
                h2 { (title) }
                @if title == "Wires" { p { "They carry values from one part of a group to another, and are 0 at its start." } }
                dl { @for state in states {
                    dt { code { (state.name) } @if state.count > 1 { " (" (state.count) ")" } }
                    dd { (inline(state.doc)) }
                } }
            }
        }
        @for preload in semantics.preloads {
            h2 { "At the start of " (preload.name) " programs" }
            (prose(preload.doc))
            @if !preload.values.is_empty() {
                div.scroll tabindex="0" role="region" aria-label={ "Registers at the start of " (preload.name) " programs" } {
                    table.values {
                        thead { tr { th { "Register" } th { "Value" } th { "Meaning" } } }
                        tbody { @for ((name, doc), register) in preload.values.iter().zip(preload.first..) { tr {
                            td { code { (prefix) (register) } } td { (name) } td { (inline(doc)) }
                        } } }
                    }
                }
            }
        }
        @for callee in semantics.callees {
            h2 { "Call of a " (callee.name) }
            (prose(callee.doc))
            dl {
                dt { "Called by" }
                dd { code { (callee.instruction) } " to "
                    @for (number, target) in callee.targets().enumerate() {
                        @if number > 0 { ", " }
                        code { (target) }
                    }
                }
                dt { "Returns to" }
                dd { "the address in " code { (prefix) (callee.link) } ", or not at all if it is 0" }
                dt { "Overwrites" }
                dd { @for (number, register) in callee.clobbers.iter().enumerate() {
                    @if number > 0 { ", " }
                    code { (prefix) (register) }
                } }
            }
        }
        @if !semantics.flow.is_empty() {
            h2 { "After an instruction" }
            dl { @for flow in semantics.flow {
                dt { code { (after(flow)) } }
                dd { (effects(flow)) }
            } }
        }
        @if !semantics.intrinsics.is_empty() {
            h2 { "Functions of the hardware" }
            dl { @for intrinsic in semantics.intrinsics {
                dt { code { (intrinsic.name) } } dd { (inline(intrinsic.doc)) }
            } }
        }
    }
}

/// What has an effect: a value of a modifier, an instruction, or a value of its modifier.
fn after(flow: &Flow) -> String {
    match (flow.instruction, flow.modifier) {
        (instruction, "") => instruction.to_owned(),
        ("", modifier) => format!("{modifier} = {}", flow.name),
        (instruction, modifier) => format!("{instruction}, {modifier} = {}", flow.name),
    }
}

fn effects(flow: &Flow) -> String {
    let slots: Vec<String> = (0..8).filter(|slot| flow.waits >> slot & 1 != 0).map(|slot| slot.to_string()).collect();
    let waits = if slots.is_empty() { String::new() } else { format!("waits for slots {}", slots.join(", ")) };
    let sends = match flow.sends {
        0 => String::new(),
        sends => format!("the message uses slot {}", sends.trailing_zeros()),
    };
    let mut parts = vec![sends, waits];
    parts.retain(|part| !part.is_empty());
    parts.extend(flow.effects().map(str::to_owned));
    if parts.is_empty() { "no effect".to_owned() } else { parts.join("; ") }
}

/// The parts of a group in byte order.
pub fn groups(book: &Book, semantics: Option<&'static Semantics>) -> Markup {
    let path = semantics.and_then(|semantics| semantics.path.as_ref()).map_or("", |path| path.path.text.trim());
    html! {
        h1 { "Groups" }
        p { "A group is a header and the parts that the header announces, in this order. The operations of its phases pass
             values to each other through wires and write results at the end." }
        (strip(book))
        @if !path.is_empty() {
            h2 { "Data path" }
            p { "The order in which the parts of a group take effect: wires that exist from the start, the operations of each
                 part, then the results." }
            pre.operation tabindex="0" { code { (path) } }
        }
        h2 { "Parts" }
        ol.group {
            @for slot in &book.slots { (self::slot(book, slot)) }
        }
    }
}

/// The number of boxes in a row of the drawing.
const BOXES: usize = 6;

/// A drawing of a group: its parts in byte order, with those that hold operations filled.
fn strip(book: &Book) -> Markup {
    let rows = book.slots.len().div_ceil(BOXES);
    let (width, height) = (160, 64);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Order of the parts of a group" {
            svg.strip viewBox={ "0 0 " (width * BOXES) " " (height * rows) } {
                @for (index, slot) in book.slots.iter().enumerate() {
                    @let (x, y) = (index % BOXES * width, index / BOXES * height);
                    @if index % BOXES > 0 {
                        path d={ "M" (x - 12) " " (y + 24) "h10m-4-4l4 4l-4 4" } {}
                    }
                    a href={ "#" (super::anchor(&slot.name)) } {
                        rect.filled[!slot.operations.is_empty()] x=(x) y=(y + 4) width=(width - 14) height="40" rx="7" {}
                        text x=(x + (width - 14) / 2) y=(y + 29) { (slot.name) }
                    }
                }
            }
        }
    }
}

fn slot(book: &Book, slot: &Slot) -> Markup {
    html! {
        li id=(super::anchor(&slot.name)) {
            h3 { (slot.name) }
            (prose(&slot.doc))
            @if let Some(kind) = book.kinds.get(slot.kind) {
                p { "Stored as " a href={ "operands.html#" (kind.slug) } { (kind.name) } "." }
            }
            @if !slot.operations.is_empty() {
                p.operations { @for (index, entry) in slot.operations.iter().filter_map(|i| book.entries.get(*i)).enumerate() {
                    @if index > 0 { ", " }
                    a href={ "i/" (entry.slug) ".html" } { code { (entry.name) } }
                } }
            }
        }
    }
}
