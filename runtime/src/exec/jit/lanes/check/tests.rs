//! Forbidden code for lanes is refused.

use std::mem::offset_of;

use iced_x86::{Encoder, MemoryOperand};

use super::*;
use crate::exec::jit::lanes::emit::{FlowState, Last, Times};
use crate::exec::jit::lanes::reach::Reach;

const COLUMNS: usize = 8;
const WINDOW: Window = Window { contiguous: true, column: 64, from: 0, span: 4, stride: 256, writes: false };
const ROW: i64 = (COLUMNS * row::COLUMN) as i64;

type Made = Result<Instruction, iced_x86::IcedError>;

fn code(instructions: &[Made]) -> Vec<u8> {
    let mut encoder = Encoder::new(64);
    let mut at = 0;
    for instruction in instructions {
        let made = instruction.as_ref().unwrap_or_else(|error| panic!("{error}"));
        at += encoder.encode(made, at).unwrap_or_else(|error| panic!("{error}")) as u64;
    }
    encoder.take_buffer()
}

/// Returns why a block of four rows and one window is refused, if it is.
fn block(instructions: &[Made]) -> Option<&'static str> {
    let emitted = Emitted::of(code(instructions), COLUMNS, 4, vec![WINDOW]);
    check(&emitted, Kind::Block, Some(Host::Avx512), false).err().map(|refused| refused.what)
}

fn load(from: MemoryOperand) -> Made {
    Instruction::with2(Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, Register::ZMM0, from)
}

fn column(displacement: i64) -> MemoryOperand {
    MemoryOperand::new(Register::RDI, Register::RAX, 1, displacement, 1, false, Register::None)
}

fn ret() -> Made {
    Ok(Instruction::with(Code::Retnq))
}

fn zero() -> Made {
    Instruction::with2(Code::Xor_r32_rm32, Register::EAX, Register::EAX)
}

fn count(rounds: u32) -> Made {
    Instruction::with2(Code::Mov_r32_imm32, Register::ECX, rounds)
}

fn step(bytes: i32) -> Made {
    Instruction::with2(Code::Add_rm64_imm32, Register::RAX, bytes)
}

#[test]
fn operands_stay_in_their_windows() {
    let reached = Some("accesses memory out of bounds");
    let warps = |operand| block(&[zero(), count(8), load(operand), step(64), ret()]);
    assert_eq!(warps(column(0)), None);
    assert_eq!(warps(column(3 * ROW)), None);
    // The row after the last, the one before the first, and a column that lies in the next row in the last round.
    assert_eq!(warps(column(4 * ROW)), reached);
    assert_eq!(warps(column(-64)), reached);
    assert_eq!(warps(column(64)), reached);
    assert_eq!(block(&[zero(), count(4), load(column(64)), step(128), ret()]), None);
    assert_eq!(block(&[zero(), count(4), load(column(128)), step(128), ret()]), reached);
    assert_eq!(block(&[zero(), count(9), load(column(0)), step(64), ret()]), Some("runs past the last warp"));
    // The target is unknown if the register was computed, or was never set.
    let number = Instruction::with2(Code::Mov_r32_imm32, Register::EAX, 64u32);
    assert_eq!(block(&[zero(), count(8), number, load(column(0)), step(64), ret()]), reached);
    assert_eq!(block(&[load(MemoryOperand::with_base(Register::RBX)), ret()]), reached);
    assert_eq!(block(&[load(MemoryOperand::with_displ(0x1000, 8)), ret()]), Some("uses an absolute address"));
}

#[test]
fn windows_are_those_that_were_found() {
    let pointer = |index: i64| {
        let from = MemoryOperand::with_base_displ(Register::RCX, 8 * index);
        Instruction::with2(Code::Mov_r64_rm64, Register::RSI, from)
    };
    let reached = Some("accesses memory out of bounds");
    let words = |displacement| load(MemoryOperand::with_base_displ(Register::RSI, displacement));
    let all = |index, displacement| block(&[pointer(index), zero(), count(8), words(displacement), step(64), ret()]);
    assert_eq!(all(0, 0), None);
    assert_eq!(all(0, 64), reached);
    assert_eq!(all(1, 0), reached);
    let store = Instruction::with2(
        Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm,
        MemoryOperand::with_base(Register::RSI),
        Register::ZMM0,
    );
    assert_eq!(block(&[pointer(0), zero(), count(8), store, ret()]), Some("writes read-only memory"));
}

