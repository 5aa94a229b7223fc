//! Render targets: what fragment programs draw on.

use super::HostError;
use super::format::{Format, Texel};

/// A rectangle of pixels, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    format: Format,
    width: u32,
    height: u32,
    pixels: Vec<[u32; 4]>,
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
        Some(Target { format, width, height, pixels: vec![format.decode(&bytes[..size]).channels; count as usize] })
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
    fn targets_are_bounded() {
        let new = |width, height| Target::new(Format::RGBA8, width, height, Texel::floats([0.0; 4]));
        assert!(new(0, 4).is_none() && new(u32::MAX, u32::MAX).is_none() && new(1 << 12, (1 << 12) + 1).is_none());
    }
}
