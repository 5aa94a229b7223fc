//! From syntax trees to graphs: names, types, effects.
//!
//! Functions are expanded, `for` loops are unrolled, and the conditions of effects are collected on the way down.
//! Assignments to operands and states are tracked by name, so that later reads see the assigned values; the writes come
//! last.

use isaforge_core::semantics::{Comparison, Modifier, NONE, Node, Op, Part, Type};

use super::expr::part;
use super::graph::{Graph, MAX_NODES};
use super::scope::{ModifierInfo, OperandInfo, Scope};
use super::syntax::{Block, Expr, ExprKind, Statement};
use super::value::Value;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};

/// The maximum nesting of function calls.
const MAX_CALLS: usize = 32;
/// The maximum number of expressions in a text after functions are expanded.
const MAX_STEPS: usize = 200_000;
/// The maximum number of repetitions of a `for` loop.
pub(super) const MAX_REPEATS: i128 = 256;

/// The graph of a text.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The nodes in evaluation order.
    pub nodes: Vec<Node>,
    /// The arguments of nodes with more arguments than fit into a node.
    pub lists: Vec<u16>,
    /// The constants.
    pub constants: Vec<u64>,
    /// The modifiers used in the text.
    pub modifiers: Vec<Modifier>,
    /// The intrinsics used in the text, in ascending order.
    pub intrinsics: Vec<u16>,
    /// Whether the text reads each operand.
    pub reads: Vec<bool>,
    /// Whether the text writes each operand.
    pub writes: Vec<bool>,
    /// The node with the text's value, if it has one.
    pub value: Option<u16>,
}

/// Why building stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// A mistake, which is already reported.
    Reported,
    /// The type of a literal is not known yet.
    NeedsType(Span),
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Operand(u16, u16),
    /// A part of an operand: operand, width in bits, index.
    Part(u16, u8, u16),
    State(u16),
}

pub(super) struct Builder<'a> {
    pub scope: &'a Scope<'a>,
    pub out: &'a mut Diagnostics,
    pub graph: Graph,
    /// Names of `let`, `for` and parameters; those below `frame` belong to the callers.
    pub locals: Vec<(String, Value)>,
    frame: usize,
    /// The end of the parameters of the function being expanded.
    parameters: usize,
    /// The conditions under which the current statement is executed.
    path: Vec<u16>,
    /// Assigned values with their conditions, in the order of the last assignment to each place.
    assigned: Vec<(Place, (u16, u16))>,
    /// Assignments to elements of states: state, index of the element, value, condition.
    elements: Vec<[u16; 4]>,
    calls: Vec<Span>,
    steps: usize,
    built: Built,
}

/// Builds the graph of a text. If `result` is given, the text must end with a value of this type; otherwise it must
/// have none.
///
/// Returns `None` when the text has a mistake, which is then reported.
pub fn build(scope: &Scope<'_>, text: &Block, result: Option<Type>, out: &mut Diagnostics) -> Option<Built> {
    let mut builder = Builder {
        scope,
        out,
        graph: Graph::default(),
        locals: Vec::new(),
        frame: 0,
        parameters: 0,
        path: Vec::new(),
        assigned: Vec::new(),
        elements: Vec::new(),
        calls: Vec::new(),
        steps: 0,
        built: Built {
            reads: vec![false; scope.operands.len()],
            writes: vec![false; scope.operands.len()],
            ..Built::default()
        },
    };
    match builder.text(text, result) {
        Ok(()) => Some(builder.finish()),
        Err(Stop::Reported) => None,
        Err(Stop::NeedsType(span)) => {
            builder.needs_type(span);
            None
        }
    }
}

impl<'a> Builder<'a> {
    fn text(&mut self, text: &Block, result: Option<Type>) -> Result<(), Stop> {
        let value = self.block(text, result)?;
        match (result, value) {
            (Some(ty), value) => {
                let span = text.value.as_ref().map_or(text.span, |value| value.span);
                self.built.value = Some(self.typed(&value, ty, span)?);
            }
            (None, Value::Nothing) => {}
            (None, _) => {
                let span = text.value.as_ref().map_or(text.span, |value| value.span);
                let error = Diagnostic::error("E0126", span, "this value is never used");
                return Err(self.error(error.help("assign it: `operand = …`")));
            }
        }
        self.write_out();
        self.whole_stores(text.span)
    }

