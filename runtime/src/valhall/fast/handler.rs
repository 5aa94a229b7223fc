//! The `unsafe` code of handlers: they are compiled for every processor and for AVX2, and called by pointer.
//!
//! A function that uses AVX2 must not run on a processor without it, so pointers to such functions are unsafe to
//! call. A [`Level`] exists only if it was detected, handlers are only created from a level, and an [`Op`] only from
//! a handler: so every `Op` may be called.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use crate::level::{Kind, Level};

use super::bundle::Bundle;
use super::fields::Fields;
use super::memory_view::MemoryView;

/// The body of a handler, written once and inlined into each of its functions.
pub trait Body {
    /// Executes for the active lanes. Returns false if it left a fault in the bundle. With `WHOLE`, whole rows of the
    /// bundle may be written.
    fn run<const WHOLE: bool>(bundle: &mut Bundle, view: &mut MemoryView<'_>, op: &Fields) -> bool;
}

/// Returns the functions of `B` at a level.
#[inline(always)]
pub(super) fn handler<B: Body>(level: Level) -> Handler {
    Handler(match level.kind() {
        Kind::Portable => const { &Functions { whole: portable::<B, true>, part: portable::<B, false> } },
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 | Kind::Avx512 => const { &Functions { whole: avx2::<B, true>, part: avx2::<B, false> } },
    })
}

type Function = unsafe fn(&mut Bundle, &mut MemoryView<'_>, &Fields) -> bool;

/// The two functions at a level. The one for whole rows saves no registers on the stack, which halves the cost of a
/// call.
#[derive(Debug)]
struct Functions {
    whole: Function,
    part: Function,
}

/// The functions of a handler at a level.
#[derive(Clone, Copy, Debug)]
pub struct Handler(&'static Functions);

impl Handler {
    /// Executes it with these operands, as [`Op::run`] does.
    #[inline(always)]
    pub fn run(self, whole: bool, bundle: &mut Bundle, view: &mut MemoryView<'_>, fields: &Fields) -> bool {
        let Handler(Functions { whole: all, part, .. }) = self;
        let function = if whole { all } else { part };
        // SAFETY: the function came from a `Level`, which exists only if the processor supports it.
        unsafe { function(bundle, view, fields) }
    }

    /// Returns the handler with its operands.
    pub fn with(self, fields: Fields) -> Op {
        Op { handler: self, fields }
    }
}

/// A handler with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    handler: Handler,
    fields: Fields,
}

impl Op {
    /// Executes it; `whole` says whether whole rows of the bundle may be written.
    #[inline(always)]
    pub fn run(&self, whole: bool, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        self.handler.run(whole, bundle, view, &self.fields)
    }

    /// Returns the operands.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Returns the index of the word that it belongs to.
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
