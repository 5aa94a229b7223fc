//! Proves that words read the same: the layout that decodes them has a counterpart that decodes all of them, prints
//! them the same, and is preceded by no other layout that matches them.

use std::cell::RefCell;
use std::collections::HashMap;

use isaforge_core::stream::{Engine, Expression, Input, Layout, Notation, Role, Source, Token, Type, Wide};
use isaforge_core::table::Enum;

use super::generation::active;
use crate::diff::identity::each;

/// The maximum nesting of kinds that is followed; the compiler does not allow a kind to contain itself.
const MAX_DEPTH: u8 = 24;

/// Two revisions, with the results for their kinds.
pub(super) struct Alike {
    pub old: Engine,
    pub new: Engine,
    /// Whether all operands of an old kind read the same in a new kind.
    sets: RefCell<HashMap<(u16, u16), bool>>,
}

/// A layout from each revision.
#[derive(Clone, Copy)]
struct Two<'a>(&'a Layout, &'a Layout);

/// Whether a word may match both patterns.
pub(super) fn meet(a: &Layout, b: &Layout) -> bool {
    ((a.fixed_value ^ b.value) & a.fixed_mask & b.mask).is_zero()
}

impl Alike {
    pub(super) fn new(old: Engine, new: Engine) -> Alike {
        Alike { old, new, sets: RefCell::default() }
    }

    /// Whether all valid words of an instruction's layout read the same in the new revision.
    pub(super) fn instruction(&self, layout: &Layout) -> bool {
        let (old, new) = (self.old.stream, self.new.stream);
        let bytes = old.swap.max(1) == new.swap.max(1) && old.unit.max(1).is_multiple_of(new.unit.max(1));
        bytes && (old.exclusive || !new.exclusive) && self.reader(0, 0, layout, 0)
    }

