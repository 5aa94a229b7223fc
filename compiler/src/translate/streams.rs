//! Translates programs of one revision or generation of a stream to another.
//!
//! An instruction is taken apart by its names (instruction, fields, enum values, alternatives of kinds) and assembled
//! from the same names. Computed values follow from that, or are inverted where they are computed differently. If the
//! length of an instruction changes, branches within the program still lead to the same instructions; one into the
//! middle of an instruction has no translation, since its bytes may change.
//!
//! An instruction that the other revision lacks may have the text of another one that it has: a short and a long `mv`.
//! The source revision takes instructions of different lengths with one text for the same, so the other one is
//! translated in its place.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::program::ProgramError;
use isaforge_core::stream::listing::parts;
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{
    DecodeError, Decoded, Engine, Field, Layout, Notation, Role, Scope, Source, Type, Wide, insert, solve,
    target as target_of,
};
use isaforge_core::text::Line;

use super::fields::{is_visible, named_value, path, text};
use crate::stream::STORED;

/// Why an instruction has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The bytes are not an instruction of the source revision.
    #[error("not an instruction of {isa}: {error}")]
    Decode {
        /// The revision.
        isa: &'static str,
        /// What is wrong with the bytes.
        error: DecodeError,
    },
    /// The other revision has no such instruction.
    #[error("{isa} has no instruction `{name}`")]
    Instruction {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
    },
    /// The other revision's instruction has no such field, and it is not at its default.
    #[error("{isa} has no `{field}` for `{name}`, which is `{value}` here")]
    Field {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field; `operand.field` within an operand.
        field: String,
        /// Its value.
        value: String,
    },
    /// The other revision has the field, but no such value of it.
    #[error("{isa} has no value `{value}` for `{field}` of `{name}`")]
    Value {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field; `operand.field` within an operand.
        field: String,
        /// The value.
        value: String,
    },
    /// The operand has no such alternative in the other revision.
    #[error("{isa} has no `{value}` ({reading}) for `{field}` of `{name}`")]
    Reading {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field.
        field: String,
        /// The alternative.
        reading: &'static str,
        /// The operand as written in the source revision.
        value: String,
    },
    /// All parts can be expressed, but not in combination.
    #[error("this combination cannot be encoded as one `{name}` in {isa}")]
    Together {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
    },
    /// A branch leads into the middle of an instruction.
    #[error("`{field}` of `{name}` leads to byte {address:#x}, where no instruction starts")]
    Branch {
        /// The instruction.
        name: &'static str,
        /// The field.
        field: String,
        /// Its target.
        address: u64,
    },
    /// The lengths of instructions and the addresses of branch targets do not converge.
    #[error("the lengths of instructions and the positions of branches do not converge")]
    Unsettled,
}

/// The maximum number of iterations until addresses converge.
const TURNS: usize = 100;
/// The number of iterations in which instructions may become shorter again; after that, addresses must converge soon.
const SHRINKING: usize = 10;
/// The maximum nesting of alternatives; the compiler does not allow a kind to contain itself.
const MAX_DEPTH: u8 = 24;

/// The address of an instruction in the source and in the target, and the map from source to target addresses.
struct AddressMap<'a> {
    this: u64,
    new_this: u64,
    moved: &'a dyn Fn(u64) -> Option<u64>,
    /// The least length of the instruction in the target, in bytes.
    least: u8,
}

