//! Machine code is checked before it may be executed: decoded again, and held to what `code_cache`
//! promises.
//!
//! What is checked does not come from what made it. Of each register it is known what it points to, or how large the number
//! in it is at most; comparisons and the jumps behind them bound offsets into windows, and keep divisors from being zero.
//! Code for which that cannot be seen is refused, and the evaluator executes the instructions.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use thiserror::Error;

use super::code_cache::{FILE, LEFT_AT, MISS, NEXT, SAVED, SIZE, SPILL, SPILLS, WINDOWS};
use super::emit::{CALLERS, Emitted};
use super::feature::Features;
use super::regalloc::{CONTEXT, LEFT};

/// Why code is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("machine code at {at:#x}, `{code:?}`: {what}")]
pub struct Refused {
    /// Where in the code.
    at: u64,
    /// The instruction.
    code: Code,
    /// What is wrong with it.
    what: &'static str,
}

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    /// It is not greater than this.
    most: u64,
    /// Its lower half, and all of it, is not zero.
    some: [bool; 2],
    /// Its lower half, and all of it, is not minus one.
    positive: [bool; 2],
    /// Its lower half, and all of it, is the same wherever this is the same, and not 0.
    same: [u64; 2],
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Number(Number),
    Context,
    File,
    /// Where a window begins.
    Window(usize),
    /// What the caller had in a register of its own.
    Caller(usize),
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

/// What two ways to the same place agree on.
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

/// What is known at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    registers: [Holds; 16],
    saved: [Holds; CALLERS.len()],
    spill: [Holds; SPILLS],
    /// What flags are of: a register compared with a number, of 32 or 64 bits.
    flags: Option<(usize, u64, bool)>,
}

impl State {
    fn entry() -> State {
        let mut registers = [ANY; 16];
        registers[CONTEXT.number()] = Holds::Context;
        for register in CALLERS {
            registers[register.number()] = Holds::Caller(register.number());
        }
        State { registers, saved: [ANY; CALLERS.len()], spill: [ANY; SPILLS], flags: None }
    }

    fn both(&self, other: &State) -> State {
        State {
            registers: std::array::from_fn(|at| both(self.registers[at], other.registers[at])),
            saved: std::array::from_fn(|at| both(self.saved[at], other.saved[at])),
            spill: std::array::from_fn(|at| both(self.spill[at], other.spill[at])),
            flags: self.flags.filter(|flags| other.flags == Some(*flags)),
        }
    }

    fn of(&self, register: Register) -> Holds {
        self.registers[register.full_register().number()]
    }

    fn numbers(&mut self) -> impl Iterator<Item = &mut Number> {
        self.registers.iter_mut().chain(&mut self.spill).filter_map(|holds| match holds {
            Holds::Number(number) => Some(number),
            _ => None,
        })
    }

    /// What a register holds, which is about to be copied by the instruction at an address.
    fn copied(&mut self, register: Register, ip: u64) -> Holds {
        for half in 0..2 {
            // Those of the last time are others.
            let is = ip * 2 + half as u64 + 1;
            let at = register.full_register().number();
            if matches!(self.registers[at], Holds::Number(number) if number.same[half] == 0 || number.same[half] == is)
            {
                self.numbers().filter(|number| number.same[half] == is).for_each(|number| number.same[half] = 0);
                if let Holds::Number(number) = &mut self.registers[at] {
                    number.same[half] = is;
                }
            }
        }
        self.of(register)
    }

    /// A slot of the context that keeps what a register held.
    fn slot(&mut self, place: i32) -> Option<&mut Holds> {
        let at = |from: i32| (place >= from && (place - from) % 8 == 0).then_some(((place - from) / 8) as usize);
        match at(SAVED).filter(|at| *at < CALLERS.len()) {
            Some(at) => self.saved.get_mut(at),
            None => self.spill.get_mut(at(SPILL)?),
        }
    }
}

fn has(features: Features, feature: CpuidFeature) -> bool {
    use CpuidFeature as F;
    match feature {
        F::INTEL8086 | F::INTEL186 | F::INTEL286 | F::INTEL386 | F::INTEL486 | F::X64 | F::CMOV => true,
        F::BMI1 => features.bmi1,
        F::BMI2 => features.bmi2,
        F::LZCNT => features.lzcnt,
        F::POPCNT => features.popcnt,
        _ => false,
    }
}

