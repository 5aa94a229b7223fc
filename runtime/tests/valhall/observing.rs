//! Observation of running programs.

use std::ops::ControlFlow;

use isaforge_runtime::observe::{Profile, Traffic};
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::observe::{self, Executed, Moment, Observer, Trace};
use isaforge_runtime::valhall::{Fragments, Vertices};
use isaforge_runtime::{Memory, Outcome, RunError, valhall};

use super::{OUT, OWN_WORD, assemble, launch};

/// The odd lanes of 18 threads store; the last warp has two threads.
const ODD_LANES_STORE: &str = "
    LSHIFT_OR.i32 r4, r50, 0x1F1E1D1C.b33, 0x0
    BRANCHZ.reconverge r4, offset:1
    NOP.end
    MOV.i32 r0, 0x03020100
    STORE.i32.slot0.end @r0, r2, offset:0";

fn observed(threads: u32, body: &str, observer: impl Observer) -> Result<Outcome, RunError> {
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; 4 * threads as usize]).unwrap();
    valhall::run_observed(&launch(threads, &format!("{OWN_WORD}\n{body}")), &mut memory, observer)
}

/// Ends a run before the first warp that reaches a word.
struct Before(usize);

impl Observer for Before {
    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        if moment.pc == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn trace(threads: u32, body: &str) -> Vec<Executed> {
    let mut all = Vec::new();
    let trace = Trace::new(|executed: &Executed| {
        all.push(executed.clone());
        ControlFlow::Continue(())
    });
    observed(threads, body, trace).unwrap();
    all
}

#[test]
fn a_trace_says_which_lanes_change_which_registers() {
    let trace = trace(18, ODD_LANES_STORE);
    let lines: Vec<String> = trace.iter().map(ToString::to_string).collect();
    // Both warps execute all seven words, though not with all lanes.
    assert_eq!(lines.len(), 14);
    assert_eq!(lines[4], "workgroup (0,0,0) warp 0    4 +.+.+.+.+.+.+.+. NOP.end");
    assert_eq!(lines[5], "workgroup (0,0,0) warp 0    5 x+x+x+x+x+x+x+x+ MOV.i32 r0, 0x3020100  | r0=03020100");
    assert_eq!(lines[12], "workgroup (0,0,0) warp 1    5 x+xxxxxxxxxxxxxx MOV.i32 r0, 0x3020100  | r0=1:03020100");
    assert_eq!(trace[5].changes[0].lanes, 0xaaaa);
    // A write of the same value is not a change.
    assert_eq!(
        lines[7],
        "workgroup (0,0,0) warp 1    0 ++xxxxxxxxxxxxxx U16_TO_U32 r50, r55.h00  | r50=0:00000010 1:00000011"
    );
    assert!(lines[0].ends_with(" 15:0000000f") && !lines[0].contains(" 0:"), "{}", lines[0]);
}

#[test]
fn a_trace_can_stop_the_run() {
    let mut seen = 0;
    let trace = Trace::new(|_: &Executed| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let error = observed(18, ODD_LANES_STORE, trace).unwrap_err();
    assert!(matches!(&error, RunError::Stopped { place } if place.pc == 2), "{error}");
    assert_eq!(seen, 3);
}

#[test]
fn a_run_can_end_before_an_instruction() {
    let error = observed(18, ODD_LANES_STORE, Before(5)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "word 5 `MOV.i32 r0, 0x3020100`, workgroup (0, 0, 0), thread (1, 0, 0), lane 1: stopped"
    );
}

#[test]
fn a_profile_counts_warps_lanes_and_bytes() {
    let mut profile = observe::profile();
    let outcome = observed(18, ODD_LANES_STORE, &mut profile).unwrap();
    let total = profile.total();
    assert_eq!((total.threads, total.warps), (outcome.thread_instructions, outcome.warp_instructions));
    let counts: Vec<_> = profile.rows().iter().map(|row| (row.mnemonic, row.threads)).collect();
    assert_eq!(counts, outcome.mnemonics);
    let store = profile.rows().into_iter().find(|row| row.mnemonic == "STORE.i32").unwrap();
    assert_eq!((store.warps, store.threads, store.traffic), (2, 9, Traffic { read: 0, written: 36 }));
    let mut occupancy = [0; 17];
    (occupancy[16], occupancy[8], occupancy[2], occupancy[1]) = (4, 3, 4, 3);
    assert_eq!(profile.occupancy, occupancy);
}

#[test]
fn who_looks_on_together_sees_the_same_and_one_can_stop() {
    let mut profile = observe::profile();
    let mut lines = 0;
    let trace = Trace::new(|_: &Executed| {
        lines += 1;
        ControlFlow::Continue(())
    });
    observed(4, ODD_LANES_STORE, (Some(trace), Before(6), Some(&mut profile))).unwrap_err();
    assert_eq!((lines, profile.total().warps), (6, 6));
    assert!(observed(4, ODD_LANES_STORE, None::<Profile>).is_ok());
}

#[test]
fn every_access_to_memory_counts_with_its_size() {
    let mut profile = observe::profile();
    let body = "
        MOV.i32 r4, u0
        MOV.i32 r5, u1
        LOAD.i96.unsigned.slot0.wait0 @r8:r9:r10, r4, offset:0
        STORE.i24.slot0.wait0 @r8, r4, offset:1
        ATOM.i32.slot0.aadd.wait0 @r8, r4, offset:4
        NOP.end";
    observed(4, body, &mut profile).unwrap();
    let traffic = |name: &str| profile.rows().into_iter().find(|row| row.mnemonic == name).map(|row| row.traffic);
    assert_eq!(traffic("LOAD.i96"), Some(Traffic { read: 4 * 12, written: 0 }));
    assert_eq!(traffic("STORE.i24"), Some(Traffic { read: 0, written: 4 * 3 }));
    assert_eq!(traffic("ATOM.i32"), Some(Traffic { read: 4 * 4, written: 4 * 4 }));
}

#[test]
fn pixels_and_vertices_are_looked_at_like_threads() {
    let mut lines = Vec::new();
    let mut tell = |executed: &Executed| {
        lines.push(executed.to_string());
        ControlFlow::Continue(())
    };
    let (mut memory, mut host) = (Memory::new(), Resources::default());
    let mut fragments = Fragments::new(assemble("DISCARD.f32.eq r60, 0x0\nNOP.end"), 10, 2);
    // The first and the last quad; the right pixels of the last one are not covered.
    fragments.coverage = (0..20).map(|index| [0, 1, 8].contains(&(index % 10)).into()).collect();
    valhall::draw_observed(&fragments, &mut memory, &mut host, Trace::new(&mut tell)).unwrap();
    let vertices = Vertices { first: 5, ..Vertices::new(assemble("MOV.i32.end r0, r60"), 18) };
    valhall::run_vertices_observed(&vertices, &mut memory, &mut host, Trace::new(&mut tell)).unwrap();
    assert_eq!(lines[0], "pixel (0,0)    0 +++++h+hxxxxxxxx DISCARD.f32.eq r60, 0x0");
    assert!(lines[2].starts_with("vertex 5    0 ++++++++++++++++ MOV.i32.end r0, r60  | r0=0:00000005 1:00000006 "));
    assert_eq!(lines[3], "vertex 21    0 ++xxxxxxxxxxxxxx MOV.i32.end r0, r60  | r0=0:00000015 1:00000016");
    assert_eq!(lines.len(), 4);

    let mut profile = observe::profile();
    let observer = (Before(1), &mut profile, ());
    let error = valhall::draw_observed(&fragments, &mut memory, &mut host, observer).unwrap_err();
    assert!(matches!(error, RunError::Stopped { .. }));
    assert_eq!((profile.total().threads, profile.occupancy[8]), (8, 1));
}
