//! Reads numbers and strings in source code: C arrays, elements that are assigned one by one, JSON, and strings with
//! escapes.

use super::Dump;
use super::escapes::unescaped;
use super::row::Token;
use crate::mistakes::Mistake;
use crate::numbers::{place, without_suffix};
use crate::order::Order;
use crate::output::count;

/// What source code contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Numbers, or bytes of strings.
    Numbers(Dump),
    /// Strings of hexadecimal digits: their contents, one per line, and notes.
    Digits(String, Vec<String>),
}

/// An element of a list: its value, the number of bytes that its digits need, and its place in the text.
#[derive(Clone, Copy)]
struct Element {
    value: u64,
    bytes: usize,
    at: usize,
}

/// A list of numbers.
#[derive(Default)]
struct List {
    elements: Vec<Element>,
    /// The size of an element in bytes, if it is declared.
    size: Option<usize>,
    /// Whether a number begins with `0x`.
    is_hexadecimal: bool,
    /// Whether it has strings of digits.
    has_strings: bool,
    /// The index of the next element, of those that are assigned one by one.
    next: Option<u64>,
}

/// A line outside of lists and strings.
struct Outside<'t> {
    at: usize,
    line: &'t str,
    /// Whether a part of the line belongs to a list or a string.
    is_mixed: bool,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    lists: Vec<List>,
    /// Strings of hexadecimal digits in lists, and others.
    digits: [Vec<&'t str>; 2],
    /// The bytes of strings with escapes.
    bytes: Vec<u8>,
    outside: Vec<Outside<'t>>,
    /// The start of what is outside, and whether a list or a string is before it in its line.
    open: (usize, bool),
}

/// Fewer decimal numbers than this in brackets are rather an index.
const FEW: usize = 4;

/// The maximum length of a declaration before a list.
const LONG: usize = 256;

/// Finds lists and strings in a text. `None` if it has none of them, or other lines with digits that are no list.
/// `size` is the number of bytes of a word.
///
/// # Errors
/// When a list or string of code contains something else, or when digits stand beside it.
pub fn read(text: &str, size: usize) -> Result<Option<Source>, Mistake> {
    if !text.contains(['{', '[', '"', '\'']) {
        return Ok(None);
    }
    let text = without_comments(text);
    let mut reader = Reader {
        text: &text,
        at: 0,
        lists: Vec::new(),
        digits: Default::default(),
        bytes: Vec::new(),
        outside: Vec::new(),
        open: (0, false),
    };
    reader.all()?;
    reader.found(size)
}

pub(super) fn mistake(text: &str, at: usize, message: String, help: &str) -> Mistake {
    Mistake { place: place(text, at), message, help: help.to_owned() }
}

/// The start of a text, for a message.
pub(super) fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(48).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// Replaces comments, and lines for a preprocessor, by blanks, so that places stay the same.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let blank =
        |out: &mut String, text: &str| out.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    let mut rest = text;
    while let Some(at) = rest.find(['/', '#']) {
        let (before, comment) = rest.split_at(at);
        out.push_str(before);
        let starts_line =
            || out.trim_end_matches([' ', '\t']).is_empty() || out.trim_end_matches([' ', '\t']).ends_with('\n');
        let end = match comment.as_bytes() {
            [b'/', b'/', ..] => comment.find('\n').unwrap_or(comment.len()),
            [b'/', b'*', ..] => comment[2..].find("*/").map_or(comment.len(), |end| end + 4),
            [b'#', ..] if starts_line() => comment.find('\n').unwrap_or(comment.len()),
            _ => 0,
        };
        if end == 0 {
            out.push_str(&comment[..1]);
            rest = &comment[1..];
        } else {
            blank(&mut out, &comment[..end]);
            rest = &comment[end..];
        }
    }
    out + rest
}

/// The size of an array's elements in bytes, from the declaration before its brace.
fn size_of_element(declared: &str) -> Option<usize> {
    let (ty, _name) = declared.rsplit(';').next()?.split('[').next()?.trim_end().rsplit_once([' ', '\t', '\n'])?;
    let names = ["64", "long long", "32", "16", "short", "8", "char", "byte", "int"].into_iter();
    names.zip([8, 8, 4, 2, 2, 1, 1, 1, 4]).find_map(|(name, bytes)| ty.contains(name).then_some(bytes))
}

