//! Branches that go elsewhere than the declared target of their operand.
//!
//! W0223: the listing would name a place that is not where the program goes on.
//!
//! The texts of branches are evaluated for a few numbers, and the results are compared with what `target` says of the
//! same numbers. Texts whose destination depends on registers or modifiers are passed over.

use std::collections::HashSet;

use isaforge_core::bits::ones;
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{NONE, Op, Special};
use isaforge_core::table::{Base, Target};

use super::model::{Operation, Semantics};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::Built;
use crate::model::{self, Isa, Shape};
use crate::source::Span;
use crate::stream::model::{Role, Type};

/// The address of the branch, in units of the program counter.
const AT: u64 = 0x100;

/// An operand that is a branch target.
#[derive(Clone)]
struct Operand {
    /// Its index in the graph.
    index: usize,
    name: String,
    span: Span,
    target: Target,
    /// The width of its value in bits, and whether it is in two's complement.
    width: u32,
    signed: bool,
    /// The length of the instruction in bytes.
    length: u64,
}

/// A branch that goes elsewhere than its target says: the operand, and the address in bytes that each gives for it.
struct Difference {
    number: i64,
    goes: u64,
    says: u64,
}

/// Checks the operations of all instructions.
pub fn check(isa: &Isa, semantics: &Semantics, out: &mut Diagnostics) {
    let Some(machine) = &isa.machine else { return };
    let unit = u64::from(machine.unit.max(1));
    let mut told = HashSet::new();
    for (opcode, operation) in semantics.operations.iter().enumerate() {
        let Some(operation) = operation.as_ref().filter(|operation| has_branch(operation)) else { continue };
        let built = &operation.built;
        for operand in targets(isa, opcode) {
            let Some(Difference { number, goes, says }) = difference(built, &operand, unit) else { continue };
            // Rows and members of families share their text.
            if !told.insert((operation.span, operand.span)) {
                continue;
            }
            let Operand { name, span, target, .. } = &operand;
            let message = format!("the text branches to another address than the target of `{name}`");
            let this = AT * unit;
            let error = Diagnostic::warning("W0223", operation.span, message)
                .label(format!("at {this:#x}, with {number} for `{name}`, it goes to {goes:#x}"))
                .secondary(*span, format!("{target}: {says:#x}"));
            let steps = if unit == 1 { "bytes".to_owned() } else { format!("units of {unit} bytes") };
            let error = error.note(match machine.declared {
                true => format!("the program counter counts {steps}, according to `machine`"),
                false => format!("the program counter counts {steps}, since no `machine` says otherwise"),
            });
            let other = [1, 2, 4, operand.length].into_iter().find(|unit| difference(built, &operand, *unit).is_none());
            let error = match agreeing(built, &operand, unit) {
                Some(target) => error.help(format!("the text is that of `target: {}`", as_written(target))),
                None => error.help("let the text and `target` say the same"),
            };
            out.push(match other {
                Some(other) => error.help(format!("with `machine: {{ unit: {other} }}`, both would say the same")),
                None => error,
            });
        }
    }
}

fn has_branch(operation: &Operation) -> bool {
    operation.built.nodes.iter().any(|node| node.op == Op::Branch)
}

/// The operands of an instruction that are branch targets.
fn targets(isa: &Isa, opcode: usize) -> Vec<Operand> {
    if let Some(stream) = isa.stream() {
        let own = stream.sets.first().into_iter().flat_map(|set| &set.layouts);
        let Some(layout) = own.into_iter().find(|l| l.opcode == opcode && l.role == Role::Own) else {
            return Vec::new();
        };
        let fields = layout.fields.iter().enumerate().filter_map(|(index, field)| {
            let Type::Number(notation) = &field.ty else { return None };
            Some(Operand {
                index,
                name: field.name.clone(),
                span: field.span,
                target: notation.target?,
                width: field.width.into(),
                signed: field.signed,
                length: u64::from(layout.bits / 8),
            })
        });
        return fields.collect();
    }
    let operands = isa.forms.get(opcode).into_iter().flat_map(|form| form.operands.iter().enumerate());
    let numbers = operands.filter_map(|(index, operand)| {
        let Shape::Number { bits, ty, target, .. } = &operand.shape else { return None };
        Some(Operand {
            index,
            name: operand.name.clone(),
            span: operand.span,
            target: (*target)?,
            width: bits.width(),
            signed: *ty == model::Type::Signed,
            length: u64::from(isa.word_bits / 8),
        })
    });
    numbers.collect()
}

/// What is known of a branch in a text.
enum Destination {
    /// It does not depend on the operand.
    Unrelated,
    /// It depends on more than the operand and the address.
    Unknown,
    /// It is what the target says.
    Agrees,
    Differs(Difference),
}

