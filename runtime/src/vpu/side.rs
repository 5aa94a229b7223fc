//! The instructions of a program in the form for groups side by side.
//!
//! - [`lanes`]: their rows; each has the slots of all groups, so that one operation computes for all of them
//! - here: operations on these rows
//! - [`sequence`]: compiles frequent instructions to machine code

pub(super) mod lanes;
pub(super) mod sequence;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use isaforge_core::semantics::Op as Node;
use isaforge_vpu::semantics::SEMANTICS;

use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::vector::code::Code;
use crate::exec::vector::effect::Effect;
use crate::exec::vector::hoist::Before;
use crate::exec::vector::native::Run;
use crate::exec::vector::select::select_after;
use crate::level::Level;
use crate::vpu::bind::Rows;
use crate::vpu::group::row;
use crate::vpu::name;
use crate::vpu::op::Op;
use crate::vpu::side::lanes::{Groups, Lanes, PART};
use crate::vpu::tiles::TileSize;

/// How often a value must be requested before it is created.
const OFTEN: u32 = 16;

/// A program for groups side by side.
pub(crate) struct Side {
    /// The operations on rows of each distinct word; `None` if groups execute it one by one.
    codes: Vec<Option<Code<PART, Groups>>>,
    /// The contents of the constant rows.
    pub constants: Vec<u64>,
    /// The hoisted computations.
    before: Before<PART, Groups>,
    /// The rows with their results that instructions read.
    read: Vec<u16>,
    /// The hoisted computations as machine code, once they have run often; the first is for fresh groups.
    begin: [Often<Option<BlockFn>>; 2],
    /// The targets of branches.
    targets: Vec<u16>,
    /// The registers and states of groups that it reads or writes.
    pub touched: Vec<u16>,
    /// For each distinct word and each row, whether the row has the same word for all threads of groups that began as
    /// fresh ones with one bank and have executed all instructions together.
    uniform: Vec<Vec<bool>>,
}

impl Side {
    pub(crate) fn new(ops: &[Option<Op>], tile_size: TileSize) -> Self {
        let steady = vec![row::POSITION..row::POSITION + 1, row::GLOBAL..row::CONSTANTS.end];
        let mut before = Before::new(steady, row::BEFORE);
        let mut constants = Vec::new();
        let mut code = |op: &Option<Op>| {
            let op = op.as_ref().filter(|op| op.code.is_some())?;
            let (places, constants) = (&op.places, &mut constants);
            let settles_pending = op.settled().is_some();
            let mut rows = Rows { places, constants, tile_size, steady: true, together: true, settles_pending };
            let code = select_after(SEMANTICS, &op.shape, &mut rows, &mut before)?;
            let performed = code.effects().all(acts);
            performed.then_some(code)
        };
        let codes: Vec<_> = ops.iter().map(&mut code).collect();
        let mut seen = [false; row::ALL as usize];
        let steps = codes.iter().flatten().flat_map(|code| code.whole().iter().chain(code.part()));
        steps.for_each(|step| step.rows(|row, _| note(&mut seen, row)));
        let read = row::BEFORE.filter(|row| seen[usize::from(*row)]).collect();
        before.micros().iter().for_each(|micro| micro.rows(|row, _| note(&mut seen, row)));
        let states = [row::RESULT, row::FLAG];
        let registers = (row::LOCAL..row::LOCAL + 16).chain(row::SHARED..row::SHARED + 16);
        let mut touched: Vec<u16> = registers.chain(states).collect();
        let is_complete = codes.iter().zip(ops).all(|(code, op)| code.is_some() || op.is_none());
        if is_complete {
            let shares = codes.iter().flatten().flat_map(Code::effects).any(|effect| effect.op == Node::Write);
            touched.retain(|row| seen[usize::from(*row)] || shares && *row >= row::SHARED);
        }
        let targets = ops.iter().flatten().flat_map(targets).collect();
        let uniform = if is_complete { uniform(&codes, &before) } else { Vec::new() };
        Side { codes, constants, before, read, begin: Default::default(), targets, touched, uniform }
    }

    /// Returns the machine code of the hoisted computations as text.
    pub(crate) fn listing(&self) -> String {
        let begin = self.begin.iter().filter_map(|begin| begin.made()?.as_ref());
        begin.map(|function| format!("beginning of groups\n{}\n", code(function))).collect()
    }

    /// Iterates over the rows that are zero when a group begins.
    fn zeros(&self) -> impl Iterator<Item = u16> {
        self.touched.iter().copied().chain([row::PENDING])
    }

    /// Whether a branch leads to an instruction.
    pub(crate) fn is_target(&self, pc: u16) -> bool {
        self.targets.contains(&pc)
    }

