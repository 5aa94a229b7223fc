//! Decides which documents are root files of a specification, even incomplete ones.

use std::path::Path;

/// Whether a file is YAML by its name.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "yaml" || end == "yml")
}

/// Whether a file is in a format that only parts of a specification have here. A JSON document may have any keys.
pub fn is_foreign(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "xml" || end == "json")
}

/// Whether a text is the entry of a specification: its root has the key `isa`, but not `program`, which launch files
/// have. The text need not be valid YAML, since it may be edited right now.
///
/// # Examples
///
/// ```
/// use isaforge_lsp::specification::entry::is_entry;
///
/// assert!(is_entry("# Mine\nisa: mine\nword: [") && is_entry("{ \"isa\": mine, word: 16 }"));
/// assert!(!is_entry("isa: mine\nprogram: { file: a.s }\n") && !is_entry("enums: { isa: [a, b] }\n"));
/// ```
pub fn is_entry(text: &str) -> bool {
    let (mut set, mut program) = (false, false);
    root_keys(text, &mut |key| {
        set |= key == "isa";
        program |= key == "program";
    });
    set && !program
}

/// Reports the keys of the map at the root of a YAML document.
fn root_keys(text: &str, tell: &mut dyn FnMut(&str)) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    // Skip what precedes the root: blank lines, comments, directives, the start of the document.
    while let Some(line) = rest.split_inclusive('\n').next() {
        let content = line.trim();
        match content.strip_prefix("---") {
            Some("") => {}
            Some(root) if root.trim_start().starts_with('{') => break,
            _ if content.is_empty() || content.starts_with(['#', '%']) => {}
            _ => break,
        }
        rest = rest.get(line.len()..).unwrap_or_default();
    }
    let root = rest.strip_prefix("---").unwrap_or(rest).trim_start();
    match root.strip_prefix('{') {
        Some(root) => flow_keys(root, tell),
        None => {
            let indent = rest.len() - root.len();
            let lines = rest.lines().filter(|line| line.len() - line.trim_start_matches(' ').len() == indent);
            lines.filter_map(|line| key(line.get(indent..)?)).for_each(tell);
        }
    }
}

/// The key at the start of a text, without quotes.
fn key(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (name, rest) = match quote {
        Some(quote) => text.get(1..)?.split_once(quote)?,
        None => text.find(':').map(|at| text.split_at(at))?,
    };
    let value = rest.trim_start().strip_prefix(':')?;
    // In JSON, a value follows a quoted key immediately.
    (quote.is_some() || value.is_empty() || value.starts_with(char::is_whitespace)).then(|| name.trim_end())
}

/// Reports the keys of a map in braces, after its opening brace.
fn flow_keys(text: &str, tell: &mut dyn FnMut(&str)) {
    let (mut depth, mut quote, mut escaped, mut comment) = (0_usize, None, false, false);
    let mut before = '{';
    let mut start = Some(0);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            _ if comment => comment = c != '\n',
            _ if escaped => escaped = false,
            ('\\', Some('"')) => escaped = true,
            (_, Some(open)) => quote = Some(open).filter(|open| *open != c),
            ('#', None) if before.is_whitespace() => comment = true,
            ('"' | '\'', None) if !before.is_alphanumeric() => quote = Some(c),
            ('{' | '[', None) => depth += 1,
            ('}' | ']', None) if depth == 0 => return,
            ('}' | ']', None) => depth -= 1,
            (',', None) if depth == 0 => start = Some(at + 1),
            (':', None) if depth == 0 => {
                let found = start.take().and_then(|start| key(text.get(start..)?));
                found.into_iter().for_each(&mut *tell);
            }
            _ => {}
        }
        before = c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_in_any_notation_names_the_set() {
        for text in [
            "isa: q\nword: 16\n",
            "\u{feff}isa: q\r\nword: 16\r\n",
            "# c\n%YAML 1.2\n---\n\nisa : q\n",
            "\"isa\": q\n",
            "'isa':\n",
            "doc: |\n  text\nisa: q",
            "  isa: q\n  word: 16\n",
            "{ isa: q, word: 16 }",
            "--- { word: 16, isa: q }\n",
            "# c\n{\n  \"word\":16,\n  \"banks\": { \"program\": [\"}\"] },\n  \"isa\":\"q\"\n}\n",
            "{ isa: q, unfinished: [",
        ] {
            assert!(is_entry(text), "{text}");
        }
    }

    #[test]
    fn parts_launch_files_and_other_documents_are_no_entries() {
        for text in [
            "",
            "{",
            "\u{feff}",
            "---",
            "isa: q\nprogram: { file: a.s }\n",
            "{ isa: q, program: a }",
            "isa:q\n",
            "# isa: q\n",
            "enums:\n  isa: { values: [a] }\n",
            "doc: |\n  isa: q\n",
            "{ enums: { isa: q } }",
            "{ doc: \"isa: q\" }",
            "isaac: 1\n",
            "\"isa",
            "- isa: q\n",
        ] {
            assert!(!is_entry(text), "{text}");
        }
    }
}
