//! Executes the graphs of the specification's texts: binds them to registers, states and units.

use isaforge_core::semantics::evaluate::{Column as Wide, Environment, evaluate};
use isaforge_core::semantics::{AtomicOp, Special, Type};
use isaforge_usc::semantics::{SEMANTICS, call};

use crate::machine::AccessKind;
use crate::observe::Traffic;
use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::lanes::{Column, LANES, Mask, each};
use crate::usc::names::{Name, STATES, operand, ports};
use crate::usc::register::Register;
use crate::usc::sample::{X, Y};
use crate::usc::step::{Action, Step};
use crate::usc::task::State;

impl<H: Host> Cpu<'_, H> {
    /// Executes a group by its graph for the active instances. Control groups are evaluated for all instances that
    /// exist.
    pub(super) fn graph(&mut self, step: &Step, active: Mask) -> Result<(), Trap> {
        self.check_indices(step, active)?;
        let shape = step.shape()?;
        let (sources, _) = ports(&step.action);
        let lanes = if let Action::Control(_) = step.action { self.task.valid } else { active };
        let mut scratch = std::mem::take(&mut self.common.scratch.0);
        let mut group = Group { cpu: self, step, sources, executing: active, lanes, goal: None };
        let result = evaluate(SEMANTICS, shape, &mut scratch, &mut group);
        let goal = group.goal;
        self.common.scratch.0 = scratch;
        result?;
        goal.map_or(Ok(()), |goal| self.go_to(goal))
    }

    /// Checks that the indices of all sources are valid, since a source is read even if its value is not used.
    fn check_indices(&self, step: &Step, active: Mask) -> Result<(), Trap> {
        let (sources, reads, unpacks) = match &step.action {
            Action::Main(main) => (&main.sources, main.reads, main.unpacks),
            Action::Bitwise(bitwise) => (&bitwise.sources, bitwise.reads, false),
            Action::Control(_) => return Ok(()),
        };
        let indexed = |i: &usize| reads >> i & 1 != 0 && matches!(sources[*i], Register::Indexed { .. });
        for (k, i) in (0..step.repeat).flat_map(|k| (0..6).filter(indexed).map(move |i| (k, i))) {
            let by = if unpacks && i == 0 { 0 } else { k };
            let register = sources[i].plus(by).unwrap_or(sources[i]);
            each(active).try_for_each(|instance| self.resolve(register, instance).map(|_| ()))?;
        }
        Ok(())
    }
}

/// A group during its execution.
pub(super) struct Group<'c, 'm, H> {
    pub(super) cpu: &'c mut Cpu<'m, H>,
    pub(super) step: &'c Step,
    pub(super) sources: &'c [Register; 6],
    /// The instances that execute the group.
    executing: Mask,
    /// The instances for which the graph is evaluated.
    lanes: Mask,
    /// The target of its branch.
    pub(super) goal: Option<i64>,
}

fn wide(column: &Column) -> Wide<LANES> {
    column.map(u64::from)
}

fn narrow(column: &Wide<LANES>) -> Column {
    column.map(|value| value as u32)
}

/// The value in the lowest instance of a set.
fn lowest(column: &Wide<LANES>, mask: u64) -> u32 {
    column[mask.trailing_zeros() as usize % LANES] as u32
}

fn flags(mask: Mask) -> Wide<LANES> {
    std::array::from_fn(|lane| u64::from(mask >> lane & 1))
}

fn mask_of(column: &Wide<LANES>) -> Mask {
    column.iter().enumerate().fold(0, |mask, (lane, value)| mask | (*value as u32 & 1) << lane)
}

impl<H: Host> Group<'_, '_, H> {
    /// Returns the register `element` places after the one that an operand names.
    pub(super) fn register(&self, number: u16, element: u16) -> Result<Register, Trap> {
        operand(self.step, number, element)
    }
}

impl<H: Host> Environment<LANES> for Group<'_, '_, H> {
    type Fault = Trap;

    fn active(&self) -> u64 {
        self.lanes.into()
    }

    fn operand(&mut self, operand: u16, element: u16, _: Type) -> Result<Wide<LANES>, Trap> {
        let register = self.register(operand, element)?;
        Ok(wide(&self.cpu.read(register, self.executing)?))
    }

    fn write(&mut self, operand: u16, element: u16, _: Type, value: &Wide<LANES>, mask: u64) -> Result<(), Trap> {
        let register = self.register(operand, element)?;
        if !register.is_writable() {
            return Err(Trap::Fixed);
        }
        self.cpu.write(register, &narrow(value), mask as u32)
    }

