//! Layouts of a leaf: one for each alternative of its display.
//!
//! [`bits`] assigns fields to runs of bits, [`text`] generates the text, and [`remarks`] adds the remarks of a decoder.

mod bits;
mod remarks;
mod text;

use std::collections::HashMap;

use isaforge_core::stream::{Input, MAX_FIELDS, MAX_NODES, Notation, Role};

use super::c::{C, Operator};
use super::context::{Context, Parameter};
use super::document::{Bitset, Case, Field, Source as Defined};
use super::graph::{Graph, Value};
use super::hierarchy::Leaf;
use crate::source::{Span, Spanned};
use crate::stream::model::{self, Expr, Layout, Source, Type};

/// The maximum number of values evaluated for one layout.
const MAX_STEPS: usize = 50_000;
/// The maximum nesting of references between expressions.
const MAX_DEPTH: usize = 32;

/// A layout without contents.
pub(super) fn blank(leaf: &Leaf<'_>, opcode: usize) -> Layout {
    let layout = Layout::new(&leaf.bitset().name, opcode, leaf.bits, Role::Own);
    Layout { since: leaf.since, until: leaf.until, ..layout }
}

/// The layouts of a leaf, in the order of trying.
pub(super) fn layouts<'d>(
    context: &mut Context<'d, '_>,
    leaf: &Leaf<'d>,
    parameters: &[Parameter],
    opcode: usize,
) -> Vec<Layout> {
    let mut layouts = Vec::new();
    let mut passed: Vec<&Spanned<String>> = Vec::new();
    for (level, bitset) in leaf.chain.iter().enumerate() {
        let cases = bitset.overrides.iter().chain([&bitset.plain]);
        for (number, case) in cases.enumerate() {
            let Some(display) = &case.display else { continue };
            if !context.count_layout(bitset.name.span) {
                return layouts;
            }
            // The preferred meaning of an ambiguous text is tried before all others.
            let preferences = context.preferences(leaf);
            for (k, preference) in preferences.iter().enumerate() {
                let before: Vec<&Spanned<String>> = passed.iter().copied().chain(&preferences[..k]).collect();
                let mut builder = Builder::new(context, leaf, parameters, opcode);
                if builder.choose(&before, case) != Some(false) && builder.demand(preference) {
                    builder.write(level, number, Some(display));
                    layouts.push(builder.finish());
                }
            }
            let before: Vec<&Spanned<String>> = passed.iter().copied().chain(&preferences).collect();
            let mut builder = Builder::new(context, leaf, parameters, opcode);
            let chosen = builder.choose(&before, case);
            if chosen != Some(false) {
                builder.write(level, number, Some(display));
                layouts.push(builder.finish());
            }
            // No layout is reached after a condition that always holds.
            if chosen == Some(true) {
                return layouts;
            }
            passed.extend(&case.expression);
        }
    }
    if context.count_layout(leaf.bitset().name.span) {
        let mut builder = Builder::new(context, leaf, parameters, opcode);
        builder.choose(&passed, &Case::default());
        builder.write(leaf.chain.len(), 0, None);
        layouts.push(builder.finish());
    }
    layouts
}

/// The use of a bit in the layout.
#[derive(Clone, Copy)]
enum Owner {
    Free,
    Fixed(bool),
    /// A bit of a field.
    Field(usize, u16),
}

/// What a name refers to.
#[derive(Clone, Copy)]
enum Found<'d> {
    Field(&'d Field),
    Parameter(usize),
}

pub(super) struct Builder<'c, 'd, 'o> {
    pub context: &'c mut Context<'d, 'o>,
    pub leaf: &'c Leaf<'d>,
    parameters: &'c [Parameter],
    pub layout: Layout,
    owners: Vec<Owner>,
    /// Fields of the document, by address.
    fields: HashMap<*const Field, usize>,
    outer: HashMap<usize, usize>,
    /// Expressions with known values, by the place of their definition.
    truths: HashMap<Span, bool>,
    /// Expressions being evaluated.
    stack: Vec<Span>,
    /// Names used in the expression of an alternative that do not exist.
    missing: Vec<String>,
    steps: usize,
}

