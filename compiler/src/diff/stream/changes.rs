//! Differences between layouts, member by member.

use isaforge_core::explain::streams::enum_name;
use isaforge_core::stream::{Engine, Field, Input, Layout, Notation, Operand, Piece, Role, Source, Token, Type};
use isaforge_core::table::{Access, Target};

use super::generation::{Entry, Generation, pattern};
use crate::diff::change::{Change, How, Subject, change};
use crate::diff::difference::Pattern;
use crate::diff::structure::{access, quoted};
use crate::stream::STORED;

/// What changed in an instruction.
pub(super) fn of(old: &Generation, new: &Generation, a: &Entry, b: &Entry) -> Vec<Change> {
    let mut out = Vec::new();
    let (x, y) = (Side { engine: old.engine }, Side { engine: new.engine });
    let mut rest: Vec<&'static Layout> = b.own.clone();
    for (index, layout) in a.own.iter().enumerate() {
        let same = rest.iter().position(|other| pattern(other) == pattern(layout));
        let partner = same.or_else(|| (a.own.len() == b.own.len()).then(|| position(&rest, b.own[index])).flatten());
        match partner.map(|at| rest.remove(at)) {
            Some(other) => compare(x, y, layout, other, &mut out),
            None => out.push(change(Subject::Variant, How::Removed, "", pattern(layout).to_string(), "")),
        }
    }
    for layout in rest {
        out.push(change(Subject::Variant, How::Added, "", "", pattern(layout).to_string()));
    }
    let (unit, other) = (old.unit(a), new.unit(b));
    if unit != other {
        out.push(change(Subject::Unit, How::Changed, "", quoted(unit), quoted(other)));
    }
    aliases(x, y, a, b, &mut out);
    // Variants may have the same changes.
    let mut seen: Vec<Change> = Vec::new();
    for change in out {
        if !seen.contains(&change) {
            seen.push(change);
        }
    }
    seen
}

fn position(layouts: &[&'static Layout], wanted: &'static Layout) -> Option<usize> {
    layouts.iter().position(|layout| std::ptr::eq(*layout, wanted))
}

/// A revision that names refer to.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub engine: Engine,
}

fn aliases(x: Side, y: Side, a: &Entry, b: &Entry, out: &mut Vec<Change>) {
    let text = |side: Side, layout: &Layout| {
        let mut text = format!("`{}`", template(side, layout, layout.text));
        for condition in conditions(side, layout) {
            text.push_str(&format!(" where {condition}"));
        }
        text + if layout.role == Role::Preferred { ", prints" } else { ", read only" }
    };
    for alias in &a.aliases {
        let was = text(x, alias);
        match b.aliases.iter().find(|other| other.name == alias.name) {
            None => out.push(change(Subject::Alias, How::Removed, alias.name, was, "")),
            Some(other) if pattern(alias) != pattern(other) => {
                let (was, is) = (pattern(alias).to_string(), pattern(other).to_string());
                out.push(change(Subject::Alias, How::Moved, alias.name, was, is));
            }
            Some(other) if was != text(y, other) => {
                out.push(change(Subject::Alias, How::Changed, alias.name, was, text(y, other)));
            }
            Some(_) => {}
        }
    }
    for alias in b.aliases.iter().filter(|alias| !a.aliases.iter().any(|other| other.name == alias.name)) {
        out.push(change(Subject::Alias, How::Added, alias.name, "", text(y, alias)));
    }
}

fn compare(x: Side, y: Side, a: &'static Layout, b: &'static Layout, out: &mut Vec<Change>) {
    fields(x, y, a, b, out);
    let constant = |layout: &Layout| {
        let beside = layout.fixed_mask & !layout.mask;
        let text = Pattern { mask: beside, value: layout.fixed_value }.to_string();
        if text.is_empty() { "none".to_owned() } else { text }
    };
    let ignored = |layout: &Layout| {
        let text = places(layout.ignored.runs());
        if text.is_empty() { "none".to_owned() } else { text }
    };
    let length = |side: Side, layout: &Layout| match layout.length {
        Some(index) => side.expression(index).to_owned(),
        None => format!("{} bytes", layout.bits / 8),
    };
    let said = |list: Vec<String>| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let syntax = |side: Side, layout: &Layout| format!("`{}`", template(side, layout, layout.text));
    let members = |layout: &'static Layout| layout.fields.iter().map(|field| field.name).collect::<Vec<_>>();
    let mut differs = |subject, was: String, is: String| {
        if was != is {
            out.push(change(subject, How::Changed, "", was, is));
        }
    };
    // Bits that are constant in only one revision are a field in the other, and are reported there.
    let both = (a.fixed_mask ^ b.fixed_mask).is_zero();
    if both && pattern(a) == pattern(b) {
        differs(Subject::ConstantBits, constant(a), constant(b));
    }
    differs(Subject::IgnoredBits, ignored(a), ignored(b));
    differs(Subject::Length, length(x, a), length(y, b));
    differs(Subject::Condition, said(conditions(x, a)), said(conditions(y, b)));
    let (was, is) = (syntax(x, a), syntax(y, b));
    if members(a) == members(b) || a.fields.len() == b.fields.len() {
        differs(Subject::Syntax, was, is);
    }
}

