//! A JSON writer.
//!
//! It is written by hand because the shapes are small and a serializer would slow down builds that use the macro.

use std::fmt::{self, Formatter, Write};

/// The maximum width of a line of indented JSON.
const WIDTH: usize = 120;

/// A value. `{}` writes it in one line. `{:#}` puts each member on its own line where one line would be too wide.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// `null`, a number or a truth value, in its JSON spelling.
    Plain(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// A number or a truth value.
pub(crate) fn plain(value: impl ToString) -> Json {
    Json::Plain(value.to_string())
}

/// A string.
pub(crate) fn string(text: &str) -> Json {
    Json::Text(text.to_owned())
}

/// An array.
pub(crate) fn array(items: impl IntoIterator<Item = Json>) -> Json {
    Json::List(items.into_iter().collect())
}

/// An object.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Map(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if f.alternate() { self.indented(f, 0) } else { self.compact(f) }
    }
}

impl Json {
    fn compact(&self, f: &mut impl Write) -> fmt::Result {
        match self {
            Json::Plain(text) => f.write_str(text),
            Json::Text(text) => quoted(f, text),
            Json::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    f.write_char(if i == 0 { '[' } else { ',' })?;
                    item.compact(f)?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Map(members) => {
                for (i, (name, value)) in members.iter().enumerate() {
                    f.write_char(if i == 0 { '{' } else { ',' })?;
                    quoted(f, name)?;
                    f.write_char(':')?;
                    value.compact(f)?;
                }
                f.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }

    fn indented(&self, f: &mut impl Write, depth: usize) -> fmt::Result {
        let mut line = String::new();
        self.compact(&mut line)?;
        if line.len() + 2 * depth <= WIDTH || matches!(self, Json::Plain(_) | Json::Text(_)) {
            return f.write_str(&line);
        }
        let next =
            |f: &mut dyn Write, i: usize| write!(f, "{}\n{:2$}", if i == 0 { "" } else { "," }, "", 2 * depth + 2);
        let close = match self {
            Json::List(items) => {
                f.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    next(f, i)?;
                    item.indented(f, depth + 1)?;
                }
                ']'
            }
            Json::Map(members) => {
                f.write_char('{')?;
                for (i, (name, value)) in members.iter().enumerate() {
                    next(f, i)?;
                    quoted(f, name)?;
                    f.write_str(": ")?;
                    value.indented(f, depth + 1)?;
                }
                '}'
            }
            Json::Plain(_) | Json::Text(_) => return Ok(()),
        };
        write!(f, "\n{:1$}{close}", "", 2 * depth)
    }
}

fn quoted(f: &mut impl Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
