//! Compiles a region to machine code.
//!
//! ```text
//! save the caller's registers, load homes
//! block: take its instructions from the budget, or leave
//!        values, guards, accesses, writes to homes
//!        jump to a block, or leave
//! leave: store homes, restore the caller's registers, return the number of the exit
//! ```
//!
//! - `uses`: the windows and slots that the region uses
//! - here: blocks, jumps, entry and exits
//! - `access`: accesses to memory

mod access;
mod uses;

use iced_x86::{Code, Register};

pub use super::context::CALLERS;
use super::context::{FILE, LEFT_AT, MISS, NEXT, SAVED, WINDOWS};
pub use super::emitted::{Emitted, Exit, Sites, Why, Window};
use super::feature::Features;
use super::liveness::{Schedule, Step};
use super::masm::{Binary, Flags, Label, Masm, Source, at};
use super::regalloc::{CONTEXT, Guest, Homes, LEFT, SLOTS, Values, place};
use super::region::Region;
use super::select::Select;
use crate::exec::ir::{Effect, End, Op, Value};
use uses::{expected, number_windows, slots, uses, windows, written};

/// Compiles a region. `None` if registers or windows run out.
pub fn emit(region: &Region, all: &[Window], sites: &Sites, features: Features) -> Option<Emitted> {
    let mut wanted: Vec<Vec<Vec<usize>>> = region.blocks.iter().map(|block| windows(block, all, sites)).collect();
    let mut emit = Emit {
        region,
        features,
        masm: Masm::default(),
        exits: vec![],
        stubs: vec![],
        windows: number_windows(&mut wanted, all)?,
        homes: Homes::new(&uses(region, &wanted)),
        wanted,
        labels: vec![],
        leave: Label::default(),
    };
    emit.labels = region.blocks.iter().map(|_| emit.masm.label()).collect();
    emit.leave = emit.masm.label();
    emit.prologue();
    for number in 0..region.blocks.len() {
        emit.block(number)?;
    }
    emit.stubs();
    emit.epilogue();
    let slots = slots(region).map(|slot| slot + 1).max().unwrap_or(0);
    let (code, marks) = emit.masm.finish()?;
    Some(Emitted { code, exits: emit.exits, windows: emit.windows, slots, marks })
}

/// Rarely executed code, placed out of line.
struct Stub {
    label: Label,
    exit: Exit,
    /// The register that holds the offset of an access.
    offset: Option<Register>,
}

/// The kind of an access.
#[derive(Clone, Copy)]
enum Target {
    Load(Value, Option<Register>),
    Store(Value),
}

struct Emit<'a> {
    region: &'a Region,
    features: Features,
    masm: Masm,
    exits: Vec<Exit>,
    stubs: Vec<Stub>,
    windows: Vec<Window>,
    /// For each access of each block, its windows as indices into `windows`.
    wanted: Vec<Vec<Vec<usize>>>,
    homes: Homes,
    labels: Vec<Label>,
    leave: Label,
}

