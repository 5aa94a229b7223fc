//! Compares every operation at every level with the evaluator, alone and in random graphs.

use std::ops::{ControlFlow, Range};

use isaforge_core::semantics::evaluate::{Column, Environment, Scratch, evaluate};
use isaforge_core::semantics::{AtomicOp, Class, NONE, Node, Op, Semantics, Shape, Special, Type};

use super::effect::{Rows, perform};
use super::select::{Binder, Location, select};
use super::{Family, Member};
use crate::level::Level;

mod graphs;

#[path = "../../../tests/seed/mod.rs"]
mod seed;

pub(super) const ROWS: usize = 256;
const OPERANDS: u16 = 6;
const ACTIVE: u16 = 8;
const FIRST_CONSTANT: u16 = 9;
const FIRST_TEMPORARY: u16 = 80;

/// Lanes with rows: each of the `L` lanes has a slot of `SLOT` bits.
#[derive(Clone)]
pub(super) struct Lanes<const K: usize, const SLOT: u32, const L: usize> {
    pub(super) rows: Vec<[u64; K]>,
    pub(super) active: u64,
    pub(super) set: u64,
    pub(super) stored: Vec<(u64, u64, u64)>,
}

/// A bundle of such lanes.
#[derive(Debug)]
pub(super) struct Bundle<const SLOT: u32, const L: usize>;

impl<const K: usize, const SLOT: u32, const L: usize> Family<K> for Bundle<SLOT, L> {
    const SLOT: u32 = SLOT;
    const PARTS: usize = L * SLOT as usize / 64 / K;
    type Member<'m> = Lanes<K, SLOT, L>;
}

impl<const K: usize, const SLOT: u32, const L: usize> Lanes<K, SLOT, L> {
    const PARTS: usize = L * SLOT as usize / 64 / K;
}

impl<const K: usize, const SLOT: u32, const L: usize> Member<K> for Lanes<K, SLOT, L> {
    fn set(&self, _: u16) -> u64 {
        self.set
    }

    fn change_set(&mut self, _: u16, lanes: u64, of: u64) {
        self.set = self.set & !of | lanes & of;
    }

    fn part(&self, row: u16, part: usize) -> &[u64; K] {
        &self.rows[usize::from(row) * Self::PARTS + part]
    }

    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; K] {
        &mut self.rows[usize::from(row) * Self::PARTS + part]
    }
}

impl<const K: usize, const SLOT: u32, const L: usize> Rows<L> for Lanes<K, SLOT, L> {
    const SLOT: u32 = SLOT;

    fn row(&self, row: u16) -> Column<L> {
        std::array::from_fn(|lane| super::slot::<K, Bundle<SLOT, L>>(self, row, lane))
    }

    fn set_row(&mut self, row: u16, slots: &Column<L>) {
        (0..L).for_each(|lane| super::set_slot::<K, Bundle<SLOT, L>>(self, row, lane, slots[lane]));
    }
}

/// Operands are the rows from 0 on; stores are recorded; a load returns a mix of the address.
impl<const K: usize, const SLOT: u32, const L: usize> Environment<L> for Lanes<K, SLOT, L> {
    type Fault = ();

    fn active(&self) -> u64 {
        self.active
    }

    fn operand(&mut self, operand: u16, _: u16, ty: Type) -> Result<Column<L>, ()> {
        Ok(self.row(operand).map(|slot| slot & ty.mask()))
    }

