//! Differences between definitions: instructions member by member, other definitions value by value.
//!
//! - here: instructions, with their modifiers and operands
//! - `definitions`: all other definitions
//! - `compare`: the two revisions that names refer to

mod compare;
mod definitions;

use isaforge_core::bits::Bits;
use isaforge_core::stream::Wide;
use isaforge_core::table::{Access, Alternative, Field, Form, Isa, Modifier, Operand, Shape, Token, Type};

use super::change::{Change, How, Subject, change};
use super::difference::Pattern;
use super::identity::leads;
use crate::check::text::runs_text;
use compare::Compare;
pub(super) use compare::bits_text;

pub(crate) use definitions::renamed_alternative;
pub(super) use definitions::{constants_and_banks, definitions, enum_changes, pairs, renamed_values};

/// What changed in an instruction.
pub(super) fn form_changes(old: &'static Isa, new: &'static Isa, a: &'static Form, b: &'static Form) -> Vec<Change> {
    let compare = Compare { old, new };
    let mut out = Vec::new();
    compare.operands(a, b, &mut out);
    compare.modifiers(Subject::Modifier, "", a.modifiers, b.modifiers, &mut out);
    let both = a.fixed_mask & b.fixed_mask & !(a.match_mask | b.match_mask);
    let constant = (a.fixed_value ^ b.fixed_value) & both;
    if constant != 0 {
        let text = |f: &Form| Pattern { mask: Wide::new(constant), value: Wide::new(f.fixed_value) }.to_string();
        out.push(change(Subject::ConstantBits, How::Changed, "", text(a), text(b)));
    }
    if a.ignored != b.ignored {
        let text = |f: &Form| if f.ignored == 0 { "none".to_owned() } else { runs_text(f.ignored) };
        out.push(change(Subject::IgnoredBits, How::Changed, "", text(a), text(b)));
    }
    if a.unit != b.unit {
        out.push(change(Subject::Unit, How::Changed, "", quoted(a.unit), quoted(b.unit)));
    }
    let (syntax_a, syntax_b) = (template(a), template(b));
    let members = |f: &'static Form| {
        let mut names: Vec<&str> =
            f.operands.iter().map(|o| o.name).chain(f.modifiers.iter().map(|m| m.name)).collect();
        names.sort_unstable();
        names
    };
    if syntax_a != syntax_b && members(a) == members(b) {
        out.push(change(Subject::Syntax, How::Changed, "", format!("`{syntax_a}`"), format!("`{syntax_b}`")));
    }
    for (i, limit) in old.limits.iter().enumerate() {
        let other = new.limits.iter().position(|l| l.name == limit.name).and_then(|j| b.limits.get(j));
        if let (Some(x), Some(y)) = (a.limits.get(i), other)
            && x != y
        {
            out.push(change(Subject::Limit, How::Changed, limit.name, x.to_string(), y.to_string()));
        }
    }
    out
}

/// The members of an instruction that only have another name: the old name and the new one. A modifier of an operand is
/// named `operand.modifier`.
pub(super) fn renamed(
    old: &'static Isa,
    new: &'static Isa,
    a: &'static Form,
    b: &'static Form,
) -> Vec<(String, String)> {
    let compare = Compare { old, new };
    let modifiers = compare.renamed_modifiers(a.modifiers, b.modifiers);
    let mut out: Vec<_> = modifiers.into_iter().map(|(m, n)| (m.name.to_owned(), n.name.to_owned())).collect();
    let operands = compare.renamed_operands(a, b);
    out.extend(operands.iter().map(|(o, p)| (o.name.to_owned(), p.name.to_owned())));
    for (o, p) in same_operands(a, b, &operands) {
        let pairs = compare.renamed_modifiers(o.suffixes, p.suffixes).into_iter();
        out.extend(pairs.map(|(m, n)| (format!("{}.{}", o.name, m.name), format!("{}.{}", p.name, n.name))));
    }
    out
}

