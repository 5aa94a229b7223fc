//! Varyings: values that change over a primitive.

use super::{HostError, Spot};

/// A value that changes evenly with the position in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Its value at the corner of pixel (0, 0).
    pub origin: f32,
    /// How much it changes from pixel to pixel along x.
    pub dx: f32,
    /// The same along y.
    pub dy: f32,
}

impl Plane {
    /// The value at a position in pixels.
    pub fn at(&self, x: f32, y: f32) -> f32 {
        self.origin + self.dx * x + self.dy * y
    }
}

/// One component of a varying.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// The same bits everywhere.
    Flat(u32),
    /// An f32 that changes evenly.
    Plane(Plane),
    /// The quotient of two planes, which is how a value changes in perspective.
    Perspective {
        /// The value divided by w.
        value: Plane,
        /// 1 divided by w.
        reciprocal: Plane,
    },
    /// Values at the centres of pixels, row by row.
    Pixels {
        /// Pixels in a row.
        width: u32,
        /// The bits.
        values: Vec<u32>,
        /// What holds beyond them and between the centres; without it the nearest pixel's value does.
        plane: Option<Plane>,
    },
}

impl Component {
    pub(super) fn at(&self, spot: Spot) -> u32 {
        let [x, y] = spot.position();
        match self {
            Component::Flat(bits) => *bits,
            Component::Plane(plane) => plane.at(x, y).to_bits(),
            Component::Perspective { value, reciprocal } => (value.at(x, y) / reciprocal.at(x, y)).to_bits(),
            Component::Pixels { width, values, plane } => {
                let height = (values.len() as u32).checked_div(*width).unwrap_or(0);
                let [px, py] = spot.pixel;
                match plane {
                    Some(plane) if !spot.is_centre() || px >= *width || py >= height => plane.at(x, y).to_bits(),
                    _ => {
                        let (px, py) = (px.min(width.saturating_sub(1)), py.min(height.saturating_sub(1)));
                        values.get(py as usize * *width as usize + px as usize).copied().unwrap_or(0)
                    }
                }
            }
        }
    }
}

/// A varying as the buffer of a vertex holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Varying {
    /// The first byte.
    pub offset: u32,
    /// Whether its components have 16 bits there, not 32.
    pub half: bool,
    /// Its components, one after another.
    pub components: Vec<Component>,
}

/// The varyings of a primitive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Varyings(pub Vec<Varying>);

impl Varyings {
    /// A component at a byte of the buffer. What lies in the 16 bytes of a varying but beyond its components is 0, or 1
    /// where alpha would be.
    ///
    /// # Errors
    /// When no varying has any of those 16 bytes.
    pub fn at(&self, byte: u32, spot: Spot) -> Result<u32, HostError> {
        let slot = |byte: u32| byte / 16;
        let mut near = false;
        for varying in &self.0 {
            let size = if varying.half { 2 } else { 4 };
            let index = byte.checked_sub(varying.offset).filter(|at| at % size == 0).map(|at| at / size);
            if let Some(component) = index.and_then(|index| varying.components.get(index as usize)) {
                return Ok(component.at(spot));
            }
            near |= slot(varying.offset) == slot(byte);
        }
        match byte % 16 {
            _ if !near => Err(HostError::Varying { byte }),
            12 => Ok(1.0f32.to_bits()),
            _ => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varying_is_found_by_the_bytes_of_its_components() {
        let flat = |bits| Component::Flat(bits);
        let varyings = Varyings(vec![
            Varying { offset: 16, half: false, components: vec![flat(1), flat(2)] },
            Varying { offset: 24, half: false, components: vec![flat(3)] },
            Varying { offset: 32, half: true, components: vec![flat(4), flat(5)] },
        ]);
        let spot = Spot::centre([0, 0]);
        let found = [16, 20, 24, 28, 32, 34, 36].map(|byte| varyings.at(byte, spot));
        assert_eq!(found, [1, 2, 3, 0x3f80_0000, 4, 5, 0].map(Ok));
        assert_eq!(varyings.at(0, spot), Err(HostError::Varying { byte: 0 }));
        assert_eq!(varyings.at(48, spot), Err(HostError::Varying { byte: 48 }));
    }

    #[test]
    fn components_change_over_the_window() {
        let at = |component: &Component, x, y, within| f32::from_bits(component.at(Spot { pixel: [x, y], within }));
        let plane = Plane { origin: 1.0, dx: 2.0, dy: -4.0 };
        assert_eq!(at(&Component::Plane(plane), 3, 1, [128, 128]), 1.0 + 7.0 - 6.0);
        assert_eq!(at(&Component::Plane(plane), 3, 1, [0, 256]), 1.0 + 6.0 - 8.0);
        let reciprocal = Plane { origin: 0.5, dx: 0.5, dy: 0.0 };
        assert_eq!(at(&Component::Perspective { value: plane, reciprocal }, 0, 0, [256, 0]), 3.0);
        let values = vec![10.0f32.to_bits(), 20.0f32.to_bits()];
        let pixels = Component::Pixels { width: 2, values: values.clone(), plane: Some(plane) };
        assert_eq!(at(&pixels, 1, 0, [128, 128]), 20.0);
        assert_eq!(at(&pixels, 1, 0, [0, 0]), 3.0);
        assert_eq!(at(&pixels, 2, 0, [128, 128]), 4.0);
        let alone = Component::Pixels { width: 2, values, plane: None };
        assert_eq!(at(&alone, 7, 7, [0, 0]), 20.0);
        assert_eq!(at(&Component::Pixels { width: 0, values: vec![], plane: None }, 0, 0, [0, 0]), 0.0);
    }
}