    /// Executes the hoisted computations for all groups. If these are fresh, also clears their registers and states.
    pub(crate) fn begin(&self, level: Level, lanes: &mut Lanes, fresh: bool) {
        let compile = || {
            let mut run = Run::new(SEMANTICS, level);
            if fresh {
                self.zeros().for_each(|row| run.put(row, 0));
            }
            let is_complete = self.before.micros().iter().all(|micro| run.add(micro));
            let is_wanted = |row: u16| !row::BEFORE.contains(&row) || self.read.contains(&row);
            is_complete.then(|| run.compile(level, is_wanted)).flatten()
        };
        match self.begin[usize::from(!fresh)].get(level, compile) {
            Some(Some(machine)) => lanes.execute(machine),
            _ => {
                if fresh {
                    self.zeros().for_each(|row| lanes.fill(row, 0));
                }
                for micro in self.before.micros() {
                    micro.run(level, &[], std::slice::from_mut(lanes));
                }
            }
        }
    }

    /// Returns, for each row, whether groups that have been together from the beginning have the same word in it when they
    /// execute a word. Empty if nothing is known.
    #[inline]
    pub(crate) fn uniform(&self, word: usize) -> &[bool] {
        self.uniform.get(word).map_or(&[], Vec::as_slice)
    }

    /// Returns the operations on rows of a word; `None` if groups execute it one by one.
    #[inline]
    pub(crate) fn code(&self, word: usize) -> Option<&Code<PART, Groups>> {
        self.codes.get(word)?.as_ref()
    }
}

/// Returns machine code as text. It comes from the operations of several instructions at once.
fn code(function: &BlockFn) -> String {
    function.listing(|_| String::new())
}

/// Finds, for each instruction, the rows that have the same word for all threads while it executes, wherever the
/// program continues: those that are never written from one that may differ.
fn uniform(codes: &[Option<Code<PART, Groups>>], before: &Before<PART, Groups>) -> Vec<Vec<bool>> {
    let mut uniform = vec![true; row::ALL.into()];
    [row::POSITION, row::ACTIVE].into_iter().for_each(|row| uniform[usize::from(row)] = false);
    let effects = || codes.iter().flatten().flat_map(Code::effects);
    if effects().any(|effect| effect.op == Node::Write) {
        uniform[usize::from(row::SHARED)..usize::from(row::GLOBAL)].fill(false);
    }
    let others = effects().filter(|effect| effect.op != Node::Load);
    others.for_each(|effect| effect.rows(|row, is_written| uniform[usize::from(row)] &= !is_written));
    loop {
        let known = uniform.clone();
        before
            .micros()
            .iter()
            .for_each(|micro| follow(&mut uniform, |rows| micro.rows(|row, is_written| rows.push((row, is_written)))));
        let mut found = Vec::with_capacity(codes.len());
        for code in codes {
            let steps = code.iter().flat_map(Code::whole);
            steps.for_each(|step| {
                follow(&mut uniform, |rows| step.rows(|row, is_written| rows.push((row, is_written))))
            });
            found.push(uniform.clone());
            // Values within an instruction end with it.
            row::TEMPORARIES.for_each(|row| uniform[usize::from(row)] = true);
        }
        if known == uniform {
            return found;
        }
    }
}

/// Notes that the rows that an operation writes (`true`) may differ if one that it reads (`false`) may.
fn follow(uniform: &mut [bool], rows: impl FnOnce(&mut Vec<(u16, bool)>)) {
    let mut found = Vec::new();
    rows(&mut found);
    let same = found.iter().all(|(row, is_written)| *is_written || uniform[usize::from(*row)]);
    found.iter().for_each(|(row, is_written)| uniform[usize::from(*row)] &= !is_written || same);
}

/// A value that is created once it has been requested often.
pub(super) struct Often<T> {
    asked: AtomicU32,
    made: OnceLock<T>,
}

impl<T> Default for Often<T> {
    fn default() -> Self {
        Often { asked: AtomicU32::new(0), made: OnceLock::new() }
    }
}

impl<T> Often<T> {
    /// The value, if it was created.
    pub(super) fn made(&self) -> Option<&T> {
        self.made.get()
    }

    #[inline]
    pub(super) fn get(&self, level: Level, make: impl FnOnce() -> T) -> Option<&T> {
        if let Some(made) = self.made.get() {
            return Some(made);
        }
        let often = level.compiles_after(OFTEN)?;
        (self.asked.fetch_add(1, Relaxed) >= often).then(|| self.made.get_or_init(make))
    }
}

fn note(seen: &mut [bool], row: u16) {
    if let Some(seen) = seen.get_mut(usize::from(row)) {
        *seen = true;
    }
}

/// Returns the targets of an instruction's branches, if they are constants.
fn targets(op: &Op) -> impl Iterator<Item = u16> {
    let branches = op.shape.nodes.iter().filter(|node| node.op == Node::Branch);
    branches.filter_map(|branch| op.shape.constant(branch.args[0])).map(|target| target as u16 & 1023)
}

/// Whether an effect can be performed for groups side by side.
fn acts(effect: &Effect) -> bool {
    match effect.op {
        Node::Load | Node::Branch | Node::End | Node::Barrier | Node::Write => true,
        Node::Store => effect.imm & 0xff == name::TILE,
        Node::Intrinsic => matches!(effect.numbers[0], name::UNMASK | name::WAIT_FOR_RESULT),
        _ => false,
    }
}
