//! Render targets of fragment programs.

use super::blend::Blend;
use super::error::HostError;
use super::format::{Class, Format, Texel};
use super::together::{Blends, Lanes, Replaced};
use crate::wide::wide;

/// A rectangle of pixels, row by row, each with one or more samples. `P` holds the pixels: all of them, or those of
/// consecutive rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Target<P = Vec<[u32; 4]>> {
    format: Format,
    width: u32,
    height: u32,
    samples: u32,
    /// The first row that `pixels` holds.
    first: u32,
    /// All samples of the first pixel, then those of the next, and so on.
    pixels: P,
    /// The blending of colours; without it they replace the previous ones. Integers are never blended.
    pub blend: Option<Blend>,
    /// The channels that blended colours change: red, green, blue, alpha.
    pub write: [bool; 4],
}

impl Target {
    /// The maximum number of pixels of a target, counting every sample.
    pub const MAX_PIXELS: u64 = 1 << 24;

    /// Creates a target with all pixels of one colour. `None` when it is empty or larger than [`Target::MAX_PIXELS`].
    pub fn new(format: Format, width: u32, height: u32, clear: Texel) -> Option<Self> {
        Target::multisampled(format, [width, height], 1, clear)
    }

    /// Creates a target like [`Target::new`], with the samples of one of the patterns of
    /// [`samples`](super::samples::places). `None` also when there is no such pattern.
    pub fn multisampled(format: Format, [width, height]: [u32; 2], samples: u32, clear: Texel) -> Option<Self> {
        let count =
            (u64::from(width) * u64::from(height)).saturating_mul(super::samples::places(samples)?.len() as u64);
        if count == 0 || count > Self::MAX_PIXELS {
            return None;
        }
        let pixels = vec![held(format, clear); count as usize];
        Some(Target { format, width, height, samples, first: 0, pixels, blend: None, write: [true; 4] })
    }

    /// The pixels, row by row: 32-bit channels of the format's class. The samples of a pixel are consecutive.
    pub fn pixels(&self) -> &[[u32; 4]] {
        &self.pixels
    }

    /// Returns the picture with one sample per pixel: the mean of its samples or, for integers, the first sample.
    pub fn resolved(&self) -> Target {
        let mean = |samples: &[[u32; 4]]| {
            if self.samples == 1 || self.format.class() != Class::Float {
                return samples[0];
            }
            let sum =
                |channel: usize| samples.iter().map(|sample| f64::from(f32::from_bits(sample[channel]))).sum::<f64>();
            let count = f64::from(self.samples);
            held(self.format, Texel::floats([0, 1, 2, 3].map(|channel| (sum(channel) / count) as f32)))
        };
        let pixels = self.pixels.chunks_exact(self.samples as usize).map(mean).collect();
        Target { samples: 1, pixels, ..*self }
    }

    /// Splits it into bands of rows, each from one of `starts` to the next. The first start is 0.
    pub(super) fn bands<'a>(&'a mut self, starts: &'a [u32]) -> impl Iterator<Item = Target<Rows<'a>>> + 'a {
        let Target { format, width, height, samples, blend, write, .. } = *self;
        let mut left = &mut self.pixels[..];
        starts.iter().enumerate().map(move |(band, &first)| {
            let end = starts.get(band + 1).map_or(height, |end| height.min(*end));
            let rows = u64::from(end.saturating_sub(first)) * u64::from(width) * u64::from(samples);
            let pixels = left.split_off_mut(..rows as usize).unwrap_or_default();
            Target { format, width, height, samples, first, pixels, blend, write }
        })
    }
}

/// The pixels of some rows.
pub(super) type Rows<'a> = &'a mut [[u32; 4]];

impl<P: AsRef<[[u32; 4]]> + AsMut<[[u32; 4]]>> Target<P> {
    /// The format of its pixels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The number of pixels in a row, and of rows.
    pub fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// The number of samples of a pixel.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The pixels that it holds.
    pub(super) fn pixels_mut(&mut self) -> &mut [[u32; 4]] {
        self.pixels.as_mut()
    }

    /// Returns the first sample of a pixel. `None` when it is outside.
    pub fn pixel(&self, place: [u32; 2]) -> Option<Texel> {
        self.sample(place, 0)
    }

    /// Returns a sample of a pixel, or its last one if there are not that many. `None` when the pixel is outside.
    pub fn sample(&self, place: [u32; 2], sample: u32) -> Option<Texel> {
        let channels = *self.pixels.as_ref().get(self.index(place, sample)?)?;
        Some(Texel { channels, class: self.format.class() })
    }

