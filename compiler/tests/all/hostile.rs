//! Malicious or broken specifications: each is rejected with a place, in time proportional to its size.

use std::fs;

use isaforge_compiler::diagnostic::Style;
use isaforge_compiler::{Settings, check_spec, compile};
use isaforge_core::decode::decode;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style as Printed, print};
use isaforge_core::text::Line;
use tempfile::TempDir;

use crate::support::{checked, folder, settings};

/// The messages of a specification that must have errors, each of them with a place.
#[track_caller]
pub(super) fn refused(folder: &TempDir) -> (Vec<String>, String) {
    let failure = check_spec(&settings(folder)).expect_err("it has mistakes");
    for found in &failure.diagnostics {
        assert!(found.primary.is_some(), "{}: {} has no place", found.code, found.message);
    }
    let messages = failure.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect();
    (messages, failure.render(Style::default()))
}

const INSTRUCTION: &str = "instructions: { A: { doc: x, fixed: { 7..0: 7 } } }\n";

fn small(head: &str) -> String {
    format!("{head}\nword: 8\nprovenance: document\n{INSTRUCTION}")
}

// ------------------------------------------------------------------------------------------------------------- files

#[test]
fn no_line_of_a_file_that_is_no_specification_is_quoted() {
    let secret = "root:$6$salt: secret\n";
    let arm =
        "arm: { file: shadow, architecture: 9, sources: {}, registers: r, staging: { open: '@', separator: ':' } }";
    for section in ["import: shadow", "import: [./sub/../shadow]", "base: shadow", arm] {
        let entry = small(&format!("isa: x\n{section}"));
        let (messages, drawn) = refused(&folder(&[("isa.yaml", &entry), ("shadow", secret), ("sub/x", "")]));
        assert!(messages.iter().any(|m| m.contains("is not named like a part of a specification")), "{messages:?}");
        assert!(!drawn.contains("secret"), "{drawn}");
    }
}

#[test]
fn nor_is_one_that_is_only_named_like_one() {
    let arm =
        "arm: { file: secret.xml, architecture: 9, sources: {}, registers: r, staging: { open: '@', separator: ':' } }";
    let secrets = [
        "db_password: hunter2\n",
        "hunter2\n",
        "db: [hunter2\n",
        "# import: x\nusers:\n  import: hunter2\n",
        "{ db_password: hunter2 }",
        "<settings>\n<password>hunter2</passwort>\n",
        "",
    ];
    for section in
        ["import: secret.yaml", "import: [secret.yml]", "base: secret.yaml", arm, "xml: { file: secret.xml }"]
    {
        for secret in secrets {
            let entry = small(&format!("isa: x\n{section}"));
            let names = ["secret.yaml", "secret.yml", "secret.xml"].map(|name| (name, secret));
            let (messages, drawn) = refused(&folder(&[&[("isa.yaml", &entry[..])], &names[..]].concat()));
            assert!(!drawn.contains("hunter2") && !drawn.contains("password"), "{section}: {drawn}");
            let told = messages.iter().any(|m| m.contains("does not read like a part of a specification"));
            assert!(told || section.starts_with("xml"), "{section}: {messages:?}");
        }
    }
    // A part with mistakes is one nevertheless, however it is written.
    for part in ["enums: [\n", "# text\n---\n  \"enums\": 7\n", "{ doc: x, enums: 7 }", "frobnicate: 1\nenums: {}\n"] {
        let (_, drawn) = refused(&folder(&[("isa.yaml", &small("isa: x\nimport: part.yaml")), ("part.yaml", part)]));
        let lines = part.lines().filter(|line| drawn.contains(line.trim())).count();
        assert!(lines > 0, "{drawn}");
    }
}

