//! What a group is in operations on columns.
//!
//! The wires of a group are rows: a source's own, or scratch rows that operations write. Only wires that drive a result
//! or a test are computed.

use isaforge_usc::{
    Alu, AluOp, BitmaskSrcOp, BwTstOp, BwTstSrc, CountOp, HalfPart, Int32_64Op, LogicalOp, Mov, Shift1Op, Shift2Op,
    SnglOp, Tst, TstOp, TstType,
};

use crate::usc::lanes::ROWS;
use crate::usc::program::{Bitwise, Control, Main, Wire, counts_shift, moved};
use crate::usc::register::{COLUMNS, Register};
use crate::usc::rules::float;

use super::operate::{self as op, Lane, NOWHERE, Op, Relation, Sign, conditional, lanes, relation};
use super::pair::paired;

/// Where a group's intermediate values are.
const SCRATCH: u16 = COLUMNS as u16;
/// Where a register waits that a result overwrites and another one gives.
const HELD: u16 = SPREAD - 1;
/// Where what all instances share is spread out.
const SPREAD: u16 = SCRATCH + 40;
const _: () = assert!(COLUMNS + 40 < ROWS);
/// The constant 0.
const ZERO: u16 = 0;

/// A value that all instances share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    /// Of a register.
    Register(Register),
    /// Of a group itself.
    Word(u32),
}

/// The shared values of a program, each with a row of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Spreads {
    values: Vec<Shared>,
    /// Banks whose registers keep their values while the program runs.
    pub constant: Banks,
}

/// Banks of registers that instances share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Banks {
    pub shared: bool,
    pub coefficients: bool,
    pub globals: bool,
}

impl Spreads {
    /// The values with their rows.
    pub fn rows(&self) -> impl Iterator<Item = (u16, Shared)> {
        (SPREAD..).zip(self.values.iter().copied())
    }

    fn row(&mut self, value: Shared) -> Option<u16> {
        let at = match self.values.iter().position(|other| *other == value) {
            Some(at) => at,
            None if usize::from(SPREAD) + self.values.len() < ROWS => {
                self.values.push(value);
                self.values.len() - 1
            }
            None => return None,
        };
        Some(SPREAD + at as u16)
    }

    /// The row with a register's value; `None` when it has none.
    fn register(&mut self, register: Register) -> Option<u16> {
        let Banks { shared, coefficients, globals } = self.constant;
        match register {
            Register::Column(column) => Some(column),
            Register::Shared(_) if shared => self.row(Shared::Register(register)),
            Register::Coefficient(_) | Register::Alternate(_) if coefficients => self.row(Shared::Register(register)),
            Register::Dynamic(_) => self.row(Shared::Register(register)),
            Register::Global(_) if globals => self.row(Shared::Register(register)),
            _ => None,
        }
    }
}

/// A group on its way to operations.
struct Lowering<'a> {
    ops: Vec<Op>,
    scratch: u16,
    spreads: &'a mut Spreads,
    sources: [Register; 6],
}

/// The operations of a main group; `None` when the data path has to execute it.
pub(super) fn main(main: &Main, repeat: u16, spreads: &mut Spreads) -> Option<Vec<Op>> {
    let apart = main.sop.is_some() || main.extra.is_some();
    if apart || main.pck.is_some() || main.backend.is_some() || main.unpacks {
        return None;
    }
    let mut all = Vec::new();
    for k in 0..repeat {
        let mut group = Lowering::new(main.sources, main.reads, k, spreads)?;
        let results = group.main(main)?;
        all.extend(group.finish(&results, &main.results, k)?);
    }
    Some(paired(all))
}

/// The operations of a bitwise group.
pub(super) fn bitwise(bitwise: &Bitwise, repeat: u16, spreads: &mut Spreads) -> Option<Vec<Op>> {
    let mut all = Vec::new();
    for k in 0..repeat {
        let mut group = Lowering::new(bitwise.sources, bitwise.reads, k, spreads)?;
        let results = group.bitwise(bitwise)?;
        all.extend(group.finish(&results, &bitwise.results, k)?);
    }
    Some(all)
}

/// The operation of a conditional instruction.
pub(super) fn condition(control: &Control, spreads: &mut Spreads) -> Option<Op> {
    let cnd = control.parts.cnd?;
    let handler = conditional(cnd.cndinst, cnd.pcnd)?;
    let to = match control.result {
        Some(Register::Column(column)) => column,
        Some(_) => return None,
        None => SCRATCH,
    };
    let sources = [spreads.register(control.sources[0])?, spreads.register(control.sources[2])?, 0];
    Some(Op { handler, sources, reads: 2, number: cnd.adjust, ..lanes::<op::Move>(&[0], to) })
}

