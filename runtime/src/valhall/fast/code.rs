//! A program that is lowered before it runs: a list of handlers for every word, and what follows them.

use std::ops::Deref;
use std::sync::Arc;

use isaforge_core::registers::named;
use isaforge_valhall::Instruction;

use super::atomic::Attempt;
use super::bundle::rows::Rows;
use super::bundle::{Bundle, Row, WARPS};
use super::choose::{Masks, Part, Schedule};
use super::exit::Exit;
use super::fields::Fields;
use super::given::Given;
use super::handler::{self, Handler, handler};
use super::lower::{Left, Lowering, Order, Tables, changes, with_tables};
use super::memory_view::MemoryView;
use super::message::Message;
use super::op::Op;
use super::reach::Reach;
use super::row;
use super::trace::{Event, What};
use crate::exec::vector::handler::Exact;
use crate::level::Level;
use crate::valhall::operation::Operation;
use crate::valhall::program::{After, Decoder, Program, Slot};

/// A word that the reference executes.
#[derive(Clone, Debug)]
pub struct Foreign {
    pub instruction: Instruction,
    /// The semantics of the instruction.
    pub operation: Option<Operation>,
    pub after: After,
    /// The registers that it names, as bits.
    pub registers: u64,
}

/// A word of a program.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The index of its first handler; its handlers end where those of the next word begin.
    start: u32,
    exit: Exit,
}

/// A lowered program.
#[derive(Debug)]
pub struct Code<'a> {
    /// The program that it was lowered from.
    pub program: &'a Program<'a>,
    /// The inputs that it was lowered for.
    pub given: Given<'a>,
    lowered: Arc<Lowered>,
    keeps: bool,
}

/// The result of lowering a program, for all launches with the same inputs.
#[derive(Debug)]
pub struct Lowered {
    ops: Vec<Op>,
    words: Vec<Word>,
    /// For each word, the end of the run that begins there; within a run, each word is followed by the next.
    runs: Vec<u32>,
    /// The words that the reference executes.
    pub steps: Vec<Foreign>,
    /// The barriers at which threads end.
    last_barriers: Vec<u32>,
    /// The table that operations on rows look up.
    pub exact: Vec<Exact>,
    /// The rows of stores with many words.
    pub stored: Vec<u16>,
    /// The calls of intrinsics.
    messages: Arc<[Message]>,
    constants: Vec<u32>,
    /// The registers that may be read before they are written.
    registers: u64,
    /// Whether the effects of warps depend on their order, so that the reference's order is needed.
    pub ordered: bool,
    /// Whether the results of its atomics reveal the order of warps.
    pub order: Order,
    /// Chooses the lanes to execute next.
    pub schedule: handler::Op,
    /// The level that it was lowered for.
    pub level: Level,
    /// Computes the masks of the active lanes, for [`Bundle::prepare`](super::bundle::Bundle::prepare).
    pub masks: handler::Op,
    /// Splits the active lanes after a branch.
    pub part: Handler,
    /// Finds the pattern of addresses.
    pub reach: Handler,
}

impl Deref for Code<'_> {
    type Target = Lowered;

    #[inline(always)]
    fn deref(&self) -> &Lowered {
        &self.lowered
    }
}

impl<'a> Code<'a> {
    /// Returns the code of a launch, given the result of lowering its program for these inputs.
    pub fn of(program: &'a Program<'a>, given: Given<'a>, lowered: Arc<Lowered>) -> Self {
        Code { program, given, lowered, keeps: false }
    }

    /// Lowers a compute program for a processor and for the uniforms of a launch.
    #[cfg(test)]
    pub fn new(program: &'a Program<'a>, uniforms: &'a [u32], warps: u32, level: Level) -> Self {
        let given = Given::compute(uniforms, warps, &crate::valhall::host::Nothing);
        Code::of(program, given, Lowered::new(program, given, level).into())
    }

    /// Makes all registers hold the same content as in the reference, even if it is not read.
    pub fn keep_all(&mut self) {
        self.keeps = true;
    }

