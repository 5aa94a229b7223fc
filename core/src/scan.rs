//! The fast path of assembling: instructions written exactly as they print.
//!
//! Nearly all text that programs generate looks like this, so it is tried first. Words are loaded eight bytes at a time
//! and looked up by hash, blanks are accepted only where the printer puts them, and labels and directives are not
//! handled. Text that does not fit for any reason goes to [`parse`](crate::parse), which accepts more and reports
//! errors.

use crate::encode::{check_limits, fits, place_list};
use crate::table::{Isa, Kind, Modifier, Operand, Shape, Token, Type, mix};
use crate::text::Text;

/// Reads the instruction that starts at `start` and ends with its line. Returns its opcode, its word and its end.
/// `None` means only that the slow path must decide.
pub(crate) fn instruction(isa: &'static Isa, text: &[u8], start: usize) -> Option<(u16, u64, usize)> {
    let mut at = start;
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    let (opcode, at) = mnemonic(isa, text, at)?;
    let form = &isa.forms[opcode as usize];
    if !form.script.scans {
        return None;
    }
    let mut scan = Scan { isa, text, at, word: form.initial, limited: 0 };
    let mut chosen = 0;
    for token in form.syntax {
        match token {
            Token::Mnemonic | Token::Field(_) => {}
            Token::Text(text) => scan.expect(text)?,
            Token::Modifiers => chosen = scan.modifiers(form.modifiers, !form.placed, chosen)?,
            Token::Modifier(i) => chosen = scan.modifiers(form.modifiers, 1 << i, chosen)?,
            Token::Operand(i) => scan.operand(&form.operands[*i as usize])?,
        }
    }
    let ended = match text.get(scan.at) {
        None | Some(b'\n') => true,
        Some(b'\r') => text.get(scan.at + 1) == Some(&b'\n'),
        _ => false,
    };
    // Other values of the shared fields change the meaning of the operands.
    let usual = scan.word & isa.usual_mask == isa.usual_value;
    // This number of operands cannot break any rule.
    let few = form.limits.iter().all(|at_most| scan.limited <= *at_most);
    let valid = ended
        && usual
        && complete(form.modifiers, form.quiet_mask, chosen)
        && (few || check_limits(isa, form, scan.word).is_ok());
    valid.then_some((opcode, scan.word, scan.at))
}

/// Whether every modifier without a default was written. A nonzero quiet mask means that all have one.
#[inline(always)]
fn complete(modifiers: &[Modifier], quiet_mask: u64, chosen: u32) -> bool {
    quiet_mask != 0 || modifiers.iter().enumerate().all(|(i, m)| m.default.is_some() || chosen & 1 << i != 0)
}

/// Finds the form whose name is at `at`, and the end of the name. Names may contain dots; the longest match wins.
#[inline(always)]
fn mnemonic(isa: &'static Isa, text: &[u8], at: usize) -> Option<(u16, usize)> {
    usual_mnemonic(isa, text, at).or_else(|| any_mnemonic(isa, text, at))
}

/// Does the same for the usual names, which have at most 16 bytes and at most one dot.
#[inline(always)]
fn usual_mnemonic(isa: &'static Isa, text: &[u8], at: usize) -> Option<(u16, usize)> {
    if isa.names.dots != 1 {
        return None;
    }
    let (first, second) = (load(text, at), load(text, at + 8));
    let ends = packed(ends(first)) | packed(ends(second)) << 8;
    let word = ends.trailing_zeros() as usize;
    if word < 16 && text.get(at + word) == Some(&b'.') {
        let len = (ends & (ends - 1)).trailing_zeros() as usize;
        let found = name_of(isa, first, second, len)?;
        if found.is_some() {
            return found.map(|opcode| (opcode, at + len));
        }
    }
    name_of(isa, first, second, word)?.map(|opcode| (opcode, at + word))
}

