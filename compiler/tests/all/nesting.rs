//! Specifications that nest deeply, or define the same bits over and over: refused without using up the stack or memory.

use super::hostile::refused;

use crate::support::folder;

const HEAD: &str = "isa: x\ndoc: X.\nword: 16\nprovenance: document\n\
                    banks: { r: { count: 16, width: 32, prints: \"r{n}\" } }\n";

#[track_caller]
fn is_refused(text: &str, expected: &str) {
    let (messages, _) = refused(&folder(&[("isa.yaml", text)]));
    assert!(messages.iter().any(|message| message.starts_with(expected)), "{:?}", messages.first());
}

#[test]
fn no_chain_of_templates_uses_up_the_stack() {
    let chain = |length: usize| {
        let others: String = (1..length).map(|n| format!(", t{n}: {{ like: t{} }}", n - 1)).collect();
        format!(
            "{HEAD}templates: {{ t0: {{ doc: D. }}{others} }}\n\
             instructions: {{ A: {{ like: t{}, fixed: {{ 15..1: 1 }} }} }}\n",
            length - 1
        )
    };
    is_refused(&chain(20_000), "E0033: templates are `like` others at most 64 deep");
    is_refused(&chain(64), "E0105: undefined bit 0 in `A`");
}

#[test]
fn no_conditions_in_a_text_use_up_the_stack() {
    let text = |depth: usize| {
        let (open, close) = ("{?d == 1|".repeat(depth), "}".repeat(depth));
        format!(
            "{HEAD}generations: [1, 2]\ninstructions:\n  A:\n    doc: D.\n    fixed: {{ 15..5: 1 }}\n    \
             operands: {{ d: {{ bank: r, bits: 3..0 }} }}\n    syntax: \"A {{d}} {open}x{close}\"\n"
        )
    };
    is_refused(&text(20_000), "E0043: conditions nest more than 16 deep");
    is_refused(&text(16), "E0105: ");
}

#[test]
fn the_same_bits_are_compared_with_few_others() {
    let operands: Vec<String> = (0..4000).map(|n| format!("o{n}: {{ bank: r, bits: 3..0 }}")).collect();
    let text = format!(
        "{HEAD}instructions:\n  A:\n    doc: D.\n    fixed: {{ 15..4: 1 }}\n    operands: {{ {} }}\n",
        operands.join(", ")
    );
    is_refused(&text, "E0107: ");
}
