//! Finds a missing or misspelt tag. The parser knows only where tags stopped matching; the indentation and the names of
//! other tags tell where the mistake is.

use super::Builder;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::did_you_mean;

impl Builder<'_> {
    /// The message for an element that is still open at `stop`, where `</name>` closes an element around it.
    pub(super) fn not_closed(&self, inner: &str, opened: Span, name: &str, stop: Span) -> Diagnostic {
        let message = format!("`<{inner}>` is not closed before `</{name}>`");
        let expected = format!("expected `</{inner}>` first");
        let error = match self.should_end_at(opened.range().start, stop.range().start) {
            Some(end) => Diagnostic::error("E0013", end, message)
                .label(format!("by the indentation, `</{inner}>` is missing here"))
                .secondary(stop, expected),
            None => Diagnostic::error("E0013", stop, message).label(expected),
        };
        error.secondary(opened, format!("`<{inner}>` is opened here"))
    }

    /// The message for `</name>` at `stop`, which does not match any open element.
    pub(super) fn not_opened(&self, inner: &str, opened: Span, name: &str, stop: Span) -> Diagnostic {
        let new = |span| Diagnostic::error("E0013", span, format!("`</{name}>` does not close `<{inner}>`"));
        let (here, expected) = (format!("`<{inner}>` is opened here"), format!("expected `</{inner}>`"));
        if did_you_mean(name, [inner]).is_some() {
            // One of the two is misspelt: the one whose name does not occur elsewhere in the file.
            return match (self.is_common(inner), self.is_common(name)) {
                (true, false) => new(stop).label(expected).secondary(opened, here),
                (false, true) => new(opened).label(here).secondary(stop, "the tag that should close it"),
                _ => new(stop).label(expected).rival(opened, here),
            };
        }
        match self.should_begin_after(stop.range().start) {
            Some(before) => new(before)
                .label(format!("by the indentation, `<{name}>` is missing after this"))
                .secondary(opened, here)
                .secondary(stop, expected),
            None => new(stop).label(expected).secondary(opened, here),
        }
    }

    /// Whether several tags have this name.
    fn is_common(&self, name: &str) -> bool {
        let after = |at: usize| self.text[at + name.len()..].chars().next();
        let is_tag = |at: usize| {
            self.text[..at].ends_with(['<', '/']) && after(at).is_none_or(|c| !c.is_alphanumeric() && c != '_')
        };
        self.text.match_indices(name).filter(|(at, _)| is_tag(*at)).nth(1).is_some()
    }

    /// Where an element that began at `open` should have ended: before the first tag up to `until` that begins a line
    /// and is not indented further than the element, without the white space in between.
    pub(super) fn should_end_at(&self, open: usize, until: usize) -> Option<Span> {
        let column = self.column(open)?;
        let mut at = open + self.text[open..].find('\n')? + 1;
        while at <= until {
            let line = self.text[at..].lines().next().unwrap_or_default();
            let indent = line.len() - line.trim_start().len();
            if indent <= column && line[indent..].starts_with('<') {
                let end = self.text[..at].trim_end().len();
                return Some(self.span(end..end));
            }
            at += self.text[at..].find('\n').map_or(self.text.len() - at, |end| end + 1).max(1);
        }
        None
    }

    /// Where an element should have begun that the tag at `close` ends: after the last tag before it that begins a line
    /// and is not indented further. `None` when only white space is between the two, so that the tag at `close` is
    /// superfluous.
    pub(super) fn should_begin_after(&self, close: usize) -> Option<Span> {
        let column = self.column(close)?;
        let mut end = close - column;
        while end > 0 {
            let start = self.text[..end - 1].rfind('\n').map_or(0, |found| found + 1);
            let line = &self.text[start..end];
            let indent = line.len() - line.trim_start().len();
            if indent <= column && line[indent..].starts_with('<') {
                let is_empty = self.text[start + line.len()..close].trim().is_empty();
                return (!is_empty).then(|| self.tag_at(start + indent));
            }
            end = start;
        }
        None
    }

    /// The column of a tag at the beginning of a line.
    fn column(&self, at: usize) -> Option<usize> {
        let start = self.text.get(..at)?.rfind('\n').map_or(0, |found| found + 1);
        self.text[start..at].bytes().all(|byte| byte == b' ' || byte == b'\t').then_some(at - start)
    }

    fn tag_at(&self, at: usize) -> Span {
        let line = self.text[at..].lines().next().unwrap_or_default();
        let length = line.find('>').map_or(line.len(), |end| end + 1);
        self.span(at..at + length)
    }
}