    /// Sets all samples of a pixel. Pixels outside are ignored.
    pub fn draw(&mut self, place: [u32; 2], colour: Texel) {
        (0..self.samples).for_each(|sample| self.set_sample(place, sample, colour));
    }

    /// Sets a sample of a pixel, or its last one if there are not that many. Pixels outside are ignored.
    pub fn set_sample(&mut self, place: [u32; 2], sample: u32, colour: Texel) {
        // The colour is converted to the precision of the format.
        let colour = held(self.format, colour);
        if let Some(pixel) = self.index(place, sample).and_then(|index| self.pixels.as_mut().get_mut(index)) {
            *pixel = colour;
        }
    }

    /// Blends a colour into the samples of a pixel that are in a mask. Pixels outside are ignored.
    pub fn blend(&mut self, place: [u32; 2], mask: u32, colour: Texel) {
        for sample in (0..self.samples).filter(|sample| mask >> sample & 1 != 0) {
            let Some(old) = self.sample(place, sample) else { return };
            let blended = match self.blend {
                Some(blend) if old.class == Class::Float => {
                    let [new, old] = [colour.to(Class::Float), old].map(|texel| texel.channels.map(f32::from_bits));
                    Texel::floats(blend.apply(new.map(|channel| self.format.limit(channel)), old))
                }
                _ => colour.to(old.class),
            };
            let channel = |channel: usize| if self.write[channel] { blended } else { old }.channels[channel];
            self.set_sample(place, sample, Texel { channels: std::array::from_fn(channel), class: old.class });
        }
    }

    /// Replaces the colours of pixels with one sample, and sets the previous ones. `None`, without any effect, if they
    /// must be blended pixel by pixel.
    pub(super) fn blend_together(&mut self, blends: &Blends<'_>, before: &mut [Lanes<[u32; 4]>]) -> Option<()> {
        let replaces = self.samples == 1 && self.blend.is_none() && self.write == [true; 4];
        let eighths = self.format == Format::RGBA8;
        if !replaces || !(eighths || self.format == Format::RGBA32F) {
            return None;
        }
        let Target { width, first, .. } = *self;
        wide(Replaced { eighths, pixels: self.pixels.as_mut(), width, first, blends, before });
        Some(())
    }

    fn index(&self, [x, y]: [u32; 2], sample: u32) -> Option<usize> {
        let row = y.checked_sub(self.first)? as usize;
        let pixel = row * self.width as usize + x as usize;
        let sample = sample.min(self.samples - 1) as usize;
        (x < self.width && y < self.height).then_some(pixel * self.samples as usize + sample)
    }
}

/// Returns a colour with the precision and range of a format.
fn held(format: Format, colour: Texel) -> [u32; 4] {
    let (bytes, size) = format.encode(colour);
    format.decode(&bytes[..size]).channels
}

