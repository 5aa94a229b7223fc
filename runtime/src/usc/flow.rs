//! Control groups: branches, conditions, mutexes, iteration without the ALU.

use isaforge_usc::{Bpred, Branch, Cnd, Cndinst, Ctrlop, Lr, Pcnd, Tgt};

use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::lanes::{Column, LANES, Mask, each};
use crate::usc::machine::{MUTEXES, State};
use crate::usc::program::{Control, Step};

impl<H: Host> Cpu<'_, H> {
    /// A control group. Those that decide for all instances do so even when none is active.
    pub(super) fn control(&mut self, step: &Step, control: &Control, active: Mask) -> Result<(), Trap> {
        let parts = &control.parts;
        if parts.bpret.is_some() {
            return match self.task.breakpoint {
                _ if active == 0 => Ok(()),
                Some(offset) => self.go_to(offset.into()),
                None => Err(Trap::Breakpoint),
            };
        }
        match parts.header.ctrlop {
            Ctrlop::B => match &parts.branch {
                Some(branch) => self.branch(step, branch, control.target, active),
                None => Ok(()),
            },
            Ctrlop::Lapc if active != 0 => self.go_to(i64::from(self.task.link) * 2),
            Ctrlop::Savl => match control.result {
                Some(register) => self.write(register, &[self.task.link; LANES], active),
                None => Ok(()),
            },
            Ctrlop::Cnd => match &parts.cnd {
                Some(cnd) => self.condition(cnd, control, active),
                None => Ok(()),
            },
            Ctrlop::Mutex => {
                if let Some(mutex) = parts.mutex.filter(|_| active != 0) {
                    self.mutex(mutex.lr, mutex.id);
                }
                Ok(())
            }
            Ctrlop::Sbo => {
                if let Some(sbo) = parts.sbo.filter(|_| active != 0) {
                    self.task.base[usize::from(sbo.tgt == Tgt::Shared)] = sbo.offset as u16;
                }
                Ok(())
            }
            Ctrlop::Ditr => parts.ditr.map_or(Ok(()), |ditr| self.iterate_directly(&ditr, active)),
            Ctrlop::Itrsmp => parts.itrsmp.map_or(Ok(()), |itrsmp| self.iterate_and_sample(&itrsmp, active)),
            // What backend operations bring is there at once: there is nothing to wait for.
            _ => Ok(()),
        }
    }

    pub(super) fn go_to(&mut self, offset: i64) -> Result<(), Trap> {
        self.next = Some(self.program.step_at(offset).ok_or(Trap::Target(offset))?);
        Ok(())
    }

    /// All instances of a task are at the same place: one that wants to branch takes the others along, and those whose Pe
    /// is clear do nothing there.
    fn branch(&mut self, step: &Step, branch: &Branch, target: Option<usize>, active: Mask) -> Result<(), Trap> {
        let taken = match branch.bpred {
            Bpred::Allp => active == 0,
            Bpred::Cc | Bpred::Anyp => active != 0,
        };
        if !taken {
            return Ok(());
        }
        if branch.link {
            self.task.link = (step.at + step.length) / 2;
        }
        self.next = Some(target.ok_or_else(|| Trap::Target(step.goal().unwrap_or_default()))?);
        Ok(())
    }

    fn mutex(&mut self, action: Lr, id: u32) {
        let holder = &mut self.common.mutexes[id as usize % MUTEXES];
        let mine = *holder == Some(self.number);
        match action {
            Lr::Lock => match *holder {
                None => *holder = Some(self.number),
                Some(_) if mine => {}
                Some(_) => self.task.state = State::Wants(id),
            },
            Lr::Release | Lr::ReleaseSleep | Lr::ReleaseWakeup => {
                if mine {
                    *holder = None;
                }
                match action {
                    Lr::ReleaseSleep => self.task.state = State::Sleeps(id),
                    Lr::ReleaseWakeup => self.woken = Some(id),
                    Lr::Release | Lr::Lock => {}
                }
            }
        }
    }

    /// A conditional instruction: each instance's counter in S0 becomes W0, and says whether the instance runs.
    fn condition(&mut self, cnd: &Cnd, control: &Control, active: Mask) -> Result<(), Trap> {
        let predicate = self.task.predicate;
        let condition: Mask = match cnd.pcnd {
            Pcnd::Always => u32::MAX,
            Pcnd::P0True => predicate,
            Pcnd::Never => 0,
            Pcnd::P0False => !predicate,
        };
        if active == 0 || cnd.cndinst == Cndinst::SetlA {
            // The first part of setting the link address is preparation.
            return Ok(());
        }
        let counter = self.read(control.sources[0], active)?;
        let value = self.read(control.sources[2], active)?;
        let someone_loops = condition & self.task.running & active != 0;
        let first = self.task.running & active;
        let chosen = (first != 0).then(|| value[first.trailing_zeros() as usize]);
        if let (Cndinst::SetlB, Some(address)) = (cnd.cndinst, chosen) {
            self.task.link = address;
        }
        let mut result: Column = counter;
        let mut running = self.task.running;
        for i in each(active) {
            let asks = Ask {
                holds: condition >> i & 1 != 0,
                counter: counter[i],
                value: value[i],
                adjust: cnd.adjust,
                someone_loops,
                is_chosen: chosen.is_none_or(|address| address == value[i]),
            };
            let (counter, runs) = asks.answer(cnd.cndinst);
            result[i] = counter;
            running = (running & !(1 << i)) | u32::from(runs) << i;
        }
        self.task.running = running;
        if cnd.cndinst == Cndinst::Lt {
            self.set_predicate(if someone_loops { u32::MAX } else { 0 }, active);
        }
        match control.result {
            Some(register) => self.write(register, &result, active),
            None => Ok(()),
        }
    }
}

/// What a conditional instruction knows of an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Whether its condition holds.
    pub holds: bool,
    /// The mask counter: 0 for an instance that runs.
    pub counter: u32,
    /// The second operand.
    pub value: u32,
    /// What the counter changes by.
    pub adjust: u32,
    /// Whether some running instance wants another round of a loop.
    pub someone_loops: bool,
    /// Whether its second operand is that of the first running instance, if one runs.
    pub is_chosen: bool,
}

impl Ask {
    /// The new counter, and whether the instance runs.
    #[inline(always)]
    pub(super) fn answer(self, instruction: Cndinst) -> (u32, bool) {
        let Ask { holds, counter, value, adjust, someone_loops, is_chosen } = self;
        let stay = (counter, counter == 0);
        let ends = if counter > adjust { (counter - adjust, false) } else { (0, true) };
        match instruction {
            Cndinst::St if holds && counter == 0 => (0, true),
            Cndinst::St => (counter.wrapping_add(adjust), false),
            Cndinst::Ef if counter == 0 => (adjust, adjust == 0),
            Cndinst::Ef if holds && counter == 1 => (0, true),
            Cndinst::Ef => (counter, false),
            Cndinst::Sm if holds && counter == 0 => (value, value == 0),
            Cndinst::Sm => stay,
            Cndinst::Lt if !someone_loops => ends,
            Cndinst::Lt if !holds && counter == 0 => (adjust, false),
            Cndinst::Lt => stay,
            Cndinst::End => ends,
            Cndinst::SetlB if counter == 0 && !is_chosen => (1, false),
            Cndinst::SetlB => stay,
            Cndinst::Lpc if counter == 0 => (2, false),
            Cndinst::Lpc if counter == 1 => (0, true),
            Cndinst::Lpc => (counter, false),
            Cndinst::SetlA => stay,
        }
    }
}
