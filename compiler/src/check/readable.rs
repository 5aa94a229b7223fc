//! E0113: names and words that the assembler cannot parse.
//!
//! E0115: instructions whose name equals that of another with a modifier.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Form, Isa, Modifier, Shape, Token, Type};
use crate::source::Span;

/// How many dots in a name the assembler considers as the end of a mnemonic.
const MAX_DOTS: usize = 14;

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    let mut words = Words { told: HashSet::new(), out };
    for form in &isa.forms {
        words.mnemonic(form);
        words.modifiers(isa, &form.modifiers);
        for operand in &form.operands {
            words.modifiers(isa, &operand.suffixes);
            let (texts, place): (Vec<&str>, _) = match &operand.shape {
                Shape::List { open, separator, .. } => {
                    (vec![open, separator], operand.declared.unwrap_or(operand.span))
                }
                Shape::Number { prefix, .. } => (vec![prefix], operand.span),
                Shape::One { .. } => continue,
            };
            texts.into_iter().for_each(|text| words.text(text, place));
        }
        words.tokens(&form.syntax, form.syntax_span);
    }
    for (word, _, span) in isa.shared.iter().flat_map(|shared| &shared.words) {
        words.word(word, *span, true);
    }
    for kind in &isa.kinds {
        for alternative in &kind.alternatives {
            alternative.texts().for_each(|(text, span)| words.tokens(text, span));
            for field in &alternative.fields {
                if let Type::Enum(e) = field.ty {
                    isa.enums[e]
                        .values
                        .iter()
                        .for_each(|value| value.words().for_each(|word| words.word(word, value.span, false)));
                }
            }
        }
    }
    told_apart(isa, out);
}

struct Words<'a> {
    told: HashSet<(Span, String)>,
    out: &'a mut Diagnostics,
}

impl Words<'_> {
    fn mnemonic(&mut self, form: &Form) {
        let name = form.name.as_str();
        let wrong = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
        let reason = match wrong.and_then(|at| name[at..].chars().next()) {
            Some(found) => format!("an instruction name cannot contain {}", shown(found)),
            None if name.is_empty() => "an instruction name cannot be empty".to_owned(),
            None if name.starts_with('.') || name.ends_with('.') || name.contains("..") => {
                "a dot in an instruction name must separate two words".to_owned()
            }
            None if name.matches('.').count() > MAX_DOTS => format!("a name cannot have more than {MAX_DOTS} dots"),
            None => return,
        };
        let error =
            Diagnostic::error("E0113", form.span, format!("the assembler cannot read the name `{name}`")).label(reason);
        self.out.push(error.help("write letters, digits, `_` and dots between words"));
    }

    fn modifiers(&mut self, isa: &Isa, modifiers: &[Modifier]) {
        for modifier in modifiers {
            match modifier.ty {
                Type::Enum(e) => isa.enums[e]
                    .values
                    .iter()
                    .for_each(|value| value.words().for_each(|word| self.word(word, value.span, true))),
                _ => {
                    let place = modifier.declared.unwrap_or(modifier.span);
                    self.word(&modifier.prints, place, true);
                    self.word(&modifier.name, place, true);
                }
            }
        }
    }

    /// Checks a word, which may be written after a dot.
    fn word(&mut self, word: &str, span: Span, after_dot: bool) {
        let is_wrong = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';');
        let reason = match word.chars().find(|c| is_wrong(*c)) {
            Some(found) => format!("a word cannot contain {}", shown(found)),
            None if word.is_empty() && after_dot => "a word after a dot cannot be empty".to_owned(),
            None if word.contains("//") => "`//` begins a comment".to_owned(),
            None => return,
        };
        if self.told.insert((span, word.to_owned())) {
            let error =
                Diagnostic::error("E0113", span, format!("the assembler cannot read the word `{word}`")).label(reason);
            self.out.push(error.help("give it another name, or a word of its own under `prints`"));
        }
    }

    fn tokens(&mut self, tokens: &[Token], span: Span) {
        for token in tokens {
            if let Token::Text(text) = token {
                self.text(text, span);
            }
        }
    }

    /// Checks text between operands.
    fn text(&mut self, text: &str, span: Span) {
        let reason = match text.chars().find(|c| c.is_control() || *c == ';') {
            Some(';') => "`;` begins a comment".to_owned(),
            Some(found) => format!("a line cannot contain {}", shown(found)),
            None if text.contains("//") => "`//` begins a comment".to_owned(),
            None => return,
        };
        if self.told.insert((span, text.to_owned())) {
            let error = Diagnostic::error(
                "E0113",
                span,
                format!("the assembler cannot read the text `{}`", text.escape_debug()),
            );
            self.out.push(error.label(reason));
        }
    }
}

fn shown(found: char) -> String {
    match found {
        ' ' => "a space".to_owned(),
        '\t' => "a tab".to_owned(),
        '\n' | '\r' => "a line break".to_owned(),
        ',' => "a comma".to_owned(),
        found if found.is_control() => format!("the control character {:#x}", u32::from(found)),
        found => format!("`{found}`"),
    }
}

/// All words that a modifier may be written with.
fn words_of<'a>(isa: &'a Isa, modifier: &'a Modifier) -> impl Iterator<Item = &'a str> {
    let values = match modifier.ty {
        Type::Enum(e) => &isa.enums[e].values[..],
        _ => &[],
    };
    let flag = (modifier.ty == Type::Flag).then_some([modifier.prints.as_str(), modifier.name.as_str()]);
    values.iter().flat_map(|value| value.words()).chain(flag.into_iter().flatten())
}

/// The assembler takes the longest name: if there is an instruction `A.b`, that text is never parsed as `A` with the
/// modifier `b`.
fn told_apart(isa: &Isa, out: &mut Diagnostics) {
    let forms: HashMap<&str, &Form> = isa.forms.iter().map(|form| (form.name.as_str(), form)).collect();
    for form in &isa.forms {
        for (at, _) in form.name.match_indices('.') {
            let Some(other) = forms.get(&form.name[..at]) else { continue };
            let near = other.syntax.iter().skip(1).take_while(|t| matches!(t, Token::Modifiers | Token::Modifier(_)));
            let placed = |i: usize| other.syntax.contains(&Token::Modifier(i));
            let mut after: Vec<usize> = Vec::new();
            for token in near {
                match token {
                    Token::Modifier(i) => after.push(*i),
                    _ => after.extend((0..other.modifiers.len()).filter(|i| !placed(*i))),
                }
            }
            let said_by =
                |word: &str| after.iter().map(|i| &other.modifiers[*i]).find(|m| words_of(isa, m).any(|w| w == word));
            let found: Option<Vec<&Modifier>> = form.name[at + 1..].split('.').map(said_by).collect();
            let Some(modifier) = found.and_then(|found| found.first().copied()) else { continue };
            let message = format!("`{}` is also `{}` with `.{}`", form.name, other.name, &form.name[at + 1..]);
            out.push(
                Diagnostic::error("E0115", form.span, message)
                    .label("the assembler always takes this one")
                    .secondary(other.span, "this one can never be written")
                    .secondary(modifier.span, format!("`{}` has that word", modifier.name))
                    .help("give the instruction or the modifier's word another name"),
            );
        }
    }
}
