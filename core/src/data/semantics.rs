//! The tables of semantics and of machines.

use super::{Data, Reader, Writer, choices, records};
use crate::machine::{Bank, Burst, Call, Divergence, Hardware, Named, Performed, Reading, Register, Service, Space};
use crate::semantics::facts::{Callee, Fidelity, FidelityClass, Flow, Preload};
use crate::semantics::group::{DataPath, Stays};
use crate::semantics::{Class, Effects, Intrinsic, Modifier, Node, Op, Operation, Registers, Semantics, State, Type};

records! {
    Semantics {
        operations, intrinsics, states, spaces, faults, nan16, nan32, nan64, pc_bits, path, fidelity, preloads, callees,
        flow, last_read,
    }
    Operation { text, nodes, lists, constants, modifiers, intrinsics }
    Intrinsic { name, doc, parameters, result, effects, registers }
    Registers { first, name, bank, count, times, writes }
    Effects { reads, writes, waits, flow }
    State { name, doc, ty, count }
    Node { op, imm, ty, args }
    Type { class, bits, lanes }
    DataPath { path, roles, wires, local, repeats, stays, before, mask, everyone, in_turn }
    Stays { operands, slot, when, unless }
    Fidelity { instructions, class, detail, evidence, note }
    Preload { name, doc, first, values, uniform }
    Callee { name, doc, instruction, target, addresses, link, clobbers }
    Flow { instruction, modifier, value, name, sends, waits, waits_for_itself, reconverges, discards, ends }
    Hardware {
        lanes, divergence, unit, aligned, elf, program, banks, aliases, bits, uniform, readings, discards, spaces, calls, intrinsics,
        bursts, unmasks, start, named,
    }
    Burst { intrinsic, stores }
    Bank { count, width, open, close, names, also, zero, uniform, holds, fixed, stays, live_out, plus }
    Named { first, index }
    Space { space, size, open }
    Performed { intrinsic, operation }
    Register { bank, index }
    Reading { kind, alternative, operation }
    Call { intrinsic, number, services }
}

choices! {
    Class { 0: Bool {}, 1: Unsigned {}, 2: Signed {}, 3: Float {} }
    Modifier {
        0: Form { 0: a }, 1: Suffix { 0: a, 1: b }, 2: Field { 0: a, 1: b }, 3: Present { 0: a }, 4: Repetition {},
        5: Repetitions {},
    }
    FidelityClass { 0: Exact {}, 1: Approximate {}, 2: Choice {}, 3: Unsupported {} }
    Divergence { 0: Refused {}, 1: LowestFirst {}, 2: Masked {}, 3: Together {} }
    Service { 0: Write { stream: a, address: b, size: c, result: d }, 1: Exit { status: a } }
    Op {
        0: Const {}, 1: Operand {}, 2: State {}, 3: Special {}, 4: Pick {}, 5: Is {}, 6: Modifier {}, 7: Neg {},
        8: Not {}, 9: Abs {}, 10: Add {}, 11: Sub {}, 12: Mul {}, 13: MulHigh {}, 14: Div {}, 15: Rem {}, 16: And {},
        17: Or {}, 18: Xor {}, 19: Shl {}, 20: Shr {}, 21: RotateLeft {}, 22: RotateRight {}, 23: LeadingZeros {},
        24: TrailingZeros {}, 25: CountOnes {}, 26: ReverseBits {}, 27: Min {}, 28: Max {}, 29: AddSat {},
        30: SubSat {}, 31: MulSat {}, 32: AddHalf {}, 33: AddHalfUp {}, 34: Fma {}, 35: FmaScaled {}, 36: Sqrt {},
        37: Ldexp {}, 38: RoundIntegral {}, 39: Canonical {}, 40: Bits {}, 41: Zext {}, 42: Sext {}, 43: Trunc {},
        44: Convert {}, 45: Compare {}, 46: Select {}, 47: Get {}, 48: Pack {}, 49: Splat {}, 50: Slice {},
        51: Concat {}, 52: Permute {}, 53: Ballot {}, 54: Load {}, 55: Store {}, 56: Atomic {}, 57: Write {},
        58: SetState {}, 59: Branch {}, 60: Barrier {}, 61: End {}, 62: Fault {}, 63: Intrinsic {}, 64: Slot {},
        65: Commit {},
    }
}
