//! Compares the results of a case with the expected ones.

use super::error::CaseError;
use super::record::{BLOCK, BufferRecord, ImageRecord, Record, bytes, format, rows, words};
use crate::valhall::host::{Class, Resources, Target};

/// Whether a number is as expected. Integers must be equal; floats may be off by `tolerance`.
fn close(class: Class, found: u32, expected: u32, tolerance: f64) -> bool {
    if found == expected {
        return true;
    }
    let [found, expected] = [found, expected].map(|bits| f64::from(f32::from_bits(bits)));
    class == Class::Float
        && (found == expected || found.is_nan() && expected.is_nan() || (found - expected).abs() <= tolerance)
}

/// Formats numbers for messages.
fn show(class: Class, channels: &[u32]) -> String {
    let number = |&bits: &u32| match class {
        Class::Float => f32::from_bits(bits).to_string(),
        Class::Unsigned => format!("{bits:#x}"),
        Class::Signed => (bits as i32).to_string(),
    };
    channels.iter().map(number).collect::<Vec<_>>().join(", ")
}

/// Compares render targets and depth, pixel by pixel. A pixel is bad if it is wrong in any of them.
pub(super) fn pixels(record: &Record, host: &Resources) -> Result<Vec<String>, CaseError> {
    let (width, height) = (record.width as usize, record.height as usize);
    let mut bad = vec![false; width * height];
    let mut first = None;
    let mut compare = |name: &str, target: Option<&Target>, expected: &[u32], channels: usize| {
        let Some(target) = target else { return };
        let class = target.format().class();
        for (index, (found, expected)) in target.pixels().iter().zip(expected.chunks_exact(channels)).enumerate() {
            let agrees = found.iter().zip(expected).all(|(&f, &e)| close(class, f, e, record.tolerance));
            if agrees || record.exclude_pixels.contains(&index) {
                continue;
            }
            bad[index] = true;
            first.get_or_insert_with(|| {
                let (x, y) = (index % width, index / width);
                let (found, expected) = (show(class, &found[..channels]), show(class, expected));
                format!("{name} at ({x}, {y}) is {found}, not {expected}")
            });
        }
    };
    for expected in &record.expected.rts {
        let target = host.targets.get(expected.target as usize).and_then(Option::as_ref);
        let words = rows(&expected.rows, height, 4 * width)?;
        compare(&format!("target {}", expected.target), target, &words, 4);
    }
    if let Some(depth) = &record.expected.depth {
        compare("the depth", host.depth.as_ref(), &rows(&depth.rows, height, width)?, 1);
    }
    let count = bad.iter().filter(|&&bad| bad).count();
    let problem = |first: String| format!("{count} pixels differ where {} may; {first}", record.max_bad_pixels);
    Ok(first.filter(|_| count > record.max_bad_pixels).map(problem).into_iter().collect())
}

/// Whether a word of a buffer is as expected. Its type is unknown: with a tolerance it may be a float, unless its bits
/// are those of a small integer.
fn close_word(found: u32, expected: u32, tolerance: f64) -> bool {
    let may_be_float = |word: u32| f32::from_bits(word).is_normal() || word << 1 == 0;
    let floats = tolerance > 0.0 && may_be_float(found) && may_be_float(expected);
    close(if floats { Class::Float } else { Class::Unsigned }, found, expected, tolerance)
}

/// Compares the words of a buffer.
pub(super) fn buffer(
    record: &BufferRecord,
    base: u64,
    found: &[u8],
    tolerance: f64,
) -> Result<Option<String>, CaseError> {
    let expected = words(&record.expected, 8, |word| word as u32)?;
    let found: Vec<u32> = found.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    let counts = |index: &usize| !record.ignore_words.contains(index);
    let differs = |&index: &usize| !found.get(index).is_some_and(|&word| close_word(word, expected[index], tolerance));
    let differing: Vec<usize> = (0..expected.len()).filter(counts).filter(differs).collect();
    Ok(differing.first().map(|&at| {
        let found = found.get(at).map_or("nothing".to_owned(), |word| format!("{word:08x}"));
        let count = differing.len();
        format!("{count} words of the buffer at {base:#x} differ; word {at} is {found}, not {:08x}", expected[at])
    }))
}

/// Compares the texels of an image.
pub(super) fn image(record: &ImageRecord, found: &[u8], tolerance: f64) -> Result<Option<String>, CaseError> {
    let Some(expected) = record.expected.as_ref().and_then(|expected| expected.first()) else { return Ok(None) };
    let (expected, format) = (bytes(expected)?, format(&record.format)?);
    if expected.len() != found.len() {
        return Ok(Some(format!("image `{}` has {} bytes, not {}", record.name, found.len(), expected.len())));
    }
    let texels =
        |bytes: &[u8]| bytes.chunks_exact(format.size()).map(|t| format.decode(t).channels).collect::<Vec<_>>();
    let (found, expected) = (texels(found), texels(&expected));
    let agrees = |(found, expected): (&[u32; 4], &[u32; 4])| {
        found.iter().zip(expected).all(|(&f, &e)| close(format.class(), f, e, tolerance))
    };
    let differing = found.iter().zip(&expected).position(|pair| !agrees(pair));
    Ok(differing.map(|at| {
        let (found, expected) = (show(format.class(), &found[at]), show(format.class(), &expected[at]));
        format!("texel {at} of image `{}` is {found}, not {expected}", record.name)
    }))
}

/// Compares the values that vertex programs have written to their blocks at an offset. Floats may be off by the
/// tolerance, relative to their magnitude if that is more than 1.
pub(super) fn vertices(
    name: &str,
    (blocks, offset): (&[u8], usize),
    (expected, components): (&[String], usize),
    (class, tolerance): (Class, f64),
) -> Result<Option<String>, CaseError> {
    let expected = rows(expected, blocks.len() / BLOCK, components)?;
    for (vertex, expected) in expected.chunks_exact(components.max(1)).enumerate() {
        let start = vertex * BLOCK + offset;
        let found = blocks.get(start..start + 4 * components).unwrap_or_default();
        let found: Vec<u32> = found.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let agrees = |(&found, &expected): (&u32, &u32)| {
            let size = f64::from(f32::from_bits(expected)).abs().max(1.0);
            close(class, found, expected, tolerance * size)
        };
        if found.len() < components || !found.iter().zip(expected).all(agrees) {
            let (found, expected) = (show(class, &found), show(class, expected));
            return Ok(Some(format!("{name} of vertex {vertex} is {found}, not {expected}")));
        }
    }
    Ok(None)
}
