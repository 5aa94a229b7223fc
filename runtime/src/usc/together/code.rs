//! A program in the form that tasks advancing together execute.

use std::sync::Arc;

use isaforge_core::semantics::{self, Node};
use isaforge_usc::semantics::SEMANTICS;
use isaforge_usc::{BeOp, Bpred, Cc, Ctrlop};

use crate::exec::vector::code::Code as Rows;
use crate::exec::vector::effect::Effect;
use crate::exec::vector::select::select;
use crate::usc::common::{Common, value};
use crate::usc::lanes::{Mask, splat};
use crate::usc::names::{Set, function, set_of};
use crate::usc::register::{Reach, Register};
use crate::usc::step::{Action, Control, Main, Step, source_of};
use crate::usc::task::Task;

use super::bind::{Banks, Columns, Shared, Spreads};
use super::member::{PART, Tasks};

/// The maximum number of groups of a program that are covered with operations on columns, since this takes time.
const MAX_COVERED: usize = 1 << 14;

/// The kind of a group.
#[derive(Clone, Copy, Debug)]
pub(in crate::usc) enum Kind {
    /// Operations on columns, with the number of consecutive such groups from here that the same instances execute.
    Plain(u32),
    /// Operations on the columns of all instances that exist, whichever of them execute the group.
    ForAll,
    /// A branch to a group.
    Branch {
        target: usize,
        /// Whether it is taken if no instance is active, rather than if any is.
        unless: bool,
        /// The new value of the link register.
        link: Option<u32>,
    },
    /// A group that requires the data path, but concerns only its own task.
    Own,
    /// A group that concerns other tasks, or ends its task.
    Outside,
}

/// Operations on columns.
pub(in crate::usc) type Operations = Rows<PART, Tasks>;

/// The groups of a program.
#[derive(Clone, Debug, Default)]
pub(in crate::usc) struct Code {
    groups: Vec<(Kind, Cc)>,
    operations: Vec<Option<Arc<Operations>>>,
    spreads: Spreads,
}

impl Code {
    /// Creates the code of a program.
    pub fn new(steps: &[Step]) -> Code {
        let mut code = Code::default();
        code.spreads.constant = constant(steps);
        for (at, step) in steps.iter().enumerate() {
            let operations = if at < MAX_COVERED { code.cover(step) } else { None };
            let kind = match (&operations, &step.action) {
                (Some(_), Action::Control(_)) => Kind::ForAll,
                (Some(_), _) => Kind::Plain(1),
                (None, _) => unlike(step, code.spreads.constant),
            };
            code.operations.push(operations.map(Arc::new));
            code.groups.push((kind, step.condition));
        }
        for i in (1..steps.len()).rev() {
            let [(before, condition), (this, next)] = [code.groups[i - 1], code.groups[i]];
            if let (Kind::Plain(_), Kind::Plain(count)) = (before, this)
                && condition == next
                && !changes_instances(&steps[i - 1])
            {
                code.groups[i - 1].0 = Kind::Plain(count + 1);
            }
        }
        code
    }

    /// The rows of values shared by all instances.
    pub(in crate::usc) fn spreads(&self) -> &Spreads {
        &self.spreads
    }

    /// Covers a group with operations. `None` when that is not possible.
    fn cover(&mut self, step: &Step) -> Option<Operations> {
        let parts = match &step.action {
            // An invalid index is an error even if its value is not used.
            _ if step.last || step.atomic || step.names_index() => return None,
            Action::Control(control) => &control.parts,
            _ => return select_pure(step, &mut self.spreads),
        };
        // The target of a branch is part of its kind.
        let flows = parts.bpret.is_some()
            || !matches!(parts.header.ctrlop, Ctrlop::Cnd | Ctrlop::Nop | Ctrlop::Wdf | Ctrlop::Wop);
        if flows { None } else { select_pure(step, &mut self.spreads) }
    }

    /// Returns the kind and the condition of a group.
    #[inline]
    pub(in crate::usc) fn at(&self, step: usize) -> (Kind, Cc) {
        self.groups.get(step).copied().unwrap_or((Kind::Outside, Cc::ExZx))
    }

    /// Whether the group concerns only the task that executes it.
    pub fn is_own(&self, step: usize) -> bool {
        !matches!(self.at(step).0, Kind::Outside)
    }

    /// Returns the operations of `count` groups.
    #[inline]
    pub(in crate::usc) fn operations(&self, step: usize, count: usize) -> impl Iterator<Item = &Operations> {
        let found = self.operations.get(step..step + count).unwrap_or_default();
        found.iter().filter_map(Option::as_deref)
    }

    /// Copies the values shared by all instances to their rows.
    pub fn spread(&self, task: &mut Task, common: &Common) {
        for (row, shared) in self.spreads.rows() {
            let word = match shared {
                Shared::Register(register) => value(task, common, register, 0),
                Shared::Word(word) => word,
            };
            *task.columns.at_mut(row) = splat(word);
        }
    }
}

/// The instances of a task that execute groups with a condition.
#[inline]
pub(in crate::usc) fn active(task: &Task, condition: Cc) -> Mask {
    let Task { valid, running, predicate, .. } = *task;
    valid
        & match condition {
            Cc::E1Zx => running,
            Cc::E1Z1 => running & predicate,
            Cc::ExZx => Mask::MAX,
            Cc::E1Z0 => running & !predicate,
        }
}

