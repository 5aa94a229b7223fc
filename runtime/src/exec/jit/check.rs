//! Machine code is checked before it may be executed: decoded again, and held to what `code_cache`
//! promises.
//!
//! What is checked does not come from what made it. Of each register it is known what it points to, or how large the number
//! in it is at most; comparisons and the jumps behind them bound offsets into windows, and keep divisors from being zero.
//! Code for which that cannot be seen is refused, and the evaluator executes the instructions.

use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register,
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
    same: [u32; 2],
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
#[derive(Clone, Debug)]
struct State {
    registers: [Holds; 16],
    saved: [Holds; CALLERS.len()],
    spill: [Holds; SPILLS],
    /// What flags are of.
    flags: Option<Compared>,
    /// No number is the same as others because of a copy behind this one, see [`Number::same`].
    copied: u32,
}

/// A register compared with a number, of 32 or 64 bits.
type Compared = (usize, u64, bool);

impl State {
    fn entry() -> State {
        let mut registers = [ANY; 16];
        registers[CONTEXT.number()] = Holds::Context;
        for register in CALLERS {
            registers[register.number()] = Holds::Caller(register.number());
        }
        State { registers, saved: [ANY; CALLERS.len()], spill: [ANY; SPILLS], flags: None, copied: 0 }
    }

    /// Keeps what another way to the same place agrees on. Returns whether less is known then.
    fn meet(&mut self, other: &State) -> bool {
        let ours = self.registers.iter_mut().chain(&mut self.saved).chain(&mut self.spill);
        let theirs = other.registers.iter().chain(&other.saved).chain(&other.spill);
        let mut changed = false;
        for (ours, theirs) in ours.zip(theirs).filter(|(ours, theirs)| ours != theirs) {
            let agreed = both(*ours, *theirs);
            changed |= agreed != *ours;
            *ours = agreed;
        }
        let flags = self.flags.filter(|flags| other.flags == Some(*flags));
        changed |= flags != self.flags;
        self.flags = flags;
        changed
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
            let Ok(is) = u32::try_from(ip * 2 + half as u64 + 1) else { continue };
            let at = register.full_register().number();
            if matches!(self.registers[at], Holds::Number(number) if number.same[half] == 0 || number.same[half] == is)
            {
                if is <= self.copied {
                    self.numbers().filter(|number| number.same[half] == is).for_each(|number| number.same[half] = 0);
                }
                self.copied = self.copied.max(is);
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

/// An instruction, and what can be said of it wherever it stands.
#[derive(Default)]
struct Step {
    instruction: Instruction,
    /// Which label stands before it.
    label: Option<u32>,
    /// Which label it leads to.
    target: Option<u32>,
    /// The general registers that it writes, and whether it is their low halves.
    writes: [Option<(u8, bool)>; 2],
    /// What flags are of behind it. `None` where it leaves them alone.
    flags: Option<Option<Compared>>,
}

impl Step {
    fn look(&mut self, features: Features, info: &mut InstructionInfoFactory) -> Result<(), &'static str> {
        let instruction = &self.instruction;
        if instruction.is_invalid() || !is_known(instruction) {
            return Err("is none of those that are known");
        }
        if !instruction.cpuid_features().iter().all(|feature| has(features, *feature)) {
            return Err("needs a processor that this one is not known to be");
        }
        if instruction.has_lock_prefix()
            || instruction.has_rep_prefix()
            || instruction.has_repne_prefix()
            || instruction.segment_prefix() != Register::None
        {
            return Err("has a prefix");
        }
        self.flags = match flags(instruction) {
            None if instruction.rflags_modified() != 0 => Some(None),
            flags => flags,
        };
        if instruction.flow_control() == FlowControl::Next {
            self.used(info)?;
        }
        Ok(())
    }

    /// Notes which registers are written.
    fn used(&mut self, info: &mut InstructionInfoFactory) -> Result<(), &'static str> {
        let used = info.info_options(&self.instruction, InstructionInfoOptions::NO_MEMORY_USAGE).used_registers();
        for used in used.iter().filter(|used| used.register().is_gpr()) {
            let full = used.register().full_register();
            if full == Register::RSP {
                return Err("names the stack");
            }
            if matches!(used.access(), OpAccess::Read | OpAccess::CondRead) {
                continue;
            }
            if full == CONTEXT {
                return Err("loses what it is given");
            }
            let (number, narrow) = (full.number() as u8, used.register().size() == 4);
            let free = self.writes.iter_mut().find(|write| write.is_none_or(|(other, _)| other == number));
            let write = free.ok_or("writes three registers")?;
            *write = Some((number, narrow && write.is_none_or(|(_, narrow)| narrow)));
        }
        Ok(())
    }

    fn refused(&self, what: &'static str) -> Refused {
        refused(&self.instruction, what)
    }
}

fn refused(instruction: &Instruction, what: &'static str) -> Refused {
    Refused { at: instruction.ip(), code: instruction.code(), what }
}

/// Checks code.
///
/// # Errors
/// The first instruction that may do what it must not.
pub fn check(emitted: &Emitted, features: Features) -> Result<(), Refused> {
    let mut info = InstructionInfoFactory::new();
    let mut decoder = Decoder::with_ip(64, &emitted.code, 0, DecoderOptions::NONE);
    let mut steps = Vec::with_capacity(emitted.code.len() / 3);
    while decoder.can_decode() {
        // In its place, for it is large.
        let step = steps.push_mut(Step::default());
        decoder.decode_out(&mut step.instruction);
        step.look(features, &mut info).map_err(|what| step.refused(what))?;
    }
    let labels = link(&mut steps)?;
    let mut check = Check { emitted, known: vec![None; labels], again: true };
    while check.again {
        check.again = false;
        check.pass(&steps)?;
    }
    Ok(())
}

/// Numbers the labels of the code, and returns how many there are. All ways back take from the budget, and nothing between
/// gives itself more.
fn link(steps: &mut [Step]) -> Result<usize, Refused> {
    let mut labels = 0;
    let mut back = Vec::new();
    for from in 0..steps.len() {
        let instruction = steps[from].instruction;
        if instruction.op0_kind() != OpKind::NearBranch64 {
            continue;
        }
        let to = steps.binary_search_by_key(&instruction.near_branch64(), |step| step.instruction.ip());
        let Ok(to) = to else { return Err(steps[from].refused("leads out of the code")) };
        let label = *steps[to].label.get_or_insert_with(|| {
            labels += 1;
            labels - 1
        });
        steps[from].target = Some(label);
        if to <= from {
            back.push(to..=from);
            let leaves = steps.get(to + 1).is_some_and(|Step { instruction: next, .. }| {
                matches!(next.code(), Code::Jb_rel32_64 | Code::Jb_rel8_64) && next.near_branch64() > next.ip()
            });
            if !takes(&steps[to].instruction) || !leaves {
                return Err(steps[from].refused("leads back without taking from the budget"));
            }
        }
    }
    let writes =
        |step: &Step| step.writes.iter().flatten().any(|(register, _)| usize::from(*register) == LEFT.number());
    let gives = |(_, step): &(usize, &Step)| writes(step) && !takes(&step.instruction);
    let mut given = steps.iter().enumerate().filter(gives);
    match given.find(|(at, _)| back.iter().any(|looped| looped.contains(at))) {
        Some((_, step)) => Err(step.refused("gives itself a budget")),
        None => Ok(labels as usize),
    }
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
    /// What is known at labels: what all who come there agree on.
    known: Vec<Option<State>>,
    /// A jump back has led to where less is known than was thought: all is looked at again.
    again: bool,
}

impl Check<'_> {
    fn pass(&mut self, steps: &[Step]) -> Result<(), Refused> {
        // What is known, where code is reached at all.
        let (mut state, mut reached) = (State::entry(), true);
        let mut before = None;
        for step in steps {
            if let Some(label) = step.label {
                if reached {
                    self.arrive(label, &state);
                }
                let known = &self.known[label as usize];
                reached = known.is_some();
                known.iter().for_each(|known| state.clone_from(known));
                before = None;
            }
            // Nothing leads here; or what does comes later, and all is looked at once more.
            if !reached {
                continue;
            }
            reached = self.step(step, &mut state, before).map_err(|what| step.refused(what))?;
            before = Some(step.instruction.mnemonic());
        }
        match steps.last() {
            Some(last) if reached => Err(last.refused("goes on behind the end")),
            _ => Ok(()),
        }
    }

