//! The page of an instruction.

use maud::{Markup, PreEscaped, html};

use super::diagram::{class, diagram};
use super::{anchor, inline, linked, prose};
use crate::backend::manual::facts::{Book, Entry, Layout, Part, Values};
use crate::diagnostic::count;

/// The maximum number of values listed on the page of an instruction; longer lists have a page of their own.
const MAX_VALUES: usize = 24;

/// The contents of an instruction's page. `changes` lists the differences from another revision.
pub fn page(book: &Book, entry: &Entry, changes: Option<Markup>) -> Markup {
    html! {
        h1 { code { (entry.name) } @if !entry.title.is_empty() { span.title { (inline(&entry.title)) } } }
        (facts(entry))
        (prose(&entry.doc))
        h2 #encoding { @if entry.layouts.len() > 1 { "Encodings" } @else { "Encoding" } }
        @for layout in &entry.layouts { (encoding(entry, layout)) }
        @if !entry.operation.is_empty() || !entry.intrinsics.is_empty() {
            h2 #operation { "Operation" }
            @if !entry.operation.is_empty() {
                pre.operation tabindex="0" { code { (linked(&entry.operation, |name| target(entry, name))) } }
            }
            @if !entry.intrinsics.is_empty() {
                dl {
                    @for (name, doc) in &entry.intrinsics { dt { code { (name) } } dd { (inline(doc)) } }
                }
            }
        }
        @if !entry.parts.is_empty() {
            h2 #operands { "Operands and modifiers" }
            @for part in &entry.parts { (self::part(book, part)) }
        }
        @if !entry.examples.is_empty() {
            h2 #examples { "Examples" }
            div.scroll tabindex="0" role="region" aria-label="Examples" {
                table.examples {
                    thead { tr { th { "Encoding" } th { "Assembly" } } }
                    tbody {
                        @for example in &entry.examples {
                            tr { td { code data-code { (example.code) } } td { code { (example.text) } } }
                        }
                    }
                }
            }
        }
        @for picture in entry.examples.iter().map(|example| &example.picture).filter(|picture| !picture.is_empty()) {
            h2 #path { "Data path" }
            div.scroll tabindex="0" role="region" aria-label="Data path" { (PreEscaped(picture)) }
        }
        @if let Some(changes) = changes { h2 #changes { "Changes" } (changes) }
        @if !entry.related.is_empty() {
            h2 #related { "Related instructions" }
            ul.related {
                @for other in entry.related.iter().filter_map(|index| book.entries.get(*index)) {
                    li { a href={ (other.slug) ".html" } { code { (other.name) } } " " (inline(&other.title)) }
                }
            }
        }
    }
}

fn facts(entry: &Entry) -> Markup {
    let used = |wanted: &'static str| {
        let of_it = entry.parts.iter().filter(move |part| part.access.contains(wanted));
        of_it.map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (reads, writes) = (used("read"), used("written"));
    html! {
        dl.facts {
            @if !entry.unit.is_empty() { dt { "Unit" } dd { (entry.unit) } }
            @if !reads.is_empty() { dt { "Reads" } dd { (reads) } }
            @if !writes.is_empty() { dt { "Writes" } dd { (writes) } }
            @if let Some((class, detail)) = &entry.fidelity {
                dt { "Fidelity" } dd { (class) @if !detail.is_empty() { ": " (inline(detail)) } }
            }
            dt { "Known from" } dd { (entry.provenance) @if !entry.note.is_empty() { ": " (inline(&entry.note)) } }
            @if !entry.source.is_empty() { dt { "Specified in" } dd { code { (entry.source) } } }
        }
    }
}

fn encoding(entry: &Entry, layout: &Layout) -> Markup {
    let label = if layout.name.is_empty() { &entry.name } else { &layout.name };
    html! {
        section.encoding {
            @if !layout.name.is_empty() { h3 { (layout.name) } }
            (prose(&layout.doc))
            p.syntax {
                code {
                    @for piece in &layout.syntax {
                        @match entry.parts.iter().find(|part| part.name == piece.part) {
                            Some(part) => { a class=(class(part.role)) href={ "#" (anchor(&part.name)) } { (piece.text) } }
                            None => (piece.text),
                        }
                    }
                }
            }
            (diagram(layout, &entry.parts, label))
            @if !layout.conditions.is_empty() {
                p { "Holds when " @for (index, text) in layout.conditions.iter().enumerate() {
                    @if index > 0 { " and " } code { (text) }
                } "." }
            }
        }
    }
}

fn target(entry: &Entry, name: &str) -> Option<String> {
    let found = entry.parts.iter().find(|part| part.name == name)?;
    Some(format!("#{}", anchor(&found.name)))
}

fn part(book: &Book, part: &Part) -> Markup {
    let size = if part.size == 0 { String::new() } else { format!("{} bits", part.size) };
    let notes: Vec<&str> = [part.access, size.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
    let place = if part.bits.contains([',', '.']) { "bits" } else { "bit" };
    html! {
        section.part id=(anchor(&part.name)) {
            h3 {
                code class=(class(part.role)) { (part.name) }
                @if part.bits.starts_with('=') { span.place { code { (part.bits) } } }
                @else if !part.bits.is_empty() { span.place { (place) " " (part.bits) } }
                @if !notes.is_empty() { span.place { (notes.join(", ")) } }
            }
            (prose(&part.doc))
            (values(book, part))
        }
    }
}

fn values(book: &Book, part: &Part) -> Markup {
    match &part.values {
        Values::Flag(text) => html! {
            p { code { (text) } " when the bit is 1"
                @match part.default { Some(1) => "; set unless stated otherwise", _ => "" } "." }
        },
        Values::Text(text) => html! { p { (inline(text)) } },
        Values::Enum(index) => {
            let Some(names) = book.enums.get(*index) else { return html! {} };
            let link = format!("../values.html#{}", names.slug);
            if names.values.len() > MAX_VALUES {
                return html! {
                    p { a href=(link) { (count(names.values.len(), "value")) } ": "
                        @for (index, (_, text, _)) in names.values.iter().enumerate() {
                            @if index > 0 { ", " } code { (text) }
                        }
                    }
                };
            }
            html! { (super::lists::table_of_values(&names.values, part.default.or(names.default))) }
        }
        Values::Kind(index) => {
            let Some(kind) = book.kinds.get(*index) else { return html! {} };
            html! {
                p { a href={ "../operands.html#" (kind.slug) } { (kind.name) } ": "
                    @for (index, reading) in kind.readings.iter().take(16).enumerate() {
                        @if index > 0 { ", " }
                        code { (if reading.text.is_empty() { &reading.name } else { &reading.text }) }
                    }
                    @if kind.readings.len() > 16 { ", …" }
                }
            }
        }
    }
}
