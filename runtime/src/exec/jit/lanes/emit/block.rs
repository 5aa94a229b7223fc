//! A block: a loop over the warps that have active lanes.
//!
//! The code is called as [`function`](crate::exec::jit::lanes::function) describes: `rdi` points to the rows, `rsi`
//! to the active lanes of the warps, `edx` has a bit for each warp to execute, `rcx` points to the pointers to
//! windows of memory, `r8` to where the lanes that jump are written, and `r9` to the iteration counts. In the loop
//! `rax` is the offset of the warp's columns in a row. Values that all warps share are computed before the loop, and
//! loaded there if no store intervenes.
//!
//! There are two functions. One is for bundles whose lanes are all active: it writes whole rows, two warps at a time
//! if there are enough registers. The other writes only the active lanes: where it accesses memory, it reads for all
//! lanes of a warp and writes back the old values of inactive ones. If a column takes several registers, both
//! functions process them in several passes, unless all fit at once.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::plan::{Location, Part, Plan, Segment, shared, used};
use super::spill::Spills;
use super::{Access, Emitted, Emitter, Label, Made, POINTERS, touched};
use crate::exec::jit::lanes::graph::{Graph, Node, Value};
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::row::COLUMN;
use crate::exec::jit::lanes::window::Window;

/// What the code has to compute.
#[derive(Debug)]
pub struct Wanted {
    /// The graph of what it computes.
    pub graph: Arc<Graph>,
    /// The segment that covers the whole block.
    pub segment: Segment,
    /// The number of columns of a row.
    pub columns: usize,
    /// How the block repeats, if it may: as long as all lanes jump to its start, or if it does not end with a branch.
    pub again: Option<LoopPlan>,
}

/// How a block repeats.
#[derive(Clone, Debug)]
pub struct LoopPlan {
    /// How far each access advances per iteration.
    pub strides: Vec<u32>,
    /// Pairs of rows that only advance: the first row, and the amount per iteration.
    pub pairs: Vec<(u32, u32)>,
    /// The same for single rows.
    pub words: Vec<(u32, u32)>,
}

impl LoopPlan {
    /// Removes the writes of the pairs from a segment; `None` if something else in it depends on them.
    pub fn alone(mut self, graph: &Graph, segment: &mut Segment) -> Option<Self> {
        let is_moved = |row: u32| self.pairs.iter().any(|&(first, _)| row == first || row == first + 1);
        let written: Vec<_> = segment.rows.extract_if(.., |(row, _)| is_moved(*row)).collect();
        if segment.reads(graph, is_moved) {
            segment.rows.extend(written);
            return None;
        }
        // Keeps only the pairs that were written.
        self.pairs.retain(|(first, _)| written.iter().any(|(row, _)| row == first || *row == first + 1));
        Some(self)
    }
}

/// The number of iterations that a block may execute.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Times {
    /// At the start.
    pub all: u32,
    /// Left at the end.
    pub left: u32,
}

/// The last two masks collect the lanes that jump in all warps and in any warp; or the last one has the inactive
/// lanes.
const MASKS: Range<u8> = 1..6;
const ALL: Register = Register::K6;
const ANY: Register = Register::K7;
/// The registers available for values that all warps share.
const SHARED: usize = 18;

impl Emitted {
    /// Returns the code for bundles whose lanes are all active. `None` on register pressure, or if lanes would store
    /// to the same place.
    pub fn full(wanted: &Wanted, windows: &[Window]) -> Option<Self> {
        let host = wanted.graph.host();
        let full = |warps, whole| full(wanted, windows, Tile { warps, pieces: host.pieces(), whole }, 0..0);
        let made = match host {
            Host::Avx512 => full(2, true).or_else(|| full(1, true)),
            Host::Avx2 => full(1, true).or_else(|| full(1, false)),
        };
        Some(Emitted::new(made?, wanted.columns, wanted.touched(), windows.to_vec()))
    }

