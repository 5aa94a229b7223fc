//! Assembly of whole programs: labels, comments, listings.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::bits::{Bits, sign_extend};
use crate::decode::decode;
use crate::encode::check_limits;
use crate::error::{ParseError, ParseReason, modifier_words};
use crate::float::Format;
use crate::number;
use crate::parse::{Labels, parse_at};
use crate::print::{Style, print, write_number};
use crate::scan;
use crate::semantics::reading::{reads_as, rounded};
use crate::semantics::{Semantics, Shape, instantiate};
use crate::table::{self, Isa, Target, Type};
use crate::text::Line;

/// An error in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub len: usize,
    /// The error message.
    pub message: String,
    /// A suggestion; may be empty.
    pub help: String,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, " ({})", self.help) }
    }
}

impl core::error::Error for ProgramError {}

struct Names {
    words: BTreeMap<String, u64>,
    base: u64,
}

impl Labels for Names {
    fn base(&self) -> u64 {
        self.base
    }

    fn resolve(&self, name: &str) -> Option<u64> {
        self.words.get(name).copied()
    }
}

/// The part of a line before `//` or `;`; empty for a line that starts with `#`.
pub(crate) fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    let end = [line.find("//"), line.find(';')].into_iter().flatten().min();
    &line[..end.unwrap_or(line.len())]
}

/// Splits a label from the start of a line: `name:`, which an instruction may follow.
pub(crate) fn label(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start();
    let len = trimmed.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$')).count();
    let rest = trimmed[len..].trim_start().strip_prefix(':')?;
    (len > 0).then_some((&trimmed[..len], rest))
}

/// Assembles a program: one instruction per line, labels (`label:`), comments from `//` or `;`, lines that start with
/// `#`, which are ignored, and `.word NUMBER` for a raw word.
///
/// # Errors
/// All errors in the text, in order.
///
/// # Examples
///
/// ```
/// use isaforge_core::program::assemble;
/// use isaforge_vpu::ISA;
///
/// assert_eq!(assemble(ISA, "start: MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx // a comment"), Ok(vec![0x2a00004000800000]));
/// let mistakes = assemble(ISA, "MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx\nMultiplyHiInt16v r0").unwrap_err();
/// assert_eq!((mistakes[0].line, mistakes[0].column), (2, 1));
/// ```
pub fn assemble(isa: &'static Isa, text: &str) -> Result<Vec<u64>, Vec<ProgramError>> {
    let (words, errors) = read(isa, text, 0, None, |_| {});
    if errors.is_empty() { Ok(words) } else { Err(errors) }
}

/// An element of a program's text. Lines are counted from 0.
pub(crate) enum Part<'t> {
    /// A label. It marks the next word.
    Label {
        line: usize,
        /// The whole line that contains the name.
        full: &'t str,
        name: &'t str,
    },
    /// The next word.
    Word { line: usize },
}

