//! Parses XML to a tree of elements in which every name, attribute and text has its place.
//!
//! Vendor files are edited by hand, so that common mistakes have instructive messages, and all mistakes in a file are
//! reported in one run. A bare `&` or `<` is taken as text, and reading continues after it.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0003 | an encoding other than UTF-8 |
//! | E0006 | an invisible character |
//! | E0010 | not XML: an unterminated tag, comment or section |
//! | E0011 | a bare `&` |
//! | E0012 | a bare `<` |
//! | E0013 | a closing tag that is missing or does not match |
//! | E0014 | an attribute given twice |
//! | E0015 | an attribute without quotes, value or name |
//! | E0016 | an entity that does not exist |
//! | E0017 | text or elements outside of the root element, or no root |
//! | E0018 | nested too deeply |
//! | E0019 | a DOCTYPE |

mod attributes;
mod indentation;

use std::ops::Range;

use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesDecl, BytesStart, Event};

use crate::diagnostic::{Diagnostic, Diagnostics, unseen_error};
use crate::source::{FileId, Sources, Span, Spanned, unseen};
use crate::suggest::did_you_mean;

/// The maximum nesting of elements.
const MAX_DEPTH: usize = 64;
/// How many mistakes are reported before reading stops, since the file is not XML.
const MAX_MISTAKES: usize = 1000;
/// How many bytes may be read again because something that looked like markup was not. Keeps the time linear.
const MAX_REREAD: usize = 1 << 24;
/// The maximum length of an entity's name, in bytes.
const MAX_ENTITY: usize = 32;

/// An element with its attributes, child elements and text.
#[derive(Clone, Debug)]
pub struct Element {
    /// The name in the start tag.
    pub name: Spanned<String>,
    /// The attributes in file order, without duplicate names.
    pub attributes: Vec<Attribute>,
    /// The direct children.
    pub children: Vec<Element>,
    /// The direct text, joined and trimmed, with each run of white space replaced by one space.
    pub text: Spanned<String>,
    /// The start tag, including its brackets.
    pub span: Span,
}

impl Element {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Spanned<String>> {
        self.attributes.iter().find(|attribute| attribute.name.value == name).map(|attribute| &attribute.value)
    }
}

/// An attribute. The span of its value is the text between the quotes.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Spanned<String>,
    /// The value, with entities resolved.
    pub value: Spanned<String>,
}

/// Reads a file that is one XML document, and returns its root element. `None` after a mistake that makes the structure
/// uncertain, which does not include mistakes in text and attribute values.
pub fn read_xml(sources: &Sources, file: FileId, out: &mut Diagnostics) -> Option<Element> {
    let text = sources.text(file);
    if let Some((at, found)) = unseen(text) {
        out.push(unseen_error(Span::new(file, at..at + found.len_utf8()), found));
        return None;
    }
    let mut builder =
        Builder { text, file, out, open: Vec::new(), root: None, mistakes: 0, reread: 0, intact: true, halted: false };
    builder.read();
    let Builder { root, intact, .. } = builder;
    root.filter(|_| intact)
}

/// An element whose end has not been reached.
struct Open {
    element: Element,
    /// The character data so far, as written.
    text: String,
    /// The span of the character data without surrounding white space.
    place: Option<Span>,
}

/// Where to continue after something that the parser misread.
enum Resume {
    /// After the character at this offset, which is text.
    Behind(usize),
    /// At this offset.
    At(usize),
}

struct Builder<'a> {
    text: &'a str,
    file: FileId,
    out: &'a mut Diagnostics,
    open: Vec<Open>,
    root: Option<Element>,
    mistakes: usize,
    /// How many bytes the parser has to read again.
    reread: usize,
    /// Whether the structure of the tree is certain.
    intact: bool,
    /// Whether reading on would only report consequences of earlier mistakes.
    halted: bool,
}

impl<'a> Builder<'a> {
    fn read(&mut self) {
        let text = self.text;
        let mut from = 0;
        loop {
            match self.read_from(from) {
                None => break,
                Some(Resume::At(at)) => from = at,
                Some(Resume::Behind(at)) => {
                    from = text.ceil_char_boundary(at + 1);
                    if !self.open.is_empty() {
                        self.characters(at..from, &text[at..from]);
                    }
                }
            }
        }
        if self.halted {
            return;
        }
        let end = text.trim_end().len();
        if let Some(innermost) = self.open.last() {
            let message = format!("the file ends before `</{}>`", innermost.element.name.value);
            let start = innermost.element.span.range().start;
            let mut error = match self.should_end_at(start, end) {
                Some(place) => Diagnostic::error("E0013", place, message)
                    .label("by the indentation, it is missing here")
                    .secondary(self.span(end..end), "the end"),
                None => Diagnostic::error("E0013", self.span(end..end), message).label("the end"),
            };
            for open in self.open.iter().rev().take(3) {
                error = error.secondary(open.element.span, format!("`<{}>` is opened here", open.element.name.value));
            }
            self.structural(error);
        } else if self.root.is_none() {
            let error = Diagnostic::error("E0017", self.span(end..end), "the file has no root element");
            self.structural(error.help("an XML file is one element, such as `<isa>…</isa>`, with all others inside"));
        }
    }

