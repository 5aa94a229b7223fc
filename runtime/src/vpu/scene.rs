//! The start state of a program as data: registers or a rectangle, tiles, memory, palettes.
//!
//! The format is JSON, that of `start` in a line of the conformance corpus. A single group has `local`, `shared`,
//! `global`, `flags` and `position`; a rectangle has `rect` (x, y, width, height), `entry`, `bank` and `global`. Both
//! may have `tile_size`, `tile` (by buffer: `width`, `height`, `data`), `external` (hex bytes), `lut0` and `lut1`.
//! Components are strings of four hexadecimal digits; everything missing is 0.

use serde_json::{Map, Value};

use crate::vpu::error::SetupError;
use crate::vpu::group::Registers;
use crate::vpu::machine::{Config, Machine};
use crate::vpu::memory::MAX_MEMORY;
use crate::vpu::processor::Rectangle;
use crate::vpu::tiles::{TILE_BUFFERS, TileSize};
use crate::vpu::world::{Bank, Palette};

/// Why a scene cannot be read or set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// A part of it is malformed.
    #[error("`{0}` must be {1}")]
    Shape(String, &'static str),
    /// The machine refuses it.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// One group of four living threads, from instruction 0.
    Group {
        /// Registers and flags.
        registers: Box<Registers>,
        /// The position of thread 0.
        position: (u16, u16),
    },
    /// Groups that cover a rectangle.
    Rectangle {
        /// The rectangle to cover.
        rectangle: Rectangle,
        /// Their first instruction.
        entry: u16,
    },
}

/// The start state of a program.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What runs.
    pub work: Work,
    /// The number of the global bank that the groups use.
    pub bank: usize,
    /// The content of that bank.
    pub global: Bank,
    /// The size of the tile buffers.
    pub tile_size: TileSize,
    /// The contents of tile buffers, by number.
    pub tiles: Vec<(usize, Vec<[u16; 4]>)>,
    /// The content of external memory, which also defines its size.
    pub external: Vec<u8>,
    /// The palettes that are not all 0.
    pub palettes: [Option<Box<Palette>>; 2],
}

type Found<T> = Result<T, SceneError>;

fn shape<T>(name: &str, expected: &'static str) -> Found<T> {
    Err(SceneError::Shape(name.to_owned(), expected))
}

pub(crate) fn number(value: &Value, name: &str, most: u64) -> Found<u64> {
    match value.as_u64() {
        Some(n) if n <= most => Ok(n),
        _ => shape(name, "a number in range"),
    }
}

fn list<'v>(value: &'v Value, name: &str) -> Found<&'v [Value]> {
    value.as_array().map(Vec::as_slice).map_or_else(|| shape(name, "a list"), Ok)
}

fn numbers<const N: usize>(value: &Value, name: &str, most: u64) -> Found<[u64; N]> {
    let items = list(value, name)?;
    let mut result = [0; N];
    if items.len() != N {
        return shape(name, "a list of the right length");
    }
    for (to, item) in result.iter_mut().zip(items) {
        *to = number(item, name, most)?;
    }
    Ok(result)
}

fn components(value: &Value, name: &str) -> Found<[u16; 4]> {
    let items = list(value, name)?;
    let mut result = [0; 4];
    if items.len() != 4 {
        return shape(name, "four components");
    }
    for (to, item) in result.iter_mut().zip(items) {
        let digits = item.as_str().filter(|s| s.len() == 4).and_then(|s| u16::from_str_radix(s, 16).ok());
        *to = digits.map_or_else(|| shape(name, "strings of four hexadecimal digits"), Ok)?;
    }
    Ok(result)
}

fn rows<const N: usize>(value: Option<&Value>, name: &str) -> Found<[[u16; 4]; N]> {
    let mut result = [[0; 4]; N];
    let Some(value) = value else { return Ok(result) };
    let items = list(value, name)?;
    if items.len() > N {
        return shape(name, "a shorter list");
    }
    for (to, item) in result.iter_mut().zip(items) {
        *to = components(item, name)?;
    }
    Ok(result)
}

pub(crate) fn hex_bytes(value: &Value, name: &str) -> Found<Vec<u8>> {
    let text = value.as_str().filter(|s| s.is_ascii() && s.len() % 2 == 0 && s.len() / 2 <= MAX_MEMORY);
    let Some(text) = text else { return shape(name, "a string of hexadecimal bytes") };
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|s| u8::from_str_radix(s, 16).ok());
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    bytes.map_or_else(|| shape(name, "a string of hexadecimal bytes"), Ok)
}

