//! The meaning of groups: the texts of operations, and the text that combines the parts of a group.

use std::collections::HashMap;

use isaforge_core::group::table::{Token, Type as FieldType};
use isaforge_core::semantics::{Modifier, Type};

use super::model::{Groups, OperandKind, Slot};
use super::resolve::{fields, slot_names};
use super::spec::{Condition, GroupSpec, StaysSpec};
use crate::diagnostic::Diagnostic;
use crate::expression::scope::Library;
use crate::expression::{Choices, ModifierInfo, OperandInfo, Scope, build, parse_text};
use crate::model::{Encoding, Isa};
use crate::resolve::resolver::Resolver;
use crate::semantics::model::{Operation, Semantics, tidy};
use crate::source::Spanned;

pub use crate::semantics::model::{Fields, Path, Stays};

impl Resolver<'_> {
    /// Declares the wires, before all other states.
    pub(crate) fn wires(&mut self, semantics: &mut Semantics) {
        let spec = self.files.iter().find_map(|(_, file)| file.group.clone());
        for (name, wire) in spec.iter().flat_map(|spec| spec.wires.iter()).flat_map(|wires| wires.iter()) {
            self.state(name, wire, &mut semantics.library);
        }
    }

    /// Builds the graphs of the operations of groups, and of the groups themselves.
    pub(crate) fn group_semantics(&mut self, semantics: &mut Semantics) {
        let Some(spec) = self.files.iter().find_map(|(_, file)| file.group.clone()) else { return };
        let Encoding::Groups(groups) = std::mem::take(&mut self.isa.encoding) else { return };
        let local = spec.wires.iter().flat_map(|wires| wires.iter()).count();
        let roles = roles(&groups);
        let own = self.all(|file| &file.operations);
        let texts: HashMap<String, Spanned<String>> =
            own.into_iter().filter_map(|(name, spec)| Some((name.value, spec.does?))).collect();
        for operation in &groups.operations {
            let built = texts.get(&operation.name).and_then(|text| {
                let slot = operation.slots.first().copied();
                self.group_text(text, scope(&self.isa, &groups, &semantics.library, &roles, slot))
            });
            semantics.operations.push(built);
        }
        if let Some(text) = &spec.does {
            let built = self.group_text(text, scope(&self.isa, &groups, &semantics.library, &roles, None));
            let repeats = self.repeats(&spec, &groups);
            let stays: Vec<Stays> = spec.stays.iter().flatten().filter_map(|s| self.stays(s, &groups)).collect();
            if let (Some(operation), Some(repeats)) = (built, repeats) {
                let state = |wire: &str| semantics.library.states.iter().take(local).position(|s| s.name == wire);
                let wires = groups.operands.iter().enumerate().filter_map(|(i, operand)| match &operand.kind {
                    OperandKind::Wire(wire) => Some((i, state(wire)?)),
                    _ => None,
                });
                let wires = wires.collect();
                let (before, mask, [everyone, in_turn]) = self.execution(&spec, &groups, semantics);
                semantics.path =
                    Some(Path { operation, roles, wires, local, repeats, stays, before, mask, everyone, in_turn });
            }
        }
        self.isa.encoding = Encoding::Groups(groups);
    }

    fn group_text(&mut self, text: &Spanned<String>, scope: Scope<'_>) -> Option<Operation> {
        let block = match parse_text(self.sources, text) {
            Ok(block) => block,
            Err(error) => {
                self.out.push(error);
                return None;
            }
        };
        let built = build(&scope, &block, None, self.out)?;
        Some(Operation { text: tidy(&text.value), span: text.span, built })
    }

    fn repeats(&mut self, spec: &GroupSpec, groups: &Groups) -> Option<usize> {
        let header = &groups.choices[groups.slots.first()?.choice];
        match &spec.repeats {
            Some(field) => Resolver::find(self.out, "field of the header", field, fields(header)),
            None => {
                self.one_of(spec.span, "a group with a text", &["repeats"]);
                None
            }
        }
    }

    fn execution(
        &mut self,
        spec: &GroupSpec,
        groups: &Groups,
        semantics: &Semantics,
    ) -> (Option<Operation>, Option<usize>, [Fields; 2]) {
        let (Some(spec), Some(header)) = (&spec.execution, groups.slots.first()) else { return Default::default() };
        let before = spec.before.as_ref().and_then(|text| {
            let mut scope = scope(&self.isa, groups, &semantics.library, &[], None);
            (scope.operands, scope.slots) = (Vec::new(), Vec::new());
            self.group_text(text, scope)
        });
        let states = || semantics.library.states.iter().map(|state| (state.name.as_str(), Some(state.span)));
        let mask = spec.mask.as_ref().and_then(|name| Resolver::find(self.out, "state", name, states()));
        if let (Some(mask), Some(name)) = (mask, &spec.mask) {
            let state = &semantics.library.states[mask];
            if state.ty != Type::BOOL || state.count != 1 {
                let message =
                    format!("`{}` cannot select the lanes that execute a group: it is not a `bool`", state.name);
                self.out.push(Diagnostic::error("E0122", name.span, message).secondary(state.span, "declared here"));
            }
        }
        let mut fields = |given: &Option<Condition>| self.slot_condition(given.as_ref(), header, groups);
        let conditions = [fields(&spec.everyone), fields(&spec.in_turn)];
        (before, mask, conditions.map(Option::unwrap_or_default))
    }

    fn stays(&mut self, spec: &StaysSpec, groups: &Groups) -> Option<Stays> {
        let slot = Resolver::find(self.out, "slot", &spec.slot, slot_names(&groups.slots))?;
        let known = || groups.operands.iter().map(|o| (o.name.as_str(), Some(o.span)));
        let operands: Option<Vec<usize>> =
            spec.operands.iter().map(|name| Resolver::find(self.out, "operand", name, known())).collect();
        let when = self.slot_condition(spec.when.as_ref(), &groups.slots[slot], groups)?;
        let unless = self.slot_condition(spec.unless.as_ref(), &groups.slots[slot], groups)?;
        Some(Stays { operands: operands?, slot, when, unless })
    }

    fn slot_condition(&mut self, given: Option<&Condition>, slot: &Slot, groups: &Groups) -> Option<Fields> {
        let choice = &groups.choices[slot.choice];
        let mut condition = Vec::new();
        for (name, words) in given.iter().flat_map(|c| c.iter()) {
            let field = Resolver::find(self.out, "field of this slot", name, fields(choice))?;
            let values: Option<Vec<i64>> = words.iter().map(|w| self.value_of(&choice.fields[field], w)).collect();
            condition.push((field, values?));
        }
        Some(condition)
    }
}

