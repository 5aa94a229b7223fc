//! From a launch file to what can be run: names bound, files read, sizes checked.

use std::fs;
use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::reader::{FromNode, OneOrMany, Reader};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use isaforge_compiler::yaml::{Node, read_yaml};

use super::launch::{Buffer, LaunchFile, Output, PixelFormat, Uniform};
use super::program;
use crate::builtin;
use crate::machine::{Machine, Regions};

/// The largest buffer, in bytes.
const MAX_BUFFER: u64 = 1 << 30;
/// The most pixels of a picture.
const MAX_PIXELS: u64 = 1 << 26;
/// Where buffers without an address go.
const FIRST_ADDRESS: u64 = 0x10_0000;
/// Buffers without an address begin at multiples of this.
const PAGE: u64 = 0x1000;
/// The budget when none is given.
const BUDGET: u64 = 100_000_000_000;

/// A launch that can be carried out.
#[derive(Debug)]
pub struct Plan {
    /// What executes it.
    pub machine: &'static Machine,
    /// The words.
    pub program: Vec<u64>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Threads of a workgroup.
    pub local_size: [u32; 3],
    /// Bytes that a workgroup shares.
    pub shared_bytes: u32,
    /// The most instructions.
    pub budget: u64,
    /// The uniform words.
    pub uniforms: Vec<u32>,
    /// The names of the buffers, in the order of `memory`.
    pub buffers: Vec<String>,
    /// Their addresses and contents.
    pub memory: Regions,
    /// What to do afterwards; every buffer named there exists and is large enough.
    pub outputs: Vec<Output>,
    /// What paths are relative to.
    pub folder: PathBuf,
}

/// Reads a launch file as YAML. `None` after mistakes, which are in `out`.
pub fn open(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Node> {
    match sources.load(path) {
        Ok(file) => read_yaml(sources, file, out),
        Err(error) => {
            out.push(Diagnostic::error_without_place("L0005", error.to_string()));
            None
        }
    }
}

/// From a launch file in `folder`, read as YAML. `None` after mistakes, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Plan> {
    let launch = LaunchFile::from_node(node, &mut Reader { sources, out })?;
    let folder = folder.to_owned();
    let machine = machine(&launch.isa, out);
    let program = machine.and_then(|(isa, _)| program::load(isa, &launch.program, &folder, sources, out));
    let groups = directions(launch.groups.as_ref(), "groups", out);
    let local_size = directions(launch.local_size.as_ref(), "local size", out);
    let (buffers, memory) = memory(launch.buffers.as_deref().map_or(&[], Vec::as_slice), &folder, out);
    let names = Names { buffers: &buffers, memory: &memory };
    let uniforms = uniforms(launch.uniforms.as_deref().unwrap_or_default(), &names, out);
    let outputs = launch.outputs.unwrap_or_default();
    for output in &outputs {
        check_output(output, &names, out);
    }
    if out.has_errors() {
        return None;
    }
    Some(Plan {
        machine: machine?.1,
        program: program?,
        groups,
        local_size,
        shared_bytes: launch.shared_bytes.map_or(0, |bytes| bytes.value),
        budget: launch.budget.unwrap_or(BUDGET),
        uniforms,
        buffers,
        memory,
        outputs,
        folder,
    })
}

fn machine(name: &Spanned<String>, out: &mut Diagnostics) -> Option<(&'static isaforge_core::Isa, &'static Machine)> {
    let Some(found) = builtin::find(name) else {
        let known = || builtin::ALL.iter().map(|found| found.name);
        let error = Diagnostic::error("L0001", name.span, format!("there is no instruction set `{}`", name.value));
        out.push(match did_you_mean(name, known()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("expected {}", one_of(known()))),
        });
        return None;
    };
    if found.machine.is_none() {
        let message = format!("programs of `{}` can be read and written, but not run", found.name);
        out.push(Diagnostic::error("L0001", name.span, message));
    }
    Some((found.words()?, found.machine?))
}

fn directions(given: Option<&Spanned<OneOrMany<u32>>>, what: &str, out: &mut Diagnostics) -> [u32; 3] {
    let mut numbers = [1; 3];
    let Some(given) = given else { return numbers };
    if given.is_empty() || given.len() > 3 {
        let message = format!("`{what}` has one to three numbers, not {}", given.len());
        out.push(Diagnostic::error("L0003", given.span, message));
    } else if given.contains(&0) {
        let message = format!("`{what}` is zero in some direction, so that nothing would run");
        out.push(Diagnostic::error("L0003", given.span, message));
    }
    for (number, given) in numbers.iter_mut().zip(given.iter()) {
        *number = *given;
    }
    numbers
}

/// The buffers by name.
struct Names<'a> {
    buffers: &'a [String],
    memory: &'a Regions,
}

impl Names<'_> {
    /// Address and size of a buffer; an unknown name is reported.
    fn find(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<(u64, u64)> {
        let found = self.buffers.iter().position(|known| *known == name.value);
        if found.is_none() {
            let known = || self.buffers.iter().map(String::as_str);
            let error = Diagnostic::error("L0004", name.span, format!("there is no buffer `{}`", name.value));
            out.push(match did_you_mean(name, known()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None if self.buffers.is_empty() => error.help("name it under `buffers:`"),
                None => error.help(format!("expected {}", one_of(known()))),
            });
        }
        let (address, content) = self.memory.get(found?)?;
        Some((*address, content.len() as u64))
    }
}

