//! The fast path: runs of plain ALU groups as rows of column operations.
//!
//! A group is plain when it reads and writes columns only, does not repeat and does nothing but drive its results with
//! what its phases compute. Everything else, and everything when somebody traces, goes through the data path of
//! [`exec`](super::exec). Both use the same rules, and tests compare both bit for bit.

use isaforge_usc::{
    Alu, AluOp, BitmaskSrcOp, Bw0, Bw1, Bw2, Cc, Int32_64Op, LogicalOp, Shift1Op, Shift2Op, SnglOp, Tst, TstOp, TstType,
};

use crate::usc::lanes::{Column, Mask, ROWS, holds, splat, zip, zip3};
use crate::usc::machine::{Common, Task};
use crate::usc::program::{Action, Bitwise, Main, Step, Wire};
use crate::usc::register::{COLUMNS, Register};
use crate::usc::rules::{bits, float};

/// Where the first result of a group waits while the second one reads.
const SCRATCH: u16 = COLUMNS as u16;
/// Where results wait that a test reads.
const TESTED: u16 = SCRATCH + 1;
/// Where each source that all instances share is spread out.
const SPREAD: u16 = SCRATCH + 3;
// Those of the fast path lie behind all others.
const _: () = assert!(COLUMNS + 9 <= ROWS);

/// What a column operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Move,
    Mad,
    Add,
    Mul,
    /// A product and a sum whose operands are changed first.
    MadChanged,
    AddChanged,
    MulChanged,
    /// The low word of an integer product and sum.
    MadInteger,
    And,
    Or,
    Xor,
    Left,
    Right,
    RightSigned,
    Rotate,
    /// A shared register, whose number is the first source.
    Shared,
    /// A coefficient.
    Coefficient,
    /// Writes P0.
    Test(TstOp, TstType),
}

/// How the sign of a float operand changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sign {
    clear: u32,
    flip: u32,
}

impl Sign {
    #[inline(always)]
    fn apply(self, bits: u32) -> u32 {
        (bits & !self.clear) ^ self.flip
    }
}

/// An operation on columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    kind: Kind,
    sources: [u16; 3],
    to: u16,
    signs: [Sign; 3],
}

/// The plain groups of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    ops: Vec<Op>,
    /// For each step the first of its operations.
    starts: Vec<u32>,
    /// For each step how many plain groups with the same condition begin here.
    lengths: Vec<u32>,
}

impl Runs {
    /// Finds them.
    pub fn new(steps: &[Step]) -> Runs {
        let mut runs = Runs { lengths: vec![0; steps.len()], ..Runs::default() };
        let mut plain = Vec::with_capacity(steps.len());
        for step in steps {
            runs.starts.push(runs.ops.len() as u32);
            let ops = operations(step);
            plain.push(ops.is_some());
            runs.ops.extend(ops.into_iter().flatten());
        }
        runs.starts.push(runs.ops.len() as u32);
        for i in (0..steps.len()).rev().filter(|i| plain[*i]) {
            let next = i + 1;
            // A test may change which instances the next group has.
            let same = steps.get(next).is_some_and(|step| step.condition == steps[i].condition) && !tests(&steps[i]);
            runs.lengths[i] = 1 + if same { runs.lengths[next] } else { 0 };
        }
        runs
    }

    /// How many plain groups begin at a step.
    #[inline(always)]
    pub fn length(&self, step: usize) -> usize {
        self.lengths.get(step).map_or(0, |length| *length as usize)
    }

    /// Executes `count` plain groups from a step on.
    #[inline(always)]
    pub fn execute(&self, task: &mut Task, common: &Common, step: usize, count: usize, active: Mask) {
        let bounds = self.starts.get(step).zip(self.starts.get(step + count));
        let ops = bounds.and_then(|(from, to)| self.ops.get(*from as usize..*to as usize)).unwrap_or_default();
        if active == Mask::MAX {
            go::<true>(ops, task, common, active);
        } else {
            go::<false>(ops, task, common, active);
        }
    }
}

