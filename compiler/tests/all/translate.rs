//! Translation of instructions between revisions: what both can express keeps its meaning, and the rest is rejected by
//! name.

use std::path::Path;

use isaforge_compiler::diff::{diff, diff_streams};
use isaforge_compiler::lower::words;
use isaforge_compiler::translate::streams::translate_text;
use isaforge_compiler::translate::{TranslateError, translate, translate_program, translate_words};
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::decode::decode;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::program::assemble;
use isaforge_core::registers::registers;
use isaforge_core::sample::{Random, sample};
use isaforge_core::stream::Engine;
use isaforge_core::text::Line;
use isaforge_core::{Isa, Tables};

use crate::seed;
use crate::support::{loaded, replaced};

fn load(spec: &str) -> &'static Isa {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs").join(spec);
    match check_spec(&Settings::new(path)) {
        Ok(checked) => words(&checked.isa).isa,
        Err(failure) => panic!("{failure}"),
    }
}

fn text_of(isa: &'static Isa, word: u64) -> String {
    let opcode = decode(isa, word).expect("the word is valid");
    let mut line = Line::new();
    print(isa, opcode, word, Style::Customary, &mut line);
    line.as_str().to_owned()
}

/// Translates a line of text, and returns the result as text.
fn line(from: &'static Isa, to: &'static Isa, text: &str) -> Result<String, String> {
    let (_, word) = parse(from, text).map_err(|e| e.to_string())?;
    translate(from, to, word).map(|w| text_of(to, w)).map_err(|e| e.to_string())
}

#[test]
fn what_both_revisions_express_is_translated_with_its_names() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    let cases = [
        ("MOV.i32 r1, u10", "MOV.i32 r1, u10"),
        ("FADD.f32 r0, `r1.neg, 0x3F800000", "FADD.f32 r0, ^r1.neg, 0x3F800000"),
        ("NOP.return", "NOP.end"),
        ("FADD.v2f16.barrier r0, `r0.abs, 0x0.neg", "FADD.v2f16.wait r0, ^r0.abs, 0x0.neg"),
        ("MOV.i32.id r1, core_id", "MOV.i32 r1, core_id.w0"),
        ("MOV.i32.ts r1, tls_ptr_hi", "MOV.i32 r1, thread_local_pointer.w1"),
        ("ATEST.td @r60, r60, 0x3F800000, atest_datum", "ATEST.discard @r60, r60, 0x3F800000, atest_datum.w0"),
        ("STORE.i128.slot0.return @r4:r5:r6:r7, `r0, offset:0", "STORE.i128.slot0.end @r4:r5:r6:r7, ^r0, offset:0"),
        ("BRANCHZ.reconverge `r1, offset:-8", "BRANCHZ.reconverge ^r1, offset:-8"),
        // Renamed, with the same bits and the same members.
        ("CSEL.i32.lt r1, r2, r3, r4, r5", "CSEL.s32.lt r1, r2, r3, r4, r5"),
    ];
    for (text, expected) in cases {
        assert_eq!(line(old, new, text).as_deref(), Ok(expected), "{text}");
        assert_eq!(line(new, old, expected).as_deref(), Ok(text), "and back: {expected}");
    }
}

#[test]
fn what_the_other_revision_lacks_is_named() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    let cases = [
        ("TEX.computed.2d.slot0 @r2, @r4:r5:r6:r7, r3", "valhall has no instruction `TEX`"),
        ("FRSCALE.f32 r0, r1, r2", "valhall has no instruction `FRSCALE.f32`"),
        ("NOP.id", "valhall has no modifier `immediate_mode` for `NOP`, which is `id` here"),
    ];
    for (text, expected) in cases {
        assert_eq!(line(old, new, text), Err(expected.to_owned()), "{text}");
    }
    let cases = [
        ("MOV.i32 r1, u100", "valhall-2021 has no `u100` (uniform) for the operand `src0` of `MOV.i32`"),
        ("MOV.i32 r1, warp_id.w0", "valhall-2021 has no `warp_id.w0` (special_0) for the operand `src0` of `MOV.i32`"),
        ("FPCLASS.f32 r0, r1", "valhall-2021 has no instruction `FPCLASS.f32`"),
    ];
    for (text, expected) in cases {
        assert_eq!(line(new, old, text), Err(expected.to_owned()), "{text}");
    }
    assert!(matches!(translate(old, new, u64::MAX), Err(TranslateError::Decode { isa: "valhall-2021", .. })));
}

