//! Selects the host instructions that compute a value.

use iced_x86::{Code, Register};
use isaforge_core::semantics::{Class, Comparison, Op as Pure};

use super::feature::Features;
use super::masm::{Binary, Flags, Masm, Source, byte, low};
use super::regalloc::Values;
use crate::exec::ir::{Node, Op, Value};

/// Selects instructions for the values of a block.
pub struct Select<'a, 'b> {
    /// The code.
    pub masm: &'b mut Masm,
    /// The locations of values.
    pub values: &'b mut Values<'a>,
    /// What the processor supports.
    pub features: Features,
}

impl Select<'_, '_> {
    fn node(&self, value: Value) -> Node {
        self.values.graph().node(value)
    }

    /// Returns a value as an operand, loaded into a register if necessary.
    fn source(&mut self, value: Value, wide: bool, but: &[Register]) -> Source {
        match self.values.source(value, wide) {
            Some(source) => source,
            None => Source::Register(self.values.in_register(self.masm, value, but)),
        }
    }

    /// Counts a use of a value.
    pub fn used(&mut self, value: Value) {
        self.values.used(value);
    }

    /// Counts a use of a condition: if it is a comparison, a use of the compared values.
    pub fn used_flags(&mut self, condition: Value) {
        let node = self.node(condition);
        match node.op {
            Op::Pure(Pure::Compare, _) => node.args().for_each(|argument| self.used(argument)),
            _ => self.used(condition),
        }
    }

    /// Returns the register for a result: the home in `hint` if it is free, or else a register for values.
    pub fn result(&mut self, hint: Option<Register>, but: &[Register]) -> Register {
        match hint {
            Some(home) if self.values.is_free(home) && !but.contains(&home) => home,
            _ => self.values.temp(self.masm, but),
        }
    }

    /// Computes a value.
    pub fn compute(&mut self, value: Value, hint: Option<Register>) {
        let node = self.node(value);
        let Op::Pure(op, imm) = node.op else { return };
        let args: Vec<Value> = node.args().collect();
        let wide = node.ty.bits > 32;
        let register = match (op, &args[..]) {
            (Pure::Add | Pure::Sub | Pure::And | Pure::Or | Pure::Xor, &[a, b]) => self.binary(op, wide, a, b, hint),
            (Pure::Mul, &[a, b]) => self.multiply(wide, a, b, hint),
            (Pure::Shl | Pure::Shr | Pure::RotateLeft | Pure::RotateRight, &[a, b]) => {
                let signed = node.ty.class == Class::Signed;
                self.shift(op, wide, signed, a, b, hint)
            }
            (Pure::Sext, &[a]) => {
                let a_in = self.values.in_register(self.masm, a, &[]);
                self.used(a);
                let to = self.result(hint, &[]);
                match (imm, wide) {
                    (8, false) => self.masm.two(Code::Movsx_r32_rm8, low(to), byte(a_in)),
                    (8, true) => self.masm.two(Code::Movsx_r64_rm8, to, byte(a_in)),
                    (16, false) => self.masm.two(Code::Movsx_r32_rm16, low(to), half(a_in)),
                    (16, true) => self.masm.two(Code::Movsx_r64_rm16, to, half(a_in)),
                    (32, true) => self.masm.two(Code::Movsxd_r64_rm32, to, low(a_in)),
                    _ => self.values.failed = true,
                }
                to
            }
            (Pure::LeadingZeros | Pure::TrailingZeros | Pure::CountOnes, &[a]) => {
                let a_in = self.values.in_register(self.masm, a, &[]);
                self.used(a);
                let to = self.result(hint, &[]);
                let codes = match op {
                    Pure::LeadingZeros => [Code::Lzcnt_r32_rm32, Code::Lzcnt_r64_rm64],
                    Pure::TrailingZeros => [Code::Tzcnt_r32_rm32, Code::Tzcnt_r64_rm64],
                    _ => [Code::Popcnt_r32_rm32, Code::Popcnt_r64_rm64],
                };
                match wide {
                    true => self.masm.two(codes[1], to, a_in),
                    false => self.masm.two(codes[0], low(to), low(a_in)),
                }
                to
            }
            (Pure::Compare, _) => {
                let flags = self.compare(imm, node);
                args.iter().for_each(|argument| self.used(*argument));
                let to = self.result(hint, &[]);
                self.masm.set(flags, to);
                to
            }
            (Pure::Select, &[condition, yes, no]) => self.choose(condition, yes, no, hint),
            (Pure::MulHigh, &[a, b]) => self.product(a, b, node.ty.class == Class::Signed),
            (Pure::Div | Pure::Rem, &[a, b]) => self.divide(op, wide, node.ty.class == Class::Signed, a, b),
            _ => {
                self.values.failed = true;
                return;
            }
        };
        self.values.put(register, value);
    }

