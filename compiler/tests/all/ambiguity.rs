//! Two instructions that match a common word are always found, and the word given as proof matches both.

use std::collections::BTreeSet;
use std::time::Instant;

use isaforge_compiler::check::ambiguity::{check, pairs};
use isaforge_compiler::diagnostic::{Diagnostics, Style};
use isaforge_compiler::lower;
use isaforge_compiler::model::Isa;
use isaforge_compiler::resolve::resolve;
use isaforge_compiler::source::Sources;
use isaforge_core::decode::decode;
use isaforge_core::sample::Random;

use crate::seed;
use crate::support::{checked, folder};

/// The model of a specification, valid or not.
fn model(text: &str) -> (Isa, Sources) {
    let folder = folder(&[("isa.yaml", text)]);
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let isa = resolve(&folder.path().join("isa.yaml"), &mut sources, &mut out);
    match isa.filter(|_| !out.has_errors()) {
        Some(isa) => (isa, sources),
        None => panic!("{}\n{text}", out.render(&sources, Style::default())),
    }
}

/// A specification of instructions with random constant bits in words of `width` bits.
fn random_patterns(random: &mut Random, count: u64, width: u64) -> String {
    let mut text = format!("isa: random\nword: {width}\nevery: {{ unused: ignored }}\ninstructions:\n");
    for i in 0..count {
        let fixed: Vec<String> = (0..width)
            .filter_map(|bit| if random.below(2) == 0 { Some(format!("{bit}: {}", random.below(2))) } else { None })
            .collect();
        text.push_str(&format!("  I{i}: {{ title: t, fixed: {{ {} }} }}\n", fixed.join(", ")));
    }
    text
}

#[test]
fn no_pair_is_missed_and_none_is_made_up() {
    let mut random = Random(seed::seed(1));
    for round in 0..200 {
        let text = random_patterns(&mut random, 2 + round % 12, 8);
        let (isa, _) = model(&text);
        let patterns: Vec<(u64, u64)> = isa.forms.iter().map(|form| form.pattern()).collect();
        let mut expected = BTreeSet::new();
        for word in 0..256u64 {
            let matching: Vec<usize> =
                (0..patterns.len()).filter(|i| word & patterns[*i].0 == patterns[*i].1).collect();
            for (i, &b) in matching.iter().enumerate() {
                expected.extend(matching[..i].iter().map(|&a| (a, b)));
            }
        }
        let found: BTreeSet<(usize, usize)> = pairs(&isa).into_iter().collect();
        assert_eq!(found, expected, "{text}");
        // The messages cover every pair: each pair has an instruction with a message.
        let mut out = Diagnostics::new();
        check(&isa, &mut out);
        let told: BTreeSet<&str> = out.iter().filter_map(|found| found.message.split('`').nth(1)).collect();
        for (a, b) in expected {
            let names = [isa.forms[a].name.as_str(), isa.forms[b].name.as_str()];
            assert!(names.iter().any(|name| told.contains(name)), "{names:?} of\n{text}");
        }
    }
}

/// A random instruction of 16-bit words with fields that do not accept every value.
fn random_instruction(random: &mut Random, name: &str) -> String {
    let mut lines = vec![format!("  {name}:\n    title: t\n")];
    let fixed = |random: &mut Random, bits: &[u64]| -> String {
        let given: Vec<String> = bits
            .iter()
            .filter_map(|b| if random.below(2) == 0 { Some(format!("{b}: {}", random.below(2))) } else { None })
            .collect();
        given.join(", ")
    };
    match random.below(3) {
        0 => {
            lines.push(format!("    fixed: {{ 15: 0, {} }}\n", fixed(random, &[12, 13, 14])));
            lines.push("    modifiers: { mode: { enum: Mode, bits: 5..3 } }\n".to_owned());
            lines.push("    operands: { a: { kind: source, at: 6 } }\n".to_owned());
        }
        1 => {
            lines.push(format!("    fixed: {{ 15: 0, {} }}\n", fixed(random, &[0, 1, 2, 13, 14])));
            lines
                .push("    operands: { a: { kind: source, at: 3 }, b: { bank: register, bits: 12..10 } }\n".to_owned());
        }
        _ => lines.push(format!("    fixed: {{ 15: 0, {} }}\n", fixed(random, &[0, 3, 4, 6, 9, 12, 13, 14]))),
    }
    lines.concat()
}