    /// Reads to the end (`None`), or to something that must be reread.
    fn read_from(&mut self, base: usize) -> Option<Resume> {
        let mut reader = quick_xml::Reader::from_str(&self.text[base..]);
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        let at = |position: u64| base + usize::try_from(position).unwrap_or(0);
        while !self.halted {
            let start = at(reader.buffer_position());
            let event = reader.read_event();
            let range = start..at(reader.buffer_position());
            let resume = match event {
                Ok(Event::Start(tag)) => self.start_tag(&tag, range, false),
                Ok(Event::Empty(tag)) => self.start_tag(&tag, range, true),
                Ok(Event::End(tag)) => self.end_tag(&tag, range),
                Ok(Event::Text(text)) => self.characters(range, &text),
                Ok(Event::CData(text)) => self.characters(range, &text),
                Ok(Event::GeneralRef(_)) => match self.entity(range.clone()) {
                    Some((text, _)) => self.characters(range, &text),
                    None => Some(Resume::Behind(range.start)),
                },
                Ok(Event::DocType(_)) => {
                    let error = Diagnostic::error("E0019", self.span(range), "a DOCTYPE is not allowed");
                    self.structural(error.help("remove it: its entities and defaults would be ignored"));
                    None
                }
                Ok(Event::Decl(declaration)) => {
                    self.encoding(&declaration, range);
                    None
                }
                Ok(Event::Comment(_) | Event::PI(_)) => None,
                Ok(Event::Eof) => return None,
                Err(Error::IllFormed(IllFormedError::UnclosedReference)) => {
                    let amp = at(reader.error_position());
                    self.bare_ampersand(amp);
                    Some(Resume::Behind(amp))
                }
                Err(error) => self.broken_markup(&error, at(reader.error_position())),
            };
            if resume.is_some() {
                return resume;
            }
        }
        None
    }

    /// Texts are read as UTF-8 in any case, so the declaration must name that encoding or none.
    fn encoding(&mut self, declaration: &BytesDecl<'_>, range: Range<usize>) {
        let Some(Ok(encoding)) = declaration.encoding() else { return };
        let encoding = encoding.as_ref().to_owned();
        if !["utf-8", "utf8", "us-ascii"].iter().any(|known| encoding.eq_ignore_ascii_case(known)) {
            let message = format!("the file declares the encoding `{encoding}`, but only UTF-8 is supported");
            let error = Diagnostic::error("E0003", self.span(range), message).label("says so");
            self.report(error.help("convert the file, and write `encoding=\"UTF-8\"`"));
        }
    }

    /// Handles a start tag; `tag` is what the parser found between the brackets of `range`.
    fn start_tag(&mut self, tag: &BytesStart<'_>, range: Range<usize>, empty: bool) -> Option<Resume> {
        let name = tag.name();
        let name = name.as_ref();
        let raw = &self.text[range.clone()];
        let inner = raw[1..].find('<').map(|index| index + 1);
        let is_malformed =
            !is_name(name) || tag.attributes().any(|found| found.is_err_and(|error| is_syntax_error(&error)));
        // If another `<` follows, either this one is a character in a text, or a quote or bracket is missing from a
        // tag.
        if !is_name(name) || (is_malformed && inner.is_some()) {
            self.reread(raw.len());
        }
        let cut = inner.filter(|_| is_malformed).map(|inner| raw.find('>').map_or(inner, |close| inner.min(close + 1)));
        if !is_name(name) || cut.is_some_and(|cut| !has_attribute(&raw[..cut])) {
            self.bare_angle(range.start);
            return Some(Resume::Behind(range.start));
        }
        let end = range.start + cut.unwrap_or(raw.len());
        let span = self.span(range.start..range.start + raw[..end - range.start].trim_end().len());
        if self.open.len() >= MAX_DEPTH {
            let message = format!("elements nest deeper than {MAX_DEPTH}");
            self.structural(Diagnostic::error("E0018", span, message));
            self.halted = true;
            return None;
        }
        if self.open.is_empty()
            && let Some(root) = &self.root
        {
            let error = Diagnostic::error("E0017", span, format!("a second root element, `<{name}>`"))
                .secondary(root.span, format!("the root is `<{}>`", root.name.value))
                .help("an XML file is one element with all others inside");
            self.structural(error);
        }
        let attributes = match cut {
            None => self.attributes(tag, range.start + 1),
            Some(cut) => {
                if raw[cut..].starts_with('<') {
                    let error =
                        Diagnostic::error("E0010", span, format!("`<{name}>` is not closed before the next tag"));
                    self.structural(error.label("`>` is missing after this"));
                }
                let content = raw[1..cut].trim_end_matches(['>', '/']);
                self.attributes(&BytesStart::from_content(content, name.len()), range.start + 1)
            }
        };
        let name_start = range.start + 1;
        let element = Element {
            name: Spanned::new(name.to_owned(), self.span(name_start..name_start + name.len())),
            attributes,
            children: Vec::new(),
            text: Spanned::new(String::new(), span.after()),
            span,
        };
        self.open.push(Open { element, text: String::new(), place: None });
        let empty = cut.map_or(empty, |cut| raw[..cut].ends_with("/>"));
        if empty {
            self.close();
        }
        cut.map(|_| Resume::At(end))
    }

