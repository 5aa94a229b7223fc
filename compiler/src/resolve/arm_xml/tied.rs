//! Fields that depend on each other through expressions.
//!
//! The tables represent fields, not formulas. Fields that depend on each other are therefore treated as one field: all
//! combinations of their bits are tried, and those in which every expression agrees are its values. The text of a value
//! consists of the texts of its parts. This also detects formulas that lose information, and formulas that are not
//! inverses of each other.

use std::collections::HashMap;

use super::members::{Holds, Member, Members};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Piece};

/// The maximum total width of dependent fields in bits.
pub(super) const MAX_BITS: u32 = 12;

/// A combination of bits for which all expressions agree.
pub(super) struct Row {
    /// The bits, with those of the first field lowest.
    pub bits: u64,
    values: HashMap<usize, u64>,
}

impl Row {
    /// The value of a member.
    pub(super) fn value(&self, member: usize) -> Option<u64> {
        self.values.get(&member).copied()
    }
}

/// Fields that depend on each other.
pub(super) struct Tied {
    /// All of them, as indices.
    pub members: Vec<usize>,
    /// Those that are stored.
    pub stored: Vec<usize>,
    pub rows: Vec<Row>,
}

impl Tied {
    /// The position of a row's bits in the word.
    pub(super) fn bits(&self, members: &Members) -> Bits {
        let piece = |m: &usize| members.list[*m].place.map(|(at, width)| Piece { at, width, shared: None });
        Bits(self.stored.iter().filter_map(piece).collect())
    }

    pub(super) fn width(&self, members: &Members) -> u32 {
        self.stored.iter().map(|m| members.list[*m].width()).sum()
    }
}

/// The groups of dependent fields of an instruction. `None` when an expression refers to an unknown field or cannot be
/// evaluated.
pub(super) fn tied(members: &Members, out: &mut Diagnostics) -> Option<Vec<Tied>> {
    let list = &members.list;
    let mut group: Vec<usize> = (0..list.len()).collect();
    for (i, member) in list.iter().enumerate() {
        for name in member.expression.iter().flat_map(|e| e.names()) {
            let Some(other) = members.find(&name.value) else {
                let message = format!("`{}` depends on `{}`, which does not exist", member.name.value, name.value);
                let error = Diagnostic::error("E0101", name.span, message);
                let near = crate::suggest::did_you_mean(&name.value, list.iter().map(|m| m.name.as_str()));
                out.push(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                });
                return None;
            };
            // A constant does not create a dependency.
            if list[other].exact.is_none() {
                let (from, to) = (group[other], group[i]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    let mut groups: Vec<Tied> = Vec::new();
    for (i, member) in list.iter().enumerate().filter(|(i, _)| group[*i] == *i) {
        let of: Vec<usize> = (0..list.len()).filter(|m| group[*m] == i).collect();
        if of.len() > 1 || member.expression.is_some() {
            groups.push(combinations(members, of, out)?);
        }
    }
    Some(groups)
}

fn combinations(members: &Members, of: Vec<usize>, out: &mut Diagnostics) -> Option<Tied> {
    let list = &members.list;
    let stored: Vec<usize> = of.iter().copied().filter(|m| list[*m].place.is_some()).collect();
    let mut tied = Tied { members: of, stored, rows: Vec::new() };
    let names = || tied.members.iter().map(|m| format!("`{}`", list[*m].name.value)).collect::<Vec<_>>().join(", ");
    let span =
        tied.members.iter().find_map(|m| list[*m].expression.as_ref()?.span()).unwrap_or(list[tied.members[0]].span);
    let width = tied.width(members);
    if width > MAX_BITS {
        let message = format!("{} depend on each other and have {width} bits together", names());
        let error = Diagnostic::error("E0082", span, message);
        out.push(error.note(format!("at most {MAX_BITS} bits can be tied together")));
        return None;
    }
    let mut computable = false;
    let mut rows = Vec::new();
    for bits in 0..1u64 << width {
        match row(list, &tied, bits) {
            Some(Some(row)) => {
                computable = true;
                rows.push(row);
            }
            Some(None) => computable = true,
            None => {}
        }
    }
    if !computable {
        out.push(Diagnostic::error("E0081", span, format!("{} cannot be computed from each other", names())));
        return None;
    }
    if rows.is_empty() {
        let error = Diagnostic::error("E0082", span, format!("no values of {} agree with each other", names()));
        out.push(error.note("every combination of their bits breaks an expression or a restriction"));
        return None;
    }
    tied.rows = rows;
    Some(tied)
}

/// Evaluates one combination of bits: `None` when that is not possible, `Some(None)` when expressions disagree.
fn row(list: &[Member], tied: &Tied, bits: u64) -> Option<Option<Row>> {
    let mut values: HashMap<usize, u64> = HashMap::new();
    let mut rest = bits;
    for &m in &tied.stored {
        let width = list[m].width();
        values.insert(m, rest & isaforge_core::bits::ones(width));
        rest >>= width;
    }
    let look = |values: &HashMap<usize, u64>, name: &str| {
        let found = list.iter().position(|m| m.name.value == name)?;
        let value = values.get(&found).copied().or(list[found].exact)?;
        u32::try_from(value).ok()
    };
    // Fields that are not stored are computed from the others, in any order that works.
    loop {
        let open = tied.members.iter().copied().filter(|m| !values.contains_key(m));
        let next = open.into_iter().find_map(|m| {
            let value = list[m].expression.as_ref()?.value(&|name| look(&values, name))?;
            Some((m, u64::from(value)))
        });
        match next {
            Some((m, value)) => drop(values.insert(m, value)),
            None => break,
        }
    }
    if tied.members.iter().any(|m| !values.contains_key(m)) {
        return None;
    }
    let agrees = |m: &usize| {
        let (member, value) = (&list[*m], values.get(m).copied().unwrap_or(0));
        let computed = match (&member.expression, member.place) {
            (Some(expression), Some(_)) => expression.value(&|name| look(&values, name)).map(u64::from) == Some(value),
            _ => true,
        };
        computed && (matches!(member.holds, Holds::Unsaid) || member.admits(value))
    };
    let sound = tied.members.iter().all(agrees);
    Some(sound.then_some(Row { bits, values }))
}
