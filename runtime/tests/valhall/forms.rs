//! Every instruction without side effects, in every form of each source, on every class of number: all engines leave
//! the bits of the reference.
//!
//! A form here is a kind of source (a register, a uniform, a constant) with one value of each of its modifiers. For
//! each choice of an instruction's own modifiers, every form of every source occurs at least once, while the other
//! sources go through their forms. The programs put numbers of each class next to each other in the lanes of a full
//! bundle.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use isaforge_core::encode::Builder;
use isaforge_core::table::{Access, Form, Modifier, Operand, Shape, Type};
use isaforge_runtime::valhall::{fast, reference};
use isaforge_runtime::{Launch, Level, Memory};
use isaforge_valhall::{ISA, Opcode, decode};

use super::{assemble, seed, to_bytes, to_words};

const IN: u64 = 0x10_0000;
const OUT: u64 = 0x20_0000;
/// The threads of a bundle with all lanes active.
const THREADS: usize = 128;
/// The number of instructions of a program. Each has two registers for its result, starting at `RESULTS`.
const TOGETHER: usize = 16;
const RESULTS: u64 = 16;
/// With more choices of an instruction's own modifiers than this, not all are combined, but every value occurs.
const CHOICES: usize = 512;

/// Floats of each class, with both signs.
const SINGLE: [u32; 12] = [
    0,
    1,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0x4048_f5c3,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7fc0_0000,
    0x7fc1_2345,
    0x7f80_0001,
    0x7fa5_5aa5,
];
/// Halves of each class, with both signs.
const HALF: [u32; 10] = [0, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x7e55, 0x7c01];
/// Integers at which operations saturate and signs change.
const INTEGER: [u32; 8] = [0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 0x7fff_8000, 0x8080_7f7f, 0x0102_0380, 31, 0x20];

/// A word for each class of number.
fn classes() -> Vec<u32> {
    let single = SINGLE.into_iter().flat_map(|bits| [bits, bits | 1 << 31]);
    let halves: Vec<u32> = HALF.into_iter().flat_map(|bits| [bits, bits | 1 << 15]).collect();
    let pairs = (0..halves.len()).map(|i| halves[i] | halves[(7 * i + 3) % halves.len()] << 16);
    single.chain(pairs).chain(INTEGER).collect()
}

/// The input of the threads: eight words each. The first and the third go through the pairs of classes from one on, all
/// of them if there are enough threads.
fn inputs(groups: usize, from: usize) -> Vec<u32> {
    let classes = classes();
    let count = classes.len();
    let thread = |index: usize| {
        let index = (from + index) % (count * count);
        let (a, b) = (index % count, index / count + index);
        let places = [a, b, b, a + 5, a + 2 * b + 1, b + 3, 3 * a + b, a + 11];
        places.map(|place| classes[place % count])
    };
    (0..groups * THREADS).flat_map(thread).collect()
}

/// The bits that a word may have for a modifier.
fn values(modifier: &Modifier) -> Vec<u64> {
    match modifier.ty {
        Type::Enum(number) => ISA.enums[usize::from(number)].values.iter().map(|value| value.bits).collect(),
        _ => (0..1u64 << modifier.bits.width()).collect(),
    }
}

