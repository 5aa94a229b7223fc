//! Iteration of coefficients, and texture sampling.

use isaforge_usc::{Backend, Ditr, Dmn, IdxCtrl, IterMode, Itrsmp, Lodm, PerspCtl, Regbank, Sbmode};

use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::float::{self, f16_to_f32, half_bits};
use crate::usc::host::{Host, Level, Sample};
use crate::usc::lanes::{LANES, Mask, each};
use crate::usc::register::Register;

/// The special registers with the position of an instance.
pub(super) const X: u16 = 97;
pub(super) const Y: u16 = 100;

/// The values to iterate.
pub(super) struct Iteration {
    pub to: Register,
    pub planes: Register,
    pub w: Option<Register>,
    pub count: u32,
    pub mode: IterMode,
    pub perspective: PerspCtl,
    pub saturate: bool,
    pub half: bool,
}

impl<H: Host> Cpu<'_, H> {
    pub(super) fn iterate(&mut self, iteration: &Iteration, active: Mask) -> Result<(), Trap> {
        for i in each(active) {
            let half = |number: u16| self.read_one(Register::Column(number), i) as f32 + 0.5;
            // Without multisampling, the only sample and the centroid are at the centre.
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
                // A register holds two halves.
                let bits = half_bits(f32::from_bits(value));
                pair = if n % 2 == 0 { bits } else { pair | bits << 16 };
                self.give(iteration.to, n / 2, i, pair)?;
            }
        }
        Ok(())
    }

    /// Evaluates component `n`. Its plane has four registers, the last of which is unused.
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
            // The values at a position: the coordinates, the divisor of the projection, then the reference.
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

    /// Returns the coordinates of an instance, divided by the projection. Integers keep their bits.
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

    /// The differences of coordinates to the neighbours in the quad: within the row and within the column, or in the
    /// other row or column if an instance is missing there; 0 if both are incomplete.
    fn gradients_of(&self, op: &Backend, from: Register, i: usize, active: Mask) -> Result<[f32; 6], Trap> {
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

    /// The differences for all instances of a mask; 0 if the sample does not use them.
    pub(super) fn gradients(&self, op: &Backend, from: Register, active: Mask) -> Result<[[f32; 6]; LANES], Trap> {
        let mut all = [[0.0; 6]; LANES];
        if matches!(op.lodm, Lodm::Normal | Lodm::Bias) && !op.integer {
            for (i, gradients) in all.iter_mut().enumerate().filter(|(i, _)| active >> i & 1 != 0) {
                *gradients = self.gradients_of(op, from, i, active)?;
            }
        }
        Ok(all)
    }

    /// Executes a sample with these [differences](Self::gradients) of coordinates. Its data are in this order, as far as
    /// they are present: coordinates, the divisor of a projection, the layer, the reference, the level of detail or the
    /// derivatives, the address, a word with the offsets (signed, of 6, 6 and 4 bits) and the sample number in bits
    /// 18..16. For a texture write, four values follow. The order is that of Mesa, which has no reference.
    pub(super) fn sample(
        &mut self,
        op: &Backend,
        sources: &[Register; 6],
        i: usize,
        gradients: [f32; 6],
    ) -> Result<(), Trap> {
        let dimensions = dimensions(op.dmn);
        let mut data = Data { from: sources[1], next: 0, halves: op.f16input, instance: i };
        let mut sample = Sample {
            texture: self.take_state(sources[0], i)?,
            sampler: self.take_state(sources[2], i)?,
            dimensions,
            coordinates: self.coordinates(op, &mut data)?,
            texels: op.nncoords,
            integer: op.integer,
            normalise: op.fcnorm,
            gradients,
            ..Sample::default()
        };
        if op.array {
            sample.layer = Some(if op.integer { data.word(self)? } else { data.value(self)?.round_ties_even() as u32 });
        }
        if op.comparison {
            sample.reference = Some(data.value(self)?);
        }
        // Without a level of its own, an instance uses the one shared by all.
        let level = match op.lodm {
            Lodm::Bias | Lodm::Replace if op.pplod => data.value(self)?,
            Lodm::Bias | Lodm::Replace => f32::from_bits(self.take(sources[3], 0, i)?),
            Lodm::Normal | Lodm::Gradient => 0.0,
        };
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
        let to = sources[4];
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

    /// Writes the channels of a texel to registers; two halves share a register if `half` is set.
    fn texel(&mut self, to: Register, channels: u32, half: bool, texel: [u32; 4], i: usize) -> Result<(), Trap> {
        let channels = channels.min(4) as usize;
        if !half {
            return (0..channels).try_for_each(|c| self.give(to, c as u32, i, texel[c]));
        }
        let halves = texel.map(|bits| half_bits(f32::from_bits(bits)));
        (0..channels.div_ceil(2)).try_for_each(|c| {
            let upper = if 2 * c + 1 < channels { halves[2 * c + 1] << 16 } else { 0 };
            self.give(to, c as u32, i, halves[2 * c] | upper)
        })
    }
}

/// The data of a sample, in order.
struct Data {
    from: Register,
    next: u32,
    halves: bool,
    instance: usize,
}

impl Data {
    fn word<H: Host>(&mut self, cpu: &Cpu<'_, H>) -> Result<u32, Trap> {
        if self.halves {
            // A word starts a new register.
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

fn dimensions(dmn: Dmn) -> u32 {
    dmn.number() as u32
}

fn register(bank: Regbank, number: u32) -> Result<Register, Trap> {
    Register::new(bank, number).ok_or(Trap::Burst(number))
}

/// Returns a coefficient register, indexed or not.
fn coefficient(number: u32, index: IdxCtrl) -> Result<Register, Trap> {
    let reach = 2;
    match index {
        IdxCtrl::None => register(Regbank::Coeff, number),
        IdxCtrl::Idx0 => register(Regbank::Idx0, number << 3 | reach),
        IdxCtrl::Idx1 => register(Regbank::Idx1, number << 3 | reach),
    }
}
