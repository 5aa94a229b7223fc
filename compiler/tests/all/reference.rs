//! The document of the spec language agrees with the types that read specifications.

#[test]
fn specs_readme_lists_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/README.md");
    let document = std::fs::read_to_string(path).expect("specs/README.md is part of the repository");
    let fresh = isaforge_compiler::reference::refreshed(&document).expect("specs/README.md has both marks");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, fresh).expect("specs/README.md can be written");
        return;
    }
    assert!(
        document == fresh,
        "specs/README.md is stale: UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all reference"
    );
}
