//! What the text after the set may be: machine code in any form, an enum, a word in either byte order, or a search.

use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::table::Enum;

use crate::builtin::Tables;
use crate::code::{self, How};
use crate::example::example;
use crate::failure::Failure;
use crate::input::Input;
use crate::list;
use crate::mistakes::Mistake;
use crate::names::enums;
use crate::output::say;
use crate::paint::{DIM, HELP, paint};
use crate::target::Target;
use crate::words::{Encoding, parse_word, word_bytes, word_digits};

/// The bytes of a program, and the address of the first.
pub type Placed = (Vec<u8>, u64);

/// The code in a text that is neither a name nor a single word or line, in any form that other commands read, and the
/// address of its first byte. An error if it is digits that are no code.
///
/// # Errors
/// When a file contains no code for the instruction set.
pub fn code_in(target: &Target, what: &str, input: &Input) -> Result<Result<Option<Placed>, Mistake>, Failure> {
    let numbers: Vec<&str> = what.split([' ', '\t', '\n', '\r', ',']).filter(|number| !number.is_empty()).collect();
    let digits = |number: &&str| number.trim_start_matches("0x").trim_start_matches("0X").to_owned();
    let is_prefixed = |number: &&str| digits(number).len() < number.len();
    let is_word = matches!(target.tables, Tables::Words(isa) if parse_word(isa, what).is_some())
        || numbers.len() == 1 && numbers.iter().all(is_prefixed);
    if is_word || example(target.tables, what).is_some() {
        return Ok(Ok(None));
    }
    let assembly = target.tables.assemble(what);
    if assembly.errors.is_empty() && !assembly.bytes.is_empty() {
        return Ok(Ok((what.lines().count() > 1).then_some((assembly.bytes, 0))));
    }
    let is_text = std::str::from_utf8(input.body()).is_ok_and(|text| !text.contains('\0'));
    let encoding = is_text.then_some(Encoding::Hex);
    let found = code::read(target.tables, input, How { encoding, ..target.how() })?;
    let Some(mistake) = found.mistake else {
        target.layouts()?;
        // There is no option here that selects another reading.
        if let Some(note) = found.note.as_deref().and_then(|note| note.split("; `--").next()) {
            say(&format!("{}: {note}", paint(HELP, "note")));
        }
        // Code at several addresses is explained as one program.
        let address = if found.shaders.is_empty() { found.address } else { 0 };
        return Ok(Ok(Some((found.code.bytes, address)).filter(|(bytes, _)| !bytes.is_empty())));
    };
    let digits: Vec<String> = numbers.iter().map(digits).collect();
    let is_hexadecimal = digits.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_counted = digits.iter().any(|number| number.bytes().any(|byte| byte.is_ascii_digit()));
    let is_code = is_hexadecimal && (is_counted || digits.iter().all(|number| number.len() == 2));
    // One number may be a search.
    let is_code = is_code && (digits.len() > 1 || searched(target, what).is_none());
    if is_code || !is_text || what.contains('{') { Ok(Err(mistake)) } else { Ok(Ok(None)) }
}

/// Finds an enum by name. Case is ignored unless the name is also that of an instruction.
pub fn choices_of(tables: Tables, name: &str) -> Option<Enum> {
    let enums = enums(tables);
    let by = |is: &dyn Fn(&str) -> bool| enums.iter().copied().find(|found| is(found.name));
    by(&|known| known == name).or_else(|| {
        let nearly = by(&|known| known.eq_ignore_ascii_case(name))?;
        example(tables, name).is_none().then_some(nearly)
    })
}

/// Byte-swaps a word that is written without `0x`, which would say that it is a number, if only its bytes in memory
/// order decode.
pub fn in_order(isa: &'static Isa, what: &str, word: u64) -> u64 {
    let bytes = word.to_le_bytes();
    let turned = bytes[..word_bytes(isa)].iter().fold(0, |turned, byte| turned << 8 | u64::from(*byte));
    if decode(isa, word).is_ok() || decode(isa, turned).is_err() {
        return word;
    }
    if what.starts_with("0x") || what.starts_with("0X") {
        let digits = word_digits(isa);
        let message = format!("the bytes in the other order are an instruction: `explain 0x{turned:0digits$x}`");
        say(&format!("{}: {message}", paint(HELP, "note")));
        return word;
    }
    say(&format!(
        "{}: `{what}` is read as bytes in memory order, since it is an instruction only that way",
        paint(HELP, "note")
    ));
    turned
}

/// Lists the instructions that match part of a mnemonic, or words of a description.
pub fn searched(target: &Target, what: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-');
    let found = if what.chars().all(plain) { list::search(target, what)? } else { return None };
    Some(format!(
        "{}\n{found}",
        paint(DIM, &format!("instructions that match `{what}`; `explain` with a name describes one:"))
    ))
}
