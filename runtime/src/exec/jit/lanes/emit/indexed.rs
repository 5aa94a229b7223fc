//! Accesses of memory at any address of a lane, with AVX-512.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::Emitter;
use super::flow::{FlowState, reach, state};
use super::plan::{Location, Plan};
use crate::exec::jit::lanes::graph::{Graph, Indexed, Relation, Value};
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::reach::Reach;

impl Emitter {
    /// Loads or stores a word for each lane. If all lanes access memory, and words next to each other, they do so at
    /// once. Otherwise the last offset limits those of lanes, so that no lane leaves the reach whatever its offset is.
    pub(super) fn indexed(
        &mut self,
        graph: &Graph,
        node: Value,
        indexed: &Indexed,
        way: usize,
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        use Register::{EAX, RAX, RDX, XMM0};
        let Indexed { reach: number, offset, value, lanes } = *indexed;
        if self.host != Host::Avx512 {
            return None;
        }
        // Not in a part of the code that is skipped.
        self.seek_unsought()?;
        let at = self.operand(graph, offset, way, homes)?;
        let (words, stores) = match value {
            Some(value) => (self.operand(graph, value, way, homes)?, true),
            None => (self.take(node, false, way)?, false),
        };
        let (mask, limited) = (self.masks.pop()?, self.host.stored());
        let (each, end) = (self.label(), self.label());
        let first = XMM0 + at.number() as u32;
        self.push(Instruction::with2(Code::Mov_r64_rm64, RDX, reach(number, offset_of!(Reach, start))))?;
        match lanes {
            Some(lanes) => {
                let lanes = self.operand(graph, lanes, way, homes)?;
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
                self.push(Instruction::with4(compare, mask, limited, at, Relation::Different as u32))?;
                self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, mask, mask))?;
                self.jump(Code::Jne_rel32_64, each)?;
                self.push(Instruction::with2(Code::EVEX_Vmovd_rm32_xmm, EAX, first))?;
                self.push(Instruction::with2(Code::Cmp_r32_rm32, EAX, reach(number, offset_of!(Reach, columns))))?;
                self.jump(Code::Jae_rel32_64, each)?;
                let place = MemoryOperand::with_base_index(RDX, RAX);
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
        self.push(Instruction::with3(Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, limited, at, last))?;
        let places = MemoryOperand::with_base_index(RDX, limited);
        let access = if stores {
            Instruction::with2(Code::EVEX_Vpscatterdd_vm32z_k1_zmm, places, words)
        } else {
            Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, words, places)
        };
        self.push_masked(access.ok()?, mask)?;
        self.put(end);
        self.masks.push(mask);
        for argument in [Some(offset), value, lanes].into_iter().flatten() {
            self.done(argument, plan.ends(argument, node.index()), way);
        }
        Some(())
    }
}