#[test]
fn a_warp_that_may_be_any_has_its_own_column_of_a_window() {
    let reached = Some("accesses memory out of bounds");
    let with = |made: Made| {
        let pointer = Instruction::with2(Code::Mov_r64_rm64, Register::R8, MemoryOperand::with_base(Register::RCX));
        let warp = Instruction::with2(Code::Tzcnt_r32_rm32, Register::ECX, Register::EDX);
        let place = Instruction::with3(Code::Imul_r32_rm32_imm8, Register::EAX, Register::ECX, 64);
        block(&[pointer, warp, place, made, ret()])
    };
    let words = |scale: u32, displacement: i64| {
        MemoryOperand::new(Register::R8, Register::RAX, scale, displacement, 1, false, Register::None)
    };
    assert_eq!(with(load(words(1, 0))), None);
    assert_eq!(with(load(words(1, 4))), reached);
    assert_eq!(with(load(words(1, -4))), reached);
    assert_eq!(with(load(words(2, 0))), reached);
    assert_eq!(with(load(MemoryOperand::with_base(Register::R8))), reached);
    let store = Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, words(1, 0), Register::ZMM0);
    assert_eq!(with(store), Some("writes read-only memory"));
}

/// Checks a block that loads from its window once for each column and for each iteration, with the instruction in
/// `wrong` replaced.
fn looped(wrong: Option<(usize, Made)>) -> Option<&'static str> {
    let pointer = Instruction::with2(Code::Mov_r64_rm64, Register::RSI, MemoryOperand::with_base(Register::RCX));
    let add = |bytes: i32| Instruction::with2(Code::Add_rm64_imm32, Register::RSI, bytes);
    let left = MemoryOperand::with_base_displ(Register::R9, offset_of!(Times, left) as i64);
    let jump = |to| Instruction::with_branch(Code::Jne_rel32_64, to);
    let mut made = vec![
        pointer,
        zero(),
        count(8),
        load(MemoryOperand::with_base(Register::RSI)),
        add(64),
        step(64),
        Instruction::with1(Code::Dec_rm32, Register::ECX),
        Ok(Instruction::default()),
        add(256 - 512),
        Instruction::with1(Code::Dec_rm32, left),
        Instruction::with2(Code::Cmp_rm32_imm8, left, 0),
        Ok(Instruction::default()),
        ret(),
    ];
    if let Some((at, instruction)) = wrong {
        made[at] = instruction;
    }
    let place = |made: &[Made], at: usize| {
        let jumps = [7, 11].iter().filter(|jump| **jump < at).count();
        let others: Vec<Made> = made[..at]
            .iter()
            .enumerate()
            .filter(|(index, _)| ![7, 11].contains(index))
            .map(|(_, made)| made.clone())
            .collect();
        code(&others).len() as u64 + 6 * jumps as u64
    };
    let targets = [(7, place(&made, 3)), (11, place(&made, 1))];
    for (at, to) in targets {
        if made[at].as_ref().is_ok_and(|made| made.code() == Code::INVALID) {
            made[at] = jump(to);
        }
    }
    block(&made)
}

#[test]
fn what_moves_in_a_loop_moves_once_a_round() {
    let reached = Some("accesses memory out of bounds");
    let nop = || Instruction::with2(Code::Mov_r32_imm32, Register::R11D, 0u32);
    let add = |bytes: i32| Instruction::with2(Code::Add_rm64_imm32, Register::RSI, bytes);
    assert_eq!(looped(None), None);
    // Breaks the window, the number of rounds, and the number of iterations.
    assert_eq!(looped(Some((4, nop()))), reached);
    assert_eq!(looped(Some((4, add(128)))), reached);
    assert_eq!(looped(Some((6, nop()))), reached);
    assert_eq!(looped(Some((8, nop()))), reached);
    assert_eq!(looped(Some((8, add(64)))), reached);
    assert_eq!(looped(Some((9, nop()))), reached);
    assert_eq!(looped(Some((10, nop()))), reached);
    // A loop that starts again in the middle of itself.
    assert_eq!(looped(Some((5, count(8)))), Some("begins a nested loop"));
}