    fn end_tag(&mut self, name: &str, range: Range<usize>) -> Option<Resume> {
        if !is_name(name) {
            self.bare_angle(range.start);
            return Some(Resume::Behind(range.start));
        }
        let span = self.span(range);
        let names = |open: &Open| open.element.name.value == name;
        let Some(innermost) = self.open.last() else {
            let error = Diagnostic::error("E0013", span, format!("`</{name}>` closes nothing"));
            self.structural(error.label("no element is open here"));
            return None;
        };
        if names(innermost) {
            self.close();
            return None;
        }
        let (inner, opened) = (innermost.element.name.value.clone(), innermost.element.span);
        let outer = self.open.iter().rposition(names);
        let error = match outer {
            Some(_) => self.not_closed(&inner, opened, name, span),
            None => self.not_opened(&inner, opened, name, span),
        };
        self.structural(error);
        match outer {
            Some(outer) => {
                while self.open.len() > outer {
                    self.close();
                }
            }
            // A misspelt name closes the element it was meant for; any other closing tag is ignored.
            None if did_you_mean(name, [inner.as_str()]).is_some() => self.close(),
            None => {}
        }
        None
    }

    /// Closes the innermost open element.
    fn close(&mut self) {
        let Some(Open { mut element, text, place }) = self.open.pop() else { return };
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        element.text = Spanned::new(words.join(" "), place.unwrap_or(element.text.span));
        match self.open.last_mut() {
            Some(parent) => parent.element.children.push(element),
            None => {
                self.root.get_or_insert(element);
            }
        }
    }

    /// Adds `text`, which is written at `range` in the file, to the innermost element.
    fn characters(&mut self, range: Range<usize>, text: &str) -> Option<Resume> {
        let written = &self.text[range.clone()];
        let start = range.start + written.len() - written.trim_ascii_start().len();
        let span = self.span(start..start + written.trim_ascii().len());
        if let Some(open) = self.open.last_mut() {
            open.text.push_str(text);
            if span.start < span.end {
                open.place = Some(open.place.map_or(span, |place| place.to(span)));
            }
        } else if span.start < span.end {
            let error = Diagnostic::error("E0017", span, "text outside the root element");
            self.structural(error.label("this belongs to no element"));
        }
        None
    }