impl<'c, 'd, 'o> Builder<'c, 'd, 'o> {
    fn new(context: &'c mut Context<'d, 'o>, leaf: &'c Leaf<'d>, parameters: &'c [Parameter], opcode: usize) -> Self {
        let mut layout = blank(leaf, opcode);
        (layout.mask, layout.value) = (leaf.mask, leaf.value);
        (layout.fixed_mask, layout.fixed_value) = (leaf.mask, leaf.value);
        let owner = |bit| match leaf.mask.get(bit, 1) {
            0 => Owner::Free,
            _ => Owner::Fixed(leaf.value.get(bit, 1) != 0),
        };
        Builder {
            context,
            leaf,
            parameters,
            layout,
            owners: (0..u32::from(leaf.bits)).map(owner).collect(),
            fields: HashMap::new(),
            outer: HashMap::new(),
            truths: HashMap::new(),
            stack: Vec::new(),
            missing: Vec::new(),
            steps: 0,
        }
    }

    /// Selects the case of a layout: earlier cases do not hold. Returns whether it always or never holds, if that is
    /// known.
    fn choose(&mut self, passed: &[&Spanned<String>], case: &Case) -> Option<bool> {
        for text in passed {
            let Some((span, _)) = self.context.expression(text) else { continue };
            if self.truths.contains_key(&span) {
                continue;
            }
            let mut graph = Graph::default();
            let value = self.decided(&mut graph, text);
            self.truths.insert(span, false);
            if graph.constant(value).is_none() {
                let expr = self.finished(graph, value, text);
                self.layout.otherwise.push(expr);
            }
        }
        let Some(text) = &case.expression else { return Some(true) };
        let (span, _) = self.context.expression(text)?;
        if let Some(known) = self.truths.get(&span) {
            return Some(*known);
        }
        let mut graph = Graph::default();
        let value = self.decided(&mut graph, text);
        let constant = graph.constant(value);
        self.truths.insert(span, true);
        if constant.is_none() {
            let expr = self.finished(graph, value, text);
            self.layout.conditions.push(expr);
        }
        constant.map(|value| value != 0)
    }

    /// Adds an expression as a condition. Returns whether it can hold.
    fn demand(&mut self, text: &Spanned<String>) -> bool {
        let mut graph = Graph::default();
        let value = self.expression(&mut graph, text);
        let constant = graph.constant(value);
        if constant.is_none() {
            let expr = self.finished(graph, value, text);
            self.layout.conditions.push(expr);
        }
        self.layout.preferred = true;
        constant != Some(0)
    }

    /// The value of an alternative's expression; records names in it that do not exist.
    fn decided(&mut self, graph: &mut Graph, text: &Spanned<String>) -> Value {
        if let Some((_, c)) = self.context.expression(text) {
            let mut names = Vec::new();
            c.names(&mut names);
            names.retain(|name| self.candidates(name).is_empty());
            self.missing.extend(names);
        }
        self.expression(graph, text)
    }

    /// Extracts the expression of a graph, if it is not too large.
    fn finished(&mut self, graph: Graph, value: Value, text: &Spanned<String>) -> Expr {
        let expr = graph.finish(value, text.value.trim_start_matches('#'));
        if expr.nodes.len() > MAX_NODES {
            let message =
                format!("this takes {} operations, and an encoding has room for {MAX_NODES}", expr.nodes.len());
            self.context.once(text.span, "E0127", message);
            return Expr::default();
        }
        expr
    }

    /// The definitions that a name may refer to, in order of precedence, each with the expression that must hold for
    /// it.
    fn candidates(&mut self, name: &str) -> Vec<(Option<&'d Spanned<String>>, Found<'d>)> {
        let mut found = Vec::new();
        let chain: Vec<&'d Bitset> = self.leaf.chain.clone();
        for bitset in chain {
            for case in bitset.overrides.iter().chain([&bitset.plain]) {
                let Some(field) = case.fields.iter().find(|field| field.name.value == name) else { continue };
                let Some(text) = &case.expression else {
                    found.push((None, Found::Field(field)));
                    return found;
                };
                let Some((span, _)) = self.context.expression(text) else { continue };
                let known = if self.stack.last() == Some(&span) {
                    // While an alternative is being decided, its own fields exist.
                    Some(true)
                } else if self.stack.contains(&span) {
                    Some(false)
                } else {
                    self.truths.get(&span).copied()
                };
                match known {
                    Some(false) => {}
                    Some(true) => {
                        found.push((None, Found::Field(field)));
                        return found;
                    }
                    None => found.push((Some(text), Found::Field(field))),
                }
            }
        }
        let parameter = self.parameters.iter().position(|parameter| parameter.name == name);
        found.extend(parameter.map(|index| (None, Found::Parameter(index))));
        found
    }

