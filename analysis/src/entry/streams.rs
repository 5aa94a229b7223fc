//! Instructions of variable length in a stream of bytes.

use isaforge_core::semantics::{Semantics, instantiate};
use isaforge_core::stream::listing::parts;
use isaforge_core::stream::{Decoded, Engine, Field, STORED, Scope, Source, Token, Type, branch, registers};
use isaforge_core::table::Access;
use isaforge_core::text::Line;

use super::instruction::{Entry, Flow, Instruction, Modifier, Operand};
use crate::access::{Found, Implied};
use crate::effects::{Effects, has_branch, overwritten};
use crate::registers::run;
use crate::set::Set;

pub(super) fn targets(engine: Engine, base: u64, bytes: &[u8]) -> impl Iterator<Item = (usize, Option<(u64, bool)>)> {
    parts(engine, bytes).map(move |part| {
        let decoded = part.decoded.ok();
        (part.at, decoded.and_then(|decoded| leads(engine, &decoded, (base, part.at as u64))))
    })
}

/// The offset of the branch target of an instruction at an offset in a program at `base`, and whether it is a function.
fn leads(engine: Engine, decoded: &Decoded, (base, at): (u64, u64)) -> Option<(u64, bool)> {
    let (target, call) = branch(engine, decoded, base.wrapping_add(at))?;
    Some((target.wrapping_sub(base), call))
}

pub(super) fn read(set: &Set, engine: Engine, bytes: &[u8]) -> impl Iterator<Item = Entry> {
    parts(engine, bytes).map(move |part| {
        let instruction = part.decoded.map(|decoded| instruction(set, engine, &decoded, part.at as u64));
        let bytes = part.at..part.at + part.bytes.len();
        Entry { bytes, instruction: instruction.map_err(|error| error.to_string()) }
    })
}

fn instruction(set: &Set, engine: Engine, decoded: &Decoded, at: u64) -> Instruction {
    let scope = engine.scope(decoded);
    let mut text = Line::new();
    engine.print(decoded, &mut text);
    let effects = set.semantics.and_then(|semantics| effects(semantics, &scope));
    // The field of an operand, its access and its name.
    let operand = |index: u8| {
        let Some(operand) = scope.layout.operands.get(usize::from(index)) else { return (0, Access::None, "") };
        let name = scope.layout.fields.get(usize::from(operand.field)).map_or("", |field| field.name);
        (operand.field, operand.access, name)
    };
    let mut accessed = Found::default();
    registers(engine, decoded, false, &mut |found| {
        let (.., name) = operand(found.operand);
        run(found.bank, found.first, found.count).for_each(|register| accessed.read(name, register));
    });
    // `kept` are the operands that name a register which keeps what is written to it.
    let (mut kept, mut lost) = (Vec::new(), false);
    registers(engine, decoded, true, &mut |found| {
        let width = engine.stream.banks.get(usize::from(found.bank)).map_or(0, |bank| u32::from(bank.width));
        let (field, access, name) = operand(found.operand);
        // A modifier may say that nothing is written.
        if effects.as_ref().is_some_and(|effects| !effects.may_write(field.into())) {
            return;
        }
        if discards(set, &scope, field) {
            lost = true;
            return;
        }
        let bits = u32::from(found.count) * width;
        let (whole, needed) = overwritten(effects.as_ref(), field.into(), access, bits);
        if needed {
            run(found.bank, found.first, found.count).for_each(|register| accessed.read(name, register));
        }
        for register in run(found.bank, found.first, found.count) {
            kept.extend((!set.is_zero(register)).then_some(u16::from(field)));
            accessed.write(name, register, whole);
        }
    });
    accessed.add_implied(set, effects.as_ref());
    let target = leads(engine, decoded, (set.base, at)).map(|(target, _)| target);
    let name = engine.stream.instructions.get(usize::from(scope.layout.opcode)).map_or("", |i| i.name);
    let branches = || has_branch(set.semantics, scope.layout.opcode);
    Instruction {
        mnemonic: name.to_owned(),
        text: text.as_str().to_owned(),
        modifiers: modifiers(&scope),
        operands: operands(&scope),
        reads: accessed.reads,
        last: Vec::new(),
        writes: accessed.writes,
        named: accessed.named,
        flow: Flow::of(effects.as_ref(), target, branches, |operand| kept.contains(&operand)),
        implied: Implied::of(effects.as_ref()),
        stops: effects.as_ref().is_some_and(|effects| set.stops(effects)),
        lane: effects.as_ref().is_some_and(|effects| effects.lane),
        pure: !lost && effects.is_some_and(|effects| !effects.others && !effects.barrier),
        ..Instruction::default()
    }
}

