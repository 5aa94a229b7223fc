//! Decodes bytes to instructions, strictly.

use super::error::{DecodeError, wrong_bits};
use super::expression::Input;
use super::piece::extract;
use super::table::MAX_CHAIN;
use super::table::{Branch, Field, Layout, Lookup, Quick, Role, Set, Source, Stream, Tested, Tree, Type};
use super::wide::Wide;
use crate::bits::sign_extend;

/// The tables of an instruction set, and a generation of it.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The tables.
    pub stream: &'static Stream,
    /// The generation.
    pub generation: u32,
}

/// A decoded instruction. It keeps its bits, so it encodes to the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its layout: index into [`Stream::layouts`].
    pub layout: u16,
    /// Its bits; all bits past its length are zero.
    pub word: Wide,
    /// Its length in bytes.
    pub len: u8,
}

/// A source of values for the fields of a layout.
pub trait Values {
    /// The value of a field, nested `depth` expressions deep.
    fn value_at(&self, field: u8, depth: u8) -> u64;
}

/// A layout, applied to some bits.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The tables.
    pub engine: Engine,
    /// The layout.
    pub layout: &'static Layout,
    /// The bits.
    pub word: &'a Wide,
    /// The length of the instruction in bytes.
    pub len: u8,
    /// The source of parameters: the enclosing scope, and its fields that are passed.
    pub outer: Option<(&'a dyn Values, &'static [u8])>,
}

impl core::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scope").field("layout", &self.layout.name).field("word", self.word).finish_non_exhaustive()
    }
}

impl Field {
    /// Converts raw bits to the value: sign-extended for signed fields.
    #[inline]
    pub fn extended(&self, raw: u64) -> u64 {
        if self.signed {
            sign_extend(raw, self.width.into()) as u64
        } else {
            raw & crate::bits::ones(self.width.into())
        }
    }
}

impl Values for Scope<'_> {
    fn value_at(&self, field: u8, depth: u8) -> u64 {
        let Some(found) = self.layout.fields.get(usize::from(field)) else { return 0 };
        let raw = match found.source {
            Source::Bits(pieces) => extract(self.word, pieces),
            Source::Computed { .. } if depth >= MAX_CHAIN => 0,
            Source::Computed { value, .. } => {
                self.engine.expression(value, self.len, &|field| self.value_at(field, depth + 1))
            }
            Source::Outer(parameter) => match self.outer {
                Some((outer, arguments)) => {
                    arguments.get(usize::from(parameter)).map_or(0, |field| outer.value_at(*field, depth))
                }
                None => 0,
            },
        };
        found.extended(raw)
    }
}

impl Tree {
    /// The candidate layouts for the bits of a word.
    #[inline]
    fn leaf(&'static self, word: &Wide) -> &'static [u16] {
        let mut branch = &self.root;
        // Branches only lead downwards; the bound guards against hand-made tables.
        for _ in 0..=self.branches.len() {
            match branch {
                Branch::Nothing => break,
                Branch::One(candidate) => return core::slice::from_ref(candidate),
                Branch::List(list) => return self.lists.get(*list as usize).copied().unwrap_or_default(),
                Branch::Look { shift, width, first } => {
                    let value = word.get_near((*shift).into(), (*width).into());
                    let Some(next) = self.branches.get(*first as usize + value as usize) else { break };
                    branch = next;
                }
            }
        }
        &[]
    }
}

impl Quick {
    /// Whether the pattern matches and the conditions hold.
    #[inline]
    fn fits(&self, word: &Wide) -> bool {
        let [low, high @ ..] = &word.0;
        let (conditions, _) = self.lookups();
        (low ^ self.low.value) & self.low.mask == 0
            && self.more.is_none_or(|more| more.high.iter().zip(high).all(|(c, chunk)| (chunk ^ c.value) & c.mask == 0))
            && conditions.iter().all(|lookup| lookup.allows(word))
    }

