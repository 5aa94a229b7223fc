//! A plain interpreter: one thread at a time, one decoded instruction at a time. It supports what the kernels use.

use std::cmp::Ordering;

use isaforge_core::Unimplemented;
use isaforge_core::float::{Format, Round, fma};
use isaforge_runtime::{Launch, Memory};
use isaforge_valhall::{self as v, Condition, Instruction, ResultType, Semantics, Source, dispatch};

/// Runs a launch of one-dimensional workgroups.
pub fn run(launch: &Launch, memory: &mut Memory) {
    let program: Vec<Instruction> =
        launch.program.iter().map(|&word| isaforge_valhall::decode(word).expect("kernels decode")).collect();
    let ends: Vec<bool> = program.iter().map(|i| i.to_string().contains(".end")).collect();
    for id in 0..launch.groups[0] * launch.local_size[0] {
        let mut thread = Thread { registers: [0; 64], uniforms: &launch.uniforms, memory, pc: 0 };
        thread.registers[55] = id % launch.local_size[0];
        thread.registers[57] = id / launch.local_size[0];
        thread.registers[60] = id;
        loop {
            let pc = thread.pc;
            thread.pc += 1;
            dispatch(program[pc], &mut thread);
            if ends[pc] {
                break;
            }
        }
    }
}

struct Thread<'a> {
    registers: [u32; 64],
    uniforms: &'a [u32],
    memory: &'a mut Memory,
    pc: usize,
}

/// The empty error type of executed instructions, since missing ones panic.
struct Done;

impl From<Unimplemented> for Done {
    fn from(missing: Unimplemented) -> Self {
        panic!("{} is in no kernel", missing.mnemonic)
    }
}

impl Thread<'_> {
    fn word(&self, source: Source) -> u32 {
        match source {
            Source::Register(r) | Source::LastUse(r) => self.registers[r.index()],
            Source::Uniform(u) => self.uniforms[u.index()],
            Source::Constant(c) => c.value() as u32,
            _ => 0,
        }
    }

    fn pair(&self, source: Source) -> u64 {
        let join = |words: &[u32], i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        match source {
            Source::Register(r) | Source::LastUse(r) => join(&self.registers, r.index()),
            Source::Uniform(u) => join(self.uniforms, u.index()),
            _ => 0,
        }
    }

    fn put(&mut self, dest: v::Register, value: u32) -> Done {
        self.registers[dest.index()] = value;
        Done
    }

    fn put_long(&mut self, dest: v::Register, value: u64) -> Done {
        self.registers[dest.index()] = value as u32;
        self.registers[dest.index() + 1] = (value >> 32) as u32;
        Done
    }

    /// Shifts the first source by the second, then combines it with the third.
    fn shift(
        &mut self,
        dest: v::Register,
        shift: fn(u32, u32) -> u32,
        join: fn(u32, u32) -> u32,
        sources: [Source; 3],
    ) -> Done {
        let [a, count, b] = sources.map(|source| self.word(source));
        self.put(dest, join(shift(a, count), b))
    }
}

