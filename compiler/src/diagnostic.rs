//! Diagnostics: what is wrong, where, and how to fix it.
//!
//! [`Diagnostics`] collects all mistakes of a run, which are then sorted and rendered once. The command line renders in
//! colour. The macro renders plain text, because it goes into a `compile_error!`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str};

use crate::source::{FileId, Sources, Span, visible};
use crate::suggest::did_you_mean;

/// Marks the call of a function that contains a mistake.
pub(crate) const EXPANDED: &str = "expanded from here";

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// No output is produced.
    Error,
    /// Output is produced, but is probably not what was intended.
    Warning,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The rule's stable code: `E0107`, `W0201`.
    pub code: &'static str,
    /// The message: one line, without a full stop.
    pub message: String,
    /// The place it is about.
    pub primary: Option<Span>,
    /// The label at that place; may be empty.
    pub label: String,
    /// Places that are as likely to be wrong as the primary one, and drawn like it: the other side of a conflict in
    /// which either side may be wrong.
    pub rivals: Vec<(Span, String)>,
    /// Other places involved, each with its label.
    pub secondary: Vec<(Span, String)>,
    /// Facts that explain the message.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// Creates an error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, Some(span), message.into())
    }

    /// Creates a warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, Some(span), message.into())
    }

    /// Creates an error that no line of a spec caused, such as a missing file.
    pub fn error_without_place(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, None, message.into())
    }

    fn new(severity: Severity, code: &'static str, primary: Option<Span>, message: String) -> Self {
        Diagnostic {
            severity,
            code,
            message,
            primary,
            label: String::new(),
            rivals: Vec::new(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Sets the label of the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a place that is as likely to be wrong as the primary one, unless it is the same place.
    #[must_use]
    pub fn rival(mut self, span: Span, text: impl Into<String>) -> Self {
        if self.primary != Some(span) {
            self.rivals.push((span, text.into()));
        }
        self
    }

    /// Adds another place that is involved, unless it was already added.
    #[must_use]
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        let other = (span, text.into());
        if !self.secondary.contains(&other) {
            self.secondary.push(other);
        }
        self
    }

    /// The places to look at: the primary one and its rivals.
    pub fn suspects(&self) -> impl Iterator<Item = Span> + '_ {
        self.primary.into_iter().chain(self.rivals.iter().map(|(span, _)| *span))
    }

    /// Adds a fact that explains the message.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice on how to fix it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    fn render(&self, sources: &Sources, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(shown(&self.message)).id(self.code));
        // One excerpt per file, the one with the primary place first.
        let mut excerpts: Vec<(FileId, Vec<Mark<'_>>)> = Vec::new();
        let primary = self.primary.map(|span| (AnnotationKind::Primary, span, self.label.as_str()));
        let rivals = self.rivals.iter().map(|(span, text)| (AnnotationKind::Primary, *span, text.as_str()));
        let context = self.secondary.iter().map(|(span, text)| (AnnotationKind::Context, *span, text.as_str()));
        for (kind, span, text) in primary.into_iter().chain(rivals).chain(context) {
            let mark = (kind, first_line(sources, span), text);
            match excerpts.iter_mut().find(|(file, _)| *file == span.file) {
                Some((_, marks)) => marks.push(mark),
                None => excerpts.push((span.file, vec![mark])),
            }
        }
        for (file, marks) in excerpts {
            let text = sources.text(file);
            // The renderer splits its whole input into lines, so it gets only the lines from the first mark to the
            // last.
            let first = marks.iter().map(|(_, range, _)| range.start).min().unwrap_or(0);
            let last = marks.iter().map(|(_, range, _)| range.end).max().unwrap_or(0);
            let (from, number) = sources.line_start(file, first);
            let to = text[last..].find('\n').map_or(text.len(), |length| last + length);
            let path = shown(&sources.path(file).display().to_string());
            if to - from > MAX_EXCERPT {
                let (line, column) = sources.line_column(Span::new(file, marks[0].1.clone()));
                group = group.element(Origin::path(path).line(line).char_column(column));
                continue;
            }
            let annotations = marks.into_iter().map(|(kind, range, text)| {
                let label = (!text.is_empty()).then(|| shown(text));
                kind.span(range.start - from..range.end - from).label(label)
            });
            group =
                group.element(Snippet::source(&text[from..to]).line_start(number).path(path).annotations(annotations));
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(shown(note)));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(shown(help)));
        }
        renderer.render(&[group])
    }
}

/// The length of a text of a diagnostic, in bytes, from which its middle is left out.
const MAX_TEXT: usize = 1000;

/// Leaves out the middle of a long text.
fn shorten(text: &mut String) {
    if text.len() > MAX_TEXT {
        let (head, tail) = (text.floor_char_boundary(MAX_TEXT / 2), text.ceil_char_boundary(text.len() - MAX_TEXT / 4));
        text.replace_range(head..tail, "…");
    }
}

/// Makes text safe to print: it may quote a file's contents or name.
fn shown(text: &str) -> String {
    normalize_untrusted_str(&visible(text))
}