    /// Returns the code for rows of one register, which spills values to the rows of `spare` on register pressure.
    /// `None` if that does not suffice.
    pub(super) fn flat(wanted: &Wanted, windows: &[Window], spare: Range<u32>) -> Option<Self> {
        let rows = wanted.touched().max(spare.end as usize);
        let made = full(wanted, windows, Tile { warps: 1, pieces: 1, whole: true }, spare)?;
        let rows = rows.div_ceil(wanted.graph.host().pieces());
        Some(Emitted::new(made, wanted.columns, rows, windows.to_vec()))
    }

    /// Returns the code that writes only the active lanes, once. `None` on register pressure, if lanes would store to
    /// the same place, or if memory is accessed before a branch.
    pub fn part(wanted: &Wanted, windows: &[Window]) -> Option<Self> {
        Some(Emitted::new(part(wanted, windows)?, wanted.columns, wanted.touched(), windows.to_vec()))
    }
}

impl Wanted {
    /// Whether it stores to memory. The next instruction may load what another lane of the warp stored, so all lanes
    /// must take part in each access together.
    fn stores(&self) -> bool {
        !self.graph.stores().is_empty()
    }

    pub(super) fn touched(&self) -> usize {
        let ends = |again: &LoopPlan| {
            let ends = |rows: &[(u32, u32)], size| rows.iter().map(|(row, _)| *row as usize + size).max();
            ends(&again.pairs, 2).max(ends(&again.words, 1)).unwrap_or(0)
        };
        self.again.iter().map(ends).fold(touched(&self.graph, std::iter::once(&self.segment)), usize::max)
    }
}

/// Starts the code with the values that all warps share. Some rows are pinned to registers, which are not loaded yet.
/// Returns the code with the plan and the locations of values.
pub(super) fn begin(
    wanted: &Wanted,
    windows: &[Window],
    ways: usize,
    access: Access,
    pinned: &[u32],
) -> Option<(Emitter, Plan, Vec<Location>)> {
    let (graph, segment) = (&wanted.graph, &wanted.segment);
    let used = used(graph, std::iter::once(segment));
    let homes = homes(wanted, windows, &used);
    let plan = Plan::new(graph, &[Part { segment, masked: 0 }], &used, &homes, pinned)?;
    let mut out = Emitter::new(graph, wanted.columns, ways, access, MASKS);
    out.windows = windows.to_vec();
    if access == Access::But {
        out.pointers = [Register::R8, Register::R9, Register::R10, Register::R11];
    }
    out.point()?;
    out.fixed(graph, &plan, &homes)?;
    out.pin(pinned)?;
    Some((out, plan, homes))
}

/// Returns the locations of values: those that all warps share are in registers, unless there are too many.
fn homes(wanted: &Wanted, windows: &[Window], used: &[bool]) -> Vec<Location> {
    let (graph, segment) = (&wanted.graph, &wanted.segment);
    // Words at the same address for all warps, as long as there is no store. AVX2 has too few registers, and takes
    // two for each.
    let is_same = |node: &Node| match node {
        Node::Memory(window, ..) => {
            let moves = wanted.again.is_some() || windows.get(*window).is_none_or(|window| window.column != 0);
            !moves && !wanted.stores() && graph.host() == Host::Avx512
        }
        _ => false,
    };
    let (fixed, read) = shared(graph, used, std::iter::once(segment), is_same);
    let constant = |index: usize| Location::of_constant(graph, index);
    let is_much = (0..read.len()).filter(|&index| read[index] && constant(index).is_none()).count() > SHARED;
    let home = |index: usize| match graph.nodes()[index] {
        _ if constant(index).is_some() => Location::Constant,
        _ if !fixed[index] || !used[index] => Location::Segment,
        Node::Splat(_) if is_much => Location::Register,
        _ if is_much => Location::Segment,
        _ if read[index] => Location::Register,
        _ => Location::Before,
    };
    (0..fixed.len()).map(home).collect()
}

