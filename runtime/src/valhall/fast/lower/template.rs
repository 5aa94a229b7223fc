//! The operations of all words that have a shape, with open operands.

use std::ops::Range;
use std::sync::Arc;

use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::{AtomicOp, NONE, Op, Part, Shape, Special, Type};
use isaforge_core::table;
use isaforge_valhall::ISA;
use isaforge_valhall::semantics::SEMANTICS;

use super::known::{self, Known};
use super::plain::{Plain, Update, atomic_op};
use super::slot::{FIRST, MAX_SLOTS, Rows, Slot, Uses};
use crate::exec::vector::effect::Effect;
use crate::exec::vector::handler::{Exact, Micro, NO_ROW};
use crate::exec::vector::select::{Binder, Location, select};
use crate::exec::vector::{code, effect};
use crate::valhall::fast::access::Access;
use crate::valhall::fast::atomic::Atomic;
use crate::valhall::fast::family::Bundles;
use crate::valhall::fast::op::Function;
use crate::valhall::fast::row;
use crate::valhall::operation::function;

/// The operations of all words that have a shape.
#[derive(Debug)]
pub struct Template {
    pub form: &'static table::Form,
    pub steps: Vec<Step>,
    pub exact: Vec<Exact>,
    pub slots: Vec<(Slot, Uses)>,
    pub ending: Ending,
    /// Whether the order of warps is observable.
    pub order: Order,
}

/// Whether the results reveal the order in which warps executed their atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// There are no atomics.
    Free,
    /// The order is hidden, since all atomics are of this kind and their results are not read. Partially overlapping
    /// accesses would be a race.
    Hidden(AtomicOp, Type),
    /// The order is observable.
    Shown,
}

impl Order {
    /// Returns the order of a shape's atomics.
    fn of(shape: &Shape) -> Self {
        let mut read = vec![false; shape.nodes.len()];
        for node in &shape.nodes {
            for_each_argument(node, &shape.lists, |argument| {
                if let Some(read) = read.get_mut(usize::from(argument)) {
                    *read = true;
                }
            });
        }
        let atomics = shape.nodes.iter().zip(read).filter(|(node, _)| node.op == Op::Atomic);
        atomics.fold(Order::Free, |order, (node, read)| {
            let kind = atomic_op(node.imm).filter(|op| !read && *op != AtomicOp::Exchange && node.args[2] == NONE);
            order.and(kind.map_or(Order::Shown, |op| Order::Hidden(op, node.ty)))
        })
    }

    /// Combines the order of these and other atomics.
    pub fn and(self, other: Order) -> Order {
        match (self, other) {
            (Order::Free, order) | (order, Order::Free) => order,
            (one, other) if one == other => one,
            _ => Order::Shown,
        }
    }
}

/// An operation; rows from [`FIRST`] on are slots.
#[derive(Debug)]
pub enum Step {
    Rows(Micro<8, Bundles>),
    Plain(Plain),
    Update(Update),
    /// An access, with the rows of a store of more than two words.
    Access(Access, Vec<u16>),
    Atomic(Atomic),
    Function(Function, [[u16; 2]; 2]),
    /// A call of an intrinsic that uses a host.
    Message(Box<Effect>),
}

/// What follows the operations.
#[derive(Clone, Debug)]
pub enum Ending {
    /// The next word.
    Next,
    /// Lanes jump to a target: all of them, or those where the condition holds.
    Branch { target: Known, when: Option<When> },
    /// All threads of the workgroup wait for each other.
    Barrier,
}

/// The condition of a branch.
#[derive(Clone, Debug)]
pub struct When {
    /// The row of the condition.
    pub row: u16,
    /// Its value if everything that it depends on is the same in all lanes.
    pub known: Option<Known>,
}

