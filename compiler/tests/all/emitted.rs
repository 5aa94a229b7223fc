//! Generated code compiles, whatever names and texts a specification has; otherwise the specification is rejected with
//! a place.
//!
//! Keywords of all editions are tested where names become names of functions, and a sample of all hostile names in
//! every role. The names of all roles are combined in one specification, to meet each other, and hostile texts in
//! another. With `ISAFORGE_ROUNDS` above 1, every name is tested in every role, older editions are built too, and
//! `rustdoc` checks for doc tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use isaforge_compiler::{Compiled, Settings, check_spec, compile};
use tempfile::TempDir;

/// The keywords of every edition, names of the prelude and of generated code, and texts that are not names.
fn names() -> Vec<String> {
    const WORDS: &str = "_ abstract as async auto await become box break const continue crate default do dyn else enum extern \
        false final fn for gen if impl in let loop macro macro_rules match mod move mut override priv pub raw ref return safe \
        self Self static struct super trait true try type type_ typeof union unsafe unsized use virtual where while yield \
        Box Clone Copy Debug Default Display Drop Eq Err From Fn FnMut Hash Into Iterator None Ok Option Ord Result Send Sized \
        Some String Sync ToString TryFrom TryInto Vec drop bool char str u8 u64 usize i64 f32 std core alloc test \
        __rt tables Instruction Opcode Semantics Operation Output Word ISA RegisterList DecodeError EncodeError ParseError Group \
        Parts Body Form Header slot parts body values value word at builder index new encode building replacing from into fmt \
        clone eq with_a a with_with_a print decode dispatch opcode info raw read set i f __b __form OPCODE COUNT ALL TESTS tests";
    let odd = [
        "",
        " ",
        "a b",
        "a.b",
        "a_b",
        "a-b",
        "1",
        "16.32",
        "0x10",
        "é",
        "日本",
        "Ω",
        "\"",
        "'",
        "\\",
        "\\n",
        "`",
        "{",
        "}",
        "{{",
        "#",
        "$x",
        "r#fn",
        "'a",
        "//",
        "/*",
        "*/",
        "///",
        "x\npub fn evil() {}",
        "a;b",
        "a,b",
        "compile_error!()",
        "]",
        "~",
        "-",
        "+",
    ];
    let words = WORDS.split_whitespace().map(str::to_owned);
    words.chain(odd.map(str::to_owned)).chain(["long".repeat(2500)]).collect()
}

/// Whether everything is tested, which takes minutes.
fn thorough() -> bool {
    std::env::var("ISAFORGE_ROUNDS").is_ok_and(|rounds| rounds.parse().is_ok_and(|rounds: u64| rounds > 1))
}

/// The names tested in a role; the sample holds the names most likely to be escaped incorrectly.
fn tried_in<'a>(role: &str, names: &'a [String]) -> Vec<&'a str> {
    const SAMPLE: [&str; 19] = [
        "_",
        "Self",
        "type",
        "r#fn",
        "crate",
        "Option",
        "Default",
        "Opcode",
        "ISA",
        "with_a",
        "a",
        "16.32",
        "",
        "\"",
        "{",
        "///",
        "x\npub fn evil() {}",
        "\\",
        "Ω",
    ];
    // Operands become functions, whose names are lower-case like keywords.
    let all = thorough() || role == "operand" || role == "operation";
    names.iter().map(String::as_str).filter(|name| all || SAMPLE.contains(name)).collect()
}

/// Texts that could be taken for syntax.
const TEXTS: [&str; 12] = [
    "First line.\nSecond line.\n\nA paragraph.",
    "*/ pub fn evil() {} /*",
    "\"] pub fn evil() {} #[doc = \"",
    "```\nevil();\n```",
    "- ```\n  evil();\n  ```\n> ~~~\n> evil();",
    "    evil();\n\tevil();",
    "Text:\n\n1.      evil();\n",
    "\\ \\n \\u{41} {} {0} #{x} $crate",
    "/// //! /** **/ //",
    "[link](http://example.com) <b>&amp;</b> [`u8`]",
    "!",
    "\n\n\n",
];

/// Quotes a text as YAML.
fn yaml(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            '\n' => vec!['\\', 'n'],
            '\t' => vec!['\\', 't'],
            c => vec![c],
        })
        .collect();
    format!("\"{escaped}\"")
}

