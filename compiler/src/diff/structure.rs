//! Differences between definitions: instructions member by member, other definitions value by value.
//!
//! - here: instructions, with their modifiers and operands
//! - `definitions`: all other definitions
//! - `compare`: the two revisions that names refer to

mod compare;
mod definitions;

use isaforge_core::bits::Bits;
use isaforge_core::stream::Wide;
use isaforge_core::table::{Access, Alternative, Form, Isa, Modifier, Operand, Shape, Token, Type};

use super::change::{Change, How, Subject, change};
use super::difference::Pattern;
use super::identity::leads;
use crate::check::text::runs_text;
use compare::{Compare, bits_text};

pub(super) use definitions::{definitions, enum_changes, pairs};

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

    fn modifiers(
        &self,
        subject: Subject,
        owner: &str,
        a: &'static [Modifier],
        b: &'static [Modifier],
        out: &mut Vec<Change>,
    ) {
        let name = |m: &Modifier| if owner.is_empty() { m.name.to_owned() } else { format!("{owner}.{}", m.name) };
        let gone = |m: &&Modifier| !b.iter().any(|n| n.name == m.name);
        let fresh: Vec<&Modifier> = b.iter().filter(|n| !a.iter().any(|m| m.name == n.name)).collect();
        let successor = |m: &Modifier| fresh.iter().find(|n| n.bits == m.bits && self.same_type(m.ty, n.ty));
        for m in a.iter().filter(gone) {
            match successor(m) {
                Some(n) => out.push(change(subject, How::Renamed, &name(m), "", format!("`{}`", n.name))),
                None => out.push(change(subject, How::Removed, &name(m), self.modifier_text(self.old, m), "")),
            }
        }
        for n in &fresh {
            if !a.iter().filter(gone).any(|m| successor(m).is_some_and(|s| std::ptr::eq(*s, *n))) {
                out.push(change(subject, How::Added, &name(n), "", self.modifier_text(self.new, n)));
            }
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
            if m.flag.str != n.flag.str && m.name == n.name {
                out.push(change(
                    subject,
                    How::Changed,
                    &name(m),
                    format!("`{}`", m.flag.str),
                    format!("`{}`", n.flag.str),
                ));
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

    fn operands(&self, a: &'static Form, b: &'static Form, out: &mut Vec<Change>) {
        let text = |isa: &'static Isa, o: &Operand| format!("{}, {}", self.shape(isa, o), self.place(isa, o));
        let gone: Vec<&Operand> = a.operands.iter().filter(|o| !b.operands.iter().any(|p| p.name == o.name)).collect();
        let fresh: Vec<&Operand> = b.operands.iter().filter(|p| !a.operands.iter().any(|o| o.name == p.name)).collect();
        let successor = |o: &Operand| fresh.iter().copied().find(|p| text(self.old, o) == text(self.new, p));
        for o in &gone {
            match successor(o) {
                Some(p) => out.push(change(Subject::Operand, How::Renamed, o.name, "", format!("`{}`", p.name))),
                None => out.push(change(Subject::Operand, How::Removed, o.name, text(self.old, o), "")),
            }
        }
        for p in &fresh {
            if !gone.iter().any(|o| successor(o).is_some_and(|s| std::ptr::eq(s, *p))) {
                out.push(change(Subject::Operand, How::Added, p.name, "", text(self.new, p)));
            }
        }
        for o in a.operands {
            let same = b.operands.iter().find(|p| p.name == o.name);
            let Some(p) = same.or_else(|| gone.iter().find(|g| std::ptr::eq(**g, o)).and_then(|o| successor(o))) else {
                continue;
            };
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
