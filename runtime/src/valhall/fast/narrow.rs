//! Loads and stores that are no whole words: extended, or put into a part of a register.

use super::super::step::Fault;
use super::super::warp::{Column, LANES, lanes};
use super::bundle::{Bundle, Row, WARPS};
use super::handler::{Body, Fields};
use super::reach::{self, address};
use super::world::World;

/// Loads `BYTES` bytes, at most eight, as the second number says: see [`Part`]. The rest is as for whole words.
pub struct Load<const BYTES: usize>;

/// Stores the lowest `BYTES` bytes, at most eight, of the rows that begin at `dest`.
pub struct Store<const BYTES: usize>;

/// What becomes of the bytes that are loaded.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The bit of the register that the lowest goes to.
    pub shift: u32,
    /// How many bits of the register are written, from there on.
    pub bits: u32,
    /// Whether the next register gets the rest of the value.
    pub double: bool,
    /// Whether they are extended with their sign.
    pub signed: bool,
}

impl Part {
    /// As a number for handlers.
    pub fn number(self) -> u32 {
        self.shift | self.bits << 8 | u32::from(self.double) << 16 | u32::from(self.signed) << 17
    }

    fn of(number: u32) -> Self {
        Part {
            shift: number & 0x1f,
            bits: number >> 8 & 0x3f,
            double: number >> 16 & 1 != 0,
            signed: number >> 17 & 1 != 0,
        }
    }
}

/// The low and the high word of the bytes of each lane.
type Words = [Column; 2];

/// The bytes of a lane as two words.
#[inline(always)]
fn words<const BYTES: usize>(bytes: &[u8]) -> [u32; 2] {
    match *bytes {
        [a] => [a.into(), 0],
        [a, b] => [u16::from_le_bytes([a, b]).into(), 0],
        _ => {
            let mut all = [0; 8];
            all[..BYTES].copy_from_slice(&bytes[..BYTES]);
            let all = u64::from_le_bytes(all);
            [all as u32, (all >> 32) as u32]
        }
    }
}

/// The bytes of lanes that follow one another.
#[inline(always)]
fn unpack<const BYTES: usize>(bytes: &[u8]) -> Words {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    let (chunks, _) = bytes.as_chunks::<BYTES>();
    for ((low, high), bytes) in low.iter_mut().zip(&mut high).zip(chunks) {
        [*low, *high] = words::<BYTES>(bytes);
    }
    [low, high]
}

/// Extends what was loaded and puts it into the registers of a warp.
#[inline(always)]
fn put<const BYTES: usize, const WHOLE: bool>(bundle: &mut Bundle, op: &Fields, warp: usize, loaded: &Words) {
    let part = Part::of(op.numbers[1]);
    let (row, signs) = (op.dest as usize, if part.signed { u32::MAX } else { 0 });
    let written = ((1u64 << part.bits) - 1) as u32;
    let unused = (64 - 8 * BYTES as u32) % 32;
    let old = &bundle.rows[row].0[warp];
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let [a, b] = [loaded[0][lane], loaded[1][lane]];
        let last = if BYTES <= 4 { a } else { b };
        let extended = (last << unused) as i32 >> unused;
        let last = extended as u32 & signs | last & !signs;
        let rest = (extended >> 31) as u32 & signs;
        let [a, b] = if BYTES <= 4 { [last, rest] } else { [a, last] };
        low[lane] = old[lane] & !(written << part.shift) | (a & written) << part.shift;
        high[lane] = b;
    }
    bundle.set::<WHOLE>(row, warp, &low);
    if part.double {
        bundle.set::<WHOLE>(row + 1, warp, &high);
    }
}

