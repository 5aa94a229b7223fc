//! The doors give the same code, and what is checked in is that code.

use std::path::{Path, PathBuf};

use isaforge_compiler::{Settings, compile};
use quote::ToTokens;

use crate::support::{ROOT, Temporary, succeeds};

const COMMAND: &str = "isaforge gen specs/valhall/isa.yaml -o generated/valhall";

fn spec() -> PathBuf {
    Path::new(ROOT).join("specs/valhall/isa.yaml")
}

fn checked_in() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("generated/valhall/src/lib.rs")).expect("the crate is checked in")
}

/// The source without the examples in its documentation: modules that a macro makes have none.
fn without_examples(source: &str) -> String {
    let (mut text, mut fences) = (String::new(), 2);
    for line in source.lines() {
        let documentation = line.trim_start().strip_prefix("///");
        if documentation == Some(" # Examples") {
            // The empty line before it goes, too.
            text.truncate(text.trim_end().trim_end_matches('/').len());
            fences = 0;
        }
        if fences == 2 {
            text.push_str(line);
            text.push('\n');
        } else if documentation.is_some_and(|text| text.starts_with(" ```")) {
            fences += 1;
        }
    }
    text
}

/// The items of a source file, formatted: what it says, whatever its layout. A crate has what instructions do in a file of its
/// own, behind a feature; that module, and what is taken from it, is compared apart.
fn items(source: &str) -> String {
    let mut file = syn::parse_file(&without_examples(source)).expect("it is Rust");
    file.attrs.clear();
    file.items.retain(|item| match item {
        syn::Item::Mod(module) => module.ident != "semantics",
        syn::Item::Macro(called) => called.mac.path.segments.last().is_none_or(|last| last.ident != "with_machine"),
        _ => true,
    });
    prettyplease::unparse(&file)
}

/// Says where two long texts part, instead of showing both.
#[track_caller]
fn same(one: &str, other: &str, what: &str) {
    if one == other {
        return;
    }
    let equal = one.lines().zip(other.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(equal).unwrap_or("(the end)").to_owned();
    panic!("{what}; the first difference is on line {}:\n  {}\n  {}", equal + 1, line(one), line(other));
}

/// The instruction sets that have a crate in `generated/`.
fn generated() -> Vec<String> {
    let folder = std::fs::read_dir(Path::new(ROOT).join("generated")).expect("it is part of the repository");
    let crates = folder.flatten().filter(|entry| entry.path().join("src/lib.rs").is_file());
    let mut names: Vec<String> = crates.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[test]
fn the_checked_in_crates_are_fresh() {
    let names = generated();
    assert!(names.iter().any(|name| name == "valhall"), "{names:?}");
    for name in names {
        let (spec, krate) = (format!("specs/{name}/isa.yaml"), format!("generated/{name}"));
        let compiled =
            compile(&Settings::new(Path::new(ROOT).join(&spec))).unwrap_or_else(|failure| panic!("{failure}"));
        let krate_name = format!("isaforge_{}", name.replace('-', "_"));
        let source = compiled.source(Some(&krate_name)).expect("the compiler writes Rust");
        let held = std::fs::read_to_string(Path::new(ROOT).join(&krate).join("src/lib.rs")).expect("it is text");
        same(&held, &source, &format!("{krate} is stale, run `isaforge gen {spec} -o {krate}`"));
        let source =
            compiled.semantics_source(&krate_name).expect("the compiler writes Rust").expect("the texts are there");
        let held = std::fs::read_to_string(Path::new(ROOT).join(&krate).join("src/semantics.rs")).expect("it is text");
        same(&held, &source, &format!("{krate} is stale, run `isaforge gen {spec} -o {krate}`"));
    }
}

#[test]
fn the_compiler_gives_the_tokens_of_the_checked_in_crate() {
    let compiled = compile(&Settings::new(spec())).unwrap_or_else(|failure| panic!("{failure}"));
    // Both ways through text once, so that they agree on what a formatter may add, such as a last comma.
    let given = syn::parse_file(&items(&compiled.source(None).expect("the compiler writes Rust"))).expect("it is Rust");
    let held = syn::parse_file(&items(&checked_in())).expect("it is Rust");
    assert_eq!(given.items.len(), held.items.len(), "run `{COMMAND}`");
    for (given, held) in given.items.iter().zip(&held.items) {
        let (given, held) = (given.to_token_stream().to_string(), held.to_token_stream().to_string());
        same(&given, &held, &format!("the tokens differ, run `{COMMAND}`"));
    }
}

#[test]
fn the_macro_expands_to_the_checked_in_crate() {
    let main = format!("isaforge::isa! {{ spec: {:?}, core: ::isaforge_core }}\n", spec().display().to_string());
    let core = format!("isaforge-core = {{ path = {:?} }}\n", format!("{ROOT}/core"));
    let krate = Temporary::new("expansion", &core, &[("src/lib.rs", &main)]);
    let mut command = krate.cargo(&["check"]);
    command.env("ISAFORGE_EXPAND_DIR", krate.path());
    succeeds(command);
    let expansion =
        std::fs::read_to_string(krate.path().join("expansion-valhall.rs")).expect("the expansion was written");
    same(&items(&expansion), &items(&checked_in()), &format!("the macro gives other code, run `{COMMAND}`"));
}