const DEFINITIONS: &str = "isa: random
word: 16
every: { unused: zero }
enums: { Mode: { values: [~, a, ~, b, ~, ~, ~, c] } }
banks: { register: { count: 6, prints: \"r{n}\" } }
shared: { page: { bits: 2..1, default: 1 } }
kinds:
  source:
    width: 4
    alternatives:
      register: { fixed: { 3: 0 }, fields: { index: { bank: register, bits: 2..0 } }, text: \"{index}\" }
      paged: { fixed: { 3: 1, 2: 0 }, when: { page: 2 }, fields: { n: { number: decimal, bits: 1..0 } }, text: \"p{n}\" }
instructions:
";

/// Whether each word is a valid word of the only instruction of a specification.
fn words(text: &str) -> Option<Vec<bool>> {
    let checked = checked(text).ok()?;
    let isa = lower::words(&checked.isa).isa;
    Some((0..1 << 16).map(|word| decode(isa, word).is_ok()).collect())
}

#[test]
fn witnesses_are_valid_words_of_both_and_are_found_if_there_are_any() {
    let mut random = Random(seed::seed(7));
    let (mut proved, mut disproved) = (0, 0);
    for round in 0..1000 {
        // Few pairs overlap, so drawing continues until there are enough of both kinds.
        if round >= 120 && proved >= 8 && disproved >= 1 {
            break;
        }
        let [a, b] = ["A", "B"].map(|name| random_instruction(&mut random, name));
        let (Some(of_a), Some(of_b)) = (words(&format!("{DEFINITIONS}{a}")), words(&format!("{DEFINITIONS}{b}")))
        else {
            continue;
        };
        let (isa, _) = model(&format!("{DEFINITIONS}{a}{b}"));
        let mut out = Diagnostics::new();
        check(&isa, &mut out);
        let Some(found) = out.iter().find(|found| found.code == "E0106") else { continue };
        let note = found.notes.first().expect("it says why");
        match note.strip_prefix("0x").and_then(|note| note.split(' ').next()) {
            Some(word) => {
                let word = usize::from_str_radix(word, 16).expect("a word");
                assert!(of_a[word] && of_b[word], "{word:#x} is not both\n{a}{b}");
                proved += 1;
            }
            None => {
                let both = (0..1 << 16).find(|word| of_a[*word] && of_b[*word]);
                assert_eq!(both, None, "no witness was found\n{a}{b}");
                disproved += 1;
            }
        }
    }
    println!("{proved} witnesses, {disproved} pairs without one");
    assert!(proved >= 8 && disproved >= 1, "{proved} witnesses, {disproved} pairs without one");
}

#[test]
fn a_witness_has_the_operand_that_uses_what_the_other_instruction_fixes() {
    let one = |name: &str, fixed: &str| {
        format!(
            "  {name}:\n    title: t\n    fixed: {{ {fixed} }}\n    operands: {{ a: {{ kind: source, at: 3 }}, b: {{ bank: \
             register, bits: 12..10 }} }}\n"
        )
    };
    let (isa, _) = model(&format!("{DEFINITIONS}{}{}", one("A", "15: 0, 13: 0"), one("B", "15: 0, 0: 0, 1: 0, 2: 1")));
    let mut out = Diagnostics::new();
    check(&isa, &mut out);
    let found = out.iter().find(|found| found.code == "E0106").expect("they match the same word");
    assert!(found.notes[0].ends_with("is a valid word of both"), "{:?}", found.notes);
}

#[test]
fn a_thousand_instructions_are_compared_at_once() {
    let mut text = "isa: large\nword: 64\nevery: { unused: ignored }\ninstructions:\n".to_owned();
    for i in 0..1000u64 {
        // Primary opcodes of 9 bits and secondary opcodes of 4 bits, in two places.
        let place = if i % 2 == 0 { "27..24" } else { "19..16" };
        text.push_str(&format!(
            "  I{i}: {{ title: t, fixed: {{ 56..48: {}, {place}: {} }} }}\n",
            i % 499,
            i / 499 % 16
        ));
    }
    let (isa, _) = model(&text);
    let start = Instant::now();
    let found = pairs(&isa);
    let took = start.elapsed();
    let brute = |a: usize, b: usize| {
        let ((m, v), (n, w)) = (isa.forms[a].pattern(), isa.forms[b].pattern());
        (v ^ w) & m & n == 0
    };
    let expected: Vec<(usize, usize)> =
        (0..1000).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|(a, b)| brute(*a, *b)).collect();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected.iter().copied().collect());
    let start = Instant::now();
    let mut out = Diagnostics::new();
    check(&isa, &mut out);
    println!("1,000 instructions: {} pairs in {took:?}, all messages in {:?}", expected.len(), start.elapsed());
}

#[test]
fn an_instruction_that_matches_everything_is_one_mistake() {
    let mut text = "isa: large\nword: 16\nevery: { unused: ignored }\ninstructions:\n".to_owned();
    for i in 0..300 {
        text.push_str(&format!("  I{i}: {{ title: t, fixed: {{ 15..4: {i} }} }}\n"));
    }
    text.push_str("  WIDE: { title: t, fixed: { 15..12: 0 } }\n");
    let (isa, sources) = model(&text);
    let mut out = Diagnostics::new();
    check(&isa, &mut out);
    let said = out.render(&sources, Style::default());
    assert_eq!(out.iter().count(), 1, "{said}");
    assert!(said.contains("`WIDE` matches words of `I0` and of 255 more instructions"), "{said}");
}
