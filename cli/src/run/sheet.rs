//! A sheet with the pictures of several programs.

use std::path::Path;

use super::launched::Drawn;
use crate::failure::Failure;
use crate::output::{count, say};
use crate::picture::{Rgba, write_png};

/// The minimum length of the longer side of a picture in pixels; smaller pictures are enlarged by an integer factor.
const CELL: u32 = 128;
/// The gap between pictures in pixels.
const GAP: u32 = 8;
/// The number of pictures per row.
const COLUMNS: usize = 8;
/// The background colour.
const PAPER: Rgba = [40, 42, 46, 255];
/// The maximum number of pixels of a sheet.
const MAX_PIXELS: u64 = 1 << 26;

/// Writes a sheet and prints which pictures it contains.
///
/// # Errors
/// When the sheet would be too large, or the file cannot be written.
pub fn write(path: &Path, pictures: &[Drawn], quiet: bool) -> Result<(), Failure> {
    let (width, sheet) = sheet(pictures)?;
    let height = sheet.len() as u32 / width;
    write_png(path, width, height, &sheet)?;
    if !quiet {
        say(&format!("wrote {} ({width} x {height}), row by row:", path.display()));
        for row in pictures.chunks(COLUMNS) {
            let names: Vec<&str> = row.iter().map(|picture| picture.name.as_str()).collect();
            say(&format!("  {}", names.join(", ")));
        }
    }
    Ok(())
}

/// Arranges all pictures on one. Returns its width and pixels.
fn sheet(pictures: &[Drawn]) -> Result<(u32, Vec<Rgba>), Failure> {
    let scale = |picture: &Drawn| (CELL / picture.width.max(picture.height()).max(1)).max(1);
    let side =
        pictures.iter().map(|picture| picture.width.max(picture.height()) * scale(picture)).max().unwrap_or(CELL);
    let step = u64::from(side) + u64::from(GAP);
    let columns = pictures.len().clamp(1, COLUMNS) as u64;
    let rows = pictures.len().div_ceil(COLUMNS).max(1) as u64;
    let (wide, high) = (columns * step + u64::from(GAP), rows * step + u64::from(GAP));
    if wide * high > MAX_PIXELS {
        let message =
            format!("a sheet for {} would have {wide} x {high} pixels", count(pictures.len() as u64, "picture"));
        return Err(Failure::usage(message, "pass fewer cases"));
    }
    let mut sheet = vec![PAPER; (wide * high) as usize];
    for (index, picture) in pictures.iter().enumerate() {
        let (left, top) = ((index % COLUMNS) as u64 * step, (index / COLUMNS) as u64 * step);
        let scale = scale(picture);
        for y in 0..picture.height() * scale {
            for x in 0..picture.width * scale {
                let from = (y / scale) as usize * picture.width as usize + (x / scale) as usize;
                let (x, y) = (left + u64::from(GAP + x), top + u64::from(GAP + y));
                sheet[(y * wide + x) as usize] = picture.pixels[from];
            }
        }
    }
    Ok((wide as u32, sheet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_holds_enlarged_pictures_side_by_side() {
        let picture = |color: Rgba, width: u32, height: u32| Drawn {
            name: String::new(),
            file: "picture.png".into(),
            width,
            pixels: vec![color; (width * height) as usize],
        };
        let red = picture([255, 0, 0, 255], 2, 1);
        let (width, pixels) = sheet(&[red.clone(), picture([0, 255, 0, 255], 128, 128)]).unwrap();
        assert_eq!((width, pixels.len()), (2 * 136 + 8, (2 * 136 + 8) * 144));
        let at = |x: usize, y: usize| pixels[y * width as usize + x];
        assert_eq!([at(7, 8), at(8, 8), at(135, 71), at(8, 72)], [PAPER, [255, 0, 0, 255], [255, 0, 0, 255], PAPER]);
        assert_eq!(at(144, 8), [0, 255, 0, 255]);
        assert!(sheet(&[picture([0; 4], 1 << 14, 1), red]).is_err());
    }
}
