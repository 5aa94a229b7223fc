//! Finds unbalanced quotes and brackets, for which the parser stops far after the mistake.

use std::collections::BTreeMap;
use std::ops::Range;

/// The first quote or bracket up to the line of `until` that seems unbalanced, with a label for it.
///
/// In specifications, a quoted text seldom spans several lines, and a bracket is closed before the next line that is
/// not indented further. Lines at the same level have the same indentation, and the step between levels is the same
/// throughout. YAML does not require any of this, so this is a guess at the place of a mistake that is certain to
/// exist.
pub(super) fn without_partner(text: &str, until: usize) -> Option<(Range<usize>, &'static str)> {
    // The open brackets: offset, indentation of the line, and the expected closing bracket.
    let mut open: Vec<(usize, usize, char)> = Vec::new();
    let mut block: Option<usize> = None;
    // The indentations of the enclosing levels, with the offset of each.
    let mut levels: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if start > until {
            break;
        }
        let indent = line.len() - line.trim_start().len();
        let blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        // The lines of a block scalar are skipped.
        if blank || block.is_some_and(|outer| indent > outer) {
            start += line.len();
            continue;
        }
        // A closing bracket may be at the same indentation.
        let closes = line.trim_start().starts_with([']', '}']);
        if let Some((at, outer, _)) = open.first()
            && (indent < *outer || indent == *outer && !closes)
        {
            return Some((*at..*at + 1, "this bracket seems not to be closed"));
        }
        if open.is_empty() {
            if levels.is_empty() && indent > 0 {
                return Some((start + indent..start + indent + 1, "this is indented, with nothing above it"));
            }
            let mut inner = None;
            while levels.last().is_some_and(|(level, _)| *level > indent) {
                inner = levels.pop();
            }
            match (levels.last(), inner) {
                (Some((level, _)), Some((deeper, first))) if *level < indent => {
                    return Some(if is_usual(text, deeper - level) {
                        (start + indent..start + indent + 1, "the indentation of this line matches no line above it")
                    } else {
                        (first..first + 1, "from here on, lines are indented further than what follows them")
                    });
                }
                (Some((level, _)), _) if *level == indent => {}
                _ => levels.push((indent, start + indent)),
            }
        }
        match signs(line, start, indent, &mut open) {
            Ok(ends_in_block) => block = ends_in_block.then_some(indent),
            Err(found) => return Some(found),
        }
        start += line.len();
    }
    open.first().map(|(at, ..)| (*at..*at + 1, "this bracket seems not to be closed"))
}

/// Whether lines are indented by this step more often than by any other, not counting the line in question.
fn is_usual(text: &str, step: usize) -> bool {
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    let mut above = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        if indent > above {
            *steps.entry(indent - above).or_default() += 1;
        }
        above = indent;
    }
    steps.entry(step).and_modify(|count| *count -= 1);
    let count = steps.get(&step).copied().unwrap_or(0);
    count > 0 && steps.iter().all(|(other, most)| *other == step || *most < count)
}

/// Scans a line at `start`, and returns whether it ends with the indicator of a block scalar.
fn signs(
    line: &str,
    start: usize,
    indent: usize,
    open: &mut Vec<(usize, usize, char)>,
) -> Result<bool, (Range<usize>, &'static str)> {
    let mut quote: Option<(char, usize)> = None;
    let mut before = ' ';
    let mut escaped = false;
    for (at, found) in line.char_indices() {
        match quote {
            Some((sign, _)) => {
                if found == sign && !escaped {
                    quote = None;
                }
                escaped = found == '\\' && !escaped && sign == '"';
            }
            None => match found {
                // An opening quote is at the start of a value.
                '"' | '\'' if matches!(before, ' ' | '[' | '{' | ',' | ':') => quote = Some((found, at)),
                '"' => return Err((start + at..start + at + 1, "this quote seems to close nothing")),
                '#' if before == ' ' => break,
                '{' => open.push((start + at, indent, '}')),
                '[' => open.push((start + at, indent, ']')),
                '}' | ']' => match open.pop() {
                    Some((_, _, wanted)) if wanted == found => {}
                    Some((at, ..)) if open.iter().any(|(_, _, wanted)| *wanted == found) => {
                        return Err((at..at + 1, "this bracket seems not to be closed"));
                    }
                    _ => return Err((start + at..start + at + 1, "this bracket seems to close nothing")),
                },
                _ => {}
            },
        }
        before = found;
    }
    match quote {
        Some(('"', at)) => Err((start + at..start + at + 1, "this quote seems not to be closed")),
        _ => Ok(line.trim_end().ends_with(['|', '>', '-']) && line.contains([':', '-']) && has_block_sign(line)),
    }
}

fn has_block_sign(line: &str) -> bool {
    let last = line.split_whitespace().next_back().unwrap_or_default();
    matches!(last, "|" | ">" | "|-" | ">-" | "|+" | ">+")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, &'static str)> {
        without_partner(text, text.len())
            .map(|(range, what)| (text[range.start..].lines().next().unwrap_or_default(), what))
    }

    #[test]
    fn quotes_and_brackets_without_partner_are_found_where_they_are() {
        let unclosed = "this bracket seems not to be closed";
        assert_eq!(found("a: { b: [1, 2] }\nc: \"x # {\" # {\nd: >-\n  a \"b\n\ne: it's\n"), None);
        assert_eq!(found("a: { b: 1\nc: 2\n"), Some(("{ b: 1", unclosed)));
        assert_eq!(found("a:\n  { b: 1,\n    c: 2 }\nd: [3\n"), Some(("[3", unclosed)));
        assert_eq!(found("a:\n  [\n    { b: 1 },\n  ]\nd: 3\n"), None);
        assert_eq!(found("a:\n  [\n    { b: 1,\n    { c: 2 },\n  ]\n"), Some(("{ b: 1,", unclosed)));
        assert_eq!(found("a:\n  [\n    b: 1 },\n  ]\n"), Some(("},", "this bracket seems to close nothing")));
        assert_eq!(found("a: 1 }\n"), Some(("}", "this bracket seems to close nothing")));
        assert_eq!(found("a: \"x\nb: 2\n"), Some(("\"x", "this quote seems not to be closed")));
        assert_eq!(
            found("a:\n   b: 1\n  c: 2\n"),
            Some(("b: 1", "from here on, lines are indented further than what follows them"))
        );
        assert_eq!(
            found("a:\n  b: 1\nc:\n  d:\n    e: 1\n   f: 2\n"),
            Some(("f: 2", "the indentation of this line matches no line above it"))
        );
        assert_eq!(found("  b: 1\nc: 2\n"), Some(("b: 1", "this is indented, with nothing above it")));
        assert_eq!(found("a: x\"\nb: \"y\"\n"), Some(("\"", "this quote seems to close nothing")));
    }
}
