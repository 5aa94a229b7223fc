//! Checks that the tests named in SECURITY.md exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Collects the Rust files below a folder, except build output.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden && entry.file_name() != "target" && entry.file_name() != "generated" {
            sources(&path, into);
        } else if path.extension().is_some_and(|found| found == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn every_test_that_keeps_a_promise_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("SECURITY.md")).expect("the page is there");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
    let tests = |name: &str| {
        let head = format!("#[test]\nfn {name}()");
        let indented = format!("#[test]\n    fn {name}()");
        texts.iter().any(|text| text.contains(&head) || text.contains(&indented))
    };
    // Names of tests contain several underscores.
    let quoted = page.split('`').skip(1).step_by(2);
    let names: Vec<&str> = quoted.filter(|name| name.matches('_').count() >= 2 && !name.contains(' ')).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names.iter().filter(|name| !name.starts_with("ISAFORGE")) {
        assert!(tests(name), "no test is called `{name}`");
    }
    for name in page.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")) {
        assert!(files.iter().any(|path| path.ends_with(name)), "there is no `{name}`");
    }
}