/// A number for which no branch of the text goes where the target says. `None` if one always does, or if it is not known
/// where one goes.
fn difference(built: &Built, operand: &Operand, unit: u64) -> Option<Difference> {
    let branches = built.nodes.iter().filter(|node| node.op == Op::Branch).map(|node| usize::from(node.args[0]));
    let mut first = None;
    for branch in branches {
        match compare(built, branch, operand, unit) {
            Destination::Unrelated => {}
            Destination::Unknown | Destination::Agrees => return None,
            Destination::Differs(found) => first = first.or(Some(found)),
        }
    }
    first
}

/// Compares where a branch goes with what the target says.
fn compare(built: &Built, branch: usize, operand: &Operand, unit: u64) -> Destination {
    let next = AT + operand.length / unit;
    let mask = built.nodes.get(branch).map_or(0, |node| node.ty.mask());
    let numbers = operand.numbers();
    let goes = numbers.iter().map(|number| value(built, branch, (operand.index, *number as u64), (AT, next)));
    let Some(goes) = goes.collect::<Option<Vec<u64>>>() else { return Destination::Unknown };
    if goes.iter().all(|address| Some(address) == goes.first()) {
        return Destination::Unrelated;
    }
    for (number, goes) in numbers.into_iter().zip(goes) {
        let says = operand.target.address(number, AT * unit, next * unit);
        let (address, step) = (says as i64, unit as i64);
        if address.rem_euclid(step) != 0 || address.div_euclid(step) as u64 & mask != goes {
            return Destination::Differs(Difference { number, goes: goes.wrapping_mul(unit), says });
        }
    }
    Destination::Agrees
}

/// A target that says what the text does.
fn agreeing(built: &Built, operand: &Operand, unit: u64) -> Option<Target> {
    let bases = [Base::This, Base::Next, Base::Fixed(0)];
    let units = [operand.target.unit, unit as u16, operand.length as u16, 1, 2, 4];
    let targets = bases.into_iter().flat_map(|base| units.map(|unit| Target { base, unit: unit.max(1) }));
    let agrees = |target: &Target| difference(built, &Operand { target: *target, ..operand.clone() }, unit).is_none();
    targets.into_iter().find(agrees)
}

/// A target as a specification writes it.
fn as_written(target: Target) -> String {
    let from = match target.base {
        Base::This => "this".to_owned(),
        Base::Next => "next".to_owned(),
        Base::Fixed(address) => address.to_string(),
    };
    format!("{{ from: {from}, unit: {} }}", target.unit)
}

impl Operand {
    /// Values to try: multiples of 16, so that the text may leave out the lowest bits, or all small ones of few bits.
    fn numbers(&self) -> Vec<i64> {
        let magnitude = self.width.saturating_sub(self.signed.into()).min(62);
        let step = if magnitude > 5 { 16 } else { 1 };
        let most = ones(magnitude) as i64 / step;
        let least = if self.signed { -most } else { 0 };
        let counts = [0, 1, 2, 3, -1, -2, (most + 1) / 2].into_iter().filter(|count| (least..=most).contains(count));
        counts.map(|count| count * step).collect()
    }
}

/// The value of a node for a number in place of an operand. `None` if it depends on anything else but the address of the
/// instruction and that of the next.
fn value(built: &Built, node: usize, (index, number): (usize, u64), (this, next): (u64, u64)) -> Option<u64> {
    let mut values: Vec<Option<u64>> = Vec::with_capacity(node + 1);
    for node in built.nodes.get(..=node)? {
        let argument = |k: usize| values.get(usize::from(node.args[k])).copied().flatten();
        let found = match node.op {
            Op::Const => built.constants.get(usize::from(node.args[0])).copied(),
            Op::Operand => (usize::from(node.args[0]) == index && node.args[1] == 0).then_some(number),
            Op::Special => match Special::ALL.get(usize::from(node.imm)) {
                Some(Special::Pc) => Some(this),
                Some(Special::Next) => Some(next),
                _ => None,
            },
            // These need more than their arguments.
            Op::Pack | Op::Canonical => None,
            op if op.is_pure() => {
                let used = |k: usize| op.node_arguments() >> k & 1 != 0 && node.args[k] != NONE;
                let types = [0, 1, 2, 3].map(|k| match built.nodes.get(usize::from(node.args[k])) {
                    Some(argument) if used(k) => argument.ty,
                    _ => node.ty,
                });
                let known = (0..4).all(|k| !used(k) || argument(k).is_some());
                known.then(|| primitive(op, node.imm, node.ty, types, [0, 1, 2, 3].map(|k| argument(k).unwrap_or(0))))
            }
            _ => None,
        };
        values.push(found.map(|value| value & node.ty.mask()));
    }
    values.pop().flatten()
}
