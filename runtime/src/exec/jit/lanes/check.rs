//! Machine code is checked before it may be executed: decoded again, and held to what [`function`](super::function) promises.
//!
//! What is checked does not come from what made it. Of each instruction it is known which registers point where: a
//! register points to a window as long as nothing else is written to it, and the place in it is a constant, or a constant
//! and the column of a warp. Code for which that cannot be seen is refused, and handlers are executed in its place.

use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use thiserror::Error;

use super::emit::{Emitted, FlowState, State, Times};
use super::row;
use crate::level::Level;

/// What code may reach, besides the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block: the active lanes, pointers to places in memory, the lanes that jump, and how often it may be executed.
    Block,
    /// A loop that executes so many warps side by side: its state.
    Loop(usize),
    /// A region whose lanes all go the same way: its state.
    Flow,
}

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

/// What a general register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// A number.
    Number,
    /// The place of a warp's column in a row: those of a loop over all warps, by constants.
    Column,
    /// The same of any warp.
    AnyColumn,
    /// The number of a warp.
    Warp,
    /// An address in the code where an instruction begins.
    Target,
    Rows,
    Active,
    Pointers,
    /// One of the places in memory.
    Place(u16),
    Jumps,
    Times,
    State,
}

/// The general registers, by their number.
type Registers = [Holds; 16];

/// Bytes of a vector register.
const COLUMN: u64 = row::COLUMN as u64;

fn number(register: Register) -> usize {
    register.full_register().number()
}

impl Kind {
    /// What the caller puts into registers.
    fn entry(self) -> Registers {
        let mut registers = [Holds::Number; 16];
        let given: &[(Register, Holds)] = match self {
            Kind::Block => &[
                (Register::RDI, Holds::Rows),
                (Register::RSI, Holds::Active),
                (Register::RCX, Holds::Pointers),
                (Register::R8, Holds::Jumps),
                (Register::R9, Holds::Times),
            ],
            Kind::Flow => &[(Register::RDI, Holds::Rows), (Register::RSI, Holds::State)],
            Kind::Loop(_) => {
                &[(Register::RDI, Holds::Rows), (Register::RSI, Holds::State), (Register::RDX, Holds::AnyColumn)]
            }
        };
        for (register, holds) in given {
            registers[number(*register)] = *holds;
        }
        registers
    }
}

/// What a level says that the processor has, besides what every processor of 64 bits has.
#[derive(Clone, Copy)]
struct Extensions {
    avx2: bool,
    avx512: bool,
}

impl Extensions {
    fn of(level: Level) -> Self {
        Extensions { avx2: level.name() != "portable", avx512: level.name() == "avx512" }
    }

    fn has(self, feature: CpuidFeature) -> bool {
        use CpuidFeature as F;
        match feature {
            F::INTEL8086
            | F::INTEL186
            | F::INTEL286
            | F::INTEL386
            | F::INTEL486
            | F::X64
            | F::CMOV
            | F::SSE
            | F::SSE2 => true,
            F::AVX | F::AVX2 | F::FMA | F::F16C | F::BMI1 | F::BMI2 | F::LZCNT | F::POPCNT => self.avx2,
            F::AVX512F | F::AVX512BW | F::AVX512DQ | F::AVX512VL => self.avx512,
            _ => false,
        }
    }
}

/// An instruction, and what can be said of it wherever it stands.
#[derive(Default)]
struct Step {
    instruction: Instruction,
    /// The general register that it writes.
    writes: Option<u8>,
    /// Whether one of its operands is in memory.
    reaches: bool,
    /// Whether the next instruction follows it, always or sometimes.
    continues: bool,
    /// Which label stands before it.
    label: Option<u32>,
    /// Which label it leads to, or loads.
    target: Option<u32>,
}

impl Step {
    fn look(&mut self, extensions: Extensions) -> Result<(), &'static str> {
        let instruction = &self.instruction;
        if instruction.is_invalid() {
            return Err("is no instruction");
        }
        if !instruction.cpuid_features().iter().all(|feature| extensions.has(*feature)) {
            return Err("needs a processor that this one is not known to be");
        }
        let flow = instruction.flow_control();
        match flow {
            FlowControl::Return if instruction.code() == Code::Retnq => {}
            FlowControl::Next if instruction.is_stack_instruction() => return Err("touches the stack"),
            FlowControl::Next
            | FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch => {}
            _ => return Err("leaves the code"),
        }
        self.writes = writes(instruction, flow)?;
        self.reaches = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
        self.continues = matches!(flow, FlowControl::Next | FlowControl::ConditionalBranch);
        Ok(())
    }
}

