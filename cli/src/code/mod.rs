//! Machine code as users have it: raw, as text in one of several formats, or in a container.
//!
//! ```text
//! file ──container──▶ its code ──┐
//! text ──digits, dump──▶ readings ┴─which of them decodes?──▶ bytes in the order of memory
//! ```
//!
//! A text may be readable in several ways. The reading in which most instructions decode is chosen, and the plain one
//! on a tie; a note tells the user if another was chosen.

mod container;
mod dump;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use isaforge_containers::Container;
use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::group::listing::pieces;
use isaforge_core::stream::listing::parts;
use isaforge_core::stream::{Engine, Stream};

pub use crate::order::Order;
pub use container::{labels, listed};
pub use dump::Bytes;

use crate::failure::Failure;
use crate::groups;
use crate::input::Input;
use crate::mistakes::{Mistake, Place};
use crate::numbers;
use crate::output::{count, say};
use crate::paint::{BOLD, HELP, paint};
use crate::words::{self, Encoding, detect, word_bytes};
use dump::directives::{as_arrays, unmarked};
use dump::source::{self, Source};
use dump::{Dump, objects, records, table};

/// How code is to be read; `None` fields are detected.
#[derive(Clone, Copy, Debug, Default)]
pub struct How<'a> {
    /// Text or raw.
    pub encoding: Option<Encoding>,
    /// The byte order of digits.
    pub order: Option<Order>,
    /// The name prefix of the wanted shader, for files with several.
    pub shader: Option<&'a str>,
    /// The number of the processor that ELF files have to be for.
    pub machine: Option<u16>,
    /// The bits of the widest registers of that processor.
    pub width: Option<u16>,
    /// The address of the first byte, whatever the file says.
    pub address: Option<u64>,
}

/// One of several shaders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Its name and its position in the file.
    pub name: String,
    /// Its range of bytes in the code.
    pub bytes: Range<usize>,
    /// The address of its first byte.
    pub address: u64,
}

/// Code up to the first error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Its bytes.
    pub code: Bytes,
    /// The error, if there is one.
    pub mistake: Option<Mistake>,
    /// The address of the first byte; of the first shader, if the file has several.
    pub address: u64,
    /// A note for the user on how the input was read.
    pub note: Option<String>,
    /// Its shaders, if the file has several.
    pub shaders: Vec<Shader>,
    /// The symbols of the file.
    pub symbols: Symbols,
}

/// Symbol names by their offset in the code. Names are valid labels and unique.
pub type Symbols = BTreeMap<usize, String>;

/// The number of instructions that decode, and of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decoded {
    good: usize,
    all: usize,
}

impl Decoded {
    fn of(tables: Tables, code: &Bytes) -> Decoded {
        let count = |decoded: &mut dyn Iterator<Item = bool>| {
            decoded.fold(Decoded { good: 0, all: 0 }, |sum, good| Decoded {
                good: sum.good + usize::from(good),
                all: sum.all + 1,
            })
        };
        match tables {
            Tables::Words(isa) => {
                let size = word_bytes(isa);
                count(
                    &mut code
                        .bytes
                        .chunks(size)
                        .map(|chunk| chunk.len() == size && decode(isa, word_of(chunk)).is_ok()),
                )
            }
            Tables::Groups(isa) => count(&mut pieces(isa, &code.bytes, &code.lines).map(|piece| piece.group.is_ok())),
            Tables::Streams(Engine { stream: Stream { sequence: Some(sequence), .. }, .. }) => {
                count(&mut std::iter::once(sequence.disassemble(&code.bytes).is_ok()))
            }
            Tables::Streams(engine) => count(&mut parts(engine, &code.bytes).map(|part| part.decoded.is_ok())),
        }
    }

    fn is_whole(self) -> bool {
        self.good == self.all
    }

    /// Whether more of the code decodes than in another reading. Instructions of any length are more in what is
    /// misread, so there it counts first whether all of them decode.
    fn is_better(self, than: Decoded, tables: Tables) -> bool {
        let is_whole = |decoded: Decoded| decoded.is_whole() && matches!(tables, Tables::Streams(_));
        (is_whole(self), self.good) > (is_whole(than), than.good)
    }
}

