//! Finds the bits that give the values in a text.
//!
//! The value of a field with bits of its own needs no solving. A computed value is traced back to the fields that
//! determine it: by the inverse that the specification gives, as a linear function of one field (a factor and an
//! offset), as a sum of bits (a system of equations over GF(2)), or by trying all values of at most [`TRIED`] bits. If
//! several values of a few bits give it, other fields decide between them. Every solution is checked by evaluating the
//! expression, so no method can produce a wrong result. Fields without constraints have their defaults.

use super::decode::{Engine, Scope, Values, extract, insert};
use super::expression::Input;
use super::parse::Reader;
use super::table::{Layout, MAX_CHAIN, MAX_FIELDS, Role, Source, Token};
use super::wide::Wide;
use crate::bits::ones;

/// The maximum number of bits whose values are enumerated.
pub const TRIED: u32 = 16;

/// The maximum number of bits of a single value that are enumerated before arithmetic methods are tried.
const FEW: u32 = 8;

/// Marks a field for which no layout has been chosen.
const NONE: u16 = u16::MAX;
/// The maximum number of conditions of token groups in a frame, which the compiler enforces.
pub const MAX_TRUTHS: usize = 24;

/// What a text has determined about a layout so far.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) layout: &'static Layout,
    values: [u64; MAX_FIELDS],
    /// Fields whose value is known, as a bit set.
    known: u64,
    /// The layout that was read for a field.
    chosen: [u16; MAX_FIELDS],
    /// Conditions of token groups, and whether they must hold.
    truths: [(u16, bool); MAX_TRUTHS],
    count: u8,
    /// The length of the instruction in bytes; `None` when it depends on its bits.
    len: Option<u8>,
    /// The number of asides that have been read.
    pub(super) asides: u8,
}

/// A reading of an operand.
pub(super) struct Reading<'a> {
    /// What the text determines about its layout.
    pub(super) inner: &'a Frame,
    /// The bits of the operand, if the text determines any.
    pub(super) bits: Option<u64>,
    /// The index of the layout.
    pub(super) index: u16,
    /// The fields that are passed as its parameters.
    pub(super) arguments: &'static [u8],
}

impl Values for (&Frame, &Reader<'_>) {
    fn value_at(&self, field: u8, depth: u8) -> u64 {
        self.0.value(self.1, field, depth)
    }
}

impl Frame {
    pub(super) fn new(layout: &'static Layout) -> Frame {
        Frame {
            layout,
            values: [0; MAX_FIELDS],
            known: 0,
            chosen: [NONE; MAX_FIELDS],
            truths: [(0, false); MAX_TRUTHS],
            count: 0,
            len: layout.length.is_none().then_some((layout.bits / 8) as u8),
            asides: 0,
        }
    }

    /// A frame for an operand, which shares the length and the asides of this frame.
    pub(super) fn operand(&self, layout: &'static Layout) -> Frame {
        Frame { len: self.len, asides: self.asides, ..Frame::new(layout) }
    }

    fn knows(&self, field: u8) -> bool {
        self.known >> (field & 63) & 1 != 0
    }

    /// Sets the value of a field. Returns `false`, without a change, if it already has another value or cannot have
    /// this one.
    pub(super) fn set(&mut self, field: u8, value: u64) -> bool {
        let Some(found) = self.layout.fields.get(usize::from(field)) else { return false };
        let value = found.extended(value & ones(found.width.into()));
        let known = self.knows(field);
        let Some(own) = self.values.get_mut(usize::from(field)) else { return false };
        if known {
            return *own == value;
        }
        *own = value;
        self.known |= 1 << (field & 63);
        true
    }

    /// Requires that a condition of a token group holds or does not hold. Returns `false`, without a change, if the
    /// opposite is already known.
    pub(super) fn assume(&mut self, reader: &Reader<'_>, condition: u16, holds: bool) -> bool {
        if self.leaves_of(reader, condition) & !self.known == 0 && self.decides(reader, condition, 0) {
            return (self.expression(reader, condition, 0) != 0) == holds;
        }
        let Some(free) = self.truths.get_mut(usize::from(self.count)) else { return false };
        *free = (condition, holds);
        self.count += 1;
        true
    }

    /// Whether no bits of the layout are known.
    pub(super) fn says_nothing(&self) -> bool {
        let own =
            |(i, field): (usize, &super::table::Field)| matches!(field.source, Source::Bits(_)) && self.knows(i as u8);
        self.layout.mask.is_zero() && !self.layout.fields.iter().enumerate().take(MAX_FIELDS).any(own)
    }

