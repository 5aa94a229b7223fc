//! Operands of a record: their bits and kinds, and how the instruction accesses them.

use std::collections::{HashMap, HashSet};

use super::binding::{Binding, Bindings, Value};
use super::implied::BANK;
use super::instruction::{LITERAL, Maker};
use crate::keys::Named;
use crate::source::Spanned;
use crate::spec::{Access, BankSpec, Constant, FieldSpec, File, Fixed, OperandSpec};

/// The kind of classes whose instructions are not decoded.
pub(super) const UNREAD: &str = "-";
/// The operand that is always a literal after the instruction. Operands of the same class without bits have the same
/// value.
pub(super) const IMMEDIATE: &str = "imm";
/// The width of a register in bits.
const REGISTER: u16 = 32;
/// The parameter for the number of registers.
const COUNT: &str = "COUNT";
/// The parameter that is not 0 if an operand is a half of a register.
const HALVES: &str = "WIDE";

/// What the reader needs to know about the kinds of `printers.yaml`.
pub(super) struct Kinds {
    /// The width of each kind in bits.
    pub widths: HashMap<String, u8>,
    /// The kinds that name registers, themselves or through another kind.
    pub registers: HashSet<String>,
    /// The bank of the registers with names.
    pub special: Option<BankSpec>,
}

impl Kinds {
    pub fn of(file: &File) -> Kinds {
        let kinds: Vec<_> = file.kinds.iter().flat_map(|kinds| kinds.iter()).collect();
        let widths = kinds.iter().map(|(name, kind)| (name.value.clone(), kind.width.value)).collect();
        let banks = file.banks.iter().flat_map(|banks| banks.iter());
        let special = banks.filter(|(name, _)| name.value == BANK).map(|(_, bank)| bank.clone()).next();
        let mut registers: HashSet<String> = HashSet::new();
        // Kinds may refer to later ones; every round but the last adds one.
        loop {
            let names = |field: &FieldSpec| {
                field.bank.is_some() || field.kind.as_ref().is_some_and(|kind| registers.contains(&kind.value))
            };
            let more: Vec<String> = kinds
                .iter()
                .filter(|(name, kind)| {
                    let fields = kind.alternatives.iter().flat_map(|(_, alternative)| alternative.fields.iter());
                    !registers.contains(&name.value) && fields.flat_map(|f| f.iter()).any(|(_, field)| names(field))
                })
                .map(|(name, _)| name.value.clone())
                .collect();
            if more.is_empty() {
                return Kinds { widths, registers, special };
            }
            registers.extend(more);
        }
    }
}