/// All combinations of the values of modifiers or, if there are too many, each value of each modifier.
fn combinations(modifiers: &[&'static Modifier], limit: usize) -> Vec<Vec<(&'static Modifier, u64)>> {
    let count = modifiers.iter().map(|modifier| values(modifier).len()).product::<usize>();
    if count > limit {
        let default = |modifier: &&'static Modifier| (*modifier, modifier.default.unwrap_or(values(modifier)[0]));
        let one = |at: usize, value: u64| {
            let mut all: Vec<_> = modifiers.iter().map(default).collect();
            all[at].1 = value;
            all
        };
        let each = |at: usize| values(modifiers[at]).into_iter().map(move |value| one(at, value));
        return (0..modifiers.len()).flat_map(each).collect();
    }
    modifiers.iter().fold(vec![vec![]], |all, modifier| {
        let longer = |chosen: &Vec<_>, value| chosen.iter().copied().chain([(*modifier, value)]).collect();
        all.iter().flat_map(|chosen| values(modifier).into_iter().map(move |value| longer(chosen, value))).collect()
    })
}

/// A way to write an operand: its reading, the numbers of its field, and its modifiers.
#[derive(Clone)]
struct Written {
    alternative: usize,
    numbers: [u64; 3],
    modifiers: Vec<(&'static Modifier, u64)>,
}

/// Returns every form of an operand, with the given register.
fn forms(operand: &'static Operand, register: u64) -> Vec<Written> {
    let suffixes: Vec<&Modifier> = operand.suffixes.iter().collect();
    let Shape::One { kind, .. } = operand.shape else { return vec![] };
    let alternatives = ISA.kinds[usize::from(kind)].alternatives.iter().enumerate();
    let readings = alternatives.filter_map(|(index, alternative)| {
        let numbers = match alternative.fields {
            [field] => match (field.ty, alternative.name) {
                (Type::Register(0), "register") => [register; 3],
                (Type::Register(0), _) => return None,
                // Constants that are NaNs as floats and halves, and one that is a number.
                (Type::Constant(_), _) => [0, 1, 16],
                (_, "uniform") => [8, 9, 10],
                _ => return None,
            },
            _ => return None,
        };
        Some((index, numbers))
    });
    let readings: Vec<_> = readings.collect();
    let modifiers = combinations(&suffixes, usize::MAX);
    let written = |&(alternative, numbers): &(usize, [u64; 3]), modifiers: &Vec<_>| {
        let modifiers = modifiers.clone();
        Written { alternative, numbers, modifiers }
    };
    readings.iter().flat_map(|reading| modifiers.iter().map(move |modifiers| written(reading, modifiers))).collect()
}

/// Generates the words of an instruction: for each choice of its modifiers, every form of every operand.
fn words(form: &'static Form, opcode: u16, out: &mut impl FnMut(u64)) {
    let modifiers: Vec<&Modifier> = form.modifiers.iter().filter(|modifier| modifier.name != "flow").collect();
    let operands: Vec<(usize, Vec<Written>)> = form
        .operands
        .iter()
        .enumerate()
        .filter(|(_, operand)| matches!(operand.shape, Shape::One { .. }))
        .scan(0, |sources, (index, operand)| {
            let register =
                if operand.access == Access::Read { std::mem::replace(sources, *sources + 2) } else { RESULTS };
            Some((index, forms(operand, register)))
        })
        .collect();
    let rounds = operands.iter().map(|(_, forms)| forms.len()).max().unwrap_or(1);
    for (number, chosen) in combinations(&modifiers, CHOICES).into_iter().enumerate() {
        for round in 0..rounds {
            let mut builder = Builder::new(ISA, opcode);
            for (modifier, value) in &chosen {
                builder.set_bits(modifier.bits, *value);
            }
            let mut whole = true;
            for (place, (index, forms)) in operands.iter().enumerate() {
                // All operands go through their forms, with other steps and starts for each choice.
                let Some(written) = forms.get((round + place * number) % forms.len().max(1)) else { continue };
                whole &=
                    builder.set_operand(*index, written.alternative, &[written.numbers[(round + number) % 3]]).is_ok();
                for (modifier, value) in &written.modifiers {
                    builder.set_bits(modifier.bits, *value);
                }
            }
            for (index, operand) in form.operands.iter().enumerate() {
                if let Shape::Number { bits, .. } = operand.shape {
                    let value = [0x7fc0_1234, 0x3c00_fc01, 0x8000_0001, 3][(round + index) % 4];
                    builder.set_bits(bits, value & (u64::MAX >> (64 - bits.width())));
                }
            }
            let found = decode(builder.word()).ok().filter(|found| whole && found.opcode() as u16 == opcode);
            if found.is_some() {
                out(builder.word());
            }
        }
    }
}

/// Whether an instruction has no side effects: it does not access memory, branch or send messages.
fn computes(opcode: u16) -> bool {
    let mut random = isaforge_core::sample::Random(1);
    let text = decode(isaforge_core::sample::sample(ISA, opcode, &mut random)).unwrap().to_string();
    !["@", "slot", "BRANCH", "JUMP", "BARRIER"].iter().any(|part| text.contains(part))
}

/// Returns the word with its result moved to the registers of its place in a program.
fn placed(word: u64, place: usize) -> Option<u64> {
    let form = &ISA.forms[decode(word).ok()?.opcode() as usize];
    let mut word = word;
    for operand in form.operands.iter().filter(|operand| operand.access != Access::Read) {
        if let Shape::One { kind, at } = operand.shape {
            let alternative = &ISA.kinds[usize::from(kind)].alternatives[0];
            word = alternative.fields.first()?.bits.set(word, at, RESULTS + 2 * place as u64);
        }
    }
    decode(word).ok().map(|_| word)
}

/// Runs some words on all engines, and compares their results.
fn agree(words: &[u64], memory: &Memory, groups: u32) {
    let prologue = assemble(
        "SHADDX.u64 r62, u0, r60.w0, shift:0x5
        LOAD.i128.unsigned.slot0 @r0:r1:r2:r3, r62, offset:0
        LOAD.i128.unsigned.slot0 @r4:r5:r6:r7, r62, offset:16
        SHADDX.u64 r62, u2, r60.w0, shift:0x7
        BRANCHZ.eq.reconverge 0x0, offset:0",
    );
    let stores: String = (0..TOGETHER as u64)
        .map(|i| {
            let register = RESULTS + 2 * i;
            let end = if i + 1 == TOGETHER as u64 { ".end" } else { "" };
            format!("STORE.i64.slot0{end} @r{register}:r{}, r62, offset:{}\n", register + 1, 8 * i)
        })
        .collect();
    let placed = words.iter().enumerate().filter_map(|(place, &word)| placed(word, place));
    let program: Vec<u64> = prologue.iter().copied().chain(placed).chain(assemble(&stores)).collect();
    let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0, 0, 0, 0, 0x7f80_0001, 0xffc0_1234, 0x7c01_fe55, 0x3c00_0001];
    let launch =
        Launch { program, groups: [groups, 1, 1], local_size: [THREADS as u32, 1, 1], uniforms, ..Launch::default() };
    let mut expected = memory.clone();
    let outcome = reference::run(&launch, &mut expected);
    let handlers = Level::available();
    for level in handlers.iter().copied().chain(handlers.iter().map(|level| level.eager())) {
        let mut found = memory.clone();
        assert_eq!(fast::run(&launch, &mut found, level), outcome);
        let both = [&found, &expected].map(|memory| memory.region(OUT).unwrap());
        if both[0] == both[1] {
            continue;
        }
        let [found, wanted] = both.map(to_words);
        let at = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted).unwrap();
        let (thread, place) = (at / (2 * TOGETHER), at % (2 * TOGETHER) / 2);
        let input = to_words(memory.region(IN).unwrap())[8 * thread..8 * thread + 8].to_vec();
        panic!(
            "{level:?}: `{}` gives {:08x}, not {:08x}, for {input:08x?}",
            decode(words[place]).unwrap(),
            found[at],
            wanted[at]
        );
    }
}

