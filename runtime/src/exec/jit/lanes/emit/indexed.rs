//! Accesses of memory at any address of a lane.
//!
//! Words next to each other are accessed at once. Otherwise the last offset limits those of lanes, so that no lane
//! leaves the reach whatever its offset is. AVX2 has no scatter: lanes store one after the other, in order.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::Emitter;
use super::flow::{FlowState, lasts, reach, state};
use super::plan::{Location, Plan};
use crate::exec::jit::lanes::graph::{Graph, Indexed, Relation, Value};
use crate::exec::jit::lanes::host::{Host, half};
use crate::exec::jit::lanes::reach::Reach;

/// The first byte of a reach, and an offset in it.
const START: Register = Register::RDX;
const OFFSET: Register = Register::RAX;
/// For AVX2: the offsets of four lanes, and the lanes that store.
const OFFSETS: [Register; 4] = [Register::RAX, Register::RCX, Register::R8, Register::R10];
const STORING: Register = Register::R9D;

/// An access with its operands in registers.
#[derive(Clone, Copy)]
struct Operands {
    reach: usize,
    offsets: Register,
    words: Register,
    lanes: Option<Register>,
    stores: bool,
}

impl Emitter {
    /// Loads or stores a word for each lane.
    pub(super) fn indexed(
        &mut self,
        graph: &Graph,
        node: Value,
        indexed: &Indexed,
        way: usize,
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        let Indexed { reach, offset, value, lanes } = *indexed;
        // Not in a part of the code that is skipped.
        self.seek_unsought()?;
        let offsets = self.operand(graph, offset, way, homes)?;
        let words = match value {
            Some(value) => self.operand(graph, value, way, homes)?,
            None => self.take(node, false, way)?,
        };
        let active = match lanes {
            Some(lanes) => Some(self.operand(graph, lanes, way, homes)?),
            None => None,
        };
        let operands = Operands { reach, offsets, words, lanes: active, stores: value.is_some() };
        match self.host {
            Host::Avx512 => self.indexed_with_avx512(operands)?,
            Host::Avx2 => {
                // Nothing may be spilled in a part of the code that is skipped.
                let free = self.vector()?;
                self.vectors.push(free);
                self.indexed_with_avx2(operands)?
            }
        }
        for argument in [Some(offset), value, lanes].into_iter().flatten() {
            let is_constant = homes[argument.index()] == Location::Constant;
            self.done(argument, is_constant || plan.ends(argument, node.index()), way);
        }
        Some(())
    }

