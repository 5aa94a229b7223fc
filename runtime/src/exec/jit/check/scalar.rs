//! The rules for code that computes in general registers, which `code_cache` calls.
//!
//! For each register, the rules track what it points to, or an upper bound of the number in it. Comparisons and the
//! jumps after them bound offsets into windows and exclude divisors of zero. Code that cannot be proved safe this way
//! is refused, and the evaluator executes its instructions.

use std::rc::Rc;

use iced_x86::{Code, CpuidFeature, Instruction, Mnemonic, OpKind, Register};

use super::{Refused, Rules, Step, gpr};
use crate::exec::jit::context::{CALLERS, FILE, LEFT_AT, MISS, NEXT, SAVED, SIZE, SPILL, SPILLS, WINDOWS};
use crate::exec::jit::emitted::Emitted;
use crate::exec::jit::feature::Features;
use crate::exec::jit::regalloc::{CONTEXT, LEFT};

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    /// An upper bound.
    most: u64,
    /// Whether its lower half, and the whole number, is known not to be zero.
    some: [bool; 2],
    /// Whether its lower half, and the whole number, is known not to be minus one.
    positive: [bool; 2],
    /// Identifies equal values: numbers with the same nonzero entry have the same lower half, or are the same as a
    /// whole.
    same: [u16; 2],
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Number(Number),
    Context,
    File,
    /// The start of a window.
    Window(u8),
    /// The value that the caller had in a register that must be preserved.
    Caller(u8),
}

const ANY: Holds = at_most(u64::MAX);

const fn at_most(most: u64) -> Holds {
    Holds::Number(Number { most, some: [false; 2], positive: [false; 2], same: [0; 2] })
}

fn constant(number: u64) -> Holds {
    let low = number as u32;
    let (some, positive) = ([low != 0, number != 0], [low != u32::MAX, number != u64::MAX]);
    Holds::Number(Number { most: number, some, positive, same: [0; 2] })
}

/// Returns what is known where two paths meet.
fn both(one: Holds, other: Holds) -> Holds {
    match (one, other) {
        (Holds::Number(a), Holds::Number(b)) => {
            let and = |a: [bool; 2], b: [bool; 2]| [a[0] && b[0], a[1] && b[1]];
            Holds::Number(Number {
                most: a.most.max(b.most),
                some: and(a.some, b.some),
                positive: and(a.positive, b.positive),
                same: std::array::from_fn(|half| if a.same[half] == b.same[half] { a.same[half] } else { 0 }),
            })
        }
        _ if one == other => one,
        _ => ANY,
    }
}

/// What is known at a point in the code.
#[derive(Clone, Debug)]
pub(crate) struct State {
    registers: [Holds; 16],
    /// Shared, since few instructions change it and most points have the same.
    kept: Rc<Kept>,
    /// The comparison that the flags result from.
    flags: Option<Compared>,
    /// Whether the instruction before sign-extended a number into its upper half: of 32 bits (`false`) or of 64
    /// (`true`).
    extended: Option<bool>,
    /// The highest identifier in use, see [`Number::same`]: it comes from the last copy that was followed.
    copied: u16,
}

/// What is kept in the context.
#[derive(Clone, Debug)]
struct Kept {
    saved: [Holds; CALLERS.len()],
    spill: [Holds; SPILLS],
}

/// A comparison: the register, the number that it is compared with, and whether in 64 bits instead of 32.
type Compared = (usize, u64, bool);

/// Keeps only what both sides agree on. Returns whether less is known now.
fn meet(ours: &mut [Holds], others: &[Holds]) -> bool {
    let mut changed = false;
    for (ours, other) in ours.iter_mut().zip(others).filter(|(ours, other)| **ours != ANY && ours != other) {
        let agreed = both(*ours, *other);
        changed |= agreed != *ours;
        *ours = agreed;
    }
    changed
}

impl State {
    fn of(&self, register: Register) -> Holds {
        gpr(register).map_or(ANY, |number| self.registers[number])
    }

