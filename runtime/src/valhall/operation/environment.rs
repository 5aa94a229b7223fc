//! What a text sees of a warp.

use isaforge_core::semantics::evaluate::{Column, Environment};
use isaforge_core::semantics::{AtomicOp, Semantics, Special, Type};

use super::intrinsics;
use super::operand::Operand;
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::{LANES, lanes};

/// An instruction of a warp while its text is evaluated.
#[derive(Debug)]
pub(in crate::valhall) struct Executing<'s, 'a> {
    pub step: &'s mut Step<'a>,
    semantics: &'static Semantics,
    operands: &'s [Operand],
    /// How the warp goes on.
    pub control: Control,
}

/// The lanes of a mask that the evaluator gives.
fn mask16(mask: u64) -> impl Iterator<Item = usize> {
    lanes(mask as u16)
}

fn bytes(ty: Type) -> usize {
    (ty.size() as usize).div_ceil(8)
}

impl<'s, 'a> Executing<'s, 'a> {
    pub fn new(step: &'s mut Step<'a>, semantics: &'static Semantics, operands: &'s [Operand]) -> Self {
        Executing { step, semantics, operands, control: Control::Next }
    }

    /// The operand that an intrinsic is given as this argument.
    pub fn passed(&self, argument: &Column<LANES>) -> Option<Operand> {
        self.operands.get(argument[0] as usize).copied()
    }

    fn register(&self, index: usize) -> Column<LANES> {
        self.step.warp.registers.get(index).map_or([0; LANES], |column| column.map(u64::from))
    }

    fn set_register(&mut self, index: usize, mask: u64, value: impl Fn(usize) -> u64) {
        // Words whose registers would lie beyond the last are refused before they run.
        if let Some(column) = self.step.warp.registers.get_mut(index) {
            mask16(mask).for_each(|lane| column[lane] = value(lane) as u32);
        }
    }

    fn read(&self, lane: usize, address: u64, ty: Type) -> Result<u64, Fault> {
        let mut from = [0; 8];
        self.step.space.read(lane, address, &mut from[..bytes(ty)]).map_err(|fault| Fault::Memory { lane, fault })?;
        Ok(u64::from_le_bytes(from))
    }

    fn write_memory(&mut self, lane: usize, address: u64, ty: Type, value: u64) -> Result<(), Fault> {
        let bytes = &value.to_le_bytes()[..bytes(ty)];
        self.step.space.write(lane, address, bytes).map_err(|fault| Fault::Memory { lane, fault })
    }
}

impl Environment<LANES> for Executing<'_, '_> {
    type Fault = Fault;

    fn active(&self) -> u64 {
        self.step.warp.active.into()
    }

    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Result<Column<LANES>, Fault> {
        let element = usize::from(element);
        Ok(match self.operands.get(usize::from(operand)) {
            Some(Operand::Source(source)) if ty.size() > 32 => self.step.pair(*source),
            Some(Operand::Source(source)) => self.step.word(*source).map(u64::from),
            Some(Operand::Register(register)) if ty.size() > 32 => {
                let (low, high) = (self.register(register.index()), self.register(register.index() + 1));
                std::array::from_fn(|lane| low[lane] | high[lane] << 32)
            }
            Some(Operand::Register(register)) => self.register(register.index() + element),
            // Those beyond the end of a list read 0.
            Some(Operand::List(list)) => list.iter().nth(element).map_or([0; LANES], |index| self.register(index)),
            Some(Operand::Number(number)) => [number & ty.mask(); LANES],
            None => [0; LANES],
        })
    }

    fn write(&mut self, operand: u16, element: u16, ty: Type, value: &Column<LANES>, mask: u64) -> Result<(), Fault> {
        let element = usize::from(element);
        match self.operands.get(usize::from(operand)) {
            Some(Operand::Register(register)) => {
                let first = register.index() + element;
                self.set_register(first, mask, |lane| value[lane]);
                if ty.size() > 32 {
                    self.set_register(first + 1, mask, |lane| value[lane] >> 32);
                }
            }
            // Those beyond the end of a list are not there.
            Some(Operand::List(list)) => {
                if let Some(index) = list.iter().nth(element) {
                    self.set_register(index, mask, |lane| value[lane]);
                }
            }
            Some(Operand::Source(_) | Operand::Number(_)) | None => {}
        }
        Ok(())
    }

    fn state(&mut self, state: u16, _: Option<&Column<LANES>>) -> Result<Column<LANES>, Fault> {
        let helpers = self.step.warp.helpers;
        match self.semantics.states.get(usize::from(state)).map(|state| state.name) {
            Some("helper") => Ok(std::array::from_fn(|lane| u64::from(helpers >> lane & 1))),
            _ => Err(Fault::Unsupported("a state that the machine does not have")),
        }
    }

    fn set_state(&mut self, _: u16, _: Option<&Column<LANES>>, _: &Column<LANES>, _: u64) -> Result<(), Fault> {
        Err(Fault::Unsupported("a state that the machine does not have"))
    }

    fn special(&mut self, special: Special) -> Column<LANES> {
        let pc = u64::from(self.step.warp.pc);
        [if special == Special::Next { pc + 1 } else { pc }; LANES]
    }

    fn load(&mut self, _: u16, ty: Type, address: &Column<LANES>, mask: u64) -> Result<Column<LANES>, Fault> {
        let mut value = [0; LANES];
        for lane in mask16(mask) {
            value[lane] = self.step.excused(lane, self.read(lane, address[lane], ty))?;
        }
        Ok(value)
    }

    fn store(
        &mut self,
        _: u16,
        ty: Type,
        address: &Column<LANES>,
        value: &Column<LANES>,
        mask: u64,
    ) -> Result<(), Fault> {
        mask16(mask).try_for_each(|lane| self.write_memory(lane, address[lane], ty, value[lane]))
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        _: u16,
        ty: Type,
        address: &Column<LANES>,
        value: &Column<LANES>,
        expected: Option<&Column<LANES>>,
        mask: u64,
    ) -> Result<Column<LANES>, Fault> {
        let mut before = [0; LANES];
        for lane in mask16(mask) {
            let old = self.read(lane, address[lane], ty)?;
            let happens = expected.is_none_or(|expected| expected[lane] == old);
            let new = if happens { op.apply(ty, old, value[lane]) } else { old };
            self.write_memory(lane, address[lane], ty, new)?;
            before[lane] = old;
        }
        Ok(before)
    }

    fn branch(&mut self, target: &Column<LANES>, mask: u64) -> Result<(), Fault> {
        let result = self.step.jump(mask as u16, |lane| Ok(target[lane] as i64));
        self.control = result?;
        Ok(())
    }

    fn barrier(&mut self, _: u64) -> Result<(), Fault> {
        self.control = Control::Barrier;
        Ok(())
    }

    fn end(&mut self, mask: u64) -> Result<(), Fault> {
        self.step.warp.live &= !(mask as u16);
        Ok(())
    }

    fn fault(&mut self, fault: u16, datum: &Column<LANES>, mask: u64) -> Result<(), Fault> {
        let lane = mask.trailing_zeros() as usize % LANES;
        let name = self.semantics.faults.get(usize::from(fault)).copied().unwrap_or_default();
        Err(intrinsics::fault(name, lane, datum[lane]))
    }

    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<LANES>], mask: u64) -> Result<Column<LANES>, Fault> {
        let name = self.semantics.intrinsics.get(usize::from(intrinsic)).map_or("", |intrinsic| intrinsic.name);
        match intrinsics::find(name) {
            Some(function) => function(self, arguments, mask as u16),
            None => Err(Fault::Unsupported(name)),
        }
    }
}