    /// Comes to a label. Returns whether less is known there now.
    fn arrive(&mut self, label: u32, state: &State) -> bool {
        match &mut self.known[label as usize] {
            Some(known) => known.meet(state),
            unknown => {
                *unknown = Some(state.clone());
                true
            }
        }
    }

    /// Jumps. What is forward is looked at later anyway.
    fn jump(&mut self, step: &Step, state: &State) -> Result<(), &'static str> {
        let changed = self.arrive(step.target.ok_or("leads to no place in the code")?, state);
        self.again |= changed && step.instruction.near_branch64() <= step.instruction.ip();
        Ok(())
    }

    /// Follows an instruction. Returns whether the one behind it is executed next, perhaps.
    fn step(&mut self, step: &Step, state: &mut State, before: Option<Mnemonic>) -> Result<bool, &'static str> {
        let instruction = &step.instruction;
        match instruction.flow_control() {
            FlowControl::Return => return self.leaves(state).map(|()| false),
            FlowControl::UnconditionalBranch => return self.jump(step, state).map(|()| false),
            FlowControl::ConditionalBranch => {
                self.jump(step, state)?;
                behind(instruction.code(), state);
                return Ok(true);
            }
            _ => {}
        }
        if instruction.mnemonic() != Mnemonic::Lea {
            self.memory(instruction, state)?;
        }
        if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
            divides(instruction, state, before)?;
        }
        let result = self.result(instruction, state);
        for (register, narrow) in step.writes.iter().flatten() {
            let register = usize::from(*register);
            state.registers[register] = if *narrow { at_most(u32::MAX.into()) } else { ANY };
            if state.flags.is_some_and(|(compared, ..)| compared == register) {
                state.flags = None;
            }
        }
        if let Some(holds) = result {
            state.registers[instruction.op0_register().full_register().number()] = holds;
        }
        if let Some(flags) = step.flags {
            state.flags = flags;
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
fn flags(step: &Instruction) -> Option<Option<Compared>> {
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
    if !matches!(code, Code::Ja_rel8_64 | Code::Ja_rel32_64 | Code::Je_rel8_64 | Code::Je_rel32_64) {
        return;
    }
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
