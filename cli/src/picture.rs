//! Pictures: conversion of numbers to colours, reading and writing of PNG.

use std::path::Path;

use crate::failure::Failure;
use crate::output::write_whole;

/// Red, green, blue and opacity of a pixel.
pub type Rgba = [u8; 4];

/// The stops of the palette: position, and red, green and blue in linear light from 0 to 1.
const STOPS: [(f32, [f32; 3]); 7] = [
    (0.0, [0.000, 0.006, 0.045]),
    (0.19, [0.006, 0.045, 0.260]),
    (0.36, [0.030, 0.260, 0.620]),
    (0.52, [0.720, 0.880, 0.900]),
    (0.66, [1.000, 0.520, 0.060]),
    (0.82, [0.420, 0.060, 0.030]),
    (1.0, [0.030, 0.004, 0.040]),
];

/// Maps a count to a colour in linear light: deep blue for small counts, over white and amber to dark red for large
/// ones, and black from `limit` on. The scale is logarithmic, since most counts are small.
pub fn palette(count: u32, limit: u32) -> [f32; 3] {
    if count >= limit {
        return [0.0; 3];
    }
    // Most pictures use only a few dozen counts; the largest ones lie close together at the border of the set.
    let spread = |count: f32| (1.0 + count / 8.0).ln();
    let at = (spread(count as f32) / spread(limit as f32)).clamp(0.0, 1.0);
    let upper = STOPS.iter().position(|(stop, _)| *stop >= at).unwrap_or(STOPS.len() - 1).max(1);
    let ((low, from), (high, to)) = (STOPS[upper - 1], STOPS[upper]);
    let t = ((at - low) / (high - low)).clamp(0.0, 1.0);
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * t)
}

/// Converts a colour from linear light to sRGB.
pub fn to_screen(linear: [f32; 3]) -> Rgba {
    let channel = |value: f32| {
        let value = value.clamp(0.0, 1.0);
        let curved = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (curved * 255.0 + 0.5) as u8
    };
    [channel(linear[0]), channel(linear[1]), channel(linear[2]), 255]
}

/// Colours rows of `width` counts. Each pixel is the mean of `oversampling` squared samples.
pub fn color_counts(counts: &[u32], width: usize, limit: u32, oversampling: usize) -> Vec<Rgba> {
    let (over, width) = (oversampling.max(1), width.max(1));
    let rows: Vec<&[u32]> = counts.chunks_exact(width).collect();
    let mut pixels = Vec::with_capacity(counts.len() / (over * over));
    for block in rows.chunks_exact(over) {
        for x in 0..width / over {
            let mut sum = [0.0; 3];
            for count in block.iter().flat_map(|row| &row[x * over..(x + 1) * over]) {
                let color = palette(*count, limit);
                for (sum, channel) in sum.iter_mut().zip(color) {
                    *sum += channel;
                }
            }
            pixels.push(to_screen(sum.map(|channel| channel / (over * over) as f32)));
        }
    }
    pixels
}

/// Writes a PNG file.
///
/// # Errors
/// When the file cannot be written, or the pixels do not fill the picture.
pub fn write_png(path: &Path, width: u32, height: u32, pixels: &[Rgba]) -> Result<(), Failure> {
    let encoded = encode(width, height, pixels);
    let encoded = encoded.map_err(|error| Failure::usage(format!("`{}`: {error}", path.display()), ""))?;
    write_whole(path, &encoded)
}

/// Reads a PNG file of any pixel format. Returns the width and the pixels.
///
/// # Errors
/// When the file is not a valid PNG or too large.
pub fn read_png(file: &[u8]) -> Result<(u32, Vec<Rgba>), String> {
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(file), png::Limits { bytes: MAX_READ });
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().filter(|&size| size <= MAX_READ).ok_or("the picture is too large")?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(|error| error.to_string())?;
    let pixel = |bytes: &[u8]| match *bytes {
        [grey, alpha] => [grey, grey, grey, alpha],
        [red, green, blue, alpha] => [red, green, blue, alpha],
        _ => [0; 4],
    };
    let pixels = bytes[..frame.buffer_size()].chunks_exact(frame.color_type.samples()).map(pixel).collect();
    Ok((frame.width, pixels))
}

/// The maximum size of a decoded picture in bytes.
const MAX_READ: usize = 1 << 28;

fn encode(width: u32, height: u32, pixels: &[Rgba]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    // Most pictures are opaque and are smaller without an alpha channel.
    let opaque = pixels.iter().all(|pixel| pixel[3] == 255);
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| &pixel[..if opaque { 3 } else { 4 }]).copied().collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(file)
}

/// Enlarges a picture of `width` pixels per row by an integer factor.
pub fn enlarged(pixels: &[Rgba], width: usize, scale: usize) -> Vec<Rgba> {
    let rows = pixels.chunks_exact(width.max(1)).flat_map(|row| std::iter::repeat_n(row, scale));
    rows.flatten().flat_map(|pixel| std::iter::repeat_n(*pixel, scale)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_from_dark_blue_to_black() {
        assert_eq!(to_screen(palette(100, 100)), [0, 0, 0, 255]);
        let few = to_screen(palette(0, 100));
        assert!(few[2] > few[0] && few[2] < 100, "{few:?}");
        assert_eq!(palette(0, 0), [0.0; 3]);
        assert_eq!(to_screen([2.0, f32::NAN, -1.0])[0], 255);
    }

    #[test]
    fn oversampled_counts_become_fewer_pixels() {
        assert_eq!(color_counts(&[9; 16], 4, 9, 2), [[0, 0, 0, 255]; 4]);
        assert_eq!(color_counts(&[], 0, 9, 2), [[0; 4]; 0]);
    }

    #[test]
    fn a_picture_reads_back() {
        let pixels = [[1, 2, 3, 255], [4, 5, 6, 255], [7, 8, 9, 0], [1, 1, 1, 1]];
        for (pixels, channels) in [(&pixels[..2], 3), (&pixels[2..], 4)] {
            let file = encode(2, 1, pixels).expect("it encodes");
            let (width, read) = read_png(&file).expect("it decodes");
            assert_eq!((width, read.as_slice()), (2, pixels));
            let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("it decodes");
            let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
            reader.next_frame(&mut bytes).expect("it decodes");
            let expected: Vec<u8> = pixels.iter().flat_map(|pixel| &pixel[..channels]).copied().collect();
            assert_eq!(bytes, expected);
        }
        assert!(encode(3, 3, &pixels).is_err());
        assert!(read_png(b"\x89PNG").is_err() && read_png(b"").is_err());
    }
}