/// The new operands that are old ones under another name: in the same bits, with the same meaning, and each name is
/// unknown to the other revision.
pub(crate) fn renamed_operands(
    old: &'static Isa,
    new: &'static Isa,
    a: &'static Form,
    b: &'static Form,
) -> Vec<(&'static Operand, &'static Operand)> {
    Compare { old, new }.renamed_operands(a, b)
}

/// The new modifiers that are old ones under another name: in the same bits, with the same type, and each name is
/// unknown to the other revision.
pub(crate) fn renamed_modifiers(
    old: &'static Isa,
    new: &'static Isa,
    a: &'static [Modifier],
    b: &'static [Modifier],
) -> Vec<(&'static Modifier, &'static Modifier)> {
    Compare { old, new }.renamed_modifiers(a, b)
}

/// The fields of an alternative that only have another name: the old name and the new one.
pub(crate) fn renamed_fields(
    old: &'static Isa,
    new: &'static Isa,
    a: &'static Alternative,
    b: &'static Alternative,
) -> Vec<(&'static str, &'static str)> {
    let compare = Compare { old, new };
    let known = |of: &Alternative, field: &Field| of.fields.iter().any(|other| other.name == field.name);
    let same = |field: &Field, other: &Field| field.bits == other.bits && compare.same_type(field.ty, other.ty);
    let successor = |field: &Field| b.fields.iter().find(|other| !known(a, other) && same(field, other));
    let gone = a.fields.iter().filter(|field| !known(b, field));
    gone.filter_map(|field| Some((field.name, successor(field)?.name))).collect()
}

/// Each operand with its counterpart, in the order of the old revision.
fn same_operands(
    a: &'static Form,
    b: &'static Form,
    renamed: &[(&'static Operand, &'static Operand)],
) -> Vec<(&'static Operand, &'static Operand)> {
    let named = |o: &Operand| b.operands.iter().find(|p| p.name == o.name);
    let successor = |o: &Operand| renamed.iter().find(|(r, _)| r.name == o.name).map(|(_, p)| *p);
    a.operands.iter().filter_map(|o| Some((o, named(o).or_else(|| successor(o))?))).collect()
}

pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { "unknown".to_owned() } else { format!("`{text}`") }
}

/// The syntax as a template; `{modifiers}` is expanded, so that their order is compared.
fn template(form: &Form) -> String {
    let name = |i: u8| form.modifiers.get(i as usize).map_or("", |m| m.name);
    let mut text = String::new();
    for token in form.syntax {
        match token {
            Token::Text(t) => text.push_str(t.str),
            Token::Mnemonic => text.push_str("{mnemonic}"),
            Token::Modifiers => {
                let free = form.modifiers.iter().enumerate().filter(|(i, _)| form.placed & 1 << i == 0);
                text.extend(free.map(|(_, m)| format!("{{{}}}", m.name)));
            }
            Token::Modifier(i) => text.push_str(&format!("{{{}}}", name(*i))),
            Token::Operand(i) => {
                text.push_str(&format!("{{{}}}", form.operands.get(*i as usize).map_or("", |o| o.name)))
            }
            Token::Field(_) => {}
        }
    }
    text
}

impl Compare {
    fn modifier_text(&self, isa: &'static Isa, m: &Modifier) -> String {
        format!("{}, {}", self.type_text(isa, m.ty), bits_text(&m.bits))
    }

    fn default_text(&self, isa: &'static Isa, m: &Modifier) -> String {
        match (m.default, m.ty) {
            (None, _) => "must be written".to_owned(),
            (Some(v), Type::Enum(e)) => {
                isa.enums[e as usize].value(v).map_or(v.to_string(), |v| format!("`{}`", v.name))
            }
            (Some(v), _) => v.to_string(),
        }
    }

