//! An instruction, and the properties it has independent of its context.

use iced_x86::{Code, CpuidFeature, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// A write to a general register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// The number of the register.
    pub(crate) register: u8,
    /// Whether only the lower half is written and the upper half becomes zero.
    pub(crate) narrow: bool,
}

/// An instruction that is followed: it does more than compute in vectors and masks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Step {
    pub(crate) instruction: Instruction,
    /// How control flow continues.
    pub(crate) flow: FlowControl,
    /// The label in front of it.
    pub(crate) label: Option<u32>,
    /// The step that it jumps to, or whose address it loads.
    pub(crate) target: Option<u32>,
    /// The general registers that it writes.
    pub(crate) writes: [Option<Write>; 2],
    /// The operand that accesses memory.
    pub(crate) memory: Option<u32>,
    /// Whether it computes only in vectors and masks, perhaps from memory. At most the flags change then.
    pub(crate) is_vector: bool,
    /// Whether the instructions between the step before and this one compute only in vectors and masks.
    pub(crate) after_vectors: bool,
}

/// The properties of all instructions with the same code.
#[derive(Clone, Copy)]
struct Facts {
    code: Code,
    flow: FlowControl,
    /// Whether it computes vectors and masks, if its registers are vectors and masks.
    computes_vectors: bool,
    operands: u32,
}

/// A cache of the properties of codes: most instructions of a function have one of a few codes.
pub(super) struct Codes([Option<Facts>; 64]);

impl Codes {
    pub(super) fn new() -> Self {
        Codes([None; 64])
    }

    /// Returns the properties that follow from an instruction's code.
    fn facts(&mut self, instruction: &Instruction, has: impl Fn(CpuidFeature) -> bool) -> Result<Facts, &'static str> {
        let code = instruction.code();
        let place = &mut self.0[code as usize % 64];
        if let Some(facts) = place.filter(|facts| facts.code == code) {
            return Ok(facts);
        }
        if instruction.is_invalid() {
            return Err("is not an instruction");
        }
        if !instruction.cpuid_features().iter().all(|feature| has(*feature)) {
            return Err("needs a feature that this processor is not known to have");
        }
        let flow = instruction.flow_control();
        match flow {
            FlowControl::Next if instruction.is_stack_instruction() => return Err("accesses the stack"),
            FlowControl::Next => {}
            FlowControl::Return if code == Code::Retnq => {}
            FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => {}
            FlowControl::UnconditionalBranch if instruction.is_jmp_short_or_near() => {}
            FlowControl::IndirectBranch if instruction.is_jmp_near_indirect() => {}
            _ => return Err("leaves the code"),
        }
        use Mnemonic as M;
        let computes_vectors = match instruction.mnemonic() {
            // These have effects that their operands do not show: the rounding mode, memory, a general register.
            M::Vldmxcsr | M::Vstmxcsr | M::Vmaskmovdqu | M::Vpcmpestri | M::Vpcmpistri => {
                return Err("is not a known instruction");
            }
            _ => matches!(instruction.encoding(), EncodingKind::EVEX | EncodingKind::VEX),
        };
        Ok(*place.insert(Facts { code, flow, computes_vectors, operands: instruction.op_count() }))
    }
}

impl Step {
    /// Determines the properties of the step. Refuses instructions that are not listed, which may have effects that
    /// their operands do not show.
    pub(super) fn look(&mut self, codes: &mut Codes, has: impl Fn(CpuidFeature) -> bool) -> Result<(), &'static str> {
        let instruction = &self.instruction;
        let facts = codes.facts(instruction, has)?;
        if instruction.has_lock_prefix()
            || instruction.has_rep_prefix()
            || instruction.has_repne_prefix()
            || instruction.segment_prefix() != Register::None
        {
            return Err("has a prefix");
        }
        (self.flow, self.memory, self.writes, self.is_vector) = (facts.flow, None, [None; 2], false);
        if self.flow != FlowControl::Next {
            return Ok(());
        }
        let (mut general, mut vectors) = (true, true);
        // A fifth operand is never a register.
        let operands = [
            (instruction.op0_kind(), instruction.op0_register()),
            (instruction.op1_kind(), instruction.op1_register()),
            (instruction.op2_kind(), instruction.op2_register()),
            (instruction.op3_kind(), instruction.op3_register()),
        ];
        for (operand, (kind, register)) in (0..facts.operands).zip(operands) {
            match kind {
                OpKind::Register => match register.is_gpr() {
                    true if register.full_register() == Register::RSP => return Err("uses the stack pointer"),
                    true => vectors = false,
                    false => general = false,
                },
                OpKind::Memory if instruction.mnemonic() != Mnemonic::Lea => self.memory = Some(operand),
                _ => {}
            }
        }
        self.is_vector = facts.computes_vectors && vectors && !general;
        if !self.is_vector {
            self.writes = writes(instruction, general)?;
        }
        Ok(())
    }

    /// Whether it writes a general register.
    pub(crate) fn writes(&self, register: Register) -> bool {
        self.writes.iter().flatten().any(|write| usize::from(write.register) == register.number())
    }
}

/// Returns the general registers that an instruction writes, at most two.
fn writes(instruction: &Instruction, general: bool) -> Result<[Option<Write>; 2], &'static str> {
    use Mnemonic as M;
    let first = instruction.op0_register();
    let write = |register: Register| {
        let register = register.is_gpr().then_some(register)?;
        Some(Write { register: register.full_register().number() as u8, narrow: register.size() == 4 })
    };
    match instruction.mnemonic() {
        // These write vectors and masks.
        _ if instruction.encoding() == EncodingKind::EVEX || first.is_k() => {}
        _ if instruction.encoding() == EncodingKind::VEX && !general => {}
        M::Vzeroupper => return Ok([None; 2]),
        // The others change the state of the processor.
        _ if !general => return Err("is not a known instruction"),
        M::Cmp | M::Test => return Ok([None; 2]),
        M::Cdq => return Ok([write(Register::EDX), None]),
        M::Cqo => return Ok([write(Register::RDX), None]),
        M::Mul | M::Div | M::Idiv => return Ok(product(instruction)),
        M::Imul if instruction.op_count() == 1 => return Ok(product(instruction)),
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Lea => {}
        M::Add | M::Sub | M::Sbb | M::Dec | M::Neg | M::Not | M::And | M::Or | M::Xor | M::Imul => {}
        M::Shl | M::Shr | M::Sar | M::Rol | M::Ror | M::Shlx | M::Shrx | M::Sarx => {}
        M::Lzcnt | M::Tzcnt | M::Popcnt | M::Blsr => {}
        M::Sete | M::Setne | M::Setb | M::Setbe | M::Seta | M::Setae | M::Setl | M::Setle | M::Setg | M::Setge => {}
        M::Cmove | M::Cmovne | M::Cmovb | M::Cmovbe | M::Cmova => {}
        M::Cmovae | M::Cmovl | M::Cmovle | M::Cmovg | M::Cmovge => {}
        _ => return Err("is not a known instruction"),
    }
    Ok([write(first), None])
}

/// The register pair that holds a product, or a quotient and its remainder.
fn product(instruction: &Instruction) -> [Option<Write>; 2] {
    let size = match instruction.op0_kind() {
        OpKind::Memory => instruction.memory_size().size(),
        _ => instruction.op0_register().size(),
    };
    [Register::RAX, Register::RDX].map(|register| Some(Write { register: register.number() as u8, narrow: size == 4 }))
}
