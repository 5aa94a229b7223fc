//! Kernels whose lanes access words at random distances.

use isaforge_core::program::assemble;
use isaforge_runtime::Memory;

use super::kernels::{IN, Kernel, LOCAL, OUT, kernel};

/// The number of accesses of each thread.
const STEPS: u32 = 256;
/// The bytes that a thread of [`stores`] has for itself.
const OWN: u32 = 64;
/// The bytes of tables.
const TABLE: u32 = 1 << 16;

/// Creates a kernel that executes `body` in many steps, with a random multiple of 4 up to `mask` in r8. r40 holds the
/// sum that it leaves at the thread's word.
fn scattered(name: &'static str, body: &str, mask: u32, threads: u32) -> Kernel {
    let text = format!(
        "SHADDX.u64 r62, u0, r60.w0, shift:0x2
        SHADDX.u64 r48, u2, r60.w0, shift:0x6
        MOV.i32 r10, 0x0
        MOV.i32 r11, r60
        MOV.i32 r40, 0x0
        again: IMUL.i32 r11, r11, u4
        IADD_IMM.i32 r11, r11, #0x3039
        LSHIFT_AND.i32 r8, r11, 0x0.b00, u5
        {body}
        IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u6, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r40, r62, offset:0"
    );
    let mut kernel = kernel(name, &text, threads, &[0x19_660d, mask, STEPS, LOCAL - 1]);
    kernel.launch.shared_bytes = 4 * LOCAL;
    kernel.memory = Memory::new();
    for (base, bytes) in [(OUT, 4 * threads), (IN, TABLE.max(OWN * threads))] {
        kernel.memory.map(base, vec![0; bytes as usize]).expect("it fits");
    }
    kernel
}

/// Loads words of a table.
pub fn loads(threads: u32) -> Kernel {
    let body = "SHADDX.u64 r58, u2, r8.w0, shift:0x0
        LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        IADD.u32 r40, r40, r0";
    scattered("gathered loads", body, TABLE - 4, threads)
}

/// Loads and stores words in bytes of the thread's own.
pub fn stores(threads: u32) -> Kernel {
    added("scattered stores", "r48", OWN - 4, threads)
}

/// Adds to words at distances up to `mask` from an address.
fn added(name: &'static str, address: &str, mask: u32, threads: u32) -> Kernel {
    let body = format!(
        "SHADDX.u64 r58, {address}, r8.w0, shift:0x0
        LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        IADD.u32 r0, r0, r11
        STORE.i32.slot0.wait0 @r0, r58, offset:0"
    );
    scattered(name, &body, mask, threads)
}

/// Adds to words of a table.
pub fn atomics(threads: u32) -> Kernel {
    let body = "SHADDX.u64 r4, u2, r8.w0, shift:0x0
        MOV.i32 r50, r11
        ATOM.i32.slot0.aadd.wait0 @r50, r4, offset:0";
    scattered("scattered atomics", body, TABLE - 4, threads)
}

/// Loads words of workgroup memory that other threads have stored.
pub fn exchange(threads: u32) -> Kernel {
    exchanged("exchange in workgroup memory", "BARRIER.slot7.wait", threads)
}

/// Like [`exchange`], but without the barrier after the loads: stores of the next step race with them.
pub fn racing_exchange(threads: u32) -> Kernel {
    exchanged("exchange that races", "", threads)
}

fn exchanged(name: &'static str, after: &str, threads: u32) -> Kernel {
    let body = format!(
        "IADD.u32 r9, r55, r10
        LSHIFT_AND.i32 r9, r9, 0x0.b00, u7
        SHADDX.u64 r44, workgroup_local_pointer.w0, r9.w0, shift:0x2
        STORE.i32.slot0.wait0 @r11, r44, offset:0
        BARRIER.slot7.wait
        SHADDX.u64 r42, workgroup_local_pointer.w0, r8.w0, shift:0x0
        LOAD.i32.unsigned.slot0.wait0 @r0, r42, offset:0
        {after}
        IADD.u32 r40, r40, r0"
    );
    scattered(name, &body, 4 * LOCAL - 4, threads)
}

/// Like [`exchange`], but at the end all threads store to the same word.
pub fn racing_results(threads: u32) -> Kernel {
    let mut kernel = exchange(threads);
    kernel.name = "results that race";
    let text = "MOV.i32 r62, u0\nMOV.i32 r63, u1\nSTORE.i32.slot0.end @r40, r62, offset:0";
    let last = kernel.launch.program.len() - 1;
    kernel.launch.program.truncate(last);
    kernel.launch.program.extend(assemble(isaforge_valhall::ISA, text).expect("it assembles"));
    kernel
}

/// Adds to words of a table without atomics: all threads race.
pub fn racing_sums(threads: u32) -> Kernel {
    added("sums that race", "u2", TABLE - 4, threads)
}