    fn renamed_modifiers(
        &self,
        a: &'static [Modifier],
        b: &'static [Modifier],
    ) -> Vec<(&'static Modifier, &'static Modifier)> {
        let known = |list: &[Modifier], m: &Modifier| list.iter().any(|n| n.name == m.name);
        let same = |m: &Modifier, n: &Modifier| n.bits == m.bits && self.same_type(m.ty, n.ty);
        let successor = |m: &Modifier| b.iter().find(|n| !known(a, n) && same(m, n));
        a.iter().filter(|m| !known(b, m)).filter_map(|m| Some((m, successor(m)?))).collect()
    }

    fn modifiers(
        &self,
        subject: Subject,
        owner: &str,
        a: &'static [Modifier],
        b: &'static [Modifier],
        out: &mut Vec<Change>,
    ) {
        let name = |m: &Modifier| if owner.is_empty() { m.name.to_owned() } else { format!("{owner}.{}", m.name) };
        let renamed = self.renamed_modifiers(a, b);
        for m in a.iter().filter(|m| !b.iter().any(|n| n.name == m.name)) {
            match renamed.iter().find(|(r, _)| r.name == m.name) {
                Some((_, n)) => out.push(change(subject, How::Renamed, &name(m), "", format!("`{}`", n.name))),
                None => out.push(change(subject, How::Removed, &name(m), self.modifier_text(self.old, m), "")),
            }
        }
        for n in b.iter().filter(|n| !a.iter().chain(renamed.iter().map(|(_, r)| *r)).any(|m| m.name == n.name)) {
            out.push(change(subject, How::Added, &name(n), "", self.modifier_text(self.new, n)));
        }
        for m in a {
            let Some(n) = b.iter().find(|n| n.name == m.name) else { continue };
            if m.bits != n.bits {
                out.push(change(subject, How::Moved, &name(m), bits_text(&m.bits), bits_text(&n.bits)));
            }
            if !self.same_type(m.ty, n.ty) {
                out.push(change(
                    subject,
                    How::Changed,
                    &name(m),
                    self.type_text(self.old, m.ty),
                    self.type_text(self.new, n.ty),
                ));
            } else if self.default_text(self.old, m) != self.default_text(self.new, n)
                && enum_default_differs(self, m, n)
            {
                let (old, new) = (self.default_text(self.old, m), self.default_text(self.new, n));
                out.push(change(Subject::Default, How::Changed, &name(m), old, new));
            }
            for (from, to) in [(m.flag.str, n.flag.str), (m.also, n.also)] {
                if from != to {
                    let code = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
                    out.push(change(subject, How::Changed, &name(m), code(from), code(to)));
                }
            }
        }
    }

    fn place(&self, isa: &'static Isa, operand: &Operand) -> String {
        match &operand.shape {
            Shape::One { kind, at } => {
                let kind = &isa.kinds[*kind as usize];
                let mask = kind.alternatives.iter().fold(0, |m, a| m | a.mask << at | own_mask(a, *at));
                runs_text(mask)
            }
            Shape::List { kind, at, .. } => {
                let first = isa.kinds[*kind as usize].alternatives.first();
                runs_text(first.map_or(0, |a| own_mask(a, *at)))
            }
            Shape::Number { bits, .. } => bits_text(bits),
        }
    }

    fn shape(&self, isa: &'static Isa, operand: &Operand) -> String {
        match &operand.shape {
            Shape::One { kind, .. } => format!("`{}`", isa.kinds[*kind as usize].name),
            Shape::List { kind, count, open, separator, align, .. } => {
                let count = match &count.bits {
                    None => count.plus.to_string(),
                    Some(bits) if count.plus == 0 => bits_text(bits),
                    Some(bits) => format!("{} plus {}", bits_text(bits), count.plus),
                };
                let bank = isa.kinds[*kind as usize].name;
                format!("a list `{open}…{separator}…` of `{bank}` with {count} registers, aligned to {align}")
            }
            Shape::Number { ty, prefix, target, .. } => {
                let after = if prefix.is_empty() { String::new() } else { format!(" after `{prefix}`") };
                let label = if target.is_some() { ", a label" } else { "" };
                format!("{}{after}{label}", self.type_text(isa, *ty))
            }
        }
    }

