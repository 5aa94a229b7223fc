//! The states on which groups are executed: 64 states of 16 kinds.

use isaforge_runtime::Memory;
use isaforge_runtime::usc::Task;
use isaforge_runtime::usc::register::Register;
use isaforge_runtime::usc::single::{REGISTERS, State};

use crate::random::Random;
use crate::values::Class;

/// The number of states.
pub const STATES: usize = 64;
const KINDS: usize = 16;
const SEED: u64 = 0x7573_6377_6974_6e65;

/// The address of mapped memory.
pub const MAIN: u64 = 0x12_3456_0000;
pub const MAIN_BYTES: usize = 8192;
/// The number of temporaries, vertex inputs and shared registers, from the first, that groups mostly use.
pub const USED: usize = 32;

/// Whether the registers of a state hold addresses.
pub fn has_addresses(state: usize) -> bool {
    (10..13).contains(&(state % KINDS))
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
        9 => &[Index, Small, Masks],
        10..=12 => &[Mixed, Moderate],
        13 => &[Unit, Moderate],
        14 => &[Wholes, Masks],
        _ => &[Index],
    }
}

/// Returns all states.
pub fn all() -> Vec<State> {
    (0..STATES).map(state).collect()
}

/// Returns the memory of all states.
pub fn memory() -> Memory {
    let mut random = Random::new(&[SEED, 1]);
    let bytes: Vec<u8> = (0..MAIN_BYTES / 4).flat_map(|_| Class::Mixed.draw(&mut random).to_le_bytes()).collect();
    let mut memory = Memory::new();
    memory.map(MAIN, bytes).expect("it is the only one");
    memory
}

fn state(number: usize) -> State {
    let random = &mut Random::new(&[SEED, 2, number as u64]);
    let kind = number % KINDS;
    let draw = |random: &mut Random| random.pick(classes(kind)).draw(random);
    let task = Task::new(32).expect("a task has up to 32 instances");
    let column = |number: usize| Register::special(number as u32);
    let mut registers = Box::new([[0; 32]; REGISTERS]);
    for (at, values) in registers.iter_mut().enumerate() {
        // Constants keep their values, and unused registers are 0.
        if let Some(special) = (at < 256).then(|| column(at)).flatten() {
            for (instance, value) in values.iter_mut().enumerate() {
                *value = task.get(special, instance).unwrap_or(0);
            }
        }
        let used = match at {
            0..256 => matches!(at, 36..=43 | 32..=35 | 164..=167),
            _ => (at - 256) % 248 < USED,
        };
        if used {
            values.iter_mut().for_each(|value| *value = draw(random));
        }
    }
    // Index registers mostly name existing registers.
    let far = kind == 15 && number >= KINDS;
    for index in &mut registers[REGISTERS - 2..] {
        let same = random.word() % 8;
        for value in index.iter_mut() {
            *value = if number.is_multiple_of(2) { same } else { random.word() % 8 };
        }
        if far {
            index[random.below(32)] = random.word();
        }
    }
    // The pixels of the instances.
    let (x, y) = (random.word() % 64, random.word() % 64);
    for instance in 0..32u32 {
        let (quad, corner) = (instance / 4, instance % 4);
        registers[97][instance as usize] = x + quad % 4 * 2 + corner % 2;
        registers[100][instance as usize] = y + quad / 4 * 2 + corner / 2;
    }
    let mut shared: Vec<u32> = (0..USED).map(|_| draw(random)).collect();
    if has_addresses(number) {
        // Pairs of registers hold addresses, some the same for all instances.
        for first in (256..256 + USED - 1).step_by(2) {
            let same = (random.word() as usize % (MAIN_BYTES / 2)) as u64 & !3;
            for instance in 0..32 {
                let own = same + if first % 4 == 0 { 64 * instance as u64 } else { 4 * instance as u64 };
                let address = MAIN + own % (MAIN_BYTES as u64 - 64);
                registers[first][instance] = address as u32;
                registers[first + 1][instance] = (address >> 32) as u32;
            }
        }
        shared[4] = MAIN as u32 + 128;
        shared[5] = (MAIN >> 32) as u32;
    }
    let valid = if random.one_in(3) { u32::MAX } else { random.word() | 1 };
    let mask = |random: &mut Random| match random.below(4) {
        0 => u32::MAX,
        1 => 0,
        _ => random.word(),
    };
    let words = |random: &mut Random, count: usize| (0..count).map(|_| random.pick(classes(8)).draw(random)).collect();
    State {
        registers,
        coefficients: words(random, 2 * USED),
        alternates: words(random, USED),
        shared,
        dynamic: words(random, USED),
        globals: std::array::from_fn(|_| Class::Mixed.draw(random)),
        slots: std::array::from_fn(|_| Class::Mixed.draw(random)),
        base: [if random.one_in(2) { 0 } else { 4 }, if random.one_in(2) { 0 } else { 3 }],
        valid,
        running: if random.one_in(3) { valid } else { valid & random.word() },
        predicate: mask(random),
        link: random.word() % 4096,
        breakpoint: random.one_in(2).then(|| random.word() % 4096),
        kept: valid & random.word(),
        failed: valid & random.word(),
        kept_w: std::array::from_fn(|_| Class::Moderate.draw(random)),
        mutexes: std::array::from_fn(|_| [None, Some(0), Some(1)][random.below(3)]),
        time: random.next() >> 20,
    }
}
