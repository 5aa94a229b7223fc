//! Instructions executed by their texts in the specification: the shape of a word, its operands, and their connection
//! to a warp.
//!
//! `operand` decodes the operands of a word, `environment` gives the evaluator access to registers and memory, and
//! `intrinsics` has the functions that no text defines.

mod environment;
mod intrinsics;
mod operand;

use std::cell::RefCell;
use std::sync::Arc;

use isaforge_core::semantics::evaluate::{Scratch, evaluate};
use isaforge_core::semantics::{self, Semantics, Shape};
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{ISA, Instruction};

use super::step::{Control, Fault, Step};
use super::warp::LANES;
use crate::exec::shape::Shapes;
pub(super) use environment::Executing;
pub(super) use intrinsics::function;
pub(super) use operand::Operand;

/// The operation of a word: the shape of its text, and its operands.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    semantics: &'static Semantics,
    shape: Arc<Shape>,
    operands: Box<[Operand]>,
}

impl Operation {
    /// Creates the operation of a word. `None` when the specification has no text for its instruction.
    pub fn new(instruction: Instruction) -> Option<Self> {
        let (opcode, word) = (instruction.opcode() as u16, instruction.encode());
        let shape = KNOWN.with_borrow_mut(|known| Some(Arc::clone(&known.get(opcode, word, |_| ())?.shape)))?;
        Some(Operation::of(SEMANTICS, instruction, shape))
    }

    /// Creates an operation like [`Operation::new`], with other semantics.
    pub fn with(semantics: &'static Semantics, instruction: Instruction) -> Option<Self> {
        let (opcode, word) = (instruction.opcode() as usize, instruction.encode());
        let (operation, form) = (semantics.operations.get(opcode)?, ISA.forms.get(opcode)?);
        if operation.text.is_empty() {
            return None;
        }
        let shape = semantics::instantiate(semantics, operation, |modifier| {
            operation.modifiers.get(usize::from(modifier)).map_or(0, |modifier| modifier.bits(ISA, form, word))
        });
        Some(Operation::of(semantics, instruction, Arc::new(shape)))
    }

    fn of(semantics: &'static Semantics, instruction: Instruction, shape: Arc<Shape>) -> Self {
        let word = instruction.encode();
        let operands = ISA.forms.get(instruction.opcode() as usize).map_or(&[][..], |form| form.operands);
        let operands = operands.iter().map(|operand| Operand::new(operand, word)).collect();
        Operation { semantics, shape, operands }
    }

    /// The shape of its text.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its operands.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
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

/// Executes an instruction on the active lanes by its text.
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

thread_local! {
    static KNOWN: RefCell<Shapes<()>> = RefCell::new(Shapes::new(SEMANTICS, ISA));
}