    /// Changes what is known of the numbers that `of` selects.
    fn change(&mut self, of: impl Fn(&Number) -> bool, change: impl Fn(&mut Number)) {
        let wanted = |holds: &Holds| matches!(holds, Holds::Number(number) if of(number));
        let change = |holds: &mut Holds| match holds {
            Holds::Number(number) if of(number) => change(number),
            _ => {}
        };
        self.registers.iter_mut().for_each(change);
        if self.kept.spill.iter().any(wanted) {
            Rc::make_mut(&mut self.kept).spill.iter_mut().for_each(change);
        }
    }

    /// Returns what a register holds, and identifies it with the copy that the instruction at an address is about to
    /// make.
    fn copied(&mut self, register: Register, ip: u64) -> Holds {
        let Some(at) = gpr(register) else { return ANY };
        for half in 0..2 {
            // In a loop, identifiers of the previous iteration refer to other values. A copy has at least two bytes.
            let Ok(is) = u16::try_from((ip & !1) + half as u64 + 1) else { continue };
            if matches!(self.registers[at], Holds::Number(number) if number.same[half] == 0 || number.same[half] == is)
            {
                if is <= self.copied {
                    self.change(|number| number.same[half] == is, |number| number.same[half] = 0);
                }
                self.copied = self.copied.max(is);
                if let Holds::Number(number) = &mut self.registers[at] {
                    number.same[half] = is;
                }
            }
        }
        self.registers[at]
    }

    /// Returns what a slot of the context holds, or `None` if there is no such slot.
    fn kept(&self, place: i32) -> Option<Holds> {
        match slot(place)? {
            (true, at) => self.kept.saved.get(at).copied(),
            (false, at) => self.kept.spill.get(at).copied(),
        }
    }

    /// Stores what a register held in a slot of the context. Returns whether there is such a slot.
    fn keep(&mut self, place: i32, holds: Holds) -> bool {
        let Some((saved, at)) = slot(place) else { return false };
        let kept = Rc::make_mut(&mut self.kept);
        let slot = if saved { kept.saved.get_mut(at) } else { kept.spill.get_mut(at) };
        slot.map(|slot| *slot = holds).is_some()
    }
}

/// Returns the slot at an offset in the context: whether it saves a register of the caller or a value, and its
/// number.
fn slot(place: i32) -> Option<(bool, usize)> {
    let at = |from: i32| (place >= from && (place - from) % 8 == 0).then_some(((place - from) / 8) as usize);
    match at(SAVED).filter(|at| *at < CALLERS.len()) {
        Some(at) => Some((true, at)),
        None => Some((false, at(SPILL)?)),
    }
}

/// Returns the window whose pointer is at an offset in the context.
fn pointer(place: i32) -> Option<u8> {
    let from = place.checked_sub(WINDOWS).filter(|from| from % 8 == 0)?;
    u8::try_from(from / 8).ok()
}

/// Whether an instruction subtracts from the budget.
fn takes(instruction: &Instruction) -> bool {
    matches!(instruction.code(), Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32)
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == LEFT
        && instruction.immediate(1) as i64 > 0
}

/// The rules for the code of a region on a processor.
pub(crate) struct Scalar<'a> {
    emitted: &'a Emitted,
    features: Features,
}

/// Checks the code of a region.
///
/// # Errors
/// The first instruction that may do something forbidden.
pub fn check(emitted: &Emitted, features: Features) -> Result<(), Refused> {
    super::check(&emitted.code, &mut Scalar { emitted, features })
}