#[test]
fn flags_are_of_the_instruction_before_unless_vectors_lie_between() {
    let vector = || {
        let zero = Register::ZMM0;
        Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, zero, zero, zero)
    };
    // Continues with another warp, if one is left.
    let next = |between: &[Made]| {
        let mut made = vec![
            Instruction::with2(Code::VEX_Blsr_r32_rm32, Register::EDX, Register::EDX),
            Instruction::with2(Code::Test_rm32_r32, Register::EDX, Register::EDX),
        ];
        made.extend(between.iter().cloned());
        let to = code(&made).len() as u64 + 6 + 1;
        let row = MemoryOperand::new(Register::RDI, Register::RAX, 1, 0, 1, false, Register::None);
        made.extend([
            Instruction::with_branch(Code::Jne_rel32_64, to),
            ret(),
            vector(),
            Instruction::with2(Code::Tzcnt_r32_rm32, Register::ECX, Register::EDX),
            Instruction::with3(Code::Imul_r32_rm32_imm8, Register::EAX, Register::ECX, 64),
            load(row),
            ret(),
        ]);
        block(&made)
    };
    assert_eq!(next(&[]), None);
    assert_eq!(next(&[vector()]), Some("accesses memory out of bounds"));
}

#[test]
fn code_does_not_end_in_vectors() {
    let zero = Register::ZMM0;
    let vector = || Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, zero, zero, zero);
    let past_end = Some("runs past the end");
    assert_eq!(block(&[vector()]), past_end);
    assert_eq!(block(&[count(8), vector()]), past_end);
    let jump = |to| Instruction::with_branch(Code::Jmp_rel32_64, to);
    assert_eq!(block(&[jump(6), ret(), vector()]), past_end);
    assert_eq!(block(&[jump(5), vector(), ret()]), None);
}

#[test]
fn code_keeps_to_itself_and_to_what_the_processor_has() {
    let jump = |to| Instruction::with_branch(Code::Jmp_rel32_64, to);
    assert_eq!(block(&[jump(5), ret()]), None);
    assert_eq!(block(&[jump(4), ret()]), Some("jumps out of the code"));
    assert_eq!(block(&[jump(0x1000), ret()]), Some("jumps out of the code"));
    assert_eq!(block(&[zero()]), Some("runs past the end"));
    assert_eq!(block(&[Instruction::with1(Code::Jmp_rm64, Register::RDX)]), Some("jumps to an unknown place"));
    assert_eq!(block(&[Instruction::with1(Code::Call_rm64, Register::RDX), ret()]), Some("leaves the code"));
    assert_eq!(block(&[Ok(Instruction::with(Code::Int3)), ret()]), Some("leaves the code"));
    assert_eq!(block(&[Instruction::with1(Code::Push_r64, Register::RAX), ret()]), Some("accesses the stack"));
    let saved = Instruction::with2(Code::Mov_r32_imm32, Register::EBX, 1u32);
    assert_eq!(block(&[saved, ret()]), Some("writes a register of the caller"));
    assert_eq!(block(&[Ok(Instruction::with(Code::Std)), ret()]), Some("is not a known instruction"));
    let control = Instruction::with2(Code::Mov_r64_cr, Register::RAX, Register::CR0);
    assert_eq!(block(&[control, ret()]), Some("is not a known instruction"));
    let sum = Instruction::with3(Code::EVEX_Vpermb_zmm_k1z_zmm_zmmm512, Register::ZMM0, Register::ZMM0, Register::ZMM0);
    assert_eq!(block(&[sum, ret()]), Some("needs a feature that this processor is not known to have"));
    let add =
        Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Register::ZMM0, Register::ZMM0, Register::ZMM0);
    let emitted = Emitted::of(code(&[add, ret()]), COLUMNS, 4, vec![]);
    assert!(check(&emitted, Kind::Block, Some(Host::Avx512), false).is_ok());
    assert!(check(&emitted, Kind::Block, Some(Host::Avx2), false).is_err());
    assert!(check(&emitted, Kind::Block, None, false).is_err());
    let halves =
        Instruction::with3(Code::EVEX_Vaddph_zmm_k1z_zmm_zmmm512b16_er, Register::ZMM0, Register::ZMM0, Register::ZMM0);
    let emitted = Emitted::of(code(&[halves, ret()]), COLUMNS, 4, vec![]);
    assert!(check(&emitted, Kind::Block, Some(Host::Avx512), true).is_ok());
    assert!(check(&emitted, Kind::Block, Some(Host::Avx512), false).is_err());
    let (first, second) = (Register::XMM0, Register::XMM1);
    for hides in [
        Instruction::with1(Code::VEX_Vldmxcsr_m32, MemoryOperand::with_base(Register::RSI)),
        Instruction::with_vmaskmovdqu(64, first, second, Register::None),
        Instruction::with3(Code::VEX_Vpcmpistri_xmm_xmmm128_imm8, first, second, 0),
        Instruction::with3(Code::VEX_Vpcmpestri_xmm_xmmm128_imm8, first, second, 0),
    ] {
        assert_eq!(block(&[hides, ret()]), Some("is not a known instruction"));
    }
}