/// Reads the words of a program at `base` and all errors, in order. A line with an error becomes the word 0.
pub(crate) fn read<'t>(
    isa: &'static Isa,
    text: &'t str,
    base: u64,
    semantics: Option<&'static Semantics>,
    mut tell: impl FnMut(Part<'t>),
) -> (Vec<u64>, Vec<ProgramError>) {
    let mut errors = Vec::new();
    let mut names = Names { words: BTreeMap::new(), base };
    // An estimate of the number of lines.
    let mut words = Vec::with_capacity(text.len() / 24);
    // Lines that must wait until all labels are known: the index of their word, the line number, the line, the part to
    // parse.
    let mut open: Vec<(usize, usize, &str, &str)> = Vec::new();
    let (mut number, mut at) = (0, 0);
    while at < text.len() {
        if let Some((_, word, end)) = scan::instruction(isa, text.as_bytes(), at) {
            words.push(word);
            tell(Part::Word { line: number });
            at = end + if text.as_bytes().get(end) == Some(&b'\r') { 2 } else { 1 };
        } else {
            let full = text[at..].lines().next().unwrap_or_default();
            let mut rest = without_comment(full);
            let mut columns = Columns::default();
            while let Some((name, after)) = label(rest) {
                tell(Part::Label { line: number, full, name });
                if names.words.insert(name.to_string(), words.len() as u64).is_some() {
                    let at = name.as_ptr() as usize - full.as_ptr() as usize;
                    let (line, column) = (number + 1, columns.of(full, at));
                    let message = alloc::format!("the label `{name}` is defined twice");
                    errors.push(ProgramError { line, column, len: name.len().max(1), message, help: String::new() });
                }
                rest = after;
            }
            if !rest.trim().is_empty() {
                open.push((words.len(), number, full, rest));
                words.push(0);
                tell(Part::Word { line: number });
            }
            at = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        }
        number += 1;
    }
    let mut found = 0;
    for (index, number, full, line) in open {
        let offset = line.as_ptr() as usize - full.as_ptr() as usize;
        match directive(line) {
            Some(Ok(word)) if isa.word_bits >= 64 || word >> isa.word_bits == 0 => words[index] = word,
            Some(_) => {
                let at = offset + line.len() - line.trim_start().len();
                let message = alloc::format!("`.word` needs one number of at most {} bits", isa.word_bits);
                let several = line.contains(',') || line.split_whitespace().count() > 2;
                let help =
                    if several { "write a line for each number: `.word 0x1`" } else { "write it like `.word 0x1`" };
                errors.push(place(full, number, at, line.trim().len(), message, help.to_string()));
            }
            None => match parse_at(isa, line, index as u64, &names) {
                Ok((_, word)) => words[index] = word,
                Err(error) => {
                    let mut wrong = located(full, number, offset, &error, &names, found);
                    if let Some(semantics) = semantics.filter(|_| found < HELPED)
                        && let Some((text, float)) = constant(semantics, line, &error, index as u64, &names)
                    {
                        wrong.help = alloc::format!("write `{text}`, which this operand reads as {float}");
                    }
                    errors.push(wrong);
                    found += 1;
                }
            },
        }
    }
    errors.sort_by_key(|e| (e.line, e.column));
    (words, errors)
}

/// The constant, with its suffixes, that an operand reads as the float written for it, and that float. `None` if there
/// is none, or the semantics do not show how the operand is read.
fn constant<'l>(
    semantics: &'static Semantics,
    line: &'l str,
    error: &ParseError,
    index: u64,
    names: &Names,
) -> Option<(String, &'l str)> {
    let ParseReason::FloatConstant(opcode, operand, table) = error.reason else { return None };
    let (isa, place) = (error.isa, error.at..error.at + error.len);
    let written = line.get(place.clone())?;
    let float = written.parse().ok()?;
    let form = isa.forms.get(usize::from(opcode))?;
    let operation = semantics.operations.get(usize::from(opcode))?;
    let values = isa.constants.get(usize::from(table))?.values;
    let word = |text: &str| {
        let mut line = line.to_string();
        line.replace_range(place.clone(), text);
        parse_at(isa, &line, index, names).ok().map(|(_, word)| word)
    };
    let shape = |suffix: &str| {
        let word = word(&alloc::format!("{:#x}{suffix}", values.first()?.value))?;
        Some(instantiate(semantics, operation, |k| operation.modifiers[usize::from(k)].bits(isa, form, word)))
    };
    let reads = |shape: &Shape, bits| reads_as(semantics, shape, operand.into(), bits, float);
    // Without suffixes, an operand that is read as a float reads the float's own bits, or these in both halves.
    let plain = shape("")?;
    let is_plain = |bits: Option<u64>| bits.is_some_and(|bits| reads(&plain, bits));
    if !is_plain(rounded(Format::F32, float)) && !is_plain(rounded(Format::F16, float).map(|half| half << 16 | half)) {
        return None;
    }
    let suffixes = form.operands.get(usize::from(operand))?.suffixes;
    let single = || suffixes.iter().flat_map(|one| modifier_words(isa, one)).map(|word| alloc::format!(".{word}"));
    let pairs = single().flat_map(|first| single().map(move |second| alloc::format!("{first}{second}")));
    let texts = core::iter::once(String::new()).chain(single()).chain(pairs);
    let found = texts.filter_map(|suffix| Some((shape(&suffix)?, suffix))).find_map(|(shape, suffix)| {
        let read = values.iter().filter(|one| reads(&shape, one.value));
        read.map(|one| alloc::format!("{:#x}{suffix}", one.value)).find(|text| word(text).is_some())
    });
    found.map(|text| (text, written))
}

