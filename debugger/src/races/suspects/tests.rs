//! Random accesses, whose races are known.

use std::collections::BTreeSet;

use isaforge_core::sample::Random;

use super::*;
use crate::races::Races;
use crate::races::naive::Naive;

#[allow(clippy::duplicate_mod, reason = "other tests have random numbers, too")]
#[path = "../../../../runtime/tests/seed/mod.rs"]
mod seed;

/// An event of two groups with three warps each, some of which access a few bytes of global memory or their own.
fn event(random: &mut Random, observers: &mut [&mut dyn AccessObserver]) {
    let near: [u64; 256] = std::array::from_fn(|at| 6 * at as u64);
    let mut pick = |all: &[u64]| all[random.below(all.len() as u64) as usize];
    let group = pick(&[0, 1]);
    let thread = |warp: usize, lane: usize| [64 * group as u32 + 16 * warp as u32 + lane as u32, 0, 0];
    if pick(&[0, 1, 2, 3]) == 0 {
        observers.iter_mut().for_each(|observer| observer.barrier(group));
        return;
    }
    let kind =
        [AccessKind::Load, AccessKind::Load, AccessKind::Store, AccessKind::Atomic][pick(&[0, 1, 2, 3]) as usize];
    let start = pick(&[0x1000, 0x1000, Memory::RESERVED.start, Memory::RESERVED.start, 0x5555_0000_0000])
        + 4 * pick(&[0, 0, 0, 1, 16, 32, 64]);
    let (size, lanes) = (pick(&[4, 4, 4, 1, 2, 8]) as u8, pick(&[0xffff, 0xffff, 0xff, 1, 0x8000, 0x5555]));
    let pc = pick(&[1, 2, 3]);
    if pick(&[0, 1]) == 0 {
        let step = pick(&[0, 4, 4, 8, 64]);
        let mut addresses: [u64; 16] = std::array::from_fn(|lane| start + step * lane as u64);
        match pick(&[0, 1, 2, 3, 4, 5, 6, 7]) {
            0 => addresses[7] = pick(&[start, start + 4, start + 40]),
            1 => addresses.reverse(),
            2 | 3 => {
                let [step, by, more] = [pick(&[4, 1024, 1 << 16]), pick(&[7, 11, 29]), pick(&[0, 16, 32])];
                addresses = std::array::from_fn(|lane| start + step * ((by * lane as u64 + more) % 61));
            }
            4 => addresses = addresses.map(|_| start + 4 * pick(&[0, 1, 2, 16, 32])),
            5 => addresses = addresses.map(|_| start + pick(&near)),
            _ => {}
        }
        let warp = 4 * group + pick(&[0, 1]);
        let thread = |lane| thread(warp as usize % 4, lane);
        let (space, addresses, thread) = (None, &addresses, &thread);
        let accesses = Accesses { warp, group, pc, kind, size, space, lanes, addresses, thread };
        observers.iter_mut().for_each(|observer| observer.accesses(&accesses));
        return;
    }
    let (lane, column) = (pick(&[0, 4, 4, 4]) as u32, pick(&[0, 4, 64, 64, 64, 128]) as u32);
    let pattern = Pattern { pc, kind, size, start, lane, column, stride: pick(&[0, 4, 64, 128, 256]) as u32 };
    let warp = |column: u8| StridedWarp { column, lanes: lanes as u16, warp: 4 * group + u64::from(column), group };
    let there = pick(&[1, 2, 3, 3, 5, 7]);
    let warps: Vec<StridedWarp> = (0..3).filter(|column| there >> column & 1 != 0).map(warp).collect();
    let thread = |index: usize, lane| thread(usize::from(warps[index].column), lane);
    let strided = Strided { patterns: &[pattern], warps: &warps, times: pick(&[1, 1, 2, 3]) as u32, thread: &thread };
    observers.iter_mut().for_each(|observer| observer.strided(&strided));
}

#[test]
fn warps_that_store_to_the_same_scattered_bytes_are_suspected() {
    for (own, between) in [(0x1000, false), (Memory::RESERVED.start, false), (0x1000, true)] {
        let mut suspects = Suspects::default();
        // Lanes access 8 bytes each, 4 bytes apart; every other lane is active.
        let addresses: [u64; 16] = std::array::from_fn(|lane| own + 4 * lane as u64);
        for warp in 0..2 {
            let (kind, thread) = (AccessKind::Store, |lane| [lane as u32, 0, 0]);
            let accesses = Accesses {
                warp,
                group: 0,
                pc: 1,
                kind,
                space: None,
                size: 8,
                lanes: 0x5555,
                addresses: &addresses,
                thread: &thread,
            };
            suspects.accesses(&accesses);
            if between {
                suspects.accesses(&Accesses { addresses: &[own + 0x1000; 16], lanes: 1, ..accesses });
            }
        }
        assert!(!suspects.places().are_none(), "{own:#x} {between}");
    }
}

#[test]
fn what_races_is_suspected_and_found() {
    let mut random = Random(seed::seed(0x5e));
    let (mut raced, mut cleared, mut compared) = (0, 0, 0);
    for _ in 0..50_000 {
        let (mut races, mut suspects, mut naive) = (Races::default(), Suspects::default(), Naive::default());
        let before = random.0;
        for _ in 0..2 + random.below(4) {
            event(&mut random, &mut [&mut races, &mut suspects, &mut naive]);
        }
        let pairs = races.found.iter().map(|race| race.sides.map(|side| side.pc));
        let pairs: BTreeSet<_> = pairs.map(|[one, other]| [one.min(other), one.max(other)]).collect();
        assert!(pairs.is_subset(&naive.pairs), "{before:#x}: {pairs:?}, {:?}", naive.pairs);
        if !naive.is_crowded && !naive.has_atomics {
            assert_eq!(races.count, naive.count, "{before:#x}: {pairs:?}, {:?}", naive.pairs);
            compared += u32::from(races.count > 0);
        }
        let are_clear = suspects.places().are_none();
        assert!(naive.count == 0 || !are_clear, "{before:#x}: {:?}", naive.pairs);
        raced += u32::from(races.count > 0);
        cleared += u32::from(are_clear);
    }
    assert!(raced > 10_000 && cleared > 10_000, "{raced} raced, {cleared} were cleared");
    assert!(compared > 1000, "{compared} were compared");
}

#[test]
fn races_are_the_same_among_the_accesses_to_suspected_places() {
    let mut random = Random(seed::seed(0x9a));
    let mut compared = 0;
    for _ in 0..20_000 {
        let (mut all, mut suspects) = (Races::default(), Suspects::default());
        let before = Random(random.0);
        let events = 2 + random.below(30);
        for _ in 0..events {
            event(&mut random, &mut [&mut all, &mut suspects]);
        }
        let places = suspects.places();
        if places.are_all() {
            continue;
        }
        let mut some = Races { only: Some(places), ..Races::default() };
        let mut again = Random(before.0);
        again.below(30);
        for _ in 0..events {
            event(&mut again, &mut [&mut some]);
        }
        assert_eq!((some.count, &some.found), (all.count, &all.found), "{:#x}", before.0);
        compared += u32::from(all.count > 0 && some.lines < all.lines);
    }
    assert!(compared > 1000, "{compared} were compared");
}
