//! From syntax trees to graphs: names, types, effects.
//!
//! Functions are expanded, `for` loops are unrolled, and the conditions of effects are collected on the way down.
//! Assignments to operands and states are tracked by name, so that later reads see the assigned values; the writes come
//! last.
//!
//! - here: the builder, blocks and statements, conditions, and the expansion of functions
//! - `assign`: assignments
//! - `convert`: values as typed nodes
//! - `read`: the operands, states and modifiers that a text reads, and the slots and intrinsics that it calls
//!
//! A statement goes to `assign`, or to the expressions of `expr.rs`, which use `read`.

mod assign;
mod convert;
mod read;

use isaforge_core::semantics::{Modifier, NONE, Node, Op, Part, Type};

use super::graph::{Graph, MAX_NODES};
use super::scope::Scope;
use super::syntax::{Block, Expr, Statement};
use super::value::Value;
use crate::diagnostic::{Diagnostic, Diagnostics, EXPANDED};
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
    /// Where the text first reads the value that each operand has before the instruction.
    pub reads: Vec<Option<Span>>,
    /// Whether the text writes each operand.
    pub writes: Vec<bool>,
    /// Whether the text sets each operand aside, with a `let` whose name begins with `_`.
    pub set_aside: Vec<bool>,
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
enum AssignTarget {
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
    pub frame: usize,
    /// The end of the parameters of the function being expanded.
    parameters: usize,
    /// The conditions under which the current statement is executed: a node, and its value.
    path: Vec<(u16, bool)>,
    /// Assigned values with their conditions, in the order of the last assignment to each place.
    assigned: Vec<(AssignTarget, (u16, u16))>,
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
            reads: vec![None; scope.operands.len()],
            writes: vec![false; scope.operands.len()],
            set_aside: vec![false; scope.operands.len()],
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

impl Builder<'_> {
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
            Some(call) if Some(*call) != error.primary => error.secondary(*call, EXPANDED),
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
                        self.built.set_aside[operand] |= name.value.starts_with('_');
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
        self.where_is(condition, true, inner)
    }

    /// Builds something that is executed where a condition has this value.
    pub(super) fn where_is<T>(
        &mut self,
        condition: u16,
        value: bool,
        inner: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.path.push((condition, value));
        let result = inner(self);
        self.path.pop();
        result
    }

    /// The condition under which the current statement is executed, or [`NONE`].
    pub(super) fn when(&mut self) -> u16 {
        let path = self.path.clone();
        path.into_iter().fold(NONE, |all, (condition, value)| {
            let next = match value {
                true => condition,
                false => self.graph.node(Op::Not, 0, Type::BOOL, [condition, NONE, NONE, NONE]),
            };
            match all {
                NONE => next,
                all => self.graph.node(Op::And, 0, Type::BOOL, [all, next, NONE, NONE]),
            }
        })
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
}

fn no_value(span: Span) -> Diagnostic {
    Diagnostic::error("E0126", span, "this name would have no value").label("an effect where a value is needed")
}
