//! The rules for code that computes in vectors of lanes, which [`function`](super::function) calls.
//!
//! For each general register, the rules track what it points to, and how far that has moved within a loop over
//! columns or between iterations. A loop over columns is followed from the constant number of rounds it starts with
//! to the backward jump, which must come after everything that moves has moved exactly once. Code that cannot be
//! proved safe this way is refused, and handlers are executed instead.
//!
//! - here: what is known at a point in the code, and how it passes along jumps
//! - `instruction`: what a single instruction may access, and what it leaves in registers and flags

mod instruction;

use iced_x86::{Code, CpuidFeature, Instruction, Register};

use super::emit::Emitted;
use super::host::Host;
use super::row;
use super::window::Window;
use crate::exec::jit::check::{self, Refused, Rules, Step, gpr};

/// What code may access besides the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block: the active lanes, windows of memory, the lanes that jump, and how often it may be executed.
    Block,
    /// A loop: its state. The number is how many warps it executes side by side.
    Loop(usize),
    /// A region whose lanes all take the same path: its state.
    Flow,
}

/// How far the target of a register has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    /// At the columns of the current round.
    Round,
    /// After the columns of the current round.
    Beyond,
    /// After the columns of the last round.
    End,
    /// At the position of the next iteration.
    Next,
}

/// What a general register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Any number.
    Number,
    /// Zero.
    Zero,
    /// The offset of a round's columns in a row.
    Column(Moved),
    /// The offset of a warp's column in a row.
    AnyColumn,
    /// The number of rounds left, and whether the current one is already subtracted.
    Rounds(bool),
    /// The number of a warp.
    Warp,
    /// One bit for each warp left, and whether at least one is known to be set.
    Busy(bool),
    /// The address of an instruction in the code.
    Label,
    Rows,
    /// The rows, starting at some column.
    RowsFrom,
    Active,
    Pointers,
    /// A window of memory.
    Window(u8, Moved),
    Jumps(Moved),
    Times,
    State,
    /// The first byte of a reach of memory.
    Reach(u8),
    /// A number of 32 bits, zero-extended.
    Word,
    /// An offset at which a reach has room for a column.
    Offset(u8),
    /// An offset at which a reach has room for a word.
    Place(u8),
}

/// What the flags tell, or the vector before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flags {
    Nothing,
    /// Whether rounds are left.
    Rounds,
    /// Whether iterations are left.
    Times,
    /// Whether warps are left.
    Busy(Register),
    /// Whether a reach has room for a column at an offset.
    Room(Register, u8),
    /// The instruction before has limited the words of a vector register to offsets in a reach. Those that extract
    /// words may lie between.
    Limited(Register, u8),
}

/// What is known at a point in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    registers: [Holds; 16],
    flags: Flags,
    /// Whether the current iteration was subtracted from those left.
    taken: bool,
    /// The number of rounds of the loop over columns, and the bytes from one round to the next; 0 outside of it.
    rounds: u64,
    step: u64,
}

impl Known {
    #[inline]
    fn of(&self, register: Register) -> Holds {
        gpr(register).map_or(Holds::Number, |number| self.registers[number])
    }

    fn change(&mut self, change: impl Fn(Holds) -> Holds) {
        for holds in &mut self.registers {
            *holds = change(*holds);
        }
    }
}

/// The bytes of a vector register.
const COLUMN: u64 = row::COLUMN as u64;

/// The rules for code of a kind on a processor.
struct Lanes<'a> {
    emitted: &'a Emitted,
    kind: Kind,
    /// What the processor supports beyond the baseline of x86-64.
    host: Option<Host>,
    halves: bool,
    /// The offsets at which the column advances, and by how many bytes.
    latches: Vec<(u64, u64)>,
}

/// Checks code for a processor; `halves` says whether it has half-precision arithmetic.
///
/// # Errors
/// The first instruction that may do something forbidden.
pub fn check(emitted: &Emitted, kind: Kind, host: Option<Host>, halves: bool) -> Result<(), Refused> {
    let code = emitted.code().get(..emitted.constants()).unwrap_or_default();
    check::check(code, &mut Lanes { emitted, kind, host, halves, latches: vec![] })
}

