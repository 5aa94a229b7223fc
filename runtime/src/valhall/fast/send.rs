//! Sends messages to the host: all warps at once or, where the host does not take them, warp by warp.
//!
//! - `drawing`: messages of fragment programs that all warps send at once
//! - `memory`: messages about values in memory that all warps send at once

mod drawing;
mod memory;

use isaforge_core::bits::ones;
use isaforge_core::semantics::evaluate::{Column as Wide, Scratch, each};
use isaforge_valhall::RegisterList;
use isaforge_valhall::semantics::{SEMANTICS, call};

use super::bundle::{Bundle, WARPS};
use super::column::holds;
use super::memory_view::MemoryView;
use super::message::{Kind, Message};
use crate::bits::members;
use crate::exec::vector::effect::{MAX_ARGUMENTS, Value};
use crate::exec::vector::handler::NO_ROW;
use crate::valhall::host::Class;
use crate::valhall::messages::Layout;
use crate::valhall::operation::{Executing, Operand};
use crate::valhall::step::{Context, Fault, Step};
use crate::valhall::warp::{Column, LANES, Warp, mask_of};

/// The lanes of each warp that send a message.
type Masks = [u16; WARPS];

/// Replaces the words of the lanes in a mask.
fn merge(to: &mut Column, from: &Column, mask: u16) {
    if mask == u16::MAX {
        *to = *from;
        return;
    }
    for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
        *to = if mask >> lane & 1 != 0 { *from } else { *to };
    }
}

/// Whether registers hold one float each, if the resource holds floats.
fn is_float(layout: Layout) -> bool {
    !layout.half && layout.class.is_none_or(|class| class == Class::Float)
}

/// Returns the word that all lanes of some masks have.
fn uniform(columns: &[Column], masks: &[u16]) -> Option<u32> {
    let warp = masks.iter().position(|mask| *mask != 0)?;
    let first = *columns.get(warp)?.get(masks[warp].trailing_zeros() as usize)?;
    if columns.as_flattened().iter().fold(0, |differs, word| differs | (word ^ first)) == 0 {
        return Some(first);
    }
    let differs = |column: &Column| mask_of(|lane| column[lane] != first);
    columns.iter().zip(masks).all(|(column, mask)| differs(column) & mask == 0).then_some(first)
}

