//! The outputs of a launch file.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use half::f16;

use super::buffers::Buffers;
use super::launch::{BufferNumber, NumberFormat, Output, PixelFormat, Png, Print};
use crate::failure::Failure;
use crate::output::{count, plain_stdout, write_whole};
use crate::picture::{Rgba, color_counts, to_screen, write_png};

/// The number of columns per line.
const COLUMNS: usize = 8;

/// Produces the outputs of a launch file. Returns a line about each file written.
///
/// # Errors
/// When a file or standard output cannot be written.
pub fn produce(outputs: &[Output], buffers: &Buffers, folder: &Path) -> Result<Vec<String>, Failure> {
    let mut done = Vec::new();
    for output in outputs {
        let Some(bytes) = output.buffer().and_then(|name| buffers.content(name)) else { continue };
        if let Some(png) = &output.png {
            let path = folder.join(&png.file);
            write_png(&path, png.width.value, png.height.value, &pixels(png, bytes))?;
            done.push(format!("wrote {} ({} x {})", path.display(), png.width.value, png.height.value));
        }
        if let Some(raw) = &output.raw {
            let path = folder.join(&raw.file);
            write_whole(&path, bytes)?;
            done.push(format!("wrote {} ({})", path.display(), count(bytes.len() as u64, "byte")));
        }
        if let Some(print) = &output.print {
            let mut out = plain_stdout();
            out.write_all(numbers(print, bytes).as_bytes())?;
            out.flush()?;
        }
    }
    Ok(done)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

fn pixels(png: &Png, bytes: &[u8]) -> Vec<Rgba> {
    let count = png.width.value as usize * png.height.value as usize;
    let counts: Vec<u32> = words(bytes).take(count).collect();
    let largest = || counts.iter().copied().max().unwrap_or(0);
    match png.format.unwrap_or(PixelFormat::Palette) {
        PixelFormat::Palette => color_counts(&counts, png.width.value as usize, png.limit.unwrap_or_else(largest), 1),
        PixelFormat::Grey => {
            let limit = png.limit.unwrap_or_else(largest).max(1);
            let grey = |count: &u32| (u64::from(*count.min(&limit)) * 255 / u64::from(limit)) as u8;
            counts.iter().map(grey).map(|grey| [grey, grey, grey, 255]).collect()
        }
        PixelFormat::Rgba8 => counts.iter().map(|word| word.to_le_bytes()).collect(),
        PixelFormat::Rgba32f => {
            let channels: Vec<f32> = words(bytes).take(4 * count).map(f32::from_bits).collect();
            let pixel = |c: &[f32]| {
                let color = to_screen([c[0], c[1], c[2]]);
                [color[0], color[1], color[2], (c[3].clamp(0.0, 1.0) * 255.0 + 0.5) as u8]
            };
            channels.chunks_exact(4).map(pixel).collect()
        }
    }
}

/// Formats the numbers in a buffer.
fn numbers(print: &Print, bytes: &[u8]) -> String {
    let from = print.from.as_ref().map_or(0, |from| from.value as usize);
    let count = print.count.as_ref().map_or(usize::MAX, |count| count.value as usize);
    let format = print.number.unwrap_or(BufferNumber::Hex);
    let numbers = bytes.chunks_exact(format.bytes());
    let rest: String = numbers.remainder().iter().map(|byte| format!("  {byte:02x}")).collect();
    let texts: Vec<String> = numbers.skip(from).take(count).map(|number| of_bytes(format, number)).collect();
    let mut text = rows(&format!("{} as {format}", print.buffer.value), from, &texts);
    // Bytes that do not fill a number.
    if print.count.is_none() && !rest.is_empty() {
        let _ = writeln!(text, "{:>8}:{rest}", "bytes");
    }
    text
}

/// Formats a number that is stored in these bytes, the lowest first.
fn of_bytes(format: BufferNumber, bytes: &[u8]) -> String {
    let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    match format {
        BufferNumber::U8 | BufferNumber::U16 | BufferNumber::U32 => number(NumberFormat::U32, bits),
        BufferNumber::I8 => (bits as i8).to_string(),
        BufferNumber::I16 => (bits as i16).to_string(),
        BufferNumber::F16 => f16::from_bits(bits as u16).to_string(),
        BufferNumber::I32 => number(NumberFormat::I32, bits),
        BufferNumber::F32 => number(NumberFormat::F32, bits),
        BufferNumber::Hex => number(NumberFormat::Hex, bits),
    }
}

/// Formats numbers below a heading, eight per line, each line starting with the index of its first number.
pub fn rows(heading: &str, from: usize, texts: &[String]) -> String {
    let widest = texts.iter().map(String::len).max().unwrap_or(0);
    let mut text = format!("{heading}:\n");
    for (line, row) in texts.chunks(COLUMNS).enumerate() {
        let _ = write!(text, "{:>8}:", from + line * COLUMNS);
        for number in row {
            let _ = write!(text, "  {number:>widest$}");
        }
        text.push('\n');
    }
    text
}

/// Formats a number.
pub fn number(format: NumberFormat, word: u32) -> String {
    match format {
        NumberFormat::U32 => word.to_string(),
        NumberFormat::I32 => (word as i32).to_string(),
        NumberFormat::F32 => f32::from_bits(word).to_string(),
        NumberFormat::Hex => format!("{word:08x}"),
    }
}
