//! The names that the text of an instruction may use: its operands, modifiers and fields.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Modifier, Type};
use isaforge_core::stream::MAX_NESTING;

use crate::expression::scope::Library;
use crate::expression::{Choices, ModifierInfo, OperandInfo, Scope};
use crate::model::{self, Form, Isa, Shape};
use crate::spec::Access;
use crate::stream::model::{self as stream, Bank, Field, Layout, Role, Stream};
use crate::stream::tree::order;

/// The names that are in scope in the text of a form.
pub fn form_scope<'a>(isa: &Isa, form: &Form, library: &'a Library) -> Scope<'a> {
    let mut scope = Scope::new(library);
    let modifier = |m: &model::Modifier, reference| ModifierInfo {
        name: m.name.clone(),
        choices: choices(isa, m.ty, m.bits.width()),
        reference,
        span: m.span,
    };
    let suffix = |k: usize, j: usize, m: &model::Modifier| modifier(m, Modifier::Suffix(k as u8, j as u8));
    scope.numbers = isa.parameters.get(&form.name).cloned().into_iter().collect();
    scope.modifiers = form.modifiers.iter().enumerate().map(|(i, m)| modifier(m, Modifier::Form(i as u8))).collect();
    for (k, operand) in form.operands.iter().enumerate() {
        let (ty, elements, size_step) = operand_type(isa, operand);
        let mut suffixes: Vec<_> = operand.suffixes.iter().enumerate().map(|(j, m)| suffix(k, j, m)).collect();
        let mut partial = Vec::new();
        if let Shape::One { kind, .. } = operand.shape {
            let first = suffixes.len();
            let kind = &isa.kinds[kind];
            let fields = kind.common_fields();
            partial = kind.partial_fields();
            suffixes.extend(fields.map(|(j, f)| ModifierInfo {
                name: f.name.clone(),
                choices: choices(isa, f.ty, f.bits.width()),
                reference: Modifier::Suffix(k as u8, (first + j) as u8),
                span: f.span,
            }));
        }
        scope.operands.push(OperandInfo {
            name: operand.name.clone(),
            ty,
            elements,
            size_step,
            choices: Choices::Number(ty.bits),
            suffixes,
            partial,
            reads: true,
            writes: matches!(operand.access, Access::Write | Access::ReadWrite),
            span: operand.span,
        });
    }
    scope
}

/// How an instruction uses an operand, according to its declaration.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Whether it reads or writes the operand.
    pub access: Access,
    /// Whether the operand may be a register.
    pub is_register: bool,
    /// How many suffixes the operand has.
    pub suffixes: usize,
}

/// How a form uses its operands.
pub(super) fn form_uses(isa: &Isa, form: &Form) -> Vec<Option<Use>> {
    let is_register = |kind: usize| {
        let mut fields = isa.kinds[kind].alternatives.iter().flat_map(|alternative| &alternative.fields);
        fields.any(|field| matches!(field.ty, model::Type::Register(_)))
    };
    let of = |operand: &model::Operand| Use {
        access: operand.access,
        is_register: match operand.shape {
            Shape::One { kind, .. } | Shape::List { kind, .. } => is_register(kind),
            Shape::Number { .. } => false,
        },
        suffixes: operand.suffixes.len(),
    };
    form.operands.iter().map(|operand| Some(of(operand))).collect()
}

/// Whether a field of a stream may be a register, or hold one at most `depth` kinds further in.
fn holds_register(stream: &Stream, ty: &stream::Type, depth: u8) -> bool {
    match ty {
        stream::Type::Register(_) => true,
        stream::Type::Set(set, _) if depth > 0 => {
            let mut fields = stream.sets[*set].layouts.iter().flat_map(|layout| &layout.fields);
            fields.any(|field| holds_register(stream, &field.ty, depth - 1))
        }
        _ => false,
    }
}

