//! Detects instructions that are identical in both revisions, including all tables, so that their words need not be
//! compared.

use isaforge_core::table::{Alternative, Form, Isa, Kind, Modifier, Operand, Shape, Target, Type};

use super::parts::{Part, Piece};

/// Whether two instructions have the same bits and texts throughout.
pub(super) fn identical(old: &Isa, new: &Isa, a: &Form, b: &Form) -> bool {
    let same = Same { old, new };
    let constant = |f: &Form| (f.match_mask, f.match_value, f.fixed_mask, f.fixed_value, f.ignored, f.placed);
    same.shared()
        && a.name == b.name
        && constant(a) == constant(b)
        && a.syntax == b.syntax
        && each(a.modifiers, b.modifiers, |x, y| same.modifier(x, y))
        && each(a.operands, b.operands, |x, y| same.operand(x, y) && leads(x) == leads(y))
}

/// How a branch target is computed.
pub(crate) fn leads(operand: &Operand) -> Option<Target> {
    match operand.shape {
        Shape::Number { target, .. } => target,
        _ => None,
    }
}

/// Whether parts of instructions, in order, have the same bits and texts.
pub(super) fn same_parts(old: &'static Isa, new: &'static Isa, a: &[Piece], b: &[Piece]) -> bool {
    let same = Same { old, new };
    same.shared()
        && each(a, b, |x, y| match (x.part, y.part) {
            (Part::Modifier(x), Part::Modifier(y)) => same.modifier(x, y),
            (Part::Operand(x), Part::Operand(y)) => same.reading(x, y),
            _ => false,
        })
}

/// Whether two lists have the same length and the same items in order, as judged by `same`.
pub(super) fn each<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

struct Same<'a> {
    old: &'a Isa,
    new: &'a Isa,
}

impl Same<'_> {
    fn shared(&self) -> bool {
        each(self.old.shared, self.new.shared, |x, y| (x.bits, x.default, x.printed) == (y.bits, y.default, y.printed))
    }

    fn ty(&self, a: Type, b: Type) -> bool {
        match (a, b) {
            (Type::Enum(x), Type::Enum(y)) => {
                let (x, y) = (&self.old.enums[x as usize], &self.new.enums[y as usize]);
                x.dotted == y.dotted && each(x.values, y.values, |v, w| (v.bits, v.text) == (w.bits, w.text))
            }
            (Type::Constant(x), Type::Constant(y)) => {
                let (x, y) = (&self.old.constants[x as usize], &self.new.constants[y as usize]);
                each(x.values, y.values, |v, w| v.value == w.value)
            }
            (Type::Register(x), Type::Register(y)) => {
                self.old.banks[x as usize].count == self.new.banks[y as usize].count
            }
            (Type::Enum(_) | Type::Constant(_) | Type::Register(_), _) => false,
            _ => a == b,
        }
    }

    fn modifier(&self, a: &Modifier, b: &Modifier) -> bool {
        (a.bits, a.default, a.flag) == (b.bits, b.default, b.flag) && self.ty(a.ty, b.ty)
    }

    fn alternative(&self, a: &Alternative, b: &Alternative) -> bool {
        (a.mask, a.value, a.when, a.uses, a.text) == (b.mask, b.value, b.when, b.uses, b.text)
            && each(a.fields, b.fields, |x, y| x.bits == y.bits && self.ty(x.ty, y.ty))
    }

    fn kind(&self, a: u16, b: u16) -> bool {
        let (a, b): (&Kind, &Kind) = (&self.old.kinds[a as usize], &self.new.kinds[b as usize]);
        each(a.alternatives, b.alternatives, |x, y| self.alternative(x, y))
    }

    fn operand(&self, a: &Operand, b: &Operand) -> bool {
        self.reading(a, b) && each(a.suffixes, b.suffixes, |x, y| self.modifier(x, y))
    }

    fn reading(&self, a: &Operand, b: &Operand) -> bool {
        match (&a.shape, &b.shape) {
            (Shape::One { kind: k, at }, Shape::One { kind: l, at: other }) => at == other && self.kind(*k, *l),
            (
                Shape::List { kind: k, at, count, open, separator, align },
                Shape::List { kind: l, at: other, count: c, open: o, separator: s, align: g },
            ) => {
                let rest = (at, count.bits, count.plus, open, separator, align) == (other, c.bits, c.plus, o, s, g);
                rest && self.kind(*k, *l)
            }
            (Shape::Number { bits, ty, prefix, .. }, Shape::Number { bits: b, ty: t, prefix: p, .. }) => {
                (bits, prefix) == (b, p) && self.ty(*ty, *t)
            }
            _ => false,
        }
    }
}
