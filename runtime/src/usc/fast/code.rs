//! A program as the fast path executes it.

use isaforge_usc::{BeOp, Bpred, Cc, Ctrlop};

use crate::usc::exec::value;
use crate::usc::lanes::{Mask, splat};
use crate::usc::machine::{Common, Task};
use crate::usc::program::{Action, Control, Main, Step, source_of};
use crate::usc::register::{Reach, Register};

use super::lower::{self, Banks, Shared, Spreads};
use super::operate::Op;

/// What a group is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Operations on columns; so many such groups that have the same instances begin here.
    Plain(u32),
    /// A branch to a group.
    Branch {
        target: usize,
        /// Whether it is taken when no instance is active, instead of when one is.
        unless: bool,
        /// What the link register becomes.
        link: Option<u32>,
    },
    /// The data path has to execute it, but it concerns the task only.
    Own,
    /// It concerns others, or ends the task.
    Outside,
}

/// The groups of a program.
#[derive(Clone, Debug, Default)]
pub(in crate::usc) struct Code {
    groups: Vec<(Kind, Cc)>,
    ops: Vec<Op>,
    /// For each group the first of its operations.
    starts: Vec<u32>,
    spreads: Spreads,
}

impl Code {
    /// Those of a program.
    pub fn new(steps: &[Step]) -> Code {
        let mut code = Code::default();
        code.spreads.constant = constant(steps);
        for step in steps {
            code.starts.push(code.ops.len() as u32);
            let kind = match code.lower(step) {
                Some(ops) => {
                    code.ops.extend(ops);
                    Kind::Plain(1)
                }
                None => unlike(step, code.spreads.constant),
            };
            code.groups.push((kind, step.condition));
        }
        code.starts.push(code.ops.len() as u32);
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

    /// The operations of a group; `None` when there are none for it.
    fn lower(&mut self, step: &Step) -> Option<Vec<Op>> {
        if step.last || step.atomic {
            return None;
        }
        let spreads = &mut self.spreads;
        match &step.action {
            Action::Main(main) => lower::main(main, step.repeat, spreads),
            Action::Bitwise(bitwise) => lower::bitwise(bitwise, step.repeat, spreads),
            Action::Control(control) if control.parts.bpret.is_some() => None,
            Action::Control(control) => match control.parts.header.ctrlop {
                Ctrlop::Cnd => lower::condition(control, spreads).map(|op| vec![op]),
                Ctrlop::Nop | Ctrlop::Wdf | Ctrlop::Wop => Some(Vec::new()),
                _ => None,
            },
        }
    }

    /// What the group at a place is, and its condition.
    #[inline]
    pub(super) fn at(&self, step: usize) -> (Kind, Cc) {
        self.groups.get(step).copied().unwrap_or((Kind::Outside, Cc::ExZx))
    }

    /// Whether the group there concerns only the task that executes it.
    pub fn is_own(&self, step: usize) -> bool {
        !matches!(self.at(step).0, Kind::Outside)
    }

    /// The operations of `count` groups.
    #[inline]
    pub(super) fn ops(&self, step: usize, count: usize) -> &[Op] {
        let bounds = self.starts.get(step).zip(self.starts.get(step + count));
        bounds.and_then(|(from, to)| self.ops.get(*from as usize..*to as usize)).unwrap_or_default()
    }

    /// Puts what all instances share where operations find it.
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

/// Whether a plain group may change which instances the next one with the same condition has.
fn changes_instances(step: &Step) -> bool {
    let by_predicate = matches!(step.condition, Cc::E1Z1 | Cc::E1Z0);
    match &step.action {
        Action::Main(main) => by_predicate && main.tst.is_some_and(|tst| tst.pwen),
        Action::Bitwise(bitwise) => by_predicate && bitwise.b2.is_some_and(|b2| b2.pwen),
        Action::Control(control) => step.condition != Cc::ExZx && control.parts.header.ctrlop == Ctrlop::Cnd,
    }
}

/// What a group is for which there are no operations.
fn unlike(step: &Step, constant: Banks) -> Kind {
    // The data path finds a value when nobody else writes the register, and reports an index that leads nowhere.
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
    // One that leads nowhere is reported in its turn.
    match (control.target, &control.parts.branch) {
        (Some(target), Some(branch)) => Kind::Branch {
            target,
            unless: branch.bpred == Bpred::Allp,
            link: branch.link.then_some((step.at + step.length) / 2),
        },
        _ => Kind::Outside,
    }
}

/// The banks whose registers keep their values while a program runs.
fn constant(steps: &[Step]) -> Banks {
    let mut banks = Banks { shared: true, coefficients: true, globals: true };
    for step in steps {
        let (results, filled) = match &step.action {
            Action::Main(main) => (main.results, filled(main)),
            Action::Bitwise(bitwise) => (bitwise.results, None),
            Action::Control(control) => {
                // Another base, and the same number is another register.
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
                // Programs do not write dynamic constants, and slots have no rows.
                Register::Column(_) | Register::Slot(_) | Register::Dynamic(_) => {}
                Register::Timer | Register::Indexed { .. } => {}
            }
        }
    }
    banks
}

/// The first of the registers that a backend operation fills.
fn filled(main: &Main) -> Option<Register> {
    let backend = main.backend.as_ref()?;
    match backend.op {
        BeOp::Atomic => Some(main.sources[source_of(backend.dstsel)]),
        BeOp::Ld | BeOp::Fitr => Some(main.sources[3]),
        BeOp::Smp => Some(main.sources[4]),
        _ => None,
    }
}
