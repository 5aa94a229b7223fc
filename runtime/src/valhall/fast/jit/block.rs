//! Basic blocks: what can be computed in functions, with handlers for the rest.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::MAX_SEQUENCE;
use super::function::Function;
use super::live::Words;
use super::sequence::Sequence;
use super::strides::Strides;
use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::exit::Exit;
use crate::valhall::fast::grid::Grid;
use crate::valhall::fast::memory_view::MemoryView;

/// A compiled run of words.
#[derive(Debug)]
pub struct Block {
    pub start: usize,
    /// The word after it.
    pub end: usize,
    /// What follows it.
    pub exit: Exit,
    pieces: Vec<Piece>,
    /// The function that executes the last piece for several dispatches, with the launches for which it is valid. The
    /// block must be the whole program, and no other piece may access memory.
    ahead: OnceLock<(Grid, Option<Arc<Function>>)>,
    known: Arc<Words>,
}

/// A part of a block.
#[derive(Debug)]
struct Piece {
    words: Range<usize>,
    /// One function for the whole piece, for full bundles that access memory in a pattern.
    together: Option<Arc<Function>>,
    /// The calls for all other cases, created when first needed.
    calls: OnceLock<Vec<Call>>,
}

#[derive(Debug)]
enum Call {
    /// The handlers of some words.
    Handlers(Range<usize>),
    Function(Arc<Function>),
}

impl Block {
    /// Compiles the run that begins at a word; `None` if none of its handlers can be compiled.
    pub fn new(code: &Code<'_>, pc: usize, known: Arc<Words>) -> Option<Self> {
        let end = code.block(pc);
        let mut pieces = Vec::new();
        let (mut first, mut compiled) = (pc, false);
        while first < end {
            let longest = first..end.min(first + MAX_SEQUENCE);
            let is_safe = longest.clone().all(|word| known.computes(word));
            let last = if is_safe { longest.end } else { first + Sequence::reach(code, longest) };
            let is_safe = is_safe || (first..last).all(|word| known.computes(word));
            let together = if is_safe { None } else { Function::new(code, first..last, &known, None).map(Arc::new) };
            let last = last.max(first + 1);
            let piece = Piece { words: first..last, together, calls: OnceLock::new() };
            let is_call = |call: &Call| matches!(call, Call::Function(_));
            compiled |= piece.together.is_some() || piece.calls(code, &known).iter().any(is_call);
            pieces.push(piece);
            first = last;
        }
        let exit = code.exit(end.checked_sub(1)?)?;
        compiled.then_some(Block { start: pc, end, exit, pieces, ahead: OnceLock::new(), known })
    }

    /// Compiles a loop that only computes, for the case that all lanes of a bundle execute it equally often. `None` if
    /// it is no such loop.
    pub fn counted(code: &Code<'_>, words: Range<usize>, known: Arc<Words>) -> Option<Self> {
        if words.len() > MAX_SEQUENCE {
            return None;
        }
        let (start, end, exit) = (words.start, words.end, code.exit(words.end.checked_sub(1)?)?);
        let together = Function::counted(code, words.clone(), &known)?;
        let pieces = vec![Piece { words, together: Some(together.into()), calls: OnceLock::new() }];
        Some(Block { start, end, exit, pieces, ahead: OnceLock::new(), known })
    }

    /// Whether it has code for as many iterations as all lanes of a bundle are about to execute.
    pub fn is_counted(&self, bundle: &Bundle) -> bool {
        self.pieces.iter().all(|piece| piece.together.as_ref().is_some_and(|function| function.is_counted(bundle)))
    }

    /// Returns the machine code as text.
    pub fn listing(&self, text: &impl Fn(u64) -> String) -> String {
        let functions = self.pieces.iter().flat_map(|piece| {
            let calls = piece.calls.get().into_iter().flatten().filter_map(|call| match call {
                Call::Function(function) => Some(function),
                Call::Handlers(_) => None,
            });
            piece.together.iter().chain(calls)
        });
        let ahead = self.ahead.get().and_then(|(_, function)| function.as_ref());
        functions.chain(ahead).map(|function| function.listing(text)).collect()
    }

