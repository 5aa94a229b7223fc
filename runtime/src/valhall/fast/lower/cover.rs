//! Instructions that are lowered from their texts: a shape is covered once by operations on rows, whose operands are found
//! for each word.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use isaforge_core::semantics::{self, Part, Shape, Special, Type};
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{ISA, Instruction};

use super::super::super::operation::{self, function};
use super::super::access::Access;
use super::super::code::row;
use super::super::op::{Function, Op};
use super::super::rows::Bundles;
use super::{Lowered, Lowering, NEXT, Operand};
use crate::exec::shape::Shapes;
use crate::exec::vector::code::{NOWHERE, Step};
use crate::exec::vector::effect::Effect;
use crate::exec::vector::exact::Exact;
use crate::exec::vector::select::{Binder, Place, select};

/// Rows of a template: words of operands, of numbers in the word, of constants, and of the program counter.
const OPERANDS: Range<u16> = 0xc000..0xd000;
const NUMBERS: Range<u16> = 0xd000..0xe000;
const CONSTANTS: Range<u16> = 0xe000..0xf000;
const COUNTERS: Range<u16> = 0xf000..0xf004;
/// Words of an operand: elements one by one, and from [`PAIR`] on those of a value of two words.
const WORDS: u16 = 64;
const PAIR: u16 = 62;

/// The operations for all words that have a shape.
#[derive(Debug)]
struct Template {
    steps: Vec<Step<8, Bundles>>,
    exact: Vec<Exact>,
    constants: Vec<u32>,
    /// Operands that are numbers, and the types that they are read with.
    numbers: Vec<(u16, Type)>,
    /// Whether it asks for what only fragments have.
    draws: bool,
}

thread_local! {
    static KNOWN: RefCell<Shapes<Option<Arc<Template>>>> = RefCell::new(Shapes::new(SEMANTICS, ISA));
}

