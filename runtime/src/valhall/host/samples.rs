//! The positions of samples in a pixel.

/// Positions within a pixel, from its corner in 1/256 pixel.
type Places = &'static [[i16; 2]];

/// The standard sample positions of Vulkan for 1, 2, 4, 8 and 16 samples, which are multiples of 1/16 pixel.
const PATTERNS: [Places; 5] = [
    &[[128, 128]],
    &[[192, 192], [64, 64]],
    &[[96, 32], [224, 96], [32, 160], [160, 224]],
    &[[144, 80], [112, 176], [208, 144], [80, 48], [48, 208], [16, 112], [176, 240], [240, 16]],
    &[
        [144, 144],
        [112, 80],
        [80, 160],
        [192, 112],
        [48, 96],
        [160, 208],
        [208, 176],
        [176, 48],
        [96, 224],
        [128, 16],
        [64, 32],
        [32, 192],
        [0, 128],
        [240, 64],
        [224, 240],
        [16, 0],
    ],
];

/// The positions of 1, 2, 4, 8 or 16 samples in a pixel, from its corner in 1/256 pixel. `None` for other numbers of
/// samples.
pub fn places(samples: u32) -> Option<&'static [[i16; 2]]> {
    PATTERNS.into_iter().find(|places| places.len() == samples as usize)
}

/// The position of a sample, or the centre if there is no such sample.
pub(crate) fn place(samples: u32, sample: u32) -> [i16; 2] {
    places(samples).and_then(|places| places.get(sample as usize)).copied().unwrap_or([128; 2])
}

/// The centroid of the covered samples: the centre of the pixel if all samples or none are covered, else the mean
/// position of the covered samples.
pub(crate) fn centroid(samples: u32, covered: u16) -> [i16; 2] {
    let places = places(samples).unwrap_or(PATTERNS[0]);
    let inside: Vec<_> = places.iter().zip(0..).filter(|(_, sample)| covered >> sample & 1 != 0).collect();
    if inside.is_empty() || inside.len() == places.len() {
        return [128; 2];
    }
    let count = inside.len() as i16;
    [0, 1].map(|axis| inside.iter().map(|(place, _)| place[axis]).sum::<i16>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_lies_around_the_centre() {
        for samples in [1, 2, 4, 8, 16] {
            let places = places(samples).unwrap();
            // Each sample has its own column and row.
            for axis in [0, 1] {
                let mut found: Vec<i16> = places.iter().map(|place| place[axis]).collect();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), samples as usize);
            }
            assert_eq!([centroid(samples, 0), centroid(samples, u16::MAX)], [[128; 2]; 2]);
        }
        assert_eq!([places(0), places(3), places(32)], [None; 3]);
        assert_eq!((centroid(4, 0b0001), centroid(4, 0b0101)), ([96, 32], [64, 96]));
        assert_eq!((place(4, 3), place(4, 4), place(5, 0)), ([160, 224], [128; 2], [128; 2]));
    }
}
