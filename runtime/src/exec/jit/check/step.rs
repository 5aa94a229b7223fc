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

impl Write {
    /// A write to a register, or `None` if it is not a general register.
    fn to(register: Register) -> Option<Self> {
        Some(Write { register: gpr(register)? as u8, narrow: register.is_gpr32() })
    }
}

/// Returns the number of the general register that this is, or is a part of.
#[inline]
pub(crate) fn gpr(register: Register) -> Option<usize> {
    // Most are of 32 or 64 bits. They are listed one after the other, which spares looking them up.
    let (first, end) = (Register::EAX as usize, Register::R15 as usize);
    match register as usize {
        at if (first..=end).contains(&at) => Some((at - first) % 16),
        _ => register.is_gpr().then(|| register.full_register().number()),
    }
}

/// An instruction that is followed: it does more than compute in vectors and masks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Step {
    pub(crate) instruction: Instruction,
    /// The label in front of it.
    pub(crate) label: Option<u32>,
    /// The step that it jumps to, or whose address it loads.
    pub(crate) target: Option<u32>,
    /// The general registers that it writes.
    pub(crate) writes: [Option<Write>; 2],
    /// How control flow continues.
    pub(crate) flow: FlowControl,
    /// The bytes of memory that it accesses; 0 if it accesses none.
    pub(crate) bytes: u16,
    /// Whether it computes only in vectors and masks, perhaps from memory. At most the flags change then.
    pub(crate) is_vector: bool,
    /// Whether the instructions between the step before and this one compute only in vectors and masks.
    pub(crate) after_vectors: bool,
}

/// Which general registers an instruction writes.
#[derive(Clone, Copy)]
enum Writes {
    Nothing,
    /// That of its first operand.
    First,
    /// The sign of RAX, to RDX.
    Sign,
    /// A product, or a quotient and its remainder, to RAX and RDX.
    Product,
    /// It is not listed: it may have effects that its operands do not show.
    Unknown,
}

/// The properties of all instructions with the same code.
#[derive(Clone, Copy)]
struct Facts {
    code: Code,
    flow: FlowControl,
    encoding: EncodingKind,
    writes: Writes,
    /// The bytes of an operand in memory, without and with broadcast. `None` if only its address is computed.
    bytes: Option<[u16; 2]>,
    /// Whether it is known to compute only in vectors and masks: without an operand in memory, and with one. The code
    /// and that determine the classes of all registers.
    is_vector: [bool; 2],
    /// What the processor must support: a bit for each of [`FEATURES`].
    needs: u32,
}

/// The number of RSP.
const STACK: usize = 4;

const LACKS: &str = "needs a feature that this processor is not known to have";

/// The features that code may need.
const FEATURES: [CpuidFeature; 22] = {
    use CpuidFeature as F;
    [
        F::INTEL8086,
        F::INTEL186,
        F::INTEL286,
        F::INTEL386,
        F::INTEL486,
        F::X64,
        F::CMOV,
        F::SSE,
        F::SSE2,
        F::AVX,
        F::AVX2,
        F::FMA,
        F::F16C,
        F::BMI1,
        F::BMI2,
        F::LZCNT,
        F::POPCNT,
        F::AVX512F,
        F::AVX512BW,
        F::AVX512DQ,
        F::AVX512VL,
        F::AVX512_FP16,
    ]
};

/// Returns the features that a processor lacks, as bits of [`FEATURES`].
pub(super) fn lacking(has: impl Fn(CpuidFeature) -> bool) -> u32 {
    FEATURES.iter().enumerate().fold(0, |all, (bit, feature)| all | u32::from(!has(*feature)) << bit)
}

/// A cache of the properties of codes: most functions are made of the same few.
pub(super) struct Codes(Box<[Option<Facts>; Codes::PLACES]>);

impl Default for Codes {
    fn default() -> Self {
        Codes(Box::new([None; Codes::PLACES]))
    }
}

impl Codes {
    const PLACES: usize = 1024;

    /// Returns the properties that follow from an instruction's code.
    #[inline(always)]
    fn facts(&mut self, instruction: &Instruction) -> Result<&mut Facts, &'static str> {
        let code = instruction.code();
        let place = &mut self.0[code as usize % Self::PLACES];
        match place {
            Some(facts) if facts.code == code => {}
            _ => *place = Some(Facts::of(instruction)?),
        }
        place.as_mut().ok_or("is not an instruction")
    }
}

