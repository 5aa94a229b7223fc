//! The attributes of a start tag.

use std::ops::Range;

use quick_xml::events::BytesStart;
use quick_xml::events::attributes::AttrError;

use super::{Attribute, Builder, is_name};
use crate::diagnostic::Diagnostic;
use crate::source::Spanned;

impl Builder<'_> {
    /// Reads the attributes of a tag whose content begins at `base`.
    pub(super) fn attributes(&mut self, tag: &BytesStart<'_>, base: usize) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        for found in tag.attributes() {
            match found {
                Ok(found) => {
                    let key = found.key.as_ref();
                    let place = |part: &str| {
                        let start = base + offset_in(tag, part);
                        start..start + part.len()
                    };
                    let (name, value) = (place(key), place(&found.value));
                    if !is_name(key) {
                        let error =
                            Diagnostic::error("E0015", self.span(name), format!("`{key}` is not an attribute name"));
                        self.structural(error.help("attributes are written `name=\"value\"`"));
                        continue;
                    }
                    let resolved = self.attribute_value(value.clone());
                    let name = Spanned::new(key.to_owned(), self.span(name));
                    attributes.push(Attribute { name, value: Spanned::new(resolved, self.span(value)) });
                }
                Err(error) => self.attribute_error(error, base),
            }
        }
        attributes
    }

    fn attribute_error(&mut self, error: AttrError, base: usize) {
        let text = self.text;
        let is_end = |found: char| found.is_ascii_whitespace() || matches!(found, '=' | '>' | '/' | '<');
        let word = |at: usize| {
            let start = text.floor_char_boundary(base + at);
            start..start + text[start..].find(is_end).unwrap_or(0)
        };
        let quoted = "attributes are written `name=\"value\"`";
        let (at, message, label) = match error {
            AttrError::Duplicated(again, first) => {
                let name = word(again);
                let message = format!("the attribute `{}` is given twice", &text[name.clone()]);
                let error = Diagnostic::error("E0014", self.span(name), message).label("again here");
                self.report(error.secondary(self.span(word(first)), "first given here"));
                return;
            }
            AttrError::UnquotedValue(at) => {
                let value = word(at);
                let message = format!("the value `{}` is not in quotes", &text[value.clone()]);
                (value, message, "quotes are missing")
            }
            AttrError::ExpectedEq(at) => {
                let end = text[..text.floor_char_boundary(base + at)].trim_end().len();
                let start = text[..end].rfind(|found: char| found.is_ascii_whitespace()).map_or(end, |space| space + 1);
                if is_name(&text[start..end]) {
                    let message = format!("the attribute `{}` has no value", &text[start..end]);
                    (start..end, message, "expected `=` and a value after this")
                } else {
                    (start..end, "a quote is out of place in a tag".to_owned(), "this is not an attribute")
                }
            }
            AttrError::ExpectedValue(at) => {
                (word(at), "an attribute has no value".to_owned(), "expected a value in quotes")
            }
            AttrError::ExpectedQuote(at, _) => {
                (word(at), "the value of an attribute is not terminated".to_owned(), "expected a quote before this")
            }
        };
        self.structural(Diagnostic::error("E0015", self.span(at), message).label(label).help(quoted));
    }

    /// The value with entities resolved; bare `&` and `<` are reported and kept.
    fn attribute_value(&mut self, range: Range<usize>) -> String {
        let mut value = String::new();
        let mut at = range.start;
        while let Some(index) = self.text[at..range.end].find(['&', '<']) {
            let sign = at + index;
            value.push_str(&self.text[at..sign]);
            at = sign + 1;
            if self.text[sign..].starts_with('<') {
                self.bare_angle(sign);
                value.push('<');
            } else if let Some((text, length)) = self.entity(sign..range.end) {
                value.push_str(&text);
                at = sign + length;
            } else {
                value.push('&');
            }
        }
        value.push_str(&self.text[at..range.end]);
        value
    }
}

/// The offset of `part`, a slice of `whole`, in it.
fn offset_in(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}