    /// The layouts of a set, in the order of trying.
    fn layouts(engine: Engine, set: u16) -> impl Iterator<Item = &'static Layout> {
        let layouts = engine.stream.layouts_of(set.into()).iter();
        layouts.filter(move |layout| layout.role == Role::Own && active(engine, layout))
    }

    /// Whether a layout has a counterpart that decodes all its words the same, without an earlier match.
    fn reader(&self, old: u16, new: u16, layout: &Layout, depth: u8) -> bool {
        // Several layouts may have its name: variants that are distinguished by conditions.
        let all = || Self::layouts(self.new, new).filter(|other| meet(layout, other));
        let named = || all().filter(|other| other.name == layout.name);
        let alike = |partner: &&Layout| {
            self.words(Two(layout, partner), depth) && (!set_of(new) || self.texts(layout, partner, depth))
        };
        let partner = named().find(alike).or_else(|| all().filter(|other| other.name != layout.name).find(alike));
        let Some(partner) = partner else { return false };
        // If words that match two instructions are invalid, later layouts matter as well.
        let exclusive = self.new.stream.exclusive && set_of(new);
        let rivals = Self::layouts(self.new, new)
            .take_while(|other| exclusive || !std::ptr::eq(*other, partner))
            .filter(|other| !std::ptr::eq(*other, partner) && meet(layout, other));
        rivals.into_iter().all(|rival| {
            // A word that matches the rival also matched an earlier layout in the old revision, so that it was not
            // decoded by this layout.
            let before = Self::layouts(self.old, old)
                .take_while(|other| exclusive || !std::ptr::eq(*other, layout))
                .filter(|other| !std::ptr::eq(*other, layout));
            before.into_iter().any(|other| {
                let own = !exclusive || other.opcode != layout.opcode || rival.opcode == partner.opcode;
                own && self.fits_too(rival, other, depth)
            })
        })
    }

    /// Whether all words that match a layout of the new revision match one of the old.
    fn fits_too(&self, new: &Layout, old: &Layout, depth: u8) -> bool {
        let given = (old.mask & !new.mask).is_zero() && ((old.value ^ new.value) & old.mask).is_zero();
        let asked = |condition: &u16| new.conditions.iter().any(|c| self.same(Two(old, new), *condition, *c, depth));
        given && (old.length.is_none() || self.length(Two(old, new), depth)) && old.conditions.iter().all(asked)
    }

    fn length(&self, both: Two<'_>, depth: u8) -> bool {
        match (both.0.length, both.1.length) {
            (None, None) => both.0.bits == both.1.bits,
            (Some(a), Some(b)) => self.same(both, a, b, depth),
            _ => false,
        }
    }

    /// Whether all valid words of the old layout match the new one, are valid there and print the same.
    fn words(&self, both: Two<'_>, depth: u8) -> bool {
        let Two(a, b) = both;
        if depth > MAX_DEPTH {
            return false;
        }
        let constant =
            (b.fixed_mask & !a.fixed_mask).is_zero() && ((a.fixed_value ^ b.fixed_value) & b.fixed_mask).is_zero();
        let holds = |condition: &u16| a.conditions.iter().any(|c| self.same(both, *c, *condition, depth));
        let valid = |index: u8| {
            let field = &b.fields[usize::from(index)];
            let always = matches!(field.ty, Type::Number(_) | Type::Float(_) | Type::Enum(_, Some(_)));
            always || (0..a.fields.len() as u8).any(|i| self.field(both, i, index, depth))
        };
        constant
            && self.length(both, depth)
            && b.conditions.iter().all(holds)
            && (b.simple || (0..b.fields.len() as u8).all(valid))
            && self.tokens(both, a.text, b.text, depth)
    }

    /// Whether two instructions have the same aliases.
    fn texts(&self, a: &Layout, b: &Layout, depth: u8) -> bool {
        let aliases = |engine: Engine, layout: &Layout| -> Vec<&'static Layout> {
            let instruction = engine.stream.instructions.get(usize::from(layout.opcode));
            let all = instruction.into_iter().flat_map(|instruction| instruction.preferred);
            let all = all.filter_map(|index| engine.stream.layouts.get(usize::from(*index)));
            all.filter(|alias| active(engine, alias) && meet(layout, alias)).collect()
        };
        each(&aliases(self.old, a), &aliases(self.new, b), |x, y| {
            let pattern = |layout: &Layout| (layout.mask, layout.value);
            let both = Two(x, y);
            pattern(x) == pattern(y)
                && each(x.conditions, y.conditions, |c, d| self.same(both, *c, *d, depth))
                && self.tokens(both, x.text, y.text, depth)
        })
    }

    fn tokens(&self, both: Two<'_>, a: &[Token], b: &[Token], depth: u8) -> bool {
        each(a, b, |x, y| match (x, y) {
            (Token::Text(x), Token::Text(y)) => x == y,
            (Token::Field(x), Token::Field(y)) => self.field(both, *x, *y, depth),
            (Token::Column(x), Token::Column(y)) => x == y,
            (Token::If(c, x), Token::If(d, y)) => self.same(both, *c, *d, depth) && self.tokens(both, x, y, depth),
            (Token::Bits(x, n), Token::Bits(y, m)) => n == m && self.value(both, *x, *y, depth),
            (Token::Aside(x), Token::Aside(y)) => self.tokens(both, x, y, depth),
            _ => false,
        })
    }

    /// Whether two fields have the same value, and the valid values of the old field are valid in the new one and print
    /// the same.
    fn field(&self, both: Two<'_>, a: u8, b: u8, depth: u8) -> bool {
        let (Some(x), Some(y)) = (both.0.fields.get(usize::from(a)), both.1.fields.get(usize::from(b))) else {
            return false;
        };
        let notation = |n: Notation| Notation { call: false, ..n };
        let written = match (x.ty, y.ty) {
            (Type::Number(n), Type::Number(m)) => notation(n) == notation(m),
            (Type::Float(n), Type::Float(m)) => n == m,
            (Type::Enum(e, n), Type::Enum(f, m)) => {
                let (e, f) = (&self.old.stream.enums[usize::from(e)], &self.new.stream.enums[usize::from(f)]);
                n.map(notation) == m.map(notation) && names(e, f, n.is_some())
            }
            (Type::Register(e), Type::Register(f)) => {
                let (e, f) = (&self.old.stream.banks[usize::from(e)], &self.new.stream.banks[usize::from(f)]);
                let name = |names: &'static [&'static str], n: usize| names.get(n).copied().unwrap_or_default();
                let all = (0..e.count.min(e.names.len().max(f.names.len()) as u32) as usize)
                    .all(|n| name(e.names, n) == name(f.names, n));
                e.count <= f.count && (e.open, e.close) == (f.open, f.close) && all
            }
            (Type::Set(e, given), Type::Set(f, wanted)) => {
                let told = |i: &u8, j: &u8| self.value(both, *i, *j, depth);
                each(given, wanted, told) && self.set(e, f, depth + 1)
            }
            _ => false,
        };
        written && self.value(both, a, b, depth)
    }

    /// Whether all operands of an old kind read the same in a new kind, given the same arguments.
    fn set(&self, old: u16, new: u16, depth: u8) -> bool {
        if let Some(known) = self.sets.borrow().get(&(old, new)) {
            return *known;
        }
        let (a, b) = (&self.old.stream.sets[usize::from(old)], &self.new.stream.sets[usize::from(new)]);
        let found = a.bits == b.bits
            && a.parameters.len() == b.parameters.len()
            && Self::layouts(self.old, old).all(|layout| self.reader(old, new, layout, depth));
        self.sets.borrow_mut().insert((old, new), found);
        found
    }

    fn value(&self, both: Two<'_>, a: u8, b: u8, depth: u8) -> bool {
        let (Some(x), Some(y)) = (both.0.fields.get(usize::from(a)), both.1.fields.get(usize::from(b))) else {
            return false;
        };
        let source = match (x.source, y.source) {
            (Source::Bits(p), Source::Bits(q)) => p == q,
            (Source::Computed { value: v, .. }, Source::Computed { value: w, .. }) => self.same(both, v, w, depth + 1),
            (Source::Outer(p), Source::Outer(q)) => p == q,
            _ => false,
        };
        source && (x.width, x.signed) == (y.width, y.signed)
    }

    /// Whether two expressions have the same value.
    fn same(&self, both: Two<'_>, a: u16, b: u16, depth: u8) -> bool {
        let expression = |engine: Engine, index: u16| -> Option<&'static Expression> {
            engine.stream.expressions.get(usize::from(index))
        };
        let (Some(a), Some(b)) = (expression(self.old, a), expression(self.new, b)) else { return false };
        if depth > MAX_DEPTH {
            return false;
        }
        // An expression without fields has a single value, which may depend on the generation.
        let fixed = |engine: Engine, e: &Expression| {
            let known = e.inputs.iter().all(|input| matches!(input, Input::Generation));
            known.then(|| e.value(|_| engine.generation.into()))
        };
        if let (Some(x), Some(y)) = (fixed(self.old, a), fixed(self.new, b)) {
            return x == y;
        }
        let node = |x: &isaforge_core::semantics::Node, y: &isaforge_core::semantics::Node| {
            (x.op, x.imm, x.ty, x.args) == (y.op, y.imm, y.ty, y.args)
        };
        each(a.nodes, b.nodes, node)
            && a.lists == b.lists
            && a.constants == b.constants
            && each(a.inputs, b.inputs, |x, y| match (x, y) {
                (Input::Field(i), Input::Field(j)) => self.value(both, *i, *j, depth + 1),
                (Input::Generation, Input::Generation) => self.old.generation == self.new.generation,
                (Input::Length, Input::Length) => true,
                _ => false,
            })
    }
}

/// Whether a set is that of the instructions.
fn set_of(set: u16) -> bool {
    set == 0
}

/// Whether the named values of the old enum have the same text in the new one. If unnamed values are written as
/// numbers, none of them may have a name in the new one.
fn names(old: &Enum, new: &Enum, numbers: bool) -> bool {
    let kept = old.values.iter().all(|value| {
        let first = old.value(value.bits).map(|value| value.text);
        first == new.value(value.bits).map(|value| value.text)
    });
    kept && (!numbers || new.values.iter().all(|value| old.value(value.bits).is_some()))
}

/// The bits that a layout does not fix.
pub(super) fn open(layout: &Layout) -> Wide {
    Wide::ones(layout.bits.into()) & !layout.fixed_mask
}