#[test]
fn what_breaks_a_rule_of_the_other_assembler_is_refused() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    let result = line(old, new, "FMA.f32 r0, u0, u1, 0x40490FDB");
    assert!(
        result
            .is_err_and(|e| e.starts_with("this combination cannot be encoded as one `FMA.f32` in valhall: too many"))
    );
}

/// A translation names the same registers (the older document does not mark some of them as pairs), and translating
/// back yields the word again, except for ignored bits.
#[test]
fn random_words_keep_their_registers_and_come_back() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    for (from, to) in [(old, new), (new, old)] {
        let mut random = Random(seed::seed(2021));
        let (mut translated, mut returned) = (0, 0);
        for opcode in 0..from.forms.len() as u16 {
            for _ in 0..100 {
                let word = sample(from, opcode, &mut random);
                let Ok(other) = translate(from, to, word) else { continue };
                translated += 1;
                let target = decode(to, other).expect("translations are valid");
                for write in [false, true] {
                    let uses = |isa, o, w| registers(isa, o, w, write).map(|r| r.first).collect::<Vec<_>>();
                    assert_eq!(
                        uses(from, opcode, word),
                        uses(to, target, other),
                        "{} / {}",
                        text_of(from, word),
                        text_of(to, other)
                    );
                }
                if let Ok(back) = translate(to, from, other) {
                    returned += 1;
                    assert_eq!(back, word, "{} / {}", text_of(from, word), text_of(to, other));
                }
            }
        }
        assert!(translated > 5000 && returned * 10 > translated * 8, "{translated} translated, {returned} returned");
    }
}

#[test]
fn every_revision_translates_to_itself_bit_for_bit() {
    for isa in [load("valhall-2021/isa.yaml"), load("valhall/isa.yaml")] {
        let mut random = Random(seed::seed(1));
        for opcode in 0..isa.forms.len() as u16 {
            for _ in 0..50 {
                let word = sample(isa, opcode, &mut random);
                assert_eq!(translate(isa, isa, word), Ok(word), "{}", text_of(isa, word));
            }
        }
    }
}

/// Text that both revisions accept means what the translation yields, with one exception: `.w0` after the data of ATEST
/// and BLEND, which need no immediate mode, was a suffix in 2021 and is now part of the name. Only `translate` can
/// tell.
#[test]
fn text_that_both_read_means_the_same_word_as_the_translation() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    let mut random = Random(seed::seed(9));
    let (mut both, mut differ) = (0, 0);
    for opcode in 0..old.forms.len() as u16 {
        for _ in 0..100 {
            let word = sample(old, opcode, &mut random);
            let mut exact = Line::new();
            print(old, opcode, word, Style::Exact, &mut exact);
            let text = exact.as_str();
            if let (Ok((_, piped)), Ok(translated)) = (parse(new, text), translate(old, new, word)) {
                both += 1;
                if piped != translated {
                    differ += 1;
                    let special = text.split(", ").any(|operand| {
                        operand.ends_with(".w0") && (operand.starts_with("atest") || operand.starts_with("blend"))
                    });
                    assert!(
                        special,
                        "{text} is {} by its text, {} by translation",
                        text_of(new, piped),
                        text_of(new, translated)
                    );
                }
            }
        }
    }
    assert!(both > 7000 && differ * 500 < both, "{both} lines, {differ} differ");
}

/// Words for the values of a shared field are accepted but never printed; operands determine them.
#[test]
fn a_word_for_a_shared_field_agrees_with_the_operands() {
    let isa = load("valhall/isa.yaml");
    let read = |text: &str| parse(isa, text).map(|(_, word)| text_of(isa, word)).map_err(|e| e.to_string());
    for text in ["MOV.i32.ts.wait0 r1, tls_ptr_hi", "MOV.i32.wait0.ts r1, thread_local_pointer_hi"] {
        assert_eq!(read(text).as_deref(), Ok("MOV.i32.wait0 r1, thread_local_pointer.w1"), "{text}");
    }
    // With the word, `.w0` is the suffix of 2021; without it, the current part of the name.
    assert_eq!(read("IADD.u64 r0, r2, core_id.w0").as_deref(), Ok("IADD.u64 r0, r2, core_id.w0"));
    assert_eq!(read("IADD.u64.id r0, r2, core_id.w0").as_deref(), Ok("IADD.u64 r0, r2, core_id.w0.w0"));
    for (text, field) in [
        ("MOV.i32.ts r1, core_id", "`fau_page`: 1 and 3"),
        ("MOV.i32.ts.id r1, core_id", "`fau_page`: 1 and 3"),
        ("MOV.i32.ts r1, r2", "`fau_page`: 1 and 0"),
        ("MOV.i32.tss r1, r2", "has no modifier `tss`"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(field), "{text}: {error}");
    }
}

