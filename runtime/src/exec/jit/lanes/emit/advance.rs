//! Emits what follows the iterations of a block: the rows that only advance get their sums.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::{Emitter, LoopPlan};
use crate::exec::jit::lanes::graph::Relation;
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::row::COLUMN;

impl Emitter {
    /// Puts the rows that only advance where they belong. `times` puts the number of iterations into a register.
    pub(super) fn advance(
        &mut self,
        again: &LoopPlan,
        times: impl Fn(&mut Self, Register) -> Option<()>,
    ) -> Option<()> {
        use Register::{EAX, ECX, RAX};
        if again.pairs.is_empty() && again.words.is_empty() {
            return Some(());
        }
        let host = self.host;
        let register = |number: usize| host.register(number as u8);
        let splat = |index: usize, half: usize| register(2 * index + half);
        let word = |index: usize| register(2 * again.pairs.len() + index);
        let (sum, ones) = (word(again.words.len()), host.stored());
        self.splat(ones, 1)?;
        for (index, &(_, stride)) in again.pairs.iter().enumerate() {
            times(self, EAX)?;
            self.push(Instruction::with3(Code::Imul_r64_rm64_imm32, RAX, RAX, stride as i32))?;
            self.splat_of(splat(index, 0), EAX)?;
            self.push(Instruction::with2(Code::Shr_rm64_imm8, RAX, 32))?;
            self.splat_of(splat(index, 1), EAX)?;
        }
        for (index, &(_, step)) in again.words.iter().enumerate() {
            times(self, EAX)?;
            self.push(Instruction::with3(Code::Imul_r32_rm32_imm32, EAX, EAX, step as i32))?;
            self.splat_of(word(index), EAX)?;
        }
        self.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
        self.push(Instruction::with2(Code::Mov_r32_imm32, ECX, self.columns as u32))?;
        let warp = self.label();
        self.put(warp);
        for (first, (index, &(row, _))) in
            (0..host.pieces()).flat_map(|first| again.pairs.iter().enumerate().map(move |pair| (first, pair)))
        {
            self.first = first;
            let [low, high] = [self.column(row, 0), self.column(row + 1, 0)];
            let splats = [splat(index, 0), splat(index, 1)];
            match host {
                Host::Avx512 => self.increase(sum, splats, [low, high], ones)?,
                Host::Avx2 => self.increase_of_avx2(sum, splats, [low, high], ones)?,
            }
        }
        for (first, (index, &(row, _))) in
            (0..host.pieces()).flat_map(|first| again.words.iter().enumerate().map(move |word| (first, word)))
        {
            self.first = first;
            let place = self.column(row, 0);
            let add = match host {
                Host::Avx512 => Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
                Host::Avx2 => Code::VEX_Vpaddd_ymm_ymm_ymmm256,
            };
            self.push(Instruction::with3(add, sum, word(index), place))?;
            self.save(place, sum)?;
        }
        self.push(Instruction::with2(Code::Add_rm64_imm32, RAX, COLUMN as i32))?;
        self.push(Instruction::with1(Code::Dec_rm32, ECX))?;
        self.jump(Code::Jne_rel32_64, warp)
    }

    /// Adds two words to two in memory. The low sum has wrapped if it is less than the added word, which gives the
    /// carry.
    fn increase(
        &mut self,
        sum: Register,
        splats: [Register; 2],
        [low, high]: [MemoryOperand; 2],
        ones: Register,
    ) -> Option<()> {
        let add = Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
        self.push(Instruction::with3(add, sum, splats[0], low))?;
        self.save(low, sum)?;
        let less = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
        self.push(Instruction::with4(less, Register::K1, sum, splats[0], Relation::Less as u32))?;
        self.push(Instruction::with3(add, sum, splats[1], high))?;
        self.push_masked(Instruction::with3(add, sum, sum, ones).ok()?, Register::K1)?;
        self.save(high, sum)
    }

    /// The same with AVX2: one is always carried, and a mask of all ones cancels it if the low sum has not wrapped,
    /// that is, if it is the greater of itself and the added word.
    fn increase_of_avx2(
        &mut self,
        sum: Register,
        splats: [Register; 2],
        [low, high]: [MemoryOperand; 2],
        ones: Register,
    ) -> Option<()> {
        let (add, kept) = (Code::VEX_Vpaddd_ymm_ymm_ymmm256, sum + 1);
        self.push(Instruction::with3(add, sum, splats[0], low))?;
        self.save(low, sum)?;
        self.push(Instruction::with3(Code::VEX_Vpmaxud_ymm_ymm_ymmm256, kept, sum, splats[0]))?;
        self.push(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, kept, kept, sum))?;
        self.push(Instruction::with3(add, sum, splats[1], high))?;
        self.push(Instruction::with3(add, sum, sum, ones))?;
        self.push(Instruction::with3(add, sum, sum, kept))?;
        self.save(high, sum)
    }
}
