//! Explanations of the codes of errors in launch files, for `isaforge check --explain`.
//!
//! The pages have the same format as those of [`catalogue`](isaforge_compiler::catalogue): a heading with the code,
//! some sentences, and files for the `wrong` example, the `right` one, or `both`. The entry is `launch.yaml`.

use isaforge_compiler::catalogue::{File, Page};

/// The codes and their pages.
const ALL: &[(&str, &str)] = &[
    ("L0001", include_str!("pages/L0001.md")),
    ("L0002", include_str!("pages/L0002.md")),
    ("L0003", include_str!("pages/L0003.md")),
    ("L0004", include_str!("pages/L0004.md")),
    ("L0005", include_str!("pages/L0005.md")),
    ("L0006", include_str!("pages/L0006.md")),
];

/// All pages, sorted by code.
pub fn all() -> impl Iterator<Item = Page> {
    ALL.iter().map(|(code, page)| read(code, page))
}

/// Parses a page.
pub(crate) fn read(code: &'static str, page: &'static str) -> Page {
    let (heading, rest) = page.split_once('\n').unwrap_or((page, ""));
    let title = heading.trim_start_matches("# ").trim_start_matches(code).trim_start_matches(": ");
    let mut pieces = rest.split("\n```");
    let text = pieces.next().unwrap_or_default().trim();
    let mut found = Page { code, title, text, wrong: Vec::new(), right: Vec::new() };
    // The pieces alternate between files and the text that follows them.
    for piece in pieces.step_by(2) {
        let Some((label, text)) = piece.split_once('\n') else { continue };
        let [language, name, side] = label.split(' ').collect::<Vec<_>>()[..] else { continue };
        let file = File { language, name, text };
        if side != "right" {
            found.wrong.push(file);
        }
        if side != "wrong" {
            found.right.push(file);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let sources = [
            include_str!("open.rs"),
            include_str!("user_defined/read.rs"),
            include_str!("valhall/compute.rs"),
            include_str!("buffers.rs"),
            include_str!("program.rs"),
            include_str!("valhall/resources/mod.rs"),
            include_str!("valhall/draw/plan.rs"),
        ];
        let codes =
            sources.iter().flat_map(|source| source.match_indices("\"L0").map(|(at, _)| &source[at + 1..at + 6]));
        let codes: BTreeSet<&str> = codes.collect();
        assert_eq!(codes, super::ALL.iter().map(|(code, _)| *code).collect());
    }
}