    fn indexed_with_avx512(&mut self, operands: Operands) -> Option<()> {
        use Register::{EAX, XMM0};
        let Operands { reach: number, offsets, words, lanes, stores } = operands;
        let (mask, limited) = (self.masks.pop()?, self.host.stored());
        let (each, end) = (self.label(), self.label());
        let first = XMM0 + offsets.number() as u32;
        self.push(Instruction::with2(Code::Mov_r64_rm64, START, reach(number, offset_of!(Reach, start))))?;
        match lanes {
            Some(lanes) => {
                self.push(Instruction::with2(Code::VEX_Kmovw_kr_km16, mask, lanes))?;
                if !stores {
                    self.push(Instruction::with3(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, words, words, words))?;
                }
            }
            None => {
                let (add, compare) =
                    (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8);
                let steps = state(offset_of!(FlowState, steps));
                self.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, limited, first))?;
                self.push(Instruction::with3(add, limited, limited, steps))?;
                self.push(Instruction::with4(compare, mask, limited, offsets, Relation::Different as u32))?;
                self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, mask, mask))?;
                self.jump(Code::Jne_rel32_64, each)?;
                self.push(Instruction::with2(Code::EVEX_Vmovd_rm32_xmm, EAX, first))?;
                self.push(Instruction::with2(Code::Cmp_r32_rm32, EAX, reach(number, offset_of!(Reach, columns))))?;
                self.jump(Code::Jae_rel32_64, each)?;
                let place = MemoryOperand::with_base_index(START, OFFSET);
                if stores {
                    self.save(place, words)?;
                } else {
                    self.load(words, place)?;
                }
                self.jump(Code::Jmp_rel32_64, end)?;
                self.put(each);
                self.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, mask, mask, mask))?;
            }
        }
        let last = MemoryOperand { is_broadcast: true, ..reach(number, offset_of!(Reach, last)) };
        self.push(Instruction::with3(Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, limited, offsets, last))?;
        let places = MemoryOperand::with_base_index(START, limited);
        let access = if stores {
            Instruction::with2(Code::EVEX_Vpscatterdd_vm32z_k1_zmm, places, words)
        } else {
            Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, words, places)
        };
        self.push_masked(access.ok()?, mask)?;
        self.put(end);
        self.masks.push(mask);
        Some(())
    }

    fn indexed_with_avx2(&mut self, operands: Operands) -> Option<()> {
        use Register::EAX;
        let Operands { reach: number, offsets, words, lanes, stores } = operands;
        let (limited, first) = (self.host.stored(), half(offsets));
        let (each, end) = (self.label(), self.label());
        let steps = state(offset_of!(FlowState, steps));
        let all = (1 << self.host.lanes()) - 1;
        self.push(Instruction::with2(Code::Mov_r64_rm64, START, reach(number, offset_of!(Reach, start))))?;
        self.push(Instruction::with2(Code::VEX_Vpbroadcastd_ymm_xmmm32, limited, first))?;
        self.push(Instruction::with3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, limited, limited, steps))?;
        self.push(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, limited, limited, offsets))?;
        self.bits(EAX, limited)?;
        self.push(Instruction::with2(Code::Cmp_rm32_imm32, EAX, all))?;
        self.jump(Code::Jne_rel32_64, each)?;
        self.push(Instruction::with2(Code::VEX_Vmovd_rm32_xmm, EAX, first))?;
        self.push(Instruction::with2(Code::Cmp_r32_rm32, EAX, reach(number, offset_of!(Reach, columns))))?;
        self.jump(Code::Jae_rel32_64, each)?;
        let place = MemoryOperand::with_base_index(START, OFFSET);
        match (stores, lanes) {
            (true, None) => self.save(place, words)?,
            // Other lanes keep their words.
            (true, Some(lanes)) => {
                let blend = Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
                self.load(limited, place)?;
                self.push(Instruction::with4(blend, limited, limited, words, lanes))?;
                self.save(place, limited)?;
            }
            (false, None) => self.load(words, place)?,
            (false, Some(lanes)) => {
                self.push(Instruction::with3(Code::VEX_Vpand_ymm_ymm_ymmm256, words, lanes, place))?;
            }
        }
        self.jump(Code::Jmp_rel32_64, end)?;
        self.put(each);
        if stores {
            self.store_each(operands)?
        } else {
            self.load_each(operands)?
        }
        self.put(end);
        Some(())
    }

    /// For AVX2: loads a word for each lane, which zeroes the mask.
    fn load_each(&mut self, operands: Operands) -> Option<()> {
        let Operands { reach, offsets, words, lanes, .. } = operands;
        let (mask, limited) = (self.vectors.pop()?, self.host.stored());
        match lanes {
            Some(lanes) => self.copy(mask, lanes)?,
            None => self.push(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, mask, mask, mask))?,
        }
        self.push(Instruction::with3(Code::VEX_Vpxor_ymm_ymm_ymmm256, words, words, words))?;
        self.push(Instruction::with3(Code::VEX_Vpminud_ymm_ymm_ymmm256, limited, offsets, lasts(reach)))?;
        let places = MemoryOperand::with_base_index(START, limited);
        self.push(Instruction::with3(Code::VEX_Vpgatherdd_ymm_vm32y_ymm, words, places, mask))?;
        self.vectors.push(mask);
        Some(())
    }

    /// For AVX2: stores the words of one lane after the other. The offsets of four lanes are limited at once.
    fn store_each(&mut self, operands: Operands) -> Option<()> {
        let Operands { reach, offsets, words, lanes, .. } = operands;
        let free = self.vectors.pop()?;
        let (upper, limited) = (half(free), half(self.host.stored()));
        if let Some(lanes) = lanes {
            self.bits(STORING, lanes)?;
        }
        let parts = [(half(offsets), half(words)), (limited, upper)];
        for (part, (of, from)) in (0u32..).zip(parts) {
            if part > 0 {
                let extract = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
                self.push(Instruction::with3(extract, upper, words, part))?;
                self.push(Instruction::with3(extract, limited, offsets, part))?;
            }
            self.push(Instruction::with3(Code::VEX_Vpminud_xmm_xmm_xmmm128, limited, of, lasts(reach)))?;
            for (lane, to) in (0u32..).zip(OFFSETS) {
                let to = Register::EAX + to.number() as u32;
                self.push(Instruction::with3(Code::VEX_Vpextrd_rm32_xmm_imm8, to, limited, lane))?;
            }
            for (lane, offset) in (0u32..).zip(OFFSETS) {
                let next = self.label();
                if lanes.is_some() {
                    self.push(Instruction::with2(Code::Test_rm32_imm32, STORING, 1 << (4 * part + lane)))?;
                    self.jump(Code::Je_rel32_64, next)?;
                }
                let place = MemoryOperand::with_base_index(START, offset);
                self.push(Instruction::with3(Code::VEX_Vpextrd_rm32_xmm_imm8, place, from, lane))?;
                self.put(next);
            }
        }
        self.vectors.push(free);
        Some(())
    }
}
