//! A loop: its blocks, with the jumps between them.
//!
//! The code is called as [`function`](crate::exec::jit::lanes::function) describes: `rdi` points to the rows, `rsi`
//! to the [`State`], and `rdx` is the offset of the first warp's columns in a row. It executes the loop for several
//! warps side by side, as if they were one: among all of their lanes, those at the lowest word are active. The others
//! wait in the state at one of the loop's places: words that are jump targets, or that follow a jump. The code ends
//! when no lane is left in the loop, or when the budget might be exceeded; then all lanes wait.
//!
//! A block that is only reached from the block before continues it: together they form a *trace*, in which values
//! stay in registers without being written to rows. When lanes leave a trace, the rows hold what these lanes may
//! read, and nothing else.
//!
//! `r8` has the active lanes; `r9` has their number, and above 32 bits the number of their warps; `r11d` is the
//! remaining budget. With AVX-512, the last mask registers also have the active lanes of each way, if enough others are
//! left: then comparisons at the end of a block find the lanes that leave without further instructions. Rows stay in
//! registers throughout the loop if there are enough, and are written in all lanes except where waiting lanes may read
//! them.
//!
//! - here: loops, the allocation of registers, and the code from entry to end
//! - `diverge`: how lanes diverge and reconverge between blocks, and how they are counted

mod diverge;

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::plan::{Location, Part, Plan, Segment, bit, locations, used};
use super::{Access, Constant, Emitted, Emitter, LANES, Label, Made, SLOTS, Slots, WAYS, touched, vectors};
use crate::exec::jit::lanes::graph::{Graph, Node};
use crate::exec::jit::lanes::host::Host;

/// The most registers of a value that a loop processes side by side.
const SIDE: usize = 4;

/// The most places and blocks of a loop.
pub const PLACES: usize = 32;

/// The first mask register is for branches, the last ones have the active lanes.
const MASKS: Range<u8> = 1..8;

/// The state of a loop besides rows. Lanes are bits, with those of the first warp lowest.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct State {
    slots: Slots,
    /// The lanes that may execute; all others are left unchanged.
    pub entry: u64,
    active: u64,
    /// The number of words that may be executed; at the end, how many are left.
    pub room: u32,
    /// The value of `room` when `spent` was last updated.
    counted: u32,
    /// The number of words that each warp has executed.
    pub spent: [u32; SIDE],
    /// The lanes that wait at each place.
    pub waiting: [u64; PLACES],
    /// For each block, the number of lanes that have executed it, and above 32 bits the number of warps.
    pub counts: [u64; PLACES],
    /// The lanes that must not be written, as bits and as AVX2 masks.
    left: u64,
    pub(super) others: [Constant; SIDE],
}

impl Default for State {
    fn default() -> Self {
        let (waiting, counts) = ([0; PLACES], [0; PLACES]);
        State {
            slots: Slots::default(),
            entry: 0,
            active: 0,
            room: 0,
            counted: 0,
            spent: [0; SIDE],
            waiting,
            counts,
            left: 0,
            others: Default::default(),
        }
    }
}

/// The offset of the active lanes in the state.
pub const ACTIVE: usize = offset_of!(State, active);

const _: () = assert!(offset_of!(State, slots) == 0);

fn state(at: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSI, at as i64)
}

fn waiting(place: usize) -> MemoryOperand {
    state(offset_of!(State, waiting) + size_of::<u64>() * place)
}

/// A loop.
#[derive(Debug)]
pub struct Loop {
    /// The graph of what its blocks compute, with a segment for each.
    pub graph: Graph,
    /// The number of columns of a row.
    pub columns: usize,
    /// The blocks, in order.
    pub blocks: Vec<Block>,
    /// The place directly after the loop; the places within it come before, in order, and the others after.
    pub end: usize,
    /// The rows that are read at any place.
    pub read: u64,
}

/// A run of consecutive words.
#[derive(Debug)]
pub struct Block {
    /// What it computes.
    pub segment: Segment,
    /// The number of words.
    pub words: u32,
    /// The place at which it begins, if that is one.
    pub place: Option<usize>,
    /// The first place after it.
    pub next: usize,
    /// What follows it.
    pub leave: Leave,
    /// Rows that waiting lanes may read, as bits.
    pub masked: u64,
    /// Whether it is only reached from the block before, and so knows the values that block has computed.
    pub continues: bool,
}

/// What follows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The next block.
    Next,
    /// All lanes jump to a place.
    Jump(usize),
    /// The lanes of the segment's mask leave, or, with `true`, the others. They jump to a place after the block; or, if
    /// the place is before its end, they do not jump back to it as the remaining ones do.
    Branch(usize, bool),
}

