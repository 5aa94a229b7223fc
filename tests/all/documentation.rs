//! Generated crates document their entry points with examples, which rustdoc runs.

use std::collections::BTreeMap;
use std::path::Path;

use isaforge_compiler::{Settings, compile};
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, Visibility};

use crate::support::{ROOT, Temporary, succeeds};

/// The documentation of an item.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(text) => match &text.lit {
                Lit::Str(text) => Some(text.value() + "\n"),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect()
}

/// The public items of a file with their documentation: functions and traits as they are called, methods as `Type::method`.
fn public_items(source: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
    for item in syn::parse_file(source).expect("it is Rust").items {
        let (name, visibility, attributes) = match &item {
            Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs),
            Item::Static(item) => (&item.ident, &item.vis, &item.attrs),
            Item::Trait(item) => (&item.ident, &item.vis, &item.attrs),
            Item::Struct(item) => (&item.ident, &item.vis, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.vis, &item.attrs),
            Item::Impl(item) if item.trait_.is_none() => {
                let ty = &item.self_ty;
                let ty = quote::quote!(#ty).to_string();
                for item in &item.items {
                    let ImplItem::Fn(method) = item else { continue };
                    if public(&method.vis) {
                        found.insert(format!("{ty}::{}", method.sig.ident), documentation(&method.attrs));
                    }
                }
                continue;
            }
            _ => continue,
        };
        if public(visibility) {
            found.insert(name.to_string(), documentation(attributes));
        }
    }
    found
}

/// Types that every crate has, whatever its instructions are.
const OWN: [&str; 5] = ["Instruction", "Opcode", "Group", "Parts", "Operation"];

/// What makes generated code say how to use itself: entry points of its own have an example each, and of the types that the
/// specification names, one shows what all of them have.
#[track_caller]
fn documents_itself(what: &str, source: &str) {
    let items = public_items(source);
    let all: String = items.values().filter(|text| text.contains("```\n")).map(String::as_str).collect();
    let mut without = Vec::new();
    for (name, text) in &items {
        let (owner, method) = name.split_once("::").unwrap_or((name, ""));
        let has = text.contains("# Examples\n") && text.matches("```\n").count() == 2;
        let entry = OWN.contains(&owner) || method.is_empty() && !owner.starts_with(char::is_uppercase);
        let entry = entry || ["ISA", "SEMANTICS", "HARDWARE", "Semantics", "Intrinsics"].contains(&name.as_str());
        // Other names are those of the specification. What all types of a kind have is shown once.
        let is = |known: &str| items.contains_key(&format!("{owner}::{known}"));
        let common: &[&str] = match () {
            () if is("from_bits") => &["from_bits", "bits", "as_str"],
            () if is("from_number") => &["from_number", "number"],
            () if is("find") => &["new", "index", "find", "value"],
            () if is("index") && !is("with_index") => &["new", "index"],
            () if is("new") => &["new"],
            () => &["instruction"],
        };
        let called = || all.contains(&format!(".{method}(")) || all.contains(&format!("::{method}("));
        let shown = !common.contains(&method) || called();
        if entry && !has || !shown {
            without.push(name.as_str());
        }
    }
    assert!(without.is_empty(), "{what}: no example shows {without:?}");
    let examples = all.matches("```\n").count() / 2;
    assert!((10..40).contains(&examples), "{what} has {examples} examples; each takes time to compile");
}

#[test]
fn entry_points_of_the_generated_crates_have_examples() {
    for name in ["valhall", "valhall-2021", "vpu", "usc"] {
        let folder = Path::new(ROOT).join("generated").join(name).join("src");
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("the crate is checked in");
        let root = read("lib.rs");
        documents_itself(name, &root);
        for section in ["Decode", "Match", "Build", "Assemble", "List"] {
            assert!(
                root.contains(&format!("//! // {section}")),
                "the front page of {name} does not say how to {section}"
            );
        }
        let meaning = read("semantics.rs");
        for (item, text) in public_items(&meaning) {
            assert!(text.contains("# Examples\n"), "{name}: `semantics::{item}` has no example");
        }
        // What a macro defines has its documentation in the call.
        if let Some((_, machine)) = meaning.split_once("define_machine!") {
            assert!(machine.contains("# Examples"), "{name}: `Machine` has no example");
        }
    }
}

#[test]
fn variants_are_grouped_by_unit() {
    for (name, group, variant) in
        [("valhall", "`SFU` (", "[`FRCP.f32`](Self::FrcpF32)"), ("vpu", "`float` (", "(Self::")]
    {
        let source = std::fs::read_to_string(Path::new(ROOT).join("generated").join(name).join("src/lib.rs"));
        let items = public_items(&source.expect("the crate is checked in"));
        let text = &items["Instruction"];
        let line = text.lines().find(|line| line.contains(group)).unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(line.contains(variant), "{line}");
    }
}

/// `cargo test` runs the examples of the checked-in crates, none of which is of a stream.
#[test]
fn crates_of_streams_document_themselves_with_examples_that_run() {
    let core = format!("isaforge-core = {{ path = {:?} }}\n[features]\nsemantics = []\n", format!("{ROOT}/core"));
    for name in ["g13", "riscv"] {
        let compiled = compile(&Settings::new(Path::new(ROOT).join(format!("examples/{name}/isa.yaml"))));
        let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}"));
        let source = compiled.source(Some(name)).expect("the compiler writes Rust");
        let meaning = compiled.semantics_source(name).expect("the compiler writes Rust").unwrap_or_default();
        documents_itself(name, &source);
        let krate = Temporary::new(name, &core, &[("src/lib.rs", &source), ("src/semantics.rs", &meaning)]);
        let text = succeeds(krate.cargo(&["test", "--doc", "--all-features"]));
        let examples = source.matches("# Examples").count() + meaning.matches("# Examples").count() + 1;
        assert!(text.contains(&format!(" {} passed; 0 failed", examples + usize::from(!meaning.is_empty()))), "{text}");
    }
}