    fn operand_text(&self, isa: &'static Isa, operand: &Operand) -> String {
        format!("{}, {}", self.shape(isa, operand), self.place(isa, operand))
    }

    fn renamed_operands(&self, a: &'static Form, b: &'static Form) -> Vec<(&'static Operand, &'static Operand)> {
        let known = |form: &Form, o: &Operand| form.operands.iter().any(|p| p.name == o.name);
        let same = |o: &Operand, p: &Operand| self.operand_text(self.old, o) == self.operand_text(self.new, p);
        let successor = |o: &Operand| b.operands.iter().find(|p| !known(a, p) && same(o, p));
        a.operands.iter().filter(|o| !known(b, o)).filter_map(|o| Some((o, successor(o)?))).collect()
    }

    fn operands(&self, a: &'static Form, b: &'static Form, out: &mut Vec<Change>) {
        let renamed = self.renamed_operands(a, b);
        for o in a.operands.iter().filter(|o| !b.operands.iter().any(|p| p.name == o.name)) {
            match renamed.iter().find(|(r, _)| r.name == o.name) {
                Some((_, p)) => out.push(change(Subject::Operand, How::Renamed, o.name, "", format!("`{}`", p.name))),
                None => {
                    out.push(change(Subject::Operand, How::Removed, o.name, self.operand_text(self.old, o), ""));
                }
            }
        }
        let old = |p: &Operand| a.operands.iter().chain(renamed.iter().map(|(_, r)| *r)).any(|o| o.name == p.name);
        for p in b.operands.iter().filter(|p| !old(p)) {
            out.push(change(Subject::Operand, How::Added, p.name, "", self.operand_text(self.new, p)));
        }
        for (o, p) in same_operands(a, b, &renamed) {
            let (from, to) = (self.place(self.old, o), self.place(self.new, p));
            if from != to {
                out.push(change(Subject::Operand, How::Moved, o.name, from, to));
            }
            let (from, to) = (self.shape(self.old, o), self.shape(self.new, p));
            if from != to {
                out.push(change(Subject::Operand, How::Changed, o.name, from, to));
            }
            if let (Some(from), Some(to)) = (leads(o), leads(p))
                && from != to
            {
                out.push(change(Subject::Target, How::Changed, o.name, from.to_string(), to.to_string()));
            }
            if o.access != p.access {
                out.push(change(Subject::Access, How::Changed, o.name, access(o.access), access(p.access)));
            }
            if o.size != p.size {
                out.push(change(
                    Subject::Size,
                    How::Changed,
                    o.name,
                    format!("{} bits", o.size),
                    format!("{} bits", p.size),
                ));
            }
            self.modifiers(Subject::Suffix, o.name, o.suffixes, p.suffixes, out);
        }
    }
}

/// Whether the defaults differ for a reason other than the defaults of the enums.
fn enum_default_differs(compare: &Compare, m: &Modifier, n: &Modifier) -> bool {
    match (m.ty, n.ty) {
        (Type::Enum(x), Type::Enum(y)) => {
            m.default != compare.old.enums[x as usize].default || n.default != compare.new.enums[y as usize].default
        }
        _ => true,
    }
}

fn own_mask(a: &Alternative, at: u8) -> u64 {
    let own = a.fields.iter().flat_map(|f| f.bits.pieces()).filter(|(p, _)| !p.shared);
    own.fold(0, |m, (p, _)| m | Bits::new(p.at, p.width).mask(at))
}

pub(super) fn access(access: Access) -> &'static str {
    match access {
        Access::None => "none",
        Access::Read => "read",
        Access::Write => "write",
        Access::ReadWrite => "read-write",
    }
}
