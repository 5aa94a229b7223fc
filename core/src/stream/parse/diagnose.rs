//! Better reasons for a text that is no instruction, and what to write instead.
//!
//! Parsing records where the most promising attempt failed. Whether another generation has the instruction, and whether
//! there is one of this name at all, is only asked for a text that failed.

use core::cell::Cell;
use core::fmt::{self, Write};

use super::reader::{Expected, Labels, Reader, is_word};
use crate::stream::decode::Engine;
use crate::stream::error::{ParseError, Reason, Wanted};
use crate::stream::table::{Layout, Token, Type};
use crate::suggest::nearest;
use crate::table::Enum;
use crate::text::{Line, Word};

/// The maximum number of other generations in which a text is parsed.
const GENERATIONS: usize = 16;
/// The maximum number of words of a text that are left out to find the default of a field.
const WORDS: usize = 16;
/// The maximum number of names that a suggestion lists.
const LISTED: usize = 16;

/// The name with which the text of a layout starts; `None` if it starts with something else.
pub(in crate::stream) fn mnemonic(layout: &Layout) -> Option<&'static str> {
    let Some(Token::Text(text)) = layout.text.first() else { return None };
    let name = name_at(text.str).trim_end_matches('.');
    Some(name).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Letters, digits and dots at the start of a text.
fn name_at(text: &str) -> &str {
    let len = text.bytes().take_while(|byte| is_word(*byte) || *byte == b'.').count();
    text.get(..len).unwrap_or_default()
}