impl<'a> Lowering<'a> {
    fn new(sources: [Register; 6], reads: u8, k: u16, spreads: &'a mut Spreads) -> Option<Self> {
        // An index may lead to where there is nothing, even when nothing comes of it.
        let may_fail = |i: usize| reads >> i & 1 != 0 && matches!(sources[i], Register::Indexed { .. });
        if (0..6).any(may_fail) {
            return None;
        }
        let sources = sources.map(|source| source.plus(k).unwrap_or(source));
        Some(Lowering { ops: Vec::new(), scratch: SCRATCH, spreads, sources })
    }

    fn source(&mut self, index: usize) -> Option<u16> {
        self.spreads.register(self.sources[index])
    }

    /// Room for a value.
    fn fresh(&mut self) -> Option<u16> {
        self.scratch += 1;
        (self.scratch < HELD).then_some(self.scratch - 1)
    }

    /// Computes a value.
    fn compute<L: Lane>(&mut self, sources: &[u16]) -> Option<u16> {
        let to = self.fresh()?;
        self.ops.push(lanes::<L>(sources, to));
        Some(to)
    }

    fn main(&mut self, main: &Main) -> Option<[u16; 2]> {
        // What a phase does beside giving a value, and what drives W0 instead of what is selected.
        let drives = |alu: &Alu| match alu.op {
            _ if alu.halves || alu.s0half != HalfPart::Whole => Some(None),
            AluOp::Fred | AluOp::Gcmp | AluOp::Gexp | AluOp::Fsqrt => Some(None),
            AluOp::Sngl => match alu.sngl_op {
                SnglOp::Byp | SnglOp::Dsx | SnglOp::Dsy | SnglOp::Dsxf | SnglOp::Dsyf => None,
                SnglOp::Rcp | SnglOp::Rsq | SnglOp::Log | SnglOp::Logcn | SnglOp::Exp | SnglOp::Arctanc => {
                    Some(Some(Wire::Ft0))
                }
                _ => Some(None),
            },
            _ => None,
        };
        if main.p1.as_ref().and_then(drives).is_some() {
            return None;
        }
        let direct = match main.p0.as_ref().and_then(drives) {
            Some(None) => return None,
            Some(wire) => wire,
            None => None,
        };
        let mut wires = Wires { main, known: [None; 3] };
        let found = match &main.tst {
            Some(tst) => self.test(tst, &mut wires)?,
            None => None,
        };
        let mut results = [ZERO; 2];
        let selected = [main.is4, main.is5];
        for (i, result) in results.iter_mut().enumerate().filter(|(i, _)| main.results[*i].is_some()) {
            let Some(Mov { movw0, movw1, maskw0, aw, .. }) = main.mov else {
                let wire = if i == 0 { direct.unwrap_or(selected[0]) } else { selected[1] };
                *result = wires.get(wire, self)?;
                continue;
            };
            let bytes = (0..4).filter(|i| maskw0 >> i & 1 != 0).fold(0u32, |m, i| m | 0xff << (8 * i));
            let always = if i == 0 { aw && bytes == u32::MAX } else { false };
            if (found.is_none() && !aw) || (i == 1 && aw) {
                // No test: nothing is moved.
                *result = wires.get(selected[i], self)?;
                continue;
            }
            let new = wires.get(moved(if i == 0 { movw0 } else { movw1 }), self)?;
            if always {
                *result = new;
                continue;
            }
            let old = wires.get(selected[i], self)?;
            let new = if i == 0 && bytes != u32::MAX { self.bytes(new, old, bytes)? } else { new };
            *result = match found {
                Some(found) if !aw => self.compute::<op::Select>(&[found, new, old])?,
                _ => new,
            };
        }
        Some(results)
    }

    /// The bytes of `new` under a mask, the others of `old`.
    fn bytes(&mut self, new: u16, old: u16, number: u32) -> Option<u16> {
        let to = self.fresh()?;
        self.ops.push(Op { number, ..lanes::<op::SelectBytes>(&[new, old], to) });
        Some(to)
    }