impl Emitted {
    /// Returns the code for a loop, and the number of warps that it executes side by side. `None` on register
    /// pressure.
    pub fn looped(wanted: &Loop) -> Option<(Self, usize)> {
        [4, 2, 1].into_iter().find_map(|warps| Some((Emitted::looped_of(wanted, warps)?, warps)))
    }

    /// The same for a given number of warps.
    pub fn looped_of(wanted: &Loop, warps: usize) -> Option<Self> {
        let rows = touched(&wanted.graph, wanted.segments());
        let host = wanted.graph.host();
        let ways = warps * host.pieces();
        if !wanted.columns.is_multiple_of(warps) || ways > SIDE {
            return None;
        }
        let allocation = Allocation::new(wanted, ways)?;
        // AVX2 has no mask registers.
        let mut kept = [true, false].into_iter().filter(|kept| !kept || host == Host::Avx512);
        let made = kept.find_map(|keeps_active| looped(wanted, &allocation, ways, keeps_active))?;
        Some(Emitted::new(made, wanted.columns, rows, vec![]))
    }
}

/// The locations of values and rows throughout the loop.
struct Allocation {
    used: Vec<bool>,
    homes: Vec<Location>,
    /// The rows that stay in registers.
    rows: Vec<u32>,
}

impl Allocation {
    /// Allocates for `ways` registers per value. `None` on register pressure.
    fn new(wanted: &Loop, ways: usize) -> Option<Self> {
        let host = wanted.graph.host();
        let nodes = wanted.graph.nodes();
        let used = used(&wanted.graph, wanted.segments());
        let mut homes = locations(&wanted.graph, &used, wanted.segments());
        let mut shared: Vec<usize> = (0..nodes.len()).filter(|&index| homes[index] == Location::Register).collect();
        let (mut slots, (mut rows, mut written)) = (0, wanted.rows(&used));
        let all = written;
        loop {
            let mut most = 0;
            for trace in wanted.traces() {
                let parts: Vec<_> = trace.iter().map(Block::part).collect();
                let plan = Plan::new(&wanted.graph, &parts, &used, &homes, &rows)?;
                most = most.max(plan.pressure(&wanted.graph, nodes_of(trace), &homes));
            }
            let needed = ways * (rows.len() + most) + shared.len();
            let lacking = needed.saturating_sub(vectors(host, Access::Active, ways).into());
            if lacking == 0 {
                return Some(Allocation { used, homes, rows });
            }
            if rows.len() > written {
                // Rows that are only read can as well be read from memory.
                rows.truncate(written.max(rows.len().saturating_sub(lacking.div_ceil(ways))));
            } else if ways < SIDE && slots < SLOTS && !shared.is_empty() {
                for index in shared.drain(shared.len() - lacking.min(SLOTS - slots).min(shared.len())..) {
                    homes[index] = Location::Slot(slots);
                    slots += 1;
                }
            } else if written > 0 && (ways == host.pieces() || host == Host::Avx2 && lacking <= ways && written == all)
            {
                // A row in memory costs less than executing one warp at a time.
                written -= 1;
                rows.pop();
            } else {
                return None;
            }
        }
    }
}

impl Loop {
    /// Iterates over the traces: each is a block with those that continue it.
    fn traces(&self) -> impl Iterator<Item = &[Block]> {
        self.blocks.chunk_by(|_, next| next.continues)
    }

    fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.blocks.iter().map(|block| &block.segment)
    }

    /// Returns the rows that the loop uses, and how many of them it writes: those come first, followed by the most
    /// read ones.
    fn rows(&self, used: &[bool]) -> (Vec<u32>, usize) {
        let mut rows = vec![];
        for (row, _) in self.segments().flat_map(|segment| &segment.rows) {
            if !rows.contains(row) {
                rows.push(*row);
            }
        }
        let written = rows.len();
        let mut read = BTreeMap::new();
        for (node, _) in self.graph.nodes().iter().zip(used).filter(|(_, used)| **used) {
            for argument in node.arguments() {
                if let Node::Row(row, _) = self.graph.nodes()[argument.index()]
                    && !rows.contains(&row)
                {
                    *read.entry(row).or_insert(0) += 1;
                }
            }
        }
        let mut read: Vec<_> = read.into_iter().collect();
        read.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        rows.extend(read.into_iter().map(|(row, _)| row));
        (rows, written)
    }
}

impl Block {
    fn part(&self) -> Part<'_> {
        Part { segment: &self.segment, masked: self.masked }
    }
}

