//! Differences between definitions other than instructions: enums, constants, banks, kinds, shared fields and limits.

use isaforge_core::stream::Wide;
use isaforge_core::table::{Alternative, Bank, Constants, Enum, Isa, Kind, Limit, Token};

use super::compare::{Compare, bits_text, renamed_enum};
use crate::diff::change::{Change, How, Subject, change};
use crate::diff::difference::{DefinitionDiff, Pattern, Sort};
use crate::diff::effects::of_alternative;
use crate::diff::encoded::Encoded;
use crate::diff::revision::Revision;

impl Compare {
    fn alternative_text(
        &self,
        revision: Revision<&'static Isa>,
        kind: &'static Kind,
        a: &'static Alternative,
    ) -> String {
        let isa = revision.tables;
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
        let fixed = Pattern { mask: Wide::new(a.mask), value: Wide::new(a.value) }.to_string();
        if !fixed.is_empty() {
            text.push_str(&format!(" when {fixed}"));
        }
        for (shared, value) in a.when {
            text.push_str(&format!(", `{}` = {value}", isa.shared[*shared as usize].name));
        }
        for field in a.fields {
            text.push_str(&format!(", {} {} {}", field.name, self.type_text(isa, field.ty), bits_text(&field.bits)));
        }
        let number = isa.kinds.iter().position(|known| std::ptr::eq(known, kind)).unwrap_or_default();
        text + &of_alternative(revision, number as u16, a.name, Encoded::Alternative(isa, a))
    }

    fn kind(
        &self,
        (old, a): (Revision<&'static Isa>, &'static Kind),
        (new, b): (Revision<&'static Isa>, &'static Kind),
    ) -> Vec<Change> {
        let mut out = Vec::new();
        if a.width != b.width {
            out.push(change(Subject::Width, How::Changed, "", a.width.to_string(), b.width.to_string()));
        }
        let mut renamed = Vec::new();
        for x in a.alternatives {
            let was = self.alternative_text(old, a, x);
            match b.alternatives.iter().find(|y| y.name == x.name) {
                None => match self.successor((old, a), (new, b), x) {
                    Some(index) => {
                        let name = b.alternatives[index].name;
                        renamed.push(name);
                        out.push(change(Subject::Alternative, How::Renamed, x.name, "", format!("`{name}`")));
                    }
                    None => out.push(change(Subject::Alternative, How::Removed, x.name, was, "")),
                },
                Some(y) => {
                    let is = self.alternative_text(new, b, y);
                    if was != is {
                        out.push(change(Subject::Alternative, How::Changed, x.name, was, is));
                    }
                }
            }
        }
        for y in b.alternatives.iter().filter(|y| !has(a, y.name) && !renamed.contains(&y.name)) {
            out.push(change(Subject::Alternative, How::Added, y.name, "", self.alternative_text(new, b, y)));
        }
        out
    }

    /// The alternative of a new kind that is one of an old kind under another name: all but their names is the same,
    /// and each name is unknown to the other kind.
    fn successor(
        &self,
        (old, a): (Revision<&'static Isa>, &'static Kind),
        (new, b): (Revision<&'static Isa>, &'static Kind),
        alternative: &'static Alternative,
    ) -> Option<usize> {
        let text = self.alternative_text(old, a, alternative);
        let same = |y: &'static Alternative| !has(a, y.name) && self.alternative_text(new, b, y) == text;
        if has(b, alternative.name) { None } else { b.alternatives.iter().position(same) }
    }
}

/// Whether a kind has an alternative with this name.
fn has(kind: &Kind, name: &str) -> bool {
    kind.alternatives.iter().any(|alternative| alternative.name == name)
}

/// The alternative of a new kind that is one of an old kind under another name, whatever instructions do with it.
pub(crate) fn renamed_alternative(
    (old, a): (&'static Isa, &'static Kind),
    (new, b): (&'static Isa, &'static Kind),
    alternative: &'static Alternative,
) -> Option<usize> {
    Compare { old, new }.successor((old.into(), a), (new.into(), b), alternative)
}

/// The values that only have another name: the old name and the new one.
pub(in crate::diff) fn renamed_values(a: &'static Enum, b: &'static Enum) -> Vec<(&'static str, &'static str)> {
    let known = |e: &Enum, name: &str| e.values.iter().any(|v| v.name == name);
    let successor = |bits: u64| b.value(bits).filter(|w| !known(a, w.name));
    let gone = a.values.iter().filter(|v| !known(b, v.name));
    gone.filter_map(|v| Some((v.name, successor(v.bits)?.name))).collect()
}