    /// Whether all other bits are valid as well, given that [`fits`](Self::fits) holds.
    #[inline]
    fn is_valid(&self, word: &Wide) -> bool {
        let [low, high @ ..] = &word.0;
        let (_, checks) = self.lookups();
        (low ^ self.low.value) & self.low.fixed == 0
            && checks.iter().all(|lookup| lookup.allows(word))
            && self.more.is_none_or(|more| {
                more.high.iter().zip(high).all(|(c, chunk)| (chunk ^ c.value) & c.fixed == 0)
                    && more.trees.iter().all(|tree| !tree.leaf(word).is_empty())
            })
    }

    /// The lookups for conditions, and those for valid values.
    #[inline]
    fn lookups(&self) -> (&'static [Lookup], &'static [Lookup]) {
        self.lookups.split_at_checked(self.conditions.into()).unwrap_or((self.lookups, &[]))
    }
}

impl<'a> Scope<'a> {
    /// The value of a field; signed fields are extended to 64 bits.
    pub fn value(&self, field: u8) -> u64 {
        self.value_at(field, 0)
    }

    /// The value of an expression.
    pub fn expression(&self, index: u16) -> u64 {
        self.engine.expression(index, self.len, &|field| self.value_at(field, 0))
    }

    /// Whether the pattern matches and the conditions hold.
    #[inline]
    pub fn fits(&self) -> bool {
        let Layout { mask, value, conditions, .. } = self.layout;
        self.word.matches(mask, value)
            && self.engine.has(self.layout)
            && conditions.iter().all(|condition| self.expression(*condition) != 0)
    }

    /// Finds the layout of a set that fits the bits of a field.
    pub fn reading(&self, set: u16, arguments: &'static [u8], bits: &'a Wide) -> Option<Scope<'_>> {
        let set = self.engine.stream.sets.get(usize::from(set))?;
        self.engine.candidates(set, bits).find_map(|index| {
            let layout = self.engine.stream.layouts.get(usize::from(index))?;
            let scope = Scope { layout, word: bits, outer: Some((self, arguments)), ..*self };
            scope.fits().then_some(scope)
        })
    }

    /// The raw bits of a field, as a set reads them.
    pub fn bits(&self, field: &Field, index: u8) -> Wide {
        match field.source {
            Source::Bits(pieces) => {
                let mut bits = Wide::ZERO;
                let mut at = 0;
                for piece in pieces {
                    bits.set(at, piece.width.into(), self.word.get(piece.at.into(), piece.width.into()));
                    at += u32::from(piece.width);
                }
                bits
            }
            _ => Wide::new(self.value(index) & crate::bits::ones(field.width.into())),
        }
    }

    /// Checks every bit that the pattern does not cover.
    ///
    /// # Errors
    /// The first error.
    pub fn validate(&self) -> Result<(), DecodeError> {
        let layout = self.layout;
        if !self.word.matches(&layout.fixed_mask, &layout.fixed_value)
            && let Some((bits, expected, found)) = wrong_bits(self.word, layout.fixed_mask, layout.fixed_value)
        {
            return Err(DecodeError::Fixed { name: layout.name, bits, expected, found });
        }
        if layout.simple {
            return Ok(());
        }
        (0..layout.fields.len()).try_for_each(|index| self.validate_field(index as u8))
    }

    /// Whether the value of a field is valid.
    pub fn field_is_valid(&self, index: u8) -> bool {
        self.validate_field(index).is_ok()
    }

    fn validate_field(&self, index: u8) -> Result<(), DecodeError> {
        let layout = self.layout;
        let Some(field) = layout.fields.get(usize::from(index)) else { return Ok(()) };
        let reserved = |found| DecodeError::Reserved { name: layout.name, field: field.name, found };
        match field.ty {
            Type::Number(_) | Type::Enum(_, Some(_)) | Type::Float(_) => {}
            Type::Enum(names, None) => {
                let found = self.value(index);
                if self.engine.stream.enums.get(usize::from(names)).is_none_or(|e| named(e, found).is_none()) {
                    return Err(reserved(found));
                }
            }
            Type::Register(bank) => {
                let found = self.value(index);
                if self.engine.stream.banks.get(usize::from(bank)).is_none_or(|b| found >= u64::from(b.count)) {
                    return Err(reserved(found));
                }
            }
            Type::Set(set, arguments) => {
                let bits = self.bits(field, index);
                match self.reading(set, arguments, &bits) {
                    Some(reading) => reading.validate()?,
                    None => return Err(reserved(bits.get(0, 64))),
                }
            }
        }
        Ok(())
    }
}

