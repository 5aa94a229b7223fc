//! The names of an instruction's members, to which graphs refer by index.

use isaforge_core::group::GroupIsa;
use isaforge_core::group::table::{self as group, Token};
use isaforge_core::semantics::Modifier;
use isaforge_core::stream::{self, Engine, Layout};
use isaforge_core::table::{self, Alternative, Enum, Form, Isa, Shape};

use super::stream::renamed as renamed_streams;
use super::structure::renamed_fields as renamed_words;

/// What the members that a graph refers to belong to.
#[derive(Clone, Copy)]
pub(super) enum Encoded {
    /// An instruction of words.
    Word(&'static Isa, &'static Form),
    /// An alternative of a kind of a set with words.
    Alternative(&'static Isa, &'static Alternative),
    /// An instruction of a stream, or an alternative of one of its kinds.
    Stream(Engine, &'static Layout),
    /// An operation of a set of groups, or none if it is what whole groups do; with the names of roles.
    Group(&'static GroupIsa, Option<&'static group::Operation>, &'static [&'static str]),
}

/// A modifier: its name, `operand.modifier` for one of an operand, and the names of its values.
pub(super) type Named = (String, Option<&'static Enum>);

impl Encoded {
    /// The name of an operand. Those of an alternative are its fields, followed by the number of bits to read and by the
    /// value.
    pub(super) fn operand(self, index: u16) -> &'static str {
        let index = usize::from(index);
        let (name, count) = match self {
            Encoded::Group(isa, _, roles) => {
                let mut names = isa.operands.iter().map(|operand| operand.name).chain(roles.iter().copied());
                (names.nth(index), isa.operands.len() + roles.len())
            }
            Encoded::Word(_, form) => (form.operands.get(index).map(|operand| operand.name), form.operands.len()),
            Encoded::Alternative(_, of) => (of.fields.get(index).map(|field| field.name), of.fields.len()),
            Encoded::Stream(_, layout) => (layout.fields.get(index).map(|field| field.name), layout.fields.len()),
        };
        name.unwrap_or(if index == count { "size" } else { "value" })
    }

    /// The name of a modifier, and those of its values.
    pub(super) fn modifier(self, modifier: Modifier) -> Option<Named> {
        match (self, modifier) {
            (Encoded::Word(isa, form), Modifier::Form(index)) => {
                let found = form.modifiers.get(usize::from(index))?;
                Some((found.name.to_owned(), isa.enum_of(found.ty)))
            }
            (Encoded::Word(isa, form), Modifier::Suffix(operand, index)) => {
                let operand = form.operands.get(usize::from(operand))?;
                let index = usize::from(index);
                let (name, ty) = match operand.suffixes.get(index) {
                    Some(suffix) => (suffix.name, suffix.ty),
                    None => {
                        let Shape::One { kind, .. } = operand.shape else { return None };
                        let first: &Alternative = isa.kinds.get(usize::from(kind))?.alternatives.first()?;
                        let field = first.fields.get(index - operand.suffixes.len())?;
                        (field.name, field.ty)
                    }
                };
                Some((format!("{}.{name}", operand.name), isa.enum_of(ty)))
            }
            (Encoded::Alternative(isa, alternative), Modifier::Form(index)) => {
                let field = alternative.fields.get(usize::from(index))?;
                Some((field.name.to_owned(), isa.enum_of(field.ty)))
            }
            (Encoded::Stream(engine, layout), Modifier::Form(index)) => {
                let field = layout.fields.get(usize::from(index))?;
                Some((field.name.to_owned(), of_field(engine, field)))
            }
            (Encoded::Stream(engine, layout), Modifier::Suffix(operand, index)) => {
                let operand = layout.fields.get(usize::from(operand))?;
                let stream::Type::Set(set, _) = operand.ty else { return None };
                let field = engine.stream.layouts_of(set.into()).first()?.fields.get(usize::from(index))?;
                Some((format!("{}.{}", operand.name, field.name), of_field(engine, field)))
            }
            (Encoded::Group(..), Modifier::Form(index)) => self.modifier(Modifier::Field(Token::OWN, index)),
            (Encoded::Group(isa, own, _), Modifier::Field(slot, index)) => {
                let at = if slot == Token::OWN { own?.slots.trailing_zeros() as usize } else { slot.into() };
                let slot = isa.slots.get(at)?;
                let field = isa.choices.get(usize::from(slot.choice))?.fields.get(usize::from(index))?;
                let is_own = own.is_some_and(|own| own.slots.trailing_zeros() as usize == at);
                let name = if is_own { field.name.to_owned() } else { format!("{}.{}", slot.name, field.name) };
                let names = match field.ty {
                    group::Type::Enum(index) => isa.enums.get(usize::from(index)),
                    _ => None,
                };
                Some((name, names))
            }
            (Encoded::Group(isa, ..), Modifier::Present(slot)) => {
                Some((format!("has.{}", isa.slots.get(usize::from(slot))?.name), None))
            }
            (Encoded::Group(..), Modifier::Repetition) => Some(("repetition".to_owned(), None)),
            (Encoded::Group(..), Modifier::Repetitions) => Some(("repetitions".to_owned(), None)),
            _ => None,
        }
    }

    /// Whether values of a modifier that have no name are written as numbers.
    pub(super) fn takes_numbers(self, modifier: Modifier) -> bool {
        let (Encoded::Stream(_, layout), Modifier::Form(index)) = (self, modifier) else { return false };
        let field = layout.fields.get(usize::from(index));
        field.is_some_and(|field| matches!(field.ty, stream::Type::Enum(_, Some(_))))
    }

    /// The fields of alternatives that only have another name: the old name and the new one.
    pub(super) fn renamed_fields(self, new: Encoded) -> Vec<(String, String)> {
        let own = |(old, new): (&str, &str)| (old.to_owned(), new.to_owned());
        match (self, new) {
            (Encoded::Alternative(old, a), Encoded::Alternative(new, b)) => {
                renamed_words(old, new, a, b).into_iter().map(own).collect()
            }
            (Encoded::Stream(old, a), Encoded::Stream(new, b)) => {
                renamed_streams(old, new, a, b).into_iter().map(own).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The modifier of the instruction itself with this name.
    pub(super) fn named(self, name: &str) -> Option<Named> {
        let count = match self {
            Encoded::Word(_, form) => form.modifiers.len(),
            Encoded::Alternative(_, alternative) => alternative.fields.len(),
            Encoded::Stream(_, layout) => layout.fields.len(),
            Encoded::Group(isa, own, _) => {
                let slot = own.and_then(|own| isa.slots.get(own.slots.trailing_zeros() as usize));
                slot.and_then(|slot| isa.choices.get(usize::from(slot.choice))).map_or(0, |of| of.fields.len())
            }
        };
        let all = (0..count).filter_map(|index| self.modifier(Modifier::Form(u8::try_from(index).ok()?)));
        all.into_iter().find(|(known, _)| known == name)
    }

    /// The kinds that each operand may be of, nested ones included: the index of the operand and those of the kinds.
    pub(super) fn kinds(self) -> Vec<(u16, Vec<u16>)> {
        match self {
            Encoded::Word(_, form) => {
                let kind = |(operand, index): (&table::Operand, u16)| match operand.shape {
                    Shape::One { kind, .. } | Shape::List { kind, .. } => Some((index, vec![kind])),
                    Shape::Number { .. } => None,
                };
                form.operands.iter().zip(0..).filter_map(kind).collect()
            }
            Encoded::Alternative(..) | Encoded::Group(..) => Vec::new(),
            Encoded::Stream(engine, layout) => {
                let kinds = |(field, index): (&stream::Field, u16)| {
                    let mut found = Vec::new();
                    nested(engine, field, &mut found);
                    (!found.is_empty()).then_some((index, found))
                };
                layout.fields.iter().zip(0..).filter_map(kinds).collect()
            }
        }
    }

    /// The name of a kind, or of a slot of a group.
    pub(super) fn kind(self, kind: u16) -> &'static str {
        match self {
            Encoded::Word(isa, _) | Encoded::Alternative(isa, _) => isa.kinds.get(usize::from(kind)).map(|k| k.name),
            Encoded::Stream(engine, _) => engine.stream.sets.get(usize::from(kind)).map(|set| set.name),
            Encoded::Group(isa, ..) => isa.slots.get(usize::from(kind)).map(|slot| slot.name),
        }
        .unwrap_or_default()
    }

    /// The alternatives of a kind, with their names.
    pub(super) fn alternatives(self, kind: u16) -> Vec<(&'static str, Encoded)> {
        match self {
            Encoded::Word(isa, _) | Encoded::Alternative(isa, _) => {
                let all = isa.kinds.get(usize::from(kind)).map_or(&[][..], |kind| kind.alternatives);
                all.iter().map(|found| (found.name, Encoded::Alternative(isa, found))).collect()
            }
            Encoded::Group(..) => Vec::new(),
            Encoded::Stream(engine, _) => {
                let all = engine.stream.layouts_of(kind.into()).iter();
                all.map(|found| (found.name, Encoded::Stream(engine, found))).collect()
            }
        }
    }
}

fn of_field(engine: Engine, field: &stream::Field) -> Option<&'static Enum> {
    match field.ty {
        stream::Type::Enum(index, _) => engine.stream.enums.get(usize::from(index)),
        _ => None,
    }
}

/// Collects the kinds of a field and of the fields of their alternatives.
fn nested(engine: Engine, field: &stream::Field, found: &mut Vec<u16>) {
    let stream::Type::Set(set, _) = field.ty else { return };
    if !found.contains(&set) {
        found.push(set);
        let fields = engine.stream.layouts_of(set.into()).iter().flat_map(|layout| layout.fields);
        fields.for_each(|field| nested(engine, field, found));
    }
}
