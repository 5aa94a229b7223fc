//! The one place with `unsafe`: a task's turn, compiled once for each kind of processor.
//!
//! A function that may use AVX-512 must not run where there is none. A [`Level`] exists only for what was
//! detected.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use crate::level::{Kind, Level};
use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::machine::{Event, Report};

/// A task's turn: see [`Cpu::turn`].
pub(super) fn turn<H: Host>(
    level: Level,
    cpu: &mut Cpu<'_, H>,
    most: u64,
    report: &mut Report,
    seen: &mut dyn FnMut(&Event),
) -> Result<(), (usize, Trap)> {
    match level.kind() {
        Kind::Portable => cpu.turn(most, report, seen),
        // SAFETY: a level with AVX2 is only made where AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { avx2(cpu, most, report, seen) },
        // SAFETY: a level with AVX-512 is only made where AVX-512 was detected.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => unsafe { avx512(cpu, most, report, seen) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<H: Host>(
    cpu: &mut Cpu<'_, H>,
    most: u64,
    report: &mut Report,
    seen: &mut dyn FnMut(&Event),
) -> Result<(), (usize, Trap)> {
    cpu.turn(most, report, seen)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn avx512<H: Host>(
    cpu: &mut Cpu<'_, H>,
    most: u64,
    report: &mut Report,
    seen: &mut dyn FnMut(&Event),
) -> Result<(), (usize, Trap)> {
    cpu.turn(most, report, seen)
}