/// The largest excerpt, in bytes. The renderer's time grows with its size, so beyond this limit (such as a line of a
/// megabyte) only the position is shown.
const MAX_EXCERPT: usize = 1 << 18;

/// One annotation of an excerpt.
type Mark<'a> = (AnnotationKind, Range<usize>, &'a str);

/// The part of a span that is drawn, clamped to the text. Only its first line is drawn: a span of many lines, such as a
/// whole map, only marks where something starts. So does a line of megabytes.
fn first_line(sources: &Sources, span: Span) -> Range<usize> {
    let start = sources.text(span.file).floor_char_boundary(span.start as usize);
    let line = sources.snippet(span).lines().next().unwrap_or("").trim_end();
    start..start + line.floor_char_boundary(MAX_TEXT)
}

/// How [`Diagnostics::render`] draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// How many diagnostics are drawn; the rest are only counted.
    pub cap: usize,
    /// The width of the terminal in columns; longer source lines are cut around the marks.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, cap: 50, width: 140 }
    }
}

/// All diagnostics of one run.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// How many errors are in the list.
    errors: usize,
    /// Names whose definitions have mistakes.
    broken: HashSet<String>,
    /// How many mistakes were not reported because they follow from another, such as uses of those names.
    passed_over: usize,
    /// Definitions that are used.
    used: HashSet<Span>,
    /// Uses of unknown names, each with the index of its error in the list.
    unknown: Vec<(usize, Unknown)>,
}

/// Where the definition of an unknown name may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// The definition with the most similar name.
    pub near: Option<Span>,
    /// The range of definitions among which the missing one belongs, with a label for it.
    pub all: Option<(Span, String)>,
}

