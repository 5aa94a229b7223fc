//! Definitions that words, groups and streams have in common.

use isaforge_core::table as core;
use isaforge_core::text::Text;

use crate::leak::{slice, text};
use crate::model;
use crate::spec::{Access, Provenance};

/// An enum with the dotted texts of its first `entries` values.
pub(crate) fn enumeration_with(e: &model::Enum, entries: u64) -> core::Enum {
    let mut values: Vec<_> = e.values.iter().collect();
    values.sort_by_key(|v| v.bits);
    let dotted =
        |bits| values.iter().find(|v| v.bits == bits).map_or(Text::EMPTY, |v| Text::new(text(&format!(".{}", v.text))));
    core::Enum {
        name: text(&e.name),
        doc: text(&e.doc),
        // Further spellings of a value follow it with the same number: parsing finds them all, printing uses the first.
        values: slice(values.iter().flat_map(|v| {
            v.words().map(|word| core::Value { bits: v.bits, name: text(&v.name), text: text(word), doc: text(&v.doc) })
        })),
        dotted: slice((0..entries).map(dotted)),
        default: e.default,
    }
}

pub(crate) fn provenance(provenance: Provenance) -> core::Provenance {
    match provenance {
        Provenance::Document => core::Provenance::Document,
        Provenance::VendorBinary => core::Provenance::VendorBinary,
        Provenance::Driver => core::Provenance::Driver,
        Provenance::Assumed => core::Provenance::Assumed,
    }
}

pub(crate) fn access(access: Access) -> core::Access {
    match access {
        Access::None => core::Access::None,
        Access::Read => core::Access::Read,
        Access::Write => core::Access::Write,
        Access::ReadWrite => core::Access::ReadWrite,
    }
}