impl Lowering<'_> {
    /// Lowers an instruction by its text.
    pub fn cover(&mut self, instruction: Instruction, draws: bool) -> Lowered {
        let (opcode, word) = (instruction.opcode() as u16, instruction.encode());
        let template = KNOWN.with_borrow_mut(|known| {
            known.get(opcode, word, |shape| Template::new(opcode, shape).map(Arc::new))?.made.clone()
        });
        let (Some(template), Some(form)) = (template, ISA.forms.get(usize::from(opcode))) else { return Lowered(None) };
        if draws && template.draws {
            return Lowered(None);
        }
        let operands: Vec<_> = form.operands.iter().map(|operand| operation::Operand::new(operand, word)).collect();
        let (ops, exact) = (self.ops.len(), self.exact.len());
        self.exact.extend_from_slice(&template.exact);
        for step in &template.steps {
            let mut find = |row: u16, written: bool| self.place(&template, &operands, row, written);
            let op = match step {
                Step::Micro(micro) => micro.moved(exact as u64, &mut find).map(|micro| Op::Rows(micro, self.pc)),
                Step::Effect(effect) => self.effect(effect, &template, &operands),
            };
            match op {
                Some(op) => self.ops.push(op),
                None => {
                    self.ops.truncate(ops);
                    return Lowered(None);
                }
            }
        }
        NEXT
    }

    /// The row of the bundle that a row of a template is for a word.
    fn place(&mut self, template: &Template, operands: &[operation::Operand], from: u16, written: bool) -> Option<u16> {
        let row = if OPERANDS.contains(&from) {
            let (operand, word) = ((from - OPERANDS.start) / WORDS, (from - OPERANDS.start) % WORDS);
            self.operand(*operands.get(usize::from(operand))?, word, written)?
        } else if NUMBERS.contains(&from) {
            let index = usize::from(from - NUMBERS.start);
            let (operand, ty) = *template.numbers.get(index / 2)?;
            let operation::Operand::Number(number) = *operands.get(usize::from(operand))? else { return None };
            self.constants.row(((number & ty.mask()) >> (32 * (index % 2))) as u32)
        } else if CONSTANTS.contains(&from) {
            self.constants.row(*template.constants.get(usize::from(from - CONSTANTS.start))?)
        } else if COUNTERS.contains(&from) {
            let next = u64::from(self.pc) + u64::from((from - COUNTERS.start) / 2);
            self.constants.row((next >> (32 * ((from - COUNTERS.start) % 2))) as u32)
        } else {
            from.into()
        };
        u16::try_from(row).ok()
    }

    fn operand(&mut self, operand: operation::Operand, word: u16, written: bool) -> Option<u32> {
        let at = |index: usize| u32::try_from(index).ok().filter(|index| *index < row::REGISTERS);
        // What is beyond the last register, or the end of a list, is not written and reads 0.
        let beyond = if written { row::RESULT } else { row::ZERO };
        let found = match operand {
            operation::Operand::Source(source) if word < PAIR => self.word(source)?,
            operation::Operand::Source(source) => self.pair(source)?[usize::from(word - PAIR)],
            operation::Operand::Register(register) => {
                let word = if word < PAIR { word } else { word - PAIR };
                Operand::Row(at(register.index() + usize::from(word)).unwrap_or(beyond))
            }
            operation::Operand::List(list) => Operand::Row(list.iter().nth(word.into()).and_then(at).unwrap_or(beyond)),
            operation::Operand::Number(_) => return None,
        };
        Some(match found {
            Operand::Row(row) => row,
            Operand::Value(value) => self.constants.row(value),
        })
    }

    fn effect(&mut self, effect: &Effect, template: &Template, operands: &[operation::Operand]) -> Option<Op> {
        let find = |lowering: &mut Self, row: u16, written: bool| match row {
            NOWHERE => Some(NOWHERE),
            row => lowering.place(template, operands, row, written),
        };
        let pair = |lowering: &mut Self, k: usize| {
            let value = effect.values.get(k)?;
            Some([find(lowering, value.row, false)?, find(lowering, value.high, false)?])
        };
        if effect.op == semantics::Op::Intrinsic {
            let (value, to) = (effect.values.first()?, effect.to?);
            let zero = row::ZERO as u16;
            let above = |row: u16, other: u16| if row == NOWHERE { other } else { row };
            let from = [find(self, value.row, false)?, above(find(self, value.high, false)?, zero)];
            let to = [find(self, to.row, true)?, above(find(self, to.high, true)?, row::RESULT as u16)];
            return Some(Op::Function(named(effect.numbers[0])?, [from, to], self.pc));
        }
        let bytes = (effect.ty.size() / 8) as u8;
        let part = Part::of(effect.imm);
        let (size, from) = part.map_or((bytes, 0), |part| (part.size as u8, part.from as u8));
        let address = pair(self, 0)?;
        let when = match effect.when {
            Some(when) => Some(find(self, when, false)?),
            None => None,
        };
        let mut access =
            Access { stores: false, size, from, bytes, address, data: [NOWHERE; 2], many: 0, when, pc: self.pc };
        match effect.op {
            semantics::Op::Load => {
                let to = effect.to?;
                access.data = [find(self, to.row, true)?, find(self, to.high, true)?];
            }
            _ => {
                access.stores = true;
                let mut rows = Vec::new();
                for k in 1..effect.values.len() {
                    rows.extend(pair(self, k)?.into_iter().filter(|row| *row != NOWHERE));
                }
                if rows.len() * 4 < usize::from(size) {
                    return None;
                }
                if size > 8 {
                    access.many = u16::try_from(self.stored.len()).ok()?;
                    self.stored.extend(rows);
                } else {
                    access.data = [*rows.first()?, rows.get(1).copied().unwrap_or(NOWHERE)];
                }
            }
        }
        Some(Op::Access(access))
    }
}

/// A function by the number of its intrinsic.
fn named(intrinsic: u16) -> Option<Function> {
    function(SEMANTICS.intrinsics.get(usize::from(intrinsic))?.name)
}