/// Translates a program of revision `from` to bytes of revision `to`.
///
/// # Errors
/// Returns everything that cannot be translated, each with its offset in bytes.
pub fn translate_bytes(from: Engine, to: Engine, bytes: &[u8]) -> Result<Vec<u8>, Vec<(usize, StreamError)>> {
    let mut errors = Vec::new();
    let mut program: Vec<(u64, Decoded)> = Vec::new();
    for part in parts(from, bytes) {
        match part.decoded {
            Ok(decoded) => program.push((part.at as u64, decoded)),
            Err(error) => errors.push((part.at, StreamError::Decode { isa: from.stream.name, error })),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let end = bytes.len() as u64;
    let mut places: HashMap<u64, u64> = program.iter().map(|(at, _)| (*at, *at)).collect();
    places.insert(end, end);
    let mut least = vec![0; program.len()];
    for turn in 0..TURNS {
        // Code outside of the program is unknown, so branches to it keep their target address.
        let moved = |address: u64| places.get(&address).copied().or((address > end).then_some(address));
        let (mut out, mut next) = (Vec::new(), HashMap::new());
        for ((at, decoded), least) in program.iter().zip(&mut least) {
            let new_this = places.get(at).copied().unwrap_or(*at);
            next.insert(*at, out.len() as u64);
            match place(from, to, decoded, &AddressMap { this: *at, new_this, moved: &moved, least: *least }) {
                Ok(made) => {
                    *least = if turn < SHRINKING { 0 } else { made.len };
                    out.extend(to.store(made.word).iter().take(made.len.into()));
                }
                Err(error) => {
                    out.extend(std::iter::repeat_n(0, decoded.len.into()));
                    errors.push((*at as usize, error));
                }
            }
        }
        next.insert(end, out.len() as u64);
        if next == places {
            return if errors.is_empty() { Ok(out) } else { Err(errors) };
        }
        errors.clear();
        places = next;
    }
    Err(vec![(0, StreamError::Unsettled)])
}

/// Translates a program in the text of revision `from` to bytes of revision `to`.
///
/// # Errors
/// Returns the mistakes in the text, or else everything that cannot be translated, each with its line.
pub fn translate_text(from: Engine, to: Engine, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
    let bytes = assemble(from, text)?;
    translate_bytes(from, to, &bytes).map_err(|errors| {
        // Labels are resolved in the whole program; here it matters only how many instructions a line has.
        let instructions = |line: &str| assemble(from, line).map_or(1, |bytes| parts(from, &bytes).count());
        let lines = text.lines().enumerate();
        let mut lines = lines.flat_map(|line| std::iter::repeat_n(line, instructions(line.1)));
        let mut places = parts(from, &bytes).map(|part| (part.at, lines.next().unwrap_or_default()));
        let located = |(at, error): (usize, StreamError)| {
            let (number, line) = places.find(|(start, _)| *start == at).map_or((0, ""), |(_, line)| line);
            let column = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
            let len = line.trim().chars().count().max(1);
            ProgramError { line: number + 1, column, len, message: error.to_string(), help: String::new() }
        };
        errors.into_iter().map(located).collect()
    })
}

/// Translates an instruction at its place in the target, or another one with the same text.
fn place(from: Engine, to: Engine, decoded: &Decoded, place: &AddressMap<'_>) -> Result<Decoded, StreamError> {
    let missing = match by_name(from, to, decoded, place) {
        Err(error @ StreamError::Instruction { .. }) => error,
        result => return result,
    };
    // The texts of an existing decoder need not tell instructions apart.
    if from.stream.exclusive {
        return Err(missing);
    }
    let mut text = Line::new();
    from.print(decoded, &mut text);
    let own = from.scope(decoded).layout.opcode;
    let others = (0..from.stream.instructions.len() as u16).filter(|opcode| *opcode != own);
    let alike = others.filter_map(|opcode| from.parse_as(opcode, text.as_str()));
    // Of one length, one of them could never be written: nothing says that they mean the same.
    let alike = alike.filter(|other| other.len != decoded.len);
    // A target is a number in this text, which may be counted from elsewhere.
    let mut alike = alike.filter(|other| target_of(from, other, place.this) == target_of(from, decoded, place.this));
    alike.find_map(|other| by_name(from, to, &other, place).ok()).ok_or(missing)
}

/// Translates an instruction by its name.
fn by_name(from: Engine, to: Engine, decoded: &Decoded, place: &AddressMap<'_>) -> Result<Decoded, StreamError> {
    let scope = from.scope(decoded);
    let name =
        from.stream.instructions.get(usize::from(scope.layout.opcode)).map_or("", |instruction| instruction.name);
    let mut error = StreamError::Instruction { isa: to.stream.name, name };
    for (index, layout) in counterparts(from, to, name, scope.layout) {
        // Where a branch counts from the next instruction, its target depends on its own length.
        let mut len = (layout.bits / 8) as u8;
        for _ in 0..2 {
            let next = place.new_this.wrapping_add(len.into());
            let translation = Translation { from, to, name, place, len: decoded.len, next };
            match translation.make(&scope, index, layout) {
                Ok(made) if made.len < place.least => break,
                Ok(made) if made.len == len => return Ok(made),
                Ok(made) => len = made.len,
                Err(first) => {
                    // The first counterpart is the likeliest, so its error is the most helpful.
                    if matches!(error, StreamError::Instruction { .. }) {
                        error = first;
                    }
                    break;
                }
            }
        }
    }
    Err(error)
}

/// Whether a layout is used for decoding in a generation.
fn decodes(engine: Engine, layout: &Layout) -> bool {
    layout.role == Role::Own && (layout.since..=layout.until).contains(&engine.generation)
}

/// The layouts for an instruction in the other revision, likeliest first: those of the same name, or of the same
/// pattern if each name is unknown to the other revision.
fn counterparts(from: Engine, to: Engine, name: &'static str, layout: &'static Layout) -> Vec<(u16, &'static Layout)> {
    let called = |engine: Engine, layout: &Layout| {
        engine.stream.instructions.get(usize::from(layout.opcode)).map_or("", |instruction| instruction.name)
    };
    let known = |engine: Engine, name: &str| {
        engine.stream.layouts_of(0).iter().any(|layout| decodes(engine, layout) && called(engine, layout) == name)
    };
    let same = |other: &Layout| (other.mask, other.value) == (layout.mask, layout.value);
    let first = to.stream.sets.first().map_or(0, |set| set.first);
    let all = to.stream.layouts_of(0).iter().zip(first..).filter(|(other, _)| decodes(to, other));
    let renamed = !known(to, name);
    let mut found: Vec<(u16, &'static Layout)> = all
        .filter(|(other, _)| match renamed {
            false => called(to, other) == name,
            true => same(other) && !known(from, called(to, other)) && same_members(layout, other),
        })
        .map(|(other, index)| (index, other))
        .collect();
    found.sort_by_key(|(_, other)| (!same(other), other.bits != layout.bits));
    found
}

/// Whether two layouts have fields of the same names in the same bits.
fn same_members(a: &Layout, b: &Layout) -> bool {
    let alike = |(x, y): (&Field, &Field)| x.name == y.name && x.width == y.width && below(x) == below(y);
    a.fields.len() == b.fields.len() && a.fields.iter().zip(b.fields).all(alike)
}

fn below(field: &Field) -> Option<&'static [isaforge_core::stream::Piece]> {
    match field.source {
        Source::Bits(pieces) => Some(pieces),
        _ => None,
    }
}

/// How a field holds a branch target, if it does.
fn target(field: &Field) -> Option<isaforge_core::table::Target> {
    match field.ty {
        Type::Number(Notation { target, .. }) | Type::Enum(_, Some(Notation { target, .. })) => target,
        _ => None,
    }
}

struct Translation<'a> {
    from: Engine,
    to: Engine,
    name: &'static str,
    place: &'a AddressMap<'a>,
    /// The length of the source instruction in bytes.
    len: u8,
    /// The address after the target instruction.
    next: u64,
}

impl Translation<'_> {
    fn make(&self, scope: &Scope<'_>, index: u16, layout: &'static Layout) -> Result<Decoded, StreamError> {
        let pairs = self.pairs(scope, layout, "")?;
        let mut values = Vec::new();
        for (own, other) in &pairs {
            values.push((*other, self.value(scope, *own, layout, *other, "", 0)?));
        }
        let shown: Vec<(u8, u64)> = values.iter().copied().filter(|(field, _)| is_visible(layout, *field)).collect();
        // The fields that computed values depend on may be divided differently in the target.
        let made = self.to.build(index, &values).or_else(|| self.to.build(index, &shown));
        let made = made.filter(|made| self.means(scope, &self.to.scope(made), 0));
        let Some(made) = made else {
            let alone = |(_, (other, value)): &(&(u8, u8), &(u8, u64))| !solve::gives(self.to, layout, *other, *value);
            let (isa, name) = (self.to.stream.name, self.name);
            return Err(match pairs.iter().zip(&values).find(alone) {
                Some(((own, _), _)) => StreamError::Value {
                    isa,
                    name,
                    field: scope.layout.fields[usize::from(*own)].name.to_owned(),
                    value: text(scope, *own),
                },
                None => StreamError::Together { isa, name },
            });
        };
        // Ignored bits are kept if they are ignored in the target, too.
        let kept = scope.layout.ignored & layout.ignored;
        Ok(Decoded { word: made.word & !kept | *scope.word & kept, ..made })
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
            let renamed = || {
                layout.fields.iter().position(|other| {
                    of_itself(other)
                        && named(own, other.name).is_none()
                        && below(field).is_some()
                        && below(other) == below(field)
                })
            };
            match named(layout.fields, field.name).filter(|at| of_itself(&layout.fields[*at])).or_else(renamed) {
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
                self.reading(&inner, wanted, &name, text(scope, index), depth)?
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

    /// The bits of an operand for the alternative of the same name.
    fn reading(
        &self,
        inner: &Scope<'_>,
        wanted: u16,
        owner: &str,
        written: String,
        depth: u8,
    ) -> Result<u64, StreamError> {
        let own = inner.layout;
        let all = || self.to.stream.layouts_of(wanted.into()).iter().filter(|layout| decodes(self.to, layout));
        let same = |layout: &&Layout| (layout.mask, layout.value) == (own.mask, own.value);
        let named = || all().filter(|layout| layout.name == own.name);
        let found = named().find(same).or_else(|| named().next()).or_else(|| all().find(same));
        let error = StreamError::Reading {
            isa: self.to.stream.name,
            name: self.name,
            field: owner.to_owned(),
            reading: own.name,
            value: written,
        };
        let Some(layout) = found else { return Err(error) };
        let mut word = Wide::ZERO;
        for (i, field) in layout.fields.iter().enumerate() {
            let Source::Bits(pieces) = field.source else { continue };
            let own = own.fields.iter().position(|own| own.name == field.name);
            let value = match own {
                Some(own) => self.value(inner, own as u8, layout, i as u8, owner, depth + 1)?,
                None => field.default,
            };
            insert(&mut word, pieces, value);
        }
        // Fields that the other alternative lacks must not be lost.
        self.pairs(inner, layout, owner)?;
        Ok((word & !layout.fixed_mask | layout.fixed_value).get(0, 64))
    }

    /// Whether an instruction or an alternative in the target has all values of the source.
    fn means(&self, here: &Scope<'_>, there: &Scope<'_>, depth: u8) -> bool {
        let Ok(pairs) = self.pairs(here, there.layout, "") else { return false };
        pairs.iter().all(|(own, other)| {
            let (field, wanted) = (&here.layout.fields[usize::from(*own)], &there.layout.fields[usize::from(*other)]);
            match (field.ty, wanted.ty) {
                (Type::Set(set, arguments), Type::Set(other_set, others)) if depth < MAX_DEPTH => {
                    let (bits, others_bits) = (here.bits(field, *own), there.bits(wanted, *other));
                    let (inner, found) =
                        (here.reading(set, arguments, &bits), there.reading(other_set, others, &others_bits));
                    inner.zip(found).is_some_and(|(inner, found)| {
                        let renamed =
                            (inner.layout.mask, inner.layout.value) == (found.layout.mask, found.layout.value);
                        (inner.layout.name == found.layout.name || renamed) && self.means(&inner, &found, depth + 1)
                    })
                }
                _ => self
                    .value(here, *own, there.layout, *other, "", depth)
                    .is_ok_and(|value| value == there.value(*other)),
            }
        })
    }
}
