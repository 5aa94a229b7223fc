//! Two operations of the same kind at a time: what two phases of a group compute most often.

use std::marker::PhantomData;

use crate::usc::lanes::{HALF, LANES};

use super::bundle::Member;
use super::handler::{Body, Handler};
use super::operate::{Add, Lane, Mad, MadInteger, Mul, Op, compute, put, row};

/// Kinds of operations that have handlers for two. The first two operands of each may change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    Mad,
    Add,
    Mul,
    MadInteger,
}

/// The second operation of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Second {
    sources: [u16; 3],
    to: u16,
}

/// Two operations one after the other. They share their second or their third operands if `B` or `C`.
struct Pair<L, const B: bool, const C: bool>(PhantomData<L>);

impl<L: Lane, const B: bool, const C: bool> Pair<L, B, C> {
    #[inline(always)]
    fn execute<const WHOLE: bool>(op: &Op, members: &mut [Member<'_>]) {
        let ([x, y, z], to) = (op.sources.map(row), row(op.to));
        let ([also_x, also_y, also_z], also_to) = (op.second.sources.map(row), row(op.second.to));
        for Member { task, active, .. } in members.iter_mut().filter(|member| WHOLE || member.active != 0) {
            let columns = &mut *task.columns;
            for half in 0..LANES / HALF {
                let (b, c) = (*columns.half(y, half), *columns.half(z, half));
                let value = compute::<L>(op, [*columns.half(x, half), b, c]);
                put::<WHOLE>(columns, to, half, &value, *active);
                let b = if B { b } else { *columns.half(also_y, half) };
                let c = if C { c } else { *columns.half(also_z, half) };
                let value = compute::<L>(op, [*columns.half(also_x, half), b, c]);
                put::<WHOLE>(columns, also_to, half, &value, *active);
            }
        }
    }
}

impl<L: Lane, const B: bool, const C: bool> Body for Pair<L, B, C> {
    #[inline(always)]
    fn run(op: &Op, members: &mut [Member<'_>], whole: bool) {
        if whole { Self::execute::<true>(op, members) } else { Self::execute::<false>(op, members) }
    }
}

impl Twin {
    fn handler(self, shared: [bool; 2]) -> Handler {
        fn three<L: Lane>(shared: [bool; 2]) -> Handler {
            match shared {
                [false, false] => Handler::of::<Pair<L, false, false>>(),
                [true, false] => Handler::of::<Pair<L, true, false>>(),
                [false, true] => Handler::of::<Pair<L, false, true>>(),
                [true, true] => Handler::of::<Pair<L, true, true>>(),
            }
        }
        fn two<L: Lane>(shared: bool) -> Handler {
            if shared { Handler::of::<Pair<L, true, true>>() } else { Handler::of::<Pair<L, false, true>>() }
        }
        match self {
            Twin::Mad => three::<Mad>(shared),
            Twin::MadInteger => three::<MadInteger>(shared),
            Twin::Add => two::<Add>(shared[0]),
            Twin::Mul => two::<Mul>(shared[0]),
        }
    }
}

/// Puts pairs where there are two of a kind in a row.
pub(super) fn paired(ops: Vec<Op>) -> Vec<Op> {
    let mut result: Vec<Op> = Vec::with_capacity(ops.len());
    let mut single = false;
    for op in ops {
        let pair = if single { result.last().and_then(|first| pair(first, &op)) } else { None };
        single = pair.is_none();
        match (pair, result.last_mut()) {
            (Some(pair), Some(last)) => *last = pair,
            _ => result.push(op),
        }
    }
    result
}

fn pair(first: &Op, second: &Op) -> Option<Op> {
    let twin = first.twin.filter(|_| first.twin == second.twin)?;
    let ([mut a, mut b, c], [mut x, mut y, z]) = (first.sources, second.sources);
    let kept = |row: u16| row != first.to;
    // A common factor comes second.
    for (i, j) in [(b, x), (a, y), (a, x)] {
        if b != y && i == j && kept(i) {
            if i == a {
                (a, b) = (b, a);
            }
            if j == x {
                (x, y) = (y, x);
            }
        }
    }
    let shared = [b == y && kept(b), c == z && kept(c)];
    let second = Second { sources: [x, y, z], to: second.to };
    Some(Op { handler: twin.handler(shared), sources: [a, b, c], second, ..*first })
}
