//! The intrinsics of the specification: units beside the data path, and functions of the hardware's tables.
//!
//! The trait is generated from the specification, so that an intrinsic without an implementation does not compile.

use isaforge_core::machine::functions;
use isaforge_usc::semantics::Intrinsics;
use isaforge_usc::{Backend, PerspCtl};

use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::graph::Group;
use crate::usc::host::{Host, TexelLocation};
use crate::usc::lanes::{Column, LANES, each};
use crate::usc::register::Register;
use crate::usc::step::Action;
use crate::usc::task::State;

/// A word of another type for each instance.
type Lanes<T> = [T; LANES];

impl<H: Host> Group<'_, '_, H> {
    /// Returns the register passed to an intrinsic: the operand in the low byte, the repetition in the high byte.
    fn passed(&self, operand: u16) -> Result<Register, Trap> {
        self.register(operand & 0xff, operand >> 8)
    }

    fn backend(&self) -> Backend {
        match &self.step.action {
            Action::Main(main) => main.backend.unwrap_or_default(),
            _ => Backend::default(),
        }
    }

    /// Calls the host for each instance of a mask, from the lowest.
    fn host(
        &mut self,
        mask: u64,
        mut call: impl FnMut(&mut Cpu<'_, H>, usize) -> Result<(), String>,
    ) -> Result<(), Trap> {
        each(mask as u32).try_for_each(|i| call(self.cpu, i).map_err(Trap::Host))
    }

    /// Iterates the registers that the record of a group names, and samples at the iterated coordinates.
    fn iterate_by_record(&mut self, mask: u64) -> Result<(), Trap> {
        let Action::Control(control) = &self.step.action else { return Ok(()) };
        if let Some(ditr) = &control.parts.ditr {
            self.cpu.iterate_directly(ditr, mask as u32)?;
        }
        if let Some(itrsmp) = &control.parts.itrsmp {
            self.cpu.iterate_and_sample(itrsmp, mask as u32)?;
        }
        Ok(())
    }
}

/// Defines intrinsics that are functions of the mathematics library.
macro_rules! functions {
    ($($name:ident),*) => {
        $(fn $name(&mut self, x: Lanes<f32>, _: u64) -> Result<Lanes<f32>, Trap> {
            Ok(x.map(|x| f32::from_bits(functions::$name(x.to_bits()))))
        })*
    };
}

impl<H: Host> Intrinsics<LANES> for Group<'_, '_, H> {
    type Fault = Trap;

    functions!(log2, exp2, srgb_encode, srgb_decode, sine_by_x, arctangent_by_x, reduce_sine, reduce_cosine);

    fn vertex(&mut self, number: Column, value: Column, mask: u64) -> Result<(), Trap> {
        self.host(mask, |cpu, i| cpu.host.vertex(cpu.who(i), number[i], value[i]))
    }

    fn emit(&mut self, stream: Column, emits: Lanes<bool>, ends: Lanes<bool>, mask: u64) -> Result<(), Trap> {
        self.host(mask, |cpu, i| cpu.host.emit(cpu.who(i), stream[i], emits[i], ends[i]))
    }

    fn tessellate(&mut self, address: Column, value: Column, mask: u64) -> Result<(), Trap> {
        self.host(mask, |cpu, i| cpu.host.tessellate(cpu.who(i), address[i], value[i]))
    }

    fn end_task(&mut self, _: u64) -> Result<(), Trap> {
        self.cpu.task.state = State::Ended;
        Ok(())
    }

    fn pixel(&mut self, mask: u64) -> Result<(), Trap> {
        let cpu = &mut *self.cpu;
        cpu.task.pixels(cpu.host, cpu.number, mask as u32)
    }

    fn depth(&mut self, value: Lanes<f32>, mask: u64) -> Result<(), Trap> {
        let cpu = &mut *self.cpu;
        each(mask as u32).for_each(|i| cpu.host.depth(cpu.who(i), value[i]));
        Ok(())
    }

