//! The units around the ALUs: memory, vertex outputs, iterators, textures, depth.

use isaforge_usc::Dsize;

use crate::memory::{Memory, MemoryFault};
pub use crate::usc::request::{Level, Raw, Sample, TexelLocation, alpha_passes};
use crate::usc::texture::Texture;

/// An instance of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// The task.
    pub task: usize,
    /// The instance within the task, 0 to 31.
    pub instance: usize,
}

/// The units around the ALUs. Every method has a default: no effect, or the simplest correct behaviour.
///
/// Errors are texts. They end the run.
pub trait Host {
    /// Fills `into` with memory.
    ///
    /// # Errors
    /// When the address is not mapped.
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        Err(MemoryFault::Unmapped { address, size: into.len() })
    }

    /// Fills `into` with memory for an observer, without side effects. `None` when the memory is unmapped or cannot be
    /// observed.
    fn peek(&self, address: u64, into: &mut [u8]) -> Option<()> {
        let _ = (address, into);
        None
    }

    /// Writes memory.
    ///
    /// # Errors
    /// When the address is not mapped.
    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        Err(MemoryFault::Unmapped { address, size: from.len() })
    }

    /// Accepts a vertex output.
    ///
    /// # Errors
    /// When the output cannot be accepted.
    fn vertex(&mut self, who: Instance, output: u32, value: u32) -> Result<(), String> {
        let _ = (who, output, value);
        Ok(())
    }

    /// Emits the vertex that an instance has written, ends its strip, or both.
    ///
    /// # Errors
    /// When neither is possible.
    fn emit(&mut self, who: Instance, stream: u32, emit: bool, cut: bool) -> Result<(), String> {
        let _ = (who, stream, emit, cut);
        Ok(())
    }

    /// Evaluates a plane `[a, b, c]` at a position: `a * x + b * y + c`.
    fn iterate(&mut self, who: Instance, plane: [f32; 3], x: f32, y: f32) -> f32 {
        let _ = who;
        plane[0].mul_add(x, plane[1].mul_add(y, plane[2]))
    }

    /// Samples a texture.
    ///
    /// # Errors
    /// When there is no such texture.
    fn sample(&mut self, who: Instance, sample: &Sample) -> Result<[u32; 4], String> {
        let _ = (who, sample);
        Err("the host has no textures".to_owned())
    }

    /// Samples a texture without filtering: returns the texels and weights.
    ///
    /// # Errors
    /// When there is no such texture.
    fn sample_raw(&mut self, who: Instance, sample: &Sample) -> Result<Raw, String> {
        let _ = (who, sample);
        Err("the host has no textures".to_owned())
    }

    /// Writes a texel, with the texture and the coordinates of `sample`.
    ///
    /// # Errors
    /// When there is no such texture.
    fn write_texel(&mut self, who: Instance, sample: &Sample, value: [u32; 4]) -> Result<(), String> {
        let _ = (who, sample, value);
        Err("the host has no textures".to_owned())
    }

    /// Locates a texel in memory by the lookup word, the texture's state, the coordinates and the layer.
    ///
    /// # Errors
    /// When there is no such texture in memory.
    fn place(&mut self, who: Instance, lookup: u32, texture: [u32; 4], at: [u32; 3]) -> Result<TexelLocation, String> {
        let _ = (who, lookup, texture, at);
        Err("the host has no textures in memory".to_owned())
    }

    /// Accepts a value for the tessellator.
    ///
    /// # Errors
    /// When the value cannot be accepted.
    fn tessellate(&mut self, who: Instance, address: u32, value: u32) -> Result<(), String> {
        let _ = (who, address, value);
        Ok(())
    }

    /// Accepts the depth of a fragment.
    fn depth(&mut self, who: Instance, depth: f32) {
        let _ = (who, depth);
    }

    /// Tests a fragment's alpha, and returns whether the fragment is kept. The default is [`alpha_passes`].
    fn alpha_test(&mut self, who: Instance, reference: u32, data: u32, state: u32) -> bool {
        let _ = who;
        alpha_passes(reference, data, state)
    }

    /// Discards a fragment: its program decides which fragments are kept, and its task has ended without keeping it.
    fn discard(&mut self, who: Instance) {
        let _ = who;
    }

    /// Accepts the pixel outputs of an instance, when a program emits them or ends.
    ///
    /// # Errors
    /// When the outputs cannot be accepted.
    fn pixel(&mut self, who: Instance, outputs: [u32; 8]) -> Result<(), String> {
        let _ = (who, outputs);
        Ok(())
    }
}

