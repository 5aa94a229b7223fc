//! Finds the bits that give the values in a text.
//!
//! The value of a field with bits of its own needs no solving. A computed value is traced back to the fields that
//! determine it: by the inverse that the specification gives, as a linear function of one field (a factor and an
//! offset), as a sum of bits (a system of equations over GF(2)), or by trying all values of at most [`TRIED`] bits. If
//! several values of a few bits give it, other fields decide between them. Every solution is checked by evaluating the
//! expression, so no method can produce a wrong result. Fields without constraints have their defaults.
//!
//! - `trace`: traces a computed value back
//! - `build`: the instruction that has the values
//! - `check`: what the compiler checks about the fields of a layout

mod build;
mod check;
mod trace;

use core::cell::Cell;

pub use check::{deciding, gives, leaves_of, returns, shows};

use super::decode::{Engine, Scope};
use super::error::Reason;
use super::expression::Input;
use super::parse::mnemonic;
use super::piece::insert;
use super::table::{Layout, MAX_CHAIN, MAX_FIELDS, Role, Source};
use super::wide::Wide;
use crate::bits::ones;
use crate::text::{Line, Word};

/// The maximum number of bits whose values are enumerated.
pub const TRIED: u32 = 16;

/// Marks a field for which no layout has been chosen.
const NONE: u16 = u16::MAX;
/// The maximum number of conditions of token groups in a frame, which the compiler enforces.
pub const MAX_TRUTHS: usize = 24;

/// The maximum number of steps for parsing one instruction.
const STEPS: u32 = 400_000;

/// The steps of all attempts to parse an instruction.
#[derive(Default)]
pub(super) struct Steps(Cell<u32>);

impl Steps {
    /// Counts a step. `false` if the limit is exceeded.
    pub(super) fn step(&self) -> bool {
        self.0.set(self.0.get().saturating_add(1));
        !self.exhausted()
    }

