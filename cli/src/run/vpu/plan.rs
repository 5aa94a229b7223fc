//! Reads a launch file for the VPU into a machine ready to run. Loads files, checks sizes and places.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::yaml::Node;
use isaforge_runtime::machine::DEFAULT_BUDGET;
use isaforge_runtime::vpu::picture::{MAX_PIXELS, Pixel};
use isaforge_runtime::vpu::scene::{Scene, Work};
use isaforge_runtime::vpu::{Bank, Config, MAX_MEMORY, Machine, PROGRAM, Rectangle, SetupError, TileSize};

use super::launch::{ExternalMemory, PaletteContent, TileContent, VpuLaunch, VpuNumber, VpuOutput, VpuPixel};
use crate::run::buffers::read_file;
use crate::run::launched::Launched;
use crate::run::program;

/// The maximum scale of a picture.
const MAX_SCALE: u32 = 64;

/// A machine and the outputs to produce after its run.
#[derive(Debug)]
pub struct Plan {
    /// The machine, with its work queued.
    pub machine: Machine,
    /// The setup, from which the machine can be created again.
    pub setup: Setup,
    /// The words of the program.
    pub program: Vec<u64>,
    /// The outputs; every place named there exists.
    pub outputs: Vec<Output>,
    /// The folder to which paths are relative.
    pub folder: PathBuf,
}

/// An output.
#[derive(Clone, Debug)]
pub struct Output {
    /// The source of the data.
    pub place: DataSource,
    /// The kind of output.
    pub what: What,
}

/// The source of an output's data.
#[derive(Clone, Copy, Debug)]
pub enum DataSource {
    /// A tile buffer.
    Tile {
        /// Its core.
        core: usize,
        /// Its number.
        buffer: usize,
    },
    /// A part of external memory.
    Region {
        /// The first byte.
        address: usize,
        /// The size in bytes.
        size: usize,
    },
}

/// The kind of an output.
#[derive(Clone, Debug)]
pub enum What {
    /// A picture.
    Png {
        /// The file to write.
        file: String,
        /// The width of a memory region in pixels.
        width: usize,
        /// The height of a memory region in pixels.
        height: usize,
        /// How components are converted to colours.
        pixel: Pixel,
        /// The factor by which the picture is enlarged.
        scale: usize,
    },
    /// Bytes.
    Raw {
        /// The file to write.
        file: String,
    },
    /// Numbers.
    Print {
        /// The number format.
        number: VpuNumber,
        /// The index of the first number.
        from: usize,
        /// The maximum number of numbers.
        count: usize,
    },
}

