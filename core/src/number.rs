//! Whole numbers as people write them.

/// Parses a number without a sign: decimal, hexadecimal after `0x`, octal after `0o` or binary after `0b`. Underscores
/// may stand between digits, at the end and after the prefix. `None` if it is no number or takes more than 64 bits.
///
/// ```
/// use isaforge_core::number::parse;
///
/// assert_eq!((parse("1_000"), parse("0x1f"), parse("0b101")), (Some(1000), Some(31), Some(5)));
/// assert_eq!((parse("0x_"), parse("_1"), parse("+1"), parse("1f")), (None, None, None, None));
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let (radix, digits) = radix(text);
    if radix == 10 && digits.starts_with('_') {
        return None;
    }
    let mut digits = digits.chars().filter(|c| *c != '_').peekable();
    digits.peek()?;
    digits.try_fold(0u64, |value, digit| {
        let digit = digit.to_digit(radix)?;
        value.checked_mul(radix.into())?.checked_add(digit.into())
    })
}

/// Parses a number that may have a minus before it; see [`parse`].
///
/// ```
/// assert_eq!(isaforge_core::number::parse_signed("-0x10"), Some(-16));
/// assert_eq!(isaforge_core::number::parse_signed("--1"), None);
/// ```
pub fn parse_signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(magnitude) => 0i64.checked_sub_unsigned(parse(magnitude)?),
        None => parse(text)?.try_into().ok(),
    }
}

/// Splits the prefix of a number from its digits.
pub(crate) fn radix(text: &str) -> (u32, &str) {
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'o' | b'O', ..] => (8, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        _ => (10, text),
    }
}