#[test]
fn constants_are_read_and_lie_behind_the_code() {
    let refused = |mut access: Instruction, after: i64| {
        let constants = code(&[Ok(access), ret()]).len();
        access.set_memory_displacement64((constants as i64 + after) as u64);
        let mut all = code(&[Ok(access), ret()]);
        all.extend([0; 64]);
        let emitted = Emitted::with_constants(all, constants, COLUMNS, 4);
        check(&emitted, Kind::Block, Some(Host::Avx2), false).err().map(|refused| refused.what)
    };
    let somewhere = MemoryOperand::with_base_displ(Register::RIP, 0);
    let read = Instruction::with2(Code::VEX_Vmovdqu_ymm_ymmm256, Register::YMM0, somewhere).expect("it is one");
    let write = Instruction::with2(Code::VEX_Vmovdqu_ymmm256_ymm, somewhere, Register::YMM0).expect("it is one");
    assert_eq!(refused(read, 0), None);
    assert_eq!(refused(read, 32), None);
    assert_eq!(refused(read, 33), Some("reads something other than a constant"));
    assert_eq!(refused(read, -1), Some("reads something other than a constant"));
    assert_eq!(refused(write, 0), Some("writes code"));
}

/// Returns why a region of two columns with one reach to read and one to write is refused, if it is.
fn region(instructions: &[Made]) -> Option<&'static str> {
    region_on(Host::Avx512, instructions)
}

fn region_on(host: Host, instructions: &[Made]) -> Option<&'static str> {
    let windows = [false, true].map(|writes| Window { writes, ..Window::default() }).to_vec();
    let emitted = Emitted::of(code(instructions), 2, 4, windows);
    check(&emitted, Kind::Flow, Some(host), false).err().map(|refused| refused.what)
}

fn field(reach: usize, field: usize) -> MemoryOperand {
    let at = offset_of!(FlowState, reaches) + reach * size_of::<Reach>() + field;
    MemoryOperand::with_base_displ(Register::RSI, at as i64)
}

/// Points to the first byte of a reach.
fn start(reach: usize) -> Made {
    Instruction::with2(Code::Mov_r64_rm64, Register::RDX, field(reach, offset_of!(Reach, start)))
}

fn broadcast(from: MemoryOperand) -> MemoryOperand {
    MemoryOperand { is_broadcast: true, ..from }
}

fn limit(by: MemoryOperand) -> Made {
    Instruction::with3(Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, Register::ZMM31, Register::ZMM0, by)
}

fn masked(made: Made) -> Made {
    made.map(|mut made| {
        made.set_op_mask(Register::K1);
        made
    })
}