    /// Adds the reading of an operand: its bits, if known, and the values that it requires of its parameters.
    pub(super) fn with_reading(&self, field: u8, reading: &Reading<'_>) -> Option<Frame> {
        let Reading { inner, bits, index, arguments } = *reading;
        let mut frame = *self;
        if bits.is_some_and(|bits| !frame.set(field, bits)) {
            return None;
        }
        if inner.layout.role == Role::Own {
            *frame.chosen.get_mut(usize::from(field))? = index;
        }
        for (i, field) in inner.layout.fields.iter().enumerate().take(MAX_FIELDS) {
            if let Source::Outer(parameter) = field.source
                && inner.knows(i as u8)
                && !frame.set(*arguments.get(usize::from(parameter))?, inner.values[i])
            {
                return None;
            }
        }
        frame.asides = inner.asides;
        Some(frame)
    }

    /// The value of a field, if it is known or follows from known fields.
    pub(super) fn known(&self, reader: &Reader<'_>, field: u8) -> Option<u64> {
        let found = self.layout.fields.get(usize::from(field))?;
        if self.knows(field) {
            return self.values.get(usize::from(field)).copied();
        }
        let computed = matches!(found.source, Source::Computed { .. });
        (computed && found.leaves & !self.known == 0).then(|| self.value(reader, field, 0))
    }

    /// The value of a field: the known value for one with bits of its own, the computed value for others.
    fn value(&self, reader: &Reader<'_>, field: u8, depth: u8) -> u64 {
        let Some(found) = self.layout.fields.get(usize::from(field)) else { return 0 };
        match found.source {
            Source::Computed { value, .. } if depth < MAX_CHAIN => {
                found.extended(self.expression(reader, value, depth + 1))
            }
            _ => self.values.get(usize::from(field)).copied().unwrap_or(0),
        }
    }

    fn expression(&self, reader: &Reader<'_>, index: u16, depth: u8) -> u64 {
        reader.engine.expression(index, self.len.unwrap_or(0), &|field| self.value(reader, field, depth))
    }

    /// Whether an expression can be evaluated, because it does not depend on a length that is unknown.
    fn decides(&self, reader: &Reader<'_>, index: u16, depth: u8) -> bool {
        let inputs = reader.engine.stream.expressions.get(usize::from(index)).map_or(&[][..], |found| found.inputs);
        self.len.is_some()
            || inputs.iter().all(|input| match input {
                Input::Length => false,
                Input::Generation => true,
                Input::Field(field) => match self.layout.fields.get(usize::from(*field)).map(|field| &field.source) {
                    Some(Source::Computed { value, .. }) if depth < MAX_CHAIN => {
                        self.decides(reader, *value, depth + 1)
                    }
                    _ => true,
                },
            })
    }

