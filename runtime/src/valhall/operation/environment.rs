//! The view that a text has of a warp.

use isaforge_core::semantics::evaluate::{Column, Environment};
use isaforge_core::semantics::{AtomicOp, Part, Semantics, Special, Type};
use isaforge_valhall::semantics::{SEMANTICS, call};

use super::operand::Operand;
use crate::machine::{Access, AccessKind};
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::{LANES, lanes};

/// An instruction of a warp during the evaluation of its text.
#[derive(Debug)]
pub(in crate::valhall) struct Executing<'s, 'a> {
    pub step: &'s mut Step<'a>,
    semantics: &'static Semantics,
    pub(super) operands: &'s [Operand],
    /// How the warp continues.
    pub control: Control,
}

/// The size in bytes of the widest access with parts.
const MAX_WHOLE: usize = Part::MAX_BYTES as usize;
const NO_STATE: Fault = Fault::Unsupported("a state that the machine does not have");

/// The lanes of a mask of the evaluator.
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

    fn register(&self, index: usize) -> Column<LANES> {
        self.step.warp.registers.get(index).map_or([0; LANES], |column| column.map(u64::from))
    }

    fn set_register(&mut self, index: usize, mask: u64, value: impl Fn(usize) -> u64) {
        // Words with registers beyond the last are rejected before they run.
        if let Some(column) = self.step.warp.registers.get_mut(index) {
            mask16(mask).for_each(|lane| column[lane] = value(lane) as u32);
        }
    }

    fn note(&mut self, kind: AccessKind, lane: usize, address: u64, size: usize, stored: Option<u64>) {
        if let Some(accesses) = &mut self.step.warp.accesses {
            accesses.push(Access { lane: lane as u8, size: size as u8, address, kind, space: None, stored });
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
            // Elements beyond the end of a list read as 0.
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
            // Elements beyond the end of a list are not written.
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
        let warp = &self.step.warp;
        match self.semantics.states.get(usize::from(state)).map(|state| state.name) {
            Some("helper") => Ok(std::array::from_fn(|lane| u64::from(warp.helpers >> lane & 1))),
            Some("fragment") => Ok([warp.draws.into(); LANES]),
            Some("place") => Ok(warp.places.map(|[x, y]| u64::from(y as u16) << 16 | u64::from(x as u16))),
            _ => Err(NO_STATE),
        }
    }

    fn set_state(
        &mut self,
        state: u16,
        _: Option<&Column<LANES>>,
        value: &Column<LANES>,
        mask: u64,
    ) -> Result<(), Fault> {
        let warp = &mut self.step.warp;
        match self.semantics.states.get(usize::from(state)).map(|state| state.name) {
            Some("helper") => mask16(mask).for_each(|lane| {
                warp.helpers = warp.helpers & !(1 << lane) | (value[lane] as u16 & 1) << lane;
            }),
            Some("place") => mask16(mask).for_each(|lane| {
                warp.places[lane] = [value[lane] as i16, (value[lane] >> 16) as i16];
            }),
            _ => return Err(NO_STATE),
        }
        Ok(())
    }

    fn special(&mut self, special: Special) -> Column<LANES> {
        let pc = u64::from(self.step.warp.pc);
        [if special == Special::Next { pc + 1 } else { pc }; LANES]
    }

    fn load(&mut self, _: u16, ty: Type, address: &Column<LANES>, mask: u64) -> Result<Column<LANES>, Fault> {
        let mut value = [0; LANES];
        for lane in mask16(mask) {
            self.note(AccessKind::Load, lane, address[lane], bytes(ty), None);
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
        mask16(mask).try_for_each(|lane| {
            self.note(AccessKind::Store, lane, address[lane], bytes(ty), Some(value[lane]));
            self.write_memory(lane, address[lane], ty, value[lane])
        })
    }

    fn load_part(
        &mut self,
        _: u16,
        ty: Type,
        address: &Column<LANES>,
        part: Part,
        mask: u64,
    ) -> Result<Column<LANES>, Fault> {
        let mut value = [0; LANES];
        for lane in mask16(mask) {
            let mut whole = [0; MAX_WHOLE];
            let whole = &mut whole[..part.size.into()];
            let read = self.step.space.read(lane, address[lane], whole).map_err(|fault| Fault::Memory { lane, fault });
            let read = read.map(|()| whole[part.from.into()..].iter().take(bytes(ty)));
            let read = read.map(|bytes| bytes.rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
            value[lane] = self.step.excused(lane, read)?;
            self.note(AccessKind::Load, lane, address[lane].wrapping_add(part.from.into()), bytes(ty), None);
        }
        Ok(value)
    }

    fn store_part(
        &mut self,
        _: u16,
        ty: Type,
        address: &Column<LANES>,
        part: Part,
        value: &Column<LANES>,
        mask: u64,
    ) -> Result<(), Fault> {
        for lane in mask16(mask) {
            if part.from == 0 {
                let whole = self.step.space.check(lane, address[lane], part.size.into());
                whole.map_err(|fault| Fault::Memory { lane, fault })?;
            }
            let address = address[lane].wrapping_add(part.from.into());
            self.note(AccessKind::Store, lane, address, bytes(ty), Some(value[lane]));
            self.write_memory(lane, address, ty, value[lane])?;
        }
        Ok(())
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
            self.note(AccessKind::Atomic, lane, address[lane], bytes(ty), Some(new));
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
        Err(fault_of(name, lane, datum[lane]))
    }

    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<LANES>], mask: u64) -> Result<Column<LANES>, Fault> {
        let name = |semantics: &'static Semantics| semantics.intrinsics.get(usize::from(intrinsic)).map(|i| i.name);
        // Other semantics may use the same intrinsics.
        match name(self.semantics) {
            known if known == name(SEMANTICS) => call(self, intrinsic, arguments, mask),
            unknown => Err(Fault::Unsupported(unknown.unwrap_or("an intrinsic without a name"))),
        }
    }
}

/// Returns the fault with this name.
fn fault_of(name: &'static str, lane: usize, datum: u64) -> Fault {
    match name {
        "misaligned" => Fault::Misaligned { lane, address: datum },
        "no_fragment" => Fault::Unsupported("a discard outside a fragment program"),
        "wide_dual" => Fault::Unsupported("a dual look-up with wide indices"),
        _ => Fault::Unsupported(name),
    }
}
