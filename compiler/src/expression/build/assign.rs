//! Assignments to names, operands and states, which are written once the text ends.

use std::collections::{BTreeMap, BTreeSet};

use isaforge_core::semantics::{NONE, Op, Type};

use super::{AssignTarget, Builder, Stop};
use crate::diagnostic::Diagnostic;
use crate::expression::expr::{part, parts_of};
use crate::expression::scope::OperandInfo;
use crate::expression::syntax::{Expr, ExprKind};
use crate::expression::value::Value;
use crate::source::{Span, Spanned};

impl<'a> Builder<'a> {
    // Assignments.

    pub(super) fn assign(&mut self, place: &Expr, value: &Expr) -> Result<(), Stop> {
        self.step(place.span)?;
        match &place.kind {
            ExprKind::Name(name) => {
                if let Some(at) = self.local(name) {
                    // Assigning to a parameter that is an operand assigns to the operand.
                    if let (Value::Operand(operand), true) = (&self.locals[at].1, at < self.parameters) {
                        return self.assign_operand(*operand, 0, place.span, value);
                    }
                    return self.assign_local(at, place.span, value);
                }
                if let Some(operand) = self.scope.operands.iter().position(|o| o.name == *name) {
                    return self.assign_operand(operand, 0, place.span, value);
                }
                match self.scope.library.states.iter().position(|s| s.name == *name) {
                    Some(state) => self.assign_state(state, place, None, value),
                    None => {
                        let error = match self.named(name, place.span)? {
                            Some(_) => cannot_assign(place.span),
                            None => {
                                let help = format!("`let {name} = …` gives a new value a name");
                                self.unknown(name, place.span).help(help)
                            }
                        };
                        Err(self.error(error))
                    }
                }
            }
            ExprKind::Index(of, index) => match self.expression(of, None)? {
                Value::Operand(operand) => {
                    let element = self.whole(index)?;
                    self.assign_operand(operand, element, place.span, value)
                }
                Value::States(state) => {
                    let at = self.node(index, Some(Type::U32))?;
                    self.within(state, at, index.span)?;
                    self.assign_state(state, place, Some(at), value)
                }
                _ => Err(self.error(cannot_assign(place.span))),
            },
            ExprKind::Member(of, name, false) => match self.expression(of, None)? {
                Value::Operand(operand) => self.assign_part(operand, name, place.span, value),
                _ => Err(self.error(cannot_assign(place.span))),
            },
            ExprKind::Call(name, arguments) => self.assign_by_writer(name, arguments, value),
            _ => Err(self.error(cannot_assign(place.span))),
        }
    }

    fn assign_local(&mut self, at: usize, span: Span, value: &Expr) -> Result<(), Stop> {
        let old = self.locals[at].1.clone();
        let old_node = match &old {
            Value::Node(id) => Some(*id),
            _ => None,
        };
        let ty = old_node.map(|id| self.graph.ty(id));
        let new = self.expression(value, ty)?;
        let when = self.when();
        let value = if when == NONE {
            new
        } else {
            let (new, old, ty) = self.unify((&new, value.span), (&old, span), None)?;
            Value::Node(self.graph.node(Op::Select, 0, ty, [when, new, old, NONE]))
        };
        self.locals[at].1 = value;
        Ok(())
    }