/// Names by role. Other roles have a plain name.
#[derive(Clone, Default)]
struct Names<'a>(Vec<(&'static str, Vec<&'a str>)>);

impl<'a> Names<'a> {
    /// The names of a role as YAML, including a plain one.
    fn of(&self, role: &str) -> Vec<String> {
        let given = self.0.iter().filter(|(known, _)| *known == role).flat_map(|(_, names)| names);
        std::iter::once(yaml(&format!("Plain{role}"))).chain(given.map(|name| yaml(name))).collect()
    }

    /// The last name of a role as YAML.
    fn last(&self, role: &str) -> String {
        self.of(role).pop().unwrap_or_default()
    }

    /// A text for documentation.
    fn doc(&self) -> String {
        if self.0.iter().any(|(role, _)| *role == "doc") { self.last("doc") } else { "x".to_owned() }
    }
}

/// One line of YAML for each name.
fn lines(names: &[String], line: impl Fn(usize, &str) -> String) -> String {
    names.iter().enumerate().map(|(i, name)| line(i, name)).collect()
}

const WORD_ROLES: [&str; 16] = [
    "isa",
    "instruction",
    "operand",
    "modifier",
    "flag",
    "field",
    "enum",
    "value",
    "bank",
    "kind",
    "alternative",
    "suffix",
    "shared",
    "constant",
    "unit",
    "doc",
];