impl Code {
    /// Prints the note to standard error, if there is one.
    pub fn say_note(&self, input: &Input) {
        if let Some(note) = &self.note {
            say(&format!("{}: {}: {note}", paint(BOLD, &input.name), paint(HELP, "note")));
        }
    }
}

/// Reads code.
///
/// # Errors
/// When a file contains no code for the instruction set, or does not look like code at all.
pub fn read(tables: Tables, input: &Input, how: How<'_>) -> Result<Code, Failure> {
    let raw = |bytes: &[u8]| Bytes { bytes: bytes.to_vec(), lines: Vec::new() };
    let code = match how.encoding {
        Some(Encoding::Bin) => cut(tables, raw(&input.bytes)),
        Some(Encoding::Hex) => text(tables, input.body(), how.order, false),
        None => match isaforge_containers::open(&input.bytes).filter(|found| !is_code(tables, found, &input.bytes)) {
            Some(container) => container::read(tables, input, &container, how)?,
            None if how.shader.is_some() => {
                let message = format!("`{}` is not a container with named shaders", input.name);
                return Err(Failure::usage(message, "leave out `--shader`"));
            }
            None if detect(input.body()) == Encoding::Hex => text(tables, input.body(), how.order, true),
            None => {
                let code = raw(&input.bytes);
                let decoded = Decoded::of(tables, &code);
                // Many encodings accept most words, so half of the words of arbitrary data may decode.
                let is_none = decoded.all > 0 && decoded.good == 0 && !is_module(tables, &input.bytes);
                if is_none || decoded.all > FEW && 2 * decoded.good < decoded.all {
                    let which = format!("{} of {} decode", decoded.good, count(decoded.all as u64, "instruction"));
                    let message = format!("`{}` does not look like code: {which}", input.name);
                    return Err(Failure::usage(message, "`--raw` reads its bytes unchanged"));
                }
                cut(tables, code)
            }
        },
    };
    Ok(Code { address: how.address.unwrap_or(code.address), ..code })
}

/// Whether a file of a kind that has no parts is, as a whole, code of the instruction set.
pub fn is_code(tables: Tables, found: &Container<'_>, bytes: &[u8]) -> bool {
    found.parts.is_empty() && is_module(tables, bytes)
}

/// Whether bytes start as the modules of an instruction set do.
fn is_module(tables: Tables, bytes: &[u8]) -> bool {
    matches!(tables, Tables::Streams(engine) if engine.stream.sequence.is_some_and(|known| known.is_module(bytes)))
}

/// In a file of up to this many instructions, one that decodes is enough.
const FEW: usize = 4;

/// Raw code, without an incomplete word at the end.
fn cut(tables: Tables, mut code: Bytes) -> Code {
    let mistake = match tables {
        Tables::Words(isa) => words::cut(&mut code.bytes, word_bytes(isa)),
        _ => None,
    };
    Code { code, mistake, ..Code::default() }
}