impl Rules for Scalar<'_> {
    type State = State;

    fn has(&self, feature: CpuidFeature) -> bool {
        use CpuidFeature as F;
        match feature {
            F::INTEL8086 | F::INTEL186 | F::INTEL286 | F::INTEL386 | F::INTEL486 | F::X64 | F::CMOV => true,
            F::BMI1 => self.features.bmi1,
            F::BMI2 => self.features.bmi2,
            F::LZCNT => self.features.lzcnt,
            F::POPCNT => self.features.popcnt,
            _ => false,
        }
    }

    fn entry(&self) -> State {
        let mut registers = [ANY; 16];
        registers[CONTEXT.number()] = Holds::Context;
        for register in CALLERS {
            registers[register.number()] = Holds::Caller(register.number() as u8);
        }
        let kept = Kept { saved: [ANY; CALLERS.len()], spill: [ANY; SPILLS] };
        State { registers, kept: Rc::new(kept), flags: None, extended: None, copied: 0 }
    }

    fn meet(state: &mut State, other: &State) -> bool {
        let mut changed = meet(&mut state.registers, &other.registers);
        if !Rc::ptr_eq(&state.kept, &other.kept) {
            let kept = Rc::make_mut(&mut state.kept);
            changed |= meet(&mut kept.saved, &other.kept.saved) | meet(&mut kept.spill, &other.kept.spill);
        }
        let flags = state.flags.filter(|flags| other.flags == Some(*flags));
        let extended = state.extended.filter(|extended| other.extended == Some(*extended));
        changed |= (flags, extended) != (state.flags, state.extended);
        (state.flags, state.extended) = (flags, extended);
        changed
    }

    /// Every backward jump must lead to a subtraction from the budget, and nothing within such a loop may raise it.
    fn whole(&mut self, steps: &[Step]) -> Result<(), Refused> {
        let mut back = Vec::new();
        for (from, step) in steps.iter().enumerate() {
            let Some(to) = step.target.map(|to| to as usize).filter(|to| *to <= from) else { continue };
            back.push(to..=from);
            let leaves = steps.get(to + 1).is_some_and(|Step { instruction: next, after_vectors, .. }| {
                let is_below = matches!(next.code(), Code::Jb_rel32_64 | Code::Jb_rel8_64);
                is_below && !after_vectors && next.near_branch64() > next.ip()
            });
            if !takes(&steps[to].instruction) || !leaves {
                return Err(Refused::new(&step.instruction, "jumps back without charging the budget"));
            }
        }
        if back.is_empty() {
            return Ok(());
        }
        let gives = |(_, step): &(usize, &Step)| step.writes(LEFT) && !takes(&step.instruction);
        let mut given = steps.iter().enumerate().filter(gives);
        match given.find(|(at, _)| back.iter().any(|looped| looped.contains(at))) {
            Some((_, step)) => Err(Refused::new(&step.instruction, "refills its own budget")),
            None => Ok(()),
        }
    }

    fn forget_flags(state: &mut State) {
        state.flags = None;
    }

    /// Numbers are bounded anew in each iteration, and RAX is for results.
    fn repeats(state: &mut State) {
        (state.flags, state.extended) = (None, None);
        let forget = |holds: &mut Holds| {
            if let Holds::Number(_) = holds {
                *holds = ANY;
            }
        };
        state.registers.iter_mut().for_each(forget);
        state.registers[Register::RAX.number()] = ANY;
        if state.kept.spill.iter().any(|holds| matches!(holds, Holds::Number(_)) && *holds != ANY) {
            Rc::make_mut(&mut state.kept).spill.iter_mut().for_each(forget);
        }
    }

    fn step(&mut self, step: &Step, state: &mut State) -> Result<(), &'static str> {
        let instruction = &step.instruction;
        if step.writes(CONTEXT) {
            return Err("overwrites the pointer to its context");
        }
        if step.bytes > 0 {
            self.memory(instruction, step.bytes.into(), state)?;
        }
        if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
            divides(instruction, state)?;
        }
        let result = self.result(instruction, state);
        for write in step.writes.iter().flatten() {
            let register = usize::from(write.register);
            state.registers[register] = if write.narrow { at_most(u32::MAX.into()) } else { ANY };
            if state.flags.is_some_and(|(compared, ..)| compared == register) {
                state.flags = None;
            }
        }
        if let (Some(holds), Some(register)) = (result, gpr(instruction.op0_register())) {
            state.registers[register] = holds;
        }
        if let Some(flags) = flags(instruction) {
            state.flags = flags;
        }
        state.extended = match instruction.mnemonic() {
            Mnemonic::Cdq => Some(false),
            Mnemonic::Cqo => Some(true),
            _ => None,
        };
        Ok(())
    }

    fn not_taken(&self, jump: &Instruction, state: &mut State) {
        not_taken(jump.code(), state);
    }

    /// The caller's registers must be restored, and the result must be the number of an exit.
    fn leaves(&self, state: &State) -> Result<(), &'static str> {
        if CALLERS.iter().any(|register| state.of(*register) != Holds::Caller(register.number() as u8)) {
            return Err("does not restore a register of the caller");
        }
        match state.of(Register::RAX) {
            Holds::Number(number) if number.most < self.emitted.exits.len() as u64 => Ok(()),
            _ => Err("returns a number that is not that of an exit"),
        }
    }
}

