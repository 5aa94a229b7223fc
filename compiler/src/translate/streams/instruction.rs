//! Takes an instruction apart by the names of its fields, and builds one from the same names in the other revision.

use isaforge_core::bits::ones;
use isaforge_core::stream::{Decoded, Engine, Field, Layout, Notation, Scope, Source, Type, solve};

use super::{AddressMap, StreamError, below, decodes};
use crate::diff::{renamed_in_stream, same_reading};
use crate::stream::STORED;
use crate::translate::fields::{is_visible, named_value, path, text};

/// The maximum nesting of alternatives; the compiler does not allow a kind to contain itself.
const MAX_DEPTH: u8 = 24;

/// How a field holds a branch target, if it does.
fn target(field: &Field) -> Option<isaforge_core::table::Target> {
    match field.ty {
        Type::Number(Notation { target, .. }) | Type::Enum(_, Some(Notation { target, .. })) => target,
        _ => None,
    }
}

pub(super) struct Translation<'a> {
    pub(super) from: Engine,
    pub(super) to: Engine,
    pub(super) name: &'static str,
    pub(super) place: &'a AddressMap<'a>,
    /// The length of the source instruction in bytes.
    pub(super) len: u8,
    /// The address after the target instruction.
    pub(super) next: u64,
}

/// A value of a field of the source, for its counterpart in the target.
struct Given {
    here: u8,
    there: u8,
    value: u64,
}

/// The values to build from, best first: all, or those that are written, since the fields that computed values depend
/// on may be divided differently in the target.
fn ways(here: &Layout, there: &Layout, values: &[Given]) -> [Vec<(u8, u64)>; 2] {
    let shown = |given: &&Given| is_visible(here, given.here) && is_visible(there, given.there);
    let pair = |given: &Given| (given.there, given.value);
    [values.iter().map(pair).collect(), values.iter().filter(shown).map(pair).collect()]
}

