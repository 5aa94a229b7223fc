//! Where `unsafe` stands for handlers: they are compiled once for each level of the processor, and called by pointer.
//!
//! A function that may use AVX-512 must not run where there is none, so pointers to such functions are unsafe to call. A
//! [`Level`] exists only for what was detected, handlers are only got from a level, and an [`Op`] only from a handler:
//! whoever has an `Op` may call it.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use crate::level::{Kind, Level};

use super::bundle::Bundle;
use super::memory_view::MemoryView;

/// What a handler does, written once and inlined into a function for each level.
pub trait Body {
    /// Executes for the active lanes; false when it left a fault in the bundle. With `WHOLE`, rows of the bundle may be
    /// written whole.
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool;
}

/// The functions for `B` at a level.
#[inline(always)]
pub(super) fn handler<B: Body>(level: Level) -> Handler {
    Handler(match level.kind() {
        Kind::Portable => const { &Functions { whole: portable::<B, true>, part: portable::<B, false> } },
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => const { &Functions { whole: avx2::<B, true>, part: avx2::<B, false> } },
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => const { &Functions { whole: avx512::<B, true>, part: avx512::<B, false> } },
    })
}

type Function = unsafe fn(&mut Bundle, &mut MemoryView<'_>, &Fields) -> bool;

/// Two functions for this processor: the one for whole rows saves nothing on the stack, which is half of the way.
#[derive(Debug)]
struct Functions {
    whole: Function,
    part: Function,
}

/// The functions for this processor.
#[derive(Clone, Copy, Debug)]
pub struct Handler(&'static Functions);

impl Handler {
    /// The handler with what it works on.
    pub fn with(self, fields: Fields) -> Op {
        Op { handler: self, fields }
    }
}

/// What a handler works on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    /// The row that is written, the first of several.
    pub dest: u32,
    /// The rows that are read.
    pub sources: [u32; 2],
    /// Numbers that the handler knows how to use.
    pub numbers: [u32; 2],
    /// The word of the program.
    pub pc: u32,
}

/// A handler and what it works on.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    handler: Handler,
    fields: Fields,
}

impl Op {
    /// Executes it; `whole` says whether rows of the bundle may be written whole.
    #[inline(always)]
    pub fn run(&self, whole: bool, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        let Handler(Functions { whole: all, part, .. }) = self.handler;
        let function = if whole { all } else { part };
        // SAFETY: the function came from a `Level`, and those are made only for what the processor has.
        unsafe { function(bundle, view, &self.fields) }
    }

    /// What it works on.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The word of the program that it belongs to.
    pub fn pc(&self) -> u32 {
        self.fields.pc
    }
}

fn portable<B: Body, const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
    B::run::<WHOLE>(bundle, view, op)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<B: Body, const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
    B::run::<WHOLE>(bundle, view, op)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<B: Body, const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool {
    B::run::<WHOLE>(bundle, view, op)
}

/// Asks for the first line of some bytes, which will be wanted soon.
#[inline(always)]
pub(super) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor can, and it changes nothing that a program sees.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