/// The general register that an instruction writes, none of which writes two. Instructions that are not listed may do what
/// their operands do not show.
fn writes(instruction: &Instruction, flow: FlowControl) -> Result<Option<u8>, &'static str> {
    use Mnemonic as M;
    let first = instruction.op0_register();
    match instruction.mnemonic() {
        // Vectors and masks.
        _ if instruction.encoding() == EncodingKind::EVEX || first.is_k() => {}
        M::Cmp | M::Test | M::Vzeroupper | M::Ret => return Ok(None),
        _ if flow != FlowControl::Next => return Ok(None),
        M::Kmovw | M::Kmovd | M::Kmovq => {}
        M::Mov
        | M::Movzx
        | M::Lea
        | M::Add
        | M::Sub
        | M::Sbb
        | M::Dec
        | M::Neg
        | M::Not
        | M::And
        | M::Or
        | M::Xor
        | M::Shl
        | M::Shr
        | M::Tzcnt
        | M::Popcnt
        | M::Blsr
            if is_general(instruction) => {}
        M::Imul if is_general(instruction) && instruction.op_count() > 1 => {}
        _ => return Err("is none of those that are known"),
    }
    if !first.is_gpr() {
        return Ok(None);
    }
    let to = first.full_register();
    if matches!(to, Register::RSP | Register::RBP | Register::RBX) || (Register::R12..=Register::R15).contains(&to) {
        return Err("writes a register of the caller");
    }
    Ok(Some(number(to) as u8))
}

/// Whether all registers that are operands are general ones: others change how the processor works.
fn is_general(instruction: &Instruction) -> bool {
    (0..instruction.op_count().min(2))
        .all(|operand| instruction.op_kind(operand) != OpKind::Register || instruction.op_register(operand).is_gpr())
}

/// The checker on its way through the code.
struct Check<'a> {
    emitted: &'a Emitted,
    kind: Kind,
    registers: Registers,
    /// What registers hold at labels, as far as it is known: what all who come there agree on.
    labels: Vec<Option<Registers>>,
    /// The labels that were loaded into a register.
    loaded: Vec<(u64, u32)>,
    /// Where the place of a column grows, and by how much.
    latches: Vec<(u64, u64)>,
    /// How often the current loop over warps goes round, and how much further the column is each time.
    rounds: u64,
    stride: u64,
    /// A jump back has led to where less is known than was thought: all is looked at again.
    again: bool,
}

/// Checks code.
///
/// # Errors
/// The first instruction that may do what it must not.
pub fn check(emitted: &Emitted, kind: Kind, level: Level) -> Result<(), Refused> {
    let extensions = Extensions::of(level);
    let mut decoder = Decoder::with_ip(64, emitted.code(), 0, DecoderOptions::NONE);
    let mut steps = Vec::with_capacity(emitted.code().len() / 4);
    while decoder.can_decode() {
        // In its place, for it is large.
        let step = steps.push_mut(Step::default());
        decoder.decode_out(&mut step.instruction);
        step.look(extensions).map_err(|what| refused(&step.instruction, what))?;
    }
    let (labels, latches) = link(&mut steps)?;
    let registers = kind.entry();
    let labels = vec![None; labels];
    let mut check =
        Check { emitted, kind, registers, labels, loaded: vec![], latches, rounds: 1, stride: 0, again: true };
    // Each time some label knows less; there is not much to know.
    while check.again {
        (check.again, check.registers) = (false, kind.entry());
        check.pass(&steps)?;
    }
    Ok(())
}

/// Numbers the labels of the code. Returns how many there are, and where the place of a column grows, and by how much.
fn link(steps: &mut [Step]) -> Result<(usize, Vec<(u64, u64)>), Refused> {
    let mut latches = Vec::new();
    let mut targets = Vec::new();
    for (index, Step { instruction, .. }) in steps.iter().enumerate() {
        targets.extend(target(instruction).map(|target| (target, index)));
        let adds = matches!(instruction.code(), Code::Add_rm64_imm32 | Code::Add_rm64_imm8);
        if adds && instruction.op0_register() == Register::RAX {
            latches.push((instruction.ip(), instruction.immediate(1)));
        }
    }
    let mut labels = 0u32;
    for (target, from) in targets {
        let at = steps.binary_search_by_key(&target, |step| step.instruction.ip());
        let Ok(at) = at else { return Err(refused(&steps[from].instruction, "leads out of the code")) };
        let label = *steps[at].label.get_or_insert_with(|| {
            labels += 1;
            labels - 1
        });
        steps[from].target = Some(label);
    }
    Ok((labels as usize, latches))
}

