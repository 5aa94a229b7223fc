//! Compiles hot runs of instructions to machine code.
//!
//! A handler reads its sources from memory and writes its result there, for the next one to read. Once a run of
//! handlers has been executed often enough, those of them that only compute become one function, which keeps
//! intermediate values in registers and omits unread ones. In each lane it does what the handlers do; everything else
//! (barriers, budgets, and memory except for words that lanes access in a pattern) is left to them. Patterns of
//! addresses stay known until their registers are written, without looking at lanes that diverged: code for some
//! lanes reads for all of them, and writes the old values back.
//!
//! A [loop](region) that only computes becomes one function as a whole, in which lanes diverge and reconverge. It ends
//! at the same place and has the same counts as with handlers. If all lanes of a bundle have the same trip count, it
//! becomes a counted loop. Everything else is compiled in [blocks](block) of [functions](function) that end at jumps.
//! If a program is one block, several dispatches of a row may be executed at once, provided that its addresses advance
//! by known [strides]. If it has more blocks, but every dispatch takes the same path as the first, all calls of a
//! dispatch are known in advance, as a [plan], which becomes [one function](fused) if there are enough registers. The
//! [code cache](code_cache) keeps the functions, also for later launches of the same program.
//!
//! The shapes of a [`Sequence`](sequence::Sequence) of [words](word) become a graph of vector operations, and then
//! [code](crate::exec::jit::lanes). This needs AVX-512 or AVX2; other processors use handlers only.

mod block;
pub mod code_cache;
mod function;
mod fused;
mod live;
pub mod places;
pub mod plan;
mod region;
mod sequence;
mod step;
mod strides;
mod terms;
#[cfg(test)]
mod tests;
mod window;
mod word;

/// The maximum number of words that are compiled together; longer sequences usually run out of registers.
const MAX_SEQUENCE: usize = 64;