    /// Returns the number of words.
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.end - self.start
    }

    /// Executes it, and repeats it as long as all lanes branch back to its start and its words fit into the `room`
    /// left after the first time, or for the following dispatches that the bundle may execute. Returns the number of
    /// executions.
    ///
    /// # Errors
    /// The word of the handler that failed in the first execution, which the bundle has counted before.
    #[inline(always)]
    pub fn run(&self, code: &Code<'_>, bundle: &mut Bundle, view: &mut MemoryView<'_>, room: u32) -> Result<u32, u32> {
        let mut times = 1;
        for piece in &self.pieces {
            if let Some(together) = &piece.together {
                times = match self.ahead(code, bundle, piece) {
                    Some(function) => function.run(code, bundle, view, bundle.ahead.most),
                    None => 0,
                };
                if times == 0 {
                    // Only a function for the whole block can be repeated.
                    let repeats = together.repeats();
                    times = together.run(code, bundle, view, if repeats { 1 + room / self.words() as u32 } else { 1 });
                }
                if times > 0 {
                    continue;
                }
                times = 1;
            }
            for call in piece.calls(code, &self.known) {
                match call {
                    Call::Handlers(words) => {
                        if let Some(failed) = code.execute(words.clone(), bundle, view) {
                            return Err(failed);
                        }
                    }
                    Call::Function(function) => _ = function.run(code, bundle, view, 1),
                }
            }
        }
        Ok(times)
    }

    /// Returns the function that executes a piece for several dispatches, if the bundle may do that and the piece is
    /// the last.
    #[inline(always)]
    fn ahead(&self, code: &Code<'_>, bundle: &Bundle, piece: &Piece) -> Option<&Arc<Function>> {
        // Accesses are recorded dispatch by dispatch.
        if bundle.ahead.most < 2
            || code.given.logs
            || self.start > 0
            || !matches!(self.exit, Exit::End)
            || piece.words.end != self.end
        {
            return None;
        }
        let grid = &bundle.ahead.grid;
        let (known, function) = self.ahead.get_or_init(|| (*grid, self.strided(code, grid, piece).map(Arc::new)));
        function.as_ref().filter(|_| known == grid)
    }

    /// Compiles a piece for several dispatches. `None` if they differ by more than the addresses that they access.
    #[cold]
    fn strided(&self, code: &Code<'_>, grid: &Grid, piece: &Piece) -> Option<Function> {
        let mut strides = Strides::new(grid, code.registers());
        (self.start..piece.words.start).try_for_each(|pc| strides.execute(code, pc))?;
        Function::new(code, piece.words.clone(), &self.known, Some(&strides))
    }
}

impl Piece {
    /// Returns the calls for the case that the piece cannot be executed by one function.
    #[inline(always)]
    fn calls(&self, code: &Code<'_>, known: &Words) -> &[Call] {
        self.calls.get_or_init(|| calls(code, self.words.clone(), known))
    }
}

/// Compiles the words that only compute, and leaves the others to their handlers.
fn calls(code: &Code<'_>, words: Range<usize>, known: &Words) -> Vec<Call> {
    let (mut calls, mut first) = (vec![], words.start);
    while first < words.end {
        let longest = words.end.min(first + MAX_SEQUENCE);
        let mut last = (first..longest).find(|&word| !known.computes(word)).unwrap_or(longest);
        // Half as many words need fewer registers.
        while last > first {
            if let Some(function) = Function::new(code, first..last, known, None) {
                calls.push(Call::Function(Arc::new(function)));
                break;
            }
            last = first + (last - first) / 2;
        }
        if last == first {
            last += 1;
            match calls.last_mut() {
                Some(Call::Handlers(words)) => words.end = last,
                _ => calls.push(Call::Handlers(first..last)),
            }
        }
        first = last;
    }
    calls
}
