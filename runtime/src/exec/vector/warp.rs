//! Operations across the lanes of a warp: of each part of a row, or of all parts together.

use super::handler::Exact;
use super::handler::{Body, Micro, NO_ROW};
use super::{Family, Member};

/// Reads the first row from the lane that the second row selects; 0 if there is no such lane.
pub(super) struct Permute;

impl Body for Permute {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            for part in (0..F::PARTS).filter(|_| F::WARPS) {
                if !member.is_busy(part) {
                    continue;
                }
                let result = moved(member.part(op.from[0], part), member.part(op.from[1], part));
                member.put(op.to, part, &result, op.keep[0]);
            }
        }
    }
}

#[inline(always)]
fn moved<const K: usize>(values: &[u64; K], lanes: &[u64; K]) -> [u64; K] {
    let mut result = [0; K];
    let values: &[u32] = bytemuck::must_cast_slice(values);
    let lanes: &[u32] = bytemuck::must_cast_slice(lanes);
    let to: &mut [u32] = bytemuck::must_cast_slice_mut(&mut result);
    for (to, lane) in to.iter_mut().zip(lanes) {
        let value = values[*lane as usize % (2 * K)];
        *to = if (*lane as usize) < 2 * K { value } else { 0 };
    }
    result
}

/// Sets a bit in every lane for each active lane of the warp whose mask in the first row is all ones. The result has
/// two words.
pub(super) struct Ballot;

impl Body for Ballot {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            for part in (0..F::PARTS).filter(|_| F::WARPS) {
                if !member.is_busy(part) {
                    continue;
                }
                let masks: &[u32] = bytemuck::must_cast_slice(member.part(op.from[0], part));
                let mut votes = 0;
                for (lane, mask) in masks.iter().enumerate() {
                    votes |= u64::from(mask & 1) << lane;
                }
                votes &= member.active(part);
                let word = |word: u64| [word << 32 | word; K];
                member.put(op.to, part, &word(votes & 0xffff_ffff), op.keep[0]);
                if op.high != NO_ROW {
                    member.put(op.high, part, &word(votes >> 32), op.keep[1]);
                }
            }
        }
    }
}

/// The most lanes of a warp.
const LANES: usize = 64;

/// Reads the first row from the lane that the second row selects; 0 if it is not below the number. All parts are one
/// warp.
pub(super) struct PermuteAll;

impl Body for PermuteAll {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members.iter_mut().filter(|_| F::WARP) {
            let mut values = [0; LANES];
            for (part, values) in values.chunks_exact_mut(K).enumerate().filter(|(part, _)| *part < F::PARTS) {
                if member.is_busy(part) {
                    values.copy_from_slice(member.part(op.from[0], part));
                }
            }
            let there = |lane: u64| if lane < op.number { values[lane as usize % LANES] } else { 0 };
            for part in 0..F::PARTS {
                if member.is_busy(part) {
                    let result = member.part(op.from[1], part).map(there);
                    member.put(op.to, part, &result, op.keep[0]);
                }
            }
        }
    }
}

/// Sets a bit in every lane for each lane whose mask in the row is all ones. All parts are one warp.
pub(super) struct BallotAll;

impl Body for BallotAll {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members.iter_mut().filter(|_| F::WARP) {
            let mut votes = 0;
            for part in (0..F::PARTS).filter(|part| member.is_busy(*part)) {
                for (lane, mask) in member.part(op.from[0], part).iter().enumerate() {
                    votes |= (mask & 1) << ((part * K + lane) % LANES);
                }
            }
            for part in 0..F::PARTS {
                if member.is_busy(part) {
                    member.put(op.to, part, &[votes; K], op.keep[0]);
                }
            }
        }
    }
}
