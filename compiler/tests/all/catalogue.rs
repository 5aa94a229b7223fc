//! The catalogue of errors is correct: every code has a page, every wrong example has only that error, every right
//! example has none, and the output for the wrong one is that in `tests/goldens/CODE.txt`, including position and
//! rendering.
//!
//! `UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all catalogue` rewrites the goldens; review the diff.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use isaforge_compiler::catalogue::{self, BASES, File, Page};
use isaforge_compiler::check_spec;
use isaforge_compiler::diagnostic::{Diagnostics, Severity, Style};
use isaforge_compiler::source::Sources;

use crate::support::{folder, found, settings};

/// The diagnostics of the compiler for the files of an example.
fn findings(files: &[File]) -> (Diagnostics, Sources) {
    let files: Vec<_> = files.iter().chain(&BASES).map(|file| (file.name, file.text)).collect();
    found(check_spec(&settings(&folder(&files))))
}

fn rendered((diagnostics, sources): &(Diagnostics, Sources)) -> String {
    diagnostics.render(sources, Style::default())
}

/// Collects the codes in string literals of the compiler's source files.
fn codes_in(path: &Path, codes: &mut BTreeSet<String>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder of sources");
        entries.flatten().for_each(|entry| codes_in(&entry.path(), codes));
        return;
    }
    if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("catalogue/mod.rs") {
        return;
    }
    let text = fs::read_to_string(path).expect("sources are text");
    let code = text.split('"').filter(|word| {
        word.len() == 5 && word.starts_with(['E', 'W']) && word[1..].bytes().all(|digit| digit.is_ascii_digit())
    });
    // Codes of tests and a code that is never reported are left out.
    codes.extend(code.filter(|code| !code.starts_with("E09") && !code.starts_with("E99")).map(str::to_owned));
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let mut codes = BTreeSet::new();
    codes_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
    let pages: BTreeSet<String> = catalogue::all().map(|page| page.code.to_owned()).collect();
    let without: Vec<_> = codes.difference(&pages).collect();
    let unused: Vec<_> = pages.difference(&codes).collect();
    assert!(without.is_empty(), "codes without a page in src/catalogue: {without:?}");
    assert!(unused.is_empty(), "pages of codes that nothing reports: {unused:?}");
}

#[test]
fn every_page_is_complete() {
    for page in catalogue::all() {
        let Page { code, title, text, wrong, right } = page;
        assert!(!title.is_empty() && !title.ends_with('.'), "{code}: {title:?}");
        assert!(text.len() > 80 && text.ends_with('.') || text.ends_with(')'), "{code}: {text:?}");
        for files in [&wrong, &right] {
            assert!(files.iter().any(|file| file.name == "isa.yaml"), "{code} has no isa.yaml");
        }
        assert_ne!(wrong, right, "{code}");
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(130), "{code}: long lines");
    }
}

#[test]
fn wrong_examples_have_their_mistake_and_no_other() {
    let mut failures = Vec::new();
    for page in catalogue::all() {
        let found = findings(&page.wrong);
        let mut codes: Vec<&str> = found.0.iter().map(|found| found.code).collect();
        codes.dedup();
        let severity = if page.code.starts_with('E') { Severity::Error } else { Severity::Warning };
        if codes != [page.code] || found.0.iter().any(|found| found.severity != severity) {
            failures.push(format!("{}: {codes:?}\n{}\n", page.code, rendered(&found)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn right_examples_have_no_mistake() {
    let mut failures = Vec::new();
    for page in catalogue::all() {
        let found = findings(&page.right);
        if !found.0.is_empty() {
            failures.push(format!("{}:\n{}\n", page.code, rendered(&found)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn messages_are_as_in_the_goldens() {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/goldens"].iter().collect();
    let update = env::var_os("UPDATE_GOLDENS").is_some();
    let mut known = BTreeSet::new();
    let mut stale = Vec::new();
    for page in catalogue::all() {
        let path = folder.join(format!("{}.txt", page.code));
        let text = format!("{}\n", rendered(&findings(&page.wrong)));
        known.insert(path.clone());
        if update {
            fs::create_dir_all(&folder).expect("the repository is writable");
            fs::write(&path, text).expect("the repository is writable");
        } else if fs::read_to_string(&path).is_ok_and(|golden| golden == text) {
        } else {
            let golden = fs::read_to_string(&path).unwrap_or_default();
            stale.push(format!("--- {}\n{text}\n--- golden\n{golden}", page.code));
        }
    }
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten().filter(|entry| !known.contains(&entry.path())) {
        match update {
            true => fs::remove_file(entry.path()).expect("the repository is writable"),
            false => stale.push(format!("--- {} is of no code", entry.path().display())),
        }
    }
    let advice = "UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all catalogue";
    assert!(stale.is_empty(), "{}\n{advice}", stale.join("\n"));
}

#[test]
fn messages_have_a_place_unless_there_is_none() {
    for page in catalogue::all() {
        let (found, sources) = findings(&page.wrong);
        for found in &found {
            let place = found.primary.map(|span| sources.line_column(span));
            assert!(place.is_some(), "{}: {}", page.code, found.message);
            assert!(!found.message.ends_with('.'), "{}: {}", page.code, found.message);
        }
    }
}

#[test]
fn pages_are_explained_as_text() {
    let text = catalogue::explain("e0107").expect("it exists");
    assert!(text.starts_with("E0107: Two things claim the same bits\n\nA bit can mean one thing."), "{text}");
    assert!(text.contains("\nWrong:\n\n  isa.yaml\n\n    isa: blink\n"), "{text}");
    assert!(text.contains("\nRight:\n"), "{text}");
    assert!(!text.contains("```"), "{text}");
    assert!(catalogue::explain("document.yaml").expect("it exists").contains("    isa: tiny\n"));
    assert_eq!(
        catalogue::explain("E01007"),
        Err("there is no error or warning `E01007`, did you mean `E0107`?".to_owned())
    );
    assert_eq!(catalogue::explain("banana"), Err("there is no error or warning `banana`".to_owned()));
    assert!(catalogue::page("E0107").is_some() && catalogue::page("e0107").is_none());
}
