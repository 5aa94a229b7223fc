//! A host that answers requests by a hash of them, and records what it receives.

use isaforge_runtime::usc::host::{Host, Instance, Level, Raw, Sample, TexelLocation};
use isaforge_runtime::{Memory, MemoryFault};
use isaforge_usc::Dsize;

use crate::random::Hash;

/// The host.
#[derive(Debug, Default)]
pub struct Recorder {
    pub memory: Memory,
    /// The number of values received, and a hash of them.
    pub told: u32,
    pub what: u64,
}

impl Recorder {
    fn tell(&mut self, kind: u32, who: Instance, words: &[u32]) {
        self.told += 1;
        let mut hash = Hash(self.what);
        [kind, who.task as u32, who.instance as u32].iter().chain(words).for_each(|&word| hash.word(word));
        self.what = hash.0;
    }
}

/// The bits of a number, with the canonical NaN.
fn bits(number: f32) -> u32 {
    if number.is_nan() { 0x7fc0_0000 } else { number.to_bits() }
}

/// All fields of a sample as words.
fn words(sample: &Sample) -> Vec<u32> {
    let optional = |word: Option<u32>| [u32::from(word.is_some()), word.unwrap_or(0)];
    let mut words = [sample.texture, sample.sampler].concat();
    words.push(sample.dimensions);
    words.extend(sample.coordinates.iter().chain(&sample.gradients).map(|x| bits(*x)));
    words.extend(optional(sample.layer));
    words.extend(match sample.level {
        Level::Implicit => [0, 0],
        Level::Bias(x) => [1, bits(x)],
        Level::Replace(x) => [2, bits(x)],
        Level::Gradients => [3, 0],
    });
    words.extend(optional(sample.reference.map(bits)));
    words.extend(sample.offset.map(|x| x as u32));
    words.extend(optional(sample.sample));
    words.extend(optional(sample.address.map(|address| (address ^ address >> 29) as u32)));
    words.push(u32::from(sample.texels) | u32::from(sample.integer) << 1 | u32::from(sample.normalise) << 2);
    words
}

fn hash(kind: u32, words: &[u32]) -> u64 {
    let mut hash = Hash::new();
    hash.word(kind);
    words.iter().for_each(|&word| hash.word(word));
    hash.0 ^ hash.0 >> 32
}

/// A float of moderate magnitude made from a number.
fn float(number: u32) -> u32 {
    0x3000_0000 | number & 0x9fff_ffff
}

fn texel(number: u64) -> [u32; 4] {
    [0, 13, 26, 39].map(|by| float((number.rotate_left(by) >> 7) as u32))
}

impl Host for Recorder {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.memory.read(address, into)
    }

    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        self.memory.write(address, from)
    }

    fn vertex(&mut self, who: Instance, output: u32, value: u32) -> Result<(), String> {
        self.tell(1, who, &[output, value]);
        Ok(())
    }

    fn emit(&mut self, who: Instance, stream: u32, emit: bool, cut: bool) -> Result<(), String> {
        self.tell(2, who, &[stream, emit.into(), cut.into()]);
        Ok(())
    }

    fn sample(&mut self, who: Instance, sample: &Sample) -> Result<[u32; 4], String> {
        let mut asked = words(sample);
        asked.push(who.instance as u32);
        Ok(texel(hash(3, &asked)))
    }

    fn sample_raw(&mut self, _: Instance, sample: &Sample) -> Result<Raw, String> {
        let number = hash(4, &words(sample));
        let detail = [number & 0xfff, number >> 12 & 0xfff].map(|x| x as f32 / 256.0);
        let fractions = [number >> 24 & 0xff, number >> 32 & 0xff, number >> 40 & 0xff].map(|x| x as f32 / 256.0);
        let texels = [1, 2, 3, 4].map(|by| texel(number.rotate_left(by)));
        Ok(Raw { texels, detail, fractions })
    }

    fn write_texel(&mut self, who: Instance, sample: &Sample, value: [u32; 4]) -> Result<(), String> {
        let mut told = words(sample);
        told.extend(value);
        self.tell(5, who, &told);
        Ok(())
    }

    fn place(&mut self, _: Instance, lookup: u32, texture: [u32; 4], at: [u32; 3]) -> Result<TexelLocation, String> {
        let number = hash(6, &[&[lookup], &texture[..], &at].concat());
        let size = [Dsize::_8bit, Dsize::_16bit, Dsize::_32bit][(number >> 40) as usize % 3];
        let (count, outside) = ((number >> 44) as u32 % 16 + 1, number >> 60 & 1 != 0);
        Ok(TexelLocation { address: number & 0xff_ffff_ffff, count, size, outside })
    }

    fn tessellate(&mut self, who: Instance, address: u32, value: u32) -> Result<(), String> {
        self.tell(7, who, &[address, value]);
        Ok(())
    }

    fn depth(&mut self, who: Instance, depth: f32) {
        self.tell(8, who, &[bits(depth)]);
    }

    fn discard(&mut self, who: Instance) {
        self.tell(9, who, &[]);
    }

    fn pixel(&mut self, who: Instance, outputs: [u32; 8]) -> Result<(), String> {
        self.tell(10, who, &outputs);
        Ok(())
    }
}