    /// The text of the entity at the start of `range`, and its length; `None` for a bare `&`, which is reported.
    fn entity(&mut self, range: Range<usize>) -> Option<(String, usize)> {
        let rest = &self.text[range.clone()];
        let name = rest.get(1..).and_then(|rest| rest.split_once(';')).map_or("", |(name, _)| name);
        let is_numeric =
            name.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if name.len() > MAX_ENTITY || !(is_numeric || is_name(name)) {
            self.bare_ampersand(range.start);
            return None;
        }
        let length = name.len() + 2;
        let text = match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            _ => {
                if let Some(found) = numeric_entity(name) {
                    return Some((found.to_string(), length));
                }
                let span = self.span(range.start..range.start + length);
                let mut error = Diagnostic::error("E0016", span, format!("there is no entity `&{name};`"));
                if let Some(near) = did_you_mean(name, ["amp", "lt", "gt", "quot", "apos"]) {
                    error = error.help(format!("did you mean `&{near};`?"));
                }
                let known =
                    "known are `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and characters by number such as `&#176;`";
                self.report(error.note(known).help(format!("if it is text, write `&amp;{name};`")));
                return Some((rest[..length].to_owned(), length));
            }
        };
        Some((text.to_owned(), length))
    }

    fn bare_ampersand(&mut self, at: usize) {
        let error = Diagnostic::error("E0011", self.span(at..at + 1), "a bare `&`");
        self.report(error.label("does not begin an entity").help("write `&amp;` for the sign"));
    }

    fn bare_angle(&mut self, at: usize) {
        let error = Diagnostic::error("E0012", self.span(at..at + 1), "a bare `<`");
        self.report(error.label("does not begin a tag").help("write `&lt;` for the sign"));
    }

    /// Handles markup whose end the parser could not find.
    fn broken_markup(&mut self, error: &Error, at: usize) -> Option<Resume> {
        let at = self.text.floor_char_boundary(at);
        let next = self.text[at..].chars().nth(1);
        let may_be_markup = next.is_some_and(|next| matches!(next, '/' | '!' | '?') || is_name_start(next));
        if self.text[at..].starts_with('<')
            && (!may_be_markup || matches!(error, Error::Syntax(SyntaxError::InvalidBangMarkup)))
        {
            self.reread(self.text.len() - at);
            self.bare_angle(at);
            return Some(Resume::Behind(at));
        }
        let rest = self.text[at..].strip_prefix('<').unwrap_or("");
        if let Some(close) = rest.find(['<', '>'])
            && has_attribute(&rest[..close])
            && rest.starts_with(is_name_start)
        {
            // A quote is missing in this tag, so that the parser took everything after it as a value.
            let name = rest.find(|found: char| found.is_ascii_whitespace() || found == '/').unwrap_or(close);
            let tag = BytesStart::from_content(rest, name.min(close));
            return self.start_tag(&tag, at..self.text.len(), false);
        }
        let (what, end) = match error {
            Error::Syntax(SyntaxError::UnclosedComment) => ("a comment", "`-->`"),
            Error::Syntax(SyntaxError::UnclosedCData) => ("a CDATA section", "`]]>`"),
            Error::Syntax(SyntaxError::UnclosedPI | SyntaxError::UnclosedXmlDecl) => {
                ("a processing instruction", "`?>`")
            }
            Error::Syntax(SyntaxError::UnclosedDoctype) => ("a DOCTYPE", "`>`"),
            Error::Syntax(SyntaxError::UnclosedSingleQuotedAttributeValue) => ("a tag with a value in quotes", "`'`"),
            Error::Syntax(SyntaxError::UnclosedDoubleQuotedAttributeValue) => ("a tag with a value in quotes", "`\"`"),
            _ => ("a tag", "`>`"),
        };
        let line = self.text[at..].lines().next().map_or(0, |line| line.trim_end().len());
        let error = Diagnostic::error("E0010", self.span(at..at + line), format!("{what} is not terminated"));
        self.structural(error.label(format!("begins here, with no {end} after it")));
        self.halted = true;
        None
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }

    fn reread(&mut self, bytes: usize) {
        self.reread += bytes;
        if self.reread > MAX_REREAD {
            self.intact = false;
            self.halted = true;
        }
    }

    /// Reports a mistake that does not affect the structure of the tree.
    fn report(&mut self, error: Diagnostic) {
        self.out.push(error);
        self.mistakes += 1;
        if self.mistakes >= MAX_MISTAKES {
            self.intact = false;
            self.halted = true;
        }
    }

    /// Reports a mistake after which the structure of the tree is uncertain.
    fn structural(&mut self, error: Diagnostic) {
        self.intact = false;
        self.report(error);
    }
}

fn is_syntax_error(error: &AttrError) -> bool {
    !matches!(error, AttrError::Duplicated(..))
}

/// Whether the text contains a quoted attribute value, which only a tag has.
fn has_attribute(text: &str) -> bool {
    text.split('=').skip(1).any(|after| after.trim_ascii_start().starts_with(['"', '\'']))
}

fn is_name_start(first: char) -> bool {
    first.is_alphabetic() || matches!(first, '_' | ':')
}

fn is_name(name: &str) -> bool {
    let is_inner = |next: char| next.is_alphanumeric() || matches!(next, '_' | ':' | '-' | '.');
    name.starts_with(is_name_start) && name.chars().all(is_inner)
}

fn numeric_entity(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    char::from_u32(code.ok()?).filter(|found| unseen(found.encode_utf8(&mut [0; 4])).is_none())
}
