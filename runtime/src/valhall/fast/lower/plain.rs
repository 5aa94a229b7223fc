//! Accesses that have handlers of their own: loads and stores of whole words and consecutive registers, and atomics
//! on words whose results are not read.

use isaforge_core::semantics::{AtomicOp, NONE, Node, Op, Part, Shape, Type};
use isaforge_core::table::{self, Count};

use super::known::{Known, state};
use super::slot::{Rows, Slot, Uses};

/// A load or a store of whole words.
#[derive(Clone, Debug)]
pub struct Plain {
    pub stores: bool,
    pub words: u8,
    /// The row of the first word.
    pub data: u16,
    /// The length of the list that begins with it.
    pub length: &'static Count,
    /// The rows of the address.
    pub address: [u16; 2],
    /// The offset that is added to the address.
    pub offset: Known,
}

/// A word of the data: the operand and its element, and its offset in memory.
struct Moved {
    operand: u16,
    element: u16,
    byte: u16,
}

impl Plain {
    /// Returns the access if a shape is one and nothing else.
    pub fn new(shape: &Shape, operands: &'static [table::Operand], rows: &mut Rows) -> Option<Plain> {
        let effects: Vec<&Node> = shape.nodes.iter().filter(|node| node.op.is_effect()).collect();
        let accesses = || effects.iter().copied().filter(|node| matches!(node.op, Op::Load | Op::Store));
        let first = accesses().next()?;
        let (stores, size) = (first.op == Op::Store, whole(first).size);
        let alike = |node: &Node| {
            let [address, a, b, _] = node.args;
            let when = if stores { b } else { a };
            let space = node.imm & 0xff == 0;
            node.op == first.op && address == first.args[0] && whole(node).size == size && space && always(shape, when)
        };
        if !accesses().all(alike) {
            return None;
        }
        let mut moved = Vec::new();
        for node in effects {
            match node.op {
                Op::Store => words(shape, node.args[1], whole(node).from, &mut moved)?,
                Op::Load => {}
                Op::Write if !stores && node.args[3] == NONE => {
                    let byte = loaded(shape, node.args[2])?;
                    moved.push(Moved { operand: node.args[0], element: node.args[1], byte });
                }
                _ => return None,
            }
        }
        moved.sort_by_key(|word| word.byte);
        let operand = moved.first()?.operand;
        let follows = |(i, word): (usize, &Moved)| {
            usize::from(word.byte) == 4 * i && usize::from(word.element) == i && word.operand == operand
        };
        if 4 * moved.len() != usize::from(size) || moved.len() > 4 || !moved.iter().enumerate().all(follows) {
            return None;
        }
        let list = Slot::of(operands.get(usize::from(operand))?, 0, None, u64::MAX, !stores)?;
        let Slot::List(_, length, _) = list else { return None };
        let (address, offset) = address(shape, operands, rows, first.args[0])?;
        Some(Plain { stores, words: moved.len() as u8, data: rows.add(list), length, address, offset })
    }

    /// Returns how it uses a slot: the address is read, while the registers of the data depend on the word.
    pub fn uses(&self, slot: &Slot) -> Uses {
        Uses { read: if matches!(slot, Slot::List(..)) { 0 } else { u64::MAX }, written: 0 }
    }
}

/// An atomic on a word whose result is not read.
#[derive(Clone, Debug)]
pub struct Update {
    pub op: AtomicOp,
    pub signed: bool,
    /// The row of the operand.
    pub value: u16,
    /// The rows of the address.
    pub address: [u16; 2],
    /// The offset that is added to the address.
    pub offset: Known,
}

impl Update {
    /// Returns the atomic if a shape is one and nothing else.
    pub fn new(shape: &Shape, operands: &'static [table::Operand], rows: &mut Rows) -> Option<Update> {
        let mut effects = shape.nodes.iter().filter(|node| node.op.is_effect());
        let (node, None) = (effects.next()?, effects.next()) else { return None };
        let [place, value, expected, when] = node.args;
        let signed = node.ty == Type::signed(32);
        let is_word = signed || node.ty == Type::U32;
        if node.op != Op::Atomic || node.imm & 0xff != 0 || !is_word || expected != NONE || !always(shape, when) {
            return None;
        }
        let op = atomic_op(node.imm)?;
        let mut value = shape.nodes.get(usize::from(value))?;
        while value.op == Op::Bits && value.ty.size() == 32 {
            value = shape.nodes.get(usize::from(value.args[0]))?;
        }
        if value.op != Op::Operand || value.ty.size() != 32 {
            return None;
        }
        let (address, offset) = address(shape, operands, rows, place)?;
        let operand = operands.get(usize::from(value.args[0]))?;
        let value = rows.add(Slot::of(operand, value.args[1], None, value.ty.mask(), false)?);
        Some(Update { op, signed, value, address, offset })
    }
}

/// Returns the rows of an operand's address, and the offset that is added to it.
fn address(
    shape: &Shape,
    operands: &'static [table::Operand],
    rows: &mut Rows,
    node: u16,
) -> Option<([u16; 2], Known)> {
    let sum = shape.nodes.get(usize::from(node))?;
    let base = shape.nodes.get(usize::from(sum.args[0])).filter(|base| base.op == Op::Operand)?;
    if sum.op != Op::Add || base.ty != Type::U64 {
        return None;
    }
    let operand = operands.get(usize::from(base.args[0]))?;
    let mut half = |which| Some(rows.add(Slot::of(operand, base.args[1], Some(which), u64::MAX, false)?));
    Some(([half(0)?, half(1)?], Known::new(shape, operands, sum.args[1])?))
}

/// Returns the part of an access that a node covers.
fn whole(node: &Node) -> Part {
    Part::of(node.imm).unwrap_or(Part { from: 0, size: (node.ty.size() / 8) as u16 })
}

/// Whether a condition always holds.
fn always(shape: &Shape, when: u16) -> bool {
    let leaf = |node: &Node| if node.op == Op::State { state(node.args[0], false) } else { None };
    when == NONE || Known::new(shape, &[], when).and_then(|known| known.value(0, leaf)) == Some(1)
}

/// Returns the byte offset of a loaded word, if the node is one.
fn loaded(shape: &Shape, node: u16) -> Option<u16> {
    let node = shape.nodes.get(usize::from(node))?;
    let from = |load: u16| shape.nodes.get(usize::from(load)).filter(|load| load.op == Op::Load).map(whole);
    match node.op {
        _ if node.ty.size() != 32 => None,
        Op::Load => Some(whole(node).from),
        Op::Slice if node.imm & 0xff == 0 || node.imm & 0xff == 32 => {
            Some(from(node.args[0])?.from + (node.imm & 0xff) / 8)
        }
        Op::Trunc => Some(from(node.args[0])?.from),
        _ => None,
    }
}

/// Collects the words of a stored value.
fn words(shape: &Shape, node: u16, byte: u16, moved: &mut Vec<Moved>) -> Option<()> {
    let node = shape.nodes.get(usize::from(node))?;
    match node.op {
        Op::Operand if node.ty.size() == 32 => {
            moved.push(Moved { operand: node.args[0], element: node.args[1], byte });
            Some(())
        }
        Op::Concat if node.ty.size() == 64 => {
            words(shape, node.args[0], byte, moved)?;
            words(shape, node.args[1], byte + 4, moved)
        }
        _ => None,
    }
}

/// Returns the operation of an atomic.
pub fn atomic_op(imm: u16) -> Option<AtomicOp> {
    AtomicOp::ALL.get(usize::from(imm >> 8)).copied()
}