    /// The bits, with defaults in place of unknown fields.
    pub(super) fn word(&self) -> Wide {
        let layout = self.layout;
        let mut word = Wide::ZERO;
        for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
            if let Source::Bits(pieces) = field.source {
                let value = if self.knows(i as u8) { self.values[i] } else { field.default };
                insert(&mut word, pieces, value);
            }
        }
        word & !layout.fixed_mask | layout.fixed_value
    }

    /// Whether a scope has all values that were read, and reads its operands with the same layouts.
    pub(super) fn holds(&self, scope: &Scope<'_>) -> bool {
        self.layout.fields.iter().enumerate().take(MAX_FIELDS).all(|(i, field)| {
            let index = i as u8;
            let value = !self.knows(index) || scope.value(index) == self.values[i];
            let reading = self.chosen[i] == NONE || {
                let super::table::Type::Set(set, arguments) = field.ty else { return false };
                let bits = scope.bits(field, index);
                let chosen = scope.engine.stream.layouts.get(usize::from(self.chosen[i]));
                let found = scope.reading(set, arguments, &bits);
                found.is_some_and(|found| chosen.is_some_and(|chosen| core::ptr::eq(found.layout, chosen)))
            };
            value && reading
        }) && self
            .truths
            .iter()
            .take(self.count.into())
            .all(|(condition, holds)| (scope.expression(*condition) != 0) == *holds)
    }

    /// Whether all constraints with known fields hold. Constraints whose fields were all in `before` are skipped.
    fn consistent(&self, reader: &Reader<'_>, before: u64) -> bool {
        let new = |leaves: u64| before == 0 || leaves & !before != 0;
        self.constraints(reader)
            .all(|(leaves, constraint)| leaves & !self.known != 0 || !new(leaves) || self.satisfies(reader, constraint))
    }

    fn satisfies(&self, reader: &Reader<'_>, constraint: Constraint) -> bool {
        match constraint {
            Constraint::Field(i) => self.values.get(usize::from(i)).is_some_and(|v| self.value(reader, i, 0) == *v),
            Constraint::Truth(condition, holds) => (self.expression(reader, condition, 0) != 0) == holds,
        }
    }

    /// The constraints that can be evaluated for the known length, each with the fields that determine it.
    fn constraints(&self, reader: &Reader<'_>) -> impl Iterator<Item = (u64, Constraint)> {
        let fields = self.layout.fields.iter().enumerate().take(MAX_FIELDS);
        let computed = fields.filter(|(i, f)| match f.source {
            Source::Computed { value, .. } => self.knows(*i as u8) && self.decides(reader, value, 0),
            _ => false,
        });
        let computed = computed.map(|(i, field)| (field.leaves | 1 << i, Constraint::Field(i as u8)));
        let truths = self.truths.iter().take(self.count.into()).copied();
        let truths = truths.chain(self.layout.conditions.iter().map(|condition| (*condition, true)));
        let truths = truths.chain(self.layout.otherwise.iter().map(|condition| (*condition, false)));
        let truths = truths.filter(|(condition, _)| self.decides(reader, *condition, 0));
        let truths =
            truths.map(|(condition, holds)| (self.leaves_of(reader, condition), Constraint::Truth(condition, holds)));
        computed.chain(truths)
    }

    /// The fields with bits of their own that determine an expression.
    fn leaves_of(&self, reader: &Reader<'_>, expression: u16) -> u64 {
        let Some(found) = reader.engine.stream.expressions.get(usize::from(expression)) else { return 0 };
        found.inputs.iter().fold(0, |leaves, input| match input {
            Input::Field(field) => leaves | self.layout.fields.get(usize::from(*field)).map_or(0, |field| field.leaves),
            _ => leaves,
        })
    }

    /// Traces a computed field back. With `only`, succeeds only if the solution is unique; otherwise sets bits that do
    /// not matter to zero.
    fn traced(&self, reader: &Reader<'_>, index: u8, only: bool) -> Option<Frame> {
        let field = self.layout.fields.get(usize::from(index))?;
        let Source::Computed { inverse, .. } = field.source else { return None };
        let target = self.values[usize::from(index)];
        if !inverse.is_empty() {
            return self.back(reader, inverse);
        }
        let unknown = field.leaves & !self.known;
        let width = self.width_of(unknown);
        if width > 64 {
            return None;
        }
        let mut frame = *self;
        let mut give = |bits: u64| {
            frame.fill(unknown, bits);
            frame.value(reader, index, 0)
        };
        let bits = if width <= FEW {
            // With `only`, the solution must be unique, since other fields may require a different one.
            let mut ways = (0..1u64 << width).filter(|bits| give(*bits) == target);
            ways.next().filter(|_| !only || ways.next().is_none())
        } else {
            affine(target, unknown.count_ones() == 1, width, &mut give)
                .or_else(|| linear(target, width, only, &mut give))
        }?;
        frame.fill(unknown, bits & ones(width));
        Some(frame)
    }

    /// Adds the results of the inverse for a known value, if all its inputs are known.
    fn back(&self, reader: &Reader<'_>, inverse: &[(u8, u16)]) -> Option<Frame> {
        let mut frame = *self;
        for (other, expression) in inverse {
            let asked = reader.engine.stream.expressions.get(usize::from(*expression))?.inputs;
            let is_known = |input: &Input| match input {
                Input::Field(field) => frame.known(reader, *field).is_some(),
                _ => true,
            };
            let known = |field: u8| frame.known(reader, field).unwrap_or(0);
            let value = reader.engine.expression(*expression, frame.len.unwrap_or(0), &known);
            if !asked.iter().all(is_known) || !frame.set(*other, value) {
                return None;
            }
        }
        Some(frame)
    }

    fn width_of(&self, fields: u64) -> u32 {
        let all = self.layout.fields.iter().enumerate().take(MAX_FIELDS);
        all.filter(|(i, _)| fields >> i & 1 != 0).map(|(_, field)| u32::from(field.width)).sum()
    }

    /// Sets some fields to concatenated bits, the first field lowest.
    fn fill(&mut self, fields: u64, mut bits: u64) {
        for (i, field) in self.layout.fields.iter().enumerate().take(MAX_FIELDS) {
            if fields >> i & 1 != 0 {
                self.values[i] = field.extended(bits & ones(field.width.into()));
                self.known |= 1 << i;
                bits = bits.checked_shr(field.width.into()).unwrap_or(0);
            }
        }
    }

    /// The concatenated defaults of some fields, the first field lowest.
    fn defaults(&self, fields: u64) -> u64 {
        let all = self.layout.fields.iter().enumerate().take(MAX_FIELDS);
        let (bits, _) = all.filter(|(i, _)| fields >> i & 1 != 0).fold((0, 0), |(bits, at), (_, field)| {
            (
                bits | (field.default & ones(field.width.into())).checked_shl(at).unwrap_or(0),
                at + u32::from(field.width),
            )
        });
        bits
    }
}