/// The name of an instruction of a stream, the scope of its text, and how it uses each operand in that scope.
/// Fields that are not operands are numbers, or modifiers if an enum names their values.
pub(super) fn stream_scope<'a>(
    isa: &Isa,
    stream: &Stream,
    opcode: usize,
    library: &'a Library,
) -> Option<(String, Scope<'a>, Vec<Option<Use>>)> {
    let own = |layout: &&Layout| layout.opcode == opcode && layout.role == Role::Own;
    let layout = stream.sets.first()?.layouts.iter().find(own)?;
    let mut uses = vec![None; layout.fields.len()];
    let mut sizes = vec![0; layout.fields.len()];
    for operand in &layout.operands {
        let is_register = holds_register(stream, &layout.fields[operand.field].ty, MAX_NESTING);
        uses[operand.field] = Some(Use { access: operand.access, is_register, suffixes: 0 });
        sizes[operand.field] = operand.size;
    }
    let mut scope = field_scope(isa, &stream.banks, &layout.fields, &sizes, library);
    for field in &layout.modifiers {
        let suffixes = modifier_field(isa, layout, *field, &mut scope);
        if let Some(of) = suffixes.and_then(|operand| uses.get_mut(operand)?.as_mut()) {
            of.suffixes += 1;
        }
    }
    for (k, field) in layout.fields.iter().enumerate() {
        let stream::Type::Set(set, _) = field.ty else { continue };
        let (suffixes, partial) = fields_of_kind(isa, &stream.sets[set], k);
        scope.operands[k].suffixes.extend(suffixes);
        scope.operands[k].partial = partial;
    }
    for (operand, of) in scope.operands.iter_mut().zip(&mut uses) {
        operand.writes = matches!(of, Some(Use { access: Access::Write | Access::ReadWrite, .. }));
        // A field that became a modifier is not an operand.
        *of = of.filter(|_| !operand.name.is_empty());
    }
    Some((stream.instructions.get(opcode)?.name.clone(), scope, uses))
}

/// Makes a field a modifier of an operand, and returns the operand's index, or else of the instruction.
fn modifier_field(isa: &Isa, layout: &Layout, index: usize, scope: &mut Scope<'_>) -> Option<usize> {
    let field = &layout.fields[index];
    let reference = Modifier::Form(index as u8);
    scope.modifiers.retain(|modifier| modifier.reference != reference);
    scope.operands[index].name.clear();
    let (operand, name) = match field.name.split_once('.') {
        Some((operand, name)) => (scope.operands.iter_mut().enumerate().find(|(_, o)| o.name == operand), name),
        None => (None, field.name.as_str()),
    };
    let choices = field_choices(isa, field).unwrap_or(Choices::Flag);
    let modifier = ModifierInfo { name: name.to_owned(), choices, reference, span: field.span };
    match operand {
        Some((number, operand)) => {
            operand.suffixes.push(modifier);
            Some(number)
        }
        None => {
            scope.modifiers.push(modifier);
            None
        }
    }
}

/// The named values of a field; `None` unless an enum names them all.
fn field_choices(isa: &Isa, field: &Field) -> Option<Choices> {
    let stream::Type::Enum(e, None) = field.ty else { return None };
    Some(Choices::Values(isa.enums[e].values.iter().map(|value| (value.name.clone(), value.bits)).collect()))
}

/// The fields that all alternatives of an operand have, as its suffixes, and those that only some have, with the name of
/// one that lacks it. Fields that are registers or operands are left out, since they are what the operand reads.
fn fields_of_kind(isa: &Isa, set: &stream::Set, operand: usize) -> (Vec<ModifierInfo>, Vec<(String, String)>) {
    // In the order of the tables, in which the fields are numbered by the first alternative.
    let readings: Vec<&Layout> = order(set).into_iter().map(|index| &set.layouts[index]).collect();
    let Some(first) = readings.first() else { return Default::default() };
    let plain = |field: &Field| {
        matches!(field.ty, stream::Type::Number(_) | stream::Type::Enum(..))
            && !matches!(field.source, stream::Source::Outer(_))
            && !field.signed
    };
    let is_number = |field: &Field| matches!(field.ty, stream::Type::Number(_));
    let same = |a: &Field, b: &Field| {
        a.name == b.name && plain(b) && (a.ty == b.ty && a.width == b.width || is_number(a) && is_number(b))
    };
    let (mut suffixes, mut partial) = (Vec::new(), Vec::new());
    let fields = readings.iter().flat_map(|reading| reading.fields.iter().enumerate());
    for (j, field) in fields.filter(|(_, field)| plain(field)) {
        let lacks = readings.iter().find(|reading| !reading.fields.iter().any(|other| same(field, other)));
        if let Some(reading) = lacks {
            partial.push((field.name.clone(), reading.name.clone()));
        } else if first.fields.get(j).is_some_and(|own| std::ptr::eq(own, field)) {
            // A number has the width of the widest.
            let all = readings.iter().flat_map(|reading| &reading.fields).filter(|other| other.name == field.name);
            let width = all.map(|other| other.width).max().unwrap_or(field.width);
            suffixes.push(ModifierInfo {
                name: field.name.clone(),
                choices: field_choices(isa, field).unwrap_or(Choices::Number(width)),
                reference: Modifier::Suffix(operand as u8, j as u8),
                span: field.span,
            });
        }
    }
    (suffixes, partial)
}

