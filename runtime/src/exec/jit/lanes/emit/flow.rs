//! A region whose lanes all take the same path.
//!
//! The code is called as [`function`](crate::exec::jit::lanes::function) describes: `rdi` points to the rows, `rsi`
//! to the [`FlowState`]. It starts at the first block. Each block executes its instructions for one column after
//! another, which the processor overlaps; rows and sets are in memory between blocks. A block jumps elsewhere if some
//! lane of its mask is set, or if none is. The function ends at an exit, or before a block that exceeds the remaining
//! budget.
//!
//! Blocks may access memory at any address of a lane, within the reaches of the state. The block before has then left
//! where an address is in none.
//!
//! `r11d` is the remaining budget, `r9` has the lanes of a block's mask.

use std::mem::offset_of;
use std::ops::Range;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::plan::{Location, Part, Plan, Segment, locations, used};
use super::spill::Spills;
use super::{Access, Emitted, Emitter, LANES, Label, Made, SLOTS, Slots, touched, vectors};
use crate::exec::jit::lanes::graph::{Extent, Graph, Kind, Value};
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::reach::{Reach, Reached};
use crate::exec::jit::lanes::row::LANES as WIDTH;
use crate::exec::jit::lanes::window::{WINDOWS, Window};

/// The most registers that are kept free for temporary values where they can be spilled.
const TEMPORARIES: usize = 10;
/// The predicate of comparisons that holds where neither operand is a NaN.
const ORDERED: u32 = 7;
/// The most sets that the machine keeps.
pub const SETS: usize = 8;
/// The last two mask registers have other uses, and the first cannot be used as a mask.
const MASKS: Range<u8> = 1..6;
/// The masks that comparisons take turns with in the search for NaNs.
const SOUGHT: [Register; 2] = [LANES, Register::K6];

/// The state of a region besides rows. Lanes are bits, with those of the first column lowest. Code does not write what
/// comes after `place`.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct FlowState {
    slots: Slots,
    /// The lanes of each set.
    pub sets: [u64; SETS],
    /// The number of executed instructions, summed over the lanes.
    pub lanes: u64,
    /// The number of instructions that may be executed; at the end, how many are left.
    pub room: u32,
    /// The instruction before which execution ended.
    pub place: u32,
    /// The offsets of words next to each other.
    pub(in crate::exec::jit::lanes) steps: [u32; WIDTH],
    /// The memory that lanes access.
    pub(in crate::exec::jit::lanes) reaches: [Reach; WINDOWS],
    /// For AVX2: the last offset of each reach, for all lanes of a register.
    pub(in crate::exec::jit::lanes) lasts: [Last; WINDOWS],
}

/// An offset for each lane of an AVX2 register.
pub(in crate::exec::jit::lanes) type Last = [u32; WIDTH / 2];

/// Returns the memory operand of a field of a reach.
pub(super) fn reach(reach: usize, field: usize) -> MemoryOperand {
    state(offset_of!(FlowState, reaches) + reach * size_of::<Reach>() + field)
}

/// Returns the memory operand of the last offset of a reach, for AVX2.
pub(super) fn lasts(reach: usize) -> MemoryOperand {
    state(offset_of!(FlowState, lasts) + reach * size_of::<Last>())
}

/// Returns the memory operand of what is known of a reach.
pub(super) fn extent(number: usize, extent: Extent) -> MemoryOperand {
    reach(
        number,
        match extent {
            Extent::Low => offset_of!(Reach, low),
            Extent::High => offset_of!(Reach, high),
            Extent::Offsets => offset_of!(Reach, offsets),
        },
    )
}

const _: () = assert!(offset_of!(FlowState, slots) == 0);

pub(super) fn state(at: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSI, at as i64)
}

/// Returns the memory operand of a set's lanes that belong to one register; `before` registers of the row come before
/// it.
pub fn set(set: u16, before: usize, host: Host) -> Option<MemoryOperand> {
    let set = usize::from(set);
    (set < SETS).then(|| state(offset_of!(FlowState, sets) + 8 * set + before * host.lanes() / 8))
}

/// A region.
#[derive(Debug)]
pub struct Flow {
    /// The graph of what its blocks compute, with a segment for each.
    pub graph: Graph,
    /// The number of columns of a row, at most four.
    pub columns: usize,
    /// The blocks, in order; execution starts at the first.
    pub blocks: Vec<FlowBlock>,
    /// The memory that they access at any address of a lane, at most [`WINDOWS`].
    pub reaches: Vec<Reached>,
}

