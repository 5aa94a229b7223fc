//! Reads what a compiler writes for an assembler, and what mail, `diff` and disassemblers put in front of lines.

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

/// A text without what precedes code on its lines: marks of quoted mail or of a `diff`, or segments of addresses. Of a
/// `diff`, lines that it removes are left out, and so is what is above its first change.
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
    match without_segments(text) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(text),
    }
}

/// Lines without the segments that IDA and Ghidra write before their addresses: `00401000: 55` for `.text:00401000 55`.
/// `None` if a line has none, or the addresses do not ascend.
fn without_segments(text: &str) -> Option<String> {
    let (mut out, mut last) = (String::with_capacity(text.len()), None);
    for line in text.lines() {
        if !line.trim().is_empty() {
            let (segment, rest) = line.trim_start().split_once(':')?;
            let (digits, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            let is_name = |c: char| c.is_alphanumeric() || "._$@".contains(c);
            let is_segment = segment.starts_with(|c: char| !c.is_ascii_digit()) && segment.chars().all(is_name);
            // A label may stand before a mnemonic such as `FADD`.
            let is_address = (4..=16).contains(&digits.len()) && digits.contains(|c: char| c.is_ascii_digit());
            let address = u64::from_str_radix(digits, 16).ok().filter(|_| is_segment && is_address)?;
            if last.is_some_and(|last| address < last) {
                return None;
            }
            last = Some(address);
            out.push_str(digits);
            out.push(':');
            out.push_str(after);
        }
        out.push('\n');
    }
    last.map(|_| out)
}
