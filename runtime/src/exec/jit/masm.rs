//! Assembles x86-64 instructions, with labels.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock, MemoryOperand, Register,
};

use super::listing::Marks;
use isaforge_core::semantics::Comparison;
use rustc_hash::FxHashMap;

/// A jump target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Label(u64);

/// A condition on the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flags {
    /// Equal.
    E,
    /// Not equal.
    Ne,
    /// Below, unsigned.
    B,
    /// Below or equal.
    Be,
    /// Above.
    A,
    /// Above or equal.
    Ae,
    /// Less, signed.
    L,
    /// Less or equal.
    Le,
    /// Greater.
    G,
    /// Greater or equal.
    Ge,
}

impl Flags {
    /// Returns the condition that a comparison of integers sets.
    pub fn of(how: Comparison, signed: bool) -> Flags {
        match (how, signed) {
            (Comparison::NotEqual, _) => Flags::Ne,
            (Comparison::Less, true) => Flags::L,
            (Comparison::Less, false) => Flags::B,
            (Comparison::LessEqual, true) => Flags::Le,
            (Comparison::LessEqual, false) => Flags::Be,
            _ => Flags::E,
        }
    }

    /// Returns the opposite condition.
    pub fn not(self) -> Flags {
        use Flags::*;
        match self {
            E => Ne,
            Ne => E,
            B => Ae,
            Ae => B,
            Be => A,
            A => Be,
            L => Ge,
            Ge => L,
            Le => G,
            G => Le,
        }
    }

    /// Returns the condition for the comparison with its sides exchanged.
    pub fn exchanged(self) -> Flags {
        use Flags::*;
        match self {
            B => A,
            A => B,
            Be => Ae,
            Ae => Be,
            L => G,
            G => L,
            Le => Ge,
            Ge => Le,
            same => same,
        }
    }

    /// The instructions that jump, set a byte, and move 32 or 64 bits if the condition holds.
    fn codes(self) -> [Code; 4] {
        use Flags::*;
        match self {
            E => [Code::Je_rel32_64, Code::Sete_rm8, Code::Cmove_r32_rm32, Code::Cmove_r64_rm64],
            Ne => [Code::Jne_rel32_64, Code::Setne_rm8, Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64],
            B => [Code::Jb_rel32_64, Code::Setb_rm8, Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64],
            Be => [Code::Jbe_rel32_64, Code::Setbe_rm8, Code::Cmovbe_r32_rm32, Code::Cmovbe_r64_rm64],
            A => [Code::Ja_rel32_64, Code::Seta_rm8, Code::Cmova_r32_rm32, Code::Cmova_r64_rm64],
            Ae => [Code::Jae_rel32_64, Code::Setae_rm8, Code::Cmovae_r32_rm32, Code::Cmovae_r64_rm64],
            L => [Code::Jl_rel32_64, Code::Setl_rm8, Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64],
            Le => [Code::Jle_rel32_64, Code::Setle_rm8, Code::Cmovle_r32_rm32, Code::Cmovle_r64_rm64],
            G => [Code::Jg_rel32_64, Code::Setg_rm8, Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64],
            Ge => [Code::Jge_rel32_64, Code::Setge_rm8, Code::Cmovge_r32_rm32, Code::Cmovge_r64_rm64],
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A register, named by its 64 bits.
    Register(Register),
    /// A sign-extended immediate.
    Number(i32),
    /// 64 bits in memory, or their lower half.
    Memory(Register, i32),
}

/// An operation with two operands, the first of which is also the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// Bits set in both.
    And,
    /// Bits set in either.
    Or,
    /// Bits set in exactly one.
    Xor,
    /// The difference, for its flags only.
    Cmp,
}

impl Binary {
    /// The codes with a register or memory, and with an immediate, each in 32 and in 64 bits.
    fn codes(self) -> [[Code; 2]; 2] {
        match self {
            Binary::Add => [[Code::Add_r32_rm32, Code::Add_r64_rm64], [Code::Add_rm32_imm32, Code::Add_rm64_imm32]],
            Binary::Sub => [[Code::Sub_r32_rm32, Code::Sub_r64_rm64], [Code::Sub_rm32_imm32, Code::Sub_rm64_imm32]],
            Binary::And => [[Code::And_r32_rm32, Code::And_r64_rm64], [Code::And_rm32_imm32, Code::And_rm64_imm32]],
            Binary::Or => [[Code::Or_r32_rm32, Code::Or_r64_rm64], [Code::Or_rm32_imm32, Code::Or_rm64_imm32]],
            Binary::Xor => [[Code::Xor_r32_rm32, Code::Xor_r64_rm64], [Code::Xor_rm32_imm32, Code::Xor_rm64_imm32]],
            Binary::Cmp => [[Code::Cmp_r32_rm32, Code::Cmp_r64_rm64], [Code::Cmp_rm32_imm32, Code::Cmp_rm64_imm32]],
        }
    }