    pub(super) fn exhausted(&self) -> bool {
        self.0.get() > STEPS
    }
}

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
    pub(super) fn assume(&mut self, engine: Engine, condition: u16, holds: bool) -> bool {
        if self.leaves_of(engine, condition) & !self.known == 0 && self.decides(engine, condition, 0) {
            return (self.expression(engine, condition, 0) != 0) == holds;
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
    pub(super) fn known(&self, engine: Engine, field: u8) -> Option<u64> {
        let found = self.layout.fields.get(usize::from(field))?;
        if self.knows(field) {
            return self.values.get(usize::from(field)).copied();
        }
        let computed = matches!(found.source, Source::Computed { .. });
        (computed && found.leaves & !self.known == 0).then(|| self.value(engine, field, 0))
    }

    /// The value of a field: the known value for one with bits of its own, the computed value for others.
    fn value(&self, engine: Engine, field: u8, depth: u8) -> u64 {
        let Some(found) = self.layout.fields.get(usize::from(field)) else { return 0 };
        match found.source {
            Source::Computed { value, .. } if depth < MAX_CHAIN => {
                found.extended(self.expression(engine, value, depth + 1))
            }
            _ => self.values.get(usize::from(field)).copied().unwrap_or(0),
        }
    }

    fn expression(&self, engine: Engine, index: u16, depth: u8) -> u64 {
        engine.expression(index, self.len.unwrap_or(0), &|field| self.value(engine, field, depth))
    }

    /// Whether an expression can be evaluated, because it does not depend on a length that is unknown.
    fn decides(&self, engine: Engine, index: u16, depth: u8) -> bool {
        let inputs = engine.stream.expressions.get(usize::from(index)).map_or(&[][..], |found| found.inputs);
        self.len.is_some()
            || inputs.iter().all(|input| match input {
                Input::Length => false,
                Input::Generation => true,
                Input::Field(field) => match self.layout.fields.get(usize::from(*field)).map(|field| &field.source) {
                    Some(Source::Computed { value, .. }) if depth < MAX_CHAIN => {
                        self.decides(engine, *value, depth + 1)
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
    fn consistent(&self, engine: Engine, before: u64) -> bool {
        let new = |leaves: u64| before == 0 || leaves & !before != 0;
        self.constraints(engine)
            .all(|(leaves, constraint)| leaves & !self.known != 0 || !new(leaves) || self.satisfies(engine, constraint))
    }

    /// A condition that the known values violate, or a known value that should follow from others.
    pub(super) fn violated(&self, engine: Engine) -> Option<Reason> {
        let decided = |(leaves, constraint): &(u64, Constraint)| {
            let given = if let Constraint::Field(field) = constraint { 1u64 << (field & 63) } else { 0 };
            leaves & !given & !self.known == 0 && !self.satisfies(engine, *constraint)
        };
        let first = self.constraints(engine).find(decided)?.1;
        match first {
            Constraint::Truth(condition, true) if self.layout.conditions.contains(&condition) => {
                let found = engine.stream.expressions.get(usize::from(condition))?;
                // Instructions of one mnemonic have different names in the specification.
                let is_own = engine.stream.layouts_of(0).iter().any(|own| core::ptr::eq(own, self.layout));
                let name = mnemonic(self.layout).filter(|_| is_own).unwrap_or(self.layout.name);
                Some(Reason::Condition(name, found.text)).filter(|_| !found.text.is_empty())
            }
            Constraint::Truth(..) => None,
            Constraint::Field(index) => {
                let field = self.layout.fields.get(usize::from(index))?;
                // The word does not hold parameters.
                let mut all = self.layout.fields.iter().enumerate().filter(|(i, _)| field.leaves >> (i & 63) & 1 != 0);
                if all.any(|(_, leaf)| matches!(leaf.source, Source::Outer(_))) {
                    return None;
                }
                let (word, mut line) = (self.word(), Line::new());
                let len = self.len.unwrap_or(0);
                let scope = Scope { engine, layout: self.layout, word: &word, len, outer: None };
                scope.print_field(index, &mut line, 0);
                Some(Reason::Follows(field.name, Word::new(line.as_str()))).filter(|_| !line.as_str().is_empty())
            }
        }
    }

    fn satisfies(&self, engine: Engine, constraint: Constraint) -> bool {
        match constraint {
            Constraint::Field(i) => self.values.get(usize::from(i)).is_some_and(|v| self.value(engine, i, 0) == *v),
            Constraint::Truth(condition, holds) => (self.expression(engine, condition, 0) != 0) == holds,
        }
    }

    /// The constraints that can be evaluated for the known length, each with the fields that determine it.
    fn constraints(&self, engine: Engine) -> impl Iterator<Item = (u64, Constraint)> {
        let fields = self.layout.fields.iter().enumerate().take(MAX_FIELDS);
        let computed = fields.filter(move |(i, f)| match f.source {
            Source::Computed { value, .. } => self.knows(*i as u8) && self.decides(engine, value, 0),
            _ => false,
        });
        let computed = computed.map(|(i, field)| (field.leaves | 1 << i, Constraint::Field(i as u8)));
        let truths = self.truths.iter().take(self.count.into()).copied();
        let truths = truths.chain(self.layout.conditions.iter().map(|condition| (*condition, true)));
        let truths = truths.chain(self.layout.otherwise.iter().map(|condition| (*condition, false)));
        let truths = truths.filter(move |(condition, _)| self.decides(engine, *condition, 0));
        let truths = truths
            .map(move |(condition, holds)| (self.leaves_of(engine, condition), Constraint::Truth(condition, holds)));
        computed.chain(truths)
    }

    /// The fields with bits of their own that determine an expression.
    fn leaves_of(&self, engine: Engine, expression: u16) -> u64 {
        let Some(found) = engine.stream.expressions.get(usize::from(expression)) else { return 0 };
        found.inputs.iter().fold(0, |leaves, input| match input {
            Input::Field(field) => leaves | self.layout.fields.get(usize::from(*field)).map_or(0, |field| field.leaves),
            _ => leaves,
        })
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

/// Calls `then` for each way to complete a frame until it accepts one. Returns whether it did.
pub(super) fn solve(engine: Engine, steps: &Steps, frame: &Frame, then: &mut dyn FnMut(&Frame) -> bool) -> bool {
    solve_after(engine, steps, frame, 0, then)
}

/// Does the same for a frame that is known to be consistent in the fields `before`.
fn solve_after(
    engine: Engine,
    steps: &Steps,
    frame: &Frame,
    before: u64,
    then: &mut dyn FnMut(&Frame) -> bool,
) -> bool {
    let mut frame = *frame;
    // Each turn solves for a field, so there are at most as many turns as fields.
    for _ in 0..MAX_FIELDS {
        let fields = frame.layout.fields.iter().enumerate().take(MAX_FIELDS);
        let mut open = fields.filter(|(i, field)| {
            matches!(field.source, Source::Computed { .. }) && frame.knows(*i as u8) && field.leaves & !frame.known != 0
        });
        match open.find_map(|(i, _)| frame.traced(engine, i as u8, true)) {
            Some(next) => frame = next,
            None => break,
        }
    }
    if !steps.step() || !frame.consistent(engine, before) {
        return false;
    }
    let before = frame.known;
    // Enumerate the fields that constraints still need, fewest bits first; all other fields have their defaults.
    let open = frame.constraints(engine).map(|(leaves, constraint)| {
        let asked = match constraint {
            Constraint::Field(field) => asked(engine, frame.layout, field) & !frame.known,
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
        if let Some(next) = asked.find_map(|i| frame.traced(engine, i, false)) {
            return solve_after(engine, steps, &next, before, then);
        }
        frame.fill(open, defaults);
        return solve_after(engine, steps, &frame, before, then);
    }
    (0..1u64 << width).any(|bits| {
        frame.fill(open, bits ^ defaults);
        steps.step() && frame.consistent(engine, before) && solve_after(engine, steps, &frame, frame.known, then)
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
