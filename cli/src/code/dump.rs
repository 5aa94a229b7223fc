//! Machine code in the output formats of other tools: `xxd`, `hexdump -C`, `od`, `objdump`, listings with addresses or
//! text, C arrays.
//!
//! - `row`: what a line of digits is
//! - `columns`: lines that end in the characters of their bytes
//! - `listing`: other lines of an address, digits, and perhaps a text
//! - `source`: numbers and strings in source code, whose escapes are in `escapes`
//! - `objects`: what `dis --json` prints
//! - `records`: Intel HEX and base64
//! - `table`: lines of numbers whose first may be addresses, and which may be decimal
//! - `directives`: data of an assembler

mod columns;
pub mod directives;
mod escapes;
mod listing;
pub mod objects;
pub mod records;
mod row;
pub mod source;
pub mod table;

use columns::columns;
use listing::listing;
use row::{Gap, Row, Rows, Token};

use crate::order::Order;

/// The digits of a text without their surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    tokens: Vec<Token>,
    /// For each line with tokens, the number of tokens before it.
    lines: Vec<usize>,
    /// What was left out, for the user.
    pub notes: Vec<String>,
    /// Whether lines without bytes were skipped.
    pub skipped: bool,
    /// Whether lines begin with an address that was left out.
    pub is_addressed: bool,
}

/// The maximum number of numbers that `*` and `...` lines of a text may stand for.
const MAX_REPEATED: usize = 1 << 22;

/// Bytes in memory order, and where lines begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// For each line with bytes, the number of bytes before it.
    pub lines: Vec<usize>,
}

impl Dump {
    /// Finds the digits of a text. `None` if it has none of these formats.
    pub fn read(text: &str) -> Option<Dump> {
        let dump = match other_base(text, 8).or_else(|| other_base(text, 10)).or_else(|| columns(text)) {
            Some(rows) => Dump::of_rows(Rows { rows, is_addressed: true, ..Rows::default() })?,
            None => Dump::of_rows(listing(text)?)?,
        };
        (!dump.tokens.is_empty()).then_some(dump)
    }

    /// The bytes, with this byte order for digits whose order is uncertain.
    pub fn bytes(&self, order: Order) -> Bytes {
        let (mut bytes, mut starts) = (Vec::new(), Vec::with_capacity(self.tokens.len() + 1));
        for token in &self.tokens {
            starts.push(bytes.len());
            let value = token.value.to_le_bytes();
            let value = &value[..token.bytes.min(value.len())];
            match token.order.unwrap_or(order) {
                Order::Value => bytes.extend(value),
                Order::Memory => bytes.extend(value.iter().rev()),
            }
        }
        let lines = self.lines.iter().filter_map(|line| starts.get(*line).copied()).collect();
        Bytes { bytes, lines }
    }

    /// Joins lines, and fills the gaps between them.
    fn of_rows(found: Rows) -> Option<Dump> {
        let mut dump = Dump { is_addressed: found.is_addressed, ..Dump::default() };
        let (mut before, mut first, mut end) = (0, 0, None);
        let mut room = MAX_REPEATED;
        let mut unknown = found.open;
        for row in found.rows {
            let (copies, copy) = match (row.gap, end) {
                (Gap::None, _) => (0, Vec::new()),
                (Gap::Zeros, end) => {
                    // In another section, addresses start again.
                    let gap = end.and_then(|end| row.address.checked_sub(end));
                    unknown |= gap.is_none();
                    let zero = Token { value: 0, bytes: 1, order: Some(Order::Memory) };
                    (usize::try_from(gap.unwrap_or(0)).ok()?, vec![zero])
                }
                (Gap::Repeated, _) => {
                    let last = dump.tokens.get(first..).unwrap_or_default().to_vec();
                    let bytes: usize = last.iter().map(|token| token.bytes).sum();
                    let gap = usize::try_from(row.address.checked_sub(before)?).ok()?;
                    if bytes == 0 || !gap.is_multiple_of(bytes) {
                        return None;
                    }
                    ((gap / bytes).saturating_sub(1), last)
                }
            };
            room = room.checked_sub(copies.checked_mul(copy.len())?)?;
            for copied in 0..copies {
                if copied == 0 || row.gap == Gap::Repeated {
                    dump.lines.push(dump.tokens.len());
                }
                dump.tokens.extend(&copy);
            }
            let bytes: u64 = row.tokens.iter().map(|token| token.bytes as u64).sum();
            end = row.address.checked_add(bytes);
            if !row.tokens.is_empty() {
                (before, first) = (row.address, dump.tokens.len());
                dump.lines.push(first);
                dump.tokens.extend(row.tokens);
            }
        }
        if unknown {
            let note = "left out the zeros at `...` that end at no address; `objdump -z` prints them";
            dump.notes.push(note.to_owned());
        }
        if let Some((number, line, all)) = found.skipped {
            let lines = crate::output::count(all as u64, "line");
            dump.notes.push(format!("skipped {lines} without bytes, the first is line {number}: `{line}`"));
            dump.skipped = true;
        }
        Some(dump)
    }
}

