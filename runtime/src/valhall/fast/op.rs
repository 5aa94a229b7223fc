//! The operations of a lowered program: calls of handlers, operations on rows, and accesses to memory.

use std::sync::Arc;

use crate::exec::vector::handler::{Exact, Micro};

use super::access::{Access, places};
use super::atomic::Atomic;
use super::bundle::{Bundle, Row};
use super::family::Bundles;
use super::handler;
use super::log::Record;
use super::memory_view::MemoryView;

/// A function of one value that the specification does not define.
pub type Function = fn(u64) -> u64;

/// One operation of a program.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A handler specific to an instruction.
    Call(handler::Op),
    /// An atomic on words whose results are not read: [`Update`](super::atomic::Update).
    Update(handler::Op),
    /// An operation on rows, and the index of its word in the program.
    Rows(Micro<8, Bundles>, u32),
    /// A load or a store.
    Access(Access),
    /// An atomic.
    Atomic(Atomic),
    /// Puts the same word into all lanes of a row; the last number is the index of the word in the program.
    Number(u16, u32, u32),
    /// Records the accesses of the next operation.
    Record(Record),
    /// A call of an intrinsic: the index of its [`Message`](super::message::Message), and that of its word.
    Message(u32, u32),
    /// Applies a function to the first pair of rows and writes the second; the last number is the index of the word
    /// in the program.
    Function(Function, [[u16; 2]; 2], u32),
}

impl Op {
    /// Executes it; `whole` says whether whole rows of the bundle may be written. Returns false if it left a fault in
    /// the bundle.
    #[inline(always)]
    pub fn run(&self, whole: bool, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        match self {
            Op::Call(op) | Op::Update(op) => op.run(whole, bundle, view),
            Op::Rows(micro, _) => {
                bundle.compute(micro);
                true
            }
            Op::Access(access) => access.run(bundle, view),
            Op::Atomic(atomic) => atomic.run(bundle, view),
            Op::Record(record) => {
                bundle.record(record, view);
                true
            }
            Op::Number(row, word, _) => {
                bundle.rows[usize::from(*row)] = Row::splat(*word);
                true
            }
            Op::Function(function, rows, _) => {
                bundle.apply(*function, *rows);
                true
            }
            Op::Message(index, _) => bundle.send(*index, view),
        }
    }

    /// Returns the index of the word that it belongs to.
    pub fn pc(&self) -> u32 {
        match self {
            Op::Call(op) | Op::Update(op) => op.pc(),
            Op::Rows(_, pc) | Op::Function(_, _, pc) | Op::Number(_, _, pc) | Op::Message(_, pc) => *pc,
            Op::Access(access) => access.pc,
            Op::Atomic(atomic) => atomic.pc,
            Op::Record(record) => record.pc,
        }
    }
}

impl Bundle {
    /// Calls an intrinsic.
    fn send(&mut self, index: u32, view: &mut MemoryView<'_>) -> bool {
        let messages = Arc::clone(&self.messages);
        messages.get(index as usize).is_none_or(|message| message.run(self, view))
    }

    /// Records the accesses of the active lanes.
    #[inline(never)]
    fn record(&self, record: &Record, view: &mut MemoryView<'_>) {
        let Some(log) = &mut view.log else { return };
        for warp in self.busy() {
            let (active, places) = places(self, warp, record.address, record.when);
            if active != 0 {
                log.record(&self.ahead.grid, self.homes[warp], record, active, &places);
            }
        }
    }

    /// Executes an operation on rows.
    #[inline(always)]
    fn compute(&mut self, micro: &Micro<8, Bundles>) {
        // Few operations look at the table, but all receive it.
        let exact: Vec<Exact> = std::mem::take(&mut self.exact);
        micro.run(self.level, &exact, std::slice::from_mut(self));
        self.exact = exact;
    }

    /// Applies a function in all lanes of warps with active lanes.
    #[inline(never)]
    fn apply(&mut self, function: Function, [[low, high], [to, above]]: [[u16; 2]; 2]) {
        for warp in self.busy() {
            let word = |row: u16, lane: usize| u64::from(self.rows[usize::from(row)].0[warp][lane]);
            let results: [u64; 16] = std::array::from_fn(|lane| function(word(low, lane) | word(high, lane) << 32));
            self.rows[usize::from(to)].0[warp] = results.map(|value| value as u32);
            self.rows[usize::from(above)].0[warp] = results.map(|value| (value >> 32) as u32);
        }
    }
}
