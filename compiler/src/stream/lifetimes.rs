//! Enum values that exist only in some generations: creates an enum, and a layout, for each range of generations with
//! the same values.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Layout, Type};
use crate::resolve::resolver::Resolver;
use crate::source::Span;

/// The first generation of each range, with the enum for that range.
type Spans = Vec<(u32, usize)>;

impl Resolver<'_> {
    /// Splits enums with values that exist only in some generations, and the layouts that use them.
    pub(crate) fn split_by_generation(&mut self) {
        let mut lifetimes: BTreeMap<Span, (u32, u32)> = BTreeMap::new();
        for (_, spec) in self.all(|file| &file.enums) {
            for value in spec.values.iter().filter(|value| value.since.is_some() || value.until.is_some()) {
                let lifetime = self.lifetime(value.since.as_ref(), value.until.as_ref());
                lifetimes.insert(value.span, lifetime);
            }
        }
        let Some(stream) = self.isa.stream() else { return };
        let ((first, last), names) = (stream.generations, stream.generation_names.clone());
        let mut split: BTreeMap<usize, Spans> = BTreeMap::new();
        for index in 0..self.isa.enums.len() {
            let whole = self.isa.enums[index].clone();
            let of = |span: &Span| lifetimes.get(span).copied().unwrap_or((0, u32::MAX));
            let changes = whole.values.iter().map(|value| of(&value.span));
            let changes = changes.flat_map(|(since, until)| [since, until.saturating_add(1)]);
            let starts: BTreeSet<u32> =
                changes.filter(|start| *start > first && *start <= last).chain([first]).collect();
            if !whole.values.iter().any(|value| lifetimes.contains_key(&value.span)) {
                continue;
            }
            for start in starts {
                let mut part = whole.clone();
                part.values.retain(|value| {
                    let (since, until) = of(&value.span);
                    (since..=until).contains(&start)
                });
                part.default = part.default.filter(|default| part.values.iter().any(|value| value.bits == *default));
                let spans = split.entry(index).or_default();
                if start == first {
                    spans.push((0, index));
                    self.isa.enums[index] = part;
                } else {
                    let name = names.iter().find(|(_, number)| *number == start).map(|(name, _)| name.clone());
                    part.name = format!("{} since {}", whole.name, name.unwrap_or_else(|| start.to_string()));
                    spans.push((start, self.isa.enums.len()));
                    self.isa.enums.push(part);
                }
            }
        }
        let Some(stream) = self.isa.stream_mut().filter(|_| !split.is_empty()) else { return };
        for set in &mut stream.sets {
            set.layouts =
                std::mem::take(&mut set.layouts).into_iter().flat_map(|layout| parts(layout, &split)).collect();
        }
    }
}

/// Splits a layout into one for each range of generations in which its enums are the same.
fn parts(layout: Layout, split: &BTreeMap<usize, Spans>) -> Vec<Layout> {
    let used = layout.fields.iter().filter_map(|field| match field.ty {
        Type::Enum(names, _) => split.get(&names),
        _ => None,
    });
    let inside = |start: &u32| *start > layout.since && *start <= layout.until;
    let later: BTreeSet<u32> = used.flatten().map(|(start, _)| *start).filter(inside).collect();
    let mut starts: Vec<u32> = later.into_iter().collect();
    starts.insert(0, layout.since);
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([layout.until]);
    let part = |(since, until): (u32, u32)| {
        let mut part = Layout { since, until, ..layout.clone() };
        for field in &mut part.fields {
            if let Type::Enum(names, _) = &mut field.ty
                && let Some(spans) = split.get(names)
                && let Some((_, own)) = spans.iter().rfind(|(start, _)| *start <= since)
            {
                *names = *own;
            }
        }
        part
    };
    starts.iter().copied().zip(ends).map(part).collect()
}
