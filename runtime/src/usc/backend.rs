//! Backend operations: what a group asks of the units around the ALU.

use isaforge_usc::{AtomicOp, Backend, BeOp, Dsel, Dsize, MskMode, PerspCtl};

use crate::observe::Traffic;
use crate::usc::error::Trap;
use crate::usc::exec::{Cpu, Wires};
use crate::usc::host::{Host, Instance};
use crate::usc::lanes::{LANES, Mask, each, splat, zip};
use crate::usc::machine::{Machine, State};
use crate::usc::program::{Main, source_of};
use crate::usc::register::Register;
use crate::usc::sample::{Iteration, X, Y};

/// Words of a texture's or a sampler's state.
const STATE: u16 = 4;

impl<H: Host> Cpu<'_, H> {
    pub(super) fn who(&self, instance: usize) -> Instance {
        Instance { task: self.number, instance }
    }

    /// The register `by` on from one that a source names, for one instance.
    pub(super) fn nth(&self, register: Register, by: u32, instance: usize) -> Result<Register, Trap> {
        let register = u16::try_from(by).ok().and_then(|by| register.plus(by)).ok_or(Trap::Burst(by))?;
        self.resolve(register, instance)
    }

    pub(super) fn take(&self, register: Register, by: u32, instance: usize) -> Result<u32, Trap> {
        Ok(self.read_one(self.nth(register, by, instance)?, instance))
    }

    pub(super) fn give(&mut self, register: Register, by: u32, instance: usize, value: u32) -> Result<(), Trap> {
        let register = self.nth(register, by, instance)?;
        if !register.is_writable() {
            return Err(Trap::Fixed);
        }
        self.write_one(register, instance, value);
        self.note(register, instance, value);
        Ok(())
    }

    pub(super) fn take_state(&self, register: Register, instance: usize) -> Result<[u32; 4], Trap> {
        let mut state = [0; STATE as usize];
        for (i, word) in state.iter_mut().enumerate() {
            *word = self.take(register, i as u32, instance)?;
        }
        Ok(state)
    }

    fn address(&self, register: Register, instance: usize) -> Result<u64, Trap> {
        let low = self.take(register, 0, instance)?;
        let high = self.take(register, 1, instance)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// The backend phase of a group, in repetition `k`.
    pub(super) fn backend(
        &mut self,
        op: &Backend,
        main: &Main,
        k: u16,
        active: Mask,
        wires: &mut Wires,
    ) -> Result<(), Trap> {
        // Registers step with repetitions.
        let nth = |i: usize| main.sources[i].plus(k).ok_or(Trap::Burst(k.into()));
        let source = |field| nth(source_of(field));
        match op.op {
            BeOp::UvswWrite | BeOp::UvswWriteEmitEndtask => {
                let data = if op.dsel == Dsel::W0 { wires.w0 } else { wires.w1 };
                let named = source(op.srcsel)?;
                for i in each(active) {
                    let output = if op.immediate { op.imm_addr + u32::from(k) } else { self.take(named, 0, i)? };
                    self.host.vertex(self.who(i), output, data[i]).map_err(Trap::Host)?;
                }
                if op.op == BeOp::UvswWriteEmitEndtask { self.emit(active, 0, true, false, true) } else { Ok(()) }
            }
            BeOp::UvswEmit => self.emit(active, op.stream_id, true, false, false),
            BeOp::UvswCut => self.emit(active, op.stream_id, false, true, false),
            BeOp::UvswEmitCut => self.emit(active, op.stream_id, true, true, false),
            BeOp::UvswEmitEndtask => self.emit(active, 0, true, false, true),
            BeOp::UvswEndtask => self.emit(active, 0, false, false, true),
            BeOp::Savmsk => {
                let running = self.task.running & self.task.valid;
                let pixel = |x: u32, y: u32| (x & 0xffff) | y << 16;
                (wires.w0, wires.w1) = match op.msk_mode {
                    MskMode::Vm => (splat(self.task.valid), splat(0)),
                    MskMode::Icm => (splat(running), splat(0)),
                    MskMode::Icmi => (splat(self.task.valid & !running), splat(0)),
                    MskMode::Icmoc => (splat(running & !self.task.failed), splat(0)),
                    MskMode::Caxy => {
                        let place = zip(self.task.columns.at(X), self.task.columns.at(Y), pixel);
                        (splat(running & !self.task.failed), place)
                    }
                };
                Ok(())
            }
            BeOp::Setl => {
                let value = if op.ressel == Dsel::W0 { &wires.w0 } else { &wires.w1 };
                self.task.link = value[active.trailing_zeros() as usize % LANES];
                Ok(())
            }
            BeOp::Depthf => {
                self.task.kept |= active;
                each(active).for_each(|i| self.host.depth(self.who(i), f32::from_bits(wires.w0[i])));
                Ok(())
            }
            BeOp::Atst => self.alpha_test(op, [nth(0)?, nth(1)?, nth(2)?], active),
            BeOp::Emitpix => Machine::pixels(self.host, self.task, self.number, active),
            BeOp::Fitr => {
                let iteration = Iteration {
                    to: nth(3)?,
                    planes: nth(0)?,
                    w: if op.p == PerspCtl::None { None } else { Some(nth(2)?) },
                    count: op.count,
                    mode: op.iter_mode,
                    perspective: op.p,
                    saturate: op.sat,
                    half: false,
                };
                self.iterate(&iteration, active)
            }
            BeOp::Ld => {
                let (length, address, to) = (source(op.srcselbl)?, source(op.srcseladd)?, nth(3)?);
                for i in each(active) {
                    let count = if op.immediate { op.burstlen } else { burst(self.take(length, 0, i)?) };
                    self.load(address, to, count, i)?;
                }
                Ok(())
            }
            BeOp::St => {
                let (length, covers) = (source(op.srcselbl)?, source(op.srcmask)?);
                let (address, data) = (source(op.srcseladd)?, source(op.srcseldata)?);
                each(active).try_for_each(|i| {
                    let count = if op.immediate { op.burstlen } else { burst(self.take(length, 0, i)?) };
                    let covered = op.nottiled || self.take(covers, 0, i)? & 1 != 0;
                    if covered { self.store(address, data, count, op.dsize, i) } else { Ok(()) }
                })
            }
            BeOp::Atomic => {
                let (operands, to) = (source(op.srcsel)?, source(op.dstsel)?);
                each(active).try_for_each(|i| self.atomic(op.atomic_op, operands, to, i))
            }
            BeOp::Smp => each(active).try_for_each(|i| self.sample(op, main, i, active)),
            BeOp::Tessw => {
                let data = if op.dsel == Dsel::W0 { wires.w0 } else { wires.w1 };
                let address = op.imm_addr + u32::from(k);
                each(active).try_for_each(|i| self.host.tessellate(self.who(i), address, data[i]).map_err(Trap::Host))
            }
            BeOp::StTexel => self.store_texel(main, wires, active),
            BeOp::Movmsk => {
                let mask = if op.sm { self.read(source(op.srcsel)?, active)? } else { wires.w0 };
                self.task.running = mask[active.trailing_zeros() as usize % LANES] & self.task.valid;
                Ok(())
            }
            BeOp::Phas if op.end => {
                self.task.state = State::Ended;
                Ok(())
            }
            BeOp::Phas => {
                let first = active.trailing_zeros() as usize % LANES;
                let address = self.take(source(op.exeaddrsrc)?, 0, first)?;
                self.go_to(address.into())
            }
            // There is nothing to wait for.
            BeOp::Idf => Ok(()),
        }
    }

    fn emit(&mut self, active: Mask, stream: u32, emit: bool, cut: bool, end: bool) -> Result<(), Trap> {
        if emit || cut {
            each(active).try_for_each(|i| self.host.emit(self.who(i), stream, emit, cut).map_err(Trap::Host))?;
        }
        if end {
            self.task.state = State::Ended;
        }
        Ok(())
    }

    /// A fragment that no test lets pass is discarded when the task ends; with `ifb` the test says nothing of the fragment.
    fn alpha_test(&mut self, op: &Backend, sources: [Register; 3], active: Mask) -> Result<(), Trap> {
        let mut passed = 0;
        for i in each(active) {
            let [reference, data, state] =
                [self.take(sources[0], 0, i)?, self.take(sources[1], 0, i)?, self.take(sources[2], 0, i)?];
            passed |= Mask::from(self.host.alpha_test(self.who(i), reference, data, state)) << i;
        }
        if !op.ifb {
            self.task.kept |= passed;
            self.task.failed |= active & !passed;
        }
        if op.pwen {
            self.set_predicate(passed, active);
        }
        Ok(())
    }

    fn load(&mut self, address: Register, to: Register, count: u32, i: usize) -> Result<(), Trap> {
        let address = self.address(address, i)?;
        let mut bytes = vec![0; count as usize * 4];
        self.host.load(address, &mut bytes).map_err(|fault| Trap::Memory { instance: i, fault })?;
        self.traffic.read += bytes.len() as u64;
        for (n, word) in bytes.chunks_exact(4).enumerate() {
            self.give(to, n as u32, i, u32::from_le_bytes([word[0], word[1], word[2], word[3]]))?;
        }
        Ok(())
    }

    fn store(&mut self, address: Register, data: Register, count: u32, size: Dsize, i: usize) -> Result<(), Trap> {
        self.store_at(self.address(address, i)?, data, count, size, i)
    }

    /// Stores the low parts of registers.
    pub(super) fn store_at(
        &mut self,
        address: u64,
        data: Register,
        count: u32,
        size: Dsize,
        i: usize,
    ) -> Result<(), Trap> {
        let width = match size {
            Dsize::_8bit => 1,
            Dsize::_16bit => 2,
            Dsize::_32bit => 4,
        };
        let mut bytes = Vec::with_capacity(count as usize * width);
        for n in 0..count {
            bytes.extend_from_slice(&self.take(data, n, i)?.to_le_bytes()[..width]);
        }
        self.traffic.written += bytes.len() as u64;
        self.host.store(address, &bytes).map_err(|fault| Trap::Memory { instance: i, fault })
    }

    fn atomic(&mut self, op: AtomicOp, operands: Register, to: Register, i: usize) -> Result<(), Trap> {
        let address = self.address(operands, i)?;
        let operand = self.take(operands, 2, i)?;
        let fault = |fault| Trap::Memory { instance: i, fault };
        let mut bytes = [0; 4];
        self.host.load(address, &mut bytes).map_err(fault)?;
        let old = u32::from_le_bytes(bytes);
        self.host.store(address, &combine(op, old, operand).to_le_bytes()).map_err(fault)?;
        self.traffic += Traffic { read: 4, written: 4 };
        self.give(to, 0, i, old)
    }
}

/// The length of a burst that a register names: 1 to 1024, of which 1024 is 0. The vendor's program that saves shared
/// registers stores them in runs of 1024 with a length of 0, and the rest with its number.
fn burst(value: u32) -> u32 {
    match value & 1023 {
        0 => 1024,
        count => count,
    }
}

/// What an atomic operation puts into memory.
pub(super) fn combine(op: AtomicOp, old: u32, operand: u32) -> u32 {
    match op {
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::Sub => old.wrapping_sub(operand),
        AtomicOp::Xchg => operand,
        AtomicOp::Umin => old.min(operand),
        AtomicOp::Imin => (old as i32).min(operand as i32) as u32,
        AtomicOp::Umax => old.max(operand),
        AtomicOp::Imax => (old as i32).max(operand as i32) as u32,
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
    }
}
