//! Facts about instructions that a specification gives besides their texts.

use isaforge_core::semantics::facts::{Callee, Fidelity, FidelityClass, Flow, Preload};

use isaforge_core::bits::ones;
use isaforge_core::group::table::Type as FieldType;

use super::model::Semantics;
use super::spec::{
    CalleeSpec, EvidenceSpec, EvidenceWords, FidelitySpec, FlowSpec, MessagesSpec, PreloadSpec, SemanticsSpec,
    TruthSpec,
};
use crate::diagnostic::Diagnostic;
use crate::group::model::{Choice, Groups};
use crate::leak::{slice, text};
use crate::model::{Isa, Shape, Type};
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;

pub use super::model::Facts;

impl Resolver<'_> {
    /// Adds the facts of a file.
    pub(super) fn facts(&mut self, spec: &SemanticsSpec, semantics: &mut Semantics) {
        for fidelity in spec.fidelity.iter().flatten() {
            self.fidelity(fidelity, spec.evidence.as_ref(), &mut semantics.facts);
        }
        for (name, preload) in spec.preloads.iter().flat_map(|named| named.iter()) {
            for unknown in preload
                .uniform
                .iter()
                .flatten()
                .filter(|name| !preload.values.iter().any(|(n, _)| n.value == name.value))
            {
                let message = format!("`{}` is not one of the values", unknown.value);
                self.out.push(Diagnostic::error("E0101", unknown.span, message));
            }
            semantics.facts.preloads.push(lower_preload(&name.value, preload));
        }
        for (name, callee) in spec.callees.iter().flat_map(|named| named.iter()) {
            semantics.facts.callees.extend(self.callee(&name.value, callee));
        }
        if let Some(flow) = &spec.flow {
            self.flow(flow, &mut semantics.facts);
        }
    }

    /// A program that others call. `None` if it does not fit the instruction set.
    fn callee(&mut self, name: &str, spec: &CalleeSpec) -> Option<Callee> {
        let instruction = &spec.instruction;
        let Some(form) = self.isa.forms.iter().find(|form| form.name == instruction.value) else {
            // A set that builds on another may have removed some of its instructions.
            if !self.bases.contains(&instruction.span.file) {
                self.no_such_instruction(instruction);
            }
            return None;
        };
        let mut wrong = Vec::new();
        let target = form.operands.iter().find(|operand| operand.name == spec.target.value);
        if target.is_none() {
            let message = format!("`{}` has no operand `{}`", instruction.value, spec.target.value);
            wrong.push(Diagnostic::error("E0101", spec.target.span, message));
        }
        // The enums of the values that the target can be.
        let kind = target.and_then(|operand| match operand.shape {
            Shape::One { kind, .. } => self.isa.kinds.get(kind),
            _ => None,
        });
        let fields = kind.into_iter().flat_map(|kind| &kind.alternatives).flat_map(|alternative| &alternative.fields);
        let enums: Vec<usize> =
            fields.filter_map(|field| if let Type::Enum(e) = field.ty { Some(e) } else { None }).collect();
        let mut addresses = Vec::new();
        for (of, values) in spec.addresses.iter() {
            let known = enums.iter().map(|e| &self.isa.enums[*e]).find(|known| known.name == of.value);
            let Some(known) = known else {
                let message = format!("`{}` cannot be a value of an enum `{}`", spec.target.value, of.value);
                wrong.push(Diagnostic::error("E0101", of.span, message));
                continue;
            };
            for value in values.iter().filter(|value| known.values.iter().all(|known| known.name != value.value)) {
                let message = format!("`{}` has no value `{}`", of.value, value.value);
                wrong.push(Diagnostic::error("E0101", value.span, message));
            }
            addresses.push((text(&of.value), slice(values.iter().map(|value| text(&value.value)))));
        }
        let count = self.isa.banks.first().map_or(0, |bank| bank.count);
        for register in std::iter::once(&spec.link).chain(&spec.clobbers).filter(|r| u32::from(r.value) >= count) {
            let message = format!("the first bank has {count} registers, but no register {}", register.value);
            wrong.push(Diagnostic::error("E0101", register.span, message));
        }
        if !wrong.is_empty() {
            // A set that builds on another may call its values otherwise.
            if !self.bases.contains(&instruction.span.file) {
                wrong.into_iter().for_each(|diagnostic| self.out.push(diagnostic));
            }
            return None;
        }
        Some(Callee {
            name: text(name),
            doc: text(&spec.doc),
            instruction: text(&instruction.value),
            target: text(&spec.target.value),
            addresses: slice(addresses),
            link: spec.link.value,
            clobbers: slice(spec.clobbers.iter().map(|register| register.value)),
        })
    }

    fn fidelity(&mut self, spec: &FidelitySpec, words: Option<&EvidenceWords>, facts: &mut Facts) {
        let mut instructions = Vec::new();
        for name in &spec.instructions {
            let Some(opcode) = self.instruction_names().position(|known| known == name.value) else {
                // A set that builds on another may have removed some of its instructions.
                if !self.bases.contains(&name.span.file) && !self.out.pass_over(&name.value) {
                    self.no_such_instruction(name);
                }
                continue;
            };
            let opcode = opcode as u16;
            if instructions.contains(&opcode) || facts.fidelity.iter().any(|f| f.instructions.contains(&opcode)) {
                let message = format!("the fidelity of `{}` is given twice", name.value);
                self.out.push(Diagnostic::error("E0102", name.span, message).help("remove it from one of the entries"));
            }
            instructions.push(opcode);
        }
        let detail = spec.detail.as_ref().map_or("", |detail| &detail.value);
        let class = match spec.is.value {
            TruthSpec::Exact => FidelityClass::Exact,
            TruthSpec::Approximate => FidelityClass::Approximate,
            TruthSpec::Choice => FidelityClass::Choice,
            TruthSpec::Unsupported => FidelityClass::Unsupported,
        };
        if (class == FidelityClass::Exact) != detail.is_empty() {
            let message = match class {
                FidelityClass::Exact => "`exact` takes no `as`",
                _ => "`as` must state what is known or done",
            };
            self.out.push(
                Diagnostic::error("E0102", spec.is.span, message).help("`as` belongs to all classes except `exact`"),
            );
        }
        facts.fidelity.push(Fidelity {
            instructions: slice(instructions),
            class,
            detail: text(detail),
            evidence: text(&evidence(spec, words)),
            note: text(spec.note.as_deref().unwrap_or("")),
        });
    }

    fn flow(&mut self, spec: &FlowSpec, facts: &mut Facts) {
        if let Some(messages) = &spec.messages {
            self.messages(messages, facts);
        }
        let values = spec.values.iter().map(|(name, does)| {
            let flow = Flow {
                waits: does.waits.iter().flatten().fold(0, |all, slot| all | mask(*slot)),
                waits_for_itself: does.waits_for_itself.unwrap_or(false),
                reconverges: does.reconverges.unwrap_or(false),
                discards: does.discards.unwrap_or(false),
                ends: does.ends.unwrap_or(false),
                ..NOTHING
            };
            (name, flow)
        });
        self.flow_of(&spec.modifier, values.collect(), facts);
        if let Some(last) = &spec.last_read {
            let known = self.isa.kinds.iter().flat_map(|kind| &kind.alternatives).any(|known| known.name == last.value);
            if !known && !self.bases.contains(&last.span.file) {
                let message = format!("no kind has an alternative `{}`", last.value);
                self.out.push(Diagnostic::error("E0101", last.span, message));
            }
            facts.last_read = if known { text(&last.value) } else { "" };
        }
    }

    fn messages(&mut self, spec: &MessagesSpec, facts: &mut Facts) {
        match &spec.slots {
            Some(slots) => {
                let slots = slots.iter().map(|(name, slot)| (name, Flow { sends: mask(*slot), ..NOTHING }));
                self.flow_of(&spec.modifier, slots.collect(), facts);
            }
            None => {
                let slots = self.slots_of(&spec.modifier);
                facts.flow.extend(slots.into_iter().map(|(flow, slots)| Flow { sends: slots, ..flow }));
            }
        }
        for (name, slot) in spec.instructions.iter().flat_map(|named| named.iter()) {
            let instruction = self.known_instruction(name);
            facts.flow.extend(instruction.map(|instruction| Flow { instruction, sends: mask(*slot), ..NOTHING }));
        }
        for (name, modifier) in spec.waits.iter().flat_map(|named| named.iter()) {
            let Some(instruction) = self.known_instruction(name) else { continue };
            let slots = match modifier.value.as_str() {
                "all" => vec![(NOTHING, facts.flow.iter().fold(0, |all, flow| all | flow.sends))],
                _ => self.slots_of(modifier),
            };
            let waits = |(flow, slots)| Flow { instruction, waits: slots, ..flow };
            facts.flow.extend(slots.into_iter().map(waits));
        }
    }

    /// The values of a modifier that are numbers of slots, with these slots.
    fn slots_of(&mut self, modifier: &Spanned<String>) -> Vec<(Flow, u8)> {
        let values = self.values_of(modifier);
        let slot = |(name, value): &(String, u64)| {
            let slots = 1u8.checked_shl(name.parse().ok()?)?;
            Some((Flow { modifier: text(&modifier.value), value: *value, name: text(name), ..NOTHING }, slots))
        };
        let found: Vec<_> = values.iter().filter_map(slot).collect();
        if found.is_empty() && !values.is_empty() {
            let message = format!("no value of `{}` is the number of a slot", modifier.value);
            self.out
                .push(Diagnostic::error("E0101", modifier.span, message).help("`slots` lists what the values mean"));
        }
        found
    }

    /// The name of an instruction. `None` if there is no such instruction, or no longer.
    fn known_instruction(&mut self, name: &Spanned<String>) -> Option<&'static str> {
        let known = self.instruction_names().any(|known| known == name.value);
        // A set that builds on another may have removed some of its instructions.
        if !known && !self.bases.contains(&name.span.file) {
            self.no_such_instruction(name);
        }
        known.then(|| text(&name.value))
    }

    /// Adds the effects of the values of a modifier.
    fn flow_of(&mut self, modifier: &Spanned<String>, does: Vec<(&Spanned<String>, Flow)>, facts: &mut Facts) {
        let values = self.values_of(modifier);
        for (name, flow) in does {
            match values.iter().find(|(known, _)| *known == name.value) {
                Some((name, value)) => {
                    facts.flow.push(Flow { modifier: text(&modifier.value), value: *value, name: text(name), ..flow });
                }
                None if values.is_empty() || self.bases.contains(&name.span.file) => {}
                None => {
                    let message = format!("`{}` has no value `{}`", modifier.value, name.value);
                    self.out.push(Diagnostic::error("E0101", name.span, message));
                }
            }
        }
    }

    /// The values of a modifier, with their names: those of the first one of this name that has an enum, or that of
    /// groups, numbers. Reports a modifier that has none.
    fn values_of(&mut self, modifier: &Spanned<String>) -> Vec<(String, u64)> {
        let found = match self.isa.groups() {
            Some(groups) => values_of_field(&self.isa, groups, &modifier.value),
            None => values_of_modifier(&self.isa, &modifier.value),
        };
        if found.is_empty() {
            let message = format!("no instruction has a modifier `{}` of named values", modifier.value);
            self.out.push(Diagnostic::error("E0101", modifier.span, message));
        }
        found
    }
}