/// Executes operations in order, for all instances if `FULL`.
#[inline(always)]
fn go<const FULL: bool>(ops: &[Op], task: &mut Task, common: &Common, active: Mask) {
    let mut ops = ops.iter();
    while let Some(op) = ops.next() {
        op.execute::<FULL>(task, common, active);
        // What programs do most often one after another needs no new decision.
        while op.kind == Kind::Mad
            && let Some(next) = ops.as_slice().first().filter(|next| next.kind == Kind::Mad)
        {
            next.multiply_add::<FULL>(task, active);
            ops.next();
        }
    }
}

impl Op {
    #[inline(always)]
    fn multiply_add<const FULL: bool>(&self, task: &mut Task, active: Mask) {
        let [x, y, z] = self.sources;
        let (a, b, c) = (task.columns.at(x), task.columns.at(y), task.columns.at(z));
        self.put::<FULL>(zip3(a, b, c, float::mad), task, active);
    }

    #[inline(always)]
    fn execute<const FULL: bool>(&self, task: &mut Task, common: &Common, active: Mask) {
        let columns = &task.columns;
        let [x, y, z] = self.sources;
        let (a, b, c) = (columns.at(x), columns.at(y), columns.at(z));
        // Each arm writes by itself, so that values stay in vector registers.
        match self.kind {
            Kind::Move => self.put::<FULL>(*a, task, active),
            Kind::Mad => self.put::<FULL>(zip3(a, b, c, float::mad), task, active),
            Kind::Add => self.put::<FULL>(zip(a, b, float::add), task, active),
            Kind::Mul => self.put::<FULL>(zip(a, b, float::mul), task, active),
            Kind::MadChanged => {
                let [x, y, z] = self.signs;
                let value = zip3(a, b, c, |a, b, c| float::mad(x.apply(a), y.apply(b), z.apply(c)));
                self.put::<FULL>(value, task, active);
            }
            Kind::AddChanged => {
                let [x, y, _] = self.signs;
                self.put::<FULL>(zip(a, b, |a, b| float::add(x.apply(a), y.apply(b))), task, active);
            }
            Kind::MulChanged => {
                let [x, y, _] = self.signs;
                self.put::<FULL>(zip(a, b, |a, b| float::mul(x.apply(a), y.apply(b))), task, active);
            }
            Kind::MadInteger => {
                self.put::<FULL>(zip3(a, b, c, |a, b, c| a.wrapping_mul(b).wrapping_add(c)), task, active)
            }
            Kind::And => self.put::<FULL>(zip(a, b, |a, b| a & b), task, active),
            Kind::Or => self.put::<FULL>(zip(a, b, |a, b| a | b), task, active),
            Kind::Xor => self.put::<FULL>(zip(a, b, |a, b| a ^ b), task, active),
            Kind::Left => self.put::<FULL>(zip(a, b, |a, b| a << (b & 31)), task, active),
            Kind::Right => self.put::<FULL>(zip(a, b, |a, b| a >> (b & 31)), task, active),
            Kind::RightSigned => self.put::<FULL>(zip(a, b, |a, b| (a as i32 >> (b & 31)) as u32), task, active),
            Kind::Rotate => {
                let value = zip(a, b, |a, b| bits::second_shift(Shift2Op::Rol, a, b, 0, 0, false));
                self.put::<FULL>(value, task, active);
            }
            Kind::Shared => {
                let number = usize::from(self.sources[0] + task.base[1]);
                self.put::<FULL>(splat(common.shared.get(number).copied().unwrap_or(0)), task, active);
            }
            Kind::Coefficient => {
                let number = usize::from(self.sources[0] + task.base[0]);
                self.put::<FULL>(splat(task.coefficients.get(number).copied().unwrap_or(0)), task, active);
            }
            Kind::Test(op, of) => {
                let found = test(op, of, a, b);
                task.predicate = (task.predicate & !active) | (found & active);
            }
        }
    }

