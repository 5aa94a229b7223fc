//! SQL functions on whole programs: `isa_count(code, form, modifiers)` and others.
//!
//! Each takes the code of a program, and as the last argument the name of its set, which is optional if the lake has
//! only one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::builder::{ListBuilder, StringViewBuilder};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, ListArray, StringViewArray, StructArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::prelude::SessionContext;
use isaforge_arrow::whole::{self, FormNames, Histogram, Wanted};
use isaforge_arrow::{Set, forms};
use isaforge_compiler::suggest::did_you_mean;

use crate::sets::Sets;

/// A function on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `isa_count(code, form [, modifiers])`: the number of instructions of this form with these modifiers, which are
    /// separated by dots as in assembly.
    Count,
    /// `isa_histogram(code)`: a list of forms with their counts.
    Histogram,
    /// `isa_variants(code)`: a list of forms, modifiers and values, with their counts.
    Variants,
    /// `isa_registers(code)`: the registers that are read or written.
    Registers,
    /// `isa_pressure(code)`: the maximum number of live registers.
    Pressure,
    /// `isa_text(code)`: the program as assembly.
    Text,
}

impl Kind {
    /// All functions.
    pub const ALL: [Kind; 6] =
        [Kind::Count, Kind::Histogram, Kind::Variants, Kind::Registers, Kind::Pressure, Kind::Text];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Count => "isa_count",
            Kind::Histogram => "isa_histogram",
            Kind::Variants => "isa_variants",
            Kind::Registers => "isa_registers",
            Kind::Pressure => "isa_pressure",
            Kind::Text => "isa_text",
        }
    }

    /// The signature.
    pub fn usage(self) -> &'static str {
        match self {
            Kind::Count => "isa_count(code, form [, modifiers [, isa]])",
            Kind::Histogram => "isa_histogram(code [, isa])",
            Kind::Variants => "isa_variants(code [, isa])",
            Kind::Registers => "isa_registers(code [, isa])",
            Kind::Pressure => "isa_pressure(code [, isa])",
            Kind::Text => "isa_text(code [, isa])",
        }
    }

    /// The minimum and the maximum number of arguments, including the set.
    fn arguments(self) -> (usize, usize) {
        match self {
            Kind::Count => (2, 4),
            _ => (1, 2),
        }
    }

    fn returns(self) -> DataType {
        match self {
            Kind::Count => DataType::UInt64,
            Kind::Histogram => DataType::new_list(DataType::Struct(counted(&[])), true),
            Kind::Variants => DataType::new_list(DataType::Struct(counted(&["modifier", "text"])), true),
            Kind::Registers => DataType::new_list(DataType::Utf8View, true),
            Kind::Pressure => DataType::UInt32,
            Kind::Text => DataType::Utf8View,
        }
    }
}

/// The fields of a list element: the mnemonic of a form, texts, and a count.
fn counted(texts: &[&str]) -> Fields {
    let texts = ["mnemonic"].iter().chain(texts).map(|name| Field::new(*name, DataType::Utf8View, true));
    texts.chain([Field::new("count", DataType::UInt64, true)]).collect()
}

/// A function with the sets of its lake.
#[derive(Clone, Debug)]
pub struct Function {
    kind: Kind,
    sets: Sets,
    signature: Signature,
}

