//! The intrinsics of the specification: messages, and functions of the hardware's tables.
//!
//! The trait is generated from the specification; most of its methods call [`messages`](crate::valhall::messages).

use isaforge_valhall::RegisterList;
use isaforge_valhall::semantics::Intrinsics;

use super::environment::Executing;
use super::operand::Operand;
use crate::valhall::host::{Handle, VaryingSource, cube, samples};
use crate::valhall::messages::{Gather, Layout, Levels, Lods, Query};
use crate::valhall::step::{Fault, Step};
use crate::valhall::warp::{Column, LANES, lanes};

impl Executing<'_, '_> {
    /// Returns the registers of an operand of an intrinsic.
    fn list(&self, operand: u16) -> RegisterList {
        match self.operands.get(usize::from(operand)) {
            Some(Operand::List(list)) => *list,
            _ => RegisterList::new(0, 0),
        }
    }

    /// Collects the results of `f` in the lanes of the mask, from the lowest.
    fn each<T: Copy + Default>(
        &mut self,
        mask: u64,
        mut f: impl FnMut(&mut Step<'_>, usize) -> Result<T, Fault>,
    ) -> Result<Column<T>, Fault> {
        let mut results = [T::default(); LANES];
        for lane in lanes(mask as u16) {
            results[lane] = f(self.step, lane)?;
        }
        Ok(results)
    }

    /// Calls `f`, which has no result, in the lanes of the mask.
    fn all(&mut self, mask: u64, f: impl FnMut(&mut Step<'_>, usize) -> Result<(), Fault>) -> Result<(), Fault> {
        self.each(mask, f).map(|_| ())
    }
}

/// Defines an intrinsic that accesses a texture, with the parameters that only it has, and the levels that it accesses.
/// Up to seven words give the coordinates and what follows them.
macro_rules! texture {
    ($name:ident($($own:ident: $ty:ty),*) $lods:expr) => {
        fn $name(
            &mut self,
            into: u16,
            texture: Column,
            sampler: Column,
            shape: Column,
            $($own: $ty,)*
            result: Column,
            a: Column,
            b: Column,
            c: Column,
            d: Column,
            e: Column,
            f: Column,
            g: Column,
            mask: u64,
        ) -> Result<(), Fault> {
            let (query, into) = (Query::new(shape[0], $lods), (self.list(into), result[0]));
            self.step.texture(query, [&texture, &sampler], [&a, &b, &c, &d, &e, &f, &g], into, mask as u16)
        }
    };
}

impl Intrinsics<LANES> for Executing<'_, '_> {
    type Fault = Fault;

    fn exp2(&mut self, x: Column<i32>, _: u64) -> Result<Column<f32>, Fault> {
        Ok(x.map(exp2))
    }

    fn log_slope(&mut self, x: Column<f32>, _: u64) -> Result<Column<f32>, Fault> {
        Ok(x.map(log_slope))
    }

    fn sine(&mut self, steps: Column, _: u64) -> Result<Column<f32>, Fault> {
        Ok(steps.map(sine))
    }

    fn arctangent(&mut self, x: Column<f64>, _: u64) -> Result<Column<f64>, Fault> {
        Ok(x.map(f64::atan))
    }

    fn buffer_bytes(&mut self, handle: Column, offset: Column, size: Column, mask: u64) -> Result<Column<u64>, Fault> {
        self.each(mask, |step, lane| step.buffer_bytes(lane, Handle::from_word(handle[lane]), offset[lane], size[lane]))
    }

    fn buffer_element(&mut self, handle: Column, element: Column, mask: u64) -> Result<Column<u64>, Fault> {
        self.each(mask, |step, lane| step.buffer_element(lane, Handle::from_word(handle[lane]), element[lane]))
    }

    fn attribute_address(
        &mut self,
        attribute: Column,
        vertex: Column,
        instance: Column,
        mask: u64,
    ) -> Result<Column<u64>, Fault> {
        self.each(mask, |step, lane| {
            step.attribute_address(lane, Handle::from_word(attribute[lane]), vertex[lane], instance[lane])
        })
    }

    fn attribute_format(&mut self, attribute: Column, mask: u64) -> Result<Column, Fault> {
        self.each(mask, |step, lane| step.attribute_format(lane, Handle::from_word(attribute[lane])))
    }

    fn image_address(&mut self, image: Column, xy: Column, zw: Column, mask: u64) -> Result<Column<u64>, Fault> {
        self.each(mask, |step, lane| {
            let (address, _) = step.image_texel(lane, Handle::from_word(image[lane]), xy[lane], zw[lane])?;
            Ok(address)
        })
    }

    fn image_format(&mut self, image: Column, xy: Column, zw: Column, mask: u64) -> Result<Column, Fault> {
        self.each(mask, |step, lane| {
            let (_, format) = step.image_texel(lane, Handle::from_word(image[lane]), xy[lane], zw[lane])?;
            Ok(format)
        })
    }

    fn load_attribute(
        &mut self,
        into: u16,
        attribute: Column,
        vertex: Column,
        instance: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(into), Layout::registers(registers[0]));
        self.all(mask, |step, lane| {
            let texel = step.attribute(lane, Handle::from_word(attribute[lane]), vertex[lane], instance[lane])?;
            step.put_texel(list, 0, lane, layout, texel, 0..channels[0] as usize);
            Ok(())
        })
    }

    fn load_image(
        &mut self,
        into: u16,
        image: Column,
        xy: Column,
        zw: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(into), Layout::registers(registers[0]));
        self.all(mask, |step, lane| {
            let texel = step.texel(lane, Handle::from_word(image[lane]), xy[lane], zw[lane])?;
            step.put_texel(list, 0, lane, layout, texel, 0..channels[0] as usize);
            Ok(())
        })
    }