impl Template {
    /// Covers a shape. `None` where it does what only the reference can.
    fn new(opcode: u16, shape: &Shape) -> Option<Self> {
        let draws = shape.nodes.iter().any(|node| node.op == semantics::Op::State);
        let mut bind = Bind { opcode, constants: Vec::new(), numbers: Vec::new() };
        let code = select::<8, Bundles>(SEMANTICS, shape, &mut bind)?;
        let performed = |effect: &Effect| match effect.op {
            semantics::Op::Load | semantics::Op::Store => effect.ty.size().is_multiple_of(8) && effect.ty.size() <= 64,
            semantics::Op::Intrinsic => {
                effect.values.len() == 1 && effect.when.is_none() && named(effect.numbers[0]).is_some()
            }
            _ => false,
        };
        if !code.effects().all(performed) {
            return None;
        }
        let (steps, exact) = code.into_steps();
        Some(Template { steps, exact, constants: bind.constants, numbers: bind.numbers, draws })
    }
}

/// Where operands are that are not known yet.
struct Bind {
    opcode: u16,
    constants: Vec<u32>,
    numbers: Vec<(u16, Type)>,
}

impl Bind {
    fn is_number(&self, operand: u16) -> bool {
        let form = ISA.forms.get(usize::from(self.opcode));
        let operand = form.and_then(|form| form.operands.get(usize::from(operand)));
        operand.is_some_and(|operand| matches!(operand.shape, isaforge_core::table::Shape::Number { .. }))
    }

    fn number(&mut self, operand: u16, ty: Type) -> u16 {
        let at = self.numbers.iter().position(|known| *known == (operand, ty)).unwrap_or_else(|| {
            self.numbers.push((operand, ty));
            self.numbers.len() - 1
        });
        NUMBERS.start + 2 * at as u16
    }
}

fn row_of(operand: u16, word: u16) -> u16 {
    OPERANDS.start + WORDS * operand + word
}

impl Binder for Bind {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Place {
        if self.is_number(operand) {
            return Place::Row(self.number(operand, ty), 0);
        }
        if ty.size() == 32 && element < PAIR { Place::Row(row_of(operand, element), 0) } else { Place::Nowhere }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Place {
        if ty.size() == 32 && element < PAIR { Place::Row(row_of(operand, element), 0) } else { Place::Nowhere }
    }

    fn pair(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        if self.is_number(operand) {
            let low = self.number(operand, ty);
            return Some([low, low + 1]);
        }
        (element == 0 && ty.size() == 64).then(|| [row_of(operand, PAIR), row_of(operand, PAIR + 1)])
    }

    fn pair_target(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        self.pair(operand, element, ty)
    }

    fn state(&mut self, state: u16) -> Place {
        // Threads of other than fragment programs help nobody.
        match SEMANTICS.states.get(usize::from(state)).map(|state| state.name) {
            Some("helper" | "fragment") => Place::Number(0),
            _ => Place::Nowhere,
        }
    }

    fn state_target(&mut self, _: u16) -> Place {
        Place::Nowhere
    }

    fn special(&mut self, special: Special) -> Place {
        match special {
            Special::Lane => Place::Row(row::LANE as u16, 0),
            Special::Pc => Place::Row(COUNTERS.start, 0),
            Special::Next => Place::Row(COUNTERS.start + 2, 0),
            Special::Active => Place::Nowhere,
        }
    }

    fn special_pair(&mut self, special: Special) -> Option<[u16; 2]> {
        let low = match special {
            Special::Pc => COUNTERS.start,
            Special::Next => COUNTERS.start + 2,
            Special::Lane => return Some([row::LANE as u16, row::ZERO as u16]),
            Special::Active => return None,
        };
        Some([low, low + 1])
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn aliases(&self) -> Range<u16> {
        OPERANDS
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        let word = u32::try_from(slot).ok()?;
        if word == 0 {
            return Some(row::ZERO as u16);
        }
        let at = self.constants.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.constants.push(word);
            self.constants.len() - 1
        });
        Some(CONSTANTS.start + at as u16)
    }

    fn temporaries(&self) -> Range<u16> {
        row::TEMPORARIES.start as u16..row::TEMPORARIES.end as u16
    }

    fn active(&self) -> u16 {
        NOWHERE
    }
}