impl Function {
    /// A function on programs of these sets.
    pub fn new(kind: Kind, sets: Sets) -> Function {
        Function { kind, sets, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// The sets of the programs.
    pub fn sets(&self) -> &Sets {
        &self.sets
    }

    fn set(&self, name: Option<&str>) -> Result<&Set> {
        let found = match name {
            Some(name) if self.sets.is_ambiguous(name) => {
                return exec_err!("{}: the lakes have programs of different `{name}`", self.kind.name());
            }
            Some(name) => self.sets.get(name),
            None => self.sets.only(),
        };
        match (found, name) {
            (Some(known), _) => Ok(&known.set),
            (None, Some(name)) => exec_err!("the lake has no set `{name}`; it has {}", self.sets.names()),
            (None, None) => {
                let (name, usage) = (self.kind.name(), self.kind.usage());
                exec_err!("{name}: the lake has programs of {}; name the set of the code: `{usage}`", self.sets.names())
            }
        }
    }

    /// The instructions to count; an error unless some set of the lake has such a form, and such modifiers.
    fn wanted(&self, set: &Set, form: &str, modifiers: &str) -> Result<Option<Wanted>> {
        let modifiers: Vec<&str> = modifiers.split(['.', ',', ' ']).filter(|modifier| !modifier.is_empty()).collect();
        let found = Wanted::new(set, form, &modifiers);
        let known = || self.sets.iter().flat_map(|known| known.set.forms.iter().map(|form| form.name));
        if found.is_none() && !known().any(|known| known == form) {
            let help = did_you_mean(form, known()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return exec_err!("isa_count: there is no form `{form}`{help}");
        }
        let texts: Option<Vec<_>> = self.sets.iter().map(|known| whole::modifiers(&known.set)).collect();
        let texts: Option<Vec<&str>> = texts.map(|texts| texts.into_iter().flatten().collect());
        if let Some((texts, unknown)) =
            texts.and_then(|texts| modifiers.iter().find(|one| !texts.contains(*one)).map(|one| (texts, *one)))
        {
            let near = did_you_mean(unknown, texts);
            let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return exec_err!("isa_count: there is no modifier `{unknown}`{help}");
        }
        Ok(found)
    }
}

/// Registers all functions on programs of these sets.
pub fn register(context: &SessionContext, sets: &Sets) {
    Kind::ALL.into_iter().for_each(|kind| context.register_udf(ScalarUDF::from(Function::new(kind, sets.clone()))));
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.kind == other.kind
            && self.sets.iter().map(|known| &known.recipe).eq(other.sets.iter().map(|known| &known.recipe))
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.kind.returns())
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (least, most) = self.kind.arguments();
        if !(least..=most).contains(&given.len()) {
            return plan_err!(
                "expected `{}`, found {} argument{}",
                self.kind.usage(),
                given.len(),
                if given.len() == 1 { "" } else { "s" }
            );
        }
        let wanted = |index| if index == 0 { DataType::BinaryView } else { DataType::Utf8View };
        for (index, given) in given.iter().enumerate() {
            let is_bytes = matches!(given, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
            let is_text = matches!(given, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
            let right = if index == 0 { is_bytes } else { is_text } || given.is_null();
            if !right {
                let kind = if index == 0 { "code, as the table of programs has it" } else { "a text" };
                return plan_err!("argument {} must be {kind}, not {given}: `{}`", index + 1, self.kind.usage());
            }
        }
        Ok((0..given.len()).map(wanted).collect())
    }

    fn invoke_with_args(&self, given: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&given.args)?;
        let code = columns[0].as_binary_view();
        let texts: Vec<&StringViewArray> = columns[1..].iter().map(|column| column.as_string_view()).collect();
        let isa = texts.get(self.kind.arguments().1 - 2).copied();
        let rows = Programs { function: self, code, isa };
        let column = match self.kind {
            Kind::Count => self.count(&rows, texts[0], texts.get(1).copied())?,
            Kind::Histogram => {
                // Rows of the same set are usually adjacent.
                let mut last: Option<(&Set, Histogram)> = None;
                rows.counted(&[], |set, code, found| {
                    let same = last.take().filter(|(of, _)| std::ptr::eq(*of, set));
                    let (_, histogram) = last.insert(same.unwrap_or_else(|| (set, Histogram::new(set))));
                    histogram.count(set, code, |form, count| found.push(set, form, &[], count));
                })?
            }
            Kind::Variants => rows.counted(&["modifier", "text"], |set, code, found| {
                let mut counts = std::collections::HashMap::new();
                whole::variants(set, code, |opcode, index, value| {
                    *counts.entry((opcode, index, value)).or_insert(0u64) += 1;
                });
                for variant in forms::variants_of(set) {
                    if let Some(count) = counts.get(&(variant.opcode, variant.index, variant.value)) {
                        found.push(set, variant.opcode.into(), &[variant.modifier, variant.text], *count);
                    }
                }
            })?,
            Kind::Registers => {
                let mut lists = ListBuilder::new(StringViewBuilder::new());
                rows.each(|found| {
                    if let Some((set, code)) = found {
                        let registers = whole::registers(set, code);
                        registers.into_iter().for_each(|one| lists.values().append_value(set.analysis.name(one)));
                    }
                    lists.append(found.is_some());
                })?;
                Arc::new(lists.finish())
            }
            Kind::Pressure => {
                let mut pressures = Vec::with_capacity(code.len());
                rows.each(|found| pressures.push(found.map(|(set, code)| whole::pressure(set, code) as u32)))?;
                Arc::new(UInt32Array::from(pressures))
            }
            Kind::Text => {
                let mut texts = StringViewBuilder::new();
                rows.each(|found| texts.append_option(found.map(|(set, code)| whole::text(set, code))))?;
                Arc::new(texts.finish())
            }
        };
        Ok(ColumnarValue::Array(column))
    }
}

impl Function {
    fn count(
        &self,
        rows: &Programs<'_>,
        forms: &StringViewArray,
        modifiers: Option<&StringViewArray>,
    ) -> Result<ArrayRef> {
        let mut counts = Vec::with_capacity(rows.code.len());
        // The form is usually the same for all rows.
        let mut last: Option<(String, String, String, Option<Wanted>)> = None;
        for row in 0..rows.code.len() {
            let Some((set, code)) = rows.get(row)?.filter(|_| forms.is_valid(row)) else {
                counts.push(None);
                continue;
            };
            let (form, modifiers) =
                (forms.value(row), modifiers.filter(|m| m.is_valid(row)).map_or("", |m| m.value(row)));
            let known = last.as_ref().is_some_and(|(f, m, isa, _)| f == form && m == modifiers && *isa == set.name);
            if !known {
                let wanted = self.wanted(set, form, modifiers)?;
                last = Some((form.to_owned(), modifiers.to_owned(), set.name.clone(), wanted));
            }
            let wanted = last.as_ref().and_then(|(.., wanted)| wanted.as_ref());
            counts.push(Some(wanted.map_or(0, |wanted| whole::count(set, code, wanted))));
        }
        Ok(Arc::new(UInt64Array::from(counts)))
    }
}

/// The arguments of a call: one program per row.
struct Programs<'a> {
    function: &'a Function,
    code: &'a BinaryViewArray,
    isa: Option<&'a StringViewArray>,
}

impl<'a> Programs<'a> {
    fn get(&self, row: usize) -> Result<Option<(&'a Set, &'a [u8])>> {
        if self.code.is_null(row) {
            return Ok(None);
        }
        let isa = self.isa.filter(|isa| isa.is_valid(row)).map(|isa| isa.value(row));
        Ok(Some((self.function.set(isa)?, self.code.value(row))))
    }