/// The texts of the conditions.
fn conditions(side: Side, layout: &Layout) -> Vec<String> {
    layout.conditions.iter().map(|condition| side.expression(*condition).to_owned()).collect()
}

/// The stored bits of a computed value are reported with it.
fn shown(layout: &'static Layout) -> impl Iterator<Item = &'static Field> {
    layout.fields.iter().filter(|field| !field.name.ends_with(STORED))
}

/// The fields that only have another name: the old name and the new one.
pub(crate) fn renamed(
    old: Engine,
    new: Engine,
    a: &'static Layout,
    b: &'static Layout,
) -> Vec<(&'static str, &'static str)> {
    let (x, y) = (Side { engine: old }, Side { engine: new });
    let known = |layout: &'static Layout, field: &Field| layout.fields.iter().any(|other| other.name == field.name);
    let same = |field: &Field, other: &Field| {
        let parts = |side: Side, layout, field| (side.place(layout, field), side.kind(field), side.computed(field));
        parts(x, a, field) == parts(y, b, other)
    };
    let successor = |field: &Field| shown(b).find(|other| !known(a, other) && same(field, other));
    shown(a).filter(|field| !known(b, field)).filter_map(|field| Some((field.name, successor(field)?.name))).collect()
}

fn fields(x: Side, y: Side, a: &'static Layout, b: &'static Layout, out: &mut Vec<Change>) {
    let named = |layout: &'static Layout, name: &str| layout.fields.iter().find(|field| field.name == name);
    let operand = |layout: &'static Layout, field: &Field| {
        let is =
            |operand: &&Operand| layout.fields.get(usize::from(operand.field)).is_some_and(|f| f.name == field.name);
        layout.operands.iter().find(is)
    };
    let subject = |layout, field| if operand(layout, field).is_some() { Subject::Operand } else { Subject::Field };
    let renamed = renamed(x.engine, y.engine, a, b);
    for field in shown(a) {
        let Some(other) = named(b, field.name) else {
            let subject = subject(a, field);
            match renamed.iter().find(|(name, _)| *name == field.name) {
                Some((_, name)) => out.push(change(subject, How::Renamed, field.name, "", format!("`{name}`"))),
                None => out.push(change(subject, How::Removed, field.name, x.member(a, field), "")),
            }
            continue;
        };
        let subject = subject(b, other);
        let mut differs = |subject, how, was: String, is: String| {
            if was != is {
                out.push(change(subject, how, field.name, was, is));
            }
        };
        differs(subject, How::Moved, x.place(a, field), y.place(b, other));
        differs(subject, How::Changed, x.kind(field), y.kind(other));
        if let (Some(was), Some(is)) = (target(field), target(other)) {
            differs(Subject::Target, How::Changed, was.to_string(), is.to_string());
        }
        differs(Subject::Computed, How::Changed, x.computed(field), y.computed(other));
        if let (Some(p), Some(q)) = (operand(a, field), operand(b, other)) {
            differs(Subject::Access, How::Changed, access(p.access).to_owned(), access(q.access).to_owned());
            let size =
                |of: &'static Layout, p: &Operand| match p.sized.and_then(|said| of.fields.get(usize::from(said))) {
                    Some(said) => format!("`{}` bits", said.name),
                    None => format!("{} bits", p.size),
                };
            differs(Subject::Size, How::Changed, size(a, p), size(b, q));
        } else if operand(a, field).is_some() != operand(b, other).is_some() {
            let said = |known: bool| if known { "an operand" } else { "no operand" }.to_owned();
            differs(
                Subject::Access,
                How::Changed,
                said(operand(a, field).is_some()),
                said(operand(b, other).is_some()),
            );
        }
    }
    let old = |other: &Field| named(a, other.name).is_some() || renamed.iter().any(|(_, name)| *name == other.name);
    for other in shown(b).filter(|other| !old(other)) {
        out.push(change(subject(b, other), How::Added, other.name, "", y.member(b, other)));
    }
}

/// How the target is counted, if the field is one of a branch.
fn target(field: &Field) -> Option<Target> {
    match field.ty {
        Type::Number(notation) => notation.target,
        _ => None,
    }
}

/// Formats runs of bits, from the top.
fn places(runs: impl Iterator<Item = (u32, u32)>) -> String {
    let mut all: Vec<String> = runs
        .map(|(at, width)| match width {
            1 => at.to_string(),
            width => format!("{}..{at}", (at + width).saturating_sub(1)),
        })
        .collect();
    all.reverse();
    match &all[..] {
        [] => String::new(),
        [only] if only.contains("..") => format!("bits {only}"),
        [only] => format!("bit {only}"),
        _ => format!("bits [{}]", all.join(", ")),
    }
}

