//! What a region uses: the windows of its accesses, and its slots.

use rustc_hash::FxHashMap;

use crate::exec::ir::{Access, Block, Effect, End, Op, Value};
use crate::exec::jit::context::MAX_WINDOWS;
use crate::exec::jit::emitted::{Sites, Window};
use crate::exec::jit::liveness::Schedule;
use crate::exec::jit::regalloc::Guest;
use crate::exec::jit::region::Region;

pub(super) fn slots(region: &Region) -> impl Iterator<Item = u32> {
    region.blocks.iter().flat_map(|block| {
        let read = (0..block.graph.len() as u32).filter_map(|at| match block.graph.node(Value(at)).op {
            Op::Slot(slot) => Some(slot),
            _ => None,
        });
        read.chain(written(block))
    })
}

pub(super) fn written(block: &Block) -> impl Iterator<Item = u32> {
    block.effects.iter().filter_map(|effect| match effect {
        Effect::Write(slot, _) => Some(*slot),
        _ => None,
    })
}

/// Returns the windows of each access of a block, as indices into `all`: the known ones, or else the largest.
pub(super) fn windows(block: &Block, all: &[Window], sites: &Sites) -> Vec<Vec<usize>> {
    let mut within = (u32::MAX, 0);
    let of = |access: &Access| {
        within = if within.0 == access.instruction { (within.0, within.1 + 1) } else { (access.instruction, 0) };
        let pc = block.instructions[access.instruction as usize];
        let fits = |window: &Window| window.size >= access.size.into() && (window.writable || !access.writes);
        let known = sites
            .get(&(pc, within.1))
            .map(|bases| bases.iter().filter_map(|base| all.iter().position(|window| window.base == *base)).collect());
        let known: Vec<usize> = known.unwrap_or_else(|| {
            let candidates = all.iter().enumerate().filter(|(_, window)| fits(window) && window.writable);
            candidates.max_by_key(|(_, window)| window.size).map(|(at, _)| at).into_iter().collect()
        });
        known.into_iter().filter(|at| all.get(*at).is_some_and(fits)).collect()
    };
    block.accesses.iter().map(of).collect()
}

/// Replaces indices into all windows by indices into the windows that are used, which are returned. `None` if these are
/// too many.
pub(super) fn number_windows(wanted: &mut [Vec<Vec<usize>>], all: &[Window]) -> Option<Vec<Window>> {
    let mut windows = vec![];
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    for at in wanted.iter_mut().flatten().flatten() {
        let next = numbers.len();
        *at = *numbers.entry(*at).or_insert_with(|| {
            windows.push(all[*at]);
            next
        });
    }
    (windows.len() <= MAX_WINDOWS).then_some(windows)
}

/// Counts the uses of slots and of the windows that each access of each block wants, weighted by loop depth.
pub(super) fn uses(region: &Region, wanted: &[Vec<Vec<usize>>]) -> FxHashMap<Guest, u64> {
    let blocks = &region.blocks;
    let mut weights = vec![1u64; blocks.len()];
    for (from, block) in blocks.iter().enumerate() {
        for to in successors(region, block).into_iter().filter(|to| *to <= from) {
            weights[to..=from].iter_mut().for_each(|weight| *weight = (*weight * 8).min(1 << 20));
        }
    }
    let mut uses: FxHashMap<Guest, u64> = FxHashMap::default();
    for ((block, wanted), weight) in blocks.iter().zip(wanted).zip(weights) {
        let schedule = Schedule::new(block);
        for (at, count) in schedule.uses.iter().enumerate().filter(|(_, count)| **count > 0) {
            if let Op::Slot(slot) = block.graph.node(Value(at as u32)).op {
                *uses.entry(Guest::Slot(slot)).or_default() += weight * u64::from(*count);
            }
        }
        for slot in written(block) {
            *uses.entry(Guest::Slot(slot)).or_default() += weight;
        }
        for window in wanted.iter().flatten() {
            *uses.entry(Guest::Window(*window as u32)).or_default() += weight;
        }
    }
    uses
}

/// Returns where the computed jump at the end of a block has led before.
pub(super) fn expected(region: &Region, block: &Block) -> Vec<u64> {
    let jump = block.instructions.last().and_then(|jump| region.targets.get(jump));
    jump.cloned().unwrap_or_default()
}

fn successors(region: &Region, block: &Block) -> Vec<usize> {
    let to = match block.end {
        End::Goto(to) => vec![to],
        End::Branch(_, then, otherwise) => vec![then, otherwise],
        End::Indirect(_) => expected(region, block),
        End::Leave(_) => vec![],
    };
    to.iter().filter_map(|to| region.at.get(to).copied()).collect()
}