/// The bits of a result, with the canonical NaN.
fn result(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

/// Whether an ordering satisfies a condition; it is `None` if an operand is NaN.
fn holds(condition: Condition, order: Option<Ordering>) -> bool {
    match condition {
        Condition::Ne => !order.is_some_and(Ordering::is_eq),
        Condition::Eq => order.is_some_and(Ordering::is_eq),
        Condition::Gt => order.is_some_and(Ordering::is_gt),
        Condition::Ge => order.is_some_and(Ordering::is_ge),
        Condition::Gtlt => order.is_some_and(Ordering::is_ne),
        Condition::Lt => order.is_some_and(Ordering::is_lt),
        Condition::Le | Condition::Total => order.is_some_and(Ordering::is_le),
    }
}

fn truth(result: ResultType, holds: bool) -> u32 {
    match result {
        _ if !holds => 0,
        ResultType::M1 => u32::MAX,
        ResultType::F1 => 0x3f80_0000,
        ResultType::I1 | ResultType::U1 => 1,
    }
}

fn negated(word: u32, neg: bool) -> u32 {
    word ^ u32::from(neg) << 31
}

impl Semantics for Thread<'_> {
    type Output = Done;

    fn nop(&mut self, _: v::Nop) -> Done {
        Done
    }

    fn mov_i32(&mut self, i: v::MovI32) -> Done {
        self.put(i.dest(), self.word(i.src0()))
    }

    fn fadd_f32(&mut self, i: v::FaddF32) -> Done {
        let (a, b) = (negated(self.word(i.src0()), i.src0_neg()), negated(self.word(i.src1()), i.src1_neg()));
        self.put(i.dest(), result(f32::from_bits(a) + f32::from_bits(b)))
    }

    fn fma_f32(&mut self, i: v::FmaF32) -> Done {
        let (a, b) = (negated(self.word(i.src0()), i.src0_neg()), negated(self.word(i.src1()), i.src1_neg()));
        let c = negated(self.word(i.src2()), i.src2_neg());
        self.put(i.dest(), result(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c))))
    }

    fn fma_v2f16(&mut self, i: v::FmaV2f16) -> Done {
        let [a, b, c] = [i.src0(), i.src1(), i.src2()].map(|source| self.word(source));
        let half = |shift: u32| {
            let [a, b, c] = [a, b, c].map(|word| u64::from(word >> shift & 0xffff));
            let product = fma(Format::F16, a, b, c, Round::NearestEven) as u32;
            if product & 0x7fff > 0x7c00 { 0x7e00 } else { product }
        };
        self.put(i.dest(), half(0) | half(16) << 16)
    }

    fn u32_to_f32(&mut self, i: v::U32ToF32) -> Done {
        self.put(i.dest(), (self.word(i.src0()) as f32).to_bits())
    }

    fn fcmp_f32(&mut self, i: v::FcmpF32) -> Done {
        let [a, b, c] = [i.src0(), i.src1(), i.src2()].map(|source| self.word(source));
        let found = holds(i.cmp(), f32::from_bits(a).partial_cmp(&f32::from_bits(b)));
        let found = if i.and() { found && c != 0 } else { found || c != 0 };
        self.put(i.dest(), truth(i.result_type(), found))
    }

    fn icmp_u32(&mut self, i: v::IcmpU32) -> Done {
        let [a, b, c] = [i.src0(), i.src1(), i.src2()].map(|source| self.word(source));
        self.put(i.dest(), truth(i.result_type(), holds(i.cmp(), Some(a.cmp(&b))) || c != 0))
    }

    fn iadd_imm_i32(&mut self, i: v::IaddImmI32) -> Done {
        self.put(i.dest(), self.word(i.src0()).wrapping_add(i.constant()))
    }

    fn imul_i32(&mut self, i: v::ImulI32) -> Done {
        self.put(i.dest(), self.word(i.src0()).wrapping_mul(self.word(i.src1())))
    }

    fn iadd_u64(&mut self, i: v::IaddU64) -> Done {
        self.put_long(i.dest(), self.pair(i.src0()).wrapping_add(self.word(i.src1()).into()))
    }

    fn shaddx_u64(&mut self, i: v::ShaddxU64) -> Done {
        self.put_long(i.dest(), self.pair(i.src0()).wrapping_add(u64::from(self.word(i.src1())) << i.shift()))
    }

    fn lshift_and_i32(&mut self, i: v::LshiftAndI32) -> Done {
        self.shift(i.dest(), u32::wrapping_shl, std::ops::BitAnd::bitand, [i.src0(), i.src1(), i.src2()])
    }

    fn lshift_xor_i32(&mut self, i: v::LshiftXorI32) -> Done {
        self.shift(i.dest(), u32::wrapping_shl, std::ops::BitXor::bitxor, [i.src0(), i.src1(), i.src2()])
    }

    fn rshift_xor_i32(&mut self, i: v::RshiftXorI32) -> Done {
        self.shift(i.dest(), u32::wrapping_shr, std::ops::BitXor::bitxor, [i.src0(), i.src1(), i.src2()])
    }

    fn rshift_or_i32(&mut self, i: v::RshiftOrI32) -> Done {
        self.shift(i.dest(), u32::wrapping_shr, std::ops::BitOr::bitor, [i.src0(), i.src1(), i.src2()])
    }

    fn branchz(&mut self, i: v::Branchz) -> Done {
        if (self.word(i.src0()) != 0) != i.eq() {
            self.pc = self.pc.wrapping_add_signed(i.offset() as isize);
        }
        Done
    }

    fn load_i32(&mut self, i: v::LoadI32) -> Done {
        let mut bytes = [0; 4];
        self.memory.read(self.pair(i.src0()), &mut bytes).expect("it is mapped");
        self.registers[usize::from(i.sr().first)] = u32::from_le_bytes(bytes);
        Done
    }

    fn store_i32(&mut self, i: v::StoreI32) -> Done {
        let word = self.registers[usize::from(i.sr().first)];
        self.memory.write(self.pair(i.src0()), &word.to_le_bytes()).expect("it is mapped");
        Done
    }
}