/// Instructions that do nothing but what their operands say.
fn is_known(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let flow = instruction.flow_control();
    instruction.is_jcc_short_or_near()
        || instruction.is_jmp_short_or_near()
        || (flow == FlowControl::Return && instruction.code() == Code::Retnq)
        || matches!(
            instruction.mnemonic(),
            M::Sete | M::Setne | M::Setb | M::Setbe | M::Seta | M::Setae | M::Setl | M::Setle | M::Setg | M::Setge
        )
        || matches!(
            instruction.mnemonic(),
            M::Cmove
                | M::Cmovne
                | M::Cmovb
                | M::Cmovbe
                | M::Cmova
                | M::Cmovae
                | M::Cmovl
                | M::Cmovle
                | M::Cmovg
                | M::Cmovge
        )
        || matches!(
            instruction.mnemonic(),
            M::Mov
                | M::Movzx
                | M::Movsx
                | M::Movsxd
                | M::Lea
                | M::Add
                | M::Sub
                | M::And
                | M::Or
                | M::Xor
                | M::Cmp
                | M::Test
                | M::Imul
                | M::Mul
                | M::Div
                | M::Idiv
                | M::Neg
                | M::Cdq
                | M::Cqo
                | M::Shl
                | M::Shr
                | M::Sar
                | M::Rol
                | M::Ror
                | M::Shlx
                | M::Shrx
                | M::Sarx
                | M::Lzcnt
                | M::Tzcnt
                | M::Popcnt
        )
}

/// Checks code.
///
/// # Errors
/// The first instruction that may do what it must not.
pub fn check(emitted: &Emitted, features: Features) -> Result<(), Refused> {
    let decoder = Decoder::with_ip(64, &emitted.code, 0, DecoderOptions::NONE);
    let steps: Vec<Instruction> = decoder.into_iter().collect();
    for step in &steps {
        let refused = |what| Err(Refused { at: step.ip(), code: step.code(), what });
        if step.is_invalid() || !is_known(step) {
            return refused("is none of those that are known");
        }
        if !step.cpuid_features().iter().all(|feature| has(features, *feature)) {
            return refused("needs a processor that this one is not known to be");
        }
        if step.has_lock_prefix()
            || step.has_rep_prefix()
            || step.has_repne_prefix()
            || step.segment_prefix() != Register::None
        {
            return refused("has a prefix");
        }
    }
    let number_at = |ip: u64| steps.binary_search_by_key(&ip, Instruction::ip).ok();
    let mut back: Vec<(u64, u64)> = Vec::new();
    let mut labels = BTreeSet::new();
    for step in steps.iter().filter(|step| step.op0_kind() == OpKind::NearBranch64) {
        let refused = |what| Err(Refused { at: step.ip(), code: step.code(), what });
        let target = step.near_branch64();
        let Some(number) = number_at(target) else { return refused("leads out of the code") };
        labels.insert(target);
        if target <= step.ip() {
            back.push((step.ip(), target));
            let leaves = steps.get(number + 1).is_some_and(|next| {
                matches!(next.code(), Code::Jb_rel32_64 | Code::Jb_rel8_64) && next.near_branch64() > next.ip()
            });
            if !takes(&steps[number]) || !leaves {
                return refused("leads back without taking from the budget");
            }
        }
    }
    let mut check = Check { emitted, info: InstructionInfoFactory::new(), known: BTreeMap::new(), again: true };
    while check.again {
        check.again = false;
        check.pass(&steps, &labels, &back)?;
    }
    Ok(())
}

/// Whether an instruction takes something from the budget.
fn takes(instruction: &Instruction) -> bool {
    matches!(instruction.code(), Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32)
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == LEFT
        && instruction.immediate(1) as i64 > 0
}

struct Check<'a> {
    emitted: &'a Emitted,
    info: InstructionInfoFactory,
    /// What is known where jumps lead: what all who come there agree on.
    known: BTreeMap<u64, State>,
    /// At some place less is known than was thought: all is looked at again.
    again: bool,
}