    fn state(&mut self, state: u16, _: Option<&Wide<LANES>>) -> Result<Wide<LANES>, Trap> {
        let task = &*self.cpu.task;
        let same = |value: u32| [u64::from(value); LANES];
        Ok(match STATES[usize::from(state)] {
            Name::Predicate => flags(task.predicate),
            Name::Runs => flags(task.running),
            Name::Executes => flags(self.executing),
            Name::Link => same(task.link),
            Name::CoefficientBase => same(task.base[0].into()),
            Name::SharedBase => same(task.base[1].into()),
            Name::Kept => flags(task.kept),
            Name::Failed => flags(task.failed),
            Name::Instances => same(task.valid),
            Name::Runners => same(task.running & task.valid),
            Name::Losers => same(task.failed),
            Name::Spot => {
                let (x, y) = (task.columns.at(X), task.columns.at(Y));
                std::array::from_fn(|lane| u64::from((x[lane] & 0xffff) | y[lane] << 16))
            }
            Name::Wire => [0; LANES],
        })
    }

    fn set_state(&mut self, state: u16, _: Option<&Wide<LANES>>, value: &Wide<LANES>, mask: u64) -> Result<(), Trap> {
        let task = &mut *self.cpu.task;
        let blend = |old: &mut Mask| *old = *old & !(mask as u32) | mask_of(value) & mask as u32;
        match STATES[usize::from(state)] {
            Name::Predicate => blend(&mut task.predicate),
            Name::Runs => blend(&mut task.running),
            Name::Kept => blend(&mut task.kept),
            Name::Failed => blend(&mut task.failed),
            Name::Link => task.link = lowest(value, mask),
            Name::CoefficientBase => task.base[0] = lowest(value, mask) as u16,
            Name::SharedBase => task.base[1] = lowest(value, mask) as u16,
            Name::Runners => task.running = lowest(value, mask) & task.valid,
            Name::Executes | Name::Instances | Name::Losers | Name::Spot | Name::Wire => {}
        }
        Ok(())
    }

    fn special(&mut self, special: Special) -> Wide<LANES> {
        let at = u64::from(self.step.at);
        match special {
            Special::Next => [at + u64::from(self.step.length); LANES],
            _ => [at; LANES],
        }
    }

    fn load(&mut self, _: u16, _: Type, _: &Wide<LANES>, _: u64) -> Result<Wide<LANES>, Trap> {
        // Loads are bursts, which an intrinsic performs.
        Ok([0; LANES])
    }

    fn store(&mut self, _: u16, _: Type, _: &Wide<LANES>, _: &Wide<LANES>, _: u64) -> Result<(), Trap> {
        Ok(())
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        _: u16,
        ty: Type,
        address: &Wide<LANES>,
        value: &Wide<LANES>,
        _: Option<&Wide<LANES>>,
        mask: u64,
    ) -> Result<Wide<LANES>, Trap> {
        let mut found = [0; LANES];
        for i in each(mask as u32) {
            let fault = |fault| Trap::Memory { instance: i, fault };
            let mut bytes = [0; 4];
            self.cpu.host.load(address[i], &mut bytes).map_err(fault)?;
            found[i] = u32::from_le_bytes(bytes).into();
            let new = op.apply(ty, found[i], value[i]) as u32;
            self.cpu.host.store(address[i], &new.to_le_bytes()).map_err(fault)?;
            self.cpu.access(AccessKind::Atomic, i, address[i], 4, Some(new.into()));
            self.cpu.traffic += Traffic { read: 4, written: 4 };
        }
        Ok(found)
    }

    fn branch(&mut self, target: &Wide<LANES>, mask: u64) -> Result<(), Trap> {
        let goal = target[mask.trailing_zeros() as usize % LANES] as i64;
        // A control group stores its link even if its target does not exist.
        match self.step.action {
            Action::Control(_) => self.goal = Some(goal),
            _ => self.cpu.go_to(goal)?,
        }
        Ok(())
    }

    fn barrier(&mut self, _: u64) -> Result<(), Trap> {
        Ok(())
    }

    fn end(&mut self, _: u64) -> Result<(), Trap> {
        self.cpu.task.state = State::Ended;
        Ok(())
    }

    fn fault(&mut self, fault: u16, datum: &Wide<LANES>, mask: u64) -> Result<(), Trap> {
        let instance = mask.trailing_zeros() as usize;
        Err(match SEMANTICS.faults.get(usize::from(fault)) {
            Some(&"format") => Trap::Format { instance, code: lowest(datum, mask) },
            _ => Trap::Unknown,
        })
    }

    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Wide<LANES>], mask: u64) -> Result<Wide<LANES>, Trap> {
        call(self, intrinsic, arguments, mask)
    }
}
