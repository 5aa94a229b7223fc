//! The execution loop: which lanes execute next, what an instruction does, and where lanes continue.

use super::Machine;
use crate::bits::ones;
use crate::machine::encoding::Text;
use crate::machine::environment::{Flow, Running};
use crate::machine::host::{Executed, Host};
use crate::machine::location::cut;
use crate::machine::registers::{set_lanes, wrapped};
use crate::machine::table::Divergence;
use crate::machine::trap::{Reason, Stop, Trap};
use crate::semantics::evaluate::evaluate;

impl<const L: usize> Machine<L> {
    /// The address at which lanes execute next, and those lanes. `None` when all have ended.
    pub fn turn(&self) -> Option<(u64, u64)> {
        if self.hardware.divergence == Divergence::Masked {
            // This includes the case in which all lanes are masked, since a later instruction may unmask them.
            let first = self.live.trailing_zeros() as usize;
            return Some((*self.pc.get(first)?, self.live & !self.masked));
        }
        let ready = match self.live & !self.waiting {
            0 => self.live,
            ready => ready,
        };
        if L == 1 {
            return (ready != 0).then_some((self.pc[0], 1));
        }
        let first = self.pc[0];
        if ready == ones(L as u32) && self.pc.iter().fold(0, |differ, pc| differ | (pc ^ first)) == 0 {
            return Some((first, ready));
        }
        let lanes = || self.pc.iter().enumerate().filter(|(lane, _)| ready >> lane & 1 != 0);
        let pc = lanes().map(|(_, pc)| *pc).min()?;
        Some((pc, lanes().filter(|(_, at)| **at == pc).fold(0, |mask, (lane, _)| mask | 1 << lane)))
    }

    /// Executes instructions until the program ends or reaches a breakpoint. A breakpoint at the first instruction is
    /// ignored.
    ///
    /// # Errors
    /// The trap, or that `budget` instructions have been executed.
    pub fn run(&mut self, host: &mut impl Host<L>, budget: u64) -> Result<Stop, Trap> {
        let mut left = budget;
        loop {
            if left == 0 {
                return Err(Trap { pc: self.pc(), reason: Reason::Budget(budget) });
            }
            left -= 1;
            if let Some(stop) = self.step(host)? {
                return Ok(stop);
            }
            if !self.breakpoints.is_empty() && self.breakpoints.contains(&self.pc()) {
                return Ok(Stop::Breakpoint(self.pc()));
            }
        }
    }

    /// Executes one instruction. Returns how the program stopped, or `None` when it did not.
    ///
    /// # Errors
    /// When it cannot be executed. Registers and states are then unchanged.
    pub fn step(&mut self, host: &mut impl Host<L>) -> Result<Option<Stop>, Trap> {
        match self.turn() {
            Some(turn) => self.step_at(turn, host, |_| None),
            None => Ok(Some(Stop::Ended)),
        }
    }

