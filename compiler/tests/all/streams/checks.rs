//! What is reported: mistakes, what says nothing, and what never is.

use super::*;

#[test]
fn mistakes_are_told() {
    let base = "isa: wrong\nword: 24\nprovenance: document\n";
    let wrong = |name: &str, rest: &str, code: &str| {
        let told = of_text(name, &format!("{base}{rest}"), 0).expect_err(name);
        assert!(told.contains(code), "{name}: {told}");
    };
    wrong("unsaid", "instructions: { a: { doc: A., fixed: { 23..8: 1 } } }", "E0105");
    wrong("outside", "instructions: { a: { doc: A., fixed: { 31..0: 1 } } }", "E0104");
    wrong("twice", "instructions: { a: { doc: A., fixed: { 23..0: 1 }, fields: { f: { bits: 3 } } } }", "E0107");
    wrong(
        "same",
        "instructions: { a: { doc: A., fixed: { 23..1: 1 }, fields: { f: { bits: 0 } } }, b: { doc: B., fixed: { 23..1: 1 }, fields: { f: { bits: 0 } } } }",
        "E0106",
    );
    wrong(
        "circle",
        "instructions: { a: { doc: A., fixed: { 23..0: 1 }, fields: { f: { value: g }, g: { value: f } } } }",
        "E0131",
    );
    wrong(
        "nested",
        "kinds: { k: { width: 4, alternatives: { a: { fields: { x: { bits: 3..0, kind: k } }, text: '-{x}' } } } }\n\
         instructions: { a: { doc: A., fixed: { 23..4: 1 }, operands: { f: { kind: k, at: 0 } } } }",
        "E0131",
    );
    wrong(
        "half",
        "instructions: { a: { doc: A., fixed: { 23..20: 1 }, fields: { x: { bits: 19..10 }, y: { bits: 9..0 }, \
         z: { number: decimal, value: 'x * 1024 + y', encode: { x: 'value >> 10' } } }, syntax: 'a {z}' } }",
        "E0132",
    );
    wrong("swapped", "swap: 2\ninstructions: { a: { doc: A., fixed: { 23..0: 1 } } }", "E0033");
    wrong(
        "lost",
        "instructions: { a: { doc: A., fixed: { 23..20: 1 }, operands: { f: { immediate: decimal, bits: 19..0, value: bits * bits * 3 + (bits >> 3) } } } }",
        "E0132",
    );
    wrong(
        "silent",
        "every: { unused: zero }\ninstructions: { a: { doc: A., fixed: { 23..20: 1 }, fields: { f: { bits: 3..0 }, g: { bits: 7..4 } }, syntax: '{mnemonic} {f}{g}' } }",
        "E0133",
    );
    let modifier = |keys: &str| {
        format!(
            "enums: {{ E: {{ values: [x, y] }} }}\ninstructions: {{ a: {{ doc: A., fixed: {{ 23..1: 1 }}, modifiers: {{ m: {{ bits: 0, {keys} }} }} }} }}"
        )
    };
    wrong("implied", &modifier("implied: true"), "E0045");
    wrong("words", &modifier("enum: E, prints: z"), "E0045");
    let kind = "banks: { r: { count: 8, prints: 'r{n}' } }\nkinds: { k: { width: 3, alternatives: { a: { fields: { n: { bits: 2..0, bank: r } }, text: 'r{n}' } } } }\ninstructions: { a: { doc: A., fixed: { 23..3: 1 }, operands: { k: { kind: k, at: 0 } } } }";
    wrong("named twice", kind, "`r{n}` writes `r` twice");
    assert!(of_text("named", &format!("{base}{}", kind.replace("text: 'r{n}'", "text: '{n}'")), 0).is_ok());
    wrong("type", "instructions: { a: { doc: A., fixed: { 23..0: 1 }, where: '1 + 1' } }", "E0122");
    wrong("template", "instructions: { a: { like: b, fixed: { 23..0: 1 } } }", "E0101");
}