    fn write(&mut self, operand: u16, element: u16, ty: Type, value: &Column<L>, mask: u64) -> Result<(), ()> {
        let shift = ty.size() * u32::from(element);
        let mut row = self.row(operand);
        for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
            row[lane] = row[lane] & !(ty.mask() << shift) | (value[lane] & ty.mask()) << shift;
        }
        self.set_row(operand, &row);
        Ok(())
    }

    fn state(&mut self, _: u16, _: Option<&Column<L>>) -> Result<Column<L>, ()> {
        Ok(std::array::from_fn(|lane| self.set >> lane & 1))
    }

    fn set_state(&mut self, _: u16, _: Option<&Column<L>>, value: &Column<L>, mask: u64) -> Result<(), ()> {
        let lanes = value.iter().enumerate().fold(0, |all, (lane, holds)| all | (holds & 1) << lane);
        self.change_set(0, lanes, mask);
        Ok(())
    }

    fn special(&mut self, _: Special) -> Column<L> {
        [7; L]
    }

    fn load(&mut self, _: u16, ty: Type, address: &Column<L>, _: u64) -> Result<Column<L>, ()> {
        Ok(address.map(|address| address.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ty.mask()))
    }

    fn store(&mut self, _: u16, _: Type, address: &Column<L>, value: &Column<L>, mask: u64) -> Result<(), ()> {
        (0..L).filter(|lane| mask >> lane & 1 != 0).for_each(|i| self.stored.push((i as u64, address[i], value[i])));
        Ok(())
    }

    fn atomic(
        &mut self,
        _: AtomicOp,
        _: u16,
        _: Type,
        _: &Column<L>,
        _: &Column<L>,
        _: Option<&Column<L>>,
        _: u64,
    ) -> Result<Column<L>, ()> {
        Err(())
    }

    fn branch(&mut self, _: &Column<L>, _: u64) -> Result<(), ()> {
        Err(())
    }

    fn barrier(&mut self, _: u64) -> Result<(), ()> {
        Err(())
    }

    fn end(&mut self, _: u64) -> Result<(), ()> {
        Err(())
    }

    fn fault(&mut self, _: u16, _: &Column<L>, _: u64) -> Result<(), ()> {
        Err(())
    }

    fn intrinsic(&mut self, _: u16, _: &[Column<L>], _: u64) -> Result<Column<L>, ()> {
        Err(())
    }
}

#[derive(Default)]
struct Bind {
    constants: Vec<u64>,
}

impl Binder for Bind {
    fn operand(&mut self, operand: u16, _: u16, _: Type) -> Location {
        // The last operand is not in a row as far as the code knows.
        if operand + 1 == OPERANDS { Location::Asked } else { Location::Row(operand, 0) }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        if operand + 1 == OPERANDS { Location::Asked } else { Location::Row(operand, ty.size() * u32::from(element)) }
    }

    fn state(&mut self, _: u16) -> Location {
        Location::Set(0)
    }

    fn state_target(&mut self, _: u16) -> Location {
        Location::Set(0)
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        let at = self.constants.iter().position(|c| *c == slot).unwrap_or_else(|| {
            self.constants.push(slot);
            self.constants.len() - 1
        }) as u16;
        (FIRST_CONSTANT + at < FIRST_TEMPORARY).then_some(FIRST_CONSTANT + at)
    }

    fn temporaries(&self) -> Range<u16> {
        FIRST_TEMPORARY..ROWS as u16
    }

    fn active(&self) -> u16 {
        ACTIVE
    }
}

fn semantics(nan: bool) -> &'static Semantics {
    const PLAIN: Semantics = Semantics { nan16: None, nan32: None, nan64: None, ..*isaforge_vpu::semantics::SEMANTICS };
    static NONE: Semantics = PLAIN;
    static ONE: Semantics =
        Semantics { nan16: Some(0x7e00), nan32: Some(0x7fc0_0000), nan64: Some(0x7ff8 << 48), ..PLAIN };
    if nan { &ONE } else { &NONE }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    /// Returns random bits, or components at the limits of the formats.
    fn slot(&mut self) -> u64 {
        const HALVES: [u16; 16] = [
            0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe55,
            0xffff,
        ];
        const WORDS: [u32; 14] = [
            0,
            1 << 31,
            1,
            0x7f_ffff,
            0x80_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            0xffc1_2345,
            u32::MAX,
            0x4b80_0001,
        ];
        match self.below(4) {
            0 => (0..4).fold(0, |all, _| all << 16 | u64::from(HALVES[self.below(16)])),
            1 => (0..2).fold(0, |all, _| all << 32 | u64::from(WORDS[self.below(14)])),
            2 => self.next() & self.next() & self.next(),
            _ => self.next(),
        }
    }
}