fn mask(slot: u8) -> u8 {
    1u8.checked_shl(slot.into()).unwrap_or(0)
}

/// The evidence for the hardware's behaviour, in the words of the file or in default ones.
fn evidence(spec: &FidelitySpec, words: Option<&EvidenceWords>) -> String {
    let said = |own: fn(&EvidenceWords) -> &Option<String>, plain: &str| {
        words.and_then(|words| own(words).clone()).unwrap_or_else(|| plain.to_owned())
    };
    let tested = || said(|words| &words.tested, "tested on hardware");
    match (&spec.known, spec.within) {
        (EvidenceSpec::Tested, None | Some(0)) => format!("{}, bit for bit", tested()),
        (EvidenceSpec::Tested, Some(ulps)) => format!("{}, within {ulps} ulp", tested()),
        (EvidenceSpec::TestedInSequence, _) => format!("{} in a sequence", tested()),
        (EvidenceSpec::ReliedOn, _) => said(|words| &words.relied_on, "compilers rely on it"),
        (EvidenceSpec::Documented, _) => said(|words| &words.documented, "a document says it"),
        (EvidenceSpec::Nothing, _) => "nothing is known".to_owned(),
    }
}

/// A value without effects.
const NOTHING: Flow = Flow {
    instruction: "",
    modifier: "",
    value: 0,
    name: "",
    sends: 0,
    waits: 0,
    waits_for_itself: false,
    reconverges: false,
    discards: false,
    ends: false,
};