    #[inline(always)]
    fn put<const FULL: bool>(&self, value: Column, task: &mut Task, active: Mask) {
        if FULL {
            *task.columns.at_mut(self.to) = value;
        } else {
            task.write(self.to, &value, active);
        }
    }
}

/// The tests of whole words; others never get here.
#[inline(always)]
fn test(op: TstOp, of: TstType, a: &Column, b: &Column) -> Mask {
    let x = f32::from_bits;
    match (of, op) {
        (TstType::F32, TstOp::Z) => holds(a, b, |a, _| x(a) == 0.0),
        (TstType::F32, TstOp::Gz) => holds(a, b, |a, _| x(a) > 0.0),
        (TstType::F32, TstOp::Gez) => holds(a, b, |a, _| x(a) >= 0.0),
        (TstType::F32, TstOp::E) => holds(a, b, |a, b| x(a) == x(b)),
        (TstType::F32, TstOp::Ne) => holds(a, b, |a, b| x(a) != x(b)),
        (TstType::F32, TstOp::G) => holds(a, b, |a, b| x(a) > x(b)),
        (TstType::F32, TstOp::Ge | TstOp::Max) => holds(a, b, |a, b| x(a) >= x(b)),
        (TstType::F32, TstOp::L | TstOp::Min) => holds(a, b, |a, b| x(a) < x(b)),
        (TstType::F32, TstOp::Le | TstOp::C) => holds(a, b, |a, b| x(a) <= x(b)),
        (_, TstOp::Z) => holds(a, b, |a, _| a == 0),
        (_, TstOp::E) => holds(a, b, |a, b| a == b),
        (_, TstOp::Ne) => holds(a, b, |a, b| a != b),
        (TstType::S32, TstOp::Gz) => holds(a, b, |a, _| a as i32 > 0),
        (TstType::S32, TstOp::Gez) => holds(a, b, |a, _| a as i32 >= 0),
        (TstType::S32, TstOp::G) => holds(a, b, |a, b| a as i32 > b as i32),
        (TstType::S32, TstOp::Ge | TstOp::Max) => holds(a, b, |a, b| a as i32 >= b as i32),
        (TstType::S32, TstOp::L | TstOp::Min) => holds(a, b, |a, b| (a as i32) < b as i32),
        (TstType::S32, TstOp::Le | TstOp::C) => holds(a, b, |a, b| a as i32 <= b as i32),
        (_, TstOp::Gz) => holds(a, b, |a, _| a > 0),
        (_, TstOp::Gez) => Mask::MAX,
        (_, TstOp::G) => holds(a, b, |a, b| a > b),
        (_, TstOp::Ge | TstOp::Max) => holds(a, b, |a, b| a >= b),
        (_, TstOp::L | TstOp::Min) => holds(a, b, |a, b| a < b),
        (_, TstOp::Le | TstOp::C) => holds(a, b, |a, b| a <= b),
    }
}

/// The operations of a plain group; `None` when it is not plain.
fn operations(step: &Step) -> Option<Vec<Op>> {
    if step.repeat != 1 || step.atomic || step.last {
        return None;
    }
    match &step.action {
        Action::Main(main) => main_group(main),
        Action::Bitwise(bitwise) => bitwise_group(bitwise),
        Action::Control(_) => None,
    }
}

fn tests(step: &Step) -> bool {
    matches!(&step.action, Action::Main(main) if main.tst.is_some())
}

fn column(register: Register) -> Option<u16> {
    match register {
        Register::Column(column) => Some(column),
        _ => None,
    }
}

