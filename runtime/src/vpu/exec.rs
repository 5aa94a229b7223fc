//! What one instruction does to a group and its surroundings.

use std::collections::{BTreeMap, VecDeque};

use crate::vpu::alu::compute;
use crate::vpu::error::{Misuse, Wait};
use crate::vpu::external::{issue_fetch, issue_load, store};
use crate::vpu::float::Lanes;
use crate::vpu::group::{Group, Start, THREADS, lanes_of};
use crate::vpu::memory::Memory;
use crate::vpu::op::{Action, FlagOp, Op, Operand, Space, TileAccess};
use crate::vpu::tiles::{TILE_BUFFERS, Tile, TileSize};
use crate::vpu::trace::{Sink, Write, Written};

/// Global banks of a core: one for each group of state.
pub const BANKS: usize = 48;
/// Groups that can wait in the queue of a core.
pub const QUEUE: usize = 28;

/// A palette: 256 entries of X, Y, Z, W.
pub type Palette = [[u16; 4]; 256];

/// A global bank: 32 registers of X, Y, Z, W.
pub type Bank = [[u16; 4]; 32];

/// What groups of a core share.
pub(crate) struct World {
    pub banks: Vec<Bank>,
    /// How many groups and jobs hold each bank.
    pub holders: [u32; BANKS],
    pub tile_size: TileSize,
    pub tiles: [Tile; TILE_BUFFERS],
    pub queue: VecDeque<Start>,
    /// By what and where: the first group and how often.
    pub warnings: BTreeMap<(Misuse, u16), (u64, u64)>,
    /// State of the generator that varies latencies; 0 varies nothing.
    pub jitter: u64,
}

/// What all cores share, and the time.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'a> {
    pub memory: &'a Memory,
    pub palettes: &'a [Palette; 2],
    /// The cycle; `None` when no one counts and loads complete at once.
    pub clock: Option<u64>,
}

pub(crate) enum Outcome {
    Next,
    /// A branch was taken; the program counter is set.
    Jumped,
    Stalled(Wait),
    /// The last thread has ended.
    Ended,
    Invalid,
}

impl World {
    pub(crate) fn new(tile_size: TileSize, jitter: u64) -> Self {
        World {
            banks: vec![[[0; 4]; 32]; BANKS],
            holders: [0; BANKS],
            tile_size,
            tiles: std::array::from_fn(|_| Tile::new(tile_size)),
            queue: VecDeque::new(),
            warnings: BTreeMap::new(),
            jitter,
        }
    }

    #[cold]
    pub(crate) fn warn(&mut self, misuse: Misuse, group: &Group) {
        self.warnings.entry((misuse, group.pc)).or_insert((group.serial, 0)).1 += 1;
    }

    pub(crate) fn release(&mut self, bank: u8) {
        if let Some(holders) = self.holders.get_mut(usize::from(bank)) {
            *holders = holders.saturating_sub(1);
        }
    }

    pub(crate) fn latency(&mut self, base: u64) -> u64 {
        if self.jitter == 0 { base } else { base + self.vary() % 16 }
    }

    /// The next number of the generator: xorshift64, which never reaches 0 from another state.
    pub(crate) fn vary(&mut self) -> u64 {
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 7;
        self.jitter ^= self.jitter << 17;
        self.jitter
    }
}

#[inline(always)]
pub(crate) fn read(operand: Operand, group: &Group, world: &World) -> Lanes {
    let pick = |value: [u16; 4]| {
        let chosen: [u16; 4] = std::array::from_fn(|c| value[usize::from(operand.select[c] & 3)]);
        std::array::from_fn(|i| chosen[i % 4])
    };
    let index = usize::from(operand.index);
    match operand.space {
        Space::Local if operand.straight => group.local[index & 15],
        Space::Local => {
            let value = &group.local[index & 15];
            std::array::from_fn(|i| value[(i & !3) + usize::from(operand.select[i % 4] & 3)])
        }
        Space::Shared => pick(group.shared[index & 15]),
        Space::Global => pick(world.banks[usize::from(group.bank)][index & 31]),
    }
}

pub(crate) fn threads(set: u8) -> impl Iterator<Item = usize> {
    (0..THREADS).filter(move |t| set >> t & 1 == 1)
}

pub(crate) fn lane(lanes: &Lanes, thread: usize) -> [u16; 4] {
    std::array::from_fn(|c| lanes[4 * thread + c])
}

pub(crate) fn word(lanes: &Lanes, thread: usize) -> u64 {
    (0..4).rev().fold(0, |word, c| word << 16 | u64::from(lanes[4 * thread + c]))
}

pub(crate) fn address(lanes: &Lanes, thread: usize) -> u32 {
    u32::from(lanes[4 * thread]) | u32::from(lanes[4 * thread + 1]) << 16
}