/// The form with this name of `len` bytes: `Some(None)` if there is none, `None` when the name is too long to tell.
#[inline(always)]
fn name_of(isa: &'static Isa, first: u64, second: u64, len: usize) -> Option<Option<u16>> {
    if len > 16 {
        return None;
    }
    let first = first & low(len);
    let second = second & low(len.saturating_sub(8));
    let hash = if len > 8 { mix(mix(0, first), second) } else { mix(0, first) };
    let slots = isa.names.slots;
    let mut slot = hash as u32 as usize;
    loop {
        let opcode = *slots.get(slot & slots.len().wrapping_sub(1))?;
        let Some(form) = isa.forms.get(opcode as usize) else { return Some(None) };
        // Names contain no zero bytes, so the zero padding determines the length.
        if form.name.sixteen() == u128::from(second) << 64 | u128::from(first) {
            return Some(Some(opcode));
        }
        slot += 1;
    }
}

#[inline(never)]
fn any_mnemonic(isa: &'static Isa, text: &[u8], at: usize) -> Option<(u16, usize)> {
    let short = Word::from(text, at);
    if text.get(short.end()) != Some(&b'.') || isa.names.dots == 0 {
        return short.name(text, isa).map(|opcode| (opcode, short.end()));
    }
    let mut words = [short; 4];
    let mut count = 1;
    while count <= isa.names.dots as usize && count < words.len() && text.get(words[count - 1].end()) == Some(&b'.') {
        words[count] = Word::long(text, at, words[count - 1].len + 1);
        count += 1;
    }
    words[..count].iter().rev().find_map(|word| word.name(text, isa).map(|opcode| (opcode, word.end())))
}

/// Loads the eight bytes at `at` in little-endian order, padded with zeros past the end.
#[inline(always)]
fn load(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last(text, at),
    }
}

#[inline(never)]
fn load_last(text: &[u8], at: usize) -> u64 {
    let missing = (at + 8).saturating_sub(text.len());
    match text.last_chunk() {
        _ if missing >= 8 => 0,
        Some(bytes) => u64::from_le_bytes(*bytes) >> (8 * missing),
        None => text[at..].iter().rev().fold(0, |value, byte| value << 8 | *byte as u64),
    }
}

/// A mask of the lowest `count` bytes, or of all eight if `count` is larger.
#[inline(always)]
fn low(count: usize) -> u64 {
    if count >= 8 { u64::MAX } else { !(u64::MAX << (8 * count)) }
}

/// The highest bit of each byte that ends a word: a blank, a comma, a dot, anything below the digits.
#[inline(always)]
fn ends(bytes: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    !((bytes | HIGH) - ZEROS) & !bytes & HIGH
}

/// The number of bytes, of eight, before the first that ends a word.
#[inline(always)]
fn before_end(bytes: u64) -> usize {
    ends(bytes).trailing_zeros() as usize / 8
}