impl Check<'_> {
    fn pass(&mut self, steps: &[Instruction], labels: &BTreeSet<u64>, back: &[(u64, u64)]) -> Result<(), Refused> {
        let mut state = Some(State::entry());
        let mut before = None;
        for step in steps {
            let refused = |what| Refused { at: step.ip(), code: step.code(), what };
            if labels.contains(&step.ip()) {
                if let Some(state) = &state {
                    self.arrive(step.ip(), state);
                }
                state = self.known.get(&step.ip()).cloned();
                before = None;
            }
            // Nothing leads here; or what does comes later, and all is looked at once more.
            let Some(mut now) = state.take() else { continue };
            let looped = |ip: u64| back.iter().any(|(from, to)| (*to..=*from).contains(&ip));
            state = self.step(step, &mut now, before, looped).map_err(refused)?.then_some(now);
            before = Some(step.mnemonic());
        }
        match (state, steps.last()) {
            (Some(_), Some(last)) => Err(Refused { at: last.ip(), code: last.code(), what: "goes on behind the end" }),
            _ => Ok(()),
        }
    }

    fn arrive(&mut self, at: u64, state: &State) {
        let agreed = self.known.get(&at).map_or(state.clone(), |known| known.both(state));
        if self.known.get(&at) != Some(&agreed) {
            self.known.insert(at, agreed);
            self.again = true;
        }
    }

    /// Follows an instruction. Returns whether the one behind it is executed next, perhaps.
    fn step(
        &mut self,
        step: &Instruction,
        state: &mut State,
        before: Option<Mnemonic>,
        looped: impl Fn(u64) -> bool,
    ) -> Result<bool, &'static str> {
        match step.flow_control() {
            FlowControl::Return => return self.leaves(state).map(|()| false),
            FlowControl::UnconditionalBranch => {
                self.arrive(step.near_branch64(), state);
                return Ok(false);
            }
            FlowControl::ConditionalBranch => {
                self.arrive(step.near_branch64(), state);
                behind(step.code(), state);
                return Ok(true);
            }
            _ => {}
        }
        if step.mnemonic() != Mnemonic::Lea {
            self.memory(step, state)?;
        }
        if matches!(step.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
            divides(step, state, before)?;
        }
        let result = self.result(step, state);
        let flags = flags(step);
        let used: Vec<(Register, OpAccess)> = {
            let info = self.info.info(step);
            info.used_registers().iter().map(|used| (used.register(), used.access())).collect()
        };
        for (register, access) in used {
            if !register.is_gpr() {
                continue;
            }
            let full = register.full_register();
            if full == Register::RSP {
                return Err("names the stack");
            }
            if matches!(access, OpAccess::Read | OpAccess::CondRead) {
                continue;
            }
            if full == CONTEXT {
                return Err("loses what it is given");
            }
            if full == LEFT && !takes(step) && looped(step.ip()) {
                return Err("gives itself a budget");
            }
            state.registers[full.number()] = if register.size() == 4 { at_most(u32::MAX.into()) } else { ANY };
            if state.flags.is_some_and(|(compared, ..)| compared == full.number()) {
                state.flags = None;
            }
        }
        if let Some(holds) = result {
            state.registers[step.op0_register().full_register().number()] = holds;
        }
        match flags {
            Some(flags) => state.flags = flags,
            None if step.rflags_modified() != 0 => state.flags = None,
            None => {}
        }
        Ok(true)
    }

    /// The caller gets back what is its own, and a number that it knows.
    fn leaves(&self, state: &State) -> Result<(), &'static str> {
        if CALLERS.iter().any(|register| state.of(*register) != Holds::Caller(register.number())) {
            return Err("keeps a register of the caller");
        }
        match state.of(Register::RAX) {
            Holds::Number(number) if number.most < self.emitted.exits.len() as u64 => Ok(()),
            _ => Err("returns a number that is no exit's"),
        }
    }

    /// A memory operand lies in what code is given. What is stored in the context is kept in mind.
    fn memory(&mut self, step: &Instruction, state: &mut State) -> Result<(), &'static str> {
        let Some(operand) = (0..step.op_count()).find(|at| step.op_kind(*at) == OpKind::Memory) else { return Ok(()) };
        let writes =
            operand == 0 && !matches!(step.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Mul | Mnemonic::Imul);
        if writes && step.mnemonic() != Mnemonic::Mov {
            return Err("changes memory");
        }
        if step.memory_base() == Register::None || step.memory_base() == Register::RIP {
            return Err("names an address");
        }
        let (at, size) = (step.memory_displacement64() as i64, step.memory_size().size() as u64);
        let index = match step.memory_index() {
            Register::None => constant(0),
            index if step.memory_index_scale() == 1 => state.of(index),
            _ => return Err("reaches out of what it is given"),
        };
        let Holds::Number(Number { most, .. }) = index else { return Err("reaches out of what it is given") };
        let end = u64::try_from(at).ok().and_then(|at| at.checked_add(most)?.checked_add(size));
        let within = |bytes: u64| size > 0 && end.is_some_and(|end| end <= bytes);
        let fits = match state.of(step.memory_base()) {
            Holds::Context if most == 0 && at % 8 == 0 => {
                let place = at as i32;
                if writes {
                    let own = [LEFT_AT, NEXT, MISS].contains(&place);
                    let stored = match step.op1_kind() {
                        OpKind::Register => state.copied(step.op1_register(), step.ip()),
                        _ => ANY,
                    };
                    let slot = state.slot(place).map(|slot| *slot = stored).is_some();
                    size == 8 && (own || slot)
                } else {
                    within(SIZE as u64)
                }
            }
            Holds::File => most == 0 && within(8 * u64::from(self.emitted.slots)),
            Holds::Window(window) => {
                self.emitted.windows.get(window).is_some_and(|w| within(w.size) && (w.writable || !writes))
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err("reaches out of what it is given") }
    }

    /// What an instruction leaves in its first register, if more can be said than how wide it is.
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
                let window = (place - WINDOWS) / 8;
                if place >= WINDOWS && (window as usize) < self.emitted.windows.len() {
                    return Some(Holds::Window(window as usize));
                }
                state.slot(place).map(|slot| *slot)
            }
            (Code::Mov_r32_imm32 | Code::Mov_r64_imm64 | Code::Mov_rm64_imm32, _) => Some(constant(step.immediate(1))),
            (Code::Xor_r32_rm32, OpKind::Register) if step.op0_register() == step.op1_register() => Some(constant(0)),
            (Code::Movzx_r32_rm8, _) => Some(at_most(u8::MAX.into())),
            (Code::Movzx_r32_rm16, _) => Some(at_most(u16::MAX.into())),
            _ => None,
        }
    }
}