/// A run of instructions that the same lanes execute.
#[derive(Debug)]
pub struct FlowBlock {
    /// What it computes. Its mask has the lanes that execute it; without a mask, all do.
    pub segment: Segment,
    /// Rows of floats that it writes in all lanes, and whose NaNs still have to be made canonical.
    pub loose: Vec<u32>,
    /// The first instruction.
    pub start: u32,
    /// The number of instructions.
    pub words: u32,
    /// The target if some lane executes the block, or, with `true`, if none does.
    pub branch: Option<(To, bool)>,
    /// The target otherwise.
    pub next: To,
}

impl FlowBlock {
    /// Ends a block: it computes what the graph's segment has written, which the next block reads again.
    pub fn end(
        graph: &mut Graph,
        (start, words): (u32, u32),
        mask: Option<Value>,
        branch: Option<(To, bool)>,
        next: To,
    ) -> Self {
        let mut rows: Vec<_> = graph.written().collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        let loose: Vec<u32> =
            rows.iter().filter(|(_, value)| graph.is_loose_float(*value)).map(|(row, _)| *row).collect();
        for (_, value) in rows.iter_mut().filter(|(row, _)| !loose.contains(row)) {
            *value = graph.read_as(*value, Kind::Word);
        }
        rows.retain(|&(row, value)| !graph.is_row(value, row));
        let mut sets: Vec<_> = graph.changed_sets().collect();
        sets.sort_unstable_by_key(|(set, _)| *set);
        let segment = Segment { nodes: graph.end_segment(), rows, mask, sets };
        FlowBlock { segment, loose, start, words, branch, next }
    }
}

/// The target of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// A block.
    Block(usize),
    /// An instruction outside of the region.
    Exit(u32),
}

impl Emitted {
    /// Returns the code for a region. `None` on register pressure.
    pub fn flow(wanted: &Flow) -> Option<Self> {
        let segments = wanted.blocks.iter().map(|block| &block.segment);
        let rows = touched(&wanted.graph, segments);
        let window = |reached: &Reached| Window { writes: reached.writes, ..Window::default() };
        let windows = wanted.reaches.iter().map(window).collect();
        Some(Emitted::new(flow(wanted)?, wanted.columns, rows, windows))
    }
}

impl Flow {
    fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.blocks.iter().map(|block| &block.segment)
    }

    /// Returns the locations of values, the plan of each block, and the number of slots in use. With AVX2, blocks spill
    /// temporary values.
    fn plans(&self) -> Option<(Vec<Location>, Vec<Plan>, usize)> {
        let used = used(&self.graph, self.segments());
        let mut locations = locations(&self.graph, &used, self.segments());
        let is_shared = |index: &usize| locations[*index] == Location::Register;
        let mut shared: Vec<usize> = (0..locations.len()).filter(is_shared).collect();
        let mut slots = 0;
        loop {
            let (mut plans, mut most) = (Vec::with_capacity(self.blocks.len()), 0);
            for FlowBlock { segment, .. } in &self.blocks {
                let plan = Plan::new(&self.graph, &[Part { segment, masked: 0 }], &used, &locations, &[])?;
                most = most.max(plan.pressure(&self.graph, segment.nodes.clone(), &locations));
                plans.push(plan);
            }
            if self.graph.host() == Host::Avx2 {
                most = most.min(TEMPORARIES);
            }
            let lacking = (most + shared.len()).saturating_sub(vectors(self.graph.host(), Access::From, 1).into());
            if lacking == 0 {
                return Some((locations, plans, slots));
            }
            if slots == SLOTS || shared.is_empty() {
                return None;
            }
            for index in shared.drain(shared.len() - lacking.min(SLOTS - slots).min(shared.len())..) {
                locations[index] = Location::Slot(slots);
                slots += 1;
            }
        }
    }
}

/// The jump targets: blocks, and exits with the instruction that each leads to.
struct Labels {
    blocks: Vec<Label>,
    exits: Vec<(Label, u32)>,
    end: Label,
}

impl Labels {
    fn of(&mut self, out: &mut Emitter, to: To) -> Option<Label> {
        match to {
            To::Block(block) => self.blocks.get(block).copied(),
            To::Exit(place) => Some(match self.exits.iter().find(|(_, other)| *other == place) {
                Some((label, _)) => *label,
                None => {
                    self.exits.push((out.label(), place));
                    self.exits.last()?.0
                }
            }),
        }
    }
}