/// The column with source `index`; what instances share is spread out by an operation in front.
fn source(register: Register, index: usize, ops: &mut Vec<Op>) -> Option<u16> {
    let (kind, number) = match register {
        Register::Column(column) => return Some(column),
        Register::Shared(number) => (Kind::Shared, number),
        Register::Coefficient(number) => (Kind::Coefficient, number),
        _ => return None,
    };
    let to = SPREAD + index as u16;
    if !ops.iter().any(|op| op.to == to) {
        ops.push(Op { kind, sources: [number, 0, 0], to, signs: [Sign::default(); 3] });
    }
    Some(to)
}

fn copy(from: u16, to: u16) -> Op {
    Op { kind: Kind::Move, sources: [from, 0, 0], to, signs: [Sign::default(); 3] }
}

fn main_group(main: &Main) -> Option<Vec<Op>> {
    let apart = main.sop.is_some() || main.extra.is_some();
    if apart || main.pck.is_some() || main.mov.is_some() || main.backend.is_some() {
        return None;
    }
    // A phase that no selector chooses may still do something: drive a result itself.
    let harmless = |alu: &Option<Alu>| {
        let drives = |op| matches!(op, AluOp::Fred | AluOp::Sngl | AluOp::Gcmp | AluOp::Gexp | AluOp::Fsqrt);
        alu.as_ref().is_none_or(|a| !drives(a.op) || (a.op == AluOp::Sngl && a.sngl_op == SnglOp::Byp))
    };
    if !harmless(&main.p0) || !harmless(&main.p1) {
        return None;
    }
    // A 64-bit operation drives FTE.
    let narrow =
        |alu: &Option<Alu>| alu.as_ref().is_none_or(|a| a.op != AluOp::Int32_64 || a.int32_64_op == Int32_64Op::Madd32);
    let (mut ops, mut last) = (Vec::new(), Vec::new());
    let phase = |wire: Wire, ops: &mut Vec<Op>| match wire {
        Wire::Ft0 => alu(main.p0.as_ref()?, main, 0, ops),
        Wire::Ft1 => alu(main.p1.as_ref()?, main, 3, ops),
        Wire::Fte if narrow(&main.p0) => Some(copy(source(main.sources[main.is0], main.is0, ops)?, 0)),
        Wire::Ft2 | Wire::Fte | Wire::S2 => None,
    };
    // What is tested is computed first; what drives W0 and W1 reads the same sources.
    if let Some(Tst { tst_op, pwen, type_, elem: 0, .. }) = main.tst
        && matches!(type_, TstType::F32 | TstType::U32 | TstType::S32)
        && tst_op != TstOp::C
    {
        for (wire, to) in [(main.is1, TESTED), (main.is2, TESTED + 1)] {
            let unused = to != TESTED && matches!(tst_op, TstOp::Z | TstOp::Gz | TstOp::Gez);
            if pwen && !unused {
                let op = Op { to, ..phase(wire, &mut ops)? };
                ops.push(op);
            }
        }
        if pwen {
            let sources = [TESTED, TESTED + 1, 0];
            last.push(Op { kind: Kind::Test(tst_op, type_), sources, to: TESTED, signs: [Sign::default(); 3] });
        }
    } else if main.tst.is_some() {
        return None;
    }
    let mut results = Vec::new();
    for (wire, result) in [(main.is4, main.results[0]), (main.is5, main.results[1])] {
        if let Some(register) = result {
            let op = phase(wire, &mut ops)?;
            results.push(Op { to: column(register)?, ..op });
        }
    }
    if let [first, second] = &mut results[..]
        && second.sources.contains(&first.to)
    {
        // Both read before either writes.
        let to = std::mem::replace(&mut first.to, SCRATCH);
        results.push(copy(SCRATCH, to));
    }
    ops.extend(results);
    ops.extend(last);
    Some(ops)
}