/// Reads a launch file in `folder` from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Box<dyn Launched>> {
    let launch = VpuLaunch::from_node(node, &mut Reader { sources, out })?;
    let words = program::load_words(isaforge_vpu::ISA, &launch.program, folder, sources, out);
    let mut files = Files { folder, out };
    let base = launch.scene.as_ref().map(|file| files.scene(file));
    let rectangle = launch.rectangle.as_ref().map(|given| files.rectangle(given));
    let entry = launch.entry.as_ref().map(|entry| files.below(entry.value, PROGRAM, "instruction", entry.span) as u16);
    // Without the scene, any further error could be a consequence.
    let mut scene = base.unwrap_or_else(|| Some(empty()))?;
    let (rectangle, entry) = match (&scene.work, rectangle) {
        (_, Some(rectangle)) => (rectangle?, entry.unwrap_or(scene_entry(&scene))),
        (Work::Rectangle { rectangle, .. }, None) if launch.scene.is_some() => {
            (*rectangle, entry.unwrap_or(scene_entry(&scene)))
        }
        _ => {
            let error = Diagnostic::error("L0003", launch.span, "the positions that threads cover are not given");
            files.out.push(error.help("add `rectangle: [x, y, width, height]`"));
            return None;
        }
    };
    if let Some(size) = &launch.tile_size {
        let old = scene.tile_size;
        scene.tile_size = files.tile_size(size)?;
        if scene.tile_size != old && !scene.tiles.is_empty() {
            let message = "the scene has tile buffers of another size";
            files.out.push(Diagnostic::error("L0003", size.span, message));
        }
    }
    if let Some(bank) = &launch.bank {
        scene.bank = bank.value as usize;
    }
    if let Some(globals) = &launch.globals {
        let mut bank = Bank::default();
        if globals.len() > bank.len() {
            let message = format!("a global bank has {} registers, not {}", bank.len(), globals.len());
            files.out.push(Diagnostic::error("L0003", globals.span, message));
        }
        bank.iter_mut().zip(globals.iter()).for_each(|(to, from)| *to = from.0);
        scene.global = bank;
    }
    launch.tiles.iter().flatten().for_each(|tile| files.tile(tile, &mut scene));
    launch.palettes.iter().flatten().for_each(|palette| files.palette(palette, &mut scene));
    let size = launch.memory.as_ref().map_or(scene.external.len(), |memory| files.memory(memory, &mut scene));
    let config = Config {
        cores: launch.cores.as_ref().map_or(1, |cores| cores.value as usize),
        tile_size: scene.tile_size,
        memory: size,
        seed: launch.seed.unwrap_or(0),
        budget: launch.budget.unwrap_or(DEFAULT_BUDGET),
    };
    let outputs = launch.outputs.as_deref().unwrap_or_default();
    let outputs = outputs.iter().filter_map(|output| files.output(output, &config)).collect();
    let words = words?;
    let setup = Setup { scene, words, config, rectangle, entry };
    let machine = match setup.machine() {
        Ok(machine) => machine,
        Err(error) => {
            let span = match error {
                SetupError::Program(_) => Some(launch.program.span()),
                SetupError::Bank(_) => launch.bank.as_ref().map(|given| given.span),
                SetupError::Cores(_) | SetupError::Core(_) => launch.cores.as_ref().map(|given| given.span),
                SetupError::Memory(_) => launch.memory.as_ref().map(|given| given.span),
                _ => launch.rectangle.as_ref().map(|given| given.span),
            };
            // Values that the launch file does not give come from the scene.
            let span = span.or(launch.scene.as_ref().map(|scene| scene.span)).unwrap_or(launch.span);
            files.out.push(Diagnostic::error("L0003", span, error.to_string()));
            return None;
        }
    };
    if out.has_errors() {
        return None;
    }
    Some(Box::new(Plan { machine, program: setup.words.clone(), setup, outputs, folder: folder.to_owned() }))
}

/// The parts from which a machine is created.
#[derive(Clone, Debug)]
pub struct Setup {
    scene: Scene,
    words: Vec<u64>,
    config: Config,
    rectangle: Rectangle,
    entry: u16,
}

impl Setup {
    /// Creates a machine with its work queued.
    ///
    /// # Errors
    /// When the setup is invalid.
    pub fn machine(&self) -> Result<Machine, SetupError> {
        set_up(&self.scene, &self.words, &self.config, self.rectangle, self.entry)
    }
}

fn empty() -> Scene {
    Scene {
        work: Work::Rectangle { rectangle: Rectangle { x: 0, y: 0, width: 0, height: 0 }, entry: 0 },
        bank: 0,
        global: Bank::default(),
        tile_size: TileSize::default(),
        tiles: Vec::new(),
        external: Vec::new(),
        palettes: [None, None],
    }
}

fn scene_entry(scene: &Scene) -> u16 {
    if let Work::Rectangle { entry, .. } = scene.work { entry } else { 0 }
}

fn set_up(
    scene: &Scene,
    words: &[u64],
    config: &Config,
    rectangle: Rectangle,
    entry: u16,
) -> Result<Machine, SetupError> {
    let mut machine = Machine::new(config)?;
    machine.load(words)?;
    machine.memory().write(0, &scene.external);
    for (to, from) in machine.palettes_mut().iter_mut().zip(&scene.palettes) {
        if let Some(palette) = from {
            *to = **palette;
        }
    }
    for core in 0..machine.cores() {
        *machine.bank_mut(core, scene.bank)? = scene.global;
        for (buffer, data) in &scene.tiles {
            machine.set_tile(core, *buffer, data)?;
        }
    }
    machine.spread_rectangle(rectangle, entry, scene.bank)?;
    Ok(machine)
}