    /// Whether all registers hold the same content as in the reference, even if it is not read.
    pub fn keeps_all(&self) -> bool {
        self.keeps
    }

    /// Returns the registers that may be read before they are written.
    pub fn registers(&self) -> u64 {
        if self.keeps { u64::MAX } else { self.lowered.registers }
    }

    /// Returns the semantics of a word.
    pub fn operation(&self, pc: usize) -> Option<&Operation> {
        let (instruction, _) = Decoder::get().decode(*self.program.words.get(pc)?)?;
        self.program.operation(pc, instruction)
    }

    /// Returns the registers that a word names, and those after them, as bits.
    pub fn named(&self, pc: usize) -> u64 {
        let word = self.program.words.get(pc).and_then(|word| Decoder::get().decode(*word));
        word.map_or(u64::MAX, |(instruction, _)| used(instruction))
    }
}

impl Lowered {
    /// Lowers a program.
    pub fn new(program: &Program<'_>, given: Given<'_>, level: Level) -> Self {
        let draws = given.draws;
        let mut lowering = Lowering::new(level, given, program.words.len() as u32);
        let (mut steps, mut last_barriers, mut ordered) = (vec![], vec![], false);
        let mut runs = Vec::with_capacity(program.words.len());
        let mut lower = |tables: &mut Tables, pc: usize, word: u64| {
            let start = lowering.ops.len() as u32;
            let exit = match lowering.word(tables, pc as u32, word) {
                Ok(exit) => exit,
                Err(Left::Refused) => Exit::Refused,
                Err(Left::Reference(instruction, after)) => {
                    lowering.leave();
                    let (operation, registers) = (Operation::new(instruction), used(instruction));
                    // Instructions with operations either change no memory, or may do so in any order.
                    ordered |= operation.as_ref().is_some_and(|operation| changes(operation.shape(), draws));
                    steps.push(Foreign { instruction, operation, after, registers });
                    Exit::Step(steps.len() as u32 - 1)
                }
            };
            if matches!(exit, Exit::Barrier) && matches!(program.slot(pc), Some(Slot::Ready(_, After::End))) {
                last_barriers.push(pc as u32);
            }
            // The preceding words that are in no run yet form one that ends here.
            match exit {
                Exit::Next => {}
                Exit::Jump(_) | Exit::Branch(_) | Exit::End => runs.resize(pc + 1, pc as u32 + 1),
                _ => runs.resize(pc + 1, pc as u32),
            }
            Word { start, exit }
        };
        let words = program.words.iter().enumerate();
        let words: Vec<_> = with_tables(|tables| words.map(|(pc, &word)| lower(tables, pc, word)).collect());
        runs.resize(words.len(), words.len() as u32);
        // Registers that all threads have written were written before the first of these steps.
        let registers =
            steps.iter().fold(lowering.registers, |all, step: &Foreign| all | step.registers & !lowering.written);
        let schedule = handler::<Schedule>(level).with(Fields::default());
        let masks = handler::<Masks>(level).with(Fields::default());
        let (part, reach) = (handler::<Part>(level), handler::<Reach>(level));
        let Lowering { ops, constants, exact, stored, messages, order, .. } = lowering;
        let order = if ordered { Order::Shown } else { order };
        let ordered = order == Order::Shown;
        let constants = constants.words;
        Lowered {
            ops,
            words,
            runs,
            steps,
            last_barriers,
            exact,
            stored,
            messages: messages.into(),
            constants,
            registers,
            ordered,
            order,
            schedule,
            level,
            masks,
            part,
            reach,
        }
    }

    /// Creates a bundle without threads.
    pub fn bundle(&self) -> Bundle {
        let (exact, stored, messages) = (self.exact.clone(), self.stored.clone(), Arc::clone(&self.messages));
        Bundle::new(self.rows(), exact, stored, messages, self.level)
    }

    /// Returns the rows of a new bundle.
    fn rows(&self) -> Rows {
        let mut rows = Rows::new(row::CONSTANTS as usize + self.constants.len());
        for (row, word) in rows.iter_mut().skip(row::CONSTANTS as usize).zip(&self.constants) {
            *row = Row::splat(*word);
        }
        rows[row::LANE as usize] = Row([std::array::from_fn(|lane| lane as u32); WARPS]);
        rows
    }