    fn binary(&mut self, op: Pure, wide: bool, a: Value, b: Value, hint: Option<Register>) -> Register {
        let number = self.values.graph().number(b);
        if let (Pure::And, Some(mask @ (0xff | 0xffff | 0xffff_ffff))) = (op, number) {
            let from = self.values.in_register(self.masm, a, &[]);
            self.used(a);
            self.used(b);
            let to = self.result(hint, &[]);
            match mask {
                0xff => self.masm.two(Code::Movzx_r32_rm8, low(to), byte(from)),
                0xffff => self.masm.two(Code::Movzx_r32_rm16, low(to), half(from)),
                _ => self.masm.mov(false, to, from),
            }
            return to;
        }
        // Bits that the mask clears do not matter.
        let wide = wide && !(op == Pure::And && number.is_some_and(|mask| mask <= i32::MAX as u64));
        let first = self.source(a, wide, &[]);
        let but: Vec<Register> = register(first).into_iter().collect();
        let second = self.source(b, wide, &but);
        self.used(a);
        self.used(b);
        let to = self.result(hint, &[]);
        let code = match op {
            Pure::Add => Binary::Add,
            Pure::Sub => Binary::Sub,
            Pure::And => Binary::And,
            Pure::Or => Binary::Or,
            _ => Binary::Xor,
        };
        match (first, second) {
            (Source::Register(a), Source::Number(number)) if op == Pure::Add && a != to => {
                self.masm.lea(wide, to, a, None, number);
            }
            (Source::Register(a), Source::Register(b)) if op == Pure::Add && a != to && b != to => {
                self.masm.lea(wide, to, a, Some(b), 0);
            }
            (_, second) if second == Source::Register(to) && first != second => {
                if op == Pure::Sub {
                    // Computes the reverse difference and negates it.
                    let code = if wide { Code::Neg_rm64 } else { Code::Neg_rm32 };
                    self.masm.unary(code, if wide { to } else { low(to) });
                    self.masm.binary(Binary::Add, wide, to, first);
                } else {
                    self.masm.binary(code, wide, to, first);
                }
            }
            _ => {
                self.fetch(first, wide, to);
                self.masm.binary(code, wide, to, second);
            }
        }
        to
    }

    /// Loads an operand into a register.
    fn fetch(&mut self, from: Source, wide: bool, to: Register) {
        match from {
            Source::Register(from) if from == to => {}
            Source::Register(from) => self.masm.mov(wide, to, from),
            Source::Number(number) => {
                self.masm.number(to, if wide { number as i64 as u64 } else { u64::from(number as u32) });
            }
            Source::Memory(base, displacement) => {
                self.masm.load(if wide { 8 } else { 4 }, to, super::masm::at(base, displacement));
            }
        }
    }

    fn multiply(&mut self, wide: bool, a: Value, b: Value, hint: Option<Register>) -> Register {
        let first = self.values.in_register(self.masm, a, &[]);
        let second = self.source(b, wide, &[first]);
        let second = match second {
            Source::Memory(..) => Source::Register(self.values.in_register(self.masm, b, &[first])),
            second => second,
        };
        self.used(a);
        self.used(b);
        let to = self.result(hint, &[]);
        match second {
            Source::Number(number) => self.masm.multiply_by(wide, to, first, number),
            Source::Register(second) if second == to => self.masm.multiply(wide, to, first),
            Source::Register(second) => {
                self.fetch(Source::Register(first), wide, to);
                self.masm.multiply(wide, to, second);
            }
            Source::Memory(..) => self.values.failed = true,
        }
        to
    }

