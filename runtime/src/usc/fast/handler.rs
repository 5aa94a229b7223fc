//! The one place with `unsafe`: handlers, and the data path of a group, compiled once for each level of the processor.
//!
//! A function that may use AVX-512 must not run where there is none. A [`Level`] exists only for what was detected, and
//! what is called here is what was compiled for the level that the caller has.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use crate::level::{Kind, Level};
use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::fast::bundle::Member;
use crate::usc::fast::operate::Op;
use crate::usc::host::Host;
use crate::usc::lanes::Mask;
use crate::usc::program::Step;

/// What an operation does to all tasks of a bundle, written once and inlined into a function for each level.
pub(super) trait Body {
    /// Executes for the active instances, which are all if `whole`.
    fn run(op: &Op, members: &mut [Member<'_>], whole: bool);
}

type Function = unsafe fn(&Op, &mut [Member<'_>], bool);

/// The levels that there are functions for.
const LEVELS: usize = if cfg!(target_arch = "x86_64") { 3 } else { 1 };

/// The same handler for each level, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handler(&'static [Function; LEVELS]);

impl Handler {
    /// The functions for `B`.
    pub fn of<B: Body>() -> Handler {
        #[cfg(target_arch = "x86_64")]
        return Handler(const { &[portable::<B>, avx2::<B>, avx512::<B>] });
        #[cfg(not(target_arch = "x86_64"))]
        return Handler(const { &[portable::<B>] });
    }
}

/// Executes operations in order.
pub(super) fn run(level: Level, ops: &[Op], members: &mut [Member<'_>], whole: bool) {
    let level = level.kind() as usize;
    for op in ops {
        // SAFETY: the processor has what the functions of this level use, or there would be no such `Level`.
        unsafe { (op.handler.0[level])(op, members, whole) }
    }
}

fn portable<B: Body>(op: &Op, members: &mut [Member<'_>], whole: bool) {
    B::run(op, members, whole);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<B: Body>(op: &Op, members: &mut [Member<'_>], whole: bool) {
    B::run(op, members, whole);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<B: Body>(op: &Op, members: &mut [Member<'_>], whole: bool) {
    B::run(op, members, whole);
}

/// Sends a group through the whole data path.
pub(in crate::usc) fn group<H: Host>(
    level: Level,
    cpu: &mut Cpu<'_, H>,
    step: &Step,
    active: Mask,
) -> Result<(), Trap> {
    match level.kind() {
        Kind::Portable => cpu.execute(step, active),
        // SAFETY: a level with AVX2 is only made where AVX2 was detected.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { group_avx2(cpu, step, active) },
        // SAFETY: a level with AVX-512 is only made where AVX-512 was detected.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => unsafe { group_avx512(cpu, step, active) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn group_avx2<H: Host>(cpu: &mut Cpu<'_, H>, step: &Step, active: Mask) -> Result<(), Trap> {
    cpu.execute(step, active)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn group_avx512<H: Host>(cpu: &mut Cpu<'_, H>, step: &Step, active: Mask) -> Result<(), Trap> {
    cpu.execute(step, active)
}
