//! Reads what a compiler writes for an assembler, and what mail and `diff` put in front of lines.

use std::borrow::Cow;

/// What the directives that define data are called by GNU as, and how wide their numbers are in bits. Those whose width
/// depends on the processor are left out.
const DATA: [(&str, u8); 11] = [
    ("byte", 8),
    ("2byte", 16),
    ("short", 16),
    ("hword", 16),
    ("4byte", 32),
    ("int", 32),
    ("long", 32),
    ("8byte", 64),
    ("quad", 64),
    ("xword", 64),
    ("dword", 64),
];

/// Rewrites directives of data as arrays, each on its own line. `None` if the text has none of them, or a line of it is
/// neither a directive nor a label.
pub fn as_arrays(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut has_data = false;
    for line in text.lines() {
        let code = line.split(['#', ';']).next().unwrap_or_default();
        let code = code.split_once("//").map_or(code, |(code, _)| code).trim();
        if !code.is_empty() && !code.ends_with(':') {
            let (name, numbers) = code.strip_prefix('.')?.split_once(char::is_whitespace).unwrap_or((code, ""));
            if let Some((_, bits)) = DATA.iter().find(|(known, _)| *known == name) {
                out.push_str(&format!("uint{bits}_t data[] = {{{numbers}}};"));
                has_data = true;
            }
        }
        out.push('\n');
    }
    has_data.then_some(out)
}

/// A text without the marks of quoted mail or of a `diff` at the beginning of its lines. Of a `diff`, lines that it
/// removes are left out, and so is what is above its first change.
pub fn unmarked(text: &str) -> Cow<'_, str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    if lines().any(|line| line.starts_with("@@ ")) {
        let changed = text.lines().skip_while(|line| !line.starts_with("@@ "));
        let own = changed.filter_map(|line| line.strip_prefix(['+', ' ']).filter(|line| !line.starts_with("++ ")));
        return Cow::Owned(own.collect::<Vec<_>>().join("\n"));
    }
    for mark in ['>', '+'] {
        if lines().next().is_some() && lines().all(|line| line.trim_start().starts_with(mark)) {
            let unmarked = text.lines().map(|line| line.trim_start_matches([mark, ' ', '\t']));
            return Cow::Owned(unmarked.collect::<Vec<_>>().join("\n"));
        }
    }
    Cow::Borrowed(text)
}