#[test]
fn two_words_with_one_text_are_named() {
    let one = |keys: &str| format!("instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n");
    let two = |keys: &str, other: &str| {
        format!(
            "instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }}, b: {{ doc: B., fixed: {{ 39..32: 2 }}, {other} }} }}\n"
        )
    };
    let d = "fields: { d: { number: decimal, bits: 31..0 } }";
    let shared = [
        ("hidden", one("fields: { d: { number: decimal, bits: 31..16 }, e: { bits: 15..0 } }, syntax: 'a {d}'")),
        ("halved", one("ignored: 31..12, operands: { d: { immediate: decimal, bits: 11..0, value: bits / 2 } }")),
        ("masked", one("operands: { d: { immediate: decimal, bits: 31..0, value: bits & 0xffffff } }")),
        (
            "sometimes",
            one(
                "fields: { m: { number: decimal, bits: 31..16 }, d: { number: decimal, bits: 15..0 } }, syntax: 'a {m}{?m != 0x1234|, {d}}'",
            ),
        ),
        (
            "left-out",
            one("fields: { d: { number: decimal, bits: 31..0, default: 6 } }, syntax: 'a{?d != 5 && d != 6| {d}}'"),
        ),
        (
            "alias",
            one(&format!(
                "{d}, syntax: 'a {{d}}', aliases: {{ inc: {{ where: d < 100, syntax: 'inc', prints: true }} }}"
            )),
        ),
        ("twins", two(&format!("{d}, syntax: 'go {{d}}'"), &format!("{d}, syntax: 'go {{d}}'"))),
        (
            "named",
            two(
                "operands: { d: { immediate: decimal, bits: 31..0 } }, aliases: { nop: { with: { d: 0 }, prints: true } }",
                &format!("{d}, where: d == 7, syntax: nop"),
            ),
        ),
    ];
    for (name, spec) in shared {
        let found = warnings(name, &spec);
        assert!(found.iter().any(|found| found.starts_with("W0213")), "{name}: {found:?}");
    }
    let fine = [
        ("shown", one(&format!("{d}, syntax: 'a {{d}}'"))),
        ("ignored", one("ignored: 15..0, fields: { d: { number: decimal, bits: 31..16 } }, syntax: 'a {d}'")),
        ("chosen", one("operands: { d: { immediate: decimal, bits: 31..0, value: bits & 0xffffff, encode: value } }")),
    ];
    for (name, spec) in fine {
        assert_eq!(warnings(name, &spec), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_says_nothing_is_refused() {
    let check = |text: &str| support::checked(text).map(drop).map_err(|failure| failure.to_string());
    let one = |head: &str, keys: &str| {
        format!(
            "isa: idle\nprovenance: document\n{head}\ninstructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n"
        )
    };
    let x = "fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {x}'";
    assert_eq!(check(&one("word: 40", x)), Ok(()));
    let cases = [
        ("lifetime", one("word: 40", &format!("{x}, since: 3")), "the set has no generations"),
        ("lengths", one("word: [40, 40]", x), "the length 40 is given twice"),
        (
            "way-back",
            one("word: 40", "fields: { x: { number: decimal, bits: 31..0, encode: value } }, syntax: 'a {x}'"),
            "`encode` inverts a `value`",
        ),
        (
            "float",
            one("word: 40", "fields: { x: { number: { float: 16 }, bits: 31..0 } }, syntax: 'a {x}'"),
            "a float of 16 bits, but `x` has 32",
        ),
    ];
    for (name, text, message) in cases {
        let told = check(&text).expect_err(name);
        assert!(told.contains(message), "{name}: {told}");
    }
}

#[test]
fn lengths_that_an_instruction_cannot_have_are_refused() {
    let spec = |more: &str, top: u8, length: &str, rest: &str| {
        format!(
            "isa: lengths\nword: [16, 32]\nprovenance: document\ninstructions:\n  a:\n    doc: A.\n    \
             fixed: {{ {more}7..0: 1 }}\n    length: {length}\n    fields: {{ x: {{ bits: 15..8 }}, y: {{ bits: {top}..16 }} }}\n    \
             syntax: 'a {{x}}, {{y}}'\n{rest}"
        )
    };
    let two_or = |length: u8| format!("if x == 7 {{ 2 }} else {{ {length} }}");
    for (length, message) in [
        (two_or(3), "the length of `a` cannot be 3 bytes: it is a multiple of 2 up to 4"),
        (two_or(6), "the length of `a` cannot be 6 bytes: it is a multiple of 2 up to 4"),
        ("1".to_owned(), "the length of `a` cannot be 1 byte: it is a multiple of 2 up to 4"),
        ("x & 2".to_owned(), "the length of `a` cannot be 0 bytes"),
        ("2 + ((x & 1) << 16)".to_owned(), "the length of `a` cannot be 65538 bytes"),
        (
            "if y == 5 { 2 } else { 4 }".to_owned(),
            "the length of `a` is 2 bytes with the bits after them, but 4 without",
        ),
    ] {
        let told = of_text("lengths", &spec("", 31, &length, ""), 0).expect_err(&length);
        assert!(told.contains("E0032") && told.contains(message), "{length}: {told}");
    }
    let excluded = "    where: x != 3\n";
    let taken = "  b: { doc: B., word: 16, fixed: { 7..0: 1, 15..8: 3 } }\n";
    for (length, rest) in [(two_or(4), ""), (two_or(4), taken), ("if x == 3 { 3 } else { 4 }".to_owned(), excluded)] {
        assert_eq!(warnings_of("fine", &spec("", 31, &length, rest)), Vec::<String>::new(), "{length}");
    }
    let taken = spec("", 31, "if x == 3 { 3 } else { 4 }", taken);
    assert_eq!(warnings_of("taken", &taken), Vec::<String>::new());
    // The length leaves out constant bits.
    let found = warnings_of("cut", &spec("31: 1, ", 30, "2", ""));
    assert!(found.len() == 1 && found[0].starts_with("W0212: no word is `a`"), "{found:?}");
}

/// Mistakes that follow from another one are not reported.
#[test]
fn a_mistake_in_a_definition_is_told_once() {
    let spec = |bank: &str, values: &str| {
        format!(
            "isa: once\nword: [16, 32]\nprovenance: document\nbanks: {{ r: {{ count: 8, width: 32, prints: 'r{{n}}' }} }}\n\
             enums: {{ E: {{ values: [{values}] }} }}\nkinds:\n  src:\n    width: 4\n    alternatives:\n      \
             reg: {{ fields: {{ n: {{ bank: {bank}, bits: 2..0 }}, e: {{ bits: 3, number: decimal }} }}, text: '{{n}}.{{e}}' }}\n\
             instructions:\n  a:\n    doc: A.\n    word: 16\n    fixed: {{ 15..8: 1 }}\n    \
             modifiers: {{ m: {{ enum: E, bits: 7 }} }}\n    \
             operands: {{ d: {{ bank: r, bits: 6..4, access: write }}, s: {{ kind: src, at: 0 }} }}\n    \
             does: 'd = match m {{ x => match s.e {{ 0 => s, _ => 0 }}, z => 0 }}'\n"
        )
    };
    let told = |text: &str| {
        let (diagnostics, _) = support::found(support::checked(text));
        diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>()
    };
    assert_eq!(told(&spec("r", "x, z")), Vec::<String>::new());
    assert_eq!(told(&spec("q", "x, z")), ["E0101: there is no bank called `q`"]);
    assert_eq!(told(&spec("r", "x, { name: y, value: 0 }, z")), ["E0103: two values of `E` are 0"]);
}

#[test]
fn names_in_scope_are_names_that_a_text_can_use() {
    let spec = |value: &str, does: &str| {
        format!(
            "isa: named\nword: [16, 32]\nprovenance: document\nbanks: {{ r: {{ count: 8, width: 32, prints: 'r{{n}}' }} }}\n\
             semantics: {{ functions: {{ 'f(x)': x + t }} }}\ninstructions:\n  a:\n    doc: A.\n    word: 16\n    \
             fixed: {{ 15..8: 1 }}\n    modifiers: {{ m: {{ bits: 7 }} }}\n    \
             operands: {{ d: {{ bank: r, bits: 6..4, access: write }}, n: {{ immediate: decimal, bits: 3..0, value: {value} }} }}\n    \
             does: '{does}'\n"
        )
    };
    for (value, does, names) in [
        ("bits + qq", "nop", "`bits`, `m`, `d`, `n`, `generation` or `length`"),
        ("bits + 1", "d = qq", "`d`, `n`, `m`, `pc`, `next`, `lane` or `active`"),
        ("bits + 1", "let own = n; d = f(own)", "`x`, `d`, `n`, `m`, `pc`, `next`, `lane` or `active`"),
    ] {
        let told = of_text("named", &spec(value, does), 0).expect_err(does);
        assert!(told.contains(&format!("the names in scope are {names}")), "{does}: {told}");
    }
}

/// `every` counts for the readings of operands, too.
#[test]
fn unused_bits_of_operands_are_zero() {
    let spec = "isa: unused\nword: [16, 32]\nprovenance: document\nevery: { unused: zero }\nkinds:\n  src:\n    width: 6\n    \
                alternatives:\n      reg: { fixed: { 5: 0 }, fields: { n: { bits: 2..0 } }, text: 'r{n}' }\n      \
                imm: { fixed: { 5: 1 }, fields: { n: { bits: 4..0 } }, text: '#{n}' }\ninstructions:\n  \
                a: { doc: A., word: 16, fixed: { 15..12: 1 }, operands: { s: { kind: src, at: 1 } } }\n";
    let engine = of_text("unused", spec, 0).expect("it is right");
    both_ways(engine, &[("06 10", "a r3"), ("72 10", "a #25")]);
    assert!(engine.decode(&[0x16, 0x10]).is_err() && engine.decode(&[0x07, 0x10]).is_err());
    let told = of_text("undefined", &spec.replace("every: { unused: zero }\n", ""), 0).map(drop).expect_err("unsaid");
    assert!(told.contains("undefined bits 4..3 in `reg`"), "{told}");
}

#[test]
fn what_never_is_is_named() {
    let one = |keys: &str| format!("instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n");
    let x = "fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {x}'";
    let dead = [
        ("dead-word", one(&format!("{x}, where: x < 1 && x > 1")), "no word is `a`"),
        (
            "dead-reading",
            "kinds: { k: { width: 32, parameters: [P], alternatives: { \
             p: { where: 'P == 0', fields: { n: { bits: 31..0, number: decimal } }, text: '+{n}' }, \
             q: { where: 'P == 0 && n > 5', fields: { n: { bits: 31..0, number: decimal } }, text: '-{n}' }, \
             r: { where: 'P != 0', fields: { n: { bits: 31..0, number: decimal } }, text: '*{n}' } } } }\n\
             instructions: { a: { doc: A., fixed: { 39..33: 1 }, fields: { p: { bits: 32 } }, operands: { o: { kind: k, at: 0, with: { P: p } } } } }\n"
                .to_owned(),
            "no `k` is read as `q`",
        ),
        (
            "dead-generation",
            format!(
                "generations: [1, 9]\n{}",
                one(&format!("{x}, where: generation == 77"))
            ),
            "no word is `a`",
        ),
    ];
    for (name, spec, message) in dead {
        let found = warnings(name, &spec);
        assert!(found.iter().any(|found| found.starts_with("W0212") && found.contains(message)), "{name}: {found:?}");
    }
    let idle = format!("templates: {{ t: {{ doc: T. }}, u: {{ like: t }} }}\n{}", one(x));
    let found = warnings("idle", &idle);
    assert!(found.iter().filter(|found| found.starts_with("W0202: the template `")).count() == 2, "{found:?}");
    let told = "word: [32, 64]\nkinds: { k: { width: 8, alternatives: { \
                s: { where: 'length == 4', fields: { n: { bits: 7..0, number: decimal } }, text: '+{n}' }, \
                l: { where: 'length == 8', fields: { n: { bits: 7..0, number: decimal } }, text: '-{n}' } } } }\n\
                instructions: { a: { doc: A., word: 32, fixed: { 31..8: 1 }, operands: { o: { kind: k, at: 0 } } }, \
                b: { doc: B., word: 64, fixed: { 63..8: 2 }, operands: { o: { kind: k, at: 0 } } } }\n";
    assert_eq!(warnings_of("told", &format!("isa: warned\nprovenance: document\n{told}")), Vec::<String>::new());
    let turned = format!("generations: [1, 9]\n{}", one(&format!("{x}, since: 3, until: 2")));
    assert!(warnings("turned", &turned).iter().any(|found| found.starts_with("W0212")), "since comes after until");
    let alive = format!("generations: [1, 9]\n{}", one(&format!("{x}, where: generation == 7")));
    let both = |more: &str| {
        format!(
            "instructions: {{ zero: {{ doc: Z., fixed: {{ 39..1: 1, 0: 0 }} }}, {more}any: {{ doc: A., fixed: {{ 39..1: 1 }}, fields: {{ x: {{ bits: 0 }} }}, syntax: 'any {{x}}' }} }}\n"
        )
    };
    assert_eq!(warnings("half", &both("")), Vec::<String>::new());
    let found = warnings("all", &both("one: { doc: O., fixed: { 39..1: 1, 0: 1 } }, "));
    assert!(found.len() == 1 && found[0].contains("no word is `any`"), "{found:?}");
    assert_eq!(warnings("alive", &alive), Vec::<String>::new());
}

#[test]
fn the_one_case_in_millions_that_a_text_does_not_print_is_found() {
    let spec = "isa: rare\nword: 40\nprovenance: document\ninstructions: { a: { doc: A., fixed: { 39..32: 1 }, \
                fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {?x != 0x1234567|{x}}' } }\n";
    let told = of_text("rare", spec, 0).expect_err("`a` alone reads as the default");
    assert!(told.contains("E0133"), "{told}");
}

#[test]
fn texts_that_are_alike_are_told_where_they_stand() {
    let spec = |kinds: &str, enums: &str, operand: &str| {
        format!(
            "isa: alike\nprovenance: document\nword: 24\nbanks: {{ r: {{ count: 16, prints: 'r{{n}}' }} }}\n\
             enums: {{ Mode: {{ values: [{enums}] }} }}\nkinds:\n  source:\n    width: 5\n    alternatives:\n{kinds}\
             instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, operands: {{ {operand} }} }}\n"
        )
    };
    let warnings = |text: &str| {
        let (diagnostics, sources) = support::found(support::checked(text));
        diagnostics.render(&sources, isaforge_compiler::diagnostic::Style::default())
    };
    let alternatives = "      low: { fixed: { 4: 0 }, fields: { n: { bank: r, bits: 3..0 } }, text: '{n}' }\n      \
                        high: { fixed: { 4: 1 }, fields: { n: { bank: r, bits: 3..0 } }, text: '{n}' }\n";
    let operand = "a: { kind: source, at: 0 }, m: { immediate: decimal, bits: 7..5 }";
    let told = warnings(&spec(alternatives, "a, b", operand));
    assert!(told.contains("`r0` is the text of two values of a `source`: 0x0 and 0x10"), "{told}");
    assert_eq!(told.matches("W0213").count(), 1, "{told}");
    let apart = alternatives.replace("text: '{n}' }\n      high", "text: '-{n}' }\n      high");
    assert!(!warnings(&spec(&apart, "a, b", operand)).contains("W0213"));
    let twice = "a: { kind: source, at: 0 }, m: { immediate: decimal, bits: 7..5, value: 'match bits { 3 => 5, 6 => 5, _ => bits }' }, ";
    let told = warnings(&spec(&apart, "a, b", twice));
    assert!(told.contains("W0213") && told.contains("#5` is the text of two words: 0x160 and 0x1a0"), "{told}");
    let named = "a: { kind: source, at: 0 }, m: { enum: Mode, immediate: decimal, prefix: '', bits: 7..5 }";
    let told = warnings(&spec(&apart, "'0', '5'", named));
    assert!(told.contains("`5` is 1 in `Mode`, and reads as 5") && told.contains("E0114"), "{told}");
    // The text of an alias is that of another instruction; the text of its own instruction is not.
    let alias = "isa: alias\nprovenance: document\nword: [16]\ninstructions:\n  mov: { doc: M., fixed: { 15..4: 1 }, \
                 fields: { d: { number: decimal, bits: 3..0 } }, syntax: 'mov {d}' }\n  add: { doc: A., fixed: { 15..8: 2 }, \
                 fields: { d: { number: decimal, bits: 3..0 }, t: { number: decimal, bits: 7..4 } }, syntax: 'add {d}, {t}', \
                 aliases: { move: { with: { t: 0 }, syntax: 'mov  {d}', prints: true } } }\n";
    let told = warnings(&alias.replace("mov  ", "mov "));
    assert_eq!(told.matches("W0213").count(), 1, "{told}");
    assert!(told.contains("^^^^^^^^^") && told.contains("`mov 0` is the text of two words: 0x200 and 0x10"), "{told}");
    assert!(!warnings(&alias.replace("mov  ", "copy ")).contains("W0213"));
}

/// Chains of computed values and nested operands are limited in depth; deeper ones are rejected at their place.
#[test]
fn chains_and_operands_have_a_depth() {
    let chain = |length: usize| {
        let field = |i: usize| format!("f{i}: {{ value: f{} + 1 }}", i - 1);
        let fields: Vec<String> = (1..=length).map(field).collect();
        tabled(&format!("fields: {{ f0: {{ bits: 7..0 }}, {} }}, syntax: 'set {{f{length}}}'", fields.join(", ")))
    };
    both_ways(of_text("chain", &chain(24), 0).expect("it is right"), &[("01 01 00", "set 25")]);
    let told = of_text("chain", &chain(25), 0).map(drop).expect_err("it is too long");
    assert!(told.contains("a chain of more than 24 computed values leads to `f25`"), "{told}");
    let nested = |depth: usize| {
        let kind = |i: usize| match i + 1 == depth {
            true => format!(
                "  k{i}: {{ width: 8, alternatives: {{ x: {{ fields: {{ n: {{ bank: r, bits: 7..0 }} }}, text: '<{{n}}>' }} }} }}\n"
            ),
            false => format!(
                "  k{i}: {{ width: 8, alternatives: {{ x: {{ fields: {{ n: {{ kind: k{}, bits: 7..0 }} }}, text: '<{{n}}>' }} }} }}\n",
                i + 1
            ),
        };
        let kinds: String = (0..depth).map(kind).collect();
        format!(
            "isa: nested\nprovenance: document\nword: 24\nbanks: {{ r: {{ count: 256, width: 32, prints: 'r{{n}}' }} }}\nkinds:\n{kinds}\
             instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, operands: {{ a: {{ kind: k0, at: 0 }} }} }}\n"
        )
    };
    let engine = of_text("nested", &nested(4), 0).expect("it is right");
    both_ways(engine, &[("07 01 00", "set <<<<r7>>>>")]);
    let mut read = Vec::new();
    registers(engine, &engine.decode(&[7, 1, 0]).expect("it decodes"), false, &mut |of| read.push(of.first));
    assert_eq!(read, [7]);
    let told = of_text("nested", &nested(5), 0).map(drop).expect_err("it is too deep");
    assert!(told.contains("operands nest more than 4 deep"), "{told}");
}

#[test]
fn what_ignored_bits_and_enums_contradict_is_told() {
    let told = |name: &str, keys: &str| {
        let text = format!(
            "isa: st\nword: [16, 32]\nprovenance: document\nbanks: {{ r: {{ count: 8, prints: 'r{{n}}' }} }}\n\
             enums: {{ M: {{ bits: 9, values: [a, b], default: a }}, W: {{ values: [k, l, m] }} }}\n\
             instructions:\n  MOV: {{ doc: M., word: 16, fixed: {{ 15..7: 1 }}, {keys}, \
             operands: {{ d: {{ bank: r, bits: 5..3, access: write }}, a: {{ bank: r, bits: 2..0 }} }} }}\n"
        );
        of_text(name, &text, 0).expect_err(name)
    };
    for (name, keys, code, message) in [
        ("wide enum", "modifiers: { m: { enum: M, bits: 6 } }", "E0108", "`m` has 1 bits, but `M` has 9"),
        ("wide value", "modifiers: { m: { enum: W, bits: 6 } }", "E0108", "`m` has 1 bits, but the value `m` is 2"),
        ("ignored constant", "ignored: [15, 6]", "E0107", "bit 15 of `MOV` cannot be both constant and ignored"),
        ("ignored operand", "ignored: [6, 0]", "E0107", "bit 0 of `a` in `MOV` also mean something else"),
        ("ignored outside", "ignored: [16, 6]", "E0104", "ignored bit 16 out of range: the last bit is 15"),
    ] {
        let told = told(name, keys);
        assert!(told.contains(code) && told.contains(message), "{name}: {told}");
        assert_eq!(told.matches("error[").count(), 1, "{name}: {told}");
    }
}

/// A specification of one instruction with these keys, and the generations 1 to 3.
fn of_three(keys: &str) -> String {
    format!(
        "isa: three\nword: 24\nprovenance: document\ngenerations: [1, 3]\nsemantics: {{ pc: u32 }}\ninstructions:\n  \
         a: {{ doc: A., fixed: {{ 23..8: 1 }}, fields: {{ z: {{ bits: 7..0 }} }}, syntax: 'a {{z}}', {keys} }}\n"
    )
}

#[test]
fn a_range_of_generations_that_is_empty_is_told_where_it_is_written() {
    for (keys, message) in [
        ("since: 7", "no generation since 7"),
        ("until: 0", "no generation until 0"),
        ("since: 3, until: 2", "no generation is in the range from 3 to 2"),
    ] {
        assert_eq!(warnings_of("empty range", &of_three(keys)), [format!("W0212: {message}")], "{keys}");
    }
    for keys in ["since: 3", "until: 1", "since: 2, until: 2", "since: 0, until: 9"] {
        assert_eq!(warnings_of("range", &of_three(keys)), Vec::<String>::new(), "{keys}");
    }
    let named = of_three("since: 2, until: 2").replace("[1, 3]", "{ old: 1, new: 3 }");
    assert_eq!(warnings_of("unnamed", &named), ["W0212: no generation is in the range from 2 to 2"]);
}

#[test]
fn an_encoding_knows_nothing_of_execution() {
    for (name, condition) in [("pc", "pc == 0"), ("lane", "lane == 0"), ("next", "z < next")] {
        let told = of_text(name, &of_three(&format!("where: {condition}")), 1).expect_err(name);
        assert!(told.contains(&format!("`{name}` is not known in an encoding")), "{told}");
        assert!(told.contains("the names in scope are `z`, `generation` or `length`"), "{told}");
    }
}

#[test]
fn a_mistake_in_a_condition_of_a_template_is_marked_there() {
    let text = of_three("doc: A.").replace(", doc: A. }", " }").replace("'a {z}'", "\"a {?z != 0|{?y != 0|{z}}}\"");
    let told = of_text("condition", &text, 1).expect_err("there is no `y`");
    let line = text.lines().find(|line| line.contains("syntax")).expect("the template");
    let column = line.find("y != 0").expect("the condition") + 1;
    assert!(told.contains(&format!("condition.yaml:7:{column}\n")), "column {column}: {told}");
}

#[test]
fn more_digits_than_a_number_can_have_are_refused() {
    let number = |digits: u8| {
        format!(
            "isa: n\nword: 24\nprovenance: document\ninstructions: {{ a: {{ doc: A., fixed: {{ 23..8: 1 }}, \
             operands: {{ n: {{ immediate: {{ base: 16, digits: {digits} }}, bits: 7..0 }} }} }} }}\n"
        )
    };
    let told = of_text("digits", &number(99), 0).expect_err("a number has at most 64");
    assert!(told.contains("E0033") && told.contains("from 1 to 64"), "{told}");
    assert!(of_text("digits", &number(64), 0).is_ok());
}

#[test]
fn what_a_stream_has_in_place_of_a_key_is_told() {
    let base = "isa: n\nword: 24\nprovenance: document\ninstructions: { a: { doc: A., fixed: { 23..0: 1 } } }\n";
    for (key, value, help) in [
        ("constants", "{ T: { values: [1, 2] } }", "compute the value"),
        ("shared", "{ page: { bits: 7..4 } }", "give the kind a parameter"),
    ] {
        let told = of_text(key, &format!("{base}{key}: {value}\n"), 0).expect_err(key);
        assert!(told.contains("E0130") && told.contains(help), "{told}");
    }
}
