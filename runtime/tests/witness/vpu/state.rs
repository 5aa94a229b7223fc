//! The states on which words are executed, and their cells.

use isaforge_runtime::vpu::single::{Launched, Next, State};
use isaforge_runtime::vpu::{BANKS, Memory, QUEUE, Registers, Tile, TileSize, Wait};

use crate::random::Random;
use crate::values::Class;

/// The number of states.
pub const STATES: usize = 128;
/// The size of external memory in bytes.
const BYTES: usize = 300;
/// In each space, registers from this one on hold addresses of external memory.
pub const ADDRESSES: u64 = 12;
const SEED: u64 = 0x7670_7520_7374_6174;

/// The first cells of each kind.
pub mod cell {
    pub const SHARED: u32 = 128;
    pub const FLAGS: u32 = 160;
    pub const FLOW: u32 = 164;
    pub const RESULTS: u32 = 172;
    pub const HOLDERS: u32 = 180;
    pub const QUEUE: u32 = 228;
    pub const MEMORY: u32 = 512;
    pub const BANKS: u32 = 640;
    pub const TILES: u32 = 640 + 48 * 64;
    pub const NEXT: u32 = 0x4000;
    pub const WARNINGS: u32 = 0x4001;
}

const CLASSES: [Class; 6] =
    [Class::Halves, Class::Halves, Class::ModerateHalves, Class::Wholes, Class::Any, Class::Small];

fn component(random: &mut Random, class: Class) -> u16 {
    class.draw(random) as u16
}

fn register(random: &mut Random, class: Class) -> [u16; 4] {
    let class = if random.one_in(4) { random.pick(&CLASSES) } else { class };
    [(); 4].map(|()| component(random, class))
}

/// X and Z are within memory or just beyond it; Y and W are mostly 0.
fn address(random: &mut Random) -> [u16; 4] {
    let mut low = || random.below(BYTES + 20) as u16;
    let (x, z) = (low(), low());
    let mut high = || if random.one_in(12) { random.word() as u16 } else { 0 };
    [x, high(), z, high()]
}

fn fill(random: &mut Random, registers: &mut [[u16; 4]], class: Class) {
    for (index, value) in registers.iter_mut().enumerate() {
        *value = if index as u64 % 16 >= ADDRESSES { address(random) } else { register(random, class) };
    }
}

/// Returns the state with this number.
fn state(number: usize) -> State {
    let random = &mut Random::new(&[SEED, number as u64]);
    let class = CLASSES[number % CLASSES.len()];
    let mut registers = Registers::default();
    registers.local.iter_mut().for_each(|local| fill(random, local, class));
    fill(random, &mut registers.shared, class);
    registers.flags = [(); 4].map(|()| random.below(16) as u8);
    let living = if random.one_in(4) { random.below(16) as u8 } else { 15 };
    let active = if random.one_in(3) { living & random.below(16) as u8 } else { living };
    let (width, height) = random.pick(&[(4, 1), (8, 4), (16, 2), (4, 8), (8, 1)]);
    let tile_size = TileSize::new(width, height).expect("both are powers of two");
    // Few or many elements are locked, or none.
    let locked = random.pick(&[0, 0, 1, 6]);
    let tile = |random: &mut Random| Tile {
        data: (0..tile_size.elements()).map(|_| register(random, class)).collect(),
        locked: (0..tile_size.elements()).map(|_| random.below(8) < locked).collect(),
    };
    let tiles = [(); 4].map(|()| tile(random));
    let mut banks = vec![[[0; 4]; 32]; BANKS];
    banks.iter_mut().for_each(|bank| fill(random, bank, class));
    let taken = random.pick(&[1, 8, 60]);
    let holders = [(); BANKS].map(|()| u32::from(random.below(60) < taken) * (1 + random.below(2) as u32));
    let launched = |random: &mut Random| Launched {
        entry: random.word() as u16 & 1023,
        position: (random.word() as u16 & !3, random.word() as u16),
        living: 1 + random.below(15) as u8,
        bank: random.below(BANKS) as u8,
    };
    let waiting = random.pick(&[0, 0, 1, 5, QUEUE - 1, QUEUE]);
    let queue = (0..waiting).map(|_| launched(random)).collect();
    let entry = |random: &mut Random| register(random, Class::Halves);
    let palettes = Box::new([(); 2].map(|()| [(); 256].map(|()| entry(random))));
    let bytes: Vec<u8> = (0..BYTES).map(|_| random.word() as u8).collect();
    let clock = (random.one_in(2)).then(|| 100 + random.below(8) as u64);
    State {
        registers,
        pc: random.word() as u16 & 1023,
        living,
        active,
        position: (random.word() as u16 & !3, random.word() as u16),
        bank: random.below(BANKS) as u8,
        reserved: (!random.one_in(3)).then(|| random.below(BANKS) as u8),
        pending: if random.one_in(3) { 15 } else { random.below(16) as u8 },
        results: [(); 4].map(|()| register(random, class)),
        ready: 100 + random.below(8) as u64,
        clock,
        banks,
        holders,
        queue,
        tile_size,
        tiles,
        palettes,
        memory: Memory::with_bytes(&bytes, BYTES),
        warnings: vec![],
    }
}

