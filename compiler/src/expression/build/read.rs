//! What a text reads (operands, states, modifiers), and the slots and intrinsics that it calls.

use isaforge_core::semantics::{Comparison, NONE, Op, Type};

use super::{AssignTarget, Builder, Stop};
use crate::diagnostic::Diagnostic;
use crate::expression::scope::{ModifierInfo, OperandInfo};
use crate::expression::value::Value;
use crate::source::Span;

impl<'a> Builder<'a> {
    // Reads.

    pub(super) fn element(&mut self, operand: usize, element: i128, span: Span) -> Result<u16, Stop> {
        let info = &self.scope.operands[operand];
        if let Some(element) = u16::try_from(element).ok().filter(|element| *element < info.elements) {
            return Ok(element);
        }
        let message = format!("`{}` has {} elements, counted from 0", info.name, info.elements);
        Err(self.error(Diagnostic::error("E0125", span, message)))
    }

    pub(in crate::expression) fn read_operand(
        &mut self,
        operand: usize,
        element: i128,
        span: Span,
    ) -> Result<u16, Stop> {
        let info = &self.scope.operands[operand];
        let element = self.element(operand, element, span)?;
        let place = AssignTarget::Operand(operand as u16, element);
        let is_part = |place: &AssignTarget| matches!(place, AssignTarget::Part(of, ..) if usize::from(*of) == operand);
        if self.assigned.iter().any(|(place, _)| is_part(place)) {
            let message = format!("`{}` is read after a part of it was assigned", info.name);
            return Err(self.error(Diagnostic::error("E0126", span, message).help("read it before: `let old = …`")));
        }
        if !self.is_assigned_here(place) {
            self.note_read(operand, span);
        }
        let original = self.graph.node(Op::Operand, 0, info.ty, [operand as u16, element, NONE, NONE]);
        Ok(self.forwarded(place, original))
    }

    /// Reads the first element of an operand as a type of another size.
    pub(in crate::expression) fn read_operand_as(&mut self, operand: usize, ty: Type, span: Span) -> u16 {
        self.note_read(operand, span);
        self.graph.node(Op::Operand, 0, ty, [operand as u16, 0, NONE, NONE])
    }

    /// Notes the first place that reads the value which an operand has before the instruction.
    fn note_read(&mut self, operand: usize, span: Span) {
        self.built.reads[operand].get_or_insert(span);
    }

    pub(in crate::expression) fn read_state(&mut self, state: usize, index: Option<u16>) -> u16 {
        let info = &self.scope.library.states[state];
        self.scope.library.usage.borrow_mut().states.insert(state);
        let ty = info.ty;
        let read = |s: &mut Self, at| s.graph.node(Op::State, 0, ty, [state as u16, at, NONE, NONE]);
        match index {
            Some(index) => {
                let at = self.guarded(index);
                let original = read(self, at);
                self.forwarded_element(state as u16, index, original)
            }
            None => {
                let original = read(self, NONE);
                self.forwarded(AssignTarget::State(state as u16), original)
            }
        }
    }

    /// Checks that a constant index is that of an element, unless nothing is executed here.
    pub(in crate::expression) fn within(&mut self, state: usize, index: u16, span: Span) -> Result<(), Stop> {
        let info = &self.scope.library.states[state];
        let Some(number) = self.graph.number(index).filter(|number| *number >= info.count.into()) else {
            return Ok(());
        };
        if self.path.iter().any(|(condition, value)| self.graph.truth(*condition) == Some(!value)) {
            return Ok(());
        }
        let message = format!("`{}` has {} elements, counted from 0", info.name, info.count);
        let error = Diagnostic::error("E0125", span, message).label(format!("element {number}"));
        Err(self.error(error.secondary(info.span, "declared here")))
    }

    /// An index that is 0 where the current statement is not executed: there it may be beyond the last element.
    fn guarded(&mut self, index: u16) -> u16 {
        match self.when() {
            NONE => index,
            _ if self.graph.nodes.get(usize::from(index)).is_some_and(|node| node.op == Op::Const) => index,
            when => {
                let ty = self.graph.ty(index);
                let zero = self.graph.constant(ty, 0);
                self.graph.node(Op::Select, 0, ty, [when, index, zero, NONE])
            }
        }
    }

