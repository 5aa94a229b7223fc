//! Emits how lanes diverge and reconverge between the blocks of a loop, and how they are counted.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::{ACTIVE, Labels, Leave, Loop, State, state, waiting};
use crate::exec::jit::lanes::emit::{Constant, Emitter, Label, WAYS};
use crate::exec::jit::lanes::host::Host;

/// Code that runs when lanes diverge or reconverge.
pub(super) struct Rare {
    begins: Label,
    does: Does,
    /// Where the then active lanes continue.
    then: Label,
}

enum Does {
    /// Joins the lanes that wait at a place.
    Join(usize),
    /// Lets the lanes of masks, or the others if `inverted`, wait at a place; if no lane is left, joins the next waiting
    /// ones. With AVX2, `rax` already has the lanes of the masks.
    Part { place: usize, masks: [Register; WAYS], inverted: bool, none: Label },
}

impl Emitter {
    /// Emits the start of a block, where waiting lanes are joined and execution is counted.
    pub(super) fn head(&mut self, wanted: &Loop, index: usize, labels: &Labels, later: &mut Vec<Rare>) -> Option<()> {
        use Register::{R8, R9, R11D};
        let block = &wanted.blocks[index];
        let [head, body] = labels.heads[index];
        self.put(head);
        if let Some(place) = block.place {
            let begins = self.label();
            self.push(Instruction::with2(Code::Cmp_rm64_imm8, waiting(place), 0))?;
            self.jump(Code::Jne_rel32_64, begins)?;
            later.push(Rare { begins, does: Does::Join(place), then: body });
            self.push(Instruction::with2(Code::Test_rm64_r64, R8, R8))?;
            self.jump(Code::Je_rel32_64, wanted.head(block.next, labels))?;
        }
        self.put(body);
        self.push(Instruction::with2(Code::Sub_rm32_imm32, R11D, block.words))?;
        let count = state(offset_of!(State, counts) + size_of::<u64>() * index);
        self.push(Instruction::with2(Code::Add_rm64_r64, count, R9))
    }

