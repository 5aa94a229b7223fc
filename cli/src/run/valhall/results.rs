//! Results of launches: pictures, their first difference, and counts.

use isaforge_runtime::observe::Profile;
use isaforge_runtime::valhall::host::{self, Target};
use isaforge_runtime::valhall::observe;

use crate::picture::Rgba;

/// The pixels of a target for display. Channels whose values would be mostly invisible, because they are integers or
/// outside 0 to 1, are stretched to their range. sRGB formats are displayed with their transfer curve.
pub fn pixels(target: &Target) -> Vec<Rgba> {
    let [width, _] = target.size();
    let (format, class) = (target.format(), target.format().class());
    let shown = format.without_curve();
    let values = |pixel: &[u32; 4]| {
        let mut texel = host::Texel { channels: *pixel, class };
        if shown != format {
            let (bytes, size) = format.encode(texel);
            texel = shown.decode(&bytes[..size]);
        }
        texel.to(host::Class::Float).channels.map(f32::from_bits)
    };
    let range = |channel: usize| {
        let values = target.pixels().iter().map(|pixel| values(pixel)[channel]);
        let outside = values.clone().filter(|value| !(0.0..=1.0).contains(value)).count();
        if class == host::Class::Float && outside * 4 <= target.pixels().len() * 3 {
            return (0.0, 1.0);
        }
        let least = values.clone().fold(f32::INFINITY, f32::min);
        (least, values.fold(f32::NEG_INFINITY, f32::max))
    };
    let ranges: [(f32, f32); 3] = std::array::from_fn(range);
    let color = |pixel: &[u32; 4]| {
        let values = values(pixel);
        let channel = |channel: usize| {
            let (least, greatest) = ranges[channel];
            let stretched = (values[channel] - least) / (greatest - least);
            (stretched.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
        };
        [channel(0), channel(1), channel(2), 255]
    };
    // The first row of a target is the lowest.
    target.pixels().chunks(width as usize).rev().flatten().map(color).collect()
}

/// The first pixel that differs from the picture of the reference engine.
pub fn first_pixel(found: &Target, expected: &Target) -> Option<String> {
    let mut pixels = found.pixels().iter().zip(expected.pixels()).enumerate();
    let (at, (found, wanted)) = pixels.find(|(_, (found, expected))| found != expected)?;
    let (pixel, width) = (at / expected.samples() as usize, expected.size()[0] as usize);
    let (x, y) = (pixel % width, pixel / width);
    Some(format!("{found:x?} at ({x}, {y}), in the reference {wanted:x?}"))
}

/// Runs a function and counts the instructions executed.
pub fn counted<T>(run: impl FnOnce(&mut Option<Profile>) -> T) -> (T, Option<Profile>) {
    let mut profile = Some(observe::profile());
    (run(&mut profile), profile)
}
