//! The reading layer with positions: values that are read, diagnostics and their positions, and robustness to any
//! input.

use std::{fs, process};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics, Severity, Style};
use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::{LoadError, Sources, Span, Spanned};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use isaforge_compiler::xml::{Element, read_xml};
use isaforge_compiler::yaml::read_yaml;
use isaforge_compiler::{choices, vocabulary};

mod xml;
mod yaml;

choices! {
    /// What an instruction does to an operand.
    pub enum Access { Read = "read", Write = "write" }
}

vocabulary! {
    /// One operand.
    pub struct Operand {
        /// Where it lies
        /// in the word.
        required bits: Spanned<String>,
        /// Whether it is read or written.
        optional access: Access,
        /// The type of its lanes.
        optional r_type ("type"): OneOrMany<String>,
    }
}

vocabulary! {
    /// A whole spec.
    pub struct Spec {
        /// Bits of a word.
        required word: u8,
        /// What it is.
        optional doc: String,
        /// Whether to be strict.
        optional exact: bool,
        /// Values by name.
        optional enums: Named<Vec<Spanned<u64>>>,
        /// Operands by name.
        required operands: Named<Operand>,
    }
}

/// Reads `text` as a `T`, and returns the value and the diagnostics as they are printed.
fn read<T: FromNode>(text: &str) -> (Option<T>, String) {
    let mut sources = Sources::new();
    let file = sources.add("blink.yaml", text.to_owned());
    let mut out = Diagnostics::new();
    let node = read_yaml(&sources, file, &mut out);
    let value = node.and_then(|node| T::from_node(&node, &mut Reader { sources: &sources, out: &mut out }));
    out.finish();
    (value, out.render(&sources, Style::default()))
}

fn element(text: &str) -> (Option<Element>, String) {
    let mut sources = Sources::new();
    let file = sources.add("isa.xml", text.to_owned());
    let mut out = Diagnostics::new();
    let root = read_xml(&sources, file, &mut out);
    out.finish();
    (root, out.render(&sources, Style::default()))
}

#[track_caller]
fn same(actual: &str, golden: &str) {
    let golden = golden.strip_prefix('\n').unwrap_or(golden);
    assert!(actual == golden, "--- got\n{actual}\n--- expected\n{golden}\n---");
}

/// Checks the diagnostics of a YAML text, which must have some.
#[track_caller]
fn yaml_says(text: &str, golden: &str) {
    same(&read::<Spec>(text).1, golden);
}

#[track_caller]
fn xml_says(text: &str, golden: &str) {
    same(&element(text).1, golden);
}

// --------------------------------------------------------------------------------------------------- sources, rendering

#[test]
fn places_may_lie_in_several_files_and_lines_may_be_long() {
    let mut sources = Sources::new();
    let one = sources.add("one.yaml", "a: 1\nb: \u{e4}\u{1F600} 2\n".to_owned());
    let two = sources.add("two.xml", format!("<x>{}&{}</x>", "long ".repeat(2000), " tail".repeat(2000)));
    let span = |file, start, end| Span::new(file, start..end);
    let mut out = Diagnostics::new();
    out.push(Diagnostic::warning("W0201", span(two, 10_003, 10_004), "far to the right").label("here").note("a note"));
    out.push(
        Diagnostic::error("E0107", span(one, 15, 16), "bits overlap")
            .label("again")
            .secondary(span(one, 3, 4), "first")
            .secondary(span(two, 1, 2), "and there")
            .note("one")
            .help("two"),
    );
    out.push(Diagnostic::error_without_place("E0900", "no place"));
    out.push(Diagnostic::error_without_place("E0900", "no place"));
    assert_eq!(sources.line_column(span(one, 15, 16)), (2, 7));
    out.finish();
    assert_eq!((out.error_count(), out.warning_count(), out.has_errors()), (2, 1, true));
    same(
        &out.render(&sources, Style::default()),
        r#"
error[E0900]: no place

error[E0107]: bits overlap
 --> one.yaml:2:7
  |
1 | a: 1
  |    - first
2 | b: ä😀 2
  |        ^ again
  |
 ::: two.xml:1:2
  |
1 | <x>long long long long long long long long long long long long long long long long long long long long long long long long long long ...
  |  - and there
  |
  = note: one
  = help: two

warning[W0201]: far to the right
 --> two.xml:1:10004
  |
1 | ...g long long long long long long long long long long long long & tail tail tail tail tail tail tail tail tail tail tail tail tail t...
  |                                                                  ^ here
  |
  = note: a note"#,
    );
    assert!(out.render(&sources, Style { color: true, ..Style::default() }).contains("\u{1b}["));
    same(
        &out.render(&sources, Style { cap: 1, ..Style::default() }),
        r#"
error[E0900]: no place

... and 1 more error and 1 more warning"#,
    );
    out.warnings_as_errors();
    assert!(out.iter().all(|found| found.severity == Severity::Error));
}

