//! The programs of [`shading`](super) as loops over pixels, texels and vertices that the compiler vectorizes.

use super::{DIFFUSE, LIGHT, MATRIX, REPEATED, RIM, TEXELS};
use crate::native::dispatched;

/// The number of pixels of a row that advance together.
const L: usize = 64;
/// A number for each of these pixels.
type Lanes = [f32; L];

/// Rounds a number of less than 2^22 to an integer, by what its mantissa becomes in a sum. A cast would saturate, which
/// is not vectorized.
#[inline(always)]
fn rounded(number: f32) -> u32 {
    const SUM: f32 = 12_582_912.0;
    (number + SUM).to_bits().wrapping_sub(SUM.to_bits())
}

dispatched! {
    /// Draws the tiles.
    tiles(out: &mut [u32], texels: &[u32]) = tiles_pixels
}

#[inline(always)]
fn tiles_pixels(out: &mut [u32], texels: &[u32]) {
    let side = out.len().isqrt();
    let texels: &[u32; 16] = texels.try_into().expect("the texture has four by four texels");
    let step = 1.0 / side as f32;
    for (y, row) in out.chunks_exact_mut(side).enumerate() {
        let v = (y as f32 + 0.5) * step;
        let t = v * 6.0;
        let wave = t - t.floor();
        let wave = (wave - wave * wave) * 0.5;
        for (block, out) in row.chunks_mut(L).enumerate() {
            let u: Lanes = std::array::from_fn(|l| ((block * L + l) as f32 + 0.5) * step);
            let s = u.map(|u| u.mul_add(6.0, wave));
            let mut colour = linear(texels, &s, &[t; L], &[4; L], &[0; L]);
            let light = u.map(|u| {
                let square = (u - 0.5).mul_add(u - 0.5, (v - 0.5) * (v - 0.5));
                square.mul_add(-1.5, 1.0).max(0.2)
            });
            lit(&mut colour, &light);
            out.copy_from_slice(&packed(&colour)[..out.len()]);
        }
    }
}

/// Multiplies all channels but alpha.
#[inline(always)]
fn lit(colour: &mut [Lanes; 4], light: &Lanes) {
    for channel in &mut colour[..3] {
        for l in 0..L {
            channel[l] *= light[l];
        }
    }
}

/// Filters the four nearest texels of repeated squares with `sizes` texels a side, powers of two, from `firsts` on.
#[inline(always)]
fn linear<const N: usize>(texels: &[u32; N], s: &Lanes, t: &Lanes, sizes: &[u32; L], firsts: &[u32; L]) -> [Lanes; 4] {
    // Short loops, since the compiler does not vectorize a long one.
    let (mut places, mut parts) = ([[0u32; L]; 2], [[0.0; L]; 2]);
    for ((at, places), parts) in [s, t].into_iter().zip(&mut places).zip(&mut parts) {
        for l in 0..L {
            let place = at[l].mul_add(sizes[l] as f32, -0.5);
            (places[l], parts[l]) = (rounded(place.floor()), place - place.floor());
        }
    }
    let mut four = [[0; L]; 4];
    for (corner, found) in four.iter_mut().enumerate() {
        let [right, above] = [corner as u32 & 1, corner as u32 >> 1];
        for l in 0..L {
            let [x, y] =
                [(0, right), (1, above)].map(|(axis, more)| places[axis][l].wrapping_add(more) & (sizes[l] - 1));
            // N is a power of two, and all places are below it.
            found[l] = texels[(firsts[l] + y * sizes[l] + x) as usize & (N - 1)];
        }
    }
    let mut colour = [[0.0; L]; 4];
    for (c, channel) in colour.iter_mut().enumerate() {
        for l in 0..L {
            let [a, b, c, d] = [0, 1, 2, 3].map(|corner: usize| (four[corner][l] >> (8 * c) & 0xff) as i32 as f32);
            let (first, second) = ((b - a).mul_add(parts[0][l], a), (d - c).mul_add(parts[0][l], c));
            channel[l] = (second - first).mul_add(parts[1][l], first) * (1.0 / 255.0);
        }
    }
    colour
}

