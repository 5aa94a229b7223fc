//! Varyings: values that vary over a primitive.

use super::error::HostError;
use super::format::canonical;
use super::spot::Spot;

/// A value that is linear in the window position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The value at the corner of pixel (0, 0).
    pub origin: f32,
    /// The change per pixel along x.
    pub dx: f32,
    /// The change per pixel along y.
    pub dy: f32,
}

impl Plane {
    /// Returns the value at a position in pixels.
    pub fn at(&self, x: f32, y: f32) -> f32 {
        canonical(self.origin + self.dx * x + self.dy * y)
    }

    /// Returns the quotient of this plane and another at a position in pixels.
    #[inline(always)]
    pub(super) fn quotient(&self, other: &Plane, x: f32, y: f32) -> f32 {
        canonical(self.at(x, y) / other.at(x, y))
    }
}

/// One component of a varying.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// The same bits everywhere.
    Flat(u32),
    /// An f32 that is linear in the window position.
    Plane(Plane),
    /// The quotient of two planes, for perspective-correct interpolation.
    Perspective {
        /// The value divided by w.
        value: Plane,
        /// 1 divided by w.
        reciprocal: Plane,
    },
    /// Values at the centres of pixels, row by row.
    Pixels {
        /// The number of pixels in a row.
        width: u32,
        /// The bits.
        values: Vec<u32>,
        /// The values beyond the pixels and between their centres.
        between: Between,
    },
}

/// The values between the centres of pixels and beyond the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Between {
    /// The bits of the nearest centre.
    Nearest,
    /// An f32 that is interpolated between centres, and extrapolated beyond the last two.
    Even,
    /// An f32 on a plane.
    Plane(Plane),
}

impl Component {
    pub(super) fn at(&self, spot: Spot) -> u32 {
        let [x, y] = spot.position();
        match self {
            Component::Flat(bits) => *bits,
            Component::Plane(plane) => plane.at(x, y).to_bits(),
            Component::Perspective { value, reciprocal } => value.quotient(reciprocal, x, y).to_bits(),
            Component::Pixels { width, values, between } => {
                let height = (values.len() as u32).checked_div(*width).unwrap_or(0);
                let at = |x: u32, y: u32| values.get(y as usize * *width as usize + x as usize).copied().unwrap_or(0);
                let [px, py] = spot.pixel;
                let given = spot.is_centre() && px < *width && py < height;
                match between {
                    Between::Plane(plane) if !given => plane.at(x, y).to_bits(),
                    Between::Even if !given && *width > 0 && height > 0 => {
                        even([x, y], [*width, height], |x, y| f32::from_bits(at(x, y))).to_bits()
                    }
                    _ => at(px.min(width.saturating_sub(1)), py.min(height.saturating_sub(1))),
                }
            }
        }
    }
}

/// Interpolates from the four nearest centres of a picture, which has at least one pixel.
fn even(position: [f32; 2], size: [u32; 2], at: impl Fn(u32, u32) -> f32) -> f32 {
    let [(x, across), (y, up)] = [0, 1].map(|axis| {
        let place = position[axis] - 0.5;
        // Positions beyond the last centre are extrapolated from the last two.
        let first = place.max(0.0).min(size[axis].saturating_sub(2) as f32).floor();
        (first as u32, if size[axis] > 1 { place - first } else { 0.0 })
    });
    let row = |y: u32| match x + 1 < size[0] {
        true => at(x, y) + (at(x + 1, y) - at(x, y)) * across,
        false => at(x, y),
    };
    if y + 1 < size[1] { row(y) + (row(y + 1) - row(y)) * up } else { row(y) }
}

/// A varying in the buffer of a vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Varying {
    /// The offset of the first byte.
    pub offset: u32,
    /// Its components, one every 4 bytes.
    pub components: Vec<Component>,
}

/// The varyings of a primitive, in slots of 16 bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Varyings(pub Vec<Varying>);

impl Varyings {
    /// Returns the component at a byte of the buffer. In a slot with a varying, missing components are 0, or 1 in place
    /// of alpha.
    ///
    /// # Errors
    /// When the slot of that byte holds no varying.
    pub fn at(&self, byte: u32, spot: Spot) -> Result<u32, HostError> {
        self.component(byte).map(|found| found.map_or_else(|missing| missing, |component| component.at(spot)))
    }

