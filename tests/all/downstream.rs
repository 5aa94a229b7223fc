//! The three doors to the compiler, each used by a crate of its own in `tests/downstream`. All describe the same machine and
//! run the same tests, `behaviour.rs`.

use std::path::Path;

use isaforge_compiler::backend::rust::{Options, SemanticsStyle};
use isaforge_compiler::{Settings, compile};

use crate::support::{ROOT, Temporary, cargo, fails, succeeds};

#[track_caller]
fn passes(krate: &str, arguments: &[&str]) {
    let folder = Path::new(ROOT).join("tests/downstream").join(krate);
    let text = succeeds(cargo(&folder, arguments));
    assert!(text.contains("test words_and_text_are_views_of_one_instruction ... ok"), "{text}");
    assert!(text.contains("every_form_encodes_decodes_prints_and_parses_to_itself ... ok"), "{text}");
    assert!(text.contains("- compile fail ... ok"), "forgetting an instruction is a compile error: {text}");
}

#[test]
fn the_macro_serves_a_crate_that_depends_on_isaforge_alone() {
    passes("macro-door", &["test"]);
}

#[test]
fn a_build_script_of_three_lines_serves_a_crate() {
    passes("build-door", &["test"]);
}

#[test]
fn generated_crates_serve_a_crate() {
    passes("gen-door", &["test", "--workspace"]);
}

#[test]
fn a_crate_without_an_allocator_has_a_set() {
    let manifest = format!(
        "[package]\nname = \"bare\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nisaforge = {{ path = {ROOT:?}, default-features = false }}\n"
    );
    let library = "#![no_std]\nisaforge::isa! { \"specs/tiny.yaml\" }\n";
    let stop = more("WAIT", "1");
    let files = [("specs/tiny.yaml", TINY), ("specs/more.yaml", &stop), ("src/lib.rs", library)];
    let krate = Temporary::new("bare", "", &files);
    krate.write("Cargo.toml", &manifest);
    succeeds(krate.cargo(&["check"]));
    let features = succeeds(krate.cargo(&["tree", "--edges", "features,no-proc-macro", "--prefix", "none"]));
    assert!(!features.contains("isaforge-core feature \"alloc\""), "{features}");
}

#[test]
fn the_generated_crates_of_the_tests_are_fresh() {
    for (krate, style) in [("blink", SemanticsStyle::Default), ("blink-strict", SemanticsStyle::Required)] {
        let options = Options { semantics: style, ..Options::default() };
        let settings = Settings { options, ..Settings::new(Path::new(ROOT).join("tests/specs/blink.yaml")) };
        let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
        let source = compiled.source(Some(&krate.replace('-', "_"))).expect("the compiler writes Rust");
        let file = format!("tests/downstream/gen-door/{krate}/src/lib.rs");
        let path = Path::new(ROOT).join(&file);
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            std::fs::write(&path, source).expect("the generated crate can be written");
            continue;
        }
        let fresh = std::fs::read_to_string(&path).is_ok_and(|old| old == source);
        let semantics = if style == SemanticsStyle::Required { " --semantics required" } else { "" };
        assert!(
            fresh,
            "{file} is stale: isaforge gen tests/specs/blink.yaml -o tests/downstream/gen-door/{krate}{semantics}"
        );
    }
}

