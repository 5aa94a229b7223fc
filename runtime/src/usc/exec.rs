//! Executes groups: a task at a time, all its instances together.

use isaforge_usc::{
    Alu, AluOp, CountOp, HalfPart, Int8_16Fmt, Int8_16Op, Mov, Pck, PckFormat, RedPart, S2ch, Shift1Op, SnglOp, Tst,
    TstOp, TstType,
};

use crate::observe::Traffic;
use crate::usc::error::Trap;
use crate::usc::host::Host;
use crate::usc::lanes::{Column, LANES, Mask, each, holds, map, splat, zip, zip3};
use crate::usc::machine::{Common, Machine, Task, entry};
use crate::usc::program::{Action, Bitwise, Main, Program, Step, Wire, counts_shift, moved};
use crate::usc::register::{Reach, Register, SHARED};
use crate::usc::rules::{bits, float, integer, pack, special};
use crate::usc::unencoded;

/// What a task runs on.
pub(super) struct Cpu<'a, H> {
    pub program: &'a Program,
    pub host: &'a mut H,
    pub common: &'a mut Common,
    pub task: &'a mut Task,
    /// The task's number.
    pub number: usize,
    /// The mutex whose sleepers are to be woken; the turn ends with it.
    pub woken: Option<u32>,
    /// Where it goes on, if not with the next group.
    pub next: Option<usize>,
    /// Writes that changed something, if somebody wants to know.
    pub writes: Option<Vec<(Register, Mask, Column)>>,
    /// What it moved between registers and memory.
    pub traffic: Traffic,
}

/// The wires of a main group.
pub(super) struct Wires {
    s2: Column,
    pub ft0: Column,
    ft1: Column,
    pub ft2: Column,
    fte: Column,
    /// What an operation drives W0 and W1 with itself.
    pub direct: [Option<Column>; 2],
    carry: Mask,
    test: Mask,
    pub w0: Column,
    pub w1: Column,
}

impl Wires {
    #[inline(always)]
    pub fn get(&self, wire: Wire) -> &Column {
        match wire {
            Wire::Ft0 => &self.ft0,
            Wire::Ft1 => &self.ft1,
            Wire::Ft2 => &self.ft2,
            Wire::Fte => &self.fte,
            Wire::S2 => &self.s2,
        }
    }
}

const ZERO: Column = [0; LANES];

impl<'a, H: Host> Cpu<'a, H> {
    pub fn new(
        program: &'a Program,
        machine: &'a mut Machine<H>,
        task: &'a mut Task,
        number: usize,
        traced: bool,
    ) -> Self {
        let Machine { host, common, .. } = machine;
        Cpu {
            program,
            host,
            common,
            task,
            number,
            woken: None,
            next: None,
            writes: traced.then(Vec::new),
            traffic: Traffic::default(),
        }
    }

    /// Executes a group for the active instances; where it goes on is in `next`.
    #[inline(always)]
    pub fn execute(&mut self, step: &Step, active: Mask) -> Result<(), Trap> {
        match &step.action {
            Action::Control(control) => self.control(step, control, active),
            _ if active == 0 => Ok(()),
            // What one instance writes to shared registers the next one reads.
            _ if step.atomic => each(active).try_for_each(|i| self.group(step, 1 << i)),
            _ => self.group(step, active),
        }
    }

    #[inline(always)]
    fn group(&mut self, step: &Step, active: Mask) -> Result<(), Trap> {
        match &step.action {
            Action::Control(_) => Ok(()),
            Action::Main(main) => self.main(main, step.repeat, active),
            Action::Bitwise(bitwise) => (0..step.repeat).try_for_each(|k| self.bitwise(bitwise, k, active)),
        }
    }

