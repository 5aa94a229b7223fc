//! Parses YAML to a tree in which every key and value has its place.
//!
//! Scalars follow YAML 1.2 (`yes` and `on` are text), with three additions for instruction sets: `0b` numbers,
//! underscores between digits, and whole numbers of up to 128 bits. Keys are always text, spelt as in the file: `0x10`
//! and `15..12` are valid keys. Anchors and aliases are supported; merge keys (`<<`) and custom tags are not.

mod partner;

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Location};

use crate::diagnostic::{Diagnostic, Diagnostics, unseen_error};
use crate::source::{FileId, Sources, Span, Spanned, unseen};

/// The maximum nesting of lists and maps, including aliases. Without optimisation, a level takes about 40 kB of stack,
/// and the thread of a test has 2 MB.
const MAX_DEPTH: usize = 32;

/// A value and its place. The span of a list or map in brackets ends with the closing bracket, that of a block one with
/// its last value. The span of a value reached through an alias is that of the anchor.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where the value was written.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// The value of a [`Node`].
#[derive(Clone, Debug)]
pub enum Value {
    /// Null: empty, `~` or `null`.
    Null,
    /// Exactly `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a decimal point or an exponent.
    Float(f64),
    /// Text, quoted or not.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in file order, without duplicate keys.
    Map(Vec<(Spanned<String>, Node)>),
}

