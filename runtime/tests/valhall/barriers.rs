//! The effect of barriers on turns and on the budget, where no warp has to wait.

use isaforge_runtime::valhall::{fast, reference};
use isaforge_runtime::{Launch, Level, Memory};

use super::assemble;

/// The error of a launch that fails.
fn error(launch: &Launch, level: Option<Level>) -> String {
    let mut memory = Memory::new();
    let ended = match level {
        Some(level) => fast::run(launch, &mut memory, level),
        None => reference::run(launch, &mut memory),
    };
    ended.expect_err("it fails").to_string()
}

fn fails_alike(launch: &Launch) {
    let expected = error(launch, None);
    for level in Level::available().into_iter().flat_map(|level| [level, level.eager()]) {
        assert_eq!(error(launch, Some(level)), expected, "{}", level.name());
    }
}

#[test]
fn each_warp_has_a_new_turn_behind_a_barrier() {
    // The code before the barrier and the code after it each fit into a turn, but not both together. All warps but the
    // first fail early, and the first one late; its failure is the one reported.
    let text = "
        MOV.i32 r10, u0
        before: IADD_IMM.i32 r10, r10, #0xffffffff
        BRANCHZ.reconverge r10, offset:before
        BARRIER.slot7.wait
        ICMP.u32.lt.m1 r7, r55, u1, 0x0
        BRANCHZ.eq.reconverge r7, offset:fails
        MOV.i32 r10, u2
        after: IADD_IMM.i32 r10, r10, #0xffffffff
        BRANCHZ.reconverge r10, offset:after
        fails: LOAD.i32.unsigned.slot0.wait0 @r1, r62, offset:0
        NOP.end";
    for rounds in [10, 5000] {
        let launch = Launch {
            program: assemble(text),
            local_size: [128, 1, 1],
            uniforms: vec![rounds, 16, 7000],
            ..Launch::default()
        };
        assert!(error(&launch, None).contains("thread (0, 0, 0)"), "{}", error(&launch, None));
        fails_alike(&launch);
    }
}

#[test]
fn barriers_that_hold_nobody_up_are_paid_from_the_budget() {
    // Most instructions are barriers, and consecutive barriers are passed at once.
    let text = format!(
        "MOV.i32 r10, 0x0
        again: IADD_IMM.i32 r10, r10, #0x1
        IADD.u32 r11, r11, r10
        IADD.u32 r12, r12, r11
        {}
        IADD.u32 r11, r11, r10
        IADD.u32 r12, r12, r11
        BRANCHZ.reconverge r10, offset:again
        NOP.end",
        "BARRIER.slot7.wait\n".repeat(30)
    );
    // The fast path counts exactly once less of the budget is left than a bundle may execute in two turns.
    let turns = 2 * (128 << 14);
    for budget in [turns / 2, turns + 1, turns + turns / 3, 3 * turns + 12_345] {
        fails_alike(&Launch { program: assemble(&text), local_size: [128, 1, 1], budget, ..Launch::default() });
    }
}
