//! Fragment programs, for quads of pixels or for single threads that return a colour.

use std::ops::Range;

use isaforge_core::semantics::evaluate::each;

use crate::deadline::Deadline;
use crate::engine::{Engine, Execution};
use crate::memory::Memory;
use crate::valhall::launch::{FragmentOutcome, Launch, Origin, Outcome, RunError, Stage, check_limit, check_program};

use super::fast;
use super::group::Machine;
use super::host::{Format, Handle, Host, HostError, Image, Primitive, Target, Texel};
use super::observe::Observer;
use super::preload::{FRAGMENT, Value};
use super::program::Program;
use super::undo::Undo;
use super::warp::{Column, LANES, Warp, Warps};

/// A fragment program and the pixels to run it for.
#[derive(Clone, Debug)]
pub struct Fragments {
    /// The words of the program.
    pub program: Vec<u64>,
    /// The fast-access uniforms, at most [`Launch::MAX_UNIFORMS`].
    pub uniforms: Vec<u32>,
    /// Pixels in each row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The columns and rows that bound the primitive. Pixels outside them are not considered.
    pub within: [Range<u32>; 2],
    /// The samples that the primitive covers in each of these pixels, row by row, the first sample in bit 0. Pixels
    /// beyond the end of the list are not covered, and bits of samples that a pixel does not have are ignored.
    pub coverage: Vec<u16>,
    /// Whether each of these pixels sees the back face, row by row; those beyond the end see the front face.
    pub back: Vec<bool>,
    /// The number of instructions that all threads together may execute, including helpers.
    pub budget: u64,
    /// The time at which the run must end.
    pub deadline: Deadline,
}

impl Fragments {
    /// Creates a launch for all samples of a rectangle, front-facing, with no uniforms and the default budget.
    pub fn new(program: Vec<u64>, width: u32, height: u32) -> Self {
        let pixels = u64::from(width).saturating_mul(height.into()).min(Target::MAX_PIXELS);
        let coverage = vec![u16::MAX; pixels as usize];
        let within = [0..width, 0..height];
        Fragments { within, coverage, ..Fragments::none(program, width, height) }
    }

    /// Creates a launch for no pixel of a rectangle.
    fn none(program: Vec<u64>, width: u32, height: u32) -> Self {
        let budget = Launch::DEFAULT_BUDGET;
        let (uniforms, coverage, back, deadline) = (Vec::new(), Vec::new(), Vec::new(), Deadline::NONE);
        Fragments { program, uniforms, width, height, within: [0..0, 0..0], coverage, back, budget, deadline }
    }

    /// Creates a launch for a primitive on a rectangle of pixels with `samples` samples each, with no uniforms and the
    /// default budget.
    pub fn of(primitive: &Primitive, samples: u32, program: Vec<u64>, width: u32, height: u32) -> Self {
        let keep = |range: Range<u32>, end: u32| range.start.min(end)..range.end.min(end);
        let [columns, rows] = primitive.within();
        let (columns, rows) = (keep(columns, width), keep(rows, height));
        let pixels = rows.clone().flat_map(|y| columns.clone().map(move |x| [x, y]));
        let coverage: Vec<u16> =
            pixels.take(Target::MAX_PIXELS as usize).map(|pixel| primitive.coverage(pixel, samples)).collect();
        let back = if primitive.is_back() { vec![true; coverage.len()] } else { Vec::new() };
        Fragments { within: [columns, rows], coverage, back, ..Fragments::none(program, width, height) }
    }

    /// Returns the index of a pixel within the bounds of the primitive. `None` when it is outside.
    fn index(&self, [x, y]: [u32; 2]) -> Option<usize> {
        let [columns, rows] = &self.within;
        let inside = columns.contains(&x) && rows.contains(&y) && x < self.width && y < self.height;
        let [across, up] = [x.wrapping_sub(columns.start), y.wrapping_sub(rows.start)].map(u64::from);
        let index = up * u64::from(columns.end.saturating_sub(columns.start)) + across;
        usize::try_from(index).ok().filter(|_| inside)
    }

    fn covered(&self, pixel: [u32; 2]) -> u16 {
        self.index(pixel).and_then(|index| self.coverage.get(index)).copied().unwrap_or(0)
    }