impl Maker<'_> {
    /// A field with a constant value.
    pub fn constant(&mut self, value: u64) -> String {
        let name = constant_name(value);
        if self.constants.insert(value) {
            let field = FieldSpec { value: Some(self.spanned(value.to_string())), ..self.field() };
            self.add(&name, field);
        }
        name
    }

    /// A field for one bit of an operand.
    fn bit(&mut self, operand: &str, index: u8, otherwise: u64) -> String {
        match self.record.place(operand, index) {
            None => self.constant(otherwise),
            Some(at) => {
                let name = format!("{operand}_{index}");
                let field = FieldSpec { bits: Some(self.bits(&[at])), ..self.field() };
                self.add(&name, field);
                name
            }
        }
    }

    /// The field for a parameter of an operand.
    fn parameter(&mut self, operand: &str, value: &Value) -> String {
        let own = format!("{operand}_modifiers");
        match value {
            Value::Is(value) => self.constant(*value),
            Value::Own(index) if self.shown.contains(operand) => self.bit(&own, *index, 0),
            Value::Own(_) => self.constant(0),
            Value::Bit(name, index) => self.bit(name, *index, 0),
            Value::BitOr(name, index, otherwise) => self.bit(name, *index, *otherwise),
            Value::Half if self.record.outs.iter().any(|out| out.name == operand) => self.bit("src0_modifiers", 3, 0),
            Value::Half => self.bit(&own, 2, 0),
            Value::Literal => {
                if !self.record.places(IMMEDIATE).is_empty() {
                    return IMMEDIATE.to_owned();
                }
                let size = self.record.bits.len() as u8;
                let places: Vec<u8> = (size..size + LITERAL).collect();
                let field = FieldSpec { bits: Some(self.bits(&places)), ..self.field() };
                self.add("literal", field);
                "literal".to_owned()
            }
            Value::Sources => {
                let has = |i: &u64| self.record.ins.iter().any(|operand| operand.name == format!("src{i}"));
                let count = (0..4).take_while(has).count() as u64;
                self.constant(count)
            }
            Value::Selects => self.constant(u64::from(self.selects)),
            Value::Packed => self.constant(u64::from(self.packed)),
            Value::Stores => self.constant(u64::from(self.record.text.contains("_store"))),
            Value::Atomic => self.constant(u64::from(self.record.text.contains("_atomic_"))),
            Value::Operand(name) => {
                let places: Vec<u8> = self.places(name).into_iter().map(|(_, at)| at).collect();
                if places.is_empty() {
                    return self.constant(0);
                }
                if !self.has_field(name) {
                    let field = FieldSpec { bits: Some(self.bits(&places)), ..self.field() };
                    self.add(name, field);
                }
                name.clone()
            }
        }
    }

    /// Adds an operand with its fields, and returns its part of the template. It is an operand of the instruction if
    /// its kind names registers or its text is `separated` from what precedes it; otherwise it is a modifier.
    pub fn operand(&mut self, name: &str, mnemonic: &str, separated: bool) -> Result<String, String> {
        let bindings = Bindings::get();
        let class = self.record.class(name).unwrap_or(name).to_owned();
        let binding = bindings.of(&class, mnemonic, self.generation).ok_or(class)?;
        if binding.kind == UNREAD {
            return Err(UNREAD.to_owned());
        }
        let mut places = self.places(name);
        if binding.apart {
            places.clear();
        }
        if let Some((low, count, value)) = binding.fixed {
            let span = self.record.span;
            let constant = |(index, at): &(u8, u8)| {
                let inside = (low..low + count).contains(index);
                inside.then(|| Fixed { high: *at, low: *at, value: value >> (index - low) & 1, span })
            };
            let fixed: Vec<Fixed> = places.iter().filter_map(constant).collect();
            self.fixed.extend(fixed);
            places.retain(|(index, _)| !(low..low + count).contains(index));
        }
        if let Some(condition) = &binding.condition {
            self.conditions.push(self.spanned(condition.replace('$', name)));
        }
        if binding.each {
            return Ok(self.each(name, binding, &places));
        }
        let mut with = self.with(name, binding);
        if let Some(count) = self.count(name) {
            for (_, field) in with.0.iter_mut().filter(|(parameter, _)| parameter.value == COUNT) {
                field.value = count.clone();
            }
        }
        let ats: Vec<u8> = places.iter().map(|(_, at)| *at).collect();
        let lowest = places.first().map_or(0, |(index, _)| *index);
        let exact = self.kinds.widths.get(&binding.kind).is_some_and(|width| usize::from(*width) == ats.len());
        let shifted = || if lowest == 0 && exact { None } else { Some(format!("bits << {lowest}")) };
        let (bits, value) = match (ats.is_empty(), &binding.map) {
            // A field without bits is computed from others.
            (true, _) if self.record.class(IMMEDIATE) == self.record.class(name) => (None, Some(IMMEDIATE.to_owned())),
            (true, map) => (None, Some(map.clone().unwrap_or_else(|| "0".to_owned()))),
            (false, map) => (Some(self.bits(&ats)), map.clone().or_else(shifted)),
        };
        let kind = Some(self.spanned(binding.kind.clone()));
        let value = value.map(|text| self.spanned(text));
        let registers = self.kinds.registers.contains(&binding.kind);
        if registers || separated {
            let access = if registers { self.access(name, binding) } else { Access::None };
            let size = registers.then(|| self.size(name, &with, binding));
            let spec = OperandSpec { bits, value, kind, with: Some(with), ..self.operand_spec(access, size) };
            if !self.has_field(name) {
                self.operands.push((self.spanned(name), spec));
            }
        } else {
            let field = FieldSpec { bits, value, kind, with: Some(with), ..self.field() };
            self.add(name, field);
        }
        if takes_literal(binding) && !self.literals.iter().any(|known| known == name) {
            self.literals.push(name.to_owned());
        }
        Ok(format!("{{{name}}}"))
    }

    /// The field with the register count of an operand in an image instruction.
    fn count(&mut self, operand: &str) -> Option<String> {
        let images = self.images.as_ref()?;
        match operand {
            "vdata" => Some("values".to_owned()),
            _ if images.address.is_none() => None,
            "vaddr0" if images.listed == 0 => Some("addresses".to_owned()),
            _ if operand == format!("vaddr{}", images.listed.wrapping_sub(1)) => Some("rest".to_owned()),
            _ if operand.starts_with("vaddr") => Some(self.constant(1)),
            _ => None,
        }
    }

    fn with(&mut self, operand: &str, binding: &Binding) -> Named<Spanned<String>> {
        let literal = takes_literal(binding);
        let parameters = binding.parameters.iter().map(|(parameter, value)| {
            // If no literal may follow, there is no word for it.
            let value = if *value == Value::Literal && !literal { &Value::Is(0) } else { value };
            let field = self.parameter(operand, value);
            (self.spanned(parameter.clone()), self.spanned(field))
        });
        Named(parameters.collect())
    }

    /// Adds a field for every bit, of the kind whose name ends in the bit's number, preceded by the text for a constant
    /// lowest bit.
    fn each(&mut self, name: &str, binding: &Binding, places: &[(u8, u8)]) -> String {
        let mut made = String::new();
        if let Some(text) = binding.always.as_ref().filter(|_| places.first().is_none_or(|(index, _)| *index != 0)) {
            made.push_str(text);
        }
        for (index, at) in places {
            let field = format!("{name}{index}");
            let with = self.with(name, binding);
            let kind = Some(self.spanned(format!("{}{index}", binding.kind)));
            let spec = FieldSpec { bits: Some(self.bits(&[*at])), kind, with: Some(with), ..self.field() };
            self.add(&field, spec);
            made.push_str(&format!("{{{field}}}"));
        }
        made
    }

    /// How the instruction accesses the registers of an operand.
    fn access(&self, name: &str, binding: &Binding) -> Access {
        let record = self.record;
        let is_tied = record.tied.iter().any(|(one, other)| one == name || other == name);
        let is_half = binding.parameters.iter().any(|(known, value)| known == HALVES && *value != Value::Is(0));
        match record.outs.iter().any(|operand| operand.name == name) {
            // A half leaves the other one in the register.
            _ if is_tied => Access::ReadWrite,
            true if is_half => Access::ReadWrite,
            true => Access::Write,
            false => Access::Read,
        }
    }

    /// The size in bits of the registers of an operand: a number, or the name of the field that has it.
    fn size(&mut self, name: &str, with: &Named<Spanned<String>>, binding: &Binding) -> Constant<u16> {
        let count = with.iter().find(|(parameter, _)| parameter.value == COUNT).map(|(_, field)| field.clone());
        let known = binding.parameters.iter().find(|(parameter, _)| parameter == COUNT);
        match (known, count) {
            (Some((_, Value::Is(number))), Some(field)) if field.value == constant_name(*number) => {
                Constant::Number(self.bits_of(*number as u16))
            }
            (_, Some(field)) => {
                let size = self.spanned(format!("{name}_size"));
                let value = Some(self.spanned(format!("{} * {REGISTER}", field.value)));
                self.add(&size.value, FieldSpec { value, ..self.field() });
                Constant::Name(size)
            }
            (_, None) => Constant::Number(self.bits_of(binding.registers)),
        }
    }

    /// The size of registers in bits.
    pub fn bits_of(&self, registers: u16) -> Spanned<u16> {
        Spanned::new(REGISTER * registers, self.record.text_span)
    }

    pub fn operand_spec(&self, access: Access, size: Option<Constant<u16>>) -> OperandSpec {
        OperandSpec {
            span: self.record.text_span,
            doc: None,
            bank: None,
            kind: None,
            immediate: None,
            r_enum: None,
            bits: None,
            value: None,
            encode: None,
            default: None,
            with: None,
            at: None,
            prefix: None,
            target: None,
            access: Some(access),
            size,
            suffixes: None,
        }
    }
}

/// Whether a literal may follow the instruction for the operand.
fn takes_literal(binding: &Binding) -> bool {
    binding.parameters.iter().any(|(name, value)| name == "LIT" && *value == Value::Is(1))
}

/// The name of the field with a constant value.
fn constant_name(value: u64) -> String {
    format!("is{value}")
}
