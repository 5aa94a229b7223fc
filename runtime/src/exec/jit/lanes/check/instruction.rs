//! Single instructions: the memory that each may access, and what it leaves in registers and flags.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};

use super::{COLUMN, Flags, Holds, Kind, Known, Lanes, Moved};
use crate::exec::jit::lanes::emit::{FlowState, Last, State as LoopState, Times};
use crate::exec::jit::lanes::reach::Reach;

/// The bytes of a word.
const WORD: u64 = 4;

impl Lanes<'_> {
    /// Checks that a memory operand reads from the constants after the code.
    fn constant(&self, instruction: &Instruction, size: u64) -> Result<(), &'static str> {
        let at = instruction.ip_rel_memory_address();
        let (first, end) = (self.emitted.constants() as u64, self.emitted.code().len() as u64);
        let is_within = at >= first && at.checked_add(size).is_some_and(|last| last <= end);
        match instruction.op0_kind() {
            OpKind::Memory => Err("writes code"),
            _ if is_within => Ok(()),
            _ => Err("reads something other than a constant"),
        }
    }

    /// Checks that a memory operand lies in memory the code may access.
    #[inline(never)]
    pub(super) fn memory(&self, instruction: &Instruction, size: u64, state: &mut Known) -> Result<(), &'static str> {
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if instruction.is_ip_rel_memory_operand() {
            return self.constant(instruction, size);
        }
        if index.is_vector_register() {
            return self.indexed(instruction, size, state);
        }
        if !base.is_gpr64() || index != Register::None && !index.is_gpr64() {
            return Err("uses an absolute address");
        }
        let index =
            if index == Register::None { None } else { Some((state.of(index), instruction.memory_index_scale())) };
        let at = instruction.memory_displacement64();
        let within = |bytes: u64| at.checked_add(size).is_some_and(|end| end <= bytes);
        let (columns, last) = (self.columns(), state.rounds.saturating_sub(1));
        let row = columns * COLUMN;
        let in_rows = within(self.emitted.rows() as u64 * row);
        let fits = match (state.of(base), index) {
            // A column must not reach into the next row.
            (Holds::Rows, Some((Holds::Column(Moved::Round), 1))) => {
                in_rows && at % row + last * state.step + size <= row
            }
            (Holds::Rows, Some((Holds::AnyColumn, 1))) => in_rows && at % row + (columns - 1) * COLUMN + size <= row,
            (Holds::Rows, None) => self.kind == Kind::Flow && in_rows && at % row + size <= row,
            (Holds::RowsFrom, None) => match self.kind {
                Kind::Loop(ways) => in_rows && at % row + size <= ways as u64 * COLUMN,
                _ => false,
            },
            (Holds::Active, None) => within(2 * columns),
            (Holds::Jumps(Moved::Round), None) => within(2 * columns / state.rounds.max(1)),
            (Holds::Active | Holds::Jumps(Moved::Round), Some((Holds::Warp, 2))) => within(2),
            (Holds::Pointers, None) => within(8 * self.emitted.windows().len() as u64) && at.is_multiple_of(8),
            (Holds::Window(window, Moved::Round), None) => {
                let window = self.window(window);
                if instruction.op0_kind() == OpKind::Memory && !window.writes {
                    return Err("writes read-only memory");
                }
                // The columns of one round are a part of the window's.
                let ahead = last * (columns / state.rounds.max(1)) * u64::from(window.column);
                let in_loop = state.rounds > 0 || window.column == 0;
                in_loop && within(window.bytes(self.emitted.columns()).saturating_sub(ahead))
            }
            (Holds::Window(window, Moved::Round), Some((Holds::AnyColumn, scale))) => {
                let window = self.window(window);
                if instruction.op0_kind() == OpKind::Memory && !window.writes {
                    return Err("writes read-only memory");
                }
                u64::from(scale) * COLUMN == u64::from(window.column) && within(window.bytes(1))
            }
            (Holds::Times, None) => match instruction.code() {
                Code::Dec_rm32 if at == offset_of!(Times, left) as u64 && !state.taken => {
                    state.taken = true;
                    true
                }
                _ => {
                    instruction.op0_kind() != OpKind::Memory && within(size_of::<Times>() as u64)
                        || compares(instruction)
                }
            },
            // Nothing may change which memory is in reach.
            (Holds::State, None) => within(match self.kind {
                Kind::Flow if instruction.op0_kind() == OpKind::Memory => offset_of!(FlowState, steps) as u64,
                Kind::Flow => size_of::<FlowState>() as u64,
                _ => size_of::<LoopState>() as u64,
            }),
            (Holds::Reach(reach), Some((offset @ (Holds::Offset(of) | Holds::Place(of)), 1))) => {
                if instruction.op0_kind() == OpKind::Memory && !self.window(reach).writes {
                    return Err("writes read-only memory");
                }
                let room = if offset == Holds::Place(of) { WORD } else { COLUMN };
                reach == of && at == 0 && size <= room
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err("accesses memory out of bounds") }
    }

    /// Checks an access of lanes at offsets that the instruction before has limited.
    fn indexed(&self, instruction: &Instruction, size: u64, state: &Known) -> Result<(), &'static str> {
        let stores = match instruction.code() {
            Code::EVEX_Vpgatherdd_zmm_k1_vm32z | Code::VEX_Vpgatherdd_ymm_vm32y_ymm => false,
            Code::EVEX_Vpscatterdd_vm32z_k1_zmm => true,
            _ => return Err("accesses memory in an unknown way"),
        };
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let Flags::Limited(limited, reach) = state.flags else { return Err("accesses memory out of bounds") };
        let is_in_reach = base.is_gpr64() && state.of(base) == Holds::Reach(reach) && index == limited;
        let is_plain =
            instruction.memory_index_scale() == 1 && instruction.memory_displacement64() == 0 && size == WORD;
        if !is_in_reach || !is_plain {
            return Err("accesses memory out of bounds");
        }
        if stores && !self.window(reach).writes { Err("writes read-only memory") } else { Ok(()) }
    }

    /// Returns what an instruction on vectors has limited.
    pub(super) fn limits(&self, instruction: &Instruction, state: &Known) -> Flags {
        let last = match instruction.code() {
            _ if instruction.op2_kind() != OpKind::Memory => None,
            Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32
                if instruction.is_broadcast() && instruction.op_mask() == Register::None =>
            {
                self.field(instruction, offset_of!(Reach, last), state)
            }
            Code::VEX_Vpminud_ymm_ymm_ymmm256 | Code::VEX_Vpminud_xmm_xmm_xmmm128 => {
                self.nth(instruction, offset_of!(FlowState, lasts), size_of::<Last>(), state)
            }
            _ => None,
        };
        last.map_or(Flags::Nothing, |reach| Flags::Limited(instruction.op0_register(), reach))
    }

    /// Returns the reach whose field is the operand in memory of an instruction.
    fn field(&self, instruction: &Instruction, field: usize, state: &Known) -> Option<u8> {
        self.nth(instruction, offset_of!(FlowState, reaches) + field, size_of::<Reach>(), state)
    }

    /// Returns the reach whose element, in an array in the state, is the operand in memory of an instruction.
    fn nth(&self, instruction: &Instruction, first: usize, size: usize, state: &Known) -> Option<u8> {
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if self.kind != Kind::Flow || !base.is_gpr64() || state.of(base) != Holds::State || index != Register::None {
            return None;
        }
        let at = instruction.memory_displacement64().checked_sub(first as u64)?;
        let reach = u8::try_from(at / size as u64).ok()?;
        (at.is_multiple_of(size as u64) && usize::from(reach) < self.emitted.windows().len()).then_some(reach)
    }

    /// Returns what an instruction leaves in the register that it writes, and updates what the flags tell.
    pub(super) fn result(&self, instruction: &Instruction, state: &mut Known) -> Result<Holds, &'static str> {
        let first =
            if instruction.op0_kind() == OpKind::Register { instruction.op0_register() } else { Register::None };
        let before = state.of(first);
        let same = first == instruction.op1_register();
        let flags = std::mem::replace(&mut state.flags, Flags::Nothing);
        let by = || instruction.immediate(1) as i64;
        let rounds = state.rounds.max(1);
        Ok(match (instruction.code(), before) {
            (Code::Xor_r32_rm32, _) if same => Holds::Zero,
            (Code::Mov_r32_imm32, _) if first == Register::ECX && self.kind == Kind::Block => {
                if state.rounds > 0 {
                    return Err("begins a nested loop");
                }
                let latch = self.latches.iter().find(|(at, _)| *at > instruction.ip());
                (state.rounds, state.step) = (instruction.immediate32().into(), latch.map_or(0, |(_, step)| *step));
                if state.rounds.checked_mul(state.step).is_none_or(|end| end > self.columns() * COLUMN) {
                    return Err("runs past the last warp");
                }
                if state.rounds == 0 || !self.columns().is_multiple_of(state.rounds) {
                    return Err("does not cover all columns");
                }
                state.change(|holds| if holds == Holds::Zero { Holds::Column(Moved::Round) } else { holds });
                Holds::Rounds(false)
            }
            (Code::Dec_rm32, Holds::Rounds(false)) => {
                state.flags = Flags::Rounds;
                Holds::Rounds(true)
            }
            (Code::Cmp_rm32_imm8, _)
                if compares(instruction) && state.taken && state.of(instruction.memory_base()) == Holds::Times =>
            {
                state.flags = Flags::Times;
                Holds::Number
            }
            (Code::Test_rm32_r32, Holds::Busy(_)) if same => {
                state.flags = Flags::Busy(first.full_register());
                before
            }
            (Code::Add_rm64_imm32 | Code::Add_rm64_imm8, Holds::Column(Moved::Round)) if by() as u64 == state.step => {
                Holds::Column(Moved::Beyond)
            }
            (Code::Add_rm64_imm32, Holds::Window(window, Moved::Round))
                if state.rounds > 0 && by() as u64 * rounds == self.columns() * self.column(window) =>
            {
                Holds::Window(window, Moved::Beyond)
            }
            // Between iterations, windows advance.
            (Code::Add_rm64_imm32, Holds::Window(window, Moved::End)) if by() == self.further(window) => {
                Holds::Window(window, Moved::Next)
            }
            (Code::Add_rm64_imm8, Holds::Jumps(Moved::Round))
                if state.rounds > 0 && by() as u64 * rounds == 2 * self.columns() =>
            {
                Holds::Jumps(Moved::Beyond)
            }
            (Code::Sub_rm64_imm8, Holds::Jumps(Moved::End)) if by() as u64 == 2 * self.columns() => {
                Holds::Jumps(Moved::Round)
            }
            (Code::Add_rm64_r64, Holds::Rows) if state.of(instruction.op1_register()) == Holds::AnyColumn => {
                Holds::RowsFrom
            }
            (Code::Mov_r64_rm64, _)
                if instruction.op1_kind() == OpKind::Memory
                    && state.of(instruction.memory_base()) == Holds::Pointers =>
            {
                let window = instruction.memory_displacement64() / 8;
                u8::try_from(window).map_or(Holds::Number, |window| Holds::Window(window, Moved::Round))
            }
            (Code::Mov_r64_rm64, _)
                if instruction.op1_kind() == OpKind::Memory
                    && let Some(reach) = self.field(instruction, offset_of!(Reach, start), state) =>
            {
                Holds::Reach(reach)
            }
            (Code::EVEX_Vmovd_rm32_xmm | Code::VEX_Vmovd_rm32_xmm, _) => Holds::Word,
            (Code::VEX_Vpextrd_rm32_xmm_imm8, _) => match flags {
                Flags::Limited(limited, reach) if limited == instruction.op1_register() => {
                    state.flags = flags;
                    Holds::Place(reach)
                }
                _ => Holds::Word,
            },
            (Code::Cmp_r32_rm32, Holds::Word)
                if instruction.op1_kind() == OpKind::Memory
                    && let Some(reach) = self.field(instruction, offset_of!(Reach, columns), state) =>
            {
                state.flags = Flags::Room(first.full_register(), reach);
                Holds::Word
            }
            (Code::VEX_Blsr_r32_rm32, Holds::Busy(_)) if same => Holds::Busy(false),
            (Code::Tzcnt_r32_rm32, _) if instruction.op1_kind() == OpKind::Register => {
                if state.of(instruction.op1_register()) == Holds::Busy(true) { Holds::Warp } else { Holds::Number }
            }
            (Code::Imul_r32_rm32_imm8, _)
                if instruction.op1_kind() == OpKind::Register
                    && state.of(instruction.op1_register()) == Holds::Warp
                    && instruction.immediate(2) == COLUMN =>
            {
                Holds::AnyColumn
            }
            (Code::Lea_r64_m, _) if instruction.is_ip_rel_memory_operand() => Holds::Label,
            // These leave the flags unchanged.
            _ if flags != Flags::Nothing && matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Lea) => {
                state.flags = flags;
                Holds::Number
            }
            _ => Holds::Number,
        })
    }
}

/// Whether an instruction compares the number of iterations left with zero.
fn compares(instruction: &Instruction) -> bool {
    instruction.code() == Code::Cmp_rm32_imm8
        && instruction.op0_kind() == OpKind::Memory
        && instruction.memory_displacement64() == offset_of!(Times, left) as u64
        && instruction.immediate(1) == 0
}
