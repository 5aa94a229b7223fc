//! The `unsafe` code of handlers: they are compiled once for each level of the processor, and called by pointer.
//!
//! A function that uses AVX-512 must not run on a processor without it. A [`Level`] exists only if it was detected,
//! and only functions of a level that the caller has are called.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use std::any::TypeId;

use crate::level::Level;

use super::Family;
use super::code::Micro;
use super::exact::Exact;

/// The body of a handler, written once and inlined into one function for each level.
pub(super) trait Body: 'static {
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]);
}

type Function<const K: usize, F> =
    for<'a, 'm> unsafe fn(&Micro<K, F>, &[Exact], &'a mut [<F as Family<K>>::Member<'m>]);

/// The number of levels with functions, which are in the order of [`crate::level::Kind`].
const LEVELS: usize = if cfg!(target_arch = "x86_64") { 3 } else { 1 };

/// The functions of a handler, and the body they come from.
#[derive(Debug)]
struct Functions<const K: usize, F: Family<K>> {
    levels: [Function<K, F>; LEVELS],
    body: TypeId,
}

/// A handler.
#[derive(Debug)]
pub(crate) struct Handler<const K: usize, F: Family<K>>(&'static Functions<K, F>);

impl<const K: usize, F: Family<K>> Clone for Handler<K, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const K: usize, F: Family<K>> Copy for Handler<K, F> {}

impl<const K: usize, F: Family<K>> Handler<K, F> {
    /// Returns the functions of `B`.
    pub(super) fn of<B: Body>() -> Self {
        Handler(const { &Functions { levels: levels::<K, F, B>(), body: TypeId::of::<B>() } })
    }

    /// Whether two handlers have the same body.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.0.body == other.0.body
    }

    /// Whether it has the body `B`. Addresses do not tell: each codegen unit may have its own functions.
    pub(super) fn is_of<B: Body>(self) -> bool {
        self.0.body == TypeId::of::<B>()
    }

    /// Executes an operation with the functions of a level.
    #[inline(always)]
    pub(super) fn run(self, level: Level, op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
        // SAFETY: the processor supports the features that this level's functions use, or there would be no such
        // `Level`.
        unsafe { (self.0.levels[level.kind() as usize])(op, exact, members) }
    }
}

#[cfg(target_arch = "x86_64")]
const fn levels<const K: usize, F: Family<K>, B: Body>() -> [Function<K, F>; LEVELS] {
    [portable::<K, F, B>, avx2::<K, F, B>, avx512::<K, F, B>]
}

#[cfg(not(target_arch = "x86_64"))]
const fn levels<const K: usize, F: Family<K>, B: Body>() -> [Function<K, F>; LEVELS] {
    [portable::<K, F, B>]
}

fn portable<const K: usize, F: Family<K>, B: Body>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
    B::run(op, exact, members);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<const K: usize, F: Family<K>, B: Body>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
    B::run(op, exact, members);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<const K: usize, F: Family<K>, B: Body>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
    B::run(op, exact, members);
}
