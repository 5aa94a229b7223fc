//! Templates: text with `{names}`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bank, Field, Token, Type};
use crate::source::{Span, Spanned};
use crate::suggest::one_of;

/// Splits a template into fixed text and the tokens that `bind` returns for the names in braces. `{{` and `}}` stand
/// for braces. `owner` is the place of the definition the template belongs to; `names` are the valid names, for
/// suggestions.
pub(crate) fn parse_template(
    out: &mut Diagnostics,
    template: &Spanned<String>,
    owner: Span,
    names: &[&str],
    bind: &dyn Fn(&str) -> Option<Token>,
) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    let mut rest = template.value.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..];
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            text.push_str(&brace[..1]);
            rest = after;
            continue;
        }
        let Some((name, after)) = brace[1..].split_once('}').filter(|_| brace.starts_with('{')) else {
            let message = format!("unmatched brace in `{}`", template.value);
            out.push(Diagnostic::error("E0043", template.span, message).help("write `{{` or `}}` for a brace itself"));
            return tokens;
        };
        if !text.is_empty() {
            tokens.push(Token::Text(std::mem::take(&mut text)));
        }
        match bind(name) {
            Some(token) => tokens.push(token),
            None if out.pass_over(name) => {}
            None => {
                let message = format!("unknown name `{name}`");
                let mut error = Diagnostic::error("E0044", template.span, message).label("in this template");
                error = error.note(format!("it may have {}", one_of(names.iter().map(|name| format!("{{{name}}}")))));
                // A misspelt name is wrong in the template; if no name is similar, its definition may be missing.
                let near = out.near(name, names.iter().copied());
                out.push(match near {
                    Some(near) => error.secondary(owner, "of this").help(format!("did you mean `{{{near}}}`?")),
                    None => error.rival(owner, "of this, which has no such name"),
                });
            }
        }
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        tokens.push(Token::Text(text));
    }
    tokens
}

/// Expands registers in a text to the texts of their banks. Directly after a letter or a digit, the text has already
/// begun a name, and only the number is written: with `r5` for a register, both `r{n}` and `{n}` print `r5`.
pub(crate) fn name_registers(banks: &[Bank], fields: &[Field], text: Vec<Token>) -> Vec<Token> {
    let bank = |token: &Token| match token {
        Token::Field(index) => match fields[*index].ty {
            Type::Register(bank) => Some(&banks[bank].prints),
            _ => None,
        },
        _ => None,
    };
    let (mut named, mut has_begun) = (Vec::new(), false);
    for token in text {
        let begins = matches!(&token, Token::Text(text) if text.ends_with(char::is_alphanumeric));
        match bank(&token).filter(|_| !has_begun) {
            Some((before, after)) => {
                [Token::Text(before.clone()), token, Token::Text(after.clone())]
                    .into_iter()
                    .for_each(|token| push(&mut named, token));
            }
            None => push(&mut named, token),
        }
        has_begun = begins;
    }
    named
}

/// Adds a token, and merges adjacent fixed texts.
fn push(named: &mut Vec<Token>, token: Token) {
    match (named.last_mut(), token) {
        (_, Token::Text(more)) if more.is_empty() => {}
        (Some(Token::Text(last)), Token::Text(more)) => last.push_str(&more),
        (_, token) => named.push(token),
    }
}