pub(in crate::diff) fn enum_changes(a: &'static Enum, b: &'static Enum) -> Vec<Change> {
    let mut out = Vec::new();
    let renamed = renamed_values(a, b);
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
            None => match renamed.iter().find(|(name, _)| *name == v.name) {
                Some((_, name)) => out.push(change(Subject::Value, How::Renamed, v.name, "", format!("`{name}`"))),
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
pub(in crate::diff) fn definitions(was: Revision<&'static Isa>, is: Revision<&'static Isa>) -> Vec<DefinitionDiff> {
    let (old, new) = (was.tables, is.tables);
    let (was, is) = if was.runs_as(is) { (was, is) } else { (old.into(), new.into()) };
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
    constants_and_banks((old.constants, old.banks), (new.constants, new.banks), &mut out);
    pairs(Sort::Kind, kinds(old), kinds(new), &mut out, |a, b| compare.kind((was, a), (is, b)));
    let named = |t: &'static [isaforge_core::table::Shared]| t.iter().map(|s| (s.name, s));
    pairs(Sort::Shared, named(old.shared), named(new.shared), &mut out, |a, b| {
        let text = |s: &isaforge_core::table::Shared| {
            let prints = if s.printed { "prints" } else { "does not print" };
            let words = s.words.iter().map(|(word, value)| format!(", `{word}` is {value}"));
            format!("{}, {} when unused, {prints}", bits_text(&s.bits), s.default) + &words.collect::<String>()
        };
        let (x, y) = (text(a), text(b));
        if x == y { Vec::new() } else { vec![change(Subject::Field, How::Changed, "", x, y)] }
    });
    let named = |t: &'static [Limit]| t.iter().map(|l| (l.name, l));
    pairs(Sort::Limit, named(old.limits), named(new.limits), &mut out, |a, b| {
        let (x, y) = (limit_text(old, a), limit_text(new, b));
        if x == y { Vec::new() } else { vec![change(Subject::Limit, How::Changed, "", x, y)] }
    });
    out
}

/// What changed in tables of constants and in banks of registers.
pub(in crate::diff) fn constants_and_banks(
    old: (&'static [Constants], &'static [Bank]),
    new: (&'static [Constants], &'static [Bank]),
    out: &mut Vec<DefinitionDiff>,
) {
    let named = |t: &'static [Constants]| t.iter().map(|c| (c.name, c));
    pairs(Sort::Constants, named(old.0), named(new.0), out, |a, b| {
        let mut out = Vec::new();
        for i in 0..a.values.len().max(b.values.len()) {
            let text = |t: &Constants| t.values.get(i).map_or(String::new(), |c| format!("{:#x}", c.value));
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
    let named = |t: &'static [Bank]| t.iter().map(|b| (b.name, b));
    pairs(Sort::Bank, named(old.1), named(new.1), out, |a, b| {
        let mut out = Vec::new();
        if a.count != b.count {
            out.push(change(Subject::Count, How::Changed, "", a.count.to_string(), b.count.to_string()));
        }
        if a.width != b.width {
            out.push(change(Subject::Width, How::Changed, "", a.width.to_string(), b.width.to_string()));
        }
        out
    });
}

/// Which operands a limit counts, and how it compares them.
fn limit_text(isa: &'static Isa, limit: &Limit) -> String {
    let kind = &isa.kinds[usize::from(limit.kind)];
    let counted = kind.alternatives.iter().enumerate().filter(|(at, _)| limit.alternatives >> at & 1 == 1);
    let counted: Vec<String> = counted.map(|(_, alternative)| format!("`{}`", alternative.name)).collect();
    let dropped = if limit.drop > 0 { format!(", without {} low bits", limit.drop) } else { String::new() };
    format!("{} of `{}`{dropped}", counted.join(", "), kind.name)
}

/// The declared kinds; those of plain registers belong to their operands.
fn kinds(isa: &'static Isa) -> impl Iterator<Item = (&'static str, &'static Kind)> + Clone {
    isa.kinds.iter().filter(|k| !isa.banks.iter().any(|b| b.name == k.name)).map(|k| (k.name, k))
}

pub(in crate::diff) fn pairs<T: 'static>(
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
