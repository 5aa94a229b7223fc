//! Backend operations: what a group asks of the units around the ALU.

use isaforge_usc::{
    AtomicOp, Backend, BeOp, Ditr, Dmn, Dsel, Dsize, IdxCtrl, IterMode, Itrsmp, Lodm, MskMode, PerspCtl, Regbank,
    Sbmode,
};

use crate::usc::error::Trap;
use crate::usc::exec::{Cpu, Wires};
use crate::usc::host::{Host, Instance, Level, Sample};
use crate::usc::lanes::{LANES, Mask, each, splat, zip};
use crate::usc::machine::{Machine, State};
use crate::usc::program::{Main, source_of};
use crate::usc::register::Register;
use crate::usc::rules::float;
use crate::usc::rules::pack::{f16_to_f32, half_bits};

/// The special registers with an instance's place.
const X: u16 = 97;
const Y: u16 = 100;
/// Words of a texture's or a sampler's state.
const STATE: u16 = 4;

/// Values to iterate.
struct Iteration {
    to: Register,
    planes: Register,
    w: Option<Register>,
    count: u32,
    mode: IterMode,
    perspective: PerspCtl,
    saturate: bool,
    half: bool,
}

impl<H: Host> Cpu<'_, H> {
    pub(super) fn who(&self, instance: usize) -> Instance {
        Instance { task: self.number, instance }
    }

    /// The register `by` on from one that a source names, for one instance.
    fn nth(&self, register: Register, by: u32, instance: usize) -> Result<Register, Trap> {
        let register = u16::try_from(by).ok().and_then(|by| register.plus(by)).ok_or(Trap::Burst(by))?;
        self.resolve(register, instance)
    }

    fn take(&self, register: Register, by: u32, instance: usize) -> Result<u32, Trap> {
        Ok(self.read_one(self.nth(register, by, instance)?, instance))
    }

    fn give(&mut self, register: Register, by: u32, instance: usize, value: u32) -> Result<(), Trap> {
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
        self.give(to, 0, i, old)
    }

    fn iterate(&mut self, iteration: &Iteration, active: Mask) -> Result<(), Trap> {
        for i in each(active) {
            let half = |number: u16| self.read_one(Register::Column(number), i) as f32 + 0.5;
            // Without multisampling the one sample and the centroid are the centre.
            let (x, y) = match iteration.mode {
                IterMode::Pixel | IterMode::Sample | IterMode::Centroid => (half(X), half(Y)),
            };
            let w = match (iteration.perspective, iteration.w) {
                (PerspCtl::None, _) => 1.0,
                (PerspCtl::MulStored, _) => self.task.kept_w[i],
                (_, Some(register)) => 1.0 / self.plane(register, 0, i, x, y)?,
                (_, None) => 1.0,
            };
            if iteration.perspective == PerspCtl::IterMulStore {
                self.task.kept_w[i] = w;
            }
            let mut pair = 0;
            for n in 0..iteration.count {
                let mut value = (self.plane(iteration.planes, n, i, x, y)? * w).to_bits();
                if iteration.saturate {
                    value = float::saturate(value);
                }
                if !iteration.half {
                    self.give(iteration.to, n, i, value)?;
                    continue;
                }
                // Two halves a register.
                let bits = half_bits(f32::from_bits(value), false);
                pair = if n % 2 == 0 { bits } else { pair | bits << 16 };
                self.give(iteration.to, n / 2, i, pair)?;
            }
        }
        Ok(())
    }

    /// Component `n`: its plane has four registers, of which the last is not used.
    fn plane(&mut self, planes: Register, n: u32, i: usize, x: f32, y: f32) -> Result<f32, Trap> {
        let mut plane = [0.0; 3];
        for (c, coefficient) in plane.iter_mut().enumerate() {
            *coefficient = f32::from_bits(self.take(planes, 4 * n + c as u32, i)?);
        }
        let who = self.who(i);
        Ok(self.host.iterate(who, plane, x, y))
    }

    pub(super) fn iterate_directly(&mut self, ditr: &Ditr, active: Mask) -> Result<(), Trap> {
        let iteration = Iteration {
            to: register(Regbank::Temp, ditr.dest)?,
            planes: coefficient(ditr.coff, ditr.coff_idx_ctrl)?,
            w: Some(coefficient(ditr.woff, ditr.woff_idx_ctrl)?),
            count: ditr.count,
            mode: ditr.mode,
            perspective: ditr.p,
            saturate: ditr.sat,
            half: ditr.f16,
        };
        self.iterate(&iteration, active)
    }

    pub(super) fn iterate_and_sample(&mut self, op: &Itrsmp, active: Mask) -> Result<(), Trap> {
        let dimensions = dimensions(op.dmn);
        let planes = coefficient(op.coff, op.coff_idx_ctrl)?;
        let w = coefficient(op.woff, op.woff_idx_ctrl)?;
        let (texture, sampler) = (register(Regbank::Shared, op.texoff)?, register(Regbank::Shared, op.smpoff)?);
        let to = register(Regbank::Temp, op.dest)?;
        for i in each(active) {
            let half = |number: u16| self.read_one(Register::Column(number), i) as f32 + 0.5;
            let (x, y) = (half(X), half(Y));
            let count = dimensions + u32::from(op.proj) + u32::from(op.comparison);
            // The values at a place, the projection's divisor behind the coordinates, then the reference.
            let kept = self.task.kept_w[i];
            let values = |cpu: &mut Self, x: f32, y: f32| {
                let over_w = match op.p {
                    PerspCtl::None => 1.0,
                    PerspCtl::MulStored => kept,
                    PerspCtl::IterMul | PerspCtl::IterMulStore => 1.0 / cpu.plane(w, 0, i, x, y)?,
                };
                let mut values = [0.0; 5];
                for (n, value) in values.iter_mut().enumerate().take(count as usize) {
                    let bits = (cpu.plane(planes, n as u32, i, x, y)? * over_w).to_bits();
                    *value = f32::from_bits(if op.sat { float::saturate(bits) } else { bits });
                }
                if op.proj {
                    let divisor = values[dimensions as usize];
                    values.iter_mut().take(dimensions as usize).for_each(|value| *value /= divisor);
                }
                Ok::<_, Trap>((values, over_w))
            };
            let (here, over_w) = values(self, x, y)?;
            let (right, _) = values(self, x + 1.0, y)?;
            let (below, _) = values(self, x, y + 1.0)?;
            if op.p == PerspCtl::IterMulStore {
                self.task.kept_w[i] = over_w;
            }
            let mut sample = Sample {
                texture: self.take_state(texture, i)?,
                sampler: self.take_state(sampler, i)?,
                dimensions,
                reference: op.comparison.then(|| here[count as usize - 1]),
                texels: op.nncoords,
                normalise: op.fcnorm,
                ..Sample::default()
            };
            for d in 0..dimensions as usize {
                sample.coordinates[d] = here[d];
                (sample.gradients[2 * d], sample.gradients[2 * d + 1]) = (right[d] - here[d], below[d] - here[d]);
            }
            let texel = self.host.sample(self.who(i), &sample).map_err(Trap::Host)?;
            self.texel(to, op.chan, op.f16, texel, i)?;
        }
        Ok(())
    }

    /// The coordinates of an instance, divided by the projection; integers are kept as their bits.
    fn coordinates(&self, op: &Backend, data: &mut Data) -> Result<[f32; 3], Trap> {
        let used = dimensions(op.dmn) as usize;
        let mut coordinates = [0.0; 3];
        for coordinate in coordinates.iter_mut().take(used) {
            *coordinate = if op.integer { f32::from_bits(data.word(self)?) } else { data.value(self)? };
        }
        if op.proj && op.integer {
            let divisor = data.word(self)? as i32;
            let divided = |bits: u32| (bits as i32).checked_div(divisor).unwrap_or(0) as u32;
            coordinates = coordinates.map(|x| f32::from_bits(divided(x.to_bits())));
        } else if op.proj {
            let divisor = data.value(self)?;
            coordinates = coordinates.map(|x| x / divisor);
        }
        Ok(coordinates)
    }

    /// Differences of coordinates to the next instances of the quad: within the row, within the column, or those of the other
    /// row or column where an instance is missing; 0 where all are.
    fn gradients(&self, op: &Backend, from: Register, i: usize, active: Mask) -> Result<[f32; 6], Trap> {
        let mut gradients = [0.0; 6];
        for (axis, step) in [1, 2].into_iter().enumerate() {
            let both = |low: usize| active >> low & 1 != 0 && active >> (low + step) & 1 != 0;
            let Some(low) = [i & !step, (i & !step) ^ (3 - step)].into_iter().find(|low| both(*low)) else { continue };
            let at = |instance: usize| self.coordinates(op, &mut Data { from, next: 0, halves: op.f16input, instance });
            let (here, there) = (at(low)?, at(low + step)?);
            (0..3).for_each(|d| gradients[2 * d + axis] = there[d] - here[d]);
        }
        Ok(gradients)
    }

    /// Data of a sample come in this order, those that are asked for: coordinates, the divisor of a projection, the layer,
    /// the reference, the level of detail or the differences, the address, a word with the offsets (6, 6 and 4 bits with
    /// sign) and in bits 18..16 the sample number. A texture write has its four values behind them. The order is that of
    /// Mesa, which has no reference.
    fn sample(&mut self, op: &Backend, main: &Main, i: usize, active: Mask) -> Result<(), Trap> {
        let dimensions = dimensions(op.dmn);
        let mut data = Data { from: main.sources[1], next: 0, halves: op.f16input, instance: i };
        let mut sample = Sample {
            texture: self.take_state(main.sources[0], i)?,
            sampler: self.take_state(main.sources[2], i)?,
            dimensions,
            coordinates: self.coordinates(op, &mut data)?,
            texels: op.nncoords,
            integer: op.integer,
            normalise: op.fcnorm,
            ..Sample::default()
        };
        if op.array {
            sample.layer = Some(if op.integer { data.word(self)? } else { data.value(self)?.round_ties_even() as u32 });
        }
        if op.comparison {
            sample.reference = Some(data.value(self)?);
        }
        // Without a level of its own an instance takes the one that all share.
        let level = match op.lodm {
            Lodm::Bias | Lodm::Replace if op.pplod => data.value(self)?,
            Lodm::Bias | Lodm::Replace => f32::from_bits(self.take(main.sources[3], 0, i)?),
            Lodm::Normal | Lodm::Gradient => 0.0,
        };
        if matches!(op.lodm, Lodm::Normal | Lodm::Bias) && !op.integer {
            sample.gradients = self.gradients(op, main.sources[1], i, active)?;
        }
        sample.level = match op.lodm {
            Lodm::Normal => Level::Implicit,
            Lodm::Bias => Level::Bias(level),
            Lodm::Replace => Level::Replace(level),
            Lodm::Gradient => {
                for value in sample.gradients.iter_mut().take(2 * dimensions as usize) {
                    *value = data.value(self)?;
                }
                Level::Gradients
            }
        };
        if op.tao {
            sample.address = Some(u64::from(data.word(self)?) | u64::from(data.word(self)?) << 32);
        }
        if op.soo || op.sno {
            let lookup = data.word(self)?;
            let signed = |at: u32, width: u32| (lookup << (32 - at - width)) as i32 >> (32 - width);
            if op.soo {
                sample.offset = [signed(0, 6), signed(6, 6), signed(12, 4)];
            }
            sample.sample = op.sno.then_some(lookup >> 16 & 7);
        }
        if op.w {
            let mut value = [0; 4];
            for word in &mut value {
                *word = data.word(self)?;
            }
            return self.host.write_texel(self.who(i), &sample, value).map_err(Trap::Host);
        }
        let to = main.sources[4];
        if op.sbmode == Sbmode::None {
            let texel = self.host.sample(self.who(i), &sample).map_err(Trap::Host)?;
            return self.texel(to, op.chan, op.f16, texel, i);
        }
        let raw = self.host.sample_raw(self.who(i), &sample).map_err(Trap::Host)?;
        let channels = op.chan.clamp(1, 4) as usize;
        let texels = raw.texels.iter().flat_map(|texel| texel.iter().take(channels).copied());
        let coefficients = raw.coefficients();
        let words: Vec<u32> = match op.sbmode {
            Sbmode::Data => texels.collect(),
            Sbmode::Info => coefficients.to_vec(),
            Sbmode::None | Sbmode::Both => texels.chain(coefficients).collect(),
        };
        words.iter().enumerate().try_for_each(|(n, word)| self.give(to, n as u32, i, *word))
    }

    /// Puts the channels of a texel into registers, two halves in one if asked.
    fn texel(&mut self, to: Register, channels: u32, half: bool, texel: [u32; 4], i: usize) -> Result<(), Trap> {
        let channels = channels.min(4) as usize;
        if !half {
            return (0..channels).try_for_each(|c| self.give(to, c as u32, i, texel[c]));
        }
        let halves = texel.map(|bits| half_bits(f32::from_bits(bits), false));
        (0..channels.div_ceil(2)).try_for_each(|c| {
            let upper = if 2 * c + 1 < channels { halves[2 * c + 1] << 16 } else { 0 };
            self.give(to, c as u32, i, halves[2 * c] | upper)
        })
    }
}