fn directive(line: &str) -> Option<Result<u64, ()>> {
    let argument = line.trim().strip_prefix(".word")?;
    if !argument.is_empty() && !argument.starts_with(char::is_whitespace) {
        return None;
    }
    Some(number::parse(argument.trim()).ok_or(()))
}

pub(crate) fn place(full: &str, number: usize, at: usize, len: usize, message: String, help: String) -> ProgramError {
    let count = |range: &str| range.chars().count();
    let before = full.get(..at).map_or(at, count);
    let under = full.get(at..at + len).map_or(len, count).max(1);
    ProgramError { line: number + 1, column: before + 1, len: under, message, help }
}

/// The maximum number of errors that get a suggestion. Finding a suggestion takes longer than finding the error, and
/// nobody reads a thousand of them.
const HELPED: usize = 100;
/// The maximum number of unknown labels that get a suggestion. Finding one compares against every label.
const SUGGESTIONS: usize = 20;

/// Converts byte offsets in a line to columns. Offsets must ascend, so each character is counted once.
#[derive(Default)]
struct Columns {
    at: usize,
    characters: usize,
}

impl Columns {
    /// The column, from 1, of byte `at`, which must not precede the previous one.
    fn of(&mut self, line: &str, at: usize) -> usize {
        self.characters += line.get(self.at..at).map_or(0, |text| text.chars().count());
        self.at = at;
        self.characters + 1
    }
}

fn located(
    full: &str,
    number: usize,
    offset: usize,
    error: &ParseError,
    names: &Names,
    earlier: usize,
) -> ProgramError {
    let mut help = if earlier < HELPED { error.help().to_string() } else { String::new() };
    if error.reason == ParseReason::UnknownLabel
        && earlier < SUGGESTIONS
        && let Some(name) = crate::suggest::nearest(error.found.as_str(), names.words.keys().map(String::as_str))
    {
        help = alloc::format!("did you mean `{name}`?");
    }
    place(full, number, offset + error.at, error.len, error.to_string(), help)
}

/// The address, in bytes, of the target of a valid word at `address`. `None` when the word is not a branch, or when the
/// target is in a register.
pub fn target(isa: &'static Isa, opcode: u16, word: u64, address: u64) -> Option<u64> {
    let (bits, ty, target, _) = branch(isa, opcode)?;
    let number = match ty {
        Type::Signed => sign_extend(bits.get(word, 0), bits.width()),
        _ => bits.get(word, 0) as i64,
    };
    Some(target.address(number, address, address.wrapping_add(bytes(isa))))
}

/// The branch target operand of a form: its bits, their type, the target's origin and unit, and the prefix of the
/// number.
fn branch(isa: &'static Isa, opcode: u16) -> Option<(Bits, Type, Target, &'static str)> {
    isa.forms.get(usize::from(opcode))?.operands.iter().find_map(|operand| match operand.shape {
        table::Shape::Number { bits, ty, prefix, target: Some(target) } => Some((bits, ty, target, prefix)),
        _ => None,
    })
}

fn bytes(isa: &Isa) -> u64 {
    u64::from(isa.word_bits / 8).max(1)
}

/// The branch targets within a program whose first word is at `base`, as indices of words.
///
/// Words that are not instructions are skipped. A target may lie directly after the last word.
fn targets(isa: &'static Isa, words: &[u64], base: u64) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    if !(0..isa.forms.len()).any(|opcode| branch(isa, opcode as u16).is_some()) {
        return found;
    }
    for (index, &word) in words.iter().enumerate() {
        if let Ok(opcode) = decode(isa, word) {
            found.extend(place_of(isa, opcode, word, index, base).filter(|place| *place <= words.len()));
        }
    }
    found
}

fn place_of(isa: &'static Isa, opcode: u16, word: u64, index: usize, base: u64) -> Option<usize> {
    let address = target(isa, opcode, word, base.wrapping_add(bytes(isa).wrapping_mul(index as u64)))?;
    let offset = address.wrapping_sub(base);
    if offset % bytes(isa) == 0 { usize::try_from(offset / bytes(isa)).ok() } else { None }
}

/// The name of the label at a place in a program.
pub fn label_of(place: usize) -> String {
    alloc::format!("l{place}")
}