/// Packs the highest bits of eight bytes into one byte.
#[inline(always)]
fn packed(high: u64) -> u32 {
    // The multiplication moves the bit of byte `i` to bit 56 + `i`, and no other products collide with these.
    ((high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// A piece of the text.
#[derive(Clone, Copy)]
struct Word {
    at: usize,
    len: usize,
    /// Its first eight bytes, padded with zeros.
    first: u64,
}

impl Word {
    /// The word from `at` to its end.
    fn from(text: &[u8], at: usize) -> Self {
        let bytes = load(text, at);
        match before_end(bytes) {
            8 => Word::long(text, at, 8),
            len => Word { at, len, first: bytes & low(len) },
        }
    }

    /// The word from `at`, whose end is at least `len` bytes later.
    #[inline(never)]
    fn long(text: &[u8], at: usize, mut len: usize) -> Self {
        loop {
            let more = before_end(load(text, at + len));
            len += more;
            if more < 8 {
                return Word { at, len, first: load(text, at) & low(len) };
            }
        }
    }

    #[inline(always)]
    fn end(&self) -> usize {
        self.at + self.len
    }

    /// The same as [`hash_name`](crate::table::hash_name).
    #[inline]
    fn hash(&self, text: &[u8]) -> u32 {
        let mut hash = mix(0, self.first);
        let mut done = 8;
        while done < self.len {
            hash = mix(hash, load(text, self.at + done) & low(self.len - done));
            done += 8;
        }
        hash as u32
    }

    #[inline]
    fn is(&self, text: &[u8], other: &Text) -> bool {
        self.first == other.first()
            && self.len == other.str.len()
            && (self.len <= 8 || text.get(self.at + 8..self.end()) == other.str.as_bytes().get(8..))
    }

    /// The form with this name.
    #[inline]
    fn name(&self, text: &[u8], isa: &Isa) -> Option<u16> {
        let slots = isa.names.slots;
        let mut slot = self.hash(text) as usize;
        loop {
            let opcode = *slots.get(slot & slots.len().wrapping_sub(1))?;
            match isa.forms.get(opcode as usize) {
                Some(form) if self.is(text, &form.name) => return Some(opcode),
                Some(_) => slot += 1,
                None => return None,
            }
        }
    }

    /// The operand of a kind with this text.
    #[inline]
    fn operand(&self, text: &[u8], kind: &Kind) -> Option<u64> {
        let mut slot = self.hash(text) as usize;
        loop {
            let index = *kind.slots.get(slot & kind.slots.len().wrapping_sub(1))?;
            match kind.texts.get(index as usize) {
                Some(known) if self.is(text, known) => return Some(index as u64),
                Some(_) => slot += 1,
                None => return None,
            }
        }
    }
}

/// The operand of a kind whose text is `bytes`, at most seven of them.
#[inline(always)]
fn short_operand(kind: &Kind, bytes: u64) -> Option<u64> {
    let mut slot = mix(0, bytes) as u32 as usize;
    loop {
        let index = *kind.slots.get(slot & kind.slots.len().wrapping_sub(1))?;
        // Texts contain no zero bytes, so the zero padding determines the length.
        match kind.texts.get(index as usize) {
            Some(known) if known.first() == bytes => return Some(index as u64),
            Some(_) => slot += 1,
            None => return None,
        }
    }
}

/// The operand of a kind at `at`, of any length, and that length.
#[inline(never)]
fn long_operand(kind: &Kind, text: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut word = Word::from(text, at);
    loop {
        match word.operand(text, kind) {
            Some(found) => return Some((found, word.len)),
            // Few operand texts contain a dot; for those, the lookup is repeated with the text that follows.
            None if text.get(word.end()) == Some(&b'.') => word = Word::long(text, at, word.len + 1),
            None => return None,
        }
    }
}

struct Scan<'a> {
    isa: &'static Isa,
    text: &'a [u8],
    at: usize,
    word: u64,
    /// Number of operands that a rule of [`Isa::limits`] may count.
    limited: u8,
}

impl Scan<'_> {
    #[inline(always)]
    fn expect(&mut self, text: &Text) -> Option<()> {
        let len = text.str.len();
        let here = load(self.text, self.at) & low(len) == text.first();
        let rest = len <= 8 || self.text.get(self.at + 8..self.at + len) == text.str.as_bytes().get(8..);
        self.at += len;
        (here && rest).then_some(())
    }

    /// Reads modifiers from `allowed` that are not in `chosen`. Returns `chosen` with those read added.
    #[inline(always)]
    fn modifiers(&mut self, modifiers: &'static [Modifier], allowed: u32, mut chosen: u32) -> Option<u32> {
        while self.text.get(self.at) == Some(&b'.') {
            // With its highest bit set, the dot does not end the word.
            let bytes = load(self.text, self.at);
            let len = before_end(bytes | 0x80);
            let open = allowed & !chosen;
            let ((i, value), len) = match len {
                8 => self.long_modifier(modifiers, open)?,
                _ => (self.modifier(modifiers, open, |text| text.first() == bytes & low(len))?, len),
            };
            self.word = modifiers[i].bits.set(self.word, 0, value);
            self.at += len;
            chosen |= 1 << i;
        }
        Some(chosen)
    }

    /// The first modifier in `open` that has a text for which `is_it` holds, and its value.
    #[inline(always)]
    fn modifier(
        &self,
        modifiers: &'static [Modifier],
        open: u32,
        is_it: impl Fn(&Text) -> bool,
    ) -> Option<(usize, u64)> {
        for (i, modifier) in modifiers.iter().enumerate() {
            if open & 1 << i == 0 {
                continue;
            }
            let value = match modifier.ty {
                Type::Enum(e) => self.isa.enums[e as usize].dotted.iter().position(&is_it),
                _ => is_it(&modifier.flag).then_some(1),
            };
            if let Some(value) = value {
                return Some((i, value as u64));
            }
        }
        None
    }

    #[inline(never)]
    fn long_modifier(&self, modifiers: &'static [Modifier], open: u32) -> Option<((usize, u64), usize)> {
        let word = Word::long(self.text, self.at, 1);
        Some((self.modifier(modifiers, open, |text| word.is(self.text, text))?, word.len))
    }

    #[inline(always)]
    fn operand(&mut self, operand: &'static Operand) -> Option<()> {
        match &operand.shape {
            Shape::One { kind, at } => {
                let kind = &self.isa.kinds[*kind as usize];
                let bytes = load(self.text, self.at);
                let len = before_end(bytes);
                let (found, len) = match short_operand(kind, bytes & low(len)) {
                    Some(found) if len < 8 => (found, len),
                    _ => long_operand(kind, self.text, self.at)?,
                };
                self.at += len;
                self.word |= found << (at & 63);
                self.limited += (found & kind.limited_mask == kind.limited_value) as u8;
            }
            Shape::List { .. } => self.list(operand)?,
            Shape::Number { .. } => self.number(operand)?,
        }
        if operand.suffixes.is_empty() {
            return Some(());
        }
        let chosen = self.modifiers(operand.suffixes, u32::MAX, 0)?;
        complete(operand.suffixes, operand.quiet_mask, chosen).then_some(())
    }

    #[inline(never)]
    fn list(&mut self, operand: &'static Operand) -> Option<()> {
        let Shape::List { kind, open, separator, .. } = &operand.shape else { return None };
        let kind = &self.isa.kinds[*kind as usize];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        self.at += self.text.get(self.at..)?.starts_with(open.as_bytes()).then_some(open.len())?;
        let (mut first, mut count) = (0, 0);
        loop {
            let rest = self.text.get(self.at..)?;
            let len = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
            if len == 0 && count == 0 {
                break;
            }
            let word = Word { at: self.at, len, first: load(self.text, self.at) & low(len) };
            let register = word.operand(self.text, kind)?;
            if count == 0 {
                first = register;
            } else if register != first + count {
                return None;
            }
            count += 1;
            self.at += len;
            if count > 255 || !self.text.get(self.at..)?.starts_with(separator.as_bytes()) {
                break;
            }
            self.at += separator.len();
        }
        self.word = place_list(self.isa, operand, self.word, first, count).ok()?;
        Some(())
    }

    #[inline(never)]
    fn number(&mut self, operand: &'static Operand) -> Option<()> {
        let Shape::Number { bits, ty, prefix, .. } = &operand.shape else { return None };
        let mut rest = self.text.get(self.at..)?.strip_prefix(prefix.as_bytes())?;
        let negative = rest.first() == Some(&b'-');
        if negative {
            rest = &rest[1..];
        }
        let hex = rest.starts_with(b"0x");
        let digits = if hex { &rest[2..] } else { rest };
        let (radix, most) = if hex { (16, 15) } else { (10, 18) };
        let mut value = 0i64;
        let mut count = 0;
        while let Some(digit) = digits.get(count).and_then(|byte| (*byte as char).to_digit(radix)) {
            // More digits might overflow.
            if count == most {
                return None;
            }
            value = value * radix as i64 + digit as i64;
            count += 1;
        }
        // Anything that continues after the digits is not a number in printed form.
        let ended = digits.get(count).is_none_or(|byte| *byte < b'0');
        let value = if negative { -value } else { value };
        if count == 0 || !ended || !fits(*ty, value, bits.width()) {
            return None;
        }
        self.word = bits.set(self.word, 0, value as u64);
        self.at = self.text.len() - (digits.len() - count);
        Some(())
    }
}