#[test]
fn every_form_of_every_source_gives_what_it_does_in_the_reference() {
    // The pairs of classes differ from run to run; `ISAFORGE_ROUNDS=22` takes all.
    let pairs = classes().len().pow(2);
    let groups = pairs.div_ceil(THREADS).min(seed::rounds() as usize);
    let from = seed::seed(7) as usize % pairs;
    let mut memory = Memory::new();
    memory.map(IN, to_bytes(&inputs(groups, from))).unwrap();
    memory.map(OUT, vec![0; groups * THREADS * TOGETHER * 8]).unwrap();
    let opcodes: Vec<u16> = (0..Opcode::COUNT as u16).filter(|&opcode| computes(opcode)).collect();
    let (next, count, instructions) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    // This test would take most of the time of all tests here on a single host thread.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |threads| threads.get()) {
            scope.spawn(|| {
                let mut waiting = Vec::new();
                while let Some(&opcode) = opcodes.get(next.fetch_add(1, Relaxed)) {
                    let mut found = 0;
                    words(&ISA.forms[usize::from(opcode)], opcode, &mut |word| {
                        found += 1;
                        waiting.push(word);
                        if waiting.len() == TOGETHER {
                            agree(&waiting, &memory, groups as u32);
                            waiting.clear();
                        }
                    });
                    count.fetch_add(found, Relaxed);
                    instructions.fetch_add(usize::from(found > 0), Relaxed);
                }
                agree(&waiting, &memory, groups as u32);
            });
        }
    });
    let (count, instructions) = (count.into_inner(), instructions.into_inner());
    println!("{count} words of {instructions} instructions");
    // Most of the instruction set has no side effects, so at least half of it must have been tested.
    assert!(instructions > Opcode::COUNT / 2 && count > 20_000, "{count} words of {instructions} instructions");
}