    #[inline(always)]
    fn main(&mut self, main: &Main, repeat: u16, active: Mask) -> Result<(), Trap> {
        let mut gathered = [ZERO; 4];
        for k in 0..repeat {
            let mut s = [ZERO; 6];
            for (i, (value, source)) in s.iter_mut().zip(main.sources).enumerate() {
                if main.reads >> i & 1 != 0 {
                    let by = if main.unpacks && i == 0 { 0 } else { k };
                    *value = self.read(source.plus(by).unwrap_or(source), active)?;
                }
            }
            let mut wires = Wires {
                s2: s[2],
                ft0: ZERO,
                ft1: ZERO,
                ft2: ZERO,
                fte: s[main.is0],
                direct: [None; 2],
                carry: 0,
                test: 0,
                w0: ZERO,
                w1: ZERO,
            };
            let high = s[main.is0];
            if let Some(alu) = &main.p0 {
                wires.ft0 = self.phase(alu, [&s[0], &s[1], &s[2]], &high, &s[3], k, active, &mut wires);
            }
            if let Some(alu) = &main.p1 {
                wires.ft1 = self.phase(alu, [&s[3], &s[4], &s[5]], &high, &s[3], k, active, &mut wires);
            }
            if let Some(pck) = &main.pck {
                gathered[usize::from(k & 3)] = *wires.get(main.is3);
                if main.gathers && k + 1 < repeat {
                    continue;
                }
                let values = &gathered[..if main.gathers { usize::from(repeat) } else { 1 }];
                wires.ft2 = pack_all(pck, values, &wires.fte, active)?;
            }
            if let Some(extra) = &main.extra {
                self.extra(extra, main, &s, &mut wires, active)?;
            }
            if let Some(tst) = &main.tst {
                wires.test = test(tst, wires.get(main.is1), wires.get(main.is2), wires.carry);
                if tst.pwen {
                    self.set_predicate(wires.test, active);
                }
            }
            if let Some(sop) = &main.sop {
                let plain = *wires.get(main.is4);
                unencoded::sum(sop, &s, &mut wires, &plain);
            }
            results(main, &mut wires);
            if let Some(backend) = &main.backend {
                self.backend(backend, main, k, active, &mut wires)?;
            }
            let by = if main.gathers { 0 } else { k };
            for (result, value) in main.results.iter().zip([&wires.w0, &wires.w1]) {
                if let Some(register) = result {
                    self.write(register.plus(by).unwrap_or(*register), value, active)?;
                }
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the wires of a phase")]
    #[inline(always)]
    fn phase(
        &mut self,
        alu: &Alu,
        s: [&Column; 3],
        high: &Column,
        previous: &Column,
        repetition: u16,
        active: Mask,
        wires: &mut Wires,
    ) -> Column {
        let floats = [
            float::Modifiers { floor: alu.s0flr, abs: alu.s0abs, neg: alu.s0neg },
            float::Modifiers { floor: false, abs: alu.s1abs, neg: alu.s1neg },
            float::Modifiers { floor: alu.s2flr, abs: alu.s2abs, neg: alu.s2neg },
        ];
        let half;
        let s = match part_of(alu.s0half) {
            None => s,
            Some(shift) => {
                half = map(s[0], |word| pack::f16_to_f32((word >> shift) as u16));
                [&half, s[1], s[2]]
            }
        };
        let modified = |i: usize| if floats[i].any() { map(s[i], |x| floats[i].apply(x)) } else { *s[i] };
        let drive = |wires: &mut Wires, value: Column| drive(alu, wires, value);
        let clamped = |x: Column| if alu.sat { map(&x, float::saturate) } else { x };
        match alu.op {
            AluOp::Fadd => clamped(zip(&modified(0), &modified(1), float::add)),
            AluOp::Fmul => clamped(zip(&modified(0), &modified(1), float::mul)),
            AluOp::Fmad => clamped(zip3(&modified(0), &modified(1), &modified(2), float::mad)),
            AluOp::Sngl => self.single(alu, &modified(0), active, wires),
            AluOp::Gcmp => drive(wires, map(&modified(0), special::compress)),
            AluOp::Gexp => drive(wires, map(&modified(0), special::expand)),
            AluOp::Unpck => {
                let element = alu.elem as usize + usize::from(repetition);
                map(s[0], |word| pack::unpack(alu.pck_format, word, element, alu.scale_rtz))
            }
            AluOp::Fred => {
                if alu.pwen {
                    // One iteration is always enough.
                    self.set_predicate(0, active);
                }
                let reduced = match alu.red_part {
                    RedPart::A => map(&modified(0), |x| special::reduce(alu.red_type, x)),
                    RedPart::B => *previous,
                };
                wires.direct[1] = Some(reduced);
                drive(wires, reduced)
            }
            AluOp::Int32_64 => self.words(alu, s, high, wires),
            AluOp::Int8_16 => parts(alu, s, wires),
            AluOp::Fsqrt => drive(wires, map(&modified(0), special::root)),
            AluOp::Fromf64 => zip(s[0], s[2], |low, high| unencoded::from_f64(alu.f64_type, low, high)),
        }
    }

    /// An operation with one source.
    #[inline(always)]
    fn single(&mut self, alu: &Alu, x: &Column, active: Mask, wires: &mut Wires) -> Column {
        match alu.sngl_op {
            SnglOp::Dsx => quads(x, |q, _| float::difference(q[0], q[1])),
            SnglOp::Dsy => quads(x, |q, _| float::difference(q[0], q[2])),
            SnglOp::Dsxf => quads(x, |q, i| float::difference(q[i & 2], q[i & 2 | 1])),
            SnglOp::Dsyf => quads(x, |q, i| float::difference(q[i & 1], q[i & 1 | 2])),
            SnglOp::Sinc => {
                self.set_predicate(holds(x, x, |x, _| special::wants_product(x)), active);
                drive(alu, wires, map(x, special::sine_by_x))
            }
            SnglOp::Byp => *x,
            op => drive(alu, wires, map(x, |bits| special::unary(op, bits).unwrap_or(bits))),
        }
    }

    #[inline(always)]
    fn words(&mut self, alu: &Alu, s: [&Column; 3], high: &Column, wires: &mut Wires) -> Column {
        let modifiers = [
            integer::Modifiers { abs: alu.s0abs, neg: alu.s0neg },
            integer::Modifiers { abs: alu.s1abs, neg: alu.s1neg },
            integer::Modifiers { abs: alu.s2abs, neg: alu.s2neg },
        ];
        let carry_in = if alu.cin { self.task.predicate } else { 0 };
        let (mut low, mut top, mut carry) = (ZERO, ZERO, 0);
        for i in 0..LANES {
            let cin = carry_in >> i & 1 != 0;
            let words = s.map(|column| column[i]);
            let wide = integer::wide(alu.int32_64_op, alu.s, modifiers, words, high[i], cin);
            low[i] = wide.low;
            top[i] = wide.high;
            carry |= u32::from(wide.carry) << i;
        }
        wires.carry = carry;
        if alu.int32_64_op != isaforge_usc::Int32_64Op::Madd32 {
            wires.fte = top;
        }
        low
    }

    #[inline(always)]
    fn bitwise(&mut self, group: &Bitwise, k: u16, active: Mask) -> Result<(), Trap> {
        let mut s = [ZERO; 6];
        for (i, (value, source)) in s.iter_mut().zip(group.sources).enumerate() {
            if group.reads >> i & 1 != 0 {
                *value = self.read(source.plus(k).unwrap_or(source), active)?;
            }
        }
        let (mut ft0, mut ft1, mut ft2) = (s[0], s[1], s[2]);
        let mut ft3 = s[2];
        if let Some(b0) = &group.b0 {
            match (b0.imm, b0.bitmask_src_op) {
                (16, _) => ft1 = splat(b0.imm16),
                (32, _) => ft1 = splat(b0.imm32),
                (_, isaforge_usc::BitmaskSrcOp::Msk) => {
                    ft0 = zip(&s[0], &s[1], |width, at| bits::mask(width, at).0);
                    ft1 = zip(&s[0], &s[1], |width, at| bits::mask(width, at).1);
                }
                _ => {}
            }
            if b0.shift1_op != Shift1Op::Byp {
                ft2 = zip(&s[2], &s[1], |value, other| bits::first_shift(b0.shift1_op, value, other));
            }
            let counted = if counts_shift(b0) { &ft2 } else { &s[2] };
            ft3 = match b0.count_op {
                CountOp::Cbs => map(counted, u32::count_ones),
                CountOp::Ftb => map(counted, bits::top_bit),
                CountOp::FtbShi => map(counted, bits::top_bit_signed),
                CountOp::FtbMsb => map(counted, bits::top_bit_from_top),
                CountOp::Byp => *counted,
            };
        }
        let mut ft4 = ft1;
        if let Some(b1) = &group.b1 {
            let left = if b1.mska { zip(&ft2, &ft1, |x, mask| x & mask) } else { ft2 };
            let right = if b1.mskb { zip(&s[3], &ft1, |x, mask| x & !mask) } else { s[3] };
            ft4 = zip3(&left, &right, &ft1, |a, b, mask| bits::logic(b1.logical_op, a, b, mask));
        }
        let mut w0 = ft4;
        if let Some(b2) = &group.b2 {
            let predicate = self.task.predicate;
            for i in 0..LANES {
                let held = predicate >> i & 1 != 0;
                w0[i] = bits::second_shift(b2.shift2_op, ft4[i], s[4][i], ft0[i], ft3[i], held);
            }
            if b2.pwen {
                let tested = if b2.tst_src == isaforge_usc::BwTstSrc::Ft5 { &w0 } else { &ft3 };
                let zero = holds(tested, tested, |x, _| x == 0);
                let is_zero = b2.bw_tst_op == isaforge_usc::BwTstOp::Z;
                self.set_predicate(if is_zero { zero } else { !zero }, active);
            }
        }
        for (result, value) in group.results.iter().zip([&w0, &ft3]) {
            if let Some(register) = result {
                self.write(register.plus(k).unwrap_or(*register), value, active)?;
            }
        }
        Ok(())
    }

    /// Sets P0 of the active instances.
    #[inline(always)]
    pub fn set_predicate(&mut self, values: Mask, active: Mask) {
        self.task.predicate = (self.task.predicate & !active) | (values & active);
    }

    /// A register of all instances; where an instance is not active the value does not matter.
    #[inline(always)]
    pub fn read(&self, register: Register, active: Mask) -> Result<Column, Trap> {
        Ok(match register {
            Register::Column(column) => *self.task.columns.at(column),
            Register::Indexed { .. } => {
                let mut values = ZERO;
                for instance in each(active) {
                    values[instance] = self.read_one(self.resolve(register, instance)?, instance);
                }
                values
            }
            _ => splat(self.read_one(register, 0)),
        })
    }

    /// The register behind an index.
    pub fn resolve(&self, register: Register, instance: usize) -> Result<Register, Trap> {
        let Register::Indexed { index, reach, offset } = register else { return Ok(register) };
        let index = Register::index(index);
        let number = u64::from(self.read_one(index, instance)) + u64::from(offset);
        let base = match reach {
            Reach::Coefficient | Reach::Alternate => self.task.base[0],
            Reach::Shared => self.task.base[1],
            _ => 0,
        };
        if number + u64::from(base) >= reach.size() as u64 {
            return Err(Trap::Index { instance, reach, number });
        }
        Ok(reach.register(number as u16))
    }

    /// A register of one instance.
    pub fn read_one(&self, register: Register, instance: usize) -> u32 {
        value(self.task, self.common, register, instance)
    }

    /// Writes a register of the active instances. Of what instances share the last one's value stays.
    #[inline(always)]
    pub fn write(&mut self, register: Register, value: &Column, active: Mask) -> Result<(), Trap> {
        if let Some(writes) = &mut self.writes {
            let changed = match register {
                Register::Column(column) => holds(self.task.columns.at(column), value, |old, new| old != new),
                _ => Mask::MAX,
            };
            writes.push((register, active & changed, *value));
        }
        match register {
            Register::Column(column) => self.task.write(column, value, active),
            _ => {
                for instance in each(active) {
                    let to = self.resolve(register, instance)?;
                    self.write_one(to, instance, value[instance]);
                }
            }
        }
        Ok(())
    }

    /// Writes a register of one instance.
    pub fn write_one(&mut self, register: Register, instance: usize, value: u32) {
        let [coefficients, shared] = self.task.base;
        let inside = |n: u16, base: u16| usize::from(n + base) < SHARED;
        match register {
            Register::Column(column) => self.task.columns.at_mut(column)[instance % LANES] = value,
            Register::Coefficient(n) if inside(n, coefficients) => {
                *entry(&mut self.task.coefficients, n + coefficients) = value;
            }
            Register::Alternate(n) if inside(n, coefficients) => {
                *entry(&mut self.task.alternates, n + coefficients) = value;
            }
            Register::Shared(n) if inside(n, shared) => *entry(&mut self.common.shared, n + shared) = value,
            Register::Global(n) => {
                if let Some(to) = self.common.globals.get_mut(usize::from(n)) {
                    *to = value;
                }
            }
            Register::Slot(n) => {
                if let Some(to) = self.task.slots.get_mut(usize::from(n)) {
                    *to = value;
                }
            }
            _ => {}
        }
    }

    /// Notes a write of one instance for the trace.
    pub fn note(&mut self, register: Register, instance: usize, value: u32) {
        if let Some(writes) = &mut self.writes {
            writes.push((register, 1 << instance, splat(value)));
        }
    }
}

/// A register of one instance; of indexed ones 0.
pub(super) fn value(task: &Task, common: &Common, register: Register, instance: usize) -> u32 {
    let of = |bank: &[u32], n: u16, base: u16| bank.get(usize::from(n + base)).copied().unwrap_or(0);
    match register {
        Register::Column(column) => task.columns.at(column)[instance % LANES],
        Register::Coefficient(n) => of(&task.coefficients, n, task.base[0]),
        Register::Alternate(n) => of(&task.alternates, n, task.base[0]),
        Register::Shared(n) => of(&common.shared, n, task.base[1]),
        Register::Global(n) => common.globals.get(usize::from(n)).copied().unwrap_or(0),
        Register::Slot(n) => task.slots.get(usize::from(n)).copied().unwrap_or(0),
        Register::Dynamic(n) => of(&common.dynamic, n, 0),
        Register::Timer => common.time as u32,
        Register::Indexed { .. } => 0,
    }
}

/// How far to the right the half of a source stands that is read as a float of its own.
fn part_of(half: HalfPart) -> Option<u32> {
    match half {
        HalfPart::Whole => None,
        HalfPart::E0 => Some(0),
        HalfPart::E1 => Some(16),
    }
}

/// Lets an operation drive W0, as a float or as two equal halves.
fn drive(alu: &Alu, wires: &mut Wires, value: Column) -> Column {
    let halves = |x| pack::half_of(f64::from(f32::from_bits(x))) * 0x1_0001;
    let value = if alu.halves { map(&value, halves) } else { value };
    wires.direct[0] = Some(value);
    value
}

/// What goes to W0 and W1.
#[inline(always)]
fn results(main: &Main, wires: &mut Wires) {
    let (plain0, plain1) = (*wires.get(main.is4), *wires.get(main.is5));
    (wires.w0, wires.w1) = match &main.mov {
        None => (wires.direct[0].unwrap_or(plain0), wires.direct[1].unwrap_or(plain1)),
        Some(mov) => {
            let Mov { movw0, movw1, maskw0, aw, .. } = *mov;
            let bytes = (0..4).filter(|i| maskw0 >> i & 1 != 0).fold(0u32, |m, i| m | 0xff << (8 * i));
            let moved0 = zip(wires.get(moved(movw0)), &plain0, |new, old| (new & bytes) | (old & !bytes));
            if aw {
                (moved0, plain1)
            } else {
                let (mut w0, mut w1) = (plain0, plain1);
                crate::usc::lanes::blend(&mut w0, &moved0, wires.test);
                crate::usc::lanes::blend(&mut w1, wires.get(moved(movw1)), wires.test);
                (w0, w1)
            }
        }
    };
}

/// A function of the four values of each pixel quad, and of the place in it.
#[inline(always)]
fn quads(x: &Column, f: impl Fn([u32; 4], usize) -> u32) -> Column {
    std::array::from_fn(|i| {
        let first = i & !3;
        f([x[first], x[first + 1], x[first + 2], x[first + 3]], i & 3)
    })
}

/// An operation on bytes or halves.
#[inline(always)]
fn parts(alu: &Alu, s: [&Column; 3], wires: &mut Wires) -> Column {
    let byte = alu.f == Int8_16Fmt::_8bit;
    let upper = u32::from(alu.s2ch == S2ch::Ehi) + if alu.int8_16_op == Int8_16Op::Mad2_3 { 2 } else { 0 };
    let rule = integer::Parts {
        bits: if byte { 8 } else { 16 },
        signed: alu.s,
        saturate: alu.sat,
        element: [alu.s0ch.number() as u32, alu.s1ch.number() as u32, upper],
        modifiers: [
            integer::Modifiers { abs: alu.s0abs, neg: alu.s0neg },
            integer::Modifiers { abs: alu.s1abs, neg: false },
            integer::Modifiers { abs: alu.s2abs, neg: alu.s2neg },
        ],
    };
    let mut result = ZERO;
    for i in 0..LANES {
        let (value, carry) = rule.operate(alu.int8_16_op, [s[0][i], s[1][i], s[2][i]]);
        result[i] = value;
        wires.carry |= u32::from(carry) << i;
    }
    result
}

/// The instances whose test holds.
#[inline(always)]
fn test(tst: &Tst, left: &Column, right: &Column, carry: Mask) -> Mask {
    let part = |x: &Column, bits: u32| map(x, |word| word >> ((tst.elem * bits) & 31) & ((1 << bits) - 1));
    let signed = |x: &Column, bits: u32| map(&part(x, bits), |v| ((v << (32 - bits)) as i32 >> (32 - bits)) as u32);
    let as_float = |a: &Column, b: &Column| {
        let (x, y) = (f32::from_bits, f32::from_bits);
        match tst.tst_op {
            TstOp::Z => holds(a, b, |a, _| x(a) == 0.0),
            TstOp::Gz => holds(a, b, |a, _| x(a) > 0.0),
            TstOp::Gez => holds(a, b, |a, _| x(a) >= 0.0),
            TstOp::C => carry,
            TstOp::E => holds(a, b, |a, b| x(a) == y(b)),
            TstOp::G => holds(a, b, |a, b| x(a) > y(b)),
            TstOp::Ge | TstOp::Max => holds(a, b, |a, b| x(a) >= y(b)),
            TstOp::Ne => holds(a, b, |a, b| x(a) != y(b)),
            TstOp::L | TstOp::Min => holds(a, b, |a, b| x(a) < y(b)),
            TstOp::Le => holds(a, b, |a, b| x(a) <= y(b)),
        }
    };
    // Unsigned numbers compare like signed ones when their top bits are flipped.
    let as_integer = |a: &Column, b: &Column, flip: u32| {
        let x = |v: u32| (v ^ flip) as i32;
        let zero = x(0);
        match tst.tst_op {
            TstOp::Z => holds(a, b, |a, _| a == 0),
            TstOp::Gz => holds(a, b, |a, _| x(a) > zero),
            TstOp::Gez => holds(a, b, |a, _| x(a) >= zero),
            TstOp::C => carry,
            TstOp::E => holds(a, b, |a, b| a == b),
            TstOp::G => holds(a, b, |a, b| x(a) > x(b)),
            TstOp::Ge | TstOp::Max => holds(a, b, |a, b| x(a) >= x(b)),
            TstOp::Ne => holds(a, b, |a, b| a != b),
            TstOp::L | TstOp::Min => holds(a, b, |a, b| x(a) < x(b)),
            TstOp::Le => holds(a, b, |a, b| x(a) <= x(b)),
        }
    };
    match tst.type_ {
        TstType::F32 => as_float(left, right),
        TstType::U32 => as_integer(left, right, float::SIGN),
        TstType::S32 => as_integer(left, right, 0),
        TstType::U16 => as_integer(&part(left, 16), &part(right, 16), 0),
        TstType::S16 => as_integer(&signed(left, 16), &signed(right, 16), 0),
        TstType::U8 => as_integer(&part(left, 8), &part(right, 8), 0),
        TstType::S8 => as_integer(&signed(left, 8), &signed(right, 8), 0),
    }
}

/// Packs what the repetitions gathered.
fn pack_all(pck: &Pck, gathered: &[Column], format: &Column, active: Mask) -> Result<Column, Trap> {
    if !pck.prog && pck.pck_format == PckFormat::Zero {
        return Ok(ZERO);
    }
    if !pck.prog && pck.pck_format == PckFormat::One {
        return Ok(splat(1.0f32.to_bits()));
    }
    let mut packed = ZERO;
    for instance in each(active) {
        let mut values = [0; 4];
        for (value, column) in values.iter_mut().zip(gathered) {
            *value = column[instance];
        }
        let code = if pck.prog { i64::from(format[instance] & 31) } else { pck.pck_format.number() };
        let format = PckFormat::from_number(code);
        let format = format.ok_or(Trap::Format { instance, code: code as u32 })?;
        packed[instance] = pack::pack(format, &values[..gathered.len().min(4)], pck.scale, pck.rtz);
    }
    Ok(packed)
}
