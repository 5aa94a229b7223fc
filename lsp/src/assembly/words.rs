//! The encoded words beside the lines.

use isaforge_core::Tables;
use isaforge_core::assembly::Placed;
use isaforge_core::explain::hex;
use lsp_types::{InlayHint, InlayHintLabel, Range};

use super::Source;

/// A hint at the end of each line in a range that has been assembled.
pub fn hints(source: &Source, range: Range) -> Vec<InlayHint> {
    let lines = range.start.line as usize..=range.end.line as usize;
    let shown = source.assembly.placed.iter().filter(|placed| lines.contains(&placed.line));
    let hint = |placed: &Placed| InlayHint {
        position: source.text.position(placed.line, usize::MAX),
        label: InlayHintLabel::String(hexadecimal(source.set.tables, source.bytes(placed))),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    shown.map(hint).collect()
}

/// Formats bytes like `isaforge asm`: a word as a number, others as bytes in memory order.
pub fn hexadecimal(tables: Tables, bytes: &[u8]) -> String {
    match tables {
        Tables::Words(_) => hex(&bytes.iter().rev().copied().collect::<Vec<u8>>()),
        _ => hex(bytes),
    }
}
