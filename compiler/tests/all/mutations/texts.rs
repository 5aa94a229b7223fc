//! Errors in semantics texts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::expression::lexer::{Token, tokens};
use isaforge_compiler::expression::parse::KEYWORDS;
use isaforge_compiler::expression::types::parse_type;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value, read_yaml};

use super::kinds::{Mutant, edit, misspelt};

/// A text as its tokens, each with its range in the file.
type Text = Vec<(Token, Range<usize>)>;

/// The texts of a file: `does` of instructions and of `semantics`, and its `functions`.
fn texts(file: &str, text: &str) -> Vec<Text> {
    if !file.ends_with(".yaml") {
        return Vec::new();
    }
    let mut sources = Sources::new();
    let id = sources.add(file, text.to_owned());
    let Some(root) = read_yaml(&sources, id, &mut Diagnostics::default()) else { return Vec::new() };
    let mut nodes = Vec::new();
    for (_, instruction) in entries(&root, "instructions") {
        nodes.extend(entry(instruction, "does"));
    }
    if let Some(semantics) = entry(&root, "semantics") {
        let functions = entries(semantics, "functions").chain(entries(semantics, "does"));
        nodes.extend(functions.map(|(_, node)| node));
    }
    let tokens_of = |node: &Node| {
        let all = tokens(sources.snippet(node.span), node.span).ok()?;
        Some(all.into_iter().map(|(token, span)| (token, span.range())).collect())
    };
    nodes.into_iter().filter_map(tokens_of).collect()
}

/// Ranges of texts, by name and length of the file.
type Places = HashMap<(String, usize), Vec<Range<usize>>>;

thread_local! {
    /// The ranges of the texts in the files seen so far.
    static PLACES: RefCell<Places> = RefCell::default();
}

/// Whether a position in a specification is within a text.
pub fn is_in_text(file: &str, text: &str, at: usize) -> bool {
    PLACES.with_borrow_mut(|places| {
        let places = places.entry((file.to_owned(), text.len())).or_insert_with(|| {
            let place = |tokens: Text| tokens.first().zip(tokens.last()).map(|(a, b)| a.1.start..b.1.end);
            texts(file, text).into_iter().filter_map(place).collect()
        });
        places.iter().any(|place| place.contains(&at))
    })
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        Value::Map(entries) => entries.iter().find(|(name, _)| name.value == key).map(|(_, node)| node),
        _ => None,
    }
}

fn entries<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = (&'n str, &'n Node)> {
    let found = match entry(node, key).map(|node| &node.value) {
        Some(Value::Map(entries)) => &entries[..],
        _ => &[],
    };
    found.iter().map(|(name, node)| (name.value.as_str(), node))
}

/// Generates a mutant for each token for which `change` returns another word.
fn each_token(file: &str, text: &str, change: impl Fn(&Text, usize) -> Option<String>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for tokens in texts(file, text) {
        for (at, (_, range)) in tokens.iter().enumerate() {
            if let Some(new) = change(&tokens, at) {
                mutants.push(edit(file, text, range.clone(), &new));
            }
        }
    }
    mutants
}

fn sign(tokens: &Text, at: usize) -> Option<&str> {
    match tokens.get(at) {
        Some((Token::Sign(sign), _)) => Some(sign),
        _ => None,
    }
}

/// Misspells names of values, functions and parts; those of `let` and `for` are misspelt where they are used.
pub fn misspell_names(file: &str, text: &str) -> Vec<Mutant> {
    each_token(file, text, |tokens, at| {
        let before = at.checked_sub(1).map(|at| &tokens[at].0);
        let defined = matches!(before, Some(Token::Name(word)) if word == "let" || word == "for");
        match &tokens[at].0 {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) && parse_type(name).is_none() && !defined => {
                misspelt(name)
            }
            _ => None,
        }
    })
}

pub fn misspell_types(file: &str, text: &str) -> Vec<Mutant> {
    each_token(file, text, |tokens, at| match &tokens[at].0 {
        Token::Name(name) if parse_type(name).is_some() => Some(format!("q{}", &name[1..])),
        _ => None,
    })
}

pub fn drop_text_brackets(file: &str, text: &str) -> Vec<Mutant> {
    each_token(file, text, |tokens, at| {
        sign(tokens, at).filter(|sign| ["(", ")", "[", "]", "{", "}"].contains(sign)).map(|_| String::new())
    })
}

pub fn exchange_operators(file: &str, text: &str) -> Vec<Mutant> {
    const PAIRS: [(&str, &str); 8] =
        [("+", "-"), ("&", "|"), ("|", "&"), ("<", "<="), ("<<", ">>"), (">>", "<<"), ("==", "!="), ("&&", "||")];
    each_token(file, text, |tokens, at| {
        let sign = sign(tokens, at)?;
        PAIRS.iter().find(|(old, _)| *old == sign).map(|(_, new)| (*new).to_owned())
    })
}

pub fn assign_for_compare(file: &str, text: &str) -> Vec<Mutant> {
    each_token(file, text, |tokens, at| sign(tokens, at).filter(|sign| *sign == "==").map(|_| "=".to_owned()))
}

/// The token ranges of the arguments or arms after the bracket at `open`, without commas. Empty when the bracket is not
/// closed.
fn parts(tokens: &Text, open: usize) -> Vec<Range<usize>> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, open + 1);
    for at in open + 1..tokens.len() {
        match sign(tokens, at) {
            Some("(" | "[" | "{") => depth += 1,
            Some(")" | "]" | "}") if depth == 0 => {
                if start < at {
                    parts.push(start..at);
                }
                return parts;
            }
            Some(")" | "]" | "}") => depth -= 1,
            Some(",") if depth == 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    Vec::new()
}

/// Removes the last argument of calls.
pub fn drop_arguments(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for tokens in texts(file, text) {
        for at in (1..tokens.len()).filter(|at| sign(&tokens, *at) == Some("(")) {
            let called = matches!(&tokens[at - 1].0, Token::Name(name) if !KEYWORDS.contains(&name.as_str()));
            let arguments = parts(&tokens, at);
            if let ([.., before, last], true) = (&arguments[..], called) {
                let range = tokens[before.end].1.start..tokens[last.end - 1].1.end;
                mutants.push(edit(file, text, range, ""));
            }
        }
    }
    mutants
}

/// Removes the first arm of choices.
pub fn drop_arms(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for tokens in texts(file, text) {
        for at in (0..tokens.len()).filter(|at| tokens[*at].0 == Token::Name("match".to_owned())) {
            let Some(open) = (at..tokens.len()).find(|at| sign(&tokens, *at) == Some("{")) else { continue };
            let arms = parts(&tokens, open);
            if let [first, _, ..] = &arms[..] {
                let range = tokens[first.start].1.start..tokens[first.end].1.end;
                let mut mutant = edit(file, text, range, "");
                // The error is at the beginning of the choice.
                mutant.lines.push(1 + text[..tokens[at].1.start].matches('\n').count());
                mutants.push(mutant);
            }
        }
    }
    mutants
}
