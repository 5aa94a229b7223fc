//! Splits text into tokens.
//!
//! Texts are YAML scalars. They are read from the source of the file, without quotes or the indicator of a block
//! scalar, so that a place in the text is a place in the file.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or a keyword.
    Name(String),
    /// A whole number and its spelling.
    Int(u64, String),
    /// A number with a fraction.
    Float(f64),
    /// A word in single quotes: the name of a value that is not a plain name.
    Quoted(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    /// Describes the token for messages.
    pub fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(_, text) => format!("`{text}`"),
            Token::Float(value) => format!("`{value}`"),
            Token::Quoted(text) => format!("`'{text}'`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The operators and punctuation, longest first.
const SIGNS: [&str; 36] = [
    "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "=>", "..", "->", "<", ">", "+", "-", "*", "/", "%", "|", "^", "&",
    "~", "!", "(", ")", "[", "]", "{", "}", ",", ";", ":", "?", ".", "=", "_",
];

/// A text without the quotes of its scalar, and its place.
fn unquoted(raw: &str, span: Span) -> (&str, Span) {
    let trimmed = |from: usize, to: usize| (&raw[from..to], span.slice(from..to));
    match raw.as_bytes() {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => trimmed(1, raw.len() - 1),
        // The indicator of a block scalar: `|` or `>`, possibly with `-`, `+` or a number.
        [b'|' | b'>', ..] => match raw.find('\n') {
            Some(end) => trimmed(end, raw.len()),
            None => trimmed(raw.len(), raw.len()),
        },
        _ => (raw, span),
    }
}

/// Splits the source of a scalar into tokens.
///
/// # Errors
/// At the first character that cannot begin a token (E0120), or a number that does not fit into 64 bits (E0125).
pub fn tokens(raw: &str, span: Span) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let (text, span) = unquoted(raw, span);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = if first.is_ascii_digit() {
            number(rest, |range| span.slice(at + range.start..at + range.end))?
        } else if first.is_alphabetic() || first == '_' && rest[1..].starts_with(|c: char| c.is_alphanumeric()) {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Name(rest[..length].to_owned()), length)
        } else if first == '\'' {
            let Some(end) = rest[1..].find('\'') else {
                let error = Diagnostic::error("E0120", span.slice(at..at + 1), "unmatched quote");
                return Err(error.help("names of values are written between two single quotes: `'2d'`"));
            };
            (Token::Quoted(rest[1..=end].to_owned()), end + 2)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let here = span.slice(at..at + first.len_utf8());
            let message = format!("`{}` has no meaning in an expression", first.escape_debug());
            return Err(Diagnostic::error("E0120", here, message));
        };
        tokens.push((token, span.slice(at..at + length)));
        at += length;
    }
    let end = text.trim_end().len();
    tokens.push((Token::End, span.slice(end..end)));
    Ok(tokens)
}

fn number(rest: &str, place: impl Fn(std::ops::Range<usize>) -> Span) -> Result<(Token, usize), Diagnostic> {
    let radix = match rest.get(..2) {
        Some("0x") => 16,
        Some("0b") => 2,
        Some("0o") => 8,
        _ => 10,
    };
    let start = if radix == 10 { 0 } else { 2 };
    let run = |from: usize| {
        let stop = |c: char| !c.is_digit(radix) && c != '_';
        from + rest[from..].find(stop).unwrap_or(rest.len() - from)
    };
    let mut end = run(start);
    if radix == 10 && rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end = run(end + 1);
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            end = run(end + 1 + sign);
        }
        let text = rest[..end].replace('_', "");
        return match text.parse::<f64>() {
            Ok(value) if value.is_infinite() => {
                let message = format!("`{text}` is larger than every `f64`");
                Err(Diagnostic::error("E0125", place(0..end), message))
            }
            Ok(value) => Ok((Token::Float(value), end)),
            Err(_) => Err(Diagnostic::error("E0120", place(0..end), format!("`{text}` is not a number"))),
        };
    }
    // The name of an enum value may begin with a digit: `2d`.
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if word > end {
        return Ok((Token::Quoted(rest[..word].to_owned()), word));
    }
    let digits = rest[start..end].replace('_', "");
    match u64::from_str_radix(&digits, radix) {
        Ok(value) => Ok((Token::Int(value, rest[..end].to_owned()), end)),
        Err(_) => {
            let message = format!("`{}` is not a number of at most 64 bits", &rest[..end]);
            Err(Diagnostic::error("E0125", place(0..end), message))
        }
    }
}
