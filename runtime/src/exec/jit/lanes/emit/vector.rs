//! Moves of vector registers and masks, for each host.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::loops::State;
use super::plan::bit;
use super::{Access, Constant, Emitter, LANES, loops};
use crate::exec::jit::lanes::host::{Host, half};

/// Shift counts that move each bit of a byte to the sign of a word.
const TO_SIGNS: Constant = [31, 30, 29, 28, 27, 26, 25, 24];

impl Emitter {
    /// Returns the bytes of some registers.
    pub(super) fn bytes(&self, registers: usize) -> i64 {
        (4 * self.host.lanes() * registers) as i64
    }

    /// Returns the bytes of the masks of some registers, with one bit for each lane.
    pub(super) fn mask_bytes(&self, registers: usize) -> usize {
        self.host.lanes() * registers / 8
    }

    /// Returns the memory operand of a constant.
    pub(super) fn constant(&mut self, words: Constant) -> MemoryOperand {
        let nth = self.constants.iter().position(|other| *other == words).unwrap_or_else(|| {
            self.constants.push(words);
            self.constants.len() - 1
        });
        MemoryOperand::with_base_displ(Register::RIP, (nth * size_of::<Constant>()) as i64)
    }

    /// Loads a register.
    pub(super) fn load(&mut self, to: Register, from: MemoryOperand) -> Option<()> {
        self.push(Instruction::with2(
            match self.host {
                Host::Avx512 => Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512,
                Host::Avx2 => Code::VEX_Vmovdqu_ymm_ymmm256,
            },
            to,
            from,
        ))
    }

    /// Loads a word into all lanes of a register.
    pub(super) fn load_splat(&mut self, to: Register, from: MemoryOperand) -> Option<()> {
        self.push(Instruction::with2(
            match self.host {
                Host::Avx512 => Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
                Host::Avx2 => Code::VEX_Vpbroadcastd_ymm_xmmm32,
            },
            to,
            from,
        ))
    }

    /// Stores a register.
    pub(super) fn save(&mut self, to: MemoryOperand, from: Register) -> Option<()> {
        self.push(Instruction::with2(
            match self.host {
                Host::Avx512 => Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm,
                Host::Avx2 => Code::VEX_Vmovdqu_ymmm256_ymm,
            },
            to,
            from,
        ))
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, to: Register, from: Register) -> Option<()> {
        self.push(Instruction::with2(
            match self.host {
                Host::Avx512 => Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512,
                Host::Avx2 => Code::VEX_Vmovdqa_ymm_ymmm256,
            },
            to,
            from,
        ))
    }

    /// Puts a word into all lanes of a register. With AVX-512, `eax` holds it afterwards.
    pub(super) fn splat(&mut self, to: Register, word: u32) -> Option<()> {
        if self.host == Host::Avx2 {
            let from = self.constant([word; 8]);
            return self.load(to, from);
        }
        self.push(Instruction::with2(Code::Mov_r32_imm32, Register::EAX, word))?;
        self.splat_of(to, Register::EAX)
    }

