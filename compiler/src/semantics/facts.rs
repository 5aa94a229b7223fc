//! Facts about instructions that a specification gives besides their texts.

use isaforge_core::semantics::facts::{Callee, Fidelity, FidelityClass, Flow, Preload};

use super::model::Semantics;
use super::spec::{
    CalleeSpec, EvidenceSpec, EvidenceWords, FidelitySpec, FlowSpec, PreloadSpec, SemanticsSpec, TruthSpec,
};
use crate::diagnostic::Diagnostic;
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
        let mask = |slot: u8| 1u8.checked_shl(slot.into()).unwrap_or(0);
        if let Some(messages) = &spec.messages {
            let slots = messages.slots.iter().map(|(name, slot)| (name, Flow { sends: mask(*slot), ..NOTHING }));
            self.flow_of(&messages.modifier, slots.collect(), facts);
            for (name, slot) in messages.instructions.iter().flat_map(|named| named.iter()) {
                let opcode = self.instruction_names().position(|known| known == name.value);
                match opcode {
                    Some(opcode) => facts.sends.push((opcode as u16, mask(*slot))),
                    None if self.bases.contains(&name.span.file) => {}
                    None => self.no_such_instruction(name),
                }
            }
        }
        let values = spec.values.iter().map(|(name, does)| {
            let flow = Flow {
                waits: does.waits.iter().flatten().fold(0, |all, slot| all | mask(*slot)),
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

    /// Adds the effects of the values of a modifier.
    fn flow_of(&mut self, modifier: &Spanned<String>, does: Vec<(&Spanned<String>, Flow)>, facts: &mut Facts) {
        let Some(values) = values_of(&self.isa, &modifier.value) else {
            let message = format!("no instruction has a modifier `{}` of named values", modifier.value);
            return self.out.push(Diagnostic::error("E0101", modifier.span, message));
        };
        for (name, flow) in does {
            let Some((_, value)) = values.iter().find(|(known, _)| *known == name.value) else {
                if !self.bases.contains(&name.span.file) {
                    let message = format!("`{}` has no value `{}`", modifier.value, name.value);
                    self.out.push(Diagnostic::error("E0101", name.span, message));
                }
                continue;
            };
            facts.flow.push(Flow { modifier: text(&modifier.value), value: *value, ..flow });
        }
    }
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
const NOTHING: Flow =
    Flow { modifier: "", value: 0, sends: 0, waits: 0, reconverges: false, discards: false, ends: false };

/// The values of the first modifier of this name that has an enum.
fn values_of(isa: &Isa, modifier: &str) -> Option<Vec<(String, u64)>> {
    let mut modifiers = isa.forms.iter().flat_map(|form| &form.modifiers).filter(|m| m.name == modifier);
    modifiers.find_map(|found| match found.ty {
        Type::Enum(e) => Some(isa.enums[e].values.iter().map(|v| (v.name.clone(), v.bits)).collect()),
        _ => None,
    })
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
