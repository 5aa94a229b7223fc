//! Binds the operands and states of instructions to rows of words, for machine code.

use isaforge_core::machine::{Location as Operand, Machine, Register, part_of};
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, Op, Shape, Special, Type};

use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::select::{Access, Binding, Location, Target, Truth};

/// The set of active lanes.
pub(super) const ACTIVE: u16 = 0;
/// The set of lanes that jump.
pub(super) const JUMPS: u16 = 1;
/// The first set for a state that is a condition, and the number of all sets.
pub(super) const FLAGS: u16 = 2;
const SETS: u16 = 8;

/// The columns that a loop uses, as rows of words and as sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Each column with its first row, and whether it has two.
    columns: Vec<(usize, usize, bool)>,
    rows: usize,
    /// The columns of states that are conditions, by set.
    pub flags: Vec<usize>,
}

impl Words {
    /// The maximum number of rows.
    pub const MAX: usize = 256;

    /// Iterates over the columns: each with its first row, and whether it has two.
    pub fn columns(&self) -> impl Iterator<Item = (usize, usize, bool)> + use<'_> {
        self.columns.iter().copied()
    }

    /// Returns the first row of a column of at most 64 bits. `None` if there is no room.
    fn row(&mut self, column: usize, bits: u32) -> Option<u32> {
        if let Some((_, row, _)) = self.columns.iter().find(|(known, ..)| *known == column) {
            return Some(*row as u32);
        }
        let (row, wide) = (self.rows, bits > 32);
        self.rows += 1 + usize::from(wide);
        self.columns.push((column, row, wide));
        (self.rows <= Words::MAX).then_some(row as u32)
    }

    /// Returns the set of a column that is a condition. `None` if there is no room.
    fn set(&mut self, column: usize) -> Option<u16> {
        let at = self.flags.iter().position(|known| *known == column).unwrap_or_else(|| {
            self.flags.push(column);
            self.flags.len() - 1
        });
        Some(FLAGS + at as u16).filter(|set| *set < SETS)
    }
}

/// The operands of an instruction at an address.
pub(super) struct Bound<'a, const L: usize> {
    pub machine: &'a Machine<L>,
    pub operands: &'a [Operand],
    /// The address, and the one of the next instruction.
    pub place: [u64; 2],
    pub words: &'a mut Words,
    /// The active lanes.
    pub active: Truth,
}

impl<const L: usize> Bound<'_, L> {
    /// Returns the column of the register that an element has for itself, and its width.
    fn register(&self, operand: u16, element: u16, size: Option<u32>) -> Option<(usize, u32, Register)> {
        let Operand::Register(first, width) = self.operands.get(usize::from(operand))? else { return None };
        let bank = self.machine.hardware().banks.get(usize::from(first.bank))?;
        let size = size.unwrap_or(bank.width.into());
        if size > bank.width.into() || part_of(*first, *width, bank.width, element, size).is_some() {
            return None;
        }
        let element = if bank.stays { 0 } else { u32::from(element) };
        let register = Register { index: first.index.checked_add(element)?, ..*first };
        Some((self.machine.slot(register)?, bank.width.into(), register)).filter(|(_, width, _)| *width <= 64)
    }

    fn number(&self, operand: u16, element: u16) -> Option<u64> {
        match self.operands.get(usize::from(operand))? {
            Operand::Number(number) if element == 0 => Some(*number),
            _ => None,
        }
    }

    fn place(&self, special: Special) -> Option<u64> {
        let unit = u64::from(self.machine.hardware().unit.max(1));
        match special {
            Special::Pc => Some(self.place[0] / unit),
            Special::Next => Some(self.place[1] / unit),
            _ => None,
        }
    }

    /// Returns the column of a state of one element that is no register, and that each lane has for itself.
    fn column(&self, state: u16) -> Option<usize> {
        let hardware = self.machine.hardware();
        let shared =
            hardware.uniform.contains(&state) || hardware.bits.iter().any(|(bits, of)| *bits == state || *of == state);
        let aliased = hardware.aliases.iter().any(|(alias, _)| *alias == state);
        if shared || aliased { None } else { self.machine.state_slot(state, 0) }
    }

    fn ty(&self, state: u16) -> Option<Type> {
        Some(self.machine.semantics().states.get(usize::from(state))?.ty)
    }
}