    fn sees_back(&self, pixel: [u32; 2]) -> bool {
        self.index(pixel).and_then(|index| self.back.get(index)).copied().unwrap_or(false)
    }
}

/// The pixels of a warp.
#[derive(Debug)]
pub(super) struct Pixels(Column<[u32; 2]>);

impl Origin for Pixels {
    fn stage(&self) -> Stage {
        Stage::Fragment
    }

    fn group(&self) -> [u32; 3] {
        self.thread(0)
    }

    fn thread(&self, index: usize) -> [u32; 3] {
        let [x, y] = self.0[index % LANES];
        [x, y, 0]
    }
}

/// Draws like [`draw_observed`](super::draw_observed), warp by warp and instruction by instruction.
pub(super) fn draw_by_reference(
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: impl Observer,
) -> Result<Outcome, RunError> {
    check(fragments)?;
    let program = Program::new(&fragments.program);
    let mut machine = Machine::new(&program, &fragments.uniforms, fragments.budget, observer);
    machine.deadline = fragments.deadline;
    let mut quads = Quads::new(fragments, host.samples());
    let mut undo = Undo::new(host);
    loop {
        let mut warp = Warp::new(0);
        let Some(origin) = quads.next(&mut warp) else { return Ok(machine.outcome()) };
        machine.alone(&mut warp, &origin, memory, &mut undo).inspect_err(|error| undo.take_back(error))?;
        undo.keep();
    }
}

pub(super) fn check(fragments: &Fragments) -> Result<(), RunError> {
    check_program(&fragments.program, &fragments.uniforms)?;
    let (width, height) = (fragments.width, fragments.height);
    let sides = [("the width in pixels", width), ("the height in pixels", height)];
    for (what, found) in sides {
        check_limit(what, found.into(), 1, 1 << 16)?;
    }
    let pixels = u64::from(width) * u64::from(height);
    check_limit("the number of pixels", pixels, 1, Target::MAX_PIXELS)
}

/// The quads of a picture that have a covered sample, row by row, four in a warp.
#[derive(Debug)]
pub(super) struct Quads<'a> {
    fragments: &'a Fragments,
    /// The samples of a pixel.
    samples: u32,
    /// The first pixel of the next quad; quads begin at even coordinates.
    next: [u32; 2],
}

impl<'a> Quads<'a> {
    /// The quads of a picture with `samples` samples a pixel.
    pub fn new(fragments: &'a Fragments, samples: u32) -> Self {
        Quads { fragments, samples, next: [0, 1].map(|axis| fragments.within[axis].start & !1) }
    }

    /// The pixels of the next quad, and the samples that are covered.
    fn quad(&mut self) -> Option<([[u32; 2]; 4], [u16; 4])> {
        let Fragments { within: [columns, rows], width, height, .. } = self.fragments;
        let (end, last) = (columns.end.min(*width), rows.end.min(*height));
        let all = ((1u32 << self.samples.min(16)) - 1) as u16;
        loop {
            let [x, y] = self.next;
            if y >= last || columns.start & !1 >= end {
                return None;
            }
            self.next = if x + 2 < end { [x + 2, y] } else { [columns.start & !1, y + 2] };
            let pixels = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]];
            let covered = pixels.map(|pixel| self.fragments.covered(pixel) & all);
            if covered != [0; 4] {
                return Some((pixels, covered));
            }
        }
    }
}

impl Warps for Quads<'_> {
    type Origin = Pixels;

    fn next(&mut self, warp: &mut Warp) -> Option<Pixels> {
        let mut quad = Some(self.quad()?);
        warp.restart(0, 0);
        (warp.draws, warp.samples) = (true, self.samples);
        for first in (0..LANES).step_by(4) {
            let Some((pixels, covered)) = quad else { break };
            warp.threads |= 0xf << first;
            for (lane, (pixel, covered)) in (first..).zip(pixels.into_iter().zip(covered)) {
                warp.pixels[lane] = pixel;
                warp.covered[lane] = covered;
                warp.helpers |= u16::from(covered == 0) << lane;
            }
            quad = if first + 4 < LANES { self.quad() } else { None };
        }
        (warp.live, warp.active) = (warp.threads, warp.threads);
        let Warp { registers, pixels, covered, .. } = &mut *warp;
        for &(register, value) in FRAGMENT.iter() {
            registers[register] = match value {
                Value::Back if self.fragments.back.is_empty() => [0; LANES],
                Value::Back => each(pixels, |pixel| self.fragments.sees_back(pixel).into()),
                Value::Pixel => each(pixels, |[x, y]| x | y << 16),
                Value::Coverage => each(covered, u32::from),
                _ => [0; LANES],
            };
        }
        Some(Pixels(warp.pixels))
    }
}

