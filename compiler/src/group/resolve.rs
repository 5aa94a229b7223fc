//! From the vocabulary of groups to their model.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0060 | a word that is not a value of its field |
//! | E0061 | keys that exclude each other, or a missing key that another requires |
//! | E0062 | a number that does not fit into a table of groups |
//! | E0063 | a syntax or name that cannot be parsed |

use isaforge_core::group::table::{Encoding, FIELDS, MAX_BYTES, SLOTS, Type};
use isaforge_core::number;

use crate::diagnostic::Diagnostic;
use crate::group::model::{Choice, Condition, Derived, Field, Fixed, Groups, Place, Record, Rule, Slot};
use crate::group::spec::{self, DerivedSpec, GroupSpec, RecordSpec, SharedFieldSpec, SlotSpec, Word};
use crate::keys::OneOrMany;
use crate::model::Part;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{Notation, Provenance};

impl Resolver<'_> {
    /// The groups that the entry describes; `None` if instructions are not groups.
    pub(crate) fn groups(&mut self) -> Option<Groups> {
        let provenance = self.default_provenance();
        let spec = self.files.iter().find_map(|(_, f)| f.group.clone())?;
        let mut choices = Vec::new();
        for (name, choice) in self.all(|f| &f.choices) {
            choices.extend(self.choice(name, choice, provenance));
        }
        let mut groups = Groups {
            unit: spec.unit.value.max(1),
            longest: spec.longest.value,
            choices,
            slots: Vec::new(),
            derived: Vec::new(),
            rules: Vec::new(),
            padding: [spec.padding.odd, spec.padding.first, spec.padding.rest],
            align: spec.program.align.value.max(1),
            ends: Vec::new(),
            targets: Vec::new(),
            operations: Vec::new(),
            operands: Vec::new(),
            registers: Vec::new(),
            order: Vec::new(),
            aliases: spec
                .aliases
                .iter()
                .flat_map(|a| a.iter())
                .map(|(other, own)| (other.value.clone(), own.value.clone()))
                .collect(),
            span: spec.span,
        };
        if usize::from(spec.longest.value) > MAX_BYTES
            || !spec.longest.value.is_multiple_of(groups.unit)
            || spec.longest.value == 0
        {
            let message = format!("a group cannot have {} bytes", spec.longest.value);
            let help = format!("a multiple of `unit`, at most {MAX_BYTES}");
            self.out.push(Diagnostic::error("E0062", spec.longest.span, message).help(help));
        }
        for (number, what) in [(&spec.unit, "units of 0 bytes"), (&spec.program.align, "an alignment of 0 bytes")] {
            if number.value == 0 {
                let message = format!("groups cannot have {what}");
                self.out.push(Diagnostic::error("E0062", number.span, message).help("at least 1"));
            }
        }
        self.slots(&spec, &mut groups);
        self.consequences(&spec, &mut groups);
        if !self.out.has_errors() {
            self.operations(&spec, &mut groups);
        }
        Some(groups)
    }

    fn choice(&mut self, name: Spanned<String>, spec: spec::ChoiceSpec, provenance: Provenance) -> Option<Choice> {
        let mut fields = Vec::new();
        for (name, field) in spec.fields.unwrap_or_default().0 {
            fields.push(self.shared_field(name, field));
        }
        let mut choice = Choice {
            name: name.value,
            doc: spec.doc.unwrap_or_default(),
            span: name.span,
            fields,
            records: Vec::new(),
        };
        for (name, record) in spec.records.0 {
            if let Some(record) = self.record(name, record, &choice, provenance) {
                choice.records.push(record);
            }
        }
        if choice.fields.len() > 64 || choice.records.len() > 250 {
            let message = format!("`{}` has more fields or records than a table holds", choice.name);
            self.out.push(Diagnostic::error("E0062", choice.span, message).help("at most 64 fields and 250 records"));
            return None;
        }
        Some(choice)
    }

    /// Keeps a field with mistakes, so that uses of it are not reported as well.
    fn shared_field(&mut self, name: Spanned<String>, spec: SharedFieldSpec) -> Field {
        let span = name.span.to(spec.span);
        let ty = match (&spec.r_enum, spec.number) {
            (Some(e), None) => match self.enum_index(e) {
                Some(e) => Type::Enum(e as u16),
                None => {
                    self.out.mark_broken(&name.value);
                    Type::Decimal
                }
            },
            (None, Some(Notation::Hex)) => Type::Hex,
            (None, Some(_)) => Type::Decimal,
            (None, None) => Type::Flag,
            (Some(_), Some(_)) => {
                self.exclusive(span, "`enum` and `number` exclude each other");
                Type::Decimal
            }
        };
        let signed = spec.signed.unwrap_or(false);
        let encoding = match (spec.minus, spec.wrap.unwrap_or(false), spec.times, signed) {
            (None, false, None, false) => Encoding::Plain,
            (Some(n), false, None, false) => Encoding::Minus(n),
            (None, true, None, false) => Encoding::Wrap,
            (None, false, Some(n), false) if n > 0 => Encoding::Times(n),
            (None, false, times, true) if times != Some(0) => Encoding::SignedTimes(times.unwrap_or(1)),
            _ => {
                self.exclusive(span, "`minus`, `wrap` and `times` exclude each other, and `times` is not 0");
                Encoding::Plain
            }
        };
        let mut field = Field {
            name: name.value,
            doc: spec.doc.unwrap_or_default(),
            span: name.span,
            ty,
            encoding,
            default: 0,
            form: spec.meaningless.unwrap_or(false),
        };
        if let Some(word) = &spec.default {
            field.default = self.value_of(&field, word).unwrap_or(0);
        }
        field
    }

    fn exclusive(&mut self, span: Span, message: &str) {
        self.out.push(Diagnostic::error("E0061", span, message));
    }

    /// The number of a value of a field.
    pub(super) fn value_of(&mut self, field: &Field, word: &Word) -> Option<i64> {
        let text = word.value.trim();
        let number = number::parse_signed(text);
        match (field.ty, text) {
            (Type::Enum(index), _) => {
                let values = &self.isa.enums[usize::from(index)].values;
                if let Some(value) = values.iter().find(|v| v.name == text) {
                    return Some(value.bits as i64);
                }
                if number.is_none() {
                    let values = &self.isa.enums[usize::from(index)].values;
                    let what = format!("value of `{}`", field.name);
                    Resolver::find(self.out, &what, word, values.iter().map(|v| (v.name.as_str(), Some(v.span))))?;
                }
            }
            (Type::Flag, "true") => return Some(1),
            (Type::Flag, "false") => return Some(0),
            _ => {}
        }
        if number.is_none() && !self.out.pass_over(&field.name) {
            let message = format!("`{text}` is not a value of `{}`", field.name);
            self.out.push(Diagnostic::error("E0060", word.span, message).help("write a number"));
        }
        number
    }

    fn record(
        &mut self,
        name: Spanned<String>,
        spec: RecordSpec,
        choice: &Choice,
        provenance: Provenance,
    ) -> Option<Record> {
        if spec.bytes.value > 8 {
            let message = format!("a record cannot have {} bytes", spec.bytes.value);
            self.out.push(Diagnostic::error("E0062", spec.bytes.span, message).help("at most 8"));
            return None;
        }
        let mut places = Vec::new();
        for (name, place) in spec.fields.unwrap_or_default().0 {
            let names = fields(choice);
            let Some(field) = Resolver::find(self.out, "field of this choice", &name, names) else { continue };
            let Some(bits) = self.bits(&place.bits) else { continue };
            let narrowed = match &place.r_enum {
                Some(e) => self.enum_index(e),
                None => None,
            };
            places.push(Place { field, bits, narrowed, span: name.span.to(place.bits.span) });
        }
        let mut implies = Vec::new();
        for (name, word) in spec.implies.unwrap_or_default().iter() {
            let names = fields(choice);
            let Some(field) = Resolver::find(self.out, "field of this choice", name, names) else { continue };
            implies.extend(self.value_of(&choice.fields[field], word).map(|value| (field, value)));
        }
        let names = || fields(choice);
        let says = spec.says.iter().flatten();
        let says = says.filter_map(|name| Resolver::find(self.out, "field of this choice", name, names())).collect();
        let no_encoding = spec.no_encoding.unwrap_or(false);
        if no_encoding && spec.bytes.value > 0 {
            let error = Diagnostic::error("E0061", spec.bytes.span, "a record without encoding has no bytes");
            self.out.push(error.help("write `bytes: 0`"));
        }
        let fixed = self.fixed(&spec.fixed.unwrap_or_default(), true);
        self.isa.places.add(name.span, Part::Whole, 0, name.span.to(spec.span));
        Some(Record {
            source: self.place(name.span),
            name: name.value,
            doc: spec.doc.unwrap_or_default(),
            span: name.span,
            bytes: spec.bytes.value,
            fixed: fixed.iter().map(|f| Fixed { mask: f.mask, value: f.value, span: f.span }).collect(),
            places,
            implies,
            unusable: spec.unusable.unwrap_or_default(),
            no_encoding,
            says,
            provenance: spec.provenance.unwrap_or(provenance),
            note: spec.note.unwrap_or_default(),
        })
    }

    fn slots(&mut self, spec: &GroupSpec, groups: &mut Groups) {
        let mut chains: Vec<String> = Vec::new();
        for (name, slot) in spec.slots.iter() {
            let names = groups.choices.iter().map(|c| (c.name.as_str(), Some(c.span)));
            let Some(index) = Resolver::find(self.out, "choice", &slot.choice, names) else { continue };
            let choice = &groups.choices[index];
            let records = self.allowed_records(slot, choice);
            let chain = slot.chain.as_ref().map_or(0, |c| {
                let known = chains.iter().position(|k| *k == c.value);
                known.unwrap_or_else(|| {
                    chains.push(c.value.clone());
                    chains.len() - 1
                }) + 1
            });
            let ends = slot
                .ends
                .as_ref()
                .and_then(|field| Resolver::find(self.out, "field of this choice", field, fields(choice)));
            let header = groups.slots.first().map_or(index, |s: &Slot| s.choice);
            let when = self.conditions(slot.when.as_ref(), &groups.choices[header]);
            groups.slots.push(Slot {
                name: name.value.clone(),
                doc: slot.doc.clone().unwrap_or_default(),
                span: name.span,
                choice: index,
                records,
                when,
                chain: chain.min(30) as u8,
                ends,
                filler: slot.filler.unwrap_or(false),
                no_encoding: slot.no_encoding.unwrap_or(false),
                roles: Vec::new(),
            });
        }
        let fields: usize = groups.slots.iter().map(|s| groups.choices[s.choice].fields.len()).sum();
        if groups.slots.is_empty() || groups.slots.len() > SLOTS || fields > FIELDS {
            let message = format!("{} slots with {fields} fields", groups.slots.len());
            let help = format!("1 to {SLOTS} slots with at most {FIELDS} fields");
            self.out.push(Diagnostic::error("E0062", spec.span, message).help(help));
        }
    }

    fn allowed_records(&mut self, slot: &SlotSpec, choice: &Choice) -> Vec<usize> {
        let out = &mut *self.out;
        let mut find = |names: &[Spanned<String>]| -> Vec<usize> {
            let known = records(choice);
            names.iter().filter_map(|name| Resolver::find(out, "record of this choice", name, known.clone())).collect()
        };
        let only = slot.only.as_ref().map(|names| find(names));
        let except = slot.except.as_ref().map(|names| find(names)).unwrap_or_default();
        let allowed = |i: &usize| only.as_ref().is_none_or(|o| o.contains(i)) && !except.contains(i);
        (0..choice.records.len()).filter(allowed).collect()
    }

    fn conditions(&mut self, given: Option<&OneOrMany<spec::Condition>>, header: &Choice) -> Vec<Condition> {
        given.iter().flat_map(|all| all.iter()).filter_map(|c| self.condition(Some(c), header)).collect()
    }

    fn condition(&mut self, given: Option<&spec::Condition>, header: &Choice) -> Option<Condition> {
        let mut condition = Vec::new();
        for (name, words) in given.iter().flat_map(|c| c.iter()) {
            let names = fields(header);
            let field = Resolver::find(self.out, "field of the header", name, names)?;
            let values: Option<Vec<i64>> = words.iter().map(|w| self.value_of(&header.fields[field], w)).collect();
            condition.push((field, values?));
        }
        Some(condition)
    }

    /// Resolves derived fields, rules, ends and targets.
    fn consequences(&mut self, spec: &GroupSpec, groups: &mut Groups) {
        let Some(header) = groups.slots.first().map(|s| groups.choices[s.choice].clone()) else { return };
        let slots = groups.slots.clone();
        for derived in spec.derived.iter().flatten() {
            groups.derived.extend(self.derived(derived, &header, &slots));
        }
        for rule in spec.rules.iter().flatten() {
            let when = self.condition(rule.when.as_ref(), &header);
            let need = self.condition(Some(&rule.need), &header);
            if let (Some(when), Some(need)) = (when, need) {
                groups.rules.push(Rule { doc: rule.doc.clone(), when, need, span: rule.span });
            }
        }
        groups.ends = self.conditions(Some(&spec.program.ends), &header);
        for target in spec.program.targets.iter().flatten() {
            let slot = Resolver::find(self.out, "slot", &target.slot, slot_names(&slots));
            let Some(slot) = slot else { continue };
            let choice = &groups.choices[groups.slots[slot].choice];
            let names = fields(choice);
            let field = Resolver::find(self.out, "field of this slot", &target.field, names.clone());
            let absolute =
                target.absolute.as_ref().map(|name| Resolver::find(self.out, "field of this slot", name, names));
            if let (Some(field), None | Some(Some(_))) = (field, absolute) {
                groups.targets.push((slot, field, absolute.flatten()));
            }
        }
    }

    fn derived(&mut self, spec: &DerivedSpec, header: &Choice, slots: &[Slot]) -> Option<Derived> {
        let names = fields(header);
        let field = Resolver::find(self.out, "field of the header", &spec.field, names)?;
        let when = self.conditions(spec.when.as_ref(), header);
        let slot_names = slot_names(slots);
        if spec.offset.is_some() == spec.length.unwrap_or(false) {
            self.exclusive(spec.span, "a derived field needs either `length: true` or `offset`");
            return None;
        }
        let offset = match &spec.offset {
            Some(slot) => Some(Resolver::find(self.out, "slot", slot, slot_names.clone())?),
            None => None,
        };
        let if_any = spec
            .if_any
            .iter()
            .flatten()
            .filter_map(|s| Resolver::find(self.out, "slot", s, slot_names.clone()))
            .collect();
        Some(Derived { field, when, offset, if_any, span: spec.span })
    }
}

/// The names of the fields of a choice, and where they are defined.
pub(super) fn fields(choice: &Choice) -> impl Iterator<Item = (&str, Option<Span>)> + Clone {
    choice.fields.iter().map(|field| (field.name.as_str(), Some(field.span)))
}

fn records(choice: &Choice) -> impl Iterator<Item = (&str, Option<Span>)> + Clone {
    choice.records.iter().map(|record| (record.name.as_str(), Some(record.span)))
}

/// The names of slots, and where they are defined.
pub(super) fn slot_names(slots: &[Slot]) -> impl Iterator<Item = (&str, Option<Span>)> + Clone {
    slots.iter().map(|slot| (slot.name.as_str(), Some(slot.span)))
}
