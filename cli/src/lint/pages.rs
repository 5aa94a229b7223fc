//! Explanations of the codes of findings, for `isaforge check --explain`.

use isaforge_compiler::catalogue::Page;

use crate::run::pages::read;

/// The codes and their pages.
const ALL: &[(&str, &str)] = &[
    ("P0001", include_str!("pages/P0001.md")),
    ("P0002", include_str!("pages/P0002.md")),
    ("P0003", include_str!("pages/P0003.md")),
    ("P0004", include_str!("pages/P0004.md")),
    ("P0005", include_str!("pages/P0005.md")),
    ("P0006", include_str!("pages/P0006.md")),
    ("P0007", include_str!("pages/P0007.md")),
    ("P0008", include_str!("pages/P0008.md")),
    ("P0009", include_str!("pages/P0009.md")),
    ("P0010", include_str!("pages/P0010.md")),
    ("P0011", include_str!("pages/P0011.md")),
];

/// All pages, sorted by code.
pub fn all() -> impl Iterator<Item = Page> {
    ALL.iter().map(|(code, page)| read(code, page))
}

#[cfg(test)]
mod tests {
    use isaforge_analysis::lint::Check;

    #[test]
    fn every_check_has_a_page() {
        let codes: Vec<&str> = Check::ALL.iter().map(|check| check.code()).collect();
        assert_eq!(codes, super::ALL.iter().map(|(code, _)| *code).collect::<Vec<_>>());
    }
}