#[test]
fn lanes_access_memory_at_limited_offsets() {
    let reached = Some("accesses memory out of bounds");
    let last = |reach| broadcast(field(reach, offset_of!(Reach, last)));
    let places = MemoryOperand::with_base_index(Register::RDX, Register::ZMM31);
    let gather = |from| masked(Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, Register::ZMM1, from));
    let scatter = || masked(Instruction::with2(Code::EVEX_Vpscatterdd_vm32z_k1_zmm, places, Register::ZMM1));
    assert_eq!(region(&[start(0), limit(last(0)), gather(places), ret()]), None);
    assert_eq!(region(&[start(1), limit(last(1)), scatter(), ret()]), None);
    assert_eq!(region(&[start(0), limit(last(0)), scatter(), ret()]), Some("writes read-only memory"));
    // Without a limit, with that of another reach, or with something else.
    assert_eq!(region(&[start(0), gather(places), ret()]), reached);
    assert_eq!(region(&[limit(last(0)), gather(places), ret()]), reached);
    assert_eq!(region(&[start(0), limit(last(1)), gather(places), ret()]), reached);
    let offsets = broadcast(field(0, offset_of!(Reach, offsets)));
    assert_eq!(region(&[start(0), limit(offsets), gather(places), ret()]), reached);
    // Only words that are limited: not those outside of a mask, not one of sixteen, not those of another register.
    assert_eq!(region(&[start(0), masked(limit(last(0))), gather(places), ret()]), reached);
    assert_eq!(region(&[start(0), limit(field(0, offset_of!(Reach, last))), gather(places), ret()]), reached);
    let other = MemoryOperand::with_base_index(Register::RDX, Register::ZMM30);
    assert_eq!(region(&[start(0), limit(last(0)), gather(other), ret()]), reached);
    let (add, to) = (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, Register::ZMM31);
    let moves = Instruction::with3(add, to, to, to);
    assert_eq!(region(&[start(0), limit(last(0)), moves, gather(places), ret()]), reached);
    let scaled = MemoryOperand::with_base_index_scale(Register::RDX, Register::ZMM31, 4);
    assert_eq!(region(&[start(0), limit(last(0)), gather(scaled), ret()]), reached);
    let further = MemoryOperand { displacement: 4, displ_size: 1, ..places };
    assert_eq!(region(&[start(0), limit(last(0)), gather(further), ret()]), reached);
    let wide = MemoryOperand::with_base_index(Register::RDX, Register::YMM31);
    let wide = masked(Instruction::with2(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, Register::ZMM1, wide));
    assert_eq!(region(&[start(0), limit(last(0)), wide, ret()]), Some("accesses memory in an unknown way"));
    // Code must not move a reach.
    let store = |to| Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, to, Register::ZMM0);
    assert_eq!(region(&[store(field(0, 0)), ret()]), reached);
    assert_eq!(region(&[load(field(0, 0)), ret()]), None);
}

#[test]
fn columns_are_accessed_where_there_is_room_for_them() {
    let reached = Some("accesses memory out of bounds");
    let (room, offsets) = (offset_of!(Reach, columns), offset_of!(Reach, offsets));
    let place = MemoryOperand::with_base_index(Register::RDX, Register::RAX);
    let store = Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, place, Register::ZMM0);
    let offset = || Instruction::with2(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, Register::XMM0);
    let compare = |reach, with| Instruction::with2(Code::Cmp_r32_rm32, Register::EAX, field(reach, with));
    let with = |before: &[Made], jump: Code, after: &[Made]| {
        let to = (code(before).len() + 6 + code(after).len()) as u64;
        region(&[before, &[Instruction::with_branch(jump, to)], after, &[ret()]].concat())
    };
    let around =
        |reach, by, before: Made| with(&[start(reach), before, compare(reach, by)], Code::Jae_rel32_64, &[load(place)]);
    assert_eq!(around(0, room, offset()), None);
    assert_eq!(around(0, offsets, offset()), reached);
    let read = Instruction::with2(Code::Mov_r64_rm64, Register::RAX, MemoryOperand::with_base(Register::RDI));
    assert_eq!(around(0, room, read), reached);
    let before = [start(0), offset(), compare(0, room)];
    assert_eq!(with(&before, Code::Jne_rel32_64, &[load(place)]), reached);
    assert_eq!(with(&before, Code::Jae_rel32_64, std::slice::from_ref(&store)), Some("writes read-only memory"));
    assert_eq!(with(&before, Code::Jae_rel32_64, &[start(1), store.clone()]), reached);
    assert_eq!(with(&[start(1), offset(), compare(1, room)], Code::Jae_rel32_64, &[store]), None);
    let moved = Instruction::with2(Code::Mov_r32_rm32, Register::EAX, Register::ECX);
    assert_eq!(with(&[start(0), offset(), compare(0, room), moved], Code::Jae_rel32_64, &[load(place)]), reached);
    let further = MemoryOperand { displacement: 4, displ_size: 1, ..place };
    assert_eq!(with(&before, Code::Jae_rel32_64, &[load(further)]), reached);
}