    /// The codes with an immediate of one byte.
    fn short(self) -> [Code; 2] {
        match self {
            Binary::Add => [Code::Add_rm32_imm8, Code::Add_rm64_imm8],
            Binary::Sub => [Code::Sub_rm32_imm8, Code::Sub_rm64_imm8],
            Binary::And => [Code::And_rm32_imm8, Code::And_rm64_imm8],
            Binary::Or => [Code::Or_rm32_imm8, Code::Or_rm64_imm8],
            Binary::Xor => [Code::Xor_rm32_imm8, Code::Xor_rm64_imm8],
            Binary::Cmp => [Code::Cmp_rm32_imm8, Code::Cmp_rm64_imm8],
        }
    }
}

/// Returns the name of a register's lower half.
pub fn low(register: Register) -> Register {
    Register::EAX + register.number() as u32
}

/// Returns the name of a register's lowest byte.
pub fn byte(register: Register) -> Register {
    const BYTES: [Register; 8] = [
        Register::AL,
        Register::CL,
        Register::DL,
        Register::BL,
        Register::SPL,
        Register::BPL,
        Register::SIL,
        Register::DIL,
    ];
    match register.number() {
        number @ 0..8 => BYTES[number],
        number => Register::R8L + (number as u32 - 8),
    }
}

fn sized(register: Register, wide: bool) -> Register {
    if wide { register } else { low(register) }
}

/// A memory operand.
pub fn at(base: Register, displacement: i32) -> MemoryOperand {
    let size = if displacement == 0 { 0 } else { 1 };
    MemoryOperand::new(base, Register::None, 1, displacement.into(), size, false, Register::None)
}

/// A memory operand with an index register.
pub fn indexed(base: Register, index: Register) -> MemoryOperand {
    MemoryOperand::new(base, index, 1, 0, 0, false, Register::None)
}

/// The code so far. Encoding errors are reported by [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct Masm {
    list: Vec<Instruction>,
    labels: u64,
    /// Labels of the next instruction, and the targets of the known labels.
    pending: Vec<Label>,
    places: FxHashMap<Label, u64>,
    failed: Option<IcedError>,
    /// The indices at which the code of another instruction of the program begins, each with its address.
    pub marks: Marks,
}

