//! The encoding of an instruction set, as far as a machine needs it: words, a stream or groups.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::location::Location;
use super::table::{Hardware, Named, Reading, Register};
use crate::bits::sign_extend;
use crate::decode::{alternative_of, decode, list_len};
use crate::group;
use crate::group::spelling::numbered;
use crate::group::table::{GroupIsa, OperandKind};
use crate::group::text::SEPARATOR;
use crate::group::value::{Group, Values, there};
use crate::print::{Style, print};
use crate::semantics::{Modifier, Operation, Semantics, instantiate};
use crate::stream::{self, Decoded, Engine, Scope, Stream};
use crate::table::{Alternative, Field, Isa, Operand, Shape, Type};
use crate::text::Line;

/// The tables of an instruction set's encoding.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {
    /// Words of one length.
    Words(&'static Isa),
    /// A stream of bytes.
    Stream(Engine),
    /// Groups of records.
    Groups(&'static GroupIsa),
}

impl From<&'static GroupIsa> for Encoding {
    fn from(isa: &'static GroupIsa) -> Self {
        Encoding::Groups(isa)
    }
}

impl From<&'static Isa> for Encoding {
    fn from(isa: &'static Isa) -> Self {
        Encoding::Words(isa)
    }
}

impl From<Engine> for Encoding {
    fn from(engine: Engine) -> Self {
        Encoding::Stream(engine)
    }
}

/// Selects the last generation of the stream.
impl From<&'static Stream> for Encoding {
    fn from(stream: &'static Stream) -> Self {
        Encoding::Stream(Engine { stream, generation: stream.generations.1 })
    }
}

impl From<crate::Tables> for Encoding {
    fn from(tables: crate::Tables) -> Self {
        match tables {
            crate::Tables::Words(isa) => Encoding::Words(isa),
            crate::Tables::Streams(engine) => Encoding::Stream(engine),
            crate::Tables::Groups(isa) => Encoding::Groups(isa),
        }
    }
}

/// A word, an instruction of a stream, or a group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Word(u16, u64),
    Stream(u16, Decoded),
    Group(Group),
}

impl Found {
    /// The opcode. Groups have none; it is 0 for them.
    pub fn opcode(&self) -> u16 {
        match self {
            Found::Word(opcode, _) | Found::Stream(opcode, _) => *opcode,
            Found::Group(_) => 0,
        }
    }
}

/// The tables needed to resolve operands.
type Tables = (&'static Semantics, &'static Hardware);

impl Encoding {
    /// The alignment of instructions, in bytes.
    pub fn unit(self) -> u64 {
        match self {
            Encoding::Words(isa) => u64::from(isa.word_bits / 8).max(1),
            Encoding::Stream(engine) => u64::from(engine.stream.unit).max(1),
            Encoding::Groups(isa) => u64::from(isa.unit).max(1),
        }
    }

    /// The length of the longest instruction, in bytes.
    pub fn longest(self) -> u64 {
        match self {
            Encoding::Words(_) => self.unit(),
            Encoding::Stream(engine) => engine.stream.longest.into(),
            Encoding::Groups(isa) => isa.longest.into(),
        }
    }

