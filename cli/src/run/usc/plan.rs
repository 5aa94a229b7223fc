//! Reads a launch file for the USC into a program, a machine and its tasks. Loads files, checks sizes and names.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::yaml::Node;
use isaforge_core::Tables;
use isaforge_runtime::Memory;
use isaforge_runtime::machine::DEFAULT_BUDGET;
use isaforge_runtime::usc::texture::Texture;
use isaforge_runtime::usc::{Machine, Program, Register, Software, Task};

use super::Left;
use super::launch::{UscLaunch, UscMemory, UscOutput, UscRegister, UscTexture};
use crate::run::buffers::read_file;
use crate::run::launched::Launched;
use crate::run::program;

/// The maximum number of pixels or instances of a run.
const MAX_RUN: u64 = 1 << 24;
/// The maximum number of instances without a rectangle: all their tasks exist at the same time.
const MAX_INSTANCES: u32 = 1 << 14;
/// The maximum number of registers of one entry.
const MAX_VALUES: usize = 4096;

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Initial values of task registers.
#[derive(Clone, Debug)]
pub enum Given {
    /// One value for all instances.
    All(Register, u32),
    /// A value per instance, consecutive over all tasks.
    Each(Register, Vec<u32>),
}

/// A launch that can be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub program: Program,
    /// The machine with memory, textures and shared registers initialised.
    pub machine: Machine<Software>,
    /// The rectangle of pixels; `None` if the run has plain instances.
    pub rectangle: Option<Rectangle>,
    /// The number of instances.
    pub instances: u32,
    /// The initial registers of each task.
    pub registers: Vec<Given>,
    /// The maximum number of groups to execute.
    pub budget: u64,
    /// The outputs to produce after the run.
    pub outputs: Vec<UscOutput>,
    /// The folder to which paths are relative.
    pub folder: PathBuf,
    /// The results of the last run.
    pub left: Left,
}

/// Reads a launch file in `folder` from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Box<dyn Launched>> {
    let launch = UscLaunch::from_node(node, &mut Reader { sources, out })?;
    let bytes = program::load((Tables::Groups(isaforge_usc::ISA), 0), &launch.program, folder, sources, out);
    let mut check = Check { folder, out };
    let rectangle = launch.rectangle.as_ref().map(|given| check.rectangle(given));
    if let (Some(_), Some(instances)) = (&rectangle, &launch.instances) {
        check.wrong(instances.span, "a rectangle has an instance for each pixel; leave out `instances`");
    }
    let instances = launch.instances.as_ref().map_or(1, |given| {
        if given.value == 0 || given.value > MAX_INSTANCES {
            check.wrong(given.span, format!("`instances` is 1 to {MAX_INSTANCES}"));
        }
        given.value.clamp(1, MAX_INSTANCES)
    });
    let mut machine = Machine::new(Software::default());
    launch.memory.iter().flatten().for_each(|memory| check.memory(memory, &mut machine.host.memory));
    machine.host.textures = launch.textures.iter().flatten().map(|texture| check.texture(texture)).collect();
    let mut registers = Vec::new();
    for given in launch.registers.iter().flatten() {
        check.registers(given, rectangle.is_some(), &mut machine, &mut registers);
    }
    let outputs = launch.outputs.unwrap_or_default();
    outputs.iter().for_each(|output| check.output(output, launch.span, rectangle.is_some(), &machine.host.memory));
    let program = bytes.and_then(|bytes| match Program::load(&bytes) {
        Ok(program) => Some(program),
        Err(error) => {
            out.push(Diagnostic::error("L0002", launch.program.span(), error.to_string()));
            None
        }
    });
    let rectangle = match rectangle {
        Some(rectangle) => Some(rectangle?),
        None => None,
    };
    let budget = launch.budget.unwrap_or(DEFAULT_BUDGET);
    let program = program?;
    if out.has_errors() {
        return None;
    }
    let (folder, left) = (folder.to_owned(), Left::default());
    Some(Box::new(Plan { program, machine, rectangle, instances, registers, budget, outputs, folder, left }))
}

/// Checks the values of keys and reads the files they name.
struct Check<'a> {
    folder: &'a Path,
    out: &'a mut Diagnostics,
}