    fn alpha_test(&mut self, a: Column, b: Column, c: Column, mask: u64) -> Result<Lanes<bool>, Trap> {
        let cpu = &mut *self.cpu;
        let mut passes = [false; LANES];
        for i in each(mask as u32) {
            passes[i] = cpu.host.alpha_test(cpu.who(i), a[i], b[i], c[i]);
        }
        Ok(passes)
    }

    fn load_burst(&mut self, to: u16, address: Lanes<u64>, count: Column, mask: u64) -> Result<(), Trap> {
        let to = self.passed(to)?;
        each(mask as u32).try_for_each(|i| self.cpu.load(address[i], to, count[i], i))
    }

    fn store_burst(
        &mut self,
        data: u16,
        address: Lanes<u64>,
        count: Column,
        size: Column,
        mask: u64,
    ) -> Result<(), Trap> {
        let data = self.passed(data)?;
        each(mask as u32).try_for_each(|i| self.cpu.store(address[i], data, count[i], 1 << size[i], i))
    }

    fn store_texel(&mut self, low: Column, high: Column, mask: u64) -> Result<(), Trap> {
        each(mask as u32).try_for_each(|i| {
            let place = TexelLocation::unpacked([low[i], high[i]]);
            let width = 1 << place.size.number();
            self.cpu.store(place.address, self.sources[2], place.count, width, i)
        })
    }

    fn texel_place(
        &mut self,
        _: u16,
        kind: Column,
        x: Column,
        y: Column,
        z: Column,
        mask: u64,
    ) -> Result<Lanes<u64>, Trap> {
        let cpu = &mut *self.cpu;
        let mut places = [0; LANES];
        for i in each(mask as u32) {
            let texture = cpu.take_state(self.sources[0], i)?;
            let place = cpu.host.place(cpu.who(i), kind[i], texture, [x[i], y[i], z[i]]).map_err(Trap::Host)?;
            let [low, rest] = place.packed().map(u64::from);
            places[i] = low | rest << 32 | u64::from(place.outside) << 63;
        }
        Ok(places)
    }

    fn sample(
        &mut self,
        _: u16,
        _: u16,
        _: u16,
        _: u16,
        _: u16,
        _: Column,
        _: Column,
        _: Column,
        mask: u64,
    ) -> Result<(), Trap> {
        let (op, sources, lanes) = (self.backend(), self.sources, mask as u32);
        // Results may overwrite coordinates, which neighbours need for their level of detail.
        let gradients = self.cpu.gradients(&op, sources[1], lanes)?;
        each(lanes).try_for_each(|i| self.cpu.sample(&op, sources, i, gradients[i]))
    }

    fn iterate(&mut self, to: u16, planes: u16, w: u16, _: Column, _: Column, mask: u64) -> Result<(), Trap> {
        let op = self.backend();
        let (to, planes) = (self.passed(to)?, self.passed(planes)?);
        let w = if op.p == PerspCtl::None { None } else { Some(self.passed(w)?) };
        self.cpu.iterate_values(&op, to, planes, w, mask as u32)
    }

    fn iterate_directly(
        &mut self,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        mask: u64,
    ) -> Result<(), Trap> {
        self.iterate_by_record(mask)
    }

    fn iterate_and_sample(
        &mut self,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        _: Column,
        mask: u64,
    ) -> Result<(), Trap> {
        self.iterate_by_record(mask)
    }

    fn mutex(&mut self, what: Column, which: Column, _: u64) -> Result<(), Trap> {
        self.cpu.mutex(what[0], which[0]);
        Ok(())
    }

    fn unexplained(&mut self, _: u64) -> Result<(), Trap> {
        Err(Trap::Unknown)
    }

    fn return_from_breakpoint(&mut self, _: u64) -> Result<(), Trap> {
        let to = self.cpu.task.breakpoint.ok_or(Trap::Breakpoint)?;
        self.goal = Some(to.into());
        Ok(())
    }
}
