//! Displays: text with `{FIELD}`, `{NAME}`, `{FIELD:align=20}` and names of templates.

use super::layout::Builder;
use crate::source::Spanned;
use crate::stream::model::Token;

/// The tokens of a display.
pub(super) fn tokens(builder: &mut Builder<'_, '_, '_>, display: &Spanned<String>) -> Vec<Token> {
    let mut tokens = Vec::new();
    pieces(builder, display, &display.value, true, &mut tokens);
    // Merges adjacent texts.
    let mut joined: Vec<Token> = Vec::new();
    for token in tokens {
        match (joined.last_mut(), token) {
            (Some(Token::Text(text)), Token::Text(more)) => text.push_str(&more),
            (_, token) => joined.push(token),
        }
    }
    joined
}

fn pieces(
    builder: &mut Builder<'_, '_, '_>,
    display: &Spanned<String>,
    text: &str,
    templates: bool,
    tokens: &mut Vec<Token>,
) {
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        if !before.is_empty() {
            tokens.push(Token::Text(before.to_owned()));
        }
        let Some((inside, tail)) = tail.split_once('}') else {
            let message = format!("unmatched brace in `{}`", display.value);
            builder.context.once(display.span, "E0043", message);
            return;
        };
        rest = tail;
        let (name, column) = match inside.split_once(':') {
            None => (inside, None),
            Some((name, option)) => match option.strip_prefix("align=").map(str::parse) {
                Some(Ok(column)) => (name, Some(column)),
                _ => {
                    let message = format!("`{{{inside}}}` is not a column: write `{{NAME:align=20}}`, at most 255");
                    builder.context.once(display.span, "E0043", message);
                    continue;
                }
            },
        };
        tokens.extend(column.map(Token::Column));
        let document = builder.context.document;
        match document.templates.get(name).filter(|_| templates) {
            // Templates are expanded once; names of templates within them are fields.
            Some(template) => pieces(builder, display, template, false, tokens),
            None if name.is_empty() && column.is_some() => {}
            None if name == "NAME" => tokens.push(Token::Text(builder.leaf.shown().to_owned())),
            None => tokens.extend(builder.shown(name, display.span)),
        }
    }
    if !rest.is_empty() {
        tokens.push(Token::Text(rest.to_owned()));
    }
}
