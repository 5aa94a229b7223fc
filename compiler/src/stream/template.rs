//! Templates of streams: text with `{name}` for a field, `{:20}` for blanks up to a column, and `{?condition|text}` for
//! text that is present if a condition holds. `{{` and `}}` stand for braces.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, one_of};

/// The maximum number of nested conditions.
const MAX_DEPTH: usize = 16;

/// A piece of a template.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Fixed text.
    Text(String),
    /// A name in braces.
    Name(String),
    /// Blanks up to a column.
    Column(u8),
    /// Conditional text.
    If(Spanned<String>, Vec<Part>),
}

/// Splits a template; `None` after a mistake, which is reported.
pub(crate) fn parts(template: &Spanned<String>, out: &mut Diagnostics) -> Option<Vec<Part>> {
    let mut reader = Reader { rest: &template.value, span: template.span, whole: &template.value, out };
    let parts = reader.parts(0)?;
    Some(parts)
}

struct Reader<'a> {
    rest: &'a str,
    span: Span,
    whole: &'a str,
    out: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// The part of the template that starts at a byte, with its place; with that of the whole template if its text is
    /// not written in one piece.
    fn part(&self, text: &str, at: usize) -> Spanned<String> {
        let written = self.span.end as usize - self.span.start as usize == self.whole.len();
        let start = self.span.start as usize + at;
        let span = if written { Span::new(self.span.file, start..start + text.len()) } else { self.span };
        Spanned::new(text.to_owned(), span)
    }

    fn unmatched(&mut self) {
        let message = format!("unmatched brace in `{}`", self.whole);
        self.out.push(Diagnostic::error("E0043", self.span, message).help("write `{{` or `}}` for a brace itself"));
    }

    /// Reads up to the end of the conditional text inside of which it is, or to that of the template at `depth` 0.
    fn parts(&mut self, depth: usize) -> Option<Vec<Part>> {
        if depth > MAX_DEPTH {
            let error = Diagnostic::error("E0043", self.span, format!("conditions nest more than {MAX_DEPTH} deep"));
            self.out.push(error.help("join them with `&&`"));
            return None;
        }
        let inside = depth > 0;
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let Some(at) = self.rest.find(['{', '}']) else {
                if inside {
                    self.unmatched();
                    return None;
                }
                text.push_str(std::mem::take(&mut self.rest));
                break;
            };
            text.push_str(&self.rest[..at]);
            self.rest = &self.rest[at..];
            if let Some(after) = self.rest.strip_prefix("{{") {
                (text, self.rest) = (text + "{", after);
                continue;
            }
            if let Some(after) = self.rest.strip_prefix('}') {
                // Within a group, the closing brace takes precedence over an escaped brace.
                if inside {
                    self.rest = after;
                    break;
                }
                match after.strip_prefix('}') {
                    Some(after) => (text, self.rest) = (text + "}", after),
                    None => {
                        self.unmatched();
                        return None;
                    }
                }
                continue;
            }
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            self.rest = &self.rest[1..];
            if let Some(after) = self.rest.strip_prefix('?') {
                let Some((condition, tail)) = split_condition(after) else {
                    self.unmatched();
                    return None;
                };
                let blanks = condition.len() - condition.trim_start().len();
                let at = self.whole.len() - after.len() + blanks;
                let condition = self.part(condition.trim(), at);
                self.rest = tail;
                parts.push(Part::If(condition, self.parts(depth + 1)?));
                continue;
            }
            let Some((name, after)) = self.rest.split_once('}') else {
                self.unmatched();
                return None;
            };
            self.rest = after;
            parts.push(match name.strip_prefix(':').map(|column| column.trim().parse()) {
                None => Part::Name(name.to_owned()),
                Some(Ok(column)) => Part::Column(column),
                Some(Err(_)) => {
                    let message = format!("`{{{name}}}` is not a column");
                    let error = Diagnostic::error("E0043", self.span, message);
                    self.out.push(error.help("write a number from 0 to 255: `{:20}`"));
                    return None;
                }
            });
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Some(parts)
    }
}

/// Splits at the `|` that ends a condition: one that is neither part of `||` nor within parentheses. If there is none,
/// the first `||` is taken as that `|`, followed by a `|` of the text: `{?abs != 0||}`.
fn split_condition(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (mut depth, mut at, mut double) = (0usize, 0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' if depth == 0 => break,
            b')' | b'}' | b']' => depth -= 1,
            b'|' if bytes.get(at + 1) == Some(&b'|') => {
                double = double.or((depth == 0).then_some(at));
                at += 1;
            }
            b'|' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
        at += 1;
    }
    double.map(|at| (&text[..at], &text[at + 1..]))
}

/// Reports a name that is not valid in a template.
pub(super) fn unknown(out: &mut Diagnostics, template: Span, owner: Span, name: &str, names: &[&str]) {
    let message = format!("unknown name `{name}`");
    let mut error = Diagnostic::error("E0044", template, message).label("in this template");
    error = error.note(format!("it may have {}", one_of(names.iter().map(|name| format!("{{{name}}}")))));
    out.push(match did_you_mean(name, names.iter().copied()) {
        Some(near) => error.secondary(owner, "of this").help(format!("did you mean `{{{near}}}`?")),
        None => error.rival(owner, "of this, which has no such name"),
    });
}