/// How many consecutive registers a text may read through an operand.
const MAX_REGISTERS: u16 = 4;

/// The names of all roles.
fn roles(groups: &Groups) -> Vec<String> {
    let mut roles: Vec<String> =
        groups.slots.iter().flat_map(|slot| &slot.roles).map(|(role, _)| role.clone()).collect();
    roles.sort();
    roles.dedup();
    roles
}

/// The scope of a text: of an operation in a slot, or of the whole group.
fn scope<'a>(isa: &Isa, groups: &Groups, library: &'a Library, roles: &[String], own: Option<usize>) -> Scope<'a> {
    let mut scope = Scope::new(library);
    let field = |slot: usize, field: usize, name: String, reference: u8| {
        let f = &groups.choices[groups.slots[slot].choice].fields[field];
        ModifierInfo {
            name,
            choices: match f.ty {
                FieldType::Flag => Choices::Flag,
                FieldType::Enum(e) => {
                    let values = &isa.enums[usize::from(e)].values;
                    Choices::Values(values.iter().map(|v| (v.name.clone(), v.bits)).collect())
                }
                _ => Choices::Number(32),
            },
            reference: Modifier::Field(reference, field as u8),
            span: f.span,
        }
    };
    let flag =
        |name: String, choices: Choices, reference: Modifier, span| ModifierInfo { name, choices, reference, span };
    for (i, slot) in groups.slots.iter().enumerate() {
        let names = groups.choices[slot.choice].fields.iter().enumerate();
        if own == Some(i) {
            scope.modifiers.extend(names.clone().map(|(f, info)| field(i, f, info.name.clone(), Token::OWN)));
        }
        let qualified = |name: &str| format!("{}.{name}", slot.name);
        scope.modifiers.extend(names.map(|(f, info)| field(i, f, qualified(&info.name), i as u8)));
        let has = format!("has.{}", slot.name);
        scope.modifiers.push(flag(has, Choices::Flag, Modifier::Present(i as u8), slot.span));
        if own.is_none() {
            scope.slots.push((slot.name.clone(), i as u16));
        }
    }
    for (name, reference) in [("repetition", Modifier::Repetition), ("repetitions", Modifier::Repetitions)] {
        scope.modifiers.push(flag(name.to_owned(), Choices::Number(8), reference, groups.span));
    }
    let operand = |name: &str, span, usable: bool| OperandInfo {
        name: name.to_owned(),
        ty: Type::U32,
        // The register and those that follow it.
        elements: MAX_REGISTERS,
        size_step: 0,
        choices: Choices::Number(32),
        suffixes: Vec::new(),
        partial: Vec::new(),
        reads: usable,
        writes: usable,
        span,
    };
    // Operands keep their indices, so those that only text uses are included.
    for o in &groups.operands {
        let usable = !matches!(o.kind, OperandKind::Select(..));
        scope.operands.push(operand(&o.name, o.span, usable));
    }
    scope.operands.extend(roles.iter().map(|role| operand(role, groups.span, true)));
    scope
}