    /// Decodes the instruction at the start of `bytes`. Returns it with its length.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<(Found, u64), String> {
        match self {
            Encoding::Words(isa) => {
                let mut word = [0; 8];
                let length = self.unit() as usize;
                word.iter_mut().zip(bytes.iter().take(length)).for_each(|(to, from)| *to = *from);
                if bytes.len() < length {
                    return Err("the memory ends within it".into());
                }
                let word = u64::from_le_bytes(word);
                let opcode = decode(isa, word).map_err(|error| error.to_string())?;
                Ok((Found::Word(opcode, word), length as u64))
            }
            Encoding::Stream(engine) => {
                let decoded = engine.decode(bytes).map_err(|error| error.to_string())?;
                Ok((Found::Stream(engine.scope(&decoded).layout.opcode, decoded), decoded.len.into()))
            }
            Encoding::Groups(isa) => {
                let group = group::decode(isa, bytes).map_err(|error| error.to_string())?;
                Ok((Found::Group(group), group.len() as u64))
            }
        }
    }

    /// The name of an instruction.
    pub(super) fn name(self, opcode: u16) -> &'static str {
        match self {
            Encoding::Words(isa) => isa.forms.get(usize::from(opcode)).map_or("", |form| form.name.str),
            Encoding::Stream(engine) => engine.stream.instructions.get(usize::from(opcode)).map_or("", |i| i.name),
            Encoding::Groups(_) => "the group",
        }
    }

    /// The name of an operand, by its number in semantics texts.
    pub(super) fn operand_name(self, found: &Found, operand: u16) -> &'static str {
        let operand = usize::from(operand);
        match (self, found) {
            (Encoding::Words(isa), Found::Word(opcode, _)) => {
                isa.forms.get(usize::from(*opcode)).and_then(|form| form.operands.get(operand)).map_or("", |o| o.name)
            }
            (Encoding::Stream(engine), Found::Stream(_, decoded)) => {
                engine.scope(decoded).layout.fields.get(operand).map_or("", |field| field.name)
            }
            (Encoding::Groups(isa), Found::Group(_)) => isa.operands.get(operand).map_or("", |operand| operand.name),
            _ => "",
        }
    }

    /// The bits of a modifier of an instruction.
    pub(super) fn modifier(self, found: &Found, modifier: Modifier) -> u64 {
        match (self, found, modifier) {
            (Encoding::Words(isa), Found::Word(opcode, word), modifier) => {
                modifier.bits(isa, &isa.forms[usize::from(*opcode)], *word)
            }
            (Encoding::Stream(engine), Found::Stream(_, decoded), modifier) => modifier.bits_in(&engine.scope(decoded)),
            _ => 0,
        }
    }

    /// The bits of the modifier with this name. `None` when the instruction has no such modifier.
    pub(super) fn named_modifier(self, found: &Found, name: &str) -> Option<u64> {
        match (self, found) {
            (Encoding::Words(isa), Found::Word(opcode, word)) => {
                let modifiers = isa.forms.get(usize::from(*opcode))?.modifiers;
                Some(modifiers.iter().find(|modifier| modifier.name == name)?.bits.get(*word, 0))
            }
            (Encoding::Stream(engine), Found::Stream(_, decoded)) => {
                let scope = engine.scope(decoded);
                let field = scope.layout.fields.iter().position(|field| field.name == name)?;
                Some(scope.value(field as u8))
            }
            _ => None,
        }
    }

    /// What the operands of an instruction refer to, in the numbering of semantics texts.
    pub(super) fn locations(self, tables: Tables, found: &Found) -> Vec<Location> {
        match (self, found) {
            (Encoding::Words(isa), Found::Word(opcode, word)) => {
                let operands = isa.forms[usize::from(*opcode)].operands;
                operands.iter().map(|operand| of_operand(isa, tables, operand, *word)).collect()
            }
            (Encoding::Stream(engine), Found::Stream(_, decoded)) => of_stream(tables, &engine.scope(decoded)),
            (Encoding::Groups(isa), Found::Group(group)) => of_group(isa, tables, &group.values(isa)),
            _ => Vec::new(),
        }
    }

    /// The text of an instruction.
    pub(super) fn text(self, found: &Found) -> Line {
        let mut line = Line::new();
        match (self, found) {
            (Encoding::Words(isa), Found::Word(opcode, word)) => {
                print(isa, *opcode, *word, Style::Customary, &mut line)
            }
            (Encoding::Stream(engine), Found::Stream(_, decoded)) => engine.print(decoded, &mut line),
            (Encoding::Groups(isa), Found::Group(found)) => group::print(isa, found, SEPARATOR, &mut line),
            _ => {}
        }
        line
    }
}

/// The text of an instruction, which is produced when it is formatted.
pub(super) struct Text<'a>(pub Encoding, pub &'a Found);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.text(self.1).as_str())
    }
}

/// The specification's text for reading an alternative.
fn reading(tables: Tables, kind: u16, alternative: &str) -> Option<&'static Reading> {
    tables.1.readings.iter().find(|reading| reading.kind == kind && reading.alternative == alternative)
}

/// What an alternative refers to, given what is read of it.
fn discarded(tables: Tables, kind: u16, alternative: &str, read: Location) -> Location {
    match (tables.1.discards(kind, alternative), read) {
        (false, location) => location,
        // Registers belong to another program.
        (true, Location::Register(..) | Location::Indexed(..)) => Location::Discarded(Location::Nothing.into()),
        (true, location) => Location::Discarded(location.into()),
    }
}

fn computed(
    tables: Tables,
    operation: &'static Operation,
    fields: Vec<Location>,
    field: impl Fn(u8) -> u64,
) -> Location {
    let shape = instantiate(tables.0, operation, |index| match operation.modifiers.get(usize::from(index)) {
        Some(Modifier::Form(known)) => field(*known),
        _ => 0,
    });
    Location::Reading { shape, fields }
}

// Words.

fn of_operand(isa: &'static Isa, tables: Tables, operand: &'static Operand, word: u64) -> Location {
    match &operand.shape {
        Shape::Number { bits, ty, .. } => {
            let value = bits.get(word, 0);
            Location::Number(if *ty == Type::Signed { sign_extend(value, bits.width()) as u64 } else { value })
        }
        Shape::One { kind, at } => {
            let alternatives = isa.kinds[usize::from(*kind)].alternatives;
            let Some(found) = alternative_of(isa, alternatives, *at, word) else { return Location::Nothing };
            let location = match reading(tables, *kind, found.name) {
                Some(reading) => {
                    let fields = found.fields.iter().map(|field| of_field(isa, field, *at, word)).collect();
                    computed(tables, &reading.operation, fields, |known| {
                        found.fields.get(usize::from(known)).map_or(0, |field| field.bits.get(word, *at))
                    })
                }
                None => plain(isa, found, *at, word),
            };
            discarded(tables, *kind, found.name, location)
        }
        Shape::List { kind, at, count, .. } => match isa.kinds[usize::from(*kind)].alternatives.first() {
            Some(alternative) => match plain(isa, alternative, *at, word) {
                Location::Register(first, _) => Location::List(first, list_len(count, word)),
                _ => Location::Nothing,
            },
            None => Location::Nothing,
        },
    }
}

