//! The forms and variants of a set: what could occur in programs, whether it does or not.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringViewBuilder, UInt16Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::set::Set;

/// The schema of [`forms`].
pub fn forms_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("isa", DataType::Utf8View, false),
        Field::new("opcode", DataType::UInt16, false),
        Field::new("mnemonic", DataType::Utf8View, false),
        Field::new("title", DataType::Utf8View, false),
        Field::new("unit", DataType::Utf8View, false),
    ]))
}

/// The forms of a set, one row each. `opcode` is the index of the form; if instructions are groups, that of the
/// operation.
///
/// # Errors
/// Returns errors from Arrow.
pub fn forms(set: &Set) -> Result<RecordBatch, ArrowError> {
    let mut isa = StringViewBuilder::new();
    let mut opcode = UInt16Builder::new();
    let [mut mnemonic, mut title, mut unit] = [(); 3].map(|()| StringViewBuilder::new());
    for (index, form) in set.forms.iter().enumerate() {
        isa.append_value(&set.name);
        opcode.append_value(index as u16);
        mnemonic.append_value(form.name);
        title.append_value(form.title);
        unit.append_value(form.unit);
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(isa.finish()),
        Arc::new(opcode.finish()),
        Arc::new(mnemonic.finish()),
        Arc::new(title.finish()),
        Arc::new(unit.finish()),
    ];
    RecordBatch::try_new(forms_schema(), columns)
}

/// The schema of [`variants`].
pub fn variants_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("isa", DataType::Utf8View, false),
        Field::new("opcode", DataType::UInt16, false),
        Field::new("mnemonic", DataType::Utf8View, false),
        Field::new("modifier", DataType::Utf8View, false),
        Field::new("value", DataType::UInt64, false),
        Field::new("text", DataType::Utf8View, false),
        Field::new("is_default", DataType::Boolean, false),
    ]))
}

/// A possible value of a form's modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant<'s> {
    /// The form.
    pub opcode: u16,
    /// The modifier; `operand.modifier` if it belongs to an operand.
    pub modifier: &'s str,
    /// Its index among the modifiers of the form.
    pub index: usize,
    /// The value.
    pub value: u64,
    /// Its text; empty for the default.
    pub text: &'static str,
    /// Whether it is the default.
    pub is_default: bool,
}

/// The values of all modifiers of all forms, if instructions are words; empty for other sets.
pub fn variants_of(set: &Set) -> impl Iterator<Item = Variant<'_>> {
    set.plans.iter().enumerate().flat_map(|(opcode, plan)| {
        plan.modifiers.iter().enumerate().flat_map(move |(index, modifier)| {
            let values = modifier.values.iter().enumerate().filter(|(_, (_, exists))| *exists);
            values.map(move |(value, _)| {
                let is_default = modifier.default == Some(value as u64);
                // A flag that is not set has no text.
                let text = if is_default { "" } else { modifier.texts[value] };
                Variant {
                    opcode: opcode as u16,
                    modifier: &modifier.name,
                    index,
                    value: value as u64,
                    text,
                    is_default,
                }
            })
        })
    })
}

/// [`variants_of`] as a batch.
///
/// # Errors
/// Returns errors from Arrow.
pub fn variants(set: &Set) -> Result<RecordBatch, ArrowError> {
    let mut isa = StringViewBuilder::new();
    let mut opcode = UInt16Builder::new();
    let [mut mnemonic, mut modifier, mut text] = [(); 3].map(|()| StringViewBuilder::new());
    let (mut value, mut is_default) = (UInt64Builder::new(), BooleanBuilder::new());
    for variant in variants_of(set) {
        isa.append_value(&set.name);
        opcode.append_value(variant.opcode);
        mnemonic.append_value(set.forms[usize::from(variant.opcode)].name);
        modifier.append_value(variant.modifier);
        value.append_value(variant.value);
        text.append_value(variant.text);
        is_default.append_value(variant.is_default);
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(isa.finish()),
        Arc::new(opcode.finish()),
        Arc::new(mnemonic.finish()),
        Arc::new(modifier.finish()),
        Arc::new(value.finish()),
        Arc::new(text.finish()),
        Arc::new(is_default.finish()),
    ];
    RecordBatch::try_new(variants_schema(), columns)
}
