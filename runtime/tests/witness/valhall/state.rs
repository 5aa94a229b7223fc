//! The states on which words are executed: 256 states of 16 kinds.

use isaforge_runtime::Memory;
use isaforge_runtime::valhall::single::{Quads, State, private_bytes};

use crate::random::Random;
use crate::values::Class;

/// The number of states.
pub const STATES: usize = 256;
const KINDS: usize = 16;
const SEED: u64 = 0x0077_6974_6e65_7373;

/// The address of mapped memory. Memory at the distance of the greatest offsets is mapped too.
pub const MAIN: u64 = 0x12_3456_7000;
const MAIN_BYTES: usize = 4096;
const SIDE_BYTES: usize = 1024;
pub const REGIONS: [(u64, usize); 3] = [(MAIN, MAIN_BYTES), (MAIN - 0x8000, SIDE_BYTES), (MAIN + 0x8000, SIDE_BYTES)];
const SHARED_BYTES: usize = 256;
/// The number of words of every program; the word under test is one of them.
const WORDS: u32 = 24;

/// The kinds of states whose registers hold addresses, names and the like rather than numbers.
pub const FOR_MESSAGES: std::ops::Range<usize> = 9..15;

/// The kind of a state.
pub fn kind(state: usize) -> usize {
    state % KINDS
}

/// The classes of values in the registers of a kind of state.
fn classes(kind: usize) -> &'static [Class] {
    use Class::*;
    match kind {
        0 => &[Singles],
        1 => &[Near, Near, Singles],
        2 => &[Halves],
        3 => &[Any],
        4 => &[Small, Small, Wholes],
        5 => &[Wholes],
        6 => &[Bytes],
        7 => &[Mixed],
        8 => &[Moderate, Moderate, ModerateHalves],
        9 => &[Index, Index, Descriptor],
        10 => &[Moderate],
        11 => &[Wholes],
        12 => &[Index, Index, Unit],
        13 => &[Pixel, Pixel, Descriptor, Unit],
        14 => &[Handle, Names, Unit],
        _ => &[Masks],
    }
}

/// Returns all states, with the same memory.
pub fn all() -> Vec<State> {
    let memory = memory();
    (0..STATES).map(|number| state(number, memory.clone())).collect()
}

fn bytes(count: usize, names: &[u64]) -> Vec<u8> {
    let mut random = Random::new(names);
    let words = (0..count / 4).flat_map(|_| Class::Mixed.draw(&mut random).to_le_bytes());
    words.collect()
}

fn memory() -> Memory {
    let mut memory = Memory::new();
    for (base, len) in REGIONS {
        memory.map(base, bytes(len, &[SEED, 1, base])).expect("the regions are apart");
    }
    memory
}

fn state(number: usize, memory: Memory) -> State {
    let random = &mut Random::new(&[SEED, 2, number as u64]);
    let (kind, turn) = (kind(number), number / KINDS);
    // Half of the states belong to fragment programs, the others to the first or second warp of a workgroup.
    let draws = turn % 2 == 1;
    let (warp, warps) = if draws { (0, 1) } else { (u32::from(turn % 8 == 2), 2) };
    let mut registers = Box::new([[0; 16]; 64]);
    for column in registers.iter_mut() {
        let class = random.pick(classes(kind));
        // Sometimes all lanes have the same value.
        let alike = random.one_in(12).then(|| class.draw(random));
        *column = std::array::from_fn(|_| alike.unwrap_or_else(|| class.draw(random)));
    }
    if (9..12).contains(&kind) {
        for pair in 0..24 {
            let addresses = addresses(random, warp, kind == 11);
            registers[2 * pair] = addresses.map(|address| address as u32);
            registers[2 * pair + 1] = addresses.map(|address| (address >> 32) as u32);
        }
    }
    let mut uniforms: Vec<u32> = (0..64).map(|_| random.pick(classes(kind)).draw(random)).collect();
    for pair in 0..8 {
        let address = MAIN + 1024 + 8 * random.below(256) as u64;
        uniforms[4 * pair] = address as u32;
        uniforms[4 * pair + 1] = (address >> 32) as u32;
    }
    let pc = 4 + random.below(8) as u32;
    let (mut live, mut pcs) = (u16::MAX, [pc; 16]);
    match random.below(4) {
        // Some lanes have ended.
        0 => live = random.word() as u16 | 1 << random.below(16),
        // Some lanes are at other words.
        1 => {
            let here = random.below(16);
            for (lane, place) in pcs.iter_mut().enumerate() {
                let ahead = random.below(6) as u32;
                *place += if lane == here { 0 } else { ahead.saturating_sub(2) };
            }
        }
        _ => {}
    }
    let quads = draws.then(|| {
        let corner = [random.below(32) as u32 * 8, random.below(32) as u32 * 2];
        Quads {
            helpers: if random.one_in(2) { random.word() as u16 } else { 0 },
            pixels: std::array::from_fn(|lane| {
                let (quad, lane) = (lane as u32 / 4, lane as u32 % 4);
                [corner[0] + 2 * quad + lane % 2, corner[1] + lane / 2]
            }),
            places: std::array::from_fn(|_| [(); 2].map(|()| random.below(256) as i16)),
        }
    });
    let (shared, private) = (bytes(SHARED_BYTES, &[SEED, 3]), bytes(private_bytes(warps), &[SEED, 4]));
    State { registers, pcs, live, uniforms, words: WORDS, warp, warps, memory, shared, private, quads }
}

/// An address for each lane: contiguous, anywhere, the same, unaligned, or in workgroup or thread memory. With `wrong`,
/// the addresses of some lanes are at an end of memory or outside.
fn addresses(random: &mut Random, warp: u32, wrong: bool) -> [u64; 16] {
    // Workgroup memory begins at the first reserved address, thread memory 2^40 bytes above it.
    let (shared, threads) = (Memory::RESERVED.start, Memory::RESERVED.start + (1 << 40));
    let start = MAIN + 1024 + 8 * random.below(128) as u64;
    let step = random.pick(&[4u64, 8, 16, 20]);
    let way = random.below(7);
    let any = random.word();
    let mut all: [u64; 16] = std::array::from_fn(|lane| match way {
        0 | 1 => start + step * lane as u64,
        2 => MAIN + 512 + 4 * random.below(700) as u64,
        3 => start,
        4 => MAIN + 512 + random.below(2900) as u64,
        5 => shared + u64::from(any % 32) + 8 * lane as u64,
        _ => threads + (u64::from(warp) * 16 + lane as u64) * 4096 + u64::from(any % 512 * 4),
    });
    if wrong {
        let end = MAIN + MAIN_BYTES as u64;
        for _ in 0..=random.below(3) {
            let lane = random.below(16);
            all[lane] = match random.below(8) {
                0 => end - random.below(20) as u64,
                1 => end,
                2 => MAIN - 1 - random.below(8) as u64,
                3 => 0,
                4 => random.next(),
                5 => shared + SHARED_BYTES as u64 - random.below(12) as u64,
                6 => threads + random.below(1 << 18) as u64,
                _ => u64::MAX - random.below(8) as u64,
            };
        }
    }
    all
}