    /// The value of an expression; 0 if it is already being evaluated.
    fn expression(&mut self, graph: &mut Graph, text: &Spanned<String>) -> Value {
        let Some((span, c)) = self.context.expression(text) else { return graph.number(0) };
        self.steps += 1;
        if self.stack.contains(&span) {
            return graph.number(0);
        }
        if self.steps > MAX_STEPS || self.stack.len() >= MAX_DEPTH {
            let message = "expressions refer to one another too often, or too deeply".to_owned();
            self.context.once(text.span, "E0127", message);
            return graph.number(0);
        }
        self.stack.push(span);
        let value = self.computed(graph, &c);
        self.stack.pop();
        value
    }

    fn computed(&mut self, graph: &mut Graph, c: &C) -> Value {
        match c {
            C::Number(number) => graph.number(*number),
            C::Field(name) => self.named(graph, name),
            C::Generation => graph.input(Input::Generation, 64),
            C::Not(a) => {
                let a = self.computed(graph, a);
                graph.not(a)
            }
            C::Invert(a) => {
                let a = self.computed(graph, a);
                graph.invert(a)
            }
            C::Binary(operator, a, b) => {
                let (a, b) = (self.computed(graph, a), self.computed(graph, b));
                graph.binary(*operator, a, b)
            }
        }
    }

