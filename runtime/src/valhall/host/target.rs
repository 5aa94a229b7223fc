//! Render targets: what fragment programs draw on.

use super::HostError;
use super::blend::Blend;
use super::format::{Class, Format, Texel};

/// A rectangle of pixels, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    format: Format,
    width: u32,
    height: u32,
    pixels: Vec<[u32; 4]>,
    /// What blended colours do with those that are there; without it they replace them. Whole numbers are never blended.
    pub blend: Option<Blend>,
}

impl Target {
    /// Pixels that a target may have.
    pub const MAX_PIXELS: u64 = 1 << 24;

    /// A target with all pixels of one colour; `None` when it is empty or has more than [`Target::MAX_PIXELS`].
    pub fn new(format: Format, width: u32, height: u32, clear: Texel) -> Option<Self> {
        let count = u64::from(width) * u64::from(height);
        if count == 0 || count > Self::MAX_PIXELS {
            return None;
        }
        let (bytes, size) = format.encode(clear);
        let pixels = vec![format.decode(&bytes[..size]).channels; count as usize];
        Some(Target { format, width, height, pixels, blend: None })
    }

    /// The format of its pixels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// The pixels, row by row: 32-bit channels of the format's class.
    pub fn pixels(&self) -> &[[u32; 4]] {
        &self.pixels
    }

    /// A pixel, `None` outside.
    pub fn pixel(&self, [x, y]: [u32; 2]) -> Option<Texel> {
        let channels = *self.pixels.get(self.index(x, y)?)?;
        Some(Texel { channels, class: self.format.class() })
    }

    /// Draws a pixel; one outside is not drawn.
    pub fn draw(&mut self, [x, y]: [u32; 2], colour: Texel) {
        // The pixel holds what its format can.
        let (bytes, size) = self.format.encode(colour);
        let held = self.format.decode(&bytes[..size]).channels;
        if let Some(pixel) = self.index(x, y).and_then(|index| self.pixels.get_mut(index)) {
            *pixel = held;
        }
    }

    /// Blends a colour into a pixel; one outside is not drawn.
    pub fn blend(&mut self, pixel: [u32; 2], colour: Texel) {
        let blended = match (self.blend, self.pixel(pixel)) {
            (Some(blend), Some(old)) if old.class == Class::Float => {
                let [new, old] = [colour.to(Class::Float), old].map(|texel| texel.channels.map(f32::from_bits));
                Texel::floats(blend.apply(new.map(|channel| self.format.limit(channel)), old))
            }
            _ => colour,
        };
        self.draw(pixel, blended);
    }

    fn index(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then_some(y as usize * self.width as usize + x as usize)
    }
}

/// The target with a number, or the error that there is none.
pub(super) fn find(targets: &[Option<Target>], number: u32) -> Result<&Target, HostError> {
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
            // A colour is cut off before it is blended, and the sum again.
            ("RGBA16", [1.0, 0.25, 0.75, 1.0]),
            ("RGBA16_SNORM", [1.0, -0.75, 0.75, 1.0]),
            ("RGBA32F", [2.25, -2.75, 0.75, 1.25]),
        ] {
            let mut target = new(name, quarter);
            target.blend([0, 0], Texel::floats([2.0, -3.0, 0.5, 1.0]));
            target.blend([1, 0], quarter);
            let found = target.pixels()[0].map(f32::from_bits);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{name}: {found:?}");
        }
        let whole = |channels| Texel { channels, class: Class::Unsigned };
        // What is there could be taken for a float, but nothing is added to it.
        let mut target = new("RGBA32UI", whole([2.0f32.to_bits(); 4]));
        target.blend([0, 0], whole([7; 4]));
        assert_eq!(target.pixels(), [[7; 4]]);
    }

    #[test]
    fn targets_are_bounded() {
        let new = |width, height| Target::new(Format::RGBA8, width, height, Texel::floats([0.0; 4]));
        assert!(new(0, 4).is_none() && new(u32::MAX, u32::MAX).is_none() && new(1 << 12, (1 << 12) + 1).is_none());
    }
}
