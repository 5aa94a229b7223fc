//! Numbers that depend on the workgroup, and sums of them.

use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Op, Type};

/// A sum of terms: their numbers in ascending order, each with its factor modulo 2^64.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sum(Vec<(usize, u64)>);

impl Sum {
    /// The empty sum.
    pub const NONE: Self = Sum(Vec::new());

    /// Returns the sum of a single term.
    pub fn of(term: usize) -> Self {
        Sum(vec![(term, 1)])
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its value, given the terms.
    pub fn value(&self, terms: &[u64]) -> u64 {
        let at = |term: usize| terms.get(term).copied().unwrap_or(0);
        self.0.iter().fold(0, |all, &(term, times)| all.wrapping_add(at(term).wrapping_mul(times)))
    }

    /// Returns the sum of both.
    pub fn add(&self, other: &Self) -> Self {
        let mut sum = self.0.clone();
        for &(term, times) in &other.0 {
            match sum.binary_search_by_key(&term, |(term, _)| *term) {
                Ok(at) => sum[at].1 = sum[at].1.wrapping_add(times),
                Err(at) => sum.insert(at, (term, times)),
            }
        }
        sum.retain(|(_, times)| *times != 0);
        Sum(sum)
    }

    /// Returns a multiple.
    pub fn times(&self, factor: u64) -> Self {
        let times = self.0.iter().map(|&(term, times)| (term, times.wrapping_mul(factor)));
        Sum(times.filter(|(_, times)| *times != 0).collect())
    }
}

/// A number that depends on the workgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The number of the workgroup along an axis; in a dispatch, that of its first workgroup.
    Group(usize),
    /// The result of an operation on numbers, each a sum plus a constant.
    Operation { op: Op, imm: u16, ty: Type, types: [Type; 4], args: [(Sum, u64); 4] },
}

/// The terms of a program. Each comes after those that it depends on; the first three are the numbers of the
/// workgroup.
#[derive(Clone, Debug)]
pub struct Terms(Vec<Term>);

impl Terms {
    /// Creates the first three.
    pub fn new() -> Self {
        Terms((0..3).map(Term::Group).collect())
    }

    /// Returns the number of a term, which is added if it is new.
    pub fn number(&mut self, term: Term) -> usize {
        let known = self.0.iter().position(|known| *known == term);
        known.unwrap_or_else(|| {
            self.0.push(term);
            self.0.len() - 1
        })
    }

    /// Whether a sum may be different in the next dispatch of the same row.
    pub fn varies(&self, sum: &Sum) -> bool {
        sum.0.iter().any(|(term, _)| match &self.0[*term] {
            Term::Group(axis) => *axis == 0,
            Term::Operation { args, .. } => args.iter().any(|(sum, _)| self.varies(sum)),
        })
    }

    /// Returns the increase of a sum in the next workgroup of the same row. `None` if it is not the same for all of
    /// them.
    pub fn step(&self, sum: &Sum) -> Option<u64> {
        let (x, others): (Vec<_>, Vec<_>) = sum.0.iter().partition(|(term, _)| *term == 0);
        (!self.varies(&Sum(others))).then(|| x.first().map_or(0, |(_, times)| *times))
    }

    /// Computes the terms in a workgroup. Its number is passed by reference: a copy right after it was written word
    /// by word would stall.
    pub fn values(&self, group: &[u32; 3], values: &mut Vec<u64>) {
        values.clear();
        for term in &self.0 {
            let value = match term {
                Term::Group(axis) => group[*axis].into(),
                Term::Operation { op, imm, ty, types, args } => {
                    let mut numbers = [0; 4];
                    for ((number, ty), (sum, add)) in numbers.iter_mut().zip(types).zip(args) {
                        *number = sum.value(values).wrapping_add(*add) & ty.mask();
                    }
                    primitive(*op, *imm, *ty, *types, numbers)
                }
            };
            values.push(value);
        }
    }

    /// Drops the terms that no sum of a program needs.
    pub fn retain<'a>(&mut self, sums: impl Iterator<Item = &'a Sum>) {
        // A term comes after those that it depends on.
        let last = sums.filter_map(|sum| sum.0.last()).map(|(term, _)| *term).max();
        self.0.truncate(last.map_or(0, |last| last + 1));
    }
}