/// The data of a sample, one after another.
struct Data {
    from: Register,
    next: u32,
    halves: bool,
    instance: usize,
}

impl Data {
    fn word<H: Host>(&mut self, cpu: &Cpu<'_, H>) -> Result<u32, Trap> {
        if self.halves {
            // A word starts a register of its own.
            self.next = self.next.next_multiple_of(2);
        }
        let at = if self.halves { self.next / 2 } else { self.next };
        self.next += if self.halves { 2 } else { 1 };
        cpu.take(self.from, at, self.instance)
    }

    fn value<H: Host>(&mut self, cpu: &Cpu<'_, H>) -> Result<f32, Trap> {
        if !self.halves {
            return self.word(cpu).map(f32::from_bits);
        }
        let pair = cpu.take(self.from, self.next / 2, self.instance)?;
        let half = if self.next.is_multiple_of(2) { pair } else { pair >> 16 };
        self.next += 1;
        Ok(f32::from_bits(f16_to_f32(half as u16)))
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

fn dimensions(dmn: Dmn) -> u32 {
    dmn.number() as u32
}

fn register(bank: Regbank, number: u32) -> Result<Register, Trap> {
    Register::new(bank, number).ok_or(Trap::Burst(number))
}

/// A coefficient, indexed or not.
fn coefficient(number: u32, index: IdxCtrl) -> Result<Register, Trap> {
    let reach = 2;
    match index {
        IdxCtrl::None => register(Regbank::Coeff, number),
        IdxCtrl::Idx0 => register(Regbank::Idx0, number << 3 | reach),
        IdxCtrl::Idx1 => register(Regbank::Idx1, number << 3 | reach),
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