impl Translation<'_> {
    pub(super) fn make(&self, scope: &Scope<'_>, index: u16, layout: &'static Layout) -> Result<Decoded, StreamError> {
        let pairs = self.pairs(scope, layout, "")?;
        let values = self.values(scope, layout, &pairs, "", 0)?;
        let made = ways(scope.layout, layout, &values)
            .into_iter()
            .find_map(|values| self.to.build(index, &values).filter(|made| self.means(scope, &self.to.scope(made), 0)));
        let Some(made) = made else {
            let alone = |value: &&Given| !solve::gives(self.to, layout, value.there, value.value);
            let (isa, name) = (self.to.stream.name, self.name);
            return Err(match values.iter().find(alone) {
                Some(given) => StreamError::Value {
                    isa,
                    name,
                    field: scope.layout.fields[usize::from(given.here)].name.to_owned(),
                    value: text(scope, given.here),
                },
                None => StreamError::Together { isa, name },
            });
        };
        // Ignored bits are kept if they are ignored in the target, too.
        let kept = scope.layout.ignored & layout.ignored;
        Ok(Decoded { word: made.word & !kept | *scope.word & kept, ..made })
    }

    /// The values of fields that have a counterpart in the other layout.
    fn values(
        &self,
        scope: &Scope<'_>,
        layout: &'static Layout,
        pairs: &[(u8, u8)],
        owner: &str,
        depth: u8,
    ) -> Result<Vec<Given>, StreamError> {
        let given = |(here, there): &(u8, u8)| {
            let value = self.value(scope, *here, layout, *there, owner, depth)?;
            Ok(Given { here: *here, there: *there, value })
        };
        pairs.iter().map(given).collect()
    }

    /// Pairs each field with the corresponding field of the other layout.
    fn pairs(&self, scope: &Scope<'_>, layout: &'static Layout, owner: &str) -> Result<Vec<(u8, u8)>, StreamError> {
        let mut pairs = Vec::new();
        let own = scope.layout.fields;
        let named = |fields: &'static [Field], name: &str| fields.iter().position(|field| field.name == name);
        // Parameters, and the stored bits of computed values, follow from other fields.
        let of_itself = |field: &Field| !matches!(field.source, Source::Outer(_)) && !field.name.ends_with(STORED);
        let mut lost = Vec::new();
        for (index, field) in own.iter().enumerate().filter(|(_, field)| of_itself(field)) {
            let same_bits = || {
                layout.fields.iter().position(|other| {
                    of_itself(other)
                        && named(own, other.name).is_none()
                        && below(field).is_some()
                        && below(other) == below(field)
                })
            };
            let renamed = || {
                let all = renamed_in_stream(self.from, self.to, scope.layout, layout);
                named(layout.fields, all.iter().find(|(old, _)| *old == field.name)?.1)
            };
            let same = named(layout.fields, field.name).filter(|at| of_itself(&layout.fields[*at]));
            match same.or_else(same_bits).or_else(renamed) {
                Some(other) => pairs.push((index as u8, other as u8)),
                None => lost.push(index as u8),
            }
        }
        // A branch target may move, and takes along the fields that only hold it.
        let targets = pairs.iter().filter(|(own, other)| {
            target(&scope.layout.fields[usize::from(*own)]).is_some()
                && target(&layout.fields[usize::from(*other)]).is_some()
        });
        let held = targets.fold(0, |held, (at, _)| held | own[usize::from(*at)].leaves & !(1 << at));
        pairs.retain(|(at, _)| held >> at & 1 == 0 || is_visible(scope.layout, *at));
        // The fields that a value depends on are not needed if the value itself is present.
        let covered = pairs.iter().fold(0, |leaves, (own_field, _)| leaves | own[usize::from(*own_field)].leaves);
        for index in lost {
            let field = &own[usize::from(index)];
            let value = scope.value(index);
            if value == field.default || covered >> index & 1 != 0 {
                continue;
            }
            // A computed field adds no information to the fields it is computed from.
            let follows = matches!(field.source, Source::Computed { .. }) && field.leaves & !covered == 0;
            if !follows {
                return Err(StreamError::Field {
                    isa: self.to.stream.name,
                    name: self.name,
                    field: path(owner, field.name),
                    value: text(scope, index),
                });
            }
        }
        Ok(pairs)
    }

    /// The value for a field of the other layout.
    fn value(
        &self,
        scope: &Scope<'_>,
        index: u8,
        layout: &'static Layout,
        other: u8,
        owner: &str,
        depth: u8,
    ) -> Result<u64, StreamError> {
        let (field, target_field) = (&scope.layout.fields[usize::from(index)], &layout.fields[usize::from(other)]);
        let raw = scope.value(index);
        let name = path(owner, field.name);
        let none = || StreamError::Value {
            isa: self.to.stream.name,
            name: self.name,
            field: name.clone(),
            value: text(scope, index),
        };
        let value = match (field.ty, target_field.ty) {
            (Type::Enum(e, numbers), Type::Enum(f, others)) => {
                let (e, f) = (&self.from.stream.enums[usize::from(e)], &self.to.stream.enums[usize::from(f)]);
                match e.value(raw) {
                    Some(_) => named_value(e, f, raw).ok_or_else(none)?,
                    None if numbers.is_some() && others.is_some() => raw,
                    None => return Err(none()),
                }
            }
            (Type::Set(set, arguments), Type::Set(wanted, _)) if depth < MAX_DEPTH => {
                let bits = scope.bits(field, index);
                let inner = scope.reading(set, arguments, &bits).ok_or_else(none)?;
                self.reading(&inner, (set, wanted), &name, text(scope, index), depth)?
            }
            (Type::Set(..), _) | (_, Type::Set(..)) => return Err(none()),
            (Type::Register(_), Type::Register(bank)) => {
                let count = self.to.stream.banks.get(usize::from(bank)).map_or(0, |bank| bank.count);
                Some(raw).filter(|raw| *raw < u64::from(count)).ok_or_else(none)?
            }
            (Type::Register(_), _) | (_, Type::Register(_)) | (Type::Float(_), Type::Enum(..)) => return Err(none()),
            (Type::Float(a), Type::Float(b)) if a != b => return Err(none()),
            _ => match (target(field), target(target_field)) {
                (Some(counts), Some(other)) => {
                    let next = self.place.this.wrapping_add(self.len.into());
                    let address = counts.address(raw as i64, self.place.this, next);
                    let branch = StreamError::Branch { name: self.name, field: name.clone(), address };
                    let moved = (self.place.moved)(address).ok_or(branch)?;
                    other.number(moved, self.place.new_this, self.next).ok_or_else(none)? as u64
                }
                _ => raw,
            },
        };
        let fits = target_field.extended(value & ones(target_field.width.into())) == value;
        if fits { Ok(value) } else { Err(none()) }
    }

    /// The bits of an operand for the same alternative of another kind.
    fn reading(
        &self,
        inner: &Scope<'_>,
        (set, wanted): (u16, u16),
        owner: &str,
        written: String,
        depth: u8,
    ) -> Result<u64, StreamError> {
        let own = inner.layout;
        let same_pattern = |layout: &Layout| (layout.mask, layout.value) == (own.mask, own.value);
        let all = self.to.stream.layouts_of(wanted.into()).iter().filter(|layout| decodes(self.to, layout));
        let mut found: Vec<&Layout> =
            all.filter(|layout| self.same_alternative((set, own), (wanted, layout))).collect();
        // Variants have one name.
        found.sort_by_key(|layout| !same_pattern(layout));
        let mut error = StreamError::Reading {
            isa: self.to.stream.name,
            name: self.name,
            field: owner.to_owned(),
            reading: own.name,
            value: written,
        };
        for (turn, layout) in found.into_iter().enumerate() {
            match self.operand(inner, layout, owner, depth + 1) {
                Ok(Some(bits)) => return Ok(bits),
                Err(first) if turn == 0 => error = first,
                _ => {}
            }
        }
        Err(error)
    }

    /// The bits of an operand in another layout. `None` if there are none with the same values.
    fn operand(
        &self,
        inner: &Scope<'_>,
        layout: &'static Layout,
        owner: &str,
        depth: u8,
    ) -> Result<Option<u64>, StreamError> {
        let values = self.values(inner, layout, &self.pairs(inner, layout, owner)?, owner, depth)?;
        // Computed values may depend on parameters.
        let outer = |fields: &'static [Field]| {
            fields.iter().zip(0..).filter(|(field, _)| matches!(field.source, Source::Outer(_)))
        };
        let parameters: Vec<(u8, u64)> = outer(layout.fields)
            .filter_map(|(field, there)| {
                let (_, here) = outer(inner.layout.fields).find(|(own, _)| own.name == field.name)?;
                Some((there, self.value(inner, here, layout, there, owner, depth).ok()?))
            })
            .collect();
        let len = self.next.wrapping_sub(self.place.new_this) as u8;
        let stored: Vec<(u8, u64)> = layout
            .fields
            .iter()
            .zip(0..)
            .filter(|(field, _)| field.name.ends_with(STORED))
            .filter_map(|(field, there)| {
                let here = inner.layout.fields.iter().position(|own| own.name == field.name)? as u8;
                Some((there, inner.value(here)))
            })
            .collect();
        let [all, shown] = ways(inner.layout, layout, &values);
        // Several stored values may give the same computed one.
        let exact = [&all[..], &stored].concat();
        let mut ways = [exact, all, shown].into_iter();
        Ok(ways.find_map(|values| self.to.build_operand(layout, len, &[&values[..], &parameters].concat())))
    }

    /// Whether alternatives of two kinds are the same: by name, or by all but their names if each is unknown to the
    /// other kind.
    fn same_alternative(&self, (set, own): (u16, &'static Layout), (wanted, other): (u16, &'static Layout)) -> bool {
        let known = |engine: Engine, set: u16, name: &str| {
            let all = engine.stream.layouts_of(set.into()).iter();
            all.into_iter().any(|layout| decodes(engine, layout) && layout.name == name)
        };
        own.name == other.name
            || !known(self.to, wanted, own.name)
                && !known(self.from, set, other.name)
                && same_reading(self.from, self.to, own, other)
    }

    /// Whether an instruction or an alternative in the target has all values of the source.
    fn means(&self, here: &Scope<'_>, there: &Scope<'_>, depth: u8) -> bool {
        let Ok(pairs) = self.pairs(here, there.layout, "") else { return false };
        // What only serves to compute a value that is written need not be the same.
        let own = here.layout.fields;
        let shown = |(own, other): &(u8, u8)| is_visible(here.layout, *own) && is_visible(there.layout, *other);
        let told = pairs.iter().filter(|pair| shown(pair)).fold(0, |told, (at, _)| told | own[usize::from(*at)].leaves);
        let counts = |pair: &&(u8, u8)| shown(pair) || own[usize::from(pair.0)].leaves & !told != 0;
        pairs.iter().filter(counts).all(|(own, other)| {
            let (field, wanted) = (&here.layout.fields[usize::from(*own)], &there.layout.fields[usize::from(*other)]);
            match (field.ty, wanted.ty) {
                (Type::Set(set, arguments), Type::Set(other_set, others)) if depth < MAX_DEPTH => {
                    let (bits, others_bits) = (here.bits(field, *own), there.bits(wanted, *other));
                    let (inner, found) =
                        (here.reading(set, arguments, &bits), there.reading(other_set, others, &others_bits));
                    inner.zip(found).is_some_and(|(inner, found)| {
                        self.same_alternative((set, inner.layout), (other_set, found.layout))
                            && self.means(&inner, &found, depth + 1)
                    })
                }
                _ => self
                    .value(here, *own, there.layout, *other, "", depth)
                    .is_ok_and(|value| value == there.value(*other)),
            }
        })
    }
}