impl Engine {
    /// Gives a better reason for an error of [`parse_at`](Self::parse_at), if there is one.
    pub(in crate::stream) fn diagnose(&self, text: &str, labels: &dyn Labels, error: ParseError) -> ParseError {
        if matches!(error.reason, Reason::Ambiguous | Reason::OtherWord) || self.stream.sequence.is_some() {
            return error;
        }
        if let Some(reason) = self.other_generation(text, labels) {
            return ParseError { reason, ..error };
        }
        if let Some(error) = self.written_default(text, labels) {
            return error;
        }
        if let Some(error) = self.unfinished(text, labels, &error) {
            return error;
        }
        let reader = Reader::new(*self, text, 0, labels);
        let at = reader.blanks(0);
        // Where the name of an instruction is only the start of a word, there is no such instruction.
        let word = at + reader.rest(at).bytes().take_while(|byte| is_word(*byte)).count();
        let inside = matches!(error.reason, Reason::Expected(_) | Reason::Field(..)) && error.at < word;
        if error.reason != Reason::Unknown && !inside {
            return error;
        }
        let name = name_at(reader.rest(at)).trim_end_matches('.');
        let layouts = || self.stream.layouts_of(0).iter().filter(|layout| self.has(layout));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || layouts().all(|l| mnemonic(l).is_none())
        {
            return error;
        }
        let own = |layout: &&Layout| {
            let rest = mnemonic(layout).and_then(|own| name.strip_prefix(own));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let reason = match layouts().find(own) {
            None => Reason::Mnemonic,
            Some(layout) => match layout.text {
                [Token::Text(start), Token::Field(field), ..] if start.str.strip_suffix('.') == Some(name) => {
                    match layout.fields.get(usize::from(*field)) {
                        Some(field) => match field.ty {
                            Type::Enum(names, _) => Reason::Modifier(field.name, names),
                            _ => return error,
                        },
                        None => return error,
                    }
                }
                _ => return error,
            },
        };
        ParseError { at, len: name.len(), found: Word::new(name), reason }
    }

    /// What is missing at the end of a text, if the value there is wrong in one instruction, but another one goes on after
    /// it: they may share a name.
    fn unfinished(&self, text: &str, labels: &dyn Labels, error: &ParseError) -> Option<ParseError> {
        let end = text.trim_end().len();
        if !matches!(error.reason, Reason::Value(_)) || error.at + error.len != end {
            return None;
        }
        let missing = Cell::new(None);
        self.expected(text, labels, &|next| {
            if let Expected::Text(text) = next {
                missing.set(missing.get().or(Some(text).filter(|text| !text.starts_with(char::is_alphanumeric))));
            }
        });
        let reader = Reader::new(*self, text, 0, labels);
        Some(reader.located(end, 0, Reason::Expected(missing.get()?)))
    }

    /// The name of a default in the text that is an instruction without it.
    fn written_default(&self, text: &str, labels: &dyn Labels) -> Option<ParseError> {
        let bytes = text.as_bytes();
        let is_start =
            |at: &usize| is_word(bytes[*at]) && !at.checked_sub(1).is_some_and(|before| is_word(bytes[before]));
        (0..bytes.len()).filter(is_start).take(WORDS).find_map(|at| {
            let len = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
            let word = text.get(at..at + len)?;
            // With the sign before it, or the blanks after it.
            let sign = at.checked_sub(1).filter(|before| !bytes[*before].is_ascii_whitespace());
            let (before, after) = (text.get(..sign.unwrap_or(at))?, text.get(at + len..)?);
            let mut rest = Line::new();
            let _ = write!(rest, "{before}{}", if before.is_empty() { after.trim_start() } else { after });
            let parsed = self.parse_at(rest.as_str(), 0, 0, labels).ok()?;
            let scope = self.scope(&parsed.decoded);
            let field = scope.layout.fields.iter().zip(0..).find(|(field, index)| match field.ty {
                Type::Enum(names, _) => {
                    let names = self.stream.enums.get(usize::from(names));
                    let value = names.and_then(|names| names.value(scope.value(*index)));
                    value.is_some_and(|value| value.text == word)
                }
                _ => false,
            });
            let reason = Reason::Default(field?.0.name);
            Some(ParseError {
                at: sign.unwrap_or(at),
                len: at + len - sign.unwrap_or(at),
                found: Word::new(word),
                reason,
            })
        })
    }

    /// The generation that has the instruction with this text, if this one does not: the next one, or else the last one
    /// before.
    fn other_generation(&self, text: &str, labels: &dyn Labels) -> Option<Reason> {
        let (first, last) = self.stream.generations;
        let names = self.stream.generation_names;
        let parses = |number: u32| Engine { generation: number, ..*self }.parse_at(text, 0, 0, labels).is_ok();
        // Without names, generations have numbers.
        let most = if names.is_empty() { GENERATIONS } else { 0 };
        let later = (self.generation..=last).skip(1).take(most).map(|number| (number, ""));
        let earlier = (first..self.generation).rev().take(most).map(|number| (number, ""));
        let named = || names.iter().map(|(name, number)| (*number, *name));
        let later = later.chain(named().filter(|(number, _)| *number > self.generation)).take(GENERATIONS);
        let earlier = earlier.chain(named().rev().filter(|(number, _)| *number < self.generation)).take(GENERATIONS);
        let (mut later, mut earlier) = (later, earlier);
        let since = later.find(|(number, _)| parses(*number)).map(|(n, name)| Reason::Since(n, name));
        since.or_else(|| earlier.find(|(number, _)| parses(*number)).map(|(n, name)| Reason::Until(n, name)))
    }

    /// What to write instead of a text that is no instruction; empty if there is nothing to suggest.
    pub fn help(&self, error: &ParseError) -> Help {
        Help(*self, *error)
    }
}

/// What to write instead of a text that is no instruction; see [`Engine::help`].
#[derive(Clone, Copy, Debug)]
pub struct Help(Engine, ParseError);

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Help(Engine { stream, .. }, error) = self;
        let found = error.found.as_str();
        match error.reason {
            Reason::Mnemonic => {
                let all = || stream.layouts_of(0).iter().filter(|layout| self.0.has(layout)).filter_map(mnemonic);
                let first = found.split('.').next().unwrap_or(found);
                match nearest(found, all()).or_else(|| nearest(first, all())) {
                    Some(name) => write!(f, "did you mean `{name}`?"),
                    None => Ok(()),
                }
            }
            Reason::Modifier(_, names) => {
                stream.enums.get(usize::from(names)).map_or(Ok(()), |names| list(f, names, "."))
            }
            Reason::Field(_, Wanted::Name(names)) => {
                let Some(names) = stream.enums.get(usize::from(names)) else { return Ok(()) };
                // A single letter is near to every other.
                let words = names.values.iter().map(|value| value.text).filter(|_| found.len() > 1);
                match nearest(found, words) {
                    Some(name) if !name.is_empty() => write!(f, "did you mean `{name}`?"),
                    _ => list(f, names, ""),
                }
            }
            Reason::Field(_, Wanted::Register(bank)) => {
                let Some(bank) = stream.banks.get(usize::from(bank)) else { return Ok(()) };
                let last = bank.count.saturating_sub(1);
                write!(f, "the registers of `{}` are `{}` to `{}`", bank.name, bank.name(0), bank.name(last.into()))
            }
            Reason::Field(_, Wanted::Operand(set)) => {
                let mut last = "";
                let layouts = stream.layouts_of(set.into()).iter().filter(|layout| self.0.has(layout));
                for (i, layout) in layouts.enumerate().take(LISTED) {
                    if layout.name != last {
                        write!(f, "{} {}", if i == 0 { "it is one of:" } else { "," }, layout.name)?;
                    }
                    last = layout.name;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Lists the values of an enum, each after a sign.
fn list(f: &mut fmt::Formatter<'_>, names: &Enum, sign: &str) -> fmt::Result {
    let named = || names.values.iter().map(|value| value.text).filter(|text| !text.is_empty());
    for (i, name) in named().take(LISTED).enumerate() {
        write!(f, "{} `{sign}{name}`", if i == 0 { "write one of" } else { "," })?;
    }
    match named().count().saturating_sub(LISTED) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