/// Runs a shape both ways on random rows, at all levels, with all lanes and with some. Returns false if no code
/// covers it.
fn agree<const K: usize, const SLOT: u32, const L: usize>(shape: &Shape, nan: bool, random: &mut Random) -> bool {
    let semantics = semantics(nan);
    let mut bind = Bind::default();
    let Some(code) = select::<K, Bundle<SLOT, L>>(semantics, shape, &mut bind) else { return false };
    let rows = vec![[0; K]; ROWS * Lanes::<K, SLOT, L>::PARTS];
    let set = random.next() & isaforge_core::bits::ones(L as u32);
    let lanes = Lanes::<K, SLOT, L> { rows, active: 0, set, stored: Vec::new() };
    let all = isaforge_core::bits::ones(L as u32);
    for active in [all, random.next() & all, all] {
        let mut start = lanes.clone();
        start.active = active;
        for row in 0..OPERANDS {
            start.set_row(row, &std::array::from_fn(|_| random.slot()));
        }
        for (row, constant) in (FIRST_CONSTANT..).zip(&bind.constants) {
            start.set_row(row, &[*constant; L]);
        }
        start.set_row(ACTIVE, &std::array::from_fn(|lane| if active >> lane & 1 != 0 { u64::MAX } else { 0 }));
        let mut expected = start.clone();
        let reference = evaluate(semantics, shape, &mut Scratch::default(), &mut expected);
        for level in Level::available() {
            let mut members = [start.clone(), start.clone()];
            let flow = code.run(level, active == all, &mut members, |effect, members| {
                match members.iter_mut().try_for_each(|member| perform::<L, _>(effect, member)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(fault) => ControlFlow::Break(fault),
                }
            });
            assert_eq!(flow.is_break(), reference.is_err(), "{shape:#?}");
            for member in members {
                for row in 0..OPERANDS {
                    let (found, wanted) = (member.row(row), expected.row(row));
                    assert_eq!(
                        found,
                        wanted,
                        "operand {row} at {}, active {active:x}, nan {nan}: {shape:#?}",
                        level.name()
                    );
                }
                assert_eq!(
                    (member.set, &member.stored),
                    (expected.set, &expected.stored),
                    "{}: {shape:#?}",
                    level.name()
                );
            }
        }
    }
    true
}

fn node(op: Op, imm: u16, ty: Type, args: &[u16]) -> Node {
    Node { op, imm, ty, args: std::array::from_fn(|k| args.get(k).copied().unwrap_or(NONE)) }
}

fn push(shape: &mut Shape, node: Node) -> u16 {
    shape.nodes.push(node);
    (shape.nodes.len() - 1) as u16
}

/// Adds a value of a type, taken from the low bits of an operand, or of two if it is wider than a slot.
fn input(shape: &mut Shape, mut slot: u32, operand: u16, ty: Type) -> u16 {
    let mut found = push(shape, node(Op::Operand, 0, Type::unsigned(slot as u8), &[operand, 0]));
    let number = Type::unsigned(ty.size() as u8);
    if ty.size() > slot {
        let high = push(shape, node(Op::Operand, 0, Type::U32, &[(operand + 1) % OPERANDS, 0]));
        (found, slot) = (push(shape, node(Op::Concat, 0, Type::U64, &[found, high])), 64);
    }
    if ty.size() < slot {
        found = push(shape, node(Op::Slice, 0, number, &[found]));
    }
    if ty == number { found } else { push(shape, node(Op::Bits, 0, ty, &[found])) }
}

/// Writes a value to an operand.
fn output(shape: &mut Shape, slot: u32, operand: u16, value: u16, when: u16) {
    let ty = shape.nodes[usize::from(value)].ty;
    if ty.size() > slot && ty.class != Class::Bool {
        let number = push(shape, node(Op::Bits, 0, Type::unsigned(ty.size() as u8), &[value]));
        for (at, size) in [(0, slot), (slot, ty.size() - slot)] {
            let part = push(shape, node(Op::Slice, at as u16, Type::unsigned(size as u8), &[number]));
            output(shape, slot, (operand + (at / slot) as u16) % OPERANDS, part, when);
        }
        return;
    }
    let (value, ty) = if ty.class == Class::Bool {
        let number = Type::unsigned(ty.lanes);
        (push(shape, node(Op::Bits, 0, number, &[value])), number)
    } else {
        (value, ty)
    };
    push(shape, node(Op::Write, 0, ty, &[operand, 0, value, when]));
}

