//! Drawings on several host threads.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use super::draw::{self, Alone};
use super::program_cache::Loaded;
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::fast::lower::Order;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::fragment::{Fragments, Quads, check};
use crate::valhall::host::{Host, Resources};
use crate::valhall::launch::{Outcome, RunError};
use crate::valhall::program::Program;

/// The least quads of a band: so few are drawn in the time that it takes to start a thread.
const QUADS: usize = 512;

/// Draws like [`draw_on`](crate::valhall::draw_on), on several host threads. Each draws bands of rows, one after the
/// other, so the results are those of one thread.
///
/// A program that stores to memory or to images runs on one thread, as the order of its pixels is observable. Drawings
/// that fail are repeated on one thread, to fail at the right place. Small pictures are drawn on fewer threads.
///
/// It costs memory: a copy of the memory for each further thread, and one of the targets.
///
/// # Errors
/// As [`draw`](crate::valhall::draw).
pub fn draw_parallel(
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut Resources,
    level: Level,
    threads: NonZero<usize>,
) -> Result<Outcome, RunError> {
    check(fragments)?;
    let program = Program::new(&fragments.program);
    let loaded = Loaded::drawing(&program, &fragments.uniforms, host, level);
    if let Some(outcome) = in_bands(&loaded, fragments, memory, host, threads.get()) {
        return Ok(outcome);
    }
    let (limits, quads) = ((fragments.budget, fragments.deadline), Quads::new(fragments, host.samples()));
    draw::run(&program, &fragments.uniforms, limits, level, quads, memory, host)
}

/// Draws bands on several threads. `None`, without any effect, if that fails or would not give the result of one
/// thread.
fn in_bands(
    loaded: &Loaded<'_>,
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut Resources,
    threads: usize,
) -> Option<Outcome> {
    let samples = host.samples();
    if loaded.code.order != Order::Free || threads < 2 {
        return None;
    }
    let starts = Quads::new(fragments, samples).bands(QUADS);
    let mut copies: Vec<_> = (1..threads.min(starts.len())).map(|_| memory.clone()).collect();
    if copies.is_empty() {
        return None;
    }
    host.in_bands(&starts, |bands| {
        let left = Mutex::new(bands.iter_mut());
        // The data behind the lock is always consistent.
        let left = || left.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |memory: &mut Memory| {
            let mut runner = loaded.runner(&fragments.uniforms, 1, fragments.budget);
            runner.deadline = fragments.deadline;
            let mut alone = Alone::new(&loaded.code);
            loop {
                let Some(band) = left().next() else { break };
                band.save();
                let mut quads = Quads::of_rows(fragments, samples, band.rows.clone());
                while let Some(done) = alone.run(&mut runner, &mut quads, &mut Outside::new(memory, band)) {
                    if done.is_err() {
                        // The other threads may end, too.
                        *left() = [].iter_mut();
                        return None;
                    }
                }
            }
            runner.gather();
            Some(runner)
        };
        let whole = std::thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = copies.iter_mut().map(|memory| scope.spawn(move || work(memory))).collect();
            let first = work(memory);
            // A thread that panicked counts as one that has failed, as there is no other way to learn of it.
            let others: Vec<_> = others.into_iter().map(|other| other.join().ok().flatten()).collect();
            others.into_iter().try_fold(first?, |mut whole, other| {
                whole.tally.add(&other?.tally);
                Some(whole)
            })
        });
        let whole = whole.filter(|whole| whole.tally.spent <= fragments.budget);
        if whole.is_none() {
            bands.iter_mut().for_each(|band| band.take_back());
        }
        whole.map(|mut whole| whole.outcome())
    })
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::valhall::host::{Format, Target, Texel};

    /// Draws a picture of 80 rows in bands. Returns whether that was possible; if not, nothing may be left.
    fn is_drawn(before: &str, width: u32, budget: u64) -> bool {
        let text = format!("{before}\nBLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0");
        let program = assemble(isaforge_valhall::ISA, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let fragments = Fragments { budget, ..Fragments::new(program, width, 80) };
        let target = |pixel: [u32; 2]| Texel::floats([(pixel[0] + pixel[1]) as f32; 4]);
        let mut clear = Target::new(Format::RGBA32F, width, 80, target([0; 2])).unwrap();
        (0..40).for_each(|y| clear.draw([3, y], target([3, y])));
        let mut host = Resources { targets: vec![Some(clear)], ..Resources::default() };
        let before = host.targets.clone();
        let words = Program::new(&fragments.program);
        let loaded = Loaded::drawing(&words, &fragments.uniforms, &host, Level::best());
        let drawn = in_bands(&loaded, &fragments, &mut Memory::new(), &mut host, 2);
        assert_eq!(host.targets == before, drawn.is_none());
        drawn.is_some()
    }

    #[test]
    fn pictures_are_drawn_in_bands_where_nothing_else_is_changed() {
        let threads = 80 * 80;
        assert!(is_drawn("MOV.i32 r0, r59", 80, 2 * threads));
        assert!(!is_drawn("MOV.i32 r0, r59", 80, 2 * threads - 1));
        assert!(!is_drawn("MOV.i32 r0, r59", 8, 2 * threads), "too few quads");
        for stores in [
            "STORE.i32.slot0 @r0, r2, offset:0",
            "ATOM.i32.slot0.aadd @r0, r2, offset:0",
            "ST_CVT.v4.f32.slot0 @r4:r5:r6:r7, r8, r10, offset:0x0",
        ] {
            assert!(!is_drawn(stores, 80, 2 * threads), "{stores}");
        }
    }
}