/// An instruction set of words. Names beyond what one instruction can hold are put in separate instructions.
fn words(names: &Names<'_>) -> String {
    let doc = names.doc();
    let mut text = format!("doc: {doc}\nword: 64\nprovenance: document\n");
    let isa = if names.0.iter().any(|(role, _)| *role == "isa") { names.last("isa") } else { "plain".to_owned() };
    text.insert_str(0, &format!("isa: {isa}\n"));
    let values = names.of("value").join(", ");
    text += &format!("enums:\n  Base: {{ doc: {doc}, values: [{values}, ~], default: Plainvalue }}\n");
    text +=
        &lines(&names.of("enum"), |_, n| format!("  {n}: {{ doc: {doc}, values: [left, right, ~], default: left }}\n"));
    text += "constants:\n";
    text += &lines(&names.of("constant"), |_, n| {
        format!("  {n}: {{ doc: {doc}, values: [1, {{ value: 2, doc: {doc} }}] }}\n")
    });
    text += "banks:\n";
    text += &lines(&names.of("bank"), |i, n| format!("  {n}: {{ doc: {doc}, count: 8, prints: \"b{i}r{{n}}\" }}\n"));
    text += &format!("shared:\n  {}: {{ doc: {doc}, bits: 63, default: 0 }}\n", names.last("shared"));
    text += "kinds:\n";
    text += &lines(&names.of("kind"), |_, n| {
        format!(
            "  {n}: {{ doc: {doc}, width: 2, alternatives: {{ a: {{ doc: {doc}, fixed: {{ 1: 0 }}, fields: {{ n: {{ bits: 0, number: decimal }} }}, text: \"#{{n}}\" }}, b: {{ fixed: {{ 1: 1 }}, fields: {{ n: {{ bits: 0, number: decimal }} }}, text: \"%{{n}}\" }} }} }}\n"
        )
    });
    let alternatives = names.of("alternative");
    for (i, pair) in alternatives.chunks(16).enumerate() {
        let all = lines(pair, |j, n| {
            format!(
                "{n}: {{ fixed: {{ 5..1: {j} }}, fields: {{ n: {{ bits: 0, number: decimal }} }}, text: \"k{j}x{{n}}\" }}, "
            )
        });
        text += &format!("  Alternatives{i}: {{ width: 6, alternatives: {{ {all} }} }}\n");
    }
    let fields = names.of("field");
    for (i, six) in fields.chunks(6).enumerate() {
        let all = lines(six, |j, n| format!("{n}: {{ bits: {j}, number: decimal }}, "));
        let shown: String =
            six.iter().map(|n| format!("+{{{}}}", n[1..n.len() - 1].replace('{', "{{").replace('}', "}}"))).collect();
        let rest = 7 - six.len();
        text += &format!(
            "  Fields{i}: {{ width: 8, alternatives: {{ all: {{ fixed: {{ 7..{}: 0 }}, fields: {{ {all} }}, text: \"f{shown}\" }}, none: {{ fixed: {{ 7: 1 }}, fields: {{ n: {{ bits: 6..0, number: decimal }} }}, text: \"n{{n}}\" }} }} }}\n",
            7 - rest
        );
    }
    let suffixes = names.of("suffix");
    let two = "n: { bits: 0, number: decimal }";
    text += &format!(
        "  Shared: {{ width: 2, alternatives: {{ a: {{ fixed: {{ 1: 0 }}, fields: {{ {two} }}, text: \"#{{n}}\" }}, b: {{ fixed: {{ 1: 1 }}, when: {{ {}: 1 }}, fields: {{ {two} }}, text: \"%{{n}}\" }} }}, suffixes: {{ always: {{ bits: [8], doc: {doc} }} }} }}\n",
        names.last("shared")
    );
    let constants = names.of("constant");
    text += &lines(&constants, |i, n| {
        format!(
            "  Constants{i}: {{ width: 2, alternatives: {{ c: {{ fixed: {{ 1: 0 }}, fields: {{ n: {{ bits: 0, constants: {n} }} }}, text: \"c{{n}}\" }}, d: {{ fixed: {{ 1: 1 }}, fields: {{ {two} }}, text: \"d{{n}}\" }} }} }}\n"
        )
    });
    text += "every: { unused: ignored }\ninstructions:\n";
    let mut opcode = 0;
    let mut instruction = |name: &str, unit: &str, rest: &str| {
        opcode += 1;
        format!("  {name}: {{ doc: {doc}, title: {doc}, unit: {unit}, fixed: {{ 62..48: {opcode} }}, {rest} }}\n")
    };
    for name in names.of("instruction") {
        text += &instruction(&name, "ALU", "operands: { dst: { bank: Plainbank, bits: 2..0 } }");
    }
    for (i, some) in names.of("operand").chunks(8).enumerate() {
        let held =
            lines(some, |j, n| format!("{n}: {{ doc: {doc}, bank: Plainbank, bits: {}..{} }}, ", 3 * j + 2, 3 * j));
        text += &instruction(&format!("OPERAND{i}"), "ALU", &format!("operands: {{ {held} }}"));
    }
    for (i, name) in names.of("modifier").iter().enumerate() {
        let held = format!("modifiers: {{ {name}: {{ doc: {doc}, enum: Plainenum, bits: 1..0 }} }}");
        text += &instruction(&format!("MODIFIER{i}"), "ALU", &held);
    }
    text += &instruction("VALUES", "ALU", "modifiers: { v: { enum: Base, bits: 10..0 } }");
    for (i, name) in names.of("flag").iter().enumerate() {
        text += &instruction(
            &format!("FLAG{i}"),
            "ALU",
            &format!(
                "modifiers: {{ {name}: {{ doc: {doc}, bits: 0 }}, z: {{ enum: Plainenum, bits: 2..1, default: right }} }}"
            ),
        );
    }
    for (i, name) in names.of("unit").iter().enumerate() {
        text += &instruction(&format!("UNIT{i}"), name, "operands: {}");
    }
    for (i, name) in suffixes.iter().enumerate() {
        let rest =
            format!("operands: {{ s: {{ kind: Shared, at: 4, suffixes: {{ {name}: {{ doc: {doc}, bits: 20 }} }} }} }}");
        text += &instruction(&format!("SUFFIX{i}"), "ALU", &rest);
    }
    for i in 0..constants.len() {
        text += &instruction(
            &format!("CONSTANT{i}"),
            "ALU",
            &format!("operands: {{ c: {{ kind: Constants{i}, at: 4 }} }}"),
        );
    }
    for (role, at) in [
        ("enum", "modifiers: { m: { enum: NAME, bits: 1..0 } }"),
        ("kind", "operands: { o: { kind: NAME, at: 3 } }"),
        ("bank", "operands: { o: { bank: NAME, bits: 5..3 } }"),
    ] {
        for (i, name) in names.of(role).iter().enumerate() {
            text += &instruction(&format!("USE{role}{i}"), "ALU", &at.replace("NAME", name));
        }
    }
    for i in 0..fields.chunks(6).len() {
        text += &instruction(&format!("FIELDS{i}"), "ALU", &format!("operands: {{ o: {{ kind: Fields{i}, at: 3 }} }}"));
    }
    for i in 0..alternatives.chunks(16).len() {
        text += &instruction(
            &format!("ALTERNATIVES{i}"),
            "ALU",
            &format!("operands: {{ o: {{ kind: Alternatives{i}, at: 3 }} }}"),
        );
    }
    text
}