/// Returns all states.
pub fn all() -> Vec<State> {
    (0..STATES).map(state).collect()
}

fn pair([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

fn put(cells: &mut [u32], first: u32, registers: &[[u16; 4]]) {
    for (cell, [x, y, z, w]) in cells[first as usize..].chunks_mut(2).zip(registers) {
        (cell[0], cell[1]) = (pair([*x, *y]), pair([*z, *w]));
    }
}

/// The contents of a state by cell, up to `cell::NEXT`.
pub fn cells(state: &State) -> Vec<u32> {
    let mut cells = vec![0; cell::TILES as usize + 4 * 3 * 32];
    put(&mut cells, 0, state.registers.local.as_flattened());
    put(&mut cells, cell::SHARED, &state.registers.shared);
    for (cell, flags) in cells[cell::FLAGS as usize..].iter_mut().zip(state.registers.flags) {
        *cell = flags.into();
    }
    let reserved = state.reserved.map_or(0, |bank| 1 + u32::from(bank));
    // The time until results are ready, or 0.
    let ready = state.clock.map_or(0, |now| state.ready.saturating_sub(now) as u32);
    let flow = [state.pc.into(), state.living.into(), state.active.into(), reserved, state.pending.into()];
    for (cell, word) in cells[cell::FLOW as usize..].iter_mut().zip(flow.into_iter().chain([ready])) {
        *cell = word;
    }
    put(&mut cells, cell::RESULTS, &state.results);
    for (cell, holders) in cells[cell::HOLDERS as usize..].iter_mut().zip(state.holders) {
        *cell = holders;
    }
    for (cell, launched) in cells[cell::QUEUE as usize..].chunks_mut(3).zip(&state.queue) {
        cell[0] = u32::from(launched.entry) | 1 << 16;
        cell[1] = pair([launched.position.0, launched.position.1]);
        cell[2] = u32::from(launched.living) | u32::from(launched.bank) << 8;
    }
    for (cell, bytes) in cells[cell::MEMORY as usize..].iter_mut().zip(state.memory.bytes().chunks(4)) {
        *cell = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    put(&mut cells, cell::BANKS, state.banks.as_flattened());
    for (tile, first) in state.tiles.iter().zip((cell::TILES..).step_by(3 * 32)) {
        put(&mut cells, first, &tile.data);
        for (cell, locked) in cells[first as usize + 64..].iter_mut().zip(&tile.locked) {
            *cell = (*locked).into();
        }
    }
    cells
}

/// The name of a cell.
pub fn name(at: u32) -> String {
    let half = if at.is_multiple_of(2) { "xy" } else { "zw" };
    match at {
        0..cell::SHARED => format!("thread {}, r{}.{half}", at / 32, at / 2 % 16),
        cell::SHARED..cell::FLAGS => format!("s{}.{half}", (at - cell::SHARED) / 2),
        cell::FLAGS..cell::FLOW => format!("flags of thread {}", at - cell::FLAGS),
        cell::FLOW..cell::RESULTS => {
            let names =
                ["program counter", "living", "active", "reserved bank + 1", "pending", "cycles to wait", "", ""];
            names[(at - cell::FLOW) as usize].to_owned()
        }
        cell::RESULTS..cell::HOLDERS => format!("pending result of thread {}, {half}", (at - cell::RESULTS) / 2),
        cell::HOLDERS..cell::QUEUE => format!("holders of bank {}", at - cell::HOLDERS),
        cell::QUEUE..cell::MEMORY => format!("queue, word {}", at - cell::QUEUE),
        cell::MEMORY..cell::BANKS => format!("memory at {:#x}", 4 * (at - cell::MEMORY)),
        cell::BANKS..cell::TILES => {
            let at = at - cell::BANKS;
            format!("bank {}, g{}.{half}", at / 64, at / 2 % 32)
        }
        cell::TILES..cell::NEXT => {
            let (buffer, at) = ((at - cell::TILES) / 96, (at - cell::TILES) % 96);
            if at < 64 {
                format!("tile {buffer}, element {}, {half}", at / 2)
            } else {
                format!("tile {buffer}, lock {}", at - 64)
            }
        }
        cell::NEXT => "what is next".to_owned(),
        _ => "kinds of misuse".to_owned(),
    }
}

/// Encodes how a group continues as a word.
pub fn next(next: Next) -> u32 {
    match next {
        Next::Word => 0,
        Next::Same(Wait::Bank) => 1,
        Next::Same(Wait::Queue) => 2,
        Next::Same(Wait::Lock) => 3,
        Next::Same(Wait::Memory) => 4,
        Next::Ended => 5,
    }
}
