//! The outputs of a launch file for the VPU.

use std::io::Write;

use half::f16;
use isaforge_runtime::vpu::Machine;
use isaforge_runtime::vpu::picture;

use super::launch::VpuNumber;
use super::plan::{DataSource, Output, Plan, What};
use crate::failure::Failure;
use crate::output::{count, plain_stdout, write_whole};
use crate::picture::{Rgba, enlarged, write_png};
use crate::run::outputs::rows;

/// Produces the outputs of a launch file. Returns a line about each file written.
///
/// # Errors
/// When a file or standard output cannot be written.
pub fn produce(plan: &Plan) -> Result<Vec<String>, Failure> {
    let (folder, mut done) = (&plan.folder, Vec::new());
    for Output { place, what } in &plan.outputs {
        match what {
            What::Png { file, width, height, pixel, scale } => {
                let picture = match place {
                    DataSource::Tile { core, buffer } => {
                        let tile = plan.machine.tiles(*core).and_then(|tiles| tiles.get(*buffer));
                        tile.map(|tile| picture::tile(tile, plan.machine.tile_size(), *pixel))
                    }
                    DataSource::Region { address, .. } => {
                        picture::region(plan.machine.memory(), *address, *width, *height, *pixel)
                    }
                };
                let Some(picture) = picture else { continue };
                let pixels: Vec<Rgba> = picture.rgba.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect();
                let (path, pixels) = (folder.join(file), enlarged(&pixels, picture.width, *scale));
                let (width, height) = ((picture.width * scale) as u32, (picture.height * scale) as u32);
                write_png(&path, width, height, &pixels)?;
                done.push(format!("wrote {} ({width} x {height})", path.display()));
            }
            What::Raw { file } => {
                let (path, bytes) = (folder.join(file), bytes(&plan.machine, place));
                write_whole(&path, &bytes)?;
                done.push(format!("wrote {} ({})", path.display(), count(bytes.len() as u64, "byte")));
            }
            What::Print { number, from, count } => {
                let text = numbers(place, &bytes(&plan.machine, place), *number, *from, *count);
                let mut out = plain_stdout();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
        }
    }
    Ok(done)
}

fn bytes(machine: &Machine, place: &DataSource) -> Vec<u8> {
    match place {
        DataSource::Tile { core, buffer } => {
            let tile = machine.tiles(*core).and_then(|tiles| tiles.get(*buffer));
            let components = tile.into_iter().flat_map(|tile| tile.data.iter().flatten());
            components.flat_map(|component| component.to_le_bytes()).collect()
        }
        DataSource::Region { address, size } => machine.memory().read(*address, *size),
    }
}

/// Formats numbers of a tile or of memory.
fn numbers(place: &DataSource, bytes: &[u8], format: VpuNumber, from: usize, count: usize) -> String {
    let all = bytes.chunks_exact(format.bytes()).skip(from).take(count);
    let texts: Vec<String> = all.map(|bytes| number(format, bytes)).collect();
    let heading = match place {
        DataSource::Tile { core: 0, buffer } => format!("tile {buffer} as {format}"),
        DataSource::Tile { core, buffer } => format!("tile {buffer} of core {core} as {format}"),
        DataSource::Region { address, .. } => format!("memory from {address:#x} as {format}"),
    };
    rows(&heading, from, &texts)
}

fn number(format: VpuNumber, bytes: &[u8]) -> String {
    let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    let half = bits as u16;
    match format {
        VpuNumber::Hex => format!("{half:04x}"),
        VpuNumber::U16 => half.to_string(),
        VpuNumber::I16 => (half as i16).to_string(),
        VpuNumber::F16 => f16::from_bits(half).to_string(),
        VpuNumber::U32 => bits.to_string(),
        VpuNumber::I32 => (bits as i32).to_string(),
    }
}

impl VpuNumber {
    /// The size of a number in bytes.
    pub fn bytes(self) -> usize {
        if matches!(self, VpuNumber::U32 | VpuNumber::I32) { 4 } else { 2 }
    }
}
