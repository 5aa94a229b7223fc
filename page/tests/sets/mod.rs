//! The instruction sets for which the tests make manuals.

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

/// The page of a set, loaded from the bytes that its manual contains.
#[allow(dead_code, reason = "not every test needs it")]
pub fn page(subject: &Subject) -> Page {
    let records = search::records(&Book::new(subject));
    Page::new(&engine::data(subject, &records)).expect("the bytes are a manual's data")
}
