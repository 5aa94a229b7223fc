//! `isaforge run` for recorded cases: runs them and writes what they draw.

use std::path::Path;

use crate::args::RunArgs;
use crate::builtin;
use crate::conform::is_case;
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::machine::{Color, Machine, Picture, WatchReport};
use crate::output::{count, failed, say, thousands};
use crate::paint::{GOOD, paint};
use crate::picture::{Rgba, write_png};
use crate::run::{engine, watch};

/// Pixels on the longer side of a picture on a sheet, at least; small pictures are enlarged by a whole number.
const CELL: u32 = 128;
/// Pixels between the pictures of a sheet.
const GAP: u32 = 8;
/// Pictures in a row of a sheet.
const COLUMNS: usize = 8;
/// The colour between the pictures of a sheet.
const PAPER: Rgba = [40, 42, 46, 255];
/// The most pixels of a sheet.
const MAX_PIXELS: u64 = 1 << 26;

/// The text of a file if it holds a recorded case.
pub fn read(path: &Path) -> Option<String> {
    let input = Input::read(Some(path)).and_then(Input::unpacked).ok()?;
    let text = std::str::from_utf8(input.body()).ok()?;
    is_case(text).then(|| text.to_owned())
}

/// Runs the cases of files, the first of which has been read. Writes their pictures, or one sheet with all of them.
///
/// # Errors
/// When a file holds no case, or a picture cannot be written.
pub fn run(args: &RunArgs, first: String) -> Result<Status, Failure> {
    let Some(machine) = builtin::ALL.iter().find_map(|builtin| builtin.machine) else {
        return Err(Failure::usage("nothing runs recorded cases", ""));
    };
    engine::only_one(args, "recorded cases", "an engine that is fixed");
    if args.time_limit.is_some() {
        return Err(Failure::usage("recorded cases have budgets, and no time limit", "leave out `--time-limit`"));
    }
    if args.watch.counts() && (!args.more.is_empty() || args.sheet.is_some()) {
        let help = "give one case, without `--sheet`";
        return Err(Failure::usage("recorded cases are looked at one at a time", help));
    }
    let (mut pictures, mut mistakes) = (Vec::new(), false);
    let mut texts = vec![first];
    for path in &args.more {
        let message = || Failure::usage(format!("`{}` holds no recorded case", path.display()), "");
        texts.push(read(path).ok_or_else(message)?);
    }
    for (path, text) in std::iter::once(&args.launch).chain(&args.more).zip(texts) {
        mistakes |= !case(args, machine, path, &text, &mut pictures)?;
    }
    if let Some(path) = &args.sheet {
        let (width, sheet) = sheet(&pictures)?;
        let height = sheet.len() as u32 / width;
        write_png(path, width, height, &sheet)?;
        if !args.quiet {
            say(&format!("wrote {} ({width} x {height}), row by row:", path.display()));
            for row in pictures.chunks(COLUMNS) {
                let names: Vec<&str> = row.iter().map(|picture| picture.name.as_str()).collect();
                say(&format!("  {}", names.join(", ")));
            }
        }
    }
    Ok(Status::mistakes_if(mistakes))
}

/// Runs a case and writes its pictures, or keeps them for the sheet. False when it is not as it must be.
fn case(
    args: &RunArgs,
    machine: &Machine,
    path: &Path,
    text: &str,
    pictures: &mut Vec<Picture>,
) -> Result<bool, Failure> {
    let seen = match args.watch.counts() {
        true => (machine.count_case)(text),
        false => WatchReport::unwatched((machine.case)(text)),
    };
    if let Some(profile) = &seen.profile {
        watch::show(machine.fidelity, profile, "reference", &args.watch)?;
    }
    let case = match seen.ended {
        Ok(case) => case,
        Err(reason) => {
            failed(path, reason);
            return Ok(false);
        }
    };
    if !args.quiet {
        say(&format!("{}: {}, {} instructions", paint(GOOD, "ran"), case.name, thousands(case.instructions)));
    }
    for problem in &case.problems {
        say(&format!("{}: not as recorded: {problem}", path.display()));
    }
    if args.sheet.is_none() && case.pictures.is_empty() && !args.quiet {
        say("(it draws nothing)");
    }
    let several = case.pictures.len() > 1;
    for picture in case.pictures {
        let name = if several { format!("{}-{}", case.name, picture.name) } else { case.name.clone() };
        if args.sheet.is_some() {
            pictures.push(Picture { name, ..picture });
            continue;
        }
        // A name is no path.
        let file = format!("{}.png", name.replace(['/', '\\'], "_"));
        let pixels: Vec<Rgba> = picture.pixels.iter().map(pixel).collect();
        let height = pixels.len() as u32 / picture.width.max(1);
        write_png(Path::new(&file), picture.width, height, &pixels)?;
        if !args.quiet {
            say(&format!("wrote {file} ({} x {height})", picture.width));
        }
    }
    Ok(case.problems.is_empty())
}

/// A colour as it is, without its opacity.
pub fn pixel(color: &Color) -> Rgba {
    let channel = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    [channel(color[0]), channel(color[1]), channel(color[2]), 255]
}

/// All pictures on one, and its width.
fn sheet(pictures: &[Picture]) -> Result<(u32, Vec<Rgba>), Failure> {
    let height = |picture: &Picture| picture.pixels.len() as u32 / picture.width.max(1);
    let scale = |picture: &Picture| (CELL / picture.width.max(height(picture)).max(1)).max(1);
    let side = pictures.iter().map(|picture| picture.width.max(height(picture)) * scale(picture)).max().unwrap_or(CELL);
    let step = u64::from(side) + u64::from(GAP);
    let columns = pictures.len().clamp(1, COLUMNS) as u64;
    let rows = pictures.len().div_ceil(COLUMNS).max(1) as u64;
    let (wide, high) = (columns * step + u64::from(GAP), rows * step + u64::from(GAP));
    if wide * high > MAX_PIXELS {
        let message =
            format!("a sheet for {} would have {wide} x {high} pixels", count(pictures.len() as u64, "picture"));
        return Err(Failure::usage(message, "take fewer"));
    }
    let mut sheet = vec![PAPER; (wide * high) as usize];
    for (index, picture) in pictures.iter().enumerate() {
        let (left, top) = ((index % COLUMNS) as u64 * step, (index / COLUMNS) as u64 * step);
        let scale = scale(picture);
        for y in 0..height(picture) * scale {
            for x in 0..picture.width * scale {
                let from = (y / scale) as usize * picture.width as usize + (x / scale) as usize;
                let (x, y) = (left + u64::from(GAP + x), top + u64::from(GAP + y));
                sheet[(y * wide + x) as usize] = pixel(&picture.pixels[from]);
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
        let picture = |color: Color, width: u32, height: u32| Picture {
            name: String::new(),
            width,
            pixels: vec![color; (width * height) as usize],
        };
        let red = picture([1.0, 0.0, 0.0, 1.0], 2, 1);
        let (width, pixels) = sheet(&[red.clone(), picture([0.0, 2.0, -1.0, 0.0], 128, 128)]).unwrap();
        assert_eq!((width, pixels.len()), (2 * 136 + 8, (2 * 136 + 8) * 144));
        let at = |x: usize, y: usize| pixels[y * width as usize + x];
        assert_eq!([at(7, 8), at(8, 8), at(135, 71), at(8, 72)], [PAPER, [255, 0, 0, 255], [255, 0, 0, 255], PAPER]);
        assert_eq!(at(144, 8), [0, 255, 0, 255]);
        assert!(sheet(&[picture([0.0; 4], 1 << 14, 1), red]).is_err());
    }
}