fn flow(wanted: &Flow) -> Option<Made> {
    use Register::R11D;
    if wanted.columns * WIDTH > 64 || wanted.reaches.len() > WINDOWS {
        return None;
    }
    let (locations, plans, slots) = wanted.plans()?;
    let mut out = Emitter::new(&wanted.graph, wanted.columns, 1, Access::From, MASKS);
    out.fixed(&wanted.graph, plans.first()?, &locations)?;
    out.push(Instruction::with2(Code::Mov_r32_rm32, R11D, state(offset_of!(FlowState, room))))?;
    let blocks = wanted.blocks.iter().map(|_| out.label()).collect();
    let mut labels = Labels { blocks, exits: Vec::new(), end: out.label() };
    let (mut full, mut unsettled) = (Vec::new(), Vec::new());
    let spare = (slots * out.host.pieces()) as u32..(SLOTS * out.host.pieces()) as u32;
    for (index, (block, plan)) in wanted.blocks.iter().zip(&plans).enumerate() {
        out.put(labels.blocks[index]);
        let no_room = out.label();
        out.push(Instruction::with2(Code::Sub_rm32_imm32, R11D, block.words))?;
        out.jump(Code::Jl_rel32_64, no_room)?;
        full.push((no_room, block.words, block.start));
        if out.host == Host::Avx512 {
            out.loose.clone_from(&block.loose);
        }
        for first in 0..wanted.columns * out.host.pieces() {
            out.first = first;
            if out.host == Host::Avx2 {
                out.spills = Some(Spills::new(&wanted.graph, &block.segment, plan, spare.clone()));
            }
            out.body(&wanted.graph, &block.segment, plan, &locations)?;
            out.masks(&wanted.graph, &block.segment, &locations)?;
            if let Some((begins, then)) = out.seek_nans(&block.loose)? {
                unsettled.push((begins, then, index, first));
            }
        }
        out.tally(block, wanted.columns)?;
        out.go_on(block, index, &mut labels)?;
    }
    for (label, words, start) in full {
        out.put(label);
        out.push(Instruction::with2(Code::Add_rm32_imm32, R11D, words))?;
        let exit = labels.of(&mut out, To::Exit(start))?;
        out.jump(Code::Jmp_rel32_64, exit)?;
    }
    for (begins, then, index, first) in unsettled {
        out.put(begins);
        out.first = first;
        out.settle_nans(&wanted.blocks[index].loose, wanted.graph.nan(32)?)?;
        out.jump(Code::Jmp_rel32_64, then)?;
    }
    for (label, place) in std::mem::take(&mut labels.exits) {
        out.put(label);
        out.push(Instruction::with2(Code::Mov_rm32_imm32, state(offset_of!(FlowState, place)), place))?;
        out.jump(Code::Jmp_rel32_64, labels.end)?;
    }
    out.put(labels.end);
    out.push(Instruction::with2(Code::Mov_rm32_r32, state(offset_of!(FlowState, room)), R11D))?;
    out.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
    out.push(Ok(Instruction::with(Code::Retnq)))?;
    out.finish()
}

impl Emitter {
    /// Updates sets, and adds the lanes of a register to those that execute the block.
    fn masks(&mut self, graph: &Graph, segment: &Segment, locations: &[Location]) -> Option<()> {
        use Register::{AL, EAX, R9, R9D, RAX};
        for (number, lanes) in &segment.sets {
            let lanes = self.operand(graph, *lanes, 0, locations)?;
            let set = self.set(*number, 0)?;
            if self.host == Host::Avx2 {
                self.bits(EAX, lanes)?;
                self.push(Instruction::with2(Code::Mov_rm8_r8, set, AL))?;
            } else {
                self.push(Instruction::with2(Code::VEX_Kmovw_m16_kr, set, lanes))?;
            }
        }
        if let Some(mask) = segment.mask {
            let mask = self.operand(graph, mask, 0, locations)?;
            if self.first == 0 {
                self.bits(R9D, mask)?;
            } else {
                self.bits(EAX, mask)?;
                self.push(Instruction::with2(Code::Shl_rm64_imm8, RAX, (self.host.lanes() * self.first) as u32))?;
                self.push(Instruction::with2(Code::Or_r64_rm64, R9, RAX))?;
            }
        }
        segment.masks().for_each(|mask| self.done(mask, true, 0));
        Some(())
    }

    /// Removes the lanes with a NaN in a register from those without any so far. A comparison does so for two registers:
    /// this one waits for the next.
    pub(super) fn seek_nan(&mut self, register: Register) -> Option<()> {
        match self.unsought.take() {
            Some(other) => self.seek_nan_in(other, register),
            None => {
                self.unsought = Some(register);
                Some(())
            }
        }
    }

    /// Does so for a register that waits for another one, before it is overwritten.
    pub(super) fn seek_unsought(&mut self) -> Option<()> {
        self.unsought.take().map_or(Some(()), |register| self.seek_nan_in(register, register))
    }

