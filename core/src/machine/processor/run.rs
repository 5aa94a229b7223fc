//! The execution loop: which lanes execute next, what an instruction does, and where lanes continue.

use super::Machine;
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
    pub(super) fn turn(&self) -> Option<(u64, u64)> {
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
        let Some((pc, mut active)) = self.turn() else { return Ok(Some(Stop::Ended)) };
        let trap = |reason| Trap { pc, reason };
        if self.waiting & active != 0 {
            // All remaining lanes wait, so the barrier is complete.
            self.waiting = 0;
        }
        if active != self.live && self.hardware.divergence == Divergence::Refused {
            return Err(trap(Reason::Diverged));
        }
        let tables = (self.encoding, self.semantics, self.hardware);
        let number = self.fetch(pc).map_err(trap)?;
        // `fetch` returns only numbers of existing instructions.
        let Some(instruction) = self.code.get(number) else { return Ok(Some(Stop::Ended)) };
        if instruction.unmasks {
            active = self.live;
        }
        let unit = u64::from(self.hardware.unit.max(1));
        let next = wrapped(pc.wrapping_add(instruction.length), self.hardware);
        let next = cut(next / unit, self.semantics.pc_bits.into()).wrapping_mul(unit);
        self.touched.clear();
        let looks_on = host.looks_on();
        let mut running = Running {
            tables,
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
            flow: Flow { next: [next; L], branched: 0, ended: 0, waits: 0, exit: None },
            touched: looks_on.then_some(&mut self.touched),
            replaced: alloc::vec::Vec::new(),
        };
        match &instruction.execution {
            None => {
                let done = evaluate(self.semantics, &instruction.shape, &mut self.scratch, &mut running);
                done.map_err(|reason| trap(running.undo(reason)))?;
            }
            Some(execution) => {
                active = running.executing(execution, &mut self.scratch).map_err(trap)?;
                running.executing = active;
                let lanes = if execution.everyone { self.live } else { active };
                let turns = if execution.in_turn { L } else { 1 };
                let lanes = |turn| if execution.in_turn { lanes & 1_u64 << turn } else { lanes };
                for lanes in (0..turns).map(lanes).filter(|lanes| *lanes != 0) {
                    running.active = lanes;
                    let done = evaluate(self.semantics, &instruction.shape, &mut self.scratch, &mut running);
                    done.map_err(|reason| trap(running.undo(reason)))?;
                }
            }
        }
        let mut flow = running.flow;
        if instruction.ends {
            flow.ended |= active;
        }
        // Lanes that stay together end together, even if none of them executes the instruction that ends them.
        if self.hardware.divergence == Divergence::Together && (instruction.ends || flow.ended != 0) {
            flow.ended = self.live;
        }
        self.live &= !flow.ended;
        if self.hardware.divergence == Divergence::Together {
            let first = flow.branched.trailing_zeros() as usize;
            self.pc = [flow.next.get(first).copied().unwrap_or(next); L];
        } else if self.hardware.divergence == Divergence::Masked {
            let first = flow.branched.trailing_zeros() as usize;
            self.pc = [flow.next.get(first).copied().unwrap_or(next); L];
            self.masked = match flow.branched {
                _ if instruction.unmasks => 0,
                0 => self.masked,
                branched => self.masked | active & !branched,
            } & self.live;
        } else {
            set_lanes(&mut self.pc, &flow.next, active);
            self.waiting = (self.waiting | flow.waits) & self.live;
        }
        self.executed += 1;
        let mut stopped = false;
        if looks_on {
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
}