    /// Checks that an operand can be assigned, either as a whole or in parts of one size.
    fn written_operand(&mut self, operand: usize, parts: Option<u8>, span: Span) -> Result<&'a OperandInfo, Stop> {
        let info = &self.scope.operands[operand];
        if !info.writes {
            let error = Diagnostic::error("E0126", span, format!("`{}` is read-only", info.name));
            return Err(self.error(error.secondary(info.span, "declared by its `access`")));
        }
        let otherwise = |place: &AssignTarget| match *place {
            AssignTarget::Operand(of, _) => usize::from(of) == operand && parts.is_some(),
            AssignTarget::Part(of, bits, _) => usize::from(of) == operand && parts != Some(bits),
            AssignTarget::State(_) => false,
        };
        if self.assigned.iter().any(|(place, _)| otherwise(place)) {
            let message = format!("`{}` was already assigned, as a whole or in other parts", info.name);
            return Err(self.error(Diagnostic::error("E0126", span, message).help("assign it only one way")));
        }
        Ok(info)
    }

    fn assign_part(&mut self, operand: usize, name: &Spanned<String>, span: Span, value: &Expr) -> Result<(), Stop> {
        let of = self.scope.operands[operand].ty;
        let Some((bits, index)) = part(&name.value, of).filter(|_| self.scope.operands[operand].elements == 1) else {
            let error = Diagnostic::error("E0121", name.span, format!("`{of}` has no part `{}`", name.value));
            let operand = &self.scope.operands[operand].name;
            return Err(self.error(
                error
                    .note(parts_of(of))
                    .help(format!("`{operand}` is the register itself: `{operand} = …` writes all of it")),
            ));
        };
        self.written_operand(operand, Some(bits), span)?;
        let node = self.assigned_value(value, Type::unsigned(bits))?;
        self.built.writes[operand] = true;
        self.set(AssignTarget::Part(operand as u16, bits, index), node);
        Ok(())
    }

    fn assign_operand(&mut self, operand: usize, element: i128, span: Span, value: &Expr) -> Result<(), Stop> {
        let ty = self.written_operand(operand, None, span)?.ty;
        let element = self.element(operand, element, span)?;
        let node = self.assigned_value(value, ty)?;
        self.built.writes[operand] = true;
        self.set(AssignTarget::Operand(operand as u16, element), node);
        Ok(())
    }

    fn assign_state(&mut self, state: usize, place: &Expr, index: Option<u16>, value: &Expr) -> Result<(), Stop> {
        let (ty, count) = (self.scope.library.states[state].ty, self.scope.library.states[state].count);
        if index.is_some() != (count > 1) {
            return Err(self.error(cannot_assign(place.span)));
        }
        let node = self.assigned_value(value, ty)?;
        self.scope.library.usage.borrow_mut().states.insert(state);
        match index {
            None => self.set(AssignTarget::State(state as u16), node),
            Some(index) => {
                let when = self.when();
                self.graph.node(Op::SetState, 0, ty, [state as u16, index, node, when]);
                self.elements.push([state as u16, index, node, when]);
            }
        }
        Ok(())
    }

    fn assigned_value(&mut self, value: &Expr, ty: Type) -> Result<u16, Stop> {
        let found = self.expression(value, Some(ty))?;
        let node = self.node_of(&found, Some(ty), value.span)?;
        let found = self.graph.ty(node);
        if found.size() != ty.size() || found.class == isaforge_core::semantics::Class::Bool && found != ty {
            return Err(self.mismatched(node, ty, value.span));
        }
        // Registers hold bits, so any type of the right size can be assigned.
        Ok(self.bits(node, ty))
    }

    fn set(&mut self, place: AssignTarget, node: u16) {
        let when = self.when();
        let entry = match self.was_assigned(place) {
            _ if when == NONE => (node, NONE),
            None => (node, when),
            Some((old, old_when)) => {
                let ty = self.graph.ty(node);
                let node = self.graph.node(Op::Select, 0, ty, [when, node, old, NONE]);
                let when = match old_when {
                    NONE => NONE,
                    old => self.graph.node(Op::Or, 0, Type::BOOL, [old, when, NONE, NONE]),
                };
                (node, when)
            }
        };
        self.assigned.retain(|(other, _)| *other != place);
        self.assigned.push((place, entry));
    }

    fn was_assigned(&self, place: AssignTarget) -> Option<(u16, u16)> {
        self.assigned.iter().find(|(other, _)| *other == place).map(|(_, entry)| *entry)
    }

    /// Whether a place was assigned wherever the current statement is executed.
    pub(super) fn is_assigned_here(&self, place: AssignTarget) -> bool {
        self.was_assigned(place).is_some_and(|(_, when)| when == NONE || self.holds_here(when))
    }

    /// Whether a condition follows from those of the current statement; also if that takes long to decide.
    fn holds_here(&self, condition: u16) -> bool {
        const MAX_CONDITIONS: usize = 32;
        const MAX_ATOMS: usize = 6;
        let node = |at: u16| &self.graph.nodes[usize::from(at)];
        let (mut known, mut atoms) = (BTreeSet::new(), Vec::new());
        let mut open: Vec<u16> = self.path.iter().map(|(condition, _)| *condition).chain([condition]).collect();
        while let Some(at) = open.pop() {
            if !known.insert(at) {
                continue;
            }
            match node(at).op {
                Op::Not => open.push(node(at).args[0]),
                Op::And | Op::Or => open.extend(&node(at).args[..2]),
                _ => atoms.push(at),
            }
            if known.len() > MAX_CONDITIONS || atoms.len() > MAX_ATOMS {
                return true;
            }
        }
        // Arguments precede the nodes that they belong to.
        (0..1u32 << atoms.len()).all(|chosen| {
            let mut holds: BTreeMap<u16, bool> = (0..).zip(&atoms).map(|(i, at)| (*at, chosen >> i & 1 != 0)).collect();
            for at in &known {
                let [a, b] = [0, 1].map(|k| holds.get(&node(*at).args[k]).copied().unwrap_or(false));
                match node(*at).op {
                    Op::Not => drop(holds.insert(*at, !a)),
                    Op::And => drop(holds.insert(*at, a && b)),
                    Op::Or => drop(holds.insert(*at, a || b)),
                    _ => {}
                }
            }
            self.path.iter().any(|(at, value)| holds[at] != *value) || holds[&condition]
        })
    }

    /// The current value of a place that held `original` at the start.
    pub(super) fn forwarded(&mut self, place: AssignTarget, original: u16) -> u16 {
        match self.was_assigned(place) {
            None => original,
            Some((node, NONE)) => node,
            Some((node, when)) => {
                let ty = self.graph.ty(node);
                self.graph.node(Op::Select, 0, ty, [when, node, original, NONE])
            }
        }
    }

    pub(super) fn write_out(&mut self) {
        self.elements.clear();
        for (place, (node, when)) in std::mem::take(&mut self.assigned) {
            let ty = self.graph.ty(node);
            match place {
                AssignTarget::Operand(operand, element) => {
                    self.graph.node(Op::Write, 0, ty, [operand, element, node, when]);
                }
                AssignTarget::Part(operand, _, index) => {
                    self.graph.node(Op::Write, 0, ty, [operand, index, node, when]);
                }
                AssignTarget::State(state) => {
                    self.graph.node(Op::SetState, 0, ty, [state, NONE, node, when]);
                }
            }
        }
    }

    fn assign_by_writer(&mut self, name: &Spanned<String>, arguments: &[Expr], value: &Expr) -> Result<(), Stop> {
        let Some(function) = self.scope.library.writers.get(&name.value) else {
            let error = Diagnostic::error("E0121", name.span, format!("no writer named `{}`", name.value));
            let near = crate::suggest::did_you_mean(&name.value, self.scope.library.writers.keys().map(String::as_str));
            return Err(self.error(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("a writer is a function with `= value` after its parameters"),
            }));
        };
        if arguments.len() + 1 != function.parameters.len() {
            let wanted = function.parameters.len() - 1;
            let message = format!("`{}` takes {wanted} arguments, found {}", name.value, arguments.len());
            let error = Diagnostic::error("E0123", name.span, message).secondary(function.span, "defined here");
            return Err(self.error(error));
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            values.push(self.expression(argument, None)?);
        }
        values.push(self.expression(value, None)?);
        match self.expand(name, function, values, None)? {
            Value::Nothing => Ok(()),
            _ => Err(self.error(Diagnostic::error("E0126", function.span, "a writer must not end with a value"))),
        }
    }
}

fn cannot_assign(span: Span) -> Diagnostic {
    Diagnostic::error("E0126", span, "this cannot be assigned to")
        .help("only operands, states, `let` names and calls of writers can")
}