/// Reads code from a text, which may be something else if it was only `detected`.
fn text(tables: Tables, body: &[u8], order: Option<Order>, detected: bool) -> Code {
    let (size, digits) = match tables {
        Tables::Words(isa) => (word_bytes(isa), words::word_digits(isa)),
        _ => (1, 2),
    };
    let mut body = numbers::spaced(body);
    let rewritten = match std::str::from_utf8(&body).map(rewritten) {
        Ok(Cow::Owned(text)) => Some(text),
        _ => None,
    };
    if let Some(text) = rewritten {
        body = text.into_bytes().into();
    }
    let text = std::str::from_utf8(&body).ok();
    if text.is_some_and(|text| text.lines().all(is_blank)) {
        return Code { note: Some("there is no code in it".to_owned()), ..Code::default() };
    }
    if let Some(digits) = text.and_then(objects::read) {
        return plain(tables, digits.as_bytes(), Some(Order::Memory));
    }
    if let Some(found) = text.and_then(records::intel_hex) {
        return match found {
            Ok((address, bytes)) => Code { address, ..cut(tables, Bytes { bytes, lines: Vec::new() }) },
            Err(mistake) => Code { mistake: Some(mistake), ..Code::default() },
        };
    }
    // Streams read values of any length.
    let is_numbered = body.windows(2).any(|pair| matches!(pair, b"0x" | b"0X"));
    let is_stream = matches!(tables, Tables::Streams(_));
    // A number with `0x` is a value.
    let is_valued = is_stream && order.is_none() && is_numbered && text.and_then(in_memory).is_some();
    let first = if is_valued { Some(Order::Value) } else { order };
    let is_turned = is_stream && first == Some(Order::Value);
    let numbers = text.filter(|_| !is_turned).and_then(|text| numbers::read(text, digits, order));
    let (plain, order, how) = match numbers {
        None => (plain(tables, &body, first), order, None),
        Some(Ok(found)) => (plain(tables, found.digits.as_bytes(), found.order), found.order, found.note),
        Some(Err(mistake)) => {
            let code = Code { mistake: Some(mistake), ..Code::default() };
            // A dump has no commas.
            if body.contains(&b',') {
                return code;
            }
            (code, order, None)
        }
    };
    let unread = |code: Code| if detected { explained(code, text) } else { code };
    let noted = |code: Code| Code { note: how.clone(), ..code };
    if plain.mistake.is_none() && order.is_some() {
        return noted(plain);
    }
    let plainly = Decoded::of(tables, &plain.code);
    if plain.mistake.is_none() && plainly.is_whole() {
        let either = order.is_none() && !is_numbered && decodes_turned(tables, &plain.code.bytes);
        return Code { note: how.or(either.then(|| EITHER.to_owned())), ..plain };
    }
    let mut found = None;
    if plain.mistake.is_some() {
        if let Some(code) = text.and_then(|text| of_base64(tables, text)) {
            return code;
        }
        match text.map_or(Ok(None), |text| source::read(text, size)) {
            Ok(Some(Source::Digits(digits, notes))) => return of_strings(tables, &digits, notes, order),
            Ok(source) => found = source,
            Err(mistake) => return Code { mistake: Some(mistake), ..Code::default() },
        }
    }
    let dump = match found {
        Some(Source::Numbers(dump)) => {
            let code = cut(tables, dump.bytes(Order::Value));
            if let Some(mistake) = code.mistake {
                let help = "every word needs all of its numbers or bytes".to_owned();
                return Code { mistake: Some(Mistake { help, ..mistake }), ..Code::default() };
            }
            Some(dump)
        }
        _ => text.and_then(Dump::read),
    };
    let notes = dump.as_ref().map(|dump| dump.notes.join("; ")).filter(|notes| !notes.is_empty());
    let is_log = dump.as_ref().is_some_and(|dump| dump.skipped);
    let orders = [Order::Memory, Order::Value].into_iter().filter(|one| order.is_none_or(|order| order == *one));
    let mut others = Vec::new();
    if plain.mistake.is_none() && order.is_none() {
        match tables {
            Tables::Words(_) => others.push((self::plain(tables, &body, Some(Order::Memory)), IN_MEMORY)),
            Tables::Streams(_) if !is_valued => {
                others.push((self::plain(tables, &body, Some(Order::Value)), AS_VALUES));
            }
            Tables::Streams(_) => others.push((self::plain(tables, &body, Some(Order::Memory)), IN_MEMORY)),
            Tables::Groups(_) => {}
        }
    }
    others.extend(dump.iter().flat_map(|dump| {
        let way = if dump.is_addressed { DUMPED } else { SEPARATE };
        orders.clone().map(move |order| (cut(tables, dump.bytes(order)), way))
    }));
    let judged = |(code, how): (Code, Way)| (Decoded::of(tables, &code.code), code, how);
    let mut others: Vec<_> = others.into_iter().filter(|(code, _)| code.mistake.is_none()).map(judged).collect();
    for found in text.map(table::tables).unwrap_or_default() {
        let way = match (found.is_counted, found.is_decimal) {
            (true, false) => COUNTED,
            (false, _) => DECIMAL,
            (true, true) => COUNTED_DECIMAL,
        };
        let readings = orders.clone().map(|order| judged((cut(tables, found.dump.bytes(order)), way)));
        // Any numbers may look like a table, so most of it has to be code.
        others.extend(readings.filter(|(decoded, code, _)| code.mistake.is_none() && 2 * decoded.good > decoded.all));
    }
    let best = others.into_iter().reduce(|best, other| if other.0.is_better(best.0, tables) { other } else { best });
    match best {
        // Among lines of another kind, what looks like bytes may be something else.
        Some((decoded, ..)) if is_log && 2 * decoded.good <= decoded.all => unread(plain),
        Some((_, code, way)) if plain.mistake.is_some() => {
            let is_table = [COUNTED, DECIMAL, COUNTED_DECIMAL].contains(&way);
            Code { note: if is_table { Some(format!("read {}", way.0)) } else { notes }, ..code }
        }
        Some((decoded, code, (how, says))) if decoded.is_better(plainly, tables) => {
            let why =
                if decoded.is_whole() { "all of it decodes only that way" } else { "more of it decodes that way" };
            let notes = notes.map_or(String::new(), |notes| format!("; {notes}"));
            Code { note: Some(format!("read {how}, as {why}; {says}{notes}")), ..code }
        }
        _ if plain.mistake.is_none() && plainly.good == 0 && plainly.all > FEW => {
            let all = count(plainly.all as u64, "instruction");
            Code { note: Some(format!("0 of {all} decode, so these digits may be something else than code")), ..plain }
        }
        _ => unread(noted(plain)),
    }
}

