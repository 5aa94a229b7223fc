//! Mutants of whole lines and of quotes.

use super::*;

pub(super) fn indent(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n').filter(|_| yaml(file)) {
        let last_of_its_kind = text[at + line.len()..]
            .lines()
            .next()
            .is_none_or(|next| next.len() - next.trim_start().len() < line.len() - line.trim_start().len());
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') && !last_of_its_kind {
            let mut mutant = edit(file, text, at..at, " ");
            mutant.lines.push(mutant.lines[0] + 1);
            mutants.push(mutant);
        }
        at += line.len();
    }
    mutants
}

// -------------------------------------------------------------------------------------------------------- both formats

pub(super) fn lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n').filter(|_| of(file)) {
        let start = at + line.len() - line.trim_start().len();
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') && !is_prose(file, text, start) {
            found.push((at, line.to_owned()));
        }
        at += line.len();
    }
    found
}

pub(super) fn delete_lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    let delete = |(at, line): (usize, String)| {
        let mut mutant = edit(file, text, at..at + line.len(), "");
        mutant.lines = around(&mutant.text, mutant.lines[0]);
        mutant.what = format!("`{}` is deleted", line.trim());
        mutant
    };
    lines(file, text, of).into_iter().map(delete).collect()
}

/// The nearest non-empty lines around a gap before line `next`.
pub(super) fn around(text: &str, next: usize) -> Vec<usize> {
    let gap = |n: &usize| text.lines().nth(n - 1).is_none_or(|line| line.trim().is_empty());
    let before = (1..next).rev().find(|n| !gap(n)).unwrap_or(1);
    let after = (next..=text.lines().count()).find(|n| !gap(n)).unwrap_or(next);
    vec![before, after]
}

pub(super) fn delete_matching(file: &str, text: &str, mark: &str) -> Vec<Mutant> {
    let mut mutants = delete_lines(file, text, xml);
    mutants.retain(|mutant| mutant.what.contains(mark));
    mutants
}

pub(super) fn delete_closing(file: &str, text: &str) -> Vec<Mutant> {
    if !xml(file) {
        return Vec::new();
    }
    let found = text.match_indices("</").filter(|(at, _)| !text[*at..].starts_with("</valhall"));
    let mut mutants: Vec<Mutant> =
        found.map(|(at, _)| edit(file, text, at..at + text[at..].find('>').map_or(0, |end| end + 1), "")).collect();
    // An unclosed element is noticed at the next one.
    for mutant in &mut mutants {
        let line = mutant.lines[0];
        mutant.lines.extend(around(&mutant.text, line + 1));
    }
    mutants
}

pub(super) fn duplicate_lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, line) in lines(file, text, of) {
        let whole = of(file)
            && xml(file)
            && !line.trim().starts_with("</")
            && line.trim().starts_with('<')
            && (line.contains("/>") || line.contains("</"));
        if whole || yaml(file) {
            let mut mutant = edit(file, text, at..at, &line);
            mutant.lines.push(mutant.lines[0] + 1);
            mutant.what = format!("`{}` is duplicated", line.trim());
            mutants.push(mutant);
        }
    }
    mutants
}

pub(super) fn drop_quotes(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    if !of(file) {
        return Vec::new();
    }
    let outside = |at: usize| !xml(file) || !is_prose(file, text, at) && text[..at].rfind('<') > text[..at].rfind('>');
    let is_comment = |at: usize| {
        let (start, line) = line_at(text, at);
        line[..at - start].trim_start().starts_with('#')
    };
    text.match_indices('"')
        .filter(|(at, _)| outside(*at) && !is_comment(*at))
        .map(|(at, _)| edit(file, text, at..at + 1, ""))
        .collect()
}