fn types() -> Vec<Type> {
    let mut all = Vec::new();
    for bits in [4, 8, 16, 24, 32, 48, 64] {
        for lanes in [1, 2, 4, 8] {
            all.extend([Type::unsigned(bits).times(lanes), Type::signed(bits).times(lanes)]);
            if matches!(bits, 16 | 32 | 64) {
                all.push(Type::float(bits).times(lanes));
            }
        }
    }
    all.retain(|ty| ty.size() <= 64);
    all
}

fn every_operation<const K: usize, const SLOT: u32, const L: usize>() {
    let mut random = Random(seed::seed(SLOT.into()));
    let integers = [
        Op::Neg,
        Op::Not,
        Op::Abs,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::MulHigh,
        Op::Div,
        Op::Rem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::RotateLeft,
        Op::RotateRight,
        Op::LeadingZeros,
        Op::TrailingZeros,
        Op::CountOnes,
        Op::ReverseBits,
        Op::Min,
        Op::Max,
        Op::AddSat,
        Op::SubSat,
        Op::MulSat,
        Op::AddHalf,
        Op::AddHalfUp,
    ];
    let floats = [
        Op::Neg,
        Op::Abs,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Min,
        Op::Max,
        Op::Fma,
        Op::Sqrt,
        Op::RoundIntegral,
        Op::Canonical,
    ];
    let mut covered = 0;
    for ty in types() {
        let mut shapes = Vec::new();
        for op in if ty.is_float() { &floats[..] } else { &integers[..] } {
            for imm in if matches!(op, Op::Add | Op::Fma | Op::RoundIntegral) && ty.is_float() { 0..5 } else { 0..1 } {
                let mut shape = Shape::default();
                let args: Vec<u16> = (0..3).map(|k| input(&mut shape, SLOT, k, ty)).collect();
                let count = op.node_arguments().count_ones() as usize;
                let result = push(&mut shape, node(*op, imm, ty, &args[..count]));
                output(&mut shape, SLOT, 3, result, NONE);
                if ty.is_float() {
                    let mut shape = shape.clone();
                    shape.nodes.pop();
                    let result = push(&mut shape, node(Op::Canonical, 0, ty, &[result]));
                    output(&mut shape, SLOT, 0, result, NONE);
                    shapes.push(shape);
                }
                shapes.push(shape);
            }
        }
        for how in 0..7 {
            let mut shape = Shape::default();
            let (a, b) = (input(&mut shape, SLOT, 0, ty), input(&mut shape, SLOT, 1, ty));
            let holds = push(&mut shape, node(Op::Compare, how, ty.truth(), &[a, b]));
            let chosen = push(&mut shape, node(Op::Select, 0, ty, &[holds, a, b]));
            output(&mut shape, SLOT, 2, chosen, NONE);
            output(&mut shape, SLOT, 3, holds, NONE);
            shapes.push(shape);
        }
        for to in types().into_iter().filter(|to| to.lanes == ty.lanes) {
            let ops = match (ty.is_float(), to.is_float()) {
                (false, false) if to.bits > ty.bits => vec![(Op::Zext, 0), (Op::Sext, 0)],
                (false, false) if to.bits < ty.bits => vec![(Op::Trunc, 0)],
                (false, false) => Vec::new(),
                (true, true) if to.bits > ty.bits => vec![(Op::Convert, 0), (Op::Convert, 8)],
                _ => (0..5).map(|round| (Op::Convert, round)).collect(),
            };
            for (op, imm) in ops {
                let mut shape = Shape::default();
                let a = input(&mut shape, SLOT, 0, ty);
                let result = push(&mut shape, node(op, imm, to, &[a]));
                output(&mut shape, SLOT, 1, result, NONE);
                shapes.push(shape);
            }
        }
        for shape in shapes {
            covered += usize::from(agree::<K, SLOT, L>(&shape, false, &mut random));
            covered += usize::from(agree::<K, SLOT, L>(&shape, true, &mut random));
        }
    }
    assert!(covered > 1000, "{covered} shapes are covered");
}

#[test]
fn every_operation_is_as_defined_in_slots_of_64_bits() {
    every_operation::<4, 64, 4>();
}

#[test]
fn every_operation_is_as_defined_in_slots_of_32_bits() {
    every_operation::<8, 32, 32>();
}