    /// Comparisons take turns with two masks, because each waits for the one before that has written its mask.
    fn seek_nan_in(&mut self, one: Register, other: Register) -> Option<()> {
        let to = SOUGHT[self.sought % SOUGHT.len()];
        let is_first = self.sought < SOUGHT.len();
        self.sought += 1;
        let compare = Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
        let compare = Instruction::with4(compare, to, one, other, ORDERED);
        if is_first { self.push(compare) } else { self.push_masked(compare.ok()?, to) }
    }

    /// Checks rows that were written for NaNs. NaNs are rare, so they are handled out of line: returns the label where
    /// that code begins, which is still to be placed, and the label where it continues. The inner `None` if there are
    /// no rows.
    fn seek_nans(&mut self, rows: &[u32]) -> Option<Option<(Label, Label)>> {
        use Register::{EAX, ECX};
        if rows.is_empty() {
            return Some(None);
        }
        let (begins, then) = (self.label(), self.label());
        match self.host {
            // They were sought when the rows were written.
            Host::Avx512 => {
                self.seek_unsought()?;
                let [first, other] = SOUGHT;
                match std::mem::take(&mut self.sought) {
                    0 => return None,
                    1 => {}
                    _ => self.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, first, first, other))?,
                }
                self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, first, first))?;
                self.jump(Code::Jae_rel32_64, begins)?;
            }
            // Two rows at a time.
            Host::Avx2 => {
                let stored = self.host.stored();
                for (nth, pair) in rows.chunks(2).enumerate() {
                    let other = self.column(pair[pair.len() - 1], 0);
                    self.load(stored, self.column(pair[0], 0))?;
                    let compare = Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
                    self.push(Instruction::with4(compare, stored, stored, other, ORDERED))?;
                    self.bits(if nth == 0 { EAX } else { ECX }, stored)?;
                    if nth > 0 {
                        self.push(Instruction::with2(Code::And_r32_rm32, EAX, ECX))?;
                    }
                }
                self.push(Instruction::with2(Code::Cmp_rm32_imm32, EAX, (1 << self.host.lanes()) - 1))?;
                self.jump(Code::Jne_rel32_64, begins)?;
            }
        }
        self.put(then);
        Some(Some((begins, then)))
    }

    /// Replaces every NaN in the rows by the canonical one.
    fn settle_nans(&mut self, rows: &[u32], nan: u32) -> Option<()> {
        let stored = self.host.stored();
        if self.host == Host::Avx2 {
            const UNORDERED: u32 = 3;
            let is_nan = self.vectors.pop()?;
            let nan = self.constant([nan; 8]);
            for &row in rows {
                let place = self.column(row, 0);
                self.load(stored, place)?;
                let compare = Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
                self.push(Instruction::with4(compare, is_nan, stored, stored, UNORDERED))?;
                self.blend(stored, stored, nan, is_nan)?;
                self.save(place, stored)?;
            }
            self.vectors.push(is_nan);
            return Some(());
        }
        // Quiet and signalling NaNs.
        const ANY: u32 = 0x81;
        self.splat(stored, nan)?;
        for &row in rows {
            let place = self.column(row, 0);
            self.push(Instruction::with3(Code::EVEX_Vfpclassps_kr_k1_zmmm512b32_imm8, LANES, place, ANY))?;
            let store = Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, place, stored);
            self.push_masked(store.ok()?, LANES)?;
        }
        Some(())
    }

    /// Counts the lanes that have executed a block.
    fn tally(&mut self, block: &FlowBlock, columns: usize) -> Option<()> {
        use Register::{R9, RAX};
        let lanes = state(offset_of!(FlowState, lanes));
        if block.segment.mask.is_none() {
            let count = i32::try_from(columns * WIDTH * block.words as usize).ok()?;
            return self.push(Instruction::with2(Code::Add_rm64_imm32, lanes, count));
        }
        self.push(Instruction::with2(Code::Popcnt_r64_rm64, RAX, R9))?;
        self.push(Instruction::with3(Code::Imul_r64_rm64_imm32, RAX, RAX, block.words as i32))?;
        self.push(Instruction::with2(Code::Add_rm64_r64, lanes, RAX))
    }

    /// Continues after a block.
    fn go_on(&mut self, block: &FlowBlock, index: usize, labels: &mut Labels) -> Option<()> {
        use Register::R9;
        let mut next = block.next;
        if let Some((to, unless)) = block.branch {
            if block.segment.mask.is_some() {
                let to = labels.of(self, to)?;
                self.push(Instruction::with2(Code::Test_rm64_r64, R9, R9))?;
                self.jump(if unless { Code::Je_rel32_64 } else { Code::Jne_rel32_64 }, to)?;
            } else if !unless {
                next = to;
            }
        }
        if next != To::Block(index + 1) {
            let next = labels.of(self, next)?;
            self.jump(Code::Jmp_rel32_64, next)?;
        }
        Some(())
    }
}