    /// Checks that every partial store is followed by the one that completes its access; otherwise no data would be
    /// stored.
    fn whole_stores(&mut self, text: Span) -> Result<(), Stop> {
        let stores = self.graph.nodes.iter().filter(|node| node.op == Op::Store);
        let parts: Vec<(&Node, Part)> = stores.filter_map(|node| Some((node, Part::of(node.imm)?))).collect();
        let ends = |(node, part): &(&Node, Part)| u32::from(part.from) + node.ty.size() / 8 == u32::from(part.size);
        let access = |(node, part): &(&Node, Part)| (node.imm & 0xff, node.args[0], node.args[2], part.size);
        let open = parts.iter().enumerate().any(|(at, found)| {
            let mut rest = parts[at..].iter();
            !rest.any(|other| access(other) == access(found) && ends(other))
        });
        if open {
            let error = Diagnostic::error("E0125", text, "a store of parts does not reach the end of its access");
            return Err(self.error(error.help("store the parts one after another, under one condition, to the last")));
        }
        Ok(())
    }

    fn finish(self) -> Built {
        let Graph { nodes, lists, constants, modifiers, .. } = self.graph;
        let mut built = Built { nodes, lists, constants, modifiers, ..self.built };
        built.intrinsics.sort_unstable();
        built.intrinsics.dedup();
        built
    }

    pub(super) fn error(&mut self, error: Diagnostic) -> Stop {
        let error = match self.calls.first() {
            Some(call) if Some(*call) != error.primary => error.secondary(*call, "expanded from here"),
            _ => error,
        };
        self.out.push(error);
        Stop::Reported
    }

    pub(super) fn needs_type(&mut self, span: Span) -> Stop {
        let error = Diagnostic::error("E0122", span, "the type of this number is unknown");
        self.error(error.help("annotate it: `1 as u32`"))
    }