impl Scalar<'_> {
    /// Checks that a memory operand lies in memory the code may access. Records values that are stored in the
    /// context.
    fn memory(&self, step: &Instruction, size: u64, state: &mut State) -> Result<(), &'static str> {
        let writes = step.op0_kind() == OpKind::Memory
            && !matches!(step.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Mul | Mnemonic::Imul);
        if writes && step.mnemonic() != Mnemonic::Mov {
            return Err("changes memory");
        }
        if step.memory_base() == Register::None || step.memory_base() == Register::RIP {
            return Err("uses an absolute address");
        }
        let at = step.memory_displacement64() as i64;
        let index = match step.memory_index() {
            Register::None => constant(0),
            index if step.memory_index_scale() == 1 => state.of(index),
            _ => return Err("accesses memory out of bounds"),
        };
        let Holds::Number(Number { most, .. }) = index else { return Err("accesses memory out of bounds") };
        let end = u64::try_from(at).ok().and_then(|at| at.checked_add(most)?.checked_add(size));
        let within = |bytes: u64| end.is_some_and(|end| end <= bytes);
        let fits = match state.of(step.memory_base()) {
            Holds::Context if most == 0 && at % 8 == 0 => {
                let place = at as i32;
                if writes {
                    let own = [LEFT_AT, NEXT, MISS].contains(&place);
                    let stored = match step.op1_kind() {
                        OpKind::Register => state.copied(step.op1_register(), step.ip()),
                        _ => ANY,
                    };
                    let kept = state.keep(place, stored);
                    size == 8 && (own || kept)
                } else {
                    within(SIZE as u64)
                }
            }
            Holds::File => most == 0 && within(8 * u64::from(self.emitted.slots)),
            Holds::Window(window) => {
                self.emitted.windows.get(usize::from(window)).is_some_and(|w| within(w.size) && (w.writable || !writes))
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err("accesses memory out of bounds") }
    }

    /// Returns what an instruction leaves in its first register, if more is known of it than its width.
    fn result(&self, step: &Instruction, state: &mut State) -> Option<Holds> {
        if step.op0_kind() != OpKind::Register {
            return None;
        }
        match (step.code(), step.op1_kind()) {
            (Code::Mov_r64_rm64 | Code::Mov_rm64_r64, OpKind::Register) => {
                Some(state.copied(step.op1_register(), step.ip()))
            }
            (Code::Mov_r32_rm32 | Code::Mov_rm32_r32, OpKind::Register) => {
                match state.copied(step.op1_register(), step.ip()) {
                    Holds::Number(number) if number.most <= u32::MAX.into() => Some(Holds::Number(number)),
                    Holds::Number(number) => {
                        let (some, positive) = ([number.some[0]; 2], [number.positive[0], true]);
                        Some(Holds::Number(Number { most: u32::MAX.into(), some, positive, same: [number.same[0], 0] }))
                    }
                    _ => None,
                }
            }
            (Code::Mov_r64_rm64, OpKind::Memory) if state.of(step.memory_base()) == Holds::Context => {
                let place = step.memory_displacement64() as i32;
                if place == FILE {
                    return Some(Holds::File);
                }
                match pointer(place).filter(|window| usize::from(*window) < self.emitted.windows.len()) {
                    Some(window) => Some(Holds::Window(window)),
                    None => state.kept(place),
                }
            }
            (Code::Mov_r32_imm32 | Code::Mov_r64_imm64 | Code::Mov_rm64_imm32, _) => Some(constant(step.immediate(1))),
            (Code::Xor_r32_rm32, OpKind::Register) if step.op0_register() == step.op1_register() => Some(constant(0)),
            (Code::Movzx_r32_rm8, _) => Some(at_most(u8::MAX.into())),
            (Code::Movzx_r32_rm16, _) => Some(at_most(u16::MAX.into())),
            _ => None,
        }
    }
}