#[test]
fn a_program_is_translated_line_by_line_and_errors_have_their_lines() {
    let (old, new) = (load("valhall-2021/isa.yaml"), load("valhall/isa.yaml"));
    let program =
        "// a loop\nstart:\n  MOV.i32 r1, u10\n  BRANCHZ.reconverge `r1, offset:start\n\nend: NOP.return // done\n";
    let words = translate_program(old, new, program).expect("both express all of it");
    let texts: Vec<String> = words.iter().map(|w| text_of(new, *w)).collect();
    assert_eq!(texts, ["MOV.i32 r1, u10", "BRANCHZ.reconverge ^r1, offset:-2", "NOP.end"]);
    let errors = translate_program(old, new, "NOP\n\n  NOP.id\nNOP.id\n").expect_err("a mode without a use");
    let places: Vec<(usize, usize)> = errors.iter().map(|e| (e.line, e.column)).collect();
    assert_eq!(places, [(3, 3), (4, 1)]);
    assert!(translate_program(old, new, "NOP.end").is_err_and(|e| e[0].line == 1));
}

const SMALL: &str = r#"
isa: small
word: 16
banks: { r: { count: 8, prints: "r{n}" } }
instructions:
  SET: { doc: Sets., fixed: { 15..12: 1, 11: 0 }, modifiers: { neg: { bits: 10 } },
    operands: { d: { bank: r, bits: 9..7, access: write }, imm: { immediate: signed, bits: 6..0 } } }
  GO: { doc: Goes., fixed: { 15..12: 2 }, operands: { a: { bank: r, bits: 11..9 },
    to: { immediate: signed, bits: 8..0, prefix: "", target: { from: next, unit: 1 } } } }
"#;

fn of_text(text: &str, changes: &[(&str, &str)]) -> Tables {
    loaded(&replaced(text, changes)).tables
}

fn small(changes: &[(&str, &str)]) -> &'static Isa {
    match of_text(SMALL, changes) {
        Tables::Words(isa) => isa,
        _ => panic!("words"),
    }
}

#[test]
fn an_operand_under_another_name_in_the_same_bits_is_the_same() {
    let (old, new) = (small(&[]), small(&[("imm:", "value:")]));
    assert_eq!(line(old, new, "SET.neg r1, #-3").as_deref(), Ok("SET.neg r1, #-3"));
    // Unless something else has its name.
    let swapped =
        [("d: { bank: r, bits: 9..7", "imm: { bank: r, bits: 9..7"), ("imm: { immediate", "value: { immediate")];
    assert!(line(old, small(&swapped), "SET r1, #3").is_err());
    // With the order of operands, another text is right.
    let ordered =
        [("d: {", "d2: {"), ("SET: {", "SET: { syntax: '{mnemonic}{modifiers} {imm}, {d}',"), ("d2: {", "d: {")];
    assert_eq!(line(old, small(&ordered), "SET r1, #3").as_deref(), Ok("SET #3, r1"));
}

#[test]
fn a_modifier_under_another_name_in_the_same_bits_is_the_same() {
    let renamed = small(&[("neg:", "minus:")]);
    assert_eq!(line(small(&[]), renamed, "SET.neg r1, #3").as_deref(), Ok("SET.minus r1, #3"));
    assert_eq!(line(renamed, small(&[]), "SET r1, #3").as_deref(), Ok("SET r1, #3"));
    // In other bits, it is another one.
    let moved = small(&[("neg: { bits: 10 }", "minus: { bits: 11 }"), ("15..12: 1, 11: 0", "15..12: 1, 10: 0")]);
    let result = line(small(&[]), moved, "SET.neg r1, #3");
    assert_eq!(result, Err("small has no modifier `neg` for `SET`, which is `neg` here".to_owned()));
}