    /// Returns the component at a byte of the buffer, or the bits that stand for a missing one.
    pub(super) fn component(&self, byte: u32) -> Result<Result<&Component, u32>, HostError> {
        let slot = |byte: u32| byte / 16;
        let mut near = false;
        for varying in &self.0 {
            let index = byte.checked_sub(varying.offset).filter(|at| at % 4 == 0).map(|at| at / 4);
            if let Some(component) = index.and_then(|index| varying.components.get(index as usize)) {
                return Ok(Ok(component));
            }
            near |= slot(varying.offset) == slot(byte);
        }
        match byte % 16 {
            _ if !near => Err(HostError::Varying { byte }),
            12 => Ok(Err(1.0f32.to_bits())),
            _ => Ok(Err(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::host::VaryingSource;

    #[test]
    fn a_varying_is_found_by_the_bytes_of_its_components() {
        let flat = |bits| Component::Flat(bits);
        let varyings = Varyings(vec![
            Varying { offset: 16, components: vec![flat(1), flat(2)] },
            Varying { offset: 24, components: vec![flat(3)] },
        ]);
        let spot = Spot::centre([0, 0]);
        let found = [16, 20, 24, 28].map(|byte| varyings.at(byte, spot));
        assert_eq!(found, [1, 2, 3, 0x3f80_0000].map(Ok));
        // 16-bit components have the positions of 32-bit ones.
        let half = |byte: u32, component| varyings.at(VaryingSource::Buffer { byte, half: true }.byte(component), spot);
        assert_eq!([half(16, 1), half(16, 2), half(20, 0), half(18, 0)], [2, 3, 3, 2].map(Ok));
        assert_eq!(varyings.at(0, spot), Err(HostError::Varying { byte: 0 }));
        assert_eq!(varyings.at(32, spot), Err(HostError::Varying { byte: 32 }));
    }

    #[test]
    fn components_change_over_the_window() {
        let at = |component: &Component, x, y, within| f32::from_bits(component.at(Spot { pixel: [x, y], within }));
        let plane = Plane { origin: 1.0, dx: 2.0, dy: -4.0 };
        assert_eq!(at(&Component::Plane(plane), 3, 1, [128, 128]), 1.0 + 7.0 - 6.0);
        assert_eq!(at(&Component::Plane(plane), 3, 1, [0, 256]), 1.0 + 6.0 - 8.0);
        let reciprocal = Plane { origin: 0.5, dx: 0.5, dy: 0.0 };
        assert_eq!(at(&Component::Perspective { value: plane, reciprocal }, 0, 0, [256, 0]), 3.0);
        let values = [10.0f32, 20.0, 12.0, 26.0].map(f32::to_bits).to_vec();
        let pixels = |between| Component::Pixels { width: 2, values: values.clone(), between };
        let on_plane = pixels(Between::Plane(plane));
        assert_eq!(at(&on_plane, 1, 0, [128, 128]), 20.0);
        assert_eq!(at(&on_plane, 1, 0, [0, 0]), 3.0);
        assert_eq!(at(&on_plane, 2, 0, [128, 128]), 4.0);
        let nearest = pixels(Between::Nearest);
        assert_eq!([at(&nearest, 7, 7, [0, 0]), at(&nearest, 0, 0, [0, 255])], [26.0, 10.0]);
        let even = pixels(Between::Even);
        assert_eq!(
            [at(&even, 1, 1, [128, 128]), at(&even, 1, 0, [0, 128]), at(&even, 0, 0, [192, 384])],
            [26.0, 15.0, 15.5]
        );
        // Beyond the last centre it is extrapolated, as helper lanes need it.
        assert_eq!(
            [at(&even, 2, 0, [128, 128]), at(&even, 2, 1, [128, 128]), at(&even, 0, 2, [128, 128])],
            [30.0, 40.0, 14.0]
        );
        assert_eq!(at(&even, 0, 0, [0, 128]), 5.0);
        for between in [Between::Nearest, Between::Even] {
            assert_eq!(at(&Component::Pixels { width: 0, values: vec![], between }, 0, 0, [0, 0]), 0.0);
            let one = Component::Pixels { width: 1, values: vec![7.0f32.to_bits()], between };
            assert_eq!(at(&one, 3, 4, [9, 0]), 7.0);
        }
    }
}