/// The scope of a layout's fields; `sizes` holds the width in bits of those that are operands, or 0. An operand has the
/// index of its field; the entry of a modifier has no name.
pub(crate) fn field_scope<'a>(
    isa: &Isa,
    banks: &[Bank],
    fields: &[Field],
    sizes: &[u16],
    library: &'a Library,
) -> Scope<'a> {
    let mut scope = Scope::new(library);
    for (k, field) in fields.iter().enumerate() {
        let bits = |size: u16| Type::unsigned(size.clamp(1, 64) as u8);
        let width = if field.width <= 32 { 32 } else { 64 };
        let number = if field.signed { Type::signed(width) } else { Type::unsigned(width) };
        let size = sizes.get(k).copied().filter(|size| *size > 0);
        let (name, ty) = match field.ty {
            stream::Type::Register(bank) => {
                let width = banks.get(bank).map_or(32, |bank| bank.width);
                (field.name.clone(), bits(size.unwrap_or(width)))
            }
            stream::Type::Set(..) => (field.name.clone(), bits(size.unwrap_or(32))),
            stream::Type::Float(width) => (field.name.clone(), bits(width.into())),
            stream::Type::Enum(_, None) => {
                let reference = Modifier::Form(k as u8);
                let choices = field_choices(isa, field).unwrap_or(Choices::Flag);
                scope.modifiers.push(ModifierInfo { name: field.name.clone(), choices, reference, span: field.span });
                (String::new(), Type::U32)
            }
            _ => (field.name.clone(), number),
        };
        scope.operands.push(OperandInfo {
            name,
            ty,
            elements: 1,
            size_step: u16::from(size.is_some()),
            choices: Choices::Number(field.width.min(ty.bits)),
            suffixes: Vec::new(),
            partial: Vec::new(),
            reads: true,
            writes: false,
            span: field.span,
        });
    }
    scope
}

/// The values of a modifier or a field.
fn choices(isa: &Isa, ty: model::Type, bits: u32) -> Choices {
    match ty {
        model::Type::Flag => Choices::Flag,
        model::Type::Enum(e) => Choices::Values(isa.enums[e].values.iter().map(|v| (v.name.clone(), v.bits)).collect()),
        _ => Choices::Number(bits.min(64) as u8),
    }
}

/// The type of an operand's elements, their number, and the step of its `size`. An operand that can be a register has
/// the width of whole registers, even if the instruction uses fewer bits.
fn operand_type(isa: &Isa, operand: &model::Operand) -> (Type, u16, u16) {
    let word = |bits: u16| Type::unsigned(bits.clamp(1, 64) as u8);
    let register = |kind: usize| {
        let fields = isa.kinds[kind].alternatives.iter().flat_map(|alternative| &alternative.fields);
        let widths = fields.filter_map(|field| match field.ty {
            model::Type::Register(bank) => Some(isa.banks[bank].width),
            _ => None,
        });
        widths.max().unwrap_or(1).max(1)
    };
    match &operand.shape {
        Shape::One { kind, .. } if operand.size > 64 => (word(32), operand.size.div_ceil(32), register(*kind)),
        Shape::One { kind, .. } => (word(operand.size.next_multiple_of(register(*kind))), 1, register(*kind)),
        Shape::List { count, .. } => {
            let more = count.bits.as_ref().map_or(0, |bits| ones(bits.width()).min(255) as u16);
            (word(operand.size.min(32)), u16::from(count.plus) + more, 1)
        }
        Shape::Number { bits, ty, .. } => {
            let width = if bits.width() <= 32 { 32 } else { 64 };
            (if *ty == model::Type::Signed { Type::signed(width) } else { Type::unsigned(width) }, 1, 0)
        }
    }
}
