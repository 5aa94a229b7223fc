//! The examples of the compiler's catalogue as crates: `tests/ui/fail/page_CODE.rs` for a mistake that stops a build, and
//! one crate with all that is right, `tests/ui/pass/pages.rs`.
//!
//! `UPDATE_GOLDENS=1 cargo test -p isaforge --test all ui_pages` writes them, then `TRYBUILD=overwrite cargo test -p isaforge-ui-tests` the messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use isaforge_compiler::catalogue::{self, BASES, File};

/// The files of an example, with those that it builds on, for the folder of its own below `folder`.
fn example(folder: &str, files: &[File], tree: &mut BTreeMap<PathBuf, String>) {
    let bases = BASES.iter().filter(|base| files.iter().any(|file| file.text.contains(base.name)));
    for file in files.iter().chain(bases) {
        tree.insert(Path::new(folder).join(file.name), file.text.to_owned());
    }
}

/// All files that the catalogue makes, by path below `tests/ui`.
fn tree() -> BTreeMap<PathBuf, String> {
    let mut tree = BTreeMap::new();
    let mut right = BTreeSet::new();
    let mut modules = String::new();
    for page in catalogue::all() {
        let code = page.code.to_lowercase();
        let title = page.title;
        if page.code.starts_with('E') {
            example(&format!("fail/specs/pages/{code}"), &page.wrong, &mut tree);
            let text = format!(
                "//! {}: {title}.\n\nisaforge::isa! {{ \"specs/pages/{code}/isa.yaml\" }}\n\nfn main() {{}}\n",
                page.code
            );
            tree.insert(format!("fail/page_{code}.rs").into(), text);
        }
        // Many pages end with the same specification.
        if right.insert(page.right.iter().map(|file| (file.name, file.text)).collect::<Vec<_>>()) {
            example(&format!("pass/specs/pages/{code}"), &page.right, &mut tree);
            modules.push_str(&format!(
                "\n/// {}: {title}.\nmod {code} {{\n    isaforge::isa! {{ \"specs/pages/{code}/isa.yaml\" }}\n}}\n",
                page.code
            ));
        }
    }
    let head =
        "//! What the pages of the catalogue say is right.\n#![allow(dead_code, reason = \"it need only compile\")]\n";
    tree.insert("pass/pages.rs".into(), format!("{head}{modules}\nfn main() {{}}\n"));
    tree
}

/// The files below a folder.
fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files_in(&path, found),
            path => found.push(path),
        }
    }
}

#[test]
fn crates_are_those_of_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let tree = tree();
    let update = env::var_os("UPDATE_GOLDENS").is_some();
    let mut stale = Vec::new();
    for (path, text) in &tree {
        let path = root.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        if update {
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the repository is writable");
            fs::write(&path, text).expect("the repository is writable");
        } else {
            stale.push(path.display().to_string());
        }
    }
    let mut found = Vec::new();
    files_in(&root.join("fail/specs/pages"), &mut found);
    files_in(&root.join("pass/specs/pages"), &mut found);
    let crates = fs::read_dir(root.join("fail"))
        .expect("the folder is part of the repository")
        .flatten()
        .map(|entry| entry.path());
    found
        .extend(crates.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("page_"))));
    // A message belongs to the crate of the same name.
    let is_known = |path: &PathBuf| {
        tree.contains_key(
            path.with_extension(if path.extension().is_some_and(|e| e == "stderr") { "rs" } else { "" })
                .strip_prefix(&root)
                .unwrap_or(path),
        ) || tree.contains_key(path.strip_prefix(&root).unwrap_or(path))
    };
    for path in found.iter().filter(|path| !is_known(path)) {
        if update {
            fs::remove_file(path).expect("the repository is writable");
        } else {
            stale.push(format!("{} is of no page", path.display()));
        }
    }
    let advice = "UPDATE_GOLDENS=1 cargo test -p isaforge --test all ui_pages && TRYBUILD=overwrite cargo test -p isaforge-ui-tests";
    assert!(stale.is_empty(), "{}\n{advice}", stale.join("\n"));
}