/// How much of a row is processed at a time.
struct Tile {
    warps: usize,
    /// The registers that a column takes, all of which are processed at once if `whole`.
    pieces: usize,
    whole: bool,
}

/// Emits the code that writes whole rows, and that spills values to those of `spare`.
fn full(wanted: &Wanted, windows: &[Window], tile: Tile, spare: Range<u32>) -> Option<Made> {
    use Register::{EAX, ECX, R8, RAX};
    let Tile { warps, pieces, whole } = tile;
    if !wanted.columns.is_multiple_of(warps) {
        return None;
    }
    let (ways, passes) = if whole || wanted.stores() { (warps * pieces, 1) } else { (warps, pieces) };
    let (mut out, plan, homes) = begin(wanted, windows, ways, Access::Whole, &[])?;
    out.pieces = pieces;
    if !spare.is_empty() {
        // No lane jumps, and none is masked.
        out.vectors.splice(0..0, [out.host.stored(), out.lanes(0)]);
        out.spills = Some(Spills::new(&wanted.graph, &wanted.segment, &plan, spare));
    }
    let mask = wanted.segment.mask;
    // A mask passes through a register that would otherwise point to a window.
    if mask.is_some() && out.host == Host::Avx2 && windows.len() == POINTERS.len() {
        return None;
    }
    let again = out.label();
    out.put(again);
    out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
    out.push(Instruction::with2(Code::Mov_r32_imm32, ECX, (wanted.columns / warps) as u32))?;
    match out.host {
        _ if mask.is_none() => {}
        Host::Avx2 if wanted.again.is_none() => {}
        Host::Avx512 => {
            out.push(Instruction::with3(Code::VEX_Kxorw_kr_kr_kr, ANY, ANY, ANY))?;
            out.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, ALL, ALL, ALL))?;
        }
        Host::Avx2 => {
            let all = out.lanes(0);
            out.push(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, all, all, all))?;
        }
    }
    let start = out.label();
    out.put(start);
    for piece in 0..passes {
        out.first = piece;
        out.body(&wanted.graph, &wanted.segment, &plan, &homes)?;
        if let Some(mask) = mask {
            out.jumps(wanted, mask, &homes)?;
        }
    }
    if mask.is_some() {
        out.push(Instruction::with2(Code::Add_rm64_imm8, R8, 2 * warps as i32))?;
    }
    for (pointer, window) in POINTERS.iter().zip(windows).filter(|(_, window)| window.column != 0) {
        out.push(Instruction::with2(Code::Add_rm64_imm32, *pointer, (window.column as usize * warps) as i32))?;
    }
    out.push(Instruction::with2(Code::Add_rm64_imm32, RAX, out.bytes(warps * pieces) as i32))?;
    out.push(Instruction::with1(Code::Dec_rm32, ECX))?;
    out.jump(Code::Jne_rel32_64, start)?;
    if mask.is_some() && out.host == Host::Avx2 {
        out.push(Instruction::with2(Code::Sub_rm64_imm8, R8, 2 * wanted.columns as i32))?;
    }
    if let Some(repeated) = &wanted.again {
        out.repeat(repeated, mask.is_some(), again)?;
    }
    if mask.is_some() {
        out.outcome()?;
    }
    end(out)
}