impl<const BYTES: usize> Body for Load<BYTES> {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        if let Some(start) = reach::bundle(bundle, world, op, BYTES as u32)
            && let Some(bytes) = world.bytes(op.pc, bundle.homes[0].group, start, WARPS * LANES * BYTES)
        {
            for (warp, bytes) in bytes.chunks_exact(LANES * BYTES).take(WARPS).enumerate() {
                put::<BYTES, WHOLE>(bundle, op, warp, &unpack::<BYTES>(bytes));
            }
            return true;
        }
        let (starts, together) = reach::warps(bundle, op, BYTES as u32);
        for warp in bundle.busy() {
            let loaded = if together >> warp & 1 != 0
                && let Some(bytes) = world.bytes(op.pc, bundle.homes[warp].group, starts[warp], LANES * BYTES)
            {
                unpack::<BYTES>(bytes)
            } else {
                match gather::<BYTES>(bundle, world, op, warp) {
                    Ok(loaded) => loaded,
                    Err(fault) => {
                        bundle.fault = Some((warp, fault));
                        return false;
                    }
                }
            };
            put::<BYTES, WHOLE>(bundle, op, warp, &loaded);
        }
        true
    }
}

#[inline(never)]
fn gather<const BYTES: usize>(
    bundle: &Bundle,
    world: &mut World<'_>,
    op: &Fields,
    warp: usize,
) -> Result<Words, Fault> {
    let home = bundle.homes[warp];
    let [low, high] = [0, 1].map(|word| &bundle.rows[op.sources[word] as usize].0[warp]);
    let mut loaded = [[0; LANES]; 2];
    for lane in lanes(bundle.active[warp]) {
        let start = address(op, low[lane], high[lane]);
        let mut bytes = [0; BYTES];
        match world.bytes(op.pc, home.group, start, BYTES) {
            Some(found) => bytes.copy_from_slice(found),
            None => world.space(home).read(lane, start, &mut bytes).map_err(|fault| Fault::Memory { lane, fault })?,
        }
        [loaded[0][lane], loaded[1][lane]] = words::<BYTES>(&bytes);
    }
    Ok(loaded)
}

/// The lowest bytes of two words.
#[inline(always)]
fn lowest<const BYTES: usize>([low, high]: [u32; 2]) -> [u8; BYTES] {
    let all = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    std::array::from_fn::<u8, BYTES, _>(|byte| all[byte])
}

/// The rows that a store reads: where it needs but one, that one twice.
#[inline(always)]
fn stored<const BYTES: usize>(rows: &[Row], op: &Fields, warp: usize) -> Words {
    let row = op.dest as usize;
    [rows[row].0[warp], rows[row + usize::from(BYTES > 4)].0[warp]]
}

impl<const BYTES: usize> Body for Store<BYTES> {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        if let Some(start) = reach::bundle(bundle, world, op, BYTES as u32)
            && let Some(bytes) = world.bytes_mut(op.pc, bundle.homes[0].group, start, WARPS * LANES * BYTES)
        {
            for (warp, bytes) in bytes.chunks_exact_mut(LANES * BYTES).take(WARPS).enumerate() {
                let [low, high] = stored::<BYTES>(&bundle.rows, op, warp);
                let (chunks, _) = bytes.as_chunks_mut::<BYTES>();
                for (bytes, words) in chunks.iter_mut().zip(low.into_iter().zip(high)) {
                    *bytes = lowest::<BYTES>(words.into());
                }
            }
            return true;
        }
        for warp in bundle.busy() {
            if let Err(fault) = scatter::<BYTES>(bundle, world, op, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }
}

#[inline(never)]
fn scatter<const BYTES: usize>(bundle: &Bundle, world: &mut World<'_>, op: &Fields, warp: usize) -> Result<(), Fault> {
    let home = bundle.homes[warp];
    let [low, high] = [0, 1].map(|word| &bundle.rows[op.sources[word] as usize].0[warp]);
    let words = stored::<BYTES>(&bundle.rows, op, warp);
    for lane in lanes(bundle.active[warp]) {
        let start = address(op, low[lane], high[lane]);
        let bytes = lowest::<BYTES>([words[0][lane], words[1][lane]]);
        match world.bytes_mut(op.pc, home.group, start, BYTES) {
            Some(found) => found.copy_from_slice(&bytes),
            None => world.space(home).write(lane, start, &bytes).map_err(|fault| Fault::Memory { lane, fault })?,
        }
    }
    Ok(())
}