impl Side {
    fn expression(self, index: u16) -> &'static str {
        self.engine.stream.expressions.get(usize::from(index)).map_or("", |expression| expression.text)
    }

    fn member(self, layout: &'static Layout, field: &Field) -> String {
        let parts = [self.kind(field), self.place(layout, field), self.computed(field)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// The bits that are stored for a field, or for the computed value it holds.
    fn place(self, layout: &'static Layout, field: &Field) -> String {
        let text = |pieces: &[Piece]| places(pieces.iter().map(|piece| (piece.at.into(), piece.width.into())));
        match field.source {
            Source::Bits(pieces) => text(pieces),
            Source::Outer(_) => "a parameter".to_owned(),
            Source::Computed { value, .. } => {
                let inputs = self.engine.stream.expressions.get(usize::from(value)).map_or(&[][..], |e| e.inputs);
                let below = inputs.iter().find_map(|input| match input {
                    Input::Field(index) => layout.fields.get(usize::from(*index)).filter(|f| f.name.ends_with(STORED)),
                    _ => None,
                });
                match below.map(|below| below.source) {
                    Some(Source::Bits(pieces)) => text(pieces),
                    _ => String::new(),
                }
            }
        }
    }

    fn computed(self, field: &Field) -> String {
        match field.source {
            Source::Computed { value, .. } => format!("= {}", self.expression(value)),
            _ => String::new(),
        }
    }

    /// The notation and the width of a field.
    fn kind(self, field: &Field) -> String {
        let stream = self.engine.stream;
        match field.ty {
            Type::Number(notation) => number(notation, field.signed),
            Type::Enum(names, rest) => {
                let found = stream.enums.get(usize::from(names));
                let name = found.map_or("", |names| enum_name(self.engine, names));
                match rest {
                    Some(notation) => format!("`{name}` or {}", number(notation, field.signed)),
                    None => format!("`{name}`"),
                }
            }
            Type::Register(bank) => format!("`{}`", stream.banks.get(usize::from(bank)).map_or("", |bank| bank.name)),
            Type::Set(set, _) => format!("`{}`", stream.sets.get(usize::from(set)).map_or("", |set| set.name)),
            Type::Float(bits) => format!("a float of {bits} bits"),
        }
    }
}

fn number(notation: Notation, signed: bool) -> String {
    let mut text = if signed { "a signed number".to_owned() } else { "a number".to_owned() };
    let Notation { radix, upper, digits, prefix, plus, quiet_zero, wraps, target, call } = notation;
    if radix != 10 {
        text.push_str(&format!(" in base {radix}"));
    }
    if !prefix.is_empty() {
        text.push_str(&format!(" after `{prefix}`"));
    }
    if digits > 1 {
        text.push_str(&format!(" of {digits} digits"));
    }
    for (is, words) in [
        (upper, " in capitals"),
        (plus, " with a sign"),
        (quiet_zero, ", zero as nothing"),
        (wraps, ", negative ones as unsigned"),
    ] {
        text.push_str(if is { words } else { "" });
    }
    if target.is_some() {
        text.push_str(if call { ", a label of a function" } else { ", a label" });
    }
    text
}

/// The text of a layout as a template.
fn template(side: Side, layout: &Layout, tokens: &[Token]) -> String {
    let name = |field: u8| layout.fields.get(usize::from(field)).map_or("", |field| field.name);
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Text(fixed) => text.push_str(fixed.str),
            Token::Field(field) => text.push_str(&format!("{{{}}}", name(*field))),
            Token::Bits(field, _) => text.push_str(&format!("{{{} as bits}}", name(*field))),
            Token::Column(column) => text.push_str(&format!("{{:{column}}}")),
            Token::If(condition, tokens) => {
                text.push_str(&format!("{{?{}|{}}}", side.expression(*condition), template(side, layout, tokens)));
            }
            Token::Aside(tokens) => text.push_str(&format!("\\t; {}", template(side, layout, tokens))),
        }
    }
    text
}

/// Whether two alternatives of a kind have the same bits, fields and text.
pub(crate) fn same_reading(old: Engine, new: Engine, a: &'static Layout, b: &'static Layout) -> bool {
    reading(old, a) == reading(new, b)
}

/// Describes an alternative of a kind in a few words.
pub(super) fn reading(engine: Engine, layout: &'static Layout) -> String {
    let side = Side { engine };
    let mut text = format!("`{}`", template(side, layout, layout.text));
    let fixed = pattern(layout).to_string();
    if !fixed.is_empty() {
        text.push_str(&format!(" when {fixed}"));
    }
    for condition in conditions(side, layout) {
        text.push_str(&format!(", where {condition}"));
    }
    for field in layout.fields.iter().filter(|field| !field.name.ends_with(STORED)) {
        text.push_str(&format!(", {} {}", field.name, side.member(layout, field)));
    }
    for operand in layout.operands.iter().filter(|operand| operand.access != Access::None) {
        let name = layout.fields.get(usize::from(operand.field)).map_or("", |field| field.name);
        text.push_str(&format!(", {name} {}", access(operand.access)));
    }
    text
}
