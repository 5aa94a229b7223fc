//! Patterns of names, in the tables that complete a document.

/// Whether a name matches a pattern in which each `*` stands for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|tail| (0..=tail.len()).any(|at| tail.get(at..).is_some_and(|tail| matches(rest, tail)))),
    }
}