pub(crate) fn set_lane(lanes: &mut Lanes, thread: usize, value: [u16; 4]) {
    lanes[4 * thread..4 * thread + 4].copy_from_slice(&value);
}

/// Writes a result to its register and updates flags, for the given threads.
#[inline(always)]
fn write_back<S: Sink>(op: &Op, group: &mut Group, world: &mut World, result: &Lanes, who: u8, sink: &mut S) {
    let target = &op.target;
    let enabled = target.modes.enabled(group.flags) & lanes_of(who);
    if target.sign || target.zero {
        let (sign, zero) = (u16::from(target.sign), u16::from(target.zero));
        let mut each = [0u16; 16];
        for i in 0..16 {
            each[i] = (result[i] >> 15 & sign | u16::from(result[i] & target.zero_bits == 0) & zero) << i;
        }
        let set = each.iter().fold(0, |all, bit| all | bit);
        group.flags = group.flags & !enabled | set & enabled;
    }
    let index = usize::from(target.index);
    match target.space {
        Space::Local => {
            let register = &mut group.local[index & 15];
            if enabled == u16::MAX {
                *register = *result;
            } else {
                for i in 0..16 {
                    register[i] = if enabled & 1 << i != 0 { result[i] } else { register[i] };
                }
            }
        }
        Space::Shared => overlay(&mut group.shared[index & 15], result, enabled),
        Space::Global => match group.reserved {
            Some(bank) => overlay(&mut world.banks[usize::from(bank)][index & 31], result, enabled),
            None => world.warn(Misuse::SpawnedWriteWithoutBank, group),
        },
    }
    if S::ON {
        let to = match (target.space, group.reserved) {
            (Space::Local, _) => Written::Local(target.index),
            (Space::Shared, _) => Written::Shared(target.index),
            (Space::Global, Some(bank)) => Written::Global { bank, index: target.index },
            (Space::Global, None) => return,
        };
        note(to, result, enabled, sink);
    }
}

/// Threads write one register in order: the highest enabled one wins each component.
fn overlay(register: &mut [u16; 4], result: &Lanes, enabled: u16) {
    for (i, value) in result.iter().enumerate() {
        if enabled >> i & 1 == 1 {
            register[i % 4] = *value;
        }
    }
}

fn note<S: Sink>(to: Written, result: &Lanes, enabled: u16, sink: &mut S) {
    for t in 0..THREADS {
        let value = std::array::from_fn(|c| (enabled >> (4 * t + c) & 1 == 1).then_some(result[4 * t + c]));
        if value.iter().any(Option::is_some) {
            sink.write(Write { thread: t as u8, to, value });
        }
    }
}

/// Executes an instruction; the program counter moves only for a taken branch.
#[inline(always)]
pub(crate) fn execute<S: Sink>(
    op: &Op,
    group: &mut Group,
    world: &mut World,
    out: Outside<'_>,
    sink: &mut S,
) -> Outcome {
    match op.action {
        Action::Alu(alu) => {
            let result = compute(alu, &read(op.a, group, world), &read(op.b, group, world));
            let who = group.active;
            write_back(op, group, world, &result, who, sink);
        }
        Action::Branch { flags, to } => return branch(group, flags, to),
        Action::Flags(flags) => combine(group, flags),
        Action::Sync => group.active = group.living,
        Action::Exit => {
            group.living &= !group.active;
            group.active = 0;
            if group.living == 0 {
                return Outcome::Ended;
            }
        }
        Action::Position => {
            let (x, y) = (group.x, group.y);
            let result = std::array::from_fn(|i| {
                let x = x | (i / 4) as u16;
                let (tile_x, tile_y) = world.tile_size.offset(x, y);
                [x, y, tile_x, tile_y][i % 4]
            });
            let who = group.active;
            write_back(op, group, world, &result, who, sink);
        }
        Action::ReadTile(access) => return read_tile(op, access, group, world, sink),
        Action::WriteTile(access) => write_tile(op, access, group, world, sink),
        Action::Load(load) => issue_load(op, load, group, world, out),
        Action::Fetch(fetch) => issue_fetch(op, fetch, group, world, out, sink),
        Action::Store => store(op, group, world, out, sink),
        Action::Finish => {
            if group.pending & group.active != 0 && out.clock.is_some_and(|now| now < group.ready) {
                return Outcome::Stalled(Wait::Memory);
            }
            if group.active & !group.pending != 0 {
                world.warn(Misuse::FinishWithoutIssue, group);
            }
            let (who, result) = (group.active & group.pending, group.result);
            group.pending &= !who;
            write_back(op, group, world, &result, who, sink);
        }
        Action::Allocate => return allocate(group, world),
        Action::Launch => return launch(op, group, world),
        Action::Invalid => return Outcome::Invalid,
    }
    Outcome::Next
}