/// Reads base64. `None` unless all of it decodes, since many texts might be base64.
fn of_base64(tables: Tables, text: &str) -> Option<Code> {
    let code = cut(tables, Bytes { bytes: records::base64(text)?, lines: Vec::new() });
    let is_whole = code.mistake.is_none() && Decoded::of(tables, &code.code).is_whole();
    is_whole.then(|| Code { note: Some("read as base64".to_owned()), ..code })
}

/// How digits are read that are instructions in both orders.
const EITHER: &str = "read as values of words, although all of it decodes as bytes in memory order, too; \
                      `--order memory` selects that";

/// Whether words decode with their bytes in the other order, too, and not to the same words.
fn decodes_turned(tables: Tables, bytes: &[u8]) -> bool {
    let Tables::Words(isa) = tables else { return false };
    let mut differs = false;
    let mut words = bytes.chunks(word_bytes(isa)).map(|chunk| {
        let turned: Vec<u8> = chunk.iter().rev().copied().collect();
        differs |= turned != chunk;
        word_of(&turned)
    });
    words.all(|word| decode(isa, word).is_ok()) && differs
}

/// Reads the contents of strings.
fn of_strings(tables: Tables, digits: &str, mut notes: Vec<String>, order: Option<Order>) -> Code {
    let code = text(tables, digits.as_bytes(), order, false);
    let mistake = code.mistake.map(|mistake| {
        let message = match mistake.place {
            Place::Text(line, _) => format!("string {line} of digits: {}", mistake.message),
            Place::Byte(_) => mistake.message,
        };
        Mistake { message, place: Place::Text(1, 1), ..mistake }
    });
    notes.extend(code.note);
    Code { note: Some(notes.join("; ")).filter(|notes| !notes.is_empty()), mistake, ..code }
}

/// If the mistake of a text is not in a number, says that the text is nothing that is read.
fn explained(code: Code, text: Option<&str>) -> Code {
    let Some(Mistake { place: Place::Text(line, column), .. }) = code.mistake else { return code };
    let Some(found) = text.and_then(|text| text.lines().nth(line.checked_sub(1)?)) else { return code };
    if is_in_number(found, column) {
        return code;
    }
    let mut shown: String = found.trim().chars().take(QUOTED).collect();
    if shown.len() < found.trim().len() {
        shown.push('…');
    }
    let message = format!("`{shown}` is neither hexadecimal digits nor a line of a dump or listing that is known");
    let help = "machine code is read as digits with or without `0x`, output of `xxd`, `hexdump -C`, `od`, `objdump` and \
                gdb, listings, Intel HEX, base64, C arrays, JSON, strings with `\\x`, or raw bytes; assembly goes to `isaforge asm`";
    Code { mistake: Some(Mistake { place: Place::Text(line, column), message, help: help.to_owned() }), ..code }
}

/// The maximum number of characters of a line that a message quotes.
const QUOTED: usize = 48;