impl Template {
    /// Covers a shape, for a fragment program or any other. `None` if it does something that only the reference can.
    pub fn new(opcode: u16, shape: &Arc<Shape>, draws: bool) -> Option<Self> {
        let form = ISA.forms.get(usize::from(opcode))?;
        let operands = form.operands;
        let has = |of: fn(Op) -> bool| shape.nodes.iter().any(|node| of(node.op));
        // Only the reference handles memory that is accessed in the order of pixels.
        if draws && has(|op| matches!(op, Op::Load | Op::Store | Op::Atomic)) {
            return None;
        }
        let order = Order::of(shape).and(if sends(shape, draws) { Order::Shown } else { Order::Free });
        let mut rows = Rows::default();
        let of = |step, slots| {
            let (steps, exact) = (vec![step], Vec::new());
            Some(Template { form, steps, exact, slots, ending: Ending::Next, order })
        };
        if let Some(plain) = Plain::new(shape, operands, &mut rows) {
            let slots = rows.0.into_iter().map(|slot| (slot, plain.uses(&slot))).collect();
            return of(Step::Plain(plain), slots);
        }
        let mut rows = Rows::default();
        if let Some(update) = Update::new(shape, operands, &mut rows) {
            let slots = rows.0.into_iter().map(|slot| (slot, Uses { read: u64::MAX, written: 0 })).collect();
            return of(Step::Update(update), slots);
        }
        let mut bind = Bind { operands, rows: Rows::default(), draws };
        let code = select::<8, Bundles>(SEMANTICS, shape, &mut bind)?;
        let (covered, exact) = code.into_steps();
        let (steps, slots) = (Vec::new(), Vec::new());
        let mut template = Template { form, steps, exact, slots, ending: Ending::Next, order };
        let mut uses = vec![Uses::default(); bind.rows.0.len()];
        // Whether a message may have written registers.
        let mut sent = false;
        for step in covered {
            // A change of control flow must come last.
            if !matches!(template.ending, Ending::Next) {
                return None;
            }
            let mut reads_register = false;
            step.rows(|row, written| {
                let Some(slot) = row.checked_sub(FIRST).map(usize::from) else { return };
                let Some(uses) = uses.get_mut(slot) else { return };
                *(if written { &mut uses.written } else { &mut uses.read }) = u64::MAX;
                reads_register |= !written && !matches!(bind.rows.0[slot], Slot::Number(_) | Slot::Constant(_));
            });
            if sent && reads_register {
                return None;
            }
            match step {
                code::Step::Micro(micro) => template.steps.push(Step::Rows(micro)),
                code::Step::Effect(effect) => match effect.op {
                    Op::Branch => template.ending = branch(shape, operands, &effect)?,
                    Op::Barrier if effect.when.is_none() => template.ending = Ending::Barrier,
                    Op::Intrinsic if !is_function(&effect) => {
                        sent |= effect.to.is_none();
                        template.steps.push(Step::Message(effect));
                    }
                    _ => template.steps.push(perform(&effect)?),
                },
            }
        }
        template.slots = bind.rows.0.into_iter().zip(uses).collect();
        (template.slots.len() <= MAX_SLOTS).then_some(template)
    }
}

/// Whether the changes of an instruction to memory depend on the order of warps: atomics see earlier changes, and
/// pixels are drawn in order.
pub fn changes(shape: &Shape, draws: bool) -> bool {
    sends(shape, draws)
        || shape.nodes.iter().any(|node| match node.op {
            Op::Atomic => true,
            Op::Store => draws,
            _ => false,
        })
}

/// Whether it depends on the order of warps what the host makes of the intrinsics of a shape.
fn sends(shape: &Shape, draws: bool) -> bool {
    shape.nodes.iter().filter(|node| node.op == Op::Intrinsic).any(|node| {
        let intrinsic = SEMANTICS.intrinsics.get(usize::from(node.args[0]));
        intrinsic.is_some_and(|intrinsic| match intrinsic.name {
            "store_texel" => draws,
            // All threads of other programs are at one pixel.
            "blend" | "store_tile" | "emit_depth_stencil" => !draws,
            _ => false,
        })
    })
}

/// Returns the only branch of a shape.
fn branch(shape: &Shape, operands: &'static [table::Operand], effect: &Effect) -> Option<Ending> {
    let mut branches = shape.nodes.iter().filter(|node| node.op == Op::Branch);
    let (node, None) = (branches.next()?, branches.next()) else { return None };
    let [target, when, ..] = node.args;
    let when = effect.when.map(|row| When { row, known: Known::new(shape, operands, when) });
    Some(Ending::Branch { target: Known::new(shape, operands, target)?, when })
}

/// Whether an effect applies a function to one value.
fn is_function(effect: &Effect) -> bool {
    let name = SEMANTICS.intrinsics.get(usize::from(effect.numbers[0])).map(|intrinsic| intrinsic.name);
    effect.values.len() == 1 && effect.when.is_none() && name.is_some_and(|name| function(name).is_some())
}