fn words(number: u64) -> [Location; 2] {
    [Location::Number(number as u32), Location::Number((number >> 32) as u32)]
}

impl<const L: usize> Binding for Bound<'_, L> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Option<[Location; 2]> {
        if let Some(number) = self.number(operand, element) {
            return Some(words(number & ty.mask()));
        }
        let (column, width, _) = self.register(operand, element, Some(ty.size()))?;
        let row = self.words.row(column, width)?;
        let high = if width > 32 { Location::Row(row + 1) } else { Location::Number(0) };
        (width == ty.size() && ty.class != Class::Bool).then_some([Location::Row(row), high])
    }

    fn target(&mut self, operand: u16, element: u16) -> Option<Target> {
        if let Some(Operand::Discarded(_)) = self.operands.get(usize::from(operand)) {
            return Some(Target::Dropped);
        }
        let (column, width, register) = self.register(operand, element, None)?;
        let bank = self.machine.hardware().banks.get(usize::from(register.bank))?;
        if bank.fixed || bank.uniform {
            return None;
        }
        if self.machine.is_zero(column) {
            return Some(Target::Dropped);
        }
        let row = self.words.row(column, width)?;
        Some(Target::Exact(row, width))
    }

    fn active(&self) -> Option<Truth> {
        Some(self.active)
    }

    fn set(&mut self, state: u16, graph: &mut Graph) -> Option<Truth> {
        let column = self.column(state)?;
        Some(Truth::of(graph.read_set(self.words.set(column)?)))
    }

    fn set_target(&mut self, state: u16) -> Option<u16> {
        let column = self.column(state)?;
        self.words.set(column)
    }

    fn state(&mut self, state: u16) -> Option<Location> {
        let ty = self.ty(state).filter(|ty| ty.class != Class::Bool && ty.size() <= 32)?;
        let column = self.column(state)?;
        Some(Location::Row(self.words.row(column, ty.size())?))
    }

    fn state_target(&mut self, state: u16) -> Option<Target> {
        let ty = self.ty(state).filter(|ty| ty.class != Class::Bool && ty.size() <= 32)?;
        let column = self.column(state)?;
        Some(Target::Exact(self.words.row(column, ty.size())?, ty.size()))
    }

    fn special(&mut self, special: Special) -> Option<[Location; 2]> {
        self.place(special).map(words)
    }

    fn access(&mut self, _: Access) -> Option<usize> {
        None
    }
}

/// Returns the value of a node that depends on numbers and on the address alone.
pub(super) fn constant<const L: usize>(shape: &Shape, node: u16, bound: &mut Bound<'_, L>) -> Option<u64> {
    let mut values: Vec<Option<u64>> = Vec::new();
    for known in shape.nodes.get(..=usize::from(node))? {
        let value = match known.op {
            Op::Const => shape.constants.get(usize::from(known.args[0])).copied(),
            Op::Operand => bound.number(known.args[0], known.args[1]).map(|number| number & known.ty.mask()),
            Op::Special => Special::ALL.get(usize::from(known.imm)).and_then(|special| bound.place(*special)),
            Op::Pack | Op::Canonical => None,
            op if op.is_pure() => {
                let (mut types, mut arguments) = ([Type::BOOL; 4], [0; 4]);
                let mut all = Some(());
                for k in (0..4).filter(|k| op.node_arguments() >> k & 1 != 0) {
                    let at = usize::from(known.args[k]);
                    match (values.get(at).copied().flatten(), shape.nodes.get(at)) {
                        (Some(value), Some(node)) => (types[k], arguments[k]) = (node.ty, value),
                        _ => all = None,
                    }
                }
                all.map(|()| primitive(op, known.imm, known.ty, types, arguments))
            }
            _ => None,
        };
        values.push(value);
    }
    values.pop().flatten()
}