/// Limits words to the offsets of a reach with AVX2; `further` than its last offset in the state.
fn limit_words(code: Code, [to, from]: [Register; 2], reach: usize, further: i64) -> Made {
    let at = offset_of!(FlowState, lasts) + reach * size_of::<Last>();
    Instruction::with3(code, to, from, MemoryOperand::with_base_displ(Register::RSI, at as i64 + further))
}

#[test]
fn lanes_gather_with_avx2_at_limited_offsets() {
    use Register::{RDX, YMM0, YMM1, YMM2, YMM14, YMM15};
    let reached = Some("accesses memory out of bounds");
    let with = |made: &[Made]| region_on(Host::Avx2, &[made, &[ret()]].concat());
    let limit = |reach| limit_words(Code::VEX_Vpminud_ymm_ymm_ymmm256, [YMM15, YMM0], reach, 0);
    let gather = |from| Instruction::with3(Code::VEX_Vpgatherdd_ymm_vm32y_ymm, YMM1, from, YMM2);
    let places = MemoryOperand::with_base_index(RDX, YMM15);
    assert_eq!(with(&[start(0), limit(0), gather(places)]), None);
    assert_eq!(with(&[start(1), limit(1), gather(places)]), None);
    // Without a limit, with that of another reach, of no reach, or by other words of the state.
    assert_eq!(with(&[start(0), gather(places)]), reached);
    assert_eq!(with(&[limit(0), gather(places)]), reached);
    assert_eq!(with(&[start(0), limit(1), gather(places)]), reached);
    assert_eq!(with(&[start(0), limit(2), gather(places)]), reached);
    let beside = |further| limit_words(Code::VEX_Vpminud_ymm_ymm_ymmm256, [YMM15, YMM0], 0, further);
    assert_eq!(with(&[start(0), beside(4), gather(places)]), reached);
    assert_eq!(with(&[start(0), beside(-32), gather(places)]), reached);
    let last = Instruction::with3(Code::VEX_Vpminud_ymm_ymm_ymmm256, YMM15, YMM0, field(0, offset_of!(Reach, last)));
    assert_eq!(with(&[start(0), last, gather(places)]), reached);
    let greater = limit_words(Code::VEX_Vpmaxud_ymm_ymm_ymmm256, [YMM15, YMM0], 0, 0);
    assert_eq!(with(&[start(0), greater, gather(places)]), reached);
    // Only words that are limited, and still are.
    let half = limit_words(Code::VEX_Vpminud_xmm_xmm_xmmm128, [Register::XMM15, Register::XMM0], 0, 0);
    assert_eq!(with(&[start(0), half, gather(places)]), reached);
    assert_eq!(with(&[start(0), limit(0), gather(MemoryOperand::with_base_index(RDX, YMM14))]), reached);
    let moves = Instruction::with3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, YMM15, YMM15, YMM15);
    assert_eq!(with(&[start(0), limit(0), moves, gather(places)]), reached);
    assert_eq!(with(&[start(0), limit(0), gather(MemoryOperand::with_base_index_scale(RDX, YMM15, 2))]), reached);
    assert_eq!(
        with(&[start(0), limit(0), gather(MemoryOperand { displacement: 4, displ_size: 1, ..places })]),
        reached
    );
    let wide = Instruction::with3(Code::VEX_Vpgatherqq_ymm_vm64y_ymm, YMM1, places, YMM2);
    assert_eq!(with(&[start(0), limit(0), wide]), Some("accesses memory in an unknown way"));
    // Code must not change what limits.
    let lasts = MemoryOperand::with_base_displ(Register::RSI, offset_of!(FlowState, lasts) as i64);
    assert_eq!(with(&[Instruction::with2(Code::VEX_Vmovdqu_ymmm256_ymm, lasts, YMM0)]), reached);
}

