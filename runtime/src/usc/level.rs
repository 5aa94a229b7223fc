//! The one place with `unsafe`: a task's turn, compiled once for each kind of processor.
//!
//! A function that may use AVX-512 must not run where there is none. A [`Level`] exists only for what was detected.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::machine::{Event, Report};

/// The instructions of the host that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Those that this processor has, the best first.
    pub fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                levels.push(Level(Kind::Avx512));
            }
            if avx2 {
                levels.push(Level(Kind::Avx2));
            }
        }
        levels.push(Level(Kind::Portable));
        levels
    }

    /// The best of them.
    pub fn best() -> Level {
        Level::available().first().copied().unwrap_or(Level(Kind::Portable))
    }

    /// What any processor has.
    pub fn portable() -> Level {
        Level(Kind::Portable)
    }

    /// The name of the level.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }

    /// A task's turn: see [`Cpu::turn`].
    pub(super) fn turn<H: Host>(
        self,
        cpu: &mut Cpu<'_, H>,
        most: u64,
        report: &mut Report,
        seen: &mut dyn FnMut(&Event),
    ) -> Result<(), (usize, Trap)> {
        match self.0 {
            Kind::Portable => cpu.turn(most, report, seen),
            // SAFETY: a level with AVX2 is only made where AVX2 was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2(cpu, most, report, seen) },
            // SAFETY: a level with AVX-512 is only made where AVX-512 was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { avx512(cpu, most, report, seen) },
        }
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