    /// Calls `each` with every program, or with `None` for null.
    fn each(&self, mut each: impl FnMut(Option<(&'a Set, &'a [u8])>)) -> Result<()> {
        for row in 0..self.code.len() {
            each(self.get(row)?);
        }
        Ok(())
    }

    /// A column with lists of form names, texts and counts.
    fn counted(&self, names: &[&str], mut of: impl FnMut(&'a Set, &'a [u8], &mut Counted)) -> Result<ArrayRef> {
        let texts = names.iter().map(|_| StringViewBuilder::new()).collect();
        let mut found = Counted { forms: FormNames::default(), texts, counts: Vec::new() };
        let (mut ends, mut valid) = (vec![0], Vec::new());
        self.each(|program| {
            if let Some((set, code)) = program {
                of(set, code, &mut found);
            }
            valid.push(program.is_some());
            ends.push(found.counts.len() as i32);
        })?;
        let Counted { forms, mut texts, counts } = found;
        let mut columns: Vec<ArrayRef> = vec![Arc::new(forms.finish())];
        columns.extend(texts.iter_mut().map(|texts| Arc::new(texts.finish()) as ArrayRef));
        columns.push(Arc::new(UInt64Array::from(counts)));
        let fields = counted(names);
        let values = StructArray::new(fields.clone(), columns, None);
        let field = Arc::new(Field::new_list_field(DataType::Struct(fields), true));
        Ok(Arc::new(ListArray::new(field, OffsetBuffer::new(ends.into()), Arc::new(values), Some(valid.into()))))
    }
}

struct Counted {
    forms: FormNames,
    texts: Vec<StringViewBuilder>,
    counts: Vec<u64>,
}

impl Counted {
    fn push(&mut self, set: &Set, form: usize, texts: &[&str], count: u64) {
        self.forms.push(set, form);
        self.texts.iter_mut().zip(texts).for_each(|(builder, text)| builder.append_value(text));
        self.counts.push(count);
    }
}