/// Checks that a divisor is not zero and that the quotient fits.
fn divides(step: &Instruction, state: &State) -> Result<(), &'static str> {
    let by = step.op0_register();
    let wide = usize::from(by.size() == 8);
    let Holds::Number(divisor) = (if step.op0_kind() == OpKind::Register { state.of(by) } else { ANY }) else {
        return Err("divides by an address");
    };
    if !divisor.some[wide] {
        return Err("may divide by zero");
    }
    let fits = if step.mnemonic() == Mnemonic::Div {
        matches!(state.of(Register::RDX), Holds::Number(Number { most: 0, .. }))
    } else {
        state.extended == Some(wide == 1) && divisor.positive[wide]
    };
    if fits && by.full_register() != Register::RDX { Ok(()) } else { Err("may have a quotient that is too large") }
}

/// Returns the comparison that the flags result from after an instruction, or `None` if it does not change the flags.
fn flags(step: &Instruction) -> Option<Option<Compared>> {
    use Mnemonic as M;
    let number = match step.mnemonic() {
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Lea | M::Cdq | M::Cqo | M::Shlx | M::Shrx | M::Sarx => {
            return None;
        }
        M::Test if step.op1_kind() == OpKind::Register && step.op1_register() == step.op0_register() => 0,
        M::Cmp if !matches!(step.op1_kind(), OpKind::Register | OpKind::Memory) => step.immediate(1),
        _ => return Some(None),
    };
    let register = step.op0_register();
    Some(gpr(register).and_then(|at| match register {
        _ if register.is_gpr32() => Some((at, u64::from(number as u32), false)),
        _ if register.is_gpr64() => Some((at, number, true)),
        _ => None,
    }))
}

/// Adds what is known if a jump is not taken.
fn not_taken(code: Code, state: &mut State) {
    if !matches!(code, Code::Ja_rel8_64 | Code::Ja_rel32_64 | Code::Je_rel8_64 | Code::Je_rel32_64) {
        return;
    }
    let Some((register, compared, wide)) = state.flags else { return };
    let Holds::Number(Number { same, .. }) = state.registers[register] else { return };
    let refine = |number: &mut Number, all: bool| match code {
        Code::Ja_rel8_64 | Code::Ja_rel32_64 if wide && all => number.most = number.most.min(compared),
        Code::Je_rel8_64 | Code::Je_rel32_64 => {
            // If the lower half differs from that of a number, the whole differs from the number, too.
            let minus = if wide { u64::MAX } else { u32::MAX.into() };
            if compared == 0 {
                number.some[usize::from(wide)] = true;
                number.some[1] = true;
            }
            if compared == minus {
                number.positive[usize::from(wide)] = true;
                number.positive[1] = true;
            }
        }
        _ => {}
    };
    if let Holds::Number(number) = &mut state.registers[register] {
        refine(number, true);
    }
    if same == [0; 2] {
        return;
    }
    // The compared value may also be in other places.
    let all = |number: &Number| same[1] != 0 && number.same[1] == same[1];
    let low = |number: &Number| !wide && same[0] != 0 && number.same[0] == same[0];
    state.change(|number| all(number) || low(number), |number| refine(number, all(number)));
}