    /// Like [`forwarded`](Self::forwarded) for the element of a state: whether it was assigned may depend on the
    /// indices of elements.
    fn forwarded_element(&mut self, state: u16, index: u16, original: u16) -> u16 {
        let mut value = original;
        for [of, element, node, when] in self.elements.clone() {
            if of != state {
                continue;
            }
            let ty = self.graph.ty(node);
            let same = self.same_element(element, index);
            value = match (same, when) {
                (None, NONE) => node,
                (Some(condition), NONE) | (None, condition) => {
                    self.graph.node(Op::Select, 0, ty, [condition, node, value, NONE])
                }
                (Some(same), when) => {
                    let both = self.graph.node(Op::And, 0, Type::BOOL, [same, when, NONE, NONE]);
                    self.graph.node(Op::Select, 0, ty, [both, node, value, NONE])
                }
            };
        }
        value
    }

    /// Whether two element indices are equal; `None` if they are known to be.
    fn same_element(&mut self, a: u16, b: u16) -> Option<u16> {
        if a == b {
            return None;
        }
        let [a, b] = [a, b].map(|number| {
            let ty = self.graph.ty(number);
            let bits = self.bits(number, Type::unsigned(ty.size() as u8));
            if ty.size() == 64 { bits } else { self.graph.node(Op::Zext, 0, Type::U64, [bits, NONE, NONE, NONE]) }
        });
        Some(self.graph.node(Op::Compare, Comparison::Equal as u16, Type::BOOL, [a, b, NONE, NONE]))
    }

    /// Passes an operand as an argument of an intrinsic, which may read and write it.
    pub(in crate::expression) fn pass_operand(&mut self, operand: usize, span: Span) -> u16 {
        let info: &OperandInfo = &self.scope.operands[operand];
        if info.reads {
            self.note_read(operand, span);
        }
        self.built.writes[operand] |= info.writes;
        self.graph.constant(Type::unsigned(16), operand as u64)
    }

    /// Executes the operations in a slot of a group. They see earlier assignments and may change the assigned values.
    pub(in crate::expression) fn call_slot(&mut self, slot: u16) {
        self.write_out();
        let when = self.when();
        self.graph.node(Op::Slot, slot, Type::BOOL, [when, NONE, NONE, NONE]);
        self.graph.forget_reads();
    }

    pub(in crate::expression) fn use_intrinsic(&mut self, intrinsic: usize) {
        self.scope.library.usage.borrow_mut().intrinsics.insert(intrinsic);
        self.built.intrinsics.push(intrinsic as u16);
    }

    // Modifiers.

    pub(in crate::expression) fn modifier_info(&self, value: &Value) -> &'a ModifierInfo {
        match value {
            Value::Suffix(operand, suffix) => &self.scope.operands[*operand].suffixes[*suffix],
            Value::Modifier(modifier) => &self.scope.modifiers[*modifier],
            // Callers have checked what kind of value it is.
            _ => unreachable!("only modifiers have values to choose by"),
        }
    }

    /// The index of a modifier in the graph.
    fn modifier(&mut self, value: &Value) -> u16 {
        let reference = self.modifier_info(value).reference;
        self.graph.modifier(reference)
    }

    /// Whether a modifier has one of these values.
    pub(in crate::expression) fn is(&mut self, modifier: &Value, values: &[u64]) -> u16 {
        let modifier = self.modifier(modifier);
        let values: Vec<u16> = values.iter().map(|value| *value as u16).collect();
        self.graph.with_list(Op::Is, 0, Type::BOOL, [modifier, NONE, NONE, NONE], &values)
    }

    /// The value of the arm that a modifier selects.
    pub(in crate::expression) fn pick(&mut self, modifier: &Value, ty: Type, arms: &[(Vec<u64>, u16)]) -> u16 {
        let modifier = self.modifier(modifier);
        let mut list: Vec<u16> = Vec::new();
        for (values, node) in arms {
            list.extend(values.iter().flat_map(|value| [*value as u16, *node]));
        }
        self.graph.with_list(Op::Pick, 0, ty, [modifier, NONE, NONE, NONE], &list)
    }

    pub(in crate::expression) fn modifier_bits(&mut self, value: &Value) -> u16 {
        let modifier = self.modifier(value);
        self.graph.node(Op::Modifier, 0, Type::U32, [modifier, NONE, NONE, NONE])
    }
}
