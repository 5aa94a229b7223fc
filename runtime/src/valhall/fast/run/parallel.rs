//! Launches on several host threads.

use std::num::NonZero;
use std::ops::Range;

use isaforge_core::semantics::{AtomicOp, Type};

use super::launch::{count, run_groups, run_hosted, runner, warps};
use super::program_cache::Loaded;
use super::runner::Runner;
use super::vertex::{self, load, run_range};
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::lower::Order;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::fast::touched::Touched;
use crate::valhall::host::{Host, Nothing, ReadOnly};
use crate::valhall::launch::{Launch, Outcome, RunError, check};
use crate::valhall::program::Program;
use crate::valhall::vertex::Vertices;
use crate::valhall::warp::LANES;

/// Like [`run`](super::run), on several host threads. Each runs consecutive workgroups on a copy of memory; at the
/// end the changes of all are merged in the order of the workgroups. So the result never depends on how host threads
/// are scheduled, and it equals that of [`run`](super::run) if no workgroup reads or overwrites what another writes.
///
/// Atomics of one kind, such as additions to words, may access the same word if the program does not read their
/// results: then their order is not observable, and the sums, minima or maxima of the copies are merged by the same
/// operation. Other atomics depend on what earlier workgroups did, so a program with such atomics runs on one thread.
/// Launches that fail are repeated on one thread, to fail at the right place.
///
/// It costs memory: one copy for each thread, and one of the initial content.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_parallel(
    launch: &Launch,
    memory: &mut Memory,
    level: Level,
    threads: NonZero<usize>,
) -> Result<Outcome, RunError> {
    run_parallel_with(launch, memory, &Nothing, level, threads)
}

/// Like [`run_parallel`], with a host, on which nothing is drawn.
///
/// # Errors
/// As [`run_parallel`].
pub fn run_parallel_with(
    launch: &Launch,
    memory: &mut Memory,
    host: &(dyn Host + Sync),
    level: Level,
    threads: NonZero<usize>,
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let loaded = Loaded::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level);
    let work = |range: Range<u128>, outside: &mut Outside<'_>| {
        let mut runner = runner(&loaded, launch);
        run_groups(&loaded, &mut runner, launch, outside, range).map(|()| runner)
    };
    match in_parts(&loaded.code, (count(launch), threads), memory, host, work)
        .filter(|outcome| outcome.within(launch.budget))
    {
        Some(mut done) => Ok(done.keep(memory)),
        None => run_hosted(launch, memory, &mut ReadOnly(host), level),
    }
}

/// Runs a vertex program on several host threads, as [`run_parallel_with`] does with workgroups.
///
/// # Errors
/// As [`run_vertices`](crate::valhall::run_vertices).
pub fn run_vertices_parallel(
    vertices: &Vertices,
    memory: &mut Memory,
    host: &(dyn Host + Sync),
    level: Level,
    threads: NonZero<usize>,
) -> Result<Outcome, RunError> {
    vertices.check()?;
    let program = Program::new(&vertices.program);
    let loaded = load(&program, vertices, host, level);
    let work = |range: Range<u128>, outside: &mut Outside<'_>| {
        let mut runner = loaded.runner(&vertices.uniforms, 1, vertices.budget);
        runner.deadline = vertices.deadline;
        // There are fewer than 2^32 warps.
        run_range(&mut runner, vertices, range.start as u32..range.end as u32, outside).map(|()| runner)
    };
    let warps = u128::from(vertices.count.div_ceil(LANES as u32));
    match in_parts(&loaded.code, (warps, threads), memory, host, work).filter(|outcome| outcome.within(vertices.budget))
    {
        Some(mut done) => Ok(done.keep(memory)),
        None => vertex::run(vertices, memory, &mut ReadOnly(host), level),
    }
}

/// What was run, and the memory that it leaves.
struct Done<'a> {
    runner: Runner<'a>,
    memory: Memory,
}

impl Done<'_> {
    fn within(&self, budget: u64) -> bool {
        self.runner.tally.spent <= budget
    }

    /// Moves the memory to `memory`, and returns the counts.
    fn keep(&mut self, memory: &mut Memory) -> Outcome {
        std::mem::swap(memory, &mut self.memory);
        self.runner.outcome()
    }
}

/// Runs `total` pieces of work on several threads, each with consecutive pieces on a copy of memory. `None` if that
/// fails or would not give the result of one thread.
fn in_parts<'a>(
    code: &Code<'_>,
    (total, threads): (u128, NonZero<usize>),
    memory: &Memory,
    host: &(dyn Host + Sync),
    work: impl Fn(Range<u128>, &mut Outside<'_>) -> Result<Runner<'a>, RunError> + Sync,
) -> Option<Done<'a>> {
    let parts = u128::min(threads.get() as u128, total);
    if code.order == Order::Shown || parts < 2 {
        return None;
    }
    let work = |part: u128| {
        let (mut own, mut host) = (memory.clone(), ReadOnly(host));
        let mut touched = matches!(code.order, Order::Hidden(..)).then(|| Touched::new(&own));
        let mut outside = Outside { memory: &mut own, host: &mut host, touched: touched.as_mut(), accesses: None };
        let mut runner = work(total * part / parts..total * (part + 1) / parts, &mut outside).ok()?;
        runner.gather();
        Some((Done { runner, memory: own }, touched))
    };
    let (first, others) = std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..parts).map(|part| scope.spawn(move || work(part))).collect();
        let first = work(0);
        // A thread that panicked counts as one that has failed, as there is no other way to learn of it.
        (first, others.into_iter().map(|other| other.join().ok().flatten()).collect::<Vec<_>>())
    });
    let (mut whole, mut touched) = first?;
    for other in others {
        let (part, its) = other?;
        whole.runner.tally.add(&part.runner.tally);
        match (code.order, &mut touched, &its) {
            (Order::Hidden(op, ty), Some(touched), Some(its)) => {
                touched.add(its);
                merge(&mut whole.memory, memory, &part.memory, (op, ty), [touched, its])?;
            }
            _ => whole.memory.merge(memory, &part.memory),
        }
    }
    Some(whole)
}

