//! Fragment programs: quads of pixels, and single threads that run for a colour.

use std::ops::Range;

use crate::deadline::Deadline;
use crate::launch::{FragmentOutcome, Launch, Outcome, RunError, Stage};
use crate::memory::Memory;

use super::fast;
use super::group::{Machine, Origin};
use super::host::{Format, Handle, Host, HostError, Image, Target, Texel};
use super::observe::Observer;
use super::preload::{FRAGMENT, Value};
use super::program::Program;
use super::warp::{Column, LANES, Warp};

/// A fragment program and the pixels to run it for.
#[derive(Clone, Debug)]
pub struct Fragments {
    /// The words of the program.
    pub program: Vec<u64>,
    /// The fast-access uniforms, at most [`Launch::MAX_UNIFORMS`].
    pub uniforms: Vec<u32>,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The columns and the rows to which the primitive keeps; nothing else is looked at.
    pub within: [Range<u32>; 2],
    /// Which pixels the primitive covers, row by row; those beyond the end are not covered.
    pub covered: Vec<bool>,
    /// Which pixels see its back, row by row; those beyond the end see its front.
    pub back: Vec<bool>,
    /// How many instructions all threads together may execute, helpers included.
    pub budget: u64,
    /// Until when they may run.
    pub deadline: Deadline,
}

impl Fragments {
    /// A program for all pixels of a rectangle, seen from the front, with no uniforms and the default budget.
    pub fn new(program: Vec<u64>, width: u32, height: u32) -> Self {
        let pixels = u64::from(width).saturating_mul(height.into()).min(Target::MAX_PIXELS);
        let covered = vec![true; pixels as usize];
        let budget = Launch::DEFAULT_BUDGET;
        let within = [0..width, 0..height];
        let (uniforms, back, deadline) = (Vec::new(), Vec::new(), Deadline::NONE);
        Fragments { program, uniforms, width, height, within, covered, back, budget, deadline }
    }

    fn flag(&self, flags: &[bool], [x, y]: [u32; 2]) -> bool {
        let index = u64::from(y) * u64::from(self.width) + u64::from(x);
        x < self.width && flags.get(index as usize).copied().unwrap_or(false)
    }
}

/// The pixels of a warp.
#[derive(Debug)]
struct Pixels(Column<[u32; 2]>);

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

/// Runs a fragment program for every quad of two by two pixels in which one is covered. Lane 0 of a quad is its even
/// corner, lane 1 the next along x, lanes 2 and 3 those along y; pixels that are not covered run as helpers. Four quads
/// make a warp.
///
/// At the start all registers are 0 but r58 (1 where the back is seen), r59 (x in the low half, y in the high one), r60
/// and r61 (1 where the pixel is covered). The host is asked for one pixel after another, in no order to be relied on.
///
/// # Errors
/// When there are too many pixels or an instruction cannot be executed; what was drawn before stays.
pub fn draw(fragments: &Fragments, memory: &mut Memory, host: &mut dyn Host) -> Result<Outcome, RunError> {
    check(fragments)?;
    let program = Program::new(&fragments.program);
    let limits = (fragments.budget, fragments.deadline);
    fast::draw(&program, &fragments.uniforms, limits, warps(fragments), memory, host)
}

/// As [`draw`], while somebody looks on.
///
/// # Errors
/// As [`draw`], and when the observer stops it.
pub fn draw_observed<O: Observer>(
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: O,
) -> Result<Outcome, RunError> {
    if O::WATCHES { draw_by_reference(fragments, memory, host, observer) } else { draw(fragments, memory, host) }
}

/// As [`draw_observed`], warp by warp and instruction by instruction.
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
    for (mut warp, origin) in warps(fragments) {
        machine.alone(&mut warp, &origin, memory, host)?;
    }
    Ok(machine.outcome())
}

fn check(fragments: &Fragments) -> Result<(), RunError> {
    super::check_program(&fragments.program, &fragments.uniforms)?;
    let (width, height) = (fragments.width, fragments.height);
    let sides = [("the width in pixels", width), ("the height in pixels", height)];
    for (what, found) in sides {
        super::check_limit(what, found.into(), 1, 1 << 16)?;
    }
    let pixels = u64::from(width) * u64::from(height);
    super::check_limit("the number of pixels", pixels, 1, Target::MAX_PIXELS)
}