    /// Counts a step and checks the size of the graph.
    pub(super) fn step(&mut self, span: Span) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps <= MAX_STEPS && !self.graph.is_full() {
            return Ok(());
        }
        let message = format!("this expands to more than {MAX_NODES} operations");
        Err(self.error(Diagnostic::error("E0127", span, message)))
    }

    /// Refuses to build an expression again with its type known, if the first attempt produced effects.
    pub(super) fn again(&mut self, first: usize, place: Span) -> Result<(), Stop> {
        if self.graph.nodes[first..].iter().any(|node| node.op.is_effect()) {
            return Err(self.needs_type(place));
        }
        Ok(())
    }

    // Blocks and statements.

    pub(super) fn block(&mut self, block: &Block, expected: Option<Type>) -> Result<Value, Stop> {
        let names = self.locals.len();
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let value = match &block.value {
            Some(value) => self.expression(value, expected)?,
            None => Value::Nothing,
        };
        self.locals.truncate(names);
        Ok(value)
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Stop> {
        match statement {
            Statement::Let(name, value) => {
                let value = self.expression(value, None)?;
                // Operands are read immediately: a later write must not change the value of the name.
                let value = match value {
                    Value::Nothing => return Err(self.error(no_value(name.span))),
                    Value::Operand(operand) if self.scope.operands[operand].elements == 1 => {
                        Value::Node(self.read_operand(operand, 0, name.span)?)
                    }
                    value => value,
                };
                self.locals.push((name.value.clone(), value));
                Ok(())
            }
            Statement::Assign(place, value) => self.assign(place, value),
            Statement::For(name, from, to, body) => {
                for i in self.range(from, to)? {
                    self.locals.push((name.value.clone(), Value::Int(i)));
                    self.block(body, None)?;
                    self.locals.pop();
                }
                Ok(())
            }
            Statement::Do(expression) => match self.expression(expression, None)? {
                Value::Nothing => Ok(()),
                _ => {
                    let error = Diagnostic::error("E0126", expression.span, "this value is never used");
                    Err(self.error(error.help("assign it, or remove it")))
                }
            },
        }
    }

    pub(super) fn range(&mut self, from: &Expr, to: &Expr) -> Result<std::ops::Range<i128>, Stop> {
        let (first, last) = (self.whole(from)?, self.whole(to)?);
        if last - first > MAX_REPEATS {
            let message = format!("`for` repeats at most {MAX_REPEATS} times");
            return Err(self.error(Diagnostic::error("E0127", to.span, message)));
        }
        Ok(first..last)
    }

    /// Evaluates an expression to a number that is known at compile time.
    pub(super) fn whole(&mut self, expression: &Expr) -> Result<i128, Stop> {
        match self.expression(expression, None)? {
            Value::Int(number) => Ok(number),
            _ => {
                let error = Diagnostic::error("E0122", expression.span, "expected a number that is known in advance");
                Err(self.error(error.help("write a literal, or the number of a `for`")))
            }
        }
    }

    // Conditions.

    /// Builds something that is executed under a condition.
    pub(super) fn under<T>(
        &mut self,
        condition: u16,
        inner: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.path.push(condition);
        let result = inner(self);
        self.path.pop();
        result
    }

    /// The condition under which the current statement is executed, or [`NONE`].
    pub(super) fn when(&mut self) -> u16 {
        let path = self.path.clone();
        path.into_iter().fold(NONE, |all, next| match all {
            NONE => next,
            all => self.graph.node(Op::And, 0, Type::BOOL, [all, next, NONE, NONE]),
        })
    }

    // Assignments.

    fn assign(&mut self, place: &Expr, value: &Expr) -> Result<(), Stop> {
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
                    let index = self.expression(index, Some(Type::U32))?;
                    self.assign_state(state, place, Some((index, of.span)), value)
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
        let otherwise = |place: &Place| match *place {
            Place::Operand(of, _) => usize::from(of) == operand && parts.is_some(),
            Place::Part(of, bits, _) => usize::from(of) == operand && parts != Some(bits),
            Place::State(_) => false,
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
                    .note("parts are `b0` to `b7`, `h0` to `h3`, `w0` and `w1`")
                    .help(format!("`{operand}` is the register itself: `{operand} = …` writes all of it")),
            ));
        };
        self.written_operand(operand, Some(bits), span)?;
        let node = self.assigned_value(value, Type::unsigned(bits))?;
        self.built.writes[operand] = true;
        self.set(Place::Part(operand as u16, bits, index), node);
        Ok(())
    }

    fn assign_operand(&mut self, operand: usize, element: i128, span: Span, value: &Expr) -> Result<(), Stop> {
        let ty = self.written_operand(operand, None, span)?.ty;
        let element = self.element(operand, element, span)?;
        let node = self.assigned_value(value, ty)?;
        self.built.writes[operand] = true;
        self.set(Place::Operand(operand as u16, element), node);
        Ok(())
    }

    fn assign_state(
        &mut self,
        state: usize,
        place: &Expr,
        index: Option<(Value, Span)>,
        value: &Expr,
    ) -> Result<(), Stop> {
        let (ty, count) = (self.scope.library.states[state].ty, self.scope.library.states[state].count);
        let index = match index {
            None if count == 1 => None,
            Some((index, span)) if count > 1 => Some(self.node_of(&index, Some(Type::U32), span)?),
            _ => return Err(self.error(cannot_assign(place.span))),
        };
        let node = self.assigned_value(value, ty)?;
        self.scope.library.usage.borrow_mut().states.insert(state);
        match index {
            None => self.set(Place::State(state as u16), node),
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
            return Err(self.mismatch(value.span, ty, found));
        }
        // Registers hold bits, so any type of the right size can be assigned.
        Ok(self.bits(node, ty))
    }

    fn set(&mut self, place: Place, node: u16) {
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

    fn was_assigned(&self, place: Place) -> Option<(u16, u16)> {
        self.assigned.iter().find(|(other, _)| *other == place).map(|(_, entry)| *entry)
    }

    /// The current value of a place that held `original` at the start.
    fn forwarded(&mut self, place: Place, original: u16) -> u16 {
        match self.was_assigned(place) {
            None => original,
            Some((node, NONE)) => node,
            Some((node, when)) => {
                let ty = self.graph.ty(node);
                self.graph.node(Op::Select, 0, ty, [when, node, original, NONE])
            }
        }
    }

    fn write_out(&mut self) {
        self.elements.clear();
        for (place, (node, when)) in std::mem::take(&mut self.assigned) {
            let ty = self.graph.ty(node);
            match place {
                Place::Operand(operand, element) => {
                    self.graph.node(Op::Write, 0, ty, [operand, element, node, when]);
                }
                Place::Part(operand, _, index) => {
                    self.graph.node(Op::Write, 0, ty, [operand, index, node, when]);
                }
                Place::State(state) => {
                    self.graph.node(Op::SetState, 0, ty, [state, NONE, node, when]);
                }
            }
        }
    }

    // Reads.

    fn element(&mut self, operand: usize, element: i128, span: Span) -> Result<u16, Stop> {
        let info = &self.scope.operands[operand];
        if let Some(element) = u16::try_from(element).ok().filter(|element| *element < info.elements) {
            return Ok(element);
        }
        let message = format!("`{}` has {} elements, counted from 0", info.name, info.elements);
        Err(self.error(Diagnostic::error("E0125", span, message)))
    }

    pub(super) fn read_operand(&mut self, operand: usize, element: i128, span: Span) -> Result<u16, Stop> {
        let info = &self.scope.operands[operand];
        let element = self.element(operand, element, span)?;
        let place = Place::Operand(operand as u16, element);
        let is_part = |place: &Place| matches!(place, Place::Part(of, ..) if usize::from(*of) == operand);
        if self.assigned.iter().any(|(place, _)| is_part(place)) {
            let message = format!("`{}` is read after a part of it was assigned", info.name);
            return Err(self.error(Diagnostic::error("E0126", span, message).help("read it before: `let old = …`")));
        }
        self.built.reads[operand] = true;
        let original = self.graph.node(Op::Operand, 0, info.ty, [operand as u16, element, NONE, NONE]);
        Ok(self.forwarded(place, original))
    }

    /// Reads the first element of an operand as a type of another size.
    pub(super) fn read_operand_as(&mut self, operand: usize, ty: Type) -> u16 {
        self.built.reads[operand] = true;
        self.graph.node(Op::Operand, 0, ty, [operand as u16, 0, NONE, NONE])
    }

    pub(super) fn read_state(&mut self, state: usize, index: Option<u16>) -> u16 {
        let info = &self.scope.library.states[state];
        self.scope.library.usage.borrow_mut().states.insert(state);
        let original = self.graph.node(Op::State, 0, info.ty, [state as u16, index.unwrap_or(NONE), NONE, NONE]);
        match index {
            Some(index) => self.forwarded_element(state as u16, index, original),
            None => self.forwarded(Place::State(state as u16), original),
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
    pub(super) fn pass_operand(&mut self, operand: usize) -> u16 {
        let info: &OperandInfo = &self.scope.operands[operand];
        self.built.reads[operand] |= info.reads;
        self.built.writes[operand] |= info.writes;
        self.graph.constant(Type::unsigned(16), operand as u64)
    }

    /// Executes the operations in a slot of a group. They see earlier assignments and may change the assigned values.
    pub(super) fn call_slot(&mut self, slot: u16) {
        self.write_out();
        let when = self.when();
        self.graph.node(Op::Slot, slot, Type::BOOL, [when, NONE, NONE, NONE]);
        self.graph.forget_reads();
    }

    pub(super) fn use_intrinsic(&mut self, intrinsic: usize) {
        self.scope.library.usage.borrow_mut().intrinsics.insert(intrinsic);
        self.built.intrinsics.push(intrinsic as u16);
    }

    // Modifiers.

    pub(super) fn modifier_info(&self, value: &Value) -> &'a ModifierInfo {
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
    pub(super) fn is(&mut self, modifier: &Value, values: &[u64]) -> u16 {
        let modifier = self.modifier(modifier);
        let values: Vec<u16> = values.iter().map(|value| *value as u16).collect();
        self.graph.with_list(Op::Is, 0, Type::BOOL, [modifier, NONE, NONE, NONE], &values)
    }

    /// The value of the arm that a modifier selects.
    pub(super) fn pick(&mut self, modifier: &Value, ty: Type, arms: &[(Vec<u64>, u16)]) -> u16 {
        let modifier = self.modifier(modifier);
        let mut list: Vec<u16> = Vec::new();
        for (values, node) in arms {
            list.extend(values.iter().flat_map(|value| [*value as u16, *node]));
        }
        self.graph.with_list(Op::Pick, 0, ty, [modifier, NONE, NONE, NONE], &list)
    }

    pub(super) fn modifier_bits(&mut self, value: &Value) -> u16 {
        let modifier = self.modifier(value);
        self.graph.node(Op::Modifier, 0, Type::U32, [modifier, NONE, NONE, NONE])
    }

    // Calls of functions with a text.

    pub(super) fn local(&self, name: &str) -> Option<usize> {
        let found = self.locals[self.frame..].iter().rposition(|(local, _)| local == name)?;
        Some(self.frame + found)
    }

    /// Expands a function or a writer.
    pub(super) fn expand(
        &mut self,
        name: &Spanned<String>,
        function: &super::Function,
        arguments: Vec<Value>,
        expected: Option<Type>,
    ) -> Result<Value, Stop> {
        if self.calls.len() == MAX_CALLS {
            let error = Diagnostic::error("E0127", name.span, format!("function calls nest deeper than {MAX_CALLS}"));
            return Err(self.error(error.help("a function cannot call itself")));
        }
        self.scope.library.usage.borrow_mut().functions.insert(function.span);
        let (frame, parameters, names) = (self.frame, self.parameters, self.locals.len());
        self.frame = names;
        self.locals.extend(function.parameters.iter().cloned().zip(arguments));
        self.parameters = self.locals.len();
        self.calls.push(name.span);
        let result = self.block(&function.body, expected);
        self.calls.pop();
        self.locals.truncate(names);
        (self.frame, self.parameters) = (frame, parameters);
        result
    }

    pub(super) fn in_function(&self) -> bool {
        !self.calls.is_empty()
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

fn no_value(span: Span) -> Diagnostic {
    Diagnostic::error("E0126", span, "this name would have no value").label("an effect where a value is needed")
}

fn cannot_assign(span: Span) -> Diagnostic {
    Diagnostic::error("E0126", span, "this cannot be assigned to")
        .help("only operands, states, `let` names and calls of writers can")
}