impl Message {
    /// Executes it for the active lanes. Returns false if it left a fault in the bundle.
    #[inline(never)]
    pub fn run(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        bundle.trace = None;
        if view.log.is_none() && self.together(bundle, view).is_some() {
            return true;
        }
        for warp in bundle.busy() {
            if let Err(fault) = self.warp(bundle, view, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }

    /// Sends it for all warps with active lanes. `None` if it must be sent warp by warp: then what has happened is
    /// repeated.
    fn together(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> Option<()> {
        let kind = self.kind?;
        let mut masks = [0; WARPS];
        bundle.busy().for_each(|warp| masks[warp] = self.mask(bundle, warp));
        match kind {
            Kind::Varying => self.varying(bundle, view, &masks),
            Kind::Filter => self.filter(bundle, view, &masks),
            Kind::Blend => self.blend(bundle, view, &masks),
            Kind::Coverage => {
                bundle.rows[usize::from(self.to?.row)].0 = *self.columns(bundle, 0)?;
                Some(())
            }
            Kind::LoadAttribute | Kind::LoadImage => self.load(bundle, view, &masks),
            Kind::StoreTexel => self.store(bundle, view, &masks),
            Kind::ImageAddress | Kind::ImageFormat => self.image(bundle, view, &masks),
            Kind::BufferElement => self.element(bundle, view, &masks),
        }
    }

    /// The low words of an argument.
    fn columns<'b>(&self, bundle: &'b Bundle, argument: usize) -> Option<&'b [Column; WARPS]> {
        Some(&bundle.rows[usize::from(self.arguments.get(argument)?.row)].0)
    }

    /// The word of an argument that is a constant.
    fn constant(&self, bundle: &Bundle, argument: usize) -> Option<u32> {
        Some(self.columns(bundle, argument)?[0][0])
    }

    /// The list of registers that an argument names.
    fn list(&self, bundle: &Bundle, argument: usize) -> Option<RegisterList> {
        match self.operands.get(self.constant(bundle, argument)? as usize)? {
            Operand::List(list) => Some(*list),
            _ => None,
        }
    }

    /// The lanes that call it.
    fn mask(&self, bundle: &Bundle, warp: usize) -> u16 {
        let when = self.when.map_or(u16::MAX, |row| holds(&bundle.rows[usize::from(row)].0[warp]));
        bundle.active[warp] & when
    }

    fn warp(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize) -> Result<(), Fault> {
        let mask = self.mask(bundle, warp);
        let mut result = [0; LANES];
        if mask != 0 {
            let mut arguments = [[0; LANES]; MAX_ARGUMENTS];
            for (argument, value) in arguments.iter_mut().zip(&self.arguments) {
                bundle.value(*value, warp, argument);
            }
            let arguments = &arguments[..self.arguments.len().min(MAX_ARGUMENTS)];
            let mut scratch = bundle.lend(warp, self.registers, self.pc, view);
            let number = bundle.homes[warp].number as u32;
            let context = Context { uniforms: &[], words: 0, warp: number, warps: 1 };
            let (home, space) = (bundle.homes[warp], Scratch::default());
            let mut step = Step { warp: &mut scratch, context: &context, space: view.space(home), scratch: space };
            let mut executing = Executing::new(&mut step, SEMANTICS, &self.operands);
            let done = call(&mut executing, self.intrinsic, arguments, mask.into());
            bundle.take_back(scratch, warp, self.registers, view);
            result = done?;
        }
        if let Some(to) = self.to {
            bundle.set_value(to, warp, &result);
        }
        Ok(())
    }
}

impl Bundle {
    /// Returns a warp that executes the word at `pc` in place of one of the bundle, with some of its registers.
    pub fn lend(&mut self, warp: usize, named: u64, pc: u32, view: &MemoryView<'_>) -> Box<Warp> {
        let mut scratch = self.scratch.take().unwrap_or_else(|| Box::new(Warp::new(0)));
        for register in members(named) {
            scratch.registers[register] = self.rows[register].0[warp];
        }
        (scratch.live, scratch.threads, scratch.active) = (self.live[warp], self.threads[warp], self.active[warp]);
        if let Some(quads) = &self.quads {
            scratch.pixels = quads.pixels(warp);
            (scratch.covered, scratch.samples) = (quads.covered[warp], quads.samples);
            (scratch.helpers, scratch.places) = self.helpers_and_places(warp);
            scratch.draws = true;
        }
        (scratch.pc, scratch.accesses) = (pc, view.log.is_some().then(Vec::new));
        scratch
    }

    /// Takes back the registers of a warp that [`Bundle::lend`] has returned, and records its accesses.
    pub fn take_back(&mut self, scratch: Box<Warp>, warp: usize, named: u64, view: &mut MemoryView<'_>) {
        if let (Some(log), Some(accesses)) = (&mut view.log, &scratch.accesses) {
            log.list(&self.ahead.grid, self.homes[warp], scratch.pc as usize, accesses);
        }
        for register in members(named) {
            self.rows[register].0[warp] = scratch.registers[register];
        }
        self.scratch = Some(scratch);
    }

    /// Reads a value in a warp.
    #[inline(always)]
    fn value(&self, Value { row, high, booleans }: Value, warp: usize, to: &mut Wide<LANES>) {
        let keep = if booleans == 0 { ones(32) } else { ones(booleans.into()) };
        for (to, low) in to.iter_mut().zip(&self.rows[usize::from(row)].0[warp]) {
            *to = u64::from(*low) & keep;
        }
        if high != NO_ROW {
            for (to, high) in to.iter_mut().zip(&self.rows[usize::from(high)].0[warp]) {
                *to |= u64::from(*high) << 32;
            }
        }
    }

    /// Sets a value in all lanes of a warp.
    fn set_value(&mut self, Value { row, high, booleans }: Value, warp: usize, value: &Wide<LANES>) {
        self.rows[usize::from(row)].0[warp] = match booleans {
            0 => each(value, |value| value as u32),
            _ => each(value, |value| if value & 1 != 0 { u32::MAX } else { 0 }),
        };
        if high != NO_ROW {
            self.rows[usize::from(high)].0[warp] = each(value, |value| (value >> 32) as u32);
        }
    }
}