/// Returns the target with this number, or the error that it does not exist.
pub(super) fn find<P>(targets: &[Option<Target<P>>], number: u32) -> Result<&Target<P>, HostError> {
    targets.get(number as usize).and_then(Option::as_ref).ok_or(HostError::Target { number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::host::blend::{Equation, Factor, Operation};

    #[test]
    fn a_pixel_holds_what_its_format_can() {
        let mut target = Target::new(Format::RGBA8, 2, 1, Texel::floats([0.0; 4])).unwrap();
        target.draw([1, 0], Texel::floats([0.5, 2.0, -1.0, f32::NAN]));
        let half = 128.0f32 / 255.0;
        assert_eq!(target.pixel([1, 0]), Some(Texel::floats([half, 1.0, 0.0, 0.0])));
        assert_eq!(target.pixel([0, 0]), Some(Texel::floats([0.0; 4])));
        target.draw([2, 0], Texel::floats([1.0; 4]));
        target.draw([0, 1], Texel::floats([1.0; 4]));
        assert_eq!(target.pixels()[0], [0; 4]);
        assert_eq!(target.pixel([0, 1]), None);
    }

    #[test]
    fn colours_are_blended_within_what_the_format_holds() {
        let add = Equation { operation: Operation::Add, source: Factor::One, destination: Factor::One };
        let blend = Some(Blend { colour: add, alpha: add, constant: [0.0; 4] });
        let new = |name: &str, clear| {
            let target = Target::new(Format::parse(name).unwrap(), 1, 1, clear).unwrap();
            Target { blend, ..target }
        };
        let quarter = Texel::floats([0.25; 4]);
        for (name, expected) in [
            // A colour is clamped before it is blended, and the sum is clamped too.
            ("RGBA16", [1.0, 0.25, 0.75, 1.0]),
            ("RGBA16_SNORM", [1.0, -0.75, 0.75, 1.0]),
            ("RGBA32F", [2.25, -2.75, 0.75, 1.25]),
        ] {
            let mut target = new(name, quarter);
            target.blend([0, 0], 1, Texel::floats([2.0, -3.0, 0.5, 1.0]));
            target.blend([1, 0], 1, quarter);
            let found = target.pixels()[0].map(f32::from_bits);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{name}: {found:?}");
        }
        let whole = |channels| Texel { channels, class: Class::Unsigned };
        // The previous bits could be read as floats, but integers are not blended.
        let mut target = new("RGBA32UI", whole([2.0f32.to_bits(); 4]));
        target.blend([0, 0], 1, whole([7; 4]));
        assert_eq!(target.pixels(), [[7; 4]]);
    }

    #[test]
    fn channels_that_are_not_written_stay() {
        let mut target = Target::new(Format::RGBA32F, 1, 1, Texel::floats([0.5; 4])).unwrap();
        target.write = [true, false, false, true];
        target.blend([0, 0], 1, Texel::floats([1.0, 2.0, 3.0, 4.0]));
        assert_eq!(target.pixel([0, 0]), Some(Texel::floats([1.0, 0.5, 0.5, 4.0])));
        // The write mask applies after blending, too.
        let add = Equation { operation: Operation::Add, source: Factor::One, destination: Factor::One };
        target.blend = Some(Blend { colour: add, alpha: add, constant: [0.0; 4] });
        target.blend([0, 0], 1, Texel::floats([1.0; 4]));
        assert_eq!(target.pixel([0, 0]), Some(Texel::floats([2.0, 0.5, 0.5, 5.0])));
        let signed = Texel { channels: [-5i32 as u32, 6, 7, 8], class: Class::Signed };
        let mut target = Target::new(Format::parse("RGBA16I").unwrap(), 1, 1, signed).unwrap();
        target.write = [false, true, false, false];
        target.blend([0, 0], 1, Texel::floats([1.0, -40000.0, 3.0, 4.0]));
        assert_eq!(target.pixels(), [[-5i32 as u32, -32768i32 as u32, 7, 8]]);
    }

    #[test]
    fn samples_are_drawn_by_a_mask_and_their_mean_is_the_pixel() {
        let new = |name: &str, clear| Target::multisampled(Format::parse(name).unwrap(), [2, 1], 4, clear).unwrap();
        let mut target = new("RGBA32F", Texel::floats([0.0; 4]));
        target.blend([1, 0], 0b1010, Texel::floats([1.0, 2.0, 3.0, 4.0]));
        let drawn = (0..5).map(|sample| target.sample([1, 0], sample).unwrap().channels[0] != 0).collect::<Vec<_>>();
        assert_eq!(drawn, [false, true, false, true, true]);
        let resolved = target.resolved();
        assert_eq!(resolved.pixels(), [[0; 4], [0.5f32, 1.0, 1.5, 2.0].map(f32::to_bits)]);
        assert_eq!((resolved.samples(), resolved.resolved()), (1, resolved.clone()));
        // The mean has the precision of the format; integers have no mean.
        let mut target = new("RGBA8", Texel::floats([0.0; 4]));
        target.blend([0, 0], 0b1, Texel::floats([1.0; 4]));
        assert_eq!(f32::from_bits(target.resolved().pixels()[0][0]), 64.0 / 255.0);
        let mut target = new("R32UI", Texel::floats([0.0; 4]));
        target.blend([0, 0], 0b1, Texel { channels: [7; 4], class: Class::Unsigned });
        assert_eq!(target.resolved().pixels()[0][0], 7);
        assert_eq!(Target::multisampled(Format::RGBA8, [1, 1], 3, Texel::floats([0.0; 4])), None);
    }

    #[test]
    fn targets_are_bounded() {
        let new = |width, height| Target::new(Format::RGBA8, width, height, Texel::floats([0.0; 4]));
        assert!(new(0, 4).is_none() && new(u32::MAX, u32::MAX).is_none() && new(1 << 12, (1 << 12) + 1).is_none());
    }
}