impl Value {
    /// Describes the kind of value, with the content of a scalar, for messages: `a list`, ``text `foo` ``, ``the number
    /// `3` ``.
    pub fn describe(&self) -> String {
        match self {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Int(value) => format!("the number `{value}`"),
            Value::Float(value) => format!("the number `{value}`"),
            Value::Text(text) if text.is_empty() => "empty text".to_owned(),
            Value::Text(text) if text.contains('\n') || text.chars().count() > 40 => "text".to_owned(),
            Value::Text(text) => format!("text `{text}`"),
            Value::List(items) if items.is_empty() => "an empty list".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(entries) if entries.is_empty() => "an empty map".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

/// Reads a file that is one YAML document. `None` after an error from which reading cannot continue (E0001). A
/// duplicate key (E0002) keeps its first value. An empty file is `Value::Null`.
pub fn read_yaml(sources: &Sources, file: FileId, out: &mut Diagnostics) -> Option<Node> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: 1_000_000,
            max_events: 4_000_000,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        leading_zero_numbers_as_strings: true,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Raw>(sources.text(file), options) {
        Ok(raw) => Builder { sources, file, out }.node(raw),
        Err(error) => {
            out.push(explain(sources, file, error.without_snippet()));
            None
        }
    }
}

/// A node as returned by the parser, with the parser's locations, and with nodes as keys.
struct Raw(serde_saphyr::Spanned<RawValue>);

enum RawValue {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_saphyr::Spanned::deserialize(deserializer).map(Raw)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        Ok(RawValue::Int(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawValue, E> {
        Ok(RawValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<RawValue, E> {
        Ok(RawValue::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(RawValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RawValue, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key()? {
            map.push((key, entries.next_value()?));
        }
        Ok(RawValue::Map(map))
    }
}

struct Builder<'a> {
    sources: &'a Sources,
    file: FileId,
    out: &'a mut Diagnostics,
}

impl Builder<'_> {
    fn node(&mut self, raw: Raw) -> Option<Node> {
        let span = self.span(raw.0.defined);
        Some(match raw.0.value {
            RawValue::Null => Node { span, value: Value::Null },
            RawValue::Bool(value) => Node { span, value: Value::Bool(value) },
            RawValue::Int(value) => Node { span, value: Value::Int(value) },
            RawValue::Float(value) => Node { span, value: self.wide(span).map_or(Value::Float(value), Value::Int) },
            RawValue::Text(text) => {
                self.only_seen(span, &text);
                let is_plain = self.sources.snippet(span) == text;
                if is_plain {
                    self.stray_quote(span, &text);
                }
                let wide = if is_plain { self.wide(span) } else { None };
                Node { span: self.without_last_break(span), value: wide.map_or(Value::Text(text), Value::Int) }
            }
            RawValue::List(items) => {
                let mut end = span.end;
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    let here = self.extent(&item);
                    let item = self.node(item)?;
                    end = end.max(here.unwrap_or(item.span.end));
                    list.push(item);
                }
                Node { span: self.closed(Span { end, ..span }), value: Value::List(list) }
            }
            RawValue::Map(entries) => {
                let mut end = span.end;
                let mut map = Vec::with_capacity(entries.len());
                let mut first: HashMap<String, Span> = HashMap::new();
                for (key, value) in entries {
                    let here = self.extent(&value);
                    let key = self.key(key);
                    let value = self.node(value)?;
                    let key = key?;
                    end = end.max(key.span.end).max(here.unwrap_or(value.span.end));
                    if let Some(&earlier) = first.get(&key.value) {
                        let message = format!("the key `{}` is given twice", key.value);
                        self.out.push(
                            Diagnostic::error("E0002", key.span, message)
                                .label("again here")
                                .secondary(earlier, "first given here"),
                        );
                        continue;
                    }
                    first.insert(key.value.clone(), key.span);
                    map.push((key, value));
                }
                Node { span: self.closed(Span { end, ..span }), value: Value::Map(map) }
            }
        })
    }

    /// Reports an invisible character.
    fn only_seen(&mut self, span: Span, text: &str) {
        let Some((_, found)) = unseen(text) else { return };
        // The text may contain the character itself, or an escape for it in quotes.
        let written = unseen(self.sources.snippet(span)).filter(|(_, written)| *written == found);
        let place = written.map_or(span, |(at, found)| span.slice(at..at + found.len_utf8()));
        self.out.push(unseen_error(place, found));
    }

    /// A quote within plain text is part of the text, which is seldom intended.
    fn stray_quote(&mut self, span: Span, text: &str) {
        let (line, _) = self.sources.line_start(self.file, span.start as usize);
        let before = &self.sources.text(self.file)[line..span.start as usize];
        // A block of text begins on its own line, and quotes in it are ordinary characters.
        if text.matches('"').count() % 2 == 1 && !before.trim().is_empty() {
            let message = format!("unmatched quote in `{}`", text.lines().next().unwrap_or_default());
            let error = Diagnostic::error("E0005", span, message);
            self.out.push(error.help("put the text in quotes; a quote in it is written `\\\"`"));
        }
    }

    fn key(&mut self, raw: Raw) -> Option<Spanned<String>> {
        let span = self.span(raw.0.defined);
        match raw.0.value {
            RawValue::Text(text) => {
                self.only_seen(span, &text);
                if self.sources.snippet(span) == text && text.contains('"') {
                    let error = Diagnostic::error("E0005", span, format!("unmatched quote in `{text}`"));
                    self.out.push(error.help("put the key in quotes, at its start and at its end"));
                    // Under its likely name, it is not reported again as unknown.
                    return Some(Spanned::new(text.replace('"', ""), span));
                }
                Some(Spanned::new(text, span))
            }
            RawValue::List(_) | RawValue::Map(_) => {
                let error = Diagnostic::error("E0001", span, "a key must be one word or text, not a list or map");
                self.out.push(error.help("put the key in quotes if it is meant to begin with a bracket"));
                None
            }
            _ => Some(Spanned::new(self.sources.snippet(span).to_owned(), span)),
        }
    }

    /// The end of an alias in this file, if `raw` is one; its own span is that of the anchor.
    fn extent(&self, raw: &Raw) -> Option<u32> {
        (raw.0.referenced != raw.0.defined).then(|| self.span(raw.0.referenced).end)
    }

    fn span(&self, location: Location) -> Span {
        byte_span(self.file, location).unwrap_or_else(|| place_of(self.sources, self.file, location))
    }

    /// A whole number beyond 64 bits, which the parser returns as text or as a float.
    fn wide(&self, span: Span) -> Option<i128> {
        let text = self.sources.snippet(span);
        let (negative, digits) = match text.as_bytes() {
            [b'-', ..] => (true, &text[1..]),
            [b'+', ..] => (false, &text[1..]),
            _ => (false, text),
        };
        let (radix, digits) = match digits.get(..2) {
            Some("0x") => (16, &digits[2..]),
            Some("0o") => (8, &digits[2..]),
            Some("0b") => (2, &digits[2..]),
            _ if digits.starts_with('0') => return None,
            _ => (10, digits),
        };
        if digits.starts_with(['_', '+', '-']) || digits.ends_with('_') {
            return None;
        }
        let value = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
        let value = if negative { -value } else { value };
        (i64::try_from(value).is_err() && u64::try_from(value).is_err()).then_some(value)
    }

    /// Removes the trailing line breaks that the parser includes in block scalars.
    fn without_last_break(&self, span: Span) -> Span {
        let text = self.sources.snippet(span);
        span.slice(0..text.trim_end_matches(['\n', '\r']).len())
    }

    /// Extends the span of a list or map in brackets from its last value to the closing bracket.
    fn closed(&self, span: Span) -> Span {
        let text = self.sources.text(self.file);
        let close = match text.as_bytes().get(span.start as usize) {
            Some(b'[') => b']',
            Some(b'{') => b'}',
            _ => return span,
        };
        let bytes = text.as_bytes();
        let mut at = (span.end as usize).max(span.start as usize + 1);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                _ if byte == close => return Span { end: at as u32 + 1, ..span },
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => at += 1,
                b'#' => at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at),
                _ => break,
            }
        }
        span
    }
}

fn byte_span(file: FileId, location: Location) -> Option<Span> {
    let start = usize::try_from(location.span().byte_offset()?).ok()?;
    let length = usize::try_from(location.span().byte_len()?).ok()?;
    Some(Span::new(file, start..start.saturating_add(length)))
}

/// The place of an error, or the character at its line and column if it has no byte offsets.
fn place_of(sources: &Sources, file: FileId, location: Location) -> Span {
    if let Some(span) = byte_span(file, location).filter(|span| span.start < span.end) {
        return span;
    }
    let text = sources.text(file);
    let at = sources.offset_of(file, location.line() as usize, location.column() as usize);
    let length = text[at..].chars().next().filter(|&found| found != '\n' && found != '\r').map_or(0, char::len_utf8);
    Span::new(file, at..at + length)
}

fn explain(sources: &Sources, file: FileId, error: &Error) -> Diagnostic {
    let inner = match error {
        Error::AliasError { error, .. } => error.as_ref().without_snippet(),
        other => other,
    };
    let place = |location| place_of(sources, file, location);
    let place_in_text = inner.location().or_else(|| error.location()).map_or(Span::new(file, 0..0), place);
    // A mistake in an expansion is reported at the alias, not at the value it stands for.
    let alias = error.locations().filter(|found| found.reference_location != found.defined_location);
    let span = alias.map_or(place_in_text, |found| place(found.reference_location));
    let new = |message: String| Diagnostic::error("E0001", span, message);
    match inner {
        Error::MultipleDocuments { .. } => new("the file holds more than one YAML document".to_owned())
            .label("a second one begins here")
            .help("remove the line `---`, or make it two files"),
        Error::MergeKeyNotAllowed { .. } => new("merge keys (`<<`) are not supported".to_owned())
            .help("write the keys out, or put `<<` in quotes if it is a name"),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            new("this alias is inside the value that it refers to".to_owned())
                .label("the anchor's value is not complete here")
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            new("the aliases of this file expand to more than a spec can need".to_owned())
                .note("aliases of aliases multiply: ten times ten times ten lists are a thousand")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(new),
        Error::Budget { .. } => new(format!("this is larger than a spec may be: {}", plain(inner))),
        // The scanner limits the nesting of brackets itself, and has no error type for it.
        _ if plain(inner) == "recursion limit exceeded" => too_deep(new),
        _ => {
            let message = format!("not well-formed YAML: {}", plain(inner));
            let line = |at: usize| sources.line_start(file, at).1;
            let text = sources.text(file);
            // For mismatched brackets, the reported place is the start of the outer one.
            let until = if message.contains("mismatched bracket") { text.len() } else { span.start as usize };
            let partner = partner::without_partner(text, until);
            match partner.filter(|(range, _)| line(range.start) != line(span.start as usize)) {
                // The parser stops where it cannot continue, which is after the mistake.
                Some((range, what)) => Diagnostic::error("E0001", Span::new(file, range), message)
                    .label(what)
                    .secondary(span, "reading stopped here"),
                None => new(message),
            }
        }
    }
}

fn too_deep(new: impl Fn(String) -> Diagnostic) -> Diagnostic {
    new(format!("lists and maps nest deeper than {MAX_DEPTH}")).label("too deep from here on")
}

/// The parser's message without its location.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    let place = error.location().map(|place| format!(" at line {}, column {}", place.line(), place.column()));
    let text = place.and_then(|place| text.strip_suffix(&place).map(str::to_owned)).unwrap_or(text);
    text.lines().next().unwrap_or_default().to_owned()
}