impl Facts {
    #[cold]
    fn of(instruction: &Instruction) -> Result<Self, &'static str> {
        if instruction.is_invalid() {
            return Err("is not an instruction");
        }
        let code = instruction.code();
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
        let needs = instruction.cpuid_features().iter().try_fold(0, |all, feature| {
            let bit = FEATURES.iter().position(|known| known == feature)?;
            Some(all | 1 << bit)
        });
        let needs = needs.ok_or(LACKS)?;
        use Mnemonic as M;
        let mnemonic = instruction.mnemonic();
        let writes = match mnemonic {
            // These have effects that their operands do not show: the rounding mode, memory, a general register.
            M::Vldmxcsr | M::Vstmxcsr | M::Vmaskmovdqu | M::Vpcmpestri | M::Vpcmpistri => {
                return Err("is not a known instruction");
            }
            M::Cmp | M::Test | M::Vzeroupper => Writes::Nothing,
            M::Cdq | M::Cqo => Writes::Sign,
            M::Mul | M::Div | M::Idiv => Writes::Product,
            M::Imul if instruction.op_count() == 1 => Writes::Product,
            M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Lea => Writes::First,
            M::Add | M::Sub | M::Sbb | M::Dec | M::Neg | M::Not | M::And | M::Or | M::Xor | M::Imul => Writes::First,
            M::Shl | M::Shr | M::Sar | M::Rol | M::Ror | M::Shlx | M::Shrx | M::Sarx => Writes::First,
            M::Lzcnt | M::Tzcnt | M::Popcnt | M::Blsr => Writes::First,
            M::Sete | M::Setne | M::Setb | M::Setbe | M::Seta => Writes::First,
            M::Setae | M::Setl | M::Setle | M::Setg | M::Setge => Writes::First,
            M::Cmove | M::Cmovne | M::Cmovb | M::Cmovbe | M::Cmova => Writes::First,
            M::Cmovae | M::Cmovl | M::Cmovle | M::Cmovg | M::Cmovge => Writes::First,
            _ => Writes::Unknown,
        };
        let bytes = [false, true].map(|broadcasts| {
            let mut like = *instruction;
            like.set_is_broadcast(broadcasts);
            like.memory_size().size() as u16
        });
        let (encoding, bytes) = (instruction.encoding(), (mnemonic != M::Lea).then_some(bytes));
        Ok(Facts { code, flow, encoding, writes, bytes, is_vector: [false; 2], needs })
    }
}

impl Step {
    /// Determines the properties of the step, and what the processor must support: a bit for each of [`FEATURES`].
    /// Refuses instructions that are not listed, which may have effects that their operands do not show, or need what
    /// the processor [lacks](lacking).
    #[inline(always)]
    pub(super) fn look(&mut self, codes: &mut Codes, lacking: u32) -> Result<u32, &'static str> {
        let instruction = &self.instruction;
        let facts = codes.facts(instruction)?;
        let needs = facts.needs;
        if needs & lacking != 0 {
            return Err(LACKS);
        }
        if instruction.has_lock_prefix()
            || instruction.has_rep_prefix()
            || instruction.has_repne_prefix()
            || instruction.segment_prefix() != Register::None
        {
            return Err("has a prefix");
        }
        (self.flow, self.bytes, self.writes, self.is_vector) = (facts.flow, 0, [None; 2], false);
        if self.flow != FlowControl::Next {
            return Ok(needs);
        }
        // A fifth operand is never a register or memory. Operands that are no registers have none. The decoder has just
        // written the kinds one by one, so that the processor would have to wait before it could read them at once.
        let is_memory = |kind| kind == OpKind::Memory;
        let accesses = is_memory(instruction.op0_kind())
            || is_memory(instruction.op1_kind())
            || is_memory(instruction.op2_kind())
            || is_memory(instruction.op3_kind());
        if let Some(bytes) = facts.bytes
            && accesses
        {
            self.bytes = bytes[usize::from(instruction.is_broadcast())];
            if self.bytes == 0 {
                return Err("accesses memory of unknown size");
            }
        }
        let in_memory = usize::from(self.bytes > 0);
        self.is_vector = facts.is_vector[in_memory];
        if self.is_vector {
            return Ok(needs);
        }
        let first = instruction.op0_register();
        let registers = [first, instruction.op1_register(), instruction.op2_register(), instruction.op3_register()];
        let vectors = registers.iter().all(|register| !register.is_gpr());
        let general = registers.iter().all(|register| *register == Register::None || register.is_gpr());
        if !vectors && registers.iter().any(|register| gpr(*register) == Some(STACK)) {
            return Err("uses the stack pointer");
        }
        let (evex, vex) = (facts.encoding == EncodingKind::EVEX, facts.encoding == EncodingKind::VEX);
        self.is_vector = (evex || vex) && vectors && !general;
        if self.is_vector {
            facts.is_vector[in_memory] = true;
            return Ok(needs);
        }
        match facts.writes {
            // These write vectors and masks, or move from them.
            _ if evex || first.is_k() || vex && !general => self.writes[0] = Write::to(first),
            Writes::Nothing => {}
            // The others change the state of the processor.
            _ if !general => return Err("is not a known instruction"),
            Writes::First => self.writes[0] = Write::to(first),
            Writes::Sign if facts.code == Code::Cdq => self.writes[0] = Write::to(Register::EDX),
            Writes::Sign => self.writes[0] = Write::to(Register::RDX),
            Writes::Product => {
                let narrow = match instruction.op0_kind() {
                    OpKind::Memory => self.bytes == 4,
                    _ => first.size() == 4,
                };
                self.writes = [Register::RAX, Register::RDX]
                    .map(|register| Some(Write { register: register.number() as u8, narrow }));
            }
            Writes::Unknown => return Err("is not a known instruction"),
        }
        Ok(needs)
    }

    /// Whether it writes a general register.
    pub(crate) fn writes(&self, register: Register) -> bool {
        self.writes.iter().flatten().any(|write| usize::from(write.register) == register.number())
    }
}
