//! Instructions as their texts in the specification say: a word's shape, its operands, and how they meet a warp.
//!
//! `operand` finds the operands of a word, `environment` gives the evaluator registers and memory, `intrinsics` has the
//! functions that no text defines.

mod environment;
mod intrinsics;
mod operand;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use isaforge_core::bits::Bits;
use isaforge_core::semantics::evaluate::{Scratch, evaluate};
use isaforge_core::semantics::{self, Modifier, Semantics, Shape};
use isaforge_core::table::Form;
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{ISA, Instruction, Opcode};

use super::step::{Control, Fault, Step};
use super::warp::LANES;
pub(super) use environment::Executing;
pub(super) use operand::Operand;

/// What a word does: the shape that its text comes to, and its operands.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    semantics: &'static Semantics,
    shape: Arc<Shape>,
    operands: Box<[Operand]>,
}

impl Operation {
    /// The operation of a word; `None` where the specification has no text for its instruction.
    pub fn new(instruction: Instruction) -> Option<Self> {
        Operation::of(SEMANTICS, instruction, shape)
    }

    /// As [`Operation::new`], by other texts.
    pub fn with(semantics: &'static Semantics, instruction: Instruction) -> Option<Self> {
        Operation::of(semantics, instruction, |_, operation, form, word| {
            Arc::new(instantiate(semantics, operation, form, word))
        })
    }

    fn of(
        semantics: &'static Semantics,
        instruction: Instruction,
        shape: impl Fn(Opcode, &'static semantics::Operation, &'static Form, u64) -> Arc<Shape>,
    ) -> Option<Self> {
        let (opcode, word) = (instruction.opcode(), instruction.encode());
        let (operation, form) = (semantics.operations.get(opcode as usize)?, ISA.forms.get(opcode as usize)?);
        if operation.text.is_empty() {
            return None;
        }
        let operands = form.operands.iter().map(|operand| Operand::new(operand, word)).collect();
        Some(Operation { semantics, shape: shape(opcode, operation, form, word), operands })
    }

    /// Executes it on the active lanes.
    pub fn execute(&self, step: &mut Step<'_>) -> Result<Control, Fault> {
        let mut scratch: Scratch<LANES> = std::mem::take(&mut step.scratch);
        let mut executing = Executing::new(step, self.semantics, &self.operands);
        let result = evaluate(self.semantics, &self.shape, &mut scratch, &mut executing);
        let control = executing.control;
        step.scratch = scratch;
        result.map(|()| control)
    }
}

/// Executes an instruction on the active lanes, as its text says.
pub(super) fn execute(
    instruction: Instruction,
    operation: Option<&Operation>,
    step: &mut Step<'_>,
) -> Result<Control, Fault> {
    match operation {
        Some(operation) => operation.execute(step),
        None => Err(Fault::Unsupported(instruction.opcode().mnemonic())),
    }
}

/// Shapes that one thread keeps; programs have far fewer.
const SHAPES: usize = 4096;

thread_local! {
    static KNOWN: RefCell<HashMap<(Opcode, u64), Arc<Shape>>> = RefCell::default();
}

/// The shape of a word, made when its like first comes.
fn shape(opcode: Opcode, operation: &'static semantics::Operation, form: &'static Form, word: u64) -> Arc<Shape> {
    let chosen = operation.modifiers.iter().fold(0, |mask, modifier| mask | bits(form, *modifier).mask(0));
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= SHAPES {
            known.clear();
        }
        let shape = known
            .entry((opcode, word & chosen))
            .or_insert_with(|| Arc::new(instantiate(SEMANTICS, operation, form, word)));
        Arc::clone(shape)
    })
}

fn instantiate(semantics: &'static Semantics, operation: &semantics::Operation, form: &Form, word: u64) -> Shape {
    semantics::instantiate(semantics, operation, |modifier| {
        operation.modifiers.get(usize::from(modifier)).map_or(0, |modifier| bits(form, *modifier).get(word, 0))
    })
}

/// Where a modifier lies.
fn bits(form: &Form, modifier: Modifier) -> Bits {
    match modifier {
        Modifier::Form(index) => form.modifiers[usize::from(index)].bits,
        Modifier::Suffix(operand, index) => form.operands[usize::from(operand)].suffixes[usize::from(index)].bits,
        // Words have no fields of groups.
        _ => Bits::new(0, 0),
    }
}