#[derive(Clone, Copy)]
enum Constraint {
    Field(u8),
    Truth(u16, bool),
}

/// Solves `give(x) == target` for `x` of `width` bits, where `give` multiplies by a factor and adds an offset.
fn affine(target: u64, single: bool, width: u32, mut give: impl FnMut(u64) -> u64) -> Option<u64> {
    let offset = give(0);
    let factor = give(1).wrapping_sub(offset) as i64;
    let distance = target.wrapping_sub(offset) as i64;
    if !single || factor == 0 || distance.checked_rem(factor)? != 0 {
        return None;
    }
    let found = distance.checked_div(factor)? as u64;
    // If only a part of a number matters, it is not a multiple, and other fields may need the rest. The top bit may be
    // a sign.
    let step = |bit: u32| (factor as u64).checked_shl(bit).unwrap_or(0);
    let whole = (0..width).all(|bit| {
        let given = give(1 << bit).wrapping_sub(offset);
        given == step(bit) || bit + 1 == width && given == step(bit).wrapping_neg()
    });
    (whole && give(found) == target).then_some(found)
}

/// Solves `give(x) == target` for `x` of `width` bits, where every bit of the result is a sum of bits of `x`. With
/// `only`, the solution must be unique.
fn linear(target: u64, width: u32, only: bool, mut give: impl FnMut(u64) -> u64) -> Option<u64> {
    let offset = give(0);
    // Columns in echelon form: the result bits of each, and the bits of `x` that produce them.
    let mut rows = [(0u64, 0u64); 64];
    for bit in 0..width {
        let (mut gives, mut made) = (give(1 << bit) ^ offset, 1u64 << bit);
        for (row, from) in rows.iter().rev() {
            if *row != 0 && gives >> (63 - row.leading_zeros()) & 1 != 0 {
                gives ^= row;
                made ^= from;
            }
        }
        if gives == 0 {
            if only {
                return None;
            }
            continue;
        }
        rows[63 - gives.leading_zeros() as usize] = (gives, made);
    }
    let (mut rest, mut found) = (target ^ offset, 0);
    for (at, (row, from)) in rows.iter().enumerate().rev() {
        if rest >> at & 1 != 0 && *row != 0 {
            rest ^= row;
            found ^= from;
        }
    }
    (rest == 0 && give(found) == target).then_some(found)
}

/// Calls `then` for each way to complete a frame until it accepts one. Returns whether it did.
pub(super) fn solve(reader: &Reader<'_>, frame: &Frame, then: &mut dyn FnMut(&Frame) -> bool) -> bool {
    solve_after(reader, frame, 0, then)
}

/// Does the same for a frame that is known to be consistent in the fields `before`.
fn solve_after(reader: &Reader<'_>, frame: &Frame, before: u64, then: &mut dyn FnMut(&Frame) -> bool) -> bool {
    let mut frame = *frame;
    // Each turn solves for a field, so there are at most as many turns as fields.
    for _ in 0..MAX_FIELDS {
        let fields = frame.layout.fields.iter().enumerate().take(MAX_FIELDS);
        let mut open = fields.filter(|(i, field)| {
            matches!(field.source, Source::Computed { .. }) && frame.knows(*i as u8) && field.leaves & !frame.known != 0
        });
        match open.find_map(|(i, _)| frame.traced(reader, i as u8, true)) {
            Some(next) => frame = next,
            None => break,
        }
    }
    if !reader.step() || !frame.consistent(reader, before) {
        return false;
    }
    let before = frame.known;
    // Enumerate the fields that constraints still need, fewest bits first; all other fields have their defaults.
    let open = frame.constraints(reader).map(|(leaves, constraint)| {
        let asked = match constraint {
            Constraint::Field(field) => asked(reader.engine, frame.layout, field) & !frame.known,
            Constraint::Truth(..) => 0,
        };
        if asked != 0 { asked } else { leaves & !frame.known }
    });
    let open = open.filter(|open| *open != 0);
    let Some(open) = open.min_by_key(|open| frame.width_of(*open)) else { return then(&frame) };
    let width = frame.width_of(open);
    let defaults = frame.defaults(open);
    if width > TRIED {
        let computed =
            |i: &u8| frame.layout.fields.get(usize::from(*i)).is_some_and(|f| f.leaves & !frame.known == open);
        let mut asked = (0..MAX_FIELDS as u8).filter(|i| frame.knows(*i)).filter(computed);
        if let Some(next) = asked.find_map(|i| frame.traced(reader, i, false)) {
            return solve_after(reader, &next, before, then);
        }
        frame.fill(open, defaults);
        return solve_after(reader, &frame, before, then);
    }
    (0..1u64 << width).any(|bits| {
        frame.fill(open, bits ^ defaults);
        reader.step() && frame.consistent(reader, before) && solve_after(reader, &frame, frame.known, then)
    })
}