#[test]
fn files_are_loaded_once_and_shown_below_the_root() {
    let root = std::env::temp_dir().join(format!("isaforge-front-end-{}", process::id()));
    fs::create_dir_all(root.join("sub")).expect("a writable temporary directory");
    fs::write(root.join("sub/a.yaml"), "\u{feff}word: 1").expect("writable");
    fs::write(root.join("bad.yaml"), b"ok\nno\xFF").expect("writable");
    fs::write(root.join("big.yaml"), vec![b' '; (16 << 20) + 1]).expect("writable");
    let mut sources = Sources::with_root(&root);
    let file = sources.load(&root.join("sub/a.yaml")).expect("there");
    assert_eq!(sources.load(&root.join("sub/../sub/a.yaml")).expect("there"), file);
    assert_eq!((sources.path(file).to_str(), sources.text(file)), (Some("sub/a.yaml"), "word: 1"));
    assert_eq!(sources.paths().count(), 1);
    let failed = |sources: &mut Sources, name: &str| sources.load(&root.join(name)).expect_err("bad");
    let bad = failed(&mut sources, "bad.yaml");
    assert!(matches!(bad, LoadError::NotUtf8 { offset: 5, line: 2, .. }));
    assert_eq!(bad.to_string(), "`bad.yaml` is not UTF-8 text: the first bad byte is byte 5, on line 2");
    assert_eq!(failed(&mut sources, "none.yaml").to_string(), "there is no file `none.yaml`");
    assert_eq!(failed(&mut sources, "big.yaml").to_string(), "`big.yaml` is larger than 16 MiB");
    assert!(matches!(failed(&mut sources, "sub"), LoadError::NotRegular { .. }));
    fs::remove_dir_all(&root).expect("removable");
}

#[test]
fn suggestions_are_near_and_lists_are_short() {
    let names = ["values", "bits", "default", "FADD.f32", "FADD.v2f16"];
    for (word, near) in [
        ("value", Some("values")),
        ("VALUES", Some("values")),
        ("vlaues", Some("values")),
        ("bit", Some("bits")),
        ("defualt", Some("default")),
        ("fadd.f23", Some("FADD.f32")),
        ("x", None),
        ("", None),
        ("unrelated", None),
    ] {
        assert_eq!(did_you_mean(word, names), near, "{word}");
    }
    assert_eq!(one_of(["a"]), "`a`");
    assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
    assert_eq!(one_of(["n"; 12]), format!("{}, … and 4 more", ["`n`"; 8].join(", ")));
}

// -------------------------------------------------------------------------------------------------------------- any input

const GOOD_YAML: &str = "word: 16\ndoc: >-\n  Tëxt\n\nenums: &e { A: [1, 0x2], \"B\": ['c', ~, -1.5] } # c\nmore: *e\noperands:\n  - x: |\n     y\n";
const GOOD_XML: &str = "<?xml version=\"1.0\"?>\n<!-- c -->\n<isa a='1' b=\"&lt;\">\n <é>t &amp; &#65; <![CDATA[x]]></é><y z='2'/>\n</isa>\n";

/// Returns `text` cut at every byte, with every byte replaced by each of `signs`, and with each of them inserted.
fn variants(text: &str, signs: &[u8]) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut variants: Vec<Vec<u8>> = (0..=bytes.len()).map(|end| bytes[..end].to_vec()).collect();
    variants.extend((0..=bytes.len()).map(|start| bytes[start..].to_vec()));
    for (at, sign) in (0..bytes.len()).flat_map(|at| signs.iter().map(move |sign| (at, *sign))) {
        let mut replaced = bytes.to_vec();
        replaced[at] = sign;
        variants.push(replaced);
        let mut inserted = bytes.to_vec();
        inserted.insert(at, sign);
        variants.push(inserted);
    }
    variants.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

#[test]
fn no_variant_of_a_yaml_file_is_too_much() {
    for text in variants(GOOD_YAML, b"\0\n\t :-[]{}&*!|>'\"%@#?,~\x7f\xff") {
        let (value, said) = read::<Spec>(&text);
        assert!(value.is_some() || said.starts_with("error[E00"), "{text:?}: {said}");
    }
}

#[test]
fn no_variant_of_an_xml_file_is_too_much() {
    assert!(element(GOOD_XML).0.is_some());
    for text in variants(GOOD_XML, b"\0\n <>&;='\"/!?-[]#x\xff") {
        let (root, said) = element(&text);
        assert!(root.is_some() || said.starts_with("error[E00"), "{text:?}: {said}");
    }
    for text in ["<".repeat(3000), "&".repeat(3000), "<a b".repeat(3000), "</".repeat(3000), "<a b='<".repeat(3000)] {
        assert!(element(&text).0.is_none());
    }
    // The first mark belongs to the file; any other is an invisible character.
    assert!(element("\u{feff}<é>x</é>").0.is_some());
    for text in ["\u{feff}\u{feff}<é>x</é>", "<a>&\u{feff}\u{feff}x &\u{feff}</a>"] {
        assert!(element(text).1.starts_with("error[E0006]"));
    }
}