impl Check<'_> {
    fn wrong(&mut self, span: Span, message: impl Into<String>) {
        self.out.push(Diagnostic::error("L0003", span, message));
    }

    fn file(&mut self, file: &Spanned<String>) -> Vec<u8> {
        let path = self.folder.join(&file.value);
        read_file(&path).unwrap_or_else(|error| {
            let message = format!("`{}` cannot be read: {error}", path.display());
            self.out.push(Diagnostic::error("L0005", file.span, message));
            Vec::new()
        })
    }

    fn rectangle(&mut self, given: &Spanned<Vec<u32>>) -> Option<Rectangle> {
        let &[x, y, width, height] = given.value.as_slice() else {
            let message = format!("`rectangle` has four numbers, x, y, width and height, not {}", given.len());
            self.wrong(given.span, message);
            return None;
        };
        let area = u64::from(width) * u64::from(height);
        let ends = x.checked_add(width).zip(y.checked_add(height)).is_some_and(|(x, y)| x.max(y) <= 1 << 24);
        if area == 0 || area > MAX_RUN || !ends {
            self.wrong(given.span, format!("`rectangle` covers 1 to {MAX_RUN} pixels and ends at 2^24 at the latest"));
            return None;
        }
        Some(Rectangle { x, y, width, height })
    }

    fn register(&mut self, name: &Spanned<String>) -> Option<Register> {
        let found = name.value.parse::<Register>();
        found.map_err(|error| self.wrong(name.span, error.to_string())).ok()
    }

    fn registers(&mut self, given: &UscRegister, pixels: bool, machine: &mut Machine<Software>, into: &mut Vec<Given>) {
        let values: Vec<u32> = match (&given.words, &given.f32) {
            (Some(words), None) => words.iter().map(|word| word.0).collect(),
            (None, Some(floats)) => floats.iter().map(|float| float.0.to_bits()).collect(),
            _ => return self.wrong(given.span, "registers need one of `words` and `f32`"),
        };
        let Some(first) = self.register(&given.register) else { return };
        // A task that is never run: it tells which registers can be set.
        let probe = Task::new(1).ok();
        let settable = |register| probe.clone().is_some_and(|mut task| task.fill(register, 0).is_ok());
        if given.each == Some(true) {
            if pixels || !settable(first) {
                return self.wrong(given.span, "`each` needs `instances` and a register that each of them has");
            }
            return into.push(Given::Each(first, values));
        }
        if values.len() > MAX_VALUES {
            return self.wrong(given.span, format!("{} values are more registers than any bank has", values.len()));
        }
        for (n, value) in values.into_iter().enumerate() {
            let Some(register) = first.plus(n as u16) else {
                let message = format!("value {n} lies beyond the last register after `{}`", given.register.value);
                return self.wrong(given.register.span, message);
            };
            if machine.set(register, value).is_err() {
                if !settable(register) {
                    let message = format!("`{}` is fixed and cannot be set", given.register.value);
                    return self.wrong(given.register.span, message);
                }
                into.push(Given::All(register, value));
            }
        }
    }

    fn memory(&mut self, given: &UscMemory, memory: &mut Memory) {
        let words = given.words.as_ref().map(|words| words.iter().flat_map(|word| word.0.to_le_bytes()).collect());
        let floats = given.f32.as_ref().map(|floats| floats.iter().flat_map(|float| float.0.to_le_bytes()).collect());
        let file = given.file.as_ref().map(|file| self.file(file));
        let mut contents: Vec<Vec<u8>> = [words, floats, file].into_iter().flatten().collect();
        if contents.len() > 1 {
            self.wrong(given.span, "memory needs one of `words`, `f32` and `file`");
        }
        let mut content = contents.pop().unwrap_or_default();
        if let Some(size) = &given.size {
            if size.value > Memory::MAX_BYTES as u64 {
                return self.wrong(size.span, format!("memory has at most {} bytes", Memory::MAX_BYTES));
            }
            if size.value < content.len() as u64 {
                self.wrong(size.span, format!("the content is {} bytes long, more than the size", content.len()));
            }
            content.resize(size.value as usize, 0);
        }
        if let Err(error) = memory.map(given.address.value, content) {
            self.wrong(given.address.span, error.to_string());
        }
    }

    fn texture(&mut self, given: &UscTexture) -> Texture {
        let &[width, height] = given.size.value.as_slice() else {
            self.wrong(given.size.span, "`size` has two numbers, width and height");
            return Texture::default();
        };
        let values: Vec<f32> = match (&given.f32, &given.file) {
            (Some(floats), None) => floats.iter().map(|float| float.0).collect(),
            (None, Some(file)) => {
                self.file(file).chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
            }
            _ => {
                self.wrong(given.span, "a texture needs one of `f32` and `file`");
                Vec::new()
            }
        };
        if values.len() as u64 != u64::from(width) * u64::from(height) * 4 {
            let message = format!("{width} x {height} texels have four numbers each, not {} in all", values.len());
            self.wrong(given.span, message);
        }
        let texture = Texture::new(width, height, values.chunks_exact(4).map(|t| [t[0], t[1], t[2], t[3]]).collect());
        // After an error, the size is arbitrary.
        let whole = values.len() as u64 == u64::from(width) * u64::from(height) * 4;
        if whole && given.levels == Some(true) { texture.with_levels() } else { texture }
    }

    fn output(&mut self, output: &UscOutput, launch: Span, pixels: bool, memory: &Memory) {
        if output.png.is_some() && !pixels {
            self.wrong(output.span, "a picture needs a `rectangle`");
        }
        if let Some(scale) = output.png.as_ref().and_then(|png| png.scale.as_ref())
            && !(1..=64).contains(&scale.value)
        {
            self.wrong(scale.span, "`scale` is 1 to 64");
        }
        let readable = |address: &Spanned<u64>, size: u64, this: &mut Self| {
            let size = usize::try_from(size).unwrap_or(usize::MAX).min(Memory::MAX_BYTES + 1);
            if size > Memory::MAX_BYTES || memory.read(address.value, &mut vec![0; size]).is_err() {
                this.wrong(address.span, format!("there are no {size} bytes of memory at {:#x}", address.value));
            }
        };
        if let Some(raw) = &output.raw {
            readable(&raw.address, raw.size.value, self);
        }
        if let Some(print) = &output.print {
            match (&print.register, &print.vertex, &print.address) {
                (Some(name), None, None) => {
                    let register = self.register(name);
                    if pixels {
                        self.wrong(name.span, "registers are printed of `instances`, not of a rectangle");
                    } else if matches!(register, Some(Register::Indexed { .. } | Register::Timer)) {
                        self.wrong(name.span, "this register has no value of its own");
                    }
                }
                (None, Some(vertex), None) if pixels => self.wrong(vertex.span, "pixels have no vertex outputs"),
                (None, Some(_), None) => {}
                (None, None, Some(address)) => readable(address, print.count.unwrap_or(1).saturating_mul(4), self),
                _ => self.wrong(print.span, "`print` needs one of `register`, `vertex` and `address`"),
            }
        }
        if output.png.is_none() && output.raw.is_none() && output.print.is_none() {
            self.wrong(
                if output.span == launch { launch } else { output.span },
                "nothing to do: add `png`, `raw` or `print`",
            );
        }
    }
}