    /// A phase whose sources start at source `first`.
    fn alu(&mut self, alu: &Alu, first: usize) -> Option<u16> {
        let bit = |is: bool| if is { float::SIGN } else { 0 };
        let sign = |abs: bool, neg: bool| Sign { clear: bit(abs), flip: bit(neg) };
        let signs = [sign(alu.s0abs, alu.s0neg), sign(alu.s1abs, alu.s1neg), sign(alu.s2abs, alu.s2neg)];
        let floors = [alu.s0flr, false, alu.s2flr];
        let mut operand = |i: usize| {
            let row = self.source(first + i)?;
            if floors[i] { self.compute::<op::Floor>(&[row]) } else { Some(row) }
        };
        let value = match alu.op {
            AluOp::Fmad => {
                let rows = [operand(0)?, operand(1)?, operand(2)?];
                self.signed::<op::Mad, op::MadSigned>(&rows, signs)?
            }
            AluOp::Fadd => {
                let rows = [operand(0)?, operand(1)?];
                self.signed::<op::Add, op::AddSigned>(&rows, signs)?
            }
            AluOp::Fmul => {
                let rows = [operand(0)?, operand(1)?];
                self.signed::<op::Mul, op::MulSigned>(&rows, signs)?
            }
            AluOp::Sngl => {
                let mut row = operand(0)?;
                if signs[0] != Sign::default() {
                    row = self.signed::<op::Move, op::MoveSigned>(&[row], signs)?;
                }
                return match alu.sngl_op {
                    SnglOp::Byp => Some(row),
                    SnglOp::Rcp => self.compute::<op::Reciprocal>(&[row]),
                    SnglOp::Rsq => self.compute::<op::ReciprocalRoot>(&[row]),
                    SnglOp::Log | SnglOp::Logcn => self.compute::<op::Logarithm>(&[row]),
                    SnglOp::Exp => self.compute::<op::Power>(&[row]),
                    SnglOp::Arctanc => self.compute::<op::Arctangent>(&[row]),
                    _ => None,
                };
            }
            AluOp::Int32_64 if alu.int32_64_op == Int32_64Op::Madd32 && !alu.cin => {
                let mut rows = [ZERO; 3];
                let modifiers = [(alu.s0abs, alu.s0neg), (alu.s1abs, alu.s1neg), (alu.s2abs, alu.s2neg)];
                for (i, (row, (abs, neg))) in rows.iter_mut().zip(modifiers).enumerate() {
                    *row = self.source(first + i)?;
                    if abs {
                        *row = self.compute::<op::Absolute>(&[*row])?;
                    }
                    if neg {
                        *row = self.compute::<op::Negate>(&[*row])?;
                    }
                }
                return self.compute::<op::MadInteger>(&rows);
            }
            _ => return None,
        };
        if alu.sat { self.compute::<op::Saturate>(&[value]) } else { Some(value) }
    }

    /// An operation, or the one that changes signs first.
    fn signed<Plain: Lane, Signed: Lane>(&mut self, rows: &[u16], signs: [Sign; 3]) -> Option<u16> {
        if signs[..rows.len()].iter().all(|sign| *sign == Sign::default()) {
            return self.compute::<Plain>(rows);
        }
        let to = self.fresh()?;
        self.ops.push(Op { signs, ..lanes::<Signed>(rows, to) });
        Some(to)
    }

    /// A test of whole words: it sets P0 if asked, and a row of masks if something is moved by it.
    fn test(&mut self, tst: &Tst, wires: &mut Wires<'_>) -> Option<Option<u16>> {
        if tst.elem != 0 {
            return None;
        }
        let a = wires.get(wires.main.is1, self)?;
        let b = match tst.tst_op {
            TstOp::Z | TstOp::Gz | TstOp::Gez => ZERO,
            _ => wires.get(wires.main.is2, self)?,
        };
        let to = self.fresh()?;
        let [found, predicate] = match tst.type_ {
            TstType::F32 => match tst.tst_op {
                TstOp::Z | TstOp::E => relation::<op::FloatEqual>(a, b, to),
                TstOp::Ne => relation::<op::FloatNotEqual>(a, b, to),
                TstOp::Gz | TstOp::G => relation::<op::FloatGreater>(a, b, to),
                TstOp::Gez | TstOp::Ge | TstOp::Max => relation::<op::FloatGreaterOrEqual>(a, b, to),
                TstOp::L | TstOp::Min => relation::<op::FloatLess>(a, b, to),
                TstOp::Le => relation::<op::FloatLessOrEqual>(a, b, to),
                TstOp::C => return None,
            },
            TstType::U32 | TstType::S32 => self.integers(tst, a, b, to)?,
            _ => return None,
        };
        if tst.pwen {
            self.ops.push(predicate);
        }
        if wires.main.mov.as_ref().is_some_and(|mov| !mov.aw) {
            self.ops.push(found);
            return Some(Some(to));
        }
        Some(None)
    }