fn plain(isa: &'static Isa, alternative: &'static Alternative, at: u8, word: u64) -> Location {
    only(alternative.fields.iter().map(|field| of_field(isa, field, at, word)))
}

/// The default meaning of an alternative: its only register, or else its only number.
fn only(fields: impl Iterator<Item = Location>) -> Location {
    let all: Vec<Location> = fields.collect();
    let registers = all.iter().filter(|location| matches!(location, Location::Register(..))).count();
    let mut candidates: Vec<Location> = match registers {
        0 => all,
        _ => all.into_iter().filter(|location| matches!(location, Location::Register(..))).collect(),
    };
    match (candidates.pop(), candidates.is_empty()) {
        (Some(location), true) => location,
        _ => Location::Nothing,
    }
}

fn of_field(isa: &'static Isa, field: &'static Field, at: u8, word: u64) -> Location {
    let value = field.bits.get(word, at);
    match field.ty {
        Type::Register(bank) => Location::Register(Register { bank, index: value as u32 }, u16::MAX),
        Type::Signed => Location::Number(sign_extend(value, field.bits.width()) as u64),
        Type::Constant(table) => {
            let constant = isa.constants[usize::from(table)].values.get(value as usize);
            constant.map_or(Location::Nothing, |constant| Location::Number(constant.value))
        }
        Type::Decimal | Type::Hex | Type::Flag => Location::Number(value),
        Type::Enum(_) => Location::Nothing,
    }
}

// Groups.

/// Where the machine has a register that a group names by a bank and a number; `None` if it has none.
pub fn register_of(isa: &'static GroupIsa, hardware: &Hardware, bank: i64, number: i64) -> Option<Named> {
    let (name, number) = numbered(isa, bank, number)?;
    let named = (*hardware.named.get(name)?)?;
    let index = named.first.index.checked_add(u32::try_from(number).ok()?)?;
    Some(Named { first: Register { index, ..named.first }, ..named })
}

/// The bank and the number by which groups name a register of the machine without an index; `None` if they cannot.
pub fn group_register(isa: &GroupIsa, hardware: &Hardware, of: Register) -> Option<(i64, i64)> {
    isa.registers.iter().zip(hardware.named).find_map(|(name, named)| {
        let first = (*named)?.first;
        let offset = i64::from(of.index.checked_sub(first.index)?);
        let named = named.is_some_and(|named| named.index.is_none()) && first.bank == of.bank;
        (named && offset <= name.to - name.from)
            .then(|| (name.bank, (name.from + offset) << name.low.min(16) | name.is))
    })
}

fn of_group(isa: &'static GroupIsa, (_, hardware): Tables, values: &Values) -> Vec<Location> {
    let find = |operand: &'static group::table::Operand| {
        let OperandKind::Register(places) = operand.kind else { return None };
        let place = places.iter().find(|place| there(isa, place, values))?;
        let get = |field: u8| values.get(isa, place.slot.into(), field.into());
        let Named { first, index } = register_of(isa, hardware, get(place.bank), get(place.number))?;
        let bank = hardware.banks.get(usize::from(first.bank))?;
        Some(match (index, bank.plus) {
            (None, None) => Location::Register(first, 0),
            (index, _) => Location::Indexed(first, index),
        })
    };
    isa.operands.iter().map(|operand| find(operand).unwrap_or(Location::Nothing)).collect()
}

// Streams.

/// What the operands of an instruction refer to. Each has the width that its layout gives; narrower elements are parts
/// of it.
fn of_stream(tables: Tables, scope: &Scope<'_>) -> Vec<Location> {
    let mut locations = of_fields(tables, scope, 0);
    for operand in scope.layout.operands {
        if let Some(Location::Register(_, bits)) = locations.get_mut(usize::from(operand.field)) {
            *bits = operand.size;
        }
    }
    locations
}

fn of_fields(tables: Tables, scope: &Scope<'_>, depth: u8) -> Vec<Location> {
    let field = |(index, field): (usize, &'static stream::Field)| {
        let index = index as u8;
        match field.ty {
            stream::Type::Register(bank) => Location::Register(Register { bank, index: scope.value(index) as u32 }, 0),
            stream::Type::Set(set, arguments) if depth < stream::MAX_NESTING => {
                let bits = scope.bits(field, index);
                match scope.reading(set, arguments, &bits) {
                    Some(inner) => {
                        let fields = of_fields(tables, &inner, depth + 1);
                        let location = match reading(tables, set, inner.layout.name) {
                            Some(reading) => computed(tables, &reading.operation, fields, |known| inner.value(known)),
                            None => only(fields.into_iter()),
                        };
                        discarded(tables, set, inner.layout.name, location)
                    }
                    None => Location::Nothing,
                }
            }
            stream::Type::Set(..) => Location::Nothing,
            _ => Location::Number(scope.value(index)),
        }
    };
    scope.layout.fields.iter().enumerate().map(field).collect()
}
