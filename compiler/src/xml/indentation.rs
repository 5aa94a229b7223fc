//! Where a tag is missing, judged by the indentation: the parser knows only where things stopped fitting.

use super::Builder;
use crate::source::Span;

impl Builder<'_> {
    /// What stands behind the place where an element that began at `open` should have ended: the first tag before `until`
    /// that begins a line and is not indented further.
    pub(super) fn should_end_before(&self, open: usize, until: usize) -> Option<Span> {
        let column = self.column(open)?;
        let mut at = open + self.text[open..].find('\n')? + 1;
        while at < until {
            let line = self.text[at..].lines().next().unwrap_or_default();
            let indent = line.len() - line.trim_start().len();
            if indent <= column && line[indent..].starts_with('<') {
                return Some(self.tag_at(at + indent));
            }
            at += self.text[at..].find('\n').map_or(self.text.len() - at, |end| end + 1);
        }
        None
    }

    /// What stands before the place where an element should have begun that a tag at `close` ends: the last tag before it
    /// that begins a line and is not indented further.
    pub(super) fn should_begin_behind(&self, close: usize) -> Option<Span> {
        let column = self.column(close)?;
        let mut end = close - column;
        while end > 0 {
            let start = self.text[..end - 1].rfind('\n').map_or(0, |found| found + 1);
            let line = &self.text[start..end];
            let indent = line.len() - line.trim_start().len();
            if indent <= column && line[indent..].starts_with('<') {
                return Some(self.tag_at(start + indent));
            }
            end = start;
        }
        None
    }

    /// The column of a tag that begins a line.
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