impl Diagnostics {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a diagnostic. Its texts are shortened, because they may quote a name of megabytes.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        let Diagnostic { message, label, rivals, secondary, notes, help, .. } = &mut diagnostic;
        let labels = rivals.iter_mut().chain(secondary).map(|(_, label)| label);
        [message, label].into_iter().chain(labels).chain(notes).chain(help).for_each(shorten);
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
    }

    /// Whether another mistake is worth an explanation. After many, nobody reads that far, and comparing each wrong
    /// name with all others takes time.
    pub fn explains(&self) -> bool {
        const EXPLAINED: usize = 200;
        self.list.len() < EXPLAINED
    }

    /// Suggests a name that may have been meant, see [`did_you_mean`], for a mistake that is worth it.
    pub fn near<'n>(&self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        if self.explains() { did_you_mean(name, candidates) } else { None }
    }

    /// Marks the definition of a name as wrong, so that mistakes that follow from it are not reported again.
    pub fn mark_broken(&mut self, name: &str) {
        self.broken.insert(name.to_owned());
    }

    /// Whether a name is unknown or wrong only because its definition has a mistake. The caller then reports no error,
    /// but [`failures`](Self::failures) still rises.
    pub fn pass_over(&mut self, name: &str) -> bool {
        let broken = self.broken.contains(name);
        self.passed_over += usize::from(broken);
        broken
    }

    /// Records that the definition at a place is used.
    pub fn note_use(&mut self, definition: Span) {
        self.used.insert(definition);
    }

    /// Adds an error for a use of an unknown name. [`settle_names`](Self::settle_names) may change it later.
    pub fn push_unknown(&mut self, error: Diagnostic, unknown: Unknown) {
        self.unknown.push((self.list.len(), unknown));
        self.push(error);
    }

    /// Revises the errors for unknown names once all uses are known.
    ///
    /// An unused definition with a similar name is as likely to be misspelt as the use. Without such a name, the
    /// definition may as well be missing. A name that is used at several places is not misspelt at all of them: that is
    /// a single mistake in the definition, or a missing definition.
    pub fn settle_names(&mut self) {
        let mut groups: BTreeMap<(Unknown, String), Vec<usize>> = BTreeMap::new();
        for (at, unknown) in std::mem::take(&mut self.unknown) {
            groups.entry((unknown, self.list[at].message.clone())).or_default().push(at);
        }
        let mut settled = HashSet::new();
        for ((unknown, _), uses) in groups {
            const SHOWN: usize = 4;
            let places: BTreeSet<Span> = uses.iter().filter_map(|at| self.list[*at].primary).collect();
            let misspelt = unknown.near.filter(|near| !self.used.contains(near));
            let misspelt = misspelt.map(|near| (near, "nothing uses this name".to_owned()));
            let is_near = unknown.near.is_some();
            let missing = unknown.all.filter(|_| !is_near || places.len() > 1);
            let Some((definition, text)) = misspelt.or(missing) else { continue };
            if places.len() == 1 {
                for at in &uses {
                    let error = &mut self.list[*at];
                    error.secondary.retain(|(span, _)| *span != definition);
                    error.label = "used here".to_owned();
                    error.rivals.push((definition, text.clone()));
                }
                continue;
            }
            let error = &mut self.list[uses[0]];
            error.primary = Some(definition);
            error.label = text;
            error.secondary = places.iter().take(SHOWN).map(|span| (*span, "used here".to_owned())).collect();
            if let Some(rest) = places.len().checked_sub(SHOWN).filter(|rest| *rest > 0) {
                error.notes.push(format!("and in {rest} more places"));
            }
            settled.extend(uses[1..].iter().copied());
        }
        self.passed_over += settled.len();
        self.errors -= settled.len();
        let mut at = 0..;
        self.list.retain(|_| at.next().is_none_or(|at| !settled.contains(&at)));
    }

    /// Records a mistake that was reported before: [`failures`](Self::failures) rises.
    pub fn fail_silently(&mut self) {
        self.passed_over += 1;
    }

    /// The number of errors and suppressed mistakes. If it rises while something is read, the result is incomplete.
    pub fn failures(&self) -> usize {
        self.errors + self.passed_over
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// How many errors there are.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// How many warnings there are.
    pub fn warning_count(&self) -> usize {
        self.list.len() - self.error_count()
    }

    /// The diagnostics in the order of reporting, or in sorted order after [`finish`](Self::finish).
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics from index `first` on, so that callers can extend them.
    pub fn since(&mut self, first: usize) -> &mut [Diagnostic] {
        self.list.get_mut(first..).unwrap_or_default()
    }

    /// Makes every warning an error; the codes stay.
    pub fn warnings_as_errors(&mut self) {
        for found in &mut self.list {
            found.severity = Severity::Error;
        }
        self.errors = self.list.len();
    }

    /// Sorts by file, place and code, and drops exact duplicates. Diagnostics without a place come first.
    pub fn finish(&mut self) {
        self.list.sort_by_key(|found| (found.primary.map(|span| (span.file, span.start)), found.code));
        let mut seen = HashSet::new();
        self.list.retain(|found| seen.insert(found.clone()));
        self.merge_expansions();
        self.errors = self.list.iter().filter(|found| found.severity == Severity::Error).count();
    }

    /// Reports a mistake in a function once, not for each call.
    fn merge_expansions(&mut self) {
        let mut first: HashMap<(&str, Span, String), usize> = HashMap::new();
        let mut kept: Vec<Diagnostic> = Vec::with_capacity(self.list.len());
        let mut more: Vec<usize> = Vec::with_capacity(self.list.len());
        for found in std::mem::take(&mut self.list) {
            let place = found.primary.filter(|_| found.secondary.iter().any(|(_, text)| text == EXPANDED));
            let known =
                place.map(|place| *first.entry((found.code, place, found.message.clone())).or_insert(kept.len()));
            match known.filter(|known| *known < kept.len()) {
                Some(known) => more[known] += 1,
                None => {
                    kept.push(found);
                    more.push(0);
                }
            }
        }
        for (found, more) in kept.iter_mut().zip(more).filter(|(_, more)| *more > 0) {
            found.notes.push(if more == 1 {
                "and in 1 more call".to_owned()
            } else {
                format!("and in {more} more calls")
            });
        }
        self.list = kept;
    }

    /// Renders the diagnostics, separated by empty lines, without a trailing line break. If there are more than the
    /// style's cap, errors come before warnings, and a last line counts those left out.
    pub fn render(&self, sources: &Sources, style: Style) -> String {
        let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.term_width(style.width.max(40));
        let (list, rest) = self.capped(style.cap);
        let parts = list.iter().map(|found| found.render(sources, &renderer));
        parts.chain(rest).collect::<Vec<String>>().join("\n\n")
    }

    /// At most `cap` diagnostics, and a text that counts those left out. If there are any, errors come before warnings.
    pub fn capped(&self, cap: usize) -> (Vec<&Diagnostic>, Option<String>) {
        let mut list: Vec<&Diagnostic> = self.list.iter().collect();
        if list.len() <= cap {
            return (list, None);
        }
        list.sort_by_key(|found| Reverse(found.severity == Severity::Error));
        let left_out = list.split_off(cap);
        let errors = left_out.iter().filter(|found| found.severity == Severity::Error).count();
        let mut counts = vec![more(errors, "error"), more(left_out.len() - errors, "warning")];
        counts.retain(|text| !text.is_empty());
        (list, Some(format!("... and {}", counts.join(" and "))))
    }
}

/// A count with its noun.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

fn more(number: usize, what: &str) -> String {
    match number {
        0 => String::new(),
        1 => format!("1 more {what}"),
        _ => format!("{number} more {what}s"),
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, findings: I) {
        findings.into_iter().for_each(|found| self.push(found));
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// The error E0006 for a character that [`unseen`](crate::source::unseen) found.
pub(crate) fn unseen_error(span: Span, found: char) -> Diagnostic {
    let message = format!("the character U+{:04X} is not allowed in a specification", u32::from(found));
    Diagnostic::error("E0006", span, message)
        .label("it is invisible, or changes how the text around it is read")
        .help("remove it")
}
