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
use super::warp::{Column, LANES, Warp, Warps, mask_of};

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

    /// Returns the covered samples of the pixels of a row from the first column of the primitive on, as far as they are
    /// known.
    fn row(&self, y: u32) -> &[u16] {
        let [columns, rows] = &self.within;
        let width = columns.end.saturating_sub(columns.start) as usize;
        let inside = columns.end.min(self.width).saturating_sub(columns.start) as usize;
        if !rows.contains(&y) || y >= self.height {
            return &[];
        }
        let row = self.coverage.get((y - rows.start) as usize * width..).unwrap_or_default();
        &row[..row.len().min(inside)]
    }

    /// Returns the index of a pixel within the bounds of the primitive. `None` when it is outside.
    fn index(&self, [x, y]: [u32; 2]) -> Option<usize> {
        let [columns, rows] = &self.within;
        let inside = columns.contains(&x) && rows.contains(&y) && x < self.width && y < self.height;
        let [across, up] = [x.wrapping_sub(columns.start), y.wrapping_sub(rows.start)].map(u64::from);
        let index = up * u64::from(columns.end.saturating_sub(columns.start)) + across;
        usize::try_from(index).ok().filter(|_| inside)
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
    /// The coverage of the rows of this quad.
    rows: [&'a [u16]; 2],
    /// The end of the rows.
    end: u32,
}

impl<'a> Quads<'a> {
    /// The quads of a picture with `samples` samples a pixel.
    pub fn new(fragments: &'a Fragments, samples: u32) -> Self {
        Quads::of_rows(fragments, samples, 0..u32::MAX)
    }

    /// Those in a band of rows, which begins at an even row.
    pub fn of_rows(fragments: &'a Fragments, samples: u32, band: Range<u32>) -> Self {
        let [columns, rows] = &fragments.within;
        let (first, end) = (band.start.max(rows.start & !1), band.end.min(rows.end).min(fragments.height));
        let mut quads = Quads { fragments, samples, next: [columns.start & !1, first], rows: [&[]; 2], end };
        quads.enter(first);
        quads
    }

    /// Begins a row of quads.
    fn enter(&mut self, y: u32) {
        self.next = [self.fragments.within[0].start & !1, y];
        self.rows = [y, y + 1].map(|y| self.fragments.row(y));
    }

    /// The samples that a pixel can have.
    fn all(&self) -> u16 {
        ((1u32 << self.samples.min(16)) - 1) as u16
    }

    /// Returns the first rows of bands of at least `least` quads, as far as there are that many. The first band begins
    /// at row 0. Each begins with a new warp, so the bands have the warps of the whole picture.
    pub fn bands(mut self, least: usize) -> Vec<u32> {
        let mut starts = vec![0];
        let (all, shift) = (self.all(), (self.fragments.within[0].start & 1) as usize);
        let (mut covered, mut before, mut joined) = (0, 0, Vec::new());
        while self.next[1] < self.end {
            joined.clear();
            joined.resize((shift + self.rows[0].len().max(self.rows[1].len())).next_multiple_of(2), 0);
            for row in self.rows {
                joined[shift..].iter_mut().zip(row).for_each(|(joined, covered)| *joined |= covered & all);
            }
            covered += joined.as_chunks::<2>().0.iter().filter(|[left, right]| left | right != 0).count();
            let y = self.next[1] + 2;
            if covered - before >= least && covered.is_multiple_of(LANES / 4) {
                starts.push(y);
                before = covered;
            }
            self.enter(y);
        }
        starts
    }

    /// The pixels of the next four quads, and the samples that are covered, if each of the quads that follow in these
    /// rows has covered samples.
    fn four(&mut self) -> Option<([Column; 2], Column<u16>)> {
        let [x, y] = self.next;
        let [columns, _] = &self.fragments.within;
        let start = x.checked_sub(columns.start)? as usize;
        let [low, high] = self.rows.map(|row| row.get(start..)?.first_chunk::<{ LANES / 2 }>());
        let (low, high, all) = (low?, high?, self.all());
        // The lanes of quads: two columns of the low row, then the same of the high one.
        let covered = std::array::from_fn(|lane| all & [low, high][lane / 2 % 2][lane / 4 * 2 + lane % 2]);
        let has = |quad: &[u16; 4]| quad.iter().any(|covered| *covered != 0);
        if y >= self.end || !covered.as_chunks().0.iter().all(has) {
            return None;
        }
        let end = columns.end.min(self.fragments.width);
        match x + LANES as u32 / 2 {
            x if x < end => self.next = [x, y],
            _ => self.enter(y + 2),
        }
        let places: [Column; 2] = [
            std::array::from_fn(|lane| x + lane as u32 / 4 * 2 + lane as u32 % 2),
            std::array::from_fn(|lane| y + lane as u32 / 2 % 2),
        ];
        Some((places, covered))
    }

    /// The pixels of the next quad, and the samples that are covered.
    fn quad(&mut self) -> Option<([[u32; 2]; 4], [u16; 4])> {
        let [columns, _] = &self.fragments.within;
        let end = columns.end.min(self.fragments.width);
        let all = self.all();
        loop {
            let [x, y] = self.next;
            if y >= self.end || columns.start & !1 >= end {
                return None;
            }
            let rows = self.rows;
            if x + 2 < end {
                self.next = [x + 2, y];
            } else {
                self.enter(y + 2);
            }
            let pixels = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]];
            // Left of the first column the difference wraps.
            let covered = |x: u32, row: &[u16]| row.get(x.wrapping_sub(columns.start) as usize).map_or(0, |c| c & all);
            let covered =
                [(x, rows[0]), (x + 1, rows[0]), (x, rows[1]), (x + 1, rows[1])].map(|(x, row)| covered(x, row));
            if covered != [0; 4] {
                return Some((pixels, covered));
            }
        }
    }
}

impl Warps for Quads<'_> {
    type Origin = Pixels;

    fn next(&mut self, warp: &mut Warp) -> Option<Pixels> {
        warp.restart(u16::MAX, 0);
        (warp.draws, warp.samples) = (true, self.samples);
        // The registers are set from these: to read back what was just written in other sizes would take longer.
        let ([mut x, mut y], mut covered) = ([[0; LANES]; 2], [0; LANES]);
        match self.four() {
            Some((places, samples)) => ([x, y], covered) = (places, samples),
            None => {
                for first in (0..LANES).step_by(4) {
                    let Some((pixels, samples)) = self.quad() else {
                        warp.threads = ((1u32 << first) - 1) as u16;
                        break;
                    };
                    for (lane, (pixel, samples)) in (first..).zip(pixels.into_iter().zip(samples)) {
                        ([x[lane], y[lane]], covered[lane]) = (pixel, samples);
                    }
                }
            }
        }
        if warp.threads == 0 {
            return None;
        }
        warp.helpers = mask_of(|lane| covered[lane] == 0) & warp.threads;
        (warp.live, warp.active) = (warp.threads, warp.threads);
        warp.covered = covered;
        warp.pixels = std::array::from_fn(|lane| [x[lane], y[lane]]);
        let Warp { registers, pixels, .. } = &mut *warp;
        for &(register, value) in FRAGMENT.iter() {
            registers[register] = match value {
                Value::Back if self.fragments.back.is_empty() => [0; LANES],
                Value::Back => each(pixels, |pixel| self.fragments.sees_back(pixel).into()),
                Value::Pixel => std::array::from_fn(|lane| x[lane] | y[lane] << 16),
                Value::Coverage => each(&covered, u32::from),
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
