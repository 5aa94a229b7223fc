//! Reads listings: lines of an address, digits, and characters or text.

use super::row::{Gap, Row, Rows, Token};
use crate::order::Order;

/// How a line of a listing looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Only an address, or the name of one.
    Place,
    /// Bytes after an address.
    Addressed,
    /// Bytes at the beginning, alone or set off from a text.
    Plain,
    /// Digits that may have another meaning.
    Unclear,
    /// At most one short number, which is not a byte in the lines of a log.
    Other,
}

/// Fewer bytes than this are not taken for an instruction among lines of another kind.
const CLEAR: usize = 4;

impl Form {
    fn of(line: &str, tokens: &[Token], is_addressed: bool) -> Form {
        let bytes: usize = tokens.iter().map(|token| token.bytes).sum();
        let digits = line.split("  ").next().and_then(|part| part.split('\t').next()).unwrap_or_default();
        let numbers = digits.split(' ').filter(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match tokens {
            [] if digits == line && is_addressed => Form::Place,
            [] => Form::Other,
            _ if is_addressed => Form::Addressed,
            [_] if bytes < CLEAR => Form::Other,
            _ if numbers.count() == tokens.len() => Form::Plain,
            _ => Form::Unclear,
        }
    }
}

/// Whether a line that is not read as bytes may be meant as bytes.
pub(super) fn is_like(line: &str) -> bool {
    let numbers = line.split([' ', '\t', ',']).filter(|number| !number.is_empty()).take(4);
    let is_number = |number: &&str| digits(number).is_some_and(|(digits, rest)| digits.len() > 1 && rest.is_empty());
    digits(line).is_some_and(|(digits, _)| digits.len() >= 2 * CLEAR) || numbers.filter(is_number).count() > 1
}

/// Reads lines of an address, digits, and characters or text; the address and the last part are optional.
///
/// Lines of another kind, such as those of a compiler's log, are skipped if all others have the same clear form.
pub(super) fn listing(text: &str) -> Option<Rows> {
    let (mut addresses, mut gap, mut open) = (None, Gap::None, false);
    let mut lines: Vec<(Form, usize, &str, Row)> = Vec::new();
    let (mut others, mut headings) = (Vec::new(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        let behind = behind_text(line);
        let start = behind.unwrap_or(line).trim();
        let is_heading = start.ends_with(':') && !is_addressed(start)
            || start.starts_with("Contents of")
            || start.contains("file format ");
        let is_comment = ["//", "#", ";", "/*"].iter().any(|mark| start.starts_with(mark));
        if start.is_empty() || is_comment {
            continue;
        }
        let first = digits(start);
        let address = first.and_then(|(first, _)| u64::from_str_radix(first, 16).ok()).unwrap_or(0);
        let is_symbol = first.is_some_and(|(_, after)| after.trim_start().starts_with('<'));
        if is_heading {
            headings += 1;
            // objdump prints the address of a symbol in front of it.
            if is_symbol && gap != Gap::Repeated {
                let row = Row { address, tokens: Vec::new(), gap: std::mem::take(&mut gap) };
                lines.push((Form::Place, number, start, row));
            } else if gap == Gap::Zeros {
                (open, gap) = (true, Gap::None);
            }
            continue;
        }
        if matches!(start, "*" | "...") {
            gap = if start == "*" { Gap::Repeated } else { Gap::Zeros };
            continue;
        }
        let Some(mut tokens) = tokens(start, &mut addresses) else {
            others.push((number, start));
            continue;
        };
        if behind.is_some() {
            tokens.iter_mut().for_each(|token| token.order = Some(Order::Value));
        }
        let after_address = |(first, after): (&str, &str)| after.starts_with(':') || addresses == Some(first.len());
        let form = Form::of(start, &tokens, is_symbol || first.is_some_and(after_address));
        // Without an address nothing says how often a line is repeated.
        if gap == Gap::Repeated && !matches!(form, Form::Place | Form::Addressed) {
            return None;
        }
        lines.push((form, number, start, Row { address, tokens, gap: std::mem::take(&mut gap) }));
    }
    let mut found = Rows { open: open || gap == Gap::Zeros, ..Rows::default() };
    if !others.is_empty() {
        let has = |form: Form| lines.iter().any(|(known, ..)| *known == form);
        if has(Form::Unclear)
            || has(Form::Addressed) && has(Form::Plain)
            || others.iter().any(|(_, line)| is_like(line))
        {
            return None;
        }
        let is_other = |line: &(Form, usize, &str, Row)| line.0 == Form::Other;
        others.extend(lines.iter().filter(|line| is_other(line)).map(|(_, number, start, _)| (*number, *start)));
        lines.retain(|line| !is_other(line));
        let (number, start) = others.iter().min().copied().unwrap_or_default();
        found.skipped = Some((number, start.to_owned(), others.len() + headings));
    }
    found.is_addressed = lines.iter().any(|(form, ..)| matches!(form, Form::Place | Form::Addressed));
    found.rows = lines.into_iter().map(|(.., row)| row).collect();
    (gap != Gap::Repeated).then_some(found)
}

/// The address and the 32-bit values of an instruction where they stand behind its text, as llvm-objdump prints some
/// sets: `s_nop 0 // 000000000000: BF800000`.
fn behind_text(line: &str) -> Option<&str> {
    let (text, behind) = line.rsplit_once("// ")?;
    let (address, values) = behind.split_once(": ")?;
    let is_number = |word: &str, len: usize| word.len() == len && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let first = values.split_whitespace().next()?;
    (!text.trim().is_empty() && is_number(address, 12) && is_number(first, 8)).then_some(behind)
}

/// Splits a text into the digits at its start, with or without `0x`, and the rest.
pub(super) fn digits(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Whether a line starts with an address and digits.
fn is_addressed(line: &str) -> bool {
    digits(line).is_some_and(|(first, after)| match after.strip_prefix(':') {
        Some(after) => digits(after.trim_start()).is_some_and(|(digits, _)| digits.len() > 1),
        None => is_before_bytes(first, after),
    })
}

/// Whether a number without a colon is an address, after which bytes or numbers of another length follow, and not a
/// word before a mnemonic such as `FADD`.
fn is_before_bytes(first: &str, after: &str) -> bool {
    let Some((number, after)) = digits(after.trim_start()) else { return false };
    let ends = after.is_empty() || after.starts_with([' ', '\t', ',', '|']);
    if number.len() == first.len() || !number.len().is_multiple_of(2) || !ends {
        return false;
    }
    let is_word = number.len() < first.len() && number.bytes().all(|digit| digit.is_ascii_alphabetic());
    let rest = after.trim_start();
    let is_same =
        |(next, after): (&str, &str)| next.len() == number.len() && (after.is_empty() || after.starts_with(' '));
    !is_word || digits(rest).is_some_and(is_same) || rest.starts_with('|') || first.len() < 8 && after.starts_with("  ")
}

/// Whether several blanks stand between numbers of one length, as `hexdump -x` prints them.
fn is_spread(numbers: &str) -> bool {
    let Some((first, after)) = digits(numbers) else { return false };
    let next = digits(after.trim_start());
    after.starts_with("  ")
        && next.is_some_and(|(next, after)| next.len() == first.len() && !after.starts_with(char::is_alphanumeric))
}

/// Whether a number that is shorter than those before it is the last of its line, and not a word like `FADD`.
fn is_last(digits: &str, after: &str) -> bool {
    let is_word = digits.bytes().all(|digit| digit.is_ascii_alphabetic());
    after.starts_with("  ") || after.starts_with('\t') || after.trim().is_empty() && !is_word
}

/// Reads the digits of a line. `addresses` is the number of digits of addresses without a colon, once one was seen.
/// `None` if the line starts with something else.
fn tokens(line: &str, addresses: &mut Option<usize>) -> Option<Vec<Token>> {
    let (first, after) = digits(line)?;
    let (mut rest, mut order, mut columns) = (line, None, false);
    // gdb prints the symbol that contains an address.
    let named = after.trim_start().strip_prefix('<').and_then(|after| after.split_once(">:")).map(|(_, tail)| tail);
    if let Some(tail) = after.strip_prefix(':').or(named) {
        // Between tabs, objdump prints the values of instructions.
        order = tail.starts_with('\t').then_some(Order::Value);
        (rest, columns) = (tail, true);
    } else {
        let is_known = *addresses == Some(first.len());
        let is_address = after.starts_with([' ', '\t']) && first.len() >= 4 && is_before_bytes(first, after);
        if is_address
            || is_known && (after.is_empty() || digits(after.trim_start()).is_some_and(|(_, end)| end.is_empty()))
        {
            *addresses = Some(first.len());
            (rest, columns) = (after, true);
        }
    }
    rest = rest.trim_start();
    rest = rest.split_once('|').map_or(rest, |(before, _)| before);
    // gdb prints several values, each with `0x`, where objdump prints the text of the instruction.
    let many = order.is_some() && rest.starts_with("0x");
    if many {
        columns = false;
    } else if order.is_some() {
        rest = rest.split_once('\t').map_or(rest, |(before, _)| before);
    } else if columns && !line.contains('|') && !is_spread(rest) {
        // Two blanks precede the character column.
        rest = rest.split_once("  ").map_or(rest, |(before, _)| before);
    }
    let mut tokens: Vec<Token> = Vec::new();
    let mut separated = false;
    while let Some((digits, after)) = digits(rest) {
        let bytes = digits.len() / 2;
        let shorter = tokens.last().is_some_and(|last: &Token| last.bytes > bytes);
        let same = tokens.last().is_none_or(|last: &Token| last.bytes >= bytes) && (!shorter || is_last(digits, after));
        let ends = after.is_empty() || after.starts_with([' ', '\t', ',']);
        let value = u128::from_str_radix(digits, 16).ok().filter(|_| digits.len().is_multiple_of(2) && same && ends);
        let Some(value) = value else {
            // A number that cannot be read is not a text.
            if !tokens.is_empty() && (digits.len() >= 2 * CLEAR || separated || after.contains(" 0x")) {
                return None;
            }
            break;
        };
        let order = if bytes == 1 { Some(Order::Memory) } else { order };
        tokens.push(Token { value, bytes, order });
        rest = after.trim_start_matches([' ', '\t', ',']);
        separated = after.trim_start().starts_with(',');
        if !many && (after.starts_with("  ") && !columns || after.starts_with('\t')) {
            break;
        }
    }
    (!tokens.is_empty() || columns || many).then_some(tokens)
}