/// Rounds colours to four bytes each.
#[inline(always)]
fn packed(colour: &[Lanes; 4]) -> [u32; L] {
    let mut words = [0; L];
    for (c, channel) in colour.iter().enumerate() {
        for l in 0..L {
            words[l] |= rounded(channel[l].clamp(0.0, 1.0) * 255.0) << (8 * c);
        }
    }
    words
}

/// The background of the sphere, as bytes.
const BACKGROUND: u32 = 0xff33_1a1a;
/// A power of two that all levels of the sphere's texture fit in.
const ROOM: usize = 2 * (TEXELS * TEXELS) as usize;

dispatched! {
    /// Draws the sphere.
    sphere(out: &mut [u32], levels: &[u32]) = sphere_pixels
}

#[inline(always)]
fn sphere_pixels(out: &mut [u32], levels: &[u32]) {
    let side = out.len().isqrt();
    let mut texels = [0; ROOM];
    texels[..levels.len()].copy_from_slice(levels);
    let (step, repeats) = (2.0 / side as f32, side as f32 / REPEATED);
    // Quads are two rows high.
    for (pair, rows) in out.chunks_exact_mut(2 * side).enumerate() {
        let (low, high) = rows.split_at_mut(side);
        for (block, rows) in low.chunks_mut(L).zip(high.chunks_mut(L)).enumerate() {
            let x: Lanes = std::array::from_fn(|l| ((block * L + l) as f32 + 0.5).mul_add(step, -1.0));
            let y = [0.5, 1.5].map(|centre| ((2 * pair) as f32 + centre).mul_add(step, -1.0));
            let squares = y.map(|y| x.map(|x| x.mul_add(-x, y.mul_add(-y, 1.0))));
            if squares.as_flattened().iter().fold(0.0, |most, &square| f32::max(most, square)) <= 0.0 {
                rows.0.fill(BACKGROUND);
                rows.1.fill(BACKGROUND);
                continue;
            }
            let z = squares.map(|row| row.map(|square| square.max(RIM).sqrt()));
            let scale = z.map(|row| row.map(|z| repeats / (1.0 + z)));
            let s: [Lanes; 2] = [0, 1].map(|row| std::array::from_fn(|l| x[l] * scale[row][l]));
            let t: [Lanes; 2] = [0, 1].map(|row| std::array::from_fn(|l| y[row] * scale[row][l]));
            for (row, out) in [rows.0, rows.1].into_iter().enumerate() {
                let mut colour = by_level(&texels, &s, &t, row);
                let light: Lanes = std::array::from_fn(|l| {
                    let facing = z[row][l].mul_add(LIGHT[2], x[l].mul_add(LIGHT[0], y[row] * LIGHT[1]));
                    facing.clamp(0.0, 1.0).mul_add(DIFFUSE[0], DIFFUSE[1])
                });
                lit(&mut colour, &light);
                let mut words = packed(&colour);
                for l in 0..L {
                    words[l] = if squares[row][l] > 0.0 { words[l] } else { BACKGROUND };
                }
                out.copy_from_slice(&words[..out.len()]);
            }
        }
    }
}