/// The quotient fits, and there is one.
fn divides(step: &Instruction, state: &State, before: Option<Mnemonic>) -> Result<(), &'static str> {
    let by = step.op0_register();
    let wide = usize::from(by.size() == 8);
    let Holds::Number(divisor) = (if step.op0_kind() == OpKind::Register { state.of(by) } else { ANY }) else {
        return Err("divides by an address");
    };
    if !divisor.some[wide] {
        return Err("divides by what may be zero");
    }
    let fits = match (step.mnemonic(), before) {
        (Mnemonic::Div, _) => matches!(state.of(Register::RDX), Holds::Number(Number { most: 0, .. })),
        (_, Some(Mnemonic::Cdq)) => wide == 0 && divisor.positive[0],
        (_, Some(Mnemonic::Cqo)) => wide == 1 && divisor.positive[1],
        _ => false,
    };
    if fits && by.full_register() != Register::RDX { Ok(()) } else { Err("has a quotient that may be too large") }
}

/// What flags are of behind an instruction, if it compares.
fn flags(step: &Instruction) -> Option<Option<(usize, u64, bool)>> {
    if step.op0_kind() != OpKind::Register {
        return None;
    }
    let register = step.op0_register();
    let number = match step.mnemonic() {
        Mnemonic::Test if step.op1_kind() == OpKind::Register && step.op1_register() == register => Some(0),
        Mnemonic::Cmp if !matches!(step.op1_kind(), OpKind::Register | OpKind::Memory) => Some(step.immediate(1)),
        _ => None,
    };
    let wide = match register.size() {
        4 => false,
        8 => true,
        _ => return None,
    };
    number.map(|number| {
        let number = if wide { number } else { u64::from(number as u32) };
        Some((register.full_register().number(), number, wide))
    })
}

/// What a jump that was not taken says.
fn behind(code: Code, state: &mut State) {
    let Some((register, compared, wide)) = state.flags else { return };
    let Holds::Number(Number { same, .. }) = state.registers[register] else { return };
    let refine = |number: &mut Number, all: bool| match code {
        Code::Ja_rel8_64 | Code::Ja_rel32_64 if wide && all => number.most = number.most.min(compared),
        Code::Je_rel8_64 | Code::Je_rel32_64 => {
            // Halves that differ from those of a number differ from it as a whole.
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
    // What was compared may be elsewhere, too.
    for number in state.numbers() {
        let all = same[1] != 0 && number.same[1] == same[1];
        if all || (!wide && same[0] != 0 && number.same[0] == same[0]) {
            refine(number, all);
        }
    }
}

#[cfg(test)]
mod tests;
