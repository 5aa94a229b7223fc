//! The VPU by its reference and by operations on rows at every level; the results must agree.

use isaforge_core::sample::{Random, sample};
use isaforge_runtime::Level;
use isaforge_runtime::vpu::single::{State, execute};
use isaforge_runtime::vpu::{BANKS, Memory, Palette, Tile, TileSize};

#[path = "../../../fuzz/src/execution/vpu.rs"]
mod execution;
use execution::{register, registers};

use crate::seed::{rounds, seed};

fn state(random: &mut Random) -> State {
    let tile_size = TileSize::new(8, 4).expect("8 x 4 is possible");
    let tile = |random: &mut Random| Tile {
        data: (0..32).map(|_| register(random)).collect(),
        locked: (0..32).map(|_| random.below(8) == 0).collect(),
    };
    let palette = |random: &mut Random| -> Palette { std::array::from_fn(|_| register(random)) };
    State {
        registers: registers(random),
        pc: random.below(1024) as u16,
        living: random.below(16) as u8,
        active: if random.below(2) == 0 { 15 } else { random.below(16) as u8 },
        position: (random.below(64) as u16 * 4, random.below(64) as u16),
        bank: random.below(BANKS as u64) as u8,
        reserved: (random.below(2) == 0).then(|| random.below(BANKS as u64) as u8),
        pending: random.below(16) as u8,
        results: std::array::from_fn(|_| register(random)),
        ready: random.below(40),
        clock: (random.below(2) == 0).then(|| random.below(40)),
        banks: (0..BANKS).map(|_| std::array::from_fn(|_| register(random))).collect(),
        holders: std::array::from_fn(|_| random.below(3) as u32),
        queue: Vec::new(),
        tile_size,
        tiles: std::array::from_fn(|_| tile(random)),
        palettes: Box::new([palette(random), palette(random)]),
        memory: Memory::with_bytes(&(0..61).map(|_| random.next() as u8).collect::<Vec<_>>(), 61),
        warnings: Vec::new(),
    }
}

/// Everything that can be compared of a state.
fn shown(state: &State) -> String {
    format!("{state:?} {:?}", state.memory.bytes()).replace("cached", "")
}

#[test]
fn a_word_leaves_what_the_reference_leaves() {
    let mut random = Random(seed(21));
    for round in 0..10 * rounds() {
        let start = state(&mut random);
        for opcode in 0..69 {
            let word = sample(isaforge_vpu::ISA, opcode, &mut random);
            let mut expected = start.clone();
            let outcome = execute(None, word, &mut expected);
            for level in Level::available() {
                let mut found = start.clone();
                let next = execute(Some(level), word, &mut found);
                let what = format!("round {round}, word {word:#018x} at {}", level.name());
                assert_eq!(next, outcome, "{what}");
                assert_eq!(shown(&found), shown(&expected), "{what}");
            }
        }
    }
}

/// Compares engines on programs of usable opcodes.
fn programs_agree(stream: u64, usable: impl Fn(u64) -> bool, rounds: u64) {
    let mut random = Random(seed(stream));
    (0..rounds).for_each(|_| execution::agree(&mut random, &usable));
}

#[test]
fn programs_leave_what_the_reference_leaves() {
    programs_agree(22, |_| true, 12 * rounds());
}

/// Tests programs whose groups advance side by side: they write no memory, wait for nothing and launch nothing.
#[test]
fn groups_side_by_side_leave_what_they_leave_one_after_another() {
    let words: Vec<u64> = (0..69).map(|opcode| sample(isaforge_vpu::ISA, opcode, &mut Random(1)) >> 56).collect();
    let names = isaforge_vpu::semantics::SEMANTICS.operations;
    let meets = |text: &str| {
        ["lock(", "named(", "allocate(", "launch(", "external, aligned(address), "]
            .iter()
            .any(|word| text.contains(word))
    };
    let alone: Vec<u64> =
        words.iter().zip(names).filter(|(_, operation)| !meets(operation.text)).map(|(word, _)| *word).collect();
    assert!(alone.len() > 30, "{} opcodes meet nobody", alone.len());
    programs_agree(23, |opcode| alone.contains(&opcode), 12 * rounds());
}
