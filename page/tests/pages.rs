//! Tests of the pages themselves: links, anchors, sizes, and reproducibility.

mod sets;

use std::collections::{BTreeMap, BTreeSet};

use isaforge_compiler::backend::manual::{Files, manual};

/// The values of an attribute in a page.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    page.match_indices(&start).filter_map(|(at, _)| page[at + start.len()..].split('"').next()).collect()
}

fn check_links(set: &str, files: &Files) {
    let pages = files.iter().filter(|(path, _)| path.ends_with(".html"));
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages
        .clone()
        .map(|(path, page)| {
            let all = attributes(page, "id");
            let set_of: BTreeSet<&str> = all.iter().copied().collect();
            assert_eq!(all.len(), set_of.len(), "{set}: an id stands twice in {path}");
            (path.as_str(), set_of)
        })
        .collect();
    for (path, page) in pages {
        for link in attributes(page, "href").into_iter().chain(attributes(page, "src")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match (file, path.rsplit_once('/')) {
                ("", _) => path.to_owned(),
                (file, None) => file.to_owned(),
                (file, Some((folder, _))) => match file.strip_prefix("../") {
                    Some(file) => file.to_owned(),
                    None => format!("{folder}/{file}"),
                },
            };
            assert!(files.contains_key(&target), "{set}: {path} links to {link}");
            if !anchor.is_empty() {
                assert!(ids[target.as_str()].contains(anchor), "{set}: {path} links to {link}");
            }
        }
    }
}

#[test]
fn every_link_leads_somewhere_and_every_id_is_unique() {
    for (set, subject) in sets::subjects() {
        check_links(set, &manual(&subject));
    }
}

#[test]
fn a_manual_is_small_and_the_same_each_time() {
    for (set, mut subject) in sets::subjects() {
        // The comparison of revisions has its own tests.
        subject.since = None;
        let files = manual(&subject);
        let size: usize = files.values().map(String::len).sum();
        println!("{set}: {} files, {size} bytes, first page {}", files.len(), files["index.html"].len());
        assert!(size < 3_000_000, "{set}: {size} bytes");
        assert!(files["index.html"].len() < 100_000, "{set}: {} bytes", files["index.html"].len());
        assert!(files == manual(&subject), "{set}: the second manual differs");
    }
}

#[test]
fn pages_name_what_the_tables_know() {
    let subjects = sets::subjects();
    let files = manual(&subjects[0].1);
    let page = &files["i/fadd-f32.html"];
    for part in
        ["Float add", "Operation", "Examples", "Related instructions", "data-code", "class=\"operand\"", "Known from"]
    {
        assert!(page.contains(part), "{part} is not on the page of FADD.f32");
    }
    let vpu = manual(&subjects.iter().find(|(set, _)| *set == "vpu").expect("one of them").1);
    for part in ["Execution", "<dt>Lanes<dd>4<", "masked, until <code>unmask</code>", "<code>locks</code>"] {
        assert!(vpu["registers.html"].contains(part), "{part} is not on the page of the registers");
    }
    let without = subjects.iter().flat_map(|(set, subject)| {
        let files = manual(subject);
        let bare: Vec<String> = files
            .iter()
            .filter(|(path, page)| path.starts_with("i/") && !page.contains("data-code") && *set != "usc")
            .map(|(path, _)| format!("{set}/{path}"))
            .collect();
        bare
    });
    let without: Vec<String> = without.collect();
    assert!(without.is_empty(), "no example: {without:?}");
}
