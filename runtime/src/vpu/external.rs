//! External memory: loads, fetches and stores.

use crate::vpu::error::Misuse;
use crate::vpu::exec::{Outside, World, address, lane, read, set_lane, threads, word};
use crate::vpu::float::{Lanes, ONE, channel};
use crate::vpu::group::{Group, THREADS};
use crate::vpu::memory::Memory;
use crate::vpu::op::{Fetch, Load, Op};
use crate::vpu::trace::{Sink, Write, Written};

/// Cycles until data that the L2 cache has is there.
const HIT: u64 = 6;
/// And data that it has not.
const MISS: u64 = 30;

/// Makes results pending: `value` gives that of a thread.
fn pend(
    group: &mut Group,
    world: &mut World,
    clock: Option<u64>,
    latency: u64,
    mut value: impl FnMut(usize) -> [u16; 4],
) {
    if group.pending & group.active != 0 {
        world.warn(Misuse::PendingLost, group);
    }
    for t in threads(group.active) {
        let value = value(t);
        set_lane(&mut group.result, t, value);
    }
    group.pending |= group.active;
    if let Some(now) = clock {
        group.ready = group.ready.max(now + latency);
    }
}

fn split(word: u64) -> [u16; 4] {
    std::array::from_fn(|c| (word >> (16 * c)) as u16)
}

pub(crate) fn issue_load(op: &Op, load: Load, group: &mut Group, world: &mut World, out: Outside<'_>) {
    let b = read(op.b, group, world);
    let width = match load {
        Load::Word => 8,
        Load::Rgb => 2,
        Load::Palette(_) => 1,
    };
    let mut latency = 0;
    let mut outside = false;
    let mut found = [0; THREADS];
    for t in threads(group.active) {
        let at = address(&b, t) & !(width as u32 - 1);
        outside |= !out.memory.holds(at, width);
        found[t] = out.memory.load(at & !7) >> ((at & 7) * 8);
        if out.clock.is_some() {
            let base = if out.memory.cached(at) { HIT } else { MISS };
            latency = world.latency(base).max(latency);
        }
    }
    if outside {
        world.warn(Misuse::OutsideMemory, group);
    }
    let value = |found: u64| match load {
        Load::Word => split(found),
        Load::Rgb => {
            let found = found as u16;
            let alpha = if found >> 15 == 1 { ONE } else { 0 };
            [channel(found >> 10), channel(found >> 5), channel(found), alpha]
        }
        Load::Palette(n) => out.palettes[usize::from(n & 1)][usize::from(found as u8)],
    };
    pend(group, world, out.clock, latency, |t| value(found[t]));
}

/// Warns when the 64 bits at an active thread's address are not all there.
fn check_range(group: &Group, world: &mut World, memory: &Memory, addresses: &Lanes) {
    if threads(group.active).any(|t| !memory.holds(address(addresses, t) & !7, 8)) {
        world.warn(Misuse::OutsideMemory, group);
    }
}

pub(crate) fn issue_fetch<S: Sink>(
    op: &Op,
    fetch: Fetch,
    group: &mut Group,
    world: &mut World,
    out: Outside<'_>,
    sink: &mut S,
) {
    let (a, b) = (read(op.a, group, world), read(op.b, group, world));
    let mut latency = 0;
    for _ in threads(if out.clock.is_some() { group.active } else { 0 }) {
        latency = world.latency(MISS).max(latency);
    }
    check_range(group, world, out.memory, &b);
    pend(group, world, out.clock, latency, |t| {
        let at = address(&b, t) & !7;
        let operand = word(&a, t);
        let update = |old: u64| match fetch {
            Fetch::Swap => operand,
            Fetch::Or => old | operand,
            Fetch::Xor => old ^ operand,
            Fetch::And => old & operand,
            Fetch::Add => {
                let low = (old as u32).wrapping_add(operand as u32);
                let high = ((old >> 32) as u32).wrapping_add((operand >> 32) as u32);
                u64::from(high) << 32 | u64::from(low)
            }
        };
        if out.clock.is_some() {
            out.memory.uncache(at);
        }
        let old = out.memory.update(at, update);
        if S::ON {
            sink.write(Write { thread: t as u8, to: Written::Memory(at), value: split(update(old)).map(Some) });
        }
        split(old)
    });
}

pub(crate) fn store<S: Sink>(op: &Op, group: &mut Group, world: &mut World, out: Outside<'_>, sink: &mut S) {
    let (a, b) = (read(op.a, group, world), read(op.b, group, world));
    check_range(group, world, out.memory, &b);
    for t in threads(group.active) {
        let at = address(&b, t) & !7;
        out.memory.store(at, word(&a, t));
        if S::ON {
            sink.write(Write { thread: t as u8, to: Written::Memory(at), value: lane(&a, t).map(Some) });
        }
    }
}
