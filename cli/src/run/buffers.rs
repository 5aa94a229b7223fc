//! The memory of a launch: reads contents, assigns addresses, resolves names.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::source::{Span, Spanned};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use isaforge_runtime::{Launch, Memory};

use super::launch::{Buffer, BufferNumber, Output, PixelFormat, Uniform};
use crate::input;

/// The maximum total memory of a launch in bytes.
const MAX_MEMORY: u64 = Memory::MAX_BYTES as u64;
/// The maximum number of pixels of a picture.
const MAX_PIXELS: u64 = 1 << 26;
/// The lowest address for buffers without an explicit address.
const FIRST_ADDRESS: u64 = 0x10_0000;
/// The alignment of buffers without an explicit address.
const PAGE: u64 = 0x1000;
/// The alignment of buffers without an explicit address in an address space, which may be small.
const STEP: u64 = 16;

/// The mistake of a buffer that no address reaches.
const BEYOND: &str = "the buffer ends beyond the last address";

/// The buffers of a launch, by name.
#[derive(Clone, Debug)]
pub struct Buffers {
    names: Vec<String>,
    /// Their addresses and contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// For each: the index of its address space; `None` for the common memory.
    pub spaces: Vec<Option<usize>>,
}

/// An address space with a memory of its own.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Its name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: u64,
}

impl Buffers {
    /// Reads the buffers of a launch file in `folder`.
    pub fn read(given: &[(Spanned<String>, Buffer)], folder: &Path, out: &mut Diagnostics) -> Self {
        Buffers::beside(None, u64::MAX, &[], given, folder, out)
    }

    /// Reads the buffers of a launch file whose program lies in the common memory, at these addresses; `last` is the
    /// highest address there.
    pub fn beside(
        program: Option<(Range<u64>, Span)>,
        last: u64,
        spaces: &[Space],
        given: &[(Spanned<String>, Buffer)],
        folder: &Path,
        out: &mut Diagnostics,
    ) -> Self {
        let names = given.iter().map(|(name, _)| name.value.clone()).collect();
        let mut left = MAX_MEMORY;
        let contents: Vec<Vec<u8>> = given
            .iter()
            .map(|(name, buffer)| {
                let bytes = content(name, buffer, left, folder, out);
                left = left.saturating_sub(bytes.len() as u64);
                bytes
            })
            .collect();
        let within: Vec<Option<usize>> = given.iter().map(|(_, buffer)| space(spaces, buffer, out)).collect();
        // Those of the common memory are in list 0.
        let list = |space: Option<usize>| space.map_or(0, |space| space + 1);
        let mut taken: Vec<Vec<(u64, u64, Span)>> = vec![Vec::new(); spaces.len() + 1];
        for (((_, buffer), content), space) in given.iter().zip(&contents).zip(&within) {
            let Some(address) = &buffer.address else { continue };
            let Some(end) = address.checked_add(content.len() as u64) else {
                out.push(Diagnostic::error("L0003", address.span, BEYOND));
                continue;
            };
            if let Some((code, span)) =
                program.as_ref().filter(|(code, _)| space.is_none() && address.value < code.end && code.start < end)
            {
                let message =
                    format!("the buffer overlaps the program, which is at {:#x} to {:#x}", code.start, code.end - 1);
                let error = Diagnostic::error("L0003", address.span, message).label("this buffer");
                out.push(
                    error
                        .secondary(*span, "the program")
                        .help("move the buffer, or place the program elsewhere with `address:`"),
                );
            }
            let taken = &mut taken[list(*space)];
            let overlap = taken.iter().find(|(first, last, _)| address.value < *last && *first < end);
            if let Some((_, _, other)) = overlap {
                let error = Diagnostic::error("L0003", address.span, "two buffers overlap").label("this one");
                out.push(error.secondary(*other, "and this one"));
            }
            taken.push((address.value, end, address.span));
        }
        taken[0].extend(program.map(|(code, span)| (code.start, code.end, span)));
        let mut free = vec![0; spaces.len() + 1];
        free[0] = FIRST_ADDRESS;
        let memory = given.iter().zip(contents).zip(&within).map(|(((name, buffer), content), space)| {
            let size = content.len() as u64;
            let (step, taken, free) =
                (if space.is_none() { PAGE } else { STEP }, &taken[list(*space)], &mut free[list(*space)]);
            let address = buffer.address.as_ref().map(|address| address.value).unwrap_or_else(|| {
                // Each iteration skips at least one of the buffers in the way.
                while let Some((_, end, _)) =
                    taken.iter().find(|(first, end, _)| *free < *end && *first < free.saturating_add(size))
                {
                    *free = end.saturating_add(step - 1) & !(step - 1);
                }
                let here = *free;
                *free = (free.saturating_add(size.max(1)).saturating_add(step - 1)) & !(step - 1);
                here
            });
            if let Some(of) =
                space.and_then(|space| spaces.get(space)).filter(|of| address.saturating_add(size) > of.size)
            {
                let beyond =
                    format!("the buffer ends beyond the address space `{}`, which has {} bytes", of.name, of.size);
                let full = format!("the address space `{}` has no room left for this buffer", of.name);
                out.push(match &buffer.address {
                    Some(address) => Diagnostic::error("L0003", address.span, beyond),
                    None if address == 0 => Diagnostic::error("L0003", name.span, beyond),
                    None => Diagnostic::error("L0003", name.span, full).help("give the buffers addresses"),
                });
            }
            if space.is_none() && address.saturating_add(size.max(1) - 1) > last {
                let span = buffer.address.as_ref().map_or(name.span, |address| address.span);
                let error = Diagnostic::error("L0003", span, BEYOND);
                out.push(error.help(format!("the instruction set has addresses up to {last:#x}")));
            }
            (address, content)
        });
        let memory = memory.collect();
        Buffers { names, memory, spaces: within }
    }