const GROUP_ROLES: [&str; 10] =
    ["isa", "choice", "record", "choice field", "slot", "operation", "enum", "value", "header field", "doc"];

/// An instruction set of groups.
fn groups(names: &Names<'_>) -> String {
    let doc = names.doc();
    let isa = if names.0.iter().any(|(role, _)| *role == "isa") { names.last("isa") } else { "plain".to_owned() };
    let mut text = format!("isa: {isa}\ndoc: {doc}\nprovenance: document\nenums:\n");
    let values = names.of("value");
    text += &format!(
        "  Base: {{ doc: {doc}, values: [{}] }}\n",
        values.iter().take(64).cloned().collect::<Vec<_>>().join(", ")
    );
    text += &lines(&names.of("enum"), |_, n| format!("  {n}: {{ doc: {doc}, values: [left, right] }}\n"));
    let header_field = names.last("header field");
    text += &format!(
        "choices:\n  head:\n    doc: {doc}\n    fields: {{ length: {{ number: decimal }}, {header_field}: {{ doc: {doc} }}, other: {{}} }}\n    records: {{ {}: {{ bytes: 1, fields: {{ length: 5..0, {header_field}: 6, other: 7 }} }} }}\n",
        names.last("record")
    );
    text += "  named:\n    fields: { n: { number: decimal }, v: { enum: Base } }\n    records: { r: { bytes: 2, fields: { n: 9..0, v: 15..10 } } }\n";
    let fields = names.of("choice field");
    let held: Vec<String> = fields.iter().take(60).enumerate().map(|(i, n)| format!("{n}: {i}")).collect();
    let declared: Vec<String> = fields.iter().take(60).map(|n| format!("{n}: {{ doc: {doc} }}")).collect();
    text += &format!(
        "  wide:\n    fields: {{ {} }}\n    records: {{ r: {{ bytes: 8, fixed: {{ 63..{}: 0 }}, fields: {{ {} }} }} }}\n",
        declared.join(", "),
        held.len(),
        held.join(", ")
    );
    for name in names.of("choice") {
        text += &format!(
            "  {name}:\n    doc: {doc}\n    fields: {{ n: {{ number: decimal }} }}\n    records: {{ r: {{ bytes: 1, fields: {{ n: 7..0 }} }} }}\n"
        );
    }
    let slot = names.last("slot");
    text += &format!(
        "group:\n  unit: 1\n  longest: 32\n  slots:\n    head: {{ choice: head }}\n    {slot}: {{ doc: {doc}, choice: named, when: {{ {header_field}: 1 }} }}\n    wide: {{ choice: wide, when: {{ other: 1 }} }}\n    last: {{ choice: {} }}\n",
        names.last("choice")
    );
    text += "  derived: [{ field: length, length: true }]\n  padding: { odd: 0, first: 0, rest: 0 }\n  program: { align: 1, ends: [] }\noperations:\n";
    text += &lines(&names.of("operation"), |i, n| {
        format!("  {n}: {{ doc: {doc}, slots: {slot}, part: p{i}, syntax: \"op{i}\" }}\n")
    });
    text
}