/// The address of the image of a lone thread.
const IMAGE: u64 = 0x1000;

/// The warp of a lone thread, and whether it has been taken.
struct Lone(bool);

impl Warps for Lone {
    type Origin = Pixels;

    fn next(&mut self, warp: &mut Warp) -> Option<Pixels> {
        if std::mem::replace(&mut self.0, true) {
            return None;
        }
        warp.restart(1, 0);
        warp.draws = true;
        Some(Pixels([[0; 2]; LANES]))
    }
}

/// The host of a lone thread: it takes a colour, and provides a single texel for any image.
#[derive(Debug, Default)]
struct Easel {
    colour: Option<[u32; 4]>,
}

impl Host for Easel {
    fn image(&self, _: Handle) -> Result<Image, HostError> {
        Ok(Image { address: IMAGE, size: [1; 3], format: Format::RGBA32F })
    }

    fn tile(&self, _: u32, _: [u32; 2], _: u32) -> Result<Texel, HostError> {
        Ok(Texel::floats([0.0; 4]))
    }

    fn set_tile(&mut self, _: u32, _: [u32; 2], _: u32, colour: Texel) -> Result<(), HostError> {
        self.colour.get_or_insert(colour.channels);
        Ok(())
    }

    fn blend(&mut self, target: u32, pixel: [u32; 2], _: u32, colour: Texel) -> Result<(), HostError> {
        self.set_tile(target, pixel, 0, colour)
    }
}

/// Runs one thread, with all registers 0, and returns its colour: the first colour that it blends, or else the one that
/// it stores to any image. The thread has no memory, textures or varyings.
///
/// # Errors
/// When the program ends without writing a colour, or an instruction cannot be executed.
pub fn run_fragment(
    program: &[u64],
    uniforms: &[u32],
    budget: u64,
    deadline: Deadline,
) -> Result<FragmentOutcome, RunError> {
    run_fragment_on(Execution::reference(), program, uniforms, (budget, deadline))
}

/// Runs like [`run_fragment`], with the given engine.
///
/// # Errors
/// As [`run_fragment`].
pub fn run_fragment_on(
    execution: Execution,
    program: &[u64],
    uniforms: &[u32],
    limits: (u64, Deadline),
) -> Result<FragmentOutcome, RunError> {
    check_program(program, uniforms)?;
    let program = Program::new(program);
    let mut warp = Warp::new(0);
    let mut memory = Memory::new();
    // This cannot fail, since no other region is mapped.
    let _ = memory.map(IMAGE, vec![0; 16]);
    let mut easel = Easel::default();
    let outcome = match execution.engine() {
        Engine::Reference => {
            let mut machine = Machine::new(&program, uniforms, limits.0, ());
            machine.deadline = limits.1;
            let mut lone = Lone(false);
            while let Some(origin) = lone.next(&mut warp) {
                machine.alone(&mut warp, &origin, &mut memory, &mut easel)?;
            }
            machine.outcome()
        }
        Engine::Handlers | Engine::Compiled => {
            fast::draw(&program, uniforms, limits, execution.level(), Lone(false), &mut memory, &mut easel)?
        }
    };
    let thread_instructions = outcome.thread_instructions;
    let stored = outcome.mnemonics.iter().any(|&(mnemonic, _)| mnemonic == isaforge_valhall::Opcode::StCvt.mnemonic());
    let image = || Format::RGBA32F.decode(memory.region(IMAGE).unwrap_or_default()).channels;
    match easel.colour.or_else(|| stored.then(image)) {
        Some(colour) => Ok(FragmentOutcome { colour, thread_instructions }),
        None => Err(RunError::NoColour { place: program.place(warp.pc as usize, &Pixels([[0; 2]; LANES]), Some(0)) }),
    }
}
