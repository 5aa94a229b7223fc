//! Hot runs of instructions become machine code.
//!
//! A handler reads its sources from memory and writes its result there, for the next one to read. Where a run of handlers
//! has been executed often enough, those of them that only compute are turned into one function that keeps values in
//! registers in between, and leaves out what nobody reads. It does in each lane what the handlers do; all else (barriers,
//! budgets, and memory but for words that lanes access in a pattern) stays with them. Patterns of addresses stay known until
//! their registers are written, so that lanes that are left at a branch need not be looked at: code for some lanes reads
//! for all, and writes back what it has read.
//!
//! A [loop](region) that only computes becomes one function as a whole: its lanes part and meet there. Where it ends, and
//! how often it has been executed, is what the handlers would have found. All else is compiled from jump to jump, in
//! [blocks](block). Where a program is one block, the dispatches of a row may be executed at once, if its addresses go on by
//! known [strides]. Where it has more, and no dispatch can go another way than the first, all calls of a dispatch are known
//! in advance, as a [plan], which becomes [one function](fused) where registers suffice. The [code cache](code_cache) keeps the functions, also for later launches of the same program.
//!
//! The shapes of a [`Sequence`](sequence::Sequence) of [words](word) become a graph of vector operations, then
//! [code](crate::exec::jit::lanes). This is for processors with AVX-512 or AVX2; others have the handlers alone.

mod block;
pub mod code_cache;
mod fused;
mod live;
pub mod plan;
mod region;
mod sequence;
mod strides;
mod terms;
#[cfg(test)]
mod tests;
pub mod trace;
mod window;
mod word;

/// Words that are compiled together; for more, registers hardly suffice.
const LONGEST: usize = 64;
