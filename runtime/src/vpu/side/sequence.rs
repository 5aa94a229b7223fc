//! Consecutive instructions as machine code, for the case that all threads of all groups execute them.

use std::fmt::Write;
use std::ops::Range;

use isaforge_core::semantics::Op as Node;
use isaforge_vpu::semantics::SEMANTICS;

use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::vector::code::Step;
use crate::exec::vector::effect::Effect;
use crate::exec::vector::handler::Micro;
use crate::exec::vector::native::Run;
use crate::level::Level;
use crate::vpu::group::row;
use crate::vpu::instructions::{Instructions, PROGRAM};
use crate::vpu::name;
use crate::vpu::side::lanes::{Groups, PART};
use crate::vpu::side::{Often, Side, code};

/// The maximum number of instructions of a sequence.
const MAX_SEQUENCE: u16 = 64;

/// A part of a sequence.
#[derive(Debug)]
pub(crate) enum Item {
    /// The operations of several instructions.
    Machine(BlockFn),
    /// Some steps of the instruction at an address.
    Steps(u16, Range<usize>),
    /// A check whether results are pending already, for the instruction at an address, which makes results pending.
    Pends(u16),
}

impl Item {
    fn function(&self) -> Option<&BlockFn> {
        if let Item::Machine(function) = self { Some(function) } else { None }
    }
}

/// Consecutive instructions.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// Its parts, in order.
    pub items: Vec<Item>,
    /// The number of instructions.
    pub length: u16,
}

/// The sequences of a program, by the address of their first instruction; each is made once that was reached often.
pub(crate) struct Sequences(Vec<Often<Sequence>>);

impl Sequences {
    pub(crate) fn new() -> Self {
        Sequences((0..PROGRAM).map(|_| Often::default()).collect())
    }

    /// Returns the sequence that begins at an instruction; `None` while that was not reached often.
    #[inline]
    pub(crate) fn at(&self, instructions: &Instructions, side: &Side, pc: u16, level: Level) -> Option<&Sequence> {
        self.0.get(usize::from(pc))?.get(level, || Sequence::new(instructions, side, pc, level))
    }

    /// Returns the machine code of the sequences as text, each after its instructions, which `text` formats.
    pub(crate) fn listing(&self, text: impl Fn(u16) -> String) -> String {
        let mut listed = String::new();
        for (first, sequence) in (0..).zip(&self.0).filter_map(|(first, often)| Some((first, often.made()?))) {
            let functions: Vec<&BlockFn> = sequence.items.iter().filter_map(Item::function).collect();
            if functions.is_empty() {
                continue;
            }
            let _ = writeln!(listed, "sequence {first}: {} instructions", sequence.length);
            for pc in first..first + sequence.length {
                let _ = writeln!(listed, "{pc}: {}", text(pc));
            }
            functions.into_iter().for_each(|function| listed.push_str(&code(function)));
            listed.push('\n');
        }
        listed
    }
}

impl Sequence {
    /// Compiles the instructions from an address on, up to the next that may jump.
    pub(crate) fn new(instructions: &Instructions, side: &Side, first: u16, level: Level) -> Self {
        let mut maker = Maker { side, level, items: Vec::new(), pending: None, run: None };
        let mut length = 0;
        while length < MAX_SEQUENCE && usize::from(first + length) < PROGRAM {
            let pc = first + length;
            if length > 0 && side.is_target(pc) {
                break;
            }
            let (Some(op), Some(code)) = (instructions.op(pc), side.code(instructions.place(pc))) else { break };
            if op.pends && maker.pending != Some(false) {
                maker.put(Item::Pends(pc), code.whole());
            }
            for (at, step) in code.whole().iter().enumerate() {
                maker.step(pc, at, step, &code.whole()[at..]);
            }
            length += 1;
            if code.effects().any(leads) || op.unmasks {
                break;
            }
        }
        maker.end(&[]);
        Sequence { items: maker.items, length }
    }
}

/// Whether an effect may change control flow, or the threads that are active.
fn leads(effect: &Effect) -> bool {
    let unmasks = effect.op == Node::Intrinsic && effect.numbers[0] == name::UNMASK;
    matches!(effect.op, Node::Branch | Node::End) || unmasks
}

/// A run under construction.
struct Open {
    run: Run<PART, Groups>,
    /// The steps that it contains, in case it cannot be compiled.
    steps: Vec<(u16, usize)>,
}

/// Builds a sequence.
struct Maker<'a> {
    side: &'a Side,
    level: Level,
    items: Vec<Item>,
    /// Whether results of all threads are pending (`true`) or of none (`false`), if known.
    pending: Option<bool>,
    run: Option<Open>,
}

type Steps<'a> = &'a [Step<PART, Groups>];

impl Maker<'_> {
    /// Adds a step of an instruction; `rest` has this step and the later ones of the instruction.
    fn step(&mut self, pc: u16, at: usize, step: &Step<PART, Groups>, rest: Steps<'_>) {
        match step {
            Step::Effect(effect) => {
                let waits = effect.op == Node::Intrinsic && effect.numbers[0] == name::WAIT_FOR_RESULT;
                // The awaited results are already available.
                if !(waits && self.pending == Some(true)) {
                    self.put(Item::Steps(pc, at..at + 1), rest);
                }
            }
            Step::Micro(micro) => {
                self.micro(pc, at, micro, rest);
                micro.rows(|row, is_written| {
                    if is_written && row == row::PENDING {
                        self.follow();
                    }
                });
            }
        }
    }

    fn micro(&mut self, pc: u16, at: usize, micro: &Micro<PART, Groups>, rest: Steps<'_>) {
        let mut open = self.run.take().unwrap_or_else(|| self.open());
        if open.run.add(micro) {
            open.steps.push((pc, at));
            self.run = Some(open);
        } else {
            if !open.steps.is_empty() {
                self.run = Some(open);
            }
            self.put(Item::Steps(pc, at..at + 1), rest);
        }
    }

    /// Adds an item that is not part of a run; `rest` has the later steps of its instruction.
    fn put(&mut self, item: Item, rest: Steps<'_>) {
        self.end(rest);
        self.items.push(item);
    }

    /// Ends a run; `rest` has the later steps of its last instruction.
    fn end(&mut self, rest: Steps<'_>) {
        let Some(Open { run, steps }) = self.run.take() else { return };
        let mut read = [false; row::ALL as usize];
        rest.iter().for_each(|step| {
            step.rows(|row, is_written| {
                if let Some(read) = read.get_mut(usize::from(row)) {
                    *read |= !is_written;
                }
            });
        });
        // Values within an instruction end with it.
        let is_wanted = |row: u16| !row::TEMPORARIES.contains(&row) || read[usize::from(row)];
        match run.compile(self.level, is_wanted) {
            Some(machine) => self.items.push(Item::Machine(machine)),
            None => self.items.extend(steps.iter().map(|(pc, at)| Item::Steps(*pc, *at..at + 1))),
        }
    }

    /// Updates what is known of pending results after an operation.
    fn follow(&mut self) {
        let word = self.run.as_mut().and_then(|open| open.run.constant(row::PENDING));
        self.pending = match word {
            Some(0) => Some(false),
            Some(u32::MAX) => Some(true),
            _ => None,
        };
    }

    fn open(&self) -> Open {
        let mut run = Run::new(SEMANTICS, self.level);
        for (row, constant) in row::CONSTANTS.zip(&self.side.constants) {
            run.know(row, *constant);
        }
        if let Some(pending) = self.pending {
            run.know(row::PENDING, if pending { u64::MAX } else { 0 });
        }
        Open { run, steps: Vec::new() }
    }
}