/// Appends the text of a valid word at a place in a program at `base`. A branch to one of `targets` prints the label
/// there.
fn print_at(
    isa: &'static Isa,
    (opcode, word): (u16, u64),
    (place, base): (usize, u64),
    targets: &BTreeSet<usize>,
    style: Style,
    line: &mut Line,
) {
    let to = if targets.is_empty() { None } else { place_of(isa, opcode, word, place, base) };
    match to.filter(|to| targets.contains(to)) {
        None => print(isa, opcode, word, style, line),
        Some(to) => {
            let mut text = Line::new();
            print(isa, opcode, word, style, &mut text);
            line.push_str(&with_label(isa, (opcode, word), text.as_str(), &label_of(to)));
        }
    }
}

/// Replaces the number in a branch's text, and the prefix of the number, with a label.
fn with_label(isa: &'static Isa, (opcode, word): (u16, u64), text: &str, label: &str) -> String {
    let Some((bits, ty, _, prefix)) = branch(isa, opcode) else { return text.to_string() };
    let mut number = Line::new();
    number.write(|pen| write_number(ty, bits.get(word, 0), bits.width(), pen));
    let written = alloc::format!("{prefix}{}", number.as_str());
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'));
    let stands_alone = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + written.len()..].chars().next();
        !is_part(after) && (!prefix.is_empty() || !is_part(before))
    };
    match text.match_indices(&written).map(|(at, _)| at).filter(stands_alone).last() {
        Some(at) => alloc::format!("{}{label}{}", &text[..at], &text[at + written.len()..]),
        None => text.to_string(),
    }
}

/// The text of a valid word that the assembler does not accept, because it breaks one of [`Isa::limits`], as a directive
/// that it accepts, with the text in a comment. `None` if the text is accepted.
pub fn refused(isa: &'static Isa, opcode: u16, word: u64) -> Option<String> {
    check_limits(isa, isa.forms.get(usize::from(opcode))?, word).err()?;
    let mut line = Line::new();
    print(isa, opcode, word, Style::Customary, &mut line);
    let digits = usize::from(isa.word_bits.div_ceil(4));
    Some(alloc::format!(".word 0x{word:0digits$x} // {}", line.as_str()))
}

/// Prints a program, one instruction per line, with a label before each branch target. In the exact style, the text
/// assembles to the same words. A word that is not an instruction prints as `.word`, followed by the reason; in the exact
/// style, so does one that the assembler refuses, followed by its text. Returns the number of words that are not
/// instructions.
///
/// # Errors
/// Those of the writer; a `String` returns none.
///
/// # Examples
///
/// ```
/// use isaforge_core::{print::Style, program::{assemble, disassemble}};
/// use isaforge_vpu::ISA;
///
/// let (words, mut text) = ([0x2a00004000800000, u64::MAX], String::new());
/// let invalid = disassemble(ISA, &words, Style::Customary, &mut text)?;
/// assert_eq!(invalid, 1);
/// assert_eq!(assemble(ISA, &text), Ok(words.to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn disassemble(
    isa: &'static Isa,
    words: &[u64],
    style: Style,
    out: &mut impl fmt::Write,
) -> Result<usize, fmt::Error> {
    disassemble_at(isa, words, 0, style, out)
}

/// Prints a program whose first word has this address, which matters to branches with absolute targets.
///
/// # Errors
/// Those of the writer.
pub fn disassemble_at(
    isa: &'static Isa,
    words: &[u64],
    base: u64,
    style: Style,
    out: &mut impl fmt::Write,
) -> Result<usize, fmt::Error> {
    let targets = targets(isa, words, base);
    let digits = isa.word_bits.div_ceil(4) as usize;
    let mut line = Line::new();
    let mut invalid = 0;
    for (place, &word) in words.iter().enumerate() {
        if targets.contains(&place) {
            writeln!(out, "{}:", label_of(place))?;
        }
        match decode(isa, word) {
            Ok(opcode) => {
                match if style == Style::Exact { refused(isa, opcode, word) } else { None } {
                    Some(text) => out.write_str(&text)?,
                    None => {
                        line.clear();
                        print_at(isa, (opcode, word), (place, base), &targets, style, &mut line);
                        out.write_str(line.as_str())?;
                    }
                }
                out.write_char('\n')?;
            }
            Err(error) => {
                invalid += 1;
                writeln!(out, ".word 0x{word:0digits$x} // {error}")?;
            }
        }
    }
    if targets.contains(&words.len()) {
        writeln!(out, "{}:", label_of(words.len()))?;
    }
    Ok(invalid)
}