    fn shift(&mut self, op: Pure, wide: bool, signed: bool, a: Value, b: Value, hint: Option<Register>) -> Register {
        let which = match (op, signed) {
            (Pure::Shl, _) => 0,
            (Pure::Shr, false) => 1,
            (Pure::Shr, true) => 2,
            (Pure::RotateLeft, _) => 3,
            _ => 4,
        };
        let from = self.values.in_register(self.masm, a, &[]);
        if let Some(number) = self.values.graph().number(b) {
            const CODES: [[Code; 2]; 5] = [
                [Code::Shl_rm32_imm8, Code::Shl_rm64_imm8],
                [Code::Shr_rm32_imm8, Code::Shr_rm64_imm8],
                [Code::Sar_rm32_imm8, Code::Sar_rm64_imm8],
                [Code::Rol_rm32_imm8, Code::Rol_rm64_imm8],
                [Code::Ror_rm32_imm8, Code::Ror_rm64_imm8],
            ];
            self.used(a);
            self.used(b);
            let to = self.result(hint, &[]);
            self.fetch(Source::Register(from), wide, to);
            let count = number as u32 & if wide { 63 } else { 31 };
            self.masm.count(CODES[which][usize::from(wide)], if wide { to } else { low(to) }, count);
            return to;
        }
        let count = self.values.in_register(self.masm, b, &[from]);
        if self.features.bmi2 && which < 3 {
            const CODES: [[Code; 2]; 3] = [
                [Code::VEX_Shlx_r32_rm32_r32, Code::VEX_Shlx_r64_rm64_r64],
                [Code::VEX_Shrx_r32_rm32_r32, Code::VEX_Shrx_r64_rm64_r64],
                [Code::VEX_Sarx_r32_rm32_r32, Code::VEX_Sarx_r64_rm64_r64],
            ];
            self.used(a);
            self.used(b);
            let to = self.result(hint, &[]);
            let code = CODES[which][usize::from(wide)];
            match wide {
                true => self.masm.three(code, to, from, count),
                false => self.masm.three(code, low(to), low(from), low(count)),
            }
            return to;
        }
        const CODES: [[Code; 2]; 5] = [
            [Code::Shl_rm32_CL, Code::Shl_rm64_CL],
            [Code::Shr_rm32_CL, Code::Shr_rm64_CL],
            [Code::Sar_rm32_CL, Code::Sar_rm64_CL],
            [Code::Rol_rm32_CL, Code::Rol_rm64_CL],
            [Code::Ror_rm32_CL, Code::Ror_rm64_CL],
        ];
        // The count must be in `cl`; another value in it is moved elsewhere, and looked up there.
        if count != Register::RCX {
            self.values.vacate(self.masm, Register::RCX, &[from, count]);
        }
        let from = self.values.in_register(self.masm, a, &[Register::RCX, count]);
        let to = self.values.temp(self.masm, &[Register::RCX, from, count]);
        self.fetch(Source::Register(from), wide, to);
        self.masm.mov(true, Register::RCX, count);
        self.masm.two(CODES[which][usize::from(wide)], if wide { to } else { low(to) }, Register::CL);
        self.used(a);
        self.used(b);
        to
    }

    /// Compares two values. Returns the condition that the flags represent.
    fn compare(&mut self, imm: u16, node: Node) -> Flags {
        let (Some(a), Some(b)) = (node.args[0], node.args[1]) else { return Flags::E };
        let how = Comparison::ALL.get(usize::from(imm)).copied().unwrap_or(Comparison::Equal);
        let flags = Flags::of(how, node.ty.class == Class::Signed);
        let wide = node.ty.bits > 32;
        let (a, b, flags) = match self.values.graph().number(a) {
            Some(_) => (b, a, flags.exchanged()),
            None => (a, b, flags),
        };
        let first = self.values.in_register(self.masm, a, &[]);
        match self.source(b, wide, &[first]) {
            Source::Number(0) if !matches!(flags, Flags::B | Flags::Be | Flags::A | Flags::Ae) => {
                self.masm.test(wide, first);
            }
            second => self.masm.binary(Binary::Cmp, wide, first, second),
        }
        flags
    }