fn refused(instruction: &Instruction, what: &'static str) -> Refused {
    Refused { at: instruction.ip(), code: instruction.code(), what }
}

/// Where an instruction leads, or what it loads to lead there.
fn target(instruction: &Instruction) -> Option<u64> {
    match instruction.code() {
        Code::Lea_r64_m if instruction.is_ip_rel_memory_operand() => Some(instruction.ip_rel_memory_address()),
        _ if instruction.op0_kind() == OpKind::NearBranch64 => Some(instruction.near_branch64()),
        _ => None,
    }
}

/// What two ways to the same place agree on.
fn both(one: Registers, other: Registers) -> Registers {
    std::array::from_fn(|register| if one[register] == other[register] { one[register] } else { Holds::Number })
}

impl Check<'_> {
    /// Looks at all instructions in order.
    fn pass(&mut self, steps: &[Step]) -> Result<(), Refused> {
        let mut reached = true;
        for step in steps {
            if let Some(label) = step.label {
                let known = &mut self.labels[label as usize];
                self.registers = match (reached, *known) {
                    (true, Some(known)) => both(self.registers, known),
                    (false, Some(known)) => known,
                    (_, None) => self.registers,
                };
                reached |= known.is_some();
                *known = reached.then_some(self.registers);
            }
            // Nothing leads there; or what does comes later, and all is looked at once more.
            if !reached {
                continue;
            }
            self.step(step).map_err(|what| refused(&step.instruction, what))?;
            reached = step.continues;
        }
        match steps.last() {
            Some(last) if reached => Err(refused(&last.instruction, "goes on behind the end")),
            _ => Ok(()),
        }
    }

    /// Jumps to a label, forward or back.
    fn leave(&mut self, from: u64, to: u64, label: u32) {
        let known = &mut self.labels[label as usize];
        let agreed = known.map_or(self.registers, |known| both(known, self.registers));
        self.again |= to <= from && *known != Some(agreed);
        *known = Some(agreed);
    }

    fn step(&mut self, step: &Step) -> Result<(), &'static str> {
        let instruction = &step.instruction;
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let label = step.target.ok_or("leads to no place in the code")?;
                self.leave(instruction.ip(), instruction.near_branch64(), label);
                return Ok(());
            }
            FlowControl::IndirectBranch => {
                let by = instruction.op0_register();
                if by == Register::None || self.registers[number(by)] != Holds::Target {
                    return Err("leads anywhere");
                }
                // To any of those that were loaded.
                for (target, label) in self.loaded.clone() {
                    self.leave(instruction.ip(), target, label);
                }
                return Ok(());
            }
            _ => {}
        }
        if step.reaches && instruction.code() != Code::Lea_r64_m {
            self.memory(instruction)?;
        }
        if let Some(to) = step.writes.map(usize::from) {
            self.registers[to] = self.result(step, self.registers[to])?;
        }
        Ok(())
    }

    /// A memory operand lies in a window.
    fn memory(&self, instruction: &Instruction) -> Result<(), &'static str> {
        if instruction.segment_prefix() != Register::None {
            return Err("names a segment");
        }
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        if !base.is_gpr64() || index != Register::None && !index.is_gpr64() {
            return Err("names an address");
        }
        let holds = |register: Register| self.registers[number(register)];
        let index = if index == Register::None { None } else { Some((holds(index), instruction.memory_index_scale())) };
        let (at, size) = (instruction.memory_displacement64(), instruction.memory_size().size() as u64);
        let within = |bytes: u64| at.checked_add(size).is_some_and(|end| size > 0 && end <= bytes);
        let (row, columns) = (self.columns() * COLUMN, self.columns());
        let fits = match (holds(base), index) {
            // Columns of a row do not reach into the next one.
            (Holds::Rows, Some((column @ (Holds::Column | Holds::AnyColumn), 1))) => {
                within(self.emitted.rows() as u64 * row) && at % row + self.behind(column) + size <= row
            }
            (Holds::Rows, None) => match self.kind {
                Kind::Flow => within(self.emitted.rows() as u64 * row) && at % row + size <= row,
                Kind::Loop(ways) => within(self.emitted.rows() as u64 * row) && at % row + size <= ways as u64 * COLUMN,
                Kind::Block => false,
            },
            (Holds::Active, None) => within(2 * columns),
            // It moves on with each round.
            (Holds::Jumps, None) => within(2 * columns / self.rounds.max(1)),
            (Holds::Active | Holds::Jumps, Some((Holds::Warp, 2))) => at == 0 && size == 2,
            (Holds::Pointers, None) => within(8 * self.emitted.places() as u64) && at % 8 == 0,
            (Holds::Place(place), Some((Holds::Column, 1))) => {
                let end = at.saturating_add(self.behind(Holds::Column) + size);
                usize::from(place) < self.emitted.places() && end <= row
            }
            (Holds::Times, None) => within(size_of::<Times>() as u64),
            (Holds::State, None) => within(match self.kind {
                Kind::Flow => size_of::<FlowState>() as u64,
                _ => size_of::<State>() as u64,
            }),
            _ => false,
        };
        if fits { Ok(()) } else { Err("reaches out of what it is given") }
    }

    /// Columns of a row.
    fn columns(&self) -> u64 {
        (self.emitted.columns() as u64).max(1)
    }

    /// How far the last column is behind the first.
    fn behind(&self, column: Holds) -> u64 {
        match column {
            Holds::Column => (self.rounds.max(1) - 1) * self.stride,
            _ => (self.columns() - 1) * COLUMN,
        }
    }

    /// What an instruction leaves in the register that it writes.
    fn result(&mut self, step: &Step, before: Holds) -> Result<Holds, &'static str> {
        let instruction = &step.instruction;
        let same = || instruction.op0_register() == instruction.op1_register();
        let held = |operand| self.registers[number(instruction.op_register(operand))];
        Ok(match (instruction.code(), before) {
            (Code::Xor_r32_rm32, _) if same() && instruction.op0_register() == Register::EAX => Holds::Column,
            (Code::Mov_r32_imm32, _) => {
                if instruction.op0_register() == Register::ECX {
                    let latch = self.latches.iter().find(|(at, _)| *at > instruction.ip());
                    (self.rounds, self.stride) =
                        (instruction.immediate32().into(), latch.map_or(0, |(_, stride)| *stride));
                    if self.rounds == 0 || self.rounds.saturating_mul(self.stride) > self.columns() * COLUMN {
                        return Err("goes on behind the last warp");
                    }
                }
                Holds::Number
            }
            (Code::Add_rm64_imm32 | Code::Add_rm64_imm8, Holds::Column) => {
                if instruction.immediate(1) == self.stride {
                    Holds::Column
                } else {
                    Holds::Number
                }
            }
            // Windows have been found for as often as that may happen, and the lanes that jump are noted anew each time.
            (Code::Add_rm64_imm32, Holds::Place(place)) => Holds::Place(place),
            (Code::Add_rm64_imm8, Holds::Jumps) if self.rounds * instruction.immediate(1) == 2 * self.columns() => {
                Holds::Jumps
            }
            (Code::Sub_rm64_imm8, Holds::Jumps) if instruction.immediate(1) == 2 * self.columns() => Holds::Jumps,
            (Code::Add_rm64_r64, Holds::Rows) if held(1) == Holds::AnyColumn => Holds::Rows,
            (Code::Mov_r64_rm64, _) if self.reads_pointer(instruction) => {
                u16::try_from(instruction.memory_displacement64() / 8).map_or(Holds::Number, Holds::Place)
            }
            (Code::Tzcnt_r32_rm32, _) => Holds::Warp,
            (Code::Imul_r32_rm32_imm8, _) if held(1) == Holds::Warp && instruction.immediate(2) == COLUMN => {
                Holds::AnyColumn
            }
            (Code::Lea_r64_m, _) => match step.target {
                Some(label) => {
                    let loaded = (instruction.ip_rel_memory_address(), label);
                    if !self.loaded.contains(&loaded) {
                        self.loaded.push(loaded);
                    }
                    Holds::Target
                }
                None => Holds::Number,
            },
            _ => Holds::Number,
        })
    }

    fn reads_pointer(&self, instruction: &Instruction) -> bool {
        instruction.op1_kind() == OpKind::Memory
            && instruction.memory_base() != Register::None
            && self.registers[number(instruction.memory_base())] == Holds::Pointers
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Encoder, MemoryOperand};

    use super::*;

    const COLUMNS: usize = 8;
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

    /// Why a block of four rows and one place is refused, if it is.
    fn block(instructions: &[Made]) -> Option<&'static str> {
        let emitted = Emitted::of(code(instructions), COLUMNS, 4, 1);
        check(&emitted, Kind::Block, Level::best()).err().map(|refused| refused.what)
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
        if !Level::best().compiles() {
            return;
        }
        let reached = Some("reaches out of what it is given");
        let warps = |operand| block(&[zero(), count(8), load(operand), step(64), ret()]);
        assert_eq!(warps(column(0)), None);
        assert_eq!(warps(column(3 * ROW)), None);
        // The row behind the last, the one before the first, and a column that is in the next row in the last round.
        assert_eq!(warps(column(4 * ROW)), reached);
        assert_eq!(warps(column(-64)), reached);
        assert_eq!(warps(column(64)), reached);
        assert_eq!(block(&[zero(), count(4), load(column(64)), step(128), ret()]), None);
        assert_eq!(block(&[zero(), count(4), load(column(128)), step(128), ret()]), reached);
        assert_eq!(block(&[zero(), count(9), load(column(0)), step(64), ret()]), Some("goes on behind the last warp"));
        // Nothing says where a register points that was computed, or was never given.
        let number = Instruction::with2(Code::Mov_r32_imm32, Register::EAX, 64u32);
        assert_eq!(block(&[zero(), count(8), number, load(column(0)), step(64), ret()]), reached);
        assert_eq!(block(&[load(MemoryOperand::with_base(Register::RBX)), ret()]), reached);
        assert_eq!(block(&[load(MemoryOperand::with_displ(0x1000, 8)), ret()]), Some("names an address"));
    }

    #[test]
    fn places_are_those_that_were_found() {
        if !Level::best().compiles() {
            return;
        }
        let pointer = |index: i64| {
            let from = MemoryOperand::with_base_displ(Register::RCX, 8 * index);
            Instruction::with2(Code::Mov_r64_rm64, Register::RSI, from)
        };
        let words = |displacement| {
            load(MemoryOperand::new(Register::RSI, Register::RAX, 1, displacement, 1, false, Register::None))
        };
        let all =
            |index, displacement| block(&[pointer(index), zero(), count(8), words(displacement), step(64), ret()]);
        assert_eq!(all(0, 0), None);
        assert_eq!(all(0, 64), Some("reaches out of what it is given"));
        assert_eq!(all(1, 0), Some("reaches out of what it is given"));
    }

    #[test]
    fn code_keeps_to_itself_and_to_what_the_processor_has() {
        if !Level::best().compiles() {
            return;
        }
        let jump = |to| Instruction::with_branch(Code::Jmp_rel32_64, to);
        assert_eq!(block(&[jump(5), ret()]), None);
        assert_eq!(block(&[jump(4), ret()]), Some("leads out of the code"));
        assert_eq!(block(&[jump(0x1000), ret()]), Some("leads out of the code"));
        assert_eq!(block(&[zero()]), Some("goes on behind the end"));
        assert_eq!(block(&[Instruction::with1(Code::Jmp_rm64, Register::RDX)]), Some("leads anywhere"));
        assert_eq!(block(&[Instruction::with1(Code::Call_rm64, Register::RDX), ret()]), Some("leaves the code"));
        assert_eq!(block(&[Ok(Instruction::with(Code::Int3)), ret()]), Some("leaves the code"));
        assert_eq!(block(&[Instruction::with1(Code::Push_r64, Register::RAX), ret()]), Some("touches the stack"));
        let saved = Instruction::with2(Code::Mov_r32_imm32, Register::EBX, 1u32);
        assert_eq!(block(&[saved, ret()]), Some("writes a register of the caller"));
        assert_eq!(block(&[Ok(Instruction::with(Code::Std)), ret()]), Some("is none of those that are known"));
        let control = Instruction::with2(Code::Mov_r64_cr, Register::RAX, Register::CR0);
        assert_eq!(block(&[control, ret()]), Some("is none of those that are known"));
        let sum =
            Instruction::with3(Code::EVEX_Vpermb_zmm_k1z_zmm_zmmm512, Register::ZMM0, Register::ZMM0, Register::ZMM0);
        assert_eq!(block(&[sum, ret()]), Some("needs a processor that this one is not known to be"));
        let add = Instruction::with3(
            Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
            Register::ZMM0,
            Register::ZMM0,
            Register::ZMM0,
        );
        let emitted = Emitted::of(code(&[add, ret()]), COLUMNS, 4, 1);
        assert!(check(&emitted, Kind::Block, Level::best()).is_ok());
        assert!(check(&emitted, Kind::Block, Level::portable()).is_err());
    }
}