    /// Maps all buffers and moves their contents into the memory.
    ///
    /// # Errors
    /// When they cannot be mapped.
    pub fn map(&mut self) -> Result<Memory, String> {
        let mut memory = Memory::new();
        for (base, bytes) in self.memory.iter_mut().filter(|(_, bytes)| !bytes.is_empty()) {
            memory.map(*base, std::mem::take(bytes)).map_err(|error| error.to_string())?;
        }
        Ok(memory)
    }

    /// Moves the contents of the memory back into the buffers.
    pub fn take_back(&mut self, mut memory: Memory) {
        for (base, bytes) in &mut self.memory {
            *bytes = memory.unmap(*base).unwrap_or_default();
        }
    }

    /// The address and size of a buffer. An unknown name is reported.
    pub fn find(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<(u64, u64)> {
        let found = self.names.iter().position(|known| *known == name.value);
        if found.is_none() && !out.pass_over(&name.value) {
            let known = || self.names.iter().map(String::as_str);
            let error = Diagnostic::error("L0004", name.span, format!("there is no buffer `{}`", name.value));
            out.push(match did_you_mean(name, known()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None if self.names.is_empty() => error.help("name it under `buffers:`"),
                None => error.help(format!("expected {}", one_of(known()))),
            });
        }
        let (address, content) = self.memory.get(found?)?;
        Some((*address, content.len() as u64))
    }

    /// The content of a buffer.
    pub fn content(&self, name: &str) -> Option<&[u8]> {
        let index = self.names.iter().position(|known| known == name)?;
        self.memory.get(index).map(|(_, bytes)| bytes.as_slice())
    }

    /// The words of the uniforms, some of which are addresses of buffers.
    pub fn uniforms(&self, given: Option<&Spanned<Vec<Uniform>>>, out: &mut Diagnostics) -> Vec<u32> {
        let mut words = Vec::new();
        for uniform in given.iter().flat_map(|given| given.iter()) {
            match uniform {
                Uniform::Word(word) => words.push(*word),
                Uniform::Address(name) => {
                    let address = self.find(name, out).map_or(0, |(address, _)| address);
                    words.extend([address as u32, (address >> 32) as u32]);
                }
            }
        }
        if let Some(given) = given.filter(|_| words.len() as u64 > Launch::MAX_UNIFORMS) {
            let message = format!("there are {} words of uniforms, at most {}", words.len(), Launch::MAX_UNIFORMS);
            out.push(Diagnostic::error("L0003", given.span, message));
        }
        words
    }

    /// Reports outputs that are impossible.
    pub fn check_output(&self, output: &Output, out: &mut Diagnostics) {
        if output.count() != 1 {
            let error = Diagnostic::error(
                "L0006",
                output.span,
                format!("exactly one action is needed, found {}", output.count()),
            );
            out.push(error.help("write each as an item of its own: `- png: {…}`, `- raw: {…}` or `- print: {…}`"));
            return;
        }
        let Some((_, size)) = output.buffer().and_then(|name| self.find(name, out)) else { return };
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
            let bytes = print.number.unwrap_or(BufferNumber::Hex).bytes() as u64;
            let (from, numbers) = (print.from.as_ref().map_or(0, |from| from.value), size / bytes);
            let end = print.count.as_ref().map_or(Some(from), |count| from.checked_add(count.value));
            if from > numbers || end.is_none_or(|end| end > numbers) {
                let span = print.count.as_ref().or(print.from.as_ref()).map_or(print.buffer.span, |given| given.span);
                let what = match bytes {
                    1 => "bytes",
                    2 => "numbers of 16 bits",
                    _ => "words",
                };
                out.push(Diagnostic::error("L0006", span, format!("the buffer has only {numbers} {what}")));
            }
        }
    }
}