/// Returns the operation that performs an effect.
fn perform(effect: &Effect) -> Option<Step> {
    let (zero, dropped) = (row::ZERO as u16, row::RESULT as u16);
    let above = |row: u16, other: u16| if row == NO_ROW { other } else { row };
    let pair = |value: &effect::Value| [value.row, above(value.high, zero)];
    let size = effect.ty.size();
    match effect.op {
        Op::Intrinsic => {
            let name = SEMANTICS.intrinsics.get(usize::from(effect.numbers[0]))?.name;
            let (from, to) = (effect.values.first()?, effect.to?);
            Some(Step::Function(function(name)?, [pair(from), [to.row, above(to.high, dropped)]]))
        }
        Op::Atomic if size == 32 || size == 64 => {
            let extra = |k: u8| effect.values.get(usize::from(k)).map(pair);
            Some(Step::Atomic(Atomic {
                op: atomic_op(effect.imm)?,
                ty: effect.ty,
                address: pair(effect.values.first()?),
                value: pair(effect.values.get(1)?),
                expected: match effect.extra {
                    Some(k) => Some(extra(k)?),
                    None => None,
                },
                to: effect.to.map(|to| [to.row, above(to.high, dropped)]),
                when: effect.when,
                offset: 0,
                pc: 0,
            }))
        }
        Op::Load | Op::Store if size.is_multiple_of(8) && size <= 64 => {
            let bytes = (size / 8) as u8;
            let (size, from) = Part::of(effect.imm).map_or((bytes, 0), |part| (part.size as u8, part.from as u8));
            let address = pair(effect.values.first()?);
            let (stores, when) = (effect.op == Op::Store, effect.when);
            let mut access = Access { stores, size, from, bytes, address, data: [NO_ROW; 2], many: 0, when, pc: 0 };
            if !stores {
                let to = effect.to?;
                access.data = [to.row, to.high];
                return Some(Step::Access(access, Vec::new()));
            }
            let values = effect.values.iter().skip(1).flat_map(|value| [value.row, value.high]);
            let rows: Vec<u16> = values.filter(|row| *row != NO_ROW).collect();
            if rows.len() * 4 < usize::from(size) {
                return None;
            }
            if size > 8 {
                return Some(Step::Access(access, rows));
            }
            access.data = [*rows.first()?, rows.get(1).copied().unwrap_or(NO_ROW)];
            Some(Step::Access(access, Vec::new()))
        }
        _ => None,
    }
}

/// Binds operands to slots.
struct Bind {
    operands: &'static [table::Operand],
    rows: Rows,
    draws: bool,
}

impl Bind {
    fn slot(&mut self, operand: u16, element: u16, half: Option<u16>, ty: Type, written: bool) -> Option<u16> {
        let operand = self.operands.get(usize::from(operand))?;
        Some(self.rows.add(Slot::of(operand, element, half, ty.mask(), written)?))
    }

    fn place(&mut self, operand: u16, element: u16, ty: Type, written: bool) -> Location {
        let number = self.operands.get(usize::from(operand)).is_some_and(is_number);
        let slot = if ty.size() == 32 || number { self.slot(operand, element, None, ty, written) } else { None };
        slot.map_or(Location::Nowhere, |row| Location::Row(row, 0))
    }

    fn both(&mut self, operand: u16, element: u16, ty: Type, written: bool) -> Option<[u16; 2]> {
        let number = self.operands.get(usize::from(operand)).is_some_and(is_number);
        if !number && (element != 0 || ty.size() != 64) {
            return None;
        }
        let low = self.slot(operand, element, Some(0), ty, written)?;
        Some([low, self.slot(operand, element, Some(1), ty, written)?])
    }
}

fn is_number(operand: &table::Operand) -> bool {
    matches!(operand.shape, table::Shape::Number { .. })
}