/// Selects operations for a group's graph. `None` when it has effects on anything but columns and sets of instances.
fn select_pure(step: &Step, spreads: &mut Spreads) -> Option<Operations> {
    let shape = step.shape().ok()?;
    let found: Operations = select(SEMANTICS, shape, &mut Columns { step, spreads })?;
    let is_function = |effect: &Effect| {
        effect.op == semantics::Op::Intrinsic && effect.values.len() == 1 && function(effect.numbers[0]).is_some()
    };
    let pure = found.effects().all(is_function);
    pure.then_some(found)
}

/// Whether a plain group may change the instances that execute the next group with the same condition.
pub(in crate::usc) fn changes_instances(step: &Step) -> bool {
    let depends = |set: Set| match step.condition {
        Cc::ExZx => false,
        Cc::E1Zx => set == Set::Runs,
        Cc::E1Z1 | Cc::E1Z0 => matches!(set, Set::Runs | Set::Predicate),
    };
    let changes = |node: &Node| node.op == semantics::Op::SetState && set_of(node.args[0]).is_some_and(depends);
    step.shape().is_ok_and(|shape| shape.nodes.iter().any(changes))
}

/// The kind of a group without operations on columns.
fn unlike(step: &Step, constant: Banks) -> Kind {
    // The data path may read a register that no other task writes, and reports invalid indices.
    let reads = |register: Register| match register {
        Register::Column(_) | Register::Coefficient(_) | Register::Alternate(_) => true,
        Register::Slot(_) | Register::Dynamic(_) => true,
        Register::Indexed { reach, .. } => reach != Reach::Shared || constant.shared,
        Register::Shared(_) => constant.shared,
        Register::Global(_) => constant.globals,
        Register::Timer => false,
    };
    let writes = |register: Register| match register {
        Register::Shared(_) | Register::Global(_) => false,
        Register::Indexed { reach, .. } => reach != Reach::Shared,
        _ => true,
    };
    let own = match &step.action {
        _ if step.last => false,
        Action::Main(main) => {
            let quiet = main.backend.as_ref().is_none_or(|b| matches!(b.op, BeOp::Savmsk | BeOp::Setl | BeOp::Idf));
            quiet
                && main.extra.is_none()
                && main.sources.into_iter().all(reads)
                && main.results.into_iter().flatten().all(writes)
        }
        Action::Bitwise(bitwise) => {
            bitwise.sources.into_iter().all(reads) && bitwise.results.into_iter().flatten().all(writes)
        }
        Action::Control(control) if control.parts.bpret.is_some() => false,
        Action::Control(control) => match control.parts.header.ctrlop {
            Ctrlop::B => return branch(step, control),
            Ctrlop::Lapc | Ctrlop::Savl | Ctrlop::Cnd | Ctrlop::Sbo => {
                control.sources.into_iter().all(reads) && control.result.into_iter().all(writes)
            }
            _ => false,
        },
    };
    if own { Kind::Own } else { Kind::Outside }
}

fn branch(step: &Step, control: &Control) -> Kind {
    // A branch without a target is reported in the task's turn.
    match (control.target, &control.parts.branch) {
        (Some(target), Some(branch)) => Kind::Branch {
            target,
            unless: branch.bpred == Bpred::Allp,
            link: branch.link.then_some((step.at + step.length) / 2),
        },
        _ => Kind::Outside,
    }
}

/// The banks whose registers do not change while a program runs.
fn constant(steps: &[Step]) -> Banks {
    let mut banks = Banks { shared: true, coefficients: true, globals: true };
    for step in steps {
        let (results, filled) = match &step.action {
            Action::Main(main) => (main.results, filled(main)),
            Action::Bitwise(bitwise) => (bitwise.results, None),
            Action::Control(control) => {
                // With another base, a number refers to another register.
                let moves = control.parts.header.ctrlop == Ctrlop::Sbo;
                (banks.shared, banks.coefficients) = (banks.shared && !moves, banks.coefficients && !moves);
                ([control.result, None], None)
            }
        };
        for register in results.into_iter().flatten().chain(filled) {
            match register {
                Register::Shared(_) | Register::Indexed { reach: Reach::Shared, .. } => banks.shared = false,
                Register::Coefficient(_) | Register::Alternate(_) => banks.coefficients = false,
                Register::Indexed { reach: Reach::Coefficient | Reach::Alternate, .. } => banks.coefficients = false,
                Register::Global(_) => banks.globals = false,
                // Programs do not write dynamic constants, and slot registers have no rows.
                Register::Column(_) | Register::Slot(_) | Register::Dynamic(_) => {}
                Register::Timer | Register::Indexed { .. } => {}
            }
        }
    }
    banks
}

/// The first of the registers that a backend operation writes.
fn filled(main: &Main) -> Option<Register> {
    let backend = main.backend.as_ref()?;
    match backend.op {
        BeOp::Atomic => Some(main.sources[source_of(backend.dstsel)]),
        BeOp::Ld | BeOp::Fitr => Some(main.sources[3]),
        BeOp::Smp => Some(main.sources[4]),
        _ => None,
    }
}