fn effects(semantics: &'static Semantics, scope: &Scope<'_>) -> Option<Effects> {
    let operation = semantics.operations.get(usize::from(scope.layout.opcode)).filter(|o| !o.text.is_empty())?;
    let shape = instantiate(semantics, operation, |index| {
        operation.modifiers.get(usize::from(index)).map_or(0, |modifier| modifier.bits_in(scope))
    });
    Some(Effects::of(semantics, &shape, &|field, element| {
        let index = u8::try_from(field).ok().filter(|_| element == 0)?;
        let field = scope.layout.fields.get(usize::from(index))?;
        matches!(field.ty, Type::Number(_)).then(|| scope.value(index))
    }))
}

/// Whether the machine discards what is written to a field, as that of another program.
fn discards(set: &Set, scope: &Scope<'_>, field: u8) -> bool {
    let Some(of) = scope.layout.fields.get(usize::from(field)) else { return false };
    let Type::Set(kind, arguments) = of.ty else { return false };
    let bits = scope.bits(of, field);
    let reading = scope.reading(kind, arguments, &bits);
    reading.is_some_and(|reading| set.hardware.is_some_and(|hardware| hardware.discards(kind, reading.layout.name)))
}

fn is_operand(scope: &Scope<'_>, index: usize) -> bool {
    scope.layout.operands.iter().any(|operand| usize::from(operand.field) == index)
}

fn field_text(scope: &Scope<'_>, index: u8) -> String {
    let mut text = Line::new();
    scope.print_field(index, &mut text, 0);
    text.as_str().to_owned()
}

fn operands(scope: &Scope<'_>) -> Vec<Operand> {
    let of = |operand: &isaforge_core::stream::Operand| {
        let field = scope.layout.fields.get(usize::from(operand.field))?;
        // A constant that the text does not have is a register without an operand.
        if field.leaves == 0 && !has_field(scope.layout.text, operand.field) {
            return None;
        }
        let kind = match field.ty {
            Type::Number(_) => "number",
            Type::Float(_) => "float",
            Type::Enum(..) => "enum",
            Type::Register(_) => "register",
            Type::Set(set, _) => scope.engine.stream.sets.get(usize::from(set)).map_or("", |set| set.name),
        };
        let value = scope.value(operand.field) as i64;
        Some(Operand { name: field.name, kind, value, text: field_text(scope, operand.field) })
    };
    scope.layout.operands.iter().filter_map(of).collect()
}

/// The fields that are not operands and not at their defaults. What is computed from other fields says nothing more,
/// unless the text has it; neither do the bits from which the value of a field is computed.
fn modifiers(scope: &Scope<'_>) -> Vec<Modifier> {
    let fields = scope.layout.fields;
    let of = |(index, field): (usize, &'static Field)| {
        let own = match field.source {
            Source::Computed { .. } => has_field(scope.layout.text, index as u8),
            _ => !fields.iter().any(|other| field.name.strip_suffix(STORED) == Some(other.name)),
        };
        if !own || is_operand(scope, index) {
            return None;
        }
        let value = scope.value(index as u8);
        let says = value != field.default;
        says.then(|| Modifier { name: field.name.to_owned(), value, text: field_text(scope, index as u8) })
    };
    fields.iter().enumerate().filter_map(of).collect()
}

/// Whether a text has a field.
fn has_field(tokens: &[Token], index: u8) -> bool {
    tokens.iter().any(|token| match token {
        Token::Field(field) | Token::Bits(field, _) => *field == index,
        Token::If(_, tokens) | Token::Aside(tokens) => has_field(tokens, index),
        Token::Text(_) | Token::Column(_) => false,
    })
}