/// Reads the output of `od`, with addresses in octal or decimal, and of `xxd -b`, with bytes in binary. The addresses
/// must match the number of bytes, so that hexadecimal text is not mistaken for either.
fn other_base(text: &str, radix: u32) -> Option<Vec<Row>> {
    let (mut rows, mut next, mut gap): (Vec<Row>, Option<u64>, Gap) = (Vec::new(), None, Gap::None);
    // Whether numbers are hexadecimal, as `od -t x` prints them.
    let mut is_hexadecimal = false;
    // Whether an address shows that it is not hexadecimal.
    let mut has_radix = false;
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if line == "*" {
            gap = Gap::Repeated;
            continue;
        }
        let (address, tokens) = match line.split_once(": ") {
            Some((address, rest)) => {
                let (numbers, characters) = rest.split_once("  ")?;
                let tokens = numbers_of(numbers, 2)?;
                if characters.trim_start().chars().count() > tokens.len() {
                    return None;
                }
                (u64::from_str_radix(address, 16).ok()?, tokens)
            }
            None => {
                let (address, numbers) = line.split_once(' ').unwrap_or((line, ""));
                if address.len() < 7 {
                    return None;
                }
                // `od -t z` prints the characters, too.
                let numbers = numbers.split_once("  >").map_or(numbers, |(numbers, _)| numbers);
                let tokens = if is_hexadecimal { None } else { numbers_of(numbers, 8) };
                is_hexadecimal |= tokens.is_none();
                (u64::from_str_radix(address, radix).ok()?, tokens.or_else(|| numbers_of(numbers, 16))?)
            }
        };
        if gap == Gap::None && next.is_some_and(|next| next != address) {
            return None;
        }
        // hexdump prints 16-bit values after hexadecimal addresses, so those behind a `*` say nothing.
        let is_short = rows.first().is_some_and(|row| row.tokens.iter().any(|token| token.bytes == 2));
        has_radix |= address >= radix.into() && (gap == Gap::None || !is_short);
        next = Some(address.checked_add(tokens.iter().map(|token| token.bytes as u64).sum())?);
        rows.push(Row { address, tokens, gap: std::mem::take(&mut gap) });
    }
    let is_other = has_radix || !is_hexadecimal;
    (is_other && gap == Gap::None && rows.iter().any(|row| !row.tokens.is_empty())).then_some(rows)
}