const OPERANDS: &str = r##"
isa: small
word: 16
banks: { r: { count: 8, prints: "r{n}" } }
kinds:
  src:
    width: 4
    alternatives:
      reg: { fixed: { 3: 0 }, fields: { n: { bits: 2..0, bank: r } }, text: "{n}" }
      num: { fixed: { 3: 1 }, fields: { n: { bits: 2..0, number: decimal } }, text: "#{n}" }
    suffixes: { neg: { bits: 4 } }
instructions:
  MOV: { doc: Moves., fixed: { 15..8: 1, 3: 0 },
    operands: { d: { bank: r, bits: 2..0, access: write }, a: { kind: src, at: 4 } } }
"##;

/// As words, and as a stream.
#[test]
fn what_a_diff_calls_renamed_is_translated() {
    for stream in [false, true] {
        let spec = if stream {
            OPERANDS.replace("word: 16", "word: 24").replace("15..8", "23..9")
        } else {
            OPERANDS.replace("15..8", "15..9")
        };
        for (changes, program, expected) in [
            (&[("neg:", "minus:")][..], "MOV r1, #3.neg\n", "MOV r1, #3.minus\n"),
            (&[("num:", "number:")], "MOV r1, #3.neg\n", "MOV r1, #3.neg\n"),
            (
                &[("n: { bits: 2..0, number", "k: { bits: 2..0, number"), ("#{n}", "#{k}")],
                "MOV r1, #3\n",
                "MOV r1, #3\n",
            ),
        ] {
            let (old, new) = (of_text(&spec, &[]), of_text(&spec, changes));
            match (old, new) {
                (Tables::Words(old), Tables::Words(new)) => {
                    assert!(!stream);
                    assert_eq!(translate_program(old, new, program), assemble(new, expected), "{changes:?}");
                    assert!(diff(old, new).to_text().contains("renamed: `") || changes.len() > 1, "{changes:?}");
                }
                (Tables::Streams(old), Tables::Streams(new)) => {
                    let expected = isaforge_core::stream::program::assemble(new, expected);
                    assert_eq!(translate_text(old, new, program), expected, "{changes:?}");
                    let difference = diff_streams(old, new).to_text();
                    assert!(difference.contains("renamed: `") || changes.len() > 1, "{difference}");
                }
                _ => panic!("both are of one kind"),
            }
        }
        let other = [("num:", "number:"), ("#{n}", "={n}")];
        let refused = match (of_text(&spec, &[]), of_text(&spec, &other)) {
            (Tables::Words(old), Tables::Words(new)) => translate_program(old, new, "MOV r1, #3\n").map(|_| ()),
            (Tables::Streams(old), Tables::Streams(new)) => translate_text(old, new, "MOV r1, #3\n").map(|_| ()),
            _ => panic!("both are of one kind"),
        };
        assert!(refused.is_err_and(|errors| errors[0].message.starts_with("small has no `#3` (num) for ")));
    }
}

#[test]
fn branches_of_words_lead_to_the_same_words_however_they_are_counted() {
    const WIDE: [(&str, &str); 5] = [
        ("word: 16", "word: 32"),
        ("{ 15..12: 1, 11: 0 }", "{ 31..12: 1, 11: 0 }"),
        ("{ 15..12: 2 }", "{ 31..12: 2 }"),
        ("imm:", "imm:"),
        ("to:", "to:"),
    ];
    let program = "SET r1, #1\nback: GO r1, end\nGO r2, back\nend: SET r2, #2\n";
    let old = small(&[]);
    let words = assemble(old, program).expect("it is a program");
    let counts = "target: { from: next, unit: 1 }";
    for target in [counts, "target: { from: this, unit: 2 }", "target: { from: this, unit: 1 }", "target: absolute"] {
        for wide in [&[][..], &WIDE] {
            let new = small(&[wide, &[(counts, target)]].concat());
            let expected = assemble(new, program).expect("it is a program");
            assert_eq!(translate_words(old, new, &words).as_deref(), Ok(&expected[..]), "{target}");
            assert_eq!(translate_program(old, new, program).as_deref(), Ok(&expected[..]));
            assert_eq!(translate_words(new, old, &expected).as_deref(), Ok(&words[..]), "and back: {target}");
            // A word by itself has no address.
            let alone = translate(old, new, words[1]);
            assert_eq!(alone.is_ok(), target != "target: absolute", "{target}: {alone:?}");
        }
    }
    // If the operand is a target in only one of them, its number stays the same.
    let new = small(&[(", target: { from: next, unit: 1 }", "")]);
    assert_eq!(translate_words(old, new, &words).as_deref(), Ok(&words[..]));
    // Halves of words have no counterpart, and code outside of the program keeps its address.
    let errors = translate_program(old, old, "GO r1, 1\nSET r1, #1\n").expect_err("it leads into `SET`");
    assert_eq!(errors[0].message, "`to` of `GO` leads to byte 0x3, where no instruction starts");
    assert_eq!(translate_program(old, old, "GO r1, 101\nGO r1, -101").map(|words| words.len()), Ok(2));
}