    /// Sets the flags from a condition. Returns the flags that are set if it holds.
    pub fn condition(&mut self, condition: Value) -> Flags {
        let node = self.node(condition);
        if let Op::Pure(Pure::Compare, imm) = node.op {
            return self.compare(imm, node);
        }
        let register = self.values.in_register(self.masm, condition, &[]);
        self.masm.test(false, register);
        Flags::Ne
    }

    fn choose(&mut self, condition: Value, yes: Value, no: Value, hint: Option<Register>) -> Register {
        let other = self.values.in_register(self.masm, yes, &[]);
        // All operands are loaded before the flags are set, since loading may move values.
        let mut but = vec![other];
        let inputs: Vec<Value> = match self.node(condition).op {
            Op::Pure(Pure::Compare, _) => self.node(condition).args().collect(),
            _ => vec![condition],
        };
        let wide = self.node(condition).ty.bits > 32;
        let immediate = |values: &Values<'_>, value| matches!(values.source(value, wide), Some(Source::Number(_)));
        let inputs: Vec<Value> = inputs.into_iter().filter(|input| !immediate(self.values, *input)).collect();
        for input in inputs {
            but.push(self.values.in_register(self.masm, input, &but));
        }
        let to = match hint {
            Some(home) if !but.contains(&home) && self.values.is_free(home) => home,
            _ => self.values.temp(self.masm, &but),
        };
        self.values.copy(self.masm, no, to);
        let flags = self.condition(condition);
        let other = self.values.in_register(self.masm, yes, &[to]);
        self.masm.mov_if(flags, true, to, other);
        self.used_flags(condition);
        self.used(yes);
        self.used(no);
        to
    }

    /// Frees the two registers of products and quotients.
    fn pair(&mut self, a: Value, b: Value) -> (Source, Register) {
        let but = [Register::RAX, Register::RDX];
        // A value that a guard has tested is copied, so that the check can see that it is the same value.
        if let Some(there) = self.values.register(b).filter(|there| but.contains(there)) {
            let other = self.values.temp(self.masm, &but);
            self.masm.mov(true, other, there);
            self.values.take(there);
            self.values.put(other, b);
        }
        let held: Vec<Register> = but.into_iter().chain(self.values.register(b)).collect();
        for register in but {
            self.values.vacate(self.masm, register, &held);
        }
        let second = self.values.in_register(self.masm, b, &but);
        let first = self.source(a, true, &[Register::RAX, Register::RDX, second]);
        (first, second)
    }

    fn product(&mut self, a: Value, b: Value, signed: bool) -> Register {
        let (first, second) = self.pair(a, b);
        self.fetch(first, true, Register::RAX);
        self.masm.unary(if signed { Code::Imul_rm64 } else { Code::Mul_rm64 }, second);
        self.used(a);
        self.used(b);
        Register::RDX
    }

    fn divide(&mut self, op: Pure, wide: bool, signed: bool, a: Value, b: Value) -> Register {
        let (first, second) = self.pair(a, b);
        self.fetch(first, true, Register::RAX);
        match (signed, wide) {
            (false, _) => self.masm.binary(Binary::Xor, false, Register::RDX, Source::Register(Register::RDX)),
            (true, false) => self.masm.plain(Code::Cdq),
            (true, true) => self.masm.plain(Code::Cqo),
        }
        let code = match (signed, wide) {
            (false, false) => Code::Div_rm32,
            (false, true) => Code::Div_rm64,
            (true, false) => Code::Idiv_rm32,
            (true, true) => Code::Idiv_rm64,
        };
        self.masm.unary(code, if wide { second } else { low(second) });
        self.used(a);
        self.used(b);
        if op == Pure::Div { Register::RAX } else { Register::RDX }
    }
}

fn half(register: Register) -> Register {
    Register::AX + register.number() as u32
}

fn register(source: Source) -> Option<Register> {
    match source {
        Source::Register(register) => Some(register),
        _ => None,
    }
}
