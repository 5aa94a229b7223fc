//! Programs of sets with semantics, by the evaluator and by the engines for one and for several lanes.

use isaforge_core::bits::ones;
use isaforge_core::group;
use isaforge_core::machine::{Encoding, Hardware, Machine, Reason, Register, Trap};
use isaforge_core::sample::{Random, sample};
use isaforge_core::semantics::Semantics;
use isaforge_core::stream::{Role, Wide};
use isaforge_runtime::Level;
use isaforge_runtime::exec::Executor;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::jit::feature::Features;
use isaforge_runtime::exec::lanes::engine::WarpEngine;

/// An instruction set with a machine.
pub type Set = (Encoding, &'static Semantics, &'static Hardware);

/// The address of the program. Copies of it fill this many bytes, so that most jumps stay in one of them.
const CODE: (u64, usize) = (0x1_0000, 1 << 13);
/// The address and size of writable memory.
const DATA: (u64, usize) = (0x2_0000, 1 << 13);

/// A valid instruction, as bytes.
fn instruction(encoding: Encoding, random: &mut Random) -> Vec<u8> {
    match encoding {
        Encoding::Words(isa) => {
            let word = sample(isa, random.below(isa.forms.len() as u64) as u16, random);
            word.to_le_bytes()[..usize::from(isa.word_bits / 8)].to_vec()
        }
        Encoding::Groups(isa) => loop {
            let bytes: [u8; 32] = std::array::from_fn(|_| random.next() as u8);
            if let Ok(found) = group::decode(isa, &bytes) {
                return found.as_bytes().to_vec();
            }
        },
        Encoding::Stream(engine) => loop {
            let layouts = engine.stream.layouts_of(0);
            let layout = &layouts[random.below(layouts.len() as u64) as usize];
            let own = Wide::ones(layout.bits.into()) & !layout.fixed_mask & !layout.ignored;
            let word = Wide(std::array::from_fn(|_| random.next())) & own | layout.fixed_value;
            let bytes = engine.store(word);
            match engine.decode(&bytes) {
                Ok(found) if layout.role != Role::Assembler => return bytes[..usize::from(found.len)].to_vec(),
                _ => {}
            }
        },
    }
}

/// Numbers at which instructions behave differently, and addresses of both memories.
fn value(random: &mut Random) -> u64 {
    let sign = 1u64 << [7, 15, 31, 63][random.below(4) as usize];
    match random.below(6) {
        0 => sign.wrapping_sub(random.below(2)),
        1 => random.below(70).wrapping_sub(3),
        2 => random.next(),
        3 => CODE.0 + random.below(CODE.1 as u64) / 4 * 4,
        _ => DATA.0 + random.below(DATA.1 as u64) / 8 * 8,
    }
}

/// Runs one program by the reference and by the engine for as many lanes. Returns the number of its instructions that
/// the engine executed without the evaluator.
///
/// # Panics
/// When their results differ, or when the check rejects the compiled code.
pub fn agree(set: Set, random: &mut Random) -> u64 {
    let eager = random.below(2) == 0;
    if set.2.lanes > 1 {
        let levels = Level::available();
        let level = levels[random.below(levels.len() as u64) as usize];
        let level = if random.below(3) == 0 { level.without_machine_code() } else { level };
        let mut engine = WarpEngine::new(if eager { level.eager() } else { level });
        if set.2.lanes <= 32 {
            run::<32, _>(set, random, &mut engine, WarpEngine::listing);
        } else {
            run::<64, _>(set, random, &mut engine, WarpEngine::listing);
        }
        return engine.executed();
    }
    let features = if random.below(2) == 0 { Features::NONE } else { Features::detect() };
    let mut compiler = Compiler::new(features);
    compiler = if eager { compiler.eager() } else { compiler };
    run::<1, _>(set, random, &mut compiler, Compiler::listing);
    assert_eq!(compiler.refused(), None);
    compiler.executed()
}

fn run<const L: usize, E: Executor<L>>(
    set: Set,
    random: &mut Random,
    engine: &mut E,
    listing: impl Fn(&E, &Machine<L>) -> String,
) {
    let length = 2 + random.below(30);
    let program: Vec<u8> = (0..length).flat_map(|_| instruction(set.0, random)).collect();
    let code: Vec<u8> = program.iter().copied().cycle().take(CODE.1).collect();
    let data: Vec<u8> = (0..DATA.1 / 8).flat_map(|_| value(random).to_le_bytes()).collect();
    let banks = set.2.banks.iter().zip(0..);
    let registers = banks
        .flat_map(|(bank, number)| (0..bank.count).map(move |index| (Register { bank: number, index }, bank.width)));
    let alike = random.below(2) == 0;
    let registers: Vec<(Register, [u64; L])> = registers
        .map(|(register, width)| {
            let first = value(random);
            let mut lane = || if alike { first } else { value(random) };
            (register, std::array::from_fn(|_| lane() & ones(width.into())))
        })
        .collect();
    let (start, writable) = (CODE.1 / 2 / program.len() * program.len(), random.below(2) == 0);
    let machine = || {
        let mut machine = Machine::<L>::new(set.0, set.1, set.2);
        machine.memory.map(CODE.0, code.clone(), writable).expect("there is room");
        machine.memory.map(DATA.0, data.clone(), true).expect("there is room");
        for (register, values) in &registers {
            (0..L).for_each(|lane| machine.write(*register, lane, values[lane]).expect("it exists"));
        }
        machine.set_pc(CODE.0 + start as u64);
        machine
    };
    let (mut reference, mut other) = (machine(), machine());
    for _ in 0..3 {
        let budget = [1, 7, 50, 1000][random.below(4) as usize];
        let expected = reference.run(&mut (), budget);
        let found = engine.run(&mut other, &mut (), budget);
        let same = other.parts().values == reference.parts().values;
        let listing = || listing(engine, &other);
        assert_eq!(found, expected, "{}", listing());
        let places = |machine: &Machine<L>| {
            let pcs: Vec<Option<u64>> = (0..L).map(|lane| machine.pc_of(lane)).collect();
            (pcs, machine.executed(), machine.live(), machine.waiting())
        };
        assert_eq!(places(&other), places(&reference), "{}", listing());
        for (base, size) in [CODE, DATA] {
            let bytes = |machine: &Machine<L>| machine.memory.bytes(base, size as u64).map(<[u8]>::to_vec);
            assert!(bytes(&other) == bytes(&reference), "{}", listing());
        }
        assert!(same, "registers differ\n{}", listing());
        if !matches!(found, Err(Trap { reason: Reason::Budget(_), .. })) {
            break;
        }
    }
}
