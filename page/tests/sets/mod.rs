//! The instruction sets that the tests make manuals of.

use isaforge_compiler::backend::manual::facts::Book;
use isaforge_compiler::backend::manual::{Subject, engine, search};
use isaforge_core::Tables;
use isaforge_page::Page;

/// The four built-in sets.
pub fn subjects() -> Vec<(&'static str, Subject)> {
    let subject = |tables, semantics, hardware| Subject { tables, semantics: Some(semantics), hardware, since: None };
    let valhall = Tables::Words(isaforge_valhall::ISA);
    let older = Tables::Words(isaforge_valhall_2021::ISA);
    vec![
        (
            "valhall",
            Subject {
                since: Some(older),
                ..subject(valhall, isaforge_valhall::semantics::SEMANTICS, Some(isaforge_valhall::semantics::HARDWARE))
            },
        ),
        (
            "valhall-2021",
            subject(
                older,
                isaforge_valhall_2021::semantics::SEMANTICS,
                Some(isaforge_valhall_2021::semantics::HARDWARE),
            ),
        ),
        (
            "vpu",
            subject(
                Tables::Words(isaforge_vpu::ISA),
                isaforge_vpu::semantics::SEMANTICS,
                Some(isaforge_vpu::semantics::HARDWARE),
            ),
        ),
        (
            "usc",
            subject(
                Tables::Groups(isaforge_usc::ISA),
                isaforge_usc::semantics::SEMANTICS,
                Some(isaforge_usc::semantics::HARDWARE),
            ),
        ),
    ]
}

/// What runs in the pages of a set, from the bytes that the pages carry.
#[allow(dead_code, reason = "not every test needs it")]
pub fn page(subject: &Subject) -> Page {
    let records = search::records(&Book::new(subject));
    Page::new(&engine::data(subject, &records)).expect("the bytes are a bundle")
}