impl Masm {
    /// Creates a label.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.pending.push(label);
    }

    /// Assigns the code that follows to the instruction at an address, or to none.
    pub fn mark(&mut self, pc: Option<u64>) {
        self.marks.push((self.list.len(), pc));
    }

    fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        match instruction {
            Ok(mut instruction) => {
                if let Some(first) = self.pending.first().copied() {
                    instruction.set_ip(first.0);
                    self.places.extend(self.pending.drain(..).map(|label| (label, first.0)));
                }
                self.list.push(instruction);
            }
            Err(error) => _ = self.failed.get_or_insert(error),
        }
    }

    /// Emits an operation whose result is in `to`.
    pub fn binary(&mut self, op: Binary, wide: bool, to: Register, from: Source) {
        let [general, number] = op.codes();
        let to = sized(to, wide);
        let at_width = usize::from(wide);
        self.push(match from {
            Source::Register(from) => Instruction::with2(general[at_width], to, sized(from, wide)),
            Source::Memory(base, displacement) => Instruction::with2(general[at_width], to, at(base, displacement)),
            Source::Number(number) if i8::try_from(number).is_ok() => {
                Instruction::with2(op.short()[at_width], to, number)
            }
            Source::Number(value) => Instruction::with2(number[at_width], to, value),
        });
    }

    /// Sets the flags as a comparison with zero does.
    pub fn test(&mut self, wide: bool, register: Register) {
        let code = if wide { Code::Test_rm64_r64 } else { Code::Test_rm32_r32 };
        let register = sized(register, wide);
        self.push(Instruction::with2(code, register, register));
    }

    /// Copies a register.
    pub fn mov(&mut self, wide: bool, to: Register, from: Register) {
        if to != from || !wide {
            let code = if wide { Code::Mov_r64_rm64 } else { Code::Mov_r32_rm32 };
            self.push(Instruction::with2(code, sized(to, wide), sized(from, wide)));
        }
    }

    /// Loads a number into a register. The flags do not change.
    pub fn number(&mut self, to: Register, number: u64) {
        self.push(match (u32::try_from(number), i32::try_from(number as i64)) {
            (Ok(number), _) => Instruction::with2(Code::Mov_r32_imm32, low(to), number),
            (_, Ok(number)) => Instruction::with2(Code::Mov_rm64_imm32, to, number),
            _ => Instruction::with2(Code::Mov_r64_imm64, to, number),
        });
    }

    /// Loads `size` bytes, zero-extended.
    pub fn load(&mut self, size: u8, to: Register, from: MemoryOperand) {
        self.push(match size {
            1 => Instruction::with2(Code::Movzx_r32_rm8, low(to), from),
            2 => Instruction::with2(Code::Movzx_r32_rm16, low(to), from),
            4 => Instruction::with2(Code::Mov_r32_rm32, low(to), from),
            _ => Instruction::with2(Code::Mov_r64_rm64, to, from),
        });
    }

    /// Stores the low `size` bytes of a register.
    pub fn store(&mut self, size: u8, to: MemoryOperand, from: Register) {
        self.push(match size {
            1 => Instruction::with2(Code::Mov_rm8_r8, to, byte(from)),
            2 => Instruction::with2(Code::Mov_rm16_r16, to, Register::AX + from.number() as u32),
            4 => Instruction::with2(Code::Mov_rm32_r32, to, low(from)),
            _ => Instruction::with2(Code::Mov_rm64_r64, to, from),
        });
    }

    /// Stores the low `size` bytes of a number.
    pub fn store_number(&mut self, size: u8, to: MemoryOperand, number: i32) {
        self.push(match size {
            1 => Instruction::with2(Code::Mov_rm8_imm8, to, i32::from(number as u8)),
            2 => Instruction::with2(Code::Mov_rm16_imm16, to, i32::from(number as u16)),
            4 => Instruction::with2(Code::Mov_rm32_imm32, to, number),
            _ => Instruction::with2(Code::Mov_rm64_imm32, to, number),
        });
    }

    /// Computes the sum of a register, perhaps another register, and a number.
    pub fn lea(&mut self, wide: bool, to: Register, base: Register, index: Option<Register>, displacement: i32) {
        let code = if wide { Code::Lea_r64_m } else { Code::Lea_r32_m };
        let index = index.unwrap_or(Register::None);
        let size = u32::from(displacement != 0);
        let from = MemoryOperand::new(base, index, 1, displacement.into(), size, false, Register::None);
        self.push(Instruction::with2(code, sized(to, wide), from));
    }

    /// Multiplies `to` by a register.
    pub fn multiply(&mut self, wide: bool, to: Register, from: Register) {
        let code = if wide { Code::Imul_r64_rm64 } else { Code::Imul_r32_rm32 };
        self.push(Instruction::with2(code, sized(to, wide), sized(from, wide)));
    }

    /// Multiplies a register by a number.
    pub fn multiply_by(&mut self, wide: bool, to: Register, from: Register, number: i32) {
        let code = if wide { Code::Imul_r64_rm64_imm32 } else { Code::Imul_r32_rm32_imm32 };
        self.push(Instruction::with3(code, sized(to, wide), sized(from, wide), number));
    }

    /// Emits an instruction with one operand.
    pub fn unary(&mut self, code: Code, operand: Register) {
        self.push(Instruction::with1(code, operand));
    }

    /// Emits an instruction with two operands.
    pub fn two(&mut self, code: Code, to: Register, from: Register) {
        self.push(Instruction::with2(code, to, from));
    }

    /// Emits an instruction with a register and a count.
    pub fn count(&mut self, code: Code, to: Register, count: u32) {
        self.push(Instruction::with2(code, to, count));
    }

    /// Emits an instruction with three operands.
    pub fn three(&mut self, code: Code, to: Register, from: Register, with: Register) {
        self.push(Instruction::with3(code, to, from, with));
    }

    /// Emits an instruction without operands.
    pub fn plain(&mut self, code: Code) {
        self.push(Ok(Instruction::with(code)));
    }

    /// Sets a register to 1 if the condition holds, else to 0.
    pub fn set(&mut self, flags: Flags, to: Register) {
        self.push(Instruction::with1(flags.codes()[1], byte(to)));
        self.push(Instruction::with2(Code::Movzx_r32_rm8, low(to), byte(to)));
    }

    /// Copies a register if the condition holds.
    pub fn mov_if(&mut self, flags: Flags, wide: bool, to: Register, from: Register) {
        let code = flags.codes()[if wide { 3 } else { 2 }];
        self.push(Instruction::with2(code, sized(to, wide), sized(from, wide)));
    }

    /// Jumps if the condition holds.
    pub fn jump_if(&mut self, flags: Flags, to: Label) {
        self.push(Instruction::with_branch(flags.codes()[0], to.0));
    }

    /// Jumps.
    pub fn jump(&mut self, to: Label) {
        self.push(Instruction::with_branch(Code::Jmp_rel32_64, to.0));
    }

    /// Returns the bytes, and the offsets of the marks in them. `None` if an instruction cannot be encoded.
    pub fn finish(mut self) -> Option<(Vec<u8>, Marks)> {
        if self.failed.is_some() || !self.pending.is_empty() {
            return None;
        }
        for instruction in &mut self.list {
            if instruction.op_count() == 1 && instruction.op0_kind() == iced_x86::OpKind::NearBranch64 {
                let to = self.places.get(&Label(instruction.near_branch64())).copied()?;
                instruction.set_near_branch64(to);
            }
        }
        let block = InstructionBlock::new(&self.list, 0);
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let result = BlockEncoder::encode(64, block, options).ok()?;
        let offsets = &result.new_instruction_offsets;
        let place = |at: usize| offsets.get(at).map_or(result.code_buffer.len(), |offset| *offset as usize);
        let marks = self.marks.iter().map(|(at, pc)| (place(*at), *pc)).collect();
        Some((result.code_buffer, marks))
    }
}
