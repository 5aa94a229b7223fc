//! The model: a layout for each encoding of an instruction.

use std::collections::HashMap;

use isaforge_core::stream::{Input, Notation, Role, Wide, extract};
use isaforge_core::table::{Base, Target};

use super::document::{Description, Encoding, Field, Form, Instruction, Operand};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::Choices;
use crate::model::{Enum, Isa, Value};
use crate::source::{Sources, Span, Spanned};
use crate::spec::{Access, Provenance};
use crate::stream::expressions::{Name, Want, expression};
use crate::stream::model::{self, Expr, Layout, Set, Source, Stream, Token, Type};
use crate::suggest::did_you_mean;

/// The meaning of conditions: name, fields, values.
const CONDITIONS: &str = include_str!("conditions.tsv");
/// The condition of an encoding that no other condition extends.
const DEFAULT: &str = "default";
/// The field that distinguishes the operations of an encoding.
const OPERATION: &str = "OP";

/// The instruction set of a document.
pub(super) fn isa(found: &Description, sources: &Sources, out: &mut Diagnostics) -> Isa {
    let mut isa = Isa {
        name: "amdgpu".to_owned(),
        doc: format!("{}, as AMD's own description has it.", found.name),
        span: Some(found.span),
        ..Isa::default()
    };
    let mut types = HashMap::new();
    for ty in &found.types {
        let place = (!ty.values.is_empty()).then(|| {
            isa.enums.push(names(&ty.name, &ty.values));
            isa.enums.len() - 1
        });
        types.insert(ty.name.value.as_str(), (place, ty.values.as_slice()));
    }
    let encodings = found.encodings.iter().map(|encoding| (encoding.name.value.as_str(), encoding)).collect();
    let mut builder = Builder { encodings, types, layouts: Vec::new(), out };
    let mut instructions = Vec::new();
    for instruction in &found.instructions {
        builder.instruction(instruction, instructions.len());
        let span = instruction.name.span;
        instructions.push(model::Instruction {
            name: instruction.name.value.to_lowercase(),
            title: String::new(),
            doc: instruction.doc.clone(),
            unit: instruction.group.clone(),
            span,
            source: format!("{}:{}", sources.path(span.file).display(), sources.line_column(span).0),
            provenance: Provenance::Document,
            note: String::new(),
        });
    }
    let sizes = || found.encodings.iter().map(|encoding| (encoding.bits / 8) as u8);
    let unit = sizes().fold(0, greatest_divisor).max(1);
    isa.encoding = crate::model::Encoding::Stream(Stream {
        unit,
        longest: sizes().max().unwrap_or(1),
        swap: 1,
        generations: (0, 0),
        sets: vec![Set {
            name: "instructions".to_owned(),
            doc: String::new(),
            span: found.span,
            bits: 0,
            parameters: Vec::new(),
            layouts: builder.layouts,
            first_wins: false,
        }],
        instructions,
        ..Stream::default()
    });
    isa
}

fn greatest_divisor(a: u8, b: u8) -> u8 {
    if a == 0 { b } else { greatest_divisor(b % a, a) }
}

fn names(name: &Spanned<String>, values: &[(u64, Spanned<String>)]) -> Enum {
    let value = |(bits, word): &(u64, Spanned<String>)| Value {
        name: word.value.clone(),
        text: word.value.to_lowercase(),
        also: Vec::new(),
        bits: *bits,
        doc: String::new(),
        span: word.span,
    };
    Enum {
        name: name.value.clone(),
        doc: String::new(),
        span: name.span,
        bits: None,
        values: values.iter().map(value).collect(),
        default: None,
        implied: false,
        listed: 0,
        open: false,
    }
}

/// The enum of an operand type, if it has one, and its values.
type Known<'a> = (Option<usize>, &'a [(u64, Spanned<String>)]);

struct Builder<'a> {
    encodings: HashMap<&'a str, &'a Encoding>,
    /// Types of operands by name.
    types: HashMap<&'a str, Known<'a>>,
    layouts: Vec<Layout>,
    out: &'a mut Diagnostics,
}

/// A layout under construction, with the names of its fields in expressions.
struct Draft {
    layout: Layout,
    names: Vec<Name>,
}