/// Parses a number as C writes it. Also says whether it begins with `0x`.
fn number(token: &str, at: usize) -> Option<(Element, bool)> {
    let significant = |value: u64| (64 - value.leading_zeros() as usize).div_ceil(8).max(1);
    let (digits, is_prefixed) = without_suffix(token).unwrap_or_default();
    if is_prefixed {
        let digits = digits.replace('_', "");
        let value = u64::from_str_radix(&digits, 16).ok()?;
        return Some((Element { value, bytes: digits.len().div_ceil(2).max(significant(value)), at }, true));
    }
    let value = token.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?;
    Some((Element { value, bytes: significant(value), at }, false))
}

/// Whether a text is hexadecimal digits that may be code: at least eight of them, or as many as `fewest`.
fn is_digits(text: &str, fewest: usize) -> bool {
    let mut all = 0;
    let mut tokens = text.split([' ', ',', '\t']).filter(|token| !token.is_empty());
    let ok = tokens.all(|token| {
        all += token.len();
        without_suffix(token).is_some_and(|(digits, is_prefixed)| is_prefixed || digits.len() == token.len())
    });
    ok && (all >= 8 || all == fewest || all > 2 && text.starts_with("0x"))
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// What is before a place, from another one on, but not more than a declaration needs.
    fn before(&self, from: usize, to: usize) -> &'t str {
        let mut from = from.max(to.saturating_sub(LONG));
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        self.text.get(from..to).unwrap_or_default()
    }

    /// Ends what is outside at a place, and continues after another one.
    fn close(&mut self, end: usize, next: usize) {
        let (start, mut is_mixed) = self.open;
        let continues = next > end;
        let mut at = start;
        for line in self.text.get(start..end).unwrap_or_default().split_inclusive('\n') {
            let is_last = at + line.len() == end && !line.ends_with('\n');
            is_mixed |= is_last && continues;
            if !line.trim().is_empty() {
                self.outside.push(Outside { at, line: line.trim(), is_mixed });
            }
            at += line.len();
            is_mixed &= !line.ends_with('\n');
        }
        self.open = (next, continues || is_mixed);
    }

    fn all(&mut self) -> Result<(), Mistake> {
        while let Some(skip) = self.rest().find(['{', '[', '"', '\'']) {
            self.at += skip;
            let start = self.at;
            let quote = self.rest().as_bytes()[0];
            if matches!(quote, b'"' | b'\'') {
                if self.string(false)? == Some(true) {
                    self.close(start, self.at);
                }
                continue;
            }
            let line = self.before(0, start).rsplit('\n').next().unwrap_or_default();
            if quote == b'[' {
                if let Some((index, after)) = self.index() {
                    self.indexed(line, index, after)?;
                    continue;
                }
                if line.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    self.at += 1;
                    continue;
                }
            }
            // `source_sha1: {0x…}` in a log says something about the code.
            let named = line.trim_end().strip_suffix(':').is_some_and(|name| !name.ends_with(['"', '\'']));
            let is_fact = quote == b'{' && named;
            match self.list() {
                Ok(Some(_)) | Err(_) if is_fact => {}
                Ok(Some(mut list)) => {
                    list.size = size_of_element(self.before(self.open.0, start));
                    let is_index = quote == b'[' && !list.is_hexadecimal && list.elements.len() < FEW;
                    if let Some(element) = list.elements.first().filter(|_| list.has_strings) {
                        let message = "a list has both numbers and strings of digits".to_owned();
                        return Err(mistake(self.text, element.at, message, "give the words alone"));
                    }
                    if list.has_strings || !list.elements.is_empty() && !is_index {
                        self.close(start, self.at);
                        self.lists.extend(Some(list).filter(|list| !list.elements.is_empty()));
                    }
                }
                Ok(None) => self.at = self.at.max(start + 1),
                Err(mistake) => return Err(mistake),
            }
        }
        let end = self.text.len();
        self.close(end, end);
        Ok(())
    }

    /// The index in `[INDEX] =`, and the place after it.
    fn index(&self) -> Option<(u64, usize)> {
        let inner = self.rest().strip_prefix('[')?;
        let end = inner.bytes().take(24).position(|byte| byte == b']')?;
        let (index, after) = (&inner[..end], &inner[end + 1..]);
        let (element, _) = number(index.trim(), 0)?;
        let value = after.trim_start_matches([' ', '\t']).strip_prefix('=').filter(|rest| !rest.starts_with('='))?;
        Some((element.value, self.text.len() - value.len()))
    }

    /// Reads a number that is assigned to an element outside of a list.
    fn indexed(&mut self, line: &str, index: u64, after: usize) -> Result<(), Mistake> {
        let start = self.at;
        self.at = after;
        self.blanks();
        let (token, at) = (self.token(), self.at);
        let Some((element, is_hexadecimal)) = number(token, at) else { return Ok(()) };
        self.at += token.len();
        let is_next = self.lists.last().is_some_and(|list| list.next.is_some());
        if !is_next {
            self.lists.push(List { next: Some(index), size: size_of_element(line), ..List::default() });
        }
        let Some(list) = self.lists.last_mut() else { return Ok(()) };
        if list.next != Some(index) {
            let message = format!("element {index} follows element {}", list.next.unwrap_or(0).wrapping_sub(1));
            return Err(mistake(self.text, start, message, "give all elements in order"));
        }
        list.next = index.checked_add(1);
        list.is_hexadecimal |= is_hexadecimal;
        list.elements.push(element);
        let line = self.text[self.open.0..start].rfind('\n').map_or(self.open.0, |at| self.open.0 + at + 1);
        self.close(line, self.at);
        let end = self.rest().trim_start_matches([' ', '\t', ',', ';']);
        self.at = self.text.len() - end.len();
        self.open.0 = self.at;
        Ok(())
    }

    /// The characters up to the next separator.
    fn token(&self) -> &'t str {
        let rest = self.rest();
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '{' | '}' | '[' | ']' | ')' | '"' | '\'');
        &rest[..rest.find(is_end).unwrap_or(rest.len())]
    }

    /// Reads a list of numbers and strings, which may contain lists. If it contains something else, `None` and the
    /// place of that.
    fn list(&mut self) -> Result<Option<List>, Mistake> {
        let start = self.at;
        let (mut list, mut depth) = (List::default(), 0usize);
        let mut is_keyed = false;
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
            let here = self.at;
            match self.rest().bytes().next() {
                None if list.is_hexadecimal || list.has_strings => {
                    return Err(mistake(self.text, start, "this list has no end".to_owned(), "is the text cut off?"));
                }
                None => return Ok(None),
                Some(b'{' | b'[') => match self.index().filter(|_| depth > 0) {
                    Some((_, after)) => self.at = after,
                    None => (self.at, depth) = (here + 1, depth + 1),
                },
                Some(b'}' | b']') => {
                    (self.at, depth) = (here + 1, depth - 1);
                    if depth == 0 {
                        return Ok(Some(list));
                    }
                }
                Some(b'"' | b'\'') => {
                    match self.string(!is_keyed)? {
                        None => return Ok(None),
                        Some(is_code) => list.has_strings |= is_code,
                    }
                    let after = self.rest().trim_start();
                    if after.starts_with(':') {
                        self.at = self.text.len() - after.len() + 1;
                        is_keyed = true;
                        continue;
                    }
                }
                Some(b'b' | b'B') if self.rest()[1..].starts_with(['"', '\'']) => self.at += 1,
                Some(_) => {
                    let token = self.token();
                    match number(token, here) {
                        Some((_, false)) if is_keyed => {}
                        Some((element, is_hexadecimal)) => {
                            list.is_hexadecimal |= is_hexadecimal;
                            list.elements.push(element);
                        }
                        None if list.is_hexadecimal => {
                            let token = if token.is_empty() { shown(self.rest()) } else { shown(token) };
                            let message = format!("`{token}` in a list of numbers is not a number of at most 64 bits");
                            let help = "write it in hexadecimal digits with `0x`, or leave it out";
                            return Err(mistake(self.text, here, message, help));
                        }
                        None => {
                            self.at = here.max(start + 1);
                            return Ok(None);
                        }
                    }
                    self.at += token.len();
                }
            }
            is_keyed = false;
        }
    }

    /// Reads a string. Returns whether it holds code; `None` if it is no string.
    fn string(&mut self, in_list: bool) -> Result<Option<bool>, Mistake> {
        let start = self.at + 1;
        let quote = self.rest().chars().next().unwrap_or('"');
        let text = self.text;
        let rest = &text[start..];
        let mut is_escaped = false;
        let end = rest.char_indices().take_while(|(_, c)| *c != '\n').find(|(_, c)| {
            let is_end = *c == quote && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        let Some((end, _)) = end else {
            self.at = start + rest.find('\n').unwrap_or(rest.len());
            return Ok(None);
        };
        let content = &rest[..end];
        let is_bytes = self.text[..self.at].ends_with(['b', 'B']);
        let is_code = content.contains("\\x");
        let is_digits = is_digits(content, if in_list { 2 } else { 8 });
        if quote == '\'' && !is_code && !is_digits && !in_list {
            // An apostrophe.
            self.at = if content.contains('\\') { start + end + 1 } else { start };
            return Ok(None);
        }
        self.at = start + end + 1;
        if is_code {
            self.bytes.extend(unescaped(self.text, start, content, is_bytes)?);
            return Ok(Some(true));
        }
        let is_key = self.rest().trim_start().starts_with(':');
        if is_key || !is_digits {
            return Ok(Some(false));
        }
        self.digits[usize::from(!in_list)].push(content);
        Ok(Some(true))
    }
}

impl Reader<'_> {
    fn found(mut self, size: usize) -> Result<Option<Source>, Mistake> {
        self.lists.retain(|list| list.next.is_none() || list.is_hexadecimal);
        let is_hexadecimal = self.lists.iter().any(|list| list.is_hexadecimal);
        let in_strings = !self.bytes.is_empty() || self.digits.iter().any(|digits| !digits.is_empty());
        if !in_strings && self.lists.is_empty() {
            return Ok(None);
        }
        if is_hexadecimal && in_strings {
            let at = self.lists.iter().find(|list| list.is_hexadecimal).map_or(0, |list| list.elements[0].at);
            let message = "a list of numbers stands beside strings of code".to_owned();
            return Err(mistake(self.text, at, message, "give one of them alone"));
        }
        let mut skipped: Option<(usize, &str, usize)> = None;
        for Outside { at, line, is_mixed } in std::mem::take(&mut self.outside) {
            let tokens = || line.split(|c: char| c.is_whitespace() || c == ',').filter(|token| !token.is_empty());
            let is_long = |token: &str| {
                let known = without_suffix(token.trim_end_matches(';'));
                known.is_some_and(|(digits, is_prefixed)| is_prefixed || digits.len() >= 8)
            };
            if !is_mixed && tokens().all(|token| is_long(token) && !token.ends_with(';')) && is_hexadecimal {
                let mut list = List { is_hexadecimal: true, ..List::default() };
                for token in tokens() {
                    let at = token.as_ptr() as usize - self.text.as_ptr() as usize;
                    let token = if token.starts_with("0x") { token.to_owned() } else { format!("0x{token}") };
                    let (element, _) = number(&token, at).ok_or_else(|| {
                        mistake(
                            self.text,
                            at,
                            format!("`{}` has more than 64 bits", shown(&token)),
                            "separate the words",
                        )
                    })?;
                    list.elements.push(element);
                }
                self.lists.push(list);
            } else if !is_mixed && super::listing::is_like(line) {
                // The lists of a log are not its code.
                if !self.lists.iter().any(|list| list.size.is_some()) && !in_strings {
                    return Ok(None);
                }
                let message = format!("`{}` stands beside code in a list or a string", shown(line));
                return Err(mistake(self.text, at, message, "give the list alone, or the digits"));
            } else if tokens().any(is_long) {
                let first = skipped.map_or((at, line), |(at, line, _)| (at, line));
                skipped = Some((first.0, first.1, skipped.map_or(0, |(.., all)| all) + 1));
            }
        }
        let mut notes = Vec::new();
        if let Some((at, line, all)) = skipped {
            let number = self.text[..at].matches('\n').count() + 1;
            let (lines, line) = (count(all as u64, "line"), shown(line));
            notes.push(format!("skipped {lines} outside of lists and strings, the first is line {number}: `{line}`"));
        }
        if in_strings && self.bytes.is_empty() {
            let which = usize::from(self.digits[0].is_empty());
            return Ok(Some(Source::Digits(self.digits[which].join("\n"), notes)));
        }
        let mut dump = Dump { notes, ..Dump::default() };
        if !self.bytes.is_empty() {
            let token = |byte: &u8| Token { value: u128::from(*byte), bytes: 1, order: Some(Order::Memory) };
            (dump.lines, dump.tokens) = (vec![0], self.bytes.iter().map(token).collect());
            return Ok(Some(Source::Numbers(dump)));
        }
        self.lists.sort_by_key(|list| list.elements.first().map_or(0, |element| element.at));
        for list in &self.lists {
            let widest = list.elements.iter().map(|element| element.bytes).max().unwrap_or(1);
            let bytes = list.size.unwrap_or(widest.next_power_of_two());
            // Words whose size is no power of two are in numbers of the next one.
            let bytes = if widest <= size && bytes > size { size } else { bytes };
            if let Some(element) = list.elements.iter().find(|element| element.bytes > bytes) {
                let message =
                    format!("`{:#x}` has more than the {} of an element", element.value, count(bytes as u64, "byte"));
                return Err(mistake(
                    self.text,
                    element.at,
                    message,
                    "are the declaration and the numbers of one array?",
                ));
            }
            dump.lines.push(dump.tokens.len());
            let token = |one: &Element| Token { value: one.value.into(), bytes, order: Some(Order::Value) };
            dump.tokens.extend(list.elements.iter().map(token));
        }
        Ok(Some(Source::Numbers(dump)))
    }
}
