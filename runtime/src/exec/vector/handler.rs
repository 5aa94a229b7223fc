//! Operations on rows, and the `unsafe` code of their handlers: they are compiled for every processor and for AVX2, and
//! called by pointer.
//!
//! A function that uses AVX2 must not run on a processor without it. A [`Level`] exists only if it was detected, and
//! only functions of a level that the caller has are called. Where there is AVX-512, machine code uses it. Handlers
//! are not faster with it, because each of them reads and writes its rows in memory.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

use std::any::TypeId;

use isaforge_core::semantics::{Op, Type};

use crate::level::{Kind, Level};

use super::Family;

/// Stands for no row.
pub(crate) const NO_ROW: u16 = u16::MAX;
/// The most rows that an operation reads: two for each of four values.
pub(super) const READS: usize = 8;

/// An operation on rows.
#[derive(Debug)]
pub(crate) struct Micro<const K: usize, F: Family<K>> {
    pub(super) handler: Handler<K, F>,
    /// The row that is written.
    pub(super) to: u16,
    /// The row of the high words, or [`NO_ROW`].
    pub(super) high: u16,
    /// Whether inactive lanes keep their content in these rows.
    pub(super) keep: [bool; 2],
    /// The number of rows that are read.
    pub(super) reads: u8,
    /// Whether its number is an index into the table of the code.
    pub(super) looks_up: bool,
    /// The rows that are read; the entries from `reads` on are arbitrary valid rows.
    pub(super) from: [u16; READS],
    /// A number whose meaning depends on the handler.
    pub(super) number: u64,
}

impl<const K: usize, F: Family<K>> Clone for Micro<K, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const K: usize, F: Family<K>> Copy for Micro<K, F> {}

impl<const K: usize, F: Family<K>> Micro<K, F> {
    /// Returns the operation with its rows replaced; its index into the table of the code grows by `table`.
    #[inline(always)]
    pub(crate) fn placed(&self, table: u64, find: impl Fn(u16) -> u16) -> Self {
        let mut placed = Micro { to: find(self.to), high: find(self.high), ..*self };
        placed.number += if self.looks_up { table } else { 0 };
        for row in placed.from.iter_mut().take(self.reads.into()) {
            *row = find(*row);
        }
        placed
    }

    /// Calls `with` for every row that is read (`false`) or written (`true`).
    pub(crate) fn rows(&self, mut with: impl FnMut(u16, bool)) {
        self.read().iter().for_each(|row| with(*row, false));
        self.written().for_each(|row| with(row, true));
    }

    /// Executes it; `exact` is the table of the code.
    #[inline(always)]
    pub(crate) fn run(&self, level: Level, exact: &[Exact], members: &mut [F::Member<'_>]) {
        self.handler.run(level, self, exact, members);
    }

    /// Returns the rows that are read.
    pub(super) fn read(&self) -> &[u16] {
        self.from.get(..self.reads.into()).unwrap_or_default()
    }

    /// Iterates over the rows that are written.
    pub(super) fn written(&self) -> impl Iterator<Item = u16> + use<K, F> {
        [self.to, self.high].into_iter().filter(|row| *row != NO_ROW)
    }
}

/// An operation with its types; the number of a [`Micro`] is its index in the code's table.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    pub op: Op,
    pub imm: u16,
    pub ty: Type,
    pub types: [Type; 4],
}

/// The body of a handler, written once and inlined into each of its functions.
pub(super) trait Body: 'static {
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]);
}

type Function<const K: usize, F> =
    for<'a, 'm> unsafe fn(&Micro<K, F>, &[Exact], &'a mut [<F as Family<K>>::Member<'m>]);

/// The number of functions: for every processor, and for those with AVX2.
const LEVELS: usize = if cfg!(target_arch = "x86_64") { 2 } else { 1 };

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
        let best = usize::from(level.kind() != Kind::Portable);
        // SAFETY: each level but the portable one has AVX2, and exists only if the processor supports it.
        unsafe { (self.0.levels[best])(op, exact, members) }
    }
}

#[cfg(target_arch = "x86_64")]
const fn levels<const K: usize, F: Family<K>, B: Body>() -> [Function<K, F>; LEVELS] {
    [portable::<K, F, B>, avx2::<K, F, B>]
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