impl Draft {
    fn push(&mut self, field: &Field, signed: bool, ty: Type) -> usize {
        let index = self.layout.fields.len();
        let (span, input) = (field.name.span, Input::Field(index as u8));
        self.names.push(Name { name: field.name.value.clone(), signed, choices: Choices::Number(64), input, span });
        self.layout.fields.push(model::Field {
            name: field.name.value.to_lowercase(),
            doc: String::new(),
            span,
            source: Source::Bits(field.pieces.clone()),
            width: field.width(),
            signed,
            default: 0,
            ty,
        });
        index
    }
}

impl<'a> Builder<'a> {
    fn instruction(&mut self, instruction: &Instruction, opcode: usize) {
        let mut written: Vec<&str> = Vec::new();
        for form in &instruction.forms {
            let Some(encoding) = self.encodings.get(form.encoding.value.as_str()).copied() else {
                let message = format!("there is no encoding `{}`", form.encoding.value);
                let error = Diagnostic::error("E0101", form.encoding.span, message);
                let near = did_you_mean(&form.encoding.value, self.encodings.keys().copied());
                self.out.push(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                });
                continue;
            };
            // The document has no syntax: the first encoding gets the plain name, the others append their own.
            let plain = form.condition.as_ref().is_none_or(|condition| condition.value == DEFAULT);
            let mut name = instruction.name.value.to_lowercase();
            if plain && !written.is_empty() && !written.contains(&encoding.name.value.as_str()) {
                name = format!("{name}_{}", encoding.name.value.trim_start_matches("ENC_").to_lowercase());
            }
            if plain {
                written.push(&encoding.name.value);
            }
            let layout = self.layout(instruction, form, encoding, &name, opcode);
            self.layouts.extend(layout);
        }
    }

    fn layout(
        &mut self,
        instruction: &Instruction,
        form: &Form,
        encoding: &Encoding,
        name: &str,
        opcode: usize,
    ) -> Option<Layout> {
        let value = self.identifier(form, encoding)?;
        let spanned = Spanned::new(name.to_owned(), form.span);
        let mut layout = Layout::new(&spanned, opcode, encoding.bits, Role::Own);
        (layout.mask, layout.value) = (encoding.mask, value);
        (layout.fixed_mask, layout.fixed_value) = (encoding.mask, value);
        let mut draft = Draft { layout, names: Vec::new() };
        draft.layout.push_text(name);
        for (number, operand) in form.operands.iter().enumerate() {
            draft.layout.push_text(if number == 0 { " " } else { ", " });
            self.operand(&mut draft, instruction, operand, encoding)?;
        }
        // Fields that are neither constant nor operands are printed by name if they are not zero.
        for field in &encoding.fields {
            let known = |other: &model::Field| other.name == field.name.value.to_lowercase();
            if constant(encoding, field) || draft.layout.fields.iter().any(known) {
                continue;
            }
            let index = draft.push(field, false, Type::Number(Notation::DECIMAL));
            let condition = self.expression(&draft, &format!("{} != 0", field.name.value), field.name.span)?;
            let text = format!(" {}:", field.name.value.to_lowercase());
            draft.layout.text.push(Token::If(condition, vec![Token::Text(text), Token::Field(index)]));
        }
        for (condition, holds) in self.conditions(instruction, form) {
            let text = self.meaning(&draft, condition)?;
            if text.is_empty() {
                continue;
            }
            let text = if holds { text } else { format!("!({text})") };
            let condition = self.expression(&draft, &text, condition.span)?;
            draft.layout.conditions.push(condition);
        }
        // Bits without a field are zero.
        let mut layout = draft.layout;
        let rest = layout.undefined();
        layout.fixed_mask |= rest;
        Some(layout)
    }

    /// The constant bits of an operation: the identifier of the encoding that contains its opcode.
    fn identifier(&mut self, form: &Form, encoding: &Encoding) -> Option<Wide> {
        let field = encoding.fields.iter().find(|field| field.name.value == OPERATION);
        let mut fitting = encoding.identifiers.iter().filter(|identifier| match field {
            Some(field) => extract(identifier, &field.pieces) == form.opcode,
            None => true,
        });
        let found = fitting.next();
        if found.is_none() || fitting.next().is_some() {
            let message = format!("no identifier of `{}` is that of operation {}", encoding.name.value, form.opcode);
            let error = Diagnostic::error("E0058", form.span, message);
            self.out.push(error.secondary(encoding.name.span, "the encoding").help(format!(
                "an identifier has the number of the operation in the field `{OPERATION}`, a different one in each"
            )));
            return None;
        }
        found.map(|identifier| *identifier & encoding.mask)
    }

    fn operand(
        &mut self,
        draft: &mut Draft,
        instruction: &Instruction,
        operand: &Operand,
        encoding: &Encoding,
    ) -> Option<()> {
        let Some((names, values)) = self.types.get(operand.ty.value.as_str()).copied() else {
            let message = format!("there is no operand type `{}`", operand.ty.value);
            self.out.push(Diagnostic::error("E0101", operand.ty.span, message));
            return None;
        };
        let Some(name) = &operand.field else {
            // The type alone determines the operand.
            let word = values.first().map_or(operand.ty.value.as_str(), |(_, word)| word.value.as_str());
            draft.layout.push_text(&word.to_lowercase());
            return Some(());
        };
        let Some(field) = encoding.fields.iter().find(|field| field.name.value == name.value) else {
            let message = format!("`{}` has no field `{}`", encoding.name.value, name.value);
            let error = Diagnostic::error("E0101", name.span, message);
            let near = did_you_mean(&name.value, encoding.fields.iter().map(|field| field.name.value.as_str()));
            self.out.push(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
            return None;
        };
        let (ty, signed) = match names {
            Some(names) => (Type::Enum(names, None), false),
            // Branch targets are counted in words of four bytes, relative to the next instruction.
            None if instruction.branches => {
                let target = Some(Target { base: Base::Next, unit: 4 });
                (Type::Number(Notation { target, ..Notation::DECIMAL }), true)
            }
            None => (Type::Number(Notation::DECIMAL), false),
        };
        // A field may be both read and written.
        let known = draft.layout.fields.iter().position(|known| known.name == field.name.value.to_lowercase());
        let index = known.unwrap_or_else(|| draft.push(field, signed, ty));
        draft.layout.text.push(Token::Field(index));
        let access = match (operand.input, operand.output) {
            (true, true) => Access::ReadWrite,
            (false, true) => Access::Write,
            (true, false) => Access::Read,
            (false, false) => Access::None,
        };
        draft.layout.operands.push(model::Operand { field: index, access, size: operand.size, sized: None });
        Some(())
    }

    /// The conditions of a form: its own must hold; without one, those of all other forms must not.
    fn conditions<'f>(&self, instruction: &'f Instruction, form: &'f Form) -> Vec<(&'f Spanned<String>, bool)> {
        let special = |form: &'f Form| form.condition.as_ref().filter(|condition| condition.value != DEFAULT);
        match special(form) {
            Some(own) => vec![(own, true)],
            None => instruction.forms.iter().filter_map(special).map(|other| (other, false)).collect(),
        }
    }

    /// The meaning of a condition for the given fields, as an expression; empty if the fields do not exist.
    fn meaning(&mut self, draft: &Draft, condition: &Spanned<String>) -> Option<String> {
        let rows =
            || CONDITIONS.lines().filter(|row| !row.starts_with('#')).map(|row| row.split('\t').collect::<Vec<_>>());
        let Some(row) = rows().find(|row| row[0] == condition.value) else {
            let message = format!("unknown condition `{}`", condition.value);
            let known = rows().map(|row| format!("`{}`", row[0])).collect::<Vec<_>>().join(", ");
            let help = format!("the reader knows {known}; others are rows of its `conditions.tsv`");
            self.out.push(Diagnostic::error("E0101", condition.span, message).help(help));
            return None;
        };
        let shown = |name: &&str| draft.names.iter().any(|known| known.name == *name);
        let terms: Vec<String> = row[1]
            .split(' ')
            .filter(shown)
            .flat_map(|name| row[2].split(' ').map(move |value| format!("{name} == {value}")))
            .collect();
        Some(terms.join(" || "))
    }

    fn expression(&mut self, draft: &Draft, text: &str, span: Span) -> Option<Expr> {
        let text = Spanned::new(text.to_owned(), span);
        expression(&text, &draft.names, Want::Condition, self.out).map(|(expr, _)| expr)
    }
}

/// Whether all bits of a field are among those that distinguish operations.
fn constant(encoding: &Encoding, field: &Field) -> bool {
    let bits = Layout::bits_of(&field.pieces);
    bits & encoding.mask == bits
}
