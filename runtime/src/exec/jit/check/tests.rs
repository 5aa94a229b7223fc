//! Forbidden code is refused.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, Instruction, InstructionBlock, MemoryOperand,
    Register,
};
use isaforge_core::sample::Random;

use super::gpr;
use super::pattern::Patterns;
use super::scalar::check;
use super::step::{Codes, Step};
use crate::exec::jit::context::{LEFT_AT, WINDOWS};
use crate::exec::jit::emitted::{Emitted, Exit, Why, Window};
use crate::exec::jit::feature::Features;
use crate::exec::jit::masm::{at, indexed};

#[allow(clippy::duplicate_mod, reason = "other tests of the crate have random numbers, too")]
#[path = "../../../../tests/seed/mod.rs"]
mod seed;

fn two(code: Code, to: Register, from: Register) -> Instruction {
    Instruction::with2(code, to, from).unwrap()
}

fn load(to: Register, from: MemoryOperand) -> Instruction {
    Instruction::with2(Code::Mov_r64_rm64, to, from).unwrap()
}

fn number(to: Register, number: u32) -> Instruction {
    Instruction::with2(Code::Mov_r32_imm32, to, number).unwrap()
}

fn label(mut instruction: Instruction, label: u64) -> Instruction {
    instruction.set_ip(label);
    instruction
}

fn jump(code: Code, to: u64) -> Instruction {
    Instruction::with_branch(code, to).unwrap()
}

/// Returns why code is refused, if it is. The code returns its first exit at the end, and may access 16 bytes of a
/// window.
fn refused(instructions: &[Instruction]) -> Option<String> {
    let mut all = instructions.to_vec();
    all.extend([label(number(Register::EAX, 0), 1000), Instruction::with(Code::Retnq)]);
    let block = InstructionBlock::new(&all, 0);
    let code = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).unwrap().code_buffer;
    let windows = vec![Window { base: 0x1000, size: 16, writable: false }];
    let exits = vec![Exit { why: Why::Leave(0), refund: 0 }];
    let emitted = Emitted { code, exits, windows, slots: 2, marks: vec![] };
    check(&emitted, Features::NONE).err().map(|refused| refused.to_string())
}

fn is_refused(instructions: &[Instruction], why: &str) {
    let found = refused(instructions).unwrap_or_default();
    assert!(found.contains(why), "`{why}` is expected, not `{found}`");
}

#[test]
fn accesses_have_to_lie_in_windows() {
    let window = load(Register::RCX, at(Register::RDI, WINDOWS));
    let offset = load(Register::RAX, at(Register::RDI, LEFT_AT));
    let compare = |most: i32| Instruction::with2(Code::Cmp_rm64_imm8, Register::RAX, most).unwrap();
    let above = jump(Code::Ja_rel32_64, 1000);
    let access = load(Register::RDX, indexed(Register::RCX, Register::RAX));
    assert_eq!(refused(&[window, offset, compare(8), above, access]), None);
    is_refused(&[window, offset, compare(9), above, access], "out of bounds");
    is_refused(&[window, offset, access], "out of bounds");
    // The comparison is of another value.
    is_refused(&[window, offset, compare(8), offset, above, access], "out of bounds");
    let below = jump(Code::Jb_rel32_64, 1000);
    is_refused(&[window, offset, compare(8), below, access], "out of bounds");
    let store = Instruction::with2(Code::Mov_rm64_r64, indexed(Register::RCX, Register::RAX), Register::RDX).unwrap();
    is_refused(&[window, offset, compare(8), above, store], "out of bounds");
    let beyond = load(Register::RCX, at(Register::RDI, WINDOWS + 8));
    is_refused(&[beyond, offset, compare(8), above, access], "out of bounds");
    // Half of one pointer and half of another.
    let between = load(Register::RCX, at(Register::RDI, WINDOWS + 4));
    is_refused(&[between, offset, compare(8), above, access], "out of bounds");
}

#[test]
fn the_register_file_has_an_end() {
    let file = load(Register::RCX, at(Register::RDI, 0));
    assert_eq!(refused(&[file, load(Register::RAX, at(Register::RCX, 8))]), None);
    is_refused(&[file, load(Register::RAX, at(Register::RCX, 16))], "out of bounds");
    is_refused(&[file, load(Register::RAX, at(Register::RCX, -8))], "out of bounds");
}