/// Emits the code that writes the active lanes of some warps. In its loop `ecx` is the warp, and `r11d` has its
/// active lanes if there are no windows.
fn part(wanted: &Wanted, windows: &[Window]) -> Option<Made> {
    use Register::{AL, AX, EAX, ECX, EDX, R8, R9D, R10D, R11D, RSI};
    let pieces = wanted.graph.host().pieces();
    let (ways, passes) = if wanted.stores() { (pieces, 1) } else { (1, pieces) };
    let has_windows = !windows.is_empty();
    if has_windows && wanted.segment.mask.is_some() {
        return None;
    }
    let (mut out, plan, homes) = begin(wanted, windows, ways, Access::But, &[])?;
    let zeros = [R9D, R10D].map(|register| Instruction::with2(Code::Xor_r32_rm32, register, register));
    if !has_windows {
        zeros.clone().into_iter().try_for_each(|zero| out.push(zero))?;
    }
    let start = out.label();
    out.put(start);
    out.push(Instruction::with2(Code::Tzcnt_r32_rm32, ECX, EDX))?;
    out.push(Instruction::with2(Code::VEX_Blsr_r32_rm32, EDX, EDX))?;
    for piece in 0..passes {
        out.first = piece;
        out.push(Instruction::with3(Code::Imul_r32_rm32_imm8, EAX, ECX, COLUMN as i32))?;
        for way in 0..ways {
            let lanes = out.lanes(way);
            out.load_mask(lanes, of_warp(RSI, piece + way))?;
            out.complement(lanes)?;
        }
        out.body(&wanted.graph, &wanted.segment, &plan, &homes)?;
        if let Some(mask) = wanted.segment.mask {
            let jumps = out.operand(&wanted.graph, mask, 0, &homes)?;
            out.bits(EAX, jumps)?;
            if out.host == Host::Avx2 {
                out.done(mask, true, 0);
                out.push(Instruction::with2(Code::Mov_rm8_r8, of_warp(R8, piece), AL))?;
            }
        }
    }
    if wanted.segment.mask.is_some() {
        out.push(Instruction::with2(Code::Movzx_r32_rm16, R11D, of_warp(RSI, 0)))?;
        if out.host == Host::Avx2 {
            out.push(Instruction::with2(Code::Movzx_r32_rm16, EAX, of_warp(R8, 0)))?;
        }
        out.push(Instruction::with2(Code::And_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Mov_rm16_r16, of_warp(R8, 0), AX))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R9D, EAX))?;
        out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R10D, EAX))?;
    }
    out.push(Instruction::with2(Code::Test_rm32_r32, EDX, EDX))?;
    out.jump(Code::Jne_rel32_64, start)?;
    if has_windows {
        zeros.into_iter().try_for_each(|zero| out.push(zero))?;
    }
    end(out)
}

impl Emitter {
    /// Loads the pointers to windows.
    fn point(&mut self) -> Option<()> {
        for index in 0..self.windows.len() {
            let place = MemoryOperand::with_base_displ(Register::RCX, 8 * index as i64);
            self.push(Instruction::with2(Code::Mov_r64_rm64, *self.pointers.get(index)?, place))?;
        }
        Some(())
    }