/// Reads a file of at most the maximum memory size.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is too large.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = input::open(path)?;
    // Reserves its current size; growing the buffer could take twice that.
    let size = file.metadata()?.len().min(MAX_MEMORY);
    bytes.reserve_exact(usize::try_from(size).unwrap_or(0));
    file.take(MAX_MEMORY + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MEMORY {
        return Err(io::Error::other(format!("it has more than {MAX_MEMORY} bytes")));
    }
    Ok(bytes)
}

/// The index of a buffer's address space. An unknown name is reported.
fn space(spaces: &[Space], buffer: &Buffer, out: &mut Diagnostics) -> Option<usize> {
    let wanted = buffer.space.as_ref()?;
    let found = spaces.iter().position(|space| space.name == wanted.value);
    if found.is_none() {
        let message = format!("there is no address space `{}` with a memory of its own", wanted.value);
        let help = match spaces {
            [] => "leave it out: all buffers are in one memory".to_owned(),
            _ => format!("expected {}, or leave it out", one_of(spaces.iter().map(|space| space.name))),
        };
        out.push(Diagnostic::error("L0004", wanted.span, message).help(help));
    }
    found
}

/// The content of a buffer of at most `most` bytes.
fn content(name: &Spanned<String>, buffer: &Buffer, most: u64, folder: &Path, out: &mut Diagnostics) -> Vec<u8> {
    let words = buffer.words.as_ref().map(|words| words.iter().flat_map(|word| word.0.to_le_bytes()).collect());
    let floats = buffer.f32.as_ref().map(|floats| floats.iter().flat_map(|float| float.0.to_le_bytes()).collect());
    let file = buffer.file.as_ref().map(|file| match read_file(&folder.join(&file.value)) {
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
        let label =
            if given.is_empty() { "its contents are not given" } else { "its contents are given more than once" };
        out.push(Diagnostic::error("L0003", name.span, message).label(label));
    }
    let mut bytes = given.pop().unwrap_or_default();
    let (size, span) = match &buffer.size {
        Some(size) => (size.value, size.span),
        None => (bytes.len() as u64, name.span),
    };
    if size > most {
        let message = format!("all buffers together have at most {MAX_MEMORY} bytes");
        out.push(Diagnostic::error("L0003", span, message));
        bytes.clear();
    } else if size < bytes.len() as u64 {
        let message = format!("the content of `{}` is {} bytes long, more than its size", name.value, bytes.len());
        out.push(Diagnostic::error("L0003", span, message));
    } else if bytes.is_empty() {
        // Zeroed memory is not allocated until it is touched.
        bytes = vec![0; size as usize];
    } else {
        bytes.reserve_exact(size as usize - bytes.len());
        bytes.resize(size as usize, 0);
    }
    bytes
}