/// The enum value with these bits. If several names share them, the one that prints.
pub(super) fn named(names: &crate::table::Enum, bits: u64) -> Option<&'static crate::table::Value> {
    let values: &'static [crate::table::Value] = names.values;
    let at = values.partition_point(|value| value.bits < bits);
    values.get(at).filter(|value| value.bits == bits)
}

impl Engine {
    /// Whether the generation has the instruction or the alternative that a layout describes.
    #[inline]
    pub fn has(&self, layout: &Layout) -> bool {
        (layout.since..=layout.until).contains(&self.generation)
    }

    /// The value of an expression in an instruction of `len` bytes; `field` gives the values of fields.
    pub(super) fn expression(&self, index: u16, len: u8, field: &dyn Fn(u8) -> u64) -> u64 {
        let found = self.stream.expressions.get(usize::from(index));
        found.map_or(0, |expression| {
            expression.value(|input| match input {
                Input::Field(index) => field(index),
                Input::Generation => self.generation.into(),
                Input::Length => len.into(),
            })
        })
    }

    /// The candidate layouts of a set, in the order in which they must be tried.
    #[inline]
    pub(super) fn candidates(&self, set: &'static Set, word: &Wide) -> impl Iterator<Item = u16> + use<> {
        set.tree.leaf(word).iter().copied()
    }

    /// Decodes the instruction at the start of `bytes`. Bytes after it are ignored.
    ///
    /// # Errors
    /// Why there is no instruction.
    pub fn decode(&self, bytes: &[u8]) -> Result<Decoded, DecodeError> {
        // No test depends on bits past the longest instruction.
        let word = self.peek(bytes);
        if let Some((layout, len)) = self.quick(&word)
            && bytes.len() >= usize::from(len)
        {
            return Ok(Decoded { layout, word: word.low(8 * u32::from(len)), len });
        }
        self.decode_exactly(bytes, word.low(8 * u32::from(self.stream.longest)))
    }

    /// The layout and length of a word that is known to be valid. `None` means that the exact path must decide.
    #[inline]
    fn quick(&self, word: &Wide) -> Option<(u16, u8)> {
        let tests = self.stream.tested.iter().find(|tested| tested.generation == self.generation)?.tests;
        let test = |index: u16| match *tests.get(usize::from(index))? {
            Tested::NEVER => Some(None),
            test => self.stream.quick.get(usize::from(test)).map(Some),
        };
        let mut candidates = self.candidates(self.stream.sets.first()?, word);
        while let Some(index) = candidates.next() {
            let Some(quick) = test(index)? else { continue };
            let len = match &quick.lengths {
                None => quick.len,
                Some(lengths) => *lengths.leaf(word).first()? as u8,
            };
            if !quick.fits(word) {
                continue;
            }
            if !quick.is_valid(word) {
                return None;
            }
            if self.stream.exclusive {
                // Ignore the bits after the instruction.
                let word = word.low(8 * u32::from(len));
                for other in candidates {
                    if test(other)?.is_some_and(|quick| quick.fits(&word)) && self.differ(index, other) {
                        return None;
                    }
                }
            }
            return Some((index, len));
        }
        None
    }

    /// Decodes words that the fast path does not accept, and reports errors.
    #[inline(never)]
    fn decode_exactly(&self, bytes: &[u8], word: Wide) -> Result<Decoded, DecodeError> {
        let (index, len) = self.find(&word)?;
        let len = usize::from(len);
        if bytes.len() < len {
            return Err(DecodeError::Short { needed: len, have: bytes.len() });
        }
        let decoded = Decoded { layout: index, word: word.low(8 * len as u32), len: len as u8 };
        self.scope(&decoded).validate()?;
        Ok(decoded)
    }