const TINY: &str = "isa: tiny\nword: 8\nprovenance: document\nimport: more.yaml\ninstructions:\n  STOP: { title: ends, fixed: { 7..0: 0 } }\n";
const MAIN: &str = "isaforge::isa! { \"specs/tiny.yaml\" }
fn main() {
    let names: Vec<_> = tiny::Opcode::ALL.iter().map(|o| o.mnemonic()).collect();
    println!(\"knows {}\", names.join(\" \"));
}
";

fn more(name: &str, bits: &str) -> String {
    format!("instructions:\n  {name}: {{ title: more, fixed: {{ 7..0: {bits} }} }}\n")
}

#[test]
fn a_change_of_an_imported_file_is_seen_by_the_next_build() {
    let first = more("WAIT", "1");
    let files = [("specs/tiny.yaml", TINY), ("specs/more.yaml", &first), ("src/main.rs", MAIN)];
    let krate = Temporary::new("rebuild", "", &files);
    assert!(succeeds(krate.cargo(&["run"])).contains("knows STOP WAIT"));
    krate.write("specs/more.yaml", &more("SLEEP", "1"));
    assert!(succeeds(krate.cargo(&["run"])).contains("knows STOP SLEEP"));
    // A mistake stops the build, and mending it is enough to go on.
    krate.write("specs/more.yaml", &more("SLEEP", "0"));
    let text = fails(krate.cargo(&["run"]));
    assert!(text.contains("error[E0106]: `SLEEP` and `STOP` match the same word"), "{text}");
    assert!(text.contains("specs/more.yaml:2:3"), "{text}");
    krate.write("specs/more.yaml", &more("DOZE", "2"));
    assert!(succeeds(krate.cargo(&["run"])).contains("knows STOP DOZE"));
    // Nothing changed, nothing to do.
    let text = succeeds(krate.cargo(&["run"]));
    assert!(!text.contains("Compiling"), "{text}");
}

#[test]
fn a_build_script_stops_at_a_mistake_and_shows_it() {
    let manifest =
        format!("\n[build-dependencies]\nisaforge-compiler = {{ path = {:?} }}\n", format!("{ROOT}/compiler"));
    let script = "fn main() { isaforge_compiler::build::generate(\"specs/tiny.yaml\"); }\n";
    let main = MAIN.replace("isaforge::isa! { \"specs/tiny.yaml\" }", "isaforge::include_isa!(\"tiny\");");
    let mistake = more("WAIT", "0x100");
    let files =
        [("specs/tiny.yaml", TINY), ("specs/more.yaml", &mistake), ("build.rs", script), ("src/main.rs", &main)];
    let krate = Temporary::new("stops", &manifest, &files);
    let text = fails(krate.cargo(&["run"]));
    assert!(text.contains("the specification `specs/tiny.yaml` has a mistake"), "{text}");
    assert!(text.contains("error[E0031]: 0b100000000 does not fit 8 bits"), "{text}");
    assert!(text.contains("--> specs/more.yaml:2:"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    krate.write("specs/more.yaml", &more("WAIT", "1"));
    assert!(succeeds(krate.cargo(&["run"])).contains("knows STOP WAIT"));
    krate.write("specs/more.yaml", "instructions:\n  WAIT: { fixed: { 7..0: 1 } }\n");
    let text = succeeds(krate.cargo(&["run"]));
    assert!(text.contains("warning: stops@0.0.0: specs/more.yaml:2:3: W0203: `WAIT` has no description"), "{text}");
}

#[test]
fn the_macro_warns_once_for_each_kind_of_warning() {
    let undescribed = "instructions:\n  WAIT: { fixed: { 7..0: 1 } }\n  SLEEP: { fixed: { 7..0: 2 } }\nenums: { E: { values: [a] } }\n";
    let files = [("specs/tiny.yaml", TINY), ("specs/more.yaml", undescribed), ("src/main.rs", MAIN)];
    let text = succeeds(Temporary::new("warns", "", &files).cargo(&["check"]));
    assert_eq!(text.matches("use of deprecated").count(), 2, "{text}");
    assert!(text.contains("warning[W0203]: `WAIT` has no description"), "{text}");
    assert!(text.contains("warning[W0203]: `SLEEP` has no description"), "{text}");
    assert!(text.contains("warning[W0202]: the enum `E` is never used"), "{text}");
    assert!(text.contains("src/main.rs:1:18"), "the place is the path of the specification: {text}");
}

#[test]
fn on_request_the_expansion_is_a_file_that_messages_point_into() {
    let main = "fn main() {
    isaforge::isa! { \"specs/tiny.yaml\" }
    println!(\"knows {}\", tiny::Opcode::COUNT);
    tiny::Stop::new(1);
}
";
    let files = [("specs/tiny.yaml", TINY), ("specs/more.yaml", &more("WAIT", "1")), ("src/main.rs", main)];
    let krate = Temporary::new("expands", "", &files);
    let folder = krate.path().join("expanded");
    let mut command = krate.cargo(&["run"]);
    command.env("ISAFORGE_EXPAND_DIR", &folder);
    let text = fails(command);
    assert!(text.contains("expanded/expands-tiny.rs:"), "{text}");
    krate.write("src/main.rs", &main.replace("    tiny::Stop::new(1);\n", ""));
    let mut command = krate.cargo(&["run"]);
    command.env("ISAFORGE_EXPAND_DIR", &folder);
    assert!(succeeds(command).contains("knows 2"));
    let text = std::fs::read_to_string(folder.join("expands-tiny.rs")).expect("the expansion was written");
    assert!(text.contains("\npub struct Stop(u8);\n"), "{text}");
    // The variable is part of what the crate depends on.
    let text = succeeds(krate.cargo(&["run"]));
    assert!(text.contains("Compiling expands") && text.contains("knows 2"), "{text}");
}