    /// The value that a name refers to: its raw bits.
    fn named(&mut self, graph: &mut Graph, name: &str) -> Value {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return graph.number(0);
        }
        let candidates = self.candidates(name);
        let mut value = graph.number(0);
        for (condition, found) in candidates.into_iter().rev() {
            let this = match found {
                Found::Field(field) => match &field.source {
                    Defined::Derived { expression, .. } => self.expression(graph, expression),
                    Defined::Bits { .. } => {
                        let index = self.field(field);
                        self.input(graph, index)
                    }
                },
                Found::Parameter(number) => {
                    let index = self.parameter(number);
                    self.input(graph, index)
                }
            };
            value = match condition {
                None => this,
                Some(text) => {
                    let holds = self.expression(graph, text);
                    graph.select(holds, this, value)
                }
            };
        }
        value
    }

    fn input(&self, graph: &mut Graph, index: usize) -> Value {
        let field = &self.layout.fields[index];
        graph.input(Input::Field(index as u8), if field.signed { field.width } else { 64 })
    }

    fn push(&mut self, field: model::Field) -> usize {
        if self.layout.fields.len() >= MAX_FIELDS {
            let message = format!("`{}` has more than {MAX_FIELDS} fields", self.layout.name);
            self.context.once(self.layout.span, "E0127", message);
            return 0;
        }
        self.layout.fields.push(field);
        self.layout.fields.len() - 1
    }

    /// The field of the layout for a field of the document.
    fn field(&mut self, field: &'d Field) -> usize {
        if let Some(index) = self.fields.get(&std::ptr::from_ref(field)) {
            return *index;
        }
        let index = match &field.source {
            Defined::Bits { low, high } => {
                let index = self.bits(&field.name.value, *low, *high);
                self.layout.fields[index].doc.clone_from(&field.doc);
                self.layout.fields[index].span = field.name.span;
                let constant = self.leaf.chain.iter().find_map(|bitset| bitset.constants.get(&field.name.value));
                if let Some(constant) = constant {
                    self.layout.fields[index].default = constant & super::context::width_mask((high - low + 1) as u8);
                }
                index
            }
            Defined::Derived { expression, width } => self.derived(field, expression, *width),
        };
        self.fields.insert(std::ptr::from_ref(field), index);
        match self.context.plain_type(field) {
            Some((ty, signed)) => {
                self.layout.fields[index].ty = ty;
                self.layout.fields[index].signed = signed;
            }
            None => self.operand(index, field),
        }
        index
    }

    fn derived(&mut self, field: &'d Field, expression: &'d Spanned<String>, width: u8) -> usize {
        let mut graph = Graph::default();
        let mut value = self.expression(&mut graph, expression);
        let truth = field.ty.as_str().starts_with("bool");
        if truth {
            let not = graph.not(value);
            value = graph.not(not);
        }
        let value = self.finished(graph, value, expression);
        let (_, signed) = self.context.plain_type(field).unwrap_or((Type::Number(Notation::DECIMAL), false));
        let float = field.ty.as_str() == "float";
        let root = self.context.hierarchies.roots.get(field.ty.as_str());
        let size = root.and_then(|(root, _)| root.size);
        let width = match size {
            Some(size) => size.min(64) as u8,
            None if truth => 1,
            None if signed || float => width,
            None => 64,
        };
        self.push(model::Field {
            name: field.name.value.clone(),
            doc: field.doc.clone(),
            span: field.name.span,
            source: Source::Computed { value, inverse: Vec::new() },
            width,
            signed: false,
            default: 0,
            ty: Type::Number(Notation::DECIMAL),
        })
    }

    /// Makes a field an operand with layouts.
    fn operand(&mut self, index: usize, field: &'d Field) {
        let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
        for (outside, inside) in &field.parameters {
            let candidates = self.candidates(&outside.value);
            let argument = match candidates.as_slice() {
                [] => continue,
                [(None, found)] => self.found(*found),
                [.., (_, last)] => {
                    let last = self.found(*last);
                    let mut graph = Graph::default();
                    let value = self.named(&mut graph, &outside.value);
                    let value = self.finished(graph, value, outside);
                    let like = self.layout.fields[last].clone();
                    self.push(model::Field { source: Source::Computed { value, inverse: Vec::new() }, ..like })
                }
            };
            let field = &self.layout.fields[argument];
            let ty = Some(field.ty.clone()).filter(|ty| !matches!(ty, Type::Set(..)));
            parameters.push(Parameter { name: inside.clone(), width: field.width, signed: field.signed, ty });
            arguments.push(argument);
        }
        let width = self.layout.fields[index].width;
        if let Some(set) = self.context.instance(field, parameters, width.into()) {
            self.layout.fields[index].ty = Type::Set(set, arguments);
        }
    }

    fn found(&mut self, found: Found<'d>) -> usize {
        match found {
            Found::Field(field) => self.field(field),
            Found::Parameter(number) => self.parameter(number),
        }
    }

    fn parameter(&mut self, number: usize) -> usize {
        if let Some(index) = self.outer.get(&number) {
            return *index;
        }
        let parameter = &self.parameters[number];
        let field = model::Field {
            name: parameter.name.clone(),
            doc: String::new(),
            span: self.layout.span,
            source: Source::Outer(number),
            width: parameter.width,
            signed: parameter.signed,
            default: 0,
            ty: parameter.ty.clone().unwrap_or(Type::Number(Notation::DECIMAL)),
        };
        let index = self.push(field);
        self.outer.insert(number, index);
        index
    }

    /// Completes the layout with all fields that no text shows.
    fn finish(mut self) -> Layout {
        for bitset in self.leaf.chain.clone() {
            for field in &bitset.plain.fields {
                let Defined::Bits { low, high } = field.source else { continue };
                let free = (low..=high).all(|bit| matches!(self.owners[usize::from(bit)], Owner::Free));
                if free && !self.fields.contains_key(&std::ptr::from_ref(field)) {
                    self.field(field);
                }
            }
        }
        for bitset in self.leaf.chain.clone() {
            for assert in &bitset.plain.asserts {
                let free = (assert.low..=assert.high).all(|bit| matches!(self.owners[usize::from(bit)], Owner::Free));
                if free {
                    let index = self.bits(&format!("bits_{}", assert.low), assert.low, assert.high);
                    let (ones, _) = assert.bits();
                    self.layout.fields[index].default =
                        ones.get(assert.low.into(), u32::from(assert.high - assert.low) + 1);
                }
            }
        }
        let end = self.leaf.bits - 1;
        self.claim(0, end);
        self.layout
    }
}

fn conjunction(graph: &mut Graph, a: Value, b: Value) -> Value {
    match (graph.constant(a), graph.constant(b)) {
        (Some(0), _) | (_, Some(0)) => graph.number(0),
        (Some(_), _) => b,
        (_, Some(_)) => a,
        _ => graph.binary(Operator::BothTrue, a, b),
    }
}