#[test]
fn the_caller_gets_back_what_is_its_own() {
    is_refused(&[number(Register::EBX, 1)], "does not restore a register of the caller");
    is_refused(&[number(Register::EDI, 1)], "overwrites the pointer to its context");
    is_refused(&[two(Code::Mov_r64_rm64, Register::RAX, Register::RSP)], "uses the stack pointer");
    is_refused(&[Instruction::with1(Code::Push_r64, Register::RAX).unwrap()], "accesses the stack");
}

#[test]
fn loops_take_from_the_budget() {
    let take = Instruction::with2(Code::Sub_rm64_imm8, Register::R15, 1).unwrap();
    let nothing = number(Register::ECX, 1);
    is_refused(&[label(nothing, 1), jump(Code::Jmp_rel32_64, 1)], "without charging");
    is_refused(&[label(take, 1), jump(Code::Jmp_rel32_64, 1)], "without charging");
}

#[test]
fn divisors_are_not_zero() {
    let zero = two(Code::Xor_r32_rm32, Register::EDX, Register::EDX);
    let divide = Instruction::with1(Code::Div_rm32, Register::ECX).unwrap();
    let test = two(Code::Test_rm32_r32, Register::ECX, Register::ECX);
    let equal = jump(Code::Je_rel32_64, 1000);
    assert_eq!(refused(&[test, equal, zero, divide]), None);
    is_refused(&[zero, divide], "may divide by zero");
    is_refused(&[test, equal, divide], "too large");
    // A copy counts as well.
    let copy = two(Code::Mov_r32_rm32, Register::ESI, Register::ECX);
    let other = Instruction::with1(Code::Div_rm32, Register::ESI).unwrap();
    assert_eq!(refused(&[copy, test, equal, zero, other]), None);
}

#[test]
fn processors_have_what_is_used() {
    let count = two(Code::Popcnt_r32_rm32, Register::ECX, Register::ECX);
    is_refused(&[count], "needs a feature");
}

#[test]
fn the_state_of_the_processor_is_left_alone() {
    let known = "not a known instruction";
    is_refused(&[two(Code::Mov_r64_cr, Register::RAX, Register::CR0)], known);
    is_refused(&[two(Code::Mov_Sreg_rm16, Register::FS, Register::AX)], known);
    is_refused(&[Instruction::with(Code::Std)], known);
    // Jumps that write a register do not list it as an operand.
    is_refused(&[label(number(Register::ECX, 1), 1), jump(Code::Loop_rel8_64_RCX, 1)], "leaves the code");
}

#[test]
fn general_registers_have_the_numbers_of_their_full_registers() {
    for register in Register::values() {
        assert_eq!(gpr(register), register.is_gpr().then(|| register.full_register().number()), "{register:?}");
    }
}

#[test]
fn what_has_a_known_pattern_decodes_like_it() {
    let decode = |bytes: &[u8]| {
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        let (mut step, mut codes) = (Step { instruction, ..Step::default() }, Codes::default());
        step.look(&mut codes, 0).ok().filter(|_| step.is_vector && step.bytes == 0).map(|needs| (instruction, needs))
    };
    let mut random = Random(seed::seed(0xe7e));
    let (mut patterns, mut learned, mut found) = (Patterns::default(), 0, 0);
    for round in 0..200_000 {
        // A place keeps the first pattern.
        if round % 1000 == 0 {
            patterns = Patterns::default();
        }
        // A prefix that may be valid, an opcode and a ModRM byte without memory.
        let bytes = random.next() & !0x08ff | 0xc000_0004_0062;
        let Some((instruction, needs)) = decode(&bytes.to_le_bytes()) else { continue };
        patterns.learn(&bytes.to_le_bytes(), &instruction, needs);
        learned += 1;
        for _ in 0..8 {
            // Another ModRM byte and other bits for registers in the prefix; at times another operation.
            let mut flips = random.next() & 0x3f00_0878_f000;
            if random.below(4) == 0 {
                flips |= 1 << (random.next() % 48);
            }
            let other = (bytes ^ flips).to_le_bytes();
            if let Some(length) = patterns.length(&other, 0) {
                let (decoded, needs) = decode(&other).unwrap_or_else(|| panic!("{other:02x?} is like {instruction:?}"));
                assert_eq!(decoded.len(), length, "{other:02x?}");
                // It is not found where any of what it needs is lacking.
                let lacking = (0..u32::BITS).filter(|bit| patterns.length(&other, 1 << bit).is_none());
                assert_eq!(lacking.fold(0, |all, bit| all | 1 << bit), needs, "{other:02x?}");
                found += 1;
            }
        }
    }
    assert!(learned > 1000 && found > learned, "{found} of {learned}");
}