/// The warps of a picture.
fn warps(fragments: &Fragments) -> impl Iterator<Item = (Warp, Pixels)> {
    // Quads begin at even places.
    let even = |within: &Range<u32>, end: u32| (within.start & !1..within.end.min(end)).step_by(2);
    let [columns, rows] = &fragments.within;
    let (columns, rows) = (even(columns, fragments.width), even(rows, fragments.height));
    let quads = rows.flat_map(move |y| columns.clone().map(move |x| [x, y]));
    let pixels = |[x, y]: [u32; 2]| [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]];
    let covered = |pixel| fragments.flag(&fragments.covered, pixel);
    let mut wanted = quads.filter(move |&quad| pixels(quad).into_iter().any(covered));
    std::iter::from_fn(move || {
        let quads: Vec<[u32; 2]> = wanted.by_ref().take(LANES / 4).collect();
        if quads.is_empty() {
            return None;
        }
        let mut warp = Warp::new(((1u32 << (4 * quads.len())) - 1) as u16);
        warp.draws = true;
        for (lane, pixel) in quads.into_iter().flat_map(pixels).enumerate() {
            let covered = covered(pixel);
            let [x, y] = pixel;
            for &(register, value) in FRAGMENT.iter() {
                warp.registers[register][lane] = match value {
                    Value::Back => fragments.flag(&fragments.back, pixel).into(),
                    Value::Pixel => x | y << 16,
                    Value::Coverage => covered.into(),
                    _ => 0,
                };
            }
            warp.pixels[lane] = pixel;
            warp.helpers |= u16::from(!covered) << lane;
        }
        let origin = Pixels(warp.pixels);
        Some((warp, origin))
    })
}

/// Where the image of a lone thread lies.
const IMAGE: u64 = 0x1000;

/// The host of a lone thread: it takes a colour, and stands for any image with a single texel.
#[derive(Debug, Default)]
struct Easel {
    colour: Option<[u32; 4]>,
}

impl Host for Easel {
    fn image(&self, _: Handle) -> Result<Image, HostError> {
        Ok(Image { address: IMAGE, size: [1; 3], format: Format::RGBA32F })
    }

    fn tile(&self, _: u32, _: [u32; 2]) -> Result<Texel, HostError> {
        Ok(Texel::floats([0.0; 4]))
    }

    fn set_tile(&mut self, _: u32, _: [u32; 2], colour: Texel) -> Result<(), HostError> {
        self.colour.get_or_insert(colour.channels);
        Ok(())
    }

    fn blend(&mut self, target: u32, pixel: [u32; 2], _: u32, colour: Texel) -> Result<(), HostError> {
        self.set_tile(target, pixel, colour)
    }
}

/// Runs one thread with all registers 0 for its colour: the first that it blends, or else what it stores in an image,
/// whatever image that is. There is nothing else: no memory, no textures, no varyings.
///
/// # Errors
/// When the program ends without a colour, or an instruction cannot be executed.
pub fn run_fragment(program: &[u64], uniforms: &[u32], budget: u64) -> Result<FragmentOutcome, RunError> {
    super::check_program(program, uniforms)?;
    let program = Program::new(program);
    let mut machine = Machine::new(&program, uniforms, budget, ());
    let mut warp = Warp::new(1);
    warp.draws = true;
    let mut memory = Memory::new();
    // Nothing else is mapped there.
    let _ = memory.map(IMAGE, vec![0; 16]);
    let (mut easel, origin) = (Easel::default(), Pixels([[0; 2]; LANES]));
    machine.alone(&mut warp, &origin, &mut memory, &mut easel)?;
    let outcome = machine.outcome();
    let thread_instructions = outcome.thread_instructions;
    let stored = outcome.mnemonics.iter().any(|&(mnemonic, _)| mnemonic == isaforge_valhall::Opcode::StCvt.mnemonic());
    let image = || Format::RGBA32F.decode(memory.region(IMAGE).unwrap_or_default()).channels;
    match easel.colour.or_else(|| stored.then(image)) {
        Some(colour) => Ok(FragmentOutcome { colour, thread_instructions }),
        None => Err(RunError::NoColour { place: machine.place(warp.pc as usize, &origin, Some(0)) }),
    }
}