    /// Records the lanes that jump. AVX-512 collects those that jump in all warps and in any; AVX2 only the former,
    /// if the block repeats.
    fn jumps(&mut self, wanted: &Wanted, mask: Value, homes: &[Location]) -> Option<()> {
        use Register::{R8, R11D, R11L};
        for way in 0..self.ways {
            let jumps = self.operand(&wanted.graph, mask, way, homes)?;
            let note = MemoryOperand::with_base_displ(R8, self.mask_bytes(self.first + way) as i64);
            if self.host == Host::Avx2 {
                self.bits(R11D, jumps)?;
                self.push(Instruction::with2(Code::Mov_rm8_r8, note, R11L))?;
                if wanted.again.is_some() {
                    let all = self.lanes(0);
                    self.push(Instruction::with3(Code::VEX_Vpand_ymm_ymm_ymmm256, all, all, jumps))?;
                }
                self.done(mask, true, way);
                continue;
            }
            self.push(Instruction::with2(Code::VEX_Kmovw_m16_kr, note, jumps))?;
            self.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, ANY, ANY, jumps))?;
            self.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, ALL, ALL, jumps))?;
        }
        Some(())
    }

    /// Puts the lanes that jump in any warp into `r9d`, and those that do not jump in some warp into `r10d`. With
    /// AVX2 they are read from where `r8` points.
    fn outcome(&mut self) -> Option<()> {
        use Register::{EAX, R8, R9D, R10D, R11D};
        if self.host == Host::Avx512 {
            self.push(Instruction::with2(Code::VEX_Knotw_kr_kr, ALL, ALL))?;
            self.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R9D, ANY))?;
            return self.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R10D, ALL));
        }
        self.push(Instruction::with2(Code::Xor_r32_rm32, R9D, R9D))?;
        self.push(Instruction::with2(Code::Xor_r32_rm32, R10D, R10D))?;
        self.push(Instruction::with2(Code::Mov_r32_imm32, R11D, 0xffff))?;
        for warp in 0..self.columns {
            let jumps = MemoryOperand::with_base_displ(R8, 2 * warp as i64);
            self.push(Instruction::with2(Code::Movzx_r32_rm16, EAX, jumps))?;
            self.push(Instruction::with2(Code::Or_r32_rm32, R9D, EAX))?;
            self.push(Instruction::with2(Code::Xor_r32_rm32, EAX, R11D))?;
            self.push(Instruction::with2(Code::Or_r32_rm32, R10D, EAX))?;
        }
        Some(())
    }

    /// Jumps unless all lanes of all warps jump.
    fn unless_all(&mut self, to: Label) -> Option<()> {
        use Register::EAX;
        if self.host == Host::Avx512 {
            self.push(Instruction::with2(Code::VEX_Kortestw_kr_kr, ALL, ALL))?;
            return self.jump(Code::Jae_rel32_64, to);
        }
        self.bits(EAX, self.lanes(0))?;
        self.push(Instruction::with2(Code::Cmp_rm32_imm32, EAX, (1 << self.host.lanes()) - 1))?;
        self.jump(Code::Jne_rel32_64, to)
    }

    /// Repeats the block with advanced windows if iterations are left and, where it branches, all lanes jump;
    /// otherwise puts rows where they belong.
    fn repeat(&mut self, again: &LoopPlan, branches: bool, start: Label) -> Option<()> {
        use Register::{R8, R9};
        let [all, left] = [offset_of!(Times, all), offset_of!(Times, left)];
        let [all, left] = [all, left].map(|at| MemoryOperand::with_base_displ(R9, at as i64));
        let end = self.label();
        for (index, pointer) in POINTERS.iter().enumerate().take(self.windows.len()) {
            let window = &self.windows[index];
            let further = i64::from(window.stride) - self.columns as i64 * i64::from(window.column);
            if further != 0 {
                self.push(Instruction::with2(Code::Add_rm64_imm32, *pointer, i32::try_from(further).ok()?))?;
            }
        }
        if branches && self.host == Host::Avx512 {
            self.push(Instruction::with2(Code::Sub_rm64_imm8, R8, 2 * self.columns as i32))?;
        }
        self.push(Instruction::with1(Code::Dec_rm32, left))?;
        if branches {
            self.unless_all(end)?;
        }
        self.push(Instruction::with2(Code::Cmp_rm32_imm8, left, 0))?;
        self.jump(Code::Jne_rel32_64, start)?;
        self.put(end);
        self.advance(again, |out, to| {
            out.push(Instruction::with2(Code::Mov_r32_rm32, to, all))?;
            out.push(Instruction::with2(Code::Sub_r32_rm32, to, left))
        })
    }
}

/// Ends the code: the result has the lanes that jump in its low half and those that do not in its high half.
pub(super) fn end(mut out: Emitter) -> Option<Made> {
    use Register::{EAX, R9D, R10D};
    out.push(Instruction::with3(Code::Imul_r32_rm32_imm32, EAX, R10D, 0x1_0000))?;
    out.push(Instruction::with2(Code::Or_r32_rm32, EAX, R9D))?;
    out.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
    out.push(Ok(Instruction::with(Code::Retnq)))?;
    out.finish()
}

/// Returns the 16-bit word of the current warp in an array that starts at `byte`.
fn of_warp(base: Register, byte: usize) -> MemoryOperand {
    let size = u32::from(byte > 0);
    MemoryOperand::new(base, Register::RCX, 2, byte as i64, size, false, Register::None)
}