    /// Finds the layout of a word and its length in bytes, without checking bits that do not affect the choice.
    pub(super) fn find(&self, word: &Wide) -> Result<(u16, u8), DecodeError> {
        let Some(set) = self.stream.sets.first() else { return Err(DecodeError::Unknown) };
        let mut candidates = self.candidates(set, word);
        while let Some(index) = candidates.next() {
            let Some(layout) = self.stream.layouts.get(usize::from(index)) else { continue };
            let mut scope = Scope { engine: *self, layout, word, len: (layout.bits / 8) as u8, outer: None };
            let mut says = u64::from(scope.len);
            if let Some(length) = layout.length {
                says = scope.expression(length);
                scope.len = says.min(self.stream.longest.into()) as u8;
            }
            // Ignore the bits after the instruction.
            let bits = word.low(8 * u32::from(scope.len));
            if !(Scope { word: &bits, ..scope }).fits() {
                continue;
            }
            if says == 0 || says != u64::from(scope.len) || !says.is_multiple_of(self.stream.unit.max(1).into()) {
                return Err(DecodeError::Length { name: layout.name, found: says });
            }
            if self.stream.exclusive
                && let Some(other) = candidates.find(|other| self.rivals(index, *other, &bits))
            {
                let other = self.stream.layouts.get(usize::from(other)).map_or("", |other| other.name);
                return Err(DecodeError::Conflict { name: layout.name, other });
            }
            return Ok((index, scope.len));
        }
        Err(DecodeError::Unknown)
    }

    /// Whether the bits, which fit one layout, also fit another one that belongs to a different instruction.
    fn rivals(&self, index: u16, other: u16, word: &Wide) -> bool {
        let Some(layout) = self.stream.layouts.get(usize::from(other)) else { return false };
        let len = (layout.bits / 8) as u8;
        self.differ(index, other) && Scope { engine: *self, layout, word, len, outer: None }.fits()
    }

    /// Whether two layouts belong to different instructions.
    fn differ(&self, index: u16, other: u16) -> bool {
        let opcode = |index: u16| self.stream.layouts.get(usize::from(index)).map(|layout| layout.opcode);
        opcode(index) != opcode(other)
    }

    /// The scope of a decoded instruction.
    pub fn scope<'a>(&self, decoded: &'a Decoded) -> Scope<'a> {
        static NONE: Layout = Layout::NONE;
        let layout = self.stream.layouts.get(usize::from(decoded.layout)).unwrap_or(&NONE);
        Scope { engine: *self, layout, word: &decoded.word, len: decoded.len, outer: None }
    }

    /// Loads the bits of an instruction from memory.
    #[inline]
    pub fn load(&self, bytes: &[u8]) -> Wide {
        self.peek(bytes).low(8 * u32::from(self.stream.longest))
    }

    /// Does the same, without clearing bits past the longest instruction.
    #[inline]
    fn peek(&self, bytes: &[u8]) -> Wide {
        let word = match bytes.first_chunk() {
            Some(first) if self.stream.longest <= 8 => Wide::new(u64::from_le_bytes(*first)),
            _ => Wide::from_bytes(bytes),
        };
        if self.stream.swap <= 1 { word } else { swapped(word, self.stream.swap) }
    }

    /// Stores a word in memory order. Only the first bytes, up to the instruction's length, are significant.
    pub fn store(&self, word: Wide) -> [u8; Wide::BYTES] {
        if self.stream.swap <= 1 { word.to_bytes() } else { swapped(word, self.stream.swap).to_bytes() }
    }
}

/// Reverses the bytes in every group of `unit` bytes.
fn swapped(word: Wide, unit: u8) -> Wide {
    let mut bytes = word.to_bytes();
    for part in bytes.chunks_mut(usize::from(unit)) {
        part.reverse();
    }
    Wide::from_bytes(&bytes)
}

impl Layout {
    /// An empty layout, in place of one that does not exist.
    const NONE: Layout = Layout {
        name: "",
        opcode: 0,
        role: Role::Own,
        bits: 0,
        length: None,
        since: 0,
        until: u32::MAX,
        mask: Wide::ZERO,
        value: Wide::ZERO,
        fixed_mask: Wide::ZERO,
        fixed_value: Wide::ZERO,
        ignored: Wide::ZERO,
        conditions: &[],
        otherwise: &[],
        fields: &[],
        text: &[],
        key: "",
        operands: &[],
        simple: true,
    };
}