/// Makes the text of a specification from names.
type Maker = fn(&Names<'_>) -> String;

fn settings(folder: &TempDir, text: &str) -> Settings {
    let path = folder.path().join("isa.yaml");
    fs::write(&path, text).expect("a file");
    Settings::new(&path)
}

/// Checks a specification, whose errors must have places.
fn checked(folder: &TempDir, text: &str) -> Result<(), String> {
    let failure = match check_spec(&settings(folder, text)) {
        Ok(_) => return Ok(()),
        Err(failure) => failure,
    };
    for found in &failure.diagnostics {
        assert!(found.primary.is_some(), "{}: {} has no place, in\n{text}", found.code, found.message);
    }
    Err(failure.to_string())
}

#[track_caller]
fn compiled(folder: &TempDir, text: &str) -> Compiled {
    compile(&settings(folder, text)).unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the tool starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}", said.chars().take(6000).collect::<String>());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn hostile_names_and_texts_are_refused_or_compile() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = names();
    let add = |compiled: &Compiled, sources: &mut Vec<String>| {
        let source = compiled.source(None).expect("it is Rust");
        let title = isaforge_compiler::build::module_attributes(compiled).to_string();
        let file: syn::File = syn::parse_str(&format!("{title} mod m{} {{}}", sources.len())).expect("it is Rust");
        let head = prettyplease::unparse(&file);
        sources.push(format!("{}{{\n{source}\n}}\n", head.trim_end().trim_end_matches("{}")));
    };
    let mut sources: Vec<String> = Vec::new();
    let mut refused = 0;
    let makers: [(Maker, &[&'static str]); 2] = [(words, &WORD_ROLES), (groups, &GROUP_ROLES)];
    for (make, roles) in makers {
        add(&compiled(&folder, &make(&Names::default())), &mut sources);
        let mut all = Names::default();
        for role in roles.iter().filter(|role| **role != "doc") {
            let tried = tried_in(role, &names);
            // As many names of the role together as it accepts and as are distinct in the specification.
            let mut together: Vec<&str> = Vec::new();
            let mut batches: Vec<&[&str]> = tried.chunks(if *role == "isa" { 1 } else { 60 }).collect();
            while let Some(batch) = batches.pop() {
                let more: Vec<&str> = together.iter().chain(batch).copied().collect();
                if checked(&folder, &make(&Names(vec![(role, more.clone())]))).is_ok() {
                    together = more;
                } else if batch.len() > 1 {
                    batches.extend(batch.chunks(batch.len().div_ceil(4)));
                } else {
                    refused += 1;
                }
            }
            let why = || tried.iter().find_map(|name| checked(&folder, &make(&Names(vec![(role, vec![name])]))).err());
            assert!(!together.is_empty(), "{role} takes no name at all: {}", why().unwrap_or_default());
            all.0.push((role, together));
            // Some names of different roles are the same word in the specification.
            if checked(&folder, &make(&all)).is_err() {
                let (role, together) = all.0.pop().expect("it was put there");
                add(&compiled(&folder, &make(&Names(vec![(role, together)]))), &mut sources);
            }
        }
        assert!(all.0.len() > 5, "only {} roles go together", all.0.len());
        add(&compiled(&folder, &make(&all)), &mut sources);
        // A text that a title accepts is tested everywhere.
        let texts: Vec<&str> = TEXTS
            .into_iter()
            .filter(|text| checked(&folder, &make(&Names(vec![("doc", vec![text])]))).is_ok())
            .collect();
        assert!(!texts.is_empty());
        for text in texts.iter().take(if thorough() { TEXTS.len() } else { 3 }) {
            add(&compiled(&folder, &make(&Names(vec![("doc", vec![text])]))), &mut sources);
        }
    }
    assert!(refused > 20, "only {refused} names are refused");
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/lib.rs");
    let (library, root) = (folder.path().join("libisaforge_core.rmeta"), folder.path().join("lib.rs"));
    run(Command::new("rustc")
        .args([
            "--edition=2024",
            "--crate-type=rlib",
            "--crate-name=isaforge_core",
            "--emit=metadata",
            "--cfg=feature=\"alloc\"",
            "-o",
        ])
        .args([&library, &core]));
    let text = format!("#![no_std]\n#![allow(warnings)]\n{}", sources.concat());
    println!("{} lines", text.lines().count());
    fs::write(&root, text).expect("a file");
    let editions: &[&str] = if thorough() { &["2024", "2021"] } else { &["2024"] };
    for edition in editions {
        let library = format!("isaforge_core={}", library.display());
        run(Command::new("rustc")
            .args(["--crate-type=rlib", "--emit=metadata", "--crate-name=hostile", "--edition", edition, "--extern"])
            .arg(library)
            .arg("--out-dir")
            .args([folder.path(), &root]));
    }
    if thorough() {
        let tests = run(Command::new("rustdoc")
            .args(["--test", "--edition=2024", "--crate-name=hostile", "--extern"])
            .arg(format!("isaforge_core={}", library.display()))
            .arg(&root)
            .args(["--test-args", "--list"]));
        assert!(tests.contains("0 tests"), "{tests}");
    }
}