/// Reads values of keys and the files they name.
pub(super) struct Files<'a> {
    pub(super) folder: &'a Path,
    pub(super) out: &'a mut Diagnostics,
}

impl Files<'_> {
    /// Reports an error.
    pub(super) fn wrong(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.out.push(Diagnostic::error(code, span, message));
    }

    /// Checks that a number is below `end`; `what` names it in the message.
    pub(super) fn below(&mut self, number: impl Into<u64>, end: usize, what: &str, span: Span) -> usize {
        let number = number.into();
        if number < end as u64 {
            return number as usize;
        }
        self.wrong("L0003", span, format!("there is no {what} {number}: the last is {}", end.saturating_sub(1)));
        0
    }

    fn bytes(&mut self, file: &Spanned<String>) -> Option<Vec<u8>> {
        let path = self.folder.join(&file.value);
        let read = read_file(&path);
        read.map_err(|error| self.wrong("L0005", file.span, format!("`{}` cannot be read: {error}", path.display())))
            .ok()
    }

    fn scene(&mut self, file: &Spanned<String>) -> Option<Scene> {
        let bytes = self.bytes(file)?;
        let scene = Scene::from_json(&String::from_utf8_lossy(&bytes));
        scene.map_err(|error| self.wrong("L0005", file.span, format!("`{}` is not a scene: {error}", file.value))).ok()
    }

    fn rectangle(&mut self, given: &Spanned<Vec<u32>>) -> Option<Rectangle> {
        let &[x, y, width, height] = given.value.as_slice() else {
            let message = format!("`rectangle` has four numbers, x, y, width and height, not {}", given.len());
            self.wrong("L0003", given.span, message);
            return None;
        };
        let place = u16::try_from(x).ok().zip(u16::try_from(y).ok());
        if place.is_none() || width == 0 || height == 0 {
            let message = "`rectangle` begins at coordinates up to 65535 and covers something";
            self.wrong("L0003", given.span, message);
        }
        place.map(|(x, y)| Rectangle { x, y, width, height })
    }

    fn tile_size(&mut self, given: &Spanned<Vec<u32>>) -> Option<TileSize> {
        let size = match given.value.as_slice() {
            &[width, height] => TileSize::new(width, height)
                .ok_or_else(|| SetupError::TileSize(u64::from(width), u64::from(height)).to_string()),
            other => Err(format!("`tile size` has two numbers, width and height, not {}", other.len())),
        };
        size.map_err(|message| self.wrong("L0003", given.span, message)).ok()
    }

    fn tile(&mut self, tile: &TileContent, scene: &mut Scene) {
        let buffer = self.below(tile.buffer.value, 4, "tile buffer", tile.buffer.span);
        let most = scene.tile_size.elements();
        let data = match (&tile.fill, &tile.file) {
            (Some(fill), None) => vec![fill.0; most],
            (None, Some(file)) => self.elements(file, most),
            _ => {
                self.wrong("L0003", tile.span, "a tile buffer needs one of `fill` and `file`");
                return;
            }
        };
        scene.tiles.retain(|(number, _)| *number != buffer);
        scene.tiles.push((buffer, data));
    }

    /// Reads at most `most` registers from a file.
    fn elements(&mut self, file: &Spanned<String>, most: usize) -> Vec<[u16; 4]> {
        let bytes = self.bytes(file).unwrap_or_default();
        if !bytes.len().is_multiple_of(8) || bytes.len() / 8 > most {
            let message = format!("`{}` has {} bytes, not 8 for each of up to {most} entries", file.value, bytes.len());
            self.wrong("L0003", file.span, message);
        }
        let half = |entry: &[u8], c: usize| u16::from_le_bytes([entry[2 * c], entry[2 * c + 1]]);
        bytes.chunks_exact(8).map(|entry| std::array::from_fn(|c| half(entry, c))).collect()
    }

    fn palette(&mut self, given: &PaletteContent, scene: &mut Scene) {
        let number = self.below(given.number.value, 2, "palette", given.number.span);
        let entries = match (&given.entries, &given.file) {
            (Some(entries), None) => {
                if entries.len() > 256 {
                    let message = format!("a palette has 256 entries, not {}", entries.len());
                    self.wrong("L0003", entries.span, message);
                }
                entries.iter().map(|entry| entry.0).collect()
            }
            (None, Some(file)) => self.elements(file, 256),
            _ => {
                self.wrong("L0003", given.span, "a palette needs one of `entries` and `file`");
                return;
            }
        };
        let mut palette = Box::new([[0; 4]; 256]);
        palette.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
        scene.palettes[number] = Some(palette);
    }

    /// Copies the given content of external memory to the scene. Returns the size of the memory.
    fn memory(&mut self, given: &ExternalMemory, scene: &mut Scene) -> usize {
        let words = given.words.as_ref().map(|words| words.iter().flat_map(|word| word.0.to_le_bytes()).collect());
        let halves = given.halves.as_ref().map(|halves| halves.iter().flat_map(|half| half.0.to_le_bytes()).collect());
        let file = given.file.as_ref().map(|file| self.bytes(file).unwrap_or_default());
        let mut contents: Vec<Vec<u8>> = [words, halves, file].into_iter().flatten().collect();
        if contents.len() > 1 {
            self.wrong("L0003", given.span, "`memory` needs one of `words`, `halves` and `file`");
        }
        // If only a size is given, the scene's content is kept.
        if let Some(content) = contents.pop() {
            scene.external = content;
        }
        let content = scene.external.len();
        let Some(size) = &given.size else { return content };
        if size.value > MAX_MEMORY as u64 {
            self.wrong("L0003", size.span, format!("external memory has at most {MAX_MEMORY} bytes"));
        } else if size.value < content as u64 {
            let message = format!("the content of external memory is {content} bytes long, more than its size");
            self.wrong("L0003", size.span, message);
        } else {
            return size.value as usize;
        }
        content
    }

    fn output(&mut self, output: &VpuOutput, config: &Config) -> Option<Output> {
        let found = match (&output.png, &output.raw, &output.print) {
            (Some(png), None, None) => {
                let from = From { tile: &png.tile, core: &png.core, address: &png.address, span: png.span };
                let pixel = pixel(png.format.unwrap_or(VpuPixel::FloatOpaque));
                let place = self.place(&from, config)?;
                let scale = png.scale.as_ref().map_or(1, |scale| scale.value);
                let size = match (place, &png.width, &png.height) {
                    (DataSource::Tile { .. }, None, None) => (config.tile_size.width(), config.tile_size.height()),
                    (DataSource::Region { .. }, Some(width), Some(height)) => {
                        (width.value as usize, height.value as usize)
                    }
                    (DataSource::Tile { .. }, ..) => {
                        self.wrong(
                            "L0006",
                            png.span,
                            "a picture of a tile buffer has its size: no `width`, no `height`",
                        );
                        return None;
                    }
                    (DataSource::Region { .. }, ..) => {
                        self.wrong("L0006", png.span, "a picture of external memory needs `width` and `height`");
                        return None;
                    }
                };
                let scaled = size.0.saturating_mul(size.1).saturating_mul((scale as usize).pow(2));
                if !(1..=MAX_SCALE).contains(&scale) || !(1..=MAX_PIXELS).contains(&scaled) {
                    let message = format!("a picture has 1 to {MAX_PIXELS} pixels and a scale of 1 to {MAX_SCALE}");
                    self.wrong("L0006", png.span, message);
                    return None;
                }
                let needed = size.0 * size.1 * pixel.bytes();
                if let DataSource::Region { size, .. } = place
                    && needed > size
                {
                    let message = format!("the picture needs {needed} bytes, memory has {size} from there");
                    self.wrong("L0006", png.span, message);
                }
                let (width, height) = size;
                Output {
                    place,
                    what: What::Png { file: png.file.clone(), width, height, pixel, scale: scale as usize },
                }
            }
            (None, Some(raw), None) => {
                let from = From { tile: &raw.tile, core: &raw.core, address: &raw.address, span: raw.span };
                let mut place = self.place(&from, config)?;
                match (&mut place, &raw.size) {
                    (_, None) => {}
                    (DataSource::Region { size, .. }, Some(wanted)) if wanted.value <= *size as u64 => {
                        *size = wanted.value as usize;
                    }
                    (DataSource::Region { size, .. }, Some(wanted)) => {
                        self.wrong("L0006", wanted.span, format!("memory has only {size} bytes from there"));
                    }
                    (DataSource::Tile { .. }, Some(wanted)) => {
                        self.wrong("L0006", wanted.span, "a tile buffer is written whole: no `size`");
                    }
                }
                Output { place, what: What::Raw { file: raw.file.clone() } }
            }
            (None, None, Some(print)) => {
                let from = From { tile: &print.tile, core: &print.core, address: &print.address, span: print.span };
                let place = self.place(&from, config)?;
                let number = print.number.unwrap_or(VpuNumber::Hex);
                let bytes = match place {
                    DataSource::Tile { .. } => config.tile_size.elements() * 8,
                    DataSource::Region { size, .. } => size,
                };
                let all = (bytes / number.bytes()) as u64;
                let first = print.from.as_ref().map_or(0, |from| from.value);
                let count = print.count.as_ref().map_or(all.saturating_sub(first), |count| count.value);
                if first.checked_add(count).is_none_or(|end| end > all) {
                    let span = print.count.as_ref().or(print.from.as_ref()).map_or(print.span, |given| given.span);
                    self.wrong("L0006", span, format!("there are only {all} numbers"));
                    return None;
                }
                Output { place, what: What::Print { number, from: first as usize, count: count as usize } }
            }
            (png, raw, print) => {
                let count = [png.is_some(), raw.is_some(), print.is_some()].iter().filter(|given| **given).count();
                let error =
                    Diagnostic::error("L0006", output.span, format!("exactly one action is needed, found {count}"));
                self.out
                    .push(error.help("write each as an item of its own: `- png: {…}`, `- raw: {…}` or `- print: {…}`"));
                return None;
            }
        };
        Some(found)
    }

    fn place(&mut self, from: &From<'_>, config: &Config) -> Option<DataSource> {
        match (from.tile, from.address) {
            (Some(tile), None) => {
                let buffer = self.below(tile.value, 4, "tile buffer", tile.span);
                let core = from.core.as_ref().map_or(0, |core| self.below(core.value, config.cores, "core", core.span));
                Some(DataSource::Tile { core, buffer })
            }
            (None, Some(address)) => {
                let size = (config.memory as u64).checked_sub(address.value);
                if size.is_none() {
                    self.wrong("L0006", address.span, format!("external memory has {} bytes", config.memory));
                }
                size.map(|size| DataSource::Region { address: address.value as usize, size: size as usize })
            }
            _ => {
                self.wrong("L0006", from.span, "an output takes from a `tile` or from an `address`: one of them");
                None
            }
        }
    }
}

/// The source keys of an output.
struct From<'a> {
    tile: &'a Option<Spanned<u32>>,
    core: &'a Option<Spanned<u32>>,
    address: &'a Option<Spanned<u64>>,
    span: Span,
}

fn pixel(format: VpuPixel) -> Pixel {
    match format {
        VpuPixel::Float => Pixel::Float,
        VpuPixel::FloatOpaque => Pixel::FloatOpaque,
        VpuPixel::Integer => Pixel::Integer,
        VpuPixel::Grey => Pixel::Grey,
        VpuPixel::Rgb1555 => Pixel::Rgb1555,
    }
}