/// A host in software: memory, textures, and lists of the program's outputs.
#[derive(Clone, Debug, Default)]
pub struct Software {
    /// The memory for loads, stores and atomics.
    pub memory: Memory,
    /// Textures; word 0 of a texture's state is its index here.
    pub textures: Vec<Texture>,
    /// Vertex outputs in the order of writing: the instance, the output, the value.
    pub vertex_outputs: Vec<(Instance, u32, u32)>,
    /// Values for the tessellator: the instance, the address, the value.
    pub tessellated: Vec<(Instance, u32, u32)>,
    /// Vertices emitted and strips ended: the instance, the stream, whether a vertex is emitted, whether the strip
    /// ends.
    pub emitted: Vec<(Instance, u32, bool, bool)>,
    /// Depths of fragments.
    pub depths: Vec<(Instance, f32)>,
    /// Discarded fragments.
    pub discarded: Vec<Instance>,
    /// Pixel outputs.
    pub pixels: Vec<(Instance, [u32; 8])>,
}

impl Software {
    /// The maximum number of entries in each list.
    pub const MAX_ENTRIES: usize = 1 << 24;
}

fn full(list: usize) -> Result<(), String> {
    if list < Software::MAX_ENTRIES { Ok(()) } else { Err(format!("more than {} outputs", Software::MAX_ENTRIES)) }
}

impl Host for Software {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.memory.read(address, into)
    }

    fn peek(&self, address: u64, into: &mut [u8]) -> Option<()> {
        self.memory.read(address, into).ok()
    }

    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        self.memory.write(address, from)
    }

    fn vertex(&mut self, who: Instance, output: u32, value: u32) -> Result<(), String> {
        full(self.vertex_outputs.len())?;
        self.vertex_outputs.push((who, output, value));
        Ok(())
    }

    fn emit(&mut self, who: Instance, stream: u32, emit: bool, cut: bool) -> Result<(), String> {
        full(self.emitted.len())?;
        self.emitted.push((who, stream, emit, cut));
        Ok(())
    }

    fn sample(&mut self, _: Instance, sample: &Sample) -> Result<[u32; 4], String> {
        let texture = self.textures.get(sample.texture[0] as usize);
        texture.map(|texture| texture.sample(sample)).ok_or_else(|| no_texture(sample))
    }

    fn sample_raw(&mut self, _: Instance, sample: &Sample) -> Result<Raw, String> {
        let texture = self.textures.get(sample.texture[0] as usize);
        texture.map(|texture| texture.raw(sample)).ok_or_else(|| no_texture(sample))
    }

    fn write_texel(&mut self, _: Instance, sample: &Sample, value: [u32; 4]) -> Result<(), String> {
        let texture = self.textures.get_mut(sample.texture[0] as usize).ok_or_else(|| no_texture(sample))?;
        texture.write(sample, value);
        Ok(())
    }

    fn place(&mut self, _: Instance, _: u32, texture: [u32; 4], at: [u32; 3]) -> Result<TexelLocation, String> {
        let found = self.textures.get(texture[0] as usize).ok_or_else(|| no_such(texture[0]))?;
        let base = u64::from(texture[2]) << 32 | u64::from(texture[1]);
        let (index, outside) = found.offset_of(at);
        let address = base.wrapping_add(index.wrapping_mul(16));
        Ok(TexelLocation { address, count: 4, size: Dsize::_32bit, outside })
    }

    fn tessellate(&mut self, who: Instance, address: u32, value: u32) -> Result<(), String> {
        full(self.tessellated.len())?;
        self.tessellated.push((who, address, value));
        Ok(())
    }

    fn depth(&mut self, who: Instance, depth: f32) {
        if self.depths.len() < Self::MAX_ENTRIES {
            self.depths.push((who, depth));
        }
    }

    fn discard(&mut self, who: Instance) {
        if self.discarded.len() < Self::MAX_ENTRIES {
            self.discarded.push(who);
        }
    }

    fn pixel(&mut self, who: Instance, outputs: [u32; 8]) -> Result<(), String> {
        full(self.pixels.len())?;
        self.pixels.push((who, outputs));
        Ok(())
    }
}

fn no_texture(sample: &Sample) -> String {
    no_such(sample.texture[0])
}

fn no_such(texture: u32) -> String {
    format!("there is no texture {texture}")
}
