//! Fields of streams, by visibility, name and text.

use isaforge_core::stream::{Layout, Scope, solve};
use isaforge_core::table::Enum;
use isaforge_core::text::Line;

/// Whether a field is written, or an operand.
pub(super) fn is_visible(layout: &Layout, field: u8) -> bool {
    solve::shows(layout, field) || layout.operands.iter().any(|operand| operand.field == field)
}

pub(super) fn path(owner: &str, name: &str) -> String {
    if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") }
}

/// Formats a value as it is written.
pub(super) fn text(scope: &Scope<'_>, index: u8) -> String {
    let mut line = Line::new();
    scope.print_field(index, &mut line, 0);
    match line.as_str() {
        "" => scope.value(index).to_string(),
        text => text.to_owned(),
    }
}

/// The corresponding value of another enum: of the same name or spelling, or with the same bits if each name is unknown
/// to the other enum.
pub(super) fn named_value(from: &Enum, to: &Enum, raw: u64) -> Option<u64> {
    let mut own = from.values.iter().filter(|value| value.bits == raw);
    // Many enums have an empty text for the default, so it does not identify a value.
    let alike = |value: &isaforge_core::table::Value| {
        let same = to.values.iter().find(|other| other.name == value.name);
        same.or_else(|| to.values.iter().find(|other| !value.text.is_empty() && other.text == value.text))
    };
    if let Some(found) = own.find_map(alike) {
        return Some(found.bits);
    }
    let known = |other: &isaforge_core::table::Value| {
        from.values.iter().any(|value| value.name == other.name || !other.text.is_empty() && value.text == other.text)
    };
    to.value(raw).filter(|other| !known(other)).map(|other| other.bits)
}
