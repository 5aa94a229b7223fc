//! Reads records of Intel HEX, and base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::mistakes::{Mistake, Place};

/// Code, and the address of its first byte.
pub type Placed = (u64, Vec<u8>);

/// The maximum number of bytes between records, in all, that are filled with zeros.
const MAX_GAP: u64 = 1 << 24;

/// The fewest characters of base64: a word with 64 bits.
const FEWEST: usize = 12;

/// The kinds of records.
const DATA: u8 = 0;
const END: u8 = 1;
const SEGMENT: u8 = 2;
const START_SEGMENT: u8 = 3;
const UPPER_HALF: u8 = 4;
const START: u8 = 5;

/// Reads a file of Intel HEX. `None` if it is none.
pub fn intel_hex(text: &str) -> Option<Result<Placed, Mistake>> {
    let lines = || text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let is_record = |line: &str| {
        line.strip_prefix(':').is_some_and(|digits| digits.len() >= 10 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
    };
    let first = lines().next().is_some_and(|(_, line)| is_record(line));
    first.then(|| records(lines()))
}

fn records<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Result<Placed, Mistake> {
    let (mut upper, mut start, mut bytes, mut ended) = (0, None, Vec::new(), false);
    let mut left = MAX_GAP;
    for (number, line) in lines {
        let mistake = |message: &str| Mistake {
            place: Place::Text(number + 1, 1),
            message: message.to_owned(),
            help: "a record of Intel HEX is a `:`, then its length, address, kind, data and checksum".to_owned(),
        };
        if ended {
            return Err(mistake("something follows the record that ends the file"));
        }
        let record = line.strip_prefix(':').and_then(digits).ok_or_else(|| mistake("this is no record"))?;
        let [size, high, low, kind, data @ .., _] = &record[..] else { return Err(mistake("the record is cut off")) };
        if data.len() != usize::from(*size) {
            let message = format!("the record has {} bytes of data, and its length says {size}", data.len());
            return Err(mistake(&message));
        }
        if record.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) != 0 {
            return Err(mistake("the checksum of the record is wrong"));
        }
        let base = |shift: u32| match data {
            [high, low] => Ok(u64::from(u16::from_be_bytes([*high, *low])) << shift),
            _ => Err(mistake("the record has another length than its kind")),
        };
        match *kind {
            DATA => {
                let address = upper + (u64::from(*high) << 8 | u64::from(*low));
                let end = *start.get_or_insert(address) + bytes.len() as u64;
                let gap = address.checked_sub(end).filter(|gap| *gap <= left);
                let gap = gap.ok_or_else(|| mistake("the record does not follow the one before it"))?;
                left -= gap;
                bytes.resize(bytes.len() + gap as usize, 0);
                bytes.extend(data);
            }
            END => ended = true,
            SEGMENT => upper = base(4)?,
            UPPER_HALF => upper = base(16)?,
            // They say where execution starts.
            START_SEGMENT | START => {}
            kind => return Err(mistake(&format!("there are no records of kind {kind}"))),
        }
    }
    Ok((start.unwrap_or(0), bytes))
}

/// The bytes of pairs of digits.
fn digits(text: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2);
    text.bytes().all(|c| c.is_ascii_hexdigit()).then(|| text.as_bytes().chunks(2).map(pair).collect())?
}

/// Decodes base64, whose lines have one length except for the last. `None` if the text is none, or all of it is digits.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let (last, others) = lines.split_last()?;
    let length = others.first().unwrap_or(last).len();
    let is_even = others.iter().all(|line| line.len() == length) && last.len() <= length && length >= FEWEST;
    let all = lines.concat();
    let is_digits = all.bytes().all(|c| c.is_ascii_hexdigit());
    if is_even && !is_digits { STANDARD.decode(all).ok() } else { None }
}