/// Reads numbers of equal length: bytes, or values of up to 16 bits in octal and 64 bits in hexadecimal.
fn numbers_of(text: &str, radix: u32) -> Option<Vec<Token>> {
    let token = |digits: &str| {
        let (bytes, order) = match (radix, digits.len()) {
            (2, 8) | (8, 3) | (16, 2) => (1, Order::Memory),
            (8, 6) => (2, Order::Value),
            (16, digits @ (4 | 8 | 16)) => (digits / 2, Order::Value),
            _ => return None,
        };
        let value = u128::from_str_radix(digits, radix).ok().filter(|value| value >> (8 * bytes) == 0)?;
        Some(Token { value, bytes, order: Some(order) })
    };
    let tokens: Option<Vec<Token>> = text.split(' ').filter(|digits| !digits.is_empty()).map(token).collect();
    tokens.filter(|tokens| tokens.windows(2).all(|pair| pair[0].bytes == pair[1].bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a dump or source code.
    fn read(text: &str) -> Option<Dump> {
        match source::read(text, 8).ok()? {
            Some(source::Source::Numbers(dump)) => Some(dump).filter(|dump| !dump.tokens.is_empty()),
            Some(source::Source::Digits(digits, _)) => Dump::read(&digits),
            None => Dump::read(text),
        }
    }

    const CODE: [u8; 16] = [0x3c, 0, 0x19, 0, 0, 0xc0, 0x90, 0, 2, 1, 0, 0, 0, 0xc1, 0x91, 0];

    #[test]
    fn what_other_tools_print_has_the_same_bytes() {
        for text in [
            "00000000: 3c00 1900 00c0 9000 0201 0000 00c1 9100  <...............\n",
            "00000000: 3c 00 19 00 00 c0 90 00  <.......\n00000008: 02 01 00 00 00 c1 91 00  ........\n",
            "00000000  3c 00 19 00 00 c0 90 00  02 01 00 00 00 c1 91 00  |<...............|\n00000010\n",
            "\nshader.o:     file format elf64-little\n\nContents of section .text:\n 0000 3c001900 00c09000 02010000 00c19100  <...............\n",
            "   3c 00 19 00 00 c0 90 00    FADD.f32 r0, r60, r1\n   02 01 00 00 00 c1 91 00    ADD r0\n",
            "static const uint8_t code[] = {\n  0x3c, 0x0, 0x19, 0, 0x00, 0xc0, 0x90, 0x00, // the first\n  2, 1, 0, 0, 0, 0xC1, 145, 0\n};",
            "0x0: 3c 00 19 00 00 c0 90 00\n0x8: 02 01 00 00 00 c1 91 00",
            "0000000 000074 000031 140000 000220 000402 000000 140400 000221\n0000020\n",
            "0000000 074 000 031 000 000 300 220 000\n0000010 002 001 000 000 000 301 221 000\n0000020\n",
            "0000000 3c 00 19 00 00 c0 90 00 02 01 00 00 00 c1 91 00\n0000020\n",
            "0000000 3c 00 19 00 00 c0 90 00 02 01 00 00 00 c1 91 00  >................<\n0000020\n",
            "0000000 0019003c 0090c000 00000102 0091c100\n0000020\n",
            "0000000    003c    0019    c000    0090    0102    0000    c100    0091\n0000010\n",
            "00000000: 00111100 00000000 00011001 00000000 00000000 11000000  <.....\n\
             00000006: 10010000 00000000 00000010 00000001 00000000 00000000  ......\n\
             0000000c: 00000000 11000001 10010001 00000000                    ....\n",
        ] {
            let dump = read(text).unwrap_or_else(|| panic!("{text}"));
            // hexdump says nothing of the order.
            let order = if text.contains("    003c") { Order::Value } else { Order::Memory };
            assert_eq!(dump.bytes(order).bytes, CODE, "{text}");
        }
    }

    #[test]
    fn what_other_tools_print_as_numbers_has_the_same_bytes() {
        for text in [
            "const uint64_t code[2] = { 0x0090c0000019003cull, 0x0091c10000000102 };",
            "uint32_t code[] = { 0x0019003c, 0x0090c000, 0x102, 0x91c100 << 0 }",
            "0000000000000000 <main>:\n   0:\t0019003c          \tadd ra, rb\n   4:\t0090c000          \tbeef\n   8:\t00000102  \tx\n   c:\t0091c100\n",
            "0: 0090c0000019003c FADD.f32 r0, r60, r1\n8: 0091c10000000102 MOV.i32 r1, r2",
            "\nx.o:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000000000 <k>:\n\
             \tv_add_u32 v0, 1, v0      // 000000000000: 0019003C 0090C000\n\
             \ts_cbranch_scc0 2          // 000000000008: 00000102 <k+0x14>\n\ts_nop 0 // 00000000000C: 0091C100\n",
            "0000 0090c0000019003c\n0008 0091c10000000102",
            "0x10000:\t0x0090c0000019003c\t0x0091c10000000102\n",
            "0x10000 <main>:\t0x0019003c\t0x0090c000\n0x10008 <main+8>:\t0x00000102\t0x0091c100\n",
            "0090c0000019003c // the first\n# a comment\n0091c10000000102\n",
        ] {
            match read(text) {
                Some(dump) => assert_eq!(dump.bytes(Order::Value).bytes, CODE, "{text}"),
                None => assert!(text.contains("<<"), "{text}"),
            }
        }
    }

    #[test]
    fn a_star_stands_for_lines_like_the_one_before() {
        let line = [CODE, CODE, CODE].concat();
        for text in [
            "00000000  3c 00 19 00 00 c0 90 00  02 01 00 00 00 c1 91 00  |<...............|\n*\n00000030\n",
            "0000000 000074 000031 140000 000220 000402 000000 140400 000221\n*\n0000060\n",
            "0000000 3c 00 19 00 00 c0 90 00 02 01 00 00 00 c1 91 00\n*\n0000060\n",
            "0000000 0090c0000019003c 0091c10000000102\n*\n0000060\n",
            "0000000 003c 0019 c000 0090 0102 0000 c100 0091\n*\n0000030\n",
            "00000000: 3c00 1900 00c0 9000 0201 0000 00c1 9100  <...............\n*\n\
             00000020: 3c00 1900 00c0 9000 0201 0000 00c1 9100  <...............\n",
        ] {
            let dump = read(text).unwrap_or_else(|| panic!("{text}"));
            // hexdump says nothing of the order.
            let order = if text.starts_with("0000000 003c") { Order::Value } else { Order::Memory };
            let Bytes { bytes, lines } = dump.bytes(order);
            assert_eq!((bytes, lines), (line.clone(), vec![0, 16, 32]), "{text}");
        }
        for text in [
            "00000000  3c 00  |<.|\n*\n",
            " 3c 00 19\n*\n 3c 00 19\n",
            "*\n00000010  3c 00  |<.|\n",
            "00000000  3c 00  |<.|\n*\n00000003\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        // A repeat up to an arbitrary address would take forever.
        assert_eq!(read("00000000  3c 00  |<.|\n*\nfffffffffffffffe\n"), None);
        // So would many repeats that are short individually.
        let many: String = (0..64u64).map(|line| format!("{:08x}  00  |.|\n*\n", line << 20)).collect();
        assert_eq!(read(&format!("{many}04000000\n")), None);
    }

    #[test]
    fn characters_are_no_headings_and_no_digits() {
        let ends_in = |last: &str| {
            format!("00000000: 3c00 1900 00c0 903a  <......{last}\n00000008: 0201 0000 00c1 917c  .......|\n")
        };
        let bytes = [0x3c, 0, 0x19, 0, 0, 0xc0, 0x90, 0x3a, 2, 1, 0, 0, 0, 0xc1, 0x91, 0x7c];
        assert_eq!(read(&ends_in(":")).map(|dump| dump.bytes(Order::Value).bytes), Some(bytes.to_vec()));
        // Among other lines the characters decide nothing, but such a line is no heading.
        let listed = read("0: 3c 00 19 00 00 c0 90 3a :\n8: 02 01 00 00 00 c1 91 7c\n").unwrap();
        assert_eq!(listed.bytes(Order::Memory).bytes, bytes);
        let shown = "00000000: 6632 7c64 272e 653e 6534 647c 3736 3832  f2|d'.e>e4d|7682\n";
        assert_eq!(read(shown).map(|dump| dump.bytes(Order::Value).bytes), Some(b"f2|d'.e>e4d|7682".to_vec()));
        // Blanks at the end are cut off by editors.
        let cut = "00000000: 6632 2020  f2\n00000004: 3334 3536  3456\n";
        assert_eq!(read(cut).map(|dump| dump.bytes(Order::Value).bytes), Some(b"f2  3456".to_vec()));
    }

    #[test]
    fn characters_say_whether_digits_are_values() {
        let values = "00000000: 44434241 00484746  ABCDFGH.\n";
        assert_eq!(read(values).unwrap().bytes(Order::Memory).bytes, b"ABCDFGH\0");
        // Without any, 16 bits are as in memory.
        let dots = "00000000: 1301 01fd b716 0100  ........\n";
        assert_eq!(read(dots).unwrap().bytes(Order::Value).bytes, [0x13, 1, 1, 0xfd, 0xb7, 0x16, 1, 0]);
        let readelf = "\nHex dump of section '.text':\n  0x00000000 130101fd b7160100 ........\n";
        assert_eq!(read(readelf).unwrap().bytes(Order::Value).bytes, [0x13, 1, 1, 0xfd, 0xb7, 0x16, 1, 0]);
    }

    #[test]
    fn addresses_may_be_decimal() {
        let line = "0091c10000000002 0091c10000000002";
        let text = format!("0000000 {line}\n*\n0000320\n");
        assert_eq!(read(&text).unwrap().bytes(Order::Memory).bytes.len(), 0o320);
        let text = format!("0000000 {line}\n0000016 {line}\n*\n0000320\n");
        assert_eq!(read(&text).unwrap().bytes(Order::Memory).bytes.len(), 320);
    }

    #[test]
    fn addresses_end_with_the_numbers_there_are() {
        for text in ["ffffffffffffffff: 00000000  .\n", "1777777777777777777777 000\n"] {
            assert!(other_base(text, 8).is_none(), "{text}");
        }
    }

    #[test]
    fn a_text_of_something_else_is_no_dump() {
        for text in ["", "MOV.i32 r1, r2", "*\n", "zz: 00", "uint8_t a[] = { 300 };", "{", "{ x }", "1 2 3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn work_grows_with_the_text() {
        for part in ["//\n", "/", "/*/", "{", "{0}", "0: ", "0  ", "00 ", "|", "char x[] = {1},\n"] {
            let text = format!("{{{}", part.repeat(1 << 18));
            read(&text);
            read(&text[1..]);
        }
    }

    #[test]
    fn lines_begin_where_their_bytes_do() {
        let dump = read("0: 44 a0\n2: 08 05 00\n").unwrap();
        assert_eq!(dump.bytes(Order::Memory), Bytes { bytes: vec![0x44, 0xa0, 8, 5, 0], lines: vec![0, 2] });
    }
}