/// The values of the first modifier of this name that has an enum.
fn values_of_modifier(isa: &Isa, modifier: &str) -> Vec<(String, u64)> {
    let mut modifiers = isa.forms.iter().flat_map(|form| &form.modifiers).filter(|m| m.name == modifier);
    let enums = modifiers.find_map(|found| if let Type::Enum(e) = found.ty { isa.enums.get(e) } else { None });
    enums.into_iter().flat_map(|found| &found.values).map(|value| (value.name.clone(), value.bits)).collect()
}

/// The values of a field of groups, `field` or `slot.field`: those of its enum, or the numbers of slots that it can hold.
fn values_of_field(isa: &Isa, groups: &Groups, name: &str) -> Vec<(String, u64)> {
    let (slot, name) = name.split_once('.').map_or((None, name), |(slot, field)| (Some(slot), field));
    let slots = groups.slots.iter().filter(|known| slot.is_none_or(|slot| slot == known.name));
    let mut choices = slots.map(|slot| &groups.choices[slot.choice]);
    let find = |choice: &Choice| {
        let field = choice.fields.iter().position(|field| field.name == name)?;
        let place = choice.records.iter().flat_map(|record| &record.places).find(|place| place.field == field)?;
        Some((choice.fields[field].clone(), place.bits.width()))
    };
    let Some((field, width)) = choices.find_map(find) else { return Vec::new() };
    match field.ty {
        FieldType::Enum(e) => {
            let values = isa.enums.get(usize::from(e)).into_iter().flat_map(|found| &found.values);
            values.map(|value| (value.name.clone(), value.bits)).collect()
        }
        _ => {
            let numbers = (0..=ones(width.min(8))).map(|stored| field.encoding.value(stored, width));
            numbers.filter(|number| (0..8).contains(number)).map(|number| (number.to_string(), number as u64)).collect()
        }
    }
}

fn lower_preload(name: &str, spec: &PreloadSpec) -> Preload {
    let value = |(name, doc): (&Spanned<String>, &Spanned<String>)| (text(&name.value), text(&doc.value));
    let values = spec.values.iter().map(|(name, doc)| value((name, doc)));
    let register = |name: &Spanned<String>| {
        let at = spec.values.iter().position(|(known, _)| known.value == name.value)?;
        Some(spec.first.wrapping_add(at as u16))
    };
    let uniform = spec.uniform.iter().flatten().filter_map(register);
    Preload {
        name: text(name),
        doc: text(&spec.doc),
        first: spec.first,
        values: slice(values),
        uniform: slice(uniform),
    }
}