#[cfg(unix)]
#[test]
fn nor_is_one_that_a_link_leads_to() {
    let folder = folder(&[("isa.yaml", &small("isa: x\nimport: part.yaml")), ("shadow", "root: secret: x\n")]);
    std::os::unix::fs::symlink(folder.path().join("shadow"), folder.path().join("part.yaml")).expect("a link");
    let (messages, drawn) = refused(&folder);
    assert!(messages[0].contains("is not named like a part of a specification"), "{messages:?}");
    assert!(!drawn.contains("secret"), "{drawn}");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_waited_for() {
    let folder = folder(&[("isa.yaml", &small("isa: x\nimport: pipe.yaml"))]);
    let pipe = folder.path().join("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
    assert!(made.success());
    let (messages, _) = refused(&folder);
    assert!(messages[0].contains("`pipe.yaml` is not a regular file"), "{messages:?}");
    let failure = check_spec(&Settings::new("/dev/zero")).expect_err("it is a device");
    assert!(failure.to_string().contains("`/dev/zero` is not a regular file"), "{failure}");
    let failure = check_spec(&Settings::new(&pipe)).expect_err("it is a pipe");
    assert!(failure.to_string().contains("is not a regular file"), "{failure}");
}

#[test]
fn chains_of_files_have_an_end() {
    for key in ["import", "base"] {
        let folder = folder(&[]);
        for i in 0..200 {
            let name = if i == 0 { "isa.yaml".to_owned() } else { format!("f{i}.yaml") };
            let next = format!("{key}: f{}.yaml", i + 1);
            let text = if i == 0 { small(&format!("isa: x\n{next}")) } else { format!("{next}\n") };
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let (messages, _) = refused(&folder);
        let told = messages.iter().filter(|m| m.contains("more than 64 deep")).count();
        assert_eq!(told, 1, "{messages:?}");
    }
}

#[test]
fn a_specification_has_not_thousands_of_files() {
    let names: Vec<String> = (0..2000).map(|i| format!("f{i}.yaml")).collect();
    let folder = folder(&[("isa.yaml", &small(&format!("isa: x\nimport: [{}]", names.join(", "))))]);
    for name in &names {
        fs::write(folder.path().join(name), "doc: x\n").expect("a file");
    }
    let (messages, _) = refused(&folder);
    assert!(messages.iter().any(|m| m.contains("more than 1000 files")), "{messages:?}");
}

// ------------------------------------------------------------------------------------------------------- characters

#[test]
fn characters_that_cannot_be_seen_are_refused_and_never_printed() {
    for found in [
        '\u{202e}', '\u{2066}', '\u{200b}', '\u{7}', '\u{1b}', '\0', '\u{85}', '\u{feff}', '\u{115f}', '\u{3164}',
        '\u{ffa0}',
    ] {
        let escape = format!("\\U{:08x}", u32::from(found));
        let named = format!("U+{:04X}", u32::from(found));
        let texts = [
            small(&format!("isa: x\ndoc: \"a{escape}b\"")),
            small(&format!("isa: \"x{escape}\"")),
            small("isa: x").replace("doc: x", &format!("\"d{escape}oc\": x")),
            small("isa: x").replace("A:", &format!("\"A{escape}\":")),
        ];
        for text in texts {
            let (messages, drawn) = refused(&folder(&[("isa.yaml", &text)]));
            assert!(messages.iter().any(|m| m.starts_with("E0006") && m.contains(&named)), "{messages:?}");
            assert!(!drawn.contains(found), "{drawn:?}");
        }
    }
}

#[test]
fn a_message_does_not_repeat_a_name_of_megabytes() {
    let long = "a".repeat(1 << 20);
    for head in
        [format!("isa: {long}"), format!("isa: x\n{long}: 1"), format!("isa: x\nsyntax: {}", "a ".repeat(1 << 19))]
    {
        let failure = checked(&small(&head)).expect_err("it has mistakes");
        let told: usize = failure.diagnostics.iter().map(|found| found.message.len() + found.label.len()).sum();
        assert!(told < 10_000, "{told} bytes of messages");
        let drawn = failure.render(Style::default());
        assert!(drawn.len() < 10_000, "{} bytes are drawn", drawn.len());
    }
}

#[test]
fn a_comment_is_shown_without_them() {
    let text = small("isa: x\nnonsense: 1 # \u{202e}");
    let (_, drawn) = refused(&folder(&[("isa.yaml", &text)]));
    assert!(drawn.contains("nonsense") && !drawn.contains('\u{202e}'), "{drawn:?}");
}

#[test]
fn xml_is_utf8_without_characters_that_cannot_be_seen() {
    let entry = "isa: x\nword: 64\nprovenance: document\narm: { file: a.xml, architecture: 9, sources: {}, registers: r, staging: { open: '@', separator: ':' } }\n";
    for (document, message) in [
        ("<mali-isa>\0</mali-isa>", "U+0000"),
        ("<mali-isa a='\u{202e}'/>", "U+202E"),
        ("<mali-isa>&#1;</mali-isa>", "there is no entity `&#1;`"),
        ("<mali-isa>&#x202e;</mali-isa>", "there is no entity `&#x202e;`"),
        ("<?xml version='1.0' encoding='UTF-16'?><mali-isa/>", "the file declares the encoding `UTF-16`"),
        ("<?xml version='1.0' encoding='latin1'?><mali-isa/>", "the file declares the encoding `latin1`"),
    ] {
        let (messages, _) = refused(&folder(&[("isa.yaml", entry), ("a.xml", document)]));
        assert!(messages.iter().any(|m| m.contains(message)), "{message}: {messages:?}");
    }
    let (messages, _) =
        refused(&folder(&[("isa.yaml", entry), ("a.xml", "<?xml version='1.0' encoding='utf-8'?><mali-isa/>")]));
    assert!(!messages.iter().any(|m| m.contains("declares the encoding")), "{messages:?}");
}

// ------------------------------------------------------------------------------------------------------------- names

#[test]
fn an_instruction_set_is_called_like_a_crate() {
    let long = "a".repeat(65);
    let bad = [
        "",
        "../../evil",
        "a b",
        "a\\\"b",
        "x\\npub fn evil() {}",
        "1x",
        "-x",
        "_",
        "é",
        "fn",
        "Self",
        "gen",
        "r#fn",
        "a.b",
        "a/b",
        "crate",
        "core",
        "Std",
        "test",
        "isaforge",
        "isaforge-core",
        &long,
    ];
    for name in bad {
        let (messages, _) = refused(&folder(&[("isa.yaml", &small(&format!("isa: \"{name}\"")))]));
        assert!(messages.iter().any(|m| m.starts_with("E0035")), "{name:?}: {messages:?}");
    }
    for name in ["x", "valhall-2021", "My_Isa2", &"a".repeat(64)] {
        checked(&small(&format!("isa: {name}"))).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn thousands_of_mistakes_are_counted_and_only_the_first_explained() {
    let enums: String = (0..4000).map(|i| format!("  E{i:04}name: {{ values: [a, b] }}\n")).collect();
    let instructions: String = (0..4000)
        .map(|i| format!("  I{i}: {{ doc: x, fixed: {{ 31..8: {i} }}, ignored: 6..0, modifiers: {{ m: {{ enum: E{i:04}nmae, bits: 7 }} }} }}\n"))
        .collect();
    let names = format!("isa: x\nword: 32\nprovenance: document\nenums:\n{enums}instructions:\n{instructions}");
    let keys: String =
        (0..4000).map(|i| format!("  I{i}: {{ doc: x, fixd: {{ 31..8: {i} }}, ignord: 7..0 }}\n")).collect();
    let keys = format!("isa: x\nword: 32\nprovenance: document\ninstructions:\n{keys}");
    for (text, count) in [(names, 4000), (keys, 8000)] {
        let failure = checked(&text).expect_err("it has mistakes");
        assert_eq!(failure.diagnostics.error_count(), count);
        let helped =
            failure.diagnostics.iter().filter(|d| d.help.iter().any(|help| help.contains("did you mean"))).count();
        assert!((1..=200).contains(&helped), "{helped} mistakes have a suggestion");
        let drawn = failure.render(Style { cap: 10, ..Style::default() });
        assert!(drawn.ends_with(&format!("... and {} more errors", count - 10)), "{drawn}");
    }
}

#[test]
fn the_operations_of_a_set_have_one_limit() {
    let instruction = |i: usize| {
        format!(
            "  A{i}: {{ doc: x, fixed: {{ 31..3: {i} }}, operands: {{ d: {{ bank: r, bits: 2..0, access: read-write }} }}, \
             does: 'for i in 0..250 {{ for j in 0..70 {{ d = d + 1 }} }}' }}\n"
        )
    };
    let spec = |count: usize| {
        let all: String = (0..count).map(instruction).collect();
        format!(
            "isa: x\nword: 32\nprovenance: document\nbanks: {{ r: {{ count: 8, width: 32, prints: 'r{{n}}' }} }}\ninstructions:\n{all}"
        )
    };
    checked(&spec(5)).expect("it is within the limit");
    let failure = checked(&spec(200)).expect_err("it is beyond");
    let messages: Vec<_> = failure.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message)).collect();
    assert!(messages.len() == 1 && messages[0].starts_with("E0127: the texts up to this one"), "{messages:?}");
}

/// Pairs of instructions that only conditions tell apart are as many as the square of the instructions.
#[test]
fn hundreds_of_conditions_exclude_each_other() {
    let spec = |last: usize| {
        let field = "fields: { a: { bits: 31..20 } }";
        let of = |i: usize, a: usize| {
            format!("  I{i}: {{ doc: x, fixed: {{ 0: 1 }}, {field}, syntax: 'i{i} {{a}}', where: ['a == {a}'] }}\n")
        };
        let all: String = (0..400).map(|i| of(i, i)).chain([of(400, last)]).collect();
        format!("isa: x\nword: 32\nprovenance: document\nevery: {{ unused: zero }}\ninstructions:\n{all}")
    };
    checked(&spec(400)).expect("all are apart");
    let failure = checked(&spec(399)).expect_err("two are the same");
    let messages: Vec<_> = failure.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message)).collect();
    assert!(
        messages.iter().any(|message| message.starts_with("E0106: `I400` and `I399` match the same word")),
        "{messages:?}"
    );
}

#[test]
fn a_line_of_megabytes_has_columns() {
    let members: String =
        (0..40_000).map(|i| format!("\"I{i}\": {{ doc: é, fixed: {{ 31..8: {i} }}, ignored: 7..0 }}, ")).collect();
    let text = format!(
        "{{ isa: x, word: 32, provenance: document, instructions: {{ {members} Z: {{ doc: z, fixed: {{ 31..8: 0 }}, ignored: 7..0 }} }} }}"
    );
    let failure = checked(&text).expect_err("two are the same");
    let found = failure.diagnostics.iter().next().expect("there is one");
    let place = found.primary.expect("it has a place");
    let (line, column) = failure.sources.line_column(place);
    let before = text[..place.start as usize].chars().count();
    assert_eq!((line, column), (1, before + 1));
}

#[test]
fn no_chain_of_operators_uses_up_the_stack() {
    let spec = |value: &str| {
        let bank = "banks: { r: { count: 8, width: 32, prints: 'r{n}' } }";
        let operand = "operands: { d: { bank: r, bits: 2..0, access: write } }";
        let does = format!("A: {{ doc: x, fixed: {{ 7..3: 7 }}, {operand}, does: \"d = {value}\" }}");
        format!("isa: x\nword: 8\nprovenance: document\n{bank}\ninstructions:\n  {does}\n")
    };
    let sum = |terms: usize| format!("1{}", " + 1".repeat(terms));
    let casts = |terms: usize| format!("(1 as u32){}", " as u32".repeat(terms));
    let members = |terms: usize| format!("(1 as u32){}", ".h0".repeat(terms));
    // Nested chains, each of which begins with another one.
    let nested =
        |terms: usize| (0..40).fold("1".to_owned(), |inner, _| format!("({inner}){}", " + 1".repeat(terms / 40)));
    for text in [sum(100_000), casts(100_000), members(100_000), nested(100_000)] {
        let (messages, _) = refused(&folder(&[("isa.yaml", &spec(&text))]));
        assert!(messages[0].starts_with("E0127: more than 100 operators"), "{messages:?}");
    }
    for text in [sum(100), casts(99), nested(80), vec![sum(90); 10].join("; d = ")] {
        checked(&spec(&text)).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

// ------------------------------------------------------------------------------------------------------------ groups

/// A specification of groups with a header and a part; `length` gives the place of the length in the header, and
/// `slots` the following slots.
fn groups(length: &str, slots: &str) -> String {
    format!(
        "isa: g\nprovenance: document\nchoices:\n  head:\n    fields: {{ length: {{ number: decimal }}, n: {{ number: decimal }} }}\n    \
         records: {{ a: {{ bytes: 2, fixed: {{ 1..0: 1 }}, {length} }} }}\n  part:\n    fields: {{ m: {{ number: decimal }} }}\n    \
         records: {{ p: {{ bytes: 1, fields: {{ m: 7..0 }} }} }}\n\
         group:\n  unit: 1\n  longest: 4\n  slots: {{ head: {{ choice: head }}{slots} }}\n  derived: [{{ field: length, length: true }}]\n  \
         padding: {{ odd: 0, first: 0, rest: 0 }}\n  program: {{ align: 1, ends: [] }}\n\
         operations:\n  A: {{ doc: A., slots: head, syntax: \"a {{n}}\" }}\n"
    )
}

#[test]
fn a_header_says_in_bits_how_long_its_group_is() {
    let text = groups("implies: { length: 3 }, fields: { n: 15..2 }", ", part: { choice: part }");
    let (messages, _) = refused(&folder(&[("isa.yaml", &text)]));
    assert_eq!(messages, ["E0304: no bits of a group with the header `a` give its length"]);
}

#[test]
fn a_header_alone_is_no_group() {
    let text = groups("fields: { length: 4..2, n: 15..5 }", "");
    let (messages, _) = refused(&folder(&[("isa.yaml", &text)]));
    assert_eq!(messages, ["E0304: no group begins with `head`, since no slot ever follows it"]);
    let text = groups("fields: { length: 4..2, n: 15..5 }", ", part: { choice: part }");
    let folder = folder(&[("isa.yaml", &text)]);
    let compiled =
        compile(&Settings::new(folder.path().join("isa.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
    compiled.source(Some("mine")).expect("it is Rust");
    let isa = compiled.lowered.groups().expect("it has groups");
    let bytes = [1 | 3 << 2, 0, 9];
    let group = isaforge_core::group::decode(isa, &bytes).expect("it is a group");
    assert_eq!(group.as_bytes(), bytes);
}

#[test]
fn a_group_without_a_length_is_not_read_for_ever() {
    let text = groups("fields: { length: 4..2, n: 15..5 }", ", part: { choice: part }");
    let folder = folder(&[("isa.yaml", &text)]);
    let compiled =
        compile(&Settings::new(folder.path().join("isa.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
    let isa = compiled.lowered.groups().expect("it has groups");
    // No specification yields such tables, but they can be written by hand.
    let plans = isa.plans.iter().map(|plan| isaforge_core::group::table::Plan { derived: &[], ..*plan });
    let plans: &'static [_] = Box::leak(plans.collect::<Vec<_>>().into_boxed_slice());
    let program = isaforge_core::group::table::Program {
        align: isa.program.align,
        ends: isa.program.ends,
        targets: isa.program.targets,
    };
    let padding = isaforge_core::group::table::Padding { odd: 0, first: 0, rest: 0 };
    let broken: &'static _ = Box::leak(Box::new(isaforge_core::group::GroupIsa { plans, program, padding, ..*isa }));
    assert!(isaforge_core::group::decode(broken, &[1 | 3 << 2, 0, 9]).is_err());
    assert_eq!(isaforge_core::group::program::walk(broken, &[1 | 3 << 2, 0, 9]).count(), 1);
}

// -------------------------------------------------------------------------------------------------------------- text

#[test]
fn a_reading_that_goes_on_behind_a_comma_is_read() {
    for order in [["n0", "n1"], ["n1", "n0"]] {
        let text = |name: &str| match name {
            "n0" => "n0: { fixed: { 4: 0 }, fields: { n: { bits: 3..0, number: decimal } }, text: '#{n}' }",
            _ => "n1: { fixed: { 4: 1 }, fields: { n: { bits: 3..0, number: decimal } }, text: '#{n}, lsl #4' }",
        };
        let spec = format!(
            "isa: prefix\nword: 8\nprovenance: document\nsyntax: '{{mnemonic}} {{operands}}'\nkinds:\n  wide:\n    width: 5\n    alternatives:\n      {}\n      {}\n\
             instructions:\n  mov: {{ doc: Moves., fixed: {{ 7..5: 1 }}, operands: {{ imm: {{ kind: wide, at: 0 }} }} }}\n",
            text(order[0]),
            text(order[1])
        );
        let folder = folder(&[("isa.yaml", &spec)]);
        let compiled =
            compile(&Settings::new(folder.path().join("isa.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
        let isa = compiled.lowered.words().expect("it has words").isa;
        for word in 0b0010_0000..0b0100_0000 {
            let opcode = decode(isa, word).expect("it is an instruction");
            let mut line = Line::new();
            print(isa, opcode, word, Printed::Customary, &mut line);
            let back = parse(isa, line.as_str()).map(|(_, word)| word);
            assert_eq!(back.map_err(|error| error.to_string()), Ok(word), "{}", line.as_str());
        }
    }
}

#[test]
fn a_thousand_mistakes_of_a_program_are_placed_and_the_first_explained() {
    let folder = folder(&[("isa.yaml", &small("isa: x").replace("A:", "HALT:"))]);
    let compiled =
        compile(&Settings::new(folder.path().join("isa.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
    let isa = compiled.lowered.words().expect("it has words").isa;
    let errors = isaforge_core::program::assemble(isa, &"HALTT\n".repeat(1000)).expect_err("it has mistakes");
    assert_eq!(errors.len(), 1000);
    assert_eq!(errors.iter().filter(|error| !error.help.is_empty()).count(), 100);
    assert!(errors[..100].iter().all(|error| error.help == "did you mean `HALT`?"));
    let errors = isaforge_core::program::assemble(isa, &"l: ".repeat(1000)).expect_err("it has mistakes");
    let places: Vec<(usize, usize, usize)> = errors.iter().map(|error| (error.line, error.column, error.len)).collect();
    let expected: Vec<(usize, usize, usize)> = (1..1000).map(|i| (1, 3 * i + 1, 1)).collect();
    assert_eq!(places, expected);
}

// ------------------------------------------------------------------------------------------------------- what grows

#[track_caller]
fn is_told(text: &str, expected: &str) {
    let (messages, _) = refused(&folder(&[("isa.yaml", text)]));
    let told = messages.iter().filter(|message| message.contains(expected)).count();
    assert_eq!(told, 1, "{messages:?}");
}

#[test]
fn templates_and_rows_make_no_more_than_a_file_holds() {
    let doubled: String = (1..60).map(|i| format!("  t{i}: {{ like: [t{}, t{}] }}\n", i - 1, i - 1)).collect();
    let doubled =
        format!("isa: x\nword: 8\ntemplates:\n  t0: {{ doc: x }}\n{doubled}instructions: {{ A: {{ like: t59 }} }}\n");
    is_told(&doubled, "`like` and `rows` expand to more than a spec may hold");
    let rows: String = (0..2000).map(|i| format!("r{i}: {{ b: '{}' }}, ", "y".repeat(1000))).collect();
    let row = |doc: String| format!("isa: x\nword: 8\ninstructions: {{ R: {{ rows: {{ {rows} }}, doc: '{doc}' }} }}\n");
    is_told(&row("$b".repeat(1000)), "`like` and `rows` expand to more than a spec may hold");
    // A single row is enough.
    is_told(&row("$b".repeat(100_000)), "`like` and `rows` expand to more than a spec may hold");
}

#[test]
fn conditions_alone_tell_only_so_many_instructions_apart() {
    let head = "isa: x\nword: [16, 32]\nprovenance: document\nevery: { unused: ignored }\ninstructions:\n";
    let entry = |i: usize| {
        format!(
            "  I{i}: {{ doc: x, word: 32, fixed: {{ 0: 1 }}, fields: {{ a: {{ bits: 31..20 }}, b: {{ bits: 19..8 }} }}, \
             where: ['a * b == {i} + a * a', 'a != b'] }}\n"
        )
    };
    let all: String = (0..300).map(entry).collect();
    let (messages, _) = refused(&folder(&[("isa.yaml", &format!("{head}{all}"))]));
    assert!((1..=20).contains(&messages.len()) && messages[0].contains("cannot be decided"), "{messages:?}");
}

#[test]
fn an_instruction_has_not_thousands_of_aliases() {
    let aliases: String = (0..20_000).map(|i| format!("al{i}: {{ with: {{ n: {i} }} }}, ")).collect();
    let text = format!(
        "isa: x\nword: [32]\ngenerations: [1, 2]\nprovenance: document\nevery: {{ unused: zero }}\ninstructions:\n  \
         A: {{ doc: x, operands: {{ n: {{ immediate: decimal, bits: 19..0 }} }}, aliases: {{ {aliases} }} }}\n"
    );
    is_told(&text, "an instruction has at most 1000 aliases");
}