#[inline]
fn branch(group: &mut Group, flags: u8, to: u16) -> Outcome {
    let takers = match flags {
        0 => group.active,
        _ => {
            let any = |t: usize| u8::from((group.flags >> (4 * t)) as u8 & flags & 15 != 0) << t;
            group.active & (any(0) | any(1) | any(2) | any(3))
        }
    };
    if takers == 0 {
        return Outcome::Next;
    }
    group.active = takers;
    group.pc = to;
    Outcome::Jumped
}

fn combine(group: &mut Group, op: FlagOp) {
    let f = group.flags;
    let (x, y, z, w) = (f & 0x1111, f >> 1 & 0x1111, f >> 2 & 0x1111, f >> 3 & 0x1111);
    let all = |v: u16| v * 15;
    let two = |xy: u16, zw: u16| (xy * 3) | (zw * 12);
    let new = match op {
        FlagOp::And => all(x & y & z & w),
        FlagOp::Or => all(x | y | z | w),
        FlagOp::PairAnd => two(x & y, z & w),
        FlagOp::PairOr => two(x | y, z | w),
        FlagOp::Broadcast => all(x),
    };
    let who = lanes_of(group.active);
    group.flags = f & !who | new & who;
}

/// The element of each thread.
fn elements(op: &Op, access: TileAccess, group: &Group, world: &World) -> [usize; THREADS] {
    if access.addressed {
        let a = read(op.a, group, world);
        std::array::from_fn(|t| world.tile_size.wrap(a[4 * t] & !3 | t as u16))
    } else {
        std::array::from_fn(|t| world.tile_size.element(group.x | t as u16, group.y))
    }
}

fn read_tile<S: Sink>(op: &Op, access: TileAccess, group: &mut Group, world: &mut World, sink: &mut S) -> Outcome {
    let at = elements(op, access, group, world);
    let tile = &mut world.tiles[usize::from(access.buffer & 3)];
    if access.locks {
        if threads(group.active).any(|t| tile.locked[at[t]]) {
            return Outcome::Stalled(Wait::Lock);
        }
        threads(group.active).for_each(|t| tile.locked[at[t]] = true);
    }
    let mut result = [0; 16];
    (0..THREADS).for_each(|t| set_lane(&mut result, t, tile.data[at[t]]));
    let who = group.active;
    write_back(op, group, world, &result, who, sink);
    Outcome::Next
}

fn write_tile<S: Sink>(op: &Op, access: TileAccess, group: &mut Group, world: &mut World, sink: &mut S) {
    let at = elements(op, access, group, world);
    let data = read(op.b, group, world);
    let enabled = op.target.modes.enabled(group.flags) & lanes_of(group.active);
    let mut not_held = false;
    let tile = &mut world.tiles[usize::from(access.buffer & 3)];
    for t in threads(group.active) {
        let element = &mut tile.data[at[t]];
        for c in 0..4 {
            if enabled >> (4 * t + c) & 1 == 1 {
                element[c] = data[4 * t + c];
            }
        }
        if S::ON {
            let to = Written::Tile { buffer: access.buffer, element: at[t] as u32 };
            note(to, &data, enabled & 15 << (4 * t), sink);
        }
        if access.locks {
            not_held |= !std::mem::replace(&mut tile.locked[at[t]], false);
        }
    }
    if not_held {
        world.warn(Misuse::UnlockNotHeld, group);
    }
}

fn allocate(group: &mut Group, world: &mut World) -> Outcome {
    if group.active == 0 {
        return Outcome::Next;
    }
    if group.reserved.is_some() {
        world.warn(Misuse::SecondAllocate, group);
        return Outcome::Next;
    }
    let Some(bank) = world.holders.iter().position(|n| *n == 0) else { return Outcome::Stalled(Wait::Bank) };
    world.holders[bank] = 1;
    group.reserved = Some(bank as u8);
    Outcome::Next
}

fn launch(op: &Op, group: &mut Group, world: &mut World) -> Outcome {
    if group.active == 0 {
        return Outcome::Next;
    }
    let Some(bank) = group.reserved else {
        world.warn(Misuse::LaunchWithoutBank, group);
        return Outcome::Next;
    };
    let first = group.active.trailing_zeros() as usize;
    let living = (op.target.modes.enabled(group.flags) >> (4 * first)) as u8 & 15;
    if living == 0 {
        world.warn(Misuse::EmptyLaunch, group);
        world.release(bank);
        group.reserved = None;
        return Outcome::Next;
    }
    if world.queue.len() >= QUEUE {
        return Outcome::Stalled(Wait::Queue);
    }
    let [entry, x, y, _] = lane(&read(op.b, group, world), first);
    world.queue.push_back(Start { entry, x, y, living, bank, registers: None });
    group.reserved = None;
    Outcome::Next
}