    /// Executes one instruction, at the address and in the lanes that [`Machine::turn`] returns. `execute` may perform its
    /// operation in the environment that it is given, or it returns `None`, having done nothing, to leave that to the
    /// evaluator.
    ///
    /// # Errors
    /// As [`Machine::step`].
    pub fn step_at<H: Host<L>>(
        &mut self,
        (pc, mut active): (u64, u64),
        host: &mut H,
        execute: impl FnOnce(&mut Running<'_, L, H>) -> Option<Result<(), Reason>>,
    ) -> Result<Option<Stop>, Trap> {
        let trap = |reason| Trap { pc, reason };
        if self.waiting & active != 0 {
            // All remaining lanes wait, so the barrier is complete.
            self.waiting = 0;
        }
        if active != self.live && self.hardware.divergence == Divergence::Refused {
            return Err(trap(Reason::Diverged));
        }
        let number = self.fetch(pc).map_err(trap)?;
        let mut scratch = core::mem::take(&mut self.scratch);
        let (looks_on, live, semantics) = (host.looks_on(), self.live, self.semantics);
        self.touched.clear();
        // `fetch` returns only numbers of existing instructions.
        let Some(mut running) = self.running(host, (number, pc), active) else { return Ok(Some(Stop::Ended)) };
        let instruction = running.instruction;
        let (ends, unmasks, next) = (instruction.ends, instruction.unmasks, running.flow.next);
        if unmasks {
            active = live;
            (running.active, running.executing) = (active, active);
        }
        let before = instruction.undoes.then(|| running.columns().to_vec());
        let done = match &instruction.execution {
            None => execute(&mut running)
                .unwrap_or_else(|| evaluate(semantics, &instruction.shape, &mut scratch, &mut running)),
            Some(execution) => {
                active = running.executing(execution, &mut scratch).map_err(trap)?;
                running.executing = active;
                let lanes = if execution.everyone { live } else { active };
                let turns = if execution.in_turn { L } else { 1 };
                let lanes = |turn| if execution.in_turn { lanes & 1_u64 << turn } else { lanes };
                (0..turns).map(lanes).filter(|lanes| *lanes != 0).try_for_each(|lanes| {
                    running.active = lanes;
                    evaluate(semantics, &instruction.shape, &mut scratch, &mut running)
                })
            }
        };
        done.map_err(|reason| {
            before.into_iter().for_each(|before| *running.columns_mut() = before);
            trap(reason)
        })?;
        let mut flow = running.flow;
        self.scratch = scratch;
        if ends {
            flow.ended |= active;
        }
        // Lanes that stay together end together, even if none of them executes the instruction that ends them.
        if self.hardware.divergence == Divergence::Together && (ends || flow.ended != 0) {
            flow.ended = self.live;
        }
        self.live &= !flow.ended;
        // Where all lanes continue, unless each may branch by itself.
        let first = flow.branched.trailing_zeros() as usize;
        let target = flow.targets.as_ref().and_then(|targets| targets.get(first).copied()).unwrap_or(next);
        if self.hardware.divergence == Divergence::Together {
            self.pc = [target; L];
        } else if self.hardware.divergence == Divergence::Masked {
            self.pc = [target; L];
            self.masked = match flow.branched {
                _ if unmasks => 0,
                0 => self.masked,
                branched => self.masked | active & !branched,
            } & self.live;
        } else {
            set_lanes(&mut self.pc, &flow.targets.unwrap_or([next; L]), active);
            self.waiting = (self.waiting | flow.waits) & self.live;
        }
        self.executed += 1;
        let mut stopped = false;
        if looks_on && let Some(instruction) = self.code.get(number) {
            let text = &Text(self.encoding, &instruction.found);
            let step = Executed { pc, opcode: instruction.opcode, active, touched: &self.touched, text };
            stopped = host.executed(&step).is_break();
        }
        Ok(match flow.exit {
            Some(status) => Some(Stop::Exit(status)),
            None if self.live == 0 => Some(Stop::Ended),
            None => stopped.then_some(Stop::Host),
        })
    }

    /// The lowest address above another one at which live lanes are that do not wait.
    pub fn next_after(&self, pc: u64) -> Option<u64> {
        let lanes = self.pc.iter().enumerate().filter(|(lane, _)| (self.live & !self.waiting) >> lane & 1 != 0);
        lanes.map(|(_, at)| *at).filter(|at| *at > pc).min()
    }

    /// The address that a branch to a value of the program counter leads to.
    pub fn branched(&self, target: u64) -> u64 {
        wrapped(target.wrapping_mul(self.hardware.unit.max(1).into()), self.hardware)
    }

    /// The address after an instruction of a length in bytes.
    pub fn following(&self, pc: u64, length: u64) -> u64 {
        let unit = u64::from(self.hardware.unit.max(1));
        let next = wrapped(pc.wrapping_add(length), self.hardware);
        cut(next / unit, self.semantics.pc_bits.into()).wrapping_mul(unit)
    }

    /// The environment of the instruction at an address, for an engine that executes its operation in some lanes and
    /// then [advances](Machine::advance_lanes) them.
    ///
    /// # Errors
    /// The reason of the trap that executing it would cause.
    pub fn environment<'a, H: Host<L>>(
        &'a mut self,
        host: &'a mut H,
        pc: u64,
        lanes: u64,
    ) -> Result<Running<'a, L, H>, Reason> {
        let number = self.fetch(pc)?;
        // `fetch` returns only numbers of existing instructions.
        self.running(host, (number, pc), lanes).ok_or(Reason::NoMeaning(""))
    }

    /// The environment of an instruction, by its number and address.
    fn running<'a, H: Host<L>>(
        &'a mut self,
        host: &'a mut H,
        (number, pc): (usize, u64),
        active: u64,
    ) -> Option<Running<'a, L, H>> {
        let instruction = self.code.get(number)?;
        let (next, looks_on) = (self.following(pc, instruction.length), host.looks_on());
        Some(Running {
            tables: (self.encoding, self.semantics, self.hardware),
            instruction,
            registers: &mut self.registers,
            memory: &mut self.memory,
            spaces: &mut self.spaces,
            host,
            inner: &mut self.inner,
            active,
            executing: active,
            live: self.live,
            pc,
            inside: false,
            flow: Flow { next, targets: None, branched: 0, ended: 0, waits: 0, exit: None },
            touched: looks_on.then_some(&mut self.touched),
        })
    }
}