fn memory(given: &[(Spanned<String>, Buffer)], folder: &Path, out: &mut Diagnostics) -> (Vec<String>, Regions) {
    let names = given.iter().map(|(name, _)| name.value.clone()).collect();
    let contents: Vec<Vec<u8>> = given.iter().map(|(name, buffer)| content(name, buffer, folder, out)).collect();
    let mut taken: Vec<(u64, u64, Span)> = Vec::new();
    for ((_, buffer), content) in given.iter().zip(&contents) {
        let Some(address) = &buffer.address else { continue };
        let Some(end) = address.checked_add(content.len() as u64) else {
            out.push(Diagnostic::error("L0003", address.span, "the buffer ends beyond the last address"));
            continue;
        };
        let overlap = taken.iter().find(|(first, last, _)| address.value < *last && *first < end);
        if let Some((_, _, other)) = overlap {
            let error = Diagnostic::error("L0003", address.span, "two buffers overlap").label("this one");
            out.push(error.secondary(*other, "and this one"));
        }
        taken.push((address.value, end, address.span));
    }
    let mut free = FIRST_ADDRESS;
    let memory = given.iter().zip(contents).map(|((_, buffer), content)| {
        let size = content.len() as u64;
        let address = buffer.address.as_ref().map(|address| address.value).unwrap_or_else(|| {
            // Each step passes at least one of the buffers that are in the way.
            while let Some((_, end, _)) =
                taken.iter().find(|(first, end, _)| free < *end && *first < free.saturating_add(size))
            {
                free = end.saturating_add(PAGE - 1) & !(PAGE - 1);
            }
            let here = free;
            free = (free.saturating_add(size.max(1)).saturating_add(PAGE - 1)) & !(PAGE - 1);
            here
        });
        (address, content)
    });
    (names, memory.collect())
}

fn content(name: &Spanned<String>, buffer: &Buffer, folder: &Path, out: &mut Diagnostics) -> Vec<u8> {
    let words = buffer.words.as_ref().map(|words| words.iter().flat_map(|word| word.0.to_le_bytes()).collect());
    let floats = buffer.f32.as_ref().map(|floats| floats.iter().flat_map(|float| float.0.to_le_bytes()).collect());
    let file = buffer.file.as_ref().map(|file| match fs::read(folder.join(&file.value)) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("`{}` cannot be read: {error}", folder.join(&file.value).display());
            out.push(Diagnostic::error("L0005", file.span, message));
            Vec::new()
        }
    });
    let mut given: Vec<Vec<u8>> = [words, floats, file].into_iter().flatten().collect();
    if given.len() > 1 || (given.is_empty() && buffer.size.is_none()) {
        let message = format!("the buffer `{}` needs one of `words`, `f32` and `file`, or a `size`", name.value);
        let label = if given.is_empty() { "nothing says what is in it" } else { "more than one says what is in it" };
        out.push(Diagnostic::error("L0003", name.span, message).label(label));
    }
    let mut bytes = given.pop().unwrap_or_default();
    let Some(size) = &buffer.size else { return bytes };
    if size.value > MAX_BUFFER {
        let message = format!("a buffer has at most {MAX_BUFFER} bytes");
        out.push(Diagnostic::error("L0003", size.span, message));
    } else if size.value < bytes.len() as u64 {
        let message = format!("the content of `{}` is {} bytes long, more than its size", name.value, bytes.len());
        out.push(Diagnostic::error("L0003", size.span, message));
    } else {
        bytes.resize(size.value as usize, 0);
    }
    bytes
}

fn uniforms(given: &[Uniform], names: &Names<'_>, out: &mut Diagnostics) -> Vec<u32> {
    let mut words = Vec::with_capacity(given.len());
    for uniform in given {
        match uniform {
            Uniform::Word(word) => words.push(*word),
            Uniform::Address(name) => {
                let address = names.find(name, out).map_or(0, |(address, _)| address);
                words.extend([address as u32, (address >> 32) as u32]);
            }
        }
    }
    words
}

fn check_output(output: &Output, names: &Names<'_>, out: &mut Diagnostics) {
    if output.count() != 1 {
        let error =
            Diagnostic::error("L0006", output.span, format!("one thing to do is needed, not {}", output.count()));
        out.push(error.help("write each as an item of its own: `- png: {…}`, `- raw: {…}` or `- print: {…}`"));
        return;
    }
    let Some((_, size)) = output.buffer().and_then(|name| names.find(name, out)) else { return };
    if let Some(png) = &output.png {
        let pixel = if png.format == Some(PixelFormat::Rgba32f) { 16 } else { 4 };
        let pixels = u64::from(png.width.value) * u64::from(png.height.value);
        if pixels == 0 || pixels > MAX_PIXELS {
            let message = format!("a picture has 1 to {MAX_PIXELS} pixels, not {pixels}");
            out.push(Diagnostic::error("L0006", png.width.span, message));
        } else if pixels * pixel > size {
            let message = format!("the picture needs {} bytes, the buffer has {size}", pixels * pixel);
            out.push(Diagnostic::error("L0006", png.width.span, message).secondary(png.buffer.span, "this buffer"));
        }
    }
    if let Some(print) = &output.print {
        let (from, words) = (print.from.as_ref().map_or(0, |from| from.value), size / 4);
        let end = print.count.as_ref().map_or(Some(from), |count| from.checked_add(count.value));
        if from > words || end.is_none_or(|end| end > words) {
            let span = print.count.as_ref().or(print.from.as_ref()).map_or(print.buffer.span, |given| given.span);
            out.push(Diagnostic::error("L0006", span, format!("the buffer has only {words} words")));
        }
    }
}