/// Merges the changes of a part, and the changes of its atomics by their operation. `None` if words of atomics
/// overlap partially. Of the locations of atomics, `all` has those so far, `its` those of the part.
fn merge(
    whole: &mut Memory,
    before: &Memory,
    part: &Memory,
    (op, ty): (AtomicOp, Type),
    [all, its]: [&Touched; 2],
) -> Option<()> {
    let size = (ty.size() / 8) as usize;
    let mut last = None;
    for address in all.addresses() {
        if last.is_some_and(|last: u64| address - last < size as u64) {
            return None;
        }
        last = Some(address);
    }
    let word = |memory: &Memory, address: u64| {
        let mut bytes = [0; 8];
        memory.read(address, bytes.get_mut(..size)?).ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let mut words = Vec::new();
    for address in its.addresses() {
        let [first, second, old] = [word(whole, address)?, word(part, address)?, word(before, address)?];
        let both = match op {
            // One of them has changed nothing.
            _ if first == old => second,
            _ if second == old => first,
            AtomicOp::Add | AtomicOp::Sub => first.wrapping_add(second).wrapping_sub(old),
            AtomicOp::Xor => first ^ second ^ old,
            _ => op.apply(ty, first, second),
        };
        words.push((address, both));
    }
    whole.merge(before, part);
    for (address, both) in words {
        whole.write(address, both.to_le_bytes().get(..size)?).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;

    const OUT: u64 = 0x1000;

    /// Compares what a program leaves in memory on four threads with the result on one. `None` if it may not run on
    /// several.
    fn on_four_threads(atomic: &str) -> Option<()> {
        let text = format!(
            "MOV.i32 r0, r60\nMOV.i32 r1, 0x0\nIADD.u32 r2, r57, r57\nSHADDX.u64 r4, u0, r2.w0, shift:0x0\n{atomic}\nNOP.end"
        );
        let program = assemble(isaforge_valhall::ISA, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let (groups, local_size, uniforms) = ([8, 1, 1], [20, 1, 1], vec![OUT as u32, 0]);
        let launch = Launch { program, groups, local_size, uniforms, ..Launch::default() };
        let mut memory = Memory::new();
        memory.map(OUT, (0..64u8).map(|n| n.wrapping_mul(37)).collect::<Vec<_>>()).unwrap();
        let program = Program::new(&launch.program);
        let level = Level::best();
        let loaded = Loaded::hosted(&program, &launch.uniforms, warps(&launch) as u32, &Nothing, level);
        let work = |range: Range<u128>, outside: &mut Outside<'_>| {
            let mut runner = runner(&loaded, &launch);
            run_groups(&loaded, &mut runner, &launch, outside, range).map(|()| runner)
        };
        let mut expected = memory.clone();
        crate::valhall::fast::run(&launch, &mut expected, level).unwrap();
        let done = in_parts(&loaded.code, (8, NonZero::new(4)?), &memory, &Nothing, work)?;
        assert!(done.memory == expected, "{atomic}");
        Some(())
    }

    #[test]
    fn atomics_whose_order_does_not_show_run_on_several_threads() {
        for kind in ["aadd", "asmin", "asmax", "aumin", "aumax", "aand", "aor", "axor"] {
            for place in ["u0", "r4"] {
                // Each workgroup has a word of its own, or all share one.
                let text =
                    format!("SHADDX.u64 r4, u0, r57.w0, shift:0x2\nATOM.i32.slot0.{kind} @r0, {place}, offset:0");
                assert!(on_four_threads(&text).is_some(), "{kind}");
            }
            assert!(on_four_threads(&format!("ATOM.i64.slot0.{kind} @r0:r1, u0, offset:8")).is_some(), "{kind}");
        }
        // Their results are read, they exchange, or there are several kinds of them.
        for shown in [
            "ATOM_RETURN.i32.slot0.aadd @r0, @r0, u0, offset:0",
            "ATOM.i32.slot0.axchg @r0, u0, offset:0",
            "ATOM.i32.slot0.aadd @r0, u0, offset:0\nATOM.i32.slot0.aor @r0, u0, offset:0",
            // Words that overlap.
            "ATOM.i32.slot0.aadd @r0, r4, offset:0",
        ] {
            assert!(on_four_threads(shown).is_none(), "{shown}");
        }
    }
}