impl Binder for Bind {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        self.place(operand, element, ty, false)
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        self.place(operand, element, ty, true)
    }

    fn pair(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        self.both(operand, element, ty, false)
    }

    fn pair_target(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        self.both(operand, element, ty, true)
    }

    fn state(&mut self, state: u16) -> Location {
        match self.state_target(state) {
            Location::Nowhere => known::state(state, self.draws).map_or(Location::Nowhere, Location::Number),
            row => row,
        }
    }

    fn state_target(&mut self, state: u16) -> Location {
        match SEMANTICS.states.get(usize::from(state)).map(|state| state.name).filter(|_| self.draws) {
            Some("helper") => Location::Row(row::HELPER as u16, 0),
            Some("place") => Location::Row(row::PLACE as u16, 0),
            _ => Location::Nowhere,
        }
    }

    fn special(&mut self, special: Special) -> Location {
        if special == Special::Lane { Location::Row(row::LANE as u16, 0) } else { Location::Nowhere }
    }

    fn special_pair(&mut self, special: Special) -> Option<[u16; 2]> {
        (special == Special::Lane).then_some([row::LANE as u16, row::ZERO as u16])
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn knows_targets(&self) -> bool {
        true
    }

    fn aliases(&self) -> Range<u16> {
        FIRST..NO_ROW
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        let word = u32::try_from(slot).ok()?;
        Some(if word == 0 { row::ZERO as u16 } else { self.rows.add(Slot::Constant(word)) })
    }

    fn temporaries(&self) -> Range<u16> {
        row::TEMPORARIES.start as u16..row::TEMPORARIES.end as u16
    }

    fn active(&self) -> u16 {
        NO_ROW
    }
}

#[cfg(test)]
mod tests {
    use isaforge_core::sample::{Random, sample};

    use super::*;
    use crate::exec::shape::Shapes;

    /// Returns the operations of a word, if it is covered.
    fn covered(shapes: &mut Shapes<Option<Template>>, opcode: u16, word: u64) -> Option<&Template> {
        shapes.get(opcode, word, |shape| Template::new(opcode, shape, false))?.made.as_ref()
    }

    #[test]
    fn instructions_that_only_compute_are_covered() {
        let mut shapes = Shapes::new(SEMANTICS, ISA);
        let mut random = Random(3);
        let mut count = 0;
        for opcode in 0..ISA.forms.len() as u16 {
            for _ in 0..16 {
                let word = sample(ISA, opcode, &mut random);
                let Some(entry) = shapes.get(opcode, word, |shape| Template::new(opcode, shape, false)) else {
                    continue;
                };
                let mut effects = entry.shape.nodes.iter().filter(|node| node.op.is_effect());
                if effects.all(|node| node.op == Op::Write) {
                    assert!(entry.made.is_some(), "{} {word:#018x}", ISA.forms[usize::from(opcode)].name.str);
                    count += 1;
                }
            }
        }
        assert!(count > 2000, "{count}");
    }

    #[test]
    fn the_order_of_atomics_shows_where_they_are_read_exchange_or_differ() {
        let mut shapes = Shapes::new(SEMANTICS, ISA);
        let mut order = |text: &str| {
            let word = text.parse::<isaforge_valhall::Instruction>().unwrap();
            covered(&mut shapes, word.opcode() as u16, word.encode()).unwrap().order
        };
        let add = order("ATOM.i32.slot0.aadd @r0, r2, offset:0");
        assert_eq!(add, Order::Hidden(AtomicOp::Add, Type::U32));
        assert_eq!(order("ATOM.i32.slot0.axchg @r0, r2, offset:0"), Order::Shown);
        assert_eq!(order("ATOM_RETURN.i32.slot0.aadd @r0, @r0, r2, offset:0"), Order::Shown);
        assert_eq!(order("LOAD.i32.unsigned.slot0 @r0, r2, offset:4"), Order::Free);
        let wide = order("ATOM.i64.slot0.aadd @r0:r1, r2, offset:0");
        let greatest = order("ATOM.i32.slot0.aumax @r0, r2, offset:0");
        assert_eq!([add.and(add), Order::Free.and(add)], [add; 2]);
        assert_eq!([add.and(wide), add.and(greatest), greatest.and(Order::Shown)], [Order::Shown; 3]);
    }

    #[test]
    fn whole_words_are_loaded_and_stored_by_handlers_and_branches_jump() {
        let mut shapes = Shapes::new(SEMANTICS, ISA);
        let mut template = |text: &str| {
            let word = text.parse::<isaforge_valhall::Instruction>().unwrap();
            let found = covered(&mut shapes, word.opcode() as u16, word.encode()).unwrap();
            (matches!(found.steps[..], [Step::Plain(_)]), matches!(found.ending, Ending::Branch { .. }))
        };
        for text in ["LOAD.i32.unsigned.slot0 @r0, r2, offset:4", "STORE.i96.slot0 @r0:r1:r2, u0, offset:-8"] {
            assert_eq!(template(text), (true, false), "{text}");
        }
        assert_eq!(template("LOAD.i8.unsigned.slot0 @r0, r2, offset:4"), (false, false));
        assert_eq!(template("BRANCHZ r0.h0, offset:3"), (false, true));
    }
}
