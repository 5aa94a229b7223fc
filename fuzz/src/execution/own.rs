//! Programs of sets with semantics, by the evaluator and as machine code.

use isaforge_core::bits::ones;
use isaforge_core::group;
use isaforge_core::machine::{Encoding, Hardware, Machine, Reason, Register, Trap};
use isaforge_core::sample::{Random, sample};
use isaforge_core::semantics::Semantics;
use isaforge_core::stream::{Role, Wide};
use isaforge_runtime::exec::Executor;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::jit::feature::Features;

/// An instruction set with a machine of one lane.
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

/// Runs one program by both engines. Returns the number of its instructions that were compiled.
///
/// # Panics
/// When their results differ, or when the check rejects the compiled code.
pub fn agree(set: Set, random: &mut Random) -> u64 {
    let length = 2 + random.below(30);
    let program: Vec<u8> = (0..length).flat_map(|_| instruction(set.0, random)).collect();
    let code: Vec<u8> = program.iter().copied().cycle().take(CODE.1).collect();
    let data: Vec<u8> = (0..DATA.1 / 8).flat_map(|_| value(random).to_le_bytes()).collect();
    let banks = set.2.banks.iter().zip(0..);
    let registers = banks
        .flat_map(|(bank, number)| (0..bank.count).map(move |index| (Register { bank: number, index }, bank.width)));
    let registers: Vec<(Register, u64)> =
        registers.map(|(register, width)| (register, value(random) & ones(width.into()))).collect();
    let (start, writable) = (CODE.1 / 2 / program.len() * program.len(), random.below(2) == 0);
    let machine = || {
        let mut machine = Machine::<1>::new(set.0, set.1, set.2);
        machine.memory.map(CODE.0, code.clone(), writable).expect("there is room");
        machine.memory.map(DATA.0, data.clone(), true).expect("there is room");
        registers.iter().for_each(|(register, value)| machine.write(*register, 0, *value).expect("it exists"));
        machine.set_pc(CODE.0 + start as u64);
        machine
    };
    let (mut reference, mut compiled) = (machine(), machine());
    let features = if random.below(2) == 0 { Features::NONE } else { Features::detect() };
    let compiler = Compiler::new(features);
    let mut compiler = if random.below(2) == 0 { compiler.eager() } else { compiler };
    for _ in 0..3 {
        let budget = [1, 7, 50, 1000][random.below(4) as usize];
        let expected = reference.run(&mut (), budget);
        let found = compiler.run(&mut compiled, &mut (), budget);
        let listing = || compiler.listing(&compiled);
        assert_eq!(found, expected, "{}", listing());
        let place = |machine: &Machine<1>| (machine.pc(), machine.executed());
        assert_eq!(place(&compiled), place(&reference), "{}", listing());
        assert_eq!(compiler.refused(), None, "{}", listing());
        for (base, size) in [CODE, DATA] {
            let bytes = |machine: &Machine<1>| machine.memory.bytes(base, size as u64).map(<[u8]>::to_vec);
            assert!(bytes(&compiled) == bytes(&reference), "{}", listing());
        }
        assert!(compiled.parts().values == reference.parts().values, "registers differ");
        if !matches!(found, Err(Trap { reason: Reason::Budget(_), .. })) {
            break;
        }
    }
    compiler.executed()
}