const SHORT: &str = r#"
isa: short
word: [16, 32]
banks: { r: { count: 8, prints: "r{n}" } }
instructions:
  add: { doc: Adds., word: 32, fixed: { 15..14: 2, 31..16: 0 },
    operands: { d: { bank: r, bits: 2..0, access: write }, a: { bank: r, bits: 5..3 },
      k: { immediate: signed, bits: 13..6, prefix: "" } },
    aliases: { copy: { syntax: "copy {d}, {a}", where: k == 0, prints: true } } }
  go: { doc: Goes., word: 32, fixed: { 15..14: 3, 31..16: 0, 13..8: 0 },
    operands: { to: { immediate: signed, bits: 7..0, prefix: "", target: { from: next, unit: 2 } } },
    aliases: { jump: { syntax: "jump {to}", prints: true } } }
  c.copy: { doc: Copies., word: 16, fixed: { 15..6: 0 },
    operands: { d: { bank: r, bits: 2..0, access: write }, a: { bank: r, bits: 5..3 } },
    aliases: { long: { syntax: "copy {d}, {a}", prints: true } } }
  c.go: { doc: Goes., word: 16, fixed: { 15..8: 3 },
    operands: { to: { immediate: signed, bits: 7..0, prefix: "", target: { from: this, unit: 2 } } },
    aliases: { long: { syntax: "jump {to}", prints: true } } }
"#;

fn short(changes: &[(&str, &str)]) -> Engine {
    match of_text(SHORT, changes) {
        Tables::Streams(engine) => engine,
        _ => panic!("a stream"),
    }
}

#[test]
fn an_instruction_that_is_missing_becomes_another_that_was_spelled_alike() {
    let old = short(&[]);
    let without = |name: &str| {
        let start = SHORT.find(name).expect("the instruction exists");
        let end = SHORT[start + 1..].find("\n  c.").map_or(SHORT.len(), |end| start + 1 + end);
        short(&[(&SHORT[start..end], "")])
    };
    let new = without("\n  c.copy:");
    let program = "copy r1, r2\ncopy r3, r4\n";
    let expected = isaforge_core::stream::program::assemble(new, program).expect("`add` has this text");
    assert_eq!(translate_text(old, new, program), Ok(expected));
    // Not if their targets are counted from different places.
    let errors = translate_text(old, without("\n  c.go:"), "jump 4\n").expect_err("`go` counts from elsewhere");
    assert_eq!(errors[0].message, "short has no instruction `c.go`");
    // Nor if the other one has another text.
    let other = short(&[]);
    let renamed = short(&[("c.copy:", "c.put:"), ("fixed: { 15..6: 0 }", "fixed: { 15..6: 1 }")]);
    assert_eq!(translate_text(other, renamed, "add r1, r2, 5\n").map(|bytes| bytes.len()), Ok(4));
}

#[test]
fn a_branch_into_the_middle_of_an_instruction_has_no_translation() {
    let engine = short(&[]);
    for program in ["jump 2\nadd r1, r2, 5\n", "add r1, r2, 5\njump -1\n"] {
        let errors = translate_text(engine, engine, program).expect_err("half of `add` is no instruction");
        assert!(errors[0].message.contains("where no instruction starts"), "{}", errors[0].message);
    }
    assert!(translate_text(engine, engine, "jump 100\njump -100\n").is_ok());
}