/// An operation of a phase whose sources start at source `first`; `ops` are in front of it.
fn alu(alu: &Alu, main: &Main, first: usize, ops: &mut Vec<Op>) -> Option<Op> {
    if alu.sat || alu.s0flr || alu.s2flr || alu.cin {
        return None;
    }
    let bit = |is: bool| if is { float::SIGN } else { 0 };
    let sign = |abs: bool, neg: bool| Sign { clear: bit(abs), flip: bit(neg) };
    let signs = [sign(alu.s0abs, alu.s0neg), sign(alu.s1abs, alu.s1neg), sign(alu.s2abs, alu.s2neg)];
    let changed = signs != [Sign::default(); 3];
    let (kind, operands) = match alu.op {
        AluOp::Fmad => (if changed { Kind::MadChanged } else { Kind::Mad }, 3),
        AluOp::Fadd => (if changed { Kind::AddChanged } else { Kind::Add }, 2),
        AluOp::Fmul => (if changed { Kind::MulChanged } else { Kind::Mul }, 2),
        AluOp::Sngl if alu.sngl_op == SnglOp::Byp && !changed => (Kind::Move, 1),
        AluOp::Int32_64 if alu.int32_64_op == Int32_64Op::Madd32 && !changed => (Kind::MadInteger, 3),
        _ => return None,
    };
    let mut sources = [0; 3];
    for (i, place) in sources.iter_mut().enumerate().take(operands) {
        *place = source(main.sources[first + i], first + i, ops)?;
    }
    Some(Op { kind, sources, to: 0, signs })
}

fn bitwise_group(group: &Bitwise) -> Option<Vec<Op>> {
    let (Some(to), None) = (group.results[0], group.results[1]) else { return None };
    let to = column(to)?;
    let plain = |b0: &Bw0| b0.imm == 0 && b0.bitmask_src_op == BitmaskSrcOp::Byp && b0.shift1_op == Shift1Op::Byp;
    if !group.b0.as_ref().is_none_or(plain) {
        return None;
    }
    let op = |kind, a: u16, b: u16| Op { kind, sources: [a, b, 0], to, signs: [Sign::default(); 3] };
    let mut ops = Vec::new();
    let mut logic = None;
    if let Some(b1) = &group.b1 {
        let Bw1 { mskb: false, mska: false, logical_op } = *b1 else { return None };
        let kind = match logical_op {
            LogicalOp::And => Kind::And,
            LogicalOp::Or => Kind::Or,
            LogicalOp::Xor => Kind::Xor,
            _ => return None,
        };
        let (a, b) = (source(group.sources[2], 2, &mut ops)?, source(group.sources[3], 3, &mut ops)?);
        logic = Some(op(kind, a, b));
    }
    if let Some(b2) = &group.b2 {
        let Bw2 { pwen: false, shift2_op, .. } = *b2 else { return None };
        let kind = match shift2_op {
            Shift2Op::Lsl => Kind::Left,
            Shift2Op::Shr => Kind::Right,
            Shift2Op::AsrTwb => Kind::RightSigned,
            Shift2Op::Rol => Kind::Rotate,
            _ => return None,
        };
        // A shift by the constant 0 is what compilers write for none.
        if group.sources[4] != Register::Column(0) || logic.is_none() {
            let value = match &mut logic {
                Some(logic) => {
                    logic.to = SCRATCH;
                    SCRATCH
                }
                None => source(group.sources[1], 1, &mut ops)?,
            };
            let by = source(group.sources[4], 4, &mut ops)?;
            ops.extend(logic);
            ops.push(op(kind, value, by));
            return Some(ops);
        }
    }
    ops.push(logic?);
    Some(ops)
}

/// Whether groups with this condition can be executed together: their instances stay the same meanwhile, since plain
/// groups write neither Pe nor P0.
pub(super) fn active(task: &Task, condition: Cc) -> Mask {
    let Task { valid, running, predicate, .. } = *task;
    valid
        & match condition {
            Cc::E1Zx => running,
            Cc::E1Z1 => running & predicate,
            Cc::ExZx => Mask::MAX,
            Cc::E1Z0 => running & !predicate,
        }
}