#[test]
fn lanes_store_with_avx2_at_offsets_that_were_limited_before_they_were_extracted() {
    use Register::{EAX, ECX, RAX, RCX, RDX, XMM0, XMM1, XMM14, XMM15};
    const EXTRACT: Code = Code::VEX_Vpextrd_rm32_xmm_imm8;
    let reached = Some("accesses memory out of bounds");
    let with = |made: &[Made]| region_on(Host::Avx2, &[made, &[ret()]].concat());
    let limit = |reach| limit_words(Code::VEX_Vpminud_xmm_xmm_xmmm128, [XMM15, XMM0], reach, 0);
    let extract = |to: Register, lane: u32| Instruction::with3(EXTRACT, to, XMM15, lane);
    let place = |offset| MemoryOperand::with_base_index(RDX, offset);
    let store = |offset, lane: u32| Instruction::with3(EXTRACT, place(offset), XMM1, lane);
    let both = [extract(EAX, 0), extract(ECX, 3)];
    let stores = [store(RAX, 0), store(RCX, 3)];
    assert_eq!(with(&[&[start(1), limit(1)], &both[..], &stores].concat()), None);
    assert_eq!(with(&[&[start(0), limit(0)], &both[..], &stores].concat()), Some("writes read-only memory"));
    assert_eq!(with(&[&[start(1)], &both[..], &stores].concat()), reached);
    assert_eq!(with(&[&[start(1), limit(0)], &both[..], &stores].concat()), reached);
    // One of the offsets is not extracted, is that of another register, or is extracted after these have changed.
    assert_eq!(with(&[&[start(1), limit(1)], &both[..1], &stores].concat()), reached);
    let other = Instruction::with3(EXTRACT, ECX, XMM14, 0);
    assert_eq!(with(&[&[start(1), limit(1), extract(EAX, 0), other], &stores[..]].concat()), reached);
    let moves = Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM15, XMM15, XMM15);
    assert_eq!(with(&[&[start(1), limit(1), moves], &both[..], &stores].concat()), reached);
    let loads = Instruction::with2(Code::VEX_Vmovd_xmm_rm32, XMM15, EAX);
    assert_eq!(with(&[&[start(1), limit(1), loads], &both[..], &stores].concat()), reached);
    let read = Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, XMM15, MemoryOperand::with_base(Register::RDI));
    assert_eq!(with(&[&[start(1), limit(1), read], &both[..], &stores].concat()), reached);
    // An offset that has moved, or is further, or of more than a word.
    let add = Instruction::with2(Code::Add_rm32_imm32, EAX, 4);
    assert_eq!(with(&[&[start(1), limit(1)], &both[..], &[add], &stores].concat()), reached);
    let further = MemoryOperand { displacement: 4, displ_size: 1, ..place(RAX) };
    let further = Instruction::with3(EXTRACT, further, XMM1, 0);
    assert_eq!(with(&[start(1), limit(1), extract(EAX, 0), further]), reached);
    let scaled = Instruction::with3(EXTRACT, MemoryOperand::with_base_index_scale(RDX, RAX, 2), XMM1, 0);
    assert_eq!(with(&[start(1), limit(1), extract(EAX, 0), scaled]), reached);
    let wide = Instruction::with3(Code::VEX_Vpextrq_rm64_xmm_imm8, place(RAX), XMM1, 0);
    assert_eq!(with(&[start(1), limit(1), extract(EAX, 0), wide]), reached);
    // Lanes may be left out, but not their offsets.
    let around = |before: &[Made], skipped: &[Made], after: &[Made]| {
        let to = (code(before).len() + 6 + code(skipped).len()) as u64;
        with(&[before, &[Instruction::with_branch(Code::Je_rel32_64, to)], skipped, after].concat())
    };
    let before = [&[start(1), limit(1)], &both[..]].concat();
    assert_eq!(around(&before, &stores[..1], &stores[1..]), None);
    assert_eq!(around(&before[..3], &both[1..], &stores), reached);
    assert_eq!(around(&before[..1], &before[1..], &stores), reached);
}