    /// Returns the handlers of some words.
    pub fn ops(&self, words: std::ops::Range<usize>) -> &[Op] {
        let at = |pc: usize| self.words.get(pc).map_or(self.ops.len(), |word| word.start as usize);
        self.ops.get(at(words.start)..at(words.end)).unwrap_or_default()
    }

    /// Executes the handlers of some words for the active lanes. Returns the word whose handler failed, if any.
    #[inline(always)]
    pub fn execute(
        &self,
        words: std::ops::Range<usize>,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
    ) -> Option<u32> {
        let ops = self.ops(words.clone());
        if ops.is_empty() {
            return None;
        }
        bundle.prepare(&self.masks, view);
        bundle.patterns.forget();
        if bundle.trace.is_some() {
            return self.execute_noted(words, bundle, view);
        }
        let whole = bundle.is_whole();
        ops.iter().find(|op| !op.run(whole, bundle, view)).map(Op::pc)
    }

    /// Like [`Lowered::execute`], but records each word.
    #[cold]
    fn execute_noted(
        &self,
        mut words: std::ops::Range<usize>,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
    ) -> Option<u32> {
        let whole = bundle.is_whole();
        words.find_map(|pc| {
            let ops = self.ops(pc..pc + 1);
            let places = self.address(pc).map(|rows| view.places(bundle, rows));
            let (what, places, patterns) = (What::Handlers(pc..pc + 1), places.unwrap_or_default(), Vec::new());
            bundle.note(Event { what, active: bundle.active, times: 1, places, patterns });
            ops.iter().find(|op| !op.run(whole, bundle, view)).map(Op::pc)
        })
    }

    /// Returns the rows that the last handler of a word reads: the rows of the address, if it accesses memory.
    pub fn address(&self, pc: usize) -> Option<[u32; 2]> {
        match self.ops(pc..pc + 1).last()? {
            Op::Call(op) | Op::Update(op) => Some(op.fields().sources),
            _ => None,
        }
    }

    /// Returns the handler of a word that is only an atomic whose result is not read. The handler fails without a
    /// fault, and without any effect, if lanes are not in the region of the first.
    pub fn update(&self, pc: usize) -> Option<handler::Op> {
        match self.ops(pc..pc + 1) {
            [Op::Update(op)] => Some(handler::<Attempt>(self.level).with(*op.fields())),
            _ => None,
        }
    }

    /// Whether a word is a barrier at which threads end.
    pub fn ends_at_barrier(&self, pc: u32) -> bool {
        self.last_barriers.contains(&pc)
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Like [`Code::run`], but ends before the first later word that is a jump target.
    pub fn block(&self, pc: usize) -> usize {
        let targets = self.words.iter().filter_map(|word| word.exit.target());
        targets.filter(|&target| target > pc).chain([self.run(pc)]).min().unwrap_or(pc)
    }

    /// Returns what follows a word; `None` after the end of the program.
    pub fn exit(&self, pc: usize) -> Option<Exit> {
        self.words.get(pc).map(|word| word.exit)
    }

    /// Returns the end of the run of words from `pc` on that only handlers execute; lanes may jump or end at its last
    /// word. There is no such run if the end is `pc`.
    pub fn run(&self, pc: usize) -> usize {
        self.runs.get(pc).map_or(pc, |&end| end as usize)
    }
}

/// Returns the registers that an instruction names, and those after them, since pairs are not always named as such.
fn used(instruction: Instruction) -> u64 {
    let all = named(isaforge_valhall::ISA, instruction.opcode() as u16, instruction.encode());
    let named = all.filter(|used| used.bank == 0).fold(0u64, |mask, used| {
        let run = u64::MAX.checked_shr(64 - u32::from(used.count.min(64))).unwrap_or(0);
        mask | run.checked_shl(used.first.into()).unwrap_or(0)
    });
    named | named << 1
}