fn tile_size(start: &Map<String, Value>) -> Found<TileSize> {
    let size = |width: u64, height: u64| {
        let size = u32::try_from(width).ok().zip(u32::try_from(height).ok()).and_then(|(w, h)| TileSize::new(w, h));
        size.ok_or(SceneError::Setup(SetupError::TileSize(width, height)))
    };
    if let Some(value) = start.get("tile_size") {
        let [width, height] = numbers(value, "tile_size", u64::MAX)?;
        return size(width, height);
    }
    let tiles = start.get("tile").and_then(Value::as_object);
    match tiles.and_then(|t| t.values().next()) {
        Some(tile) => size(number(&tile["width"], "width", u64::MAX)?, number(&tile["height"], "height", u64::MAX)?),
        None => Ok(TileSize::default()),
    }
}

pub(crate) fn tiles(value: Option<&Value>, size: TileSize) -> Found<Vec<(usize, Vec<[u16; 4]>)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Some(tiles) = value.as_object() else { return shape("tile", "a map of buffers") };
    let mut result = Vec::new();
    for (name, tile) in tiles {
        let Some(buffer) = name.parse().ok().filter(|n| *n < TILE_BUFFERS) else {
            return shape(name, "a buffer, 0 to 3");
        };
        let items = list(&tile["data"], "data")?;
        if items.len() != size.elements() {
            return shape("data", "an entry for every element");
        }
        result.push((buffer, items.iter().map(|item| components(item, "data")).collect::<Found<_>>()?));
    }
    Ok(result)
}

fn registers(start: &Map<String, Value>) -> Found<Registers> {
    let mut registers = Registers { shared: rows(start.get("shared"), "shared")?, ..Registers::default() };
    if let Some(value) = start.get("local") {
        for (to, item) in registers.local.iter_mut().zip(list(value, "local")?) {
            *to = rows(Some(item), "local")?;
        }
    }
    if let Some(value) = start.get("flags") {
        for (to, item) in registers.flags.iter_mut().zip(list(value, "flags")?) {
            let flags: [u64; 4] = numbers(item, "flags", 1)?;
            *to = flags.iter().enumerate().fold(0, |set, (c, flag)| set | (*flag as u8) << c);
        }
    }
    Ok(registers)
}

impl Scene {
    /// Reads a scene.
    ///
    /// # Errors
    /// When the scene is malformed.
    pub fn from_json(text: &str) -> Result<Self, SceneError> {
        let value = serde_json::from_str(text).map_err(|e| SceneError::Json(e.to_string()))?;
        Scene::from_value(&value)
    }

    pub(crate) fn from_value(value: &Value) -> Found<Self> {
        let Some(start) = value.as_object() else { return shape("start", "a map") };
        let tile_size = tile_size(start)?;
        let work = match start.get("rect") {
            Some(rect) => {
                let [x, y, width, height] = numbers(rect, "rect", 0xffff)?;
                let rectangle = Rectangle { x: x as u16, y: y as u16, width: width as u32, height: height as u32 };
                let entry = start.get("entry").map_or(Ok(0), |v| number(v, "entry", 1023))? as u16;
                Work::Rectangle { rectangle, entry }
            }
            None => {
                let position = start.get("position").map_or(Ok([0; 2]), |v| numbers(v, "position", 0xffff))?;
                let position = (position[0] as u16, position[1] as u16);
                Work::Group { registers: Box::new(registers(start)?), position }
            }
        };
        let palette = |name: &str| start.get(name).map(|v| rows(Some(v), name).map(Box::new)).transpose();
        Ok(Scene {
            work,
            bank: start.get("bank").map_or(Ok(0), |v| number(v, "bank", 47))? as usize,
            global: rows(start.get("global"), "global")?,
            tile_size,
            tiles: tiles(start.get("tile"), tile_size)?,
            external: start.get("external").map_or(Ok(Vec::new()), |v| hex_bytes(v, "external"))?,
            palettes: [palette("lut0")?, palette("lut1")?],
        })
    }

    /// Creates a machine in this start state that holds a program. All cores get the tiles and the bank; the first
    /// gets the work.
    ///
    /// # Errors
    /// When the machine refuses it.
    pub fn machine(&self, words: &[u64], config: &Config) -> Result<Machine, SceneError> {
        let memory = config.memory.max(self.external.len());
        let mut machine = Machine::new(&Config { tile_size: self.tile_size, memory, ..config.clone() })?;
        machine.load(words)?;
        machine.memory().write(0, &self.external);
        for (to, from) in machine.palettes_mut().iter_mut().zip(&self.palettes) {
            if let Some(palette) = from {
                *to = **palette;
            }
        }
        for core in 0..machine.cores() {
            *machine.bank_mut(core, self.bank)? = self.global;
            for (buffer, data) in &self.tiles {
                machine.set_tile(core, *buffer, data)?;
            }
        }
        match &self.work {
            Work::Group { registers, position } => {
                machine.start_group(0, 0, *position, self.bank, (**registers).clone())?
            }
            Work::Rectangle { rectangle, entry } => machine.start_rectangle(0, *rectangle, *entry, self.bank)?,
        }
        Ok(machine)
    }
}
