//! Differences between definitions: instructions member by member, other definitions value by value.

use isaforge_core::bits::Bits;
use isaforge_core::stream::Wide;
use isaforge_core::table::{Access, Alternative, Enum, Form, Isa, Kind, Modifier, Operand, Shape, Token, Type};

use super::{Change, DefinitionDiff, How, Sort, Subject};
use crate::check::runs_text;

pub(super) fn change(subject: Subject, how: How, name: &str, old: impl Into<String>, new: impl Into<String>) -> Change {
    Change { subject, how, name: name.to_owned(), old: old.into(), new: new.into() }
}

/// What changed in an instruction.
pub(super) fn form_changes(old: &'static Isa, new: &'static Isa, a: &'static Form, b: &'static Form) -> Vec<Change> {
    let compare = Compare { old, new };
    let mut out = Vec::new();
    compare.operands(a, b, &mut out);
    compare.modifiers(Subject::Modifier, "", a.modifiers, b.modifiers, &mut out);
    let both = a.fixed_mask & b.fixed_mask & !(a.match_mask | b.match_mask);
    let constant = (a.fixed_value ^ b.fixed_value) & both;
    if constant != 0 {
        let text = |f: &Form| super::Pattern { mask: Wide::new(constant), value: Wide::new(f.fixed_value) }.to_string();
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

/// Formats bits, most significant piece first.
fn bits_text(bits: &Bits) -> String {
    let mut runs: Vec<String> = bits
        .pieces()
        .map(|(p, _)| match p.width {
            1 => p.at.to_string(),
            width => format!("{}..{}", (p.at + width).saturating_sub(1), p.at),
        })
        .collect();
    runs.reverse();
    match &runs[..] {
        [only] if bits.width() == 1 => format!("bit {only}"),
        [only] => format!("bits {only}"),
        _ => format!("bits [{}]", runs.join(", ")),
    }
}

/// The two revisions that names refer to.
struct Compare {
    old: &'static Isa,
    new: &'static Isa,
}

impl Compare {
    fn type_text(&self, isa: &'static Isa, ty: Type) -> String {
        match ty {
            Type::Flag => "a flag".to_owned(),
            Type::Decimal => "a decimal number".to_owned(),
            Type::Hex => "a hexadecimal number".to_owned(),
            Type::Signed => "a signed number".to_owned(),
            Type::Enum(e) => format!("`{}`", isa.enums[e as usize].name),
            Type::Constant(c) => format!("`{}`", isa.constants[c as usize].name),
            Type::Register(b) => format!("`{}`", isa.banks[b as usize].name),
        }
    }

    /// Whether types are the same: by name, or because an enum was only renamed.
    fn same_type(&self, a: Type, b: Type) -> bool {
        match (a, b) {
            (Type::Enum(x), Type::Enum(y)) => {
                let (x, y) = (&self.old.enums[x as usize], &self.new.enums[y as usize]);
                x.name == y.name || renamed_enum(self.old, self.new, x).is_some_and(|r| std::ptr::eq(r, y))
            }
            _ => self.type_text(self.old, a) == self.type_text(self.new, b),
        }
    }

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
                let target = target.map_or(String::new(), |target| format!(", a label {target}"));
                format!("{} after `{prefix}`{target}", self.type_text(isa, *ty))
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

    fn alternative_text(&self, isa: &'static Isa, kind: &Kind, a: &Alternative) -> String {
        let written = |tokens: &[Token]| {
            let token = |token: &Token| match token {
                Token::Text(t) => t.str.to_owned(),
                Token::Field(i) => format!("{{{}}}", a.fields.get(*i as usize).map_or("", |f| f.name)),
                _ => String::new(),
            };
            format!("`{}`", tokens.iter().map(token).collect::<String>())
        };
        let mut text = written(a.text);
        for also in a.also {
            text.push_str(&format!(" or {}", written(also.text)));
            for (field, value) in also.with {
                text.push_str(&format!(" with {} {value}", a.fields.get(*field as usize).map_or("", |f| f.name)));
            }
        }
        let fixed = super::Pattern { mask: Wide::new(a.mask), value: Wide::new(a.value) }.to_string();
        if !fixed.is_empty() {
            text.push_str(&format!(" when {fixed}"));
        }
        for (shared, value) in a.when {
            text.push_str(&format!(", `{}` = {value}", isa.shared[*shared as usize].name));
        }
        for field in a.fields {
            text.push_str(&format!(", {} {} {}", field.name, self.type_text(isa, field.ty), bits_text(&field.bits)));
        }
        let _ = kind;
        text
    }

    fn kind(&self, a: &'static Kind, b: &'static Kind) -> Vec<Change> {
        let mut out = Vec::new();
        if a.width != b.width {
            out.push(change(Subject::Width, How::Changed, "", a.width.to_string(), b.width.to_string()));
        }
        for x in a.alternatives {
            let old = self.alternative_text(self.old, a, x);
            match b.alternatives.iter().find(|y| y.name == x.name) {
                None => out.push(change(Subject::Alternative, How::Removed, x.name, old, "")),
                Some(y) => {
                    let new = self.alternative_text(self.new, b, y);
                    if old != new {
                        out.push(change(Subject::Alternative, How::Changed, x.name, old, new));
                    }
                }
            }
        }
        for y in b.alternatives.iter().filter(|y| !a.alternatives.iter().any(|x| x.name == y.name)) {
            out.push(change(Subject::Alternative, How::Added, y.name, "", self.alternative_text(self.new, b, y)));
        }
        out
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

/// The new enum with the same values as an old one that no longer exists, if its own name is new.
fn renamed_enum(old: &'static Isa, new: &'static Isa, e: &Enum) -> Option<&'static Enum> {
    let values = |e: &Enum| e.values.iter().map(|v| (v.bits, v.name)).collect::<Vec<_>>();
    let known = |isa: &'static Isa, name: &str| isa.enums.iter().any(|e| e.name == name);
    let same = |n: &&Enum| !known(old, n.name) && values(n) == values(e) && n.default == e.default;
    if known(new, e.name) { None } else { new.enums.iter().find(same) }
}

pub(super) fn enum_changes(a: &'static Enum, b: &'static Enum) -> Vec<Change> {
    let mut out = Vec::new();
    let in_old = |name: &str| a.values.iter().find(|v| v.name == name);
    let in_new = |name: &str| b.values.iter().find(|v| v.name == name);
    // Further entries of the same name are spellings that are only parsed.
    let first =
        |e: &'static Enum| e.values.iter().enumerate().filter(|(i, v)| e.values[..*i].iter().all(|w| w.name != v.name));
    let read = |e: &'static Enum, name: &str| {
        let words = e.values.iter().filter(|v| v.name == name).skip(1);
        words.map(|v| format!("`{}`", v.text)).collect::<Vec<_>>()
    };
    for (_, v) in first(a) {
        match in_new(v.name) {
            Some(w) => {
                if v.bits != w.bits {
                    out.push(change(Subject::Value, How::Moved, v.name, v.bits.to_string(), w.bits.to_string()));
                }
                if v.text != w.text {
                    out.push(change(
                        Subject::Value,
                        How::Changed,
                        v.name,
                        format!("prints `{}`", v.text),
                        format!("prints `{}`", w.text),
                    ));
                }
                let (was, is) = (read(a, v.name), read(b, v.name));
                if was != is {
                    let said = |words: Vec<String>| match &words[..] {
                        [] => "no other word".to_owned(),
                        words => format!("also {}", words.join(", ")),
                    };
                    out.push(change(Subject::Value, How::Changed, v.name, said(was), said(is)));
                }
            }
            None => match b.value(v.bits).filter(|w| in_old(w.name).is_none()) {
                Some(w) => out.push(change(Subject::Value, How::Renamed, v.name, "", format!("`{}`", w.name))),
                None => out.push(change(Subject::Value, How::Removed, v.name, v.bits.to_string(), "")),
            },
        }
    }
    for (_, w) in first(b).filter(|(_, w)| in_old(w.name).is_none()) {
        if a.value(w.bits).is_none_or(|v| in_new(v.name).is_some()) {
            out.push(change(Subject::Value, How::Added, w.name, "", w.bits.to_string()));
        }
    }
    let default = |e: &Enum| {
        e.default.map_or("none".to_owned(), |d| e.value(d).map_or(d.to_string(), |v| format!("`{}`", v.name)))
    };
    if default(a) != default(b) {
        out.push(change(Subject::Default, How::Changed, "", default(a), default(b)));
    }
    out
}

/// What changed in the definitions.
pub(super) fn definitions(old: &'static Isa, new: &'static Isa) -> Vec<DefinitionDiff> {
    let compare = Compare { old, new };
    let mut out = Vec::new();
    for e in old.enums {
        if let Some(renamed) = renamed_enum(old, new, e) {
            let (name, renamed) = (e.name.to_owned(), renamed.name.to_owned());
            out.push(DefinitionDiff { sort: Sort::Enum, how: How::Renamed, name, renamed, changes: Vec::new() });
        }
    }
    let renamed: Vec<(String, String)> = out.iter().map(|d| (d.name.clone(), d.renamed.clone())).collect();
    let is_renamed = |name: &str| renamed.iter().any(|(a, b)| a == name || b == name);
    let a = old.enums.iter().filter(|e| !is_renamed(e.name)).map(|e| (e.name, e));
    let b = new.enums.iter().filter(|e| !is_renamed(e.name)).map(|e| (e.name, e));
    pairs(Sort::Enum, a, b, &mut out, enum_changes);
    let named = |t: &'static [isaforge_core::table::Constants]| t.iter().map(|c| (c.name, c));
    pairs(Sort::Constants, named(old.constants), named(new.constants), &mut out, |a, b| {
        let mut out = Vec::new();
        for i in 0..a.values.len().max(b.values.len()) {
            let text = |t: &isaforge_core::table::Constants| {
                t.values.get(i).map_or(String::new(), |c| format!("{:#x}", c.value))
            };
            let (x, y) = (text(a), text(b));
            let how = if x.is_empty() {
                How::Added
            } else if y.is_empty() {
                How::Removed
            } else {
                How::Changed
            };
            if x != y {
                out.push(change(Subject::Constant, how, &i.to_string(), x, y));
            }
        }
        out
    });
    let named = |t: &'static [isaforge_core::table::Bank]| t.iter().map(|b| (b.name, b));
    pairs(Sort::Bank, named(old.banks), named(new.banks), &mut out, |a, b| {
        let mut out = Vec::new();
        if a.count != b.count {
            out.push(change(Subject::Count, How::Changed, "", a.count.to_string(), b.count.to_string()));
        }
        if a.width != b.width {
            out.push(change(Subject::Width, How::Changed, "", a.width.to_string(), b.width.to_string()));
        }
        out
    });
    pairs(Sort::Kind, kinds(old), kinds(new), &mut out, |a, b| compare.kind(a, b));
    let named = |t: &'static [isaforge_core::table::Shared]| t.iter().map(|s| (s.name, s));
    pairs(Sort::Shared, named(old.shared), named(new.shared), &mut out, |a, b| {
        let text = |s: &isaforge_core::table::Shared| {
            let prints = if s.printed { "prints" } else { "does not print" };
            format!("{}, {} when unused, {prints}", bits_text(&s.bits), s.default)
        };
        let (x, y) = (text(a), text(b));
        if x == y { Vec::new() } else { vec![change(Subject::Field, How::Changed, "", x, y)] }
    });
    let named = |t: &'static [isaforge_core::table::Limit]| t.iter().map(|l| (l.name, l));
    pairs(Sort::Limit, named(old.limits), named(new.limits), &mut out, |_, _| Vec::new());
    out
}

/// The declared kinds; those of plain registers belong to their operands.
fn kinds(isa: &'static Isa) -> impl Iterator<Item = (&'static str, &'static Kind)> + Clone {
    isa.kinds.iter().filter(|k| !isa.banks.iter().any(|b| b.name == k.name)).map(|k| (k.name, k))
}

pub(super) fn pairs<T: 'static>(
    sort: Sort,
    old: impl Iterator<Item = (&'static str, &'static T)> + Clone,
    new: impl Iterator<Item = (&'static str, &'static T)> + Clone,
    out: &mut Vec<DefinitionDiff>,
    compare: impl Fn(&'static T, &'static T) -> Vec<Change>,
) {
    let entry =
        |how, name: &str, changes| DefinitionDiff { sort, how, name: name.to_owned(), renamed: String::new(), changes };
    for (name, a) in old.clone() {
        match new.clone().find(|(n, _)| *n == name) {
            None => out.push(entry(How::Removed, name, Vec::new())),
            Some((_, b)) => {
                let changes = compare(a, b);
                if !changes.is_empty() {
                    out.push(entry(How::Changed, name, changes));
                }
            }
        }
    }
    for (name, _) in new.filter(|(n, _)| !old.clone().any(|(o, _)| o == *n)) {
        out.push(entry(How::Added, name, Vec::new()));
    }
}
