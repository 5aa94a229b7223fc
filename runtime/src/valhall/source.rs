//! Reads sources: the raw bits of registers, uniforms, constants and special values. The texts define their use.

use isaforge_valhall::{FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, Source};

use super::host::Host;
use super::program::register;
use super::space::sample_places;
use super::step::Step;
use super::warp::Column;

impl Step<'_> {
    /// The raw bits of a 32-bit source.
    pub fn word(&self, source: Source) -> Column {
        match source {
            Source::Register(r) | Source::LastUse(r) => self.warp.registers[r.index()],
            Source::Uniform(u) => [self.context.uniforms.get(u.index()).copied().unwrap_or(0); 16],
            Source::Constant(c) => [c.value() as u32; 16],
            _ => self.special(source).map(|value| (value >> (32 * special_word(source))) as u32),
        }
    }

    /// The raw bits of a 64-bit source: a register and the next (0 after the last), a uniform and the next, a whole
    /// special value, or a zero-extended constant.
    pub fn pair(&self, source: Source) -> Column<u64> {
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        match source {
            Source::Uniform(u) => {
                let word = |index: usize| self.context.uniforms.get(index).copied().unwrap_or(0);
                [join(word(u.index()), word(u.index() + 1)); 16]
            }
            Source::Constant(c) => [c.value(); 16],
            _ => match register(source) {
                Some(index) => {
                    let registers = &self.warp.registers;
                    let high = registers.get(index + 1).copied().unwrap_or_default();
                    std::array::from_fn(|lane| join(registers[index][lane], high[lane]))
                }
                None => self.special(source),
            },
        }
    }

    /// The 64 bits of a special value.
    fn special(&self, source: Source) -> Column<u64> {
        match source {
            Source::Special0 { name: FauSpecialPage0::WarpId, .. } => [self.context.warp_id(); 16],
            Source::Special0 { name: FauSpecialPage0::FramebufferSize, .. } => [framebuffer_size(self.space.host); 16],
            Source::Special0 { name, .. } => [descriptor(name, self.space.host.samples()); 16],
            Source::Special1 { name, .. } => match name {
                FauSpecialPage1::ThreadLocalPointer => std::array::from_fn(|lane| self.space.thread_pointer(lane)),
                FauSpecialPage1::WorkgroupLocalPointer => [self.space.workgroup_pointer(); 16],
                FauSpecialPage1::ResourceTablePointer => [0; 16],
            },
            Source::Special3 { name, .. } => match name {
                FauSpecialPage3::LaneId => std::array::from_fn(|lane| lane as u64),
                // One core, number 0.
                FauSpecialPage3::CoreId => [0; 16],
                FauSpecialPage3::ProgramCounter => [(u64::from(self.warp.pc) + 1) * 8; 16],
            },
            Source::Register(_) | Source::LastUse(_) | Source::Uniform(_) | Source::Constant(_) => [0; 16],
        }
    }
}

/// The size of the framebuffer, less 1: the width in the low half of the low word, the height in the high half.
pub(super) fn framebuffer_size(host: &dyn Host) -> u64 {
    let [width, height] = host.framebuffer_size().map(|n| u64::from(n.saturating_sub(1) & 0xffff));
    width | height << 16
}

/// The value of a descriptor: for blend descriptors their number, for samples the address of the positions of `samples`
/// samples a pixel. There is no datum for the alpha test.
pub(super) fn descriptor(name: FauSpecialPage0, samples: u32) -> u64 {
    if name == FauSpecialPage0::Sample {
        return sample_places(samples);
    }
    name.bits().saturating_sub(FauSpecialPage0::BlendDescriptor0.bits())
}

/// The word that a special source names.
fn special_word(source: Source) -> u32 {
    match source {
        Source::Special0 { word, .. } | Source::Special1 { word, .. } | Source::Special3 { word, .. } => {
            u32::from(word & 1)
        }
        _ => 0,
    }
}