/// The fields that the inverse of a computed field depends on, apart from that field and those that it sets.
pub fn asked(engine: Engine, layout: &'static Layout, index: u8) -> u64 {
    let Some(Source::Computed { inverse, .. }) = layout.fields.get(usize::from(index)).map(|field| &field.source)
    else {
        return 0;
    };
    let (mut asked, mut given) = (0, 0);
    for (other, expression) in *inverse {
        let inputs = engine.stream.expressions.get(usize::from(*expression)).map_or(&[][..], |found| found.inputs);
        for input in inputs {
            if let Input::Field(field) = input
                && *field != index
            {
                asked |= layout.fields.get(usize::from(*field)).map_or(0, |field| field.leaves);
            }
        }
        given |= 1 << (other & 63);
    }
    asked & !given
}

/// The fields with bits of their own, or from outside, that determine an expression of a layout, as a bit set.
pub fn leaves_of(engine: Engine, layout: &'static Layout, expression: u16) -> u64 {
    let reader = Reader::silent(engine);
    Frame::new(layout).leaves_of(&reader, expression)
}

/// Whether bits can be found for which a field of a layout has a value.
pub fn gives(engine: Engine, layout: &'static Layout, field: u8, value: u64) -> bool {
    let reader = Reader::silent(engine);
    // The layout's conditions are ignored here.
    let mut frame = Frame::new(layout);
    if !frame.set(field, value) {
        return false;
    }
    solve(&reader, &frame, &mut |frame| {
        frame.value(&reader, field, 0) == layout.fields.get(usize::from(field)).map_or(0, |f| f.extended(value))
    })
}

/// The number of bits that determine a field.
pub fn deciding(layout: &'static Layout, field: u8) -> u32 {
    let leaves = layout.fields.get(usize::from(field)).map_or(0, |field| field.leaves);
    Frame::new(layout).width_of(leaves)
}

/// Checks the inverse of a computed field for one assignment of the fields that determine it, given as concatenated
/// bits, the first field lowest. Assignments that the layout's conditions exclude are skipped.
///
/// # Errors
/// The value, if the inverse does not lead back to it.
pub fn returns(engine: Engine, layout: &'static Layout, field: u8, bits: u64) -> Result<(), u64> {
    let reader = Reader::silent(engine);
    let Some(found) = layout.fields.get(usize::from(field)) else { return Ok(()) };
    let Source::Computed { inverse, .. } = found.source else { return Ok(()) };
    let mut there = Frame::new(layout);
    there.fill(found.leaves, bits);
    if let Some(len) = layout.length.and_then(|_| reader.length(layout, &there.word())) {
        // Bits past the end are 0.
        let word = there.word() & Wide::ones(8 * u32::from(len));
        for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
            if let Source::Bits(pieces) = field.source
                && there.knows(i as u8)
            {
                there.values[i] = field.extended(extract(&word, pieces));
            }
        }
    }
    if !there.consistent(&reader, 0) {
        return Ok(());
    }
    let value = there.value(&reader, field, 0);
    let asked = asked(engine, layout, field);
    let mut back = Frame { known: there.known & asked | 1 << (field & 63), ..there };
    if let Some(own) = back.values.get_mut(usize::from(field)) {
        *own = value;
    }
    let same = match back.back(&reader, inverse) {
        Some(back) if found.leaves & !back.known == 0 => {
            back.value(&reader, field, 0) == value && back.consistent(&reader, 0)
        }
        _ => gives(engine, layout, field, value),
    };
    if same { Ok(()) } else { Err(value) }
}

/// Whether a field appears in the text of a layout.
pub fn shows(layout: &Layout, field: u8) -> bool {
    fn among(tokens: &[Token], field: u8) -> bool {
        tokens.iter().any(|token| match token {
            Token::Field(shown) | Token::Bits(shown, _) => *shown == field,
            Token::If(_, tokens) | Token::Aside(tokens) => among(tokens, field),
            _ => false,
        })
    }
    among(layout.text, field)
}