    fn integers(&mut self, tst: &Tst, a: u16, b: u16, to: u16) -> Option<[Op; 2]> {
        fn either<S: Relation, U: Relation>(tst: &Tst, a: u16, b: u16, to: u16) -> [Op; 2] {
            if tst.type_ == TstType::S32 { relation::<S>(a, b, to) } else { relation::<U>(a, b, to) }
        }
        Some(match tst.tst_op {
            TstOp::Z | TstOp::E => relation::<op::Equal>(a, b, to),
            TstOp::Ne => relation::<op::NotEqual>(a, b, to),
            TstOp::Gz | TstOp::G => either::<op::Greater, op::Above>(tst, a, b, to),
            TstOp::Gez | TstOp::Ge | TstOp::Max => either::<op::GreaterOrEqual, op::AboveOrEqual>(tst, a, b, to),
            TstOp::L | TstOp::Min => either::<op::Less, op::Below>(tst, a, b, to),
            TstOp::Le => either::<op::LessOrEqual, op::BelowOrEqual>(tst, a, b, to),
            TstOp::C => return None,
        })
    }

    fn bitwise(&mut self, group: &Bitwise) -> Option<[u16; 2]> {
        let mut ft0 = self.source(0)?;
        let mut ft1 = self.source(1)?;
        let mut ft2 = self.source(2)?;
        let mut ft3 = ft2;
        if let Some(b0) = &group.b0 {
            let own = [ft0, ft1];
            match (b0.imm, b0.bitmask_src_op) {
                (16, _) => ft1 = self.spreads.row(Shared::Word(b0.imm16))?,
                (32, _) => ft1 = self.spreads.row(Shared::Word(b0.imm32))?,
                (_, BitmaskSrcOp::Msk) => {
                    ft0 = self.compute::<op::BitMaskTop>(&own)?;
                    ft1 = self.compute::<op::BitMask>(&own)?;
                }
                _ => {}
            }
            ft2 = match b0.shift1_op {
                Shift1Op::Byp => ft2,
                Shift1Op::Shfl => self.compute::<op::Shuffle>(&[ft2, own[1]])?,
                Shift1Op::Rev => self.compute::<op::Reverse>(&[ft2])?,
                Shift1Op::Lsl => self.compute::<op::Left>(&[ft2, own[1]])?,
            };
            let counted = if counts_shift(b0) { ft2 } else { ft3 };
            ft3 = match b0.count_op {
                CountOp::Byp => counted,
                CountOp::Cbs => self.compute::<op::Ones>(&[counted])?,
                CountOp::Ftb => self.compute::<op::TopBit>(&[counted])?,
                CountOp::FtbShi => self.compute::<op::TopBitSigned>(&[counted])?,
                CountOp::FtbMsb => self.compute::<op::TopBitFromTop>(&[counted])?,
            };
        }
        let mut ft4 = ft1;
        if let Some(b1) = &group.b1 {
            let s3 = self.source(3)?;
            let a = if b1.mska { self.compute::<op::And>(&[ft2, ft1])? } else { ft2 };
            let b = if b1.mskb { self.compute::<op::AndNot>(&[s3, ft1])? } else { s3 };
            ft4 = match b1.logical_op {
                LogicalOp::Or => self.compute::<op::Or>(&[a, b])?,
                LogicalOp::And => self.compute::<op::And>(&[a, b])?,
                LogicalOp::Xor => self.compute::<op::Xor>(&[a, b])?,
                LogicalOp::Nor => self.compute::<op::Nor>(&[a, b])?,
                LogicalOp::Nand => self.compute::<op::Nand>(&[a, b])?,
                LogicalOp::Xnor => self.compute::<op::Xnor>(&[a, b])?,
                LogicalOp::Byp => ft1,
            };
        }
        let mut w0 = ft4;
        if let Some(b2) = &group.b2 {
            let by = self.source(4)?;
            w0 = match b2.shift2_op {
                // A shift by the constant 0 is what compilers write for none.
                Shift2Op::Lsl | Shift2Op::Shr | Shift2Op::Rol | Shift2Op::AsrTwb if by == ZERO => ft4,
                Shift2Op::Lsl => self.compute::<op::Left>(&[ft4, by])?,
                Shift2Op::Shr => self.compute::<op::Right>(&[ft4, by])?,
                Shift2Op::Rol => self.compute::<op::Rotate>(&[ft4, by])?,
                Shift2Op::AsrTwb => self.compute::<op::RightSigned>(&[ft4, by])?,
                Shift2Op::AsrPwb => {
                    let sign = self.spreads.row(Shared::Word(15))?;
                    self.compute::<op::RightFrom>(&[ft4, by, sign])?
                }
                Shift2Op::AsrMtb => self.compute::<op::RightFrom>(&[ft4, by, ft0])?,
                Shift2Op::AsrFtb => self.compute::<op::RightFrom>(&[ft4, by, ft3])?,
                Shift2Op::Cps => return None,
            };
            if b2.pwen {
                let tested = if b2.tst_src == BwTstSrc::Ft5 { w0 } else { ft3 };
                let [_, predicate] = match b2.bw_tst_op {
                    BwTstOp::Z => relation::<op::Equal>(tested, ZERO, NOWHERE),
                    BwTstOp::Nz => relation::<op::NotEqual>(tested, ZERO, NOWHERE),
                };
                self.ops.push(predicate);
            }
        }
        Some([w0, ft3])
    }