/// Whether a column of a line, from 1, is in something that is meant as a number.
pub fn is_in_number(line: &str, column: usize) -> bool {
    let is_between = |c: &char| c.is_whitespace() || *c == ',';
    let line: Vec<char> = line.chars().collect();
    let Some((before, after)) = column.checked_sub(1).and_then(|at| line.split_at_checked(at)) else { return true };
    let start = before.iter().rposition(is_between).map_or(0, |at| at + 1);
    let number: Vec<char> = line[start..].iter().take_while(|c| !is_between(c)).copied().collect();
    let digits = number.iter().take_while(|c| c.is_ascii_hexdigit()).count();
    after.is_empty() || number.first().is_some_and(char::is_ascii_digit) || digits == number.len() || digits >= LONG
}

/// More hexadecimal digits than any mnemonic starts with.
const LONG: usize = 8;

/// How a text was read, and the option that selects this reading or another one.
type Way = (&'static str, &'static str);

const AS_VALUES: Way = ("as values of numbers", "`--order value` selects this");
const IN_MEMORY: Way = ("as bytes in memory order", "`--order memory` selects this");
const DUMPED: Way = ("without the addresses in front", "`--order value` reads every digit");
const SEPARATE: Way = ("with each number as a value of its own", "`--order value` joins their digits");
const COUNTED: Way = ("without the first number of each line", "`--order value` reads every digit");
const DECIMAL: Way = ("as decimal bytes", "`--order memory` reads them as hexadecimal");
const COUNTED_DECIMAL: Way =
    ("as decimal bytes without the first number of each line", "`--order memory` reads every digit as hexadecimal");

/// Whether a line holds nothing but a comment.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || ["#", "//", ";"].iter().any(|mark| line.starts_with(mark))
}

/// A text without what other tools put around its numbers.
fn rewritten(text: &str) -> Cow<'_, str> {
    let own = unmarked(text);
    let own = as_arrays(&own).or_else(|| in_brackets(&own)).map_or(own, Cow::Owned);
    let is_commented = own.lines().any(|line| line.trim_start().starts_with("/*"));
    if is_commented { source::without_comments(&own).into() } else { own }
}

/// A tuple of Python as a list.
fn in_brackets(text: &str) -> Option<String> {
    let (before, numbers) = text.trim().strip_suffix(')')?.split_once('(')?;
    let is_assigned = before.is_empty() || before.trim_end().ends_with('=');
    let is_list =
        numbers.contains(',') && numbers.chars().all(|c| c.is_ascii_alphanumeric() || c == ',' || c.is_whitespace());
    (is_assigned && is_list).then(|| format!("{before}[{numbers}]"))
}

/// Rewrites hexadecimal numbers as their bytes in memory order, on the same lines. `None` if the text contains anything
/// else.
fn in_memory(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let numbers = line.split_once('#').map_or(line, |(before, _)| before);
        for number in numbers.split([' ', '\t', ',']).filter(|number| !number.is_empty()) {
            let digits = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")).unwrap_or(number);
            if digits.len() % 2 != 0 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            (0..digits.len() / 2).rev().for_each(|byte| out.push_str(&digits[2 * byte..2 * byte + 2]));
            out.push(' ');
        }
        out.push('\n');
    }
    Some(out)
}

/// Reads plain digits: words as values, other instructions as bytes in memory order.
fn plain(tables: Tables, body: &[u8], order: Option<Order>) -> Code {
    match tables {
        Tables::Words(isa) if order != Some(Order::Memory) => {
            let found = words::hex_digits(body, words::word_digits(isa));
            let bytes = words::write(isa, &found.words, Encoding::Bin);
            Code { code: Bytes { bytes, lines: Vec::new() }, mistake: found.mistake, ..Code::default() }
        }
        _ => {
            let turned = matches!(tables, Tables::Streams(_)) && order == Some(Order::Value);
            let turned = turned.then(|| std::str::from_utf8(body).ok().and_then(in_memory)).flatten();
            let body = turned.as_ref().map_or(body, |text| text.as_bytes());
            let groups::Bytes { bytes, lines, mistake } = groups::read(body, Some(Encoding::Hex));
            match mistake {
                Some(_) => Code { code: Bytes { bytes, lines }, mistake, ..Code::default() },
                None => cut(tables, Bytes { bytes, lines }),
            }
        }
    }
}