/// Returns the nodes of a trace.
fn nodes_of(trace: &[Block]) -> Range<usize> {
    let at = |block: Option<&Block>| block.map_or(0..0, |block| block.segment.nodes.clone());
    at(trace.first()).start..at(trace.last()).end
}

/// The jump targets.
struct Labels {
    /// For each block, the label where waiting lanes are joined, and the label after that.
    heads: Vec<[Label; 2]>,
    /// Counts the active lanes, and continues at `rdx`.
    count: Label,
    /// Lets all lanes wait.
    end: Label,
}

/// Emits the code for `ways` registers per value. With AVX-512, the masks of the active lanes may stay in registers.
fn looped(wanted: &Loop, allocation: &Allocation, ways: usize, keeps_active: bool) -> Option<Made> {
    use Register::{R8, R8D, R11D, RAX, RDI, RDX};
    let Allocation { used, homes, rows } = allocation;
    let kept = if keeps_active { ways as u8 } else { 1 };
    let mut out = Emitter::new(&wanted.graph, wanted.columns, ways, Access::Active, MASKS.start..MASKS.end - kept);
    out.keeps_active = keeps_active;
    out.spare = (out.host == Host::Avx512).then_some(Register::K0);
    let plan = |trace: &[Block]| {
        let parts: Vec<_> = trace.iter().map(Block::part).collect();
        Plan::new(&wanted.graph, &parts, used, homes, rows)
    };
    out.fixed(&wanted.graph, &plan(wanted.traces().next()?)?, homes)?;
    out.push(Instruction::with2(Code::Add_rm64_r64, RDI, RDX))?;
    out.pin(rows)?;
    out.load_pinned()?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, R8D, R8D))?;
    out.push(Instruction::with2(Code::Mov_r32_rm32, R11D, state(offset_of!(State, room))))?;
    out.push(Instruction::with2(Code::Mov_rm32_r32, state(offset_of!(State, counted)), R11D))?;
    out.push(Instruction::with2(Code::Mov_rm64_r64, state(ACTIVE), R8))?;
    let labels = Labels {
        heads: wanted.blocks.iter().map(|_| [out.label(), out.label()]).collect(),
        count: out.label(),
        end: out.label(),
    };
    let mut later = vec![];
    let mut index = 0;
    for trace in wanted.traces() {
        let plan = plan(trace)?;
        for block in trace {
            out.head(wanted, index, &labels, &mut later)?;
            out.masked = block.masked;
            out.leaving = block.segment.mask;
            out.body(&wanted.graph, &block.segment, &plan, homes)?;
            let mut masks = [Register::None; WAYS];
            if let Some(mask) = block.segment.mask {
                for (way, register) in masks.iter_mut().enumerate().take(ways) {
                    *register = out.operand(&wanted.graph, mask, way, homes)?;
                    out.done(mask, plan.ends_with(mask, &block.segment), way);
                }
            }
            out.leave(wanted, index, masks, &labels, &mut later)?;
            index += 1;
        }
    }
    out.push(Instruction::with2(Code::Or_rm64_r64, waiting(wanted.end), R8))?;
    out.put(labels.end);
    let ends = out.label();
    out.count_then(ends, &labels)?;
    for rare in later {
        out.rare(rare, &labels)?;
    }
    out.put(labels.count);
    out.count()?;
    out.push(Instruction::with1(Code::Jmp_rm64, RDX))?;
    out.put(ends);
    let written = wanted.segments().flat_map(|segment| segment.rows.iter().map(|(row, _)| *row));
    let written = written.fold(0, |all, row| all | bit(row)) & wanted.read;
    if out.host == Host::Avx2 {
        out.push(Instruction::with2(Code::Mov_r64_rm64, RAX, state(offset_of!(State, entry))))?;
        out.leave_alone()?;
    }
    for way in 0..ways {
        if out.host == Host::Avx512 {
            out.load_mask(LANES, state(offset_of!(State, entry) + out.mask_bytes(way)))?;
        }
        for &row in rows.iter().filter(|&&row| written & bit(row) != 0) {
            let (to, home) = (out.column(row, way), out.home(row, way)?);
            if out.host == Host::Avx512 {
                let store = Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, to, home);
                out.push_masked(store.ok()?, LANES)?;
            } else {
                out.store_masked(to, home, way)?;
            }
        }
    }
    out.push(Instruction::with2(Code::Mov_rm32_r32, state(offset_of!(State, room)), R11D))?;
    out.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
    out.push(Ok(Instruction::with(Code::Retnq)))?;
    out.finish()
}