    /// Everything, with results in their registers: both are read before either is written.
    fn finish(self, rows: &[u16; 2], results: &[Option<Register>; 2], k: u16) -> Option<Vec<Op>> {
        let mut copies = Vec::new();
        for (row, result) in rows.iter().zip(results) {
            match result.map(|register| register.plus(k).unwrap_or(register)) {
                Some(Register::Column(to)) => copies.push((*row, to)),
                Some(_) => return None,
                None => {}
            }
        }
        let ops = needed(self.ops, &copies);
        let first = put(ops.clone(), &copies);
        match copies[..] {
            [a, b] if a.1 != b.1 => {
                let second = put(ops, &[b, a]);
                Some(if second.len() < first.len() { second } else { first })
            }
            _ => Some(first),
        }
    }
}

/// A row that nothing outside its group reads.
fn is_scratch(row: u16) -> bool {
    (SCRATCH..SPREAD).contains(&row)
}

/// Without operations whose values nothing uses.
fn needed(mut ops: Vec<Op>, copies: &[(u16, u16)]) -> Vec<Op> {
    for i in (0..ops.len()).rev() {
        let read = ops[i + 1..].iter().any(|op| op.read().contains(&ops[i].to));
        if ops[i].to != NOWHERE && !read && !copies.iter().any(|(row, _)| *row == ops[i].to) {
            ops.remove(i);
        }
    }
    ops
}

/// Brings rows into the registers of results, in this order, as if all were read first.
fn put(mut ops: Vec<Op>, copies: &[(u16, u16)]) -> Vec<Op> {
    let mut held = Vec::new();
    for (i, (row, _)) in copies.iter().enumerate() {
        // A register that an earlier result overwrites waits elsewhere.
        if !is_scratch(*row) && copies[..i].iter().any(|(_, to)| to == row) {
            ops.push(lanes::<op::Move>(&[*row], HELD));
            held.push(i);
        }
    }
    for (i, (row, to)) in copies.iter().enumerate() {
        let row = if held.contains(&i) { HELD } else { *row };
        let reads = |op: &Op| op.read().contains(&row);
        let again = copies[i + 1..].iter().any(|(other, _)| *other == row) || ops.iter().any(reads);
        let made = ops.iter().position(|op| op.to == row).filter(|_| is_scratch(row) && !again);
        // What nothing else reads is computed where it is to go, unless its operands are gone by then.
        let last = made.filter(|at| !ops[at + 1..].iter().any(|later| ops[*at].read().contains(&later.to)));
        match last {
            Some(at) => {
                let made = ops.remove(at);
                ops.push(Op { to: *to, ..made });
            }
            None if row == *to => {}
            None => ops.push(lanes::<op::Move>(&[row], *to)),
        }
    }
    ops
}

/// The wires of a main group that are known.
struct Wires<'a> {
    main: &'a Main,
    known: [Option<u16>; 3],
}

impl Wires<'_> {
    /// The row of a wire.
    fn get(&mut self, wire: Wire, group: &mut Lowering<'_>) -> Option<u16> {
        let main = self.main;
        let wide = |alu: &Option<Alu>| {
            alu.as_ref().is_some_and(|a| a.op == AluOp::Int32_64 && a.int32_64_op != Int32_64Op::Madd32)
        };
        let place = match wire {
            Wire::Ft0 => 0,
            Wire::Ft1 => 1,
            Wire::Fte => 2,
            // Nothing is packed here.
            Wire::Ft2 => return Some(ZERO),
            Wire::S2 => return None,
        };
        if self.known[place].is_none() {
            self.known[place] = Some(match wire {
                Wire::Ft0 => main.p0.as_ref().map_or(Some(ZERO), |alu| group.alu(alu, 0))?,
                Wire::Ft1 => main.p1.as_ref().map_or(Some(ZERO), |alu| group.alu(alu, 3))?,
                // A 64-bit operation drives it.
                _ if wide(&main.p0) || wide(&main.p1) => return None,
                _ => group.source(main.is0)?,
            });
        }
        self.known[place]
    }
}