impl Rules for Lanes<'_> {
    type State = Known;

    fn has(&self, feature: CpuidFeature) -> bool {
        use CpuidFeature as F;
        match feature {
            F::INTEL8086
            | F::INTEL186
            | F::INTEL286
            | F::INTEL386
            | F::INTEL486
            | F::X64
            | F::CMOV
            | F::SSE
            | F::SSE2 => true,
            F::AVX | F::AVX2 | F::FMA | F::F16C | F::BMI1 | F::BMI2 | F::LZCNT | F::POPCNT => self.host.is_some(),
            F::AVX512F | F::AVX512BW | F::AVX512DQ | F::AVX512VL => self.host == Some(Host::Avx512),
            F::AVX512_FP16 => self.halves,
            _ => false,
        }
    }

    fn entry(&self) -> Known {
        let mut registers = [Holds::Number; 16];
        let given: &[(Register, Holds)] = match self.kind {
            Kind::Block => &[
                (Register::RDI, Holds::Rows),
                (Register::RSI, Holds::Active),
                (Register::RDX, Holds::Busy(true)),
                (Register::RCX, Holds::Pointers),
                (Register::R8, Holds::Jumps(Moved::Round)),
                (Register::R9, Holds::Times),
            ],
            Kind::Flow => &[(Register::RDI, Holds::Rows), (Register::RSI, Holds::State)],
            Kind::Loop(_) => {
                &[(Register::RDI, Holds::Rows), (Register::RSI, Holds::State), (Register::RDX, Holds::AnyColumn)]
            }
        };
        for (register, holds) in given {
            registers[register.number()] = *holds;
        }
        Known { registers, flags: Flags::Nothing, taken: false, rounds: 0, step: 0 }
    }

    fn meet(state: &mut Known, other: &Known) -> bool {
        let mut changed = false;
        for (ours, other) in state.registers.iter_mut().zip(&other.registers).filter(|(ours, other)| ours != other) {
            let agreed = match (*ours, *other) {
                (Holds::Busy(_), Holds::Busy(_)) => Holds::Busy(false),
                _ => Holds::Number,
            };
            changed |= agreed != *ours;
            *ours = agreed;
        }
        if state.flags != other.flags {
            changed |= state.flags != Flags::Nothing;
            state.flags = Flags::Nothing;
        }
        changed |= other.taken && !state.taken;
        state.taken |= other.taken;
        if (state.rounds, state.step) != (other.rounds, other.step) {
            // One path is in a loop whose progress is unknown here.
            let before = *state;
            (state.rounds, state.step) = (0, 0);
            state.change(|holds| match holds {
                Holds::Column(_) | Holds::Rounds(_) | Holds::Jumps(_) | Holds::Window(..) => Holds::Number,
                holds => holds,
            });
            changed |= *state != before;
        }
        changed
    }

    fn whole(&mut self, steps: &[Step]) -> Result<(), Refused> {
        if self.kind != Kind::Block {
            return Ok(());
        }
        let adds = |step: &&Step| {
            matches!(step.instruction.code(), Code::Add_rm64_imm32 | Code::Add_rm64_imm8)
                && step.instruction.op0_register() == Register::RAX
        };
        self.latches =
            steps.iter().filter(adds).map(|step| (step.instruction.ip(), step.instruction.immediate(1))).collect();
        Ok(())
    }

    fn forget_flags(state: &mut Known) {
        state.flags = Flags::Nothing;
    }

    fn repeats(state: &mut Known) {
        state.flags = Flags::Nothing;
        state.change(|holds| match holds {
            Holds::Zero | Holds::Label | Holds::Pointers | Holds::Warp | Holds::AnyColumn => Holds::Number,
            Holds::Reach(_) | Holds::Word | Holds::Offset(_) | Holds::Place(_) => Holds::Number,
            Holds::Window(_, Moved::Beyond | Moved::End | Moved::Next) => Holds::Number,
            holds => holds,
        });
    }

    #[inline(always)]
    fn step(&mut self, step: &Step, state: &mut Known) -> Result<(), &'static str> {
        if step.bytes > 0 {
            self.memory(&step.instruction, step.bytes.into(), state)?;
        }
        if step.is_vector {
            state.flags = self.limits(&step.instruction, state);
            return Ok(());
        }
        self.general(step, state)
    }

    fn taken(&self, jump: &Instruction, state: &Known) -> Option<Known> {
        if jump.code() != Code::Jne_rel32_64 {
            return None;
        }
        let mut next = Known { flags: Flags::Nothing, ..*state };
        match state.flags {
            Flags::Nothing | Flags::Room(..) | Flags::Limited(..) => return None,
            Flags::Rounds => next.change(|holds| match holds {
                Holds::Column(Moved::Beyond) => Holds::Column(Moved::Round),
                Holds::Jumps(Moved::Beyond) => Holds::Jumps(Moved::Round),
                Holds::Window(window, Moved::Beyond) => Holds::Window(window, Moved::Round),
                Holds::Rounds(true) => Holds::Rounds(false),
                // These had to move and have not.
                Holds::Column(_) => Holds::Number,
                Holds::Window(window, _) if self.column(window) != 0 => Holds::Number,
                holds => holds,
            }),
            Flags::Times => {
                next.taken = false;
                next.change(|holds| match holds {
                    Holds::Window(window, Moved::Next) => Holds::Window(window, Moved::Round),
                    Holds::Window(window, Moved::End) if self.further(window) == 0 => {
                        Holds::Window(window, Moved::Round)
                    }
                    Holds::Window(..) => Holds::Number,
                    holds => holds,
                });
            }
            Flags::Busy(register) => next.registers[register.number()] = Holds::Busy(true),
        }
        Some(next)
    }

    fn not_taken(&self, jump: &Instruction, state: &mut Known) {
        if jump.code() == Code::Jne_rel32_64 && state.flags == Flags::Rounds {
            state.change(|holds| match holds {
                Holds::Column(_) | Holds::Rounds(_) => Holds::Number,
                Holds::Jumps(Moved::Beyond) => Holds::Jumps(Moved::End),
                Holds::Window(window, Moved::Beyond) => Holds::Window(window, Moved::End),
                Holds::Window(window, Moved::Round) if self.column(window) == 0 => Holds::Window(window, Moved::End),
                Holds::Window(..) => Holds::Number,
                holds => holds,
            });
            (state.rounds, state.step) = (0, 0);
        }
        if jump.code() == Code::Jae_rel32_64
            && let Flags::Room(register, reach) = state.flags
            && state.of(register) == Holds::Word
        {
            state.registers[register.number()] = Holds::Offset(reach);
        }
        state.flags = Flags::Nothing;
    }

    fn is_label(&self, register: Register, state: &Known) -> bool {
        state.of(register) == Holds::Label
    }
}

impl Lanes<'_> {
    /// Follows an instruction that may write general registers.
    fn general(&mut self, step: &Step, state: &mut Known) -> Result<(), &'static str> {
        let result = self.result(&step.instruction, state)?;
        for write in step.writes.iter().flatten() {
            let to = usize::from(write.register);
            // RBX, RSP, RBP, and R12 to R15.
            if matches!(to, 3..=5 | 12..=15) {
                return Err("writes a register of the caller");
            }
            state.registers[to] = result;
        }
        Ok(())
    }

    /// Returns the columns of a row.
    fn columns(&self) -> u64 {
        (self.emitted.columns() as u64).max(1)
    }

    /// Returns a window of memory, or an empty one if there is none with this number.
    fn window(&self, number: u8) -> Window {
        self.emitted.windows().get(usize::from(number)).copied().unwrap_or_default()
    }

    /// Returns the bytes from one column of a window to the next.
    fn column(&self, window: u8) -> u64 {
        self.window(window).column.into()
    }

    /// Returns the distance from the end of a window's columns to those of the next iteration.
    fn further(&self, window: u8) -> i64 {
        i64::from(self.window(window).stride) - (self.columns() * self.column(window)) as i64
    }
}

#[cfg(test)]
mod tests;