    /// Emits the end of a block, whose masks have the lanes that leave.
    pub(super) fn leave(
        &mut self,
        wanted: &Loop,
        index: usize,
        masks: [Register; WAYS],
        labels: &Labels,
        later: &mut Vec<Rare>,
    ) -> Option<()> {
        use Register::{R8, R8D, RAX};
        let block = &wanted.blocks[index];
        let none = wanted.head(block.next, labels);
        match block.leave {
            Leave::Next => Some(()),
            Leave::Jump(place) if wanted.is_after(place, index) => {
                self.push(Instruction::with2(Code::Or_rm64_r64, waiting(place), R8))?;
                self.push(Instruction::with2(Code::Xor_r32_rm32, R8D, R8D))?;
                self.jump(Code::Jmp_rel32_64, none)
            }
            Leave::Jump(place) => self.again(wanted, place, labels),
            Leave::Branch(place, inverted) => {
                let [begins, then] = [self.label(), self.label()];
                match self.host {
                    // The masks have active lanes alone.
                    Host::Avx512 => {
                        for pair in masks[..self.ways].chunks(2) {
                            self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, pair[0], pair[pair.len() - 1]))?;
                            self.jump(Code::Jne_rel32_64, begins)?;
                        }
                    }
                    Host::Avx2 => {
                        self.gather(masks)?;
                        if inverted {
                            self.push(Instruction::with2(Code::And_r64_rm64, RAX, R8))?;
                            self.push(Instruction::with2(Code::Cmp_r64_rm64, RAX, R8))?;
                        } else {
                            self.push(Instruction::with2(Code::Test_rm64_r64, RAX, R8))?;
                        }
                        self.jump(Code::Jne_rel32_64, begins)?;
                    }
                }
                let is_ahead = wanted.is_after(place, index);
                let waits_at = if is_ahead { place } else { block.next };
                later.push(Rare { begins, does: Does::Part { place: waits_at, masks, inverted, none }, then });
                self.put(then);
                if is_ahead { Some(()) } else { self.again(wanted, place, labels) }
            }
        }
    }

    /// Jumps back to a place, or ends there if the budget may not suffice.
    fn again(&mut self, wanted: &Loop, place: usize, labels: &Labels) -> Option<()> {
        use Register::{R8, R11D};
        let [_, body] = labels.heads[wanted.block_at(place)?];
        self.push(Instruction::with2(Code::Cmp_rm32_imm32, R11D, wanted.longest()))?;
        self.jump(Code::Jge_rel32_64, body)?;
        self.push(Instruction::with2(Code::Or_rm64_r64, waiting(place), R8))?;
        self.jump(Code::Jmp_rel32_64, labels.end)
    }

    /// Moves the masks of all ways into `rax`.
    fn gather(&mut self, masks: [Register; WAYS]) -> Option<()> {
        use Register::{EAX, ECX, RAX, RCX};
        // The last mask has the highest bits.
        for (nth, mask) in masks[..self.ways].iter().rev().enumerate() {
            self.bits(if nth == 0 { EAX } else { ECX }, *mask)?;
            if nth > 0 {
                self.push(Instruction::with2(Code::Shl_rm64_imm8, RAX, self.host.lanes() as u32))?;
                self.push(Instruction::with2(Code::Or_r64_rm64, RAX, RCX))?;
            }
        }
        Some(())
    }

    pub(super) fn rare(&mut self, rare: Rare, labels: &Labels) -> Option<()> {
        use Register::{R8, RAX};
        self.put(rare.begins);
        match rare.does {
            Does::Join(place) => {
                self.push(Instruction::with2(Code::Or_r64_rm64, R8, waiting(place)))?;
                self.push(Instruction::with2(Code::Mov_rm64_imm32, waiting(place), 0))?;
            }
            Does::Part { place, masks, inverted, none } => {
                if self.host == Host::Avx512 {
                    self.gather(masks)?;
                }
                if inverted {
                    self.push(Instruction::with1(Code::Not_rm64, RAX))?;
                }
                self.push(Instruction::with2(Code::And_r64_rm64, RAX, R8))?;
                self.push(Instruction::with2(Code::Or_rm64_r64, waiting(place), RAX))?;
                self.push(Instruction::with2(Code::Xor_r64_rm64, R8, RAX))?;
                self.jump(Code::Je_rel32_64, none)?;
            }
        }
        self.count_then(rare.then, labels)
    }

    /// Counts what was executed and which lanes are active, and continues at a label.
    pub(super) fn count_then(&mut self, then: Label, labels: &Labels) -> Option<()> {
        use Register::{RDX, RIP};
        let here = MemoryOperand::with_base_displ(RIP, self.place as i64);
        self.push(Instruction::with2(Code::Lea_r64_m, RDX, here))?;
        self.leads(then);
        self.jump(Code::Jmp_rel32_64, labels.count)
    }

    /// Returns the number of warps that are executed side by side.
    fn warps(&self) -> usize {
        self.ways / self.host.pieces()
    }

    /// For AVX2: excludes all lanes except those of `rax` from writes.
    pub(super) fn leave_alone(&mut self) -> Option<()> {
        use Register::RAX;
        let (left, stored) = (offset_of!(State, left), self.host.stored());
        self.push(Instruction::with1(Code::Not_rm64, RAX))?;
        self.push(Instruction::with2(Code::Mov_rm64_r64, state(left), RAX))?;
        for way in 0..self.ways {
            self.load_mask(stored, state(left + self.mask_bytes(way)))?;
            self.save(state(offset_of!(State, others) + size_of::<Constant>() * way), stored)?;
        }
        Some(())
    }

    /// Adds the words since the last update to the warps that had active lanes.
    fn spend(&mut self) -> Option<()> {
        use Register::{EAX, ECX, R11D};
        let counted = state(offset_of!(State, counted));
        self.push(Instruction::with2(Code::Mov_r32_rm32, ECX, counted))?;
        self.push(Instruction::with2(Code::Sub_r32_rm32, ECX, R11D))?;
        self.push(Instruction::with2(Code::Mov_rm32_r32, counted, R11D))?;
        for warp in 0..self.warps() {
            let spent = state(offset_of!(State, spent) + size_of::<u32>() * warp);
            self.push(Instruction::with2(Code::Movzx_r32_rm16, EAX, state(ACTIVE + 2 * warp)))?;
            // All ones if there are any lanes.
            self.push(Instruction::with1(Code::Neg_rm32, EAX))?;
            self.push(Instruction::with2(Code::Sbb_r32_rm32, EAX, EAX))?;
            self.push(Instruction::with2(Code::And_r32_rm32, EAX, ECX))?;
            self.push(Instruction::with2(Code::Add_rm32_r32, spent, EAX))?;
        }
        Some(())
    }

    /// Counts the active lanes, and stores them.
    pub(super) fn count(&mut self) -> Option<()> {
        use Register::{EAX, ECX, R8, R9, RAX};
        self.spend()?;
        self.push(Instruction::with2(Code::Mov_rm64_r64, state(ACTIVE), R8))?;
        if self.keeps_active {
            for way in 0..self.ways {
                self.load_mask(self.active(way), self.active_bits(way))?;
            }
        }
        if self.host == Host::Avx2 {
            self.push(Instruction::with2(Code::Mov_r64_rm64, RAX, R8))?;
            self.leave_alone()?;
        }
        self.push(Instruction::with2(Code::Popcnt_r64_rm64, R9, R8))?;
        self.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
        for warp in 0..self.warps() {
            self.push(Instruction::with2(Code::Movzx_r32_rm16, ECX, state(ACTIVE + 2 * warp)))?;
            // Adds one if there are any lanes.
            self.push(Instruction::with2(Code::Cmp_rm32_imm8, ECX, 1))?;
            self.push(Instruction::with2(Code::Sbb_rm32_imm8, EAX, -1))?;
        }
        self.push(Instruction::with2(Code::Shl_rm64_imm8, RAX, 32))?;
        self.push(Instruction::with2(Code::Or_r64_rm64, R9, RAX))
    }
}

impl Loop {
    /// Returns the block that begins at a place.
    fn block_at(&self, place: usize) -> Option<usize> {
        self.blocks.iter().position(|block| block.place == Some(place))
    }

    /// Returns the label where lanes that wait at a place are joined.
    fn head(&self, place: usize, labels: &Labels) -> Label {
        self.block_at(place).map_or(labels.end, |block| labels.heads[block][0])
    }

    /// Whether a place is after a block.
    fn is_after(&self, place: usize, block: usize) -> bool {
        place >= self.blocks[block].next
    }

    /// Returns the most words that are executed between two backward jumps.
    fn longest(&self) -> u32 {
        self.blocks.iter().map(|block| block.words).sum()
    }
}