    fn store_texel(
        &mut self,
        from: u16,
        address: Column<u64>,
        format: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(from), Layout::registers(registers[0]));
        self.all(mask, |step, lane| {
            step.store_texel(list, lane, (address[lane], format[lane]), (layout, channels[0] as usize))
        })
    }

    fn varying(
        &mut self,
        source: Column,
        is_handle: Column<bool>,
        halves: Column<bool>,
        place: Column,
        component: Column,
        mask: u64,
    ) -> Result<Column, Fault> {
        self.each(mask, |step, lane| {
            let source = match is_handle[lane] {
                true => VaryingSource::Table(Handle::from_word(source[lane])),
                false => VaryingSource::Buffer { byte: source[lane], half: halves[lane] },
            };
            step.varying(lane, source, component[lane], place[lane])
        })
    }

    fn special_varying(
        &mut self,
        into: u16,
        index: Column,
        place: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(into), Layout::registers(registers[0]));
        self.all(mask, |step, lane| {
            step.special_varying(list, lane, index[lane], place[lane], (layout, channels[0] as usize))
        })
    }

    fn sample_place(&mut self, centroid: Column<bool>, _: u64) -> Result<Column, Fault> {
        let warp = &self.step.warp;
        Ok(std::array::from_fn(|lane| {
            let [x, y] = match centroid[lane] {
                true => samples::centroid(warp.samples, warp.covered[lane]),
                // Programs run once per pixel.
                false => samples::place(warp.samples, 0),
            };
            u32::from(y as u16) << 16 | u32::from(x as u16)
        }))
    }

    fn cube_coordinates(
        &mut self,
        x: Column<f32>,
        y: Column<f32>,
        z: Column<f32>,
        mask: u64,
    ) -> Result<Column<u64>, Fault> {
        self.each(mask, |_, lane| {
            let direction = [x[lane], y[lane], z[lane]];
            let face = cube::face(direction);
            // This succeeds unless the direction is invalid, since the direction points at this face.
            let [s, t] = cube::project(face, direction).unwrap_or([0.5; 2]).map(f32::to_bits);
            Ok(u64::from(t) << 32 | u64::from(face << 29 | s & 0x1fff_ffff))
        })
    }

    texture! { texture_filter(lod_mode: Column) Lods::filter(lod_mode[0]) }
    texture! { texture_fetch() Lods::Fetch }
    texture! { texture_gather(channel: Column, texels: Column<bool>)
        Lods::Gather(Gather { channel: channel[0] as usize, texels: texels[0] })
    }
    texture! { texture_level(bias: Column<bool>, range: Column<bool>)
        Lods::Level(Levels { bias: bias[0], range: range[0] })
    }

    fn alpha_to_coverage(&mut self, coverage: Column, _: Column<f32>, _: Column, _: u64) -> Result<Column, Fault> {
        Ok(coverage)
    }

    fn emit_depth_stencil(
        &mut self,
        sets_depth: Column<bool>,
        depth: Column<f32>,
        sets_stencil: Column<bool>,
        stencil: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        self.all(mask, |step, lane| {
            let pixel = step.warp.pixels[lane];
            if sets_depth[lane] {
                step.space.host.set_depth(pixel, depth[lane]);
            }
            if sets_stencil[lane] {
                step.space.host.set_stencil(pixel, stencil[lane] & 0xff);
            }
            Ok(())
        })
    }

    fn load_tile(
        &mut self,
        into: u16,
        selector: Column,
        _: Column,
        _: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(into), Layout::registers(registers[0]));
        self.all(mask, |step, lane| step.load_tile(list, lane, selector[lane], (layout, channels[0] as usize)))
    }

    fn store_tile(
        &mut self,
        from: u16,
        selector: Column,
        _: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(from), Layout::registers(registers[0]));
        self.all(mask, |step, lane| step.store_tile(list, lane, selector[lane], (layout, channels[0] as usize)))
    }

    fn blend(
        &mut self,
        from: u16,
        descriptor: Column<u64>,
        coverage: Column,
        registers: Column,
        channels: Column,
        mask: u64,
    ) -> Result<(), Fault> {
        let (list, layout) = (self.list(from), Layout::registers(registers[0]));
        self.all(mask, |step, lane| {
            // The low word of a descriptor is the number of the target.
            step.blend(list, lane, (descriptor[lane] as u32, coverage[lane]), (layout, channels[0] as usize))
        })
    }
}

/// Returns the intrinsic with this name as a function of the bits of one value, if it is one.
pub(in crate::valhall) fn function(name: &str) -> Option<fn(u64) -> u64> {
    Some(match name {
        "exp2" => |x| exp2(x as i32).to_bits().into(),
        "log_slope" => |x| log_slope(f32::from_bits(x as u32)).to_bits().into(),
        "sine" => |steps| sine(steps as u32).to_bits().into(),
        "arctangent" => |x| f64::from_bits(x).atan().to_bits(),
        _ => return None,
    })
}

fn exp2(x: i32) -> f32 {
    (f64::from(x) / f64::from(1 << 24)).exp2() as f32
}

fn log_slope(x: f32) -> f32 {
    let x = f64::from(x);
    (if x == 1.0 { std::f64::consts::LOG2_E } else { x.log2() / (x - 1.0) }) as f32
}

fn sine(steps: u32) -> f32 {
    // One quadrant, mirrored, so that zeros are exact.
    let step = steps & 15;
    let within = if steps & 16 == 0 { step } else { 16 - step };
    let value = (f64::from(within) * (std::f64::consts::PI / 32.0)).sin() as f32;
    if steps & 32 == 0 || within == 0 { value } else { -value }
}