/// Filters within and between levels, for one of two rows of pixels.
#[inline(always)]
fn by_level(texels: &[u32; ROOM], s: &[Lanes; 2], t: &[Lanes; 2], row: usize) -> [Lanes; 4] {
    let (mut sizes, mut firsts, mut parts) = ([[0; L]; 2], [[0; L]; 2], [0.0; L]);
    for l in 0..L {
        let (left, right) = (l & !1, l | 1);
        let length = |ds: f32, dt: f32| ds * ds + dt * dt;
        let dx = length(s[row][right] - s[row][left], t[row][right] - t[row][left]);
        let dy = length(s[1][l] - s[0][l], t[1][l] - t[0][l]);
        // Half of the logarithm of a square; a parabola is close enough to the logarithm of its mantissa.
        let bits = (dx.max(dy) * (TEXELS * TEXELS) as f32).to_bits();
        let mantissa = f32::from_bits(bits & 0x7f_ffff | 0x3f80_0000);
        let exponent = (bits >> 23) as i32 as f32 - 127.0;
        let level = (exponent + (mantissa.mul_add(-1.0 / 3.0, 2.0)).mul_add(mantissa, -5.0 / 3.0)) * 0.5;
        let level = level.clamp(0.0, TEXELS.ilog2() as f32);
        parts[l] = level - level.floor();
        for (more, (sizes, firsts)) in sizes.iter_mut().zip(&mut firsts).enumerate() {
            let size = (TEXELS >> (rounded(level.floor()) + more as u32)).max(1);
            sizes[l] = size;
            // Each level has a quarter of the texels of the level before.
            firsts[l] = 4 * (TEXELS * TEXELS - size * size) / 3;
        }
    }
    let mut colour = linear(texels, &s[row], &t[row], &sizes[0], &firsts[0]);
    let next = linear(texels, &s[row], &t[row], &sizes[1], &firsts[1]);
    for (channel, next) in colour.iter_mut().zip(next) {
        for l in 0..L {
            channel[l] = (next[l] - channel[l]).mul_add(parts[l], channel[l]);
        }
    }
    colour
}

dispatched! {
    /// Transforms vertices.
    vertices(out: &mut [u32], attributes: &[u32]) = transformed
}

#[inline(always)]
fn transformed(out: &mut [u32], attributes: &[u32]) {
    for (out, &[x, y, z, colour]) in out.as_chunks_mut::<8>().0.iter_mut().zip(attributes.as_chunks::<4>().0) {
        let [x, y, z] = [x, y, z].map(f32::from_bits);
        for (out, row) in out.iter_mut().zip(MATRIX) {
            *out = x.mul_add(row[0], y.mul_add(row[1], z.mul_add(row[2], row[3]))).to_bits();
        }
        for (c, out) in out[4..].iter_mut().enumerate() {
            *out = ((colour >> (8 * c) & 0xff) as f32 / 255.0).to_bits();
        }
    }
}

dispatched! {
    /// Blurs an image.
    blur(out: &mut [u32], texels: &[u32]) = blurred
}

#[inline(always)]
fn blurred(out: &mut [u32], texels: &[u32]) {
    let side = out.len().isqrt();
    let none = vec![0; side];
    // Two channels in the halves of a word, whose sums stay below 2^16; a column of zeros at both ends.
    let mut sums = [vec![0u32; side + 2], vec![0u32; side + 2]];
    let row = |y: usize| texels.get(y * side..(y + 1) * side).unwrap_or(&none);
    for (y, out) in out.chunks_exact_mut(side).enumerate() {
        let (low, middle, high) = (y.checked_sub(1).map_or(&none[..], row), row(y), row(y + 1));
        for (odd, sums) in sums.iter_mut().enumerate() {
            for (x, sum) in sums[1..=side].iter_mut().enumerate() {
                *sum = [low[x], middle[x], high[x]].iter().map(|texel| texel >> (8 * odd) & 0xff_00ff).sum();
            }
        }
        for (x, out) in out.iter_mut().enumerate() {
            // A ninth in 1/2^16, which is exact enough for sums below 2^12.
            let ninth = |sum: u32| (sum * 7282 + 0x8000) >> 16;
            let [even, odd] = [0, 1].map(|odd: usize| sums[odd][x] + sums[odd][x + 1] + sums[odd][x + 2]);
            let halves = |sum: u32| ninth(sum & 0xffff) | ninth(sum >> 16) << 16;
            *out = halves(even) | halves(odd) << 8;
        }
    }
}