    /// Puts the word of a general register into all lanes of a register.
    pub(super) fn splat_of(&mut self, to: Register, from: Register) -> Option<()> {
        if self.host == Host::Avx512 {
            return self.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, from));
        }
        self.push(Instruction::with2(Code::VEX_Vmovd_xmm_rm32, half(to), from))?;
        self.push(Instruction::with2(Code::VEX_Vpbroadcastd_ymm_xmmm32, to, half(to)))
    }

    /// Adds an instruction that is masked by an AVX-512 mask register.
    pub(super) fn push_masked(&mut self, mut instruction: Instruction, mask: Register) -> Option<()> {
        instruction.set_op_mask(mask);
        self.push(Ok(instruction))
    }

    /// Takes the words of memory in the lanes of a mask, and those of `from` in the others.
    pub(super) fn blend(&mut self, to: Register, from: Register, memory: MemoryOperand, mask: Register) -> Option<()> {
        if self.host == Host::Avx2 {
            let blend = Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
            return self.push(Instruction::with4(blend, to, from, memory, mask));
        }
        let blend = Instruction::with3(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, to, from, memory);
        self.push_masked(blend.ok()?, mask)
    }

    /// Loads a mask from bits in memory.
    pub(super) fn load_mask(&mut self, to: Register, from: MemoryOperand) -> Option<()> {
        if self.host == Host::Avx512 {
            return self.push(Instruction::with2(Code::VEX_Kmovw_kr_km16, to, from));
        }
        let up = self.constant(TO_SIGNS);
        self.push(Instruction::with2(Code::VEX_Vpbroadcastb_ymm_xmmm8, to, from))?;
        self.push(Instruction::with3(Code::VEX_Vpsllvd_ymm_ymm_ymmm256, to, to, up))?;
        self.push(Instruction::with3(Code::VEX_Vpsrad_ymm_ymm_imm8, to, to, 31))
    }

    /// Loads a mask of known lanes. With AVX-512 it passes through a register that blocks without a branch do not
    /// need.
    pub(super) fn load_lanes(&mut self, to: Register, lanes: u16, way: usize) -> Option<()> {
        if self.access != Access::Whole {
            return None;
        }
        if self.host == Host::Avx512 {
            self.push(Instruction::with2(Code::Mov_r32_imm32, Register::R8D, u32::from(lanes)))?;
            return self.push(Instruction::with2(Code::VEX_Kmovw_kr_r32, to, Register::R8D));
        }
        let first = (self.first + way) % self.pieces * self.host.lanes();
        let word = |lane: usize| if lanes >> (first + lane) & 1 != 0 { u32::MAX } else { 0 };
        let from = self.constant(std::array::from_fn(word));
        self.load(to, from)
    }

    /// Moves the bits of a mask to a general register, zero-extended.
    pub(super) fn bits(&mut self, to: Register, mask: Register) -> Option<()> {
        self.push(Instruction::with2(
            match self.host {
                Host::Avx512 => Code::VEX_Kmovw_r32_kr,
                Host::Avx2 => Code::VEX_Vmovmskps_r32_ymm,
            },
            to,
            mask,
        ))
    }

    /// Complements a mask.
    pub(super) fn complement(&mut self, mask: Register) -> Option<()> {
        if self.host == Host::Avx512 {
            return self.push(Instruction::with2(Code::VEX_Knotw_kr_kr, mask, mask));
        }
        let ones = self.constant([u32::MAX; 8]);
        self.push(Instruction::with3(Code::VEX_Vpxor_ymm_ymm_ymmm256, mask, mask, ones))
    }

    /// Returns the register with the mask of lanes that are written, or that are not; in code for full bundles, of
    /// the lanes that have jumped so far.
    pub(super) fn lanes(&self, way: usize) -> Register {
        match (self.host, self.access) {
            (Host::Avx512, _) => LANES,
            (Host::Avx2, Access::But) => self.host.register(self.host.registers() - 2 - way as u8),
            (Host::Avx2, Access::Whole) => self.host.register(self.host.registers() - 2),
            (Host::Avx2, _) => self.host.stored(),
        }
    }

    /// For AVX-512: returns the register with the mask of the active lanes of a loop.
    pub(super) fn active(&self, way: usize) -> Register {
        if self.keeps_active { LANES - (self.ways - 1 - way) as u32 } else { LANES }
    }

    /// Returns the bits of the active lanes in the state of a loop.
    pub(super) fn active_bits(&self, way: usize) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RSI, (loops::ACTIVE + self.mask_bytes(way)) as i64)
    }

    /// For AVX-512: loads the mask of the active lanes from the state of a loop, unless it is kept in a register.
    pub(super) fn load_active(&mut self, way: usize) -> Option<()> {
        if !self.keeps_active && self.masking != Some(way) {
            self.load_mask(LANES, self.active_bits(way))?;
            self.masking = Some(way);
        }
        Some(())
    }

    /// For AVX2: loads the mask of the lanes that a loop must not write.
    fn load_others(&mut self, way: usize) -> Option<()> {
        let at = offset_of!(State, others) as i64 + self.bytes(way);
        self.load(self.lanes(way), MemoryOperand::with_base_displ(Register::RSI, at))
    }

    /// Moves a value to the register of a pinned row.
    pub(super) fn move_home(&mut self, row: u32, home: Register, from: Register, way: usize) -> Option<()> {
        if self.masked & bit(row) == 0 {
            return self.copy(home, from);
        }
        if self.host == Host::Avx2 {
            self.load_others(way)?;
            let blend = Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
            return self.push(Instruction::with4(blend, home, from, home, self.lanes(way)));
        }
        self.copy_active(home, from, way)
    }

    /// For AVX-512: copies the active lanes of a register.
    fn copy_active(&mut self, to: Register, from: Register, way: usize) -> Option<()> {
        self.load_active(way)?;
        let copy = Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, from);
        self.push_masked(copy.ok()?, self.active(way))
    }

    /// Stores a register, except for the lanes that must not be written.
    pub(super) fn store_masked(&mut self, to: MemoryOperand, from: Register, way: usize) -> Option<()> {
        // A masked store would delay the next load.
        let stored = self.host.stored();
        match self.access {
            Access::Whole | Access::From => return self.save(to, from),
            Access::But => {}
            Access::Active if self.host == Host::Avx512 => {
                self.load(stored, to)?;
                self.copy_active(stored, from, way)?;
                return self.save(to, stored);
            }
            Access::Active => self.load_others(way)?,
        }
        self.blend(stored, from, to, self.lanes(way))?;
        self.save(to, stored)
    }
}