impl Emit<'_> {
    fn saved(&self) -> impl Iterator<Item = (Register, i32)> + use<> {
        let used: Vec<Register> = self.homes.iter().map(|(_, home)| home).chain([LEFT]).collect();
        let places = CALLERS.into_iter().zip((SAVED..).step_by(8));
        places.filter(move |(register, _)| used.contains(register))
    }

    fn prologue(&mut self) {
        self.masm.mark(None);
        for (register, place) in self.saved() {
            self.masm.store(8, at(CONTEXT, place), register);
        }
        self.masm.load(8, LEFT, at(CONTEXT, LEFT_AT));
        let file = if self.homes.file { SLOTS } else { Register::RAX };
        self.masm.load(8, file, at(CONTEXT, FILE));
        for (guest, home) in self.homes.iter() {
            match guest {
                Guest::Slot(slot) => self.masm.load(8, home, at(file, place(slot))),
                Guest::Window(window) => self.masm.load(8, home, at(CONTEXT, WINDOWS + 8 * window as i32)),
            }
        }
    }

    fn epilogue(&mut self) {
        self.masm.mark(None);
        self.masm.bind(self.leave);
        let file = if self.homes.file { SLOTS } else { Register::RCX };
        if !self.homes.file {
            self.masm.load(8, file, at(CONTEXT, FILE));
        }
        let written: Vec<u32> = self.region.blocks.iter().flat_map(written).collect();
        for (guest, home) in self.homes.iter() {
            if let Guest::Slot(slot) = guest
                && written.contains(&slot)
            {
                self.masm.store(8, at(file, place(slot)), home);
            }
        }
        self.masm.store(8, at(CONTEXT, LEFT_AT), LEFT);
        for (register, place) in self.saved() {
            self.masm.load(8, register, at(CONTEXT, place));
        }
        self.masm.plain(Code::Retnq);
    }

    fn exit(&mut self, exit: Exit) -> u32 {
        let known = self.exits.iter().position(|other| *other == exit);
        known.unwrap_or_else(|| {
            self.exits.push(exit);
            self.exits.len() - 1
        }) as u32
    }

    fn leave(&mut self, exit: Exit) {
        let number = self.exit(exit);
        self.masm.number(Register::RAX, number.into());
        self.masm.jump(self.leave);
    }

    fn stub(&mut self, exit: Exit, offset: Option<Register>) -> Label {
        let label = self.masm.label();
        self.stubs.push(Stub { label, exit, offset });
        label
    }

    fn stubs(&mut self) {
        self.masm.mark(None);
        for stub in std::mem::take(&mut self.stubs) {
            self.masm.bind(stub.label);
            if let Some(offset) = stub.offset {
                self.masm.store(8, at(CONTEXT, MISS), offset);
            }
            self.leave(stub.exit);
        }
    }

    /// Returns the label of the block at an address, or of a stub that leaves for that address.
    fn target(&mut self, to: u64) -> Label {
        match self.region.at.get(&to) {
            Some(number) => self.labels[*number],
            None => self.stub(Exit { why: Why::Goto(to), refund: 0 }, None),
        }
    }

    fn block(&mut self, number: usize) -> Option<()> {
        let region = self.region;
        let block = &region.blocks[number];
        let count = block.instructions.len();
        let start = *block.instructions.first()?;
        self.masm.bind(self.labels[number]);
        self.masm.mark(Some(start));
        self.masm.binary(Binary::Sub, true, LEFT, Source::Number(count as i32));
        let spent = self.stub(Exit { why: Why::Leave(start), refund: count as u64 }, None);
        self.masm.jump_if(Flags::B, spent);
        let schedule = Schedule::new(block);
        let homes = std::mem::take(&mut self.homes);
        let mut values = Values::new(&block.graph, &homes, schedule.uses.clone());
        let mut instruction = 0;
        for (step, what) in schedule.steps.iter().enumerate() {
            let hint = |value| hint(&schedule, &homes, step, value);
            let exit = |why| Exit { why, refund: (count - instruction) as u64 };
            values.begin_step();
            match *what {
                Step::Compute(value) => self.select(&mut values).compute(value, hint(value)),
                Step::Effect(Effect::Begin(at)) => {
                    instruction = at as usize;
                    if at > 0 {
                        self.masm.mark(Some(block.instructions[instruction]));
                    }
                }
                Step::Effect(Effect::Guard(condition, holds)) => {
                    let out = self.stub(exit(Why::Leave(block.instructions[instruction])), None);
                    let mut select = self.select(&mut values);
                    let flags = select.condition(condition);
                    select.used_flags(condition);
                    self.masm.jump_if(if holds { flags.not() } else { flags }, out);
                }
                Step::Effect(Effect::Compute(value)) => values.used(value),
                Step::Effect(Effect::Write(slot, value)) => values.write(&mut self.masm, slot, value),
                Step::Effect(Effect::Load(value)) => {
                    let Op::Load(access) = block.graph.node(value).op else { return None };
                    let address = block.graph.node(value).args[0]?;
                    let place = (number, access as usize, exit(Why::Leave(0)));
                    self.access(place, &mut values, &schedule, address, Target::Load(value, hint(value)));
                }
                Step::Effect(Effect::Store { access, address, value }) => {
                    let place = (number, access as usize, exit(Why::Leave(0)));
                    self.access(place, &mut values, &schedule, address, Target::Store(value));
                }
            }
        }
        values.begin_step();
        self.end(number, &mut values);
        let failed = values.failed;
        self.homes = homes;
        (!failed).then_some(())
    }

    fn select<'v, 's>(&'s mut self, values: &'s mut Values<'v>) -> Select<'v, 's> {
        Select { masm: &mut self.masm, values, features: self.features }
    }

    fn end(&mut self, number: usize, values: &mut Values<'_>) {
        let region = self.region;
        let block = &region.blocks[number];
        let next = self.labels.get(number + 1).copied();
        match block.end {
            End::Goto(to) => match self.region.at.get(&to).map(|to| self.labels[*to]) {
                Some(label) if Some(label) == next => {}
                Some(label) => self.masm.jump(label),
                None => self.leave(Exit { why: Why::Goto(to), refund: 0 }),
            },
            End::Leave(pc) => self.leave(Exit { why: Why::Leave(pc), refund: 0 }),
            End::Branch(condition, then, otherwise) => {
                let flags = self.select(values).condition(condition);
                let (then, otherwise) = (self.target(then), self.target(otherwise));
                if Some(then) == next {
                    self.masm.jump_if(flags.not(), otherwise);
                } else {
                    self.masm.jump_if(flags, then);
                    if Some(otherwise) != next {
                        self.masm.jump(otherwise);
                    }
                }
            }
            End::Indirect(value) => {
                let to = values.in_register(&mut self.masm, value, &[]);
                let wide = block.graph.bits(value) > 32;
                for expected in expected(region, block) {
                    let Some(number) = self.region.at.get(&expected).copied() else { continue };
                    let immediate = if wide { i32::try_from(expected).ok() } else { Some(expected as u32 as i32) };
                    if let Some(immediate) = immediate.filter(|_| wide || expected <= u32::MAX.into()) {
                        self.masm.binary(Binary::Cmp, wide, to, Source::Number(immediate));
                        self.masm.jump_if(Flags::E, self.labels[number]);
                    }
                }
                self.masm.store(8, at(CONTEXT, NEXT), to);
                let jump = block.instructions.last().copied().unwrap_or_default();
                self.leave(Exit { why: Why::Indirect(jump), refund: 0 });
            }
        }
    }
}

/// Returns the home that a value is about to be written to, if no exit is possible before.
fn hint(schedule: &Schedule, homes: &Homes, step: usize, value: Value) -> Option<Register> {
    for step in schedule.steps.get(step + 1..)? {
        match step {
            Step::Compute(_) => {}
            Step::Effect(Effect::Write(slot, written)) if *written == value => return homes.get(Guest::Slot(*slot)),
            Step::Effect(Effect::Write(..) | Effect::Compute(_)) => {}
            Step::Effect(_) => return None,
        }
    }
    None
}
