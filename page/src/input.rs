//! Classifies pasted input: machine code in one of several notations, or assembly.

/// Pasted input.
pub enum Pasted {
    /// Bytes, in memory order.
    Bytes(Vec<u8>),
    /// Words.
    Words(Vec<u64>),
    /// Anything else.
    Text,
}

/// Parses pasted input. `digits` is the number of digits in a word; `None` when instructions are bytes.
pub fn read(text: &str, digits: Option<usize>) -> Pasted {
    let mut all = String::new();
    let mut tokens = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for token in body(line).split(|c: char| c.is_whitespace() || c == ',' || c == ';') {
            let token = token.strip_prefix("0x").or(token.strip_prefix("0X")).unwrap_or(token).replace('_', "");
            if !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Pasted::Text;
            }
            if !token.is_empty() {
                all.push_str(&token);
                tokens.push(token);
            }
        }
    }
    let bytes = |all: &str| {
        let pairs = all.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap_or(0)).collect()
    };
    let Some(digits) = digits else {
        return if all.is_empty() || !all.len().is_multiple_of(2) { Pasted::Text } else { Pasted::Bytes(bytes(&all)) };
    };
    let size = digits.div_ceil(2) * 2;
    if all.is_empty() {
        Pasted::Text
    } else if size > 2 && tokens.iter().all(|token| token.len() == 2) && all.len().is_multiple_of(size) {
        Pasted::Bytes(bytes(&all))
    } else if tokens.iter().all(|token| token.len() == digits) || all.len().is_multiple_of(digits) {
        let word = |chunk: &[u8]| {
            std::str::from_utf8(chunk).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
        };
        Pasted::Words(all.as_bytes().chunks(digits).map(word).collect())
    } else if tokens.len() == 1 && text.trim_start().starts_with("0x") && all.len() <= digits {
        Pasted::Words(vec![u64::from_str_radix(&all, 16).unwrap_or(0)])
    } else {
        Pasted::Text
    }
}

/// A line of a hex dump, without its offset and its text column.
fn body(line: &str) -> &str {
    let line = match line.split_once(':') {
        Some((offset, rest)) if !offset.trim().is_empty() && offset.trim().bytes().all(|b| b.is_ascii_hexdigit()) => {
            // In the output of `xxd`, two blanks separate bytes and text.
            rest.trim_start().split("  ").next().unwrap_or_default()
        }
        _ => line,
    };
    match line.split_once('|') {
        // `hexdump -C`: offset of eight digits, bytes, text.
        Some((bytes, _)) => bytes.trim_start().split_once("  ").map_or(bytes, |(_, bytes)| bytes),
        None => line,
    }
}
